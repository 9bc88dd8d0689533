//! The CPU engine: exact, parallel, aware of the pattern.

mod census;
mod clique;
mod cycle;
mod fsm;
mod matching;
mod maximal;
mod motif;
mod oriented;
mod triangle;
mod units;

pub(crate) use units::{Units, run_units};

use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_pattern::task::Task;

use super::{Engine, Outcome, Sink};

/// Mines on the machine's own cores.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Engine for Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn supports(&self, _task: &Task) -> Result<()> {
        Ok(())
    }

    fn run(
        &self,
        graph: &Graph,
        task: &Task,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        task.check()?;
        match task {
            Task::Clique { k } => clique::run(graph, *k, sink, context),
            Task::MaximalCliques => maximal::run(graph, sink, context),
            Task::Motif { k, induced } => motif::run(graph, *k, *induced, sink, context),
            Task::Fsm { limit, support, measure } => {
                fsm::run(graph, *limit, *support, *measure, sink, context)
            }
            Task::Match { pattern, induced, mappings } => {
                matching::run(graph, pattern, *induced, *mappings, sink, context)
            }
        }
    }
}
