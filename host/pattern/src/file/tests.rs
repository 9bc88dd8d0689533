use super::*;

fn parse(text: &str) -> Result<Pattern> {
    parse_pattern(text.as_bytes(), Path::new("q.graph"))
}

fn message(text: &str) -> String {
    parse(text).expect_err("the pattern is wrong").to_string()
}

#[test]
fn all_forms_say_the_same() {
    let mut expected = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    expected.set_edge_label(0, 1, 7);
    expected.set_edge_label(1, 2, NO_LABEL);
    for (i, label) in [5, NO_LABEL, 9].into_iter().enumerate() {
        expected.set_vertex_label(i, label);
    }
    let lines = "t 3 2\nv 0 5 1\nv 1 * 2\nv 2 9 1\ne 0 1 7\ne 1 2 -1\n";
    assert_eq!(parse(lines).unwrap(), expected);
    assert_eq!(parse(&lines.replace('\n', "\r\n")).unwrap(), expected);
    let yaml = "vertices: 3\nedges: [[0, 1], [1, 2]]\nlabels: [5, null, 9]\nedge_labels: [7, null]";
    assert_eq!(parse(yaml).unwrap(), expected);
    let json = serde_json::to_string(&expected).unwrap();
    assert_eq!(parse(&json).unwrap(), expected);
    let entry = format!("{{\"pattern\": {json}, \"name\": \"wedge\", \"count\": 12}}");
    assert_eq!(parse(&entry).unwrap(), expected);
    let plain = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    assert_eq!(parse("# a wedge\na-b\nb-c\n").unwrap(), plain);
    assert!(
        message("a-b\nb-").ends_with("the name of a vertex is missing"),
        "{}",
        message("a-b\nb-")
    );
    let counts = message("3 2\n0 1\n1 2\n");
    assert!(counts.starts_with("q.graph:1: `3 2` reads as an edge but is the numbers"), "{counts}");
    assert_eq!(parse("# a wedge\n10 20\n20,30\n").unwrap(), plain);
}

#[test]
fn a_pattern_with_some_labels_survives_its_json() {
    // Only some edges have a label, and one comes before an edge without.
    for text in ["e 0 1 2\ne 1 2\nv 0\nv 1\nv 2\n", "0 2\n 00,20 2\n1,20 2\n1, 2"] {
        let pattern = parse(text).unwrap();
        let json = serde_json::to_string(&pattern).unwrap();
        assert_eq!(parse(&json).unwrap(), pattern, "{json}");
    }
    let pattern = parse("0 1 2\n1 2\n").unwrap();
    let json = serde_json::to_value(&pattern).unwrap();
    assert_eq!(json["edges"].to_string(), "[[0,1],[1,2]]");
    assert_eq!(json["edge_labels"].to_string(), "[2,null]");
    // Edges after the labels have no label, in any order.
    let mut later = Pattern::from_edges(3, &[(0, 1)]);
    later.set_edge_label(0, 1, 2);
    later.add_edge(1, 2);
    assert_eq!(later, pattern);
}

#[test]
fn what_is_cut_off_or_too_much_is_refused() {
    let cut = message("t 5 9\nv 0 1\nv 1 1\ne 0 1\n");
    assert!(cut.starts_with("q.graph:1: the head says 5 vertices and 9 edges, but 2 `v`"), "{cut}");
    assert_eq!(message("v 0 1 2 3 4 5\n"), "q.graph:1: `3` is too much");
    assert_eq!(message("v 0 1\nv 1 1\ne 0 1 2 3\n"), "q.graph:3: `3` is too much");
    assert!(message("v 0 1 x\n").contains("`x` is not a degree"));
    assert!(message("t 1\nv 0 1\n").starts_with("q.graph:1: `t 1` is not a head of a pattern"));
    assert!(message("t # 1\nv 0 1\nt # -1\nv 1 1\n").starts_with("q.graph:4: a pattern ends"));
    assert!(parse("t # 1\nv 0 1\nt # -1\n").is_ok());
    assert!(parse("t 0 2\nv 0 1\nv 1 1\ne 0 1\n").is_ok());
    let long = format!("0 {}\n", "7".repeat(10 << 20));
    assert!(message(&long).len() < 200);
    assert!(message(&"0 1 2 3 ".repeat(1 << 17)).len() < 200);
    assert!(message(&"{a: ".repeat(1 << 10)).contains("nested more than"));
}

#[test]
fn names_serve_where_there_is_no_file() {
    let cancel = gramer_base::context::Cancel::default();
    let read = |name: &str| crate::read_pattern(Path::new(name), &cancel);
    assert_eq!(read("triangle").unwrap().pattern, Pattern::clique(3));
    for (name, what) in [
        ("trangle", "no such file, and no pattern has this name; did you mean triangle?"),
        ("K40", "no pattern has this name; a pattern has at most 32 vertices"),
        ("33-path", "no pattern has this name; a pattern has at most 32 vertices"),
        ("K33,3", "no pattern has this name; a pattern has at most 32 vertices"),
        ("K20,20", "no pattern has this name; a pattern has at most 32 vertices"),
        ("a=b", "no pattern has this name; in one line, edges are written a-b, b-c, c-a"),
    ] {
        let fault = read(name).unwrap_err().to_string();
        assert!(fault.contains(what), "{fault}");
    }
}

#[test]
fn wrong_patterns_say_what_is_wrong_and_where() {
    assert_eq!(message(""), "q.graph: the pattern is empty");
    assert_eq!(message("# nothing\n"), "q.graph: the pattern is empty");
    assert!(
        message("{vertices: 2, edges: [[0, 1]], absent: [[0, 1]]}")
            .contains("not a pair of `absent`")
    );
    let path: String = (0..32).map(|i| format!("{i} {}\n", i + 1)).collect();
    assert_eq!(message(&path), "q.graph: the pattern has 33 vertices, but at most 32 are possible");
    assert_eq!(message("t 2 1\nv 0 1\nv 0 2\n"), "q.graph:3: vertex 0 is repeated");
    assert_eq!(message("v 0 1\ne 0 4\n"), "q.graph:2: vertex 4 isn't declared by a `v` line");
    assert_eq!(message("0 0\n"), "q.graph:1: the edge 0 0 is a loop");
    assert_eq!(message("0 1\n1 0\n"), "q.graph:2: the edge 1 0 is repeated");
    assert_eq!(
        message("0 x\n"),
        "q.graph:1: `x` is not a vertex: a number from 0 on; write edges between names as `a-b`"
    );
    assert_eq!(message("v x 0\n"), "q.graph:1: `x` is not a vertex: a number from 0 on");
    assert_eq!(message("0 -1\n"), "q.graph:1: `-1` is not a vertex: a number from 0 on");
    assert!(message("0 1 4294967295\n").contains("is not a label"));
    assert!(message("v 0 1\nw 1\n").contains("is not a kind of line"));
    assert!(message("0 1 2 3\n").contains("is not an edge"));
    assert_eq!(message("0\n"), "q.graph:1: `0` ends too early");
    assert!(message("{vertices: 2, edges: [[0, 2]]}").contains("isn't there"));
    assert!(message("{vertices: 2, edges: [[0, 1]], labels: [1]}").contains("2 entries"));
    assert!(message("{vertices: 99, edges: []}").contains("99 vertices"));
    assert!(message("{vertices: 2, edgs: []}").contains("edgs"));
    assert!(message("v 0 1\nv 1 1\ne 0 1\nt 1\n").starts_with("q.graph:4: a second pattern"));
    assert_eq!(
        parse_pattern(&[0xff, 0xfe], Path::new("q")).unwrap_err().to_string(),
        "q: this is not text"
    );
}

#[test]
fn numbers_behind_labels_are_degrees() {
    // Query files of TurboFlux and its kin.
    let turbo = parse("t # 0 0\nv 0 0 -1\nv 1 1 -1\ne 0 1 5\n").unwrap();
    assert_eq!((turbo.vertex_label(0), turbo.edge_label(0, 1)), (0, Some(5)));
    assert!(parse("v 0 3 1\nv 1 3 1\ne 0 1\n").is_ok());
    for text in ["v 0 3 4\nv 1 3 1\ne 0 1\n", "v 0 3,4\nv 1 3\ne 0 1\n"] {
        let said = "q.graph:1: the degree of vertex 0 is given as 4, but 1 edge ends there: write 1; if the number is a second \
                    label, keep one label";
        assert_eq!(message(text), said);
    }
}

#[test]
fn labels_of_files_are_texts_of_a_graph() {
    let names = |texts: &[&str]| {
        let mut interner = gramer_graph::names::Interner::default();
        texts.iter().for_each(|text| _ = interner.number(text.as_bytes()).unwrap());
        interner.finish()
    };
    let (vertex, edge) = (names(&["N", "7", "C"]), names(&["double", "single"]));
    for text in [
        "t # 0\nv 0 C\nv 1 7\nv 2 *\ne 0 1 single\ne 1 2\n",
        "vertices: 3\nedges: [[0, 1], [1, 2]]\nlabels: [C, 7, null]\nedge_labels: [single, null]",
    ] {
        let (pattern, labels) = parse_file(text.as_bytes(), Path::new("q")).unwrap();
        let input = PatternInput { pattern, labels, origin: Origin::File, other: None };
        let resolved = input.resolve(Some(&vertex), Some(&edge)).unwrap();
        // 7 is a text of the graph, whose number is 1.
        assert_eq!(resolved.vertex_labels(), [2, 1, NO_LABEL], "{text}");
        assert_eq!(resolved.edge_label(0, 1), Some(1), "{text}");
        let unknown = message(text);
        assert!(unknown.contains("the pattern asks for the"), "{unknown}");
    }
    assert!(message("vertices: 1\nedges: []\nlabels: [[]]").contains("a number, a text or null"));
    assert!(message("vertices: 1\nedges: []\nlabels: [4294967295]").contains("out of range"));
}
