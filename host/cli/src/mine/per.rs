//! Counts per vertex and per edge: `--per`, `--top`, `--histogram`.

use crate::choice::choice;
use gramer_engine::per::Per;

/// Heading of these options. It is set per option, since a heading of the group would include the options after it.
pub const HEADING: &str = "Counts";

/// Options of tasks that have such counts.
#[derive(Debug, Clone, clap::Args)]
pub struct PerArgs {
    /// Count per vertex, per edge or per graph
    ///
    /// The number of cliques, or of motifs of 3 and 4 vertices by orbit (ORCA's numbers), that contain the vertex or
    /// edge; core numbers and layers of vertices; truss numbers of edges. CPU engine only. `graph` counts cliques, motifs
    /// or matches in each graph of a file of several; matches have no other numbers. `--list` writes all numbers.
    #[arg(long, value_name = "WHAT", value_parser = choice::<Per>(), help_heading = HEADING)]
    #[arg(hide_possible_values = true)]
    pub per: Option<Per>,

    /// Show the N vertices, edges or graphs with the largest numbers, by column
    #[arg(long, value_name = "N", requires = "per", default_value_t = 5)]
    #[arg(help_heading = HEADING)]
    #[arg(hide_short_help = true)]
    pub top: usize,

    /// Number of vertices or edges with 0, 1, 2 to 3, 4 to 7 … occurrences
    #[arg(long, requires = "per", help_heading = HEADING)]
    #[arg(hide_short_help = true)]
    pub histogram: bool,
}
