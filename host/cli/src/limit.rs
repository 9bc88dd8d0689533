//! `--threads`, `--memory` and `--spill` of the host.

use std::path::PathBuf;
use std::sync::Arc;

use gramer_base::budget::Keeper;
use gramer_base::context::Context;
use gramer_base::error::Result;

use super::device::cpu::budget_of;
use super::device::size;
use crate::usage::threads;

/// How many threads work.
#[derive(Debug, clap::Args)]
pub(super) struct Threads {
    /// Threads that read and write; 0 or auto is one for each core [default: auto]
    #[arg(long, short, value_name = "N", value_parser = threads)]
    pub(super) threads: Option<u16>,
}

/// How much memory may be used.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct LimitArgs {
    /// Memory limit in bytes, or with K, M or G [default: none]. Edge lists, Matrix Market, Arabesque, BVGraph and
    /// images may be larger
    #[arg(long, value_name = "SIZE", value_parser = size)]
    #[arg(hide_short_help = true)]
    memory: Option<u64>,

    /// Folder for data beyond the memory limit, removed after the run [default: that for temporary files]
    #[arg(long, value_name = "FOLDER")]
    #[arg(hide_short_help = true)]
    spill: Option<PathBuf>,
}

impl LimitArgs {
    /// Whether memory is limited.
    pub(super) fn is_given(&self) -> bool {
        self.memory.is_some()
    }

    /// Keeps the run to the limit, if there is one, as long as the result lives.
    ///
    /// # Errors
    /// [`Error::Usage`](gramer_base::Error) for a folder without a limit, and one that isn't there.
    pub(super) fn keep(&self, context: &mut Context) -> Result<Option<Keeper>> {
        let Some(budget) = budget_of(self.memory, self.spill.as_deref())? else { return Ok(None) };
        let keeper = budget.keep(&context.cancel);
        context.budget = Some(Arc::new(budget));
        Ok(Some(keeper))
    }
}
