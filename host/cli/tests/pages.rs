//! Pages of answers: what is in them, how they are written, and how a browser shows them.

#[path = "pages/browser.rs"]
mod browser;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use gramer::cpu::Cpu;
use gramer::engine::EngineExt;
use gramer::engine::metrics::{DeviceMetrics, Timeline, Value as Measured};
use gramer::task::{Induced, Task};
use gramer_picture::{Answer, Times};
use gramer_testing::environment;
use serde_json::Value;

fn gramer() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gramer"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A graph with labels of vertices and edges, in which much occurs.
fn labelled(folder: &Path) -> PathBuf {
    let path = folder.join("labelled & <named>.lg");
    let mut lines = String::from("t # 1\n");
    for v in 0..40 {
        lines += &format!("v {v} {}\n", [1, 2, 4_000_000_000_u32][v % 3]);
    }
    for (u, v) in (0..40).flat_map(|u| (u + 1..40).map(move |v| (u, v))) {
        if (u * 7 + v * 11) % 5 == 0 {
            lines += &format!("e {u} {v} {}\n", [0, 99_999][(u + v) % 2]);
        }
    }
    fs::write(&path, lines).unwrap();
    path
}

fn plain(folder: &Path) -> PathBuf {
    let path = folder.join("plain.gramer");
    let words = ["graph", "generate", "rmat", "--scale", "10", "--edge-factor", "8", "--seed", "1"];
    let made = gramer().args(words).arg(&path).output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    path
}

/// A clique, whose counts have up to 18 digits.
fn dense(folder: &Path) -> PathBuf {
    let path = folder.join("dense.txt");
    let pairs = (0..64).flat_map(|u| (u + 1..64).map(move |v| format!("{u} {v}\n")));
    fs::write(&path, pairs.collect::<String>()).unwrap();
    path
}

fn mine(words: &[&str], graph: &Path, page: &Path) -> Output {
    gramer().arg("mine").args(words).arg(graph).arg("--to").arg(page).output().unwrap()
}

/// A page of every kind of answer, by name.
fn pages(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    let (plain, labelled) = (plain(folder), labelled(folder));
    let dense = dense(folder);
    let cases: [(&str, &[&str], &Path); 18] = [
        ("motif", &["motif", "-k", "4"], &plain),
        ("motif-edge", &["motif", "-k", "5", "--induced", "edge"], &plain),
        ("clique", &["clique", "-k", "3"], &plain),
        ("sizes", &["clique", "-k", "3", "--up-to", "20"], &plain),
        ("maximal", &["clique", "--maximal"], &plain),
        ("maximum", &["clique", "--maximum"], &plain),
        ("match", &["match", "--pattern", "house"], &plain),
        (
            "mappings",
            &["match", "--pattern", "4-cycle", "--mappings", "--induced", "vertex"],
            &plain,
        ),
        ("fsm", &["fsm", "--support", "2", "--max-vertices", "3"], &labelled),
        ("fsm-mni", &["fsm", "--support", "3", "--measure", "mni", "--max-edges", "2"], &labelled),
        ("per-vertex", &["motif", "-k", "4", "--per", "vertex", "--histogram"], &plain),
        ("per-edge", &["motif", "-k", "4", "--per", "edge", "--top", "12"], &plain),
        ("per-size", &["clique", "-k", "3", "--up-to", "20", "--per", "vertex"], &plain),
        ("estimate", &["clique", "-k", "4", "--estimate", "5%"], &plain),
        ("estimates", &["motif", "-k", "4", "--estimate", "2%"], &plain),
        ("match-labelled", &["match", "--pattern", "triangle"], &labelled),
        ("large-number", &["clique", "-k", "14"], &dense),
        ("large-numbers", &["clique", "-k", "3", "--up-to", "64"], &dense),
    ];
    let write = |(name, words, graph): (&'static str, &[&str], &Path)| {
        let page = folder.join(format!("{name}.html"));
        let output = mine(words, graph, &page);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{name}");
        (name, page)
    };
    cases.map(write).to_vec()
}

#[test]
fn pages_say_what_the_json_says() {
    let folder = tempfile::tempdir().unwrap();
    let graph = labelled(folder.path());
    for words in [
        &["motif", "-k", "4"][..],
        &["clique", "-k", "3", "--up-to", "9"],
        &["fsm", "--support", "2"],
        &["match", "--pattern", "diamond"],
    ] {
        let page = folder.path().join("page.html");
        let output = gramer().arg("mine").args(words).arg(&graph).arg("--json").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let results = answer["results"].as_array().unwrap();
        assert!(mine(words, &graph, &page).status.success());
        let page = fs::read_to_string(&page).unwrap();
        fs::remove_file(folder.path().join("page.html")).unwrap();
        assert_eq!(page.matches("<svg ").count(), results.len(), "{words:?}");
        let dots: usize =
            results.iter().map(|r| r["pattern"]["vertices"].as_u64().unwrap() as usize).sum();
        assert_eq!(page.matches("<rect ").count(), dots, "{words:?}");
        for result in results {
            let digits = result["count"].to_string();
            let from_right: Vec<String> = digits.as_bytes().rchunks(3).rev().map(text).collect();
            assert!(page.contains(&from_right.join(",")), "{words:?}: {digits}");
        }
        let induced = answer["induced"].as_str().unwrap();
        assert!(page.to_lowercase().contains(&format!("{induced}-induced")), "{words:?}");
        assert!(page.contains("labelled &amp; &lt;named&gt;.lg"), "names are escaped");
        // The name of the format is no address that anything is loaded from.
        let rest = page.replace("http://www.w3.org/2000/svg", "");
        for word in ["http:", "https:", " src=", " href=", "url(", "@import", "<script"] {
            assert!(!rest.contains(word), "{words:?}: {word} comes from elsewhere");
        }
    }
}

#[test]
fn pages_have_counts_per_vertex_and_edge() {
    let folder = tempfile::tempdir().unwrap();
    let graph = labelled(folder.path());
    for (per, k) in [("vertex", "4"), ("edge", "3")] {
        let words = ["motif", "-k", k, "--per", per, "--histogram", "--top", "3"];
        let output = gramer().arg("mine").args(words).arg(&graph).arg("--json").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let columns = answer["per"]["columns"].as_array().unwrap();
        let path = folder.path().join(format!("{per}.html"));
        let list = folder.path().join(format!("{per}.tsv"));
        let list = list.to_str().unwrap();
        assert!(mine(&[&words[..], &["--list", list]].concat(), &graph, &path).status.success());
        let page = fs::read_to_string(&path).unwrap();
        let results = answer["results"].as_array().unwrap().len();
        assert_eq!(page.matches("<svg ").count(), results + columns.len());
        for column in columns {
            let (name, orbit) = (column["name"].as_str().unwrap(), &column["orbit"]);
            let from = page.find(&format!("<h3>{name}, orbit {orbit}</h3>")).expect("the column");
            let end = page[from..].find("class=\"column\"").unwrap_or(page.len() - from);
            let part = &page[from..from + end];
            let sum = grouped(&column["sum"]);
            assert!(part.contains(&format!("sum <span class=\"n\">{sum}</span>")), "{part}");
            for top in column["top"].as_array().unwrap() {
                let item = match per {
                    "vertex" => top["vertex"].to_string(),
                    _ => format!("{}-{}", top["edge"][0], top["edge"][1]),
                };
                let count = grouped(&top["count"]);
                let row = part.split("<tr>").find(|row| {
                    row.starts_with(&format!(
                        "<th scope=\"row\"><span class=\"n\">{item}</span></th>"
                    )) && row.contains(&count)
                });
                assert!(row.is_some(), "{name} {item}: {count} in {part}");
            }
            let bins = column["histogram"].as_array().unwrap().len();
            let rows = bins + column["top"].as_array().unwrap().len();
            assert_eq!(part.matches("<tr>").count(), rows, "{part}");
        }
        let what = if per == "vertex" { "vertices" } else { "edges" };
        assert!(page.contains(&format!("<small>{what}</small>")), "what is listed");
    }
    // The path has its ends in one orbit and its middle in another: these are filled, those are not.
    let page = fs::read_to_string(folder.path().join("vertex.html")).unwrap();
    let of = |orbit: u32| {
        let head =
            page.split("<h3>").position(|h| h.starts_with(&format!("4-path, orbit {orbit}<")));
        let before = page.split("<h3>").nth(head.unwrap() - 1).unwrap();
        before[before.rfind("<svg ").unwrap()..].matches("fill=\"#0072b2\"").count()
    };
    assert_eq!((of(4), of(5)), (2, 2));
}

/// A number of the JSON answer in the format of pages.
fn grouped(number: &Value) -> String {
    gramer_picture::number::grouped(number.to_string().parse().unwrap())
}

#[test]
fn pages_have_estimates_with_their_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let graph = plain(folder.path());
    for words in [&["motif", "-k", "4"][..], &["clique", "-k", "3"]] {
        let words = [words, &["--estimate", "5%", "--seed", "7"]].concat();
        let output = gramer().arg("mine").args(&words).arg(&graph).arg("--json").output().unwrap();
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let path = folder.path().join("page.html");
        assert!(mine(&[&words[..], &["--force"]].concat(), &graph, &path).status.success());
        let page = fs::read_to_string(&path).unwrap();
        let samples = grouped(&answer["estimate"]["samples"]);
        // Numbers have their own mark, which keeps them whole.
        let page = page.replace("<span class=\"n\">", "").replace("</span>", "");
        assert!(page.contains(&format!("An estimate from {samples} samples, no count")), "{page}");
        assert!(page.contains("the total is within ±5 %"), "{page}");
        assert!(!page.contains("Counts are exact"), "{page}");
        let results = answer["results"].as_array().unwrap();
        assert_eq!(page.matches("<svg ").count(), results.len());
        let about = |value: &Value| gramer_picture::number::about(value.as_f64().unwrap());
        let mut intervals = 0;
        for result in results {
            let estimate = &result["estimate"];
            assert!(page.contains(&format!("≈ {}", about(&estimate["value"]))), "{estimate}");
            if let Some(interval) = estimate["interval"].as_array() {
                let said = format!("{} to {}", about(&interval[0]), about(&interval[1]));
                assert!(page.contains(&said), "{said}");
                intervals += 1;
            }
        }
        let drawn = page.matches("class=\"whisker\"").count();
        assert_eq!(drawn, if results.len() > 1 { intervals } else { 0 });
        assert!(intervals > 0);
    }
}

#[test]
fn a_page_is_written_whole_and_over_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let graph = labelled(folder.path());
    let page = folder.path().join("page.html");
    fs::write(&page, "precious").unwrap();
    let output = mine(&["clique", "-k", "3"], &graph, &page);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is there already"), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(&page).unwrap(), "precious");
    // Nor over the graph, forced or not.
    let output = mine(&["clique", "-k", "3", "--force"], &graph, &graph);
    assert!(text(&output.stderr).contains("would destroy"), "{}", text(&output.stderr));
    // A graph that can't be read leaves nothing.
    let other = folder.path().join("other.html");
    assert!(!mine(&["clique", "-k", "3"], &folder.path().join("none"), &other).status.success());
    assert!(!other.exists());
    assert!(mine(&["clique", "-k", "3", "--force"], &graph, &page).status.success());
    assert!(fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));
    // The name says the form, and --output must not say another.
    let answer = folder.path().join("answer.json");
    assert!(mine(&["clique", "-k", "3"], &graph, &answer).status.success());
    serde_json::from_slice::<Value>(&fs::read(&answer).unwrap()).unwrap();
    let table = folder.path().join("table.html");
    let output = mine(&["clique", "-k", "3", "--output", "table"], &graph, &table);
    assert!(output.status.code() == Some(2) && !table.exists(), "{}", text(&output.stderr));
    // A job has the same fields.
    let job = folder.path().join("job.yaml");
    let to = folder.path().join("job.html");
    let lines = format!("task: clique\nk: 3\ngraph: {graph:?}\nto: {to:?}\n");
    fs::write(&job, lines).unwrap();
    let output = gramer().arg("run").arg(&job).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(fs::read_to_string(&to).unwrap().contains("How many cliques of 3 vertices"));
    // A pipe gets the page as well.
    let words = ["mine", "clique", "-k", "3", "--output", "html"];
    let output = gramer().args(words).arg(&graph).output().unwrap();
    assert!(text(&output.stdout).ends_with("</html>\n"));
    let output = gramer().args(["mine", "clique", "-k", "3", "--force"]).arg(&graph).output();
    assert!(text(&output.unwrap().stderr).contains("--force needs --to or --list"));
}

#[test]
fn tables_have_pictures_where_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let graph = labelled(folder.path());
    let table = |more: &[&str]| {
        let output =
            gramer().args(["mine", "motif", "-k", "3"]).arg(&graph).args(more).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let dots =
        |table: &str| table.chars().filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).count();
    // Standard output is no terminal here.
    assert_eq!(dots(&table(&[])), 0);
    assert_eq!(dots(&table(&["--drawing", "never"])), 0);
    let drawn = table(&["--drawing", "always"]);
    assert!(dots(&drawn) > 10, "{drawn}");
    // The same table without the pictures.
    for name in ["wedge", "triangle", "0-1 0-2 1-2"] {
        assert!(drawn.contains(name), "{drawn}");
    }
    let widths: Vec<usize> = drawn
        .lines()
        .filter(|line| line.starts_with(['│', '|']))
        .map(|line| line.chars().count())
        .collect();
    assert!(widths.len() >= 6 && widths.iter().all(|w| *w == widths[0]), "{drawn}");
}

#[test]
fn a_browser_shows_pages_as_they_should_be() {
    let Some(program) = browser::browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let pages: Vec<(&str, String)> = pages(folder.path())
        .into_iter()
        .map(|(name, path)| (name, fs::read_to_string(path).unwrap()))
        .collect();
    let found = browser::probed(&program, folder.path(), &pages);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_browser_sees_what_is_wrong() {
    let Some(program) = browser::browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let svg = |inner: &str| {
        format!("<main><svg width=\"300\" height=\"90\"><title>t</title>{inner}</svg></main>")
    };
    let bad = [
        ("wide", "<main><p style=\"width:900px\">wide</p></main>".into(), "the page is"),
        ("pale", "<main><p style=\"color:#aaa\">pale</p></main>".into(), "has a contrast of"),
        (
            "cut",
            "<main><p style=\"width:3em;overflow:hidden;white-space:nowrap\">cut off</p></main>".into(),
            "is cut off",
        ),
        (
            "broken",
            "<main><p style=\"width:4em;overflow-wrap:anywhere\">1,234,567,890</p></main>".into(),
            "breaks the number 1,234,567,890",
        ),
        (
            "crowded",
            svg("<text x=\"20\" y=\"40\">10,000</text><text x=\"50\" y=\"40\">100,000</text>"),
            "100,000 lies on 10,000",
        ),
        (
            "faint",
            svg("<line x1=\"0\" y1=\"0\" x2=\"90\" y2=\"90\" stroke=\"#e69f00\"/>"),
            "line in a drawing has a stroke of contrast 2.2",
        ),
        (
            "nameless",
            "<main><svg width=\"9\" height=\"9\"></svg></main>".into(),
            "a drawing has no title",
        ),
        (
            "axis",
            "<main><div class=\"ticks\"><span>1,000</span><span style=\"margin-left:-1em\">10,000</span></div>\
             </main>"
                .into(),
            "1,000 lies on 10,000 above an axis",
        ),
        ("bright", "<style>body { background: #fff }</style><main></main>".into(), "is bright"),
    ];
    let pages: Vec<(&str, String)> =
        bad.iter().map(|(name, page, _): &(_, String, _)| (*name, page.clone())).collect();
    let found = browser::probed(&program, folder.path(), &pages);
    for (name, _, wrong) in bad {
        let night = if name == "bright" { "dark " } else { "" };
        let start = format!("{night}{name} at 420: ");
        assert!(
            found.iter().any(|line| line.starts_with(&start) && line.contains(wrong)),
            "{start}{wrong}: {found:#?}"
        );
    }
    assert!(!found.iter().any(|line| line.starts_with("wide at 1280")), "{found:#?}");
}

#[test]
fn a_browser_prints_pages() {
    let Some(program) = browser::browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let graph = plain(folder.path());
    let page = folder.path().join("page.html");
    assert!(mine(&["motif", "-k", "5"], &graph, &page).status.success());
    let sheets = browser::printed(&program, folder.path(), &page);
    assert!((1..=6).contains(&sheets), "21 motifs on {sheets} sheets");
}

/// A page of an accelerator of 16 PUs, with what they did over time or in all.
fn accelerated(windows: usize) -> String {
    let mut builder = gramer::graph::Builder::new();
    (0..60).for_each(|v| builder.edge(v, (v * 7 + 1) % 60));
    let graph = builder.build();
    let task = Task::Motif { k: 3, induced: Induced::Vertex };
    let mut outcome = Cpu.run(&graph, &task, None, &gramer::Context::default()).unwrap();
    let states = ["busy", "waiting_for_memory", "waiting_inside", "no_work"];
    // Each window of a PU is cut in four in its own way, up to nothing at all.
    let cut = |pu: usize, window: usize| {
        let at = (pu * 31 + window * 17) % 1000;
        let share = |part: usize| (12_345_678 * ((at * part) % 100) / 400) as u64;
        [share(3), share(7), share(11), if window % 9 == 0 { 0 } else { share(13) }]
    };
    let spent = (0..16)
        .map(|pu| (0..4).map(|s| (0..windows).map(|w| cut(pu, w)[s]).collect()).collect())
        .collect();
    let timeline = Timeline {
        part: "PU".into(),
        states: states.map(Into::into).to_vec(),
        windows: vec![12_345_678; windows],
        spent,
    };
    let mut metrics = DeviceMetrics::of("emulator:a-machine-with-a-long-name.yaml");
    metrics.headline("device.clock", "MHz", Measured::Setting(200));
    metrics.headline("run.cycles", "cycles", Measured::Count(12_345_678 * windows as u64));
    for (at, state) in states.iter().enumerate() {
        let part = (at + 1) as f64;
        let name = format!("pu_time.{state}");
        metrics.headline(name, "cycles", Measured::Share { part, whole: 10.0 });
    }
    metrics.detail("pu_time.by_pu_of_compute_unit_1", "cycles", Measured::Timeline(timeline));
    outcome.devices.push(metrics);
    let time = Duration::from_millis(1234);
    let mut answer = Answer::new(&task, "graph.txt", &graph, &outcome);
    answer.device = "emulator:a-machine-with-a-long-name.yaml";
    answer.times = Times { load: time, prepare: time, mine: time, first: None };
    answer.page()
}

/// A page of the largest counts that there are: of one pattern, or of two.
fn huge(k: usize) -> String {
    let mut builder = gramer::graph::Builder::new();
    (0..6).for_each(|v| builder.edge(v, (v + 1) % 6));
    let graph = builder.build();
    let task = Task::Motif { k, induced: Induced::Vertex };
    let mut outcome = Cpu.run(&graph, &task, None, &gramer::Context::default()).unwrap();
    outcome.results.truncate(k - 2);
    outcome.results.iter_mut().for_each(|result| result.count = u128::MAX / 8);
    Answer::new(&task, "graph.txt", &graph, &outcome).page()
}

#[test]
fn a_browser_shows_and_prints_pages_of_an_accelerator() {
    let Some(program) = browser::browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let over_time = accelerated(256);
    assert!(
        over_time.contains("over time: <span class=\"n\">3,160,493,568</span> cycles"),
        "it has a timeline"
    );
    let pages = [
        ("over time", over_time),
        ("in all", accelerated(1)),
        ("huge", huge(3)),
        ("huge, two", huge(4)),
    ];
    let found = browser::probed(&program, folder.path(), &pages);
    assert!(found.is_empty(), "{}", found.join("\n"));
    for (name, page) in &pages {
        let path = folder.path().join("printed.html");
        fs::write(&path, page).unwrap();
        let sheets = browser::printed(&program, folder.path(), &path);
        assert!((1..=6).contains(&sheets), "{name} on {sheets} sheets");
    }
}
