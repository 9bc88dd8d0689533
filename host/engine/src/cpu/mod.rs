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
mod methods;
mod motif;
mod number;
mod oriented;
mod per;
mod phase;
mod reach;
mod sets;
mod triangle;
mod units;

pub(crate) use fsm::by_lists as frequent_by_lists;
pub use matching::execute_plan;
pub(crate) use motif::closed as motif_counts;
pub(crate) use units::{Starts, run_units};

use std::sync::OnceLock;

use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_graph::memory::Phase;
use gramer_graph::parallel::beside;
use gramer_pattern::SMALL_VERTICES;
use tracing::info_span;

use super::method::{choose, run_plan};
use super::{
    Ask, Choices, Engine, Failure, Found, Outcome, Plan, Prepared, Query, Run, Sink, Units,
};
use by_ids::ByIds;
use methods::METHODS;
use oriented::Oriented;
use phase::Others;

/// Mines on the machine's own cores.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Engine for Cpu {
    fn name(&self) -> String {
        "cpu".into()
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        choose(METHODS, ask, self)
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
pub struct Resident<'a> {
    pub(crate) graph: &'a Graph,
    oriented: OnceLock<Oriented>,
    /// Whether pivots are faster for cliques of k, at k: shares of a run ask again and again.
    pivots: [OnceLock<bool>; SMALL_VERTICES + 1],
    by_ids: OnceLock<Box<ByIds<'a>>>,
}

impl<'a> Resident<'a> {
    pub(crate) fn new(graph: &'a Graph) -> Self {
        Resident {
            graph,
            oriented: OnceLock::new(),
            pivots: Default::default(),
            by_ids: OnceLock::new(),
        }
    }

    /// The graph oriented by degeneracy.
    pub(crate) fn oriented(&self, context: &Context) -> Result<&Oriented> {
        if self.oriented.get().is_none() {
            // Two tasks that ask at the same time may both make it; one is kept.
            let _ = self.oriented.set(Oriented::by_degeneracy(self.graph.view(), context)?);
        }
        Ok(self.oriented.get().expect("it was made above"))
    }

    /// The graph with its units divided by ids.
    fn by_ids(&self, context: &Context) -> Result<&ByIds<'a>> {
        if self.by_ids.get().is_none() {
            let _ = self.by_ids.set(Box::new(ByIds::new(self.graph, context)?));
        }
        Ok(self.by_ids.get().expect("it was made above"))
    }

    /// Does work whose phases are shared with the peers of a run, if it has some.
    fn with_peers(
        &self,
        run: &Run<'_>,
        work: impl FnOnce(Job<'_>) -> Result<Outcome>,
    ) -> Result<Outcome> {
        let job = Job { units: run.units, sink: run.sink, context: run.context, others: None };
        let Some(peers) = run.peers else { return work(job) };
        let others = Others::new(peers, run.context);
        let outcome = work(Job { others: Some(&others), ..job });
        others.check()?;
        outcome
    }

    /// Does `work`, for which the graph need not be oriented, and orients it meanwhile where there are several
    /// threads: a part of that is for one thread alone.
    pub(crate) fn orient_beside<R>(&self, context: &Context, work: impl FnOnce() -> R) -> R {
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
    fn engine(&self) -> &dyn Engine {
        &Cpu
    }

    fn graph(&self) -> &Graph {
        self.graph
    }

    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Found, Failure> {
        budget::check(self.graph.vertices(), run.context)?;
        let share = run.units.share().is_some();
        let task = query.task.name();
        let _phase = Phase::begin(&"mining on the CPU");
        let _span = info_span!("mine", engine = "cpu", task, share).entered();
        run_plan(METHODS, query, self, plan, run)
    }
}
