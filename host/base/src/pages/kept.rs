//! Memory of arrays that are gone, for the next ones.

/// Ranges that are kept at a time.
const PLACES: usize = 16;
/// Bytes that are kept in all, at most: some arrays of a small graph. Those of a large one take longer to fill than to
/// be given by the system.
const MOST: usize = 32 << 20;

/// Ranges of memory in whole large pages.
pub(super) struct FreeRanges {
    /// First byte and length; length 0 if unused.
    ranges: [(usize, usize); PLACES],
    bytes: usize,
    most: usize,
}

impl FreeRanges {
    pub const fn new() -> Self {
        FreeRanges { ranges: [(0, 0); PLACES], bytes: 0, most: MOST }
    }

    /// Takes this many bytes from the smallest range that has them; its rest stays.
    pub fn take(&mut self, bytes: usize) -> Option<usize> {
        let enough = self.ranges.iter_mut().filter(|range| range.1 >= bytes);
        let range = enough.min_by_key(|range| range.1)?;
        let start = range.0;
        *range = (start + bytes, range.1 - bytes);
        self.bytes -= bytes;
        Some(start)
    }

    /// Whether a range is kept from now on. One that isn't is the caller's still.
    pub fn put(&mut self, start: usize, bytes: usize) -> bool {
        if bytes > self.most - self.bytes {
            return false;
        }
        let Some(place) = self.ranges.iter_mut().find(|range| range.1 == 0) else { return false };
        *place = (start, bytes);
        self.bytes += bytes;
        true
    }

    /// As [`FreeRanges::take_all`]. Nothing is kept until [`FreeRanges::again`].
    pub fn end(&mut self) -> impl Iterator<Item = (usize, usize)> + use<> {
        self.most = 0;
        self.take_all()
    }

    /// What is kept, of which nothing is any more.
    pub fn take_all(&mut self) -> impl Iterator<Item = (usize, usize)> + use<> {
        self.bytes = 0;
        std::mem::replace(&mut self.ranges, [(0, 0); PLACES])
            .into_iter()
            .filter(|range| range.1 > 0)
    }

    /// Keeps what comes from now on.
    pub fn again(&mut self) {
        self.most = MOST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 2 << 20;

    #[test]
    fn the_smallest_range_that_is_large_enough_is_taken_from_its_beginning() {
        let mut kept = FreeRanges::new();
        assert_eq!(kept.take(PAGE), None);
        assert!(kept.put(100 * PAGE, 5 * PAGE) && kept.put(200 * PAGE, 3 * PAGE));
        assert_eq!(kept.take(6 * PAGE), None);
        assert_eq!(kept.take(2 * PAGE), Some(200 * PAGE));
        assert_eq!(kept.take(2 * PAGE), Some(100 * PAGE));
        assert_eq!(kept.take(PAGE), Some(202 * PAGE));
        assert_eq!(kept.take(3 * PAGE), Some(102 * PAGE));
        assert_eq!(kept.take(PAGE), None);
        assert_eq!(kept.bytes, 0);
    }

    #[test]
    fn no_more_is_kept_than_may_be() {
        let mut kept = FreeRanges::new();
        assert!(!kept.put(0, MOST + PAGE));
        assert!(kept.put(0, MOST - PAGE) && !kept.put(MOST, 2 * PAGE) && kept.put(MOST, PAGE));
        assert_eq!(kept.take(MOST - PAGE), Some(0));
        // As many ranges as there are places for.
        let put = (0..).take_while(|&i| kept.put(4 * i * PAGE, if i == 3 { PAGE } else { 1 }));
        assert_eq!(put.count(), PLACES - 1);
        assert_eq!(kept.end().count(), PLACES);
        assert!(!kept.put(0, PAGE));
        assert_eq!((kept.take(1), kept.end().count()), (None, 0));
        kept.again();
        assert!(kept.put(0, PAGE));
        assert!(kept.take_all().eq([(0, PAGE)]) && kept.take(1).is_none());
        assert!(kept.put(0, MOST));
    }
}
