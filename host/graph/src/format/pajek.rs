//! Pajek's `.net`, as Pajek, NetworkX, igraph and Gephi write it.

use std::io::{self, BufRead, Write};
use std::path::Path;

use super::Sink;
use super::attributes::{AttributeGraph, Values};
use super::fields::{VertexNumbers, first_words, number, words};
use crate::Graph;
use crate::read::scan::{self, TO_UTF8, is_blank};
use crate::write::each_edge;
use gramer_base::counted::counted;
use gramer_base::error::{Error, Place, Result, quote};

pub(super) fn sniff(head: &[u8]) -> bool {
    let word = |word: &&[u8]| {
        word.eq_ignore_ascii_case(b"*vertices") || word.eq_ignore_ascii_case(b"*network")
    };
    first_words(head, b"%").first().is_some_and(word)
}

/// Kind of a section's lines.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Section {
    Vertices,
    /// `source target weight …`
    Pairs,
    /// `source target target …`
    Lists,
    Matrix,
    Other,
}

/// The parts of a line: a label in quotes, which may hold blanks and quotes, is one. `None` if its quotes are open.
fn parts(line: &[u8], apart: fn(u8) -> bool) -> Option<Vec<&[u8]>> {
    let (mut parts, mut rest) = (vec![], scan::trim(line));
    while !rest.is_empty() {
        let quoted = rest[0] == b'"';
        let end = match quoted {
            true => closing(rest)?,
            false => rest.iter().position(|&byte| apart(byte)).unwrap_or(rest.len()),
        };
        let (part, others) = rest.split_at(end);
        parts.push(if quoted { &part[1..end - 1] } else { part });
        rest = scan::trim(others);
    }
    Some(parts)
}

/// The parts of a line of a section. NetworkX parts them by single spaces, and puts names with tabs in no quotes.
fn parts_of(line: &[u8], section: Section) -> Option<Vec<&[u8]>> {
    if line.contains(&b'\t') {
        let spaced = parts(line, |byte| byte == b' ')?;
        let numbers = |from: usize, to: usize| {
            spaced.get(from..to).is_some_and(|parts| parts.iter().all(|part| scan::is_number(part)))
        };
        let fits = match section {
            Section::Vertices => numbers(0, 1) && numbers(2, 4),
            Section::Pairs => numbers(0, 3),
            _ => false,
        };
        if fits {
            return Some(spaced);
        }
    }
    parts(line, is_blank)
}

/// Where a text in quotes ends: behind a quote in front of a number or the end, as NetworkX doubles no quotes
/// within; else behind the next quote.
fn closing(text: &[u8]) -> Option<usize> {
    let ends = |at: &usize| text.get(at + 1).is_none_or(|&next| is_blank(next));
    let last = |at: &usize| {
        let next = words(&text[at + 1..]).next();
        ends(at) && next.is_none_or(scan::is_number)
    };
    let quotes = || memchr::memchr_iter(b'"', &text[1..]).map(|at| at + 1);
    quotes().find(last).or_else(|| quotes().find(ends)).map(|at| at + 1)
}

/// The value behind a key among the parameters of a line.
fn parameter<'l>(parts: &[&'l [u8]], keys: &[&str]) -> Option<&'l [u8]> {
    let at = parts
        .iter()
        .position(|part| keys.iter().any(|key| part.eq_ignore_ascii_case(key.as_bytes())))?;
    parts.get(at + 1).copied()
}

/// Whether the word behind a label is a coordinate, a shape, an interval of time, or the name of a parameter.
fn is_parameter(word: &[u8]) -> bool {
    const WORDS: &str = "ellipse box diamond triangle cross circle house man woman empty s_size x_fact y_fact phi r q ic \
                         bc bw lc la lr lphi fos font hks url type shape";
    let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
    scan::is_number(word) || word.starts_with(b"[") || WORDS.split_ascii_whitespace().any(is)
}

/// A graph as its sections come.
struct Sections<'a> {
    path: &'a Path,
    graph: AttributeGraph<'a>,
    vertices: Option<VertexNumbers>,
    /// Vertices of the first of two sides.
    left: Option<u64>,
    section: Section,
    /// The name of the relation of a section.
    relation: Option<String>,
    /// Rows of a matrix so far.
    row: u64,
    directed: bool,
    /// True within a partition, a vector or a permutation: its `*Vertices` are not the graph's.
    beside: bool,
    /// The first section that is left out, with its line.
    skipped: Option<(u64, String)>,
    /// The first word behind a label that is neither a coordinate nor a parameter, with its line.
    unknown: Option<(u64, String)>,
}

impl Sections<'_> {
    fn fault(&self, line: u64, what: impl Into<String>) -> Error {
        Error::input(Place::line(self.path, line), what)
    }

    fn text(&self, line: u64, bytes: &[u8]) -> Result<String> {
        String::from_utf8(bytes.to_vec())
            .map_err(|_| self.fault(line, format!("{} is not UTF-8; {TO_UTF8}", quote(bytes))))
    }

    /// Begins a section.
    fn begin(&mut self, line: u64, parts: &[&[u8]], sink: &Sink<'_>) -> Result<()> {
        let name = String::from_utf8_lossy(parts[0]).to_ascii_lowercase();
        self.directed |= matches!(name.as_str(), "*arcs" | "*arcslist");
        (self.row, self.relation) = (0, None);
        self.section = match name.as_str() {
            "*vertices" if self.beside => Section::Other,
            "*vertices" => {
                if let Some(first) = self.vertices {
                    let first = first.line;
                    let what = format!(
                        "more vertices begin here, after line {first}: one file is one graph"
                    );
                    return Err(self.fault(line, what));
                }
                let count = number(sink, line, parts.get(1).copied(), "number of vertices")?;
                self.vertices = Some(VertexNumbers { first: 1, count, line });
                self.left = parts.get(2).and_then(|word| scan::count(word));
                Section::Vertices
            }
            "*arcs" | "*edges" | "*links" => {
                // `*Arcs :2 "friend of"` are of one relation among several.
                let named = parts.get(1).filter(|part| part.starts_with(b":"));
                let label = named.map(|number| parts.get(2).unwrap_or(number));
                self.relation = label.map(|label| self.text(line, label)).transpose()?;
                Section::Pairs
            }
            "*arcslist" | "*edgeslist" => Section::Lists,
            "*matrix" => Section::Matrix,
            "*network" => {
                self.beside = false;
                Section::Other
            }
            _ => {
                self.beside = true;
                self.skipped.get_or_insert((line, quote(&name)));
                Section::Other
            }
        };
        Ok(())
    }

    /// Processes a line of a section.
    fn line(&mut self, line: u64, parts: &[&[u8]], sink: &Sink<'_>) -> Result<()> {
        let Some(numbered) = self.vertices else { return Ok(()) };
        let id = |word: Option<&&[u8]>| -> Result<String> {
            let id = number(sink, line, word.copied(), "number of a vertex")?;
            numbered.check(sink, line, id)?;
            Ok(id.to_string())
        };
        let mut values = Values::default();
        let parameters = parts.get(2..).unwrap_or_default();
        match self.section {
            Section::Vertices => {
                if let Some(label) = parts.get(1) {
                    values.set("label", self.text(line, label)?);
                }
                let unknown = parameters.first().filter(|part| !is_parameter(part));
                if let Some(part) = unknown {
                    self.unknown.get_or_insert((line, quote(part)));
                }
                if let Some(kind) = parameter(parameters, &["type"]) {
                    values.set("type", self.text(line, kind)?);
                }
                self.graph.vertex(line, &id(parts.first())?, values)
            }
            Section::Pairs => {
                let own = parameter(parameters, &["l", "label"]);
                let own = own.map(|label| self.text(line, label)).transpose()?;
                if let Some(label) = own.or(self.relation.clone()) {
                    values.set("label", label);
                }
                if parameters
                    .first()
                    .is_some_and(|weight| *weight != b"1" && scan::is_number(weight))
                {
                    self.graph.left_out(true, "weight");
                }
                self.graph.edge(line, [&id(parts.first())?, &id(parts.get(1))?], values)
            }
            Section::Lists => {
                let source = id(parts.first())?;
                parts[1..].iter().try_for_each(|target| {
                    self.graph.edge(line, [&source, &id(Some(target))?], Values::default())
                })
            }
            Section::Matrix => {
                self.row += 1;
                let (row, count) = (self.row, numbered.count);
                numbered.check(sink, line, row)?;
                if parts.len() as u64 != count {
                    let what = format!(
                        "row {row} of the matrix has {}, not {count}",
                        counted(parts.len(), "number", "numbers")
                    );
                    return Err(self.fault(line, what));
                }
                let entries = (1..).zip(parts).filter(|(_, value)| !scan::is_zero(value));
                entries.map(|(column, _)| column).try_for_each(|column: u64| {
                    self.graph.edge(
                        line,
                        [&row.to_string(), &column.to_string()],
                        Values::default(),
                    )
                })
            }
            Section::Other => Ok(()),
        }
    }

    /// Hands the graph over. Vertices without a line are called by their numbers.
    fn finish(mut self, is_ended: bool, sink: &mut Sink<'_>) -> Result<()> {
        let Some(numbered) = self.vertices else {
            return Err(sink.fault("holds no line `*Vertices N`"));
        };
        if self.section == Section::Vertices && numbered.count > 0 {
            sink.note("no section of edges follows the vertices: the file may be cut off");
        } else if !is_ended {
            sink.note(scan::NO_NEWLINE);
        }
        if self.section == Section::Matrix && self.row < numbered.count {
            let (row, count) = (self.row, numbered.count);
            let what = format!(
                "the matrix has {}, but {}: the file is cut off",
                counted(row, "row", "rows"),
                counted(count, "vertex", "vertices")
            );
            return Err(sink.fault(what));
        }
        if let (Some((line, name)), 0) = (&self.skipped, self.graph.edges()) {
            let what =
                format!("the section {name} can't be read, and the file has no edges elsewhere");
            return Err(sink.fault_at(*line, what));
        }
        sink.check_vertices(numbered.count, self.graph.edges() as u64, numbered.line)?;
        for id in 1..=numbered.count {
            let mut buffer = itoa::Buffer::new();
            let id = buffer.format(id);
            if !self.graph.is_declared(id) {
                self.graph.vertex(numbered.line, id, Values::default())?;
            }
        }
        if let Some(left) = self.left {
            let left = counted(left, "vertex is", "vertices are");
            sink.note(format!("the graph has two sides: the first {left} of one"));
        }
        if let Some((line, name)) = self.skipped {
            sink.note(format!("the section {name} in line {line} is left out"));
        }
        if let Some((line, word)) = self.unknown {
            sink.note(format!(
                "{word} behind a label in line {line} is left out: a label with blanks belongs in quotes"
            ));
        }
        if self.directed {
            sink.directed();
        }
        self.graph.finish(sink)
    }
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let path = sink.path();
    let mut lines = sink.lines(input);
    let mut sections = Sections {
        path,
        graph: AttributeGraph::new(sink),
        vertices: None,
        left: None,
        section: Section::Other,
        relation: None,
        row: 0,
        directed: false,
        beside: false,
        skipped: None,
        unknown: None,
    };
    while let Some((line, text)) = lines.next()? {
        let Some(parts) = parts_of(text, sections.section) else {
            let what =
                "a quote (`\"`) in this line is never closed; a name can't go over several lines";
            return Err(sink.fault_at(line, what));
        };
        match text[0] {
            b'*' => sections.begin(line, &parts, sink)?,
            _ => sections.line(line, &parts, sink)?,
        }
    }
    sections.finish(lines.is_ended(), sink)
}

/// A label in quotes, in which the format has no way to write quotes, backslashes and line ends.
fn quoted(text: &str) -> io::Result<String> {
    if text.contains(['"', '\\', '\n', '\r']) || text.is_empty() {
        let what =
            format!("the name {} can't be written as Pajek: write another format", quote(text));
        return Err(io::Error::other(what));
    }
    Ok(format!("\"{text}\""))
}

/// Writes names as labels, and labels of vertices as `type`.
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    writeln!(out, "*Vertices {}", graph.vertices())?;
    for v in 0..graph.vertices() as u32 {
        write!(out, "{} {}", v + 1, quoted(&graph.vertex_name(v).to_string())?)?;
        if graph.has_vertex_labels() {
            let label = graph.vertex_label_name(graph.view().vertex_label(v)).to_string();
            write!(out, " 0.0 0.0 ellipse type {}", quoted(&label)?)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "*Edges")?;
    each_edge(graph, |u, v, label| {
        write!(out, "{} {}", u + 1, v + 1)?;
        if graph.has_edge_labels() {
            write!(out, " 1 l {}", quoted(&graph.edge_label_name(label).to_string())?)?;
        }
        writeln!(out)
    })
}
