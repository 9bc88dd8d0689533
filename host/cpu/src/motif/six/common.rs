//! Neighbours that vertices have in common.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use gramer_base::context::Context;
use gramer_base::memory::zeroed_or_unwind;
use gramer_base::parallel::on_threads;
use gramer_graph::{VertexId, View};

use crate::{Job, StartVertices, run_units, sets};

/// Number of members that two sets of bits have in common.
#[inline(always)]
pub(super) fn shared(a: &[u64], b: &[u64]) -> u32 {
    // Most are so short that the loop below takes longer to begin.
    if let ([a], [b]) = (a, b) {
        return (a & b).count_ones();
    }
    let mut members = 0;
    for (a, b) in a.iter().zip(b) {
        members += (a & b).count_ones();
    }
    members
}

/// Number of members that three sets of bits have in common.
#[inline(always)]
pub(super) fn shared_by_three(a: &[u64], b: &[u64], c: &[u64]) -> u32 {
    if let ([a], [b], [c]) = (a, b, c) {
        return (a & b & c).count_ones();
    }
    let mut members = 0;
    for ((a, b), c) in a.iter().zip(b).zip(c) {
        members += (a & b & c).count_ones();
    }
    members
}

/// By arc: the common neighbours of its two ends, ascending.
pub(super) struct Common {
    /// By arc, and the end: where its list begins.
    starts: Vec<u32>,
    members: Vec<VertexId>,
}

impl Common {
    /// Maximum number of entries, six per triangle: 1 GiB.
    const MOST: usize = 1 << 28;

    /// All lists; `None` if there is too much of them or the run was cancelled.
    pub fn new(graph: View<'_>, context: &Context) -> Option<Self> {
        let weight = |v: VertexId| {
            let steps = |&u: &VertexId| graph.degree(v).min(graph.degree(u)) as u64 + 1;
            graph.neighbours(v).iter().map(steps).sum()
        };
        let units =
            StartVertices::vertices(graph).units(Job::whole(context), |v| graph.degree(v), weight);
        let entries = AtomicUsize::new(0);
        let (parts, complete) = run_units(&units, context, Part::default, |part, unit| {
            let row = graph.row(unit.start).start;
            let arcs = row + unit.first as usize..row + unit.limit as usize;
            let found = part.add(graph, unit.start, arcs);
            match entries.fetch_add(found, Relaxed) + found > Self::MOST {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        complete.then(|| Self::put_together(graph.neighbours.len(), parts, context.threads()))
    }

    /// The lists of all parts by arc.
    fn put_together(arcs: usize, mut parts: Vec<Part>, threads: usize) -> Self {
        let mut runs: Vec<(usize, CommonRun)> = vec![];
        for (number, part) in parts.iter_mut().enumerate() {
            runs.extend(std::mem::take(&mut part.runs).into_iter().map(|run| (number, run)));
        }
        runs.sort_unstable_by_key(|(_, run)| run.arcs.start);
        let mut starts = Vec::with_capacity(arcs + 1);
        starts.push(0);
        let mut end = 0;
        for (number, run) in &runs {
            let lengths = &parts[*number].lengths[run.lengths..][..run.arcs.len()];
            starts.extend(lengths.iter().map(|length| {
                end += length;
                end
            }));
        }
        if let [(number, run)] = &runs[..]
            && run.arcs.len() == arcs
        {
            return Common { starts, members: std::mem::take(&mut parts[*number].members) };
        }
        let mut members = zeroed_or_unwind(end as usize);
        let mut rest = &mut members[..];
        let copies = runs.iter().map(|(number, run)| {
            let entries = (starts[run.arcs.end] - starts[run.arcs.start]) as usize;
            let (to, others) = std::mem::take(&mut rest).split_at_mut(entries);
            rest = others;
            (to, &parts[*number].members[run.members..][..entries])
        });
        let copies = Mutex::new(copies);
        let next = || copies.lock().unwrap_or_else(PoisonError::into_inner).next();
        on_threads(threads, |_| {
            while let Some((to, from)) = next() {
                to.copy_from_slice(from);
            }
        });
        Common { starts, members }
    }

    /// The common neighbours of the ends of an arc.
    #[inline]
    pub fn of(&self, arc: usize) -> &[VertexId] {
        &self.members[self.starts[arc] as usize..self.starts[arc + 1] as usize]
    }

    /// Number of common neighbours of the ends of an arc.
    #[inline]
    pub fn len(&self, arc: usize) -> u32 {
        self.starts[arc + 1] - self.starts[arc]
    }
}

/// The lists that one thread makes.
#[derive(Debug, Default)]
struct Part {
    runs: Vec<CommonRun>,
    /// By arc in the order of the runs, and one after the other.
    lengths: Vec<u32>,
    members: Vec<VertexId>,
    both: Vec<VertexId>,
}

/// Arcs that follow each other, and where their lengths and members begin.
#[derive(Debug)]
struct CommonRun {
    arcs: Range<usize>,
    lengths: usize,
    members: usize,
}

impl Part {
    /// Adds the lists of some arcs of a vertex; says how many members they have.
    fn add(&mut self, graph: View<'_>, v: VertexId, arcs: Range<usize>) -> usize {
        let before = self.members.len();
        match self.runs.last_mut().filter(|run| run.arcs.end == arcs.start) {
            Some(run) => run.arcs.end = arcs.end,
            None => {
                let (lengths, members) = (self.lengths.len(), before);
                self.runs.push(CommonRun { arcs: arcs.clone(), lengths, members });
            }
        }
        for &u in &graph.neighbours[arcs] {
            sets::intersect(graph.neighbours(v), graph.neighbours(u), &mut self.both);
            self.members.extend_from_slice(&self.both);
            self.lengths.push(self.both.len() as u32);
        }
        self.members.len() - before
    }
}

/// The graph's rows as bits for as many vertices, beginning with the busiest, as there is room for,
/// and as lists for the others.
pub(super) struct Columns<'a> {
    graph: View<'a>,
    width: usize,
    bits: Vec<u64>,
    /// By vertex: where in its row those neighbours begin that have no bit.
    listed: Vec<usize>,
}

/// A set of vertices, of which those with a bit are given word by word.
#[derive(Debug, Default)]
pub(super) struct Sparse {
    words: Vec<(u32, u64)>,
    listed: Vec<VertexId>,
}

impl<'a> Columns<'a> {
    /// Words of all rows: 128 MiB. Tests have smaller graphs.
    const WORDS: usize = if cfg!(test) { 1 << 5 } else { 1 << 24 };

    pub fn new(graph: View<'a>) -> Self {
        let vertices = graph.vertices();
        Self::of_width(graph, vertices.div_ceil(64).min(Self::WORDS / vertices.max(1)))
    }

    /// Creates tables with bits for the first 64 · `width` vertices.
    fn of_width(graph: View<'a>, width: usize) -> Self {
        let vertices = graph.vertices();
        let mut bits = zeroed_or_unwind(width * vertices);
        let mut listed = Vec::with_capacity(vertices);
        for v in 0..vertices {
            let row = graph.neighbours(v as VertexId);
            let with_bit = row.partition_point(|&u| (u as usize) < 64 * width);
            for &u in &row[..with_bit] {
                bits[v * width + u as usize / 64] |= 1 << (u % 64);
            }
            listed.push(graph.row(v as VertexId).start + with_bit);
        }
        Columns { graph, width, bits, listed }
    }

    #[inline(always)]
    fn words(&self, v: VertexId) -> &[u64] {
        &self.bits[v as usize * self.width..(v as usize + 1) * self.width]
    }

    #[inline(always)]
    fn listed(&self, v: VertexId) -> &[VertexId] {
        &self.graph.neighbours[self.listed[v as usize]..self.graph.row(v).end]
    }

    // Inlined for the instructions of the processor that callers are compiled for.

    /// Number of common neighbours.
    #[inline(always)]
    pub fn common(&self, u: VertexId, v: VertexId) -> u32 {
        let words = self.words(u).iter().zip(self.words(v));
        let with_bit: u32 = words.map(|(a, b)| (a & b).count_ones()).sum();
        with_bit + sets::intersection_size(self.listed(u), self.listed(v)) as u32
    }

    /// Makes `set` the set of these vertices, which are ascending.
    pub fn gather(&self, vertices: &[VertexId], set: &mut Sparse) {
        set.words.clear();
        let with_bit = vertices.partition_point(|&v| (v as usize) < 64 * self.width);
        for &v in &vertices[..with_bit] {
            let (word, bit) = (v / 64, 1 << (v % 64));
            match set.words.last_mut() {
                Some(last) if last.0 == word => last.1 |= bit,
                _ => set.words.push((word, bit)),
            }
        }
        set.listed.clear();
        set.listed.extend_from_slice(&vertices[with_bit..]);
    }

    /// Number of a set's vertices next to a vertex.
    #[inline(always)]
    pub fn among(&self, set: &Sparse, v: VertexId) -> u32 {
        let row = self.words(v);
        let with_bit: u32 =
            set.words.iter().map(|&(word, bits)| (row[word as usize] & bits).count_ones()).sum();
        match set.listed.is_empty() {
            true => with_bit,
            false => with_bit + sets::intersection_size(&set.listed, self.listed(v)) as u32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;

    proptest::proptest! {
        #[test]
        fn common_neighbours_with_and_without_bits(
            edges in proptest::collection::vec((0u64..170, 0u64..170), 1..900),
            width in 0usize..4,
            threads in 1usize..4,
        ) {
            let mut builder = Builder::new();
            for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
                builder.edge(u, v);
                // Vertices with much in common.
                builder.edge(u, 200 + v % 3);
            }
            let graph = builder.build();
            let view = graph.view();
            let (columns, mut set) = (Columns::of_width(view, width), Sparse::default());
            let common = Common::new(view, &Context::with_threads(threads)).unwrap();
            for v in 0..view.vertices() as VertexId {
                let next_to = |a: VertexId, b: VertexId| view.neighbours(a).contains(&b);
                for arc in view.row(v) {
                    let u = view.neighbours[arc];
                    let both: Vec<VertexId> =
                        view.neighbours(v).iter().copied().filter(|&w| next_to(u, w)).collect();
                    proptest::prop_assert_eq!(common.of(arc), &both[..]);
                    proptest::prop_assert_eq!(common.len(arc) as usize, both.len());
                    proptest::prop_assert_eq!(columns.common(u, v) as usize, both.len());
                    columns.gather(&both, &mut set);
                    let third = (u * 7 + v) % view.vertices() as VertexId;
                    let among = both.iter().filter(|&&w| next_to(third, w)).count();
                    proptest::prop_assert_eq!(columns.among(&set, third) as usize, among);
                }
            }
        }
    }
}
