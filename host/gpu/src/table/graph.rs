//! The graph on the device for the strategy `table`, within the budget.

use std::sync::Arc;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::Graph;

use crate::device::{Arg, Device};
use crate::graph::ByDegree;
use crate::memory::Buffer;
use crate::plan::DepthLimit;
use crate::resident::{SLOTS, SUM_WORDS, check_fault, wide_sums};

use super::pages::{Access, PageShape, PagedLists, first_words, marks};
use super::shape::{LANES, LEAST_REGION, TableArena, shape_words};

/// Sums of a run, as in `table.clh`.
pub(super) const SUMS: usize = 6;
/// Words of the control block and of a warp's state; as in `table.clh`.
pub(super) const CONTROL_WORDS: usize = 4;
const STATE_WORDS: usize = 8;
/// Entries of a page: the most, of 4 KiB (GAMMA, section 3.2), and the least, as powers of two.
const PAGE_BITS: (u32, u32) = (10, 5);
/// Slots from which on pages aren't made smaller for more of them.
const ENOUGH_SLOTS: u64 = 256;
/// Maximum number of words of the arena: places are u32, and what is reserved is cleared first, which takes time.
const MOST_ARENA: u64 = 1 << 28;
/// Maximum number of words of the arena on a CPU, limited by its caches.
const MOST_ARENA_PORTABLE: u64 = 1 << 22;
/// The part of the arena that the dictionary of keys gets, its most and its least words.
const DICTIONARY: (u64, u64, u64) = (16, 1 << 20, 1 << 6);
/// Warps of a compute unit.
const WARPS: usize = 32;

/// Lanes of a warp: 1 on a processor.
pub(super) fn lanes(device: &Device) -> usize {
    if device.limits.portable { 1 } else { LANES }
}

/// Definitions of the kernels of tables.
pub(super) fn defines(device: &Device, limit: DepthLimit) -> String {
    format!("#define LANES {}u\n{}", lanes(device), limit.define())
}

/// Maximum number of words of an arena on a device.
pub(super) fn most_arena(device: &Device) -> u64 {
    if device.limits.portable { MOST_ARENA_PORTABLE } else { MOST_ARENA }
}

/// The parts of the graph that a table needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GraphRequest {
    /// Only lists of larger numbers.
    pub oriented: bool,
    /// Labels of edges.
    pub edge_labels: bool,
    /// Labels of vertices.
    pub vertex_labels: bool,
    /// Extensions of a table.
    pub columns: usize,
    /// Whether a column is made whole before the next.
    pub breadth: bool,
    /// Whether there is room for roots, a part of the arena.
    pub share: bool,
    /// Columns that are extended at a time: all of a recursion, or one.
    pub levels: usize,
    /// Whether rows are put into groups, by keys that the device knows again.
    pub groups: bool,
    /// As [`super::TableSettings::warps`].
    pub warps: Option<usize>,
    /// The limit of the kernels' depths.
    pub limit: DepthLimit,
}

/// Lists of the graph.
pub(super) enum Lists {
    /// All of them.
    Whole(Buffer<u32>),
    /// By pages.
    PagedLists(Box<PagedLists>),
}

impl Lists {
    /// Copies entries and labels to the device.
    fn whole(device: &Device, [entries, labels]: [&[u32]; 2]) -> Result<Self> {
        let len = entries.len() + labels.len();
        let mut words = Buffer::new(&device.place(), len, "the edges")?;
        words.write_at(&device.queue, 0, entries)?;
        words.write_at(&device.queue, entries.len(), labels)?;
        Ok(Lists::Whole(words))
    }

    /// Whether elements wait until their pages are on the device.
    pub fn wait(&self) -> bool {
        matches!(self, Lists::PagedLists(paged) if paged.marks().is_some())
    }
}

/// A graph on the device, with the room for tables.
pub(super) struct TableGraph {
    pub device: Arc<Device>,
    pub wanted: GraphRequest,
    pub vertices: usize,
    pub entries: usize,
    pub offsets: Buffer<u32>,
    pub labels: Option<Buffer<u32>>,
    pub lists: Lists,
    pub arena: Buffer<u32>,
    /// Dictionary of the keys of rows; `None` without room or need.
    pub dictionary: Option<Buffer<u32>>,
    /// Owner of the keys; 0: none.
    pub dictionary_of: u64,
    /// Shape, control and states of each level of a recursion.
    pub levels: Vec<Level>,
    pub warps: usize,
    pub sums: Buffer<u32>,
    pub fault: Buffer<u32>,
}

/// Buffers of the extension of one column.
pub(super) struct Level {
    pub shape: Buffer<u32>,
    pub control: Buffer<u32>,
    pub states: Buffer<u32>,
}

/// Division of the budget, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shares {
    warps: usize,
    page_bits: u32,
    /// 0: the lists are whole.
    slots: usize,
    arena_words: u64,
}

/// Sizes to divide.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    limit: u64,
    vertices: usize,
    entries: usize,
    wanted: GraphRequest,
    warps: usize,
    /// Maximum number of words of the arena.
    most_arena: u64,
    /// Entries of the longest list, where elements wait until their lists are on the device.
    longest: Option<usize>,
}

/// Bytes of the smallest arena.
fn least_arena(wanted: GraphRequest) -> u64 {
    let columns = wanted.columns.max(1) as u64;
    let roots = if wanted.share { LANES as u64 } else { 0 };
    4 * (roots + if wanted.breadth { TableArena::least(columns) } else { LEAST_REGION * columns })
}

impl Sizes {
    /// Bytes that don't depend on the division.
    fn fixed(&self, warps: usize) -> u64 {
        let labels = if self.wanted.vertex_labels { self.vertices.max(1) } else { 0 };
        let level = shape_words(self.wanted.limit) + CONTROL_WORDS + warps * STATE_WORDS;
        let sums = SUMS * SLOTS * SUM_WORDS + 1;
        4 * (self.vertices + 1 + labels + sums + self.wanted.levels.max(1) * level) as u64
    }

    fn list_bytes(&self) -> u64 {
        (4 * (self.entries as u64).max(1)) << u32::from(self.wanted.edge_labels)
    }

    fn least_arena(&self) -> u64 {
        least_arena(self.wanted)
    }

    /// Bytes of the page table, and of a slot.
    fn paged(&self, bits: u32) -> (u64, u64) {
        let pages = PageShape::pages(bits, self.entries).max(1) as u64;
        (8 * pages, 4 << bits << u32::from(self.wanted.edge_labels))
    }

    /// The fewest slots: where elements wait for pages, for the lists of one.
    fn least_slots(&self, bits: u32) -> u64 {
        let Some(longest) = self.longest else { return 1 };
        let pages = PageShape::pages(bits, self.entries).max(1);
        let list = longest.div_ceil(1 << bits) + 1;
        pages.min(list * self.wanted.columns.max(1)) as u64
    }

    /// The fewest bytes of the page table and the slots.
    fn least_paged(&self, bits: u32) -> u64 {
        let (table, slot) = self.paged(bits);
        table + self.least_slots(bits) * slot
    }

    /// Bytes of the marks of elements, in addition to an arena of this many words.
    fn marks(&self, arena_words: u64) -> u64 {
        match self.longest {
            Some(_) => {
                4 * (marks(self.vertices, arena_words) + first_words(self.wanted.limit) as u64)
            }
            None => 0,
        }
    }

    /// Words of so large an arena that go to the dictionary of keys.
    fn dictionary(&self, arena_words: u64) -> u64 {
        let (part, most, least) = DICTIONARY;
        let spare = arena_words - self.least_arena() / 4;
        let words = if self.wanted.groups { (arena_words / part).min(most).min(spare) } else { 0 };
        if words < least { 0 } else { words }
    }

    /// The least that would do.
    fn least(&self) -> u64 {
        let least_arena = self.least_arena();
        let paged = (PAGE_BITS.1..=PAGE_BITS.0).map(|bits| self.least_paged(bits));
        let paged = paged.min().expect("there are sizes") + self.marks(least_arena / 4);
        self.fixed(1) + least_arena + paged.min(self.list_bytes())
    }

    fn divide(&self) -> Result<Shares> {
        let least = self.least();
        if self.limit < least {
            return Err(Error::Unsupported(format!(
                "the GPU has no room for the graph's offsets, a page of its lists and a block of \
                 each table: {} bytes may be used; give the setting `memory` at least {}K, or use \
                 the engine `cpu`",
                self.limit,
                least.div_ceil(1024)
            )));
        }
        // States of warps take a sixteenth at most.
        let mut warps = self.warps.max(1);
        while warps > 1 && (self.fixed(warps) - self.fixed(0)) * 16 > self.limit
            || self.fixed(warps) + least - self.fixed(1) > self.limit
        {
            warps = (warps / 2).max(1);
        }
        let rest = self.limit - self.fixed(warps);
        let arena = |bytes: u64| (bytes / 4).min(self.most_arena.max(self.least_arena() / 4));
        if self.list_bytes() + self.least_arena().max(rest / 4) <= rest {
            let arena_words = arena(rest - self.list_bytes());
            return Ok(Shares { warps, page_bits: 0, slots: 0, arena_words });
        }
        // Large pages, unless that leaves few slots; then those that leave any.
        let one = (PAGE_BITS.1..=PAGE_BITS.0).map(|bits| self.least_paged(bits));
        let most = (rest / 2).max(one.min().expect("there are sizes"));
        let least_arena = self.least_arena();
        let most = most.min(rest.saturating_sub(least_arena + self.marks(least_arena / 4)));
        let slots = |bits: u32| {
            let (table, slot) = self.paged(bits);
            most.saturating_sub(table) / slot
        };
        let fit = |bits: &u32| slots(*bits) >= self.least_slots(*bits);
        let page_bits = (PAGE_BITS.1..=PAGE_BITS.0)
            .rev()
            .filter(fit)
            .find(|&bits| slots(bits) >= ENOUGH_SLOTS)
            .or_else(|| (PAGE_BITS.1..=PAGE_BITS.0).filter(fit).max_by_key(|&bits| slots(bits)));
        let Some(page_bits) = page_bits else {
            // There is room for the lists, but not for large tables in addition.
            let arena_words = arena(rest - self.list_bytes());
            return Ok(Shares { warps, page_bits: 0, slots: 0, arena_words });
        };
        let (table, slot) = self.paged(page_bits);
        let pages = PageShape::pages(page_bits, self.entries) as u64;
        let slots = slots(page_bits).clamp(1, pages.max(1));
        let mut arena_words = arena(rest - table - slots * slot);
        if self.longest.is_some() {
            // Marks take 1/16 of the arena, and what is rounded up.
            let room = rest - table - slots * slot - self.marks(0);
            let least = least_arena / 4;
            arena_words = arena_words.min((room.saturating_sub(64) / 17 * 4).max(least));
        }
        Ok(Shares { warps, page_bits, slots: slots as usize, arena_words })
    }
}

/// Whether a device has work-groups that are large enough.
fn has_lanes(device: &Device) -> Result<()> {
    let (label, lanes) = (device.label(), device.limits.group);
    if lanes < LANES {
        return Err(Error::Unsupported(format!(
            "the strategy table needs work-groups of {LANES} lanes, and {label} has {lanes}; use another strategy"
        )));
    }
    Ok(())
}

impl TableGraph {
    /// Maximum of roots that fit into the arena in addition to tables; at least [`LANES`] if they are needed.
    pub fn most_roots(&self) -> usize {
        let least = least_arena(self.wanted) as usize / 4 - LANES;
        (self.arena.len() / 8).max(LANES).min(self.arena.len() - least)
    }

    /// Uploads the requested parts that fit to the device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] that names the least budget, [`Error::Device`], [`Error::Interrupted`].
    pub fn new(
        device: &Arc<Device>,
        by: &ByDegree,
        graph: &Graph,
        wanted: GraphRequest,
        access: Access,
        context: &Context,
    ) -> Result<Self> {
        has_lanes(device)?;
        let own;
        let (offsets, ends): (&[u32], &[u32]) = match wanted.oriented {
            true => {
                own = by.oriented();
                (&own.0, &own.1)
            }
            false => (&by.offsets, &by.neighbours),
        };
        let vertices = by.vertices();
        let entries = ends.len();
        let units = device.limits.units;
        let warps = if device.limits.portable { 2 * units } else { WARPS * units };
        // At most one per window of vertices, except for small graphs with much work.
        let warps = wanted.warps.unwrap_or(warps.min(entries.div_ceil(LANES))).max(1);
        let limit = device.budget.free();
        let most_arena = most_arena(device);
        let longest = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max();
        let longest = (access == Access::Defer).then(|| longest.unwrap_or(0));
        let sizes = Sizes { limit, vertices, entries, wanted, warps, most_arena, longest };
        let shares = sizes.divide()?;
        let (place, dictionary) = (device.place(), sizes.dictionary(shares.arena_words));
        let view = graph.view();
        let labels = view.vertex_labels.filter(|_| wanted.vertex_labels).map(|labels| {
            let labels: Vec<u32> = by.vertex.iter().map(|&v| labels[v as usize]).collect();
            Buffer::of(&place, &labels, "vertex labels")
        });
        let edge_labels = if wanted.edge_labels { by.edge_labels(graph) } else { vec![] };
        let parts = [ends, &edge_labels];
        let lists = match shares.slots {
            0 => Lists::whole(device, parts)?,
            slots => {
                let (bits, labelled) = (shares.page_bits, wanted.edge_labels);
                let marks = marks(vertices, shares.arena_words) as usize;
                let first = first_words(wanted.limit);
                let shape = PageShape { bits, slots, labelled, access, marks, first };
                let rank = access.scores(graph, by, (offsets, bits), context)?;
                Lists::PagedLists(Box::new(PagedLists::new(device, &parts, shape, rank)?))
            }
        };
        let levels = (0..wanted.levels.max(1))
            .map(|_| {
                Ok(Level {
                    shape: Buffer::new(&place, shape_words(wanted.limit), "a table's shape")?,
                    control: Buffer::new(&place, CONTROL_WORDS, "the control block")?,
                    states: Buffer::new(&place, shares.warps * STATE_WORDS, "states of warps")?,
                })
            })
            .collect::<Result<_>>()?;
        Ok(TableGraph {
            device: device.clone(),
            wanted,
            vertices,
            entries,
            offsets: Buffer::of(&place, offsets, "the graph's offsets")?,
            labels: labels.transpose()?,
            lists,
            arena: Buffer::new(&place, (shares.arena_words - dictionary) as usize, "tables")?,
            dictionary: (dictionary > 0)
                .then(|| Buffer::new(&place, dictionary as usize, "keys of groups"))
                .transpose()?,
            dictionary_of: 0,
            levels,
            warps: shares.warps,
            sums: Buffer::of(&place, &[0; SUMS * SLOTS * SUM_WORDS], "sums")?,
            fault: Buffer::of(&place, &[0], "the error word")?,
        })
    }

    /// Clears the sums.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn begin(&mut self) -> Result<()> {
        self.sums.zero(&self.device.queue)
    }

    /// The sums since [`TableGraph::begin`].
    ///
    /// # Errors
    /// [`Error::Device`] for a fault that a checked kernel met, and what the runtime refuses.
    pub fn sums(&self) -> Result<[u128; SUMS]> {
        let mut sums = [0u128; SUMS];
        wide_sums(&self.sums, &self.device.queue, &mut sums)?;
        check_fault(&self.device, &self.fault)?;
        Ok(sums)
    }

    /// Arguments for the lists: entries or slots, page table, and the host's entries.
    pub fn list_args(&self) -> [Arg; 3] {
        let none = Arg::Buffer(self.fault.raw());
        match &self.lists {
            Lists::Whole(entries) => [Arg::Buffer(entries.raw()), none, none],
            Lists::PagedLists(paged) => [
                Arg::Buffer(paged.slots.raw()),
                Arg::Buffer(paged.table.raw()),
                paged.cold().unwrap_or(none),
            ],
        }
    }

    /// Entries per page, as a power of two, and whether they have labels.
    pub fn page(&self) -> (u32, bool) {
        let bits = match &self.lists {
            Lists::Whole(_) => 0,
            Lists::PagedLists(paged) => paged.bits,
        };
        (bits, self.wanted.edge_labels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(limit: u64, breadth: bool) -> Sizes {
        let wanted = GraphRequest {
            oriented: true,
            edge_labels: false,
            vertex_labels: false,
            columns: 3,
            breadth,
            share: false,
            levels: 3,
            groups: false,
            warps: None,
            limit: DepthLimit::SMALL,
        };
        Sizes {
            limit,
            vertices: 1000,
            entries: 50_000,
            wanted,
            warps: 64,
            most_arena: MOST_ARENA,
            longest: None,
        }
    }

    #[test]
    fn every_budget_from_the_least_on_is_divided_and_none_is_exceeded() {
        for (breadth, longest) in
            [(false, None), (true, None), (false, Some(700)), (true, Some(3)), (false, Some(0))]
        {
            let sizes = |limit, breadth| Sizes { longest, ..sizes(limit, breadth) };
            let least = sizes(0, breadth).least();
            let text = sizes(least - 1, breadth).divide().unwrap_err().to_string();
            assert!(
                text.contains(&format!("the setting `memory` at least {}K", least.div_ceil(1024))),
                "{text}"
            );
            let mut limit = least;
            while limit < 1 << 23 {
                let all = sizes(limit, breadth);
                let shares = all.divide().unwrap();
                let lists = match shares.slots {
                    0 => all.list_bytes(),
                    slots => {
                        let (table, slot) = all.paged(shares.page_bits);
                        assert!(slots as u64 >= all.least_slots(shares.page_bits), "{limit}");
                        table + slots as u64 * slot + all.marks(shares.arena_words)
                    }
                };
                let sum = all.fixed(shares.warps) + lists + 4 * shares.arena_words;
                assert!(sum <= limit && 4 * shares.arena_words >= all.least_arena(), "{limit}");
                assert!(shares.slots != 0 || limit > all.list_bytes());
                limit += limit / 7;
            }
            assert_eq!(sizes(1 << 23, breadth).divide().unwrap().slots, 0);
            assert!(sizes(100_000, breadth).divide().unwrap().slots > 0);
        }
    }
}
