//! What a device does at most (`kernels/yardstick.cl`): what a run can be held against.

use std::sync::Arc;
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
/// Words of lists that are read in a launch.
const LISTED: usize = 1 << 28;
/// Lanes that read a list together: what reads most in a second counts.
const TILES: [u32; 4] = [4, 8, 16, 32];
/// Runs of each; the quickest counts.
const RUNS: u32 = 5;

/// Seconds and rates of a device, as they were measured: the least time of five runs each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Yardsticks {
    /// Seconds of a launch among many that do nothing.
    pub launch: f64,
    /// Seconds of a launch that does nothing and of reading a word after it: what no run stays below.
    pub answer: f64,
    /// Bytes per second that kernels read of the device's memory.
    pub bytes: f64,
    /// Words per second of which the members in common with a random row of local memory are counted.
    pub words: f64,
    /// Members per second that are found in words of sets, with a word of the row of each, in local memory.
    pub members: f64,
    /// Numbers per second that are not found in a table in local memory.
    pub lookups: f64,
    /// Counters per second at random places of local memory that are incremented and read.
    pub increments: f64,
}

impl Yardsticks {
    /// Measures a device: milliseconds on a GPU.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], and [`gramer_base::Error::Unsupported`] if the budget is too small.
    pub(crate) fn measure(device: &Device) -> Result<Self> {
        let (lanes, program) = program(device)?;
        let portable = device.limits.portable;
        // Enough that a GPU's caches hold but a part.
        let free = device.budget.free() / 32;
        let quads = if portable { 1 << 20 } else { 1 << 26 }.min(free.max(1)) as usize;
        let groups = groups(device);
        let steps: u32 = if portable { 1 << 10 } else { 1 << 13 };
        let items = Buffer::<u32>::new(&device.place(), 4 * quads, "what a yardstick reads")?;
        items.zero(&device.queue)?;
        let out = Buffer::<u32>::new(&device.place(), 1, "an answer that is never written")?;
        let on = Bench { device, program: &program, lanes };
        let nothing = [Arg::Buffer(out.raw()), Arg::U32(0)];
        let read = [Arg::Buffer(items.raw()), Arg::U32(quads as u32), Arg::Buffer(out.raw())];
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
            words: of_steps / on.time("count_words", &loops, groups, 1)?,
            // Sixteen a step.
            members: 16.0 / f64::from(OF_STEP) * of_steps
                / on.time("count_members", &loops, groups, 1)?,
            lookups: of_steps / on.time("look_up", &loops, groups, 1)?,
            increments: of_steps / on.time("increment", &loops, groups, 1)?,
        })
    }
}

/// Words per second that kernels read of lists of `length` words, which lie at random places of an array of `words`:
/// with the best number of lanes for a list, and nothing done with what is read.
///
/// # Errors
/// As [`Yardsticks::measure`].
pub(crate) fn list_rate(device: &Device, words: usize, length: usize) -> Result<f64> {
    let (lanes, program) = program(device)?;
    let length = length.clamp(1, words.max(1));
    let items = Buffer::<u32>::new(&device.place(), words.max(1), "what a yardstick reads")?;
    items.zero(&device.queue)?;
    let out = Buffer::<u32>::new(&device.place(), 1, "an answer that is never written")?;
    let on = Bench { device, program: &program, lanes };
    let lists = (LISTED >> if device.limits.portable { 8 } else { 0 }).div_ceil(length);
    let mut most: f64 = 0.0;
    for tile in TILES {
        let args = [
            Arg::Buffer(items.raw()),
            Arg::U32(items.len() as u32),
            Arg::U32(length as u32),
            Arg::U32(tile.min(lanes as u32)),
            Arg::U32(lists as u32),
            Arg::Buffer(out.raw()),
        ];
        let seconds = on.time("read_lists", &args, groups(device), 1)?;
        most = most.max((lists * length) as f64 / seconds);
    }
    Ok(most)
}

/// Comparisons per second of searches in lists of 2^`levels` - 1 numbers, which lie at random places of an array of
/// `words`: with the best number of lanes for a list.
///
/// # Errors
/// As [`Yardsticks::measure`].
pub(crate) fn search_rate(device: &Device, words: usize, levels: u32) -> Result<f64> {
    let (lanes, program) = program(device)?;
    let words = words.max(1);
    let levels = levels.clamp(1, (words + 1).ilog2().max(1));
    let items = Buffer::<u32>::new(&device.place(), words, "what a yardstick searches")?;
    let fill = [Arg::Buffer(items.raw()), Arg::U32(words as u32)];
    device.launch(&program, "count_up", &fill, groups(device), lanes)?;
    let out = Buffer::<u32>::new(&device.place(), 1, "an answer that is never written")?;
    let on = Bench { device, program: &program, lanes };
    let searches = LISTED >> if device.limits.portable { 10 } else { 3 };
    let mut most: f64 = 0.0;
    for tile in [1].into_iter().chain(TILES) {
        let args = [
            Arg::Buffer(items.raw()),
            Arg::U32(words as u32),
            Arg::U32(levels),
            Arg::U32(tile),
            Arg::U32(searches as u32),
            Arg::Buffer(out.raw()),
        ];
        let seconds = on.time("search_lists", &args, groups(device), 1)?;
        most = most.max(searches as f64 * f64::from(levels) / seconds);
    }
    Ok(most)
}

/// Counters in global memory per second that are incremented, and that are read: eight lanes meet counters that lie
/// `gap` words apart, at random places of the few that a work-group has, which caches hold.
///
/// # Errors
/// As [`Yardsticks::measure`].
pub(crate) fn counter_rates(device: &Device, gap: usize) -> Result<[f64; 2]> {
    const LANES_EACH: u32 = 8;
    let (lanes, program) = program(device)?;
    let groups = groups(device);
    let counters = Buffer::<u32>::new(&device.place(), groups << WORDS_BITS, "counters")?;
    counters.zero(&device.queue)?;
    let out = Buffer::<u32>::new(&device.place(), 1, "an answer that is never written")?;
    let on = Bench { device, program: &program, lanes };
    let steps: u32 = if device.limits.portable { 1 << 7 } else { 1 << 10 };
    let args = [
        Arg::Buffer(counters.raw()),
        Arg::U32(gap.clamp(1, 32) as u32),
        Arg::U32(LANES_EACH.min(lanes as u32)),
        Arg::U32(steps),
        Arg::Buffer(out.raw()),
    ];
    let all = (groups * lanes) as f64 * f64::from(steps) * f64::from(OF_STEP);
    Ok([
        all / on.time("count_far", &args, groups, 1)?,
        all / on.time("look_far", &args, groups, 1)?,
    ])
}

/// Lanes of a work-group, and the kernels.
fn program(device: &Device) -> Result<(usize, Arc<Program>)> {
    let lanes = device.lanes(256);
    let sizes = format!(
        "#define LANES {lanes}\n#define OF_STEP {OF_STEP}u\n#define WORDS_BITS {WORDS_BITS}\n#define WORDS {}u\n",
        1 << WORDS_BITS
    );
    Ok((lanes, device.program("yardstick", &[&sizes, YARDSTICK])?))
}

/// Enough work-groups for all places of a compute unit.
fn groups(device: &Device) -> usize {
    device.limits.units * if device.limits.portable { 1 } else { 8 }
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
        let Some(handle) = select::portable() else { return };
        let device = Device::open(handle, &Settings::default()).unwrap();
        let found = Yardsticks::measure(&device).unwrap();
        // A read waits longer than a launch alone; a processor reads 10 MB to 10 TB per second.
        assert!(0.0 < found.launch && found.launch < 0.1, "{found:?}");
        assert!(0.0 < found.answer && found.answer < 1.0, "{found:?}");
        assert!((1e7..1e13).contains(&found.bytes), "{found:?}");
        // Below a word per lane of a vector and cycle of a thousand cores.
        assert!((1e6..1e14).contains(&found.words), "{found:?}");
        for rate in [found.members, found.lookups, found.increments] {
            assert!((1e6..1e14).contains(&rate), "{found:?}");
        }
        for (words, length) in [(1, 5), (1 << 16, 40)] {
            let rate = list_rate(&device, words, length).unwrap();
            assert!((1e6..1e13).contains(&rate), "{rate} words of lists of {length} per second");
            let rate = search_rate(&device, words, length.ilog2()).unwrap();
            assert!((1e6..1e13).contains(&rate), "{rate} comparisons per second");
        }
        for gap in [1, 8] {
            let rates = counter_rates(&device, gap).unwrap();
            assert!(rates.iter().all(|rate| (1e5..1e13).contains(rate)), "{rates:?} with {gap}");
        }
    }
}
