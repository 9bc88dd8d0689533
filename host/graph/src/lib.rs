#![doc = include_str!("../README.md")]
//!
//! Vertices are numbered from 0; the ids of the input come back through
//! [`Graph::original_id`]. After [`crate::prepare::renumber`] the number of a vertex is its
//! Rank(ON_1): vertex 0 is the most valuable one.

mod build;
#[cfg(feature = "columnar")]
pub mod columnar {
    //! Tables as Parquet files.
    pub use crate::format::columnar::{Values, write_columns};
}
mod format;
pub mod generate;
mod ids;
pub mod image;
pub mod local;
pub mod names;
mod origin;
pub mod prepare;
pub mod read;
mod reorder;
mod summary;
pub mod transactions;
pub mod write;

use std::sync::Arc;

use gramer_base::Storage;
use ids::Ids;

pub use build::{BuildStats, Builder, MAX_GRAPH_VERTICES};
pub use names::{Name, Names};
pub use reorder::in_input_order;
pub use summary::Summary;

/// Number of a vertex inside the program.
pub type VertexId = u32;
/// Label of a vertex or an edge. [`NO_LABEL`] is not a label.
pub type Label = u32;
/// Stands for "any label" in patterns; never a label of a graph.
pub const NO_LABEL: Label = u32::MAX;

/// Meaning of the vertex numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Order of the input: by ascending original id.
    Input,
    /// Rank(ON_1), section IV-B of the paper: vertex 0 has the largest ON_1.
    RankOn1,
}

/// An order that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedOrder {
    /// The order.
    pub order: Order,
    /// Whether a [local] graph keeps the order of its input in place of [`Order::RankOn1`].
    pub keep_local: bool,
}

impl From<Order> for AskedOrder {
    fn from(order: Order) -> Self {
        AskedOrder { order, keep_local: false }
    }
}

/// An undirected simple graph: no self loops, no parallel edges, every edge in both rows, rows sorted by neighbour.
/// Its arrays never change, and clones share them.
///
/// ```
/// use gramer_graph::Builder;
///
/// let mut builder = Builder::new();
/// for (u, v) in [(7, 30), (30, 12), (12, 7), (12, 12)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// assert_eq!((graph.vertices(), graph.edges()), (3, 3));
/// assert_eq!(graph.stats().self_loops, 1);
/// // Vertices have numbers by ascending id of the input.
/// assert_eq!(graph.original_ids(), [7, 12, 30]);
/// assert_eq!(graph.view().neighbours(1), [0, 2]);
/// ```
#[derive(Debug, Clone)]
pub struct Graph {
    /// V + 1 positions in `neighbours`.
    offsets: Storage<u64>,
    /// 2 E neighbours, row by row.
    neighbours: Storage<VertexId>,
    /// V labels.
    vertex_labels: Option<Storage<Label>>,
    /// 2 E labels, parallel to `neighbours`; both directions of an edge have the same.
    edge_labels: Option<Storage<Label>>,
    /// V ids of the input.
    original_ids: Ids,
    /// The texts behind ids and labels.
    names: Dictionaries,
    order: Order,
    stats: BuildStats,
    /// The image that it came from, where something can still be wrong with that.
    origin: Option<origin::Origin>,
}

/// Texts in place of numbers, as the input had them. With texts of vertices an original id is a position among these,
/// and so is a label with texts of labels.
#[derive(Debug, Clone, Default)]
pub struct Dictionaries {
    /// Names of vertices.
    pub vertices: Option<Arc<Names>>,
    /// Texts of vertex labels.
    pub vertex_labels: Option<Arc<Names>>,
    /// Texts of edge labels.
    pub edge_labels: Option<Arc<Names>>,
}

/// The arrays of a graph as plain slices: what engines work on.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// V + 1 positions in `neighbours`.
    pub offsets: &'a [u64],
    /// 2 E neighbours, row by row, each row ascending.
    pub neighbours: &'a [VertexId],
    /// V labels.
    pub vertex_labels: Option<&'a [Label]>,
    /// 2 E labels, parallel to `neighbours`.
    pub edge_labels: Option<&'a [Label]>,
}

impl<'a> View<'a> {
    /// Number of vertices.
    #[inline]
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Positions of `v`'s row in `neighbours`. Counts as reading the row ([`gramer_base::budget::touch`]).
    #[inline]
    pub fn row(&self, v: VertexId) -> std::ops::Range<usize> {
        let row = self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize;
        gramer_base::budget::touch(&self.neighbours[row.clone()]);
        row
    }

    /// Neighbours of `v`, ascending.
    #[inline]
    pub fn neighbours(&self, v: VertexId) -> &'a [VertexId] {
        &self.neighbours[self.row(v)]
    }

    /// Prefetches the rows of vertices some places after the one at `i` in a list whose rows are read one after
    /// another. They lie in random places.
    #[inline]
    pub fn ask_row_ahead(&self, list: &[VertexId], i: usize) {
        if let Some(&far) = list.get(i + 16) {
            gramer_base::prefetch::prefetch(self.offsets, far as usize, 1);
        }
        if let Some(&near) = list.get(i + 6) {
            gramer_base::prefetch::prefetch(
                self.neighbours,
                self.offsets[near as usize] as usize,
                2,
            );
        }
    }

    /// As [`View::ask_row_ahead`], for rows read backwards from their ends.
    #[inline]
    pub fn ask_row_end_ahead(&self, list: &[VertexId], i: usize) {
        if let Some(&far) = list.get(i + 16) {
            gramer_base::prefetch::prefetch(self.offsets, far as usize + 1, 1);
        }
        if let Some(&near) = list.get(i + 6) {
            let end = self.offsets[near as usize + 1] as usize;
            gramer_base::prefetch::prefetch(self.neighbours, end.saturating_sub(17), 2);
        }
    }

    /// Number of neighbours of `v`.
    #[inline]
    pub fn degree(&self, v: VertexId) -> usize {
        (self.offsets[v as usize + 1] - self.offsets[v as usize]) as usize
    }

    /// Whether `u` and `v` are neighbours (binary search in the shorter row).
    #[inline]
    pub fn has_edge(&self, u: VertexId, v: VertexId) -> bool {
        let (a, b) = if self.degree(u) <= self.degree(v) { (u, v) } else { (v, u) };
        self.neighbours(a).binary_search(&b).is_ok()
    }

    /// Label of `v`; 0 where the graph has no vertex labels.
    #[inline]
    pub fn vertex_label(&self, v: VertexId) -> Label {
        self.vertex_labels.map_or(0, |l| l[v as usize])
    }

    /// Label of the edge `u`–`v`, 0 where the graph has no edge labels; `None` if there is no
    /// such edge.
    pub fn edge_label(&self, u: VertexId, v: VertexId) -> Option<Label> {
        let (a, b) = if self.degree(u) <= self.degree(v) { (u, v) } else { (v, u) };
        let at = self.neighbours(a).binary_search(&b).ok()?;
        Some(self.edge_labels.map_or(0, |l| l[self.offsets[a as usize] as usize + at]))
    }
}

/// Arrays of a graph; see [`Graph::from_parts`].
#[derive(Debug, Clone)]
pub struct Parts {
    /// V + 1 positions in `neighbours`.
    pub offsets: Storage<u64>,
    /// 2 E neighbours, row by row, each row ascending, without the vertex itself.
    pub neighbours: Storage<VertexId>,
    /// V labels.
    pub vertex_labels: Option<Storage<Label>>,
    /// 2 E labels, parallel to `neighbours`.
    pub edge_labels: Option<Storage<Label>>,
    /// V ids of the input; `None` if they are the numbers of the vertices.
    pub original_ids: Option<Storage<u64>>,
    /// The texts behind ids and labels.
    pub names: Dictionaries,
    /// Meaning of the vertex numbers.
    pub order: Order,
    /// Statistics on dropped input.
    pub stats: BuildStats,
}

impl Graph {
    /// Builds a graph from valid arrays. Lengths are checked; the caller guarantees everything else (sorted symmetric
    /// rows, ids in range).
    ///
    /// # Panics
    /// If the lengths contradict each other.
    pub fn from_parts(parts: Parts) -> Self {
        let vertices = parts.offsets.len() - 1;
        let entries = parts.neighbours.len();
        assert_eq!(parts.offsets[vertices] as usize, entries);
        assert!(parts.original_ids.as_ref().is_none_or(|ids| ids.len() == vertices));
        assert!(parts.vertex_labels.as_ref().is_none_or(|l| l.len() == vertices));
        assert!(parts.edge_labels.as_ref().is_none_or(|l| l.len() == entries));
        let Parts { offsets, neighbours, vertex_labels, edge_labels, .. } = parts;
        let Parts { original_ids, names, order, stats, .. } = parts;
        let origin = None;
        Graph {
            offsets,
            neighbours,
            vertex_labels,
            edge_labels,
            original_ids: Ids::of(vertices, original_ids),
            names,
            order,
            stats,
            origin,
        }
    }

    /// The arrays as slices.
    pub fn view(&self) -> View<'_> {
        View {
            offsets: &self.offsets,
            neighbours: &self.neighbours,
            vertex_labels: self.vertex_labels.as_deref(),
            edge_labels: self.edge_labels.as_deref(),
        }
    }

    /// Number of vertices, isolated ones included.
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of undirected edges.
    pub fn edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Whether vertices have labels.
    pub fn has_vertex_labels(&self) -> bool {
        self.vertex_labels.is_some()
    }

    /// Whether edges have labels.
    pub fn has_edge_labels(&self) -> bool {
        self.edge_labels.is_some()
    }

    /// Number of different vertex labels; 0 without labels.
    pub fn vertex_label_count(&self) -> usize {
        self.vertex_labels.as_deref().map_or(0, distinct)
    }

    /// Number of different edge labels; 0 without labels.
    pub fn edge_label_count(&self) -> usize {
        self.edge_labels.as_deref().map_or(0, distinct)
    }

    /// The id of vertex `v` as in the input, for display.
    #[inline]
    pub fn vertex_name(&self, v: VertexId) -> Name<'_> {
        self.name_of_id(self.original_id(v))
    }

    /// The id of a vertex for people, by its [`Graph::original_id`].
    pub fn name_of_id(&self, id: u64) -> Name<'_> {
        named(self.names.vertices.as_deref(), id)
    }

    /// A vertex label as in the input, for display.
    pub fn vertex_label_name(&self, label: Label) -> Name<'_> {
        named(self.names.vertex_labels.as_deref(), label.into())
    }

    /// An edge label as in the input, for display.
    pub fn edge_label_name(&self, label: Label) -> Name<'_> {
        named(self.names.edge_labels.as_deref(), label.into())
    }

    /// The vertex label with this name; `None` if the dictionary lacks it, or, without a dictionary, if it is no
    /// number.
    pub fn vertex_label_number(&self, name: &str) -> Option<Label> {
        label_number(self.names.vertex_labels.as_deref(), name)
    }

    /// The edge label with this name, as [`Graph::vertex_label_number`].
    pub fn edge_label_number(&self, name: &str) -> Option<Label> {
        label_number(self.names.edge_labels.as_deref(), name)
    }

    /// The original id behind a name, which need not be in the graph where ids are numbers.
    pub fn id_of_name(&self, name: &str) -> Option<u64> {
        match &self.names.vertices {
            Some(names) => names.number(name).map(u64::from),
            None => names::plain_number(name.as_bytes()),
        }
    }

    /// The texts behind ids and labels.
    pub fn names(&self) -> &Dictionaries {
        &self.names
    }

    /// Replaces the texts behind ids and labels.
    pub fn with_names(mut self, names: Dictionaries) -> Self {
        self.names = names;
        self
    }

    /// Id of vertex `v` in the input: a number, or a position among the names of vertices.
    #[inline]
    pub fn original_id(&self, v: VertexId) -> u64 {
        self.original_ids.of_vertex(v)
    }

    /// The ids of the input, by vertex.
    pub fn original_ids(&self) -> &[u64] {
        self.original_ids.all()
    }

    /// Whether the ids of the input are the numbers of the vertices.
    pub fn ids_are_numbers(&self) -> bool {
        self.original_ids.are_numbers()
    }

    /// Meaning of the vertex numbers.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Statistics on input dropped when the graph was built.
    pub fn stats(&self) -> BuildStats {
        self.stats
    }

    /// Replaces the vertex labels.
    ///
    /// # Panics
    /// If there is not one label for each vertex.
    pub fn with_vertex_labels(mut self, labels: Option<Vec<Label>>) -> Self {
        assert!(labels.as_ref().is_none_or(|l| l.len() == self.vertices()));
        self.vertex_labels = labels.map(Storage::from);
        self.names.vertex_labels = None;
        self
    }

    /// Removes the edge labels.
    pub fn without_edge_labels(mut self) -> Self {
        self.edge_labels = None;
        self.names.edge_labels = None;
        self
    }

    /// Largest degree; 0 for an empty graph.
    pub fn max_degree(&self) -> usize {
        self.offsets.windows(2).map(|w| (w[1] - w[0]) as usize).max().unwrap_or(0)
    }
}

/// The text of a number, or the number itself where there are no texts.
fn named(names: Option<&Names>, number: u64) -> Name<'_> {
    names.and_then(|names| names.get(number)).map_or(Name::Number(number), Name::Text)
}

/// The label of a name.
fn label_number(names: Option<&Names>, name: &str) -> Option<Label> {
    match names {
        Some(names) => names.number(name),
        None => name.parse().ok().filter(|&label| label != NO_LABEL),
    }
}

fn distinct(labels: &[Label]) -> usize {
    /// Labels below this are marked in a table of bits, which takes a nanosecond each.
    const FEW: u32 = 1 << 24;
    let largest = labels.iter().copied().fold(0, Label::max);
    if largest < FEW {
        let mut seen = vec![0u64; largest as usize / 64 + 1];
        labels.iter().for_each(|&label| seen[label as usize / 64] |= 1 << (label % 64));
        return seen.iter().map(|word| word.count_ones() as usize).sum();
    }
    labels.iter().copied().collect::<rustc_hash::FxHashSet<_>>().len()
}
