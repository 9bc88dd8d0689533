//! `gramer mine match`.

use crate::choice::choice;
use std::path::PathBuf;

use super::Common;
use gramer_graph::context::Cancel;
use gramer_graph::error::Result;
use gramer_pattern::read_pattern;
use gramer_pattern::task::{Induced, Task};

/// Options of the task.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    gramer mine match --pattern house graph.txt\n  \
    gramer mine match --pattern query.graph data.graph --mappings\n  \
    gramer mine match --pattern query.graph data.graph --list found.tsv --limit 1000")]
pub struct Args {
    /// Pattern: a name such as triangle or 5-path (`gramer plan --names`), or a file
    ///
    /// A pattern has 1 to 32 vertices. Its file holds t/v/e lines, edges, YAML or JSON; `*` is any label.
    #[arg(long, short = 'p', value_name = "PATTERN")]
    pub pattern: PathBuf,

    /// Occurrences: with the pattern's edges alone (vertex), or possibly more (edge)
    #[arg(long, value_parser = choice::<Induced>(), default_value = "edge")]
    induced: Induced,

    /// All mappings of the pattern's vertices rather than each occurrence once
    #[arg(long)]
    mappings: bool,

    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// What is asked.
    pub fn task(&self, cancel: &Cancel) -> Result<Task> {
        let pattern = read_pattern(&self.pattern, cancel)?;
        Ok(Task::Match { pattern, induced: self.induced, mappings: self.mappings })
    }
}
