//! Isomorphisms, homomorphisms and edge isomorphisms against their definitions and against numbers that follow from
//! degrees and walks.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use gramer::cpu::Cpu;
use gramer::engine::interpreter::interpret;
use gramer::engine::{Answer, Ask, EngineExt, Precision, Query, Sink};
use gramer::graph::{Builder, NO_LABEL, VertexId};
use gramer::plan::search::SearchPlan;
use gramer::task::{Induced, Mappings};
use gramer::{Context, Graph, Pattern, Task};
use gramer_testing::graphs::{complete, graph, numbers, pairs};
use gramer_testing::mappings::every;
use gramer_testing::sinks::Collect;
use proptest::prelude::*;

const KINDS: [Mappings; 3] =
    [Mappings::Isomorphism, Mappings::Homomorphism, Mappings::EdgeIsomorphism];

/// A graph or a pattern: labels by vertex, and by pair (0: no edge, in a pattern 1: a pair that must not be joined).
#[derive(Debug, Clone)]
struct Small {
    labels: Vec<u32>,
    pairs: Vec<u32>,
}

fn small(vertices: std::ops::Range<usize>, kinds: u32) -> impl Strategy<Value = Small> {
    vertices.prop_flat_map(move |n| {
        let labels = prop::collection::vec(0u32..3, n);
        let pairs = prop::collection::vec(0u32..kinds, n * (n - 1) / 2);
        (labels, pairs).prop_map(|(labels, pairs)| Small { labels, pairs })
    })
}

/// The kinds of labels that a case has.
#[derive(Debug, Clone, Copy)]
struct Labelled {
    vertices: bool,
    edges: bool,
}

impl Small {
    fn pairs(&self) -> impl Iterator<Item = ((usize, usize), u32)> + '_ {
        let pairs = (1..self.labels.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        pairs.zip(self.pairs.iter().copied())
    }

    fn graph(&self, labelled: Labelled) -> Graph {
        let mut builder = Builder::new();
        for (v, &label) in self.labels.iter().enumerate() {
            match labelled.vertices {
                true => builder.labelled_vertex(v as u64, label % 2),
                false => builder.vertex(v as u64),
            }
        }
        for ((i, j), pair) in self.pairs().filter(|(_, pair)| *pair > 0) {
            match labelled.edges {
                true => builder.labelled_edge(i as u64, j as u64, pair % 2),
                false => builder.edge(i as u64, j as u64),
            }
        }
        builder.build()
    }

    /// A connected pattern: a tree with further edges. Label 2 is any.
    fn pattern(&self, labelled: Labelled, absences: bool) -> Pattern {
        let n = self.labels.len();
        let mut pattern = Pattern::new(n);
        for v in 1..n {
            pattern.add_edge(self.labels[v] as usize % v, v);
        }
        for ((i, j), pair) in self.pairs() {
            match pair {
                _ if pattern.has_edge(i, j) => {}
                1 if absences => pattern.set_absent(i, j),
                0 | 1 => {}
                _ => pattern.add_edge(i, j),
            }
        }
        let label = |label: u32| if label == 2 { NO_LABEL } else { label };
        for (v, &own) in self.labels.iter().enumerate().filter(|_| labelled.vertices) {
            pattern.set_vertex_label(v, label(own));
        }
        for ((i, j), pair) in self.pairs().filter(|_| labelled.edges) {
            if pattern.has_edge(i, j) {
                pattern.set_edge_label(i, j, label(pair % 3));
            }
        }
        pattern
    }
}

fn task(pattern: &Pattern, mappings: Mappings) -> Task {
    Task::Match { pattern: pattern.clone(), induced: Induced::Edge, mappings: Some(mappings) }
}

/// The number of mappings that are counted, or handed to a sink.
fn mine(
    graph: &Graph,
    pattern: &Pattern,
    mappings: Mappings,
    sink: Option<&dyn Sink>,
    threads: usize,
) -> (u128, bool) {
    let context = Context::with_threads(threads);
    let outcome = Cpu.run(graph, &task(pattern, mappings), sink, &context).unwrap();
    assert_eq!(&outcome.results[0].pattern, pattern);
    (outcome.results[0].count, outcome.complete)
}

fn count(graph: &Graph, pattern: &Pattern, mappings: Mappings) -> u128 {
    let (count, complete) = mine(graph, pattern, mappings, None, 2);
    assert!(complete);
    count
}

/// A sink that only counts, up to a limit.
struct Limited {
    limit: u64,
    number: AtomicU64,
}

impl Sink for Limited {
    fn embedding(&self, _: &Pattern, _: &[VertexId]) -> ControlFlow<()> {
        unreachable!("it only counts")
    }

    fn only_counts(&self) -> bool {
        true
    }

    fn embeddings(&self, number: u64) {
        self.number.fetch_add(number, Ordering::Relaxed);
    }

    fn limit(&self) -> Option<u64> {
        Some(self.limit)
    }
}

/// Everything that is asked of mappings, against all of them.
fn check(graph: &Graph, pattern: &Pattern, mappings: Mappings) {
    let right = every(graph.view(), pattern, mappings);
    let number = right.len() as u128;
    let case = || format!("{mappings} of {pattern:?}\n{graph:?}");
    for threads in [1, 3] {
        assert_eq!(mine(graph, pattern, mappings, None, threads), (number, true), "{}", case());
        let listed = Collect::default();
        let counted = mine(graph, pattern, mappings, Some(&listed), threads);
        assert_eq!(counted, (number, true), "{}", case());
        let mut listed = listed.0.into_inner().unwrap();
        listed.sort_unstable();
        assert_eq!(listed, right, "{}", case());
        for limit in [1, number as u64 / 2 + 1, number as u64 + 1] {
            let sink = Limited { limit, number: AtomicU64::new(0) };
            let (count, complete) = mine(graph, pattern, mappings, Some(&sink), threads);
            assert_eq!(count, number.min(limit.into()), "limit {limit}: {}", case());
            assert!(complete || number >= u128::from(limit), "limit {limit}: {}", case());
            assert_eq!(sink.number.into_inner(), count as u64);
        }
    }
    // Engines take labels that the graph lacks out of the pattern first.
    let lacks = pattern.has_edge_labels() && !graph.has_edge_labels();
    for emit in [false, true].into_iter().filter(|_| !lacks) {
        let plan = SearchPlan::of_mappings(pattern, mappings, emit);
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<SearchPlan>(&text).unwrap(), plan);
        let met = Mutex::new(vec![]);
        let counted = interpret(&plan, graph.view(), |mapping| {
            met.lock().unwrap().push(mapping.to_vec());
            ControlFlow::Continue(())
        });
        assert_eq!(counted.unwrap() * plan.factor, number, "{emit}: {}", case());
        if emit {
            let mut met = met.into_inner().unwrap();
            met.sort_unstable();
            assert_eq!(met, right, "{}", case());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_kind_is_its_definition(
        graph in small(1..7, 3),
        pattern in small(1..6, 4),
        (vertices, edges) in any::<(bool, bool)>(),
        absences in any::<bool>(),
    ) {
        let labelled = Labelled { vertices, edges };
        let graph = graph.graph(labelled);
        let pattern = pattern.pattern(labelled, absences);
        // A graph that happens to have no edge has no labels of edges either.
        prop_assume!(!edges || graph.has_edge_labels());
        for mappings in KINDS {
            check(&graph, &pattern, mappings);
        }
    }
}

/// A graph with some hubs, and walks by length: `walks[k]` counts those of k edges, `closed[k]` those that end where
/// they begin.
fn walks(graph: &Graph, most: usize) -> (Vec<u128>, Vec<u128>) {
    let view = graph.view();
    let n = view.vertices();
    let (mut walks, mut closed) = (vec![0; most + 1], vec![0; most + 1]);
    for start in 0..n {
        let mut at = vec![0u128; n];
        at[start] = 1;
        for k in 0..=most {
            walks[k] += at.iter().sum::<u128>();
            closed[k] += at[start];
            let to =
                |v: usize| view.neighbours(v as VertexId).iter().map(|&u| at[u as usize]).sum();
            at = (0..n).map(to).collect();
        }
    }
    (walks, closed)
}

fn random_graph(vertices: u64, percent: u64) -> Graph {
    let mut random = numbers(vertices + percent);
    pairs(vertices, |u, v| random(100) < if u.min(v) < 2 { 70 } else { percent })
}

fn path(edges: usize) -> Pattern {
    Pattern::from_edges(edges + 1, &(0..edges).map(|v| (v, v + 1)).collect::<Vec<_>>())
}

fn cycle(k: usize) -> Pattern {
    Pattern::from_edges(k, &(0..k).map(|v| (v, (v + 1) % k)).collect::<Vec<_>>())
}

#[test]
fn homomorphisms_of_paths_are_walks_and_of_cycles_closed_walks() {
    for graph in [random_graph(40, 8), random_graph(25, 40), complete(9), graph([(0, 1)])] {
        let (walks, closed) = walks(&graph, 9);
        let homomorphisms = |pattern: &Pattern| count(&graph, pattern, Mappings::Homomorphism);
        // Up to eight vertices by tables, above that by a search.
        for (edges, &walks) in walks.iter().enumerate() {
            assert_eq!(homomorphisms(&path(edges)), walks, "path of {edges} edges");
        }
        for (k, &closed) in closed.iter().enumerate().skip(3) {
            assert_eq!(homomorphisms(&cycle(k)), closed, "cycle of {k} edges");
        }
        let view = graph.view();
        let degrees = (0..view.vertices()).map(|v| view.degree(v as VertexId) as u128);
        for leaves in 2..=5u32 {
            let star: Vec<_> = (1..=leaves as usize).map(|leaf| (0, leaf)).collect();
            let star = Pattern::from_edges(leaves as usize + 1, &star);
            let power: u128 = degrees.clone().map(|degree| degree.pow(leaves)).sum();
            assert_eq!(homomorphisms(&star), power, "star of {leaves} leaves");
        }
        // The vertices of a clique are neighbours of each other.
        let triangles = homomorphisms(&Pattern::clique(3));
        assert_eq!(triangles % 6, 0);
        assert_eq!(triangles, count(&graph, &Pattern::clique(3), Mappings::Isomorphism));
    }
}

#[test]
fn edge_isomorphisms_of_paths_are_walks_without_a_repeated_edge() {
    fn trails(graph: &Graph, at: VertexId, left: usize, used: &mut Vec<[VertexId; 2]>) -> u128 {
        if left == 0 {
            return 1;
        }
        let mut sum = 0;
        for &next in graph.view().neighbours(at) {
            let edge = [at.min(next), at.max(next)];
            if !used.contains(&edge) {
                used.push(edge);
                sum += trails(graph, next, left - 1, used);
                used.pop();
            }
        }
        sum
    }
    for graph in [random_graph(30, 6), complete(5), graph((0..6).map(|v| (v, (v + 1) % 6)))] {
        for edges in 0..=5 {
            let starts = 0..graph.view().vertices() as VertexId;
            let right: u128 = starts.map(|v| trails(&graph, v, edges, &mut vec![])).sum();
            assert_eq!(count(&graph, &path(edges), Mappings::EdgeIsomorphism), right, "{edges}");
        }
        // Σ d·(d − 1): the leaves of a star go to different neighbours.
        let view = graph.view();
        let degrees = (0..view.vertices()).map(|v| view.degree(v as VertexId) as u128);
        let right: u128 = degrees.map(|d| d * (d - 1)).sum();
        assert_eq!(count(&graph, &path(2), Mappings::EdgeIsomorphism), right);
    }
    // Two triangles at a vertex: the 6-cycle goes round both, from each of the six places of the walk, either way, and
    // either triangle in either direction; isomorphisms need six vertices.
    let bow = graph([(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)]);
    assert_eq!(count(&bow, &cycle(6), Mappings::Isomorphism), 0);
    assert_eq!(count(&bow, &cycle(6), Mappings::EdgeIsomorphism), 24);
}

#[test]
fn searches_and_tables_agree_on_graphs_with_hubs() {
    let graph = random_graph(60, 5);
    for name in ["house", "4-cycle", "paw", "diamond", "5-path", "K2,3", "bull", "4-star"] {
        let pattern = gramer::pattern::named(name).unwrap();
        let sink = Limited { limit: u64::MAX, number: AtomicU64::new(0) };
        let searched = mine(&graph, &pattern, Mappings::Homomorphism, Some(&sink), 2);
        assert_eq!(searched, (count(&graph, &pattern, Mappings::Homomorphism), true), "{name}");
        let [isomorphisms, homomorphisms, edges] = KINDS.map(|kind| count(&graph, &pattern, kind));
        assert!(isomorphisms <= edges && edges <= homomorphisms, "{name}");
    }
}

#[test]
fn what_has_no_meaning_or_no_method_is_refused() {
    let path = path(2);
    for mappings in [Mappings::Homomorphism, Mappings::EdgeIsomorphism] {
        let induced = Induced::Vertex;
        let pattern = path.clone();
        let error = Task::Match { pattern, induced, mappings: Some(mappings) }.check().unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("are edge-induced, not vertex-induced"), "{error}");
        let refused = |query: Query| {
            let choices = gramer::engine::Engine::choose(&Cpu, &Ask::new(&query));
            assert!(choices.fits.is_empty(), "{query:?}");
            gramer::engine::reason::refusal("cpu", &Ask::new(&query), &choices).to_string()
        };
        let two = Query::new(task(&Pattern::from_edges(4, &[(0, 1), (2, 3)]), mappings));
        assert!(refused(two).contains("several components"));
        let estimate = Answer::Estimate(Precision { relative: 0.1, seed: 1 });
        let text = refused(Query::new(task(&path, mappings)).answer(estimate));
        assert!(text.contains("by homomorphisms or edge isomorphisms"), "{text}");
    }
}
