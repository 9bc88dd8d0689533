//! Units in groups of similar work.

use super::WorkUnit;

/// How units are cut into groups.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    /// So many groups of similar work.
    pub groups: u64,
    /// Whether there may be more than that, so that none has much more than its part of the work.
    pub exceed: bool,
    /// Whether a unit with more than a group's part of the work is divided.
    pub divide: bool,
    /// Most units of a group; there are more groups where that asks for it.
    pub most: usize,
}

/// Units in groups of similar work.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    units: Vec<WorkUnit>,
    /// Group i is `units[ends[i - 1]..ends[i]]`.
    ends: Vec<usize>,
}

impl Groups {
    /// Number of groups.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no unit.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
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

    fn end(&mut self) {
        if self.ends.last().copied().unwrap_or(0) < self.units.len() {
            self.ends.push(self.units.len());
        }
    }
}

/// Pieces that a group's share of the work is cut into where groups may not be more.
const PIECES: u64 = 16;

/// Cuts units into groups. `units` gives them with an estimate of their work, the same at each call;
/// it is called twice, since the groups depend on the whole work. The groups depend on nothing else,
/// so the same task takes the same groups whatever threads do.
pub fn cut<I: Iterator<Item = (WorkUnit, u64)>>(units: impl Fn() -> I, cut: Cut) -> Groups {
    cut_each(&|each| units().for_each(|(unit, work)| each(unit, work)), cut)
}

/// What is handed a unit with an estimate of its work.
type Each<'a> = dyn FnMut(WorkUnit, u64) + 'a;

/// As [`cut`], where the units are handed one by one to what `units` is called with.
pub(crate) fn cut_each(units: &dyn for<'a> Fn(&'a mut Each<'a>), cut: Cut) -> Groups {
    let mut total = 0u64;
    units(&mut |_, work| total = total.saturating_add(work).saturating_add(1));
    let share = (total / cut.groups.max(1)).max(1);
    let (mut groups, mut sum) = (Groups::default(), 0u64);
    units(&mut |unit, work| {
        let len = unit.limit.saturating_sub(unit.first);
        let wished = match (cut.divide, cut.exceed) {
            (false, _) => 1,
            (true, true) => work / share,
            // A group ends with the piece that fills it: small ones keep groups alike.
            (true, false) => work.saturating_mul(PIECES).div_ceil(share),
        };
        let pieces = wished.clamp(1, u64::from(len.max(1)));
        let mut add = |unit: WorkUnit, work: u64| {
            let begun = groups.ends.last().copied().unwrap_or(0);
            if groups.units.len() - begun >= cut.most.max(1) {
                groups.end();
                sum = 0;
            }
            groups.units.push(unit);
            sum = sum.saturating_add(work + 1);
            if sum >= share && (cut.exceed || groups.ends.len() as u64 + 1 < cut.groups) {
                groups.end();
                sum = 0;
            }
        };
        // Nearly all units stay whole, and a graph may have more vertices than it has work.
        if pieces == 1 {
            add(unit, work);
            return;
        }
        let at = |piece: u64| unit.first + (u64::from(len) * piece / pieces) as u32;
        for piece in 0..pieces {
            let (first, limit) = (at(piece), at(piece + 1));
            add(WorkUnit { start: unit.start, first, limit }, work / pieces);
        }
    });
    groups.end();
    groups
}
