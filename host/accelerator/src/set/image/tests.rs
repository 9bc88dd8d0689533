//! Tests of the image.

use super::*;
use crate::set::memory::Memory;

/// A graph from its edges: offsets and neighbours.
fn graph(vertices: u32, edges: &[(u32, u32)]) -> (Vec<u64>, Vec<u32>) {
    let mut rows = vec![vec![]; vertices as usize];
    for &(u, v) in edges {
        rows[u as usize].push(v);
        rows[v as usize].push(u);
    }
    let mut offsets = vec![0];
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
        offsets.push(offsets[offsets.len() - 1] + row.len() as u64);
    }
    (offsets, rows.concat())
}

fn view<'a>((offsets, neighbours): &'a (Vec<u64>, Vec<u32>)) -> View<'a> {
    View { offsets, neighbours, vertex_labels: None, edge_labels: None }
}

/// Every rule of the format, and every neighbour found again, for lists of all lengths.
#[test]
fn every_image_keeps_the_rules() {
    let mut cases = vec![(1, vec![]), (2, vec![(0, 1)]), (9, vec![(3, 7)])];
    for d in [3, 4, 5, 15, 16, 17, 63, 64, 240, 244, 245, 248, 249, 252, 253, 600] {
        // A hub before its neighbours, one behind them, and one between them.
        for hub in [0, d / 2, d] {
            let star = (0..=d).filter(|&v| v != hub).map(|v| (hub, v));
            cases.push((d + 1, star.collect()));
        }
        let both = (0..2 * d).map(|v| (d, if v < d { v } else { v + 1 }));
        cases.push((2 * d + 1, both.collect()));
    }
    let complete = (0..70).flat_map(|u| (0..u).map(move |v| (u, v)));
    cases.push((70, complete.collect()));
    let mut rng = fastrand_like(7);
    for _ in 0..40 {
        let n = 2 + rng() % 300;
        let edges = (0..rng() % 3000).map(|_| (rng() % n, rng() % n));
        cases.push((n, edges.filter(|(u, v)| u != v).collect()));
    }
    for (n, edges) in cases {
        let made = graph(n, &edges);
        for lists in [Lists::Up, Lists::Both] {
            let image = SetImage::new(view(&made), lists, 1).unwrap();
            rules(view(&made), &image);
        }
    }
}

fn fastrand_like(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u32
    }
}

fn rules(view: View<'_>, image: &SetImage) {
    assert_eq!(image.words().len() % ENTRIES_A_LINE as usize, 0);
    let memory = Memory::new(image.words());
    let mut used = vec![false; image.words().len()];
    let mut last = None;
    let vertex_of = |id: u32| {
        let all = 0..view.vertices() as VertexId;
        all.into_iter().find(|&v| image.block(v).address == id).unwrap()
    };
    for v in 0..view.vertices() as VertexId {
        let (block, row) = (image.block(v), view.neighbours(v));
        if row.is_empty() {
            assert_eq!(block.address, Block::NONE);
            continue;
        }
        assert!(last.is_none_or(|last| last < block.address), "ids are in order");
        last = Some(block.address);
        let before = row.partition_point(|&u| u < v);
        let mut root = Root { before: before as u32, ..Root::default() };
        let reads = image.reads(block.address, block.up).enumerate();
        reads.for_each(|(at, lines)| root.add(at, lines));
        if image.lists() == Lists::Both {
            root.later = row[before..].iter().map(|&u| u64::from(image.block(u).lines())).sum();
        }
        assert_eq!(image.root(v), root);
        for (list, quarters, from) in [
            (&row[..before], block.up, block.address),
            (&row[before..], row[before..].len().div_ceil(QUARTER) as u32, 0),
        ] {
            if list.is_empty() || (from == 0 && image.lists() == Lists::Up) {
                continue;
            }
            let up = list.as_ptr() == row.as_ptr() && before > 0;
            let from = if up { block.address } else { block.address + block.all - quarters };
            // Rule 1.
            assert!(from % LINE_QUARTERS + quarters <= LINE_QUARTERS || from % LINE_QUARTERS == 0);
            let found: Vec<u32> = memory.list(from, quarters).map(|e| e.id()).collect();
            let wanted: Vec<u32> = list.iter().map(|&u| image.block(u).address).collect();
            assert_eq!(found, wanted);
            for (at, (entry, &u)) in memory.list(from, quarters).zip(list).enumerate() {
                assert_eq!(vertex_of(entry.id()), u);
                let (other, size) = (image.block(u), memory.size(entry, up));
                if !up {
                    assert_eq!(size, other.all);
                    continue;
                }
                // As much as can match.
                assert!(size <= other.up);
                let read: Vec<u32> = memory.list(other.address, size).map(|e| e.id()).collect();
                let before = view.neighbours(u);
                for w in list[..at].iter().filter(|w| before.contains(w)) {
                    assert!(read.contains(&image.block(*w).address), "{w} of {u} in {v}");
                }
            }
            for word in &mut used[from as usize * QUARTER..][..quarters as usize * QUARTER] {
                assert!(!std::mem::replace(word, true), "no two lists share a quarter-line");
            }
        }
        if block.is_long() {
            assert_eq!(block.address % LINE_QUARTERS, 0, "rule 2");
            let at = (block.address as usize - 1) * QUARTER;
            for word in &mut used[at..at + QUARTER] {
                assert!(!std::mem::replace(word, true), "the lengths lie in no list");
            }
            assert_eq!(image.words()[at..at + 4], [block.up, block.all, PADDING, PADDING]);
        }
    }
    // Rule 3.
    let rest = used.iter().zip(image.words()).filter(|(used, _)| !**used);
    assert!(rest.into_iter().all(|(_, &word)| word == PADDING));
}

#[test]
fn threads_make_the_same_image() {
    let mut rng = fastrand_like(3);
    let edges: Vec<(u32, u32)> = (0..60_000)
        .map(|_| {
            let u = rng() % 20_000;
            (u, (u + 1 + rng() % (1 + u / 7)) % 20_000)
        })
        .filter(|(u, v)| u != v)
        .collect();
    let made = graph(20_500, &edges);
    assert!(made.1.len() > FEW_EDGES);
    for lists in [Lists::Up, Lists::Both] {
        let one = SetImage::new(view(&made), lists, 1).unwrap();
        for threads in [2, 3, 8] {
            assert_eq!(SetImage::new(view(&made), lists, threads).unwrap(), one);
        }
    }
}
