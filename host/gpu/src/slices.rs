//! Slices: work is handed to the device in portions of tens of milliseconds, so that a run can be
//! stopped and shows progress, and a display that the device serves stays alive.

use std::ops::Range;
use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::Result;
use tracing::debug;

use crate::device::{Device, Mark};

/// Target duration of a slice.
const TARGET: Duration = Duration::from_millis(20);

/// Work per second that is assumed of a compute unit before anything was measured, in element tests.
const RATE: f64 = 1.5e8;
/// The same rate for a CPU, over all compute units: each group costs a tenth of a millisecond.
const PORTABLE_RATE: f64 = 5e7;

/// Prefix sums of the work of tasks. A slice is found by binary search: adding up the work at each launch would take
/// as long as the kernels of a hundred thousand triangles.
pub(crate) struct PrefixWork {
    /// The work of all tasks before one, and of all.
    before: Vec<f64>,
}

impl PrefixWork {
    pub fn new(works: impl IntoIterator<Item = f64>) -> Self {
        let works = works.into_iter();
        let mut before = Vec::with_capacity(works.size_hint().0 + 1);
        let mut sum = 0.0;
        before.push(sum);
        before.extend(works.map(|work| {
            sum += work;
            sum
        }));
        PrefixWork { before }
    }

    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.before.len() - 1
    }

    /// The work of all tasks.
    pub fn total(&self) -> f64 {
        self.before[self.len()]
    }

    /// The work of some tasks.
    pub fn of(&self, tasks: Range<usize>) -> f64 {
        self.before[tasks.end] - self.before[tasks.start]
    }

    /// End of the tasks from `from` on with at most this much work, but at least `least` tasks.
    fn end(&self, from: usize, least: usize, room: f64) -> usize {
        let most = self.before[from] + room;
        let by_work = self.before[from..].partition_point(|&before| before <= most) + from - 1;
        by_work.max(from + least).min(self.len())
    }
}

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
    /// The end of the last slice, and its work: it is waited for once the next one is queued, so that the device always
    /// has something to do.
    open: Option<(Mark, f64)>,
    /// Time at which a slice was last known to be finished.
    done: Instant,
}

impl<'a> Slices<'a> {
    /// Creates slices for tasks of `total` work.
    pub fn new(device: &'a Device, context: &'a Context, total: f64) -> Self {
        let rate = match device.limits.portable {
            true => PORTABLE_RATE,
            false => RATE * device.limits.units as f64,
        };
        context.progress.begin(total as u64);
        let fill = if device.limits.portable { 1 } else { 16 * device.limits.units };
        Slices { device, context, rate, left: total, fill, open: None, done: Instant::now() }
    }

    /// Calls `launch` with ranges of tasks until all were queued; gives `false` once the run was asked to
    /// stop.
    ///
    /// # Errors
    /// Errors of `launch`, and [`gramer_base::Error::Device`].
    pub fn run(
        &mut self,
        works: &PrefixWork,
        launch: impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<bool> {
        self.run_some(works, 0..works.len(), launch)
    }

    /// Runs some of the tasks.
    ///
    /// # Errors
    /// As [`Slices::run`].
    pub fn run_some(
        &mut self,
        works: &PrefixWork,
        which: Range<usize>,
        mut launch: impl FnMut(Range<usize>) -> Result<()>,
    ) -> Result<bool> {
        let (mut from, tasks, mut slices) = (which.start, which.end, 0u64);
        while from < tasks {
            if self.context.cancel.is_cancelled() {
                return Ok(false);
            }
            let to = works.end(from, self.fill, self.rate * TARGET.as_secs_f64()).min(tasks);
            let sum = works.of(from..to);
            launch(from..to)?;
            self.left -= sum;
            // The last slice needs no wait: what is read next waits for it.
            if self.left > 0.0 && to < tasks {
                self.wait_for_the_one_before(sum)?;
            }
            self.context.progress.add(sum as u64);
            from = to;
            slices += 1;
        }
        debug!(slices, tasks, rate = self.rate, "all slices are queued");
        Ok(true)
    }

    /// Marks a slice of so much work, which was queued, and waits for the one before it.
    fn wait_for_the_one_before(&mut self, work: f64) -> Result<()> {
        let mark = self.device.mark()?;
        let Some((before, work)) = self.open.replace((mark, work)) else { return Ok(()) };
        self.device.wait(&before)?;
        let took = self.done.elapsed().as_secs_f64().max(1e-5);
        self.done = Instant::now();
        // Slices change by at most a factor of four, since works differ.
        self.rate = (work / took).clamp(self.rate / 4.0, self.rate * 4.0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_end_where_their_work_does() {
        let works = PrefixWork::new([4.0, 3.0, 2.0, 1.0, 1.0]);
        assert_eq!((works.len(), works.total(), works.of(1..3)), (5, 11.0, 5.0));
        // As many as are requested, however much work they have; then as many as fit.
        assert_eq!([works.end(0, 1, 0.5), works.end(0, 1, 7.0), works.end(0, 1, 8.9)], [1, 2, 2]);
        assert_eq!([works.end(2, 1, 2.5), works.end(2, 2, 0.0), works.end(2, 1, 99.0)], [3, 4, 5]);
        assert_eq!(works.end(3, 16, 0.0), 5);
        assert_eq!((PrefixWork::new([]).len(), PrefixWork::new([]).total()), (0, 0.0));
    }
}
