//! Neighbours that vertices have in common.

use gramer_graph::context::{Context, Looks};
use gramer_graph::{VertexId, View};

use crate::cpu::sets;

/// By arc: the common neighbours of its two ends, ascending.
pub(super) struct Common {
    /// By arc, and the end: where its list begins.
    starts: Vec<u32>,
    members: Vec<VertexId>,
}

impl Common {
    /// Most entries, six per triangle: 1 GiB.
    const MOST: usize = 1 << 28;

    /// All lists; `None` if there is too much of them or the run is asked to stop.
    pub fn new(graph: View<'_>, context: &Context) -> Option<Self> {
        let mut looks = Looks::new(&context.cancel);
        let mut starts = Vec::with_capacity(graph.neighbours.len() + 1);
        let (mut members, mut both) = (vec![], vec![]);
        starts.push(0);
        for v in 0..graph.vertices() as VertexId {
            let row = graph.neighbours(v);
            for &u in row {
                looks.check(1 + row.len().min(graph.degree(u))).ok()?;
                sets::intersect(row, graph.neighbours(u), &mut both);
                members.extend_from_slice(&both);
                starts.push(members.len() as u32);
            }
            if members.len() > Self::MOST {
                return None;
            }
        }
        Some(Common { starts, members })
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

    /// With bits for the first 64 · `width` vertices.
    fn of_width(graph: View<'a>, width: usize) -> Self {
        let vertices = graph.vertices();
        let mut bits = vec![0; width * vertices];
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

    fn words(&self, v: VertexId) -> &[u64] {
        &self.bits[v as usize * self.width..(v as usize + 1) * self.width]
    }

    fn listed(&self, v: VertexId) -> &[VertexId] {
        &self.graph.neighbours[self.listed[v as usize]..self.graph.row(v).end]
    }

    /// Number of common neighbours.
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

    /// How many of a set are next to a vertex.
    #[inline]
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
            let common = Common::new(view, &Context::with_threads(1)).unwrap();
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
