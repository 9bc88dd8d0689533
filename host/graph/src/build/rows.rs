//! From edges with labels to rows of neighbours. Dealt out as others are ([`super::dealt`]) they would take 40 bytes per edge at
//! their peak, and here 24.

use tracing::debug_span;

use super::EdgeBlock;
use super::entry::{Entry, tidy};
use super::halves::{HalfRowBuilder, Part, add_up, shares, split};
use super::numbering::{IdTable, Numbering, VertexIds, renumber};
use super::position::{Position, are_narrow};
use crate::{Label, VertexId};
use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::Result;
use gramer_base::memory::zeroed;

/// Numbers of dropped edges.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct DropCounts {
    pub self_loops: u64,
    /// Edges dropped though their label differs from the one kept.
    pub conflicts: u64,
}

/// Rows, with the numbering of their vertices.
pub(super) struct RowSet<E> {
    pub numbering: Numbering,
    pub ids: VertexIds,
    /// Start of each row, and the number of entries.
    pub start: Vec<u64>,
    pub rows: Vec<E>,
    pub dropped: DropCounts,
}

/// Rows of edges whose vertices are numbered or will be.
pub(super) fn made<E: Entry>(
    numbered: IdTable,
    blocks: Vec<EdgeBlock>,
    threads: usize,
    cancel: &Cancel,
    entry: impl Fn(VertexId, Label) -> E + Sync,
) -> Result<RowSet<E>> {
    match are_narrow(&blocks) {
        true => made_with::<E, u32>(numbered, blocks, threads, cancel, entry),
        false => made_with::<E, u64>(numbered, blocks, threads, cancel, entry),
    }
}

fn made_with<E: Entry, P: Position>(
    numbered: IdTable,
    mut blocks: Vec<EdgeBlock>,
    threads: usize,
    cancel: &Cancel,
    entry: impl Fn(VertexId, Label) -> E + Sync,
) -> Result<RowSet<E>> {
    match numbered {
        IdTable::Ids(numbering, ids) => {
            renumber(&mut blocks, &numbering, threads, cancel)?;
            let (start, rows, dropped) = rows::<E, P>(ids.len(), blocks, threads, cancel, entry)?;
            Ok(RowSet { numbering, ids: VertexIds::Listed(ids), start, rows, dropped })
        }
        IdTable::Later(used) => rows_of_ids::<E, P>(used, blocks, threads, cancel, entry),
    }
}

/// Rows by counting sort. Each edge first goes to the row of its smaller end: these half rows are sorted, and lose
/// their duplicates. Scanning them in order and appending each row's number to the rows of its entries then gives
/// the other halves, which are sorted as they come.
///
/// Each thread owns a range of vertices and picks its entries out of all edges, so that equal input gives equal rows.
///
/// Returns where each row begins and their entries.
fn rows<E: Entry, P: Position>(
    vertices: usize,
    blocks: Vec<EdgeBlock>,
    threads: usize,
    cancel: &Cancel,
    entry: impl Fn(VertexId, Label) -> E + Sync,
) -> Result<(Vec<u64>, Vec<E>, DropCounts)> {
    let halves = Halves::<E, P>::of(vertices, blocks, &mut [], threads, cancel, entry)?;
    let start = halves.starts(threads, cancel)?;
    let rows = halves.whole(&start, |v| v as VertexId, threads, cancel)?;
    let start = start.into_iter().map(|position| position.at() as u64).collect();
    Ok((start, rows, halves.dropped))
}

/// The same of edges whose vertices aren't numbered yet: there is a row for each id below the length of `used`, and
/// those that aren't in use go in the end. That costs less than to look at all ends of edges before. `used` is 1
/// for ids in use though they may have no edge, and 0 for all others.
fn rows_of_ids<E: Entry, P: Position>(
    mut used: Vec<u8>,
    blocks: Vec<EdgeBlock>,
    threads: usize,
    cancel: &Cancel,
    entry: impl Fn(VertexId, Label) -> E + Sync,
) -> Result<RowSet<E>> {
    let halves = Halves::<E, P>::of(used.len(), blocks, &mut used, threads, cancel, entry)?;
    let start = halves.starts(threads, cancel)?;
    let has_edge = |id: usize| start[id].at() < start[id + 1].at();
    let (numbering, ids) = numbered_in_order(&used, has_edge, cancel)?;
    let first = ids.first();
    let rows = match &numbering {
        Numbering::Table(numbers) => halves.whole(&start, |id| numbers[id], threads, cancel)?,
        // Ids below the first have no entries: what their numbers would be doesn't matter.
        _ => {
            let number = |id: usize| (id as u64).wrapping_sub(first) as VertexId;
            halves.whole(&start, number, threads, cancel)?
        }
    };
    let end = rows.len() as u64;
    let row = |number: usize| start[ids.of(number) as usize].at() as u64;
    let start = (0..ids.len()).map(row).chain([end]).collect();
    Ok(RowSet { numbering, ids, start, rows, dropped: halves.dropped })
}

/// The numbers of the ids that are in use or have an edge, and these ids.
pub(super) fn numbered_in_order(
    used: &[u8],
    has_edge: impl Fn(usize) -> bool,
    cancel: &Cancel,
) -> Result<(Numbering, VertexIds)> {
    let is_used = |id: usize| used[id] != 0 || has_edge(id);
    let first = (0..used.len()).find(|&id| is_used(id)).unwrap_or(used.len());
    let last = (first..used.len()).rfind(|&id| is_used(id));
    let range = first..last.map_or(first, |last| last + 1);
    let mut looks = CancelPoll::new(cancel);
    let mut gap = None;
    for id in range.clone() {
        looks.check(1)?;
        if !is_used(id) {
            gap = Some(id);
            break;
        }
    }
    let Some(gap) = gap else {
        let ids = if range.is_empty() { 0..0 } else { range.start as u64..range.end as u64 };
        return Ok((Numbering::Offset(ids.start), VertexIds::Consecutive(ids)));
    };
    // Untouched room costs address space only.
    let mut ids: Vec<u64> = Vec::with_capacity(range.len());
    let mut numbers = zeroed::<VertexId>(used.len())?;
    for id in range {
        looks.check(1)?;
        if id < gap || is_used(id) {
            numbers[id] = ids.len() as VertexId;
            ids.push(id as u64);
        }
    }
    ids.shrink_to_fit();
    Ok((Numbering::Table(numbers), VertexIds::Listed(ids)))
}

/// Sorted half rows: the entries above the row's own number.
struct Halves<E, P> {
    rows: HalfRowBuilder<E, P>,
    dropped: DropCounts,
}

impl<E: Entry, P: Position> Halves<E, P> {
    fn of(
        vertices: usize,
        blocks: Vec<EdgeBlock>,
        used: &mut [u8],
        threads: usize,
        cancel: &Cancel,
        entry: impl Fn(VertexId, Label) -> E + Sync,
    ) -> Result<Self> {
        let mut rows = HalfRowBuilder::of(vertices, &blocks, used, threads, cancel, entry)?;
        drop(blocks);
        let _span = debug_span!("tidy").entered();
        let conflicts =
            rows.each_part(threads, |Part { first, entries, base, ends }, start: &[P]| {
                let (mut conflicts, mut spare) = (0, vec![]);
                for (i, end) in ends.iter_mut().enumerate() {
                    if i % 4096 == 0 && cancel.is_cancelled() {
                        break;
                    }
                    let from = start[first + i].at();
                    let (kept, differing) =
                        tidy(&mut entries[from - base..end.at() - base], &mut spare);
                    *end = P::of((from + kept) as u64);
                    conflicts += differing;
                }
                conflicts
            });
        cancel.check()?;
        let dropped =
            DropCounts { self_loops: rows.self_loops, conflicts: conflicts.into_iter().sum() };
        Ok(Halves { rows, dropped })
    }

    fn row(&self, v: usize) -> &[E] {
        self.rows.row(v)
    }

    /// Returns the start of each whole row: V + 1 positions.
    fn starts(&self, threads: usize, cancel: &Cancel) -> Result<Vec<P>> {
        let _span = debug_span!("lengths").entered();
        let vertices = self.rows.ends.len();
        let mut start: Vec<P> = zeroed(vertices + 1)?;
        for (v, length) in start[1..].iter_mut().enumerate() {
            *length = P::of(self.row(v).len() as u64);
        }
        let even: Vec<usize> = (0..=threads).map(|t| vertices * t / threads).collect();
        let parts: Vec<_> = even.iter().zip(split(&mut start[1..], &even)).collect();
        gramer_base::parallel::for_parts(parts, |(&first, counts)| {
            let mut looks = CancelPoll::new(cancel);
            for v in 0..vertices {
                let row = self.row(v);
                if looks.check(row.len() + 1).is_err() {
                    return;
                }
                for entry in row {
                    if let Some(count) =
                        counts.get_mut((entry.neighbour() as usize).wrapping_sub(first))
                    {
                        count.advance();
                    }
                }
            }
        });
        cancel.check()?;
        add_up(&mut start);
        Ok(start)
    }

    /// The whole rows, which start here, with the numbers that vertices are to have, in the same order.
    fn whole(
        &self,
        start: &[P],
        number: impl Fn(usize) -> VertexId + Sync,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Vec<E>> {
        let _span = debug_span!("whole").entered();
        let vertices = self.rows.ends.len();
        let mut rows: Vec<E> = zeroed(start[vertices].at())?;
        let bounds = shares(start, threads);
        let positions: Vec<usize> = bounds.iter().map(|&v| start[v].at()).collect();
        let parts: Vec<_> =
            bounds.windows(2).map(|w| w[0]..w[1]).zip(split(&mut rows, &positions)).collect();
        gramer_base::parallel::for_parts(parts, |(own, rows)| {
            let base = start[own.start].at();
            let mut looks = CancelPoll::new(cancel);
            let mut cursor: Vec<P> = start[own.clone()].to_vec();
            for v in 0..own.end {
                let half = self.row(v);
                if looks.check(half.len() + 1).is_err() {
                    return;
                }
                let numbered = number(v);
                for entry in half {
                    let above = entry.neighbour() as usize;
                    if let Some(at) = cursor.get_mut(above.wrapping_sub(own.start)) {
                        rows[at.at() - base] = entry.with_neighbour(numbered);
                        at.advance();
                    }
                }
                // All numbers below its own have been appended to it by now.
                if v >= own.start {
                    let at = cursor[v - own.start].at() - base;
                    for (to, entry) in rows[at..at + half.len()].iter_mut().zip(half) {
                        *to = entry.with_neighbour(number(entry.neighbour() as usize));
                    }
                }
            }
        });
        cancel.check()?;
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    proptest::proptest! {
        #[test]
        fn rows_are_those_of_a_map_of_edges(
            edges in proptest::collection::vec((0u32..40, 0u32..40, 0u32..4), 0..400),
            few in proptest::bool::ANY,
            declared in proptest::collection::vec(0usize..40, 0..4),
            cut in 0usize..400,
            sorted in proptest::bool::ANY,
            labelled in proptest::bool::ANY,
            threads in 1usize..4,
        ) {
            let mut edges = edges;
            if few {
                edges.truncate(20);
            }
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
            let blocks = || vec![block(first), block(second)];
            let pack = |v: VertexId, label: Label| u64::from(v) << 32 | u64::from(label);
            let cancel = Cancel::default();
            let conflicts = |labels: &Vec<Label>| {
                let kept = labels.iter().min().unwrap();
                labels.iter().filter(|&label| label != kept).count() as u64
            };
            let loops = edges.iter().filter(|(u, v, _)| u == v).count() as u64;
            let lost = (loops, labels.values().map(conflicts).sum::<u64>() / 2);

            // Of vertices with numbers.
            let (start, found, dropped) =
                rows::<_, u64>(40, blocks(), threads, &cancel, pack).unwrap();
            proptest::prop_assert_eq!((dropped.self_loops, dropped.conflicts), lost);
            let row = |v: usize| &found[start[v] as usize..start[v + 1] as usize];
            for v in 0..40 {
                let row: Vec<_> = row(v).iter().map(|&e| (e.neighbour(), e as Label)).collect();
                proptest::prop_assert_eq!(row, expected(&labels, v as VertexId, |u| u));
            }

            // Of ids, some of which are in no edge, and some in none but loops.
            let mut used = vec![0; 40];
            declared.iter().for_each(|&id| used[id] = 1);
            let ends = edges.iter().flat_map(|&(u, v, _)| [u as usize, v as usize]);
            let ids: BTreeSet<usize> = ends.chain(declared).collect();
            let made = rows_of_ids::<_, u32>(used, blocks(), threads, &cancel, pack).unwrap();
            proptest::prop_assert_eq!((made.dropped.self_loops, made.dropped.conflicts), lost);
            let found: Vec<usize> =
                (0..made.ids.len()).map(|number| made.ids.of(number) as usize).collect();
            proptest::prop_assert_eq!(&found, &ids.iter().copied().collect::<Vec<_>>());
            proptest::prop_assert_eq!(made.start.len(), ids.len() + 1);
            let number = |id: VertexId| ids.range(..id as usize).count() as VertexId;
            for (v, &id) in ids.iter().enumerate() {
                proptest::prop_assert_eq!(made.numbering.of(id as u64), v as VertexId);
                let row = &made.rows[made.start[v] as usize..made.start[v + 1] as usize];
                let row: Vec<_> = row.iter().map(|&e| (e.neighbour(), e as Label)).collect();
                proptest::prop_assert_eq!(row, expected(&labels, id as VertexId, number));
            }
        }
    }

    /// A row by the definition, of neighbours with these numbers.
    fn expected(
        labels: &BTreeMap<[u32; 2], Vec<Label>>,
        v: VertexId,
        number: impl Fn(VertexId) -> VertexId,
    ) -> Vec<(VertexId, Label)> {
        let row = labels.range([v, 0]..=[v, u32::MAX]);
        row.map(|([_, u], labels)| (number(*u), *labels.iter().min().unwrap())).collect()
    }
}
