//! The first fill of the caches.

use gramer_accelerator::stream::UNITS_A_BEAT;
use gramer_base::error::Result;
use gramer_engine::WorkUnit;
use gramer_engine::reference::Comparison;
use gramer_graph::{VertexId, View};
use gramer_machine::{ENTRIES_A_LINE, RECORDS_A_LINE};

use super::work::TaskWork;

/// Edge entries in a line.
const A_LINE: usize = ENTRIES_A_LINE as usize;
/// Most work of a sweep for each entry that may lie beyond its own: a few entries of a list may have millions of candidates
/// at deeper levels.
const DEEPER: u64 = 2;

/// Slices of one entry that read the first edge lines and the records beside them once each, the best last, and do as
/// little else as they can: of each line an entry that isn't a candidate, else the one with the fewest entries beyond it,
/// until the entries beyond are `most`, or the work with deeper levels is [`DEEPER`] times as much.
///
/// # Errors
/// [`gramer_base::error::Error::Interrupted`].
pub(super) fn sweep(
    view: View<'_>,
    [vertex_lines, edge_lines]: [u64; 2],
    work: &TaskWork<'_>,
    most: u64,
) -> Result<Vec<WorkUnit>> {
    let comparison = work.comparison();
    // Of each record of a line one list; most lists begin in their own line.
    let lines = edge_lines.max(u64::from(RECORDS_A_LINE) * vertex_lines) as usize;
    let (mut units, mut line, mut beyond, mut done) = (vec![], 0, 0, 0);
    for v in 0..view.vertices() as VertexId {
        let row = view.row(v);
        while line < lines && line * A_LINE < row.end {
            let from = (line * A_LINE).max(row.start) - row.start;
            let to = ((line + 1) * A_LINE).min(row.end) - row.start;
            line += 1;
            let list = &view.neighbours(v)[from..to];
            let at = match list.iter().position(|&u| !comparison.before(v, u)) {
                Some(at) => from + at,
                None if comparison == Comparison::Ascending => to - 1,
                None => from,
            };
            if comparison.before(v, view.neighbours(v)[at]) {
                beyond += match comparison {
                    Comparison::Ascending => row.len() - at,
                    Comparison::Descending => at,
                } as u64;
                done += work.entries(v)?[at];
                if beyond > most || done > most.saturating_mul(DEEPER) {
                    line = lines;
                }
            }
            units.push(WorkUnit { start: v, first: at as u32, limit: at as u32 + 1 });
        }
    }
    units.truncate(units.len() / UNITS_A_BEAT * UNITS_A_BEAT);
    units.reverse();
    Ok(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_base::context::Context;
    use gramer_graph::Graph;
    use gramer_graph::generate::{Model, Recipe, generate};
    use gramer_pattern::task::Task;

    fn graph(vertices: u64, edges: u64) -> Graph {
        let model = Model::ErdosRenyiEdges { vertices, edges };
        let recipe = Recipe { model, seed: 3, vertex_labels: None, edge_labels: None };
        generate(&recipe, &Context::default()).unwrap()
    }

    const ORDERS: [Comparison; 2] = [Comparison::Descending, Comparison::Ascending];

    #[test]
    fn a_sweep_reads_each_line_once() {
        let (graph, context) = (graph(60, 400), Context::default());
        let view = graph.view();
        let line = |unit: &WorkUnit| (view.row(unit.start).start + unit.first as usize) / A_LINE;
        for comparison in ORDERS {
            let work = TaskWork::new(&graph, &Task::Clique { k: 3 }, comparison, &context).unwrap();
            let units = |room, most| sweep(view, room, &work, most).unwrap();
            let lines = |room| units(room, u64::MAX).iter().map(line).collect::<Vec<_>>();
            assert_eq!(lines([1, 8]), (0..8).rev().collect::<Vec<_>>());
            assert_eq!(lines([100, 8]), (0..48).rev().collect::<Vec<_>>(), "all whole beats of 50");
            assert!(units([100, 8], 1).len() < 48, "it ends with its work");
        }
    }

    #[test]
    fn a_sweep_ends_with_the_work_of_deeper_levels() {
        // Nearly all pairs are edges: an entry with few beyond it has many cliques.
        let (graph, context) = (graph(60, 1700), Context::default());
        for (k, comparison) in [3, 4, 5].iter().flat_map(|&k| ORDERS.map(|order| (k, order))) {
            let work = TaskWork::new(&graph, &Task::Clique { k }, comparison, &context).unwrap();
            for most in [100, 1000] {
                let units = sweep(graph.view(), [100, 1000], &work, most).unwrap();
                let own = |u: &WorkUnit| work.entries(u.start).unwrap()[u.first as usize];
                // The best is last, and is what its end allows.
                let done: u64 = units.iter().skip(UNITS_A_BEAT).map(own).sum();
                assert!(done <= DEEPER * most, "{k}: {done} of {most}");
            }
        }
    }
}
