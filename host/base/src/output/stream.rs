//! Outputs that are pipes and devices.

use std::fs::{File, OpenOptions, metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::context::Cancel;
use crate::error::{Error, Result};

/// How often an output that waits for a reader looks for one, and at the flag.
const LOOK: Duration = Duration::from_millis(20);

/// The flag of the process, which its signals raise.
static STOP: OnceLock<Cancel> = OnceLock::new();

/// Has outputs that wait for a reader end once this flag is raised; the first flag of a process counts.
pub fn wait_until(cancel: &Cancel) {
    let _ = STOP.set(cancel.clone());
}

/// Opens a pipe or a device. A named pipe is waited for until somebody reads it.
///
/// # Errors
/// [`Error::Io`] where the system refuses, [`Error::Interrupted`] once the flag of [`wait_until`] is raised.
pub(super) fn open(path: &Path) -> Result<File> {
    let failed = |source: io::Error| Error::io(path, "create", source);
    let is_pipe = metadata(path).map_err(failed)?.file_type().is_fifo();
    let flags = OFlags::NONBLOCK.bits() as i32;
    loop {
        // With this flag a pipe that nobody reads is refused, and not waited for.
        let opened = OpenOptions::new().write(true).custom_flags(flags).open(path);
        match opened {
            Err(e) if is_pipe && e.raw_os_error() == Some(libc::ENXIO) => {
                STOP.get().map_or(Ok(()), Cancel::check)?;
                sleep(LOOK);
            }
            opened => {
                let file = opened.map_err(failed)?;
                let flags = fcntl_getfl(&file).map_err(|e| failed(e.into()))?;
                fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(|e| failed(e.into()))?;
                return Ok(file);
            }
        }
    }
}
