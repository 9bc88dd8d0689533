//! Whether the neighbours of a pattern vertex can be matched to different neighbours of a graph vertex.

use gramer_pattern::plan::search::bits;
use gramer_pattern::{MAX_VERTICES, VertexSet};

/// Bipartite matching of a pattern vertex's neighbours with those of a graph vertex.
#[derive(Default)]
pub(super) struct Matching {
    /// The candidates near by: mask and number of the edge label.
    pub(super) near: Vec<(VertexSet, usize)>,
    /// Per entry of `near`: the pattern vertices that it may stand for, and the one it does.
    may: Vec<VertexSet>,
    owner: Vec<u8>,
}

impl Matching {
    /// Whether all of `wanted` get different entries of `near`.
    pub(super) fn saturates(
        &mut self,
        wanted: VertexSet,
        may: impl Fn(VertexSet, usize) -> VertexSet,
    ) -> bool {
        let size = wanted.count_ones();
        self.may.clear();
        // More than `size` entries that serve the same vertices are never needed.
        let mut counts = [0u32; MAX_VERTICES];
        for &(there, label) in &self.near {
            let serves = may(there, label);
            if serves != 0 {
                let mut needed = false;
                for w in bits(serves) {
                    counts[w] += 1;
                    needed |= counts[w] <= size;
                }
                if needed {
                    self.may.push(serves);
                }
            }
        }
        // Whoever has `size` choices finds one whatever the others take.
        if bits(wanted).any(|w| counts[w] == 0) {
            return false;
        }
        let scarce =
            bits(wanted).filter(|&w| counts[w] < size).fold(0, |m: VertexSet, w| m | 1 << w);
        self.owner.clear();
        self.owner.resize(self.may.len(), u8::MAX);
        bits(scarce).all(|w| {
            let mut seen = 0;
            self.augment(w, &mut seen)
        })
    }

    /// Looks for an entry for `w`, moving others. `seen` holds the vertices already moved.
    fn augment(&mut self, w: usize, seen: &mut VertexSet) -> bool {
        *seen |= 1 << w;
        for i in 0..self.may.len() {
            if self.may[i] >> w & 1 == 0 {
                continue;
            }
            let owner = self.owner[i];
            if owner == u8::MAX || (*seen >> owner & 1 == 0 && self.augment(owner as usize, seen)) {
                self.owner[i] = w as u8;
                return true;
            }
        }
        false
    }
}
