use super::*;

const TIMING: Timing = Timing {
    latency: 5,
    dram: None,
    cycle: 5_000,
    cycles_a_beat: 2,
    back_pressure: 0,
    reorder: false,
    fail_at: None,
    lost_at: None,
};

/// Name and action of a change of the pins.
type Change = (&'static str, fn(&mut Pins));

/// Core driven by the test, at one bank.
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

/// Error message for a request modified by `change`, the same whether or not it is accepted immediately.
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
fn a_burst_comes_in_order_and_ends_with_rlast() {
    let (memory, timing) = (memory(), Timing { cycles_a_beat: 1, ..TIMING });
    // A whole page, to its last byte; and a read of another id, which the bank answers after it.
    for (first, len) in [(0, 63), (60, 3), (5, 1)] {
        let mut ddr = Ddr::new(1, 1, 0, timing.clone());
        ddr.connect(&[0], 1);
        let mut core = Core::new().asks(64 * first, 7);
        core.pins.bank_arlen[0] = len;
        let mut lines = vec![];
        for now in 0..200 {
            if now == 1 {
                core.ask(0, 8);
            }
            if now == 2 {
                core.pins.bank_arvalid[0] = 0;
            }
            core.clock(&mut ddr, &memory, now, 0).unwrap();
            if core.pins.bank_rvalid[0] == 1 {
                let pins = &core.pins;
                lines.push((now, pins.bank_rid[0], pins.bank_rdata[0][0], pins.bank_rlast[0]));
            }
        }
        let beats = u64::from(len) + 1;
        let mut expected: Vec<_> = (0..beats)
            .map(|n| (timing.latency + n, 7, (first + n) as u8, u8::from(n + 1 == beats)))
            .collect();
        expected.push((timing.latency + beats, 8, 0, 1));
        assert_eq!(lines, expected);
    }
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
fn a_failed_read_is_answered_with_each_code_in_turn() {
    for (fail_at, code) in [(0, 1), (1, 2), (2, 3)] {
        let mut core = Core::new();
        let (mut ddr, memory) =
            (Ddr::new(1, 1, 0, Timing { fail_at: Some(fail_at), ..TIMING }), memory());
        let mut codes = vec![];
        for now in 0..20 {
            core.pins.bank_arvalid[0] = 0;
            if now < 3 {
                core.ask(64, 3); // one id for all of them
            }
            core.clock(&mut ddr, &memory, now, 0).unwrap();
            if core.pins.bank_rvalid[0] == 1 {
                codes.push(core.pins.bank_rresp[0]);
            }
        }
        let wanted: Vec<u8> = (0..3).map(|n| if n == fail_at { code } else { 0 }).collect();
        assert_eq!(codes, wanted);
    }
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

/// Data, id and response of a waiting beat are stable, even if its line is overwritten.
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
            assert_eq!((core.pins.bank_rid[0], core.pins.bank_rresp[0]), (3, 1));
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

/// Ids and lines of the answers to the reads `(cycle, address, id)`, in order.
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

/// Reads of one id are answered in order, as AXI requires, although the port never issues two.
#[test]
fn reads_of_an_id_keep_their_order() {
    let read = |address, id| {
        let due = Due::From(0);
        Pending { number: address / 64, address, id, due, response: 0, last: true }
    };
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

/// Cores that saturate the bank get equal shares, round robin.
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

/// A core that is the only one with beats due isn't slowed down by the arbitration.
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

/// Reads of one row after the other of a bank wait for its rows; a line's latency is the one of a closed row.
#[test]
fn a_dram_makes_rows_wait() {
    let device = &crate::dram::DDR4_2400;
    let dram = Timing { latency: 56, dram: Some(device), cycles_a_beat: 1, ..TIMING };
    let row = 64 * device.row_lines * device.groups * device.banks;
    let memory = Buffers::new(vec![(0, vec![0; 8 * row as usize])]);
    let last = |step: u64| {
        let mut ddr = Ddr::new(1, 1, 0, dram.clone());
        let mut core = Core::new();
        let (mut last, mut came) = (0, 0);
        for now in 0..400 {
            core.pins.bank_arvalid[0] = u8::from(now < 8);
            if now < 8 {
                core.ask(now * step, now as u8);
            }
            core.clock(&mut ddr, &memory, now, 0).unwrap();
            ddr.end_clock(now);
            if core.pins.bank_rvalid[0] == 1 {
                (last, came) = (now, came + 1);
            }
        }
        assert_eq!(came, 8);
        last
    };
    assert!((56 + 7..56 + 11).contains(&last(64)), "{} cycles", last(64));
    // Seven row cycles more.
    let rows = 7 * (device.row_open + device.precharge) / 5_000;
    assert!((56 + rows..56 + rows + 12).contains(&last(row)), "{} cycles", last(row));
}

/// Beats that a mover writes among those that another one reads cost turnarounds of the bus.
#[test]
fn movers_share_a_dram() {
    let dram = Some(&crate::dram::DDR4_2400);
    let time = |write: bool| {
        let timing = Timing { latency: 56, dram, cycles_a_beat: 1, ..TIMING };
        let mut ddr = Ddr::new(1, 1, 2, timing);
        for _ in 0..500 {
            ddr.move_beat(0, 0, 0, false);
            ddr.move_beat(0, 0, 1, write);
        }
        let all = (0..100_000).find(|&now| {
            ddr.end_clock(now);
            ddr.moved(0) + ddr.moved(1) == 1000
        });
        all.expect("all come")
    };
    let (reads, both) = (time(false), time(true));
    assert!((1000..1500).contains(&reads), "{reads} cycles");
    assert!(2 * both > 3 * reads, "{both} and {reads} cycles");
}
