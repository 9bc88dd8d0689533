//! Core numbers, truss numbers, densest subgraphs and onion layers, beside definitions taken at their word.

use std::collections::BTreeSet;

use gramer::base::{Context, choice::Choice};
use gramer::cpu::Cpu;
use gramer::engine::per::{Per, edges};
use gramer::engine::{Engine, EngineExt, Outcome};
use gramer::graph::{Builder, Graph};
use gramer::pattern::{Statistic, Task};
use gramer::prepare::renumber;
use proptest::prelude::*;

type Edges = BTreeSet<(u64, u64)>;

fn graph(vertices: u64, edges: &Edges) -> Graph {
    let mut builder = Builder::new();
    builder.vertex_range(0..vertices);
    edges.iter().for_each(|&(u, v)| builder.edge(u, v));
    builder.build()
}

/// The graph, or the same with its vertices in the order that engines prefer: a tie goes by the id of the input.
fn in_order(graph: Graph, ranked: bool) -> Graph {
    match ranked {
        true => renumber(&graph, &Context::with_threads(1)).unwrap(),
        false => graph,
    }
}

fn run(graph: &Graph, task: &Task, per: Per) -> Outcome {
    let context = Context::with_threads(1);
    let outcome = Cpu.prepare(graph, &context).unwrap().run_per(task, per, &context).unwrap();
    assert!(outcome.complete);
    let whole = Cpu.run(graph, task, None, &context).unwrap();
    assert_eq!(outcome.rows, whole.rows);
    assert!(whole.columns.is_empty() && outcome.results.is_empty());
    outcome
}

fn rows(outcome: &Outcome) -> Vec<(String, u128)> {
    outcome.rows.iter().map(|row| (row.of.name(), row.count)).collect()
}

fn degree(edges: &Edges, v: u64) -> usize {
    edges.iter().filter(|(a, b)| *a == v || *b == v).count()
}

/// The vertices of the k-core: those with fewer neighbours go, until none has.
fn core(vertices: u64, edges: &Edges, k: usize) -> BTreeSet<u64> {
    let mut left: BTreeSet<u64> = (0..vertices).collect();
    let mut edges = edges.clone();
    while let Some(&v) = left.iter().find(|&&v| degree(&edges, v) < k) {
        left.remove(&v);
        edges.retain(|(a, b)| *a != v && *b != v);
    }
    left
}

/// The edges of the k-truss: those in fewer than k - 2 triangles go, until none is.
fn truss(edges: &Edges, k: usize) -> Edges {
    let mut left = edges.clone();
    let pair = |u: u64, v: u64| (u.min(v), u.max(v));
    let triangles = |left: &Edges, (u, v): (u64, u64)| {
        let third = |w: &u64| left.contains(&pair(u, *w)) && left.contains(&pair(v, *w));
        (0..64).filter(|w| *w != u && *w != v).filter(third).count()
    };
    while let Some(&edge) = left.iter().find(|&&edge| triangles(&left, edge) + 2 < k) {
        left.remove(&edge);
    }
    left
}

/// The onion layers: in each round go all vertices with at most as many neighbours as the current core, which is the
/// least number of neighbours met so far.
fn onion(vertices: u64, edges: &Edges) -> Vec<BTreeSet<u64>> {
    let mut left: BTreeSet<u64> = (0..vertices).collect();
    let mut edges = edges.clone();
    let (mut core, mut layers) = (0, vec![]);
    while let Some(least) = left.iter().map(|&v| degree(&edges, v)).min() {
        core = core.max(least);
        let layer: BTreeSet<u64> =
            left.iter().copied().filter(|&v| degree(&edges, v) <= core).collect();
        left.retain(|v| !layer.contains(v));
        edges.retain(|(a, b)| left.contains(a) && left.contains(b));
        layers.push(layer);
    }
    layers
}

fn inputs() -> impl Strategy<Value = (u64, Edges)> {
    (1u64..12).prop_flat_map(|n| {
        let pairs = prop::collection::btree_set((0..n, 0..n), 0..40);
        let edges = pairs.prop_map(|pairs| {
            pairs.into_iter().filter(|(u, v)| u != v).map(|(u, v)| (u.min(v), u.max(v))).collect()
        });
        (Just(n), edges)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn core_numbers((vertices, pairs) in inputs(), ranked in any::<bool>()) {
        let graph = in_order(graph(vertices, &pairs), ranked);
        let outcome = run(&graph, &Task::Statistic(Statistic::Core), Per::Vertex);
        let cores: Vec<BTreeSet<u64>> =
            (0..).map(|k| core(vertices, &pairs, k)).take_while(|core| !core.is_empty()).collect();
        for v in 0..vertices as u32 {
            let own = cores.iter().rposition(|core| core.contains(&graph.original_id(v))).unwrap();
            prop_assert_eq!(outcome.columns[0].counts.get(v as usize), own as u128);
        }
        let sizes = (0..).zip(&cores).skip(usize::from(cores.len() > 1));
        let sizes: Vec<_> = sizes.map(|(k, core)| (format!("{k}-core"), core.len() as u128)).collect();
        prop_assert_eq!(rows(&outcome), sizes);
    }

    #[test]
    fn truss_numbers((vertices, pairs) in inputs(), ranked in any::<bool>()) {
        let graph = in_order(graph(vertices, &pairs), ranked);
        let outcome = run(&graph, &Task::Statistic(Statistic::Truss), Per::Edge);
        let trusses: Vec<Edges> =
            (2..).map(|k| truss(&pairs, k)).take_while(|truss| !truss.is_empty()).collect();
        for (at, (u, v)) in edges(graph.view()).enumerate() {
            let (u, v) = (graph.original_id(u), graph.original_id(v));
            let edge = (u.min(v), u.max(v));
            let own = trusses.iter().rposition(|truss| truss.contains(&edge)).unwrap() + 2;
            prop_assert_eq!(outcome.columns[0].counts.get(at), own as u128);
        }
        let sizes = (2..).zip(&trusses);
        let sizes: Vec<_> = sizes.map(|(k, edges)| (format!("{k}-truss"), edges.len() as u128)).collect();
        prop_assert_eq!(rows(&outcome), sizes);
    }

    #[test]
    fn onion_layers((vertices, pairs) in inputs(), ranked in any::<bool>()) {
        let graph = in_order(graph(vertices, &pairs), ranked);
        let outcome = run(&graph, &Task::Statistic(Statistic::Onion), Per::Vertex);
        let layers = onion(vertices, &pairs);
        for v in 0..vertices as u32 {
            let own = layers.iter().position(|layer| layer.contains(&graph.original_id(v))).unwrap();
            prop_assert_eq!(outcome.columns[0].counts.get(v as usize), own as u128 + 1);
        }
        prop_assert_eq!(rows(&outcome), [("layers".to_string(), layers.len() as u128)]);
    }

    #[test]
    fn densest_subgraphs((vertices, pairs) in inputs(), ranked in any::<bool>()) {
        let graph = in_order(graph(vertices, &pairs), ranked);
        let outcome = run(&graph, &Task::Statistic(Statistic::Densest), Per::Vertex);
        let inside = |v: u64| (0..vertices as u32).any(|i| {
            graph.original_id(i) == v && outcome.columns[0].counts.get(i as usize) == 1
        });
        let members = (0..vertices).filter(|&v| inside(v)).count() as u128;
        let own = pairs.iter().filter(|(u, v)| inside(*u) && inside(*v)).count() as u128;
        prop_assert_eq!(rows(&outcome), [("vertices".to_string(), members), ("edges".into(), own)]);
        // Half of the best of all sets of vertices, at least.
        for set in 1u64..1 << vertices {
            let edges = pairs.iter().filter(|(u, v)| set >> u & 1 == 1 && set >> v & 1 == 1).count();
            prop_assert!(2 * own * u128::from(set.count_ones()) >= edges as u128 * members);
        }
    }
}

#[test]
fn onion_layers_of_a_tree_a_clique_and_a_vertex_alone() {
    // As `onion_layers` of NetworkX says: the vertex alone, the leaves, their neighbour, the clique.
    let pairs = [(1, 2), (1, 3), (1, 4), (4, 5), (4, 6), (4, 7), (5, 6), (5, 7), (6, 7)];
    let graph = graph(8, &pairs.into());
    let outcome = run(&graph, &Task::Statistic(Statistic::Onion), Per::Vertex);
    assert_eq!(rows(&outcome), [("layers".to_string(), 4)]);
    let mut layers: Vec<(u64, u128)> =
        (0..8).map(|v| (graph.original_id(v), outcome.columns[0].counts.get(v as usize))).collect();
    layers.sort_unstable();
    assert_eq!(layers, (0..).zip([1, 3, 2, 2, 4, 4, 4, 4]).collect::<Vec<_>>());
}

#[test]
fn a_graph_without_vertices_has_no_numbers() {
    let graph = graph(0, &Edges::new());
    for (task, per) in [
        (Task::Statistic(Statistic::Core), Per::Vertex),
        (Task::Statistic(Statistic::Truss), Per::Edge),
    ] {
        let outcome = run(&graph, &task, per);
        assert!(outcome.columns[0].counts.is_empty(), "{task:?}");
    }
    assert_eq!(
        rows(&run(&graph, &Task::Statistic(Statistic::Densest), Per::Vertex))[0],
        ("vertices".into(), 0)
    );
    let outcome = run(&graph, &Task::Statistic(Statistic::Onion), Per::Vertex);
    assert_eq!(rows(&outcome), [("layers".into(), 0)]);
    assert!(outcome.columns[0].counts.is_empty());
}

#[test]
fn a_stopped_run_has_no_numbers() {
    let pairs: Edges = (0..400u64).flat_map(|u| (u + 1..400).map(move |v| (u, v))).collect();
    let graph = graph(400, &pairs);
    let context = Context::with_threads(1);
    context.cancel.cancel();
    for task in Statistic::ALL.iter().map(|(statistic, ..)| Task::Statistic(*statistic)) {
        let outcome = Cpu.run(&graph, &task, None, &context).unwrap();
        assert!(!outcome.complete && outcome.rows.is_empty(), "{task:?}");
    }
}
