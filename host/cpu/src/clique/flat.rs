//! Cliques of graphs without a hub, such as roads and grids: rows of a few neighbours are compared where they are, in
//! the graph's own order. Nothing is made for a vertex beforehand, which would take longer than to count.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gramer_base::context::Context;
use gramer_base::parallel::on_threads;
use gramer_base::prefetch::prefetch;
use gramer_graph::{VertexId, View};

/// Maximum number of neighbours of a vertex.
const MOST: usize = 16;
/// Vertices that a thread takes at a time.
const BLOCK: usize = 1 << 12;

/// Whether no vertex has more than [`MOST`] neighbours.
pub(super) fn is_flat(graph: View<'_>) -> bool {
    graph.offsets.windows(2).all(|of| of[1] - of[0] <= MOST as u64)
}

/// Number of cliques of `k` vertices, k ≥ 3, in a graph that [`is_flat`], and whether the run was finished.
pub(super) fn count(graph: View<'_>, k: usize, context: &Context) -> (u128, bool) {
    let blocks = graph.vertices().div_ceil(BLOCK);
    context.progress.begin(blocks as u64);
    let next = AtomicUsize::new(0);
    let sums = on_threads(context.threads().min(blocks.max(1)), |_| {
        let mut sum = 0u128;
        loop {
            let block = next.fetch_add(1, Relaxed);
            if block >= blocks {
                return (sum, true);
            }
            if context.cancel.is_cancelled() {
                return (sum, false);
            }
            let end = graph.vertices().min((block + 1) * BLOCK);
            sum += u128::from(of_block(graph, k, block * BLOCK..end));
            context.progress.add(1);
        }
    });
    (sums.iter().map(|(sum, _)| sum).sum(), sums.iter().all(|(_, complete)| *complete))
}

/// Cliques whose largest vertex is one of these.
fn of_block(graph: View<'_>, k: usize, vertices: Range<usize>) -> u64 {
    /// Prefetch distances, in vertices: for the places of rows, and for the rows.
    const AHEAD: [usize; 2] = [16, 8];
    let later = |v: usize, ahead: usize| {
        let v = v + ahead;
        if v < vertices.end { before(graph, v).get(1..).unwrap_or(&[]) } else { &[] }
    };
    let mut sum = 0;
    for v in vertices.clone() {
        for &u in later(v, AHEAD[0]) {
            prefetch(graph.offsets, u as usize, 1);
        }
        for &u in later(v, AHEAD[1]) {
            prefetch(graph.neighbours, graph.offsets[u as usize] as usize, 1);
        }
        let members = before(graph, v);
        if members.len() + 1 < k {
            continue;
        }
        // By member: those before it that are its neighbours, as bits.
        let mut rows = [0u32; MOST];
        for (i, &u) in members.iter().enumerate().skip(1) {
            let row = graph.neighbours(u);
            for (j, w) in members[..i].iter().enumerate() {
                rows[i] |= u32::from(row.contains(w)) << j;
            }
            sum += choices(&rows, rows[i], k - 2);
        }
    }
    sum
}

/// The neighbours of `v` that are smaller.
#[inline(always)]
fn before(graph: View<'_>, v: usize) -> &[VertexId] {
    let row = graph.neighbours(v as VertexId);
    let len = row.iter().take_while(|&&u| (u as usize) < v).count();
    &row[..len]
}

/// Cliques of `more` ≥ 1 members of a set.
fn choices(rows: &[u32; MOST], set: u32, more: usize) -> u64 {
    let size = set.count_ones();
    if more == 1 || (size as usize) < more {
        return if more == 1 { size.into() } else { 0 };
    }
    let (mut left, mut sum) = (set, 0);
    while left != 0 {
        sum += choices(rows, set & rows[left.trailing_zeros() as usize], more - 1);
        left &= left - 1;
    }
    sum
}
