//! Detection of changes of a file while it is read.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use gramer_base::error::{Error, Place, Result};

/// Size and modification time of a regular file when it was opened.
pub(super) struct FileSnapshot {
    path: PathBuf,
    file: File,
    size: u64,
    modified: SystemTime,
}

impl FileSnapshot {
    /// Begins to watch a file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn new(path: PathBuf, file: &File) -> io::Result<Self> {
        let file = file.try_clone()?;
        let now = file.metadata()?;
        Ok(FileSnapshot { path, file, size: now.len(), modified: now.modified()? })
    }

    /// Returns what was read if the file is unchanged; a change explains a fault in the text.
    ///
    /// # Errors
    /// [`Error::Input`] if the file has another size or time than when it was opened; that of `read`.
    pub fn unchanged<T>(&self, read: Result<T>) -> Result<T> {
        if matches!(read, Err(Error::Interrupted)) {
            return read;
        }
        let refused = |source| Error::io(&self.path, "read", source);
        let now = self.file.metadata().map_err(refused)?;
        let what = if now.len() != self.size {
            format!("of {} bytes, then of {}", self.size, now.len())
        } else if now.modified().map_err(refused)? != self.modified {
            "written to meanwhile".to_string()
        } else {
            return read;
        };
        let what = format!(
            "the file changed while it was read ({what}): read it again when nothing writes to it"
        );
        Err(Error::input(Place::file(&self.path), what))
    }
}
