//! Both ways to count against trying every set of vertices.

use gramer_base::context::Context;
use gramer_graph::{Builder, Graph};
use proptest::prelude::*;

use super::*;
use gramer_engine::Units;

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

fn whole(context: &Context) -> Job<'_> {
    Job { units: Units::All, sink: None, context, others: None }
}

/// Each way, cut into as many units as there are.
fn agree(graph: &Graph, expected: &[u128]) -> Result<(), TestCaseError> {
    for threads in [1, 3] {
        let context = Context::with_threads(threads);
        let resident = Resident::new(graph);
        let oriented = resident.oriented(&context).unwrap();
        let at = |k: usize| expected.get(k).copied().unwrap_or(0);
        let sizes = 2..expected.len() + 1;
        let all: Vec<u128> = sizes.clone().map(at).collect();
        prop_assert_eq!(
            by_size(&resident, oriented, sizes, false, whole(&context)).unwrap(),
            (all, true)
        );
        for k in 4..expected.len() {
            let one = by_size(&resident, oriented, k..k + 1, false, whole(&context)).unwrap();
            prop_assert_eq!(one, (vec![at(k)], true));
            prop_assert_eq!(enumerated(&resident, oriented, k, whole(&context)), (at(k), true));
            prop_assert_eq!(count(&resident, k, whole(&context)).unwrap(), (at(k), true));
            let some = by_size(&resident, oriented, k - 1..k + 1, false, whole(&context)).unwrap();
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
    for (parts, each) in [(70, 1), (40, 2), (75, 2), (12, 3), (4, 40), (5, 20), (600, 1), (520, 2)]
    {
        let n = parts * each;
        let all = (0..n).flat_map(|u| (0..u).map(move |v| (u, v)));
        let graph = graph(n, all.filter(|(u, v)| u / each != v / each));
        let context = Context::with_threads(2);
        let resident = Resident::new(&graph);
        for k in 4..=7 {
            let choices: u128 = (0..k).map(|i| u128::from(parts).saturating_sub(i)).product();
            let expected = choices / (1..=k).product::<u128>() * (each as u128).pow(k as u32);
            let oriented = resident.oriented(&context).unwrap();
            let k = k as usize;
            assert_eq!(
                by_size(&resident, oriented, k..k + 1, false, whole(&context)).unwrap(),
                (vec![expected], true)
            );
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
        let oriented = resident.oriented(&context).unwrap();
        let k = n as usize / 2;
        match by_size(&resident, oriented, k..k + 1, false, whole(&context)) {
            Ok((counts, true)) => {
                assert!(fits);
                // OEIS A000984.
                assert_eq!(counts, [23951146041928082866135587776380551750]);
            }
            other => assert!(!fits && matches!(other, Err(Error::Unsupported(_)))),
        }
    }
}

proptest! {
    /// Maximal cliques counted, by formula where that applies, listed, and tried; and a largest
    /// one. Few edges are missing, so that many candidates miss one other.
    #[test]
    fn maximal_and_maximum_cliques_are_those_that_trying_finds(
        vertices in 2u64..14,
        missing in prop::collection::vec((0u64..14, 0u64..14), 0..24),
        invert in any::<bool>(),
        threads in 1usize..4,
    ) {
        let all = (0..vertices).flat_map(|u| (0..u).map(move |v| (u, v)));
        let holds = |&(u, v): &(u64, u64)| missing.contains(&(u, v)) || missing.contains(&(v, u));
        let graph = graph(vertices, all.filter(|edge| holds(edge) == invert));
        prop_assume!(graph.vertices() > 0);
        let n = graph.vertices();
        let near = |set: u32| {
            let rows = (0..n as VertexId).filter(|v| set >> v & 1 == 1);
            let row = |v| graph.view().neighbours(v).iter().fold(0u32, |bits, &u| bits | 1 << u);
            rows.fold(!0 >> (32 - n), |bits, v| bits & row(v))
        };
        let cliques: Vec<u32> = (1u32..1 << n)
            .filter(|&set| (0..n).all(|v| set >> v & 1 == 0 || near(1 << v) & set == set & !(1 << v)))
            .collect();
        let mut maximal: Vec<u32> = cliques.iter().copied().filter(|&set| near(set) == 0).collect();
        maximal.sort_unstable();

        let context = Context::with_threads(threads);
        let resident = Resident::new(&graph);
        let listed = ListSink::default();
        let one = super::super::maximal::run(&resident, Job { sink: Some(&listed), ..whole(&context) }).unwrap();
        let other = super::super::maximal::run(&resident, whole(&context)).unwrap();
        prop_assert_eq!(&one, &other);
        let mut sets = listed.0.into_inner().unwrap();
        sets.sort_unstable();
        prop_assert_eq!(&sets, &maximal);
        for result in &one.results {
            let size = result.pattern.vertices() as u32;
            let expected = maximal.iter().filter(|set| set.count_ones() == size).count();
            prop_assert_eq!(result.count, expected as u128);
        }

        let maximum = |context: &Context| {
            let listed = ListSink::default();
            let outcome = run_maximum(&resident, Job { sink: Some(&listed), ..whole(context) }).unwrap();
            (outcome, listed.0.into_inner().unwrap())
        };
        let (outcome, sets) = maximum(&context);
        prop_assert_eq!(&sets, &maximum(&Context::with_threads(1)).1);
        prop_assert_eq!(sets.len(), 1);
        prop_assert!(outcome.complete && cliques.contains(&sets[0]));
        prop_assert_eq!(sets[0].count_ones(), cliques.iter().map(|c| c.count_ones()).max().unwrap());
    }
}

/// The sets of vertices that come, as bits.
#[derive(Default)]
struct ListSink(std::sync::Mutex<Vec<u32>>);

impl Sink for ListSink {
    fn embedding(&self, _: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        self.0.lock().unwrap().push(vertices.iter().fold(0, |bits, v| bits | 1 << v));
        ControlFlow::Continue(())
    }
}

/// Pairs without an edge between them, under vertices that lead to all or to half of them: the
/// formula for pairs, with and without what excludes.
#[test]
fn maximal_cliques_of_pairs_are_powers_of_two() {
    for pairs in [3u64, 20, 70, 120] {
        let n = 2 * pairs;
        let all = (0..n).flat_map(|u| (0..u).map(move |v| (u, v)));
        let graph = graph(n, all.filter(|(u, v)| u / 2 != v / 2));
        let context = Context::with_threads(2);
        let found = super::super::maximal::run(&Resident::new(&graph), whole(&context)).unwrap();
        let counts = found.lines().map(|line| (line.of.size().unwrap().0, line.count));
        let counts: Vec<_> = counts.filter(|c| c.1 > 0).collect();
        assert_eq!(counts, [(pairs as usize, 1 << pairs)]);
    }
}

#[test]
fn the_sample_is_a_part_of_some_start_vertices_and_its_choice_the_same_for_all_threads() {
    // A random graph of 3,000 vertices, dense among the first 200.
    let mut state = 1u64;
    let mut below = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    let edges: Vec<(u64, u64)> = (0..40_000)
        .map(|e| if e % 2 == 0 { (below(200), below(200)) } else { (below(3000), below(3000)) })
        .collect();
    let graph = graph(3000, edges);
    let resident = Resident::new(&graph);
    let one = Context::with_threads(1);
    let oriented = resident.oriented(&one).unwrap();
    let sampled = sample(oriented, 5);
    assert!((8..=32).contains(&sampled.len()), "{}", sampled.len());
    let first = sampled.iter().filter(|unit| unit.first == 0).count();
    let last =
        sampled.iter().filter(|unit| unit.limit as usize == oriented.targets(unit.start).len());
    assert!(first < sampled.len() / 4 && last.count() < sampled.len() / 4);
    assert!(sampled.windows(2).all(|pair| pair[0].start < pair[1].start));
    for k in 5..9 {
        let answers = [1, 2, 7]
            .map(|threads| pivoting_is_faster(oriented, k, &Context::with_threads(threads)));
        assert!(answers == [answers[0]; 3], "{k}: {answers:?}");
    }
}

/// Cliques of k vertices without an edge: pairs of common neighbours of all cliques of k − 2, by trying every set.
fn tried_almost(graph: &Graph, k: usize) -> u128 {
    let n = graph.vertices();
    let near: Vec<u32> = (0..n as VertexId)
        .map(|v| graph.view().neighbours(v).iter().fold(0, |bits, &u| bits | 1 << u))
        .collect();
    let mut sum = 0;
    for set in (0u32..1 << n).filter(|set| set.count_ones() as usize == k - 2) {
        let all = || (0..n).filter(|v| set >> v & 1 == 1);
        if all().all(|v| set & !near[v] == 1 << v) {
            let common = all().fold(u32::MAX, |common, v| common & near[v]).count_ones();
            sum += u128::from(common * common.saturating_sub(1) / 2);
        }
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn cliques_without_an_edge_are_those_of_every_set(
        edges in proptest::collection::vec((0u64..13, 0u64..13), 20..160),
        threads in 1usize..4,
    ) {
        let graph = graph(13, edges);
        let context = Context::with_threads(threads);
        let resident = Resident::new(&graph);
        for k in almost::LEAST..9 {
            let found = almost::count(&resident, k, whole(&context)).unwrap();
            prop_assert_eq!(found, (tried_almost(&graph, k), true), "k = {}", k);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn cliques_of_flat_graphs_are_those_of_every_set(
        edges in proptest::collection::vec((0u64..17, 0u64..17), 0..200),
        threads in 1usize..4,
    ) {
        let graph = graph(17, edges);
        let context = Context::with_threads(threads);
        prop_assert!(graph.view().is_flat());
        let tried = tried(&graph);
        for k in 3..9 {
            prop_assert_eq!(flat::count(graph.view(), k, &context), (tried.get(k).copied().unwrap_or(0), true), "k = {}", k);
        }
    }
}

#[test]
fn flat_graphs_of_several_blocks_have_the_cliques_of_any() {
    // A strip of squares with a diagonal each, numbered across and along.
    for scatter in [1u64, 7919] {
        let n = 20_011u64;
        let name = |v: u64| v * scatter % n;
        let edges = (0..n - 3).flat_map(|v| [(v, v + 1), (v, v + 2), (v, v + 3)]);
        let graph = graph(n, edges.map(|(u, v)| (name(u), name(v))));
        let context = Context::with_threads(2);
        assert!(graph.view().is_flat());
        let resident = Resident::new(&graph);
        let oriented = resident.oriented(&context).unwrap();
        assert_eq!(
            flat::count(graph.view(), 3, &context),
            triangle::count(&graph, whole(&context))
        );
        for k in 4..6 {
            let expected = enumerated(&resident, oriented, k, whole(&context));
            assert_eq!(flat::count(graph.view(), k, &context), expected);
        }
    }
}

#[test]
fn a_hub_is_not_flat() {
    let star = |leaves: u64| graph(leaves + 1, (1..=leaves).map(|v| (0, v)));
    assert!(star(16).view().is_flat() && !star(17).view().is_flat());
}

#[test]
fn many_sources_extend_a_base() {
    // A clique of 8, peeled last, to whose vertices 300 others lead, most of them to three or more: several words of
    // sources, and start vertices of bases without a target beside the clique.
    let clique = (0..8u64).flat_map(|v| (0..v).map(move |u| (u, v)));
    let others = (8..308u64)
        .flat_map(|v| (0..8).filter(move |u| (v * 37 + u * 11) % 5 < 3).map(move |u| (u, v)));
    let graph = graph(308, clique.chain(others));
    let context = Context::with_threads(2);
    let resident = Resident::new(&graph);
    let view = graph.view();
    for k in almost::LEAST..9 {
        let mut expected = 0u128;
        let bases = |clique: &[VertexId]| {
            let is_common = |&u: &VertexId| {
                clique.iter().all(|&v| view.neighbours(v).binary_search(&u).is_ok())
            };
            let common = (0..view.vertices() as VertexId).filter(is_common).count() as u128;
            expected += common * (common - common.min(1)) / 2;
            ControlFlow::Continue(())
        };
        let bases = Bases(std::sync::Mutex::new(bases));
        run(&resident, k - 2, Job { sink: Some(&bases), ..whole(&context) }).unwrap();
        assert_eq!(
            almost::count(&resident, k, whole(&context)).unwrap(),
            (expected, true),
            "k = {k}"
        );
    }
}

/// Hands cliques on to a function.
struct Bases<F>(std::sync::Mutex<F>);

impl<F: FnMut(&[VertexId]) -> ControlFlow<()> + Send> Sink for Bases<F> {
    fn embedding(&self, _: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        (self.0.lock().unwrap())(vertices)
    }
}
