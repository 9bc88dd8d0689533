use super::*;

/// Ends of reads of these lines, each asked for as soon as fewer than `under_way` are.
fn ends(device: &'static Device, lines: &[u64], under_way: usize) -> Vec<u64> {
    let mut dram = Dram::new(device);
    let mut ends = vec![0; lines.len()];
    let (mut asked, mut answered, mut now) = (0, 0, 0);
    while answered < lines.len() {
        while asked < lines.len() && asked - answered < under_way {
            dram.ask(lines[asked], false, asked);
            asked += 1;
        }
        now += device.clock;
        dram.advance(now, |at, end| {
            ends[at] = end;
            answered += 1;
        });
    }
    ends
}

/// Bytes a nanosecond (GB/s) of reads of these lines.
fn rate(device: &'static Device, lines: &[u64]) -> f64 {
    let ends = ends(device, lines, 64);
    let last = ends.iter().max().unwrap();
    64.0 * lines.len() as f64 / (*last as f64 / 1000.0)
}

fn random(count: usize) -> Vec<u64> {
    let mut rng = fastrand::Rng::with_seed(7);
    (0..count).map(|_| rng.u64(0..1 << 26)).collect()
}

/// Shuhai (FCCM 2020) measured 18 of 19.2 GB/s and 13.27 of 14.4 GB/s; refresh alone costs 4.5 and 6.7 %.
#[test]
fn sequential_reads_have_the_measured_rates() {
    let lines: Vec<u64> = (0..100_000).collect();
    let ddr4 = rate(&DDR4_2400, &lines);
    assert!((17.5..18.6).contains(&ddr4), "{ddr4} GB/s");
    let hbm2 = rate(&HBM2_1800, &lines);
    assert!((13.0..13.6).contains(&hbm2), "{hbm2} GB/s");
}

#[test]
fn random_reads_are_far_slower() {
    let ddr4 = rate(&DDR4_2400, &random(50_000));
    let hbm2 = rate(&HBM2_1800, &random(50_000));
    // No more than the activates of a window, one for each line.
    let most = |device: &Device| 64_000.0 * device.activates as f64 / device.window as f64;
    assert!(ddr4 < most(&DDR4_2400) && hbm2 < most(&HBM2_1800), "{ddr4} and {hbm2} GB/s");
    // What docs/reference/verification.md says.
    assert!((8.7..8.9).contains(&ddr4), "{ddr4} GB/s");
    assert!((4.35..4.5).contains(&hbm2), "{hbm2} GB/s");
}

/// Each read of another row of one bank takes a row cycle (tRAS + tRP), rounded up to the controller's clock.
#[test]
fn one_bank_gives_a_line_in_a_row_cycle() {
    for device in [&DDR4_2400, &HBM2_1800] {
        let row = device.row_lines * device.groups * device.banks;
        let lines: Vec<u64> = (0..200).map(|n| n * row).collect();
        let ends = ends(device, &lines, 8);
        let cycle = (ends[100] - ends[0]) / 100;
        let exact = device.row_open + device.precharge;
        assert!((exact..exact + 3 * device.clock).contains(&cycle), "{cycle} ps, not {exact}");
    }
}

/// Shuhai, table IV: HBM2 takes 106.7 ns for an open row, 122.2 for a closed one, 137.8 for another one.
#[test]
fn rows_cost_what_was_measured() {
    let device = &HBM2_1800;
    let alone = |first: u64, second: u64| {
        let mut dram = Dram::new(device);
        let mut end = 0;
        dram.ask(first, false, 0);
        dram.advance(1_000_000, |_, _| {});
        dram.ask(second, false, 1);
        let from = dram.now;
        dram.advance(2_000_000, |_, at| end = at - from);
        end as f64 / 1000.0
    };
    let row = device.row_lines * device.groups * device.banks;
    let (open, closed, other) = (alone(0, 1), alone(0, device.run), alone(0, row));
    assert!((closed - open - 15.5).abs() < 2.3, "{open} and {closed} ns");
    assert!((other - closed - 15.6).abs() < 2.3, "{closed} and {other} ns");
}

#[test]
fn a_refresh_closes_rows_and_comes_in_its_interval() {
    let device = &DDR4_2400;
    let lines: Vec<u64> = (0..200_000).collect();
    let mut ends = ends(device, &lines, 64);
    ends.sort_unstable();
    let gaps = ends.windows(2).filter(|w| w[1] - w[0] >= device.refresh).count() as u64;
    let expected = ends.last().unwrap() / device.refresh_interval;
    assert!(gaps.abs_diff(expected) <= 1, "{gaps} gaps, {expected} refreshes");
}

#[test]
fn reads_and_writes_in_turn_wait_for_the_bus() {
    let device = &DDR4_2400;
    let time = |writes: fn(usize) -> bool| {
        let mut dram = Dram::new(device);
        for at in 0..4000 {
            dram.ask(at as u64, writes(at), ());
        }
        let mut last = 0;
        dram.advance(10_000_000_000, |(), end| last = last.max(end));
        last
    };
    let (reads, mixed) = (time(|_| false), time(|at| at % 2 == 0));
    assert!(mixed > 2 * reads, "{mixed} ps of both, {reads} of reads");
}

#[test]
fn each_access_is_answered_once_and_a_group_in_order() {
    for device in [&DDR4_2400, &HBM2_1800] {
        let lines = random(5000);
        let ends = ends(device, &lines, 40);
        let mut last = vec![0; device.groups as usize];
        for (line, end) in lines.iter().zip(ends) {
            let group = device.place(*line).group;
            assert!(end > last[group], "an answer before the one ahead of it");
            last[group] = end;
        }
    }
}
