//! The CPU engine: exact, parallel, aware of the pattern.

mod arcs;
mod budget;
mod by_ids;
mod census;
mod clique;
mod cycle;
mod estimate;
mod fsm;
mod homomorphism;
mod matching;
mod maximal;
mod motif;
mod number;
mod oriented;
mod per;
mod phase;
mod reach;
mod sets;
mod triangle;
mod units;

pub use budget::supports_budget;
pub(crate) use fsm::by_lists as frequent_by_lists;
pub use matching::execute_plan;
pub(crate) use motif::closed as motif_counts;
pub(crate) use units::{Starts, run_units};

use std::sync::OnceLock;

use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::memory::Phase;
use gramer_graph::parallel::beside;
use gramer_pattern::SMALL_VERTICES;
use gramer_pattern::task::{Measure, Task};
use tracing::info_span;

use super::estimate::{Estimated, Precision};
use super::per::{Per, PerOutcome};
use super::{Engine, Outcome, Prepared, Sink, Together, Units, shares};
use oriented::Oriented;
use phase::Others;

/// Mines on the machine's own cores.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Engine for Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn any_order(&self, task: &Task) -> bool {
        // Triangles go by degrees then.
        matches!(task, Task::Clique { k: 3 } | Task::Motif { k: 3, .. })
    }

    fn supports(&self, task: &Task, _graph: Option<&Graph>) -> Result<()> {
        task.check()?;
        match task {
            Task::Motif { k: k @ 7.., .. } => Err(Error::Unsupported(format!(
                "the CPU engine counts motifs of up to 6 vertices and k is {k}; the engine `gpu` goes to \
                 8, the engine `reference` too, slowly"
            ))),
            _ => Ok(()),
        }
    }

    fn supports_per(&self, task: &Task, _per: Per) -> Result<()> {
        super::per::check(task)
    }

    fn supports_estimate(&self, task: &Task) -> Result<()> {
        task.check()?;
        estimate::supports(task)
    }

    fn supports_together(&self, task: &Task) -> Result<()> {
        task.check()?;
        match task {
            Task::Fsm { measure: Measure::Mni, .. } | Task::Motif { .. } | Task::Match { .. } => {
                Ok(())
            }
            other => Err(super::not_together(&self.name(), other)),
        }
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        _context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        Ok(Box::new(Resident::new(graph)))
    }

    fn prepare_by_ids<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        Ok(Box::new(by_ids::ByIds::new(graph, context)?))
    }
}

/// A graph with what tasks derive from it, each made by the first task that asks.
pub(crate) struct Resident<'a> {
    pub graph: &'a Graph,
    oriented: OnceLock<Oriented>,
    /// Whether pivots are faster for cliques of k, at k: shares of a run ask again and again.
    pivots: [OnceLock<bool>; SMALL_VERTICES + 1],
}

impl<'a> Resident<'a> {
    pub fn new(graph: &'a Graph) -> Self {
        Resident { graph, oriented: OnceLock::new(), pivots: Default::default() }
    }

    /// The graph oriented by degeneracy.
    pub fn oriented(&self, context: &Context) -> Result<&Oriented> {
        if self.oriented.get().is_none() {
            // Two tasks that ask at the same time may both make it; one is kept.
            let _ = self.oriented.set(Oriented::by_degeneracy(self.graph.view(), context)?);
        }
        Ok(self.oriented.get().expect("it was made above"))
    }

    /// Does `work`, for which the graph need not be oriented, and orients it meanwhile where there are several
    /// threads: a part of that is for one thread alone.
    pub fn orient_beside<R>(&self, context: &Context, work: impl FnOnce() -> R) -> R {
        if context.budget.is_some() || self.oriented.get().is_some() {
            return work();
        }
        // If it is stopped, so is whoever asks for it next.
        beside(context.threads(), || _ = self.oriented(context), work)
    }
}

/// What a run does on a graph, besides its task.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    /// The units that count.
    pub units: Units<'a>,
    /// Takes embeddings.
    pub sink: Option<&'a dyn Sink>,
    pub context: &'a Context,
    /// Other processes that do the same.
    pub others: Option<&'a Others<'a>>,
}

impl<'a> Job<'a> {
    /// All units of a graph, counted.
    pub fn whole(context: &'a Context) -> Self {
        Job { units: Units::All, sink: None, context, others: None }
    }
}

impl Prepared for Resident<'_> {
    fn run_together(
        &self,
        task: &Task,
        together: &dyn Together,
        context: &Context,
    ) -> Result<Outcome> {
        budget::check(self.graph.vertices(), task, context)?;
        match task {
            Task::Fsm { limit, support, measure: Measure::Mni } => {
                fsm::run_together(self.graph, *limit, *support, together, context)
            }
            Task::Motif { .. } | Task::Match { .. } => {
                let others = Others::new(together, context);
                let job = Job { others: Some(&others), ..Job::whole(context) };
                let outcome = match task {
                    Task::Motif { k, induced } => motif::run(self, *k, *induced, job),
                    Task::Match { pattern, induced, mappings } => {
                        matching::run(self, pattern, *induced, *mappings, job)
                    }
                    _ => unreachable!("it is one of these"),
                };
                others.check()?;
                outcome
            }
            other => Err(super::not_together("cpu", other)),
        }
    }

    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        task.check()?;
        shares::check(self.graph, task, units, sink)?;
        budget::check(self.graph.vertices(), task, context)?;
        let share = units.share().is_some();
        let _phase = Phase::begin(&"mining on the CPU");
        let _span = info_span!("mine", engine = "cpu", task = task.name(), share).entered();
        let job = Job { units, sink, context, others: None };
        let outcome = match task {
            Task::Clique { k } => clique::run(self, *k, job),
            Task::CliqueSizes { smallest, largest } => {
                clique::run_sizes(self, *smallest, *largest, job)
            }
            Task::MaximumClique => clique::run_maximum(self, job),
            Task::MaximalCliques => maximal::run(self, job),
            Task::Motif { k, induced } => motif::run(self, *k, *induced, job),
            Task::Fsm { limit, support, measure } => {
                fsm::run(self.graph, *limit, *support, *measure, job)
            }
            Task::Match { pattern, induced, mappings } => {
                matching::run(self, pattern, *induced, *mappings, job)
            }
            other => Err(other.unsupported_by("the CPU engine")),
        }?;
        Ok(outcome.of(units))
    }

    fn estimate(&self, task: &Task, precision: Precision, context: &Context) -> Result<Estimated> {
        task.check()?;
        precision.check()?;
        estimate::supports(task)?;
        if context.budget.is_some() {
            return Err(budget::unsupported("estimates"));
        }
        let _phase = Phase::begin(&"estimating on the CPU");
        let _span = info_span!("estimate", engine = "cpu", task = task.name()).entered();
        estimate::run(self, task, precision, context)
    }

    fn run_per(&self, task: &Task, per: Per, context: &Context) -> Result<PerOutcome> {
        super::per::check(task)?;
        if context.budget.is_some() {
            return Err(budget::unsupported("counts per vertex and edge"));
        }
        let _phase = Phase::begin(&"mining on the CPU");
        let _span = info_span!("mine", engine = "cpu", task = task.name(), per = ?per).entered();
        per::run(self, task, per, context)
    }
}
