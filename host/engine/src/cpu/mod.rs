//! The CPU engine: exact, parallel, aware of the pattern.

mod census;
mod clique;
mod cycle;
mod fsm;
mod matching;
mod maximal;
mod motif;
mod oriented;
mod sets;
mod triangle;
mod units;

pub use matching::execute_plan;
pub(crate) use units::{Units, run_units};

use std::sync::OnceLock;

use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_pattern::task::Task;

use super::{Engine, Outcome, Prepared, Sink};
use oriented::Oriented;

/// Mines on the machine's own cores.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Engine for Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn supports(&self, task: &Task, _graph: Option<&Graph>) -> Result<()> {
        task.check()
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        _context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        Ok(Box::new(Resident::new(graph)))
    }
}

/// A graph with what tasks derive from it, each made by the first task that asks.
pub(crate) struct Resident<'a> {
    pub graph: &'a Graph,
    oriented: OnceLock<Oriented>,
}

impl<'a> Resident<'a> {
    pub fn new(graph: &'a Graph) -> Self {
        Resident { graph, oriented: OnceLock::new() }
    }

    /// The graph oriented by degeneracy.
    pub fn oriented(&self, context: &Context) -> Result<&Oriented> {
        if self.oriented.get().is_none() {
            // Two tasks that ask at the same time may both make it; one is kept.
            let _ = self.oriented.set(Oriented::by_degeneracy(self.graph.view(), context)?);
        }
        Ok(self.oriented.get().expect("it was made above"))
    }
}

impl Prepared for Resident<'_> {
    fn run(&self, task: &Task, sink: Option<&dyn Sink>, context: &Context) -> Result<Outcome> {
        task.check()?;
        match task {
            Task::Clique { k } => clique::run(self, *k, sink, context),
            Task::CliqueSizes { smallest, largest } => {
                clique::run_sizes(self, *smallest, *largest, sink, context)
            }
            Task::MaximumClique => clique::run_maximum(self, sink, context),
            Task::MaximalCliques => maximal::run(self, sink, context),
            Task::Motif { k, induced } => motif::run(self, *k, *induced, sink, context),
            Task::Fsm { limit, support, measure } => {
                fsm::run(self.graph, *limit, *support, *measure, sink, context)
            }
            Task::Match { pattern, induced, mappings } => {
                matching::run(self.graph, pattern, *induced, *mappings, sink, context)
            }
        }
    }
}
