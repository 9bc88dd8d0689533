//! Counters by packed key.

use rustc_hash::FxHashMap;

/// Keys of up to this many bits are counted in an array.
const DENSE_BITS: u32 = 20;

/// Signed counters (corrections subtract) by key: an array where keys are short, else a hash map.
pub(super) struct Tally {
    dense: Vec<i128>,
    sparse: FxHashMap<u128, i128>,
}

impl Tally {
    /// Counters of all keys of `bits` bits, at 0.
    pub fn new(bits: u32) -> Self {
        let dense = if bits <= DENSE_BITS { vec![0; 1 << bits] } else { vec![] };
        Tally { dense, sparse: FxHashMap::default() }
    }

    #[inline]
    pub fn add(&mut self, key: u128, count: i128) {
        if self.dense.is_empty() {
            *self.sparse.entry(key).or_default() += count;
        } else {
            self.dense[key as usize] += count;
        }
    }

    #[inline]
    pub fn get(&self, key: u128) -> i128 {
        if self.dense.is_empty() {
            self.sparse.get(&key).copied().unwrap_or(0)
        } else {
            self.dense[key as usize]
        }
    }

    /// Keys and counts that aren't 0.
    pub fn iter(&self) -> impl Iterator<Item = (u128, i128)> + '_ {
        let dense = self.dense.iter().enumerate().map(|(key, &count)| (key as u128, count));
        let sparse = self.sparse.iter().map(|(&key, &count)| (key, count));
        dense.chain(sparse).filter(|&(_, count)| count != 0)
    }

    /// The sum of the tallies of several threads.
    pub fn sum(bits: u32, tallies: impl IntoIterator<Item = Tally>) -> Tally {
        let mut tallies = tallies.into_iter();
        let Some(mut sum) = tallies.next() else { return Tally::new(bits) };
        for tally in tallies {
            for (key, count) in tally.iter() {
                sum.add(key, count);
            }
        }
        sum
    }
}

/// Bits that hold the values 0 to `largest`.
pub(super) fn bits_for(largest: usize) -> u32 {
    usize::BITS - largest.leading_zeros()
}
