//! The octahedron, K2,2,2, from its last vertex r and the vertex b opposite to r: the other four are a
//! 4-cycle within S(b).
//!
//! A 4-cycle is two pairs of opposite vertices. Each pair with c common neighbours is in C(c, 2) of them.

use std::ops::ControlFlow;

use gramer_base::context::Cancel;

use super::{SideState, members, shared};

impl SideState<'_> {
    /// Adds the octahedra whose last vertex is the root.
    #[inline(always)]
    pub(super) fn octahedra(&mut self, cancel: &Cancel) -> ControlFlow<()> {
        let mut rows = std::mem::take(&mut self.rows);
        for slot in 0..self.vertices.len() {
            if self.sizes[slot] < 4 {
                continue;
            }
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            self.found.octahedron += u128::from(self.four_cycles(slot, &mut rows));
        }
        self.rows = rows;
        ControlFlow::Continue(())
    }

    /// The 4-cycles within the set of a slot.
    #[inline(always)]
    fn four_cycles(&self, slot: usize, rows: &mut Vec<u64>) -> u64 {
        let set = self.set(slot);
        // Up to 64 members get places of their own, so that a row is one word.
        let narrow = self.width == 1 || self.sizes[slot] <= 64;
        let width = if narrow { 1 } else { self.width };
        rows.clear();
        if self.width == 1 {
            let near = members(set, set).map(|a| set[0] & self.near(a)[0]);
            rows.extend(near.filter(|&row| row & row.wrapping_sub(1) != 0));
        } else if narrow {
            for a in members(set, set) {
                let near = self.near(a);
                let (mut row, mut place) = (0, 0);
                for (&word, &near) in set.iter().zip(near) {
                    row |= gathered(near, word, place);
                    place += word.count_ones();
                }
                if row & row.wrapping_sub(1) != 0 {
                    rows.push(row);
                }
            }
        } else {
            for a in members(set, set) {
                let start = rows.len();
                rows.extend(set.iter().zip(self.near(a)).map(|(set, near)| set & near));
                if shared(&rows[start..], &rows[start..]) < 2 {
                    rows.truncate(start);
                }
            }
        }
        let mut twice = 0;
        for (at, a) in rows.chunks_exact(width).enumerate() {
            twice += match narrow {
                true => pairs(rows[..at].iter().map(|b| (a[0] & b).count_ones())),
                false => pairs(rows[..at * width].chunks_exact(width).map(|b| shared(a, b))),
            };
        }
        twice / 2
    }
}

/// Pairs among each of some numbers.
#[inline(always)]
fn pairs(numbers: impl Iterator<Item = u32>) -> u64 {
    numbers.map(|n| u64::from(n) * u64::from(n).saturating_sub(1) / 2).sum()
}

/// The members of a set's word that are in `near`, as bits of their places in the set, whose members before the word
/// are `before`.
#[inline(always)]
fn gathered(near: u64, word: u64, before: u32) -> u64 {
    let (mut row, mut left) = (0, near & word);
    while left != 0 {
        let lowest = left & left.wrapping_neg();
        row |= 1 << (before + (word & (lowest - 1)).count_ones());
        left &= left - 1;
    }
    row
}
