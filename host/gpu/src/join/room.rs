//! How the budget is divided between the graph, the tables and what a batch of rows takes.

use gramer_base::error::{Error, Result};

/// Maximum number of rows of a batch, and of a table unless a list is longer: with more a batch takes longer than a
/// slice, and what is reserved is cleared first.
const MOST_BATCH: u64 = 1 << 18;
const MOST_ROWS: u64 = 1 << 20;
/// The same limit for a CPU.
const PORTABLE_ROWS: u64 = 1 << 15;
/// Rows of the smallest batch.
const LEAST_BATCH: u64 = 32;
/// Words of a row of a batch in addition to its lengths by linking edge: capacity, offset, first edge, fill, kept,
/// flag, place, and four of the layers.
const ROW_WORDS: u64 = 11;

/// Capacity in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Rows of a batch.
    pub batch: usize,
    /// Rows of a table, in elements of the array of all buffers.
    pub rows: usize,
}

impl Room {
    /// Divides `words` for a pattern of `depths` vertices with at most `linking` edges to earlier ones, where the
    /// longest list has `longest` vertices. Another half and `others` bytes are in use as well.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the longest list doesn't fit.
    pub fn new(
        words: u64,
        (depths, linking): (u64, u64),
        longest: u64,
        others: u64,
        portable: bool,
    ) -> Result<Self> {
        // A table for each level but the last, and the buffers.
        let table = depths * (depths - 1) / 2 + 1;
        let each = linking + ROW_WORDS;
        let batch = (words / 4 / each).clamp(LEAST_BATCH, MOST_BATCH);
        let rows = words.saturating_sub(batch * each + parts(batch)) / table;
        let least = longest.max(LEAST_BATCH);
        let rows = rows.min(if portable { PORTABLE_ROWS } else { MOST_ROWS }.max(least));
        if rows < least {
            // Batches take a quarter at most or the least; the graph takes half at most.
            let needed = others + 8 * (2 * least * table + 64 * each + 64);
            return Err(Error::Unsupported(format!(
                "the GPU has no room for tables whose rows have up to {longest} candidates; give \
                 the setting `memory` at least {}K, or use the engine `cpu`",
                needed.div_ceil(1024)
            )));
        }
        // No batch is larger than a table.
        Ok(Room { batch: batch.min(rows) as usize, rows: rows as usize })
    }

    /// Sums of the parts of a batch's prefix sum, 64 bits each.
    pub fn parts(&self) -> usize {
        parts(self.batch as u64) as usize / 2
    }
}

/// Words for the sums of parts of at least 8 rows, two of them more than whole parts.
fn parts(batch: u64) -> u64 {
    2 * (batch / 8 + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(room: Room, depths: u64, linking: u64) -> u64 {
        let table = room.rows as u64 * (depths * (depths - 1) / 2 + 1);
        table + room.batch as u64 * (linking + ROW_WORDS) + 2 * room.parts() as u64
    }

    #[test]
    fn the_room_is_never_exceeded_and_what_is_named_would_do() {
        for (depths, linking, longest) in [(2, 1, 5), (4, 3, 100), (6, 2, 3000), (16, 15, 40)] {
            let mut refused = 0;
            for words in (0..40).map(|at| 1u64 << at).chain([1000, 30_000, 777_777]) {
                match Room::new(words, (depths, linking), longest, 0, false) {
                    Ok(room) => {
                        assert!(used(room, depths, linking) <= words);
                        assert!(room.rows as u64 >= longest && room.batch <= room.rows);
                    }
                    Err(error) => {
                        refused += 1;
                        let text = error.to_string();
                        let named = text.split("at least ").nth(1).unwrap();
                        let named: u64 = named.split('K').next().unwrap().parse().unwrap();
                        let room = Room::new(256 * named, (depths, linking), longest, 0, false);
                        assert!(room.is_ok(), "{words} words: {text}");
                    }
                }
            }
            assert!(refused > 5);
        }
    }
}
