//! Number of triangles.
//!
//! Each triangle is found from its largest (least valuable) vertex v: for each neighbour u before
//! v, the neighbours of u before u that are also neighbours of v. In the order of Rank(ON_1) the
//! lists before a vertex are short, and the few valuable vertices are in most of them: where there
//! are several of those below [`HUBS`] in a list, they are kept as bits, so that one intersection of
//! two rows of words finds all triangles that end in one of them. What has few of them is looked up
//! one by one: rows of bits for every vertex would take longer to make, and to read, than they save.

use std::ops::ControlFlow;

use gramer_graph::context::Looks;
use gramer_graph::{VertexId, View};

use super::budget::has_room;
use super::sets::Bitmap;
use super::{Job, Starts};

/// Vertices whose adjacency is kept as bits: 8 words, one cache line per vertex.
const HUBS: usize = 512;
const WORDS: usize = HUBS / 64;
type Bits = [u64; WORDS];

/// Hubs in a list from which on they are kept as bits.
const WORTH_BITS: usize = 4;

/// The neighbours before a vertex.
#[derive(Debug, Clone, Copy)]
struct Before {
    /// How many there are.
    len: u32,
    /// How many of them, the first ones, are in a row of bits.
    skip: u32,
    /// The row of bits, where there is one.
    row: u32,
}

/// Number of triangles, and whether the run was finished.
pub(super) fn count(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let vertices = graph.vertices();
    let has_room = has_room(context.budget.as_deref(), size_of::<Bits>() * vertices);
    let mut looks = Looks::new(&context.cancel);
    let mut before: Vec<Before> = Vec::with_capacity(vertices);
    // Rows that aren't made cost no memory.
    let mut bits: Vec<Bits> = Vec::with_capacity(if has_room { vertices } else { 0 });
    for v in 0..vertices as VertexId {
        if looks.check(16).is_err() {
            return (0, false);
        }
        let row = graph.neighbours(v);
        let len = row.partition_point(|&u| u < v);
        let hubs = hubs(&row[..len]);
        let mut of = Before { len: len as u32, skip: 0, row: 0 };
        if has_room && hubs.len() >= WORTH_BITS {
            (of.skip, of.row) = (hubs.len() as u32, bits.len() as u32);
            bits.push(as_bits(hubs));
        }
        before.push(of);
    }
    // The largest vertex of a triangle has two others before it.
    let list = |v: VertexId| match before[v as usize].len {
        0 | 1 => 0,
        len => len as usize,
    };
    let units = Starts::vertices(graph).units(job, list, |v| (list(v) as u64).pow(2));
    let ran = job.run(
        &units,
        || (0u128, Bitmap::new(vertices.max(HUBS))),
        |(total, marked), unit| {
            let of = before[unit.start as usize];
            let row = &graph.neighbours(unit.start)[..of.len as usize];
            let hubs = if of.skip > 0 { &row[..of.skip as usize] } else { hubs(row) };
            let others = &row[hubs.len()..];
            let mine = if of.skip > 0 { bits[of.row as usize] } else { as_bits(hubs) };
            marked.set_first(&mine);
            marked.insert_all(others);
            let mut flow = ControlFlow::Continue(());
            for part in row[unit.range()].chunks(LOOK) {
                if context.cancel.is_cancelled() {
                    flow = ControlFlow::Break(());
                    break;
                }
                *total += u128::from(through(graph, &before, &bits, (&mine, marked), part));
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
fn as_bits(hubs: &[VertexId]) -> Bits {
    let mut bits = [0; WORDS];
    for &u in hubs {
        bits[u as usize / 64] |= 1 << (u % 64);
    }
    bits
}

/// Number of triangles of a vertex with those of `part`. `mine` are the neighbours before the vertex:
/// the hubs among them as a row, and all of them.
fn through(
    graph: View<'_>,
    before: &[Before],
    bits: &[Bits],
    mine: (&Bits, &Bitmap),
    part: &[VertexId],
) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { through_x86_v3(graph, before, bits, mine, part) };
    }
    through_portable(graph, before, bits, mine, part)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn through_x86_v3(
    graph: View<'_>,
    before: &[Before],
    bits: &[Bits],
    mine: (&Bits, &Bitmap),
    part: &[VertexId],
) -> u64 {
    through_portable(graph, before, bits, mine, part)
}

#[inline(always)]
fn through_portable(
    graph: View<'_>,
    before: &[Before],
    bits: &[Bits],
    (mine, marked): (&Bits, &Bitmap),
    part: &[VertexId],
) -> u64 {
    let marked = marked.as_bits();
    let mut found = 0;
    for &u in part {
        let Before { len, skip, row } = before[u as usize];
        if skip > 0 {
            let theirs = &bits[row as usize];
            found += (0..WORDS).map(|w| (mine[w] & theirs[w]).count_ones() as u64).sum::<u64>();
        }
        if len > skip {
            let list = &graph.neighbours(u)[skip as usize..len as usize];
            found += marked.intersection_size(list) as u64;
        }
    }
    found
}

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
