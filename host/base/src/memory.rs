//! Memory that the system refuses: the error for arrays whose size is known, and how a program ends where any
//! other allocation fails.
//!
//! A program that calls [`end_if_refused`] and allocates through [`crate::pages::LargeArrays`] ends with one line and exit
//! code 1 where an allocation fails. In other processes, such as Python's, an array made here is an error or an unwinding
//! [`AllocationRefusal`], and the rest is left to Rust's library.

use std::cell::Cell;
use std::fmt::{self, Write};
use std::io;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use bytemuck::Zeroable;
use rustix::process::{Resource, getrlimit};

use crate::error::Error;
use crate::pages::in_large_pages;

/// The current phase of the process; null before the first.
static PHASE: AtomicPtr<&'static str> = AtomicPtr::new(null_mut());

/// A phase of the run, for messages: the one before it returns when this is dropped.
///
/// ```
/// use gramer_base::memory::{Phase, refused_array};
///
/// let phase = Phase::begin(&"reading the graph");
/// let said = refused_array(3 << 20).to_string();
/// assert!(said.starts_with("not enough memory: 3 MiB were refused while reading the graph; "));
/// # drop(phase);
/// ```
#[derive(Debug)]
pub struct Phase(*mut &'static str);

impl Phase {
    /// Begins a phase; `name` follows "while" in messages.
    #[must_use = "the phase ends when it is dropped"]
    pub fn begin(name: &'static &'static str) -> Self {
        Phase(PHASE.swap(std::ptr::from_ref(name).cast_mut(), Ordering::AcqRel))
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        PHASE.store(self.0, Ordering::Release);
    }
}

/// Name of the current phase.
fn phase() -> &'static str {
    // SAFETY: null, or a reference that lives as long as the process.
    unsafe { PHASE.load(Ordering::Acquire).as_ref() }.copied().unwrap_or("starting")
}

/// Message with which a program ends if memory allocation fails.
#[derive(Debug)]
pub struct AllocationFailure {
    /// Name of the program, at the beginning of the line.
    pub program: &'static str,
    /// What the user can do, at its end.
    pub remedy: &'static str,
}

/// How this program ends; null in processes that are not to end.
static ENDING: AtomicPtr<AllocationFailure> = AtomicPtr::new(null_mut());

/// What the user can do, for processes without an [`AllocationFailure`].
const REMEDY: &str = "use fewer threads, or raise the memory limit of the process";

/// Whether a limit of memory was set when the program began.
static LIMITED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether the caller of the allocator has a way without the memory.
    static HAS_A_WAY: Cell<bool> = const { Cell::new(false) };
}

/// Ends the process with one line and exit code 1 wherever an allocation is refused from now on: for a program's `main`,
/// before it starts a thread. A later call changes the line alone.
///
/// Where a limit of memory is set it also prepares for it: the first thread's stack is mapped before the heap can take its
/// room, threads share one arena of the C library where address space is short, and an `abort` of a library ends the process
/// with a line as well.
pub fn end_if_refused(ending: &'static AllocationFailure) {
    let first = ENDING.swap(std::ptr::from_ref(ending).cast_mut(), Ordering::AcqRel).is_null();
    #[cfg(target_os = "linux")]
    if first {
        prepare_for_limits();
    }
    #[cfg(not(target_os = "linux"))]
    let _ = first;
}

#[cfg(target_os = "linux")]
fn prepare_for_limits() {
    /// Address space below which an arena of 64 MiB for each thread is too much.
    #[cfg(target_env = "gnu")]
    const SHORT: u64 = 16 << 30;
    let space = getrlimit(Resource::As).current;
    if space.is_none() && getrlimit(Resource::Data).current.is_none() {
        return;
    }
    LIMITED.store(true, Ordering::Relaxed);
    #[cfg(target_env = "gnu")]
    if space.is_some_and(|bytes| bytes < SHORT) {
        // SAFETY: the call sets a number under a lock of the C library.
        unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) };
    }
    end_on(libc::SIGABRT);
    if space.is_some() {
        map_stack();
    }
}

/// Ends the process with one line if a library aborts by a signal.
#[cfg(target_os = "linux")]
fn end_on(signal: libc::c_int) {
    extern "C" fn gave_up(_: libc::c_int) {
        end(0)
    }
    let handler: extern "C" fn(libc::c_int) = gave_up;
    // SAFETY: all zeros is a valid `sigaction`, and the handler does only what is allowed in one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        libc::sigaction(signal, &action, null_mut());
    }
}

/// Has the process end with a line where a driver that was loaded aborts or crashes, if memory is limited. Drivers replace the
/// handlers of the program, and not all of them look whether they were given memory.
pub fn watch_libraries() {
    #[cfg(target_os = "linux")]
    if LIMITED.load(Ordering::Relaxed) {
        [libc::SIGABRT, libc::SIGSEGV].into_iter().for_each(end_on);
    }
}

/// Maps the stack pages that the first thread needs: once the heap fills the address space, a growing stack would end
/// the process by a signal.
#[cfg(target_os = "linux")]
fn map_stack() {
    /// More than the first thread was seen to use.
    const BYTES: usize = 1 << 20;
    #[inline(never)]
    fn touch() {
        let mut stack = [std::mem::MaybeUninit::<u8>::uninit(); BYTES];
        std::hint::black_box(&mut stack);
    }
    // A stack without room ends the process by a signal.
    if !has_room(BYTES + (64 << 10)) {
        end(BYTES);
    }
    touch();
}

/// Whether the system would give so much memory in one piece.
fn has_room(bytes: usize) -> bool {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the system chooses the address, and nothing of the mapping is used.
    let room = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
    // SAFETY: it was mapped just now.
    room != libc::MAP_FAILED && unsafe { libc::munmap(room, bytes) } == 0
}

/// Whether a further thread has room to work, where memory is limited: one that starts and is then refused memory ends a run
/// that fewer threads would have finished.
///
/// # Errors
/// [`io::ErrorKind::OutOfMemory`] if it has none.
pub(crate) fn room_for_thread() -> io::Result<()> {
    /// For its stack, and for the tables that it makes for a small graph.
    const BYTES: usize = 20 << 20;
    if !LIMITED.load(Ordering::Relaxed) || has_room(BYTES) {
        return Ok(());
    }
    crate::pages::give_back();
    if has_room(BYTES) { Ok(()) } else { Err(io::ErrorKind::OutOfMemory.into()) }
}

/// Whether this many bytes of address space are free, for libraries that abort without them.
pub fn has_space(bytes: usize) -> bool {
    getrlimit(Resource::As).current.is_none() || has_room(bytes)
}

/// Bytes of address space that the process may have, for messages; `None` for any number.
pub fn address_space() -> Option<String> {
    getrlimit(Resource::As).current.map(|bytes| Size(bytes as usize).to_string())
}

/// Called by the allocator where the system refuses memory. It returns if the caller can do without.
#[cold]
pub(crate) fn refused(bytes: usize) {
    if !has_a_way() && !ENDING.load(Ordering::Relaxed).is_null() {
        end(bytes);
    }
}

/// Ends the process with its line. It allocates nothing and calls only what a signal's handler may call.
fn end(bytes: usize) -> ! {
    static ENDS: AtomicBool = AtomicBool::new(false);
    while ENDS.swap(true, Ordering::Relaxed) {
        // SAFETY: the call waits; another thread ends the process meanwhile.
        unsafe { libc::pause() };
    }
    crate::mapping::remove_unfinished();
    // SAFETY: null, or a reference that lives as long as the process.
    let ending = unsafe { ENDING.load(Ordering::Acquire).as_ref() };
    let program = ending.map_or("gramer", |ending| ending.program);
    let mut line = Line { bytes: [0; 512], length: 0 };
    // SAFETY: the call only asks.
    if unsafe { libc::isatty(libc::STDERR_FILENO) } == 1 {
        // In place of a bar.
        let _ = line.write_str("\r\u{1b}[K");
    }
    let _ = writeln!(line, "{program}: {}", Amount(bytes));
    // SAFETY: the first `length` bytes are those of an array of 512. The process ends without running anything else.
    unsafe {
        libc::write(libc::STDERR_FILENO, line.bytes.as_ptr().cast(), line.length);
        libc::_exit(1)
    }
}

/// A line of a fixed size.
struct Line {
    bytes: [u8; 512],
    length: usize,
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.length..];
        let taken = text.len().min(room.len());
        room[..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        Ok(())
    }
}

/// Message for a refused allocation of this size; 0 if only a library knows the size.
struct Amount(usize);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not enough memory: ")?;
        match self.0 {
            0 => f.write_str("a library failed to allocate")?,
            1024.. => write!(f, "{} were refused", Size(self.0))?,
            bytes => write!(f, "{bytes} bytes were refused")?,
        }
        write!(f, " while {}; {}", phase(), remedy())
    }
}

/// What the user can do where memory is refused.
pub fn remedy() -> &'static str {
    // SAFETY: null, or a reference that lives as long as the process.
    unsafe { ENDING.load(Ordering::Acquire).as_ref() }.map_or(REMEDY, |ending| ending.remedy)
}

/// Bytes in the unit that fits, rounded up.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MIB: usize = 1 << 20;
        const GIB: usize = 1 << 30;
        match self.0 {
            0..MIB => write!(f, "{} KiB", self.0.div_ceil(1 << 10)),
            MIB..GIB => write!(f, "{} MiB", self.0.div_ceil(MIB)),
            bytes => {
                let tenths = bytes.div_ceil(GIB / 10);
                write!(f, "{}.{} GiB", tenths / 10, tenths % 10)
            }
        }
    }
}

/// The error for an array of this many bytes.
pub fn refused_array(bytes: usize) -> Error {
    Error::Memory(Amount(bytes).to_string())
}

/// Runs `allocate`, whose caller has a way without the memory: a refusal is its result and doesn't end the process.
pub fn trying<R>(allocate: impl FnOnce() -> R) -> R {
    let before = HAS_A_WAY.replace(true);
    let result = allocate();
    HAS_A_WAY.set(before);
    result
}

/// Whether the caller of the allocator has a way without the memory.
pub(crate) fn has_a_way() -> bool {
    HAS_A_WAY.get()
}

/// A zeroed array, whose pages the system allocates on the first write.
///
/// # Errors
/// [`Error::Memory`] where the system refuses it.
pub fn zeroed<T: Zeroable>(length: usize) -> Result<Vec<T>, Error> {
    let array = trying(|| bytemuck::allocation::try_zeroed_vec(length));
    array.map(in_large_pages).map_err(|()| refused_array(length.saturating_mul(size_of::<T>())))
}

/// An empty array with this capacity.
///
/// # Errors
/// [`Error::Memory`] where the system refuses it.
pub fn with_room<T>(items: usize) -> Result<Vec<T>, Error> {
    let mut array = Vec::new();
    let reserved = trying(|| array.try_reserve_exact(items));
    reserved.map_err(|_| refused_array(items.saturating_mul(size_of::<T>())))?;
    Ok(in_large_pages(array))
}

/// An array of the items.
///
/// # Errors
/// As [`with_room`].
pub fn collected<T>(items: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>, Error> {
    let mut array = with_room(items.len())?;
    array.extend(items);
    Ok(array)
}

/// Payload of a panic without a message after a refused allocation; the caller turns it into [`Error::Memory`].
#[derive(Debug)]
pub struct AllocationRefusal(pub Error);

/// As [`zeroed`] within work that has no errors: it unwinds with [`AllocationRefusal`] in processes that don't end by themselves.
pub fn zeroed_or_unwind<T: Zeroable>(length: usize) -> Vec<T> {
    zeroed(length).unwrap_or_else(|error| unwind::<T>(length, error))
}

/// As [`zeroed_or_unwind`], for an array that may stay unwritten from some entry on. An array of up to 32 MiB uses small
/// pages, because the unwritten part of a large page can be as large as the written part of the array.
pub fn zeroed_in_part_or_unwind<T: Zeroable>(length: usize) -> Vec<T> {
    const SMALL: usize = 32 << 20;
    if length.saturating_mul(size_of::<T>()) > SMALL {
        return zeroed_or_unwind(length);
    }
    trying(|| bytemuck::allocation::try_zeroed_vec(length))
        .unwrap_or_else(|()| zeroed_or_unwind(length))
}

/// As [`with_room`] within work that has no errors; see [`zeroed_or_unwind`].
pub fn with_room_or_unwind<T>(items: usize) -> Vec<T> {
    with_room(items).unwrap_or_else(|error| unwind::<T>(items, error))
}

/// An array of one value within work that has no errors; see [`zeroed_or_unwind`].
pub fn filled_or_unwind<T: Clone>(value: T, length: usize) -> Vec<T> {
    let mut array = with_room_or_unwind(length);
    array.resize(length, value);
    array
}

#[cold]
fn unwind<T>(items: usize, error: Error) -> ! {
    if !ENDING.load(Ordering::Relaxed).is_null() {
        end(items.saturating_mul(size_of::<T>()));
    }
    std::panic::resume_unwind(Box::new(AllocationRefusal(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_the_unit_that_fits() {
        let shown = [1, 1 << 10, 1025, 1 << 20, (1 << 20) + 1, 1 << 30, 3 << 29, usize::MAX];
        let shown = shown.map(|bytes| Size(bytes).to_string());
        let expected = ["1 KiB", "1 KiB", "2 KiB", "1 MiB", "2 MiB", "1.1 GiB", "1.6 GiB"];
        assert_eq!(shown[..7], expected);
        assert!(shown[7].starts_with("17179869") && shown[7].ends_with(" GiB"), "{}", shown[7]);
    }

    #[test]
    fn arrays_that_no_system_has_are_errors() {
        let Err(Error::Memory(said)) = zeroed::<u64>(1 << 58) else { panic!("2 EiB were given") };
        assert!(said.starts_with("not enough memory: ") && said.contains(" GiB were"), "{said}");
        assert!(zeroed::<u64>(usize::MAX).is_err());
        let unwound = std::panic::catch_unwind(|| zeroed_or_unwind::<u64>(1 << 58)).unwrap_err();
        assert!(matches!(
            *unwound.downcast::<AllocationRefusal>().unwrap(),
            AllocationRefusal(Error::Memory(_))
        ));
        assert!(with_room::<u128>(1 << 58).is_err() && with_room::<u128>(usize::MAX).is_err());
        assert!(std::panic::catch_unwind(|| with_room_or_unwind::<u64>(1 << 58)).is_err());
        assert_eq!(collected([3, 1, 2].into_iter()).unwrap(), [3, 1, 2]);
    }

    #[test]
    fn a_line_that_is_too_long_is_cut() {
        let mut line = Line { bytes: [0; 512], length: 0 };
        (0..100).for_each(|_| line.write_str("sixteen letters.").unwrap());
        assert_eq!(line.length, 512);
    }
}
