//! Sets of work units for runs, devices and machines.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use gramer_base::error::{Error, Result};
use gramer_graph::{VertexId, View};

use super::{CutSettings, Units, WorkUnit, cut};

/// A set of work units of one graph.
///
/// ```
/// use gramer_engine::work::{Share, WorkUnit};
///
/// let left = Share::new([0..10], [WorkUnit { start: 10, first: 0, limit: 4 }])?;
/// let right = Share::new([11..20], [WorkUnit { start: 10, first: 4, limit: 9 }])?;
/// let both = left.clone().union(right)?;
/// assert!(both.clone().union(left).is_err(), "units are in a share once");
/// # Ok::<(), gramer_base::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct Share {
    /// Vertices with their whole lists: ascending, neither overlapping nor touching.
    pub(super) whole: Vec<Range<VertexId>>,
    /// Parts of lists of other vertices: ascending, neither overlapping nor touching, not empty.
    pub(super) parts: Vec<WorkUnit>,
}

/// Serialised form of a share.
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
    /// [`Error::Usage`] for an empty or reversed range, and for a repeated unit.
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

    /// Creates a share of distinct units.
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
    ///
    /// ```
    /// use gramer_cpu::Cpu;
    /// use gramer_engine::{Engine, Outcome, Share, Units};
    /// use gramer_base::Context;
    /// use gramer_graph::Builder;
    /// use gramer_pattern::Task;
    ///
    /// let mut builder = Builder::new();
    /// (0..9).for_each(|v| (0..v).for_each(|u| builder.edge(u, v)));
    /// let graph = builder.build();
    /// let (task, context) = (Task::Clique { k: 3 }, Context::default());
    /// let prepared = Cpu.prepare(&graph, &context)?;
    /// let shares = Share::split(graph.view(), 3);
    /// let parts = shares.iter().map(|share| prepared.run(&task, Units::Share(share), None, &context));
    /// let whole = Outcome::merge(&task, &graph, parts.collect::<Result<Vec<_>, _>>()?)?;
    /// assert_eq!(whole.results[0].count, 84);
    /// # Ok::<(), gramer_base::Error>(())
    /// ```
    pub fn split(view: View<'_>, into: usize) -> Vec<Share> {
        let units = || Units::All.iter(view).map(|unit| (unit, u64::from(unit.limit).pow(2)));
        let limits = CutSettings {
            groups: into.max(1) as u64,
            exceed: false,
            divide: true,
            most: usize::MAX,
        };
        cut(units, limits)
            .iter()
            .map(|units| Share::of(view, units).expect("units are cut once"))
            .collect()
    }

    /// Whether there is no unit.
    pub fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.parts.is_empty()
    }

    pub(super) fn has_whole(&self, v: VertexId) -> bool {
        let after = self.whole.partition_point(|r| r.start <= v);
        after > 0 && v < self.whole[after - 1].end
    }

    /// The parts of the list of `v`.
    pub(super) fn parts_of(&self, v: VertexId) -> &[WorkUnit] {
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

    /// Returns the same units for reversed vertex numbers; `None` if a list is divided.
    pub fn backwards(&self, vertices: usize) -> Option<Share> {
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
    Error::usage(format!("work of vertex {v} is repeated"))
}
