//! The part of a member's list that can match in a root's, which is all that an image's sizes cover
//! (`docs/reference/set-core.md`, section *Sizes by reach*).
//!
//! Row i of a root's matrix has the common entries of up(entry i) and the list before entry i. Signatures often show
//! that there are none, and lines behind the last entry before i never match.

use gramer_machine::ENTRIES_A_LINE;
use gramer_machine::set::{ID_BITS, LINE_QUARTERS, SIZE_LONG};

use super::image::Block;

/// Entries of a line, as an index.
const LINE: usize = ENTRIES_A_LINE as usize;

/// Facts about a member's list, without reading it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reach {
    /// A bit of 128 for each entry. Lists that have no bit in common have no entry in common.
    signature: u128,
    /// The first entry of its last line; 0 of a list of one line.
    last_line: u32,
    /// The member's entry with the whole list to read.
    whole: u32,
}

impl Reach {
    /// That of an ascending list at this block, where it is what lies before the vertex.
    pub fn of(list: &[u32], block: Block) -> Self {
        Reach {
            signature: list.iter().fold(0, |all, &entry| all | bit(entry)),
            last_line: list.chunks(LINE).skip(1).next_back().map_or(0, |line| line[0]),
            whole: block.entry(block.up),
        }
    }

    /// The member's entry with so much to read.
    fn entry(self, quarters: u32) -> u32 {
        self.whole & ((1 << ID_BITS) - 1) | quarters.min(SIZE_LONG) << ID_BITS
    }
}

/// Quarter-lines up to the end of the line with the last entry that isn't behind `last`, of a list with this many that
/// `list` begins with; one line at least.
fn quarters_to(list: &[u32], quarters: u32, last: u32) -> u32 {
    let whole = quarters.div_ceil(LINE_QUARTERS);
    let mut lines = whole;
    while lines > 1 && list[(lines as usize - 1) * LINE] > last {
        lines -= 1;
    }
    if lines < whole { lines * LINE_QUARTERS } else { quarters }
}

/// The bit of an entry, by multiplication with the golden ratio (Knuth, TAOCP 3, section 6.4).
fn bit(entry: u32) -> u128 {
    1 << (entry.wrapping_mul(0x9E37_79B9) >> (32 - u128::BITS.ilog2()))
}

/// Goes through a root's members in their order and says of each how much of its list is read.
#[derive(Debug, Default)]
pub(super) struct Members {
    seen: u128,
    last: u32,
}

impl Members {
    /// The entry of the next member, of which `own` is known: nothing to read if no member before it can be in its
    /// list, else up to the last line that can match. `list` gives what begins with the list, and its quarter-lines.
    pub fn next<'a>(
        &mut self,
        member: u32,
        own: Reach,
        list: impl FnOnce() -> (&'a [u32], u32),
    ) -> u32 {
        let entry = match self.seen & own.signature {
            0 => own.entry(0),
            // A list of one line always takes one cycle. Most other lists are not cut.
            _ if own.last_line <= self.last => own.whole,
            _ => {
                let (list, quarters) = list();
                own.entry(quarters_to(list, quarters, self.last))
            }
        };
        self.seen |= bit(member);
        self.last = member;
        entry
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::image::QUARTER;

    /// What is left out never has a match, and something is.
    #[test]
    fn nothing_that_matches_is_left_out() {
        let mut state = 5u64;
        let mut random = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u32 % below
        };
        let (mut without, mut shorter) = (0, 0);
        for _ in 0..2000 {
            let (span, most) = (20 + random(3000), 1 + random(90));
            let mut list = || {
                let mut list: Vec<u32> = (0..1 + random(most)).map(|_| random(span)).collect();
                list.sort_unstable();
                list.dedup();
                list
            };
            let (root, own) = (list(), list());
            let up = own.len().div_ceil(QUARTER) as u32;
            let known = Reach::of(&own, Block { address: 1234, up, all: up });
            let mut members = Members::default();
            for (at, &member) in root.iter().enumerate() {
                let entry = members.next(member, known, || (&own, up));
                assert_eq!(entry & ((1 << ID_BITS) - 1), 1234);
                let read = (entry >> ID_BITS) as usize * QUARTER;
                let both = own.iter().rposition(|entry| root[..at].contains(entry));
                assert!(both.is_none_or(|last| last < read), "{root:?} {own:?} at {at}");
                assert!(read <= own.len().next_multiple_of(QUARTER));
                without += usize::from(read == 0 && at > 0);
                shorter += usize::from(read > 0 && read < own.len());
            }
        }
        assert!(without > 1000 && shorter > 1000, "{without} {shorter}");
    }

    #[test]
    fn lines_end_behind_the_last_entry_that_counts() {
        let list: Vec<u32> = (0..40).map(|entry| 10 * entry).collect();
        let quarters_to =
            |list: &[u32], last| quarters_to(list, list.len().div_ceil(QUARTER) as u32, last);
        assert_eq!([0, 150, 159, 160].map(|last| quarters_to(&list, last)), [4, 4, 4, 8]);
        assert_eq!([319, 320, 1000].map(|last| quarters_to(&list, last)), [8, 10, 10]);
        // Not less than a line.
        assert_eq!(quarters_to(&list[1..], 5), 4);
        assert_eq!([quarters_to(&list[..5], 0), quarters_to(&list[..16], 0)], [2, 4]);
    }
}
