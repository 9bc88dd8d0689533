//! The accesses of a task, counted by algorithm 1.

use std::collections::HashSet;
use std::ops::ControlFlow;

use super::{Accesses, Cliques, Comparison, Explorer, LabelledPatterns, Motifs, Primitives, Stop};
use crate::{Engine, EngineExt, Outcome, Units, WorkUnit};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::Graph;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

/// Counts how often each vertex record and edge entry is accessed: cliques, vertex-induced motifs,
/// and the last pass of frequent subgraphs by embeddings, of which `engine` finds the frequent smaller ones.
///
/// # Errors
/// [`Error::Unsupported`] for other tasks and for more than `most` embeddings;
/// [`Error::Interrupted`].
pub fn accesses(
    engine: &dyn Engine,
    graph: &Graph,
    task: &Task,
    comparison: Comparison,
    most: u64,
    context: &Context,
) -> Result<Accesses> {
    match task {
        Task::Clique { k } => explore(graph, Cliques::new(*k), comparison, most, context),
        Task::Motif { k, induced: Induced::Vertex } => {
            explore(graph, Motifs::new(*k), comparison, most, context)
        }
        Task::Fsm {
            limit: SizeLimit::MaxVertices(size),
            support,
            measure: measure @ Measure::Embeddings,
        } => {
            // The last pass: what the passes before it report the engine finds.
            let mut allowed = HashSet::new();
            if *size > 2 {
                let limit = SizeLimit::MaxVertices(size - 1);
                let before = Task::Fsm { limit, support: *support, measure: *measure };
                let Outcome { results, complete, .. } =
                    engine.run(graph, &before, None, context)?;
                if !complete {
                    return Err(Error::Interrupted);
                }
                allowed.extend(results.into_iter().map(|r| r.pattern));
            }
            let patterns = LabelledPatterns::new(graph.view(), *size, allowed);
            explore(graph, patterns, comparison, most, context)
        }
        _ => Err(Error::Unsupported(format!(
            "the accesses of {} are not counted: algorithm 1 does cliques, vertex-induced motifs \
             and frequent subgraphs by embeddings",
            task.name()
        ))),
    }
}

fn explore<P: Primitives>(
    graph: &Graph,
    primitives: P,
    comparison: Comparison,
    most: u64,
    context: &Context,
) -> Result<Accesses> {
    let units: Vec<WorkUnit> = Units::All.iter(graph.view()).collect();
    let mut explorer = Explorer::new(graph.view(), comparison, primitives, context)
        .with_accesses()
        .with_limit(most);
    match explorer.run_units(&units) {
        ControlFlow::Continue(()) => Ok(explorer.accesses().expect("they were asked for").clone()),
        ControlFlow::Break(Stop::Limit) => Err(Error::Unsupported(format!(
            "the task has more than {most} embeddings: counting all accesses would take too long; \
             give a smaller task, or allow more",
        ))),
        ControlFlow::Break(_) => Err(Error::Interrupted),
    }
}
