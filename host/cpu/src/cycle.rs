//! Cycles of 4, 5 and 6 vertices, edge-induced.

use std::ops::{ControlFlow, Range};

use gramer_base::context::Context;
use gramer_base::memory::zeroed_or_unwind;
use gramer_graph::{VertexId, View};

use super::reach::{ByVertex, Dense, Form, NOWHERE, NeighbourTable, Places, by_form, parts};
use super::{Job, StartVertices};
use gramer_engine::work::{Groups, WorkUnit};

/// Paths of two edges from a root, by end.
pub(super) struct Paths<F: Form> {
    pub count: F::Table<u32>,
    /// The first `len` of these have a path; in the dense form one place more than there are vertices.
    ends: Vec<VertexId>,
    len: usize,
}

impl<F: Form> Paths<F> {
    /// Bytes per vertex of the dense form.
    pub const BYTES: usize = 8;

    /// The table of a sparse one is one of `tables` of its thread.
    pub fn new(vertices: usize, tables: usize) -> Self {
        let ends = if F::DENSE { zeroed_or_unwind(vertices + 1) } else { vec![] };
        Paths { count: F::Table::new(vertices, 0, tables), ends, len: 0 }
    }

    /// Adds a path to `end` and returns the number before. The end is noted without a branch, which would be
    /// mispredicted half of the time.
    #[inline]
    pub fn add(&mut self, end: VertexId) -> u32 {
        let count = self.count.entry(end);
        let before = *count;
        *count += 1;
        if F::DENSE {
            self.ends[self.len] = end;
            self.len += usize::from(before == 0);
        } else if before == 0 {
            self.ends.push(end);
            self.len += 1;
        }
        before
    }

    pub fn ends(&self) -> &[VertexId] {
        &self.ends[..self.len]
    }

    pub fn clear(&mut self) {
        self.count.clear(self.ends[..self.len].iter().copied());
        self.len = 0;
        if !F::DENSE {
            self.ends.clear();
        }
    }
}

/// The most ends that paths of two edges have whose first edge leads to one of these vertices.
pub(super) fn reach(graph: View<'_>, over: &[VertexId]) -> usize {
    over.iter().map(|&b| graph.degree(b)).sum()
}

/// Visits these ends.
pub(super) fn visit(graph: View<'_>, over: &[VertexId], each: &mut dyn FnMut(VertexId)) {
    over.iter().flat_map(|&b| graph.neighbours(b)).for_each(|&c| each(c));
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
    StartVertices::vertices(graph).units(job, list, weight)
}

/// The ends that a unit of [`ends`] stands for.
pub(super) fn ends_of(unit: &WorkUnit) -> Range<VertexId> {
    unit.start + 1 + unit.first..unit.start + 1 + unit.limit
}

/// The part of a sorted row within a range of vertices.
#[inline]
pub(super) fn within(row: &[VertexId], range: &Range<VertexId>) -> std::ops::Range<usize> {
    let first = match row.first() {
        Some(&u) if u < range.start => row.partition_point(|&u| u < range.start),
        _ => 0,
    };
    // Few roots are divided, and the others' ranges have no vertex behind them.
    let whole = row.last().is_none_or(|&u| u < range.end);
    first..if whole { row.len() } else { row.partition_point(|&u| u < range.end) }
}

/// Calls `each` with the positions and vertices of a sorted row that are in a range, in descending order. Ranges mostly
/// start after a root, at the end of a row: walking back from the end is cheaper than searching the start.
#[inline(always)]
pub(super) fn each_within(
    row: &[VertexId],
    range: &Range<VertexId>,
    mut each: impl FnMut(usize, VertexId),
) {
    let mut end = row.len();
    if row.last().is_some_and(|&u| u >= range.end) {
        end = row.partition_point(|&u| u < range.end);
    }
    for (at, &u) in row[..end].iter().enumerate().rev() {
        if u < range.start {
            break;
        }
        each(at, u);
    }
}

/// Number of 4-cycles: two paths of two edges from the smallest vertex (the most valuable one,
/// so that lists after it are short) to the same end.
pub(super) fn four(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    by_form!(graph.vertices(), Paths::<Dense>::BYTES, F => four_by::<F>(graph, job))
}

fn four_by<F: Form>(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let ran = job.run(
        &ends(graph, job),
        || (0u128, Paths::<F>::new(graph.vertices(), 1)),
        |(total, paths), unit| {
            let first = after(graph, unit.start, unit.start);
            let reach = || reach(graph, first);
            let visit = |each: &mut dyn FnMut(VertexId)| visit(graph, first, each);
            for ends in parts(paths.count.most(), ends_of(unit), reach, visit) {
                let mut cycles = 0u64;
                for (i, &b) in first.iter().enumerate() {
                    if context.cancel.is_cancelled() {
                        return ControlFlow::Break(());
                    }
                    graph.ask_row_end_ahead(first, i);
                    each_within(graph.neighbours(b), &ends, |_, c| {
                        cycles += u64::from(paths.add(c))
                    });
                }
                *total += cycles as u128;
                paths.clear();
            }
            ControlFlow::Continue(())
        },
    );
    ran.sum(|state| state.0)
}

/// What [`five_cycles`](gramer_pattern::closing::equations::five_cycles) makes the number of 5-cycles of: for the smallest vertex a
/// and the edge c–d opposite to it, the pairs of
/// paths a–b–c and a–e–d, less those that meet. They meet where b = e (a triangle b c d with b
/// next to a), where b = d (a and d are adjacent), where e = c (a and c are). The first number has
/// all pairs but those that meet in the latter two ways; the second those of b = e.
pub(super) fn five(graph: View<'_>, job: Job<'_>) -> ([u128; 2], bool) {
    let bytes = Paths::<Dense>::BYTES + 1;
    let (total, complete) = by_form!(graph.vertices(), bytes, F => all_pairs::<F>(graph, job));
    let (meeting, all_met) = by_form!(graph.vertices(), 4, F => meeting_pairs::<F>(graph, job));
    ([total, meeting], complete && all_met)
}

/// A thread's state in [`five`].
struct FiveCycleState<'a, F: Form> {
    total: i128,
    paths: Paths<F>,
    /// By vertex: whether it is next to the root.
    near: NeighbourTable<'a, bool, F>,
}

/// The first number of [`five`].
fn all_pairs<F: Form>(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let ran = job.run(
        &ends(graph, job),
        || FiveCycleState::<F> {
            total: 0,
            paths: Paths::new(graph.vertices(), 2),
            near: NeighbourTable::new(graph.vertices(), false, 2),
        },
        |state, unit| {
            let (root, ends) = (unit.start, ends_of(unit));
            let first = after(graph, root, root);
            state.near.enter(first, |_| true);
            // The edge opposite to the root belongs to the unit of its smaller vertex.
            let every = root + 1..graph.vertices() as VertexId;
            let most = state.paths.count.most();
            if F::DENSE || reach(graph, first) <= most {
                let flow = state.opposite_edges(graph, root, (ends, every), context);
                state.near.leave();
                return flow;
            }
            // Numbers of paths of both ends of an edge are looked up, and these may be in two parts.
            let visit = |each: &mut dyn FnMut(VertexId)| visit(graph, first, each);
            for smaller in parts(most / 2, ends, || usize::MAX, visit) {
                state.opposite_edges(graph, root, (smaller.clone(), smaller.clone()), context)?;
                let after = smaller.end..every.end;
                if after.is_empty() {
                    continue;
                }
                for larger in parts(most / 2, after, || usize::MAX, visit) {
                    let both = (smaller.clone(), larger);
                    state.opposite_edges(graph, root, both, context)?;
                }
            }
            state.near.leave();
            ControlFlow::Continue(())
        },
    );
    ran.sum(|state| state.total as u128)
}

impl<F: Form> FiveCycleState<'_, F> {
    /// Enumerates the edges opposite to the root with their smaller and larger vertex in these ranges: the second
    /// range is the first one, or comes after it, or has all vertices.
    fn opposite_edges(
        &mut self,
        graph: View<'_>,
        root: VertexId,
        (smaller, larger): (Range<VertexId>, Range<VertexId>),
        context: &Context,
    ) -> ControlFlow<()> {
        let FiveCycleState { total, paths, near } = self;
        let whole = larger.end as usize == graph.vertices() && larger.start == root + 1;
        let first = after(graph, root, root);
        for (i, &b) in first.iter().enumerate() {
            if context.cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            graph.ask_row_end_ahead(first, i);
            let row = graph.neighbours(b);
            each_within(row, &larger, |_, c| {
                paths.add(c);
            });
            if !whole && smaller.start < larger.start {
                each_within(row, &smaller, |_, c| {
                    paths.add(c);
                });
            }
        }
        let is_near = |v: VertexId| near.get(v, |_| true);
        let mut sum = 0i128;
        for (i, &c) in paths.ends().iter().enumerate() {
            if context.cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            graph.ask_row_end_ahead(paths.ends(), i);
            if !smaller.contains(&c) {
                continue;
            }
            let (to_c, c_near) = (paths.count.get(c) as i128, is_near(c));
            let behind = larger.start.max(c + 1)..larger.end;
            // Paths to all d, and to those near the root; how many these are, and how many have a path.
            let (mut to_all, mut to_near, mut nears, mut reached) = (0u64, 0u64, 0u64, 0u64);
            each_within(graph.neighbours(c), &behind, |_, d| {
                let (to_d, d_near) = (u64::from(paths.count.get(d)), is_near(d));
                to_all += to_d;
                to_near += if d_near { to_d } else { 0 };
                nears += u64::from(d_near);
                reached += u64::from(to_d > 0);
            });
            sum += to_c * to_all as i128;
            // Without a path to d nothing meets: b = d needs one to c over d, and then c
            // being near gives one to d over c.
            sum -= to_near as i128;
            if c_near {
                sum += nears as i128 - to_c * reached as i128;
            }
        }
        *total += sum;
        paths.clear();
        ControlFlow::Continue(())
    }
}

/// The pairs of paths of [`five`] with b = e, over all roots a: for each triangle, each of its
/// vertices as b, and each neighbour a of b before the whole triangle.
fn meeting_pairs<F: Form>(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let before = |v: VertexId| graph.neighbours(v).partition_point(|&u| u < v);
    let units = StartVertices::vertices(graph).units(job, before, |v| (before(v) as u64).pow(2));
    let ran = job.run(
        &units,
        || (0u128, Places::<F>::new(graph.vertices(), 1)),
        |(total, position), unit| {
            let z = unit.start;
            let row = &graph.neighbours(z)[..before(z)];
            position.enter(row);
            let mut pairs = 0u64;
            for &y in &row[unit.range()] {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                for (at_y, &x) in graph.neighbours(y)[..before(y)].iter().enumerate() {
                    let at_z = position.of(x);
                    if at_z != NOWHERE {
                        pairs += (before(x) + at_y) as u64 + at_z as u64;
                    }
                }
            }
            *total += pairs as u128;
            position.leave();
            ControlFlow::Continue(())
        },
    );
    ran.sum(|state| state.0)
}

/// Number of closed walks of six steps.
pub(super) fn six(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let bytes = 2 * Walks::<Dense>::BYTES;
    by_form!(graph.vertices(), bytes, F => six_by::<F>(graph, job))
}

/// Walks of some steps from a root, by end.
struct Walks<F: Form> {
    count: F::Table<u64>,
    /// Ends with a walk.
    ends: Vec<VertexId>,
}

impl<F: Form> Walks<F> {
    /// Bytes per vertex of the dense form, as the list of ends grows.
    const BYTES: usize = 16;

    fn new(vertices: usize) -> Self {
        Walks { count: F::Table::new(vertices, 0, 2), ends: vec![] }
    }

    /// Adds walks whose last step leads from one of these vertices to one of a range, as many for each as `walks` says.
    /// Says whether the run goes on.
    fn step(
        &mut self,
        graph: View<'_>,
        from: &[VertexId],
        range: &Range<VertexId>,
        walks: impl Fn(VertexId) -> u64,
        context: &Context,
    ) -> ControlFlow<()> {
        for &u in from {
            if context.cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            let row = graph.neighbours(u);
            let row = match range.len() == graph.vertices() {
                true => row,
                false => &row[within(row, range)],
            };
            let walks = walks(u);
            for &w in row {
                let count = self.count.entry(w);
                if *count == 0 {
                    self.ends.push(w);
                }
                *count += walks;
            }
        }
        ControlFlow::Continue(())
    }

    fn clear(&mut self) {
        self.count.clear(self.ends.drain(..));
    }
}

fn six_by<F: Form>(graph: View<'_>, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let ran = job.run(
        // A root is divided by the vertices that its walks of three steps end at.
        &StartVertices::vertices(graph).units(
            job,
            |v| if graph.degree(v) == 0 { 0 } else { graph.vertices() },
            |v| graph.neighbours(v).iter().map(|&u| graph.degree(u) as u64).sum(),
        ),
        || (0u128, Walks::<F>::new(graph.vertices()), Walks::<F>::new(graph.vertices())),
        |(total, two, three), unit| {
            let every = 0..graph.vertices() as VertexId;
            let first = graph.neighbours(unit.start);
            let most = three.count.most();
            let seconds = || first.iter().flat_map(|&u| graph.neighbours(u));
            let of_three = || seconds().map(|&w| graph.degree(w)).sum();
            let visit_three = |each: &mut dyn FnMut(VertexId)| {
                seconds().for_each(|&w| visit(graph, &[w], each));
            };
            let visit_two = |each: &mut dyn FnMut(VertexId)| visit(graph, first, each);
            for ends in parts(most, unit.first..unit.limit, of_three, visit_three) {
                for middle in parts(most, every.clone(), || reach(graph, first), visit_two) {
                    two.step(graph, first, &middle, |_| 1, context)?;
                    let walks = |u: VertexId| two.count.get(u);
                    three.step(graph, &two.ends, &ends, walks, context)?;
                    two.clear();
                }
                let squares = three.ends.iter().map(|&x| (three.count.get(x) as u128).pow(2));
                *total += squares.sum::<u128>();
                three.clear();
            }
            ControlFlow::Continue(())
        },
    );
    ran.sum(|state| state.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_base::context::Context;
    use gramer_engine::work::Units;
    use gramer_graph::Builder;
    use gramer_pattern::closing::equations::five_cycles;

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
        assert_eq!((five_cycles(sums), complete), (672, true));
    }
}
