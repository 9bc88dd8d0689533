//! Texts that would pass for another format: what a guess implies is checked, and foreign formats are named.

mod common;

use common::{pairs, parse, parse_named, refused};
use gramer_graph::read::Format;

#[test]
fn adjacency_lists_are_no_arabesque() {
    for text in [
        "0 1 2\n1 0 2\n2 0 1 3\n3 2\n",
        "0 1 2\n1 0 2\n2 0 1\n",
        "1 2 3\n2 1 3\n3 1 2\n",
        "0 1 3\n1 0 2\n2 3 1\n3 2 0\n",
        "10 20 30\n20 10\n30 10\n40\n",
    ] {
        let message = refused(text);
        assert!(message.starts_with("g:1: `"), "{text:?}: {message}");
        assert!(message.contains("begins adjacency lists"), "{text:?}: {message}");
        assert!(message.contains("awk '{for (i = 2; i <= NF; i++) print $1, $i}'"), "{message}");
    }
    // The name of a file says no more than its lines.
    assert!(parse_named("g.txt", "0 1 2\n1 0 2\n2 0 1\n", None).is_err());
    // Of a directed graph, or each edge once: labels that are all vertices.
    let message = refused("0 1 2\n1 2\n2 0\n");
    assert!(
        message.contains("`id label neighbours…` (arabesque) or `id neighbours…`"),
        "{message}"
    );
    let message = refused("0 1 2 3\n1 3\n2\n3\n");
    assert!(message.contains("if a line lists the neighbours of its first id"), "{message}");
    // Some edges once and some twice.
    let message = refused("0 7 1 2\n1 7 0\n2 7 3\n3 7 2\n");
    assert!(
        message.contains("looks like arabesque, but of 3 edges 2 are listed again"),
        "{message}"
    );
    assert!(message.contains("tried: edges (lines differ), arabesque"), "{message}");
    assert!(refused("0 7 1 1\n1 7 0\n2 7\n").contains("neighbour 1 is listed twice"));
    let named = Some(Format::Arabesque);
    assert_eq!(pairs(&parse_named("g", "0 7 1 2\n1 7 0\n2 7 3\n3 7 2\n", named).unwrap()).len(), 3);
    assert_eq!(pairs(&parse_named("g", "0 1 2\n1 2\n2 0\n", named).unwrap()), [(0, 2)]);
}

#[test]
fn a_guess_is_named() {
    for (text, note) in [
        ("0 7 1 2\n1 8 0\n2 7 0\n3 9\n", "read as arabesque (`id label neighbours…`)"),
        ("0 7 1 2\n1 8 2\n2 7\n", "read as arabesque"),
        ("3 2\n2\n1 3\n2\n", "read as metis"),
        ("2\n0 1 5\n1 2 9\n", "read as triples"),
    ] {
        let notes = parse(text).notes;
        assert!(notes.last().is_some_and(|last| last.starts_with(note)), "{text:?}: {notes:?}");
    }
    assert!(parse("1 2\n2 3\n").notes.is_empty());
    assert!(parse_named("g", "3 2\n2\n1 3\n2\n", Some(Format::Metis)).unwrap().notes.is_empty());
    // Faults say as what the text was read.
    let message = refused("0 7 1 2\n1 8 0\n2 7 0\n1 9\n");
    assert!(
        message.contains("vertex 1 is declared twice, first at line 2 (read as arabesque;"),
        "{message}"
    );
    // Rows that don't list each other.
    let message = refused("4 4\n2 3 4\n1 3\n1 2\n3\n");
    assert!(message.contains("looks like metis"), "{message}");
}

#[test]
fn matrices_are_no_edge_lists() {
    for text in [
        "0,1,1,0\n1,0,1,0\n1,1,0,1\n0,0,1,0\n",
        "0 1 1 0\n1 0 1 0\n1 1 0 1\n0 0 1 0\n",
        "0;1;1\n1;0;1\n1;1;0\n",
        "0\t1\t1\n0\t0\t1\n0\t0\t0\n",
        "0.0 1.0 1.0\n1.0 0.0 1.0\n1.0 1.0 0.0\n",
        "0.000e+00 1.000e+00 0.000e+00\n1.000e+00 0.000e+00 1.000e+00\n0.000e+00 1.000e+00 0.000e+00\n",
        "0 5 7 0\n5 0 2 0\n7 2 0 9\n0 0 9 0\n",
        ",0,1,2,3\n0,0,1,1,0\n1,1,0,1,0\n2,1,1,0,1\n3,0,0,1,0\n",
        "\"V1\" \"V2\" \"V3\"\n0 1 1\n1 0 1\n1 1 0\n",
        ",a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n",
    ] {
        for name in ["g", "g.csv", "g.txt"] {
            let message =
                parse_named(name, text, None).map(|read| read.format).unwrap_err().to_string();
            assert!(message.contains("begins a matrix"), "{text:?}: {message}");
        }
    }
    let large: String = (0..400)
        .map(|i| {
            let row: Vec<&str> =
                (0..400).map(|j| if (i + j) % 7 == 1 { "1" } else { "0" }).collect();
            row.join(" ") + "\n"
        })
        .collect();
    assert!(refused(&large).contains("begins a matrix"));
    // Weighted edge lists are none.
    for text in [
        "0 1 1\n1 2 1\n2 0 1\n",
        "0 1 5\n2 0 7\n3 4 0\n",
        "1 0\n0 1\n",
        "source,target,w\n0,1,1\n1,0,1\n1,1,0\n",
    ] {
        assert_eq!(parse(text).format, Format::Edges, "{text:?}");
    }
}

#[test]
fn foreign_formats_are_named() {
    for (text, name) in [
        ("p edge 5 6\ne 1 2\n", "a DIMACS file"),
        ("c a comment\nc\np col 5 6\ne 1 2\n", "a DIMACS file"),
        ("c roads\np sp 3 2\na 1 2 5\n", "$1 == \"a\""),
        ("*Vertices 3\n1 \"a\"\n", "a Pajek file"),
        ("% a comment\n*Network x\n*vertices 3\n", "a Pajek file"),
        ("graph [\n  node [\n    id 1\n", "a GML file"),
        ("Creator \"igraph\"\nVersion 1\ngraph\n[\n  directed 0\n", "a GML file"),
        ("<?xml version=\"1.0\"?>\n<graphml>\n", "a GraphML file"),
        ("<graphml xmlns=\"x\">\n", "a GraphML file"),
        ("<?xml version='1.0'?>\n<gexf version=\"1.3\">\n", "a GEXF file"),
        ("<?xml version='1.0'?>\n<data>\n", "an XML file"),
        ("<!DOCTYPE html>\n<html>\n", "a page of HTML"),
        ("LEDA.GRAPH\nvoid\nvoid\n-2\n", "a LEDA file"),
        (">>graph6<<DQc\n", "a graph6 file"),
        (">>sparse6<<:An\n", "a sparse6 file"),
        ("{\"directed\": false, \"nodes\": []}\n", "JSON"),
        ("{\n  \"nodes\": []\n}\n", "JSON"),
        ("[[0, 1], [1, 2]]\n", "JSON"),
        ("AdjacencyGraph\n3\n4\n0\n2\n3\n1\n2\n0\n0\n", "an adjacency graph of Ligra"),
        ("strict graph {\n0 -- 1;\n}\n", "a DOT file"),
        ("digraph \"G\" {\n", "a DOT file"),
        ("graph{0--1}\n", "a DOT file"),
        ("dl n=3 format=edgelist1\ndata:\n1 2\n", "a UCINET DL file"),
        ("3\n2 1 2\n2 0 2\n2 0 1\n", "lists of LAD"),
        ("4\n1 1\n2 0 2\n2 1 3\n1 2\n", "lists of LAD"),
        ("1 5\n2 6\n#\n1 2\n", "the Trivial Graph Format"),
        ("PAR1\u{15}\u{4}", "is a Parquet file"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a pointer of Git LFS"),
        ("%PDF-1.4\n1 2\n", "a PDF document"),
        ("SQLite format 3\u{0}", "an SQLite database"),
    ] {
        let message = refused(text);
        assert!(message.contains(name), "{text:?}: {message}");
        assert!(!message.contains("read as edges"), "{text:?}: {message}");
    }
    let workbook = parse_named("g.xlsx", "PK\u{3}\u{4}....", None).unwrap_err().to_string();
    assert!(workbook.contains("a workbook of a spreadsheet; save the sheet as CSV"), "{workbook}");
}

#[test]
fn fields_of_records_are_used_or_refused() {
    let several = "the vertex has several labels";
    for (text, line, reason) in [
        ("t # 0\nv 0 3 4\nv 1 3 4\nv 2 3 9\ne 0 1\ne 1 2\n", 2, several),
        (
            "t # 0\nv 0 3 1\nv 1 3 2\nv 2 3 9\ne 0 1\ne 1 2\n",
            4,
            "9 is not the degree of vertex 2, which is 1",
        ),
        ("v 0 3,4\nv 1 3,4\ne 0 1\n", 1, several),
        ("t # 0\nv 0 3 4 5\nv 1 3\ne 0 1\n", 2, several),
        ("t # 0\nv 0 3 4 -1\nv 1 3\ne 0 1\n", 2, several),
        ("t # 0\nv 0 1\nv 1 2\ne 0 1 7\nt # 1\nv 0 2\nt # -1\n", 5, "a second graph begins"),
        (
            "t 2 1\nv 0 1\nv 1 2\ne 0 1\nt 2 1\nv 0 1\nv 1 1\ne 0 1\n",
            5,
            "transactions are not mined",
        ),
    ] {
        let message = refused(text);
        assert!(message.starts_with(&format!("g:{line}: ")), "{text:?}: {message}");
        assert!(message.contains(reason), "{text:?}: {message}");
    }
    // Degrees are used up, and so is what query files of TurboFlux write.
    assert!(parse("t # 0\nv 0 3 1\nv 1 3 2\nv 2 3 1\ne 0 1\ne 1 2\n").notes.is_empty());
    assert!(parse("t 3 2\nv 0 3 1\nv 1 3 2\nv 2 3 1\ne 0 1\ne 1 2\n").notes.is_empty());
    let turbo = parse("t # 0 0\nv 0 0 -1\nv 1 1 -1\ne 0 1 5\n");
    assert_eq!((turbo.graph.vertex_label_count(), turbo.graph.edge_label_count()), (2, 1));
    let other = parse("t 2 1\nv 0 3 5\nv 1 3 7\ne 0 1\n").notes;
    assert_eq!(
        other,
        [
            "the number behind a label is taken as the degree and ignored; at line 2 it is 5, but vertex 0 has 1 edges"
        ]
    );
}
