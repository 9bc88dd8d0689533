//! Graphs on the device.
//!
//! Vertices are numbered by ascending degree (ties by their number), so that an arc from the smaller
//! to the larger number leads to the vertex with more neighbours, and no vertex has more than
//! √(2 E) arcs. Rows are sorted.

use std::sync::{Mutex, PoisonError};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_graph::{Graph, VertexId, View};

/// A graph with vertices numbered as [`Numbering`] says, in the host's memory.
pub(crate) struct ByDegree {
    /// Number of each vertex of the graph.
    pub rank: Vec<u32>,
    /// The vertex of each number.
    pub vertex: Vec<VertexId>,
    /// V + 1 positions in `neighbours`.
    pub offsets: Vec<u32>,
    /// 2 E numbers, row by row, ascending.
    pub neighbours: Vec<u32>,
    /// Position of the first neighbour with a larger number, by vertex.
    pub split: Vec<u32>,
    /// Maximum degree.
    pub longest: u32,
}

/// Numbering of the vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// By ascending degree; the fastest numbering.
    Degree,
    /// By falling number in the graph: roots are then those of [`gramer_engine::BY_IDS`].
    Ids,
    /// Numbers of the graph.
    Own,
}

impl ByDegree {
    /// # Errors
    /// [`Error::Unsupported`] for 2³¹ edges and more, [`Error::Interrupted`].
    pub fn new(graph: &Graph, numbering: Numbering, context: &Context) -> Result<Self> {
        let view = graph.view();
        let (vertices, entries) = (view.vertices(), view.neighbours.len());
        if entries > u32::MAX as usize {
            return Err(Error::Unsupported(format!(
                "the GPU engine takes up to 2^31 edges and the graph has {}; use the engine `cpu`",
                graph.edges()
            )));
        }
        let longest = graph.max_degree() as u32;
        let (rank, vertex) = match numbering {
            Numbering::Degree => by_degree(view, longest as usize),
            Numbering::Ids => {
                let falling: Vec<u32> = (0..vertices as u32).rev().collect();
                (falling.clone(), falling)
            }
            Numbering::Own => {
                let own: Vec<u32> = (0..vertices as u32).collect();
                (own.clone(), own)
            }
        };
        context.cancel.check()?;
        let mut offsets = vec![0u32; vertices + 1];
        for (number, &v) in vertex.iter().enumerate() {
            offsets[number + 1] = offsets[number] + view.degree(v) as u32;
        }
        let rows = Rows { view, rank: &rank, vertex: &vertex, offsets: &offsets };
        let threads = context.threads().min(entries / ENTRIES).max(1);
        let (neighbours, split) = match threads {
            1 => rows.one_after_the_other(context)?,
            _ => rows.on_threads(threads, context)?,
        };
        Ok(ByDegree { rank, vertex, offsets, neighbours, split, longest })
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertex.len()
    }

    /// The labels of edges in the order of `neighbours`; none where the graph has none.
    pub fn edge_labels(&self, graph: &Graph) -> Vec<u32> {
        let view = graph.view();
        let Some(labels) = view.edge_labels else { return vec![] };
        let mut ordered = Vec::with_capacity(labels.len());
        let mut row = vec![];
        for &v in &self.vertex {
            row.clear();
            row.extend(view.row(v).map(|e| (self.rank[view.neighbours[e] as usize], labels[e])));
            row.sort_unstable();
            ordered.extend(row.iter().map(|r| r.1));
        }
        ordered
    }

    /// Number of neighbours of the vertex with this number.
    pub fn degree(&self, number: usize) -> u32 {
        self.offsets[number + 1] - self.offsets[number]
    }

    /// The neighbours with larger numbers.
    pub fn targets(&self, number: usize) -> &[u32] {
        &self.neighbours[self.split[number] as usize..self.offsets[number + 1] as usize]
    }

    /// Number of neighbours with larger numbers.
    pub fn out_degree(&self, number: usize) -> u32 {
        self.offsets[number + 1] - self.split[number]
    }

    /// The arcs to larger numbers as a separate graph: offsets and targets.
    pub fn oriented(&self) -> (Vec<u32>, Vec<u32>) {
        let mut offsets = Vec::with_capacity(self.vertices() + 1);
        let mut targets = Vec::with_capacity(self.neighbours.len() / 2);
        offsets.push(0);
        for number in 0..self.vertices() {
            targets.extend_from_slice(self.targets(number));
            offsets.push(targets.len() as u32);
        }
        (offsets, targets)
    }
}

/// Entries that are worth a thread.
const ENTRIES: usize = 1 << 20;

/// Inputs of the renumbered rows.
struct Rows<'a> {
    view: View<'a>,
    rank: &'a [u32],
    vertex: &'a [VertexId],
    offsets: &'a [u32],
}

impl Rows<'_> {
    /// All rows, and by vertex the position of the first neighbour with a larger number. In the order of their
    /// numbers, vertices enter the rows of their neighbours: rows come out sorted.
    fn one_after_the_other(&self, context: &Context) -> Result<(Vec<u32>, Vec<u32>)> {
        let vertices = self.vertex.len();
        let mut next = self.offsets[..vertices].to_vec();
        let mut neighbours = vec![0u32; self.offsets[vertices] as usize];
        let mut split = vec![0u32; vertices];
        for (number, &v) in self.vertex.iter().enumerate() {
            if number % 4096 == 0 {
                context.cancel.check()?;
            }
            split[number] = next[number];
            for &u in self.view.neighbours(v) {
                let at = &mut next[self.rank[u as usize] as usize];
                neighbours[*at as usize] = number as u32;
                *at += 1;
            }
        }
        Ok((neighbours, split))
    }

    /// Builds the rows on threads, each of which creates and sorts some of them.
    fn on_threads(&self, threads: usize, context: &Context) -> Result<(Vec<u32>, Vec<u32>)> {
        let vertices = self.vertex.len();
        let mut neighbours = vec![0u32; self.offsets[vertices] as usize];
        let mut split = vec![0u32; vertices];
        let mut parts = vec![];
        let (mut entries, mut splits, mut from) = (&mut neighbours[..], &mut split[..], 0);
        for thread in 1..=threads {
            let most = (u64::from(self.offsets[vertices]) * thread as u64 / threads as u64) as u32;
            let to = if thread == threads {
                vertices
            } else {
                self.offsets.partition_point(|&o| o <= most).saturating_sub(1).max(from)
            };
            let size = (self.offsets[to] - self.offsets[from]) as usize;
            let (own, rest) = entries.split_at_mut(size);
            let (own_splits, rest_splits) = splits.split_at_mut(to - from);
            parts.push(Mutex::new((from, own, own_splits)));
            (entries, splits, from) = (rest, rest_splits, to);
        }
        let done = on_threads(threads, |thread| {
            let mut part = parts[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let (from, ref mut entries, ref mut splits) = *part;
            let mut row = &mut entries[..];
            for (number, split) in (from..).zip(splits.iter_mut()) {
                if number % 4096 == 0 {
                    context.cancel.check()?;
                }
                let size = (self.offsets[number + 1] - self.offsets[number]) as usize;
                let (own, rest) = row.split_at_mut(size);
                let ranks = self.view.neighbours(self.vertex[number]).iter();
                own.iter_mut().zip(ranks).for_each(|(at, &u)| *at = self.rank[u as usize]);
                own.sort_unstable();
                let smaller = own.partition_point(|&other| (other as usize) < number);
                *split = self.offsets[number] + smaller as u32;
                row = rest;
            }
            Ok(())
        });
        drop(parts);
        done.into_iter().collect::<Result<()>>()?;
        Ok((neighbours, split))
    }
}

/// Number of each vertex, and the vertex of each number, by ascending degree.
fn by_degree(view: View<'_>, longest: usize) -> (Vec<u32>, Vec<VertexId>) {
    let vertices = view.vertices();
    let mut starts = vec![0u32; longest + 2];
    (0..vertices).for_each(|v| starts[view.degree(v as VertexId) + 1] += 1);
    (1..starts.len()).for_each(|d| starts[d] += starts[d - 1]);
    let (mut rank, mut vertex) = (vec![0u32; vertices], vec![0; vertices]);
    for v in 0..vertices as VertexId {
        let at = &mut starts[view.degree(v)];
        rank[v as usize] = *at;
        vertex[*at as usize] = v;
        *at += 1;
    }
    (rank, vertex)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;
    use gramer_graph::generate::{Model, Recipe, generate};

    #[test]
    fn threads_make_the_same_rows() {
        let model = Model::Rmat { scale: 8, edge_factor: 6, a: 0.57, b: 0.19, c: 0.19 };
        let recipe = Recipe { model, seed: 2, vertex_labels: None, edge_labels: None };
        let graph = generate(&recipe, &Context::default()).unwrap();
        let by = ByDegree::new(&graph, Numbering::Degree, &Context::default()).unwrap();
        let (rank, vertex, offsets) = (&by.rank[..], &by.vertex[..], &by.offsets[..]);
        let rows = Rows { view: graph.view(), rank, vertex, offsets };
        for threads in [1, 2, 7, 400] {
            let (neighbours, split) = rows.on_threads(threads, &Context::default()).unwrap();
            assert_eq!((neighbours, split), (by.neighbours.clone(), by.split.clone()), "{threads}");
        }
        let stopped = Context::default();
        stopped.cancel.cancel();
        assert!(matches!(rows.on_threads(2, &stopped), Err(Error::Interrupted)));
    }

    #[test]
    fn numbers_ascend_with_degree_and_rows_are_sorted() {
        let mut builder = Builder::new();
        for (u, v) in [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4)] {
            builder.edge(u, v);
        }
        let graph = builder.build();
        let by = ByDegree::new(&graph, Numbering::Degree, &Context::default()).unwrap();
        assert_eq!(by.vertex, [4, 1, 2, 3, 0]);
        assert_eq!(by.rank, [4, 1, 2, 3, 0]);
        assert_eq!(by.offsets, [0, 1, 3, 5, 7, 10]);
        assert_eq!(by.neighbours, [3, 2, 4, 1, 4, 0, 4, 1, 2, 3]);
        assert_eq!(by.targets(1), [2, 4]);
        let ids = ByDegree::new(&graph, Numbering::Ids, &Context::default()).unwrap();
        assert_eq!(ids.vertex, [4, 3, 2, 1, 0]);
        assert_eq!((ids.targets(1), ids.longest), (&[4][..], 3));
        let own = ByDegree::new(&graph, Numbering::Own, &Context::default()).unwrap();
        assert_eq!((own.vertex, own.rank), (vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3, 4]));
        assert_eq!(own.neighbours, [1, 2, 3, 0, 2, 0, 1, 0, 4, 3]);
        let (offsets, targets) = by.oriented();
        assert_eq!((offsets.len(), targets.len()), (6, 5));
        assert_eq!((0..5).map(|n| by.out_degree(n)).collect::<Vec<_>>(), [1, 2, 1, 1, 0]);
        assert!((0..5).all(|n| by.degree(n) as usize == graph.view().degree(by.vertex[n])));
    }
}
