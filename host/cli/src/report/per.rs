//! Counts per vertex and per edge as a list of all.

use std::io::Write as _;
use std::path::Path;

use gramer_base::error::{Error, Result};
use gramer_base::output::Output;
use gramer_engine::per::{Column, Per};
use gramer_graph::Graph;
use gramer_picture::per::{Item, column_name, items};

use super::list::tabbed_vertex;
use super::{Counts, ListFormat};

/// The vertices by ascending id, or the edges, each with its place in a column.
pub(super) fn in_order(graph: &Graph, per: Per) -> Vec<(Item, usize)> {
    let mut all: Vec<(Item, usize)> = items(graph, per).zip(0..).collect();
    if per == Per::Vertex {
        all.sort_unstable();
    }
    all
}

/// The names of the columns in front of the numbers.
fn heading(per: Per) -> &'static str {
    match per {
        Per::Vertex => "vertex",
        Per::Edge => "vertex\tvertex",
        Per::Graph => "graph",
    }
}

/// Writes the numbers of each vertex or edge as a line, up to `limit` of them; vertices by
/// ascending id. Without `force` the file replaces none. Returns how many lines there are.
///
/// # Errors
/// [`Error::Io`] if the file can't be written.
pub fn list(
    (path, force): (&Path, bool),
    format: ListFormat,
    limit: Option<u64>,
    numbers: Counts,
    graph: &Graph,
    per: Per,
    columns: &[Column],
) -> Result<u64> {
    let mut file = Output::create(path, force)?;
    let write = |file: &mut Output, bytes: &[u8]| {
        file.write_all(bytes).map_err(|e| Error::io(path, "write", e))
    };
    let mut line = Vec::with_capacity(1 << 16);
    if format == ListFormat::Tsv {
        line.extend_from_slice(heading(per).as_bytes());
        for column in columns {
            let name = column_name(column);
            // Writing to a vector can't fail.
            let _ = match &column.orbit {
                Some(orbit) => write!(line, "\t{name}:{}", orbit.number),
                None => write!(line, "\t{name}"),
            };
        }
        line.push(b'\n');
    }
    let lines = in_order(graph, per);
    let most = limit.map_or(lines.len(), |limit| lines.len().min(limit.min(1 << 62) as usize));
    for &(item, at) in &lines[..most] {
        let counts = columns.iter().map(|column| column.counts.get(at));
        match format {
            ListFormat::Tsv => {
                match item {
                    Item::Vertex(v) => tabbed_vertex(&mut line, graph, v),
                    Item::Edge(u, v) => {
                        tabbed_vertex(&mut line, graph, u);
                        line.push(b'\t');
                        tabbed_vertex(&mut line, graph, v);
                    }
                    Item::Graph(number) => line.extend_from_slice(number.to_string().as_bytes()),
                }
                counts.for_each(|count| {
                    let _ = write!(line, "\t{count}");
                });
                line.push(b'\n');
            }
            ListFormat::Jsonl => {
                match item {
                    Item::Vertex(v) => {
                        line.extend_from_slice(b"{\"vertex\":");
                        numbers.vertex(graph, v, &mut line);
                    }
                    Item::Edge(u, v) => {
                        line.extend_from_slice(b"{\"edge\":[");
                        numbers.vertex(graph, u, &mut line);
                        line.push(b',');
                        numbers.vertex(graph, v, &mut line);
                        line.push(b']');
                    }
                    Item::Graph(number) => {
                        let _ = write!(line, "{{\"graph\":{number}");
                    }
                }
                line.extend_from_slice(b",\"counts\":[");
                for (i, count) in counts.map(|count| numbers.of(count)).enumerate() {
                    let _ = write!(line, "{}{count}", if i == 0 { "" } else { "," });
                }
                line.extend_from_slice(b"]}\n");
            }
        }
        if line.len() >= 1 << 16 {
            write(&mut file, &line)?;
            line.clear();
        }
    }
    write(&mut file, &line)?;
    file.finish()?;
    Ok(most as u64)
}
