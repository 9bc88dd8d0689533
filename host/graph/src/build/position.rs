//! Positions in arrays of entries.

/// What positions in an array of entries are counted in: where these are few, numbers of half the size, of which
/// twice as many are near the processor.
pub(super) trait Position: Copy + Default + bytemuck::Zeroable + Send + Sync {
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
