//! Whether the neighbours of a pattern vertex can be matched to different neighbours of a graph vertex.

use gramer_pattern::plan::search::bits;
use gramer_pattern::{MAX_VERTICES, VertexSet};

/// Bipartite matching of a pattern vertex's neighbours with those of a graph vertex.
#[derive(Default)]
pub(super) struct Matching {
    /// For each neighbour of the graph vertex: the pattern vertices that it may match, and the matched
    /// one.
    may: Vec<VertexSet>,
    owner: Vec<u8>,
}

impl Matching {
    /// Whether all of `wanted` get different ones of some graph vertices, of each of which `near` has the
    /// pattern vertices that it may stand for. No more of `near` is looked at than it takes to say so.
    pub(super) fn saturates(
        &mut self,
        wanted: VertexSet,
        near: impl Iterator<Item = VertexSet>,
    ) -> bool {
        let size = wanted.count_ones();
        self.may.clear();
        // Entries that serve all of `wanted`, and by vertex the others that serve it.
        let (mut complete, mut counts) = (0, [0u32; MAX_VERTICES]);
        // A vertex with `size` choices always finds a free one.
        let mut scarce = wanted;
        for serves in near {
            let needed = serves & scarce;
            if needed == 0 {
                continue;
            }
            // More than `size` entries that serve the same vertices are never needed.
            if serves & wanted == wanted {
                complete += 1;
                if complete == size {
                    return true;
                }
            } else {
                for w in bits(needed) {
                    counts[w] += 1;
                    if counts[w] + complete >= size {
                        scarce &= !(1 << w);
                    }
                }
                if scarce == 0 {
                    return true;
                }
            }
            self.may.push(serves);
        }
        if complete > 0 {
            scarce = bits(scarce)
                .filter(|&w| counts[w] + complete < size)
                .fold(0, |m: VertexSet, w| m | 1 << w);
            counts.iter_mut().for_each(|count| *count += complete);
        }
        if bits(scarce).any(|w| counts[w] == 0) {
            return false;
        }
        self.owner.clear();
        self.owner.resize(self.may.len(), u8::MAX);
        bits(scarce).all(|w| {
            let mut seen = 0;
            self.augment(w, &mut seen)
        })
    }

    /// Searches an augmenting path for `w`. `seen` holds the vertices already moved.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether all of `wanted` get different entries, by trying all ways.
    fn by_trial(wanted: VertexSet, near: &[VertexSet], used: u32) -> bool {
        let Some(w) = bits(wanted).next() else { return true };
        let free = (0..near.len()).filter(|i| used >> i & 1 == 0 && near[*i] >> w & 1 == 1);
        free.into_iter().any(|i| by_trial(wanted & !(1 << w), near, used | 1 << i))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn a_matching_is_found_where_there_is_one(
            wanted in 1u32..32,
            near in prop::collection::vec(0u32..32, 0..8),
        ) {
            let wanted = VertexSet::from(wanted);
            let near: Vec<VertexSet> =
                near.into_iter().map(|m| VertexSet::from(m) & wanted).collect();
            let found = Matching::default().saturates(wanted, near.iter().copied());
            prop_assert_eq!(found, by_trial(wanted, &near, 0));
        }
    }

    #[test]
    fn what_is_enough_for_any_choice_of_the_others_ends_the_look() {
        let mut looked = 0;
        let near = std::iter::repeat_n(0b11, 100).inspect(|_| looked += 1);
        assert!(Matching::default().saturates(0b11, near));
        assert_eq!(looked, 2);
    }
}
