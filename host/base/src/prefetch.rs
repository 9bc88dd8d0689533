//! Asking for memory before it is needed.

/// Bytes of a line of a cache.
const LINE: usize = 64;

/// Prefetches cache lines of a slice from `at` on. Rows read in random order are then in the cache. It is a hint: any
/// position is allowed, and processors without prefetch ignore it.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], at: usize, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = slice.as_ptr().wrapping_add(at).cast::<i8>();
        for line in 0..lines {
            // SAFETY: part of the x86-64 baseline; the instruction has no visible effect, whatever
            // the address is.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * LINE)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, at, lines, LINE);
}
