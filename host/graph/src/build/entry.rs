//! Entries of rows, and the order of a row.

use crate::{Label, VertexId};

/// Entries of a row from which on digits are wide.
const LONG: usize = if cfg!(test) { 48 } else { 512 };

/// One entry of a row: a neighbour, with or without the label of the edge.
pub(super) trait Entry: Copy + bytemuck::Zeroable + Ord + Send + Sync {
    fn neighbour(self) -> VertexId;

    /// Returns the edge from its other end.
    fn with_neighbour(self, neighbour: VertexId) -> Self;

    /// Sorts a row. Rows of most files are a few ascending runs, which the stable sort merges.
    fn sort(row: &mut [Self], _spare: &mut Vec<Self>) {
        row.sort();
    }
}

impl Entry for u32 {
    fn neighbour(self) -> VertexId {
        self
    }

    fn with_neighbour(self, neighbour: VertexId) -> u32 {
        neighbour
    }

    fn sort(row: &mut [u32], spare: &mut Vec<u32>) {
        match row.len() {
            0..=8 => by_rank::<8>(row),
            9..=16 => by_rank::<16>(row),
            17..=32 => by_rank::<32>(row),
            // To add up the counts of a digit's values has to cost less than to deal the entries once more.
            33..LONG => by_radix::<128, 5>(row, spare),
            _ => by_radix::<1024, 4>(row, spare),
        }
    }
}

impl Entry for u64 {
    fn neighbour(self) -> VertexId {
        (self >> 32) as VertexId
    }

    fn with_neighbour(self, neighbour: VertexId) -> u64 {
        u64::from(neighbour) << 32 | self & u64::from(Label::MAX)
    }
}

/// Sorts up to N entries by rank, comparing all pairs in parallel without branches: other sorts mispredict about one
/// branch per entry of an unordered row.
fn by_rank<const N: usize>(row: &mut [u32]) {
    let mut entries = [0; N];
    entries[..row.len()].copy_from_slice(row);
    let mut ranks = [0u32; N];
    for (j, &other) in row.iter().enumerate() {
        for (i, (rank, &entry)) in ranks.iter_mut().zip(&entries).enumerate() {
            // Of equal ones each has its own place.
            *rank += u32::from((other < entry) | (other == entry) & (j < i));
        }
    }
    for (entry, rank) in entries.iter().zip(ranks).take(row.len()) {
        row[rank as usize] = *entry;
    }
}

/// Radix sort with digits of `VALUES` values, from the lowest. `spare` is reused from row to row.
fn by_radix<const VALUES: usize, const DIGITS: usize>(row: &mut [u32], spare: &mut Vec<u32>) {
    let width = VALUES.ilog2();
    let all = row.iter().fold(0, |all, &entry| all | entry);
    let digits = (u32::BITS - all.leading_zeros()).div_ceil(width).max(1);
    let digit = |entry: u32, number: u32| (entry >> (number * width)) as usize % VALUES;
    let mut ends = [[0u32; VALUES]; DIGITS];
    for (number, counts) in (0..digits).zip(&mut ends) {
        row.iter().for_each(|&entry| counts[digit(entry, number)] += 1);
    }
    if spare.len() < row.len() {
        spare.resize(row.len(), 0);
    }
    let mut to = &mut spare[..row.len()];
    let mut from = row;
    for (number, ends) in (0..digits).zip(&mut ends) {
        let mut before = 0;
        for end in &mut *ends {
            before += std::mem::replace(end, before);
        }
        for &entry in &*from {
            let end = &mut ends[digit(entry, number)];
            to[*end as usize] = entry;
            *end += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    if digits % 2 == 1 {
        to.copy_from_slice(from);
    }
}

/// Sorts a row and moves its different neighbours to the front, each with its smallest label.
/// Returns their number, and how many of the others had another label than the one kept. `spare` is for the sort.
pub(super) fn tidy<E: Entry>(row: &mut [E], spare: &mut Vec<E>) -> (usize, u64) {
    let ascends = |w: &[E]| w[0].neighbour() < w[1].neighbour();
    // Where a short row first doesn't ascend is no guess for a processor, whether it does is one.
    let tidied = match row.len() {
        0..=1 => true,
        2..=16 => row.windows(2).fold(true, |all, w| all & ascends(w)),
        _ => row.windows(2).all(ascends),
    };
    if tidied {
        return (row.len(), 0);
    }
    E::sort(row, spare);
    // Without a branch, of which duplicates are mispredicted.
    let (mut kept, mut conflicts) = (0, 0);
    let mut last = row[0];
    for i in 1..row.len() {
        let entry = row[i];
        let differs = entry.neighbour() != last.neighbour();
        conflicts += u64::from(!differs & (entry != last));
        kept += usize::from(differs);
        last = if differs { entry } else { last };
        row[kept] = last;
    }
    (kept + 1, conflicts)
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn tidied_rows_are_sorted_and_have_nothing_twice(
            numbers in proptest::collection::vec(proptest::num::u32::ANY, 0..60),
            shift in 0u32..32,
            twice in proptest::bool::ANY,
        ) {
            let mut row: Vec<u32> = numbers.iter().map(|n| n >> shift).collect();
            if twice {
                row.extend_from_within(..);
            }
            let mut expected = row.clone();
            expected.sort_unstable();
            expected.dedup();
            // What is left of a longer row doesn't matter.
            let (kept, conflicts) = tidy(&mut row, &mut vec![7; 200]);
            proptest::prop_assert_eq!((&row[..kept], conflicts), (&expected[..], 0));
        }
    }
}
