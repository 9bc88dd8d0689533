//! Graphs larger than the memory of a cluster: roots are divided into segments, each with an image of the lists that its
//! roots need. Roots whose list is longer than the core's are cut, too (`pieces`).
//!
//! A segment for cliques keeps only the entries that are in a root's list of the segment: no others can match. A segment
//! for paths has whole blocks, since their lengths count; entries that are neither marked nor counted twice get an id that
//! no vertex has.

mod cycles;
mod naming;
mod order;
mod pieces;
mod rows;

use std::collections::VecDeque;
use std::ops::Range;

use gramer_base::error::{Error, Result};
use gramer_engine::Units;
use gramer_graph::{VertexId, View};
use gramer_machine::set::{LAST_ALL, MAP_LINES, PLANS, QUARTERS_LONG};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};

pub use self::order::near;

use self::pieces::{Piece, Work};
use self::rows::Rows;
use super::image::{QUARTER, SetImage};
use super::numbers::{SUM_CLIQUES, SUM_CYCLES, SUM_TRIANGLES};
use super::sums::Total;
use super::units::{Operation, PlacedUnit, has_none, roots_of, work};

/// Part of the room that a segment is filled to by estimate.
const FILLED: f64 = 0.96;

/// Which sums of a segment's runs are those of its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskSums {
    /// Cliques. Triangles of lists that are too long for them are cliques all the same.
    Cliques,
    /// All.
    All,
    /// 4-cycles alone: the lists aren't whole.
    Cycles,
}

/// A part of a task for one run of each cluster.
#[derive(Debug, Clone)]
pub struct Segment {
    /// What the runs load.
    pub image: SetImage,
    /// Lists that units name.
    pub operations: Vec<Operation>,
    /// The units of all clusters.
    pub units: Vec<PlacedUnit>,
    counted: TaskSums,
}

impl Segment {
    /// Adds the sums of its runs to those of a task.
    pub fn add(&self, total: &mut Total, found: &Total) {
        match self.counted {
            TaskSums::Cliques => total[SUM_CLIQUES] += found[SUM_CLIQUES] + found[SUM_TRIANGLES],
            TaskSums::All => total.iter_mut().zip(found).for_each(|(sum, own)| *sum += own),
            TaskSums::Cycles => total[SUM_CYCLES] += found[SUM_CYCLES],
        }
    }
}

/// The segments of a task of one operation, one after the other (`docs/reference/set-core.md`, section *Segments*).
///
/// ```
/// use gramer_accelerator::set::image::Words;
/// use gramer_accelerator::set::segments::Segments;
/// use gramer_accelerator::set::units::Operation;
/// use gramer_engine::Units;
///
/// let mut builder = gramer_graph::Builder::new();
/// (0..50u64).for_each(|u| (0..u).for_each(|v| builder.edge(u, v)));
/// let graph = builder.build();
/// let mut machine = gramer_machine::named::named("set-small").unwrap().unwrap();
/// // Two partitions of this many lines of 64 bytes: the lists of 50 vertices have no room.
/// machine.set.as_mut().unwrap().partition_lines = 32;
/// let operation = Operation::Cliques { k: 4 };
/// let mut segments = Segments::new(&machine, graph.view(), operation, Units::All);
/// let mut count = 0;
/// while let Some(segment) = segments.next()? {
///     assert!(segment.image.lines() <= 64 && !segment.units.is_empty());
///     count += 1;
/// }
/// assert!(count > 1);
/// # Ok::<(), gramer_base::Error>(())
/// ```
#[derive(Debug)]
pub struct Segments<'a> {
    view: View<'a>,
    machine: &'a Accelerator,
    operation: Operation,
    /// Pending work, before the remaining roots.
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
        let mut parts = Self::parts(machine, view, operation, units, 1);
        parts.pop().expect("there is one part")
    }

    /// The same in this many parts, which have about as much work each: one for a cluster. Each has roots that are near
    /// each other, so that together they load little more than one part would.
    ///
    /// # Panics
    /// With no parts.
    pub fn parts(
        machine: &'a Accelerator,
        view: View<'a>,
        operation: Operation,
        units: Units<'_>,
        parts: usize,
    ) -> Vec<Self> {
        let piece = |(root, range)| Piece::of(view, root, operation, range);
        let (heavy, light): (Vec<_>, Vec<_>) = roots_of(view, operation, units)
            .partition(|root| is_heavy(machine, view, &piece(root.clone())));
        let part = |roots: Vec<_>| Segments {
            view,
            machine,
            operation,
            works: VecDeque::new(),
            roots: roots.into_iter(),
            marks: vec![0; view.vertices()],
            marked: vec![],
            row_of: vec![0; view.vertices()],
            excess: 1.0,
        };
        let dealt = order::dealt(view, operation, light, parts);
        let mut dealt: Vec<Self> = dealt.into_iter().map(part).collect();
        // Each part has one unit of a heavy root for every PU. Cycles follow all edges, which run in parallel.
        let pus = machine.machine.processing_units as usize;
        for root in heavy {
            for (at, work) in piece(root).slices(view, parts * pus).into_iter().enumerate() {
                dealt[at % parts].works.push_back(work);
            }
        }
        for part in &mut dealt {
            part.works.make_contiguous().sort_by_key(|w| matches!(w, Work::Cycles { .. }));
        }
        dealt
    }

    /// Roots that no segment has yet.
    pub fn roots_left(&self) -> usize {
        self.roots.len()
    }

    /// Whether there is no segment left.
    pub fn is_done(&self) -> bool {
        self.roots.len() == 0 && self.works.is_empty()
    }

    /// The next segment; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a root's lists have no room even alone.
    #[expect(clippy::should_implement_trait, reason = "an iterator of results is no shorter")]
    pub fn next(&mut self) -> Result<Option<Segment>> {
        'next: loop {
            let (mut pieces, estimate) = self.choose()?;
            if pieces.is_empty() {
                if self.works.is_empty() {
                    return Ok(None);
                }
                match self.cycles()? {
                    Some(segment) => return Ok(Some(segment)),
                    None => continue,
                }
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
                    let cliques = self.operation != Operation::Paths;
                    let image = rows.image(blocks, quarters, cliques);
                    let counted = match self.operation {
                        Operation::Paths => TaskSums::All,
                        _ => TaskSums::Cliques,
                    };
                    let made = segment(image, &rows, pieces, &places, counted);
                    if made.units.is_empty() {
                        continue 'next; // no root can have a clique
                    }
                    return Ok(Some(made));
                }
                if pieces.len() == 1 {
                    break;
                }
                // A smaller part, in proportion to the room.
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

    /// 4-cycles by ranges of their ends, as many as have room together; `None` if there are none in those that are next.
    fn cycles(&mut self) -> Result<Option<Segment>> {
        let (mut found, mut quarters) = (vec![], 0);
        while let Some(Work::Cycles { root, ends }) = self.works.front() {
            let (root, ends) = (*root, ends.clone());
            let Some(part) = cycles::Part::new(self.view, root, &ends) else {
                self.works.pop_front();
                continue;
            };
            let own = part.quarters();
            let room = FILLED * room(self.machine, true) as f64;
            if !found.is_empty() && (quarters + own) as f64 > room {
                break;
            }
            self.works.pop_front();
            quarters += own;
            found.push((root, ends, part));
        }
        while !found.is_empty() {
            let parts: Vec<_> = found.iter().map(|(_, _, part)| part.clone()).collect();
            let pieces: Vec<Piece> = found.iter().map(Self::of_cycles).collect();
            let rows = cycles::rows(&parts);
            let (blocks, quarters) = rows.place();
            if quarters <= self.room(&pieces) && pieces.iter().all(is_countable) {
                let image = rows.image(blocks, quarters, false);
                let places: Vec<usize> = (0..pieces.len()).collect();
                return Ok(Some(segment(image, &rows, pieces, &places, TaskSums::Cycles)));
            }
            let (root, ends, _) = found.pop().expect("there is one");
            let middle = ends.start + ends.len() as u32 / 2;
            let halves = match (found.is_empty(), ends.len()) {
                (true, 0..2) => return Err(self.no_room(&pieces[0])),
                (true, _) => vec![ends.start..middle, middle..ends.end],
                // It belongs to the next segment.
                (false, _) => vec![ends],
            };
            for ends in halves.into_iter().rev() {
                self.works.push_front(Work::Cycles { root, ends });
            }
        }
        Ok(None)
    }

    fn of_cycles((root, _, part): &(VertexId, Range<VertexId>, cycles::Part)) -> Piece {
        let (root, operation, length) = (*root, Operation::Paths, part.length());
        // The list is in the rows: of the piece its length counts.
        let made = Some(vec![root; length as usize].into());
        Piece { root, operation, made, length, range: 0..length }
    }

    /// Quarter-lines that an image of these pieces may have.
    fn room(&self, pieces: &[Piece]) -> u64 {
        let mapped = |p: &Piece| !matches!(p.operation, Operation::Cliques { .. });
        room(self.machine, pieces.iter().any(mapped))
    }

    /// Pieces of about a segment, with the quarter-lines that they take by estimate.
    fn choose(&mut self) -> Result<(Vec<Piece>, u64)> {
        let (mut pieces, mut operations, mut estimate) = (vec![], vec![], 0);
        while let Some(piece) = self.take()? {
            let known = operations.contains(&piece.operation);
            let more = self.name(&piece);
            let target = FILLED * self.room(std::slice::from_ref(&piece)) as f64 * self.excess;
            let full =
                (estimate + more) as f64 > target || !known && operations.len() == PLANS as usize;
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
            // Cycles of a root are their own segment, after what was chosen before.
            if let Some(Work::Cycles { .. }) = self.works.front() {
                return Ok(None);
            }
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
                Work::Cycles { .. } => unreachable!("it was looked for"),
                Work::Piece(piece) => match piece.operation {
                    Operation::Cliques { .. } if piece.length > most => self.cut(piece, most)?,
                    Operation::Paths if !is_countable(&piece) => self.cut(piece, 0)?,
                    _ => return Ok(Some(piece)),
                },
            }
        }
    }

    /// Cuts a piece; what it becomes is done next.
    fn cut(&mut self, piece: Piece, first: u32) -> Result<()> {
        let error = self.no_room(&piece); // that is, if it can't be cut
        let units = self.machine.machine.processing_units as usize;
        for work in piece.cut(self.view, first, units).ok_or(error)?.into_iter().rev() {
            self.works.push_front(work);
        }
        Ok(())
    }

    fn no_room(&self, piece: &Piece) -> Error {
        let name = &self.machine.machine.name;
        Error::Unsupported(format!(
            "machine {name} has {} KiB of memory for a graph in each cluster, and the lists that \
             vertex {} with {} neighbours needs have no room there even one at a time; use the \
             engine `cpu`",
            self.machine.set_quarters() / 64,
            piece.root,
            self.view.degree(piece.root)
        ))
    }
}

/// Maximum number of quarter-lines of an image; if the map is used, its number of ids.
fn room(machine: &Accelerator, mapped: bool) -> u64 {
    let room = machine.set_quarters();
    let map = machine.set.as_ref().map_or(0, |s| s.map_entries());
    if mapped { room.min(map).into() } else { room.into() }
}

/// Whether the lists of a root have no room side by side, so that its paths are cut.
fn is_heavy(machine: &Accelerator, view: View<'_>, piece: &Piece) -> bool {
    let after = piece.list(view).iter().filter(|&&b| b > piece.root);
    let lists = after.map(|&b| view.degree(b)).chain([piece.length as usize]);
    let quarters: u64 = lists.map(|entries| entries.div_ceil(QUARTER) as u64).sum();
    matches!(piece.operation, Operation::Paths)
        && (!is_countable(piece) || quarters > room(machine, true))
}

/// Whether the map counts the paths of a root: a counter holds its level and, above it, up to all entries of
/// the lines of its block.
fn is_countable(piece: &Piece) -> bool {
    piece.length.div_ceil(ENTRIES_A_LINE) <= MAP_LINES
}

/// The units of pieces whose rows are at these places.
fn segment(
    image: SetImage,
    rows: &Rows,
    pieces: Vec<Piece>,
    places: &[usize],
    counted: TaskSums,
) -> Segment {
    let mut operations: Vec<Operation> = vec![];
    let unit = |(piece, &place): (&Piece, &usize)| {
        let operation = piece.operation;
        let plan = operations.iter().position(|&o| o == operation).unwrap_or_else(|| {
            operations.push(operation);
            operations.len() - 1
        });
        let (row, block) = (rows.row(place), image.block(place as VertexId));
        let Range { start, end } = piece.range.clone();
        let (mut first, mut last, mut quarters) = (0, LAST_ALL, block.all.min(QUARTERS_LONG));
        let (work, asked) = match operation {
            Operation::Cliques { .. } => {
                if (start, end) != (0, row.len() as u32) {
                    (first, last) = (start, end);
                }
                quarters = piece.length.div_ceil(QUARTER as u32);
                let members = &row[..piece.length as usize];
                work(&image, block.address, members, members.len(), operation)
            }
            Operation::Edges => {
                work(&image, block.address, &row[start as usize..end as usize], 0, operation)
            }
            Operation::Paths => {
                let before = row.partition_point(|&r| (r as usize) < place);
                work(&image, block.address, row, before, operation)
            }
        };
        let address = block.address;
        let without = has_none(&image, (address, quarters), operation);
        (!without).then_some(PlacedUnit {
            address,
            quarters,
            plan: plan as u32,
            first,
            last,
            work,
            asked,
        })
    };
    let units = pieces.iter().zip(places).filter_map(unit).collect();
    Segment { image, operations, units, counted }
}
