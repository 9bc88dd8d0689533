//! DDR banks behind the cores' AXI4 read masters, with a protocol checker.
//!
//! A bank has constant latency, or a [`Dram`] behind its port ([`Timing::dram`]).
//!
//! Contents and timing are separate: timing belongs to a simulation, while other code may write the contents
//! meanwhile. A bank delivers one beat at a time, round robin over the cores, and to the data movers if no core
//! has a beat due. A beat is read when it is offered and stays stable until it is taken. Optionally, due beats are
//! delivered in any order that AXI4 allows: in order per id, at random between ids.
//!
//! Each read master is checked against the rules of AXI4: address signals are stable until accepted; bursts consist of
//! whole lines, aligned, incrementing and within 4 KiB. A stricter rule applies to a core with a port on every bank:
//! a burst has one beat.

mod timing;

use std::collections::VecDeque;
use std::ops::Range;

use anyhow::{Result, bail, ensure};

use crate::dram::Dram;
use crate::model::Pins;

pub use timing::Timing;

/// Contents of the memory.
pub trait Contents {
    /// Returns the 64-byte line at an aligned address, or `None` outside of all buffers.
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

    /// Overwrites a 32-bit word, like the host during a run.
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

/// When an access is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Never,
    /// It waits for the DRAM.
    Waits,
    /// From this cycle on.
    From(u64),
}

impl Due {
    fn is_due(self, now: u64) -> bool {
        matches!(self, Due::From(due) if due <= now)
    }
}

impl std::fmt::Display for Due {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Due::Never => f.write_str("never"),
            Due::Waits => f.write_str("from the DRAM"),
            Due::From(due) => write!(f, "in cycle {due}"),
        }
    }
}

#[derive(Debug)]
struct Pending {
    number: u64, // of the port's accesses
    address: u64,
    id: u8,
    due: Due,
    response: u8,
    last: bool, // of its burst
}

/// Access of a DRAM.
#[derive(Debug, Clone, Copy)]
enum Token {
    /// Port and number.
    Read(usize, u64),
    /// Number of the mover's beat.
    Move(u64),
}

/// Address channel of a read master while ARVALID is high.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Address {
    address: u64,
    id: u8,
    len: u8,
    size: u8,
    burst: u8,
}

/// Read master of a core at a bank.
#[derive(Debug, Default)]
struct Port {
    queue: VecDeque<Pending>,
    waiting: Option<Address>, // on the pins, and has not been taken
    accesses: u64,
    beats: u64,
}

impl Port {
    /// Queue positions of the reads that may be answered next.
    fn due(&self, now: u64, reorder: bool) -> impl Iterator<Item = usize> {
        let few = if reorder { self.queue.len() } else { self.queue.len().min(1) };
        (0..few).filter(move |&at| {
            let read = &self.queue[at];
            read.due.is_due(now) && !self.queue.range(..at).any(|before| before.id == read.id)
        })
    }
}

/// Beat on the pins of a port, not yet taken.
#[derive(Debug)]
struct Beat {
    port: usize,
    at: usize, // in the port's queue
    line: [u8; 64],
    id: u8,
    response: u8,
    last: bool,
}

#[derive(Debug, Default)]
struct Bank {
    ports: Vec<Port>,
    next_beat: u64,
    turn: usize, // the port that comes first if it has a beat due
    offered: Option<Beat>,
    movers: VecDeque<(usize, Due)>, // a mover, and when its beat is due
    moves: u64,                     // beats of movers so far
    dram: Option<Dram<Token>>,
}

impl Bank {
    /// Runs the DRAM until the end of the cycle `now`.
    fn advance(&mut self, now: u64, timing: &Timing) {
        let (Some(dram), Some(device)) = (&mut self.dram, timing.dram) else { return };
        let first_move = self.moves - self.movers.len() as u64;
        let (ports, movers) = (&mut self.ports, &mut self.movers);
        dram.advance((now + 1) * timing.cycle, |token, end| {
            let due = Due::From(timing.due(device, end));
            match token {
                Token::Read(port, number) => {
                    let queue = &mut ports[port].queue;
                    if let Ok(at) = queue.binary_search_by_key(&number, |read| read.number) {
                        queue[at].due = due;
                    }
                }
                Token::Move(number) => movers[(number - first_move) as usize].1 = due,
            }
        });
    }

    /// Asks for a line; when it is due.
    fn ask(&mut self, now: u64, address: u64, write: bool, token: Token, timing: &Timing) -> Due {
        match &mut self.dram {
            Some(dram) => {
                dram.ask(address / 64, write, token);
                Due::Waits
            }
            None => Due::From(now + timing.latency),
        }
    }

    /// Port of the next beat: round robin over the ports with one due.
    fn due(&self, now: u64, reorder: bool) -> Option<usize> {
        if self.next_beat > now {
            return None;
        }
        let ports = self.ports.len();
        (0..ports)
            .map(|n| (self.turn + n) % ports)
            .find(|&port| self.ports[port].due(now, reorder).next().is_some())
    }
}

/// All banks.
#[derive(Debug)]
pub struct Ddr {
    banks: Vec<Bank>,
    /// By core: the banks of its ports, or `None` for a port on every bank.
    own: Vec<Option<Range<usize>>>,
    timing: Timing,
    accesses: u64,
    moved: Vec<u64>,
    /// Beats that each mover asked for.
    asked: Vec<u64>,
}

impl Ddr {
    /// Creates `banks` banks with a port for each of `cores` cores, and `movers` data movers.
    pub fn new(banks: usize, cores: usize, movers: usize, timing: Timing) -> Self {
        let ports = || (0..cores).map(|_| Port::default()).collect();
        let dram = || timing.dram.map(Dram::new);
        let bank = |_| Bank { ports: ports(), dram: dram(), ..Bank::default() };
        let banks = (0..banks).map(bank).collect();
        Ddr {
            banks,
            own: vec![None; cores],
            timing,
            accesses: 0,
            moved: vec![0; movers],
            asked: vec![0; movers],
        }
    }

    /// Beats delivered to a core by each bank.
    pub fn beats(&self, core: usize) -> Vec<u64> {
        self.banks.iter().map(|bank| bank.ports[core].beats).collect()
    }

    /// Requests a beat of a bank for a data mover, read or written. Its beats lie one after the other, far from other
    /// movers'.
    pub fn move_beat(&mut self, now: u64, bank: usize, mover: usize, write: bool) {
        let bank = &mut self.banks[bank];
        // 512 bytes apart: not in the same banks of the DRAM.
        let address = ((mover as u64 + 1) << 32) + 512 * mover as u64 + 64 * self.asked[mover];
        self.asked[mover] += 1;
        let due = bank.ask(now, address, write, Token::Move(bank.moves), &self.timing);
        bank.movers.push_back((mover, due));
        bank.moves += 1;
    }

    /// Beats granted to a mover so far.
    pub fn moved(&self, mover: usize) -> u64 {
        self.moved[mover]
    }

    /// Requests in flight by bank and core, one per line.
    pub fn state(&self) -> String {
        let mut text = String::new();
        for (b, bank) in self.banks.iter().enumerate() {
            for (core, port) in bank.ports.iter().enumerate() {
                let reads = port.queue.iter().map(|read| {
                    format!(", id {} at {:#x} due {}", read.id, read.address, read.due)
                });
                text += &format!(
                    "  bank {b}, core {core}: {} reads under way, {} answered{}{}\n",
                    port.queue.len(),
                    port.beats,
                    if bank.offered.is_some() { ", a beat is offered" } else { "" },
                    reads.collect::<String>()
                );
            }
            if !bank.movers.is_empty() {
                text += &format!("  bank {b}: {} beats of movers under way\n", bank.movers.len());
            }
        }
        text
    }

    /// Gives each core `ports` ports, on its first bank of `banks` and those behind it, and allows bursts, as for a
    /// cluster of the set core. By default a core has a port on every bank.
    pub fn connect(&mut self, banks: &[u32], ports: u32) {
        let range = |&first: &u32| Some(first as usize..(first + ports) as usize);
        self.own = banks.iter().map(range).collect();
    }

    /// Index of a core's pins for a bank.
    fn pins_of(own: Option<&Range<usize>>, bank: usize) -> Option<usize> {
        match own {
            None => Some(bank),
            Some(own) => own.contains(&bank).then(|| bank - own.start),
        }
    }

    /// Upper bound of an access' latency if all others of `accesses` precede it.
    pub fn longest_access(&self, accesses: u64) -> u64 {
        let cores = self.banks.iter().map(|bank| bank.ports.len()).max().unwrap_or(1) as u64;
        // A clock that is held back at random is, over a time that long, at most three of four.
        let held = if self.timing.back_pressure > 0 { 4 } else { 1 };
        // Each access opens a row of the same bank, with every refresh in between.
        let rows = self.timing.dram.map_or(0, |device| {
            let busy = cores * accesses * device.row_cycle();
            let refreshes = 1 + 2 * busy / device.refresh_interval;
            (busy + refreshes * (device.refresh + device.row_cycle())).div_ceil(self.timing.cycle)
        });
        held * (self.timing.latency + rows + cores * accesses * self.timing.cycles_a_beat.max(1))
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
        let own = self.own[core].clone();
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let Some(p) = Self::pins_of(own.as_ref(), b) else { continue };
            let held = |rng: &mut fastrand::Rng| {
                self.timing.back_pressure > 0 && rng.u32(0..self.timing.back_pressure) == 0
            };
            pins.bank_arready[p] = u8::from(!held(rng));
            // A beat that has been offered stays until it is taken.
            let reorder = self.timing.reorder;
            if bank.offered.is_none() && bank.due(now, reorder) == Some(core) && !held(rng) {
                let port = &bank.ports[core];
                let at = match reorder {
                    false => 0,
                    true => {
                        let due: Vec<usize> = port.due(now, true).collect();
                        due[rng.usize(0..due.len())]
                    }
                };
                let pending = &port.queue[at];
                let Some(line) = contents.line(pending.address) else {
                    bail!("AXI bank {b}: address {:#x} is outside the buffers", pending.address);
                };
                let (id, response, last) = (pending.id, pending.response, pending.last);
                bank.offered = Some(Beat { port: core, at, line, id, response, last });
                bank.turn = (core + 1) % bank.ports.len();
            }
            match bank.offered.as_ref().filter(|beat| beat.port == core) {
                Some(beat) => {
                    pins.bank_rvalid[p] = 1;
                    pins.bank_rdata[p] = beat.line;
                    pins.bank_rid[p] = beat.id;
                    pins.bank_rresp[p] = beat.response;
                    pins.bank_rlast[p] = u8::from(beat.last);
                }
                None => {
                    // What isn't valid means nothing, whatever it is.
                    pins.bank_rvalid[p] = 0;
                    pins.bank_rlast[p] = 0;
                    pins.bank_rid[p] = rng.u8(..);
                    pins.bank_rdata[p].fill(rng.u8(..));
                }
            }
        }
        Ok(())
    }

    /// Accepts the transfers of a core in the clock `now`.
    ///
    /// # Errors
    /// If the core breaks a rule of AXI4.
    pub fn sample(&mut self, now: u64, core: usize, pins: &Pins) -> Result<()> {
        let own = self.own[core].clone();
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let Some(p) = Self::pins_of(own.as_ref(), b) else { continue };
            let port = &mut bank.ports[core];
            let taken = bank.offered.take_if(|beat| beat.port == core && pins.bank_rready[p] == 1);
            if let Some(beat) = taken {
                port.queue.remove(beat.at);
                port.beats += 1;
                bank.next_beat = now + self.timing.cycles_a_beat;
            }
            let at = Address {
                address: pins.bank_araddr[p],
                id: pins.bank_arid[p],
                len: pins.bank_arlen[p],
                size: pins.bank_arsize[p],
                burst: pins.bank_arburst[p],
            };
            let valid = pins.bank_arvalid[p] == 1;
            if let Some(before) = port.waiting {
                ensure!(valid, "AXI bank {b}, cycle {now}: ARVALID falls before ARREADY");
                ensure!(
                    before == at,
                    "AXI bank {b}, cycle {now}: the address changes while it waits, from \
                     {before:x?} to {at:x?}"
                );
            }
            port.waiting = (valid && pins.bank_arready[p] == 0).then_some(at);
            // Also an address that waits has to be a good one.
            if !valid {
                continue;
            }
            let Address { address, id, len, size, burst } = at;
            ensure!(
                burst == 1,
                "AXI bank {b}, cycle {now}: ARBURST is {burst} ({}), not 1 (INCR)",
                ["FIXED", "INCR", "WRAP", "reserved"][usize::from(burst.min(3))]
            );
            ensure!(
                size == 6,
                "AXI bank {b}, cycle {now}: ARSIZE is {size}, not 6 (64 bytes, the width of the bus)"
            );
            ensure!(address % 64 == 0, "AXI bank {b}, cycle {now}: address {address:#x} unaligned");
            let bytes = (u64::from(len) + 1) * 64;
            ensure!(
                address % 4096 + bytes <= 4096,
                "AXI bank {b}, cycle {now}: a burst of {bytes} bytes at {address:#x} crosses 4 KiB"
            );
            if own.is_none() {
                ensure!(
                    len == 0,
                    "AXI bank {b}, cycle {now}: a burst of {bytes} bytes, not of a line"
                );
            }
            if pins.bank_arready[p] == 0 {
                continue;
            }
            for beat in 0..=u64::from(len) {
                let fails = self.timing.fail_at == Some(self.accesses);
                let response = if fails { 1 + (self.accesses % 3) as u8 } else { 0 };
                let lost = self.timing.lost_at == Some(self.accesses);
                self.accesses += 1;
                let (last, address) = (beat == u64::from(len), address + 64 * beat);
                let port = &mut bank.ports[core];
                let number = port.accesses;
                port.accesses += 1;
                // A bank sends the lines of a burst one after the other.
                let due = match lost {
                    true => Due::Never,
                    false => {
                        let token = Token::Read(core, number);
                        bank.ask(now + beat, address, false, token, &self.timing)
                    }
                };
                let pending = Pending { number, address, id, due, response, last };
                bank.ports[core].queue.push_back(pending);
            }
        }
        Ok(())
    }

    /// Ends the clock `now`: the DRAMs go on, and beats not used by a core go to the movers.
    pub fn end_clock(&mut self, now: u64) {
        for bank in &mut self.banks {
            bank.advance(now, &self.timing);
            let due = bank.movers.front().is_some_and(|&(_, due)| due.is_due(now));
            if due && bank.offered.is_none() && bank.next_beat <= now {
                let (mover, _) = bank.movers.pop_front().expect("there is one");
                self.moved[mover] += 1;
                bank.next_beat = now + self.timing.cycles_a_beat;
            }
        }
    }
}

#[cfg(test)]
mod tests;
