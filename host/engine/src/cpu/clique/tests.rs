//! Both ways to count against trying every set of vertices.

use gramer_graph::context::Context;
use gramer_graph::{Builder, Graph};
use proptest::prelude::*;

use super::*;

/// Cliques by size, by trying every set.
fn tried(graph: &Graph) -> Vec<u128> {
    let n = graph.vertices();
    let near: Vec<u32> = (0..n as VertexId)
        .map(|v| graph.view().neighbours(v).iter().fold(0, |bits, &u| bits | 1 << u))
        .collect();
    let mut counts = vec![0; n + 2];
    for set in 0u32..1 << n {
        let all = (0..n).filter(|v| set >> v & 1 == 1);
        if all.clone().all(|v| set & !near[v] == 1 << v) {
            counts[set.count_ones() as usize] += 1;
        }
    }
    counts
}

fn graph(vertices: u64, edges: impl IntoIterator<Item = (u64, u64)>) -> Graph {
    let mut builder = Builder::new();
    for (u, v) in edges {
        if u != v && u < vertices && v < vertices {
            builder.edge(u, v);
        }
    }
    builder.build()
}

/// Each way, cut into as many units as there are.
fn agree(graph: &Graph, expected: &[u128]) -> Result<(), TestCaseError> {
    for threads in [1, 3] {
        let context = Context::with_threads(threads);
        let resident = Resident::new(graph);
        let oriented = resident.oriented(&context.cancel).unwrap();
        let at = |k: usize| expected.get(k).copied().unwrap_or(0);
        let sizes = 2..expected.len() + 1;
        let all: Vec<u128> = sizes.clone().map(at).collect();
        prop_assert_eq!(by_size(oriented, sizes, &context).unwrap(), (all, true));
        for k in 4..expected.len() {
            let one = by_size(oriented, k..k + 1, &context).unwrap();
            prop_assert_eq!(one, (vec![at(k)], true));
            prop_assert_eq!(enumerated(oriented, k, &context), (at(k), true));
            prop_assert_eq!(count(&resident, k, &context).unwrap(), (at(k), true));
            let some = by_size(oriented, k - 1..k + 1, &context).unwrap();
            prop_assert_eq!(some, (vec![at(k - 1), at(k)], true));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn every_way_counts_what_trying_finds(
        vertices in 4u64..14,
        missing in prop::collection::vec((0u64..14, 0u64..14), 0..40),
        invert in any::<bool>(),
    ) {
        let all = (0..vertices).flat_map(|u| (0..u).map(move |v| (u, v)));
        let holds = |&(u, v): &(u64, u64)| missing.contains(&(u, v)) || missing.contains(&(v, u));
        let graph = graph(vertices, all.filter(|edge| holds(edge) == invert));
        prop_assume!(graph.vertices() > 0);
        agree(&graph, &tried(&graph))?;
    }
}

/// n × n × ... parts without edges within: rows of every width, and pairs beyond the formula's.
#[test]
fn complete_multipartite_graphs_have_known_numbers() {
    for (parts, each) in [(70, 1), (40, 2), (75, 2), (12, 3), (4, 40), (5, 20), (600, 1), (520, 2)] {
        let n = parts * each;
        let all = (0..n).flat_map(|u| (0..u).map(move |v| (u, v)));
        let graph = graph(n, all.filter(|(u, v)| u / each != v / each));
        let context = Context::with_threads(2);
        let resident = Resident::new(&graph);
        for k in 4..=7 {
            let choices: u128 = (0..k).map(|i| u128::from(parts).saturating_sub(i)).product();
            let expected = choices / (1..=k).product::<u128>() * (each as u128).pow(k as u32);
            let oriented = resident.oriented(&context.cancel).unwrap();
            let k = k as usize;
            assert_eq!(by_size(oriented, k..k + 1, &context).unwrap(), (vec![expected], true));
        }
    }
}

#[test]
fn a_number_of_more_than_128_bits_is_an_error() {
    // C(2 × 70, 70) has 137 bits, C(2 × 64, 64) has 124.
    for (n, fits) in [(128u64, true), (140, false)] {
        let graph = graph(n, (0..n).flat_map(|u| (0..u).map(move |v| (u, v))));
        let context = Context::with_threads(1);
        let resident = Resident::new(&graph);
        let oriented = resident.oriented(&context.cancel).unwrap();
        let k = n as usize / 2;
        match by_size(oriented, k..k + 1, &context) {
            Ok((counts, true)) => {
                assert!(fits);
                // OEIS A000984.
                assert_eq!(counts, [23951146041928082866135587776380551750]);
            }
            other => assert!(!fits && matches!(other, Err(Error::Unsupported(_)))),
        }
    }
}
