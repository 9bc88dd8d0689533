//! What the reader remarks reaches programs as well as people, and ids above 2^53 keep their digits.

use assert_cmd::Command;

fn gramer() -> Command {
    Command::cargo_bin("gramer").unwrap()
}

/// Standard output of `mine`, which must succeed, given a graph.
fn mine(words: &[&str], graph: &str) -> String {
    let output = gramer().arg("mine").args(words).arg("-").write_stdin(graph).output().unwrap();
    assert!(output.status.success(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(words: &[&str], graph: &str) -> serde_json::Value {
    serde_json::from_str(&mine(&[words, &["--json"]].concat(), graph)).unwrap()
}

#[test]
fn notes_are_in_the_answer_for_programs() {
    let clique = ["clique", "-k", "3"];
    let table = "index,source,target\n0,1,2\n1,2,3\n2,1,3\n";
    let answer = json(&clique, table);
    assert_eq!(answer["total"], 1);
    assert_eq!(
        answer["notes"],
        serde_json::json!([
            "line 1, `index,source,target`, is taken as the names of the columns",
            "columns 2 and 3, `source` and `target`, are taken as the ends of the edges",
            "column 1 of the edge list is ignored",
        ])
    );
    let guessed = json(&clique, "0 7 1 2\n1 8 0\n2 7 0\n");
    let note = "read as arabesque (`id label neighbours…`); --format names another";
    assert_eq!(guessed["notes"], serde_json::json!([note]));
    assert!(json(&clique, "1 2\n2 3\n").get("notes").is_none());
}

#[test]
fn large_ids_keep_their_digits() {
    let graph = "9007199254740993 9007199254740995\n9007199254740995 7\n7 9007199254740993\n";
    let list = |words: &[&str]| {
        let words = [&["clique", "-k", "3", "--list", "-", "--to", "/dev/null"], words].concat();
        let output =
            gramer().arg("mine").args(&words).arg("-").write_stdin(graph).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let ids = |line: &str| -> Vec<serde_json::Value> {
        let line: serde_json::Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
        let mut ids = line["vertices"].as_array().unwrap().clone();
        ids.sort_by_key(|id| id.to_string());
        ids
    };
    let text = list(&["--counts", "string"]);
    let strings = serde_json::json!(["9007199254740993", "9007199254740995", 7]);
    assert_eq!(serde_json::Value::from(ids(&text)), strings, "{text}");
    assert!(!list(&[]).contains("\"9007199254740993\""));
    let per = ["clique", "-k", "3", "--per", "vertex", "--counts", "string"];
    let top = json(&per, graph)["per"]["columns"][0]["top"].clone();
    let vertices: Vec<String> =
        top.as_array().unwrap().iter().map(|entry| entry["vertex"].to_string()).collect();
    assert!(vertices.contains(&"\"9007199254740993\"".into()), "{vertices:?}");
    assert!(vertices.contains(&"7".into()), "{vertices:?}");
}
