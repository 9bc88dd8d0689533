//! The groups of work units that one run of the kernels takes.

use std::collections::VecDeque;

use gramer_engine::work::{self, Units, WorkUnit};
use gramer_graph::View;

/// Work, in scanned edges, below which a run isn't worth its start: filling the scratchpads and
/// the way through the runtime cost about as much.
const LEAST_WORK: u64 = 4 << 20;
/// Runs that each compute unit gets at most, if all is cut evenly.
const RUNS_A_UNIT: u64 = 32;

/// Units in ranges for one run each.
///
/// The cut depends on graph and parameters alone, so that the same task takes the same cycles
/// independent of the host's threads.
#[derive(Debug, Clone)]
pub struct Ranges {
    /// In order; a range that was not finished comes back to the front.
    ranges: VecDeque<Vec<WorkUnit>>,
}

/// How units are cut into ranges.
#[derive(Debug, Clone, Copy)]
pub struct Runs {
    /// Vertices of an embedding.
    pub depth: u32,
    /// The order of comparison.
    pub ascending: bool,
    /// Number of ranges, or 0 to derive it from the number of compute units; it is
    /// exceeded where `most` asks for it.
    pub runs: usize,
    /// Compute units that share the work.
    pub compute_units: usize,
    /// Units that one range may have.
    pub most: usize,
}

impl Ranges {
    /// Cuts units of `view` into ranges.
    pub fn new(view: View<'_>, units: Units<'_>, limits: Runs) -> Self {
        let work = |unit: &WorkUnit| {
            let list = &view.neighbours(unit.start)[unit.range()];
            let own = list.partition_point(|&u| u < unit.start);
            let candidates = if limits.ascending { &list[own..] } else { &list[..own] };
            candidates.iter().map(|&u| view.degree(u) as u64 + 1).sum::<u64>()
        };
        let units = || units.iter(view).map(|unit| (unit, work(&unit)));
        let total: u64 = units().map(|(_, work)| 1 + work).sum();
        // Each vertex more multiplies the work, by how much depends on the graph: a modest guess
        // only decides how often progress is shown.
        let depth = limits.depth.saturating_sub(3).min(8);
        let grown = total.saturating_mul(4u64.saturating_pow(depth));
        let compute_units = limits.compute_units.max(1) as u64;
        let groups = match limits.runs {
            0 => (grown / LEAST_WORK).clamp(compute_units, RUNS_A_UNIT * compute_units),
            runs => runs as u64,
        };
        let cut = work::CutSettings { groups, exceed: false, divide: false, most: limits.most };
        Ranges { ranges: work::cut(units, cut).iter().map(<[_]>::to_vec).collect() }
    }

    /// The units that were not taken, in order.
    pub fn rest(self) -> Vec<WorkUnit> {
        let mut units: Vec<WorkUnit> = self.ranges.into_iter().flatten().collect();
        units.sort_unstable();
        units
    }

    /// Units of all ranges.
    pub fn units(&self) -> usize {
        self.ranges.iter().map(Vec::len).sum()
    }

    /// The next range.
    pub fn take(&mut self) -> Option<Vec<WorkUnit>> {
        self.ranges.pop_front()
    }

    /// Puts back what a run left.
    pub fn give_back(&mut self, rest: Vec<WorkUnit>) {
        if !rest.is_empty() {
            self.ranges.push_front(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn star(leaves: u32) -> (Vec<u64>, Vec<u32>) {
        let mut offsets: Vec<u64> = vec![0];
        offsets.extend((0..=leaves as u64).map(|i| leaves as u64 + i));
        let mut edges: Vec<u32> = (1..=leaves).collect();
        edges.extend(std::iter::repeat_n(0, leaves as usize));
        (offsets, edges)
    }

    fn ranges(runs: usize, compute_units: usize, most: usize) -> Vec<Vec<WorkUnit>> {
        let (offsets, neighbours) = star(1000);
        let view = View {
            offsets: &offsets,
            neighbours: &neighbours,
            vertex_labels: None,
            edge_labels: None,
        };
        let limits = Runs { depth: 3, ascending: false, runs, compute_units, most };
        let mut ranges = Ranges::new(view, Units::All, limits);
        assert_eq!(ranges.units(), 1001);
        std::iter::from_fn(|| ranges.take()).collect()
    }

    #[test]
    fn ranges_hold_every_vertex_once_and_in_order() {
        for (runs, units) in [(0, 1), (0, 3), (7, 1), (5000, 2)] {
            let ranges = ranges(runs, units, 5000);
            assert!(ranges.len() <= runs.max(32 * units), "{}", ranges.len());
            assert!(ranges.iter().all(|r| !r.is_empty()));
            let starts: Vec<u32> = ranges.iter().flatten().map(|u| u.start).collect();
            assert_eq!(starts, (0..=1000).collect::<Vec<_>>());
            assert!(ranges.iter().flatten().all(|u| u.first == 0));
            assert_eq!(ranges[0][0].limit, 1000);
        }
    }

    #[test]
    fn little_work_is_one_run_a_compute_unit() {
        assert_eq!(ranges(0, 1, 5000).len(), 1);
        assert_eq!(ranges(0, 2, 5000).len(), 2);
        assert_eq!(ranges(10, 1, 5000).len(), 10);
    }

    #[test]
    fn a_range_has_no_more_units_than_the_buffer() {
        let ranges = ranges(1, 1, 300);
        assert_eq!(ranges.iter().map(Vec::len).collect::<Vec<_>>(), [300, 300, 300, 101]);
    }

    #[test]
    fn what_is_given_back_comes_next() {
        let mut ranges = Ranges { ranges: VecDeque::new() };
        let unit = WorkUnit { start: 1, first: 0, limit: 3 };
        ranges.give_back(vec![]);
        assert_eq!(ranges.take(), None);
        ranges.give_back(vec![unit]);
        assert_eq!(ranges.take(), Some(vec![unit]));
        ranges.give_back(vec![unit]);
        ranges.give_back(vec![WorkUnit { start: 0, ..unit }]);
        assert_eq!(ranges.rest(), [WorkUnit { start: 0, ..unit }, unit]);
    }
}
