//! Kinds of mappings on the command line, in jobs, in answers and in lists.

use std::fs;
use std::process::{Command, Output};

use gramer_testing::schema::check_answer;
use serde_json::{Value, json};

struct Folder(tempfile::TempDir);

impl Folder {
    /// A triangle 0 1 2 whose vertex 2 has a tail 3: two graphs of a file are that and an edge.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("g.txt"), "0 1\n1 2\n0 2\n2 3\n").unwrap();
        let two = "t # 0\nv 0 1\nv 1 1\nv 2 1\nv 3 1\ne 0 1 1\ne 1 2 1\ne 0 2 1\ne 2 3 1\n\
            t # 1\nv 0 1\nv 1 1\ne 0 1 1\n";
        fs::write(folder.path().join("two.tve"), two).unwrap();
        Folder(folder)
    }

    fn gramer(&self, words: &str) -> Output {
        let words = words.split(' ');
        let mut command = Command::new(env!("CARGO_BIN_EXE_gramer"));
        command.current_dir(&self.0).args(words).output().unwrap()
    }

    fn text(&self, words: &str) -> String {
        let output = self.gramer(words);
        assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn document(&self, words: &str) -> Value {
        let document = serde_json::from_str(&self.text(words)).unwrap();
        check_answer(&document);
        document
    }

    fn fault(&self, words: &str, code: i32) -> String {
        let output = self.gramer(words);
        assert_eq!(output.status.code(), Some(code), "{words}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// The wedge has Σ d·(d − 1) isomorphisms and edge isomorphisms, and Σ d² homomorphisms.
#[test]
fn a_kind_is_chosen_behind_the_option_and_named_in_the_answer() {
    let folder = Folder::new();
    for (option, count, named) in [
        ("", 5, json!(false)),
        (" --mappings", 10, json!(true)),
        (" --mappings=isomorphism", 10, json!(true)),
        (" --mappings=homomorphism", 18, json!("homomorphism")),
        (" --mappings=edges", 10, json!("edges")),
    ] {
        // The option takes no word after it.
        let answer = folder.document(&format!("mine match -p wedge{option} g.txt --json"));
        assert_eq!(answer["results"][0]["count"], json!(count), "{option}");
        assert_eq!(answer["mappings"], named, "{option}");
        let threads = format!("mine match -p wedge{option} g.txt --json --threads 3");
        assert_eq!(folder.document(&threads)["results"], answer["results"]);
    }
    // For each edge either way a walk has d neighbours to come from and to go to, and d − 1 without a repeated edge.
    let paths = ["homomorphism", "edges"].map(|kind| {
        let words = format!("mine match -p 4-path --mappings={kind} g.txt --json");
        folder.document(&words)["results"][0]["count"].as_u64().unwrap()
    });
    assert_eq!(paths, [38, 10]);
    let text = folder.text("mine match -p wedge --mappings=homomorphism g.txt");
    assert!(text.contains("homomorphisms") && text.contains("18"), "{text}");
    let text = folder.text("mine match -p wedge --mappings=edges g.txt");
    assert!(text.contains("edge isomorphisms"), "{text}");
    let row = folder.text("mine match -p wedge --mappings=edges g.txt --output csv");
    assert!(row.lines().nth(1).is_some_and(|row| row.contains("10")), "{row}");
}

#[test]
fn lists_limits_graphs_and_devices_know_the_kinds() {
    let folder = Folder::new();
    let list = |more: &str| {
        let text =
            folder.text(&format!("mine match -p wedge g.txt --list - --list-format tsv{more}"));
        let mut lines: Vec<String> = text.lines().map(String::from).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    };
    let all = list(" --mappings=homomorphism");
    let mappings = all.iter().filter(|line| line.starts_with("wedge\t"));
    assert_eq!(mappings.count(), 18, "{all:?}");
    let answer = folder.document("mine match -p wedge --mappings=edges g.txt --limit 4 --json");
    assert_eq!((&answer["results"][0]["count"], &answer["complete"]), (&json!(4), &json!(false)));
    let words = "mine match -p wedge --mappings=homomorphism two.tve --per graph --output csv";
    let counts = folder.text(words);
    assert!(counts.contains("18") && counts.contains('2'), "{counts}");
    let words = "mine match -p wedge --mappings=homomorphism g.txt --json --device cpu,cpu";
    assert_eq!(folder.document(words)["results"][0]["count"], json!(18));
}

#[test]
fn a_job_has_the_kind_as_a_word() {
    let folder = Folder::new();
    for (value, count) in
        [("false", 5), ("true", 10), ("homomorphism", 18), ("edges", 10), ("isomorphism", 10)]
    {
        let job =
            format!("task: match\ngraph: g.txt\npattern: wedge\nmappings: {value}\noutput: json\n");
        fs::write(folder.0.path().join("job.yaml"), job).unwrap();
        assert_eq!(folder.document("run job.yaml")["results"][0]["count"], json!(count), "{value}");
    }
}

#[test]
fn a_plan_shows_what_keeps_edges_apart() {
    let folder = Folder::new();
    let plan = |more: &str| folder.text(&format!("plan 5-path{more}"));
    let edges = plan(" --mappings=edges --list");
    assert!(edges.starts_with("edge isomorphisms of 5-path, edge-induced"), "{edges}");
    assert!(edges.contains(" if v"), "{edges}");
    let homomorphisms = plan(" --mappings=homomorphism");
    assert!(!homomorphisms.contains(", not v"), "{homomorphisms}");
    assert!(homomorphisms.contains("The CPU engine counts it by tables alone"), "{homomorphisms}");
    let document: Value = serde_json::from_str(&plan(" --mappings=edges --json")).unwrap();
    assert_eq!(document["mappings"], json!("edges"));
    assert!(!folder.text("plan 5-path --mappings --json").contains("\"mappings\""));
}

#[test]
fn what_has_no_answer_says_why() {
    let folder = Folder::new();
    for kind in ["homomorphism", "edges"] {
        let ask =
            |more: &str| folder.fault(&format!("mine match --mappings={kind} g.txt{more}"), 2);
        let fault = ask(" -p wedge --induced vertex");
        assert!(fault.contains("homomorphisms and edge isomorphisms are edge-induced"), "{fault}");
        let fault = ask(" -p edge+edge");
        assert!(fault.contains("with a pattern of several components"), "{fault}");
        let fault = ask(" -p wedge --estimate 10%");
        assert!(fault.contains("by homomorphisms or edge isomorphisms"), "{fault}");
        let fault = ask(" -p wedge --device reference");
        assert!(fault.contains("`reference`"), "{fault}");
    }
    let fault = folder.fault("mine match -p wedge --mappings=vertices g.txt", 2);
    assert!(fault.contains("isomorphism, homomorphism, edges"), "{fault}");
}

#[test]
fn a_kind_behind_a_space_gets_a_tip() {
    let folder = Folder::new();
    for words in ["--mappings edges g.txt", "g.txt --mappings edges"] {
        let said = folder.fault(&format!("mine match --pattern triangle {words}"), 2);
        assert!(said.contains("--mappings=edges"), "{said}");
    }
}
