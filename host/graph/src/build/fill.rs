//! From half rows to whole rows, in any order, without a sort.
//!
//! By the numbers that vertices are to have:
//!
//! 1. each edge goes to the row of its smaller end, at the end of the room that this has (unless half rows have that
//!    order already);
//! 2. scanning rows in order and appending each one's number to the rows of its entries behind it gives all entries
//!    before their rows' own numbers, in order;
//! 3. scanning these, again in order, and appending each row's number to the rows of its entries before it gives
//!    the others. They reuse the memory of the first step.

use super::ahead::{AHEAD, PrefetchWriter};
use super::halves::HalfRows;
use super::position::Position;
use crate::VertexId;
use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::Result;
use gramer_base::memory::zeroed;

/// The rows of half rows, with numbers in the same order, and where each row begins. `offsets` has room for the duplicates of
/// half rows. Those that are `sorted` have none and are the ends of their rows, so that there is no step 3.
pub(super) fn in_order<P: Position>(
    halves: HalfRows<P>,
    sorted: bool,
    mut offsets: Vec<P>,
    spare: Vec<VertexId>,
    number: impl Fn(VertexId) -> VertexId,
    cancel: &Cancel,
) -> Result<(Vec<P>, Vec<VertexId>)> {
    let vertices = offsets.len() - 1;
    let mut rows = room(offsets[vertices].at(), spare)?;
    let mut next = offsets[..vertices].to_vec();
    if sorted {
        from_sorted_halves(&halves, number, &mut rows, &offsets, &mut next, cancel)?;
        return Ok((offsets, rows));
    }
    from_halves(&halves, number, &mut rows, &mut next, cancel)?;
    drop(halves);
    second_halves::<P, true>(&mut rows, &offsets, &mut next, cancel)?;
    close_gaps(&mut rows, &mut offsets, &next);
    Ok((offsets, rows))
}

/// The rows of half rows whose vertices have these ranks.
pub(super) fn by_rank<P: Position>(
    halves: HalfRows<P>,
    offsets: &[P],
    spare: Vec<VertexId>,
    ranks: &[VertexId],
    cancel: &Cancel,
) -> Result<Vec<VertexId>> {
    let vertices = offsets.len() - 1;
    let mut rows = room(offsets[vertices].at(), spare)?;
    // Filled from the end.
    let mut first = offsets[1..].to_vec();
    halves_by_rank(&halves, ranks, &mut rows, &mut first, cancel)?;
    drop(halves);
    let mut next = offsets[..vertices].to_vec();
    first_halves(&mut rows, offsets, &first, &mut next, cancel)?;
    drop(first);
    second_halves::<P, false>(&mut rows, offsets, &mut next, cancel)?;
    Ok(rows)
}

/// Buffer for `length` entries, all to be written: `spare`, unless a large part of it would be wasted.
fn room(length: usize, mut spare: Vec<VertexId>) -> Result<Vec<VertexId>> {
    if !(length..=length + length / 4).contains(&spare.len()) {
        drop(spare);
        return zeroed(length);
    }
    spare.truncate(length);
    Ok(spare)
}

// Each step is its own function: in one there are too few registers, with which two of them took 1.3 to 1.6 times
// the time.

/// Step 2 of half rows that have the order already, without their duplicates.
#[inline(never)]
fn from_halves<P: Position>(
    halves: &HalfRows<P>,
    number: impl Fn(VertexId) -> VertexId,
    rows: &mut [VertexId],
    next: &mut [P],
    cancel: &Cancel,
) -> Result<()> {
    let mut looks = CancelPoll::new(cancel);
    let mut waiting = [(0, 0); AHEAD];
    let mut ahead = PrefetchWriter::<_>::new(&mut waiting);
    // One more than the half row in which a vertex was seen last.
    let mut seen: Vec<VertexId> = zeroed(halves.vertices())?;
    for v in 0..halves.vertices() {
        let row = halves.row(v);
        looks.check(row.len() + 1)?;
        let own = number(v as VertexId);
        let mark = v as VertexId + 1;
        for &other in row {
            if std::mem::replace(&mut seen[other as usize], mark) != mark {
                ahead.append((rows, 0), next, number(other), own);
            }
        }
    }
    ahead.finish((rows, 0), next);
    Ok(())
}

/// Steps 2 and 3 of half rows that are sorted.
#[inline(never)]
fn from_sorted_halves<P: Position>(
    halves: &HalfRows<P>,
    number: impl Fn(VertexId) -> VertexId,
    rows: &mut [VertexId],
    offsets: &[P],
    next: &mut [P],
    cancel: &Cancel,
) -> Result<()> {
    let mut looks = CancelPoll::new(cancel);
    let mut waiting = [(0, 0); AHEAD];
    let mut ahead = PrefetchWriter::<_>::new(&mut waiting);
    for v in 0..halves.vertices() {
        let row = halves.row(v);
        looks.check(row.len() + 1)?;
        // Ids without a vertex have no entries.
        let Some(behind) = row.len().checked_sub(1) else { continue };
        let own = number(v as VertexId);
        let first = offsets[own as usize + 1].at() - 1 - behind;
        for (at, &other) in (first..).zip(row) {
            let other = number(other);
            rows[at] = other;
            ahead.append((rows, 0), next, other, own);
        }
    }
    ahead.finish((rows, 0), next);
    Ok(())
}

/// Moves rows, which end at `next`, behind each other.
fn close_gaps<P: Position>(rows: &mut Vec<VertexId>, offsets: &mut [P], next: &[P]) {
    if offsets[1..].iter().zip(next).all(|(end, next)| end.at() == next.at()) {
        return;
    }
    let mut end = 0;
    for (offset, next) in offsets.iter_mut().zip(next) {
        let row = offset.at()..next.at();
        *offset = P::of(end as u64);
        end += row.len();
        rows.copy_within(row, offset.at());
    }
    offsets[next.len()] = P::of(end as u64);
    let length = rows.len();
    rows.truncate(end);
    if length > end + end / 4 {
        rows.shrink_to_fit();
    }
}

/// Step 1: each row begins at `first` then.
#[inline(never)]
fn halves_by_rank<P: Position>(
    halves: &HalfRows<P>,
    ranks: &[VertexId],
    rows: &mut [VertexId],
    first: &mut [P],
    cancel: &Cancel,
) -> Result<()> {
    let mut looks = CancelPoll::new(cancel);
    let mut waiting = [(0, 0); AHEAD];
    let mut ahead = PrefetchWriter::<_, true>::new(&mut waiting);
    for v in 0..halves.vertices() {
        let row = halves.row(v);
        looks.check(row.len() + 1)?;
        let own = ranks[v];
        for &other in row {
            let rank = ranks[other as usize];
            ahead.append((rows, 0), first, own.min(rank), own.max(rank));
        }
    }
    ahead.finish((rows, 0), first);
    Ok(())
}

/// Step 2.
#[inline(never)]
fn first_halves<P: Position>(
    rows: &mut [VertexId],
    offsets: &[P],
    first: &[P],
    next: &mut [P],
    cancel: &Cancel,
) -> Result<()> {
    let mut looks = CancelPoll::new(cancel);
    let mut waiting = [(0, 0); AHEAD];
    let mut ahead = PrefetchWriter::<_>::new(&mut waiting);
    for v in 0..first.len() {
        let behind = first[v].at()..offsets[v + 1].at();
        looks.check(behind.len() + 1)?;
        for at in behind {
            let other = rows[at];
            ahead.append((rows, 0), next, other, v as VertexId);
        }
    }
    ahead.finish((rows, 0), next);
    Ok(())
}

/// Step 3, of rows that end at `next` so far. In ranked order most entries go to the few rows of hubs, so nothing is
/// prefetched; otherwise, with `ANYWHERE`, places are.
#[inline(never)]
fn second_halves<P: Position, const ANYWHERE: bool>(
    rows: &mut [VertexId],
    offsets: &[P],
    next: &mut [P],
    cancel: &Cancel,
) -> Result<()> {
    let mut looks = CancelPoll::new(cancel);
    let mut waiting = [(0, 0); AHEAD];
    let mut ahead = PrefetchWriter::<_>::new(&mut waiting);
    for v in 0..next.len() {
        // Nothing has been appended to it so far: that comes from rows behind it.
        let before = offsets[v].at()..next[v].at();
        looks.check(before.len() + 1)?;
        for at in before {
            let other = rows[at];
            if ANYWHERE {
                // Rows that are read yet are behind those that are written.
                ahead.append((rows, 0), next, other, v as VertexId);
                continue;
            }
            let to = &mut next[other as usize];
            rows[to.at()] = v as VertexId;
            to.advance();
        }
    }
    ahead.finish((rows, 0), next);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_end_early_move_behind_each_other() {
        let (mut rows, mut offsets) = (vec![1, 2, 9, 0, 9, 3, 0, 9], vec![0u32, 3, 5, 5, 8]);
        close_gaps(&mut rows, &mut offsets, &[2, 4, 5, 7]);
        assert_eq!((&rows[..], &offsets[..]), (&[1, 2, 0, 3, 0][..], &[0, 2, 3, 3, 5][..]));
        close_gaps(&mut rows, &mut offsets, &[2, 3, 3, 5]);
        assert_eq!((&rows[..], &offsets[..]), (&[1, 2, 0, 3, 0][..], &[0, 2, 3, 3, 5][..]));
    }

    #[test]
    fn room_is_what_is_there_unless_much_of_it_would_be_left_over() {
        assert_eq!(room(8, vec![7; 8]).unwrap(), [7; 8]);
        assert_eq!(room(8, vec![7; 10]).unwrap(), [7; 8]);
        assert_eq!(room(8, vec![7; 11]).unwrap(), [0; 8]);
        assert_eq!(room(8, vec![7; 7]).unwrap(), [0; 8]);
        assert_eq!(room(0, vec![]).unwrap(), [0; 0]);
    }
}
