//! Counts per vertex and per edge, as they are shown and listed.

use std::cmp::Reverse;
use std::io::Write as _;
use std::path::Path;

use gramer_engine::per::{Column, Numbers, Per, edges};
use gramer_graph::error::{Error, Result};
use gramer_graph::output::Output;
use gramer_graph::{Graph, VertexId};
use gramer_pattern::name;

use super::ListFormat;

/// A vertex or an edge, by ids of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Item {
    /// A vertex.
    Vertex(u64),
    /// The ends of an edge, the smaller id first.
    Edge(u64, u64),
}

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Item::Vertex(v) => write!(f, "{v}"),
            Item::Edge(u, v) => write!(f, "{u}-{v}"),
        }
    }
}

/// How many have a number from `from` to `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// Smallest number.
    pub from: u128,
    /// Largest number.
    pub to: u128,
    /// How many vertices or edges.
    pub items: u64,
}

/// What is shown of a column.
#[derive(Debug)]
pub struct ColumnReport {
    /// The pattern's name.
    pub name: String,
    /// The orbit's number.
    pub orbit: Option<usize>,
    /// The sum of the column.
    pub sum: u128,
    /// The largest numbers, which aren't 0, largest first, then by id.
    pub top: Vec<(Item, u128)>,
    /// By powers of two, without empty bins; empty unless asked for.
    pub histogram: Vec<Bin>,
}

/// What is shown of an answer per vertex or per edge.
#[derive(Debug)]
pub struct PerReport {
    /// What the numbers are of.
    pub per: Per,
    /// How many vertices or edges there are.
    pub items: usize,
    /// The columns.
    pub columns: Vec<ColumnReport>,
}

impl PerReport {
    /// Gathers what is shown.
    pub fn new(graph: &Graph, per: Per, columns: &[Column], top: usize, histogram: bool) -> Self {
        let items = columns.first().map_or(0, |column| column.counts.len());
        let largest: Vec<_> =
            columns.iter().map(|column| largest(graph, per, &column.counts, top)).collect();
        let columns = columns.iter().zip(largest).map(|(column, top)| ColumnReport {
            name: column_name(column),
            orbit: column.orbit.map(|orbit| orbit.number),
            sum: column.counts.iter().sum(),
            top,
            histogram: if histogram { bins(&column.counts) } else { vec![] },
        });
        PerReport { per, items, columns: columns.collect() }
    }
}

fn column_name(column: &Column) -> String {
    match column.larger_clique {
        Some(size) => format!("{size}-clique"),
        None => name(&column.pattern),
    }
}

/// All vertices or edges, in the order of the columns.
fn items<'a>(graph: &'a Graph, per: Per) -> Box<dyn Iterator<Item = Item> + 'a> {
    let id = |v: VertexId| graph.original_id(v);
    match per {
        Per::Vertex => {
            Box::new((0..graph.vertices() as VertexId).map(move |v| Item::Vertex(id(v))))
        }
        Per::Edge => Box::new(edges(graph.view()).map(move |(u, v)| {
            let (u, v) = (id(u), id(v));
            Item::Edge(u.min(v), u.max(v))
        })),
    }
}

fn largest(graph: &Graph, per: Per, counts: &Numbers, top: usize) -> Vec<(Item, u128)> {
    let mut found: Vec<(Item, u128)> = vec![];
    if top == 0 {
        return found;
    }
    // Twice as many as are wanted are kept, so that they are sorted seldom.
    let mut least = 0;
    let shrink = |found: &mut Vec<(Item, u128)>| {
        found.sort_unstable_by_key(|&(item, count)| (Reverse(count), item));
        found.truncate(top);
        if found.len() == top { found[top - 1].1 } else { 0 }
    };
    for (item, count) in items(graph, per).zip(counts.iter()) {
        if count > 0 && count >= least {
            found.push((item, count));
            if found.len() >= top.saturating_mul(2).max(1 << 10) {
                least = shrink(&mut found);
            }
        }
    }
    shrink(&mut found);
    found
}

fn bins(counts: &Numbers) -> Vec<Bin> {
    // By the number of binary digits.
    let mut items = [0u64; 129];
    counts.iter().for_each(|count| items[(128 - count.leading_zeros()) as usize] += 1);
    let bin = |(digits, items): (usize, u64)| Bin {
        from: if digits == 0 { 0 } else { 1 << (digits - 1) },
        to: if digits == 0 { 0 } else { u128::MAX >> (128 - digits) },
        items,
    };
    items.into_iter().enumerate().filter(|&(_, items)| items > 0).map(bin).collect()
}

/// Writes the numbers of each vertex or edge as a line, up to `limit` of them; vertices by
/// ascending id. Returns how many lines there are.
///
/// # Errors
/// [`Error::Io`] if the file can't be written.
pub fn list(
    path: &Path,
    format: ListFormat,
    limit: Option<u64>,
    graph: &Graph,
    per: Per,
    columns: &[Column],
) -> Result<u64> {
    let mut file = Output::create(path)?;
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
            let _ = match column.orbit {
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
                    Item::Vertex(v) => write!(line, "{{\"vertex\":{v},\"counts\":["),
                    Item::Edge(u, v) => write!(line, "{{\"edge\":[{u},{v}],\"counts\":["),
                };
                for (i, count) in counts.enumerate() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_powers_of_two() {
        let mut counts = Numbers::with_capacity(0);
        [0, 0, 1, 2, 3, 4, 7, 8, u128::MAX].into_iter().for_each(|n| counts.push(n));
        let found: Vec<_> = bins(&counts).iter().map(|b| (b.from, b.to, b.items)).collect();
        let top = 1 << 127;
        let expected =
            [(0, 0, 2), (1, 1, 1), (2, 3, 2), (4, 7, 2), (8, 15, 1), (top, u128::MAX, 1)];
        assert_eq!(found, expected);
    }
}
