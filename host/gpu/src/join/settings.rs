//! Settings of the joins.

use gramer_base::choice::Choice;

use super::layers::Layers;

/// Join of a pattern's next vertex in the strategy `table`; answers don't depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Join {
    /// As GAMMA extends: lists are intersected by prefix, tile and filter.
    #[default]
    Intersect,
    /// As SGSI joins: Prealloc-Combine over PCSR.
    Prealloc,
}

impl Choice for Join {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Join::Intersect, "intersect", "As GAMMA extends, by tiles of a prefix' neighbours"),
        (Join::Prealloc, "prealloc", "As SGSI joins, with buffers allocated before (matching)"),
    ];
}

/// Which linking edge of a row comes first, and says how large its buffer is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FirstEdge {
    /// That with the shortest list, row by row.
    #[default]
    Row,
    /// That whose label is the least frequent, for all rows (SGSI, Alg. 3).
    Label,
}

impl Choice for FirstEdge {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (FirstEdge::Row, "row", "That with the shortest list, row by row"),
        (FirstEdge::Label, "label", "That with the rarest label, as in the paper"),
    ];
}

/// Place of a vertex' neighbours by the label of the edge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rows {
    /// In hash groups of 128 bytes: PCSR.
    #[default]
    Groups,
    /// Behind a binary search in the sources: the compressed representation that the paper compares (GSI, table 4).
    Search,
}

impl Choice for Rows {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Rows::Groups, "groups", "In hash groups (PCSR)"),
        (Rows::Search, "search", "Behind a binary search in the label's vertices"),
    ];
}

/// Settings of SGSI's join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinSettings {
    /// Choice of the first edge.
    pub first: FirstEdge,
    /// Division of rows among warps, blocks and the device.
    pub layers: Layers,
    /// Parts into which each label's edges are cut, at least; 1 and more. More are made where one wouldn't fit.
    pub segments: u32,
    /// Pairs of a group of PCSR with that at its end, 2 to 16: groups of 16 to 128 bytes.
    pub pairs: u32,
    /// How a vertex' neighbours by label are found.
    pub rows: Rows,
}

impl Default for JoinSettings {
    /// Whole labels, and groups of 128 bytes.
    fn default() -> Self {
        let (first, layers, rows) = (FirstEdge::Row, Layers::None, Rows::Groups);
        JoinSettings { first, layers, segments: 1, pairs: 16, rows }
    }
}
