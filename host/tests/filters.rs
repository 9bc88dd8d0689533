//! `--filter` and a least support: algorithm 1 against brute force with predicates written by hand, for any order of the
//! vertices or in the canonical order, and the refusals of engines without filters.

use std::collections::{BTreeMap, BTreeSet};

use gramer::cpu::Cpu;
use gramer::engine::reference::{Comparison, Reference};
use gramer::engine::{Engine, Query, Run};
use gramer::pattern::Pattern;
use gramer::prepare::renumber;
use gramer::task::{Induced, Measure, SizeLimit};
use gramer::{Context, Graph, Task};
use gramer_testing::truth::{Labels, Small, config, graphs};
use proptest::prelude::*;

/// A filter, what it says of a vertex, and what of an ordered pair.
type Case = (&'static str, fn(&Small, usize) -> bool, fn(&Small, usize, usize) -> bool);

fn label(small: &Small, v: usize) -> u32 {
    small.vertex_labels.as_ref().expect("a labelled graph")[v]
}

const CASES: [Case; 6] = [
    ("label(u) != label(v)", |_, _| true, |s, u, v| label(s, u) != label(s, v)),
    (
        "degree(v) >= 3 or label(v) == 1",
        |s, v| s.degree(v) >= 3 || label(s, v) == 1,
        |_, _, _| true,
    ),
    (
        "not adjacent(u, v) or degree(u) != degree(v)",
        |_, _| true,
        |s, u, v| s.edges[u][v].is_none() || s.degree(u) != s.degree(v),
    ),
    (
        "label(u) <= 1 or label(v) == 2, degree(u) < 5",
        |s, v| s.degree(v) < 5,
        |s, u, v| label(s, u) <= 1 || label(s, v) == 2,
    ),
    ("degree(u) <= degree(v)", |_, _| true, |s, u, v| s.degree(u) == s.degree(v)),
    (
        "label(u) > label(v) or adjacent(u, v) or not label(u) >= 1",
        |_, _| true,
        |s, u, v| label(s, u) > label(s, v) || s.edges[u][v].is_some() || label(s, u) < 1,
    ),
];

/// The sets of `k` vertices that pass, by the pattern that they make; connected ones alone.
fn truth(small: &Small, k: usize, (_, vertex, pair): &Case) -> BTreeMap<Pattern, u128> {
    let mut counts = BTreeMap::new();
    for set in 0u32..1 << small.n() {
        let vertices: Vec<usize> = (0..small.n()).filter(|v| set >> v & 1 == 1).collect();
        let pairs = || vertices.iter().flat_map(|&u| vertices.iter().map(move |&v| (u, v)));
        let passes = vertices.iter().all(|&v| vertex(small, v))
            && pairs().all(|(u, v)| u == v || pair(small, u, v));
        if vertices.len() != k || !passes {
            continue;
        }
        let place = |v| vertices.iter().position(|&w| w == v).expect("in the set");
        let edges: Vec<(usize, usize)> = pairs()
            .filter(|&(u, v)| u < v && small.edges[u][v].is_some())
            .map(|(u, v)| (place(u), place(v)))
            .collect();
        let pattern = Pattern::from_edges(k, &edges);
        if pattern.is_connected() {
            *counts.entry(pattern.canonical().0).or_insert(0) += 1;
        }
    }
    counts
}

fn counts(
    graph: &Graph,
    comparison: Comparison,
    task: Task,
    text: &str,
) -> BTreeMap<Pattern, u128> {
    let filter = (!text.is_empty()).then(|| text.parse().unwrap());
    answered(graph, comparison, Query::new(task).filter(filter))
}

fn answered(graph: &Graph, comparison: Comparison, query: Query) -> BTreeMap<Pattern, u128> {
    let context = Context::default();
    let prepared = Reference { comparison }.prepare(graph, &context).unwrap();
    let outcome = prepared.counts(&query, &Run::new(&context)).unwrap();
    assert!(outcome.complete);
    let counts = outcome.results.into_iter().filter(|found| found.count > 0);
    counts.map(|found| (found.pattern.canonical().0, found.count)).collect()
}

/// A filter whose answer depends on the canonical order, and what it says of an embedding with its last vertex.
type StepCase = (&'static str, fn(&Small, &[usize]) -> bool);

/// Edges among vertices of the graph.
fn edges(small: &Small, of: &[usize]) -> usize {
    let pairs = of.iter().enumerate().flat_map(|(i, &u)| of[..i].iter().map(move |&v| (u, v)));
    pairs.filter(|&(u, v)| small.edges[u][v].is_some()).count()
}

const STEP_CASES: [StepCase; 7] = [
    ("", |_, _| true),
    ("size < 3 or degree(u) > 2", |s, e| e.len() < 3 || s.degree(*e.last().unwrap()) > 2),
    ("size != 3 or adjacent(u, v)", |s, e| e.len() != 3 || edges(s, e) - edges(s, &e[..2]) == 2),
    ("size > 3 or degree(u) != degree(v)", |s, e| {
        let (last, earlier) = e.split_last().unwrap();
        e.len() > 3 || earlier.iter().all(|&v| s.degree(v) != s.degree(*last))
    }),
    ("pattern != triangle", |s, e| e.len() != 3 || edges(s, e) != 3),
    ("pattern == wedge or 3 != size, size < 4", |s, e| {
        (e.len() != 3 || edges(s, e) == 2) && e.len() < 4
    }),
    ("pattern != 4-star, pattern == triangle or size == 2 or size >= 4, degree(u) > 1", |s, e| {
        (e.len() != 3 || edges(s, e) == 3) && s.degree(*e.last().unwrap()) > 1
    }),
];

/// The order in which algorithm 1 reaches a connected set: the first vertex, then the first neighbour of those so far.
fn canonical_order(small: &Small, mut set: Vec<usize>, comparison: Comparison) -> Vec<usize> {
    set.sort_unstable();
    if comparison == Comparison::Descending {
        set.reverse();
    }
    let mut order = vec![set.remove(0)];
    while !set.is_empty() {
        let next = |v: &usize| order.iter().any(|&u| small.edges[u][*v].is_some());
        order.push(set.remove(set.iter().position(next).expect("a connected set")));
    }
    order
}

fn pattern(small: &Small, of: &[usize]) -> Pattern {
    let pairs = (0..of.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let joined: Vec<_> = pairs.filter(|&(i, j)| small.edges[of[i]][of[j]].is_some()).collect();
    Pattern::from_edges(of.len(), &joined).canonical().0
}

/// Motifs of `k` vertices all of whose prefixes pass, grown through patterns with enough embeddings.
fn stepwise_truth(
    small: &Small,
    k: usize,
    (_, passes): &StepCase,
    support: u128,
    comparison: Comparison,
) -> BTreeMap<Pattern, u128> {
    let (mut reported, mut counts) = (BTreeSet::new(), BTreeMap::new());
    for size in 2..=k {
        counts.clear();
        for set in 0u32..1 << small.n() {
            let vertices: Vec<usize> = (0..small.n()).filter(|v| set >> v & 1 == 1).collect();
            if vertices.len() != size || !pattern(small, &vertices).is_connected() {
                continue;
            }
            let order = canonical_order(small, vertices, comparison);
            let grown =
                |s: usize| s < 2 || s == size || reported.contains(&pattern(small, &order[..s]));
            if (1..=size).all(|s| passes(small, &order[..s]) && grown(s)) {
                *counts.entry(pattern(small, &order)).or_insert(0) += 1;
            }
        }
        counts.retain(|_, count| *count >= support);
        reported.extend(counts.keys().cloned());
    }
    counts
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn motifs_are_grown_step_by_step_in_the_canonical_order(
        small in graphs(7, Labels { vertex: 0, edge: 0 }),
        case in 0..STEP_CASES.len(),
        support in prop::option::of(1..9u64),
        ascending in any::<bool>(),
    ) {
        let (case, graph) = (&STEP_CASES[case], small.graph());
        let comparison = if ascending { Comparison::Ascending } else { Comparison::Descending };
        for k in 3..=4 {
            let filter = (!case.0.is_empty()).then(|| case.0.parse().unwrap());
            let query = Query::new(Task::Motif { k, induced: Induced::Vertex });
            let query = query.filter(filter).support(support);
            let expected =
                stepwise_truth(&small, k, case, support.unwrap_or(1).into(), comparison);
            prop_assert_eq!(answered(&graph, comparison, query), expected, "{}", case.0);
        }
    }

    #[test]
    fn filtered_cliques_and_motifs_are_those_of_brute_force(
        small in graphs(8, Labels { vertex: 4, edge: 0 }),
        case in 0..CASES.len(),
    ) {
        prop_assume!(small.vertex_labels.is_some());
        let case = &CASES[case];
        let graph = small.graph();
        let renumbered = renumber(&graph, &Context::with_threads(1)).unwrap();
        for k in 3..=4 {
            let motifs = truth(&small, k, case);
            let mut cliques = motifs.clone();
            cliques.retain(|pattern, _| *pattern == Pattern::clique(k).canonical().0);
            for (graph, comparison) in [
                (&graph, Comparison::Ascending),
                (&graph, Comparison::Descending),
                (&renumbered, Comparison::Descending),
            ] {
                let motif = Task::Motif { k, induced: Induced::Vertex };
                prop_assert_eq!(&counts(graph, comparison, motif, case.0), &motifs);
                let clique = Task::Clique { k };
                prop_assert_eq!(&counts(graph, comparison, clique, case.0), &cliques);
            }
        }
    }
}

#[test]
fn who_can_t_filter_says_so() {
    let context = Context::default();
    let graph = gramer_testing::graphs::complete(4);
    let filter = |text: &str| Some(text.parse().unwrap());
    let clique = Query::new(Task::Clique { k: 3 }).filter(filter("degree(u) > 1"));
    let said = |engine: &dyn Engine, query: &Query| {
        let prepared = engine.prepare(&graph, &context).unwrap();
        prepared.counts(query, &Run::new(&context)).unwrap_err()
    };
    assert!(said(&Cpu, &clique).to_string().ends_with("does not answer it with a filter"));
    let limit = SizeLimit::MaxVertices(3);
    let fsm = Query::new(Task::Fsm { limit, support: 1, measure: Measure::Embeddings });
    let fsm = said(&Reference::default(), &fsm.filter(filter("degree(u) > 1")));
    assert!(fsm.to_string().contains("with a filter"), "{fsm}");
    let grown = Query::new(Task::Motif { k: 3, induced: Induced::Vertex }).support(Some(2));
    let grown = said(&Cpu, &grown).to_string();
    assert!(grown.ends_with("does not answer it with a least support"), "{grown}");
    // A clique has one pattern.
    let patterns = Query::new(Task::Clique { k: 3 }).filter(filter("pattern != wedge"));
    let patterns = said(&Reference::default(), &patterns);
    assert_eq!(patterns.exit_code(), 2);
    assert!(patterns.to_string().contains("have one pattern"), "{patterns}");
    // Labels that no vertex has are not labels that are equal.
    let labels = Query::new(Task::Clique { k: 3 }).filter(filter("label(u) != label(v)"));
    let labels = said(&Reference::default(), &labels);
    assert_eq!(labels.exit_code(), 2);
    assert!(labels.to_string().contains("the vertices of the graph have none"), "{labels}");
}
