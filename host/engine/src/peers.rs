//! Exchange of results, level by level, among engines that mine one graph in several processes.
//!
//! Minimum-image support is no sum over work units, but its candidates are independent within a level: each
//! process examines some of them, and all get the domains of those that are frequent, from which the next
//! level inherits. A closed form is made of sums, each of which needs the ones before it: a *level* is then one
//! of these sums, a *candidate* a group of the work units over which it goes.

use std::ops::Range;

use gramer_base::error::Result;

/// The processes of a task. All request the same levels in the same order.
pub trait Peers: Sync {
    /// Mining threads of all processes together; the same number for each process.
    fn threads(&self) -> usize;

    /// The next of the `all` candidates of a level for this process, in no other range; an empty one when
    /// none are left. Any of its threads may ask.
    ///
    /// # Errors
    /// [`Interrupted`](gramer_base::Error::Interrupted) once the job stops, and the errors of other processes.
    fn next(&self, level: usize, all: usize) -> Result<Range<usize>>;

    /// The same for a process that examines all candidates of a range in one run, which hardly takes less time for fewer:
    /// its part at once, where those that share the level are alike.
    ///
    /// # Errors
    /// As [`Peers::next`].
    fn at_once(&self, level: usize, all: usize) -> Result<Range<usize>> {
        self.next(level, all)
    }

    /// Reports this process' results of a level, and waits for those of all processes, its own included.
    ///
    /// # Errors
    /// As [`Peers::next`].
    fn join(&self, level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>>;
}
