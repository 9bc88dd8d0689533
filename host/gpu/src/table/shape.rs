//! Description of columns and of the new vertex for the kernels of `table.cl`.

use crate::plan::{Depth, DepthLimit};

/// No place: a column that isn't stored, or has no fills.
pub(super) const NONE: u32 = u32::MAX;
/// Lanes of a warp, which is a work-group; elements of a window.
pub(super) const LANES: usize = 32;
/// Words of the shape's head and of a column there; as in `table.clh`.
const HEAD: usize = 16;
const COLUMN_WORDS: usize = 4;

/// Words of a shape: its head, columns, and the new vertex.
pub(super) fn shape_words(limit: DepthLimit) -> usize {
    HEAD + limit.depths() * COLUMN_WORDS + limit.words()
}

/// A column of a table in the arena; places are words from its begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    /// Vertices; [`NONE`]: the element's number is the vertex.
    pub ids: u32,
    /// Places of the parents in the column before; [`NONE`] for the first column.
    pub parents: u32,
    /// Number of elements of each block; [`NONE`]: all places are elements.
    pub fills: u32,
    /// Elements of a block, a multiple of [`LANES`].
    pub block: u32,
}

impl Column {
    /// The first column: all vertices.
    pub const VERTICES: Column = Column { ids: NONE, parents: NONE, fills: NONE, block: 1 << 10 };
}

/// Room for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Region {
    /// Location.
    pub column: Column,
    /// Blocks in it.
    pub blocks: u32,
}

impl Region {
    /// A region at `at`, of at most `words`, with blocks for this many warps.
    ///
    /// # Panics
    /// If there is no room for a block.
    pub fn new(at: u32, words: u64, warps: usize) -> Self {
        // A warp's last block is half empty: small pools have small blocks.
        let mut block = MOST_BLOCK;
        while block > LANES as u64 && words / (2 * block + 1) < 4 * warps as u64 {
            block /= 2;
        }
        let blocks = words / (2 * block + 1);
        assert!(blocks > 0);
        let elements = (blocks * block) as u32;
        let column = Column {
            ids: at,
            parents: at + elements,
            fills: at + 2 * elements,
            block: block as u32,
        };
        Region { column, blocks: blocks as u32 }
    }
}

/// The arena of a table that is made column by column: the segment that is extended, the new column, and
/// both once they were packed, each with room for the same number of elements in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableArena {
    /// Elements of a column.
    pub rows: u32,
    /// The new column.
    pub out: Region,
    /// Location of the segment.
    pub input: u32,
    /// Location of packed columns.
    pub packed: u32,
    /// Location of the marks, one per element, and their number.
    pub marks: u32,
}

impl TableArena {
    /// Words of the smallest arena for this many columns.
    pub fn least(columns: u64) -> u64 {
        Self::needed(columns, LANES as u64)
    }

    fn needed(columns: u64, rows: u64) -> u64 {
        let region = 2 * rows + rows.div_ceil(LANES as u64);
        region + 4 * columns * rows + rows + 1
    }

    /// Divides `words` among this many columns.
    ///
    /// # Panics
    /// If there are fewer than [`TableArena::least`].
    pub fn new(words: u64, columns: u64, warps: usize) -> Self {
        let lanes = LANES as u64;
        let per = 4 * columns + 4;
        let mut rows = (words / per / lanes * lanes).max(lanes);
        while rows > lanes && Self::needed(columns, rows) > words {
            rows -= lanes;
        }
        assert!(Self::needed(columns, rows) <= words);
        let region = 2 * rows + rows.div_ceil(lanes);
        let mut out = Region::new(0, region, warps);
        // No more elements than the marks have room for.
        out.blocks = out.blocks.min((rows / u64::from(out.column.block)) as u32);
        let (input, side) = (region as u32, (2 * columns * rows) as u32);
        let packed = input + side;
        TableArena { rows: rows as u32, out, input, packed, marks: packed + side }
    }

    /// The column of the segment with this number, from 0.
    pub fn input(&self, column: usize) -> Column {
        let ids = self.input + 2 * column as u32 * self.rows;
        Column { ids, parents: ids + self.rows, fills: NONE, block: LANES as u32 }
    }

    /// Location of a packed column.
    pub fn packed(&self, column: usize) -> Column {
        let ids = self.packed + 2 * column as u32 * self.rows;
        Column { ids, parents: ids + self.rows, fills: NONE, block: LANES as u32 }
    }
}

/// Elements of a block of 8 KiB (GAMMA, section 6.1).
const MOST_BLOCK: u64 = 1024;
/// Words of the smallest region.
pub(super) const LEAST_REGION: u64 = 2 * LANES as u64 + 1;

/// A vertex next to all before it, on lists that lead to larger numbers.
pub(super) fn next_to_all(depth: usize) -> Depth {
    Depth { near: (1 << depth) - 1, ..Depth::default() }
}

/// An extension.
pub(super) struct Shape<'a> {
    /// The columns there are.
    pub columns: &'a [Column],
    /// Places in the last one.
    pub rows: u32,
    /// Location of the new column; `None`: its elements are only counted.
    pub out: Option<Region>,
    /// The new vertex.
    pub next: &'a Depth,
    /// The label of the first vertex.
    pub first_label: u32,
    /// Vertices and list entries of the graph.
    pub sizes: (u32, u32),
    /// Elements per page, as a power of two, and whether entries have labels.
    pub page: (u32, bool),
    /// Words of the arena.
    pub arena: u32,
    /// The fewest and the most neighbours of the new vertex, where a program looks at them.
    pub degrees: (u32, u32),
    /// The limit of the kernels that read it.
    pub limit: DepthLimit,
}

impl Shape<'_> {
    /// Encodes the shape in the order of the kernels.
    pub fn words(&self) -> Vec<u32> {
        let mut words = vec![0; HEAD + self.limit.depths() * COLUMN_WORDS];
        let out = self.out.map_or([0; 5], |r| {
            [r.column.ids, r.column.parents, r.column.fills, r.column.block, r.blocks]
        });
        words[0] = self.columns.len() as u32;
        words[1] = self.rows;
        words[2..7].copy_from_slice(&out);
        words[7] = u32::from(self.out.is_none());
        (words[8], words[9]) = self.sizes;
        (words[10], words[11]) = (self.page.0, self.page.1.into());
        words[12] = self.arena;
        words[13] = self.first_label;
        (words[14], words[15]) = self.degrees;
        for (at, c) in self.columns.iter().enumerate() {
            let at = HEAD + at * COLUMN_WORDS;
            words[at..at + COLUMN_WORDS].copy_from_slice(&[c.ids, c.parents, c.fills, c.block]);
        }
        words.extend(self.next.words(self.limit));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_fill_their_room_with_blocks_that_fit_the_warps() {
        let region = Region::new(7, 1 << 20, 4);
        assert_eq!((region.column.block, region.blocks), (1024, 511));
        assert_eq!(region.column.fills, 7 + 2 * 511 * 1024);
        let small = Region::new(0, LEAST_REGION, 4);
        assert_eq!((small.column.block, small.blocks), (32, 1));
        let whole = TableArena::new(1 << 20, 4, 8);
        let region = whole.out;
        assert!(region.blocks * region.column.block <= whole.rows);
        assert!(whole.marks + whole.rows < 1 << 20);
        assert!(whole.packed >= whole.input + 8 * whole.rows);
        let least = TableArena::least(4);
        assert_eq!(TableArena::new(least, 4, 8).rows, 32);
    }
}
