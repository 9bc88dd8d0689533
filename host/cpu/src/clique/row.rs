//! Sets of the members of a start vertex as bits, in as many words as they need.

use std::borrow::Cow;

/// Positions of the bits of a set, ascending.
#[inline(always)]
pub(crate) fn ones(set: &[u64]) -> SetBits<'_> {
    SetBits { words: set, at: 0, word: set.first().copied().unwrap_or(0) }
}

/// See [`ones`].
pub(crate) struct SetBits<'a> {
    words: &'a [u64],
    at: usize,
    word: u64,
}

impl Iterator for SetBits<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.at += 1;
            self.word = *self.words.get(self.at)?;
        }
        let bit = self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(64 * self.at + bit)
    }
}

/// A set of members: an array of words, so that the search over few members needs no loop over
/// words and no memory but the stack; a list of words where there are very many.
pub(crate) trait Row: Clone + 'static {
    /// The rows of a matrix whose rows have `per_row` words each.
    fn rows(words: &[u64], per_row: usize) -> Cow<'_, [Self]>;

    /// The set of all of `members` members, in rows of `per_row` words.
    fn full(members: usize, per_row: usize) -> Self;

    /// The words.
    fn words(&self) -> &[u64];

    /// The words.
    fn words_mut(&mut self) -> &mut [u64];

    /// Members of both.
    #[inline(always)]
    fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.keep(other);
        both
    }

    /// Members of this set that the other one doesn't have.
    #[inline(always)]
    fn and_not(&self, other: &Self) -> Self {
        let mut left = self.clone();
        for (to, from) in left.words_mut().iter_mut().zip(other.words()) {
            *to &= !from;
        }
        left
    }

    /// Keeps the members that the other set has, too.
    #[inline(always)]
    fn keep(&mut self, other: &Self) {
        for (to, from) in self.words_mut().iter_mut().zip(other.words()) {
            *to &= from;
        }
    }

    /// Adds the members of the other set.
    #[inline(always)]
    fn join(&mut self, other: &Self) {
        for (to, from) in self.words_mut().iter_mut().zip(other.words()) {
            *to |= from;
        }
    }

    /// Whether both have a member.
    #[inline(always)]
    fn meets(&self, other: &Self) -> bool {
        self.words().iter().zip(other.words()).fold(0, |any, (a, b)| any | a & b) != 0
    }

    /// Number of members of both.
    #[inline(always)]
    fn common(&self, other: &Self) -> u32 {
        self.words().iter().zip(other.words()).map(|(a, b)| (a & b).count_ones()).sum()
    }

    /// Number of members.
    #[inline(always)]
    fn size(&self) -> u32 {
        self.words().iter().map(|w| w.count_ones()).sum()
    }

    /// Whether there is no member.
    #[inline(always)]
    fn is_empty(&self) -> bool {
        self.words().iter().fold(0, |any, w| any | w) == 0
    }

    /// The members, ascending.
    #[inline(always)]
    fn members(&self) -> SetBits<'_> {
        ones(self.words())
    }

    /// Adds a member.
    #[inline(always)]
    fn insert(&mut self, member: usize) {
        self.words_mut()[member / 64] |= 1 << (member % 64);
    }

    /// Removes a member.
    #[inline(always)]
    fn remove(&mut self, member: usize) {
        self.words_mut()[member / 64] &= !(1 << (member % 64));
    }

    /// Whether a member is in the set.
    #[inline(always)]
    fn has(&self, member: usize) -> bool {
        self.words()[member / 64] >> (member % 64) & 1 == 1
    }
}

/// The set of the first `members` members in `words`.
fn fill(words: &mut [u64], members: usize) {
    for (at, word) in words.iter_mut().enumerate() {
        let bits = members.saturating_sub(64 * at).min(64);
        *word = if bits == 64 { !0 } else { (1 << bits) - 1 };
    }
}

impl<const W: usize> Row for [u64; W] {
    fn rows(words: &[u64], per_row: usize) -> Cow<'_, [Self]> {
        assert_eq!(per_row, W);
        Cow::Borrowed(words.as_chunks().0)
    }

    fn full(members: usize, per_row: usize) -> Self {
        assert_eq!(per_row, W);
        let mut row = [0; W];
        fill(&mut row, members);
        row
    }

    #[inline(always)]
    fn words(&self) -> &[u64] {
        self
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut [u64] {
        self
    }
}

impl Row for Box<[u64]> {
    fn rows(words: &[u64], per_row: usize) -> Cow<'_, [Self]> {
        words.chunks(per_row.max(1)).map(Self::from).collect()
    }

    fn full(members: usize, per_row: usize) -> Self {
        let mut row = vec![0; per_row].into_boxed_slice();
        fill(&mut row, members);
        row
    }

    #[inline(always)]
    fn words(&self) -> &[u64] {
        self
    }

    #[inline(always)]
    fn words_mut(&mut self) -> &mut [u64] {
        self
    }
}

/// Words of a row for this number of members: one of the widths of [`by_width`].
pub(crate) fn width(members: usize) -> usize {
    match members.div_ceil(64) {
        words @ 0..=16 => words.next_power_of_two(),
        words => words,
    }
}

/// `$body` with `$Row` as the type of rows of `$width` words.
macro_rules! by_width {
    ($width:expr, $Row:ident => $body:expr) => {
        match $width {
            1 => {
                type $Row = [u64; 1];
                $body
            }
            2 => {
                type $Row = [u64; 2];
                $body
            }
            4 => {
                type $Row = [u64; 4];
                $body
            }
            8 => {
                type $Row = [u64; 8];
                $body
            }
            16 => {
                type $Row = [u64; 16];
                $body
            }
            _ => {
                type $Row = Box<[u64]>;
                $body
            }
        }
    };
}

pub(crate) use by_width;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_every_width_hold_what_is_put_in() {
        for members in [1usize, 63, 64, 65, 128, 200, 300, 600, 1024, 1025, 2000] {
            let per_row = width(members);
            assert!(64 * per_row >= members);
            by_width!(per_row, R => {
                let mut set = R::full(members, per_row);
                assert_eq!(set.size() as usize, members);
                assert!(set.members().eq(0..members));
                let all = R::full(members, per_row);
                for m in (0..members).filter(|m| m % 3 != 0) {
                    set.remove(m);
                }
                assert!(set.members().eq((0..members).step_by(3)));
                assert_eq!(set.common(&all), set.size());
                let rest = all.and_not(&set);
                assert!(rest.and(&set).is_empty() && !rest.has(0));
                set.insert(members - 1);
                assert!(set.has(members - 1));
            });
        }
    }
}
