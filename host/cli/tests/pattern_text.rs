//! Patterns in one line, on the command line and in jobs, and answers as rows.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use gramer_testing::schema::check_answer;
use serde_json::Value;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn gramer(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gramer"))
            .current_dir(&self.0)
            .args(words)
            .output()
            .unwrap()
    }

    fn document(&self, words: &[&str]) -> Value {
        let output = self.gramer(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        let document = serde_json::from_slice(&output.stdout).unwrap();
        check_answer(&document);
        document
    }

    fn count(&self, pattern: &str, more: &[&str]) -> u64 {
        let words = ["mine", "match", "--pattern", pattern, "g.lg", "--json"];
        self.document(&[&words, more].concat())["results"][0]["count"].as_u64().unwrap()
    }

    fn fault(&self, words: &[&str], code: i32) -> String {
        let output = self.gramer(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

/// A triangle 0 1 2 with the labels 1 2 1, whose vertex 2 has a tail 3 4.
const GRAPH: &str = "t # 0\nv 0 1\nv 1 2\nv 2 1\nv 3 2\nv 4 1\n\
    e 0 1 7\ne 1 2 7\ne 0 2 8\ne 2 3 8\ne 3 4 7\n";

#[test]
fn labels_where_the_graph_has_none_are_refused_in_every_answer() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n2 3\n");
    for (pattern, lacks) in [("a:C-b:N", "no vertex labels"), ("a-[binds]-b", "no edge labels")] {
        for more in [&[][..], &["--per", "graph"], &["--list", "-"]] {
            let words = ["mine", "match", "--pattern", pattern, "g.txt"];
            let fault = folder.fault(&[&words, more].concat(), 2);
            assert!(fault.contains("the pattern asks for the label"), "{fault}");
            assert!(fault.contains(lacks) && fault.contains(" --"), "{fault}");
        }
    }
}

#[test]
fn a_pattern_is_a_line_of_text() {
    let folder = Folder::new();
    folder.file("g.lg", GRAPH);
    for (pattern, count) in [
        ("a-b, b-c, c-a", 1),
        ("K3", 1),
        ("a-b-c", 6),
        ("a-b-c, a!-c", 3),
        ("a:1-b:2", 4),
        ("a-[7]-b", 3),
        ("a:1-[7]-b:2, b-[*]-c:*", 2),
        ("a-b, c-d", 4),
        ("triangle+edge", 1),
        ("a-b, c", 15),
        ("a:2, b:2", 1),
        ("a!-b", 5),
    ] {
        assert_eq!(folder.count(pattern, &[]), count, "{pattern}");
    }
    assert_eq!(folder.count("a-b, c-d", &["--induced", "vertex"]), 1);
    assert_eq!(folder.count("a-b-c, a!-c", &["--mappings"]), 6);
    let document = folder.document(&["mine", "match", "-p", "x-y-z, x!-z", "g.lg", "--json"]);
    assert_eq!(document["results"][0]["pattern"]["absent"], serde_json::json!([[0, 2]]));
    folder.file("job.yaml", "task: match\ngraph: g.lg\npattern: a-b, b-c, a!-c\noutput: json\n");
    assert_eq!(folder.document(&["run", "job.yaml"])["results"], document["results"]);
}

#[test]
fn what_is_no_pattern_is_refused_and_a_file_comes_first() {
    let folder = Folder::new();
    folder.file("g.lg", GRAPH);
    let fault = |pattern: &str, more: &[&str], code| {
        folder.fault(&[&["mine", "match", "--pattern", pattern, "g.lg"], more].concat(), code)
    };
    for (pattern, what) in [
        ("a->b, b-c", "edges have no direction"),
        ("a-b, b-", "character 8: the name of a vertex is missing"),
        ("a:Kinase-b", "the vertex labels of the graph are numbers"),
        ("a-[binds]-b", "the edge labels of the graph are numbers"),
    ] {
        let said = fault(pattern, &[], 2);
        assert!(said.contains(what), "{said}");
    }
    let said = fault("tailed-triangel", &[], 2);
    assert!(said.contains("did you mean tailed-triangle?"), "{said}");
    for (pattern, more, what) in [
        ("a-b-c, a!-c", "--device gpu", "with pairs that must not be joined"),
        ("a-b, c-d", "--device gpu", "with a pattern of several components"),
        ("a-b, c-d", "--list found.jsonl", "with a list of embeddings"),
    ] {
        let more: Vec<&str> = more.split(' ').collect();
        let said = fault(pattern, &more, 2);
        assert!(said.contains(what), "{said}");
    }
    let said = fault("a-b-c, a!-c", &["--induced", "vertex"], 2);
    assert!(said.contains("take the pairs that must not be joined out of the pattern"), "{said}");
    folder.file("triangle", "0 1\n1 2\n");
    let words = ["mine", "match", "--pattern", "triangle", "g.lg", "--json"];
    let output = folder.gramer(&words);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("read from the file triangle, not the pattern of this name"), "{said}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["results"][0]["name"], "wedge");
    // A folder hides no name.
    fs::create_dir(folder.0.path().join("square")).unwrap();
    assert_eq!(folder.count("square", &[]), 0);
}

#[test]
fn rows_hold_what_the_document_does() {
    let folder = Folder::new();
    folder.file("g.lg", GRAPH);
    let document = folder.document(&["mine", "motif", "-k", "4", "g.lg", "--json"]);
    let csv = folder.gramer(&["mine", "motif", "-k", "4", "g.lg", "--output", "csv"]).stdout;
    let mut rows = csv::Reader::from_reader(&csv[..]);
    assert_eq!(
        rows.headers().unwrap(),
        ["pattern", "vertices", "edges", "form", "count"].as_slice()
    );
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let results = document["results"].as_array().unwrap();
    assert_eq!(rows.len(), results.len());
    for (row, result) in rows.iter().zip(results) {
        assert_eq!(&row[0], result["name"].as_str().unwrap());
        assert_eq!(row[4], result["count"].to_string());
        // The form is a pattern that can be asked for.
        let induced = ["--induced", "vertex"];
        assert_eq!(folder.count(&row[3], &induced).to_string(), row[4], "{row:?}");
    }
    // An answer without patterns has the same columns.
    let none = ["mine", "fsm", "--support", "1000", "g.lg", "--output", "csv"];
    let none = String::from_utf8(folder.gramer(&none).stdout).unwrap();
    assert_eq!(none, "pattern,vertices,edges,form,count\n");
    let per = ["mine", "clique", "-k", "3", "g.lg", "--per", "vertex", "--output", "csv"];
    let per = String::from_utf8(folder.gramer(&per).stdout).unwrap();
    assert_eq!(per, "vertex,triangle\n0,1\n1,1\n2,1\n3,0\n4,0\n");
    let lines = ["mine", "truss", "g.lg", "--per", "edge", "--output", "jsonl"];
    let lines = String::from_utf8(folder.gramer(&lines).stdout).unwrap();
    assert_eq!(lines.lines().count(), 5);
    let numbers = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let numbers = numbers.map(|row| {
        [&row["source"], &row["target"], &row["truss number"]].map(|n| n.as_u64().unwrap())
    });
    let expected = [[0, 1, 3], [0, 2, 3], [1, 2, 3], [2, 3, 2], [3, 4, 2]];
    assert_eq!(numbers.collect::<std::collections::BTreeSet<_>>(), expected.into());
    let estimate = ["mine", "match", "-p", "edge", "g.lg", "--estimate", "50%", "--output", "csv"];
    let estimate = String::from_utf8(folder.gramer(&estimate).stdout).unwrap();
    assert!(
        estimate.starts_with("pattern,vertices,edges,form,estimate,from,to,samples\nedge,2,1,0-1,"),
        "{estimate}"
    );
}
