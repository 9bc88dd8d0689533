//! Large arrays in large pages.

/// Bytes of a large page of the systems that have them.
const LARGE: usize = 2 << 20;

/// The array, whose memory the system is asked to give in large pages as it is first written to. Each page costs
/// a fault and has to be cleared, which takes several times as long with small ones (figures: `docs/cpu.md`). Where the
/// system has none the array stays as it is.
///
/// ```
/// let array = gramer_graph::pages::in_large_pages(Vec::<u64>::with_capacity(1 << 20));
/// assert!(array.is_empty() && array.capacity() >= 1 << 20);
/// ```
pub fn in_large_pages<T>(mut array: Vec<T>) -> Vec<T> {
    let bytes = array.capacity() * size_of::<T>();
    let start = array.as_mut_ptr().cast::<u8>();
    let skipped = start.addr().next_multiple_of(LARGE) - start.addr();
    let whole = bytes.saturating_sub(skipped) / LARGE * LARGE;
    if whole > 0 {
        advise(start.wrapping_add(skipped), whole);
    }
    array
}

#[cfg(target_os = "linux")]
fn advise(start: *mut u8, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    // SAFETY: the advice changes how pages are made, not what they hold, and the range is within an
    // allocation of the caller's.
    let _ = unsafe { madvise(start.cast(), bytes, Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn advise(_start: *mut u8, _bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::in_large_pages;

    #[test]
    fn arrays_keep_what_they_hold() {
        for length in [0usize, 1, 1 << 10, 3 << 18, 5 << 20] {
            let array: Vec<u32> = (0..length as u32).collect();
            assert!(in_large_pages(array).into_iter().eq(0..length as u32));
        }
    }
}
