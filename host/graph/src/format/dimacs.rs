//! DIMACS: cliques and colourings (`.clq`, `.col`), shortest paths (`.gr`), flows, and the `.gr` of PACE.

use std::io::{self, BufRead, Write};

use super::Sink;
use super::fields::{VertexNumbers, first_words, number, words};
use crate::Graph;
use crate::read::scan;
use crate::write::each_edge;
use gramer_base::error::{Result, quote};

pub(super) fn sniff(head: &[u8]) -> bool {
    match &first_words(head, b"c")[..] {
        [b"p", _, counts @ ..] => {
            counts.len() >= 2 && counts[..2].iter().all(|word| scan::count(word).is_some())
        }
        // Comments may be longer than the beginning that is looked at.
        [] => first_words(head, b"").first() == Some(&&b"c"[..]),
        _ => false,
    }
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    // The entry calls lines that begin with `c` comments.
    let mut lines = sink.lines(input);
    let mut problem: Option<(VertexNumbers, u64)> = None;
    let mut values = None;
    let (mut arcs, mut weighted) = (0u64, false);
    while let Some((line, text)) = lines.next()? {
        let mut rest = words(text);
        let first = rest.clone().next().unwrap_or_default();
        match (first, &problem) {
            (b"p", None) => {
                let all: Vec<&[u8]> = rest.skip(2).collect();
                let count = number(sink, line, all.first().copied(), "number of vertices")?;
                let edges = number(sink, line, all.get(1).copied(), "number of edges")?;
                problem = Some((VertexNumbers { first: 1, count, line }, edges));
            }
            (b"p", Some((first, _))) => {
                let what =
                    format!("a second problem line, after line {}: split the file", first.line);
                return Err(sink.fault_at(line, what));
            }
            (_, None) => {
                let what = format!(
                    "{} stands in front of the problem line, such as `p edge 5 6`",
                    quote(text)
                );
                return Err(sink.fault_at(line, what));
            }
            // Names of the source and the sink, colours, coordinates, bounds.
            (b"n" | b"d" | b"v" | b"x" | b"t" | b"s", _) => values = values.or(Some(line)),
            (b"e" | b"a", Some((vertices, _))) => {
                rest.next();
                let source = vertices.vertex(sink, line, rest.next())?;
                let target = vertices.vertex(sink, line, rest.next())?;
                weighted |= rest.next().is_some();
                arcs += u64::from(first == b"a");
                sink.edge(source, target, None)?;
            }
            // PACE's edges have no letter.
            (word, Some((vertices, _))) if scan::count(word).is_some() => {
                let source = vertices.vertex(sink, line, rest.next())?;
                let target = vertices.vertex(sink, line, rest.next())?;
                sink.edge(source, target, None)?;
            }
            _ => {
                let what = format!(
                    "{} is not a line of DIMACS: edges are `e 1 2` or `a 1 2 7`",
                    quote(text)
                );
                return Err(sink.fault_at(line, what));
            }
        }
    }
    let Some((vertices, edges)) = problem else {
        return Err(sink.fault("holds no problem line, such as `p edge 5 6`: it may be cut off"));
    };
    if let Some(line) = values {
        sink.note(format!("values of vertices are left out, the first in line {line}"));
    }
    if weighted {
        sink.note("weights of edges are left out");
    }
    if arcs > 0 {
        sink.directed();
    }
    // Some files list each edge in both directions and count it once.
    if sink.edges() != edges.saturating_mul(2) {
        sink.claim_edges(edges);
    }
    vertices.declare(sink)
}

pub(super) fn write(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    writeln!(out, "p edge {} {}", graph.vertices(), graph.edges())?;
    each_edge(graph, |u, v, _| writeln!(out, "e {} {}", u + 1, v + 1))
}
