//! Tasks that devices do together and not each by itself ([`Together`]): frequent patterns and closed forms level by level, of
//! which each device examines some candidates and all hear what each has found; and what GPUs have the same lists of tasks of.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Division, Outcome, Query, Run, Together};
use gramer_graph::context::{Cancel, Context, Progress};
use gramer_graph::error::{Error, Result};
use tracing::warn;

use crate::{Ready, named, start_all};

/// A device gets what is left of a level divided by this and by the number of devices.
const PART: usize = 4;
/// The same of devices for which each run costs much, once each has had `FIRST` of the part that would be its own.
const LARGE_PART: usize = 2;
const FIRST: (usize, usize) = (3, 4);
/// What a device says that has a part of the task from the beginning, and no candidates.
const PART_OF: &str = "share.portions";
/// How often who waits looks whether the run stops.
const LOOK: Duration = Duration::from_millis(5);

/// What the devices have agreed on.
#[derive(Default)]
struct State {
    /// By level: the first candidate that nobody has, and how often somebody took some.
    next: HashMap<usize, (usize, usize)>,
    /// What those have found who have come to the end of the level.
    found: Vec<Vec<u8>>,
    /// Levels that all have come to the end of.
    rounds: usize,
    /// What was found of the last one.
    joined: Arc<Vec<Vec<u8>>>,
}

/// What all devices look at.
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    devices: usize,
    /// Whether each run costs a device much.
    runs_cost: bool,
    /// Of all devices.
    threads: usize,
    stop: Cancel,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        self.stop.cancel();
        self.changed.notify_all();
    }
}

/// One of the devices.
struct Member<'a> {
    shared: &'a Shared,
    /// Candidates that it had, of all that there were.
    own: AtomicUsize,
    all: AtomicUsize,
    waited: Mutex<Duration>,
    progress: &'a Progress,
}

impl Member<'_> {
    /// As many of a level's candidates as `size` says, by how many are left and how often some were taken.
    fn take(
        &self,
        level: usize,
        all: usize,
        size: impl Fn(usize, usize) -> usize,
    ) -> Result<Range<usize>> {
        self.shared.stop.check()?;
        let mut state = self.shared.lock();
        let (first, times) = state.next.entry(level).or_insert_with(|| {
            self.progress.begin(all as u64);
            (0, 0)
        });
        let size = size(all - *first, *times);
        let range = *first..*first + size;
        (*first, *times) = (range.end, *times + 1);
        self.own.fetch_add(size, Relaxed);
        self.progress.add(size as u64);
        Ok(range)
    }
}

impl Together for Member<'_> {
    fn threads(&self) -> usize {
        self.shared.threads
    }

    fn next(&self, level: usize, all: usize) -> Result<Range<usize>> {
        let Shared { devices, runs_cost, .. } = *self.shared;
        self.take(level, all, |left, times| match runs_cost {
            false => left.div_ceil(PART * devices),
            true if times < devices => (all * FIRST.0).div_ceil(FIRST.1 * devices).min(left),
            true => left.div_ceil(LARGE_PART * devices),
        })
    }

    fn at_once(&self, level: usize, all: usize) -> Result<Range<usize>> {
        let devices = self.shared.devices;
        self.take(level, all, |left, times| left.div_ceil(devices.saturating_sub(times).max(1)))
    }

    fn join(&self, level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        let begun = Instant::now();
        let mut state = self.shared.lock();
        self.all.fetch_add(state.next.get(&level).map_or(0, |next| next.0), Relaxed);
        let round = state.rounds;
        state.found.push(found);
        if state.found.len() == self.shared.devices {
            state.joined = Arc::new(std::mem::take(&mut state.found));
            state.rounds += 1;
            self.shared.changed.notify_all();
        }
        while state.rounds == round {
            self.shared.stop.check()?;
            state = self
                .shared
                .changed
                .wait_timeout(state, LOOK)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        *self.waited.lock().unwrap_or_else(PoisonError::into_inner) += begun.elapsed();
        Ok(state.joined.to_vec())
    }
}

/// Answers a task on these devices. Where one fails it is taken out, and the others begin again.
///
/// # Errors
/// Those of the devices; of a lost device only if it was the last one.
pub(crate) fn run(
    names: &[String],
    (ready, runs_cost): (&mut Vec<Ready<'_>>, bool),
    (query, division): (&Query, &Division),
    context: &Context,
) -> Result<Outcome> {
    let mut warnings: Vec<String> = vec![];
    loop {
        if ready.is_empty() {
            return Err(Error::Device("all devices have failed before".into()));
        }
        if let [device] = &ready[..] {
            let mut outcome = device
                .prepared
                .counts(query, &Run::new(context))
                .map_err(|error| named(&names[device.at], error))?;
            outcome.warnings.splice(0..0, warnings);
            return Ok(outcome);
        }
        let (mut outcomes, mut lost) = (vec![], None);
        let all = once(names, (ready, runs_cost), (query, division), context);
        let failed: Vec<bool> = all.iter().map(Result::is_err).collect();
        for result in all {
            match result {
                Ok(outcome) => outcomes.push(outcome),
                Err(error @ Error::Device(_)) => {
                    warn!(%error, "a device has failed: the others begin again");
                    warnings.push(format!("{error}; the other devices did its work"));
                    lost = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        let mut failed = failed.into_iter();
        ready.retain(|_| !failed.next().unwrap_or(false));
        match lost {
            Some(error) if ready.is_empty() => return Err(error),
            Some(_) if !context.cancel.is_cancelled() => continue,
            _ => {}
        }
        // Of a run that was stopped each has what it counted itself, where it had a part of its own.
        let part = |outcome: &Outcome| outcome.devices.iter().any(|d| d.get(PART_OF).is_some());
        let own = outcomes.iter().all(|outcome| !outcome.complete && part(outcome));
        let metrics: Vec<DeviceMetrics> =
            outcomes.iter_mut().flat_map(|outcome| outcome.devices.drain(..)).collect();
        let mut outcome = outcomes.swap_remove(0);
        for more in outcomes.iter().filter(|_| own) {
            for (count, more) in outcome.results.iter_mut().zip(&more.results) {
                count.count += more.count;
            }
        }
        outcome.devices = metrics;
        outcome.warnings.extend(warnings);
        return Ok(outcome);
    }
}

/// One attempt of all devices.
fn once(
    names: &[String],
    (ready, runs_cost): (&[Ready<'_>], bool),
    asked: (&Query, &Division),
    context: &Context,
) -> Vec<Result<Outcome>> {
    let threads = (context.threads() / ready.len()).max(1);
    let shared = Shared {
        state: Mutex::default(),
        changed: Condvar::new(),
        devices: ready.len(),
        runs_cost,
        threads: threads * ready.len(),
        stop: Cancel::default(),
    };
    // A task may be so small that it ends before somebody looks again.
    if context.cancel.is_cancelled() {
        shared.stop();
    }
    let (caller, ended) = (std::thread::current(), AtomicUsize::new(0));
    let progress: Vec<Arc<Progress>> = ready.iter().map(|_| Arc::default()).collect();
    std::thread::scope(|scope| {
        let works = ready.iter().zip(&progress).map(|(device, progress)| {
            let (shared, caller, ended) = (&shared, &caller, &ended);
            move || {
                // Also where it panics the others don't wait for it.
                let _ends = Ends { shared, caller, ended };
                one(&names[device.at], device, asked, (shared, progress, threads), context)
            }
        });
        let (started, refused) = start_all(scope, works);
        // The others wait for what it would find.
        if refused.is_some() {
            shared.stop();
        }
        while ended.load(Acquire) < started.len() {
            if context.cancel.is_cancelled() {
                shared.stop();
            }
            // Candidates are counted as they are given out. Without any each device knows how far it is.
            if shared.lock().next.is_empty() {
                let all = progress.iter().map(|progress| progress.get());
                let (done, total) = all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                context.progress.begin(total);
                context.progress.add(done);
            }
            std::thread::park_timeout(LOOK);
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let all: Vec<_> = started.into_iter().map(join).collect();
        refused.map(Err).into_iter().chain(all).collect()
    })
}

/// A thread that has ended.
struct Ends<'a> {
    shared: &'a Shared,
    caller: &'a Thread,
    ended: &'a AtomicUsize,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.shared.stop();
        }
        self.ended.fetch_add(1, Release);
        self.caller.unpark();
    }
}

fn one(
    name: &str,
    device: &Ready<'_>,
    (query, division): (&Query, &Division),
    (shared, progress, threads): (&Shared, &Arc<Progress>, usize),
    context: &Context,
) -> Result<Outcome> {
    let own = Context {
        threads,
        cancel: shared.stop.clone(),
        progress: progress.clone(),
        ..context.clone()
    };
    let member = Member {
        shared,
        own: AtomicUsize::new(0),
        all: AtomicUsize::new(0),
        waited: Mutex::default(),
        progress: &context.progress,
    };
    let begun = Instant::now();
    let run = Run { peers: Some(&member), division: Some(division), ..Run::new(&own) };
    let outcome = device.prepared.counts(query, &run);
    let took = begun.elapsed();
    // Others wait for what doesn't come.
    if outcome.as_ref().map_or(true, |outcome| !outcome.complete) {
        shared.stop();
    }
    let mut outcome = outcome.map_err(|error| named(name, error))?;
    let mut metrics = DeviceMetrics::of(name);
    outcome.devices.drain(..).for_each(|found| metrics.absorb(&found));
    let waited = *member.waited.lock().unwrap_or_else(PoisonError::into_inner);
    metrics.headline("share.busy", "s", Value::time(took.saturating_sub(waited)));
    if metrics.get(PART_OF).is_none() {
        let (own, all) = (member.own.load(Relaxed) as f64, member.all.load(Relaxed) as f64);
        metrics.headline("share.candidates", "", Value::Share { part: own, whole: all });
    }
    outcome.devices.push(metrics);
    Ok(outcome)
}
