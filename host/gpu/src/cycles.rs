//! Cycles of four vertices for the strategy `formula` (`kernels/cycles.cl`): wedges below a vertex by their ends, in tables
//! where they are few, else in windows of counters.

use std::fmt::Write;
use std::sync::Arc;

use bytemuck::Pod;
use gramer_base::context::Context;
use gramer_base::error::Result;

use crate::device::{Arg, Device};
use crate::local::Member;
use crate::memory::Buffer;
use crate::picked::RootSelection;
use crate::program::Program;
use crate::resident::Resident;
use crate::slices::{PrefixWork, Slices};

const COMMON: &str = include_str!("../kernels/common.clh");
const CYCLES: &str = include_str!("../kernels/cycles.cl");

/// Lanes of a work-group of `cycles_dense`, and those that read a list together.
const DENSE_LANES: usize = 512;
const CYCLE_TILE: usize = 4;
/// Cursors take at most the free part of the device's budget divided by this.
const CURSOR_SHARE: u64 = 4;
/// Up to this number of windows, searches are as fast as cursors.
const FEW_WINDOWS: u32 = 2;
/// Place of a task without cursors; also the cursor of a lane at the end of a list.
const NO_PLACE: u32 = u32::MAX;
/// Tables of `cycles_hash`, in order of size.
const TABLES: [CycleTable; 2] =
    [CycleTable { bits: 10, lanes: 32 }, CycleTable { bits: 12, lanes: 256 }];

/// A table of wedges by their ends.
#[derive(Debug, Clone, Copy)]
struct CycleTable {
    /// Entries, as a power of two; wedges fill three quarters at most.
    bits: u32,
    /// Lanes that share it.
    lanes: usize,
}

impl CycleTable {
    fn most(self) -> u64 {
        3 << (self.bits - 2)
    }

    /// Bytes of local memory.
    fn bytes(self) -> usize {
        8 << self.bits
    }
}

/// Ends of wedges that a window of `cycles_dense` counts, with two counters a word.
pub const CYCLE_WINDOW: u32 = 20 << 10;
/// Bytes of its counters.
const WINDOW_BYTES: usize = 2 * CYCLE_WINDOW as usize;
/// From this degree on a counter takes a word, else half of one.
const WIDE_DEGREE: u32 = 1 << 16;

/// Wedges below a vertex, by window of their ends.
pub(crate) struct Cycles {
    /// Vertices with few wedges, those with the most first.
    few: Tasks<u32>,
    /// `(v, from, to, place of its cursors)`.
    many: Tasks<[u32; 4]>,
    /// The lanes' cursors in lists, for all tasks with a place.
    cursors: Buffer<u32>,
    counters: Counters,
    /// Indices of `few` and `many`; a share needs none.
    by_root: Option<[RootIndex; 2]>,
}

/// Work-groups of a kernel.
struct Tasks<T: Pod> {
    list: Vec<T>,
    buffer: Buffer<T>,
    works: PrefixWork,
}

impl<T: Pod> Tasks<T> {
    fn new(device: &Device, list: Vec<T>, works: PrefixWork) -> Result<Self> {
        Ok(Tasks { buffer: Buffer::of(&device.place(), &list, "tasks")?, list, works })
    }

    /// Those at some positions, ascending, and their works.
    fn some(&self, at: &[u32]) -> (Vec<T>, PrefixWork) {
        let list = at.iter().map(|&at| self.list[at as usize]).collect();
        let works = at.iter().map(|&at| self.works.of(at as usize..at as usize + 1));
        (list, PrefixWork::new(works))
    }
}

/// Positions of tasks by their roots, in V + 1 parts.
struct RootIndex {
    places: Vec<u32>,
    ends: Vec<u32>,
}

impl RootIndex {
    fn new(vertices: usize, roots: impl Iterator<Item = u32> + Clone) -> Self {
        let mut ends = vec![0u32; vertices + 1];
        roots.clone().for_each(|root| ends[root as usize + 1] += 1);
        (0..vertices).for_each(|v| ends[v + 1] += ends[v]);
        let (mut next, mut places) = (ends.clone(), vec![0u32; ends[vertices] as usize]);
        for (place, root) in (0..).zip(roots) {
            places[next[root as usize] as usize] = place;
            next[root as usize] += 1;
        }
        RootIndex { places, ends }
    }

    /// The positions of the tasks of some roots, ascending.
    fn of(&self, roots: &[u32]) -> Vec<u32> {
        let range = |root: usize| self.ends[root] as usize..self.ends[root + 1] as usize;
        let mut all: Vec<u32> =
            roots.iter().flat_map(|&root| &self.places[range(root as usize)]).copied().collect();
        all.sort_unstable();
        all
    }
}

/// Counters of the ends of wedges.
#[derive(Clone, Copy)]
struct Counters {
    /// Vertices below have one neighbour at most.
    least: u32,
    a_word: usize,
    window_bytes: usize,
}

impl Counters {
    /// Ends of a window.
    fn window(self) -> u32 {
        (self.window_bytes / 4 * self.a_word) as u32
    }
}

impl Cycles {
    /// Cuts the wedges of a graph into tasks.
    pub fn new(graph: &Resident) -> Result<Self> {
        let (device, by) = (&graph.device, &graph.by);
        let highest = by.longest;
        let a_word = if highest < WIDE_DEGREE { 2 } else { 1 };
        let totals = 8 * device.lanes(DENSE_LANES);
        let room = device.limits.local.saturating_sub(totals + 1024);
        let window_bytes = WINDOW_BYTES.min(room / 4096 * 4096).max(4096);
        // Degrees ascend.
        let least = by.offsets.windows(2).take_while(|o| o[1] - o[0] < 2).count() as u32;
        let wedges: Vec<u64> = (0..by.vertices())
            .map(|v| {
                let lower = &by.neighbours[by.offsets[v] as usize..by.split[v] as usize];
                let lower = &lower[lower.partition_point(|&u| u < least)..];
                match lower.len() {
                    0 | 1 => 0,
                    _ => lower.iter().map(|&u| u64::from(by.degree(u as usize))).sum(),
                }
            })
            .collect();
        let share = (wedges.iter().sum::<u64>() / (16 * device.limits.units as u64)).max(1 << 14);
        let most = tables(device).last().map_or(0, |table| table.most());
        let (mut few, mut many) = (vec![], vec![]);
        for (v, &work) in wedges.iter().enumerate().filter(|w| *w.1 > 0) {
            if work <= most {
                few.push((work, v as u32));
                continue;
            }
            // An end occurs once for each neighbour, so parts are cut by degrees.
            let parts = work.div_ceil(share);
            let ends = u64::from(by.offsets[v]).div_ceil(parts).max(1);
            let mut from = least;
            while (from as usize) < v {
                let mass = u64::from(by.offsets[from as usize]) + ends;
                let cut = by.offsets.partition_point(|&o| u64::from(o) < mass) as u32;
                let to = cut.max(from + 1).min(v as u32);
                let part = u64::from(by.offsets[to as usize] - by.offsets[from as usize]);
                let weight = work as f32 * part as f32 / by.offsets[v].max(1) as f32;
                many.push((weight + (to - from) as f32 / 32.0, [v as u32, from, to, 0]));
                from = to;
            }
        }
        few.sort_by(|a, b| b.cmp(a));
        many.sort_by(|a, b| b.0.total_cmp(&a.0));
        let few_works = PrefixWork::new(few.iter().map(|f| f.0 as f64 + 1.0));
        let many_works = PrefixWork::new(many.iter().map(|m| f64::from(m.0) + 1.0));
        let few = (few.into_iter().map(|f| f.1).collect(), few_works);
        let many = (many.into_iter().map(|m| m.1).collect(), many_works);
        let mut all = Self::of_tasks(graph, few, many, Counters { least, a_word, window_bytes })?;
        let few = RootIndex::new(by.vertices(), all.few.list.iter().copied());
        let many = RootIndex::new(by.vertices(), all.many.list.iter().map(|task| task[0]));
        all.by_root = Some([few, many]);
        Ok(all)
    }

    /// Places cursors and puts the tasks on the device.
    fn of_tasks(
        graph: &Resident,
        few: (Vec<u32>, PrefixWork),
        mut many: (Vec<[u32; 4]>, PrefixWork),
        counters: Counters,
    ) -> Result<Self> {
        let device = &graph.device;
        let cursors = cursors(graph, &mut many.0, counters.window())?;
        let few = Tasks::new(device, few.0, few.1)?;
        let many = Tasks::new(device, many.0, many.1)?;
        Ok(Cycles { few, many, cursors, counters, by_root: None })
    }

    /// Tasks of a share.
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if the budget is too small.
    pub fn of_share(&self, graph: &Resident, share: &RootSelection) -> Result<Self> {
        let [few, many] = self.by_root.as_ref().expect("a share is of the whole");
        self.some(graph, &few.of(&share.roots), &many.of(&share.roots))
    }

    /// Part of one of several devices that share a task, of which the first one also does `beside` work: all get about
    /// the same total. An element test of cliques counts as a wedge: with this weight two H100 took 62 ms for the
    /// motifs of a random graph of 2^20 vertices, 69 ms with half a wedge and 88 ms with two.
    ///
    /// # Errors
    /// As [`Cycles::of_share`].
    pub fn of_member(&self, graph: &Resident, member: Member, beside: f64) -> Result<Self> {
        let mut done = vec![0.0; member.of];
        done[0] = beside;
        let mut own = |works: &PrefixWork| {
            let mut own = vec![];
            // The heaviest come first.
            for at in 0..works.len() {
                let least = (0..member.of).min_by(|&a, &b| done[a].total_cmp(&done[b]));
                let least = least.expect("there is a device");
                done[least] += works.of(at..at + 1);
                if least == member.own {
                    own.push(at as u32);
                }
            }
            own
        };
        let (many, few) = (own(&self.many.works), own(&self.few.works));
        self.some(graph, &few, &many)
    }

    /// Selects the tasks at some positions, ascending.
    fn some(&self, graph: &Resident, few: &[u32], many: &[u32]) -> Result<Self> {
        Self::of_tasks(graph, self.few.some(few), self.many.some(many), self.counters)
    }

    /// The kernel with this table, or the one without any.
    fn program(&self, device: &Device, table: Option<CycleTable>) -> Result<Arc<Program>> {
        let mut defines = String::new();
        let mut line =
            |name: &str, value: usize| writeln!(defines, "#define {name} {value}").expect("text");
        let name = match table {
            Some(CycleTable { bits, lanes }) => {
                line("CYCLE_BITS", bits as usize);
                line("CYCLE_TABLE", 1 << bits);
                line("HASH_LANES", lanes);
                format!("cycles by tables of {}", 1 << bits)
            }
            None => {
                line("CYCLE_TILE", CYCLE_TILE);
                line("DENSE", device.lanes(DENSE_LANES));
                line("COUNTERS", self.counters.a_word);
                line("WINDOW_WORDS", self.counters.window_bytes / 4);
                writeln!(defines, "#define NO_PLACE {NO_PLACE}u").expect("text");
                "cycles by windows".into()
            }
        };
        device.program(&name, &[COMMON, &defines, CYCLES])
    }

    /// The vertices with few wedges for each of [`tables`].
    fn by_table(&self, device: &Device) -> Vec<(CycleTable, std::ops::Range<usize>)> {
        let (mut end, mut by_table) = (self.few.list.len(), vec![]);
        for &table in tables(device) {
            // A task weighs one more than its wedges.
            let most = table.most() as f64 + 1.0;
            let (mut low, mut high) = (0, end);
            while low < high {
                let middle = (low + high) / 2;
                if self.few.works.of(middle..middle + 1) > most {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            by_table.push((table, low..end));
            end = low;
        }
        by_table.reverse();
        by_table
    }

    /// Queues the count of all 4-cycles into sum 1; `false` once the run was cancelled.
    pub fn count(&self, graph: &Resident, context: &Context) -> Result<bool> {
        let device = &graph.device;
        let full = graph.full()?;
        let total = self.few.works.total() + self.many.works.total();
        let mut slices = Slices::new(device, context, total);
        let args = |range: &std::ops::Range<usize>, tasks| {
            let [vertices, _] = graph.sizes();
            vec![
                Arg::Buffer(full.offsets.raw()),
                Arg::Buffer(full.ends.raw()),
                Arg::Buffer(tasks),
                Arg::U32(range.start as u32),
                Arg::U32(range.len() as u32),
                vertices,
                Arg::U32(graph.by.neighbours.len() as u32),
                Arg::U32(self.counters.least),
                Arg::Buffer(graph.sums.raw()),
                Arg::Buffer(graph.fault().raw()),
            ]
        };
        if !self.many.list.is_empty() {
            let program = self.program(device, None)?;
            let done = slices.run(&self.many.works, |range| {
                let mut args = args(&range, self.many.buffer.raw());
                args.push(Arg::Buffer(self.cursors.raw()));
                args.push(Arg::U32(self.cursors.len() as u32));
                let lanes = device.lanes(DENSE_LANES);
                device.launch(&program, "cycles_dense", &args, range.len(), lanes)
            })?;
            if !done {
                return Ok(false);
            }
        }
        for (table, which) in self.by_table(device).into_iter().filter(|w| !w.1.is_empty()) {
            let program = self.program(device, Some(table))?;
            let done = slices.run_some(&self.few.works, which, |range| {
                let args = args(&range, self.few.buffer.raw());
                device.launch(&program, "cycles_hash", &args, range.len(), table.lanes)
            })?;
            if !done {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Allocates cursors for tasks of many windows, CYCLE_TILE words for each lower neighbour of a task's vertex, up to
/// [`CURSOR_SHARE`]. The other tasks search.
///
/// # Errors
/// [`gramer_base::Error::Unsupported`] if the budget is too small.
fn cursors(graph: &Resident, many: &mut [[u32; 4]], window: u32) -> Result<Buffer<u32>> {
    let (device, by) = (&graph.device, &graph.by);
    let room = (device.budget.free() / CURSOR_SHARE / 4).min(u64::from(NO_PLACE));
    let mut words = 0;
    for [v, from, to, place] in many {
        let v = *v as usize;
        let end = words + CYCLE_TILE as u64 * u64::from(by.split[v] - by.offsets[v]);
        *place = NO_PLACE;
        if *to - *from > FEW_WINDOWS * window && end <= room {
            *place = words as u32;
            words = end;
        }
    }
    Buffer::new(&device.place(), words.max(1) as usize, "cursors")
}

/// The tables of a device, one at least.
fn tables(device: &Device) -> &'static [CycleTable] {
    let fits = |table: &&CycleTable| {
        table.bytes() + 1024 <= device.limits.local && device.lanes(table.lanes) == table.lanes
    };
    // A processor takes lanes one after the other, and clears a large table longer than a window.
    let most = if device.limits.portable { 1 } else { TABLES.len() };
    &TABLES[..TABLES[..most].iter().filter(fits).count().max(1)]
}
