//! `--device emulator`: a worker has the device, is watched, and leaves nothing behind.
//!
//! The tests need what `tests/opencl.rs` needs, and Verilator for the model of the core.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use environment::root;
use gramer::accelerator::emulated::EmulatedDevice;
use gramer::accelerator::settings::Settings;
use gramer::cpu::Cpu;
use gramer::engine::{Engine, EngineExt, Query, Run};
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::pattern::named;
use gramer::task::Induced;
use gramer::{Context, Task};
use gramer_testing::{environment, signals};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// What the device measured.
fn metric<'a>(found: &'a Value, name: &str) -> &'a Value {
    &found["devices"][0]["metrics"][name]["value"]
}

/// The small machine, simulated; `None` where something is missing.
fn device() -> Option<String> {
    let emulator = gramer::accelerator::xclbin::build::find_emulator().map_err(|e| e.to_string());
    let missing = match emulator.and_then(|_| environment::runtime()) {
        Err(missing) => missing,
        Ok(_) if Command::new("verilator").arg("--version").output().is_err() => {
            "there is no verilator (scripts/setup-rtl.sh)".into()
        }
        Ok(_) => return Some("emulator:small".into()),
    };
    environment::skip(environment::XRT, &missing);
    None
}

fn gramer(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A graph, and one that takes minutes to count 5-vertex motifs in.
fn graphs(folder: &Path) -> (String, String) {
    let make = |name: &str, scale: &str, factor: &str| {
        let path = folder.join(name).to_str().unwrap().to_string();
        let words = ["graph", "generate", "rmat", "--scale", scale, "--edge-factor", factor];
        let made = gramer(&words).args(["--seed", "1", &path]).output().unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));
        path
    };
    (make("small.gramer", "7", "5"), make("large.gramer", "11", "16"))
}

/// What an emulation has in the system: its folder in /tmp and the processes that name it.
fn left(child: u32) -> Vec<String> {
    let mut found = vec![];
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let mark = format!("GRAMER_LAUNCH_TEST={child}\0");
        if environment.windows(mark.len()).any(|w| w == mark.as_bytes()) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            if !line.is_empty() {
                found.push(text(&line).replace('\0', " "));
            }
        }
    }
    found
}

/// A number that no other test of this run has.
fn mark() -> u32 {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    std::process::id() * 100 + NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// Hundredths of a second of a processor that the process of a pid file has used.
fn ticks(file: &Path) -> Option<u64> {
    let pid = std::fs::read_to_string(file).ok()?;
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}

/// A long run. A test that fails in its midst leaves nothing behind.
struct Started(Option<Child>);

impl Started {
    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("`end` has not been called")
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a long run and waits until its emulator runs; gives the process, its folder and its mark.
fn start(device: &str, graph: &str) -> (Started, PathBuf, u32) {
    let mark = mark();
    let words = ["mine", "motif", "-k", "5", graph, "--device", device, "--output", "json"];
    let child = gramer(&words).env("GRAMER_LAUNCH_TEST", mark.to_string()).spawn().unwrap();
    let mut started = Started(Some(child));
    let begun = Instant::now();
    loop {
        let folder = left(mark).iter().find_map(|line| {
            let at = line.find("/tmp/gramer-")?;
            Some(PathBuf::from(line[at..].split(['/', ' ']).take(3).collect::<Vec<_>>().join("/")))
        });
        // It simulates only what was started: half a second of a processor is more than its own start.
        if let Some(folder) = folder
            && ticks(&folder.join("emulator.pid")).is_some_and(|used| used >= 50)
        {
            return (started, folder, mark);
        }
        if started.child().try_wait().unwrap().is_some() {
            let output = started.0.take().expect("as above").wait_with_output().unwrap();
            panic!("no emulator was started: {}", text(&output.stderr));
        }
        assert!(begun.elapsed() < Duration::from_secs(400), "no emulator was started");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits for the end, which must come soon, and checks that nothing is left.
fn end(mut started: Started, folder: &Path, mark: u32, limit: Duration) -> Output {
    let begun = Instant::now();
    let child = started.0.take().expect("it ends once");
    let output = child.wait_with_output().unwrap();
    let took = begun.elapsed();
    assert!(took < limit, "{took:?}: {}", text(&output.stderr));
    assert!(!folder.exists(), "{} is left", folder.display());
    assert_eq!(left(mark), Vec::<String>::new(), "processes are left");
    output
}

/// Sends a signal to a process that is known by its number.
fn kill(signal: Signal, pid: &str) {
    let pid = Pid::from_raw(pid.parse().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

#[test]
fn results_are_clean_and_equal_two_at_a_time() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let words = ["mine", "motif", "-k", "3", &graph, "--output", "json"];
    let expected = gramer(&words).output().unwrap();
    let expected: Value = serde_json::from_slice(&expected.stdout).unwrap();
    let start = || gramer(&words).args(["--device", &device]).spawn().unwrap();
    let (one, two) = (start(), start());
    let mut cycles = vec![];
    for child in [one, two] {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        // Nothing but the answer is on standard output.
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["results"], expected["results"]);
        assert_eq!(found["device"], device.as_str());
        cycles.push(metric(&found, "run.cycles").as_u64().unwrap());
    }
    assert!(cycles[0] > 0 && cycles[0] == cycles[1], "{cycles:?}");
}

/// The answer of a command with JSON results.
fn mined(words: &[&str]) -> Value {
    let output = gramer(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// One cluster and two, with an image for cliques alone and with one of all lists, on one memory channel and, in long
/// tests, on eight. Most of the time is the compiler's, for the model of the machine.
#[test]
fn the_set_core_counts_as_the_cpu_does() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let devices = [("emulator:set-small", 1), ("emulator:set", 2), ("emulator:set-hbm", 2)];
    for (device, units) in devices.into_iter().take(environment::most_cases(2)) {
        for task in [&["clique", "-k", "4"][..], &["motif", "-k", "4"]] {
            let words = [&["mine"], task, &[&graph, "--json"]].concat();
            let expected = mined(&words);
            let found = mined(&[&words[..], &["--device", device]].concat());
            assert_eq!(found["results"], expected["results"], "{device}: {task:?}");
            assert_eq!(found["complete"], true);
            assert_eq!(metric(&found, "run.runs"), units, "{device}: {task:?}");
            assert_eq!(metric(&found, "device.compute_units"), units);
            // Conservation: what was asked for came, and every unit was finished.
            let sum = |name: &str| -> u64 {
                metric(&found, name).as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).sum()
            };
            assert!(sum("pu.lines_requested") > 0);
            assert_eq!(sum("pu.lines_requested"), sum("pu.lines_answered"));
            assert_eq!(sum("core.work_units"), sum("pu.units"));
        }
    }
}

/// Sizes of cliques, four in a launch: the graph is transferred and loaded once.
#[test]
fn a_graph_stays_on_the_set_core_from_launch_to_launch() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    // Sparse, but complete between the first nine.
    let some = |u: u64, v: u64| u < 9 || (7919 * u + 104_729 * v) % 23 == 0;
    let pairs = (0..120).flat_map(|u| (0..u).map(move |v| (u, v)));
    let edges = pairs.filter(|&(u, v)| some(u, v)).map(|(u, v)| format!("{u} {v}\n"));
    let graph = folder.path().join("nine.txt").to_str().unwrap().to_string();
    std::fs::write(&graph, edges.collect::<String>()).unwrap();
    let sizes = ["mine", "clique", "-k", "3", "--up-to", "16", &graph, "--json"];
    let expected = mined(&sizes);
    let found = mined(&[&sizes[..], &["--device", "emulator:set-small"]].concat());
    assert_eq!(found["results"], expected["results"]);
    assert_eq!(found["results"].as_array().unwrap().len(), 7, "{found}");
    let runs = metric(&found, "run.runs").as_u64().unwrap();
    assert_eq!(runs, 2, "sizes 3 to 6, then 7 to 10");
    let one = ["mine", "clique", "-k", "3", &graph, "--json", "--device", "emulator:set-small"];
    let one = mined(&one);
    let beats = |found: &Value| metric(found, "bank.beats")[0].as_u64().unwrap();
    let written = |found: &Value| metric(found, "transfer.bytes_to_device").as_u64().unwrap();
    // Another load would double the beats; a poll of the abort word is one each.
    assert!(beats(&found) < beats(&one) * 3 / 2, "{} and {}", beats(&found), beats(&one));
    let streams = written(&found) - written(&one);
    assert!(streams < 2 * written(&one), "{streams} bytes for {runs} runs");
    // Each launch was enqueued while the one before it ran, the one behind the last without need.
    let count = |name: &str| metric(&found, &format!("residency.{name}")).as_u64().unwrap();
    let dropped = count("dropped");
    assert!(dropped <= 1, "{found}");
    assert_eq!(count("enqueued_ahead"), runs + dropped - 1);
    // Those of the first sizes once more, for the image on chip.
    assert_eq!(count("streams_built"), runs + dropped + 1);
    assert_eq!(["built", "written", "loaded"].map(|what| count(&format!("images_{what}"))), [1; 3]);
}

/// Tasks on a prepared graph that need what earlier ones left: nothing is made, written or loaded again.
#[test]
fn a_prepared_graph_keeps_images_and_units() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = graphs(folder.path());
    let context = Context::default();
    let graph = read_graph(path.as_ref(), &ReadOptions::default(), &context).unwrap();
    let helper = PathBuf::from(env!("CARGO_BIN_EXE_gramer"));
    let device = EmulatedDevice::with_helper("emulator:set-small", Settings::default(), helper);
    let prepared = device.unwrap().prepare(&graph, &context).unwrap();
    let motif = |k| Task::Motif { k, induced: Induced::Vertex };
    let clique = |k| Task::Clique { k };
    let shape = |name| Task::Match {
        pattern: named(name).unwrap(),
        induced: Induced::Edge,
        mappings: None,
    };
    let (house, diamond) = (|| shape("house"), || shape("diamond"));
    // Images built, written and loaded, and streams made; whether anything is written.
    let steps = [
        // The order of the units is another one if the image is on chip.
        (clique(3), [1, 1, 1, 2], true),
        (clique(3), [0; 4], true),
        (clique(3), [0; 4], false),
        (clique(4), [0, 0, 0, 1], true),
        (motif(3), [0; 4], false),
        (motif(4), [1; 4], true),
        (motif(4), [0; 4], false),
        // The lists for cliques are in this image, too.
        (clique(3), [0, 0, 0, 1], true),
        (clique(3), [0; 4], false),
        (diamond(), [1; 4], true),
        (diamond(), [0; 4], false),
        (house(), [1; 4], true),
        (house(), [0; 4], false),
        // Built before, but another one is on the device.
        (diamond(), [0, 1, 1, 0], true),
        (clique(4), [0, 1, 1, 1], true),
        (clique(4), [0; 4], false),
    ];
    for (at, (task, expected, writes)) in steps.into_iter().enumerate() {
        let query = Query::new(task.clone());
        let outcome = prepared.counts(&query, &Run::new(&context)).unwrap();
        let known = Cpu.run(&graph, &task, None, &context).unwrap();
        assert_eq!(outcome.results, known.results, "step {at}");
        let metrics = &outcome.devices[0];
        let found = ["images_built", "images_written", "images_loaded", "streams_built"]
            .map(|name| metrics.count(&format!("residency.{name}")).unwrap());
        assert_eq!(found, expected, "step {at}: {task:?}");
        let written = metrics.count("transfer.bytes_to_device").unwrap();
        assert_eq!(written > 0, writes, "step {at}: {written} bytes");
    }
}

/// A graph that is larger than a cluster's memory goes over in segments, those of some roots to each cluster.
#[test]
fn the_set_core_counts_a_graph_in_segments() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    for (device, triangles) in [("emulator:set-small", 24_000), ("emulator:set", 90_000)] {
        let edges = (0..3 * triangles).step_by(3);
        let edges = edges.map(|v| format!("{v} {}\n{v} {}\n{} {}\n", v + 1, v + 2, v + 1, v + 2));
        let path = folder.path().join("triangles.txt");
        std::fs::write(&path, edges.collect::<String>()).unwrap();
        let words = ["mine", "clique", "-k", "3", path.to_str().unwrap(), "--json", "--device"];
        let found = mined(&[&words[..], &[device]].concat());
        assert_eq!(found["results"][0]["count"], triangles, "{device}");
        assert_eq!(found["complete"], true);
        let number = |name: &str| metric(&found, name).as_u64().unwrap();
        assert!(number("run.segments") >= 2 && number("run.segments") == number("run.runs"));
        // Two lists and an id of each triangle, in one cluster.
        let lines = number("run.segment_lines") * 4;
        assert!((3 * triangles..6 * triangles).contains(&lines), "{device}: {lines}");
        // Every cluster read its own, and waited for none.
        let read = metric(&found, "bank.beats").as_array().unwrap().clone();
        let read: Vec<u64> = read.iter().map(|beats| beats.as_u64().unwrap()).collect();
        let (least, most) = (read.iter().min().unwrap(), read.iter().max().unwrap());
        assert!(most * 9 <= least * 10, "{device}: {read:?}");
    }
}

/// Shares of the units: with a device of another kind, and kept in a file.
#[test]
fn the_set_core_takes_shares() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let cliques = ["mine", "clique", "-k", "4", &graph, "--json", "--device"];
    let expected = mined(&[&cliques[..], &["cpu"]].concat());
    let found = mined(&[&cliques[..], &["emulator:set-small,cpu"]].concat());
    assert_eq!(found["results"], expected["results"]);
    // Four sizes in a launch.
    let sizes = ["mine", "clique", "-k", "3", "--up-to", "16", &graph, "--json", "--device"];
    let expected = mined(&[&sizes[..], &["cpu"]].concat());
    let kept = folder.path().join("sizes");
    let kept = ["emulator:set-small", "--checkpoint", kept.to_str().unwrap()];
    assert_eq!(mined(&[&sizes[..], &kept].concat())["results"], expected["results"]);
    let motifs = ["mine", "motif", "-k", "4", &graph, "--json", "--device"];
    let expected = mined(&[&motifs[..], &["cpu"]].concat());
    let kept = folder.path().join("kept");
    let kept = ["emulator:set-small", "--checkpoint", kept.to_str().unwrap()];
    assert_eq!(mined(&[&motifs[..], &kept].concat())["results"], expected["results"]);
    let output = gramer(&[&motifs[..], &["emulator:set-small,cpu"]].concat()).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("divides it in different ways"), "{said}");
}

/// Motifs of five vertices, in three runs on one compute unit or, in long tests, two; not in shares, which other devices take.
#[test]
fn the_set_core_counts_motifs_of_five() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let motifs = ["mine", "motif", "-k", "5", &graph, "--json", "--device"];
    let expected = mined(&[&motifs[..], &["cpu"]].concat());
    // The second is a model of a minute's compilation.
    let devices = ["emulator:set-small", "emulator:set-plans"];
    for device in devices.into_iter().take(environment::most_cases(1)) {
        let found = mined(&[&motifs[..], &[device]].concat());
        assert_eq!(found["results"], expected["results"], "{device}");
        assert_eq!(found["complete"], true);
    }
    let kept = folder.path().join("kept");
    let kept = ["emulator:set-small", "--checkpoint", kept.to_str().unwrap()];
    for (words, reason) in
        [(&kept[..], "answers it only as a whole"), (&["emulator:set"], "motifs of 3 to 4, not 5")]
    {
        let output = gramer(&[&motifs[..], words].concat()).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(reason), "{said}");
    }
}

/// Search plans in the PUs, whole and in shares.
#[test]
fn the_set_core_matches_patterns() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let kept = folder.path().join("kept");
    let kept = ["--checkpoint", kept.to_str().unwrap()];
    for (pattern, options, more) in [
        ("diamond", ["--mappings"].as_slice(), [].as_slice()),
        ("house", &["--induced", "vertex"], &[]),
        // By the map, and of shares by a plan.
        ("house", &[], &[]),
        ("house", &["--mappings"], &kept),
        ("5-cycle", &["--mappings"], &[]),
        ("5-cycle", &[], &kept),
    ] {
        let words = ["mine", "match", "--pattern", pattern, &graph, "--json"];
        let words = [&words, options].concat();
        let expected = mined(&words);
        let found = mined(&[&words[..], &["--device", "emulator:set-small"], more].concat());
        assert_eq!(found["results"], expected["results"], "{pattern}");
        assert_eq!(found["complete"], true);
    }
}

/// Sets that have no room: the run is begun again with half as many walkers, whose parts are twice as large, counted or
/// listed. Of two hubs with all leaves in common a walker's sets are twice as long as the longest list, by
/// which the host chooses how many walkers go.
#[test]
fn the_set_core_begins_again_with_fewer_walkers() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (graph, list) = (path("hubs.txt"), path("list.tsv"));
    let leaves = 400u64;
    let edges = (2..leaves + 2).map(|v| format!("0 {v}\n1 {v}\n"));
    std::fs::write(&graph, edges.collect::<String>()).unwrap();
    let words = ["mine", "match", "--pattern", "4-cycle", "--induced", "vertex", &graph, "--json"];
    let core = ["--device", "emulator:set-small"];
    let squares = leaves * (leaves - 1) / 2;
    for more in [&[][..], &["--list", &list]] {
        let found = mined(&[&words[..], &core, more].concat());
        assert_eq!(found["results"][0]["count"], squares, "{more:?}");
        assert_eq!(found["complete"], true);
        let retries = metric(&found, "run.retries").as_u64();
        assert!(retries.is_some_and(|retries| retries >= 1), "{more:?}: {found}");
    }
    assert_eq!(std::fs::read_to_string(&list).unwrap().lines().count() as u64, squares);
    // With room for all sets nothing is begun again.
    std::fs::write(&graph, "0 1\n1 2\n2 3\n3 0\n").unwrap();
    let found = mined(&[&words[..], &core].concat());
    assert_eq!(
        (&found["results"][0]["count"], metric(&found, "run.retries")),
        (&1.into(), &Value::Null)
    );
}

/// Listed by search plans as the CPU engine lists, with room for all, for little, and for one embedding at a time; and
/// no more than are asked for.
#[test]
fn the_set_core_lists_patterns() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let list = folder.path().join("list.tsv");
    let listed = |words: &[&str], more: &[&str]| -> (Vec<Vec<u64>>, Value) {
        let words = [&["mine"], words, &[&graph, "--json", "--force", "--list"]].concat();
        let output = gramer(&words).arg(&list).args(more).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        let lines = std::fs::read_to_string(&list).unwrap();
        let numbers =
            |line: &str| line.split_whitespace().filter_map(|id| id.parse().ok()).collect();
        let mut found: Vec<Vec<u64>> = lines.lines().map(numbers).collect();
        // Of an occurrence any of its mappings is listed.
        if !words.contains(&"--mappings") {
            found.iter_mut().for_each(|vertices| vertices.sort_unstable());
        }
        found.sort_unstable();
        (found, serde_json::from_slice(&output.stdout).unwrap())
    };
    let device = ["--device", "emulator:set-small"];
    for (words, beats) in [
        (&["match", "--pattern", "diamond", "--mappings"][..], None),
        (&["match", "--pattern", "4-cycle", "--induced", "vertex"], Some("result_beats=40")),
        (&["clique", "-k", "4"], Some("result_beats=1")),
    ] {
        let (expected, told) = listed(words, &[]);
        let room = beats.map_or(vec![], |beats| vec!["--set", beats]);
        let (found, own) = listed(words, &[&device[..], &room].concat());
        assert_eq!(found, expected, "{words:?}");
        assert!(!found.is_empty());
        assert_eq!(own["results"], told["results"], "{words:?}");
        assert_eq!(own["complete"], true);
        assert_eq!(metric(&own, "run.runs").as_u64().unwrap() > 1, beats.is_some(), "{words:?}");
        let (few, _) = listed(words, &[&device[..], &["--limit", "5"]].concat());
        assert_eq!(few.len(), 5);
        assert!(few.iter().all(|embedding| expected.contains(embedding)), "{words:?}");
    }
}

/// Frequent subgraphs by both measures, listed, with a result area that is emptied again and again; what isn't done is
/// refused.
#[test]
fn the_set_core_mines_frequent_patterns() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let vertices = (0..90u32).map(|v| format!("v {v} {}\n", [1, 1, 2][v as usize % 3]));
    let edges = (0..90u32).flat_map(|v| [1, 2, 3, 13].map(|step| (v, (v + step) % 90)));
    let edges = edges.map(|(u, v)| format!("e {u} {v}\n"));
    let text_of: String = vertices.chain(edges).collect();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (graph, list) = (path("graph.lg"), path("list.tsv"));
    std::fs::write(&graph, format!("t # 0\n{text_of}")).unwrap();
    let core = ["--device", "emulator:set-small"];
    let words = |more: &[&str]| {
        let words: Vec<String> = ["mine", "fsm", &graph, "--json"].map(String::from).into();
        [words, more.iter().map(|word| word.to_string()).collect()].concat()
    };
    let listed = |more: &[&str]| {
        let words = words(&[more, &["--list", &list, "--force"]].concat());
        let found = mined(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let lines = std::fs::read_to_string(&list).unwrap();
        // Of an occurrence any of its mappings is listed.
        let sorted = |line: &str| {
            let mut words: Vec<String> = line.split_whitespace().map(String::from).collect();
            words.sort_unstable();
            words.join(" ")
        };
        let mut lines: Vec<String> = lines.lines().map(sorted).collect();
        lines.sort_unstable();
        (lines, found)
    };
    let images = ["--measure", "mni", "--support", "40", "--max-edges", "3"];
    let counts = ["--support", "150", "--max-vertices", "4"];
    for asked in [&images[..], &counts[..]] {
        let (expected, known) = listed(asked);
        let largest = known["results"].as_array().unwrap().last().unwrap();
        assert_eq!(largest["pattern"]["vertices"], 4, "{asked:?}");
        let (found, told) = listed(&[asked, &core, &["--set", "result_beats=100"]].concat());
        assert_eq!(told["results"], known["results"], "{asked:?}");
        assert_eq!(told["complete"], true);
        assert!(found == expected, "{asked:?}: {} and {}", found.len(), expected.len());
        // The area is emptied several times for a pattern.
        let patterns = known["results"].as_array().unwrap().len() as u64;
        assert!(metric(&told, "run.runs").as_u64().unwrap() > 3 * patterns, "{asked:?}");
    }
    // In phases: with a checkpoint, and with a device of another kind.
    let kept = path("kept");
    for (asked, devices, more) in [
        (&counts[..], "emulator:set-small", &["--checkpoint", &kept][..]),
        (&images[..], "emulator:set-small", &["--checkpoint", &kept]),
        (&images[..], "emulator:set-small,cpu", &[]),
    ] {
        let known = mined(&words(asked).iter().map(String::as_str).collect::<Vec<_>>());
        let words = words(&[asked, more, &["--device", devices]].concat());
        let found = mined(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(found["results"], known["results"], "{asked:?} on {devices}");
        assert_eq!(found["complete"], true);
        // All candidates were examined, each by one device.
        let part =
            |device: &Value| device["metrics"]["share.candidates"]["value"].as_f64().unwrap();
        let all: f64 = found["devices"].as_array().unwrap().iter().map(part).sum();
        assert!((all - 1.0).abs() < 1e-9, "{devices}: {all}");
    }
    let more = [&counts[..], &["--set", "result_beats=4"]].concat();
    let output = gramer(&[]).args(words(&more)).args(core).output().unwrap();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("room for listed embeddings"), "{err}");
}

/// Each in its own worker, and the processor beside them.
#[test]
fn several_emulated_devices_share_a_task() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let words = ["mine", "clique", "-k", "4", &graph, "--json", "--device"];
    let expected = mined(&[&words[..], &["cpu"]].concat());
    let found = mined(&[&words[..], &["emulator:small,emulator:set-small,cpu"]].concat());
    assert_eq!(found["results"], expected["results"]);
    let devices = found["devices"].as_array().unwrap();
    let names: Vec<&str> = devices.iter().filter_map(|device| device["device"].as_str()).collect();
    assert_eq!(names, ["emulator:small", "emulator:set-small", "cpu"]);
}

/// Labels of vertices in the pattern; what the core doesn't tell apart, and what the graph has no labels for, is
/// refused.
#[test]
fn the_set_core_matches_patterns_with_labels() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    // Vertices in a ring with chords, whose labels are 1, 2, 2, 3 in turn.
    let vertices = (0..120u32).map(|v| format!("v {v} {}\n", [1, 2, 2, 3][v as usize % 4]));
    let far = |v: u32, step: u32| format!("e {v} {}\n", (v + step) % 120);
    let edges = (0..120u32).flat_map(|v| [1, 2, 3, 7, 31].map(|step| far(v, step)));
    let graph =
        write("graph.lg", ["t # 0\n".into()].into_iter().chain(vertices).chain(edges).collect());
    let plain = write("plain.txt", "0 1\n1 2\n2 0\n2 3\n".into());
    let tailed = "t # 0\nv 0 1\nv 1 2\nv 2 2\nv 3 3\ne 0 1\ne 1 2\ne 0 2\ne 2 3\n";
    let tailed = write("tailed.lg", tailed.into());
    let wedge = write("wedge.lg", "t # 0\nv 0 1\nv 1 *\nv 2 *\ne 0 1\ne 1 2\n".into());
    let core = ["--json", "--device", "emulator:set-small"];
    for (pattern, options) in [
        (&tailed, ["--induced", "edge"].as_slice()),
        (&tailed, &["--induced", "vertex"]),
        (&wedge, &["--mappings"]),
    ] {
        let words = ["mine", "match", "--pattern", pattern, &graph];
        let words = [&words, options].concat();
        let expected = mined(&[&words[..], &["--json"]].concat());
        assert_ne!(expected["results"][0]["count"], 0, "{pattern}");
        let found = mined(&[&words[..], &core].concat());
        assert_eq!(found["results"], expected["results"], "{pattern}, {options:?}");
    }
    for (pattern, graph, part) in [
        (&wedge, &graph, "can't distinguish mappings"),
        (&tailed, &plain, "the pattern asks for vertex labels, but the graph has none"),
    ] {
        let words = [&["mine", "match", "--pattern", pattern, graph][..], &core].concat();
        let output = gramer(&words).output().unwrap();
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {err}");
        assert!(err.contains(part), "{words:?}: {err}");
    }
}

/// What each PU did over time, as its page and its totals say it.
#[test]
fn a_page_of_an_emulated_run_shows_the_pus_over_time() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    for (device, pus) in [("emulator:small", "2"), ("emulator:set-small", "2")] {
        let page = folder.path().join(device.replace(':', "-") + ".html");
        let words = ["mine", "motif", "-k", "4", &graph, "--device", device, "--to"];
        let output = gramer(&[&words[..], &[page.to_str().unwrap()]].concat()).output().unwrap();
        assert!(output.status.success(), "{device}: {}", text(&output.stderr));
        let page = std::fs::read_to_string(&page).unwrap();
        let (_, strips) = page.split_once("<figure class=\"timeline\">").expect("a timeline");
        let (strips, _) = strips.split_once("</figure>").unwrap();
        assert!(strips.contains(" over time: "), "{device}: {strips:.300}");
        // What the strips say is what the counters of the same run say.
        let words = ["mine", "motif", "-k", "4", &graph, "--device", device, "--json"];
        let found = mined(&words);
        let totals = metric(&found, "pu_time.by_pu");
        let whole = totals["windows"][0].as_f64().unwrap();
        assert_eq!(totals["windows"].as_array().unwrap().len(), 1, "JSON has totals alone");
        let spent = totals["spent"].as_array().unwrap();
        assert_eq!(spent.len().to_string(), pus, "{device}");
        assert_eq!(strips.matches("<svg ").count(), spent.len(), "{device}");
        let paths = totals["states"].as_array().unwrap().len() * spent.len();
        assert_eq!(strips.matches("<path ").count(), paths, "{device}");
        for (pu, states) in spent.iter().enumerate() {
            let label = format!("aria-label=\"PU {pu}: ");
            let (_, said) =
                strips.split_once(&label).unwrap_or_else(|| panic!("{device}: {label}"));
            let said = said.split('"').next().unwrap().replace("&lt;", "<").replace("&gt;", ">");
            let cycles: Vec<f64> = said
                .trim_end_matches(" cycles")
                .split(", ")
                .map(|state| {
                    let number = state.rsplit(' ').next().unwrap();
                    number.replace(',', "").parse().unwrap()
                })
                .collect();
            let all: f64 = cycles.iter().sum();
            let shares: Vec<f64> = cycles.iter().map(|cycles| 100.0 * cycles / all).collect();
            for (share, state) in shares.iter().zip(states.as_array().unwrap()) {
                let counted = 100.0 * state[0].as_f64().unwrap() / whole;
                // The set core adds up its sums when all units are done, which no counter has.
                assert!((share - counted).abs() < 3.0, "{device}: PU {pu}: {said}, not {counted}");
            }
            assert!(shares[0] > 0.0, "{device}: PU {pu} did nothing: {said}");
        }
    }
}

/// Emulated devices beside each other: the strips of each are its own.
#[test]
fn a_page_of_several_emulated_devices_shows_the_pus_of_each_over_time() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let xclbin = folder.path().join("small.xclbin");
    let xclbin = xclbin.to_str().unwrap();
    let made = gramer(&["xclbin", "build", "--machine", "small", "-o", xclbin]).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    for (devices, titles) in [
        ("@0,1", &["PUs of compute unit 1 over time: ", "PUs of compute unit 2 over time: "][..]),
        ("@1", &["PUs over time: "]),
    ] {
        let page = folder.path().join(format!("page{devices}.html"));
        let device = format!("{xclbin}{devices}");
        let words =
            ["mine", "motif", "-k", "4", &graph, "--device", &device, "--set", "runs=8", "--to"];
        let output = gramer(&[&words[..], &[page.to_str().unwrap()]].concat()).output().unwrap();
        assert!(output.status.success(), "{devices}: {}", text(&output.stderr));
        let page = std::fs::read_to_string(&page).unwrap();
        let figures: Vec<&str> = page.split("<figure class=\"timeline\">").skip(1).collect();
        assert_eq!(figures.len(), titles.len(), "{devices}");
        for (figure, title) in figures.iter().zip(titles) {
            assert!(figure.contains(title), "{devices}: {figure:.300}");
            // The eight runs were dealt out, and each device did something.
            assert!(!figure.contains("aria-label=\"PU 0: busy 0 %"), "{devices}: {figure:.3000}");
        }
    }
}

/// A program that uses the library, and is not `gramer`.
#[test]
fn another_program_starts_a_helper_and_not_itself() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let gramer = Path::new(env!("CARGO_BIN_EXE_gramer"));
    let program = gramer.with_file_name("examples").join("embedded");
    let missing = "cargo build -p gramer --example embedded builds it";
    assert!(program.is_file(), "{} is not there: {missing}", program.display());
    // Elsewhere, so that nothing lies beside it; and a helper that says that it was started.
    let own = folder.path().join("own/deep");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::copy(&program, own.join("embedded")).unwrap();
    let (started, helper) = (folder.path().join("started"), folder.path().join("helper"));
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> '{}'\nexec '{}' \"$@\"\n",
        started.display(),
        gramer.display()
    );
    std::fs::write(&helper, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&helper, executable).unwrap();
    let run = |name: Option<&Path>| {
        let mut command = Command::new(own.join("embedded"));
        command.args([&device, &graph, "3"]).env_remove("GRAMER").env("PATH", "/usr/bin:/bin");
        // The helper is a script, with no emulator beside it.
        let emulator = gramer::accelerator::xclbin::build::find_emulator().unwrap();
        name.map(|name| command.env("GRAMER", name).env("GRAMER_EMULATOR", emulator));
        command.output().unwrap()
    };
    let output = run(Some(&helper));
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.contains("triangle ") && said.contains("wedge "), "{said}");
    assert!(!said.contains("\n0 cycles") && said.contains(" cycles by "), "{said}");
    // Once, as a worker: no copy of the program with its words.
    let started = std::fs::read_to_string(&started).unwrap();
    assert_eq!(started.lines().count(), 1, "{started}");
    assert_eq!(started.trim_end(), format!("worker {device}"));
    let wrong = run(Some(&folder.path().join("none")));
    assert!(!wrong.status.success());
    assert!(text(&wrong.stderr).contains("there is no such file"), "{}", text(&wrong.stderr));
}

/// Emulated devices of a program share a task, and a run goes on where it was stopped.
#[test]
fn emulated_devices_of_a_program_share_a_task() {
    use gramer::accelerator::{emulated::EmulatedDevice, settings::Settings};
    use gramer::cpu::Cpu;
    use gramer::engine::{Engine, EngineExt, Outcome, Units, work::Share};
    use gramer::graph::read::{ReadOptions, read_graph};
    use gramer::task::{Induced, Measure, SizeLimit};
    use gramer::{Context, Task};

    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let labelled = folder.path().join("labelled.lg");
    let mut lines = String::from("t # 1\n");
    (0..40).for_each(|v| lines += &format!("v {v} {}\n", v % 3));
    let pairs = (0..40).flat_map(|u| (u + 1..40).map(move |v| (u, v)));
    let edges = pairs.filter(|(u, v)| (u * 7 + v * 11) % 5 == 0);
    edges.for_each(|(u, v)| lines += &format!("e {u} {v} 0\n"));
    std::fs::write(&labelled, lines).unwrap();
    let context = Context::default();
    let graph = read_graph(&labelled, &ReadOptions::default(), &context).unwrap();
    let graph = gramer::graph::prepare::renumber(&graph, &context).unwrap();
    let open = || {
        let helper = PathBuf::from(env!("CARGO_BIN_EXE_gramer"));
        let name = "emulator:small:functional";
        EmulatedDevice::with_helper(name, Settings::default(), helper).unwrap()
    };
    let limit = SizeLimit::MaxVertices(3);
    for task in [
        Task::Clique { k: 3 },
        Task::Motif { k: 4, induced: Induced::Vertex },
        Task::Fsm { limit, support: 20, measure: Measure::Embeddings },
    ] {
        let expected = Cpu.run(&graph, &task, None, &context).unwrap().results;
        // To start two devices takes a second or more each: once is enough.
        if matches!(task, Task::Clique { .. }) {
            let two = gramer_crew::Crew::new(vec![Box::new(open()), Box::new(open())]);
            let found = two.run(&graph, &task, None, &context).unwrap();
            assert_eq!(found.results, expected, "{task:?}");
            assert!(found.complete && !expected.is_empty());
            assert_eq!(found.devices.len(), 2);
        }
        // Shares by hand: both together are all.
        let device = open();
        let prepared = device.prepare(&graph, &context).unwrap();
        let shares = Share::split(graph.view(), 2);
        assert_eq!(shares.len(), 2);
        let of = |share| prepared.run(&task, Units::Share(share), None, &context).unwrap();
        let parts: Vec<Outcome> = shares.iter().map(of).collect();
        // Each would be all of it, and both together twice as much, if shares were overlooked.
        assert!(parts.iter().zip(&shares).all(|(part, share)| part.share.as_ref() == Some(share)));
        assert_eq!(Outcome::merge(&task, &graph, parts).unwrap().results, expected, "{task:?}");
    }
}

#[test]
fn what_the_set_core_cannot_do_names_the_device_that_can() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let list = folder.path().join("list");
    // An xclbin says as much as the emulation.
    let file = folder.path().join("set.xclbin").to_str().unwrap().to_string();
    let built = gramer(&["xclbin", "build", "--machine", "set-small", "-o", &file]);
    let built = { built }.output().unwrap();
    assert!(built.status.success(), "{}", text(&built.stderr));
    for (device, words, part) in [
        (file.as_str(), &["motif", "-k", "6"][..], "takes motifs of 3 to 5, not 6"),
        ("emulator:set", &["motif", "-k", "5"], "takes motifs of 3 to 4, not 5"),
        (
            "emulator:set-small",
            &["match", "--pattern", "9-path"],
            "matches patterns of 3 to 8 vertices",
        ),
        ("emulator:set", &["match", "--pattern", "diamond"], "has no method for this task"),
        (
            "emulator:set",
            &["clique", "-k", "3", "--list", list.to_str().unwrap()],
            "does not answer it with a list of embeddings",
        ),
        (
            "emulator:set-small",
            &["motif", "-k", "3", "--list", list.to_str().unwrap()],
            "does not answer it with a list of embeddings",
        ),
        (
            "emulator:set-small",
            &["clique", "-k", "9", "--list", list.to_str().unwrap()],
            "takes listed cliques of 3 to 8, not 9",
        ),
    ] {
        let output = gramer(&[&["mine"], words, &[&graph, "--device", device]].concat());
        let output = { output }.output().unwrap();
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {err}");
        assert!(err.contains(part), "{words:?}: {err}");
        assert!(err.contains("choose --device cpu"), "{words:?}: {err}");
    }
    let words =
        ["mine", "clique", "-k", "3", &graph, "--set", "lru=on", "--device", "emulator:set-small"];
    let output = gramer(&words).output().unwrap();
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.contains("--set lru") && err.contains("machine set_small has a set core"), "{err}");
}

#[test]
fn the_set_core_passes_the_selftest() {
    let Some(_) = device() else { return };
    let words = ["selftest", "--device", "emulator:set-small", "--mib", "1"];
    let output = gramer(&words).output().unwrap();
    let out = text(&output.stdout);
    assert!(output.status.success(), "{out}\n{}", text(&output.stderr));
    assert!(out.contains("tests passed"), "{out}");
    assert!(out.lines().filter(|l| l.starts_with("right")).count() >= 20, "{out}");
}

#[test]
fn a_question_that_is_refused_opens_no_device() {
    let Some(device) = device() else { return };
    let output = gramer(&["mine", "motif", "-k", "6", "none.txt", "--device", &device]);
    let output = { output }.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("takes motifs of 3 to 5, not 6"));
    let output = gramer(&["mine", "motif", "-k", "3", "none.txt", "--device", "emulator:no.yaml"]);
    let output = { output }.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("no.yaml: cannot read"), "{}", text(&output.stderr));
}

#[test]
fn a_killed_emulator_or_worker_ends_the_run_with_a_reason() {
    let Some(device) = device() else { return };
    let graphs_folder = tempfile::tempdir().unwrap();
    let (_, graph) = graphs(graphs_folder.path());
    let (child, folder, mark) = start(&device, &graph);
    let emulator = std::fs::read_to_string(folder.join("emulator.pid")).unwrap();
    kill(Signal::KILL, emulator.trim());
    let output = end(child, &folder, mark, Duration::from_secs(20));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the emulator ended before it") || said.contains("failed"), "{said}");

    let (child, folder, mark) = start(&device, &graph);
    let own = std::fs::read_dir("/proc").unwrap().flatten().find(|p| {
        std::fs::read_link(p.path().join("exe")).is_ok_and(|exe| exe == folder.join("gramer"))
    });
    kill(Signal::SEGV, own.unwrap().file_name().to_str().unwrap());
    let output = end(child, &folder, mark, Duration::from_secs(20));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    // The runtime catches the signal, or doesn't yet.
    let reasons = ["ended by signal 11", "ended by a crash"];
    assert!(reasons.iter().any(|r| said.contains(r)), "{said}");
}

#[test]
fn ctrl_c_is_passed_on() {
    let Some(device) = device() else { return };
    let graphs_folder = tempfile::tempdir().unwrap();
    let (_, graph) = graphs(graphs_folder.path());
    let (mut child, folder, mark) = start(&device, &graph);
    // The words of the run are those of one process; the other two are the worker and the emulator.
    let processes = left(mark);
    let with = |word: &str| processes.iter().filter(|line| line.contains(word)).count();
    let all = (processes.len(), with(" mine "), with("gramer worker emulator:small"));
    assert_eq!(all, (3, 1, 1), "{processes:?}");
    kill(Signal::INT, &child.child().id().to_string());
    let output = end(child, &folder, mark, Duration::from_secs(20));
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["complete"], &found["stopped"]), (&false.into(), &"interrupt".into()));
}

/// A process that is stopped (`SIGSTOP`) never answers: one Ctrl-C is enough.
#[test]
fn ctrl_c_ends_a_frozen_emulator() {
    let Some(device) = device() else { return };
    let graphs_folder = tempfile::tempdir().unwrap();
    let (_, graph) = graphs(graphs_folder.path());
    let (mut child, folder, mark) = start(&device, &graph);
    let emulator = std::fs::read_to_string(folder.join("emulator.pid")).unwrap();
    kill(Signal::STOP, emulator.trim());
    kill(Signal::INT, &child.child().id().to_string());
    let output = end(child, &folder, mark, Duration::from_secs(5));
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_leaves_nothing() {
    let Some(device) = device() else { return };
    let graphs_folder = tempfile::tempdir().unwrap();
    let (_, graph) = graphs(graphs_folder.path());
    let (mut child, folder, mark) = start(&device, &graph);
    let id = child.child().id();
    kill(Signal::INT, &id.to_string());
    signals::until_taken(id, Signal::INT.as_raw());
    std::thread::sleep(Duration::from_millis(50));
    kill(Signal::TERM, &id.to_string());
    let output = end(child, &folder, mark, Duration::from_secs(5));
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
}

/// A program that is killed can't clean up: worker and emulator end by themselves, and the next
/// one removes its folder once it is old enough not to be one in the making.
#[test]
fn a_killed_program_leaves_no_process_and_its_folder_until_the_next() {
    let Some(device) = device() else { return };
    let graphs_folder = tempfile::tempdir().unwrap();
    let (small, graph) = graphs(graphs_folder.path());
    let (mut child, folder, mark) = start(&device, &graph);
    let words = ["mine", "clique", "-k", "3", &small, "--device", &device];
    let other = |words: &[&str]| {
        let output = gramer(words).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    let lock = folder.join("gramer-emulation");
    // Folders of somebody else's that are called alike, with a file of a name that might be looked
    // for, old and not locked.
    let decoys = ["gramer-notes-", "gramer-emulation-notes-"].map(|prefix| {
        let decoy = tempfile::Builder::new().prefix(prefix).tempdir_in("/tmp").unwrap();
        for name in ["lock", "gramer-emulation", "data"] {
            let file = std::fs::File::create(decoy.path().join(name)).unwrap();
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(7200)).unwrap();
        }
        decoy
    });
    let age = |seconds| {
        let at = std::time::SystemTime::now() - Duration::from_secs(seconds);
        std::fs::File::options().write(true).open(&lock).unwrap().set_modified(at).unwrap();
    };
    // While it lives, its folder stays, however old.
    age(3600);
    other(&words);
    assert!(folder.join("emulator.pid").exists());
    // Young before its program is gone: otherwise a launcher of another test may remove it at once.
    age(0);
    child.child().kill().unwrap();
    child.child().wait().unwrap();
    let begun = Instant::now();
    while !left(mark).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", left(mark));
        std::thread::sleep(Duration::from_millis(20));
    }
    other(&words);
    assert!(folder.exists());
    age(3600);
    other(&words);
    assert!(!folder.exists());
    assert!(decoys.iter().all(|decoy| decoy.path().join("data").exists()));
}

/// From the moment on in which the program handles signals: while the runtime unpacks the xclbin it ignores Ctrl-C, and
/// later the core has to be told.
#[test]
fn a_stop_is_heard_in_every_phase() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_, graph) = graphs(folder.path());
    let list = folder.path().join("list.tsv");
    let ways = [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)];
    for (number, milliseconds) in [0, 60, 120, 200, 300, 400, 500, 650, 1000].iter().enumerate() {
        let (signal, code) = ways[if number < 7 { 0 } else { number - 6 }];
        let mark = mark();
        let words = ["mine", "motif", "-k", "5", &graph, "--device", &device];
        let mut command = gramer(&words);
        if number % 2 == 1 {
            // One that was stopped late has begun its list.
            command.arg("--list").arg(&list).arg("--force");
        }
        let child = command.env("GRAMER_LAUNCH_TEST", mark.to_string()).spawn().unwrap();
        signals::until_handled(child.id(), signal.as_raw());
        std::thread::sleep(Duration::from_millis(*milliseconds));
        let stopped = Instant::now();
        kill(signal, &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        let (took, said) = (stopped.elapsed(), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "after {milliseconds} ms: {said}");
        assert!(said.contains("gramer: interrupted"), "after {milliseconds} ms: {said}");
        eprintln!("after {milliseconds} ms: {took:?}");
        // The bound is a second; a busy machine gets some more.
        assert!(took < Duration::from_secs(4), "after {milliseconds} ms: {took:?}");
        // The runtime starts short-lived shells, which may end after the runtime itself.
        while !left(mark).is_empty() {
            let waited = stopped.elapsed();
            assert!(waited < Duration::from_secs(9), "after {milliseconds} ms: {:?}", left(mark));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The name of a machine works in any folder, whatever lies there; without the sources of the core a
/// model that was built is used; and a missing temporary folder does no harm.
#[test]
fn a_machine_by_its_name_needs_nothing_of_the_folder_nor_of_the_repository() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    for decoy in ["accelerator.yaml", "small", "machines/small.yaml"] {
        let decoy = folder.path().join(decoy);
        std::fs::create_dir_all(decoy.parent().unwrap()).unwrap();
        std::fs::write(decoy, "no machine\n").unwrap();
    }
    let words = ["mine", "clique", "-k", "3", &graph, "--device", &device, "--json"];
    let mine = |variables: &[(&str, &str)]| {
        let output = gramer(&words)
            .current_dir(folder.path())
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        // Nothing has to be built, and nothing says so.
        assert_eq!(text(&output.stderr), "");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        (found["total"].clone(), metric(&found, "run.cycles").clone())
    };
    // It is built if need be.
    let built = gramer(&words).output().unwrap();
    assert!(built.status.success(), "{}", text(&built.stderr));
    let expected = mine(&[]);
    assert_eq!(mine(&[("GRAMER_SOURCES", "/nowhere"), ("TMPDIR", "/nowhere")]), expected);
    // As little as the runtime needs, and no Verilator.
    let programs = folder.path().join("programs");
    std::fs::create_dir(&programs).unwrap();
    for program in ["sh", "unzip", "dirname", "mkdir", "rm", "cat", "chmod"] {
        let found = ["/usr/bin", "/bin"].map(|f| Path::new(f).join(program));
        let found = found.into_iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(found, programs.join(program)).unwrap();
    }
    assert_eq!(mine(&[("PATH", programs.to_str().unwrap())]), expected);
}

/// An xclbin of an emulated machine brings its simulator: it needs no variables, and one that
/// doesn't come up ends in a message.
#[test]
fn an_emulated_xclbin_is_set_up_and_watched() {
    let Some(_) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let words = ["mine", "motif", "-k", "3", &graph, "--json"];
    let cpu: Value = serde_json::from_slice(&gramer(&words).output().unwrap().stdout).unwrap();
    let path = folder.path().join("small.xclbin");
    let build = ["xclbin", "build", "--functional", "--machine", "small", "-o"];
    let output = gramer(&build).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mine = |path: &Path, within: &str| {
        let begun = Instant::now();
        let output = gramer(&words)
            .arg("--device")
            .arg(path)
            .env("GRAMER_EMULATION_STARTS_WITHIN", within)
            .output()
            .unwrap();
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        output
    };
    let output = mine(&path, "20");
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("note: ") && said.contains("small.xclbin contains a program"), "{said}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["results"], cpu["results"]);

    let good = gramer::accelerator::xclbin::Xclbin::read(&path).unwrap();
    let cases = [
        ("exit 1", "20", "the simulator ended before the device was open"),
        // It never comes up: a few seconds say as much as many.
        ("sleep 1000", "4", "the emulated device did not come up within 4 s"),
    ];
    for (script, within, expected) in cases {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
        let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
        zip.start_file("behav_waveform/xsim/launch_hw_emu.sh", options).unwrap();
        std::io::Write::write_all(&mut zip, format!("#!/bin/sh\n{script}\n").as_bytes()).unwrap();
        let mut x = good.clone();
        let bitstream =
            x.sections.iter_mut().find(|s| s.kind == gramer::accelerator::xclbin::kind::BITSTREAM);
        bitstream.unwrap().data = zip.finish().unwrap().into_inner();
        let path = folder.path().join("bad.xclbin");
        std::fs::write(&path, x.to_bytes()).unwrap();
        let output = mine(&path, within);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{script}: {said}");
        assert!(said.contains("gramer: ") && said.contains(expected), "{script}: {said}");
    }
}

/// A few embeddings need no run to the end.
#[test]
fn a_limit_shortens_the_run() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let list = folder.path().join("list.tsv");
    let cycles = |more: &[&str], listed: Option<u64>| {
        let output = gramer(&["mine", "motif", "-k", "4", &graph, "--json", "--device", &device])
            .arg("--list")
            .arg(&list)
            .arg("--force")
            .args(more)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let lines = std::fs::read_to_string(&list).unwrap();
        let different: std::collections::HashSet<&str> = lines.lines().collect();
        assert_eq!(Some(different.len() as u64), found["listed"].as_u64());
        assert!(listed.is_none_or(|n| n == different.len() as u64), "{}", different.len());
        metric(&found, "run.cycles").as_u64().unwrap()
    };
    let whole = cycles(&[], None);
    for limit in ["1", "10", "300"] {
        let few = cycles(&["--limit", limit], Some(limit.parse().unwrap()));
        assert!(10 * few < whole, "{few} cycles for {limit} of {whole}");
    }
}

/// Where the library that shortens the runtime's naps is missing, all is slower and right.
#[test]
fn the_library_for_naps_can_be_missing() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (graph, _) = graphs(folder.path());
    let emulator = folder.path().join("gramer-emulator");
    std::fs::copy(gramer::accelerator::xclbin::build::find_emulator().unwrap(), &emulator).unwrap();
    let words = ["mine", "clique", "-k", "3", &graph, "--device", &device];
    // A program elsewhere has no sources near it.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = gramer(&words)
        .env("GRAMER_EMULATOR", &emulator)
        .env("GRAMER_SOURCES", root)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// The functional model answers what the simulated core answers, in no simulated time.
#[test]
fn the_functional_model_passes_the_selftest() {
    let Some(device) = device() else { return };
    let device = format!("{device}:functional");
    let output = gramer(&["selftest", "--mib", "1", "--device", &device]).output().unwrap();
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success() && said.contains("tests passed"), "{said}");
}

#[test]
fn a_waveform_is_written_of_the_clocks_that_are_asked_for() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    // Clocks with a waveform are slow: a triangle is mined in some hundred.
    let graph = folder.path().join("triangle.txt").to_str().unwrap().to_string();
    std::fs::write(&graph, "0 1\n1 2\n2 0\n").unwrap();
    let trace = folder.path().join("trace.fst");
    let output = gramer(&["mine", "clique", "-k", "3", &graph, "--device", &device])
        .env("GRAMER_TRACE", &trace)
        .env("GRAMER_TRACE_CYCLES", "100-300")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    // The header of an FST: block type 0, its length of 329, first and last time.
    let bytes = std::fs::read(&trace).unwrap();
    assert_eq!(bytes[..9], [0, 0, 0, 0, 0, 0, 0, 1, 0x49]);
    let time = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
    assert!(time(9) >= 100 && time(17) > time(9), "{} to {}", time(9), time(17));
}

/// The runtime's sockets are in /tmp, which is read-only in a mount namespace of this test's.
#[test]
fn a_folder_for_sockets_that_cannot_be_written_is_named() {
    let Some(device) = device() else { return };
    let script = "mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp && exec \"$@\"";
    let command = gramer(&["mine", "clique", "-k", "3", "none.txt", "--device", &device]);
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .output()
        .unwrap();
    let said = text(&output.stderr);
    if said.contains("unshare failed") || said.contains("mount:") {
        return environment::skip_here(&format!("no mount namespace can be had here: {said}"));
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("/tmp: cannot make a folder in"), "{said}");
}

#[test]
fn what_is_missing_is_named() {
    if device().is_none() {
        return;
    }
    let words = ["mine", "clique", "-k", "3", "none.txt", "--device", "emulator"];
    let output = gramer(&words).env("PATH", "").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.contains("needs the program unzip: apt-get install unzip"), "{said}");
    let output = gramer(&words).env("GRAMER_EMULATOR", "/nowhere").output().unwrap();
    assert!(text(&output.stderr).contains("there is no such file"));
    assert_eq!(output.status.code(), Some(1));
    let output = gramer(&words).env("XILINX_XRT", "/nowhere").output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("XILINX_XRT is /nowhere, but there is no Xilinx Runtime"), "{said}");

    // A loader that cannot be loaded does not count.
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("libOpenCL.so.1"), "no library").unwrap();
    let command = |words: &[&str]| {
        let output = gramer(words).env("LD_LIBRARY_PATH", folder.path()).output().unwrap();
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let (code, said) = command(&["devices"]);
    assert_eq!(code, Some(0));
    assert!(said.contains("no OpenCL loader") && said.contains("ocl-icd-libopencl1"), "{said}");
    let device = device().unwrap();
    let (code, said) = command(&["mine", "clique", "-k", "3", "none.txt", "--device", &device]);
    assert_eq!(code, Some(1));
    assert!(said.contains("no OpenCL loader") && said.contains("ocl-icd-libopencl1"), "{said}");
}

#[test]
fn memory_that_runs_out_and_time_that_runs_out_are_named() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (small, large) = graphs(folder.path());
    let machine = folder.path().join("tight.yaml");
    let base = root().join("machines/small.yaml");
    let tight = format!("base: {}\nmemory: {{bank_bytes: 1048576}}\n", base.display());
    std::fs::write(&machine, tight).unwrap();
    let list = folder.path().join("list.tsv");
    let output =
        gramer(&["mine", "clique", "-k", "3", &small, "--set", "result_beats=20000", "--list"])
            .arg(&list)
            .arg("--device")
            .arg(format!("emulator:{}", machine.display()))
            .output()
            .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("a buffer of 1.2 MiB does not fit memory bank 0"), "{said}");

    // On a busy machine a second may be over before the device is open, and there is no answer then.
    let shown = ["1", "4", "16"].into_iter().find_map(|limit| {
        let begun = Instant::now();
        let words =
            ["mine", "motif", "-k", "5", &large, "--device", &device, "--time-limit", limit];
        let output = gramer(&words).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(124), "{said}");
        assert!(
            said.contains("the time limit was reached before the answer was complete"),
            "{said}"
        );
        assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
        Some(text(&output.stdout)).filter(|shown| !shown.is_empty())
    });
    let shown = shown.unwrap_or_default();
    assert!(shown.contains("INCOMPLETE, stopped at the time limit"), "{shown}");
}

/// A copy of the core's sources with faults: `+mutant=N` chooses the one that acts, and 0 none. One model of
/// all takes as long to build as one of each.
fn copy_with_faults(faults: &[(&str, &str, &str)], folder: &Path) {
    environment::copy_rtl(folder);
    let asks =
        "  int mutant;\n  initial if (!$value$plusargs(\"mutant=%d\", mutant)) mutant = 0;\n";
    for (number, (file, from, to)) in faults.iter().enumerate() {
        let path = folder.join(file);
        let source = std::fs::read_to_string(&path).unwrap();
        assert!(source.contains(from), "{file} has no `{from}`");
        let faulty = source.replacen(from, &to.replace("FAULT", &(number + 1).to_string()), 1);
        assert_eq!(faulty.matches("\n);\n").count(), 1, "{file}: more than the ports end so");
        std::fs::write(&path, faulty.replacen("\n);\n", &format!("\n);\n{asks}"), 1)).unwrap();
    }
}

/// The emulated device computes what the sources of the core say: with a fault in them, answers
/// are wrong or there is an error, and with an equal copy all is right.
#[test]
fn faults_in_the_core_are_seen_through_the_runtime() {
    let Some(device) = device() else { return };
    let folder = tempfile::tempdir().unwrap();
    let selftest = |rtl: &Path, fault: usize| {
        let words = ["selftest", "--mib", "1", "--set", "time_limit=60", "--device", &device];
        let mut command = gramer(&words);
        command.env("GRAMER_RTL", rtl).env("GRAMER_MUTANT", fault.to_string());
        let output = command.output().unwrap();
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let fails = "  always_ff @(posedge clk)\n    \
                 if (mutant == FAULT && s_axis_in_tvalid && s_axis_in_tready && s_axis_in_tlast)\n      \
                 assert (1'b0) else $error(\"the test's\");\nendmodule\n";
    let faults = [
        ("paper/gramer_core.sv", "endmodule\n", fails),
        (
            "paper/gramer_process_stage.sv",
            "sum : sum + 1'b1",
            "sum : mutant == FAULT ? sum + COUNT_W'(2) : sum + 1'b1",
        ),
        (
            "paper/gramer_filter.sv",
            "with_edges(found_i.key, found_i.size, found_i.mask);",
            "with_edges(found_i.key, found_i.size, mutant == FAULT ? '0 : found_i.mask);",
        ),
        // No reader sees what the memories ask for: the device's watchdog ends the run.
        (
            "paper/gramer_memory_system.sv",
            ".read_valid_i (bank_read_valid),",
            ".read_valid_i (mutant == FAULT ? '0 : bank_read_valid),",
        ),
    ];
    let (equal, faulty) = (folder.path().join("equal"), folder.path().join("faulty"));
    copy_with_faults(&[], &equal);
    copy_with_faults(&faults, &faulty);
    // Without a fault all is right, so that it is no refused source that fails below.
    for rtl in [&equal, &faulty] {
        let (code, said) = selftest(rtl, 0);
        assert!(code == Some(0) && said.contains("tests passed"), "{said}");
    }
    for (number, (file, _, to)) in faults.iter().enumerate() {
        let (code, said) = selftest(&faulty, number + 1);
        assert_eq!(code, Some(1), "{file}: {said}");
        // An assertion's message and cycle reach the user.
        if *to == fails {
            assert!(said.contains("failed in cycle") && said.contains("the test's"), "{said}");
        }
        if to.contains("read_valid") {
            assert!(said.contains("no progress from cycle"), "{said}");
        }
    }
}
