//! From edges to rows of neighbours.

use super::{EdgeBlock, zeroed};
use crate::context::{Cancel, Looks};
use crate::error::Result;
use crate::{Label, VertexId};

/// Entries of a row from which on dealing by digits is faster than to compare.
const LONG: usize = if cfg!(test) { 16 } else { 64 };
/// Most bits of a digit.
const DIGIT: u32 = 10;

/// What went away while rows were made.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Dropped {
    pub self_loops: u64,
    /// Edges dropped though their label differs from the one kept.
    pub conflicts: u64,
}

/// One entry of a row: a neighbour, with or without the label of the edge.
pub(super) trait Entry: Copy + bytemuck::Zeroable + Ord + Send + Sync {
    fn neighbour(self) -> VertexId;

    /// The same edge from its other end.
    fn with_neighbour(self, neighbour: VertexId) -> Self;

    /// Sorts a row. Rows of most files are a few ascending runs, which the stable sort merges.
    fn sort(row: &mut [Self], _spare: &mut Vec<Self>) {
        row.sort();
    }
}

impl Entry for u32 {
    fn neighbour(self) -> VertexId {
        self
    }

    fn with_neighbour(self, neighbour: VertexId) -> u32 {
        neighbour
    }

    fn sort(row: &mut [u32], spare: &mut Vec<u32>) {
        if row.len() < LONG { row.sort() } else { by_radix(row, spare) }
    }
}

impl Entry for u64 {
    fn neighbour(self) -> VertexId {
        (self >> 32) as VertexId
    }

    fn with_neighbour(self, neighbour: VertexId) -> u64 {
        u64::from(neighbour) << 32 | self & u64::from(Label::MAX)
    }
}

/// Rows by counting sort. Each edge first goes to the row of its smaller end: these half rows are sorted, and lose
/// their duplicates. Scanning them in order and appending each row's number to the rows of its entries then gives
/// the other halves, which are sorted as they come.
///
/// Each thread owns a range of vertices and picks its entries out of all edges. Reading an edge is sequential and far
/// cheaper than placing it, so that this scales well without atomics, and equal input gives equal rows.
pub(super) fn rows<E: Entry>(
    vertices: usize,
    blocks: Vec<EdgeBlock>,
    threads: usize,
    cancel: &Cancel,
    entry: impl Fn(VertexId, Label) -> E + Sync,
) -> Result<(Vec<u64>, Vec<E>, Dropped)> {
    let start = counted(vertices, &blocks, threads, cancel)?;
    let raw_edges = blocks.iter().map(|b| b.len() as u64).sum::<u64>();
    let mut dropped = Dropped { self_loops: raw_edges - start[vertices], conflicts: 0 };
    let bounds = shares(&start, threads);
    let positions: Vec<usize> = bounds.iter().map(|&v| start[v] as usize).collect();

    let mut halves: Vec<E> = zeroed(start[vertices] as usize)?;
    // Where the next entry of a half row goes; afterwards its length without duplicates.
    let mut cursor: Vec<u64> = zeroed(vertices)?;
    cursor.copy_from_slice(&start[..vertices]);
    let parts: Vec<_> = split(&mut halves, &positions)
        .into_iter()
        .zip(split(&mut cursor, &bounds))
        .zip(bounds.windows(2).map(|w| w[0]))
        .collect();
    crate::parallel::for_parts(parts, |((halves, cursor), first)| {
        let base = start[first];
        let mut place = |u: VertexId, v: VertexId, label: Label| {
            let (low, high) = (u.min(v), u.max(v));
            if low != high
                && let Some(at) = cursor.get_mut((low as usize).wrapping_sub(first))
            {
                halves[(*at - base) as usize] = entry(high, label);
                *at += 1;
            }
        };
        for block in &blocks {
            if cancel.is_cancelled() {
                return;
            }
            let pairs = block.narrow();
            if block.labels.is_empty() {
                pairs.iter().for_each(|&[u, v]| place(u, v, 0));
            } else {
                pairs.iter().zip(&block.labels).for_each(|(&[u, v], &label)| place(u, v, label));
            }
        }
    });
    cancel.check()?;
    drop(blocks);

    dropped.conflicts = tidy_all(&start, &mut halves, &positions, &mut cursor, &bounds, cancel);
    cancel.check()?;
    let halves = Halves { start: &start, lengths: &cursor, entries: &halves };
    let (start, rows) = halves.whole(threads, cancel)?;
    Ok((start, rows, dropped))
}

/// Ranges of vertices, one for each thread, whose rows have about as many entries: their bounds.
fn shares(start: &[u64], threads: usize) -> Vec<usize> {
    let vertices = start.len() - 1;
    let goal = |t: usize| start[vertices] * t as u64 / threads as u64;
    let mut bounds: Vec<usize> =
        (0..threads).map(|t| start.partition_point(|&s| s < goal(t)).min(vertices)).collect();
    bounds.push(vertices);
    bounds[0] = 0;
    bounds
}

/// Where each half row starts, loops left out and duplicates not: V + 1 positions.
fn counted(
    vertices: usize,
    blocks: &[EdgeBlock],
    threads: usize,
    cancel: &Cancel,
) -> Result<Vec<u64>> {
    let mut start: Vec<u64> = zeroed(vertices + 1)?;
    by_ranges(&mut start[1..], threads, |first, counts| {
        for block in blocks {
            if cancel.is_cancelled() {
                return;
            }
            for &[u, v] in block.narrow() {
                if u != v
                    && let Some(count) = counts.get_mut((u.min(v) as usize).wrapping_sub(first))
                {
                    *count += 1;
                }
            }
        }
    });
    cancel.check()?;
    add_up(&mut start);
    Ok(start)
}

/// Runs `work` on ranges of an array, one for each thread, with where they begin.
fn by_ranges(array: &mut [u64], threads: usize, work: impl Fn(usize, &mut [u64]) + Sync) {
    let even: Vec<usize> = (0..=threads).map(|t| array.len() * t / threads).collect();
    let parts: Vec<_> = even.windows(2).map(|w| w[0]).zip(split(array, &even)).collect();
    crate::parallel::for_parts(parts, |(first, part)| work(first, part));
}

/// From the lengths of rows, each at the position behind its row's, to where they start.
fn add_up(start: &mut [u64]) {
    for v in 1..start.len() {
        start[v] += start[v - 1];
    }
}

/// Tidies every half row: `lengths` become those without duplicates. Returns how many entries were dropped
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
        let (mut conflicts, mut spare) = (0, vec![]);
        for (i, length) in lengths.iter_mut().enumerate() {
            if i % 4096 == 0 && cancel.is_cancelled() {
                break;
            }
            let (from, to) = (start[first + i] - base, start[first + i + 1] - base);
            let (kept, differing) = tidy(&mut raw[from as usize..to as usize], &mut spare);
            *length = kept as u64;
            conflicts += differing;
        }
        conflicts
    })
    .into_iter()
    .sum()
}

/// Sorted half rows: the entries above the row's own number.
struct Halves<'a, E> {
    /// V + 1 positions, and how many entries there are.
    start: &'a [u64],
    lengths: &'a [u64],
    entries: &'a [E],
}

impl<E: Entry> Halves<'_, E> {
    fn row(&self, v: usize) -> &[E] {
        &self.entries[self.start[v] as usize..][..self.lengths[v] as usize]
    }

    /// The whole rows, and where each starts.
    fn whole(&self, threads: usize, cancel: &Cancel) -> Result<(Vec<u64>, Vec<E>)> {
        let vertices = self.lengths.len();
        let mut start: Vec<u64> = zeroed(vertices + 1)?;
        start[1..].copy_from_slice(self.lengths);
        by_ranges(&mut start[1..], threads, |first, counts| {
            let mut looks = Looks::new(cancel);
            for v in 0..vertices {
                let row = self.row(v);
                if looks.check(row.len() + 1).is_err() {
                    return;
                }
                for entry in row {
                    if let Some(count) =
                        counts.get_mut((entry.neighbour() as usize).wrapping_sub(first))
                    {
                        *count += 1;
                    }
                }
            }
        });
        cancel.check()?;
        add_up(&mut start);

        let mut rows: Vec<E> = zeroed(start[vertices] as usize)?;
        let bounds = shares(&start, threads);
        let positions: Vec<usize> = bounds.iter().map(|&v| start[v] as usize).collect();
        let parts: Vec<_> =
            bounds.windows(2).map(|w| w[0]..w[1]).zip(split(&mut rows, &positions)).collect();
        crate::parallel::for_parts(parts, |(own, rows)| {
            let base = start[own.start];
            let mut looks = Looks::new(cancel);
            let mut cursor: Vec<u64> = start[own.clone()].iter().map(|&s| s - base).collect();
            for v in 0..own.end {
                let half = self.row(v);
                if looks.check(half.len() + 1).is_err() {
                    return;
                }
                for entry in half {
                    let above = entry.neighbour() as usize;
                    if let Some(at) = cursor.get_mut(above.wrapping_sub(own.start)) {
                        rows[*at as usize] = entry.with_neighbour(v as VertexId);
                        *at += 1;
                    }
                }
                // All numbers below its own have been appended to it by now.
                if v >= own.start {
                    let at = cursor[v - own.start] as usize;
                    rows[at..at + half.len()].copy_from_slice(half);
                }
            }
        });
        cancel.check()?;
        Ok((start, rows))
    }
}

/// Sorts by digits, from the lowest up. `spare` keeps its memory from row to row.
fn by_radix(row: &mut [u32], spare: &mut Vec<u32>) {
    let all = row.iter().fold(0, |all, &entry| all | entry);
    let bits = u32::BITS - all.leading_zeros();
    let digits = bits.div_ceil(DIGIT).max(1);
    let width = bits.div_ceil(digits);
    spare.clear();
    spare.resize(row.len(), 0);
    let (mut from, mut to) = (row, spare.as_mut_slice());
    for low in (0..digits).map(|digit| digit * width) {
        let digit = |entry: u32| (entry >> low) as usize & ((1 << width) - 1);
        let mut ends = [0u32; 1 << DIGIT];
        from.iter().for_each(|&entry| ends[digit(entry)] += 1);
        let mut before = 0;
        for end in &mut ends[..1 << width] {
            before += std::mem::replace(end, before);
        }
        for &entry in &*from {
            let end = &mut ends[digit(entry)];
            to[*end as usize] = entry;
            *end += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    if digits % 2 == 1 {
        to.copy_from_slice(from);
    }
}

/// Sorts a row and moves its different neighbours to the front, each with its smallest label.
/// Returns their number, and how many of the others had another label than the one kept. `spare` is for the sort.
pub(super) fn tidy<E: Entry>(row: &mut [E], spare: &mut Vec<E>) -> (usize, u64) {
    if row.windows(2).all(|w| w[0].neighbour() < w[1].neighbour()) {
        return (row.len(), 0);
    }
    E::sort(row, spare);
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    proptest::proptest! {
        #[test]
        fn tidied_rows_are_sorted_and_have_nothing_twice(
            numbers in proptest::collection::vec(proptest::num::u32::ANY, 0..60),
            shift in 0u32..32,
            twice in proptest::bool::ANY,
        ) {
            let mut row: Vec<u32> = numbers.iter().map(|n| n >> shift).collect();
            if twice {
                row.extend_from_within(..);
            }
            let mut expected = row.clone();
            expected.sort_unstable();
            expected.dedup();
            // What is left of a longer row doesn't matter.
            let (kept, conflicts) = tidy(&mut row, &mut vec![7; 200]);
            proptest::prop_assert_eq!((&row[..kept], conflicts), (&expected[..], 0));
        }

        #[test]
        fn rows_are_those_of_a_map_of_edges(
            edges in proptest::collection::vec((0u32..40, 0u32..40, 0u32..4), 0..400),
            cut in 0usize..400,
            sorted in proptest::bool::ANY,
            labelled in proptest::bool::ANY,
            threads in 1usize..4,
        ) {
            let mut edges = edges;
            if sorted {
                edges.sort_unstable();
            }
            let mut labels: BTreeMap<[u32; 2], Vec<Label>> = BTreeMap::new();
            for &(u, v, label) in edges.iter().filter(|(u, v, _)| u != v) {
                let label = if labelled { label } else { 0 };
                labels.entry([u, v]).or_default().push(label);
                labels.entry([v, u]).or_default().push(label);
            }
            let (first, second) = edges.split_at(cut.min(edges.len()));
            let block = |edges: &[(u32, u32, u32)]| {
                let mut block = EdgeBlock::default();
                for &(u, v, label) in edges {
                    block.push(u.into(), v.into());
                    if labelled {
                        block.labels.push(label);
                    }
                }
                block
            };
            let blocks = vec![block(first), block(second)];
            let pack = |v: VertexId, label: Label| u64::from(v) << 32 | u64::from(label);
            let (start, found, dropped) = rows(40, blocks, threads, &Cancel::default(), pack).unwrap();
            let row = |v: u32| &found[start[v as usize] as usize..start[v as usize + 1] as usize];
            let mut conflicts = 0;
            for v in 0..40 {
                let mut expected = vec![];
                for ([_, u], labels) in labels.range([v, 0]..=[v, u32::MAX]) {
                    let kept = *labels.iter().min().unwrap();
                    conflicts += labels.iter().filter(|&&label| label != kept).count() as u64;
                    expected.push(pack(*u, kept));
                }
                proptest::prop_assert_eq!(row(v), &expected[..]);
            }
            let loops = edges.iter().filter(|(u, v, _)| u == v).count() as u64;
            proptest::prop_assert_eq!((dropped.self_loops, 2 * dropped.conflicts), (loops, conflicts));
        }
    }
}
