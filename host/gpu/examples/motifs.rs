//! Motifs by DuMato's workflow (Ferraz et al., Alg. 9, right side): each connected set of K vertices once, by the
//! pattern that it induces.
//!
//! usage: motifs DEVICE GRAPH --k K [--memory SIZE] [--host-memory SIZE] [--spill FOLDER]

#[path = "common/mod.rs"]
mod common;

use std::io::Write;
use std::process::ExitCode;

use gramer_base::error::Result;
use gramer_gpu::primitives::{Filter, GroupKey, Mining, Workflow};
use gramer_pattern::labelled_name;

const USAGE: &str =
    "motifs DEVICE GRAPH --k K [--memory SIZE] [--host-memory SIZE] [--spill FOLDER]";

/// Writes a line for each pattern of `--k` vertices: its number, its name, and its edges with their labels,
/// with tabs between.
pub fn run(words: &[String], out: &mut dyn Write) -> Result<()> {
    let arguments = common::Arguments::of(words, USAGE, &["k"])?;
    let k = arguments.value("k")?.unwrap_or(3);
    let (gpu, graph) = (arguments.gpu()?, arguments.graph()?);
    let mining = Mining::new(&gpu, &graph)?;
    let motifs = Workflow::new(k).extend(..).filter(Filter::canonical());
    for group in &motifs.aggregate_pattern(&mining)? {
        if let GroupKey::Pattern(pattern) = &group.by {
            let name = labelled_name(pattern);
            common::say(out, &format!("{}\t{name}\t{pattern:?}", group.value))?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    common::ends(run)
}
