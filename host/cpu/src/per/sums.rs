//! Sums of up to 128 bits that threads share.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use gramer_base::error::{Error, Result};
use gramer_base::memory::zeroed_or_unwind;

use gramer_engine::per::Numbers;

/// One sum per item. The upper halves are there once a lower half ran over.
#[derive(Debug)]
pub(crate) struct Sums {
    low: Vec<AtomicU64>,
    high: OnceLock<Vec<AtomicU64>>,
    overflow: AtomicBool,
}

impl Sums {
    pub fn new(items: usize) -> Self {
        Sums {
            low: zeroed_or_unwind(items),
            high: OnceLock::new(),
            overflow: AtomicBool::new(false),
        }
    }

    /// Adds to one sum. One above 128 bits is noticed by [`Sums::get`].
    #[inline]
    pub fn add(&self, at: usize, value: u128) {
        if value == 0 {
            return;
        }
        let low = value as u64;
        let carry = self.low[at].fetch_add(low, Relaxed).checked_add(low).is_none();
        // With a carry, 0 is what the largest upper half becomes.
        let high = ((value >> 64) as u64).wrapping_add(carry.into());
        if high > 0 || carry {
            let all = self.high.get_or_init(|| zeroed_or_unwind(self.low.len()));
            if high == 0 || all[at].fetch_add(high, Relaxed).checked_add(high).is_none() {
                self.overflow.store(true, Relaxed);
            }
        }
    }

    /// Leaves out a value of more than 128 bits.
    pub fn overflow(&self) {
        self.overflow.store(true, Relaxed);
    }

    /// Whether a sum needs more than 128 bits.
    pub fn overflows(&self) -> bool {
        self.overflow.load(Relaxed)
    }

    /// The sums of these items, in this order.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if one needs more than 128 bits.
    pub fn get(&self, items: impl ExactSizeIterator<Item = usize>) -> Result<Numbers> {
        if self.overflow.load(Relaxed) {
            return Err(Error::Unsupported("a count needs more than 128 bits".into()));
        }
        let mut numbers = Numbers::with_capacity(items.len());
        for at in items {
            let high = self.high.get().map_or(0, |all| all[at].load(Relaxed));
            numbers.push(u128::from(high) << 64 | u128::from(self.low[at].load(Relaxed)));
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry_into_the_upper_half_and_say_when_128_bits_are_too_few() {
        let sums = Sums::new(3);
        for value in [u128::from(u64::MAX), 2, 5 << 64, u128::from(u64::MAX) << 32] {
            sums.add(1, value);
        }
        sums.add(2, 9);
        let expected = u128::from(u64::MAX) + 2 + (5 << 64) + (u128::from(u64::MAX) << 32);
        assert_eq!(sums.get([0, 1, 2].into_iter()).unwrap(), Numbers::Wide(vec![0, expected, 9]));
        sums.add(0, u128::MAX);
        assert!(sums.get([0].into_iter()).is_ok());
        // A carry into an upper half that is full already, then one that itself runs over.
        let full = Sums::new(1);
        full.add(0, 1);
        full.add(0, u128::MAX);
        assert!(full.get([0].into_iter()).is_err());
        sums.add(0, 1);
        assert!(matches!(sums.get([0].into_iter()), Err(Error::Unsupported(_))));
    }
}
