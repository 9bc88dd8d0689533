#![doc = include_str!("../README.md")]

pub mod compress;
pub mod division;
pub mod estimate;
pub mod frequent;
pub mod interpreter;
pub mod method;
pub mod metrics;
pub mod peers;
pub mod per;
mod prepared_graph;
pub mod query;
pub mod reason;
pub mod reference;
pub mod setting;
pub mod shares;
pub mod work;

use std::any::Any;
use std::borrow::Cow;
use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::{Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::closing::Sums;

pub use division::{Device, Division};
pub use estimate::{Precision, SampledCounts};
pub use method::{Choices, Failure, Plan, Reply, Run, Scheme};
pub use metrics::DeviceMetrics;
pub use peers::Peers;
pub use per::{Column, Per};
pub use prepared_graph::{EngineExt, PreparedGraph};
pub use query::{Answer, Ask, Facts, Needs, Query};
pub use work::{Share, Units, WorkUnit};

pub use gramer_pattern::Count;

/// Subject of a number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// A pattern.
    Pattern(Pattern),
    /// The cliques of a size beyond [`gramer_pattern::SMALL_VERTICES`].
    Clique(usize),
    /// Subject described by this name.
    Name(String),
}

impl Subject {
    /// The cliques of a size.
    pub fn clique(size: usize) -> Self {
        match size <= gramer_pattern::SMALL_VERTICES {
            true => Subject::Pattern(Pattern::clique(size)),
            false => Subject::Clique(size),
        }
    }

    /// The pattern, if there is one.
    pub fn pattern(&self) -> Option<&Pattern> {
        if let Subject::Pattern(pattern) = self { Some(pattern) } else { None }
    }

    /// Name, with the labels of a pattern.
    pub fn name(&self) -> String {
        match self {
            Subject::Pattern(pattern) => gramer_pattern::labelled_name(pattern),
            Subject::Clique(size) => format!("{size}-clique"),
            Subject::Name(name) => name.clone(),
        }
    }

    /// As [`Subject::name`], with labels in the form of the graph's input.
    pub fn name_in(&self, graph: &Graph) -> String {
        match self {
            Subject::Pattern(pattern) => gramer_pattern::labelled_name_in(pattern, graph),
            of => of.name(),
        }
    }

    /// Vertices and edges, if it has a size.
    pub fn size(&self) -> Option<(usize, usize)> {
        match self {
            Subject::Pattern(pattern) => Some((pattern.vertices(), pattern.edge_count())),
            Subject::Clique(size) => Some((*size, size * size.saturating_sub(1) / 2)),
            Subject::Name(_) => None,
        }
    }
}

/// A line of an answer for which no pattern stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Counted subject.
    pub of: Subject,
    /// Count.
    pub count: u128,
}

/// Line of an answer, for printers.
#[derive(Debug, Clone)]
pub struct Line<'a> {
    /// Counted subject.
    pub of: Cow<'a, Subject>,
    /// Count.
    pub count: u128,
}

/// Answer for the whole graph or for a share of its work units: a table of counts, and a table of columns by vertex or
/// by edge if requested.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// One entry per pattern (per size for the tasks of cliques), in a fixed order.
    pub results: Vec<Count>,
    /// Lines that follow them, for which no pattern stands: cliques that are larger than one can be, by ascending size,
    /// and numbers with names. Those of shares add up.
    #[serde(default)]
    pub rows: Vec<Row>,
    /// The columns per vertex or per edge; none if the run was cancelled. They belong to no share.
    #[serde(skip)]
    pub columns: Vec<Column>,
    /// Whether the run went to its end. `false` after Ctrl-C or once a limit was reached; the
    /// counts are then lower bounds (zero, which says nothing, for motifs that are only counted),
    /// and [`Task::Fsm`](gramer_pattern::Task::Fsm) has the patterns of the sizes that were finished.
    pub complete: bool,
    /// Measurements by devices.
    #[serde(default)]
    pub devices: Vec<DeviceMetrics>,
    /// Mined share; `None` for the whole graph.
    #[serde(default)]
    pub share: Option<Share>,
    /// Sums from which counts are computed, if counts of shares don't add up; [`Outcome::merge`] closes them.
    #[serde(default)]
    pub sums: Option<Sums>,
    /// For a stopped run, if the engine tracks it: units whose embeddings are not in the counts, which are exact for
    /// all other units; see [`Outcome::finished`].
    #[serde(default)]
    pub rest: Option<Share>,
    /// Warnings of a successful run, a sentence each.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl Outcome {
    /// The answer of a run that went to its end, or not.
    pub fn new(results: Vec<Count>, complete: bool) -> Self {
        Outcome { results, complete, ..Outcome::default() }
    }

    /// All lines, in order.
    pub fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let pattern = |line: &Count| Subject::Pattern(line.pattern.clone());
        let patterns = self.results.iter().map(move |line| (Cow::Owned(pattern(line)), line.count));
        let rows = self.rows.iter().map(|row| (Cow::Borrowed(&row.of), row.count));
        patterns.chain(rows).map(|(of, count)| Line { of, count })
    }

    /// The numbers of all lines.
    pub fn counts(&self) -> impl Iterator<Item = u128> + Clone + '_ {
        let rows = self.rows.iter().map(|row| row.count);
        self.results.iter().map(|line| line.count).chain(rows)
    }

    /// Count that stands for itself and all larger ones, in answers with some counts of more than 128 bits.
    pub const SATURATED: u128 = u128::MAX;

    /// Adds a line at the end.
    pub fn push(&mut self, of: Subject, count: u128) {
        match of {
            Subject::Pattern(pattern) => self.results.push(Count { pattern, count }),
            of => self.rows.push(Row { of, count }),
        }
    }

    /// Sets the units of the outcome, as the last step of an engine.
    #[must_use]
    pub fn of(mut self, units: Units<'_>) -> Self {
        self.share = units.share().cloned();
        self
    }
}

/// Receiver of embeddings in the order of discovery. Called from several threads concurrently.
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

    /// Whether numbers do in place of embeddings, from engines that count faster than they list ([`Sink::embeddings`]).
    fn only_counts(&self) -> bool {
        false
    }

    /// Takes the number of further embeddings, none of which was handed over; only where the sink
    /// [only counts](Sink::only_counts). 0 says that there are some.
    fn embeddings(&self, _number: u64) {}
}

/// A device that can mine.
///
/// A value is a handle: copies of an open device share it. Further methods for callers are in
/// [`EngineExt`].
///
/// ```
/// use gramer_cpu::Cpu;
/// use gramer_engine::{Engine, Units};
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
/// let triangles = prepared.run(&Task::Clique { k: 3 }, Units::All, None, &context)?;
/// assert_eq!(triangles.results[0].count, 1);
/// # Ok::<(), gramer_base::Error>(())
/// ```
pub trait Engine: Any + Send + Sync {
    /// Describes the device, without opening it.
    fn device(&self) -> Device;

    /// Returns the fit of each method to a question, without reading or opening anything.
    fn choose(&self, ask: &Ask<'_>) -> Choices;

    /// Prepares a graph for any number of questions. A device with its own memory keeps the graph there until the
    /// result is dropped.
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if the device has no room for the graph,
    /// [`gramer_base::Error::Device`] if it can't be opened, [`gramer_base::Error::Interrupted`].
    fn prepare(&self, graph: &Graph, context: &Context) -> Result<PreparedGraph>;
}

/// Graph on a device, in the engine's representation. It borrows nothing: it keeps clones of the graph, which share the
/// arrays, and of the engine.
pub trait DeviceGraph: Send + Sync {
    /// Answers a question by the method of a plan that [`Engine::choose`] made for it. With a sink every embedding is
    /// handed to it as well (for [`Task::Fsm`](gramer_pattern::Task::Fsm), those of the reported patterns). [`Outcome::merge`] joins the outcomes
    /// of shares. Once `context.cancel` is raised the engine returns its partial result, with [`Outcome::complete`] unset.
    ///
    /// # Errors
    /// [`Failure::Retreat`] if only running could tell that the method doesn't do it.
    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Reply, Failure>;
}
