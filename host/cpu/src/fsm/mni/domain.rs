//! Domains: the graph vertices that a pattern vertex may be mapped to.

use crate::clique::ones;

/// Images of a pattern vertex: bits over the vertices of its class.
#[derive(Clone)]
pub(super) struct Domain {
    first: u32,
    bits: Vec<u64>,
    pub(super) size: usize,
}

impl Domain {
    pub(super) fn empty(class: std::ops::Range<u32>) -> Self {
        Domain { first: class.start, bits: vec![0; class.len().div_ceil(64)], size: 0 }
    }

    #[inline]
    pub(super) fn has(&self, v: u32) -> bool {
        let at = v - self.first;
        self.bits[at as usize / 64] >> (at % 64) & 1 == 1
    }

    pub(super) fn insert(&mut self, v: u32) {
        let at = v - self.first;
        let word = &mut self.bits[at as usize / 64];
        self.size += (*word >> (at % 64) & 1 == 0) as usize;
        *word |= 1 << (at % 64);
    }

    pub(super) fn remove(&mut self, v: u32) {
        let at = v - self.first;
        let word = &mut self.bits[at as usize / 64];
        self.size -= (*word >> (at % 64) & 1) as usize;
        *word &= !(1 << (at % 64));
    }

    pub(super) fn keep(&mut self, other: &Domain) {
        self.size = 0;
        for (mine, theirs) in self.bits.iter_mut().zip(&other.bits) {
            *mine &= theirs;
            self.size += mine.count_ones() as usize;
        }
    }

    /// Removes elements for which `keep` is false; returns whether any were removed.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(u32) -> bool) -> bool {
        let before = self.size;
        for (w, word) in self.bits.iter_mut().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if !keep(self.first + 64 * w as u32 + bit) {
                    *word &= !(1 << bit);
                    self.size -= 1;
                }
            }
        }
        self.size < before
    }

    /// The bits, in words of 64.
    pub(super) fn words(&self) -> &[u64] {
        &self.bits
    }

    /// Sets all bits; `None` if there are more or fewer words, or bits of no vertex.
    pub(super) fn with_words(class: std::ops::Range<u32>, words: Vec<u64>) -> Option<Self> {
        let size = words.iter().map(|word| word.count_ones() as usize).sum();
        let rest = class.len() % 64;
        let fits = words.len() == class.len().div_ceil(64)
            && (rest == 0 || words.last().is_none_or(|last| last >> rest == 0));
        fits.then_some(Domain { first: class.start, bits: words, size })
    }

    pub(super) fn members(&self) -> impl Iterator<Item = u32> + '_ {
        ones(&self.bits).map(|at| self.first + at as u32)
    }
}
