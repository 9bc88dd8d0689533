//! Runs that take no more memory than they are told: what has no room lies in files that are mapped, and
//! their pages are let go in time.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bytemuck::Pod;

use crate::context::Cancel;
use crate::error::{Error, Result};
use crate::mapping::Mapping;
use crate::storage::Storage;

/// How much memory a run may take, and where what has no room goes.
///
/// Arrays that grow with the edges then lie in files without a name in `folder`, which are mapped and
/// vanish with the run. Arrays that grow with the vertices stay in memory. [`Budget::keep`] lets go of
/// mapped pages in time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of memory.
    pub bytes: u64,
    /// The folder for files.
    pub folder: PathBuf,
}

impl Budget {
    /// Lets go of the pages of all mapped files whenever the process has 3/4 of the budget resident, as long
    /// as the result lives; one run of a process at a time has a budget. The pages stay in the system's cache
    /// of files while that has room, so that most come back without being read again.
    ///
    /// Whoever looks at `cancel` looks at the memory too: a run touches no more between two looks than the
    /// rest of the budget. A thread of its own looks as well, for where nobody does. Does nothing where the
    /// system doesn't say how much is resident.
    pub fn keep(&self, cancel: &Cancel) -> Keeper {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        *watched = File::open("/proc/self/statm").ok().map(|statm| (statm, self.bytes));
        let watch = watched.as_ref().and_then(|_| {
            let work = move || {
                while !stopped.load(Ordering::Relaxed) {
                    let_go();
                    std::thread::sleep(PERIOD);
                }
            };
            std::thread::Builder::new().name("budget".into()).spawn(work).ok()
        });
        cancel.limit();
        Keeper { stop, watch }
    }
}

/// Keeps a process within its budget; see [`Budget::keep`].
#[derive(Debug)]
pub struct Keeper {
    stop: Arc<AtomicBool>,
    watch: Option<JoinHandle<()>>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(watch) = self.watch.take() {
            let _ = watch.join();
        }
        *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// How often a thread of its own looks at the resident memory.
const PERIOD: Duration = Duration::from_millis(1);
/// How often a thread that mines does: pages that are in the system's cache come at 10 GB/s at most.
const EACH: Duration = Duration::from_micros(100);

/// What says how much is resident, and the limit.
static WATCHED: Mutex<Option<(File, u64)>> = Mutex::new(None);

/// Looks after the budget, if there is one and it is time to: for work that looks at no stop flag for long, and
/// reads pages of files.
pub fn look() {
    thread_local! {
        static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
    }
    let now = Instant::now();
    if LAST.get().is_none_or(|last| now - last >= EACH) {
        LAST.set(Some(now));
        let_go();
    }
}

/// Lets go of what is mapped where too much is resident.
fn let_go() {
    // Whoever waits brings no pages meanwhile: on a busy machine the one who looks may be interrupted.
    let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((statm, limit)) = &*watched else { return };
    let Some([resident, mapped]) = resident(statm) else { return };
    // Where other memory is what takes the room, letting go again and again would help nobody.
    if resident > limit - limit / 4 && mapped > limit / 8 {
        let mut kept = MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|mapping| mapping.upgrade().is_some_and(|mapping| mapping.let_go()));
    }
}

/// Resident bytes of this process: all, and those of files.
fn resident(statm: &File) -> Option<[u64; 2]> {
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as u64;
    let mut text = [0; 128];
    let length = statm.read_at(&mut text, 0).ok()?;
    let mut numbers = std::str::from_utf8(&text[..length]).ok()?.split(' ').skip(1);
    let mut next = || Some(page * numbers.next()?.parse::<u64>().ok()?);
    Some([next()?, next()?])
}

/// What is mapped. Weak, so that none is unmapped while its pages are let go, and others may come to lie
/// there.
static MAPPINGS: Mutex<Vec<Weak<Mapping>>> = Mutex::new(vec![]);

/// Has the pages of a mapping let go by a [`Keeper`].
pub(crate) fn register(mapping: Mapping) -> Arc<Mapping> {
    let mapping = Arc::new(mapping);
    let mut kept = MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner);
    kept.retain(|other| other.strong_count() > 0);
    kept.push(Arc::downgrade(&mapping));
    mapping
}

/// Bytes that no graph changes: the program, stacks, what one piece of work needs.
pub const BASE: u64 = 24 << 20;

/// A file without a name in a folder: it vanishes with the run, however that ends.
///
/// # Errors
/// [`Error::Io`] where the system refuses.
pub(crate) fn nameless(folder: &Path) -> Result<File> {
    tempfile::tempfile_in(folder).map_err(|e| Error::io(folder, "create a temporary file there", e))
}

/// Why a file without a name in a folder can't be written: the disk is full, for one.
pub(crate) fn not_written(folder: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |source| Error::io(folder, "write a temporary file there", source)
}

/// Why it can't be read.
pub(crate) fn not_read(folder: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |source| Error::io(folder, "read back a temporary file there", source)
}

/// An array that is written to a file without a name, and then mapped.
///
/// ```
/// use gramer_graph::budget::ArrayFile;
///
/// let mut array = ArrayFile::create(&std::env::temp_dir())?;
/// array.append(&[1u32, 2])?;
/// array.append(&[3])?;
/// assert_eq!(array.finish()?[..], [1, 2, 3]);
/// # Ok::<(), gramer_graph::Error>(())
/// ```
#[derive(Debug)]
pub struct ArrayFile<T> {
    folder: PathBuf,
    out: BufWriter<File>,
    items: PhantomData<T>,
}

impl<T: Pod> ArrayFile<T> {
    /// Begins a file in a folder.
    ///
    /// # Errors
    /// [`Error::Io`] where the system refuses.
    pub fn create(folder: &Path) -> Result<Self> {
        let out = BufWriter::with_capacity(1 << 16, nameless(folder)?);
        Ok(ArrayFile { folder: folder.to_path_buf(), out, items: PhantomData })
    }

    /// Adds elements at the end.
    ///
    /// # Errors
    /// [`Error::Io`] where the system refuses: the disk is full, for one.
    pub fn append(&mut self, items: &[T]) -> Result<()> {
        let written = self.out.write_all(bytemuck::cast_slice(items));
        written.map_err(not_written(&self.folder))
    }

    /// The array.
    ///
    /// # Errors
    /// As [`ArrayFile::append`]; [`Error::Unsupported`] where too many files are mapped.
    pub fn finish(self) -> Result<Storage<T>> {
        let ArrayFile { folder, out, .. } = self;
        let refused = not_written(&folder);
        let file = out.into_inner().map_err(|e| refused(e.into_error()))?;
        if file.metadata().map_err(refused)?.len() == 0 {
            return Ok(vec![].into());
        }
        match Mapping::temporary(&folder, &file)? {
            Some(map) => {
                let all = 0..map.len();
                Ok(Storage::mapped(register(map), all))
            }
            None => Err(Error::Unsupported("too many files are mapped at a time".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_comes_back_and_leaves_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let items: Vec<u64> = (0..100_000).map(|i| i * i).collect();
        let mut array = ArrayFile::create(folder.path()).unwrap();
        items.chunks(777).for_each(|part| array.append(part).unwrap());
        let array = array.finish().unwrap();
        assert!(array[..] == items[..]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let none = ArrayFile::<u32>::create(folder.path()).unwrap().finish().unwrap();
        assert!(none.is_empty());
        let missing = ArrayFile::<u32>::create(&folder.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("create a temporary file there"), "{missing}");
    }

    /// Pages of other tests' files may come and go as well, so that much is read here.
    #[test]
    #[cfg(target_os = "linux")]
    fn pages_are_let_go() {
        const BYTES: u64 = 256 << 20;
        let folder = tempfile::tempdir().unwrap();
        let mut array = ArrayFile::<u64>::create(folder.path()).unwrap();
        let part: Vec<u64> = (0..1 << 17).collect();
        (0..BYTES >> 20).for_each(|_| array.append(&part).unwrap());
        let array = array.finish().unwrap();
        let statm = File::open("/proc/self/statm").unwrap();
        let sum = |array: &[u64]| array.iter().fold(0u64, |sum, &x| sum.wrapping_add(x));
        let expected = sum(&array);
        let of_files = || resident(&statm).unwrap()[1];
        assert!(of_files() >= BYTES, "nobody lets go without a keeper");
        let keeper = Budget { bytes: BYTES / 2, folder: folder.path().into() };
        let keeper = keeper.keep(&Cancel::default());
        let begun = std::time::Instant::now();
        while of_files() >= BYTES / 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "{} are resident", of_files());
            std::thread::sleep(PERIOD);
        }
        assert_eq!(sum(&array), expected);
        drop(keeper);
        assert_eq!(sum(&array), expected);
        assert!(of_files() >= BYTES);
    }
}
