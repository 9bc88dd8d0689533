//! How to read a graph.

use std::path::PathBuf;

use crate::format::Format;
use crate::{AskedOrder, Order};
use gramer_base::choice::Choice;

/// Interpretation of vertex ids in edge lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ids {
    /// As numbers, or all as texts if one of them is not a number.
    #[default]
    Auto,
    /// As numbers: anything else is an error.
    Number,
    /// As texts, of which `7` and `007` are two.
    Text,
}

impl Choice for Ids {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Ids::Auto, "auto", "Numbers, or all texts if one of them is not a number"),
        (Ids::Number, "number", "Numbers alone"),
        (Ids::Text, "text", "Texts"),
    ];
}

/// Which columns of a table of edges, or attributes, hold what: names, or numbers of columns from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// One end of an edge.
    pub source: Option<String>,
    /// The other end.
    pub target: Option<String>,
    /// The label of the edge; in GraphML, GEXF, GML and JSON an attribute.
    pub edge_label: Option<String>,
    /// The label of a vertex: an attribute in GraphML, GEXF, GML and JSON.
    pub label: Option<String>,
    /// The weight of the edge: a number, which is checked and dropped, as no task takes weights.
    pub weight: Option<String>,
    /// The time of the edge, which is dropped: never an end or a label.
    pub time: Option<String>,
}

impl Columns {
    /// Whether a column is named.
    pub fn any(&self) -> bool {
        self != &Columns::default()
    }
}

/// A table of vertices with their labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VertexTable {
    /// The file.
    pub path: PathBuf,
    /// Column of the id: its name, or a number from 1.
    pub id: Option<String>,
    /// Column of the label.
    pub label: Option<String>,
}

/// Options for reading a graph.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The format, where content should not decide.
    pub format: Option<Format>,
    /// Interpretation of vertex ids in edge lists.
    pub ids: Ids,
    /// Whether a file is read whose head claims other numbers of vertices or edges than follow.
    pub allow_mismatch: bool,
    /// Columns of a table of edges.
    pub columns: Columns,
    /// A table of labels of vertices, which replace those of the graph.
    pub vertex_table: Option<VertexTable>,
    /// A file of vertex labels, which replace those of the graph; see [`read_labels`](super::read_labels).
    pub labels: Option<PathBuf>,
    /// Column of the label in that file, from 1.
    pub labels_column: Option<usize>,
    /// Whether to keep vertex labels.
    pub vertex_labels: bool,
    /// Whether to keep edge labels.
    pub edge_labels: bool,
    /// Whether to check the data of an image, which reads all of it; see [`image::open`](crate::image::open).
    pub verify: bool,
    /// Refuse graphs of more vertices than this. Without it, a text may declare 2^20 vertices or
    /// [`VERTICES_PER_EDGE`] for each of its edges, whichever is more, so that a few bytes can't
    /// ask for all memory.
    pub max_vertices: Option<u64>,
    /// The order of the vertices: with [`Order::RankOn1`] the graph is what [`renumber`](crate::prepare::renumber) makes of
    /// it. One thread makes rows of a text in that order at once, unless edges have labels, vertices have them from a file,
    /// or memory is limited. With [`Order::Input`] an image keeps the order that it has.
    pub order: AskedOrder,
}

/// See [`ReadOptions::max_vertices`].
pub const VERTICES_PER_EDGE: u64 = 16;

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            ids: Ids::Auto,
            allow_mismatch: false,
            columns: Columns::default(),
            vertex_table: None,
            labels: None,
            labels_column: None,
            vertex_labels: true,
            edge_labels: true,
            verify: true,
            max_vertices: None,
            order: Order::Input.into(),
        }
    }
}
