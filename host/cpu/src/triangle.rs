//! Number of triangles.
//!
//! Each triangle is found from its largest (least valuable) vertex v: for each neighbour u before
//! v, the neighbours of u before u that are also neighbours of v. In the order of Rank(ON_1) the
//! lists before a vertex are short, and the few valuable vertices are in most of them: where there
//! are several of those below [`HUBS`] in a list, they are kept as bits, so that one intersection of
//! two rows of words finds all triangles that end in one of them. What has fewer is looked up.
//!
//! Lists that are looked up are short, and no processor foresees where each of them ends. So nothing is done list by
//! list: they are copied behind each other, in whole blocks, of which the next list overwrites what is too much, and
//! then looked up as one list. Neither has a list without a row of bits its own branch: it has an empty row.
//!
//! The lists of the neighbours u are scattered in memory. So they are first copied close together, and prefetched
//! several neighbours ahead: first their positions, then lists and rows of bits, so that counting finds them in the
//! nearest caches.

mod lists;

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use gramer_base::budget::touch;
use gramer_base::context::Cancel;
use gramer_base::prefetch::prefetch;
use gramer_graph::{Graph, Order, VertexId, View};

use super::reach::{Sparse, fits};
use super::sets::{Bitmap, Bits};
use super::{Job, StartVertices, arcs};
use lists::{HUBS, HubBits, LONG, Lists, NO_ROW, WORDS, as_bits, copy};

/// Number of triangles, and whether the run was finished.
pub(super) fn count(graph: &Graph, job: Job<'_>) -> (u128, bool) {
    let view = graph.view();
    // A thread has a bit for each vertex.
    if !fits(view.vertices().div_ceil(8), 1) {
        let ran = arcs::triangles::<Sparse, _>(view, job, || 0u128, |sum, _, _| *sum += 1);
        return ran.sum(|sum| *sum);
    }
    // Shares use the graph's own numbers; with limited memory there is room for its rows only.
    let whole = job.units.share().is_none() && job.others.is_none() && job.context.budget.is_none();
    let lists = match graph.order() {
        Order::Input if whole && !is_even(view) => Lists::by_degree(view, job),
        _ => Lists::by_number(view, job),
    };
    lists.map_or((0, false), |lists| count_by(&lists, view, job))
}

/// Degree of the end of an edge, on average, up to which lists are about as short in any order.
const EVEN: u128 = 32;

/// Whether no vertices have far more neighbours than others, so that ranking by degree takes longer than it saves.
fn is_even(graph: View<'_>) -> bool {
    let squares = graph.offsets.windows(2).map(|of| u128::from(of[1] - of[0]).pow(2)).sum::<u128>();
    squares <= EVEN * graph.neighbours.len() as u128
}

fn count_by(lists: &Lists<'_>, graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    // Copies of all lists of a part.
    let longest = lists.before.iter().map(|of| of.len()).max().unwrap_or(0);
    let room = (longest.min(LOOK) + 1) * LONG;
    // The largest vertex of a triangle has two others before it.
    let list = |v: VertexId| match lists.before[v as usize].len() {
        0 | 1 => 0,
        len => len,
    };
    // Positions in a unit have 32 bits, and shares consist of single vertices.
    let few = longest <= u32::MAX as usize / BLOCK;
    let block = if few && job.units.share().is_none() { BLOCK } else { 1 };
    let vertices = |number: u32| {
        let first = number as usize * block;
        first as VertexId..(first + block).min(graph.vertices()) as VertexId
    };
    let units = StartVertices::blocks(graph, block).units_of_few_steps(
        job,
        |number| vertices(number).map(list).sum(),
        |number| vertices(number).map(|v| (list(v) as u64).pow(2)).sum(),
    );
    let ran = job.run(
        &units,
        || Counter {
            lists,
            cancel: &context.cancel,
            total: 0,
            marked: Bitmap::new(graph.vertices().max(HUBS)),
            room: vec![0; room],
        },
        |counter, unit| {
            let (positions, mut begin) = (unit.range(), 0);
            for v in vertices(unit.start) {
                let end = begin + list(v);
                let own = positions.start.max(begin)..positions.end.min(end);
                if !own.is_empty() {
                    counter.add(v, own.start - begin..own.end - begin)?;
                }
                begin = end;
            }
            ControlFlow::Continue(())
        },
    );
    ran.sum(|counter| counter.total)
}

/// Vertices per work unit. For most vertices, scheduling a unit of their own would cost more than counting.
const BLOCK: usize = 16;

/// State of a thread.
struct Counter<'l> {
    lists: &'l Lists<'l>,
    cancel: &'l Cancel,
    total: u128,
    /// Earlier neighbours of the current vertex.
    marked: Bitmap,
    /// Copies of lists.
    room: Vec<VertexId>,
}

impl Counter<'_> {
    /// Adds the triangles whose last vertex is `v` and whose second vertex is at these positions of the list of `v`.
    fn add(&mut self, v: VertexId, positions: Range<usize>) -> ControlFlow<()> {
        let Counter { lists, cancel, total, marked, room } = self;
        let (row, in_bits) = lists.of(v);
        touch(row);
        let (others, mine) = match lists.before[v as usize].row {
            NO_ROW => {
                // Few, or all of a list for whose bits there was no room.
                let hubs = row.iter().take_while(|&&u| (u as usize) < HUBS).count();
                (&row[hubs..], as_bits(&row[..hubs]))
            }
            number => (&row[in_bits..], lists.bits.all()[number as usize]),
        };
        marked.set_first(&mine.0);
        marked.insert_all(others);
        // Nothing of an ascending list is before its first entry.
        let first = positions.start.max(usize::from(lists.ascend));
        let mut flow = ControlFlow::Continue(());
        for part in row[first..positions.end.max(first)].chunks(LOOK) {
            if cancel.is_cancelled() {
                flow = ControlFlow::Break(());
                break;
            }
            *total += u128::from(through(lists, &mine, marked.as_bits(), part, room));
        }
        marked.set_first(&[0; WORDS]);
        marked.clear_all(others);
        flow
    }
}

/// Lists that are gone through between two looks at the stop flag.
const LOOK: usize = 1 << 7;

/// Number of triangles of a vertex with those of `part`. `mine` are the hubs before the vertex, `marked` are all
/// neighbours before it; `room` is for copies of lists.
fn through(
    lists: &Lists<'_>,
    mine: &HubBits,
    marked: Bits<'_>,
    part: &[VertexId],
    room: &mut [VertexId],
) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vpopcntdq") && has!("popcnt") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { through_avx512(lists, mine, marked, part, room) };
        }
        if has!("avx2") && has!("popcnt") {
            // SAFETY: as above.
            return unsafe { through_avx2(lists, mine, marked, part, room) };
        }
    }
    through_with(lists, mine, part, room, |array, list| marked.intersection_size(&array[list]))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
fn through_avx512(
    lists: &Lists<'_>,
    mine: &HubBits,
    marked: Bits<'_>,
    part: &[VertexId],
    room: &mut [VertexId],
) -> u64 {
    through_with(lists, mine, part, room, |array, list| {
        marked.intersection_size_avx512(array, list)
    })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn through_avx2(
    lists: &Lists<'_>,
    mine: &HubBits,
    marked: Bits<'_>,
    part: &[VertexId],
    room: &mut [VertexId],
) -> u64 {
    through_with(lists, mine, part, room, |array, list| marked.intersection_size(&array[list]))
}

/// `marked` says how many of a list in an array are marked.
#[inline(always)]
fn through_with(
    lists: &Lists<'_>,
    HubBits(mine): &HubBits,
    part: &[VertexId],
    room: &mut [VertexId],
    marked: impl Fn(&[VertexId], Range<usize>) -> usize,
) -> u64 {
    let Lists { before, all, .. } = lists;
    let bits = lists.bits.all();
    for &u in part {
        prefetch(before, u as usize, 1);
    }
    let ask = |&u: &VertexId| {
        let of = before[u as usize];
        prefetch(bits, of.row as usize, 1);
        prefetch(all, of.at(), 1);
    };
    part.iter().take(AHEAD).for_each(ask);
    // Reads of the graph's own mapped rows are counted; copies need no count.
    let mapped = matches!(all, Cow::Borrowed(_));
    let all = &all[..];
    let (mut both, mut found, mut copied) = ([0; WORDS], 0, 0);
    for (i, &u) in part.iter().enumerate() {
        part.get(i + AHEAD).into_iter().for_each(ask);
        let of = before[u as usize];
        let HubBits(theirs) = &bits[of.row as usize];
        for w in 0..WORDS {
            both[w] += u64::from((mine[w] & theirs[w]).count_ones());
        }
        let (at, others) = (of.at(), of.others as usize);
        if mapped {
            touch(&all[at..at + others]);
        }
        if others <= LONG && copy(all, at, others, room, copied) {
            copied += others;
        } else {
            found += marked(all, at..at + others);
        }
    }
    both.iter().sum::<u64>() + (found + marked(room, 0..copied)) as u64
}

/// Prefetch distance of lists, in neighbours.
const AHEAD: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_base::context::Context;
    use gramer_graph::Builder;

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]
        /// Vertices 0 to 599 are linked to their like and to leaves behind them, so that lists hold no
        /// hubs, few, many, and those beyond the last hub.
        #[test]
        fn triangles_with_and_without_rows_of_bits(
            edges in proptest::collection::vec((0u64..600, 0u64..700), 1..3000),
            few in 1u64..12,
            threads in 1usize..3,
        ) {
            let mut builder = Builder::new();
            builder.vertex_range(0..700);
            for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
                builder.edge(u, v);
                builder.edge(u % few, v);
            }
            let graph = builder.build();
            let view = graph.view();
            let mut expected = 0u128;
            for v in 0..700 {
                for &u in view.neighbours(v).iter().filter(|&&u| u < v) {
                    let third = |w: &&VertexId| **w < u && view.has_edge(v, **w);
                    expected += view.neighbours(u).iter().filter(third).count() as u128;
                }
            }
            let context = Context::with_threads(threads);
            let job = Job::whole(&context);
            proptest::prop_assert_eq!(count(&graph, job), (expected, true));
            let lists = Lists::by_number(view, job).unwrap();
            proptest::prop_assert_eq!(count_by(&lists, view, job), (expected, true));
        }
    }
}
