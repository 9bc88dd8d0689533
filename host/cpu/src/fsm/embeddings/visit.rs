//! Visitors of embeddings: counting and listing.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use gramer_pattern::Pattern;

use super::walker::Walker;
use crate::fsm::code::{MAX, Small};
use crate::reach::Form;
use gramer_engine::Sink;

/// Visitor of the embeddings that a [`Walker`] reaches.
pub(super) trait EmbeddingVisitor<F: Form> {
    /// Embeddings of this many vertices are visited without what waits to extend them.
    fn largest(&self) -> usize;

    /// `walker` holds an embedding of an allowed pattern, whose node is `node`, and the vertices
    /// `waiting` from this place on that can extend it. Says whether to extend it.
    fn visit(
        &mut self,
        walker: &mut Walker<'_, F>,
        node: u32,
        waiting: usize,
    ) -> ControlFlow<(), bool>;
}

/// Visitor that counts the embeddings with two vertices more than `last`.
pub(super) struct CountVisitor {
    pub(super) last: usize,
}

impl<F: Form> EmbeddingVisitor<F> for CountVisitor {
    fn largest(&self) -> usize {
        usize::MAX
    }

    fn visit(
        &mut self,
        walker: &mut Walker<'_, F>,
        node: u32,
        waiting: usize,
    ) -> ControlFlow<(), bool> {
        if walker.members.len() < self.last {
            return ControlFlow::Continue(true);
        }
        walker.pairs(node, waiting)?;
        ControlFlow::Continue(false)
    }
}

/// Counts the embeddings of three vertices one by one.
pub(super) struct Triples;

impl<F: Form> EmbeddingVisitor<F> for Triples {
    fn largest(&self) -> usize {
        3
    }

    fn visit(
        &mut self,
        walker: &mut Walker<'_, F>,
        node: u32,
        _waiting: usize,
    ) -> ControlFlow<(), bool> {
        if walker.members.len() == 3 {
            walker.count(node, 1);
        }
        ControlFlow::Continue(true)
    }
}

/// Visitor that lists the embeddings of up to `max` vertices.
pub(super) struct ListVisitor<'a> {
    pub(super) max: usize,
    pub(super) sink: &'a dyn Sink,
    /// By code: the canonical pattern, and which of the code's vertices its vertices are.
    pub(super) aligned: &'a FxHashMap<Small, (Pattern, Vec<usize>)>,
}

impl<F: Form> EmbeddingVisitor<F> for ListVisitor<'_> {
    fn largest(&self) -> usize {
        self.max
    }

    fn visit(
        &mut self,
        walker: &mut Walker<'_, F>,
        node: u32,
        _waiting: usize,
    ) -> ControlFlow<(), bool> {
        let size = walker.members.len();
        if size >= 2 {
            let (code, order) = walker.trie.code(node);
            let (pattern, places) = &self.aligned[code];
            let mut vertices = [0; MAX];
            for (vertex, &place) in vertices.iter_mut().zip(places) {
                *vertex = walker.rows.original(walker.members[order[place] as usize]);
            }
            self.sink.embedding(pattern, &vertices[..size])?;
        }
        ControlFlow::Continue(true)
    }
}
