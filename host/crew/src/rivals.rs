//! Running portions, and repetitions of them by idle devices.
//!
//! The last portions of a slow device would delay the whole run: an idle device repeats those that it would have
//! finished in half the time. The first to finish counts; the other is stopped and its result dropped.

use std::time::Duration;

use gramer_base::context::Cancel;

/// Shorter waits are ignored.
const PATIENCE: Duration = Duration::from_millis(100);
/// Factor by which the wait for another device may exceed the own run.
const TIMES: f64 = 2.0;

/// Run in progress on a device.
#[derive(Debug)]
struct ActiveRun {
    number: u64,
    taker: usize,
    portions: Vec<usize>,
    since: Duration,
    cancel: Cancel,
    /// The number of the first run of these portions.
    of: u64,
}

/// A device's attempt at some portions.
#[derive(Debug, Clone)]
pub struct Attempt {
    number: u64,
    /// Stops this run.
    pub cancel: Cancel,
    /// Whether another device has these portions, too.
    pub rival: bool,
}

/// All attempts in progress.
#[derive(Debug, Default)]
pub struct Rivals {
    under: Vec<ActiveRun>,
    next: u64,
}

impl Rivals {
    /// A device begins with portions that no other has.
    pub fn begin(&mut self, taker: usize, portions: &[usize], now: Duration) -> Attempt {
        let of = self.next;
        self.add(taker, portions.to_vec(), now, of)
    }

    fn add(&mut self, taker: usize, portions: Vec<usize>, since: Duration, of: u64) -> Attempt {
        let (number, cancel) = (self.next, Cancel::default());
        self.next += 1;
        self.under.push(ActiveRun { number, taker, portions, since, cancel: cancel.clone(), of });
        Attempt { number, cancel, rival: of != number }
    }

    /// An idle device with this many portions per second repeats the portions with the longest expected wait, if it
    /// would be much faster.
    pub fn rival(
        &mut self,
        taker: usize,
        rate: f64,
        now: Duration,
    ) -> Option<(Vec<usize>, Attempt)> {
        let slow =
            |run: &&ActiveRun| self.slow_from(run, taker, rate).is_some_and(|from| now > from);
        let run = self.under.iter().filter(slow).min_by_key(|run| run.since)?;
        let (portions, of) = (run.portions.clone(), run.of);
        Some((portions.clone(), self.add(taker, portions, now, of)))
    }

    /// When [`Rivals::rival`] has something for a device that has nothing to do, if no run ends before.
    pub fn next_rival(&self, taker: usize, rate: f64) -> Option<Duration> {
        self.under.iter().filter_map(|run| self.slow_from(run, taker, rate)).min()
    }

    /// The time from which a device with this many portions per second would be much faster than another's run;
    /// `None` if never, or if two devices have its portions.
    fn slow_from(&self, run: &ActiveRun, taker: usize, rate: f64) -> Option<Duration> {
        let twice = self.under.iter().filter(|other| other.of == run.of).count() > 1;
        if twice || run.taker == taker {
            return None;
        }
        let own = Duration::try_from_secs_f64(TIMES * run.portions.len() as f64 / rate).ok()?;
        run.since.checked_add(own.max(PATIENCE))
    }

    /// A run has ended, well or not: whether it counts, and whether another still has its portions. One that
    /// ended well stops the other.
    pub fn end(&mut self, begun: &Attempt, well: bool) -> AttemptEnd {
        let Some(at) = self.under.iter().position(|run| run.number == begun.number) else {
            return AttemptEnd::Late;
        };
        let run = self.under.swap_remove(at);
        let same = |other: &ActiveRun| other.of == run.of;
        if well {
            self.under.iter().filter(|other| same(other)).for_each(|other| other.cancel.cancel());
            self.under.retain(|other| !same(other));
            return AttemptEnd::First;
        }
        match self.under.iter().any(same) {
            true => AttemptEnd::Left,
            false => AttemptEnd::First,
        }
    }

    /// Stops all runs.
    pub fn stop(&self) {
        self.under.iter().for_each(|run| run.cancel.cancel());
    }
}

/// What the end of a run means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEnd {
    /// Its outcome, or its failure, is that of the portions.
    First,
    /// It failed, and another device is at work with its portions.
    Left,
    /// Another device was faster: what was found here is known.
    Late,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn the_first_to_end_counts_and_stops_the_other() {
        let mut runs = Rivals::default();
        let slow = runs.begin(1, &[4, 5], ms(0));
        // Its own run would take 0.2 s, and 0.4 s have to pass.
        assert!(runs.rival(0, 10.0, ms(390)).is_none());
        assert_eq!(runs.next_rival(0, 10.0), Some(ms(400)));
        let (portions, fast) = runs.rival(0, 10.0, ms(410)).unwrap();
        assert_eq!((portions, fast.rival, slow.rival), (vec![4, 5], true, false));
        assert!(runs.rival(2, 1000.0, ms(5000)).is_none(), "a third does not help");
        assert_eq!(runs.end(&fast, true), AttemptEnd::First);
        assert!(slow.cancel.is_cancelled() && !fast.cancel.is_cancelled());
        assert_eq!(runs.end(&slow, true), AttemptEnd::Late);
    }

    #[test]
    fn a_failure_leaves_the_portions_to_who_has_them_too() {
        let mut runs = Rivals::default();
        let first = runs.begin(1, &[0], ms(0));
        let (_, second) = runs.rival(0, 1e3, ms(200)).unwrap();
        assert_eq!(runs.end(&first, false), AttemptEnd::Left);
        assert!(!second.cancel.is_cancelled());
        assert_eq!(runs.end(&second, false), AttemptEnd::First, "no other member works on them");
        assert!(runs.rival(2, 1e3, ms(900)).is_none());
    }

    #[test]
    fn nobody_takes_over_from_itself_or_at_once() {
        let mut runs = Rivals::default();
        let own = runs.begin(0, &[0], ms(0));
        assert!(runs.rival(0, 1e9, ms(10_000)).is_none());
        assert!(runs.rival(1, 1e9, ms(90)).is_none());
        assert!(runs.rival(1, 0.0, ms(90_000)).is_none(), "not by a device without a speed");
        assert_eq!((runs.next_rival(0, 1e9), runs.next_rival(1, 0.0)), (None, None));
        runs.stop();
        assert!(own.cancel.is_cancelled());
    }
}
