//! How many triangles and 4-cycles each edge is in.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use gramer_graph::context::{Context, Looks};
use gramer_graph::error::Result;
use gramer_graph::pages::in_large_pages;
use gramer_graph::parallel::on_threads;
use gramer_graph::{VertexId, View};

use super::super::arcs::{self, Sums};
use super::super::reach::{ByVertex, Form, by_form, fits, parts};
use super::super::{Job, cycle};

/// By arc (a position in [`View::neighbours`]): the triangles and the 4-cycles, edge-induced, that
/// its edge is in.
pub(in super::super) struct EdgeCounts {
    triangles: Vec<u64>,
    /// Empty where they weren't asked for.
    cycles: Vec<u64>,
}

impl EdgeCounts {
    /// Counts; `None` once the run is asked to stop.
    pub fn new(graph: View<'_>, job: Job<'_>) -> Option<Self> {
        let counts =
            EdgeCounts { cycles: cycles(graph, job)?, ..Self::with_triangles(graph, job)? };
        counts.of_both_arcs(graph, job.context)
    }

    /// Counts triangles alone; `None` once the run is asked to stop.
    pub fn of_triangles(graph: View<'_>, job: Job<'_>) -> Option<Self> {
        Self::with_triangles(graph, job)?.of_both_arcs(graph, job.context)
    }

    fn with_triangles(graph: View<'_>, job: Job<'_>) -> Option<Self> {
        Some(EdgeCounts { triangles: triangles(graph, job)?, cycles: vec![] })
    }

    /// The two arcs of an edge have what each has seen: in both of them, the sum.
    fn of_both_arcs(self, graph: View<'_>, context: &Context) -> Option<Self> {
        let both = |counts: Vec<u64>| match counts.is_empty() {
            true => Some(counts),
            false => both_ways(&counts, graph, context),
        };
        Some(EdgeCounts { triangles: both(self.triangles)?, cycles: both(self.cycles)? })
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

    /// Triangles of the graph.
    pub fn all_triangles(&self) -> u128 {
        self.triangles.iter().map(|&t| u128::from(t)).sum::<u128>() / 6
    }
}

/// By arc its number and that of the arc back, together; `None` once the run is asked to stop.
fn both_ways(counts: &[u64], graph: View<'_>, context: &Context) -> Option<Vec<u64>> {
    let mut sums = in_large_pages(bytemuck::zeroed_vec::<u64>(counts.len()));
    // Neighbouring rows of about as many arcs in all for each thread.
    let (mut parts, mut rest, mut from) = (vec![], &mut sums[..], 0);
    for part in 1..=context.threads() as u64 {
        let arcs = counts.len() as u64 * part / context.threads() as u64;
        let end = match arcs == counts.len() as u64 {
            true => graph.vertices(),
            false => first_row_from(graph, arcs as usize),
        };
        let own = (from..end).map(|v| graph.degree(v as VertexId)).sum::<usize>();
        let (part, others) = rest.split_at_mut(own);
        parts.push(Mutex::new((from as VertexId..end as VertexId, part)));
        (rest, from) = (others, end);
    }
    let with_cursors = fits(graph.vertices(), size_of::<usize>());
    let done = on_threads(parts.len(), |part| {
        let (rows, sums) = &mut *parts[part].lock().unwrap_or_else(PoisonError::into_inner);
        let mut looks = Looks::new(&context.cancel);
        let mut sums = sums.iter_mut();
        let mut add = |arc: usize, back: usize| {
            *sums.next().expect("there is one for each arc") = counts[arc] + counts[back];
        };
        if !with_cursors {
            for v in rows.clone() {
                looks.check(1 + graph.degree(v))?;
                graph.row(v).for_each(|arc| add(arc, arc_to(graph, graph.neighbours[arc], v)));
            }
            return Ok(());
        }
        // Sources in ascending order meet every row in ascending order.
        let mut cursor: Vec<usize> = (0..graph.vertices() as VertexId)
            .map(|u| match rows.start.checked_sub(1) {
                None => graph.row(u).start,
                Some(before) => first_after(graph, u, before),
            })
            .collect();
        for v in rows.clone() {
            looks.check(1 + graph.degree(v))?;
            for arc in graph.row(v) {
                let back = &mut cursor[graph.neighbours[arc] as usize];
                add(arc, *back);
                *back += 1;
            }
        }
        Ok(())
    });
    drop(parts);
    done.into_iter().collect::<Result<()>>().ok()?;
    Some(sums)
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

/// Position of the first neighbour of `v` that isn't before `root`, as an arc.
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
    let ran = by_form!(graph.vertices(), arcs::BYTES, F => arcs::triangles::<F, _>(
        graph,
        job,
        || (),
        |(), _, arcs| {
            arcs.into_iter().for_each(|arc| found.add(arc, 1));
        },
    ));
    ran.table(found.finish())
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
            assert_eq!(both_ways(&counts, graph, &context).as_ref(), Some(&expected), "{threads}");
        }
    }
}
