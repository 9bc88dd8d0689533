//! Numbers against those by definition and by the interpreter.

use gramer_base::context::Context;
use gramer_engine::interpreter::interpret;
use gramer_graph::{Builder, Graph};
use gramer_pattern::automorphism_count;
use gramer_pattern::plan::search::SearchPlan;
use gramer_pattern::task::Induced;
use proptest::prelude::*;

use super::*;

/// The complete bipartite pattern, its vertices in an order that mixes the sides.
fn pattern(few: usize, many: usize) -> Pattern {
    let mut pattern = Pattern::new(few + many);
    let place = |v: usize| (v * 3 + 1) % (few + many);
    let place = |v: usize| if (few + many) % 3 == 0 { v } else { place(v) };
    for a in 0..few {
        (few..few + many).for_each(|b| pattern.add_edge(place(a), place(b)));
    }
    pattern
}

fn by_sides(graph: &Graph, sides: (usize, usize), threads: usize) -> Option<U256> {
    let context = Context::with_threads(threads);
    let (found, complete) = count(graph.view(), sides, Job::whole(&context));
    assert!(complete);
    found
}

/// Sum over the sets of `few` vertices of the choices among their common neighbours.
fn by_definition(graph: &Graph, few: usize, many: usize) -> u64 {
    fn sum(view: View<'_>, from: VertexId, few: usize, common: &[VertexId], many: usize) -> u64 {
        if few == 0 {
            return choices(common.len() as u64, many as u64, true).as_u64();
        }
        let with = |v| common.iter().copied().filter(|&u| view.has_edge(u, v)).collect::<Vec<_>>();
        (from..view.vertices() as VertexId).map(|v| sum(view, v + 1, few - 1, &with(v), many)).sum()
    }
    let all: Vec<VertexId> = (0..graph.vertices() as VertexId).collect();
    sum(graph.view(), 0, few, &all, many) / if few == many { 2 } else { 1 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn sides_are_counted_as_by_definition(
        edges in prop::collection::vec((0u64..26, 0u64..26), 1..220),
        hubs in 0u64..4,
        threads in 1usize..4,
    ) {
        let mut builder = Builder::new();
        for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
            builder.edge(u, v);
            // Hubs with many common neighbours, and leaves that are in no core.
            (0..hubs).filter(|&hub| (u + hub) % 4 != 0 && hub != v).for_each(|hub| builder.edge(hub, v));
            builder.edge(u, 30 + v);
        }
        let graph = builder.build();
        for sides in [(2, 3), (2, 4), (2, 6), (3, 3), (3, 4), (3, 5)] {
            let (few, many) = sides;
            let expected = by_definition(&graph, few, many);
            prop_assert_eq!(by_sides(&graph, sides, threads), Some(expected.into()), "{:?}", sides);
            if few + many <= 6 && edges.len() < 90 {
                let pattern = pattern(few, many);
                let plan = SearchPlan::of(&pattern, Induced::Edge, true, false);
                let mappings = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
                let each = automorphism_count(&pattern);
                prop_assert_eq!(mappings * plan.factor / each, u128::from(expected));
            }
        }
    }

    /// Each way finds the same in the neighbourhood of every root.
    #[test]
    fn ways_to_three_agree(
        edges in prop::collection::vec((0u64..40, 0u64..40), 40..500),
    ) {
        let mut builder = Builder::new();
        edges.iter().filter(|(u, v)| u != v).for_each(|&(u, v)| builder.edge(u, v));
        let graph = builder.build();
        let cancel = Cancel::default();
        let [mut sets, mut pairs, mut threes] = std::array::from_fn(|_| Root::new(graph.view()));
        for root in 0..graph.vertices() as VertexId {
            [&mut sets, &mut pairs, &mut threes].into_iter().for_each(|way| way.enter(root));
            prop_assert!(sets.sets(&cancel).is_continue());
            prop_assert!(pairs.pairs(&cancel).is_continue());
            prop_assert!(threes.threes(&cancel).is_continue());
            prop_assert_eq!(sets.of_pairs.choices(3), pairs.of_pairs.choices(3));
            prop_assert_eq!(sets.of_pairs.choices(3), threes.of_threes.choices(2));
        }
    }
}

#[test]
fn sides_of_patterns() {
    for (few, many) in [(2, 3), (2, 5), (3, 3), (3, 7)] {
        assert_eq!(sides(&pattern(few, many)), Some((few, many)));
        let mut more = pattern(few, many);
        let apart = (1..few + many).find(|&v| !more.has_edge(0, v)).unwrap();
        more.add_edge(0, apart);
        assert_eq!(sides(&more), None);
    }
    for (few, many) in [(1, 4), (2, 2), (4, 4)] {
        assert_eq!(sides(&pattern(few, many)), None);
    }
    assert_eq!(sides(&Pattern::clique(5)), None);
}

#[test]
fn numbers_of_more_than_64_bits() {
    let mut builder = Builder::new();
    for leaf in 0..300u64 {
        (0..3).for_each(|hub| builder.edge(hub, 10 + leaf));
    }
    let graph = builder.build();
    for many in [5, 9, 16] {
        let each = choices(300, many as u64, true);
        assert_eq!(by_sides(&graph, (3, many), 2), Some(each));
        assert_eq!(by_sides(&graph, (2, many), 2), Some(each * U256::from(3u64)));
    }
    assert_eq!(by_sides(&graph, (2, 120), 1), None);
}
