//! Outputs that are pipes and devices.

use std::fs::{File, OpenOptions, metadata};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::context::Cancel;
use crate::error::{Error, Result};

/// How often an output that waits for a reader looks for one, and at the flag.
const LOOK: Duration = Duration::from_millis(20);

/// How long a pipe that is full is waited for once the flag is raised.
const PATIENCE: Duration = Duration::from_secs(1);

/// The flag of the process, which its signals raise.
static STOP: OnceLock<Cancel> = OnceLock::new();

/// Has outputs that wait for a reader end soon after this flag is raised; the first flag of a process counts.
pub fn wait_until(cancel: &Cancel) {
    let _ = STOP.set(cancel.clone());
}

/// Opens a pipe or a device. A named pipe is waited for until somebody reads it, and while it is full.
///
/// # Errors
/// [`Error::Io`] where the system refuses, [`Error::Interrupted`] once the flag of [`wait_until`] is raised. Writes then fail
/// with what [`Error::io`] makes [`Error::Interrupted`], if nobody has read the pipe for a second.
pub(super) fn open(path: &Path) -> Result<Box<dyn Write + Send>> {
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
                if is_pipe {
                    return Ok(Box::new(Pipe(file)));
                }
                let flags = fcntl_getfl(&file).map_err(|e| failed(e.into()))?;
                fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(|e| failed(e.into()))?;
                return Ok(Box::new(file));
            }
        }
    }
}

/// A named pipe, whose writes don't block.
struct Pipe(File);

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let look = Timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as i64 };
        let mut raised: Option<Instant> = None;
        loop {
            match self.0.write(bytes) {
                Err(full) if full.kind() == io::ErrorKind::WouldBlock => {}
                written => return written,
            }
            if STOP.get().is_some_and(Cancel::is_cancelled)
                && raised.get_or_insert_with(Instant::now).elapsed() > PATIENCE
            {
                return Err(io::Error::other(Error::Interrupted));
            }
            // A signal ends it early.
            let _ = poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], Some(&look));
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
