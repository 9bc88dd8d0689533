//! From edges without labels to rows, in the order of the input or of Rank(ON_1).
//!
//! No row is ever sorted. Each edge first goes to the row of its smaller end; edges that ascend by smaller, then larger end
//! are such half rows already. For ON_1, stamps find duplicates, and half rows give the degrees and the sums of the neighbours'
//! degrees: the new numbers of vertices are known before there is a whole row. [`super::fill`] makes whole rows, and in the
//! order of the input it also finds duplicates.
//!
//! All this is for one thread. Several deal entries out to ranges of rows, in the order of the input: [`super::dealt`].

use tracing::info_span;

use super::fill;
use super::halves::{self, HalfRowBuilder, HalfRows, add_up};
use super::numbering::{IdTable, Numbering, VertexIds, renumber};
use super::position::{Position, are_narrow};
use super::rows::{DropCounts, RowSet, numbered_in_order};
use super::{EdgeBlock, Pairs};
use crate::local::{FLAT, are_close};
use crate::prepare::ranked;
use crate::{AskedOrder, Order, VertexId};
use gramer_base::context::{Cancel, CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::zeroed;

/// The rows of edges without labels, made by one thread in the order that is asked for.
pub(super) fn made(
    numbered: IdTable,
    blocks: Vec<EdgeBlock>,
    asked: AskedOrder,
    context: &Context,
) -> Result<RowSet<VertexId>> {
    match are_narrow(&blocks) {
        true => made_with::<u32>(numbered, blocks, asked, context),
        false => made_with::<u64>(numbered, blocks, asked, context),
    }
}

fn made_with<P: Position>(
    numbered: IdTable,
    mut blocks: Vec<EdgeBlock>,
    asked: AskedOrder,
    context: &Context,
) -> Result<RowSet<VertexId>> {
    let cancel = &context.cancel;
    let (known, mut used) = match numbered {
        IdTable::Ids(numbering, ids) => {
            renumber(&mut blocks, &numbering, 1, cancel)?;
            (Some((numbering, ids)), vec![])
        }
        // There is a row for each id, and those that aren't in use go in the end.
        IdTable::Later(used) => (None, used),
    };
    let vertices = known.as_ref().map_or(used.len(), |(_, ids)| ids.len());
    let edges = blocks.iter().map(EdgeBlock::len).sum::<usize>();
    let halves = match halves::of_sorted(vertices, &blocks, &mut used)? {
        Some(rows) => Halves::as_they_are(rows, edges, true)?,
        None => {
            let HalfRowBuilder { start, entries, .. } =
                HalfRowBuilder::<_, P>::of(vertices, &blocks, &mut used, 1, cancel, |v, _| v)?;
            let rows = HalfRows { start, entries };
            match asked.order {
                // Degrees with duplicates have 32 bits too.
                Order::Input if are_narrow(&blocks) => Halves::as_they_are(rows, edges, false)?,
                _ => Halves::distinct(rows, edges, cancel)?,
            }
        }
    };
    cancel.check()?;
    let spare = spare_of(blocks);
    match asked.order {
        Order::RankOn1 if !(asked.keep_local && halves.are_local()) => {
            halves.ranked(known, &used, spare, context)
        }
        _ => halves.in_order(known, &used, spare, cancel),
    }
}

/// Reuses the memory of the edges for the rows: two entries are as large as the ends of an edge. Memory that was
/// written needs no clearing and no new pages.
fn spare_of(blocks: Vec<EdgeBlock>) -> Vec<VertexId> {
    let narrow = blocks.into_iter().filter_map(|block| match block.pairs {
        Pairs::Narrow(pairs) => Some(pairs),
        Pairs::Wide(_) | Pairs::Spilled(_) => None,
    });
    narrow.max_by_key(Vec::len).unwrap_or_default().into_flattened()
}

/// Entries of a row up to which they are compared with each other; stamps are anywhere in memory.
const SHORT: usize = if cfg!(test) { 3 } else { 8 };
/// So wide that stamps are seldom cleared, once in as many long rows as it has values.
#[cfg(not(test))]
type Stamp = u16;
#[cfg(test)]
type Stamp = u8;

/// Half rows in the order of the text, and what they say of vertices.
struct Halves<P> {
    rows: HalfRows<P>,
    /// Degree of each vertex, over both its halves, with the duplicates that these have.
    degrees: Vec<u32>,
    self_loops: u64,
    /// Whether each half row ascends, without duplicates.
    sorted: bool,
}

impl<P: Position> Halves<P> {
    /// Half rows of this many edges, with their duplicates; those that are `sorted` have none.
    fn as_they_are(rows: HalfRows<P>, edges: usize, sorted: bool) -> Result<Self> {
        let mut degrees: Vec<u32> = zeroed(rows.vertices())?;
        for (degree, of) in degrees.iter_mut().zip(rows.start.windows(2)) {
            *degree = (of[1].at() - of[0].at()) as u32;
        }
        rows.entries.iter().for_each(|&other| degrees[other as usize] += 1);
        let self_loops = (edges - rows.entries.len()) as u64;
        Ok(Halves { rows, degrees, self_loops, sorted })
    }

    /// Keeps the different entries of each row, in the order in which they came, and counts them.
    fn distinct(rows: HalfRows<P>, edges: usize, cancel: &Cancel) -> Result<Self> {
        let HalfRows { mut start, mut entries } = rows;
        let self_loops = (edges - entries.len()) as u64;
        let vertices = start.len() - 1;
        let mut degrees: Vec<u32> = zeroed(vertices)?;
        // A vertex has the stamp of the long row in which it was seen last, unless that was before they were cleared.
        let (mut stamps, mut stamp) = (zeroed::<Stamp>(vertices)?, 0);
        let mut looks = CancelPoll::new(cancel);
        let mut end = 0;
        for v in 0..vertices {
            let from = start[v].at();
            let row = &mut entries[from..start[v + 1].at()];
            looks.check(row.len() + 1)?;
            let mut kept = row.len();
            if ascends(row) {
                row.iter().for_each(|&other| degrees[other as usize] += 1);
            } else if row.len() <= SHORT {
                kept = different(row);
                row[..kept].iter().for_each(|&other| degrees[other as usize] += 1);
            } else {
                if stamp == Stamp::MAX {
                    // A row's entries are behind it.
                    stamps[v..].fill(0);
                    stamp = 0;
                }
                stamp += 1;
                kept = 0;
                // Without a branch, of which duplicates are mispredicted.
                for i in 0..row.len() {
                    let other = row[i];
                    let seen = &mut stamps[other as usize];
                    let new = *seen != stamp;
                    *seen = stamp;
                    row[kept] = other;
                    kept += usize::from(new);
                    degrees[other as usize] += u32::from(new);
                }
            }
            degrees[v] += kept as u32;
            if end < from {
                entries.copy_within(from..from + kept, end);
            }
            start[v] = P::of(end as u64);
            end += kept;
        }
        start[vertices] = P::of(end as u64);
        Ok(Halves { rows: HalfRows { start, entries }, degrees, self_loops, sorted: false })
    }

    /// As [`crate::View::is_local`].
    fn are_local(&self) -> bool {
        self.degrees.iter().all(|&degree| degree as usize <= FLAT)
            && are_close(self.degrees.len(), |v| self.rows.row(v))
    }

    /// The rows in the order of the input. `known` are numbers and ids of the vertices, where they have some already;
    /// otherwise they are ids; those in `used` or with an edge are vertices.
    fn in_order(
        self,
        known: Option<(Numbering, Vec<u64>)>,
        used: &[u8],
        spare: Vec<VertexId>,
        cancel: &Cancel,
    ) -> Result<RowSet<VertexId>> {
        let Halves { rows, degrees, self_loops, sorted } = self;
        let numbered = known.is_some();
        let (numbering, ids) = match known {
            Some((numbering, ids)) => (numbering, VertexIds::Listed(ids)),
            None => numbered_in_order(used, |id| degrees[id] > 0, cancel)?,
        };
        let row = |number: usize| if numbered { number } else { ids.of(number) as usize };
        let offsets: Vec<P> = offsets((0..ids.len()).map(|number| degrees[row(number)]))?;
        drop(degrees);
        let first = ids.first();
        let (offsets, rows) = match &numbering {
            _ if numbered => fill::in_order(rows, sorted, offsets, spare, |v| v, cancel)?,
            Numbering::Table(numbers) => {
                fill::in_order(rows, sorted, offsets, spare, |id| numbers[id as usize], cancel)?
            }
            // Ids below the first have no entries: what their numbers would be doesn't matter.
            _ => {
                let number = |id| u64::from(id).wrapping_sub(first) as VertexId;
                fill::in_order(rows, sorted, offsets, spare, number, cancel)?
            }
        };
        Ok(of_rows(numbering, ids, offsets, rows, self_loops))
    }

    /// The rows in the order of Rank(ON_1), of vertices as above.
    fn ranked(
        self,
        known: Option<(Numbering, Vec<u64>)>,
        used: &[u8],
        spare: Vec<VertexId>,
        context: &Context,
    ) -> Result<RowSet<VertexId>> {
        let cancel = &context.cancel;
        let _span = info_span!("rank", vertices = self.degrees.len()).entered();
        let around = self.around(cancel)?;
        let Halves { rows, degrees, self_loops, .. } = self;
        // Below 2^96, and not 0 where there is an edge.
        let on_1 = |v: usize| around[v][DEGREE].at() as u128 * around[v][SUM].at() as u128;
        let mut order = ranked(degrees.len(), on_1, context)?;
        drop(around);
        if known.is_none() {
            let alone = order.partition_point(|&v| degrees[v as usize] > 0);
            let alone = order.split_off(alone);
            order.extend(alone.into_iter().filter(|&v| used[v as usize] != 0));
        }
        let mut ranks: Vec<VertexId> = zeroed(degrees.len())?;
        let mut looks = CancelPoll::new(cancel);
        for (rank, &v) in (0..).zip(&order) {
            looks.check(1)?;
            ranks[v as usize] = rank;
        }
        let offsets: Vec<P> = offsets(order.iter().map(|&v| degrees[v as usize]))?;
        drop(degrees);
        let (by_id, ids) = match known {
            Some((numbering, ids)) => (numbering, order.iter().map(|&v| ids[v as usize]).collect()),
            None => (Numbering::Offset(0), order.iter().map(|&v| v.into()).collect()),
        };
        drop(order);
        let rows = fill::by_rank(rows, &offsets, spare, &ranks, cancel)?;
        let numbering = Numbering::Ranked { by_id: Box::new(by_id), ranks };
        Ok(of_rows(numbering, VertexIds::Listed(ids), offsets, rows, self_loops))
    }

    /// Sums for ON_1, by vertex.
    fn around(&self, cancel: &Cancel) -> Result<Vec<DegreeSums<P>>> {
        let mut around: Vec<DegreeSums<P>> = zeroed(self.degrees.len())?;
        for (to, &degree) in around.iter_mut().zip(&self.degrees) {
            to[DEGREE] = P::of(degree.into());
        }
        let mut looks = CancelPoll::new(cancel);
        for v in 0..around.len() {
            let row = self.rows.row(v);
            looks.check(row.len() + 1)?;
            let (degree, mut sum) = (around[v][DEGREE].at() as u64, 0);
            for &other in row {
                let other = &mut around[other as usize];
                sum += other[DEGREE].at() as u64;
                other[SUM] = P::of(other[SUM].at() as u64 + degree);
            }
            around[v][SUM] = P::of(around[v][SUM].at() as u64 + sum);
        }
        Ok(around)
    }
}

/// A vertex' degree, and the sum of its neighbours' degrees: no more than all entries of rows, which are positions. Of each neighbour
/// both are wanted, and are in one line of a cache.
type DegreeSums<P> = [P; 2];

const DEGREE: usize = 0;
const SUM: usize = 1;

/// Moves the different entries of a short row to the front, in the order in which they came; their number.
fn different(row: &mut [VertexId]) -> usize {
    let mut kept = 0;
    for i in 0..row.len() {
        let other = row[i];
        let new = row[..kept].iter().fold(true, |new, &kept| new & (kept != other));
        row[kept] = other;
        kept += usize::from(new);
    }
    kept
}

/// Whether each entry is above the one before.
fn ascends(row: &[VertexId]) -> bool {
    // Where a short row first doesn't ascend is no guess for a processor, whether it does is one.
    match row.len() {
        0..=1 => true,
        2..=16 => row.windows(2).fold(true, |all, w| all & (w[0] < w[1])),
        _ => row.windows(2).all(|w| w[0] < w[1]),
    }
}

/// Starts of rows of these lengths, and the end of the last one.
fn offsets<P: Position>(lengths: impl ExactSizeIterator<Item = u32>) -> Result<Vec<P>> {
    let mut offsets: Vec<P> = zeroed(lengths.len() + 1)?;
    offsets[1..].iter_mut().zip(lengths).for_each(|(to, length)| *to = P::of(length.into()));
    add_up(&mut offsets);
    Ok(offsets)
}

fn of_rows<P: Position>(
    numbering: Numbering,
    ids: VertexIds,
    offsets: Vec<P>,
    rows: Vec<VertexId>,
    self_loops: u64,
) -> RowSet<VertexId> {
    let start = offsets.into_iter().map(|position| position.at() as u64).collect();
    RowSet { numbering, ids, start, rows, dropped: DropCounts { self_loops, conflicts: 0 } }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BTreeSet;

    use super::*;
    use crate::build::dealt;
    use crate::build::numbering::number_ids;

    /// Blocks of edges.
    fn blocks(edges: &[(u64, u64)], cut: usize) -> Vec<EdgeBlock> {
        let (first, second) = edges.split_at(cut.min(edges.len()));
        let block = |edges: &[(u64, u64)]| {
            let mut block = EdgeBlock::default();
            edges.iter().for_each(|&(u, v)| block.push(u, v));
            block
        };
        vec![block(first), block(second)]
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(400))]
        // Of ids close together and far apart, from 0 and from elsewhere, of which some are in no edge and some in none
        // but loops; long rows too, and so many that stamps are cleared.
        #[test]
        fn rows_are_those_of_a_set_of_edges(
            edges in proptest::collection::vec((0u64..90, 0u64..90), 0..900),
            several in 1usize..8,
            hubs in 1u64..90,
            declared in proptest::collection::vec(0u64..90, 0..6),
            range in 0u64..20,
            apart in proptest::sample::select(vec![0u32, 0, 0, 2, 9, 30, 50]),
            from in proptest::sample::select(vec![0u64, 1, 70, 5000]),
            cut in 0usize..900,
            sorted in 0..3,
            wide in proptest::bool::ANY,
        ) {
            let id = |v: u64| from + (v << apart);
            // Some vertices of many entries, and rows behind each other.
            let mut edges: Vec<(u64, u64)> = edges
                .iter()
                .enumerate()
                .map(|(i, &(u, v))| if i % 3 == 0 { (u, v % hubs) } else { (u, v) })
                .flat_map(|(u, v)| (0..several as u64).map(move |k| (u + 90 * k, v + 90 * (k / 2))))
                .map(|(u, v)| (id(u), id(v)))
                .collect();
            if sorted == 2 {
                edges.iter_mut().for_each(|edge| *edge = (edge.0.min(edge.1), edge.0.max(edge.1)));
            }
            if sorted > 0 {
                edges.sort_unstable();
            }
            if sorted == 2 {
                edges.dedup();
            }
            let mut declared: Vec<u64> = declared.into_iter().map(id).collect();
            declared.sort_unstable();
            declared.dedup();
            let range = if apart == 0 { from..from + range } else { 0..0 };

            let ends = edges.iter().flat_map(|&(u, v)| [u, v]);
            let ids: BTreeSet<u64> =
                ends.chain(declared.iter().copied()).chain(range.clone()).collect();
            let ids: Vec<u64> = ids.into_iter().collect();
            let number = |id: u64| ids.binary_search(&id).unwrap() as VertexId;
            let mut around = vec![BTreeSet::new(); ids.len()];
            for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
                around[number(u) as usize].insert(number(v));
                around[number(v) as usize].insert(number(u));
            }
            let degree = |v: &VertexId| around[*v as usize].len();
            let on_1 = |v: VertexId| degree(&v) * around[v as usize].iter().map(degree).sum::<usize>();
            let loops = edges.iter().filter(|(u, v)| u == v).count() as u64;

            let ways =
                [(Order::Input, 1), (Order::RankOn1, 1), (Order::Input, 2), (Order::Input, 5)];
            for (order, threads) in ways {
                let context = Context::with_threads(threads);
                let mut expected: Vec<VertexId> = (0..ids.len() as VertexId).collect();
                if order == Order::RankOn1 {
                    expected.sort_by_key(|&v| (Reverse(on_1(v)), v));
                }
                let mut ranks = vec![0; ids.len()];
                (0..).zip(&expected).for_each(|(rank, &v)| ranks[v as usize] = rank);

                let mut blocks = blocks(&edges, cut);
                let declared = (declared.clone(), range.clone());
                let numbered =
                    number_ids(&mut blocks, declared, threads, None, &context.cancel).unwrap();
                let cancel = &context.cancel;
                let made = match (threads, wide) {
                    (1, true) => made_with::<u64>(numbered, blocks, order.into(), &context),
                    (1, false) => made_with::<u32>(numbered, blocks, order.into(), &context),
                    (_, true) => dealt::made_with::<u64>(numbered, blocks, threads, cancel),
                    (_, false) => dealt::made_with::<u32>(numbered, blocks, threads, cancel),
                };
                let RowSet { numbering, ids: found, start, rows, dropped } = made.unwrap();
                proptest::prop_assert_eq!((dropped.self_loops, dropped.conflicts), (loops, 0));
                let by_rank: Vec<u64> = expected.iter().map(|&v| ids[v as usize]).collect();
                let found: Vec<u64> = (0..found.len()).map(|number| found.of(number)).collect();
                proptest::prop_assert_eq!(found, by_rank);
                proptest::prop_assert_eq!(start.len(), ids.len() + 1);
                for (rank, &v) in expected.iter().enumerate() {
                    proptest::prop_assert_eq!(numbering.of(ids[v as usize]), rank as VertexId);
                    let mut row: Vec<VertexId> =
                        around[v as usize].iter().map(|&u| ranks[u as usize]).collect();
                    row.sort_unstable();
                    let range = start[rank] as usize..start[rank + 1] as usize;
                    proptest::prop_assert_eq!(&rows[range], row);
                }
            }
        }
    }

    #[test]
    fn a_run_that_is_to_stop_ends() {
        let edges: Vec<(u64, u64)> = (0..5000).map(|i| (i, i * 7 % 5000)).collect();
        for (order, threads) in [(Order::Input, 1), (Order::RankOn1, 1), (Order::Input, 3)] {
            let context = Context::with_threads(threads);
            let cancel = &context.cancel;
            let mut blocks = blocks(&edges, 2000);
            let numbered = number_ids(&mut blocks, (vec![], 0..0), threads, None, cancel).unwrap();
            cancel.cancel();
            let made = match threads {
                1 => made(numbered, blocks, order.into(), &context),
                _ => dealt::made(numbered, blocks, threads, cancel),
            };
            assert!(made.is_err());
        }
    }
}
