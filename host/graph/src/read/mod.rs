//! Reads graphs: text formats (plain, gzip or zstd; from a file or standard input), told apart
//! by their content, and images.
//!
//! Common to all text formats: lines end with `\n` or `\r\n`, the last one with or without; a
//! byte order mark of UTF-8 is skipped; white space at the ends of a line means nothing. Vertex
//! ids are whole numbers of up to 64 bits. Direction is dropped, self loops and duplicates are
//! dropped and counted. Formats that declare vertices keep those without an edge.

mod arabesque;
mod chunk;
mod detect;
mod edges;
mod labels;
mod matrix_market;
mod metis;
mod records;
mod scan;
mod source;
mod triples;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

pub use labels::{read_labels, read_labels_from};
pub use source::{Compression, STDIN};

use self::chunk::{Chunk, End, Parser};
use self::scan::Fault;
use self::source::{Blocks, Source, TextBlock};
use super::image;
use super::parallel::on_threads;
use super::{Builder, Graph, Order};
use crate::choice::Choice;
use crate::context::Context;
use crate::error::{Error, Place, Result};

/// A format of graphs.
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
    /// A file of vertex labels, which replace those of the graph; see [`read_labels`].
    pub labels: Option<PathBuf>,
    /// Column of the label in that file, from 1.
    pub labels_column: Option<usize>,
    /// Whether to keep vertex labels.
    pub vertex_labels: bool,
    /// Whether to keep edge labels.
    pub edge_labels: bool,
    /// Whether to check the data of an image, which reads all of it; see [`image::open`].
    pub verify: bool,
    /// Refuse graphs of more vertices than this. Without it, a text may declare 2^20 vertices or
    /// [`VERTICES_PER_EDGE`] for each of its edges, whichever is more, so that a few bytes can't
    /// ask for all memory.
    pub max_vertices: Option<u64>,
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
        }
    }
}

/// A graph with what is to be said about its reading.
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
    let mut loaded = read_source(Source::open(path, &context.cancel)?, options, context)?;
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
    read_source(Source::from_bytes(path, bytes)?, options, context)
}

/// Bytes by which the format is found. Headers are completed where they are longer.
const HEAD: usize = 256 << 10;

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

/// An input before rows are made.
enum Parsed {
    Image(Loaded),
    Text(Text),
}

struct Text {
    path: PathBuf,
    builder: Builder,
    format: Format,
    forced: bool,
    compression: Compression,
    bytes: u64,
    notes: Vec<String>,
    /// The first line of an edge list of two columns.
    first_edge: Option<(u64, u64)>,
}

fn read_source(source: Source, options: &ReadOptions, context: &Context) -> Result<Loaded> {
    let shown = source.path.clone();
    let text = match parse_source(source, options, context)? {
        Parsed::Image(loaded) => {
            check_most(&shown, loaded.graph.vertices(), options)?;
            return Ok(loaded);
        }
        Parsed::Text(text) => text,
    };
    let Text { path, builder, format, forced, compression, bytes, mut notes, first_edge } = text;
    // What the graph asks for is more than there is: then the file must be named.
    let graph = builder.build_with(context).map_err(|error| match error {
        Error::Unsupported(what) => Error::input(Place::file(&path), what),
        other => other,
    })?;
    check_most(&path, graph.vertices(), options)?;
    if let Some(edge) = first_edge {
        notes.extend(check_counts_as_edge(&path, &graph, edge, forced)?);
    }
    let conflicts = graph.stats().label_conflicts;
    if conflicts > 0 {
        notes.push(format!(
            "{conflicts} duplicate edges have another label than the one kept (the smallest)"
        ));
    }
    Ok(Loaded { graph, format, compression, bytes, notes })
}

/// Refuses a graph of more vertices than the user wants.
fn check_most(path: &Path, vertices: usize, options: &ReadOptions) -> Result<()> {
    match options.max_vertices {
        Some(most) if vertices as u64 > most => {
            let what = format!(
                "the graph has {vertices} vertices, but the setting `max_vertices` is {most}"
            );
            Err(Error::input(Place::file(path), what))
        }
        _ => Ok(()),
    }
}

fn parse_source(mut source: Source, options: &ReadOptions, context: &Context) -> Result<Parsed> {
    let path = source.path.clone();
    let compression = source.compression;
    let mut head = Vec::new();
    let mut ended = source.fill(&mut head, image::MAGIC.len())?;
    if head == image::MAGIC || options.format == Some(Format::Image) {
        let (graph, bytes) = match &source.file {
            Some(file) => image::open_file(&path, file, options.verify, &context.cancel)?,
            None => {
                source.fill(&mut head, usize::MAX >> 1)?;
                let graph = image::from_bytes_until(&path, &head, &context.cancel)?;
                (graph, head.len() as u64)
            }
        };
        let format = Format::Image;
        let notes = source.trailing().into_iter().collect();
        return Ok(Parsed::Image(Loaded { graph, format, compression, bytes, notes }));
    }
    while !ended && (head.len() < HEAD || content_lines(&head) < 2) {
        let last_line = memchr::memrchr(b'\n', &head).map_or(0, |newline| newline + 1);
        if head.len() - last_line > source::LONGEST_LINE {
            let line = 1 + memchr::memchr_iter(b'\n', &head).count() as u64;
            return Err(source::too_long(&path, line));
        }
        if head.len() > 2 * source::LONGEST_LINE {
            let what = format!(
                "the first {} MiB hold less than two lines that are neither blank nor a comment",
                head.len() >> 20
            );
            return Err(Error::input(Place::file(&path), what));
        }
        let more = head.len().max(HEAD);
        ended = source.fill(&mut head, more)?;
        check_text(&path, &head)?;
        context.cancel.check()?;
    }
    check_text(&path, &head)?;
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }

    let format = options.format.unwrap_or_else(|| detect::detect(&head, ended, &extension(&path)));
    let fault_in = |fault: Fault, text: &[u8], first_line: u64, forced: bool| {
        let line = first_line + memchr::memchr_iter(b'\n', &text[..fault.at]).count() as u64;
        let mut what = fault.what;
        if names_vertices(format, text, fault.at) {
            what += " (vertices are named by numbers only: number them first, and keep a table of \
                     their names)";
        } else if !forced {
            what += &format!(" (read as {format}; the setting `format` names another)");
        }
        Error::input(Place::line(&path, line), what)
    };
    let forced = options.format.is_some();
    let mut first_edge = None;
    let header: Result<(Box<dyn Parser>, usize), Fault> = match format {
        Format::Edges => {
            let (edges, body) = edges::EdgeList::header(&head);
            first_edge = edges.first_pair(&head[body..]);
            Ok((Box::new(edges), body))
        }
        Format::Lg | Format::Tve => boxed(records::Records::header(&head)),
        Format::Arabesque => Ok((Box::new(arabesque::Arabesque), 0)),
        Format::Metis => boxed(metis::Metis::header(&head)),
        Format::Mtx => boxed(matrix_market::MatrixMarket::header(&head)),
        Format::Triples => boxed(triples::Triples::header(&head)),
        Format::Image => unreachable!("images were read above"),
    };
    let (parser, body) = header.map_err(|fault| fault_in(fault, &head, 1, forced))?;
    let line = 1 + memchr::memchr_iter(b'\n', &head[..body]).count() as u64;
    let before = body as u64;
    head.drain(..body);

    // What is in one block needs no second thread.
    let threads = if ended && head.len() <= source::BLOCK { 1 } else { context.threads() };
    let blocks = Blocks::new(source, head, ended, line);
    let chunks = parse(&blocks, &*parser, threads, context, &|fault, text, first_line| {
        fault_in(fault, text, first_line, forced)
    })?;
    let mut end = End {
        path: path.clone(),
        notes: blocks.trailing().into_iter().collect(),
        max_vertices: options.max_vertices,
        edges: chunks.iter().map(|c| c.edges.len() as u64).sum(),
        cancel: context.cancel.clone(),
    };
    let builder = parser.finish(chunks, &mut end)?;
    let bytes = before + blocks.bytes();
    let notes = end.notes;
    Ok(Parsed::Text(Text { path, builder, format, forced, compression, bytes, notes, first_edge }))
}

fn boxed<P: Parser + 'static>(
    header: Result<(P, usize), Fault>,
) -> Result<(Box<dyn Parser>, usize), Fault> {
    header.map(|(parser, body)| (Box::new(parser) as Box<dyn Parser>, body))
}

/// Whether the line at `at` is one of a format of numbers, but begins as a name does: then no
/// other format helps.
fn names_vertices(format: Format, text: &[u8], at: usize) -> bool {
    let line = scan::trim(&text[at..edges::line_end(text, at)]);
    let numbers = !matches!(format, Format::Lg | Format::Tve | Format::Image);
    numbers && edges::begins_as_name(line)
}

/// Complete lines with content, up to 2.
fn content_lines(head: &[u8]) -> usize {
    let complete = memchr::memrchr(b'\n', head).map_or(0, |newline| newline + 1);
    scan::lines(&head[..complete])
        .filter(|(_, line)| !line.is_empty() && !scan::is_comment(line))
        .take(2)
        .count()
}

/// Refuses what is no text at all.
fn check_text(path: &Path, head: &[u8]) -> Result<()> {
    let fault = |what: String| Err(Error::input(Place::file(path), what));
    if head.is_empty() {
        return fault("is empty".into());
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return fault("is text in UTF-16; save it as UTF-8".into());
    }
    if let Some(at) = memchr::memchr(0, head) {
        return fault(format!(
            "is neither text nor an image of this program (byte {at} is zero); the setting \
             `format` lists those that can be read"
        ));
    }
    Ok(())
}

/// The extension in lower case, without that of the compression.
fn extension(path: &Path) -> String {
    let lower = |path: &Path| {
        path.extension().map_or(String::new(), |e| e.to_string_lossy().to_ascii_lowercase())
    };
    match lower(path).as_str() {
        "gz" | "zst" => path.file_stem().map_or(String::new(), |stem| lower(Path::new(stem))),
        other => other.to_string(),
    }
}

/// Parses all blocks.
fn parse(
    blocks: &Blocks,
    parser: &dyn Parser,
    threads: usize,
    context: &Context,
    fault_in: &(dyn Fn(Fault, &[u8], u64) -> Error + Sync),
) -> Result<Vec<Chunk>> {
    let failed = AtomicBool::new(false);
    // The failure of the earliest block: blocks before it were handed out before, and threads
    // finish what they have.
    let first_failure: Mutex<Option<(usize, Error)>> = Mutex::new(None);
    let fail = |index: usize, error: Error| {
        failed.store(true, Ordering::Relaxed);
        let mut first = first_failure.lock().unwrap_or_else(|e| e.into_inner());
        if first.as_ref().is_none_or(|(other, _)| index < *other) {
            *first = Some((index, error));
        }
    };
    let worker = |_| {
        let mut chunks = Vec::new();
        let mut block = TextBlock::default();
        while !failed.load(Ordering::Relaxed) && !context.cancel.is_cancelled() {
            match blocks.next(&mut block) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    fail(usize::MAX, error);
                    break;
                }
            }
            let mut chunk =
                Chunk { index: block.index, first_line: block.first_line, ..Chunk::default() };
            match parser.block(&block.text, &mut chunk) {
                Ok(()) => chunks.push(chunk),
                Err(fault) => fail(block.index, fault_in(fault, &block.text, block.first_line)),
            }
        }
        chunks
    };
    let mut chunks: Vec<Chunk> = on_threads(threads, worker).into_iter().flatten().collect();
    context.cancel.check()?;
    chunks.sort_by_key(|c| c.index);
    // What follows the end of the graph in the file may be anything, as long as it can be read.
    let ended = chunks.iter().position(|c| c.end.is_some());
    let last = ended.map_or(usize::MAX, |at| chunks[at].index);
    match first_failure.into_inner().unwrap_or_else(|e| e.into_inner()) {
        Some((index, error)) if index <= last || index == usize::MAX => return Err(error),
        failure => {
            if let Some(at) = ended {
                chunks[at].goes_on |= failure.is_some() || at + 1 < chunks.len();
                chunks.truncate(at + 1);
            }
        }
    }
    Ok(chunks)
}

/// Some edge lists begin with a line `V E`, which nothing but its meaning tells from an edge. If
/// the first line says exactly what follows, and its second number is no vertex otherwise, it is
/// refused (in a small graph, or where the format was forced: remarked) rather than silently
/// taken as an edge.
fn check_counts_as_edge(
    path: &Path,
    graph: &Graph,
    (a, b): (u64, u64),
    forced: bool,
) -> Result<Option<String>> {
    const SMALL: u64 = 16;
    let following = graph.stats().raw_edges - 1;
    debug_assert_eq!(graph.order(), Order::Input);
    let degree = |id: u64| {
        graph.original_ids().binary_search(&id).map_or(0, |v| graph.view().degree(v as u32))
    };
    // Vertices of the other lines: without those ends that only this line has.
    let own = usize::from(a != b);
    let others =
        graph.vertices() - usize::from(degree(a) == own) - usize::from(a != b && degree(b) == own);
    if b != following || a < others as u64 {
        return Ok(None);
    }
    let what = format!(
        "the first line, {a} {b}, reads as an edge but looks like the numbers of vertices and \
         edges: {following} edge lines follow"
    );
    if degree(b) == own && following >= SMALL && !forced {
        let what = format!(
            "{what}; put # before it, or say the setting `format` edges if it is an edge all the \
                 same"
        );
        return Err(Error::input(Place::file(path), what));
    }
    Ok(Some(format!("{what}; it is taken as an edge (if it is none, put # before it)")))
}
