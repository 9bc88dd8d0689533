//! `gramer-lab explore` and `gramer-lab paper`: caching, comparison and refusals with a stand-in for the simulator, and
//! runs on the simulated core where it was built.

#[path = "../../cli/tests/pages/browser.rs"]
mod browser;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gramer_testing::{commands, environment};
use serde_json::Value;

/// In `GRAMER_SIM`: the program simulates by itself.
const OWN: &str = "";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Two triangles that share an edge, and a tail.
    fn graph(&self) -> PathBuf {
        let path = self.path("graph.txt");
        fs::write(&path, "10 20\n20 30\n30 10\n20 400\n30 400\n400 5000\n").unwrap();
        path
    }

    /// A program that answers as the simulator does, with `cliques` of 3 vertices, and notes each
    /// run in a file.
    fn stand_in(&self, answer: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path("stand-in");
        let runs = self.path("runs");
        let text = format!(
            "#!/bin/sh\ncase \"$1\" in\n--identity) echo 1234;;\n--model) echo 12;;\n\
             *) echo \"$@\" >> {}\n{answer};;\nesac\n",
            runs.display()
        );
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.path("runs")).map_or(0, |text| text.lines().count())
    }

    fn explore(&self, simulator: &Path, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gramer-lab"))
            .current_dir(environment::root())
            .env("GRAMER_SIM", simulator)
            .arg("explore")
            .arg(self.graph())
            .args(["--machine", "machines/explore.yaml", "--jobs", "2"])
            .arg("--out")
            .arg(self.path("out"))
            .arg("--force")
            .arg("--cache")
            .arg(self.path("cache"))
            .args(words)
            .output()
            .expect("gramer runs")
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What the simulator prints of a run with this many cliques.
fn answer(cliques: u32) -> String {
    format!(
        "echo '{{\"cycles\": 1000, \"results\": [{{\"name\": \"3-clique\", \"count\": {cliques}}}], \
         \"counters\": {{\"pu.vertex_accesses\": [[8], [2]], \"partition.vertex_high_hits\": [[5]], \
         \"partition.vertex_low_hits\": [[0]]}}}}'"
    )
}

const SLOTS: [&str; 4] = ["--task", "clique:3", "--vary", "slots=1,2,4"];

#[test]
fn points_are_kept_and_not_run_again() {
    let folder = Folder::new();
    let simulator = folder.stand_in(&answer(2));
    let output = folder.explore(&simulator, &SLOTS);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(folder.runs(), 3);
    let csv = fs::read_to_string(folder.path("out/points.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|l| l.split(',').collect()).collect();
    let column = rows[0].iter().position(|&name| name == "vertex_hits").unwrap();
    assert_eq!((rows.len(), rows[1][0], rows[1][1], rows[1][column]), (4, "1", "1000", "0.5"));
    // The same again, and one more.
    let output = folder.explore(&simulator, &["--task", "clique:3", "--vary", "slots=4,1,2"]);
    assert!(output.status.success() && folder.runs() == 3, "{}", said(&output));
    let more = ["--task", "clique:3", "--vary", "slots=1,2", "--vary", "stealing=on,off"];
    let output = folder.explore(&simulator, &more);
    assert!(output.status.success() && folder.runs() == 5, "{}", said(&output));
    for file in ["points.json", "cycles.svg", "speed-up.svg", "vertex_hits.svg", "edge_hits.svg"] {
        assert!(folder.path("out").join(file).is_file(), "{file}");
    }
    let svg = fs::read_to_string(folder.path("out/cycles.svg")).unwrap();
    assert!(svg.contains("slots of a PU") && svg.contains("stealing=off"), "{svg}");
    // A result that was damaged is named, not used.
    let kept = fs::read_dir(folder.path("cache")).unwrap().map(|e| e.unwrap().path());
    let kept = kept.into_iter().find(|p| p.extension().is_some_and(|e| e == "json")).unwrap();
    fs::write(&kept, "{").unwrap();
    let output = folder.explore(&simulator, &more);
    let name = kept.file_name().unwrap().to_string_lossy().into_owned();
    let slots = folder.explore(&simulator, &SLOTS);
    assert!(
        said(&output).contains(&name) || said(&slots).contains(&name),
        "{}{}",
        said(&output),
        said(&slots)
    );
}

#[test]
fn a_wrong_count_is_refused() {
    let folder = Folder::new();
    let output = folder.explore(&folder.stand_in(&answer(3)), &SLOTS);
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(said.contains("the core counted 3 of 3-clique, the CPU engine 2"), "{said}");
    assert!(!folder.path("out/points.csv").exists());
}

#[test]
fn points_that_fail_leave_the_others() {
    let folder = Folder::new();
    let text = format!(
        "case \"$*\" in\n*'slots 2'*) echo 'no end after 5 cycles, the limit' >&2; exit 1;;\n\
         *'slots 4'*) echo 'an assertion' >&2; exit 1;;\n*) {};;\nesac",
        answer(2)
    );
    let output = folder.explore(&folder.stand_in(&text), &SLOTS);
    assert_eq!(output.status.code(), Some(1));
    let said = said(&output);
    assert!(said.contains("slots=2: left out by --max-cycles "), "{said}");
    assert!(said.contains("slots=4: exit status: 1: an assertion"), "{said}");
    let csv = fs::read_to_string(folder.path("out/points.csv")).unwrap();
    assert!(csv.lines().nth(1).unwrap().starts_with("1,1000,"), "{csv}");
    // What failed is tried again, what was too long isn't, unless it may take longer.
    assert_eq!(folder.runs(), 3);
    folder.explore(&folder.path("stand-in"), &SLOTS);
    assert_eq!(folder.runs(), 4);
    let longer = [&SLOTS[..], &["--max-cycles", "999999999999"]].concat();
    folder.explore(&folder.path("stand-in"), &longer);
    assert_eq!(folder.runs(), 6);
}

#[test]
fn what_cannot_be_varied_is_refused_before_anything_runs() {
    let folder = Folder::new();
    let simulator = folder.stand_in(&answer(2));
    for (words, expected) in [
        (["--task", "clique:3", "--vary", "slot=1"], "did you mean slots?"),
        (["--task", "clique:3", "--vary", "lambda=65"], "takes 0 to 64"),
        (["--task", "cliques", "--vary", "slots=1"], "must be clique:K, motif:K or fsm:"),
        (["--task", "motif:9", "--vary", "slots=1"], "must be 3 to 8"),
        (["--task", "clique:3", "--vary", "processing_units=3"], "power of two"),
    ] {
        let output = folder.explore(&simulator, &words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said(&output).contains(expected), "{words:?}: {}", said(&output));
    }
    assert_eq!(folder.runs(), 0);
    let output = folder.explore(&folder.path("nowhere"), &SLOTS);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("GRAMER_SIM"), "{}", said(&output));
}

#[test]
fn what_a_core_lacks_is_refused_before_a_model_is_built() {
    let folder = Folder::new();
    let simulator = folder.stand_in(&answer(2));
    for (words, code, expected) in [
        (
            ["--machine", "set-small", "--task", "clique:3", "--vary", "slots=1"],
            2,
            "slots is of the paper's core, and machine set_small has a set core: vary",
        ),
        (
            ["--machine", "set-small", "--task", "clique:3", "--vary", "policy=static-lru"],
            2,
            "policy is of the paper's core",
        ),
        (
            ["--machine", "set-small", "--task", "fsm:3:2", "--vary", "latency=20"],
            1,
            "doesn't mine labelled patterns",
        ),
        (
            ["--machine", "small", "--task", "motif:6", "--vary", "latency=20"],
            1,
            "takes motifs of 3 to 5, not 6",
        ),
        (
            ["--machine", "set-small", "--task", "motif:6", "--vary", "latency=20"],
            1,
            "takes motifs of 3 to 5, not 6",
        ),
    ] {
        // The graph isn't read, either.
        let output = Command::new(env!("CARGO_BIN_EXE_gramer-lab"))
            .current_dir(environment::root())
            .env("GRAMER_SIM", &simulator)
            .args(["explore", "no-such-graph.txt"])
            .args(words)
            .arg("--out")
            .arg(folder.path("out"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
        assert!(said(&output).contains(expected), "{words:?}: {}", said(&output));
    }
    assert!(folder.runs() == 0 && !folder.path("out").exists());
}

#[test]
fn a_sweep_without_a_result_claims_no_equal_counts() {
    let folder = Folder::new();
    let fault = "building\nerror: verilator refuses the sources:\n%Error: /r/rtl/a.sv:38:7: syntax error\n\
                 \x20  38 | wire\n      | ^~~~";
    let output =
        folder.explore(&folder.stand_in(&format!("printf '%s' '{fault}' >&2; exit 1")), &SLOTS);
    assert_eq!(output.status.code(), Some(1));
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(table.contains("all 3 points failed: there is no result"), "{table}");
    let page = fs::read_to_string(folder.path("out/index.html")).unwrap();
    assert!(!table.contains("equal") && !page.contains("equal the CPU"), "{table}");
    // The fault is there once, whole.
    let said = said(&output);
    let expected = "3 of 3 points have no result: slots=1, slots=2, slots=4: verilator refuses the sources:\n\
                    %Error: /r/rtl/a.sv:38:7: syntax error\n   38 | wire\n      | ^~~~\n";
    assert!(said.contains(expected), "{said}");
    // One of three fails.
    let text = format!("case \"$*\" in *'slots 2'*) exit 1;; *) {};; esac", answer(2));
    let output = folder.explore(&folder.stand_in(&text), &SLOTS);
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(
        table.contains("2 of 3 points have a result; their counts equal the CPU engine's"),
        "{table}"
    );
}

#[test]
fn the_page_of_a_sweep_says_what_was_run() {
    let folder = Folder::new();
    let words =
        ["--task", "clique:3", "--vary", "policy=locality,static-lru", "--vary", "on_chip=50%"];
    let output = folder.explore(&folder.stand_in(&answer(2)), &words);
    assert!(output.status.success(), "{}", said(&output));
    let page = fs::read_to_string(folder.path("out/index.html")).unwrap();
    let plain = page.replace("<span class=\"n\">", "").replace("</span>", "");
    for expected in [
        "<h1>3-clique finding on graph</h1>",
        "<dd>explore<small>2 PUs, 200 MHz</small></dd>",
        "<dd>graph<small>5 vertices, 6 edges</small></dd>",
        "<small>model 1234</small>",
        ">Cycles: 3-clique finding on graph<",
        ">Speed-up: 3-clique finding on graph<",
        ">Hit ratio of vertices: 3-clique finding on graph<",
        "speed-up over policy=locality",
        "<td class=\"numeric\">1,000</td>",
    ] {
        assert!(plain.contains(expected), "{expected} is not in {plain}");
    }
    let svg = fs::read_to_string(folder.path("out/cycles.svg")).unwrap();
    assert!(
        svg.contains("replacement policy") && svg.contains("<desc>x axis: replacement policy"),
        "{svg}"
    );
}

#[test]
fn patterns_that_are_found_must_be_the_same_ones() {
    let folder = Folder::new();
    let document = |edges: u32| {
        format!(
            "echo '{{\"cycles\": 30, \"passes\": [{{\"cycles\": 10}}, {{\"cycles\": 20}}], \
             \"results\": [{{\"name\": \"edge\", \"count\": {edges}}}]}}'"
        )
    };
    // Six edges, and fewer than six embeddings of each pattern of three vertices.
    let words = ["--task", "fsm:3:6", "--vary", "slots=1"];
    let output = folder.explore(&folder.stand_in(&document(6)), &words);
    assert!(output.status.success(), "{}", said(&output));
    let words = ["--task", "fsm:3:6", "--vary", "slots=2"];
    let output = folder.explore(&folder.stand_in(&document(7)), &words);
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("the core found 7 of edge"), "{}", said(&output));
    // One that is missing.
    let words = ["--task", "fsm:3:5", "--vary", "slots=1"];
    let output =
        folder.explore(&folder.stand_in("echo '{\"cycles\": 3, \"results\": []}'"), &words);
    assert!(said(&output).contains("too few patterns"), "{}", said(&output));
}

/// Whether the simulated core can be built; with `GRAMER_REQUIRE_RTL` it must be.
fn simulates() -> bool {
    let found = gramer_sim::model::verilator().is_some();
    if !found {
        let missing = "there is no verilator on the PATH (scripts/setup-rtl.sh installs it)";
        environment::skip(environment::RTL, missing);
    }
    found
}

#[test]
fn the_simulated_core_goes_through_switches_and_layouts() {
    if !simulates() {
        return;
    }
    let folder = Folder::new();
    let words = [
        "--task",
        "motif:3",
        "--vary",
        "policy=uniform-lru,static-lru,locality",
        "--vary",
        "on_chip=50%",
        "--vary",
        "order=descending,ascending",
        "--vary",
        "latency=20,200",
        "--output",
        "json",
    ];
    let output = folder.explore(Path::new(OWN), &words);
    assert!(output.status.success(), "{}", said(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let points = document["points"].as_array().unwrap();
    assert_eq!(points.len(), 12);
    let cycles = |at: usize| points[at]["metrics"]["cycles"].as_f64().unwrap();
    // All of this graph fits into scratchpads, which are filled before the start; caches aren't.
    for pair in (0..12).step_by(2) {
        let uniform = points[pair]["settings"]["policy"] == "uniform-lru";
        let (fast, slow) = (cycles(pair), cycles(pair + 1));
        assert!(fast <= slow && (fast < slow || !uniform), "point {pair}: {fast}, then {slow}");
    }
    for point in points {
        let high = point["metrics"]["vertex_high"].as_f64().unwrap();
        let uniform = point["settings"]["policy"] == "uniform-lru";
        assert_eq!(uniform, high == 0.0, "only scratchpads hold high-priority data: {point}");
    }
}

#[test]
fn passes_are_added_up() {
    if !simulates() {
        return;
    }
    let folder = Folder::new();
    let words = ["--task", "fsm:3:1", "--vary", "slots=1,4", "--output", "json"];
    let output = folder.explore(Path::new(OWN), &words);
    assert!(output.status.success(), "{}", said(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    for point in document["points"].as_array().unwrap() {
        let metric = |name: &str| point["metrics"][name].as_f64().unwrap();
        assert!(metric("edge_accesses") > 0.0 && metric("cycles") > 0.0, "{point}");
        assert!(metric("busy") < 1.0 && metric("wait_memory") > 0.0, "{point}");
    }
}

/// In long tests alone: its points take minutes.
#[test]
fn the_quick_report_is_whole() {
    if !environment::long() {
        return environment::skip_here("`make test-paper` makes the report");
    }
    if !simulates() {
        return;
    }
    let folder = Folder::new();
    let root = environment::root();
    let output = Command::new(env!("CARGO_BIN_EXE_gramer-lab"))
        .current_dir(&root)
        .env("GRAMER_SIM", OWN)
        .args(["paper", "--quick", "--html", "--out"])
        .arg(folder.path("report"))
        // Shared with `make paper-quick`.
        .args(["--cache", "target/paper/quick-cache"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let read = |name: &str| fs::read_to_string(folder.path("report").join(name)).unwrap();
    let markdown = read("README.md");
    for expected in [
        "A quick run",
        "| paper | claim | a case holds | verdict, ascending (the paper's order) | verdict, descending (the \
         default here) | why |",
        "| figure 12 (",
        "| figure 13b |",
        "| figure 14a |",
        "| table III |",
        "| tables II, IV |",
    ] {
        assert!(markdown.contains(expected), "{expected} is not in the report");
    }
    // All that it may have is known before it is made.
    let known = gramer_laboratory::paper::files(true);
    for entry in fs::read_dir(folder.path("report")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known.contains(&name), "{name}");
    }
    // Whatever the report names is there, and plots have axes.
    let names: Vec<&str> =
        markdown.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        // The report's place is docs/results/paper; what it names outside is beside that.
        if let Some(beside) = name.strip_prefix("../") {
            assert!(root.join("docs/results").join(beside).is_file(), "{name} isn't there");
            continue;
        }
        let text = read(name);
        assert!(text.lines().count() > 1 || name == "figure-11.csv", "{name} is empty");
        assert!(!name.ends_with("svg") || text.contains("<text"), "{name} has no text");
    }
    // The page stands alone: every plot is in it.
    let page = read("index.html");
    let plots = markdown.matches(".svg)").count();
    assert!(plots > 5 && page.matches("<svg").count() == plots, "{plots} plots");
    assert!(!page.contains("<img"), "the page needs another file");
    if let Some(program) = browser::browser() {
        let found = browser::probed(&program, folder.0.path(), &[("paper", page.clone())]);
        assert!(found.is_empty(), "{}", found.join("\n"));
        let file = folder.path("report").join("index.html");
        let sheets = browser::printed(&program, folder.0.path(), &file);
        assert!((1..=60).contains(&sheets), "{plots} plots on {sheets} sheets");
    }
    verdicts_follow_from_the_numbers(&markdown, &read);
}

/// The bars are written again here, as are the verdicts: from the paper's figures, the CSV and the
/// rule, without the program's own functions.
fn verdicts_follow_from_the_numbers(markdown: &str, read: &dyn Fn(&str) -> String) {
    type Holds = fn(f64) -> bool;
    // Place and beginning of the claim, file, column, from, to, fixed columns, when a case holds.
    type Row = (
        &'static str,
        &'static str,
        [&'static str; 3],
        &'static [(&'static str, &'static str)],
        Holds,
    );
    let on_all_slots: &[(&str, &str)] = &[("slots", "8")];
    let [a_tenth, with_candidates]: [&[(&str, &str)]; 2] = [
        &[("check", "embedding"), ("on_chip", "10%"), ("latency", "56"), ("lambda", "1")],
        &[("check", "candidate"), ("on_chip", "10%"), ("latency", "56"), ("lambda", "1")],
    ];
    let rows: [Row; 6] = [
        (
            "| figure 12 (a tenth) | and is 1.60 ",
            "figure-12.csv",
            ["policy", "uniform-lru", "static-lru"],
            a_tenth,
            |times| times >= 1.57,
        ),
        (
            "| figure 12 (a tenth) | and is 1.06 ",
            "figure-12.csv",
            ["policy", "static-lru", "locality"],
            a_tenth,
            |times| times >= 1.057,
        ),
        ("| figure 13b |", "figure-13.csv", ["stealing", "off", "on"], on_all_slots, |times| {
            times >= 1.304
        }),
        (
            "| figure 12 (a tenth, candidate) | 1.60 ",
            "figure-12.csv",
            ["policy", "uniform-lru", "static-lru"],
            with_candidates,
            |times| times >= 1.57,
        ),
        (
            "| figure 14a | τ = 5 % ",
            "figure-14a.csv",
            ["tau", "50%", "5%"],
            &[("check", "embedding")],
            |share| (0.702_745..=0.920_105).contains(&share),
        ),
        (
            "| figure 14a (candidate) | τ = 5 % ",
            "figure-14a.csv",
            ["tau", "50%", "5%"],
            &[("check", "candidate")],
            |share| (0.702_745..=0.920_105).contains(&share),
        ),
    ];
    for (start, file, [column, from, to], fixed, holds) in rows {
        let line = markdown.lines().find(|l| l.starts_with(start)).expect(start);
        let cells: Vec<&str> = line.split(" | ").collect();
        for (cell, order) in [(3, "ascending"), (4, "descending")] {
            let mut wanted = vec![("order", order)];
            wanted.extend(fixed);
            let speeds = speeds(&read(file), &wanted, [column, from, to]);
            let all = speeds.len();
            assert!(all > 1, "{file} {order}: {all} cases");
            let held = speeds.into_iter().filter(|&speed| holds(speed)).count();
            let word = match (10 * held, 10 * all) {
                (held, all) if held >= 9 * all / 10 => "reproduced",
                (held, all) if held >= all / 2 => "partly",
                _ => "not reproduced",
            };
            let expected = format!("{word}, {held} of {all} cases; ");
            let said = cells[cell].trim_start_matches(['🟢', '🟡', '🔴', ' ']);
            assert!(said.starts_with(&expected), "{expected} of {order}: {line}");
        }
    }
}

/// Of a report's CSV: how many times as fast each graph and task runs with one value of a column as
/// with another, where the other columns are as wanted.
fn speeds(csv: &str, wanted: &[(&str, &str)], [column, from, to]: [&str; 3]) -> Vec<f64> {
    let mut lines = csv.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let at = |name: &str| header.iter().position(|&h| h == name).expect(name);
    let mut cycles = std::collections::BTreeMap::new();
    for row in lines {
        assert_eq!(row.len(), header.len(), "{row:?}");
        // Policies without λ have none.
        let is = |&(name, value): &(&str, &str)| {
            row[at(name)] == value || (name == "lambda" && row[at(name)].is_empty())
        };
        // Claims are not of the graph that isn't the paper's by figure 5.
        if row[0] != "p2p-gnutella04" && wanted.iter().all(is) {
            let key = (row[0].to_string(), row[1].to_string(), row[at(column)].to_string());
            let number: f64 = row[at("cycles")].parse().expect("cycles");
            assert!(cycles.insert(key, number).is_none(), "{row:?} twice");
        }
    }
    let of = |key: &(String, String, String), value: &str| {
        cycles[&(key.0.clone(), key.1.clone(), value.to_string())]
    };
    cycles.keys().filter(|key| key.2 == from).map(|key| of(key, from) / of(key, to)).collect()
}

/// What an earlier report wrote under another name would stand there for ever.
#[test]
fn the_report_names_all_that_lies_beside_it() {
    let folder = environment::root().join("docs/results/paper");
    let markdown = fs::read_to_string(folder.join("README.md")).unwrap();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        // The page is made from it when asked, and not kept.
        assert!(gramer_laboratory::paper::files(true).contains(&name), "{name}");
        let known = ["README.md", "index.html"].contains(&name.as_str());
        assert!(known || markdown.contains(&format!("({name})")), "{name} is not in the report");
    }
}

#[test]
fn a_browser_shows_and_prints_the_page_of_a_sweep() {
    let Some(program) = browser::browser() else { return };
    let folder = Folder::new();
    let answer = r#"echo '{"cycles": 1234567890, "results": [{"name": "3-clique", "count": 2}],
"counters": {"pu.vertex_accesses": [[8], [2]], "partition.vertex_high_hits": [[5]],
"partition.vertex_low_hits": [[0]]}}'"#;
    let words = ["--task", "clique:3", "--vary", "slots=1,2,4", "--vary", "stealing=on,off"];
    let output = folder.explore(&folder.stand_in(answer), &words);
    assert!(output.status.success(), "{}", said(&output));
    let file = folder.path("out").join("index.html");
    let page = fs::read_to_string(&file).unwrap();
    let found = browser::probed(&program, folder.0.path(), &[("explore", page)]);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let sheets = browser::printed(&program, folder.0.path(), &file);
    assert!((1..=6).contains(&sheets), "{sheets} sheets");
}

#[test]
fn commands_print_what_the_page_shows() {
    let page = environment::root().join("docs/guide/explore.md");
    commands::check(&page, Path::new(env!("CARGO_BIN_EXE_gramer-lab")));
}
