//! The on-chip memory of a cluster.

use gramer_machine::set::{ID_BITS, LENGTH_BLOCK, LENGTH_UP, PADDING, QUARTER_ENTRIES, SIZE_LONG};

/// An entry of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry(pub u32);

impl Entry {
    /// The neighbour's id.
    pub fn id(self) -> u32 {
        self.0 & ((1 << ID_BITS) - 1)
    }

    /// Quarter-lines to read there, or [`SIZE_LONG`].
    fn size(self) -> u32 {
        self.0 >> ID_BITS
    }
}

/// The on-chip memory of a cluster with an image in it.
#[derive(Debug, Clone, Copy)]
pub struct Memory<'a> {
    /// The words of the image.
    pub words: &'a [u32],
}

impl<'a> Memory<'a> {
    /// An image's words.
    pub fn new(words: &'a [u32]) -> Self {
        Memory { words }
    }

    /// The entries of this many quarter-lines.
    pub fn list(self, address: u32, quarters: u32) -> impl Iterator<Item = Entry> + 'a {
        let from = (address * QUARTER_ENTRIES) as usize;
        let words = &self.words[from..][..(quarters * QUARTER_ENTRIES) as usize];
        words.iter().filter(|&&word| word != PADDING).map(|&word| Entry(word))
    }

    /// Quarter-lines to read for an entry of an up list, or of a down list.
    pub fn size(self, entry: Entry, up: bool) -> u32 {
        match entry.size() {
            SIZE_LONG => self.length(entry.id(), if up { LENGTH_UP } else { LENGTH_BLOCK }),
            size => size,
        }
    }

    /// A word of the quarter-line before a block.
    pub fn length(self, address: u32, word: u32) -> u32 {
        self.words[((address - 1) * QUARTER_ENTRIES + word) as usize]
    }
}
