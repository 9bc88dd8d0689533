//! `gramer mine --memory`: graphs that are larger than the memory that a run may take, and images with
//! compressed rows, which give the same answers.

use std::path::Path;
use std::process::Command;

/// A run that must succeed.
fn gramer(args: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_gramer")).args(args).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {stderr}");
    output.stdout
}

/// Standard error of a run that must fail with this code.
fn fails(args: &[&str], code: i32) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_gramer")).args(args).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// The counts of an answer in JSON.
fn counts(answer: &[u8]) -> serde_json::Value {
    let answer: serde_json::Value = serde_json::from_slice(answer).unwrap();
    assert_eq!(answer["complete"], true, "{answer}");
    answer["results"].clone()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[test]
fn answers_are_the_same_with_little_memory_and_compressed_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (plain, packed, input) = (path("p.gramer"), path("c.gramer"), path("i.gramer"));
    gramer(&["graph", "generate", "rmat", "--scale", "9", "--edge-factor", "6", &plain]);
    gramer(&["graph", "convert", "--compress", &plain, &packed]);
    gramer(&["graph", "convert", "--order", "input", &plain, &input]);
    let sizes = [&plain, &packed].map(|file| std::fs::metadata(file).unwrap().len());
    assert!(2 * sizes[1] < sizes[0], "{sizes:?}");
    for task in [
        &["clique", "-k", "3"][..],
        &["clique", "-k", "4"],
        &["clique", "-k", "6"],
        &["clique", "-k", "3", "--up-to", "5"],
        &["clique", "--maximum"],
        &["clique", "--maximal"],
        &["motif", "-k", "3"],
        &["motif", "-k", "4"],
        &["motif", "-k", "4", "--induced", "edge"],
        &["motif", "-k", "5"],
        &["match", "--pattern", "house"],
        &["match", "--pattern", "house", "--induced", "vertex"],
    ] {
        let mine = |graph: &str, more: &[&str]| {
            let all = [&["mine"], task, &["--json", graph], more].concat();
            counts(&gramer(&all))
        };
        let expected = mine(&plain, &[]);
        assert_eq!(mine(&packed, &[]), expected, "{task:?}");
        for graph in [&plain, &packed, &input] {
            for threads in ["1", "3"] {
                let limited = ["--memory", "32M", "--threads", threads, "--spill", &path("")];
                assert_eq!(mine(graph, &limited), expected, "{task:?} {graph}");
            }
        }
    }
    // Nothing stays in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn lists_are_the_same_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (plain, packed) = (path("p.gramer"), path("c.gramer"));
    gramer(&["graph", "generate", "er", "--vertices", "80", "--edges", "700", &plain]);
    gramer(&["graph", "convert", "--compress", &plain, &packed]);
    let lists = [(&plain, None), (&packed, None), (&plain, Some("64M")), (&packed, Some("64M"))];
    let lists = lists.map(|(graph, memory)| {
        let limit = memory.map_or(vec![], |memory| vec!["--memory", memory]);
        let args = ["mine", "clique", "-k", "4", graph, "--list", "-", "--list-format", "tsv"];
        let found = String::from_utf8(gramer(&[&args[..], &limit].concat())).unwrap();
        let mut lines: Vec<String> = found.lines().map(String::from).collect();
        lines.sort_unstable();
        lines
    });
    assert!(lists[0].len() > 50, "{}", lists[0].len());
    assert!(lists.iter().all(|list| *list == lists[0]));
}

#[test]
fn edge_labels_and_ids_stay_beside_compressed_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (text, packed, back) = (path("g.lg"), path("c.gramer"), path("back.lg"));
    let generated = ["graph", "generate", "er", "--vertices", "40", "--edges", "200"];
    let labels = ["--vertex-labels", "3", "--edge-labels", "4", &text];
    gramer(&[&generated[..], &labels].concat());
    gramer(&["graph", "convert", "--compress", &text, &packed]);
    gramer(&["graph", "convert", &packed, &back]);
    assert_eq!(std::fs::read(&text).unwrap(), std::fs::read(&back).unwrap());
}

#[test]
fn what_has_no_bound_is_refused_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (text, image, labelled) = (path("g.txt"), path("g.gramer"), path("g.lg"));
    std::fs::write(&text, "0 1\n1 2\n2 0\n").unwrap();
    std::fs::write(&labelled, "t # 1\nv 0 1\nv 1 1\ne 0 1 3\n").unwrap();
    gramer(&["graph", "convert", &text, &image]);
    let none = path("none.gramer");
    let triangles = ["mine", "clique", "-k", "3"];
    for (args, code, message) in [
        (
            vec![&labelled, "--memory", "1G"],
            1,
            "g.lg: memory is limited, and only edge lists, tables, Matrix Market, Arabesque, DIMACS, adjacency lists",
        ),
        (
            vec![&text, "--memory", "1M"],
            1,
            "3 vertices and more need at least 25M of memory (24M, and 72 bytes for each vertex)",
        ),
        (vec![&image, "--memory", "1M"], 1, "takes at least 25M of memory"),
        (vec![&image, "--memory", "much"], 2, "it must be a number of bytes"),
        (vec![&none, "--spill", "."], 2, "--spill needs --memory"),
        (
            vec![&none, "--memory", "1G", "--spill", "/none"],
            2,
            "--spill /none: there is no such folder",
        ),
        (
            vec![&none, "--memory", "1G", "--per", "vertex"],
            2,
            "per vertex and within a memory limit at once; leave --memory out",
        ),
        (
            vec![&none, "--memory", "1G", "--estimate", "1%"],
            2,
            "as an estimate and within a memory limit at once",
        ),
        (
            vec![&none, "--memory", "1G", "--device", "reference"],
            2,
            "--memory is an option of --device cpu or --device gpu",
        ),
    ] {
        let stderr = fails(&[&triangles[..], &args].concat(), code);
        assert!(stderr.contains(message), "{args:?}: {stderr}");
    }
    let fsm = ["mine", "fsm", "--support", "2", "--max-vertices", "2", &none, "--memory", "1G"];
    let stderr = fails(&fsm, 2);
    assert!(
        stderr.contains("does not answer it within a memory limit; leave --memory out"),
        "{stderr}"
    );
    let packed = ["graph", "convert", "--compress", "--memory", "1G", &image, &path("x.gramer")];
    let stderr = fails(&packed, 2);
    assert!(stderr.contains("--compress holds all rows in memory"), "{stderr}");
    let back = ["graph", "convert", "--memory", "1G", &image, &path("x.txt")];
    let stderr = fails(&back, 1);
    assert!(stderr.contains("the order of its input takes memory"), "{stderr}");
    let stderr = fails(&["graph", "convert", "--compress", &image, &path("x.txt")], 2);
    assert!(stderr.contains("--compress needs an image"), "{stderr}");
}

/// Edges of a skewed graph, with loops and duplicates, whose ids are those of numbers below `vertices`.
fn edge_list(vertices: u64, edges: usize, id: impl Fn(u64) -> u64) -> String {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % vertices
    };
    let mut text = String::new();
    for _ in 0..edges {
        let (u, v) = (next() * next() / vertices, next());
        text += &format!("{} {}\n", id(u), id(v));
    }
    text
}

#[test]
fn an_image_made_with_little_memory_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (plain, limited) = (path("p.gramer"), path("l.gramer"));
    let (text, matrix, adjacency) = (path("g.txt"), path("g.mtx"), path("g.arabesque"));
    // So many that they go through several files' regions; dense ids, ids from 1, anywhere, beyond 32 bits.
    let dense = edge_list(30_000, 150_000, |v| v);
    let cases: [(&str, String); 5] = [
        (&text, dense.clone()),
        (&text, edge_list(30_000, 150_000, |v| v + 1)),
        (&text, edge_list(3_000, 60_000, |v| v * v * 1009)),
        (&text, edge_list(3_000, 60_000, |v| v << 40 | v)),
        (&text, "5 5\n".into()),
    ];
    let same = |file: &str| {
        for order in ["rank", "input"] {
            let convert = ["graph", "convert", "--force", "--order", order, file];
            gramer(&[&convert[..], &[&plain]].concat());
            let limit = ["--memory", "28M", "--spill", &path(""), &limited];
            gramer(&[&convert[..], &limit].concat());
            let files = [&plain, &limited].map(|file| std::fs::read(file).unwrap());
            assert!(files[0] == files[1], "{file} {order}");
        }
    };
    for (file, content) in &cases {
        std::fs::write(file, content).unwrap();
        same(file);
    }
    std::fs::write(&text, &dense).unwrap();
    gramer(&["graph", "convert", &text, &matrix]);
    same(&matrix);
    std::fs::write(&adjacency, "0 4 1 2\n1 4 0 2\n2 3 0 1\n3 1\n").unwrap();
    same(&adjacency);
    // From an image in another order, with labels on its edges.
    let (labels, input) = (path("g.lg"), path("i.gramer"));
    let generated = ["graph", "generate", "er", "--vertices", "400", "--edges", "9000"];
    gramer(&[&generated[..], &["--vertex-labels", "3", "--edge-labels", "4", &labels]].concat());
    gramer(&["graph", "convert", "--order", "input", &labels, &input]);
    same(&input);
    let mine = |more: &[&str]| {
        counts(&gramer(&[&["mine", "clique", "-k", "3", "--json", &text], more].concat()))
    };
    assert_eq!(mine(&["--memory", "64M"]), mine(&[]));
    let kept = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(kept, 7, "nothing else stays");
}

/// Under a limit of the system on memory of the program's own, so much as the edges alone would take.
#[test]
#[cfg(target_os = "linux")]
fn a_text_larger_than_the_memory_becomes_an_image() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (text, image, other) = (path("g.txt"), path("g.gramer"), path("o.gramer"));
    let part = edge_list(60_000, 500_000, |v| v);
    let mut file = std::fs::File::create(&text).unwrap();
    for _ in 0..8 {
        std::io::Write::write_all(&mut file, part.as_bytes()).unwrap();
    }
    let limited = |more: &[&str]| {
        let words = [&["graph", "convert", "--threads", "2", &text], more].concat();
        let script = r#"ulimit -d 49152 && exec "$@""#;
        let gramer = env!("CARGO_BIN_EXE_gramer");
        Command::new("sh").args(["-c", script, "sh", gramer]).args(&words).output().unwrap()
    };
    let refused = limited(&[&other]);
    assert!(!refused.status.success(), "four million edges have no room");
    let done = limited(&["--memory", "40M", "--spill", &path(""), &image]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    gramer(&["graph", "convert", &text, &other]);
    assert!(std::fs::read(&image).unwrap() == std::fs::read(&other).unwrap());
}

#[test]
fn names_are_converted_with_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| shown(&folder.path().join(name));
    let (text, limited, whole) = (path("names.csv"), path("limited.gramer"), path("whole.gramer"));
    let rows: String = (0..200_000u64)
        .map(|i| format!("person {},\"x, {}\"\n", i * i % 50_021, i * 7919 % 40_009))
        .collect();
    std::fs::write(&text, format!("source,target\n{rows}")).unwrap();
    gramer(&["graph", "convert", &text, &limited, "--memory", "48M"]);
    gramer(&["graph", "convert", &text, &whole]);
    let edges = |image: &str| gramer(&["graph", "convert", image, "--to", "table"]);
    assert_eq!(edges(&limited), edges(&whole));
    let little = fails(&["graph", "convert", &text, &path("none.gramer"), "--memory", "2M"], 1);
    assert!(little.contains("memory"), "{little}");
}
