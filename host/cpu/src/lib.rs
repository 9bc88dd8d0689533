#![doc = include_str!("../README.md")]

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
#[cfg(test)]
mod peers;
mod per;
mod phase;
mod reach;
mod sets;
mod triangle;
mod units;

pub use fsm::images;
pub use matching::execute_plan;
pub(crate) use units::{StartVertices, run_units};

use std::sync::{Arc, OnceLock};

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::memory::Phase;
use gramer_base::parallel::beside;
use gramer_graph::Graph;
use gramer_pattern::SMALL_VERTICES;
use tracing::info_span;

use by_ids::ByIds;
use gramer_engine::method::{choose, run_plan};
use gramer_engine::{
    Ask, Choices, Device, DeviceGraph, Engine, Failure, Outcome, Plan, PreparedGraph, Query, Reply,
    Run, Sink, Units,
};
use methods::METHODS;
use oriented::Oriented;
use phase::PeerGroup;

/// Mines on the machine's own cores.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl Engine for Cpu {
    fn device(&self) -> Device {
        Device::named("cpu")
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        choose(METHODS, ask, self)
    }

    fn prepare(&self, graph: &Graph, _context: &Context) -> Result<PreparedGraph> {
        Ok(PreparedGraph::new(*self, graph, Resident::new(graph)))
    }
}

/// A graph with what tasks derive from it, each made by the first task that asks.
pub struct Resident {
    pub(crate) graph: Graph,
    oriented: OnceLock<Oriented>,
    /// Whether pivots are faster for cliques of k, at k: shares of a run ask again and again.
    pivots: [OnceLock<bool>; SMALL_VERTICES + 1],
    by_ids: OnceLock<Box<ByIds>>,
}

impl Resident {
    pub(crate) fn new(graph: &Graph) -> Self {
        Resident {
            graph: graph.clone(),
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

    /// Whether the orientation exists already.
    pub(crate) fn is_oriented(&self) -> bool {
        self.oriented.get().is_some()
    }

    /// The graph with its units divided by ids.
    fn by_ids(&self, context: &Context) -> Result<&ByIds> {
        if self.by_ids.get().is_none() {
            let _ = self.by_ids.set(Box::new(ByIds::new(&self.graph, context)?));
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
        let others = PeerGroup::new(peers, run.context);
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
        // If it is stopped, so is the next caller.
        // The progress is that of the work.
        let beside_it = Context { progress: Arc::default(), ..context.clone() };
        beside(context.threads(), || _ = self.oriented(&beside_it), work)
    }
}

/// Parameters of a run, in addition to its task.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    /// Work units of the run.
    pub units: Units<'a>,
    /// Receiver of embeddings.
    pub sink: Option<&'a dyn Sink>,
    pub context: &'a Context,
    /// Other processes that do the same.
    pub others: Option<&'a PeerGroup<'a>>,
}

impl<'a> Job<'a> {
    /// All units of a graph, counted.
    pub fn whole(context: &'a Context) -> Self {
        Job { units: Units::All, sink: None, context, others: None }
    }
}

impl DeviceGraph for Resident {
    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        budget::check(self.graph.vertices(), run.context)?;
        let share = run.units.share().is_some();
        let task = query.task.name();
        let _phase = Phase::begin(&"mining on the CPU");
        let _span = info_span!("mine", engine = "cpu", task, share).entered();
        run_plan(METHODS, query, self, plan, run)
    }
}
