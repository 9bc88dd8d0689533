//! Frequent patterns by the number of their vertex-induced embeddings.
//!
//! The rule (and why every engine needs one: embedding counts are not anti-monotone): a pattern is
//! reported if its embeddings in the whole graph number at least S and every connected induced
//! sub-pattern with one vertex fewer, of 2 or more vertices, is reported.
//!
//! Any connected induced sub-pattern of a pattern is reached by taking away one vertex at a time
//! without ever disconnecting it. So all of those of a reported pattern are reported, and an
//! enumeration that leaves a branch as soon as the vertices chosen so far don't form a reported
//! pattern still reaches every relevant embedding, in any order of vertices.
//!
//! Sizes 2 and 3 are counted in closed form. Larger ones are enumerated as ESU does (Wernicke,
//! *Efficient detection of network motifs*, 2006): from the smallest vertex on, a vertex may be
//! added only if it is a neighbour of the last one and of no earlier one, or was already waiting;
//! that reaches each connected set of vertices once. The last two vertices are not enumerated as
//! pairs: see [`Walker::pairs`](walker::Walker).
//!
//! Memory: the graph's part with frequent edges, the patterns of one size, and for each thread
//! a [`Trie`] and 12 bytes per vertex, or for what a start vertex reaches.

mod visit;
mod walker;

use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::reach::{Dense, Form, by_form};
use crate::{Job, StartVertices, run_units};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::Sink;
use gramer_engine::work::{Groups, Units};
use gramer_graph::{VertexId, View};

use super::code::Small;
use super::labels::Labels;
use super::rows::{EdgeKinds, Rows};
use super::tally::Tally;
use super::trie::{CodeSets, Trie};
use super::triples;
use visit::{CountVisitor, ListVisitor, Triples};
use walker::Walker;

/// The reported patterns of 2 to `max` vertices with their counts, and whether the run went to
/// its end; if not, only sizes that were counted whole are there. Of a share, all patterns that occur:
/// which of them are frequent is known when the shares are together.
///
/// # Errors
/// As [`Rows::new`].
pub(super) fn mine(
    graph: View<'_>,
    labels: &Labels,
    max: usize,
    support: u64,
    job: Job<'_>,
) -> Result<(Vec<(Small, u128)>, bool)> {
    let context = job.context;
    let share = job.units.share().is_some();
    let _plan = context.progress.plan(|| parts(graph, max, share));
    let kinds = EdgeKinds::new(labels);
    let (edges, whole) = count_edges(graph, labels, &kinds, Job { units: Units::All, ..job });
    if !whole {
        return Ok((vec![], false));
    }
    let support = if share { 1 } else { support };
    let rows = match Rows::new(graph, labels, &kinds, &edges, support, max, &context.cancel) {
        Ok(rows) => rows,
        Err(Error::Interrupted) => return Ok((vec![], false)),
        Err(other) => return Err(other),
    };
    let mut allowed: CodeSets = vec![FxHashSet::default(); 2];
    let mut found = vec![];
    for size in 2..=max {
        let (counts, whole) = match size {
            2 if share => {
                let (own, whole) = count_edges(graph, labels, &kinds, job);
                (edge_patterns(&kinds, &own), whole)
            }
            2 => (edge_patterns(&kinds, &edges), true),
            3 if !share => triples::count(graph, &rows, labels.classes(), context),
            _ => count_embeddings(graph, &rows, labels.classes(), &allowed, size, job),
        };
        if !whole {
            return Ok((found, false));
        }
        let frequent: Vec<(Small, u128)> = counts
            .into_iter()
            .filter(|&(_, count)| count >= i128::from(support))
            .map(|(code, count)| (code, count as u128))
            .collect();
        if frequent.is_empty() && !share {
            break;
        }
        // An embedding of a share grows from those of its own units, but for its first edge, which is
        // counted with the smaller of its ends.
        allowed.push(match (share, size) {
            (true, 2) => edge_patterns(&kinds, &edges).into_keys().collect(),
            _ => frequent.iter().map(|&(code, _)| code).collect(),
        });
        found.extend(frequent);
    }
    Ok((found, true))
}

/// Expected parts of the time of counting the edges and of each size up to `max`.
fn parts(graph: View<'_>, max: usize, share: bool) -> Vec<f64> {
    let arcs = graph.neighbours.len() as f64;
    let walks = (0..graph.vertices() as VertexId).map(|v| (graph.degree(v) as f64).powi(2));
    let walks = walks.sum::<f64>();
    // Paths are looked at in groups, larger sets one by one, each with the next step of a walk.
    let reach = walks / arcs.max(1.0);
    let edges = [arcs].into_iter().cycle().take(1 + usize::from(share));
    edges.chain((3..=max as i32).map(|size| 2.0 * walks * reach.powi(size - 3))).collect()
}

/// Counts the edges of each kind.
fn count_edges(graph: View<'_>, labels: &Labels, kinds: &EdgeKinds, job: Job<'_>) -> (Tally, bool) {
    let degree = |v: VertexId| graph.degree(v);
    let units = StartVertices::vertices(graph).units(job, degree, |v| graph.degree(v) as u64);
    let make = || Tally::new(kinds.bits());
    let (tallies, whole) = run_units(&units, job.context, make, |tally, unit| {
        let v = unit.start;
        let class = labels.class(graph, v);
        let row = graph.row(v);
        for at in row.start + unit.first as usize..row.start + unit.limit as usize {
            let u = graph.neighbours[at];
            if u > v {
                let label = labels.entry(graph, at);
                tally.add(kinds.key(class, labels.class(graph, u), label), 1);
            }
        }
        ControlFlow::Continue(())
    });
    (Tally::sum(kinds.bits(), tallies), whole)
}

fn edge_patterns(kinds: &EdgeKinds, edges: &Tally) -> FxHashMap<Small, i128> {
    edges
        .iter()
        .map(|(key, count)| {
            let (a, b, label) = kinds.of_key(key);
            let mut p = Small::EMPTY;
            p.push(a);
            p.push(b);
            p.set_edge(0, 1, label);
            (p.canonical().code, count)
        })
        .collect()
}

/// One work unit a start vertex and a range of its later neighbours.
fn units(graph: View<'_>, rows: &Rows, job: Job<'_>) -> Groups {
    StartVertices::numbered(graph, rows.originals()).units(
        job,
        |v| rows.after(v, v).0.len(),
        |v| {
            let near = rows.after(v, v).0;
            let reach: u64 = near.iter().map(|&u| rows.after(u, v).0.len() as u64).sum();
            (near.len() as u64 + 1) * (near.len() as u64 + 1) + reach
        },
    )
}

/// The embeddings of every pattern of `size` vertices, 3 or more, whose sub-patterns are allowed.
fn count_embeddings(
    graph: View<'_>,
    rows: &Rows,
    classes: usize,
    allowed: &CodeSets,
    size: usize,
    job: Job<'_>,
) -> (FxHashMap<Small, i128>, bool) {
    let count = (graph, rows, classes, allowed, size, job);
    by_form!(rows.vertices(), Walker::<Dense>::BYTES, F => count_by::<F>(count))
}

fn count_by<F: Form>(
    (graph, rows, classes, allowed, size, job): (View<'_>, &Rows, usize, &CodeSets, usize, Job<'_>),
) -> (FxHashMap<Small, i128>, bool) {
    let context = job.context;
    let make = || {
        let trie = Trie::new(rows, classes, allowed, size);
        let trie = if job.units.share().is_some() { trie.of_prefixes() } else { trie };
        Walker::<F>::new(rows, trie, context)
    };
    let units = units(graph, rows, job);
    let (walkers, whole) = run_units(&units, context, make, |walker, unit| match size {
        // There is no vertex before the last two that a unit doesn't fix.
        3 => walker.unit(&mut Triples, unit.start, unit.range()),
        _ => walker.unit(&mut CountVisitor { last: size - 2 }, unit.start, unit.range()),
    });
    let mut counts: FxHashMap<Small, i128> = FxHashMap::default();
    for walker in walkers {
        let codes = walker.trie.into_codes();
        for (code, count) in codes.into_iter().zip(walker.counts) {
            *counts.entry(code).or_default() += count;
        }
    }
    (counts, whole)
}

/// Hands every embedding of the patterns `codes`, which must be all that [`mine`] reported, to
/// the sink. Returns whether it took all of them.
///
/// # Errors
/// As [`mine`].
pub(super) fn list(
    graph: View<'_>,
    labels: &Labels,
    codes: &[(Small, u128)],
    sink: &dyn Sink,
    context: &Context,
) -> Result<bool> {
    let Some(max) = codes.iter().map(|(code, _)| code.n()).max() else { return Ok(true) };
    let kinds = EdgeKinds::new(labels);
    let mut edges = Tally::new(kinds.bits());
    let mut allowed: CodeSets = vec![FxHashSet::default(); max + 1];
    let mut aligned = FxHashMap::default();
    for &(code, count) in codes {
        allowed[code.n()].insert(code);
        if code.n() == 2 {
            edges.add(kinds.key(code.class(0), code.class(1), code.edge(0, 1)), count as i128);
        }
        aligned.insert(code, code.to_pattern(labels, graph).canonical());
    }
    let rows = match Rows::new(graph, labels, &kinds, &edges, 1, max, &context.cancel) {
        Ok(rows) => rows,
        Err(Error::Interrupted) => return Ok(false),
        Err(other) => return Err(other),
    };
    // Deeper than any pattern, so that every pattern has a node.
    let trie = || Trie::new(&rows, labels.classes(), &allowed, max + 1);
    let all = Job { units: Units::All, sink: Some(sink), context, others: None };
    let units = units(graph, &rows, all);
    let whole = by_form!(rows.vertices(), Walker::<Dense>::BYTES, F => {
        let make = || Walker::<F>::new(&rows, trie(), context);
        let (_, whole) = run_units(&units, context, make, |walker, unit| {
            let mut visit = ListVisitor { max, sink, aligned: &aligned };
            walker.unit(&mut visit, unit.start, unit.range())
        });
        whole
    });
    Ok(whole)
}
