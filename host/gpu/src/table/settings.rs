//! How the strategy `table` uses the memories, and what of it can be left out.

use std::path::PathBuf;

use gramer_base::choice::Choice;

use super::pages::Access;
use crate::join::{Join, JoinSettings};

/// Memory settings of the strategy `table`; answers don't depend on them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableSettings {
    /// Pages of the graph that are copied to a device without room for all.
    pub access: Access,
    /// Order in which tables are extended.
    pub traversal: Traversal,
    /// Bytes of the host's memory for tables, beyond which they go to a file; none: half of what is
    /// available.
    pub host_memory: Option<u64>,
    /// The folder of that file; none: that for temporary files.
    pub spill: Option<PathBuf>,
    /// Join of the next vertex of a pattern.
    pub join: Join,
    /// Settings of SGSI's join.
    pub join_settings: JoinSettings,
    /// Number of warps; none: as many as the device keeps busy, and not more than there are windows of the lists.
    pub warps: Option<usize>,
    /// Merge of sorted segments. Not available as a command-line option.
    pub merge: Merge,
    /// Mechanisms that are left out, to see what they are worth.
    pub without: Ablation,
}

/// How a warp merges short sorted lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Merge {
    /// Two lists at a time, each lane a part of the output, which a search along the diagonal finds (merge path).
    #[default]
    Path,
    /// Searches each element in earlier lists; sums of counters replace the search in later ones (GAMMA, figure 15c).
    Earlier,
    /// Searches each element in all other lists (GAMMA, figure 15b).
    Every,
}

/// Order in which tables are extended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Traversal {
    /// Extends all that fits into the device's memory to the end before creating more.
    #[default]
    Depth,
    /// Each column is made whole before the next; tables lie in the host's memory, and in a file where
    /// that is short (GAMMA, section 5.2).
    Breadth,
}

impl Choice for Traversal {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Traversal::Depth, "depth", "What fits on the device to the end, then more"),
        (Traversal::Breadth, "breadth", "Whole columns; tables spill to the host and to a file"),
    ];
}

/// Mechanisms that can be left out: three of the extension (GAMMA, section 6.1), four of the join (GSI).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ablation {
    /// The prefix's lists are intersected for each embedding of a group.
    pub groups: bool,
    /// Every element is searched for.
    pub filter: bool,
    /// The tile is searched in the order of the list.
    pub layout: bool,
    /// Neighbours by label are picked from lists of all neighbours.
    pub pcsr: bool,
    /// Joins are done twice, to count and to write, instead of into buffers that were allocated before.
    pub prealloc: bool,
    /// Rows are read for each element, and candidates are searched for in a list.
    pub sets: bool,
    /// Each vertex is written separately.
    pub write_cache: bool,
}

/// Mechanism that can be disabled (ablation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// [`Ablation::groups`].
    Group,
    /// [`Ablation::filter`].
    Filter,
    /// [`Ablation::layout`].
    Layout,
    /// [`Ablation::pcsr`].
    Pcsr,
    /// [`Ablation::prealloc`].
    Prealloc,
    /// [`Ablation::sets`].
    SetOperations,
    /// [`Ablation::write_cache`].
    WriteCache,
}

impl Choice for Mechanism {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Mechanism::Group, "group", "Prefixes in common (join intersect)"),
        (Mechanism::Filter, "filter", "The filter before a search (join intersect)"),
        (Mechanism::Layout, "layout", "Tiles by columns (join intersect)"),
        (Mechanism::Pcsr, "pcsr", "Neighbours by edge label (join prealloc)"),
        (Mechanism::Prealloc, "prealloc", "Buffers before the join (join prealloc)"),
        (Mechanism::SetOperations, "set-operations", "Set operations by size (join prealloc)"),
        (Mechanism::WriteCache, "write-cache", "Whole lines of results (join prealloc)"),
    ];
}

impl Mechanism {
    /// Whether it belongs to SGSI's join.
    pub fn is_of_join(self) -> bool {
        !matches!(self, Mechanism::Group | Mechanism::Filter | Mechanism::Layout)
    }
}

impl Ablation {
    fn place(&mut self, one: Mechanism) -> &mut bool {
        match one {
            Mechanism::Group => &mut self.groups,
            Mechanism::Filter => &mut self.filter,
            Mechanism::Layout => &mut self.layout,
            Mechanism::Pcsr => &mut self.pcsr,
            Mechanism::Prealloc => &mut self.prealloc,
            Mechanism::SetOperations => &mut self.sets,
            Mechanism::WriteCache => &mut self.write_cache,
        }
    }

    /// Whether a mechanism is left out.
    pub fn has(mut self, one: Mechanism) -> bool {
        *self.place(one)
    }
}

impl FromIterator<Mechanism> for Ablation {
    fn from_iter<T: IntoIterator<Item = Mechanism>>(all: T) -> Self {
        let mut without = Ablation::default();
        all.into_iter().for_each(|one| *without.place(one) = true);
        without
    }
}
