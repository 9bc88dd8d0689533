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
    /// Pattern of 1 to 32 vertices: a name such as triangle, 5-path, house (`gramer plan --names` lists them),
    /// or a file (t/v/e lines, edges, YAML or JSON; `*` is any label)
    #[arg(long, short = 'p', value_name = "PATTERN")]
    pub pattern: PathBuf,

    /// Whether an occurrence has no edges but the pattern's (vertex), or may have more (edge)
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
