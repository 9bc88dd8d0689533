//! Layout of a part of a graph in the memory of a cluster.

use gramer_machine::ENTRIES_A_LINE;
use gramer_machine::set::{LENGTH_BLOCK, LENGTH_UP, LINE_QUARTERS, PADDING};

use crate::set::image::{Block, Lists, QUARTER, SetImage, begin};
use crate::set::reach::{Members, Reach};

/// An entry that is named, but whose list isn't read.
pub(super) const NAMED: u32 = 1 << 31;

/// Lists of numbers of rows. A row is a vertex or a list that was made for a unit, in the order of ids.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    /// Row r is `entries[ends[r]..ends[r + 1]]`.
    ends: Vec<usize>,
    /// Numbers of rows, with [`NAMED`].
    entries: Vec<u32>,
}

impl Rows {
    pub fn new() -> Self {
        Rows { ends: vec![0], entries: vec![] }
    }

    /// Adds a row.
    pub fn push(&mut self, entries: impl IntoIterator<Item = u32>) {
        self.entries.extend(entries);
        self.ends.push(self.entries.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    pub fn row(&self, row: usize) -> &[u32] {
        &self.entries[self.ends[row]..self.ends[row + 1]]
    }

    /// Where each row lies, and the quarter-lines of all. Each list follows the rules of an image; a row
    /// without entries has an id alone, which lies inside the list before it where that has one to spare.
    pub fn place(&self) -> (Vec<Block>, u64) {
        let line = u64::from(LINE_QUARTERS);
        let (mut at, mut free) = (0u64, 0u64); // free: the first id after those that are used
        let mut blocks = Vec::with_capacity(self.len());
        for row in 0..self.len() {
            let quarters = self.row(row).len().div_ceil(QUARTER) as u64;
            let mut block = Block { address: 0, up: quarters as u32, all: quarters as u32 };
            let address = if quarters == 0 {
                at = at.max(free + 1);
                free
            } else {
                let from = match block.is_long() {
                    true => (at + 1).next_multiple_of(line),
                    false => begin(at, quarters),
                };
                at = from + quarters;
                from
            };
            free = address + 1;
            block.address = address as u32;
            blocks.push(block);
        }
        (blocks, at.next_multiple_of(line))
    }

    /// The image with rows where [`Rows::place`] has them. With `cliques` members that come before their row are those
    /// of cliques, and of their lists only what can match is read.
    pub fn image(&self, blocks: Vec<Block>, quarters: u64, cliques: bool) -> SetImage {
        let mut words = vec![PADDING; quarters as usize * QUARTER];
        let reaches: Vec<Reach> = match cliques {
            true => (0..self.len()).map(|row| Reach::of(self.row(row), blocks[row])).collect(),
            false => vec![],
        };
        for (row, block) in blocks.iter().enumerate() {
            let from = block.address as usize * QUARTER;
            let mut members = Members::default();
            for (word, &entry) in words[from..].iter_mut().zip(self.row(row)) {
                let member = entry & !NAMED;
                let other = blocks[member as usize];
                *word = match entry & NAMED {
                    0 if cliques && (member as usize) < row => {
                        members.next(member, reaches[member as usize], || {
                            (self.row(member as usize), other.up)
                        })
                    }
                    0 => other.entry(other.up),
                    _ => other.entry(0),
                };
            }
            if block.is_long() {
                let at = from - QUARTER;
                words[at + LENGTH_UP as usize] = block.up;
                words[at + LENGTH_BLOCK as usize] = block.all;
            }
        }
        debug_assert_eq!(words.len() % ENTRIES_A_LINE as usize, 0);
        SetImage::made(words, blocks, Lists::Up)
    }
}
