//! Where a graph came from, as long as that matters.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Graph;
use gramer_base::error::{Error, Place, Result};
use gramer_base::mapping::Mapping;
use gramer_base::panics::Hold;

/// Image that a graph was loaded from.
#[derive(Debug, Clone)]
pub struct Origin {
    path: PathBuf,
    /// The file, where the graph's arrays lie in it.
    mapping: Option<Arc<Mapping>>,
    /// Whether its data were checked.
    checked: bool,
}

impl Origin {
    pub fn new(path: &Path, mapping: Option<Arc<Mapping>>, checked: bool) -> Self {
        Origin { path: path.to_path_buf(), mapping, checked }
    }
}

impl Graph {
    pub(super) fn with_origin(mut self, origin: Option<Origin>) -> Self {
        self.origin = origin;
        self
    }

    /// Origin of a graph derived from `other` with new arrays: unchecked parts remain
    /// unchecked.
    pub fn made_of(self, other: &Graph) -> Self {
        let unchecked = other.origin.as_ref().filter(|origin| !origin.checked);
        let origin = unchecked.map(|origin| Origin { mapping: None, ..origin.clone() });
        self.with_origin(origin)
    }

    /// Whether the image that the graph's arrays lie in still is what was opened. What is found in a graph
    /// is kept on disk only after this, since it could not be recognised as invalid later.
    ///
    /// # Errors
    /// [`Error::Input`] if the file was changed since, [`Error::Io`] if its state cannot be read.
    pub fn check_unchanged(&self) -> Result<()> {
        let mapping = self.origin.as_ref().and_then(|origin| origin.mapping.as_ref());
        mapping.map_or(Ok(()), |mapping| mapping.check_unchanged())
    }

    /// Runs `work`, which uses this graph. Where the graph lies in an image that was changed
    /// meanwhile, or whose data were not checked, what goes wrong is the fault of that file.
    ///
    /// # Errors
    /// [`Error::Input`] if the image was changed since it was opened, and in place of a panic if
    /// its data were never checked; else those of `work`.
    pub fn guarded<R>(&self, work: impl FnOnce() -> Result<R>) -> Result<R> {
        let Some(origin) = &self.origin else { return work() };
        let hold = Hold::begin();
        let done = catch_unwind(AssertUnwindSafe(work));
        self.check_unchanged()?;
        match done {
            Ok(done) => done,
            Err(_) if !origin.checked => {
                let what = "the image is damaged: its data are not a graph. They were not checked; \
                     the setting `verify` reports what is wrong";
                Err(Error::input(Place::file(&origin.path), what))
            }
            Err(panic) => {
                hold.release();
                resume_unwind(panic)
            }
        }
    }
}
