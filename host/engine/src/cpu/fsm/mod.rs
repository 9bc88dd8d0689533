//! Frequent subgraph mining.
//!
//! Two questions, two engines: [`embeddings`] counts vertex-induced embeddings, [`mni`] finds
//! minimum-image supports of edge-induced patterns. Both go level by level, so a level's frequent
//! patterns prune the next. Vertex labels and, where the graph has them, edge labels are part of
//! a pattern; a graph without vertex labels has one label.

mod code;
mod embeddings;
mod labels;
mod mni;
mod rows;
mod tally;
#[cfg(test)]
mod tests;
mod trie;
mod triples;

use crate::cpu::Job;
use crate::frequent::Lister;
use crate::work::Units;
use crate::{Count, Outcome, Sink, Together, shares};
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, View};
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
        (Measure::Embeddings, SizeLimit::MaxEdges(_)) => {
            return Err(Error::usage("measure embeddings goes with max-vertices"));
        }
    };
    let results = results(&found, &labels, view);
    if let Some(sink) = sink.filter(|_| complete) {
        complete = match measure {
            Measure::Embeddings => embeddings::list(view, &labels, &found, sink, context)?,
            Measure::Mni => list_occurrences(graph, &results, sink, context)?,
        };
    }
    Ok(Outcome { results, complete, ..Outcome::default() })
}

/// The same by minimum-image support, together with other processes.
///
/// # Errors
/// Those of `together`.
pub(super) fn run_together(
    graph: &Graph,
    limit: SizeLimit,
    support: u64,
    together: &dyn Together,
    context: &Context,
) -> Result<Outcome> {
    let view = graph.view();
    let labels = Labels::new(view);
    let (found, complete) = mni::mine(view, &labels, limit, support, Some(together), context)?;
    Ok(Outcome::new(results(&found, &labels, view), complete))
}

/// The same by minimum-image support, where a device lists the occurrences of candidates.
///
/// # Errors
/// Those of `list` and `together`.
pub(crate) fn by_lists(
    graph: &Graph,
    (limit, support): (SizeLimit, u64),
    together: Option<&dyn Together>,
    context: &Context,
    list: &mut Lister<'_>,
) -> Result<(Vec<Count>, bool)> {
    let view = graph.view();
    let labels = Labels::new(view);
    let (found, complete) =
        mni::mine_by_lists(view, &labels, (limit, support), together, context, list)?;
    Ok((results(&found, &labels, view), complete))
}

/// The patterns as they are reported.
fn results(found: &[(code::Small, u128)], labels: &Labels, view: View<'_>) -> Vec<Count> {
    let mut results: Vec<Count> = found
        .iter()
        .map(|&(code, count)| {
            let pattern = code.to_pattern(labels, view).canonical().0;
            Count { pattern, count }
        })
        .collect();
    shares::sort(&mut results);
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
