//! Texts where numbers are usual: labels of `t`, `v` and `e` lines, triples, zeros in quotes; columns that are dropped.

mod common;

use std::path::Path;

use common::{pairs, parse, refused};
use gramer_base::Context;
use gramer_graph::read::{Columns, Format, GraphFile, ReadOptions, read_bytes};

/// Edges as `name:label name:label label`, sorted.
fn labelled(loaded: &GraphFile) -> Vec<String> {
    let graph = &loaded.graph;
    let view = graph.view();
    let end = |v: u32| {
        format!("{}:{}", graph.vertex_name(v), graph.vertex_label_name(view.vertex_label(v)))
    };
    let mut edges: Vec<String> = (0..graph.vertices() as u32)
        .flat_map(|u| view.neighbours(u).iter().filter(move |&&v| v > u).map(move |&v| (u, v)))
        .map(|(u, v)| {
            let label = view.edge_label(u, v).unwrap_or_default();
            format!("{} {} {}", end(u), end(v), graph.edge_label_name(label))
        })
        .collect();
    edges.sort();
    edges
}

#[test]
fn labels_of_one_graph_are_texts() {
    let text = "t # 0\nv 0 C\nv 1 N\nv 7 7\ne 0 1 single\ne 1 7 7\nt # -1\n";
    let read = parse(text);
    assert_eq!(read.format, Format::Lg);
    assert_eq!(labelled(&read), ["0:C 1:N single", "1:N 7:7 7"]);
    // A query set, with degrees; igraph's head.
    for head in ["t 3 2", "t 0 3"] {
        let tve = format!("{head}\nv 0 C 1\nv 1 N 2\nv 2 O 1\ne 0 1\ne 1 2\n");
        let read = parse(&tve);
        assert_eq!((read.format, read.graph.vertex_label_count()), (Format::Tve, 3), "{head}");
    }
    // The first text is behind what is looked at.
    let mut long = String::from("t # 0\n");
    (0..40_000).for_each(|v| long += &format!("v {v} 5\n"));
    long += "v 40000 last\ne 0 40000 1\n";
    let read = parse(&long);
    assert_eq!(labelled(&read), ["0:5 40000:last 1"]);
    assert!(
        read.notes[0].contains("line 40002, `v 40000 last`, has a label that is not a number"),
        "{:?}",
        read.notes
    );
    // Decimals on edges are weights, as among numbers.
    let weights = parse("t # 0\nv 0 C\nv 1 N\ne 0 1 0.5\n");
    assert!(
        !weights.graph.has_edge_labels() && weights.notes[0].contains("weights"),
        "{:?}",
        weights.notes
    );
}

#[test]
fn faults_of_texts_name_their_lines() {
    for (text, line, what) in [
        ("t # 0\nv 0 C\nv 0 N\n", 3, "vertex 0 is declared twice"),
        ("t # 0\nv 0 C\ne 0 1 x\n", 3, "an edge ends at vertex 1, but no `v` line declares it"),
        (
            "t # 0\nv 0 C\nv 1 C\nv 2 C\ne 0 1 x\ne 1 2\n",
            6,
            "the edge at line 5 has a label, but this one has none",
        ),
        ("t # 0\nv 0 C D\n", 2, "`D` is no degree: the vertex has several labels"),
        ("t # 0\nv 0 C 4\n", 2, "4 is not the degree of vertex 0, which is 0"),
        ("t # 0\nv 0 C\nx\n", 3, "is no line of `t`, `v` or `e`"),
        ("t # 0\nv 0 C\nv x C\n", 3, "not a whole number, where the number of a vertex should be"),
        ("2\na b likes\nb c\n", 3, "is no triple `head tail relation`"),
    ] {
        let message = refused(text);
        assert!(message.starts_with(&format!("g:{line}: ")) && message.contains(what), "{message}");
    }
    assert!(
        refused("t 2 2\nv 0 C 1\nv 1 C 1\ne 0 1\n")
            .contains("the head says 2 edges, but 1 follows")
    );
    assert!(refused("3\na b likes\nb c knows\n").contains("the head says 3 edges, but 2 follow"));
}

#[test]
fn triples_of_texts() {
    let read = parse("3\na b likes\nb c knows\nc a likes\n");
    assert_eq!((read.format, read.graph.edge_label_count()), (Format::Triples, 2));
    assert_eq!(labelled(&read), ["a:0 b:0 likes", "a:0 c:0 likes", "b:0 c:0 knows"]);
    assert!(
        read.notes.iter().any(|n| n == "columns 1 and 2 are the ends of an edge, 3 is its label")
    );
}

#[test]
fn zeros_in_quotes_make_names() {
    let read = parse("\"007\",\"008\"\n\"008\",\"009\"\n\"7\",\"007\"\n");
    assert_eq!((read.format, read.graph.vertices()), (Format::Table, 4));
    // Without such zeros quotes mean nothing, as R writes them.
    let read = parse("\"7\",\"8\"\n\"8\",\"9\"\n");
    assert_eq!((read.format, read.graph.names().vertices.is_none()), (Format::Edges, true));
    assert_eq!(parse("007,8\n8,7\n8,9\n").graph.vertices(), 3);
}

#[test]
fn lgl_with_and_without_weights() {
    for text in ["# a\nb\nc\n# b\nc\n# d\n", "# a\nb 0.5\nc 0.25\n# b\nc 1\n# d\n"] {
        let read = parse(text);
        assert_eq!(read.format, Format::Lgl, "{text:?}");
        assert_eq!((read.graph.vertices(), read.graph.edges()), (4, 3), "{text:?}");
    }
    // Comments of edge lists do not count.
    for text in [
        "# friends\na b\nb c\n",
        "# x\n1 2\n# y\n2 3\n",
        "# x\n1 2 3\n# y\n2 3 4\n",
        "# x\na,b\n# y\nb,c\n",
    ] {
        let read = parse(text);
        assert_ne!(read.format, Format::Lgl, "{text:?}");
    }
}

#[test]
fn two_lines_of_bits_are_edges_and_may_be_a_matrix() {
    let read = parse("0 1\n1 0\n");
    assert_eq!((read.graph.vertices(), read.graph.edges()), (2, 1));
    assert!(read.notes.iter().any(|n| n.contains("could be a matrix as well")), "{:?}", read.notes);
    assert!(!parse("0 1\n1 2\n").notes.iter().any(|n| n.contains("matrix")));
}

#[test]
fn matrices_have_names_with_blanks() {
    let read = parse(",n 0,n 1,n 2\nn 0,0,1,1\nn 1,1,0,0\nn 2,1,0,0\n");
    assert_eq!((read.format, read.graph.edges()), (Format::Matrix, 2));
    assert_eq!(read.graph.id_of_name("n 2"), Some(2));
}

#[test]
fn partitions_of_pajek_have_vertices_of_their_own() {
    let net = "*Vertices 3\n1 \"a\"\n2 \"b\"\n3 \"c\"\n*Edgeslist\n1 2 3\n*Partition kinds\n*Vertices 3\n1\n2\n1\n";
    let read = parse(net);
    assert_eq!((read.graph.vertices(), read.graph.edges()), (3, 2));
    assert!(
        read.notes.iter().any(|n| n.contains("the section `*partition` in line 7 is left out"))
    );
    let two = refused("*Vertices 1\n*Edges\n*Network x\n*Vertices 1\n");
    assert!(two.contains("one file is one graph"), "{two}");
}

fn with(text: &str, columns: Columns) -> Result<GraphFile, String> {
    let options = ReadOptions { columns, ..ReadOptions::default() };
    read_bytes(Path::new("g.csv"), text.into(), &options, &Context::default())
        .map_err(|e| e.to_string())
}

#[test]
fn weights_and_times_are_named_and_dropped() {
    let text = "from,to,w,relation\nann,bob,1.5,2001\nbob,eve,NA,2002\nann,eve,,2003\n";
    let named = |weight: Option<&str>, time: Option<&str>| Columns {
        weight: weight.map(String::from),
        time: time.map(String::from),
        ..Columns::default()
    };
    let read = with(text, named(Some("w"), Some("relation"))).unwrap();
    assert!(!read.graph.has_edge_labels());
    assert_eq!(
        read.notes,
        [
            "line 1 names the columns: `from` and `to` are the ends of an edge, `w` is its weight, which is dropped, \
          `relation` is its time, which is dropped"
        ]
    );
    // By itself that name is the one of a label.
    assert!(parse(text).graph.has_edge_labels());
    let numbers = with("1 2 0.5\n2 3 1e3\n", named(Some("3"), None)).unwrap();
    assert!(
        numbers.graph.names().vertices.is_none() && numbers.notes[0].contains("3 is its weight")
    );
    let none = with(text, named(Some("relation"), None))
        .and_then(|_| with(&text.replace("2002", "x"), named(Some("relation"), None)));
    assert!(none.unwrap_err().contains("g.csv:3: the weight `x` is no number"));
    for (columns, what) in [
        (
            named(Some("cost"), None),
            "the setting `weight` is `cost`, but no column is called so: they are `from`, `to`",
        ),
        (named(None, Some("to")), "is named as weight or time, and can't be an end"),
    ] {
        let message = with(text, columns).unwrap_err();
        assert!(message.contains(what), "{message}");
    }
    let graphml = with("*Vertices 2\n*Edges\n1 2\n", named(Some("w"), None)).unwrap_err();
    assert_eq!(
        graphml,
        "g.csv: the setting `weight` names a column of a table, but the format is pajek"
    );
}

#[test]
fn attributes_are_labels_by_name() {
    let json = r#"{"nodes": [{"id": 1, "element": "C", "type": "x"}, {"id": 2, "element": "N"}, {"id": 3}],
        "links": [{"source": 1, "target": 2, "bond": "single", "label": "a"}, {"source": 2, "target": 3}]}"#;
    let gml = r#"graph [ node [ id 1 element "C" type "x" ] node [ id 2 element "N" ] node [ id 3 ]
        edge [ source 1 target 2 bond "single" label "a" ] edge [ source 2 target 3 ] ]"#;
    let graphml = r#"<graphml><key id="k" for="node" attr.name="element"/><key id="b" for="edge" attr.name="bond"/><graph>
        <node id="1"><data key="k">C</data><data key="type">x</data></node><node id="2"><data key="k">N</data></node><node id="3"/>
        <edge source="1" target="2"><data key="b">single</data><data key="label">a</data></edge><edge source="2" target="3"/>
        </graph></graphml>"#;
    let gexf = r#"<gexf><graph><nodes><node id="1"><attvalue for="element" value="C"/><attvalue for="type" value="x"/></node>
        <node id="2"><attvalue for="element" value="N"/></node><node id="3"/></nodes><edges><edge source="1" target="2" label="a">
        <attvalue for="bond" value="single"/></edge><edge source="2" target="3"/></edges></graph></gexf>"#;
    let named = |vertex: Option<&str>, edge: Option<&str>| Columns {
        label: vertex.map(String::from),
        edge_label: edge.map(String::from),
        ..Columns::default()
    };
    for text in [json, gml, graphml, gexf] {
        let read = with(text, named(Some("element"), Some("bond"))).unwrap();
        let names = |labels: &[u32]| {
            labels.iter().map(|&l| read.graph.vertex_label_name(l).to_string()).collect::<Vec<_>>()
        };
        let labels: Vec<u32> = (0..3).map(|v| read.graph.view().vertex_label(v)).collect();
        assert_eq!(names(&labels), ["C", "N", ""], "{text}");
        let bond = read.graph.view().edge_label(0, 1).unwrap();
        assert_eq!(read.graph.edge_label_name(bond).to_string(), "single", "{text}");
        assert!(
            read.notes.iter().any(|note| note
                == "the attribute `label` of edges is left out: their labels are `bond`")
        );
        assert!(read.notes.iter().any(|note| note
            == "the attribute `type` of vertices is left out: their labels are `element`"));
        let absent = with(text, named(Some("job"), None)).unwrap_err();
        assert_eq!(
            absent, "g.csv: vertices have no attribute `job`, but `type`, `element`",
            "{text}"
        );
        let absent = with(text, named(None, Some("kind"))).unwrap_err();
        assert_eq!(absent, "g.csv: edges have no attribute `kind`, but `label`, `bond`", "{text}");
    }
    let table = with("1 2\n2 3\n", named(Some("job"), None)).unwrap_err();
    let what = "names an attribute of vertices, or a column of the setting `vertex_table`, but the format is edges: \
                name a table of vertices there, or a column of labels of edges with the setting `edge_label`";
    assert_eq!(table, format!("g.csv: the setting `label` {what}"));
}

#[test]
fn json_of_other_libraries() {
    for text in [
        r#"{"nodes": [{"id": 1}, {"id": 2}, {"id": 3}], "edges": [{"from": 1, "to": 2}, {"from": 2, "to": 3}]}"#,
        r#"{"nodes": [{"key": "1"}, {"key": "2"}, {"key": "3"}], "edges": [{"source": "1", "target": "2"},
            {"source": "2", "target": "3"}]}"#,
        r#"{"nodes": [{"id": 1}, {"id": 2}, {"id": 3}], "links": [{"source": {"id": 1, "x": 0.5}, "target": {"id": 2}},
            {"source": 2, "target": 3}]}"#,
        r#"{"elements": [{"data": {"id": "1"}}, {"data": {"id": "2"}}, {"data": {"id": "3"}},
            {"data": {"source": "1", "target": "2"}}, {"data": {"source": "2", "target": "3"}}]}"#,
    ] {
        let read = with(text, Columns::default()).unwrap();
        assert_eq!(pairs(&read), [(1, 2), (2, 3)], "{text}");
    }
}
