//! Frequent subgraph mining.
//!
//! Four questions: [`embeddings`] counts vertex-induced embeddings, [`mni`] finds minimum-image supports of
//! edge-induced patterns, [`transactions`] counts the graphs that contain such a pattern, and instances of one are counted
//! by the search for a pattern. All go level by level, so a level's frequent patterns prune the next. Vertex labels and, where the graph has them, edge labels are part of
//! a pattern; a graph without vertex labels has one label.

mod code;
mod embeddings;
pub mod images;
mod labels;
mod mni;
mod rows;
mod tally;
#[cfg(test)]
mod tests;
mod transactions;
mod trie;
mod triples;

use std::sync::Arc;

use crate::Job;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::frequent::by_instances;
use gramer_engine::work::Units;
use gramer_engine::{Count, Outcome, Peers, Sink};
use gramer_graph::{Graph, View};
use gramer_pattern::closing::results;
use gramer_pattern::task::{Induced, Measure, SizeLimit};

use labels::Labels;

/// The frequent patterns of `graph`, or all patterns of a share: smaller ones first (by vertices, then edges), more frequent
/// ones first among those of one size, then by canonical form. The sink gets each embedding of
/// each of them once, aligned with the canonical form.
///
/// # Errors
/// [`Error::Unsupported`] where a pattern's edge labels don't fit the engine's keys; see
/// [`rows::Rows::new`].
pub(super) fn run(
    graph: &Graph,
    limit: SizeLimit,
    support: u64,
    measure: Measure,
    job: Job<'_>,
) -> Result<Outcome> {
    let Job { sink, context, .. } = job;
    let view = graph.view();
    let labels = Labels::new(view);
    let (found, mut complete) = match (measure, limit) {
        (Measure::Embeddings, SizeLimit::MaxVertices(max)) => {
            embeddings::mine(view, &labels, max, support, job)?
        }
        (Measure::Mni, limit) => mni::mine(view, &labels, limit, support, None, context)?,
        (Measure::Transactions, limit) => {
            transactions::mine(graph, &labels, limit, support, context)?
        }
        (Measure::Embeddings, SizeLimit::MaxEdges(_)) => {
            return Err(Error::usage("measure embeddings needs max-vertices"));
        }
        (Measure::Instances, limit) => return run_instances(graph, limit, support, None, job),
    };
    let results = results(&found, &labels, view);
    if let Some(sink) = sink.filter(|_| complete) {
        complete = match measure {
            Measure::Embeddings => embeddings::list(view, &labels, &found, sink, context)?,
            Measure::Mni | Measure::Transactions | Measure::Instances => {
                list_occurrences(graph, &results, sink, context)?
            }
        };
    }
    Ok(Outcome { results, complete, ..Outcome::default() })
}

/// Mines by instances, together with other processes if there are any: the engine's pattern search counts the instances
/// of each candidate.
///
/// # Errors
/// Those of `together`.
pub(super) fn run_instances(
    graph: &Graph,
    limit: SizeLimit,
    support: u64,
    together: Option<&dyn Peers>,
    Job { sink, context, .. }: Job<'_>,
) -> Result<Outcome> {
    let SizeLimit::MaxEdges(max) = limit else {
        return Err(Error::usage("measure instances needs max-edges"));
    };
    let resident = super::Resident::new(graph);
    // A search's progress is a part of the level's.
    let own = Context { progress: Arc::default(), ..context.clone() };
    let found = by_instances(graph, max, support, together, context, |pattern| {
        let job = Job { units: Units::All, sink: None, context: &own, others: None };
        let found = super::matching::run(&resident, pattern, Induced::Edge, false, job)?;
        Ok((found.results.iter().map(|r| r.count).sum(), found.complete))
    });
    let (mut results, mut complete) = found?;
    results::sort(&mut results);
    if let Some(sink) = sink.filter(|_| complete) {
        complete = list_occurrences(graph, &results, sink, context)?;
    }
    Ok(Outcome { results, complete, ..Outcome::default() })
}

/// Mines by minimum-image support, together with other processes.
///
/// # Errors
/// Those of `together`.
pub(super) fn run_together(
    graph: &Graph,
    limit: SizeLimit,
    support: u64,
    together: &dyn Peers,
    context: &Context,
) -> Result<Outcome> {
    let view = graph.view();
    let labels = Labels::new(view);
    let (found, complete) = mni::mine(view, &labels, limit, support, Some(together), context)?;
    Ok(Outcome::new(results(&found, &labels, view), complete))
}

/// The reported patterns.
fn results(found: &[(code::Small, u128)], labels: &Labels, view: View<'_>) -> Vec<Count> {
    let mut results: Vec<Count> = found
        .iter()
        .map(|&(code, count)| {
            let pattern = code.to_pattern(labels, view).canonical().0;
            Count { pattern, count }
        })
        .collect();
    results::sort(&mut results);
    results
}

/// Hands over each edge-induced occurrence of each pattern; says whether all were.
fn list_occurrences(
    graph: &Graph,
    reported: &[Count],
    sink: &dyn Sink,
    context: &Context,
) -> Result<bool> {
    for Count { pattern, .. } in reported {
        let job = Job { units: Units::All, sink: Some(sink), context, others: None };
        let listed =
            super::matching::run(&super::Resident::new(graph), pattern, Induced::Edge, false, job)?;
        if !listed.complete {
            return Ok(false);
        }
    }
    Ok(true)
}
