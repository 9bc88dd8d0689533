//! Reads graphs: text formats (plain, gzip or zstd; from a file or standard input), told apart
//! by their content, images, and the pairs of files of the WebGraph framework.
//!
//! Common to all text formats: lines end with `\n` or `\r\n`, the last one with or without; a
//! byte order mark of UTF-8 is skipped; white space at the ends of a line means nothing. Vertex
//! ids are whole numbers of up to 64 bits. Direction is dropped, self loops and duplicates are
//! dropped and counted. Formats that declare vertices keep those without an edge.

mod arabesque;
mod bvgraph;
pub(crate) use bvgraph::beside;
mod chunk;
mod claims;
mod detect;
mod edges;
mod foreign;
mod guess;
mod labels;
mod loops;
mod matrix_market;
mod metis;
mod names;
mod options;
mod pairs;
mod records;
mod scan;
mod shapes;
mod source;
mod table;
mod text;
mod triples;
mod watch;

use std::path::Path;
use std::time::{Duration, Instant};

use tracing::{info, info_span};

pub use bvgraph::read_bvgraph;
pub use labels::{read_labels, read_labels_from};
pub use options::{Format, ReadOptions, VERTICES_PER_EDGE};
pub use source::{Compression, STDIN};

use self::source::Source;
use self::text::{Parsed, Text, parse_source};
use super::{Graph, Order};
use crate::context::Context;
use crate::error::{Error, Place, Result, shown};
use crate::prepare::renumber;

/// A graph with what is to be said about its reading.
#[non_exhaustive]
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The graph.
    pub graph: Graph,
    /// The format that it was read in.
    pub format: Format,
    /// How the file was compressed.
    pub compression: Compression,
    /// Size of the decompressed text, or of the image, in bytes.
    pub bytes: u64,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// What it took to bring the graph in its order once it was read: nothing where rows come in that order.
    pub ordering: Duration,
}

impl Loaded {
    /// Brings the graph in the order that is wanted.
    fn order(&mut self, order: Order, context: &Context) -> Result<()> {
        if order == Order::RankOn1 && self.graph.order() != order {
            let begun = Instant::now();
            self.graph = self.graph.guarded(|| renumber(&self.graph, context))?;
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
/// is no graph, [`Error::Usage`] for label options that don't fit, [`Error::Unsupported`] for
/// graphs that are too large, [`Error::Interrupted`] after Ctrl-C.
pub fn read(path: &Path, options: &ReadOptions, context: &Context) -> Result<Loaded> {
    let _phase = crate::memory::Phase::begin(&"reading the graph");
    let _span = info_span!("read", path = %shown(path)).entered();
    let mut loaded = match bvgraph::open(path, options, context)? {
        Some(text) => built(text, options, context)?,
        None => {
            let source = Source::watched(path, &context.cancel, Some(&context.progress))?;
            read_source(source, options, context)?
        }
    };
    if !options.edge_labels {
        loaded.graph = loaded.graph.without_edge_labels();
    }
    if let Some(labels) = &options.labels {
        let (labels, notes) =
            read_labels(labels, options.labels_column, &loaded.graph, &context.cancel)?;
        loaded.graph = loaded.graph.with_vertex_labels(Some(labels));
        loaded.notes.extend(notes);
    } else if options.labels_column.is_some() {
        return Err(Error::usage(
            "the setting `labels_column` needs a table: give the setting `labels`",
        ));
    }
    if !options.vertex_labels {
        loaded.graph = loaded.graph.with_vertex_labels(None);
    }
    loaded.order(options.order, context)?;
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
/// use gramer_graph::Context;
/// use gramer_graph::read::{ReadOptions, read_bytes};
///
/// let (options, context) = (ReadOptions::default(), Context::default());
/// let text = b"# a triangle\n5 6\n6 9\n9 5\n".to_vec();
/// let loaded = read_bytes(Path::new("triangle.txt"), text, &options, &context)?;
/// assert_eq!(loaded.graph.edges(), 3);
/// let wrong = read_bytes(Path::new("wrong.txt"), b"5 six\n".to_vec(), &options, &context);
/// assert!(wrong.unwrap_err().to_string().starts_with("wrong.txt:1: "));
/// # Ok::<(), gramer_graph::Error>(())
/// ```
///
/// # Errors
/// As [`read`].
pub fn read_bytes(
    path: &Path,
    bytes: Vec<u8>,
    options: &ReadOptions,
    context: &Context,
) -> Result<Loaded> {
    let mut loaded = read_source(Source::from_bytes(path, bytes)?, options, context)?;
    loaded.order(options.order, context)?;
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
        Parsed::Image(loaded) => Ok(loaded.graph.edges()),
        Parsed::Text(text) => Ok(text.builder.edge_count()),
    }
}

fn read_source(source: Source, options: &ReadOptions, context: &Context) -> Result<Loaded> {
    let path = source.path.clone();
    match parse_source(source, options, context)? {
        Parsed::Image(loaded) => {
            check_most(&path, loaded.graph.vertices() as u64, options)?;
            Ok(loaded)
        }
        Parsed::Text(text) => built(text, options, context),
    }
}

/// Makes the rows of what was parsed.
fn built(text: Text, options: &ReadOptions, context: &Context) -> Result<Loaded> {
    let Text { path, builder, format, guessed, compression, bytes, .. } = text;
    let Text { mut notes, claims, first_loop, .. } = text;
    // What the graph asks for is more than there is: then the file must be named.
    // A table of labels names rows in the order of the input.
    let order = if options.labels.is_none() { options.order } else { Order::Input };
    context.progress.begin(1);
    let graph = builder.build_in(order, context).map_err(|error| match error {
        Error::Unsupported(what) => Error::input(Place::file(&path), what),
        Error::Memory(what) => Error::Memory(format!("{}: {what}", Place::file(&path))),
        other => other,
    })?;
    check_most(&path, graph.vertices() as u64, options)?;
    if guessed {
        guess::check(&path, format, &graph)?;
    }
    notes.extend(claims.check(&path, &graph)?);
    let conflicts = graph.stats().label_conflicts;
    if conflicts > 0 {
        notes.push(format!(
            "{conflicts} duplicate edges have another label than the one kept (the smallest)"
        ));
    }
    notes.extend(loops::left_out(&graph, first_loop));
    if guessed {
        notes.push(guess::note(format));
    }
    Ok(Loaded { graph, format, compression, bytes, notes, ordering: Duration::ZERO })
}

/// Refuses a graph of more vertices than the user wants.
fn check_most(path: &Path, vertices: u64, options: &ReadOptions) -> Result<()> {
    match options.max_vertices {
        Some(most) if vertices > most => {
            let what = format!(
                "the graph has {vertices} vertices, but the setting `max_vertices` is {most}"
            );
            Err(Error::input(Place::file(path), what))
        }
        _ => Ok(()),
    }
}
