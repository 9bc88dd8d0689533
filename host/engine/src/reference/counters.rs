//! What a run counts.

use std::ops::AddAssign;

use gramer_graph::{VertexId, View};
use gramer_pattern::SMALL_VERTICES;

/// One number a depth: index d belongs to embeddings of d vertices.
pub type ByDepth = [u64; SMALL_VERTICES + 1];

/// The work of a run. Runs over parts of the work units can be added up.
///
/// Accesses follow figures 4 and 5 of the paper: an embedding that is extended reads the record
/// (offset, degree, label) of each of its vertices once, then walks and searches their lists; an
/// *edge access* is one entry of a list visited by a walk, or compared in a binary search.
/// Where the application needs labels, the record of each new vertex is read for its label. With
/// [`Explorer::with_candidate_check`](super::Explorer::with_candidate_check) the record of each candidate is read instead.
/// Walks are always complete, as in the paper. An implementation that ends a walk where the order
/// of the list allows it, that keeps records, or that fetches a line of entries at a time has
/// fewer.
///
/// *Iteration* i is what algorithm 1 does with embeddings of i vertices.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Counters {
    /// Index d: entries that passed the tests on ids, where the embedding with them would have d
    /// vertices. Index 2 counts the edges from each root to vertices behind it.
    pub candidates_by_depth: ByDepth,
    /// Index d: embeddings of d vertices that passed canonicality and filter. Index 1 counts the
    /// roots; a root that is cut into several units counts in the one that starts at 0.
    pub embeddings_by_depth: ByDepth,
    /// Lists walked: pairs of an embedding and a vertex of it that extends it.
    pub extensions: u64,
    /// Entries visited by walks; the edge accesses without those of searches.
    pub entries_scanned: u64,
    /// Vertex records read, by iteration.
    pub vertex_accesses: ByDepth,
    /// List entries visited or compared, by iteration.
    pub edge_accesses: ByDepth,
}

impl AddAssign<&Counters> for Counters {
    fn add_assign(&mut self, other: &Counters) {
        let add = |mine: &mut ByDepth, others: &ByDepth| {
            mine.iter_mut().zip(others).for_each(|(m, o)| *m += o);
        };
        add(&mut self.candidates_by_depth, &other.candidates_by_depth);
        add(&mut self.embeddings_by_depth, &other.embeddings_by_depth);
        add(&mut self.vertex_accesses, &other.vertex_accesses);
        add(&mut self.edge_accesses, &other.edge_accesses);
        self.extensions += other.extensions;
        self.entries_scanned += other.entries_scanned;
    }
}

/// Accesses of every vertex record and every entry of the edge array, by iteration.
#[derive(Debug, Clone, Default)]
pub struct Accesses {
    /// `vertices[i][v]`: reads of the record of v in iteration i. Index 0 is empty.
    pub vertices: Vec<Vec<u64>>,
    /// `edges[i][e]`: accesses to entry e of the edge array in iteration i. Index 0 is empty.
    pub edges: Vec<Vec<u64>>,
}

impl Accesses {
    /// No access yet, for `iterations` iterations.
    pub fn new(view: View<'_>, iterations: usize) -> Self {
        let table = |items: usize| {
            let mut table = vec![vec![]];
            table.extend((0..iterations).map(|_| vec![0; items]));
            table
        };
        Accesses { vertices: table(view.vertices()), edges: table(view.neighbours.len()) }
    }

    #[inline]
    pub(super) fn vertex(&mut self, iteration: usize, v: VertexId) {
        self.vertices[iteration][v as usize] += 1;
    }

    #[inline]
    pub(super) fn edge(&mut self, iteration: usize, entry: usize) {
        self.edges[iteration][entry] += 1;
    }
}
