//! Lines that the set core streams for each task, with the vertices in two orders: by degree, and by
//! Rank(ON_1), in which the paper's core wants them (`docs/reference/set-core.md`, section *Order and ids*).
//!
//! `set_lines FILE…` prints a row a graph and order: lines of the images for cliques and motifs, the
//! longest list of neighbours before a vertex, and lines that all roots stream for 3-cliques, for
//! cliques of 5, and for the paths of 4-motifs. Of cliques it has those of whole lists, and those of sizes by reach.

use anyhow::Result;
use gramer::accelerator::set::image::{Lists, SetImage, Words, lines_of};
use gramer::accelerator::set::units::{Operation, longest, units};
use gramer::engine::Units;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::graph::{Builder, VertexId, View};
use gramer::prepare::renumber;
use gramer::{Context, Graph};

/// The same graph with its vertices by falling degree, ties by their old number.
fn by_degree(graph: &Graph) -> Graph {
    let view = graph.view();
    let mut order: Vec<VertexId> = (0..view.vertices() as VertexId).collect();
    order.sort_by_key(|&v| (std::cmp::Reverse(view.degree(v)), v));
    let mut rank = vec![0; order.len()];
    for (at, &v) in (0..).zip(&order) {
        rank[v as usize] = at;
    }
    let mut builder = Builder::new();
    builder.vertex_range(0..order.len() as u64);
    for &v in &order {
        for &u in view.neighbours(v) {
            builder.edge(rank[v as usize], rank[u as usize]);
        }
    }
    builder.build()
}

/// Lines that the units of cliques of `k` load and stream.
fn reached_lines(view: View<'_>, image: &SetImage, k: u32) -> u64 {
    let units = units(view, image, &[Operation::Cliques { k }], Units::All);
    let lines = |address, quarters| {
        let members: u32 = image.reads(address, quarters).sum();
        u64::from(lines_of(address, quarters) + members)
    };
    units.iter().map(|unit| lines(unit.address, unit.quarters)).sum()
}

/// Lines that all roots with at least `least` neighbours before them load and stream for cliques by whole lists.
fn clique_lines(view: View<'_>, image: &SetImage, least: usize) -> u64 {
    let lines = |v: VertexId| u64::from(lines_of(image.block(v).address, image.block(v).up));
    let root = |v: VertexId| {
        let row = view.neighbours(v);
        let before = &row[..row.partition_point(|&u| u < v)];
        match before.len() >= least {
            true => lines(v) + before[1..].iter().map(|&u| lines(u)).sum::<u64>(),
            false => 0,
        }
    };
    (0..view.vertices() as VertexId).map(root).sum()
}

/// Lines that all roots mark and stream for edges and paths.
fn path_lines(view: View<'_>, image: &SetImage) -> u64 {
    let lines = |v: VertexId| u64::from(lines_of(image.block(v).address, image.block(v).all));
    let root = |v: VertexId| {
        let row = view.neighbours(v);
        let after = &row[row.partition_point(|&u| u < v)..];
        match after.is_empty() || row.len() < 2 {
            true => 0,
            false => lines(v) + after.iter().map(|&u| lines(u)).sum::<u64>(),
        }
    };
    (0..view.vertices() as VertexId).map(root).sum()
}

fn main() -> Result<()> {
    println!(
        "graph\torder\timage up\timage both\tlongest\t3-cliques\tby reach\t5-cliques\tby reach\tpaths"
    );
    for path in std::env::args().skip(1) {
        let context = Context::default();
        let read = read_graph(path.as_ref(), &ReadOptions::default(), &context)?;
        let name = path.rsplit('/').nth(1).unwrap_or(&path);
        for (order, graph) in [("degree", by_degree(&read)), ("ON_1", renumber(&read, &context)?)] {
            let view = graph.view();
            let up = SetImage::new(view, Lists::Up, context.threads())?;
            let both = SetImage::new(view, Lists::Both, context.threads())?;
            println!(
                "{name}\t{order}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                up.lines(),
                both.lines(),
                longest(view),
                clique_lines(view, &up, 2),
                reached_lines(view, &up, 3),
                clique_lines(view, &up, 4),
                reached_lines(view, &up, 5),
                path_lines(view, &both)
            );
        }
    }
    Ok(())
}
