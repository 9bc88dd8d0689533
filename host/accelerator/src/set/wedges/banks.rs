//! The banks of the map that counts wedges.

use gramer_machine::set::SetCore;

/// Which bank of the map a vertex belongs to, and its place there.
#[derive(Debug, Clone, Copy)]
pub struct Banks {
    banks: u32,
    /// log2 of the entries of a bank that a range of a unit has at least.
    range: u32,
}

impl Banks {
    /// Those of a machine.
    pub fn of(set: &SetCore) -> Self {
        Banks { banks: set.map_banks, range: set.range_entries().ilog2() }
    }

    /// Number of banks.
    pub fn count(self) -> usize {
        self.banks as usize
    }

    /// The bank: the low bits of the id, folded with those above.
    pub fn bank(self, id: u32) -> usize {
        let bits = self.banks.ilog2();
        if bits == 0 {
            return 0;
        }
        let parts = (0..u32::BITS).step_by(bits as usize).map(|from| id >> from);
        (parts.fold(0, |bank, part| bank ^ part) & (self.banks - 1)) as usize
    }

    /// Where the id is among the ranges that units name.
    pub fn range(self, id: u32) -> u32 {
        id >> self.banks.ilog2() >> self.range
    }
}

#[cfg(test)]
mod tests {
    use gramer_machine::named::named;
    use gramer_machine::set::LAST_ALL;

    use super::*;

    /// A bank and a place there are one vertex.
    #[test]
    fn every_vertex_has_a_place_of_its_own() {
        for name in ["set-small", "set-plans"] {
            let machine = named(name).unwrap().unwrap();
            let set = machine.set.as_ref().unwrap();
            let banks = Banks::of(set);
            let mut used = std::collections::HashSet::new();
            for id in 0..machine.set_quarters() {
                assert!(used.insert((banks.bank(id), id / set.map_banks)));
                assert!(banks.range(id) <= LAST_ALL);
            }
            assert_eq!(banks.range(machine.set_quarters() - 1), LAST_ALL);
        }
    }
}
