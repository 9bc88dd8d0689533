//! The chosen edges opposite to a vertex in its triangles, and the neighbours that the vertex shares with the other
//! common neighbours of their ends.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gramer_base::prefetch::prefetch;
use gramer_graph::{VertexId, View};

use super::CommonNeighbourLists;
use crate::motif::edges::arc_to;
use crate::reach::{ByVertex, Form};
use crate::sets::gallop;

/// Prefetch distance, in edges.
const AHEAD: usize = 8;

/// The chosen edges u–v opposite to the vertex `a`, with the common neighbours of u and v in a range of vertices.
pub(super) struct OppositeEdges<'a> {
    pub graph: View<'a>,
    pub thirds: &'a CommonNeighbourLists,
    pub a: VertexId,
    pub part: Range<VertexId>,
    /// Room for the arcs of such edges.
    pub room: &'a mut Vec<usize>,
}

impl OppositeEdges<'_> {
    /// Σ (W − 2) over these edges and neighbours b, `counts` giving W of a and b, or `missing` where that is zero.
    #[inline]
    pub fn sum<F: Form>(
        mut self,
        counts: &F::Table<u32>,
        missing: impl Fn(VertexId) -> u32,
    ) -> u128 {
        #[cfg(target_arch = "x86_64")]
        if let Some(counts) = counts.all()
            && counts.len() <= avx512::MOST
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("popcnt")
        {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { avx512::sum(self, counts, missing) };
        }
        self.one_by_one(|b| counts.get(b), missing)
    }

    #[inline]
    fn one_by_one(
        &mut self,
        count: impl Fn(VertexId) -> u32,
        missing: impl Fn(VertexId) -> u32,
    ) -> u128 {
        let (mut sum, part) = (0u64, self.part.clone());
        self.lists(|list| sum += of_list(list, &part, &count, &missing));
        sum.into()
    }

    /// Calls `of` with the common neighbours of the ends of each edge.
    #[inline(always)]
    fn lists(&mut self, mut of: impl FnMut(&[AtomicU32])) {
        let OppositeEdges { graph, thirds, a, room: opposite, .. } = self;
        for arc in graph.row(*a) {
            let u = graph.neighbours[arc];
            // The list is kept at the arc to the smaller end.
            let kept = if u < *a { arc } else { arc_to(*graph, u, *a) };
            let mut row = graph.row(u);
            opposite.clear();
            for v in thirds.list(kept).iter().map(|v| v.load(Relaxed)).take_while(|&v| v < u) {
                row.start += gallop(&graph.neighbours[row.clone()], v);
                prefetch(&thirds.chosen, row.start, 1);
                prefetch(&thirds.starts, row.start, 1);
                opposite.push(row.start);
            }
            opposite.retain(|&arc| thirds.chosen[arc].load(Relaxed));
            for (at, &arc) in opposite.iter().enumerate() {
                if let Some(&next) = opposite.get(at + AHEAD) {
                    prefetch(&thirds.members, thirds.starts[next] as usize, 2);
                }
                of(thirds.list(arc));
            }
        }
    }
}

/// The part of one list.
#[inline(always)]
fn of_list(
    list: &[AtomicU32],
    part: &Range<VertexId>,
    count: impl Fn(VertexId) -> u32,
    missing: impl Fn(VertexId) -> u32,
) -> u64 {
    let list = list.iter().map(|b| b.load(Relaxed)).take_while(|b| *b < part.end);
    let common = |b: VertexId| match count(b) {
        0 => missing(b),
        common => common,
    };
    list.filter(|b| *b >= part.start).map(|b| u64::from(common(b) - 2)).sum()
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    use super::*;

    /// Members that are looked up together.
    const LANES: usize = 16;
    /// Maximum of counts: look-ups use signed indices.
    pub const MOST: usize = 1 << 31;

    /// As [`OppositeEdges::sum`], with `counts` for all vertices. Elements of lists shorter than a vector are looked up
    /// one by one.
    #[target_feature(enable = "avx512f,popcnt")]
    pub fn sum(
        mut edges: OppositeEdges<'_>,
        counts: &[u32],
        missing: impl Fn(VertexId) -> u32,
    ) -> u128 {
        let part = edges.part.clone();
        assert!(part.end as usize <= counts.len() && counts.len() <= MOST);
        let (first, end) =
            (_mm512_set1_epi32(part.start as i32), _mm512_set1_epi32(part.end as i32));
        let low = _mm512_set1_epi64(u32::MAX.into());
        let (mut sums, mut rest, mut members) = (_mm512_setzero_si512(), 0u64, 0u64);
        edges.lists(|list| {
            let (blocks, tail) = list.as_chunks::<LANES>();
            for block in blocks {
                // SAFETY: the block has 64 bytes, and the load needs no alignment. Threads that set lists have ended.
                let b = unsafe { _mm512_loadu_epi32(block.as_ptr().cast()) };
                let before = _mm512_cmplt_epu32_mask(b, end);
                let here = _mm512_mask_cmpge_epu32_mask(before, b, first);
                let none = _mm512_setzero_si512();
                // SAFETY: lanes that are read are below the end of the part, which is at most the number of counts, and
                // that is at most 2^31, so that no index is negative.
                let common = unsafe {
                    _mm512_mask_i32gather_epi32::<4>(none, here, b, counts.as_ptr().cast())
                };
                let mut absent = _mm512_mask_testn_epi32_mask(here, common, common);
                while absent != 0 {
                    rest +=
                        u64::from(missing(block[absent.trailing_zeros() as usize].load(Relaxed)));
                    absent &= absent - 1;
                }
                let (even, odd) = (_mm512_and_si512(common, low), _mm512_srli_epi64::<32>(common));
                sums = _mm512_add_epi64(sums, _mm512_add_epi64(even, odd));
                members += u64::from(here.count_ones());
                if before != u16::MAX {
                    return;
                }
            }
            rest += of_list(tail, &part, |b| counts[b as usize], &missing);
        });
        (_mm512_reduce_add_epi64(sums) as u64 + rest - 2 * members).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Job;
    use crate::motif::edges::EdgeCounts;
    use crate::reach::Dense;
    use gramer_base::context::Context;
    use gramer_graph::Builder;

    #[test]
    fn both_ways_to_look_up_are_those_of_all_edges() {
        let mut builder = Builder::new();
        let mut state = 1u64;
        for v in 1..90u64 {
            for u in 0..v {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                if (state >> 33) % 100 < 55 {
                    builder.edge(u, v);
                }
            }
        }
        let graph = builder.build();
        let (graph, context) = (graph.view(), Context::with_threads(1));
        let counts = EdgeCounts::new(graph, Job::whole(&context)).unwrap();
        let thirds = CommonNeighbourLists::new(graph, &counts, &context).unwrap();
        thirds.find(graph, Job::whole(&context)).unwrap();
        let vertices = graph.vertices() as VertexId;
        let chosen = |u: VertexId, v: VertexId| (u + v) % 3 != 0;
        for v in 0..vertices {
            for arc in graph.row(v).filter(|&arc| chosen(v, graph.neighbours[arc])) {
                thirds.choose(arc);
            }
        }
        let next = |u: VertexId, v: VertexId| graph.neighbours(u).binary_search(&v).is_ok();
        let both = |u: VertexId, v: VertexId| -> Vec<VertexId> {
            graph.neighbours(u).iter().copied().filter(|&w| next(v, w)).collect()
        };
        let (mut all, mut long) = (0, 0);
        for a in (2..vertices).step_by(7) {
            for part in [0..a, 0..a / 2, a / 3..a, a / 2..a / 2 + 1] {
                let mut expected = 0;
                for &u in graph.neighbours(a) {
                    for v in both(a, u).into_iter().filter(|&v| v < u && chosen(u, v)) {
                        let others = both(u, v).into_iter().filter(|b| part.contains(b));
                        expected += others.map(|b| both(a, b).len() as u128 - 2).sum::<u128>();
                        long += usize::from(both(u, v).len() > 16);
                    }
                }
                // Of some vertices it is found elsewhere.
                let mut table = <Dense as Form>::Table::<u32>::new(graph.vertices(), 0, 1);
                for b in (0..vertices).filter(|b| b % 5 != 0) {
                    *table.entry(b) = both(a, b).len() as u32;
                }
                let missing = |b: VertexId| match b % 5 {
                    0 => both(a, b).len() as u32,
                    _ => panic!("{b} was known"),
                };
                let room = &mut vec![];
                let mut edges =
                    OppositeEdges { graph, thirds: &thirds, a, part: part.clone(), room };
                assert_eq!(edges.one_by_one(|b| table.get(b), missing), expected, "{a} {part:?}");
                assert_eq!(edges.sum::<Dense>(&table, missing), expected, "{a} {part:?}");
                all += expected;
            }
        }
        assert!(all > 0 && long > 0);
    }
}
