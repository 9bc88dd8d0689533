//! Roots of 5-motifs, and the in-streams of several clusters.
//!
//! A root is the middle vertex of its sets, which are roughly the pairs of its neighbours. A root with many is cut into
//! ranges of the first neighbour, by the quarter-lines of its list.

use gramer_graph::{VertexId, View};
use gramer_machine::Accelerator;
use gramer_machine::set::{LAST_ALL, LINE_QUARTERS, size_quarters};

use crate::set::numbers::MOTIFS5;
use crate::set::units::{BEAT, InStream, PlacedUnit, deal_by_share, set};
use crate::set::wedges::image::{Block, WedgeImage};
use crate::set::wedges::units::lines;

/// Cycles of a unit, and of a neighbour whose list is tagged, in addition to those of lines.
const UNIT_CYCLES: u64 = 60;
const NEAR_CYCLES: u64 = 4;
/// Cycles of the map for a line, about, and of the products of a set.
const LINE_CYCLES: u64 = 3;
const SET_CYCLES: u64 = 4;
/// Parts of a PU's work, so that heavy roots don't end long after the others, and the least work of a part.
const PARTS: u64 = 24;
const PART_CYCLES: u64 = 500;

/// Neighbours of a root whose entries lie in a quarter-line of its list, and about the cycles of the sets that they are first in.
struct Quarter {
    at: u32,
    work: u64,
}

/// The quarter-lines of a root's list that have an entry, by their place from the beginning of the list's first line on.
fn quarters(view: View<'_>, image: &WedgeImage, v: VertexId) -> Vec<Quarter> {
    let Some(Block { id, up, .. }) = image.block(v) else { return vec![] };
    let row = view.neighbours(v);
    let before = row.partition_point(|&u| u < v);
    let lists = row.iter().filter_map(|&u| image.block(u));
    let lists: Vec<u64> = lists.map(|block| lines(block.id, block.all)).collect();
    let mut later: u64 = lists.iter().map(|own| SET_CYCLES.max(LINE_CYCLES * own)).sum();
    let mut found: Vec<Quarter> = vec![];
    for (i, own) in lists.iter().enumerate() {
        let place = match i < before {
            true => i as u32 / 4,
            false => size_quarters(up) + (i - before) as u32 / 4,
        };
        let at = id % LINE_QUARTERS + place;
        later -= SET_CYCLES.max(LINE_CYCLES * own);
        let work = LINE_CYCLES * own + NEAR_CYCLES + later;
        match found.last_mut() {
            Some(last) if last.at == at => last.work += work,
            _ => found.push(Quarter { at, work }),
        }
    }
    found
}

/// The units of all roots.
pub fn units(
    machine: &Accelerator,
    view: View<'_>,
    image: &WedgeImage,
    clusters: usize,
) -> Vec<PlacedUnit> {
    let roots = || (0..view.vertices() as VertexId).filter(|&v| view.degree(v) > 1);
    let work = |v| quarters(view, image, v).iter().map(|quarter| quarter.work).sum::<u64>();
    let whole: u64 = roots().map(work).sum();
    let pus = u64::from(machine.machine.processing_units) * clusters as u64;
    let most = (whole / (pus * PARTS)).max(PART_CYCLES);
    let mut all = vec![];
    for v in roots() {
        let Some(Block { id, all: size, .. }) = image.block(v) else { continue };
        let unit = |first, last, work: u64| {
            let work = work + UNIT_CYCLES;
            PlacedUnit { address: id, quarters: size, plan: 0, first, last, work, asked: 0 }
        };
        let (mut first, mut work) = (0, 0);
        for quarter in quarters(view, image, v) {
            // A part can't begin at the number that says: to the end.
            if work > 0 && work + quarter.work > most && quarter.at < LAST_ALL {
                all.push(unit(first, quarter.at, work));
                (first, work) = (quarter.at, 0);
            }
            work += quarter.work;
        }
        all.push(unit(first, LAST_ALL, work));
    }
    all
}

/// Deals units to the in-streams of `clusters`, the heaviest first.
pub fn deal(machine: &Accelerator, units: Vec<PlacedUnit>, clusters: usize) -> Vec<InStream> {
    let mut head = vec![0; BEAT];
    set(machine, "plan", "operation", &mut head, MOTIFS5);
    deal_by_share(machine, &head, units, clusters)
}
