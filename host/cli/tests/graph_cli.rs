//! `gramer graph` as a user runs it: messages, exit codes, whole files or none.

use std::path::Path;

use assert_cmd::Command;

fn gramer() -> Command {
    Command::cargo_bin("gramer").unwrap()
}

/// Standard error of a run that must fail with this code.
fn fails(args: &[&str], code: i32) -> String {
    let output = gramer().args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// What `graph info` says, for programs.
fn info(args: &[&str]) -> serde_json::Value {
    let output = gramer().args(["graph", "info", "--output", "json"]).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Standard output of a run that must succeed, given some input.
fn stdout(args: &[&str], input: impl Into<Vec<u8>>) -> Vec<u8> {
    let output = gramer().args(args).write_stdin(input).output().unwrap();
    assert!(output.status.success(), "{args:?}: {output:?}");
    output.stdout
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// One line for self loops and one for repeated edges, on standard error of whatever reads the file and among
/// the notes of `graph info`; none where an image is read, whose text said it.
#[test]
fn what_is_left_out_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (text, image) = (path("loops.txt"), path("loops.gramer"));
    std::fs::write(&text, "0 1\n1 1\n1 2\n2 2\n2 0\n1 0\n").unwrap();
    let notes = [
        "2 self loops are left out, the first in line 2",
        "1 edge is given again, in this or the other direction, and left out",
    ];
    let lines: String = notes.iter().map(|note| format!("note: {text}: {note}\n")).collect();
    for args in [&["mine", "clique", "-k", "3"][..], &["graph", "convert"]] {
        let files = if args[0] == "graph" { vec![&text, &image] } else { vec![&text] };
        let output = gramer().args(args).args(files).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(&lines), "{args:?}: {said}");
    }
    assert_eq!(info(&[&text])["notes"], serde_json::json!(notes));
    let short = gramer().args(["graph", "info", "--json", &text]).output().unwrap();
    let short: serde_json::Value = serde_json::from_slice(&short.stdout).unwrap();
    assert_eq!(short["notes"], serde_json::json!(notes));
    assert_eq!(info(&[&image])["notes"], serde_json::json!([]));
}

#[test]
fn faults_of_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (missing, empty, bad) = (path("missing.txt"), path("empty.txt"), path("bad.txt"));
    std::fs::write(&empty, "").unwrap();
    std::fs::write(&bad, "0 1\n1 2\nfoo bar baz\n").unwrap();
    let here = shown(folder.path());
    for (file, message) in [
        (&missing, format!("{missing}: cannot read: No such file or directory")),
        (&here, format!("{here}: is a directory; name the graph file in it")),
        (&empty, format!("{empty}: is empty")),
        (&bad, format!("{bad}:3: `foo bar baz` has 3 columns, but the first line has 2")),
    ] {
        let stderr = fails(&["graph", "info", file], 1);
        assert!(stderr.contains(&message), "{stderr}");
        assert_eq!(stderr.trim_end().lines().count(), 1, "{stderr}");
    }
    let good = path("good.txt");
    std::fs::write(&good, "0 1\n1 2\n").unwrap();
    let labels = path("labels.txt");
    std::fs::write(&labels, "0 1\n1 1\n2 1\n5 1\n").unwrap();
    let stderr = fails(&["graph", "info", &good, "--labels", &labels], 1);
    assert!(stderr.contains(&format!("{labels}:4: a label for vertex 5, which is")), "{stderr}");
    let stderr = fails(&["graph", "info", &good, "--labels", &missing], 1);
    assert!(stderr.contains(&format!("{missing}: cannot read")), "{stderr}");
    let stderr = fails(&["graph", "info", &good, "--labels-column", "2"], 2);
    assert!(stderr.contains("--labels <FILE>"), "{stderr}");
    let stderr = fails(&["graph", "info", &good, "--format", "xml"], 2);
    assert!(
        stderr.contains("edges, table, lg, tve, arabesque, metis, mtx, triples, image"),
        "{stderr}"
    );
}

#[test]
fn faults_of_images() {
    let folder = tempfile::tempdir().unwrap();
    let (good, image) =
        (shown(&folder.path().join("g.txt")), shown(&folder.path().join("g.gramer")));
    std::fs::write(&good, "0 1\n1 2\n").unwrap();
    stdout(&["graph", "convert", &good, &image], "");
    let read = info(&[&image]);
    assert_eq!(
        (&read["edges"], &read["format"], &read["order"]),
        (&2.into(), &"image".into(), &"rank".into())
    );
    let bytes = std::fs::read(&image).unwrap();
    let mut other = bytes.clone();
    other[8] = 9;
    std::fs::write(&image, &other).unwrap();
    let stderr = fails(&["graph", "info", &image], 1);
    let message = "the image has version 9, but this program reads version 1; make it again";
    assert!(stderr.contains(message), "{stderr}");
    std::fs::write(&image, &bytes[..40]).unwrap();
    assert!(fails(&["graph", "info", &image], 1).contains("the image is cut off"));
    let mut damaged = bytes.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    std::fs::write(&image, &damaged).unwrap();
    assert!(fails(&["graph", "info", &image], 1).contains("the checksum of its data is wrong"));
    assert!(
        fails(&["graph", "info", &good, "--format", "image"], 1).contains("is not a graph image")
    );
}

#[test]
fn standard_input_and_output() {
    let metis = stdout(&["graph", "convert", "-", "-", "--to", "metis"], "0 1\n1 2\n");
    assert_eq!(String::from_utf8_lossy(&metis), "3 2\n2\n1 3\n2\n");
    // An image through a pipe.
    let image = stdout(&["graph", "convert", "-", "--to", "image"], "5 7\n7 9\n");
    let back = stdout(&["graph", "convert", "-"], image);
    assert_eq!(String::from_utf8_lossy(&back), "5 7\n7 9\n");
    let output = gramer().args(["graph", "info", "-"]).write_stdin("x\n").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("<stdin>:1: `x` is not an edge line"));
}

#[test]
fn conversion_says_what_gets_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (input, table) =
        (shown(&folder.path().join("in.lg")), shown(&folder.path().join("labels.txt")));
    std::fs::write(&input, "t # 1\nv 3 7\nv 5 8\nv 9 9\ne 3 5 2\n").unwrap();
    let convert = |to: &str, more: &[&str]| {
        let output =
            gramer().args(["graph", "convert", &input, "-", "--to", to]).args(more).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (out, err) = convert("edges", &[]);
    assert_eq!(out, "3 5\n");
    assert!(err.contains("edges holds no vertex labels"), "{err}");
    assert!(err.contains("edges holds no edge labels"), "{err}");
    assert!(err.contains("edges holds no vertices without edges: 1 is left out"), "{err}");
    let (out, err) = convert("tve", &[]);
    assert_eq!(out, "t 3 1\nv 0 7 1\nv 1 8 1\nv 2 9 0\ne 0 1 2\n");
    assert!(err.contains("vertices are numbered from 0 in the order of the graph"), "{err}");
    let (_, err) = convert("edges", &["--labels-out", &table]);
    assert!(!err.contains("vertex labels"), "{err}");
    assert_eq!(std::fs::read_to_string(&table).unwrap(), "3 7\n5 8\n9 9\n");
    // A table of labels fits any graph with the same ids.
    assert_eq!(info(&[&input, "--labels", &table])["vertex_labels"], 3);
    let bare = info(&[&input, "--no-vertex-labels", "--no-edge-labels"]);
    assert_eq!((&bare["vertex_labels"], &bare["edge_labels"]), (&0.into(), &0.into()));
}

#[test]
fn generated_files_are_the_same_bytes_each_time() {
    let make = |args: &[&str]| stdout(&[&["graph", "generate"], args].concat(), "");
    let rmat = ["rmat", "--scale", "8", "--edge-factor", "4", "--seed"];
    let first = make(&[&rmat[..], &["5"]].concat());
    assert_eq!(first, make(&[&rmat[..], &["5", "--threads", "3"]].concat()));
    assert_ne!(first, make(&[&rmat[..], &["6"]].concat()));
    let ba = make(&["ba", "--vertices", "50", "--edges-per-vertex", "2"]);
    assert_eq!(ba.iter().filter(|&&b| b == b'\n').count(), 3 + 47 * 2);
    let er = ["er", "--vertices", "50", "--edges", "70", "--vertex-labels", "3", "--to", "lg"];
    let lg = make(&er);
    let folder = tempfile::tempdir().unwrap();
    let path = shown(&folder.path().join("er.lg"));
    std::fs::write(&path, lg).unwrap();
    let er = info(&[&path]);
    assert_eq!((&er["vertices"], &er["edges"]), (&50.into(), &70.into()));
    assert_eq!((&er["vertex_labels"], &er["format"]), (&3.into(), &"lg".into()));
    let stderr = fails(&["graph", "generate", "er", "--vertices", "5", "--probability", "2"], 2);
    assert!(stderr.contains("probability is 2, but must be 0 to 1"), "{stderr}");
    let stderr = fails(&["graph", "generate", "er", "--vertices", "5"], 2);
    assert!(stderr.contains("--edges"), "{stderr}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_what_was_there() {
    let big = ["graph", "generate", "rmat", "--scale", "12"];
    let stderr = fails(&[&big[..], &["/dev/full"]].concat(), 1);
    assert!(stderr.contains("/dev/full: cannot write: No space left on device"), "{stderr}");

    // A limit on the size of files acts like a disk that fills up while an image is written.
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.gramer");
    std::fs::write(&out, "what was there").unwrap();
    let output = std::process::Command::new("bash")
        .args(["-c", "ulimit -f 8; exec \"$@\"", "bash"])
        .arg(assert_cmd::cargo::cargo_bin("gramer"))
        .args(big)
        .arg("--force")
        .arg(&out)
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("out.gramer: cannot write: File too large"), "{stderr}");
    assert_eq!(std::fs::read(&out).unwrap(), b"what was there");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
}

#[test]
#[cfg(unix)]
fn a_closed_pipe_ends_the_program_without_a_complaint() {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("gramer"))
        .args(["graph", "generate", "rmat", "--scale", "14"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(141), "{stderr}");
    assert!(!stderr.contains("cannot write"), "{stderr}");
}

#[test]
fn a_graph_of_the_webgraph_framework_is_read_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    // Node 0: outdegree 2 (011), residuals 1 (2: 011) and 2 (0: 1). Node 1: 1 (010), 2 (2: 011). Node 2: 0 (1).
    std::fs::write(path("some.graph"), [0b0110_1110, 0b1001_1100]).unwrap();
    let properties = "graphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nnodes=3\narcs=3\nwindowsize=0\n\
                      minintervallength=0\nzetak=3\ncompressionflags=RESIDUALS_GAMMA\n";
    std::fs::write(path("some.properties"), properties).unwrap();
    let graph = path("some.graph");
    let known = info(&[&graph]);
    assert_eq!((&known["format"], &known["vertices"]), (&"bvgraph".into(), &3.into()));
    assert_eq!(stdout(&["graph", "convert", &graph, "-"], ""), b"0 1\n0 2\n1 2\n");
    let mined = stdout(&["mine", "clique", "-k", "3", "--output", "json", &graph], "");
    let mined: serde_json::Value = serde_json::from_slice(&mined).unwrap();
    assert_eq!(mined["results"][0]["count"], 1);

    let written = fails(&["graph", "convert", &graph, &path("new.graph"), "--to", "bvgraph"], 2);
    assert!(
        written.contains("new.graph: graphs in the format bvgraph can be read, but not"),
        "{written}"
    );
    let piped = fails(&["graph", "info", "-", "--format", "bvgraph"], 2);
    assert!(piped.contains("<stdin>: a graph in the format bvgraph is two files"), "{piped}");
    // Both files are inputs.
    for target in ["some.graph", "some.properties"] {
        let words = ["graph", "convert", &graph, &path(target), "--to", "edges", "--force"];
        let said = fails(&words, 2);
        assert!(said.contains(&format!("{target}: writing there would destroy")), "{said}");
    }
    assert_eq!(std::fs::read_to_string(path("some.properties")).unwrap(), properties);
    std::fs::write(&graph, [0b0110_1110]).unwrap();
    let cut = fails(&["graph", "info", &graph], 1);
    assert!(cut.contains("some.graph: node 1: the file ends within its list"), "{cut}");
    std::fs::write(path("some.properties"), properties.replace("arcs=3", "arcs=2")).unwrap();
    std::fs::write(&graph, [0b0110_1110, 0b1001_1100]).unwrap();
    let more = fails(&["graph", "info", &graph], 1);
    assert!(more.contains("some.graph: node 1: with its 1 there are more arcs than 2"), "{more}");
}

/// Two cliques of five that share an edge, and a tail.
const CLIQUES: &str = "0 1\n0 2\n0 3\n0 4\n1 2\n1 3\n1 4\n2 3\n2 4\n3 4\n3 5\n3 6\n3 7\n4 5\n4 6\n4 7\n5 6\n5 7\n6 7\n7 8\n";

#[test]
fn a_compressed_graph_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (graph, small) = (path("g.txt"), path("g.cliques"));
    std::fs::write(&graph, CLIQUES).unwrap();
    let compress = ["graph", "compress", &graph, "--cliques", "5", "--output", "json"];
    let report =
        |args: &[&str]| -> serde_json::Value { serde_json::from_slice(&stdout(args, "")).unwrap() };
    // Measured alone, nothing is written.
    let measured = report(&compress);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let written = report(&[&compress[..], &[&small]].concat());
    // Nine edges of each are its own: nine less a vertex and five edges.
    for report in [&measured, &written] {
        assert_eq!((&report["cliques"], &report["replaced"]), (&"2".into(), &2.into()));
        assert_eq!((&report["score"], &report["k"]), (&6.into(), &5.into()));
        assert_eq!(report["vertices"], serde_json::json!([9, 11]));
        assert_eq!(report["edges"], serde_json::json!([20, 12]));
    }
    let text = std::fs::read_to_string(&small).unwrap();
    assert_eq!(text, "gramer-cliques 1 5 9 20 2 2\nc 0 1 2 3 4\nc 3 4 5 6 7\ne 3 4\ne 7 8\n");
    assert_eq!(stdout(&["graph", "restore", &small], ""), CLIQUES.as_bytes());
    assert_eq!(stdout(&["graph", "restore", "-", "-"], text), CLIQUES.as_bytes());
    let table = stdout(&["graph", "compress", &graph, "--cliques", "5"], "");
    let table = String::from_utf8(table).unwrap();
    assert!(table.contains("edges                       20, then 12\n"), "{table}");
}

#[test]
fn faults_of_compressed_graphs() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (graph, small, back) = (path("g.txt"), path("g.cliques"), path("back.txt"));
    std::fs::write(&graph, CLIQUES).unwrap();
    std::fs::write(&small, "gramer-cliques 1 5 9 20 2 2\nc 0 1 2 3 4\n").unwrap();
    let labelled = path("labelled.lg");
    std::fs::write(&labelled, "t # 1\nv 0 1\nv 1 1\ne 0 1 2\n").unwrap();
    for (args, code, message) in [
        (&["graph", "compress", &graph][..], 2, "--cliques <K>"),
        (
            &["graph", "compress", &graph, "--cliques", "3"],
            2,
            "4 to 16 vertices are replaced, not of 3",
        ),
        (&["graph", "compress", &graph, &small, "--cliques", "5"], 2, "--force"),
        (&["graph", "compress", &graph, &graph, "--cliques", "5", "--force"], 2, "g.txt"),
        (&["graph", "compress", &graph, "-", "--cliques", "5"], 2, "name a file"),
        (&["graph", "compress", &labelled, "--cliques", "4"], 1, "--no-edge-labels"),
        (&["graph", "restore", &small, &back], 1, "g.cliques: its first line announces 2 cliques"),
        (&["graph", "restore", &graph, &back], 1, "g.txt:1: `0 1`: a compressed graph begins with"),
        (&["graph", "restore", &path("none"), &back], 1, "none: cannot read"),
        (&["graph", "restore", &shown(folder.path()), &back], 1, "is a folder"),
        (&["graph", "restore", &small, &graph], 2, "--force"),
    ] {
        let said = fails(args, code);
        assert!(said.contains(message), "{args:?}: {said}");
    }
    // What failed wrote nothing, and what was there stays.
    assert!(!Path::new(&back).exists());
    assert_eq!(std::fs::read_to_string(&graph).unwrap(), CLIQUES);
    assert!(std::fs::read_to_string(&small).unwrap().ends_with("c 0 1 2 3 4\n"));
}
