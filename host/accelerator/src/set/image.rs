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

/// What the units of a vertex as a root depend on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Root {
    /// Neighbours before it.
    pub before: u32,
    /// Those of them whose lists cliques read.
    pub read: u32,
    /// Lines of these lists.
    pub lines: u64,
    /// Steps over them: what is in order meets each of its lines, and each of the root's up to the member.
    pub steps: u64,
    /// Lines of the blocks of the neighbours behind it, in an image of both lists.
    pub later: u64,
}

impl Root {
    /// Adds a member's list: `at` is the place of the member, `lines` the part of its list that cliques read.
    pub fn add(&mut self, at: usize, lines: u32) {
        // Without a branch: which members are read is hard to predict.
        let read = u64::from(lines > 0);
        self.read += read as u32;
        self.lines += u64::from(lines);
        self.steps += u64::from(lines) + read * (at as u64 / u64::from(ENTRIES_A_LINE));
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
    /// By vertex; of an image that others have put together none.
    roots: Vec<Root>,
}

/// Where each list of a graph goes, before its image is filled.
#[derive(Debug, Clone)]
pub struct Placement {
    blocks: Vec<Block>,
    /// Neighbours before each vertex.
    before: Vec<u32>,
    lists: Lists,
    size: Size,
}

impl Placement {
    /// Gives each vertex its block.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the graph has more quarter-lines than ids can name.
    pub fn new(view: View<'_>, lists: Lists) -> Result<Self> {
        let (blocks, before, quarters) = place(view, lists)?;
        let longest_block = blocks.iter().map(|b| b.lines()).max().unwrap_or(0);
        Ok(Placement { blocks, before, lists, size: Size { quarters, longest_block } })
    }

    /// The image's size.
    pub fn size(&self) -> Size {
        self.size
    }

    /// The most neighbours that a vertex has before it.
    pub fn longest(&self) -> u32 {
        self.before.iter().copied().max().unwrap_or(0)
    }
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
        Ok(Self::placed(view, Placement::new(view, lists)?, threads))
    }

    /// Builds it in its place.
    pub fn placed(view: View<'_>, placement: Placement, threads: usize) -> Self {
        let Placement { blocks, before, lists, size } = placement;
        let mut words = vec![PADDING; size.quarters as usize * QUARTER];
        let mut roots: Vec<Root> =
            before.into_iter().map(|before| Root { before, ..Root::default() }).collect();
        fill(view, lists, &blocks, &mut roots, &mut words, threads);
        for block in blocks.iter().filter(|b| b.address != Block::NONE && b.is_long()) {
            let at = (block.address as usize - 1) * QUARTER;
            words[at + LENGTH_UP as usize] = block.up;
            words[at + LENGTH_BLOCK as usize] = block.all;
        }
        SetImage { words, blocks, lists, roots }
    }

    /// An image that others have put together: whole lines, with the blocks of what lies in it.
    pub(super) fn made(words: Vec<u32>, blocks: Vec<Block>, lists: Lists) -> Self {
        SetImage { words, blocks, lists, roots: vec![] }
    }

    /// Size of a graph's image, without building it; `None` for more quarter-lines than ids can
    /// name.
    pub fn size_of(view: View<'_>, lists: Lists) -> Option<Size> {
        Some(Placement::new(view, lists).ok()?.size)
    }

    /// What the units of `v` as a root depend on.
    pub(super) fn root(&self, v: VertexId) -> Root {
        self.roots[v as usize]
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

/// Gives each vertex its block; also the neighbours before each, and the quarter-lines of the whole image.
fn place(view: View<'_>, lists: Lists) -> Result<(Vec<Block>, Vec<u32>, u64)> {
    let line = u64::from(LINE_QUARTERS);
    let quarters = |entries: usize| entries.div_ceil(QUARTER) as u64;
    let mut blocks = Vec::with_capacity(view.vertices());
    let mut befores = Vec::with_capacity(view.vertices());
    let mut at = 0u64;
    for v in 0..view.vertices() as VertexId {
        let row = view.neighbours(v);
        if row.is_empty() {
            blocks.push(Block { address: Block::NONE, up: 0, all: 0 });
            befores.push(0);
            continue;
        }
        let before = row.partition_point(|&u| u < v);
        befores.push(before as u32);
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
    Ok((blocks, befores, at.next_multiple_of(line)))
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
fn reaches(
    view: View<'_>,
    blocks: &[Block],
    roots: &[Root],
    shares: &[Range<usize>],
) -> Vec<Reach> {
    let mut all = vec![Reach::default(); view.vertices()];
    let mut rest = &mut all[..];
    let parts = shares.iter().map(|share| {
        let (own, others) = std::mem::take(&mut rest).split_at_mut(share.len());
        rest = others;
        (share.clone(), own)
    });
    for_parts(parts.collect(), |(share, own)| {
        for (v, own) in share.zip(own) {
            let row = view.neighbours(v as VertexId);
            *own = Reach::of(&row[..roots[v].before as usize], blocks[v]);
        }
    });
    all
}

/// What filling a graph's lists needs.
struct Filling<'a> {
    view: View<'a>,
    blocks: &'a [Block],
    reaches: Vec<Reach>,
    /// Entries in the lists of others before them, and the lines of each block; in an image of both lists.
    below: Vec<(u32, u32)>,
}

impl Filling<'_> {
    /// Writes the lists of some vertices to `words`, which begin with the entry `base`.
    fn write(&self, vertices: Range<usize>, base: usize, words: &mut [u32], roots: &mut [Root]) {
        for (v, root) in vertices.zip(roots) {
            let (block, row) = (self.blocks[v], self.view.neighbours(v as VertexId));
            if row.is_empty() {
                continue;
            }
            let from = block.address as usize * QUARTER - base;
            let (up, down) = row.split_at(root.before as usize);
            let (mut members, mut own) = (Members::default(), *root);
            for (at, (word, &u)) in words[from..].iter_mut().zip(up).enumerate() {
                let of = || self.blocks[u as usize];
                let list = || (self.view.neighbours(u), of().up);
                let entry = members.next(u, self.reaches[u as usize], list);
                *word = entry;
                let quarters = match entry >> ID_BITS {
                    SIZE_LONG => of().up,
                    quarters => quarters,
                };
                own.add(at, lines_of(entry & ((1 << ID_BITS) - 1), quarters));
            }
            if !self.below.is_empty() {
                let from = from + block.all as usize * QUARTER;
                let from = from - down.len().next_multiple_of(QUARTER);
                for (word, &u) in words[from..].iter_mut().zip(down) {
                    let (entry, lines) = self.below[u as usize];
                    *word = entry;
                    own.later += u64::from(lines);
                }
            }
            *root = own;
        }
    }
}

/// Writes the lists, and what is known of each root.
fn fill(
    view: View<'_>,
    lists: Lists,
    blocks: &[Block],
    roots: &mut [Root],
    words: &mut [u32],
    threads: usize,
) {
    let shares = shares(view, threads);
    let below = match lists {
        Lists::Both => blocks.iter().map(|b| (b.entry(b.all), b.lines())).collect(),
        Lists::Up => vec![],
    };
    let reaches = reaches(view, blocks, roots, &shares);
    let filling = Filling { view, blocks, reaches, below };
    let (mut rest, mut base, mut others) = (words, 0, roots);
    let parts = shares.into_iter().map(|share| {
        // The block of the next vertex that has one is where the next part begins.
        let next = blocks[share.end..].iter().find(|b| b.address != Block::NONE);
        let until = next.map_or(base + rest.len(), |b| b.address as usize * QUARTER);
        let (own, behind) = std::mem::take(&mut rest).split_at_mut(until - base);
        rest = behind;
        let (roots, behind) = std::mem::take(&mut others).split_at_mut(share.len());
        others = behind;
        (share, std::mem::replace(&mut base, until), own, roots)
    });
    for_parts(parts.collect(), |(share, from, own, roots)| filling.write(share, from, own, roots));
}

#[cfg(test)]
mod tests;
