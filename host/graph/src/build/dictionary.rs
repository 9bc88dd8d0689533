//! Numbers for ids in the order in which they first come.

use super::Pairs;
use super::numbering::check_vertex_count;
use crate::VertexId;
use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_base::memory::zeroed;
use gramer_base::pages::in_large_pages;
use gramer_base::prefetch::prefetch;

/// Slots of a new table.
const FEW: usize = if cfg!(test) { 1 << 3 } else { 1 << 10 };
/// Prefetch distance, in pairs.
const AHEAD: usize = 8;
/// Pairs between looks at the stop flag.
const AT_ONCE: usize = 1 << 14;

/// Ids and their numbers: a table of open addresses, at most half full.
pub(super) struct Dictionary {
    /// An id and its number plus one, or two zeros. A power of two.
    slots: Vec<[u64; 2]>,
    /// By number.
    ids: Vec<u64>,
}

impl Dictionary {
    /// Creates an empty dictionary.
    pub fn new() -> Result<Self> {
        Ok(Dictionary { slots: zeroed(FEW)?, ids: vec![] })
    }

    /// The ids by number.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// First slot of an id: hashed by both halves of a product, so that every bit of the id counts.
    #[inline(always)]
    fn slot(&self, id: u64) -> usize {
        const ODD: u128 = 0x9e37_79b9_7f4a_7c15;
        let product = u128::from(id ^ 0x5851_f42d_4c95_7f2d) * ODD;
        ((product >> 64) as u64 ^ product as u64) as usize & (self.slots.len() - 1)
    }

    /// The number of an id, a new one where it wasn't seen. There is a free slot.
    #[inline(always)]
    fn number(&mut self, id: u64) -> VertexId {
        let mut at = self.slot(id);
        loop {
            match self.slots[at] {
                [_, 0] => {
                    self.ids.push(id);
                    self.slots[at] = [id, self.ids.len() as u64];
                    return (self.ids.len() - 1) as VertexId;
                }
                [other, number] if other == id => return (number - 1) as VertexId,
                _ => at = (at + 1) & (self.slots.len() - 1),
            }
        }
    }

    /// Reserves room for this many further ids.
    fn reserve(&mut self, more: usize) -> Result<()> {
        let slots = (2 * (self.ids.len() + more)).next_power_of_two();
        if slots > self.slots.len() {
            self.slots = zeroed(slots)?;
            for (number, &id) in (1..).zip(&self.ids) {
                let mut at = self.slot(id);
                while self.slots[at][1] != 0 {
                    at = (at + 1) & (self.slots.len() - 1);
                }
                self.slots[at] = [id, number];
            }
        }
        Ok(())
    }

    /// Replaces the ids of pairs by their numbers.
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] for too many ids or too little memory, [`gramer_base::Error::Interrupted`].
    pub fn replace(&mut self, pairs: &mut Pairs, cancel: &Cancel) -> Result<()> {
        match pairs {
            Pairs::Spilled(_) => unreachable!("they are in files with a budget alone"),
            Pairs::Narrow(pairs) => {
                for first in (0..pairs.len()).step_by(AT_ONCE) {
                    let end = (first + AT_ONCE).min(pairs.len());
                    self.make_ready(end - first, cancel)?;
                    for at in first..end {
                        self.ask_for(pairs.get(at + AHEAD).map(|p| p.map(u64::from)));
                        pairs[at] = pairs[at].map(|id| self.number(id.into()));
                    }
                }
            }
            Pairs::Wide(wide) => {
                let mut narrow = in_large_pages(Vec::with_capacity(wide.len()));
                for first in (0..wide.len()).step_by(AT_ONCE) {
                    let end = (first + AT_ONCE).min(wide.len());
                    self.make_ready(end - first, cancel)?;
                    for at in first..end {
                        self.ask_for(wide.get(at + AHEAD).copied());
                        narrow.push(wide[at].map(|id| self.number(id)));
                    }
                }
                *pairs = Pairs::Narrow(narrow);
            }
        }
        Ok(())
    }

    fn make_ready(&mut self, pairs: usize, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        check_vertex_count(self.ids.len())?;
        // All of these may be new.
        if 2 * (self.ids.len() + 2 * pairs) > self.slots.len() {
            self.reserve(2 * pairs)
        } else {
            Ok(())
        }
    }

    /// Prefetches the slots of an upcoming pair.
    #[inline(always)]
    fn ask_for(&self, pair: Option<[u64; 2]>) {
        for id in pair.into_iter().flatten() {
            prefetch(&self.slots, self.slot(id), 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn ids_have_the_numbers_of_their_first_places(
            ids in proptest::collection::vec(proptest::num::u64::ANY, 0..400),
            shift in 0u32..64,
            step in 0u32..64,
        ) {
            // Few ids that come often, many that come once, and such as differ in their upper bits alone.
            let ids: Vec<u64> = ids.iter().map(|id| id >> shift << step).collect();
            let pairs: Vec<[u64; 2]> = ids.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
            let mut dictionary = Dictionary::new().unwrap();
            let mut seen: Vec<u64> = vec![];
            let (first, second) = pairs.split_at(pairs.len() / 3);
            for part in [first, second] {
                let mut expected = vec![];
                for pair in part {
                    expected.push(pair.map(|id| {
                        let number = seen.iter().position(|&other| other == id);
                        number.unwrap_or_else(|| { seen.push(id); seen.len() - 1 }) as VertexId
                    }));
                }
                let narrow = || part.iter().map(|p| p.map(|id| id as u32)).collect();
                let fits = part.iter().flatten().all(|&id| id >> 32 == 0);
                let mut pairs = if fits { Pairs::Narrow(narrow()) } else { Pairs::Wide(part.to_vec()) };
                dictionary.replace(&mut pairs, &Cancel::default()).unwrap();
                let Pairs::Narrow(found) = pairs else { panic!("numbers are narrow") };
                proptest::prop_assert_eq!(found, expected);
            }
            proptest::prop_assert_eq!(dictionary.ids(), seen);
        }
    }
}
