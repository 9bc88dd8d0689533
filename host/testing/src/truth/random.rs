//! Random small graphs and patterns.

use gramer_graph::{Label, NO_LABEL};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::Small;

/// `cases` cases from a fixed seed, so that a failure is there on the next run too; the variable
/// `PROPTEST_RNG_SEED` gives others, `PROPTEST_CASES` more.
pub fn config(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let seed = match default.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0x6772_616d_6572),
        chosen => chosen,
    };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    ProptestConfig { cases, rng_seed: seed, failure_persistence: None, ..default }
}

/// The labels that a random graph has.
#[derive(Debug, Clone, Copy)]
pub struct Labels {
    /// Different vertex labels; 0 for none.
    pub vertex: Label,
    /// Different edge labels; 0 for none.
    pub edge: Label,
}

/// Neither vertex nor edge labels.
pub const PLAIN: Labels = Labels { vertex: 0, edge: 0 };

/// Random graphs of up to `largest` vertices: sparse, dense, stars, bipartite, overlapping
/// cliques, rings with chords, and any with some vertices isolated; numbered at random.
pub fn graphs(largest: usize, labels: Labels) -> impl Strategy<Value = Small> {
    (1..=largest).prop_flat_map(move |n| {
        (
            0..7u8,
            vec(any::<u8>(), n * n),
            vec(0..labels.vertex.max(1), n),
            vec(0..labels.edge.max(1), n * n),
            Just((0..n).collect::<Vec<usize>>()).prop_shuffle(),
        )
            .prop_map(move |(shape, dice, vertex, edge, order)| {
                let mut small = Small::new(n);
                small.edge_labels = labels.edge > 0;
                small.vertex_labels = (labels.vertex > 0).then_some(vertex);
                for u in 0..n {
                    for v in u + 1..n {
                        // An edge is there where the die shows little, so that a failing graph
                        // shrinks; chances in 256.
                        if dice[u * n + v] > u8::MAX - chance(shape, n, u, v) {
                            small.edges[u][v] = Some(edge[u * n + v]);
                            small.edges[v][u] = Some(edge[u * n + v]);
                        }
                    }
                }
                small.renamed(&order)
            })
    })
}

/// Chance, of 256, that u < v are neighbours in a graph of this shape.
fn chance(shape: u8, n: usize, u: usize, v: usize) -> u8 {
    match shape {
        0 => 50,
        1 => 110,
        2 => 210,
        // Star with a few more edges.
        3 => {
            if u == 0 {
                240
            } else {
                30
            }
        }
        // Bipartite.
        4 => {
            if u % 2 != v % 2 {
                170
            } else {
                0
            }
        }
        // Cliques of four that share a vertex.
        5 => {
            if u / 3 == v / 3 || (v % 3 == 0 && u / 3 + 1 == v / 3) {
                250
            } else {
                10
            }
        }
        // Ring with chords; the last third is isolated.
        _ => match (3 * v < 2 * n, u + 1 == v) {
            (false, _) => 0,
            (true, true) => 255,
            (true, false) => 40,
        },
    }
}

/// Random connected patterns of up to `largest` vertices. Where there are labels, about a quarter
/// of them are wildcards.
pub fn patterns(largest: usize, labels: Labels) -> impl Strategy<Value = Small> {
    let label = |different: Label| prop_oneof![3 => 0..different.max(1), 1 => Just(NO_LABEL)];
    (1..=largest).prop_flat_map(move |n| {
        (
            vec(any::<u8>(), n * n),
            vec(any::<prop::sample::Index>(), n),
            vec(label(labels.vertex), n),
            vec(label(labels.edge), n * n),
            Just((0..n).collect::<Vec<usize>>()).prop_shuffle(),
        )
            .prop_map(move |(dice, parents, vertex, edge, order)| {
                let mut small = Small::new(n);
                small.edge_labels = labels.edge > 0;
                small.vertex_labels = (labels.vertex > 0).then_some(vertex);
                for v in 1..n {
                    let parent = parents[v].index(v);
                    for u in 0..v {
                        if u == parent || dice[u * n + v] > 160 {
                            let label = if labels.edge > 0 { edge[u * n + v] } else { 0 };
                            small.edges[u][v] = Some(label);
                            small.edges[v][u] = Some(label);
                        }
                    }
                }
                small.renamed(&order)
            })
    })
}
