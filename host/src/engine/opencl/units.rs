//! Work units and the ranges of them that one run of the kernels takes.

use std::collections::VecDeque;

use crate::graph::{VertexId, View};

/// Work, in scanned edges, below which a run isn't worth its start: filling the scratchpads and
/// the way through the runtime cost about as much.
const LEAST_WORK: u64 = 4 << 20;
/// Runs that each compute unit gets at most, if all is cut evenly.
const RUNS_A_UNIT: u64 = 32;

/// A start vertex and a range of positions in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    /// The root of the embeddings.
    pub start: VertexId,
    /// First position.
    pub first: u32,
    /// End of the range, exclusive.
    pub limit: u32,
}

impl Unit {
    /// Its two halves; `None` if it has but one position.
    pub fn halves(self) -> Option<[Unit; 2]> {
        let middle = self.first + (self.limit.saturating_sub(self.first)) / 2;
        (middle > self.first)
            .then_some([Unit { limit: middle, ..self }, Unit { first: middle, ..self }])
    }
}

/// All units of a graph, one a vertex, in ranges for one run each.
///
/// The cut depends on graph and parameters alone, so that the same task takes the same cycles
/// whatever the threads of the host do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The ranges, in order; a range that was not finished comes back to the front.
    ranges: VecDeque<Vec<Unit>>,
}

impl Plan {
    /// Cuts the units of `view` into ranges of up to `most` units. `depth` is the number of
    /// vertices of an embedding, `ascending` the order of comparison. `runs` is the number of
    /// ranges, or 0 for as many as are worth while for that many compute units; it is exceeded
    /// where `most` asks for it.
    pub fn new(
        view: View<'_>,
        depth: u32,
        ascending: bool,
        runs: usize,
        compute_units: usize,
        most: usize,
    ) -> Self {
        let vertices = view.vertices() as VertexId;
        let work = |v: VertexId| {
            let list = view.neighbours(v);
            let own = list.partition_point(|&u| u < v);
            let candidates = if ascending { &list[own..] } else { &list[..own] };
            1 + candidates.iter().map(|&u| view.degree(u) as u64 + 1).sum::<u64>()
        };
        let total: u64 = (0..vertices).map(work).sum();
        // Each vertex more multiplies the work, by how much depends on the graph: a modest guess
        // only decides how often progress is shown.
        let grown = total.saturating_mul(4u64.saturating_pow(depth.saturating_sub(3).min(8)));
        let compute_units = compute_units.max(1) as u64;
        let runs = match runs {
            0 => (grown / LEAST_WORK).clamp(compute_units, RUNS_A_UNIT * compute_units),
            runs => runs as u64,
        };
        let share = (total / runs).max(1);
        let mut ranges: VecDeque<Vec<Unit>> = VecDeque::from([vec![]]);
        let mut sum = 0;
        for v in 0..vertices {
            let full = sum >= share && (ranges.len() as u64) < runs;
            if full || ranges.back().is_some_and(|range| range.len() == most.max(1)) {
                ranges.push_back(vec![]);
                sum = 0;
            }
            let unit = Unit { start: v, first: 0, limit: view.degree(v) as u32 };
            ranges.back_mut().expect("there is one").push(unit);
            sum += work(v);
        }
        ranges.retain(|range| !range.is_empty());
        Plan { ranges }
    }

    /// Units of all ranges.
    pub fn units(&self) -> usize {
        self.ranges.iter().map(Vec::len).sum()
    }

    /// The next range.
    pub fn take(&mut self) -> Option<Vec<Unit>> {
        self.ranges.pop_front()
    }

    /// Puts back what a run left.
    pub fn give_back(&mut self, rest: Vec<Unit>) {
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

    fn ranges(runs: usize, compute_units: usize, most: usize) -> Vec<Vec<Unit>> {
        let (offsets, neighbours) = star(1000);
        let view = View {
            offsets: &offsets,
            neighbours: &neighbours,
            vertex_labels: None,
            edge_labels: None,
        };
        let mut plan = Plan::new(view, 3, false, runs, compute_units, most);
        assert_eq!(plan.units(), 1001);
        std::iter::from_fn(|| plan.take()).collect()
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
    fn a_unit_is_halved_down_to_one_position() {
        let unit = Unit { start: 5, first: 2, limit: 5 };
        let [a, b] = unit.halves().unwrap();
        assert_eq!((a.first, a.limit, b.first, b.limit), (2, 3, 3, 5));
        assert_eq!(a.halves(), None);
        assert_eq!(Unit { start: 0, first: 0, limit: 0 }.halves(), None);
    }

    #[test]
    fn what_is_given_back_comes_next() {
        let mut plan = Plan { ranges: VecDeque::new() };
        let unit = Unit { start: 1, first: 0, limit: 3 };
        plan.give_back(vec![]);
        assert_eq!(plan.take(), None);
        plan.give_back(vec![unit]);
        assert_eq!(plan.take(), Some(vec![unit]));
    }
}
