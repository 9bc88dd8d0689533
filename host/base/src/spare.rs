//! Room that is kept for allocations where memory is limited, in processes that must not end.
//!
//! Rust's library aborts where a `Vec` or a `Box` is refused memory. A program of ours ends with a line instead
//! ([`crate::memory::end_if_refused`]); in a process of somebody else, such as Python's, the allocator [`SpareAllocator`] gives up
//! the room that [`keep`] has kept, so that the work goes on until its caller sees [`is_short`] and stops it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use rustix::process::{Resource, getrlimit};

use crate::error::Result;
use crate::memory::{has_a_way, refused_array};

/// Pieces that are kept: together far more than the small allocations of all threads until a caller looks. A piece is
/// smaller than what the system's allocator takes for the arena of another thread (64 MiB), which would use up the room.
const PIECES: usize = 4;
/// Bytes of a piece.
const BYTES: usize = 16 << 20;
/// Allocations that the pieces are kept for.
const SMALL: usize = 2 * BYTES;

/// Reserved pieces; null if there is none.
static ROOM: [AtomicPtr<libc::c_void>; PIECES] = [const { AtomicPtr::new(null_mut()) }; PIECES];
/// Reserve for larger allocations, and its size in bytes; null if there is none.
static LARGE: (AtomicPtr<libc::c_void>, AtomicUsize) =
    (AtomicPtr::new(null_mut()), AtomicUsize::new(0));
/// Whether room was given up since [`keep`].
static SHORT: AtomicBool = AtomicBool::new(false);

/// Keeps room, where the memory of the process is limited: for small allocations, and `large` bytes for those that grow with
/// a graph and have no errors of their own. Call it before work that allocates.
///
/// # Errors
/// [`crate::Error::Memory`] if there is no such room.
pub fn keep(large: usize) -> Result<()> {
    if getrlimit(Resource::As).current.is_none() && getrlimit(Resource::Data).current.is_none() {
        return Ok(());
    }
    ROOM.iter()
        .try_for_each(|piece| map(piece, BYTES).map_err(|()| refused_array(PIECES * BYTES)))?;
    if large > LARGE.1.load(Ordering::Relaxed) {
        give_up(&LARGE.0, LARGE.1.load(Ordering::Relaxed));
        LARGE.1.store(large, Ordering::Relaxed);
    }
    SHORT.store(false, Ordering::Relaxed);
    map(&LARGE.0, LARGE.1.load(Ordering::Relaxed)).map_err(|()| refused_array(large))
}

/// Maps the missing pieces.
fn map(piece: &AtomicPtr<libc::c_void>, bytes: usize) -> std::result::Result<(), ()> {
    if bytes == 0 || !piece.load(Ordering::Relaxed).is_null() {
        return Ok(());
    }
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: the system chooses the address, and nothing reads or writes the mapping.
    let room = unsafe { libc::mmap(null_mut(), bytes, protection, flags, -1, 0) };
    if room == libc::MAP_FAILED {
        return Err(());
    }
    piece.store(room, Ordering::Relaxed);
    Ok(())
}

/// Whether an allocation was given room that was kept: the work should stop.
pub fn is_short() -> bool {
    SHORT.load(Ordering::Relaxed)
}

/// Unmaps a piece of `bytes` bytes.
fn give_up(piece: &AtomicPtr<libc::c_void>, bytes: usize) {
    let room = piece.swap(null_mut(), Ordering::Relaxed);
    if !room.is_null() {
        SHORT.store(true, Ordering::Relaxed);
        // SAFETY: the mapping has `bytes` bytes, and the swap made this thread its only owner.
        unsafe { libc::munmap(room, bytes) };
    }
}

/// The system's allocator, which gives up the room that is kept before it refuses an allocation whose caller has no way without it.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: gramer_base::spare::SpareAllocator = gramer_base::spare::SpareAllocator;
/// # assert_eq!(vec![1; 1000].len(), 1000);
/// ```
#[derive(Debug)]
pub struct SpareAllocator;

#[inline]
fn given(array: *mut u8, bytes: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    if array.is_null() { once_more(bytes, ask) } else { array }
}

#[cold]
fn once_more(bytes: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    if has_a_way() {
        return null_mut();
    }
    let pieces = ROOM.iter().filter(|_| bytes <= SMALL).map(|piece| (piece, BYTES));
    for (piece, size) in pieces.chain([(&LARGE.0, LARGE.1.load(Ordering::Relaxed))]) {
        give_up(piece, size);
        // Also where it was null: another thread may have given it up just now.
        let array = ask();
        if !array.is_null() {
            return array;
        }
    }
    null_mut()
}

// SAFETY: all arrays are the system allocator's.
unsafe impl GlobalAlloc for SpareAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        let ask = || unsafe { System.alloc(layout) };
        given(ask(), layout.size(), ask)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is the same.
        let ask = || unsafe { System.alloc_zeroed(layout) };
        given(ask(), layout.size(), ask)
    }

    unsafe fn dealloc(&self, array: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(array, layout) }
    }

    unsafe fn realloc(&self, array: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise is the same; where it is refused the array stays.
        let ask = || unsafe { System.realloc(array, layout, size) };
        given(ask(), size, ask)
    }
}
