//! Roots of a search plan, cut where they are heavy, and the in-streams of several clusters.

use gramer_engine::Units;
use gramer_graph::{VertexId, View};
use gramer_machine::Accelerator;
use gramer_machine::set::{LAST_ALL, LINE_QUARTERS, size_quarters};

use super::image::PlanImage;
use super::words::Program;
use crate::set::reference::PLAN;
use crate::set::units::{BEAT, InStream, PlacedUnit, beats, dealt, set};

/// A unit is at most such a part of what a PU has to do, if it can be cut.
const PARTS: u64 = 16;
/// Units that together are at most such a part of that may wait behind each other in a PU.
const LIGHT_PARTS: u64 = 1024;

/// The units of these roots, as far as they have the label and enough neighbours, for so many PUs. A root belongs to the part of
/// its list that has the last position.
pub fn units(
    view: View<'_>,
    roots: Units<'_>,
    image: &PlanImage,
    program: &Program,
    pus: u32,
) -> Vec<PlacedUnit> {
    units_of(view, (roots, &|_| true), image, program, pus)
}

/// The same, of those roots alone that may be one.
pub fn units_of(
    view: View<'_>,
    (roots, may): (Units<'_>, &dyn Fn(VertexId) -> bool),
    image: &PlanImage,
    program: &Program,
    pus: u32,
) -> Vec<PlacedUnit> {
    let mut all = vec![];
    for unit in roots.iter(view) {
        let (v, row) = (unit.start, view.neighbours(unit.start));
        let label = || view.vertex_labels.map(|labels| labels[v as usize]);
        if program.root.is_some_and(|root| label() != Some(root)) || !may(v) {
            continue;
        }
        if (unit.limit as usize) < row.len() {
            continue;
        }
        let Some((address, quarters)) = image.list(v).filter(|_| row.len() >= program.least) else {
            continue;
        };
        // The lists of the neighbours, as often as deeper levels may come to them.
        let near: u64 = row.iter().map(|&u| view.degree(u) as u64).sum();
        let deep = (row.len() as u64).pow(program.levels.saturating_sub(2).min(3));
        let work = near.saturating_mul(deep) + 1;
        all.push(PlacedUnit { address, quarters, plan: 0, first: 0, last: LAST_ALL, work });
    }
    if program.levels < 2 {
        return all; // there are no candidates to cut
    }
    let whole = all.iter().fold(0u64, |sum, unit| sum.saturating_add(unit.work));
    let most = whole / (u64::from(pus) * PARTS) + 1;
    let mut cut = Vec::with_capacity(all.len());
    for unit in all {
        let lines = size_quarters(unit.quarters).div_ceil(LINE_QUARTERS);
        let parts = unit.work.div_ceil(most).min(u64::from(lines)) as u32;
        let work = unit.work / u64::from(parts.max(1));
        for part in 0..parts {
            let first = lines * part / parts;
            let last = if part + 1 == parts { LAST_ALL } else { lines * (part + 1) / parts };
            cut.push(PlacedUnit { first, last, work, ..unit });
        }
    }
    cut
}

/// Deals units to the in-streams of `clusters`, the heaviest first.
pub fn deal(
    machine: &Accelerator,
    (program, image): (&Program, &PlanImage),
    units: Vec<PlacedUnit>,
    clusters: usize,
) -> Vec<InStream> {
    let whole = units.iter().fold(0u64, |sum, unit| sum.saturating_add(unit.work));
    let pus = u64::from(machine.machine.processing_units) * clusters as u64;
    let light = whole / (pus * LIGHT_PARTS);
    let words = program.beats(machine, |label| image.range(label));
    let mut head = vec![0; BEAT];
    set(machine, "plan", "operation", &mut head, PLAN);
    set(machine, "plan", "k", &mut head, (words.len() / BEAT) as u64);
    head.extend(words);
    let streams = dealt(units, clusters).into_iter().map(|units| InStream {
        head: head.clone(),
        units: beats(machine, &units, light),
        wait: true,
    });
    streams.collect()
}
