//! From ids to vertex numbers.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use super::bounded::{check_read, check_room, spare};
use super::{EdgeBlock, MAX_GRAPH_VERTICES, Pairs, zeroed};
use crate::VertexId;
use crate::budget::Budget;
use crate::context::{Cancel, Looks};
use crate::error::{Error, Result};
use crate::parallel::{in_buckets, on_threads};

/// How original ids become vertex numbers.
pub(super) enum Numbering {
    /// The ids are consecutive: subtract the first.
    Offset(u64),
    /// The ids are dense: by table.
    Table(Vec<VertexId>),
    /// The ids are anywhere: `starts[(id - ids[0]) >> shift]` is where to look in `ids`, which
    /// is at the right place at once where ids are spread evenly.
    Search { ids: Vec<u64>, starts: Vec<u32>, shift: u32 },
}

impl Numbering {
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
        }
    }
}

/// Ids that are looked at between looks at the stop flag.
const AT_ONCE: usize = 1 << 20;
/// Ids by which the others are dealt into buckets.
const SAMPLE: usize = 1 << 16;

/// Where the ids come from.
struct Ids<'a> {
    blocks: &'a [EdgeBlock],
    /// Ascending, each once.
    declared: Vec<u64>,
    declared_range: Range<u64>,
    threads: usize,
    cancel: &'a Cancel,
}

/// Numbers the ids in use, `declared` and others, by ascending id; returns them as well.
pub(super) fn number_ids(
    blocks: &[EdgeBlock],
    (declared, declared_range): (Vec<u64>, Range<u64>),
    threads: usize,
    budget: Option<&Budget>,
    cancel: &Cancel,
) -> Result<(Numbering, Vec<u64>)> {
    let edges = blocks.iter().map(EdgeBlock::len).sum::<usize>();
    let largest_in = |block: &EdgeBlock| {
        let mut largest = 0;
        block.for_each(|u, v| largest = largest.max(u).max(v));
        largest
    };
    let largest = on_threads(threads, |t| {
        blocks.iter().skip(t).step_by(threads).map(largest_in).max().unwrap_or(0)
    })
    .into_iter()
    .chain(declared.last().copied())
    .max()
    .filter(|_| edges + declared.len() > 0);
    let Some(largest) = largest else {
        return Ok((Numbering::Offset(declared_range.start), consecutive(declared_range)?));
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
            return Ok((Numbering::Offset(declared_range.start), consecutive(declared_range)?));
        }
    }

    let ends = 2 * edges as u64 + declared.len() as u64;
    let range_end = if declared_range.is_empty() { 0 } else { declared_range.end };
    let end = largest.saturating_add(1).max(range_end);
    let ids = Ids { blocks, declared, declared_range, threads, cancel };
    let dense = end <= 4 * ends.max(range_end) + 1024;
    match budget {
        None if dense => ids.dense(end),
        None => ids.sparse(ends as usize),
        // A mark and a number for each.
        Some(budget) if dense && 5 * end <= spare(0, budget) / 2 => ids.dense(end),
        Some(budget) => ids.in_batches(budget),
    }
}

impl Ids<'_> {
    /// By marking the ids in use among all below `end`.
    fn dense(self, end: u64) -> Result<(Numbering, Vec<u64>)> {
        let Ids { blocks, declared, declared_range, threads, cancel } = self;
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
        let mut looks = Looks::new(cancel);
        for (number, &id) in ids.iter().enumerate() {
            looks.check(1)?;
            table[id as usize] = number as VertexId;
        }
        Ok((Numbering::Table(table), ids))
    }

    /// By sorting the about `ends` ids.
    fn sparse(self, ends: usize) -> Result<(Numbering, Vec<u64>)> {
        let Ids { blocks, declared, declared_range, threads, cancel } = self;
        let mut sample = Vec::new();
        let step = (ends / SAMPLE).max(1);
        let mut seen = 0;
        for block in blocks {
            cancel.check()?;
            block.for_each(|u, v| {
                seen += 1;
                // Both ends in turn: either alone may be of one kind.
                if seen % step == 0 {
                    sample.push(if sample.len() % 2 == 0 { u } else { v });
                }
            });
        }
        sample.extend(declared.iter().step_by(step));
        // Each block by itself first: its ids repeat, so that little is left to sort together.
        let parts = declared.chunks(AT_ONCE).collect::<Vec<_>>();
        let sources = blocks.len() + parts.len() + usize::from(!declared_range.is_empty());
        let emit = |source: usize, take: &mut dyn FnMut(u64)| {
            if let Some(block) = blocks.get(source) {
                let mut ids = Vec::with_capacity(2 * block.len());
                block.for_each(|u, v| ids.extend([u, v]));
                ids.sort_unstable();
                ids.dedup();
                ids.into_iter().for_each(take);
            } else if let Some(part) = parts.get(source - blocks.len()) {
                part.iter().copied().for_each(take);
            } else {
                declared_range.clone().for_each(take);
            }
        };
        let mut ids = Vec::new();
        for mut bucket in in_buckets(ends, sources, threads, cancel, sample, emit)? {
            cancel.check()?;
            // Equal ids are in the same bucket.
            bucket.dedup();
            ids.append(&mut bucket);
        }
        ids.shrink_to_fit();
        searched(ids, cancel)
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
        for block in blocks {
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
    let mut looks = Looks::new(cancel);
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

fn check_vertex_count(vertices: usize) -> Result<()> {
    if vertices as u64 <= MAX_GRAPH_VERTICES {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "the graph has {vertices} vertices, but at most {MAX_GRAPH_VERTICES} are possible"
    )))
}

/// Replaces ids by vertex numbers.
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
    crate::parallel::for_parts(parts, |part| {
        for block in part {
            if cancel.is_cancelled() {
                return;
            }
            match &mut block.pairs {
                Pairs::Spilled(_) => unreachable!("they are in files with a budget alone"),
                Pairs::Narrow(pairs) => {
                    pairs.iter_mut().for_each(|p| *p = p.map(|id| numbering.of(id.into())));
                }
                Pairs::Wide(pairs) => {
                    let narrow = pairs.iter().map(|p| p.map(|id| numbering.of(id))).collect();
                    block.pairs = Pairs::Narrow(narrow);
                }
            }
        }
    });
    cancel.check()
}
