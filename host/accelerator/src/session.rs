//! Programmed devices: kernels, buffers, and runs of the kernels over ranges of work units.

mod set;

pub(crate) use set::Summed;

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gramer_machine::{Accelerator, Argument};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context as Cl;
use opencl3::device::Device;
use opencl3::error_codes::ClError;
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED as UNDEFINED, ClMem};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

use super::image::{Image, LINE};
use super::metrics::CoreMetrics;
use super::runtime::{self, text};
use super::settings::Settings;
use super::stream::{self, Area, Record, Results, Status};
use super::units::Ranges;
use super::xilinx;
use crate::xclbin::metadata::{Kernel as Described, Passed};
use crate::xclbin::{Xclbin, kind};
use gramer_engine::MemorySpeed;
use gramer_engine::work::WorkUnit;
use gramer_graph::context::{Cancel, Context};
use gramer_graph::error::{Error, Result};

/// Bytes that are written at a time.
const CHUNK: usize = 16 << 20;
/// Beats of records by default: 64 MiB.
const RECORD_BEATS: u32 = 1 << 20;
/// Most beats that a record takes, and beats that are left over where few records are wanted.
const BEATS_A_RECORD: u64 = 2;
const SPARE: u64 = 64;
/// After Ctrl-C the units under way may end; after so long the core is stopped at once.
const GRACE: Duration = Duration::from_millis(500);
/// So long a core that was told to stop may take.
const STOPS_WITHIN: Duration = Duration::from_secs(5);
/// Words at the abort address.
const STOP_AFTER_UNITS: u32 = 1;
const STOP_AT_ONCE: u32 = 2;

/// One pass of the core over a graph.
#[derive(Debug, Clone)]
pub struct Pass {
    /// 0 clique finding, 1 motif counting, 2 frequent subgraph mining.
    pub application: u32,
    /// Vertices of the embeddings that are processed.
    pub k: u32,
    /// Adjacency bits (and labels) to pattern numbers.
    pub dictionary: Vec<u16>,
    /// Number of patterns.
    pub patterns: u32,
    /// Whether embeddings are listed.
    pub list: bool,
    /// So many listed embeddings are enough.
    pub enough: Option<u64>,
}

/// What a pass found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explored {
    /// Embeddings by pattern number.
    pub counts: Vec<u128>,
    /// Whether every unit was explored.
    pub complete: bool,
    /// The units that were not, whose embeddings are not in the counts.
    pub rest: Vec<WorkUnit>,
}

/// Takes the records of a run; `false` ends the pass.
pub type Taker<'a> = dyn Fn(&Record) -> Result<bool> + Sync + 'a;

/// Programmed devices.
pub struct Session {
    machine: Accelerator,
    /// Not released after a failure: the runtime waits for commands that never end.
    cards: ManuallyDrop<Vec<Card>>,
    broken: bool,
    /// The graph in the devices' memory: by its number.
    loaded: Option<u64>,
    /// No task has begun since it was put there.
    fresh: bool,
    runs: u64,
    /// Time in which the host built images and streams.
    preparation: Duration,
    counters: BTreeMap<String, Vec<u64>>,
}

/// One device. Fields are dropped in this order: what belongs to a context before it.
struct Card {
    name: String,
    units: Vec<ComputeUnit>,
    graph: Vec<Buffer<u8>>,
    head: Option<Buffer<u8>>,
    queue: CommandQueue,
    places: Arc<Places>,
    _program: Program,
    context: Cl,
    moved: Moved,
}

/// What one compute unit has of its own.
struct ComputeUnit {
    kernels: [Kernel; 3],
    /// One a kernel, because they run at the same time.
    queues: [CommandQueue; 3],
    transfer: CommandQueue,
    /// For the abort word while the others wait.
    control: CommandQueue,
    units: Buffer<u8>,
    result: Buffer<u8>,
    abort: Buffer<u8>,
    /// Bytes that `units` and `result` have.
    room: (u64, u64),
    cycles: u64,
    moved: Moved,
    /// The image that a set core has on chip: by its number.
    on_chip: Option<u64>,
}

/// What the kernels are run for.
#[derive(Clone, Copy)]
struct Execution<'a> {
    machine: &'a Accelerator,
    stop: &'a Stop<'a>,
    /// Counts in the out-stream.
    patterns: u32,
    /// Vertices of a listed embedding.
    k: u32,
    /// Whether embeddings are listed.
    list: bool,
}

/// Data that went to and fro, and how long it took.
#[derive(Debug, Clone, Copy, Default)]
struct Moved {
    written: u64,
    read: u64,
    transfer: Duration,
    kernels: Duration,
}

/// The memory of each buffer argument and the position of each argument, by kernel.
struct Places {
    /// By compute unit too: they may be connected to different ones.
    memories: BTreeMap<(usize, u32, String), u32>,
    positions: BTreeMap<(usize, String), u32>,
    /// Bytes of each memory.
    bytes: Vec<u64>,
}

/// The kernels in the order in which they are started, and in [`ComputeUnit::kernels`].
const DRAIN: usize = 0;
const CORE: usize = 1;
const FILL: usize = 2;

/// When a pass ends early.
struct Stop<'a> {
    cancel: &'a Cancel,
    /// The sink has enough, or a compute unit failed.
    raised: AtomicBool,
    time_limit: Option<Duration>,
}

impl Stop<'_> {
    fn asked(&self) -> bool {
        self.cancel.is_cancelled() || self.raised.load(Ordering::Relaxed)
    }
}

impl Session {
    /// Programs the accelerators with these indices. `shown` is what messages call them.
    ///
    /// # Errors
    /// Those of reading the file; [`Error::Device`] for what the runtime refuses.
    pub fn open(path: &Path, indices: &[usize], shown: &str) -> Result<Self> {
        let bytes = Xclbin::bytes(path)?;
        let xclbin = Xclbin::parse(&bytes, path)?;
        let (machine, places) = Self::described(&xclbin)?;
        let shown = shown
            .rsplit_once(".xclbin@")
            .map_or(shown.to_string(), |s| s.0.to_string() + ".xclbin");
        let open = |&i: &usize| Card::open(&xclbin, &bytes, &machine, &places, &shown, i);
        let cards: Result<Vec<Card>> = indices.iter().map(open).collect();
        Ok(Session {
            machine,
            cards: ManuallyDrop::new(cards?),
            broken: false,
            loaded: None,
            fresh: false,
            runs: 0,
            preparation: Duration::ZERO,
            counters: BTreeMap::new(),
        })
    }

    /// What [`Session::open`] asks of a file before it asks the runtime: the machine that it describes,
    /// with every kernel, argument and bank.
    ///
    /// # Errors
    /// What is missing, and how it gets there.
    pub fn taken(xclbin: &Xclbin) -> Result<Accelerator> {
        Ok(Self::described(xclbin)?.0)
    }

    fn described(xclbin: &Xclbin) -> Result<(Accelerator, Arc<Places>)> {
        let machine = xclbin.machine()?.ok_or_else(|| xclbin.no_machine())?;
        for kind in
            [kind::EMBEDDED_METADATA, kind::MEM_TOPOLOGY, kind::CONNECTIVITY, kind::IP_LAYOUT]
        {
            xclbin.required(kind)?;
        }
        stream::check(&machine).map_err(|e| xclbin.wrong(e))?;
        let places = Places::of(xclbin, &machine)?;
        Ok((machine, places))
    }

    /// The machine in the file.
    pub fn machine(&self) -> &Accelerator {
        &self.machine
    }

    /// Compute units of all devices.
    pub fn compute_units(&self) -> usize {
        self.cards.iter().map(|c| c.units.len()).sum()
    }

    /// Units that one run may have: those of all compute units take up to 1/32 of a bank.
    pub fn most_units(&self) -> usize {
        let units = u64::from(self.machine.kernels.compute_units);
        (self.machine.memory.bank_bytes / 32 / 16 / units).min(1 << 26) as usize
    }

    /// Begins a task: what was measured so far is forgotten, but for the transfer of a graph that no
    /// task has used yet.
    pub fn begin(&mut self) {
        self.runs = 0;
        self.preparation = Duration::ZERO;
        self.counters.clear();
        let fresh = std::mem::take(&mut self.fresh);
        for card in self.cards.iter_mut() {
            if !fresh {
                card.moved = Moved::default();
            }
            for unit in &mut card.units {
                unit.moved = Moved::default();
                unit.cycles = 0;
            }
        }
    }

    /// Adds time in which the host built what a task sends.
    pub(crate) fn note_preparation(&mut self, took: Duration) {
        self.preparation += took;
    }

    /// What was measured since [`Session::begin`].
    pub fn metrics(&self) -> CoreMetrics {
        let units = || self.cards.iter().flat_map(|c| &c.units);
        let moved = || self.cards.iter().map(|c| &c.moved).chain(units().map(|u| &u.moved));
        CoreMetrics {
            machine: self.machine.machine.name.clone(),
            compute_units: self.compute_units(),
            processing_units: self.machine.machine.processing_units,
            clock_mhz: self.machine.machine.clock_mhz,
            runs: self.runs,
            cycles: units().map(|u| u.cycles).collect(),
            counters: self.counters.clone(),
            bytes: (moved().map(|m| m.written).sum(), moved().map(|m| m.read).sum()),
            transfer: moved().map(|m| m.transfer).sum(),
            kernels: moved().map(|m| m.kernels).sum(),
            preparation: self.preparation,
        }
    }

    /// Puts a graph into the memory of every device, unless it is there. `number` tells graphs
    /// apart.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a bank is too small, [`Error::Interrupted`].
    pub fn load(&mut self, image: &Image<'_>, number: u64, context: &Context) -> Result<()> {
        if self.loaded == Some(number) {
            return Ok(());
        }
        self.loaded = None;
        let banks = self.machine.memory.ddr_banks as usize;
        for card in self.cards.iter_mut() {
            card.moved = Moved::default();
            card.graph.clear();
            for bank in 0..banks {
                let (need, room) = (image.bank_bytes(bank), self.machine.memory.bank_bytes);
                if need > room {
                    return Err(Error::Unsupported(format!(
                        "the graph needs {} in memory bank {bank}, but a bank of machine {} has \
                         {}; the engine `cpu` does it",
                        size(need),
                        self.machine.machine.name,
                        size(room)
                    )));
                }
                let memory = card.places.memory(CORE, &format!("bank{bank}"))?;
                card.graph.push(card.buffer(need, memory)?);
            }
            let mut chunk = vec![];
            for (bank, buffer) in card.graph.iter_mut().enumerate() {
                let bytes = image.bank_bytes(bank) as usize;
                for offset in (0..bytes).step_by(CHUNK) {
                    context.cancel.check()?;
                    chunk.resize(CHUNK.min(bytes - offset), 0);
                    image.bank(bank, offset as u64, &mut chunk);
                    let written = write(&card.queue, buffer, offset, &chunk, &mut card.moved);
                    written.map_err(|e| failed(&card.name, "writing the graph", e))?;
                }
            }
        }
        self.loaded = Some(number);
        self.fresh = true;
        Ok(())
    }

    /// Frees the memory of the graph with this number, if it is there.
    pub fn unload(&mut self, number: u64) {
        // After a failure commands may still be under way that read it.
        if self.loaded == Some(number) && !self.broken {
            self.loaded = None;
            self.cards.iter_mut().for_each(|card| card.graph.clear());
            let units = self.cards.iter_mut().flat_map(|card| &mut card.units);
            units.for_each(|unit| unit.on_chip = None);
        }
    }

    /// Runs a pass over `ranges` on all compute units, each of which takes the next
    /// range when it is done with one. With `take`, each record is handed to it.
    ///
    /// # Errors
    /// [`Error::Device`] for what the runtime refuses and what no core should answer.
    pub fn explore(
        &mut self,
        pass: &Pass,
        image: &Image<'_>,
        settings: &Settings,
        ranges: Ranges,
        take: Option<&Taker<'_>>,
        context: &Context,
    ) -> Result<Explored> {
        // If a thread panics, kernels may run on: the buffers that they use stay.
        let broken = std::mem::replace(&mut self.broken, true);
        let outcome = self.explore_passes(pass, image, settings, ranges, take, context);
        self.broken = broken || matches!(outcome, Err(Error::Device(_)));
        outcome
    }

    fn explore_passes(
        &mut self,
        pass: &Pass,
        image: &Image<'_>,
        settings: &Settings,
        ranges: Ranges,
        take: Option<&Taker<'_>>,
        context: &Context,
    ) -> Result<Explored> {
        let machine = &self.machine;
        let bounds = image.bounds(machine, settings.tau, settings.capacity)?;
        let head = stream::head(machine, &pass.dictionary, pass.patterns, image, bounds);
        let records = match pass.list {
            false => 0,
            true => settings.result_beats.unwrap_or_else(|| {
                let share = machine.memory.bank_bytes / (8 * machine.kernels.compute_units as u64);
                let beats = RECORD_BEATS.min((share / LINE as u64) as u32).max(1);
                // The core stops when the area is full: one for a few embeddings is soon.
                let few =
                    pass.enough.map(|n| n.saturating_mul(BEATS_A_RECORD).saturating_add(SPARE));
                few.and_then(|few| u32::try_from(few).ok()).map_or(beats, |few| beats.min(few))
            }),
        };
        let area = Area::new(machine, pass.patterns, records);
        for card in self.cards.iter_mut() {
            card.prepare(machine, pass, settings, image, bounds, &head, &area)?;
        }
        context.progress.begin(ranges.units() as u64);
        let job = Job {
            machine,
            pass,
            take,
            context,
            ranges: Mutex::new(ranges),
            stop: Stop {
                cancel: &context.cancel,
                raised: AtomicBool::new(false),
                time_limit: settings.time_limit.map(Duration::from_secs),
            },
            found: Mutex::new(Found {
                counts: vec![0; pass.patterns as usize],
                complete: true,
                runs: 0,
                counters: BTreeMap::new(),
            }),
        };
        let units = self.cards.iter_mut().flat_map(|card| {
            let (name, context, places) = (&card.name, &card.context, &*card.places);
            card.units.iter_mut().map(move |unit| (unit, name, context, places))
        });
        let outcomes: Vec<Result<()>> = std::thread::scope(|scope| {
            let job = &job;
            let threads: Vec<_> = units
                .map(|(unit, name, context, places)| {
                    scope.spawn(move || {
                        let outcome = job.work(unit, name, context, places, area);
                        if outcome.is_err() {
                            // The others needn't go on.
                            job.stop.raised.store(true, Ordering::Relaxed);
                        }
                        outcome
                    })
                })
                .collect();
            let join = |t: std::thread::ScopedJoinHandle<'_, _>| {
                t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        outcomes.into_iter().collect::<Result<()>>()?;
        let found = job.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.runs += found.runs;
        add(&mut self.counters, &found.counters);
        let ranges = job.ranges.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Explored { counts: found.counts, complete: found.complete, rest: ranges.rest() })
    }

    /// Time to write and to read `bytes` in each memory bank of each device. A graph that is there
    /// goes.
    ///
    /// # Errors
    /// [`Error::Device`], also if what is read isn't what was written; [`Error::Interrupted`].
    pub fn memories(&mut self, bytes: usize, cancel: &Cancel) -> Result<Vec<MemorySpeed>> {
        let banks = self.machine.core_ports() as usize;
        let mut rows = vec![];
        self.loaded = None;
        for card in self.cards.iter_mut() {
            card.graph.clear();
            for bank in 0..banks {
                cancel.check()?;
                let memory = card.places.memory(CORE, &format!("bank{bank}"))?;
                let mut buffer = card.buffer(bytes as u64, memory)?;
                let data: Vec<u8> = (0..bytes).map(|i| (i * 31 + (i >> 8) + bank) as u8).collect();
                let mut times = [Duration::MAX; 2];
                let mut back = vec![0; bytes];
                // The first transfer pins pages; the better of two says what a long run sees.
                for _ in 0..2 {
                    let begun = Instant::now();
                    write(&card.queue, &mut buffer, 0, &data, &mut card.moved)
                        .map_err(|e| failed(&card.name, "writing", e))?;
                    times[0] = times[0].min(begun.elapsed());
                    back.fill(0);
                    let begun = Instant::now();
                    read(&card.queue, &buffer, 0, &mut back, &mut card.moved)
                        .map_err(|e| failed(&card.name, "reading", e))?;
                    times[1] = times[1].min(begun.elapsed());
                }
                if let Some(at) = (0..bytes).find(|&i| back[i] != data[i]) {
                    return Err(Error::Device(format!(
                        "{}: memory bank {bank} gives back {:#04x} at byte {at}, not {:#04x}",
                        card.name, back[at], data[at]
                    )));
                }
                let [write, read] = times;
                let (device, memory, bytes) = (card.name.clone(), bank.to_string(), bytes as u64);
                rows.push(MemorySpeed { device, memory, bytes, write, read });
            }
        }
        Ok(rows)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.broken {
            // SAFETY: the field is not used again.
            unsafe { ManuallyDrop::drop(&mut self.cards) }
        }
    }
}

/// What the threads of a pass share.
struct Job<'a> {
    machine: &'a Accelerator,
    pass: &'a Pass,
    take: Option<&'a Taker<'a>>,
    context: &'a Context,
    ranges: Mutex<Ranges>,
    stop: Stop<'a>,
    found: Mutex<Found>,
}

struct Found {
    counts: Vec<u128>,
    complete: bool,
    runs: u64,
    counters: BTreeMap<String, Vec<u64>>,
}

impl Job<'_> {
    /// Takes range after range until there is none.
    fn work(
        &self,
        unit: &mut ComputeUnit,
        name: &str,
        context: &Cl,
        places: &Places,
        mut area: Area,
    ) -> Result<()> {
        let lock = || self.ranges.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(units) = { lock().take() } {
            if self.stop.asked() {
                lock().give_back(units);
                self.found().complete = false;
                return Ok(());
            }
            let (results, told) = unit.run(self, name, context, places, &units, &area)?;
            if let Some(failure) = results.failure(self.machine) {
                return Err(Error::Device(format!("{name}: {failure}")));
            }
            let next = match results.status {
                Status::Done => units.len(),
                // Stopped at once, its counts are void: all has to be done again.
                Status::Aborted if told == STOP_AT_ONCE && !self.pass.list => 0,
                _ => (results.next_unit as usize).min(units.len()),
            };
            if results.saturated && results.status == Status::Done {
                return Err(Error::Unsupported(
                    "a count exceeds 64 bits, the most that the core holds; the engine `cpu` \
                     counts on"
                        .into(),
                ));
            }
            self.keep(name, &results, told)?;
            self.context.progress.add(next as u64);
            if next == units.len() {
                continue;
            }
            let mut rest = units[next..].to_vec();
            if results.status == Status::Aborted {
                lock().give_back(rest);
                self.found().complete = false;
                return Ok(());
            }
            if next == 0 {
                // The first unit alone has more embeddings than the area holds.
                match rest[0].halves() {
                    Some(halves) => {
                        rest.splice(..1, halves);
                    }
                    None => {
                        area.records = area.records.checked_mul(4).ok_or_else(|| {
                            Error::Device(format!("{name}: no result area is large enough"))
                        })?;
                        unit.reserve_result(&area, self.machine, name, context, places)?;
                    }
                }
            }
            lock().give_back(rest);
        }
        Ok(())
    }

    fn found(&self) -> std::sync::MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what is valid of a run's results. `told` is the word that the host left at the abort
    /// address.
    fn keep(&self, name: &str, results: &Results, told: u32) -> Result<()> {
        let whole = results.status == Status::Done
            || results.status == Status::Aborted && told != STOP_AT_ONCE;
        let mut counts = vec![0u128; self.pass.patterns as usize];
        if self.pass.list {
            let sum: u64 = results.counts.iter().sum();
            if results.status == Status::Done && sum != results.records.len() as u64 {
                return Err(Error::Device(format!(
                    "{name}: the core counted {sum} embeddings, but listed {}",
                    results.records.len()
                )));
            }
            // An embedding is one whether its unit was finished or not. Where these are enough,
            // nothing is done again, so that none is listed twice.
            let all = results.records.len() + results.unfinished.len();
            let rest = match self.pass.enough {
                Some(enough) if all as u64 >= enough => &results.unfinished[..],
                _ => &[],
            };
            for record in results.records.iter().chain(rest) {
                let count = counts.get_mut(record.pattern as usize).ok_or_else(|| {
                    Error::Device(format!("{name}: pattern {} was listed", record.pattern))
                })?;
                *count += 1;
                if let Some(take) = self.take
                    && !take(record)?
                {
                    self.stop.raised.store(true, Ordering::Relaxed);
                    break;
                }
            }
        } else if whole {
            counts.iter_mut().zip(&results.counts).for_each(|(sum, &c)| *sum = c.into());
        }
        let mut found = self.found();
        found.counts.iter_mut().zip(counts).for_each(|(sum, c)| *sum += c);
        found.runs += 1;
        add(&mut found.counters, &results.counters);
        if self.stop.raised.load(Ordering::Relaxed) {
            found.complete = false;
        }
        Ok(())
    }
}

fn add(sums: &mut BTreeMap<String, Vec<u64>>, more: &BTreeMap<String, Vec<u64>>) {
    for (name, values) in more {
        let sum = sums.entry(name.clone()).or_insert_with(|| vec![0; values.len()]);
        sum.iter_mut().zip(values).for_each(|(s, v)| *s = s.saturating_add(*v));
    }
}

impl Card {
    fn open(
        xclbin: &Xclbin,
        bytes: &[u8],
        machine: &Accelerator,
        places: &Arc<Places>,
        shown: &str,
        index: usize,
    ) -> Result<Self> {
        let handle = runtime::open(index)?;
        let name = format!("{shown}@{index} ({})", handle.found.name);
        let (device, target) = (&handle.found.name, &xclbin.platform);
        if xclbin.mode.is_emulation() != handle.found.emulated
            || handle.found.emulated && !device.is_empty() && device != target
        {
            let kind = if handle.found.emulated { "an emulation" } else { "a card" };
            return Err(Error::Device(format!(
                "{}: it is for {target} ({}), but the device {device} is {kind}; build it for that \
                 platform, or choose another device",
                xclbin.path.display(),
                xclbin.mode
            )));
        }
        let refused = |what: &str, code: i32| failed(&name, what, code);
        let device = handle.device;
        let context = Cl::from_device(&device).map_err(|e| refused("making a context", e.0))?;
        // SAFETY: the device is the context's.
        let program = unsafe { Program::create_from_binary(&context, &[device.id()], &[bytes]) };
        let mut program = program.map_err(|e| refused("programming the device", e.0))?;
        program.build(&[device.id()], "").map_err(|e| refused("programming the device", e.0))?;
        let mut units = vec![];
        for unit in 1..=machine.kernels.compute_units {
            let kernel = |of: &gramer_machine::kernels::Kernel| {
                let instance = format!("{0}:{{{0}_{unit}}}", of.name);
                Kernel::create(&program, &instance)
                    .map_err(|e| refused(&format!("opening the kernel {instance}"), e.0))
            };
            let k = &machine.kernels;
            let queue = || queue(&context, &device, &name);
            let transfer = queue()?;
            let buffer = |kernel, argument: &str, bytes| {
                let memory = places.memory_of(kernel, unit - 1, argument)?;
                buffer(&context, &transfer, &name, bytes, memory, places)
            };
            let of_unit = (
                buffer(FILL, "units", LINE as u64)?,
                buffer(DRAIN, "result", LINE as u64)?,
                buffer(CORE, "abort", LINE as u64)?,
            );
            units.push(ComputeUnit {
                kernels: [kernel(&k.drain)?, kernel(&k.core)?, kernel(&k.fill)?],
                queues: [queue()?, queue()?, queue()?],
                transfer,
                control: queue()?,
                units: of_unit.0,
                result: of_unit.1,
                abort: of_unit.2,
                room: (LINE as u64, LINE as u64),
                cycles: 0,
                moved: Moved::default(),
                on_chip: None,
            });
        }
        Ok(Card {
            units,
            graph: vec![],
            head: None,
            queue: queue(&context, &device, &name)?,
            places: places.clone(),
            _program: program,
            context,
            moved: Moved::default(),
            name,
        })
    }

    fn buffer(&self, bytes: u64, memory: u32) -> Result<Buffer<u8>> {
        buffer(&self.context, &self.queue, &self.name, bytes, memory, &self.places)
    }

    /// Writes the head and sets every argument that stays the same during a pass.
    #[allow(clippy::too_many_arguments)]
    fn prepare(
        &mut self,
        machine: &Accelerator,
        pass: &Pass,
        settings: &Settings,
        image: &Image<'_>,
        bounds: (u64, u64),
        head: &[u8],
        area: &Area,
    ) -> Result<()> {
        self.head = None; // before the next one needs its memory
        let memory = self.places.memory(FILL, "head")?;
        let mut buffer = self.buffer(head.len() as u64, memory)?;
        let (vertex_sets, edge_sets) = machine.cache_sets();
        for unit in &mut self.units {
            unit.reserve_result(area, machine, &self.name, &self.context, &self.places)?;
            unit.set(&self.places, FILL, "head", &buffer.get(), &self.name)?;
            let beats = (head.len() / LINE) as u32;
            unit.set(&self.places, FILL, "head_beats", &beats, &self.name)?;
            unit.set(&self.places, FILL, "units_first", &0u32, &self.name)?;
            for argument in &machine.arguments {
                let value = match argument.name.as_str() {
                    "application" => pass.application.into(),
                    "k" => pass.k.into(),
                    "flags" => settings.flags(pass.list).into(),
                    "slots" => settings.slots.unwrap_or(machine.machine.slots).into(),
                    "lambda_eighths" => settings.lambda_eighths().into(),
                    "vertex_bound" => bounds.0,
                    "edge_bound" => bounds.1,
                    "vertex_sets" => settings.sets(vertex_sets).into(),
                    "edge_sets" => settings.sets(edge_sets).into(),
                    "result_beats" => area.records.into(),
                    "edge_base" => image.edge_base(),
                    "abort" => {
                        let abort = unit.abort.get();
                        unit.set(&self.places, CORE, "abort", &abort, &self.name)?;
                        continue;
                    }
                    bank => {
                        let at = bank.strip_prefix("bank").and_then(|b| b.parse::<usize>().ok());
                        let buffer = at.and_then(|b| self.graph.get(b)).ok_or_else(|| {
                            Error::Device(format!(
                                "{}: this program doesn't know the core's argument `{bank}`; \
                                 build the xclbin again with this version",
                                self.name
                            ))
                        })?;
                        unit.set(&self.places, CORE, bank, &buffer.get(), &self.name)?;
                        continue;
                    }
                };
                unit.set_scalar(&self.places, CORE, argument, value, &self.name)?;
            }
        }
        let written = write(&self.queue, &mut buffer, 0, head, &mut self.moved);
        written.map_err(|e| failed(&self.name, "writing the scratchpads' contents", e))?;
        self.head = Some(buffer);
        Ok(())
    }
}

impl ComputeUnit {
    /// Makes the result area as large as `area` and sets the arguments that depend on it.
    fn reserve_result(
        &mut self,
        area: &Area,
        machine: &Accelerator,
        name: &str,
        context: &Cl,
        places: &Places,
    ) -> Result<()> {
        let bytes = u64::from(area.beats()) * LINE as u64;
        if bytes > self.room.1 {
            let memory = places.memory(DRAIN, "result")?;
            self.result = buffer(context, &self.transfer, name, bytes, memory, places)?;
            self.room.1 = bytes;
        }
        let result = self.result.get();
        self.set(places, DRAIN, "result", &result, name)?;
        self.set(places, DRAIN, "capacity", &area.beats(), name)?;
        if let Some(argument) = machine.arguments.iter().find(|a| a.name == "result_beats") {
            self.set_scalar(places, CORE, argument, area.records.into(), name)?;
        }
        Ok(())
    }

    fn set<T>(
        &self,
        places: &Places,
        kernel: usize,
        argument: &str,
        value: &T,
        name: &str,
    ) -> Result<()> {
        let position = places.positions.get(&(kernel, argument.to_string())).ok_or_else(|| {
            Error::Device(format!("{name}: its kernels have no argument `{argument}`"))
        })?;
        // SAFETY: the position is that of the argument in the metadata, and callers pass a value
        // of its size: a u32, a u64, or a buffer's handle.
        unsafe { self.kernels[kernel].set_arg(*position, value) }
            .map_err(|e| failed(name, &format!("setting the argument {argument}"), e.0))
    }

    fn set_scalar(
        &self,
        places: &Places,
        kernel: usize,
        argument: &Argument,
        value: u64,
        name: &str,
    ) -> Result<()> {
        match argument.bits {
            32 => self.set(places, kernel, &argument.name, &(value as u32), name),
            _ => self.set(places, kernel, &argument.name, &value, name),
        }
    }

    /// Runs the kernels over some units. Also gives the word that was left at the abort address.
    fn run(
        &mut self,
        job: &Job<'_>,
        name: &str,
        context: &Cl,
        places: &Places,
        units: &[WorkUnit],
        area: &Area,
    ) -> Result<(Results, u32)> {
        let pass = job.pass;
        let run = Execution {
            machine: job.machine,
            stop: &job.stop,
            patterns: pass.patterns,
            k: pass.k,
            list: pass.list,
        };
        self.execute(&run, name, context, places, &stream::units(units), area)
    }

    /// Runs the kernels over beats of work units.
    fn execute(
        &mut self,
        run: &Execution<'_>,
        name: &str,
        context: &Cl,
        places: &Places,
        beats: &[u8],
        area: &Area,
    ) -> Result<(Results, u32)> {
        let refused = |what: &str| {
            let what = what.to_string();
            move |e| failed(name, &what, e)
        };
        if beats.len() as u64 > self.room.0 {
            let memory = places.memory(FILL, "units")?;
            let bytes = beats.len() as u64;
            self.units = buffer(context, &self.transfer, name, bytes, memory, places)?;
            self.room.0 = beats.len() as u64;
        }
        // Arguments come before the writes: they tell the runtime where a buffer has to be.
        let buffer = self.units.get();
        self.set(places, FILL, "units", &buffer, name)?;
        self.set(places, FILL, "units_beats", &((beats.len() / LINE) as u32), name)?;
        write(&self.transfer, &mut self.units, 0, beats, &mut self.moved)
            .map_err(refused("writing the work units"))?;
        write(&self.transfer, &mut self.abort, 0, &[0; LINE], &mut self.moved)
            .map_err(refused("writing the abort word"))?;

        let begun = Instant::now();
        let mut events = Vec::with_capacity(3);
        for kernel in [DRAIN, CORE, FILL] {
            // SAFETY: every argument is set; buffers live until the events have ended.
            let event =
                unsafe { self.queues[kernel].enqueue_task(self.kernels[kernel].get(), &[]) };
            events.push(event.map_err(|e| failed(name, "starting the kernels", e.0))?);
        }
        let told = self.wait(run.stop, &events, name)?;
        self.moved.kernels += begun.elapsed();

        let first = if run.list { LINE } else { area.beats() as usize * LINE };
        let mut bytes = vec![0; first];
        read(&self.transfer, &self.result, 0, &mut bytes, &mut self.moved)
            .map_err(refused("reading the results"))?;
        let (beats, overflow) = Area::summary(run.machine, &bytes[..LINE]);
        if beats == 0 {
            return Err(Error::Device(format!("{name}: the kernels ended without a result")));
        }
        if overflow || beats >= u64::from(area.beats()) {
            return Err(Error::Device(format!(
                "{name}: the core sent {beats} beats, more than the {} of the result area",
                area.beats() - 1
            )));
        }
        let end = (beats as usize + 1) * LINE;
        if end > bytes.len() {
            bytes.resize(end, 0);
            let rest = &mut bytes[first..];
            read(&self.transfer, &self.result, first, rest, &mut self.moved)
                .map_err(refused("reading the results"))?;
        }
        let results = area
            .decode(run.machine, &bytes[LINE..end], run.patterns, run.k)
            .map_err(|e| Error::Device(format!("{name}: {e}")))?;
        let cycles = results.counters.get("core.cycles").and_then(|c| c.first()).copied();
        self.cycles += cycles.unwrap_or(0);
        Ok((results, told))
    }

    /// Waits for the kernels and tells the core to stop when that is asked for; gives the word
    /// that was left at the abort address.
    fn wait(&mut self, stop: &Stop<'_>, events: &[Event], name: &str) -> Result<u32> {
        let begun = Instant::now();
        let (mut told, mut asked, mut pause) = (0, None, Duration::from_micros(20));
        let mut late = false;
        loop {
            let mut running = false;
            for event in events {
                match event.command_execution_status() {
                    Ok(status) if status.0 < 0 => {
                        return Err(failed(name, "running the kernels", status.0));
                    }
                    Ok(status) => running |= status.0 > 0,
                    Err(e) => return Err(failed(name, "running the kernels", e.0)),
                }
            }
            let given_up = asked.is_some_and(|a: Instant| a.elapsed() > GRACE + STOPS_WITHIN);
            if late && (!running || given_up) {
                let limit = stop.time_limit.unwrap_or_default().as_secs();
                let stopped = if running { " and don't stop" } else { "" };
                return Err(Error::Device(format!(
                    "{name}: the kernels took longer than the time limit of {limit} s{stopped}; \
                     cut the work into more runs (the setting `runs`), or raise the setting `time_limit`"
                )));
            }
            if !running {
                return Ok(told);
            }
            if given_up {
                return Err(Error::Device(format!(
                    "{name}: the kernels run for {:.0} s and don't stop: the device hangs; \
                     reset it (`xbutil reset`)",
                    begun.elapsed().as_secs_f64()
                )));
            }
            late |= stop.time_limit.is_some_and(|limit| begun.elapsed() > limit);
            if asked.is_none() && (late || stop.asked()) {
                asked = Some(Instant::now());
            }
            if let Some(asked) = asked {
                let at_once =
                    late || stop.raised.load(Ordering::Relaxed) || asked.elapsed() > GRACE;
                let word = if at_once { STOP_AT_ONCE } else { STOP_AFTER_UNITS };
                if word > told {
                    let mut line = [0; LINE];
                    line[..4].copy_from_slice(&word.to_le_bytes());
                    write(&self.control, &mut self.abort, 0, &line, &mut self.moved)
                        .map_err(|e| failed(name, "writing the abort word", e))?;
                    told = word;
                }
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(1));
        }
    }
}

impl Places {
    fn of(xclbin: &Xclbin, machine: &Accelerator) -> Result<Arc<Self>> {
        let (metadata, memories) = (xclbin.metadata()?, xclbin.memories()?);
        let (instances, connections) = (xclbin.instances()?, xclbin.connections()?);
        let mut places = Places {
            memories: BTreeMap::new(),
            positions: BTreeMap::new(),
            bytes: memories.iter().map(|m| m.kib.saturating_mul(1024)).collect(),
        };
        let kernels = &machine.kernels;
        for (at, kernel) in [(DRAIN, &kernels.drain), (CORE, &kernels.core), (FILL, &kernels.fill)]
        {
            let described: &Described = metadata.kernel(&kernel.name).ok_or_else(|| {
                xclbin.wrong(format!("it has no kernel {}: it is of another design", kernel.name))
            })?;
            for unit in 1..=kernels.compute_units {
                let instance = format!("{}_{unit}", kernel.name);
                if !described.instances.contains(&instance) {
                    return Err(xclbin.wrong(format!("it has no instance {instance}")));
                }
            }
            for argument in machine.arguments_of(kernel) {
                let name = &argument.name;
                let wrong = || {
                    xclbin.wrong(format!(
                        "the kernel {} has no argument {name} as its machine describes it",
                        kernel.name
                    ))
                };
                let found = described.arguments.iter().find(|a| &a.name == name);
                let found = found.ok_or_else(wrong)?;
                let position = found.id.ok_or_else(wrong)?;
                places.positions.insert((at, name.clone()), position);
                if argument.bank.is_none() {
                    continue;
                }
                if found.passed != Passed::Buffer {
                    return Err(wrong());
                }
                for unit in 0..kernels.compute_units {
                    let instance = format!("{0}:{0}_{1}", kernel.name, unit + 1);
                    let memory = connections.iter().find(|c| {
                        let of = usize::try_from(c.instance).ok().and_then(|i| instances.get(i));
                        of.is_some_and(|i| i.name == instance)
                            && u32::try_from(c.argument) == Ok(position)
                    });
                    let memory =
                        memory.and_then(|c| u32::try_from(c.memory).ok()).ok_or_else(|| {
                            xclbin.wrong(format!(
                                "the argument {name} of the kernel {} is connected to no memory",
                                kernel.name
                            ))
                        })?;
                    places.memories.insert((at, unit, name.clone()), memory);
                }
            }
        }
        Ok(Arc::new(places))
    }

    /// The memory of a buffer argument where all compute units have one.
    fn memory(&self, kernel: usize, argument: &str) -> Result<u32> {
        self.memory_of(kernel, 0, argument)
    }

    /// The memory of a buffer argument of a compute unit.
    fn memory_of(&self, kernel: usize, unit: u32, argument: &str) -> Result<u32> {
        self.memories.get(&(kernel, unit, argument.to_string())).copied().ok_or_else(|| {
            Error::Device(format!("the machine has no buffer argument `{argument}`"))
        })
    }
}

fn queue(context: &Cl, device: &Device, name: &str) -> Result<CommandQueue> {
    // SAFETY: the device is the context's. The older call is the one that the Xilinx Runtime
    // implements; the newer one ends in a crash there.
    unsafe { CommandQueue::create(context, device.id(), 0) }
        .map_err(|e| failed(name, "making a queue", e.0))
}

/// A buffer in a memory of the device. It is put there at once: otherwise the runtime would keep
/// what is written in the host's memory, and move it when a kernel starts.
fn buffer(
    context: &Cl,
    queue: &CommandQueue,
    name: &str,
    bytes: u64,
    memory: u32,
    places: &Places,
) -> Result<Buffer<u8>> {
    let made = xilinx::buffer(context, bytes, memory).and_then(|buffer| {
        let handle = buffer.get();
        // SAFETY: the array has the one buffer that is announced.
        let moved = unsafe { queue.enqueue_migrate_mem_object(1, &handle, UNDEFINED, &[]) };
        moved.and_then(|event| event.wait()).map_err(|e| e.0)?;
        Ok(buffer)
    });
    made.map_err(|code| {
        let all = places.bytes.get(memory as usize).copied().unwrap_or(0);
        Error::Device(format!(
            "{name}: a buffer of {} can't be had in memory bank {memory}, which has {} in all: \
             {}; the engine `cpu` needs none",
            size(bytes),
            size(all),
            text(code)
        ))
    })
}

fn failed(name: &str, what: &str, code: i32) -> Error {
    Error::Device(format!("{name}: {what} failed: {}", text(code)))
}

fn write(
    queue: &CommandQueue,
    buffer: &mut Buffer<u8>,
    offset: usize,
    data: &[u8],
    moved: &mut Moved,
) -> Result<(), i32> {
    // SAFETY: the call returns when `data` has been taken; callers stay within the buffer.
    let write = || unsafe { queue.enqueue_write_buffer(buffer, CL_BLOCKING, offset, data, &[]) };
    timed(&mut moved.transfer, write)?;
    moved.written += data.len() as u64;
    Ok(())
}

/// Adds the time that a transfer takes, if it succeeds.
fn timed<T>(transfer: &mut Duration, call: impl FnOnce() -> Result<T, ClError>) -> Result<(), i32> {
    let begun = Instant::now();
    call().map_err(|e| e.0)?;
    *transfer += begun.elapsed();
    Ok(())
}

fn read(
    queue: &CommandQueue,
    buffer: &Buffer<u8>,
    offset: usize,
    data: &mut [u8],
    moved: &mut Moved,
) -> Result<(), i32> {
    let bytes = data.len() as u64;
    // SAFETY: the call returns when `data` is filled; callers stay within the buffer.
    let read = || unsafe { queue.enqueue_read_buffer(buffer, CL_BLOCKING, offset, data, &[]) };
    timed(&mut moved.transfer, read)?;
    moved.read += bytes;
    Ok(())
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::super::units::Runs;
    use super::*;
    use crate::xclbin::build::read_machine;
    use gramer_engine::work::Units;
    use gramer_graph::View;

    /// Kernels may run on with buffers that must not be released then.
    #[test]
    fn after_a_panic_nothing_of_a_device_is_released() {
        let mut machine = read_machine(Some(Path::new("small"))).unwrap();
        // No description that is read is so; here it makes a pass panic.
        machine.streams.input.parts.clear();
        let (offsets, neighbours) = (vec![0, 1, 2], vec![1, 0]);
        let view = View {
            offsets: &offsets,
            neighbours: &neighbours,
            vertex_labels: None,
            edge_labels: None,
        };
        let image = Image::new(view, &machine);
        let limits = Runs { depth: 3, ascending: false, runs: 1, compute_units: 1, most: 9 };
        let ranges = Ranges::new(view, Units::All, limits);
        let mut session = Session {
            machine: machine.clone(),
            cards: ManuallyDrop::new(vec![]),
            broken: false,
            loaded: None,
            fresh: false,
            runs: 0,
            preparation: Duration::ZERO,
            counters: BTreeMap::new(),
        };
        let dictionary = vec![];
        let pass =
            Pass { application: 0, k: 3, dictionary, patterns: 1, list: false, enough: None };
        let context = Context::default();
        let settings = Settings::default();
        let explored = catch_unwind(AssertUnwindSafe(|| {
            session.explore(&pass, &image, &settings, ranges, None, &context)
        }));
        assert!(explored.is_err());
        assert!(session.broken);
    }
}
