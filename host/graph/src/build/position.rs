//! Positions in arrays of entries, and arrays that several threads write to.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What positions in an array of entries are counted in: where these are few, numbers of half the size, of which
/// twice as many are near the processor.
pub(super) trait Position: Number + Default + bytemuck::Zeroable + Send + Sync {
    fn of(position: u64) -> Self;

    fn at(self) -> usize;

    /// Goes on to the next position.
    fn advance(&mut self) {
        *self = Self::of(self.at() as u64 + 1);
    }
}

impl Position for u32 {
    fn of(position: u64) -> u32 {
        position as u32
    }

    fn at(self) -> usize {
        self as usize
    }
}

impl Position for u64 {
    fn of(position: u64) -> u64 {
        position
    }

    fn at(self) -> usize {
        self as usize
    }
}

/// A number that [`Shared`] arrays are of.
pub(super) trait Number: Copy {
    /// The same in memory, for several threads.
    type Atomic: Sync;

    fn load(from: &Self::Atomic) -> Self;

    fn store(self, to: &Self::Atomic);
}

impl Number for u32 {
    type Atomic = AtomicU32;

    #[inline]
    fn load(from: &AtomicU32) -> u32 {
        from.load(Ordering::Relaxed)
    }

    #[inline]
    fn store(self, to: &AtomicU32) {
        to.store(self, Ordering::Relaxed);
    }
}

impl Number for u64 {
    type Atomic = AtomicU64;

    #[inline]
    fn load(from: &AtomicU64) -> u64 {
        from.load(Ordering::Relaxed)
    }

    #[inline]
    fn store(self, to: &AtomicU64) {
        to.store(self, Ordering::Relaxed);
    }
}

/// An array of which each thread writes to numbers of its own, anywhere among those of others. That costs what an array
/// of one thread costs. Whoever reads what another thread wrote does so when that thread has ended.
pub(super) struct Shared<'a, N: Number>(&'a [N::Atomic]);

impl<'a, N: Number> Shared<'a, N> {
    pub fn new(array: &'a mut [N]) -> Self {
        const { assert!(size_of::<N>() == size_of::<N::Atomic>()) };
        const { assert!(align_of::<N>() == align_of::<N::Atomic>()) };
        // SAFETY: an atomic number has the size, the alignment and the values of the number, and nobody has the array
        // in another way while it is borrowed.
        Shared(unsafe { &*(&raw mut *array as *const [N::Atomic]) })
    }

    #[inline]
    pub fn get(&self, at: usize) -> N {
        N::load(&self.0[at])
    }

    #[inline]
    pub fn set(&self, at: usize, number: N) {
        number.store(&self.0[at]);
    }
}
