//! Adjacency lists: a line for each vertex with its neighbours (NetworkX, SNAP), or a line for each neighbour
//! (NetworkX's multiline lists).

use std::collections::HashMap;
use std::io::BufRead;

use super::Sink;
use super::fields::{number, words};
use crate::read::scan;
use gramer_base::counted::counted;
use gramer_base::error::{Result, quote};

/// Whether a text begins with the comments of NetworkX: its program, and a date.
fn is_of_networkx(head: &[u8]) -> bool {
    let mut lines = scan::lines(head).map(|(_, line)| line);
    lines.next().is_some_and(|line| line.starts_with(b"#"))
        && lines.next().is_some_and(|line| line.starts_with(b"# GMT "))
}

/// Whether neighbours have their own lines, with a dictionary of attributes.
fn has_dictionaries(head: &[u8]) -> bool {
    let mut content =
        scan::lines(head).map(|(_, line)| line).filter(|line| !scan::is_comment(line));
    content.any(|line| line.ends_with(b"}"))
}

pub(super) fn is_list(head: &[u8]) -> bool {
    is_of_networkx(head) && !has_dictionaries(head)
}

pub(super) fn is_multiline(head: &[u8]) -> bool {
    is_of_networkx(head) && has_dictionaries(head)
}

/// Vertices named as neighbours, with the first such line; 0 for vertices with a line.
#[derive(Default)]
struct ForwardReferences(HashMap<u64, u64>);

impl ForwardReferences {
    fn own(&mut self, vertex: u64) {
        self.0.insert(vertex, 0);
    }

    fn neighbour(&mut self, vertex: u64, line: u64) {
        self.0.entry(vertex).or_insert(line);
    }

    /// Remarks on those that are left. Each vertex has a line in a whole file.
    fn finish(self, sink: &mut Sink<'_>) {
        let left = || self.0.iter().filter(|(_, line)| **line > 0);
        if let Some((&vertex, line)) = left().min_by_key(|(_, line)| **line) {
            let (count, name) = (left().count(), quote(sink.name(vertex)));
            let what = counted(count, "neighbour begins no line", "neighbours begin no line");
            sink.note(format!(
                "{what}, the first is {name} in line {line}: the file may be cut off"
            ));
        }
    }
}

pub(super) fn read_list(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = sink.lines(input);
    let mut waiting = ForwardReferences::default();
    while let Some((line, text)) = lines.next()? {
        let mut words = words(text);
        let first = words.next().unwrap_or_default();
        // `0: 1 2` is as common as `0 1 2`.
        let vertex = sink.vertex(first.strip_suffix(b":").unwrap_or(first))?;
        waiting.own(vertex);
        for neighbour in words {
            let neighbour = sink.vertex(neighbour)?;
            waiting.neighbour(neighbour, line);
            sink.edge(vertex, neighbour, None)?;
        }
    }
    waiting.finish(sink);
    if !lines.is_ended() {
        sink.note("the last line has no end: the file may be cut off");
    }
    Ok(())
}

pub(super) fn read_multiline(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = sink.lines(input);
    let (mut attributes, mut waiting) = (false, ForwardReferences::default());
    // The vertex whose neighbours follow, their number, and the line that declares it.
    let (mut vertex, mut left, mut begun) = (0, 0, 0);
    while let Some((line, text)) = lines.next()? {
        if left > 0 {
            left -= 1;
            let (name, rest) = match memchr::memmem::find(text, b" {") {
                Some(at) => text.split_at(at),
                None => (text, &b""[..]),
            };
            attributes |= !matches!(rest, b"" | b" {}");
            let neighbour = sink.vertex(scan::trim(name))?;
            waiting.neighbour(neighbour, line);
            sink.edge(vertex, neighbour, None)?;
            continue;
        }
        let at = text.iter().rposition(|&byte| scan::is_blank(byte)).unwrap_or(text.len());
        let (name, degree) = text.split_at(at);
        left = number(sink, line, Some(scan::trim(degree)), "number of neighbours")?;
        vertex = sink.vertex(scan::trim(name))?;
        waiting.own(vertex);
        begun = line;
    }
    if left > 0 {
        let what = format!(
            "{} missing at the end: the file is cut off",
            counted(left, "neighbour of this vertex is", "neighbours of this vertex are")
        );
        return Err(sink.fault_at(begun, what));
    }
    waiting.finish(sink);
    if !lines.is_ended() {
        sink.note("the last line has no end: the file may be cut off");
    }
    if attributes {
        sink.note("attributes of edges are left out");
    }
    Ok(())
}
