//! `gramer mine clique`.

use super::filter::FilterArgs;
use super::per::PerArgs;
use super::{Common, Options};
use crate::usage::whole;
use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_pattern::Filter;
use gramer_pattern::task::Task;

/// Accepted values of `-k`.
const SIZES: &str = "a whole number from 3 to 16, for example -k 4";
/// Accepted values of `--up-to`.
const UP_TO: &str = "a whole number, at least that of -k, for example --up-to 12";

/// Options of the task.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("size").required(true))]
#[command(after_help = "Examples:\n  \
    gramer mine clique -k 3 --up-to 12 graph.txt\n  \
    gramer mine clique --maximal graph.txt --list cliques.jsonl")]
pub struct Args {
    /// Vertices of a clique, 3 to 16
    #[arg(short = 'k', alias = "k", value_name = "K", group = "size", value_parser = whole::<usize>(SIZES))]
    k: Option<usize>,

    /// Count all sizes from K to SIZE
    ///
    /// One search counts them. SIZE may be any number from K on.
    #[arg(long, value_name = "SIZE", requires = "k", conflicts_with = "filter", value_parser = whole::<usize>(UP_TO))]
    up_to: Option<usize>,

    /// Find one of the largest cliques instead
    #[arg(long, group = "size", conflicts_with = "filter")]
    maximum: bool,

    /// Count all maximal cliques by size instead
    #[arg(long, group = "size", conflicts_with = "filter")]
    maximal: bool,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    pub per: PerArgs,

    #[command(flatten)]
    pub common: Common,
}

impl Options for Args {
    fn task(&self, _: &Cancel) -> Result<Task> {
        Ok(match (self.k, self.up_to) {
            (Some(smallest), Some(largest)) => Task::CliqueSizes { smallest, largest },
            (Some(k), None) => Task::Clique { k },
            (None, _) if self.maximum => Task::MaximumClique,
            (None, _) => Task::MaximalCliques,
        })
    }

    fn filter(&self) -> Option<&Filter> {
        self.filter.filter.as_ref()
    }

    fn per(&self) -> Option<&PerArgs> {
        Some(&self.per)
    }
}
