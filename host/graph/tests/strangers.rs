//! Files as people have them, with the numbers of edges and triangles that NetworkX finds.

mod common;

use common::{pairs, parse, parse_named, refused};
use gramer_graph::Graph;
use gramer_graph::read::Format;

fn triangles(graph: &Graph) -> usize {
    let view = graph.view();
    let edges = (0..graph.vertices() as u32)
        .flat_map(|u| view.neighbours(u).iter().filter(move |&&v| v > u).map(move |&v| (u, v)));
    let above = |u: u32, v: u32| {
        view.neighbours(u).iter().filter(|&&w| w > v && view.has_edge(v, w)).count()
    };
    edges.map(|(u, v)| above(u, v)).sum()
}

#[test]
fn files_that_were_read_as_something_else() {
    for (text, format, edges, expected) in [
        // Adjacency lists.
        ("0 1 2\n1 0 2\n2 0 1 3\n3 2\n", Format::AdjList, 4, 1),
        // Matrices, with commas, blanks, and as NumPy and igraph write them.
        ("0,1,1,0\n1,0,1,0\n1,1,0,1\n0,0,1,0\n", Format::Matrix, 4, 1),
        ("0 1 1 0\n1 0 1 0\n1 1 0 1\n0 0 1 0\n", Format::Matrix, 4, 1),
        // Columns by their names.
        ("index,source,target\n0,1,2\n1,2,3\n2,1,3\n", Format::Edges, 3, 1),
        ("weight,source,target\n5,1,2\n6,2,3\n7,1,3\n", Format::Edges, 3, 1),
        ("edge_id,u,v\n0,1,2\n1,2,3\n2,1,3\n", Format::Edges, 3, 1),
        (",source,target\n0,1,2\n1,2,3\n2,1,3\n", Format::Edges, 3, 1),
        // V and E in front.
        ("8 7\n0 1\n0 2\n0 3\n0 4\n4 5\n5 6\n6 7\n", Format::Orca, 7, 0),
        // NetworkX, R, Excel.
        ("0 1 {}\n1 2 {}\n2 0 {}\n", Format::Edges, 3, 1),
        ("\"\",\"from\",\"to\"\n\"1\",1,2\n\"2\",2,3\n\"3\",1,3\n", Format::Edges, 3, 1),
        ("sep=,\r\nSource,Target\r\n1,2\r\n2,3\r\n1,3\r\n", Format::Edges, 3, 1),
        // Dates, empty fields, other separators, decimals.
        ("1 2 2009-01-01\n2 3 NA\n1 3 2010-01-01\n", Format::Edges, 3, 1),
        ("1, 2,\n2, 3,\n1, 3,\n", Format::Edges, 3, 1),
        ("1;2\n2;3\n1;3\n", Format::Edges, 3, 1),
        ("1|2\n2|3\n1|3\n", Format::Edges, 3, 1),
        ("1.0 2.0\n2.0 3.0\n1.0 3.0\n", Format::Edges, 3, 1),
        (
            "%MatrixMarket matrix coordinate pattern symmetric\n5 5 5\n2 1\n3 1\n4 3\n5 4\n3 2\n",
            Format::Mtx,
            5,
            1,
        ),
        ("p edge 5 6\ne 1 2\ne 2 3\ne 1 3\ne 3 4\ne 4 5\ne 3 5\n", Format::Dimacs, 6, 2),
        // Ids that JavaScript would round, and the largest one.
        (
            "9007199254740993 9007199254740995\n9007199254740995 18446744073709551615\n\
             9007199254740993 18446744073709551615\n",
            Format::Edges,
            3,
            1,
        ),
        ("-1 -2\n-2 -3\n-1 -3\n", Format::Table, 3, 1),
        ("18446744073709551616 5\n5 7\n7 18446744073709551616\n", Format::Table, 3, 1),
    ] {
        let read = parse(text);
        let found = (read.format, read.graph.edges(), triangles(&read.graph));
        assert_eq!(found, (format, edges, expected), "{text:?}: {:?}", read.notes);
    }
}

#[test]
fn files_that_are_cut_off_or_say_too_much() {
    let cut = refused("# Nodes: 6 Edges: 9\n# FromNodeId\tToNodeId\n0\t1\n0\t2\n1\t2\n2\t3\n");
    assert!(cut.contains("says 9 edges, but 4 follow"), "{cut}");
    let labels = refused("t # 0\nv 0 3 4\nv 1 3 4\nv 2 3 9\ne 0 1\ne 1 2\n");
    assert!(labels.starts_with("g:2: 4 is not the degree of vertex 0"), "{labels}");
    let turbo = parse("t # 0 0\nv 0 0 -1\nv 1 1 -1\ne 0 1 5\n");
    assert_eq!((turbo.format, turbo.graph.edge_label_count()), (Format::Lg, 1));
}

#[test]
fn first_lines_of_other_tools_name_the_format() {
    for (text, format) in [
        ("*Vertices 3\n*Edges\n1 2\n", Format::Pajek),
        ("graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]\n", Format::Gml),
        (
            "<?xml version=\"1.0\"?><graphml><graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/>\
             <edge source=\"a\" target=\"b\"/></graph></graphml>",
            Format::GraphMl,
        ),
        ("LEDA.GRAPH\nvoid\nvoid\n-2\n2\n|{}|\n|{}|\n1\n1 2 0 |{}|\n", Format::Leda),
        (">>graph6<<A_\n", Format::Graph6),
        (
            "{\"directed\": false, \"nodes\": [{\"id\": 0}, {\"id\": 1}], \"links\": [{\"source\": 0, \"target\": 1}]}",
            Format::NodeLink,
        ),
        ("AdjacencyGraph\n2\n2\n0\n1\n1\n0\n", Format::Ligra),
    ] {
        let read = parse(text);
        assert_eq!((read.format, read.graph.edges()), (format, 1), "{text}");
    }
    let dot = refused("strict graph {\n a -- b\n}\n");
    assert!(dot.contains("DOT"), "{dot}");
    let named = parse_named("out.csv", "a,b\nb,c\n", None).unwrap();
    assert_eq!(named.format, Format::Table);
}

#[test]
fn several_graphs_of_one_file() {
    let text = "t # 0\nv 0 1\nv 1 2\nv 2 4\ne 0 1 7\ne 1 2 8\nt # 1\nv 0 2\nv 1 4\nv 2 5\ne 0 1 8\ne 0 2 9\nt # 2\n\
                v 0 1\nv 1 2\nv 2 4\ne 0 1 7\ne 1 2 8\ne 0 2 9\nt # -1\n";
    let read = parse(text);
    assert_eq!(
        (read.format, read.graph.vertices(), read.graph.edges()),
        (Format::Transactions, 9, 7)
    );
    let sizes: Vec<usize> = gramer_graph::transactions::of(&read.graph)
        .iter()
        .map(|(_, vertices)| vertices.len())
        .collect();
    assert_eq!(sizes, [3, 3, 3]);
    // The third one alone is a triangle.
    let (_, third) = &gramer_graph::transactions::of(&read.graph)[2];
    assert_eq!(triangles(&gramer_graph::transactions::alone(&read.graph, third)), 1);
}

#[test]
fn lists_with_colons_and_lists_with_marks_are_adjacency_lists() {
    for (text, edges) in [
        ("1: 2,3\n2: 1,3\n3: 1,2\n", 3),
        ("n1: n2, n3\nn2: n1, n3\nn3: n1, n2\nn4:\n", 3),
        ("n1: n2 n3\nn2: n1 n3\nn3: n1 n2\n", 3),
        ("Ann Lee: Bob Ray, Cy Fox\nBob Ray: Cy Fox\nCy Fox: Ann Lee\n", 3),
        // NetworkX with another separator.
        ("#g.py\n# GMT Sat Nov 28\n#\nAnn Lee|Bob Ray|Cy Fox\nBob Ray|Cy Fox\nCy Fox\n", 3),
        ("#g.py\n# GMT Sat Nov 28\n#\nAnn\tBob\tCy\nBob\tCy\nCy\n", 3),
        ("#g.py\n# GMT Sat Nov 28\n#\na b c\nb c\nc\n", 3),
    ] {
        let read = parse(text);
        let found = (read.format, read.graph.edges(), triangles(&read.graph));
        assert_eq!(found, (Format::AdjList, edges, 1), "{text:?}: {:?}", read.notes);
    }
    let several = "#g.py\n# GMT Sat Nov 28\n#\nAnn Lee|2\nBob Ray|{'w': 1}\nCy Fox|{}\nBob Ray|1\nCy Fox|{}\nCy Fox|0\n";
    let read = parse(several);
    assert_eq!((read.format, triangles(&read.graph)), (Format::Multiline, 1));
    assert!(read.graph.id_of_name("Ann Lee").is_some());
    // Names with blanks, and a mark in front of the attributes.
    let read = parse("Ann Lee\tBob Ray\t{'w': 1.5, 'n': 'x'}\nBob Ray\tCy Fox\t{}\n");
    assert_eq!((read.format, read.graph.edges()), (Format::Table, 2));
    assert!(read.graph.id_of_name("Bob Ray").is_some());
    // Times are no vertices.
    assert_eq!(parse("12:30 a\n12:31 b\n").format, Format::Table);
}

#[test]
fn heads_of_databases_name_their_columns() {
    let neo4j = parse("start:START_ID(Person)|role|:END_ID(Film)|:TYPE\na|x|b|IN\nb|y|c|OF\n");
    assert_eq!((neo4j.graph.edges(), neo4j.graph.edge_label_count()), (2, 2));
    let biogrid = "#BioGRID ID\tEntrez A\tEntrez B\tSymbol A\tSymbol B\n103\t64\t23\tX\tY\n117\t84\t88\tZ\tW\n";
    let refusal = refused(biogrid);
    assert!(refusal.contains("the setting `source` and the setting `target`"), "{refusal}");
    let refusal = refused(
        "#ID\tEntrez A\tEntrez B\tTaxon A\tTaxon B\n10\t64\t23\t96\t96\n11\t84\t88\t96\t96\n",
    );
    assert!(refusal.contains("don't say which hold the two ends of an edge"), "{refusal}");
    assert_eq!(parse("#u\tv\tweight\n1\t2\t5\n2\t3\t7\n").graph.edges(), 2);
    assert_eq!(parse("# a list of friends\n1 2 5 6\n2 3 7 6\n").graph.edges(), 2);
    // A label column names the others, and so do dates and decimals with a comma.
    for text in [
        "protein A;protein B;interaction\nTP53;MDM2;binds\nMDM2;ATM;inhibits\n",
        "boss;clerk;seen\nAnn;Bob;2020-01-02\nBob;Cy;NA\n",
        "boss;clerk;score\nAnn;Bob;0,99\nBob;Cy;\n",
    ] {
        let columns = gramer_graph::read::Columns {
            source: Some("1".into()),
            target: Some("2".into()),
            ..Default::default()
        };
        let options = gramer_graph::read::ReadOptions { columns, ..Default::default() };
        let read = gramer_graph::read::read_bytes(
            std::path::Path::new("g"),
            text.into(),
            &options,
            &gramer_base::Context::with_threads(1),
        );
        let read = read.unwrap();
        assert_eq!(read.graph.edges(), 2, "{text}");
        assert!(read.notes[0].starts_with("line 1 names the columns"), "{:?}", read.notes);
    }
}

#[test]
fn texts_of_other_tools_are_named() {
    for (text, named) in [
        ("<table border=\"1\" class=\"dataframe\">\n<tr><th>source</th></tr>\n", "a page of HTML"),
        ("/* Created by igraph */\n\ngraph {\n 0 -- 1;\n}\n", "a DOT file of Graphviz"),
        ("nodedef>name VARCHAR\na\nb\nedgedef>node1 VARCHAR,node2 VARCHAR\na,b\n", "a GDF file"),
        ("*Node data\nID sex\na m\n*Tie data\nfrom to\na b\n", "a VNA file of NetDraw"),
        ("(tlp \"2.3\"\n(nb_nodes 2)\n(edge 0 0 1)\n)\n", "a TLP file of Tulip"),
        ("{\"name\": \"a\"}\n{\"name\": \"b\"}\n", "object 0 has no `source` and `target`"),
        ("[{\"name\": \"a\"}]\n", "object 0 has no `source` and `target`"),
    ] {
        let message = refused(text);
        assert!(message.contains(named), "{named}: {message}");
    }
}

#[test]
fn marks_between_ends_are_no_vertices() {
    for text in
        ["0 -> 1\n1 -> 2\n2 -> 0\n", "a -- b\nb -- c\nc -- a\n", "A B\t→\tC\nC\t→\tD\nD\t→\tA B\n"]
    {
        let read = parse(text);
        assert_eq!((read.format, read.graph.vertices()), (Format::Table, 3), "{text:?}");
        assert_eq!(triangles(&read.graph), 1, "{text:?}");
        assert!(read.notes.iter().any(|note| note.contains("columns 1 and 3 are the ends")));
    }
    let sif = "a pp b\nb pd c\nc pp a\n";
    assert!(refused(sif).contains("say which two are the ends"));
    let read = parse_named("net.sif", sif, None).unwrap();
    assert_eq!((triangles(&read.graph), read.graph.has_edge_labels()), (1, true));
}

#[test]
fn lists_and_times_are_not_taken_for_ends() {
    let lists = "id,neighbors\n1,\"2,3\"\n2,\"1,3\"\n3,\"1,2\"\n";
    assert!(refused(lists).contains("2: `2,3` is a list of vertices"), "{}", refused(lists));
    let lists = "a;[b, c]\nb;[a]\nc;[a]\n";
    assert!(refused(lists).contains("1: `[b, c]` is a list of vertices"), "{}", refused(lists));
    // A name that others are parts of is a name.
    assert_eq!(parse("from,to\na,b\nb,a b\na b,a\n").graph.edges(), 3);
    let times = "1278401881 1 2\n1278401882 2 3\n1278401883 3 1\n";
    assert!(refused(times).contains("1: `1278401881 1 2` may be an edge with a time in front"));
    for times in [
        "date,person,friend\n2021-01-01,1,2\n2021-01-02,2,3\n2021-01-03,1,3\n",
        "Datum;Kunde;Freund\n01.01.2021;1;2\n02.01.2021;2;3\n",
        "share,one,other\n10%,1,2\n20%,2,3\n",
    ] {
        assert!(refused(times).contains("or an edge with a time in front"), "{}", refused(times));
    }
    assert_eq!(
        pairs(&parse("date,source,target\n2021-01-01,1,2\n2021-01-02,2,3\n")),
        [(1, 2), (2, 3)]
    );
    // Ids of that size, and times behind.
    assert_eq!(parse("1278401881 1278401882 2\n1278401882 1278401883 2\n").graph.edges(), 2);
    assert_eq!(parse("1278401881 1 7\n1278401882 2 8\n").graph.edges(), 2);
}

#[test]
fn equal_numbers_of_two_kinds_are_a_note() {
    let what = "equal numbers in the columns `user_id` and `item_id` are one vertex";
    let read = parse("date,user_id,item_id\n2021-01-01,1,7\n2021-01-02,1,8\n");
    assert!(read.notes.iter().any(|note| note.starts_with(what)), "{:?}", read.notes);
    assert_eq!(pairs(&read), [(1, 7), (1, 8)]);
    let usual = parse("source,target\n1,7\n1,8\n");
    assert!(!usual.notes.iter().any(|note| note.starts_with("equal")), "{:?}", usual.notes);
    assert_eq!(parse("user,item\nu1,i1\nu1,i2\n").graph.vertices(), 3);
}

#[test]
fn a_title_above_the_names_of_columns_is_refused_as_one() {
    let message = refused("Friends 2021;;\n;;\nVon;Nach;Anzahl\nann;bob;3\nbob;carl;1\n");
    assert!(message.contains("has text in one of 3 columns: if it is a title"), "{message}");
}

#[test]
fn a_comment_behind_an_edge_is_refused_as_one() {
    let message = refused("ann bob\nbob carl # strong\n");
    assert!(message.contains("a comment is a line by itself"), "{message}");
}

#[test]
fn names_that_differ_in_a_digit_or_letter_are_those_of_columns() {
    for names in ["user1,user2", "Person 1,Person 2", "Interactor A,Interactor B", "gene_a,gene_b"]
    {
        let read = parse(&format!("{names}\nx,y\ny,z\nz,x\n"));
        assert_eq!((triangles(&read.graph), read.graph.vertices()), (1, 3), "{names}");
        assert!(read.notes.iter().any(|note| note.contains("line 1 names the columns")));
    }
    for names in ["caller,callee", "prev,curr", "SOURCE_SUBREDDIT,TARGET_SUBREDDIT", "buyer,seller"]
    {
        assert_eq!(parse(&format!("{names},n\nx,y,1\ny,z,2\n")).graph.vertices(), 3, "{names}");
    }
    // Names of the same kind are vertices.
    assert_eq!(parse("user1,user2\nuser3,user4\nuser4,user5\n").graph.vertices(), 5);
    assert_eq!(parse("n1,n2\nx,y\ny,z\n").graph.vertices(), 5);
}
