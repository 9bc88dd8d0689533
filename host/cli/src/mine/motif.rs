//! `gramer mine motif`.

use super::filter::FilterArgs;
use super::fsm::support;
use super::per::{HEADING, PerArgs};
use super::{Common, Options};
use crate::choice::choice;
use crate::usage::whole;
use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_pattern::Filter;
use gramer_pattern::task::{Induced, Task};

/// Accepted values of `-k`.
const SIZES: &str = "a whole number from 3 to 8, for example -k 4";

/// Options of the task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine motif -k 4 graph.txt\n  \
    gramer mine motif -k 4 --per vertex graph.txt --list graphlet-degrees.tsv")]
pub struct Args {
    /// Vertices of a pattern, 3 to 8; the CPU engine goes to 6
    #[arg(short = 'k', alias = "k", value_name = "K", value_parser = whole::<usize>(SIZES))]
    k: usize,

    /// Occurrences: vertex- or edge-induced
    ///
    /// vertex: with all edges among their vertices; edge: with some of these edges.
    #[arg(long, value_parser = choice::<Induced>(), default_value = "vertex")]
    #[arg(hide_possible_values = true)]
    induced: Induced,

    #[command(flatten)]
    filter: FilterArgs,

    /// Grow and report only motifs with at least SUPPORT embeddings
    ///
    /// Algorithm 1 counts the motifs of 2, 3, … and K vertices; embeddings of motifs below the support are not extended.
    /// Counts of larger motifs then depend on the order of the search. Devices: reference, and the paper's core.
    #[arg(long, value_name = "SUPPORT", value_parser = support, help_heading = HEADING, hide_short_help = true)]
    #[arg(conflicts_with_all = ["per", "estimate", "checkpoint", "distribute"])]
    support: Option<u64>,

    #[command(flatten)]
    pub per: PerArgs,

    #[command(flatten)]
    pub common: Common,
}

impl Options for Args {
    fn task(&self, _: &Cancel) -> Result<Task> {
        Ok(Task::Motif { k: self.k, induced: self.induced })
    }

    fn filter(&self) -> Option<&Filter> {
        self.filter.filter.as_ref()
    }

    fn support(&self) -> Option<u64> {
        self.support
    }

    fn per(&self) -> Option<&PerArgs> {
        Some(&self.per)
    }
}
