//! Runs within a memory budget: data beyond it lies in mapped files, whose pages are released in time.

mod watch;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use bytemuck::Pod;

use crate::context::Cancel;
use crate::error::{Error, Result};
use crate::mapping::Mapping;
use crate::memory::room_for_thread;
use crate::storage::Storage;

pub use watch::register;
pub use watch::{SinglePass, look, touch};

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
    /// Releases the pages of mapped files whenever the process has 7/8 of the budget resident, as long as the result
    /// lives; one run of a process at a time has a budget. The pages stay in the system's cache of files while that
    /// has room, so that most come back without being read again.
    ///
    /// Whoever reads rows counts them ([`touch`]), and looks before an eighth of the budget could have come with
    /// those of all threads. Whoever looks at `cancel` looks at the memory too, and its own thread does, for
    /// what is read without being counted. Mapped files are divided into windows of 64 KiB, or a 2,048th of the file
    /// where that is more, so that a fault brings no more than one of them. Does nothing where the system doesn't
    /// say how much is resident.
    pub fn keep(&self, cancel: &Cancel) -> Keeper {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let watch = watch::begin(self.bytes).then(|| {
            let work = move || {
                while !stopped.load(Ordering::Relaxed) {
                    watch::let_go();
                    std::thread::sleep(PERIOD);
                }
            };
            let begin = || std::thread::Builder::new().name("budget".into()).spawn(work);
            room_for_thread().and_then(|()| begin()).ok()
        });
        cancel.limit();
        Keeper { stop, watch: watch.flatten() }
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
        watch::end();
    }
}

/// How often its own thread looks at the resident memory.
const PERIOD: Duration = Duration::from_millis(1);

/// Bytes that no graph changes: the program, stacks, what one piece of work needs.
pub const BASE: u64 = 24 << 20;

/// A file without a name in a folder: it vanishes with the run, however that ends.
///
/// # Errors
/// [`Error::Io`] where the system refuses.
pub fn nameless(folder: &Path) -> Result<File> {
    tempfile::tempfile_in(folder).map_err(|e| Error::io(folder, "create a temporary file there", e))
}

/// Why a file without a name in a folder can't be written: the disk is full, for one.
pub fn not_written(folder: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |source| Error::io(folder, "write a temporary file there", source)
}

/// Why it can't be read.
pub fn not_read(folder: &Path) -> impl Fn(std::io::Error) -> Error + '_ {
    move |source| Error::io(folder, "read back a temporary file there", source)
}

/// An array that is written to a file without a name, and then mapped.
///
/// ```
/// use gramer_base::budget::ArrayFile;
///
/// let mut array = ArrayFile::create(&std::env::temp_dir())?;
/// array.append(&[1u32, 2])?;
/// array.append(&[3])?;
/// assert_eq!(array.finish()?[..], [1, 2, 3]);
/// # Ok::<(), gramer_base::Error>(())
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
    #[cfg(target_os = "linux")]
    use std::sync::{Mutex, PoisonError};

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

    /// Tests that count resident pages of files run one at a time.
    #[cfg(target_os = "linux")]
    static COUNTS_PAGES: Mutex<()> = Mutex::new(());

    #[test]
    #[cfg(target_os = "linux")]
    fn a_pass_releases_the_pages_behind_it_and_leaves_other_memory() {
        const ITEMS: usize = 8 << 20;
        let _alone = COUNTS_PAGES.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let items: Vec<u64> = (0..ITEMS as u64).collect();
        let mut array = ArrayFile::create(folder.path()).unwrap();
        array.append(&items).unwrap();
        let array = array.finish().unwrap();
        assert!(array[..] == items[..]);
        let statm = File::open("/proc/self/statm").unwrap();
        let of_files = || watch::resident(&statm).unwrap()[1];
        let before = of_files();
        for list in [&array[..], &items[..]] {
            let mut pass = SinglePass::from(list, 1);
            (1..=ITEMS / 2).for_each(|at| pass.reach(at));
        }
        let gone = before.saturating_sub(of_files());
        assert!(gone > 4 * ITEMS as u64 * 7 / 8, "{gone} bytes");
        watch::release(&array[..0]);
        assert!(
            array[..] == items[..] && items.iter().enumerate().all(|(i, &item)| item == i as u64)
        );
    }

    /// Pages of other tests' files may come and go as well, so that much is read here.
    #[test]
    #[cfg(target_os = "linux")]
    fn pages_are_let_go() {
        const BYTES: u64 = 256 << 20;
        let _alone = COUNTS_PAGES.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        let mut array = ArrayFile::<u64>::create(folder.path()).unwrap();
        let part: Vec<u64> = (0..1 << 17).collect();
        (0..BYTES >> 20).for_each(|_| array.append(&part).unwrap());
        let array = array.finish().unwrap();
        let statm = File::open("/proc/self/statm").unwrap();
        let sum = |array: &[u64]| array.iter().fold(0u64, |sum, &x| sum.wrapping_add(x));
        let expected = sum(&array);
        let of_files = || watch::resident(&statm).unwrap()[1];
        assert!(of_files() >= BYTES, "pages stay without a keeper");
        let keeper = Budget { bytes: BYTES / 2, folder: folder.path().into() };
        let keeper = keeper.keep(&Cancel::default());
        assert!(of_files() < BYTES / 2, "what was read before is let go");
        // Read without a word, as checks of a file are: the keeper's thread sees to it.
        assert_eq!(sum(&array), expected);
        let begun = std::time::Instant::now();
        while of_files() >= BYTES / 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "{} are resident", of_files());
            std::thread::sleep(PERIOD);
        }
        // Counted: no more than the limit, whatever that thread does. Other tests have pages too.
        let (mut most, mut counted) = (0, 0u64);
        for row in array.chunks(1 << 13) {
            touch(row);
            counted = counted.wrapping_add(sum(row));
            most = most.max(of_files());
        }
        assert_eq!(counted, expected);
        assert!(most <= BYTES / 2 + BYTES / 10, "{most} were resident");
        drop(keeper);
        assert_eq!(sum(&array), expected);
        assert!(of_files() >= BYTES);
    }
}
