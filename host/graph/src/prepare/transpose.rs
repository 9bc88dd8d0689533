//! Entries on their way from one side of a relation to the rows of the other, without a cache miss each.

use std::ops::Range;
use std::slice::IterMut;
use std::sync::Mutex;

use bytemuck::Zeroable;
use tracing::debug_span;

use super::{each_thread, fill};
use crate::VertexId;
use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::{zeroed, zeroed_or_unwind};

/// Rows that are filled one after the other without groups.
const FEW_ROWS: usize = if cfg!(test) { 1 << 3 } else { 1 << 12 };
/// Rows whose ends stay in the nearest cache while they are filled.
const ROWS_IN_CACHE: usize = if cfg!(test) { 1 << 2 } else { 1 << 9 };
/// Maximum number of groups of rows: as many streams as a core writes well at a time.
const MOST_GROUPS: usize = 1 << 10;
/// Maximum number of bits of a row within its group. The others of an entry are of its source.
const ROW_BITS: u32 = if cfg!(test) { 5 } else { 16 };
/// Bits of an entry.
const ENTRY: u32 = if cfg!(test) { 9 } else { 32 };
/// Entries of a chunk of a group's list.
const CHUNK: usize = if cfg!(test) { 4 } else { 256 };

/// A symmetric relation, given by its sources: each has as many entries as its row.
pub(super) trait Sources: Sync {
    /// Data of an entry in addition to its two ends.
    type Payload: Copy + Zeroable + Send + Sync;

    /// Calls `each(row, source, payload)` for the entries of a range of sources, in order. Stops early once the run
    /// is cancelled.
    fn scan(&self, sources: Range<usize>, each: impl FnMut(VertexId, VertexId, Self::Payload));
}

/// The rows of a symmetric relation: row r has the entries from `offsets[r]` to `offsets[r + 1]`, each of them
/// `entry(source, beside)`, by ascending source. The sources are scanned in `parts`, which follow each other.
///
/// Nothing is sorted: appending each source to its rows fills every row in order. To do that in parallel and without
/// a cache miss an entry, the entries are first dealt out to groups of rows, then each group's rows are filled. Row r
/// is in group r modulo the number of groups, which spreads rows that are long because they come first over all
/// groups. Besides the result this takes 4 bytes per entry, and what is beside it.
///
/// # Errors
/// [`gramer_base::Error::Interrupted`] if the run was cancelled.
pub(super) fn rows<T: Copy + Zeroable + Send + Sync, S: Sources>(
    offsets: &[u64],
    parts: &[Range<usize>],
    relation: &S,
    entry: impl Fn(VertexId, S::Payload) -> T + Sync,
    context: &Context,
) -> Result<Vec<T>> {
    let mut filled: Vec<T> = zeroed(offsets[offsets.len() - 1] as usize)?;
    let deal = GroupLayout::new(offsets.len() - 1, context.threads());
    let mut rows: Vec<Vec<IterMut<T>>> = (0..deal.groups).map(|_| Vec::new()).collect();
    let mut rest = filled.as_mut_slice();
    let mut looks = CancelPoll::new(&context.cancel);
    for (row, span) in offsets.windows(2).enumerate() {
        looks.check(1)?;
        let (row_entries, tail) = rest.split_at_mut((span[1] - span[0]) as usize);
        rows[row % deal.groups].push(row_entries.iter_mut());
        rest = tail;
    }
    if deal.groups == 1 {
        let rows = &mut rows[0][..];
        for part in parts {
            relation.scan(part.clone(), |row, source, beside| {
                append(&mut rows[row as usize], entry(source, beside));
            });
        }
    } else {
        let span = debug_span!("deal").entered();
        let mut dealt: Vec<Option<DealtEntries<S::Payload>>> = parts.iter().map(|_| None).collect();
        fill(
            &mut dealt,
            1,
            context,
            || (),
            |(), part| Some(deal.part(relation, offsets, parts[part].clone())),
        )?;
        drop(span);
        let _span = debug_span!("fill").entered();
        let groups = Mutex::new(rows.iter_mut().enumerate());
        each_thread(context.threads(), || {
            while !context.cancel.is_cancelled() {
                let taken = groups.lock().expect("no thread panics with the lock").next();
                let Some((group, rows)) = taken else { break };
                let rows = &mut rows[..];
                for part in dealt.iter().flatten() {
                    part.of_group(group, &deal, |row, source, beside| {
                        append(&mut rows[row], entry(source, beside))
                    });
                }
            }
        });
    }
    drop(rows);
    context.cancel.check()?;
    Ok(filled)
}

/// Writes the next entry of a row.
#[inline]
fn append<T>(row: &mut IterMut<T>, value: T) {
    *row.next().expect("rows take as many entries as their sources give") = value;
}

/// Distribution of entries over groups of rows.
struct GroupLayout {
    /// A power of two.
    groups: usize,
    /// Bits of a source in an entry; a block has 2 to this power sources.
    source_bits: u32,
}

impl GroupLayout {
    fn new(rows: usize, threads: usize) -> Self {
        let least = match threads {
            1 if rows <= FEW_ROWS => 1,
            1 => 2,
            _ => 8 * threads,
        };
        let groups = (rows / ROWS_IN_CACHE)
            .min(MOST_GROUPS)
            .max(least)
            .max(rows >> ROW_BITS)
            .next_power_of_two();
        let row_bits = usize::BITS - (rows.saturating_sub(1) / groups).leading_zeros();
        GroupLayout { groups, source_bits: (ENTRY - row_bits).min(31) }
    }

    /// Deals out the entries of a range of sources.
    fn part<S: Sources>(
        &self,
        relation: &S,
        offsets: &[u64],
        sources: Range<usize>,
    ) -> DealtEntries<S::Payload> {
        let entries = (offsets[sources.end] - offsets[sources.start]) as usize;
        let mut dealt = DealtEntries::new(entries, self.groups);
        let (mask, shift) = (self.groups as VertexId - 1, self.groups.trailing_zeros());
        let block = 1usize << self.source_bits;
        let mut first = sources.start;
        while first < sources.end {
            let base = first & !(block - 1);
            let end = (base + block).min(sources.end);
            dealt.begin(base as VertexId);
            // What is written through these can't be the lists themselves: they stay in registers.
            let (slots, besides) = (dealt.packed.as_mut_slice(), dealt.beside.as_mut_slice());
            let (next, opened) = (dealt.next.as_mut_slice(), &mut dealt.opened);
            relation.scan(first..end, |row, source, beside| {
                let group = (row & mask) as usize;
                let mut at = next[group];
                if at % CHUNK == 0 {
                    at = opened.open(group);
                }
                slots[at] = (row >> shift) << self.source_bits | (source - base as VertexId);
                if size_of::<S::Payload>() > 0 {
                    besides[at] = beside;
                }
                next[group] = at + 1;
            });
            first = end;
        }
        dealt.finish();
        dealt
    }
}

/// Entries by group: each group's list is in chunks of one array.
struct DealtEntries<B> {
    /// The row within the group, and in the lower bits the source within its block.
    packed: Vec<u32>,
    beside: Vec<B>,
    /// By group: where its next entry goes; at the beginning of a chunk it needs a new one.
    next: Vec<usize>,
    opened: OpenChunks,
}

/// The chunks that groups have taken.
struct OpenChunks {
    /// By group.
    runs: Vec<Vec<ChunkRange>>,
    /// Entries in chunks that are taken.
    taken: usize,
    /// The first source of the current block.
    base: VertexId,
}

impl OpenChunks {
    /// A new chunk for a group.
    #[cold]
    #[inline(never)]
    fn open(&mut self, group: usize) -> usize {
        let begin = self.taken;
        self.taken += CHUNK;
        self.runs[group].push(ChunkRange { base: self.base, begin, end: begin + CHUNK });
        begin
    }
}

/// Entries of a group in one chunk and of one block.
struct ChunkRange {
    base: VertexId,
    begin: usize,
    end: usize,
}

impl<B: Copy + Zeroable> DealtEntries<B> {
    fn new(entries: usize, groups: usize) -> Self {
        let room = entries + groups * CHUNK;
        DealtEntries {
            packed: zeroed_or_unwind(room),
            beside: zeroed_or_unwind(room),
            next: vec![0; groups],
            opened: OpenChunks { runs: (0..groups).map(|_| vec![]).collect(), taken: 0, base: 0 },
        }
    }

    /// Begins a block.
    fn begin(&mut self, base: VertexId) {
        self.finish();
        self.opened.base = base;
        for (runs, &next) in self.opened.runs.iter_mut().zip(&self.next) {
            if next % CHUNK != 0 {
                runs.push(ChunkRange { base, begin: next, end: next.next_multiple_of(CHUNK) });
            }
        }
    }

    /// Ends the runs that go on.
    fn finish(&mut self) {
        for (runs, &next) in self.opened.runs.iter_mut().zip(&self.next) {
            if let Some(run) = runs.last_mut()
                && next % CHUNK != 0
            {
                run.end = next;
            }
        }
    }

    /// Calls `each(row within the group, source, payload)` for the entries of a group, in order.
    #[inline(always)]
    fn of_group(&self, group: usize, deal: &GroupLayout, mut each: impl FnMut(usize, VertexId, B)) {
        let mask = (1u32 << deal.source_bits) - 1;
        for run in &self.opened.runs[group] {
            let beside = &self.beside[run.begin..run.end];
            for (&packed, &beside) in self.packed[run.begin..run.end].iter().zip(beside) {
                each((packed >> deal.source_bits) as usize, run.base + (packed & mask), beside);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By source: its rows, each with its payload.
    struct RowLists(Vec<Vec<(VertexId, u32)>>);

    impl Sources for RowLists {
        type Payload = u32;

        fn scan(&self, sources: Range<usize>, mut each: impl FnMut(VertexId, VertexId, u32)) {
            for source in sources {
                for &(row, beside) in &self.0[source] {
                    each(row, source as VertexId, beside);
                }
            }
        }
    }

    proptest::proptest! {
        // Constants are small in tests: there are relations with and without groups, and groups of several blocks
        // and chunks.
        #[test]
        fn rows_have_their_sources_in_order(
            entries in proptest::collection::vec((0usize..90, 0u32..90, 0u32..9), 0..1500),
            vertices in 1usize..90,
            hubs in 1u32..90,
            cuts in proptest::collection::vec(0usize..90, 0..6),
            threads in 1usize..4,
        ) {
            let mut sources = vec![vec![]; vertices];
            for &(u, v, beside) in &entries {
                // Some vertices of most entries.
                let v = if beside < 5 { v % hubs } else { v } as usize % vertices;
                sources[u % vertices].push((v as VertexId, beside));
                sources[v].push(((u % vertices) as VertexId, beside));
            }
            let mut expected = vec![vec![]; vertices];
            for (source, list) in sources.iter().enumerate() {
                for &(row, beside) in list {
                    expected[row as usize].push((source as VertexId, beside));
                }
            }
            let mut offsets = vec![0];
            for row in &expected {
                offsets.push(offsets[offsets.len() - 1] + row.len() as u64);
            }
            let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut % vertices).collect();
            bounds.extend([0, vertices]);
            bounds.sort_unstable();
            let parts: Vec<Range<usize>> = bounds.windows(2).map(|w| w[0]..w[1]).collect();
            let context = Context::with_threads(threads);
            let pair = |source, beside| (source, beside);
            let found = rows(&offsets, &parts, &RowLists(sources), pair, &context).unwrap();
            proptest::prop_assert_eq!(found, expected.concat());
        }
    }
}
