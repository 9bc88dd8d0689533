//! Drives a core of either kind from start to end: registers, streams and memory, clock by clock.

use std::time::Instant;

use anyhow::{Result, bail, ensure};
use gramer_machine::Accelerator;

use crate::ddr::{Buffers, Ddr};
use crate::model::{Model, Pins};
use crate::run::{STREAM_WAIT, Simulation};
use crate::stream::StreamChecker;
use crate::timeline::{Recording, Timeline};
use crate::watch::Watch;

/// Inputs of a run.
pub(crate) struct Job<'a> {
    /// The value of each argument, by name.
    pub arguments: &'a dyn Fn(&str) -> u64,
    /// The in-stream.
    pub stream: &'a [[u8; 64]],
    /// Number of its beats before those of work units.
    pub head: usize,
    /// Address of the abort word.
    pub abort_word: u64,
}

/// Results of a run.
pub(crate) struct Driven {
    /// The out-stream.
    pub out: Vec<[u8; 64]>,
    /// Cycles from start to done, as seen at the control port.
    pub cycles: u64,
    /// For each beat of work units: cycles from the start until the core took it.
    pub taken: Vec<u64>,
    /// Beats delivered by each bank.
    pub beats: Vec<u64>,
    /// Timeline of the PUs, if requested.
    pub timeline: Option<Timeline>,
}

/// Runs a core from its start (after a reset, if it had none) until it may be started again.
///
/// # Errors
/// If an assertion or a protocol check fails, the run makes no progress ([`Watch`]; the message has the
/// state of every part), or the limit of cycles is reached.
pub(crate) fn drive(
    a: &Accelerator,
    model: &mut Model,
    memory: &mut Buffers,
    ddr: &mut Ddr,
    job: &Job<'_>,
    simulation: &Simulation,
) -> Result<Driven> {
    let mut pins = Pins::new();
    pins.reset_n = 1;
    pins.wstrb = 15;
    if model.fresh {
        reset(model, &mut pins, a.machine.slr_registers)?;
        for _ in 0..simulation.rest {
            model.cycle(&mut pins)?;
        }
    }
    let mut host = Host::new(a, job, simulation);
    let mut progress = Progress { every: simulation.progress, begun: Instant::now(), shown: false };
    let mut watch = Watch::new(a, ddr, simulation.back_pressure > 0);
    watch.allow(simulation.in_pause + simulation.out_pause);
    if simulation.cut.is_some() {
        watch.allow(STREAM_WAIT);
    }
    let mut recording = Recording::new(a, simulation.timeline);
    let mut now = 0u64;
    while host.end.is_none() {
        if now >= simulation.max_cycles {
            bail!("no end after {now} cycles, the limit; {}", host.state());
        }
        if let Some((_, word)) = simulation.abort.filter(|&(at, _)| at == now) {
            memory.write_word(job.abort_word, word);
        }
        host.drive(now, &mut pins);
        ddr.drive(now, 0, &mut pins, memory, &mut host.rng)?;
        model.cycle(&mut pins)?;
        ddr.sample(now, 0, &pins)?;
        ddr.end_clock(now);
        host.sample(now, &pins)?;
        now += 1;
        let phase = (host.started.is_some(), host.done.is_some());
        recording.look(now, phase, host.out.len(), model)?;
        watch.look(now, host.handed(), model, ddr)?;
        progress.show(now, &host);
    }
    progress.clear();
    let (sent, all) = (host.sent, simulation.cut.unwrap_or(job.stream.len()));
    ensure!(sent == all, "done after {sent} of {all} beats");
    let cycles = host.done.unwrap_or(now) - host.started.unwrap_or(0);
    let timeline = recording.finished();
    Ok(Driven { out: host.out, cycles, taken: host.taken, beats: ddr.beats(0), timeline })
}

/// Resets a core that had no reset.
fn reset(model: &mut Model, pins: &mut Pins, slr_registers: u32) -> Result<()> {
    pins.reset_n = 0;
    // It goes through a register, and through those between regions: what it clears is low two clocks after.
    let late = 2 + slr_registers;
    for clock in 0..late + 2 {
        model.cycle(pins)?;
        let valid = pins.out_tvalid == 1 || pins.bank_arvalid.contains(&1);
        ensure!(clock < late || !valid, "a VALID is high while the core is being reset");
    }
    pins.reset_n = 1;
    model.fresh = false;
    Ok(())
}

/// Environment of the core except memory: master of the control port, sender of the in-stream, receiver of the
/// out-stream.
struct Host<'a> {
    job: &'a Job<'a>,
    simulation: &'a Simulation,
    rng: fastrand::Rng,
    /// Register writes: arguments, start, and continue after done.
    writes: Vec<(u32, u32)>,
    written: usize,
    /// Reads of the control register, and their responses.
    asked: u64,
    answered: u64,
    /// Cycles in which the core was started, was done, and became ready to start again.
    started: Option<u64>,
    done: Option<u64>,
    end: Option<u64>,
    /// Accepted beats of the in-stream; whether the next one is on the pins.
    sent: usize,
    offered: bool,
    taken: Vec<u64>,
    out: Vec<[u8; 64]>,
    checker: StreamChecker,
    /// Earliest cycle of a stream's next beat.
    in_after: u64,
    out_after: u64,
}

impl<'a> Host<'a> {
    fn new(a: &Accelerator, job: &'a Job<'a>, simulation: &'a Simulation) -> Self {
        let mut writes = vec![];
        for (argument, offset) in a.offsets() {
            let value = (job.arguments)(&argument.name);
            writes.push((offset, value as u32));
            if argument.bits == 64 {
                writes.push((offset + 4, (value >> 32) as u32));
            }
        }
        writes.push((0, 1)); // ap_start
        Host {
            job,
            simulation,
            rng: fastrand::Rng::with_seed(simulation.seed),
            writes,
            written: 0,
            asked: 0,
            answered: 0,
            started: None,
            done: None,
            end: None,
            sent: 0,
            offered: false,
            taken: vec![],
            out: vec![],
            checker: StreamChecker::default(),
            in_after: 0,
            out_after: 0,
        }
    }

    /// Whether a handshake is held back in this clock.
    fn held(&mut self) -> bool {
        let pressure = self.simulation.back_pressure;
        pressure > 0 && self.rng.u32(0..pressure) == 0
    }

    /// Sets the core's inputs: writes the arguments and the start, then polls ap_done.
    fn drive(&mut self, now: u64, pins: &mut Pins) {
        pins.bready = u8::from(!self.held());
        pins.rready = u8::from(!self.held());
        let writing = self.written < self.writes.len();
        pins.awvalid = u8::from(writing);
        pins.wvalid = u8::from(writing);
        // What isn't valid means nothing, whatever it is.
        (pins.awaddr, pins.wdata) = if writing {
            self.writes[self.written]
        } else {
            (self.rng.u32(0..16) * 4, self.rng.u32(..))
        };
        // After the last beat: one read of the status after the other, until done.
        let reading =
            !writing && self.checker.ended() && self.asked == self.answered && self.done.is_none();
        pins.arvalid = u8::from(reading);
        pins.araddr = if reading { 0 } else { 8 };
        if !self.offered {
            self.rng.fill(&mut pins.in_tdata);
            pins.in_tlast = self.rng.u8(0..2);
            let stream = self.job.stream;
            self.offered = self.sent < self.simulation.cut.unwrap_or(stream.len())
                && self.started.is_some()
                && now >= self.in_after
                && !self.held();
            if self.offered {
                pins.in_tdata = stream[self.sent];
                pins.in_tlast =
                    u8::from(self.sent + 1 == stream.len() && self.simulation.cut.is_none());
            }
        }
        pins.in_tvalid = u8::from(self.offered);
        pins.out_tready = u8::from(now >= self.out_after && !self.held());
    }

    /// Accepts the core's responses in this clock.
    fn sample(&mut self, now: u64, pins: &Pins) -> Result<()> {
        if pins.awvalid == 1 && pins.awready == 1 && pins.wready == 1 {
            self.written += 1;
            if self.done.is_some() {
                self.end = Some(now);
            } else if self.written == self.writes.len() {
                self.started = Some(now);
            }
        }
        if pins.arvalid == 1 && pins.arready == 1 {
            self.asked += 1;
        }
        if pins.rvalid == 1 && pins.rready == 1 {
            ensure!(self.asked == self.answered + 1, "cycle {now}: an answer to no read");
            self.answered += 1;
            if pins.rdata & 2 != 0 && self.done.is_none() {
                self.done = Some(now);
                self.writes.push((0, 16)); // ap_continue
            }
        }
        if self.offered && pins.in_tready == 1 {
            if self.sent >= self.job.head {
                self.taken.push(now - self.started.unwrap_or(now));
            }
            self.sent += 1;
            self.offered = false;
            self.in_after = now + 1 + self.simulation.in_pause;
        }
        if self.checker.sample(now, pins)? {
            self.out.push(pins.out_tdata);
            self.out_after = now + 1 + self.simulation.out_pause;
        }
        Ok(())
    }

    /// Transfers at the core's ports, without status polls, which never stop.
    fn handed(&self) -> u64 {
        (self.written + self.sent + self.out.len() + usize::from(self.done.is_some())) as u64
    }

    /// Progress, in words.
    fn state(&self) -> String {
        format!(
            "{} of {} registers written, {} of {} beats in, {} beats out",
            self.written,
            self.writes.len(),
            self.sent,
            self.job.stream.len(),
            self.out.len()
        )
    }
}

/// Progress line on standard error.
struct Progress {
    /// Cycles between updates; 0: none.
    every: u64,
    begun: Instant,
    shown: bool,
}

impl Progress {
    fn show(&mut self, now: u64, host: &Host<'_>) {
        if self.every > 0 && now % self.every == 0 {
            let rate = now as f64 / self.begun.elapsed().as_secs_f64();
            eprint!(
                "\r\x1b[K{now} cycles, {rate:.0} a second, {} of {} beats of the in-stream",
                host.sent,
                host.job.stream.len()
            );
            self.shown = true;
        }
    }

    /// Clears the line, for a result.
    fn clear(&self) {
        if self.shown {
            eprint!("\r\x1b[K");
        }
    }
}
