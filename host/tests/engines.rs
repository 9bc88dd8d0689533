//! The CPU engine gives what algorithm 1 and brute force give, on random small graphs, with any
//! number of threads and in any numbering.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Mutex;

use gramer::cpu::Cpu;
use gramer::engine::reference::Reference;
use gramer::engine::{Engine, EngineExt, Outcome, Sink};
use gramer::graph::VertexId;
use gramer::pattern::{Dictionary, Pattern};
use gramer::prepare::renumber;
use gramer::task::{Induced, Mappings, Measure, SizeLimit};
use gramer::{Context, Graph, Task};
use gramer_testing::truth::{Labels, PLAIN, Small, config, counts, graphs, occurring, patterns};
use proptest::prelude::*;

fn cpu(graph: &Graph, task: &Task, threads: usize) -> Outcome {
    Cpu.run(graph, task, None, &Context::with_threads(threads)).unwrap()
}

fn reference(graph: &Graph, task: &Task) -> Outcome {
    Reference::default().run(graph, task, None, &Context::default()).unwrap()
}

/// The graph in the order of its file, and in the order of mining.
fn both_orders(small: &Small) -> [Graph; 2] {
    let graph = small.graph();
    let renumbered = renumber(&graph, &Context::with_threads(1)).unwrap();
    [graph, renumbered]
}

/// Graphs with labels on vertices, edges, both and neither.
fn any_labels(largest: usize) -> impl Strategy<Value = Small> {
    prop_oneof![
        3 => graphs(largest, Labels { vertex: 3, edge: 0 }),
        1 => graphs(largest, Labels { vertex: 2, edge: 2 }),
        1 => graphs(largest, Labels { vertex: 0, edge: 3 }),
        1 => graphs(largest, PLAIN),
    ]
}

/// Few edges, so that all sets of them can be tried.
fn with_few_edges(mut small: Small, most: usize) -> Small {
    for (u, v, _) in small.edge_list().into_iter().skip(most) {
        small.edges[u][v] = None;
        small.edges[v][u] = None;
    }
    small
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn cliques(small in graphs(11, PLAIN), k in 3usize..8, threads in 1usize..4) {
        let task = Task::Clique { k };
        for graph in both_orders(&small) {
            let outcome = cpu(&graph, &task, threads);
            prop_assert_eq!(&outcome, &reference(&graph, &task));
            prop_assert_eq!(outcome.results.len(), 1);
            prop_assert_eq!(outcome.results[0].count, small.cliques(k));
        }
    }

    #[test]
    fn maximal_cliques(small in graphs(11, PLAIN), threads in 1usize..4) {
        for graph in both_orders(&small) {
            let outcome = cpu(&graph, &Task::MaximalCliques, threads);
            prop_assert!(outcome.complete && outcome.rows.is_empty());
            let by_size: BTreeMap<usize, u128> = outcome
                .results
                .iter()
                .map(|c| (c.pattern.vertices(), c.count))
                .filter(|&(_, count)| count > 0)
                .collect();
            prop_assert_eq!(by_size, small.maximal_cliques());
        }
    }

    #[test]
    fn motifs(small in graphs(9, PLAIN), threads in 1usize..4) {
        for graph in both_orders(&small) {
            for k in 3..=5 {
                let task = Task::Motif { k, induced: Induced::Vertex };
                let outcome = cpu(&graph, &task, threads);
                // All patterns, in the same order, those that don't occur included.
                prop_assert_eq!(&outcome, &reference(&graph, &task));
                prop_assert_eq!(outcome.results.len(), Dictionary::of(k).patterns().len());
                prop_assert_eq!(occurring(counts(&outcome)), small.motifs_by_vertices(k));
            }
        }
    }

    #[test]
    fn motifs_by_edges(small in graphs(7, PLAIN), threads in 1usize..4) {
        for graph in both_orders(&small) {
            for k in 3..=5 {
                let task = Task::Motif { k, induced: Induced::Edge };
                let outcome = cpu(&graph, &task, threads);
                prop_assert_eq!(outcome.results.len(), Dictionary::of(k).patterns().len());
                prop_assert_eq!(occurring(counts(&outcome)), small.motifs_by_edges(k));
            }
        }
    }

    #[test]
    fn frequent_subgraphs_by_embeddings(
        small in any_labels(9),
        supports in prop::sample::subsequence((1u64..12).collect::<Vec<_>>(), 3),
        threads in 1usize..4,
    ) {
        for graph in both_orders(&small) {
            for &support in &supports {
                for largest in [2, 4] {
                    let limit = SizeLimit::MaxVertices(largest);
                    let task = Task::Fsm { limit, support, measure: Measure::Embeddings };
                    let found = counts(&cpu(&graph, &task, threads));
                    prop_assert_eq!(&found, &counts(&reference(&graph, &task)));
                    prop_assert_eq!(found, small.frequent_by_embeddings(largest, support));
                }
            }
        }
    }

    #[test]
    fn matches(
        (small, pattern) in prop_oneof![
            (graphs(9, PLAIN), patterns(5, PLAIN)),
            (graphs(9, Labels { vertex: 2, edge: 0 }), patterns(5, Labels { vertex: 2, edge: 0 })),
            (graphs(9, Labels { vertex: 2, edge: 2 }), patterns(4, Labels { vertex: 2, edge: 2 })),
            (graphs(9, Labels { vertex: 0, edge: 2 }), patterns(4, Labels { vertex: 0, edge: 2 })),
        ],
        threads in 1usize..4,
    ) {
        // A graph without edges has no edge labels, and a pattern that asks for some is refused.
        prop_assume!(!small.edge_labels || !small.edge_list().is_empty());
        for graph in both_orders(&small) {
            for induced in [Induced::Vertex, Induced::Edge] {
                let (mappings, occurrences) = small.matches(&pattern, induced == Induced::Vertex);
                for (all, expected) in [(true, mappings), (false, occurrences)] {
                    let pattern = pattern.pattern();
                    let task = Task::Match { pattern, induced, mappings: all.then_some(Mappings::Isomorphism) };
                    let outcome = cpu(&graph, &task, threads);
                    prop_assert!(outcome.complete);
                    prop_assert_eq!(outcome.results.len(), 1);
                    prop_assert_eq!(outcome.results[0].count, expected, "{:?}", task);
                }
            }
        }
    }

    #[test]
    fn every_embedding_is_listed_once(
        small in graphs(8, Labels { vertex: 2, edge: 0 }),
        threads in 1usize..4,
    ) {
        let graph = renumber(&small.graph(), &Context::with_threads(1)).unwrap();
        let vertices = SizeLimit::MaxVertices(3);
        for task in [
            Task::Clique { k: 3 },
            Task::Motif { k: 3, induced: Induced::Vertex },
            Task::Motif { k: 4, induced: Induced::Vertex },
            Task::Fsm { limit: vertices, support: 2, measure: Measure::Embeddings },
        ] {
            prop_assert_eq!(list(&Cpu, &graph, &task, threads),
                list(&Reference::default(), &graph, &task, 1), "{:?}", task);
        }
    }
}

proptest! {
    // Here brute force tries all sets of edges, or all sets of six vertices.
    #![proptest_config(config(500))]

    #[test]
    fn frequent_subgraphs_by_images(
        small in any_labels(7),
        support in 1u64..5,
        threads in 1usize..4,
    ) {
        let small = with_few_edges(small, 11);
        for graph in both_orders(&small) {
            for (limit, vertices, edges) in [
                (SizeLimit::MaxEdges(1), usize::MAX, 1),
                (SizeLimit::MaxEdges(3), usize::MAX, 3),
                (SizeLimit::MaxEdges(4), usize::MAX, 4),
                (SizeLimit::MaxVertices(2), 2, usize::MAX),
                (SizeLimit::MaxVertices(4), 4, usize::MAX),
            ] {
                let task = Task::Fsm { limit, support, measure: Measure::Mni };
                let expected = small.frequent_by_images(vertices, edges, support);
                prop_assert_eq!(counts(&cpu(&graph, &task, threads)), expected, "{:?}", task);
            }
        }
    }

    #[test]
    fn motifs_of_six(small in graphs(8, PLAIN), threads in 1usize..4) {
        for graph in both_orders(&small) {
            let task = Task::Motif { k: 6, induced: Induced::Vertex };
            let outcome = cpu(&graph, &task, threads);
            prop_assert_eq!(&outcome, &reference(&graph, &task));
            prop_assert_eq!(outcome.results.len(), 112);
            prop_assert_eq!(occurring(counts(&outcome)), small.motifs_by_vertices(6));
            let few = with_few_edges(small.clone(), 11);
            let task = Task::Motif { k: 6, induced: Induced::Edge };
            let outcome = cpu(&few.graph(), &task, threads);
            prop_assert_eq!(occurring(counts(&outcome)), few.motifs_by_edges(6));
        }
    }

    #[test]
    fn threads_and_numbering_change_nothing(
        small in graphs(24, Labels { vertex: 3, edge: 0 }),
        query in patterns(4, Labels { vertex: 3, edge: 0 }),
        support in 1u64..20,
    ) {
        let orders = both_orders(&small);
        let match_one = |mappings: bool| Task::Match {
            pattern: query.pattern(),
            induced: Induced::Edge,
            mappings: mappings.then_some(Mappings::Isomorphism),
        };
        for task in [
            Task::Clique { k: 4 },
            Task::MaximalCliques,
            Task::Motif { k: 4, induced: Induced::Vertex },
            Task::Motif { k: 4, induced: Induced::Edge },
            Task::Fsm {
                limit: SizeLimit::MaxVertices(3),
                support,
                measure: Measure::Embeddings,
            },
            Task::Fsm { limit: SizeLimit::MaxEdges(2), support, measure: Measure::Mni },
            match_one(true),
            match_one(false),
        ] {
            let one = cpu(&orders[1], &task, 1);
            prop_assert_eq!(&cpu(&orders[0], &task, 1), &one, "{:?}", task);
            for threads in [2, 5] {
                prop_assert_eq!(&cpu(&orders[1], &task, threads), &one, "{:?}", task);
            }
        }
    }
}

/// An embedding: canonical adjacency bits and labels of the pattern, and the set of vertices.
type EmbeddingRecord = (u128, Vec<u32>, BTreeSet<VertexId>);

#[derive(Default)]
struct List(Mutex<Vec<EmbeddingRecord>>);

impl Sink for List {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        // Which canonical vertex is which must be right, too.
        self.0.lock().unwrap().push((
            pattern.bits(),
            pattern.vertex_labels().to_vec(),
            vertices.iter().copied().collect(),
        ));
        ControlFlow::Continue(())
    }
}

/// What an engine lists, sorted.
///
/// # Panics
/// If an embedding is not the pattern that it is said to be.
fn list(engine: &dyn Engine, graph: &Graph, task: &Task, threads: usize) -> Vec<EmbeddingRecord> {
    struct Checked<'a>(&'a List, &'a Graph);
    impl Sink for Checked<'_> {
        fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
            let found = Pattern::of_embedding(self.1.view(), vertices);
            assert_eq!(found.bits(), pattern.bits(), "{pattern:?} at {vertices:?}");
            if pattern.has_vertex_labels() {
                assert_eq!(found.vertex_labels(), pattern.vertex_labels());
            }
            self.0.embedding(pattern, vertices)
        }
    }
    let list = List::default();
    let outcome = engine
        .run(graph, task, Some(&Checked(&list, graph)), &Context::with_threads(threads))
        .unwrap();
    let mut list = list.0.into_inner().unwrap();
    let counted: u128 = outcome.results.iter().map(|c| c.count).sum();
    assert_eq!(list.len() as u128, counted);
    list.sort();
    let listed = list.len();
    list.dedup();
    assert_eq!(list.len(), listed, "an embedding comes twice");
    list
}
