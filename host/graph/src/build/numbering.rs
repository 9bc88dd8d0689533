//! From ids to vertex numbers.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use super::bounded::{check_read, check_room, spare};
use super::dictionary::Dictionary;
use super::{EdgeBlock, MAX_GRAPH_VERTICES, Pairs};
use crate::VertexId;
use gramer_base::budget::Budget;
use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::{Error, Result};
use gramer_base::memory::zeroed;
use gramer_base::pages::in_large_pages;
use gramer_base::parallel::{for_parts, in_buckets, on_threads};

/// Mapping from original ids to vertex numbers.
pub(super) enum Numbering {
    /// The ids are consecutive: subtract the first.
    Offset(u64),
    /// The ids are dense: by table.
    Table(Vec<VertexId>),
    /// The ids are anywhere: `starts[(id - ids[0]) >> shift]` is where to look in `ids`, which
    /// is at the right place at once where ids are spread evenly.
    Search { ids: Vec<u64>, starts: Vec<u32>, shift: u32 },
    /// In one of these ways, then by another table.
    Ranked { by_id: Box<Numbering>, ranks: Vec<VertexId> },
}

/// State of the numbering before rows are built.
pub(super) enum IdTable {
    /// Numbering of ids, and the ids in use, by number.
    Ids(Numbering, Vec<u64>),
    /// Rows of ids are as good: 1 for ids that are in use though they may have no edge, of as many as there are
    /// up to the largest.
    Later(Vec<u8>),
}

impl Numbering {
    /// Whether it led to ranks.
    pub fn was_ranked(self) -> bool {
        matches!(self, Numbering::Ranked { .. })
    }

    #[inline]
    pub fn of(&self, id: u64) -> VertexId {
        match self {
            Numbering::Offset(first) => (id - first) as VertexId,
            Numbering::Table(table) => table[id as usize],
            Numbering::Search { ids, starts, shift } => {
                let bucket = ((id - ids[0]) >> shift) as usize;
                let (low, high) = (starts[bucket] as usize, starts[bucket + 1] as usize);
                (low + ids[low..high].partition_point(|&other| other < id)) as VertexId
            }
            Numbering::Ranked { by_id, ranks } => ranks[by_id.of(id) as usize],
        }
    }
}

/// Ids of the vertices, by number.
#[derive(Debug)]
pub(super) enum VertexIds {
    Consecutive(Range<u64>),
    Listed(Vec<u64>),
}

impl VertexIds {
    pub fn len(&self) -> usize {
        match self {
            VertexIds::Consecutive(ids) => (ids.end - ids.start) as usize,
            VertexIds::Listed(ids) => ids.len(),
        }
    }

    /// The id of a vertex.
    #[inline]
    pub fn of(&self, number: usize) -> u64 {
        match self {
            VertexIds::Consecutive(ids) => ids.start + number as u64,
            VertexIds::Listed(ids) => ids[number],
        }
    }

    /// The id of the first vertex; 0 if there is none.
    pub fn first(&self) -> u64 {
        if self.len() == 0 { 0 } else { self.of(0) }
    }

    /// The ids, unless they are the numbers.
    pub fn stored(self) -> Option<Vec<u64>> {
        match self {
            VertexIds::Consecutive(ids) if ids.start == 0 => None,
            VertexIds::Consecutive(ids) => Some(ids.collect()),
            VertexIds::Listed(ids) => Some(ids),
        }
    }
}

/// Ids that are looked at between looks at the stop flag.
const AT_ONCE: usize = 1 << 20;
/// Ids that separate the buckets.
const SAMPLE: usize = 1 << 16;

/// Source of the ids.
struct Ids<'a> {
    blocks: &'a mut [EdgeBlock],
    /// Ascending, each once.
    declared: Vec<u64>,
    declared_range: Range<u64>,
    threads: usize,
    cancel: &'a Cancel,
}

/// Numbers the ids in use, `declared` and others, by ascending id. Blocks whose ids are found by
/// [`Numbering::Search`] are numbered then, unless memory is limited.
pub(super) fn number_ids(
    blocks: &mut [EdgeBlock],
    (declared, declared_range): (Vec<u64>, Range<u64>),
    threads: usize,
    budget: Option<&Budget>,
    cancel: &Cancel,
) -> Result<IdTable> {
    let known = |(numbering, ids)| IdTable::Ids(numbering, ids);
    let edges = blocks.iter().map(EdgeBlock::len).sum::<usize>();
    let share = blocks.len().div_ceil(threads).max(1);
    let largest = for_parts(blocks.chunks_mut(share).collect(), |part| {
        part.iter_mut().map(EdgeBlock::largest).max().unwrap_or(0)
    })
    .into_iter()
    .chain(declared.last().copied())
    .max()
    .filter(|_| edges + declared.len() > 0);
    let Some(largest) = largest else {
        let first = Numbering::Offset(declared_range.start);
        return Ok(IdTable::Ids(first, consecutive(declared_range)?));
    };
    // Formats that declare a range have all their ids in it.
    if !declared_range.is_empty() && largest < declared_range.end {
        let smallest_in = |block: &EdgeBlock| {
            let mut smallest = u64::MAX;
            block.for_each(|u, v| smallest = smallest.min(u).min(v));
            smallest
        };
        let smallest = blocks.iter().map(smallest_in).chain(declared.first().copied()).min();
        if smallest.is_none_or(|id| id >= declared_range.start) {
            let first = Numbering::Offset(declared_range.start);
            return Ok(IdTable::Ids(first, consecutive(declared_range)?));
        }
    }

    let ends = 2 * edges as u64 + declared.len() as u64;
    let range_end = if declared_range.is_empty() { 0 } else { declared_range.end };
    let end = largest.saturating_add(1).max(range_end);
    let dense = end <= 4 * ends.max(range_end) + 1024;
    // Arrays of rows for unused ids are small compared with those of edges.
    if budget.is_none() && end <= (ends + 1024).min(MAX_GRAPH_VERTICES) {
        let mut used: Vec<u8> = zeroed(end as usize)?;
        let mut looks = CancelPoll::new(cancel);
        for id in declared.into_iter().chain(declared_range) {
            looks.check(1)?;
            used[id as usize] = 1;
        }
        return Ok(IdTable::Later(used));
    }
    let ids = Ids { blocks, declared, declared_range, threads, cancel };
    match budget {
        None if dense => ids.dense(end),
        None => ids.sparse(),
        // A mark and a number for each.
        Some(budget) if dense && 5 * end <= spare(0, budget) / 2 => ids.dense(end),
        Some(budget) => ids.in_batches(budget),
    }
    .map(known)
}

impl Ids<'_> {
    /// By marking the ids in use among all below `end`.
    fn dense(self, end: u64) -> Result<(Numbering, Vec<u64>)> {
        let Ids { blocks, declared, declared_range, threads, cancel } = self;
        let blocks = &*blocks;
        let used: Vec<AtomicU8> = zeroed(end as usize)?;
        let mark = |id: u64| used[id as usize].store(1, Ordering::Relaxed);
        on_threads(threads, |t| {
            for block in blocks.iter().skip(t).step_by(threads) {
                if cancel.is_cancelled() {
                    break;
                }
                block.for_each(|u, v| {
                    mark(u);
                    mark(v);
                });
            }
        });
        cancel.check()?;
        check_read(blocks)?;
        declared.into_iter().chain(declared_range).for_each(mark);
        let is_used = |id: &u64| used[*id as usize].load(Ordering::Relaxed) == 1;
        let mut ids: Vec<u64> = Vec::new();
        for first in (0..end).step_by(AT_ONCE) {
            cancel.check()?;
            ids.extend((first..end.min(first + AT_ONCE as u64)).filter(is_used));
        }
        check_vertex_count(ids.len())?;
        if ids[ids.len() - 1] - ids[0] == ids.len() as u64 - 1 {
            return Ok((Numbering::Offset(ids[0]), ids));
        }
        let mut table = zeroed::<VertexId>(end as usize)?;
        let mut looks = CancelPoll::new(cancel);
        for (number, &id) in ids.iter().enumerate() {
            looks.check(1)?;
            table[id as usize] = number as VertexId;
        }
        Ok((Numbering::Table(table), ids))
    }

    /// Each thread numbers the ids of its blocks as they come; the different ones are sorted then, and those
    /// numbers replaced: the blocks are numbered when this is done.
    fn sparse(self) -> Result<(Numbering, Vec<u64>)> {
        let Ids { blocks, declared, declared_range, threads, cancel } = self;
        let share = blocks.len().div_ceil(threads).max(1);
        let parts: Vec<&mut [EdgeBlock]> = blocks.chunks_mut(share).collect();
        let numbered = for_parts(parts, |part| -> Result<_> {
            let mut dictionary = Dictionary::new()?;
            for block in &mut *part {
                dictionary.replace(&mut block.pairs, cancel)?;
            }
            Ok((dictionary, part))
        });
        let numbered = numbered.into_iter().collect::<Result<Vec<_>>>()?;

        // Both lists and declared ids in parts: more than one thread can sort.
        let mut lists: Vec<&[u64]> = declared.chunks(AT_ONCE).collect();
        lists.extend(numbered.iter().flat_map(|(dictionary, _)| dictionary.ids().chunks(AT_ONCE)));
        let range = declared_range.end.saturating_sub(declared_range.start) as usize;
        let count = lists.iter().map(|list| list.len()).sum::<usize>() + range;
        let step = (count / SAMPLE).max(1);
        let sample = lists.iter().flat_map(|list| list.iter().copied().step_by(step)).collect();
        let sources = lists.len() + usize::from(range > 0);
        let emit = |source: usize, take: &mut dyn FnMut(u64)| match lists.get(source) {
            Some(list) => list.iter().copied().for_each(take),
            None => declared_range.clone().for_each(take),
        };
        let mut ids = Vec::new();
        for mut bucket in in_buckets(count, sources, threads, cancel, sample, emit)? {
            cancel.check()?;
            // Equal ids are in the same bucket.
            bucket.dedup();
            ids.append(&mut bucket);
        }
        ids.shrink_to_fit();
        let (numbering, ids) = searched(ids, cancel)?;
        for_parts(numbered, |(dictionary, part)| {
            let finals: Vec<_> = dictionary.ids().iter().map(|&id| numbering.of(id)).collect();
            drop(dictionary);
            replace(part, cancel, |number| finals[number as usize]);
        });
        cancel.check()?;
        Ok((numbering, ids))
    }

    /// By sorting as many ids at a time as there is room for: what is in memory grows with the vertices.
    fn in_batches(self, budget: &Budget) -> Result<(Numbering, Vec<u64>)> {
        let Ids { blocks, declared, declared_range, cancel, .. } = self;
        let mut ids: Vec<u64> = declared;
        ids.extend(declared_range);
        let most = (spare(0, budget) / 8) as usize / size_of::<u64>();
        let (mut batch, mut fits) = (Vec::with_capacity(most), Ok(()));
        let mut flush = |batch: &mut Vec<u64>| {
            if fits.is_ok() {
                fits = merge(&mut ids, batch, budget);
            }
            batch.clear();
        };
        for block in &*blocks {
            cancel.check()?;
            block.for_each(|u, v| {
                batch.extend([u, v]);
                if batch.len() + 2 > most {
                    flush(&mut batch);
                }
            });
        }
        flush(&mut batch);
        fits?;
        check_read(blocks)?;
        searched(ids, cancel)
    }
}

/// Merges ids into those that are sorted.
fn merge(ids: &mut Vec<u64>, batch: &mut Vec<u64>, budget: &Budget) -> Result<()> {
    batch.sort_unstable();
    batch.dedup();
    let mut known = ids.iter().copied().peekable();
    batch.retain(|&id| {
        while known.next_if(|&other| other < id).is_some() {}
        known.peek() != Some(&id)
    });
    check_room(ids.len() + batch.len(), budget)?;
    ids.append(batch);
    // Two runs, which the stable sort merges.
    ids.sort();
    ids.dedup();
    Ok(())
}

/// The numbers of ascending ids by search.
fn searched(ids: Vec<u64>, cancel: &Cancel) -> Result<(Numbering, Vec<u64>)> {
    check_vertex_count(ids.len())?;
    let span = ids[ids.len() - 1] - ids[0];
    // About one bucket an id.
    let shift = (64 - span.leading_zeros()).saturating_sub(ids.len().ilog2());
    let mut starts: Vec<u32> = zeroed((span >> shift) as usize + 2)?;
    let mut looks = CancelPoll::new(cancel);
    for &id in &ids {
        looks.check(1)?;
        starts[((id - ids[0]) >> shift) as usize + 1] += 1;
    }
    for bucket in 1..starts.len() {
        starts[bucket] += starts[bucket - 1];
    }
    Ok((Numbering::Search { ids: ids.clone(), starts, shift }, ids))
}

fn consecutive(range: Range<u64>) -> Result<Vec<u64>> {
    let count = range.end.saturating_sub(range.start);
    check_vertex_count(usize::try_from(count).unwrap_or(usize::MAX))?;
    let mut ids = zeroed(count as usize)?;
    ids.iter_mut().zip(range).for_each(|(slot, id)| *slot = id);
    Ok(ids)
}

pub(super) fn check_vertex_count(vertices: usize) -> Result<()> {
    if vertices as u64 <= MAX_GRAPH_VERTICES {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "the graph has {vertices} vertices, but at most {MAX_GRAPH_VERTICES} are possible"
    )))
}

/// Replaces ids by vertex numbers where that is still to be done.
pub(super) fn renumber(
    blocks: &mut [EdgeBlock],
    numbering: &Numbering,
    threads: usize,
    cancel: &Cancel,
) -> Result<()> {
    let is_done = |b: &EdgeBlock| matches!(b.pairs, Pairs::Narrow(_));
    if matches!(numbering, Numbering::Offset(0)) && blocks.iter().all(is_done) {
        return Ok(());
    }
    let share = blocks.len().div_ceil(threads).max(1);
    let parts: Vec<&mut [EdgeBlock]> = blocks.chunks_mut(share).collect();
    // One loop per case, without a branch for each id.
    match numbering {
        Numbering::Search { .. } => {}
        Numbering::Ranked { .. } => unreachable!("ranks come with rows"),
        Numbering::Offset(first) => {
            for_parts(parts, |part| replace(part, cancel, |id| (id - first) as VertexId));
        }
        Numbering::Table(table) => {
            for_parts(parts, |part| replace(part, cancel, |id| table[id as usize]));
        }
    }
    cancel.check()
}

/// Replaces the ends of edges; stops early once the run was cancelled.
fn replace(blocks: &mut [EdgeBlock], cancel: &Cancel, of: impl Fn(u64) -> VertexId) {
    for block in blocks.iter_mut().take_while(|_| !cancel.is_cancelled()) {
        match &mut block.pairs {
            Pairs::Spilled(_) => unreachable!("they are in files with a budget alone"),
            Pairs::Narrow(pairs) => pairs.iter_mut().for_each(|p| *p = p.map(|id| of(id.into()))),
            Pairs::Wide(pairs) => {
                let mut narrow = in_large_pages(Vec::with_capacity(pairs.len()));
                narrow.extend(pairs.iter().map(|p| p.map(&of)));
                block.pairs = Pairs::Narrow(narrow);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    proptest::proptest! {
        // Of ids far apart, declared ones too, by any number of threads.
        #[test]
        fn ids_are_numbered_in_their_order(
            edges in proptest::collection::vec((0u64..200, 0u64..200), 1..300),
            declared in proptest::collection::vec(0u64..300, 0..20),
            apart in 24u32..56,
            cuts in 1usize..6,
            threads in 1usize..4,
        ) {
            let far = |id: u64| id << apart | id;
            let mut blocks = vec![EdgeBlock::default(); cuts];
            for (i, &(u, v)) in edges.iter().enumerate() {
                blocks[i % cuts].push(far(u), far(v));
            }
            let ends = edges.iter().flat_map(|&(u, v)| [u, v]);
            let expected: BTreeSet<u64> = ends.chain(declared.iter().copied()).map(far).collect();
            let mut declared: Vec<u64> = declared.into_iter().map(far).collect();
            declared.sort_unstable();
            declared.dedup();
            let cancel = Cancel::default();
            let numbered =
                number_ids(&mut blocks, (declared, 0..0), threads, None, &cancel).unwrap();
            let IdTable::Ids(numbering, ids) = numbered else { unreachable!("far apart") };
            renumber(&mut blocks, &numbering, threads, &cancel).unwrap();
            proptest::prop_assert_eq!(&ids, &expected.into_iter().collect::<Vec<_>>());
            for (i, &(u, v)) in edges.iter().enumerate() {
                let pair = blocks[i % cuts].narrow()[i / cuts].map(|number| ids[number as usize]);
                proptest::prop_assert_eq!(pair, [far(u), far(v)]);
            }
        }
    }
}
