//! This host's processor.

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Args};

use gramer_engine::Engine;
use gramer_engine::cpu::Cpu;
use gramer_graph::Budget;
use gramer_graph::error::{Error, Place, Result};

use super::Kind;
use crate::limit::LimitArgs;

/// The processor among the devices.
pub const KIND: Kind = Kind {
    shown: &["cpu"],
    example: "cpu",
    what: "this host's processor",
    named: |device| device == "cpu",
    options: |command| LimitArgs::augment_args(command.next_help_heading("CPU")),
    check: |_, _, _| Ok(()), // what goes with what, `budget` says
    kit: |_, _| Ok(Box::new(|ask| Cpu.choose(ask))),
    open: |_, _, _, _| Ok(Box::new(Cpu)),
};

/// What the processor may take, if that is limited.
///
/// # Errors
/// As [`budget_of`].
pub fn budget(matches: &ArgMatches) -> Result<Option<Budget>> {
    let bytes = matches.try_get_one::<u64>("memory").ok().flatten().copied();
    let folder = matches.try_get_one::<PathBuf>("spill").ok().flatten();
    budget_of(bytes, folder.map(PathBuf::as_path))
}

/// The budget of `--memory` and `--spill`.
///
/// # Errors
/// [`Error::Usage`] for a folder without a limit, and one that isn't there.
pub fn budget_of(bytes: Option<u64>, folder: Option<&Path>) -> Result<Option<Budget>> {
    check_spill(folder)?;
    match (bytes, folder) {
        (None, None) => Ok(None),
        (None, Some(_)) => {
            Err(Error::usage("--spill goes with --memory: without it nothing leaves the memory"))
        }
        (Some(bytes), folder) => {
            let folder = folder.map_or_else(std::env::temp_dir, Path::to_path_buf);
            Ok(Some(Budget { bytes, folder }))
        }
    }
}

/// Refuses a folder for temporary files that isn't there.
///
/// # Errors
/// [`Error::Usage`].
pub fn check_spill(folder: Option<&Path>) -> Result<()> {
    match folder {
        Some(folder) if !folder.is_dir() => Err(Error::usage(format!(
            "--spill {}: there is no such folder; make it, or name another",
            Place::file(folder)
        ))),
        _ => Ok(()),
    }
}
