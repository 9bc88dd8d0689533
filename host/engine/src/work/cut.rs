//! Units in groups of similar work.

use gramer_base::pages::in_large_pages;

use super::{Spread, WorkUnit};

/// Settings for cutting units into groups.
#[derive(Debug, Clone, Copy)]
pub struct CutSettings {
    /// Number of groups of similar work.
    pub groups: u64,
    /// Whether there may be more than that, so that none has much more than its part of the work.
    pub exceed: bool,
    /// Whether a unit with more than a group's part of the work is divided.
    pub divide: bool,
    /// Maximum of units per group, even if that requires more groups.
    pub most: usize,
}

/// Units in groups of similar work.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    units: Vec<WorkUnit>,
    /// Group i is `units[ends[i - 1]..ends[i]]`.
    ends: Vec<usize>,
    /// The estimated work of each group, as progress shows it.
    sums: Vec<u64>,
    work: u64,
    /// The order in which they are taken, if not their own.
    spread: Option<Spread>,
}

impl Groups {
    /// Orders the groups so that every prefix is spread over all of them and its time is a sample of the
    /// whole.
    pub fn spread(&mut self) {
        self.spread = Some(Spread::of(self.len()));
    }

    /// Restores the order of the groups.
    pub fn in_order(&mut self) {
        self.spread = None;
    }

    /// Returns the group at this position of the order.
    #[inline]
    pub fn taken(&self, place: usize) -> usize {
        self.spread.map_or(place, |spread| spread.at(place))
    }

    /// Number of groups.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no unit.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The estimated work of all groups.
    #[inline]
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Share of a group in [`Groups::shown`].
    #[inline]
    pub fn shown_of(&self, number: usize) -> u64 {
        self.sums[number]
    }

    /// The estimated work of all groups, as progress shows it.
    pub fn shown(&self) -> u64 {
        self.sums.iter().fold(0, |all, &sum| all.saturating_add(sum))
    }

    /// Estimates the work of each unit again, for progress alone: the estimates by which units are cut may favour
    /// heavy ones.
    pub fn show(&mut self, work: impl Fn(&WorkUnit) -> u64) {
        let of = |units: &[WorkUnit]| units.iter().fold(0, |sum, unit| with(sum, work(unit)));
        self.sums = self.iter().map(of).collect();
    }

    /// The units of a group; there is at least one.
    #[inline]
    pub fn group(&self, number: usize) -> &[WorkUnit] {
        let first = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.units[first..self.ends[number]]
    }

    /// The groups in order.
    pub fn iter(&self) -> impl Iterator<Item = &[WorkUnit]> {
        (0..self.len()).map(|number| self.group(number))
    }
}

/// Pieces that a group's share of the work is cut into where groups may not be more.
const PIECES: u64 = 16;

/// Cuts units into groups. `units` gives them with an estimate of their work, the same at each call;
/// it is called twice, since the groups depend on the whole work. The groups depend on nothing else,
/// so the same task always takes the same groups.
pub fn cut<I: Iterator<Item = (WorkUnit, u64)>>(units: impl Fn() -> I, cut: CutSettings) -> Groups {
    let (total, count) =
        units().fold((0, 0), |(total, count), (_, work)| (with(total, work), count + 1));
    let mut cutter = Cutter::new(total, cut);
    cutter.groups.units = in_large_pages(Vec::with_capacity(count));
    units().for_each(|(unit, work)| cutter.take(unit, work));
    cutter.finish()
}

/// Visitor of units with estimates of their work.
type UnitVisitor<'a> = dyn FnMut(WorkUnit, u64) + 'a;

/// As [`cut`]; `units` calls its argument with one unit after another.
pub fn cut_each(units: &dyn for<'a> Fn(&'a mut UnitVisitor<'a>), cut: CutSettings) -> Groups {
    let (mut total, mut count) = (0u64, 0);
    units(&mut |_, work| (total, count) = (with(total, work), count + 1));
    let mut cutter = Cutter::new(total, cut);
    cutter.groups.units = in_large_pages(Vec::with_capacity(count));
    units(&mut |unit, work| cutter.take(unit, work));
    cutter.finish()
}

/// The work of some units with that of one more, which costs something even where it finds nothing.
#[inline]
fn with(total: u64, work: u64) -> u64 {
    total.saturating_add(work).saturating_add(1)
}

/// Cuts a sequence of units into groups.
struct Cutter {
    cut: CutSettings,
    /// The part of the work that a group should have.
    share: u64,
    groups: Groups,
    /// First unit of the group at hand, and its work so far.
    begun: usize,
    sum: u64,
}

impl Cutter {
    fn new(total: u64, cut: CutSettings) -> Self {
        let share = (total / cut.groups.max(1)).max(1);
        let groups = Groups { work: total, ..Groups::default() };
        Cutter { cut, share, groups, begun: 0, sum: 0 }
    }

    /// Adds a unit, whole or in pieces.
    #[inline]
    fn take(&mut self, unit: WorkUnit, work: u64) {
        // Nearly all units stay whole, and a graph may have more vertices than it has work.
        if !self.cut.divide || work < self.least_divided() {
            self.add(unit, work);
        } else {
            self.divide(unit, work);
        }
    }

    /// No unit with less work is divided.
    #[inline]
    fn least_divided(&self) -> u64 {
        if self.cut.exceed { self.share.saturating_mul(2) } else { self.share / PIECES }
    }

    fn divide(&mut self, unit: WorkUnit, work: u64) {
        let len = unit.limit.saturating_sub(unit.first);
        let wished = match self.cut.exceed {
            true => work / self.share,
            // A group ends with the piece that fills it: small ones keep groups alike.
            false => work.saturating_mul(PIECES).div_ceil(self.share),
        };
        let pieces = wished.clamp(1, u64::from(len.max(1)));
        let at = |piece: u64| unit.first + (u64::from(len) * piece / pieces) as u32;
        for piece in 0..pieces {
            let (first, limit) = (at(piece), at(piece + 1));
            self.add(WorkUnit { start: unit.start, first, limit }, work / pieces);
        }
    }

    #[inline]
    fn add(&mut self, unit: WorkUnit, work: u64) {
        if self.groups.units.len() - self.begun >= self.cut.most.max(1) {
            self.end();
        }
        self.groups.units.push(unit);
        self.sum = with(self.sum, work);
        let more = self.cut.exceed || self.groups.ends.len() as u64 + 1 < self.cut.groups;
        if self.sum >= self.share && more {
            self.end();
        }
    }

    fn end(&mut self) {
        let units = self.groups.units.len();
        if self.begun < units {
            self.groups.ends.push(units);
            self.groups.sums.push(self.sum);
            self.begun = units;
        }
        self.sum = 0;
    }

    fn finish(mut self) -> Groups {
        self.end();
        self.groups
    }
}
