//! The neighbours before each vertex, close together. Every thread makes those of some ranges of vertices.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Mutex;

use bytemuck::{Pod, Zeroable};
use gramer_base::budget::{Budget, SinglePass};
use gramer_base::context::CancelPoll;
use gramer_base::memory::{zeroed_in_part_or_unwind, zeroed_or_unwind};
use gramer_base::parallel::on_threads;
use gramer_graph::{VertexId, View};

use crate::Job;
use crate::budget::has_room;

/// Vertices whose adjacency is kept as bits: 8 words, one cache line per vertex.
pub(super) const HUBS: usize = 512;
pub(super) const WORDS: usize = HUBS / 64;

/// The hubs in a list, in one line of a cache.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct HubBits(pub [u64; WORDS]);

// SAFETY: an array of integers may be all zeros.
unsafe impl Zeroable for HubBits {}
// SAFETY: eight words, 64 bytes at an alignment of 64: no padding, and every bit pattern is a value.
unsafe impl Pod for HubBits {}

/// Rows of bits, all of them empty at first. They are words, since of memory that is aligned further Rust's library
/// clears all itself, and that of rows which aren't made, too; it comes cleared from the system.
pub(super) struct HubRows {
    words: Vec<u64>,
    rows: usize,
}

impl HubRows {
    fn new(rows: usize) -> Self {
        HubRows { words: zeroed_in_part_or_unwind((rows + 1) * WORDS), rows }
    }

    /// Rows of bits by hub number.
    pub fn all(&self) -> &[HubBits] {
        &bytemuck::pod_align_to(&self.words).1[..self.rows]
    }

    fn all_mut(&mut self) -> &mut [HubBits] {
        &mut bytemuck::pod_align_to_mut(&mut self.words).1[..self.rows]
    }
}

/// Hubs in a list from which on they are kept as bits.
const WORTH_BITS: usize = 8;

/// The row of a list without a row of bits, which is empty.
pub(super) const NO_ROW: u32 = 0;

/// The neighbours before a vertex. Those that are in its row of bits come first.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlierNeighbours {
    /// Start of the other neighbours in [`Lists::all`]; above [`PLACE_BITS`] the number of neighbours in the row of bits.
    place: u64,
    /// Number of other neighbours.
    pub others: u32,
    /// The row of bits.
    pub row: u32,
}

/// Bits of a place in [`Lists::all`]: 2^48 entries exceed any address space.
const PLACE_BITS: u32 = 48;

impl EarlierNeighbours {
    /// Start of the other neighbours in [`Lists::all`].
    #[inline(always)]
    pub fn at(self) -> usize {
        (self.place & ((1 << PLACE_BITS) - 1)) as usize
    }

    /// Number of neighbours in the row of bits.
    #[inline]
    pub fn in_bits(self) -> usize {
        (self.place >> PLACE_BITS) as usize
    }

    /// Number of neighbours.
    #[inline]
    pub fn len(self) -> usize {
        self.in_bits() + self.others as usize
    }
}

// SAFETY: all fields are integers, which may be 0.
unsafe impl Zeroable for EarlierNeighbours {}

/// The neighbours before each vertex, by its number in the order of the lists.
pub(super) struct Lists<'a> {
    pub before: Vec<EarlierNeighbours>,
    pub bits: HubRows,
    /// The lists, with room between them, or the rows of the graph.
    pub all: Cow<'a, [VertexId]>,
    /// Whether each list ascends.
    pub ascend: bool,
}

/// Entries of rows that a near cache holds, so that lists in them are as near as copies.
const NEAR: usize = if cfg!(test) { 1 << 11 } else { 1 << 19 };
/// Entries of rows from which a separate thread pays.
const ENOUGH: usize = if cfg!(test) { 1 << 8 } else { 1 << 18 };
/// Ranges for each thread.
const PARTS: usize = 4;

impl<'a> Lists<'a> {
    /// Builds lists in the order of the graph's numbers. `None` if the run was cancelled.
    pub fn by_number(graph: View<'a>, job: Job<'_>) -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx512f") && has!("popcnt") {
                return Self::by_number_with(graph, job, |part, keeps| {
                    // SAFETY: the processor has the features that the function is compiled for.
                    unsafe { by_number_avx512(graph, job, part, keeps) }
                });
            }
        }
        Self::by_number_with(graph, job, |part, keeps| {
            let below = |array: &[VertexId], list: Range<usize>, number| {
                array[list].partition_point(|&u| u < number)
            };
            of_numbers(graph, job, part, keeps, below)
        })
    }

    fn by_number_with(
        graph: View<'a>,
        job: Job<'_>,
        work: impl Fn(&mut Part<'_>, Capacity) -> Option<()> + Sync,
    ) -> Option<Self> {
        let vertices = graph.vertices();
        let budget = job.context.budget.as_deref();
        let keeps = Capacity::within(budget, graph);
        let mut lists = Self::empty(vertices, if keeps.bits { vertices } else { 0 });
        let mut parts = Parts::new(graph, job, |v| graph.offsets[v] as usize);
        if !keeps.lists {
            parts.room.fill(0);
        }
        let mut all = parts.array();
        parts.each(&mut lists, &mut all, job, |part| work(part, keeps))?;
        lists.all = if keeps.lists { all.into() } else { graph.neighbours.into() };
        Some(lists)
    }

    /// Builds lists by descending degree, independent of the graph's order: cheaper than renumbering the graph. `None`
    /// if the run was cancelled.
    pub fn by_degree(graph: View<'_>, job: Job<'_>) -> Option<Self> {
        let vertices = graph.vertices();
        let falling = DegreeOrder::of(graph);
        let mut lists = Self { ascend: false, ..Self::empty(vertices, vertices) };
        let parts = Parts::new(graph, job, |rank| falling.entries_before(graph, rank));
        let mut all = parts.array();
        parts.each(&mut lists, &mut all, job, |part| of_degrees(graph, job, &falling, part))?;
        lists.all = all.into();
        Some(lists)
    }

    fn empty(vertices: usize, rows: usize) -> Self {
        // Rows that aren't made cost no memory.
        Lists {
            before: zeroed_or_unwind(vertices),
            bits: HubRows::new(1 + rows),
            all: Cow::Borrowed(&[]),
            ascend: true,
        }
    }

    /// All neighbours before a vertex, and how many of them are in its row of bits.
    #[inline]
    pub fn of(&self, v: VertexId) -> (&[VertexId], usize) {
        let of = self.before[v as usize];
        (&self.all[of.at() - of.in_bits()..][..of.len()], of.in_bits())
    }
}

/// Capacities of the lists.
#[derive(Debug, Clone, Copy)]
struct Capacity {
    bits: bool,
    lists: bool,
}

impl Capacity {
    fn within(budget: Option<&Budget>, graph: View<'_>) -> Self {
        let bits = has_room(budget, size_of::<HubBits>() * graph.vertices());
        Capacity { bits, lists: budget.is_none() && graph.neighbours.len() > NEAR }
    }
}

/// The ranges of vertices that threads take, in the order of the lists.
struct Parts {
    /// Start of each part, and end of the last one.
    bounds: Vec<usize>,
    /// Room for the lists of each.
    room: Vec<usize>,
    threads: usize,
}

impl Parts {
    /// `before` says how many entries rows have before a vertex.
    fn new(graph: View<'_>, job: Job<'_>, before: impl Fn(usize) -> usize) -> Self {
        let (vertices, entries) = (graph.vertices(), graph.neighbours.len());
        let threads = job.context.threads().min(entries / ENOUGH).max(1);
        if threads == 1 {
            // Half of all entries are before their vertices. What a list doesn't keep is overwritten.
            return Parts { bounds: vec![0, vertices], room: vec![entries / 2 + LONG], threads };
        }
        let parts = PARTS * threads;
        let mut bounds: Vec<usize> = (0..parts)
            .map(|part| {
                let goal = (entries as u128 * part as u128 / parts as u128) as usize;
                let (mut low, mut high) = (0, vertices);
                while low < high {
                    let middle = (low + high) / 2;
                    if before(middle) < goal { low = middle + 1 } else { high = middle }
                }
                low
            })
            .collect();
        bounds.push(vertices);
        // Of how many entries is known when they are there: room that isn't used costs no memory.
        let end = |v: usize| if v == vertices { entries } else { before(v) };
        let room = bounds.windows(2).map(|w| end(w[1]) - end(w[0])).collect();
        Parts { bounds, room, threads }
    }

    /// An array for the lists of all.
    fn array(&self) -> Vec<VertexId> {
        zeroed_or_unwind(self.room.iter().sum())
    }

    /// Calls `work` with each part of the lists, which go to `all`. `None` if one of them gives it.
    fn each(
        &self,
        lists: &mut Lists<'_>,
        all: &mut [VertexId],
        job: Job<'_>,
        work: impl Fn(&mut Part<'_>) -> Option<()> + Sync,
    ) -> Option<()> {
        let (mut before, mut all) = (&mut lists.before[..], all);
        let mut bits = &mut lists.bits.all_mut()[1..];
        let (mut base, mut row) = (0, 1);
        let mut parts = Vec::with_capacity(self.room.len());
        for (bounds, &room) in self.bounds.windows(2).zip(&self.room) {
            let vertices = bounds[0]..bounds[1];
            let rows = vertices.len().min(bits.len());
            parts.push(Part {
                base,
                first_row: row as u32,
                before: before.split_off_mut(..vertices.len()).expect("one for each vertex"),
                bits: bits.split_off_mut(..rows).expect("so many"),
                all: all.split_off_mut(..room).expect("room for all parts"),
                vertices,
                made: 0,
                rows: 0,
            });
            base += room;
            row += rows;
        }
        let parts = Mutex::new(parts.into_iter());
        let made = on_threads(self.threads, |_| {
            loop {
                let taken = parts.lock().expect("no thread panics with the lock").next();
                let Some(mut part) = taken else { return Some(()) };
                job.context.cancel.check().ok()?;
                work(&mut part)?;
            }
        });
        made.into_iter().collect()
    }
}

/// The lists of a range of vertices in the hands of a thread.
struct Part<'p> {
    vertices: Range<usize>,
    /// Start of its range in [`Lists::all`], and its rows of bits.
    base: usize,
    first_row: u32,
    before: &'p mut [EarlierNeighbours],
    bits: &'p mut [HubBits],
    all: &'p mut [VertexId],
    /// Lists and rows that there are already.
    made: usize,
    rows: usize,
}

impl Part<'_> {
    /// Adds the list of the next vertex; its first `hubs` entries are hubs, from which `bits` makes a row.
    #[inline(always)]
    fn push(
        &mut self,
        at: usize,
        len: usize,
        hubs: usize,
        bits: impl FnOnce(&[VertexId]) -> HubBits,
    ) {
        let mut of = EarlierNeighbours { place: at as u64, others: len as u32, row: NO_ROW };
        if hubs >= WORTH_BITS {
            of.row = self.first_row + self.rows as u32;
            of.place = (at + hubs) as u64 | (hubs as u64) << PLACE_BITS;
            of.others -= hubs as u32;
            self.bits[self.rows] = bits(self.all);
            self.rows += 1;
        }
        self.before[self.made] = of;
        self.made += 1;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
fn by_number_avx512(
    graph: View<'_>,
    job: Job<'_>,
    part: &mut Part<'_>,
    keeps: Capacity,
) -> Option<()> {
    of_numbers(graph, job, part, keeps, |array, list, number| {
        crate::sets::leading_avx512(array, list, number)
    })
}

/// Builds the lists of a part in the order of the graph's numbers. `below` counts the elements of an ascending list in
/// an array below a number.
#[inline(always)]
fn of_numbers(
    graph: View<'_>,
    job: Job<'_>,
    part: &mut Part<'_>,
    keeps: Capacity,
    below: impl Fn(&[VertexId], Range<usize>, VertexId) -> usize,
) -> Option<()> {
    let mut looks = CancelPoll::new(&job.context.cancel);
    let mut end = 0;
    // The copies are read from now on.
    let mut pass = SinglePass::from(graph.neighbours, graph.offsets[part.vertices.start] as usize);
    for v in part.vertices.clone() {
        looks.check(16).ok()?;
        let row = graph.row(v as VertexId);
        if keeps.lists {
            pass.reach(row.start);
        }
        let mut at = row.start;
        let len = below(graph.neighbours, row, v as VertexId);
        let hubs = below(graph.neighbours, at..at + len, HUBS as VertexId);
        let of_hubs = &graph.neighbours[at..at + hubs];
        if keeps.lists {
            if len > LONG || !copy(graph.neighbours, at, len, part.all, end) {
                part.all[end..end + len].copy_from_slice(&graph.neighbours[at..at + len]);
            }
            at = part.base + end;
            end += len;
        }
        part.push(at, len, if keeps.bits { hubs } else { 0 }, |_| as_bits(of_hubs));
    }
    Some(())
}

/// Builds the lists of a part by descending degree.
fn of_degrees(
    graph: View<'_>,
    job: Job<'_>,
    falling: &DegreeOrder,
    part: &mut Part<'_>,
) -> Option<()> {
    let DegreeOrder { order, ranks, .. } = falling;
    let mut looks = CancelPoll::new(&job.context.cancel);
    let mut end = 0;
    for rank in part.vertices.clone() {
        let v = order[rank];
        looks.check(16 + graph.degree(v)).ok()?;
        // Vertices of one degree were anywhere in the graph's order.
        graph.ask_row_ahead(order, rank);
        let (begin, all) = (end, &mut *part.all);
        for &u in graph.neighbours(v) {
            let other = ranks[u as usize];
            all[end] = other;
            end += usize::from((other as usize) < rank);
        }
        let mut hubs = begin;
        for at in begin..end {
            let is_hub = (all[at] as usize) < HUBS;
            all.swap(at, hubs);
            hubs += usize::from(is_hub);
        }
        let at = part.base + begin;
        part.push(at, end - begin, hubs - begin, |all| as_bits(&all[begin..hubs]));
    }
    Some(())
}

/// The vertices by falling degree, ties by number.
struct DegreeOrder {
    order: Vec<VertexId>,
    /// The place of each in that.
    ranks: Vec<VertexId>,
    /// By degree: the first rank of those that have it, and how many entries the rows before have.
    first: Vec<u32>,
    entries: Vec<usize>,
}

impl DegreeOrder {
    fn of(graph: View<'_>) -> Self {
        let degrees = || graph.offsets.windows(2).map(|w| (w[1] - w[0]) as usize);
        let mut first = vec![0u32; degrees().max().unwrap_or(0) + 1];
        degrees().for_each(|degree| first[degree] += 1);
        let mut entries = vec![0; first.len()];
        let (mut ranks_before, mut entries_before) = (0, 0);
        for degree in (0..first.len()).rev() {
            let count = std::mem::replace(&mut first[degree], ranks_before);
            entries[degree] = entries_before;
            ranks_before += count;
            entries_before += count as usize * degree;
        }
        let mut next = first.clone();
        let mut order = zeroed_or_unwind(graph.vertices());
        let mut ranks = zeroed_or_unwind(graph.vertices());
        for ((v, rank), degree) in (0..).zip(&mut ranks).zip(degrees()) {
            *rank = next[degree];
            order[*rank as usize] = v;
            next[degree] += 1;
        }
        DegreeOrder { order, ranks, first, entries }
    }

    /// Entries of the rows before a rank.
    fn entries_before(&self, graph: View<'_>, rank: usize) -> usize {
        let degree = graph.degree(self.order[rank]);
        self.entries[degree] + (rank - self.first[degree] as usize) * degree
    }
}

/// Entries that are copied at a time.
const BLOCK: usize = 16;

/// Lists of more entries are looked up where they are.
pub(super) const LONG: usize = 4 * BLOCK;

/// Copies a list of at most [`LONG`] entries between two arrays, in whole blocks. Returns false without copying if one
/// of the arrays ends too early.
#[inline(always)]
pub(super) fn copy(
    array: &[VertexId],
    at: usize,
    len: usize,
    to: &mut [VertexId],
    end: usize,
) -> bool {
    let from = array.get(at..).and_then(|rest| rest.first_chunk::<LONG>());
    let to = to.get_mut(end..).and_then(|rest| rest.first_chunk_mut::<LONG>());
    let (Some(from), Some(to)) = (from, to) else { return false };
    to[..BLOCK].copy_from_slice(&from[..BLOCK]);
    if len > BLOCK {
        to[BLOCK..].copy_from_slice(&from[BLOCK..]);
    }
    true
}

#[inline]
pub(super) fn as_bits(hubs: &[VertexId]) -> HubBits {
    let mut bits = [0; WORDS];
    for &u in hubs {
        bits[u as usize / 64] |= 1 << (u % 64);
    }
    HubBits(bits)
}
