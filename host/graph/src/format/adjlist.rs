//! Adjacency lists: a line for each vertex with its neighbours (NetworkX, SNAP), or a line for each neighbour
//! (NetworkX's multiline lists).

use std::collections::{HashMap, HashSet};
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

/// Separators of NetworkX's lists besides white space.
const MARKS: [u8; 4] = [b'\t', b'|', b';', b','];

/// What separates a vertex and its neighbours.
#[derive(Clone, Copy, PartialEq)]
enum Apart {
    /// White space; a colon may end the vertex.
    Blanks,
    /// This byte.
    Mark(u8),
    /// A colon behind the vertex; commas, or else white space, between the neighbours.
    Colon { commas: bool },
}

impl Apart {
    /// What separates the words of a list that begins so: colons if all lines have one; else the mark by which most
    /// neighbours have lines, and no vertex has two.
    fn of(head: &[u8]) -> Self {
        // The last line may be cut off.
        let head = memchr::memrchr(b'\n', head).map_or(head, |end| &head[..end]);
        let content = |line: &&[u8]| !line.is_empty() && !scan::is_comment(line);
        let lines: Vec<&[u8]> = scan::lines(head).map(|(_, line)| line).filter(content).collect();
        if has_colons(lines.iter().copied()) {
            return Apart::by_colons(lines.iter().copied());
        }
        let fits = |apart: Apart| {
            let rows: Vec<Vec<&[u8]>> = lines.iter().map(|line| apart.words(line)).collect();
            let vertices: HashSet<&[u8]> = rows.iter().map(|row| row[0]).collect();
            let neighbours = || rows.iter().flat_map(|row| &row[1..]);
            let known = neighbours().filter(|word| vertices.contains(*word)).count();
            (vertices.len() == rows.len(), known * 1000 / neighbours().count().max(1))
        };
        let present = |mark: &u8| lines.iter().any(|line| line.contains(mark));
        let mut best = (fits(Apart::Blanks), Apart::Blanks);
        for apart in MARKS.into_iter().filter(present).map(Apart::Mark) {
            let fits = fits(apart);
            if fits > best.0 {
                best = (fits, apart);
            }
        }
        best.1
    }

    /// For lines with colons: commas if any line has one.
    fn by_colons<'l>(mut lines: impl Iterator<Item = &'l [u8]>) -> Self {
        Apart::Colon { commas: lines.any(|line| line.contains(&b',')) }
    }

    /// The vertex of a line and its neighbours.
    fn words(self, line: &[u8]) -> Vec<&[u8]> {
        fn split(text: &[u8], mark: u8) -> impl Iterator<Item = &[u8]> {
            text.split(move |&b| b == mark).map(scan::trim).filter(|word| !word.is_empty())
        }
        let mut found: Vec<&[u8]> = match (self, colon(line)) {
            (Apart::Mark(mark), _) => split(line, mark).collect(),
            (Apart::Colon { commas }, Some(at)) => {
                let (vertex, rest) = (&line[..at], &line[at + 1..]);
                match commas {
                    true => std::iter::once(vertex).chain(split(rest, b',')).collect(),
                    false => std::iter::once(vertex).chain(words(rest)).collect(),
                }
            }
            _ => words(line).collect(),
        };
        match found.first_mut() {
            // `0: 1 2` is as common as `0 1 2`.
            Some(first) => *first = first.strip_suffix(b":").unwrap_or(first),
            // Marks and nothing else.
            None => found.push(line),
        }
        found
    }
}

/// Where the colon is that ends the vertex in front of its neighbours.
fn colon(line: &[u8]) -> Option<usize> {
    let ends = |&at: &usize| line.get(at + 1).is_none_or(|&b| scan::is_blank(b));
    memchr::memchr_iter(b':', line).find(ends).filter(|&at| at > 0)
}

/// Whether each line is a vertex, a colon and its neighbours, some of which have lines. No vertex has two.
pub(crate) fn has_colons<'l>(lines: impl Iterator<Item = &'l [u8]> + Clone) -> bool {
    let mut seen = HashSet::new();
    let mut is = |line: &'l [u8]| {
        let vertex = colon(line).map(|at| &line[..at]);
        vertex.is_some_and(|v| !v.iter().any(|b| MARKS.contains(b)) && seen.insert(v))
    };
    lines.clone().all(&mut is) && seen.len() > 1 && {
        let apart = Apart::by_colons(lines.clone());
        lines.flat_map(|line| apart.words(line).split_off(1)).any(|n| seen.contains(n))
    }
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
    let apart = Apart::of(input.fill_buf().map_err(|source| sink.refused(source))?);
    let mut lines = sink.lines(input);
    let mut waiting = ForwardReferences::default();
    while let Some((line, text)) = lines.next()? {
        let mut words = apart.words(text).into_iter();
        let vertex = sink.vertex(words.next().unwrap_or_default())?;
        waiting.own(vertex);
        for neighbour in words {
            let neighbour = sink.vertex(neighbour)?;
            waiting.neighbour(neighbour, line);
            sink.edge(vertex, neighbour, None)?;
        }
    }
    waiting.finish(sink);
    if !lines.is_ended() {
        sink.note(scan::NO_NEWLINE);
    }
    Ok(())
}

/// What stands in front of the number of neighbours in the first line with content: a blank unless that makes no number.
fn mark_before_degree(head: &[u8]) -> u8 {
    let mut content = scan::lines(head).map(|(_, line)| line);
    let first = content.find(|line| !line.is_empty() && !scan::is_comment(line));
    let is = |mark: &u8| {
        let at = first
            .and_then(|line| line.iter().rposition(|byte| byte == mark).map(|at| &line[at + 1..]));
        at.is_some_and(|degree| scan::count(degree).is_some())
    };
    MARKS.into_iter().find(is).unwrap_or(b' ')
}

pub(super) fn read_multiline(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mark = mark_before_degree(input.fill_buf().map_err(|source| sink.refused(source))?);
    let mut lines = sink.lines(input);
    let (mut attributes, mut waiting) = (false, ForwardReferences::default());
    // The vertex whose neighbours follow, their number, and the line that declares it.
    let (mut vertex, mut left, mut begun) = (0, 0, 0);
    while let Some((line, text)) = lines.next()? {
        if left > 0 {
            left -= 1;
            let (name, rest) = match memchr::memmem::find(text, &[mark, b'{']) {
                Some(at) => (&text[..at], &text[at + 1..]),
                None => (text, &b""[..]),
            };
            attributes |= !matches!(rest, b"" | b"{}");
            let neighbour = sink.vertex(scan::trim(name))?;
            waiting.neighbour(neighbour, line);
            sink.edge(vertex, neighbour, None)?;
            continue;
        }
        let is_mark = |&byte: &u8| byte == mark || mark == b' ' && scan::is_blank(byte);
        let at = text.iter().rposition(is_mark).unwrap_or(text.len());
        let (name, degree) = (&text[..at], text.get(at + 1..).unwrap_or_default());
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
        sink.note(scan::NO_NEWLINE);
    }
    if attributes {
        sink.note("attributes of edges are left out");
    }
    Ok(())
}
