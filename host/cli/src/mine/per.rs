//! Counts per vertex and per edge: `--per`, `--top`, `--histogram`.

use crate::choice::choice;
use gramer_engine::per::Per;

/// Options of tasks that have such counts.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Per vertex or edge")]
pub struct PerArgs {
    /// Say how many occurrences each vertex or edge is in (CPU engine); for motifs of 3 and 4
    /// vertices by orbit, numbered as ORCA does. `--list` then writes all numbers
    #[arg(long, value_name = "WHAT", value_parser = choice::<Per>())]
    pub per: Option<Per>,

    /// Show the N vertices or edges with the largest numbers, by column
    #[arg(long, value_name = "N", requires = "per", default_value_t = 5)]
    pub top: usize,

    /// Show how many vertices or edges have 0, 1, 2 to 3, 4 to 7 … occurrences
    #[arg(long, requires = "per")]
    pub histogram: bool,
}
