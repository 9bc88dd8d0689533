//! The DDR banks behind the cores' AXI4 read masters, with a checker of the protocol.
//!
//! Contents and timing are apart: the banks' time belongs to a simulation, their contents may be
//! written by somebody else meanwhile. A bank gives one beat at a time, to the cores in turn and
//! to the data movers where no core has one due. A beat is read when it is offered and stays as it
//! is until it is taken. On request the beats that are due come in any order that AXI4 allows: those
//! of one id in theirs, those of different ids as it happens.
//!
//! Each read master is held to the rules of AXI4 as far as they concern it: an address stays with
//! all that goes with it until it is taken, bursts are of whole lines, aligned, incrementing and
//! within 4 KiB. Two rules are the core's own and narrower: a burst has one beat, and an id is
//! under way once.

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
    /// Answer the reads of a port that are due in a random order, those of an id in theirs.
    pub reorder: bool,
    /// The access that is answered with a slave error, counted over all banks from 0.
    pub fail_at: Option<u64>,
    /// The access that is never answered: a broken memory, for tests of what notices it.
    pub lost_at: Option<u64>,
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
    due: Option<u64>, // `None`: never
    fails: bool,
}

impl Pending {
    fn is_due(&self, now: u64) -> bool {
        self.due.is_some_and(|due| due <= now)
    }
}

/// The address channel of a read master while ARVALID is high.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Address {
    address: u64,
    id: u8,
    len: u8,
    size: u8,
    burst: u8,
}

/// The read master of a core at a bank.
#[derive(Debug, Default)]
struct Port {
    queue: VecDeque<Pending>,
    waiting: Option<Address>, // on the pins, and has not been taken
    beats: u64,
}

impl Port {
    /// Places in the queue of the reads that may be answered next.
    fn due(&self, now: u64, reorder: bool) -> impl Iterator<Item = usize> {
        let few = if reorder { self.queue.len() } else { self.queue.len().min(1) };
        (0..few).filter(move |&at| {
            let read = &self.queue[at];
            read.is_due(now) && !self.queue.range(..at).any(|before| before.id == read.id)
        })
    }
}

/// A beat on the pins of a port that has not been taken.
#[derive(Debug)]
struct Beat {
    port: usize,
    at: usize, // in the port's queue
    line: [u8; 64],
    id: u8,
    response: u8,
}

#[derive(Debug, Default)]
struct Bank {
    ports: Vec<Port>,
    next_beat: u64,
    turn: usize, // the port that comes first if it has a beat due
    offered: Option<Beat>,
    movers: VecDeque<(usize, u64)>, // a mover, and when its beat is due
}

impl Bank {
    /// The port whose beat comes next: of those with one due, the first in turn.
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
    /// By core: the one bank that it has a port on, or `None` for all of them.
    own: Vec<Option<usize>>,
    timing: Timing,
    accesses: u64,
    moved: Vec<u64>,
}

impl Ddr {
    /// `banks` banks with a port for each of `cores` cores, and `movers` data movers.
    pub fn new(banks: usize, cores: usize, movers: usize, timing: Timing) -> Self {
        let ports = || (0..cores).map(|_| Port::default()).collect();
        let banks = (0..banks).map(|_| Bank { ports: ports(), ..Bank::default() }).collect();
        Ddr { banks, own: vec![None; cores], timing, accesses: 0, moved: vec![0; movers] }
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

    /// What each bank has under way for each core, a line each.
    pub fn state(&self) -> String {
        let mut text = String::new();
        for (b, bank) in self.banks.iter().enumerate() {
            for (core, port) in bank.ports.iter().enumerate() {
                let reads = port.queue.iter().map(|read| {
                    let due = read.due.map_or("never".into(), |due| format!("in cycle {due}"));
                    format!(", id {} at {:#x} due {due}", read.id, read.address)
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

    /// Gives each core one port alone, on its bank of `banks`; without it a core has a port on every
    /// bank.
    pub fn connect(&mut self, banks: Vec<u32>) {
        self.own = banks.into_iter().map(|bank| Some(bank as usize)).collect();
    }

    /// The pins of a core that go to a bank.
    fn pins_of(own: Option<usize>, bank: usize) -> Option<usize> {
        match own {
            None => Some(bank),
            Some(own) => (own == bank).then_some(0),
        }
    }

    /// The longest that an access is on its way while all others of `accesses` come before it.
    pub fn longest_access(&self, accesses: u64) -> u64 {
        let cores = self.banks.iter().map(|bank| bank.ports.len()).max().unwrap_or(1) as u64;
        // A clock that is held back at random is, over a time that long, at most three of four.
        let held = if self.timing.back_pressure > 0 { 4 } else { 1 };
        held * (self.timing.latency + cores * accesses * self.timing.cycles_a_beat.max(1))
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
        let own = self.own[core];
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let Some(p) = Self::pins_of(own, b) else { continue };
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
                let response = if pending.fails { 2 } else { 0 };
                bank.offered = Some(Beat { port: core, at, line, id: pending.id, response });
                bank.turn = (core + 1) % bank.ports.len();
            }
            match bank.offered.as_ref().filter(|beat| beat.port == core) {
                Some(beat) => {
                    pins.bank_rvalid[p] = 1;
                    pins.bank_rdata[p] = beat.line;
                    pins.bank_rid[p] = beat.id;
                    pins.bank_rresp[p] = beat.response;
                }
                None => {
                    // What isn't valid means nothing, whatever it is.
                    pins.bank_rvalid[p] = 0;
                    pins.bank_rid[p] = rng.u8(..);
                    pins.bank_rdata[p].fill(rng.u8(..));
                }
            }
        }
        Ok(())
    }

    /// Takes what a core handed over in the clock `now`.
    ///
    /// # Errors
    /// If the core breaks a rule of AXI4.
    pub fn sample(&mut self, now: u64, core: usize, pins: &Pins) -> Result<()> {
        let own = self.own[core];
        for (b, bank) in self.banks.iter_mut().enumerate() {
            let Some(p) = Self::pins_of(own, b) else { continue };
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
            ensure!(len == 0, "AXI bank {b}, cycle {now}: a burst of {bytes} bytes, not of a line");
            ensure!(
                !port.queue.iter().any(|p| p.id == id),
                "AXI bank {b}, cycle {now}: id {id} is under way already"
            );
            if pins.bank_arready[p] == 0 {
                continue;
            }
            let fails = self.timing.fail_at == Some(self.accesses);
            let lost = self.timing.lost_at == Some(self.accesses);
            self.accesses += 1;
            let due = (!lost).then_some(now + self.timing.latency);
            port.queue.push_back(Pending { address, id, due, fails });
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

/// An AXI4-Stream that a core sends: once TVALID is high, TDATA and TLAST stay until TREADY, and
/// nothing follows the last beat.
#[derive(Debug, Default)]
pub struct StreamChecker {
    waiting: Option<([u8; 64], u8)>,
    ended: bool,
}

impl StreamChecker {
    /// Looks at a clock; whether a beat was handed over in it.
    ///
    /// # Errors
    /// If the core breaks a rule; the message names `now`.
    pub fn sample(&mut self, now: u64, pins: &Pins) -> Result<bool> {
        let valid = pins.out_tvalid == 1;
        if let Some((data, last)) = self.waiting {
            ensure!(valid, "out-stream, cycle {now}: TVALID falls before TREADY");
            ensure!(
                data == pins.out_tdata,
                "out-stream, cycle {now}: TDATA changes while it waits"
            );
            ensure!(
                last == pins.out_tlast,
                "out-stream, cycle {now}: TLAST changes while it waits"
            );
        }
        ensure!(!(valid && self.ended), "out-stream, cycle {now}: a beat after the last one");
        let taken = valid && pins.out_tready == 1;
        self.waiting = (valid && !taken).then_some((pins.out_tdata, pins.out_tlast));
        self.ended |= taken && pins.out_tlast == 1;
        Ok(taken)
    }

    /// The beat with TLAST has been taken.
    pub fn ended(&self) -> bool {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMING: Timing = Timing {
        latency: 5,
        cycles_a_beat: 2,
        back_pressure: 0,
        reorder: false,
        fail_at: None,
        lost_at: None,
    };

    /// What is done to the pins, and its name.
    type Change = (&'static str, fn(&mut Pins));

    /// A core that is played by the test, at one bank.
    struct Core {
        pins: Box<Pins>,
        rng: fastrand::Rng,
    }

    impl Core {
        fn new() -> Self {
            Core { pins: Pins::new(), rng: fastrand::Rng::with_seed(1) }
        }

        fn asks(mut self, address: u64, id: u8) -> Self {
            self.ask(address, id);
            self
        }

        fn ask(&mut self, address: u64, id: u8) {
            let pins = &mut self.pins;
            pins.bank_arvalid[0] = 1;
            (pins.bank_araddr[0], pins.bank_arid[0]) = (address, id);
            (pins.bank_arlen[0], pins.bank_arsize[0], pins.bank_arburst[0]) = (0, 6, 1);
            pins.bank_rready[0] = 1;
        }

        fn clock(&mut self, ddr: &mut Ddr, memory: &Buffers, now: u64, core: usize) -> Result<()> {
            ddr.drive(now, core, &mut self.pins, memory, &mut self.rng)?;
            ddr.sample(now, core, &self.pins)
        }
    }

    fn memory() -> Buffers {
        Buffers::new(vec![(0, (0..16384u32).map(|i| (i / 64) as u8).collect())])
    }

    /// The message about a core that asks as `change` says, whether or not it is taken at once.
    fn refused(change: impl Fn(&mut Pins)) -> String {
        let mut messages = vec![];
        for ready in [0, 1] {
            let mut core = Core::new().asks(64, 1);
            change(&mut core.pins);
            core.pins.bank_arready[0] = ready;
            let mut ddr = Ddr::new(1, 1, 0, TIMING);
            messages.push(ddr.sample(7, 0, &core.pins).unwrap_err().to_string());
        }
        assert_eq!(messages[0], messages[1]);
        assert!(messages[0].starts_with("AXI bank 0, cycle 7: "), "{messages:?}");
        messages.remove(0)
    }

    #[test]
    fn a_burst_is_one_aligned_line_that_increments() {
        assert!(refused(|p| p.bank_arburst[0] = 0).contains("ARBURST is 0 (FIXED)"));
        assert!(refused(|p| p.bank_arburst[0] = 2).contains("ARBURST is 2 (WRAP)"));
        assert!(refused(|p| p.bank_arburst[0] = 3).contains("ARBURST is 3 (reserved)"));
        assert!(refused(|p| p.bank_arsize[0] = 5).contains("ARSIZE is 5"));
        assert!(refused(|p| p.bank_arsize[0] = 7).contains("ARSIZE is 7"));
        assert!(refused(|p| p.bank_araddr[0] = 65).contains("unaligned"));
        assert!(refused(|p| p.bank_arlen[0] = 1).contains("128 bytes, not of a line"));
        let crossing = refused(|p| (p.bank_araddr[0], p.bank_arlen[0]) = (4096 - 64, 1));
        assert!(crossing.contains("crosses 4 KiB"), "{crossing}");
        let long = refused(|p| (p.bank_araddr[0], p.bank_arlen[0]) = (64, 63));
        assert!(long.contains("crosses 4 KiB"), "{long}");
        // To the last byte of 4 KiB is no crossing.
        let fits = refused(|p| (p.bank_araddr[0], p.bank_arlen[0]) = (0, 63));
        assert!(fits.contains("4096 bytes, not of a line"), "{fits}");
    }

    #[test]
    fn an_address_that_waits_stays_as_it_is() {
        let changes: [Change; 3] = [
            ("the address changes", |p| p.bank_araddr[0] = 128),
            ("the address changes", |p| p.bank_arid[0] = 2),
            ("ARVALID falls", |p| p.bank_arvalid[0] = 0),
        ];
        // These would be refused for what they are too; that they changed is said first.
        let more: [Change; 3] = [
            ("the address changes", |p| p.bank_arlen[0] = 1),
            ("the address changes", |p| p.bank_arsize[0] = 5),
            ("the address changes", |p| p.bank_arburst[0] = 2),
        ];
        for (part, change) in changes.into_iter().chain(more) {
            let mut core = Core::new().asks(64, 1);
            let mut ddr = Ddr::new(1, 1, 0, TIMING);
            ddr.sample(0, 0, &core.pins).unwrap();
            ddr.sample(1, 0, &core.pins).unwrap();
            change(&mut core.pins);
            let message = ddr.sample(2, 0, &core.pins).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("cycle 2"), "{message}");
        }
        // Once it is taken, the next may be another.
        let mut core = Core::new().asks(64, 1);
        let mut ddr = Ddr::new(1, 1, 0, TIMING);
        core.pins.bank_arready[0] = 1;
        ddr.sample(0, 0, &core.pins).unwrap();
        core.ask(128, 2);
        ddr.sample(1, 0, &core.pins).unwrap();
    }

    #[test]
    fn an_id_is_under_way_once() {
        let mut core = Core::new().asks(64, 3);
        let (mut ddr, memory) = (Ddr::new(1, 1, 0, TIMING), memory());
        core.clock(&mut ddr, &memory, 0, 0).unwrap();
        let message = core.clock(&mut ddr, &memory, 1, 0).unwrap_err().to_string();
        assert!(message.contains("id 3 is under way already"), "{message}");

        // Free again after its beat.
        let mut core = Core::new().asks(64, 3);
        let mut ddr = Ddr::new(1, 1, 0, TIMING);
        core.clock(&mut ddr, &memory, 0, 0).unwrap();
        core.pins.bank_arvalid[0] = 0;
        for now in 1..=5 {
            core.clock(&mut ddr, &memory, now, 0).unwrap();
        }
        assert_eq!(ddr.beats(0), [1]);
        core.ask(64, 3);
        core.clock(&mut ddr, &memory, 6, 0).unwrap();
    }

    #[test]
    fn a_read_outside_of_the_buffers_is_an_error() {
        let mut core = Core::new().asks(1 << 20, 0);
        let (mut ddr, memory) = (Ddr::new(1, 1, 0, TIMING), memory());
        core.clock(&mut ddr, &memory, 0, 0).unwrap();
        core.pins.bank_arvalid[0] = 0;
        let error = (1..10).find_map(|now| core.clock(&mut ddr, &memory, now, 0).err()).unwrap();
        assert!(error.to_string().contains("0x100000 is outside"), "{error}");
    }

    /// Data, id and response of a beat that waits stay, whatever is written there meanwhile.
    #[test]
    fn a_beat_that_waits_stays_as_it_is() {
        let mut memory = memory();
        let mut core = Core::new().asks(128, 3);
        let mut ddr = Ddr::new(1, 1, 0, Timing { fail_at: Some(0), ..TIMING });
        core.clock(&mut ddr, &memory, 0, 0).unwrap();
        core.pins.bank_arvalid[0] = 0;
        core.pins.bank_rready[0] = 0;
        let mut offered = 0;
        for now in 1..20 {
            core.clock(&mut ddr, &memory, now, 0).unwrap();
            assert_eq!(core.pins.bank_rvalid[0], u8::from(now >= 5), "cycle {now}");
            if core.pins.bank_rvalid[0] == 1 {
                offered += 1;
                assert_eq!(core.pins.bank_rdata[0], [2; 64], "cycle {now}");
                assert_eq!((core.pins.bank_rid[0], core.pins.bank_rresp[0]), (3, 2));
            }
            if now >= 5 {
                memory.write_word(128 + 4 * (now % 16), 0xffff_ffff);
            }
        }
        assert_eq!((offered, ddr.beats(0)), (15, vec![0]));
        core.pins.bank_rready[0] = 1;
        core.clock(&mut ddr, &memory, 20, 0).unwrap();
        assert_eq!(ddr.beats(0), [1]);
        core.clock(&mut ddr, &memory, 21, 0).unwrap();
        assert_eq!(core.pins.bank_rvalid[0], 0);
    }

    /// Ids in the order in which reads `(cycle, address, id)` are answered, with the lines they got.
    fn answers(timing: Timing, seed: u64, reads: &[(u64, u64, u8)]) -> Vec<(u8, u8)> {
        let (mut ddr, memory) = (Ddr::new(1, 1, 0, timing), memory());
        let mut core = Core::new();
        core.rng = fastrand::Rng::with_seed(seed);
        core.pins.bank_rready[0] = 1;
        let mut came = vec![];
        for now in 0..200 {
            core.pins.bank_arvalid[0] = 0;
            if let Some(&(_, address, id)) = reads.iter().find(|(at, _, _)| *at == now) {
                core.ask(address, id);
            }
            core.clock(&mut ddr, &memory, now, 0).unwrap();
            if core.pins.bank_rvalid[0] == 1 {
                came.push((core.pins.bank_rid[0], core.pins.bank_rdata[0][0]));
            }
        }
        came
    }

    #[test]
    fn reads_are_answered_in_any_order_on_request() {
        let reads: Vec<(u64, u64, u8)> = (0..8).map(|n| (n, 64 * n, n as u8)).collect();
        let in_order: Vec<(u8, u8)> = (0..8).map(|n| (n, n)).collect();
        assert_eq!(answers(TIMING, 1, &reads), in_order);
        let mut orders = std::collections::BTreeSet::new();
        for seed in 0..20 {
            let came = answers(Timing { reorder: true, ..TIMING }, seed, &reads);
            assert!(came.iter().all(|(id, line)| id == line), "another id's line: {came:?}");
            let mut ids = came.clone();
            ids.sort_unstable();
            assert_eq!(ids, in_order, "each once");
            orders.insert(came);
        }
        assert!(orders.len() > 10, "{} orders", orders.len());
    }

    /// The port refuses two reads of an id, but the rule is AXI's, so the memory keeps it.
    #[test]
    fn reads_of_an_id_keep_their_order() {
        let read = |address, id| Pending { address, id, due: Some(0), fails: false };
        let port = Port {
            queue: [read(0, 1), read(64, 1), read(128, 2), read(192, 1), read(256, 2)].into(),
            ..Port::default()
        };
        assert_eq!(port.due(0, true).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(port.due(0, false).collect::<Vec<_>>(), [0]);
    }

    #[test]
    fn a_lost_read_is_never_answered() {
        let reads: Vec<(u64, u64, u8)> = (0..4).map(|n| (n, 64 * n, n as u8)).collect();
        let lost = Timing { lost_at: Some(2), ..TIMING };
        assert_eq!(answers(lost.clone(), 1, &reads), [(0, 0), (1, 1)]);
        let came = answers(Timing { reorder: true, ..lost }, 1, &reads);
        assert!(came.len() == 3 && came.iter().all(|&(id, _)| id != 2), "{came:?}");
    }

    /// Cores that all ask for more than the bank can give get equal shares, in turn.
    #[test]
    fn cores_take_turns() {
        const CORES: usize = 3;
        let memory = memory();
        let mut ddr = Ddr::new(1, CORES, 1, TIMING);
        let mut cores: Vec<Core> = (0..CORES).map(|_| Core::new()).collect();
        let mut served = vec![];
        for now in 0..200 {
            for (c, core) in cores.iter_mut().enumerate() {
                core.ask(64 * (now % 256), now as u8);
                let before = ddr.beats(c)[0];
                core.clock(&mut ddr, &memory, now, c).unwrap();
                if ddr.beats(c)[0] > before {
                    served.push((now, c));
                }
            }
            ddr.end_clock(now);
        }
        assert!(served.len() >= 95, "{}", served.len());
        for (n, pair) in served.windows(2).enumerate() {
            assert_eq!(pair[1].0 - pair[0].0, TIMING.cycles_a_beat, "beat {n}");
            assert_eq!(pair[1].1, (pair[0].1 + 1) % CORES, "beat {n}: {pair:?}");
        }
    }

    /// A core whose beats come alone isn't slowed down by the turns of the others.
    #[test]
    fn a_turn_that_nobody_uses_costs_nothing() {
        let memory = memory();
        let mut ddr = Ddr::new(1, 4, 0, TIMING);
        let mut core = Core::new();
        for now in 0..100 {
            core.ask(64 * (now % 256), now as u8);
            core.clock(&mut ddr, &memory, now, 2).unwrap();
        }
        assert_eq!(ddr.beats(2), [48]); // one every 2 clocks from clock 5 on
    }

    #[test]
    fn a_stream_s_beat_stays_until_it_is_taken() {
        let beat = |data: u8, last: u8| {
            let mut pins = Pins::new();
            (pins.out_tvalid, pins.out_tdata, pins.out_tlast) = (1, [data; 64], last);
            pins
        };
        let changes: [(&str, Box<Pins>); 3] = [
            ("TDATA changes", beat(8, 0)),
            ("TLAST changes", beat(7, 1)),
            ("TVALID falls", Pins::new()),
        ];
        for (part, change) in changes {
            let mut checker = StreamChecker::default();
            assert!(!checker.sample(0, &beat(7, 0)).unwrap());
            assert!(!checker.sample(1, &beat(7, 0)).unwrap());
            let message = checker.sample(2, &change).unwrap_err().to_string();
            assert!(message.contains(part) && message.contains("cycle 2"), "{message}");
        }
        let mut checker = StreamChecker::default();
        let mut taken = beat(7, 0);
        taken.out_tready = 1;
        assert!(checker.sample(0, &taken).unwrap());
        (taken.out_tdata, taken.out_tlast) = ([9; 64], 1);
        assert!(checker.sample(1, &taken).unwrap() && checker.ended());
        assert!(!checker.sample(2, &Pins::new()).unwrap());
        let message = checker.sample(3, &taken).unwrap_err().to_string();
        assert!(message.contains("after the last one"), "{message}");
    }
}
