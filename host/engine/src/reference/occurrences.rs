//! The embeddings that contain each vertex and each edge, by size: the accesses of the paper's figures 4 and 5.

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_graph::{Graph, VertexId, View};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Vertex-induced embeddings of one size, and how many of them contain each vertex and each edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrences {
    /// Vertices of an embedding.
    pub size: usize,
    /// Number of embeddings.
    pub embeddings: u64,
    /// Embeddings that contain a vertex, by vertex.
    pub vertices: Vec<u64>,
    /// Embeddings that contain an edge, by edge: the edges (u, v) with u < v in the order of u, then v.
    pub edges: Vec<u64>,
}

/// Counts the connected vertex-induced embeddings of each size from 2 to `largest`, as figures 4 and 5 of the paper
/// do: iteration i has the embeddings of i + 1 vertices, and each embedding accesses each of its vertices and edges
/// once. Unlike [`super::accesses`] this doesn't depend on the order in which embeddings are extended.
///
/// # Errors
/// [`Error::Unsupported`] for sizes outside 2 to 8, [`Error::Interrupted`].
pub fn occurrences(graph: &Graph, largest: usize, context: &Context) -> Result<Vec<Occurrences>> {
    if !(2..=POSITIONS).contains(&largest) {
        let range = format!("occurrences are counted for 2 to {POSITIONS} vertices, not {largest}");
        return Err(Error::Unsupported(range));
    }
    let view = graph.view();
    let ids = edge_ids(view);
    let next = AtomicUsize::new(0);
    let parts = on_threads(context.threads(), |_| {
        let mut search = Search::new(view, &ids, largest, context);
        loop {
            let root = next.fetch_add(1, Ordering::Relaxed);
            if root >= view.vertices() || context.cancel.is_cancelled() {
                break search.found;
            }
            search.root(root as VertexId);
        }
    });
    context.cancel.check()?;
    let mut all = empty(view, largest);
    for part in parts {
        for (sum, part) in all.iter_mut().zip(part) {
            sum.embeddings += part.embeddings;
            sum.vertices.iter_mut().zip(part.vertices).for_each(|(sum, n)| *sum += n);
            sum.edges.iter_mut().zip(part.edges).for_each(|(sum, n)| *sum += n);
        }
    }
    Ok(all)
}

/// Positions of an embedding: bits of a mask.
const POSITIONS: usize = 8;

/// No embedding yet.
fn empty(view: View<'_>, largest: usize) -> Vec<Occurrences> {
    let of = |size| Occurrences {
        size,
        embeddings: 0,
        vertices: vec![0; view.vertices()],
        edges: vec![0; view.neighbours.len() / 2],
    };
    (2..=largest).map(of).collect()
}

/// The edge of each entry of the neighbour array.
fn edge_ids(view: View<'_>) -> Vec<u32> {
    let mut ids = vec![0; view.neighbours.len()];
    let mut next = 0;
    for v in 0..view.vertices() as VertexId {
        for entry in view.row(v) {
            let u = view.neighbours[entry];
            if u > v {
                ids[entry] = next;
                let back = view.row(u).start + view.neighbours(u).partition_point(|&w| w < v);
                ids[back] = next;
                next += 1;
            }
        }
    }
    ids
}

/// Enumeration of connected subgraphs by exclusive neighbourhoods (ESU), which reaches each set of vertices once.
struct Search<'a> {
    view: View<'a>,
    ids: &'a [u32],
    largest: usize,
    context: &'a Context,
    found: Vec<Occurrences>,
    embedding: Vec<VertexId>,
    /// Edges between the vertices of the embedding.
    edges: Vec<u32>,
    /// By vertex: the positions that it is a neighbour of.
    masks: Vec<u8>,
    /// By position and vertex: the edge between them, where the mask has the bit.
    edge_of: Vec<Vec<u32>>,
    /// Candidates of all levels, one after the other.
    candidates: Vec<VertexId>,
}

impl<'a> Search<'a> {
    fn new(view: View<'a>, ids: &'a [u32], largest: usize, context: &'a Context) -> Self {
        Search {
            view,
            ids,
            largest,
            context,
            found: empty(view, largest),
            embedding: vec![],
            edges: vec![],
            masks: vec![0; view.vertices()],
            edge_of: vec![vec![0; view.vertices()]; largest - 1],
            candidates: vec![],
        }
    }

    /// All embeddings whose smallest vertex is `root`.
    fn root(&mut self, root: VertexId) {
        self.push(root);
        let first = self.view.neighbours(root).partition_point(|&u| u <= root);
        self.candidates.clear();
        self.candidates.extend_from_slice(&self.view.neighbours(root)[first..]);
        self.extend(0..self.candidates.len());
        self.pop();
    }

    /// Counts the embedding with each candidate, and goes on with those that may grow.
    fn extend(&mut self, level: Range<usize>) {
        self.count(level.clone());
        let size = self.embedding.len();
        if size + 1 == self.largest || self.context.cancel.is_cancelled() {
            return;
        }
        let root = self.embedding[0];
        for at in level.clone() {
            let v = self.candidates[at];
            let from = self.candidates.len();
            self.candidates.extend_from_within(at + 1..level.end);
            // Neighbours of v alone; those of earlier vertices are candidates or were.
            let row = self.view.neighbours(v);
            for &u in &row[row.partition_point(|&u| u <= root)..] {
                if self.masks[u as usize] == 0 {
                    self.candidates.push(u);
                }
            }
            let to = self.candidates.len();
            let edges = self.edges.len();
            self.push_edges(v);
            self.push(v);
            self.extend(from..to);
            self.pop();
            self.edges.truncate(edges);
            self.candidates.truncate(from);
        }
    }

    fn count(&mut self, level: Range<usize>) {
        let found = &mut self.found[self.embedding.len() - 1];
        let number = level.len() as u64;
        found.embeddings += number;
        self.embedding.iter().for_each(|&v| found.vertices[v as usize] += number);
        self.edges.iter().for_each(|&e| found.edges[e as usize] += number);
        for &v in &self.candidates[level] {
            found.vertices[v as usize] += 1;
            let mut mask = self.masks[v as usize];
            while mask != 0 {
                let position = mask.trailing_zeros() as usize;
                found.edges[self.edge_of[position][v as usize] as usize] += 1;
                mask &= mask - 1;
            }
        }
    }

    /// The edges between a candidate and the embedding.
    fn push_edges(&mut self, v: VertexId) {
        let mask = self.masks[v as usize];
        let of = |&p: &usize| mask >> p & 1 == 1;
        let edge_of = &self.edge_of;
        self.edges.extend(
            (0..self.embedding.len()).filter(of).map(|position| edge_of[position][v as usize]),
        );
    }

    fn push(&mut self, v: VertexId) {
        let position = self.embedding.len();
        for entry in self.view.row(v) {
            let u = self.view.neighbours[entry] as usize;
            self.masks[u] |= 1 << position;
            self.edge_of[position][u] = self.ids[entry];
        }
        self.embedding.push(v);
    }

    fn pop(&mut self) {
        let v = self.embedding.pop().expect("every pop has its push");
        let others = !(1 << self.embedding.len());
        for &u in self.view.neighbours(v) {
            self.masks[u as usize] &= others;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Comparison, Explorer, Motifs, Primitives};
    use super::*;
    use crate::Units;
    use gramer_graph::Builder;
    use gramer_graph::generate::{Model, Recipe, generate};

    /// Each embedding of algorithm 1, vertex by vertex and edge by edge.
    struct Counted {
        motifs: Motifs<'static>,
        all: Vec<(Vec<VertexId>, u128)>,
    }

    impl Primitives for Counted {
        fn size(&self) -> usize {
            self.motifs.size()
        }
        fn process(&mut self, embedding: &super::super::Embedding) -> std::ops::ControlFlow<()> {
            self.all.push((embedding.vertices().to_vec(), embedding.bits()));
            std::ops::ControlFlow::Continue(())
        }
    }

    #[test]
    fn occurrences_are_those_of_algorithm_1() {
        let context = Context { threads: 2, ..Context::default() };
        let model = Model::ErdosRenyiEdges { vertices: 40, edges: 110 };
        let recipe = Recipe { model, seed: 5, vertex_labels: None, edge_labels: None };
        let graph = generate(&recipe, &context).unwrap();
        let view = graph.view();
        let counted = Counted { motifs: Motifs::new(5), all: vec![] };
        let mut explorer = Explorer::new(view, Comparison::Descending, counted, &context);
        let units: Vec<_> = Units::All.iter(view).collect();
        assert!(explorer.run_units(&units).is_continue());
        let mut right = empty(view, 5);
        for (vertices, bits) in explorer.into_primitives().all {
            let of = &mut right[vertices.len() - 2];
            of.embeddings += 1;
            vertices.iter().for_each(|&v| of.vertices[v as usize] += 1);
            let mut bit = 0;
            for j in 1..vertices.len() {
                for i in 0..j {
                    if bits >> bit & 1 == 1 {
                        let (u, v) = (vertices[i].min(vertices[j]), vertices[i].max(vertices[j]));
                        let before = |w| view.neighbours(w).iter().filter(|&&x| x > w).count();
                        let own = view.neighbours(u).iter().filter(|&&x| x > u && x < v).count();
                        of.edges[(0..u).map(before).sum::<usize>() + own] += 1;
                    }
                    bit += 1;
                }
            }
        }
        assert!(right[3].embeddings > 10_000, "{}", right[3].embeddings);
        assert_eq!(occurrences(&graph, 5, &context).unwrap(), right);
        assert!(
            occurrences(&graph, 9, &context).is_err() && occurrences(&graph, 1, &context).is_err()
        );
    }

    #[test]
    fn a_vertex_counts_once_in_each_embedding_that_contains_it() {
        // Figure 4's arithmetic: of e edges a vertex of degree d is in d embeddings of two vertices, d / 2e of the
        // accesses. The star of three leaves beside an edge: 3 of 8.
        let mut builder = Builder::new();
        [(0, 1), (0, 2), (0, 3), (4, 5)].iter().for_each(|&(u, v)| builder.edge(u, v));
        let all = occurrences(&builder.build(), 3, &Context::default()).unwrap();
        assert_eq!(all[0].embeddings, 4);
        assert_eq!(all[0].vertices, [3, 1, 1, 1, 1, 1]);
        assert_eq!(all[0].edges, [1; 4]);
        assert_eq!(all[1].embeddings, 3);
        assert_eq!(all[1].vertices, [3, 2, 2, 2, 0, 0]);
        assert_eq!(all[1].edges, [2, 2, 2, 0]);
    }
}
