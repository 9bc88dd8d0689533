//! The text formats: which one it is, its header, and its blocks on all threads.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::chunk::{Chunk, End, Parser};
use super::claims::Claims;
use super::loops::FirstLoop;
use super::scan::{Fault, quote};
use super::source::{Blocks, Source};
use super::{
    Compression, Format, Loaded, ReadOptions, arabesque, bvgraph, detect, edges, foreign, guess,
    matrix_market, metis, names, records, scan, shapes, source, triples,
};
use crate::build::{EdgeBlock, Spill};
use crate::context::Context;
use crate::error::{Error, Place, Result};
use crate::parallel::on_threads;
use crate::{Builder, image};

/// Bytes by which the format is found. Headers are completed where they are longer.
const HEAD: usize = 256 << 10;

/// An input before rows are made.
pub(super) enum Parsed {
    Image(Loaded),
    Text(Text),
}

/// A text, parsed.
pub(super) struct Text {
    pub path: PathBuf,
    pub builder: Builder,
    pub format: Format,
    /// Whether the format is a guess.
    pub guessed: bool,
    pub compression: Compression,
    pub bytes: u64,
    pub notes: Vec<String>,
    /// What its head says of the graph.
    pub claims: Claims,
    /// The line, from 1, of the first self loop, if there is one and the format tells.
    pub first_loop: Option<u64>,
}

/// Reads what an image is, or parses the blocks of a text, which must not change meanwhile.
pub(super) fn parse_source(
    mut source: Source,
    options: &ReadOptions,
    context: &Context,
) -> Result<Parsed> {
    let watch = source.watch.take();
    let parsed = parse_as_it_is(source, options, context);
    match watch {
        Some(watch) => watch.unchanged(parsed),
        None => parsed,
    }
}

fn parse_as_it_is(mut source: Source, options: &ReadOptions, context: &Context) -> Result<Parsed> {
    if options.format == Some(Format::BvGraph) {
        return Err(bvgraph::refused(&source.path));
    }
    let mut head = Vec::new();
    let ended = source.fill(&mut head, image::MAGIC.len())?;
    if head == image::MAGIC || options.format == Some(Format::Image) {
        return read_image(source, head, options, context).map(Parsed::Image);
    }
    let ended = complete_head(&mut source, &mut head, ended, context)?;
    let path = source.path.clone();
    let compression = source.compression;
    let forced = options.format.is_some();
    let fault_at =
        |fault: Fault| Error::input(Place::line(&path, line_of(&head, fault.at)), fault.what);
    foreign::refuse(&head).map_err(fault_at)?;
    let format = options.format.unwrap_or_else(|| detect::detect(&head, ended, &extension(&path)));
    if !forced && matches!(format, Format::Edges | Format::Arabesque | Format::Triples) {
        shapes::refuse(&head, ended).map_err(fault_at)?;
    }
    let mut claims = Claims::of(&head, forced).map_err(fault_at)?;
    let guessed = !forced && guess::is_guess(format);
    let spill = spill(format, &path, context)?;
    let fault_in =
        |fault, text: &[u8], line| fault_of_format(&path, format, forced, fault, text, line);
    let header = header(format, &head, forced, &mut claims).map_err(|fault| match format {
        // What is wrong with names of columns is no fault of a format.
        Format::Edges => fault_at(fault),
        _ => fault_in(fault, &head, 1),
    });
    let Header { parser, body } = header?;
    let line = 1 + memchr::memchr_iter(b'\n', &head[..body]).count() as u64;
    let before = body as u64;
    head.drain(..body);

    // What is in one block needs no second thread.
    let threads = if ended && head.len() <= source::BLOCK { 1 } else { context.threads() };
    let blocks = Blocks::new(source, head, ended, line);
    let (chunks, first_loop) =
        parse(&blocks, &*parser, threads, spill.as_ref(), context, &fault_in)?;
    let mut end = End {
        path: path.clone(),
        notes: blocks.trailing().into_iter().collect(),
        max_vertices: options.max_vertices,
        edges: chunks.iter().map(|c| c.edges.len() as u64).sum(),
        cancel: context.cancel.clone(),
    };
    let builder = parser.finish(chunks, &mut end).map_err(|error| match error {
        Error::Input { place, what } if guessed => Error::input(
            place,
            format!("{what} (read as {format}; the setting `format` names another)"),
        ),
        other => other,
    })?;
    let bytes = before + blocks.bytes();
    let notes = end.notes;
    Ok(Parsed::Text(Text {
        path,
        builder,
        format,
        guessed,
        compression,
        bytes,
        notes,
        claims,
        first_loop,
    }))
}

/// Where edges go while they are read, if memory is limited.
///
/// # Errors
/// [`Error::Input`] for a format that is held in memory as a whole.
fn spill(format: Format, path: &Path, context: &Context) -> Result<Option<Arc<Spill>>> {
    let Some(budget) = &context.budget else { return Ok(None) };
    match format {
        Format::Edges | Format::Mtx | Format::Arabesque => Spill::create(&budget.folder).map(Some),
        _ => Err(whole(path)),
    }
}

/// The error for what would be held in memory as a whole where that is limited.
fn whole(path: &Path) -> Error {
    let what = "memory is limited, and only edge lists, Matrix Market, Arabesque, BVGraph and the file of an image \
                are read without holding all of it: make an image with `gramer graph convert` where there is more memory";
    Error::input(Place::file(path), what)
}

/// Refuses what would be held in memory as a whole where that is limited.
pub(super) fn within_budget(path: &Path, context: &Context) -> Result<()> {
    if context.budget.is_some() { Err(whole(path)) } else { Ok(()) }
}

/// Reads an image, of which `head` has been read.
fn read_image(
    mut source: Source,
    mut head: Vec<u8>,
    options: &ReadOptions,
    context: &Context,
) -> Result<Loaded> {
    let (graph, bytes) = match &source.file {
        Some(file) => image::open_file(&source.path, file, options.verify, context)?,
        None => {
            within_budget(&source.path, context)?;
            source.fill(&mut head, usize::MAX >> 1)?;
            let graph = image::from_bytes_with(&source.path, &head, context)?;
            (graph, head.len() as u64)
        }
    };
    let notes = source.trailing().into_iter().collect();
    let compression = source.compression;
    Ok(Loaded { graph, format: Format::Image, compression, bytes, notes, ordering: Duration::ZERO })
}

/// Reads on until the format can be told, and whether that is all of the source.
fn complete_head(
    source: &mut Source,
    head: &mut Vec<u8>,
    mut ended: bool,
    context: &Context,
) -> Result<bool> {
    let path = source.path.clone();
    while !ended && (head.len() < HEAD || content_lines(head) < 2) {
        let last_line = memchr::memrchr(b'\n', head).map_or(0, |newline| newline + 1);
        if head.len() - last_line > source::LONGEST_LINE {
            let line = 1 + memchr::memchr_iter(b'\n', head).count() as u64;
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
        ended = source.fill(head, more)?;
        check_text(&path, head)?;
        context.cancel.check()?;
    }
    check_text(&path, head)?;
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    Ok(ended)
}

/// A parser, and where its text begins behind the header.
struct Header {
    parser: Box<dyn Parser>,
    body: usize,
}

/// Reads the header of a format, and what else it says of the graph.
fn header(format: Format, head: &[u8], forced: bool, claims: &mut Claims) -> Result<Header, Fault> {
    let (parser, body): (Box<dyn Parser>, usize) = match format {
        Format::Edges => {
            let (edges, body) = edges::EdgeList::header(head, forced)?;
            claims.first_line = edges.first_numbers(&head[body..]);
            (Box::new(edges), body)
        }
        Format::Lg | Format::Tve => boxed(records::Records::header(head))?,
        Format::Arabesque => (Box::new(arabesque::Arabesque { guessed: !forced }), 0),
        Format::Metis => boxed(metis::Metis::header(head))?,
        Format::Mtx => {
            let (matrix, body) = matrix_market::MatrixMarket::header(head)?;
            claims.directed = claims.directed.take().or(matrix.general());
            (Box::new(matrix), body)
        }
        Format::Triples => boxed(triples::Triples::header(head))?,
        Format::Image | Format::BvGraph => unreachable!("no text, and read above"),
    };
    Ok(Header { parser, body })
}

/// The line of a byte, from 1.
fn line_of(text: &[u8], at: usize) -> u64 {
    1 + memchr::memchr_iter(b'\n', &text[..at]).count() as u64
}

/// A fault at its line, with what helps where the format may be another.
fn fault_of_format(
    path: &Path,
    format: Format,
    forced: bool,
    fault: Fault,
    text: &[u8],
    first_line: u64,
) -> Error {
    let line = first_line + line_of(text, fault.at) - 1;
    let mut what = fault.what;
    if names_vertices(format, text, fault.at) {
        let shown = quote(scan::trim(&text[fault.at..edges::line_end(text, fault.at)]));
        what = format!(
            "{shown} is no edge line: names of vertices are text, but ids are whole numbers; in Python, \
             gramer.Graph.from_networkx takes names"
        );
    } else if !forced {
        what += &format!(" (read as {format}; the setting `format` names another)");
    }
    Error::input(Place::line(path, line), what)
}

fn boxed<P: Parser + 'static>(
    header: Result<(P, usize), Fault>,
) -> Result<(Box<dyn Parser>, usize), Fault> {
    header.map(|(parser, body)| (Box::new(parser) as Box<dyn Parser>, body))
}

/// Whether the line at `at` of an edge list looks like an edge between names: then no other format helps.
fn names_vertices(format: Format, text: &[u8], at: usize) -> bool {
    let line = scan::trim(&text[at..edges::line_end(text, at)]);
    let word = |field: &[u8]| {
        let text = names::unquoted(field);
        !text.is_empty()
            && !text.iter().any(|b| matches!(b, b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b'='))
    };
    let fields: Vec<&[u8]> = scan::fields(line).take(4).collect();
    let edge = (2..4).contains(&fields.len()) && fields[..2].iter().all(|field| word(field));
    format == Format::Edges && edge && fields[..2].iter().any(|field| edges::begins_as_name(field))
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
pub(super) fn check_text(path: &Path, head: &[u8]) -> Result<()> {
    let fault = |what: String| Err(Error::input(Place::file(path), what));
    if head.is_empty() {
        return fault("is empty".into());
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return fault("is text in UTF-16; save it as UTF-8".into());
    }
    if let Some(what) = foreign::binary(head) {
        return fault(what.into());
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

/// Edges of a chunk of several blocks: 32 MiB, nearly all of it in large pages.
const MANY_EDGES: usize = 4 << 20;

/// Most edges that a block of an edge list may have: no line of one is shorter than four bytes.
fn most_edges(text: &[u8]) -> usize {
    text.len() / 4 + 1
}

/// Parses all blocks; also the line of the first self loop.
fn parse(
    blocks: &Blocks,
    parser: &dyn Parser,
    threads: usize,
    spill: Option<&Arc<Spill>>,
    context: &Context,
    fault_in: &(dyn Fn(Fault, &[u8], u64) -> Error + Sync),
) -> Result<(Vec<Chunk>, Option<u64>)> {
    let first_loop = FirstLoop::default();
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
    // With a limit on memory each block's edges go to a file.
    let joins = parser.joins() && spill.is_none();
    let worker = |_| {
        let mut chunks = Vec::new();
        let mut block = blocks.empty();
        while !failed.load(Ordering::Relaxed) && !context.cancel.is_cancelled() {
            match blocks.next(&mut block) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    fail(usize::MAX, error);
                    break;
                }
            }
            let most = most_edges(&block.text);
            let joined = chunks.pop_if(|last: &mut Chunk| joins && last.edges.room() >= most);
            let mut chunk = joined.unwrap_or_else(|| {
                let many = joins && block.text.len() >= source::BLOCK;
                let edges = EdgeBlock::with_capacity(if many { MANY_EDGES } else { most });
                let (index, first_line) = (block.index, block.first_line);
                Chunk { index, first_line, edges, ..Chunk::default() }
            });
            let from = chunk.edges.len();
            match parser.block(&block.text, &mut chunk) {
                Ok(()) => {
                    chunk.edges.largest();
                    first_loop.look(parser, &block, &chunk, from);
                    let spilled = spill.map_or(Ok(()), |spill| spill.take(&mut chunk.edges));
                    spilled.unwrap_or_else(|error| fail(usize::MAX, error));
                    chunks.push(chunk);
                }
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
    Ok((chunks, first_loop.line(last)))
}
