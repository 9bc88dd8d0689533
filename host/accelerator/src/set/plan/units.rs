//! Roots of a search plan, cut where they are heavy, and the in-streams of several clusters.

use std::cmp::Reverse;

use gramer_engine::Units;
use gramer_graph::View;
use gramer_machine::set::{LAST_ALL, LINE_QUARTERS, UNITS_A_BEAT, UNITS_A_GROUP, size_quarters};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};

use super::image::PlanImage;
use super::words::Program;
use crate::set::reference::PLAN;
use crate::set::units::InStream;

/// Bytes of a beat.
const BEAT: usize = ENTRIES_A_LINE as usize * 4;
/// A unit is at most such a part of what a PU has to do, if it can be cut.
const PARTS: u64 = 16;
/// Units that together are at most such a part of that may wait behind each other in a PU.
const LIGHT_PARTS: u64 = 1024;

/// A root, or a range of its first candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RootUnit {
    /// Id of the root.
    pub address: u32,
    /// The size of its list.
    pub size: u32,
    /// Lines of the first set that is gone along.
    pub first: u32,
    /// The line after the last, or [`LAST_ALL`].
    pub last: u32,
    /// Work that it is about.
    pub work: u64,
}

/// The units of these roots, as far as they have enough neighbours, for so many PUs. A root belongs to the part of
/// its list that has the last position.
pub fn units(
    view: View<'_>,
    roots: Units<'_>,
    image: &PlanImage,
    program: &Program,
    pus: u32,
) -> Vec<RootUnit> {
    let mut all = vec![];
    for unit in roots.iter(view) {
        let (v, row) = (unit.start, view.neighbours(unit.start));
        if (unit.limit as usize) < row.len() {
            continue;
        }
        let Some((address, size)) = image.list(v).filter(|_| row.len() >= program.least) else {
            continue;
        };
        // The lists of the neighbours, as often as deeper levels may come to them.
        let near: u64 = row.iter().map(|&u| view.degree(u) as u64).sum();
        let deep = (row.len() as u64).pow(program.levels.saturating_sub(2).min(3));
        let work = near.saturating_mul(deep) + 1;
        all.push(RootUnit { address, size, first: 0, last: LAST_ALL, work });
    }
    if program.levels < 2 {
        return all; // there are no candidates to cut
    }
    let whole = all.iter().fold(0u64, |sum, unit| sum.saturating_add(unit.work));
    let most = whole / (u64::from(pus) * PARTS) + 1;
    let mut cut = Vec::with_capacity(all.len());
    for unit in all {
        let lines = size_quarters(unit.size).div_ceil(LINE_QUARTERS);
        let parts = unit.work.div_ceil(most).min(u64::from(lines)) as u32;
        let work = unit.work / u64::from(parts.max(1));
        for part in 0..parts {
            let first = lines * part / parts;
            let last = if part + 1 == parts { LAST_ALL } else { lines * (part + 1) / parts };
            cut.push(RootUnit { first, last, work, ..unit });
        }
    }
    cut
}

/// Deals units to the in-streams of `clusters`, the heaviest first.
pub fn deal(
    machine: &Accelerator,
    program: &Program,
    mut units: Vec<RootUnit>,
    clusters: usize,
) -> Vec<InStream> {
    let whole = units.iter().fold(0u64, |sum, unit| sum.saturating_add(unit.work));
    let pus = u64::from(machine.machine.processing_units) * clusters as u64;
    let light = whole / (pus * LIGHT_PARTS);
    units.sort_by_key(|u| (Reverse(u.work), u.address, u.first));
    let mut own: Vec<Vec<RootUnit>> = vec![vec![]; clusters];
    // There and back, so that no cluster always has the heavier one.
    for (at, unit) in units.into_iter().enumerate() {
        let place = at % (2 * clusters);
        own[place.min(2 * clusters - 1 - place)].push(unit);
    }
    let words = program.beats(machine);
    let mut head = vec![0; BEAT];
    set(machine, "plan", "operation", &mut head, PLAN);
    set(machine, "plan", "k", &mut head, (words.len() / BEAT) as u64);
    head.extend(words);
    let streams = own.into_iter().map(|units| InStream {
        head: head.clone(),
        units: beats(machine, &units, light),
        wait: true,
    });
    streams.collect()
}

/// Beats of units: a half has any unit first and light ones behind it.
fn beats(machine: &Accelerator, units: &[RootUnit], light: u64) -> Vec<u8> {
    let group = UNITS_A_GROUP as usize;
    let mut bytes = vec![];
    let mut rest = units;
    while !rest.is_empty() {
        let behind = rest[1..].iter().take(group - 1).take_while(|u| u.work <= light).count();
        let (own, others) = rest.split_at(1 + behind);
        rest = others;
        let mut half = vec![0; group * 8];
        for (place, unit) in half.chunks_exact_mut(8).zip(own) {
            for (field, value) in [
                ("address", unit.address),
                ("quarters", unit.size),
                ("first", unit.first),
                ("last", unit.last),
            ] {
                set(machine, "unit", field, place, value.into());
            }
        }
        bytes.extend(half);
    }
    // The last beat is whole, and there is one.
    bytes.resize(bytes.len().next_multiple_of(UNITS_A_BEAT as usize * 8).max(BEAT), 0);
    bytes
}

fn set(machine: &Accelerator, part: &str, field: &str, bytes: &mut [u8], value: u64) {
    let field = machine.streams.input.field(part, field).expect("a description is checked");
    field.set(bytes, value);
}
