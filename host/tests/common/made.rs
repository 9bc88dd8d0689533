//! Graphs from edges and from seeds, for the tests of the set core.

use gramer::Graph;
use gramer::graph::Builder;

/// The graph with these edges.
pub fn graph(edges: impl IntoIterator<Item = (u64, u64)>) -> Graph {
    let mut builder = Builder::new();
    for (u, v) in edges {
        builder.edge(u, v);
    }
    builder.build()
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
