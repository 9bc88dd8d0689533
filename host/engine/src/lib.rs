//! Engines: what answers a task. Each implements [`Engine`], and nothing outside it knows how.

pub mod compress;
pub mod cpu;
pub mod division;
pub mod estimate;
pub mod formulas;
pub mod frequent;
pub mod interpreter;
pub mod method;
pub mod metrics;
pub mod per;
pub mod query;
pub mod reason;
pub mod reference;
pub mod shares;
pub mod together;
pub mod work;

use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_graph::{Graph, Order, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::Task;

pub use division::Division;
pub use estimate::{Estimated, Precision};
pub use method::{Choices, Failure, Found, Plan, Run, Scheme};
pub use metrics::DeviceMetrics;
pub use per::{Per, PerOutcome};
pub use query::{Answer, Ask, Facts, Needs, Query};
pub use together::Together;
pub use work::{Share, Units, WorkUnit};

/// One line of an answer: a pattern with its count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The pattern; for [`Task::Motif`] and [`Task::Fsm`] in canonical form.
    pub pattern: Pattern,
    /// Number of occurrences, or the support where the task asks for that.
    pub count: u128,
}

/// An answer, of the whole graph or of a share of its work units.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// One entry per pattern (per size for [`Task::CliqueSizes`] and [`Task::MaximalCliques`]), in
    /// a fixed order.
    pub results: Vec<Count>,
    /// For the tasks of cliques: size and number of those that are larger than a pattern can be
    /// ([`gramer_pattern::SMALL_VERTICES`]), ascending; empty otherwise.
    #[serde(default)]
    pub larger_cliques: Vec<(usize, u128)>,
    /// Whether the run went to its end. `false` after Ctrl-C or once a limit was reached; the
    /// counts are then lower bounds (zero, which says nothing, for motifs that are only counted),
    /// and [`Task::Fsm`] has the patterns of the sizes that were finished.
    pub complete: bool,
    /// What devices measured of themselves, where they do.
    #[serde(default)]
    pub devices: Vec<DeviceMetrics>,
    /// The share that was mined; `None` for the whole graph.
    #[serde(default)]
    pub share: Option<Share>,
    /// What the counts of a share follow from, where they don't add up themselves; see
    /// [`Outcome::merge`].
    #[serde(default)]
    pub open: Option<Open>,
    /// Of a run that was stopped, where the engine knows it: the units whose embeddings are not in the
    /// counts, which are exact for all others; see [`Outcome::finished`].
    #[serde(default)]
    pub rest: Option<Share>,
    /// What the user should hear of a run that went well all the same, a sentence each.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Sums over work units that answer the task when all units are in them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Open {
    /// The sums of the CPU engine's equations for [`Task::Motif`], whose results are empty until then.
    Motifs {
        /// In the engine's order.
        sums: Vec<u128>,
    },
    /// The sums of the closed formulas for [`Task::Motif`] of 3 and 4 vertices; see [`formulas`].
    Formulas {
        /// In the order of [`formulas::Sums`].
        sums: formulas::Sums,
    },
    /// Mappings of [`Task::Match`] beyond those of the result, whose number of occurrences is rounded down until
    /// then.
    Mappings {
        /// Number of these mappings.
        rest: u128,
        /// Mappings of an occurrence.
        each: u128,
    },
}

impl Outcome {
    /// The answer of a run that went to its end, or not.
    pub fn new(results: Vec<Count>, complete: bool) -> Self {
        Outcome { results, complete, ..Outcome::default() }
    }

    /// Says which units it is of; the last thing that an engine does.
    #[must_use]
    pub fn of(mut self, units: Units<'_>) -> Self {
        self.share = units.share().cloned();
        self
    }
}

/// How fast a memory of a device is, as the host sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySpeed {
    /// The device's name.
    pub device: String,
    /// The memory's name: of a bank, its number.
    pub memory: String,
    /// Bytes that were moved each way.
    pub bytes: u64,
    /// Time to write them, the best of several.
    pub write: Duration,
    /// Time to read them, the best of several.
    pub read: Duration,
}

/// Takes embeddings as an engine finds them. Called from several threads at a time.
pub trait Sink: Sync {
    /// One embedding of `pattern`: `vertices[i]` is the graph vertex of pattern vertex i. (A
    /// maximal clique may have more vertices than a pattern can; `pattern` is then the largest
    /// complete one.)
    /// [`ControlFlow::Break`] asks the engine to end the run (a limit was reached, or the
    /// output can't be written).
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()>;

    /// The number of embeddings after which it asks to end, where it knows that beforehand.
    fn limit(&self) -> Option<u64> {
        None
    }
}

/// A device that can mine.
///
/// ```
/// use gramer_engine::{Engine, Units, cpu::Cpu};
/// use gramer_graph::{Builder, Context};
/// use gramer_pattern::Task;
///
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let context = Context::default();
/// let prepared = Cpu.prepare(&graph, &context)?;
/// let triangles = prepared.run(&Task::Clique { k: 3 }, Units::All, None, &context)?;
/// assert_eq!(triangles.results[0].count, 1);
/// # Ok::<(), gramer_graph::Error>(())
/// ```
pub trait Engine: Send + Sync {
    /// What results call it: `cpu`, `reference`, or a device's own name.
    fn name(&self) -> String;

    /// The order of vertices in which it is fastest; answers are the same in any order.
    fn order(&self) -> Order {
        Order::RankOn1
    }

    /// What each of its methods says to a question: nothing is read or opened for it.
    fn choose(&self, ask: &Ask<'_>) -> Choices;

    /// The plan by which it answers a question: that of the first method that fits.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Usage`] for a number out of range, [`gramer_graph::Error::Unsupported`] with the reasons
    /// of its methods if none fits.
    fn plan(&self, ask: &Ask<'_>) -> Result<Plan> {
        ask.check()?;
        self.choose(ask).first(&self.name(), ask).cloned()
    }

    /// Whether each run costs much beside its work, so that many small shares are dearer than a large one.
    fn runs_cost(&self) -> bool {
        false
    }

    /// Makes a graph ready for any number of questions: a device with a memory of its own keeps it there until what
    /// comes back is dropped.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] if the device has no room for the graph,
    /// [`gramer_graph::Error::Device`] if it can't be opened, [`gramer_graph::Error::Interrupted`].
    fn prepare<'a>(&'a self, graph: &'a Graph, context: &Context)
    -> Result<Box<dyn Prepared + 'a>>;

    /// Writes and reads about so many bytes in each memory that the device has of its own, and checks
    /// that what was written is read; nothing for devices without one. No graph may be prepared.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Device`] if what is read isn't what was written, and for what the device
    /// refuses.
    fn memories(&self, _bytes: u64, _context: &Context) -> Result<Vec<MemorySpeed>> {
        Ok(vec![])
    }

    /// Prepares a graph for one task and answers it for all units; see [`mine`](method::mine).
    ///
    /// # Errors
    /// Those of [`Engine::prepare`] and [`mine`](method::mine).
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
    /// Those of [`Engine::prepare`], [`mine`](method::mine) and `peers`.
    fn run_together(
        &self,
        graph: &Graph,
        task: &Task,
        peers: &dyn Together,
        context: &Context,
    ) -> Result<Outcome> {
        self.prepare(graph, context)?.run_together(task, peers, context)
    }
}

/// A graph on a device.
///
/// Engines implement [`Prepared::answer`]. [`mine`](method::mine) chooses the method and calls it; the functions
/// [`run`](#method.run), [`run_per`](#method.run_per), [`estimate`](#method.estimate) and
/// [`run_together`](#method.run_together) are short forms of it.
pub trait Prepared: Send + Sync {
    /// The engine that has prepared it.
    fn engine(&self) -> &dyn Engine;

    /// The graph.
    fn graph(&self) -> &Graph;

    /// Answers a question by the method of a plan that [`Engine::choose`] made for it. With a sink every embedding is
    /// handed to it as well (for [`Task::Fsm`], those of the reported patterns). [`Outcome::merge`] joins the outcomes
    /// of shares. Once `context.cancel` is raised the engine returns what it has, with [`Outcome::complete`] unset.
    ///
    /// # Errors
    /// [`Failure::Retreat`] if only running could tell that the method doesn't do it.
    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Found, Failure>;
}

impl dyn Prepared + '_ {
    /// Answers a task for some work units.
    ///
    /// # Errors
    /// As [`mine`](method::mine).
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
    /// As [`mine`](method::mine), and those of `peers`.
    pub fn run_together(
        &self,
        task: &Task,
        peers: &dyn Together,
        context: &Context,
    ) -> Result<Outcome> {
        self.counts(&Query::new(task.clone()), &Run { peers: Some(peers), ..Run::new(context) })
    }

    /// Answers a question whose answer is counts by pattern.
    ///
    /// # Errors
    /// As [`mine`](method::mine).
    pub fn counts(&self, query: &Query, run: &Run<'_>) -> Result<Outcome> {
        match method::mine(self, query, run)? {
            Found::Counts(outcome) => Ok(outcome),
            Found::Columns(_) | Found::Estimate(_) => unreachable!("counts were asked for"),
        }
    }

    /// Estimates the counts of the whole graph from a random sample. Once `context.cancel` is raised
    /// there are no results, and [`Estimated::complete`] is unset.
    ///
    /// # Errors
    /// As [`mine`](method::mine).
    pub fn estimate(
        &self,
        task: &Task,
        precision: Precision,
        context: &Context,
    ) -> Result<Estimated> {
        let query = Query::new(task.clone()).answer(Answer::Estimate(precision));
        match method::mine(self, &query, &Run::new(context))? {
            Found::Estimate(estimated) => Ok(estimated),
            Found::Counts(_) | Found::Columns(_) => unreachable!("an estimate was asked for"),
        }
    }

    /// Counts per vertex or per edge, of the whole graph. Once `context.cancel` is raised there are no
    /// columns, and [`PerOutcome::complete`] is unset.
    ///
    /// # Errors
    /// As [`mine`](method::mine); [`gramer_graph::Error::Unsupported`] for a count of more than 128
    /// bits.
    pub fn run_per(&self, task: &Task, per: Per, context: &Context) -> Result<PerOutcome> {
        let query = Query::new(task.clone()).answer(per.into());
        match method::mine(self, &query, &Run::new(context))? {
            Found::Columns(columns) => Ok(columns),
            Found::Counts(_) | Found::Estimate(_) => unreachable!("columns were asked for"),
        }
    }
}

/// The README, whose example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
