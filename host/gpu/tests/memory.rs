//! A size of memory that a refusal names is enough.

mod common;

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::EngineExt;
use gramer_gpu::{Settings, Strategy};
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::{Builder, Graph};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

fn random(model: Model, labels: u32) -> Graph {
    let vertex_labels = Some(Labels { count: labels, exponent: 0.0 });
    let recipe = Recipe { model, seed: 7, vertex_labels, edge_labels: None };
    generate(&recipe, &Context::default()).unwrap()
}

fn star(leaves: u64) -> Graph {
    let mut builder = Builder::new();
    (1..=leaves).for_each(|leaf| builder.edge(0, leaf));
    builder.build()
}

/// What a refusal names, in bytes.
fn named(text: &str) -> u64 {
    let after = text.split("the setting `memory` at least ").nth(1);
    let digits = after.and_then(|rest| rest.split('K').next()).unwrap_or_else(|| panic!("{text}"));
    digits.parse::<u64>().unwrap() << 10
}

#[test]
fn a_refusal_names_a_size_that_does_once() {
    let context = Context::default();
    let square = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]);
    let matched = Task::Match { pattern: square, induced: Induced::Edge, mappings: None };
    let motif = |k| Task::Motif { k, induced: Induced::Vertex };
    let frequent = Task::Fsm { limit: SizeLimit::MaxEdges(2), support: 20, measure: Measure::Mni };
    let tasks = [
        (Task::Clique { k: 3 }, None),
        (Task::Clique { k: 4 }, None),
        (Task::Clique { k: 6 }, None),
        (Task::Clique { k: 8 }, None),
        (Task::Clique { k: 4 }, Some(Strategy::Plan)),
        (motif(3), None),
        (motif(4), None),
        (motif(5), None),
        (motif(4), Some(Strategy::Wide)),
        (matched, None),
        (frequent, None),
    ];
    let graphs = [
        random(Model::BarabasiAlbert { vertices: 300, edges_per_vertex: 4 }, 3),
        random(Model::BarabasiAlbert { vertices: 6000, edges_per_vertex: 2 }, 2),
        star(3000),
    ];
    // One after the other, all embeddings of 4 vertices of a star of 3,000 leaves would take a minute.
    let smaller = star(400);
    for (number, graph) in graphs.iter().enumerate() {
        for (task, strategy) in &tasks {
            let listed = number == 2 && *strategy == Some(Strategy::Wide);
            let graph = if listed { &smaller } else { graph };
            let what = format!("graph {number}, {task:?} by {strategy:?}");
            let open = |memory| {
                common::open(Settings {
                    memory: Some(memory),
                    strategy: *strategy,
                    ..Settings::default()
                })
            };
            let Some(gpu) = open(1 << 10) else { return };
            let refused = gpu.run(graph, task, None, &context).unwrap_err();
            assert_eq!(refused.exit_code(), 1, "{what}: {refused}");
            let least = named(&refused.to_string());
            let gpu = open(least).expect("as above");
            let found = gpu.run(graph, task, None, &context);
            let found = found.unwrap_or_else(|e| panic!("{what}, with {least} bytes: {e}"));
            let right = Cpu.run(graph, task, None, &context).unwrap();
            assert_eq!(found.results, right.results, "{what}");
            let (limit, peak) = gpu.memory().unwrap();
            assert!(peak <= limit, "{what}");
            // What a refusal on the way names does as well.
            for memory in [least / 8, least / 3, least / 2] {
                let gpu = open(memory).expect("as above");
                if let Err(error) = gpu.run(graph, task, None, &context) {
                    let said = named(&error.to_string());
                    assert_eq!(said, least, "{what}, of {memory} bytes: {error}");
                }
            }
        }
    }
}
