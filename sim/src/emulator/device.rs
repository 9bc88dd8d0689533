//! The device: registers and memory as the host sees them, and the simulation behind them.
//!
//! The simulation has a thread of its own and runs whenever a compute unit has been started, so
//! that a poll costs no simulated cycles. A compute unit begins when its three kernels have been
//! started, however far apart in the host's time: all of its cycles are simulated time, and the
//! same task takes the same number of them whatever the host's threads do. (Several compute units
//! share the banks, and when they begin relative to each other is the host's doing.)

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use gramer_machine::Accelerator;
use gramer_sim::ddr::{Ddr, StreamChecker, Timing};
use gramer_sim::model::{Model, Pins};
use gramer_sim::watch::Watch;

use crate::memory::Memory;
use crate::{functional, movers};

/// Longest that the answer to a poll waits for the end of what is polled. The runtime polls without a
/// pause: answered at once, it would keep a processor busy that the simulation could use.
const PATIENCE: Duration = Duration::from_millis(1);
/// Clocks between two looks at what the host has started.
const SLICE: u64 = 512;
/// Beats that a mover may have under way: its bursts.
const UNDER_WAY: u64 = 64;
/// Most beats of a mover's buffer, 64 GiB: a larger number is a mistake of the host.
const MOST_BEATS: u64 = 1 << 30;

/// AXI4-Lite control bits.
const START: u32 = 1;
const DONE: u32 = 2;
const IDLE: u32 = 4;
const CONTINUE: u32 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    Started,
    Done,
}

struct Block {
    base: u64,
    registers: HashMap<u32, u32>,
    state: State,
}

struct Control {
    blocks: Vec<Block>,
    /// What ended the simulation, and what the host has not been told yet.
    failure: Option<String>,
    untold: String,
}

/// What the host and the simulation share.
pub struct Device {
    accelerator: Accelerator,
    memory: Mutex<Memory>,
    control: Mutex<Control>,
    started: Condvar,
    ended: Condvar,
    now: AtomicU64,
}

/// The kernels of a compute unit, in the order of [`Accelerator::instances`].
const CORE: usize = 0;
const FILL: usize = 1;
const DRAIN: usize = 2;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    /// A device with the memory and the kernels of a machine; `library` is the model of its core,
    /// or `None` for the functional one.
    pub fn start(accelerator: Accelerator, library: Option<PathBuf>) -> Arc<Self> {
        let banks = (0..accelerator.memory.ddr_banks)
            .map(|b| (accelerator.bank_base(b), accelerator.memory.bank_bytes))
            .collect();
        let blocks = accelerator
            .instances()
            .iter()
            .map(|i| Block { base: i.base, registers: HashMap::new(), state: State::Idle })
            .collect();
        let device = Arc::new(Device {
            memory: Mutex::new(Memory::new(banks)),
            control: Mutex::new(Control { blocks, failure: None, untold: String::new() }),
            started: Condvar::new(),
            ended: Condvar::new(),
            now: AtomicU64::new(0),
            accelerator,
        });
        let simulated = device.clone();
        std::thread::spawn(move || {
            let outcome = match library {
                Some(library) => simulated.simulate(&library),
                None => simulated.compute(),
            };
            if let Err(error) = outcome {
                simulated.fail(&error);
            }
        });
        device
    }

    /// Simulated nanoseconds since the device began.
    pub fn nanoseconds(&self) -> u64 {
        self.now.load(Ordering::Relaxed) * 1000 / u64::from(self.accelerator.machine.clock_mhz)
    }

    /// The memory, locked.
    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        lock(&self.memory)
    }

    /// Writes registers.
    pub fn write_control(&self, address: u64, data: &[u8]) {
        let mut control = lock(&self.control);
        let Some(block) = control.blocks.iter_mut().find(|b| address & !0xffff == b.base) else {
            return;
        };
        let from = (address - block.base) as u32;
        let words = data.chunks_exact(4).map(|w| u32::from_le_bytes(w.try_into().expect("4")));
        let words: Vec<(u32, u32)> =
            words.enumerate().map(|(i, w)| (from + 4 * i as u32, w)).collect();
        // A block of arguments may have the start in front of them.
        for &(offset, word) in words.iter().filter(|(offset, _)| *offset != 0) {
            block.registers.insert(offset, word);
        }
        if let Some((_, word)) = words.iter().find(|(offset, _)| *offset == 0) {
            if word & CONTINUE != 0 && block.state == State::Done {
                block.state = State::Idle;
            }
            if word & START != 0 && block.state == State::Idle {
                block.state = State::Started;
                self.started.notify_one();
            }
        }
        if control.failure.is_some() {
            self.give_up(&mut control);
        }
    }

    /// Reads a register. The control register of a kernel that runs is answered after [`PATIENCE`],
    /// or when a kernel has ended.
    pub fn read_control(&self, address: u64) -> u32 {
        let mut control = lock(&self.control);
        let Some(at) = control.blocks.iter().position(|b| address & !0xffff == b.base) else {
            return 0;
        };
        let offset = (address - control.blocks[at].base) as u32;
        if offset == 0 && control.blocks[at].state == State::Started {
            let waited = self.ended.wait_timeout(control, PATIENCE);
            control = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let block = &control.blocks[at];
        match offset {
            // The runtime takes idle for done, so a kernel that was started is never idle.
            0 => match block.state {
                State::Idle => IDLE,
                State::Started => START,
                State::Done => DONE | IDLE,
            },
            offset => block.registers.get(&offset).copied().unwrap_or(0),
        }
    }

    /// Messages for the host's user that it has not seen.
    pub fn messages(&self) -> String {
        std::mem::take(&mut lock(&self.control).untold)
    }

    /// What ended the simulation.
    pub fn failure(&self) -> Option<String> {
        lock(&self.control).failure.clone()
    }

    /// Ends the simulation: whatever was started is done, and has no result.
    fn fail(&self, error: &anyhow::Error) {
        let cycle = self.now.load(Ordering::Relaxed);
        let mut text = format!("the emulated device failed in cycle {cycle}: {error:#}");
        let said = crate::output();
        if !said.trim().is_empty() {
            text += &format!("\n{}", said.trim_end());
        }
        eprintln!("{text}");
        crate::log(&text);
        let mut control = lock(&self.control);
        control.untold += &format!("{text}\n");
        control.failure = Some(text);
        self.give_up(&mut control);
    }

    /// After a failure whatever is started is done at once, and the result area says in its beat 0
    /// that nothing came.
    fn give_up(&self, control: &mut Control) {
        self.ended.notify_all();
        let units = control.blocks.len() / 3;
        for at in 0..control.blocks.len() {
            if control.blocks[at].state != State::Started {
                continue;
            }
            control.blocks[at].state = State::Done;
            if at / units == DRAIN {
                let result = argument(&self.accelerator, control, DRAIN, at % units, "result");
                let mut memory = self.memory();
                if memory.holds(result, 64) {
                    memory.write(result, &[0; 64]);
                }
            }
        }
    }

    /// Waits until a compute unit that isn't active has all its kernels started; with `poll`
    /// returns at once. The unit's number, or `None`.
    fn next_start(&self, active: &[Option<Run>], poll: bool) -> Option<usize> {
        let units = active.len();
        let mut control = lock(&self.control);
        loop {
            let ready = (0..units).find(|&unit| {
                active[unit].is_none()
                    && (0..3).all(|k| control.blocks[k * units + unit].state == State::Started)
            });
            if ready.is_some() || poll {
                return ready;
            }
            control = self.started.wait(control).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The functional model in place of the simulation: no time passes.
    fn compute(&self) -> Result<()> {
        let a = &self.accelerator;
        let units = a.kernels.compute_units as usize;
        ensure!(a.set.is_none(), "machine {} has no functional model", a.machine.name);
        let ddr = Ddr::new(a.memory.ddr_banks as usize, units, 2 * units, self.timing());
        let active: Vec<Option<Run>> = (0..units).map(|_| None).collect();
        while let Some(unit) = self.next_start(&active, false) {
            let mut run = self.begin(unit, &ddr)?;
            let value = |name: &str| argument(a, &lock(&self.control), CORE, unit, name);
            run.taken = functional::run(a, value, &run.stream, &self.memory)?;
            self.end(unit, &run);
        }
        Ok(())
    }

    fn timing(&self) -> Timing {
        Timing {
            latency: u64::from(self.accelerator.memory.ddr_latency_cycles),
            cycles_a_beat: u64::from(self.accelerator.memory.ddr_cycles_a_beat),
            back_pressure: 0,
            reorder: false,
            fail_at: None,
            lost_at: None,
        }
    }

    fn simulate(&self, library: &std::path::Path) -> Result<()> {
        let a = &self.accelerator;
        let units = a.kernels.compute_units as usize;
        let mut ddr = Ddr::new(a.memory.ddr_banks as usize, units, 2 * units, self.timing());
        if a.set.is_some() {
            // A cluster has one port, on the bank of its image.
            let image = a.arguments.iter().find(|x| x.name == "bank0");
            let image = image.context("the core has no argument bank0")?;
            ddr.connect((0..units as u32).map(|u| a.bank_of(image, u).unwrap_or(0)).collect());
        }
        let mut cores: Vec<Core> =
            (0..units).map(|_| Core::reset(library)).collect::<Result<_>>()?;
        let mut active: Vec<Option<Run>> = (0..units).map(|_| None).collect();
        let mut now = 0;
        loop {
            let mut poll = active.iter().any(Option::is_some);
            while let Some(unit) = self.next_start(&active, poll) {
                active[unit] = Some(self.begin(unit, &ddr)?);
                poll = true;
            }
            for _ in 0..SLICE {
                for (unit, core) in cores.iter_mut().enumerate() {
                    let Some(run) = &mut active[unit] else { continue };
                    if run.clock(now, unit, core, &mut ddr, &self.memory)? {
                        self.end(unit, run);
                        active[unit] = None;
                    }
                }
                ddr.end_clock(now);
                now += 1;
                if active.iter().all(Option::is_none) {
                    break;
                }
            }
            self.now.store(now, Ordering::Relaxed);
        }
    }

    /// What the host has asked of a compute unit.
    fn begin(&self, unit: usize, ddr: &Ddr) -> Result<Run> {
        let a = &self.accelerator;
        let control = lock(&self.control);
        let memory = self.memory();
        let value = |kernel, name: &str| argument(a, &control, kernel, unit, name);
        let lines = |what: &str, address: u64, beats: u64| {
            ensure!(
                beats <= MOST_BEATS && memory.holds(address, beats * 64),
                "{what}: {beats} beats at {address:#x} are outside of device memory"
            );
            Ok(memory.lines(address, beats as usize))
        };
        let head = lines("head", value(FILL, "head"), value(FILL, "head_beats"))?;
        let first = value(FILL, "units_first");
        let count = first + value(FILL, "units_beats");
        let units = lines("units", value(FILL, "units"), count)?;
        let stream = movers::fill(&head, &units, first as u32)?;
        ensure!(!stream.is_empty(), "gramer_fill sends nothing");
        let result = (value(DRAIN, "result"), value(DRAIN, "capacity"));
        ensure!(
            result.1 > 0 && memory.holds(result.0, result.1 * 64),
            "result: {} beats at {:#x} are outside of device memory",
            result.1,
            result.0
        );
        let mut writes = vec![];
        for (argument, offset) in a.offsets_of(&a.kernels.core) {
            let value = value(CORE, &argument.name);
            writes.push((offset, value as u32));
            if argument.bits == 64 {
                writes.push((offset + 4, (value >> 32) as u32));
            }
        }
        writes.push((0, START));
        let bank = |kernel: &gramer_machine::kernels::Kernel| {
            a.arguments_of(kernel).iter().find_map(|x| x.bank).unwrap_or(0) as usize
        };
        let (fill, drain) = (2 * unit, 2 * unit + 1);
        Ok(Run {
            writes,
            written: 0,
            stream,
            sent: 0,
            fill: Mover {
                id: fill,
                bank: bank(&a.kernels.fill),
                asked: 0,
                before: ddr.moved(fill),
            },
            drain: Mover {
                id: drain,
                bank: bank(&a.kernels.drain),
                asked: 0,
                before: ddr.moved(drain),
            },
            taken: vec![],
            checker: StreamChecker::default(),
            watch: Watch::new(a, ddr, false),
            done: false,
            continued: false,
            result,
        })
    }

    /// Puts the results of a run into memory and says that its kernels are done.
    fn end(&self, unit: usize, run: &Run) {
        let (address, capacity) = run.result;
        let beats = capacity.min(run.taken.len() as u64 + 1) as usize;
        let mut memory = self.memory();
        let area = movers::drain(&run.taken, &memory.lines(address, beats));
        memory.write(address, area.as_flattened());
        drop(memory);
        let mut control = lock(&self.control);
        let units = control.blocks.len() / 3;
        for kernel in 0..3 {
            control.blocks[kernel * units + unit].state = State::Done;
        }
        self.ended.notify_all();
    }
}

/// The value of a kernel's argument.
fn argument(a: &Accelerator, control: &Control, kernel: usize, unit: usize, name: &str) -> u64 {
    let units = control.blocks.len() / 3;
    let registers = &control.blocks[kernel * units + unit].registers;
    let word = |offset| u64::from(registers.get(&offset).copied().unwrap_or(0));
    let found = a.offsets_of(a.kernels()[kernel]).into_iter().find(|(x, _)| x.name == name);
    let (argument, offset) = found.expect("kernels have the arguments of the contract");
    match argument.bits {
        64 => word(offset) | word(offset + 4) << 32,
        _ => word(offset),
    }
}

/// A simulated core.
struct Core {
    model: Model,
    pins: Box<Pins>,
    /// Fills what isn't valid; without back-pressure no time depends on it.
    rng: fastrand::Rng,
}

impl Core {
    fn reset(library: &std::path::Path) -> Result<Self> {
        let mut core = Core {
            model: Model::load(library)?,
            pins: Pins::new(),
            rng: fastrand::Rng::with_seed(0),
        };
        for _ in 0..4 {
            core.model.cycle(&mut core.pins).context("reset")?;
        }
        core.pins.reset_n = 1;
        core.pins.wstrb = 15;
        Ok(core)
    }
}

/// A data mover's traffic in one run.
struct Mover {
    id: usize,
    bank: usize,
    asked: u64,
    before: u64,
}

impl Mover {
    fn moved(&self, ddr: &Ddr) -> u64 {
        ddr.moved(self.id) - self.before
    }
}

/// A compute unit between its start and its end.
struct Run {
    writes: Vec<(u32, u32)>,
    written: usize,
    stream: Vec<[u8; 64]>,
    sent: usize,
    fill: Mover,
    drain: Mover,
    taken: Vec<[u8; 64]>,
    checker: StreamChecker,
    watch: Watch,
    done: bool,
    continued: bool,
    /// Address and beats of the result area.
    result: (u64, u64),
}

impl Run {
    /// One clock; whether the run has ended.
    fn clock(
        &mut self,
        now: u64,
        unit: usize,
        core: &mut Core,
        ddr: &mut Ddr,
        memory: &Mutex<Memory>,
    ) -> Result<bool> {
        let pins = &mut core.pins;
        // The fill mover reads ahead, a beat a clock; what came can be sent.
        let came = self.fill.moved(ddr);
        if self.fill.asked < self.stream.len() as u64 && self.fill.asked - came < UNDER_WAY {
            self.fill.asked += 1;
            ddr.move_beat(now, self.fill.bank, self.fill.id);
        }
        // The drain mover writes each beat that it takes, and its first one at the end.
        let stored = self.drain.moved(ddr);
        if self.done && self.continued {
            if self.drain.asked == self.taken.len() as u64 {
                self.drain.asked += 1;
                ddr.move_beat(now, self.drain.bank, self.drain.id);
            }
            return Ok(stored == self.taken.len() as u64 + 1);
        }

        pins.bready = 1;
        pins.rready = 1;
        if self.done && self.written == self.writes.len() {
            self.writes.push((0, CONTINUE));
        }
        let writing = self.written < self.writes.len();
        pins.awvalid = u8::from(writing);
        pins.wvalid = u8::from(writing);
        if writing {
            (pins.awaddr, pins.wdata) = self.writes[self.written];
        }
        pins.arvalid = u8::from(!writing && self.checker.ended() && !self.done);
        pins.araddr = 0;
        // AXI streams keep what they offer: nothing here takes a beat back.
        let offered = self.sent < self.stream.len() && (self.sent as u64) < came;
        pins.in_tvalid = u8::from(offered);
        if offered {
            pins.in_tdata = self.stream[self.sent];
            pins.in_tlast = u8::from(self.sent + 1 == self.stream.len());
        }
        pins.out_tready = u8::from(self.taken.len() as u64 - stored < UNDER_WAY);

        ddr.drive(now, unit, pins, &*lock(memory), &mut core.rng)?;
        core.model.cycle(pins)?;
        ddr.sample(now, unit, pins)?;

        if writing && pins.awready == 1 && pins.wready == 1 {
            self.written += 1;
            self.continued = self.done;
        }
        if pins.rvalid == 1 && pins.rdata & DONE != 0 {
            self.done = true;
        }
        if offered && pins.in_tready == 1 {
            self.sent += 1;
        }
        if self.checker.sample(now, pins)? {
            self.taken.push(pins.out_tdata);
            self.drain.asked += 1;
            ddr.move_beat(now, self.drain.bank, self.drain.id);
        }
        let handed = (self.written + self.sent + self.taken.len()) as u64
            + u64::from(self.done)
            + self.fill.moved(ddr)
            + self.drain.moved(ddr);
        self.watch.look(now, handed, &core.model, ddr)?;
        Ok(false)
    }
}
