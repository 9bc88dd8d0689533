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
//! Memory: a copy of the graph, and for each frequent pattern of two levels a bit for each vertex
//! of the class of each of its vertices.

mod classes;
mod confirm;
mod domain;
mod level;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use gramer_graph::View;
use gramer_graph::context::Context;
use gramer_pattern::task::SizeLimit;

use super::code::Small;
use super::labels::Labels;
use classes::Classes;
use confirm::{Scratch, examine};
use domain::Domain;
use level::{Frequent, extend, inherit, single_edges};

/// The frequent patterns with their supports, by level, and whether the run went to its end; if
/// not, only whole levels are there.
pub(super) fn mine(
    graph: View<'_>,
    labels: &Labels,
    limit: SizeLimit,
    support: u64,
    context: &Context,
) -> (Vec<(Small, u128)>, bool) {
    let (max_vertices, max_edges) = match limit {
        SizeLimit::MaxVertices(n) => (n, n * (n - 1) / 2),
        SizeLimit::MaxEdges(n) => (n + 1, n),
    };
    let stopped = (vec![], false);
    let Ok(rows) = Classes::new(graph, labels, &context.cancel) else { return stopped };
    let wanted = usize::try_from(support).unwrap_or(usize::MAX);
    let Ok((mut level, kinds)) = single_edges(&rows, labels.classes(), wanted, &context.cancel)
    else {
        return stopped;
    };
    let mut found: Vec<(Small, u128)> =
        level.iter().map(|f| (f.code, smallest(&f.domains) as u128)).collect();
    for _ in 2..=max_edges {
        let known: FxHashMap<Small, usize> =
            level.iter().enumerate().map(|(i, f)| (f.code, i)).collect();
        let candidates = extend(&level, &kinds, max_vertices);
        let examine = |scratch: &mut Scratch, code: &Small| {
            let mut domains = inherit(code, &level, &known, wanted)?;
            let support = examine(&rows, code, &mut domains, wanted, context, scratch)?;
            let domains = domains.into_iter().map(Arc::new).collect();
            Some((Frequent { code: *code, domains }, support as u128))
        };
        let Some(next) = in_parallel(&candidates, context, examine) else {
            return (found, false);
        };
        if next.is_empty() {
            break;
        }
        found.extend(next.iter().map(|(f, support)| (f.code, *support)));
        level = next.into_iter().map(|(f, _)| f).collect();
    }
    (found, true)
}

fn smallest(domains: &[Arc<Domain>]) -> usize {
    domains.iter().map(|d| d.size).min().unwrap_or(0)
}

/// Runs `examine` on every candidate and returns what it found, in the candidates' order, or
/// `None` if the run was stopped.
fn in_parallel<T: Send>(
    candidates: &[Small],
    context: &Context,
    examine: impl Fn(&mut Scratch, &Small) -> Option<T> + Sync,
) -> Option<Vec<T>> {
    context.progress.begin(candidates.len() as u64);
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let one = || {
        let mut scratch = Scratch::default();
        let mut found = vec![];
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(code) = candidates.get(at) else { break };
            let result = examine(&mut scratch, code);
            if context.cancel.is_cancelled() {
                stopped.store(true, Ordering::Relaxed);
                break;
            }
            found.extend(result.map(|r| (at, r)));
            context.progress.add(1);
        }
        found
    };
    let threads = context.threads().min(candidates.len()).max(1);
    let mut all: Vec<(usize, T)> = if threads == 1 {
        one()
    } else {
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
            handles
                .into_iter()
                .flat_map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    };
    all.sort_by_key(|&(at, _)| at);
    (!stopped.into_inner()).then(|| all.into_iter().map(|(_, r)| r).collect())
}
