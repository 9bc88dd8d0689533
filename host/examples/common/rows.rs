//! A table with a row for each graph and each operation that a large one has on the set core.

use anyhow::{Context as _, Result};
use gramer::accelerator::set::units::Operation;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::prepare::renumber;
use gramer::{Context, Graph};
use gramer_machine::{Accelerator, named};

/// Prints `header`, and has `row` print the row of each operation on each graph. The program's words are the machine and
/// the graphs' files; a graph's name is that of its folder.
///
/// # Errors
/// Those of reading, of `row`, and words that are missing or wrong.
pub fn each(
    header: &str,
    row: impl Fn(&Accelerator, &str, &Graph, Operation) -> Result<()>,
) -> Result<()> {
    let mut words = std::env::args().skip(1);
    let machine = words.next().context("the words are MACHINE FILE…")?;
    let machine =
        named::named(&machine).with_context(|| format!("there is no machine {machine}"))??;
    println!("{header}");
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
