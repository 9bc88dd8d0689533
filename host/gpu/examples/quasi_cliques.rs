//! Quasi-cliques by density: connected sets of K vertices with at least a share of all possible edges, each once
//! (a filter of Ferraz et al., section 4.2, that no built-in condition has). A set may lack no more edges than the
//! whole may, so that sets are given up as soon as they do.
//!
//! usage: quasi_cliques DEVICE GRAPH --k K --density D [--memory SIZE] [--host-memory SIZE] [--spill FOLDER]

#[path = "common/mod.rs"]
mod common;

use std::io::Write;
use std::process::ExitCode;

use gramer_base::error::{Error, Result};
use gramer_gpu::primitives::{Filter, Mining, Workflow};

const USAGE: &str = "quasi_cliques DEVICE GRAPH --k K --density D [--memory SIZE] [--host-memory SIZE] \
                     [--spill FOLDER]";

/// Edges that a set of `k` vertices may lack.
fn may_lack(k: usize, density: f64) -> Result<usize> {
    if !(0.0..=1.0).contains(&density) {
        return Err(Error::usage(format!(
            "--density is 0 to 1, and not {density}\nusage: {USAGE}"
        )));
    }
    let pairs = k * k.saturating_sub(1) / 2;
    // A share such as 0.7 of 10 pairs is 7 edges, however it is rounded.
    let needed = (density * pairs as f64 - 1e-9).ceil().max(0.0) as usize;
    Ok(pairs - needed)
}

/// Writes the number of sets of `--k` vertices with a share `--density` of their pairs as edges.
pub fn run(words: &[String], out: &mut dyn Write) -> Result<()> {
    let arguments = common::Arguments::of(words, USAGE, &["k", "density"])?;
    let k = arguments.value("k")?.unwrap_or(4);
    let lacking = may_lack(k, arguments.value("density")?.unwrap_or(0.8))?;
    let dense = Filter::source(format!(
        "bool keep(const embedding *e, uint u) {{
             uint lacking = 0;
             for (uint i = 0; i < e->size; i++) {{
                 lacking += adjacent(e, e->vertex[i], u) ? 0 : 1;
                 for (uint j = 0; j < i; j++)
                     lacking += adjacent(e, e->vertex[i], e->vertex[j]) ? 0 : 1;
             }}
             return lacking <= {lacking}u;
         }}"
    ));
    let (gpu, graph) = (arguments.gpu()?, arguments.graph()?);
    let mining = Mining::new(&gpu, &graph)?;
    let sets = Workflow::new(k).extend(..).filter(Filter::canonical().and(dense));
    common::say(out, &sets.aggregate_counter(&mining)?.to_string())
}

fn main() -> ExitCode {
    common::ends(run)
}
