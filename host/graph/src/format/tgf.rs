//! Trivial Graph Format of yEd: lines `id text` of vertices, a line `#`, then lines `source target text` of edges.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};

use super::attributes::{AttributeGraph, Values};
use super::refusal::refused;
use super::{Format, Sink};
use crate::read::scan::{self, TO_UTF8, is_blank};
use crate::write::each_edge;
use crate::{Graph, VertexId};
use gramer_base::error::{Result, quote};

/// The first word of a line, and the text behind it.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(|&byte| is_blank(byte)).unwrap_or(line.len());
    (&line[..end], scan::trim(&line[end..]))
}

/// Whether a text is surely of this format: its first lines can't be edges.
pub(super) fn sniff(head: &[u8]) -> bool {
    shape(head) == Some(true)
}

/// Whether different vertices stand in front of the first line `#`, and an edge between two of them behind it; `None`
/// if not, `Some(false)` if the lines in front may be edges as well.
pub(crate) fn shape(head: &[u8]) -> Option<bool> {
    // Nearly always a text has no such line.
    memchr::memmem::find(head, b"\n#")?;
    let mut lines = scan::lines(head).map(|(_, line)| split(line)).filter(|(id, _)| !id.is_empty());
    let (mut ids, mut sure, mut counted) = (HashSet::new(), false, true);
    loop {
        let (id, text) = lines.next()?;
        if (id, text) == (b"#", b"") {
            break;
        }
        // Quotes may hold lines: a row of a table.
        if id == b"#" || id[0] == b'"' || !ids.insert(id) {
            return None;
        }
        let alike = scan::is_number(id) == scan::is_number(text);
        sure |= text.is_empty() || text.iter().any(|&byte| is_blank(byte)) || !alike;
        counted &= text.is_empty() || !alike && scan::count(id) == Some(ids.len() as u64);
    }
    match lines.next() {
        Some((source, rest)) => ids.contains(source) && ids.contains(split(rest).0),
        // An edge list may end with an empty comment.
        None => counted && !ids.is_empty(),
    }
    .then_some(sure)
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let mut lines = sink.lines(input);
    let mut graph = AttributeGraph::new(sink);
    let mut mark = None;
    while let Some((line, text)) = lines.next()? {
        let text = std::str::from_utf8(text)
            .map_err(|_| sink.fault_at(line, format!("{} is not UTF-8; {TO_UTF8}", quote(text))))?;
        let apart = |c: char| u8::try_from(c).is_ok_and(is_blank);
        let split = |text| match str::split_once(text, apart) {
            Some((word, rest)) => (word, rest.trim_start_matches(apart)),
            None => (text, ""),
        };
        let (first, rest) = split(text);
        match mark {
            _ if first == "#" => {
                let what = match mark {
                    Some(mark) => format!("a second `#`, after line {mark}: one file is one graph"),
                    None if rest.is_empty() => {
                        mark = Some(line);
                        continue;
                    }
                    None => "the `#` between vertices and edges stands alone in its line".into(),
                };
                return Err(sink.fault_at(line, what));
            }
            None => graph.vertex(line, first, labelled(graph.values(false), rest))?,
            Some(_) => {
                let (target, label) = split(rest);
                if target.is_empty() {
                    let what = format!("{} is not an edge: `source target text`", quote(text));
                    return Err(sink.fault_at(line, what));
                }
                let values = labelled(graph.values(true), label);
                graph.edge(line, [first, target], values)?;
            }
        }
    }
    if mark.is_none() {
        let what = "holds no line `#` between vertices and edges: it may be cut off";
        return Err(sink.fault(what));
    }
    if graph.edges() == 0 {
        sink.note("no edge follows the line `#`: the file may be cut off");
    } else if !lines.is_ended() {
        sink.note(scan::NO_NEWLINE);
    }
    graph.finish(sink)
}

/// The values of a vertex or an edge, with this text.
fn labelled<'a>(mut values: Values<'a>, text: &str) -> Values<'a> {
    if !text.is_empty() {
        values.set("label", text.into());
    }
    values
}

/// A text at the end of a line.
fn last(text: &str) -> io::Result<&str> {
    if text.contains(['\n', '\r']) || scan::trim(text.as_bytes()).len() < text.len() {
        let why = "its texts have no line ends, and no blanks around them";
        return Err(refused(text, Format::Tgf, why));
    }
    Ok(text)
}

/// Refuses names and labels of vertices of which a reader would make others: labels must not look like names.
fn check_labels(graph: &Graph) -> io::Result<()> {
    let label = |v| graph.vertex_label_name(graph.view().vertex_label(v)).to_string();
    let labels: HashSet<String> = (0..graph.vertices() as VertexId).map(label).collect();
    if labels.contains("") && labels.len() == 1 {
        return Err(refused("", Format::Tgf, "a label needs a text"));
    }
    if labels.len() == graph.vertices() && !labels.contains("") {
        let why = "no two vertices have the same label, and such labels are read as names";
        return Err(refused(&label(0), Format::Tgf, why));
    }
    if graph.names().vertices.is_none() {
        return Ok(());
    }
    for v in 0..graph.vertices() as VertexId {
        let name = graph.vertex_name(v).to_string();
        let apart = |byte: u8| is_blank(byte) || matches!(byte, b'\r' | b'\n');
        if name == "#" || name.starts_with('"') || name.bytes().any(apart) {
            let why = "a name in front of a label is one word, neither `#` nor in quotes";
            return Err(refused(&name, Format::Tgf, why));
        }
        // The beginning of a file shows its format.
        let plain = |c: char| c.is_alphanumeric();
        let other = || super::sniffed(format!("{name} {}\n", label(v)).as_bytes()).is_some();
        if v == 0 && (!name.starts_with(plain) || other()) {
            let why = "a file that begins with it looks like one of another format";
            return Err(refused(&name, Format::Tgf, why));
        }
    }
    Ok(())
}

/// Writes ids and labels of vertices; names as texts behind numbers from 1 where vertices have no labels.
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    let labels = graph.has_vertex_labels();
    if labels {
        check_labels(graph)?;
    }
    let numbered = graph.names().vertices.is_some() && !labels;
    let id = |v: VertexId| match numbered {
        true => (u64::from(v) + 1).to_string(),
        false => graph.vertex_name(v).to_string(),
    };
    let line = |out: &mut dyn Write, ends: String, text: String| match last(&text)? {
        "" => writeln!(out, "{ends}"),
        text => writeln!(out, "{ends} {text}"),
    };
    for v in 0..graph.vertices() as VertexId {
        let text = match (labels, numbered) {
            (true, _) => graph.vertex_label_name(graph.view().vertex_label(v)).to_string(),
            (_, true) => graph.vertex_name(v).to_string(),
            _ => String::new(),
        };
        line(out, id(v), text)?;
    }
    writeln!(out, "#")?;
    each_edge(graph, |u, v, label| {
        let text = match graph.has_edge_labels() {
            true => graph.edge_label_name(label).to_string(),
            false => String::new(),
        };
        line(out, format!("{} {}", id(u), id(v)), text)
    })
}
