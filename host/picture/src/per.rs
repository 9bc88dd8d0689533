//! Counts per vertex and per edge on a page.

use std::cmp::Reverse;

use gramer_base::counted::noun;
use gramer_engine::Subject;
use gramer_engine::per::{Column, Numbers, Orbit, Per, edges};
use gramer_graph::{Graph, VertexId, transactions};
use gramer_pattern::{Pattern, name};
use maud::{Markup, html};

use crate::number::{Scale, grouped, power_of_ten};
use crate::page::numbers;
use crate::patterns::mark;
use crate::svg;

/// A vertex or an edge, by ids of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Item {
    /// A vertex.
    Vertex(u64),
    /// The ends of an edge, the smaller id first.
    Edge(u64, u64),
    /// A graph of a file of several, by its number.
    Graph(u64),
}

impl Item {
    /// For people: by the names that the graph's input has.
    pub fn shown(self, graph: &Graph) -> String {
        let of = |id| graph.name_of_id(id);
        match self {
            Item::Vertex(v) => of(v).to_string(),
            // Names may have a hyphen.
            Item::Edge(u, v) if graph.names().vertices.is_some() => {
                format!("{} – {}", of(u), of(v))
            }
            Item::Edge(u, v) => format!("{u}-{v}"),
            Item::Graph(number) => number.to_string(),
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

impl std::fmt::Display for Bin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.from == self.to {
            true => f.write_str(&grouped(self.from)),
            false => write!(f, "{} to {}", grouped(self.from), grouped(self.to)),
        }
    }
}

/// Summary of a column.
#[derive(Debug)]
pub struct ColumnReport {
    /// The pattern's name.
    pub name: String,
    /// The pattern, if the numbers are of one.
    pub pattern: Option<Pattern>,
    /// The orbit, where the pattern's vertices or edges are in several.
    pub orbit: Option<Orbit>,
    /// The sum of the column, if that says anything.
    pub sum: Option<u128>,
    /// The largest numbers, which aren't 0, largest first, then by id.
    pub top: Vec<(Item, u128)>,
    /// By powers of two, without empty bins; empty unless asked for.
    pub histogram: Vec<Bin>,
}

/// Summary of an answer per vertex or per edge.
#[derive(Debug)]
pub struct PerReport {
    /// Vertices or edges.
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
            pattern: column.of.pattern().cloned(),
            orbit: column.orbit.clone(),
            sum: column.counts.sum().filter(|_| column.adds_up()),
            top,
            histogram: if histogram { bins(&column.counts) } else { vec![] },
        });
        PerReport { per, items, columns: columns.collect() }
    }
}

/// Name of a column: its pattern, without its orbit.
pub fn column_name(column: &Column) -> String {
    match &column.of {
        Subject::Pattern(pattern) => name(pattern),
        of => of.name(),
    }
}

/// All vertices or edges, in the order of the columns.
pub fn items<'a>(graph: &'a Graph, per: Per) -> Box<dyn Iterator<Item = Item> + 'a> {
    let id = |v: VertexId| graph.original_id(v);
    match per {
        Per::Vertex => {
            Box::new((0..graph.vertices() as VertexId).map(move |v| Item::Vertex(id(v))))
        }
        Per::Edge => Box::new(edges(graph.view()).map(move |(u, v)| {
            let (u, v) = (id(u), id(v));
            Item::Edge(u.min(v), u.max(v))
        })),
        Per::Graph => {
            let all = transactions::of(graph);
            Box::new(all.into_iter().map(|(number, _)| Item::Graph(number)))
        }
    }
}

fn largest(graph: &Graph, per: Per, counts: &Numbers, top: usize) -> Vec<(Item, u128)> {
    let mut found: Vec<(Item, u128)> = vec![];
    if top == 0 {
        return found;
    }
    // Keeps twice the requested number, so that sorting is rare.
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

/// The columns: each with its place in the pattern, the largest numbers, and how they are spread.
pub(crate) fn section(report: &PerReport, graph: &Graph) -> Markup {
    let (one, all) = match report.per {
        Per::Vertex => ("vertex", "vertices"),
        Per::Edge => ("edge", "edges"),
        Per::Graph => ("graph", "graphs"),
    };
    let orbits = report.columns.iter().any(|column| column.orbit.is_some());
    html! {
        p.note {
            @if report.columns.iter().any(|column| column.sum.is_some()) {
                "In how many occurrences each of the " (grouped(report.items as u128)) " " (noun(report.items, one, all)) " is; "
            } @else {
                "The number of each of the " (grouped(report.items as u128)) " " (noun(report.items, one, all)) "; "
            }
            (match report.per {
                Per::Vertex => "a vertex is named as in the input.",
                Per::Edge => "an edge's ends are named as in the input.",
                Per::Graph => "graphs are numbered from 0.",
            })
            @if orbits {
                " By orbit, as ORCA numbers them: the " (all)
                " of a pattern that stand in the same place, which its picture has in blue."
            }
        }
        div.columns { @for column in &report.columns { (shown(graph, report.per, column, one, all)) } }
    }
}

fn shown(graph: &Graph, per: Per, column: &ColumnReport, one: &str, all: &str) -> Markup {
    let scale = Scale::of(column.top.iter().map(|&(_, count)| count));
    let spread = Scale::of(column.histogram.iter().map(|bin| bin.items.into()));
    html! {
        div.column {
            div.head {
                @if let Some(pattern) = &column.pattern {
                    (match &column.orbit {
                        Some(orbit) => svg::marked(pattern, per, &orbit.places, 72),
                        None => svg::element(pattern, &svg::Labels::default(), 72),
                    })
                }
                div {
                    h3 { (column.name) @if let Some(orbit) = &column.orbit { ", orbit " (orbit.number) } }
                    @if let Some(sum) = column.sum { div.muted { "sum " (numbers(&grouped(sum))) } }
                }
            }
            @if column.sum == Some(0) {
                p.note { "No " (one) " is in any." }
            } @else if !column.top.is_empty() {
                (bars(
                    &format!("{all} in most{}", logarithmic(scale)),
                    scale,
                    column.top.iter().map(|&(item, count)| (item.shown(graph), count)),
                ))
            }
            @if !column.histogram.is_empty() {
                (bars(
                    &format!("{all} by count{}", logarithmic(spread)),
                    spread,
                    column.histogram.iter().map(|bin| (bin.to_string(), bin.items.into())),
                ))
            }
        }
    }
}

/// The ends of an axis that isn't linear.
fn logarithmic(scale: Scale) -> String {
    scale
        .decades
        .map_or(String::new(), |d| format!(" (logarithmic axis, 1 to {})", power_of_ten(d)))
}

/// Numbers with a bar or a dot each.
fn bars(what: &str, scale: Scale, lines: impl Iterator<Item = (String, u128)>) -> Markup {
    html! {
        div.scroll {
            table.bars {
                caption { (what) }
                @for (name, number) in lines {
                    tr {
                        // A range has two lines at most.
                        th scope="row" { (numbers(&name.replace(" to", "\u{a0}to"))) }
                        td.bar {
                            @match scale.decades {
                                Some(_) => { div.track { (mark(scale, number)) } }
                                None => (mark(scale, number)),
                            }
                        }
                        td.number { (grouped(number)) }
                    }
                }
            }
        }
    }
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
