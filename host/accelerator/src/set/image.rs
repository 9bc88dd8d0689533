//! Layout of a graph in the memory of a cluster: `docs/reference/set-core.md`, section *Image*.

use std::ops::Range;

use gramer_base::error::{Error, Result};
use gramer_base::parallel::for_parts;
use gramer_graph::{VertexId, View};
use gramer_machine::ENTRIES_A_LINE;
use gramer_machine::set::{
    ID_BITS, LENGTH_BLOCK, LENGTH_UP, LINE_QUARTERS, PADDING, QUARTER_ENTRIES, SIZE_LONG,
};

use super::memory::Memory;
use super::reach::{Members, Reach};

/// Entries of a quarter-line, as an index.
pub(super) const QUARTER: usize = QUARTER_ENTRIES as usize;
/// Edges below which one thread fills the image.
const FEW_EDGES: usize = 1 << 16;

/// Which lists an image has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lists {
    /// Neighbours before a vertex alone: enough for cliques.
    Up,
    /// All neighbours.
    Both,
}

/// Where the lists of a vertex are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Its quarter-line address: the vertex' id. [`Block::NONE`] for a vertex without neighbours.
    pub address: u32,
    /// Quarter-lines of the list of neighbours before it.
    pub up: u32,
    /// Quarter-lines of both lists with what lies between them.
    pub all: u32,
}

impl Block {
    /// The address of a vertex without neighbours, which has no block.
    pub const NONE: u32 = u32::MAX;

    /// An entry of a list: this vertex' id and the quarter-lines to read there.
    pub(super) fn entry(self, quarters: u32) -> u32 {
        self.address | quarters.min(SIZE_LONG) << ID_BITS
    }

    /// Lines that it touches.
    fn lines(self) -> u32 {
        if self.address == Block::NONE { 0 } else { lines_of(self.address, self.all) }
    }

    /// Whether its lengths lie in the quarter-line before it.
    pub(super) fn is_long(self) -> bool {
        self.all >= SIZE_LONG
    }
}

/// How large an image is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Quarter-lines: above every id.
    pub quarters: u64,
    /// Lines that the longest block touches.
    pub longest_block: u32,
}

impl Size {
    /// Lines of 64 bytes.
    pub fn lines(self) -> u64 {
        self.quarters / u64::from(LINE_QUARTERS)
    }
}

/// A graph as the set core reads it. Vertices keep the order of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetImage {
    words: Vec<u32>,
    blocks: Vec<Block>,
    lists: Lists,
}

/// An image in the layout of a cluster's memory.
pub trait Words {
    /// Entries, 16 a line.
    fn words(&self) -> &[u32];

    /// The same as bytes.
    fn bytes(&self) -> &[u8] {
        // The words of a little-endian host; `gramer` is built for no other.
        const { assert!(cfg!(target_endian = "little")) };
        bytemuck::cast_slice(self.words())
    }

    /// Lines of 64 bytes.
    fn lines(&self) -> u32 {
        (self.words().len() / ENTRIES_A_LINE as usize) as u32
    }
}

impl Words for SetImage {
    fn words(&self) -> &[u32] {
        &self.words
    }
}

impl SetImage {
    /// Builds it on up to `threads` threads.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the graph has more quarter-lines than ids can name.
    pub fn new(view: View<'_>, lists: Lists, threads: usize) -> Result<Self> {
        let (blocks, quarters) = place(view, lists)?;
        let mut words = vec![PADDING; quarters as usize * QUARTER];
        fill(view, lists, &blocks, &mut words, threads);
        for block in blocks.iter().filter(|b| b.address != Block::NONE && b.is_long()) {
            let at = (block.address as usize - 1) * QUARTER;
            words[at + LENGTH_UP as usize] = block.up;
            words[at + LENGTH_BLOCK as usize] = block.all;
        }
        Ok(SetImage { words, blocks, lists })
    }

    /// An image that others have put together: whole lines, with the blocks of what lies in it.
    pub(super) fn made(words: Vec<u32>, blocks: Vec<Block>, lists: Lists) -> Self {
        SetImage { words, blocks, lists }
    }

    /// Size of a graph's image, without building it; `None` for more quarter-lines than ids can
    /// name.
    pub fn size_of(view: View<'_>, lists: Lists) -> Option<Size> {
        let (blocks, quarters) = place(view, lists).ok()?;
        let longest_block = blocks.iter().map(|b| b.lines()).max().unwrap_or(0);
        Some(Size { quarters, longest_block })
    }

    /// Where the lists of `v` are.
    pub fn block(&self, v: VertexId) -> Block {
        self.blocks[v as usize]
    }

    /// Lists in the image.
    pub fn lists(&self) -> Lists {
        self.lists
    }

    /// Lines to read of the list of each of a list's members, as cliques read it: `quarters` quarter-lines from
    /// `address` on, all entries before the vertices of their lists.
    ///
    /// ```
    /// use gramer_accelerator::set::image::{Lists, SetImage};
    ///
    /// let mut builder = gramer_graph::Builder::new();
    /// for (u, v) in [(0, 1), (0, 2), (1, 2), (2, 3)] {
    ///     builder.edge(u, v);
    /// }
    /// let graph = builder.build();
    /// let image = SetImage::new(graph.view(), Lists::Up, 1)?;
    /// let lines = |v| {
    ///     let block = image.block(v);
    ///     image.reads(block.address, block.up).collect::<Vec<u32>>()
    /// };
    /// // Vertex 1 is read for 2, since 0 may be in both lists; 2 is read for none, as the first before 3.
    /// assert_eq!((lines(2), lines(3)), (vec![0, 1], vec![0]));
    /// # Ok::<(), gramer_base::Error>(())
    /// ```
    pub fn reads(&self, address: u32, quarters: u32) -> impl Iterator<Item = u32> + '_ {
        let memory = Memory::new(&self.words);
        memory.list(address, quarters).map(move |e| lines_of(e.id(), memory.size(e, true)))
    }
}

/// Lines that `quarters` quarter-lines from `address` on touch.
pub fn lines_of(address: u32, quarters: u32) -> u32 {
    match quarters {
        0 => 0,
        n => (address % LINE_QUARTERS + n).div_ceil(LINE_QUARTERS),
    }
}

/// Start of a list of this many quarter-lines, if `at` is the first free place: not in a line whose
/// rest it doesn't fit into.
pub(super) fn begin(at: u64, quarters: u64) -> u64 {
    let line = u64::from(LINE_QUARTERS);
    if at % line + quarters > line { at.next_multiple_of(line) } else { at }
}

/// Gives each vertex its block; also the quarter-lines of the whole image.
fn place(view: View<'_>, lists: Lists) -> Result<(Vec<Block>, u64)> {
    let line = u64::from(LINE_QUARTERS);
    let quarters = |entries: usize| entries.div_ceil(QUARTER) as u64;
    let mut blocks = Vec::with_capacity(view.vertices());
    let mut at = 0u64;
    for v in 0..view.vertices() as VertexId {
        let row = view.neighbours(v);
        if row.is_empty() {
            blocks.push(Block { address: Block::NONE, up: 0, all: 0 });
            continue;
        }
        let before = row.partition_point(|&u| u < v);
        let up = quarters(before);
        let down = match lists {
            Lists::Both => quarters(row.len() - before),
            Lists::Up => 0,
        };
        // Both lists from a line's start or from here, whichever the first of them wants.
        let whole = |from: u64| {
            let between = if down == 0 { from + up } else { begin(from + up, down) };
            between + down - from
        };
        let mut from = begin(at, if up > 0 { up } else { down });
        if whole(from) >= u64::from(SIZE_LONG) {
            // From a line's start, with room for the lengths before it.
            from = (at + 1).next_multiple_of(line);
        }
        let all = whole(from);
        blocks.push(Block { address: from as u32, up: up as u32, all: all as u32 });
        // A vertex with an empty list still has an id.
        at = from + all.max(1);
        if at >= (1 << ID_BITS) - line {
            return Err(Error::Unsupported(format!(
                "the graph's image has more than {} lines of 64 bytes, the most that the set \
                 core's ids can address; use the engine `cpu`",
                (1u64 << ID_BITS) / line - 1
            )));
        }
    }
    Ok((blocks, at.next_multiple_of(line)))
}

/// The vertices that each thread has, with about as many neighbours each.
fn shares(view: View<'_>, threads: usize) -> Vec<Range<usize>> {
    let parts = if view.neighbours.len() < FEW_EDGES { 1 } else { threads.max(1) };
    let share = view.neighbours.len().div_ceil(parts).max(1) as u64;
    let mut first = 0;
    let range = |part: u64| {
        let end = view.offsets[1..].partition_point(|&at| at <= share * part);
        let end = if part == parts as u64 { view.vertices() } else { end.max(first) };
        std::mem::replace(&mut first, end)..end
    };
    (1..=parts as u64).map(range).collect()
}

/// What is known of the neighbours before each vertex.
fn reaches(view: View<'_>, blocks: &[Block], shares: &[Range<usize>]) -> Vec<Reach> {
    let mut all = vec![Reach::default(); view.vertices()];
    let mut rest = &mut all[..];
    let parts = shares.iter().map(|share| {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(share.len());
        rest = others;
        (share.clone(), own)
    });
    for_parts(parts.collect(), |(share, own)| {
        for (v, own) in share.zip(own) {
            *own = Reach::of(before(view, v as VertexId), blocks[v]);
        }
    });
    all
}

/// The neighbours before a vertex.
fn before(view: View<'_>, v: VertexId) -> &[VertexId] {
    let row = view.neighbours(v);
    &row[..row.partition_point(|&u| u < v)]
}

/// Writes the lists.
fn fill(view: View<'_>, lists: Lists, blocks: &[Block], words: &mut [u32], threads: usize) {
    let shares = shares(view, threads);
    let reaches = reaches(view, blocks, &shares);
    // What stands in the lists of others after them.
    let below: Vec<u32> = match lists {
        Lists::Both => blocks.iter().map(|b| b.entry(b.all)).collect(),
        Lists::Up => vec![],
    };
    let write = |vertices: Range<usize>, base: usize, words: &mut [u32]| {
        for v in vertices {
            let (block, row) = (blocks[v], view.neighbours(v as VertexId));
            if row.is_empty() {
                continue;
            }
            let from = block.address as usize * QUARTER - base;
            let up = before(view, v as VertexId).len();
            let mut members = Members::default();
            for (word, &u) in words[from..].iter_mut().zip(&row[..up]) {
                *word = members
                    .next(u, reaches[u as usize], || (view.neighbours(u), blocks[u as usize].up));
            }
            if lists == Lists::Both {
                let down = (row.len() - up).div_ceil(QUARTER);
                let from = from + (block.all as usize - down) * QUARTER;
                for (word, &u) in words[from..].iter_mut().zip(&row[up..]) {
                    *word = below[u as usize];
                }
            }
        }
    };
    let (mut rest, mut base) = (words, 0);
    let parts = shares.into_iter().map(|share| {
        // The block of the next vertex that has one is where the next part begins.
        let next = blocks[share.end..].iter().find(|b| b.address != Block::NONE);
        let until = next.map_or(base + rest.len(), |b| b.address as usize * QUARTER);
        let (own, others) = std::mem::take(&mut rest).split_at_mut(until - base);
        rest = others;
        (share, std::mem::replace(&mut base, until), own)
    });
    for_parts(parts.collect(), |(share, from, own)| write(share, from, own));
}

#[cfg(test)]
mod tests {
    use super::super::memory::Memory;
    use super::*;

    /// A graph from its edges: offsets and neighbours.
    fn graph(vertices: u32, edges: &[(u32, u32)]) -> (Vec<u64>, Vec<u32>) {
        let mut rows = vec![vec![]; vertices as usize];
        for &(u, v) in edges {
            rows[u as usize].push(v);
            rows[v as usize].push(u);
        }
        let mut offsets = vec![0];
        for row in &mut rows {
            row.sort_unstable();
            row.dedup();
            offsets.push(offsets[offsets.len() - 1] + row.len() as u64);
        }
        (offsets, rows.concat())
    }

    fn view<'a>((offsets, neighbours): &'a (Vec<u64>, Vec<u32>)) -> View<'a> {
        View { offsets, neighbours, vertex_labels: None, edge_labels: None }
    }

    /// Every rule of the format, and every neighbour found again, for lists of all lengths.
    #[test]
    fn every_image_keeps_the_rules() {
        let mut cases = vec![(1, vec![]), (2, vec![(0, 1)]), (9, vec![(3, 7)])];
        for d in [3, 4, 5, 15, 16, 17, 63, 64, 240, 244, 245, 248, 249, 252, 253, 600] {
            // A hub before its neighbours, one behind them, and one between them.
            for hub in [0, d / 2, d] {
                let star = (0..=d).filter(|&v| v != hub).map(|v| (hub, v));
                cases.push((d + 1, star.collect()));
            }
            let both = (0..2 * d).map(|v| (d, if v < d { v } else { v + 1 }));
            cases.push((2 * d + 1, both.collect()));
        }
        let complete = (0..70).flat_map(|u| (0..u).map(move |v| (u, v)));
        cases.push((70, complete.collect()));
        let mut rng = fastrand_like(7);
        for _ in 0..40 {
            let n = 2 + rng() % 300;
            let edges = (0..rng() % 3000).map(|_| (rng() % n, rng() % n));
            cases.push((n, edges.filter(|(u, v)| u != v).collect()));
        }
        for (n, edges) in cases {
            let made = graph(n, &edges);
            for lists in [Lists::Up, Lists::Both] {
                let image = SetImage::new(view(&made), lists, 1).unwrap();
                rules(view(&made), &image);
            }
        }
    }

    fn fastrand_like(seed: u64) -> impl FnMut() -> u32 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u32
        }
    }

    fn rules(view: View<'_>, image: &SetImage) {
        assert_eq!(image.words().len() % ENTRIES_A_LINE as usize, 0);
        let memory = Memory::new(image.words());
        let mut used = vec![false; image.words().len()];
        let mut last = None;
        let vertex_of = |id: u32| {
            let all = 0..view.vertices() as VertexId;
            all.into_iter().find(|&v| image.block(v).address == id).unwrap()
        };
        for v in 0..view.vertices() as VertexId {
            let (block, row) = (image.block(v), view.neighbours(v));
            if row.is_empty() {
                assert_eq!(block.address, Block::NONE);
                continue;
            }
            assert!(last.is_none_or(|last| last < block.address), "ids are in order");
            last = Some(block.address);
            let before = row.partition_point(|&u| u < v);
            for (list, quarters, from) in [
                (&row[..before], block.up, block.address),
                (&row[before..], row[before..].len().div_ceil(QUARTER) as u32, 0),
            ] {
                if list.is_empty() || (from == 0 && image.lists() == Lists::Up) {
                    continue;
                }
                let up = list.as_ptr() == row.as_ptr() && before > 0;
                let from = if up { block.address } else { block.address + block.all - quarters };
                // Rule 1.
                assert!(
                    from % LINE_QUARTERS + quarters <= LINE_QUARTERS || from % LINE_QUARTERS == 0
                );
                let found: Vec<u32> = memory.list(from, quarters).map(|e| e.id()).collect();
                let wanted: Vec<u32> = list.iter().map(|&u| image.block(u).address).collect();
                assert_eq!(found, wanted);
                for (at, (entry, &u)) in memory.list(from, quarters).zip(list).enumerate() {
                    assert_eq!(vertex_of(entry.id()), u);
                    let (other, size) = (image.block(u), memory.size(entry, up));
                    if !up {
                        assert_eq!(size, other.all);
                        continue;
                    }
                    // As much as can match.
                    assert!(size <= other.up);
                    let read: Vec<u32> = memory.list(other.address, size).map(|e| e.id()).collect();
                    let before = view.neighbours(u);
                    for w in list[..at].iter().filter(|w| before.contains(w)) {
                        assert!(read.contains(&image.block(*w).address), "{w} of {u} in {v}");
                    }
                }
                for word in &mut used[from as usize * QUARTER..][..quarters as usize * QUARTER] {
                    assert!(!std::mem::replace(word, true), "no two lists share a quarter-line");
                }
            }
            if block.is_long() {
                assert_eq!(block.address % LINE_QUARTERS, 0, "rule 2");
                let at = (block.address as usize - 1) * QUARTER;
                for word in &mut used[at..at + QUARTER] {
                    assert!(!std::mem::replace(word, true), "the lengths lie in no list");
                }
                assert_eq!(image.words()[at..at + 4], [block.up, block.all, PADDING, PADDING]);
            }
        }
        // Rule 3.
        let rest = used.iter().zip(image.words()).filter(|(used, _)| !**used);
        assert!(rest.into_iter().all(|(_, &word)| word == PADDING));
    }

    #[test]
    fn threads_make_the_same_image() {
        let mut rng = fastrand_like(3);
        let edges: Vec<(u32, u32)> = (0..60_000)
            .map(|_| {
                let u = rng() % 20_000;
                (u, (u + 1 + rng() % (1 + u / 7)) % 20_000)
            })
            .filter(|(u, v)| u != v)
            .collect();
        let made = graph(20_500, &edges);
        assert!(made.1.len() > FEW_EDGES);
        for lists in [Lists::Up, Lists::Both] {
            let one = SetImage::new(view(&made), lists, 1).unwrap();
            for threads in [2, 3, 8] {
                assert_eq!(SetImage::new(view(&made), lists, threads).unwrap(), one);
            }
        }
    }
}
