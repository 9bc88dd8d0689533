//! Graphs in and out: every format and every fault of a file, through the library.

use std::path::Path;
use std::sync::Arc;

use gramer::Context;
use gramer::base::Budget;
use gramer::graph::generate::{Labels, Model, Recipe, generate};
use gramer::graph::read::{Format, GraphFile, ReadOptions, read, read_bytes};
use gramer::graph::write::write_text;
use gramer::graph::{Builder, Graph, image, in_input_order};
use proptest::prelude::*;

/// Reads a text as if from a file `g`, on one thread.
fn parse(text: impl AsRef<[u8]>) -> gramer::Result<GraphFile> {
    parse_as(text, None)
}

fn parse_as(text: impl AsRef<[u8]>, format: Option<Format>) -> gramer::Result<GraphFile> {
    let options = ReadOptions { format, ..ReadOptions::default() };
    read_bytes(Path::new("g"), text.as_ref().to_vec(), &options, &Context::with_threads(1))
}

/// The message with which a text is refused.
fn refused(text: impl AsRef<[u8]>) -> String {
    refused_as(text, None)
}

fn refused_as(text: impl AsRef<[u8]>, format: Option<Format>) -> String {
    let text = text.as_ref();
    let message = match parse_as(text, format) {
        Err(error) => error.to_string(),
        Ok(loaded) => panic!(
            "{:?} was read as {} with {} edges",
            String::from_utf8_lossy(text),
            loaded.format,
            loaded.graph.edges()
        ),
    };
    assert!(message.starts_with("g:"), "the place is missing: {message}");
    message
}

/// Asserts that each text is refused at its line (0: the whole file) with its reason.
fn all_refused(format: Option<Format>, cases: &[(&str, u32, &str)]) {
    for (text, line, reason) in cases {
        let message = refused_as(text, format);
        let place = if *line == 0 { "g: ".to_string() } else { format!("g:{line}: ") };
        assert!(message.starts_with(&place), "{text:?}: {message}");
        assert!(message.contains(reason), "{text:?}: {message}");
    }
}

/// Edges by original id, the smaller one first, with their labels.
fn edges(graph: &Graph) -> Vec<(u64, u64, u32)> {
    let view = graph.view();
    let mut edges = Vec::new();
    for u in 0..graph.vertices() as u32 {
        for &v in view.neighbours(u) {
            let (a, b) = (graph.original_id(u), graph.original_id(v));
            if a < b {
                edges.push((a, b, view.edge_label(u, v).unwrap()));
            }
        }
    }
    edges.sort_unstable();
    edges
}

fn pairs(graph: &Graph) -> Vec<(u64, u64)> {
    edges(graph).into_iter().map(|(u, v, _)| (u, v)).collect()
}

fn labels(graph: &Graph) -> Vec<u32> {
    graph.view().vertex_labels.expect("labels").to_vec()
}

#[test]
fn edge_lists_in_all_their_shapes() {
    let triangle = [(0, 1), (0, 2), (1, 2)];
    for text in [
        "0 1\n1 2\n2 0\n",
        "0 1\n1 2\n2 0",
        "0 1\r\n1 2\r\n2 0\r\n",
        "0\t1\n1\t2\n2\t0\n",
        "0,1\n1,2\n2,0\n",
        "0 , 1\n 1,  2\n2 ,0 \n",
        "  0   1  \n\t1 \t2\t\n2 0\t \n",
        "\u{feff}0 1\n1 2\n2 0\n",
        "# SNAP\n# From To\n0 1\n\n1 2\n% more\n   # and more\n2 0\n\n\n",
        "id_1,id_2\n0,1\n1,2\n2,0\n",
        "\"source\",\"target\"\n0,1\n1,2\n2,0\n",
        "# c\nsrc dst weight\n0 1 0.5\n1 2 -1e3\n2 0 +7\n",
        "0 1 1.0\n1 2 1.0\n2 0 1.0\n",
        "00000000000 1\n01 0000000000000000000000000000002\n2 0\n",
    ] {
        let loaded = parse(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!(loaded.format, Format::Edges, "{text:?}");
        assert_eq!(pairs(&loaded.graph), triangle, "{text:?}");
    }
    let weighted = parse("0 1 5 7\n1 2 5 7\n").unwrap();
    assert_eq!(weighted.notes, ["columns 3 to 4 of the edge list are ignored"]);
    assert!(!weighted.graph.has_edge_labels());
}

/// What a graph leaves out of its file is said, with the line of the first self loop.
#[test]
fn self_loops_and_repeated_edges_are_remarked() {
    let loops = |count: &str, line: u64| format!("{count} left out, the first in line {line}");
    let one = |line| loops("1 self loop is", line);
    for (text, expected) in [
        ("0 1\n2 2\n1 2\n", one(2)),
        ("# a comment\n0 1\n\n% another\n1 1\r\n1 2\n", one(5)),
        ("0 1\n1 2\n7 7", one(3)),
        ("0 1\n1 1\n2 2\n2 2\n", loops("3 self loops are", 2)),
        ("from to\n0 1\n8589934592 8589934592\n", one(3)),
        ("0,1,5\n1,1,5\n", one(2)),
        ("2\n0 1 5\n1 1 4\n", one(3)),
        ("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n", one(4)),
        (
            "%%MatrixMarket matrix coordinate real general\n3 3 3\n2 1 0\n% c\n1 2 1\n3 3 1\n",
            one(6),
        ),
        ("t # 0\nv 0 1\nv 1 2\n\ne 0 1 3\ne 1 1 3\n", one(6)),
        ("0 5 1\n1 5 0 2 1\n2 5 1\n", one(2)),
        // Rows of METIS name one end only, so the message has no line.
        ("3 2\n2\n1 2 3\n2\n", "1 self loop is left out".into()),
    ] {
        let loaded = parse(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        let last = loaded.notes.iter().rfind(|note| note.contains("self loop"));
        assert_eq!(last, Some(&expected), "{text:?}: {:?}", loaded.notes);
    }
    // Every edge in both directions, as in many files, gives no note; some repeated edges do.
    assert_eq!(parse("0 1\n1 0\n1 2\n2 1\n").unwrap().notes, [""; 0]);
    let some = parse("0 1\n1 0\n1 2\n0 1\n2 3\n").unwrap();
    assert_eq!(
        some.notes,
        ["2 edges are given again, in this or the other direction, and left out"]
    );
    // What isn't read is not left out.
    let ended = parse("t # 0\nv 0 1\nv 1 2\ne 0 1\nt # -1\ne 1 1\n").unwrap();
    assert!(!ended.notes.iter().any(|note| note.contains("self loop")), "{:?}", ended.notes);
}

/// The first self loop of a file of many blocks, which threads read side by side, is that of the first line; with
/// memory for all of it and without.
#[test]
fn the_first_self_loop_is_told_among_blocks() {
    let line = |at: u64| match at {
        700_001 | 500_017 | 900_000 => format!("{at} {at}\n"),
        100_000 => "# a comment\n".into(),
        _ => format!("{at} {}\n", at + 1),
    };
    let text: String = (1..=1_000_000).map(line).collect();
    let folder = tempfile::tempdir().unwrap();
    let budget = Budget { bytes: 256 << 20, folder: folder.path().into() };
    for (threads, limited) in [(1, false), (4, false), (4, true)] {
        let mut context = Context::with_threads(threads);
        context.budget = limited.then(|| Arc::new(budget.clone()));
        let text = text.clone().into_bytes();
        let loaded = read_bytes(Path::new("g"), text, &ReadOptions::default(), &context).unwrap();
        let told = "3 self loops are left out, the first in line 500017";
        assert_eq!(loaded.notes, [told], "{threads} threads, limited: {limited}");
    }
}

#[test]
fn ids_of_64_bits_come_back() {
    let g = parse("18446744073709551615 0\n0 9007199254740993\n5 4294967296\n").unwrap().graph;
    assert_eq!(g.original_ids(), [0, 5, 1 << 32, 9007199254740993, u64::MAX]);
    assert_eq!(pairs(&g), [(0, 9007199254740993), (0, u64::MAX), (5, 1 << 32)]);
    // Far apart and close together at once.
    let ids: Vec<u64> = (0..2000).map(|i| if i % 2 == 0 { i } else { i << 40 }).collect();
    let text: String = ids.windows(2).map(|w| format!("{} {}\n", w[0], w[1])).collect();
    let g = parse(text).unwrap().graph;
    assert_eq!((g.vertices(), g.edges()), (2000, 1999));
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    assert_eq!(g.original_ids(), sorted);
    let mut expected: Vec<_> = ids.windows(2).map(|w| (w[0].min(w[1]), w[0].max(w[1]))).collect();
    expected.sort_unstable();
    assert_eq!(pairs(&g), expected);
}

#[test]
fn what_is_no_edge_line_is_named_with_its_line() {
    all_refused(
        None,
        &[
            ("0 1\nhello\n", 2, "`hello` is not a vertex id"),
            ("0 1\n\n# c\n7\n", 4, "it holds one number, but an edge has two vertex ids"),
            ("10900\n0 1\n0 2\n", 1, "if it is a count or a header, put # in front of it"),
            ("0 1\n1.5 2.0\n", 2, "`1.5` is not a vertex id"),
            ("0 1\n1;2\n", 2, "`1;2` is not a vertex id"),
            ("0 1\n1,,2\n", 2, "a vertex id is missing, its field is empty"),
            ("0 1\n1,2,7\n", 2, "it has 3 columns, but the first edge line has 2"),
            ("0 1\n1 abc 2\n", 2, "`1 abc 2` has 3 columns, but the first line has 2"),
            ("5 1 1 1\n1 2\n", 2, "it has 2 columns, but the first edge line has 4"),
            ("0 1\n1 2 3\n", 2, "it has 3 columns, but the first edge line has 2"),
            ("0 1\r1 2\r2 3\r", 1, "a carriage return inside a line"),
            ("0 1\n1 2 # c\n", 2, "has 4 columns, but the first line has 2"),
            ("58,10 59,11\n61,13\n", 2, "it has 2 columns, but the first edge line has 4"),
        ],
    );
    // The text of the line is in the message, but not megabytes of it.
    assert!(refused("0 1\nsome more words\n").contains("`some more words` has 3 columns"));
    assert!(refused(format!("0 1\n{}\n", "x".repeat(1 << 20))).len() < 400);
}

#[test]
fn lines_are_counted_on_any_number_of_threads() {
    let mut text = "12345678 87654321\n".repeat(300_000);
    text += "oops\n";
    text += &"1 2\n".repeat(1_000_000);
    text += "oops again\n";
    for threads in [1, 2, 5] {
        let context = Context::with_threads(threads);
        let bytes = text.clone().into_bytes();
        let error = read_bytes(Path::new("g"), bytes, &ReadOptions::default(), &context);
        assert!(error.unwrap_err().to_string().starts_with("g:300001: `oops`"));
    }
}

#[test]
fn what_is_no_text_is_refused() {
    assert_eq!(refused(""), "g: is empty");
    for text in ["\n\n", "# only a comment\n", " "] {
        let message = refused(text);
        assert!(message.contains("holds no edge"), "{text:?}: {message}");
    }
    assert!(refused(b"1 2\n\0\0").contains("byte 4 is zero"));
    assert!(refused(b"\xff\xfe1\x002\x00").contains("UTF-16"));
    assert!(refused(b"\xfd7zXZ\0....").contains("xz; gzip, zstd and plain"));
    assert!(refused(b"BZh91AY").contains("bzip2"));
    assert!(refused(b"PK\x03\x04....").contains("zip"));
}

#[test]
fn a_line_of_counts_is_not_taken_for_an_edge_in_silence() {
    let body: String = (0..40).map(|i| format!("{} {}\n", i % 20 + 1, 21 + i / 2)).collect();
    let counted = format!("40 40\n{body}");
    let message = refused(&counted);
    assert!(message.contains("the first line, 40 40, reads as an edge but looks"), "{message}");
    let forced = parse_as(&counted, Some(Format::Edges)).unwrap();
    assert!(forced.notes[0].contains("it is taken as an edge"), "{:?}", forced.notes);
    // With vertices from 0 on it is a file of ORCA.
    let orca: String = (0..40).map(|i| format!("{} {}\n", i % 20, 20 + i / 2)).collect();
    assert_eq!(parse(format!("40 40\n{orca}")).unwrap().format, Format::Orca);
    // Where the graph is small and the number of its vertices another, it is only remarked.
    let small = parse("9 2\n0 1\n1 2\n").unwrap();
    assert_eq!(small.graph.edges(), 3);
    assert!(small.notes[0].contains("looks like the numbers of vertices and edges"));
    assert!(parse("0 1\n1 2\n2 3\n").unwrap().notes.is_empty());
}

#[test]
fn lg_and_tve() {
    let lg = parse("t # 1\nv 0 5\nv 1 6\nv 2 5\nv 3 0\ne 0 1 3\ne 1 2 4\nt # -1\n").unwrap();
    assert_eq!(lg.format, Format::Lg);
    assert_eq!((lg.graph.vertices(), labels(&lg.graph)), (4, vec![5, 6, 5, 0]));
    assert_eq!(edges(&lg.graph), [(0, 1, 3), (1, 2, 4)]);
    // GraMi writes its first line as a comment.
    assert_eq!(parse("# t 1\nv 0 1\nv 1 1\ne 0 1 1\n").unwrap().format, Format::Lg);
    // Ids as they like, and edges before vertices.
    let odd = parse("t # 0\ne 70 9 1\nv 70 1\nv 9 2\n").unwrap().graph;
    assert_eq!((odd.original_ids(), labels(&odd)), (&[9, 70][..], vec![2, 1]));
    // Weights of the edges.
    let weights = parse("t # 1\nv 0 5\nv 1 6\ne 0 1 46.29\n").unwrap();
    assert!(!weights.graph.has_edge_labels());
    assert!(weights.notes[0].contains("have decimals (line 4)"), "{:?}", weights.notes);

    let tve = parse("t 3 2\r\nv 0 7 1\r\nv 1 8 2\r\nv 2 7 1\r\ne 0 1\r\ne 1 2\r\n").unwrap();
    assert_eq!(tve.format, Format::Tve);
    assert_eq!((pairs(&tve.graph), labels(&tve.graph)), (vec![(0, 1), (1, 2)], vec![7, 8, 7]));
    let igraph = parse("t 0 3\nv 0 7\nv 1 8\nv 2 7\ne 0 1 0\ne 1 2 0\n").unwrap();
    assert!(!igraph.graph.has_edge_labels(), "a 0 everywhere is a placeholder");
    let labelled = parse("t 2 1\nv 0 7 1\nv 1 8 1\ne 0 1 3\n").unwrap().graph;
    assert_eq!(edges(&labelled), [(0, 1, 3)]);

    all_refused(
        None,
        &[
            (
                "t 3 2\nv 0 1\nv 1 1\nv 2 1\ne 0 1\n",
                1,
                "the head says 3 vertices and 2 edges, but 3 `v` lines and 1",
            ),
            ("t # 1\nv 0 1\nv 1 1\ne 0 2 1\n", 4, "vertex 2, but no `v` line declares it"),
            ("t # 1\nv 0 1\nv 1 1\nv 0 2\n", 4, "vertex 0 is declared twice, first at line 2"),
            ("t # 1\nv 0 4294967295\n", 2, "label `4294967295` is out of range"),
            ("t # 1\nv 0 -1\n", 2, "label `-1` is out of range"),
            ("t # 1\nv 0\n", 2, "the label is missing"),
            ("t # 1\nv 0 1\ne 0\n", 3, "an edge needs two vertex ids"),
            ("t # 1\nv 0 1\nv 1 1\ne 0 1 2 3\n", 4, "`3` is too much"),
            ("t # 1\nv 0 1\nx\n", 3, "lines begin with `v` or `e`"),
            ("t # 1\nv 0 1\nv 1 1\ne 0 1 1\ne 1 0\n", 5, "has no label, but the one at line 4"),
            ("t hello\nv 0 1\n", 1, "is not a head of a graph"),
            ("t # 1\n", 0, "holds no vertex"),
        ],
    );
}

#[test]
fn arabesque() {
    let g = parse("0 7 1 2\n1 8 0\n2 7 0\n3 9\n").unwrap();
    assert_eq!(g.format, Format::Arabesque);
    assert_eq!((g.graph.vertices(), labels(&g.graph)), (4, vec![7, 8, 7, 9]));
    assert_eq!((pairs(&g.graph), g.graph.stats().duplicates), (vec![(0, 1), (0, 2)], 2));
    all_refused(
        Some(Format::Arabesque),
        &[
            ("0 1 1 2\n1 1 0 9\n2 1 0 1\n", 2, "vertex 9, but no line declares it"),
            ("0 1 1 2\n1 1 0 2\n2 1 0 x\n", 3, "`x` is not a vertex id"),
            ("0 1 1 2\n1 -1 0 2\n2 1 0 1\n", 2, "label `-1` is out of range"),
            ("0 1 1 2\n1 1 0 2\n2 1 0 1\n1 1 0\n", 4, "declared twice, first at line 2"),
            ("0 1 1\n1\n", 2, "the label is missing"),
        ],
    );
    // Lines of two columns are an edge list unless `--format` says otherwise.
    assert_eq!(parse("0 5\n1 6\n").unwrap().format, Format::Edges);
    assert_eq!(parse_as("0 5\n1 6\n", Some(Format::Arabesque)).unwrap().graph.vertices(), 2);
}

#[test]
fn metis() {
    let g = parse("% comment\n5 3 0\n2 3\n1\n% another\n1 4\n3 \n\n").unwrap();
    assert_eq!(g.format, Format::Metis);
    assert_eq!((g.graph.vertices(), g.graph.edges()), (5, 3));
    assert_eq!(pairs(&g.graph), [(1, 2), (1, 3), (3, 4)]);
    assert_eq!(g.graph.original_ids(), [1, 2, 3, 4, 5]);
    // The last row is blank and has no line end, or blank lines too many follow.
    assert_eq!(parse("3 1\n2\n1\n").unwrap().graph.vertices(), 3);
    assert_eq!(parse("3 1\n2\n1\n\n\n\n").unwrap().graph.vertices(), 3);
    // Weights: of edges, of vertices, both with two each and a size.
    let weighted = parse_as("3 2 1\n2 9\n1 9 3 8\n2 8\n", Some(Format::Metis)).unwrap().graph;
    assert_eq!(edges(&weighted), [(1, 2, 9), (2, 3, 8)]);
    let weighted = parse_as("3 2 10\n7 2\n6 1 3\n5 2\n", Some(Format::Metis)).unwrap().graph;
    assert_eq!((labels(&weighted), pairs(&weighted)), (vec![7, 6, 5], vec![(1, 2), (2, 3)]));
    let weighted = parse_as("2 1 111 2\n9 7 1 2 4\n9 6 1 1 4\n", Some(Format::Metis)).unwrap();
    assert_eq!((labels(&weighted.graph), edges(&weighted.graph)), (vec![7, 6], vec![(1, 2, 4)]));
    assert!(weighted.notes[0].contains("only the first weight"));

    all_refused(
        Some(Format::Metis),
        &[
            ("3 3\n2\n1 3\n2\n", 1, "says 3 edges, so 6 neighbours, but there are 4"),
            ("5 2\n2\n1 3\n2\n", 1, "the header says 5 vertices, but 3 rows follow"),
            ("3 2\n2\n1 3\n2\n1\n", 5, "this is row 4, but the header (line 1) says 3 vertices"),
            ("3 2\n2\n1 4\n2\n", 3, "neighbour 4 is not between 1 and 3"),
            ("3 2\n2\n1 0\n2\n", 3, "neighbour 0 is not between 1 and 3"),
            ("3 2\n2\n1 x\n2\n", 3, "`x` is not a vertex id"),
            ("3 2 1\n2 1\n1 1 3\n2 1\n", 3, "the weight of the last edge is missing"),
            ("3\n2\n1 3\n2\n", 1, "is not a METIS header"),
            ("3 2 7\n2\n1 3\n2\n", 1, "is not a METIS header"),
            ("18446744073709551615 1\n2\n1\n", 1, "vertices are declared, but at most"),
            ("2000000 1\n2\n1\n", 1, "the setting `max_vertices` allows more"),
            // Twice the edges is more than 64 bits hold.
            ("3 9223372036854775809\n2\n1\n\n", 1, "so 18446744073709551618 neighbours"),
        ],
    );
    // A wrong count is reported without `--format`.
    assert!(refused("3 3\n2\n1 3\n2\n").contains("the header says 3 edges"));
}

#[test]
fn matrix_market() {
    let text = |rest: &str| format!("%%MatrixMarket matrix coordinate {rest}");
    let g = parse(text("pattern symmetric\n% c\n\n5 5 3\n2 1\n3 1\n3 3\n")).unwrap();
    assert_eq!(g.format, Format::Mtx);
    assert_eq!((g.graph.vertices(), g.graph.edges(), g.graph.stats().self_loops), (5, 2, 1));
    let g = parse(text("real general\n3 3 4\n1 2 0.5\n2 1 -1e3\n2 3 0.0\n3 1 0.1\n")).unwrap();
    assert_eq!(pairs(&g.graph), [(1, 2), (1, 3)]);
    let zero = "1 entry of the matrix is zero, which is not an edge";
    let again = "1 edge is given again, in this or the other direction, and left out";
    let directed = "the matrix is general and not symmetric, which says that edges are directed: direction is dropped";
    assert_eq!(g.notes, [zero, directed, again]);
    assert_eq!(parse(text("integer symmetric\n2 2 1\n2 1 7\n")).unwrap().graph.edges(), 1);
    assert_eq!(parse(text("pattern general\n9 9 0\n")).unwrap().graph.vertices(), 9);

    for (rest, line, reason) in [
        ("pattern symmetric\n3 3 2\n2 1\n", 2, "says 2 entries, but 1 follows"),
        ("pattern symmetric\n3 3 1\n2 1\n3 1\n", 2, "says 1 entry, but 2"),
        ("pattern symmetric\n3 3 1\n0 1\n", 3, "index 0 is not between 1 and 3"),
        ("pattern symmetric\n3 3 1\n4 1\n", 3, "index 4 is not between 1 and 3"),
        ("pattern symmetric\n3 3 1\n2 1 1\n", 3, "it has 1 value, but the banner says 0"),
        ("real symmetric\n3 3 1\n2 1\n", 3, "it has 0 values, but the banner says 1"),
        ("real symmetric\n3 3 1\n2 1 x\n", 3, "`x` is not a number"),
        ("real symmetric\n3 4 1\n2 1 1\n", 2, "3 rows and 4 columns"),
        ("real symmetric\n3 3\n2 1 1\n", 2, "is not a size line"),
        ("real symmetric\n", 1, "the size line `V V entries` is missing"),
        ("quaternion symmetric\n", 1, "field `quaternion` is not known"),
        ("real sideways\n", 1, "symmetry `sideways` is not known"),
        ("pattern general\n99999999999 99999999999 0\n", 2, "vertices are declared"),
        (
            "pattern general\n100000000 100000000 1\n1 2\n",
            2,
            "the setting `max_vertices` allows more",
        ),
    ] {
        all_refused(None, &[(&text(rest), line, reason)]);
    }
    all_refused(
        None,
        &[("%%MatrixMarket matrix array real general\n2 2\n", 1, "is not a sparse matrix")],
    );
    // Its extension says what it wants to be.
    let text = b"3 3 1\n2 1\n".to_vec();
    let error = read_bytes(Path::new("a.mtx"), text, &ReadOptions::default(), &Context::default());
    let message = error.unwrap_err().to_string();
    assert!(message.starts_with("a.mtx:1: `3 3 1` is not the first line of a Matrix"), "{message}");
}

#[test]
fn triples() {
    let g = parse("3\n0 1 5\n1 0 4\n1 2 9\n").unwrap();
    assert_eq!(g.format, Format::Triples);
    assert_eq!(edges(&g.graph), [(0, 1, 4), (1, 2, 9)]);
    assert_eq!(g.graph.stats().label_conflicts, 1);
    assert_eq!(g.notes[0], "1 duplicate edge has another label than the one kept (the smallest)");
    all_refused(
        None,
        &[
            ("3\n0 1 5\n1 2 9\n", 1, "3 triples are announced, but 2 follow"),
            ("1\n0 1 5\n1 2 9\n", 1, "1 triple is announced, but 2 follow"),
            ("2\n0 1 5\n1 2\n", 3, "the relation is missing"),
            ("2\n0 1 5\n1 2 4294967295\n", 3, "label `4294967295` is out of range"),
            ("2\n0 1 5\n1 2 3 4\n", 3, "`4` is too much"),
        ],
    );
}

/// Reads with a file of labels.
fn with_labels(graph: &str, labels: &str, column: Option<usize>) -> gramer::Result<GraphFile> {
    let folder = tempfile::tempdir().unwrap();
    let (g, l) = (folder.path().join("g.txt"), folder.path().join("labels.txt"));
    std::fs::write(&g, graph).unwrap();
    std::fs::write(&l, labels).unwrap();
    let options = ReadOptions { labels: Some(l), labels_column: column, ..ReadOptions::default() };
    read(&g, &options, &Context::with_threads(1))
}

#[test]
fn label_files() {
    let graph = "0 1\n1 3\n";
    for (text, column) in [
        ("7\n8\n5\n9\n", None),
        ("# c\n7\r\n8\r\n5\r\n9", None),
        ("label\n7\n8\n5\n9\n\n", None),
        ("0 7\n1 8\n3 9\n", None),
        ("id,target\n3,9\n\n1,8\n0,7\n", None),
        ("1 7 1\n1 8 1\n1 5 1\n1 9 1\n", Some(2)),
        ("a,b\n1,7\n1,8\n1,5\n1,9\n", Some(2)),
        ("7\n8\n5\n9\n1\n2\n", Some(1)),
    ] {
        let loaded = with_labels(graph, text, column).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        assert_eq!(labels(&loaded.graph), [7, 8, 9], "{text:?}");
    }
    let unused = with_labels(graph, "7\n8\n5\n9\n1\n2\n", None).unwrap().notes;
    assert!(
        unused[0].starts_with("3 of 6 labels belong to vertices without an edge"),
        "{unused:?}"
    );

    for (text, column, reason) in [
        ("7\n8\n", None, "labels.txt: vertex 3 of the graph has no label: the table has 2 rows"),
        ("0 7\n1 8\n", None, "labels.txt: vertex 3 of the graph has no label"),
        ("5 1\n", None, "labels.txt:1: a label for vertex 5, which is not in the graph"),
        ("0 7\n1 8\n3 9\n2 1\n", None, "labels.txt:4: a label for vertex 2, which is not"),
        ("0 7\n1 8\n3 9\n1 8\n", None, "labels.txt:4: a second label for vertex 1"),
        ("7\n8\nx\n9\n", None, "labels.txt:3: `x` is not a label"),
        ("7\n4294967295\n", None, "labels.txt:2: label `4294967295` is out of range"),
        ("7\n-8\n", None, "labels.txt:2: label `-8` is out of range"),
        ("7\n\n8\n", None, "labels.txt:2: a blank line where the label of vertex 1 should be"),
        ("7\n8 1\n", None, "labels.txt:2: `8 1` has 2 columns, but the first line has 1"),
        ("1 2 3\n", None, "3 columns: say which one with the setting `labels_column` (1 to 3)"),
        ("1 2 3\n", Some(4), "the setting `labels_column` is 4, but the table has 3 columns"),
        ("1 2 3\n", Some(0), "the setting `labels_column` is 0, but columns count from 1"),
        ("# nothing\n", None, "labels.txt: holds no label"),
        ("-1 2\n", None, "labels.txt:1: vertex id `-1` is negative"),
    ] {
        let message = with_labels(graph, text, column).unwrap_err().to_string();
        assert!(message.contains(reason), "{text:?}: {message}");
    }
}

/// A small random graph with ids, loops and duplicates as they come.
fn any_edges() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let id = prop_oneof![4 => 0..30u64, 1 => any::<u64>()];
    prop::collection::vec((id.clone(), id), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The builder against sets, on one thread and on several.
    #[test]
    fn rows_are_what_the_edges_say(list in any_edges(), labelled: bool, extra in 0..40u64) {
        let mut expected = std::collections::BTreeMap::new();
        for (i, &(u, v)) in list.iter().enumerate().filter(|(_, (u, v))| u != v) {
            let label = if labelled { i as u32 % 3 } else { 0 };
            let kept = expected.entry((u.min(v), u.max(v))).or_insert(label);
            *kept = label.min(*kept);
        }
        let mut ids: Vec<u64> = list.iter().flat_map(|&(u, v)| [u, v]).chain([extra]).collect();
        ids.sort_unstable();
        ids.dedup();
        for threads in [1, 3] {
            let mut b = Builder::new();
            b.vertex(extra);
            // More edges than a thread is started for, so that several take part.
            for _ in 0..1 + 110_000 / list.len() * usize::from(threads > 1) {
                for (i, &(u, v)) in list.iter().enumerate() {
                    if labelled { b.labelled_edge(v, u, i as u32 % 3) } else { b.edge(v, u) }
                }
            }
            let g = b.build_with(&Context::with_threads(threads)).unwrap();
            prop_assert_eq!(g.original_ids(), &ids[..]);
            let found: Vec<_> = edges(&g).into_iter().map(|(u, v, l)| ((u, v), l)).collect();
            prop_assert_eq!(found, expected.clone().into_iter().collect::<Vec<_>>());
            let stats = g.stats();
            let sum = stats.self_loops + stats.duplicates + g.edges() as u64;
            prop_assert_eq!(stats.raw_edges, sum);
            for v in 0..g.vertices() as u32 {
                prop_assert!(g.view().neighbours(v).is_sorted_by(|a, b| a < b));
            }
        }
    }

    /// Each format reads its own output, detected and with `--format`.
    #[test]
    fn formats_read_what_they_write(
        list in prop::collection::vec((0..12u64, 0..12u64), 1..40),
        vertex_labels: bool,
        edge_labels: bool,
        seed: u32,
    ) {
        let mut b = Builder::new();
        for (i, &(u, v)) in list.iter().enumerate() {
            let label = 1 + (seed.rotate_left(i as u32) & 3);
            if edge_labels { b.labelled_edge(u, v, label) } else { b.edge(u, v) }
        }
        b.vertex_range(0..12);
        for id in 0..12 {
            if vertex_labels {
                b.vertex_label(id, seed.rotate_right(id as u32) & 7);
            }
        }
        let graph = b.build();
        prop_assume!(graph.edges() > 0);
        for format in [
            Format::Edges,
            Format::Lg,
            Format::Tve,
            Format::Arabesque,
            Format::Metis,
            Format::Mtx,
            Format::Triples,
        ] {
            use Format::*;
            let mut text = Vec::new();
            write_text(&mut text, &graph, format).unwrap();
            for told in [None, Some(format)] {
                let back = match parse_as(&text, told) {
                    // Labels that are all vertices may be neighbours: only a name of the format tells.
                    Err(error) if told.is_none() && format == Arabesque && vertex_labels => {
                        let message = error.to_string();
                        prop_assert!(message.contains("or `id neighbours…`"), "{}", message);
                        continue;
                    }
                    back => back.unwrap(),
                };
                prop_assert_eq!(back.format, format, "{}", String::from_utf8_lossy(&text));
                let back = back.graph;
                let base = u64::from(matches!(format, Metis | Mtx));
                let keeps_edge_labels = matches!(format, Lg | Tve | Metis | Triples);
                let expected: Vec<_> = edges(&graph)
                    .into_iter()
                    .map(|(u, v, l)| (u + base, v + base, if keeps_edge_labels { l } else { 0 }))
                    .collect();
                prop_assert_eq!(edges(&back), expected);
                if !matches!(format, Edges | Triples) {
                    prop_assert_eq!(back.vertices(), graph.vertices());
                }
                if vertex_labels && matches!(format, Lg | Tve | Arabesque | Metis) {
                    prop_assert_eq!(labels(&back), labels(&graph));
                }
            }
        }
    }

    /// The image holds everything, in either order.
    #[test]
    fn images_read_what_was_written(list in any_edges(), labelled: bool) {
        let mut b = Builder::new();
        for (i, &(u, v)) in list.iter().enumerate() {
            if labelled { b.labelled_edge(u, v, i as u32) } else { b.edge(u, v) }
        }
        let graph = b.build();
        let ranked = gramer::prepare::renumber(&graph, &Context::with_threads(1)).unwrap();
        for graph in [&graph, &ranked] {
            let mut bytes = Vec::new();
            image::write_to(&mut bytes, graph, "a name").unwrap();
            let back = parse(bytes).unwrap();
            prop_assert_eq!(back.format, Format::Image);
            let (v, w) = (graph.view(), back.graph.view());
            prop_assert_eq!((v.offsets, v.neighbours), (w.offsets, w.neighbours));
            prop_assert_eq!((v.vertex_labels, v.edge_labels), (w.vertex_labels, w.edge_labels));
            prop_assert_eq!(graph.original_ids(), back.graph.original_ids());
            prop_assert_eq!(graph.order(), back.graph.order());
            prop_assert_eq!(graph.stats(), back.graph.stats());
        }
        let back = in_input_order(&ranked, &Context::with_threads(1)).unwrap();
        prop_assert_eq!(edges(&back), edges(&graph));
        prop_assert_eq!(back.view().neighbours, graph.view().neighbours);
        prop_assert_eq!(back.stats(), graph.stats());
    }

    /// Whatever the bytes are, there is a graph or an error, never a panic.
    #[test]
    fn no_text_panics(
        text in "[0-9tve#% ,.\\n\\r\u{feff}x-]{0,80}",
        format in prop::sample::select(vec![
            None, Some(Format::Edges), Some(Format::Lg), Some(Format::Arabesque),
            Some(Format::Metis), Some(Format::Mtx), Some(Format::Triples), Some(Format::Image),
        ]),
    ) {
        let options = ReadOptions { format, max_vertices: Some(1 << 20), ..ReadOptions::default() };
        let _ = read_bytes(Path::new("g"), text.into_bytes(), &options, &Context::with_threads(1));
    }
}

#[test]
fn large_inputs_are_the_same_on_any_number_of_threads() {
    let model = Model::Rmat { scale: 15, edge_factor: 14, a: 0.57, b: 0.19, c: 0.19 };
    let labels = Some(Labels { count: 5, exponent: 0.0 });
    let recipe = Recipe { model, seed: 7, vertex_labels: labels, edge_labels: labels };
    let graph = generate(&recipe, &Context::default()).unwrap();
    for format in [Format::Edges, Format::Tve, Format::Arabesque, Format::Metis, Format::Mtx] {
        let mut text = Vec::new();
        write_text(&mut text, &graph, format).unwrap();
        assert!(text.len() > 3 << 20, "several blocks, or the test shows nothing");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, &text).unwrap();
        let gzip = gzip.finish().unwrap();
        let images = [(&text, 1), (&text, 2), (&text, 5), (&gzip, 2)].map(|(bytes, threads)| {
            let context = Context::with_threads(threads);
            let options = ReadOptions::default();
            let loaded = read_bytes(Path::new("g"), bytes.clone(), &options, &context).unwrap();
            assert_eq!(loaded.format, format);
            assert_eq!(loaded.bytes, text.len() as u64);
            assert_eq!(loaded.graph.edges(), graph.edges());
            let mut image = Vec::new();
            image::write_to(&mut image, &loaded.graph, "").unwrap();
            image
        });
        assert!(images.windows(2).all(|w| w[0] == w[1]), "{format}");
    }
}

#[test]
fn a_cancelled_load_stops() {
    let context = Context::with_threads(2);
    context.cancel.cancel();
    let text = "1 2\n".repeat(1 << 20).into_bytes();
    let error = read_bytes(Path::new("g"), text, &ReadOptions::default(), &context).unwrap_err();
    assert_eq!(error.exit_code(), 130);
}

#[test]
fn a_line_of_names_is_a_header_only_before_numbers() {
    let loaded = parse("# c\nid_1,id_2\n0,1\n1,2\n").unwrap();
    assert_eq!(loaded.graph.edges(), 2);
    let note = "line 2, `id_1,id_2`, is taken as the names of the columns";
    assert_eq!(loaded.notes, [note]);
    for (text, vertices) in
        [("alice bob\nbob carol\n", 3), ("1 2\ncarol 1\n", 3), ("1 2\n2 -3\n", 3)]
    {
        assert_eq!(parse(text).unwrap().graph.vertices(), vertices, "{text:?}");
    }
    let mark = "fields are separated by white space or `,`, not by `:`";
    all_refused(None, &[("1:2\n2:3\n", 1, mark)]);
}

#[test]
fn a_mark_ends_an_lg_graph() {
    let text = "t # 1\nv 0 1\nv 1 1\ne 0 1\nt # -1\n";
    assert!(parse(text).unwrap().notes.is_empty());
    for rest in ["v 2 1\ne 0 2\n", "anything\n", "t # 2\nv 0 1\n"] {
        let loaded = parse(format!("{text}{rest}")).unwrap();
        assert_eq!((loaded.graph.vertices(), loaded.graph.edges()), (2, 1), "{rest:?}");
        let note = "line 5, `t # -1`, ends the graph: what follows it is ignored";
        assert_eq!(loaded.notes, [note], "{rest:?}");
    }
    // The rest may fill whole blocks, with further faults.
    let long = format!("{text}{}", "what is this\n".repeat(400_000));
    for threads in [1, 3] {
        let context = Context::with_threads(threads);
        let options = ReadOptions::default();
        let bytes = long.clone().into_bytes();
        let loaded = read_bytes(Path::new("g"), bytes, &options, &context).unwrap();
        assert_eq!((loaded.graph.edges(), loaded.notes.len()), (1, 1));
    }
}

#[test]
fn the_name_says_metis() {
    let read = |name: &str| {
        let bytes = b"2 1\n2\n1\n".to_vec();
        read_bytes(Path::new(name), bytes, &ReadOptions::default(), &Context::with_threads(1))
    };
    assert_eq!(read("a.metis.gz").unwrap().format, Format::Metis);
    let bytes = b"1000000000 0\n".to_vec();
    let context = Context::with_threads(1);
    let error = read_bytes(Path::new("a.metis"), bytes, &ReadOptions::default(), &context);
    let message = error.unwrap_err().to_string();
    assert!(message.starts_with("a.metis:1: 1000000000 vertices are declared"), "{message}");
}
