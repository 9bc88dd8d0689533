//! Large arrays in large pages.

use std::alloc::{GlobalAlloc, Layout, System};

#[cfg(target_os = "linux")]
mod kept;

/// Bytes of a large page of the systems that have them.
const LARGE: usize = 2 << 20;
/// Smallest array, in bytes, with its own mapping, which a later array takes over: then it costs neither a fault a page nor
/// new memory.
const LEAST: usize = LARGE / 4;

/// The array, with large pages requested for its memory (`madvise`). Each page costs a fault and has to be cleared,
/// which takes several times as long with small ones (figures: `docs/decisions/rows-from-text.md`). On systems
/// without large pages the array is returned unchanged.
///
/// ```
/// let array = gramer_base::pages::in_large_pages(Vec::<u64>::with_capacity(1 << 20));
/// assert!(array.is_empty() && array.capacity() >= 1 << 20);
/// ```
pub fn in_large_pages<T>(mut array: Vec<T>) -> Vec<T> {
    let bytes = array.capacity() * size_of::<T>();
    let start = array.as_mut_ptr().cast::<u8>();
    let skipped = start.addr().next_multiple_of(LARGE) - start.addr();
    // The last page too, if most of it is the array's: [`LargeArrays`] leaves the rest unused.
    let whole = (bytes.saturating_sub(skipped) + LARGE / 2) / LARGE * LARGE;
    if whole > 0 {
        advise(start.wrapping_add(skipped), whole);
    }
    array
}

#[cfg(target_os = "linux")]
fn advise(start: *mut u8, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    // SAFETY: the advice changes how pages are allocated, never their contents.
    let _ = unsafe { madvise(start.cast(), bytes, Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_start: *mut u8, _bytes: usize) {}

/// The system's memory, with large arrays at the beginning of a large page: a program's global allocator.
///
/// Where an array begins anywhere, what is before its first whole large page lies in small ones, up to 2 MB of it: that is
/// a fault for each 4 KB, and most of an array of a few megabytes. Arrays that are freed don't leave holes among small
/// ones: some are kept for the next ones, which then need no new pages, and the others are the system's again at once
/// ([`keep_none`]).
///
/// ```
/// use gramer_base::pages::LargeArrays;
///
/// #[global_allocator]
/// static MEMORY: LargeArrays = LargeArrays;
///
/// let array = vec![1u64; 1 << 20];
/// assert!(cfg!(not(target_os = "linux")) || array.as_ptr().addr() % (2 << 20) == 0);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LargeArrays;

/// Returns the freed arrays that [`LargeArrays`] holds to the system, and holds no others until [`keep_again`]; for
/// runs with a memory limit.
pub fn keep_none() {
    mapped::keep_none();
}

/// Gives what is kept of arrays that are gone back to the system, which refuses something else. Later ones are kept again.
pub fn give_back() {
    mapped::give_back_all();
}

/// Retries an allocation after all held memory of freed arrays was returned to the system.
#[cold]
fn once_more(bytes: usize, ask: impl FnOnce() -> *mut u8) -> *mut u8 {
    give_back();
    let array = ask();
    if array.is_null() {
        crate::memory::refused(bytes);
    }
    array
}

/// What the system gave, or gives once kept arrays are its own again.
#[inline]
fn given(array: *mut u8, bytes: usize, ask: impl FnOnce() -> *mut u8) -> *mut u8 {
    if array.is_null() { once_more(bytes, ask) } else { array }
}

/// Keeps memory of arrays again that are gone.
pub fn keep_again() {
    mapped::keep_again();
}

/// Whether an array has its own mapping.
#[inline]
fn is_large(layout: Layout) -> bool {
    cfg!(target_os = "linux") && layout.size() >= LEAST && layout.align() <= LARGE
}

// SAFETY: an array is large or not by its layout alone, which the caller repeats when it gives it back. Those that aren't
// are the system allocator's, and the others' memory is mapped for each alone, in full and at a multiple of every
// alignment that a large one has.
unsafe impl GlobalAlloc for LargeArrays {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            let array = mapped::kept(layout.size()).unwrap_or_else(|| mapped::new(layout.size()));
            return given(array, layout.size(), || mapped::new(layout.size()));
        }
        // SAFETY: the caller's promise is the same.
        let ask = || unsafe { System.alloc(layout) };
        given(ask(), layout.size(), ask)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            let Some(array) = mapped::kept(layout.size()) else {
                let ask = || mapped::new(layout.size());
                return given(ask(), layout.size(), ask);
            };
            // SAFETY: the block has `layout.size()` bytes and has not been handed out yet.
            unsafe { array.write_bytes(0, layout.size()) };
            return array;
        }
        // SAFETY: the caller's promise is the same.
        let ask = || unsafe { System.alloc_zeroed(layout) };
        given(ask(), layout.size(), ask)
    }

    unsafe fn dealloc(&self, array: *mut u8, layout: Layout) {
        if is_large(layout) {
            // SAFETY: it was mapped with this size, and the caller doesn't use it any more.
            return unsafe { mapped::keep(array, layout.size()) };
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(array, layout) }
    }

    unsafe fn realloc(&self, array: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller says that the size is possible with this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (is_large(layout), is_large(new)) {
            (false, false) => {
                // SAFETY: the caller's promise is the same; where it is refused the array stays.
                let ask = || unsafe { System.realloc(array, layout, size) };
                given(ask(), size, ask)
            }
            (true, true) => {
                // SAFETY: it was mapped with this size; where it is refused the array stays.
                let ask = || unsafe { mapped::resize(array, layout.size(), size) };
                given(ask(), size, ask)
            }
            _ => {
                // SAFETY: both layouts are the caller's; each array has at least the bytes that are copied, and they don't overlap.
                unsafe {
                    let to = self.alloc(new);
                    if !to.is_null() {
                        to.copy_from_nonoverlapping(array, layout.size().min(size));
                        self.dealloc(array, layout);
                    }
                    to
                }
            }
        }
    }
}

/// Memory that is mapped for one array: on Linux alone, whose large pages are asked for.
#[cfg(not(target_os = "linux"))]
mod mapped {
    pub fn new(_size: usize) -> *mut u8 {
        std::ptr::null_mut()
    }

    pub fn kept(_size: usize) -> Option<*mut u8> {
        None
    }

    pub unsafe fn keep(_array: *mut u8, _size: usize) {}

    pub fn keep_none() {}

    pub fn keep_again() {}

    pub fn give_back_all() {}

    pub unsafe fn resize(_array: *mut u8, _size: usize, _to: usize) -> *mut u8 {
        std::ptr::null_mut()
    }
}

/// Memory that is mapped for one array.
#[cfg(target_os = "linux")]
mod mapped {
    use std::ptr;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use rustix::mm::{
        MapFlags, MremapFlags, ProtFlags, mmap_anonymous, mremap, mremap_fixed, munmap,
    };

    use super::LARGE;
    use super::kept::FreeRanges;

    /// Each range is mapped and unused.
    static KEPT: Mutex<FreeRanges> = Mutex::new(FreeRanges::new());

    fn lock() -> MutexGuard<'static, FreeRanges> {
        // Whoever panics in there hasn't changed anything.
        KEPT.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An array of reused memory with arbitrary content.
    pub fn kept(size: usize) -> Option<*mut u8> {
        lock().take(whole(size)?).map(ptr::with_exposed_provenance_mut)
    }

    /// Keeps the memory of a freed array, or returns it.
    ///
    /// # Safety
    /// The array is of [`new`], [`kept`] or [`resize`], of this size, and isn't used any more.
    pub unsafe fn keep(array: *mut u8, size: usize) {
        let keeps = |bytes| lock().put(array.expose_provenance(), bytes);
        if !whole(size).is_some_and(keeps) {
            // SAFETY: the caller's promise is the same.
            unsafe { free(array, size) }
        }
    }

    /// Returns all kept memory and stops keeping.
    pub fn keep_none() {
        // The lock isn't held while the system works.
        let all = lock().end();
        all.for_each(give_back);
    }

    fn give_back((start, bytes): (usize, usize)) {
        // SAFETY: a kept block is mapped and not in use.
        unsafe { free(ptr::with_exposed_provenance_mut(start), bytes) }
    }

    pub fn keep_again() {
        lock().again();
    }

    /// Bytes that are mapped for an array: whole large pages, which many systems then align by themselves.
    fn whole(size: usize) -> Option<usize> {
        size.checked_next_multiple_of(LARGE).filter(|&whole| whole <= isize::MAX as usize)
    }

    /// Gives back what is kept.
    pub fn give_back_all() {
        let all = lock().take_all();
        all.for_each(give_back);
    }

    /// Zeros from the beginning of a large page on, or null.
    pub fn new(size: usize) -> *mut u8 {
        let Some(bytes) = whole(size) else { return ptr::null_mut() };
        let Some(start) = map(bytes) else { return ptr::null_mut() };
        if start.addr() % LARGE == 0 {
            return start;
        }
        // SAFETY: the mapping was made above and has not been handed out.
        let _ = unsafe { munmap(start.cast(), bytes) };
        let Some(start) = bytes.checked_add(LARGE).and_then(map) else { return ptr::null_mut() };
        let before = start.addr().next_multiple_of(LARGE) - start.addr();
        let array = start.wrapping_add(before);
        // SAFETY: both parts are of the mapping made above, outside of the array, and have not been handed out.
        unsafe {
            if before > 0 {
                let _ = munmap(start.cast(), before);
            }
            let _ = munmap(array.wrapping_add(bytes).cast(), LARGE - before);
        }
        array
    }

    fn map(bytes: usize) -> Option<*mut u8> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the system chooses an address that is free.
        unsafe { mmap_anonymous(ptr::null_mut(), bytes, protection, flags) }
            .ok()
            .map(<*mut _>::cast)
    }

    /// # Safety
    /// The array is of [`new`], [`kept`] or [`resize`], of this size, and isn't used any more.
    pub unsafe fn free(array: *mut u8, size: usize) {
        if let Some(bytes) = whole(size) {
            // SAFETY: `whole(size)` bytes were mapped for this array alone.
            let _ = unsafe { munmap(array.cast(), bytes) };
        }
    }

    /// Resizes the array, in place or elsewhere; null on failure, which leaves the array unchanged.
    ///
    /// # Safety
    /// The array is of [`new`], [`kept`] or [`resize`], of this size.
    pub unsafe fn resize(array: *mut u8, size: usize, to: usize) -> *mut u8 {
        let (Some(from), Some(bytes)) = (whole(size), whole(to)) else { return ptr::null_mut() };
        if from == bytes {
            return array;
        }
        if bytes < from {
            // SAFETY: what is behind the new end is the array's, and isn't used any more.
            let _ = unsafe { munmap(array.wrapping_add(bytes).cast(), from - bytes) };
            return array;
        }
        // SAFETY: the array may stay where it is and grow into what is free.
        if unsafe { mremap(array.cast(), from, bytes, MremapFlags::empty()) }.is_ok() {
            return array;
        }
        let moved = new(to);
        if !moved.is_null() {
            let flags = MremapFlags::MAYMOVE;
            // SAFETY: both are mapped, and the new one is larger. The pages move to its beginning.
            if unsafe { mremap_fixed(array.cast(), from, from, flags, moved.cast()) }.is_err() {
                // SAFETY: both are mapped still, the new one is larger, and the old one isn't used any more.
                unsafe {
                    moved.copy_from_nonoverlapping(array, size);
                    free(array, size);
                }
            }
        }
        moved
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    /// What the allocator gives, and the system's: arrays of many sizes are made, written to, made longer and shorter.
    #[test]
    fn arrays_of_all_sizes_hold_what_was_written() {
        let sizes = [
            1usize,
            1000,
            LEAST - 1,
            LEAST,
            LARGE,
            LARGE + 1,
            3 * LARGE - 5,
            8 * LARGE,
            9 * LARGE + 77,
        ];
        for (from, to) in sizes.iter().flat_map(|&from| sizes.map(|to| (from, to))) {
            let layout = Layout::from_size_align(from, 64).unwrap();
            // SAFETY: the layouts are those of what is given, and no more than that is written or read.
            unsafe {
                let array = LargeArrays.alloc_zeroed(layout);
                let bytes = std::slice::from_raw_parts_mut(array, from);
                assert!(bytes.iter().all(|&byte| byte == 0));
                bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = (i % 251) as u8);
                // Something in the way of an array that grows.
                let other = LargeArrays.alloc(layout);
                let array = LargeArrays.realloc(array, layout, to);
                let layout_now = Layout::from_size_align(to, 64).unwrap();
                assert!(!is_large(layout_now) || array.addr() % LARGE == 0);
                let bytes = std::slice::from_raw_parts_mut(array, to);
                let kept = bytes.iter().take(from).enumerate();
                assert!(kept.into_iter().all(|(i, &byte)| byte == (i % 251) as u8), "{from} {to}");
                bytes.fill(7);
                other.write_bytes(9, from);
                assert!(bytes.iter().all(|&byte| byte == 7));
                LargeArrays.dealloc(other, layout);
                LargeArrays.dealloc(array, layout_now);
            }
        }
    }

    #[test]
    fn what_no_system_has_is_refused() {
        let layout = Layout::from_size_align(isize::MAX as usize - 63, 64).unwrap();
        // SAFETY: the size isn't 0, and nothing is given.
        assert!(unsafe { LargeArrays.alloc(layout) }.is_null());
    }

    #[test]
    fn arrays_keep_what_they_hold() {
        for length in [0usize, 1, 1 << 10, 3 << 18, 5 << 20] {
            let array: Vec<u32> = (0..length as u32).collect();
            assert!(in_large_pages(array).into_iter().eq(0..length as u32));
        }
    }
}
