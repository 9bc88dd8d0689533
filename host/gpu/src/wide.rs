//! The strategy `wide`: DuMato's DFS-wide exploration without a plan (`kernels/wide.cl`), for motifs of 3
//! to 8 vertices and cliques (Ferraz et al.; the programs of Alg. 9).

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use gramer_base::choice::Choice;
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_pattern::Pattern;

use crate::activity::Activity;
use crate::canon::{self, Canon};
use crate::device::{Arg, Device};
use crate::lanes::Lanes;
use crate::memory::Buffer;
use crate::picked::RootSelection;
use crate::program::Program;
use crate::resident::Resident;

const COMMON: &str = include_str!("../kernels/common.clh");
const WIDE: &str = include_str!("../kernels/wide.cl");

/// Lanes of a warp.
const LANES: usize = 32;
/// Vertices of the largest subgraphs.
pub(crate) const MOST_VERTICES: usize = 8;
/// Target duration of a slice.
const SLICE: Duration = Duration::from_millis(20);
/// Extensions of a level: most and least.
const ARRAY: (usize, usize) = (512, LANES);
/// Codes or graphs that are counted in local memory first: the dictionary of 7 vertices has 1,043.
const LOCAL_CODES: usize = 1100;
/// Words of the status; their places are those of the kernel (the third is its own).
const STATUS: usize = 4;
const NEXT_ROOT: usize = 0;
const ACTIVE: usize = 1;
const GIVEN: usize = 3;

/// Load balancing between warps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Balance {
    /// Share of warps without work from which on it is moved, 0 to 1.
    pub threshold: f64,
    /// Extensions that such a warp gets.
    pub donations: u32,
    /// Number of warps; none: as many as the device keeps busy, and not more than there are roots.
    pub warps: Option<usize>,
}

impl Default for Balance {
    /// The best of the thesis (section 6.3): 30 %, 16.
    fn default() -> Self {
        Balance { threshold: 0.3, donations: 16, warps: None }
    }
}

/// Lanes that take an embedding together: virtual warps of the strategy `wide` (thesis, section 5.2.5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tile {
    /// One lane: a depth-first search by each thread, the thesis' baseline (`DM_DFS`, section 6.1).
    Lane,
    /// 8 lanes, four virtual warps of a warp.
    Eight,
    /// 16 lanes, two virtual warps of a warp.
    Sixteen,
    /// 32 lanes: the whole warp.
    #[default]
    Warp,
}

impl Choice for Tile {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Tile::Lane, "1", "Each lane searches depth-first by itself"),
        (Tile::Eight, "8", "Four virtual warps of 8 lanes"),
        (Tile::Sixteen, "16", "Two virtual warps of 16 lanes"),
        (Tile::Warp, "32", "A warp, which is the fastest"),
    ];
}

impl Tile {
    /// Number of lanes.
    fn lanes(self) -> usize {
        match self {
            Tile::Lane => 1,
            Tile::Eight => 8,
            Tile::Sixteen => 16,
            Tile::Warp => LANES,
        }
    }
}

/// Division of work among lanes and warps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub balance: Balance,
    pub tile: Tile,
}

/// The kind of embeddings to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WideTask {
    /// All connected vertex-induced subgraphs, by pattern.
    Motifs,
    /// Complete subgraphs.
    Cliques,
}

/// Results of a run.
pub(crate) struct PatternCounts {
    /// Counts of occurring patterns, by canonical form.
    pub counts: HashMap<Pattern, u128>,
    /// Whether the search went to its end.
    pub complete: bool,
}

/// Buffers of a search.
struct Search {
    /// Embeddings at a time: of virtual warps where a tile is less than a warp.
    warps: usize,
    /// Lanes of each, and how many of them a work-group has.
    tile: usize,
    tiles: usize,
    array: usize,
    codes: usize,
    /// Which graph a code is of; none: all codes have counters.
    canon: Option<Arc<Canon>>,
    states: Buffer<u32>,
    arrays: Buffer<u32>,
    weights: Buffer<u32>,
    status: Buffer<u32>,
    counts: Buffer<u32>,
}

/// Bytes of a search of one warp, with a counter for each code.
pub(crate) fn least_bytes(k: usize, cliques: bool) -> u64 {
    /// Virtual warps of a warp at most, and extensions of their levels.
    const TILES: [(usize, usize); 2] = [(LANES / 8, ARRAY.1), (LANES, 1)];
    let counters = if cliques { 1 } else { 1 << code_bits(k) };
    let words = TILES.map(|(tiles, array)| tiles * (state_words(k) + 1 + (k - 2) * array));
    let words = words[0].max(words[1]);
    (8 * counters + 8 * words) as u64
}

/// Words of a warp's state.
fn state_words(k: usize) -> usize {
    2 + 5 * k
}

/// Bits of a code: pairs of k vertices but the first two.
fn code_bits(k: usize) -> usize {
    k * (k - 1) / 2 - 1
}

impl Search {
    fn new(
        graph: &Resident,
        k: usize,
        wanted: WideTask,
        Shape { balance, tile }: Shape,
        roots: usize,
    ) -> Result<Self> {
        let device = &graph.device;
        let alone = tile == Tile::Lane;
        let tile = device.lanes(tile.lanes());
        // Parts of a warp wait for themselves by instructions of NVIDIA's alone; single lanes wait for none.
        let tiles = match tile < LANES && (alone || device.form()?.lanes == Lanes::Ptx) {
            true => device.lanes(LANES) / tile,
            false => 1,
        };
        let codes = if wanted == WideTask::Cliques { 1 } else { 1 << code_bits(k) };
        let place = device.place();
        // If a dictionary would take too much memory, the host classifies the codes.
        let small = canon::bytes(k) <= device.budget.free() / 4;
        let canon = match wanted == WideTask::Motifs && k <= canon::MOST_VERTICES && small {
            true => Some(graph.canon(k)?),
            false => None,
        };
        let counters = canon.as_ref().map_or(codes, |canon| canon.codes.len());
        let counts = Buffer::new(&place, 2 * counters, "counts by code")?;
        counts.zero(&device.queue)?;
        let state = state_words(k);
        // A processor runs the lanes of a warp one after the other, and pays for each group.
        let wished = if device.limits.portable { 16 } else { 24 * device.limits.units };
        // Warps without a root can still get work of others.
        let own = (wished * (LANES / tile)).min(roots);
        let mut warps = balance.warps.map_or(own, |warps| warps * (LANES / tile)).max(1);
        let room = device.budget.free() / 2 / 4;
        let words = |warps: usize, array| (warps * (state + 1 + (k - 2) * array)) as u64;
        // A search by one lane stores no level: it resumes its scan after each extension.
        let mut array = if alone { 1 } else { ARRAY.0 };
        while words(warps, array) > room && array > ARRAY.1 {
            array /= 2;
        }
        while words(warps, array) > room && warps > 1 {
            warps = warps.div_ceil(2);
        }
        warps = warps.next_multiple_of(tiles);
        let states = Buffer::new(&place, warps * state, "embeddings of warps")?;
        states.zero(&device.queue)?;
        Ok(Search {
            warps,
            tile,
            tiles,
            array,
            codes,
            states,
            arrays: Buffer::new(&place, warps * (k - 2) * array, "extensions of warps")?,
            weights: Buffer::new(&place, warps, "weights of warps")?,
            status: Buffer::of(&place, &[0; STATUS], "the status")?,
            counts,
            canon,
        })
    }

    /// Codes or graphs that are counted.
    fn counters(&self) -> usize {
        self.counts.len() / 2
    }

    fn sources(&self, k: usize, wanted: WideTask) -> String {
        let mut defines = String::new();
        let mut line =
            |name: &str, value: usize| writeln!(defines, "#define {name} {value}").expect("text");
        line("K", k);
        line("TILE", self.tile);
        line("TILES", self.tiles);
        line("ARRAY", self.array);
        line("CODES", self.codes);
        line("COUNTERS", self.counters());
        if self.canon.is_some() {
            line("DICTIONARY", 1);
        }
        if self.counters() <= LOCAL_CODES {
            line("LOCAL_CODES", 1);
        }
        if wanted == WideTask::Cliques {
            line("CLIQUES", 1);
        }
        defines
    }

    /// Counts by pattern.
    fn counts(
        &self,
        device: &Device,
        k: usize,
        wanted: WideTask,
    ) -> Result<HashMap<Pattern, u128>> {
        let mut words = vec![0u32; 2 * self.counters()];
        self.counts.read(&device.queue, &mut words)?;
        let mut counts = HashMap::new();
        for (code, pair) in words.chunks_exact(2).enumerate() {
            let count = u128::from(pair[0]) | u128::from(pair[1]) << 32;
            if count != 0 {
                let pattern = match (wanted, &self.canon) {
                    (WideTask::Cliques, _) => Pattern::clique(k),
                    (WideTask::Motifs, None) => canon::graph(k, 2 * code as u32 + 1).canonical().0,
                    (WideTask::Motifs, Some(all)) => canon::graph(k, all.codes[code]).canonical().0,
                };
                *counts.entry(pattern).or_default() += count;
            }
        }
        Ok(counts)
    }
}

/// Moves extensions to warps without work; returns the number of launches.
fn donate(
    device: &Device,
    program: &Program,
    buffers: [&Buffer<u32>; 4],
    warps: usize,
    donations: u32,
) -> Result<u64> {
    if donations == 0 {
        return Ok(0);
    }
    let mut args = buffers.map(|buffer| Arg::Buffer(buffer.raw())).to_vec();
    args.extend([Arg::U32(warps as u32), Arg::U32(donations)]);
    device.launch(program, "donate", &args, 1, LANES)?;
    Ok(1)
}

/// Searches for all subgraphs of `k` vertices, 3 to 8.
///
/// # Errors
/// [`gramer_base::Error::Device`], [`gramer_base::Error::Unsupported`] if the budget is too small.
pub(crate) fn search(
    graph: &Resident,
    k: usize,
    wanted: WideTask,
    shape: Shape,
    share: Option<&RootSelection>,
    context: &Context,
) -> Result<PatternCounts> {
    let device = &graph.device;
    let picked = share.map(|share| share.buffer(device)).transpose()?;
    let roots = share.map_or(graph.by.vertices(), |share| share.roots.len());
    let rows = graph.full()?;
    let search = Search::new(graph, k, wanted, shape, roots)?;
    let mut sources = search.sources(k, wanted);
    if picked.is_some() {
        sources.push_str("#define PICKED\n");
    }
    let program = device.program(&format!("wide of {k}"), &[COMMON, &sources, WIDE])?;
    let idle_limit = (search.warps as f64 * shape.balance.threshold.clamp(0.0, 1.0)) as usize;
    let mut status = search.status;
    let mut found = PatternCounts { counts: HashMap::new(), complete: true };
    let (mut steps, mut claimed, mut active) = (1000u32, 0u32, 0usize);
    let mut activity = Activity::default();
    let least = 1.0 - shape.balance.threshold.clamp(0.0, 1.0);
    context.progress.begin(roots as u64);
    while claimed < roots as u32 || active > 0 {
        if context.cancel.is_cancelled() {
            found.complete = false;
            break;
        }
        status.write(&device.queue, &[claimed, 0, 0, 0])?;
        if claimed as usize >= roots && search.warps - active > idle_limit {
            let buffers = [&search.states, &search.arrays, &search.weights, &status];
            let donations = shape.balance.donations;
            activity.balances += donate(device, &program, buffers, search.warps, donations)?;
        }
        // The slice ends early once this many more have nothing to do: if none can be given to those that
        // have nothing now, the others must go on.
        let limit = (search.warps - active + idle_limit).min(search.warps);
        let begun = Instant::now();
        let mut args = vec![
            Arg::Buffer(rows.offsets.raw()),
            Arg::Buffer(rows.ends.raw()),
            Arg::Buffer(search.states.raw()),
            Arg::Buffer(search.arrays.raw()),
            Arg::Buffer(status.raw()),
            Arg::Buffer(search.counts.raw()),
            Arg::U32(graph.by.vertices() as u32),
            Arg::U32(graph.by.neighbours.len() as u32),
            Arg::U32(steps),
            Arg::U32(limit as u32),
            Arg::Buffer(graph.fault().raw()),
        ];
        if let Some(canon) = &search.canon {
            args.push(Arg::Buffer(canon.numbers.raw()));
        }
        if let Some(picked) = &picked {
            args.extend([Arg::Buffer(picked.raw()), Arg::U32(roots as u32)]);
        }
        let groups = search.warps / search.tiles;
        device.launch(&program, "wide", &args, groups, search.tile * search.tiles)?;
        let mut said = [0; STATUS];
        status.read(&device.queue, &mut said)?;
        let took = begun.elapsed().as_secs_f64().max(1e-6);
        let factor = (SLICE.as_secs_f64() / took).clamp(0.25, 4.0);
        steps = (f64::from(steps) * factor).clamp(100.0, 1e9) as u32;
        device.work.donations.fetch_add(said[GIVEN].into(), Relaxed);
        context.progress.add(u64::from(said[NEXT_ROOT] - claimed));
        // Warps that got a root or extensions had work when the slice began.
        let fresh = roots - (claimed as usize).min(roots) + said[GIVEN] as usize;
        let share = |warps: usize| warps.min(search.warps) as f64 / search.warps as f64;
        activity.add(took, [share(active + fresh), share(said[ACTIVE] as usize)], least);
        (claimed, active) = (said[NEXT_ROOT], said[ACTIVE] as usize);
    }
    *device.work.activity.lock().unwrap_or_else(PoisonError::into_inner) = activity;
    graph.check()?;
    found.counts = Search { status, ..search }.counts(device, k, wanted)?;
    Ok(found)
}
