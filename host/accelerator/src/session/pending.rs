//! Units of a stream that are sent again until they are finished: `docs/reference/set-core.md`, section *Plans*.

use gramer_machine::Accelerator;
use gramer_machine::set::{LINE_QUARTERS, size_quarters};

use crate::image::LINE;

/// Bytes of a unit.
pub(super) const UNIT: usize = 8;

/// The units of a stream that are still to be sent, by their places.
pub(super) struct PendingUnits {
    units: Vec<[u8; UNIT]>,
    /// The first place that is left.
    at: usize,
    /// Places that are sent at a time.
    most: usize,
}

impl PendingUnits {
    /// All units of a stream.
    pub(super) fn new(units: &[u8]) -> Self {
        let places = units.chunks_exact(UNIT);
        let units: Vec<[u8; UNIT]> = places.map(|unit| std::array::from_fn(|i| unit[i])).collect();
        let most = units.len().max(1);
        PendingUnits { units, at: 0, most }
    }

    /// Places that are not done.
    pub(super) fn left(&self) -> usize {
        self.units.len() - self.at
    }

    fn end(&self) -> usize {
        self.units.len().min(self.at + self.most)
    }

    /// The next units, as whole beats; `None` if there are none.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        let none = self.units[self.at..].iter().take_while(|unit| **unit == [0; UNIT]).count();
        self.at += none;
        if self.at == self.units.len() {
            return None;
        }
        let mut bytes = self.units[self.at..self.end()].concat();
        bytes.resize(bytes.len().next_multiple_of(LINE), 0);
        Some(bytes)
    }

    /// Number of finished places.
    pub(super) fn done(&mut self, places: usize) {
        self.at = self.end().min(self.at.saturating_add(places));
        self.most = self.most.saturating_mul(2);
    }

    /// Sends fewer the next time: half as many places, or of one unit the parts; `false` if it has none.
    pub(super) fn fewer(&mut self, machine: &Accelerator) -> bool {
        let sent = self.end() - self.at;
        if sent > 1 {
            self.most = sent / 2;
            return true;
        }
        let field =
            |name| machine.streams.input.field("unit", name).expect("a description is checked");
        let get = |name| field(name).get(&self.units[self.at]) as u32;
        // The set that vertex 1 goes along has no more lines than the root's list.
        let lines = size_quarters(get("quarters")).div_ceil(LINE_QUARTERS);
        let (first, last) = (get("first"), get("last").min(lines));
        if first + 1 >= last {
            return false;
        }
        let middle = u64::from(first + (last - first) / 2);
        let mut second = self.units[self.at];
        field("first").set(&mut second, middle);
        field("last").set(&mut self.units[self.at], middle);
        self.units.insert(self.at + 1, second);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::units::{PlacedUnit, beats, grouped};
    use gramer_machine::named::named;
    use gramer_machine::set::LAST_ALL;

    /// Whatever is full, every line of every unit is done once.
    #[test]
    fn every_part_of_every_unit_is_done_once() {
        let machine = named("set-small").unwrap().unwrap();
        let field =
            |unit: &[u8], name| machine.streams.input.field("unit", name).unwrap().get(unit) as u32;
        for seed in 0..200 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let units: Vec<PlacedUnit> = (0..rng.u32(0..60))
                .map(|at| PlacedUnit {
                    address: 1 + at,
                    quarters: rng.u32(1..40),
                    plan: 0,
                    first: 0,
                    last: LAST_ALL,
                    work: rng.u64(0..3),
                    asked: 0,
                })
                .collect();
            let mut lines: Vec<Vec<bool>> = units
                .iter()
                .map(|u| vec![false; size_quarters(u.quarters).div_ceil(LINE_QUARTERS) as usize])
                .collect();
            let lengths: Vec<usize> = lines.iter().map(Vec::len).collect();
            let mut pending = PendingUnits::new(&beats(&machine, &grouped(units.clone(), 1)));
            let mut room = rng.usize(0..20);
            while let Some(bytes) = pending.next() {
                assert_eq!(bytes.len() % LINE, 0);
                let sent = bytes.chunks_exact(UNIT).filter(|u| **u != [0; UNIT]);
                let of = |unit: &[u8]| {
                    let at = field(unit, "address") as usize - 1;
                    let end = (field(unit, "last") as usize).min(lengths[at]);
                    (at, field(unit, "first") as usize..end)
                };
                let parts: Vec<_> = sent.map(of).collect();
                let all: usize = parts.iter().map(|(_, range)| range.len()).sum();
                if all > room {
                    room += usize::from(!pending.fewer(&machine)) * 4;
                    continue;
                }
                // The first places of it, or all.
                let places = bytes.len() / UNIT;
                let done = if rng.bool() { places } else { rng.usize(1..=places) };
                let before = pending.end() - pending.at;
                for unit in bytes.chunks_exact(UNIT).take(done.min(before)) {
                    if *unit == [0; UNIT] {
                        continue;
                    }
                    let (at, range) = of(unit);
                    for line in range {
                        assert!(!std::mem::replace(&mut lines[at][line], true), "seed {seed}");
                    }
                }
                pending.done(if done == places { usize::MAX } else { done });
            }
            assert!(lines.iter().flatten().all(|&done| done), "seed {seed}");
        }
    }
}
