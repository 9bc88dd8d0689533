//! Random graphs, and what engines say of them, for the tests of tables and joins.

use gramer_engine::{Engine, Outcome};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_pattern::task::Task;

/// A graph with so many labels of vertices and of edges; 0 are none.
pub fn random(model: Model, seed: u64, [vertex, edge]: [u32; 2]) -> Graph {
    let labels = |count| (count > 0).then_some(Labels { count, exponent: 0.5 });
    let recipe = Recipe { model, seed, vertex_labels: labels(vertex), edge_labels: labels(edge) };
    generate(&recipe, &Context::default()).unwrap()
}

/// The answer of a run that went to its end.
pub fn answer(engine: &dyn Engine, graph: &Graph, task: &Task) -> Outcome {
    let outcome = engine.run(graph, task, None, &Context::default()).unwrap();
    assert!(outcome.complete);
    outcome
}

/// What the device measured by this name.
pub fn number(outcome: &Outcome, name: &str) -> f64 {
    outcome.devices[0].get(name).and_then(|v| v.number()).unwrap_or_else(|| panic!("no {name}"))
}
