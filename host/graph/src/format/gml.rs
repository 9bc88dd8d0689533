//! GML, as NetworkX, igraph, Gephi and yEd write it.

use std::io::{self, BufRead, Write};
use std::path::Path;

use super::Sink;
use super::attributes::{AttributeGraph, Values};
use crate::Graph;
use crate::read::scan::TO_UTF8;
use crate::write::each_edge;
use gramer_base::error::{Error, Place, Result, quote};

pub(super) fn sniff(head: &[u8]) -> bool {
    let words = super::fields::first_words(head, b"#");
    // Nearly always a text begins otherwise.
    if !words.first().is_some_and(|word| word[0].is_ascii_alphabetic()) {
        return false;
    }
    let text = String::from_utf8_lossy(&head[..head.len().min(4096)]).to_ascii_lowercase();
    let all: Vec<&str> = text.split_whitespace().collect();
    let at = all.iter().position(|word| *word == "graph" || *word == "graph[");
    let front = ["creator", "version", "comment", "graph", "graph["];
    let first = words.first().map(|word| String::from_utf8_lossy(word).to_ascii_lowercase());
    first.is_some_and(|word| front.contains(&word.as_str()))
        && at.is_some_and(|at| {
            all[at] == "graph[" || all.get(at + 1).is_some_and(|next| next.starts_with('['))
        })
}

/// A word of the format.
#[derive(Debug, PartialEq)]
enum Token {
    Key(String),
    /// Number, as text.
    Number(String),
    Text(String),
    Open,
    Close,
}

/// The words of a text.
struct Tokens<'t> {
    text: &'t str,
    at: usize,
    line: u64,
}

impl Tokens<'_> {
    /// The next word and its line; `None` at the end; a fault is text without an end.
    fn next(&mut self) -> Result<Option<(u64, Token)>, String> {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                None => return Ok(None),
                Some(b'\n') => self.line += 1,
                Some(b'#') => {
                    self.at = memchr::memchr(b'\n', &bytes[self.at..])
                        .map_or(bytes.len(), |end| self.at + end);
                    continue;
                }
                Some(byte) if byte.is_ascii_whitespace() => {}
                Some(_) => break,
            }
            self.at += 1;
        }
        let (line, rest) = (self.line, &self.text[self.at..]);
        let (length, token) = match rest.as_bytes()[0] {
            b'[' => (1, Token::Open),
            b']' => (1, Token::Close),
            b'"' => {
                let Some(end) = memchr::memchr(b'"', &rest.as_bytes()[1..]) else {
                    return Err("a text in quotes has no end: the file may be cut off".into());
                };
                let raw = &rest[1..=end];
                self.line += memchr::memchr_iter(b'\n', raw.as_bytes()).count() as u64;
                (end + 2, Token::Text(plain(raw)))
            }
            first => {
                let end =
                    rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '[' | ']' | '"'));
                let word = &rest[..end.unwrap_or(rest.len())];
                let number = first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.');
                let token = if number { Token::Number } else { Token::Key };
                (word.len(), token(word.into()))
            }
        };
        self.at += length;
        Ok(Some((line, token)))
    }
}

/// A text with `&quot;`, `&#233;` and the like as what they stand for; others stay.
fn plain(raw: &str) -> String {
    let mut plain = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        plain += &rest[..at];
        rest = &rest[at..];
        let known = rest.find(';').and_then(|end| {
            let text = quick_xml::escape::unescape(&rest[..=end]).ok()?;
            Some((end + 1, text.into_owned()))
        });
        let (length, text) = known.unwrap_or((1, "&".into()));
        plain += &text;
        rest = &rest[length..];
    }
    plain + rest
}

/// A node or an edge that is open.
struct Open<'a> {
    line: u64,
    edge: bool,
    id: Option<String>,
    ends: [Option<String>; 2],
    values: Values<'a>,
}

/// A graph as its keys come.
struct Keys<'a> {
    path: &'a Path,
    graph: AttributeGraph<'a>,
    /// Keys of the lists that are open.
    lists: Vec<String>,
    open: Option<Open<'a>>,
    graphs: usize,
    directed: bool,
}

impl Keys<'_> {
    fn fault(&self, line: u64, what: impl Into<String>) -> Error {
        Error::input(Place::line(self.path, line), what)
    }

    /// Opens the list of a key.
    fn open(&mut self, line: u64, key: String) -> Result<()> {
        if self.lists.is_empty() && key == "graph" {
            self.graphs += 1;
            if self.graphs > 1 {
                let what = "a second graph begins here, but one file is one graph: split it";
                return Err(self.fault(line, what));
            }
        }
        if self.lists == ["graph"] && (key == "node" || key == "edge") {
            let edge = key == "edge";
            let values = self.graph.values(edge);
            self.open = Some(Open { line, edge, id: None, ends: [None, None], values });
        } else if let Some(open) = &self.open {
            self.graph.left_out(open.edge, key.as_str());
        }
        self.lists.push(key);
        Ok(())
    }

    /// Closes the last list.
    fn close(&mut self, line: u64) -> Result<()> {
        if self.lists.pop().is_none() {
            return Err(self.fault(line, "`]` closes nothing"));
        }
        // Of a node or an edge, not of a list within it.
        let Some(open) = self.open.take_if(|_| self.lists.len() == 1) else { return Ok(()) };
        match (open.edge, open.id, open.ends) {
            (false, Some(id), _) => self.graph.vertex(open.line, &id, open.values),
            (true, _, [Some(source), Some(target)]) => {
                self.graph.edge(open.line, [&source, &target], open.values)
            }
            (false, ..) => {
                Err(self.fault(line, "a node without `id` ends here; write one, such as `id 0`"))
            }
            _ => Err(self.fault(
                line,
                "an edge without `source` or `target` ends here; each is the `id` of a node",
            )),
        }
    }

    /// Processes a key with its value.
    fn value(&mut self, key: String, value: String) {
        match (&mut self.open, self.lists.len()) {
            (None, 1) if key == "directed" => self.directed = value == "1",
            (Some(open), 2) => match key.as_str() {
                "id" if !open.edge => open.id = Some(value),
                "source" if open.edge => open.ends[0] = Some(value),
                "target" if open.edge => open.ends[1] = Some(value),
                _ if open.values.set(&key, value) => {}
                _ => self.graph.left_out(open.edge, key),
            },
            _ => {}
        }
    }
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let mut bytes = vec![];
    input.read_to_end(&mut bytes).map_err(|source| sink.refused(source))?;
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        let line = 1 + memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count() as u64;
        sink.fault_at(line, format!("this line is not UTF-8; {TO_UTF8}"))
    })?;
    let path = sink.path();
    let mut tokens = Tokens { text, at: 0, line: 1 };
    let graph = AttributeGraph::new(sink);
    let mut keys = Keys { path, graph, lists: vec![], open: None, graphs: 0, directed: false };
    while let Some((line, token)) = tokens.next().map_err(|what| keys.fault(tokens.line, what))? {
        let key = match token {
            Token::Key(key) => key,
            Token::Close => {
                keys.close(line)?;
                continue;
            }
            _ => return Err(keys.fault(line, "the name of a key is expected here, as in `id 1`")),
        };
        match tokens.next().map_err(|what| keys.fault(line, what))? {
            Some((_, Token::Open)) => keys.open(line, key)?,
            // NetworkX writes NAN and INF as keys.
            Some((_, Token::Number(value) | Token::Text(value) | Token::Key(value))) => {
                keys.value(key, value);
            }
            Some((_, Token::Close)) | None => {
                let what = format!("the key {} has no value: the file may be cut off", quote(&key));
                return Err(keys.fault(line, what));
            }
        }
    }
    if let Some(list) = keys.lists.last() {
        let what = format!("the file ends within the list {}: it is cut off", quote(list));
        return Err(keys.fault(tokens.line, what));
    }
    if keys.graphs == 0 {
        return Err(sink.fault("holds no `graph [`"));
    }
    if keys.directed {
        sink.directed();
    }
    keys.graph.finish(sink)
}

/// Text between quotes, in ASCII as the format wants.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            // igraph knows these two by their names alone.
            '"' => quoted += "&quot;",
            '&' => quoted += "&amp;",
            ' '..='~' => quoted.push(c),
            _ => quoted += &format!("&#{};", c as u32),
        }
    }
    quoted + "\""
}

/// Writes names as `label`, and labels of vertices as `type`.
pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    writeln!(out, "graph [")?;
    for v in 0..graph.vertices() as u32 {
        write!(out, "  node [ id {v} label {}", quoted(&graph.vertex_name(v).to_string()))?;
        if graph.has_vertex_labels() {
            let label = graph.vertex_label_name(graph.view().vertex_label(v)).to_string();
            write!(out, " type {}", quoted(&label))?;
        }
        writeln!(out, " ]")?;
    }
    each_edge(graph, |u, v, label| {
        write!(out, "  edge [ source {u} target {v}")?;
        if graph.has_edge_labels() {
            write!(out, " label {}", quoted(&graph.edge_label_name(label).to_string()))?;
        }
        writeln!(out, " ]")
    })?;
    writeln!(out, "]")
}
