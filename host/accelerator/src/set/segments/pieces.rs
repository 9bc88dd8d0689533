//! Pieces of work, one for each unit of the core. A root is one piece, unless its list is longer than the core's or its
//! lists do not fit the memory together.

use std::ops::Range;
use std::sync::Arc;

use gramer_graph::{VertexId, View};
use gramer_machine::ENTRIES_A_LINE;
use gramer_machine::set::QUARTER_ENTRIES;

use super::cycles::{divided, ranges};
use crate::set::units::Operation;

/// What one unit does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The root that it is of.
    pub root: VertexId,
    pub operation: Operation,
    /// The list, in the order of the vertices; that of the root where it is none.
    pub made: Option<Arc<[VertexId]>>,
    /// Entries of the list, from its beginning, that the piece is about.
    pub length: u32,
    /// Positions of the last member of a clique; with edges, of the members that are visited.
    pub range: Range<u32>,
}

impl Piece {
    /// A whole root.
    pub fn of(view: View<'_>, root: VertexId, operation: Operation, range: Range<u32>) -> Self {
        let row = view.neighbours(root);
        let length = match operation {
            Operation::Paths => row.len(),
            _ => row.partition_point(|&u| u < root),
        };
        Piece { root, operation, made: None, length: length as u32, range }
    }

    /// Its list.
    pub fn list<'a>(&'a self, view: View<'a>) -> &'a [VertexId] {
        let whole = self.made.as_deref().unwrap_or_else(|| view.neighbours(self.root));
        &whole[..self.length as usize]
    }

    /// Cut into what is done at once and what follows:
    ///
    /// - Cliques of k ≥ 4 whose last member is among the first `first` are a piece. Those whose last member
    ///   is b are the cliques of k − 1 in the entries that b has for neighbours, one list a member.
    /// - Triangles are those of edges, in a list without a limit: a member at a time is counted, and no
    ///   rows are kept.
    /// - Edges are cut between the members that are visited.
    /// - Paths are edges, and 4-cycles by the range of their last vertex.
    ///
    /// `None` if it cannot be cut. Paths are cut into this many units at a time.
    pub fn cut(self, view: View<'_>, first: u32, units: usize) -> Option<Vec<Work>> {
        match self.operation {
            Operation::Cliques { k: 3 } => {
                Some(vec![Work::Piece(Piece { operation: Operation::Edges, ..self })])
            }
            Operation::Cliques { k } => {
                let list: Arc<[VertexId]> =
                    self.made.clone().unwrap_or_else(|| self.list(view).into());
                // Whole quarter-lines, so that no other entries are held beside.
                let first = first.max(1).next_multiple_of(QUARTER_ENTRIES);
                let range = &self.range;
                let left = range.start.max(first)..range.end;
                let mut works = vec![];
                if first < self.length && range.start < first && first + 1 >= k {
                    let range = range.start..range.end.min(first);
                    let piece = Piece { length: first, range, ..self.clone() };
                    works.push(Work::Piece(piece));
                }
                let left = if first < self.length { left } else { range.clone() };
                works.push(Work::Members { root: self.root, list, k: k - 1, at: left });
                Some(works)
            }
            Operation::Paths => Some(self.slices(view, units)),
            Operation::Edges if self.range.len() > 1 => {
                let middle = self.range.start + self.range.len() as u32 / 2;
                let [first, second] = [self.range.start..middle, middle..self.range.end]
                    .map(|range| Work::Piece(Piece { range, ..self.clone() }));
                Some(vec![first, second])
            }
            _ => None,
        }
    }

    /// Divides paths into this many units or fewer, of similar work: pieces of the edges' work, and ranges of the cycles,
    /// which are counted apart.
    pub fn slices(self, view: View<'_>, units: usize) -> Vec<Work> {
        let row = view.neighbours(self.root);
        let before = row.partition_point(|&v| v < self.root) as u32;
        let lines = |at: u32| 1 + view.degree(row[at as usize]) as u64 / u64::from(ENTRIES_A_LINE);
        let root = self.root;
        let edges = divided(before..self.length, units, lines)
            .into_iter()
            .map(|range| Work::Piece(Piece { operation: Operation::Edges, range, ..self.clone() }));
        let cycles = ranges(view, root, units);
        edges.chain(cycles.into_iter().map(|ends| Work::Cycles { root, ends })).collect()
    }
}

/// Pending work.
#[derive(Debug, Clone)]
pub(super) enum Work {
    Piece(Piece),
    /// Of each member of a list at these positions, the cliques among the entries before it that it has for
    /// neighbours.
    Members {
        root: VertexId,
        list: Arc<[VertexId]>,
        /// Of the operation that counts them.
        k: u32,
        at: Range<u32>,
    },
    /// 4-cycles of a root whose last vertex is one of these.
    Cycles {
        root: VertexId,
        ends: Range<VertexId>,
    },
}

impl Work {
    /// The next piece of members, if one is left that may be the last but one of a clique.
    pub fn of_members(
        view: View<'_>,
        root: VertexId,
        list: &[VertexId],
        k: u32,
        at: &mut Range<u32>,
    ) -> Option<Piece> {
        for position in at {
            let b = list[position as usize];
            let common: Arc<[VertexId]> =
                common(&list[..position as usize], view.neighbours(b)).into();
            let length = common.len() as u32;
            if length + 1 >= k {
                let operation = Operation::Cliques { k };
                let made = Some(common);
                return Some(Piece { root, operation, made, length, range: 0..length });
            }
        }
        None
    }
}

/// What two ascending lists have in common.
fn common(a: &[VertexId], b: &[VertexId]) -> Vec<VertexId> {
    let mut rest = b;
    let mut found = vec![];
    for &v in a {
        rest = &rest[rest.partition_point(|&u| u < v)..];
        if rest.first() == Some(&v) {
            found.push(v);
        }
    }
    found
}
