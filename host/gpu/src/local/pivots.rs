//! Cliques by pivots (`kernels/pivots.cl`): what many cliques share is counted at once, so that their number
//! doesn't matter.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gramer_graph::context::Context;
use gramer_graph::error::Result;

use super::TARGETS;
use super::roots::{ClassShape, List, Roots, WHOLE};
use crate::device::Arg;
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::{Resident, SLOTS};

const COMMON: &str = include_str!("../../kernels/common.clh");
const PIVOTS: &str = include_str!("../../kernels/pivots.cl");

/// Sets of members for which nothing else is tried: a fifth of a second at most.
const FEW_SETS: f64 = 2e10;
/// Sets that a compute unit meets in a second where they are many: 132 units met 3.6e10 (10-cliques of
/// ca-astroph) to 2e11 (6-cliques of rmat16).
const SET_RATE: f64 = 7e8;
/// Roots of a class in a sample, about, and how long it may take.
const SAMPLE: usize = 256;
const SAMPLE_TIME: Duration = Duration::from_millis(250);
/// Sets, and vertices of a clique, beyond which a sample that takes too long says nothing for sets: 9-cliques of
/// ego-twitter took 7.3 s by sets and 1.4 s by pivots, 8-cliques of rmat15 1.6 s and 14 s.
const MOST_SETS: f64 = 2e13;
const MOST_VERTICES: usize = 8;

/// How long a slice should take.
const SLICE: Duration = Duration::from_millis(20);
/// Steps of a work-group in the first slice, and the least and most.
const STEPS: (f64, f64, f64) = (5_000.0, 64.0, 1e9);
/// Work-groups for each compute unit.
const GROUPS_EACH: usize = 24;
/// Words of control: the next task, and groups on their way.
const CONTROL_WORDS: usize = 2;
/// Words of a work-group's state.
const STATE_WORDS: usize = 4;

/// Words of a level of a walk: two sets, and what is held.
fn level_words(words: usize) -> usize {
    2 * words + 1
}

/// Words of all levels of a walk: one for each vertex of the largest graph of a class.
fn stack_words(words: usize) -> usize {
    32 * words * level_words(words)
}

/// How cliques of six vertices and more are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// One by one but for the last two vertices.
    Sets,
    /// By pivots.
    Pivots,
}

/// Of a class: root, element tests, 4-cliques of its graph.
pub(super) type Found = Vec<(u32, f32, u64)>;

impl Way {
    /// The way for cliques of `k`, which have `sets` sets of k − 2 vertices at most; `None` once the run was
    /// asked to stop.
    ///
    /// Where these may be many, a sample of roots is counted by pivots. That also says how many sets they
    /// have.
    ///
    /// # Errors
    /// As [`count`].
    pub(super) fn of(
        graph: &Resident,
        roots: &Roots,
        found: &[Found],
        (k, sets): (usize, f64),
        context: &Context,
    ) -> Result<Option<Self>> {
        if let Some(pivots) = graph.device.pivots {
            return Ok(Some(if pivots { Way::Pivots } else { Way::Sets }));
        }
        // The sets of 6-cliques are known, and pivots seldom pay for so few vertices.
        if sets <= FEW_SETS || k == 6 && sets <= MOST_SETS {
            return Ok(Some(Way::Sets));
        }
        let (mut by_sets, mut by_pivots) = (0.0, 0.0);
        let units = graph.device.limits.units as f64;
        for (class, found) in roots.classes.iter().zip(found) {
            let sample: Found = found.iter().step_by(found.len() / SAMPLE + 1).copied().collect();
            let weight = |found: &Found| found.iter().map(|root| root.2 as f64).sum::<f64>();
            if sample.is_empty() {
                continue;
            }
            let tasks = sample.iter().map(|&(root, tests, _)| (tests, [root, WHOLE])).collect();
            let list = List::new(&graph.device, tasks)?;
            let place = graph.device.place();
            let sums = Buffer::of(&place, &[0u32; 4 * SLOTS], "sums of a sample")?;
            let begun = Instant::now();
            let limit = Some(begun + SAMPLE_TIME);
            // Cliques of k − 1 are sets of k − 2 vertices beside their roots.
            let counting = Counting { graph, roots, k: k - 1, sums: &sums, limit, context };
            match counting.class(*class, &list)? {
                Ended::Stopped => return Ok(None),
                Ended::Late => {
                    let many = k > MOST_VERTICES || sets > MOST_SETS;
                    return Ok(Some(if many { Way::Pivots } else { Way::Sets }));
                }
                Ended::Done => {}
            }
            let took = begun.elapsed().as_secs_f64();
            let mut words = [0u32; 4 * SLOTS];
            sums.read(&graph.device.queue, &mut words)?;
            let number = |part: &[u32]| {
                part.iter().rev().fold(0.0, |sum, &word| sum * 4_294_967_296.0 + f64::from(word))
            };
            let counted: f64 = words.chunks_exact(4).map(number).sum();
            let scale = weight(found) / weight(&sample);
            by_sets += counted * scale / (SET_RATE * units);
            // All of them keep more groups busy than the sample does.
            let groups = (GROUPS_EACH as f64 * units).min(found.len() as f64);
            by_pivots += took * scale * sample.len() as f64 / groups;
        }
        Ok(Some(if by_pivots < by_sets { Way::Pivots } else { Way::Sets }))
    }
}

/// Parts for each compute unit, about: the work of a part isn't known beforehand.
pub(super) const PARTS_EACH: usize = 64;

/// All parts of a root walk over the branches of its first pivot.
pub(super) fn most_parts(targets: usize) -> u32 {
    (targets / 2).clamp(1, u16::MAX.into()) as u32
}

/// C(n, i) for n up to `most` and i below `k`, as low and high words.
fn binomials(most: usize, k: usize) -> Vec<[u64; 2]> {
    let mut all: Vec<u128> = vec![0; (most + 1) * k];
    for n in 0..=most {
        all[n * k] = 1;
        for i in 1..k.min(n + 1) {
            all[n * k + i] = all[(n - 1) * k + i - 1] + all[(n - 1) * k + i];
        }
    }
    all.into_iter().map(|ways| [ways as u64, (ways >> 64) as u64]).collect()
}

/// How a count has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    Done,
    /// The run was asked to stop.
    Stopped,
    /// It took too long.
    Late,
}

/// Counts the cliques of `k` of the roots in classes into sum 0; `false` once the run was asked to stop.
///
/// # Errors
/// [`gramer_graph::Error::Device`], [`gramer_graph::Error::Unsupported`] where the budget has no room.
pub(super) fn count(graph: &Resident, roots: &Roots, k: usize, context: &Context) -> Result<bool> {
    let tasks = roots.lists[..roots.classes.len()].iter().map(|list| list.tasks.len() as u64);
    context.progress.begin(tasks.sum());
    let counting = Counting { graph, roots, k, sums: &graph.sums, limit: None, context };
    for (class, list) in roots.classes.iter().zip(&roots.lists).rev() {
        if counting.class(*class, list)? != Ended::Done {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A count of cliques of `k`.
struct Counting<'a> {
    graph: &'a Resident,
    roots: &'a Roots,
    k: usize,
    sums: &'a Buffer<u32>,
    /// When it is too late.
    limit: Option<Instant>,
    context: &'a Context,
}

impl Counting<'_> {
    /// The roots of a class.
    fn class(&self, class: ClassShape, list: &List) -> Result<Ended> {
        let Counting { graph, roots, k, context, .. } = *self;
        let device = &graph.device;
        let (words, tasks) = (class.words, list.tasks.len());
        if tasks == 0 {
            return Ok(Ended::Done);
        }
        let lanes = if device.limits.portable { 1 } else { device.lanes(8 * words.max(4)) };
        let program = self.program(class, lanes)?;
        let place = device.place();
        let binomials = Buffer::of(&place, &binomials(32 * words, k), "binomial coefficients")?;
        let stack = stack_words(words);
        let room = (device.budget.free() / 2) as usize / (4 * (stack + STATE_WORDS));
        let groups = (GROUPS_EACH * device.limits.units).min(tasks).min(room).max(1);
        let stacks: Buffer<u32> = Buffer::new(&place, groups * stack, "branches that wait")?;
        let states = Buffer::of(&place, &vec![0u32; groups * STATE_WORDS], "states of groups")?;
        let mut control = Buffer::of(&place, &[0u32; CONTROL_WORDS], "the control block")?;
        let rows = roots.arcs.as_ref().map_or(&graph.oriented, |arcs| &arcs.rows);
        let (mut steps, mut next) = (STEPS.0, 0u32);
        loop {
            if context.cancel.is_cancelled() {
                return Ok(Ended::Stopped);
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
                Arg::Buffer(self.sums.raw()),
                Arg::Buffer(graph.fault.raw()),
            ];
            let begun = Instant::now();
            device.launch(&program, "local_pivots", &args, groups, lanes)?;
            let mut said = [0; CONTROL_WORDS];
            control.read(&device.queue, &mut said)?;
            let took = begun.elapsed().as_secs_f64().max(1e-6);
            let reached = said[0].min(tasks as u32);
            context.progress.add(u64::from(reached - next));
            next = reached;
            let cut = said[1] > 0;
            if next == tasks as u32 && !cut {
                return Ok(Ended::Done);
            }
            if self.limit.is_some_and(|limit| Instant::now() >= limit) {
                return Ok(Ended::Late);
            }
            // A slice that ended for want of tasks says nothing of the time that steps take.
            let factor = (SLICE.as_secs_f64() / took).clamp(0.25, 4.0);
            if cut || factor < 1.0 {
                steps = (steps * factor).clamp(STEPS.1, STEPS.2);
            }
        }
    }

    fn program(&self, class: ClassShape, lanes: usize) -> Result<Arc<Program>> {
        let mut defines = String::new();
        let (words, bits) = (class.words, class.table_bits());
        for (name, value) in [
            ("K", self.k),
            ("W", words),
            ("T", lanes),
            ("HASH", 1 << bits),
            ("HASH_BITS", bits as usize),
            ("LEVEL_WORDS", level_words(words)),
            ("STACK_WORDS", stack_words(words)),
            ("STATE_WORDS", STATE_WORDS),
        ] {
            writeln!(defines, "#define {name} {value}").expect("text");
        }
        let name = format!("pivots_{words} of {}", self.k);
        self.graph.device.program(&name, &[COMMON, &defines, TARGETS, PIVOTS])
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
