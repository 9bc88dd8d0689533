//! Work units of the set core, their estimated costs, and the in-streams of several clusters.

use std::cmp::Reverse;
use std::ops::Range;

use gramer_engine::{Units, WorkUnit};
use gramer_graph::{VertexId, View};
use gramer_machine::set::{
    LAST_ALL, LINE_QUARTERS, PLANS, QUARTERS_LONG, UNITS_A_BEAT, UNITS_A_GROUP,
};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};

use super::image::{Lists, QUARTER, SetImage, lines_of};
use super::numbers::{CLIQUES, EDGES, PATHS};

mod order;

pub(crate) use order::grouped;
use order::{mixed, spread};

/// Bytes of a beat.
pub(super) const BEAT: usize = ENTRIES_A_LINE as usize * 4;
/// A unit of at most this much work may wait behind another in its half of a beat.
const LIGHT: u64 = 64;
/// The same for plans and wedges: units of at most this fraction (1/1024) of a PU's work.
const LIGHT_PARTS: u64 = 1024;
/// Rows that the level engine takes about in a cycle.
const ROWS_A_CYCLE: u64 = 8;
/// Work of a line in the map, to that in the intersector: about its bank conflicts.
const MAP_LINE: u64 = 3;

/// An operation on every root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Cliques of k vertices.
    Cliques {
        /// Vertices of a clique.
        k: u32,
    },
    /// Triangles of edges. Of a list without limit, each member's with it.
    Edges,
    /// Triangles of edges, what is summed over them, and 4-cycles.
    Paths,
}

impl Operation {
    /// Lists that it reads.
    pub fn lists(self) -> Lists {
        match self {
            Operation::Cliques { .. } | Operation::Edges => Lists::Up,
            Operation::Paths => Lists::Both,
        }
    }

    /// Whether all lists that it reads lie before the root's, so that it may begin when that is there.
    fn ascends(self) -> bool {
        matches!(self, Operation::Cliques { .. })
    }

    fn number(self) -> (u64, u32) {
        match self {
            Operation::Cliques { k } => (CLIQUES, k),
            Operation::Edges => (EDGES, 0),
            Operation::Paths => (PATHS, 0),
        }
    }
}

/// Whether all lists that operations read lie before the root's.
fn ascending(operations: &[Operation]) -> bool {
    operations.iter().all(|o| o.ascends())
}

/// A unit with its place in the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedUnit {
    /// Quarter-line address of its list.
    pub address: u32,
    /// Quarter-lines, or [`QUARTERS_LONG`]; for a search plan, the size code of its image.
    pub quarters: u32,
    /// Which of the operations; 0 of a search plan, beside which there are none.
    pub plan: u32,
    /// First position of its range; of a search plan the first line of the set that is gone along.
    pub first: u32,
    /// End of it, or [`LAST_ALL`].
    pub last: u32,
    /// Cycles that it takes about; of a search plan in proportion to them.
    pub work: u64,
    /// Lines that it asks for, of cliques; else 0.
    pub asked: u64,
}

/// In which order units are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrange {
    /// The image is there: the heaviest first, with those of short lists among them.
    ByWork,
    /// The image is loaded meanwhile: as their lists come, and by work once all have come.
    ByAddress,
}

/// What a run of one cluster is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InStream {
    /// The header, one beat.
    pub head: Vec<u8>,
    /// Beats of units, one at least.
    pub units: Vec<u8>,
    /// Units need the whole image.
    pub wait: bool,
}

impl InStream {
    /// Header and units.
    pub fn whole(&self) -> Vec<u8> {
        [&self.head[..], &self.units].concat()
    }
}

/// The units of these roots. A part of a root's list stands for the same part of the list of neighbours
/// before it; paths, which are not divided, belong to the part with the last position.
pub fn units(
    view: View<'_>,
    image: &SetImage,
    operations: &[Operation],
    roots: Units<'_>,
) -> Vec<PlacedUnit> {
    let mut all = vec![];
    for (plan, &operation) in (0..).zip(operations) {
        for (v, range) in roots_of(view, operation, roots) {
            let (block, row) = (image.block(v), view.neighbours(v));
            let before = row.partition_point(|&u| u < v);
            let whole = matches!(operation, Operation::Paths) || range == (0..before as u32);
            let (first, last) = if whole { (0, LAST_ALL) } else { (range.start, range.end) };
            let quarters = match operation {
                Operation::Paths => block.all.min(QUARTERS_LONG),
                _ => block.up,
            };
            if has_none(image, (block.address, quarters), operation) {
                continue;
            }
            let (work, asked) = work(image, block.address, row, before, operation);
            all.push(PlacedUnit {
                address: block.address,
                quarters,
                plan,
                first,
                last,
                work,
                asked,
            });
        }
    }
    all
}

/// The roots of an operation among some units, with the positions of each one's list of neighbours before it
/// that count; of paths the whole list does.
pub fn roots_of<'a>(
    view: View<'a>,
    operation: Operation,
    units: Units<'a>,
) -> impl Iterator<Item = (VertexId, Range<u32>)> + 'a {
    let own = move |unit: WorkUnit| -> Option<(VertexId, Range<u32>)> {
        let row = view.neighbours(unit.start);
        let before = row.partition_point(|&u| u < unit.start);
        let parts = match operation {
            Operation::Cliques { k } if before as u64 + 1 >= u64::from(k) => before,
            Operation::Paths if before < row.len() && row.len() > 1 => 1,
            _ => return None,
        };
        let at = |position: u32| (parts as u64 * u64::from(position) / row.len() as u64) as u32;
        let range = at(unit.first)..at(unit.limit);
        (!range.is_empty()).then_some((unit.start, range))
    };
    units.iter(view).filter_map(own)
}

/// The most neighbours that a vertex has before it.
pub fn longest(view: View<'_>) -> u32 {
    let before = |v| view.neighbours(v).partition_point(|&u| u < v) as u32;
    (0..view.vertices() as VertexId).map(before).max().unwrap_or(0)
}

/// Whether a list has too few members whose own lists are read for one of these cliques: all of its members but the
/// first have another before them.
pub(super) fn has_none(image: &SetImage, (address, quarters): (u32, u32), of: Operation) -> bool {
    let Operation::Cliques { k } = of else { return false };
    let read = image.reads(address, quarters).filter(|&lines| lines > 0);
    (read.take(k as usize).count() as u32) < k - 2
}

/// Cycles that a root takes about, whose list lies at `address`, and of cliques the lines that it asks for. For these
/// `row` begins with the `before` members; for edges and paths what is behind them is visited.
pub(super) fn work(
    image: &SetImage,
    address: u32,
    row: &[VertexId],
    before: usize,
    operation: Operation,
) -> (u64, u64) {
    match operation {
        Operation::Cliques { k } => {
            let reads = image.reads(address, before.div_ceil(QUARTER) as u32).take(before);
            let (mut streamed, mut steps) = (0, 0);
            for (at, lines) in (0..).zip(reads).filter(|&(_, lines)| lines > 0) {
                streamed += u64::from(lines);
                // What is in order meets each of its lines, and each of the root's up to the member.
                steps += u64::from(lines) + at / u64::from(ENTRIES_A_LINE);
            }
            cost_of_cliques(k, before as u64, streamed, steps)
        }
        _ => {
            let all = |u: VertexId| {
                let block = image.block(u);
                lines_of(block.address, block.all).into()
            };
            (cost_by_map(row, before, all), 0)
        }
    }
}

/// [`work`] where a vertex' list has `up` lines with what is before it, and `all` with both.
pub(super) fn cost(
    row: &[VertexId],
    before: usize,
    operation: Operation,
    up: impl Fn(VertexId) -> u64,
    all: impl Fn(VertexId) -> u64,
) -> u64 {
    match operation {
        Operation::Cliques { k } => {
            let streamed = row[..before].iter().skip(1).map(|&u| up(u)).sum();
            cost_of_cliques(k, before as u64, streamed, streamed).0
        }
        Operation::Edges | Operation::Paths => cost_by_map(row, before, all),
    }
}

/// Work of cliques among `d` members, whose lists have this many `streamed` lines and `steps`, and the lines requested.
fn cost_of_cliques(k: u32, d: u64, streamed: u64, steps: u64) -> (u64, u64) {
    // Sets that the levels read, estimated from the number of members.
    let rows = d * d / (2 * ROWS_A_CYCLE);
    let deeper = (0..k.saturating_sub(4)).fold(1, |all: u64, _| all.saturating_mul(d / 8 + 1));
    let levels = if k == 3 { 0 } else { rows.saturating_mul(deeper) };
    let asked = streamed + d.div_ceil(u64::from(ENTRIES_A_LINE));
    (steps.max(levels).saturating_add(asked), asked)
}

/// That of the members from `before` on, which have `all` lines each.
fn cost_by_map(row: &[VertexId], before: usize, all: impl Fn(VertexId) -> u64) -> u64 {
    MAP_LINE * row[before..].iter().map(|&u| all(u)).sum::<u64>() + row.len() as u64 / 8
}

/// Deals units to `clusters` in-streams for `operations`, which the units name by their place.
///
/// # Panics
/// If there are more operations than a header has plans.
pub fn deal(
    machine: &Accelerator,
    operations: &[Operation],
    units: Vec<PlacedUnit>,
    clusters: usize,
    arrange: Arrange,
) -> Vec<InStream> {
    assert!(operations.len() <= PLANS as usize, "a header has {PLANS} plans");
    let head = head(machine, operations);
    let pus = machine.machine.processing_units;
    let (ascending, resident) = (ascending(operations), arrange == Arrange::ByWork);
    let streams = dealt(units, clusters).into_iter().map(|mut units| {
        let halves = match (ascending, resident) {
            (true, true) => spread(&mixed(units, pus), pus),
            (true, false) => {
                units.sort_by_key(|u| (u.address, u.plan));
                let mut later = units.split_off(begun_while_loading(machine, &units));
                later.sort_by_key(by_work);
                let mut halves = grouped(&units, LIGHT);
                halves.extend(spread(&mixed(later, pus), pus));
                halves
            }
            (false, _) => grouped(&units, LIGHT),
        };
        InStream { head: head.clone(), units: beats(machine, halves), wait: resident || !ascending }
    });
    streams.collect()
}

/// How many of the units in the order of addresses the PUs begin while the image is loaded, a line of each channel in a
/// cycle. Twice what the estimates say: a unit by work that waits for its list holds up all behind it.
fn begun_while_loading(machine: &Accelerator, units: &[PlacedUnit]) -> usize {
    let lines = units.last().map_or(0, |unit| unit.address / LINE_QUARTERS + 1);
    let cycles = u64::from(lines.div_ceil(machine.core_ports()));
    let room = 2 * cycles * u64::from(machine.machine.processing_units);
    let until = units.iter().scan(0u64, |sum, unit| {
        *sum = sum.saturating_add(unit.work);
        Some(*sum)
    });
    until.take_while(|&work| work <= room).count()
}

/// The heaviest first.
fn by_work(unit: &PlacedUnit) -> (Reverse<u64>, u32, u32, u32) {
    (Reverse(unit.work), unit.address, unit.plan, unit.first)
}

/// The units of each cluster, the heaviest first.
pub(super) fn dealt(mut units: Vec<PlacedUnit>, clusters: usize) -> Vec<Vec<PlacedUnit>> {
    units.sort_by_key(by_work);
    let mut own: Vec<Vec<PlacedUnit>> = vec![vec![]; clusters];
    // There and back, so that no cluster always has the heavier one.
    for (at, unit) in units.into_iter().enumerate() {
        let place = at % (2 * clusters);
        own[place.min(2 * clusters - 1 - place)].push(unit);
    }
    own
}

/// Deals units of plans or wedges, which need the whole image, to `clusters`, the heaviest first.
pub(super) fn deal_by_share(
    machine: &Accelerator,
    head: &[u8],
    units: Vec<PlacedUnit>,
    clusters: usize,
) -> Vec<InStream> {
    let whole = units.iter().fold(0u64, |sum, unit| sum.saturating_add(unit.work));
    let pus = u64::from(machine.machine.processing_units) * clusters as u64;
    let light = whole / (pus * LIGHT_PARTS);
    let streams = dealt(units, clusters).into_iter().map(|units| InStream {
        head: head.to_vec(),
        units: beats(machine, grouped(&units, light)),
        wait: true,
    });
    streams.collect()
}

/// The header beat.
fn head(machine: &Accelerator, operations: &[Operation]) -> Vec<u8> {
    let mut beat = vec![0; BEAT];
    for (bytes, operation) in beat.chunks_exact_mut(4).zip(operations) {
        let (number, k) = operation.number();
        set(machine, "plan", "operation", bytes, number);
        set(machine, "plan", "k", bytes, k.into());
    }
    beat
}

/// Beats of units, each half with the heaviest first.
pub(crate) fn beats(machine: &Accelerator, halves: Vec<Vec<PlacedUnit>>) -> Vec<u8> {
    let group = UNITS_A_GROUP as usize;
    let mut bytes = vec![];
    for mut own in halves {
        own.sort_by_key(|unit| Reverse(unit.work));
        let mut half = vec![0; group * 8];
        for (place, unit) in half.chunks_exact_mut(8).zip(own) {
            for (field, value) in [
                ("address", unit.address),
                ("quarters", unit.quarters),
                ("plan", unit.plan),
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

/// Writes a field of a stream from the host.
pub(super) fn set(machine: &Accelerator, part: &str, field: &str, bytes: &mut [u8], value: u64) {
    let field = machine.streams.input.field(part, field).expect("a description is checked");
    field.set(bytes, value);
}
