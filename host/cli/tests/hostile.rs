//! Inputs that are damaged, huge, endless, or changed while they are used; and outputs that would
//! destroy something.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use gramer::cpu::Cpu;
use gramer::engine::EngineExt;
use gramer::graph::{Builder, Graph, image};
use gramer::task::Induced;
use gramer::{Context, Task};
use gramer_cli::report::{Answer, Counts, Drawing, StopReason, json, table};
use gramer_testing::signals;
use rustix::process::{Pid, Signal, kill_process};

/// A separate folder for each test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// Names in the folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn gramer(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
    command.args(words);
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs in at most `kib` KiB of address space and expects this exit code.
fn within(kib: u64, words: &[&str], code: i32) -> String {
    let script = format!("ulimit -v {kib}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_gramer")]).args(words);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
    said(&output)
}

fn fails(words: &[&str], code: i32) -> String {
    let output = gramer(words).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
    said(&output)
}

const TASKS: [&[&str]; 8] = [
    &["clique", "-k", "3"],
    &["clique", "-k", "4"],
    &["clique", "--maximal"],
    &["motif", "-k", "3"],
    &["motif", "-k", "5"],
    &["fsm", "-s", "1", "--max-vertices", "4"],
    &["fsm", "-s", "1", "--max-edges", "3", "--measure", "mni"],
    &["match", "-p", "diamond"],
];

/// A graph with labels on vertices and edges.
fn labelled() -> Graph {
    let mut builder = Builder::new();
    let mut state = 1u64;
    for _ in 0..150 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (u, v) = (state >> 33 & 31, state >> 45 & 31);
        builder.labelled_edge(u, v, (state >> 60) as u32 & 3);
    }
    for v in 0..32 {
        builder.labelled_vertex(v, v as u32 % 3);
    }
    builder.build()
}

/// Where section `kind` is in an image.
fn section(image: &[u8], kind: u32) -> std::ops::Range<usize> {
    let number = |at: usize| u64::from_le_bytes(image[at..at + 8].try_into().unwrap()) as usize;
    let sections = u32::from_le_bytes(image[24..28].try_into().unwrap()) as usize;
    let entry = (0..sections)
        .map(|i| 128 + 32 * i)
        .find(|&at| image[at..at + 4] == kind.to_le_bytes())
        .unwrap();
    number(entry + 8)..number(entry + 8) + number(entry + 16)
}

/// Images whose checksums are right and whose rows ascend, but which are no undirected graph: by
/// neighbours, or by labels.
fn lies() -> Vec<(&'static str, Vec<u8>)> {
    let ranked = gramer::prepare::renumber(&labelled(), &Context::with_threads(1)).unwrap();
    let mut lies = vec![];
    for graph in [labelled(), ranked] {
        let mut good = Vec::new();
        image::write_to(&mut good, &graph, "").unwrap();
        let (neighbours, labels) = (section(&good, 2), section(&good, 4));
        let entry = |at: usize| neighbours.start + 4 * at..neighbours.start + 4 * at + 4;
        let value = |at: usize| u32::from_le_bytes(good[entry(at)].try_into().unwrap());
        let view = graph.view();
        for v in (0..graph.vertices() as u32).filter(|&v| view.degree(v) > 1) {
            let row = view.row(v);
            // The last neighbour becomes another larger one, or the first a smaller one.
            for (at, other) in [(row.end - 1, graph.vertices() as u32 - 1), (row.start, 0)] {
                if value(at) != other && other != v && !view.has_edge(v, other) {
                    let mut bad = good.clone();
                    bad[entry(at)].copy_from_slice(&other.to_le_bytes());
                    lies.push(("an edge is in the row of only one of its vertices", bad));
                }
            }
            let mut bad = good.clone();
            let at = labels.start + 4 * row.start;
            bad[at] = (bad[at] + 1) % 4;
            lies.push(("an edge has another label in each of its rows", bad));
        }
    }
    lies.iter_mut().for_each(|(_, bad)| image::seal(bad));
    lies
}

#[test]
fn images_that_are_no_undirected_graph_are_refused() {
    let lies = lies();
    assert!(lies.len() > 80, "{}", lies.len());
    for (reason, bad) in &lies {
        let error = image::from_bytes(Path::new("x"), bad).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_trusted_image_that_lies_is_no_fault_of_the_program() {
    let folder = Folder::new();
    let mut refused = 0;
    for (i, (_, bad)) in lies().iter().enumerate().step_by(9) {
        let path = folder.file("lie.gramer", bad);
        let path = path.to_str().unwrap();
        let task = TASKS[i / 9 % TASKS.len()];
        assert_eq!(fails(&[&["mine"], task, &[path]].concat(), 1).matches("damaged").count(), 1);
        for words in [[&["mine"], task].concat(), vec!["graph", "rank"], vec!["graph", "info"]] {
            let words = [&words[..], &["--trust-image", path]].concat();
            let output = gramer(&words).output().unwrap();
            let said = said(&output);
            assert!(!said.contains("panicked") && !said.contains("fault in gramer"), "{said}");
            if output.status.code() != Some(0) {
                assert_eq!(output.status.code(), Some(1), "{said}");
                assert!(said.contains("lie.gramer: the image is damaged"), "{said}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "no lie made a panic, so that this shows nothing");
}

/// Starts to list motifs of an image on these devices, which takes long, and waits until the first are found.
fn mining(folder: &Folder, devices: &str) -> Child {
    let graph = folder.path("g.gramer");
    let words = ["graph", "generate", "rmat", "--scale", "14", "--edge-factor", "32"];
    assert!(gramer(&words).arg(&graph).output().unwrap().status.success());
    let child = gramer(&["mine", "motif", "-k", "6", "--device", devices, "--list"])
        .args([folder.path("list.tsv"), graph])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let listed = || {
        folder
            .names()
            .iter()
            .filter(|n| n.starts_with(".gramer-"))
            .any(|name| fs::metadata(folder.path(name)).is_ok_and(|m| m.len() > 0))
    };
    while !listed() {
        assert!(begun.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn an_image_that_is_cut_while_it_is_mined_ends_in_a_message() {
    for devices in ["cpu", "cpu,cpu"] {
        let folder = Folder::new();
        let child = mining(&folder, devices);
        let file = fs::File::options().write(true).open(folder.path("g.gramer")).unwrap();
        file.set_len(4096).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{:?}: {}", output.status, said(&output));
        assert!(said(&output).contains("g.gramer: the image was truncated while it was in use"));
        assert_eq!(folder.names(), ["g.gramer"], "neither a list nor a temporary file is left");
    }
}

#[test]
fn an_image_that_is_overwritten_while_it_is_mined_gives_no_count() {
    for devices in ["cpu", "cpu,cpu"] {
        let folder = Folder::new();
        let child = mining(&folder, devices);
        // The very same bytes: nothing but the time tells.
        let bytes = fs::read(folder.path("g.gramer")).unwrap();
        let mut file = fs::File::options().write(true).open(folder.path("g.gramer")).unwrap();
        file.write_all(&bytes).unwrap();
        drop(file);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("g.gramer: the image was changed while it was in use"));
        assert!(output.stdout.is_empty());
        assert_eq!(folder.names(), ["g.gramer"]);
    }
}

#[test]
fn few_bytes_cost_little_whatever_they_declare() {
    let folder = Folder::new();
    let banner = "%%MatrixMarket matrix coordinate pattern general\n";
    let mtx = folder.file("g.mtx", format!("{banner}100000000 100000000 1\n1 2\n"));
    let metis = folder.file("g.metis", "4000000000 0\n");
    let line = folder.path("line.txt.zst");
    let mut zstd = zstd::Encoder::new(fs::File::create(&line).unwrap(), 1).unwrap();
    zstd.write_all(b"0 1\n1 2\n").unwrap();
    for _ in 0..600 {
        zstd.write_all(&[b'7'; 1 << 20]).unwrap();
    }
    zstd.finish().unwrap();
    assert!(fs::metadata(&line).unwrap().len() < 200_000);
    let first = folder.path("first.txt.zst");
    let bytes = zstd::encode_all(&vec![b'7'; 300 << 20][..], 1).unwrap();
    fs::write(&first, bytes).unwrap();

    let info = |path: &Path| ["graph", "info", path.to_str().unwrap()].map(String::from);
    let run = |path: &Path, more: &[&str]| {
        let words = info(path);
        let words: Vec<&str> =
            words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        within(1_500_000, &words, 1)
    };
    let said = run(&mtx, &[]);
    assert!(said.contains("g.mtx:2: 100000000 vertices are declared"), "{said}");
    assert!(said.contains("--max-graph-vertices"), "{said}");
    assert!(run(&metis, &[]).contains("g.metis:1: 4000000000 vertices are declared"));
    // Where the user wants it there may still be no room, which is said of the file.
    let said = run(&mtx, &["--max-graph-vertices", "100000000"]);
    assert!(said.contains("g.mtx: not enough memory: "), "{said}");
    assert!(run(&line, &[]).contains("line.txt.zst:3: this line is longer than 256 MiB"));
    assert!(run(&first, &[]).contains("first.txt.zst:1: this line is longer than 256 MiB"));

    let graph = folder.file("g.txt", "0 1\n1 2\n");
    let graph = graph.to_str().unwrap();
    let said = fails(&["mine", "motif", "-k", "3", "--max-graph-vertices", "2", graph], 1);
    assert!(said.contains("the graph has 3 vertices, but --max-graph-vertices is 2"), "{said}");
    let job = folder
        .file("j.yaml", format!("task: motif\nk: 3\ngraph: {graph}\nmax_graph_vertices: 2\n"));
    assert!(fails(&["run", job.to_str().unwrap()], 1).contains("--max-graph-vertices is 2"));
}

#[test]
fn files_without_end_and_deep_texts_are_refused_at_once() {
    let folder = Folder::new();
    let graph = folder.file("g.txt", "0 1\n1 2\n");
    let graph = graph.to_str().unwrap();
    let deep = folder.file("deep.yaml", format!("task: {}", "[".repeat(60_000)));
    let deep = deep.to_str().unwrap();
    let large = folder.file("large.yaml", "#\n".repeat(100_000));
    let large = large.to_str().unwrap();
    let begun = Instant::now();
    for (words, code, expected) in [
        (vec!["mine", "match", "-p", "/dev/zero", graph], 1, "which no pattern is"),
        (vec!["run", "/dev/zero"], 1, "which no job is"),
        (vec!["graph", "info", "--labels", "/dev/zero", graph], 1, "is neither text nor an image"),
        (vec!["graph", "info", "/dev/zero"], 1, "is neither text nor an image"),
        (vec!["run", deep], 2, "deep.yaml:1: lists are nested more than 64 deep"),
        (vec!["run", large], 2, "at most 65536 of YAML are read"),
    ] {
        let said = within(1_500_000, &words, code);
        assert!(said.contains(expected), "{words:?}: {said}");
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// Interrupts a run that waits for input, and expects it to end.
fn interrupt(mut command: Command) {
    let input = command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = input.spawn().unwrap();
    let held = child.stdin.take();
    // Long enough to be waiting; if it isn't, it must end as well.
    signals::until_handled(child.id(), Signal::INT.as_raw());
    std::thread::sleep(Duration::from_millis(400));
    assert!(child.try_wait().unwrap().is_none(), "it waits for input");
    let begun = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    // The bound is a second; a busy machine gets some more.
    assert!(begun.elapsed() < Duration::from_secs(3), "{command:?}: {:?}", begun.elapsed());
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(said(&output).contains("gramer: interrupted"));
    drop(held);
}

#[test]
fn ctrl_c_ends_a_run_that_waits_for_its_input() {
    let folder = Folder::new();
    let graph = folder.file("g.txt", "0 1\n1 2\n");
    let fifo = folder.path("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    let (graph, fifo) = (graph.to_str().unwrap(), fifo.to_str().unwrap());
    for words in [
        &["graph", "info", "-"][..],
        &["graph", "info", fifo],
        &["mine", "motif", "-k", "3", "-"],
        &["mine", "match", "-p", fifo, graph],
        &["graph", "info", graph, "--labels", fifo],
        &["graph", "info", graph, "--labels", "-"],
        &["run", fifo],
    ] {
        interrupt(gramer(words));
    }
    // What does come is still read.
    let mut child = gramer(&["graph", "info", fifo]).stdout(Stdio::piped()).spawn().unwrap();
    fs::write(fifo, "0 1\n1 2\n2 0\n").unwrap();
    let output = child.wait().map(|_| child.wait_with_output().unwrap()).unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("edges                       3"));
}

#[test]
fn an_interrupted_count_of_motifs_is_no_zero() {
    let graph = labelled();
    let context = Context::with_threads(1);
    context.cancel.cancel();
    for task in [
        Task::Motif { k: 4, induced: Induced::Vertex },
        Task::Motif { k: 5, induced: Induced::Edge },
        Task::Clique { k: 4 },
        Task::MaximalCliques,
    ] {
        let outcome = Cpu.run(&graph, &task, None, &context).unwrap();
        assert!(!outcome.complete);
        let mut report = Answer::new(&task, "g", &graph, &outcome);
        report.stopped = Some(StopReason::Interrupt);
        let (mut text, mut document) = (Vec::new(), Vec::new());
        table(&report, Drawing::Never, &mut text).unwrap();
        json(&report, Counts::Number, &mut document).unwrap();
        let page = report.page();
        assert!(page.contains("nothing is known of the answer"), "{page}");
        assert!(!page.contains("<div class=\"number\">0"), "{page}");
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("nothing is known of the answer"), "{text}");
        assert!(text.contains("total ?;") && !text.contains("┆     0 │"), "{text}");
        let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
        assert!(document["total"].is_null());
        for result in document["results"].as_array().unwrap() {
            assert!(result["count"].is_null());
        }
    }
}

#[test]
fn no_output_goes_where_an_input_or_a_file_of_the_user_is() {
    let folder = Folder::new();
    let graph = folder.file("g.txt", "0 1\n1 2\n2 0\n");
    let labels = folder.file("labels.txt", "1\n2\n3\n");
    let pattern = folder.file("p.txt", "0 1\n1 2\n2 0\n");
    let mine = folder.file("mine.jsonl", "precious");
    fs::hard_link(&graph, folder.path("twin.jsonl")).unwrap();
    let at = |name: &str| folder.path(name).to_str().unwrap().to_string();
    let inputs = [&graph, &labels, &pattern, &mine].map(|path| fs::read(path).unwrap());
    let task = ["mine", "match", "-p", &at("p.txt"), &at("g.txt"), "--labels", &at("labels.txt")];
    for target in ["g.txt", "labels.txt", "p.txt", "twin.jsonl"] {
        for more in [&[][..], &["--force"]] {
            let list = at(target);
            let said =
                fails(&[&task[..], &["--list", &list, "--list-format", "tsv"], more].concat(), 2);
            assert!(said.contains(&format!("{target}: writing there would destroy")), "{said}");
        }
    }
    let list = at("mine.jsonl");
    let said = fails(&[&task[..], &["--list", &list]].concat(), 2);
    assert!(said.contains("mine.jsonl: is there already"), "{said}");
    let said = fails(&[&task[..], &["--list", &at("out.csv")]].concat(), 2);
    assert!(said.contains("a list is written as .jsonl or .tsv, not as `csv`"), "{said}");

    let convert = ["graph", "convert", &at("g.txt")];
    for (out, expected) in [
        ("g.txt", "would destroy"),
        ("twin.jsonl", "would destroy"),
        ("mine.jsonl", "is there already"),
        ("new.xyz", "doesn't say which format"),
        ("new.yaml", "doesn't say which format"),
        ("new.txt.gz", "doesn't say which format"),
    ] {
        let said = fails(&[&convert[..], &[&at(out)]].concat(), 2);
        assert!(said.contains(out) && said.contains(expected), "{said}");
    }
    let said = fails(&["graph", "generate", "er", "--vertices", "9", "--edges", "5", &list], 2);
    assert!(said.contains("is there already"), "{said}");
    let both = [
        &convert[..],
        &["--labels", &at("labels.txt"), &at("x.txt"), "--labels-out", &at("x.txt")],
    ];
    assert!(fails(&both.concat(), 2).contains("can't go to the same file"));
    let after = [&graph, &labels, &pattern, &mine].map(|path| fs::read(path).unwrap());
    assert_eq!(inputs, after);
    assert_eq!(folder.names(), ["g.txt", "labels.txt", "mine.jsonl", "p.txt", "twin.jsonl"]);

    // Forced, but only once the list is whole.
    let bad = folder.file("bad.txt", "0 [x\n");
    let words = ["mine", "clique", "-k", "3", "--list", &list, "--force"];
    fails(&[&words[..], &[bad.to_str().unwrap()]].concat(), 1);
    assert_eq!(fs::read(&mine).unwrap(), b"precious");
    let done = gramer(&words).arg(&graph).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(fs::read_to_string(&mine).unwrap().lines().count(), 1);
}

#[test]
fn names_with_control_characters_reach_no_terminal() {
    let folder = Folder::new();
    let path = folder.file("a\u{1b}[31mb.txt", "1 2\n\u{1b}]0;x\u{7} 3\n");
    let said = fails(&["mine", "motif", "-k", "3", path.to_str().unwrap()], 1);
    assert!(said.contains("a\\u{1b}[31mb.txt:2: `\\u{1b}]0;x\\u{7}`"), "{said}");
    assert!(!said.contains('\u{1b}'), "{said}");
}

/// A run of hours must not end in a file that can't be written.
#[test]
fn outputs_are_looked_at_before_a_graph_is_read() {
    let folder = Folder::new();
    let graph = folder.file("g.txt", "0 1\n1 2\n2 0\n");
    let mine = folder.file("mine.json", "precious");
    let at = |name: &str| folder.path(name).to_str().unwrap().to_string();
    let task = ["mine", "clique", "-k", "3"];
    for option in ["--to", "--list"] {
        let (missing, nowhere) = (at("missing.txt"), at("no/x.tsv"));
        let said = fails(&[&task[..], &[&missing, option, &nowhere]].concat(), 1);
        assert!(said.contains("x.tsv: cannot create: its folder "), "{said}");
        assert!(!said.contains("missing.txt") && !said.contains(".gramer-"), "{said}");
    }
    // One file by two names, of which one answer would be lost.
    let run = |words: &[&str]| {
        let output = gramer(words).current_dir(folder.0.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
        said(&output)
    };
    let gpu = ["--device", "gpu:portable", "--profile"];
    let cases: [(&[&str], &str); 5] = [
        (&["--to", "a.jsonl", "--checkpoint", "./a.jsonl"], "--to and --checkpoint name one"),
        (&["--to", "a.jsonl", "--list", "./a.jsonl"], "--to and --list name one file"),
        (&["--to", "a.jsonl", gpu[0], gpu[1], gpu[2], "./a.jsonl"], "--to and --profile name one"),
        (&["--list", "./a.jsonl", gpu[0], gpu[1], gpu[2], "a.jsonl"], "--list and --profile"),
        (&[gpu[0], gpu[1], gpu[2], "mine.json"], "mine.json: is there already; name another file"),
    ];
    for (more, expected) in cases {
        let said = run(&[&task[..], &["g.txt"], more].concat());
        assert!(said.contains(expected) && !said.contains("--force"), "{said}");
    }
    fs::write(folder.path("l.txt"), "1\n2\n3\n").unwrap();
    let said = run(&[
        "graph",
        "convert",
        "g.txt",
        "x.txt",
        "--labels",
        "l.txt",
        "--labels-out",
        "./x.txt",
    ]);
    assert!(said.contains("graph and labels can't go to the same file"), "{said}");
    assert_eq!(folder.names(), ["g.txt", "l.txt", "mine.json"]);
    assert_eq!(fs::read(&mine).unwrap(), b"precious");
    assert!(graph.is_file());
}

/// What was computed is shown, and what somebody else wrote meanwhile stays.
#[test]
fn an_answer_whose_file_can_not_be_written_is_printed() {
    let folder = Folder::new();
    let to = folder.path("answer.html");
    let words = ["mine", "clique", "-k", "3", "-", "--to", to.to_str().unwrap()];
    let mut child = gramer(&words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It has looked for the file and waits for its input.
    signals::until_handled(child.id(), Signal::INT.as_raw());
    std::thread::sleep(Duration::from_millis(400));
    fs::write(&to, "of another run").unwrap();
    child.stdin.take().unwrap().write_all(b"0 1\n1 2\n2 0\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("answer.html: is there already"), "{}", said(&output));
    assert!(said(&output).contains("is printed instead"), "{}", said(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("total 1;"));
    assert_eq!(fs::read(&to).unwrap(), b"of another run");

    let graph = folder.file("g.txt", "0 1\n1 2\n2 0\n");
    let words =
        ["mine", "clique", "-k", "3", graph.to_str().unwrap(), "--to", "/dev/full", "--json"];
    let output = gramer(&words).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["total"], 1);
}

#[test]
fn options_without_effect_are_refused() {
    let folder = Folder::new();
    let graph = folder.file("g.txt", "0 1\n1 2\n2 0\n");
    let graph = graph.to_str().unwrap();
    let nowhere = folder.path("nowhere");
    let nowhere = nowhere.to_str().unwrap();
    let task = ["mine", "clique", "-k", "3", graph, "--device", "gpu:portable"];
    let table = [&task[..], &["--strategy", "table"]].concat();
    let joins = [&table[..], &["--set", "join=prealloc"]].concat();
    let motif =
        ["mine", "motif", "-k", "3", graph, "--device", "gpu:portable", "--strategy", "table"];
    let cases: [(&[&str], &[&str], &str); 14] = [
        (&motif, &["--set", "traversal=breadth"], "--set traversal"),
        (&task, &["--set", "join=prealloc"], "--set join needs the strategy table"),
        (&table, &["--set", "segments=2"], "--set segments needs the join prealloc"),
        (&table, &["--set", "signatures=on"], "--set signatures needs the join prealloc"),
        (&table, &["--set", "without=pcsr"], "pcsr in --set without needs the join prealloc"),
        (
            &joins,
            &["--set", "without=write-cache,group"],
            "group in --set without needs the join intersect",
        ),
        (&joins, &["--set", "access=cold"], "--set access needs the join intersect"),
        (&joins, &["--set", "pairs=17"], "must be 2 to 16"),
        (&task, &["--set", "traversal=breadth"], "--set traversal needs the strategy table"),
        (&task, &["--set", "access=heat"], "--set access needs the strategy table"),
        (
            &task,
            &["--set", "host_memory=1M", "--strategy", "plan"],
            "--set host_memory needs the strategy",
        ),
        (&table, &["--spill", "."], "--spill needs the traversal breadth"),
        (
            &table,
            &["--set", "host_memory=1M", "--set", "traversal=depth"],
            "--set host_memory needs the traversal",
        ),
        (&table, &["--set", "traversal=breadth", "--spill", nowhere], "there is no such folder"),
    ];
    for (task, more, expected) in cases {
        let said = fails(&[task, more].concat(), 2);
        assert!(said.contains(expected), "{more:?}: {said}");
    }
}

#[test]
fn help_offers_what_applies() {
    let help = |words: &[&str]| {
        let output = gramer(words).arg("--help").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for task in ["clique", "motif", "fsm", "match"] {
        let text = help(&["mine", task]);
        let lines: Vec<&str> = text.lines().collect();
        let graph = lines.iter().position(|line| line.trim_start().starts_with("<GRAPH>")).unwrap();
        assert_eq!(lines[graph - 1], "Arguments:", "{task}: {text}");
        assert_eq!(text.contains("--per <WHAT>"), task != "fsm", "{task}");
        for option in ["--estimate", "--seed"] {
            assert_eq!(text.contains(option), task != "fsm", "{task}: {option}");
        }
    }
    // Asked for all the same, it is refused with the reason.
    let folder = Folder::new();
    let graph = folder.file("g.txt", "0 1\n1 2\n2 0\n");
    let words = ["mine", "fsm", "-s", "1", graph.to_str().unwrap(), "--estimate", "1%"];
    assert!(fails(&words, 2).contains("does not answer it as an estimate"));
}

/// A driver was still being opened when the process ended, and crashed it in one of twenty runs.
#[test]
fn a_gpu_that_is_not_needed_ends_in_order() {
    for _ in 0..60 {
        let words = ["mine", "motif", "-k", "3", "missing.txt", "--device", "gpu:portable"];
        let said = fails(&words, 1);
        assert!(said.contains("missing.txt") || said.contains("OpenCL"), "{said}");
    }
}
