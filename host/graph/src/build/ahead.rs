//! Writes of entries to their rows, with prefetched places.

use super::position::Position;
use gramer_base::prefetch::prefetch;

/// Entries that are on their way at a time.
pub(super) const AHEAD: usize = if cfg!(test) { 4 } else { 32 };

/// Writes entries to the next places of their rows, in the order in which they came; from the ends of rows backwards
/// if `BACK`.
///
/// Rows lie in more memory than a processor has near it, or knows the pages of, and a write that waits for its line holds
/// up those behind it.
pub(super) struct PrefetchWriter<'a, E, const BACK: bool = false> {
    waiting: &'a mut [(u32, E); AHEAD],
    /// Entries that came so far.
    came: usize,
}

impl<'a, E: Copy, const BACK: bool> PrefetchWriter<'a, E, BACK> {
    /// Creates a writer; the waiting entries are stored by the caller, so that the rest stays in registers. They may be
    /// uninitialised: each is written before it is read.
    pub fn new(waiting: &'a mut [(u32, E); AHEAD]) -> Self {
        PrefetchWriter { waiting, came: 0 }
    }

    /// Queues an entry of a row, and writes an earlier one. `to` has the positions from `base` on, and `next` the next
    /// position of each row.
    #[inline(always)]
    pub fn append<P: Position>(
        &mut self,
        (to, base): (&mut [E], usize),
        next: &mut [P],
        row: u32,
        entry: E,
    ) {
        let place = next[row as usize].at().wrapping_sub(base + usize::from(BACK));
        prefetch(to, place, 1);
        let (row, entry) = std::mem::replace(&mut self.waiting[self.came % AHEAD], (row, entry));
        self.came += 1;
        if self.came > AHEAD {
            write::<E, P, BACK>((to, base), next, row, entry);
        }
    }

    /// Writes those that are still on their way.
    pub fn finish<P: Position>(self, (to, base): (&mut [E], usize), next: &mut [P]) {
        for turn in self.came.saturating_sub(AHEAD)..self.came {
            let (row, entry) = self.waiting[turn % AHEAD];
            write::<E, P, BACK>((to, base), next, row, entry);
        }
    }
}

#[inline(always)]
fn write<E, P: Position, const BACK: bool>(
    (to, base): (&mut [E], usize),
    next: &mut [P],
    row: u32,
    entry: E,
) {
    let at = &mut next[row as usize];
    if BACK {
        *at = P::of(at.at() as u64 - 1);
        to[at.at() - base] = entry;
    } else {
        to[at.at() - base] = entry;
        at.advance();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn rows_have_their_entries_in_the_order_in_which_they_came(
            entries in proptest::collection::vec((0u32..9, proptest::num::u64::ANY), 0..60),
            base in 0usize..50,
        ) {
            let row = |wanted: u32| {
                entries.iter().filter(move |(row, _)| *row == wanted).map(|&(_, entry)| entry)
            };
            let mut bounds = vec![base as u64];
            (0..9).for_each(|v| bounds.push(bounds[v as usize] + row(v).count() as u64));
            let mut to = vec![0; entries.len()];

            let mut next = bounds[..9].to_vec();
            let mut waiting = [(0, 0); AHEAD];
            let mut ahead = PrefetchWriter::<u64>::new(&mut waiting);
            entries.iter().for_each(|&(v, e)| ahead.append((&mut to, base), &mut next, v, e));
            ahead.finish((&mut to, base), &mut next);
            proptest::prop_assert_eq!(&to, &(0..9).flat_map(row).collect::<Vec<_>>());
            proptest::prop_assert_eq!(&next, &bounds[1..]);

            let mut waiting = [(0, 0); AHEAD];
            let mut ahead = PrefetchWriter::<u64, true>::new(&mut waiting);
            entries.iter().for_each(|&(v, e)| ahead.append((&mut to, base), &mut next, v, e));
            ahead.finish((&mut to, base), &mut next);
            let back = (0..9).flat_map(|v| row(v).collect::<Vec<_>>().into_iter().rev());
            proptest::prop_assert_eq!(&to, &back.collect::<Vec<_>>());
            proptest::prop_assert_eq!(&next, &bounds[..9]);
        }
    }
}
