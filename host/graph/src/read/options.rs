//! Formats, and how to read a graph.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Order;
use crate::choice::Choice;

/// A format of graphs.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Edge list: two ids per line, further columns ignored
    Edges,
    /// GraMi and gSpan: `t # 1`, `v id label`, `e u v label`
    Lg,
    /// Subgraph matching: `t V E`, `v id label degree`, `e u v [label]`
    Tve,
    /// Arabesque: `id label neighbours…`
    Arabesque,
    /// METIS: `V E [fmt]`, then a line of neighbours for each vertex
    Metis,
    /// Matrix Market coordinate file
    Mtx,
    /// Knowledge graph: number of triples, then `head tail relation`
    Triples,
    /// Binary image of this program
    Image,
    /// BVGraph of the WebGraph framework: `NAME.graph` with `NAME.properties`; read only
    BvGraph,
}

impl Choice for Format {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Format::Edges, "edges", "Edge list: two ids per line, further columns ignored"),
        (Format::Lg, "lg", "GraMi and gSpan: `t # 1`, `v id label`, `e u v label`"),
        (Format::Tve, "tve", "Subgraph matching: `t V E`, `v id label degree`, `e u v [label]`"),
        (Format::Arabesque, "arabesque", "Arabesque: `id label neighbours…`"),
        (Format::Metis, "metis", "METIS: `V E [fmt]`, then a line of neighbours for each vertex"),
        (Format::Mtx, "mtx", "Matrix Market coordinate file"),
        (
            Format::Triples,
            "triples",
            "Knowledge graph: number of triples, then `head tail relation`",
        ),
        (Format::Image, "image", "Binary image of this program"),
        (
            Format::BvGraph,
            "bvgraph",
            "BVGraph of the WebGraph framework: `NAME.graph` with `NAME.properties`; read only",
        ),
    ];
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How to read a graph.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The format, where content should not decide.
    pub format: Option<Format>,
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
    pub order: Order,
}

/// See [`ReadOptions::max_vertices`].
pub const VERTICES_PER_EDGE: u64 = 16;

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            labels: None,
            labels_column: None,
            vertex_labels: true,
            edge_labels: true,
            verify: true,
            max_vertices: None,
            order: Order::Input,
        }
    }
}
