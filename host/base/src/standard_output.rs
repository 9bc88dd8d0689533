//! Standard output without the lines that libraries print.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// File for the lines that libraries print; without it they go to standard error.
pub const LOG: &str = "GRAMER_RUNTIME_LOG";

static KEPT: OnceLock<File> = OnceLock::new();
/// Set if there was none when the process began.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Records that the process began without standard output; the file that Rust opened in its place discards
/// everything.
pub fn was_closed() {
    CLOSED.store(true, Ordering::Relaxed);
}

/// Output that rejects all writes, like a file that isn't open.
struct ClosedOutput;

impl Write for ClosedOutput {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(rustix::io::Errno::BADF.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// From here on only [`writer`] reaches standard output; what libraries print there goes to the
/// file that `GRAMER_RUNTIME_LOG` names, else to standard error.
///
/// # Errors
/// [`Error::Io`] if the system refuses.
pub fn keep_for_results() -> Result<()> {
    if KEPT.get().is_some() {
        return Ok(());
    }
    let failed = |e| Error::io("<stdout>", "redirect", e);
    let kept = io::stdout().as_fd().try_clone_to_owned().map_err(failed)?;
    match std::env::var_os(LOG) {
        Some(path) => {
            let log = OpenOptions::new().create(true).append(true).open(&path);
            let log = log.map_err(|e| Error::io(&path, "create", e))?;
            rustix::stdio::dup2_stdout(&log).map_err(|e| failed(e.into()))?;
        }
        None => rustix::stdio::dup2_stdout(io::stderr()).map_err(|e| failed(e.into()))?,
    }
    let _ = KEPT.set(File::from(kept));
    Ok(())
}

/// Standard output for results.
pub fn writer() -> Box<dyn Write + Send> {
    if CLOSED.load(Ordering::Relaxed) {
        return Box::new(ClosedOutput);
    }
    match KEPT.get().and_then(|kept| kept.try_clone().ok()) {
        Some(kept) => Box::new(kept),
        None => Box::new(io::stdout()),
    }
}
