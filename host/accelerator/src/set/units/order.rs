//! Order of a cluster's units, and their grouping into half beats, each of which goes to one PU.

use std::collections::VecDeque;

use gramer_machine::set::UNITS_A_GROUP;

use super::{LIGHT, PlacedUnit};

/// Units per PU from which on a PU stays busy while others wait.
const FEW: f64 = 64.0;
/// The lightest units with so small a part of the work come last.
const LAST_PART: f64 = 100.0;

/// The same units, heaviest first, but mixed by bottleneck. A root's own lines are requests without steps, and a member's
/// line takes more steps the longer the root's list is. So some units are bound by the port and others by the stepper;
/// alternating them keeps both busy. Very heavy units come first and the lightest last, so that all PUs end at about the
/// same time.
pub(super) fn mixed(mut units: Vec<PlacedUnit>, pus: u32) -> Vec<PlacedUnit> {
    // Works may be as large as they can be: of their products only the sign and the proportion count.
    let work_of = |units: &[PlacedUnit]| units.iter().map(|u| u.work as f64).sum::<f64>();
    let whole = work_of(&units);
    let few = whole / f64::from(pus) / FEW;
    let rest = units.split_off(units.partition_point(|unit| unit.work as f64 > few));
    let (mut all, mut units) = (units, rest);
    let mut left = whole / LAST_PART;
    let fits = |unit: &&PlacedUnit| {
        left -= unit.work as f64;
        left >= 0.0
    };
    let last = units.iter().rev().take_while(fits).count();
    let ends = units.split_off(units.len() - last);
    let (work, asked) = (work_of(&units), units.iter().map(|u| u.asked as f64).sum::<f64>());
    // Above 0 if it takes more work for a line than all of them do.
    let excess = |u: &PlacedUnit| u.work as f64 * asked - u.asked as f64 * work;
    let (mut heavy, mut light): (VecDeque<_>, VecDeque<_>) =
        units.iter().copied().partition(|u| excess(u) > 0.0);
    let mut ahead = 0.0;
    while let Some(next) = {
        let (first, other) =
            if ahead > 0.0 { (&mut light, &mut heavy) } else { (&mut heavy, &mut light) };
        first.pop_front().or_else(|| other.pop_front())
    } {
        ahead += excess(&next);
        all.push(next);
    }
    all.extend(ends);
    all
}

/// Units in halves of beats, each of which goes to one PU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Halves {
    units: Vec<PlacedUnit>,
    /// Where each half ends.
    ends: Vec<usize>,
}

impl Halves {
    /// The halves in their order.
    pub fn iter(&self) -> impl Iterator<Item = &[PlacedUnit]> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| &self.units[std::mem::replace(&mut begin, end)..end])
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Puts halves behind these.
    pub fn append(&mut self, other: Halves) {
        let begin = self.units.len();
        self.units.extend(other.units);
        self.ends.extend(other.ends.into_iter().map(|end| begin + end));
    }

    /// Ends a half.
    fn end(&mut self) {
        self.ends.push(self.units.len());
    }
}

/// The same units in halves of beats. Where as many light ones follow each other as all PUs have in a half, they go to one half
/// after the other, there and back, so that no PU has the heaviest of them; and of the last ones, if they are fewer, each PU has some.
pub(super) fn spread(units: &[PlacedUnit], pus: u32) -> Halves {
    let most = UNITS_A_GROUP as usize * pus as usize;
    let mut halves = Halves { units: Vec::with_capacity(units.len()), ends: vec![] };
    let mut rest = units;
    while !rest.is_empty() {
        let block = &rest[..rest.len().min(most)];
        if block.iter().any(|unit| unit.work > LIGHT) {
            let (half, behind) = rest.split_at(taken(rest, LIGHT));
            halves.units.extend_from_slice(half);
            halves.end();
            rest = behind;
            continue;
        }
        rest = &rest[block.len()..];
        let width = block.len().min(pus as usize);
        for half in 0..width {
            for (row, units) in block.chunks(width).enumerate() {
                let place = if row % 2 == 0 { half } else { width - 1 - half };
                halves.units.extend(units.get(place));
            }
            halves.end();
        }
    }
    halves
}

/// The same units in halves of beats: a half has any unit and some of at most so much work, since its PU takes them one after the
/// other.
pub(crate) fn grouped(units: Vec<PlacedUnit>, most: u64) -> Halves {
    let mut ends = vec![];
    let mut end = 0;
    while end < units.len() {
        end += taken(&units[end..], most);
        ends.push(end);
    }
    Halves { units, ends }
}

/// Units of the next half.
fn taken(units: &[PlacedUnit], most: u64) -> usize {
    let group = UNITS_A_GROUP as usize;
    1 + units[1..].iter().take(group - 1).take_while(|u| u.work <= most).count()
}

#[cfg(test)]
mod tests {
    use gramer_machine::set::LAST_ALL;

    use super::*;

    fn unit(address: u32, work: u64, asked: u64) -> PlacedUnit {
        PlacedUnit { address, quarters: 3, plan: 0, first: 0, last: LAST_ALL, work, asked }
    }

    #[test]
    fn units_are_mixed_by_what_they_wait_for() {
        let steps = (0..100).map(|at| unit(at, 1000, 300));
        let lines = (0..1000).map(|at| unit(100 + at, 50, 40));
        let all: Vec<PlacedUnit> = steps.clone().chain(lines.clone()).collect();
        let found = mixed(all.clone(), 1);
        let mut sorted = found.clone();
        sorted.sort_by_key(|u| u.address);
        assert_eq!(sorted, all, "each once");
        // Thirty units are the lightest hundredth. Before them, ten or nine follow each of the others.
        let heavy: Vec<usize> = (0..found.len()).filter(|&at| found[at].work == 1000).collect();
        assert_eq!(heavy[0], 0);
        for pair in heavy.windows(2) {
            assert!((9..=11).contains(&(pair[1] - pair[0])), "{heavy:?}");
        }
        assert!(found[1070..].iter().all(|u| u.work == 50));
        // Alike units stay as they are.
        let (steps, lines) = (steps.collect::<Vec<_>>(), lines.collect::<Vec<_>>());
        assert_eq!(mixed(steps.clone(), 8), steps);
        assert_eq!(mixed(lines.clone(), 8), lines);
        assert_eq!(mixed(vec![], 8), vec![]);
        // Nor does their estimated work matter.
        let endless = vec![unit(0, u64::MAX, 1 << 20); 100];
        assert_eq!(mixed(endless.clone(), 8), endless);
    }

    #[test]
    fn no_half_has_the_heaviest_alone() {
        let light: Vec<PlacedUnit> = (0..11).map(|at| unit(at, 60 - u64::from(at), 1)).collect();
        let places = |halves: &Halves| -> Vec<Vec<u32>> {
            halves.iter().map(|half| half.iter().map(|u| u.address).collect()).collect()
        };
        // Each PU has some, there and back.
        assert_eq!(
            places(&spread(&light, 4)),
            [vec![0, 7, 8], vec![1, 6, 9], vec![2, 5, 10], vec![3, 4]]
        );
        assert_eq!(places(&spread(&light, 16)).len(), 11);
        // Two PUs have eight units in their halves; the rest is its own block.
        let of_two = [vec![0, 3, 4, 7], vec![1, 2, 5, 6], vec![8], vec![9, 10]];
        assert_eq!(places(&spread(&light, 2)), of_two);
        // A heavy one begins a half, and what comes after it is a block again.
        let mut one = light.clone();
        one[1].work = LIGHT + 1;
        assert_eq!(
            places(&spread(&one, 2)),
            [vec![0], vec![1, 2, 3, 4], vec![5, 8, 9], vec![6, 7, 10]]
        );
        let heavy: Vec<PlacedUnit> =
            light.iter().map(|u| PlacedUnit { work: LIGHT + 1, ..*u }).collect();
        assert!(spread(&heavy, 8).iter().eq(heavy.chunks(1)));
        assert_eq!(spread(&[], 8), Halves::default());
    }

    #[test]
    fn few_heavy_units_come_first() {
        // Ten with a fifteenth of the work each, and small ones that wait for lines.
        let heavy = (0..10).map(|at| unit(at, 10_000, 5000 - 10 * u64::from(at)));
        let small = (0..1000).map(|at| unit(100 + at, 50, if at % 2 == 0 { 40 } else { 2 }));
        let all: Vec<PlacedUnit> = heavy.clone().chain(small).collect();
        let found = mixed(all.clone(), 8);
        assert_eq!(found[..10], heavy.collect::<Vec<_>>());
        assert_ne!(found, all, "the small ones are mixed");
        let mut sorted = found.clone();
        sorted.sort_by_key(|u| u.address);
        assert_eq!(sorted, all, "each once");
    }
}
