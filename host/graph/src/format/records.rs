//! Graphs of `t`, `v` and `e` lines, and triples, whose labels are texts: `v 0 C`, `e 0 1 single`, `paris france in`.
//!
//! Labels that are numbers are read by blocks on all threads; these readers begin again where a label is a text.

use std::io::BufRead;

use super::Sink;
use super::fields::{number, words};
use crate::read::scan::{self, is_number, quote};
use crate::read::{SECOND_GRAPH, SEVERAL_LABELS, is_weight};
use gramer_base::error::Result;

/// The line at `at`, if the label in it is a text.
pub(crate) fn text_label(text: &[u8], at: usize) -> Option<&[u8]> {
    let line = line_at(text, at);
    let mut fields = words(line);
    let label = match fields.next()? {
        b"v" => fields.nth(1),
        b"e" => fields.nth(2),
        _ => None,
    };
    label.filter(|label| !is_number(label)).map(|_| line)
}

/// The line at `at`, if a triple in it has a text.
pub(crate) fn text_triple(text: &[u8], at: usize) -> Option<&[u8]> {
    let line = line_at(text, at);
    let fields: Vec<&[u8]> = words(line).collect();
    (fields.len() == 3 && !fields.iter().all(|field| is_number(field))).then_some(line)
}

fn line_at(text: &[u8], at: usize) -> &[u8] {
    let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
    scan::trim(&text[at..end])
}

/// Vertices by their numbers in the sink.
#[derive(Default)]
struct Vertices {
    /// Whether a `v` line declares each, and the first line that names it.
    known: Vec<(bool, u64)>,
    degrees: Vec<u64>,
    /// Numbers behind labels: vertex, number, line.
    seconds: Vec<(u64, u64, u64)>,
}

impl Vertices {
    fn at(&mut self, vertex: u64, line: u64) -> usize {
        let at = vertex as usize;
        if at >= self.known.len() {
            self.known.resize(at + 1, (false, line));
            self.degrees.resize(at + 1, 0);
        }
        at
    }

    /// Takes a `v` line.
    fn declare<'l>(
        &mut self,
        sink: &mut Sink<'_>,
        line: u64,
        columns: &mut impl Iterator<Item = &'l [u8]>,
    ) -> Result<()> {
        let id = number(sink, line, columns.next(), "number of a vertex")?;
        let vertex = sink.vertex(itoa::Buffer::new().format(id).as_bytes())?;
        let at = self.at(vertex, line);
        if std::mem::replace(&mut self.known[at].0, true) {
            return Err(sink.fault_at(line, format!("vertex {id} is declared twice")));
        }
        let Some(label) = columns.next() else {
            return Err(sink.fault_at(line, "the label is missing (`v id label`)"));
        };
        sink.vertex_label(vertex, label)?;
        if let Some(second) = columns.next().filter(|second| *second != b"-1") {
            match scan::count(second) {
                Some(second) => self.seconds.push((vertex, second, line)),
                None => {
                    let what = format!("{} is no degree: {SEVERAL_LABELS}", quote(second));
                    return Err(sink.fault_at(line, what));
                }
            }
        }
        Ok(())
    }

    /// The end of an edge.
    fn end<'l>(
        &mut self,
        sink: &mut Sink<'_>,
        line: u64,
        columns: &mut impl Iterator<Item = &'l [u8]>,
    ) -> Result<u64> {
        let id = number(sink, line, columns.next(), "number of a vertex")?;
        let vertex = sink.vertex(itoa::Buffer::new().format(id).as_bytes())?;
        let at = self.at(vertex, line);
        self.degrees[at] += 1;
        Ok(vertex)
    }

    /// Refuses vertices without a `v` line, and numbers behind labels that are no degrees.
    fn check(&self, sink: &mut Sink<'_>) -> Result<()> {
        if let Some(at) = self.known.iter().position(|(declared, _)| !declared) {
            let name = String::from_utf8_lossy(sink.name(at as u64)).into_owned();
            let what = format!("an edge ends at vertex {name}, but no `v` line declares it");
            return Err(sink.fault_at(self.known[at].1, what));
        }
        let degree = |vertex: u64| self.degrees[vertex as usize];
        let other = self.seconds.iter().find(|(vertex, second, _)| degree(*vertex) != *second);
        if let Some(&(vertex, second, line)) = other {
            let name = String::from_utf8_lossy(sink.name(vertex)).into_owned();
            let what = format!(
                "{second} is not the degree of vertex {name}, which is {}: {SEVERAL_LABELS}",
                degree(vertex)
            );
            return Err(sink.fault_at(line, what));
        }
        Ok(())
    }
}

/// Whether edges have labels, by the first line of each kind.
#[derive(Default)]
struct Labels {
    with: Option<u64>,
    without: Option<u64>,
    weights: Option<u64>,
}

impl Labels {
    /// The label of an edge, `None` without one and for a weight.
    fn take<'l>(&mut self, line: u64, label: Option<&'l [u8]>) -> Option<&'l [u8]> {
        let weight = label.is_some_and(is_weight);
        let kind = match label {
            None => &mut self.without,
            Some(_) if weight => &mut self.weights,
            Some(_) => &mut self.with,
        };
        kind.get_or_insert(line);
        label.filter(|_| !weight)
    }

    fn check(&self, sink: &mut Sink<'_>) -> Result<()> {
        let other = self.without.or(self.weights);
        if let (Some(with), Some(without)) = (self.with, other) {
            let what = format!(
                "the edge at line {with} has a label, but this one has none: all edges need one, or none"
            );
            return Err(sink.fault_at(without, what));
        }
        if let Some(line) = self.weights {
            sink.note(format!(
                "the numbers on the edges have decimals (line {line}): they are weights and ignored, no edge has a label"
            ));
        }
        Ok(())
    }
}

/// Reads one graph of `t`, `v` and `e` lines with labels that are texts.
pub(crate) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = sink.lines(input);
    let (mut vertices, mut labels) = (Vertices::default(), Labels::default());
    let (mut first, mut ended, mut head) = (true, false, None);
    while let Some((line, text)) = lines.next()? {
        let mut columns = words(text);
        let kind = columns.next().unwrap_or_default();
        match kind {
            b"t" if text.ends_with(b"-1") && !first => {
                ended = true;
                break;
            }
            b"t" if !first => return Err(sink.fault_at(line, SECOND_GRAPH)),
            b"t" => {
                let numbers: Vec<Option<u64>> = columns.by_ref().map(scan::count).collect();
                if let [Some(v), Some(e)] = numbers[..] {
                    head = Some((v, e));
                }
            }
            b"v" => vertices.declare(sink, line, &mut columns)?,
            b"e" => {
                let source = vertices.end(sink, line, &mut columns)?;
                let target = vertices.end(sink, line, &mut columns)?;
                sink.edge(source, target, labels.take(line, columns.next()))?;
            }
            _ => {
                let what = format!("{} is no line of `t`, `v` or `e`", quote(text));
                return Err(sink.fault_at(line, what));
            }
        }
        if let Some(more) = columns.next() {
            let what = format!(
                "{} is one field too many: a vertex or an edge takes one label",
                quote(more)
            );
            return Err(sink.fault_at(line, what));
        }
        first = false;
    }
    vertices.check(sink)?;
    labels.check(sink)?;
    match head {
        // igraph's `t 0 V`.
        Some((0, count)) if count == sink.vertices() => {}
        Some((v, e)) => {
            sink.claim_vertices(v);
            sink.claim_edges(e);
        }
        None if !ended && !lines.is_ended() => {
            sink.note(scan::NO_NEWLINE);
        }
        None => {}
    }
    Ok(())
}

/// Reads triples of texts behind a line with their number.
pub(crate) fn read_triples(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = sink.lines(input);
    let Some((line, text)) = lines.next()? else {
        return Err(sink.fault("the number of triples is missing"));
    };
    let count = number(sink, line, Some(text), "number of triples")?;
    sink.claim_edges(count);
    while let Some((line, text)) = lines.next()? {
        let fields: Vec<&[u8]> = words(text).collect();
        let &[head, tail, relation] = &fields[..] else {
            let what = format!("{} is no triple `head tail relation`", quote(text));
            return Err(sink.fault_at(line, what));
        };
        let (head, tail) = (sink.vertex(head)?, sink.vertex(tail)?);
        sink.edge(head, tail, Some(relation))?;
    }
    if sink.edges() == 0 {
        return Err(sink.fault("holds no triple"));
    }
    sink.note("columns 1 and 2 are the ends of an edge, 3 is its label");
    Ok(())
}
