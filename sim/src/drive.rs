//! A core of either kind from its start to its end: registers, streams and memory, clock by clock.

use std::time::Instant;

use anyhow::{Result, bail, ensure};
use gramer_machine::Accelerator;

use crate::ddr::{Buffers, Ddr, StreamChecker};
use crate::model::{Model, Pins};
use crate::run::Simulation;
use crate::timeline::{Sampler, Timeline};
use crate::watch::Watch;

/// What a run is given.
pub(crate) struct Job<'a> {
    /// The value of each argument, by name.
    pub arguments: &'a dyn Fn(&str) -> u64,
    /// The in-stream.
    pub stream: &'a [[u8; 64]],
    /// Its beats before those of work units.
    pub head: usize,
    /// Address of the abort word.
    pub abort_word: u64,
}

/// What came of it.
pub(crate) struct Driven {
    /// The out-stream.
    pub out: Vec<[u8; 64]>,
    /// Cycles from the start to the done that the control port shows.
    pub cycles: u64,
    /// For each beat of work units: cycles from the start until the core took it.
    pub taken: Vec<u64>,
    /// Beats that each bank gave.
    pub beats: Vec<u64>,
    /// What the PUs did meanwhile, if it was asked for.
    pub timeline: Option<Timeline>,
}

/// Runs a core from its start, after a reset where it had none yet, until it may be started again.
///
/// # Errors
/// If an assertion or a protocol check fails, nothing moves any more ([`Watch`]; the message has the
/// state of every part), or the limit of cycles is reached.
pub(crate) fn drive(
    a: &Accelerator,
    model: &mut Model,
    memory: &mut Buffers,
    ddr: &mut Ddr,
    job: &Job<'_>,
    simulation: &Simulation,
) -> Result<Driven> {
    let stream = job.stream;
    let mut writes = vec![];
    for (argument, offset) in a.offsets() {
        let value = (job.arguments)(&argument.name);
        writes.push((offset, value as u32));
        if argument.bits == 64 {
            writes.push((offset + 4, (value >> 32) as u32));
        }
    }
    writes.push((0, 1)); // ap_start

    let mut rng = fastrand::Rng::with_seed(simulation.seed);
    let held = |rng: &mut fastrand::Rng| {
        simulation.back_pressure > 0 && rng.u32(0..simulation.back_pressure) == 0
    };
    let mut pins = Pins::new();
    pins.reset_n = 1;
    pins.wstrb = 15;
    if model.fresh {
        pins.reset_n = 0;
        for clock in 0..4 {
            model.cycle(&mut pins)?;
            let valid = pins.out_tvalid == 1 || pins.bank_arvalid.contains(&1);
            // The reset goes through a register, so what it clears is low two clocks later.
            ensure!(clock < 2 || !valid, "a VALID is high while the core is being reset");
        }
        pins.reset_n = 1;
        model.fresh = false;
    }
    let (mut written, mut sent, mut started, mut done) = (0, 0, None, None);
    let (mut asked, mut answered) = (0u64, 0u64); // reads of the control register
    let mut end = None; // the next run may begin
    let mut taken = vec![];
    let mut out: Vec<[u8; 64]> = vec![];
    let mut checker = StreamChecker::default();
    let mut offered = false;
    let clock = Instant::now();
    let mut shown = false;
    let mut now = 0u64;
    let (mut in_after, mut out_after) = (0, 0); // the next beat of a stream isn't earlier
    let mut watch = Watch::new(a, ddr, simulation.back_pressure > 0);
    watch.allow(simulation.in_pause + simulation.out_pause);
    let mut sampler = simulation.timeline.then(|| Sampler::new(a));
    let mut timeline = None;
    while end.is_none() {
        if now >= simulation.max_cycles {
            bail!(
                "no end after {now} cycles, the limit; {written} of {} registers written, \
                 {sent} of {} beats in, {} beats out",
                writes.len(),
                stream.len(),
                out.len()
            );
        }
        if let Some((_, word)) = simulation.abort.filter(|&(at, _)| at == now) {
            memory.write_word(job.abort_word, word);
        }
        // Control: write the arguments and start, then poll ap_done.
        pins.bready = u8::from(!held(&mut rng));
        pins.rready = u8::from(!held(&mut rng));
        let writing = written < writes.len();
        pins.awvalid = u8::from(writing);
        pins.wvalid = u8::from(writing);
        // What isn't valid means nothing, whatever it is.
        (pins.awaddr, pins.wdata) =
            if writing { writes[written] } else { (rng.u32(0..16) * 4, rng.u32(..)) };
        // After the last beat: one read of the status after the other, until done.
        let reading = !writing && checker.ended() && asked == answered && done.is_none();
        pins.arvalid = u8::from(reading);
        pins.araddr = if reading { 0 } else { 8 };
        if !offered {
            rng.fill(&mut pins.in_tdata);
            pins.in_tlast = rng.u8(0..2);
        }
        if !offered {
            offered =
                sent < stream.len() && started.is_some() && now >= in_after && !held(&mut rng);
            if offered {
                pins.in_tdata = stream[sent];
                pins.in_tlast = u8::from(sent + 1 == stream.len());
            }
        }
        pins.in_tvalid = u8::from(offered);
        pins.out_tready = u8::from(now >= out_after && !held(&mut rng));
        ddr.drive(now, 0, &mut pins, memory, &mut rng)?;
        model.cycle(&mut pins)?;
        ddr.sample(now, 0, &pins)?;
        if writing && pins.awready == 1 && pins.wready == 1 {
            written += 1;
            if done.is_some() {
                end = Some(now);
            } else if written == writes.len() {
                started = Some(now);
            }
        }
        if reading && pins.arready == 1 {
            asked += 1;
        }
        if pins.rvalid == 1 && pins.rready == 1 {
            ensure!(asked == answered + 1, "cycle {now}: an answer to no read");
            answered += 1;
            if pins.rdata & 2 != 0 && done.is_none() {
                done = Some(now);
                writes.push((0, 16)); // ap_continue
            }
        }
        if offered && pins.in_tready == 1 {
            if sent >= job.head {
                taken.push(now - started.unwrap_or(now));
            }
            sent += 1;
            offered = false;
            in_after = now + 1 + simulation.in_pause;
        }
        if checker.sample(now, &pins)? {
            out.push(pins.out_tdata);
            out_after = now + 1 + simulation.out_pause;
        }
        now += 1;
        if started.is_some()
            && let Some(sampler) = &mut sampler
        {
            sampler.look(now, out.len(), model)?;
        }
        if done.is_some()
            && let Some(sampler) = sampler.take()
        {
            timeline = Some(sampler.finish(now, model)?);
        }
        // Polls of the status go on for ever, so they don't count.
        let handed = written + sent + out.len() + usize::from(done.is_some());
        watch.look(now, handed as u64, model, ddr)?;
        if simulation.progress > 0 && now % simulation.progress == 0 {
            let rate = now as f64 / clock.elapsed().as_secs_f64();
            eprint!(
                "\r\x1b[K{now} cycles, {rate:.0} a second, {sent} of {} beats of the in-stream",
                stream.len()
            );
            shown = true;
        }
    }
    if shown {
        eprint!("\r\x1b[K"); // a result takes the place of the line
    }
    ensure!(sent == stream.len(), "done after {sent} of {} beats", stream.len());
    let cycles = done.unwrap_or(now) - started.unwrap_or(0);
    Ok(Driven { out, cycles, taken, beats: ddr.beats(0), timeline })
}
