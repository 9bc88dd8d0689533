//! SGSI's four layers (Zeng et al., section 7): which rows a warp, a block's warps together, a block, or the whole
//! device take, by the length of their first edge's list, and the model of what that costs.

use std::time::Instant;

use gramer_base::choice::Choice;
use gramer_base::error::Result;

use crate::device::{Arg, Device};
use crate::memory::Buffer;
use crate::program::Program;

/// Division of a join's rows among the layers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layers {
    /// A warp for each row.
    #[default]
    None,
    /// With the fixed thresholds of GSI's first version: 256, 1,024 and 4,096.
    Paper,
    /// With thresholds from the histogram of the rows and the model of the costs.
    Histogram,
}

impl Choice for Layers {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Layers::None, "none", "A warp for each row"),
        (Layers::Paper, "paper", "Warp, warps, block or device, by fixed thresholds"),
        (Layers::Histogram, "histogram", "The same, by thresholds from a model of the costs"),
    ];
}

/// The interval at W2 = 1,024; each has 32 lengths.
const MIDDLE: usize = 32;

/// The last intervals of a warp for a row, and of a block for one: W3 and W1 in intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Thresholds {
    pub x3: u32,
    pub x1: u32,
}

impl Thresholds {
    /// W3 = 256 and W1 = 4,096.
    pub const PAPER: Thresholds = Thresholds { x3: 8, x1: 128 };
}

/// Costs of a barrier and of a launch on a device, in steps of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Costs {
    pub sync: f64,
    pub launch: f64,
    /// Compute units.
    pub units: u32,
}

/// The cost of an interval's rows in each layer: warp, warps of a block, block, device.
fn costs(interval: usize, rows: u32, of: &Costs) -> [f64; 4] {
    let (i, n) = (interval as f64, f64::from(rows));
    let units = f64::from(of.units);
    let each = (n / units).ceil();
    [
        i * (n / (32.0 * units)).ceil(),
        (1.0 + 2.0 * of.sync) * (32.0 * i * each / 1024.0).ceil(),
        (1.0 + of.sync) * each * (32.0 * i / 1024.0).ceil(),
        n * (of.launch + (32.0 * i / (1024.0 * units)).ceil()),
    ]
}

/// The cheapest thresholds for this many rows by interval (equation 1). What x3 costs doesn't depend on x1, so
/// that prefix sums of both sides find them without trying all pairs.
pub(super) fn thresholds(rows: &[u32], of: &Costs) -> Thresholds {
    let all: Vec<[f64; 4]> = rows.iter().enumerate().map(|(i, &n)| costs(i, n, of)).collect();
    let split = |range: std::ops::Range<usize>, below: usize, above: usize| -> usize {
        // With everything above the threshold; then one interval after the other goes below it.
        let part = &all[range.clone()];
        let mut cost: f64 = part.iter().map(|c| c[above]).sum();
        let (mut best, mut least) = (0, cost);
        for (at, c) in part.iter().enumerate() {
            cost += c[below] - c[above];
            if cost <= least {
                (best, least) = (at + 1, cost);
            }
        }
        range.start + best
    };
    let middle = MIDDLE.min(all.len());
    // The first interval is the warp's in any case: x3 is at least 0, x1 at least 31.
    let x3 = split(0..middle, 0, 1).saturating_sub(1);
    let x1 = split(middle..all.len(), 2, 3).max(MIDDLE) - 1;
    Thresholds { x3: x3 as u32, x1: x1 as u32 }
}

/// Measures a device: lanes read lines of `items` step by step, with barriers and without.
///
/// # Errors
/// [`gramer_base::Error::Device`].
pub(super) fn measure(
    device: &Device,
    program: &Program,
    items: &Buffer<u32>,
    out: &Buffer<u32>,
    lanes: usize,
) -> Result<Costs> {
    let units = device.limits.units;
    let steps: u32 = if device.limits.portable { 256 } else { 4096 };
    let mask = (1u32 << items.len().max(1).ilog2()) - 1;
    let time = |steps: u32, waits: u32, launches: u32| -> Result<f64> {
        device.finish()?;
        let begun = Instant::now();
        for _ in 0..launches {
            let args = [
                Arg::Buffer(items.raw()),
                Arg::U32(mask),
                Arg::U32(steps),
                Arg::U32(waits),
                Arg::Buffer(out.raw()),
            ];
            device.launch(program, "probe", &args, units, lanes)?;
        }
        device.finish()?;
        Ok(begun.elapsed().as_secs_f64())
    };
    // The first launch may do more than later ones.
    time(1, 0, 1)?;
    const LAUNCHES: u32 = 20;
    let launch = time(1, 0, LAUNCHES)? / f64::from(LAUNCHES);
    let plain = time(steps, 0, 1)?;
    let waiting = time(steps, 4, 1)?;
    let step = ((plain - launch) / f64::from(steps)).max(1e-10);
    let sync = ((waiting - plain) / f64::from(4 * steps)).max(0.0);
    Ok(Costs { sync: sync / step, launch: launch / step, units: units as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equation 1 of the paper, literally.
    fn total(rows: &[u32], of: &Costs, t: Thresholds) -> f64 {
        let mut sum = 0.0;
        for (i, &n) in rows.iter().enumerate() {
            let layer = match i as u32 {
                i if i <= t.x3 => 0,
                i if i < 32 => 1,
                i if i <= t.x1 => 2,
                _ => 3,
            };
            sum += costs(i, n, of)[layer];
        }
        sum
    }

    #[test]
    fn the_thresholds_are_those_of_all_pairs() {
        let mut state = 7u32;
        let mut random = |most: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % most
        };
        let mut moved = [false; 2];
        for case in 0..60 {
            let intervals = [1, 5, 32, 33, 90][case % 5];
            let units = 1 + random(4);
            let of = Costs {
                sync: f64::from(random(300)) / 100.0,
                launch: f64::from(random(900)) / 100.0,
                units,
            };
            let rows: Vec<u32> =
                (0..intervals).map(|i| random(1 + 4000 / (i + 1) as u32)).collect();
            let found = thresholds(&rows, &of);
            let mut least = f64::INFINITY;
            for x3 in 0..32 {
                for x1 in 31..intervals.max(32) as u32 {
                    least = least.min(total(&rows, &of, Thresholds { x3, x1 }));
                }
            }
            let cost = total(&rows, &of, found);
            assert!((cost - least).abs() <= 1e-6 * least, "{case}: {found:?} {cost} {least}");
            moved[0] |= found.x3 > 0 && found.x3 < 31;
            moved[1] |= found.x1 > 31 && found.x1 < 89;
        }
        assert_eq!(moved, [true; 2], "thresholds within the range were met");
    }

    #[test]
    fn dear_barriers_leave_rows_to_warps_and_dear_launches_to_blocks() {
        let rows = vec![100; 80];
        let dear = Costs { sync: 1e6, launch: 1e9, units: 4 };
        assert_eq!(thresholds(&rows, &dear), Thresholds { x3: 31, x1: 79 });
        let cheap = Costs { sync: 0.0, launch: 0.0, units: 1 };
        assert_eq!(thresholds(&[1; 80], &cheap).x3, 1);
    }
}
