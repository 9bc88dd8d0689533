//! Cliques by DuMato's workflow (Ferraz et al., Alg. 9, left side): the next vertex comes from the first one's
//! neighbours, after the last one in the order of degrees, and is next to all.
//!
//! usage: cliques DEVICE GRAPH --k K [--memory SIZE] [--host-memory SIZE] [--spill FOLDER]

#[path = "common/mod.rs"]
mod common;

use std::io::Write;
use std::process::ExitCode;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_gpu::primitives::{Filter, Mining, Numbers, Positions, Workflow};

const USAGE: &str =
    "cliques DEVICE GRAPH --k K [--memory SIZE] [--host-memory SIZE] [--spill FOLDER]";

/// Writes the number of cliques of `--k` vertices.
pub fn run(words: &[String], out: &mut dyn Write) -> Result<()> {
    let arguments = common::Arguments::of(words, USAGE, &["k"])?;
    let k = arguments.value("k")?.unwrap_or(3);
    let (gpu, graph) = (arguments.gpu()?, arguments.graph()?);
    let mining = Mining::with(&gpu, &graph, Numbers::Degree, &Context::default())?;
    let clique = Filter::adjacent(..).and(Filter::above(Positions::last()));
    let count = Workflow::new(k).extend(0..1).filter(clique).aggregate_counter(&mining)?;
    common::say(out, &count.to_string())
}

fn main() -> ExitCode {
    common::ends(run)
}
