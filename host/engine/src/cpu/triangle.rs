//! Number of triangles.
//!
//! Each triangle is found from its largest (least valuable) vertex v: for each neighbour u before
//! v, the neighbours of u before u that are also neighbours of v. In the order of Rank(ON_1) the
//! lists before a vertex are short, and the few valuable vertices are in most of them: those
//! below [`HUBS`] are kept as bits, so that one intersection of two rows of words finds all
//! triangles that end in one of them.

use std::ops::ControlFlow;

use gramer_graph::context::Looks;
use gramer_graph::{VertexId, View};

use super::budget::has_room;
use super::sets::Bitmap;
use super::{Job, Starts, run_units};

/// Vertices whose adjacency is kept as bits: 8 words, one cache line a vertex.
const HUBS: usize = 512;
const WORDS: usize = HUBS / 64;

/// Below this many edges the rows of bits cost more than they save.
const WORTH_BITS: usize = 1 << 12;

/// Number of triangles, and whether the run was finished.
pub(super) fn count(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let vertices = graph.vertices();
    let mut looks = Looks::new(&context.cancel);
    // Where the neighbours before each vertex end in its row.
    let mut before: Vec<u32> = Vec::with_capacity(vertices);
    for v in 0..vertices as VertexId {
        if looks.check(16).is_err() {
            return (0, false);
        }
        before.push(graph.neighbours(v).partition_point(|&u| u < v) as u32);
    }
    let worth = graph.neighbours.len() >= WORTH_BITS
        && has_room(context.budget.as_deref(), size_of::<[u64; WORDS]>() * vertices);
    let hubs = if worth { HUBS } else { 0 };
    // Of the neighbours before a vertex: which are hubs, and how many.
    let mut bits = vec![[0u64; WORDS]; if hubs > 0 { vertices } else { 0 }];
    let mut skip = vec![0u32; vertices];
    for v in 0..vertices * (hubs > 0) as usize {
        if looks.check(16).is_err() {
            return (0, false);
        }
        let row = &graph.neighbours(v as VertexId)[..before[v] as usize];
        for &u in row.iter().take_while(|&&u| (u as usize) < hubs) {
            bits[v][u as usize / 64] |= 1 << (u % 64);
            skip[v] += 1;
        }
    }
    let list = |v: VertexId| before[v as usize] as usize;
    let units = Starts::vertices(graph).units(job, list, |v| (list(v) as u64).pow(2));
    let (states, complete) = run_units(
        &units,
        context,
        || (0u128, Bitmap::new(vertices)),
        |(total, marked), unit| {
            let v = unit.start as usize;
            let row = &graph.neighbours(unit.start)[..before[v] as usize];
            let part = &row[unit.range()];
            let mut found = if hubs > 0 { through_hubs(&bits, v, part) } else { 0 };
            let others = &row[skip[v] as usize..];
            if !others.is_empty() {
                marked.insert_all(others);
                for &u in part {
                    if context.cancel.is_cancelled() {
                        return ControlFlow::Break(());
                    }
                    let list = skip[u as usize] as usize..before[u as usize] as usize;
                    let list = &graph.neighbours(u)[list];
                    found += marked.as_bits().intersection_size(list) as u64;
                }
                marked.clear_all(others);
            }
            *total += found as u128;
            ControlFlow::Continue(())
        },
    );
    (states.iter().map(|s| s.0).sum(), complete)
}

/// Number of triangles of `v`, a vertex of `part` and a hub before both.
fn through_hubs(bits: &[[u64; WORDS]], v: usize, part: &[VertexId]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { through_hubs_x86_v3(bits, v, part) };
    }
    through_hubs_portable(bits, v, part)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn through_hubs_x86_v3(bits: &[[u64; WORDS]], v: usize, part: &[VertexId]) -> u64 {
    through_hubs_portable(bits, v, part)
}

#[inline(always)]
fn through_hubs_portable(bits: &[[u64; WORDS]], v: usize, part: &[VertexId]) -> u64 {
    let mine = &bits[v];
    let both = |u: &VertexId| {
        let theirs = &bits[*u as usize];
        (0..WORDS).map(|w| (mine[w] & theirs[w]).count_ones() as u64).sum::<u64>()
    };
    part.iter().map(both).sum()
}
