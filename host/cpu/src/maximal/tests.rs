//! Maximal cliques against brute force, in graphs whose complements are sparse or made of paths, cycles and
//! pairs, and in sparse graphs.

use std::sync::Mutex;

use gramer_graph::{Builder, Graph, VertexId};
use gramer_pattern::task::Task;
use proptest::prelude::*;

use super::*;
use crate::Cpu;
use gramer_engine::work::Share;
use gramer_engine::{Engine, Units};

/// The sets of vertices that come, as bits.
#[derive(Default)]
struct ListSink(Mutex<Vec<u32>>);

impl Sink for ListSink {
    fn embedding(&self, _: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        self.0.lock().unwrap().push(vertices.iter().fold(0, |bits, v| bits | 1 << v));
        ControlFlow::Continue(())
    }
}

fn graph(vertices: u64, edge: impl Fn(u64, u64) -> bool) -> Graph {
    let mut builder = Builder::new();
    for u in 0..vertices {
        (0..u).filter(|&v| edge(u, v)).for_each(|v| {
            builder.edge(u, v);
        });
    }
    builder.build()
}

/// The maximal cliques: a set of vertices that are next to each other, and no vertex next to all of it.
fn tried(graph: &Graph) -> Vec<u32> {
    let n = graph.vertices();
    let near: Vec<u32> = (0..n as VertexId)
        .map(|v| graph.view().neighbours(v).iter().fold(0, |bits, &u| bits | 1 << u))
        .collect();
    let common = |set: u32| {
        let members = (0..n).filter(|v| set >> v & 1 == 1);
        members.fold(!0 >> (32 - n), |common, v| common & (near[v] | 1 << v))
    };
    // What is next to all of a set, and it itself, is that set.
    (1u32..1 << n).filter(|&set| common(set) == set).collect()
}

/// Counted and listed, as a whole and in shares.
fn agree(graph: &Graph) -> std::result::Result<(), TestCaseError> {
    let maximal = tried(graph);
    let mut sizes = vec![0u128; graph.vertices() + 1];
    maximal.iter().for_each(|set| sizes[set.count_ones() as usize] += 1);
    for (threads, into) in [(1, 1), (3, 1), (2, 3)] {
        let context = Context::with_threads(threads);
        let prepared = Cpu.prepare(graph, &context).unwrap();
        let shares = Share::split(graph.view(), into);
        let units: Vec<Units<'_>> =
            if into == 1 { vec![Units::All] } else { shares.iter().map(Units::Share).collect() };
        let listed = ListSink::default();
        // The parts of a start vertex may share its cliques out in one way counted, in another listed.
        let listing: [Option<&dyn Sink>; 2] = [None, Some(&listed)];
        for sink in listing {
            let mut counted = vec![0u128; sizes.len()];
            for &units in &units {
                let outcome = prepared.run(&Task::MaximalCliques, units, sink, &context).unwrap();
                for line in outcome.lines() {
                    counted[line.of.size().unwrap().0] += line.count;
                }
            }
            prop_assert_eq!(&counted, &sizes);
        }
        let mut sets = listed.0.into_inner().unwrap();
        sets.sort_unstable();
        prop_assert_eq!(&sets, &maximal);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// From a few edges to all but a few: `density` in 16ths.
    #[test]
    fn graphs_of_any_density_have_the_maximal_cliques_that_trying_finds(
        vertices in 2u64..17,
        density in 1u8..16,
        dice in prop::collection::vec(0u8..16, 17 * 17),
    ) {
        let graph = graph(vertices, |u, v| dice[(17 * u + v) as usize] < density);
        prop_assume!(graph.vertices() > 0);
        agree(&graph)?;
    }

    /// A complement of paths, cycles and pairs of vertices, of `parts` vertices each, under up to four
    /// vertices that lead to some of them.
    #[test]
    fn complements_of_paths_and_cycles_have_the_maximal_cliques_that_trying_finds(
        parts in prop::collection::vec((1u64..7, any::<bool>()), 1..4),
        above in prop::collection::vec(any::<u32>(), 0..4),
    ) {
        let mut missing = std::collections::HashSet::new();
        let mut ends = 0;
        for (length, closed) in parts {
            let end = (ends + length).min(14);
            (ends + 1..end).for_each(|v| {
                missing.insert((v, v - 1));
            });
            if closed && end > ends + 2 {
                missing.insert((end - 1, ends));
            }
            ends = end;
        }
        let graph = graph(ends + above.len() as u64, |u, v| match above.get(u.wrapping_sub(ends) as usize) {
            Some(next_to) => next_to >> v & 1 == 1,
            None => !missing.contains(&(u, v)),
        });
        prop_assume!(graph.vertices() > 0);
        agree(&graph)?;
    }
}

/// Rows of each width: a clique, and a vertex outside that leads to all of it but one.
#[test]
fn a_large_clique_beside_another_is_found_at_every_width() {
    for size in [3u64, 64, 65, 130, 300, 1100] {
        let graph = graph(size + 1, |u, v| u < size || v > 0);
        let found = run(&Resident::new(&graph), Job::whole(&Context::with_threads(1))).unwrap();
        let counts = found.lines().map(|line| (line.of.size().unwrap().0, line.count));
        let counts: Vec<_> = counts.filter(|c| c.1 > 0).collect();
        assert_eq!(counts, [(size as usize, 2)]);
    }
}
