//! Edges in a file without a name, where memory is limited.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;

use super::{EdgeBlock, Pairs};
use gramer_base::budget::{nameless, not_read, not_written};
use gramer_base::error::{Error, Result};

/// Pairs that are read at a time.
const AT_ONCE: usize = 1 << 12;

/// The file. Threads write their blocks behind each other, in any order.
#[derive(Debug)]
pub(crate) struct Spill {
    file: File,
    folder: PathBuf,
    end: AtomicU64,
    /// The first failed read, since iterators over edges can't return errors.
    failed: Mutex<Option<io::Error>>,
}

/// Ends of edges in the file.
#[derive(Debug, Clone)]
pub(crate) struct EndFile {
    spill: Arc<Spill>,
    at: u64,
    len: usize,
    wide: bool,
}

impl Spill {
    /// A file in a folder.
    ///
    /// # Errors
    /// [`Error::Io`] where the system refuses.
    pub fn create(folder: &Path) -> Result<Arc<Self>> {
        let file = nameless(folder)?;
        let (folder, end, failed) = (folder.to_path_buf(), AtomicU64::new(0), Mutex::new(None));
        Ok(Arc::new(Spill { file, folder, end, failed }))
    }

    /// Moves the ends of a block's edges into the file.
    ///
    /// # Errors
    /// [`Error::Io`] where the system refuses: the disk is full, for one. [`Error::Unsupported`] for edges
    /// with labels.
    pub fn take(self: &Arc<Self>, block: &mut EdgeBlock) -> Result<()> {
        if !block.labels.is_empty() {
            let what = "memory is limited, and labels of edges would be held in it as a whole: leave the limit out";
            return Err(Error::Unsupported(what.into()));
        }
        block.largest();
        let (bytes, wide): (&[u8], _) = match &block.pairs {
            Pairs::Narrow(pairs) => (bytemuck::cast_slice(pairs), false),
            Pairs::Wide(pairs) => (bytemuck::cast_slice(pairs), true),
            Pairs::Spilled(_) => return Ok(()),
        };
        let at = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(bytes, at).map_err(not_written(&self.folder))?;
        let len = block.len();
        block.pairs = Pairs::Spilled(EndFile { spill: self.clone(), at, len, wide });
        Ok(())
    }

    /// True if all reads so far succeeded.
    ///
    /// # Errors
    /// [`Error::Io`] if not.
    pub fn check(&self) -> Result<()> {
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            None => Ok(()),
            Some(error) => Err(not_read(&self.folder)(error)),
        }
    }
}

impl EndFile {
    /// Number of edges.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns their spill file.
    pub fn spill(&self) -> &Spill {
        &self.spill
    }

    /// Calls `f` with the ends of each edge, as far as they can be read: [`Spill::check`] says whether that
    /// was to the end.
    pub fn for_each(&self, f: &mut impl FnMut(u64, u64)) {
        let read = match self.wide {
            false => self.read(|[u, v]: [u32; 2]| f(u.into(), v.into())),
            true => self.read(|[u, v]: [u64; 2]| f(u, v)),
        };
        if let Err(error) = read {
            *self.spill.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }

    fn read<P: Pod>(&self, mut f: impl FnMut(P)) -> io::Result<()> {
        let mut room = vec![P::zeroed(); AT_ONCE.min(self.len)];
        let mut at = self.at;
        for from in (0..self.len).step_by(AT_ONCE) {
            let part = &mut room[..AT_ONCE.min(self.len - from)];
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(part);
            self.spill.file.read_exact_at(bytes, at)?;
            at += bytes.len() as u64;
            part.iter().copied().for_each(&mut f);
        }
        Ok(())
    }
}
