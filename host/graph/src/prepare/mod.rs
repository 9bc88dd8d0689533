//! What the host prepares before it mines: ON_k, Rank(ON_1) renumbering, τ and the priority
//! bounds (section IV-B of the paper).
//!
//! [`on_k`] estimates how often a vertex is accessed, [`renumber`] makes Rank(ON_1) the number of
//! each vertex, and [`Priority`] says which prefix of the vertex and edge arrays is then worth
//! keeping on the chip for the whole run.

pub mod locality;
mod occurrence;
mod order;
mod priority;
mod renumber;
mod transpose;

pub use occurrence::on_k;
pub use order::by_occurrence;
pub(crate) use order::ranked;
pub use priority::{Capacities, Priority};
pub use renumber::renumber;

use std::sync::Mutex;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::parallel::on_threads;

/// Sets `out[i] = value(state, i)` on `context.threads()` threads, each with its own state.
/// Threads take `chunk` elements at a time, so that no share is fixed beforehand.
///
/// # Errors
/// [`gramer_base::Error::Interrupted`] if the run was cancelled; it is looked at before each chunk.
fn fill<T: Send, S>(
    out: &mut [T],
    chunk: usize,
    context: &Context,
    make: impl Fn() -> S + Sync,
    value: impl Fn(&mut S, usize) -> T + Sync,
) -> Result<()> {
    let threads = context.threads().min(out.len().div_ceil(chunk)).max(1);
    let chunks = Mutex::new(out.chunks_mut(chunk).enumerate());
    each_thread(threads, || {
        let mut state = make();
        while !context.cancel.is_cancelled() {
            let taken = chunks.lock().expect("no thread panics with the lock").next();
            let Some((number, part)) = taken else { break };
            for (i, slot) in part.iter_mut().enumerate() {
                *slot = value(&mut state, number * chunk + i);
            }
        }
    });
    context.cancel.check()
}

/// Runs `work` once on each of `threads` threads.
fn each_thread(threads: usize, work: impl Fn() + Sync) {
    on_threads(threads, |_| work());
}
