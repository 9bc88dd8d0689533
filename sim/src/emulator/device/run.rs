//! One compute unit from start to end, clock by clock: the core's model, data written by the host, and the traffic of
//! the data movers.

use std::sync::Mutex;

use anyhow::{Context, Result};
use gramer_sim::ddr::Ddr;
use gramer_sim::model::{Model, Pins};
use gramer_sim::stream::StreamChecker;
use gramer_sim::timeline::Recording;
use gramer_sim::watch::Watch;

use super::{CONTINUE, DONE, lock};
use crate::memory::Memory;

/// Maximum of a mover's beats in flight: its bursts.
const UNDER_WAY: u64 = 64;

/// A simulated core.
pub(super) struct Core {
    model: Model,
    pins: Box<Pins>,
    /// Source of values for invalid data; without back-pressure, timing does not depend on it.
    rng: fastrand::Rng,
}

impl Core {
    pub(super) fn reset(library: &std::path::Path) -> Result<Self> {
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
pub(super) struct Mover {
    pub(super) id: usize,
    pub(super) bank: usize,
    pub(super) asked: u64,
    pub(super) before: u64,
}

impl Mover {
    fn moved(&self, ddr: &Ddr) -> u64 {
        ddr.moved(self.id) - self.before
    }
}

/// A compute unit between its start and its end.
pub(super) struct Run {
    pub(super) writes: Vec<(u32, u32)>,
    pub(super) written: usize,
    /// Register writes up to the start of the core.
    pub(super) arguments: usize,
    pub(super) stream: Vec<[u8; 64]>,
    pub(super) sent: usize,
    pub(super) fill: Mover,
    pub(super) drain: Mover,
    pub(super) taken: Vec<[u8; 64]>,
    pub(super) checker: StreamChecker,
    pub(super) watch: Watch,
    /// Timeline of the PUs, if requested.
    pub(super) recording: Recording,
    pub(super) done: bool,
    pub(super) continued: bool,
    /// Address and beats of the result area.
    pub(super) result: (u64, u64),
}

impl Run {
    /// Simulates one clock; returns whether the run has ended.
    pub(super) fn clock(
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
            ddr.move_beat(now, self.fill.bank, self.fill.id, false);
        }
        // The drain mover writes each beat that it takes, and its first one at the end.
        let stored = self.drain.moved(ddr);
        if self.done && self.continued {
            if self.drain.asked == self.taken.len() as u64 {
                self.drain.asked += 1;
                ddr.move_beat(now, self.drain.bank, self.drain.id, true);
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
        let phase = (self.written >= self.arguments, self.done);
        self.recording.look(now, phase, self.taken.len(), &core.model)?;
        if offered && pins.in_tready == 1 {
            self.sent += 1;
        }
        if self.checker.sample(now, pins)? {
            self.taken.push(pins.out_tdata);
            self.drain.asked += 1;
            ddr.move_beat(now, self.drain.bank, self.drain.id, true);
        }
        let handed = (self.written + self.sent + self.taken.len()) as u64
            + u64::from(self.done)
            + self.fill.moved(ddr)
            + self.drain.moved(ddr);
        self.watch.look(now, handed, &core.model, ddr)?;
        Ok(false)
    }
}
