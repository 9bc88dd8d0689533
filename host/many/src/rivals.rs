//! Runs under way, and runs of the same portions by a device that has nothing else to do.
//!
//! The last portions of a slow device would hold up all: a device that waits takes over what it would have done
//! twice by now. Who ends first counts, once; the other is stopped and what it found is forgotten.

use std::time::Duration;

use gramer_graph::context::Cancel;

/// A wait shorter than this is nobody's concern.
const PATIENCE: Duration = Duration::from_millis(100);
/// So many times as long as the own run would take is another one waited for.
const TIMES: f64 = 2.0;

/// A run of a device.
#[derive(Debug)]
struct Under {
    number: u64,
    taker: usize,
    portions: Vec<usize>,
    since: Duration,
    cancel: Cancel,
    /// The number of the first run of these portions.
    of: u64,
}

/// What has been begun, as its device sees it.
#[derive(Debug)]
pub struct Begun {
    number: u64,
    /// Stops this run.
    pub cancel: Cancel,
    /// Whether another device has these portions, too.
    pub rival: bool,
}

/// All runs under way.
#[derive(Debug, Default)]
pub struct Rivals {
    under: Vec<Under>,
    next: u64,
}

impl Rivals {
    /// A device begins with portions that no other has.
    pub fn begin(&mut self, taker: usize, portions: &[usize], now: Duration) -> Begun {
        let of = self.next;
        self.add(taker, portions.to_vec(), now, of)
    }

    fn add(&mut self, taker: usize, portions: Vec<usize>, since: Duration, of: u64) -> Begun {
        let (number, cancel) = (self.next, Cancel::default());
        self.next += 1;
        self.under.push(Under { number, taker, portions, since, cancel: cancel.clone(), of });
        Begun { number, cancel, rival: of != number }
    }

    /// A device of so many portions per second has nothing to do: it begins with what the device has that is to
    /// be waited for longest, if it would be much faster.
    pub fn rival(&mut self, taker: usize, rate: f64, now: Duration) -> Option<(Vec<usize>, Begun)> {
        let waited = |run: &Under| now.saturating_sub(run.since);
        let slow = |run: &&Under| {
            let own = Duration::try_from_secs_f64(TIMES * run.portions.len() as f64 / rate);
            let twice = self.under.iter().filter(|other| other.of == run.of).count() > 1;
            !twice && run.taker != taker && waited(run) > own.unwrap_or(Duration::MAX).max(PATIENCE)
        };
        let run = self.under.iter().filter(slow).max_by_key(|run| waited(run))?;
        let (portions, of) = (run.portions.clone(), run.of);
        Some((portions.clone(), self.add(taker, portions, now, of)))
    }

    /// A run has ended, well or not: whether it counts, and whether another still has its portions. One that
    /// ended well stops the other.
    pub fn end(&mut self, begun: &Begun, well: bool) -> Ended {
        let Some(at) = self.under.iter().position(|run| run.number == begun.number) else {
            return Ended::Late;
        };
        let run = self.under.swap_remove(at);
        let same = |other: &Under| other.of == run.of;
        if well {
            self.under.iter().filter(|other| same(other)).for_each(|other| other.cancel.cancel());
            self.under.retain(|other| !same(other));
            return Ended::First;
        }
        match self.under.iter().any(same) {
            true => Ended::Left,
            false => Ended::First,
        }
    }

    /// Stops all runs.
    pub fn stop(&self) {
        self.under.iter().for_each(|run| run.cancel.cancel());
    }
}

/// What the end of a run means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
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
        let (portions, fast) = runs.rival(0, 10.0, ms(410)).unwrap();
        assert_eq!((portions, fast.rival, slow.rival), (vec![4, 5], true, false));
        assert!(runs.rival(2, 1000.0, ms(5000)).is_none(), "a third does not help");
        assert_eq!(runs.end(&fast, true), Ended::First);
        assert!(slow.cancel.is_cancelled() && !fast.cancel.is_cancelled());
        assert_eq!(runs.end(&slow, true), Ended::Late);
    }

    #[test]
    fn a_failure_leaves_the_portions_to_who_has_them_too() {
        let mut runs = Rivals::default();
        let first = runs.begin(1, &[0], ms(0));
        let (_, second) = runs.rival(0, 1e3, ms(200)).unwrap();
        assert_eq!(runs.end(&first, false), Ended::Left);
        assert!(!second.cancel.is_cancelled());
        assert_eq!(runs.end(&second, false), Ended::First, "nobody else is at work with them");
        assert!(runs.rival(2, 1e3, ms(900)).is_none());
    }

    #[test]
    fn nobody_takes_over_from_itself_or_at_once() {
        let mut runs = Rivals::default();
        let own = runs.begin(0, &[0], ms(0));
        assert!(runs.rival(0, 1e9, ms(10_000)).is_none());
        assert!(runs.rival(1, 1e9, ms(90)).is_none());
        assert!(runs.rival(1, 0.0, ms(90_000)).is_none(), "not by a device without a speed");
        runs.stop();
        assert!(own.cancel.is_cancelled());
    }
}
