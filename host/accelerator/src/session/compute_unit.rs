//! One compute unit: its kernels' arguments and a run of them over some work units.

use std::collections::BTreeMap;
use std::time::Instant;

use gramer_base::error::{Error, Result};
use gramer_engine::work::WorkUnit;
use gramer_machine::{Accelerator, Argument};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context as Cl;
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, ClMem};
use opencl3::types::cl_event;

use super::add;
use super::launches::Slot;
use super::pass::Job;
use super::places::{CORE, DRAIN, FILL, Places};
use super::stop::Stop;
use super::transfer::{TransferTotals, buffer, failed, read, write};
use crate::image::LINE;
use crate::stream::{self, Area, Results};

/// Private state of one compute unit.
pub(super) struct ComputeUnit {
    pub(super) kernels: [Kernel; 3],
    /// One a kernel, because they run at the same time.
    pub(super) queues: [CommandQueue; 3],
    pub(super) transfer: CommandQueue,
    /// For the abort word while the others wait.
    pub(super) control: CommandQueue,
    pub(super) units: Buffer<u8>,
    pub(super) result: Buffer<u8>,
    pub(super) abort: Buffer<u8>,
    /// The last word at the abort address.
    pub(super) told: u32,
    /// Bytes that `units` and `result` have.
    pub(super) room: (u64, u64),
    /// Buffers of launches that follow each other.
    pub(super) slots: Vec<Slot>,
    pub(super) cycles: u64,
    /// Runs that were begun again with fewer walkers, as a set had no room.
    pub(super) retries: u64,
    /// What each PU counted, by the counter's name.
    pub(super) by_pu: BTreeMap<String, Vec<u64>>,
    pub(super) moved: TransferTotals,
    /// The image that a set core has on chip: by its number.
    pub(super) on_chip: Option<u64>,
}

/// What the kernels are run for.
#[derive(Clone, Copy)]
pub(super) struct Execution<'a> {
    pub(super) machine: &'a Accelerator,
    pub(super) stop: &'a Stop<'a>,
    /// Counts in the out-stream.
    pub(super) patterns: u32,
    /// Vertices of a listed embedding.
    pub(super) k: u32,
    /// Whether embeddings are listed.
    pub(super) list: bool,
}

impl ComputeUnit {
    /// Makes the result area as large as `area` and sets the arguments that depend on it.
    pub(super) fn reserve_result(
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
        self.set_result(&self.result, area, machine, name, places)
    }

    /// Sets the arguments that depend on the result area.
    pub(super) fn set_result(
        &self,
        result: &Buffer<u8>,
        area: &Area,
        machine: &Accelerator,
        name: &str,
        places: &Places,
    ) -> Result<()> {
        self.set(places, DRAIN, "result", &result.get(), name)?;
        self.set(places, DRAIN, "capacity", &area.beats(), name)?;
        if let Some(argument) = machine.arguments.iter().find(|a| a.name == "result_beats") {
            self.set_scalar(places, CORE, argument, area.records.into(), name)?;
        }
        Ok(())
    }

    pub(super) fn set<T>(
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
        // of its size, of which the runtime refuses another: a u32, a u64, or a live buffer's handle.
        unsafe { self.kernels[kernel].set_arg(*position, value) }
            .map_err(|e| failed(name, &format!("setting the argument {argument}"), e.0))
    }

    pub(super) fn set_scalar(
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
    pub(super) fn run(
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
    pub(super) fn execute(
        &mut self,
        run: &Execution<'_>,
        name: &str,
        context: &Cl,
        places: &Places,
        beats: &[u8],
        area: &Area,
    ) -> Result<(Results, u32)> {
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
            .map_err(|e| failed(name, "writing the work units", e))?;
        self.clear_abort(name)?;

        let begun = Instant::now();
        let events = self.start(&[], name)?;
        let told = self.wait(run.stop, &events, name)?;
        self.moved.kernels += begun.elapsed();
        Ok((self.results(run, None, area, name)?, told))
    }

    /// Enqueues the kernels behind the commands `after`.
    pub(super) fn start(&self, after: &[cl_event], name: &str) -> Result<Vec<Event>> {
        let mut events = Vec::with_capacity(3);
        for kernel in [DRAIN, CORE, FILL] {
            // SAFETY: every argument is set. Buffers live until the events have ended: after a
            // failure the session is broken, and its cards are never released.
            let event =
                unsafe { self.queues[kernel].enqueue_task(self.kernels[kernel].get(), after) };
            events.push(event.map_err(|e| failed(name, "starting the kernels", e.0))?);
        }
        Ok(events)
    }

    /// Reads the results of kernels that have ended, from the result area of a slot or from the unit's own.
    pub(super) fn results(
        &mut self,
        run: &Execution<'_>,
        slot: Option<usize>,
        area: &Area,
        name: &str,
    ) -> Result<Results> {
        let refused = |e| failed(name, "reading the results", e);
        let result = slot.map_or(&self.result, |slot| &self.slots[slot].result);
        let first = if run.list { LINE } else { area.beats() as usize * LINE };
        let mut bytes = vec![0; first];
        read(&self.transfer, result, 0, &mut bytes, &mut self.moved).map_err(refused)?;
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
            read(&self.transfer, result, first, rest, &mut self.moved).map_err(refused)?;
        }
        let results = area
            .decode(run.machine, &bytes[LINE..end], run.patterns, run.k)
            .map_err(|e| Error::Device(format!("{name}: {e}")))?;
        let cycles = results.counters.get("core.cycles").and_then(|c| c.first()).copied();
        self.cycles += cycles.unwrap_or(0);
        add(&mut self.by_pu, &results.by_pu);
        Ok(results)
    }
}
