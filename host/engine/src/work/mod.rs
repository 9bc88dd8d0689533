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

mod cut;
mod share;
mod spread;
#[cfg(test)]
mod tests;

pub use cut::cut_each;
pub use cut::{CutSettings, Groups, cut};
pub use share::Share;
pub use spread::Spread;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use gramer_base::error::{Error, Result};
use gramer_graph::{VertexId, View};

/// A start vertex and a range of positions in its list.
///
/// An engine may number its start vertices in its own order; units in a [`Share`] always name
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
    #[inline]
    pub fn whole(view: View<'_>, start: VertexId) -> Self {
        WorkUnit { start, first: 0, limit: view.degree(start) as u32 }
    }

    /// The positions.
    #[inline]
    pub fn range(self) -> Range<usize> {
        self.first as usize..self.limit as usize
    }

    /// Splits the unit in two halves; `None` if it has only one position.
    pub fn halves(self) -> Option<[WorkUnit; 2]> {
        let middle = self.first + (self.limit.saturating_sub(self.first)) / 2;
        (middle > self.first)
            .then_some([WorkUnit { limit: middle, ..self }, WorkUnit { first: middle, ..self }])
    }
}

/// Work units of a run.
#[derive(Debug, Clone, Copy)]
pub enum Units<'a> {
    /// All of the graph.
    All,
    /// Units of a share.
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
