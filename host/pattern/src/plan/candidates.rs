//! What a planner knows of the candidates of pattern vertices.

use gramer_graph::{Label, NO_LABEL};

use crate::{Pattern, VertexSet};

/// What a planner knows of the candidates of pattern vertices.
pub trait Candidates {
    /// The class of a pattern vertex: those of one class have the same candidates.
    fn class(&self, v: usize) -> u8;
    /// Pattern vertices that may share a candidate with `v`, itself included, as bits.
    fn overlap(&self, v: usize) -> VertexSet;
    /// Pattern vertices that may have a candidate next to one of `v`, as bits.
    fn linked(&self, v: usize) -> VertexSet;
}

/// Candidates by the labels of the pattern alone: what holds in every graph.
#[derive(Debug, Clone)]
pub struct ByLabel {
    class: Vec<u8>,
    overlap: Vec<VertexSet>,
}

impl ByLabel {
    /// Of the vertices of `pattern`.
    pub fn new(pattern: &Pattern) -> Self {
        let n = pattern.vertices();
        let label = |v| pattern.vertex_label(v);
        let mut known: Vec<Label> = vec![];
        let class = (0..n)
            .map(|v| {
                let at = known.iter().position(|&l| l == label(v));
                at.unwrap_or_else(|| {
                    known.push(label(v));
                    known.len() - 1
                }) as u8
            })
            .collect();
        let shared = |a, b| a == b || a == NO_LABEL || b == NO_LABEL;
        let overlap = (0..n)
            .map(|v| (0..n).filter(|&w| shared(label(v), label(w))).fold(0, |m, w| m | 1 << w))
            .collect();
        ByLabel { class, overlap }
    }
}

impl Candidates for ByLabel {
    fn class(&self, v: usize) -> u8 {
        self.class[v]
    }

    fn overlap(&self, v: usize) -> VertexSet {
        self.overlap[v]
    }

    fn linked(&self, _v: usize) -> VertexSet {
        VertexSet::MAX
    }
}
