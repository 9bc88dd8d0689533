//! The work of single units.

use std::ops::ControlFlow;

use super::{Cliques, Comparison, Explorer, Motifs, Primitives};
use crate::WorkUnit;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::View;
use gramer_pattern::task::{Induced, Task};

/// Candidates that algorithm 1 tests and lists that it walks in each of some units: cliques and vertex-induced motifs.
///
/// # Errors
/// [`Error::Unsupported`] for other tasks; [`Error::Interrupted`].
///
/// # Examples
/// ```
/// use gramer_base::Context;
/// use gramer_engine::WorkUnit;
/// use gramer_engine::reference::{Comparison, work_of_units};
/// use gramer_graph::Builder;
/// use gramer_pattern::task::Task;
///
/// // A triangle. The root 0 has the candidates 1 and 2, the edge 0-1 the candidate 2, and the edge 0-2 none; each of the three
/// // walks the root's list.
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (0, 2), (1, 2)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let unit = WorkUnit::whole(graph.view(), 0);
/// let task = Task::Clique { k: 3 };
/// let context = Context::default();
/// let work = work_of_units(graph.view(), &task, Comparison::Ascending, &[unit], &context)?;
/// assert_eq!(work, [3 + 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn work_of_units(
    view: View<'_>,
    task: &Task,
    comparison: Comparison,
    units: &[WorkUnit],
    context: &Context,
) -> Result<Vec<u64>> {
    match task {
        Task::Clique { k } => explore(view, Cliques::new(*k), comparison, units, context),
        Task::Motif { k, induced: Induced::Vertex } => {
            explore(view, Motifs::new(*k), comparison, units, context)
        }
        other => Err(Error::Unsupported(format!(
            "the work of units of {} is not counted: algorithm 1 does cliques and vertex-induced motifs",
            other.name()
        ))),
    }
}

fn explore<P: Primitives>(
    view: View<'_>,
    primitives: P,
    comparison: Comparison,
    units: &[WorkUnit],
    context: &Context,
) -> Result<Vec<u64>> {
    let mut explorer = Explorer::new(view, comparison, primitives, context);
    let mut before = 0;
    units
        .iter()
        .map(|unit| match explorer.run_units(std::slice::from_ref(unit)) {
            ControlFlow::Continue(()) => {
                let c = explorer.counters();
                let all = c.candidates_by_depth.iter().sum::<u64>() + c.extensions;
                Ok(all - std::mem::replace(&mut before, all))
            }
            ControlFlow::Break(_) => Err(Error::Interrupted),
        })
        .collect()
}
