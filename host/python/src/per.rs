//! Occurrences per vertex and per edge, from the stream of embeddings.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};

use gramer_engine::per::edges;
use gramer_engine::{Outcome, PerOutcome, Sink};
use gramer_graph::{Graph, VertexId};
use gramer_pattern::Pattern;
use numpy::PyArray1;
use pyo3::prelude::*;

/// For each vertex of `ranked`, its number in `graph`: the same vertex has the same id.
pub fn positions(ranked: &Graph, graph: &Graph) -> Vec<VertexId> {
    let mut by_id: Vec<VertexId> = (0..graph.vertices() as VertexId).collect();
    by_id.sort_unstable_by_key(|&v| graph.original_id(v));
    let find = |id| by_id.binary_search_by_key(&id, |&v| graph.original_id(v));
    ranked.original_ids().iter().map(|&id| by_id[find(id).expect("an id of both")]).collect()
}

/// The numbers of each pattern of the answer, all orbits together.
///
/// # Errors
/// [`gramer_graph::Error::Unsupported`] for a number of more than 128 bits.
pub fn by_pattern(outcome: &PerOutcome) -> gramer_graph::Result<Vec<(Pattern, Vec<u128>)>> {
    let of = |pattern: &Pattern| {
        let mut columns = outcome.columns.iter().filter(|column| column.pattern == *pattern);
        let mut sums: Vec<u128> =
            columns.next().map_or_else(Vec::new, |column| column.counts.iter().collect());
        for column in columns {
            for (sum, count) in sums.iter_mut().zip(column.counts.iter()) {
                *sum = sum.checked_add(count).ok_or_else(|| {
                    gramer_graph::Error::Unsupported("a count needs more than 128 bits".into())
                })?;
            }
        }
        Ok((pattern.clone(), sums))
    };
    outcome.results.iter().map(|line| of(&line.pattern)).collect()
}

/// Numbers by edge of `ranked`, whose vertex v is `positions[v]`, as numbers by entry of the rows of
/// `graph`.
pub fn by_entry(
    counts: &[u128],
    ranked: &Graph,
    positions: &[VertexId],
    graph: &Graph,
) -> Vec<u128> {
    let view = graph.view();
    let mut moved = vec![0; view.neighbours.len()];
    for ((u, v), &count) in edges(ranked.view()).zip(counts) {
        let (i, j) = (positions[u as usize], positions[v as usize]);
        moved[entry(&view, i, j)] = count;
        moved[entry(&view, j, i)] = count;
    }
    moved
}

/// An array of 64 bits, or of Python's own numbers where one needs more.
pub fn array(python: Python<'_>, numbers: Vec<u128>) -> PyResult<Bound<'_, PyAny>> {
    let narrow: Result<Vec<u64>, _> = numbers.iter().map(|&n| u64::try_from(n)).collect();
    if let Ok(narrow) = narrow {
        return Ok(PyArray1::from_vec(python, narrow).into_any());
    }
    let wide = numbers.into_iter().map(|n| Ok(n.into_pyobject(python)?.into_any().unbind()));
    Ok(PyArray1::from_vec(python, wide.collect::<PyResult<Vec<Py<PyAny>>>>()?).into_any())
}

fn zeros(len: usize) -> Box<[AtomicU64]> {
    std::iter::repeat_with(AtomicU64::default).take(len).collect()
}

/// Counts the embeddings of each pattern that a vertex is in.
pub struct Vertices {
    vertices: usize,
    counts: RwLock<HashMap<Pattern, Box<[AtomicU64]>>>,
}

impl Vertices {
    pub fn new(vertices: usize) -> Self {
        Vertices { vertices, counts: RwLock::default() }
    }

    /// The counts by pattern; vertex v's at `positions[v]`.
    pub fn finish(self, positions: &[VertexId]) -> HashMap<Pattern, Vec<u64>> {
        let counts = self.counts.into_inner().expect("no thread panicked");
        let moved = |counts: Box<[AtomicU64]>| {
            let mut moved = vec![0; counts.len()];
            for (count, &at) in counts.into_iter().zip(positions) {
                moved[at as usize] = count.into_inner();
            }
            moved
        };
        counts.into_iter().map(|(pattern, counts)| (pattern, moved(counts))).collect()
    }
}

impl Sink for Vertices {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let add = |counts: &[AtomicU64]| {
            vertices.iter().for_each(|&v| {
                counts[v as usize].fetch_add(1, Ordering::Relaxed);
            });
        };
        if let Some(counts) = self.counts.read().expect("no thread panicked").get(pattern) {
            add(counts);
            return ControlFlow::Continue(());
        }
        let mut counts = self.counts.write().expect("no thread panicked");
        add(counts.entry(pattern.clone()).or_insert_with(|| zeros(self.vertices)));
        ControlFlow::Continue(())
    }
}

/// A column for each pattern of the answer, in its order; zeros where it has no embedding.
pub fn columns(
    outcome: &Outcome,
    mut counts: HashMap<Pattern, Vec<u64>>,
    vertices: usize,
) -> impl Iterator<Item = (Pattern, Vec<u64>)> {
    outcome.results.iter().map(move |line| {
        let column = counts.remove(&line.pattern).unwrap_or_else(|| vec![0; vertices]);
        (line.pattern.clone(), column)
    })
}

/// Counts the cliques that an edge is in.
pub struct Edges<'a> {
    graph: &'a Graph,
    /// One per entry of the rows; those of the smaller end are used.
    counts: Box<[AtomicU64]>,
}

impl<'a> Edges<'a> {
    pub fn new(graph: &'a Graph) -> Self {
        Edges { graph, counts: zeros(graph.view().neighbours.len()) }
    }

    /// The counts by entry of the rows of `graph`, in which vertex v is `positions[v]`.
    pub fn finish(self, positions: &[VertexId], graph: &Graph) -> Vec<u64> {
        let (ranked, view) = (self.graph.view(), graph.view());
        let mut moved = vec![0; view.neighbours.len()];
        for u in 0..ranked.vertices() as VertexId {
            for (at, &v) in ranked.row(u).zip(ranked.neighbours(u)) {
                if u < v {
                    let (i, j) = (positions[u as usize], positions[v as usize]);
                    let count = self.counts[at].load(Ordering::Relaxed);
                    moved[entry(&view, i, j)] = count;
                    moved[entry(&view, j, i)] = count;
                }
            }
        }
        moved
    }
}

fn entry(view: &gramer_graph::View<'_>, u: VertexId, v: VertexId) -> usize {
    view.row(u).start + view.neighbours(u).binary_search(&v).expect("an edge of both graphs")
}

impl Sink for Edges<'_> {
    fn embedding(&self, _: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let view = self.graph.view();
        for (i, &u) in vertices.iter().enumerate() {
            for &v in &vertices[i + 1..] {
                let at = entry(&view, u.min(v), u.max(v));
                self.counts[at].fetch_add(1, Ordering::Relaxed);
            }
        }
        ControlFlow::Continue(())
    }
}
