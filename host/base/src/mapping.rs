//! Memory-mapped files, and changes of a file in use.
//!
//! A read behind the end of a truncated file raises `SIGBUS`; the process names the file and ends with
//! exit code 1. An overwritten file gives other bytes without notice, so its size and time of
//! modification are compared at the end of each phase, and a run on a changed file is an error.

use std::ffi::CString;
use std::fs::{File, Metadata};
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};
use std::time::SystemTime;

#[cfg(target_os = "linux")]
use memmap2::Advice;
use memmap2::{Mmap, UncheckedAdvice};

use crate::error::{Error, Place, Result, shown};

/// A file mapped for reading.
#[derive(Debug)]
pub struct Mapping {
    map: Mmap,
    path: PathBuf,
    file: File,
    /// Size and time of modification when it was opened.
    state: State,
    slot: &'static Slot,
}

/// Messages for an image that was truncated or changed.
const CUT: &str =
    "the image was truncated while it was in use; do not change it before the run ends";
const CHANGED: &str = "the image was changed while it was in use, so the results are void; do not \
     change it before the run ends (a new image may replace it by renaming, as `gramer graph \
     convert` does)";

#[derive(Debug, PartialEq, Eq)]
struct State {
    size: u64,
    modified: Option<SystemTime>,
}

impl State {
    fn of(metadata: &Metadata) -> Self {
        State { size: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl Mapping {
    /// Maps a file; `None` if too many are mapped to watch another.
    ///
    /// # Errors
    /// [`Error::Io`] where the system refuses.
    pub fn new(path: &Path, file: &File) -> Result<Option<Self>> {
        Self::with_message(path, file, format!("{}: {CUT}", shown(path)))
    }

    /// Maps a file of ours without a name in a folder. As [`Mapping::new`].
    ///
    /// # Errors
    /// As [`Mapping::new`].
    pub fn temporary(folder: &Path, file: &File) -> Result<Option<Self>> {
        let message = format!(
            "{}: a temporary file there can no longer be read; name another folder",
            shown(folder)
        );
        Self::with_message(folder, file, message)
    }

    /// As [`Mapping::new`], with `message` for pages that can't be read.
    ///
    /// # Errors
    /// As [`Mapping::new`].
    pub fn with_message(path: &Path, file: &File, message: String) -> Result<Option<Self>> {
        let refused = |source| Error::io(path, "read", source);
        watch_bus_errors();
        let Some(slot) = SLOTS.iter().find(|slot| slot.claim()) else { return Ok(None) };
        let opened = (|| {
            let file = file.try_clone()?;
            let state = State::of(&file.metadata()?);
            // SAFETY: no process should write the file meanwhile, which no system call can rule out. The bytes are read
            // as plain numbers, and every position is checked before it is used, so that a change gives wrong numbers
            // or a panic. `check_unchanged` reports a change, and `slot` a file that was cut.
            let map = unsafe { Mmap::map(&file) }?;
            Ok((file, state, map))
        })();
        match opened {
            Ok((file, state, map)) => {
                slot.watch(&map, &message);
                Ok(Some(Mapping { map, path: path.to_path_buf(), file, state, slot }))
            }
            Err(source) => {
                slot.free();
                Err(refused(source))
            }
        }
    }

    /// Lets go of the pages that are in memory: they are read again when they are used. `false` where the
    /// system refuses.
    pub fn let_go(&self) -> bool {
        // SAFETY: the mapping is of a file and never written to, so that its pages come back as they were.
        unsafe { self.map.unchecked_advise(UncheckedAdvice::DontNeed) }.is_ok()
    }

    /// The same for some bytes, from one window to another.
    pub fn let_go_of(&self, bytes: std::ops::Range<usize>) -> bool {
        // SAFETY: as above.
        unsafe {
            self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, bytes.start, bytes.len())
        }
        .is_ok()
    }

    /// Divides the mapping into windows of this many bytes, a multiple of a page: a page fault maps no more than its
    /// window. A system that has read a file in blocks of up to 2 MiB (folios of Linux) maps a whole one
    /// at the first touch, but only within an area of one kind, so windows alternate in a property that means
    /// nothing here: whether a dump of the process has them. Nothing is divided where the system refuses.
    #[cfg(target_os = "linux")]
    pub fn divide(&self, window: usize) {
        for start in (window..self.map.len()).step_by(2 * window) {
            let length = window.min(self.map.len() - start);
            if self.map.advise_range(Advice::DontDump, start, length).is_err() {
                return;
            }
        }
    }

    /// Other systems are not known to map more than some pages at a time.
    #[cfg(not(target_os = "linux"))]
    pub fn divide(&self, _window: usize) {}

    /// Whether the file still is what was mapped.
    ///
    /// # Errors
    /// [`Error::Input`] if it was changed, [`Error::Io`] if its state cannot be read.
    pub fn check_unchanged(&self) -> Result<()> {
        let now = self.file.metadata().map_err(|e| Error::io(&self.path, "read", e))?;
        if State::of(&now) == self.state {
            return Ok(());
        }
        // A read of a missing page raises a signal; present pages give no notice.
        let what = if now.len() < self.state.size { CUT } else { CHANGED };
        Err(Error::input(Place::file(&self.path), what))
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.map
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.slot.free();
    }
}

/// A mapped range as a signal handler can look at it.
#[derive(Debug)]
struct Slot {
    /// First byte; 0 where the slot is free, 1 where it is claimed.
    start: AtomicUsize,
    /// Last byte and one; 0 unless all is set.
    end: AtomicUsize,
    /// What to say. It is never freed, since a handler may be reading it.
    message: AtomicPtr<String>,
}

static SLOTS: [Slot; 32] = [const {
    Slot {
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        message: AtomicPtr::new(std::ptr::null_mut()),
    }
}; 32];

impl Slot {
    fn claim(&self) -> bool {
        self.start.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    fn watch(&self, map: &[u8], message: &str) {
        let message = Box::new(format!("gramer: {message}\n"));
        self.message.store(Box::into_raw(message), Ordering::Release);
        let range = map.as_ptr_range();
        self.start.store(range.start as usize, Ordering::Relaxed);
        self.end.store(range.end as usize, Ordering::Release);
    }

    fn free(&self) {
        self.end.store(0, Ordering::Release);
        self.start.store(0, Ordering::Release);
    }
}

/// A file that is removed if the process ends at once.
#[derive(Debug)]
pub struct PendingFile(Option<&'static AtomicPtr<libc::c_char>>);

static UNFINISHED: [AtomicPtr<libc::c_char>; 32] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; 32];

impl PendingFile {
    /// Has `path` removed if a mapped file is cut, or memory is refused, while the result lives.
    pub fn new(path: &Path) -> Self {
        let Ok(name) = CString::new(path.as_os_str().as_bytes()) else { return PendingFile(None) };
        // Never freed, as a handler may be reading it.
        let name = name.into_raw();
        let null = std::ptr::null_mut();
        let claim = |slot: &&AtomicPtr<_>| {
            slot.compare_exchange(null, name, Ordering::Release, Ordering::Relaxed).is_ok()
        };
        PendingFile(UNFINISHED.iter().find(claim))
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(slot) = self.0 {
            slot.store(std::ptr::null_mut(), Ordering::Release);
        }
    }
}

/// Removes the files that are being written, for a process that ends at once. A signal's handler may do so.
pub fn remove_unfinished() {
    for unfinished in &UNFINISHED {
        let name = unfinished.load(Ordering::Acquire);
        if !name.is_null() {
            // SAFETY: a C string that is never freed.
            unsafe { libc::unlink(name) };
        }
    }
}

/// What handled the signal before.
static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();

/// Has [`on_bus_error`] called from now on.
fn watch_bus_errors() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        // SAFETY: all zeros is a valid `sigaction`; the calls get pointers to whole ones; and the
        // handler does only what is allowed in one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut previous: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut previous) == 0 {
                let _ = PREVIOUS.set(previous);
            }
            let handler: extern "C" fn(_, _, _) = on_bus_error;
            action.sa_sigaction = handler as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
        }
    });
}

/// Called where memory can't be read. Only atomic loads and calls that POSIX allows in a handler.
extern "C" fn on_bus_error(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: with `SA_SIGINFO` the system passes a valid `info`; the address is only compared.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    for slot in SLOTS.iter().filter(|_| code > 0) {
        let end = slot.end.load(Ordering::Acquire);
        if (slot.start.load(Ordering::Relaxed)..end).contains(&address) {
            remove_unfinished();
            // SAFETY: null, or a text that is never freed nor changed. Where other threads free and claim the slot
            // meanwhile it may be that of another file, but it is whole.
            let message = unsafe { slot.message.load(Ordering::Acquire).as_ref() };
            let message = message.map_or("", String::as_str);
            // SAFETY: the bytes are the text's. The process ends without running anything else.
            unsafe {
                libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
                libc::_exit(1)
            }
        }
    }
    // Not ours: the previous handler gets the signal when the instruction runs again.
    // SAFETY: as for the handler itself, this is what was set before.
    unsafe {
        match PREVIOUS.get() {
            Some(previous) => drop(libc::sigaction(libc::SIGBUS, previous, std::ptr::null_mut())),
            None => drop(libc::signal(libc::SIGBUS, libc::SIG_DFL)),
        }
        if code <= 0 {
            libc::raise(libc::SIGBUS);
        }
    }
}
