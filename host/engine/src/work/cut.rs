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
    let total = units().fold(0u64, |sum, (_, work)| sum.saturating_add(work).saturating_add(1));
    let share = (total / cut.groups.max(1)).max(1);
    let (mut groups, mut sum) = (Groups::default(), 0u64);
    for (unit, work) in units() {
        let len = unit.limit.saturating_sub(unit.first);
        let wished = match (cut.divide, cut.exceed) {
            (false, _) => 1,
            (true, true) => work / share,
            // A group ends with the piece that fills it: small ones keep groups alike.
            (true, false) => work.saturating_mul(PIECES).div_ceil(share),
        };
        let pieces = wished.clamp(1, u64::from(len.max(1)));
        let at = |piece: u64| unit.first + (u64::from(len) * piece / pieces) as u32;
        for piece in 0..pieces {
            let begun = groups.ends.last().copied().unwrap_or(0);
            if groups.units.len() - begun >= cut.most.max(1) {
                groups.end();
                sum = 0;
            }
            let (first, limit) = (at(piece), at(piece + 1));
            groups.units.push(WorkUnit { start: unit.start, first, limit });
            sum = sum.saturating_add(work / pieces + 1);
            if sum >= share && (cut.exceed || groups.ends.len() as u64 + 1 < cut.groups) {
                groups.end();
                sum = 0;
            }
        }
    }
    groups.end();
    groups
}
