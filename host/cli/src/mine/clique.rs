//! `gramer mine clique`.

use super::Common;
use gramer_graph::error::Result;
use gramer_pattern::task::Task;

/// Options of the task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine clique -k 5 graph.txt\n  \
    gramer mine clique --maximal graph.txt --list cliques.jsonl")]
pub struct Args {
    /// Vertices of a clique, 3 to 16
    #[arg(short = 'k', long = "k", value_name = "K", required_unless_present = "maximal")]
    k: Option<usize>,

    /// All maximal cliques instead, counted by size
    #[arg(long, conflicts_with = "k")]
    maximal: bool,

    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// What is asked.
    pub fn task(&self) -> Result<Task> {
        Ok(match self.k {
            Some(k) => Task::Clique { k },
            None => Task::MaximalCliques,
        })
    }
}
