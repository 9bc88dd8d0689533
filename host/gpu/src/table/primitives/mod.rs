//! GAMMA's primitives and DuMato's workflow for programs of users: tables of embeddings that are extended,
//! filtered and aggregated on a GPU (Hu et al., section 4; Ferraz et al., section 4).
//!
//! A [`Mining`] is a graph on a device. A [`Table`] holds embeddings on it, by vertices or by edges; a
//! [`Workflow`] is the loop of the same extension and filter at each depth. Both work within the budget of
//! [`Settings::memory`](crate::Settings::memory), however large graph and tables are, and give the same results
//! at every budget.
//!
//! ```no_run
//! use gramer_gpu::primitives::{Filter, Key, Measure, Mining, Table};
//! use gramer_gpu::{Gpu, Settings};
//! use gramer_base::Error;
//! use gramer_graph::Builder;
//! # let mut builder = Builder::new();
//! # (1..4).for_each(|v| { builder.edge(0, v); });
//! # let graph = builder.build();
//!
//! let gpu = Gpu::open("gpu", &Settings::default())?;
//! let mining = Mining::new(&gpu, &graph)?;
//! // Connected sets of three vertices, each once, and the patterns with at least 100 of them.
//! let mut table = Table::vertices(&mining, &Filter::any())?;
//! table.extend_vertex(.., &Filter::canonical())?;
//! table.extend_vertex(.., &Filter::canonical())?;
//! let patterns = table.aggregate(&Key::Pattern, &Measure::Count)?;
//! table.filter(&patterns.at_least(100))?;
//! for row in table.rows().take(10) {
//!     println!("{:?}", row?);
//! }
//! # Ok::<(), Error>(())
//! ```
//!
//! # Functions in OpenCL C
//!
//! [`Filter::source`], [`EdgeFilter::source`], [`Key::Source`] and [`Measure::Sum`] take text in OpenCL C 1.2 that
//! defines the function which each names. Additional helper functions are allowed; their names must be unique among
//! the texts of an operation. Its first argument is the embedding:
//!
//! | | is |
//! |---|---|
//! | `e->size`, `e->vertex[i]` | vertices of the embedding, in the order in which they came; at most 16 |
//! | `e->edges`, `e->from[j]`, `e->to[j]` | in tables of edges: its edges, the smaller end first; at most 15 |
//! | `degree(e, v)` | number of neighbours |
//! | `adjacent(e, u, v)` | whether two vertices are neighbours: a binary search |
//! | `label(e, v)`, `edge_label(e, u, v)` | labels; `NONE` for no label |
//!
//! A function that filters gets the embedding without the new vertex or edge. Vertices are the numbers of
//! [`Numbers`]. Text that doesn't compile is refused ([`Error::Usage`](gramer_base::Error::Usage)) with the
//! compiler's message and the line. A function that doesn't end is not stopped: the host waits for the device.
//!
//! # Several devices
//!
//! A [`Mining`] has one device. Programs that want several open a [`Gpu`](crate::Gpu) for each, and divide the
//! first vertices or edges by their own filter; counts of disjoint parts add up, minimum-image support
//! doesn't.

mod aggregation;
mod extension;
mod filter;
mod grouping;
mod groups;
mod mining;
mod others;
mod positions;
mod rows;
mod segment;
mod source;
mod table;
mod workflow;

use gramer_graph::VertexId;

use crate::plan::DepthLimit;

pub use super::sort::{Segments, count_numbers};
pub use filter::{EdgeFilter, Filter};
pub(crate) use grouping::GroupingTotals;
pub use groups::{Group, GroupKey, Groups, Key, Measure, Selection};
pub use mining::{Mining, Numbers};
pub(in crate::table) use others::LevelPeers;
pub use positions::Positions;
pub use rows::Rows;
pub use table::{RowFilter, Table};
pub use workflow::Workflow;

/// Vertices of the largest embeddings.
pub const MOST_VERTICES: usize = DepthLimit::SMALL.depths();
/// Edges of the largest embeddings of tables of edges: they may have one vertex more.
pub const MOST_EDGES: usize = MOST_VERTICES - 1;

/// Elements of a [`Table`]'s rows: only [`Vertices`] or [`Edges`].
pub trait Kind: private::Sealed {
    /// An element of a row.
    type Item: Copy + std::fmt::Debug + Ord;
    /// Filter of extensions.
    type Filter: std::fmt::Debug + 'static;
    /// Whether elements are edges.
    #[doc(hidden)]
    const EDGES: bool;
    /// The filter as one of the two.
    #[doc(hidden)]
    fn either(filter: &Self::Filter) -> FilterKind<'_>;
    /// An element with these ends; a vertex is its own.
    #[doc(hidden)]
    fn item(ends: [VertexId; 2]) -> Self::Item;
}

/// A filter of either kind.
#[doc(hidden)]
pub enum FilterKind<'f> {
    Vertex(&'f Filter),
    Edge(&'f EdgeFilter),
}

/// Rows are vertices.
#[derive(Debug, Clone, Copy)]
pub enum Vertices {}

/// Rows are edges, pairs of vertices.
#[derive(Debug, Clone, Copy)]
pub enum Edges {}

impl Kind for Vertices {
    type Item = VertexId;
    type Filter = Filter;
    const EDGES: bool = false;

    fn either(filter: &Filter) -> FilterKind<'_> {
        FilterKind::Vertex(filter)
    }

    fn item([vertex, _]: [VertexId; 2]) -> VertexId {
        vertex
    }
}

impl Kind for Edges {
    type Item = (VertexId, VertexId);
    type Filter = EdgeFilter;
    const EDGES: bool = true;

    fn either(filter: &EdgeFilter) -> FilterKind<'_> {
        FilterKind::Edge(filter)
    }

    fn item([from, to]: [VertexId; 2]) -> (VertexId, VertexId) {
        (from, to)
    }
}

/// The programs of the page compile.
#[cfg(doctest)]
#[doc = include_str!("../../../../../docs/guide/gpu-programs.md")]
pub struct Page;

mod private {
    /// Prevents other crates from defining kinds of rows.
    pub trait Sealed {}
    impl Sealed for super::Vertices {}
    impl Sealed for super::Edges {}
}
