//! How many triangles and 4-cycles each edge is in.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::zeroed_or_unwind;
use gramer_base::parallel::on_threads;
use gramer_graph::{VertexId, View};

use super::super::arcs::{self, Sums, Visitor};
use super::super::reach::{ByVertex, Form, by_form, fits, parts};
use super::super::{Job, cycle};

/// By arc (a position in [`View::neighbours`]): the triangles and the 4-cycles, edge-induced, that
/// its edge is in.
pub(in super::super) struct EdgeCounts {
    triangles: Vec<u64>,
    /// Empty if not requested.
    cycles: Vec<u64>,
}

impl EdgeCounts {
    /// Counts; `None` once the run was cancelled.
    pub fn new(graph: View<'_>, job: Job<'_>) -> Option<Self> {
        let counts =
            EdgeCounts { cycles: cycles(graph, job)?, ..Self::with_triangles(graph, job)? };
        counts.of_both_arcs(graph, job.context)
    }

    /// Counts triangles alone; `None` once the run was cancelled.
    pub fn of_triangles(graph: View<'_>, job: Job<'_>) -> Option<Self> {
        Self::with_triangles(graph, job)?.of_both_arcs(graph, job.context)
    }

    fn with_triangles(graph: View<'_>, job: Job<'_>) -> Option<Self> {
        Some(EdgeCounts { triangles: triangles(graph, job)?, cycles: vec![] })
    }

    /// Sums the numbers of the two arcs of an edge, and stores the sum at both.
    fn of_both_arcs(mut self, graph: View<'_>, context: &Context) -> Option<Self> {
        let EdgeCounts { triangles, cycles } = &mut self;
        match cycles.is_empty() {
            true => add_both_ways([triangles], graph, context)?,
            false => add_both_ways([triangles, cycles], graph, context)?,
        }
        Some(self)
    }

    /// Triangles on the edge of an arc.
    #[inline]
    pub fn triangles(&self, arc: usize) -> u64 {
        self.triangles[arc]
    }

    /// 4-cycles through the edge of an arc.
    #[inline]
    pub fn cycles(&self, arc: usize) -> u64 {
        self.cycles[arc]
    }
}

/// Neighbouring rows of about as many arcs in all for each thread.
pub(super) fn rows_of_threads(graph: View<'_>, threads: usize) -> Vec<Range<VertexId>> {
    let arcs = graph.neighbours.len() as u64;
    let border = |thread: usize| match thread == threads {
        true => graph.vertices(),
        false => first_row_from(graph, (arcs * thread as u64 / threads as u64) as usize),
    };
    (0..threads).map(|t| border(t) as VertexId..border(t + 1) as VertexId).collect()
}

/// The places of an array by arc that are those of `rows`, which come next in `rest`.
pub(super) fn split_rows<'a, T>(
    rest: &mut &'a mut [T],
    graph: View<'_>,
    rows: &Range<VertexId>,
) -> &'a mut [T] {
    let arcs = rows.clone().map(|v| graph.degree(v)).sum();
    let (own, others) = std::mem::take(rest).split_at_mut(arcs);
    *rest = others;
    own
}

/// Adds to each number of an arc that of the arc back; `None` once the run was cancelled.
fn add_both_ways<const N: usize>(
    numbers: [&mut [u64]; N],
    graph: View<'_>,
    context: &Context,
) -> Option<()> {
    let numbers = numbers.map(shared);
    let rows = rows_of_threads(graph, context.threads());
    let with_cursors = fits(graph.vertices(), size_of::<usize>());
    let done = on_threads(rows.len(), |part| {
        let rows = rows[part].clone();
        let mut looks = CancelPoll::new(&context.cancel);
        let add = |arc: usize, back: usize| {
            for numbers in numbers {
                let sum = numbers[arc].load(Relaxed) + numbers[back].load(Relaxed);
                numbers[arc].store(sum, Relaxed);
                numbers[back].store(sum, Relaxed);
            }
        };
        // Sources in ascending order meet every row in ascending order. By vertex: one more than the arc that is met
        // next, and zero before it is met.
        let mut cursor = zeroed_or_unwind(if with_cursors { graph.vertices() } else { 0 });
        for v in rows.clone() {
            looks.check(1 + graph.degree(v))?;
            for arc in graph.row(v) {
                let u = graph.neighbours[arc];
                // One end looks after an edge, so that no other thread has its numbers: at each vertex about half of them.
                let here = (u < v) == ((u ^ v) & 1 == 0);
                let Some(next) = cursor.get_mut(u as usize) else {
                    if here {
                        add(arc, arc_to(graph, u, v));
                    }
                    continue;
                };
                if *next == 0 {
                    *next = 1 + first_from(graph, u, rows.start);
                }
                if here {
                    add(arc, *next - 1);
                }
                *next += 1;
            }
        }
        Ok(())
    });
    done.into_iter().collect::<Result<()>>().ok()
}

/// Numbers that several threads may write.
fn shared(numbers: &mut [u64]) -> &[AtomicU64] {
    const { assert!(align_of::<AtomicU64>() == align_of::<u64>()) };
    // SAFETY: `AtomicU64` has the size of `u64` and, as asserted, its alignment; the exclusive borrow lasts as long as the
    // shared one made of it.
    unsafe { &*(std::ptr::from_mut(numbers) as *const [AtomicU64]) }
}

/// The first vertex whose row begins at this arc or later.
fn first_row_from(graph: View<'_>, arc: usize) -> usize {
    let (mut low, mut high) = (0, graph.vertices());
    while low < high {
        let middle = low.midpoint(high);
        match graph.row(middle as VertexId).start < arc {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}

/// Position of the first neighbour of `v` that isn't before `from`, as an arc.
fn first_from(graph: View<'_>, v: VertexId, from: VertexId) -> usize {
    graph.row(v).start + graph.neighbours(v).partition_point(|&u| u < from)
}

/// Position of the first neighbour of `v` after `root`, as an arc.
#[inline]
fn first_after(graph: View<'_>, v: VertexId, root: VertexId) -> usize {
    graph.row(v).start + graph.neighbours(v).partition_point(|&u| u <= root)
}

/// The arc from a vertex to a neighbour.
pub(super) fn arc_to(graph: View<'_>, from: VertexId, to: VertexId) -> usize {
    let at = graph.neighbours(from).binary_search(&to).expect("they are neighbours");
    graph.row(from).start + at
}

/// Triangles by arc that leads to a smaller vertex.
fn triangles(graph: View<'_>, job: Job<'_>) -> Option<Vec<u64>> {
    let found = Sums::new(graph.neighbours.len(), job.context);
    let make = || ArcTriangles { found: &found, row: 0..0, side: 0, at: vec![] };
    let ran = by_form!(graph.vertices(), arcs::BYTES, F => {
        arcs::visit_triangles::<F, _>(graph, job, make).map(|_| ())
    });
    ran.table(found.finish())
}

/// Counts the triangles at the arcs of a root without what threads share: all but those of two vertices before it.
struct ArcTriangles<'a> {
    found: &'a Sums,
    /// The root's arcs.
    row: Range<usize>,
    /// At the current side.
    side: u64,
    /// By position in the row.
    at: Vec<u64>,
}

impl Visitor for ArcTriangles<'_> {
    #[inline(always)]
    fn begin(&mut self, row: Range<usize>) {
        self.at.resize(row.len(), 0);
        self.row = row;
    }

    #[inline(always)]
    fn triangle(&mut self, _: [VertexId; 3], [_, to_third, across]: [usize; 3]) {
        self.side += 1;
        self.at[to_third - self.row.start] += 1;
        self.found.add(across, 1);
    }

    #[inline(always)]
    fn end_side(&mut self, arc: usize) {
        self.at[arc - self.row.start] += std::mem::take(&mut self.side);
    }

    #[inline(always)]
    fn end(&mut self) {
        for (arc, at) in self.row.clone().zip(self.at.drain(..)) {
            if at > 0 {
                self.found.add(arc, at);
            }
        }
    }
}

/// 4-cycles by arc: each is met from its smallest vertex, the root, as two paths of two edges to
/// the same end. A root with much work is divided by its ends.
fn cycles(graph: View<'_>, job: Job<'_>) -> Option<Vec<u64>> {
    by_form!(graph.vertices(), 8, F => cycles_by::<F>(graph, job))
}

fn cycles_by<F: Form>(graph: View<'_>, job: Job<'_>) -> Option<Vec<u64>> {
    let context = job.context;
    let found = Sums::new(graph.neighbours.len(), context);
    let units = cycle::ends(graph, job);
    let ran = job.run(
        &units,
        || (F::Table::new(graph.vertices(), 0u32, 1), vec![]),
        |(paths, ends): &mut (F::Table<u32>, Vec<VertexId>), unit| {
            let root = unit.start;
            let first = first_after(graph, root, root)..graph.row(root).end;
            let over = &graph.neighbours[first.clone()];
            let reach = || cycle::reach(graph, over);
            let visit = |each: &mut dyn FnMut(VertexId)| cycle::visit(graph, over, each);
            for range in parts(paths.most(), cycle::ends_of(unit), reach, visit) {
                for (i, &b) in over.iter().enumerate() {
                    if context.cancel.is_cancelled() {
                        return ControlFlow::Break(());
                    }
                    graph.ask_row_end_ahead(over, i);
                    cycle::each_within(graph.neighbours(b), &range, |_, c| {
                        let count = paths.entry(c);
                        if *count == 0 {
                            ends.push(c);
                        }
                        *count += 1;
                    });
                }
                for (i, at) in first.clone().enumerate() {
                    if context.cancel.is_cancelled() {
                        return ControlFlow::Break(());
                    }
                    graph.ask_row_end_ahead(over, i);
                    let row = graph.row(graph.neighbours[at]);
                    let mut here = 0;
                    // The arcs from b to its neighbours among the ends.
                    cycle::each_within(&graph.neighbours[row.clone()], &range, |place, c| {
                        let others = u64::from(paths.get(c) - 1);
                        if others > 0 {
                            here += others;
                            found.add(row.start + place, others);
                        }
                    });
                    found.add(at, here);
                }
                paths.clear(ends.drain(..));
            }
            ControlFlow::Continue(())
        },
    );
    ran.table(found.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;

    #[test]
    fn both_arcs_of_an_edge_get_the_sum_with_every_number_of_threads() {
        let mut builder = Builder::new();
        // A hub, a clique, a path and a vertex without edges.
        (1..40u64).for_each(|v| builder.edge(0, v));
        (1..9u64).for_each(|v| (1..v).for_each(|u| builder.edge(u, v)));
        (40..60u64).for_each(|v| builder.edge(v, v + 1));
        builder.vertex_range(0..70);
        let graph = builder.build();
        let graph = graph.view();
        let counts: Vec<u64> =
            (0..graph.neighbours.len() as u64).map(|arc| 1 << (arc % 60)).collect();
        let mut expected = vec![];
        for v in 0..graph.vertices() as VertexId {
            for arc in graph.row(v) {
                let u = graph.neighbours[arc];
                let back = graph.neighbours(u).binary_search(&v).unwrap() + graph.row(u).start;
                expected.push(counts[arc] + counts[back]);
            }
        }
        for threads in [1, 2, 3, 16, 100] {
            let context = Context::with_threads(threads);
            let mut once = counts.clone();
            let mut of_twice: Vec<u64> = counts.iter().map(|count| 2 * count).collect();
            add_both_ways([&mut once, &mut of_twice], graph, &context).unwrap();
            assert_eq!(once, expected, "{threads}");
            assert!(of_twice.iter().zip(&expected).all(|(a, b)| *a == 2 * b), "{threads}");
        }
    }
}
