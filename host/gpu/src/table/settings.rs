//! How the strategy `table` uses the memories, and what of it can be left out.

use std::path::PathBuf;

use gramer_graph::choice::Choice;

use super::pages::Access;
use crate::join::{Join, JoinSettings};

/// How the strategy `table` uses the memories; answers don't depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableSettings {
    /// Which pages of the graph are copied to the device where it doesn't fit.
    pub access: Access,
    /// In which order tables are extended.
    pub traversal: Traversal,
    /// Bytes of the host's memory for tables, beyond which they go to a file; none: half of what is
    /// available.
    pub host_memory: Option<u64>,
    /// The folder of that file; none: that for temporary files.
    pub spill: Option<PathBuf>,
    /// How the next vertex of a pattern is joined.
    pub join: Join,
    /// How SGSI's join is done.
    pub join_settings: JoinSettings,
    /// Mechanisms that are left out, to see what they are worth.
    pub without: Without,
}

/// In which order tables are extended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Traversal {
    /// What fits into the device's memory is extended to the end before more is made.
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
pub struct Without {
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
    /// Each vertex is written by itself.
    pub write_cache: bool,
    /// Sorted segments are searched in all others, instead of in those before them (GAMMA, figure 15c). No option
    /// of the command line has it.
    pub matched: bool,
}

/// A mechanism that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// [`Without::groups`].
    Group,
    /// [`Without::filter`].
    Filter,
    /// [`Without::layout`].
    Layout,
    /// [`Without::pcsr`].
    Pcsr,
    /// [`Without::prealloc`].
    Prealloc,
    /// [`Without::sets`].
    SetOperations,
    /// [`Without::write_cache`].
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
    /// Whether it is one of SGSI's join.
    pub fn is_of_join(self) -> bool {
        !matches!(self, Mechanism::Group | Mechanism::Filter | Mechanism::Layout)
    }
}

impl FromIterator<Mechanism> for Without {
    fn from_iter<T: IntoIterator<Item = Mechanism>>(all: T) -> Self {
        let mut without = Without::default();
        for one in all {
            *match one {
                Mechanism::Group => &mut without.groups,
                Mechanism::Filter => &mut without.filter,
                Mechanism::Layout => &mut without.layout,
                Mechanism::Pcsr => &mut without.pcsr,
                Mechanism::Prealloc => &mut without.prealloc,
                Mechanism::SetOperations => &mut without.sets,
                Mechanism::WriteCache => &mut without.write_cache,
            } = true;
        }
        without
    }
}
