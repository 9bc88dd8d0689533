//! The ways of counting agree where a graph is large enough for all of them.

use super::*;
use gramer_base::context::Context;
use gramer_graph::{Builder, Graph};

/// A graph whose first 90 vertices are next to most of the others.
fn graph(vertices: u64, seed: u64) -> Graph {
    let mut builder = Builder::new();
    let mut state = seed;
    for v in 1..vertices {
        for u in 0..v {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if (state >> 33) % 100 < if u < 90 { 85 } else { 12 } {
                builder.edge(u, v);
            }
        }
    }
    builder.build()
}

/// What a way of counting finds below the current root, as one array.
fn found(
    state: &mut SideState<'_>,
    way: impl FnOnce(&mut SideState<'_>) -> ControlFlow<()>,
) -> [u128; 4] {
    state.found = Sides::default();
    assert!(way(state).is_continue());
    let found = &state.found;
    [found.bipartite_and_edge, found.clique_and_caps, found.bipartite, found.prism]
}

#[test]
fn with_and_without_tables_and_by_triples_and_pairs() {
    let (graph, cancel) = (graph(150, 3), Cancel::default());
    let view = graph.view();
    let mut state = SideState::new(view);
    let mut widths = [0; 4];
    for root in (0..view.vertices() as VertexId).step_by(15) {
        state.enter(root);
        let numbers = state.before.len();
        if numbers >= 2 {
            let by_sets = found(&mut state, |state| state.adjacent::<Sets>(&cancel));
            assert_eq!(found(&mut state, |state| state.adjacent::<Words>(&cancel)), by_sets);
            if numbers < 128 {
                assert_eq!(
                    found(&mut state, |state| state.adjacent::<Bytes<128>>(&cancel)),
                    by_sets
                );
            }
            if numbers <= 48 {
                assert_eq!(
                    found(&mut state, |state| state.adjacent::<Bytes<48>>(&cancel)),
                    by_sets
                );
            }
            let by_triples = found(&mut state, |state| state.triples(&cancel));
            assert_eq!(found(&mut state, |state| state.pairs(&cancel)), by_triples);
            assert!(root < 20 || (by_sets[3] > 0 && by_triples[2] > 0), "{root}");
            widths[state.width] += 1;
        }
        state.leave();
    }
    assert!(widths[1] > 0 && widths[2] > 0, "sets of one word and of two: {widths:?}");
}

#[test]
fn a_run_that_is_stopped_gives_no_number() {
    let graph = graph(40, 5);
    let context = Context::with_threads(1);
    assert!(count(graph.view(), Selection::Census, Job::whole(&context)).is_some());
    context.cancel.cancel();
    assert!(count(graph.view(), Selection::Census, Job::whole(&context)).is_none());
}
