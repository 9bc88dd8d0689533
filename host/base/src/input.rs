//! Reading what others wrote: inputs that may never come, and files that may be of any size.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::context::Cancel;
use crate::error::{Error, Place, Result};

/// How often a reader that waits looks at the stop flag.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The largest pattern or job that is read: a thousand times what any needs.
pub const MAX_SMALL_FILE: u64 = 1 << 20;

/// The path that means standard input.
pub const STDIN: &str = "-";

/// The second file of an input that consists of two: `NAME.properties` of the graph `NAME.graph`. It need not exist.
pub fn second_file(path: &Path) -> Option<PathBuf> {
    let named = path.extension().is_some_and(|extension| extension == "graph");
    named.then(|| path.with_extension("properties"))
}

/// Opens a file to be read with an [`InterruptibleReader`]. A named pipe is opened at once, whether or
/// not anybody writes to it.
///
/// # Errors
/// Those of the system.
pub fn open(path: &Path) -> io::Result<File> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    OpenOptions::new().read(true).custom_flags(nonblocking).open(path)
}

/// A reader of a pipe, terminal or device that returns soon after a cancellation, even if no data arrive.
pub struct InterruptibleReader<F> {
    file: F,
    cancel: Cancel,
}

impl<F: AsFd> InterruptibleReader<F> {
    /// Reads from `file` until `cancel` is raised.
    pub fn new(file: F, cancel: Cancel) -> Self {
        InterruptibleReader { file, cancel }
    }
}

impl<F: AsFd> Read for InterruptibleReader<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.cancel.is_cancelled() {
                // The kind `Interrupted` would be tried again.
                return Err(io::Error::other("interrupted"));
            }
            let file: BorrowedFd<'_> = self.file.as_fd();
            match poll(&mut [PollFd::from_borrowed_fd(file, PollFlags::IN)], Some(&LOOK)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(e) => return Err(e.into()),
            }
            match rustix::io::read(file, &mut *buffer) {
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                done => return Ok(done?),
            }
        }
    }
}

/// A small file as a whole; `what` names its kind in the message that refuses a larger one.
///
/// # Errors
/// [`Error::Io`] where the system refuses, [`Error::Input`] for a folder and for a file above
/// `limit` bytes, [`Error::Interrupted`] after Ctrl-C.
pub fn read_small(path: &Path, limit: u64, what: &str, cancel: &Cancel) -> Result<Vec<u8>> {
    let refused = |source| Error::io(path, "read", source);
    let file = open(path).map_err(refused)?;
    if file.metadata().map_err(refused)?.is_dir() {
        return Err(Error::input(Place::file(path), format!("is a folder, not a {what}")));
    }
    let mut bytes = Vec::new();
    let read =
        InterruptibleReader::new(file, cancel.clone()).take(limit + 1).read_to_end(&mut bytes);
    cancel.check()?;
    read.map_err(refused)?;
    if bytes.len() as u64 > limit {
        let what = format!("is larger than {limit} bytes, which no {what} is");
        return Err(Error::input(Place::file(path), what));
    }
    Ok(bytes)
}

/// The largest YAML text, and how deep its lists may be nested: a reader of YAML takes time that
/// grows with the square of the depth.
const MAX_YAML: usize = 64 << 10;
const MAX_DEPTH: usize = 64;

/// Refuses YAML that would take long to read: too large, or nested too deeply. Returns the line,
/// from 1, and what is wrong.
pub fn check_yaml(text: &str) -> Result<(), (Option<u64>, String)> {
    if text.len() > MAX_YAML {
        return Err((
            None,
            format!("the text has {} bytes, but at most {MAX_YAML} of YAML are read", text.len()),
        ));
    }
    let mut depth = 0usize;
    for (number, line) in (1..).zip(text.lines()) {
        // Brackets in quotes count as well: no real text comes near the limit.
        for byte in line.bytes() {
            match byte {
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > MAX_DEPTH {
                return Err((Some(number), format!("lists are nested more than {MAX_DEPTH} deep")));
            }
        }
        // Lists in lists in one line: `- - -`, `? ? ?`.
        let marks = line.split_whitespace().take_while(|w| matches!(*w, "-" | "?" | ":")).count();
        if marks > MAX_DEPTH {
            return Err((Some(number), format!("lists are nested more than {MAX_DEPTH} deep")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_waits_ends_when_asked_to() {
        let (reading, _writing) = rustix::pipe::pipe().unwrap();
        let cancel = Cancel::default();
        let mut reader = InterruptibleReader::new(reading, cancel.clone());
        let waiting = std::thread::spawn(move || reader.read(&mut [0; 8]));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!waiting.is_finished());
        cancel.cancel();
        assert_eq!(waiting.join().unwrap().unwrap_err().to_string(), "interrupted");
    }

    #[test]
    fn large_files_and_devices_without_end_are_refused() {
        let read = |path: &str| read_small(Path::new(path), 1000, "pattern", &Cancel::default());
        let message = read("/dev/zero").unwrap_err().to_string();
        assert_eq!(message, "/dev/zero: is larger than 1000 bytes, which no pattern is");
        assert!(read("/").unwrap_err().to_string().contains("is a folder"));
        assert_eq!(read("/dev/null").unwrap(), b"");
    }

    #[test]
    fn deep_yaml_is_refused_before_it_is_read() {
        let line = |text: &str| check_yaml(text).unwrap_err().0;
        assert_eq!(line(&format!("a: 1\n{}", "[".repeat(65))), Some(2));
        assert_eq!(line(&"{a: ".repeat(10_000)), Some(1));
        assert_eq!(line(&"- ".repeat(100)), Some(1));
        assert_eq!(line(&"a".repeat(MAX_YAML + 1)), None);
        assert!(check_yaml(&"[1], {a: [2, [3]]}\n- - 1\n".repeat(100)).is_ok());
    }
}
