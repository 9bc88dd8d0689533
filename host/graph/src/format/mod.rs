//! The formats of graphs: one table, which everything that knows formats uses.
//!
//! A format is an entry here, a reader in its own file, a sample in `host/graph/tests/formats` and a row in
//! `docs/reference/formats.md`. [`ReaderKind`] has two ways to read a text: by blocks of lines on all threads, for formats
//! of numbers, and as a whole into a [`Sink`], which takes names.

mod adjlist;
mod attributes;
pub(crate) mod columnar;
mod dimacs;
mod fields;
mod gexf;
mod gml;
mod graph6;
mod graphml;
mod json_edges;
mod konect;
mod lad;
mod leda;
mod lgl;
mod ligra;
mod lines;
mod markdown;
mod matrix;
mod nodelink;
mod orca;
mod pajek;
mod records;
mod refusal;
mod sink;
mod table;
mod tgf;
mod transactions;
mod xml;

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

pub(crate) use adjlist::has_colons;
pub(crate) use columnar::magic;
pub(crate) use refusal::check as check_names;
pub(crate) use sink::{Sink, SinkContent, labels_of};
pub(crate) use table::{read as read_table, read_vertices, write_by, write_vertices};
pub(crate) use tgf::shape as tgf_shape;

use crate::read::{Head, Header};
use crate::{Graph, read, write};
use gramer_base::choice::Choice;
use gramer_base::error::Result;

/// Description of a format.
pub(crate) struct Entry {
    pub format: Format,
    pub name: &'static str,
    pub about: &'static str,
    /// Extensions (lower case) that select this format without looking at the content.
    pub reads: &'static [&'static str],
    /// Extensions that select the format for writing.
    pub writes: &'static [&'static str],
    /// Whether a text is in this format, by its beginning; `None` where only a guess tells.
    pub sniff: Option<fn(&[u8]) -> bool>,
    /// What lines would be, for the remark where only a guess found the format; `None` where a guess needs none.
    pub guess: Option<&'static str>,
    /// First bytes of lines that are comments.
    pub comments: &'static [u8],
    /// The number of the first vertex in a format that numbers vertices.
    pub first_id: u64,
    pub keeps: Capabilities,
    pub read: ReaderKind,
    pub write: Option<Writer>,
}

/// Writes a graph as text.
pub(crate) type Writer = fn(&mut dyn Write, &Graph) -> io::Result<()>;

/// Properties of a graph that a format can store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Capabilities {
    pub vertex_labels: bool,
    pub edge_labels: bool,
    /// Vertices without edges.
    pub isolated: bool,
    /// Ids of vertices, numbers or names; else vertices are numbered in their order.
    pub ids: bool,
    /// Labels that are texts.
    pub texts: bool,
}

/// Reader of a format.
#[derive(Clone, Copy)]
pub(crate) enum ReaderKind {
    /// By blocks of lines on all threads, behind a head.
    Blocks {
        header: fn(&mut Head<'_>) -> std::result::Result<Header, read::Fault>,
        /// Whether edges go to a file where memory is limited.
        streams: bool,
        /// Reader for ids or labels that turn out to be texts.
        texts: Option<Texts>,
    },
    /// Sequential reader, from the first to the last byte.
    Whole(Reader),
    /// By its own reader: an image, or a pair of files.
    Own,
}

/// Reads a text from the first to the last byte.
pub(crate) type Reader = fn(&mut dyn BufRead, &mut Sink<'_>) -> Result<()>;

/// The way to read a text whose ids or labels are texts where numbers are usual.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Texts {
    /// The format as which it is read.
    pub format: Format,
    pub read: Reader,
    /// The line at a position, if it has such a text.
    pub shows: fn(&[u8], usize) -> Option<&[u8]>,
    /// Names of the fields with texts, for the remark.
    pub of: &'static str,
}

const NAMES: Texts =
    Texts { format: Format::Table, read: table::read, shows: read::text_at, of: "id" };

/// Labels of `t`, `v` and `e` lines.
const fn labels(format: Format) -> Option<Texts> {
    Some(Texts { format, read: records::read, shows: records::text_label, of: "label" })
}

const TRIPLES: Texts = Texts {
    format: Format::Triples,
    read: records::read_triples,
    shows: records::text_triple,
    of: "id or label",
};

/// Template of most entries.
const TEXT: Entry = Entry {
    format: Format::Edges,
    name: "",
    about: "",
    reads: &[],
    writes: &[],
    sniff: None,
    guess: None,
    comments: b"#%",
    first_id: 0,
    keeps: Capabilities {
        vertex_labels: false,
        edge_labels: false,
        isolated: false,
        ids: false,
        texts: false,
    },
    read: ReaderKind::Own,
    write: None,
};

/// All properties of a graph.
const ALL: Capabilities =
    Capabilities { vertex_labels: true, edge_labels: true, isolated: true, ids: true, texts: true };

/// Makes the type of formats and their table of the same lines.
macro_rules! formats {
    ($($format:ident $name:literal $about:literal { $($field:tt)* })*) => {
        /// A format of graphs.
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Format {
            $(#[doc = $about] #[serde(rename = $name)] $format,)*
        }

        /// All formats.
        pub(crate) const TABLE: &[Entry] = &[$(
            Entry { format: Format::$format, name: $name, about: $about, $($field)* },
        )*];
    };
}

formats! {
    Edges "edges" "Edge list: two ids per line, further columns ignored" {
        writes: &["txt", "edges", "edgelist", "el", "snap"],
        keeps: Capabilities { ids: true, texts: true, ..TEXT.keeps },
        read: ReaderKind::Blocks { header: read::edges_header, streams: true, texts: Some(NAMES) },
        write: Some(write::edges),
        ..TEXT
    }
    Table "table" "Table: two columns hold the ids of an edge, which are any text" {
        writes: &["csv"],
        keeps: Capabilities { edge_labels: true, ids: true, texts: true, ..TEXT.keeps },
        read: ReaderKind::Whole(table::read),
        write: Some(table::write),
        ..TEXT
    }
    Lg "lg" "GraMi and gSpan: `t # 1`, `v id label`, `e u v label`" {
        writes: &["lg"],
        sniff: Some(|head| read::is_lg(head) && !transactions::sniff(head)),
        keeps: Capabilities { vertex_labels: true, edge_labels: true, isolated: true, ..TEXT.keeps },
        read: ReaderKind::Blocks { header: read::records_header, streams: false, texts: labels(Format::Lg) },
        write: Some(write::lg),
        ..TEXT
    }
    Tve "tve" "Subgraph matching: `t V E`, `v id label degree`, `e u v [label]`" {
        writes: &["graph", "tve"],
        sniff: Some(read::is_tve),
        keeps: Capabilities { vertex_labels: true, edge_labels: true, isolated: true, ..TEXT.keeps },
        read: ReaderKind::Blocks { header: read::records_header, streams: false, texts: labels(Format::Tve) },
        write: Some(write::tve),
        ..TEXT
    }
    Arabesque "arabesque" "Arabesque: `id label neighbours…`" {
        guess: Some("`id label neighbours…`"),
        keeps: Capabilities { vertex_labels: true, isolated: true, ..TEXT.keeps },
        read: ReaderKind::Blocks { header: read::arabesque_header, streams: true, texts: None },
        write: Some(write::arabesque),
        ..TEXT
    }
    Metis "metis" "METIS: `V E [fmt]`, then a line of neighbours for each vertex" {
        reads: &["metis"],
        writes: &["metis"],
        guess: Some("the number of vertices and edges, then the neighbours of each vertex"),
        comments: b"%",
        first_id: 1,
        keeps: Capabilities { vertex_labels: true, edge_labels: true, isolated: true, ..TEXT.keeps },
        read: ReaderKind::Blocks { header: read::metis_header, streams: false, texts: None },
        write: Some(write::metis),
        ..TEXT
    }
    Mtx "mtx" "Matrix Market coordinate file" {
        reads: &["mtx"],
        writes: &["mtx"],
        sniff: Some(read::has_banner),
        comments: b"%",
        first_id: 1,
        keeps: Capabilities { isolated: true, ..TEXT.keeps },
        read: ReaderKind::Blocks { header: read::matrix_header, streams: true, texts: None },
        write: Some(write::matrix_market),
        ..TEXT
    }
    Triples "triples" "Knowledge graph: number of triples, then `head tail relation`" {
        guess: Some("the number of triples, then `head tail relation`"),
        keeps: Capabilities { edge_labels: true, ids: true, ..TEXT.keeps },
        read: ReaderKind::Blocks { header: read::triples_header, streams: false, texts: Some(TRIPLES) },
        write: Some(write::triples),
        ..TEXT
    }
    Image "image" "Binary image of this program" {
        writes: &["gramer"],
        comments: b"",
        keeps: ALL,
        ..TEXT
    }
    BvGraph "bvgraph" "BVGraph of the WebGraph framework: `NAME.graph` with `NAME.properties`; read only" {
        comments: b"",
        ..TEXT
    }
    GraphMl "graphml" "GraphML of NetworkX, igraph, Gephi and yEd" {
        writes: &["graphml"],
        sniff: Some(graphml::sniff),
        comments: b"",
        keeps: ALL,
        read: ReaderKind::Whole(graphml::read),
        write: Some(graphml::write),
        ..TEXT
    }
    Gexf "gexf" "GEXF of Gephi and NetworkX" {
        writes: &["gexf"],
        sniff: Some(gexf::sniff),
        comments: b"",
        keeps: ALL,
        read: ReaderKind::Whole(gexf::read),
        write: Some(gexf::write),
        ..TEXT
    }
    Gml "gml" "GML: `graph [ node [ id 0 label \"a\" ] edge [ source 0 target 1 ] ]`" {
        writes: &["gml"],
        sniff: Some(gml::sniff),
        comments: b"#",
        keeps: ALL,
        read: ReaderKind::Whole(gml::read),
        write: Some(gml::write),
        ..TEXT
    }
    Pajek "pajek" "Pajek: `*Vertices N`, `1 \"a\"`, `*Edges`, `1 2`" {
        writes: &["net"],
        sniff: Some(pajek::sniff),
        comments: b"%",
        first_id: 1,
        keeps: ALL,
        read: ReaderKind::Whole(pajek::read),
        write: Some(pajek::write),
        ..TEXT
    }
    NodeLink "node-link" "JSON of nodes and links (NetworkX, D3, Cytoscape), of pairs, rows or lists of neighbours" {
        writes: &["json"],
        sniff: Some(nodelink::sniff),
        comments: b"",
        keeps: ALL,
        read: ReaderKind::Whole(nodelink::read),
        write: Some(nodelink::write),
        ..TEXT
    }
    Leda "leda" "LEDA: `LEDA.GRAPH`, types, vertices `|{a}|`, edges `1 2 0 |{}|`" {
        sniff: Some(leda::sniff),
        comments: b"#",
        first_id: 1,
        read: ReaderKind::Whole(leda::read),
        ..TEXT
    }
    Dimacs "dimacs" "DIMACS: `p edge V E`, `e 1 2`; or `p sp V E`, `a 1 2 7`" {
        writes: &["clq", "col", "gr", "dimacs"],
        sniff: Some(dimacs::sniff),
        comments: b"c",
        first_id: 1,
        keeps: Capabilities { isolated: true, ..TEXT.keeps },
        read: ReaderKind::Whole(dimacs::read),
        write: Some(dimacs::write),
        ..TEXT
    }
    Graph6 "graph6" "graph6 of nauty: one line of bytes, for small dense graphs" {
        reads: &["g6"],
        writes: &["g6"],
        sniff: Some(graph6::is_graph6),
        comments: b"",
        keeps: Capabilities { isolated: true, ..TEXT.keeps },
        read: ReaderKind::Whole(graph6::read_graph6),
        write: Some(graph6::write_graph6),
        ..TEXT
    }
    Sparse6 "sparse6" "sparse6 of nauty: one line of bytes, for small sparse graphs" {
        reads: &["s6"],
        writes: &["s6"],
        sniff: Some(graph6::is_sparse6),
        comments: b"",
        keeps: Capabilities { isolated: true, ..TEXT.keeps },
        read: ReaderKind::Whole(graph6::read_sparse6),
        write: Some(graph6::write_sparse6),
        ..TEXT
    }
    AdjList "adjlist" "Adjacency list: a vertex and its neighbours in a line (NetworkX, SNAP)" {
        sniff: Some(adjlist::is_list),
        guess: Some("a vertex and its neighbours"),
        comments: b"#",
        read: ReaderKind::Whole(adjlist::read_list),
        ..TEXT
    }
    Multiline "multiline" "NetworkX's multiline adjacency list: `a 2`, then `b {}`, `c {}`" {
        sniff: Some(adjlist::is_multiline),
        comments: b"#",
        read: ReaderKind::Whole(adjlist::read_multiline),
        ..TEXT
    }
    Lgl "lgl" "LGL of igraph: `# a`, then `b` or `b 0.5` for each neighbour of a" {
        reads: &["lgl"],
        sniff: Some(lgl::sniff),
        comments: b"",
        read: ReaderKind::Whole(lgl::read),
        ..TEXT
    }
    Ligra "ligra" "Adjacency graph of Ligra and GBBS: `AdjacencyGraph`, V, E, offsets, neighbours" {
        sniff: Some(ligra::sniff),
        comments: b"",
        read: ReaderKind::Whole(ligra::read),
        ..TEXT
    }
    Konect "konect" "KONECT: `% bip`, `% 9 6 6`, then `left right`; both sides are kept apart" {
        sniff: Some(konect::sniff),
        comments: b"",
        first_id: 1,
        read: ReaderKind::Whole(konect::read),
        ..TEXT
    }
    Lad "lad" "LAD: the number of vertices, then `[label] degree neighbour…` for each" {
        guess: Some("the number of vertices, then the degree and the neighbours of each"),
        comments: b"",
        read: ReaderKind::Whole(lad::read),
        ..TEXT
    }
    Orca "orca" "ORCA: `V E`, then E edges between vertices from 0 on" {
        guess: Some("the numbers of vertices and edges, then two ids from 0 on"),
        comments: b"#",
        read: ReaderKind::Whole(orca::read),
        ..TEXT
    }
    Parquet "parquet" "Parquet: a table of edges, of builds with the feature `columnar`" {
        writes: &["parquet"],
        comments: b"",
        keeps: Capabilities { edge_labels: true, ids: true, texts: true, ..TEXT.keeps },
        read: ReaderKind::Whole(columnar::parquet),
        write: Some(columnar::write_parquet),
        ..TEXT
    }
    Arrow "arrow" "Arrow IPC file (Feather) or stream: a table of edges, of builds with the feature `columnar`" {
        writes: &["arrow", "feather"],
        comments: b"",
        keeps: Capabilities { edge_labels: true, ids: true, texts: true, ..TEXT.keeps },
        read: ReaderKind::Whole(columnar::arrow),
        write: Some(columnar::write_arrow),
        ..TEXT
    }
    Transactions "transactions" "Several graphs of gSpan: `t # 0`, `v id label`, `e u v label`, `t # 1`, …" {
        sniff: Some(transactions::sniff),
        read: ReaderKind::Whole(transactions::read),
        ..TEXT
    }
    Tgf "tgf" "Trivial Graph Format: `id text` of vertices, a line `#`, `source target text` of edges" {
        reads: &["tgf"],
        writes: &["tgf"],
        sniff: Some(tgf::sniff),
        guess: Some("vertices, a line `#`, and edges between them"),
        comments: b"",
        first_id: 1,
        keeps: ALL,
        read: ReaderKind::Whole(tgf::read),
        write: Some(tgf::write),
    }
    Markdown "markdown" "Table drawn with lines, as in Markdown and by psql, MySQL, SQLite, Polars, reStructuredText" {
        reads: &[],
        sniff: Some(markdown::sniff),
        comments: b"",
        keeps: Capabilities { edge_labels: true, ids: true, texts: true, ..TEXT.keeps },
        read: ReaderKind::Whole(markdown::read),
        ..TEXT
    }
    Matrix "matrix" "Dense matrix: entry (i, j) other than zero is an edge; columns may have names" {
        guess: Some("a row of a matrix"),
        comments: b"#%",
        read: ReaderKind::Whole(matrix::read),
        ..TEXT
    }
}

/// The format that a text shows by its beginning.
pub(crate) fn sniffed(head: &[u8]) -> Option<Format> {
    let shows = |entry: &&Entry| entry.sniff.is_some_and(|sniff| sniff(head));
    TABLE.iter().find(shows).map(|entry| entry.format)
}

/// The format that an extension (lower case) of a text names.
pub(crate) fn read_as(extension: &str) -> Option<Format> {
    TABLE.iter().find(|entry| entry.reads.contains(&extension)).map(|entry| entry.format)
}

/// The names and texts of all formats.
const fn choices() -> [(Format, &'static str, &'static str); TABLE.len()] {
    let mut choices = [(Format::Edges, "", ""); TABLE.len()];
    let mut at = 0;
    while at < TABLE.len() {
        choices[at] = (TABLE[at].format, TABLE[at].name, TABLE[at].about);
        at += 1;
    }
    choices
}

impl Choice for Format {
    const ALL: &'static [(Self, &'static str, &'static str)] = &choices();
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl Format {
    /// The entry of the format.
    pub(crate) fn entry(self) -> &'static Entry {
        // Both come of the same lines, in the same order.
        &TABLE[self as usize]
    }

    /// The format in which a file with this extension (lower case) is written.
    pub fn written_as(extension: &str) -> Option<Self> {
        TABLE.iter().find(|entry| entry.writes.contains(&extension)).map(|entry| entry.format)
    }

    /// Extensions of files that are written in this format; the first one is the usual one.
    pub fn extensions(self) -> &'static [&'static str] {
        self.entry().writes
    }

    /// Whether graphs can be written in this format.
    pub fn is_written(self) -> bool {
        self == Format::Image || self.entry().write.is_some()
    }
}

#[cfg(test)]
mod tests;
