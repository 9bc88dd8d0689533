//! Counts per vertex and per edge as a list of all.

use std::io::Write as _;
use std::path::Path;

use gramer_engine::per::{Column, Per};
use gramer_graph::Graph;
use gramer_graph::error::{Error, Result};
use gramer_graph::output::Output;
use gramer_picture::per::{Item, column_name, items};

use super::{Counts, ListFormat};

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
        let ends = if per == Per::Vertex { "vertex" } else { "vertex\tvertex" };
        line.extend_from_slice(ends.as_bytes());
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
    let mut lines: Vec<(Item, usize)> = items(graph, per).zip(0..).collect();
    if per == Per::Vertex {
        lines.sort_unstable();
    }
    let most = limit.map_or(lines.len(), |limit| lines.len().min(limit.min(1 << 62) as usize));
    for &(item, at) in &lines[..most] {
        let counts = columns.iter().map(|column| column.counts.get(at));
        match format {
            ListFormat::Tsv => {
                let _ = match item {
                    Item::Vertex(v) => write!(line, "{v}"),
                    Item::Edge(u, v) => write!(line, "{u}\t{v}"),
                };
                counts.for_each(|count| {
                    let _ = write!(line, "\t{count}");
                });
                line.push(b'\n');
            }
            ListFormat::Jsonl => {
                let _ = match item {
                    Item::Vertex(v) => {
                        write!(line, "{{\"vertex\":{},\"counts\":[", numbers.id(v))
                    }
                    Item::Edge(u, v) => {
                        let (u, v) = (numbers.id(u), numbers.id(v));
                        write!(line, "{{\"edge\":[{u},{v}],\"counts\":[")
                    }
                };
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
