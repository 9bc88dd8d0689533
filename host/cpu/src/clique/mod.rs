//! Cliques of k vertices, or of all sizes in a range.
//!
//! Edges are oriented by degeneracy, so a vertex has few targets even where it has many
//! neighbours. The edges among the targets of a start vertex become a matrix of bits
//! ([`local`]), in which the cliques are either enumerated up to the last levels ([`enumerate`])
//! or counted from a tree of pivots ([`pivot`]). Which of both is faster depends on the graph and
//! on k: a sample of start vertices says which.

pub(super) mod almost;
mod enumerate;
mod flat;
pub(super) mod local;
mod maximum;
pub(super) mod pivot;
pub(super) mod row;
#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use gramer_base::context::{Context, Plan};
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_engine::work::{Groups, WorkUnit};
use gramer_engine::{Count, Outcome, Sink, Subject};
use gramer_graph::VertexId;
use gramer_pattern::plan::homomorphism::Shape;
use gramer_pattern::{Pattern, SMALL_VERTICES};
use tracing::info;

use super::oriented::Oriented;
use super::{Job, Resident, StartVertices, homomorphism, run_units, triangle};
use enumerate::{Counter, Lister};
use local::Local;
use pivot::Leaves;
pub(super) use row::ones;

pub(super) fn run(graph: &Resident, k: usize, job: Job<'_>) -> Result<Outcome> {
    let (count, complete) = match job.sink {
        None => count(graph, k, job)?,
        Some(sink) => list(graph, k, sink, job)?,
    };
    let results = vec![Count { pattern: Pattern::clique(k), count }];
    Ok(Outcome { results, complete, ..Outcome::default() })
}

/// The cliques of `smallest` to `largest` vertices; sizes after the largest clique are left out.
pub(super) fn run_sizes(
    graph: &Resident,
    smallest: usize,
    largest: usize,
    job: Job<'_>,
) -> Result<Outcome> {
    let _plan = planned(graph, job.context, |shape| of_size(smallest.max(5), shape));
    let Some(oriented) = oriented(graph, job.context)? else { return Ok(Outcome::default()) };
    // No clique is larger than a start vertex and its targets.
    let sizes = smallest..largest.min(oriented.degeneracy() + 1).max(smallest) + 1;
    // The numbers of shares and of other processes must add up.
    let saturate = job.units.share().is_none() && job.others.is_none();
    let (mut counts, complete) = match job.sink {
        None => by_size(graph, oriented, sizes, saturate, job)?,
        Some(sink) => {
            let (mut counts, mut complete) = (vec![], true);
            for k in sizes {
                let count;
                (count, complete) = if complete { list(graph, k, sink, job)? } else { (0, false) };
                counts.push(count);
            }
            (counts, complete)
        }
    };
    while counts.len() > 1 && counts.last() == Some(&0) {
        counts.pop();
    }
    let mut outcome = of_sizes(smallest, &counts, complete);
    let is_saturated = |&count: &u128| count == Outcome::SATURATED;
    let bounds = (counts.iter().position(is_saturated), counts.iter().rposition(is_saturated));
    if let (Some(first), Some(last)) = bounds {
        outcome.warnings.push(format!(
            "the numbers of cliques of {} to {} vertices need more than 128 bits: their counts are lower bounds",
            smallest + first,
            smallest + last
        ));
    }
    Ok(outcome)
}

/// The outcome with a count for each size from `smallest` on.
fn of_sizes(smallest: usize, counts: &[u128], complete: bool) -> Outcome {
    let mut outcome = Outcome { complete, ..Outcome::default() };
    for (size, &count) in (smallest..).zip(counts) {
        outcome.push(Subject::clique(size), count);
    }
    outcome
}

/// One of the largest cliques: its size, with a count of 1; the clique itself goes to the sink.
pub(super) fn run_maximum(graph: &Resident, job: Job<'_>) -> Result<Outcome> {
    let Some(oriented) = oriented(graph, job.context)? else { return Ok(Outcome::default()) };
    let (clique, complete) = maximum::largest(graph, oriented, job);
    if clique.is_empty() {
        return Ok(Outcome { complete, ..Outcome::default() });
    }
    if let Some(sink) = job.sink {
        let mut vertices: Vec<VertexId> =
            clique.iter().map(|&n| oriented.vertex[n as usize]).collect();
        vertices.sort_unstable();
        // It is the only one, so that there is nothing to end.
        let _ = sink.embedding(&Pattern::cliques()[clique.len().min(SMALL_VERTICES)], &vertices);
    }
    Ok(of_sizes(clique.len(), &[1], complete))
}

/// Announces two phases: the orientation, unless it exists, and a search of this many nanoseconds.
pub(super) fn planned<'a>(
    graph: &Resident,
    context: &'a Context,
    search: impl FnOnce(&Shape) -> f64,
) -> Option<Plan<'a>> {
    /// Nanoseconds in which an arc is oriented.
    const ORIENTED: f64 = 20.0;
    if graph.is_oriented() {
        return context.progress.plan(|| vec![1.0]);
    }
    context.progress.plan(|| {
        let shape = homomorphism::shape(graph.graph.view());
        vec![ORIENTED * shape.arcs, search(&shape)]
    })
}

/// Expected nanoseconds of counting cliques of `k` vertices in an oriented graph: rather too many, so that to orient
/// it seems too small a part.
pub(super) fn of_size(k: usize, shape: &Shape) -> f64 {
    3.0 * shape.cycle_steps * (shape.common / 4.0).max(1.0).powi(k as i32 - 4)
}

/// The oriented graph, or nothing if the run was cancelled.
fn oriented<'a>(graph: &'a Resident, context: &Context) -> Result<Option<&'a Oriented>> {
    match graph.oriented(context) {
        Ok(oriented) => Ok(Some(oriented)),
        Err(Error::Interrupted) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Start vertices with `k` - 1 targets or more, since fewer hold no clique; their targets are
/// divided.
fn units(graph: &Resident, oriented: &Oriented, k: usize, job: Job<'_>) -> Groups {
    let targets = |n| oriented.targets(n).len();
    let list = |n| if targets(n) + 1 < k { 0 } else { targets(n) };
    // The real cost lies between the square (building the matrix) and the power k - 1.
    let mut units =
        StartVertices::numbered(graph.graph.view(), &oriented.vertex)
            .units(job, list, |n| (list(n) as u64).pow(3));
    if job.context.progress.is_watched() {
        // A start vertex reads the rows of its targets, and goes through words of bits for the cliques of k - 2 of
        // them. Targets have smaller numbers: the fewer of these there are, the denser they are.
        let cliques = (1..=k - 2).fold(1.0 / 64.0, |all, n| all / n as f64);
        units.show(|unit| {
            let own = oriented.targets(unit.start);
            let many = own.len() as f64;
            let rows = own.iter().map(|&n| targets(n)).sum::<usize>() as f64;
            let density = many / f64::from(unit.start.max(1));
            let whole = rows + cliques * density * many.powi(k as i32 - 1);
            (whole * unit.range().len() as f64 / many) as u64
        });
    }
    units
}

/// Number of cliques of `k` vertices (k ≥ 3), and whether the run was finished.
///
/// # Errors
/// [`Error::Unsupported`] for a number of more than 128 bits.
pub(super) fn count(graph: &Resident, k: usize, job: Job<'_>) -> Result<(u128, bool)> {
    // Shares and processes divide start vertices; where memory is limited, rows are read in the order of the file.
    let whole = job.units.share().is_none() && job.others.is_none() && job.context.budget.is_none();
    if whole && graph.graph.view().is_flat() {
        return Ok(flat::count(graph.graph.view(), k, job.context));
    }
    if k == 3 {
        return Ok(triangle::count(&graph.graph, job));
    }
    let _plan = planned(graph, job.context, |shape| of_size(k, shape));
    let Some(oriented) = oriented(graph, job.context)? else { return Ok((0, false)) };
    if k == 4 || !pivots(graph, oriented, k, job.context) {
        return Ok(enumerated(graph, oriented, k, job));
    }
    let (counts, complete) = by_size(graph, oriented, k..k + 1, false, job)?;
    Ok((counts[0], complete))
}

/// Number of cliques of each size as [`Leaves::counts`] has them, and whether the run was finished.
///
/// # Errors
/// [`Error::Unsupported`] for a number of more than 128 bits.
fn by_size(
    graph: &Resident,
    oriented: &Oriented,
    sizes: Range<usize>,
    saturate: bool,
    job: Job<'_>,
) -> Result<(Vec<u128>, bool)> {
    let context = job.context;
    let units = units(graph, oriented, sizes.start, job);
    let none = Leaves::new(sizes.clone(), oriented.degeneracy());
    let ran = job.run(
        &units,
        || (Local::new(true), none.clone()),
        |(local, leaves), unit| {
            local.enter(oriented, unit.start);
            let whole = pivot::count(local, unit.range(), leaves, &context.cancel);
            match whole && !leaves.overflows() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        },
    );
    ran.sums(|states| {
        let mut states = states.into_iter().map(|(_, leaves)| leaves);
        let mut sum = states.next().expect("there is a thread");
        states.for_each(|leaves| sum.merge(&leaves));
        let mut counts = sum.counts(saturate)?;
        // Sizes beyond the degeneracy have no cliques.
        counts.resize(sizes.len(), 0);
        Ok(counts)
    })
}

fn enumerated(graph: &Resident, oriented: &Oriented, k: usize, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let units = units(graph, oriented, k, job);
    let ran = job.run(
        &units,
        || (Local::new(false), Counter::default()),
        |(local, counter), unit| {
            local.enter(oriented, unit.start);
            match counter.count(local, unit.range(), k, &context.cancel) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        },
    );
    ran.sum(|(_, counter)| counter.cliques)
}

/// As [`pivoting_is_faster`], from one sample of the graph for all runs.
fn pivots(graph: &Resident, oriented: &Oriented, k: usize, context: &Context) -> bool {
    let Some(known) = graph.pivots.get(k) else {
        return pivoting_is_faster(oriented, k, context);
    };
    if let Some(&is) = known.get() {
        return is;
    }
    let is = pivoting_is_faster(oriented, k, context);
    let way = if is { "tree of pivots" } else { "enumeration" };
    info!(k, way, "cliques are counted by what took less work on a sample of vertices");
    // A sample that was stopped says nothing.
    if !context.cancel.is_cancelled() {
        let _ = known.set(is);
    }
    is
}

/// Whether a tree of pivots counts the cliques of `k` vertices with less work than enumeration,
/// by a sample of the start vertices. The answer doesn't depend on the number of threads.
fn pivoting_is_faster(oriented: &Oriented, k: usize, context: &Context) -> bool {
    /// A member that is looked at costs more where a pivot is chosen.
    const DEARER: u64 = 2;
    let sample = sample(oriented, k);
    let threads = context.threads().min(sample.len());
    let next = AtomicUsize::new(0);
    let by_pivots = on_threads(threads, |_| {
        let mut leaves = Leaves::new(k..k + 1, oriented.degeneracy());
        let mut local = Local::new(true);
        while let Some(unit) = sample.get(next.fetch_add(1, Relaxed)) {
            local.enter(oriented, unit.start);
            pivot::count(&local, unit.range(), &mut leaves, &context.cancel);
        }
        leaves.work
    });
    let most = DEARER * by_pivots.iter().sum::<u64>();
    // Of all threads, so that none goes on when all together have seen enough.
    let (work, next) = (AtomicU64::new(0), AtomicUsize::new(0));
    on_threads(threads, |_| {
        let mut counter = Counter { most: Some((&work, most)), ..Counter::default() };
        let mut local = Local::new(false);
        while let Some(unit) = sample.get(next.fetch_add(1, Relaxed)) {
            local.enter(oriented, unit.start);
            if !counter.count(&local, unit.range(), k, &context.cancel) {
                break;
            }
        }
    });
    work.into_inner() > most
}

/// Some start vertices of cliques of `k` vertices, evenly by their estimated work, with an eighth of the targets of each:
/// what a tree or an enumeration begins with, in all of them together every eighth as often. (A whole start vertex
/// of a dense graph takes milliseconds, and other threads wait for the answer.)
fn sample(oriented: &Oriented, k: usize) -> Vec<WorkUnit> {
    /// Sampling rate of start vertices: one in this many.
    const OF: usize = 64;
    const MOST: usize = 32;
    const PARTS: usize = 8;
    let mut roots: Vec<(u32, usize, u64)> = (0..oriented.vertices() as u32)
        .map(|n| (n, oriented.targets(n).len()))
        .filter(|&(_, targets)| targets + 1 >= k)
        .map(|(n, targets)| (n, targets, (targets as u64).pow(3)))
        .collect();
    let size = (roots.len() / OF).clamp(1, MOST) as u64;
    let total = roots.iter().map(|(.., weight)| weight).sum::<u64>();
    // Evenly by weight: what takes long is more likely to be asked.
    let (mut sum, mut next) = (0, 0);
    roots.retain(|(.., weight)| {
        sum += weight;
        let chosen = next < size && sum > total * (2 * next + 1) / (2 * size);
        if chosen {
            next += 1;
        }
        chosen
    });
    // Few start vertices are gone through whole.
    let parts = if roots.len() < PARTS { 1 } else { PARTS };
    let part = |(at, &(start, targets, _)): (usize, &(u32, usize, u64))| {
        let border = |part: usize| (targets * part / parts) as u32;
        WorkUnit { start, first: border(at % parts), limit: border(at % parts + 1) }
    };
    roots.iter().enumerate().map(part).collect()
}

fn list(graph: &Resident, k: usize, sink: &dyn Sink, job: Job<'_>) -> Result<(u128, bool)> {
    let context = job.context;
    let Some(oriented) = oriented(graph, context)? else { return Ok((0, false)) };
    let units = units(graph, oriented, k, job);
    let pattern = &Pattern::cliques()[k.min(SMALL_VERTICES)];
    let (states, complete) = run_units(
        &units,
        context,
        || (0u128, Lister::new(oriented), vec![]),
        |(total, lister, sorted), unit| {
            lister.list(unit.start, unit.range(), k, &mut |clique| {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                *total += 1;
                sorted.clear();
                sorted.extend_from_slice(clique);
                sorted.sort_unstable();
                sink.embedding(pattern, sorted)
            })
        },
    );
    Ok((states.iter().map(|s| s.0).sum(), complete))
}
