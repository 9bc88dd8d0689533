//! Cliques of graphs without a hub, such as roads and grids: rows of a few neighbours are compared where they are, in
//! the graph's own order. Nothing is made for a vertex beforehand, which would take longer than to count.
//!
//! No processor foresees how many neighbours each vertex has. So a first loop writes down what is to be compared, for
//! many vertices and without branches: for triangles the pairs of neighbours before a vertex, for larger cliques the
//! vertices with enough of them. A second loop compares; it prefetches rows far ahead, wherever they lie.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gramer_base::context::Context;
use gramer_base::parallel::on_threads;
use gramer_base::prefetch::prefetch;
use gramer_graph::local::FLAT;
use gramer_graph::{VertexId, View};

use crate::sets;

/// Maximum number of neighbours of a vertex.
const MOST: usize = FLAT;
/// Vertices that a thread takes at a time.
const BLOCK: usize = 1 << 12;
/// Pairs of neighbours of one vertex.
const PAIRS: usize = MOST * (MOST - 1) / 2;
/// Pairs that are written before they are compared: they stay in the nearest cache.
const ROOM: usize = 1 << 11;
/// Prefetch distances: for the places of rows, and for the rows.
const AHEAD: [usize; 2] = [48, 24];

/// Number of cliques of `k` vertices, k ≥ 3, in a graph that is [flat](View::is_flat), and whether the run was finished.
pub(super) fn count(graph: View<'_>, k: usize, context: &Context) -> (u128, bool) {
    let blocks = graph.vertices().div_ceil(BLOCK);
    context.progress.begin(blocks as u64);
    let next = AtomicUsize::new(0);
    let sums = on_threads(context.threads().min(blocks.max(1)), |_| {
        let (mut sum, mut listed) = (0u128, Listed::new());
        loop {
            let block = next.fetch_add(1, Relaxed);
            if block >= blocks {
                return (sum, true);
            }
            if context.cancel.is_cancelled() {
                return (sum, false);
            }
            let end = graph.vertices().min((block + 1) * BLOCK);
            sum += u128::from(of_block(graph, k, block * BLOCK..end, &mut listed));
            context.progress.add(1);
        }
    });
    (sums.iter().map(|(sum, _)| sum).sum(), sums.iter().all(|(_, complete)| *complete))
}

/// Vertices that are to be compared.
struct Listed {
    /// Of a pair the vertex with the row; for larger cliques the largest vertex.
    rows: Vec<VertexId>,
    /// Of a pair the vertex that may be in the row; for larger cliques the number of neighbours before the vertex.
    members: Vec<VertexId>,
    len: usize,
}

impl Listed {
    fn new() -> Self {
        // A vector is written whole, of which the next overwrites what is too much.
        let room = ROOM + PAIRS + MOST;
        Listed { rows: vec![0; room], members: vec![0; room], len: 0 }
    }

    fn push(&mut self, row: VertexId, member: VertexId, is: bool) {
        self.rows[self.len] = row;
        self.members[self.len] = member;
        self.len += usize::from(is);
    }
}

/// Cliques whose largest vertex is one of these.
fn of_block(graph: View<'_>, k: usize, vertices: Range<usize>, listed: &mut Listed) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("popcnt") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { of_block_avx512(graph, k, vertices, listed) };
        }
    }
    let below = |at: Range<usize>, v| graph.neighbours[at].iter().take_while(|&&u| u < v).count();
    let pairs = |at: usize, before: usize, listed: &mut Listed| {
        let members = &graph.neighbours[at..at + before];
        for (j, &u) in members.iter().enumerate() {
            members[..j].iter().for_each(|&w| listed.push(u, w, true));
        }
    };
    of_block_with(graph, k, vertices, listed, below, pairs, |row, v| row.contains(&v))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
fn of_block_avx512(graph: View<'_>, k: usize, vertices: Range<usize>, listed: &mut Listed) -> u64 {
    let below = |at, v| sets::leading_avx512(graph.neighbours, at, v);
    let pairs = |at: usize, before: usize, Listed { rows, members, len }: &mut Listed| {
        *len += sets::pairs_avx512(
            &graph.neighbours[at..at + before],
            &mut rows[*len..],
            &mut members[*len..],
        );
    };
    of_block_with(graph, k, vertices, listed, below, pairs, |row, v| sets::has_avx512(row, v))
}

/// `below` counts the entries of a row below a vertex, `pairs` adds those of a row's first entries, and `has` says
/// whether a row has an entry.
#[inline(always)]
fn of_block_with(
    graph: View<'_>,
    k: usize,
    vertices: Range<usize>,
    listed: &mut Listed,
    below: impl Fn(Range<usize>, VertexId) -> usize,
    pairs: impl Fn(usize, usize, &mut Listed),
    has: impl Fn(&[VertexId], VertexId) -> bool,
) -> u64 {
    let mut sum = 0;
    let (last, mut at) = (vertices.end, graph.offsets[vertices.start] as usize);
    listed.len = 0;
    for v in vertices {
        let end = graph.offsets[v + 1] as usize;
        let before = below(at..end, v as VertexId);
        match k {
            3 => pairs(at, before, listed),
            _ => listed.push(v as VertexId, before as VertexId, before + 1 >= k),
        }
        at = end;
        if listed.len < ROOM && v + 1 < last {
            continue;
        }
        sum += match k {
            3 => adjacent(graph, listed, &has),
            _ => larger(graph, k, listed, &has),
        };
        listed.len = 0;
    }
    sum
}

/// Number of pairs that are adjacent.
#[inline(always)]
fn adjacent(
    graph: View<'_>,
    Listed { rows, members, len }: &Listed,
    has: impl Fn(&[VertexId], VertexId) -> bool,
) -> u64 {
    let (rows, members) = (&rows[..*len], &members[..*len]);
    rows.iter().take(AHEAD[0]).for_each(|&u| prefetch(graph.offsets, u as usize, 1));
    let mut sum = 0;
    for (i, (&u, &w)) in rows.iter().zip(members).enumerate() {
        if let Some(&u) = rows.get(i + AHEAD[0]) {
            prefetch(graph.offsets, u as usize, 1);
        }
        if let Some(&u) = rows.get(i + AHEAD[1]) {
            // A row may cross a border of lines.
            prefetch(graph.neighbours, graph.offsets[u as usize] as usize, 1);
            prefetch(graph.neighbours, (graph.offsets[u as usize + 1] as usize).wrapping_sub(1), 1);
        }
        sum += u64::from(has(graph.neighbours(u), w));
    }
    sum
}

/// Number of cliques of `k` vertices whose largest vertex is listed, with the number of neighbours before it.
#[inline(always)]
fn larger(
    graph: View<'_>,
    k: usize,
    Listed { rows, members, len }: &Listed,
    has: impl Fn(&[VertexId], VertexId) -> bool,
) -> u64 {
    /// Vertices whose neighbours are prefetched.
    const STEP: usize = 4;
    let before = |i: usize| &graph.neighbours(rows[i])[..members[i] as usize];
    let mut sum = 0;
    for i in 0..*len {
        if i + 2 * STEP < *len {
            for &u in before(i + 2 * STEP) {
                prefetch(graph.offsets, u as usize, 1);
            }
        }
        if i + STEP < *len {
            for &u in before(i + STEP) {
                prefetch(graph.neighbours, graph.offsets[u as usize] as usize, 1);
            }
        }
        let members = before(i);
        // By member: those before it that are its neighbours, as bits.
        let mut rows = [0u32; MOST];
        for (i, &u) in members.iter().enumerate().skip(1) {
            let row = graph.neighbours(u);
            for (j, &w) in members[..i].iter().enumerate() {
                rows[i] |= u32::from(has(row, w)) << j;
            }
            sum += choices(&rows, rows[i], k - 2);
        }
    }
    sum
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
