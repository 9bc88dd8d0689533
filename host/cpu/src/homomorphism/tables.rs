//! Makes tables.

use std::ops::{ControlFlow, Range};

use ethnum::U256;
use gramer_base::context::Context;
use gramer_graph::{VertexId, View};

use super::{CountFailure, Value};
use crate::arcs::{self, Sums};
use crate::number::Number;
use crate::reach::Dense;
use crate::{Job, StartVertices, run_units, sets};

/// Element type of tables.
pub(super) trait TableValue: Value {
    /// [`gramer_pattern::plan::homomorphism::Table::Leaf`].
    fn leaf(
        graph: View<'_>,
        vertex: Option<&Vec<Self>>,
        edge: Option<&Vec<Self>>,
        context: &Context,
    ) -> Result<Vec<Self>, CountFailure>;

    /// [`gramer_pattern::plan::homomorphism::Table::Ear`].
    fn ear(
        graph: View<'_>,
        turned: &[u32],
        of: [Option<&Vec<Self>>; 3],
        job: Job<'_>,
    ) -> Result<Vec<Self>, CountFailure>;
}

impl TableValue for u64 {
    fn leaf(
        graph: View<'_>,
        vertex: Option<&Vec<u64>>,
        edge: Option<&Vec<u64>>,
        context: &Context,
    ) -> Result<Vec<u64>, CountFailure> {
        narrow_leaf(graph, vertex, edge, context)
    }

    fn ear(
        graph: View<'_>,
        turned: &[u32],
        of: [Option<&Vec<u64>>; 3],
        job: Job<'_>,
    ) -> Result<Vec<u64>, CountFailure> {
        narrow_ear(graph, turned, of, job)
    }
}

impl TableValue for U256 {
    fn leaf(
        graph: View<'_>,
        vertex: Option<&Vec<U256>>,
        edge: Option<&Vec<U256>>,
        context: &Context,
    ) -> Result<Vec<U256>, CountFailure> {
        let places = (graph.vertices(), |v: VertexId| v as usize, |_| 1);
        by_vertex(graph, context, places, |v, _, out| {
            out.push(graph.row(v).fold(U256::ZERO, |sum, arc| {
                sum + at(vertex, graph.neighbours[arc] as usize) * at(edge, arc)
            }));
        })
    }

    /// Arc by arc: no two threads add to one value, for which processors have no instruction. Each process makes
    /// the whole table.
    fn ear(
        graph: View<'_>,
        _turned: &[u32],
        [vertex, first, second]: [Option<&Vec<U256>>; 3],
        job: Job<'_>,
    ) -> Result<Vec<U256>, CountFailure> {
        let start = |x: VertexId| graph.row(x).start;
        let places = (graph.neighbours.len(), start, |x: VertexId| graph.degree(x));
        by_vertex(graph, job.context, places, |x, part, out| {
            let from_x = graph.row(x);
            for at_y in part {
                let from_y = graph.row(graph.neighbours[from_x.start + at_y]);
                let mut sum = U256::ZERO;
                common(graph, from_x.clone(), from_y, |z, xz, yz| {
                    sum += at(vertex, z as usize) * at(first, xz) * at(second, yz);
                });
                out.push(sum);
            }
        })
    }
}

/// Calls `each` with the vertices that two rows have in common, and the arcs to them.
fn common(
    graph: View<'_>,
    mut a: Range<usize>,
    mut b: Range<usize>,
    mut each: impl FnMut(VertexId, usize, usize),
) {
    while let Some(&z) = graph.neighbours[a.clone()].first() {
        b.start += sets::gallop(&graph.neighbours[b.clone()], z);
        let Some(&next) = graph.neighbours[b.clone()].first() else { break };
        if next == z {
            each(z, a.start, b.start);
            a.start += 1;
        } else {
            a.start += sets::gallop(&graph.neighbours[a.clone()], next);
        }
    }
}

/// Makes a table of `len` values: for each vertex as many as `list` is long, from the place `start` on. `make` adds
/// those of some positions.
fn by_vertex(
    graph: View<'_>,
    context: &Context,
    (len, start, list): (
        usize,
        impl Fn(VertexId) -> usize + Sync,
        impl Fn(VertexId) -> usize + Sync,
    ),
    make: impl Fn(VertexId, Range<usize>, &mut Vec<U256>) + Sync,
) -> Result<Vec<U256>, CountFailure> {
    let weight = |v: VertexId| 1 + graph.degree(v) as u64;
    let units = StartVertices::vertices(graph).units(Job::whole(context), list, weight);
    // By thread: its values, and in their order the places where runs of them begin, and where they end here.
    let none = || (vec![], vec![]);
    let (states, complete) = run_units(&units, context, none, |(values, runs), unit| {
        if context.cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        let part = unit.range();
        let place = start(unit.start) + part.start;
        make(unit.start, part, values);
        runs.push((place, values.len()));
        ControlFlow::Continue(())
    });
    if !complete {
        return Err(CountFailure::Stopped);
    }
    let mut all = vec![U256::ZERO; len];
    for (values, runs) in states {
        let mut from = 0;
        for (place, end) in runs {
            all[place..place + (end - from)].copy_from_slice(&values[from..end]);
            from = end;
        }
    }
    Ok(all)
}

/// The value at a place; a table that isn't there is 1 everywhere.
#[inline]
fn at<V: Number>(table: Option<&Vec<V>>, place: usize) -> V {
    table.map_or(V::ONE, |values| values[place])
}

/// The products of two tables' values; `None` if one overflows.
pub(super) fn product<V: Number>(a: &[V], b: &[V]) -> Option<Vec<V>> {
    let product = |(x, y): (&V, &V)| match x.overflowing_mul(*y) {
        (product, false) => Some(product),
        (_, true) => None,
    };
    a.iter().zip(b).map(product).collect()
}

fn finish(sums: Sums, complete: bool) -> Result<Vec<u64>, CountFailure> {
    if complete { sums.finish().ok_or(CountFailure::Overflow) } else { Err(CountFailure::Stopped) }
}

/// [`TableValue::leaf`] with 64 bits.
fn narrow_leaf(
    graph: View<'_>,
    vertex: Option<&Vec<u64>>,
    edge: Option<&Vec<u64>>,
    context: &Context,
) -> Result<Vec<u64>, CountFailure> {
    let sums = Sums::new(graph.vertices(), context);
    let units = StartVertices::vertices(graph).units(
        Job::whole(context),
        |_| 1,
        |v| 1 + graph.degree(v) as u64,
    );
    let (_, complete) = run_units(
        &units,
        context,
        || (),
        |(), unit| {
            let v = unit.start;
            if vertex.is_none() && edge.is_none() {
                sums.add(v as usize, graph.degree(v) as u64);
                return ControlFlow::Continue(());
            }
            let sum = graph.row(v).try_fold(0u64, |sum, arc| {
                let other = graph.neighbours[arc] as usize;
                sum.checked_add(at(vertex, other).checked_mul(at(edge, arc))?)
            });
            match sum {
                Some(sum) => sums.add(v as usize, sum),
                None => sums.overflowed(),
            }
            ControlFlow::Continue(())
        },
    );
    finish(sums, complete)
}

/// [`TableValue::ear`] with 64 bits, a look at each triangle.
fn narrow_ear(
    graph: View<'_>,
    turned: &[u32],
    [vertex, first, second]: [Option<&Vec<u64>>; 3],
    job: Job<'_>,
) -> Result<Vec<u64>, CountFailure> {
    let sums = Sums::new(graph.neighbours.len(), job.context);
    let even = first.map(Vec::as_ptr) == second.map(Vec::as_ptr);
    let ran = arcs::triangles::<Dense, _>(
        graph,
        job,
        || (),
        |(), [v, u, w], [vu, vw, uw]| {
            let [uv, wv, wu] = [vu, vw, uw].map(|arc| turned[arc] as usize);
            // From x to y, with the third corner z: the arcs x → y, x → z and y → z.
            let visit = |xy: usize, z: u32, xz: usize, yz: usize| {
                let value = at(vertex, z as usize)
                    .checked_mul(at(first, xz))
                    .and_then(|value| value.checked_mul(at(second, yz)));
                match value {
                    Some(value) => sums.add(xy, value),
                    None => sums.overflowed(),
                }
            };
            visit(vu, w, vw, uw);
            visit(vw, u, vu, wu);
            visit(uw, v, uv, wv);
            if !even {
                visit(uv, w, uw, vw);
                visit(wv, u, wu, vu);
                visit(wu, v, wv, uv);
            }
        },
    );
    let mut values = ran.table(sums.finish()).ok_or_else(|| {
        if job.context.cancel.is_cancelled() {
            CountFailure::Stopped
        } else {
            CountFailure::Overflow
        }
    })?;
    if even {
        // The same both ways, and only the arcs to smaller vertices were added to.
        for arc in 0..values.len() {
            if values[arc] == 0 {
                values[arc] = values[turned[arc] as usize];
            }
        }
    }
    Ok(values)
}
