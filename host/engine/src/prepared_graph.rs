//! What callers do with engines and with graphs that are ready.

use std::sync::Arc;

use tracing::warn;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::Graph;
use gramer_pattern::task::Task;

use crate::method::{Choices, Failure, Plan, Reply, Run};
use crate::query::{Answer, Ask, Facts, Query};
use crate::reason::refusal;
use crate::{DeviceGraph, Engine, Outcome, Peers, Per, Precision, SampledCounts, Sink, Units};

/// Methods of every [`Engine`], provided by its basic ones.
pub trait EngineExt: Engine {
    /// Name in results: `cpu`, `reference`, or the device's name.
    fn name(&self) -> String {
        self.device().name
    }

    /// The plan by which it answers a question: that of the first method that fits.
    ///
    /// # Errors
    /// [`gramer_base::Error::Usage`] for a number out of range, [`gramer_base::Error::Unsupported`] with the reasons
    /// of its methods if none fits.
    fn plan(&self, ask: &Ask<'_>) -> Result<Plan> {
        ask.check()?;
        self.choose(ask).first(&self.name(), ask).cloned()
    }

    /// Prepares a graph for one task and answers it for all units; see [`PreparedGraph::mine`].
    ///
    /// # Errors
    /// Those of [`Engine::prepare`] and [`PreparedGraph::mine`].
    fn run(
        &self,
        graph: &Graph,
        task: &Task,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        let query = Query::new(task.clone()).list(sink.is_some());
        let facts = Facts::of(graph);
        self.plan(&Ask::new(&query).facts(Some(&facts)))?;
        self.prepare(graph, context)?.run(task, Units::All, sink, context)
    }

    /// Prepares a graph for one task and answers it together with peers, which have the same graph in the same order.
    ///
    /// # Errors
    /// Those of [`Engine::prepare`], [`PreparedGraph::mine`] and `peers`.
    fn run_together(
        &self,
        graph: &Graph,
        task: &Task,
        peers: &dyn Peers,
        context: &Context,
    ) -> Result<Outcome> {
        self.prepare(graph, context)?.run_together(task, peers, context)
    }
}

impl<E: Engine + ?Sized> EngineExt for E {}

/// A graph on a device, ready for any number of questions from any thread. Clones share it, and the device has it until
/// the last of them is dropped.
///
/// [`PreparedGraph::mine`] chooses the method and runs it; [`run`](PreparedGraph::run), [`run_per`](PreparedGraph::run_per),
/// [`estimate`](PreparedGraph::estimate) and [`run_together`](PreparedGraph::run_together) are short forms of it.
///
/// ```
/// use gramer_base::Context;
/// use gramer_cpu::Cpu;
/// use gramer_engine::{Engine, PreparedGraph, Units};
/// use gramer_graph::Builder;
/// use gramer_pattern::Task;
///
/// fn triangle() -> gramer_base::Result<PreparedGraph> {
///     let mut builder = Builder::new();
///     [(0, 1), (1, 2), (2, 0)].into_iter().for_each(|(u, v)| builder.edge(u, v));
///     Cpu.prepare(&builder.build(), &Context::default())
/// }
///
/// let prepared = triangle()?;
/// let mine = move || prepared.run(&Task::Clique { k: 3 }, Units::All, None, &Context::default());
/// let triangles = std::thread::spawn(mine).join().unwrap()?;
/// assert_eq!(triangles.results[0].count, 1);
/// # Ok::<(), gramer_base::Error>(())
/// ```
#[derive(Clone)]
pub struct PreparedGraph {
    engine: Arc<dyn Engine>,
    graph: Graph,
    held: Arc<dyn DeviceGraph>,
}

impl PreparedGraph {
    /// Combines an engine and its representation of a graph.
    pub fn new(engine: impl Engine, graph: &Graph, held: impl DeviceGraph + 'static) -> Self {
        PreparedGraph { engine: Arc::new(engine), graph: graph.clone(), held: Arc::new(held) }
    }

    /// Returns the engine that has prepared it.
    pub fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Answers a question by the first method that fits, then by the next where that one retreats.
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if none fits, and those of the method that runs.
    pub fn mine(&self, query: &Query, run: &Run<'_>) -> Result<Reply> {
        let facts = Facts::of(&self.graph);
        let memory = run.context.budget.as_ref().map(|budget| budget.bytes);
        let ask = Ask::new(query).facts(Some(&facts)).terms(run.terms()).memory(memory);
        ask.check()?;
        run.units.check(self.graph.view())?;
        let (name, mut choices) = (self.engine.name(), self.engine.choose(&ask));
        if let Some(division) = run.division {
            choices.fits.retain(|plan| plan.scheme == division.scheme);
        }
        let mut plan = choices.first(&name, &ask)?;
        let mut next = choices.fits.iter().skip(1);
        loop {
            let reason = match self.held.answer(query, plan, run) {
                Ok(found) => return Ok(found),
                Err(Failure::Error(error)) => return Err(error),
                Err(Failure::Retreat(reason)) => reason,
            };
            // Others are at work by this method, or have what it listed.
            let alone = run.units.share().is_none() && run.peers.is_none() && run.sink.is_none();
            let Some(other) = next.next().filter(|_| alone) else {
                let not = vec![(plan.method.clone(), reason)];
                return Err(refusal(&name, &ask, &Choices { fits: vec![], not }));
            };
            warn!(from = plan.method, to = other.method, %reason, "another method takes over");
            plan = other;
        }
    }

    /// Answers a task for some work units.
    ///
    /// # Errors
    /// As [`PreparedGraph::mine`].
    pub fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        let query = Query::new(task.clone()).list(sink.is_some());
        self.counts(&query, &Run { units, sink, ..Run::new(context) })
    }

    /// Answers a task together with peers, which have the same graph in the same order. Each gets the whole answer.
    ///
    /// # Errors
    /// As [`PreparedGraph::mine`], and those of `peers`.
    pub fn run_together(
        &self,
        task: &Task,
        peers: &dyn Peers,
        context: &Context,
    ) -> Result<Outcome> {
        self.counts(&Query::new(task.clone()), &Run { peers: Some(peers), ..Run::new(context) })
    }

    /// Answers a question whose answer is counts by pattern.
    ///
    /// # Errors
    /// As [`PreparedGraph::mine`].
    pub fn counts(&self, query: &Query, run: &Run<'_>) -> Result<Outcome> {
        match self.mine(query, run)? {
            Reply::Counts(outcome) => Ok(*outcome),
            Reply::Estimate(_) => unreachable!("counts were asked for"),
        }
    }

    /// Estimates the counts of the whole graph from a random sample. Once `context.cancel` is raised
    /// there are no results, and [`SampledCounts::complete`] is unset.
    ///
    /// # Errors
    /// As [`PreparedGraph::mine`].
    pub fn estimate(
        &self,
        task: &Task,
        precision: Precision,
        context: &Context,
    ) -> Result<SampledCounts> {
        let query = Query::new(task.clone()).answer(Answer::Estimate(precision));
        match self.mine(&query, &Run::new(context))? {
            Reply::Estimate(estimated) => Ok(estimated),
            Reply::Counts(_) => unreachable!("an estimate was asked for"),
        }
    }

    /// Counts per vertex or per edge, of the whole graph. Once `context.cancel` is raised there are no
    /// columns, and [`Outcome::complete`] is unset.
    ///
    /// ```
    /// use gramer_engine::per::Per;
    /// use gramer_engine::Engine;
    /// use gramer_cpu::Cpu;
    /// use gramer_base::Context;
    /// use gramer_graph::Builder;
    /// use gramer_pattern::Task;
    ///
    /// let mut builder = Builder::new();
    /// for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
    ///     builder.edge(u, v);
    /// }
    /// let graph = builder.build();
    /// let context = Context::default();
    /// let prepared = Cpu.prepare(&graph, &context)?;
    /// let triangles = prepared.run_per(&Task::Clique { k: 3 }, Per::Vertex, &context)?;
    /// let numbers: Vec<u128> = triangles.columns[0].counts.iter().collect();
    /// assert_eq!(numbers, [1, 1, 1, 0]);
    /// # Ok::<(), gramer_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`PreparedGraph::mine`]; [`gramer_base::Error::Unsupported`] for a count of more than 128
    /// bits.
    pub fn run_per(&self, task: &Task, per: Per, context: &Context) -> Result<Outcome> {
        self.counts(&Query::new(task.clone()).answer(per.into()), &Run::new(context))
    }
}

/// The engine's own handle, with which another engine can use the prepared graph.
impl DeviceGraph for PreparedGraph {
    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        self.held.answer(query, plan, run)
    }
}
