//! What is resident of mapped files, and when it is let go.
//!
//! A timer does not suffice: a running thread maps gigabytes of the system's cache in a second. So readers count the
//! bytes that they touch ([`touch`]), and each may touch its part of the [spare](SPARE) bytes before it checks the
//! resident size. A single touch is limited, too: a mapping is [divided](Mapping::divide) into windows. Readers remember
//! the windows they have read, so that releasing pages visits only these.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::mapping::Mapping;

/// Interval of the checks of a thread that reads uncounted memory, such as mapped files in sequence.
const EACH: Duration = Duration::from_micros(100);

/// Where lists lie that were read: addresses of the first byte and of the one after the last.
type Places = Vec<(usize, usize)>;

/// Source of the resident size.
#[derive(Debug)]
struct ResidentSource {
    /// What was read since files were let go, unless it is too much to remember.
    read: Option<Places>,
    statm: File,
    limit: u64,
    /// Resident bytes of files that can't be let go, as of the first and of the last look at them: the program's.
    first: u64,
    stays: u64,
}

static WATCHED: Mutex<Option<ResidentSource>> = Mutex::new(None);

/// Bytes that all readers together may touch between two looks of each: an eighth of the limit; 0 where nothing
/// is limited.
static SPARE: AtomicU64 = AtomicU64::new(0);

/// The most that the first and the last byte of a list bring besides the list itself.
static ENDS: AtomicU64 = AtomicU64::new(0);

/// Threads that count what they read.
static READERS: AtomicU32 = AtomicU32::new(0);

/// A thread that counts what it reads.
struct Reader {
    /// What it may touch until its next look.
    left: Cell<u64>,
    /// Bytes touched since the last check.
    read: RefCell<Places>,
    counted: Cell<bool>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.counted.get() {
            READERS.fetch_sub(1, Relaxed);
        }
    }
}

thread_local! {
    static READER: Reader = const {
        Reader { left: Cell::new(0), read: RefCell::new(vec![]), counted: Cell::new(false) }
    };
}

/// Says that a list is read next, which may lie in a mapped file: where memory is limited, pages of files are let go
/// in time. Costs a load and a branch where it isn't.
#[inline]
pub fn touch<T>(list: &[T]) {
    if SPARE.load(Relaxed) != 0 {
        touched(list.as_ptr() as usize, size_of_val(list));
    }
}

#[cold]
fn touched(start: usize, length: usize) {
    let bytes = length as u64 + ENDS.load(Relaxed);
    // A thread that is about to end has its parts gone, and reads little.
    let _ = READER.try_with(|reader| {
        let mut read = reader.read.borrow_mut();
        if let Some(left) = reader.left.get().checked_sub(bytes) {
            read.push((start, start + length));
            return reader.left.set(left);
        }
        if !reader.counted.replace(true) {
            READERS.fetch_add(1, Relaxed);
        }
        {
            let mut watched = lock(&WATCHED);
            if let Some(watched) = &mut *watched {
                watched.remember(&read);
                watched.let_go(bytes);
            }
        }
        read.clear();
        read.push((start, start + length));
        let part = SPARE.load(Relaxed) / u64::from(READERS.load(Relaxed).max(1));
        reader.left.set(part.saturating_sub(bytes));
    });
}

/// Looks after the budget, if there is one and it is time to: for work that looks at no stop flag for long, and
/// reads pages of files without [`touch`].
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

/// Begins to watch; `false` where the system doesn't say what is resident.
pub(super) fn begin(limit: u64) -> bool {
    let mut watched = lock(&WATCHED);
    ENDS.store(0, Relaxed);
    crate::pages::keep_none();
    // What was read before the limit is let go, so that what stays is the program's.
    for mapping in lock(&MAPPINGS).iter().filter_map(Weak::upgrade) {
        divide(&mapping);
        mapping.let_go();
    }
    *watched = File::open("/proc/self/statm").ok().and_then(|statm| {
        let [_, first] = resident(&statm)?;
        Some(ResidentSource { read: Some(vec![]), statm, limit, first, stays: first })
    });
    let begun = watched.is_some();
    if begun {
        SPARE.store((limit / 8).max(1), Relaxed);
    }
    begun
}

/// Stops watching.
pub(super) fn end() {
    SPARE.store(0, Relaxed);
    crate::pages::keep_again();
    *lock(&WATCHED) = None;
}

/// Releases mapped pages if too many are resident.
pub(super) fn let_go() {
    // Whoever waits brings no pages meanwhile.
    if let Some(watched) = &mut *lock(&WATCHED) {
        watched.let_go(0);
    }
}

/// Places that are remembered: 1 MiB of them.
const MOST_PLACES: usize = 1 << 16;

impl ResidentSource {
    fn remember(&mut self, places: &[(usize, usize)]) {
        let all = self.read.as_mut().filter(|all| all.len() + places.len() <= MOST_PLACES);
        match all {
            Some(all) => all.extend_from_slice(places),
            None => self.read = None,
        }
    }

    /// Unmaps pages if too much is resident, or would be after the next bytes.
    ///
    /// What stays at most, with private memory of P up to the limit L: files are let go above 7/8 L in all, unless
    /// they have no more than L/16, and all readers bring L/8 before each has looked. So
    /// max(7/8 L, P + L/16) + L/8.
    fn let_go(&mut self, more: u64) {
        let Some(now) = resident(&self.statm) else { return };
        if !self.is_full(now, more) {
            return;
        }
        let mut mappings = lock(&MAPPINGS);
        let read = self.read.replace(vec![]);
        let live: Vec<_> = mappings.iter().filter_map(Weak::upgrade).collect();
        let Some(after) = read.and_then(|read| {
            live.iter().for_each(|mapping| of_mapping(mapping, &read));
            resident(&self.statm)
        }) else {
            return self.let_all_go(&mut mappings);
        };
        // Uncounted pages may take the room.
        if 2 * after[1].saturating_sub(self.stays) > now[1].saturating_sub(self.stays) {
            self.let_all_go(&mut mappings);
        }
    }

    fn let_all_go(&mut self, mappings: &mut Vec<Weak<Mapping>>) {
        mappings.retain(|mapping| mapping.upgrade().is_some_and(|mapping| mapping.let_go()));
        if let Some([_, of_files]) = resident(&self.statm) {
            // Others may have read on meanwhile.
            self.stays = of_files.min(self.first + self.limit / 16);
        }
    }

    /// Whether this many bytes exceed the budget. If other memory fills it, releasing pages again and again would not
    /// help.
    fn is_full(&self, [all, of_files]: [u64; 2], more: u64) -> bool {
        all + more > self.limit - self.limit / 8 && of_files + more > self.stays + self.limit / 16
    }
}

/// Lets go of the windows of a mapping that were read.
fn of_mapping(mapping: &Mapping, read: &[(usize, usize)]) {
    let window = window(mapping.len());
    let range = mapping.as_ptr_range();
    let (from, to) = (range.start as usize, range.end as usize);
    let mut windows: Vec<(usize, usize)> = read
        .iter()
        .filter(|&&(start, end)| start < end && from <= start && end <= to)
        .map(|&(start, end)| ((start - from) / window, (end - 1 - from) / window))
        .collect();
    windows.sort_unstable();
    let mut next = 0;
    for (first, last) in windows {
        if next <= last {
            let first = first.max(next);
            mapping.let_go_of(first * window..((last + 1) * window).min(mapping.len()));
            next = last + 1;
        }
    }
}

/// Resident bytes of this process: all, and those of files.
pub(super) fn resident(statm: &File) -> Option<[u64; 2]> {
    // SAFETY: the call has no pointers and only returns a number.
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

/// Releases the pages of a mapping while memory is limited.
pub fn register(mapping: Mapping) -> Arc<Mapping> {
    let mapping = Arc::new(mapping);
    let mut kept = lock(&MAPPINGS);
    kept.retain(|other| other.strong_count() > 0);
    kept.push(Arc::downgrade(&mapping));
    if SPARE.load(Relaxed) != 0 {
        divide(&mapping);
    }
    mapping
}

/// One pass over a list from front to back. If the list is part of a mapped file, the pages behind the reader are
/// released; they are read from the file again on the next access. Other memory is untouched.
///
/// ```
/// use gramer_base::budget::SinglePass;
///
/// let list: Vec<u32> = (0..1 << 20).collect();
/// let mut pass = SinglePass::from(&list, 0);
/// for at in 0..list.len() {
///     pass.reach(at);
///     assert_eq!(list[at], at as u32);
/// }
/// ```
#[derive(Debug)]
pub struct SinglePass<'a, T> {
    list: &'a [T],
    /// Entries before are released, but for the page of the last one.
    released: usize,
}

impl<'a, T> SinglePass<'a, T> {
    /// Bytes between two releases.
    const STEP: usize = 1 << 20;

    /// A pass that begins at an entry.
    pub fn from(list: &'a [T], first: usize) -> Self {
        SinglePass { list, released: first }
    }

    /// Says that the entries before `at` are done with.
    #[inline]
    pub fn reach(&mut self, at: usize) {
        if (at - self.released) * size_of::<T>() >= Self::STEP {
            release(&self.list[self.released..at]);
            // Together with the page in which these entries end.
            self.released = at - PAGE / size_of::<T>();
        }
    }
}

/// Releases the pages that lie within a list of a mapped file.
#[cold]
pub(super) fn release<T>(list: &[T]) {
    let at = list.as_ptr_range();
    let (start, end) = (at.start as usize, at.end as usize);
    for mapping in lock(&MAPPINGS).iter().filter_map(Weak::upgrade) {
        let range = mapping.as_ptr_range();
        let (from, to) = (range.start as usize, range.end as usize);
        if from <= start && end <= to {
            let first = (start - from).next_multiple_of(PAGE);
            let last = (end - from) / PAGE * PAGE;
            if first < last {
                mapping.let_go_of(first..last);
            }
        }
    }
}

/// A multiple of the page size of every supported system.
const PAGE: usize = 64 << 10;

/// What the system brings for a page of a divided mapping, at least.
const LEAST_WINDOW: usize = 64 << 10;
/// Windows of a mapping, at most: letting go of all takes half a microsecond for each.
const MOST_WINDOWS: usize = 2048;

/// Bytes of a window of a mapping of this size.
fn window(length: usize) -> usize {
    length.div_ceil(MOST_WINDOWS).next_power_of_two().max(LEAST_WINDOW)
}

fn divide(mapping: &Mapping) {
    let window = window(mapping.len());
    mapping.divide(window);
    ENDS.fetch_max(2 * window as u64, Relaxed);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
