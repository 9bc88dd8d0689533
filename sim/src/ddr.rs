//! The DDR banks behind the cores' AXI4 read masters, with a checker of the protocol.
//!
//! Contents and timing are apart: the banks' time belongs to a simulation, their contents may be
//! written by somebody else meanwhile. A bank gives one beat at a time, to the cores in turn and
//! to the data movers where no core has one due.

use std::collections::VecDeque;

use anyhow::{Result, bail, ensure};

use crate::model::Pins;

/// What the memory does.
#[derive(Debug, Clone)]
pub struct Timing {
    /// Cycles from an accepted address to its beat, if nothing else is under way.
    pub latency: u64,
    /// Cycles between two beats of a bank.
    pub cycles_a_beat: u64,
    /// One clock in so many holds a handshake back, at random; 0: none.
    pub back_pressure: u32,
    /// The access that is answered with a slave error, counted over all banks from 0.
    pub fail_at: Option<u64>,
}

/// What lies in memory.
pub trait Contents {
    /// The 64-byte line at an aligned address, or `None` outside of all buffers.
    fn line(&self, address: u64) -> Option<[u8; 64]>;
}

/// Buffers at addresses that don't overlap.
#[derive(Debug, Clone, Default)]
pub struct Buffers(Vec<(u64, Vec<u8>)>);

impl Buffers {
    /// Buffers `(address, bytes)` of whole lines.
    pub fn new(buffers: Vec<(u64, Vec<u8>)>) -> Self {
        Buffers(buffers)
    }

    /// Overwrites a 32-bit word, as the host does while the core runs.
    ///
    /// # Panics
    /// If no buffer holds `address`.
    pub fn write_word(&mut self, address: u64, word: u32) {
        let (base, bytes) = self
            .0
            .iter_mut()
            .find(|(base, bytes)| (*base..*base + bytes.len() as u64).contains(&address))
            .expect("a buffer holds the address");
        let at = (address - *base) as usize;
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
}

impl Contents for Buffers {
    fn line(&self, address: u64) -> Option<[u8; 64]> {
        let (base, bytes) = self
            .0
            .iter()
            .find(|(base, bytes)| (*base..*base + bytes.len() as u64).contains(&address))?;
        let at = (address - base) as usize;
        bytes.get(at..at + 64)?.try_into().ok()
    }
}

#[derive(Debug)]
struct Pending {
    address: u64,
    id: u8,
    due: u64,
    fails: bool,
}

/// The read master of a core at a bank.
#[derive(Debug, Default)]
struct Port {
    queue: VecDeque<Pending>,
    waiting: Option<(u64, u8)>, // an address on the pins that has not been taken
    beats: u64,
}

#[derive(Debug, Default)]
struct Bank {
    ports: Vec<Port>,
    next_beat: u64,
    offered: Option<usize>, // the port on whose pins a beat is that has not been taken
    movers: VecDeque<(usize, u64)>, // a mover, and when its beat is due
}

/// All banks.
#[derive(Debug)]
pub struct Ddr {
    banks: Vec<Bank>,
    timing: Timing,
    accesses: u64,
    moved: Vec<u64>,
}

impl Ddr {
    /// `banks` banks with a port for each of `cores` cores, and `movers` data movers.
    pub fn new(banks: usize, cores: usize, movers: usize, timing: Timing) -> Self {
        let ports = || (0..cores).map(|_| Port::default()).collect();
        let banks = (0..banks).map(|_| Bank { ports: ports(), ..Bank::default() }).collect();
        Ddr { banks, timing, accesses: 0, moved: vec![0; movers] }
    }

    /// Beats that each bank has delivered to a core.
    pub fn beats(&self, core: usize) -> Vec<u64> {
        self.banks.iter().map(|bank| bank.ports[core].beats).collect()
    }

    /// Forgets how many beats a core was given.
    pub fn clear_beats(&mut self, core: usize) {
        self.banks.iter_mut().for_each(|bank| bank.ports[core].beats = 0);
    }

    /// A data mover asks for a beat of a bank, to read or to write it.
    pub fn move_beat(&mut self, now: u64, bank: usize, mover: usize) {
        self.banks[bank].movers.push_back((mover, now + self.timing.latency));
    }

    /// Beats that a mover was given so far.
    pub fn moved(&self, mover: usize) -> u64 {
        self.moved[mover]
    }

    /// Sets the pins to a core for the clock `now`.
    ///
    /// # Errors
    /// If the core reads outside of all buffers.
    pub fn drive(
        &mut self,
        now: u64,
        core: usize,
        pins: &mut Pins,
        contents: &impl Contents,
        rng: &mut fastrand::Rng,
    ) -> Result<()> {
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let held = |rng: &mut fastrand::Rng| {
                self.timing.back_pressure > 0 && rng.u32(0..self.timing.back_pressure) == 0
            };
            pins.bank_arready[b] = u8::from(!held(rng));
            // A beat that has been offered stays until it is taken.
            let front = bank.ports[core].queue.front();
            if bank.offered.is_none() {
                let due = front.is_some_and(|p| p.due.max(bank.next_beat) <= now);
                if due && !held(rng) {
                    bank.offered = Some(core);
                }
            }
            let offered = bank.offered == Some(core);
            pins.bank_rvalid[b] = u8::from(offered);
            if !offered {
                // What isn't valid means nothing, whatever it is.
                pins.bank_rid[b] = rng.u8(..);
                pins.bank_rdata[b].fill(rng.u8(..));
            }
            if let (true, Some(pending)) = (offered, front) {
                let Some(line) = contents.line(pending.address) else {
                    bail!("AXI bank {b}: address {:#x} is outside the buffers", pending.address);
                };
                pins.bank_rdata[b] = line;
                pins.bank_rid[b] = pending.id;
                pins.bank_rresp[b] = if pending.fails { 2 } else { 0 };
            }
        }
        Ok(())
    }

    /// Takes what a core handed over in the clock `now`.
    ///
    /// # Errors
    /// If the core breaks a rule of AXI4.
    pub fn sample(&mut self, now: u64, core: usize, pins: &Pins) -> Result<()> {
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let port = &mut bank.ports[core];
            if bank.offered == Some(core) && pins.bank_rready[b] == 1 {
                port.queue.pop_front();
                port.beats += 1;
                bank.offered = None;
                bank.next_beat = now + self.timing.cycles_a_beat;
            }
            let (address, id) = (pins.bank_araddr[b], pins.bank_arid[b]);
            let valid = pins.bank_arvalid[b] == 1;
            if let Some(before) = port.waiting {
                ensure!(valid, "AXI bank {b}, cycle {now}: ARVALID falls before ARREADY");
                ensure!(
                    before == (address, id),
                    "AXI bank {b}, cycle {now}: ARADDR or ARID changes while it waits"
                );
            }
            port.waiting = (valid && pins.bank_arready[b] == 0).then_some((address, id));
            if !(valid && pins.bank_arready[b] == 1) {
                continue;
            }
            ensure!(address % 64 == 0, "AXI bank {b}, cycle {now}: address {address:#x} unaligned");
            let bytes = (u64::from(pins.bank_arlen[b]) + 1) * 64;
            ensure!(
                address / 4096 == (address + bytes - 1) / 4096,
                "AXI bank {b}, cycle {now}: a burst at {address:#x} crosses 4 KiB"
            );
            ensure!(
                pins.bank_arsize[b] == 6 && pins.bank_arburst[b] == 1,
                "AXI bank {b}, cycle {now}: ARSIZE {} and ARBURST {}, not 6 (64 bytes) and 1 (INCR)",
                pins.bank_arsize[b],
                pins.bank_arburst[b]
            );
            ensure!(bytes == 64, "AXI bank {b}, cycle {now}: a burst of {bytes} bytes");
            ensure!(
                !port.queue.iter().any(|p| p.id == id),
                "AXI bank {b}, cycle {now}: id {id} is under way already"
            );
            let fails = self.timing.fail_at == Some(self.accesses);
            self.accesses += 1;
            port.queue.push_back(Pending { address, id, due: now + self.timing.latency, fails });
        }
        Ok(())
    }

    /// Ends the clock `now`: beats that no core has taken go to the movers.
    pub fn end_clock(&mut self, now: u64) {
        for bank in &mut self.banks {
            let due = bank.movers.front().is_some_and(|&(_, due)| due <= now);
            if due && bank.offered.is_none() && bank.next_beat <= now {
                let (mover, _) = bank.movers.pop_front().expect("there is one");
                self.moved[mover] += 1;
                bank.next_beat = now + self.timing.cycles_a_beat;
            }
        }
    }
}
