//! Thread behind the device: starts a run when the host has started all kernels of a compute unit, simulates it or
//! computes its result, and ends it.

use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, ensure};
use gramer_sim::ddr::{Ddr, Timing};
use gramer_sim::stream::StreamChecker;
use gramer_sim::timeline::Recording;
use gramer_sim::watch::Watch;

use super::run::{Core, Mover, Run};
use super::{CORE, DRAIN, Device, FILL, START, State, argument, lock};
use crate::{functional, movers};

/// Clocks between two checks for newly started compute units.
const SLICE: u64 = 512;
/// Environment variable: file that receives a line of JSON per run, the timeline of the PUs.
const TIMELINE: &str = "GRAMER_EMULATOR_TIMELINE";
/// Maximum of beats in a mover's buffer, 64 GiB: a larger number is an error of the host.
const MOST_BEATS: u64 = 1 << 30;

impl Device {
    /// Waits until all kernels of an inactive compute unit have been started, or returns immediately with `poll`.
    /// Returns the unit's number, or `None`.
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

    /// Runs the functional model instead of the simulation: no simulated time passes.
    pub(super) fn compute(&self) -> Result<()> {
        let a = &self.accelerator;
        let units = a.kernels.compute_units as usize;
        ensure!(a.set.is_none(), "machine {} has no functional model", a.machine.name);
        let ddr = Ddr::new(a.memory.ddr_banks as usize, units, 2 * units, Timing::of(a));
        let active: Vec<Option<Run>> = (0..units).map(|_| None).collect();
        while let Some(unit) = self.next_start(&active, false) {
            let mut run = self.begin(unit, &ddr)?;
            let value = |name: &str| argument(a, &lock(&self.control), CORE, unit, name);
            run.taken = functional::run(a, value, &run.stream, &self.memory)?;
            self.end(unit, &run);
        }
        Ok(())
    }

    pub(super) fn simulate(&self, library: &Path) -> Result<()> {
        let a = &self.accelerator;
        let units = a.kernels.compute_units as usize;
        let mut ddr = Ddr::new(a.memory.ddr_banks as usize, units, 2 * units, Timing::of(a));
        if a.set.is_some() {
            // A cluster has its own ports, on the banks of its image.
            let image = a.arguments.iter().find(|x| x.name == "bank0");
            let image = image.context("the core has no argument bank0")?;
            let banks: Vec<u32> =
                (0..units as u32).map(|u| a.bank_of(image, u).unwrap_or(0)).collect();
            ddr.connect(&banks, a.core_ports());
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

    /// Parameters of a compute unit's run, from the host's registers.
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
            arguments: writes.len(),
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
            recording: Recording::new(a, std::env::var_os(TIMELINE).is_some()),
            done: false,
            continued: false,
            result,
        })
    }

    /// Writes the results of a run to memory and reports its kernels as done.
    fn end(&self, unit: usize, run: &Run) {
        // Before the host hears of the end, and looks for it.
        if let Some(timeline) = run.recording.timeline() {
            let mut line = timeline.json();
            line["device"] = crate::device_number().into();
            line["compute_unit"] = unit.into();
            crate::append(TIMELINE, &line.to_string());
        }
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
