//! Cliques by pivots (`kernels/pivots.cl`): what many cliques share is counted at once, so that their number
//! doesn't matter.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::Result;

use super::TARGETS;
use super::last_sets;
use super::roots::{ClassShape, List, Roots};
use super::small_sets::{self, SmallSets};
use crate::device::{Arg, Device};
use crate::lanes::{LANES, Lanes};
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::Resident;

const COMMON: &str = include_str!("../../kernels/common.clh");
const PIVOTS: &str = include_str!("../../kernels/pivots.cl");

/// Target duration of a slice.
const SLICE: Duration = Duration::from_millis(20);
/// Least and most target duration of a slice once all tasks have started: idle groups get work after each slice, and a
/// slice can't be cancelled.
const LAST_SLICE: (Duration, Duration) = (Duration::from_millis(3), Duration::from_millis(100));
/// Its share of the time so far: each slice costs about half a millisecond more.
const LAST_SHARE: u32 = 64;
/// Groups at most that are given work by the same one at a time.
const TAKERS: usize = 7;
/// Steps of a walker in the first slice, and the least and most.
const STEPS: (f64, f64, f64) = (20_000.0, 64.0, 1e9);
/// Walkers for each compute unit. On an H200 24 to 40 took the same time, 64 a fifth more for 12-cliques.
const WALKERS_EACH: usize = 32;
/// Walkers of a work-group where one is a warp, which share the rows of a root, if there is local memory for them; elsewhere
/// one is a work-group.
const WALKERS: usize = 8;
/// Lanes of a work-group that shares out branches.
const SHARE_LANES: usize = 64;
/// Words of control: the next task, and groups on their way.
const CONTROL_WORDS: usize = 2;
/// Words of a work-group's state, and of a walker's.
const STATE_WORDS: usize = 3;
const WALKER_WORDS: usize = 3;
/// Words of a level of a walk: two sets, and what is held.
fn level_words(words: usize) -> usize {
    2 * words + 1
}

/// Maximum number of levels of a walk: each has two candidates less than the one above, and one has a class's targets.
fn most_levels(words: usize) -> usize {
    16 * words + 1
}

/// Words of all levels of a walk.
fn stack_words(words: usize) -> usize {
    most_levels(words) * level_words(words)
}

/// Bytes of local memory of a work-group for roots of this class.
pub(super) fn local_bytes(class: ClassShape, walkers: usize) -> usize {
    let words = class.words;
    let (hash, targets) = (1 << class.table_bits(), 32 * words);
    let (shared, mail) = (7, 2 * words + 1);
    4 * (hash
        + targets
        + targets * (words | 1)
        + walkers * SmallSets::of(words).words()
        + shared
        + mail)
}

/// Bytes of the walks of one group over roots with up to `span` targets, for cliques of `k`.
pub(crate) fn walk_bytes(span: usize, k: usize) -> u64 {
    let words = span.div_ceil(32).next_power_of_two().clamp(4, 16);
    let walks = STATE_WORDS + WALKERS * (WALKER_WORDS + stack_words(words));
    (16 * (32 * words + 1) * k + 4 * walks) as u64
}

/// Shape of a work-group of walkers.
#[derive(Clone, Copy)]
pub(super) struct Group {
    /// Lanes of a walker.
    pub lanes: usize,
    pub walkers: usize,
}

impl Group {
    /// One walker, or up to `most` where one is a warp: as many as have room, given the bytes of local memory that they take.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn of(device: &Device, most: usize, bytes: impl Fn(usize) -> usize) -> Result<Self> {
        // A processor takes lanes one after the other.
        let lanes = if device.limits.portable { 1 } else { device.lanes(LANES) };
        let mut walkers = if device.form()?.lanes == Lanes::Ptx { most } else { 1 };
        while walkers > 1 && bytes(walkers) > device.limits.local {
            walkers /= 2;
        }
        Ok(Group { lanes, walkers })
    }

    /// The shape for roots of this class.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    fn of_class(device: &Device, class: ClassShape) -> Result<Self> {
        Self::of(device, WALKERS, |walkers| local_bytes(class, walkers))
    }
}

/// Parts for each compute unit, about: the work of a part isn't known beforehand.
pub(super) const PARTS_EACH: usize = 32;

/// Maximum number of parts of a root: each takes every `parts`-th of the branches that hold one vertex.
pub(super) fn most_parts(targets: usize) -> u32 {
    (targets / 2).clamp(1, u16::MAX.into()) as u32
}

/// C(n, i) for n up to `most` and i below `k`, as low and high words.
pub(super) fn binomials(most: usize, k: usize) -> Vec<[u64; 2]> {
    let mut all: Vec<u128> = vec![0; (most + 1) * k];
    for n in 0..=most {
        all[n * k] = 1;
        for i in 1..k.min(n + 1) {
            all[n * k + i] = all[(n - 1) * k + i - 1] + all[(n - 1) * k + i];
        }
    }
    all.into_iter().map(|ways| [ways as u64, (ways >> 64) as u64]).collect()
}

/// Counts the cliques of `k` of the roots in classes into sum 0; `false` once the run was cancelled.
///
/// # Errors
/// [`gramer_base::Error::Device`], [`gramer_base::Error::Unsupported`] if the budget is too small.
pub(super) fn count(graph: &Resident, roots: &Roots, k: usize, context: &Context) -> Result<bool> {
    let tasks = roots.lists[..roots.classes.len()].iter().map(|list| list.tasks.len() as u64);
    context.progress.begin(tasks.sum());
    let counting = CliqueCount { graph, roots, k, context };
    for (class, list) in roots.classes.iter().zip(&roots.lists).rev() {
        if !counting.class(*class, list)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A count of cliques of `k`.
struct CliqueCount<'a> {
    graph: &'a Resident,
    roots: &'a Roots,
    k: usize,
    context: &'a Context,
}

impl CliqueCount<'_> {
    /// The roots of a class; `false` once the run was cancelled.
    ///
    /// # Errors
    /// As [`count`].
    fn class(&self, class: ClassShape, list: &List) -> Result<bool> {
        let CliqueCount { graph, roots, k, context, .. } = *self;
        let device = &graph.device;
        let (words, tasks) = (class.words, list.tasks.len());
        if tasks == 0 {
            return Ok(true);
        }
        let Group { lanes, walkers } = Group::of_class(device, class)?;
        let program = self.program(class)?;
        let place = device.place();
        let binomials = Buffer::of(&place, &binomials(32 * words, k), "binomial coefficients")?;
        let stack = walkers * stack_words(words);
        let state = STATE_WORDS + walkers * WALKER_WORDS;
        let room = (device.budget.free() / 2) as usize / (4 * (stack + state));
        // Those that have no task are given branches of others.
        let groups = WALKERS_EACH / walkers * device.limits.units;
        let groups = groups.min((TAKERS + 1) * tasks).min(room).max(1);
        let stacks: Buffer<u32> = Buffer::new(&place, groups * stack, "branches that wait")?;
        let states = Buffer::of(&place, &vec![0u32; groups * state], "states of groups")?;
        let mut control = Buffer::of(&place, &[0u32; CONTROL_WORDS], "the control block")?;
        let rows = roots.rows(graph);
        let (mut steps, mut next, start) = (STEPS.0, 0u32, Instant::now());
        let walks = Walks { states: &states, stacks: &stacks, groups, walkers };
        loop {
            if context.cancel.is_cancelled() {
                return Ok(false);
            }
            control.write(&device.queue, &[next, 0])?;
            let args = [
                Arg::Buffer(rows.offsets.raw()),
                Arg::Buffer(rows.ends.raw()),
                Arg::Buffer(list.buffer.raw()),
                Arg::U32(tasks as u32),
                Arg::U32((rows.offsets.len() - 1) as u32),
                Arg::U32(rows.ends.len() as u32),
                Arg::Buffer(binomials.raw()),
                Arg::Buffer(control.raw()),
                Arg::Buffer(states.raw()),
                Arg::Buffer(stacks.raw()),
                Arg::U32(steps as u32),
                Arg::Buffer(graph.sums.raw()),
                Arg::Buffer(graph.fault().raw()),
            ];
            let begun = Instant::now();
            device.launch(&program, "local_pivots", &args, groups, lanes * walkers)?;
            let mut said = [0; CONTROL_WORDS];
            control.read(&device.queue, &mut said)?;
            let took = begun.elapsed().as_secs_f64().max(1e-6);
            let reached = said[0].min(tasks as u32);
            context.progress.add(u64::from(reached - next));
            next = reached;
            let cut = said[1] > 0;
            if next == tasks as u32 && !cut {
                return Ok(true);
            }
            // A slice that ended for want of tasks says nothing of the time that steps take.
            let all_begun = next == tasks as u32;
            let last = (start.elapsed() / LAST_SHARE).clamp(LAST_SLICE.0, LAST_SLICE.1);
            let slice = if all_begun { last } else { SLICE };
            let factor = (slice.as_secs_f64() / took).clamp(0.25, 4.0);
            if cut || factor < 1.0 {
                steps = (steps * factor).clamp(STEPS.1, STEPS.2);
            }
            if all_begun {
                walks.share(graph, &program)?;
            }
        }
    }

    /// Builds its program.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    fn program(&self, class: ClassShape) -> Result<Arc<Program>> {
        let device = &self.graph.device;
        let Group { lanes, walkers } = Group::of_class(device, class)?;
        let mut defines = String::new();
        let (words, bits) = (class.words, class.table_bits());
        let own = [
            ("K", self.k),
            ("W", words),
            ("LANES", lanes),
            ("WALKERS", walkers),
            ("HASH", 1 << bits),
            ("HASH_BITS", bits as usize),
            ("LEVEL_WORDS", level_words(words)),
            ("MOST_LEVELS", most_levels(words)),
            ("STACK_WORDS", stack_words(words)),
            ("STATE_WORDS", STATE_WORDS),
            ("WALKER_WORDS", WALKER_WORDS),
            ("LAST", SmallSets::of(words).last()),
            ("ENDS", SmallSets::ends(self.k)),
        ];
        for (name, value) in own.into_iter().chain(SmallSets::of(words).defines()) {
            writeln!(defines, "#define {name} {value}").expect("text");
        }
        let name = format!("pivots_{words} of {}", self.k);
        let form = device.form()?.source();
        let sources =
            [COMMON, &defines, &form, TARGETS, small_sets::SOURCE, last_sets::SOURCE, PIVOTS];
        device.program(&name, &sources)
    }
}

/// Walks that lie on the device between launches.
struct Walks<'a> {
    states: &'a Buffer<u32>,
    stacks: &'a Buffer<u32>,
    groups: usize,
    walkers: usize,
}

impl Walks<'_> {
    /// Moves branches from busy groups to idle ones.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], [`gramer_base::Error::Unsupported`] if the budget is too small.
    fn share(&self, graph: &Resident, program: &Program) -> Result<()> {
        let device = &graph.device;
        let mut states = vec![0; STATE_WORDS * self.groups];
        self.states.read(&device.queue, &mut states)?;
        let active = |group: &u32| states[STATE_WORDS * *group as usize] != 0;
        let (busy, idle): (Vec<u32>, Vec<u32>) = (0..self.groups as u32).partition(active);
        if busy.is_empty() {
            return Ok(());
        }
        // In rounds, in each of which no group gives twice.
        for takers in idle.chunks(busy.len()).take(TAKERS) {
            let pairs: Vec<[u32; 2]> =
                busy.iter().zip(takers).map(|(&from, &to)| [from, to]).collect();
            let buffer = Buffer::of(&device.place(), &pairs, "groups that share work")?;
            let args = [
                Arg::Buffer(self.states.raw()),
                Arg::Buffer(self.stacks.raw()),
                Arg::Buffer(buffer.raw()),
                Arg::U32(pairs.len() as u32),
                Arg::U32(self.groups as u32),
                Arg::Buffer(graph.fault().raw()),
            ];
            let lanes = device.lanes(SHARE_LANES);
            let groups = (pairs.len() * self.walkers).div_ceil(lanes);
            device.launch(program, "share_branches", &args, groups, lanes)?;
            // The pairs must not be freed before they were read.
            device.finish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials_of_the_largest_class_fit_into_two_words() {
        let all = binomials(512, 16);
        let at = |n: usize, i: usize| {
            let [low, high] = all[n * 16 + i];
            u128::from(high) << 64 | u128::from(low)
        };
        assert_eq!((at(0, 0), at(0, 1), at(5, 2), at(4, 5)), (1, 0, 10, 0));
        assert_eq!(at(512, 1), 512);
        // 512 · 511 · … · 498 / 15!, by steps that divide evenly.
        let exact = (0..15).fold(1u128, |c, i| c * (512 - i) / (i + 1));
        assert_eq!(at(512, 15), exact);
        assert!(exact > 1 << 64);
    }
}
