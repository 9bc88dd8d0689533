//! From edges without labels to rows in the order of the input, by several threads.
//!
//! Entries are partitioned by ranges of rows, and a thread fills one range after another, small enough to stay in a
//! near cache. The position of each thread's entries in each range is counted first, so that the entries of a range
//! are contiguous, in the order of their sources, and threads never wait for each other.
//!
//! 1. Each edge goes to the range of its smaller end, then to this one's row. These half rows are sorted, and lose their
//!    duplicates.
//! 2. Scanning them in order, each row's number goes to the ranges of its entries, then to their rows: these are the entries
//!    before each row's own number, in order. Those of its half row follow.

use std::ops::Range;
use std::slice::IterMut;
use std::sync::{Mutex, PoisonError};

use tracing::debug_span;

use super::EdgeBlock;
use super::entry::tidy;
use super::halves::{HalfRowBuilder, add_up, shares, split};
use super::numbering::{IdTable, Numbering, VertexIds, renumber};
use super::position::{Position, are_narrow};
use super::rows::{DropCounts, RowSet, numbered_in_order};
use crate::VertexId;
use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::Result;
use gramer_base::memory::zeroed;
use gramer_base::parallel::{for_parts, on_threads};

/// Maximum number of ranges: as many streams as a core writes well at a time.
const MOST_RANGES: usize = 256;
/// Entries of a range, about, if there aren't too many ranges: a megabyte of them.
const RANGE: usize = if cfg!(test) { 1 << 4 } else { 1 << 18 };
/// Approximate number of possible range borders: ranges begin and end between rows whose numbers differ by more than
/// their lowest bits.
const SLOTS: usize = if cfg!(test) { 1 << 4 } else { 1 << 12 };
/// Edges that a thread goes through between two looks at the stop flag.
const PIECE: usize = if cfg!(test) { 1 << 3 } else { 1 << 16 };

/// The rows of edges without labels, made by several threads.
pub(super) fn made(
    numbered: IdTable,
    blocks: Vec<EdgeBlock>,
    threads: usize,
    cancel: &Cancel,
) -> Result<RowSet<VertexId>> {
    match are_narrow(&blocks) {
        true => made_with::<u32>(numbered, blocks, threads, cancel),
        false => made_with::<u64>(numbered, blocks, threads, cancel),
    }
}

pub(super) fn made_with<P: Position>(
    numbered: IdTable,
    mut blocks: Vec<EdgeBlock>,
    threads: usize,
    cancel: &Cancel,
) -> Result<RowSet<VertexId>> {
    let (known, mut used) = match numbered {
        IdTable::Ids(numbering, ids) => {
            renumber(&mut blocks, &numbering, threads, cancel)?;
            (Some((numbering, ids)), vec![])
        }
        // There is a row for each id, and those that aren't in use go in the end.
        IdTable::Later(used) => (None, used),
    };
    let vertices = known.as_ref().map_or(used.len(), |(_, ids)| ids.len());
    let rows = debug_span!("halves")
        .in_scope(|| halves::<P>(vertices, blocks, &mut used, threads, cancel))?;
    let dropped = DropCounts { self_loops: rows.self_loops, conflicts: 0 };
    let whole = RowSources::of(rows, threads, cancel)?;
    let numbered = known.is_some();
    let has_edge = |id: usize| whole.start[id].at() < whole.start[id + 1].at();
    let (numbering, ids) = match known {
        Some((numbering, ids)) => (numbering, VertexIds::Listed(ids)),
        None => numbered_in_order(&used, has_edge, cancel)?,
    };
    let first = ids.first();
    let rows = match &numbering {
        _ if numbered => whole.rows(|v| v, threads, cancel)?,
        Numbering::Table(numbers) => whole.rows(|id| numbers[id as usize], threads, cancel)?,
        // Ids below the first have no entries: what their numbers would be doesn't matter.
        _ => {
            let number = |id| u64::from(id).wrapping_sub(first) as VertexId;
            whole.rows(number, threads, cancel)?
        }
    };
    let start = |row: usize| whole.start[row].at() as u64;
    let end = rows.len() as u64;
    let start = match numbered {
        true => (0..=vertices).map(start).collect(),
        false => {
            let row = |number: usize| start(ids.of(number) as usize);
            (0..ids.len()).map(row).chain([end]).collect()
        }
    };
    Ok(RowSet { numbering, ids, start, rows, dropped })
}

// ---------------------------------------------------------------- dealing

/// Source of entries, in order, split into one part per thread.
trait Source: Sync {
    /// Calls `each` with the row and the value of each entry, the same ones at each call. Stops early once the run is asked
    /// to stop.
    fn scan(&self, cancel: &Cancel, each: impl FnMut(VertexId, VertexId));
}

/// Entries by ranges of rows.
struct DealtEntries {
    /// Start of each range of rows, and end of the last one.
    bounds: Vec<usize>,
    /// Start of each range's entries, and end of the last one's.
    begin: Vec<usize>,
    /// Rows and values, of each range in the order of the sources.
    entries: Vec<[VertexId; 2]>,
}

impl DealtEntries {
    /// Deals out the entries of `parts`, which follow each other, each by a thread.
    fn of<S: Source>(rows: usize, parts: &[S], threads: usize, cancel: &Cancel) -> Result<Self> {
        let last = rows.saturating_sub(1);
        let shift = (usize::BITS - last.leading_zeros()).saturating_sub(SLOTS.ilog2());
        let slots = (last >> shift) + 1;
        let counts: Vec<Vec<usize>> = for_parts(parts.iter().collect(), |part: &S| {
            let mut counts = vec![0; slots];
            part.scan(cancel, |row, _| counts[row as usize >> shift] += 1);
            counts
        });
        cancel.check()?;

        let total: usize = counts.iter().flatten().sum();
        let ranges = (total / RANGE).clamp(4 * threads, MOST_RANGES.max(4 * threads)).min(slots);
        let (mut bounds, mut begin, mut dealt) = (vec![0], vec![0], 0);
        let mut range_of: Vec<u16> = Vec::with_capacity(slots);
        // Entries of each part in each range.
        let mut sizes: Vec<Vec<usize>> = vec![vec![0; ranges]; parts.len()];
        for slot in 0..slots {
            let share = (total as u128 * bounds.len() as u128 / ranges as u128) as usize;
            if dealt >= share && bounds.len() < ranges && slot > 0 {
                bounds.push(slot << shift);
                begin.push(dealt);
            }
            let range = bounds.len() - 1;
            range_of.push(range as u16);
            for (sizes, counts) in sizes.iter_mut().zip(&counts) {
                sizes[range] += counts[slot];
                dealt += counts[slot];
            }
        }
        bounds.push(rows);
        begin.push(total);

        let mut entries: Vec<[VertexId; 2]> = zeroed(total)?;
        let mut rest = &mut entries[..];
        let mut rooms: Vec<Vec<IterMut<[VertexId; 2]>>> = parts.iter().map(|_| vec![]).collect();
        for range in 0..bounds.len() - 1 {
            for (room, sizes) in rooms.iter_mut().zip(&sizes) {
                let (own, tail) = rest.split_at_mut(sizes[range]);
                room.push(own.iter_mut());
                rest = tail;
            }
        }
        for_parts(parts.iter().zip(rooms).collect(), |(part, mut room)| {
            part.scan(cancel, |row, value| {
                let range = range_of[row as usize >> shift];
                let to = room[usize::from(range)].next();
                *to.expect("a part gives the same entries again") = [row, value];
            });
        });
        cancel.check()?;
        Ok(DealtEntries { bounds, begin, entries })
    }

    /// Calls `work` with each range of rows, its entries and its data, on this many threads.
    fn each<T: Send>(
        &self,
        own: Vec<T>,
        threads: usize,
        cancel: &Cancel,
        work: impl Fn(Range<usize>, &[[VertexId; 2]], T) + Sync,
    ) -> Result<()> {
        let ranges = Mutex::new(own.into_iter().enumerate());
        on_threads(threads, |_| {
            while !cancel.is_cancelled() {
                let taken = ranges.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((range, own)) = taken else { break };
                let entries = &self.entries[self.begin[range]..self.begin[range + 1]];
                work(self.bounds[range]..self.bounds[range + 1], entries, own);
            }
        });
        cancel.check()
    }
}

// ---------------------------------------------------------------- half rows

/// Edges, in pieces.
struct Edges<'a>(&'a [&'a [[VertexId; 2]]]);

impl Source for Edges<'_> {
    #[inline(always)]
    fn scan(&self, cancel: &Cancel, mut each: impl FnMut(VertexId, VertexId)) {
        for piece in self.0 {
            if cancel.is_cancelled() {
                return;
            }
            for &[u, v] in *piece {
                if u != v {
                    each(u.min(v), u.max(v));
                }
            }
        }
    }
}

/// Edges dealt out to the ranges of their smaller ends, and how many loops were left out. The vertices of these are marked in
/// `used`, if that is wanted.
fn by_smaller_end(
    vertices: usize,
    blocks: &[EdgeBlock],
    used: &mut [u8],
    threads: usize,
    cancel: &Cancel,
) -> Result<(DealtEntries, u64)> {
    let raw_edges = blocks.iter().map(EdgeBlock::len).sum::<usize>();
    let pieces: Vec<_> = blocks.iter().flat_map(|block| block.narrow().chunks(PIECE)).collect();
    let share = pieces.len().div_ceil(threads).max(1);
    let parts: Vec<_> = pieces.chunks(share).map(Edges).collect();
    let dealt = DealtEntries::of(vertices, &parts, threads, cancel)?;
    let self_loops = (raw_edges - dealt.entries.len()) as u64;
    if self_loops > 0 && !used.is_empty() {
        let loops = for_parts(parts.iter().collect(), |part: &Edges<'_>| {
            let edges = part.0.iter().copied().flatten();
            edges.filter(|[u, v]| u == v).map(|&[u, _]| u).collect::<Vec<_>>()
        });
        loops.iter().flatten().for_each(|&v| used[v as usize] = 1);
    }
    Ok((dealt, self_loops))
}

/// The half rows of edges whose vertices are numbered: sorted, and each entry once. Vertices with loops are marked in
/// `used`, if that is wanted.
fn halves<P: Position>(
    vertices: usize,
    blocks: Vec<EdgeBlock>,
    used: &mut [u8],
    threads: usize,
    cancel: &Cancel,
) -> Result<HalfRowBuilder<VertexId, P>> {
    let (dealt, self_loops) = by_smaller_end(vertices, &blocks, used, threads, cancel)?;
    drop(blocks);
    let mut start: Vec<P> = zeroed(vertices + 1)?;
    let mut ends: Vec<P> = zeroed(vertices)?;
    let mut entries: Vec<VertexId> = zeroed(dealt.entries.len())?;
    start[vertices] = P::of(entries.len() as u64);
    let own = split(&mut start[..vertices], &dealt.bounds)
        .into_iter()
        .zip(split(&mut ends, &dealt.bounds))
        .zip(split(&mut entries, &dealt.begin))
        .zip(&dealt.begin);
    dealt.each(
        own.collect(),
        threads,
        cancel,
        |rows, dealt, (((start, ends), entries), &base)| {
            for &[row, _] in dealt {
                ends[row as usize - rows.start].advance();
            }
            let mut next = base as u64;
            for (start, end) in start.iter_mut().zip(&mut *ends) {
                *start = P::of(next);
                next += end.at() as u64;
                *end = *start;
            }
            for &[row, value] in dealt {
                let end = &mut ends[row as usize - rows.start];
                entries[end.at() - base] = value;
                end.advance();
            }
            let mut spare = vec![];
            for (start, end) in start.iter().zip(ends) {
                let (kept, _) = tidy(&mut entries[start.at() - base..end.at() - base], &mut spare);
                *end = P::of((start.at() + kept) as u64);
            }
        },
    )?;
    Ok(HalfRowBuilder { start, ends, entries, self_loops })
}

// ---------------------------------------------------------------- whole rows

/// Half rows; the row's number is appended to the row of each of its entries.
struct UpperRows<'a, P> {
    halves: &'a HalfRowBuilder<VertexId, P>,
    rows: Range<usize>,
}

impl<P: Position> Source for UpperRows<'_, P> {
    #[inline(always)]
    fn scan(&self, cancel: &Cancel, mut each: impl FnMut(VertexId, VertexId)) {
        let mut looks = CancelPoll::new(cancel);
        for v in self.rows.clone() {
            let row = self.halves.row(v);
            if looks.check(row.len() + 1).is_err() {
                return;
            }
            row.iter().for_each(|&above| each(above, v as VertexId));
        }
    }
}

/// Half rows, and what goes before them.
struct RowSources<P> {
    halves: HalfRowBuilder<VertexId, P>,
    before: DealtEntries,
    /// Start of each whole row: V + 1 positions.
    start: Vec<P>,
}

impl<P: Position> RowSources<P> {
    fn of(halves: HalfRowBuilder<VertexId, P>, threads: usize, cancel: &Cancel) -> Result<Self> {
        let _span = debug_span!("before").entered();
        let vertices = halves.ends.len();
        let bounds = shares(&halves.start, threads);
        let parts = bounds.windows(2).map(|w| UpperRows { halves: &halves, rows: w[0]..w[1] });
        let before = DealtEntries::of(vertices, &parts.collect::<Vec<_>>(), threads, cancel)?;
        let mut start: Vec<P> = zeroed(vertices + 1)?;
        let own = split(&mut start[1..], &before.bounds);
        before.each(own, threads, cancel, |rows, dealt, lengths| {
            for (v, length) in rows.clone().zip(&mut *lengths) {
                *length = P::of(halves.row(v).len() as u64);
            }
            for &[row, _] in dealt {
                lengths[row as usize - rows.start].advance();
            }
        })?;
        add_up(&mut start);
        Ok(RowSources { halves, before, start })
    }

    /// All rows, with the numbers that vertices are to have, in the same order.
    fn rows(
        &self,
        number: impl Fn(VertexId) -> VertexId + Sync,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Vec<VertexId>> {
        let _span = debug_span!("whole").entered();
        let RowSources { halves, before, start } = self;
        let mut all: Vec<VertexId> = zeroed(start[start.len() - 1].at())?;
        let positions: Vec<usize> = before.bounds.iter().map(|&v| start[v].at()).collect();
        let own = split(&mut all, &positions);
        before.each(own, threads, cancel, |rows, dealt, all| {
            let base = start[rows.start].at();
            let mut next: Vec<P> = start[rows.clone()].to_vec();
            for &[row, value] in dealt {
                let at = &mut next[row as usize - rows.start];
                all[at.at() - base] = number(value);
                at.advance();
            }
            for (v, at) in rows.zip(next) {
                let half = halves.row(v);
                let to = &mut all[at.at() - base..][..half.len()];
                to.iter_mut().zip(half).for_each(|(to, &above)| *to = number(above));
            }
        })?;
        Ok(all)
    }
}
