//! The roots of a share of work units.

use gramer_engine::Units;
use gramer_graph::{VertexId, View};

use crate::device::Device;
use crate::graph::ByDegree;
use crate::memory::Buffer;
use gramer_base::error::Result;

/// Roots in the numbers of the device. A root is not divided: if shares have parts of a list, the one with the last
/// position has the root.
pub(crate) struct RootSelection {
    /// Ascending.
    pub roots: Vec<u32>,
    /// Whether the graph's first vertex is among them: sums that belong to no root are its.
    pub first: bool,
}

impl RootSelection {
    /// The roots of a share; `None` for all units.
    pub fn of(units: Units<'_>, view: View<'_>, by: &ByDegree) -> Option<Self> {
        units.share()?;
        let (mut roots, mut first) = (vec![], false);
        for unit in units.iter(view).filter(|u| u.limit as usize == view.degree(u.start)) {
            first |= unit.start == 0;
            roots.push(by.rank[unit.start as usize]);
        }
        roots.sort_unstable();
        Some(RootSelection { roots, first })
    }

    /// Whether a vertex of the graph is among them.
    pub fn has(&self, v: VertexId, by: &ByDegree) -> bool {
        self.roots.binary_search(&by.rank[v as usize]).is_ok()
    }

    /// The roots on the device.
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if the budget is too small.
    pub fn buffer(&self, device: &Device) -> Result<Buffer<u32>> {
        Buffer::of(&device.place(), &self.roots, "the roots of a share")
    }

    /// Returns the edges from the roots, by their positions in the rows.
    ///
    /// # Errors
    /// As [`RootSelection::buffer`].
    pub fn edges(&self, device: &Device, by: &ByDegree) -> Result<(Buffer<u32>, usize)> {
        let row = |&root: &u32| by.offsets[root as usize]..by.offsets[root as usize + 1];
        let edges: Vec<u32> = self.roots.iter().flat_map(row).collect();
        Ok((Buffer::of(&device.place(), &edges, "the edges of a share")?, edges.len()))
    }
}
