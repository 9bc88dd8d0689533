//! The device: registers and memory seen by the host, and the simulation behind them.
//!
//! The simulation has a separate thread and runs whenever a compute unit has been started, so polls cost no simulated
//! cycles. A compute unit starts when all three of its kernels have been started, however far apart in host time. All
//! its cycles are simulated time, so the same task takes the same number of cycles regardless of the host's threads.
//! (Several compute units share the banks, and their relative start depends on the host.)

mod run;
mod simulation;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result};
use gramer_machine::Accelerator;

use crate::memory::Memory;

/// Longest delay of the answer to a poll while its kernel runs. The runtime polls in a tight loop: immediate
/// answers would occupy a processor that the simulation can use.
const PATIENCE: Duration = Duration::from_millis(1);

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
    /// Error that ended the simulation, and messages not yet sent to the host.
    failure: Option<String>,
    untold: String,
}

/// State shared by the host and the simulation.
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
    /// Creates a device with the memory and kernels of a machine; `library` is the model of its core,
    /// or `None` for the functional one.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(accelerator: Accelerator, library: Option<PathBuf>) -> Result<Arc<Self>> {
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
        let work = move || {
            let outcome = match library {
                Some(library) => simulated.simulate(&library),
                None => simulated.compute(),
            };
            if let Err(error) = outcome {
                simulated.fail(&error);
            }
        };
        std::thread::Builder::new().spawn(work).context(
            "the system refused a thread for the device: raise the limit of processes or of memory",
        )?;
        Ok(device)
    }

    /// Simulated nanoseconds since the creation of the device.
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

    /// Reads a register. The answer for the control register of a running kernel is delayed by [`PATIENCE`], or
    /// until a kernel ends.
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

    /// Takes the pending messages for the host's user.
    pub fn messages(&self) -> String {
        std::mem::take(&mut lock(&self.control).untold)
    }

    /// Error that ended the simulation.
    pub fn failure(&self) -> Option<String> {
        lock(&self.control).failure.clone()
    }

    /// Ends the simulation: started kernels are reported as done, without a result.
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

    /// After a failure, started kernels are done immediately, and beat 0 of the result area reports no
    /// beats.
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
