//! How many triangles and 4-cycles each edge is in.

use std::ops::ControlFlow;

use gramer_graph::context::{Context, Looks};
use gramer_graph::{VertexId, View};

use super::super::arcs::{self, Sums};
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

    fn of_both_arcs(self, graph: View<'_>, context: &Context) -> Option<Self> {
        let EdgeCounts { mut triangles, mut cycles } = self;
        // The two arcs of an edge have what each has seen: in both of them, the sum. Sources in
        // ascending order meet every row in ascending order.
        let mut looks = Looks::new(&context.cancel);
        let mut cursor: Vec<usize> =
            (0..graph.vertices() as VertexId).map(|v| graph.row(v).start).collect();
        for v in 0..graph.vertices() as VertexId {
            looks.check(1 + graph.degree(v)).ok()?;
            for arc in graph.row(v) {
                let u = graph.neighbours[arc];
                let back = cursor[u as usize];
                cursor[u as usize] += 1;
                if u < v {
                    for counts in [&mut triangles, &mut cycles] {
                        if counts.is_empty() {
                            continue;
                        }
                        let both = counts[arc] + counts[back];
                        (counts[arc], counts[back]) = (both, both);
                    }
                }
            }
        }
        Some(EdgeCounts { triangles, cycles })
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

/// Position of the first neighbour of `v` that isn't before `root`, as an arc.
#[inline]
fn first_after(graph: View<'_>, v: VertexId, root: VertexId) -> usize {
    graph.row(v).start + graph.neighbours(v).partition_point(|&u| u <= root)
}

/// Triangles by arc that leads to a smaller vertex.
fn triangles(graph: View<'_>, job: Job<'_>) -> Option<Vec<u64>> {
    let found = Sums::new(graph.neighbours.len(), job.context);
    let ran = arcs::triangles(
        graph,
        job,
        || (),
        |(), _, arcs| {
            arcs.into_iter().for_each(|arc| found.add(arc, 1));
        },
    );
    ran.table(found.finish())
}

/// 4-cycles by arc: each is met from its smallest vertex, the root, as two paths of two edges to
/// the same end. A root with much work is divided by its ends.
fn cycles(graph: View<'_>, job: Job<'_>) -> Option<Vec<u64>> {
    let context = job.context;
    let found = Sums::new(graph.neighbours.len(), context);
    let vertices = graph.vertices();
    let units = cycle::ends(graph, job);
    let ran = job.run(
        &units,
        || (vec![0u32; vertices], vec![]),
        |(paths, ends): &mut (Vec<u32>, Vec<VertexId>), unit| {
            let root = unit.start;
            let range = cycle::ends_of(unit);
            // The arcs from b to its neighbours among the ends.
            let arcs = |b: VertexId| {
                let row = graph.neighbours(b);
                let base = graph.row(b).start;
                let part = cycle::within(row, &range);
                base + part.start..base + part.end
            };
            let first = first_after(graph, root, root)..graph.row(root).end;
            for &b in &graph.neighbours[first.clone()] {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                for &c in &graph.neighbours[arcs(b)] {
                    if paths[c as usize] == 0 {
                        ends.push(c);
                    }
                    paths[c as usize] += 1;
                }
            }
            for at in first {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                let mut here = 0;
                for arc in arcs(graph.neighbours[at]) {
                    let others = u64::from(paths[graph.neighbours[arc] as usize] - 1);
                    if others > 0 {
                        here += others;
                        found.add(arc, others);
                    }
                }
                found.add(at, here);
            }
            for &c in ends.iter() {
                paths[c as usize] = 0;
            }
            ends.clear();
            ControlFlow::Continue(())
        },
    );
    ran.table(found.finish())
}
