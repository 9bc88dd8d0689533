//! The AXI4-Lite block of both cores, as a driver sees it: byte strobes, the handshakes of `ap_ctrl_chain`,
//! interrupts.

mod support;

use gramer_machine::Accelerator;
use gramer_sim::image::in_stream;
use gramer_sim::model::{Model, Pins};
use gramer_sim::run::{DONE as DONE_STATUS, REFUSED};
use support::{core, instance};

/// The largest λ, in its steps.
const LAMBDA_MOST: u64 = (gramer_machine::LAMBDA_MAX * gramer_machine::LAMBDA_STEPS) as u64;

const CTRL: u32 = 0;
const GLOBAL_ENABLE: u32 = 4;
const ENABLE: u32 = 8;
const STATUS: u32 = 12;
const START: u32 = 1;
const DONE: u32 = 2;
const IDLE: u32 = 4;
const CONTINUE: u32 = 16;

/// A core whose only master is the test, with an in-stream that holds no work.
struct Bench {
    model: Model,
    pins: Box<Pins>,
    stream: Vec<[u8; 64]>,
    sent: usize,
    taken: usize,
    /// What came out since the last start.
    out: Vec<[u8; 64]>,
}

impl Bench {
    fn new(a: &Accelerator, library: &std::path::Path) -> Self {
        let stream = match a.set {
            Some(_) => vec![[0; 64]; 2],
            None => in_stream(&[], &[], 1, &[], &[], &[], false),
        };
        let mut bench = Bench {
            model: instance(library),
            pins: Pins::new(),
            stream,
            sent: 0,
            taken: 0,
            out: vec![],
        };
        bench.pins.wstrb = 15;
        (0..4).for_each(|_| bench.clock());
        bench.pins.reset_n = 1;
        bench.clock();
        bench
    }

    fn clock(&mut self) {
        let offered = self.sent < self.stream.len();
        self.pins.in_tvalid = u8::from(offered);
        if offered {
            self.pins.in_tdata = self.stream[self.sent];
            self.pins.in_tlast = u8::from(self.sent + 1 == self.stream.len());
        }
        self.pins.out_tready = 1;
        self.model.cycle(&mut self.pins).unwrap();
        self.sent += usize::from(offered && self.pins.in_tready == 1);
        self.taken += usize::from(self.pins.out_tvalid == 1);
        if self.pins.out_tvalid == 1 {
            self.out.push(self.pins.out_tdata);
        }
    }

    fn write(&mut self, address: u32, data: u32, strobes: u8) {
        (self.pins.awaddr, self.pins.wdata, self.pins.wstrb) = (address, data, strobes);
        (self.pins.awvalid, self.pins.wvalid, self.pins.bready) = (1, 1, 0);
        loop {
            self.clock();
            if self.pins.awready == 1 && self.pins.wready == 1 {
                break;
            }
        }
        (self.pins.awvalid, self.pins.wvalid, self.pins.bready) = (0, 0, 1);
        self.clock();
        assert_eq!(self.pins.bvalid, 1, "a write without a response");
        self.pins.bready = 0;
        self.clock();
        assert_eq!(self.pins.bvalid, 0, "a response too many");
    }

    /// With `wait` clocks before the answer is taken, in which it must not change.
    fn read(&mut self, address: u32, wait: u32) -> u32 {
        (self.pins.araddr, self.pins.arvalid, self.pins.rready) = (address, 1, 0);
        loop {
            self.clock();
            if self.pins.arready == 1 {
                break;
            }
        }
        (self.pins.araddr, self.pins.arvalid) = (!address & 0xfc, 0);
        self.clock();
        let data = self.pins.rdata;
        for _ in 0..wait {
            assert_eq!(self.pins.rvalid, 1, "the answer isn't held");
            assert_eq!(self.pins.rdata, data, "the answer changes while it waits");
            self.clock();
        }
        self.pins.rready = 1;
        self.clock();
        self.pins.rready = 0;
        self.clock();
        assert_eq!(self.pins.rvalid, 0, "an answer too many");
        data
    }

    fn until_done(&mut self) {
        for _ in 0..20_000 {
            if self.read(CTRL, 0) & DONE != 0 {
                return;
            }
        }
        panic!("never done");
    }

    fn again(&mut self) {
        (self.sent, self.taken) = (0, 0);
        self.out.clear();
    }
}

fn bench(machine: &str) -> Option<(Accelerator, Bench)> {
    let (a, library) = core(machine)?;
    let bench = Bench::new(&a, &library);
    Some((a, bench))
}

/// The tests of the block itself, on a core.
macro_rules! on {
    ($core:ident, $machine:literal) => {
        mod $core {
            #[test]
            fn arguments_are_written_by_the_byte_and_read_back() {
                super::arguments_are_written_by_the_byte_and_read_back($machine);
            }

            #[test]
            fn starts_are_taken_one_at_a_time_and_done_waits_for_continue() {
                super::starts_are_taken_one_at_a_time_and_done_waits_for_continue($machine);
            }

            #[test]
            fn interrupts_come_when_enabled_and_go_when_acknowledged() {
                super::interrupts_come_when_enabled_and_go_when_acknowledged($machine);
            }
        }
    };
}

on!(on_the_papers_core, "machines/small.yaml");
on!(on_the_set_core, "machines/set-small.yaml");

fn arguments_are_written_by_the_byte_and_read_back(machine: &str) {
    let Some((a, mut bench)) = bench(machine) else { return };
    let mut rng = fastrand::Rng::with_seed(1);
    let mut expected: Vec<(u32, u32)> = vec![];
    for (argument, offset) in a.offsets() {
        for word in 0..argument.bits / 32 {
            expected.push((offset + 4 * word, 0));
        }
    }
    for (offset, value) in &mut expected {
        *value = rng.u32(..);
        bench.write(*offset, *value, 15);
    }
    for _ in 0..300 {
        let (offset, value) = &mut expected[rng.usize(0..a.offsets().len())];
        let (data, strobes) = (rng.u32(..), rng.u8(0..16));
        bench.write(*offset, data, strobes);
        for byte in (0..4).filter(|b| strobes >> b & 1 == 1) {
            *value = *value & !(0xff << (8 * byte)) | data & 0xff << (8 * byte);
        }
        let (offset, value) = expected[rng.usize(0..expected.len())];
        assert_eq!(bench.read(offset, rng.u32(0..4)), value, "offset {offset:#x}");
    }
}

fn starts_are_taken_one_at_a_time_and_done_waits_for_continue(machine: &str) {
    let Some((_, mut bench)) = bench(machine) else { return };
    assert_eq!(bench.read(CTRL, 3), IDLE);
    // A byte that isn't enabled starts nothing.
    bench.write(CTRL, START, 14);
    assert_eq!(bench.read(CTRL, 0), IDLE);
    for run in 0..3 {
        bench.again();
        bench.write(CTRL, START, 1);
        assert_eq!(bench.read(CTRL, 0) & (IDLE | DONE), 0, "run {run}");
        bench.until_done();
        assert_eq!(bench.sent, bench.stream.len());
        assert!(bench.taken > 0);
        // Reading doesn't clear it, and the next start waits for the host to go on.
        assert_eq!(bench.read(CTRL, 1) & DONE, DONE);
        let beats = bench.taken;
        bench.again();
        bench.write(CTRL, START, 1);
        (0..3000).for_each(|_| bench.clock());
        assert_eq!(bench.taken, 0, "a run begins while the last one is done");
        assert_eq!(bench.read(CTRL, 0) & (START | DONE), START | DONE);
        bench.write(CTRL, CONTINUE, 1);
        bench.until_done();
        assert_eq!(bench.taken, beats);
        bench.write(CTRL, CONTINUE, 1);
        assert_eq!(bench.read(CTRL, 0), IDLE);
    }
}

/// Arguments out of range, one at a time, then two: the run ends at once and says which; so does the
/// message. The next run is clean.
#[test]
fn arguments_out_of_range_are_refused() {
    let Some((a, mut bench)) = bench("machines/small.yaml") else { return };
    let (vertex_lines, edge_lines) = a.scratchpad_lines();
    let (vertex_sets, edge_sets) = a.cache_sets();
    let (slots, depth) = (u64::from(a.machine.slots), u64::from(a.machine.depth));
    let motif = u64::from(a.applications.max_motif);
    let no_flag = if a.applications.filter_words == 0 { 16 } else { 64 };
    let good = |name: &str| match name {
        "k" => 3,
        "slots" | "vertex_sets" | "edge_sets" => 1,
        _ => 0,
    };
    // Status and address of a run with these values instead of good ones.
    let mut outcome = |changes: &[(&str, u64)]| {
        bench.again();
        for (argument, offset) in a.offsets() {
            let changed = changes.iter().find(|(name, _)| *name == argument.name);
            let value = changed.map_or(good(&argument.name), |&(_, value)| value);
            for word in 0..argument.bits / 32 {
                bench.write(offset + 4 * word, (value >> (32 * word)) as u32, 15);
            }
        }
        bench.write(CTRL, START, 1);
        bench.until_done();
        bench.write(CTRL, CONTINUE, 1);
        assert_eq!(bench.sent, bench.stream.len(), "{changes:?}: the in-stream is left");
        let counters = a.counter_values().div_ceil(8) as usize;
        let status = &bench.out[bench.out.len() - counters - 1];
        let word = |at: usize| u64::from_le_bytes(status[8 * at..8 * at + 8].try_into().unwrap());
        assert_eq!(word(2), 0, "{changes:?}: next unit");
        (word(0) as u32, word(1))
    };
    let wrong: [&[(&str, u64)]; 22] = [
        &[("application", 3)],
        &[("application", 1 << 31)],
        &[("k", 0)],
        &[("k", 1)],
        &[("k", depth + 1)],
        &[("k", 3 + (1 << 16))],
        &[("k", motif + 1), ("application", 1)],
        &[("k", 4), ("application", 2)],
        &[("flags", no_flag)],
        &[("flags", 80)], // bit 4 asks for a filter, which the stream lacks
        &[("slots", 0)],
        &[("slots", slots + 1)],
        &[("slots", 1 << 8)],
        &[("lambda_eighths", LAMBDA_MOST + 1)],
        &[("vertex_bound", u64::from(vertex_lines) + 1)],
        &[("edge_bound", u64::from(edge_lines) + 1)],
        &[("edge_bound", 1 << 32)],
        &[("vertex_sets", 0)],
        &[("vertex_sets", u64::from(vertex_sets) + 1)],
        &[("edge_sets", 0)],
        &[("edge_sets", u64::from(edge_sets) + 1)],
        &[("slots", 0), ("edge_sets", 0)], // the first in their order
    ];
    for changes in wrong {
        let (status, address) = outcome(changes);
        let name = changes[0].0;
        assert_eq!((status, address), (REFUSED, a.offset(name).unwrap().into()), "{changes:?}");
        let said = a.refusal(address);
        assert!(said.contains("refused its settings") && said.contains(name), "{said}");
        assert_eq!(outcome(&[]), (DONE_STATUS, 0), "after {changes:?}");
    }
    for right in [
        &[("k", depth), ("slots", slots)] as &[(&str, u64)],
        &[("k", 2), ("application", 1)],
        &[("k", motif), ("application", 1), ("flags", 47)],
        &[("k", 3), ("application", 2), ("lambda_eighths", LAMBDA_MOST)],
        &[("vertex_bound", vertex_lines.into()), ("edge_bound", edge_lines.into())],
        &[("vertex_sets", vertex_sets.into()), ("edge_sets", edge_sets.into())],
    ] {
        assert_eq!(outcome(right), (DONE_STATUS, 0), "{right:?}");
    }
}

fn interrupts_come_when_enabled_and_go_when_acknowledged(machine: &str) {
    let Some((_, mut bench)) = bench(machine) else { return };
    // (global, enabled) and what must come: 1 done, 2 ready.
    for (global, enabled) in [(0, 3), (1, 0), (1, 1), (1, 2), (1, 3)] {
        bench.again();
        bench.write(GLOBAL_ENABLE, global, 1);
        bench.write(ENABLE, enabled, 1);
        assert_eq!((bench.read(GLOBAL_ENABLE, 0), bench.read(ENABLE, 0)), (global, enabled));
        bench.write(CTRL, START, 1);
        bench.until_done();
        assert_eq!(bench.read(STATUS, 0), enabled, "status");
        assert_eq!(u32::from(bench.pins.interrupt), global & u32::from(enabled != 0));
        bench.write(STATUS, enabled, 1); // a one toggles
        assert_eq!((bench.read(STATUS, 0), bench.pins.interrupt), (0, 0));
        bench.write(CTRL, CONTINUE, 1);
    }
}
