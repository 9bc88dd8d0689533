//! What the head of a file says is compared with what was read, and a file must not change meanwhile.

mod common;

use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use common::{pairs, parse, parse_named, refused};
use gramer_base::Context;
use gramer_graph::read::{Format, ReadOptions, read, read_bytes};

#[test]
fn a_cut_file_is_refused_with_both_numbers() {
    for (text, line) in [
        ("# Nodes: 6 Edges: 9\n# FromNodeId\tToNodeId\n0\t1\n0\t2\n1\t2\n2\t3\n", 1),
        ("# Undirected graph: x\n#\n# Nodes: 4\tEdges: 9\n0 1\n0 2\n1 2\n2 3\n", 3),
        ("% sym unweighted\n% 9 6 6\n1 2\n2 3\n3 1\n3 4\n", 2),
        ("# vertices=4, edges=9\n0 1\n0 2\n1 2\n2 3\n", 1),
        ("# edges: 9\nt # 0\nv 0 1\nv 1 1\nv 2 1\nv 3 1\ne 0 1\ne 0 2\ne 1 2\ne 2 3\n", 1),
    ] {
        let message = refused(text);
        assert!(
            message.starts_with(&format!("g:{line}: this line says 9 edges, but 4 follow")),
            "{message}"
        );
    }
}

#[test]
fn what_a_head_says_is_compared() {
    // Each edge once or in both directions, self loops counted or not.
    for text in [
        "# Nodes: 3 Edges: 3\n0 1\n1 2\n2 0\n",
        "# Nodes: 3 Edges: 3\n0 1\n1 0\n1 2\n2 1\n2 0\n0 2\n",
        "# Nodes: 3 Edges: 6\n0 1\n1 0\n1 2\n2 1\n2 0\n0 2\n",
        "% sym unweighted\n% 3 3 3\n1 2\n2 3\n3 1\n",
        "# a list of 7 nodes and edges\n0 1\n",
        "# Edges: see below\n0 1\n",
    ] {
        assert_eq!(parse(text).notes, [""; 0], "{text:?}");
    }
    let notes = parse("# Nodes: 9 Edges: 3\n0 1\n1 2\n2 0\n").notes;
    assert_eq!(
        notes,
        ["line 1 says 9 vertices, but 3 have an edge: the others are not in the graph"]
    );
    let notes = parse("# Nodes: 2 Edges: 1\n0 1\n1 2\n2 0\n").notes;
    assert_eq!(notes, ["line 1 says 1 edge, but 3 follow", "line 1 says 2 vertices, but 3 follow"]);
}

#[test]
fn a_claim_that_does_not_hold_may_be_allowed() {
    for text in ["# Nodes: 3 Edges: 9\n0 1\n1 2\n", "p edge 3 9\ne 1 2\ne 2 3\n"] {
        let options = ReadOptions { allow_mismatch: true, ..ReadOptions::default() };
        let read =
            read_bytes(Path::new("g"), text.into(), &options, &Context::with_threads(1)).unwrap();
        assert_eq!(pairs(&read).len(), 2);
        assert!(
            read.notes.iter().any(|note| note.contains("9 edges, but 2 follow")),
            "{:?}",
            read.notes
        );
        assert!(refused(text).contains("9 edges, but 2 follow"));
    }
}

#[test]
fn a_bipartite_graph_keeps_its_sides_apart() {
    let text = "% bip unweighted\n% 3 2 5\n1 1\n1 2\n2 2\n";
    let read = parse(text);
    assert_eq!((read.format, pairs(&read)), (Format::Konect, vec![(1, 3), (1, 4), (2, 4)]));
    assert!(read.notes.iter().any(|note| note.contains("vertex i of its right side is 2 + i")));
    // Without numbers in its head.
    assert_eq!(pairs(&parse("% bip\n1 1\n3 1\n")), [(1, 4), (3, 4)]);
    assert!(refused("% bip\n% 9 3 3\n1 1\n3 1\n").contains("the head says 9 edges, but 2 follow"));
    assert!(refused("% bip\n% 2 3 3\n1 1\n3 4\n").contains("vertex 4 is out of range"));
    assert!(parse_named("g", text, Some(Format::Edges)).is_ok());
}

#[test]
fn a_dropped_direction_is_said() {
    let mtx = |rest: &str| format!("%%MatrixMarket matrix coordinate pattern {rest}");
    for text in [
        "% asym unweighted\n% 3 3 3\n1 2\n2 3\n3 1\n",
        "# Directed graph (each unordered pair of nodes is saved once): x\n1 2\n2 3\n",
        "% directed\n1 2\n2 3\n",
        "# directed: true\n1 2\n2 3\n3 2\n",
        &mtx("general\n3 3 3\n1 2\n2 1\n2 3\n"),
    ] {
        let notes = parse(text).notes;
        let said =
            |note: &String| note.ends_with("says that edges are directed: direction is dropped");
        assert!(notes.iter().any(said), "{text:?}: {notes:?}");
    }
    // Nothing is lost where each arc has its reverse, or nothing has a direction.
    for text in [
        "% asym unweighted\n1 2\n2 1\n",
        "# Undirected graph: x\n1 2\n",
        "# directed: false\n1 2\n",
        &mtx("general\n2 2 2\n1 2\n2 1\n"),
        &mtx("symmetric\n2 2 1\n2 1\n"),
    ] {
        assert_eq!(parse(text).notes, [""; 0], "{text:?}");
    }
}

#[test]
fn a_first_line_of_counts_is_no_edge() {
    for text in [
        "8 7\n1 2\n1 3\n1 4\n1 5\n5 6\n6 7\n7 8\n",
        "4 3\n10 20\n20 30\n30 40\n",
        "5 5 5\n2 1 1.0\n3 1 1.0\n4 3 1.0\n5 4 1.0\n3 2 1.0\n",
    ] {
        let message = refused(text);
        assert!(
            message.contains("looks like the numbers of vertices and edges"),
            "{text:?}: {message}"
        );
        assert!(message.contains("the setting `format`: edges"), "{text:?}: {message}");
        let forced = parse_named("g", text, Some(Format::Edges)).unwrap();
        assert!(
            forced.notes.iter().any(|n| n.contains("it is taken as an edge")),
            "{:?}",
            forced.notes
        );
        // Told to be a head, it is one.
        assert!(parse(&format!("# {text}")).notes.iter().all(|n| !n.contains("looks like")));
    }
    // With vertices from 0 on it is a file of ORCA.
    for (text, edges) in [("8 7\n0 1\n0 2\n0 3\n0 4\n4 5\n5 6\n6 7\n", 7), ("3 2\n0 1\n1 2\n", 2)] {
        let read = parse(text);
        assert_eq!((read.format, pairs(&read).len()), (Format::Orca, edges));
        assert!(read.notes.iter().any(|note| note.starts_with("read as orca")), "{:?}", read.notes);
        assert!(
            parse_named("g", text, Some(Format::Edges)).unwrap().notes[0]
                .contains("taken as an edge")
        );
    }
    // A number that isn't how many follow.
    assert_eq!(pairs(&parse("8 7\n0 1\n1 2\n")).len(), 3);
}

#[test]
fn one_percent_begins_matrix_market_too() {
    let text =
        "%MatrixMarket matrix coordinate pattern symmetric\n5 5 5\n2 1\n3 1\n4 3\n5 4\n3 2\n";
    for name in ["bio.mtx", "g"] {
        let read = parse_named(name, text, None).unwrap();
        assert_eq!((read.format, pairs(&read).len()), (Format::Mtx, 5));
    }
    assert!(refused(&text.replace("5 5 5", "5 5 6")).contains("says 6 entries, but 5 follow"));
}

/// A file that another thread truncates, lengthens or rewrites while it is read.
#[test]
fn a_text_that_changes_while_it_is_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..1_500_000u32).map(|i| format!("{} {}\n", i, i + 1)).collect();
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let line_end = text[..text.len() / 2].rfind('\n').unwrap() as u64 + 1;
    let cut = |path: &Path| {
        std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(line_end).unwrap()
    };
    let add = |path: &Path| {
        std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(b"1 3\n").unwrap();
    };
    let touch = |path: &Path| {
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(5)).unwrap();
    };
    type Change<'a> = &'a (dyn Fn(&Path) + Sync);
    let changes: [(&str, &[u8], Change<'_>); 4] = [
        ("cut.txt", text.as_bytes(), &cut),
        ("longer.txt", text.as_bytes(), &add),
        ("touched.txt", text.as_bytes(), &touch),
        ("touched.txt.gz", &gzip, &touch),
    ];
    for (name, bytes, change) in changes {
        let path = folder.path().join(name);
        // The change falls into the time of reading at once or at a later trial.
        let message = (0..40).find_map(|trial| {
            std::fs::write(&path, bytes).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(1 + trial % 10));
                    change(&path);
                });
                let context = Context::with_threads(1);
                read(&path, &ReadOptions::default(), &context).err().map(|error| error.to_string())
            })
        });
        let message = message.expect("a change is noticed");
        let begins = format!("{}: the file changed while it was read", path.display());
        assert!(message.starts_with(&begins), "{name}: {message}");
        assert!(parse_named("g", &text, None).is_ok());
    }
}
