//! What a run is given besides graph and task: threads, a stop flag, a progress meter.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tracing::debug;

use crate::budget::Budget;
use crate::error::{Error, Result};

/// A flag that any thread may raise and every engine looks at often (at least every few
/// milliseconds), so that a run ends well within a second of Ctrl-C.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicU8>);

/// The run was cancelled.
const STOP: u8 = 1;
/// Each check of the flag also checks the memory budget. Both share a byte, so runs without a budget pay nothing for
/// it.
const LIMITED: u8 = 2;

impl Cancel {
    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.ask();
    }

    /// Asks the run to stop, and says whether it had been asked before. A signal's handler may do so.
    pub fn ask(&self) -> bool {
        self.0.fetch_or(STOP, Ordering::Relaxed) & STOP != 0
    }

    /// Whether the run was cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        match self.0.load(Ordering::Relaxed) {
            0 => false,
            state => state & STOP != 0 || look_after_budget(),
        }
    }

    /// Has everybody who looks at this flag look after the budget of memory.
    pub(crate) fn limit(&self) {
        self.0.fetch_or(LIMITED, Ordering::Relaxed);
    }

    /// [`Error::Interrupted`] once the run was cancelled.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Never a reason to stop.
#[cold]
fn look_after_budget() -> bool {
    crate::budget::look();
    false
}

/// Looks at a stop flag after every so much work: often enough for a second, seldom enough to
/// cost nothing.
///
/// ```
/// use gramer_base::context::{Cancel, CancelPoll};
///
/// let cancel = Cancel::default();
/// let mut looks = CancelPoll::new(&cancel);
/// assert!(looks.check(1).is_ok());
/// cancel.cancel();
/// // The flag is looked at after some thousand steps, not at each.
/// assert!((0..1 << 17).any(|_| looks.check(1).is_err()));
/// ```
#[derive(Debug)]
pub struct CancelPoll<'a> {
    cancel: &'a Cancel,
    since: usize,
    /// Steps between two checks.
    each: usize,
}

impl<'a> CancelPoll<'a> {
    /// Steps, of nanoseconds to a cache miss each, between two looks: below ten milliseconds.
    const STEPS: usize = 1 << 16;

    /// The same where memory is limited: each may bring 16 pages of a file.
    const LIMITED_STEPS: usize = 1 << 6;

    /// Looks at this flag.
    pub fn new(cancel: &'a Cancel) -> Self {
        let limited = cancel.0.load(Ordering::Relaxed) & LIMITED != 0;
        CancelPoll {
            cancel,
            since: 0,
            each: if limited { Self::LIMITED_STEPS } else { Self::STEPS },
        }
    }

    /// Announces this many steps; [`Error::Interrupted`] once the run was cancelled.
    #[inline]
    pub fn check(&mut self, steps: usize) -> Result<()> {
        self.since += steps;
        if self.since < self.each {
            return Ok(());
        }
        self.since = 0;
        self.cancel.check()
    }
}

/// A meter of work done, in units of the engine's own (work, bytes, patterns). Engines only add to
/// it; another thread reads it.
///
/// ```
/// use gramer_base::context::Progress;
///
/// let progress = Progress::default();
/// progress.begin(10);
/// progress.add(4);
/// assert_eq!(progress.get(), (4, 10));
/// ```
///
/// Where the meter is watched, a run of several phases plans them by the time that each is expected to take.
/// Phases may have plans themselves.
///
/// ```
/// # use gramer_base::context::Progress;
/// let progress = Progress::default();
/// progress.watch();
/// let plan = progress.plan(|| vec![3.0, 1.0]);
/// progress.begin(10);
/// progress.add(5);
/// let (done, all) = progress.get();
/// assert_eq!(done as f64 / all as f64, 0.375);
/// # drop(plan);
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
    watched: AtomicBool,
    unpredictable: AtomicBool,
    phases: Mutex<Phases>,
}

/// The phases of a planned run, as parts of the whole.
#[derive(Debug, Default)]
struct Phases {
    planned: bool,
    /// What is behind.
    before: f64,
    /// The phase at hand.
    now: f64,
    /// Phases to come, the next one last.
    next: Vec<f64>,
    /// Phases of these that come after the plan at hand.
    after: usize,
}

impl Phases {
    /// The part of the next phase of the plan at hand; phases beyond the plan have none.
    fn next(&mut self) -> f64 {
        if self.next.len() > self.after { self.next.pop().unwrap_or(0.0) } else { 0.0 }
    }
}

/// The phases of a run, or of a phase, while it lives.
#[must_use]
#[derive(Debug)]
pub struct Plan<'a> {
    progress: &'a Progress,
    /// Phases to come after those of the plan, and of the plan around it.
    next: usize,
    after: usize,
    /// What is behind at its end.
    end: f64,
    outermost: bool,
}

impl Progress {
    /// Units of a planned run.
    const PLANNED: u64 = 1 << 20;

    /// Asks for plans: the whole of a run is then shown, and not each phase.
    pub fn watch(&self) {
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Whether the meter is watched.
    pub fn is_watched(&self) -> bool {
        self.watched.load(Ordering::Relaxed)
    }

    /// Whether the parts that are done say nothing of the time that is left: what is to come depends on what is found.
    pub fn is_unpredictable(&self) -> bool {
        self.unpredictable.load(Ordering::Relaxed)
    }

    /// Says whether what is to come depends on what is found, from now on.
    pub fn set_unpredictable(&self, unpredictable: bool) {
        self.unpredictable.store(unpredictable, Ordering::Relaxed);
    }

    /// Plans the next phases of a run, or of the next phase of the plan at hand, by the time that each is
    /// expected to take compared with the others. The plan ends when it is dropped; `None` if the meter is not
    /// watched.
    pub fn plan(&self, parts: impl FnOnce() -> Vec<f64>) -> Option<Plan<'_>> {
        if !self.is_watched() {
            return None;
        }
        let parts = parts();
        debug!(?parts, "phases are planned");
        let mut phases = self.phases();
        let outermost = !phases.planned;
        if outermost {
            *phases = Phases { planned: true, next: vec![1.0], ..Phases::default() };
        }
        phases.before += std::mem::take(&mut phases.now);
        let room = phases.next();
        let (next, end) = (phases.next.len(), phases.before + room);
        let plan = Plan { progress: self, next, after: phases.after, end, outermost };
        phases.after = next;
        let all = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        phases.next.extend(parts.iter().rev().map(|part| room * part / all));
        Some(plan)
    }

    /// Begins a phase of `total` units.
    pub fn begin(&self, total: u64) {
        let mut phases = self.phases();
        phases.before += phases.now;
        phases.now = phases.next();
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// Adds finished units.
    #[inline]
    pub fn add(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    /// Units done and units in all (0 before the first phase).
    pub fn get(&self) -> (u64, u64) {
        let phases = self.phases();
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        if !phases.planned {
            return (done, total);
        }
        let of_phase = done.min(total) as f64 / total.max(1) as f64;
        let done = phases.before + phases.now * of_phase;
        ((Self::PLANNED as f64 * done) as u64, Self::PLANNED)
    }

    fn phases(&self) -> MutexGuard<'_, Phases> {
        self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Plan<'_> {
    fn drop(&mut self) {
        let mut phases = self.progress.phases();
        phases.next.truncate(self.next);
        phases.after = self.after;
        (phases.before, phases.now) = (self.end, 0.0);
        if self.outermost {
            *phases = Phases::default();
        }
    }
}

/// Takes notes on a run while it works: that a fast method is not possible, and why. The user of a slow run sees them
/// before it ends.
///
/// ```
/// use gramer_base::context::Notes;
/// use std::sync::{Arc, Mutex};
///
/// let seen = Arc::new(Mutex::new(vec![]));
/// let notes = Notes::to({
///     let seen = Arc::clone(&seen);
///     move |text| seen.lock().unwrap().push(text.to_string())
/// });
/// notes.add("a hub has too many neighbours");
/// assert_eq!(seen.lock().unwrap().len(), 1);
/// // By default they go to the log alone.
/// Notes::default().add("a hub has too many neighbours");
/// ```
#[derive(Clone, Default)]
pub struct Notes(Option<Arc<Take>>);

/// Receiver of notes.
type Take = dyn Fn(&str) + Send + Sync;

impl Notes {
    /// Gives each note to `take`, which any thread may call.
    pub fn to(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Notes(Some(Arc::new(take)))
    }

    /// Adds a note.
    pub fn add(&self, text: &str) {
        tracing::info!("{text}");
        if let Some(take) = &self.0 {
            take(text);
        }
    }
}

impl fmt::Debug for Notes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Notes").field(&self.0.is_some()).finish()
    }
}

/// The surroundings of a run.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Worker threads; 0 means one for each core.
    pub threads: usize,
    /// The stop flag.
    pub cancel: Cancel,
    /// The progress meter.
    pub progress: Arc<Progress>,
    /// Takes notes on the run.
    pub notes: Notes,
    /// How much memory reading and the CPU engine may take; as much as they like by default.
    pub budget: Option<Arc<Budget>>,
}

impl Context {
    /// A context with this many threads (0: one for each core).
    pub fn with_threads(threads: usize) -> Self {
        Context { threads, ..Context::default() }
    }

    /// The number of worker threads, at least 1.
    pub fn threads(&self) -> usize {
        if self.threads > 0 {
            self.threads
        } else {
            // The system reads several files to answer, which takes as long as mining a small graph.
            static CORES: OnceLock<usize> = OnceLock::new();
            *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(progress: &Progress) -> f64 {
        let (done, all) = progress.get();
        done as f64 / all as f64
    }

    #[test]
    fn phases_have_their_parts_of_the_whole() {
        let progress = Progress::default();
        assert!(progress.plan(|| unreachable!()).is_none());
        progress.watch();
        let plan = progress.plan(|| vec![2.0, 1.0, 1.0]);
        assert_eq!(share(&progress), 0.0);
        progress.begin(4);
        progress.add(2);
        assert_eq!(share(&progress), 0.25);
        // A phase of two phases, of which one is left out.
        let inner = progress.plan(|| vec![1.0, 1.0]);
        assert_eq!(share(&progress), 0.5);
        progress.begin(8);
        progress.add(8);
        assert_eq!(share(&progress), 0.625);
        drop(inner);
        assert_eq!(share(&progress), 0.75);
        progress.begin(1);
        // Never more than the whole, even if an engine adds more.
        progress.add(3);
        assert_eq!(share(&progress), 1.0);
        drop(plan);
        progress.begin(10);
        assert_eq!(progress.get(), (0, 10));
    }

    #[test]
    fn phases_beyond_the_plan_take_nothing_back() {
        let progress = Progress::default();
        progress.watch();
        let _plan = progress.plan(|| vec![1.0, 1.0]);
        let inner = progress.plan(|| vec![1.0]);
        progress.begin(1);
        progress.add(1);
        progress.begin(5);
        progress.add(5);
        // The phase after those of the inner plan has none of the outer plan's next part.
        assert_eq!(share(&progress), 0.5);
        drop(inner);
        progress.begin(2);
        progress.add(1);
        assert_eq!(share(&progress), 0.75);
        progress.add(1);
        progress.begin(5);
        assert_eq!(share(&progress), 1.0);
    }
}
