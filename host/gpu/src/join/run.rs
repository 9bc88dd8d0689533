//! A join level by level: what a batch of rows leads to is joined to the end before the next batch.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};

use crate::device::Device;
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::{SLOTS, SUM_WORDS, check_fault, wide_sums};

use super::layers::{Costs, Layers, measure};
use super::pcsr::Shape;
use super::query::{Lists, Query};
use super::room::Room;
use super::settings::JoinSettings;
use super::store::{Store, StoredLists};
use super::{COMMON, JOIN, LAYERS, RunTotals, SCANS, SHARED, SUMS, Target, left_out};

/// Lanes of a warp, of a block, and of a group that scans.
const WARP: usize = 32;
const BLOCK: usize = 256;
/// On a processor lanes run one after the other, and its compiler copies what follows a barrier for each way that
/// leads there: the kernels of joins are too long for that.
const PORTABLE: (usize, usize) = (1, 1);
const SCAN: usize = 256;
/// Words of the control block.
pub(super) const CONTROL_WORDS: usize = 8;
/// Target duration of a batch, and elements of the first one.
const BATCH: Duration = Duration::from_millis(20);
const FIRST_ELEMENTS: f64 = (1u32 << 18) as f64;

/// Buffers of a batch.
pub(super) struct Batch {
    pub found: Buffer<u32>,
    pub capacity: Buffer<u32>,
    pub offsets: Buffer<u32>,
    pub chosen: Buffer<u32>,
    pub fills: Buffer<u32>,
    pub kept: Buffer<u32>,
    pub flags: Buffer<u32>,
    pub places: Buffer<u32>,
    pub parts: Buffer<u64>,
    pub bins: Buffer<u32>,
    pub control: Buffer<u32>,
}

/// Tables and buffers of a run, kept for queries that need no more.
pub(super) struct Scratch {
    /// Vertices of a query, linking edges of a vertex, and length of a list.
    most: [usize; 3],
    pub room: Room,
    /// Tables by number of columns less one.
    pub tables: Vec<Buffer<u32>>,
    pub gba: Buffer<u32>,
    pub batch: Batch,
    bytes: u64,
}

impl Scratch {
    /// Buffers in a quarter of the words of `free`.
    ///
    /// # Errors
    /// As [`Room::new`].
    fn new(device: &Device, most: [usize; 3], used: u64) -> Result<Self> {
        let before = device.budget.free();
        // The control block and what is rounded up.
        let words = (before / 4).saturating_sub(64);
        let [depths, linking, longest] = most;
        let each = (depths as u64, linking as u64);
        let room = Room::new(words, each, longest as u64, used, device.limits.portable)?;
        let table = |columns: usize| Buffer::new(&device.place(), columns * room.rows, "tables");
        let tables = (1..depths).map(table).collect::<Result<_>>()?;
        let gba = Buffer::new(&device.place(), room.rows, "buffers of rows")?;
        let batch = Batch::new(device, room, linking)?;
        let bytes = before - device.budget.free();
        Ok(Scratch { most, room, tables, gba, batch, bytes })
    }

    fn suffices(&self, most: [usize; 3]) -> bool {
        self.most.iter().zip(most).all(|(own, wanted)| *own >= wanted)
    }
}

/// Buffers that stay on the device between queries.
#[derive(Default)]
pub(super) struct KeptBuffers {
    pub lists: Option<StoredLists>,
    pub scratch: Option<Scratch>,
}

impl KeptBuffers {
    /// True if it holds device memory.
    pub fn is_some(&self) -> bool {
        self.lists.is_some() || self.scratch.is_some()
    }

    /// Bytes on the device.
    fn bytes(&self) -> u64 {
        let lists = self.lists.as_ref().map_or(0, StoredLists::bytes);
        lists + self.scratch.as_ref().map_or(0, |scratch| scratch.bytes)
    }
}

/// A run of joins.
pub(super) struct JoinRun<'a> {
    pub device: Arc<Device>,
    pub query: &'a Query,
    pub settings: JoinSettings,
    pub twice: bool,
    pub scratch: Scratch,
    pub store: Store,
    pub warp: Arc<Program>,
    pub block: Option<(Arc<Program>, Costs)>,
    /// A candidate's bits or places by depth.
    pub candidates: Buffer<u32>,
    pub candidates_at: Vec<(u32, u32)>,
    /// A depth's words of the plan.
    pub plan: Vec<Buffer<u32>>,
    pub histogram: Buffer<u32>,
    pub sums: Buffer<u32>,
    pub fault: Buffer<u32>,
    /// Elements of the next batch's buffers, and rows.
    pub elements: f64,
    pub rows: usize,
    pub did: RunTotals,
    /// The most neighbours of a vertex in any list.
    pub longest: u32,
}

impl Batch {
    fn new(device: &Device, room: Room, linking: usize) -> Result<Self> {
        let place = device.place();
        let words = |len, what| Buffer::new(&place, len, what);
        let rows = room.batch;
        Ok(Batch {
            found: words(rows * linking.max(1), "lengths of lists")?,
            capacity: words(rows, "lengths of buffers")?,
            offsets: words(rows + 1, "places of buffers")?,
            chosen: words(rows, "first edges")?,
            fills: words(rows, "fills of buffers")?,
            kept: words(rows, "kept parts of buffers")?,
            flags: words(rows, "flags of rows")?,
            places: words(rows + 1, "places of new rows")?,
            parts: Buffer::new(&place, room.parts(), "sums of parts")?,
            bins: words(4 * rows, "rows by layer")?,
            control: Buffer::of(&place, &[0; CONTROL_WORDS], "the control block")?,
        })
    }
}

/// Lanes of a warp and of a block.
pub(super) fn lanes(device: &Device) -> (usize, usize) {
    match device.limits.portable {
        true => (PORTABLE.0, device.lanes(PORTABLE.1)),
        false => (device.lanes(WARP), device.lanes(BLOCK)),
    }
}

/// Lanes of a group that scans.
pub(super) fn scan_lanes(device: &Device) -> usize {
    device.lanes(SCAN)
}

impl<'a> JoinRun<'a> {
    /// Uploads the graph's lists and the query to the device; `kept` has what an earlier query left there.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the budget is too small, [`Error::Device`].
    pub fn new(
        target: &Target<'_>,
        lists: &mut Lists,
        mut kept: KeptBuffers,
        query: &'a Query,
        costs: &mut Option<Costs>,
    ) -> Result<Self> {
        let Target { device, by, graph, .. } = *target;
        let (settings, without) = (target.settings.join_settings, target.settings.without);
        if !(2..=16).contains(&settings.pairs) || settings.segments == 0 {
            return Err(Error::usage(
                "groups of PCSR have 2 to 16 pairs, and a label has 1 segment at least",
            ));
        }
        let place = device.place();
        let (candidates, candidates_at) = candidates(query, without.sets);
        let candidates = Buffer::of(&place, &candidates, "candidates")?;
        let limit = query.plan.limit();
        let words = |at| Buffer::of(&place, &query.plan.join_words(at), "the plan");
        let plan = (0..query.depths()).map(words).collect::<Result<_>>()?;
        let sums = Buffer::of(&place, &[0; SUMS * SLOTS * SUM_WORDS], "sums")?;
        let fault = Buffer::of(&place, &[0], "the error word")?;
        let intervals = by.longest as usize / 32 + 1;
        let histogram = Buffer::new(&place, intervals, "the histogram")?;
        // What is kept counts as free: it is used again, or makes room.
        let free = device.budget.free() + kept.bytes();
        let used = device.budget.limit() - free;
        let half = free / 8;
        let shape = Shape { pairs: settings.pairs, dense: true, rows: settings.rows };
        lists.keep((settings.segments as usize, shape));
        let mut part = |kind| Ok((kind, lists.get(kind, by, graph, half as usize)?));
        let parts: HashMap<_, _> =
            query.kinds().into_iter().map(&mut part).collect::<Result<_>>()?;
        let longest = parts.values().map(|p| p.longest).max().unwrap_or(0);
        let linking = query.levels.iter().map(|l| l.near.len()).max().unwrap_or(0);
        let most = [query.depths(), linking, longest as usize];
        let stored = kept.lists.take_if(|stored| stored.version == lists.version());
        let scratch = kept.scratch.take_if(|scratch| scratch.suffices(most));
        // What is of no use goes first.
        drop(kept);
        let mut store = Store::new(device, parts, stored, lists.made(), (limit, half))?;
        store.set_version(lists.version());
        let scratch = match scratch {
            Some(scratch) => scratch,
            None => Scratch::new(device, most, used)?,
        };
        let warp_source =
            format!("#define LANES {}\n#define SCAN {}\n", lanes(device).0, scan_lanes(device));
        let mut options = limit.define() + &left_out(&without);
        if let Some(at) = query.plan.conflicts_at() {
            options.push_str(&format!("#define CONFLICTS_AT {at}\n"));
        }
        let warp = [COMMON, &warp_source, &options, SHARED, JOIN, SCANS];
        let warp = device.program("join", &warp)?;
        let buffers = (&candidates, &histogram);
        let block = match settings.layers {
            Layers::None => None,
            _ => Some(block_program(device, &options, buffers, costs)?),
        };
        Ok(JoinRun {
            elements: FIRST_ELEMENTS.min(scratch.room.rows as f64),
            device: device.clone(),
            query,
            settings,
            twice: without.prealloc,
            scratch,
            store,
            warp,
            block,
            candidates,
            candidates_at,
            plan,
            histogram,
            sums,
            fault,
            rows: usize::MAX,
            did: RunTotals { launches: vec![0; query.levels.len()], ..RunTotals::default() },
            longest,
        })
    }

    /// What stays on the device for the next query.
    pub fn keep(self) -> KeptBuffers {
        KeptBuffers { lists: self.store.kept(), scratch: Some(self.scratch) }
    }

    /// The first vertices: its candidates, of the roots.
    pub fn begin(&self, roots: Option<&[u32]>) -> Vec<u32> {
        let all = self.query.list(0);
        match roots {
            None => all,
            Some(roots) => all.into_iter().filter(|v| roots.binary_search(v).is_ok()).collect(),
        }
    }

    /// Joins to the end; `false` once the run was cancelled.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn all(&mut self, begun: &[u32], context: &Context) -> Result<bool> {
        context.progress.begin(begun.len() as u64);
        for part in begun.chunks(self.scratch.room.rows) {
            self.scratch.tables[0].write(&self.device.queue, part)?;
            if !self.join(1, part.len(), context)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Joins the rows of a table of `depth` columns.
    fn join(&mut self, depth: usize, rows: usize, context: &Context) -> Result<bool> {
        self.did.rows += rows as u64;
        let mut from = 0;
        while from < rows {
            if context.cancel.is_cancelled() {
                return Ok(false);
            }
            let before = self.device.work.launches.load(Relaxed);
            let begun = Instant::now();
            let wished = self.rows.clamp(1, self.scratch.room.batch).min(rows - from);
            let (done, found) = match self.twice {
                false => self.prealloc(depth, from, wished)?,
                true => self.twice(depth, from, wished)?,
            };
            self.did.launches[depth - 1] += self.device.work.launches.load(Relaxed) - before;
            self.did.batches += 1;
            self.adapt(wished, done, begun.elapsed());
            if depth == 1 {
                context.progress.add(done as u64);
            }
            from += done;
            if depth + 1 < self.query.depths()
                && found > 0
                && !self.join(depth + 1, found, context)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The next batch's size, by the time that this one took.
    fn adapt(&mut self, wished: usize, done: usize, took: Duration) {
        let factor = (BATCH.as_secs_f64() / took.as_secs_f64().max(1e-6)).clamp(0.25, 4.0);
        let most = self.scratch.room.rows as f64;
        self.elements = (self.elements * factor).clamp(f64::from(self.longest).min(most), most);
        // Lengths are looked at of no more rows than fit, by and large.
        let rows = if done < wished { 2 * done } else { 2 * wished };
        self.rows = rows.max(1024);
    }

    /// The sums of the run.
    ///
    /// # Errors
    /// [`Error::Device`] for a fault that a checked kernel met, and what the runtime refuses.
    pub fn sums(&self) -> Result<[u128; SUMS]> {
        let mut sums = [0u128; SUMS];
        wide_sums(&self.sums, &self.device.queue, &mut sums)?;
        check_fault(&self.device, &self.fault)?;
        Ok(sums)
    }
}

/// The kernels of blocks, and what the device was measured to take, now if it wasn't before: the first buffer is
/// read, the second may be written.
fn block_program(
    device: &Device,
    options: &str,
    (items, out): (&Buffer<u32>, &Buffer<u32>),
    costs: &mut Option<Costs>,
) -> Result<(Arc<Program>, Costs)> {
    let block = lanes(device).1;
    let source = format!("#define LANES {block}\n");
    let source = [COMMON, &source, options, SHARED, JOIN, LAYERS];
    let program = device.program("join_layers", &source)?;
    let costs = match *costs {
        Some(costs) => costs,
        None => *costs.insert(measure(device, &program, items, out, block)?),
    };
    Ok((program, costs))
}

/// The candidates of all depths as words, with where those of each begin and end: bits, or without the set
/// operations the vertices themselves.
fn candidates(query: &Query, listed: bool) -> (Vec<u32>, Vec<(u32, u32)>) {
    let (mut words, mut at) = (vec![], vec![]);
    for depth in 0..query.depths() {
        let from = words.len() as u32;
        match listed {
            true => words.extend(query.list(depth)),
            false => words.extend_from_slice(&query.candidates[depth]),
        }
        at.push((from, words.len() as u32));
    }
    (words, at)
}
