//! Writes graphs as text.

use std::io::{self, Write};

use super::read::Format;
use super::{Graph, Label, VertexId};
use crate::error::{Error, Result};

/// What a format can't hold of a graph, and what happened to the ids, for the user.
///
/// # Errors
/// [`Error::Usage`] for [`Format::Image`], which is no text, and for [`Format::BvGraph`], which can't be
/// written.
pub fn remarks(graph: &Graph, format: Format) -> Result<Vec<String>> {
    let view = graph.view();
    let mut notes = Vec::new();
    let (vertex_labels, edge_labels, isolated, ids) = match format {
        Format::Edges => (false, false, false, true),
        Format::Lg | Format::Tve => (true, true, true, false),
        Format::Arabesque => (true, false, true, false),
        Format::Metis => (true, true, true, false),
        Format::Mtx => (false, false, true, false),
        Format::Triples => (false, true, false, true),
        Format::Image => return Err(Error::usage("an image is no text format")),
        Format::BvGraph => return Err(read_only()),
    };
    if graph.has_vertex_labels() && !vertex_labels {
        notes.push(format!("{format} holds no vertex labels: they are left out"));
    }
    if graph.has_edge_labels() && !edge_labels {
        notes.push(format!("{format} holds no edge labels: they are left out"));
    }
    let alone = (0..graph.vertices()).filter(|&v| view.degree(v as VertexId) == 0).count();
    if alone > 0 && !isolated {
        notes.push(format!("{format} holds no vertices without edges: {alone} are left out"));
    }
    let first = first_id(format);
    if !ids && !graph.original_ids().iter().zip(first..).all(|(&id, own)| id == own) {
        notes.push(format!(
            "vertices are numbered from {first} in the order of the graph: their own ids are left \
             out"
        ));
    }
    Ok(notes)
}

/// The error for a format that can't be written.
fn read_only() -> Error {
    Error::usage("graphs in the format bvgraph can be read, but not written: take another format")
}

/// The number of the first vertex in formats that number their vertices.
fn first_id(format: Format) -> u64 {
    match format {
        Format::Metis | Format::Mtx => 1,
        _ => 0,
    }
}

/// Writes the graph in a text format. Edge lists and triples hold the ids of the input, the other
/// formats number the vertices in the order of the graph. See [`remarks`] for what gets lost;
/// vertex and edge labels become the weights of METIS, and 0 stands where `lg`, `tve` and
/// `arabesque` want a label but the graph has none.
///
/// # Errors
/// Those of the stream.
///
/// # Panics
/// For [`Format::Image`] (see [`super::image::write`]) and [`Format::BvGraph`].
pub fn write_text(out: &mut dyn Write, graph: &Graph, format: Format) -> io::Result<()> {
    let mut text = Text { out, line: Vec::new() };
    match format {
        Format::Edges => text.edges(graph, false),
        Format::Triples => text.edges(graph, true),
        Format::Lg => text.records(graph, false),
        Format::Tve => text.records(graph, true),
        Format::Arabesque => text.arabesque(graph),
        Format::Metis => text.metis(graph),
        Format::Mtx => text.matrix_market(graph),
        Format::Image | Format::BvGraph => unreachable!("no text"),
    }
}

/// Writes a table `id label` of the vertices, which [`super::read::read_labels`] reads.
///
/// # Errors
/// Those of the stream.
pub fn write_labels(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    let mut text = Text { out, line: Vec::new() };
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

impl Text<'_> {
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
