//! Patterns.

use std::path::{Path, PathBuf};

use gramer_base::context::Cancel;
use gramer_graph::NO_LABEL;
use gramer_pattern::{
    MAX_VERTICES, PatternInput, SMALL_VERTICES, labelled_name, parse_pattern, parse_text,
    pattern_text, read_pattern,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::raise;

/// A pattern of 1 to 32 vertices, numbered from 0 on.
///
/// ``edges`` are pairs of vertices, or a line of text: ``a-b`` is an edge, ``a-[7]-b`` one with the label 7, ``a:3`` a
/// vertex with the label 3, and ``a!-b`` a pair that must not be joined. ``labels`` has a label (0 to 2³² − 2), or None
/// for any, for each vertex, ``edge_labels`` for each edge. Raises :class:`ValueError` for what is no pattern.
///
/// >>> Pattern("a-b, b-c, c-a").name
/// 'triangle'
/// >>> Pattern("a-b, b-c, a!-c").absent
/// [(0, 2)]
/// >>> bull = Pattern([(0, 1), (1, 2), (2, 0), (0, 3), (1, 4)])
/// >>> bull.vertices, bull.name
/// (5, 'bull')
/// >>> Pattern([(0, 1)], labels=[7, None]).labels
/// [7, None]
/// >>> Pattern.parse("0 1\n1 2\n2 0\n") == Pattern.read("triangle")
/// True
#[pyclass(frozen, eq, hash, module = "gramer")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Pattern(pub gramer_pattern::Pattern);

/// What a pattern is made of.
#[derive(FromPyObject)]
pub enum Edges {
    Text(String),
    Pairs(Vec<(usize, usize)>),
}

/// The pattern of a user's words, whose labels are numbers.
fn numbered(input: &PatternInput) -> PyResult<Pattern> {
    input.resolve(None, None).map(Pattern).map_err(raise)
}

#[pymethods]
impl Pattern {
    #[new]
    #[pyo3(signature = (edges, labels=None, edge_labels=None))]
    fn new(
        edges: Edges,
        labels: Option<Vec<Option<u32>>>,
        edge_labels: Option<Vec<Option<u32>>>,
    ) -> PyResult<Self> {
        let edges = match edges {
            Edges::Pairs(edges) => edges,
            Edges::Text(_) if labels.is_some() || edge_labels.is_some() => {
                let what = "labels of a pattern in a line of text are in the text: a:3, a-[7]-b";
                return Err(PyValueError::new_err(what));
            }
            Edges::Text(text) => {
                let (pattern, labels) = parse_text(&text).map_err(raise)?;
                return numbered(&PatternInput { labels, ..pattern.into() });
            }
        };
        let named = edges.iter().map(|&(u, v)| u.max(v) + 1).max().unwrap_or(1);
        let vertices = labels.as_ref().map_or(named, |l| l.len());
        if vertices < named || vertices > MAX_VERTICES {
            return Err(PyValueError::new_err(format!(
                "a pattern has 1 to {MAX_VERTICES} vertices and a label, or None, for each of \
                 them: the edges name {named}, the labels {vertices}"
            )));
        }
        let mut pattern = gramer_pattern::Pattern::new(vertices);
        for (at, &(u, v)) in edges.iter().enumerate() {
            if u == v || pattern.has_edge(u, v) {
                let what = if u == v { "a loop" } else { "there already" };
                return Err(PyValueError::new_err(format!("edge {at}, ({u}, {v}), is {what}")));
            }
            pattern.add_edge(u, v);
        }
        for (vertex, label) in labels.iter().flatten().enumerate() {
            pattern.set_vertex_label(vertex, label.unwrap_or(NO_LABEL));
        }
        if let Some(labels) = edge_labels {
            if labels.len() != edges.len() {
                return Err(PyValueError::new_err(format!(
                    "{} edges need as many labels, or None; there are {}",
                    edges.len(),
                    labels.len()
                )));
            }
            for (&(u, v), label) in edges.iter().zip(labels) {
                pattern.set_edge_label(u, v, label.unwrap_or(NO_LABEL));
            }
        }
        Ok(Pattern(pattern))
    }

    /// By its name (`triangle`, `K3,3`, `house`), from a line of text or from a file.
    #[staticmethod]
    fn read(path: PathBuf) -> PyResult<Self> {
        numbered(&read_pattern(&path, &Cancel::default()).map_err(raise)?)
    }

    /// From text in one of the formats of pattern files.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        parse_pattern(text.as_bytes(), Path::new("<text>")).map(Pattern).map_err(raise)
    }

    /// Number of vertices.
    #[getter]
    fn vertices(&self) -> usize {
        self.0.vertices()
    }

    /// The edges, (smaller, larger) vertex each, in order.
    #[getter]
    fn edges(&self) -> Vec<(usize, usize)> {
        self.0.edges()
    }

    /// The label of each vertex, None for any; None if there are none at all.
    #[getter]
    fn labels(&self) -> Option<Vec<Option<u32>>> {
        let label = |i| Some(self.0.vertex_label(i)).filter(|&l| l != NO_LABEL);
        self.0.has_vertex_labels().then(|| (0..self.0.vertices()).map(label).collect())
    }

    /// The label of each of :attr:`edges`, None for any; None if there are none at all.
    #[getter]
    fn edge_labels(&self) -> Option<Vec<Option<u32>>> {
        let label = |(i, j)| self.0.edge_label(i, j).filter(|&l| l != NO_LABEL);
        self.0.has_edge_labels().then(|| self.0.edges().into_iter().map(label).collect())
    }

    /// Pairs of vertices that must not be joined, in order.
    #[getter]
    fn absent(&self) -> Vec<(usize, usize)> {
        self.0.absences()
    }

    /// The pattern as a line of text.
    #[getter]
    fn text(&self) -> String {
        let number = |label: u32| label.to_string();
        pattern_text(&self.0, &number, &number)
    }

    /// What people call it, such as ``diamond``; with its labels behind, if it has any.
    #[getter]
    fn name(&self) -> String {
        labelled_name(&self.0)
    }

    /// The same for all patterns that differ in the numbers of their vertices alone. Patterns of more than
    /// 16 vertices have none: ValueError.
    fn canonical(&self) -> PyResult<Self> {
        let n = self.0.vertices();
        if n > SMALL_VERTICES {
            return Err(PyValueError::new_err(format!(
                "patterns of up to {SMALL_VERTICES} vertices have a canonical form, and this one has {n}"
            )));
        }
        Ok(Pattern(self.0.canonical().0))
    }

    /// A picture, which notebooks show.
    fn _repr_svg_(&self) -> String {
        gramer_picture::svg::document(&self.0, 96)
    }

    /// In the form of a pattern file.
    fn __str__(&self) -> String {
        self.name()
    }

    fn __repr__(&self) -> String {
        format!("<Pattern {}: {:?}>", self.name(), self.0.edges())
    }
}

/// Patterns with their counts as a table of HTML with pictures, which notebooks show.
#[pyfunction]
pub fn table(counts: Vec<(PyRef<'_, Pattern>, u128)>) -> String {
    let counts: Vec<(&gramer_pattern::Pattern, u128)> =
        counts.iter().map(|(pattern, count)| (&pattern.0, *count)).collect();
    gramer_picture::fragment(&counts)
}
