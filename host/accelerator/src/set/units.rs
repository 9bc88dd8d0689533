//! Work units of the set core, their estimated costs, and the in-streams of several clusters.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use gramer_engine::{Units, WorkUnit};
use gramer_graph::{VertexId, View};
use gramer_machine::set::{
    LAST_ALL, LINE_QUARTERS, PLANS, QUARTERS_LONG, UNITS_A_BEAT, UNITS_A_GROUP,
};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};

use super::image::{Lists, QUARTER, Root, SetImage, lines_of};
use super::numbers::{CLIQUES, EDGES, PATHS};

mod order;

pub(crate) use order::{Halves, grouped};
use order::{mixed, spread};

/// Bytes of a beat.
pub(super) const BEAT: usize = ENTRIES_A_LINE as usize * 4;
/// Bytes of a unit.
const UNIT_BYTES: usize = BEAT / UNITS_A_BEAT as usize;
/// A unit of at most this much work may wait behind another in its half of a beat.
const LIGHT: u64 = 64;
/// The same for plans and wedges: units of at most this fraction (1/1024) of a PU's work.
const LIGHT_PARTS: u64 = 1024;
/// Bits of a digit by which works are sorted.
const DIGIT: u32 = 11;
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

/// Whether all lists that operations read lie before the root's. Units of others come in one order, whatever [`Arrange`] says.
pub(super) fn ascending(operations: &[Operation]) -> bool {
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

/// What a launch sends: a stream for each cluster.
pub type Streams = Arc<Vec<InStream>>;

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
            let (block, root) = (image.block(v), image.root(v));
            let whole = matches!(operation, Operation::Paths) || range == (0..root.before);
            let (first, last) = if whole { (0, LAST_ALL) } else { (range.start, range.end) };
            let (quarters, (work, asked)) = match operation {
                Operation::Cliques { k } if root.read < k - 2 => continue,
                Operation::Cliques { k } => {
                    let work = cost_of_cliques(k, root.before.into(), root.lines, root.steps);
                    (block.up, work)
                }
                Operation::Edges => continue, // of segments alone
                Operation::Paths => {
                    let work = MAP_LINE * root.later + view.degree(v) as u64 / 8;
                    (block.all.min(QUARTERS_LONG), (work, 0))
                }
            };
            let address = block.address;
            all.push(PlacedUnit { address, quarters, plan, first, last, work, asked });
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
            let mut root = Root::default();
            reads.enumerate().for_each(|(at, lines)| root.add(at, lines));
            cost_of_cliques(k, before as u64, root.lines, root.steps)
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
    let (ascending, by_work) = (ascending(operations), arrange == Arrange::ByWork);
    let own = match ascending && !by_work {
        true => dealt_by_address(&units, clusters),
        false => dealt(&units, clusters),
    };
    let streams = own.into_iter().map(|mut units| {
        let halves = match (ascending, by_work) {
            (true, true) => spread(&mixed(units, pus), pus),
            (true, false) => {
                let later = units.split_off(begun_while_loading(machine, &units));
                let mut halves = grouped(units, LIGHT);
                halves.append(spread(&mixed(heaviest_first(&later), pus), pus));
                halves
            }
            (false, _) => grouped(units, LIGHT),
        };
        InStream { head: head.clone(), units: beats(machine, &halves), wait: by_work || !ascending }
    });
    streams.collect()
}

/// How many of the units in the order of addresses the PUs begin while the image is loaded, a line of each channel in a
/// cycle. Twice what the estimates say: a unit by work that waits for its list holds up all behind it. From one channel
/// loading takes so long that all are in this order.
fn begun_while_loading(machine: &Accelerator, units: &[PlacedUnit]) -> usize {
    if machine.core_ports() == 1 {
        return units.len();
    }
    let lines = units.last().map_or(0, |unit| unit.address / LINE_QUARTERS + 1);
    let cycles = u64::from(lines.div_ceil(machine.core_ports()));
    let room = 2 * cycles * u64::from(machine.machine.processing_units);
    let until = units.iter().scan(0u64, |sum, unit| {
        *sum = sum.saturating_add(unit.work);
        Some(*sum)
    });
    until.take_while(|&work| work <= room).count()
}

/// The units of each cluster, the heaviest first.
pub(super) fn dealt(units: &[PlacedUnit], clusters: usize) -> Vec<Vec<PlacedUnit>> {
    let most = units.len().div_ceil(clusters.max(1)) + 1;
    let mut own: Vec<Vec<PlacedUnit>> = vec![Vec::with_capacity(most); clusters];
    for (at, unit) in by_work(units).into_iter().enumerate() {
        own[cluster_of(at, clusters)].push(units[unit as usize]);
    }
    own
}

/// The same, in the order of addresses.
fn dealt_by_address(units: &[PlacedUnit], clusters: usize) -> Vec<Vec<PlacedUnit>> {
    let place = |u: &PlacedUnit| (u.address, u.plan);
    if !units.is_sorted_by(|a, b| place(a) < place(b)) {
        let mut own = dealt(units, clusters);
        own.iter_mut().for_each(|units| units.sort_by_key(place));
        return own;
    }
    let mut clusters_of = vec![0; units.len()];
    for (at, unit) in by_work(units).into_iter().enumerate() {
        clusters_of[unit as usize] = cluster_of(at, clusters);
    }
    let most = units.len().div_ceil(clusters.max(1)) + 1;
    let mut own: Vec<Vec<PlacedUnit>> = vec![Vec::with_capacity(most); clusters];
    units.iter().zip(clusters_of).for_each(|(unit, cluster)| own[cluster].push(*unit));
    own
}

/// The cluster of the unit in this place, the heaviest being first: there and back, so that no cluster always has the heavier
/// one.
fn cluster_of(at: usize, clusters: usize) -> usize {
    let place = at % (2 * clusters);
    place.min(2 * clusters - 1 - place)
}

/// The same units, the heaviest first.
fn heaviest_first(units: &[PlacedUnit]) -> Vec<PlacedUnit> {
    by_work(units).into_iter().map(|unit| units[unit as usize]).collect()
}

/// Numbers of units, the heaviest first; among equals by address, plan and range.
fn by_work(units: &[PlacedUnit]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..units.len() as u32).collect();
    // Roots come in this order, those of each plan.
    order.sort_by_key(|&at| {
        let unit = &units[at as usize];
        (unit.address, unit.plan, unit.first)
    });
    let most = units.iter().map(|unit| unit.work).max().unwrap_or(0);
    let mut sorted = vec![0; order.len()];
    // From the lowest digit of works to the highest, equal ones in their order.
    for shift in (0..u64::BITS - most.leading_zeros()).step_by(DIGIT as usize) {
        let digit = |at: u32| (!units[at as usize].work >> shift) as usize & ((1 << DIGIT) - 1);
        let mut ends = [0u32; 1 << DIGIT];
        order.iter().for_each(|&at| ends[digit(at)] += 1);
        let mut end = 0;
        for begin in &mut ends {
            end += std::mem::replace(begin, end);
        }
        for &at in &order {
            let place = &mut ends[digit(at)];
            sorted[*place as usize] = at;
            *place += 1;
        }
        std::mem::swap(&mut order, &mut sorted);
    }
    order
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
    let streams = dealt(&units, clusters).into_iter().map(|units| InStream {
        head: head.to_vec(),
        units: beats(machine, &grouped(units, light)),
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

/// Lets plan p of a header count its cliques in sum p, where [`SUM_CLIQUES`] is sum 0. By default every plan counts in sum 0.
/// A run with edges or paths needs that default: it uses sums 1 to 3 itself.
///
/// [`SUM_CLIQUES`]: super::numbers::SUM_CLIQUES
pub fn separate_sums(machine: &Accelerator, head: &mut [u8]) {
    for (plan, bytes) in (0..PLANS).zip(head.chunks_exact_mut(4)) {
        set(machine, "plan", "sum", bytes, plan.into());
    }
}

/// Beats of units, each half with the heaviest first.
pub(crate) fn beats(machine: &Accelerator, halves: &Halves) -> Vec<u8> {
    let field = |name| machine.streams.input.field("unit", name).expect("a description is checked");
    let at = ["address", "quarters", "plan", "first", "last"].map(|name| {
        let field = field(name);
        (field.at, u64::MAX >> (64 - field.bits))
    });
    let word = |unit: &PlacedUnit| {
        let values = [unit.address, unit.quarters, unit.plan, unit.first, unit.last];
        let placed = |(&(at, mask), value): (&(u32, u64), u32)| (u64::from(value) & mask) << at;
        at.iter().zip(values).map(placed).fold(0, |all, own| all | own)
    };
    let half = UNITS_A_GROUP as usize * UNIT_BYTES;
    let mut bytes = Vec::with_capacity((halves.len() * half).next_multiple_of(BEAT).max(BEAT));
    let mut own = vec![];
    for units in halves.iter() {
        own.clear();
        own.extend_from_slice(units);
        own.sort_by_key(|unit| Reverse(unit.work));
        bytes.extend(own.iter().flat_map(|unit| word(unit).to_le_bytes()));
        bytes.resize(bytes.len().next_multiple_of(half), 0);
    }
    // The last beat is whole, and there is one.
    bytes.resize(bytes.len().next_multiple_of(BEAT).max(BEAT), 0);
    bytes
}

/// Writes a field of a stream from the host.
pub(super) fn set(machine: &Accelerator, part: &str, field: &str, bytes: &mut [u8], value: u64) {
    let field = machine.streams.input.field(part, field).expect("a description is checked");
    field.set(bytes, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_sorted_as_by_their_keys() {
        let mut rng = fastrand::Rng::with_seed(4);
        for most in [1, 3, 100, 5000, u64::MAX] {
            let mut units: Vec<PlacedUnit> = (0..300)
                .map(|at| PlacedUnit {
                    address: at / 2,
                    quarters: 1,
                    plan: rng.u32(0..4),
                    first: at % 2,
                    last: LAST_ALL,
                    work: rng.u64(0..most),
                    asked: 0,
                })
                .collect();
            for cut in [true, false] {
                if !cut {
                    // Each address once.
                    units.retain(|unit| unit.first == 0);
                }
                let key = |u: &PlacedUnit| (Reverse(u.work), u.address, u.plan, u.first);
                let mut sorted = units.clone();
                sorted.sort_by_key(key);
                let found: Vec<PlacedUnit> =
                    by_work(&units).iter().map(|&at| units[at as usize]).collect();
                assert_eq!(found, sorted);
                for clusters in 1..4 {
                    let mut own = dealt(&units, clusters);
                    own.iter_mut().for_each(|units| units.sort_by_key(|u| (u.address, u.plan)));
                    assert_eq!(dealt_by_address(&units, clusters), own);
                }
                rng.shuffle(&mut units);
            }
        }
    }
}
