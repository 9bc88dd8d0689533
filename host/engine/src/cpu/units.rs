//! Work units and the threads that take them.
//!
//! A work unit is what it is on the accelerator: a start vertex with a range of its neighbours.
//! Threads take the next unit when they are done with one, so that no share of the work is fixed
//! beforehand; a vertex with more than its share of the work is cut into several units, so that
//! even one hub keeps all threads busy.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gramer_graph::VertexId;
use gramer_graph::context::{Context, Looks};

/// How many units each thread should find at least, if the graph has as many start edges.
const UNITS_A_THREAD: u64 = 64;

/// A start vertex and a range of positions in its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    pub start: VertexId,
    pub part: Range<u32>,
}

/// All units of a run.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    units: Vec<Unit>,
    /// Units are handed out in groups of similar work: group i is `units[ends[i-1]..ends[i]]`.
    ends: Vec<u32>,
}

impl Units {
    /// Cuts the work of `vertices` start vertices. `list` gives the number of positions that can
    /// be divided and `weight` an estimate of the whole work, both of one start vertex; a vertex
    /// with an empty list is left out. Once the run is asked to stop, units are missing;
    /// [`run_units`] then runs none.
    pub fn new(
        vertices: usize,
        context: &Context,
        list: impl Fn(VertexId) -> usize,
        weight: impl Fn(VertexId) -> u64,
    ) -> Self {
        // A weight may cost a look at the neighbours.
        const STEPS: usize = 64;
        let mut looks = Looks::new(&context.cancel);
        let mut until = |_: &VertexId| looks.check(STEPS).is_ok();
        let total: u64 = (0..vertices as VertexId)
            .take_while(&mut until)
            .map(&weight)
            .fold(0, u64::saturating_add);
        let share = (total / (context.threads() as u64 * UNITS_A_THREAD)).max(1);
        let (mut units, mut ends, mut group) = (vec![], vec![], 0);
        for start in (0..vertices as VertexId).take_while(&mut until) {
            let len = list(start) as u32;
            if len == 0 {
                continue;
            }
            let weight = weight(start);
            let parts = (weight / share).clamp(1, len as u64) as u32;
            for p in 0..parts {
                let at = |p: u32| (len as u64 * p as u64 / parts as u64) as u32;
                units.push(Unit { start, part: at(p)..at(p + 1) });
                group += weight / parts as u64 + 1;
                if group >= share {
                    ends.push(units.len() as u32);
                    group = 0;
                }
            }
        }
        if ends.last().copied().unwrap_or(0) as usize != units.len() {
            ends.push(units.len() as u32);
        }
        Units { units, ends }
    }
}

/// Runs `work` on every unit, each thread with a state of its own from `make`, and returns the
/// states. A `Break` from any call, or `context.cancel`, ends the run; the flag that comes back
/// says whether every unit was finished.
pub(crate) fn run_units<S: Send>(
    units: &Units,
    context: &Context,
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &Unit) -> ControlFlow<()> + Sync,
) -> (Vec<S>, bool) {
    let next = AtomicUsize::new(0);
    let broken = AtomicBool::new(context.cancel.is_cancelled());
    context.progress.begin(units.ends.len() as u64);
    let one = || {
        let mut state = make();
        loop {
            let group = next.fetch_add(1, Ordering::Relaxed);
            if group >= units.ends.len() || broken.load(Ordering::Relaxed) {
                break;
            }
            let first = if group == 0 { 0 } else { units.ends[group - 1] as usize };
            for unit in &units.units[first..units.ends[group] as usize] {
                if broken.load(Ordering::Relaxed) || context.cancel.is_cancelled() {
                    broken.store(true, Ordering::Relaxed);
                    return state;
                }
                if work(&mut state, unit).is_break() {
                    broken.store(true, Ordering::Relaxed);
                    return state;
                }
            }
            context.progress.add(1);
        }
        state
    };
    let threads = context.threads().min(units.ends.len()).max(1);
    let states = if threads == 1 {
        vec![one()]
    } else {
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
            handles
                .into_iter()
                .map(|h| h.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    };
    (states, !broken.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_cover_every_position_once() {
        let lists = [5usize, 0, 1000, 3, 17];
        let weights = [5u64, 0, 1_000_000, 3, 17];
        let units = Units::new(
            5,
            &Context::with_threads(2),
            |v| lists[v as usize],
            |v| weights[v as usize],
        );
        let mut seen: Vec<Vec<u32>> = lists.iter().map(|&l| vec![0; l]).collect();
        for unit in &units.units {
            for p in unit.part.clone() {
                seen[unit.start as usize][p as usize] += 1;
            }
        }
        assert!(seen.iter().flatten().all(|&times| times == 1));
        // The heavy vertex is divided.
        assert!(units.units.iter().filter(|u| u.start == 2).count() >= 100);
        assert_eq!(*units.ends.last().unwrap() as usize, units.units.len());
    }

    #[test]
    fn a_run_that_was_asked_to_stop_is_not_whole_even_without_units() {
        let context = Context::with_threads(1);
        context.cancel.cancel();
        let units = Units::new(1 << 20, &context, |_| 1, |_| 1);
        assert!(units.units.len() < 1 << 20);
        let (states, whole) = run_units(
            &units,
            &context,
            || 0,
            |n, _| {
                *n += 1;
                ControlFlow::Continue(())
            },
        );
        assert!(!whole && states.iter().all(|&n| n == 0));
        assert!(
            !run_units(
                &Units::new(0, &context, |_| 1, |_| 1),
                &context,
                || (),
                |_, _| { ControlFlow::Continue(()) }
            )
            .1
        );
    }

    #[test]
    fn a_break_ends_the_run_and_says_so() {
        let units = Units::new(100, &Context::with_threads(2), |_| 1, |_| 1);
        let (states, whole) = run_units(
            &units,
            &Context::with_threads(2),
            || 0,
            |n, _| {
                *n += 1;
                if *n == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert!(!whole);
        assert!(states.iter().sum::<i32>() < 100);
    }
}
