//! Frequent patterns as GAMMA's Alg. 2 has them (Hu et al., section 4.3.2): all edges, and then again and again the
//! patterns with too little support and their rows out, and an edge more for the others. Support is by minimum
//! images, of which no part of a pattern has less; the number of instances, which the paper takes, is no such
//! measure.
//!
//! usage: frequent DEVICE GRAPH --support N --edges L [--memory SIZE] [--host-memory SIZE] [--spill FOLDER]

#[path = "common/mod.rs"]
mod common;

use std::io::Write;
use std::process::ExitCode;

use gramer_base::error::Result;
use gramer_gpu::primitives::{EdgeFilter, GroupKey, Key, Measure, Mining, Table};
use gramer_pattern::labelled_name;

const USAGE: &str = "frequent DEVICE GRAPH --support N --edges L [--memory SIZE] [--host-memory SIZE] \
                     [--spill FOLDER]";

/// Writes a line for each frequent pattern of up to `--edges` edges: its support, its name, and its edges
/// with their labels, with tabs between.
pub fn run(words: &[String], out: &mut dyn Write) -> Result<()> {
    let arguments = common::Arguments::of(words, USAGE, &["support", "edges"])?;
    let support: u64 = arguments.value("support")?.unwrap_or(1);
    let edges: usize = arguments.value("edges")?.unwrap_or(2);
    let (gpu, graph) = (arguments.gpu()?, arguments.graph()?);
    let mining = Mining::new(&gpu, &graph)?;
    let mut table = Table::edges(&mining, &EdgeFilter::any())?;
    loop {
        let patterns = table.aggregate(&Key::Pattern, &Measure::Mni)?;
        for group in patterns.iter().filter(|group| group.value >= u128::from(support)) {
            if let GroupKey::Pattern(pattern) = &group.by {
                let name = labelled_name(pattern);
                common::say(out, &format!("{}\t{name}\t{pattern:?}", group.value))?;
            }
        }
        if table.columns() >= edges {
            return Ok(());
        }
        table.filter(&patterns.at_least(support.into()))?;
        table.extend_edge(&EdgeFilter::canonical())?;
        if table.is_empty() {
            return Ok(());
        }
    }
}

fn main() -> ExitCode {
    common::ends(run)
}
