//! KONECT: `out.*` files with `% sym`, `% asym` or `% bip`. The sides of a bipartite graph are numbered from 1 each;
//! here the right one follows the left one.

use std::io::BufRead;

use super::Sink;
use super::fields::{number, words};
use crate::read::scan;
use gramer_base::counted::counted;
use gramer_base::error::Result;

/// Whether a text is a bipartite graph: others pass as edge lists, which are read on all threads.
pub(super) fn sniff(head: &[u8]) -> bool {
    let first = scan::lines(head).next().map(|(_, line)| line).unwrap_or_default();
    let mut words = words(first);
    words.next() == Some(b"%") && words.next() == Some(b"bip")
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let mut lines = sink.lines(input);
    let (mut kind, mut claims) = (vec![], vec![]);
    let mut edges: Vec<[u64; 2]> = vec![];
    let (mut columns, mut largest) = (false, [0; 2]);
    while let Some((line, text)) = lines.next()? {
        let mut words = words(text);
        if let Some(head) = text.strip_prefix(b"%") {
            let counts: Option<Vec<u64>> = super::fields::words(head).map(scan::count).collect();
            match (line, counts) {
                (1, _) => kind = super::fields::words(head).next().unwrap_or_default().to_vec(),
                (2, Some(counts)) => claims = counts,
                _ => {}
            }
            continue;
        }
        let ends = [
            number(sink, line, words.next(), "left end")?,
            number(sink, line, words.next(), "right end")?,
        ];
        columns |= words.next().is_some();
        if ends.contains(&0) {
            return Err(sink.fault_at(line, "vertices of KONECT are numbered from 1"));
        }
        for (at, &end) in ends.iter().enumerate() {
            largest[at] = largest[at].max(end);
            if claims.get(at + 1).is_some_and(|&count| end > count) {
                let what = format!(
                    "vertex {end} is out of range: line 2 says {}",
                    counted(claims[at + 1], "vertex", "vertices")
                );
                return Err(sink.fault_at(line, what));
            }
        }
        edges.push(ends);
    }
    let bipartite = kind == b"bip";
    let left = claims.get(1).copied().unwrap_or(largest[0]);
    let offset = if bipartite { left } else { 0 };
    if largest[1].checked_add(offset).is_none() {
        return Err(sink.fault("vertices of both sides together have more than 2^64 numbers"));
    }
    for [source, target] in edges {
        let [source, target] = [source, target + offset]
            .map(|end| sink.vertex(itoa::Buffer::new().format(end).as_bytes()));
        sink.edge(source?, target?, None)?;
    }
    if let Some(&edges) = claims.first() {
        sink.claim_edges(edges);
    }
    if bipartite {
        sink.note(format!(
            "the graph is bipartite: ids up to {left} are of its left side, and vertex i of its right side is {left} + i"
        ));
    }
    if kind == b"asym" {
        sink.directed();
    }
    if columns {
        sink.note("columns behind the ends of edges (weights, times) are left out");
    }
    Ok(())
}
