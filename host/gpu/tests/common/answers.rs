//! What engines say of graphs, for the tests of tables and joins.

use gramer_base::context::Context;
use gramer_engine::{Engine, EngineExt, Outcome};
use gramer_graph::Graph;

use gramer_pattern::task::Task;

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
