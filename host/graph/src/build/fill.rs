//! From half rows to whole rows, in any order, without a sort.
//!
//! By the numbers that vertices are to have:
//!
//! 1. each edge goes to the row of its smaller end, at the end of the room that this has (unless half rows have that
//!    order already);
//! 2. scanning rows in order and appending each one's number to the rows of its entries behind it gives all entries
//!    before their rows' own numbers, in order;
//! 3. scanning these, again in order, and appending each row's number to the rows of its entries before it gives
//!    the others. They take the room of what the first step left, of which nothing is needed any more.

use std::ops::Range;

use super::deal::{Found, parts, to_rows};
use super::halves::Placed;
use super::position::{Position, Shared};
use super::zeroed;
use crate::VertexId;
use crate::context::{Cancel, Looks};
use crate::error::Result;

/// Rows on their way.
pub(super) struct Filled<'a, P> {
    offsets: &'a [P],
    rows: Vec<VertexId>,
    /// Where the next entry of each row goes.
    next: Vec<P>,
    threads: usize,
    cancel: &'a Cancel,
}

impl<'a, P: Position> Filled<'a, P> {
    pub fn new(offsets: &'a [P], threads: usize, cancel: &'a Cancel) -> Result<Self> {
        let vertices = offsets.len() - 1;
        let rows = zeroed(offsets[vertices].at())?;
        let mut next = zeroed(vertices)?;
        next.copy_from_slice(&offsets[..vertices]);
        Ok(Filled { offsets, rows, next, threads, cancel })
    }

    /// Of half rows, with numbers in the same order.
    pub fn of_halves(
        mut self,
        halves: Placed<VertexId, P>,
        number: impl Fn(VertexId) -> VertexId + Sync,
    ) -> Result<Vec<VertexId>> {
        let parts = parts(&halves.start, self.threads);
        let below = InOrder { halves: &halves, number, cancel: self.cancel };
        append(
            &below,
            &parts,
            self.threads,
            self.cancel,
            &Shared::new(&mut self.rows),
            &Shared::new(&mut self.next),
        )?;
        drop(halves);
        self.second_halves()
    }

    /// Of half rows whose vertices have these numbers.
    pub fn of_ranks(
        mut self,
        halves: Placed<VertexId, P>,
        ranks: &[VertexId],
    ) -> Result<Vec<VertexId>> {
        // Filled from the end.
        let mut first: Vec<P> = zeroed(self.next.len())?;
        first.copy_from_slice(&self.offsets[1..]);
        let Filled { offsets, threads, cancel, .. } = self;
        {
            let (first, rows) = (Shared::new(&mut first), Shared::new(&mut self.rows));
            let ranked = Ranked { halves: &halves, ranks, cancel };
            to_rows(&ranked, &parts(&halves.start, threads), threads, cancel, |row, entry| {
                let at = P::of(first.get(row as usize).at() as u64 - 1);
                first.set(row as usize, at);
                rows.set(at.at(), entry);
            })?;
        }
        drop(halves);
        {
            let (rows, next) = (Shared::new(&mut self.rows), Shared::new(&mut self.next));
            let behind = Behind { offsets, first: &first, rows: &rows, cancel };
            append(&behind, &parts(offsets, threads), threads, cancel, &rows, &next)?;
        }
        drop(first);
        self.second_halves()
    }

    /// From entries before the rows' own numbers to whole rows.
    fn second_halves(self) -> Result<Vec<VertexId>> {
        let Filled { offsets, mut rows, mut next, threads, cancel } = self;
        {
            let (rows, next) = (Shared::new(&mut rows), Shared::new(&mut next));
            let before = Before { offsets, next: &next, rows: &rows, cancel };
            append(&before, &parts(offsets, threads), threads, cancel, &rows, &next)?;
        }
        Ok(rows)
    }
}

/// Appends what is found to its rows.
fn append<P: Position>(
    found: &impl Found,
    parts: &[Range<usize>],
    threads: usize,
    cancel: &Cancel,
    rows: &Shared<'_, VertexId>,
    next: &Shared<'_, P>,
) -> Result<()> {
    to_rows(found, parts, threads, cancel, |row, entry| {
        let mut at = next.get(row as usize);
        rows.set(at.at(), entry);
        at.advance();
        next.set(row as usize, at);
    })
}

/// The numbers of rows, for their entries.
struct InOrder<'a, P, N> {
    halves: &'a Placed<VertexId, P>,
    number: N,
    cancel: &'a Cancel,
}

impl<P: Position, N: Fn(VertexId) -> VertexId + Sync> Found for InOrder<'_, P, N> {
    fn scan(&self, vertices: Range<usize>, mut each: impl FnMut(VertexId, u32)) {
        self.halves.each(vertices, self.cancel, |v, row| {
            let own = (self.number)(v as VertexId);
            row.iter().for_each(|&other| each((self.number)(other), own));
        });
    }
}

/// Edges by their ranks: the larger end, for the row of the smaller one.
struct Ranked<'a, P> {
    halves: &'a Placed<VertexId, P>,
    ranks: &'a [VertexId],
    cancel: &'a Cancel,
}

impl<P: Position> Found for Ranked<'_, P> {
    fn scan(&self, vertices: Range<usize>, mut each: impl FnMut(VertexId, u32)) {
        self.halves.each(vertices, self.cancel, |v, row| {
            let own = self.ranks[v];
            for &other in row {
                let rank = self.ranks[other as usize];
                each(own.min(rank), own.max(rank));
            }
        });
    }
}

/// The numbers of rows, for the entries that they have from a position on.
struct Behind<'a, P: Position> {
    offsets: &'a [P],
    first: &'a [P],
    rows: &'a Shared<'a, VertexId>,
    cancel: &'a Cancel,
}

impl<P: Position> Found for Behind<'_, P> {
    fn scan(&self, vertices: Range<usize>, mut each: impl FnMut(VertexId, u32)) {
        let mut looks = Looks::new(self.cancel);
        for v in vertices {
            let row = self.first[v].at()..self.offsets[v + 1].at();
            if looks.check(row.len() + 1).is_err() {
                return;
            }
            row.for_each(|at| each(self.rows.get(at), v as VertexId));
        }
    }
}

/// The numbers of rows, for the entries that they have so far. One thread appends to rows before the one that it is at,
/// and several find everything first.
struct Before<'a, P: Position> {
    offsets: &'a [P],
    next: &'a Shared<'a, P>,
    rows: &'a Shared<'a, VertexId>,
    cancel: &'a Cancel,
}

impl<P: Position> Found for Before<'_, P> {
    fn scan(&self, vertices: Range<usize>, mut each: impl FnMut(VertexId, u32)) {
        let mut looks = Looks::new(self.cancel);
        for v in vertices {
            let row = self.offsets[v].at()..self.next.get(v).at();
            if looks.check(row.len() + 1).is_err() {
                return;
            }
            row.for_each(|at| each(self.rows.get(at), v as VertexId));
        }
    }
}
