//! Who answers a task. One module a kind of device; each implements [`Engine`], and nothing
//! outside it knows how.

pub mod cpu;
pub mod reference;

use std::ops::ControlFlow;

use crate::context::Context;
use crate::error::Result;
use crate::graph::{Graph, VertexId};
use crate::pattern::Pattern;
use crate::task::Task;

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
    /// One entry a pattern (a size for [`Task::MaximalCliques`]), in a fixed order.
    pub results: Vec<Count>,
    /// Whether the run went to its end. `false` after Ctrl-C or once a limit was reached; the
    /// counts are then lower bounds.
    pub complete: bool,
}

/// Takes embeddings as an engine finds them. Called from several threads at a time.
pub trait Sink: Sync {
    /// One embedding of `pattern`: `vertices[i]` is the graph vertex of pattern vertex i.
    /// [`ControlFlow::Break`] asks the engine to end the run (a limit was reached, or the
    /// output can't be written).
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()>;
}

/// A device that can mine.
pub trait Engine {
    /// What results call it: `cpu`, `reference`, or a device's own name.
    fn name(&self) -> String;

    /// Whether this engine can do the task.
    ///
    /// # Errors
    /// [`crate::Error::Unsupported`] with the reason and the engine that can.
    fn supports(&self, task: &Task) -> Result<()>;

    /// Answers `task`. The graph must be in the order of [`crate::graph::Order::RankOn1`] for
    /// speed; the answer is the same in any order. With a `sink` every embedding is handed to it
    /// as well (for [`Task::Fsm`], those of the reported patterns).
    ///
    /// Once `context.cancel` is raised the engine returns what it has, with
    /// [`Outcome::complete`] unset.
    ///
    /// # Errors
    /// [`crate::Error::Usage`] for a task out of range, [`crate::Error::Unsupported`] as
    /// [`Engine::supports`].
    fn run(
        &self,
        graph: &Graph,
        task: &Task,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome>;
}
