//! What the CPU engine does where memory is limited ([`Context::budget`](gramer_base::Context)).
//!
//! What grows with the edges lies in mapped files: the image itself, and the targets of the oriented graph.
//! What grows with the vertices is in memory, and tasks that need more than that are refused.

use gramer_base::budget::{BASE, Budget};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};

use super::reach::MOST_BYTES;

/// Bytes per vertex in memory, at most: where a unit of work begins (12, twice that as the list grows), what
/// peeling keeps (24), where targets begin (8).
const PER_VERTEX: u64 = 64;
/// Bytes per vertex and thread: marks and numbers by vertex, or the maximum of a thread.
const PER_VERTEX_AND_THREAD: u64 = 13;

/// Refuses what takes more than the budget in any case.
pub(super) fn check(vertices: usize, context: &Context) -> Result<()> {
    let Some(budget) = &context.budget else { return Ok(()) };
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

/// Whether this many further bytes may be used for speed: an eighth of the budget at most.
pub(super) fn has_room(budget: Option<&Budget>, bytes: usize) -> bool {
    budget.is_none_or(|budget| bytes as u64 <= budget.bytes / 8)
}
