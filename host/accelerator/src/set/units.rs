//! Work units of the set core: which there are, what each costs about, and the in-streams of several
//! clusters.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::ops::Range;

use gramer_engine::{Units, WorkUnit};
use gramer_graph::{VertexId, View};
use gramer_machine::set::{LAST_ALL, PLANS, QUARTERS_LONG, UNITS_A_BEAT, UNITS_A_GROUP};
use gramer_machine::{Accelerator, ENTRIES_A_LINE};

use super::image::{Lists, QUARTER, SetImage, lines_of};
use super::reference::{CLIQUES, EDGES, PATHS};

/// Bytes of a beat.
pub(super) const BEAT: usize = ENTRIES_A_LINE as usize * 4;
/// A unit of at most so much work may wait behind another in its half of a beat.
const LIGHT: u64 = 64;
/// Of plans and wedges units of at most such a part of what a PU has to do may.
const LIGHT_PARTS: u64 = 1024;
/// Rows that the level engine takes about in a cycle.
const ROWS_A_CYCLE: u64 = 8;
/// The lightest units with so small a part of the work come last.
const LAST_PART: f64 = 100.0;
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
    /// Which lists it reads.
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
    /// Quarter-lines, or [`QUARTERS_LONG`]; of a search plan the size as its image has it.
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
    /// The image is loaded meanwhile: as their lists come.
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

/// That of cliques in `d` members, of whose lists so many lines are `streamed` in so many `steps`, and the lines.
fn cost_of_cliques(k: u32, d: u64, streamed: u64, steps: u64) -> (u64, u64) {
    // Sets that the levels read, as far as they follow from the number of members.
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
    let streams = dealt(units, clusters).into_iter().map(|mut units| {
        if arrange == Arrange::ByAddress && ascending(operations) {
            units.sort_by_key(|u| (u.address, u.plan));
        } else if ascending(operations) {
            units = spread(mixed(units), machine.machine.processing_units);
        }
        InStream {
            head: head.clone(),
            units: beats(machine, &units, LIGHT),
            wait: arrange == Arrange::ByWork || !ascending(operations),
        }
    });
    streams.collect()
}

/// The units of each cluster, the heaviest first.
pub(super) fn dealt(mut units: Vec<PlacedUnit>, clusters: usize) -> Vec<Vec<PlacedUnit>> {
    units.sort_by_key(|u| (Reverse(u.work), u.address, u.plan, u.first));
    let mut own: Vec<Vec<PlacedUnit>> = vec![vec![]; clusters];
    // There and back, so that no cluster always has the heavier one.
    for (at, unit) in units.into_iter().enumerate() {
        let place = at % (2 * clusters);
        own[place.min(2 * clusters - 1 - place)].push(unit);
    }
    own
}

/// The same units, the heaviest first, but mixed by what they wait for: a root's own list is a line to ask for and no step, and
/// the longer it is, the more steps a member's line takes. So some wait for the port and others for what is behind it, and
/// next to each other for neither. The lightest come last, so that all PUs end at about the same time.
fn mixed(mut units: Vec<PlacedUnit>) -> Vec<PlacedUnit> {
    // Works may be as large as they can be: of their products only the sign and the proportion count.
    let work_of = |units: &[PlacedUnit]| units.iter().map(|u| u.work as f64).sum::<f64>();
    let mut left = work_of(&units) / LAST_PART;
    let fits = |unit: &&PlacedUnit| {
        left -= unit.work as f64;
        left >= 0.0
    };
    let last = units.iter().rev().take_while(fits).count();
    let ends = units.split_off(units.len() - last);
    let (work, asked) = (work_of(&units), units.iter().map(|u| u.asked as f64).sum::<f64>());
    // Above 0 if it takes more work for a line than all of them do.
    let excess = |u: &PlacedUnit| u.work as f64 * asked - u.asked as f64 * work;
    let (mut heavy, mut light): (VecDeque<_>, VecDeque<_>) =
        units.iter().copied().partition(|u| excess(u) > 0.0);
    let mut all = Vec::with_capacity(units.len());
    let mut ahead = 0.0;
    while let Some(next) = {
        let (first, other) =
            if ahead > 0.0 { (&mut light, &mut heavy) } else { (&mut heavy, &mut light) };
        first.pop_front().or_else(|| other.pop_front())
    } {
        ahead += excess(&next);
        all.push(next);
    }
    all.extend(ends);
    all
}

/// The same units where halves of beats have light ones alone: those that follow each other, as many as all PUs have in a half, go
/// to one half after the other, there and back, so that no PU has the heaviest of them.
fn spread(mut units: Vec<PlacedUnit>, pus: u32) -> Vec<PlacedUnit> {
    let group = UNITS_A_GROUP as usize;
    for block in units.chunks_mut(group * pus as usize) {
        if block.iter().any(|unit| unit.work > LIGHT) {
            continue;
        }
        let halves = block.len().div_ceil(group);
        let place = |half: usize, row: usize| match row % 2 {
            0 => row * halves + half,
            _ => (row + 1) * halves - 1 - half,
        };
        let of = (0..halves).flat_map(|half| (0..group).map(move |row| place(half, row)));
        let dealt: Vec<PlacedUnit> = of.filter_map(|at| block.get(at).copied()).collect();
        block.copy_from_slice(&dealt);
    }
    units
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
        units: beats(machine, &units, light),
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

/// Beats of units: a half has any unit and some of at most so much work, the heaviest first, since its PU takes them one after
/// the other.
pub(crate) fn beats(machine: &Accelerator, units: &[PlacedUnit], most: u64) -> Vec<u8> {
    let group = UNITS_A_GROUP as usize;
    let mut bytes = vec![];
    let mut rest = units;
    while !rest.is_empty() {
        let light = rest[1..].iter().take(group - 1).take_while(|u| u.work <= most).count();
        let (own, others) = rest.split_at(1 + light);
        rest = others;
        let mut own = own.to_vec();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(address: u32, work: u64, asked: u64) -> PlacedUnit {
        PlacedUnit { address, quarters: 3, plan: 0, first: 0, last: LAST_ALL, work, asked }
    }

    #[test]
    fn units_are_mixed_by_what_they_wait_for() {
        let steps = (0..10).map(|at| unit(at, 1000, 300));
        let lines = (0..100).map(|at| unit(100 + at, 50, 40));
        let all: Vec<PlacedUnit> = steps.clone().chain(lines.clone()).collect();
        let found = mixed(all.clone());
        let mut sorted = found.clone();
        sorted.sort_by_key(|u| u.address);
        assert_eq!(sorted, all, "each once");
        // Three units are the lightest hundredth. Before them, ten or nine follow each of the others.
        let heavy: Vec<usize> = (0..found.len()).filter(|&at| found[at].work == 1000).collect();
        assert_eq!(heavy[0], 0);
        for pair in heavy.windows(2) {
            assert!((9..=11).contains(&(pair[1] - pair[0])), "{heavy:?}");
        }
        assert!(found[107..].iter().all(|u| u.work == 50));
        // Alike units stay as they are.
        let (steps, lines) = (steps.collect::<Vec<_>>(), lines.collect::<Vec<_>>());
        assert_eq!(mixed(steps.clone()), steps);
        assert_eq!(mixed(lines.clone()), lines);
        assert_eq!(mixed(vec![]), vec![]);
        // Nor does it matter how large their work is said to be.
        let endless = vec![unit(0, u64::MAX, 1 << 20); 100];
        assert_eq!(mixed(endless.clone()), endless);
    }

    #[test]
    fn no_half_has_the_heaviest_alone() {
        let light: Vec<PlacedUnit> = (0..11).map(|at| unit(at, 60 - u64::from(at), 1)).collect();
        let places = |units: &[PlacedUnit]| units.iter().map(|u| u.address).collect::<Vec<_>>();
        // Three halves, there and back.
        assert_eq!(places(&spread(light.clone(), 8)), [0, 5, 6, 1, 4, 7, 10, 2, 3, 8, 9]);
        // Two PUs have eight units in their halves; the rest is a block of its own.
        assert_eq!(places(&spread(light.clone(), 2)), [0, 3, 4, 7, 1, 2, 5, 6, 8, 9, 10]);
        // A heavy one begins a half, so nothing is told of the others' places.
        let heavy: Vec<PlacedUnit> =
            light.iter().map(|u| PlacedUnit { work: LIGHT + 1, ..*u }).collect();
        assert_eq!(spread(heavy.clone(), 8), heavy);
    }
}
