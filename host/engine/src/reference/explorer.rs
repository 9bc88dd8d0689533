//! The exploration of algorithm 1, depth first.

use std::ops::{ControlFlow, Range};

use super::Comparison;
use super::application::{Primitives, Shape};
use super::counters::{Accesses, Counters};
use crate::work::WorkUnit;
use gramer_base::context::Context;
use gramer_graph::{VertexId, View};

/// Entries walked between two looks at the stop flag.
const LOOK_EVERY: u64 = 1 << 12;

/// Why an exploration ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The run was cancelled.
    Cancelled,
    /// The application had enough.
    Application,
    /// More embeddings than allowed; see [`Explorer::with_limit`].
    Limit,
}

/// An access of algorithm 1 as [`Counters`] count it, when it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The record of a vertex is read.
    Record(VertexId),
    /// An entry of the edge array, in the list of a vertex, is visited or compared.
    Entry {
        /// Its place in the array.
        at: usize,
        /// The vertex.
        list: VertexId,
    },
}

/// Vertices in the order in which they were added, and the edges between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Embedding {
    vertices: Vec<VertexId>,
    bits: u128,
}

impl Embedding {
    /// The vertices; the first is the root.
    pub fn vertices(&self) -> &[VertexId] {
        &self.vertices
    }

    /// Number of vertices.
    pub fn size(&self) -> usize {
        self.vertices.len()
    }

    /// The edges between them, as in [`gramer_pattern::Pattern::from_bits`].
    pub fn bits(&self) -> u128 {
        self.bits
    }

    /// The earlier vertices that the last one is a neighbour of: bit i stands for position i.
    pub fn last_mask(&self) -> u16 {
        let last = self.size() - 1;
        (self.bits >> first_bit(last)) as u16
    }

    fn push(&mut self, v: VertexId, mask: u16) {
        self.bits |= (mask as u128) << first_bit(self.size());
        self.vertices.push(v);
    }

    fn pop(&mut self) {
        self.vertices.pop();
        self.bits &= (1 << first_bit(self.size())) - 1;
    }
}

/// The first adjacency bit of position `j`: those of its edges to positions 0 … j − 1 follow.
fn first_bit(j: usize) -> usize {
    j * j.saturating_sub(1) / 2
}

/// Runs work units of one application on one graph.
pub struct Explorer<'a, P> {
    view: View<'a>,
    comparison: Comparison,
    primitives: P,
    context: &'a Context,
    embedding: Embedding,
    counters: Counters,
    accesses: Option<Accesses>,
    observer: Option<Box<dyn FnMut(Access) + 'a>>,
    candidate_check: bool,
    limit: u64,
    embeddings: u64,
}

impl<'a, P: Primitives> Explorer<'a, P> {
    /// Creates an explorer.
    ///
    /// # Panics
    /// If the application asks for embeddings of more than [`gramer_pattern::SMALL_VERTICES`]
    /// vertices.
    pub fn new(
        view: View<'a>,
        comparison: Comparison,
        primitives: P,
        context: &'a Context,
    ) -> Self {
        assert!(primitives.size() <= gramer_pattern::SMALL_VERTICES);
        Explorer {
            view,
            comparison,
            primitives,
            context,
            embedding: Embedding::default(),
            counters: Counters::default(),
            accesses: None,
            observer: None,
            candidate_check: false,
            limit: u64::MAX,
            embeddings: 0,
        }
    }

    /// Counts the accesses to each single vertex and edge entry as well: 8 bytes for each, and as
    /// often as there are iterations.
    pub fn with_accesses(mut self) -> Self {
        self.accesses = Some(Accesses::new(self.view, self.primitives.size().saturating_sub(1)));
        self
    }

    /// Tells each access as it happens.
    pub fn with_observer(mut self, observer: impl FnMut(Access) + 'a) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Checks the connectivity of a candidate as section II-B of the paper does: reads the record of each candidate and
    /// searches its list for the other vertices of the embedding, instead of their lists for the candidate. Only the
    /// accesses differ.
    pub fn with_candidate_check(mut self) -> Self {
        self.candidate_check = true;
        self
    }

    /// Ends with [`Stop::Limit`] after this many embeddings, of all sizes together.
    pub fn with_limit(mut self, embeddings: u64) -> Self {
        self.limit = embeddings;
        self
    }

    /// The work so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Accesses so far, if [`Explorer::with_accesses`] enabled them.
    pub fn accesses(&self) -> Option<&Accesses> {
        self.accesses.as_ref()
    }

    /// The application with its results so far.
    pub fn primitives(&self) -> &P {
        &self.primitives
    }

    /// The application with its results.
    pub fn into_primitives(self) -> P {
        self.primitives
    }

    /// Explores these work units one after another; may be called again with others. After a break the results cover
    /// the explored part.
    pub fn run_units(&mut self, units: &[WorkUnit]) -> ControlFlow<Stop> {
        for unit in units {
            if self.context.cancel.is_cancelled() {
                return ControlFlow::Break(Stop::Cancelled);
            }
            self.embedding.push(unit.start, 0);
            let flow = self.root(unit);
            self.embedding.pop();
            flow?;
            self.context.progress.add(1);
        }
        ControlFlow::Continue(())
    }

    /// A unit, whose root was just pushed.
    fn root(&mut self, unit: &WorkUnit) -> ControlFlow<Stop> {
        if !self.primitives.filter(&self.embedding) {
            return ControlFlow::Continue(());
        }
        if unit.first == 0 {
            self.counters.embeddings_by_depth[1] += 1;
        }
        let first = self.view.row(unit.start).start;
        self.extend(first + unit.first as usize..first + unit.limit as usize)
    }

    /// Lines 4 to 9 of algorithm 1 for one embedding, and depth first for those that it becomes.
    /// `root_part` are the entries of the root's list to be walked while the root is alone.
    fn extend(&mut self, root_part: Range<usize>) -> ControlFlow<Stop> {
        let size = self.embedding.size();
        if size == self.primitives.size() || !self.primitives.aggregate_filter(&self.embedding) {
            return ControlFlow::Continue(());
        }
        for position in 0..size {
            self.read_record(size, self.embedding.vertices[position]);
        }
        let lists = match self.primitives.shape() {
            Shape::Any => size,
            Shape::Complete => 1,
        };
        for position in 0..lists {
            let row = self.view.row(self.embedding.vertices[position]);
            let walk = if size == 1 { root_part.clone() } else { row };
            self.counters.extensions += 1;
            for entry in walk {
                self.visit(size, entry, self.embedding.vertices[position]);
                self.counters.entries_scanned += 1;
                if self.counters.entries_scanned % LOOK_EVERY == 0
                    && self.context.cancel.is_cancelled()
                {
                    return ControlFlow::Break(Stop::Cancelled);
                }
                let w = self.view.neighbours[entry];
                if !self.passes_ids(position, w) {
                    continue;
                }
                self.counters.candidates_by_depth[size + 1] += 1;
                if let Some(mask) = self.connectivity(position, w) {
                    self.embedding.push(w, mask);
                    let flow = self.found();
                    self.embedding.pop();
                    flow?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Lines 7 to 9 for the canonical embedding that was just formed.
    fn found(&mut self) -> ControlFlow<Stop> {
        let size = self.embedding.size();
        if !self.primitives.filter(&self.embedding) {
            return ControlFlow::Continue(());
        }
        if self.embeddings == self.limit {
            return ControlFlow::Break(Stop::Limit);
        }
        self.embeddings += 1;
        self.counters.embeddings_by_depth[size] += 1;
        // The check has read the candidate's record.
        if self.primitives.needs_labels() && !self.candidate_check {
            self.read_record(size - 1, self.embedding.vertices[size - 1]);
        }
        if self.primitives.process(&self.embedding).is_break() {
            return ControlFlow::Break(Stop::Application);
        }
        self.extend(0..0)
    }

    /// The tests on ids of an entry `w` of the list of `position`.
    fn passes_ids(&self, position: usize, w: VertexId) -> bool {
        let vertices = &self.embedding.vertices;
        let before = |v: &VertexId| self.comparison.before(*v, w);
        before(&vertices[0])
            && vertices[position + 1..].iter().all(before)
            && !vertices[..=position].contains(&w)
    }

    /// The positions whose vertices `w` is a neighbour of, given that it is in the list of
    /// `position`; `None` as soon as that settles that `w` is not wanted.
    fn connectivity(&mut self, position: usize, w: VertexId) -> Option<u16> {
        let mut mask = 1 << position;
        if self.candidate_check {
            self.read_record(self.embedding.size(), w);
        }
        for other in (0..self.embedding.size()).filter(|&other| other != position) {
            let vertex = self.embedding.vertices[other];
            let (list, id) = if self.candidate_check { (w, vertex) } else { (vertex, w) };
            if self.search(list, id) {
                if other < position {
                    return None;
                }
                mask |= 1 << other;
            } else if self.primitives.shape() == Shape::Complete {
                return None;
            }
        }
        Some(mask)
    }

    /// Whether `w` is in the list of `v`, by binary search.
    fn search(&mut self, v: VertexId, w: VertexId) -> bool {
        let iteration = self.embedding.size();
        let mut range = self.view.row(v);
        while !range.is_empty() {
            let middle = range.start + range.len() / 2;
            self.visit(iteration, middle, v);
            match self.view.neighbours[middle].cmp(&w) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => range.start = middle + 1,
                std::cmp::Ordering::Greater => range.end = middle,
            }
        }
        false
    }

    /// Counts a read of the record of `v`.
    fn read_record(&mut self, iteration: usize, v: VertexId) {
        self.counters.vertex_accesses[iteration] += 1;
        if let Some(accesses) = &mut self.accesses {
            accesses.vertex(iteration, v);
        }
        if let Some(observer) = &mut self.observer {
            observer(Access::Record(v));
        }
    }

    /// Counts an access to an entry of the edge array, in the list of a vertex.
    fn visit(&mut self, iteration: usize, entry: usize, list: VertexId) {
        self.counters.edge_accesses[iteration] += 1;
        if let Some(accesses) = &mut self.accesses {
            accesses.edge(iteration, entry);
        }
        if let Some(observer) = &mut self.observer {
            observer(Access::Entry { at: entry, list });
        }
    }
}
