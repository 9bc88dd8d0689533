//! The first fill of the caches.

use gramer_accelerator::stream::UNITS_A_BEAT;
use gramer_engine::WorkUnit;
use gramer_engine::reference::Comparison;
use gramer_graph::{VertexId, View};
use gramer_machine::{ENTRIES_A_LINE, RECORDS_A_LINE};

/// Edge entries in a line.
const A_LINE: usize = ENTRIES_A_LINE as usize;

/// Slices of one entry that read the first edge lines and the records beside them once each, the best last, and do as
/// little else as they can: of each line an entry that isn't a candidate, else the one with the fewest entries beyond it,
/// until those have `most` work.
pub(super) fn sweep(
    view: View<'_>,
    [vertex_lines, edge_lines]: [u64; 2],
    comparison: Comparison,
    most: u64,
) -> Vec<WorkUnit> {
    // Of each record of a line one list; most lists begin in their own line.
    let lines = edge_lines.max(u64::from(RECORDS_A_LINE) * vertex_lines) as usize;
    let (mut units, mut line, mut beyond) = (vec![], 0, 0);
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
                if beyond > most {
                    line = lines;
                }
            }
            units.push(WorkUnit { start: v, first: at as u32, limit: at as u32 + 1 });
        }
    }
    units.truncate(units.len() / UNITS_A_BEAT * UNITS_A_BEAT);
    units.reverse();
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_base::context::Context;
    use gramer_graph::generate::{Model, Recipe, generate};

    #[test]
    fn a_sweep_reads_each_line_once() {
        let model = Model::ErdosRenyiEdges { vertices: 60, edges: 400 };
        let recipe = Recipe { model, seed: 3, vertex_labels: None, edge_labels: None };
        let graph = generate(&recipe, &Context::default()).unwrap();
        let view = graph.view();
        let line = |unit: &WorkUnit| (view.row(unit.start).start + unit.first as usize) / A_LINE;
        for comparison in [Comparison::Descending, Comparison::Ascending] {
            let units = |room, most| sweep(view, room, comparison, most);
            let lines = |room| units(room, u64::MAX).iter().map(line).collect::<Vec<_>>();
            assert_eq!(lines([1, 8]), (0..8).rev().collect::<Vec<_>>());
            assert_eq!(lines([100, 8]), (0..48).rev().collect::<Vec<_>>(), "all whole beats of 50");
            assert!(units([100, 8], 1).len() < 48, "it ends with its work");
        }
    }
}
