//! Tables of numbers that were found before.

use crate::number::Number;
use gramer_base::memory::filled_or_unwind;

/// Entries of a new table, 2 KiB: most searches fill no more, and the system takes longer to give a page of
/// memory than a small search takes in all.
const FIRST: usize = 1 << 6;
/// Maximum number of entries where memory is limited, and up to which a table grows readily.
const SMALL: usize = 1 << 12;
/// Maximum number of entries: 2 MiB.
const MOST: usize = 1 << 16;
/// Lookups after which a table without use is given up.
const TRIAL: u64 = 1 << 12;

/// Never a key: one has less than 128 bits.
const NO_KEY: u128 = u128::MAX;

/// A table of numbers by key, direct-mapped: an entry gives way to the next one at its place.
pub(super) struct Memo<N> {
    /// Whether the table stays small.
    small: bool,
    entries: Vec<(u128, N)>,
    lookups: u64,
    hits: u64,
    /// Entries that gave way since the table got its size.
    lost: usize,
    given_up: bool,
}

impl<N: Number> Memo<N> {
    /// An empty table, which grows unless it is to stay small.
    pub fn new(small: bool) -> Self {
        Memo { small, entries: vec![], lookups: 0, hits: 0, lost: 0, given_up: false }
    }

    fn place(&self, key: u128) -> usize {
        let mixed = (key as u64 ^ ((key >> 64) as u64).wrapping_mul(0xd6e8_feb8_6659_fd93))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 40) as usize & (self.entries.len() - 1)
    }

    /// Returns the stored number for a key, which packs the positions of some images.
    pub fn get(&mut self, key: u128) -> Option<N> {
        if self.given_up {
            return None;
        }
        if self.entries.is_empty() {
            self.entries.resize(FIRST, (NO_KEY, N::ZERO));
        }
        self.lookups += 1;
        let entry = self.entries[self.place(key)];
        if entry.0 == key {
            self.hits += 1;
            return Some(entry.1);
        }
        if self.lookups == TRIAL && self.hits < TRIAL / 16 {
            self.given_up = true;
            self.entries = vec![];
        }
        None
    }

    /// Stores the number for a key after [`Memo::get`].
    pub fn put(&mut self, key: u128, count: N) {
        if self.given_up {
            return;
        }
        let place = self.place(key);
        self.lost += usize::from(self.entries[place].0 != NO_KEY);
        self.entries[place] = (key, count);
        let size = self.entries.len();
        let most = if self.small { SMALL } else { MOST };
        let bearable = if size < SMALL { size / 4 } else { 2 * size };
        if self.lost > bearable && size < most {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let larger = filled_or_unwind((NO_KEY, N::ZERO), 4 * self.entries.len());
        let old = std::mem::replace(&mut self.entries, larger);
        for entry in old.into_iter().filter(|entry| entry.0 != NO_KEY) {
            let place = self.place(entry.0);
            self.entries[place] = entry;
        }
        self.lost = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys of as many positions as a key has room for.
    fn key(i: u128) -> u128 {
        (i % 7) << 96 | (i % 11) << 64 | (i % 13) << 32 | i
    }

    #[test]
    fn a_table_gives_what_was_put_there_or_nothing_and_grows_where_it_may() {
        let (small, small_hits) = used(Memo::new(true));
        assert_eq!(small.entries.len(), SMALL);
        let (large, large_hits) = used(Memo::new(false));
        assert!(large.entries.len() > SMALL && large.entries.len() <= MOST);
        assert!(large_hits > 2 * small_hits, "{large_hits} hits, {small_hits} of a small table");
    }

    /// A table after eight rounds of the same keys, three times as many as it has room for at first, and
    /// how many numbers it knew in a later round.
    fn used(mut memo: Memo<u128>) -> (Memo<u128>, u128) {
        let keys = 3 * SMALL as u128;
        let mut hits = 0;
        for round in 0..8 {
            for i in 0..keys {
                match memo.get(key(i)) {
                    Some(count) => {
                        assert_eq!(count, 3 * i, "key {i}");
                        hits += 1;
                    }
                    None => memo.put(key(i), 3 * i),
                }
                // So that the table isn't given up.
                assert_eq!(memo.get(key(i)), Some(3 * i), "key {i} in round {round}");
            }
        }
        (memo, hits)
    }

    #[test]
    fn a_table_without_use_is_given_up() {
        let mut memo = Memo::<u128>::new(false);
        for i in 0..2 * u128::from(TRIAL) {
            assert_eq!(memo.get(key(i)), None);
            memo.put(key(i), 1);
        }
        assert!(memo.given_up && memo.entries.is_empty());
    }
}
