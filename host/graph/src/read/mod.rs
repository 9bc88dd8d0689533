//! Reads graphs: text formats (plain, gzip or zstd; from a file or standard input), told apart
//! by their content, images, and the pairs of files of the WebGraph framework.
//!
//! Common to all text formats: lines end with `\n` or `\r\n`, the last one with or without; a
//! byte order mark of UTF-8 is skipped; white space at the ends of a line means nothing. Vertex
//! ids are whole numbers of up to 64 bits. Direction is dropped, self loops and duplicates are
//! dropped and counted. Formats that declare vertices keep those without an edge.

mod arabesque;
mod bvgraph;
mod chunk;
mod claims;
mod detect;
mod edges;
mod foreign;
mod guess;
mod heads;
mod labels;
mod loops;
mod matrix_market;
mod metis;
pub(crate) mod names;
mod ogb;
mod options;
mod pairs;
mod records;
mod rest;
pub(crate) mod scan;
mod shapes;
mod source;
mod table;
mod text;
mod triples;
mod watch;
mod whole;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::{info, info_span};

pub use bvgraph::read_bvgraph;
pub use labels::{read_labels, read_labels_from};
pub use options::{Columns, Ids, ReadOptions, VERTICES_PER_EDGE, VertexTable};
pub use source::Compression;

pub use crate::format::Format;
pub(crate) use chunk::check_declared;
pub(crate) use heads::{
    Head, Header, arabesque_header, edges_header, is_lg, is_tve, matrix_header, metis_header,
    records_header, triples_header,
};
pub(crate) use labels::VertexIndex;
pub(crate) use matrix_market::has_banner;
pub(crate) use names::{says_ends, unquoted, whole};
pub(crate) use records::{SECOND_GRAPH, SEVERAL_LABELS, is_weight};
pub(crate) use scan::{Fault, is_number, trim};
pub(crate) use source::{LONGEST_LINE, too_long};
pub(crate) use table::Separator;

use self::source::Source;
pub(crate) use text::in_memory;
pub(crate) use whole::text_at;

use self::text::{ParsedInput, Text, parse_source};
use self::whole::{opened_again, vertex_table};
use super::{Graph, Order};
use gramer_base::context::Context;
use gramer_base::counted::counted;
use gramer_base::error::{Error, Place, Result, shown};

/// Graph from a file, with its format and the reader's notes.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct GraphFile {
    /// The graph.
    pub graph: Graph,
    /// Format of the file.
    pub format: Format,
    /// Compression of the file.
    pub compression: Compression,
    /// Size of the decompressed text, or of the image, in bytes.
    pub bytes: u64,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// Time for reordering the graph after reading; 0 if rows were read in that order.
    pub ordering: Duration,
}

impl GraphFile {
    /// Brings the graph in the order that is wanted.
    fn order(&mut self, options: &ReadOptions, context: &Context) -> Result<()> {
        let begun = Instant::now();
        let ordered = || self.graph.ordered(options.order, context);
        if let Some(graph) = self.graph.guarded(ordered)? {
            self.graph = graph;
            self.ordering = begun.elapsed();
        }
        Ok(())
    }
}

/// Reads a graph from a file, or from standard input for `-`.
///
/// # Errors
/// As [`read`].
pub fn read_graph(path: &Path, options: &ReadOptions, context: &Context) -> Result<Graph> {
    Ok(read(path, options, context)?.graph)
}

/// Reads a graph, and says what there is to say about it.
///
/// # Errors
/// [`Error::Io`] where the system refuses, [`Error::Input`] with file and line for content that
/// is not a graph, [`Error::Usage`] for label options that don't fit, [`Error::Unsupported`] for
/// graphs that are too large, [`Error::Interrupted`] after Ctrl-C.
pub fn read(path: &Path, options: &ReadOptions, context: &Context) -> Result<GraphFile> {
    let _phase = gramer_base::memory::Phase::begin(&"reading the graph");
    let _span = info_span!("read", path = %shown(path)).entered();
    let own = match bvgraph::open(path, options, context)? {
        Some(text) => Some(text),
        None => ogb::open(path, options, context)?,
    };
    let mut loaded = match own {
        Some(text) => built(text, options, context)?,
        None => {
            let open = || Source::watched(path, &context.cancel, Some(&context.progress));
            read_source(open()?, &opened_again(path, &open), options, context)?
        }
    };
    if !options.edge_labels {
        loaded.graph = loaded.graph.without_edge_labels();
    }
    let named = loaded.graph.names().vertices.is_some();
    if let (true, Some(path)) = (named, &options.labels) {
        if options.labels_column.is_some() {
            let what = "the setting `labels_column` is for rows in the order of numbers, but the ids of the graph are \
                        names: give the setting `vertex_table`";
            return Err(Error::usage(what));
        }
        let table = VertexTable { path: path.clone(), id: None, label: None };
        vertex_table(&table, &mut loaded, options, context)?;
    } else if let Some(labels) = &options.labels {
        let (labels, notes) =
            read_labels(labels, options.labels_column, &loaded.graph, &context.cancel)?;
        loaded.graph = loaded.graph.with_vertex_labels(Some(labels));
        loaded.notes.extend(notes);
    } else if let Some(table) = &options.vertex_table {
        vertex_table(table, &mut loaded, options, context)?;
    } else if options.labels_column.is_some() {
        return Err(Error::usage(
            "the setting `labels_column` needs a table: give the setting `labels`",
        ));
    }
    if !options.vertex_labels {
        loaded.graph = loaded.graph.with_vertex_labels(None);
    }
    loaded.order(options, context)?;
    info!(
        format = %loaded.format,
        bytes = loaded.bytes,
        vertices = loaded.graph.vertices(),
        edges = loaded.graph.edges(),
        "the graph is read"
    );
    Ok(loaded)
}

/// Reads a graph from bytes in memory, as [`read`] does from the file `path` (which only serves
/// for messages and its extension).
///
/// ```
/// use std::path::Path;
///
/// use gramer_base::Context;
/// use gramer_graph::read::{ReadOptions, read_bytes};
///
/// let (options, context) = (ReadOptions::default(), Context::default());
/// let text = b"# a triangle\n5 6\n6 9\n9 5\n".to_vec();
/// let loaded = read_bytes(Path::new("triangle.txt"), text, &options, &context)?;
/// assert_eq!(loaded.graph.edges(), 3);
/// let wrong = read_bytes(Path::new("wrong.txt"), b"5 6\n7\n".to_vec(), &options, &context);
/// assert!(wrong.unwrap_err().to_string().starts_with("wrong.txt:2: "));
/// # Ok::<(), gramer_base::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_bytes(
    path: &Path,
    bytes: Vec<u8>,
    options: &ReadOptions,
    context: &Context,
) -> Result<GraphFile> {
    let bytes = Arc::new(bytes);
    let open = || Source::from_bytes(path, bytes.clone()).map(Some);
    let source = Source::from_bytes(path, bytes.clone())?;
    let mut loaded = read_source(source, &open, options, context)?;
    loaded.order(options, context)?;
    Ok(loaded)
}

/// Reads a text up to its edges, without making rows of them, and returns their number: for
/// measuring the speed of the parsers.
///
/// # Errors
/// As [`read`].
#[doc(hidden)]
pub fn parse_only(path: &Path, options: &ReadOptions, context: &Context) -> Result<usize> {
    match parse_source(Source::open(path, &context.cancel)?, options, context)? {
        ParsedInput::Image(loaded) => Ok(loaded.graph.edges()),
        ParsedInput::Text(text) => Ok(text.builder.edge_count()),
        ParsedInput::Names(texts, note) => {
            let source = Source::open(path, &context.cancel)?;
            Ok(whole::by_names(source, (texts, note), options, context)?.builder.edge_count())
        }
    }
}

/// Reads a source. If a line late in a list of numbers shows that ids are texts, it is read `again` from the start.
fn read_source(
    source: Source,
    again: &dyn Fn() -> Result<Option<Source>>,
    options: &ReadOptions,
    context: &Context,
) -> Result<GraphFile> {
    let path = source.path.clone();
    let built = |text| built(text, options, context);
    match parse_source(source, options, context)? {
        ParsedInput::Image(loaded) => {
            check_most(&path, loaded.graph.vertices() as u64, options)?;
            Ok(loaded)
        }
        ParsedInput::Text(text) => built(text),
        ParsedInput::Names(texts, note) => match again()? {
            Some(source) => built(whole::by_names(source, (texts, note), options, context)?),
            None => Err(whole::read_once(&path, &note)),
        },
    }
}

/// Makes rows of the parsed edges.
fn built(text: Text, options: &ReadOptions, context: &Context) -> Result<GraphFile> {
    let Text { path, builder, names, format, guessed, compression, bytes, .. } = text;
    let Text { mut notes, claims, first_loop, .. } = text;
    let mut builder = builder;
    if options.order.keep_local {
        builder.keep_local_order();
    }
    // What the graph asks for is more than there is: then the file must be named.
    // A table of labels names rows in the order of the input.
    let labelled = options.labels.is_some() || options.vertex_table.is_some();
    let order = if labelled { Order::Input } else { options.order.order };
    context.progress.begin(1);
    let less = names.vertices.as_ref().map_or(0, |names| names.memory() as u64);
    let graph =
        builder.build_in(order, &with_less(context, less)).map_err(|error| match error {
            Error::Unsupported(what) => Error::input(Place::file(&path), what),
            Error::Memory(what) => Error::Memory(format!("{}: {what}", Place::file(&path))),
            other => other,
        })?;
    let graph = graph.with_names(names);
    check_most(&path, graph.vertices() as u64, options)?;
    if guessed {
        guess::check(&path, format, &graph)?;
    }
    notes.extend(claims.check(&path, &graph, options.allow_mismatch)?);
    let conflicts = graph.stats().label_conflicts;
    if conflicts > 0 {
        let conflicts = counted(conflicts, "duplicate edge has", "duplicate edges have");
        let kept = match graph.names().edge_labels.is_some() {
            true => "the first in the file",
            false => "the smallest",
        };
        notes.push(format!("{conflicts} another label than the one kept ({kept})"));
    }
    notes.extend(loops::left_out(&graph, first_loop));
    if guessed {
        notes.push(guess::note(format));
    }
    Ok(GraphFile { graph, format, compression, bytes, notes, ordering: Duration::ZERO })
}

/// Returns the context with a memory limit reduced by this many bytes.
fn with_less(context: &Context, bytes: u64) -> Context {
    let mut context = context.clone();
    let budget = context.budget.as_deref().filter(|_| bytes > 0).cloned();
    if let Some(mut budget) = budget {
        budget.bytes = budget.bytes.saturating_sub(bytes);
        context.budget = Some(Arc::new(budget));
    }
    context
}

/// Refuses a graph of more vertices than the user wants.
fn check_most(path: &Path, vertices: u64, options: &ReadOptions) -> Result<()> {
    match options.max_vertices {
        Some(most) if vertices > most => {
            let what = format!(
                "the graph has {}, but the setting `max_vertices` is {most}",
                counted(vertices, "vertex", "vertices")
            );
            Err(Error::input(Place::file(path), what))
        }
        _ => Ok(()),
    }
}
