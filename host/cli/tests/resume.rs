//! Runs with a checkpoint: stopped at random times by signals and time limits, killed, and resumed until
//! they are done, with the answer of a plain run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use gramer_testing::environment;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn gramer(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(words: &[&str]) -> Output {
    gramer(words).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A random graph, with labels if there should be some.
fn graph(folder: &Path, scale: u32, labels: bool) -> String {
    let path = folder.join(format!("rmat{scale}{labels}.gramer"));
    let (scale, name) = (scale.to_string(), path.to_str().unwrap());
    // The largest ones have several turns.
    if path.exists() {
        return name.into();
    }
    let mut words = vec!["graph", "generate", "rmat", "--scale", &scale, "--seed", "5", name];
    if labels {
        words.extend(["--vertex-labels", "3"]);
    }
    let output = run(&words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    name.into()
}

/// Numbers that look random: xorshift.
struct Random(u64);

impl Random {
    fn seeded() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        println!("seed {}", since.as_nanos() as u64);
        Random(since.as_nanos() as u64 | 1)
    }

    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// Work that the file says is done: phases, or entries of lists and vertices without any. More than any graph has if all is
/// done, which a file says that has no list of it.
fn done(file: &Path) -> u64 {
    let Ok(text) = fs::read_to_string(file) else { return 0 };
    // Whole or not at all, whenever it is read.
    let saved: Value = serde_json::from_str(&text).unwrap();
    let pairs = |list: &Value, from: usize| -> u64 {
        let length = |e: &Value| e[from + 1].as_u64().unwrap() - e[from].as_u64().unwrap();
        list.as_array().into_iter().flatten().map(length).sum()
    };
    if let Some(joins) = saved["joins"].as_array().filter(|joins| !joins.is_empty()) {
        return joins.len() as u64;
    }
    let outcome = &saved["outcome"];
    let share = &outcome["share"];
    if outcome.is_object() && share.is_null() {
        return u64::MAX;
    }
    pairs(&share["whole"], 0) + pairs(&share["parts"], 1)
}

/// What a run answers: the rows and the total.
fn answer(output: &Output) -> (Value, Value) {
    let document: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(document["complete"], true);
    (document["results"].clone(), document["total"].clone())
}

/// Stops runs of `words` until one has ended; how many were stopped after they had done something.
fn stopped_and_resumed(words: &[&str], folder: &Path, random: &mut Random) -> u32 {
    let begun = Instant::now();
    let plain = run(&[words, &["--json"]].concat());
    assert!(plain.status.success(), "{}", text(&plain.stderr));
    let takes = begun.elapsed().as_millis() as u64 + 1;

    let file: PathBuf = folder.join("run.json");
    let name = file.to_str().unwrap();
    let kept = ["--json", "--checkpoint", name, "--checkpoint-interval", "0.05"];
    let (mut stops, mut useful) = (0, 0);
    loop {
        let before = done(&file);
        let mut words = [words, &kept].concat();
        if stops > 0 && file.exists() {
            words.push("--resume");
        }
        // In the end one may go on for as long as it needs.
        let way = if stops < 8 { random.next(4) } else { 4 };
        // A limit of zero means no limit.
        let after = 1 + takes / 8 + random.next(takes);
        let limit = format!("{}", after as f64 / 1000.0);
        if way == 0 {
            words.extend(["--time-limit", &limit]);
        }
        let child = gramer(&words).spawn().unwrap();
        let signals = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::KILL, -1)];
        let mut code = 124;
        if let 1..=3 = way {
            std::thread::sleep(Duration::from_millis(after));
            let signal = signals[way as usize - 1];
            code = signal.1;
            // It may have ended.
            let _ = kill_process(Pid::from_child(&child), signal.0);
        }
        let output = child.wait_with_output().unwrap();
        // A signal can come after the answer: then the file is gone as well.
        if output.status.success() || (before > 0 && !file.exists()) {
            assert_eq!(answer(&output), answer(&plain), "{words:?}");
            assert!(!file.exists(), "nothing is left to be continued");
            return useful;
        }
        stops += 1;
        let said = text(&output.stderr);
        // A signal that comes before the program listens ends it in the same way as a kill.
        let ended = output.status.code().unwrap_or(-1);
        assert!(
            ended == code || ended == -1 && stops < 9,
            "{words:?}: {ended}, not {code}: {said}"
        );
        let now = done(&file);
        assert!(now >= before, "{now} of {before}");
        useful += u32::from(now > before);
    }
}

/// How large a graph must be to be stopped in the middle depends on the machine.
fn until_stopped(task: &[&str], device: &str, scales: std::ops::Range<u32>, labels: bool) {
    let (folder, mut random) = (tempfile::tempdir().unwrap(), Random::seeded());
    let mut stops = 0;
    // When a run is stopped is left to chance: the largest graphs get more of them.
    let largest = scales.end - 1;
    for scale in scales.chain([largest; 6]) {
        let graph = graph(folder.path(), scale, labels);
        let words = [&["mine"], task, &[&graph, "--device", device, "--threads", "2"]].concat();
        stops += stopped_and_resumed(&words, folder.path(), &mut random);
        if stops >= 2 {
            return;
        }
    }
    panic!("no run of {task:?} was stopped twice in the middle");
}

#[test]
fn cliques_on_the_processor() {
    until_stopped(&["clique", "-k", "6"], "cpu", 12..17, false);
}

#[test]
fn motifs_whose_counts_are_equations_on_two_devices() {
    until_stopped(&["motif", "-k", "4"], "cpu,cpu", 12..19, false);
}

#[test]
fn frequent_patterns_by_embeddings() {
    let task = ["fsm", "--support", "100", "--max-vertices", "3"];
    until_stopped(&task, "cpu", 10..17, true);
}

/// Phase by phase, alone and with another device.
#[test]
fn frequent_patterns_by_minimum_images() {
    let task = ["fsm", "--measure", "mni", "--support", "40", "--max-edges", "4"];
    until_stopped(&task, "cpu", 8..15, true);
    until_stopped(&task, "cpu,cpu", 8..15, true);
}

#[test]
fn matches_on_two_devices() {
    until_stopped(&["match", "--pattern", "diamond"], "cpu,cpu", 11..18, false);
}

#[test]
fn an_opencl_device() {
    let folder = tempfile::tempdir().unwrap();
    let small = graph(folder.path(), 5, false);
    let output = run(&["mine", "clique", "-k", "3", &small, "--device", "gpu:portable"]);
    if !output.status.success() {
        return environment::skip(environment::OPENCL, &text(&output.stderr));
    }
    until_stopped(&["clique", "-k", "5"], "gpu:portable", 13..19, false);
}

#[test]
fn a_file_of_another_run_is_refused_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (mine, other) = (graph(folder.path(), 9, false), graph(folder.path(), 8, false));
    let labelled = graph(folder.path(), 8, true);
    let path = folder.path().join("run.json");
    let file = path.to_str().unwrap();
    // Another task's run, stopped before it has saved anything; its file then says that it was of this task. How
    // fast the machine is doesn't matter: this task takes minutes, and the next write comes after ten seconds.
    let long = ["mine", "motif", "-k", "6", &mine, "--checkpoint", file];
    let child = gramer(&long).spawn().unwrap();
    while !path.exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    kill_process(Pid::from_child(&child), Signal::KILL).expect("it is still at work");
    child.wait_with_output().unwrap();
    let saved = fs::read_to_string(&path).unwrap();
    assert!(saved.contains(r#""outcome":null"#), "{saved}");
    let task = r#""task":{"task":"motif","k":6,"induced":"vertex"}"#;
    assert!(saved.contains(task), "{saved}");
    let rule = r#""rule":"cpu, motif-equations""#;
    assert!(saved.contains(rule), "{saved}");
    let saved = saved.replace(task, r#""task":{"task":"clique","k":4}"#);
    fs::write(&path, saved.replace(rule, r#""rule":"cpu, cliques""#)).unwrap();
    let saved = fs::read(&path).unwrap();
    let refused = |words: &[&str], code: i32, parts: &[&str]| {
        let output = run(&[&["mine"], words, &["--checkpoint", file]].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        assert!(parts.iter().all(|part| said.contains(part)), "{words:?}: {said}");
        assert_eq!(fs::read(&path).unwrap(), saved, "it stays as it was");
    };
    let clique = ["clique", "-k", "4"];
    refused(&[&clique[..], &[&other]].concat(), 1, &["run.json", "of another graph, of "]);
    refused(&[&clique[..], &[&labelled]].concat(), 1, &["another graph"]);
    refused(&["clique", "-k", "5", &mine], 1, &[r#""k":4"#, r#""k":5"#]);
    let by_ids = [&clique[..], &[&mine, "--device", "cpu,reference"]].concat();
    refused(&by_ids, 1, &["and these by the rule `ids`"]);

    let mni = ["fsm", "--measure", "mni", "--max-edges", "2", "--support", "5", &labelled];
    refused(&mni, 1, &["by the rule `in phases, levels`"]);
    let whole = ["a checkpoint keeps shares or phases", "leave --checkpoint out"];
    refused(&["clique", "--maximum", &mine], 2, &whole);
    let with = |more: &[&'static str]| [&clique[..], &[&mine], more].concat();
    let list = with(&["--list", "list.tsv"]);
    refused(&list, 2, &["--checkpoint", "--list"]);
    refused(&with(&["--per", "vertex"]), 2, &["leave --per or --checkpoint out"]);
    refused(&with(&["--estimate", "1%"]), 2, &["--estimate"]);
    refused(&[&with(&["--force"])[..], &["--to", file]].concat(), 2, &["give each its own"]);

    let without = run(&["mine", "clique", "-k", "4", &mine, "--resume"]);
    assert_eq!(without.status.code(), Some(2), "{}", text(&without.stderr));
    let missing = folder.path().join("missing.json");
    let words = ["mine", "clique", "-k", "4", &mine, "--resume", "--checkpoint"];
    let output = run(&[&words[..], &[missing.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("there is no such checkpoint") && said.contains("--resume"), "{said}");
    // A file that is not a checkpoint, and one that was written whole.
    let output = run(&["mine", "clique", "-k", "4", &mine, "--checkpoint", &other]);
    let said = text(&output.stderr);
    assert!(said.contains("this is not a checkpoint"), "{said}");
    let whole =
        run(&["mine", "clique", "-k", "4", &mine, "--json", "--resume", "--checkpoint", file]);
    let plain = run(&["mine", "clique", "-k", "4", &mine, "--json"]);
    assert_eq!(answer(&whole), answer(&plain));
}

/// Two runs with one checkpoint would overwrite each other's results.
#[test]
fn a_file_is_of_one_run_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph(folder.path(), 12, false);
    let path = folder.path().join("run.json");
    let words = ["mine", "motif", "-k", "6", &graph, "--checkpoint", path.to_str().unwrap()];
    let child = gramer(&words).spawn().unwrap();
    while !path.exists() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let second = run(&words);
    let said = text(&second.stderr);
    assert_eq!(second.status.code(), Some(2), "{said}");
    assert!(said.contains("run.json: another run uses it"), "{said}");
    kill_process(Pid::from_child(&child), Signal::KILL).expect("the first one is still at work");
    child.wait_with_output().unwrap();
    let third = run(&[&words[..], &["--time-limit", "0.5"]].concat());
    assert_eq!(third.status.code(), Some(124), "{}", text(&third.stderr));
}

/// An answer that can't be written leaves the checkpoint, from which it comes at once.
#[test]
fn an_answer_that_is_not_written_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let graph = graph(folder.path(), 9, false);
    let path = folder.path().join("run.json");
    let file = path.to_str().unwrap();
    let words = ["mine", "motif", "-k", "4", &graph, "--checkpoint", file, "--json"];
    let output = run(&[&words[..], &["--to", "/dev/full"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let saved: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(
        (&saved["outcome"]["complete"], &saved["outcome"]["share"]),
        (&true.into(), &Value::Null)
    );
    let again = run(&[&words[..], &["--resume"]].concat());
    let plain = run(&["mine", "motif", "-k", "4", &graph, "--json"]);
    assert_eq!(answer(&again), answer(&plain));
    assert!(!path.exists());
}
