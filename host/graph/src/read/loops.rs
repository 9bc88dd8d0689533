//! What a graph leaves out of its text: self loops and edges that are given again, and where the first loop is.

use std::sync::Mutex;

use super::chunk::{Chunk, Parser};
use super::source::TextBlock;
use crate::Graph;

/// The first self loop of a text, of which threads read blocks in any order.
#[derive(Debug, Default)]
pub(super) struct FirstLoop {
    /// Position of its block, and its line from 1.
    found: Mutex<Option<(usize, u64)>>,
}

impl FirstLoop {
    /// Searches a block for loops: its edges are those of the chunk from `from` on. Their largest id must be
    /// known.
    pub fn look(&self, parser: &dyn Parser, block: &TextBlock, chunk: &Chunk, from: usize) {
        if !chunk.edges.looped() {
            return;
        }
        let mut found = self.found.lock().unwrap_or_else(|e| e.into_inner());
        if found.is_none_or(|(index, _)| block.index < index)
            && let Some(edge) = chunk.edges.first_loop(from)
            && let Some(line) = line_of(parser, &block.text, chunk, from, edge)
        {
            *found = Some((block.index, block.first_line + line));
        }
    }

    /// Line of the loop, from 1, if it is in a block up to `last`.
    pub fn line(self, last: usize) -> Option<u64> {
        let found = self.found.into_inner().unwrap_or_else(|e| e.into_inner());
        found.filter(|&(index, _)| index <= last).map(|(_, line)| line)
    }
}

/// Lines that are read at a time in search of one of them.
const LINES: usize = 256;

/// The line of an edge in its block, from 0, where its format tells.
fn line_of(
    parser: &dyn Parser,
    text: &[u8],
    chunk: &Chunk,
    from: usize,
    edge: usize,
) -> Option<u64> {
    if let Some(line) = chunk.edge_lines.of(edge) {
        return Some(line.into());
    }
    if !parser.one_edge_a_line() {
        return None;
    }
    let wanted = edge - from;
    // Comments and blank lines are rare: mostly each line of the block is an edge.
    let open = usize::from(text.last().is_some_and(|&byte| byte != b'\n'));
    if memchr::memchr_iter(b'\n', text).count() + open == chunk.edges.len() - from {
        return Some(wanted as u64);
    }
    // Some lines at a time, which is read as fast as the block was, and those with the edge one by one.
    let (mut read, mut first, mut rest) = (Chunk::default(), 0, text);
    while !rest.is_empty() {
        let end = memchr::memchr_iter(b'\n', rest).nth(LINES - 1).map_or(rest.len(), |at| at + 1);
        let (piece, others) = rest.split_at(end);
        let before = read.edges.len();
        parser.block(piece, &mut read).ok()?;
        if read.edges.len() > wanted {
            let mut own = Chunk::default();
            for (number, line) in piece.split_inclusive(|&byte| byte == b'\n').enumerate() {
                parser.block(line, &mut own).ok()?;
                if before + own.edges.len() > wanted {
                    return Some((first + number) as u64);
                }
            }
        }
        first += LINES;
        rest = others;
    }
    None
}

/// The note on dropped edges. None if every edge is given twice: files of undirected graphs often have each edge in
/// both directions.
pub(super) fn left_out(graph: &Graph, first_loop: Option<u64>) -> impl Iterator<Item = String> {
    let (stats, edges) = (graph.stats(), graph.edges() as u64);
    let counted = |n: u64, one: &str, more: &str| match n {
        1 => format!("1 {one}"),
        _ => format!("{n} {more}"),
    };
    let loops = (stats.self_loops > 0).then(|| {
        let first = first_loop.map_or(String::new(), |line| format!(", the first in line {line}"));
        counted(stats.self_loops, "self loop is", "self loops are") + " left out" + &first
    });
    // Of edges with other labels there is a remark already.
    let again = stats.duplicates > 0 && stats.duplicates != edges && stats.label_conflicts == 0;
    let again = again.then(|| {
        let edges = counted(stats.duplicates, "edge is", "edges are");
        format!("{edges} given again, in this or the other direction, and left out")
    });
    loops.into_iter().chain(again)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::read::{ReadOptions, read_bytes};
    use gramer_base::Context;

    #[test]
    fn the_line_of_a_loop_is_found_wherever_it_is() {
        let (options, context) = (ReadOptions::default(), Context::with_threads(1));
        for looped in [0, 1, 254, 255, 256, 257, 511, 512, 700, 999] {
            let mut text = String::new();
            for line in 0..1000u32 {
                text += &match line {
                    _ if line == looped => format!("{line} {line}\n"),
                    // Lines that are not edges: none, some, and a whole batch.
                    _ if line % 7 == 3 || (256..512).contains(&line) => "# nothing\n".into(),
                    _ => format!("{line} {}\n", line + 1),
                };
            }
            let read = read_bytes(Path::new("g"), text.into_bytes(), &options, &context).unwrap();
            let said = format!("1 self loop is left out, the first in line {}", looped + 1);
            assert_eq!(read.notes, [said]);
        }
    }
}
