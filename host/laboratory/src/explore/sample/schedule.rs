//! Distribution of units among slots: what is under way at a time, and how much longer a run takes than its work alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gramer_graph::VertexId;

/// Units by slot; a slot does one unit of work in one unit of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// When each unit is taken.
    begins: Vec<u64>,
    /// The units of each slot, in order. Slot s belongs to PU s mod PUs.
    slots: Vec<Vec<VertexId>>,
    /// When the last unit is taken: until then all slots are busy.
    last: u64,
    /// Work that each PU has left then, ascending.
    left: Vec<f64>,
}

impl Schedule {
    /// Distributes units of this work: free slots take them in order, at equal speed. Slots of a PU that find no more units
    /// steal from each other, so that a PU keeps its speed until it ends.
    pub fn new(work: impl Iterator<Item = u64>, pus: usize, slots_of_pu: usize) -> Self {
        // Equally free slots take units by turns of the PUs.
        let all = pus * slots_of_pu;
        let mut free: BinaryHeap<Reverse<(u64, usize)>> =
            (0..all).map(|slot| Reverse((0, slot))).collect();
        let (mut begins, mut slots) = (vec![], vec![vec![]; all]);
        for (unit, own) in work.enumerate() {
            let Some(Reverse((from, slot))) = free.pop() else { break };
            begins.push(from);
            slots[slot].push(unit as VertexId);
            free.push(Reverse((from + own, slot)));
        }
        let last = begins.last().copied().unwrap_or(0);
        let mut left = vec![0; pus];
        for Reverse((end, slot)) in free {
            left[slot % pus] += end.saturating_sub(last);
        }
        left.sort_unstable();
        let left = left.into_iter().map(|work| work as f64).collect();
        Schedule { begins, slots, last, left }
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// When the last unit is taken.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The units that each slot does from a time on, and how much of the first one is done then.
    pub fn from(&self, time: u64) -> impl Iterator<Item = (&[VertexId], u64)> {
        self.slots.iter().filter_map(move |units| {
            let begun = units.partition_point(|&unit| self.begins[unit as usize] <= time);
            let first = begun.checked_sub(1)?;
            Some((&units[first..], time - self.begins[units[first] as usize]))
        })
    }

    /// Work until the last unit is taken.
    pub fn begun(&self) -> f64 {
        self.last as f64 * self.slots.len() as f64
    }

    /// Time of the whole core for what is left, in units of work at its speed before, if a PU that runs alone is this many
    /// times as fast as one of all; with some PUs at work the speed lies between, linearly in their number.
    pub fn end(&self, alone: f64) -> f64 {
        let pus = self.left.len() as f64;
        let (mut time, mut done) = (0.0, 0.0);
        for (ended, left) in self.left.iter().enumerate() {
            let idle = ended as f64 / (pus - 1.0).max(1.0);
            let speed = (1.0 + (alone - 1.0) * idle) / pus;
            time += (left - done) / speed;
            done = *left;
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_small_units_take_their_work() {
        let schedule = Schedule::new((0..10_000).map(|_| 7), 8, 16);
        let time = schedule.begun() + schedule.end(1.0);
        assert!((70_000.0..71_400.0).contains(&time), "{time}");
    }

    #[test]
    fn a_giant_keeps_one_pu() {
        // Two PUs of two slots, 30 units of 1 beside a unit of 100.
        let schedule = Schedule::new(std::iter::once(100).chain((0..30).map(|_| 1)), 2, 2);
        // Three slots take the small ones in ten steps; from the last on, one PU has 2 left, the other 92.
        assert_eq!((schedule.last(), schedule.begun()), (9, 36.0));
        assert_eq!(schedule.end(1.0), 92.0 * 2.0);
        // Alone it has the speed of both.
        assert_eq!(schedule.end(2.0), 94.0);
        let under_way: Vec<(VertexId, u64)> =
            schedule.from(4).map(|(units, done)| (units[0], done)).collect();
        assert_eq!(under_way[0], (0, 4));
        assert!(under_way[1..].iter().all(|&(unit, done)| (13..=15).contains(&unit) && done == 0));
    }
}
