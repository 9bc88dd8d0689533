//! Work units and the ranges of them that one run of the kernels takes.

use std::collections::VecDeque;

use gramer_graph::{VertexId, View};

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

/// Units of a graph in ranges for one run each.
///
/// The cut depends on graph and parameters alone, so that the same task takes the same cycles
/// whatever the threads of the host do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The ranges, in order; a range that was not finished comes back to the front.
    ranges: VecDeque<Vec<Unit>>,
}

/// How units are cut into ranges.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// Vertices of an embedding.
    pub depth: u32,
    /// The order of comparison.
    pub ascending: bool,
    /// Number of ranges, or 0 for as many as are worth while for that many compute units; it is
    /// exceeded where `most` asks for it.
    pub runs: usize,
    /// Compute units that share the work.
    pub compute_units: usize,
    /// Units that one range may have.
    pub most: usize,
}

/// The units of a graph: each vertex with its whole list.
pub fn whole(view: View<'_>) -> Vec<Unit> {
    let unit = |start| Unit { start, first: 0, limit: view.degree(start) as u32 };
    (0..view.vertices() as VertexId).map(unit).collect()
}

impl Plan {
    /// Cuts units of `view` into ranges.
    pub fn new(view: View<'_>, units: &[Unit], cut: Cut) -> Self {
        let work = |unit: &Unit| {
            let list = &view.neighbours(unit.start)[unit.first as usize..unit.limit as usize];
            let own = list.partition_point(|&u| u < unit.start);
            let candidates = if cut.ascending { &list[own..] } else { &list[..own] };
            1 + candidates.iter().map(|&u| view.degree(u) as u64 + 1).sum::<u64>()
        };
        let total: u64 = units.iter().map(work).sum();
        // Each vertex more multiplies the work, by how much depends on the graph: a modest guess
        // only decides how often progress is shown.
        let grown = total.saturating_mul(4u64.saturating_pow(cut.depth.saturating_sub(3).min(8)));
        let compute_units = cut.compute_units.max(1) as u64;
        let runs = match cut.runs {
            0 => (grown / LEAST_WORK).clamp(compute_units, RUNS_A_UNIT * compute_units),
            runs => runs as u64,
        };
        let share = (total / runs).max(1);
        let mut ranges: VecDeque<Vec<Unit>> = VecDeque::from([vec![]]);
        let mut sum = 0;
        for unit in units {
            let full = sum >= share && (ranges.len() as u64) < runs;
            if full || ranges.back().is_some_and(|range| range.len() == cut.most.max(1)) {
                ranges.push_back(vec![]);
                sum = 0;
            }
            ranges.back_mut().expect("there is one").push(*unit);
            sum += work(unit);
        }
        ranges.retain(|range| !range.is_empty());
        Plan { ranges }
    }

    /// The units that nobody took, in order.
    pub fn rest(self) -> Vec<Unit> {
        let mut units: Vec<Unit> = self.ranges.into_iter().flatten().collect();
        units.sort_by_key(|u| (u.start, u.first));
        units
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
        let cut = Cut { depth: 3, ascending: false, runs, compute_units, most };
        let mut plan = Plan::new(view, &whole(view), cut);
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
        plan.give_back(vec![unit]);
        plan.give_back(vec![Unit { start: 0, ..unit }]);
        assert_eq!(plan.rest(), [Unit { start: 0, ..unit }, unit]);
    }
}
