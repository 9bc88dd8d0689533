//! Engines: what answers a task. Each implements [`Engine`], and nothing outside it knows how.

pub mod compress;
pub mod cpu;
pub mod estimate;
pub mod formulas;
pub mod frequent;
pub mod interpreter;
pub mod metrics;
pub mod per;
pub mod reference;
pub mod shares;
pub mod together;
pub mod work;

use std::ops::ControlFlow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, Order, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::Task;

pub use estimate::{Estimated, Precision};
pub use metrics::DeviceMetrics;
pub use per::{Per, PerOutcome};
pub use together::Together;
pub use work::{Share, Units, WorkUnit};

/// The name of the rule of assignment that engines of several kinds know. A clique and a vertex-induced
/// motif belong to their vertex with the largest number, as in algorithm 1 in descending order. What is
/// matched belongs to the image of the first vertex of the plan that [`SearchPlan::of`] makes for
/// listing, whose conditions of symmetry ask for falling numbers.
///
/// [`SearchPlan::of`]: gramer_pattern::plan::search::SearchPlan::of
pub const BY_IDS: &str = "ids";

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

    /// Whether it counts the embeddings of a task, all of them, as soon in a graph in any order, so that it isn't worth
    /// while to bring it into [`Engine::order`] for that.
    fn any_order(&self, task: &Task) -> bool {
        let _ = task;
        false
    }

    /// The rule by which it assigns embeddings to work units. Outcomes of shares add up over all
    /// engines of one rule, so that these may share a task; see [`BY_IDS`].
    fn rule(&self) -> String {
        self.name()
    }

    /// Whether each run costs much beside its work, so that many small shares are dearer than a large one.
    fn runs_cost(&self) -> bool {
        false
    }

    /// Whether this engine can do the task, on `graph` where that is known already.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] with the reason and the engine that can.
    fn supports(&self, task: &Task, graph: Option<&Graph>) -> Result<()>;

    /// Whether this engine gives the counts of the task per vertex or per edge.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] with the reason, naming the engine that can.
    fn supports_per(&self, task: &Task, per: Per) -> Result<()> {
        let _ = task;
        Err(only_whole(&self.name(), per))
    }

    /// Whether this engine estimates the counts of the task.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] with the reason, naming the engine that can.
    fn supports_estimate(&self, task: &Task) -> Result<()> {
        let _ = task;
        Err(only_exact(&self.name()))
    }

    /// Whether this engine does a task that is no sum of shares together with other processes.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] with the reason, naming the engine that can.
    fn supports_together(&self, task: &Task) -> Result<()> {
        Err(not_together(&self.name(), task))
    }

    /// Answers such a task together with other processes, which have the same graph in the same order.
    /// Each gets the whole answer.
    ///
    /// # Errors
    /// As [`Engine::supports_together`], and those of `together`.
    fn run_together(
        &self,
        graph: &Graph,
        task: &Task,
        together: &dyn Together,
        context: &Context,
    ) -> Result<Outcome> {
        self.supports_together(task)?;
        self.prepare(graph, context)?.run_together(task, together, context)
    }

    /// Makes a graph ready for any number of tasks: a device with a memory of its own keeps it
    /// there until what comes back is dropped.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] if the device has no room for the graph,
    /// [`gramer_graph::Error::Interrupted`].
    fn prepare<'a>(&'a self, graph: &'a Graph, context: &Context)
    -> Result<Box<dyn Prepared + 'a>>;

    /// The same as [`Engine::prepare`], with embeddings assigned to units by the rule [`BY_IDS`], which
    /// may take longer than the engine's own. Shares then consist of vertices with their whole lists.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] where the engine doesn't know that rule, and those of
    /// [`Engine::prepare`].
    fn prepare_by_ids<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        if self.rule() == BY_IDS {
            return self.prepare(graph, context);
        }
        Err(only_its_kind(&self.name()))
    }

    /// Writes and reads about so many bytes in each memory that the device has of its own, and checks
    /// that what was written is read; nothing for devices without one. No graph may be prepared.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Device`] if what is read isn't what was written, and for what the device
    /// refuses.
    fn memories(&self, _bytes: u64, _context: &Context) -> Result<Vec<MemorySpeed>> {
        Ok(vec![])
    }

    /// Prepares a graph for one task and answers it for all units; see [`Prepared::run`].
    ///
    /// # Errors
    /// Those of [`Engine::prepare`] and [`Prepared::run`].
    fn run(
        &self,
        graph: &Graph,
        task: &Task,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        task.check()?;
        self.supports(task, Some(graph))?;
        self.prepare(graph, context)?.run(task, Units::All, sink, context)
    }
}

/// Why a device shares nothing with those of other kinds.
pub fn only_its_kind(name: &str) -> Error {
    Error::Unsupported(format!(
        "{name} divides work by a rule of its own, so that it shares no task with devices of another \
         kind: name devices of its kind alone"
    ))
}

/// Why an engine of this name doesn't do a task together with other processes.
pub fn not_together(engine: &str, task: &Task) -> Error {
    match shares::divisible(task, false) {
        Err(_) if matches!(task, Task::Fsm { .. }) => Error::Unsupported(format!(
            "`{engine}` finds minimum-image supports alone; the engines `cpu` and `gpu` and set cores with plans do it with others"
        )),
        Err(error) => error,
        Ok(()) => Error::Unsupported(format!("the task {} is done in shares", task.name())),
    }
}

fn only_exact(engine: &str) -> Error {
    Error::Unsupported(format!("`{engine}` counts exactly; the engine `cpu` makes estimates"))
}

fn only_whole(engine: &str, per: Per) -> Error {
    Error::Unsupported(format!(
        "`{engine}` counts the whole graph, not per {per}; the engine `cpu` counts per vertex and per edge"
    ))
}

/// A graph on a device.
pub trait Prepared: Send + Sync {
    /// Answers `task` for some work units. With a `sink` every embedding is handed to it as well (for
    /// [`Task::Fsm`], those of the reported patterns). [`Outcome::merge`] joins the outcomes of shares.
    ///
    /// Once `context.cancel` is raised the engine returns what it has, with
    /// [`Outcome::complete`] unset.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Usage`] for a task out of range, and for units that the graph doesn't
    /// have; [`gramer_graph::Error::Unsupported`] as [`Engine::supports`] and [`shares::check`].
    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome>;

    /// Answers a task that is no sum of shares together with others that have the same graph in the same
    /// order; see [`Engine::run_together`].
    ///
    /// # Errors
    /// As [`Engine::supports_together`], and those of `together`.
    fn run_together(
        &self,
        task: &Task,
        together: &dyn Together,
        context: &Context,
    ) -> Result<Outcome> {
        let _ = (together, context);
        Err(not_together("this engine", task))
    }

    /// Estimates the counts of the whole graph from a random sample. Once `context.cancel` is raised
    /// there are no results, and [`Estimated::complete`] is unset.
    ///
    /// # Errors
    /// As [`Engine::supports_estimate`], and [`Precision::check`].
    fn estimate(&self, task: &Task, precision: Precision, context: &Context) -> Result<Estimated> {
        let _ = (task, precision, context);
        Err(only_exact("this engine"))
    }

    /// Counts per vertex or per edge, of the whole graph. Once `context.cancel` is raised there are no
    /// columns, and [`PerOutcome::complete`] is unset.
    ///
    /// # Errors
    /// As [`Engine::supports_per`]; [`gramer_graph::Error::Unsupported`] for a count of more than 128
    /// bits.
    fn run_per(&self, task: &Task, per: Per, context: &Context) -> Result<PerOutcome> {
        let _ = (task, context);
        Err(only_whole("this engine", per))
    }
}

/// The README, whose example runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
