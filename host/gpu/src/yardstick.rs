//! What a device does at most (`kernels/yardstick.cl`): what a run can be held against.

use std::time::Instant;

use gramer_base::error::Result;

use crate::device::{Arg, Device};
use crate::memory::Buffer;
use crate::program::Program;

const YARDSTICK: &str = include_str!("../kernels/yardstick.cl");
/// Bits of the number of words of local memory that a group of lanes reads.
const WORDS_BITS: u32 = 10;
/// Words, or lookups, of a step.
const OF_STEP: u32 = 8;
/// Quads of words that the cache of all compute units holds: 8 MiB, more than the caches of the units hold of it.
const CACHED: u32 = 1 << 19;
/// Times that these are read in a launch.
const ROUNDS: u32 = 64;
/// Runs of each; the quickest counts.
const RUNS: u32 = 5;

/// Seconds and rates of a device, as they were measured: the least time of five runs each.
#[derive(Clone, Copy, Debug)]
pub struct Yardsticks {
    /// Seconds of a launch among many that do nothing.
    pub launch: f64,
    /// Seconds of a launch that does nothing and of reading a word after it: what no run stays below.
    pub answer: f64,
    /// Bytes per second that kernels read of the device's memory.
    pub bytes: f64,
    /// Bytes per second that kernels read of 8 MiB, which lie in the cache that all compute units share.
    pub cached: f64,
    /// Words per second of which the members in common with a word of local memory are counted.
    pub words: f64,
    /// Numbers per second that are not found in a table in local memory.
    pub lookups: f64,
}

impl Yardsticks {
    /// Measures a device: milliseconds on a GPU.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], and [`gramer_base::Error::Unsupported`] if the budget is too small.
    pub(crate) fn measure(device: &Device) -> Result<Self> {
        let lanes = device.lanes(256);
        let sizes = format!(
            "#define LANES {lanes}\n#define OF_STEP {OF_STEP}u\n#define WORDS_BITS {WORDS_BITS}\n#define WORDS {}u\n",
            1 << WORDS_BITS
        );
        let program = device.program("yardstick", &[&sizes, YARDSTICK])?;
        let portable = device.limits.portable;
        // Enough that a GPU's caches hold but a part; and enough groups for all places of a compute unit.
        let free = device.budget.free() / 32;
        let quads = if portable { 1 << 20 } else { 1 << 26 }.min(free.max(1)) as usize;
        let groups = device.limits.units * if portable { 1 } else { 8 };
        let steps: u32 = if portable { 1 << 10 } else { 1 << 13 };
        let items = Buffer::<u32>::new(&device.place(), 4 * quads, "what a yardstick reads")?;
        items.zero(&device.queue)?;
        let out = Buffer::<u32>::new(&device.place(), 1, "an answer that is never written")?;
        let on = Bench { device, program: &program, lanes };
        let nothing = [Arg::Buffer(out.raw()), Arg::U32(0)];
        let read = [Arg::Buffer(items.raw()), Arg::U32(quads as u32), Arg::Buffer(out.raw())];
        let quads_again = CACHED.min(1 << (quads as u32).max(1).ilog2());
        let rounds = if portable { 1 } else { ROUNDS };
        let again = [
            Arg::Buffer(items.raw()),
            Arg::U32(quads_again),
            Arg::U32(rounds),
            Arg::Buffer(out.raw()),
        ];
        let loops = [Arg::Buffer(out.raw()), Arg::U32(steps)];
        const LAUNCHES: u32 = 200;
        let of_steps = (groups * lanes) as f64 * f64::from(steps) * f64::from(OF_STEP);
        Ok(Yardsticks {
            launch: on.time("nothing", &nothing, 1, LAUNCHES)? / f64::from(LAUNCHES),
            answer: on.least(|| {
                device.launch(&program, "nothing", &nothing, 1, lanes)?;
                out.read(&device.queue, &mut [0])
            })?,
            bytes: 16.0 * quads as f64 / on.time("read_all", &read, groups, 1)?,
            cached: 16.0 * f64::from(rounds) * f64::from(quads_again)
                / on.time("read_again", &again, groups, 1)?,
            words: of_steps / on.time("count_words", &loops, groups, 1)?,
            lookups: of_steps / on.time("look_up", &loops, groups, 1)?,
        })
    }
}

struct Bench<'a> {
    device: &'a Device,
    program: &'a Program,
    lanes: usize,
}

impl Bench<'_> {
    /// Seconds of this many launches.
    fn time(&self, kernel: &str, args: &[Arg], groups: usize, launches: u32) -> Result<f64> {
        self.least(|| {
            for _ in 0..launches {
                self.device.launch(self.program, kernel, args, groups, self.lanes)?;
            }
            self.device.finish()
        })
    }

    /// Seconds of an operation, the least of [`RUNS`] after a warm-up.
    fn least(&self, done: impl Fn() -> Result<()>) -> Result<f64> {
        done()?;
        let mut least = f64::MAX;
        for _ in 0..RUNS {
            self.device.finish()?;
            let begun = Instant::now();
            done()?;
            least = least.min(begun.elapsed().as_secs_f64());
        }
        Ok(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, select};

    #[test]
    fn a_device_has_rates_that_it_can_have() {
        let Ok(handle) = select::select("gpu:portable") else { return };
        let device = Device::open(handle, &Settings::default()).unwrap();
        let found = Yardsticks::measure(&device).unwrap();
        // A read waits longer than a launch alone; a processor reads 10 MB to 10 TB per second.
        assert!(0.0 < found.launch && found.launch < 0.1, "{found:?}");
        assert!(0.0 < found.answer && found.answer < 1.0, "{found:?}");
        assert!((1e7..1e13).contains(&found.bytes), "{found:?}");
        assert!((1e7..1e14).contains(&found.cached), "{found:?}");
        // Below a word per lane of a vector and cycle of a thousand cores.
        assert!((1e6..1e14).contains(&found.words), "{found:?}");
        assert!((1e6..1e14).contains(&found.lookups), "{found:?}");
    }
}
