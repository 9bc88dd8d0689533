use super::super::{Builder, Label};
use super::*;

fn sample(labels: bool) -> Graph {
    let mut b = Builder::new();
    for (u, v) in [(7, 3), (3, 9), (9, 7), (9, 1 << 40), (7, 7), (3, 7)] {
        if labels { b.labelled_edge(u, v, (u + v) as Label & 7) } else { b.edge(u, v) }
    }
    if labels {
        for id in [3, 7, 9, 1 << 40, 11] {
            b.labelled_vertex(id, id as Label & 3);
        }
    }
    b.build()
}

fn bytes(graph: &Graph) -> Vec<u8> {
    let mut out = Vec::new();
    write_to(&mut out, graph, "sample").unwrap();
    out
}

fn refused(bytes: &[u8]) -> String {
    let error = from_bytes(Path::new("x.gramer"), bytes).expect_err("must be refused");
    let message = error.to_string();
    assert!(message.starts_with("x.gramer: "), "{message}");
    message
}

fn same(a: &Graph, b: &Graph) {
    let (v, w) = (a.view(), b.view());
    assert_eq!((v.offsets, v.neighbours), (w.offsets, w.neighbours));
    assert_eq!((v.vertex_labels, v.edge_labels), (w.vertex_labels, w.edge_labels));
    assert_eq!(a.original_ids(), b.original_ids());
    assert_eq!((a.order(), a.stats()), (b.order(), b.stats()));
}

#[test]
fn round_trip_from_memory_and_from_a_mapped_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gramer");
    let empty = Builder::new().build();
    let mut identity = Builder::new();
    identity.edge(0, 1);
    let mut isolated = Builder::new();
    isolated.vertex_range(0..5);
    for graph in [sample(false), sample(true), empty, identity.build(), isolated.build()] {
        same(&graph, &from_bytes(&path, &bytes(&graph)).unwrap());
        write(&path, &graph, "sample").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes(&graph));
        for verify in [true, false] {
            same(&graph, &open(&path, verify).unwrap());
        }
        assert_eq!(name(&path).unwrap().as_deref(), Some("sample"));
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_refused() {
    for graph in [sample(false), sample(true)] {
        let good = bytes(&graph);
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                refused(&bad);
            }
            refused(&good[..at]);
        }
        let mut longer = good.clone();
        longer.push(0);
        assert!(refused(&longer).contains("goes on after its end"));
    }
}

/// The image with its checksums made right again.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    seal(&mut bytes);
    bytes
}

#[test]
fn each_reason_is_named() {
    let good = bytes(&sample(true));
    let with = |at: usize, new: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    };
    assert!(refused(b"1 2\n").contains("is no graph image"));
    assert!(refused(&good[..100]).contains("cut off: 100 bytes"));
    assert!(refused(&good[..good.len() - 1]).contains("is cut off"));
    let version = refused(&with(8, &2u32.to_le_bytes()));
    assert!(version.contains("version 2, but this program reads version 1"), "{version}");
    assert!(refused(&with(12, &[1, 2, 3, 4])).contains("big-endian"));
    assert!(refused(&with(50, &[9])).contains("checksum of its header"));
    assert!(refused(&with(good.len() - 3, b"?")).contains("checksum of its data"));
    let order = refused(&resealed(with(28, &7u32.to_le_bytes())));
    assert!(order.contains("unknown order 7"), "{order}");
    let vertices = refused(&resealed(with(32, &u64::MAX.to_le_bytes())));
    assert!(vertices.contains("impossible"), "{vertices}");
    // The first section now claims another kind, or another place.
    let missing = refused(&resealed(with(HEADER, &99u32.to_le_bytes())));
    assert!(missing.contains("section of kind 99"), "{missing}");
    let outside = refused(&resealed(with(HEADER + 8, &(1u64 << 40).to_le_bytes())));
    assert!(outside.contains("outside"), "{outside}");
    let twice = refused(&resealed(with(HEADER + ENTRY, &kind::OFFSETS.to_le_bytes())));
    assert!(twice.contains("doesn't fit") || twice.contains("twice"), "{twice}");
}

#[test]
fn rows_that_lie_are_refused_even_with_right_checksums() {
    let graph = sample(false);
    let wrong_rows: [(&str, &[u32]); 6] = [
        ("a neighbour is no vertex", &[1, 2, 0, 2, 0, 1, 9, 2]),
        ("doesn't ascend", &[2, 1, 0, 2, 0, 1, 3, 2]),
        ("doesn't ascend", &[1, 1, 0, 2, 0, 1, 3, 2]),
        ("holds its own vertex", &[0, 2, 0, 2, 0, 1, 3, 2]),
        // Degrees stay, but 0 and 3 lead where nothing leads back.
        ("in the row of only one", &[1, 2, 0, 2, 0, 1, 3, 1]),
        ("in the row of only one", &[1, 3, 0, 2, 0, 1, 3, 2]),
    ];
    for (reason, neighbours) in wrong_rows {
        let mut out = Vec::new();
        let sections = [
            Section {
                kind: 1,
                required: true,
                data: bytemuck::cast_slice(graph.view().offsets),
            },
            Section { kind: 2, required: true, data: bytemuck::cast_slice(neighbours) },
        ];
        write_sections(&mut out, &graph, &sections).unwrap();
        assert!(refused(&out).contains(reason));
    }
    let mut out = Vec::new();
    let sections = [
        Section { kind: 1, required: true, data: bytemuck::cast_slice(&[0u64, 9, 4, 7, 8]) },
        Section {
            kind: 2,
            required: true,
            data: bytemuck::cast_slice(graph.view().neighbours),
        },
    ];
    write_sections(&mut out, &graph, &sections).unwrap();
    assert!(refused(&out).contains("row offsets"));
    // The offsets are checked without verification too.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gramer");
    std::fs::write(&path, &out).unwrap();
    assert!(open(&path, false).unwrap_err().to_string().contains("row offsets"));
}

#[test]
fn sections_of_later_versions_are_skipped_unless_they_must_be_known() {
    let graph = sample(false);
    for (required, readable) in [(false, true), (true, false)] {
        let mut out = Vec::new();
        let ids = bytemuck::cast_slice(graph.original_ids());
        let sections = [
            Section { kind: 77, required, data: b"something new" },
            Section {
                kind: 1,
                required: true,
                data: bytemuck::cast_slice(graph.view().offsets),
            },
            Section {
                kind: 2,
                required: true,
                data: bytemuck::cast_slice(graph.view().neighbours),
            },
            Section { kind: 5, required: true, data: ids },
        ];
        write_sections(&mut out, &graph, &sections).unwrap();
        if readable {
            same(&graph, &from_bytes(Path::new("x"), &out).unwrap());
        } else {
            assert!(refused(&out).contains("section of kind 77"));
        }
    }
}
