//! Makes tables.

use std::ops::ControlFlow;

use gramer_graph::View;
use gramer_graph::context::Context;

use super::Failed;
use crate::cpu::arcs::{self, Sums};
use crate::cpu::reach::Dense;
use crate::cpu::{Job, Starts, run_units};

/// The value at a place; a table that isn't there is 1 everywhere.
#[inline]
fn at(table: Option<&Vec<u64>>, place: usize) -> u64 {
    table.map_or(1, |values| values[place])
}

fn finish(sums: Sums, complete: bool) -> Result<Vec<u64>, Failed> {
    if complete { sums.finish().ok_or(Failed::Overflow) } else { Err(Failed::Stopped) }
}

/// [`gramer_pattern::plan::homomorphism::Table::Leaf`].
pub(super) fn leaf(
    graph: View<'_>,
    vertex: Option<&Vec<u64>>,
    edge: Option<&Vec<u64>>,
    context: &Context,
) -> Result<Vec<u64>, Failed> {
    let sums = Sums::new(graph.vertices(), context);
    let units =
        Starts::vertices(graph).units(Job::whole(context), |_| 1, |v| 1 + graph.degree(v) as u64);
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

/// [`gramer_pattern::plan::homomorphism::Table::Ear`].
pub(super) fn ear(
    graph: View<'_>,
    turned: &[u32],
    [vertex, first, second]: [Option<&Vec<u64>>; 3],
    job: Job<'_>,
) -> Result<Vec<u64>, Failed> {
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
        if job.context.cancel.is_cancelled() { Failed::Stopped } else { Failed::Overflow }
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
