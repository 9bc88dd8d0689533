//! What a run is given besides graph and task: threads, a stop flag, a progress meter.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::budget::Budget;
use crate::error::{Error, Result};

/// A flag that any thread may raise and every engine looks at often (at least every few
/// milliseconds), so that a run ends well within a second of Ctrl-C.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicU8>);

/// The run was asked to stop.
const STOP: u8 = 1;
/// Whoever looks at the flag looks after the budget of memory as well. It is in the same byte, so that runs
/// without a budget pay nothing for it.
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

    /// Whether the run was asked to stop.
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

    /// [`Error::Interrupted`] once the run was asked to stop.
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
/// use gramer_graph::context::{Cancel, Looks};
///
/// let cancel = Cancel::default();
/// let mut looks = Looks::new(&cancel);
/// assert!(looks.check(1).is_ok());
/// cancel.cancel();
/// // The flag is looked at after some thousand steps, not at each.
/// assert!((0..1 << 17).any(|_| looks.check(1).is_err()));
/// ```
#[derive(Debug)]
pub struct Looks<'a> {
    cancel: &'a Cancel,
    since: usize,
    /// Steps between two looks.
    each: usize,
}

impl<'a> Looks<'a> {
    /// Steps, of nanoseconds to a cache miss each, between two looks: below ten milliseconds.
    const STEPS: usize = 1 << 16;

    /// The same where memory is limited: each may bring 16 pages of a file.
    const LIMITED_STEPS: usize = 1 << 6;

    /// Looks at this flag.
    pub fn new(cancel: &'a Cancel) -> Self {
        let limited = cancel.0.load(Ordering::Relaxed) & LIMITED != 0;
        Looks { cancel, since: 0, each: if limited { Self::LIMITED_STEPS } else { Self::STEPS } }
    }

    /// Says that so many steps come now; [`Error::Interrupted`] once the run was asked to stop.
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

/// A meter of work done, in units of the engine's own (start vertices, edges, patterns). Engines
/// only add to it; whoever shows it reads it from another thread.
///
/// ```
/// use gramer_graph::context::Progress;
///
/// let progress = Progress::default();
/// progress.begin(10);
/// progress.add(4);
/// assert_eq!(progress.get(), (4, 10));
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    total: AtomicU64,
    done: AtomicU64,
}

impl Progress {
    /// Begins a phase of `total` units.
    pub fn begin(&self, total: u64) {
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
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

/// Takes notes on a run while it works: that a fast method is not possible, and why. Whoever waits for a slow run
/// reads them before it ends.
///
/// ```
/// use gramer_graph::context::Notes;
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

/// Takes a note.
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
            std::thread::available_parallelism().map_or(1, |n| n.get())
        }
    }
}
