//! Texts that would pass for another format: what a guess implies is checked, and foreign formats are named.

mod common;

use std::path::Path;

use common::{pairs, parse, parse_named, refused};
use gramer_base::Context;
use gramer_graph::read::{Format, ReadOptions, read_bytes};

#[test]
fn adjacency_lists_are_no_arabesque() {
    for (text, edges) in [
        ("0 1 2\n1 0 2\n2 0 1 3\n3 2\n", 4),
        ("0 1 2\n1 0 2\n2 0 1\n", 3),
        ("1 2 3\n2 1 3\n3 1 2\n", 3),
        ("0 1 3\n1 0 2\n2 3 1\n3 2 0\n", 4),
        ("10 20 30\n20 10\n30 10\n40\n", 2),
        // Each edge once.
        ("0 1 2 3\n1 3\n2\n3\n", 4),
    ] {
        // The name of a file says no more than its lines.
        for name in ["g", "g.txt"] {
            let read = parse_named(name, text, None).unwrap();
            assert_eq!((read.format, pairs(&read).len()), (Format::AdjList, edges), "{text:?}");
            let note = "read as adjlist (a vertex and its neighbours)";
            assert!(read.notes.iter().any(|own| own.starts_with(note)), "{:?}", read.notes);
        }
    }
    let read = parse("ada bob carl\nbob carl\ncarl\n");
    assert_eq!((read.format, read.graph.edges()), (Format::AdjList, 3));
    assert_eq!(read.graph.vertex_name(0).to_string(), "ada");
    // Of a directed graph: labels that are all vertices.
    let message = refused("0 1 2\n1 2\n2 0\n");
    assert!(
        message.contains("`id label neighbours…` (arabesque) or `id neighbours…`"),
        "{message}"
    );
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
    for (text, edges) in [
        ("0,1,1,0\n1,0,1,0\n1,1,0,1\n0,0,1,0\n", 4),
        ("0 1 1 0\n1 0 1 0\n1 1 0 1\n0 0 1 0\n", 4),
        ("0;1;1\n1;0;1\n1;1;0\n", 3),
        ("0\t1\t1\n0\t0\t1\n0\t0\t0\n", 3),
        ("0.0 1.0 1.0\n1.0 0.0 1.0\n1.0 1.0 0.0\n", 3),
        (
            "0.000e+00 1.000e+00 0.000e+00\n1.000e+00 0.000e+00 1.000e+00\n0.000e+00 1.000e+00 0.000e+00\n",
            2,
        ),
        ("0 5 7 0\n5 0 2 0\n7 2 0 9\n0 0 9 0\n", 4),
        (",0,1,2,3\n0,0,1,1,0\n1,1,0,1,0\n2,1,1,0,1\n3,0,0,1,0\n", 4),
        ("\"V1\" \"V2\" \"V3\"\n0 1 1\n1 0 1\n1 1 0\n", 3),
        (",a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n", 3),
    ] {
        for name in ["g", "g.csv", "g.txt"] {
            let read = parse_named(name, text, None).unwrap();
            assert_eq!((read.format, read.graph.edges()), (Format::Matrix, edges), "{text:?}");
        }
    }
    let large: String = (0..400)
        .map(|i| {
            let row: Vec<&str> =
                (0..400).map(|j| if (i + j) % 7 == 1 { "1" } else { "0" }).collect();
            row.join(" ") + "\n"
        })
        .collect();
    assert_eq!(parse(&large).format, Format::Matrix);
    let cut = refused(&large[..large.len() / 2]);
    assert!(cut.contains("this row has") || cut.contains("rows, but 400 columns"), "{cut}");
    assert!(cut.contains("(read as matrix; the setting `format` names another)"), "{cut}");
    assert!(
        refused("0 1 1 0\n1 0 1 0\n1 1 0 1\n").contains("the matrix has 3 rows, but 4 columns")
    );
    // Weighted edge lists do not count.
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
        (
            "<?xml version='1.0'?>\n<data>\n",
            "XML of a kind that is not read; GraphML and GEXF are read",
        ),
        ("<!DOCTYPE html>\n<html>\n", "a page of HTML; the download may have failed"),
        ("404: Not Found", "the message of a server; the download failed"),
        ("<svg width=\"10\">\n", "a picture in SVG"),
        ("[\"a\", \"b\"]\n", "a list in JSON that holds no edges"),
        ("strict graph {\n0 -- 1;\n}\n", "a DOT file"),
        ("digraph \"G\" {\n", "a DOT file"),
        ("graph{0--1}\n", "a DOT file"),
        ("dl n=3 format=edgelist1\ndata:\n1 2\n", "a UCINET DL file"),
        (
            "PAR1\u{15}\u{4}",
            if cfg!(feature = "columnar") {
                "the Parquet file is damaged"
            } else {
                "is a Parquet file"
            },
        ),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "git lfs pull"),
        ("%PDF-1.4\n1 2\n", "a PDF document"),
        ("SQLite format 3\u{0}", "an SQLite database"),
        ("GIF89a\u{1}", "is a picture"),
        ("RIFF\u{1}\u{1}\u{1}\u{1}WEBPVP8", "is a picture"),
    ] {
        let message = refused(text);
        assert!(message.contains(name), "{text:?}: {message}");
        assert!(!message.contains("read as edges"), "{text:?}: {message}");
    }
    for (bytes, cure) in [
        (
            &b"\xfd7zXZ\0rest"[..],
            "is compressed with xz; gzip, zstd and plain files can be read: xz -dc FILE",
        ),
        (b"PK\x03\x04rest", "unzip -p FILE"),
        (b"BZh91AY", "bzip2 -dc FILE"),
        (b"\xff\xfe1\0 \x002\0\n\0", "iconv -f UTF-16"),
        (b"\x89PNG\r\n\x1a\n", "is a picture"),
        (b"\x80\x04\x95rest", "is a pickle of Python"),
    ] {
        let (options, context) = (ReadOptions::default(), Context::with_threads(1));
        let read = read_bytes(Path::new("g"), bytes.to_vec(), &options, &context);
        let message = read.map(|read| read.format).unwrap_err().to_string();
        assert!(message.contains(cure), "{message}");
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
        (
            "t 2 1\nv 0 1\nv 1 2\ne 0 1\nt 2 1\nv 0 1\nv 1 1\ne 0 1\n",
            5,
            "a second graph begins, but this format holds one graph",
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
            "the number behind a label is taken as the degree and ignored; at line 2 it is 5, but vertex 0 has 1 edge"
        ]
    );
}

#[test]
fn columns_between_commas_are_no_adjacency_lists() {
    for text in ["1,2,3\n2,3,1\n3,1,2\n", "1, 2, 3\n2, 3, 1\n3, 1, 2\n"] {
        let graph = parse(text).graph;
        assert_eq!((graph.vertices(), graph.edges()), (3, 3), "{text:?}");
    }
    assert_eq!(parse("1 2 3\n2 3 1\n3 1 2\n").graph.edges(), 3);
    // A name that says edges, and rows that METIS can't have.
    let named = |name: &str| {
        let bytes = b"1 2 1\n2 3 1\n1 3 1\n".to_vec();
        read_bytes(Path::new(name), bytes, &ReadOptions::default(), &Context::default())
    };
    assert_eq!(named("weights.txt").unwrap().graph.edges(), 3);
}

#[test]
fn tables_that_may_hold_no_edges_are_refused() {
    let doubtful = "may be a vertex with its properties";
    for (text, reason) in [
        ("name,x,y\nann,0.5,0.7\nbob,0.1,0.3\n", doubtful),
        (",club1,club2\nann,1,0\nbob,0,1\ncat,1,1\n", doubtful),
        ("\"\",\"a\",\"b\",\"c\"\n\"a\",1,0.3,0.2\n\"b\",0.3,1,0.9\n\"c\",0.2,0.9,1\n", doubtful),
        (",a,b,c\na,NA,1,1\nb,1,NA,1\nc,1,1,NA\n", doubtful),
        (";a;b;c\na;0;0,5;1\nb;0,5;0;0\nc;1;0;0\n", doubtful),
        ("a,0,1,1\nb,1,0,1\nc,1,1,0\n", doubtful),
        ("2020-01-01,1,2\n2020-01-02,2,3\n2020-01-03,3,1\n", doubtful),
        ("0: 1 2\n0: 0 2\n2: 0 1\n", "a colon after a vertex"),
        ("name: ann\nage: seven\n", "a colon after a vertex"),
    ] {
        let message = refused(text);
        assert!(message.contains(reason), "{text:?}: {message}");
    }
    // An index in front of two names stays one, and a weight behind them too.
    for text in [",source,target\n0,ann,bob\n1,bob,cat\n", "ann,bob,0.5\nbob,cat,1\n"] {
        let graph = parse(text).graph;
        assert_eq!((graph.vertices(), graph.edges()), (3, 2), "{text:?}");
        assert!(graph.id_of_name("ann").is_some(), "{text:?}");
    }
}
