//! Motifs and frequent patterns by the strategy `table` against the CPU engine, at several budgets, with kernels that
//! test their indices.

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::{Engine, EngineExt, Share, Units};
use gramer_gpu::{Gpu, Settings, Strategy, TableSettings};
use gramer_graph::Graph;
use gramer_graph::generate::Model;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};
use gramer_testing::graphs::random;

#[path = "common/answers.rs"]
mod answers;
mod common;

use answers::{answer, number};

/// By tables; with little device memory, all but the last part of a table is in a file.
fn open(kib: Option<u64>) -> Option<Gpu> {
    let host_memory = kib.map(|_| 0);
    common::open(Settings {
        checked: true,
        strategy: Some(Strategy::Table),
        memory: kib.map(|kib| kib << 10),
        table: TableSettings { host_memory, ..TableSettings::default() },
        ..Settings::default()
    })
}

fn motif(k: usize, induced: Induced) -> Task {
    Task::Motif { k, induced }
}

fn fsm(limit: SizeLimit, support: u64, measure: Measure) -> Task {
    Task::Fsm { limit, support, measure }
}

/// Whether the graph's lists lay on the device by pages, not all at a time.
fn compare(gpu: &Gpu, graph: &Graph, task: &Task) -> bool {
    let (found, right) = (answer(gpu, graph, task), answer(&Cpu, graph, task));
    assert!(!right.results.is_empty(), "{task:?} says nothing");
    assert_eq!(found.results, right.results, "{task:?}");
    let (limit, peak) = gpu.memory().unwrap();
    assert!(peak <= limit && number(&found, "memory.peak") as u64 == peak);
    let paged = found.devices[0].get("pages.slots").is_some();
    paged && number(&found, "pages.slots") < number(&found, "pages.number")
}

/// KiB of the least memory that a task runs in, as the message says that refuses less.
fn least(graph: &Graph, task: &Task) -> Option<u64> {
    let error = open(Some(1))?.run(graph, task, None, &Context::default()).unwrap_err();
    assert_eq!(error.exit_code(), 1);
    let text = error.to_string();
    let named =
        text.split("the setting `memory` at least ").nth(1).and_then(|t| t.split('K').next());
    Some(named.and_then(|kib| kib.parse().ok()).unwrap_or_else(|| panic!("{text}")))
}

/// Labels of the graph mean nothing to motifs.
#[test]
fn motifs_at_two_budgets() {
    let skewed = random(Model::BarabasiAlbert { vertices: 130, edges_per_vertex: 4 }, 1, [3, 2]);
    let even = random(Model::ErdosRenyiEdges { vertices: 50, edges: 110 }, 2, [0, 0]);
    let Some(least) = least(&skewed, &motif(4, Induced::Vertex)) else { return };
    for (kib, small) in [(None, false), (Some(least), true)] {
        let Some(gpu) = open(kib) else { return };
        assert_eq!(compare(&gpu, &skewed, &motif(4, Induced::Vertex)), small);
        compare(&gpu, &skewed, &motif(3, Induced::Edge));
        compare(&gpu, &even, &motif(5, Induced::Edge));
        if !small {
            compare(&gpu, &even, &motif(6, Induced::Vertex));
        }
    }
}

/// Above six vertices an answer has the patterns that occur, in the order of the strategy `wide`.
#[test]
fn motifs_of_seven_vertices_are_those_of_wide() {
    let graph = random(Model::ErdosRenyiEdges { vertices: 24, edges: 30 }, 4, [0, 0]);
    let Some(gpu) = open(None) else { return };
    let wide = Settings { strategy: Some(Strategy::Wide), ..Settings::default() };
    let Some(wide) = common::open(wide) else { return };
    let task = motif(7, Induced::Vertex);
    let (found, right) = (answer(&gpu, &graph, &task), answer(&wide, &graph, &task));
    assert!(right.results.len() > 10);
    assert_eq!(found.results, right.results);
}

#[test]
fn shares_of_motifs_add_up() {
    let graph = random(Model::BarabasiAlbert { vertices: 90, edges_per_vertex: 4 }, 5, [2, 0]);
    let (task, context) = (motif(4, Induced::Edge), Context::default());
    let right = answer(&Cpu, &graph, &task);
    let Some(gpu) = open(None) else { return };
    let prepared = gpu.prepare(&graph, &context).unwrap();
    let mut sums = vec![0; right.results.len()];
    for range in [0..30, 30..31, 31..90] {
        let share = Share::new([range], []).unwrap();
        let outcome = prepared.run(&task, Units::Share(&share), None, &context).unwrap();
        assert!(outcome.complete && outcome.results[0].count < right.results[0].count);
        sums.iter_mut().zip(&outcome.results).for_each(|(sum, part)| *sum += part.count);
    }
    assert_eq!(sums, right.results.iter().map(|count| count.count).collect::<Vec<_>>());
}

#[test]
fn frequent_patterns_at_two_budgets() {
    for (seed, labels) in [(1, [3, 2]), (2, [2, 0]), (3, [0, 3])] {
        let model = match seed % 2 {
            0 => Model::ErdosRenyiEdges { vertices: 60, edges: 120 },
            _ => Model::BarabasiAlbert { vertices: 90, edges_per_vertex: 2 },
        };
        let graph = random(model, seed, labels);
        let images = fsm(SizeLimit::MaxEdges(3), 8, Measure::Mni);
        let Some(least) = least(&graph, &images) else { return };
        for (kib, small) in [(None, false), (Some(least), true)] {
            let Some(gpu) = open(kib) else { return };
            assert_eq!(compare(&gpu, &graph, &images), small);
            compare(&gpu, &graph, &fsm(SizeLimit::MaxVertices(3), 10, Measure::Mni));
            compare(&gpu, &graph, &fsm(SizeLimit::MaxVertices(4), 20, Measure::Embeddings));
        }
    }
}

/// One device does another task on the same graph, and the first one again.
#[test]
fn tasks_make_room_for_each_other() {
    let graph = random(Model::BarabasiAlbert { vertices: 130, edges_per_vertex: 4 }, 6, [2, 0]);
    let context = Context::default();
    let Some(least) = least(&graph, &motif(3, Induced::Vertex)) else { return };
    let Some(gpu) = open(Some(least + 8)) else { return };
    let prepared = gpu.prepare(&graph, &context).unwrap();
    let tasks = [
        motif(3, Induced::Vertex),
        Task::Clique { k: 4 },
        fsm(SizeLimit::MaxEdges(2), 15, Measure::Mni),
        motif(3, Induced::Edge),
    ];
    for task in &tasks {
        let found = prepared.run(task, Units::All, None, &context).unwrap();
        assert_eq!(found.results, answer(&Cpu, &graph, task).results, "{task:?}");
    }
}

#[test]
fn what_is_beyond_tables_is_refused_and_a_stop_is_heard() {
    let graph = random(Model::ErdosRenyiEdges { vertices: 60, edges: 120 }, 7, [0, 0]);
    let Some(gpu) = open(None) else { return };
    let large = fsm(SizeLimit::MaxVertices(7), 5, Measure::Mni);
    let error = gpu.run(&graph, &large, None, &Context::default()).unwrap_err().to_string();
    assert!(error.contains("at most 15 edges") && error.contains("`strategy`"), "{error}");
    for task in [motif(4, Induced::Vertex), fsm(SizeLimit::MaxVertices(4), 5, Measure::Embeddings)]
    {
        let context = Context::default();
        let prepared = gpu.prepare(&graph, &context).unwrap();
        context.cancel.cancel();
        assert!(!prepared.run(&task, Units::All, None, &context).unwrap().complete, "{task:?}");
    }
}
