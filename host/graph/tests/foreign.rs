//! Files that are binary or lie in folders of other programs: read, or named with the cure.

mod common;

use std::path::Path;

use common::pairs;
use gramer_base::Context;
use gramer_graph::read::{ReadOptions, read, read_bytes};
use gramer_graph::transactions;

fn refusal(bytes: &[u8]) -> String {
    let read =
        read_bytes(Path::new("g"), bytes.to_vec(), &ReadOptions::default(), &Context::default());
    read.map(|loaded| pairs(&loaded)).unwrap_err().to_string()
}

/// A graph as SNAP saves it: the largest id, the number of edges, the ports and the nodes of a hash table.
fn of_snap(wide: bool) -> Vec<u8> {
    let mut bytes = 3i32.to_le_bytes().to_vec();
    match wide {
        true => bytes.extend(2i64.to_le_bytes()),
        false => bytes.extend(2i32.to_le_bytes()),
    }
    // Five ports, three of which lead to nodes; then the nodes.
    for number in [5, 5, -1, 2, -1, 0, 1, 3, 3, 0, 1, -1] {
        bytes.extend(i32::to_le_bytes(number));
    }
    bytes
}

#[test]
fn binary_files_are_named_with_the_cure() {
    let npy =
        b"\x93NUMPY\x01\0v\0{'descr': '<i8', 'fortran_order': False, 'shape': (2, 2), }\n\0\0";
    for (bytes, named, cure) in [
        (
            &b"FEA1\0\0\0\0\x01\x02"[..],
            "a Feather file of version 1",
            "pandas.read_feather(FILE).to_feather(OUT)",
        ),
        (b"\x89HDF\r\n\x1a\n\0\0", "an HDF5 file", "two ids a line"),
        (npy, "an array of NumPy", "gramer.Graph.from_edges(numpy.load(FILE))"),
        (b"SQLite format 3\0\x10\0", "an SQLite database", "sqlite3 -csv"),
        (b"\x80\x04\x95\x10\0\0\0", "a pickle of Python", "if you trust its source"),
        (b"\x7fELF\x02\x01\x01\0", "a program", "not a graph"),
        (&of_snap(false), "a binary graph of SNAP", "snap.SaveEdgeList"),
        (&of_snap(true), "a binary graph of SNAP", "snap.SaveEdgeList"),
    ] {
        let message = refusal(bytes);
        assert!(message.starts_with("g: ") && message.contains(named), "{named}: {message}");
        assert!(message.contains(cure), "{cure}: {message}");
    }
    // Other numbers are not from SNAP.
    let other: Vec<u8> = (1..40i32).flat_map(i32::to_le_bytes).collect();
    assert!(refusal(&other).contains("neither text nor an image"), "{}", refusal(&other));
}

#[test]
fn folders_of_the_open_graph_benchmark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("edge.csv");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let load = || read(&path, &ReadOptions::default(), &Context::with_threads(1));
    write("edge.csv", "0,1\n1,2\n2,0\n0,1\n1,2\n");
    // One graph, or a file alone, is an edge list.
    assert_eq!(load().unwrap().graph.edges(), 3);
    write("num-node-list.csv", "4\n3\n");
    write("num-edge-list.csv", "3\n2\n");
    let several = load().unwrap();
    let second = 1 << 32;
    assert_eq!(
        pairs(&several),
        [(0, 1), (0, 2), (1, 2), (second, second + 1), (second + 1, second + 2)]
    );
    let sizes: Vec<usize> =
        transactions::of(&several.graph).iter().map(|(_, vertices)| vertices.len()).collect();
    assert_eq!(sizes, [4, 3]);
    assert!(several.notes.iter().any(|note| note.contains("lists 2 graphs: vertex v of graph i")));
    for (edges, vertices, message) in [
        ("3\n3\n", "4\n3\n", "says that graph 1 has 3 edges, but 2 follow"),
        ("3\n1\n", "4\n3\n", "edge.csv:5: more lines follow than the 4 edges of"),
        ("3\n2\n", "4\n2\n", "edge.csv:5: `1,2` is not an edge of graph 1, which has 2 vertices"),
        ("3\n2\n", "4\n", "lists 2 graphs, but"),
        ("3\nx\n", "4\n3\n", "num-edge-list.csv:2: `x` is not a whole number"),
    ] {
        write("num-edge-list.csv", edges);
        write("num-node-list.csv", vertices);
        let error = load().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
