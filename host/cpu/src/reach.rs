//! A thread's tables of the vertices that one start vertex reaches.
//!
//! A table with an entry per vertex of the graph is read in one step, but with hundreds of millions of vertices each
//! thread would have gigabytes of it. So there are two forms, and [`fits`] chooses: [`Dense`], the whole table, where
//! those of a thread together take at most [`MOST_BYTES`], and [`Sparse`] else, an open-addressing table of what isn't
//! empty. Tasks are compiled for both.
//!
//! The caller limits a sparse table to [`ByVertex::most`] entries: if a start vertex reaches more, numbers are added up
//! for one range of vertices after another ([`parts`]), and values of a vertex' neighbours are looked up in its row
//! ([`NeighbourTable`]).

#[cfg(test)]
mod tests;

use std::ops::Range;

use gramer_graph::VertexId;

/// Maximum number of bytes of the tables of one thread: 64 MB, less 8 for its other data.
pub(super) const MOST_BYTES: usize = 56_000_000;

/// Bytes of a sparse table for each entry that it may have at most: two slots of up to 16, half as much again while it
/// grows, and a place in two lists that double as they grow.
const SPARSE_BYTES: usize = 64;

/// Entries of a sparse table that are never too many.
const LEAST_ENTRIES: usize = if cfg!(test) { 2 } else { 1 << 10 };

/// Maximum number of bytes of dense tables, and of sparse ones.
#[cfg(not(test))]
fn limits() -> [usize; 2] {
    [MOST_BYTES; 2]
}

#[cfg(test)]
use tests::limits;

/// Whether tables of this many bytes per vertex in all are dense.
pub(super) fn fits(vertices: usize, bytes: usize) -> bool {
    vertices.saturating_mul(bytes) <= limits()[0]
}

/// Calls a function that is generic over the form of its tables, by their bytes per vertex in all:
/// `by_form!(graph.vertices(), 4, F => count::<F>(graph))`.
macro_rules! by_form {
    ($vertices:expr, $bytes:expr, $form:ident => $call:expr) => {
        match crate::reach::fits($vertices, $bytes) {
            true => {
                type $form = crate::reach::Dense;
                $call
            }
            false => {
                type $form = crate::reach::Sparse;
                $call
            }
        }
    };
}
pub(super) use by_form;

/// One of the two forms.
pub(super) trait Form: 'static {
    /// Whether there is an entry per vertex.
    const DENSE: bool;
    type Table<T: Copy + PartialEq + Send + Sync>: ByVertex<T>;
}

/// An entry per vertex.
pub(super) struct Dense;

/// Entries that are not empty.
pub(super) struct Sparse;

impl Form for Dense {
    const DENSE: bool = true;
    type Table<T: Copy + PartialEq + Send + Sync> = DenseTable<T>;
}

impl Form for Sparse {
    const DENSE: bool = false;
    type Table<T: Copy + PartialEq + Send + Sync> = SparseTable<T>;
}

/// A table by vertex, most of it empty.
pub(super) trait ByVertex<T>: Send {
    /// An empty table. A sparse one is one of `tables` of its thread that share the limit.
    fn new(vertices: usize, empty: T, tables: usize) -> Self;

    fn get(&self, v: VertexId) -> T;

    /// The entry of a vertex, to change it.
    fn entry(&mut self, v: VertexId) -> &mut T;

    /// Empties the table, of which these vertices at least are not empty.
    fn clear(&mut self, touched: impl IntoIterator<Item = VertexId>);

    /// Entries that it may have.
    fn most(&self) -> usize;

    /// The entries of all vertices, where there is one for each.
    #[inline(always)]
    fn all(&self) -> Option<&[T]> {
        None
    }
}

pub(super) struct DenseTable<T> {
    entries: Vec<T>,
    empty: T,
}

impl<T: Copy + PartialEq + Send> ByVertex<T> for DenseTable<T> {
    fn new(vertices: usize, empty: T, _tables: usize) -> Self {
        DenseTable { entries: vec![empty; vertices], empty }
    }

    #[inline(always)]
    fn get(&self, v: VertexId) -> T {
        self.entries[v as usize]
    }

    #[inline(always)]
    fn entry(&mut self, v: VertexId) -> &mut T {
        &mut self.entries[v as usize]
    }

    #[inline(always)]
    fn clear(&mut self, touched: impl IntoIterator<Item = VertexId>) {
        for v in touched {
            self.entries[v as usize] = self.empty;
        }
    }

    fn most(&self) -> usize {
        usize::MAX
    }

    #[inline(always)]
    fn all(&self) -> Option<&[T]> {
        Some(&self.entries)
    }
}

/// No vertex: graphs have fewer than 2^32.
const FREE: VertexId = VertexId::MAX;

pub(super) struct SparseTable<T> {
    /// A power of two of them, at least half of which are free: vertices with their entries.
    slots: Vec<(VertexId, T)>,
    /// Slots in use.
    used: Vec<u32>,
    empty: T,
    most: usize,
}

impl<T: Copy + PartialEq> SparseTable<T> {
    /// Slot of a vertex' entry, existing or not.
    #[inline(always)]
    fn slot(&self, v: VertexId) -> usize {
        // Fibonacci hashing: neighbouring ids, of which rows of valuable vertices have many, go far apart.
        let mask = self.slots.len() - 1;
        let hash = u64::from(v).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let mut at = hash as usize & mask;
        while self.slots[at].0 != v && self.slots[at].0 != FREE {
            at = (at + 1) & mask;
        }
        at
    }

    /// Makes room, by forgetting entries that have become empty or by twice as many slots.
    #[cold]
    fn grow(&mut self) {
        let filled = |&&at: &&u32| self.slots[at as usize].1 != self.empty;
        let live = self.used.iter().filter(filled).count();
        let len = match live >= self.used.len() / 4 * 3 {
            true => 2 * self.slots.len(),
            false => self.slots.len(),
        };
        let old = std::mem::replace(&mut self.slots, vec![(FREE, self.empty); len]);
        let mut used = std::mem::take(&mut self.used);
        used.retain_mut(|at| {
            let (v, entry) = old[*at as usize];
            let keep = entry != self.empty;
            if keep {
                let to = self.slot(v);
                self.slots[to] = (v, entry);
                *at = to as u32;
            }
            keep
        });
        self.used = used;
    }
}

impl<T: Copy + PartialEq + Send> ByVertex<T> for SparseTable<T> {
    fn new(_vertices: usize, empty: T, tables: usize) -> Self {
        let most = (limits()[1] / (SPARSE_BYTES * tables)).max(LEAST_ENTRIES);
        // From a number of entries on, twice as many slots are taken: at most four for each.
        let most = 1 << most.ilog2();
        SparseTable { slots: vec![(FREE, empty); 16], used: vec![], empty, most }
    }

    #[inline(always)]
    fn get(&self, v: VertexId) -> T {
        // A free slot's entry is empty.
        self.slots[self.slot(v)].1
    }

    #[inline(always)]
    fn entry(&mut self, v: VertexId) -> &mut T {
        let mut at = self.slot(v);
        if self.slots[at].0 == FREE {
            if 2 * self.used.len() >= self.slots.len() {
                self.grow();
                at = self.slot(v);
            }
            self.slots[at].0 = v;
            self.used.push(at as u32);
        }
        &mut self.slots[at].1
    }

    fn clear(&mut self, _touched: impl IntoIterator<Item = VertexId>) {
        for at in self.used.drain(..) {
            self.slots[at as usize] = (FREE, self.empty);
        }
    }

    fn most(&self) -> usize {
        self.most
    }
}

/// A range of vertices in parts, of each of which a table with `most` entries holds everything. `reach` says how many
/// entries there may be for the whole range at most, and `visit`, which is called where these are too many, hands on the
/// vertex of each, once or several times.
#[inline]
pub(super) fn parts(
    most: usize,
    range: Range<VertexId>,
    reach: impl FnOnce() -> usize,
    visit: impl FnOnce(&mut dyn FnMut(VertexId)),
) -> impl Iterator<Item = Range<VertexId>> {
    let whole = range.len() <= most || reach() <= most;
    let several = if whole { vec![] } else { divided(most, &range, visit) };
    whole.then_some(range).into_iter().chain(several)
}

/// Several parts, as long as that allows: what is reached is counted by blocks of vertices, and blocks are put together.
#[cold]
fn divided(
    most: usize,
    range: &Range<VertexId>,
    visit: impl FnOnce(&mut dyn FnMut(VertexId)),
) -> Vec<Range<VertexId>> {
    /// Blocks, unless a block would have more vertices than the table entries.
    const BLOCKS: usize = if cfg!(test) { 8 } else { 1 << 12 };
    let width = range.len().div_ceil(BLOCKS).clamp(1, most);
    let mut reached = vec![0usize; range.len().div_ceil(width)];
    visit(&mut |v| {
        if range.contains(&v) {
            reached[(v - range.start) as usize / width] += 1;
        }
    });
    let mut parts: Vec<Range<VertexId>> = vec![];
    let (mut start, mut entries) = (range.start, 0);
    for (block, reached) in reached.into_iter().enumerate() {
        let first = range.start + (block * width) as VertexId;
        // A block alone has no more vertices than there may be entries.
        let reached = reached.min(width);
        if entries + reached > most {
            parts.push(start..first);
            (start, entries) = (first, 0);
        }
        entries += reached;
    }
    parts.push(start..range.end);
    parts
}

/// Values of the neighbours of one vertex, by their places in its row.
pub(super) struct NeighbourTable<'a, T: Copy + PartialEq + Send + Sync, F: Form> {
    row: &'a [VertexId],
    table: F::Table<T>,
    empty: T,
}

impl<'a, T: Copy + PartialEq + Send + Sync, F: Form> NeighbourTable<'a, T, F> {
    /// Creates an empty table. A sparse table is one of `tables` of its thread.
    pub fn new(vertices: usize, empty: T, tables: usize) -> Self {
        NeighbourTable { row: &[], table: F::Table::new(vertices, empty, tables), empty }
    }

    /// Whether the row is longer than the table may be, and so searched.
    #[inline(always)]
    fn is_searched(&self) -> bool {
        !F::DENSE && self.row.len() > self.table.most()
    }

    /// Makes it that of the vertex with this row, or of a part of it; `of` says what is known of the vertex at a place.
    #[inline]
    pub fn enter(&mut self, row: &'a [VertexId], of: impl Fn(usize) -> T) {
        self.row = row;
        if self.is_searched() {
            return;
        }
        for (at, &v) in row.iter().enumerate() {
            *self.table.entry(v) = of(at);
        }
    }

    /// Returns the value of a vertex, by `of` as in [`NeighbourTable::enter`], or the empty value for a vertex outside
    /// of the row.
    #[inline(always)]
    pub fn get(&self, v: VertexId, of: impl Fn(usize) -> T) -> T {
        match self.is_searched() {
            true => self.row.binary_search(&v).map_or(self.empty, of),
            false => self.table.get(v),
        }
    }

    /// Makes it that of no vertex.
    #[inline]
    pub fn leave(&mut self) {
        // Empty where the row was searched.
        if !self.is_searched() {
            self.table.clear(self.row.iter().copied());
        }
        self.row = &[];
    }
}

/// No place in a row.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The places of the neighbours of one vertex in its row.
pub(super) struct Places<'a, F: Form>(NeighbourTable<'a, u32, F>);

impl<'a, F: Form> Places<'a, F> {
    /// As [`NeighbourTable::new`].
    pub fn new(vertices: usize, tables: usize) -> Self {
        Places(NeighbourTable::new(vertices, NOWHERE, tables))
    }

    /// As [`NeighbourTable::enter`].
    #[inline]
    pub fn enter(&mut self, row: &'a [VertexId]) {
        self.0.enter(row, |at| at as u32);
    }

    /// The place of a vertex, or [`NOWHERE`].
    #[inline(always)]
    pub fn of(&self, v: VertexId) -> u32 {
        self.0.get(v, |at| at as u32)
    }

    /// As [`NeighbourTable::leave`].
    #[inline]
    pub fn leave(&mut self) {
        self.0.leave();
    }
}
