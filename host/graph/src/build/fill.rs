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

use super::halves::Placed;
use super::position::Position;
use super::zeroed;
use crate::VertexId;
use crate::context::{Cancel, Looks};
use crate::error::Result;

/// The rows of half rows, with numbers in the same order; where each row begins is known.
pub(super) fn in_order<P: Position>(
    halves: Placed<VertexId, P>,
    offsets: &[P],
    number: impl Fn(VertexId) -> VertexId,
    cancel: &Cancel,
) -> Result<Vec<VertexId>> {
    let mut rows: Vec<VertexId> = zeroed(offsets[offsets.len() - 1].at())?;
    let mut next = offsets[..offsets.len() - 1].to_vec();
    let mut looks = Looks::new(cancel);
    for v in 0..halves.ends.len() {
        let row = halves.row(v);
        looks.check(row.len() + 1)?;
        let own = number(v as VertexId);
        row.iter().for_each(|&other| append(&mut rows, &mut next, number(other), own));
    }
    drop(halves);
    second_halves(rows, offsets, next, cancel)
}

/// The rows of half rows whose vertices have these ranks.
pub(super) fn by_rank<P: Position>(
    halves: Placed<VertexId, P>,
    offsets: &[P],
    ranks: &[VertexId],
    cancel: &Cancel,
) -> Result<Vec<VertexId>> {
    let vertices = offsets.len() - 1;
    let mut rows: Vec<VertexId> = zeroed(offsets[vertices].at())?;
    // Filled from the end.
    let mut first = offsets[1..].to_vec();
    let mut looks = Looks::new(cancel);
    for v in 0..halves.ends.len() {
        let row = halves.row(v);
        looks.check(row.len() + 1)?;
        let own = ranks[v];
        for &other in row {
            let rank = ranks[other as usize];
            let at = &mut first[own.min(rank) as usize];
            *at = P::of(at.at() as u64 - 1);
            rows[at.at()] = own.max(rank);
        }
    }
    drop(halves);
    let mut next = offsets[..vertices].to_vec();
    for v in 0..vertices {
        let behind = first[v].at()..offsets[v + 1].at();
        looks.check(behind.len() + 1)?;
        for at in behind {
            let other = rows[at];
            append(&mut rows, &mut next, other, v as VertexId);
        }
    }
    drop(first);
    second_halves(rows, offsets, next, cancel)
}

/// From the entries before the rows' own numbers, each row of which ends at `next`, to whole rows.
fn second_halves<P: Position>(
    mut rows: Vec<VertexId>,
    offsets: &[P],
    mut next: Vec<P>,
    cancel: &Cancel,
) -> Result<Vec<VertexId>> {
    let mut looks = Looks::new(cancel);
    for v in 0..next.len() {
        // Nothing has been appended to it so far: that comes from rows behind it.
        let before = offsets[v].at()..next[v].at();
        looks.check(before.len() + 1)?;
        for at in before {
            let other = rows[at];
            append(&mut rows, &mut next, other, v as VertexId);
        }
    }
    Ok(rows)
}

#[inline(always)]
fn append<P: Position>(rows: &mut [VertexId], next: &mut [P], row: VertexId, entry: VertexId) {
    let at = &mut next[row as usize];
    rows[at.at()] = entry;
    at.advance();
}
