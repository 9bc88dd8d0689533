//! ORCA: the numbers of vertices and edges, then the edges between vertices from 0 on.

use std::io::BufRead;

use super::Sink;
use super::fields::{VertexNumbers, number, words};
use gramer_base::error::{Result, quote};

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = sink.lines(input);
    let Some((line, text)) = lines.next()? else { return Err(sink.fault("holds no line `V E`")) };
    let mut head = words(text);
    let count = number(sink, line, head.next(), "number of vertices")?;
    let edges = number(sink, line, head.next(), "number of edges")?;
    drop(head);
    sink.claim_edges(edges);
    let vertices = VertexNumbers { first: 0, count, line };
    while let Some((line, text)) = lines.next()? {
        let mut ends = words(text);
        let source = vertices.vertex(sink, line, ends.next())?;
        let target = vertices.vertex(sink, line, ends.next())?;
        if ends.next().is_some() {
            return Err(sink
                .fault_at(line, format!("{} is not an edge: an edge has two ends", quote(text))));
        }
        sink.edge(source, target, None)?;
    }
    vertices.declare(sink)
}
