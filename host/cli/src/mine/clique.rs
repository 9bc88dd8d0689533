//! `gramer mine clique`.

use super::Common;
use super::per::PerArgs;
use gramer_graph::error::Result;
use gramer_pattern::task::Task;

/// Options of the task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine clique -k 5 graph.txt\n  \
    gramer mine clique -k 3 --up-to 12 graph.txt\n  \
    gramer mine clique --maximal graph.txt --list cliques.jsonl\n  \
    gramer mine clique --maximum graph.txt\n  \
    gramer mine clique -k 4 --per edge --top 20 graph.txt")]
pub struct Args {
    /// Vertices of a clique, 3 to 16
    #[arg(short = 'k', long = "k", value_name = "K", required_unless_present_any = ["maximal", "maximum"])]
    k: Option<usize>,

    /// All sizes from K to this one, counted by one search; there is no upper bound
    #[arg(long, value_name = "SIZE", requires = "k")]
    up_to: Option<usize>,

    /// One of the largest cliques instead
    #[arg(long, conflicts_with_all = ["k", "maximal"])]
    maximum: bool,

    /// All maximal cliques instead, counted by size
    #[arg(long, conflicts_with = "k")]
    maximal: bool,

    #[command(flatten)]
    pub per: PerArgs,

    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// What is asked.
    pub fn task(&self) -> Result<Task> {
        Ok(match (self.k, self.up_to) {
            (Some(smallest), Some(largest)) => Task::CliqueSizes { smallest, largest },
            (Some(k), None) => Task::Clique { k },
            (None, _) if self.maximum => Task::MaximumClique,
            (None, _) => Task::MaximalCliques,
        })
    }
}
