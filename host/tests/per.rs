//! Counts per vertex and per edge are those of brute force, on random small graphs, in any order of
//! vertices, with any number of threads.

use std::collections::BTreeMap;

use gramer::cpu::Cpu;
use gramer::engine::Outcome;
use gramer::engine::per::{Per, edges};
use gramer::engine::reference::Reference;
use gramer::engine::{Answer, Ask, Engine, EngineExt, Query, Units};
use gramer::graph::Builder;
use gramer::prepare::renumber;
use gramer::task::Induced;
use gramer::{Context, Error, Graph, Task};
use gramer_testing::truth::{PLAIN, Small, config, graphs};
use proptest::prelude::*;

/// Numbers by column (pattern's vertices and orbit; orbit 0 for cliques) and item (ends, or a vertex
/// twice), without zeros.
type PerCounts = BTreeMap<((usize, usize), (u64, u64)), u128>;

fn run(graph: &Graph, task: &Task, per: Per, threads: usize) -> Outcome {
    let context = Context::with_threads(threads);
    let outcome = Cpu.prepare(graph, &context).unwrap().run_per(task, per, &context).unwrap();
    let whole = Cpu.run(graph, task, None, &context).unwrap();
    assert!(outcome.complete);
    assert_eq!(outcome.results, whole.results);
    assert_eq!(outcome.rows, whole.rows);
    outcome
}

fn found(graph: &Graph, outcome: &Outcome, per: Per) -> PerCounts {
    let id = |v| graph.original_id(v);
    let items: Vec<(u64, u64)> = match per {
        Per::Vertex => (0..graph.vertices() as u32).map(|v| (id(v), id(v))).collect(),
        Per::Edge => {
            let ends = |(u, v)| (id(u).min(id(v)), id(u).max(id(v)));
            edges(graph.view()).map(ends).collect()
        }
        Per::Graph => unreachable!("tests/per_graph.rs has them"),
    };
    let mut found = PerCounts::new();
    for column in &outcome.columns {
        assert_eq!(column.counts.len(), items.len());
        let key = match &column.orbit {
            Some(orbit) => (0, orbit.number),
            None => (column.of.size().unwrap().0, 0),
        };
        let numbers = items.iter().zip(column.counts.iter()).filter(|(_, count)| *count > 0);
        found.extend(numbers.map(|(&item, count)| ((key, item), count)));
    }
    found
}

fn items(set: &[usize], edges: &[(usize, usize)], per: Per) -> Vec<(u64, u64)> {
    match per {
        Per::Vertex => set.iter().map(|&v| (v as u64, v as u64)).collect(),
        Per::Edge => edges.iter().map(|&(u, v)| (u as u64, v as u64)).collect(),
        Per::Graph => unreachable!("tests/per_graph.rs has them"),
    }
}

fn subsets(n: usize, k: usize) -> impl Iterator<Item = Vec<usize>> {
    (0u32..1 << n)
        .filter(move |set| set.count_ones() as usize == k)
        .map(move |set| (0..n).filter(|&v| set >> v & 1 == 1).collect())
}

fn pairs(small: &Small, set: &[usize]) -> Vec<(usize, usize)> {
    let pairs = set.iter().flat_map(|&u| set.iter().map(move |&v| (u, v)));
    pairs.filter(|&(u, v)| u < v && small.edges[u][v].is_some()).collect()
}

fn cliques(small: &Small, sizes: std::ops::RangeInclusive<usize>, per: Per) -> PerCounts {
    let mut found = PerCounts::new();
    for k in sizes {
        for set in subsets(small.n(), k) {
            let edges = pairs(small, &set);
            if edges.len() == k * (k - 1) / 2 {
                for item in items(&set, &edges, per) {
                    *found.entry(((k, 0), item)).or_default() += 1;
                }
            }
        }
    }
    found
}

/// ORCA's number of the orbit, from the degrees in a connected pattern of up to four vertices: of the
/// vertex, or of both ends of the edge; the largest; and the number of edges.
fn orbit(k: usize, edges: usize, largest: usize, (a, b): (usize, usize), per: Per) -> usize {
    match (per, k, edges, largest, a.min(b), a.max(b)) {
        (Per::Vertex, 2, ..) => 0,
        (Per::Vertex, 3, 2, _, d, _) => d,
        (Per::Vertex, 3, ..) => 3,
        (Per::Vertex, 4, 3, 2, d, _) => 3 + d,
        (Per::Vertex, 4, 3, 3, d, _) => {
            if d == 1 {
                6
            } else {
                7
            }
        }
        (Per::Vertex, 4, 4, 2, ..) => 8,
        (Per::Vertex, 4, 4, 3, d, _) => 8 + d,
        (Per::Vertex, 4, 5, _, d, _) => 10 + d,
        (Per::Vertex, 4, ..) => 14,
        (Per::Edge, 3, edges, ..) => edges - 2,
        (Per::Edge, 4, 3, 2, d, _) => 1 + d,
        (Per::Edge, 4, 3, 3, ..) => 4,
        (Per::Edge, 4, 4, 2, ..) => 5,
        (Per::Edge, 4, 4, 3, 1, _) => 6,
        (Per::Edge, 4, 4, 3, 2, d) => 5 + d,
        (Per::Edge, 4, 5, _, d, _) => 7 + d,
        (Per::Edge, 4, ..) => 11,
        _ => unreachable!(),
    }
}

fn graphlets(small: &Small, k: usize, induced: Induced, per: Per) -> PerCounts {
    let mut found = PerCounts::new();
    let smallest = if per == Per::Vertex { 2 } else { 3 };
    for set in (smallest..=k).flat_map(|k| subsets(small.n(), k)) {
        let all = pairs(small, &set);
        for chosen in 0u32..1 << all.len() {
            if induced == Induced::Vertex && chosen + 1 != 1 << all.len() {
                continue;
            }
            let kept: Vec<_> =
                (0..all.len()).filter(|i| chosen >> i & 1 == 1).map(|i| all[i]).collect();
            let degree = |v: usize| kept.iter().filter(|&&(a, b)| a == v || b == v).count();
            // With up to four vertices, one without an edge or two pairs apart are not connected.
            let apart = set.len() == 4 && kept.len() == 2;
            if set.iter().any(|&v| degree(v) == 0) || apart {
                continue;
            }
            let largest = set.iter().map(|&v| degree(v)).max().unwrap();
            for (u, v) in items(&set, &kept, per) {
                let degrees = (degree(u as usize), degree(v as usize));
                let number = orbit(set.len(), kept.len(), largest, degrees, per);
                *found.entry(((0, number), (u, v))).or_default() += 1;
            }
        }
    }
    found
}

fn both_orders(small: &Small) -> [Graph; 2] {
    let graph = small.graph();
    let renumbered = renumber(&graph, &Context::with_threads(1)).unwrap();
    [graph, renumbered]
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn cliques_of_one_size(small in graphs(11, PLAIN), k in 3usize..8, threads in 1usize..4) {
        for per in [Per::Vertex, Per::Edge] {
            for graph in both_orders(&small) {
                let outcome = run(&graph, &Task::Clique { k }, per, threads);
                prop_assert_eq!(found(&graph, &outcome, per), cliques(&small, k..=k, per));
            }
        }
    }

    #[test]
    fn cliques_of_several_sizes(
        small in graphs(11, PLAIN),
        smallest in 3usize..6,
        more in 0usize..8,
        threads in 1usize..4,
    ) {
        let largest = smallest + more;
        let task = Task::CliqueSizes { smallest, largest };
        for per in [Per::Vertex, Per::Edge] {
            let graph = small.graph();
            let outcome = run(&graph, &task, per, threads);
            prop_assert_eq!(found(&graph, &outcome, per), cliques(&small, smallest..=largest, per));
        }
    }

    #[test]
    fn graphlet_degrees(small in graphs(8, PLAIN), k in 3usize..5, threads in 1usize..4) {
        for induced in [Induced::Vertex, Induced::Edge] {
            for per in [Per::Vertex, Per::Edge] {
                for graph in both_orders(&small) {
                    let outcome = run(&graph, &Task::Motif { k, induced }, per, threads);
                    let expected = graphlets(&small, k, induced, per);
                    prop_assert_eq!(found(&graph, &outcome, per), expected);
                }
            }
        }
    }
}

/// Start vertices whose work is divided among threads, and sums of other vertices' work.
#[test]
fn numbers_of_a_large_clique_are_binomials() {
    let mut builder = Builder::new();
    for u in 0..140u64 {
        (0..u).for_each(|v| builder.edge(u, v));
    }
    let graph = builder.build();
    let choose = |n: u128, k: u128| (0..k).fold(1u128, |p, i| p * (n - i) / (i + 1));
    for k in [4, 5, 16] {
        for (per, chosen) in [(Per::Vertex, 1), (Per::Edge, 2)] {
            let outcome = run(&graph, &Task::Clique { k }, per, 3);
            let each = choose(140 - chosen, k as u128 - chosen);
            assert!(outcome.columns[0].counts.iter().all(|count| count == each));
            // C(139, 15) needs more than 64 bits.
            assert_eq!(each > u128::from(u64::MAX), k == 16 && per == Per::Vertex, "{each}");
        }
    }
}

#[test]
fn what_has_no_such_counts_is_refused() {
    let graph = Small::from_edges(3, &[(0, 1), (1, 2)]).graph();
    let context = Context::with_threads(1);
    let prepared = Cpu.prepare(&graph, &context).unwrap();
    for task in [Task::MaximalCliques, Task::Motif { k: 5, induced: Induced::Vertex }] {
        let query = Query::new(task.clone()).answer(Answer::PerEdge);
        assert!(matches!(Cpu.plan(&Ask::new(&query)), Err(Error::Unsupported(_))));
        assert!(prepared.run_per(&task, Per::Edge, &context).is_err());
    }
    let task = Task::Clique { k: 3 };
    let query = Query::new(task.clone()).answer(Answer::PerVertex);
    let said = Reference::default().plan(&Ask::new(&query)).unwrap_err().to_string();
    assert!(said.contains("`reference`") && said.contains("per vertex"), "{said}");
    let other = Reference::default();
    assert!(
        other.prepare(&graph, &context).unwrap().run_per(&task, Per::Vertex, &context).is_err()
    );
    // A share is no part of the interface, and a run that was stopped has no columns.
    assert!(prepared.run(&task, Units::All, None, &context).is_ok());
    context.cancel.cancel();
    let stopped = prepared.run_per(&task, Per::Vertex, &context).unwrap();
    assert!(!stopped.complete && stopped.columns.is_empty());
}
