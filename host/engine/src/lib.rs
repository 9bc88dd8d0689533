//! Who answers a task. One module a kind of device; each implements [`Engine`], and nothing
//! outside it knows how.

pub mod cpu;
pub mod interpreter;
pub mod reference;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use gramer_graph::context::Context;
use gramer_graph::error::Result;
use gramer_graph::{Graph, Order, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::Task;

/// One line of an answer: a pattern with its count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The pattern; for [`Task::Motif`] and [`Task::Fsm`] in canonical form.
    pub pattern: Pattern,
    /// Number of occurrences, or the support where the task asks for that.
    pub count: u128,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// One entry per pattern (per size for [`Task::CliqueSizes`] and [`Task::MaximalCliques`]), in
    /// a fixed order.
    pub results: Vec<Count>,
    /// For [`Task::MaximalCliques`] and others that go by size: size and number of those that are larger than a pattern can
    /// be ([`gramer_pattern::MAX_VERTICES`]), ascending; empty otherwise.
    pub larger_cliques: Vec<(usize, u128)>,
    /// Whether the run went to its end. `false` after Ctrl-C or once a limit was reached; the
    /// counts are then lower bounds (zero, which says nothing, for motifs that are only counted),
    /// and [`Task::Fsm`] has the patterns of the sizes that were finished.
    pub complete: bool,
    /// What a device measured of itself, where it does.
    pub measured: Option<Measured>,
}

/// What an accelerator measured during a task.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measured {
    /// The machine's name.
    pub machine: String,
    /// Compute units that shared the work, over all devices.
    pub compute_units: usize,
    /// MHz of the kernels' clock.
    pub clock_mhz: u32,
    /// Runs of the kernels.
    pub runs: u64,
    /// Cycles from start to end of the kernels, summed over the runs of each compute unit.
    pub cycles: Vec<u64>,
    /// The core's counters by `section.name`, summed over units and runs; a value a depth where
    /// there are several.
    pub counters: BTreeMap<String, Vec<u64>>,
    /// Bytes written to devices and read from them.
    pub bytes: (u64, u64),
    /// Time in which data went to and from devices, summed over compute units.
    pub transfer: Duration,
    /// Time in which kernels ran, as the host sees it, summed over compute units.
    pub kernels: Duration,
}

impl Measured {
    /// Cycles of the compute unit that took longest.
    pub fn longest(&self) -> u64 {
        self.cycles.iter().copied().max().unwrap_or(0)
    }

    /// Those cycles in seconds at the machine's clock.
    pub fn seconds_at_clock(&self) -> f64 {
        self.longest() as f64 / (f64::from(self.clock_mhz.max(1)) * 1e6)
    }

    /// First value of a counter; 0 where the core has none of that name.
    pub fn counter(&self, name: &str) -> u64 {
        self.counters.get(name).and_then(|v| v.first()).copied().unwrap_or(0)
    }

    /// Shares of the accesses to `vertex` or `edge` memory: high-priority hits, low-priority hits,
    /// misses; zeros without accesses.
    pub fn shares(&self, kind: &str) -> [f64; 3] {
        let parts = ["high_hits", "low_hits", "misses"]
            .map(|part| self.counter(&format!("partition.{kind}_{part}")));
        let all = parts.iter().sum::<u64>().max(1);
        parts.map(|part| part as f64 / all as f64)
    }

    /// Share of the time with a device that went to transfer.
    pub fn transfer_share(&self) -> f64 {
        let all = (self.transfer + self.kernels).as_secs_f64();
        if all == 0.0 { 0.0 } else { self.transfer.as_secs_f64() / all }
    }
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
/// use gramer_engine::{Engine, cpu::Cpu};
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
/// let triangles = prepared.run(&Task::Clique { k: 3 }, None, &context)?;
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

    /// Whether this engine can do the task, on `graph` where that is known already.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] with the reason and the engine that can.
    fn supports(&self, task: &Task, graph: Option<&Graph>) -> Result<()>;

    /// Makes a graph ready for any number of tasks: a device with a memory of its own keeps it
    /// there until what comes back is dropped.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Unsupported`] if the device has no room for the graph,
    /// [`gramer_graph::Error::Interrupted`].
    fn prepare<'a>(&'a self, graph: &'a Graph, context: &Context)
    -> Result<Box<dyn Prepared + 'a>>;

    /// Prepares a graph for one task and answers it; see [`Prepared::run`].
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
        self.prepare(graph, context)?.run(task, sink, context)
    }
}

/// A graph on a device.
pub trait Prepared: Send + Sync {
    /// Answers `task`. With a `sink` every embedding is handed to it as well (for [`Task::Fsm`],
    /// those of the reported patterns).
    ///
    /// Once `context.cancel` is raised the engine returns what it has, with
    /// [`Outcome::complete`] unset.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Usage`] for a task out of range,
    /// [`gramer_graph::Error::Unsupported`] as [`Engine::supports`].
    fn run(&self, task: &Task, sink: Option<&dyn Sink>, context: &Context) -> Result<Outcome>;
}
