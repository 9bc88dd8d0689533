//! One task on several devices.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Division, Outcome, Query, Sink, Units};
use gramer_graph::Graph;
use gramer_graph::context::{Cancel, Context, Progress};
use gramer_graph::error::{Error, Result};
use tracing::{info, warn};

use crate::checkpoint::Checkpoint;
use crate::deal::{Deal, PORTIONS_KEPT, Pace, Portions};
use crate::rivals::{Begun, Ended, Rivals};
use crate::speeds::{Speeds, alike};
use crate::{Ready, named, start_all};

/// How often the user's wish to stop is passed on to the devices.
const LOOK: Duration = Duration::from_millis(5);

/// A task, and where it runs.
pub(crate) struct Run<'a> {
    pub names: &'a [String],
    pub graph: &'a Graph,
    pub query: &'a Query,
    pub division: &'a Division,
    pub units: Units<'a>,
    pub sink: Option<&'a dyn Sink>,
    pub context: &'a Context,
    /// Where finished portions are kept.
    pub kept: Option<&'a Checkpoint<'a>>,
    /// Whether each run costs a device much: if devices are alike, each gets its part at once.
    pub at_once: bool,
}

/// What all threads of a run look at.
struct Shared {
    state: Mutex<State>,
    /// Portions were given back, or the last ones are done.
    changed: Condvar,
    /// Stops all devices.
    stop: Cancel,
    begun: Instant,
    /// Of each device: portions that it has, and how far it is with them.
    present: Vec<(AtomicUsize, Arc<Progress>)>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// A device's run has ended.
    fn ended(&self, taker: usize, run: &Begun, answer: &Result<Outcome>) -> Ended {
        let mut state = self.state();
        let now = self.begun.elapsed();
        let ended = state.rivals.end(run, answer.as_ref().is_ok_and(|outcome| outcome.complete));
        if let Some(speeds) = &mut state.speeds {
            let failed = match answer {
                Ok(_) => false,
                Err(Error::Interrupted) => ended != Ended::Late,
                Err(_) => true,
            };
            // What was stopped says nothing of a speed.
            speeds.ends(taker, now, failed, ended != Ended::Late);
        }
        ended
    }
}

/// Who has what.
struct State {
    deal: Deal,
    /// Of devices that may differ.
    speeds: Option<Speeds>,
    rivals: Rivals,
}

/// How much of the work is shown to be done.
struct Shown<'a> {
    portions: usize,
    progress: &'a Progress,
    done: u64,
}

impl<'a> Shown<'a> {
    /// Units for each portion: a device may have its whole part at once.
    const UNITS: u64 = 1024;

    fn new(portions: usize, progress: &'a Progress) -> Self {
        progress.begin(portions as u64 * Self::UNITS);
        Shown { portions, progress, done: 0 }
    }

    /// Shows what was done since; never less, though devices begin again with each phase.
    fn show(&mut self, shared: &Shared) {
        let deal = &shared.state().deal;
        let mut done = (self.portions - deal.left() - deal.out()) as u64 * Self::UNITS;
        for (present, progress) in &shared.present {
            let (part, whole) = progress.get();
            let part = part.min(whole) as f64 / whole.max(1) as f64;
            done += (part * (present.load(Acquire) as u64 * Self::UNITS) as f64) as u64;
        }
        let more = done.min(self.portions as u64 * Self::UNITS).saturating_sub(self.done);
        self.progress.add(more);
        self.done += more;
    }
}

/// What became of a device.
struct Done {
    /// Its outcomes, merged; none if it had none.
    outcome: Option<Outcome>,
    metrics: DeviceMetrics,
    error: Option<Error>,
}

impl Run<'_> {
    /// Runs on these devices; those that fail are taken out.
    pub fn on(&self, ready: &mut Vec<Ready<'_>>) -> Result<Outcome> {
        let takers = ready.len();
        if takers == 0 {
            return Err(Error::Device("all devices have failed before".into()));
        }
        let view = self.graph.view();
        let portions = match self.kept {
            None => Portions::new(view, self.units, takers, self.division.by_ids()),
            Some(_) => Portions::of(view, self.units, PORTIONS_KEPT, self.division.by_ids()),
        };
        let names = ready.iter().map(|device| self.names[device.at].as_str());
        let alike = alike(names);
        let state = State {
            deal: Deal::new(0..portions.count(), takers),
            speeds: (!alike).then(|| Speeds::new(takers)),
            rivals: Rivals::default(),
        };
        let at_once = alike && self.at_once && self.kept.is_none() && self.sink.is_none();
        let part = at_once.then(|| portions.count().div_ceil(takers));
        let shared = Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            stop: Cancel::default(),
            begun: Instant::now(),
            present: (0..takers).map(|_| Default::default()).collect(),
        };
        // A task may be so small that it ends before somebody looks again.
        if self.context.cancel.is_cancelled() {
            shared.stop.cancel();
        }
        let mut progress = Shown::new(portions.count(), &self.context.progress);
        info!(devices = takers, portions = portions.count(), "the work is dealt out");
        // What computes on the host shares its threads; others take one that mostly waits.
        let threads = (self.context.threads() / takers).max(1);
        let (caller, ended) = (std::thread::current(), AtomicUsize::new(0));
        let (all, refused): (Vec<std::thread::Result<Done>>, _) = std::thread::scope(|scope| {
            let (shared, portions, caller, ended) = (&shared, &portions, &caller, &ended);
            let works = ready.iter().enumerate().map(|(taker, device)| {
                move || {
                    let done = catch_unwind(AssertUnwindSafe(|| {
                        self.device((taker, device), (threads, part), shared, portions)
                    }));
                    if done.is_err() {
                        shared.stop.cancel();
                    }
                    ended.fetch_add(1, Release);
                    caller.unpark();
                    done
                }
            });
            let (started, refused) = start_all(scope, works);
            if refused.is_some() {
                shared.stop.cancel();
            }
            while ended.load(Acquire) < started.len() {
                if self.context.cancel.is_cancelled() {
                    shared.stop.cancel();
                }
                // Said again and again: who has just looked, and doesn't wait yet, would miss it.
                if shared.stop.is_cancelled() {
                    shared.state().rivals.stop();
                    shared.changed.notify_all();
                }
                progress.show(shared);
                std::thread::park_timeout(LOOK);
            }
            let done = |thread: ScopedJoinHandle<'_, _>| thread.join().and_then(|done| done);
            (started.into_iter().map(done).collect(), refused)
        });
        refused.map_or(Ok(()), Err)?;
        let all: Vec<Done> =
            all.into_iter().map(|done| done.unwrap_or_else(|panic| resume_unwind(panic))).collect();
        progress.show(&shared);
        let left = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner).deal;
        let failed: Vec<bool> = all.iter().map(|done| done.error.is_some()).collect();
        let mut failed = failed.into_iter();
        ready.retain(|_| !failed.next().unwrap_or(false));
        self.join(all, left.left() + left.out() == 0)
    }

    /// Joins what the devices found.
    fn join(&self, all: Vec<Done>, finished: bool) -> Result<Outcome> {
        let (mut outcomes, mut devices, mut warnings, mut last) = (vec![], vec![], vec![], None);
        for Done { outcome, metrics, error } in all {
            outcomes.extend(outcome);
            devices.push(metrics);
            match error {
                None => {}
                // A list has lines of the portion that failed, which nobody can take out again.
                Some(error @ Error::Device(_)) if self.sink.is_none() => {
                    warnings.push(format!("{error}; the other devices did its work"));
                    last = Some(error);
                }
                Some(error) => return Err(error),
            }
        }
        let stopped = outcomes.iter().any(|outcome| !outcome.complete);
        match last {
            Some(error) if !finished && !stopped && !self.context.cancel.is_cancelled() => {
                return Err(error);
            }
            _ => {}
        }
        let mut outcome = if outcomes.is_empty() {
            Outcome::new(vec![], false)
        } else {
            Outcome::merge(&self.query.task, self.graph, outcomes)?
        };
        outcome.complete &= finished;
        outcome.devices = devices;
        outcome.warnings.extend(warnings);
        Ok(outcome)
    }

    /// Takes portions until there are none; `taker` counts the devices that haven't failed.
    fn device(
        &self,
        (taker, device): (usize, &Ready<'_>),
        (threads, part): (usize, Option<usize>),
        shared: &Shared,
        portions: &Portions,
    ) -> Done {
        let name = &self.names[device.at];
        let mut found: Option<Outcome> = None;
        let (mut metrics, mut busy, mut runs) = (DeviceMetrics::of(name), Duration::ZERO, 0u64);
        let (mut own, mut error) = (0usize, None);
        let mut pace = part.map_or_else(|| Pace::new(self.kept.is_some()), Pace::of_part);
        while let Some((taken, run)) = self.next(shared, taker, pace.portions()) {
            let begun = Instant::now();
            let present = &shared.present[taker];
            let answer = self.answer(device, (&taken, &run), (threads, present), portions);
            let took = begun.elapsed();
            busy += took;
            runs += 1;
            let ended = shared.ended(taker, &run, &answer);
            if ended != Ended::Late {
                pace.took(taken.len(), took);
            }
            let merged = answer.and_then(|mut outcome| {
                outcome.devices.drain(..).for_each(|new| metrics.absorb(&new));
                let complete = outcome.complete;
                // Who has the same portions counts, whole or as far as it came.
                if ended != Ended::First {
                    return Ok(complete);
                }
                if let Some(kept) = self.kept {
                    kept.add(outcome.clone())?;
                }
                let known = found.take();
                found = Some(Outcome::merge(
                    &self.query.task,
                    self.graph,
                    known.into_iter().chain([outcome]),
                )?);
                Ok(complete)
            });
            let mut state = shared.state();
            match merged {
                Ok(_) | Err(Error::Interrupted) if ended == Ended::Late => {} // stopped, however it says so
                Ok(true) => {
                    state.deal.done(&taken);
                    own += taken.len();
                }
                // A limit was reached, or the user wants no more.
                Ok(false) => shared.stop.cancel(),
                Err(what) => {
                    let what = named(name, what);
                    warn!(device = name, error = %what, "a device has failed and gets no more work");
                    if !matches!(what, Error::Device(_)) || self.sink.is_some() {
                        shared.stop.cancel();
                    }
                    state.deal.give_back(if ended == Ended::First { taken } else { vec![] });
                    error = Some(what);
                }
            }
            drop(state);
            shared.changed.notify_all();
            if error.is_some() {
                break;
            }
        }
        metrics.headline("share.busy", "s", Value::time(busy));
        let part = Value::Share { part: own as f64, whole: portions.count() as f64 };
        metrics.headline("share.portions", "", part);
        metrics.detail("share.runs", "", Value::Count(runs));
        Done { outcome: found, metrics, error }
    }

    /// What a device finds in some portions; meanwhile others see how far it is.
    fn answer(
        &self,
        device: &Ready<'_>,
        (taken, run): (&[usize], &Begun),
        (threads, (present, progress)): (usize, &(AtomicUsize, Arc<Progress>)),
        portions: &Portions,
    ) -> Result<Outcome> {
        let context = Context {
            threads,
            cancel: run.cancel.clone(),
            progress: progress.clone(),
            ..self.context.clone()
        };
        progress.begin(0);
        present.store(taken.len(), Release);
        let answer = portions.share(self.graph.view(), taken).and_then(|share| {
            let units = Units::Share(&share);
            let (sink, division) = (self.sink, Some(self.division));
            let own =
                gramer_engine::Run { units, sink, division, ..gramer_engine::Run::new(&context) };
            device.prepared.counts(self.query, &own)
        });
        present.store(0, Release);
        answer
    }

    /// The next portions, once there are some, between `least` and `most` of them, or those that another
    /// device is too slow with; `None` when all are done or the run stops.
    fn next(
        &self,
        shared: &Shared,
        taker: usize,
        (least, most): (usize, usize),
    ) -> Option<(Vec<usize>, Begun)> {
        let mut guard = shared.state();
        loop {
            if shared.stop.is_cancelled() {
                return None;
            }
            let now = shared.begun.elapsed();
            let State { deal, speeds, rivals } = &mut *guard;
            let suits = speeds.as_ref().map(|speeds| speeds.most(taker, deal.left(), now));
            let most = most.min(suits.unwrap_or(usize::MAX));
            let taken = deal.take_between((least.min(most), most));
            if !taken.is_empty() {
                if let Some(speeds) = speeds {
                    speeds.begins(taker, taken.len(), now);
                }
                let run = rivals.begin(taker, &taken, now);
                return Some((taken, run));
            }
            if deal.out() == 0 {
                return None;
            }
            // A line of a list can't be taken back.
            if let (Some(speeds), None) = (speeds, self.sink)
                && let Some((taken, run)) = rivals.rival(taker, speeds.known(taker, now), now)
            {
                speeds.begins(taker, taken.len(), now);
                return Some((taken, run));
            }
            // Who has the rest may fail, or be slow.
            let waited = shared.changed.wait_timeout(guard, LOOK);
            guard = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
