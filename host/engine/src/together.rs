//! What engines in several processes that mine one graph tell each other, level by level.
//!
//! Minimum-image support is no sum over work units, but its candidates are independent within a level: each
//! process examines some of them, and all get the domains of those that are frequent, from which the next
//! level inherits. A closed form is made of sums, each of which needs the ones before it: a *level* is then one
//! of these sums, a *candidate* a group of the work units over which it goes.

use std::ops::Range;

use gramer_graph::error::Result;

/// The processes of a task. All ask for the same levels in the same order.
pub trait Together: Sync {
    /// Threads that mine, of all processes together; all are told the same number.
    fn threads(&self) -> usize;

    /// The next of the `all` candidates of a level for this process, in no other range; an empty one when
    /// none are left. Any of its threads may ask.
    ///
    /// # Errors
    /// [`Interrupted`](gramer_graph::Error::Interrupted) once the job stops, and what is wrong with other
    /// processes.
    fn next(&self, level: usize, all: usize) -> Result<Range<usize>>;

    /// The same for a process that examines all candidates of a range in one run, which hardly takes less time for fewer:
    /// its part at once, where those that share the level are alike.
    ///
    /// # Errors
    /// As [`Together::next`].
    fn at_once(&self, level: usize, all: usize) -> Result<Range<usize>> {
        self.next(level, all)
    }

    /// Says what this process has found of a level, and waits for what each has, itself among them.
    ///
    /// # Errors
    /// As [`Together::next`].
    fn join(&self, level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>>;
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::HashMap;
    use std::sync::{Barrier, Mutex};

    use super::*;

    /// Threads as processes.
    pub(crate) struct Threads {
        count: usize,
        barrier: Barrier,
        next: Mutex<HashMap<usize, usize>>,
        found: Mutex<Vec<Vec<u8>>>,
    }

    impl Threads {
        pub(crate) fn new(count: usize) -> Self {
            let barrier = Barrier::new(count);
            Threads { count, barrier, next: Mutex::default(), found: Mutex::default() }
        }
    }

    /// The only process, which notes by level how many bytes it tells.
    #[derive(Default)]
    pub(crate) struct Told {
        next: Mutex<HashMap<usize, usize>>,
        pub(crate) bytes: Mutex<Vec<usize>>,
    }

    impl Together for Told {
        fn threads(&self) -> usize {
            1
        }

        fn next(&self, level: usize, all: usize) -> Result<Range<usize>> {
            let first = self.next.lock().unwrap().insert(level, all).unwrap_or(0);
            Ok(first..all)
        }

        fn join(&self, _level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
            self.bytes.lock().unwrap().push(found.len());
            Ok(vec![found])
        }
    }

    impl Together for Threads {
        fn threads(&self) -> usize {
            self.count
        }

        fn next(&self, level: usize, all: usize) -> Result<Range<usize>> {
            let mut next = self.next.lock().unwrap();
            let at = next.entry(level).or_default();
            let range = *at..(*at + 3).min(all).max(*at);
            *at = range.end;
            Ok(range)
        }

        fn join(&self, _level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
            self.found.lock().unwrap().push(found);
            self.barrier.wait();
            let all = self.found.lock().unwrap().clone();
            self.barrier.wait();
            self.found.lock().unwrap().clear();
            self.barrier.wait();
            Ok(all)
        }
    }
}
