//! This host's processor.

use std::path::Path;

use gramer_base::Budget;
use gramer_base::error::{Error, Place, Result};
use gramer_cpu::Cpu;
use gramer_engine::Engine;

use super::Kind;

/// The processor among the devices.
pub const KIND: Kind = Kind {
    shown: &["cpu"],
    example: "cpu",
    what: "this host's processor",
    named: |device| device == "cpu",
    options: &["memory", "spill"],
    settings: Vec::new,
    check: |_, _, _| Ok(()), // `budget_of` checks combinations
    kit: |_, _| Ok(Box::new(|ask| Cpu.choose(ask))),
    open: |_, _, _, _| Ok(Box::new(Cpu)),
};

/// The budget of `--memory` and `--spill`.
///
/// # Errors
/// [`Error::Usage`] for a folder without a limit, and one that isn't there.
pub fn budget_of(bytes: Option<u64>, folder: Option<&Path>) -> Result<Option<Budget>> {
    check_spill(folder)?;
    match (bytes, folder) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Error::usage(
            "--spill needs --memory: without a limit nothing is written to the folder",
        )),
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
