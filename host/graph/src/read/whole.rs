//! Texts that are read from the first to the last byte, and edge lists whose ids turn out to be texts.

use std::path::Path;

use super::chunk::{Chunk, Parser};
use super::claims::Claims;
use super::scan::{self, quote};
use super::source::Source;
use super::text::{Text, complete_head};
use super::{Format, GraphFile, ReadOptions, VertexTable, edges, names};
use crate::format::{self, Reader, Sink, SinkContent, Texts};
use gramer_base::context::Context;
use gramer_base::error::{Error, Place, Result};
use gramer_base::input::STDIN;

/// Reads a text from its first byte, of which `head` has been read, to the last one.
pub(super) fn whole(
    source: Source,
    head: Vec<u8>,
    (format, read): (Format, Reader),
    options: &ReadOptions,
    context: &Context,
) -> Result<Text> {
    let (path, compression) = (source.path.clone(), source.compression);
    let mut sink = Sink::new(&path, format.entry().comments, options, context)?;
    let mut rest = source.behind(head);
    read(&mut rest, &mut sink)?;
    let SinkContent { builder, names, mut notes } = sink.finish()?;
    notes.extend(rest.trailing());
    Ok(Text {
        builder,
        names,
        format,
        guessed: false,
        compression,
        bytes: rest.bytes(),
        notes,
        claims: Claims::default(),
        first_loop: None,
        path,
    })
}

/// Reads a text of numbers from its start as one of texts.
pub(super) fn by_names(
    mut source: Source,
    (texts, note): (Texts, String),
    options: &ReadOptions,
    context: &Context,
) -> Result<Text> {
    let mut head = Vec::new();
    let watch = source.watch.take();
    let ended = source.fill(&mut head, 1)?;
    complete_head(&mut source, &mut head, ended, context)?;
    let mut read = as_texts(source, head, texts, options, context);
    if let (Ok(text), false) = (&mut read, note.is_empty()) {
        text.notes.insert(0, note);
    }
    match watch {
        Some(watch) => watch.unchanged(read),
        None => read,
    }
}

/// Reads a text of which `head` has been read.
pub(super) fn as_texts(
    source: Source,
    head: Vec<u8>,
    texts: Texts,
    options: &ReadOptions,
    context: &Context,
) -> Result<Text> {
    if texts.format == Format::Table {
        return as_table(source, head, options, context);
    }
    whole(source, head, (texts.format, texts.read), options, context)
}

/// Reads an edge list as a table of names.
pub(super) fn as_table(
    source: Source,
    head: Vec<u8>,
    options: &ReadOptions,
    context: &Context,
) -> Result<Text> {
    let claims = Claims::of(&head, options.format.is_some());
    let table = (Format::Table, format::read_table as Reader);
    Ok(Text { claims, ..whole(source, head, table, options, context)? })
}

/// The line at `at` of an edge list, if an id in it is a text.
pub(crate) fn text_at(text: &[u8], at: usize) -> Option<&[u8]> {
    let line = scan::trim(&text[at..edges::line_end(text, at)]);
    let apart = |b: &u8| scan::is_blank(*b) || matches!(b, b',' | b';' | b'|');
    let is_text = |field: &[u8]| {
        let (quoted, field) = (field.starts_with(b"\""), names::unquoted(field));
        if quoted && names::keeps_zeros(field) {
            return true;
        }
        let id = scan::id(field).is_ok() || names::whole(field).is_some();
        let integer = || field.strip_prefix(b"-").unwrap_or(field).iter().all(u8::is_ascii_digit);
        let number = scan::is_number(field) && !names::has_bare_exponent(field);
        !field.is_empty() && !id && (!number || integer())
    };
    let fields = || line.split(apart).filter(|field| !field.is_empty());
    // Within quotes it is part of a name.
    let quotes = |text: &[u8]| memchr::memchr_iter(b'"', text).count();
    let old_mac = memchr::memchr_iter(b'\r', line).any(|at| quotes(&line[..at]) % 2 == 0);
    let several = fields().nth(1).is_some() || edges::has_open_quote(line);
    (!old_mac && several && fields().any(is_text)).then_some(line)
}

/// Note on a text id at the beginning of an edge list: `None` without text ids, empty if it is in the first
/// line.
pub(super) fn text_in(
    parser: &dyn Parser,
    texts: Texts,
    body: &[u8],
    first_line: u64,
) -> Option<String> {
    let fault = parser.block(body, &mut Chunk::default()).err()?;
    let line = (texts.shows)(body, fault.at)?;
    let before = || scan::lines(&body[..fault.at]);
    let number = first_line + before().count() as u64;
    let first = !before().any(|(_, line)| !line.is_empty() && !scan::is_comment(line));
    Some(if first { String::new() } else { remark(texts, number, line) })
}

/// Note on the line because of which all ids or labels are read as texts.
pub(super) fn remark(texts: Texts, number: u64, line: &[u8]) -> String {
    let shown = quote(line);
    if memchr::memchr_iter(b'"', line).count() % 2 == 1 {
        return format!(
            "line {number}, {shown}, has a text in quotes that goes on behind it: the file is read as a table"
        );
    }
    let of = texts.of;
    let article = if of.starts_with('i') { "an" } else { "a" };
    format!(
        "line {number}, {shown}, has {article} {of} that is not a number: all of them are read as texts"
    )
}

/// Opens a file again; standard input and pipes can be read only once.
pub(super) fn opened_again<'a>(
    path: &'a Path,
    open: &'a dyn Fn() -> Result<Source>,
) -> impl Fn() -> Result<Option<Source>> + 'a {
    move || match path.as_os_str() != STDIN && path.is_file() {
        true => open().map(Some),
        false => Ok(None),
    }
}

/// The error for texts that show too late where the input can't be read again.
pub(super) fn read_once(path: &Path, note: &str) -> Error {
    let what = format!(
        "{note}, but this input can't be read from its start again: say that ids are texts with the setting `ids` \
         (text), or read a file"
    );
    Error::input(Place::file(path), what)
}

/// Adds the labels of a table of vertices.
pub(super) fn vertex_table(
    table: &VertexTable,
    loaded: &mut GraphFile,
    options: &ReadOptions,
    context: &Context,
) -> Result<()> {
    let mut source = Source::open(&table.path, &context.cancel)?;
    let watch = source.watch.take();
    let path = source.path.clone();
    let mut head = Vec::new();
    let ended = source.fill(&mut head, 1)?;
    complete_head(&mut source, &mut head, ended, context)?;
    let mut sink = Sink::new(&path, b"#%", options, context)?;
    let mut rest = source.behind(head);
    let read = format::read_vertices(&mut rest, &mut sink, table, &loaded.graph);
    let read = match watch {
        Some(watch) => watch.unchanged(read),
        None => read,
    };
    let (labels, names) = read?;
    let graph = loaded.graph.clone().with_vertex_labels(Some(labels)).with_names(names);
    loaded.graph = graph;
    let of = gramer_base::error::shown(&path);
    loaded.notes.extend(sink.finish()?.notes.into_iter().map(|note| format!("{of}: {note}")));
    Ok(())
}
