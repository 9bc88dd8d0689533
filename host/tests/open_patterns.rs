//! Patterns with pairs that must not be joined, and patterns of several components, against a search that tries every
//! choice of vertices.

use std::collections::BTreeSet;

use gramer::cpu::Cpu;
use gramer::engine::{Answer, Ask, EngineExt, Needs, Query, Sink};
use gramer::graph::{Builder, NO_LABEL, VertexId};
use gramer::plan::symmetry::ambiguous;
use gramer::task::{Induced, Mappings};
use gramer::{Context, Graph, Pattern, Task};
use gramer_testing::sinks::Collect;
use proptest::prelude::*;

/// A graph of up to 7 vertices: labels by vertex, and by pair (0: no edge).
#[derive(Debug, Clone)]
struct Small {
    labels: Vec<u32>,
    pairs: Vec<u32>,
}

fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..n).flat_map(|j| (0..j).map(move |i| (i, j)))
}

impl Small {
    fn graph(&self, labelled: bool) -> Graph {
        let mut builder = Builder::new();
        for (v, &label) in self.labels.iter().enumerate() {
            match labelled {
                true => builder.labelled_vertex(v as u64, label),
                false => builder.vertex(v as u64),
            }
        }
        for ((i, j), &pair) in pairs(self.labels.len()).zip(&self.pairs) {
            match (pair, labelled) {
                (0, _) => {}
                (label, true) => builder.labelled_edge(i as u64, j as u64, label),
                (_, false) => builder.edge(i as u64, j as u64),
            }
        }
        builder.build()
    }

    /// Pairs with 0 or 1 have nothing, with 2 a condition, with more an edge.
    fn pattern(&self, labelled: bool, absences: bool) -> Pattern {
        let n = self.labels.len();
        let mut pattern = Pattern::new(n);
        for ((i, j), &pair) in pairs(n).zip(&self.pairs) {
            match pair {
                0 | 1 => {}
                2 if absences => pattern.set_absent(i, j),
                2 => {}
                _ => pattern.add_edge(i, j),
            }
        }
        for (v, &label) in self.labels.iter().enumerate().filter(|_| labelled) {
            pattern.set_vertex_label(v, if label == 2 { NO_LABEL } else { label });
        }
        pattern
    }
}

fn small(vertices: std::ops::Range<usize>, kinds: u32) -> impl Strategy<Value = Small> {
    vertices.prop_flat_map(move |n| {
        let labels = proptest::collection::vec(0u32..3, n);
        let pairs = proptest::collection::vec(0u32..kinds, n * (n - 1) / 2);
        (labels, pairs).prop_map(|(labels, pairs)| Small { labels, pairs })
    })
}

fn every_mapping(graph: &Graph, pattern: &Pattern, induced: Induced) -> Vec<Vec<VertexId>> {
    let view = graph.view();
    let mut all: Vec<Vec<VertexId>> = vec![vec![]];
    for v in 0..pattern.vertices() {
        let extended = all.iter().flat_map(|mapping| {
            (0..view.vertices() as VertexId).map(move |x| [&mapping[..], &[x]].concat())
        });
        let fits = |mapping: &Vec<VertexId>| {
            let x = mapping[v];
            let label = pattern.vertex_label(v);
            !mapping[..v].contains(&x)
                && (label == NO_LABEL || label == view.vertex_label(x))
                && (0..v).all(|u| {
                    let there = view.has_edge(mapping[u], x);
                    let forbidden = induced == Induced::Vertex || pattern.is_absent(u, v);
                    if pattern.has_edge(u, v) { there } else { !there || !forbidden }
                })
        };
        all = extended.filter(fits).collect();
    }
    all
}

/// The vertices, the edges and the absent pairs of an image.
type Image = (BTreeSet<VertexId>, BTreeSet<[VertexId; 2]>, BTreeSet<[VertexId; 2]>);

fn image(pattern: &Pattern, mapping: &[VertexId]) -> Image {
    let of = |pairs: Vec<(usize, usize)>| {
        let pair =
            |(i, j): (usize, usize)| [mapping[i].min(mapping[j]), mapping[i].max(mapping[j])];
        pairs.into_iter().map(pair).collect()
    };
    (mapping.iter().copied().collect(), of(pattern.edges()), of(pattern.absences()))
}

fn task(pattern: &Pattern, induced: Induced, mappings: bool) -> Task {
    Task::Match {
        pattern: pattern.clone(),
        induced,
        mappings: mappings.then_some(Mappings::Isomorphism),
    }
}

fn count(graph: &Graph, task: &Task, sink: Option<&dyn Sink>) -> u128 {
    let outcome = Cpu.run(graph, task, sink, &Context::with_threads(2)).unwrap();
    assert!(outcome.complete);
    outcome.results[0].count
}

/// A list that a run gives has each occurrence once, or each mapping.
fn check_list(
    graph: &Graph,
    pattern: &Pattern,
    mappings: &[Vec<VertexId>],
    images: &BTreeSet<Image>,
) {
    let listed = Collect::default();
    assert_eq!(
        count(graph, &task(pattern, Induced::Edge, false), Some(&listed)),
        images.len() as u128
    );
    let listed = listed.0.into_inner().unwrap();
    assert_eq!(listed.len(), images.len());
    assert!(listed.iter().all(|mapping| mappings.contains(mapping)));
    let met: BTreeSet<Image> = listed.iter().map(|mapping| image(pattern, mapping)).collect();
    assert_eq!(&met, images, "{pattern:?} {graph:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn absent_pairs_are_not_joined(
        data in small(3..8, 2),
        query in small(2..6, 5),
        labelled: bool,
    ) {
        let (graph, pattern) = (data.graph(labelled), query.pattern(labelled, true));
        prop_assume!(pattern.is_connected());
        let mappings = every_mapping(&graph, &pattern, Induced::Edge);
        let images: BTreeSet<Image> = mappings.iter().map(|m| image(&pattern, m)).collect();
        let of = |mappings| count(&graph, &task(&pattern, Induced::Edge, mappings), None);
        prop_assert_eq!(of(true), mappings.len() as u128, "{:?} {:?}", pattern, graph);
        prop_assert_eq!(of(false), images.len() as u128, "{:?} {:?}", pattern, graph);
        check_list(&graph, &pattern, &mappings, &images);
    }

    #[test]
    fn components_are_counted_together(
        data in small(3..8, 2),
        query in small(2..6, 4),
        labelled: bool,
        absences: bool,
    ) {
        let (graph, pattern) = (data.graph(labelled), query.pattern(labelled, absences));
        // More pairs between components are refused: each doubles the number of patterns.
        let between = pattern.absences_between_components().len();
        prop_assume!(!pattern.is_connected() && between <= 8);
        for induced in [Induced::Edge, Induced::Vertex] {
            if induced == Induced::Vertex && pattern.has_absences() {
                continue;
            }
            let mappings = every_mapping(&graph, &pattern, induced);
            let found = count(&graph, &task(&pattern, induced, true), None);
            prop_assert_eq!(found, mappings.len() as u128, "{:?} {:?} {:?}", pattern, induced, graph);
            if ambiguous(&pattern) {
                continue;
            }
            let images: BTreeSet<Image> = mappings.iter().map(|m| image(&pattern, m)).collect();
            let found = count(&graph, &task(&pattern, induced, false), None);
            prop_assert_eq!(found, images.len() as u128, "{:?} {:?} {:?}", pattern, induced, graph);
        }
    }
}

/// With edge labels, and the largest number of vertices.
#[test]
fn large_patterns_of_several_components() {
    let mut builder = Builder::new();
    for (i, j) in pairs(12).filter(|(i, j)| (i * 7 + j * 5) % 3 != 0) {
        builder.labelled_edge(i as u64, j as u64, ((i + j) % 2) as u32);
    }
    let graph = builder.build();
    let mut pattern = Pattern::from_edges(5, &[(0, 1), (1, 2), (3, 4)]);
    for (i, j, label) in [(0, 1, 0), (1, 2, 1), (3, 4, 1)] {
        pattern.set_edge_label(i, j, label);
    }
    let view = graph.view();
    let fits = |mapping: &&Vec<VertexId>| {
        let label = |i: usize, j: usize| view.edge_label(mapping[i], mapping[j]);
        [(0, 1, 0), (1, 2, 1), (3, 4, 1)].iter().all(|&(i, j, l)| label(i, j) == Some(l))
    };
    let expected = every_mapping(&graph, &pattern, Induced::Edge).iter().filter(fits).count();
    assert_eq!(count(&graph, &task(&pattern, Induced::Edge, true), None), expected as u128);
    // Five disjoint edges of the complete graph of ten vertices: 9 · 7 · 5 · 3 perfect matchings.
    let mut complete = Builder::new();
    pairs(10).for_each(|(i, j)| complete.edge(i as u64, j as u64));
    let complete = complete.build();
    let matching = Pattern::from_edges(10, &[(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]);
    assert_eq!(count(&complete, &task(&matching, Induced::Edge, false), None), 945);
}

/// A method that doesn't know such patterns says so before anything is read.
#[test]
fn what_a_method_does_not_know_is_refused() {
    let mut path = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    path.set_absent(0, 2);
    let two = Pattern::from_edges(4, &[(0, 1), (2, 3)]);
    let estimate = Answer::Estimate(gramer::engine::Precision { relative: 0.1, seed: 1 });
    let refused = |query: Query, terms: Needs| {
        Cpu.plan(&Ask::new(&query).terms(terms)).expect_err("no method fits").to_string()
    };
    let of = |pattern: &Pattern| Query::new(task(pattern, Induced::Edge, false));
    let said = refused(of(&path).answer(estimate), Needs::NONE);
    assert!(said.contains("with pairs that must not be joined"), "{said}");
    for query in [of(&two).list(true), of(&two).answer(estimate)] {
        let said = refused(query, Needs::NONE);
        assert!(said.contains("with a pattern of several components"), "{said}");
    }
    let said = refused(of(&two), Needs::SHARE);
    assert!(said.contains("in shares and with a pattern of several components at once"), "{said}");
    let eleven = Pattern::from_edges(11, &[(0, 1)]);
    let said = refused(of(&eleven), Needs::NONE);
    assert!(said.contains("of up to 10 vertices, not 11"), "{said}");
    let said = task(&path, Induced::Vertex, false).check().unwrap_err().to_string();
    assert!(said.contains("take the pairs that must not be joined out of the pattern"), "{said}");
}
