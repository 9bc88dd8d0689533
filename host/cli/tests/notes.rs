//! What the reader remarks reaches programs as well as people, and ids above 2^53 keep their digits.

use assert_cmd::Command;

/// The program in a locale that has the characters of tables.
fn gramer() -> Command {
    let mut gramer = Command::cargo_bin("gramer").unwrap();
    gramer.env("LC_ALL", "C.UTF-8").env_remove("TERM");
    gramer
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

/// Files of other programs, with counts of NetworkX, igraph and brute force.
#[test]
fn files_of_other_programs() {
    for (text, format, triangles) in [
        ("0 1 2\n1 0 2\n2 0 1 3\n3 2\n", "adjlist", 1),
        ("0,1,1,0\n1,0,1,0\n1,1,0,1\n0,0,1,0\n", "matrix", 1),
        ("p edge 5 6\ne 1 2\ne 2 3\ne 1 3\ne 3 4\ne 4 5\ne 3 5\n", "dimacs", 2),
        (">>graph6<<C~\n", "graph6", 4),
        ("{\"nodes\": [{\"id\": 1}, {\"id\": 2}], \"links\": []}", "node-link", 0),
    ] {
        let answer = json(&["clique", "-k", "3"], text);
        let own = (&answer["total"], &answer["graph"]["format"]);
        assert_eq!(own, (&triangles.into(), &format.into()), "{text}");
    }
    let wedges = mine(&["motif", "-k", "3"], "8 7\n0 1\n0 2\n0 3\n0 4\n4 5\n5 6\n6 7\n");
    assert!(wedges.contains("0-1 0-2     ┆     9 │"), "{wedges}");
    let three = "t # 0\nv 0 1\nv 1 2\nv 2 4\ne 0 1 7\ne 1 2 8\nt # 1\nv 0 2\nv 1 4\nv 2 5\ne 0 1 8\ne 0 2 9\n\
                 t # 2\nv 0 1\nv 1 2\nv 2 4\ne 0 1 7\ne 1 2 8\ne 0 2 9\nt # -1\n";
    let found =
        mine(&["fsm", "--measure", "transactions", "--support", "2", "--max-edges", "7"], three);
    for line in [
        "edge[2,4]{8}      ┆        2 ┆ 0-1     ┆       3",
        "edge[1,2]{7}      ┆        2 ┆ 0-1     ┆       2",
    ] {
        assert!(found.contains(line), "{found}");
    }
    assert!(found.contains("wedge[4,1,2]{8,7} ┆        3 ┆ 0-2 1-2 ┆       2"), "{found}");
    assert_eq!(found.matches('┆').count(), 4 * 3, "{found}");
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
