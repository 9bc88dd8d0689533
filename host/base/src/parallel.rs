//! Work on a few threads of our own. Reading a graph on one thread must start no other.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use tracing::warn;

use crate::context::Cancel;
use crate::error::{Error, Result};
use crate::memory::room_for_thread;

/// Runs `work` with 0..threads, each on its own thread that ends with it, and returns the results in
/// that order. One alone runs on the caller's thread. A panic of any goes on in the caller. Where the system refuses a thread,
/// the caller's does its work and that of the following ones, one after the other ([`fewer`]): none may wait for another.
///
/// Whoever has work to deal out takes it from a shared counter within `work`, looks there at the flag that
/// stops a run, and has its state on its stack.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let next = AtomicU64::new(0);
/// let sums = gramer_base::parallel::on_threads(3, |_| {
///     let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
///     numbers.take_while(|&n| n < 100).sum::<u64>()
/// });
/// assert_eq!((sums.len(), sums.iter().sum()), (3, 4950));
/// ```
pub fn on_threads<R: Send>(threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if threads <= 1 {
        return vec![work(0)];
    }
    let results = slots(threads, || None);
    started(threads, false, &|t| put(&results[t], work(t)));
    taken(results)
}

/// Does `work` with each item and its number, on up to `threads` threads that take the next item as they get free, and returns
/// the results in the order of the items: for few items that take long.
///
/// ```
/// let squares = gramer_base::parallel::for_items(2, &[3, 1, 2], |at, n| (at, n * n));
/// assert_eq!(squares, [(0, 9), (1, 1), (2, 4)]);
/// ```
pub fn for_items<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(usize, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let parts = on_threads(threads.min(items.len()), |_| {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let taken = numbers.map_while(|at| Some((at, items.get(at)?)));
        taken.map(|(at, item)| (at, work(at, item))).collect::<Vec<_>>()
    });
    let mut all: Vec<(usize, R)> = parts.into_iter().flatten().collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

/// Does `work`, and `other` meanwhile, on its own thread, where there are `threads` and the system gives one: what is
/// made once, and sooner than it is asked for. Whoever asks for it makes it else.
///
/// ```
/// use std::sync::OnceLock;
///
/// let made = OnceLock::new();
/// let sum = gramer_base::parallel::beside(2, || _ = made.set(5), || 1 + 2);
/// assert_eq!((sum, *made.get_or_init(|| 5)), (3, 5));
/// ```
pub fn beside<R>(threads: usize, other: impl FnOnce() + Send, work: impl FnOnce() -> R) -> R {
    std::thread::scope(|scope| {
        if threads > 1 {
            // It does without where there is no memory for a thread, or there are too many.
            let _ = room_for_thread().and_then(|()| Builder::new().spawn_scoped(scope, other));
        }
        work()
    })
}

/// Starts a thread that the work can't do without; `purpose` follows "a thread".
///
/// # Errors
/// [`Error::Threads`] where the system refuses it.
pub fn start<T: Send + 'static>(
    purpose: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    room_for_thread()
        .and_then(|()| Builder::new().spawn(work))
        .map_err(|source| refused(purpose, &source))
}

/// The same within a scope.
///
/// # Errors
/// [`Error::Threads`] where the system refuses it.
pub fn start_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    purpose: &str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>> {
    let started = room_for_thread().and_then(|()| Builder::new().spawn_scoped(scope, work));
    started.map_err(|source| refused(purpose, &source))
}

fn refused(purpose: &str, source: &io::Error) -> Error {
    Error::Threads(format!(
        "the system refused a thread {purpose} ({source}); use fewer with the setting `threads`, or raise the limit of \
         processes or of memory"
    ))
}

/// The most threads that were wanted at a time and refused in part, and the fewest that worked: 32 bits each.
static FEWER: AtomicU64 = AtomicU64::new(0);

/// How many threads were wanted and how many worked at a time, where the system refused some to this process.
pub fn fewer() -> Option<(usize, usize)> {
    let both = FEWER.load(Ordering::Relaxed);
    (both != 0).then_some(((both >> 32) as usize, both as u32 as usize))
}

/// Remembers that the system gave fewer threads than were wanted.
#[cold]
fn gave(given: usize, wanted: usize, source: &io::Error) {
    let joined = |both: u64| {
        let (most, least) = if both == 0 {
            (0, u64::from(u32::MAX))
        } else {
            (both >> 32, both & u64::from(u32::MAX))
        };
        Some(most.max(wanted as u64) << 32 | least.min(given as u64))
    };
    if FEWER.fetch_update(Ordering::Relaxed, Ordering::Relaxed, joined) == Ok(0) {
        warn!(wanted, given, %source, "the system gave fewer threads");
    }
}

/// Runs `work` on each part, each on its own thread (the last one on the caller's), and
/// returns the results in order. Where the system refuses a thread, as [`on_threads`].
pub fn for_parts<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(P) -> R + Sync) -> Vec<R> {
    let results = slots(parts.len(), || None);
    let mut parts = parts.into_iter();
    let parts = slots(parts.len(), || parts.next());
    started(parts.len(), true, &|t| {
        let part = parts[t].lock().unwrap_or_else(PoisonError::into_inner).take();
        part.into_iter().for_each(|part| put(&results[t], work(part)));
    });
    taken(results)
}

/// What threads leave behind, or find, one each.
type Slots<T> = Vec<Mutex<Option<T>>>;

fn slots<T>(count: usize, mut of: impl FnMut() -> Option<T>) -> Slots<T> {
    let mut slots = Vec::with_capacity(count);
    slots.resize_with(count, || Mutex::new(of()));
    slots
}

fn put<T>(slot: &Mutex<Option<T>>, value: T) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
}

fn taken<T>(slots: Slots<T>) -> Vec<T> {
    let mut all = Vec::with_capacity(slots.len());
    for slot in slots {
        all.extend(slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    all
}

/// Runs `work` with 0..count, each on its own thread, or the last one `here`, and those without a thread as well. A
/// panic of any goes on in the caller. It knows no type of its callers: what starts a thread is compiled once, not for each of them.
fn started(count: usize, here: bool, work: &(dyn Fn(usize) + Sync)) {
    let own = count - usize::from(here && count > 0);
    std::thread::scope(|scope| {
        let mut handles = Vec::with_capacity(own);
        for t in 0..own {
            let started = room_for_thread()
                .and_then(|()| Builder::new().spawn_scoped(scope, move || work(t)));
            match started {
                Ok(handle) => handles.push(handle),
                Err(source) => {
                    gave(t + 1, count, &source);
                    break;
                }
            }
        }
        // The last one, or all from the first that the system refused.
        (handles.len()..count).for_each(work);
        for handle in handles {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

/// Buckets of [`in_buckets`]: each is a part of the whole that takes milliseconds to sort.
const BUCKETS: usize = 1 << 10;
/// Keys below which one bucket is sorted as fast.
const FEW_KEYS: usize = 1 << 17;

/// Sorts keys on a few threads in steps of milliseconds, so that it ends soon after `cancel` is
/// raised. The keys come from `sources` sources: `emit(i, take)` hands those of source i to
/// `take`. `sample` holds some of the keys, about evenly chosen: they are the borders of buckets,
/// so that a key is first dealt to its bucket, then each bucket is sorted by itself. Returns the
/// buckets in order.
///
/// # Errors
/// [`crate::Error::Interrupted`] once `cancel` is raised.
pub fn in_buckets<K: Ord + Copy + Send + Sync>(
    keys: usize,
    sources: usize,
    threads: usize,
    cancel: &Cancel,
    mut sample: Vec<K>,
    emit: impl Fn(usize, &mut dyn FnMut(K)) + Sync,
) -> Result<Vec<Vec<K>>> {
    sample.sort_unstable();
    let buckets = if keys < FEW_KEYS { 1 } else { BUCKETS.min(sample.len() + 1) };
    let borders: Vec<K> = (1..buckets).map(|b| sample[b * sample.len() / buckets]).collect();
    let threads = if buckets == 1 { 1 } else { threads.max(1) };
    let dealt = on_threads(threads, |t| {
        let mut own: Vec<Vec<K>> = (0..buckets).map(|_| Vec::new()).collect();
        for source in (t..sources).step_by(threads) {
            if cancel.is_cancelled() {
                break;
            }
            emit(source, &mut |key| own[borders.partition_point(|b| *b <= key)].push(key));
        }
        own
    });
    cancel.check()?;
    // Bucket by bucket, the parts of all threads.
    let mut parts: Vec<Vec<Vec<K>>> = (0..buckets).map(|_| Vec::new()).collect();
    for own in dealt {
        parts.iter_mut().zip(own).for_each(|(parts, part)| parts.push(part));
    }
    let unsorted = Mutex::new(parts.into_iter().enumerate());
    let mut sorted: Vec<(usize, Vec<K>)> = on_threads(threads, |_| {
        let mut sorted = Vec::new();
        while !cancel.is_cancelled() {
            let taken = unsorted.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((bucket, mut parts)) = taken else { break };
            let mut keys = if parts.len() == 1 { parts.swap_remove(0) } else { parts.concat() };
            keys.sort_unstable();
            sorted.push((bucket, keys));
        }
        sorted
    })
    .concat();
    cancel.check()?;
    sorted.sort_by_key(|(bucket, _)| *bucket);
    Ok(sorted.into_iter().map(|(_, keys)| keys).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_the_sorted_keys() {
        // Enough for several buckets, with many equal keys.
        let key = |i: usize| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40 & 0xf_ff0f;
        let (sources, each) = (97, 2_000);
        let mut expected: Vec<u64> = (0..sources * each).map(key).collect();
        expected.sort_unstable();
        for threads in [1, 3] {
            let sample = (0..sources * each).step_by(61).map(key).collect();
            let emit = |source: usize, take: &mut dyn FnMut(u64)| {
                (source * each..(source + 1) * each).map(key).for_each(take);
            };
            let cancel = Cancel::default();
            let keys = sources * each;
            let buckets = in_buckets(keys, sources, threads, &cancel, sample, emit).unwrap();
            assert!(buckets.len() > 100);
            assert_eq!(buckets.concat(), expected);
            cancel.cancel();
            assert!(in_buckets(keys, sources, threads, &cancel, vec![1], emit).is_err());
        }
    }
}
