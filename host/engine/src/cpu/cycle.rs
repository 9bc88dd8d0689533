//! Cycles of 4, 5 and 6 vertices, edge-induced.

use std::ops::ControlFlow;

use gramer_graph::{VertexId, View};
use gramer_pattern::{Pattern, automorphism_count};

use super::{Job, Starts};
use crate::work::{Groups, WorkUnit};

/// Paths of two edges from a root, by end. Reset by visiting them again.
struct Paths {
    count: Vec<u32>,
    /// The first `len` of these have a path; one place more than there are vertices.
    ends: Vec<VertexId>,
    len: usize,
}

impl Paths {
    fn new(vertices: usize) -> Self {
        Paths { count: vec![0; vertices], ends: vec![0; vertices + 1], len: 0 }
    }

    /// One more path to `end`; how many there were. The end is noted without a jump, which would be
    /// foretold wrongly as often as not.
    #[inline]
    fn add(&mut self, end: VertexId) -> u32 {
        let count = &mut self.count[end as usize];
        let before = *count;
        *count += 1;
        self.ends[self.len] = end;
        self.len += usize::from(before == 0);
        before
    }

    fn ends(&self) -> &[VertexId] {
        &self.ends[..self.len]
    }

    fn clear(&mut self) {
        for &end in &self.ends[..self.len] {
            self.count[end as usize] = 0;
        }
        self.len = 0;
    }
}

/// Neighbours of `v` after `root`.
#[inline]
fn after<'a>(graph: View<'a>, v: VertexId, root: VertexId) -> &'a [VertexId] {
    let row = graph.neighbours(v);
    &row[row.partition_point(|&u| u <= root)..]
}

/// Roots, divided by the ends of their paths of two edges: position i of a root's list is the
/// vertex i places after it.
pub(super) fn ends(graph: View<'_>, job: Job<'_>) -> Groups {
    let list = |v: VertexId| match after(graph, v, v) {
        [] => 0,
        _ => graph.vertices() - 1 - v as usize,
    };
    // Paths that end before the root aren't gone through, but to find out how many there are costs a search in
    // each row.
    let weight =
        |v: VertexId| after(graph, v, v).iter().map(|&b| graph.degree(b) as u64 + 1).sum::<u64>();
    Starts::vertices(graph).units(job, list, weight)
}

/// The ends that a unit of [`ends`] stands for.
pub(super) fn ends_of(unit: &WorkUnit) -> std::ops::Range<VertexId> {
    unit.start + 1 + unit.first..unit.start + 1 + unit.limit
}

/// What a sorted row has of a range of vertices.
#[inline]
pub(super) fn within(
    row: &[VertexId],
    range: &std::ops::Range<VertexId>,
) -> std::ops::Range<usize> {
    let first = row.partition_point(|&u| u < range.start);
    // Few roots are divided, and the others' ranges have no vertex behind them.
    let whole = row.last().is_none_or(|&u| u < range.end);
    first..if whole { row.len() } else { row.partition_point(|&u| u < range.end) }
}

/// Number of 4-cycles: two paths of two edges from the smallest vertex (the most valuable one,
/// so that lists after it are short) to the same end.
pub(super) fn four(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let ran = job.run(
        &ends(graph, job),
        || (0u128, Paths::new(graph.vertices())),
        |(total, paths), unit| {
            let (root, ends) = (unit.start, ends_of(unit));
            let mut cycles = 0u64;
            for &b in after(graph, root, root) {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                let row = graph.neighbours(b);
                for &c in &row[within(row, &ends)] {
                    cycles += u64::from(paths.add(c));
                }
            }
            *total += cycles as u128;
            paths.clear();
            ControlFlow::Continue(())
        },
    );
    ran.sum(|state| state.0)
}

/// What [`five_of`] makes the number of 5-cycles of: for the smallest vertex a and the edge c–d opposite to it, the pairs of
/// paths a–b–c and a–e–d, less those that meet. They meet where b = e (a triangle b c d with b
/// next to a), where b = d (a and d are adjacent), where e = c (a and c are). The first number has
/// all pairs but those that meet in the latter two ways; the second those of b = e.
pub(super) fn five(graph: View<'_>, job: Job<'_>) -> ([u128; 2], bool) {
    let context = job.context;
    struct State {
        total: i128,
        paths: Paths,
        /// By vertex: whether it is next to the root.
        near: Vec<bool>,
    }
    let ran = job.run(
        &ends(graph, job),
        || State {
            total: 0,
            paths: Paths::new(graph.vertices()),
            near: vec![false; graph.vertices()],
        },
        |State { total, paths, near }, unit| {
            let (root, ends) = (unit.start, ends_of(unit));
            let first = after(graph, root, root);
            for &b in first {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                near[b as usize] = true;
                for &c in after(graph, b, root) {
                    paths.add(c);
                }
            }
            let mut sum = 0i128;
            // The edge opposite to the root belongs to the unit of its smaller vertex.
            for &c in paths.ends().iter().filter(|c| ends.contains(c)) {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                let (to_c, c_near) = (paths.count[c as usize] as i128, near[c as usize]);
                let mut others = 0u64;
                for &d in after(graph, c, c.max(root)) {
                    let to_d = paths.count[d as usize];
                    others += to_d as u64;
                    // Without a path to d nothing meets: b = d needs one to c over d, and then c
                    // being near gives one to d over c.
                    if near[d as usize] {
                        sum -= to_d as i128;
                        sum += c_near as i128;
                    }
                    if c_near && to_d > 0 {
                        sum -= to_c;
                    }
                }
                sum += to_c * others as i128;
            }
            *total += sum;
            paths.clear();
            for &b in first {
                near[b as usize] = false;
            }
            ControlFlow::Continue(())
        },
    );
    let (total, complete) = ran.sum(|state| state.total as u128);
    let (meeting, all_met) = meeting_pairs(graph, job);
    ([total, meeting], complete && all_met)
}

/// Number of 5-cycles from the sums of [`five`] over all units.
pub(super) fn five_of([pairs, meeting]: [u128; 2]) -> u128 {
    pairs - meeting
}

/// The pairs of paths of [`five`] with b = e, over all roots a: for each triangle, each of its
/// vertices as b, and each neighbour a of b before the whole triangle.
fn meeting_pairs(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let before = |v: VertexId| graph.neighbours(v).partition_point(|&u| u < v);
    let units = Starts::vertices(graph).units(job, before, |v| (before(v) as u64).pow(2));
    let ran = job.run(
        &units,
        || (0u128, vec![u32::MAX; graph.vertices()]),
        |(total, position), unit| {
            let z = unit.start;
            let row = &graph.neighbours(z)[..before(z)];
            for (at, &u) in row.iter().enumerate() {
                position[u as usize] = at as u32;
            }
            let mut pairs = 0u64;
            for &y in &row[unit.range()] {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                for (at_y, &x) in graph.neighbours(y)[..before(y)].iter().enumerate() {
                    let at_z = position[x as usize];
                    if at_z != u32::MAX {
                        pairs += (before(x) + at_y) as u64 + at_z as u64;
                    }
                }
            }
            *total += pairs as u128;
            for &u in row {
                position[u as usize] = u32::MAX;
            }
            ControlFlow::Continue(())
        },
    );
    ran.sum(|state| state.0)
}

/// Number of closed walks of six steps.
pub(super) fn six(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let ran = job.run(
        // A root is divided by the vertices that its walks of three steps end at.
        &Starts::vertices(graph).units(
            job,
            |v| if graph.degree(v) == 0 { 0 } else { graph.vertices() },
            |v| graph.neighbours(v).iter().map(|&u| graph.degree(u) as u64).sum(),
        ),
        || (0u128, [vec![0u64; graph.vertices()], vec![0u64; graph.vertices()]], [vec![], vec![]]),
        |(total, [two, three], [ends_of_two, ends_of_three]), unit| {
            let every = 0..graph.vertices() as VertexId;
            let step = |from: &[VertexId],
                        range: &std::ops::Range<VertexId>,
                        walks: &dyn Fn(VertexId) -> u64,
                        to: &mut [u64],
                        ends: &mut Vec<VertexId>| {
                for &u in from {
                    if context.cancel.is_cancelled() {
                        return;
                    }
                    let row = graph.neighbours(u);
                    let row = if range.len() == graph.vertices() {
                        row
                    } else {
                        &row[within(row, range)]
                    };
                    for &w in row {
                        if to[w as usize] == 0 {
                            ends.push(w);
                        }
                        to[w as usize] += walks(u);
                    }
                }
            };
            step(graph.neighbours(unit.start), &every, &|_| 1, two, ends_of_two);
            step(
                ends_of_two,
                &(unit.first..unit.limit),
                &|u| two[u as usize],
                three,
                ends_of_three,
            );
            if context.cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            for &x in ends_of_three.iter() {
                *total += (three[x as usize] as u128).pow(2);
                three[x as usize] = 0;
            }
            for &x in ends_of_two.iter() {
                two[x as usize] = 0;
            }
            ends_of_two.clear();
            ends_of_three.clear();
            ControlFlow::Continue(())
        },
    );
    ran.sum(|state| state.0)
}

/// Number of 6-cycles, from the closed walks of six steps: a walk that visits a vertex twice runs
/// over a smaller pattern, whose edge-induced number `smaller` gives.
pub(super) fn six_of(walks: u128, smaller: impl Fn(&Pattern) -> u128) -> u128 {
    let shorter: u128 = folded_cycles(6)
        .iter()
        .map(|image| automorphism_count(image) * smaller(&image.canonical().0))
        .sum();
    (walks - shorter) / 12
}

/// The patterns that the k-cycle becomes when some of its vertices, no two of them adjacent, are
/// put into one; one entry for each way to do it.
fn folded_cycles(k: usize) -> Vec<Pattern> {
    let mut found = vec![];
    let mut block = vec![0usize; k];
    fold_from(1, &mut block, &mut found);
    found
}

/// Assigns blocks to the vertices from `at` on, in every way that starts new blocks in order.
fn fold_from(at: usize, block: &mut [usize], found: &mut Vec<Pattern>) {
    let k = block.len();
    if at == k {
        let blocks = block.iter().max().map_or(0, |b| b + 1);
        if blocks < k && block[k - 1] != block[0] {
            let edges: Vec<_> = (0..k).map(|v| (block[v], block[(v + 1) % k])).collect();
            found.push(Pattern::from_edges(blocks, &edges));
        }
        return;
    }
    let fresh = block[..at].iter().max().map_or(0, |b| b + 1);
    for b in (0..=fresh).filter(|&b| b != block[at - 1]).collect::<Vec<_>>() {
        block[at] = b;
        fold_from(at + 1, block, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Units;
    use gramer_graph::Builder;
    use gramer_graph::context::Context;

    #[test]
    fn cycles_of_complete_graphs() {
        let mut b = Builder::new();
        for u in 0..8u64 {
            for v in 0..u {
                b.edge(u, v);
            }
        }
        let g = b.build();
        let context = Context::with_threads(2);
        let job = Job { units: Units::All, sink: None, context: &context, others: None };
        // n! / (n - k)! / 2k.
        assert_eq!(four(g.view(), job), (210, true));
        let (sums, complete) = five(g.view(), job);
        assert_eq!((five_of(sums), complete), (672, true));
    }

    #[test]
    fn the_six_cycle_folds_in_as_many_ways_as_known() {
        // Partitions of six things in a ring without neighbours in a block: OEIS A000296 has 41,
        // one of which keeps all six apart.
        assert_eq!(folded_cycles(6).len(), 40);
    }
}
