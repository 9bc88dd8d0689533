//! LEDA (`.lgr`), as LEDA, igraph and NetworkX know it: types, then vertices with labels, then edges.

use std::io::BufRead;

use super::Sink;
use super::attributes::{AttributeGraph, Values};
use super::fields::{VertexNumbers, number, words};
use crate::read::scan::TO_UTF8;
use gramer_base::counted::counted;
use gramer_base::error::{Result, quote};

pub(super) fn sniff(head: &[u8]) -> bool {
    super::fields::first_words(head, b"#") == [b"LEDA.GRAPH"]
}

/// The label of `|{label}|`.
fn label(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"|{")?.strip_suffix(b"}|")
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let mut lines = sink.lines(input);
    let mut head: Vec<Vec<u8>> = vec![];
    let mut line = 0;
    // `LEDA.GRAPH`, the types of labels, the direction (missing in old files), the number of vertices.
    while head.len() < 5 {
        let Some((at, text)) = lines.next()? else { break };
        head.push(text.to_vec());
        line = at;
        if head.len() == 4 && !matches!(text, b"-1" | b"-2") {
            head.insert(3, b"-1".to_vec());
        }
    }
    let [mark, of_vertices, of_edges, direction, count] = &head[..] else {
        return Err(sink.fault("ends within its head: it is cut off"));
    };
    if mark != b"LEDA.GRAPH" {
        return Err(
            sink.fault_at(1, format!("{} stands where `LEDA.GRAPH` should be", quote(mark)))
        );
    }
    let vertices = VertexNumbers {
        first: 1,
        count: number(sink, line, Some(count), "number of vertices")?,
        line,
    };
    let mut graph = AttributeGraph::new(sink);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let not_utf8 = format!("the label is not UTF-8; {TO_UTF8}");
    for id in 1..=vertices.count {
        let Some((line, own)) = lines.next()? else {
            let what = format!(
                "{}, but {}: the file is cut off",
                counted(vertices.count, "vertex is declared", "vertices are declared"),
                counted(id - 1, "follows", "follow")
            );
            return Err(sink.fault_at(vertices.line, what));
        };
        let Some(own) = label(own) else {
            return Err(sink
                .fault_at(line, format!("{} is not a vertex, such as `|{{name}}|`", quote(own))));
        };
        let mut values = Values::default();
        if of_vertices != b"void" && !own.is_empty() {
            values.set("label", text(own).ok_or_else(|| sink.fault_at(line, &not_utf8))?);
        }
        graph.vertex(line, itoa::Buffer::new().format(id), values)?;
    }
    let Some((line, count)) = lines.next()? else {
        return Err(sink.fault("ends in front of the number of edges: it is cut off"));
    };
    let edges = number(sink, line, Some(count), "number of edges")?;
    while let Some((line, own)) = lines.next()? {
        // `source target reversal |{label}|`, of which the label may hold blanks.
        let mut ends = words(own);
        let mut end = || -> Result<u64> {
            let id = number(sink, line, ends.next(), "number of a vertex")?;
            vertices.check(sink, line, id).map(|()| id)
        };
        let (source, target) = (end()?, end()?);
        let mut values = Values::default();
        let own = memchr::memmem::find(own, b"|{").and_then(|at| label(&own[at..]));
        match own.filter(|own| !own.is_empty() && of_edges != b"void") {
            Some(own) if of_edges == b"string" => {
                values.set("label", text(own).ok_or_else(|| sink.fault_at(line, &not_utf8))?);
            }
            Some(_) => graph.left_out(true, String::from_utf8_lossy(of_edges)),
            None => {}
        }
        let (mut one, mut two) = (itoa::Buffer::new(), itoa::Buffer::new());
        graph.edge(line, [one.format(source), two.format(target)], values)?;
    }
    if direction == b"-1" {
        sink.directed();
    }
    sink.claim_edges(edges);
    graph.finish(sink)
}
