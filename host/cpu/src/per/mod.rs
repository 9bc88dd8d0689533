//! Counts per vertex and per edge; see [`gramer_engine::per`].

pub(super) mod cliques;
mod orbits;
pub(super) mod sums;
mod tree;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_pattern::task::Task;

use super::Resident;
use gramer_engine::Outcome;
use gramer_engine::per::Per;

/// Counts cliques, or motifs of 3 and 4 vertices, per vertex or per edge.
///
/// # Errors
/// [`Error::Unsupported`] for a number of more than 128 bits.
pub(super) fn run(graph: &Resident, task: &Task, per: Per, context: &Context) -> Result<Outcome> {
    let found = match task {
        Task::Clique { k } => cliques::run(graph, *k, *k, per, context),
        Task::CliqueSizes { smallest, largest } => {
            cliques::run(graph, *smallest, *largest, per, context)
        }
        Task::Motif { k, induced } => orbits::run(graph, *k, *induced, per, context),
        _ => Err(Error::Unsupported(format!("the task {} has no such columns", task.name()))),
    };
    match found {
        // A part of the sums says nothing of any vertex.
        Err(Error::Interrupted) => Ok(Outcome::default()),
        other => other,
    }
}
