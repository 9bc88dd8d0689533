//! Work units: how a task is divided among threads, runs of a device, devices and machines.
//!
//! A [`WorkUnit`] is a start vertex with a range of positions in its list of neighbours, as the
//! accelerator takes it (GRAMER, section V-A). Every engine assigns each embedding to exactly one
//! unit, so what it finds in disjoint units adds up. *Which* unit that is may differ from engine to
//! engine and from task to task: all shares of one task go to the same engine with the same
//! settings, on the same graph in the same order.
//!
//! A [`Share`] is any set of units. [`Units`] says whether a run does all units or a share, and
//! [`Outcome::merge`](crate::Outcome::merge) joins the outcomes of shares. [`cut`] divides units
//! into groups of similar work: for the threads of the CPU engine, for the runs of the accelerator,
//! and for [`Share::split`].

use std::ops::Range;

use serde::{Deserialize, Serialize};

use gramer_graph::error::{Error, Result};
use gramer_graph::{VertexId, View};

/// A start vertex and a range of positions in its list.
///
/// An engine may number its start vertices in an order of its own; units in a [`Share`] always name
/// vertices and positions of the graph. Serialised as `[start, first, limit]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(VertexId, u32, u32)", into = "(VertexId, u32, u32)")]
pub struct WorkUnit {
    /// The root of the embeddings.
    pub start: VertexId,
    /// First position.
    pub first: u32,
    /// End of the range, exclusive.
    pub limit: u32,
}

impl From<(VertexId, u32, u32)> for WorkUnit {
    fn from((start, first, limit): (VertexId, u32, u32)) -> Self {
        WorkUnit { start, first, limit }
    }
}

impl From<WorkUnit> for (VertexId, u32, u32) {
    fn from(unit: WorkUnit) -> Self {
        (unit.start, unit.first, unit.limit)
    }
}

impl WorkUnit {
    /// A vertex with its whole list.
    pub fn whole(view: View<'_>, start: VertexId) -> Self {
        WorkUnit { start, first: 0, limit: view.degree(start) as u32 }
    }

    /// The positions.
    #[inline]
    pub fn range(self) -> Range<usize> {
        self.first as usize..self.limit as usize
    }

    /// Its two halves; `None` if it has but one position.
    pub fn halves(self) -> Option<[WorkUnit; 2]> {
        let middle = self.first + (self.limit.saturating_sub(self.first)) / 2;
        (middle > self.first)
            .then_some([WorkUnit { limit: middle, ..self }, WorkUnit { first: middle, ..self }])
    }
}

/// A set of work units of one graph.
///
/// ```
/// use gramer_engine::work::{Share, WorkUnit};
///
/// let left = Share::new([0..10], [WorkUnit { start: 10, first: 0, limit: 4 }])?;
/// let right = Share::new([11..20], [WorkUnit { start: 10, first: 4, limit: 9 }])?;
/// let both = left.clone().union(right)?;
/// assert!(both.clone().union(left).is_err(), "units are in a share once");
/// # Ok::<(), gramer_graph::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Share {
    /// Vertices with their whole lists: ascending, neither overlapping nor touching.
    whole: Vec<Range<VertexId>>,
    /// Parts of lists of other vertices: ascending, neither overlapping nor touching, not empty.
    parts: Vec<WorkUnit>,
}

/// A share as it is serialised.
#[derive(Serialize, Deserialize)]
struct Fields {
    /// Ranges [from, to).
    whole: Vec<[VertexId; 2]>,
    parts: Vec<WorkUnit>,
}

impl TryFrom<Fields> for Share {
    type Error = Error;

    fn try_from(fields: Fields) -> Result<Self> {
        Share::new(fields.whole.into_iter().map(|[from, to]| from..to), fields.parts)
    }
}

impl From<Share> for Fields {
    fn from(share: Share) -> Self {
        let whole = share.whole.into_iter().map(|r| [r.start, r.end]).collect();
        Fields { whole, parts: share.parts }
    }
}

impl Share {
    /// The vertices of these ranges with their whole lists, and parts of lists of others.
    ///
    /// # Errors
    /// [`Error::Usage`] for an empty or reversed range, and for a unit that is there twice.
    pub fn new(
        whole: impl IntoIterator<Item = Range<VertexId>>,
        parts: impl IntoIterator<Item = WorkUnit>,
    ) -> Result<Self> {
        let mut whole: Vec<_> = whole.into_iter().collect();
        let mut parts: Vec<_> = parts.into_iter().collect();
        whole.sort_unstable_by_key(|r| (r.start, r.end));
        parts.sort_unstable();
        let mut share = Share::default();
        for range in whole {
            if range.is_empty() {
                return Err(Error::usage(format!("there are no vertices {range:?}")));
            }
            match share.whole.last_mut() {
                Some(last) if last.end > range.start => return Err(twice(range.start)),
                Some(last) if last.end == range.start => last.end = range.end,
                _ => share.whole.push(range),
            }
        }
        for part in parts {
            let WorkUnit { start, first, limit } = part;
            if first >= limit {
                return Err(Error::usage(format!(
                    "there are no positions {first} to {limit} in the list of vertex {start}"
                )));
            }
            if share.has_whole(start) {
                return Err(twice(start));
            }
            match share.parts.last_mut().filter(|last| last.start == start) {
                Some(last) if last.limit > first => return Err(twice(start)),
                Some(last) if last.limit == first => last.limit = limit,
                _ => share.parts.push(part),
            }
        }
        Ok(share)
    }

    /// The units that are left or given; each is there once.
    ///
    /// # Errors
    /// As [`Share::new`] and [`Units::check`].
    pub fn of(view: View<'_>, units: &[WorkUnit]) -> Result<Self> {
        let (mut whole, mut parts) = (vec![], vec![]);
        for &unit in units {
            if (unit.start as usize) < view.vertices() && unit == WorkUnit::whole(view, unit.start)
            {
                whole.push(unit.start..unit.start + 1);
            } else {
                parts.push(unit);
            }
        }
        let share = Share::new(whole, parts)?;
        Units::Share(&share).check(view)?;
        Ok(share)
    }

    /// All units of a graph, in up to `into` shares of similar work: that of a vertex is guessed to be
    /// the square of its degree. A hub's list is divided.
    pub fn split(view: View<'_>, into: usize) -> Vec<Share> {
        let units = || Units::All.iter(view).map(|unit| (unit, u64::from(unit.limit).pow(2)));
        let limits =
            Cut { groups: into.max(1) as u64, exceed: false, divide: true, most: usize::MAX };
        cut(units, limits)
            .iter()
            .map(|units| Share::of(view, units).expect("units are cut once"))
            .collect()
    }

    /// Whether there is no unit.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.parts.is_empty()
    }

    fn has_whole(&self, v: VertexId) -> bool {
        let after = self.whole.partition_point(|r| r.start <= v);
        after > 0 && v < self.whole[after - 1].end
    }

    /// The parts of the list of `v`.
    fn parts_of(&self, v: VertexId) -> &[WorkUnit] {
        let first = self.parts.partition_point(|u| u.start < v);
        let len = self.parts[first..].partition_point(|u| u.start == v);
        &self.parts[first..first + len]
    }

    /// The units of both.
    ///
    /// # Errors
    /// [`Error::Usage`] if a unit is in both.
    pub fn union(self, other: Share) -> Result<Share> {
        Share::new(
            self.whole.into_iter().chain(other.whole),
            self.parts.into_iter().chain(other.parts),
        )
    }

    /// The same units of a graph whose vertices are numbered backwards; `None` if a list is divided.
    pub(crate) fn backwards(&self, vertices: usize) -> Option<Share> {
        let last = vertices as VertexId;
        let whole = self.whole.iter().rev().map(|r| last - r.end..last - r.start).collect();
        self.parts.is_empty().then_some(Share { whole, parts: vec![] })
    }

    /// Whether these are all units of a graph.
    pub fn is_all(&self, view: View<'_>) -> bool {
        let vertices = view.vertices() as VertexId;
        if vertices == 0 || matches!(&self.whole[..], [all] if *all == (0..vertices)) {
            return true;
        }
        let mut next = 0;
        let mut whole = self.whole.iter().peekable();
        let mut parts = self.parts.iter().peekable();
        while next < vertices {
            if let Some(range) = whole.next_if(|r| r.start == next) {
                next = range.end;
            } else if parts.next_if(|u| **u == WorkUnit::whole(view, next)).is_some() {
                next += 1;
            } else {
                return false;
            }
        }
        true
    }
}

fn twice(v: VertexId) -> Error {
    Error::usage(format!("work of vertex {v} is there twice"))
}

/// The units that a run does.
#[derive(Debug, Clone, Copy)]
pub enum Units<'a> {
    /// All of the graph.
    All,
    /// Those of a share.
    Share(&'a Share),
}

impl<'a> Units<'a> {
    /// The share, where it is one.
    pub fn share(self) -> Option<&'a Share> {
        match self {
            Units::All => None,
            Units::Share(share) => Some(share),
        }
    }

    /// Checks that the units are units of the graph.
    ///
    /// # Errors
    /// [`Error::Usage`] for a vertex or a position that isn't there.
    pub fn check(self, view: View<'_>) -> Result<()> {
        let Units::Share(share) = self else { return Ok(()) };
        let vertices = view.vertices();
        if let Some(last) = share.whole.last().filter(|r| r.end as usize > vertices) {
            return Err(Error::usage(format!(
                "there are no vertices {} to {}",
                last.start, last.end
            )));
        }
        for u in &share.parts {
            if u.start as usize >= vertices || u.limit as usize > view.degree(u.start) {
                return Err(Error::usage(format!(
                    "there is no part {} to {} of list {}",
                    u.first, u.limit, u.start
                )));
            }
        }
        Ok(())
    }

    /// The units in order; of a share that passes [`Units::check`].
    pub fn iter(self, view: View<'a>) -> impl Iterator<Item = WorkUnit> + 'a {
        let all = 0..view.vertices() as VertexId;
        let (all, share) = match self {
            Units::All => (Some(all), None),
            Units::Share(share) => (None, Some(share)),
        };
        let whole = share.into_iter().flat_map(|s| s.whole.iter().cloned());
        let mut parts = share.into_iter().flat_map(|s| s.parts.iter().copied()).peekable();
        let mut whole = all.into_iter().chain(whole).flatten().peekable();
        std::iter::from_fn(move || {
            let before = |unit: &WorkUnit| whole.peek().is_none_or(|&v| unit.start < v);
            match parts.next_if(before) {
                Some(part) => Some(part),
                None => whole.next().map(|v| WorkUnit::whole(view, v)),
            }
        })
    }

    /// The positions of an engine's own list of start vertex `v` that belong to these units: `own`
    /// positions stand for the `degree` positions of the graph's list, in order. Where a list is not
    /// divided (`own` is 1) it belongs to the unit with the last position.
    pub fn positions(
        self,
        v: VertexId,
        degree: usize,
        own: u32,
    ) -> impl Iterator<Item = Range<u32>> + 'a {
        let (all, parts): (_, &[WorkUnit]) = match self {
            Units::All => (true, &[]),
            Units::Share(share) => (share.has_whole(v), share.parts_of(v)),
        };
        let at = move |p: u32| (u64::from(own) * u64::from(p) / degree.max(1) as u64) as u32;
        all.then_some(0..own)
            .into_iter()
            .chain(parts.iter().map(move |u| at(u.first)..at(u.limit)))
            .filter(|r| !r.is_empty())
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// A hub with 1000 leaves.
    fn star() -> gramer_graph::Graph {
        let mut builder = gramer_graph::Builder::new();
        (1..=1000).for_each(|leaf| builder.edge(0, leaf));
        builder.build()
    }

    #[test]
    fn a_unit_is_halved_down_to_one_position() {
        let unit = WorkUnit { start: 5, first: 2, limit: 5 };
        let [a, b] = unit.halves().unwrap();
        assert_eq!((a.first, a.limit, b.first, b.limit), (2, 3, 3, 5));
        assert_eq!(a.halves(), None);
        assert_eq!(WorkUnit { start: 0, first: 0, limit: 0 }.halves(), None);
    }

    #[test]
    fn shares_of_a_split_are_the_whole_and_a_hub_is_divided() {
        let graph = star();
        let view = graph.view();
        for into in [1, 2, 7, 500] {
            let shares = Share::split(view, into);
            assert!(!shares.is_empty() && shares.len() <= into, "{}", shares.len());
            let mut sum = Share::default();
            for share in &shares {
                assert!(!sum.is_all(view) && !share.is_empty());
                sum = sum.union(share.clone()).unwrap();
            }
            assert!(sum.is_all(view));
            let units: Vec<_> = shares.iter().flat_map(|s| Units::Share(s).iter(view)).collect();
            let positions: usize = units.iter().map(|u| u.range().len()).sum();
            assert_eq!(positions, 2 * graph.edges());
            assert!(into == 1 || units.len() > graph.vertices(), "the hub is divided");
        }
    }

    #[test]
    fn own_lists_are_divided_without_gap_or_overlap() {
        let part = |first, limit| WorkUnit { start: 3, first, limit };
        let shares: Vec<Share> = [(0, 4), (4, 5), (5, 10)]
            .map(|(first, limit)| Share::new([], [part(first, limit)]).unwrap())
            .into();
        for own in [1, 2, 3, 10, 25] {
            let covered: Vec<u32> = shares
                .iter()
                .flat_map(|s| Units::Share(s).positions(3, 10, own))
                .flatten()
                .collect();
            assert_eq!(covered, (0..own).collect::<Vec<_>>());
            assert_eq!(Units::Share(&shares[0]).positions(2, 10, own).count(), 0);
        }
        let whole = Share::new(std::iter::once(3..4), []).unwrap();
        assert_eq!(Units::Share(&whole).positions(3, 0, 1).next(), Some(0..1), "an empty list");
    }

    #[test]
    fn a_share_comes_back_and_wrong_ones_are_refused() {
        let unit = |start, first, limit| WorkUnit { start, first, limit };
        let share = Share::new([5..9, 0..2], [unit(3, 2, 4), unit(3, 0, 1)]).unwrap();
        let text = serde_json::to_string(&share).unwrap();
        assert_eq!(text, r#"{"whole":[[0,2],[5,9]],"parts":[[3,0,1],[3,2,4]]}"#);
        assert_eq!(serde_json::from_str::<Share>(&text).unwrap(), share);
        for wrong in [
            r#"{"whole":[[0,2],[1,3]],"parts":[]}"#,
            r#"{"whole":[[2,2]],"parts":[]}"#,
            r#"{"whole":[[0,2]],"parts":[[1,0,1]]}"#,
            r#"{"whole":[],"parts":[[1,0,2],[1,1,3]]}"#,
            r#"{"whole":[],"parts":[[1,2,2]]}"#,
        ] {
            assert!(serde_json::from_str::<Share>(wrong).is_err(), "{wrong}");
        }
        let graph = star();
        for wrong in [Share::new(std::iter::once(1000..1002), []), Share::new([], [unit(7, 0, 2)])]
        {
            assert!(Units::Share(&wrong.unwrap()).check(graph.view()).is_err());
        }
    }

    #[test]
    fn groups_hold_every_unit_once_and_in_order() {
        let graph = star();
        let view = graph.view();
        let units = || Units::All.iter(view).map(|u| (u, u.range().len() as u64));
        for (groups, exceed, most) in [(1, false, 300), (7, false, 5000), (7, true, 5000)] {
            let cut = cut(units, Cut { groups, exceed, divide: false, most });
            let starts: Vec<u32> = cut.iter().flatten().map(|u| u.start).collect();
            assert_eq!(starts, (0..=1000).collect::<Vec<_>>());
            assert!(cut.iter().all(|g| !g.is_empty() && g.len() <= most));
            match most {
                300 => {
                    assert_eq!(cut.iter().map(<[_]>::len).collect::<Vec<_>>(), [300, 300, 300, 101])
                }
                _ => assert!(exceed || cut.len() <= groups as usize),
            }
        }
    }
}
