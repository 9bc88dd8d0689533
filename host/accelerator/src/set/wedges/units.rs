//! Roots of houses and 5-cycles, and the in-streams of several clusters.
//!
//! The map notes the vertices that a root's wedges end at, as many as a bank has room for. A root of 5-cycles that
//! reaches more is cut into ranges of these vertices, before it is sent: each part counts all wedges, and notes those of
//! its range.

use gramer_engine::Units;
use gramer_graph::{VertexId, View};
use gramer_machine::Accelerator;
use gramer_machine::set::{LAST_ALL, LINE_QUARTERS, size_quarters};

use super::Shape;
use super::banks::Banks;
use super::image::{Block, WedgeImage};
use crate::set::units::{BEAT, InStream, PlacedUnit, deal_by_share, set};

/// Cycles of a root in addition to those of its lines.
const ROOT_CYCLES: u64 = 40;

/// Neighbours of a vertex after `root`.
fn after<'a>(view: View<'a>, v: VertexId, root: VertexId) -> &'a [VertexId] {
    let row = view.neighbours(v);
    &row[row.partition_point(|&u| u <= root)..]
}

/// Lines of a list from its vertex' id on.
pub(crate) fn lines(id: u32, size: u32) -> u64 {
    match size_quarters(size) {
        0 => 0,
        quarters => (id % LINE_QUARTERS + quarters).div_ceil(LINE_QUARTERS).into(),
    }
}

/// The units of these roots. A root belongs to the part of its list that has the last position.
pub fn units(
    machine: &Accelerator,
    view: View<'_>,
    roots: Units<'_>,
    image: &WedgeImage,
    shape: Shape,
) -> Vec<PlacedUnit> {
    let mut all = vec![];
    let whole = |v: VertexId| image.block(v).map_or(0, |b| lines(b.id, b.all));
    let mut cuts = Cuts::new(machine, view, image);
    for unit in roots.iter(view) {
        let (v, row) = (unit.start, view.neighbours(unit.start));
        let later = after(view, v, v);
        let Some(Block { id, all: size, .. }) = image.block(v) else { continue };
        // Of 5-cycles a root with one later neighbour has pairs of wedges, too, that others know to be too many.
        if later.is_empty() || (unit.limit as usize) < row.len() {
            continue;
        }
        let own = PlacedUnit {
            address: id,
            quarters: size,
            plan: 0,
            first: 0,
            last: LAST_ALL,
            work: 0,
            asked: 0,
        };
        match shape {
            Shape::House => {
                let both = row.iter().chain(later).map(|&b| whole(b)).sum::<u64>();
                all.push(PlacedUnit { work: both + ROOT_CYCLES, ..own });
            }
            Shape::FiveCycle => {
                let first: u64 = later.iter().map(|&b| whole(b)).sum();
                let parts = cuts.of(v);
                let work = first + cuts.second(v) / parts.len() as u64 + ROOT_CYCLES;
                let part = |[first, last]: [u32; 2]| PlacedUnit { first, last, work, ..own };
                all.extend(parts.into_iter().map(part));
            }
        }
    }
    all
}

/// Ranges into which roots are cut.
struct Cuts<'a> {
    view: View<'a>,
    image: &'a WedgeImage,
    banks: Banks,
    /// Vertices that a bank can note.
    room: u32,
    /// The first root behind which no bank has more vertices than it can note.
    safe: VertexId,
    /// Lines of the lists before vertices, of all from each vertex on.
    up_lines: Vec<u64>,
    /// For a root: whether a vertex was met.
    met: Vec<VertexId>,
}

impl<'a> Cuts<'a> {
    fn new(machine: &Accelerator, view: View<'a>, image: &'a WedgeImage) -> Self {
        let set = machine.set.as_ref().expect("a machine with a set core");
        let (banks, room) = (Banks::of(set), set.reached);
        let mut held = vec![0; banks.count()];
        let mut safe = 0;
        let mut up_lines = vec![0; view.vertices() + 1];
        for v in (0..view.vertices()).rev() {
            let up = image.block(v as VertexId).filter(|block| block.up > 0);
            up_lines[v] = up_lines[v + 1] + up.map_or(0, |block| lines(block.id, block.up));
            let Some(block) = up else { continue };
            let held = &mut held[banks.bank(block.id)];
            *held += 1;
            if *held > room && safe == 0 {
                safe = v as VertexId; // of later roots no bank can have more
            }
        }
        let met = vec![VertexId::MAX; view.vertices()];
        Cuts { view, image, banks, room, safe, up_lines, met }
    }

    /// Wedges from a root to later vertices over later ones.
    fn wedges(&self, root: VertexId) -> u64 {
        let middle = after(self.view, root, root).iter();
        middle.map(|&b| after(self.view, b, root).len() as u64).sum()
    }

    /// About the lines of the lists before the vertices that a root reaches: of this many random ends the share of the
    /// later vertices that are met.
    fn second(&self, root: VertexId) -> u64 {
        let later = (self.view.vertices() - 1 - root as usize).max(1) as f64;
        let share = 1.0 - libm::exp(-(self.wedges(root) as f64) / later);
        (self.up_lines[root as usize + 1] as f64 * share) as u64
    }

    /// The ranges of a root, of which each has room in every bank.
    fn of(&mut self, root: VertexId) -> Vec<[u32; 2]> {
        if root >= self.safe || self.wedges(root) <= self.room.into() {
            return vec![[0, LAST_ALL]];
        }
        let mut reached = vec![];
        for &b in after(self.view, root, root) {
            for &c in after(self.view, b, root) {
                let met = &mut self.met[c as usize];
                if *met != root {
                    *met = root;
                    reached.extend(self.image.block(c).filter(|block| block.up > 0));
                }
            }
        }
        reached.sort_unstable_by_key(|block| block.id);
        let mut ranges = vec![];
        let (mut from, mut held) = (0, vec![0u32; self.banks.count()]);
        // Vertices of one smallest range after the other.
        for group in reached.chunk_by(|a, b| self.banks.range(a.id) == self.banks.range(b.id)) {
            let mut with = held.clone();
            group.iter().for_each(|block| with[self.banks.bank(block.id)] += 1);
            if with.iter().any(|&held| held > self.room) {
                // The last of the smallest ranges cannot begin a part, since its number as an end means all: it joins the
                // one before, and both have room.
                let end = self.banks.range(group[0].id).min(LAST_ALL - 1);
                ranges.push([from, end]);
                from = end;
                held.fill(0);
                let own = reached.iter().filter(|b| {
                    (end..=self.banks.range(group[0].id)).contains(&self.banks.range(b.id))
                });
                own.for_each(|block| held[self.banks.bank(block.id)] += 1);
            } else {
                held = with;
            }
        }
        ranges.push([from, LAST_ALL]);
        ranges
    }
}

/// Deals units to the in-streams of `clusters`, the heaviest first.
pub fn deal(
    machine: &Accelerator,
    shape: Shape,
    units: Vec<PlacedUnit>,
    clusters: usize,
) -> Vec<InStream> {
    let mut head = vec![0; BEAT];
    set(machine, "plan", "operation", &mut head, shape.number());
    deal_by_share(machine, &head, units, clusters)
}
