//! A search by lists, the same by rows of bits and tables of positions, and the interpreter.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use gramer_base::context::Cancel;
use gramer_graph::{Builder, NO_LABEL};
use proptest::prelude::*;

use super::*;
use gramer_engine::interpreter::interpret;

/// A graph of few labels, so that pattern vertices share candidates, and with vertices in plenty.
fn graph(labels: &[u32], edges: &[(usize, usize)]) -> Graph {
    let mut builder = Builder::new();
    for (v, &label) in labels.iter().enumerate() {
        builder.labelled_vertex(v as u64, label);
    }
    for &(u, v) in edges {
        let (u, v) = (u % labels.len(), v % labels.len());
        if u != v {
            builder.edge(u as u64, v as u64);
        }
    }
    builder.build()
}

/// A tree with an edge per entry of `parents`, and some edges more.
fn pattern(labels: &[u32], parents: &[usize], more: &[(usize, usize)]) -> Pattern {
    let n = labels.len();
    let mut pattern = Pattern::new(n);
    for (v, parent) in (1..n).zip(parents) {
        pattern.add_edge(v, parent % v);
    }
    for &(u, v) in more {
        if u % n != v % n {
            pattern.add_edge(u % n, v % n);
        }
    }
    for (v, &label) in labels.iter().enumerate() {
        // Without any label there would be no candidates to tell apart.
        let label = if v == 0 { label.min(2) } else { label };
        pattern.set_vertex_label(v, if label == 3 { NO_LABEL } else { label });
    }
    pattern
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn rows_of_bits_change_nothing(
        labels in prop::collection::vec(0u32..3, 70..140),
        edges in prop::collection::vec((0usize..140, 0usize..140), 100..260),
        wanted in prop::collection::vec(0u32..4, 4..7),
        parents in prop::collection::vec(0usize..8, 8),
        more in prop::collection::vec((0usize..8, 0usize..8), 0..5),
        induced in any::<bool>(),
    ) {
        let graph = graph(&labels, &edges);
        let pattern = pattern(&wanted, &parents, &more);
        let view = graph.view();
        let kind = if induced { Induced::Vertex } else { Induced::Edge };
        let expected = SearchPlan::of(&pattern, kind, true, false);
        let expected = interpret(&expected, view, |_| ControlFlow::Continue(())).unwrap()
            * expected.factor;
        let context = Context::with_threads(1);
        let first = space(&graph, &pattern, induced);
        if (0..pattern.vertices()).any(|v| first.candidates(v) == 0) {
            prop_assert_eq!(expected, 0);
            return Ok(());
        }
        let estimates = estimates(&pattern, &first);
        let planner = Planner { pattern: &pattern, space: &first, estimates: &estimates, induced, limit: None };
        let mut plan = planner.best(true, false);
        // What a search is expected to cost decides what is made for it.
        for (cost, made) in [(0, false), (u64::MAX, true)] {
            plan.cost = cost;
            let mut made_for = space(&graph, &pattern, induced);
            let lists = made_for.build_lists(&plan, &context.cancel).unwrap();
            prop_assert_eq!(made_for.has_places(), made);
            prop_assert!(lists.iter().flatten().all(|&l| made_for.lists(l).has_rows() == made));
            let mut space = space(&graph, &pattern, induced);
            let job = Job::whole(&context);
            let found = execute(&plan, &mut space, &pattern, None, Ends::default(), job).unwrap();
            let (count, complete) = found.expect("there is no allowance");
            prop_assert!(complete);
            let expected = U256::from(expected / plan.factor);
            prop_assert_eq!(count, Some(expected), "cost {}", cost);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn images_in_use_are_no_candidates(
        edges in prop::collection::vec((0usize..24, 0usize..24), 30..70),
        labelled in prop::collection::vec(0u32..12, 24),
        wanted in prop::collection::vec(0u32..5, 6..10),
        parents in prop::collection::vec(0usize..8, 10),
        more in prop::collection::vec((0usize..10, 0usize..10), 0..7),
        (induced, mappings) in any::<(bool, bool)>(),
        threads in 1usize..3,
    ) {
        // Nearly one label, so that each vertex may have the image of any other.
        let few = |labels: &[u32], rare| labels.iter().map(|&l| u32::from(l == rare)).collect::<Vec<_>>();
        let graph = graph(&few(&labelled, 0), &edges);
        let pattern = pattern(&few(&wanted, 4), &parents, &more);
        let kind = if induced { Induced::Vertex } else { Induced::Edge };
        let plan = SearchPlan::of(&pattern, kind, true, false);
        let expected = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
        let context = Context::with_threads(threads);
        let found = search(&graph, &pattern, &pattern, kind, mappings, (None, Job::whole(&context)));
        let (sum, each, complete) = found.unwrap().unwrap();
        prop_assert!(complete);
        let expected = U256::from(expected * plan.factor);
        let each = if mappings { 1 } else { each };
        let automorphisms = if mappings { 1 } else { gramer_pattern::automorphism_count(&pattern) };
        prop_assert_eq!(sum / U256::from(each), expected / U256::from(automorphisms));
    }

    #[test]
    fn a_sample_is_a_part_of_the_whole(
        edges in prop::collection::vec((0usize..40, 0usize..40), 60..200),
        number in 0usize..112,
    ) {
        let graph = graph(&[0; 40], &edges);
        let pattern = &gramer_pattern::Dictionary::of(6).patterns()[number];
        let context = Context::with_threads(1);
        let mut space = Space::new(graph.view(), pattern, false, &context.cancel).unwrap();
        let plan = SearchPlan::of(pattern, Induced::Edge, false, false);
        let lists = space.build_lists(&plan, &context.cancel).unwrap();
        let (plan, space, lists) = (&plan, &space, &lists[..]);
        let job = Job::whole(&context);
        let search = Execution { plan, space, lists, given: pattern, representative: None, counter: None, job };
        let units = units(plan, space, lists, job);
        let (all, complete) = search.run::<u128>(&units, None, 1);
        let expected = interpret(plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
        prop_assert!(complete);
        prop_assert_eq!(all, Some(expected.into()));
        let (half, _) = search.run::<u128>(&units, None, 2);
        let (none, _) = search.run::<u128>(&units, None, u32::MAX);
        prop_assert!(half.unwrap() <= all.unwrap() && none.unwrap() <= half.unwrap());
    }
}

/// Counts embeddings up to a limit.
struct Counter {
    limit: u64,
    number: AtomicU64,
}

impl Sink for Counter {
    fn embedding(&self, _: &Pattern, _: &[VertexId]) -> ControlFlow<()> {
        match self.number.fetch_add(1, Ordering::Relaxed) + 1 < self.limit {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    }

    fn limit(&self) -> Option<u64> {
        Some(self.limit)
    }

    fn only_counts(&self) -> bool {
        true
    }

    fn embeddings(&self, number: u64) {
        self.number.fetch_add(number, Ordering::Relaxed);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn a_count_ends_at_its_limit(
        labels in prop::collection::vec(0u32..3, 20..60),
        edges in prop::collection::vec((0usize..60, 0usize..60), 40..160),
        wanted in prop::collection::vec(0u32..4, 2..7),
        parents in prop::collection::vec(0usize..8, 8),
        more in prop::collection::vec((0usize..8, 0usize..8), 0..4),
        (induced, mappings) in any::<(bool, bool)>(),
        limit in 1u64..400,
        threads in 1usize..3,
    ) {
        let graph = graph(&labels, &edges);
        let pattern = pattern(&wanted, &parents, &more);
        let kind = if induced { Induced::Vertex } else { Induced::Edge };
        let context = Context::with_threads(threads);
        let whole = search(&graph, &pattern, &pattern, kind, mappings, (None, Job::whole(&context)));
        let (sum, each, _) = whole.unwrap().unwrap();
        let all = (sum / U256::from(each)).as_u64();
        let counter = Counter { limit, number: AtomicU64::new(0) };
        let job = Job { sink: Some(&counter), ..Job::whole(&context) };
        let (number, each, complete) = search(&graph, &pattern, &pattern, kind, mappings, (None, job)).unwrap().unwrap();
        prop_assert_eq!((number.as_u64(), each), (all.min(limit), 1));
        prop_assert!(complete || all >= limit);
        prop_assert!(!complete || all <= limit);
        prop_assert_eq!(counter.number.into_inner().min(limit), all.min(limit));
    }
}

/// Long cycles with chords, whose labels recur, so that many images decide what is below a step.
fn ladder(labels: &[u32], chords: &[(usize, usize)]) -> Pattern {
    let n = labels.len();
    let mut pattern = Pattern::new(n);
    for (v, &label) in labels.iter().enumerate() {
        pattern.add_edge(v, (v + 1) % n);
        pattern.set_vertex_label(v, label);
    }
    for &(u, v) in chords {
        if u % n != v % n {
            pattern.add_edge(u % n, v % n);
        }
    }
    pattern
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn numbers_that_are_kept_change_nothing(
        labels in prop::collection::vec(0u32..4, 40..70),
        edges in prop::collection::vec((0usize..70, 0usize..70), 150..300),
        wanted in prop::collection::vec(0u32..4, 9..13),
        chords in prop::collection::vec((0usize..13, 0usize..13), 0..5),
        induced in any::<bool>(),
    ) {
        let graph = graph(&labels, &edges);
        let pattern = ladder(&wanted, &chords);
        let kind = if induced { Induced::Vertex } else { Induced::Edge };
        let mut plan = SearchPlan::of(&pattern, kind, true, false);
        let context = Context::with_threads(1);
        let count = |plan: &SearchPlan| {
            execute_plan(&graph, plan, Units::All, None, &context).unwrap()
        };
        let kept = count(&plan);
        plan.steps.iter_mut().for_each(|step| step.memo = None);
        prop_assert_eq!(kept, count(&plan));
    }
}

#[test]
fn a_number_may_be_kept_by_more_than_four_images_or_not_if_their_positions_need_too_many_bits() {
    // A cycle of twelve with the labels of a ladder's sides: what is left depends on images in use, too.
    let labels: Vec<u32> = (0..12).map(|v| v % 4).collect();
    let pattern = ladder(&labels, &[(0, 6), (3, 9)]);
    let plan = SearchPlan::of(&pattern, Induced::Edge, true, false);
    let most = plan.steps.iter().filter_map(|step| step.memo.as_ref()).map(Vec::len).max();
    assert!(most > Some(4), "{most:?}");
    assert!(plan.check().is_ok());
    let edges: Vec<_> = (0..200).map(|i| (i * 7 % 48, i * 13 % 48 + i % 3)).collect();
    let labels: Vec<u32> = (0..50).map(|v| v % 4).collect();
    let graph = graph(&labels, &edges);
    let mut space = Space::of_plan(graph.view(), &plan);
    let context = Context::with_threads(1);
    let lists = space.build_lists(&plan, &context.cancel).unwrap();
    let mut search = Search::<u128>::new(&plan, &space, &lists, &pattern, None, None, &context);
    assert!(search.fits(&[0, 1, 2, 3, 4, 5, 6, 7]));
    search.widths.fill(32);
    assert!(search.fits(&[0, 1, 2]) && !search.fits(&[0, 1, 2, 3]));
}

fn space<'g>(graph: &'g Graph, pattern: &Pattern, induced: bool) -> Space<'g> {
    Space::new(graph.view(), pattern, induced, &Cancel::default()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn patterns_of_32_vertices_are_counted_alike_with_candidates_refined_and_by_label_alone(
        labels in prop::collection::vec(0u32..12, 32),
        chords in prop::collection::vec((0usize..32, 0usize..32), 2..20),
        others in prop::collection::vec((0usize..64, 0usize..64), 40..120),
    ) {
        let pattern = ladder(&labels, &chords);
        // The pattern twice, and edges at random.
        let twice: Vec<u32> = labels.iter().chain(&labels).copied().collect();
        let copies = pattern.edges().into_iter().flat_map(|(u, v)| [(u, v), (u + 32, v + 32)]);
        let edges: Vec<_> = copies.chain(others).collect();
        let graph = graph(&twice, &edges);
        let task = Induced::Edge;
        let context = Context::with_threads(1);
        let job = Job::whole(&context);
        let expected = search(&graph, &pattern, &pattern, task, true, (None, job)).unwrap().unwrap();
        prop_assert!(expected.0 >= U256::from(2u64), "both copies");
        let by_label = SearchPlan::of(&pattern, task, true, false);
        let (count, _) = execute_plan(&graph, &by_label, Units::All, None, &context).unwrap();
        prop_assert_eq!(U256::from(count * by_label.factor), expected.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Six vertices on a ring with chords: whether a sample, the search or an allowance that is spent decides the way.
    #[test]
    fn patterns_of_six_have_one_number_whatever_the_way(
        edges in prop::collection::vec((0usize..24, 0usize..24), 20..160),
        chords in prop::collection::vec((0usize..6, 0usize..6), 0..9),
        most in prop::sample::select(vec![0.0, 1e3, 1e5, 1e9]),
        induced in any::<bool>(),
    ) {
        let graph = graph(&[0; 24], &edges);
        let mut pattern = Pattern::from_edges(6, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]);
        chords.iter().filter(|(u, v)| u != v).for_each(|&(u, v)| pattern.add_edge(u, v));
        let task = if induced { Induced::Vertex } else { Induced::Edge };
        let context = Context::with_threads(2);
        let job = Job::whole(&context);
        let plan = SearchPlan::of(&pattern, task, true, false);
        let expected = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap()
            * plan.factor;
        if let Some((count, ..)) =
            search(&graph, &pattern, &pattern, task, true, (Some(most), job)).unwrap()
        {
            prop_assert_eq!(count, U256::from(expected));
        }
        let found = run(&Resident::new(&graph), &pattern, task, true, job).unwrap();
        prop_assert!(found.complete);
        prop_assert_eq!(found.results[0].count, expected);
    }
}

#[test]
fn a_search_ends_where_its_allowance_does() {
    let edges: Vec<(usize, usize)> = (0..60).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
    let graph = graph(&[0; 60], &edges);
    // A prism, which no formula closes soon.
    let pattern = Pattern::from_edges(
        6,
        &[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)],
    );
    let context = Context::with_threads(1);
    let job = Job::whole(&context);
    let most = |most| search(&graph, &pattern, &pattern, Induced::Edge, true, (most, job)).unwrap();
    let all = most(None).expect("there is no allowance");
    // All mappings of six different vertices.
    assert_eq!((all.0, all.2), (U256::from((55..=60u64).product::<u64>()), true));
    assert_eq!(most(Some(1e12)), Some(all));
    // Neither the sample nor the search goes on for long.
    assert_eq!(most(Some(1e5)), None);
    assert!(!context.cancel.is_cancelled());
}
