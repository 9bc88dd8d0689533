//! Writes graphs as text.

use std::io::{self, Write};

use super::format::{Capabilities, Format, check_names, write_by, write_vertices};
use super::{Graph, Label, VertexId};
use gramer_base::counted::counted;
use gramer_base::error::{Error, Result};

/// Returns remarks for the user: parts of a graph that a format can't store, and changes of ids.
///
/// # Errors
/// [`Error::Usage`] for [`Format::Image`], which is not text, and for [`Format::BvGraph`], which can't be
/// written.
pub fn remarks(graph: &Graph, format: Format) -> Result<Vec<String>> {
    let view = graph.view();
    let mut notes = Vec::new();
    let entry = format.entry();
    let Capabilities { vertex_labels, edge_labels, isolated, ids, texts } = entry.keeps;
    let names = graph.names();
    match format {
        Format::Image => return Err(Error::usage("an image is not a text format")),
        _ if entry.write.is_none() => return Err(read_only(format)),
        _ => {}
    }
    if graph.has_vertex_labels() && !vertex_labels {
        notes.push(format!("{format} holds no vertex labels: they are left out"));
    }
    if graph.has_edge_labels() && !edge_labels {
        notes.push(format!("{format} holds no edge labels: they are left out"));
    }
    let alone = (0..graph.vertices()).filter(|&v| view.degree(v as VertexId) == 0).count();
    if alone > 0 && !isolated {
        let alone = counted(alone, "is left out", "are left out");
        notes.push(format!("{format} holds no vertices without edges: {alone}"));
    }
    let first = entry.first_id;
    let own = |(v, own): (VertexId, u64)| graph.original_id(v) == own;
    if names.vertices.is_some() && ids && !texts {
        notes.push(format!(
            "{format} holds no names of vertices: they are numbered from 0 as their names first came"
        ));
    }
    let kept = |labels: bool, names: bool| labels && names && !texts;
    for (of, is) in [
        ("vertex", kept(vertex_labels, names.vertex_labels.is_some())),
        ("edge", kept(edge_labels, names.edge_labels.is_some())),
    ] {
        if is {
            notes.push(format!(
                "{format} holds no {of} labels that are texts: they are numbered from 0 as they first came"
            ));
        }
    }
    if !ids && (names.vertices.is_some() || !(0..).zip(first..).take(graph.vertices()).all(own)) {
        notes.push(format!(
            "vertices are numbered from {first} in the order of the graph: their own ids are left \
             out"
        ));
    }
    Ok(notes)
}

/// The error for a format that can't be written.
fn read_only(format: Format) -> Error {
    Error::usage(format!(
        "graphs in the format {format} can be read, but not written: take another format"
    ))
}

/// Writes the graph in a text format. Edge lists and triples hold the ids of the input, the other
/// formats number the vertices in the order of the graph. See [`remarks`] for what gets lost;
/// vertex and edge labels become the weights of METIS, and 0 stands where `lg`, `tve` and
/// `arabesque` want a label but the graph has none.
///
/// # Errors
/// Those of the stream, and one that names a vertex or a label whose text the format can't hold.
///
/// # Panics
/// For [`Format::Image`] (see [`super::image::write`]) and formats that are only read.
pub fn write_text(out: &mut dyn Write, graph: &Graph, format: Format) -> io::Result<()> {
    let write = format.entry().write.expect("a text format that is written");
    if format.entry().keeps.texts {
        check_names(graph, format)?;
    }
    write(out, graph)
}

pub(crate) fn edges(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    match graph.names().vertices {
        // Names may hold white space: the table has quotes, and a first line that says what it is.
        Some(_) => write_by(out, graph, b'\t', false),
        None => Text::new(out).edges(graph, false),
    }
}

pub(crate) fn triples(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    Text::new(out).edges(graph, true)
}

pub(crate) fn lg(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    Text::new(out).records(graph, false)
}

pub(crate) fn tve(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    Text::new(out).records(graph, true)
}

pub(crate) fn arabesque(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    Text::new(out).arabesque(graph)
}

pub(crate) fn metis(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    Text::new(out).metis(graph)
}

pub(crate) fn matrix_market(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    Text::new(out).matrix_market(graph)
}

/// Writes a table of the vertices and their labels: lines `id label`, which
/// [`labels`](super::read::ReadOptions::labels) reads, or, of names and texts, CSV for
/// [`vertex_table`](super::read::ReadOptions::vertex_table).
///
/// # Errors
/// Those of the stream, and one that names a vertex or a label whose text a table can't hold.
pub fn write_labels(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    let names = graph.names();
    if names.vertices.is_some() || names.vertex_labels.is_some() {
        check_names(graph, Format::Table)?;
        return write_vertices(out, graph);
    }
    let mut text = Text::new(out);
    for v in 0..graph.vertices() as VertexId {
        text.number(graph.original_id(v)).number(graph.view().vertex_label(v).into()).end()?;
    }
    Ok(())
}

/// Lines of numbers.
struct Text<'a> {
    out: &'a mut dyn Write,
    line: Vec<u8>,
}

impl<'a> Text<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        Text { out, line: Vec::new() }
    }

    fn number(&mut self, number: u64) -> &mut Self {
        if !self.line.is_empty() {
            self.line.push(b' ');
        }
        self.line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        self
    }

    fn word(&mut self, word: &str) -> &mut Self {
        self.line.extend_from_slice(word.as_bytes());
        self
    }

    fn end(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }

    fn edges(&mut self, graph: &Graph, triples: bool) -> io::Result<()> {
        if triples {
            self.number(graph.edges() as u64).end()?;
        }
        each_edge(graph, |u, v, label| {
            self.number(graph.original_id(u)).number(graph.original_id(v));
            if triples {
                self.number(label.into());
            }
            self.end()
        })
    }

    fn records(&mut self, graph: &Graph, counts: bool) -> io::Result<()> {
        let view = graph.view();
        if counts {
            self.word("t").number(graph.vertices() as u64).number(graph.edges() as u64).end()?;
        } else {
            self.word("t # 1").end()?;
        }
        for v in 0..graph.vertices() as VertexId {
            self.word("v").number(v.into()).number(view.vertex_label(v).into());
            if counts {
                self.number(view.degree(v) as u64);
            }
            self.end()?;
        }
        let labels = !counts || graph.has_edge_labels();
        each_edge(graph, |u, v, label| {
            self.word("e").number(u.into()).number(v.into());
            if labels {
                self.number(label.into());
            }
            self.end()
        })
    }

    fn arabesque(&mut self, graph: &Graph) -> io::Result<()> {
        let view = graph.view();
        for v in 0..graph.vertices() as VertexId {
            self.number(v.into()).number(view.vertex_label(v).into());
            for &u in view.neighbours(v) {
                self.number(u.into());
            }
            self.end()?;
        }
        Ok(())
    }

    fn metis(&mut self, graph: &Graph) -> io::Result<()> {
        let view = graph.view();
        self.number(graph.vertices() as u64).number(graph.edges() as u64);
        match (graph.has_vertex_labels(), graph.has_edge_labels()) {
            (false, false) => {}
            (false, true) => drop(self.word(" 001")),
            (true, false) => drop(self.word(" 010")),
            (true, true) => drop(self.word(" 011")),
        }
        self.end()?;
        for v in 0..graph.vertices() as VertexId {
            if graph.has_vertex_labels() {
                self.number(view.vertex_label(v).into());
            }
            for entry in view.row(v) {
                self.number(u64::from(view.neighbours[entry]) + 1);
                if let Some(labels) = view.edge_labels {
                    self.number(labels[entry].into());
                }
            }
            self.end()?;
        }
        Ok(())
    }

    fn matrix_market(&mut self, graph: &Graph) -> io::Result<()> {
        self.word("%%MatrixMarket matrix coordinate pattern symmetric").end()?;
        let vertices = graph.vertices() as u64;
        self.number(vertices).number(vertices).number(graph.edges() as u64).end()?;
        // The format holds the lower triangle.
        each_edge(graph, |u, v, _| self.number(u64::from(v) + 1).number(u64::from(u) + 1).end())
    }
}

/// Calls `f` with the ends (the smaller one first) and the label (0 without) of each edge.
pub(crate) fn each_edge<E>(
    graph: &Graph,
    mut f: impl FnMut(VertexId, VertexId, Label) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let view = graph.view();
    for u in 0..graph.vertices() as VertexId {
        let row = view.row(u);
        let first = row.start + view.neighbours[row.clone()].partition_point(|&v| v < u);
        for entry in first..row.end {
            f(u, view.neighbours[entry], view.edge_labels.map_or(0, |l| l[entry]))?;
        }
    }
    Ok(())
}
