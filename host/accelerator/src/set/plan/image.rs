//! Layout of a graph in the memory of a cluster for plans: `docs/reference/set-core.md`, section *Plans*.

use crate::set::image::{QUARTER, Words};
use gramer_base::error::{Error, Result};
use gramer_graph::{Label, VertexId, View};
use gramer_machine::set::{
    ID_BITS, LINE_QUARTERS, PADDING, QUARTER_ENTRIES, SIZE_BITS, size_quarters,
};

/// The largest size.
pub(in crate::set) const SIZE_MOST: u32 = (1 << SIZE_BITS) - 1;
/// Neighbours of a vertex at the most.
pub const MOST_NEIGHBOURS: u32 = size_quarters(SIZE_MOST) * QUARTER_ENTRIES;

/// The order of the vertices' ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// That of the view: the vertices with most neighbours first, which search plans count on.
    View,
    /// By label, and that of the view among vertices with the same: for plans with labels, so that a label
    /// is a range of ids, and the vertices with it follow each other in every list.
    Labels,
}

/// A graph for plans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanImage {
    words: Vec<u32>,
    /// By vertex, as in the lists of others; [`PADDING`] for a vertex without neighbours.
    entries: Vec<u32>,
    /// The ids of each label, from the first to below the second, in the order of labels.
    ranges: Vec<(Label, [u32; 2])>,
}

/// The smallest size code for a list of this many entries; above [`SIZE_MOST`] if there is none.
pub(in crate::set) fn size_of(neighbours: usize) -> u32 {
    let fits = |&size: &u32| size_quarters(size) as usize * QUARTER >= neighbours;
    (1..=SIZE_MOST).find(fits).unwrap_or(SIZE_MOST + 1)
}

impl Words for PlanImage {
    fn words(&self) -> &[u32] {
        &self.words
    }
}

impl PlanImage {
    /// Builds it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a vertex has more than [`MOST_NEIGHBOURS`], or the graph more
    /// quarter-lines than ids can name.
    pub fn new(view: View<'_>, order: Order) -> Result<Self> {
        let line = LINE_QUARTERS;
        let labels = view.vertex_labels.filter(|_| order == Order::Labels);
        let mut vertices: Vec<VertexId> = (0..view.vertices() as VertexId).collect();
        vertices.retain(|&v| !view.neighbours(v).is_empty());
        if let Some(labels) = labels {
            vertices.sort_by_key(|&v| labels[v as usize]);
        }
        let mut entries = vec![PADDING; view.vertices()];
        let mut ranges: Vec<(Label, [u32; 2])> = vec![];
        let mut at = 0u32;
        for v in vertices {
            let neighbours = view.neighbours(v).len();
            let size = size_of(neighbours);
            if size > SIZE_MOST {
                return Err(Error::Unsupported(format!(
                    "the set core's plans take vertices of up to {MOST_NEIGHBOURS} neighbours, and \
                     one has {neighbours}; use the engine `cpu`"
                )));
            }
            let quarters = size_quarters(size);
            // A list that doesn't fit into the rest of a line begins at the next one.
            if at % line + quarters > line {
                at = at.next_multiple_of(line);
            }
            entries[v as usize] = at | size << ID_BITS;
            if let Some(label) = labels.map(|labels| labels[v as usize]) {
                match ranges.last_mut() {
                    Some((last, range)) if *last == label => range[1] = at + 1,
                    _ => ranges.push((label, [at, at + 1])),
                }
            }
            at += quarters;
            if at >= (1 << ID_BITS) - line {
                return Err(Error::Unsupported(format!(
                    "the graph's image has more than {} lines of 64 bytes, the most that the set \
                     core's ids can address; use the engine `cpu`",
                    (1u32 << ID_BITS) / line - 1
                )));
            }
        }
        let mut words = vec![PADDING; at.next_multiple_of(line) as usize * QUARTER];
        for (v, &entry) in (0..).zip(&entries) {
            if entry != PADDING {
                let from = (entry & ((1 << ID_BITS) - 1)) as usize * QUARTER;
                let row = view.neighbours(v);
                let list = &mut words[from..][..row.len()];
                for (word, &u) in list.iter_mut().zip(row) {
                    *word = entries[u as usize];
                }
                if labels.is_some() {
                    list.sort_unstable_by_key(|entry| entry & ((1 << ID_BITS) - 1));
                }
            }
        }
        Ok(PlanImage { words, entries, ranges })
    }

    /// The ids that the vertices with a label have, from the first to below the second; none if no vertex
    /// with it has a neighbour, or the order isn't that of labels.
    pub fn range(&self, label: Label) -> [u32; 2] {
        let found = self.ranges.binary_search_by_key(&label, |&(of, _)| of);
        found.map_or([0, 0], |at| self.ranges[at].1)
    }

    /// The vertex that each quarter-line's list is of; [`PADDING`] where none begins.
    pub fn vertices(&self) -> Vec<VertexId> {
        let mut of = vec![PADDING; self.words.len() / QUARTER];
        for (v, _) in (0..).zip(&self.entries) {
            if let Some((id, _)) = self.list(v) {
                of[id as usize] = v;
            }
        }
        of
    }

    /// Lines of the longest list, at least 1.
    pub fn longest(&self) -> u32 {
        let sizes = self.entries.iter().filter(|&&entry| entry != PADDING);
        let most = sizes.map(|entry| entry >> ID_BITS).max();
        most.map_or(1, |size| size_quarters(size).div_ceil(LINE_QUARTERS).max(1))
    }

    /// Id and size of a vertex' list, or `None` for a vertex without neighbours.
    pub fn list(&self, v: VertexId) -> Option<(u32, u32)> {
        let entry = self.entries[v as usize];
        (entry != PADDING).then_some((entry & ((1 << ID_BITS) - 1), entry >> ID_BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_cover_every_length_and_waste_at_most_a_quarter() {
        for neighbours in (1..3000).chain([28_671, 28_672]) {
            let room = size_quarters(size_of(neighbours)) as usize * QUARTER;
            assert!(room >= neighbours);
            let least = neighbours.next_multiple_of(QUARTER);
            assert!(4 * (room - least) <= least, "{neighbours} in {room}");
        }
        assert_eq!(size_of(MOST_NEIGHBOURS as usize), SIZE_MOST);
        assert_eq!(size_of(MOST_NEIGHBOURS as usize + 1), SIZE_MOST + 1);
    }

    /// Rows as the arrays of a view.
    fn arrays(rows: &[Vec<u32>]) -> (Vec<u64>, Vec<u32>) {
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len() as u64;
            Some(*end)
        });
        (std::iter::once(0).chain(ends).collect(), rows.concat())
    }

    #[test]
    fn lists_are_whole_and_in_order() {
        // A hub of 200 with a path behind it, and a vertex without neighbours.
        let mut rows = vec![vec![]; 203];
        for v in 1..=200u32 {
            rows[0].push(v);
            rows[v as usize].push(0);
        }
        rows[200].push(201);
        rows[201].push(200);
        let (offsets, neighbours) = arrays(&rows);
        let view = View {
            offsets: &offsets,
            neighbours: &neighbours,
            vertex_labels: None,
            edge_labels: None,
        };
        let image = PlanImage::new(view, Order::View).unwrap();
        assert_eq!(image.list(202), None);
        let of = image.vertices();
        assert_eq!(of.len(), image.words().len() / QUARTER);
        for v in 0..202 {
            assert_eq!(of[image.list(v).unwrap().0 as usize], v);
        }
        assert_eq!(of.iter().filter(|&&v| v != PADDING).count(), 202);
        assert_eq!(image.range(0), [0, 0]);
        for (v, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
            let (id, size) = image.list(v as u32).unwrap();
            let quarters = size_quarters(size);
            assert!(id % 4 + quarters <= 4 || id % 4 == 0, "vertex {v} at {id}");
            let list = &image.words()[id as usize * QUARTER..][..quarters as usize * QUARTER];
            let wanted = row.iter().map(|&u| {
                let (id, size) = image.list(u).unwrap();
                id | size << ID_BITS
            });
            assert!(wanted.clone().is_sorted_by_key(|entry| entry & ((1 << ID_BITS) - 1)));
            assert!(list[..row.len()].iter().copied().eq(wanted));
            assert!(list[row.len()..].iter().all(|&word| word == PADDING));
        }
    }

    #[test]
    fn a_label_is_a_range_of_ids_and_lists_are_in_their_order() {
        // A wheel whose rim has labels in turn, and a vertex without neighbours.
        let rim = 40u32;
        let mut rows = vec![(1..=rim).collect::<Vec<u32>>()];
        for v in 0..rim {
            let mut row = vec![0, 1 + (v + 1) % rim, 1 + (v + rim - 1) % rim];
            row.sort_unstable();
            rows.push(row);
        }
        rows.push(vec![]);
        let labels: Vec<Label> =
            (0..rows.len() as u32).map(|v| [7, 3, 9][v as usize % 3]).collect();
        let (offsets, neighbours) = arrays(&rows);
        let view = View {
            offsets: &offsets,
            neighbours: &neighbours,
            vertex_labels: Some(&labels),
            edge_labels: None,
        };
        let image = PlanImage::new(view, Order::Labels).unwrap();
        assert_eq!(image.range(8), [0, 0]);
        for (v, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
            let (id, size) = image.list(v as u32).unwrap();
            for label in [3, 7, 9] {
                let [low, high] = image.range(label);
                assert_eq!((low..high).contains(&id), label == labels[v], "vertex {v}");
            }
            let list =
                &image.words()[id as usize * QUARTER..][..size_quarters(size) as usize * QUARTER];
            assert!(list.is_sorted_by_key(|entry| entry & ((1 << ID_BITS) - 1)));
            let mut wanted: Vec<u32> = row.iter().map(|&u| image.entries[u as usize]).collect();
            wanted.sort_unstable_by_key(|entry| entry & ((1 << ID_BITS) - 1));
            assert_eq!(list[..row.len()], wanted);
        }
    }
}
