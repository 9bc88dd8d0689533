//! Runs that go on where one before was stopped: `--checkpoint`, `--resume`.

use std::path::PathBuf;
use std::time::Duration;

use gramer_base::error::{Error, Result};
use gramer_crew::checkpoint::CheckpointSettings;

use super::{Common, time_limit};

/// Options of every task that counts.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Run")]
pub struct KeptArgs {
    /// Keep finished work in FILE: the same command continues a run that was stopped or killed
    ///
    /// The file is removed once the answer is written.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["list", "estimate", "limit"])]
    #[arg(hide_short_help = true)]
    pub checkpoint: Option<PathBuf>,

    /// Continue from the file of --checkpoint, which must exist
    #[arg(long, requires = "checkpoint")]
    #[arg(hide_short_help = true)]
    pub resume: bool,

    /// Time between two writes of the checkpoint, in seconds or with s, m or h behind it
    #[arg(long, value_name = "TIME", value_parser = time_limit, default_value = "10s")]
    #[arg(requires = "checkpoint")]
    #[arg(hide_short_help = true)]
    pub checkpoint_interval: Duration,
}

impl Common {
    /// Checkpoint settings of the run, if any.
    pub(super) fn keeping(&self, per: bool) -> Result<Option<CheckpointSettings>> {
        let Some(file) = &self.kept.checkpoint else { return Ok(None) };
        if per {
            return Err(Error::usage(
                "--checkpoint keeps counts of the whole graph: leave --per or --checkpoint out",
            ));
        }
        Ok(Some(CheckpointSettings {
            file: file.clone(),
            resume: self.kept.resume,
            interval: self.kept.checkpoint_interval,
        }))
    }
}
