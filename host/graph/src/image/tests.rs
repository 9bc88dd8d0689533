use std::sync::Arc;

use super::*;
use crate::generate::{Model, Recipe, generate};
use crate::{Builder, Label};
use gramer_base::Budget;
use gramer_base::context::Cancel;

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
        assert!(refused(&longer).contains("continues after its end"));
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
    assert!(refused(b"1 2\n").contains("is not a graph image"));
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
    assert!(twice.contains("doesn't fit") || twice.contains("repeated"), "{twice}");
}

#[test]
fn rows_that_lie_are_refused_even_with_right_checksums() {
    let graph = sample(false);
    let wrong_rows: [(&str, &[u32]); 6] = [
        ("a neighbour is not a vertex", &[1, 2, 0, 2, 0, 1, 9, 2]),
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
            Section { kind: 1, required: true, data: bytemuck::cast_slice(graph.view().offsets) },
            Section { kind: 2, required: true, data: bytemuck::cast_slice(neighbours) },
        ];
        write_sections(&mut out, &graph, &sections).unwrap();
        assert!(refused(&out).contains(reason));
    }
    let mut out = Vec::new();
    let sections = [
        Section { kind: 1, required: true, data: bytemuck::cast_slice(&[0u64, 9, 4, 7, 8]) },
        Section { kind: 2, required: true, data: bytemuck::cast_slice(graph.view().neighbours) },
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
            Section { kind: 1, required: true, data: bytemuck::cast_slice(graph.view().offsets) },
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

/// Graphs of many kinds: sparse and dense rows, labels, ids.
fn many() -> Vec<Graph> {
    let mut identity = Builder::new();
    identity.edge(0, 1);
    let mut isolated = Builder::new();
    isolated.vertex_range(0..5);
    let mut hub = Builder::new();
    // More than a group of rows, one of which is more than a group by itself.
    (1..40_000).for_each(|v| hub.edge(0, v));
    (1..20_000).for_each(|v| hub.edge(v, v * 7919 % 39_999 + 1));
    let empty = Builder::new().build();
    vec![sample(false), sample(true), empty, identity.build(), isolated.build(), hub.build()]
}

fn packed(graph: &Graph) -> Vec<u8> {
    let mut out = Vec::new();
    let rows = PackedRows::new(graph, &Cancel::default()).unwrap();
    write_packed_to(&mut out, graph, &rows, "sample").unwrap();
    out
}

#[test]
fn compressed_rows_come_back_in_memory_and_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gramer");
    let budget = Budget { bytes: 1 << 30, folder: folder.path().into() };
    for graph in many() {
        let bytes = packed(&graph);
        same(&graph, &from_bytes(&path, &bytes).unwrap());
        std::fs::write(&path, &bytes).unwrap();
        for (threads, budget) in [(1, None), (3, None), (2, Some(Arc::new(budget.clone())))] {
            let context = Context { budget, ..Context::with_threads(threads) };
            for verify in [true, false] {
                let file = File::open(&path).unwrap();
                let (read, size) = open_file(&path, &file, verify, &context).unwrap();
                same(&graph, &read);
                assert_eq!(size, bytes.len() as u64);
            }
        }
        assert_eq!(name(&path).unwrap().as_deref(), Some("sample"));
    }
}

#[test]
fn ids_of_a_plain_image_have_no_room_in_memory_either() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.gramer");
    let budget = Budget { bytes: 1 << 30, folder: folder.path().into() };
    let mut path_of_many = Builder::new();
    (0..70_000).for_each(|v| path_of_many.edge(v, v + 1));
    let graph = path_of_many.build();
    write(&path, &graph, "").unwrap();
    let context = Context { budget: Some(Arc::new(budget)), ..Context::default() };
    let file = File::open(&path).unwrap();
    same(&graph, &open_file(&path, &file, true, &context).unwrap().0);
}

#[test]
fn every_flipped_bit_and_every_cut_of_compressed_rows_is_refused() {
    for graph in [sample(false), sample(true)] {
        let good = packed(&graph);
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                refused(&bad);
            }
            refused(&good[..at]);
        }
    }
}

/// With right checksums any stream is decoded: it must be refused, or be another graph.
#[test]
fn streams_that_lie_are_refused_or_sound() {
    let mut reasons = std::collections::BTreeMap::<String, usize>::new();
    let mut ring = Builder::new();
    (0..60).for_each(|v| ring.edge(v, (v * v + 1) % 61));
    for graph in [sample(false), ring.build()] {
        let good = packed(&graph);
        for bit in 0..8 * good.len() {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            seal(&mut bad);
            match from_bytes(Path::new("x"), &bad) {
                Ok(read) => {
                    // An image of it reads as the same.
                    same(&read, &from_bytes(Path::new("x"), &bytes(&read)).unwrap());
                }
                Err(error) => *reasons.entry(error.to_string()).or_default() += 1,
            }
            // Without the check of symmetry, neighbours are vertices all the same, and rows ascend.
            let unchecked = Layout::parse(Path::new("x"), &bad).and_then(|layout| {
                layout.graph(Path::new("x"), &bad, false, &Source::Copy, &Context::with_threads(1))
            });
            if let Ok(read) = unchecked {
                let view = read.view();
                for v in 0..view.vertices() as u32 {
                    let row = view.neighbours(v);
                    assert!(row.is_sorted_by(|a, b| a < b));
                    assert!(row.iter().all(|&u| (u as usize) < view.vertices()));
                }
            }
        }
    }
    let has = |what: &str| reasons.keys().any(|reason| reason.contains(what));
    assert!(has("compressed rows are no rows of a graph"), "{reasons:#?}");
    assert!(has("in the row of only one of its vertices"), "{reasons:#?}");
}

#[test]
fn rows_that_are_there_twice_or_by_halves_are_refused() {
    let graph = sample(false);
    let rows = PackedRows::new(&graph, &Cancel::default()).unwrap();
    let view = graph.view();
    let section = |kind| Section {
        kind,
        required: true,
        data: match kind {
            kind::OFFSETS => bytemuck::cast_slice(view.offsets),
            kind::NEIGHBOURS => bytemuck::cast_slice(view.neighbours),
            kind::GROUPS => bytemuck::cast_slice(&rows.groups),
            _ => bytemuck::cast_slice(&rows.words),
        },
    };
    let written = |kinds: &[u32]| {
        let mut out = vec![];
        let sections: Vec<Section> = kinds.iter().map(|&kind| section(kind)).collect();
        write_sections(&mut out, &graph, &sections).unwrap();
        out
    };
    for kinds in [&[1, 7, 8][..], &[1, 2, 7], &[1, 2, 7, 8]] {
        assert!(refused(&written(kinds)).contains("stored twice"), "{kinds:?}");
    }
    for kinds in [&[7][..], &[8], &[1, 8], &[2, 7], &[]] {
        assert!(refused(&written(kinds)).contains("rows of the graph are missing"), "{kinds:?}");
    }
    // A table that promises more than a stream can hold is refused before memory is taken.
    let mut groups = rows.groups.clone();
    groups.push([1, 1 << 40, 1]);
    let sections =
        [Section { kind: 7, required: true, data: bytemuck::cast_slice(&groups) }, section(8)];
    let mut out = vec![];
    write_sections(&mut out, &graph, &sections).unwrap();
    assert!(refused(&out).contains("no rows of a graph"));
}

#[test]
fn random_compressed_graphs_come_back() {
    for seed in 0..24 {
        let model = match seed % 3 {
            0 => Model::Rmat { scale: 10, edge_factor: 1 << (seed % 8), a: 0.57, b: 0.19, c: 0.19 },
            1 => Model::ErdosRenyiEdges { vertices: 3000, edges: 100 * seed },
            _ => Model::BarabasiAlbert { vertices: 500, edges_per_vertex: 1 + seed },
        };
        let recipe = Recipe { model, seed, vertex_labels: None, edge_labels: None };
        let graph = generate(&recipe, &Context::default()).unwrap();
        let ranked = crate::prepare::renumber(&graph, &Context::default()).unwrap();
        for graph in [graph, ranked] {
            same(&graph, &from_bytes(Path::new("x"), &packed(&graph)).unwrap());
        }
    }
}

/// A reader of compressed rows as `docs/reference/image.md` describes them, bit by bit.
struct SpecReader<'a> {
    words: &'a [u32],
    at: usize,
}

impl SpecReader<'_> {
    fn bits(&mut self, count: u32) -> u64 {
        let bit = |at: usize| u64::from(self.words[at / 32] >> (at % 32) & 1);
        let number = (0..count).map(|i| bit(self.at + i as usize) << i).sum();
        self.at += count as usize;
        number
    }

    fn unary(&mut self) -> u32 {
        let mut zeros = 0;
        while self.bits(1) == 0 {
            zeros += 1;
        }
        zeros
    }

    fn gamma(&mut self) -> u64 {
        let highest = self.unary();
        (1 << highest) + self.bits(highest) - 1
    }

    fn delta(&mut self) -> u64 {
        let highest = self.gamma() as u32;
        (1 << highest) + self.bits(highest) - 1
    }

    fn zeta(&mut self) -> u64 {
        let h = self.unary();
        let values = (1u64 << (3 * h + 3)) - (1 << (3 * h));
        let highest = values.ilog2();
        let short = (2 << highest) - values;
        let mut number = self.bits(highest);
        if number >= short {
            number = 2 * number + self.bits(1) - short;
        }
        number + (1 << (3 * h)) - 1
    }

    fn rows(&mut self, rows: std::ops::Range<u64>) -> Vec<Vec<u64>> {
        let row = |v: u64| {
            let mut row = vec![];
            for at in 0..self.delta() {
                row.push(match (at, row.last()) {
                    (0, _) | (_, None) => match self.delta() {
                        folded if folded % 2 == 0 => v + folded / 2,
                        folded => v - folded.div_ceil(2),
                    },
                    (_, Some(last)) => last + self.zeta() + 1,
                });
            }
            row
        };
        rows.map(row).collect()
    }
}

#[test]
fn the_stream_is_what_the_documentation_says() {
    for graph in many() {
        let PackedRows { mut groups, words } = PackedRows::new(&graph, &Cancel::default()).unwrap();
        let view = graph.view();
        groups.push([view.vertices() as u64, view.neighbours.len() as u64, words.len() as u64]);
        for pair in groups.windows(2) {
            let [[first, entry, word], [end, ..]] = [pair[0], pair[1]];
            assert_eq!(view.offsets[first as usize], entry);
            let mut stream = SpecReader { words: &words[word as usize..], at: 0 };
            for (v, row) in (first..end).zip(stream.rows(first..end)) {
                let neighbours = view.neighbours(v as u32).iter().map(|&u| u64::from(u));
                assert!(row.into_iter().eq(neighbours), "row {v}");
            }
            assert_eq!(stream.at.div_ceil(32) as u64, pair[1][2] - word);
        }
        assert!(groups.len() <= 2 || view.vertices() > 1 << 13);
    }
}
