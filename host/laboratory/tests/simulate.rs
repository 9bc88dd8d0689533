//! The command `gramer-lab simulate`, as a user starts it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gramer_testing::environment;
use serde_json::Value;

/// A graph of two triangles that share an edge, with a tail, and non-trivial ids and labels.
const GRAPH: &str = "t # 1\nv 10 7\nv 11 7\nv 12 9\nv 13 9\nv 14 7\n\
                     e 10 11 0\ne 10 12 0\ne 11 12 0\ne 11 13 0\ne 12 13 0\ne 13 14 0\n";

/// What the PUs did over time adds up to what they counted.
fn adds_up(pass: &Value) {
    let timeline = &pass["timeline"];
    let numbers = |value: &Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect()
    };
    let windows = numbers(&timeline["windows"]);
    let (run, all) = (pass["cycles"].as_u64().unwrap(), windows.iter().sum::<u64>());
    assert!(all <= run + 2 && all + 64 > run, "{all} cycles of windows in a run of {run}");
    let states = timeline["states"].as_array().unwrap();
    let counters = ["port_busy", "idle_memory", "idle_inside", "idle_no_work"];
    assert_eq!(states.len(), counters.len());
    let spent = timeline["spent"].as_array().unwrap();
    for (state, counter) in counters.iter().enumerate() {
        let counted = pass["counters"][format!("pu.{counter}")].as_array().unwrap();
        assert_eq!(spent.len(), counted.len());
        for (pu, counted) in counted.iter().enumerate() {
            let own = numbers(&spent[pu][state]);
            assert_eq!(own.len(), windows.len());
            assert!(own.iter().zip(&windows).all(|(own, window)| own <= window), "{own:?}");
            let (own, counted) = (own.iter().sum::<u64>(), counted[0].as_u64().unwrap());
            // The counters are sent one after the other, and what has no work goes on counting meanwhile.
            let after = if *counter == "idle_no_work" { own.saturating_sub(counted) } else { 0 };
            assert!(own == counted + after && after < 600, "PU {pu}: {counter}: {own}, {counted}");
        }
    }
}

struct Case {
    folder: tempfile::TempDir,
    graph: PathBuf,
}

impl Case {
    /// `None` where Verilator is missing.
    fn new() -> Option<Self> {
        if gramer_sim::model::verilator().is_none() {
            let missing = "there is no verilator on the PATH (scripts/setup-rtl.sh installs it)";
            environment::skip(environment::RTL, missing);
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let graph = folder.path().join("graph.lg");
        std::fs::write(&graph, GRAPH).unwrap();
        Some(Case { folder, graph })
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer-lab"));
        command.arg("simulate");
        command.current_dir(environment::root()).args(["--machine", "machines/small.yaml"]);
        for &word in words {
            match word {
                "GRAPH" => command.arg(&self.graph),
                "OUT" => command.arg(self.out()),
                word => command.arg(word),
            };
        }
        command.output().unwrap()
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn json(&self, words: &[&str]) -> Value {
        let output = self.run(&[words, &["--json"]].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
        // Progress is for terminals alone.
        assert!(!text.contains("cycles"), "{text}");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

fn results(document: &Value) -> Vec<(String, u64)> {
    let results = document["results"].as_array().unwrap().iter();
    results
        .map(|r| (r["name"].as_str().unwrap().to_string(), r["count"].as_u64().unwrap()))
        .collect()
}

/// The lines of a listing, in order; the ids of each ascending.
fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| {
            let mut words: Vec<&str> = line.split('\t').collect();
            words[1..].sort_unstable();
            words.join(" ")
        })
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn counts_in_json_and_lists() {
    let Some(case) = Case::new() else { return };
    let found = case.json(&["clique", "-k", "3", "GRAPH", "--list", "OUT"]);
    assert_eq!(results(&found), [("3-clique".to_string(), 2)]);
    assert_eq!(found["passes"][0]["status"], "done");
    assert_eq!((&found["task"], &found["k"]), (&"clique".into(), &3.into()));
    assert!(found["cycles"].as_u64().unwrap() > 100);
    assert_eq!(found["counters"]["core.work_units"][0][0], 5);
    assert_eq!(lines(&case.out()), ["3-clique 10 11 12", "3-clique 11 12 13"]);

    // A link is replaced, and its target stays.
    std::fs::rename(case.out(), case.folder.path().join("kept")).unwrap();
    std::os::unix::fs::symlink("kept", case.out()).unwrap();
    let found =
        case.json(&["motif", "-k", "3", "GRAPH", "--ascending", "--list", "OUT", "--force"]);
    assert_eq!(results(&found), [("wedge".to_string(), 4), ("triangle".to_string(), 2)]);
    let listed = lines(&case.out());
    assert_eq!(listed.len(), 6);
    assert!(listed.contains(&"wedge 10 11 13".to_string()), "{listed:?}");
    assert_eq!(lines(&case.folder.path().join("kept")).len(), 2);
}

#[test]
fn a_timeline_adds_up_and_changes_nothing() {
    let Some(case) = Case::new() else { return };
    let task = ["fsm", "-k", "3", "GRAPH", "--support", "1"];
    let plain = case.json(&task);
    let timed = case.json(&[&task[..], &["--timeline"]].concat());
    assert_eq!(plain["cycles"], timed["cycles"]);
    let passes = timed["passes"].as_array().unwrap();
    assert!(passes.len() == 2 && passes.iter().all(|pass| pass["cycles"].as_u64() > Some(256)));
    passes.iter().for_each(adds_up);
    assert!(plain["passes"][0].get("timeline").is_none(), "it was not asked for");
    assert_eq!(case.run(&[&task[..], &["--timeline"]].concat()).status.code(), Some(2));
}

#[test]
fn frequent_patterns_by_the_rule_of_the_host() {
    let Some(case) = Case::new() else { return };
    // Edges: 7-7 once, 7-9 four times, 9-9 once.
    let found = case.json(&["fsm", "-k", "3", "GRAPH", "--support", "2"]);
    let counts = results(&found);
    assert_eq!(counts[0].1, 4, "{counts:?}");
    // Of 3 vertices only wedges whose edges are all 7-9 can follow: 9 between two of 7 (11-13-14),
    // and no other is induced.
    assert_eq!(counts.len(), 1, "{counts:?}");
    let found = case.json(&["fsm", "-k", "3", "GRAPH", "--support", "1", "--list", "OUT"]);
    let total: u64 = results(&found).iter().map(|(_, count)| count).sum();
    assert_eq!(lines(&case.out()).len() as u64, total);
    assert_eq!(total, 6 + 4 + 2, "{:?}", results(&found));
    assert_eq!(found["passes"].as_array().unwrap().len(), 4, "two that count, two that list");
}

#[test]
fn tables_for_people() {
    let Some(case) = Case::new() else { return };
    let output = case.run(&["motif", "-k", "4", "GRAPH", "--assertions"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    for part in ["status", "done", "cycles", "pu.port_busy %", "4-path", "high hits"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn wrong_use_is_2_and_failure_is_1() {
    let Some(case) = Case::new() else { return };
    let wrong: [(&[&str], &str); 20] = [
        (&["match", "GRAPH"], "--pattern"),
        (&["match", "--pattern", "house", "GRAPH"], "no set core with search plans"),
        (&["clique", "-k", "3", "GRAPH", "--part", "2"], "--part is an option of the set core"),
        (&["clique", "-k", "3", "GRAPH", "--part", "0"], "--part must be at least 1"),
        (&["clique", "-k", "3", "GRAPH", "--dram", "sram"], "must be ddr4, hbm2 or ideal"),
        (&["motif", "-k", "3", "GRAPH", "--pus", "1"], "options of match alone"),
        (&["clique", "-k", "2", "GRAPH"], "-k is 2, but must be 3 to 16"),
        (&["motif", "-k", "6", "GRAPH"], "3 to 5 on machine small"),
        (&["fsm", "-k", "4", "GRAPH", "--support", "1"], "must be 2 to 3"),
        (&["fsm", "-k", "3", "GRAPH"], "--support"),
        (&["clique", "-k", "3", "GRAPH", "--support", "1"], "fsm alone"),
        (&["clique", "-k", "3", "GRAPH", "--slots", "5"], "--slots is 5, but must be 1 to 4"),
        (&["clique", "-k", "3", "GRAPH", "--lambda", "64.5"], "--lambda"),
        (&["clique", "-k", "3", "GRAPH", "--lambda", "0.3"], "steps of 1/8"),
        (&["clique", "-k", "3", "GRAPH", "--tau", "1.5"], "--tau"),
        (&["clique", "-k", "3", "GRAPH", "--capacity", "0"], "--capacity"),
        (&["clique", "-k", "3", "GRAPH", "--cycles-a-beat", "0"], "--cycles-a-beat"),
        (&["clique", "-k", "3", "GRAPH", "--trace", "x", "--trace-cycles", "9-3"], "FIRST-LAST"),
        (&["clique", "-k", "3", "GRAPH", "--trace-cycles", "1-2"], "--trace"),
        (&["clique", "-k", "3"], "GRAPH"),
    ];
    for (words, part) in wrong {
        let output = case.run(words);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {text}");
        assert!(text.contains(part), "{words:?}: {text}");
    }
    let failing: [(&[&str], &str); 3] = [
        (&["clique", "-k", "3", "no/such/graph"], "no/such/graph"),
        (&["clique", "-k", "3", "GRAPH", "--max-cycles", "50"], "no end after 50 cycles"),
        (&["clique", "-k", "3", "GRAPH", "--list", "no/such/folder/file"], "no/such/folder"),
    ];
    for (words, part) in failing {
        let output = case.run(words);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words:?}: {text}");
        assert!(text.starts_with("gramer-lab: ") && text.contains(part), "{words:?}: {text}");
        assert!(output.stdout.is_empty());
    }
}

/// A pattern on the set core: whole, on a part of its clusters, and with every second unit alone.
#[test]
fn patterns_by_search_plans() {
    let Some(case) = Case::new() else { return };
    let run = |pattern: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer-lab"));
        command.arg("simulate");
        command.current_dir(environment::root());
        // With assertions it is the model of the emulator.
        command.args(["match", "--machine", "machines/set-small.yaml", "--assertions", "--json"]);
        command.args(["--pattern", pattern]).arg(&case.graph).args(more).output().unwrap()
    };
    let json = |pattern: &str, more: &[&str]| -> Value {
        let output = run(pattern, more);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let triangles = json("triangle", &[]);
    assert_eq!(results(&triangles), [("triangle".to_string(), 2)]);
    let units = |found: &Value, name: &str| found["programs"][0][name].as_u64().unwrap();
    assert_eq!(units(&triangles, "units"), units(&triangles, "units_run"));
    assert!(triangles["cycles"].as_u64().unwrap() > 0);
    let some = json("triangle", &["--part", "2"]);
    assert_eq!(some["results"][0]["count"], Value::Null);
    assert_eq!(units(&some, "units_run"), units(&some, "units") / 2);
    let fewer = json("triangle", &["--pus", "2", "--clusters", "1"]);
    assert_eq!(fewer["cycles"], triangles["cycles"]);
    // Houses and 5-cycles are counted by the map, without walkers.
    for pattern in ["house", "5-cycle"] {
        let found = json(pattern, &[]);
        assert_eq!(results(&found), [(pattern.to_string(), 0)]);
        assert_eq!(found["programs"].as_array().unwrap().len(), 1);
        assert_eq!(found["programs"][0]["walkers"], Value::Null);
        let some = json(pattern, &["--part", "2"]);
        assert_eq!(some["results"][0]["count"], Value::Null);
        assert_eq!(units(&some, "units_run"), units(&some, "units").div_ceil(2));
    }
    for (pattern, more, part) in [
        ("mansion", &[][..], "mansion"),
        ("triangle", &["--part", "0"], "at least 1"),
        ("triangle", &["--pus", "3"], "--pus must divide the 2 PUs"),
        ("triangle", &["-k", "3"], "-k is not an option of match"),
    ] {
        let output = run(pattern, more);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{pattern} {more:?}: {text}");
        assert!(text.contains(part), "{pattern} {more:?}: {text}");
    }
}

/// Every other segment of a graph that is larger than a cluster: estimated cycles, and no counts.
#[test]
fn a_part_of_the_segments_gives_an_estimate() {
    let Some(case) = Case::new() else { return };
    let large = case.folder.path().join("large.txt");
    let edge = |n: u64| {
        let scattered = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
        format!("{} {}\n", scattered % 4000, scattered / 4000 % 4000)
    };
    std::fs::write(&large, (0..300_000).map(edge).collect::<String>()).unwrap();
    let run = |graph: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer-lab"));
        command.current_dir(environment::root()).args(["simulate", "clique", "-k", "3"]);
        command.args(["--machine", "machines/set-small.yaml", "--load", "--part", "2", "--json"]);
        command.arg(graph).output().unwrap()
    };
    let output = run(&large);
    let text = String::from_utf8_lossy(&output.stderr);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{text}"));
    let number = |name: &str| found[name].as_u64().unwrap();
    assert!(number("segments_in_all") > number("segments") && number("segments") > 0);
    let simulated = found["passes"][0]["cycles"].as_u64().unwrap();
    assert!(number("cycles") > simulated, "{} and {simulated}", number("cycles"));
    assert!(found["results"].as_array().unwrap().is_empty());
    let output = run(&case.graph);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("fits on chip"), "{text}");
}

#[test]
fn a_waveform_holds_its_window() {
    let Some(case) = Case::new() else { return };
    let traced = |window: &str| {
        // With assertions it is the model of the emulator's waveforms, which is built once for both.
        let words = ["clique", "-k", "3", "GRAPH", "--assertions", "--force", "--trace", "OUT"];
        case.json(&[&words[..], &["--trace-cycles", window]].concat());
        std::fs::read(case.out()).unwrap()
    };
    // FST: block type 0, its length, the first and the last time, two ticks a clock.
    let time = |bytes: &[u8], at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap());
    let short = traced("100-120");
    assert_eq!(short[0], 0, "not the header of an FST");
    assert_eq!((time(&short, 9), time(&short, 17)), (200, 241));
    let long = traced("0-300");
    assert!(long.len() > short.len(), "{} and {} bytes", long.len(), short.len());
}

/// Outputs are looked at before a model is built.
#[test]
fn outputs_replace_nothing_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer-lab"));
        command.arg("simulate");
        let output = command.current_dir(folder.path()).args(words).output().unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    // Options with files, of which these are read.
    let (_, help) = run(&["--help"]);
    let files = help.lines().filter(|line| line.contains("<FILE") || line.contains("<YAML"));
    let files: Vec<&str> = files.filter_map(|line| line.trim().split(' ').next()).collect();
    assert_eq!(
        files,
        ["--list", "--image-out", "--in-stream-out", "--machine", "--units", "--trace"],
        "{help}"
    );

    std::fs::copy(environment::root().join("accelerator.yaml"), at("m.yaml")).unwrap();
    std::fs::write(at("graph.lg"), GRAPH).unwrap();
    std::fs::write(at("units"), "0 0 1\n").unwrap();
    std::fs::write(at("out"), "mine").unwrap();
    for (link, target) in [("link", "out"), ("dangling", "nowhere"), ("loop", "loop")] {
        std::os::unix::fs::symlink(target, at(link)).unwrap();
    }
    let set = environment::root().join("machines/set-small.yaml").display().to_string();
    let task = ["clique", "-k", "3", "graph.lg", "--machine", "m.yaml", "--units", "units"];
    // Images and streams are of the set core.
    let of_sets = ["clique", "-k", "3", "graph.lg", "--machine", &set];
    for option in ["--list", "--image-out", "--trace"] {
        for (name, force, expected) in [
            ("out", false, "out: is there already; name another file, or replace it with --force"),
            ("link", false, "link: is a symbolic link to out;"),
            ("dangling", false, "which is not there"),
            ("loop", false, "leads back to itself"),
            (".", true, "is a folder"),
            ("graph.lg", false, "would destroy"),
            ("graph.lg", true, "would destroy"),
            ("units", true, "would destroy"),
            ("m.yaml", true, "would destroy"),
        ] {
            let more = if force { &["--force"][..] } else { &[] };
            let (task, name) = match (option.ends_with("-out"), name) {
                (true, "units" | "m.yaml") => continue,
                (true, name) => (&of_sets[..], name),
                (false, name) => (&task[..], name),
            };
            let (code, text) = run(&[task, &[option, name], more].concat());
            assert_eq!(code, Some(2), "{option} {name}: {text}");
            assert!(text.contains(expected), "{option} {name}: {text}");
        }
    }
    let (code, text) = run(&[&task[..], &["--list", "new", "--trace", "./new"]].concat());
    assert!(code == Some(2) && text.contains("name one file"), "{text}");
    let (code, text) = run(&[&task[..], &["--force"]].concat());
    assert!(code == Some(2) && text.contains("--force needs --list"), "{text}");
    assert_eq!(std::fs::read(at("out")).unwrap(), b"mine");
    assert!(!at("nowhere").exists() && !at("new").exists());
}
