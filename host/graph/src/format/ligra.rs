//! Adjacency graphs of Ligra and GBBS: numbers of vertices and edges, where each vertex's neighbours begin, and those.

use std::io::BufRead;

use super::Sink;
use super::fields::{VertexNumbers, number, words};
use gramer_base::counted::counted;
use gramer_base::error::Result;

const HEADS: [&[u8]; 2] = [b"AdjacencyGraph", b"WeightedAdjacencyGraph"];

/// Limit of numbers in a file, beyond any memory.
const LARGEST: u64 = 1 << 40;

pub(super) fn sniff(head: &[u8]) -> bool {
    super::fields::first_words(head, b"").first().is_some_and(|word| HEADS.contains(word))
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    sink.hold_whole()?;
    let mut lines = sink.lines(input);
    let mut numbers: Vec<u64> = vec![];
    let (mut weighted, mut last) = (false, 1);
    while let Some((line, text)) = lines.next()? {
        let mut words = words(text);
        if last == 1
            && numbers.is_empty()
            && words.clone().next().is_some_and(|word| HEADS.contains(&word))
        {
            weighted = words.next() == Some(HEADS[1]);
        }
        for word in words {
            // Weights may be of any kind.
            let weight = weighted
                && numbers.len() > 2
                && numbers.len() as u64 >= 2 + numbers[0] + numbers[1];
            numbers.push(if weight { 0 } else { number(sink, line, Some(word), "next number")? });
            if let [vertices, edges] = numbers[..]
                && vertices.saturating_add(edges) > LARGEST
            {
                return Err(sink.fault_at(line, "the numbers of vertices and edges are too large"));
            }
            last = line;
        }
    }
    let [vertices, edges, ref lists @ ..] = numbers[..] else {
        return Err(sink.fault("holds no numbers of vertices and edges: it may be cut off"));
    };
    let length = vertices + edges * if weighted { 2 } else { 1 };
    if lists.len() as u64 != length {
        let what = format!(
            "{} and {} make {}, but {}: the file is cut off, or its head is wrong",
            counted(vertices, "vertex", "vertices"),
            counted(edges, "edge", "edges"),
            counted(length, "number", "numbers"),
            counted(lists.len(), "follows", "follow")
        );
        return Err(sink.fault(what));
    }
    let numbered = VertexNumbers { first: 0, count: vertices, line: 2 };
    numbered.declare_listed(sink)?;
    let (begins, targets) = lists.split_at(vertices as usize);
    for (v, &begin) in begins.iter().enumerate() {
        let end = begins.get(v + 1).copied().unwrap_or(edges);
        if begin > end || end > edges {
            let what = format!(
                "the neighbours of vertex {v} begin at {begin} and end at {end}, of {edges}"
            );
            return Err(sink.fault(what));
        }
        for &target in &targets[begin as usize..end as usize] {
            numbered.check(sink, last, target)?;
            sink.edge(v as u64, target, None)?;
        }
    }
    if begins.first().is_some_and(|&first| first > 0) {
        return Err(sink.fault("the neighbours of vertex 0 don't begin at 0"));
    }
    if weighted {
        sink.note("weights of edges are left out");
    }
    Ok(())
}
