//! Segments into which the set core's host cuts graphs, and the lines that are loaded for them
//! (`docs/reference/set-core.md`, section *Segments*).
//!
//! `set_segments MACHINE FILE…` prints for each graph and operation: the lines of the whole image, the
//! segments, the lines of all of them, how often a line is loaded, and the seconds in which one thread cut
//! the graph and put the images together.

#[path = "common/rows.rs"]
mod rows;

use std::time::Instant;

use anyhow::{Context as _, Result};
use gramer::Graph;
use gramer::accelerator::set::image::{Lists, SetImage, Words};
use gramer::accelerator::set::segments::Segments;
use gramer::accelerator::set::units::Operation;
use gramer::engine::Units;
use gramer_machine::Accelerator;

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
    rows::each("graph\ttask\twhole image\tsegments\tloaded\ttimes\tseconds", row)
}
