//! What the CPU engine does where memory is limited ([`Context::budget`](gramer_graph::Context)).
//!
//! What grows with the edges lies in mapped files: the image itself, and the targets of the oriented graph.
//! What grows with the vertices is in memory, and tasks that need more than that are refused.

use gramer_graph::budget::{BASE, Budget};
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_pattern::task::Task;

use super::reach::MOST_BYTES;

/// Bytes per vertex in memory, at most: where a unit of work begins (12, twice that as the list grows), what
/// peeling keeps (24), where targets begin (8).
const PER_VERTEX: u64 = 64;
/// The same for each thread: marks and numbers by vertex, or what a thread has at most.
const PER_VERTEX_AND_THREAD: u64 = 13;

/// Whether the CPU engine keeps to a limit of memory in this task.
///
/// # Errors
/// [`Error::Unsupported`] with the tasks in which it does.
pub fn supports_budget(task: &Task) -> Result<()> {
    match task {
        Task::Clique { .. }
        | Task::CliqueSizes { .. }
        | Task::MaximumClique
        | Task::MaximalCliques
        | Task::Motif { .. } => Ok(()),
        Task::Match { pattern, .. }
            if !pattern.has_vertex_labels() && !pattern.has_edge_labels() =>
        {
            Ok(())
        }
        Task::Match { .. } => Err(unsupported("the task match with labels")),
        other => Err(unsupported(&format!("the task {}", other.name()))),
    }
}

/// Why something is not done where memory is limited.
pub(super) fn unsupported(what: &str) -> Error {
    Error::Unsupported(format!(
        "the CPU engine keeps to no limit of memory for {what}: it does for cliques, motifs and matches of \
         patterns without labels, counted as a whole or listed; leave the limit out"
    ))
}

/// Refuses what takes more than the budget in any case.
pub(super) fn check(vertices: usize, task: &Task, context: &Context) -> Result<()> {
    let Some(budget) = &context.budget else { return Ok(()) };
    supports_budget(task)?;
    let least = least(vertices, context);
    if budget.bytes < least {
        return Err(Error::Unsupported(format!(
            "a graph of {vertices} vertices takes at least {}M of memory on {} threads, and {} bytes \
             are allowed: allow more, or take fewer threads",
            least.div_ceil(1 << 20),
            context.threads(),
            budget.bytes
        )));
    }
    Ok(())
}

fn least(vertices: usize, context: &Context) -> u64 {
    let vertices = vertices as u64;
    let of_thread = (PER_VERTEX_AND_THREAD * vertices).min(MOST_BYTES as u64);
    BASE + PER_VERTEX * vertices + of_thread * context.threads() as u64
}

/// Whether so many bytes more may be taken to be faster: an eighth of the budget at most.
pub(super) fn has_room(budget: Option<&Budget>, bytes: usize) -> bool {
    budget.is_none_or(|budget| bytes as u64 <= budget.bytes / 8)
}
