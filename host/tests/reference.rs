//! Algorithm 1 against brute force, and the consistency of what it counts.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Mutex;

use gramer::engine::reference::{
    Cliques, Comparison, Counters, Explorer, LabelledPatterns, Motifs, Primitives, Reference, Stop,
};
use gramer::engine::{EngineExt, Outcome, Sink, Units, WorkUnit};
use gramer::graph::{VertexId, View};
use gramer::pattern::{Dictionary, Pattern};
use gramer::prepare::{on_k, renumber};
use gramer::task::{Induced, Measure, SizeLimit, parts_reported};
use gramer::{Context, Error, Graph, Task};
use gramer_testing::truth::{Counts, Labels, PLAIN, Small, config, counts, graphs, occurring};
use proptest::prelude::*;

const BOTH: [Comparison; 2] = [Comparison::Ascending, Comparison::Descending];

fn run(graph: &Graph, comparison: Comparison, task: &Task) -> Outcome {
    Reference { comparison }.run(graph, task, None, &Context::default()).unwrap()
}

fn motif(k: usize) -> Task {
    Task::Motif { k, induced: Induced::Vertex }
}

fn fsm(vertices: usize, support: u64) -> Task {
    let limit = SizeLimit::MaxVertices(vertices);
    Task::Fsm { limit, support, measure: Measure::Embeddings }
}

/// Explores everything and returns the counters with the application.
fn explore<P: Primitives>(view: View<'_>, comparison: Comparison, p: P) -> (Counters, P) {
    let context = Context::default();
    let mut explorer = Explorer::new(view, comparison, p, &context);
    let units: Vec<WorkUnit> = Units::All.iter(view).collect();
    assert!(explorer.run_units(&units).is_continue());
    (explorer.counters().clone(), explorer.into_primitives())
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn cliques_and_motifs_are_those_of_brute_force(small in graphs(9, PLAIN)) {
        let graph = small.graph();
        for k in 3..=5 {
            let motifs = small.motifs_by_vertices(k);
            for comparison in BOTH {
                let cliques = run(&graph, comparison, &Task::Clique { k });
                prop_assert_eq!(cliques.results.len(), 1);
                prop_assert_eq!(cliques.results[0].count, small.cliques(k));
                let outcome = run(&graph, comparison, &motif(k));
                prop_assert_eq!(outcome.results.len(), Dictionary::of(k).patterns().len());
                prop_assert_eq!(&occurring(counts(&outcome)), &motifs);
            }
        }
    }

    #[test]
    fn labelled_patterns_are_those_of_brute_force(
        small in prop_oneof![
            graphs(9, Labels { vertex: 3, edge: 0 }),
            graphs(8, Labels { vertex: 2, edge: 2 }),
            graphs(8, Labels { vertex: 0, edge: 2 }),
        ],
        support in 1u64..6,
    ) {
        let graph = small.graph();
        let frequent = small.frequent_by_embeddings(4, support);
        for comparison in BOTH {
            prop_assert_eq!(&counts(&run(&graph, comparison, &fsm(4, support))), &frequent);
        }
    }

    #[test]
    fn renumbering_changes_no_result(small in graphs(9, Labels { vertex: 2, edge: 2 })) {
        let graph = small.graph();
        let renumbered = renumber(&graph, &Context::with_threads(2)).unwrap();
        for task in [Task::Clique { k: 3 }, motif(4), fsm(3, 2)] {
            for comparison in BOTH {
                let (before, after) =
                    (run(&graph, comparison, &task), run(&renumbered, comparison, &task));
                prop_assert_eq!(before, after);
            }
        }
    }

    #[test]
    fn embeddings_and_candidates_by_depth_are_what_they_are_called(small in graphs(9, PLAIN)) {
        let graph = small.graph();
        let view = graph.view();
        for comparison in BOTH {
            let (c, _) = explore(view, comparison, Motifs::new(5));
            for d in 1..=5 {
                prop_assert_eq!(c.embeddings_by_depth[d], small.connected_sets(d));
                prop_assert!(c.candidates_by_depth[d] >= c.embeddings_by_depth[d] || d == 1);
            }
            // A candidate of a lone root is any neighbour behind it: each edge once.
            prop_assert_eq!(c.candidates_by_depth[2], graph.edges() as u64);
            prop_assert_eq!(c.candidates_by_depth[1], 0);
            prop_assert_eq!(c.candidates_by_depth[6], 0);
            // Every vertex of every embedding below the full size is read and walked.
            let read: Vec<u64> = (1..5).map(|d| d as u64 * c.embeddings_by_depth[d]).collect();
            prop_assert_eq!(&c.vertex_accesses[1..5], &read[..]);
            prop_assert_eq!(c.extensions, read.iter().sum::<u64>());
            // One walk of each list, and no search, for the roots.
            prop_assert_eq!(c.edge_accesses[1], 2 * graph.edges() as u64);

            let (c, _) = explore(view, comparison, Cliques::new(4));
            for d in 2..=4 {
                prop_assert_eq!(u128::from(c.embeddings_by_depth[d]), small.cliques(d));
            }
            // One list an embedding.
            prop_assert_eq!(c.extensions, c.embeddings_by_depth[1..4].iter().sum::<u64>());
        }
    }

    #[test]
    fn candidates_follow_their_definition(small in graphs(8, PLAIN)) {
        let graph = small.graph();
        for comparison in BOTH {
            let (c, _) = explore(graph.view(), comparison, Motifs::new(4));
            prop_assert_eq!(&c.candidates_by_depth[2..5], &naive_candidates(&small, comparison, 4));
        }
    }

    #[test]
    fn parts_of_the_work_add_up(
        small in graphs(9, Labels { vertex: 2, edge: 0 }),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 12),
    ) {
        let graph = small.graph();
        let view = graph.view();
        // Each list cut at its own place, the parts dealt out to three runs.
        let mut parts: [Vec<WorkUnit>; 3] = Default::default();
        for (v, whole) in Units::All.iter(view).enumerate() {
            let at = cuts[v].index(whole.limit as usize + 1) as u32;
            parts[v % 3].push(WorkUnit { limit: at, ..whole });
            parts[(v + 1) % 3].push(WorkUnit { first: at, ..whole });
        }
        let split = parts.iter().flatten().filter(|u| u.first > 0).count() as u64;
        // A cut at 0 makes an empty part that starts at 0 beside the whole list.
        let doubled = parts.iter().flatten().filter(|u| u.first == 0).count() as u64
            - view.vertices() as u64;
        let context = Context::default();
        for comparison in BOTH {
            let (whole, motifs) = explore(view, comparison, Motifs::new(4));
            let mut sum = Counters::default();
            let mut counted: HashMap<Pattern, u64> = HashMap::new();
            for units in &parts {
                let mut e = Explorer::new(view, comparison, Motifs::new(4), &context);
                prop_assert!(e.run_units(units).is_continue());
                sum += e.counters();
                for (pattern, count) in e.primitives().counts() {
                    *counted.entry(pattern).or_default() += count;
                }
            }
            prop_assert_eq!(counted, motifs.counts().collect::<HashMap<_, _>>());
            // A further part reads its root and walks a list once more; nothing else is added.
            sum.vertex_accesses[1] -= split + doubled;
            sum.extensions -= split + doubled;
            sum.embeddings_by_depth[1] -= doubled;
            prop_assert_eq!(&sum, &whole);

            // One size of FSM, the way in which the accelerator's host puts it together.
            let found = |units: &[WorkUnit], size, allowed: &HashSet<Pattern>| {
                let pass = LabelledPatterns::new(view, size, allowed.clone());
                let mut e = Explorer::new(view, comparison, pass, &context);
                assert!(e.run_units(units).is_continue());
                e.into_primitives().counts().map(|(p, c)| (p.clone(), c)).collect::<Vec<_>>()
            };
            let mut reported = HashSet::new();
            let mut frequent = Counts::new();
            for size in 2..=3 {
                let mut sums: HashMap<Pattern, u64> = HashMap::new();
                for (pattern, count) in parts.iter().flat_map(|units| found(units, size, &reported)) {
                    *sums.entry(pattern).or_default() += count;
                }
                sums.retain(|pattern, &mut count| count >= 2 && parts_reported(pattern, &reported));
                frequent.extend(
                    sums.iter().map(|(p, &count)| (Small::of_pattern(p).key(), count.into())),
                );
                reported.extend(sums.into_keys());
            }
            prop_assert_eq!(frequent, small.frequent_by_embeddings(3, 2));
        }
    }

    #[test]
    fn accesses_to_single_items_add_up(small in graphs(9, PLAIN)) {
        let graph = small.graph();
        let context = Context::default();
        for comparison in BOTH {
            let mut e = Explorer::new(graph.view(), comparison, Motifs::new(4), &context)
                .with_accesses();
            let units: Vec<WorkUnit> = Units::All.iter(graph.view()).collect();
            prop_assert!(e.run_units(&units).is_continue());
            let (counters, accesses) = (e.counters(), e.accesses().unwrap());
            prop_assert_eq!(accesses.vertices.len(), 4);
            for i in 1..4 {
                let sum: u64 = accesses.vertices[i].iter().sum();
                prop_assert_eq!(sum, counters.vertex_accesses[i]);
                let sum: u64 = accesses.edges[i].iter().sum();
                prop_assert_eq!(sum, counters.edge_accesses[i]);
            }
            // A vertex is read once for each embedding that contains it (figure 4 of the paper).
            for v in 0..small.n() {
                let embeddings = small.graph().view().degree(v as VertexId) as u64;
                prop_assert_eq!(accesses.vertices[2][v], embeddings);
            }
        }
    }

    #[test]
    fn on_k_is_equation_1(small in graphs(12, PLAIN)) {
        let graph = small.graph();
        for k in 0..=4 {
            for threads in [1, 3] {
                let on = on_k(graph.view(), k, &Context::with_threads(threads)).unwrap();
                prop_assert_eq!(on, naive_on(&small, k));
            }
        }
    }

    #[test]
    fn rank_0_has_the_largest_on_1(
        small in graphs(12, Labels { vertex: 5, edge: 4 }),
        threads in 1usize..4,
    ) {
        let context = Context::with_threads(threads);
        let graph = small.graph();
        let renumbered = renumber(&graph, &context).unwrap();
        let on = naive_on(&small, 1);
        let mut order: Vec<usize> = (0..small.n()).collect();
        order.sort_by_key(|&v| (std::cmp::Reverse(on[v]), v));
        let ids: Vec<u64> = order.iter().map(|&v| v as u64).collect();
        prop_assert_eq!(renumbered.original_ids(), &ids[..]);
        let mut to = vec![0; small.n()];
        for (rank, &old) in order.iter().enumerate() {
            to[old] = rank;
        }
        let expected = small.renamed(&to).graph();
        prop_assert_eq!(renumbered.view().offsets, expected.view().offsets);
        prop_assert_eq!(renumbered.view().neighbours, expected.view().neighbours);
        prop_assert_eq!(renumbered.view().vertex_labels, expected.view().vertex_labels);
        prop_assert_eq!(renumbered.view().edge_labels, expected.view().edge_labels);
        prop_assert_eq!(renumbered.order(), gramer::graph::Order::RankOn1);
        let again = renumber(&renumbered, &context).unwrap();
        prop_assert_eq!(again.original_ids(), renumbered.original_ids());
    }

    #[test]
    fn every_embedding_is_listed_once(small in graphs(8, Labels { vertex: 2, edge: 0 })) {
        let graph = small.graph();
        for task in [Task::Clique { k: 3 }, motif(3), motif(4), fsm(3, 2)] {
            for comparison in BOTH {
                let list = List::default();
                let outcome = Reference { comparison }
                    .run(&graph, &task, Some(&list), &Context::default())
                    .unwrap();
                list.check(&graph, &outcome, matches!(task, Task::Fsm { .. }));
            }
        }
    }
}

/// Collects what an engine lists.
#[derive(Default)]
struct List(Mutex<Vec<(Pattern, Vec<VertexId>)>>);

impl Sink for List {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        self.0.lock().unwrap().push((pattern.clone(), vertices.to_vec()));
        ControlFlow::Continue(())
    }
}

impl List {
    /// As many as were counted, no set of vertices twice, each the pattern that it says.
    fn check(self, graph: &Graph, outcome: &Outcome, labelled: bool) {
        let list = self.0.into_inner().unwrap();
        let mut sets = HashSet::new();
        let mut counted: HashMap<&Pattern, u128> = HashMap::new();
        for (pattern, vertices) in &list {
            let mut set = vertices.clone();
            set.sort();
            assert!(sets.insert(set), "{vertices:?} comes twice");
            let mut found = Pattern::of_embedding(graph.view(), vertices);
            if !labelled {
                found = Pattern::from_bits(found.vertices(), found.bits());
            }
            assert_eq!(&found, pattern);
            *counted.entry(pattern).or_default() += 1;
        }
        let results = outcome.results.iter().filter(|c| c.count > 0);
        assert_eq!(counted, results.map(|c| (&c.pattern, c.count)).collect());
    }
}

/// ON_k by breadth-first search on the matrix.
fn naive_on(small: &Small, k: usize) -> Vec<u128> {
    let n = small.n();
    (0..n)
        .map(|v| {
            let mut distance = vec![usize::MAX; n];
            distance[v] = 0;
            for d in 0..n {
                for u in 0..n {
                    for w in 0..n {
                        if distance[u] == d && small.edges[u][w].is_some() {
                            distance[w] = distance[w].min(d + 1);
                        }
                    }
                }
            }
            (0..=k)
                .map(|d| (0..n).filter(|&u| distance[u] == d).collect::<Vec<_>>())
                .take_while(|at| !at.is_empty())
                .map(|at| at.iter().map(|&u| small.degree(u) as u128).sum::<u128>())
                .product()
        })
        .collect()
}

/// The candidates of 2 to k vertices, from the definitions alone: for each connected set, its
/// vertices in canonical order (the first of all, then always the first that is a neighbour of
/// those so far), and for each position the neighbours that come after the root and after all
/// vertices behind that position and aren't in the set.
fn naive_candidates(small: &Small, comparison: Comparison, k: usize) -> Vec<u64> {
    let n = small.n();
    let first = |a: &usize, b: &usize| {
        if comparison.before(*a as VertexId, *b as VertexId) {
            std::cmp::Ordering::Less
        } else {
            std::cmp::Ordering::Greater
        }
    };
    let mut candidates = vec![0; k - 1];
    for set in 1u32..1 << n {
        let set: Vec<usize> = (0..n).filter(|&v| set >> v & 1 == 1).collect();
        if set.len() >= k {
            continue;
        }
        let mut order = vec![*set.iter().min_by(|a, b| first(a, b)).unwrap()];
        loop {
            let next = set
                .iter()
                .filter(|v| !order.contains(v))
                .filter(|&&v| order.iter().any(|&u| small.edges[u][v].is_some()))
                .min_by(|a, b| first(a, b));
            let Some(&next) = next else { break };
            order.push(next);
        }
        if order.len() < set.len() {
            continue;
        }
        for i in 0..order.len() {
            for w in 0..n {
                let behind = |v: usize| first(&v, &w).is_lt() && v != w;
                if small.edges[order[i]][w].is_some()
                    && !set.contains(&w)
                    && behind(order[0])
                    && order[i + 1..].iter().all(|&v| behind(v))
                {
                    candidates[order.len() - 1] += 1;
                }
            }
        }
    }
    candidates
}

#[test]
fn motifs_beyond_the_dictionary() {
    // The only connected graph of 7 vertices in a ring of 7 is the ring, in one of 8 the path.
    for (n, name) in [(7, "7-cycle"), (8, "7-path")] {
        let ring: Vec<_> = (0..n).map(|v| (v, (v + 1) % n)).collect();
        let graph = Small::from_edges(n, &ring).graph();
        for comparison in BOTH {
            let (_, motifs) = explore(graph.view(), comparison, Motifs::new(7));
            let counts: Vec<_> = motifs.counts().collect();
            assert_eq!(counts.len(), 1);
            assert_eq!(gramer::pattern::name(&counts[0].0), name);
            assert_eq!(counts[0].1, if n == 7 { 1 } else { 8 });
        }
    }
}

proptest! {
    #![proptest_config(config(300))]

    /// The paper's connectivity check differs in the accesses alone: the record of each candidate, and its list.
    #[test]
    fn the_candidate_s_list_says_the_same(small in graphs(9, PLAIN)) {
        let graph = small.graph();
        let view = graph.view();
        let context = Context::default();
        let units: Vec<WorkUnit> = Units::All.iter(view).collect();
        for comparison in BOTH {
            let (by_embedding, motifs) = explore(view, comparison, Motifs::new(4));
            let mut e = Explorer::new(view, comparison, Motifs::new(4), &context)
                .with_candidate_check()
                .with_accesses();
            prop_assert!(e.run_units(&units).is_continue());
            let c = e.counters().clone();
            let read = &e.accesses().unwrap().vertices;
            for (i, read) in read.iter().enumerate().take(4).skip(1) {
                let records = by_embedding.vertex_accesses[i] + by_embedding.candidates_by_depth[i + 1];
                prop_assert_eq!(c.vertex_accesses[i], records);
                prop_assert_eq!(read.iter().sum::<u64>(), records);
            }
            // Lists are walked alike, and each search ends within the list that is searched.
            prop_assert_eq!(c.entries_scanned, by_embedding.entries_scanned);
            let counts = e.into_primitives().counts().collect::<HashMap<_, _>>();
            prop_assert_eq!(counts, motifs.counts().collect::<HashMap<_, _>>());
            let equal = Counters {
                vertex_accesses: c.vertex_accesses,
                edge_accesses: c.edge_accesses,
                ..by_embedding.clone()
            };
            prop_assert_eq!(c, equal);
        }
    }
}

/// A hub of three leaves and a triangle at one of them, by hand: which entries a search compares.
#[test]
fn a_check_reads_the_list_of_the_candidate() {
    // 0 – 1, 0 – 2, 0 – 3, 1 – 2. Ascending, embedding 0 1 has the candidates 2 and 3 of list 0 and 2 of list 1.
    let graph = Small::from_edges(4, &[(0, 1), (0, 2), (0, 3), (1, 2)]).graph();
    let context = Context::default();
    let accesses = |candidate: bool| {
        let e = Explorer::new(graph.view(), Comparison::Ascending, Motifs::new(3), &context);
        let mut e = if candidate { e.with_candidate_check() } else { e }.with_accesses();
        assert!(e.run_units(&[WorkUnit { start: 0, first: 0, limit: 1 }]).is_continue());
        let all = e.accesses().unwrap();
        (all.vertices[2].clone(), all.edges[2].clone())
    };
    // Entries by list: 0: 1 2 3, 1: 0 2, 2: 0 1, 3: 0. Walks of 0 and 1 visit each of their entries.
    // For 2 of list 0 the second entry of list 1 is compared, for 3 the same; for 2 of list 1 the second of list 0.
    assert_eq!(accesses(false), (vec![1, 1, 0, 0], vec![1, 2, 1, 1, 3, 0, 0, 0]));
    // Of list 2 the second entry, 1, then, for 0, both; of list 3 the only one. 2 is read twice, 3 once.
    assert_eq!(accesses(true), (vec![1, 1, 2, 1], vec![1, 1, 1, 1, 1, 1, 2, 1]));
}

#[test]
fn figure_4_of_the_paper() {
    // Vertex 8 of the paper's sample graph has 3 edges of 12: it is in 3 of the 12 embeddings of
    // two vertices, each of which reads both of its vertices. A star of 3 beside a ring of 9:
    // the same numbers.
    let mut edges = vec![(0, 1), (0, 2), (0, 3)];
    edges.extend((0..9).map(|i| (4 + i, 4 + (i + 1) % 9)));
    let graph = Small::from_edges(13, &edges).graph();
    let context = Context::default();
    let mut e = Explorer::new(graph.view(), Comparison::Ascending, Motifs::new(3), &context)
        .with_accesses();
    let units: Vec<WorkUnit> = Units::All.iter(graph.view()).collect();
    assert!(e.run_units(&units).is_continue());
    assert_eq!(e.counters().vertex_accesses[2], 2 * 12);
    assert_eq!(e.accesses().unwrap().vertices[2][0], 3);
}

#[test]
fn what_the_reference_cannot_do_names_the_engine_that_can() {
    let graph = Small::from_edges(3, &[(0, 1), (1, 2)]).graph();
    let pattern = Pattern::from_edges(2, &[(0, 1)]);
    for task in [
        Task::MaximalCliques,
        Task::Motif { k: 3, induced: Induced::Edge },
        Task::Fsm { limit: SizeLimit::MaxEdges(2), support: 1, measure: Measure::Mni },
        Task::Match { pattern, induced: Induced::Edge, mappings: None },
    ] {
        let error = Reference::default().run(&graph, &task, None, &Context::default()).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)));
        assert!(error.to_string().contains("`reference` "), "{error}");
    }
    let error = Reference::default()
        .run(&graph, &Task::Clique { k: 2 }, None, &Context::default())
        .unwrap_err();
    assert_eq!(error.to_string(), "k is 2, but must be 3 to 16");
}

#[test]
fn a_run_stops_when_asked_to() {
    // All pairs of 200 vertices: 64 million embeddings of 4 vertices.
    let n = 200;
    let pairs: Vec<_> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
    let graph = Small::from_edges(n, &pairs).graph();
    let context = Context::default();
    let cancel = context.cancel.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        cancel.cancel();
    });
    let outcome = Reference::default().run(&graph, &motif(4), None, &context).unwrap();
    stopper.join().unwrap();
    assert!(!outcome.complete);
    assert!(matches!(renumber(&graph, &context), Err(Error::Interrupted)));
    assert!(matches!(on_k(graph.view(), 2, &context), Err(Error::Interrupted)));

    // A limit on embeddings, and an application that has enough.
    let context = Context::default();
    let units: Vec<WorkUnit> = Units::All.iter(graph.view()).collect();
    let mut e = Explorer::new(graph.view(), Comparison::Descending, Motifs::new(4), &context)
        .with_limit(1000);
    assert_eq!(e.run_units(&units), ControlFlow::Break(Stop::Limit));
    assert_eq!(e.counters().embeddings_by_depth[2..].iter().sum::<u64>(), 1000);
    let once = Cliques::new(3).with_sink(|_: &_| ControlFlow::Break(()));
    let mut e = Explorer::new(graph.view(), Comparison::Descending, once, &context);
    assert_eq!(e.run_units(&units), ControlFlow::Break(Stop::Application));
    assert_eq!(e.primitives().count, 1);
}
