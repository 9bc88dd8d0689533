//! Tables as people have them: which line names the columns, which columns hold the ends, and what is refused.

mod common;

use std::path::Path;

use common::{parse, refused};
use gramer_base::{Context, Result};
use gramer_graph::Graph;
use gramer_graph::read::{Columns, Format, GraphFile, ReadOptions, VertexTable, read, read_bytes};

/// The edges by name, sorted.
fn edges(graph: &Graph) -> Vec<String> {
    let view = graph.view();
    let pairs = (0..graph.vertices() as u32)
        .flat_map(|u| view.neighbours(u).iter().filter(move |&&v| u < v).map(move |&v| (u, v)));
    let mut edges: Vec<String> =
        pairs.map(|(u, v)| format!("{}-{}", graph.vertex_name(u), graph.vertex_name(v))).collect();
    edges.sort();
    edges
}

/// Whether a text with its first lines is read as these edges.
fn assert_edges(text: &str, expected: &[&str]) -> Vec<String> {
    let read = parse(text);
    assert_eq!(edges(&read.graph), expected, "{text:?}: {:?}", read.notes);
    read.notes
}

/// Reads a text whose ends are in these columns.
fn by_columns(text: &str, source: &str, target: &str) -> Result<GraphFile> {
    let (source, target) = (Some(source.into()), Some(target.into()));
    let columns = Columns { source, target, ..Columns::default() };
    let options = ReadOptions { columns, ..ReadOptions::default() };
    read_bytes(Path::new("g"), text.into(), &options, &Context::with_threads(1))
}

#[test]
fn a_missing_weight_names_no_column() {
    for missing in ["NA", "-", "inf", "NaN", "null", "None", "<1", ".", ""] {
        assert_edges(&format!("a,b,{missing}\nb,c,1\n"), &["a-b", "b-c"]);
    }
    // Ends of later rows are no names of columns; the third column then holds text.
    assert!(refused("a,b,foo\nb,c,1\nc,a,2\n").contains("more than two hold text"));
    assert_edges("a,b,score\nc,d,1\n", &["c-d"]);
    assert_edges("host,peer\n10.0.0.1,10.0.0.2\n", &["10.0.0.1-10.0.0.2"]);
}

#[test]
fn a_column_without_a_name_is_one_of_rs_names_of_rows_or_refused() {
    for rows in [
        "ann,bob,0.5\nbob,carl,0.7\n",
        "ann,bob,2019-01-01\nbob,carl,2019-01-01\n",
        "ann,bob,friends\nbob,carl,friends\n",
        "\"ann\",\"bob\",0.5\n\"bob\",\"carl\",0.7\n",
        "1,2,5\n",
        "5,2,5\n7,3,7\n",
    ] {
        let text = format!("source,target\n{rows}");
        let message = refused(&text);
        assert!(message.starts_with("g:1: line 1 names 2 columns, but rows have 3: "), "{message}");
        assert!(message.contains("the setting `source`"), "{message}");
        assert!(by_columns(&text, "source", "target").is_ok(), "{text:?}");
    }
    let weights = "source,target\nann,bob,0.5\nbob,carl,0.7\n";
    let named = by_columns(weights, "source", "target").unwrap();
    assert_eq!(edges(&named.graph), ["ann-bob", "bob-carl"]);
    for text in [
        "source target\n1 ann bob\n2 bob carl\n",
        "source,target\n0,ann,bob\n1,bob,carl\n",
        "\"source\" \"target\"\n\"5\" \"ann\" \"bob\"\n\"9\" \"bob\" \"carl\"\n",
        "source,target\nann,bob,\nbob,carl,\n",
    ] {
        assert_edges(text, &["ann-bob", "bob-carl"]);
    }
    assert_edges("\"from\" \"to\"\n\"r\" 1 2\n\"s\" 2 3\n", &["1-2", "2-3"]);
    assert_edges("source,target\n1,2,\n2,3,\n", &["1-2", "2-3"]);
}

#[test]
fn tables_of_vertices_are_no_edges() {
    for text in [
        "Id,Label,timeset,modularity_class\n1,Ann,,0\n",
        "Id;Label;Weight\n1;2;0.5\n",
        "Id,Label,timeset\nann,Ann,\n",
        "ID;Name;Age\n1;Ann;30\n",
        "id,name,friends\n1,Ann,3\n",
        "stop_id,stop_name,stop_lat,stop_lon\nS1,Main,52.5,13.4\n",
        "stop_id,stop_name\nS1,Main\n",
        ",id,label\n0,1,5\n",
        "Id,Label,X,Y\n1,Ann,0.5,0.7\n",
    ] {
        let message = refused(text);
        assert!(message.contains("table") && message.contains("`vertex_table`"), "{message}");
    }
    assert_edges("id,label,source,target\n1,a,ann,bob\n", &["ann-bob"]);
}

#[test]
fn rows_that_repeat_the_names_of_the_columns_are_left_out() {
    for text in [
        "source,target\n1,2\nsource,target\n2,3\n",
        "source,target,weight\n1,2,5\nsource,target,weight\n2,3,6\n",
        "person,friend,since\n1,2,2019-01-01\nperson,friend,since\n2,3,2020-01-01\n",
    ] {
        let notes = assert_edges(text, &["1-2", "2-3"]);
        let note = "1 row repeats the names of the columns and is left out";
        assert!(notes.iter().any(|n| n == note), "{text:?}: {notes:?}");
    }
    let numbers = parse("source,target\n1,2\nsource,target\n2,3\n");
    assert_eq!(numbers.format, Format::Edges);
    let late: String = (0..90_000).map(|i| format!("{i},{}\n", i + 1)).collect();
    let late = parse(&format!("source,target\n{late}source,target\n7,9\n"));
    assert_eq!((late.format, late.graph.edges()), (Format::Edges, 90_001));
    assert_edges("source,target\nsource,target\n1,2\n", &["1-2"]);
    assert_edges("source,target\na,b\nsource,target\nb,c\n", &["a-b", "b-c"]);
    // Words that may be vertices as well stay an edge, with a note.
    let notes =
        assert_edges("user,friend\na,b\nuser,friend\nb,c\n", &["a-b", "b-c", "user-friend"]);
    assert!(notes[0].starts_with("line 1 is read as an edge from `user` to `friend`"), "{notes:?}");
}

#[test]
fn four_numbers_between_dots_are_a_name() {
    for text in [
        "192.168.10.5,54865,104.16.207.165,443,6\n192.168.10.6,1,104.16.207.165,443,6\n",
        "10.0.0.1,p,10.0.0.2\n10.0.0.2,p,10.0.0.3\n",
        "1.1.1.1\tP1\t2.7.7.7\n1.1.1.-\tP2\t2.7.7.8\n",
    ] {
        assert!(refused(text).contains("more than two hold text"), "{text:?}");
    }
    let flows = "Source IP,Source Port,Destination IP,Destination Port\n10.0.0.1,1,10.0.0.2,443\n";
    assert_edges(flows, &["10.0.0.1-10.0.0.2"]);
    assert_edges("a,b,01.02.2020\nb,c,03.04.2020\n", &["a-b", "b-c"]);
}

#[test]
fn letters_that_name_values_are_no_ends() {
    for text in [
        "osmid,y,x,street_count\n1001,52.5,13.4,3\n",
        "id,label,x,y\n1,7,10,20\n",
        "id,x,y\n1,10,20\n",
        "gene,a,b\nTP53,1,2\n",
        "gene,u,v\nTP53,0.1,0.2\n",
        "n,i,j\n1,0.1,0.2\n",
    ] {
        assert!(refused(text).contains("source"), "{text:?}");
    }
    for text in [
        "x,y,w\n1,2,0.5\n",
        "w,x,y\n5,1,2\n",
        "id,u,v\n5,1,2\n",
        "edge_id,a,b\n5,1,2\n",
        "type,u,v\nlikes,1,2\n",
        "relation,a,b\nlikes,1,2\n",
    ] {
        assert_edges(text, &["1-2"]);
    }
    assert_edges("w,u,v\n5,-1,2\n6,2,-3\n", &["-1-2", "2--3"]);
}

#[test]
fn two_pairs_of_usual_names_are_refused() {
    for (text, pairs) in [
        (
            "sender,receiver,from,to\n1,2,2001,2005\n",
            "`sender` and `receiver`, or `from` and `to`, may",
        ),
        (
            "person_a,person_b,from,to\nann,bob,2001,2005\n",
            "`person_a` and `person_b`, or `from` and `to`, may",
        ),
        ("u,v,from,to\n1,2,2001,2005\n", "`u` and `v`, or `from` and `to`, may"),
    ] {
        let message = refused(text);
        assert!(message.starts_with(&format!("g:1: {pairs}")), "{message}");
    }
    for text in [
        "source,target,start,end\n1,2,2001,2005\n",
        "u,v,start,end\n1,2,2001,2005\n",
        "start,end,source,target\n2001,2005,1,2\n",
        "type1,type2,from,to\n7,8,1,2\n",
        "source,target,source_id,target_id\n1,2,7,8\n",
    ] {
        assert_edges(text, &["1-2"]);
    }
}

#[test]
fn names_of_columns_in_line_2_are_refused() {
    for text in ["Created,2024-01-01\nsource,target\na,b\n", "Quelle,Ziel\nsource,target\n1,2\n"] {
        let message = refused(text);
        let expected =
            "g:2: `source target` looks like the names of the columns: remove what is in front";
        assert!(message.starts_with(expected), "{message}");
    }
    assert_eq!(parse("hot,cold\nleft,right\nup,down\n").graph.edges(), 3);
    assert_eq!(parse("a b\nsource target\ntarget a\n").graph.edges(), 3);
}

#[test]
fn many_numbers_and_a_class_are_no_edge() {
    for text in [
        "31336 0 0 1 0 Neural_Networks\n10 0 0 1 0 Theory\n",
        "p1 0 0 1 0 Neural_Networks\np2 0 0 1 0 Theory\n",
    ] {
        assert!(refused(text).contains("the setting `source`"), "{text:?}");
    }
    assert_eq!(parse("1 2 3 4 5 2009-01-01\n").graph.edges(), 1);
}

#[test]
fn a_comment_in_front_names_the_columns() {
    let string = "#node1\tnode2\tid1\tid2\tscore\nP1\tP2\tX1\tX2\t0.9\nP2\tP3\tX2\tX3\t0.8\n";
    let notes = assert_edges(string, &["P1-P2", "P2-P3"]);
    assert!(notes[0].starts_with("line 1 names the columns: `node1` and `node2`"), "{notes:?}");
    let mitab = "#ID(s) interactor A\tID(s) interactor B\tTaxon\nP1\tP2\t9606\nP2\tP3\t9606\n";
    let named = by_columns(mitab, "ID(s) interactor A", "ID(s) interactor B").unwrap();
    assert_eq!(edges(&named.graph), ["P1-P2", "P2-P3"]);
    let last = by_columns("# two words\n#score\tp\tq\n7\t1\t2\n", "p", "q").unwrap();
    assert_eq!(edges(&last.graph), ["1-2"]);
    // Words that name no ends are no names of columns.
    let prose = assert_edges("# protein interaction network\nTP53 MDM2 0.9\n", &["TP53-MDM2"]);
    assert!(prose[0].starts_with("columns 1 and 2 are the ends"), "{prose:?}");
}

#[test]
fn a_line_of_two_words_alone_has_a_note() {
    for text in ["Id;Label\n", "person_a,person_b\n", "a,b,\n"] {
        let notes = parse(text).notes;
        assert!(notes[0].starts_with("line 1 is read as an edge from"), "{text:?}: {notes:?}");
    }
}

#[test]
fn the_note_on_labels_says_which_is_kept() {
    for (text, kept) in [
        ("source,target,relation\na,b,B\nb,a,A\n", "(the first in the file)"),
        ("source,target,relation\na,b,7\nb,a,5\n", "(the smallest)"),
    ] {
        let notes = parse(text).notes;
        assert!(notes.iter().any(|note| note.ends_with(kept)), "{text:?}: {notes:?}");
    }
}

#[test]
fn rows_of_a_table_of_vertices_fit_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let load = |edges: &str, vertices: &str| {
        let (graph, path) = (folder.path().join("e.csv"), folder.path().join("v.csv"));
        std::fs::write(&graph, edges).unwrap();
        std::fs::write(&path, vertices).unwrap();
        let vertex_table = Some(VertexTable { path, id: None, label: None });
        read(&graph, &ReadOptions { vertex_table, ..ReadOptions::default() }, &Context::default())
    };
    // R's names of rows.
    for (edges, vertices) in [
        ("1,2\n2,3\n", "name team\n1 3 red\n2 2 blue\n3 1 red\n"),
        ("1,2\n2,3\n", "\"name\" \"team\"\n\"1\" 3 \"red\"\n\"2\" 2 \"blue\"\n\"3\" 1 \"red\"\n"),
        ("a,b\nb,c\n", "person team\n1 c red\n2 b blue\n3 a red\n"),
    ] {
        let graph = load(edges, vertices).unwrap().graph;
        let label = |v| graph.vertex_label_name(graph.view().vertex_label(v)).to_string();
        assert_eq!((0..3).map(label).collect::<Vec<_>>(), ["red", "blue", "red"], "{vertices:?}");
    }
    for vertices in ["id,label\nann,Smith, John\nbob,b\n", "id label\nann New York\n"] {
        let message = load("ann,bob\nbob,carl\n", vertices).unwrap_err().to_string();
        assert!(message.contains("v.csv:2: "), "{message}");
        assert!(message.contains("has 3 columns, but the first line has 2"), "{message}");
    }
    assert!(load("a,b\n", "id,label\na,x,\nb,y,\n").is_ok());
    assert!(load("a,b\n", "id,label,since\na,x\nb,y\n").is_ok());
    let notes = |vertices: &str| load("a,b\n", vertices).unwrap().notes.join("\n");
    assert!(notes("id,label\na,x\nb,y").contains("the last line does not end with a newline"));
    assert!(!notes("id,label\na,x\nb,y\n").contains("newline"));
}
