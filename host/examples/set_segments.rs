//! Segments into which the set core's host cuts graphs, and the lines that are loaded for them
//! (`docs/set-core.md`, section *Segments*).
//!
//! `set_segments MACHINE FILE…` prints for each graph and operation: the lines of the whole image, the
//! segments, the lines of all of them, how often a line is loaded, and the seconds in which one thread cut
//! the graph and put the images together.

use std::time::Instant;

use anyhow::{Context as _, Result};
use gramer::accelerator::set::image::{Lists, SetImage};
use gramer::accelerator::set::segments::Segments;
use gramer::accelerator::set::units::Operation;
use gramer::engine::Units;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::prepare::renumber;
use gramer::{Context, Graph};
use gramer_machine::{Accelerator, named};

fn row(machine: &Accelerator, name: &str, graph: &Graph, operation: Operation) -> Result<()> {
    let (what, lists) = match operation {
        Operation::Cliques { k } => (format!("{k}-cliques"), Lists::Up),
        _ => ("paths".to_string(), Lists::Both),
    };
    let whole = SetImage::size_of(graph.view(), lists).context("more lines than ids can name")?;
    let begun = Instant::now();
    let mut segments = Segments::new(machine, graph.view(), operation, Units::All);
    let (mut count, mut lines) = (0, 0);
    while let Some(segment) = segments.next()? {
        (count, lines) = (count + 1, lines + u64::from(segment.image.lines()));
    }
    let (whole, seconds) = (whole.lines(), begun.elapsed().as_secs_f64());
    let times = lines as f64 / whole as f64;
    println!("{name}\t{what}\t{whole}\t{count}\t{lines}\t{times:.2}\t{seconds:.2}");
    Ok(())
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let machine = words.next().context("usage: set_segments MACHINE FILE…")?;
    let machine =
        named::named(&machine).with_context(|| format!("there is no machine {machine}"))??;
    println!("graph\ttask\twhole image\tsegments\tloaded\ttimes\tseconds");
    for path in words {
        let context = Context::default();
        let read = read_graph(path.as_ref(), &ReadOptions::default(), &context)?;
        let name = path.rsplit('/').nth(1).unwrap_or(&path);
        let graph = renumber(&read, &context)?;
        let cliques = |k| Operation::Cliques { k };
        for operation in [cliques(3), cliques(4), cliques(5), Operation::Paths] {
            row(&machine, name, &graph, operation)
                .with_context(|| format!("{name}, {operation:?}"))?;
        }
    }
    Ok(())
}
