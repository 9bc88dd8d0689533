//! Graphs that are larger than the memory of a cluster: the roots are cut into segments, and the lists that
//! those of one segment need are an image of their own. Roots whose list is longer than the core's are cut,
//! too (`pieces`).
//!
//! A segment for cliques has of each list the entries that a root of the segment names: no other can match.
//! A segment for paths has whole blocks, for their lengths count; entries that neither are
//! marked nor can be counted twice have an id that nothing has.

mod order;
mod pieces;
mod rows;

use std::collections::VecDeque;
use std::ops::Range;

use gramer_engine::Units;
use gramer_graph::error::{Error, Result};
use gramer_graph::{VertexId, View};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};
use gramer_machine::set::{LAST_ALL, MAP_LINES, PLANS, QUARTERS_LONG};

use self::pieces::{Piece, Work};
use self::rows::{NAMED, Rows};
use super::image::{QUARTER, SetImage};
use super::reference::{SUM_CLIQUES, SUM_TRIANGLES};
use super::sums::Total;
use super::units::{Operation, PlacedUnit, roots_of, work};

/// Ids that nothing has, as many as a line has entries, so that a line of them is looked up in all banks.
const NOBODY: u32 = 16;
/// Part of the room that a segment is filled to by estimate.
const FILLED: f64 = 0.96;

/// Of each vertex in the segment that is being put together.
mod mark {
    /// It has an id.
    pub const NAMED: u8 = 1;
    /// Its list is read.
    pub const LISTED: u8 = 2;
    /// One list has it.
    pub const SEEN: u8 = 4;
}

/// A part of a task for one run of each cluster.
#[derive(Debug, Clone)]
pub struct Segment {
    /// What the runs load.
    pub image: SetImage,
    /// What units name.
    pub operations: Vec<Operation>,
    /// The units of all clusters.
    pub units: Vec<PlacedUnit>,
}

impl Segment {
    /// Adds the sums of its runs to those of a task: triangles of lists that are too long for cliques
    /// are cliques all the same.
    pub fn add(&self, total: &mut Total, found: &Total) {
        if self.operations.contains(&Operation::Paths) {
            total.iter_mut().zip(found).for_each(|(sum, own)| *sum += own);
        } else {
            total[SUM_CLIQUES] += found[SUM_CLIQUES] + found[SUM_TRIANGLES];
        }
    }
}

/// The segments of a task of one operation, one after the other.
#[derive(Debug)]
pub struct Segments<'a> {
    view: View<'a>,
    machine: &'a Accelerator,
    operation: Operation,
    /// What is to be done, before the roots that are left.
    works: VecDeque<Work>,
    roots: std::vec::IntoIter<(VertexId, Range<u32>)>,
    /// Marks of each vertex, and those that have any.
    marks: Vec<u8>,
    marked: Vec<VertexId>,
    /// The row of each vertex that has one.
    row_of: Vec<u32>,
    /// Quarter-lines by estimate to those of an image, as the segments so far had it.
    excess: f64,
}

impl<'a> Segments<'a> {
    /// Those of an operation on the roots of some units.
    pub fn new(
        machine: &'a Accelerator,
        view: View<'a>,
        operation: Operation,
        units: Units<'_>,
    ) -> Self {
        let mut position = vec![0; view.vertices()];
        for (at, v) in (0u32..).zip(order::near(view)) {
            position[v as usize] = at;
        }
        let mut roots: Vec<_> = roots_of(view, operation, units).collect();
        roots.sort_by_key(|(root, _)| position[*root as usize]);
        Segments {
            view,
            machine,
            operation,
            works: VecDeque::new(),
            roots: roots.into_iter(),
            marks: vec![0; view.vertices()],
            marked: vec![],
            row_of: vec![0; view.vertices()],
            excess: 1.0,
        }
    }

    /// Roots that no segment has yet.
    pub fn roots_left(&self) -> usize {
        self.roots.len()
    }

    /// The next segment; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a root's lists have no room even alone.
    #[expect(clippy::should_implement_trait, reason = "an iterator of results is no shorter")]
    pub fn next(&mut self) -> Result<Option<Segment>> {
        loop {
            let (mut pieces, estimate) = self.choose()?;
            if pieces.is_empty() {
                return Ok(None);
            }
            let mut first = true;
            loop {
                let (rows, places) = self.rows(&pieces);
                let (blocks, quarters) = rows.place();
                if std::mem::take(&mut first) {
                    self.excess = (estimate as f64 / quarters as f64).clamp(0.05, 20.0);
                }
                let room = self.room(&pieces);
                if quarters <= room {
                    let image = rows.image(blocks, quarters);
                    return Ok(Some(segment(image, &rows, pieces, &places)));
                }
                if pieces.len() == 1 {
                    break;
                }
                // Less of it, as much as had room by what it took.
                let part = FILLED * room as f64 / quarters as f64;
                let keep = ((pieces.len() as f64 * part) as usize).max(1);
                for piece in pieces.drain(keep..).rev() {
                    self.works.push_front(Work::Piece(piece));
                }
            }
            let only = pieces.remove(0);
            let first = only.length / 2;
            self.cut(only, first)?;
        }
    }

    /// Quarter-lines that an image may have: the map has so many ids.
    fn room(&self, pieces: &[Piece]) -> u64 {
        let room = self.machine.set_quarters();
        let mapped = pieces.iter().any(|p| !matches!(p.operation, Operation::Cliques { .. }));
        let map = self.machine.set.as_ref().map_or(0, |s| s.map_entries());
        if mapped { room.min(map).into() } else { room.into() }
    }

    /// Pieces of about a segment, with the quarter-lines that they take by estimate.
    fn choose(&mut self) -> Result<(Vec<Piece>, u64)> {
        let (mut pieces, mut operations, mut estimate) = (vec![], vec![], 0);
        while let Some(piece) = self.take()? {
            let known = operations.contains(&piece.operation);
            let more = self.name(&piece);
            let target = FILLED * self.room(std::slice::from_ref(&piece)) as f64 * self.excess;
            let full = (estimate + more) as f64 > target || !known && operations.len() == PLANS as usize;
            if full && !pieces.is_empty() {
                self.works.push_front(Work::Piece(piece));
                break;
            }
            if !known {
                operations.push(piece.operation);
            }
            estimate += more;
            pieces.push(piece);
        }
        self.clear();
        Ok((pieces, estimate))
    }

    /// The next piece, whose list is not too long.
    fn take(&mut self) -> Result<Option<Piece>> {
        let most = self.machine.set.as_ref().map_or(0, |s| s.list_entries());
        loop {
            let root = || {
                let (root, range) = self.roots.next()?;
                Some(Work::Piece(Piece::of(self.view, root, self.operation, range)))
            };
            let Some(work) = self.works.pop_front().or_else(root) else { return Ok(None) };
            match work {
                Work::Members { root, list, k, mut at } => {
                    let piece = Work::of_members(self.view, root, &list, k, &mut at);
                    if !at.is_empty() {
                        self.works.push_front(Work::Members { root, list, k, at });
                    }
                    if let Some(piece) = piece {
                        self.works.push_front(Work::Piece(piece));
                    }
                }
                Work::Piece(piece) => match piece.operation {
                    Operation::Cliques { .. } if piece.length > most => self.cut(piece, most)?,
                    Operation::Paths
                        if piece.length.div_ceil(ENTRIES_A_LINE) > MAP_LINES =>
                    {
                        return Err(self.no_room(&piece));
                    }
                    _ => return Ok(Some(piece)),
                },
            }
        }
    }

    /// Cuts a piece; what it becomes is done next.
    fn cut(&mut self, piece: Piece, first: u32) -> Result<()> {
        let error = self.no_room(&piece);
        for work in piece.cut(self.view, first).ok_or(error)?.into_iter().rev() {
            self.works.push_front(work);
        }
        Ok(())
    }

    fn no_room(&self, piece: &Piece) -> Error {
        let name = &self.machine.machine.name;
        Error::Unsupported(format!(
            "machine {name} has {} KiB of memory for a graph in each cluster and counts up to {} neighbours \
             of a root, and the lists that vertex {} with {} neighbours needs have no room there; the engine \
             `cpu` does it",
            self.machine.set_quarters() / 64,
            MAP_LINES * ENTRIES_A_LINE,
            piece.root,
            self.view.degree(piece.root)
        ))
    }

    /// Marks what a piece needs; gives about how many quarter-lines that are more.
    fn name(&mut self, piece: &Piece) -> u64 {
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

    /// The list of a vertex as members' lists have it.
    fn own(&self, v: VertexId) -> &'a [VertexId] {
        let row = self.view.neighbours(v);
        match self.operation {
            Operation::Paths => row,
            _ => &row[..row.partition_point(|&u| u < v)],
        }
    }

    fn clear(&mut self) {
        for v in self.marked.drain(..) {
            self.marks[v as usize] = 0;
        }
    }

    /// The rows of a segment, and which of them each piece has.
    fn rows(&mut self, pieces: &[Piece]) -> (Rows, Vec<usize>) {
        for piece in pieces {
            self.name(piece);
        }
        if self.operation == Operation::Paths {
            self.name_what_counts(pieces);
        }
        self.marked.sort_unstable();
        let made = match self.operation {
            Operation::Paths => self.rows_of_blocks(pieces),
            _ => self.rows_before(pieces),
        };
        self.clear();
        made
    }

    /// Gives the vertices ids that two of the lists have: a path ends there and another one can, too.
    fn name_what_counts(&mut self, pieces: &[Piece]) {
        let first = pieces.iter().map(|p| p.root).min().unwrap_or(0);
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

    fn rows_before(&mut self, pieces: &[Piece]) -> (Rows, Vec<usize>) {
        let view = self.view;
        let is_edges = |p: &Piece| p.operation == Operation::Edges;
        // All members of these come after them.
        let named = self.number(pieces.iter().filter(|p| is_edges(p)).count() as u32);
        let (mut rows, mut places) = (Rows::new(), vec![0; pieces.len()]);
        let row_of = &self.row_of;
        for (place, piece) in places.iter_mut().zip(pieces).filter(|(_, p)| is_edges(p)) {
            *place = rows.len();
            rows.push((0..).zip(piece.list(view)).map(|(at, &v)| {
                row_of[v as usize] | if piece.range.contains(&at) { 0 } else { NAMED }
            }));
        }
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
        let named = self.number(NOBODY);
        let mut rows = Rows::new();
        for _ in 0..NOBODY {
            rows.push([]);
        }
        for &v in &named {
            let list = if self.is(v, mark::LISTED) { self.own(v) } else { &[] };
            rows.push((0..).zip(list).map(|(at, &u)| match self.is(u, mark::NAMED) {
                true => self.row_of[u as usize],
                false => at % NOBODY,
            }));
        }
        let places = pieces.iter().map(|p| self.row_of[p.root as usize] as usize);
        (rows, places.collect())
    }
}

/// The units of pieces whose rows are at these places.
fn segment(image: SetImage, rows: &Rows, pieces: Vec<Piece>, places: &[usize]) -> Segment {
    let mut operations: Vec<Operation> = vec![];
    let units = pieces.iter().zip(places).map(|(piece, &place)| {
        let operation = piece.operation;
        let plan = operations.iter().position(|&o| o == operation).unwrap_or_else(|| {
            operations.push(operation);
            operations.len() - 1
        });
        let (row, block) = (rows.row(place), image.block(place as VertexId));
        let Range { start, end } = piece.range.clone();
        let (mut first, mut last, mut quarters) = (0, LAST_ALL, block.all.min(QUARTERS_LONG));
        let work = match operation {
            Operation::Cliques { .. } => {
                if (start, end) != (0, row.len() as u32) {
                    (first, last) = (start, end);
                }
                quarters = piece.length.div_ceil(QUARTER as u32);
                let members = &row[..piece.length as usize];
                work(&image, members, members.len(), operation)
            }
            Operation::Edges => work(&image, &row[start as usize..end as usize], 0, operation),
            Operation::Paths => {
                let before = row.partition_point(|&r| (r as usize) < place);
                work(&image, row, before, operation)
            }
        };
        PlacedUnit { address: block.address, quarters, plan: plan as u32, first, last, work }
    });
    let units = units.collect();
    Segment { image, operations, units }
}
