//! Frequent patterns by minimum-image support.
//!
//! The support of an edge-induced pattern is the smallest number of different graph vertices that
//! one of its vertices is mapped to (Bringmann and Nijssen, *What is frequent in a single graph?*,
//! 2008). Taking an edge away never lowers it, so patterns grow by one edge a level, and a
//! candidate is looked at only if all connected patterns with one edge fewer are frequent.
//!
//! A candidate vertex starts with the images that it has in every one of those (its *domain*, an
//! upper bound). Images without a fitting neighbour in the domain of each neighbouring vertex are
//! taken out until nothing changes. Where that isn't exact already, each image is confirmed by
//! finding one embedding through it, which confirms an image of every other vertex as well;
//! vertices of one orbit share their images. A candidate is given up as soon as one domain is
//! smaller than the support asked for.
//!
//! Candidates of a level are independent of each other: several processes each examine some of them, and
//! tell all what they found, domains included.
//!
//! Memory: a copy of the graph, and for each frequent pattern of two levels a bit for each vertex
//! of the class of each of its vertices.

mod classes;
mod confirm;
mod domain;
mod level;
mod listed;
mod shared;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_graph::View;
use gramer_pattern::task::SizeLimit;

use super::code::Small;
use super::labels::Labels;
use crate::fsm::images::Lister;
use classes::Classes;
use confirm::{Scratch, examine};
use domain::Domain;
use gramer_engine::Peers;
use gramer_engine::work::Spread;
use level::{Frequent, inherit, single_edges};
pub(super) use level::{Kind, extend};
use listed::ListedGraph;

/// The frequent patterns with their supports, by level, and whether the run went to its end; if
/// not, only whole levels are there.
///
/// # Errors
/// Those of `together`.
pub(super) fn mine(
    graph: View<'_>,
    labels: &Labels,
    limit: SizeLimit,
    support: u64,
    together: Option<&dyn Peers>,
    context: &Context,
) -> Result<(Vec<(Small, u128)>, bool)> {
    by_levels(graph, labels, (limit, support), together, context, None)
}

/// Mines with a device that lists the occurrences of candidates whose domains are inconclusive.
///
/// # Errors
/// Those of `list` and `together`.
pub(super) fn mine_by_lists(
    graph: View<'_>,
    labels: &Labels,
    wanted: (SizeLimit, u64),
    together: Option<&dyn Peers>,
    context: &Context,
    list: &mut Lister<'_>,
) -> Result<(Vec<(Small, u128)>, bool)> {
    by_levels(graph, labels, wanted, together, context, Some(list))
}

fn by_levels(
    graph: View<'_>,
    labels: &Labels,
    (limit, support): (SizeLimit, u64),
    together: Option<&dyn Peers>,
    context: &Context,
    mut list: Option<&mut Lister<'_>>,
) -> Result<(Vec<(Small, u128)>, bool)> {
    let (max_vertices, max_edges) = match limit {
        SizeLimit::MaxVertices(n) => (n, n * (n - 1) / 2),
        SizeLimit::MaxEdges(n) => (n + 1, n),
    };
    let stopped = (vec![], false);
    let Ok(rows) = Classes::new(graph, labels, &context.cancel) else { return Ok(stopped) };
    let wanted = usize::try_from(support).unwrap_or(usize::MAX);
    let Ok((mut level, kinds)) = single_edges(&rows, labels.classes(), wanted, &context.cancel)
    else {
        return Ok(stopped);
    };
    let support_of = |f: &Frequent| smallest(f.domains.iter().map(|domain| &**domain)) as u128;
    let mut found: Vec<(Small, u128)> = level.iter().map(|f| (f.code, support_of(f))).collect();
    let listed = list.is_some().then(|| ListedGraph::new(graph, labels, &rows, wanted));
    // Estimated growth of candidates from level to level.
    let growth = 2.0 + 0.5 * kinds.len() as f64;
    let _plan = context.progress.plan(|| (2..=max_edges as i32).map(|e| growth.powi(e)).collect());
    for edges in 2..=max_edges {
        let known: FxHashMap<Small, usize> =
            level.iter().enumerate().map(|(i, f)| (f.code, i)).collect();
        let codes: Vec<Small> = level.iter().map(|f| f.code).collect();
        let candidates = extend(&codes, &kinds, max_vertices);
        let inherit = |code: &Small| inherit(code, &level, &known, wanted);
        let examine = |scratch: &mut Scratch, code: &Small| {
            let mut domains = inherit(code)?;
            let support = examine(&rows, code, &mut domains, wanted, context, scratch)?;
            let domains = domains.into_iter().map(Arc::new).collect();
            Some((Frequent { code: *code, domains }, support as u128))
        };
        // How many patterns a level leaves to the next one shows at its end.
        context.progress.set_unpredictable(edges < max_edges);
        let here = together.map(|together| (together, edges));
        let next = match (&listed, list.as_deref_mut()) {
            (Some(listed), Some(list)) => listed.level(&candidates, here, inherit, list, context),
            _ => in_parallel(&candidates, here, context, examine),
        };
        let next = match next {
            Ok(Some(next)) => next,
            Ok(None) | Err(Error::Interrupted) => return Ok((found, false)),
            Err(error) => return Err(error),
        };
        let next = match here {
            None => next.into_iter().map(|(_, found)| found).collect(),
            Some((together, edges)) => {
                let last = edges == max_edges;
                let all = together.join(edges, shared::write(&next, last));
                match all {
                    Ok(all) => shared::read((&rows, &candidates), &all, last)?,
                    Err(Error::Interrupted) => return Ok((found, false)),
                    Err(error) => return Err(error),
                }
            }
        };
        if next.is_empty() {
            break;
        }
        found.extend(next.iter().map(|(f, support)| (f.code, *support)));
        level = next.into_iter().map(|(f, _)| f).collect();
    }
    context.progress.set_unpredictable(false);
    Ok((found, true))
}

fn smallest<'a>(domains: impl Iterator<Item = &'a Domain>) -> usize {
    domains.map(|d| d.size).min().unwrap_or(0)
}

/// The other processes, and the level that they share.
type PeerLevel<'a> = (&'a dyn Peers, usize);

/// A frequent pattern with its support.
type SupportedPattern = (Frequent, u128);

/// The result for the candidate with this number.
type CandidateResult<T> = (usize, T);

/// Runs `examine` on every candidate, or on those that other processes leave to this one, and returns what it
/// found, with the candidates' numbers and in their order; `None` if the run was stopped.
fn in_parallel<T: Send>(
    candidates: &[Small],
    together: Option<PeerLevel<'_>>,
    context: &Context,
    examine: impl Fn(&mut Scratch, &Small) -> Option<T> + Sync,
) -> Result<Option<Vec<CandidateResult<T>>>> {
    context.progress.begin(candidates.len() as u64);
    // Those of one parent follow each other, and are alike.
    let spread = together.is_none().then(|| Spread::of(candidates.len()));
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let failed: Mutex<Option<Error>> = Mutex::default();
    let take = || -> Option<Range<usize>> {
        let range = match together {
            None => {
                let at = next.fetch_add(1, Ordering::Relaxed);
                Ok(at..(at + 1).min(candidates.len()).max(at))
            }
            Some((together, level)) => together.next(level, candidates.len()),
        };
        match range {
            Ok(range) => Some(range).filter(|range| !range.is_empty()),
            Err(error) => {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                None
            }
        }
    };
    let one = || {
        let mut scratch = Scratch::default();
        let mut found = vec![];
        while let Some(range) = take() {
            for at in range {
                // A range of others has no more than there are.
                let at =
                    spread.filter(|_| at < candidates.len()).map_or(at, |spread| spread.at(at));
                let Some(code) = candidates.get(at) else { break };
                let result = examine(&mut scratch, code);
                if context.cancel.is_cancelled() {
                    stopped.store(true, Ordering::Relaxed);
                    return found;
                }
                found.extend(result.map(|r| (at, r)));
                context.progress.add(1);
            }
        }
        found
    };
    let threads = context.threads().min(candidates.len()).max(1);
    let mut all: Vec<CandidateResult<T>> =
        on_threads(threads, |_| one()).into_iter().flatten().collect();
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    all.sort_by_key(|&(at, _)| at);
    Ok((!stopped.into_inner()).then_some(all))
}
