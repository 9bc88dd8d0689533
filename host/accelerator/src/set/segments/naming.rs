//! Vertices, lists and rows of a segment.

use gramer_graph::VertexId;

use super::Segments;
use super::pieces::Piece;
use super::rows::{NAMED, Rows};
use crate::set::image::QUARTER;
use crate::set::units::Operation;

/// Ids that nothing has, as many as a line has entries, so that a line of them is looked up in all banks.
const NOBODY: u32 = 16;
/// Of each vertex in the segment that is being put together.
mod mark {
    /// It has an id.
    pub const NAMED: u8 = 1;
    /// Its list is read.
    pub const LISTED: u8 = 2;
    /// It is in one list.
    pub const SEEN: u8 = 4;
}

impl<'a> Segments<'a> {
    /// Marks what a piece needs; gives about how many quarter-lines that are more.
    pub(super) fn name(&mut self, piece: &Piece) -> u64 {
        let view = self.view;
        let list = piece.list(view);
        let read = |at: usize, v: VertexId| match piece.operation {
            Operation::Cliques { .. } => at > 0,
            Operation::Edges => piece.range.contains(&(at as u32)),
            Operation::Paths => v > piece.root,
        };
        let mut more = 0;
        for (at, &v) in list.iter().enumerate() {
            more += self.mark(v, if read(at, v) { mark::LISTED } else { mark::NAMED });
        }
        match (piece.operation, &piece.made) {
            (Operation::Cliques { .. }, None) | (Operation::Paths, _) => {
                more + self.mark(piece.root, mark::LISTED)
            }
            _ => more + list.len().div_ceil(QUARTER) as u64,
        }
    }

    fn mark(&mut self, v: VertexId, what: u8) -> u64 {
        let before = self.marks[v as usize];
        let after = before | what | mark::NAMED;
        if before == after {
            return 0;
        }
        if before == 0 {
            self.marked.push(v);
        }
        self.marks[v as usize] = after;
        match after & mark::LISTED {
            0 => 1,
            _ => self.own(v).len().div_ceil(QUARTER).max(1) as u64,
        }
    }

    /// The list of a vertex in the form of members' lists.
    fn own(&self, v: VertexId) -> &'a [VertexId] {
        let row = self.view.neighbours(v);
        match self.operation {
            Operation::Paths => row,
            _ => &row[..row.partition_point(|&u| u < v)],
        }
    }

    pub(super) fn clear(&mut self) {
        for v in self.marked.drain(..) {
            self.marks[v as usize] = 0;
        }
    }

    /// The rows of a segment, and which of them each piece has.
    pub(super) fn rows(&mut self, pieces: &[Piece]) -> (Rows, Vec<usize>) {
        for piece in pieces {
            self.name(piece);
        }
        let paths = pieces.iter().filter(|p| p.operation == Operation::Paths);
        if let Some(first) = paths.map(|p| p.root).min() {
            self.name_what_counts(first);
        }
        self.marked.sort_unstable();
        let made = match self.operation {
            Operation::Paths => self.rows_of_blocks(pieces),
            _ => self.rows_before(pieces),
        };
        self.clear();
        made
    }

    /// Gives the vertices after the first root ids that two of the lists have: a path ends there, and
    /// another one can, too.
    fn name_what_counts(&mut self, first: VertexId) {
        for at in 0..self.marked.len() {
            let v = self.marked[at];
            if self.marks[v as usize] & mark::LISTED == 0 {
                continue;
            }
            for &c in self.view.neighbours(v).iter().filter(|&&c| c > first) {
                let marks = &mut self.marks[c as usize];
                match *marks {
                    0 => {
                        *marks = mark::SEEN;
                        self.marked.push(c);
                    }
                    mark::SEEN => *marks |= mark::NAMED,
                    _ => {}
                }
            }
        }
    }

    /// Numbers the vertices that have ids, from `first` on.
    fn number(&mut self, first: u32) -> Vec<VertexId> {
        let named = |v: &VertexId| self.marks[*v as usize] & mark::NAMED != 0;
        let named: Vec<VertexId> = self.marked.iter().copied().filter(named).collect();
        for (row, &v) in (first..).zip(&named) {
            self.row_of[v as usize] = row;
        }
        named
    }

    fn is(&self, v: VertexId, what: u8) -> bool {
        self.marks[v as usize] & what != 0
    }

    /// Adds the lists of edges, all of whose members come after them.
    fn push_edges(&self, rows: &mut Rows, places: &mut [usize], pieces: &[Piece]) {
        for (place, piece) in places.iter_mut().zip(pieces).filter(|(_, p)| is_edges(p)) {
            *place = rows.len();
            rows.push((0..).zip(piece.list(self.view)).map(|(at, &v)| {
                self.row_of[v as usize] | if piece.range.contains(&at) { 0 } else { NAMED }
            }));
        }
    }

    fn rows_before(&mut self, pieces: &[Piece]) -> (Rows, Vec<usize>) {
        let view = self.view;
        let named = self.number(pieces.iter().filter(|p| is_edges(p)).count() as u32);
        let (mut rows, mut places) = (Rows::new(), vec![0; pieces.len()]);
        self.push_edges(&mut rows, &mut places, pieces);
        let row_of = &self.row_of;
        for &v in &named {
            let list = if self.is(v, mark::LISTED) { self.own(v) } else { &[] };
            let named = list.iter().filter(|&&u| self.is(u, mark::NAMED));
            rows.push(named.map(|&u| row_of[u as usize]));
        }
        for (place, piece) in places.iter_mut().zip(pieces).filter(|(_, p)| !is_edges(p)) {
            if piece.made.is_none() {
                *place = row_of[piece.root as usize] as usize;
                continue;
            }
            *place = rows.len();
            rows.push(piece.list(view).iter().map(|&v| row_of[v as usize]));
        }
        (rows, places)
    }

    fn rows_of_blocks(&mut self, pieces: &[Piece]) -> (Rows, Vec<usize>) {
        let edges = pieces.iter().filter(|p| is_edges(p)).count() as u32;
        let named = self.number(NOBODY + edges);
        let (mut rows, mut places) = (Rows::new(), vec![0; pieces.len()]);
        for _ in 0..NOBODY {
            rows.push([]);
        }
        self.push_edges(&mut rows, &mut places, pieces);
        for &v in &named {
            let list = if self.is(v, mark::LISTED) { self.own(v) } else { &[] };
            rows.push((0..).zip(list).map(|(at, &u)| match self.is(u, mark::NAMED) {
                true => self.row_of[u as usize],
                false => at % NOBODY,
            }));
        }
        for (place, piece) in places.iter_mut().zip(pieces).filter(|(_, p)| !is_edges(p)) {
            *place = self.row_of[piece.root as usize] as usize;
        }
        (rows, places)
    }
}

fn is_edges(piece: &Piece) -> bool {
    piece.operation == Operation::Edges
}
