//! `gramer mine motif`.

use super::Common;
use super::per::PerArgs;
use crate::choice::choice;
use crate::usage::whole;
use gramer_graph::error::Result;
use gramer_pattern::task::{Induced, Task};

/// What `-k` takes.
const SIZES: &str = "a whole number from 3 to 8, for example -k 4";

/// Options of the task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine motif -k 4 graph.txt\n  \
    gramer mine motif -k 5 --induced edge graph.gramer --output json\n  \
    gramer mine motif -k 4 --per vertex graph.txt --list graphlet-degrees.tsv")]
pub struct Args {
    /// Vertices of a pattern, 3 to 8; the CPU engine goes to 6
    #[arg(short = 'k', alias = "k", value_name = "K", value_parser = whole::<usize>(SIZES))]
    k: usize,

    /// Occurrences: with all edges among their vertices (vertex), or some (edge)
    #[arg(long, value_parser = choice::<Induced>(), default_value = "vertex")]
    induced: Induced,

    #[command(flatten)]
    pub per: PerArgs,

    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// What is asked.
    pub fn task(&self) -> Result<Task> {
        Ok(Task::Motif { k: self.k, induced: self.induced })
    }
}
