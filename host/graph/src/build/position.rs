//! Positions in arrays of entries.

use super::EdgeBlock;

/// Integer type of positions in an array of entries. Small arrays use half the size, so that caches hold twice as
/// many.
pub(super) trait Position: Copy + Default + bytemuck::Zeroable + Send + Sync {
    fn of(position: u64) -> Self;

    fn at(self) -> usize;

    /// Advances to the next position.
    fn advance(&mut self) {
        *self = Self::of(self.at() as u64 + 1);
    }
}

/// Whether 32 bits are enough for the positions of all entries that rows of these edges may have.
pub(super) fn are_narrow(blocks: &[EdgeBlock]) -> bool {
    u32::try_from(2 * blocks.iter().map(EdgeBlock::len).sum::<usize>()).is_ok()
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
