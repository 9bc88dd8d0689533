//! Half rows: each edge at its smaller end.

use tracing::debug_span;

use super::EdgeBlock;
use super::ahead::{AHEAD, PrefetchWriter};
use super::entry::Entry;
use super::position::Position;
use crate::{Label, VertexId};
use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_base::memory::zeroed;

/// Half rows in the order of the text, duplicates included.
pub(super) struct HalfRowBuilder<E, P> {
    /// V + 1 positions, and how many entries there are.
    pub start: Vec<P>,
    /// End of each row.
    pub ends: Vec<P>,
    pub entries: Vec<E>,
    pub self_loops: u64,
}

/// Half rows without duplicates, one after the other.
pub(super) struct HalfRows<P> {
    /// V + 1 positions.
    pub start: Vec<P>,
    pub entries: Vec<VertexId>,
}

impl<P: Position> HalfRows<P> {
    pub fn vertices(&self) -> usize {
        self.start.len() - 1
    }

    pub fn row(&self, v: usize) -> &[VertexId] {
        &self.entries[self.start[v].at()..self.start[v + 1].at()]
    }
}

/// Half rows of edges that ascend by smaller, then larger end: each edge's larger end, in the order of the edges. `None` for
/// other edges. Marks vertices with loops in `used`, if given.
pub(super) fn of_sorted<P: Position>(
    vertices: usize,
    blocks: &[EdgeBlock],
    used: &mut [u8],
) -> Result<Option<HalfRows<P>>> {
    let edges = || blocks.iter().flat_map(EdgeBlock::narrow);
    if !edges().is_sorted_by(|a, b| sort_key(a) < sort_key(b)) {
        return Ok(None);
    }
    // Lengths of rows are irregular, and branches on them would be mispredicted. So each edge writes the end of its row,
    // and the next edge overwrites the entry of a loop.
    let mut start: Vec<P> = zeroed(vertices + 1)?;
    let mut entries: Vec<VertexId> = zeroed(blocks.iter().map(EdgeBlock::len).sum())?;
    let mut end = 0;
    for &[u, v] in edges() {
        entries[end] = u.max(v);
        end += usize::from(u != v);
        start[u.min(v) as usize + 1] = P::of(end as u64);
    }
    if end < entries.len() {
        entries.truncate(end);
        for &[u, _] in edges().filter(|[u, v]| u == v) {
            if let Some(used) = used.get_mut(u as usize) {
                *used = 1;
            }
        }
    }
    // Vertices without entries.
    let mut end = 0;
    for position in &mut start {
        end = position.at().max(end);
        *position = P::of(end as u64);
    }
    Ok(Some(HalfRows { start, entries }))
}

/// Smaller and larger end of an edge, in one number.
fn sort_key(&[u, v]: &[VertexId; 2]) -> u64 {
    u64::from(u.min(v)) << 32 | u64::from(u.max(v))
}

/// A range of half rows in the hands of a thread.
pub(super) struct Part<'a, E, P> {
    /// The first of them.
    pub first: usize,
    /// Their entries, the first of which has this position.
    pub entries: &'a mut [E],
    pub base: usize,
    /// End of each row.
    pub ends: &'a mut [P],
}

impl<E: Entry, P: Position> HalfRowBuilder<E, P> {
    /// Builds the halves of edges with numbered vertices. Each thread owns a range of vertices and selects its entries
    /// from all edges: reading an edge is sequential and far cheaper than placing it. Marks vertices with loops in
    /// `used`, if given.
    pub fn of(
        vertices: usize,
        blocks: &[EdgeBlock],
        used: &mut [u8],
        threads: usize,
        cancel: &Cancel,
        entry: impl Fn(VertexId, Label) -> E + Sync,
    ) -> Result<Self> {
        let start: Vec<P> =
            debug_span!("count").in_scope(|| counted(vertices, blocks, used, threads, cancel))?;
        let length = start[vertices].at();
        let raw_edges = blocks.iter().map(EdgeBlock::len).sum::<usize>();
        let entries: Vec<E> = zeroed(length)?;
        // Where the next entry goes.
        let mut ends: Vec<P> = zeroed(vertices)?;
        ends.copy_from_slice(&start[..vertices]);
        let self_loops = (raw_edges - length) as u64;
        let mut placed = HalfRowBuilder { start, ends, entries, self_loops };
        let _span = debug_span!("place").entered();
        placed.each_part(threads, |Part { first, entries, base, ends }, _| {
            let mut waiting = [(0, E::zeroed()); AHEAD];
            let mut ahead = PrefetchWriter::<E>::new(&mut waiting);
            let mut place = |u: VertexId, v: VertexId, label: Label| {
                let (low, high) = (u.min(v), u.max(v));
                let row = low.wrapping_sub(first as VertexId);
                if low != high && (row as usize) < ends.len() {
                    ahead.append((entries, base), ends, row, entry(high, label));
                }
            };
            for block in blocks {
                if cancel.is_cancelled() {
                    return;
                }
                let pairs = block.narrow();
                if block.labels.is_empty() {
                    pairs.iter().for_each(|&[u, v]| place(u, v, 0));
                } else {
                    let labelled = pairs.iter().zip(&block.labels);
                    labelled.for_each(|(&[u, v], &label)| place(u, v, label));
                }
            }
            ahead.finish((entries, base), ends);
        });
        cancel.check()?;
        Ok(placed)
    }

    /// Runs `work` on ranges of rows with about as many entries, one for each thread. It is given where all rows
    /// start, too.
    pub fn each_part<R: Send>(
        &mut self,
        threads: usize,
        work: impl Fn(Part<'_, E, P>, &[P]) -> R + Sync,
    ) -> Vec<R> {
        let HalfRowBuilder { start, ends, entries, .. } = self;
        let bounds = shares(start, threads);
        let positions: Vec<usize> = bounds.iter().map(|&v| start[v].at()).collect();
        let parts = split(entries, &positions).into_iter().zip(split(ends, &bounds));
        let parts = parts.zip(bounds.iter().zip(positions.iter()));
        let parts = parts
            .map(|((entries, ends), (&first, &base))| Part { first, entries, base, ends })
            .collect();
        gramer_base::parallel::for_parts(parts, |part| work(part, start))
    }

    pub fn row(&self, v: usize) -> &[E] {
        &self.entries[self.start[v].at()..self.ends[v].at()]
    }
}

/// Ranges of vertices, one for each thread, whose rows have about as many entries: their bounds.
pub(super) fn shares<P: Position>(start: &[P], threads: usize) -> Vec<usize> {
    let vertices = start.len() - 1;
    let goal = |t: usize| start[vertices].at() * t / threads;
    let mut bounds: Vec<usize> =
        (0..threads).map(|t| start.partition_point(|s| s.at() < goal(t)).min(vertices)).collect();
    bounds.push(vertices);
    bounds[0] = 0;
    bounds
}

/// Returns the start of each half row, without loops, with duplicates: V + 1 positions. Marks vertices with loops in
/// `used`, if given.
fn counted<P: Position>(
    vertices: usize,
    blocks: &[EdgeBlock],
    used: &mut [u8],
    threads: usize,
    cancel: &Cancel,
) -> Result<Vec<P>> {
    let mut start: Vec<P> = zeroed(vertices + 1)?;
    let even: Vec<usize> = (0..=threads).map(|t| vertices * t / threads).collect();
    let marked: Vec<usize> = even.iter().map(|&bound| bound.min(used.len())).collect();
    let parts: Vec<_> =
        even.iter().zip(split(&mut start[1..], &even)).zip(split(used, &marked)).collect();
    gramer_base::parallel::for_parts(parts, |((&first, counts), used)| {
        for block in blocks {
            if cancel.is_cancelled() {
                return;
            }
            for &[u, v] in block.narrow() {
                let at = (u.min(v) as usize).wrapping_sub(first);
                if u != v {
                    if let Some(count) = counts.get_mut(at) {
                        count.advance();
                    }
                } else if let Some(used) = used.get_mut(at) {
                    *used = 1;
                }
            }
        }
    });
    cancel.check()?;
    add_up(&mut start);
    Ok(start)
}

/// Converts lengths of rows, each stored one position after its row's, to the starts of rows.
pub(super) fn add_up<P: Position>(start: &mut [P]) {
    let mut sum = 0;
    for position in start {
        sum += position.at() as u64;
        *position = P::of(sum);
    }
}

/// Cuts `items` at `bounds`, which begin with 0 and end with its length.
pub(super) fn split<'a, T>(mut items: &'a mut [T], bounds: &[usize]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(bounds.len() - 1);
    for w in bounds.windows(2) {
        let (part, rest) = items.split_at_mut(w[1] - w[0]);
        parts.push(part);
        items = rest;
    }
    parts
}
