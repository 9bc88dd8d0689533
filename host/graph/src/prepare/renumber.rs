//! Renumbering by Rank(ON_1).

use std::slice::IterMut;
use std::sync::Mutex;

use tracing::info_span;

use super::{each_thread, fill, on_k};
use crate::budget::{ArrayFile, Budget};
use crate::context::{Context, Looks};
use crate::error::Result;
use crate::pages::in_large_pages;
use crate::parallel::in_buckets;
use crate::storage::Storage;
use crate::{Graph, Label, Order, Parts, VertexId, View};

/// Vertices that a thread takes at a time where each costs the same.
const CHUNK: usize = 4096;
/// Vertices whose keys are dealt out between looks at the stop flag.
const SORT_CHUNK: usize = 1 << 16;
/// Rows whose write positions stay in a core's cache while rows are filled.
const ROWS_IN_CACHE: usize = 1 << 14;
/// Most groups of rows: as many streams as a core writes well at a time.
const MOST_GROUPS: usize = 1 << 9;

/// The same graph with the vertices numbered by Rank(ON_1): vertex 0 has the largest ON_1, ties
/// go by the old number. Labels and original ids move with their vertices, rows stay sorted. A
/// graph that is in this order already comes back as it is.
///
/// Costs a scan of the edge array for ON_1 and one to fill the new rows, a sort of the vertices,
/// and 8 bytes per edge entry of temporary memory (12 with edge labels). With a budget the new rows
/// lie in files instead, and each is sorted. The result does not depend on the number of threads.
///
/// # Errors
/// [`crate::Error::Interrupted`] if the run was asked to stop; [`crate::Error::Io`] where a file can't
/// be written.
pub fn renumber(graph: &Graph, context: &Context) -> Result<Graph> {
    if graph.order() == Order::RankOn1 {
        return Ok(graph.clone());
    }
    let _span = info_span!("rank", vertices = graph.vertices()).entered();
    let view = graph.view();
    let on_1 = on_k(view, 1, context)?;
    let order = by_occurrence(&on_1, context)?;
    drop(on_1);

    let mut looks = Looks::new(&context.cancel);
    let mut ranks = vec![0 as VertexId; order.len()];
    for (rank, &old) in order.iter().enumerate() {
        looks.check(1)?;
        ranks[old as usize] = rank as VertexId;
    }
    let mut offsets = Vec::with_capacity(order.len() + 1);
    let mut end = 0u64;
    offsets.push(end);
    for &old in &order {
        looks.check(1)?;
        end += view.degree(old) as u64;
        offsets.push(end);
    }

    let moved = Moved { view, order: &order, ranks: &ranks, offsets: &offsets, context };
    let (neighbours, edge_labels): (Storage<VertexId>, Option<Storage<Label>>) =
        match (&context.budget, view.edge_labels) {
            (Some(budget), labels) => moved.rows_in_file(labels, budget)?,
            (None, None) => (moved.rows(|source, _| source)?.into(), None),
            (None, Some(labels)) => {
                let both = moved.rows(|source, entry| (source, labels[entry]))?;
                let vertices: Vec<_> = both.iter().map(|b| b.0).collect();
                (vertices.into(), Some(both.iter().map(|b| b.1).collect::<Vec<_>>().into()))
            }
        };
    let vertex_labels =
        view.vertex_labels.map(|l| moved.gather(|old| l[old as usize])).transpose()?;
    let original_ids = moved.gather(|old| graph.original_id(old))?;
    Ok(Graph::from_parts(Parts {
        offsets: offsets.into(),
        neighbours,
        vertex_labels: vertex_labels.map(Into::into),
        edge_labels,
        original_ids: original_ids.into(),
        order: Order::RankOn1,
        stats: graph.stats(),
    })
    .made_of(graph))
}

/// The vertices by falling occurrence number, ties by number: element r has rank r.
///
/// # Errors
/// [`crate::Error::Interrupted`] if the run was asked to stop.
pub fn by_occurrence(on: &[u128], context: &Context) -> Result<Vec<VertexId>> {
    // ON_1 is below 2^96, which leaves room for the number in the same word.
    if on.iter().all(|&on| on >> 96 == 0) {
        sorted(on.len(), context, |v| !on[v] << 32 | v as u128, |key| key as VertexId)
    } else {
        sorted(on.len(), context, |v| (!on[v], v as VertexId), |key| key.1)
    }
}

/// The vertices in the order of their keys.
fn sorted<K: Ord + Copy + Send + Sync>(
    vertices: usize,
    context: &Context,
    key: impl Fn(usize) -> K + Sync,
    vertex: impl Fn(K) -> VertexId,
) -> Result<Vec<VertexId>> {
    let sample = (0..vertices).step_by((vertices >> 14).max(1)).map(&key).collect();
    let chunk = |i: usize| i * SORT_CHUNK..((i + 1) * SORT_CHUNK).min(vertices);
    let emit = |source: usize, take: &mut dyn FnMut(K)| chunk(source).map(&key).for_each(take);
    let sources = vertices.div_ceil(SORT_CHUNK);
    let (threads, cancel) = (context.threads(), &context.cancel);
    let mut order = Vec::with_capacity(vertices);
    for bucket in in_buckets(vertices, sources, threads, cancel, sample, emit)? {
        context.cancel.check()?;
        order.extend(bucket.into_iter().map(&vertex));
    }
    Ok(order)
}

/// A graph on its way to its new numbers.
struct Moved<'a> {
    view: View<'a>,
    /// Old number by new number.
    order: &'a [VertexId],
    /// New number by old number.
    ranks: &'a [VertexId],
    /// V + 1 positions of the new rows.
    offsets: &'a [u64],
    context: &'a Context,
}

impl Moved<'_> {
    /// One value a vertex, by new number.
    fn gather<T: Copy + Default + Send>(
        &self,
        of_old: impl Fn(VertexId) -> T + Sync,
    ) -> Result<Vec<T>> {
        let mut values = vec![T::default(); self.order.len()];
        fill(&mut values, CHUNK, self.context, || (), |(), new| of_old(self.order[new]))?;
        Ok(values)
    }

    /// The new rows, with `entry(source, position)` for the edge from the vertex with the new
    /// number `source` that was at `position` in the old array.
    ///
    /// Nothing is sorted: the graph is its own transpose, so that scanning the sources by new
    /// number and appending each to the rows of its neighbours fills every row in order. To do
    /// that in parallel and without a cache miss an entry, the entries are first dealt out to
    /// groups of rows, then each group's rows are filled. Row r is in group r modulo the number
    /// of groups, which spreads the long rows (they come first) over all groups.
    fn rows<T: Copy + Default + Send + Sync>(
        &self,
        entry: impl Fn(VertexId, usize) -> T + Sync,
    ) -> Result<Vec<T>> {
        let entries = self.view.neighbours.len();
        let mut filled = in_large_pages(vec![T::default(); entries]);
        let threads = self.context.threads();
        let groups = (self.order.len() / ROWS_IN_CACHE)
            .max(if threads == 1 { 1 } else { 8 * threads })
            .min(MOST_GROUPS)
            .next_power_of_two();
        let mut rows: Vec<Vec<IterMut<T>>> = (0..groups).map(|_| Vec::new()).collect();
        let mut rest = filled.as_mut_slice();
        let mut looks = Looks::new(&self.context.cancel);
        for (row, span) in self.offsets.windows(2).enumerate() {
            looks.check(1)?;
            let (row_entries, tail) = rest.split_at_mut((span[1] - span[0]) as usize);
            rows[row % groups].push(row_entries.iter_mut());
            rest = tail;
        }
        if groups == 1 {
            self.scan(0..self.order.len(), |row, source, at| {
                append(&mut rows[0][row as usize], entry(source, at));
            });
        } else {
            let mask = groups as VertexId - 1;
            let shift = groups.trailing_zeros();
            let parts = self.parts(if threads == 1 { 1 } else { 4 * threads });
            let mut dealt: Vec<Vec<Vec<(VertexId, T)>>> = parts.iter().map(|_| vec![]).collect();
            fill(
                &mut dealt,
                1,
                self.context,
                || (),
                |(), part| {
                    let sources = parts[part].clone();
                    let span = self.offsets[sources.end] - self.offsets[sources.start];
                    // A little over the mean, since the groups are alike.
                    let room = span as usize / groups * 9 / 8 + 16;
                    let list = |_| in_large_pages(Vec::with_capacity(room));
                    let mut dealt: Vec<_> = (0..groups).map(list).collect();
                    self.scan(sources, |row, source, at| {
                        dealt[(row & mask) as usize].push((row >> shift, entry(source, at)));
                    });
                    dealt
                },
            )?;
            let groups = Mutex::new(rows.iter_mut().enumerate());
            each_thread(threads, || {
                while !self.context.cancel.is_cancelled() {
                    let taken = groups.lock().expect("no thread panics with the lock").next();
                    let Some((group, rows)) = taken else { break };
                    for part in &dealt {
                        for &(row, value) in &part[group] {
                            append(&mut rows[row as usize], value);
                        }
                    }
                }
            });
        }
        drop(rows);
        self.context.cancel.check()?;
        Ok(filled)
    }

    /// The new rows and their labels in files: one old row after the other, in the new order.
    fn rows_in_file(
        &self,
        labels: Option<&[Label]>,
        budget: &Budget,
    ) -> Result<(Storage<VertexId>, Option<Storage<Label>>)> {
        let mut looks = Looks::new(&self.context.cancel);
        let mut neighbours = ArrayFile::create(&budget.folder)?;
        let mut beside = labels.map(|_| ArrayFile::create(&budget.folder)).transpose()?;
        let (mut row, mut row_labels): (Vec<u64>, Vec<Label>) = (vec![], vec![]);
        let mut row_neighbours: Vec<VertexId> = vec![];
        for &old in self.order {
            let range = self.view.row(old);
            looks.check(range.len() + 1)?;
            let rank = |&v: &VertexId| u64::from(self.ranks[v as usize]) << 32;
            row.clear();
            row.extend(self.view.neighbours[range.clone()].iter().map(rank));
            if let Some(labels) = labels {
                row.iter_mut().zip(&labels[range]).for_each(|(e, &label)| *e |= u64::from(label));
            }
            row.sort_unstable();
            row_neighbours.clear();
            row_neighbours.extend(row.iter().map(|e| (e >> 32) as VertexId));
            neighbours.append(&row_neighbours)?;
            if let Some(beside) = &mut beside {
                row_labels.clear();
                row_labels.extend(row.iter().map(|&e| e as Label));
                beside.append(&row_labels)?;
            }
        }
        Ok((neighbours.finish()?, beside.map(ArrayFile::finish).transpose()?))
    }

    /// Calls `each(row, source, position)` for the edges from a range of sources (new numbers),
    /// in order. Stops early once the run was asked to stop.
    fn scan(
        &self,
        sources: std::ops::Range<usize>,
        mut each: impl FnMut(VertexId, VertexId, usize),
    ) {
        let mut looks = Looks::new(&self.context.cancel);
        for source in sources {
            let range = self.view.row(self.order[source]);
            if looks.check(range.len() + 1).is_err() {
                return;
            }
            for (at, &old) in range.clone().zip(&self.view.neighbours[range]) {
                each(self.ranks[old as usize], source as VertexId, at);
            }
        }
    }

    /// The sources in about `parts` ranges with about as many edges each.
    fn parts(&self, parts: usize) -> Vec<std::ops::Range<usize>> {
        let share = (self.view.neighbours.len() / parts).max(1) as u64;
        let vertices = self.order.len();
        let mut ranges = vec![];
        let mut start = 0;
        while start < vertices {
            let goal = self.offsets[start] + share;
            // At least one source, and no fewer entries than the share unless they are the last.
            let more = self.offsets[start + 1..].partition_point(|&end| end < goal);
            let end = (start + 1 + more).min(vertices);
            ranges.push(start..end);
            start = end;
        }
        ranges
    }
}

/// Writes the next entry of a row.
#[inline]
fn append<T>(row: &mut IterMut<T>, value: T) {
    *row.next().expect("the graph is symmetric: a row takes as many entries as it gives") = value;
}
