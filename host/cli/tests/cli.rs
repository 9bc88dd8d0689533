//! The command line as a user meets it: results, lists, jobs, and what it says of wrong input.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use gramer_base::choice::Choice;
use gramer_pattern::Statistic;
use gramer_testing::schema::check_answer;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A separate folder for each test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).expect("a file in the temporary folder");
        self.path(name)
    }

    /// Two triangles that share an edge, and a tail: ids are far apart on purpose.
    fn graph(&self) -> PathBuf {
        self.file("graph.txt", "10 20\n20 30\n30 10\n20 400\n30 400\n400 5000\n")
    }

    /// A graph that takes a while.
    fn large(&self) -> PathBuf {
        let out = self.path("large.gramer");
        let words = ["graph", "generate", "rmat", "--scale", "14", "--edge-factor", "32"];
        let made = gramer().args(words).args(["--seed", "1"]).arg(&out).output().expect("it runs");
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
    gramer().args(words).arg(graph).output().expect("gramer runs")
}

/// The results as (name, count), and the whole document.
fn results(words: &[&str], graph: &Path) -> (Vec<(String, u64)>, Value) {
    let output = gramer().args(words).arg(graph).args(["--output", "json"]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    check_answer(&document);
    let results = document["results"].as_array().expect("a list").iter();
    let results = results
        .map(|r| (r["name"].as_str().unwrap().to_string(), r["count"].as_u64().unwrap()))
        .collect();
    (results, document)
}

/// Runs and expects a failure with this exit code; returns what was said.
fn fault(words: &[&str], graph: &Path, code: i32) -> String {
    let output = run(words, graph);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

#[test]
fn the_document_says_what_was_asked_and_found() {
    let folder = Folder::new();
    let (found, document) = results(&["mine", "motif", "-k", "4"], &folder.graph());
    let expected = [
        ("3-star", 0),
        ("4-path", 2),
        ("tailed-triangle", 1),
        ("4-cycle", 0),
        ("diamond", 1),
        ("4-clique", 0),
    ];
    let count = |name: &str| found.iter().find(|(n, _)| n == name).map(|(_, count)| *count);
    for (name, expected) in expected {
        assert_eq!(count(name), Some(expected), "{name}");
    }
    assert_eq!(document["task"], "motif");
    assert_eq!(document["k"], 4);
    assert_eq!(document["induced"], "vertex");
    assert_eq!(document["device"], "cpu");
    assert_eq!(document["graph"]["vertices"], 5);
    assert_eq!(document["graph"]["edges"], 6);
    assert_eq!(document["graph"]["labels"], 0);
    assert_eq!(document["total"], 4);
    assert_eq!(document["complete"], true);
    assert_eq!(document["results"][0]["pattern"]["vertices"], 4);
    assert!(document["results"][0]["pattern"]["edges"][0].is_array());
    for phase in ["load", "prepare", "mine"] {
        assert!(document["seconds"][phase].as_f64().unwrap() >= 0.0);
    }
}

#[test]
fn every_task_answers_alike_for_any_threads_and_from_an_image() {
    let folder = Folder::new();
    let text_file = folder.graph();
    let image = folder.path("graph.gramer");
    let made = gramer().args(["graph", "convert"]).arg(&text_file).arg(&image).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    let tasks: [&[&str]; 7] = [
        &["mine", "clique", "-k", "3"],
        &["mine", "clique", "--maximal"],
        &["mine", "motif", "-k", "3", "--induced", "edge"],
        &["mine", "motif", "-k", "5"],
        &["mine", "fsm", "-s", "1", "--max-vertices", "4"],
        &["mine", "fsm", "-s", "1", "--max-edges", "3", "--measure", "mni"],
        &["mine", "match", "--pattern", "diamond", "--mappings"],
    ];
    let statistics: Vec<[&str; 2]> =
        Statistic::ALL.iter().map(|(_, name, _)| ["mine", *name]).collect();
    for task in tasks.into_iter().chain(statistics.iter().map(|words| &words[..])) {
        let (expected, _) = results(task, &text_file);
        assert!(expected.iter().any(|(_, count)| *count > 0), "{task:?}");
        for threads in ["1", "3"] {
            let words: Vec<&str> = task.iter().copied().chain(["--threads", threads]).collect();
            assert_eq!(results(&words, &image).0, expected, "{words:?}");
        }
    }
    let reference = ["mine", "motif", "-k", "4", "--device", "reference"];
    let cpu = results(&["mine", "motif", "-k", "4"], &image).0;
    assert_eq!(results(&reference, &image).0, cpu);
}

#[test]
fn lists_name_the_ids_of_the_input() {
    let folder = Folder::new();
    let graph = folder.graph();
    let list = folder.path("list.jsonl");
    let output = run(&["mine", "clique", "-k", "3", "--list", list.to_str().unwrap()], &graph);
    assert!(output.status.success());
    assert!(text(&output.stdout).contains("2 embeddings listed"));
    let mut found: Vec<Vec<u64>> = std::fs::read_to_string(&list)
        .unwrap()
        .lines()
        .map(|line| {
            let line: Value = serde_json::from_str(line).expect("a JSON line");
            assert_eq!(line["pattern"], "triangle");
            let ids = line["vertices"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap());
            let mut ids: Vec<u64> = ids.collect();
            ids.sort();
            ids
        })
        .collect();
    found.sort();
    assert_eq!(found, [vec![10, 20, 30], vec![20, 30, 400]]);

    // On standard output the list is alone.
    let output = run(&["mine", "clique", "-k", "3", "--list", "-", "--list-format", "tsv"], &graph);
    let lines = text(&output.stdout);
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.lines().all(|l| l.starts_with("triangle\t") && l.split('\t').count() == 4));
    assert!(text(&output.stderr).contains("2 embeddings listed"));
}

#[test]
fn a_limit_ends_the_list_and_is_said() {
    let folder = Folder::new();
    let graph = folder.large();
    let list = folder.path("list.tsv");
    let words = ["mine", "motif", "-k", "4", "--list", list.to_str().unwrap(), "--limit", "1000"];
    let (_, document) = results(&words, &graph);
    assert_eq!(document["complete"], false);
    assert_eq!(document["stopped"], "limit");
    assert_eq!(document["listed"], 1000);
    assert_eq!(std::fs::read_to_string(&list).unwrap().lines().count(), 1000);
}

#[test]
fn values_out_of_range_are_named() {
    let folder = Folder::new();
    let graph = folder.graph();
    let cases: [(&[&str], &str); 12] = [
        (&["mine", "clique", "-k", "2"], "k is 2, but must be 3 to 16"),
        (&["mine", "clique", "-k", "17"], "k is 17, but must be 3 to 16"),
        (&["mine", "motif", "-k", "9"], "k is 9, but must be 3 to 8"),
        (&["mine", "motif", "-k", "x"], "invalid value 'x'"),
        (&["mine", "motif"], "-k"),
        (&["mine", "fsm", "-s", "0"], "support is 0, but must be at least 1"),
        (&["mine", "fsm", "-s", "2", "--max-vertices", "9"], "max-vertices is 9"),
        (&["mine", "fsm", "-s", "2", "--max-edges", "3"], "max-edges goes with the measures mni"),
        (&["mine", "fsm", "-s", "2", "--induced", "edge"], "embeddings is vertex-induced"),
        (&["mine", "motif", "-k", "3", "--device", "abacus"], "\"abacus\""),
        (&["mine", "motif", "-k", "3", "--per", "vertex", "--limit", "3"], "--list"),
        (&["mine", "motif", "-k", "3", "--estimate", "1%", "--limit", "3"], "--limit"),
    ];
    for (words, expected) in cases {
        let said = fault(words, &graph, 2);
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

#[test]
fn what_the_reference_does_not_know_is_sent_to_the_cpu() {
    let folder = Folder::new();
    let words = ["mine", "clique", "--maximal", "--device", "reference"];
    assert!(fault(&words, &folder.graph(), 2).contains("--device cpu"));
}

#[test]
fn wrong_files_are_named() {
    let folder = Folder::new();
    let said = fault(&["mine", "motif", "-k", "3"], &folder.path("none.txt"), 1);
    assert!(said.contains("none.txt") && said.contains("No such file"), "{said}");
    let said = fault(&["mine", "motif", "-k", "3"], folder.0.path(), 1);
    assert!(said.contains("directory"), "{said}");
    let bad = folder.file("bad.txt", "1 2\n2 [x\n");
    let said = fault(&["mine", "motif", "-k", "3"], &bad, 1);
    assert!(said.contains("bad.txt:2") && said.contains("[x"), "{said}");
    let empty = folder.file("empty.txt", "");
    assert!(fault(&["mine", "motif", "-k", "3"], &empty, 1).contains("empty"));

    let graph = folder.graph();
    let path: String = (0..32).map(|i| format!("{i} {}\n", i + 1)).collect();
    let pattern = folder.file("large.txt", &path);
    let words = ["mine", "match", "--pattern", pattern.to_str().unwrap()];
    assert!(fault(&words, &graph, 1).contains("33 vertices, but at most 32"));
    let words = ["mine", "match", "--pattern", "hose"];
    assert!(fault(&words, &graph, 2).contains("no pattern has this name"));
    let pattern = folder.file("labelled.txt", "v 0 3\nv 1 4\ne 0 1\n");
    let words = ["mine", "match", "--pattern", pattern.to_str().unwrap()];
    assert!(fault(&words, &graph, 2).contains("vertex labels"));
}

#[test]
fn a_job_is_the_options_in_a_file() {
    let folder = Folder::new();
    let graph = folder.graph();
    let job = |text: &str| {
        let text = text.replace("GRAPH", graph.to_str().unwrap());
        let job = folder.file("job.yaml", &text);
        gramer().arg("run").arg(job).output().unwrap()
    };
    let output = job("task: motif\ngraph: GRAPH\nk: 3\ninduced: edge\noutput: json\n");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["task"], &document["induced"]), (&"motif".into(), &"edge".into()));
    let cases = [
        ("task: motif\ngraph: GRAPH\nk: 3\nthread: 2\n", "job.yaml:4", "did you mean `threads`?"),
        ("task: motif\ngraph: GRAPH\nk: nine\n", "job.yaml:3: ", "invalid value 'nine'"),
        ("task: motif\nk: 3\ngraph: GRAPH\nlist_format: csv\n", "job.yaml:4: ", "value 'csv'"),
        ("task: motif\ngraph: GRAPH\nk: 9\n", "", "k is 9, but must be 3 to 8"),
        ("task: motif\ngraph: GRAPH\n", "job.yaml", "-k <K>"),
        ("task: tango\ngraph: GRAPH\n", "job.yaml:1", "there is no task `tango`"),
    ];
    for (text_of_job, place, expected) in cases {
        let output = job(text_of_job);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(place) && said.contains(expected), "{said}");
    }
    let output = gramer().arg("run").arg(folder.path("none.yaml")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("none.yaml"));
}

#[test]
fn every_statistic_is_answered_by_options_by_a_job_and_per_vertex_or_edge() {
    let folder = Folder::new();
    let graph = folder.graph();
    for &(statistic, name, help) in Statistic::ALL {
        let (found, document) = results(&["mine", name], &graph);
        assert!(!found.is_empty());
        assert_eq!((&document["task"], &document["total"]), (&name.into(), &Value::Null));
        let job = format!("task: {}\ngraph: {}\noutput: json\n", name, graph.display());
        let output = gramer().arg("run").arg(folder.file("job.yaml", &job)).output().unwrap();
        let of_job: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(of_job["results"], document["results"], "{}", name);
        for per in ["vertex", "edge"] {
            let output = run(&["mine", name, "--per", per, "--output", "csv"], &graph);
            assert_eq!(output.status.success(), per == statistic.info().per, "{} per {per}", name);
        }
        let shown = gramer().args(["mine", name, "--help"]).output().unwrap();
        assert!(text(&shown.stdout).contains(help), "{name}");
        assert!(text(&shown.stdout).contains(&format!("--per {} --top", statistic.info().per)));
    }
}

#[test]
fn onion_layers_are_answered_by_options_and_by_a_job() {
    let folder = Folder::new();
    let graph = folder.graph();
    let words = ["mine", "onion", "--per", "vertex", "--top", "9"];
    let (found, document) = results(&words, &graph);
    assert_eq!(found, [("layers".into(), 3)]);
    assert_eq!((&document["task"], &document["total"]), (&"onion".into(), &Value::Null));
    let job =
        format!("task: onion\ngraph: {}\nper: vertex\ntop: 9\noutput: json\n", graph.display());
    let output = gramer().arg("run").arg(folder.file("job.yaml", &job)).output().unwrap();
    let of_job: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    check_answer(&of_job);
    for document in [document, of_job] {
        let column = &document["per"]["columns"][0];
        assert_eq!(column["name"], "layer");
        let top = column["top"].as_array().unwrap().iter();
        let layers = top.map(|row| (&row["vertex"], &row["count"]));
        let layers: Vec<_> =
            layers.map(|(v, layer)| (v.as_u64().unwrap(), layer.as_u64().unwrap())).collect();
        assert_eq!(layers, [(20, 3), (30, 3), (10, 2), (400, 2), (5000, 1)]);
    }
}

#[test]
fn a_full_disk_is_reported() {
    let folder = Folder::new();
    let said = fault(&["mine", "motif", "-k", "3", "--list", "/dev/full"], &folder.graph(), 1);
    assert!(said.contains("/dev/full: cannot write: No space left on device"), "{said}");
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = gramer()
        .args(["mine", "motif", "-k", "3"])
        .arg(folder.graph())
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("<stdout>: cannot write: No space left on device"));
}

/// As the system's own tools do it: no complaint, and the code of a program that SIGPIPE ended.
#[test]
fn a_reader_that_goes_ends_the_run_silently() {
    let folder = Folder::new();
    let large = folder.large();
    let large = large.to_str().unwrap();
    for words in [
        &["mine", "motif", "-k", "5", "--list", "-", large][..],
        &["graph", "generate", "rmat", "--scale", "14", "--edge-factor", "8", "-"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        // What fits into a pipe may all be there before a reader goes, so that one goes at once.
        let reader = (words.len() > 1).then_some(reader);
        let child = gramer().args(words).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
        drop(reader);
        let begun = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert!(begun.elapsed() < Duration::from_secs(20));
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(141), "{words:?}: {said}");
        assert!(!said.contains("gramer:"), "{words:?}: {said}");
    }
}

#[test]
fn an_output_that_is_closed_or_full_is_an_error() {
    let folder = Folder::new();
    let graph = folder.graph();
    let graph = graph.to_str().unwrap();
    let list = ["mine", "clique", "-k", "3", "--list", "-", graph];
    let mine = ["mine", "clique", "-k", "3", graph];
    let cases: [&[&str]; 5] = [&list, &mine, &["--help"], &["--version"], &["completions", "bash"]];
    for words in cases {
        for to in [">&-", "> /dev/full"] {
            let output = Command::new("sh")
                .args(["-c", &format!("exec \"$0\" \"$@\" {to}")])
                .arg(env!("CARGO_BIN_EXE_gramer"))
                .args(words)
                .output()
                .unwrap();
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{words:?} {to}: {said}");
            assert!(said.contains("<stdout>: cannot write: "), "{words:?} {to}: {said}");
        }
    }
}

#[test]
fn tables_are_drawn_with_what_the_terminal_has() {
    let folder = Folder::new();
    let graph = folder.graph();
    let drawn = |variables: &[(&str, &str)]| {
        let mut command = gramer();
        command.args(["mine", "motif", "-k", "3"]).arg(&graph);
        command.env_remove("LC_ALL").env_remove("LC_CTYPE").env_remove("LANG").env_remove("TERM");
        text(&command.envs(variables.iter().copied()).output().unwrap().stdout)
    };
    assert!(drawn(&[("LANG", "C.UTF-8")]).contains('│'));
    for plain in [&[("LC_ALL", "C"), ("LANG", "C.UTF-8")][..], &[("TERM", "dumb")]] {
        let table = drawn(plain);
        assert!(table.is_ascii() && table.contains("| triangle "), "{table}");
    }
}

#[test]
fn a_plan_has_the_labels_as_they_were_given() {
    let pattern = "a:person-[\"works for\"]-c:7-b:person";
    for output in ["text", "svg"] {
        let plan = gramer().args(["plan", pattern, "--output", output]).output().unwrap();
        let plan = String::from_utf8(plan.stdout).unwrap();
        for words in ["person", "works for", "label 7"] {
            assert!(plan.contains(words), "{words}: {plan}");
        }
        assert!(!plan.contains("42949"), "{plan}");
    }
}

#[test]
fn a_command_that_is_nearly_right_is_put_right() {
    let folder = Folder::new();
    let graph = folder.graph();
    let said = fault(&["mine", "match", "triangle"], &graph, 2);
    assert!(said.contains("gramer mine match --pattern triangle "), "{said}");
    let said = fault(&["mine", "triangle"], &graph, 2);
    assert!(said.contains("gramer mine match --pattern triangle GRAPH"), "{said}");
    // One operand that is not a name of a pattern is the graph.
    let said = text(&run(&["mine", "match", "-t", "2"], &graph).stderr);
    let tip = format!("gramer mine match --pattern PATTERN {} (a name", graph.display());
    assert!(said.contains(&tip), "{said}");
    let words = ["mine", "match", graph.to_str().unwrap(), "house"];
    let said = text(&gramer().args(words).output().unwrap().stderr);
    assert!(said.contains(&format!("--pattern house {}", graph.display())), "{said}");
    for (words, tip) in [
        (&["info"][..], "did you mean gramer graph info"),
        (&["count"], "did you mean gramer mine motif?"),
        (&["convrt"], "did you mean gramer graph convert?"),
        (&["mine", "triangles"], "gramer mine match --pattern triangle GRAPH"),
        (&["mine", "frequent"], "did you mean gramer mine fsm?"),
        (&["stats"], "did you mean gramer graph info?"),
        (&["version"], "did you mean gramer --version?"),
    ] {
        let said = fault(words, &graph, 2);
        assert!(said.contains(tip), "{words:?}: {said}");
    }
    for (pattern, name) in [("triange", "triangle"), ("K_4", "4-clique"), ("Square", "4-cycle")] {
        let said = fault(&["mine", "match", "--pattern", pattern], &graph, 2);
        assert!(said.contains(&format!("did you mean {name}?")), "{said}");
    }
    let names = gramer().args(["plan", "--names"]).output().unwrap();
    assert_eq!(names.stdout, gramer().args(["plan", "--list"]).output().unwrap().stdout);
    for name in text(&names.stdout).lines().filter_map(|line| line.split(' ').next()) {
        let name = name.replace("k-", "5-").replace("VvEe.N", "6v8e.3").replace("Kk-", "K5-");
        let name = name.replace("Km,n", "K2,3").replace("A+B", "edge");
        assert!(gramer().args(["plan", &name]).output().unwrap().status.success(), "{name}");
    }
    let said = fault(&["mine", "motiv", "-k", "3"], &graph, 2);
    assert!(said.contains("'motif'") && !said.contains("--pattern"), "{said}");
    let said = fault(&["mine", "motif", "-k", "3", "--device", "emulator:smal"], &graph, 2);
    assert!(
        said.contains("there is no machine `smal`: name one of paper, card, small, "),
        "{said}"
    );
}

#[test]
fn settings_are_listed_and_read_by_their_device_alone() {
    let listed = gramer().args(["plan", "--settings"]).output().unwrap();
    assert!(listed.status.success());
    let listed = text(&listed.stdout);
    for setting in ["result_beats", "comparison", "traversal", "host_memory"] {
        assert!(listed.contains(setting), "{listed}");
    }
    let folder = Folder::new();
    let said = fault(&["mine", "motif", "-k", "3", "--lru"], &folder.graph(), 2);
    assert!(said.contains("unexpected argument '--lru'"), "{said}");
    assert!(
        said.contains("tip: lru is a setting of --device emulator: give it with --set"),
        "{said}"
    );
    let task = ["mine", "motif", "-k", "3"];
    for (more, expected) in [
        (&["--set", "lru=on"][..], "it is a setting of --device emulator"),
        (&["--set", "tua=1", "--device", "emulator:small"], "did you mean tau?"),
        (&["--set", "tau"], "it must be NAME=VALUE"),
        (&["--set", "lru=maybe", "--device", "emulator:small"], "must be on or off"),
        (&["--set", "lanes=x", "--device", "gpu:portable"], "must be ptx, subgroups or local"),
        (&["--strategy", "plan"], "--strategy is an option of --device gpu"),
        (&["--memory", "1G", "--device", "reference"], "--device cpu or --device gpu"),
    ] {
        let said = fault(&[&task[..], more].concat(), &folder.graph(), 2);
        assert!(said.contains(expected), "{more:?}: {said}");
    }
    let job = folder.path("job.yaml");
    let graph = folder.graph();
    let text = format!("task: motif\nk: 3\ngraph: {}\nset:\n  lru: on\n", graph.display());
    std::fs::write(&job, text).unwrap();
    let said = fault(&["run"], &job, 2);
    assert!(said.contains("--set `lru`") && said.contains("--device emulator"), "{said}");
}

#[test]
fn short_names_of_options_are_read() {
    let folder = Folder::new();
    let document = run(&["mine", "motif", "-k", "3", "-t", "1", "--json"], &folder.graph());
    let document: Value = serde_json::from_slice(&document.stdout).unwrap();
    assert_eq!((&document["threads"], &document["total"]), (&1.into(), &6.into()));
}

/// `docs/reference/json.md` names every field, and every field is there.
#[test]
fn json_has_the_documented_fields_and_counts_as_the_reader_wants_them() {
    let folder = Folder::new();
    let list = folder.path("list.jsonl");
    let words = ["mine", "fsm", "-s", "1", "--json", "--list", list.to_str().unwrap()];
    let number = run(&words, &folder.graph());
    let number: Value = serde_json::from_slice(&number.stdout).unwrap();
    let page = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/json.md"
    ))
    .unwrap();
    let documented = |field: &str| page.contains(&format!("`{field}`"));
    for field in number.as_object().unwrap().keys() {
        assert!(documented(field), "{field}");
    }
    let entry = &number["results"][0];
    assert_eq!(entry.as_object().unwrap().len(), 3);
    for field in entry["pattern"].as_object().unwrap().keys() {
        assert!(documented(&format!("pattern.{field}")), "{field}");
    }
    assert_eq!(number["schema"], 1);
    assert!(number["total"].is_u64() && number["listed"].is_u64() && entry["count"].is_u64());
    std::fs::remove_file(&list).unwrap();
    let string = run(&[&words[..], &["--counts", "string"]].concat(), &folder.graph());
    let string: Value = serde_json::from_slice(&string.stdout).unwrap();
    for (one, other) in [
        (&number["total"], &string["total"]),
        (&number["listed"], &string["listed"]),
        (&entry["count"], &string["results"][0]["count"]),
    ] {
        assert_eq!(one.to_string(), other.as_str().unwrap());
    }
}

#[test]
fn completions_and_manual_pages_are_printed() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = gramer().args(["completions", shell]).output().unwrap();
        let text = text(&output.stdout);
        assert!(output.status.success() && text.contains("maximal"), "{shell}: {text}");
        // Names of patterns, and files.
        let offer = match shell {
            "bash" => r#"compgen -W "vertex edge wedge cherry triangle tailed-triangle paw"#,
            "zsh" => r#":{_alternative "names\:name\:(vertex edge wedge cherry"#,
            "fish" => {
                r#"-l pattern -d 'Name (triangle, K3,3), edges (\'a-b, b-c\') or file' -r -F -a "vertex\t''"#
            }
            _ => "",
        };
        assert!(text.contains(offer), "{shell}: {offer} in {text}");
    }
    let output = gramer().arg("man").output().unwrap();
    assert!(text(&output.stdout).contains(".TH gramer 1"));
    let folder = Folder::new();
    let pages = folder.path("pages");
    assert!(gramer().arg("man").arg(&pages).output().unwrap().status.success());
    let page = std::fs::read_to_string(pages.join("gramer-mine-motif.1")).unwrap();
    assert!(page.contains("Vertices of a pattern, 3 to 8"), "{page}");
}

#[test]
fn devices_name_the_emulator_and_what_it_lacks() {
    let folder = Folder::new();
    let output =
        gramer().args(["devices", "--json"]).env("PATH", folder.0.path()).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let machines = document["emulator"]["machines"].as_array().unwrap();
    assert_eq!(machines[..3], ["paper", "card", "small"]);
    let missing = document["emulator"]["missing"].to_string();
    for tool in ["unzip", "verilator", "make", "g++"] {
        let remedy = format!("apt-get install {tool}");
        assert!(missing.contains(&format!("no {tool}")) && missing.contains(&remedy), "{missing}");
    }
    let output = gramer().arg("devices").env("PATH", folder.0.path()).output().unwrap();
    let said = text(&output.stdout);
    assert!(said.contains("emulator[:MACHINE]") && said.contains("no unzip; apt-get"), "{said}");
    // What a loader without vendors lacks is said in the words of the command line, in both.
    for words in [&["devices"][..], &["devices", "--json"]] {
        let output = gramer().args(words).env("OCL_ICD_VENDORS", folder.0.path()).output().unwrap();
        let said = text(&output.stdout);
        assert!(said.contains("Xilinx Runtime") && !said.contains("the engine `"), "{said}");
        let installed = said.contains("it is installed, but");
        assert!(!installed || said.contains("`--device emulator` does both"), "{said}");
    }
}

#[test]
fn a_signal_stops_within_a_second_and_says_what_was_found() {
    let folder = Folder::new();
    let graph = folder.large();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        stopped(&folder, &graph, signal, code);
    }
}

fn stopped(folder: &Folder, graph: &Path, signal: Signal, code: i32) {
    let list = folder.path(&format!("list-{code}.tsv"));
    let mut child = gramer()
        .args(["mine", "motif", "-k", "6", "--list", list.to_str().unwrap(), "--output", "json"])
        .arg(graph)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Once the first embeddings are written (to a file that becomes the list), the run is under way.
    let begun = Instant::now();
    let listed = || {
        let files = std::fs::read_dir(folder.0.path()).unwrap().map(|entry| entry.unwrap());
        let mut unfinished =
            files.filter(|f| f.file_name().to_string_lossy().starts_with(".gramer-"));
        unfinished.any(|f| f.metadata().is_ok_and(|m| m.len() > 0))
    };
    while !listed() {
        assert!(begun.elapsed() < Duration::from_secs(30) && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    let interrupted = Instant::now();
    kill_process(Pid::from_child(&child), signal).unwrap();
    let output = child.wait_with_output().unwrap();
    // The bound is a second; a busy machine gets some more.
    assert!(interrupted.elapsed() < Duration::from_secs(3), "{:?}", interrupted.elapsed());
    assert_eq!(output.status.code(), Some(code));
    assert!(text(&output.stderr).contains("interrupted"));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["complete"], false);
    assert_eq!(document["stopped"], "interrupt");
    let listed = document["listed"].as_u64().unwrap();
    assert!(listed > 0);
    assert_eq!(document["total"].as_u64().unwrap(), listed);
    // Every line is whole.
    let lines = std::fs::read_to_string(&list).unwrap();
    assert_eq!(lines.lines().count() as u64, listed);
    assert!(lines.lines().all(|l| l.split('\t').count() == 7));
}

#[test]
fn help_has_examples_and_version_is_printed() {
    for words in [&["--help"][..], &["mine", "motif", "--help"], &["mine", "fsm", "--help"]] {
        let output = gramer().args(words).output().unwrap();
        assert!(output.status.success());
        assert!(text(&output.stdout).contains("Examples:"), "{words:?}");
    }
    let version = |option: &str| text(&gramer().arg(option).output().unwrap().stdout);
    let short = format!("gramer {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(version("-V"), short);
    let long = version("--version");
    let lines: Vec<&str> = long.strip_prefix(&short).expect("it begins alike").lines().collect();
    let names: Vec<&str> = lines.iter().filter_map(|line| Some(line.split_once(':')?.0)).collect();
    assert_eq!(names, ["commit", "features", "target"], "{long}");
}

/// A dozen options, on a screen; all others with `--help`.
#[test]
fn short_help_fits_a_screen() {
    for task in ["clique", "motif", "fsm", "match"] {
        let help = |option: &str, columns: &str| {
            let mut command = gramer();
            let command = command.args(["mine", task, option]).env("COLUMNS", columns);
            text(&command.output().unwrap().stdout)
        };
        let (short, long) = (help("-h", "100"), help("--help", "100"));
        for short in [&short, &help("-h", "80")] {
            let lines = short.lines().count();
            assert!(lines <= 40, "{task}: {lines} lines\n{short}");
        }
        for common in ["--device", "-t, --threads", "--to", "--list", "-q, --quiet", "Examples:"] {
            assert!(short.contains(common), "{task}: {common}");
        }
        for rare in ["--checkpoint", "--distribute", "--spill", "--color", "--set <NAME=VALUE>"] {
            assert!(!short.contains(rare) && long.contains(rare), "{task}: {rare}");
        }
        // Help is the last of the options.
        let options: Vec<&str> =
            short.lines().filter(|line| line.trim_start().starts_with('-')).collect();
        assert!(options.last().unwrap().contains("-h, --help"), "{short}");
        assert!(!short.contains("--k"), "{short}");
    }
}

#[test]
fn json_is_the_same_option_in_all_commands() {
    for words in ["mine clique", "mine core", "plan", "graph info", "graph rank", "graph compress"]
    {
        let run = |more: &str| {
            let words = format!("{words} {more}");
            gramer().args(words.split_whitespace()).output().unwrap()
        };
        let [short, long] = ["-h", "--help"].map(|help| text(&run(help).stdout));
        let what = "The same as `--output json`";
        assert!(!short.contains(what) && long.contains(what), "{words}");
        let both = run("--json --output json");
        assert_eq!(both.status.code(), Some(2), "{words}");
        let said = text(&both.stderr);
        assert!(said.contains("cannot be used with"), "{words}: {said}");
    }
}

#[test]
fn faults_begin_alike_and_say_what_is_allowed() {
    let folder = Folder::new();
    let graph = folder.graph();
    let cases: [(&[&str], &str); 12] = [
        (&["mine", "motif", "-k", "three"], "'-k <K>': it must be a whole number from 3 to 8, for"),
        (&["mine", "clique", "-k", "-3"], "it must be a whole number from 3 to 16, for example"),
        (&["mine", "fsm", "-s", "50%"], "not a share of the graph, for example --support 100"),
        (
            &["mine", "motif", "-k", "4", "--estimate", "x"],
            "0.01% to 50%, for example --estimate 1%",
        ),
        (&["mine", "motif", "-k", "3", "-t", "many"], "it must be 1 to 1024, or 0 or auto for one"),
        (&["mine", "motif", "-k", "3", "--threads", "-1"], "it must be 1 to 1024, or 0 or auto"),
        (&["graph", "info", "--threads", "1025"], "it must be 1 to 1024, or 0 or auto"),
        (&["mine", "motif", "-k", "3", "--list", "x.tsv", "--limit", "0"], "it must be at least 1"),
        (&["mine", "motif", "-k", "3", "--time-limit", "soon"], "90, 10s, 5m, 2h"),
        (&["mine", "clique"], "tip: -k K counts the cliques of K vertices, with --up-to SIZE"),
        (
            &["mine", "clique"],
            "\nUsage: gramer mine clique [OPTIONS] <-k <K>|--maximum|--maximal> <GRAPH>\n",
        ),
        (&["mine", "clique", "-k", "3", "--maximal"], "'-k <K>' cannot be used with '--maximal'"),
    ];
    for (words, expected) in cases {
        let said = fault(words, &graph, 2);
        assert!(said.starts_with("gramer: ") && !said.contains("error:"), "{words:?}: {said}");
        assert!(said.contains(expected), "{words:?}: {said}");
        assert!(!said.contains("to pass"), "{words:?}: {said}");
    }
    let said = fault(&["mine", "motif", "-k", "3", "--unknown"], &graph, 2);
    assert!(said.contains("Usage: gramer mine motif [OPTIONS] -k <K> <GRAPH>"), "{said}");
    // All threads, by three names; a percentage with its sign or without.
    for words in [&["-t", "0"][..], &["-t", "auto"], &[], &["--estimate", "5"]] {
        let words = [&["mine", "motif", "-k", "3"], words].concat();
        assert!(run(&words, &graph).status.success(), "{words:?}");
    }
}

#[test]
fn notes_are_left_out_where_that_is_wanted() {
    let folder = Folder::new();
    let graph = folder.file("named.csv", "from,to\n1,2\n2,3\n");
    let said = |words: &[&str], log: &str| {
        let mut command = gramer();
        let command = command.args(["mine", "motif", "-k", "3"]).args(words).arg(&graph);
        let output = command.env("GRAMER_LOG", log).output().unwrap();
        assert!(output.status.success(), "{words:?}");
        (text(&output.stdout), text(&output.stderr))
    };
    assert!(said(&[], "").1.starts_with("note: "));
    for quiet in ["-q", "--quiet"] {
        assert_eq!(said(&[quiet], "debug").1, "");
    }
    let (plain, verbose, more) = (said(&[], ""), said(&["-v"], ""), said(&["-vv"], ""));
    assert!(verbose.1.contains(" INFO ") && !verbose.1.contains("DEBUG"), "{}", verbose.1);
    assert!(more.1.contains("DEBUG"), "{}", more.1);
    let head = |text: &str| text.lines().take(8).map(String::from).collect::<Vec<_>>();
    assert_eq!(head(&plain.0), head(&verbose.0));
    assert_eq!(fault(&["mine", "motif", "-k", "3", "-q", "-v"], &graph, 2).lines().count(), 5);
}

#[test]
fn colours_are_those_that_are_asked_for() {
    let coloured = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = gramer();
        command.args(words).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let all = [output.stdout, output.stderr].concat();
        all.contains(&0x1b)
    };
    for words in [&["mine", "--help"][..], &["mine", "nothing"]] {
        let with = |when: &'static str| [words, &["--color", when]].concat();
        assert!(!coloured(words, &[]));
        assert!(coloured(words, &[("CLICOLOR_FORCE", "1")]));
        assert!(!coloured(words, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
        assert!(coloured(&with("always"), &[("NO_COLOR", "1")]));
        assert!(!coloured(&with("never"), &[("CLICOLOR_FORCE", "1")]));
        assert!(coloured(&with("auto"), &[("CLICOLOR_FORCE", "1")]));
    }
}

#[test]
fn graph_rank_says_what_the_top_is_worth() {
    let folder = Folder::new();
    let graph = folder.graph();
    let words = ["graph", "rank", "--task", "motif:3", "--top", "20,100", "--output", "json"];
    let output = run(&words, &graph);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    // deg · Σ deg of the neighbours: 20, 30 and 400 have degree 3, neighbours 3, 3 and 2 or 1.
    assert_eq!(document["on_1"]["largest"], 24);
    assert_eq!(document["on_1"]["smallest"], 3);
    // The share is rounded up: 1 % of five vertices is one.
    let first = run(&["graph", "rank", "--top", "1"], &graph);
    let said = text(&first.stdout);
    assert!(said.contains("the top 1 % (1 vertex) has 25.00 % of the edge entries"), "{said}");
    assert_eq!(document["priority"]["tau"], 0.5);
    assert_eq!(document["priority"]["vertex_bound"], 2);
    assert_eq!(document["priority"]["edge_bound"], 6);
    let iterations = document["task"]["iterations"].as_array().unwrap();
    assert_eq!(iterations.len(), 2);
    for iteration in iterations {
        let all = &iteration["top"][1];
        assert_eq!(all["percent"], 100.0);
        assert_eq!(all["most_accessed_vertices"], 1.0);
        assert_eq!(all["first_edges_by_rank"], 1.0);
        let best = iteration["top"][0]["most_accessed_vertices"].as_f64().unwrap();
        let by_rank = iteration["top"][0]["first_vertices_by_rank"].as_f64().unwrap();
        assert!(best >= by_rank && best < 1.0);
        assert_eq!(iteration["accuracy_of_on_k"].as_array().unwrap().len(), 4);
    }
    let said = fault(&["graph", "rank", "--task", "motif:9"], &graph, 2);
    assert!(said.contains("k is 9, but must be 3 to 8"), "{said}");
    let said = fault(&["graph", "rank", "--task", "tango:3"], &graph, 2);
    assert!(said.contains("clique:K, motif:K or fsm:VERTICES:SUPPORT"), "{said}");
    let said = fault(&["graph", "rank", "--tau", "2"], &graph, 2);
    assert!(said.contains("tau is 2, but must be from 0 to 1"), "{said}");
    let words = ["graph", "rank", "--task", "motif:3", "--max-embeddings", "2"];
    assert!(fault(&words, &graph, 1).contains("more than 2 embeddings"));
}

#[test]
fn plans_are_explained_and_come_back() {
    let shown = |words: &[&str]| {
        let output = gramer().arg("plan").args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let cycle = shown(&["4-cycle"]);
    assert!(cycle.starts_with("4-cycle, edge-induced\n"), "{cycle}");
    assert!(cycle.contains("every vertex of the graph"), "{cycle}");
    assert!(cycle.contains("choose 2 of S") || cycle.contains("below v"), "{cycle}");
    assert!(cycle.contains("an occurrence is 8 mappings"), "{cycle}");
    assert!(cycle.contains("by paths of two edges that meet"), "{cycle}");
    let path = shown(&["5-path"]);
    // Of the path's ways to fold, the 4-cycle alone has a core.
    assert!(path.contains("closed forms of all motifs of 5 vertices"), "{path}");
    assert!(path.contains("with a core of up to 4 vertices"), "{path}");
    assert!(!shown(&["5-path", "--list"]).contains("homomorphisms"));
    let json = shown(&["house", "--induced", "vertex", "--list", "-o", "json"]);
    let plan: gramer::plan::search::SearchPlan = serde_json::from_str(&json).unwrap();
    let house = gramer::pattern::named("house").unwrap();
    let expected =
        gramer::plan::search::SearchPlan::of(&house, gramer::task::Induced::Vertex, false, true);
    assert_eq!(plan, expected);
    let picture = shown(&["house", "--output", "svg"]);
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    let folder = Folder::new();
    let apart = folder.file("apart.txt", "v 0 1\nv 1 1\nv 2 1\ne 0 1\n");
    let refused = gramer().arg("plan").arg(apart).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("exist for connected patterns"),
        "{}",
        text(&refused.stderr)
    );
    let absent = shown(&["a-b, b-c, a!-c"]);
    assert!(absent.contains("− N(v"), "{absent}");
    assert_eq!(shown(&["--schema"]), gramer_testing::schema::ANSWER);
}

#[test]
fn several_devices_answer_as_one_and_say_what_each_did() {
    let folder = Folder::new();
    let graph = folder.large();
    let (one, _) = results(&["mine", "clique", "-k", "4"], &graph);
    for devices in ["cpu,cpu", "cpu,cpu,cpu"] {
        let (several, document) =
            results(&["mine", "clique", "-k", "4", "--device", devices], &graph);
        assert_eq!(several, one, "{devices}");
        assert_eq!(document["device"], devices);
        let measured = document["devices"].as_array().unwrap();
        assert_eq!(measured.len(), devices.split(',').count());
        assert_eq!(measured[0]["device"], "cpu (1)");
        let busy = |d: &Value| d["metrics"]["share.busy"]["value"].as_f64().unwrap();
        assert!(measured.iter().all(|d| busy(d) > 0.0));
        let part = |d: &Value| d["metrics"]["share.portions"]["value"].as_f64().unwrap();
        let parts: f64 = measured.iter().map(part).sum();
        assert!((parts - 1.0).abs() < 1e-9, "{parts}");
    }
    let small = folder.graph();
    let (mixed, _) = results(&["mine", "motif", "-k", "3", "--device", "reference,cpu"], &small);
    assert_eq!(mixed, results(&["mine", "motif", "-k", "3"], &small).0);
}

#[test]
fn lists_of_devices_are_refused_with_a_reason() {
    let folder = Folder::new();
    let graph = folder.graph();
    for (words, code, part) in [
        (
            &["mine", "clique", "-k", "3", "--device", "cpu,tpu"][..],
            2,
            "no device is called \"tpu\"",
        ),
        (&["mine", "clique", "-k", "3", "--device", "cpu,"], 2, "no device is called \"\""),
        (
            &["mine", "clique", "--maximum", "--device", "cpu,cpu"],
            2,
            "`cpu` answers it only as a whole",
        ),
        (
            &["mine", "clique", "--maximal", "--device", "cpu,reference"],
            2,
            "`reference` has no method",
        ),
        (
            &["mine", "clique", "-k", "3", "--device", "cpu,gpu", "--profile", "trace.json"],
            2,
            "--profile is the trace of one device",
        ),
    ] {
        let output = run(words, &graph);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(code) && said.contains(part), "{words:?}: {said}");
    }
}

#[test]
fn a_log_tells_phases_and_choices_on_standard_error_alone() {
    let folder = Folder::new();
    let graph = folder.graph();
    let mine = |words: &[&str], variable: &str| {
        let mut command = gramer();
        command.args(["mine", "clique", "-k", "5", "--output", "json", "--threads", "1"]);
        command.args(words).arg(&graph).env("GRAMER_LOG", variable).output().unwrap()
    };
    let count = |output: &Output| {
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON alone");
        document["results"][0]["count"].as_u64().unwrap()
    };
    for (words, variable) in
        [(&[][..], ""), (&[], "off"), (&["--log", "off"], "debug"), (&["--log", "warn"], "")]
    {
        let output = mine(words, variable);
        assert_eq!(
            (count(&output), text(&output.stderr)),
            (0, String::new()),
            "{words:?} {variable}"
        );
    }
    for (words, variable) in
        [(&["--log", "info"][..], ""), (&[], "info"), (&["--log", "info"], "off")]
    {
        let output = mine(words, variable);
        let told = text(&output.stderr);
        assert_eq!(count(&output), 0);
        // Each phase with its time, the format, and how cliques were counted.
        for part in [
            "read{path=",
            "format=edges",
            "vertices=5 edges=6",
            // By one thread while the rows are made, else after it.
            "rank{vertices=5}: gramer_graph::",
            "mine{engine=\"cpu\" task=\"clique\" share=false}: ",
            "the method is chosen engine=\"cpu\" task=\"clique\" method=\"cliques\"",
        ] {
            assert!(told.contains(part), "{part} in {told}");
        }
        assert!(told.lines().all(|line| line.contains(" INFO ")), "{told}");
    }
    let told = text(&mine(&["--log", "debug"], "").stderr);
    assert!(told.contains("DEBUG"), "{told}");
    let wrong = mine(&[], "loud");
    assert_eq!(wrong.status.code(), Some(2));
    let told = text(&wrong.stderr);
    assert_eq!(
        told,
        "gramer: GRAMER_LOG: there is no level `loud`; the levels are off, warn, info, debug\n"
    );
    assert_eq!(mine(&["--log", "loud"], "").status.code(), Some(2));
}
