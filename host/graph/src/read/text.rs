//! The text formats: which one it is, its header, and its blocks on all threads.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::chunk::{Chunk, FinishContext, Parser};
use super::claims::Claims;
use super::foreign::check_text;
use super::heads::{Head, Header, ReadHead};
use super::loops::FirstLoop;
use super::scan::Fault;
use super::source::{Blocks, Source};
use super::whole::{as_table, as_texts, remark, text_in, whole};
use super::{
    Compression, Format, GraphFile, Ids, ReadOptions, bvgraph, detect, foreign, guess, names, scan,
    shapes, source,
};
use crate::build::{EdgeBlock, Spill};
use crate::format::{self, ReaderKind, Texts};
use crate::{Builder, Dictionaries, image};
use gramer_base::context::Context;
use gramer_base::error::{Error, Place, Result};
use gramer_base::parallel::on_threads;

/// Bytes read to detect the format; longer headers are completed.
const HEAD: usize = 256 << 10;

/// An input before rows are made.
pub(super) enum ParsedInput {
    Image(GraphFile),
    Text(Text),
    /// A text of numbers, until a line with an id or a label that is a text: how to read it, and a remark.
    Names(Texts, String),
}

/// A text, parsed.
pub(super) struct Text {
    pub path: PathBuf,
    pub builder: Builder,
    /// Texts behind the ids and labels of the builder.
    pub names: Dictionaries,
    pub format: Format,
    /// Whether the format is a guess.
    pub guessed: bool,
    pub compression: Compression,
    pub bytes: u64,
    pub notes: Vec<String>,
    /// Claims of its head about the graph.
    pub claims: Claims,
    /// The line, from 1, of the first self loop, if there is one and the format tells.
    pub first_loop: Option<u64>,
}

/// Reads what an image is, or parses the blocks of a text, which must not change meanwhile.
pub(super) fn parse_source(
    mut source: Source,
    options: &ReadOptions,
    context: &Context,
) -> Result<ParsedInput> {
    let watch = source.watch.take();
    let parsed = parse_as_it_is(source, options, context);
    match watch {
        Some(watch) => watch.unchanged(parsed),
        None => parsed,
    }
}

fn parse_as_it_is(
    mut source: Source,
    options: &ReadOptions,
    context: &Context,
) -> Result<ParsedInput> {
    if options.format == Some(Format::BvGraph) {
        return Err(bvgraph::refused(&source.path));
    }
    let mut head = Vec::new();
    let ended = source.fill(&mut head, image::MAGIC.len())?;
    if head == image::MAGIC || options.format == Some(Format::Image) {
        check_columns(&source.path, Format::Image, options)?;
        return read_image(source, head, options, context).map(ParsedInput::Image);
    }
    let named = options.format.filter(|format| matches!(format, Format::Parquet | Format::Arrow));
    if let Some(format) = named.or(format::magic(&head))
        && let ReaderKind::Whole(read) = format.entry().read
    {
        return whole(source, head, (format, read), options, context).map(ParsedInput::Text);
    }
    let ended = complete_head(&mut source, &mut head, ended, context)?;
    let path = source.path.clone();
    let forced = options.format.is_some();
    let fault_at =
        |fault: Fault| Error::input(Place::line(&path, line_of(&head, fault.at)), fault.what);
    let format = format_of(&head, ended, &path, options).map_err(fault_at)?;
    check_columns(&path, format, options)?;
    let guessed = !forced && guess::is_guess(format, &head, &extension(&path));
    let labelled = !forced && options.edge_labels && names::says_edge_label(&head);
    let told = options.columns.any() || options.ids == Ids::Text || labelled;
    if format == Format::Table || format == Format::Edges && told {
        return as_table(source, head, options, context).map(ParsedInput::Text);
    }
    match format.entry().read {
        ReaderKind::Blocks { header, streams, texts } => {
            let spill = spill(streams, &path, context)?;
            // `--ids number` keeps numeric ids numeric.
            let texts = texts.filter(|_| format != Format::Edges || options.ids == Ids::Auto);
            let chosen = FormatChoice { format, forced, guessed, texts };
            in_blocks(source, (head, ended), (chosen, header), spill, options, context)
        }
        ReaderKind::Whole(read) => {
            let read = whole(source, head, (format, read), options, context);
            let text = read.map_err(|error| guess::told(error, format, guessed))?;
            Ok(ParsedInput::Text(Text { guessed, ..text }))
        }
        ReaderKind::Own => unreachable!("no text, and read above"),
    }
}

/// A format, and how it was detected.
#[derive(Debug, Clone, Copy)]
struct FormatChoice {
    format: Format,
    /// Whether the user named the format.
    forced: bool,
    guessed: bool,
    texts: Option<Texts>,
}

/// Reads a text that begins with `head`, all of it if `ended`, by blocks of lines on all threads.
fn in_blocks(
    source: Source,
    (mut head, ended): (Vec<u8>, bool),
    (chosen, header): (FormatChoice, ReadHead),
    spill: Option<Arc<Spill>>,
    options: &ReadOptions,
    context: &Context,
) -> Result<ParsedInput> {
    let FormatChoice { format, forced, guessed, texts } = chosen;
    let (path, compression) = (source.path.clone(), source.compression);
    let mut claims = Claims::of(&head, forced);
    let begun = header(&mut Head { text: &head, forced, claims: &mut claims });
    if let Some(texts) = texts.filter(|texts| begun.is_err() && has_texts(&head, texts)) {
        return as_texts(source, head, texts, options, context).map(ParsedInput::Text);
    }
    let Header { parser, body } = begun.map_err(|fault| match format {
        // What is wrong with names of columns is no fault of a format.
        Format::Edges => Error::input(Place::line(&path, line_of(&head, fault.at)), fault.what),
        _ => fault_of_format(&path, (format, forced), fault, &head, 1, None),
    })?;
    let line = 1 + memchr::memchr_iter(b'\n', &head[..body]).count() as u64;
    if let Some(texts) = texts
        && let Some(note) =
            text_in(&*parser, texts, beginning(&head[body..], ended, source.file.is_none()), line)
    {
        let mut text = as_texts(source, head, texts, options, context)?;
        text.notes.splice(0..0, Some(note).filter(|note| !note.is_empty()));
        return Ok(ParsedInput::Text(text));
    }
    let later = Mutex::new(None);
    let fault_in = |fault: Fault, text: &[u8], line: u64| {
        if let Some(texts) = texts
            && let Some(shown) = (texts.shows)(text, fault.at)
        {
            let number = line + line_of(text, fault.at) - 1;
            let mut later = later.lock().unwrap_or_else(|e| e.into_inner());
            later.get_or_insert_with(|| (texts, remark(texts, number, shown)));
        }
        fault_of_format(&path, (format, forced), fault, text, line, Some(&*parser))
    };
    let before = body as u64;
    head.drain(..body);

    // What is in one block needs no second thread.
    let threads = if ended && head.len() <= source::BLOCK { 1 } else { context.threads() };
    let blocks = Blocks::new(source, head, ended, line);
    let parsed = parse(&blocks, &*parser, threads, spill.as_ref(), context, &fault_in);
    if let (Err(Error::Input { .. }), Some((texts, note))) =
        (&parsed, later.into_inner().unwrap_or_else(|e| e.into_inner()))
    {
        return Ok(ParsedInput::Names(texts, note));
    }
    let (chunks, first_loop) = parsed?;
    let mut end = FinishContext {
        path: path.clone(),
        notes: blocks.trailing().into_iter().collect(),
        max_vertices: options.max_vertices,
        edges: chunks.iter().map(|c| c.edges.len() as u64).sum(),
        cancel: context.cancel.clone(),
    };
    let builder =
        parser.finish(chunks, &mut end).map_err(|error| guess::told(error, format, guessed))?;
    let (names, bytes, notes) = (Dictionaries::default(), before + blocks.bytes(), end.notes);
    let text = Text {
        path,
        builder,
        names,
        format,
        guessed,
        compression,
        bytes,
        notes,
        claims,
        first_loop,
    };
    Ok(ParsedInput::Text(text))
}

/// Refuses names of columns for a format without columns.
fn check_columns(path: &Path, format: Format, options: &ReadOptions) -> Result<()> {
    let columns = &options.columns;
    let is_table = matches!(format, Format::Edges | Format::Table);
    let attributes = [Format::GraphMl, Format::Gexf, Format::Gml, Format::NodeLink];
    let told = [
        (&columns.source, "source", is_table),
        (&columns.target, "target", is_table),
        (&columns.edge_label, "edge_label", is_table || attributes.contains(&format)),
        (&columns.label, "label", attributes.contains(&format)),
        (&columns.weight, "weight", is_table),
        (&columns.time, "time", is_table),
    ];
    let told = told.into_iter().find(|(column, _, fits)| column.is_some() && !fits);
    let Some((_, setting, _)) = told else { return Ok(()) };
    Err(Error::usage(format!(
        "{}: the setting `{setting}` names {}",
        Place::file(path),
        match setting {
            "label" => format!(
                "an attribute of vertices, or a column of the setting `vertex_table`, but the format is {format}: name a \
                 table of vertices there, or a column of labels of edges with the setting `edge_label`"
            ),
            _ => format!("a column of a table, but the format is {format}"),
        }
    )))
}

/// The format of a text that begins with `head`, all of it if `ended`.
///
/// # Errors
/// A fault for a text that is not a graph, or in a format that is not read.
fn format_of(
    head: &[u8],
    ended: bool,
    path: &Path,
    options: &ReadOptions,
) -> Result<Format, Fault> {
    if let Some(format) = options.format.or_else(|| format::sniffed(head)) {
        return Ok(format);
    }
    foreign::refuse(head)?;
    let format = detect::detect(head, ended, &extension(path));
    // Who names columns has a table.
    Ok(if options.columns.any() { format } else { shapes::other(format, head, ended) })
}

/// Opens the spill file of edges, if memory is limited.
///
/// # Errors
/// [`Error::Input`] for a format that is held in memory as a whole.
fn spill(streams: bool, path: &Path, context: &Context) -> Result<Option<Arc<Spill>>> {
    match &context.budget {
        Some(budget) if streams => Spill::create(&budget.folder).map(Some),
        Some(_) => Err(in_memory(path)),
        None => Ok(None),
    }
}

/// The error of a reader that holds the whole file while memory is limited.
pub(crate) fn in_memory(path: &Path) -> Error {
    let what = "memory is limited, and only edge lists, tables, Matrix Market, Arabesque, \
                DIMACS, adjacency lists, ORCA, transactions, BVGraph and the file of an image are read without holding all of it: make an image with `gramer graph convert` where there is more memory";
    Error::input(Place::file(path), what)
}

/// Refuses what would be held in memory as a whole where that is limited.
pub(super) fn within_budget(path: &Path, context: &Context) -> Result<()> {
    if context.budget.is_some() { Err(in_memory(path)) } else { Ok(()) }
}

/// Reads an image, of which `head` has been read.
fn read_image(
    mut source: Source,
    mut head: Vec<u8>,
    options: &ReadOptions,
    context: &Context,
) -> Result<GraphFile> {
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
    let format = Format::Image;
    Ok(GraphFile { graph, format, compression, bytes, notes, ordering: Duration::ZERO })
}

/// Reads until the format can be detected. Also returns whether the source has ended.
pub(super) fn complete_head(
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

/// Bytes of an edge list that are looked at for texts before it is read as one of numbers; a file can be read again.
const PROBE: usize = 4 << 10;

/// Whole lines at the beginning of a text: some, or as many as there are of what can't be read again.
fn beginning(body: &[u8], ended: bool, all: bool) -> &[u8] {
    if ended && (all || body.len() <= PROBE) {
        return body;
    }
    let most = if all { body } else { &body[..body.len().min(PROBE)] };
    &most[..memchr::memrchr(b'\n', most).map_or(0, |newline| newline + 1)]
}

/// Whether one of the first lines behind the first one has an id that is a text.
fn has_texts(head: &[u8], texts: &Texts) -> bool {
    let content = |(_, line): &(usize, &[u8])| !line.is_empty() && !scan::is_comment(line);
    let mut lines = scan::lines(head).filter(content).skip(1).take(64);
    lines.any(|(at, _)| (texts.shows)(head, at).is_some())
}

/// The line of a byte, from 1.
fn line_of(text: &[u8], at: usize) -> u64 {
    1 + memchr::memchr_iter(b'\n', &text[..at]).count() as u64
}

/// A fault at its line, with what helps where the format may be another.
fn fault_of_format(
    path: &Path,
    (format, forced): (Format, bool),
    fault: Fault,
    text: &[u8],
    first_line: u64,
    parser: Option<&dyn Parser>,
) -> Error {
    let line = first_line + line_of(text, fault.at) - 1;
    let mut what = fault.what;
    let of_id = super::text_at(text, fault.at).is_some()
        || parser.is_some_and(|parser| parser.has_other_number(text, fault.at));
    if format == Format::Edges && of_id {
        what += " (with the setting `ids` text, an id is any text)";
    } else if !forced {
        what += &format!(" (read as {format}; the setting `format` names another)");
    }
    Error::input(Place::line(path, line), what)
}

/// Complete lines with content, up to 2.
fn content_lines(head: &[u8]) -> usize {
    let complete = memchr::memrchr(b'\n', head).map_or(0, |newline| newline + 1);
    scan::lines(&head[..complete])
        .filter(|(_, line)| !line.is_empty() && !scan::is_comment(line))
        .take(2)
        .count()
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

/// Maximum number of edges that a block of an edge list may have: no line of one is shorter than four bytes.
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
    // That of the earliest block: those before it were handed out before, and threads finish what they have.
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
            // The rows that one thread makes take the place of its edges, if these are in one array.
            let has_room =
                |edges: &mut EdgeBlock| edges.room() >= most || threads == 1 && edges.grow(most);
            let joined = chunks.pop_if(|last: &mut Chunk| joins && has_room(&mut last.edges));
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
