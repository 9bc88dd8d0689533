//! Sets as bits: a look-up costs one read, independent of the length of the list.

use super::{Uninit, fill};

/// Whether the bits of a set have `x`.
#[inline(always)]
fn has(words: &[u64], x: u32) -> bool {
    words[x as usize / 64] >> (x % 64) & 1 == 1
}

/// Writes those elements of a list whose bit is `wanted`; returns how many.
#[inline]
fn select(list: &[u32], words: &[u64], wanted: bool, out: &mut [Uninit]) -> usize {
    let mut kept = 0;
    for &x in list {
        out[kept].write(x);
        kept += usize::from(has(words, x) == wanted);
    }
    kept
}

/// A set of numbers below a fixed bound, one bit each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bitmap {
    words: Vec<u64>,
}

#[allow(dead_code)] // for matching
impl Bitmap {
    /// An empty set of numbers below `bound`.
    pub fn new(bound: usize) -> Self {
        Bitmap { words: vec![0; bound.div_ceil(64)] }
    }

    /// Adds the elements of a list.
    #[inline]
    pub fn insert_all(&mut self, list: &[u32]) {
        for &x in list {
            self.words[x as usize / 64] |= 1 << (x % 64);
        }
    }

    /// Replaces the content by these words, 64 numbers each.
    #[inline]
    pub fn set_first(&mut self, words: &[u64]) {
        self.words[..words.len()].copy_from_slice(words);
    }

    /// Clears all words with elements of a list: empties a set that contains only elements of this list.
    #[inline]
    pub fn clear_all(&mut self, list: &[u32]) {
        for &x in list {
            self.words[x as usize / 64] = 0;
        }
    }

    /// A view for look-ups.
    #[inline]
    pub fn as_bits(&self) -> Bits<'_> {
        Bits(&self.words)
    }
}

/// A set of numbers as bits, to look up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bits<'a>(&'a [u64]);

#[allow(dead_code)] // for matching
impl<'a> Bits<'a> {
    /// A set as words: number 64 i + j is in it if bit j of word i is set.
    #[inline]
    pub fn of(words: &'a [u64]) -> Self {
        Bits(words)
    }

    /// Whether `x`, below the bound, is in the set.
    #[inline(always)]
    pub fn contains(self, x: u32) -> bool {
        has(self.0, x)
    }

    /// Writes the elements of `list` that are in the set to `out`, which is emptied first.
    pub fn intersect(self, list: &[u32], out: &mut Vec<u32>) {
        fill(out, list.len() + 1, |out| select(list, self.0, true, out));
    }

    /// Number of elements of `list` that are in the set.
    pub fn intersection_size(self, list: &[u32]) -> usize {
        list.iter().map(|&x| (self.0[x as usize / 64] >> (x % 64) & 1) as usize).sum()
    }

    /// Size of the intersection with a list in an array, 16 elements at a time.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,popcnt")]
    #[inline]
    pub fn intersection_size_avx512(self, array: &[u32], list: std::ops::Range<usize>) -> usize {
        super::avx512::marked_size(self.0, array, list)
    }

    /// Writes the elements of `list` that aren't in the set to `out`, which is emptied first.
    pub fn difference(self, list: &[u32], out: &mut Vec<u32>) {
        fill(out, list.len() + 1, |out| select(list, self.0, false, out));
    }

    /// Number of elements below `bound` that both sets have.
    pub fn common_below(self, other: Bits<'_>, bound: u32) -> usize {
        let whole = bound as usize / 64;
        let both = |(a, b): (&u64, &u64)| (a & b).count_ones() as usize;
        let full: usize = self.0[..whole].iter().zip(&other.0[..whole]).map(both).sum();
        let rest = match bound % 64 {
            0 => 0,
            bits => (self.0[whole] & other.0[whole] & ((1 << bits) - 1)).count_ones() as usize,
        };
        full + rest
    }
}
