//! Graphs from edges, from models and from seeds.

use gramer_base::Context;
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::prepare::renumber;
use gramer_graph::{Builder, Graph};

/// The graph with these edges.
pub fn graph(edges: impl IntoIterator<Item = (u64, u64)>) -> Graph {
    let mut builder = Builder::new();
    for (u, v) in edges {
        builder.edge(u, v);
    }
    builder.build()
}

/// The graph of those pairs below `n` that are kept; each is asked for once, the larger vertex first.
pub fn pairs(n: u64, mut keep: impl FnMut(u64, u64) -> bool) -> Graph {
    let all = (0..n).flat_map(|u| (0..u).map(move |v| (u, v)));
    graph(all.filter(|&(u, v)| keep(u, v)))
}

/// The graph in the order of Rank(ON_1).
///
/// # Panics
/// Never: nothing interrupts it.
pub fn ranked(graph: &Graph) -> Graph {
    renumber(graph, &Context::with_threads(1)).expect("not interrupted")
}

/// The complete graph of this many vertices.
pub fn complete(vertices: u64) -> Graph {
    pairs(vertices, |_, _| true)
}

/// A graph of a model, with numbers of vertex and edge labels; 0 for none.
///
/// # Panics
/// If the model has numbers out of range.
pub fn random(model: Model, seed: u64, [vertex, edge]: [u32; 2]) -> Graph {
    let labels = |count| (count > 0).then_some(Labels { count, exponent: 0.5 });
    let recipe = Recipe { model, seed, vertex_labels: labels(vertex), edge_labels: labels(edge) };
    generate(&recipe, &Context::default()).expect("a model")
}

/// Numbers below a bound, from a seed (Marsaglia's xorshift, shifts 13, 7 and 17).
pub fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % below
    }
}
