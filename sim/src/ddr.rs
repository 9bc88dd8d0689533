//! The DDR banks behind the core's AXI4 read masters, with a checker of the protocol.

use std::collections::VecDeque;

use anyhow::{Result, ensure};

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

#[derive(Debug)]
struct Pending {
    address: u64,
    id: u8,
    due: u64,
    fails: bool,
}

#[derive(Debug, Default)]
struct Bank {
    memory: Vec<u8>,
    base: u64,
    queue: VecDeque<Pending>,
    next_beat: u64,
    offered: bool,              // a beat is on the pins and has not been taken
    waiting: Option<(u64, u8)>, // an address on the pins that has not been taken
}

/// All banks of a core.
#[derive(Debug)]
pub struct Ddr {
    banks: Vec<Bank>,
    timing: Timing,
    accesses: u64,
    /// Beats that each bank has delivered.
    pub beats: Vec<u64>,
}

impl Ddr {
    /// Banks with these contents, `(address, bytes)`.
    pub fn new(contents: Vec<(u64, Vec<u8>)>, timing: Timing) -> Self {
        let beats = vec![0; contents.len()];
        let banks = contents
            .into_iter()
            .map(|(base, memory)| Bank { memory, base, ..Bank::default() })
            .collect();
        Ddr { banks, timing, accesses: 0, beats }
    }

    /// Overwrites a 32-bit word, as the host does while the core runs.
    ///
    /// # Panics
    /// If no bank holds `address`.
    pub fn write_word(&mut self, address: u64, word: u32) {
        let bank = self
            .banks
            .iter_mut()
            .find(|b| (b.base..b.base + b.memory.len() as u64).contains(&address))
            .expect("a bank holds the address");
        let at = (address - bank.base) as usize;
        bank.memory[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }

    /// Sets the pins to the core for the clock `now`.
    pub fn drive(&mut self, now: u64, pins: &mut Pins, rng: &mut fastrand::Rng) {
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let held = |rng: &mut fastrand::Rng| {
                self.timing.back_pressure > 0 && rng.u32(0..self.timing.back_pressure) == 0
            };
            pins.bank_arready[b] = u8::from(!held(rng));
            // A beat that has been offered stays until it is taken.
            if !bank.offered {
                let due = bank.queue.front().is_some_and(|p| p.due.max(bank.next_beat) <= now);
                bank.offered = due && !held(rng);
            }
            pins.bank_rvalid[b] = u8::from(bank.offered);
            if let (true, Some(pending)) = (bank.offered, bank.queue.front()) {
                let at = (pending.address - bank.base) as usize;
                pins.bank_rdata[b].copy_from_slice(&bank.memory[at..at + 64]);
                pins.bank_rid[b] = pending.id;
                pins.bank_rresp[b] = if pending.fails { 2 } else { 0 };
            }
        }
    }

    /// Takes what was handed over in the clock `now`.
    ///
    /// # Errors
    /// If the core breaks a rule of AXI4 or reads outside its buffers.
    pub fn sample(&mut self, now: u64, pins: &Pins) -> Result<()> {
        for (b, bank) in self.banks.iter_mut().enumerate() {
            if bank.offered && pins.bank_rready[b] == 1 {
                bank.queue.pop_front();
                bank.offered = false;
                bank.next_beat = now + self.timing.cycles_a_beat;
                self.beats[b] += 1;
            }
            let (address, id) = (pins.bank_araddr[b], pins.bank_arid[b]);
            let valid = pins.bank_arvalid[b] == 1;
            if let Some(before) = bank.waiting {
                ensure!(valid, "AXI bank {b}, cycle {now}: ARVALID falls before ARREADY");
                ensure!(
                    before == (address, id),
                    "AXI bank {b}, cycle {now}: ARADDR or ARID changes while it waits"
                );
            }
            bank.waiting = (valid && pins.bank_arready[b] == 0).then_some((address, id));
            if !(valid && pins.bank_arready[b] == 1) {
                continue;
            }
            ensure!(address % 64 == 0, "AXI bank {b}, cycle {now}: address {address:#x} unaligned");
            let bytes = (u64::from(pins.bank_arlen[b]) + 1) * 64;
            ensure!(
                address / 4096 == (address + bytes - 1) / 4096,
                "AXI bank {b}, cycle {now}: a burst at {address:#x} crosses 4 KiB"
            );
            ensure!(bytes == 64, "AXI bank {b}, cycle {now}: a burst of {bytes} bytes");
            ensure!(
                address >= bank.base && address + 64 <= bank.base + bank.memory.len() as u64,
                "AXI bank {b}, cycle {now}: address {address:#x} is outside the buffer"
            );
            ensure!(
                !bank.queue.iter().any(|p| p.id == id),
                "AXI bank {b}, cycle {now}: id {id} is under way already"
            );
            let fails = self.timing.fail_at == Some(self.accesses);
            self.accesses += 1;
            bank.queue.push_back(Pending { address, id, due: now + self.timing.latency, fails });
        }
        Ok(())
    }
}
