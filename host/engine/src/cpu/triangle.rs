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
//! then looked up as one list. Neither has a list without a row of bits a branch of its own: it has an empty row.
//!
//! What is read of the neighbours u lies anywhere in memory. So the lists come to lie close together first, and are
//! asked for some neighbours ahead: where they and their rows of bits are, then these, and the counting finds them in the
//! nearest caches.

use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

use gramer_graph::budget::touch;
use gramer_graph::context::Looks;
use gramer_graph::pages::in_large_pages;
use gramer_graph::prefetch::prefetch;
use gramer_graph::{Graph, Order, VertexId, View};

use super::budget::has_room;
use super::reach::{Sparse, fits};
use super::sets::{Bitmap, Bits};
use super::{Job, Starts, arcs};

/// Vertices whose adjacency is kept as bits: 8 words, one cache line per vertex.
const HUBS: usize = 512;
const WORDS: usize = HUBS / 64;

/// The hubs in a list, in one line of a cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct HubBits([u64; WORDS]);

/// Hubs in a list from which on they are kept as bits.
const WORTH_BITS: usize = 4;

/// The row of a list without a row of bits, which is empty.
const NO_ROW: u32 = 0;

/// The neighbours before a vertex. Those that are in its row of bits come first.
#[derive(Debug, Clone, Copy)]
struct Before {
    /// Where the others begin in [`Lists::all`].
    at: u64,
    /// How many others there are.
    others: u32,
    /// The row of bits.
    row: u32,
}

/// The neighbours before each vertex, by its number in the order of the lists.
struct Lists<'a> {
    /// How many there are.
    lengths: Vec<u32>,
    before: Vec<Before>,
    bits: Vec<HubBits>,
    /// The lists one after the other, or the rows of the graph.
    all: Cow<'a, [VertexId]>,
    /// Whether each list ascends.
    ascend: bool,
}

impl<'a> Lists<'a> {
    /// In the order of the graph's numbers. `None` if the run was asked to stop.
    fn by_number(graph: View<'a>, job: Job<'_>) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") && has!("popcnt") {
                // SAFETY: the processor has the features that the function is compiled for.
                return unsafe { Self::by_number_avx512(graph, job) };
            }
        }
        Self::by_number_with(graph, job, |array, list, number| {
            array[list].partition_point(|&u| u < number)
        })
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,popcnt")]
    fn by_number_avx512(graph: View<'a>, job: Job<'_>) -> Option<Self> {
        Self::by_number_with(graph, job, |array, list, number| {
            super::sets::leading_avx512(array, list, number)
        })
    }

    /// `below` says how many of an ascending list in an array are below a number.
    #[inline(always)]
    fn by_number_with(
        graph: View<'a>,
        job: Job<'_>,
        below: impl Fn(&[VertexId], Range<usize>, VertexId) -> usize,
    ) -> Option<Self> {
        let vertices = graph.vertices();
        let budget = job.context.budget.as_deref();
        let has_room = has_room(budget, size_of::<HubBits>() * vertices);
        let mut looks = Looks::new(&job.context.cancel);
        let mut lists = Self::empty(vertices, if has_room { vertices } else { 0 });
        // Half of all entries are before their vertices.
        let mut all = match budget {
            None => in_large_pages(vec![0; graph.neighbours.len() / 2 + LONG]),
            Some(_) => vec![],
        };
        let mut end = 0;
        for v in 0..vertices as VertexId {
            looks.check(16).ok()?;
            let row = graph.row(v);
            let mut at = row.start;
            let len = below(graph.neighbours, row, v);
            let hubs = below(graph.neighbours, at..at + len, HUBS as VertexId);
            let hubs = &graph.neighbours[at..at + hubs];
            if budget.is_none() {
                if len > LONG || !copy(graph.neighbours, at, len, &mut all, end) {
                    all[end..end + len].copy_from_slice(&graph.neighbours[at..at + len]);
                }
                at = end;
                end += len;
            }
            lists.push(at, len, if has_room { hubs } else { &[] });
        }
        lists.all = match budget {
            None => all.into(),
            Some(_) => graph.neighbours.into(),
        };
        Some(lists)
    }

    /// By falling degree, whatever the order of the graph's numbers: cheaper than to renumber the graph for this
    /// alone. `None` if the run was asked to stop.
    fn by_degree(graph: View<'_>, job: Job<'_>) -> Option<Self> {
        let vertices = graph.vertices();
        let order = by_falling_degree(graph);
        let mut ranks: Vec<VertexId> = in_large_pages(vec![0; vertices]);
        (0..).zip(&order).for_each(|(rank, &v)| ranks[v as usize] = rank);
        let mut looks = Looks::new(&job.context.cancel);
        let mut lists = Self { ascend: false, ..Self::empty(vertices, vertices) };
        // What a list doesn't keep is overwritten: there is room for more entries than there are.
        let mut all: Vec<VertexId> = in_large_pages(vec![0; graph.neighbours.len() / 2 + LONG]);
        let mut end = 0;
        for (rank, &v) in (0..).zip(&order) {
            looks.check(16 + graph.degree(v)).ok()?;
            // Vertices of one degree were anywhere in the graph's order.
            if let Some(&next) = order.get(rank as usize + 2 * AHEAD) {
                prefetch(graph.offsets, next as usize, 1);
            }
            if let Some(&next) = order.get(rank as usize + AHEAD) {
                prefetch(graph.neighbours, graph.offsets[next as usize] as usize, 2);
            }
            let begin = end;
            for &u in graph.neighbours(v) {
                let other = ranks[u as usize];
                all[end] = other;
                end += usize::from(other < rank);
            }
            let mut hubs = begin;
            for at in begin..end {
                let is_hub = (all[at] as usize) < HUBS;
                all.swap(at, hubs);
                hubs += usize::from(is_hub);
            }
            lists.push(begin, end - begin, &all[begin..hubs]);
        }
        lists.all = all.into();
        Some(lists)
    }

    fn empty(vertices: usize, rows: usize) -> Self {
        // Rows that aren't made cost no memory.
        let mut bits: Vec<HubBits> = in_large_pages(Vec::with_capacity(1 + rows));
        bits.push(HubBits([0; WORDS]));
        Lists {
            lengths: in_large_pages(Vec::with_capacity(vertices)),
            before: in_large_pages(Vec::with_capacity(vertices)),
            bits,
            all: Cow::Borrowed(&[]),
            ascend: true,
        }
    }

    /// Adds the list of the next vertex, which begins with these hubs.
    #[inline(always)]
    fn push(&mut self, at: usize, len: usize, hubs: &[VertexId]) {
        let mut of = Before { at: at as u64, others: len as u32, row: NO_ROW };
        if hubs.len() >= WORTH_BITS {
            of.row = self.bits.len() as u32;
            of.at += hubs.len() as u64;
            of.others -= hubs.len() as u32;
            self.bits.push(as_bits(hubs));
        }
        self.lengths.push(len as u32);
        self.before.push(of);
    }

    /// All neighbours before a vertex, and how many of them are in its row of bits.
    #[inline]
    fn of(&self, v: VertexId) -> (&[VertexId], usize) {
        let (of, len) = (self.before[v as usize], self.lengths[v as usize] as usize);
        let in_bits = len - of.others as usize;
        (&self.all[of.at as usize - in_bits..][..len], in_bits)
    }
}

/// The vertices by falling degree, ties by number.
fn by_falling_degree(graph: View<'_>) -> Vec<VertexId> {
    let degrees = || graph.offsets.windows(2).map(|w| (w[1] - w[0]) as usize);
    let mut next = vec![0u32; degrees().max().unwrap_or(0) + 1];
    degrees().for_each(|degree| next[degree] += 1);
    let mut before = 0;
    for next in next.iter_mut().rev() {
        before += std::mem::replace(next, before);
    }
    let mut order = in_large_pages(vec![0; graph.vertices()]);
    for (v, degree) in (0..).zip(degrees()) {
        order[next[degree] as usize] = v;
        next[degree] += 1;
    }
    order
}

/// Entries that are copied at a time.
const BLOCK: usize = 16;

/// Lists of more entries are looked up where they are.
const LONG: usize = 4 * BLOCK;

/// Copies a list of at most [`LONG`] entries from a place in an array to one in another, in whole blocks. Whether both
/// arrays go on for so many entries, so that it could.
#[inline(always)]
fn copy(array: &[VertexId], at: usize, len: usize, to: &mut [VertexId], end: usize) -> bool {
    let from = array.get(at..).and_then(|rest| rest.first_chunk::<LONG>());
    let to = to.get_mut(end..).and_then(|rest| rest.first_chunk_mut::<LONG>());
    let (Some(from), Some(to)) = (from, to) else { return false };
    to[..BLOCK].copy_from_slice(&from[..BLOCK]);
    if len > BLOCK {
        to[BLOCK..].copy_from_slice(&from[BLOCK..]);
    }
    true
}

/// Number of triangles, and whether the run was finished.
pub(super) fn count(graph: &Graph, job: Job<'_>) -> (u128, bool) {
    let view = graph.view();
    // A thread has a bit for each vertex.
    if !fits(view.vertices().div_ceil(8), 1) {
        let ran = arcs::triangles::<Sparse, _>(view, job, || 0u128, |sum, _, _| *sum += 1);
        return ran.sum(|sum| *sum);
    }
    // Shares name the graph's own numbers, and where memory is limited its rows are all that there is room for.
    let whole = job.units.share().is_none() && job.others.is_none() && job.context.budget.is_none();
    let lists = match graph.order() {
        Order::Input if whole => Lists::by_degree(view, job),
        _ => Lists::by_number(view, job),
    };
    lists.map_or((0, false), |lists| count_by(&lists, view, job))
}

fn count_by(lists: &Lists<'_>, graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    // The largest vertex of a triangle has two others before it.
    let list = |v: VertexId| match lists.lengths[v as usize] as usize {
        0 | 1 => 0,
        len => len,
    };
    let units = Starts::vertices(graph).units_of_few_steps(job, list, |v| (list(v) as u64).pow(2));
    let ran = job.run(
        &units,
        || (0u128, Bitmap::new(graph.vertices().max(HUBS)), vec![0; ROOM]),
        |(total, marked, room), unit| {
            let (row, in_bits) = lists.of(unit.start);
            touch(row);
            let (others, mine) = match lists.before[unit.start as usize].row {
                NO_ROW => {
                    // Few, or all of a list for whose bits there was no room.
                    let hubs = row.iter().take_while(|&&u| (u as usize) < HUBS).count();
                    (&row[hubs..], as_bits(&row[..hubs]))
                }
                number => (&row[in_bits..], lists.bits[number as usize]),
            };
            marked.set_first(&mine.0);
            marked.insert_all(others);
            // Nothing of an ascending list is before its first entry.
            let first = unit.range().start.max(usize::from(lists.ascend));
            let mut flow = ControlFlow::Continue(());
            for part in row[first..unit.range().end.max(first)].chunks(LOOK) {
                if context.cancel.is_cancelled() {
                    flow = ControlFlow::Break(());
                    break;
                }
                *total += u128::from(through(lists, &mine, marked.as_bits(), part, room));
            }
            marked.set_first(&[0; WORDS]);
            marked.clear_all(others);
            flow
        },
    );
    ran.sum(|state| state.0)
}

/// Lists that are gone through between two looks at the stop flag.
const LOOK: usize = 1 << 7;

#[inline]
fn as_bits(hubs: &[VertexId]) -> HubBits {
    let mut bits = [0; WORDS];
    for &u in hubs {
        bits[u as usize / 64] |= 1 << (u % 64);
    }
    HubBits(bits)
}

/// Room for the copies of the lists of a part.
const ROOM: usize = (LOOK + 1) * LONG;

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
    let Lists { before, bits, all, .. } = lists;
    for &u in part {
        prefetch(before, u as usize, 1);
    }
    let ask = |&u: &VertexId| {
        let Before { at, row, .. } = before[u as usize];
        prefetch(bits, row as usize, 1);
        prefetch(all, at as usize, 1);
    };
    part.iter().take(AHEAD).for_each(ask);
    // Whatever is read of the graph's own rows is told, and where it lies in copies nobody has to know.
    let longest = if matches!(all, Cow::Owned(_)) { LONG } else { 0 };
    let all = &all[..];
    let (mut both, mut found, mut copied) = ([0; WORDS], 0, 0);
    for (i, &u) in part.iter().enumerate() {
        part.get(i + AHEAD).into_iter().for_each(ask);
        let Before { at, others, row } = before[u as usize];
        let HubBits(theirs) = &bits[row as usize];
        for w in 0..WORDS {
            both[w] += u64::from((mine[w] & theirs[w]).count_ones());
        }
        let (at, others) = (at as usize, others as usize);
        if others <= longest && copy(all, at, others, room, copied) {
            copied += others;
        } else {
            touch(&all[at..at + others]);
            found += marked(all, at..at + others);
        }
    }
    both.iter().sum::<u64>() + (found + marked(room, 0..copied)) as u64
}

/// How many neighbours ahead lists are asked for.
const AHEAD: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;
    use gramer_graph::context::Context;

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
