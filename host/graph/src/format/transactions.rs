//! Several graphs of `t`, `v` and `e` lines in one file, the format of gSpan: together they form one graph, and the
//! upper 32 bits of an id identify the graph in the file.

use std::collections::HashMap;
use std::io::BufRead;

use super::Sink;
use super::fields::{number, words};
use crate::read::scan::{self, quote};
use gramer_base::counted::counted;
use gramer_base::error::Result;

/// Whether a line begins a graph; `t # -1` ends the last one.
fn begins(line: &[u8]) -> bool {
    let mut words = words(line);
    words.next() == Some(b"t") && words.next() == Some(b"#") && words.next() != Some(b"-1")
}

/// Whether a text of such lines holds a second graph.
pub(super) fn sniff(head: &[u8]) -> bool {
    let content = scan::lines(head).map(|(_, line)| line);
    let content = content.filter(|line| !line.is_empty() && !scan::is_comment(line));
    // What follows the mark at the end is not a graph.
    let mut content = content.take_while(|line| !(line.starts_with(b"t") && line.ends_with(b"-1")));
    content.next().is_some_and(begins) && content.any(begins)
}

pub(super) fn read(input: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut lines = sink.lines(input);
    let (mut graphs, mut empty, mut ended) = (0u64, 0u64, false);
    // The vertices of the last graph, by their numbers in it.
    let mut own: HashMap<u64, u64> = HashMap::new();
    while let Some((line, text)) = lines.next()? {
        if begins(text) {
            empty += u64::from(graphs > 0 && own.is_empty());
            graphs += 1;
            own.clear();
            continue;
        }
        let mut columns = words(text);
        let kind = columns.next().unwrap_or_default();
        match kind {
            // The mark at the end of gSpan's files.
            b"t" if text.ends_with(b"-1") => {
                ended = true;
                break;
            }
            _ if graphs == 0 => {
                let what = format!(
                    "{} stands in front of the first graph, which begins as `t # 0`",
                    quote(text)
                );
                return Err(sink.fault_at(line, what));
            }
            b"v" => vertex(sink, (line, graphs - 1), &mut columns, &mut own)?,
            b"e" => {
                let mut end = || {
                    let end = number(sink, line, columns.next(), "number of a vertex")?;
                    own.get(&end).copied().ok_or_else(|| {
                        sink.fault_at(
                            line,
                            format!(
                                "an edge ends at vertex {end}, but this graph declares no such vertex (`v` line)"
                            ),
                        )
                    })
                };
                let (source, target) = (end()?, end()?);
                let label = columns.next();
                sink.edge(source, target, label)?;
            }
            _ => {
                return Err(sink
                    .fault_at(line, format!("{} is not a line of `t`, `v` or `e`", quote(text))));
            }
        }
        if let Some(more) = columns.next() {
            return Err(sink.fault_at(
                line,
                format!(
                    "{} is one field too many: a vertex or an edge takes one label",
                    quote(more)
                ),
            ));
        }
    }
    if !ended && !lines.is_ended() {
        sink.note(scan::NO_NEWLINE);
    }
    empty += u64::from(graphs > 0 && own.is_empty());
    if empty > 0 {
        let empty = counted(empty, "graph has", "graphs have");
        sink.note(format!("{empty} no vertex: counts per graph leave such out"));
    }
    sink.note(format!(
        "the file holds {}: vertex v of graph i, from 0, has the id i × 2^32 + v",
        counted(graphs, "graph", "graphs")
    ));
    Ok(())
}

/// Processes the columns of a `v` line of a graph.
fn vertex<'l>(
    sink: &mut Sink<'_>,
    (line, graph): (u64, u64),
    columns: &mut impl Iterator<Item = &'l [u8]>,
    own: &mut HashMap<u64, u64>,
) -> Result<()> {
    let vertex = number(sink, line, columns.next(), "number of a vertex")?;
    if vertex >> 32 != 0 || graph >> 32 != 0 {
        return Err(sink.fault_at(line, "graphs and vertices have numbers below 2^32"));
    }
    let id = graph << 32 | vertex;
    let known = sink.vertices();
    let number = sink.vertex(itoa::Buffer::new().format(id).as_bytes())?;
    if number < known {
        return Err(sink.fault_at(line, format!("vertex {vertex} is declared twice in this graph")));
    }
    own.insert(vertex, number);
    match columns.next() {
        Some(label) => sink.vertex_label(number, label),
        None => Err(sink.fault_at(line, "the label is missing (`v id label`)")),
    }
}
