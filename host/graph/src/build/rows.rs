//! From edges to rows of neighbours.

use super::{EdgeBlock, zeroed};
use crate::context::{Cancel, Looks};
use crate::error::Result;
use crate::{Label, VertexId};

/// What went away while rows were made.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Dropped {
    pub self_loops: u64,
    /// Entries (both directions) dropped though their label differs from the one kept.
    pub conflicts: u64,
}

/// One entry of a row: a neighbour, with or without the label of the edge.
pub(super) trait Entry: Copy + bytemuck::Zeroable + Ord + Send + Sync {
    fn neighbour(self) -> VertexId;
}

impl Entry for u32 {
    fn neighbour(self) -> VertexId {
        self
    }
}

impl Entry for u64 {
    fn neighbour(self) -> VertexId {
        (self >> 32) as VertexId
    }
}

/// Rows by counting sort: each thread owns a range of vertices and picks its entries out of all
/// edges. Reading an edge is sequential and far cheaper than placing it, so that this scales
/// well without atomics, and equal input gives equal rows.
pub(super) fn rows<E: Entry>(
    vertices: usize,
    blocks: Vec<EdgeBlock>,
    threads: usize,
    cancel: &Cancel,
    entry: impl Fn(VertexId, Label) -> E + Sync,
) -> Result<(Vec<u64>, Vec<E>, Dropped)> {
    let start = counted(vertices, &blocks, threads, cancel)?;
    let entries = start[vertices] as usize;
    let raw_edges = blocks.iter().map(|b| b.len() as u64).sum::<u64>();
    let mut dropped = Dropped { self_loops: raw_edges - entries as u64 / 2, conflicts: 0 };

    // Ranges of vertices with about equal numbers of entries.
    let mut bounds: Vec<usize> = (0..threads)
        .map(|t| start.partition_point(|&s| s < (entries * t / threads) as u64).min(vertices))
        .collect();
    bounds.push(vertices);
    bounds[0] = 0;
    let positions: Vec<usize> = bounds.iter().map(|&v| start[v] as usize).collect();

    let mut raw: Vec<E> = zeroed(entries)?;
    // Where the next entry of a row goes; afterwards the row's length without duplicates.
    let mut cursor: Vec<u64> = zeroed(vertices)?;
    cursor.copy_from_slice(&start[..vertices]);
    let parts: Vec<_> = split(&mut raw, &positions)
        .into_iter()
        .zip(split(&mut cursor, &bounds))
        .zip(bounds.windows(2).map(|w| w[0]))
        .collect();
    crate::parallel::for_parts(parts, |((raw, cursor), first)| {
        let base = start[first];
        let mut place = |row: VertexId, entry: E| {
            if let Some(at) = cursor.get_mut((row as usize).wrapping_sub(first)) {
                raw[(*at - base) as usize] = entry;
                *at += 1;
            }
        };
        for block in &blocks {
            if cancel.is_cancelled() {
                return;
            }
            let pairs = block.narrow();
            if block.labels.is_empty() {
                for &[u, v] in pairs.iter().filter(|p| p[0] != p[1]) {
                    place(u, entry(v, 0));
                    place(v, entry(u, 0));
                }
            } else {
                for (&[u, v], &label) in
                    pairs.iter().zip(&block.labels).filter(|(p, _)| p[0] != p[1])
                {
                    place(u, entry(v, label));
                    place(v, entry(u, label));
                }
            }
        }
    });
    cancel.check()?;
    drop(blocks);

    dropped.conflicts = tidy_all(&start, &mut raw, &positions, &mut cursor, &bounds, cancel);
    cancel.check()?;
    let start = close_gaps(start, &cursor, &mut raw, cancel)?;
    Ok((start, raw, dropped))
}

/// Where each row starts, loops left out and duplicates not: V + 1 positions.
fn counted(
    vertices: usize,
    blocks: &[EdgeBlock],
    threads: usize,
    cancel: &Cancel,
) -> Result<Vec<u64>> {
    let mut start: Vec<u64> = zeroed(vertices + 1)?;
    let even: Vec<usize> = (0..=threads).map(|t| vertices * t / threads).collect();
    let parts: Vec<(usize, &mut [u64])> =
        even.windows(2).map(|w| w[0]).zip(split(&mut start[1..], &even)).collect();
    crate::parallel::for_parts(parts, |(first, counts)| {
        for block in blocks {
            if cancel.is_cancelled() {
                return;
            }
            for &[u, v] in block.narrow() {
                if u == v {
                    continue;
                }
                if let Some(count) = counts.get_mut((u as usize).wrapping_sub(first)) {
                    *count += 1;
                }
                if let Some(count) = counts.get_mut((v as usize).wrapping_sub(first)) {
                    *count += 1;
                }
            }
        }
    });
    cancel.check()?;
    for v in 0..vertices {
        start[v + 1] += start[v];
    }
    Ok(start)
}

/// Tidies every row: `lengths` become those without duplicates. Returns how many entries were dropped
/// though their label differs from the one kept.
fn tidy_all<E: Entry>(
    start: &[u64],
    raw: &mut [E],
    positions: &[usize],
    lengths: &mut [u64],
    bounds: &[usize],
    cancel: &Cancel,
) -> u64 {
    let parts: Vec<_> = split(raw, positions)
        .into_iter()
        .zip(split(lengths, bounds))
        .zip(bounds.windows(2).map(|w| w[0]))
        .collect();
    crate::parallel::for_parts(parts, |((raw, lengths), first)| {
        let base = start[first];
        let mut conflicts = 0;
        for (i, length) in lengths.iter_mut().enumerate() {
            if i % 4096 == 0 && cancel.is_cancelled() {
                break;
            }
            let (from, to) = (start[first + i] - base, start[first + i + 1] - base);
            let (kept, differing) = tidy(&mut raw[from as usize..to as usize]);
            *length = kept as u64;
            conflicts += differing;
        }
        conflicts
    })
    .into_iter()
    .sum()
}

/// Closes the gaps that duplicates left behind rows of these lengths; where each row starts then.
fn close_gaps<E: Entry>(
    mut start: Vec<u64>,
    lengths: &[u64],
    raw: &mut Vec<E>,
    cancel: &Cancel,
) -> Result<Vec<u64>> {
    let vertices = lengths.len();
    let mut kept = 0;
    let mut looks = Looks::new(cancel);
    for v in 0..vertices {
        looks.check(1)?;
        let (from, length) = (start[v] as usize, lengths[v] as usize);
        if from != kept {
            raw.copy_within(from..from + length, kept);
        }
        start[v] = kept as u64;
        kept += length;
    }
    start[vertices] = kept as u64;
    raw.truncate(kept);
    raw.shrink_to_fit();
    Ok(start)
}

/// Sorts a row and moves its different neighbours to the front, each with its smallest label.
/// Returns their number, and how many of the others had another label than the one kept.
pub(super) fn tidy<E: Entry>(row: &mut [E]) -> (usize, u64) {
    if row.windows(2).all(|w| w[0].neighbour() < w[1].neighbour()) {
        return (row.len(), 0);
    }
    // Rows of most files are a few ascending runs, which the stable sort merges.
    row.sort();
    let (mut kept, mut conflicts) = (1, 0);
    for i in 1..row.len() {
        if row[i].neighbour() == row[kept - 1].neighbour() {
            conflicts += u64::from(row[i] != row[kept - 1]);
        } else {
            row[kept] = row[i];
            kept += 1;
        }
    }
    (kept, conflicts)
}

/// Cuts `items` at `bounds`, which begin with 0 and end with its length.
fn split<'a, T>(mut items: &'a mut [T], bounds: &[usize]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(bounds.len() - 1);
    for w in bounds.windows(2) {
        let (part, rest) = items.split_at_mut(w[1] - w[0]);
        parts.push(part);
        items = rest;
    }
    parts
}
