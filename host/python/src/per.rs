//! Occurrences per vertex and per edge, from the stream of embeddings.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, RwLock};

use gramer_base::memory::{Phase, collected, with_room};
use gramer_base::{Error, Result};
use gramer_engine::per::edges;
use gramer_engine::{Outcome, Per, Sink};
use gramer_graph::{Graph, VertexId};
use gramer_pattern::Pattern;
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::error::raise;

/// The phase in which arrays are made for Python.
pub const ANSWERING: &&str = &"making arrays of the answer";

/// For each vertex of `ranked`, its number in `graph`: the same vertex has the same id.
///
/// # Errors
/// [`Error::Memory`].
pub fn positions(ranked: &Graph, graph: &Graph) -> Result<Vec<VertexId>> {
    let mut by_id = collected(0..graph.vertices() as VertexId)?;
    by_id.sort_unstable_by_key(|&v| graph.original_id(v));
    let find = |id| by_id.binary_search_by_key(&id, |&v| graph.original_id(v));
    collected(ranked.original_ids().iter().map(|&id| by_id[find(id).expect("an id of both")]))
}

/// The numbers of each pattern of the answer, all orbits together.
///
/// # Errors
/// [`Error::Unsupported`] for a number of more than 128 bits, [`Error::Memory`].
fn by_pattern(outcome: &Outcome) -> Result<Vec<(Pattern, Vec<u128>)>> {
    let of = |pattern: &Pattern| {
        let mut columns =
            outcome.columns.iter().filter(|column| column.of.pattern() == Some(pattern));
        let first = columns.next().map(|column| collected(column.counts.iter()));
        let mut sums: Vec<u128> = first.transpose()?.unwrap_or_default();
        for column in columns {
            for (sum, count) in sums.iter_mut().zip(column.counts.iter()) {
                *sum = sum
                    .checked_add(count)
                    .ok_or_else(|| Error::Unsupported("a count needs more than 128 bits".into()))?;
            }
        }
        Ok((pattern.clone(), sums))
    };
    outcome.results.iter().map(|line| of(&line.pattern)).collect()
}

/// The numbers of each pattern of an answer for `ranked`, in the order of `graph`.
pub fn arrays<'py>(
    python: Python<'py>,
    outcome: &Outcome,
    per: Per,
    ranked: &Graph,
    graph: &Graph,
) -> PyResult<Vec<(crate::pattern::Pattern, Bound<'py, PyAny>)>> {
    let _phase = Phase::begin(ANSWERING);
    let positions = positions(ranked, graph).map_err(raise)?;
    let column = |(pattern, counts): (_, Vec<u128>)| {
        let moved = moved(&counts, per, ranked, &positions, graph).map_err(raise)?;
        Ok((crate::pattern::Pattern(pattern), array(python, moved)?))
    };
    by_pattern(outcome).map_err(raise)?.into_iter().map(column).collect()
}

/// Numbers for `ranked`, whose vertex v is `positions[v]`, in the order of `graph`.
///
/// # Errors
/// [`Error::Memory`].
pub fn moved(
    counts: &[u128],
    per: Per,
    ranked: &Graph,
    positions: &[VertexId],
    graph: &Graph,
) -> Result<Vec<u128>> {
    match per {
        Per::Vertex => by_vertex(counts, positions),
        Per::Edge => by_entry(counts, ranked, positions, graph),
        // By number, independent of the order of the vertices.
        Per::Graph => Ok(counts.to_vec()),
    }
}

/// Numbers by vertex, whose place is `positions[v]`.
///
/// # Errors
/// [`Error::Memory`].
fn by_vertex(counts: &[u128], positions: &[VertexId]) -> Result<Vec<u128>> {
    let mut moved = zeros(counts.len())?;
    counts.iter().zip(positions).for_each(|(&count, &at)| moved[at as usize] = count);
    Ok(moved)
}

/// Numbers by edge of `ranked`, whose vertex v is `positions[v]`, as numbers by entry of the rows of
/// `graph`.
///
/// # Errors
/// [`Error::Memory`].
fn by_entry(
    counts: &[u128],
    ranked: &Graph,
    positions: &[VertexId],
    graph: &Graph,
) -> Result<Vec<u128>> {
    let view = graph.view();
    let mut moved = zeros(view.neighbours.len())?;
    for ((u, v), &count) in edges(ranked.view()).zip(counts) {
        let (i, j) = (positions[u as usize], positions[v as usize]);
        moved[entry(&view, i, j)] = count;
        moved[entry(&view, j, i)] = count;
    }
    Ok(moved)
}

/// An array of 64 bits, or of Python's own numbers where one needs more.
pub fn array(python: Python<'_>, numbers: Vec<u128>) -> PyResult<Bound<'_, PyAny>> {
    if numbers.iter().all(|&n| n <= u128::from(u64::MAX)) {
        let narrow = collected(numbers.iter().map(|&n| n as u64)).map_err(raise)?;
        return Ok(PyArray1::from_vec(python, narrow).into_any());
    }
    let mut wide: Vec<Py<PyAny>> = with_room(numbers.len()).map_err(raise)?;
    for number in numbers {
        wide.push(number.into_pyobject(python)?.into_any().unbind());
    }
    Ok(PyArray1::from_vec(python, wide).into_any())
}

fn zeros<T: Default>(len: usize) -> Result<Vec<T>> {
    collected((0..len).map(|_| T::default()))
}

/// Counts the embeddings of each pattern that a vertex is in.
pub struct Vertices {
    vertices: usize,
    counts: RwLock<HashMap<Pattern, Vec<AtomicU64>>>,
    /// The error for numbers that there was no memory for.
    refused: OnceLock<Error>,
}

impl Vertices {
    pub fn new(vertices: usize) -> Self {
        Vertices { vertices, counts: RwLock::default(), refused: OnceLock::new() }
    }

    /// The counts by pattern; vertex v's at `positions[v]`.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn finish(self, positions: &[VertexId]) -> Result<HashMap<Pattern, Vec<u64>>> {
        if let Some(refused) = self.refused.into_inner() {
            return Err(refused);
        }
        let counts = self.counts.into_inner().expect("no thread panicked");
        let moved = |counts: Vec<AtomicU64>| {
            let mut moved = zeros(counts.len())?;
            for (count, &at) in counts.into_iter().zip(positions) {
                moved[at as usize] = count.into_inner();
            }
            Ok(moved)
        };
        counts.into_iter().map(|(pattern, counts)| Ok((pattern, moved(counts)?))).collect()
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
        if !counts.contains_key(pattern) {
            match zeros(self.vertices) {
                Ok(zeros) => drop(counts.insert(pattern.clone(), zeros)),
                Err(refused) => {
                    let _ = self.refused.set(refused);
                    return ControlFlow::Break(());
                }
            }
        }
        add(&counts[pattern]);
        ControlFlow::Continue(())
    }
}

/// A column for each pattern of the answer, in its order; zeros where it has no embedding.
pub fn columns(
    outcome: &Outcome,
    mut counts: HashMap<Pattern, Vec<u64>>,
    vertices: usize,
) -> impl Iterator<Item = Result<(Pattern, Vec<u64>)>> {
    outcome.results.iter().map(move |line| {
        let column = counts.remove(&line.pattern).map_or_else(|| zeros(vertices), Ok)?;
        Ok((line.pattern.clone(), column))
    })
}

/// Counts the cliques that an edge is in.
pub struct Edges<'a> {
    graph: &'a Graph,
    /// One per entry of the rows; those of the smaller end are used.
    counts: Vec<AtomicU64>,
}

impl<'a> Edges<'a> {
    /// # Errors
    /// [`Error::Memory`].
    pub fn new(graph: &'a Graph) -> Result<Self> {
        Ok(Edges { graph, counts: zeros(graph.view().neighbours.len())? })
    }

    /// The counts by entry of the rows of `graph`, in which vertex v is `positions[v]`.
    ///
    /// # Errors
    /// [`Error::Memory`].
    pub fn finish(self, positions: &[VertexId], graph: &Graph) -> Result<Vec<u64>> {
        let (ranked, view) = (self.graph.view(), graph.view());
        let mut moved = zeros(view.neighbours.len())?;
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
        Ok(moved)
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
