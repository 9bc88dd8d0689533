//! Number of triangles.
//!
//! Each triangle is found from its largest (least valuable) vertex v: for each neighbour u before
//! v, the neighbours of u before u that are also neighbours of v. In the order of Rank(ON_1) the
//! lists before a vertex are short, and the few valuable vertices are in most of them: where there
//! are several of those below [`HUBS`] in a list, they are kept as bits, so that one intersection of
//! two rows of words finds all triangles that end in one of them. What has few of them is looked up
//! one by one: rows of bits for every vertex would take longer to make, and to read, than they save.
//!
//! What is read of the neighbours u lies anywhere in memory. So it is asked for some neighbours ahead: where
//! their lists and rows of bits are, then these, and the counting finds them in the nearest caches.

use std::ops::ControlFlow;

use gramer_graph::budget::touch;
use gramer_graph::context::Looks;
use gramer_graph::pages::in_large_pages;
use gramer_graph::prefetch::prefetch;
use gramer_graph::{VertexId, View};

use super::budget::has_room;
use super::sets::{Bitmap, Bits};
use super::{Job, Starts};

/// Vertices whose adjacency is kept as bits: 8 words, one cache line per vertex.
const HUBS: usize = 512;
const WORDS: usize = HUBS / 64;

/// The hubs in a list, in one line of a cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct HubBits([u64; WORDS]);

/// Hubs in a list from which on they are kept as bits.
const WORTH_BITS: usize = 4;

/// The row of a list without a row of bits.
const NO_ROW: u32 = u32::MAX;

/// The neighbours before a vertex: some of them, the first ones, in a row of bits, the others in the graph's list.
#[derive(Debug, Clone, Copy)]
struct Before {
    /// Where the others begin in the graph's lists.
    at: u64,
    /// How many others there are.
    others: u32,
    /// The row of bits, or [`NO_ROW`].
    row: u32,
}

impl Before {
    /// How many neighbours are before the vertex, whose list begins at `first`.
    #[inline]
    fn all(self, first: u64) -> usize {
        (self.at - first) as usize + self.others as usize
    }

    #[inline]
    fn others<'a>(&self, graph: View<'a>) -> &'a [VertexId] {
        &graph.neighbours[self.at as usize..][..self.others as usize]
    }
}

/// The neighbours before each vertex.
struct Lists<'a> {
    graph: View<'a>,
    before: Vec<Before>,
    bits: Vec<HubBits>,
}

impl<'a> Lists<'a> {
    /// `None` if the run was asked to stop.
    fn new(graph: View<'a>, job: Job<'_>) -> Option<Self> {
        let vertices = graph.vertices();
        let has_room = has_room(job.context.budget.as_deref(), size_of::<HubBits>() * vertices);
        let mut looks = Looks::new(&job.context.cancel);
        let mut before: Vec<Before> = in_large_pages(Vec::with_capacity(vertices));
        // Rows that aren't made cost no memory.
        let mut bits: Vec<HubBits> =
            in_large_pages(Vec::with_capacity(if has_room { vertices } else { 0 }));
        for v in 0..vertices as VertexId {
            looks.check(16).ok()?;
            let row = graph.neighbours(v);
            let row = &row[..row.partition_point(|&u| u < v)];
            let hubs = hubs(row);
            let mut of =
                Before { at: graph.offsets[v as usize], others: row.len() as u32, row: NO_ROW };
            if has_room && hubs.len() >= WORTH_BITS {
                of.row = bits.len() as u32;
                of.at += hubs.len() as u64;
                of.others -= hubs.len() as u32;
                bits.push(as_bits(hubs));
            }
            before.push(of);
        }
        Some(Lists { graph, before, bits })
    }

    /// How many neighbours are before a vertex.
    #[inline]
    fn len(&self, v: VertexId) -> usize {
        self.before[v as usize].all(self.graph.offsets[v as usize])
    }
}

/// Number of triangles, and whether the run was finished.
pub(super) fn count(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let Some(lists) = Lists::new(graph, job) else { return (0, false) };
    // The largest vertex of a triangle has two others before it.
    let list = |v: VertexId| match lists.len(v) {
        0 | 1 => 0,
        len => len,
    };
    let units = Starts::vertices(graph).units(job, list, |v| (list(v) as u64).pow(2));
    let ran = job.run(
        &units,
        || (0u128, Bitmap::new(graph.vertices().max(HUBS))),
        |(total, marked), unit| {
            let of = lists.before[unit.start as usize];
            let row = &graph.neighbours(unit.start)[..lists.len(unit.start)];
            let (others, mine) = match lists.bits.get(of.row as usize) {
                Some(bits) => (of.others(graph), *bits),
                None => {
                    let hubs = hubs(row);
                    (&row[hubs.len()..], as_bits(hubs))
                }
            };
            marked.set_first(&mine.0);
            marked.insert_all(others);
            let mut flow = ControlFlow::Continue(());
            for part in row[unit.range()].chunks(LOOK) {
                if context.cancel.is_cancelled() {
                    flow = ControlFlow::Break(());
                    break;
                }
                *total += u128::from(through(&lists, &mine, marked.as_bits(), part));
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

/// Those of an ascending list that are hubs.
#[inline]
fn hubs(row: &[VertexId]) -> &[VertexId] {
    let hubs = &row[..row.len().min(HUBS)];
    let len = hubs.iter().take_while(|&&u| (u as usize) < HUBS).count();
    &hubs[..len]
}

#[inline]
fn as_bits(hubs: &[VertexId]) -> HubBits {
    let mut bits = [0; WORDS];
    for &u in hubs {
        bits[u as usize / 64] |= 1 << (u % 64);
    }
    HubBits(bits)
}

/// Number of triangles of a vertex with those of `part`. `mine` are the hubs before the vertex, `marked` are all
/// neighbours before it.
fn through(lists: &Lists<'_>, mine: &HubBits, marked: Bits<'_>, part: &[VertexId]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { through_x86_v3(lists, mine, marked, part) };
    }
    through_portable(lists, mine, marked, part)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn through_x86_v3(lists: &Lists<'_>, mine: &HubBits, marked: Bits<'_>, part: &[VertexId]) -> u64 {
    through_portable(lists, mine, marked, part)
}

#[inline(always)]
fn through_portable(lists: &Lists<'_>, mine: &HubBits, marked: Bits<'_>, part: &[VertexId]) -> u64 {
    let Lists { graph, before, bits } = lists;
    for &u in part {
        prefetch(before, u as usize, 1);
    }
    let ask = |&u: &VertexId| {
        let Before { at, row, .. } = before[u as usize];
        // There is no row of that number where there is none.
        prefetch(bits, row as usize, 1);
        prefetch(graph.neighbours, at as usize, 1);
    };
    part.iter().take(AHEAD).for_each(ask);
    let mut found = 0;
    for (i, &u) in part.iter().enumerate() {
        part.get(i + AHEAD).into_iter().for_each(ask);
        let of = before[u as usize];
        if let Some(HubBits(theirs)) = bits.get(of.row as usize) {
            let both = |w: usize| u64::from((mine.0[w] & theirs[w]).count_ones());
            found += (0..WORDS).map(both).sum::<u64>();
        }
        if of.others > 0 {
            let list = of.others(*graph);
            touch(list);
            found += marked.intersection_size(list) as u64;
        }
    }
    found
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
            proptest::prop_assert_eq!(count(view, Job::whole(&context)), (expected, true));
        }
    }
}
