//! What the formats of tools say in their own ways: names, labels, claims, and faults with their lines.

mod common;

use common::{pairs, parse, parse_named, refused};
use gramer_graph::read::{Format, GraphFile};

/// Vertices as `name` or `name:label`, in their order.
fn vertices(loaded: &GraphFile) -> Vec<String> {
    let graph = &loaded.graph;
    let shown = |v: u32| match graph.has_vertex_labels() {
        true => {
            let label = graph.vertex_label_name(graph.view().vertex_label(v));
            format!("{}:{label}", graph.vertex_name(v))
        }
        false => graph.vertex_name(v).to_string(),
    };
    (0..graph.vertices() as u32).map(shown).collect()
}

/// Edges as `name-name` or `name-name:label`, sorted.
fn edges(loaded: &GraphFile) -> Vec<String> {
    let graph = &loaded.graph;
    let mut edges = vec![];
    for u in 0..graph.vertices() as u32 {
        for &v in graph.view().neighbours(u).iter().filter(|&&v| v > u) {
            let ends = format!("{}-{}", graph.vertex_name(u), graph.vertex_name(v));
            let label = graph.view().edge_label(u, v).filter(|_| graph.has_edge_labels());
            edges.push(match label {
                Some(label) => format!("{ends}:{}", graph.edge_label_name(label)),
                None => ends,
            });
        }
    }
    edges.sort();
    edges
}

fn notes(loaded: &GraphFile, part: &str) -> bool {
    loaded.notes.iter().any(|note| note.contains(part))
}

#[test]
fn drawn_tables_have_the_rows_between_their_lines() {
    let read = parse(
        "# People\n| from | to | label |\n|-|:-:|--|\n| a \\| b | c, \"d\" | 7 |\n| #e | a \\| b | 8 |\n",
    );
    assert_eq!(read.format, Format::Markdown);
    assert_eq!(edges(&read), ["a | b-#e", "a | b-c, \"d\""]);
    assert_eq!(read.graph.edges(), 2);
    let wide =
        parse("source       target\n-----------  ------\nAda L.       Bob\nBob          Carl E.\n");
    assert_eq!(edges(&wide), ["Ada L.-Bob", "Bob-Carl E."]);
    let cut = "| from | to |\n|---|---|\n| a | b |\n| … | … |\n";
    assert!(refused(cut).contains("4: rows are left out here"), "{}", refused(cut));
    let text = "| from | to |\n|---|---|\n| a | b |\nand so on\n";
    assert!(
        refused(text).contains("4: `and so on` is no row of the drawn table"),
        "{}",
        refused(text)
    );
    for (names, rows) in
        [("u  v\n-  -\n", "1  2\n"), ("from one  to\n--------  --\n", "1         2\n")]
    {
        let read = parse(&format!("{names}{rows}"));
        assert_eq!((read.format, edges(&read)), (Format::Markdown, vec!["1-2".to_string()]));
    }
    // A table whose names are dashes stays one.
    assert_eq!(parse("from to\na b\n- -\nb c\n").format, Format::Table);
    assert_eq!(parse("source\ttarget\n---\ta\na\tb\n").format, Format::Table);
}

#[test]
fn a_matrix_in_quotes_is_one() {
    let text = "\"\",\"a\",\"b\",\"c\"\n\"a\",\"0\",\"1\",\"1\"\n\"b\",\"1\",\"0\",\"0\"\n\"c\",\"1\",\"0\",\"0\"\n";
    let read = parse(text);
    assert_eq!(read.format, Format::Matrix);
    assert_eq!(edges(&read), ["a-b", "a-c"]);
}

#[test]
fn cytoscape_s_table_of_edges_is_refused_with_a_way_out() {
    let text = "SUID,interaction,name,shared interaction,shared name\n5,pp,A (pp) B,pp,A (pp) B\n6,pp,B (pp) C,pp,B (pp) C\n";
    assert!(refused(text).contains("export the network as GraphML or .cyjs"), "{}", refused(text));
}

#[test]
fn graphml_of_several_tools() {
    // yEd: keys without names, nested graphs, ports, CDATA; a default.
    let text = r#"<?xml version="1.0"?>
<!-- by hand -->
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
 <key id="k" for="node" attr.name="type"><default>none</default></key>
 <key id="w" for="edge" attr.name="weight"/>
 <key id="g" for="node" yfiles.type="nodegraphics"/>
 <graph edgedefault="directed">
  <node id="a"><data key="k"><![CDATA[<x>]]></data><data key="g"><y:Label>A</y:Label></data><port name="p"/></node>
  <node id="g"><graph id="g:" edgedefault="directed"><node id="b &amp; c"/></graph></node>
  <edge source="a" target="b &amp; c"><data key="w">2</data></edge>
  <edge source="b &amp; c" target="g" directed="false"/>
 </graph>
</graphml>
"#;
    let read = parse(text);
    assert_eq!(read.format, Format::GraphMl);
    assert_eq!(vertices(&read), ["a:<x>", "b & c:none", "g:none"]);
    assert_eq!(edges(&read), ["a-b & c", "b & c-g"]);
    assert!(
        notes(&read, "direction is dropped")
            && notes(&read, "attributes of edges are left out: `weight`")
    );
    assert!(notes(&read, "the attribute `type` is taken as the label of vertices"));
    // Texts of yEd's shapes.
    let shape = |name: &str| {
        format!("<y:ShapeNode><y:NodeLabel x=\"1\"> {name} </y:NodeLabel></y:ShapeNode>")
    };
    let yed = text.replace("<y:Label>A</y:Label>", &shape("Ada"));
    let yed = yed.replace(
        "<graph id=\"g:\"",
        &format!("<data key=\"g\">{}</data><graph id=\"g:\"", shape("Group")),
    );
    let yed = yed.replace(
        "&amp; c\"/></graph>",
        &format!("&amp; c\"><data key=\"g\">{}</data></node></graph>", shape("Bob")),
    );
    let yed = parse(&yed);
    assert_eq!(vertices(&yed), ["Ada:<x>", "Bob:none", "Group:none"]);
    assert!(!notes(&yed, "attributes of vertices are left out: `g`"), "{:?}", yed.notes);
    // igraph's names.
    let igraph = parse(&std::fs::read_to_string("tests/formats/graphml-igraph").unwrap());
    assert_eq!(vertices(&igraph), ["Ada", "B & C", "Carl", "Dora", "e"]);
    assert!(notes(&igraph, "vertices are called by their attribute `name`"));
    for (from, to, line, what) in [
        ("<node id=\"a\">", "<node>", 8, "`<node>` has no attribute `id`"),
        ("target=\"g\"", "target=\"z\"", 11, "an edge goes to `z`, which is not a declared vertex"),
        ("<node id=\"g\">", "<node id=\"a\">", 9, "vertex `a` is declared twice, first at line 8"),
        ("<port name=\"p\"/>", "<hyperedge/>", 8, "the graph has a hyperedge"),
        ("b &amp; c\"/></graph>", "b &bad; c\"/></graph>", 9, "no well-formed XML"),
        ("</graph>\n</graphml>", "</graphml>", 12, "no well-formed XML"),
        ("</graph>\n</graphml>", "</graph><graph/>\n</graphml>", 12, "a second graph begins here"),
    ] {
        let message = refused(&text.replacen(from, to, 1));
        assert!(message.starts_with(&format!("g:{line}: ")) && message.contains(what), "{message}");
    }
}

#[test]
fn gexf_claims_and_values() {
    let text = r#"<gexf version="1.3"><graph defaultedgetype="undirected">
<attributes class="node"><attribute id="0" title="type" type="string"/></attributes>
<nodes count="2">
 <node id="0" label="Ada"><attvalues><attvalue for="0" value="x"/></attvalues></node>
 <node id="1" label="Bob"><attvalues><attvalue for="0" value="y"/></attvalues></node>
</nodes>
<edges count="1"><edge id="0" source="0" target="1" weight="3" label="likes"/></edges></graph></gexf>
"#;
    let read = parse(text);
    assert_eq!(
        (vertices(&read), edges(&read)),
        (vec!["Ada:x".into(), "Bob:y".into()], vec!["Ada-Bob:likes".into()])
    );
    let message = refused(&text.replace("edges count=\"1\"", "edges count=\"5\""));
    assert!(message.contains("the head says 5 edges, but 1 follows"), "{message}");
    assert!(
        refused(&text.replace("nodes count=\"2\"", "nodes count=\"3\""))
            .contains("3 vertices, but 2 follow")
    );
}

#[test]
fn gml_of_several_tools() {
    let text = "Creator \"x\"\ngraph [\n directed 1\n # a comment ]\n node [ id 7 label \"R&D &#233;&quot;\" graphics [ x 1.5 ] ]\n \
                node [ id 8 label \"b\" ]\n edge [ source 7 target 8 value -1.5e3 ]\n]\n";
    let read = parse(text);
    assert_eq!(vertices(&read), ["R&D é\"", "b"]);
    assert!(
        notes(&read, "direction is dropped")
            && notes(&read, "of vertices are left out: `graphics`")
    );
    let igraph = parse(&std::fs::read_to_string("tests/formats/gml-igraph").unwrap());
    assert_eq!(vertices(&igraph)[..2], ["Ada", "B & C"]);
    // Labels that aren't different are labels.
    let same = parse(&text.replace("\"b\"", "\"R&D &#233;&quot;\""));
    assert_eq!(vertices(&same), ["7:R&D é\"", "8:R&D é\""]);
    for (from, to, line, what) in [
        ("source 7 ", "", 7, "an edge without `source` or `target` ends here"),
        ("id 7 ", "", 5, "a node without `id` ends here"),
        ("\"b\"", "\"b", 6, "a text in quotes has no end"),
        ("]\n]\n", "]\n", 8, "the file ends within the list `graph`"),
        ("target 8", "target 9", 7, "an edge goes to `9`"),
        ("]\n]\n", "]\n]\ngraph [ ]\n", 9, "a second graph begins here"),
    ] {
        let message = refused(&text.replacen(from, to, 1));
        assert!(message.starts_with(&format!("g:{line}: ")) && message.contains(what), "{message}");
    }
}

#[test]
fn pajek_in_all_its_sections() {
    let text = "% c\n*Network x\n*Vertices 5 2\n1 \"a \"b\" c\" 0.1 0.2 ellipse type \"big one\"\n2 b\n3 \"c\"\n4 d\n5 e\n\
                *Arcs :1 \"advises\"\n1 2 1\n*Edges\n2 3 1 l \"likes\"\n*Arcslist\n4 1 2\n*Partition p\n1\n";
    let read = parse(text);
    assert_eq!(vertices(&read)[0], "a \"b\" c:big one");
    assert_eq!(edges(&read)[0], "a \"b\" c-b:advises");
    assert!(edges(&read).contains(&"b-c:likes".to_string()) && edges(&read).len() == 4);
    assert!(notes(&read, "the section `*partition` in line 15 is left out"));
    assert!(
        notes(&read, "the first 2 vertices are of one") && notes(&read, "direction is dropped")
    );
    let matrix = parse("*Vertices 3\n*Matrix\n0 1 0\n1 0 1\n0 1 0\n");
    assert_eq!(pairs(&matrix), [(1, 2), (2, 3)]);
    assert!(
        refused("*Vertices 3\n*Matrix\n0 1 0\n1 0 1\n")
            .contains("the matrix has 2 rows, but 3 vertices")
    );
    assert!(
        refused("*Vertices 3\n*Edges\n1 4\n")
            .starts_with("g:3: vertex 4 is out of range: line 1 says 3")
    );
    assert!(refused("*Vertices 3000000\n*Edges\n1 2\n").contains("3000000 vertices are declared"));
    assert!(notes(&parse("*Vertices 2\n1 a\n"), "no section of edges follows"));
    // NetworkX writes tabs within names, and no quotes around these.
    let text =
        "*vertices 2\n1 a\tb 0.0 0.0 ellipse\n2 c\t7 0.0 0.0 ellipse\n*edges\n1 2 1.0 l x\ty\n";
    let tabs = parse(text);
    assert_eq!(
        (vertices(&tabs), edges(&tabs)),
        (vec!["a\tb".into(), "c\t7".into()], vec!["a\tb-c\t7:x\ty".into()])
    );
    let parted = parse("*Vertices 2\n1\ta\t0.1\t0.2\tbox\n2\tb\n*Edges\n1\t2\t1\n");
    assert_eq!(edges(&parted), ["a-b"]);
    let vertical = parse("*Vertices 2\n1\u{b}\"a\" \u{b} 0.1 0.2\u{b}\n2 b\n*Edges\n1\u{b}2\n");
    assert_eq!(vertical.graph.edges(), 1);
    let blanks = parse("*Vertices 2\n1 New York 0.1 0.2\n2 b\n*Edges\n1 2\n");
    assert!(notes(
        &blanks,
        "`York` behind a label in line 2 is left out: a label with blanks belongs in quotes"
    ));
    assert!(refused("*Vertices 2\n1 \"two\nlines\"\n*Edges\n1 2\n").starts_with("g:2: a quote"));
}

#[test]
fn trivial_graph_format() {
    // Different texts are names, others are labels.
    let read = parse("1 First node\n2 Second\n3\tThird\n\n#\n1 2  is next to\n3 1\n");
    assert_eq!(read.format, Format::Tgf);
    assert_eq!(vertices(&read), ["First node", "Second", "Third"]);
    assert_eq!(edges(&read), ["First node-Second:is next to", "First node-Third:"]);
    let same = parse("a x\nb x\r\nc\n#\r\na b 7\nb c 8\n");
    assert_eq!(vertices(&same), ["a:x", "b:x", "c:"]);
    assert_eq!(edges(&same), ["a-b:7", "b-c:8"]);
    let bare = parse("1 5\n2 6\n#\n1 2\n");
    assert_eq!((bare.format, pairs(&bare)), (Format::Tgf, vec![(5, 6)]));
    assert!(notes(&bare, "read as tgf (vertices, a line `#`, and edges between them)"));
    assert!(!notes(&read, "read as tgf"));
    // One quote in front of the line `#`.
    assert_eq!(edges(&parse("1 5\" pipe\n2 valve\n#\n1 2\n")), ["5\" pipe-valve"]);
    let alone = parse_named("g.tgf", "7 x\n9 x\n#\n", None).unwrap();
    assert!(notes(&alone, "no edge follows the line `#`"));
    assert_eq!(vertices(&alone), ["7:x", "9:x"]);
    assert!(notes(&parse("1\n2\n#\n1 2"), "the last line does not end with a newline"));
    // An empty comment within an edge list.
    assert_eq!(parse("1 2\n2 3\n#\n").format, Format::Edges);
    for (text, message) in [
        (
            "1 a\n2 b\n1 c\n#\n1 2\n",
            "g.tgf:3: vertex `1` is declared twice, first at line 1; give each its own id",
        ),
        ("1 a\n2 b\n#\n1 2\n1 3\n", "g.tgf:5: an edge goes to `3`, which is not a declared"),
        ("1 a\n2 b\n#\n1 2\n1\n", "g.tgf:5: `1` is not an edge: `source target text`"),
        ("1 a\n2 b\n#\n1 2\n#\n", "g.tgf:5: a second `#`, after line 3: one file is one graph"),
        ("1 a\n# b\n#\n", "g.tgf:2: the `#` between vertices and edges stands alone"),
        ("1 a\n2 b\n", "g.tgf: holds no line `#` between vertices and edges"),
    ] {
        let error = parse_named("g.tgf", text, None).map(|read| read.format).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
    // By the content alone, a damaged file may be an edge list.
    let doubt = "g:5: an edge goes to `4`, which is not a declared vertex: the file may be cut off; each end of an edge is \
                 the id of a vertex (read as tgf; the \
                 setting `format` names another)";
    assert_eq!(refused("1 2\n2 3\n3 4\n#\n4 1\n"), doubt);
}

#[test]
fn dimacs_of_three_challenges() {
    // Each edge in both directions, counted once.
    assert_eq!(pairs(&parse("p col 3 2\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n")), [(1, 2), (2, 3)]);
    let long = format!("{}p edge 3 1\ne 1 2\n", "c a comment\n".repeat(60_000));
    assert_eq!((parse(&long).format, pairs(&parse(&long))), (Format::Dimacs, vec![(1, 2)]));
    let flow = parse("p max 3 2\nn 1 s\nn 3 t\na 1 2 5\na 2 3 5\n");
    assert!(notes(&flow, "values of vertices are left out, the first in line 2"));
    assert!(notes(&flow, "weights of edges are left out") && notes(&flow, "direction is dropped"));
    for (text, message) in [
        ("p edge 3 5\ne 1 2\n", "the head says 5 edges, but 1 follows"),
        ("p edge 3 1\ne 1 4\n", "g:2: vertex 4 is out of range"),
        ("p edge 3 1\ne 0 1\n", "g:2: vertex 0 is out of range"),
        ("p edge 3 1\ne 1\n", "g:2: the number of a vertex is missing"),
        ("p edge 3 1\nx 1 2\ny 1 2\n", "g:3: `y 1 2` is not a line of DIMACS"),
        ("p edge 2 1\ne 1 2\np edge 2 1\n", "g:3: a second problem line, after line 1"),
        ("p edge 4000000000 1\ne 1 2\n", "4000000000 vertices are declared, but at most 1048576"),
    ] {
        assert!(refused(text).contains(message), "{}", refused(text));
    }
    let forced =
        parse_named("g", "e 1 2\n", Some(Format::Dimacs)).map(|read| read.format).unwrap_err();
    assert!(forced.to_string().contains("stands in front of the problem line"));
}

#[test]
fn graph6_and_sparse6_with_and_without_heads() {
    // nauty's examples.
    assert_eq!(pairs(&parse(">>graph6<<DQc\n")), [(0, 2), (0, 4), (1, 3), (3, 4)]);
    assert_eq!(pairs(&parse_named("g.g6", "DQc\n", None).unwrap()).len(), 4);
    let sparse = parse_named("g.s6", ":Fa@x^\n", None).unwrap();
    assert_eq!(pairs(&sparse), [(0, 1), (0, 2), (1, 2), (5, 6)]);
    assert_eq!(sparse.graph.vertices(), 7);
    for (name, text, message) in [
        ("g.g6", "DQ\n", "a graph of 5 vertices has 2 bytes, but 1 follows"),
        ("g.g6", "DQc\nDQc\n", "g.g6:2: a second graph begins here"),
        ("g.g6", "~?\n", "the number of vertices is cut off"),
        ("g.g6", "D c\n", "is not a byte of this format"),
        ("g.s6", "DQc\n", "a graph of sparse6 begins with `:`"),
        ("g.s6", ":~~~~~~~~\n", "vertices are declared, but at most"),
    ] {
        let error = parse_named(name, text, None).map(|read| pairs(&read)).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    assert!(notes(&parse(">>sparse6<<:Fa@x^"), "the last line does not end with a newline"));
}

#[test]
fn json_of_several_tools() {
    let d3 = r#"{"nodes": [{"name": "Ada", "group": 1}, {"name": "Bob", "group": 1}], "links": [{"source": 0, "target": 1, "value": 2}]}"#;
    assert_eq!(
        (vertices(&parse(d3)), edges(&parse(d3))),
        (vec!["Ada".into(), "Bob".into()], vec!["Ada-Bob".into()])
    );
    let cytoscape = r#"{"elements": {"nodes": [{"data": {"id": "a"}}, {"data": {"id": "b"}}], "edges": [{"data": {"id": "e", "source": "a", "target": "b"}}]}}"#;
    assert_eq!(edges(&parse(cytoscape)), ["a-b"]);
    let new = r#"{"directed": true, "nodes": [{"id": 1}, {"id": 18446744073709551615}], "edges": [{"source": 1, "target": 18446744073709551615}]}"#;
    assert_eq!(pairs(&parse(new)), [(1, u64::MAX)]);
    for (text, expected) in [
        (r#"[[0, 1], [1, "2"]]"#, vec!["0-1", "1-2"]),
        (
            r#"[{"from": "a", "to": "b", "label": "x"}, {"from": "b", "to": "c", "label": "y"}]"#,
            vec!["a-b:x", "b-c:y"],
        ),
        (
            "{\"source\": \"a\", \"target\": \"b\"}\n{\"source\": \"b\", \"target\": \"c\"}\n",
            vec!["a-b", "b-c"],
        ),
        (r#"{"a": ["b", "c"], "b": ["a"], "d": []}"#, vec!["a-b", "a-c"]),
        (r#"{"a": {"b": {"weight": 1}}, "b": {"a": {"weight": 1}}}"#, vec!["a-b"]),
        (
            r#"{"directed": false, "graph": [], "nodes": [{"id": 0}, {"id": 1}], "adjacency": [[{"id": 1}], [{"id": 0}]]}"#,
            vec!["0-1"],
        ),
    ] {
        let read = parse(text);
        assert_eq!(
            (read.format, edges(&read)),
            (Format::NodeLink, expected.into_iter().map(String::from).collect()),
            "{text}"
        );
        assert!(!notes(&read, "given again"), "{text}");
    }
    for (text, message) in [
        (new.replace("551615", "551616"), "is too large to be exact: write it as a text"),
        (d3.replace("\"target\": 1", "\"target\": 2"), "an edge goes to `2`"),
        (d3.replace("\"source\": 0, ", ""), "an edge has no `source` or no `target`"),
        (d3.replace("links", "lines"), "holds no `links` or `edges`, but `lines`"),
        (
            "{\"message\": \"Not Found\"}\n".into(),
            "holds no `nodes` and `links`, or `elements`, but `message`",
        ),
        (d3[..60].into(), "the file is cut off"),
        (
            d3.replace(
                "\"source\": 0, ",
                &format!("\"x\": {}{}, ", "[".repeat(200), "]".repeat(200)),
            ),
            "values are nested more than 127 deep",
        ),
    ] {
        assert!(refused(&text).contains(message), "{}", refused(&text));
    }
}

#[test]
fn several_graphs_are_transactions() {
    let text = "t # 0\nv 0 C\nv 1 N\ne 0 1 7\nt # 1\nv 0 C\nv 1 C\ne 0 1 8\nt # -1\nrest\n";
    let read = parse(text);
    assert_eq!(
        (read.format, pairs(&read)),
        (Format::Transactions, vec![(0, 1), (1 << 32, 1 << 32 | 1)])
    );
    assert_eq!(vertices(&read), ["0:C", "1:N", "4294967296:C", "4294967297:C"]);
    assert!(notes(&read, "the file holds 2 graphs"));
    let empty = parse("t # 0\nv 0 1\nv 1 1\ne 0 1 1\nt # 1\nt # 2\nv 0 1\nt # 3\nt # -1\n");
    assert!(notes(&empty, "2 graphs have no vertex: counts per graph leave such out"));
    for (from, to, message) in [
        ("v 1 C", "v 0 C", "g:7: vertex 0 is declared twice in this graph"),
        (
            "e 0 1 8",
            "e 0 2 8",
            "g:8: an edge ends at vertex 2, but this graph declares no such vertex (`v` line)",
        ),
        ("v 1 C", "v 1 C N", "g:7: `N` is one field too many"),
        ("v 1 C", "v 1", "g:7: the label is missing"),
    ] {
        assert!(
            refused(&text.replace(from, to)).contains(message),
            "{}",
            refused(&text.replace(from, to))
        );
    }
}

#[test]
fn other_lists_are_checked() {
    for (format, text, message) in [
        (Format::Ligra, "AdjacencyGraph\n2\n2\n0\n1\n1\n", "make 4 numbers, but 3 follow"),
        (Format::Ligra, "AdjacencyGraph\n2\n2\n0\n1\n1\n2\n", "vertex 2 is out of range"),
        (Format::Ligra, "AdjacencyGraph\n99999999999999\n2\n", "are too large"),
        (Format::Ligra, "AdjacencyGraph\n2\n2\n1\n0\n1\n0\n", "begin at 1 and end at 0"),
        (Format::Lad, "3\n1 1\n1 0\n", "3 vertices are declared, but the lines of 2 follow"),
        (Format::Lad, "2\n1 1\n3 0\n", "g:3: this line has 1 number behind the degree 3"),
        (Format::Lad, "2\n1 1\n1 2\n", "g:3: vertex 2 is out of range"),
        (Format::Orca, "3 2\n0 1\n1 3\n", "g:3: vertex 3 is out of range"),
        (Format::Orca, "3 2\n0 1\n1 2 5\n", "g:3: `1 2 5` is not an edge"),
        (
            Format::Leda,
            "LEDA.GRAPH\nvoid\nvoid\n-2\n2\n|{}|\n",
            "2 vertices are declared, but 1 follows",
        ),
        (
            Format::Leda,
            "LEDA.GRAPH\nvoid\nvoid\n-2\n1\n|{}|\n2\n1 1 0 |{}|\n",
            "says 2 edges, but 1 follows",
        ),
        (Format::Multiline, "a 2\nb {}\n", "1 neighbour of this vertex is missing"),
        (Format::Matrix, "a,b\nc,0,1\nd,1,0\n", "row 1 is called `c`, but that column `a`"),
        (Format::Matrix, "0,1\n1,x\n", "g:2: `x` is not a number"),
    ] {
        let error = parse_named("g", text, Some(format)).map(|read| pairs(&read)).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    // A list that ends within: its last neighbours have no line.
    let cut = parse_named("g", "a b\nb c\n", Some(Format::AdjList)).unwrap();
    assert!(notes(&cut, "1 neighbour begins no line, the first is `c` in line 2"));
    let weighted = parse("WeightedAdjacencyGraph\n2\n2\n0\n1\n1\n0\n0.5\n0.5\n");
    assert_eq!((weighted.format, pairs(&weighted)), (Format::Ligra, vec![(0, 1)]));
    let labelled = parse("3\n5 1 1\n6 2 0 2\n5 1 1\n");
    assert_eq!(
        (labelled.format, vertices(&labelled)),
        (Format::Lad, vec!["0:5".into(), "1:6".into(), "2:5".into()])
    );
}
