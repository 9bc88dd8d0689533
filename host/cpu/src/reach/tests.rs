//! Both forms of tables give equal answers at all limits.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;

use gramer_base::context::Context;
use gramer_graph::{Builder, Graph};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};
use proptest::prelude::{Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

use super::*;
use crate::Cpu;
use gramer_engine::per::Per;
use gramer_engine::{Engine, EngineExt, Outcome, Sink};

thread_local! {
    /// Limits of the test on this thread.
    static LIMITS: Cell<[usize; 2]> = const { Cell::new([MOST_BYTES; 2]) };
}

/// In tests the limits are those of the thread.
pub fn limits() -> [usize; 2] {
    LIMITS.get()
}

/// Runs something on this thread under other limits.
fn under<R>(limits: [usize; 2], run: impl FnOnce() -> R) -> R {
    let before = LIMITS.replace(limits);
    let done = run();
    LIMITS.set(before);
    done
}

/// Limits without dense tables, and for sparse ones of this number of bytes.
fn sparse(bytes: usize) -> [usize; 2] {
    [0, bytes]
}

/// A graph of edges as drawn, of which a part goes to few vertices besides.
fn graph(edges: &[(u64, u64)], hubs: u64, labels: u32) -> Graph {
    let mut builder = Builder::new();
    for v in 0..48u64 {
        match labels {
            0 => builder.vertex(v),
            _ => builder.labelled_vertex(v, (v * 7 % 11) as u32 % labels),
        }
    }
    for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
        builder.edge(u, v);
        if hubs > 0 && u % 3 != 0 && u != v % hubs {
            builder.edge(u, v % hubs);
        }
    }
    builder.build()
}

/// A task for each place in which threads have tables by vertex.
fn tasks(labelled: bool) -> Vec<Task> {
    if labelled {
        let fsm = |limit, measure| Task::Fsm { limit, support: 3, measure };
        return vec![
            fsm(SizeLimit::MaxVertices(3), Measure::Embeddings),
            fsm(SizeLimit::MaxVertices(5), Measure::Embeddings),
            fsm(SizeLimit::MaxEdges(3), Measure::Mni),
        ];
    }
    let ring = |n: usize| {
        let edges: Vec<_> = (0..n).map(|v| (v, (v + 1) % n)).collect();
        Pattern::from_edges(n, &edges)
    };
    let mut tasks = vec![Task::MaximalCliques, Task::CliqueSizes { smallest: 3, largest: 6 }];
    tasks.extend([3, 4].map(|k| Task::Clique { k }));
    for induced in [Induced::Vertex, Induced::Edge] {
        tasks.extend((3..=6).map(|k| Task::Motif { k, induced }));
    }
    let house = Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]);
    for pattern in [ring(4), ring(5), ring(6), house] {
        tasks.push(Task::Match { pattern, induced: Induced::Edge, mappings: None });
    }
    tasks
}

#[derive(Default)]
struct ListSink(Mutex<Vec<(Pattern, Vec<VertexId>)>>);

impl Sink for ListSink {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> std::ops::ControlFlow<()> {
        self.0.lock().unwrap().push((pattern.clone(), vertices.to_vec()));
        std::ops::ControlFlow::Continue(())
    }
}

/// All answers of the engine for a graph.
fn answers(graph: &Graph, labelled: bool, threads: usize) -> Vec<Outcome> {
    let context = Context::with_threads(threads);
    let run = |task: &Task| {
        let mut outcome = Cpu.run(graph, task, None, &context).unwrap();
        assert!(outcome.complete);
        // Which method was taken depends on the limits.
        outcome.devices.clear();
        outcome
    };
    tasks(labelled).iter().map(run).collect()
}

fn lists(graph: &Graph, labelled: bool) -> Vec<Vec<(Pattern, Vec<VertexId>)>> {
    let context = Context::with_threads(1);
    let tasks = match labelled {
        true => tasks(true),
        false => vec![
            Task::MaximalCliques,
            Task::Motif { k: 4, induced: Induced::Vertex },
            Task::Motif { k: 3, induced: Induced::Edge },
        ],
    };
    let run = |task: &Task| {
        let found = ListSink::default();
        assert!(Cpu.run(graph, task, Some(&found), &context).unwrap().complete);
        let mut found = found.0.into_inner().unwrap();
        found.sort();
        found
    };
    tasks.iter().map(run).collect()
}

fn per(graph: &Graph) -> Vec<Outcome> {
    let context = Context::with_threads(1);
    let prepared = Cpu.prepare(graph, &context).unwrap();
    let tasks = [Task::Clique { k: 4 }, Task::Motif { k: 4, induced: Induced::Vertex }];
    let run = |task: &Task, per| prepared.run_per(task, per, &context).unwrap();
    tasks.iter().flat_map(|task| [run(task, Per::Vertex), run(task, Per::Edge)]).collect()
}

fn edges(most: usize) -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0u64..48, 0u64..48), 1..most)
}

proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(200))]

    #[test]
    fn tasks_have_equal_answers(
        edges in edges(220),
        hubs in 0u64..4,
        bytes in prop::sample::select(vec![0, 1 << 9, 1 << 11, 1 << 13, 1 << 16]),
        threads in 1usize..3,
    ) {
        let graph = graph(&edges, hubs, 0);
        let dense = answers(&graph, false, threads);
        prop_assert_eq!(under(sparse(bytes), || answers(&graph, false, threads)), dense);
        prop_assert_eq!(under(sparse(bytes), || lists(&graph, false)), lists(&graph, false));
        prop_assert_eq!(under(sparse(bytes), || per(&graph)), per(&graph));
    }

    #[test]
    fn frequent_patterns_have_equal_answers(
        edges in edges(110),
        hubs in 0u64..3,
        labels in 1u32..4,
        bytes in prop::sample::select(vec![0, 1 << 11, 1 << 13, 1 << 16]),
        threads in 1usize..3,
    ) {
        let graph = graph(&edges, hubs, labels);
        let dense = answers(&graph, true, threads);
        prop_assert_eq!(under(sparse(bytes), || answers(&graph, true, threads)), dense);
        prop_assert_eq!(under(sparse(bytes), || lists(&graph, true)), lists(&graph, true));
    }

    #[test]
    fn a_sparse_table_is_a_map(
        steps in prop::collection::vec((any::<u8>(), 0u32..300, 0u64..4), 1..2000),
        apart in prop::sample::select(vec![1u32, 64, 1 << 20]),
    ) {
        let mut table = SparseTable::new(usize::MAX, 0u64, 1);
        let mut expected = BTreeMap::new();
        for (what, v, value) in steps {
            let v = v * apart;
            match what {
                0 => {
                    table.clear([]);
                    expected.clear();
                }
                1..128 => prop_assert_eq!(table.get(v), expected.get(&v).copied().unwrap_or(0)),
                _ => {
                    *table.entry(v) = value;
                    expected.insert(v, value);
                }
            }
            // Entries that became empty are forgotten, and don't make it larger.
            prop_assert!(table.slots.len() <= 8 * 300);
        }
        (0..300).for_each(|v| {
            assert_eq!(table.get(v * apart), expected.get(&(v * apart)).copied().unwrap_or(0));
        });
    }
}

#[test]
fn a_table_that_forgets_stays_small() {
    let mut table = SparseTable::new(usize::MAX, 0u32, 1);
    for v in 0..1_000_000 {
        *table.entry(v) = 1;
        *table.entry(v) = 0;
    }
    assert!(table.slots.len() <= 64, "{}", table.slots.len());
    assert!(table.used.len() <= 32, "{}", table.used.len());
}

#[test]
fn one_limit_decides_and_sparse_tables_keep_to_it() {
    assert!(fits(MOST_BYTES, 1) && !fits(MOST_BYTES + 1, 1) && !fits(usize::MAX, 12));
    for tables in 1..4 {
        let mut table = SparseTable::new(usize::MAX, 0u64, tables);
        let most = ByVertex::<u64>::most(&table);
        (0..most as u32).for_each(|v| *table.entry(v.wrapping_mul(77)) = 1);
        let bytes = size_of_val(&table.slots[..]) * 3 / 2 + 4 * table.used.capacity() + 8 * most;
        assert!(bytes * tables <= MOST_BYTES, "{bytes} bytes in each of {tables} tables");
    }
}

#[test]
#[allow(clippy::single_range_in_vec_init)] // they are ranges
fn parts_have_everything_once() {
    let of = |most, range, reached: &[VertexId]| {
        let visit = |each: &mut dyn FnMut(VertexId)| reached.iter().for_each(|&v| each(v));
        parts(most, range, || reached.len(), visit).collect::<Vec<_>>()
    };
    // Few are reached, or there are few.
    assert_eq!(of(10, 3..300, &[5; 10]), [3..300]);
    assert_eq!(of(10, 3..13, &[5; 100]), [3..13]);
    // Blocks of ten: as many as can be reached, and vertices without the range don't count.
    let all: Vec<_> = (0..90).collect();
    assert_eq!(of(10, 3..83, &all), (0..8).map(|i| 3 + 10 * i..13 + 10 * i).collect::<Vec<_>>());
    assert_eq!(of(10, 3..83, &[5, 5, 5, 5, 5, 5, 40, 40, 40, 40, 60, 60]), [3..53, 53..83]);
    // A table with fewer entries than a block of an eighth would have.
    assert_eq!(of(2, 0..64, &all).len(), 32);
    let last = u32::MAX - 1;
    let ends = [last - 15, last - 14, last - 1, last - 2];
    assert_eq!(of(3, last - 15..last, &ends), [last - 15..last - 1, last - 1..last]);
}
