//! Slices: work is handed to the device in portions of tens of milliseconds, so that a run can be
//! stopped and shows progress, and a display that the device serves stays alive.

use std::ops::Range;
use std::time::{Duration, Instant};

use gramer_graph::context::Context;
use gramer_graph::error::Result;
use tracing::debug;

use crate::device::Device;

/// How long a slice should take.
const TARGET: Duration = Duration::from_millis(20);

/// Work per second that is assumed of a compute unit before anything was measured, in element tests.
const RATE: f64 = 1.5e8;
/// The same of a processor, all units together: groups cost it a tenth of a millisecond.
const PORTABLE_RATE: f64 = 5e7;

/// Hands out portions of work.
pub(crate) struct Slices<'a> {
    device: &'a Device,
    context: &'a Context,
    /// Work per second.
    rate: f64,
    left: f64,
    /// Tasks that keep the device busy: with fewer, a slice would take as long and its rate be
    /// measured far too low.
    fill: usize,
}

impl<'a> Slices<'a> {
    /// For tasks of `total` work in all.
    pub fn new(device: &'a Device, context: &'a Context, total: f64) -> Self {
        let rate = match device.limits.portable {
            true => PORTABLE_RATE,
            false => RATE * device.limits.units as f64,
        };
        context.progress.begin(total as u64);
        let fill = if device.limits.portable { 1 } else { 16 * device.limits.units };
        Slices { device, context, rate, left: total, fill }
    }

    /// Calls `launch` with ranges of tasks, whose work is `weight`, until all were queued; gives
    /// `false` once the run was asked to stop.
    ///
    /// # Errors
    /// Those of `launch`, and [`gramer_graph::Error::Device`].
    pub fn run(
        &mut self,
        tasks: usize,
        weight: impl Fn(usize) -> f64,
        mut launch: impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<bool> {
        let (mut from, mut slices) = (0, 0u64);
        while from < tasks {
            if self.context.cancel.is_cancelled() {
                return Ok(false);
            }
            let room = self.rate * TARGET.as_secs_f64();
            let (mut to, mut sum) = (from, 0.0);
            while to < tasks && (to - from < self.fill || sum + weight(to) <= room) {
                sum += weight(to);
                to += 1;
            }
            let begun = Instant::now();
            launch(from..to)?;
            self.left -= sum;
            // The last slice needs no wait: what is read next waits for it.
            if self.left > 0.0 && to < tasks {
                self.device.finish()?;
                let took = begun.elapsed().as_secs_f64().max(1e-5);
                // Slices change by at most a factor of four, since works differ.
                self.rate = (sum / took).clamp(self.rate / 4.0, self.rate * 4.0);
            }
            self.context.progress.add(sum as u64);
            from = to;
            slices += 1;
        }
        debug!(slices, tasks, rate = self.rate, "all slices are queued");
        Ok(true)
    }
}
