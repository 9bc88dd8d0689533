//! Matches that two strategies are tried for, on any OpenCL device: the one that GRAMER_GPU_DEVICE names, by
//! default the portable one.

use std::time::Duration;

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::metrics::Value;
use gramer_engine::{Engine, EngineExt, Outcome, Share, Units};
use gramer_gpu::{Settings, Strategy, Trial};
use gramer_graph::Graph;
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Task};

mod common;

use common::open;

/// Tried at once; `table` is taken if it is this many times as fast.
fn settings(gain: f64) -> Settings {
    let trial = Trial { after: Duration::ZERO, left: 0.0, gain };
    // More would be cleared first.
    Settings { checked: true, memory: Some(16 << 20), trial: Some(trial), ..Settings::default() }
}

fn graph() -> Graph {
    let model = Model::Rmat { scale: 9, edge_factor: 14, a: 0.57, b: 0.19, c: 0.19 };
    let vertex_labels = Some(Labels { count: 2, exponent: 0.0 });
    let recipe = Recipe { model, seed: 5, vertex_labels, edge_labels: None };
    generate(&recipe, &Context::default()).unwrap()
}

/// A 4-cycle with a chord, with labels or without, and an unlabelled 4-cycle, induced.
fn tasks() -> Vec<Task> {
    let diamond = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]);
    let mut labelled = diamond.clone();
    (0..4).for_each(|v| labelled.set_vertex_label(v, v as u32 % 2));
    let cycle = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    [(labelled, Induced::Edge), (diamond, Induced::Edge), (cycle, Induced::Vertex)]
        .map(|(pattern, induced)| Task::Match { pattern, induced, mappings: None })
        .into()
}

fn reason(outcome: &Outcome) -> String {
    match outcome.devices[0].get("run.strategy") {
        Some(Value::Text(text)) => text.to_string(),
        other => panic!("{other:?}"),
    }
}

/// A GPU has searched so small a graph before it could be tried; the portable device never has.
fn ended_at_once(outcome: &Outcome) -> bool {
    let portable = std::env::var("GRAMER_GPU_DEVICE").map_or(true, |d| d == "gpu:portable");
    !portable && reason(outcome).starts_with("plan: depth-first search")
}

#[test]
fn a_match_is_counted_by_whichever_strategy_is_faster() {
    let (graph, context) = (graph(), Context::default());
    for (gain, chosen) in
        [(0.0, "table: 8 roots took it"), (f64::INFINITY, "plan: 8 roots took it")]
    {
        let Some(gpu) = open(settings(gain)) else { return };
        let prepared = gpu.prepare(&graph, &context).unwrap();
        for task in tasks() {
            let right = Cpu.run(&graph, &task, None, &context).unwrap();
            // What was tried once is known.
            for run in 0..2 {
                let answer = prepared.run(&task, Units::All, None, &context).unwrap();
                assert!(answer.complete, "{task:?}");
                assert_eq!(answer.results, right.results, "{task:?}, run {run}, {chosen}");
                if ended_at_once(&answer) {
                    continue;
                }
                assert!(reason(&answer).starts_with(chosen), "{}", reason(&answer));
                let tables = answer.devices[0].count("table.rows").is_some();
                assert_eq!(tables, gain == 0.0, "run {run}");
            }
        }
    }
}

#[test]
fn shares_add_up_whichever_strategy_counts_them() {
    let (graph, context) = (graph(), Context::default());
    let task = &tasks()[0];
    let right = Cpu.run(&graph, task, None, &context).unwrap();
    let Some(gpu) = open(settings(0.0)) else { return };
    let prepared = gpu.prepare(&graph, &context).unwrap();
    let vertices = graph.vertices() as u32;
    let outcomes = [0..200, 200..201, 201..vertices].map(|range| {
        let share = Share::new([range], []).unwrap();
        let answer = prepared.run(task, Units::Share(&share), None, &context).unwrap();
        let tried = reason(&answer).starts_with("table: ");
        assert!(tried || ended_at_once(&answer), "{}", reason(&answer));
        answer
    });
    let merged = Outcome::merge(task, &graph, outcomes).unwrap();
    assert_eq!(merged.results, right.results);
}

#[test]
fn without_room_for_tables_the_search_goes_on() {
    let (graph, context) = (graph(), Context::default());
    let task = &tasks()[0];
    let right = Cpu.run(&graph, task, None, &context).unwrap();
    // The search takes half of the free memory; no whole graph fits next to it.
    let bytes = 8 * graph.edges() as u64 + 24 * 512;
    let mut plain = None;
    for memory in (0..40).map(|more| bytes * (20 + more) / 10) {
        let Some(gpu) = open(Settings { memory: Some(memory), ..settings(0.0) }) else { return };
        if let Ok(answer) = gpu.run(&graph, task, None, &context) {
            assert_eq!(answer.results, right.results);
            plain = Some(reason(&answer)).filter(|reason| reason.starts_with("plan: depth"));
            break;
        }
    }
    assert!(plain.is_some(), "the least memory that does has no room for tables");
}

#[test]
fn a_strategy_that_was_named_is_not_tried() {
    let (graph, context) = (graph(), Context::default());
    let named = Settings { strategy: Some(Strategy::Plan), ..settings(0.0) };
    let Some(gpu) = open(named) else { return };
    let answer = gpu.run(&graph, &tasks()[1], None, &context).unwrap();
    assert_eq!(reason(&answer), "plan: depth-first search over sorted lists");
    assert!(answer.devices[0].get("trial.roots").is_none());
}
