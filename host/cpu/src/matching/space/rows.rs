//! Lists of positions as rows of bits, in which a position is looked up rather than searched.

use super::Lists;
use crate::sets::Bits;

/// Maximum number of words of the rows of one plan: 4 MiB.
const WORDS: u64 = 1 << 19;
/// Maximum number of words of the rows of one pair of classes, which stay in a processor's caches.
const WORDS_OF_LISTS: usize = 1 << 17;

/// One row per candidate of a class, with a bit per candidate of another.
pub(super) struct Rows {
    width: usize,
    words: Vec<u64>,
}

impl Rows {
    /// Words that are worth their making in a search that is expected to visit `cost` elements.
    pub fn budget(cost: u64) -> u64 {
        cost.min(WORDS)
    }

    /// The rows of `lists` between two candidate sets, if `budget` allows them; reduces the budget.
    pub fn new(lists: &Lists<'_>, from: usize, to: usize, budget: &mut u64) -> Option<Self> {
        let width = to.div_ceil(64);
        let size = from.checked_mul(width).filter(|&size| size <= WORDS_OF_LISTS)?;
        *budget = budget.checked_sub(size as u64)?;
        let mut words = vec![0; size];
        for position in 0..from {
            let row = &mut words[position * width..(position + 1) * width];
            for &p in lists.of(position as u32) {
                row[p as usize / 64] |= 1 << (p % 64);
            }
        }
        Some(Rows { width, words })
    }

    #[inline]
    pub fn of(&self, position: u32) -> Bits<'_> {
        Bits::of(&self.words[position as usize * self.width..][..self.width])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_bits_of_their_lists_as_far_as_the_budget_goes() {
        let (offsets, items) = (vec![0, 2, 2, 5], vec![0, 64, 1, 63, 129]);
        let lists = Lists { offsets: offsets.into(), items: items.into(), rows: None };
        let mut budget = Rows::budget(10);
        let rows = Rows::new(&lists, 3, 130, &mut budget).expect("nine words");
        for (position, list) in [(0, &[0, 64][..]), (1, &[]), (2, &[1, 63, 129])] {
            for p in 0..130 {
                assert_eq!(rows.of(position).contains(p), list.contains(&p), "{position} {p}");
            }
        }
        assert_eq!(budget, 1);
        assert!(Rows::new(&lists, 3, 130, &mut budget).is_none());
        assert_eq!(Rows::budget(u64::MAX), WORDS);
    }
}
