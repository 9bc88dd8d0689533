//! Roots of a search plan, cut where they are heavy, and the in-streams of several clusters.

use gramer_engine::Units;
use gramer_graph::{VertexId, View};
use gramer_machine::Accelerator;
use gramer_machine::set::{LAST_ALL, LINE_QUARTERS, size_quarters};

use super::image::PlanImage;
use super::words::Program;
use crate::set::numbers::PLAN;
use crate::set::units::{BEAT, InStream, PlacedUnit, deal_by_share, set};

/// A unit that can be cut has at most this fraction (1/16) of a walker's work.
const PARTS: u64 = 16;

/// The units of these roots, as far as they have the label and enough neighbours, for this many walkers. A root belongs to the part of
/// its list that has the last position.
pub fn units(
    view: View<'_>,
    roots: Units<'_>,
    image: &PlanImage,
    program: &Program,
    walkers: u32,
) -> Vec<PlacedUnit> {
    units_of(view, (roots, &|_| true), image, program, walkers)
}

/// The same, of those roots alone that may be one.
pub fn units_of(
    view: View<'_>,
    (roots, may): (Units<'_>, &dyn Fn(VertexId) -> bool),
    image: &PlanImage,
    program: &Program,
    walkers: u32,
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
        all.push(PlacedUnit {
            address,
            quarters,
            plan: 0,
            first: 0,
            last: LAST_ALL,
            work,
            asked: 0,
        });
    }
    if program.levels < 2 {
        return all; // there are no candidates to cut
    }
    let whole = all.iter().fold(0u64, |sum, unit| sum.saturating_add(unit.work));
    let most = whole / (u64::from(walkers) * PARTS) + 1;
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

/// Bytes of a plan in the header.
const EACH: usize = 4;

/// Number of walkers of all PUs of this many clusters.
pub fn walkers(machine: &Accelerator, clusters: usize) -> u32 {
    let each = machine.set.as_ref().map_or(1, |set| set.plan_walkers);
    machine.machine.processing_units * clusters as u32 * each
}

/// In how many parts a header cuts a PU's memory for sets, one for each walker that goes. This is the `k` of plan 1, as a
/// power of two.
pub fn parts(machine: &Accelerator, head: &[u8]) -> u32 {
    let most = machine.set.as_ref().map_or(1, |set| set.plan_walkers);
    let k = machine.streams.input.field("plan", "k").map_or(0, |k| k.get(&head[EACH..2 * EACH]));
    most.min(1 << k.min(u64::from(most.ilog2())))
}

/// Whether a header is one of a search plan.
pub(crate) fn is_plan(machine: &Accelerator, head: &[u8]) -> bool {
    let operation = machine.streams.input.field("plan", "operation");
    operation.is_some_and(|operation| operation.get(&head[..EACH]) == PLAN)
}

/// Lets half as many walkers go, each of which has twice the room for its sets; `false` if there is one.
pub fn fewer_walkers(machine: &Accelerator, head: &mut [u8]) -> bool {
    let parts = parts(machine, head);
    if parts > 1 {
        set(machine, "plan", "k", &mut head[EACH..2 * EACH], u64::from(parts.ilog2()) - 1);
    }
    parts > 1
}

/// Deals units to the in-streams of `clusters`, the heaviest first. The number of walkers is the largest that leaves
/// each room for the longest list.
pub fn deal(
    machine: &Accelerator,
    (program, image): (&Program, &PlanImage),
    units: Vec<PlacedUnit>,
    clusters: usize,
) -> Vec<InStream> {
    let words = program.beats(machine, |label| image.range(label));
    let mut head = vec![0; BEAT];
    set(machine, "plan", "operation", &mut head, PLAN);
    set(machine, "plan", "k", &mut head, (words.len() / BEAT) as u64);
    if let Some(sizes) = &machine.set {
        let room = (sizes.plan_lines() / image.longest()).clamp(1, sizes.plan_walkers);
        set(machine, "plan", "k", &mut head[EACH..2 * EACH], room.ilog2().into());
    }
    head.extend(words);
    deal_by_share(machine, &head, units, clusters)
}

#[cfg(test)]
mod tests {
    use gramer_base::context::Context;
    use gramer_graph::Builder;
    use gramer_graph::prepare::renumber;
    use gramer_machine::named::named;
    use gramer_pattern::Pattern;
    use gramer_pattern::task::Induced;

    use super::super::image::Order;
    use super::*;

    /// As many walkers go as have room for the longest list, and half as many each time that this is too little.
    #[test]
    fn walkers_have_room_for_the_longest_list() {
        let machine = named("set-plans").unwrap().unwrap();
        let program = Program::counting(&Pattern::clique(4), Induced::Edge, 7).unwrap();
        for (neighbours, wanted) in
            [(3, 8), (64 * 16, 8), (64 * 16 + 1, 4), (4_000, 2), (20_000, 1)]
        {
            let mut builder = Builder::new();
            (1..=neighbours).for_each(|v| builder.edge(0, v));
            let graph = renumber(&builder.build(), &Context::with_threads(1)).unwrap();
            let image = PlanImage::new(graph.view(), Order::View).unwrap();
            let mut head = deal(&machine, (&program, &image), vec![], 1)[0].head.clone();
            assert_eq!(parts(&machine, &head), wanted, "{neighbours} neighbours");
            for fewer in [4, 2, 1].into_iter().filter(|&fewer| fewer < wanted) {
                assert!(fewer_walkers(&machine, &mut head));
                assert_eq!(parts(&machine, &head), fewer);
            }
            assert!(!fewer_walkers(&machine, &mut head));
        }
    }
}
