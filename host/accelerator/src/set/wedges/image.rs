//! Layout of a graph in the memory of a cluster for wedges: `docs/reference/set-core.md`, section *Wedges*.

use gramer_base::error::{Error, Result};
use gramer_graph::{VertexId, View};
use gramer_machine::set::{
    ID_BITS, LINE_QUARTERS, PADDING, WEDGE_ID_BITS, WEDGE_UP_BITS, size_quarters,
};

use crate::set::image::{QUARTER, Words, begin};
use crate::set::plan::image::{MOST_NEIGHBOURS, SIZE_MOST, size_of};

/// A graph for wedges. Vertices keep the order of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WedgeImage {
    words: Vec<u32>,
    /// By vertex, as in the lists of others; [`PADDING`] for a vertex without neighbours.
    entries: Vec<u32>,
}

/// Where the list of a vertex is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Its quarter-line address: the vertex' id.
    pub id: u32,
    /// Size of the list of its neighbours before it, 0 without one.
    pub up: u32,
    /// Size of the whole list.
    pub all: u32,
}

impl Block {
    /// Fields of an entry.
    pub fn of(entry: u32) -> Self {
        Block {
            id: entry & ((1 << WEDGE_ID_BITS) - 1),
            up: entry >> WEDGE_ID_BITS & ((1 << WEDGE_UP_BITS) - 1),
            all: entry >> ID_BITS,
        }
    }

    fn entry(self) -> u32 {
        self.id | self.up << WEDGE_ID_BITS | self.all << ID_BITS
    }
}

impl Words for WedgeImage {
    fn words(&self) -> &[u32] {
        &self.words
    }
}

impl WedgeImage {
    /// Builds it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a vertex has more neighbours than sizes can say, or the graph more
    /// quarter-lines than ids can name.
    pub fn new(view: View<'_>) -> Result<Self> {
        let mut entries = vec![PADDING; view.vertices()];
        let mut at = 0u64;
        for v in 0..view.vertices() as VertexId {
            let row = view.neighbours(v);
            if row.is_empty() {
                continue;
            }
            let before = row.partition_point(|&u| u < v);
            let up = if before > 0 { size_of(before) } else { 0 };
            let filled = if up > SIZE_MOST { 0 } else { size_quarters(up) as usize * QUARTER };
            let all = size_of(filled + row.len() - before);
            if up > SIZE_MOST || all > SIZE_MOST {
                return Err(Error::Unsupported(format!(
                    "the set core's wedges take vertices of up to {MOST_NEIGHBOURS} neighbours, \
                     those before the vertex rounded up, and one has {}; use the engine `cpu`",
                    row.len()
                )));
            }
            let quarters = u64::from(size_quarters(all));
            at = begin(at, quarters);
            if at + quarters > 1 << WEDGE_ID_BITS {
                return Err(Error::Unsupported(format!(
                    "the graph's image has more than {} lines of 64 bytes, the most that the set \
                     core's ids can address for houses and 5-cycles; use the engine `cpu`",
                    (1u32 << WEDGE_ID_BITS) / LINE_QUARTERS
                )));
            }
            entries[v as usize] = Block { id: at as u32, up, all }.entry();
            at += quarters;
        }
        let quarters = at.next_multiple_of(LINE_QUARTERS.into()) as usize;
        let mut words = vec![PADDING; quarters * QUARTER];
        for v in 0..view.vertices() as VertexId {
            let row = view.neighbours(v);
            if row.is_empty() {
                continue;
            }
            let block = Block::of(entries[v as usize]);
            let (up, down) = row.split_at(row.partition_point(|&u| u < v));
            let from = block.id as usize * QUARTER;
            let second = from + size_quarters(block.up) as usize * QUARTER;
            for (list, from) in [(up, from), (down, second)] {
                for (word, &u) in words[from..].iter_mut().zip(list) {
                    *word = entries[u as usize];
                }
            }
        }
        Ok(WedgeImage { words, entries })
    }

    /// Where a vertex' list is; `None` without neighbours.
    pub fn block(&self, v: VertexId) -> Option<Block> {
        let entry = self.entries[v as usize];
        (entry != PADDING).then(|| Block::of(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A star of this many leaves with the hub at a place, and its rules.
    fn star(leaves: u32, hub: u32) {
        let n = leaves + 1;
        let rows: Vec<Vec<u32>> = (0..n)
            .map(|v| if v == hub { (0..n).filter(|&u| u != hub).collect() } else { vec![hub] })
            .collect();
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len() as u64;
            Some(*end)
        });
        let offsets: Vec<u64> = std::iter::once(0).chain(ends).collect();
        let neighbours = rows.concat();
        let view = View {
            offsets: &offsets,
            neighbours: &neighbours,
            vertex_labels: None,
            edge_labels: None,
        };
        let image = WedgeImage::new(view).unwrap();
        let mut used = vec![false; image.words().len()];
        let mut last = None;
        for (v, row) in (0..).zip(&rows) {
            let block = image.block(v).unwrap();
            assert!(last.is_none_or(|last| last < block.id), "ids are in order");
            last = Some(block.id);
            let quarters = size_quarters(block.all);
            assert!(block.id % 4 + quarters <= 4 || block.id % 4 == 0);
            let words =
                &image.words()[block.id as usize * QUARTER..][..quarters as usize * QUARTER];
            let before = row.partition_point(|&u| u < v);
            let (up, down) = words.split_at(size_quarters(block.up) as usize * QUARTER);
            assert_eq!(block.up == 0, before == 0);
            for (words, list) in [(up, &row[..before]), (down, &row[before..])] {
                let found: Vec<Block> =
                    words.iter().filter(|&&word| word != PADDING).map(|&w| Block::of(w)).collect();
                let wanted: Vec<Block> = list.iter().map(|&u| image.block(u).unwrap()).collect();
                assert_eq!(found, wanted, "vertex {v} of {n}");
                assert!(words[list.len()..].iter().all(|&word| word == PADDING));
            }
            for used in &mut used[block.id as usize * QUARTER..][..quarters as usize * QUARTER] {
                assert!(!std::mem::replace(used, true), "no two lists share a quarter-line");
            }
        }
    }

    #[test]
    fn lists_of_every_length_have_those_before_the_vertex_first() {
        for leaves in [1, 3, 4, 5, 15, 16, 17, 63, 64, 123, 124, 125, 128, 129, 160, 161, 600] {
            for hub in [0, 1, leaves / 2, leaves - 1, leaves] {
                star(leaves, hub);
            }
        }
    }

    #[test]
    fn what_has_no_room_is_refused() {
        let star = |leaves: u32| {
            let mut offsets: Vec<u64> = vec![0];
            offsets.extend((0..=u64::from(leaves)).map(|v| u64::from(leaves) + v));
            let neighbours: Vec<u32> = (1..=leaves).chain((0..leaves).map(|_| 0)).collect();
            let view = View {
                offsets: &offsets,
                neighbours: &neighbours,
                vertex_labels: None,
                edge_labels: None,
            };
            WedgeImage::new(view).map(drop)
        };
        assert!(star(MOST_NEIGHBOURS).is_ok());
        let refused = star(MOST_NEIGHBOURS + 1).unwrap_err().to_string();
        assert!(refused.contains("28672 neighbours") && refused.contains("has 28673"), "{refused}");
        let refused = star(1 << WEDGE_ID_BITS).unwrap_err().to_string();
        assert!(refused.contains("neighbours"), "{refused}");
    }
}
