//! What is asked of a task besides its counts: per vertex and edge, an estimate, an end in time.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use gramer_testing::environment;
use serde_json::{Value, json};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Two triangles that share an edge, and a tail; ids are far apart on purpose.
    fn graph(&self) -> PathBuf {
        let text = "10 20\n20 30\n30 10\n20 400\n30 400\n400 5000\n";
        std::fs::write(self.path("graph.txt"), text).unwrap();
        self.path("graph.txt")
    }

    /// A graph that takes a while.
    fn large(&self) -> PathBuf {
        let out = self.path("large.gramer");
        let words = ["graph", "generate", "rmat", "--scale", "14", "--edge-factor", "32"];
        let made = gramer().args(words).args(["--seed", "1"]).arg(&out).output();
        let made = made.expect("it runs");
        assert!(made.status.success(), "{}", text(&made.stderr));
        out
    }
}

fn gramer() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gramer"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn run(words: &[&str], graph: &Path) -> Output {
    gramer().arg("mine").args(words).arg(graph).output().expect("gramer runs")
}

fn document(words: &[&str], graph: &Path, code: i32) -> Value {
    let output = run(&[words, &["--json"]].concat(), graph);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn counts_per_vertex_and_edge_have_the_ids_of_the_input() {
    let folder = Folder::new();
    let graph = folder.graph();
    let found = document(&["clique", "-k", "3", "--per", "vertex", "--top", "2"], &graph, 0);
    assert_eq!(found["total"], 2);
    assert_eq!(found["per"]["what"], "vertex");
    assert_eq!(found["per"]["items"], 5);
    let column = &found["per"]["columns"][0];
    assert_eq!((&column["sum"], &column["orbit"]), (&json!(6), &Value::Null));
    let top = json!([{"vertex": 20, "count": 2}, {"vertex": 30, "count": 2}]);
    assert_eq!(column["top"], top);
    assert!(column["histogram"].is_null());

    let list = folder.path("degrees.tsv");
    let words = ["motif", "-k", "4", "--per", "vertex", "--histogram", "--list"];
    let words = [&words[..], &[list.to_str().unwrap()]].concat();
    let found = document(&words, &graph, 0);
    assert_eq!(found["listed"], 5);
    let columns = found["per"]["columns"].as_array().unwrap();
    let orbits: Vec<u64> = columns.iter().map(|c| c["orbit"].as_u64().unwrap()).collect();
    assert_eq!(orbits, (0..15).collect::<Vec<_>>());
    assert_eq!(columns[0]["histogram"][0], json!({"from": 1, "to": 1, "items": 1}));
    let lines = std::fs::read_to_string(&list).unwrap();
    let lines: Vec<Vec<&str>> = lines.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0][..3], ["vertex", "edge:0", "wedge:1"]);
    let ids: Vec<&str> = lines[1..].iter().map(|line| line[0]).collect();
    assert_eq!(ids, ["10", "20", "30", "400", "5000"]);
    // 400: in the diamond with two edges (12), in the paw with three (11), inside the two paths (5).
    let numbers: Vec<u64> = lines[4][1..].iter().map(|n| n.parse().unwrap()).collect();
    assert_eq!(numbers, [3, 2, 2, 1, 0, 2, 0, 0, 0, 0, 0, 1, 1, 0, 0]);

    let list = folder.path("edges.jsonl");
    let words = ["clique", "-k", "3", "--per", "edge", "--limit", "3", "--list"];
    let found = document(&[&words[..], &[list.to_str().unwrap()]].concat(), &graph, 0);
    assert_eq!(found["per"]["columns"][0]["top"][0], json!({"edge": [20, 30], "count": 2}));
    let lines = std::fs::read_to_string(&list).unwrap();
    assert_eq!(lines.lines().count(), 3);
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["edge"][0].as_u64() < line["edge"][1].as_u64() && line["counts"].is_array());
    }

    let said = run(&["motif", "-k", "3", "--per", "edge", "--histogram"], &graph);
    let said = text(&said.stdout);
    assert!(said.contains("per edge, 6 edges:") && said.contains("20-30: 2"), "{said}");
    assert!(said.contains("triangle, orbit 1: edges by count"), "{said}");
}

#[test]
fn what_only_the_cpu_engine_does_is_refused_by_others() {
    let folder = Folder::new();
    let graph = folder.graph();
    for device in ["reference", "emulator:small"] {
        for asked in [&["--per", "vertex"][..], &["--estimate", "1%"]] {
            let words = [&["clique", "-k", "3", "--device", device][..], asked].concat();
            let output = run(&words, &graph);
            let said = text(&output.stderr);
            assert!(matches!(output.status.code(), Some(1 | 2)), "{words:?}: {said}");
            // Where the emulator isn't built, that is said first.
            assert!(said.contains("--device cpu") || said.contains("emulator"), "{said}");
            assert!(device != "reference" || said.contains("--device cpu"), "{said}");
        }
    }
    for (words, expected) in [
        (&["motif", "-k", "5", "--per", "vertex"][..], "takes motifs of 3 to 4, not 5"),
        (
            &["clique", "--maximal", "--per", "vertex"],
            "does not answer it per vertex; leave --per out",
        ),
        (
            &["match", "-p", "diamond", "--per", "edge"],
            "does not answer it per edge; leave --per out, or count with `gramer mine motif -k 4 --induced edge --per edge`",
        ),
        (
            &["match", "-p", "5-clique", "--per", "vertex"],
            "or count with `gramer mine clique -k 5 --per vertex`",
        ),
        (&["match", "-p", "house", "--per", "vertex"], "or write every match with --list"),
        (&["match", "-p", "edge", "--per", "vertex"], "or write every match with --list"),
        (&["match", "-p", "a:1-b", "--per", "vertex"], "or write every match with --list"),
        (&["match", "-p", "house+edge", "--per", "vertex"], "at once; leave --per out\n"),
        (&["clique", "-k", "3", "--top", "3"], "--per"),
        (
            &["clique", "--maximal", "--estimate", "1%"],
            "does not answer it as an estimate; leave --estimate out",
        ),
        (&["clique", "-k", "4", "--estimate", "0.5"], "for example --estimate 1%"),
        (&["clique", "-k", "4", "--estimate", "70%"], "0.01% to 50%"),
        (&["clique", "-k", "4", "--estimate", "1%", "--per", "edge"], "leave --per out"),
        (&["clique", "-k", "4", "--time-limit", "0"], "above 0"),
    ] {
        let output = run(words, &graph);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

/// The graph of these commands doesn't exist: the refusal depends on the options alone.
#[test]
fn values_out_of_range_are_wrong_usage() {
    let sizes = [
        "clique -k 0",
        "clique -k 17",
        "clique -k 5 --up-to 4",
        "motif -k 2",
        "motif -k 7",
        "motif -k 9",
        "motif -k 4 --device reference --per vertex",
        "fsm --support 0",
        "fsm --support 1 --max-vertices 9",
        "fsm --support 1 --max-edges 0 --measure mni",
        "match --pattern 33-clique",
        "match --pattern 32-star",
        "match --pattern trangle",
    ];
    for words in sizes {
        let words: Vec<&str> = words.split(' ').collect();
        let output = run(&words, Path::new("none.txt"));
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", text(&output.stderr));
    }
}

/// An option of a device that would change nothing is refused before the device is opened: the answer would be
/// that of another way than the one that was asked for.
#[test]
fn options_of_devices_act_or_are_refused() {
    let folder = Folder::new();
    let graph = folder.graph();
    let gpu = ["--device", "gpu:portable"];
    let frequent = ["fsm", "--support", "2", "--max-edges", "2", "--measure", "mni"];
    for (words, expected) in [
        ([&["clique", "-k", "4", "--set", "lanes=ptx"][..], &gpu].concat(), "--set lanes"),
        ([&["motif", "-k", "4", "--set", "signatures=on"][..], &gpu].concat(), "--set signatures"),
        ([&["motif", "-k", "8", "--set", "order=paper"][..], &gpu].concat(), "--set order"),
        ([&frequent[..], &["--set", "lanes=local"], &gpu].concat(), "--set lanes"),
        (
            [&["clique", "-k", "3", "--strategy", "table", "--set", "order=paper"][..], &gpu]
                .concat(),
            "--strategy be plan",
        ),
        (
            vec!["clique", "-k", "3", "--device", "emulator:small", "--set", "result_beats=4"],
            "--set result_beats is room for listed embeddings",
        ),
        (vec!["clique", "-k", "3", "--device", "cpu,cpu", "--memory", "1G"], "name cpu once"),
    ] {
        let output = run(&words, &graph);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(expected), "{words:?}: {said}");
    }
    // Features that a device lacks are refused for every task, and lists by methods that do not list.
    let square = folder.path("found.jsonl");
    let list = ["--list", square.to_str().unwrap()];
    for (words, code, expected) in [
        (
            [&["match", "--pattern", "diamond", "--set", "lanes=ptx"][..], &gpu].concat(),
            2,
            "the form ptx",
        ),
        ([&["motif", "-k", "5", "--set", "lanes=ptx"][..], &gpu].concat(), 2, "the form ptx"),
        (
            [&["clique", "-k", "3", "--set", "lanes=ptx"][..], &list, &gpu].concat(),
            2,
            "the form ptx",
        ),
        (
            [&["clique", "-k", "3", "--strategy", "local"][..], &list, &gpu].concat(),
            2,
            "does not answer it with a list of embeddings",
        ),
    ] {
        let output = run(&words, &graph);
        let said = text(&output.stderr);
        if said.contains("no OpenCL") {
            environment::skip(environment::OPENCL, &said);
            return;
        }
        assert!(output.status.code() == Some(code), "{words:?}: {said}");
        assert!(said.contains(expected), "{words:?}: {said}");
        assert!(!square.exists());
    }
}

#[test]
fn an_estimate_is_marked_in_both_outputs() {
    let folder = Folder::new();
    let graph = folder.large();
    let words = ["clique", "-k", "4", "--estimate", "5%", "--seed", "9"];
    let found = document(&words, &graph, 0);
    let exact = document(&["clique", "-k", "4"], &graph, 0)["total"].as_f64().unwrap();
    assert!(found["total"].is_null() && found["results"][0]["count"].is_null());
    let estimate = &found["results"][0]["estimate"];
    // Six standard errors; the seed is fixed.
    assert!((estimate["value"].as_f64().unwrap() / exact - 1.0).abs() < 0.15);
    assert_eq!(found["estimate"]["confidence"], 0.95);
    assert_eq!(found["estimate"]["reached"], true);
    let said = text(&run(&words, &graph).stdout);
    assert!(said.contains("ESTIMATE from") && said.contains("95 % interval"), "{said}");
    assert!(!said.contains("│ count"), "{said}");
}

#[test]
fn a_time_limit_ends_every_task_and_no_number_looks_whole() {
    let folder = Folder::new();
    let graph = folder.large();
    let tasks: [&[&str]; 7] = [
        &["motif", "-k", "6"],
        &["clique", "-k", "9"],
        &["clique", "--maximal"],
        &["clique", "-k", "4", "--up-to", "20", "--per", "edge"],
        &["fsm", "--support", "2", "--max-vertices", "6"],
        &["match", "--pattern", "8-path", "--induced", "vertex"],
        &["motif", "-k", "6", "--estimate", "0.01%"],
    ];
    for task in tasks {
        let begun = Instant::now();
        let found = document(&[task, &["--time-limit", "0.5s"]].concat(), &graph, 124);
        // A busy machine gets some more.
        assert!(begun.elapsed() < Duration::from_secs(10), "{task:?}: {:?}", begun.elapsed());
        assert_eq!(found["complete"], false, "{task:?}");
        assert_eq!(found["stopped"], "time-limit");
        assert!(found["per"].is_null());
        for entry in found["results"].as_array().unwrap() {
            let bound = entry["lower_bound"] == true;
            assert!(bound || entry["count"].is_null() || task[0] == "fsm", "{task:?}: {entry}");
        }
    }
    let output = run(&["clique", "-k", "9", "--time-limit", "0.5"], &graph);
    assert_eq!(output.status.code(), Some(124));
    let said = text(&output.stdout);
    assert!(said.contains("INCOMPLETE") && (said.contains("≥ ") || said.contains("? │")), "{said}");
    assert!(text(&output.stderr).contains("the time limit was reached"));
    // Numbers per vertex are known at the end: there are no rows, rather than an empty table.
    let table = folder.path("rows.csv");
    for more in [&["--output", "csv"][..], &["--to", table.to_str().unwrap()]] {
        let words = [&["clique", "-k", "9", "--per", "vertex", "--time-limit", "0.5"], more];
        let output = run(&words.concat(), &graph);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(124), "{said}");
        assert!(said.contains("no row is written"), "{said}");
        assert!(output.stdout.is_empty() && !table.exists());
    }
    // One that isn't reached changes nothing.
    let small = folder.graph();
    assert_eq!(document(&["clique", "-k", "3", "--time-limit", "1h"], &small, 0)["total"], 2);
}

#[test]
fn every_task_that_lists_has_a_limit() {
    let folder = Folder::new();
    let graph = folder.large();
    let tasks: [&[&str]; 8] = [
        &["clique", "-k", "4"],
        &["clique", "-k", "3", "--up-to", "5"],
        &["clique", "--maximal"],
        &["motif", "-k", "3", "--induced", "edge"],
        &["motif", "-k", "4"],
        &["fsm", "--support", "2", "--max-vertices", "2"],
        &["fsm", "--support", "2", "--max-edges", "1", "--measure", "mni"],
        &["match", "--pattern", "house"],
    ];
    for (number, task) in tasks.into_iter().enumerate() {
        let list = folder.path(&format!("{number}.jsonl"));
        let words = [task, &["--limit", "7", "--list", list.to_str().unwrap()]].concat();
        let found = document(&words, &graph, 0);
        let limited = (&found["listed"], &found["stopped"], &found["complete"]);
        assert_eq!(limited, (&json!(7), &json!("limit"), &json!(false)), "{task:?}");
        assert_eq!(std::fs::read_to_string(&list).unwrap().lines().count(), 7);
        // Without a list they are visited all the same, and counts are lower bounds.
        let found = document(&[task, &["--limit", "7", "--threads", "1"]].concat(), &graph, 0);
        let limited = (&found["listed"], &found["stopped"], &found["complete"]);
        assert_eq!(limited, (&json!(null), &json!("limit"), &json!(false)), "{task:?}");
        let counts = found["results"].as_array().unwrap().iter();
        // Supports are counted before embeddings are visited.
        if task[0] != "fsm" {
            assert!(counts.clone().all(|result| result["lower_bound"] == true), "{found}");
            assert_eq!(counts.map(|result| result["count"].as_u64().unwrap()).sum::<u64>(), 7);
        }
        let seconds = |name: &str| found["seconds"][name].as_f64().unwrap();
        assert!((0.0..=seconds("mine")).contains(&seconds("first_embedding")), "{found}");
    }
}

#[test]
fn a_limit_that_is_not_reached_changes_no_count() {
    let folder = Folder::new();
    let graph = folder.graph();
    for task in
        [&["clique", "-k", "3"][..], &["motif", "-k", "4"], &["match", "--pattern", "3-path"]]
    {
        let whole = document(task, &graph, 0);
        assert!(whole["seconds"]["first_embedding"].is_null());
        let found = document(&[task, &["--limit", "1000000"]].concat(), &graph, 0);
        assert_eq!((&found["results"], &found["complete"]), (&whole["results"], &json!(true)));
    }
}

/// Triangles that are counted in a text are counted in the order of its ids; an image is ranked, and so is what is listed.
#[test]
fn triangles_are_the_same_in_any_order() {
    let folder = Folder::new();
    let (image, edges) = (folder.large(), folder.path("large.txt"));
    let made = gramer().args(["graph", "convert"]).args([&image, &edges]).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    let list = folder.path("triangles.jsonl");
    for task in ["clique", "motif"] {
        let words = [task, "-k", "3"];
        let found = document(&words, &image, 0);
        assert!(found["total"].as_u64() > Some(1_000_000), "{found}");
        for threads in ["1", "3"] {
            let words = [&words[..], &["--threads", threads]].concat();
            let of_text = document(&words, &edges, 0);
            assert_eq!(of_text["results"], found["results"]);
            assert_eq!(of_text["total"], found["total"]);
        }
        let words = [&words[..], &["--limit", "7", "--list", list.to_str().unwrap()]].concat();
        assert_eq!(document(&[&words[..], &["--force"]].concat(), &edges, 0)["listed"], 7);
    }
}

/// A program without MPI always says how to build it with MPI.
#[cfg(not(feature = "mpi"))]
#[test]
fn several_machines_need_a_build_with_mpi() {
    let folder = Folder::new();
    let words = ["mine", "clique", "-k", "3", "--distribute"];
    let output = gramer().args(words).arg(folder.graph()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("--distribute needs MPI") && said.contains("--features mpi"), "{said}");
    assert!(output.stdout.is_empty());
}

/// While rows are made, keys are sorted and segments are merged, on one device and on two; the memory has room for few
/// rows, so that most of the time goes into sorts and merges.
#[test]
fn ctrl_c_ends_tables_that_are_aggregated() {
    let folder = Folder::new();
    let graph = folder.path("labelled.gramer");
    let words =
        ["graph", "generate", "rmat", "--scale", "13", "--vertex-labels", "3", "--seed", "1"];
    let made = gramer().args(words).arg(&graph).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    for (device, milliseconds) in
        [("gpu:portable", 2000), ("gpu:portable", 5000), ("gpu:portable,gpu:portable", 4000)]
    {
        let mut command = gramer();
        command.args(["mine", "fsm", "--measure", "mni", "--support", "50", "--max-edges", "4"]);
        command.args(["--strategy", "table", "--memory", "4M", "--device", device]).arg(&graph);
        let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        if child.try_wait().unwrap().is_some() {
            let said = text(&child.wait_with_output().unwrap().stderr);
            assert!(said.contains("no OpenCL"), "{device}: {said}");
            return environment::skip(environment::OPENCL, &said);
        }
        let begun = Instant::now();
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        let (took, said) = (begun.elapsed(), text(&output.stderr));
        assert_eq!(output.status.code(), Some(130), "{device}: {said}");
        assert!(said.contains("gramer: interrupted"), "{device}: {said}");
        // The bound is a second; a busy machine gets some more.
        assert!(took < Duration::from_secs(3), "{device} after {milliseconds} ms: {took:?}");
    }
}

/// Each library more is mapped and bound at every start (docs/decisions/small-runs.md): a new dependency may bring one unseen.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn the_program_is_bound_to_no_library_but_those_of_c() {
    let program = std::fs::read(env!("CARGO_BIN_EXE_gramer")).expect("the program");
    let names = |name: &[u8]| program.windows(name.len()).any(|bytes| bytes == name);
    assert!(names(b"\0libc.so.6\0"));
    // What unwinds the stack is a part of release builds alone.
    for library in ["libstdc++.so.6", "libz.so.1"] {
        assert!(!names(format!("\0{library}\0").as_bytes()), "{library}");
    }
}
