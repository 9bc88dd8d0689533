//! The dealer of a run, as plain state behind a lock: no input, no output, no threads.
//!
//! Members (devices of this process, or other processes, for each of which a thread here speaks) ask for an
//! [`Order`], say how it [`ended`](Desk::ended), and ask for the next one until there is none. A run goes by shares,
//! whose answers add up, or by phases: each member examines some candidates, and all get the results of each.
//! A member waits in [`Desk::order`] and [`Desk::join`]; who speaks for several members and must not wait has
//! [`Desk::turn`], [`Desk::put`] and [`Desk::joined`].

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gramer_base::context::Progress;
use gramer_base::error::{Error, Result};
use gramer_engine::Outcome;
use tracing::{info, warn};

use crate::answer;
use crate::checkpoint::Checkpoint;
use crate::order::{Answer, Candidates, Job, Order, Record, Turn, Work, named};
use crate::phases::{Join, PhaseSettings, Phases, Round};
use crate::rivals::AttemptEnd;
use crate::shares::{DealSettings, Shares};

#[derive(Debug)]
enum DealMode {
    Shares(Shares),
    Phases(Phases),
}

#[derive(Debug)]
struct State {
    way: DealMode,
    /// Lost members.
    gone: Vec<bool>,
    /// Why they are.
    warnings: Vec<String>,
    loss: Option<Error>,
    /// Why the run ends without an answer.
    error: Option<Error>,
    stopped: bool,
    changes: u64,
}

/// The dealer of a run.
pub struct Desk<'a> {
    job: Job<'a>,
    state: Mutex<State>,
    /// Signals that a member may get an order, or that the results it waits for are complete.
    changed: Condvar,
    begun: Instant,
    records: Vec<Mutex<Record>>,
    meters: Vec<Arc<Progress>>,
    /// Units of work reported as done.
    shown: AtomicU64,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Desk<'a> {
    /// Units of progress of each portion: a member may have its whole part at once.
    const UNITS: u64 = 1024;

    /// For a run in shares.
    pub fn shares(job: Job<'a>, dealing: DealSettings) -> Self {
        let members = job.names.len();
        info!(members, portions = dealing.portions, "the work is dealt out");
        job.progress.begin(dealing.portions as u64 * Self::UNITS);
        Self::new(job, DealMode::Shares(Shares::new(members, dealing)))
    }

    /// For a run in phases. Phases in the checkpoint are not repeated.
    pub fn phases(job: Job<'a>, phasing: PhaseSettings) -> Self {
        let (members, kept) = (job.names.len(), job.kept.map(Checkpoint::joins));
        Self::new(job, DealMode::Phases(Phases::new(members, phasing, kept)))
    }

    fn new(job: Job<'a>, way: DealMode) -> Self {
        let members = job.names.len();
        let (warnings, gone) = (vec![], vec![false; members]);
        let state =
            State { way, gone, warnings, loss: None, error: None, stopped: false, changes: 0 };
        Desk {
            job,
            state: Mutex::new(state),
            changed: Condvar::new(),
            begun: Instant::now(),
            records: (0..members).map(|_| Mutex::default()).collect(),
            meters: (0..members).map(|_| Arc::default()).collect(),
            shown: AtomicU64::new(0),
        }
    }

    /// Stops all orders and gives out no further ones.
    pub fn stop(&self) {
        self.stop_in(&mut lock(&self.state));
    }

    fn stop_in(&self, state: &mut State) {
        state.stopped = true;
        match &state.way {
            DealMode::Shares(shares) => shares.stop(),
            DealMode::Phases(phases) => phases.stop(),
        }
        self.change(state);
    }

    /// The meter of a member, which it fills while it works.
    pub fn meter(&self, member: usize) -> Arc<Progress> {
        Arc::clone(&self.meters[member])
    }

    /// The next order of a member; it waits for none.
    pub fn turn(&self, member: usize) -> Turn<Order> {
        self.turn_in(&mut lock(&self.state), member)
    }

    fn turn_in(&self, state: &mut State, member: usize) -> Turn<Order> {
        if state.gone[member] || state.error.is_some() {
            return Turn::Over;
        }
        let turn = match &mut state.way {
            DealMode::Shares(_) if state.stopped => Turn::Over,
            DealMode::Shares(shares) => match shares.turn(member, self.begun.elapsed()) {
                Turn::Now(has) => {
                    Turn::Now(Order { work: Work::Portions(has.portions), cancel: has.run.cancel })
                }
                Turn::Later(until) => Turn::Later(until),
                Turn::Over => Turn::Over,
            },
            DealMode::Phases(phases) => match phases.turn(member) {
                Turn::Now((attempt, cancel)) => {
                    let work = match phases.is_alone() {
                        true => Work::Alone,
                        false => Work::Phases { attempt, members: phases.members() },
                    };
                    Turn::Now(Order { work, cancel })
                }
                Turn::Later(_) if state.stopped => Turn::Over,
                Turn::Later(until) => Turn::Later(until),
                Turn::Over => Turn::Over,
            },
        };
        if let Turn::Now(_) = turn {
            self.meters[member].begin(0);
        }
        turn
    }

    /// The next order of a member, once there is one; `None` at the end.
    pub fn order(&self, member: usize) -> Option<Order> {
        let mut state = lock(&self.state);
        loop {
            match self.turn_in(&mut state, member) {
                Turn::Now(order) => return Some(order),
                Turn::Over => return None,
                Turn::Later(None) => {
                    state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                Turn::Later(Some(until)) => {
                    // Just after, since what is as long as allowed is no longer.
                    let time =
                        until.saturating_sub(self.begun.elapsed()) + Duration::from_micros(50);
                    let waited = self.changed.wait_timeout(state, time);
                    state = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    /// Waits for the next change, at most for this time; `seen` counts changes, at first 0.
    pub fn wait(&self, seen: &mut u64, most: Duration) {
        let state = lock(&self.state);
        let waited = self.changed.wait_timeout_while(state, most, |state| state.changes == *seen);
        *seen = waited.unwrap_or_else(PoisonError::into_inner).0.changes;
    }

    fn change(&self, state: &mut State) {
        state.changes += 1;
        self.changed.notify_all();
    }

    /// Records that a member's order has ended, after this time. A member that fails without an order is lost, too.
    pub fn ended(&self, member: usize, answer: Answer, took: Duration) {
        let mut state = lock(&self.state);
        match &mut state.way {
            DealMode::Phases(phases) => {
                phases.ends(member, answer.is_complete());
                self.took(member, took);
                self.phases_ended(&mut state, member, answer);
            }
            DealMode::Shares(shares) => {
                match shares.ends(member, &answer, took, self.begun.elapsed()) {
                    Some((has, ended)) => {
                        drop(state);
                        self.took(member, took);
                        let whole = self.merge(member, answer, ended);
                        state = lock(&self.state);
                        self.portions_ended(&mut state, member, (has.portions, ended), whole);
                    }
                    None => {
                        if let Answer::Failed(error) = answer {
                            shares.give_back(vec![]);
                            self.fails(&mut state, member, error);
                        }
                    }
                }
            }
        }
        self.change(&mut state);
    }

    fn took(&self, member: usize, took: Duration) {
        let mut record = lock(&self.records[member]);
        record.busy += took;
        record.runs += 1;
    }

    /// Adds what a member found in portions: whether that is whole.
    fn merge(&self, member: usize, answer: Answer, ended: AttemptEnd) -> Result<bool> {
        let mut outcome = match answer {
            Answer::Found(outcome) => *outcome,
            Answer::Agreed => return Ok(true),
            Answer::Failed(error) => return Err(error),
        };
        let mut record = lock(&self.records[member]);
        answer::take_devices(&mut record.devices, &mut outcome);
        let complete = outcome.complete;
        // Members with the same portions count, with whole or partial results.
        if ended == AttemptEnd::First {
            answer::add(&mut record.outcome, outcome, &self.job)?;
        }
        Ok(complete)
    }

    fn portions_ended(
        &self,
        state: &mut State,
        member: usize,
        (portions, ended): (Vec<usize>, AttemptEnd),
        whole: Result<bool>,
    ) {
        let DealMode::Shares(shares) = &mut state.way else { return };
        match whole {
            // Stopped, in either form.
            Ok(_) | Err(Error::Interrupted) if ended == AttemptEnd::Late => {}
            Ok(true) => {
                shares.done(&portions);
                lock(&self.records[member]).part.0 += portions.len();
            }
            // A limit was reached, or the user wants no more.
            Ok(false) => {
                shares.incomplete();
                self.stop_in(state);
            }
            Err(error) => {
                shares.give_back(if ended == AttemptEnd::First { portions } else { vec![] });
                self.fails(state, member, error);
            }
        }
    }

    fn phases_ended(&self, state: &mut State, member: usize, answer: Answer) {
        let settled = state.error.is_some();
        let DealMode::Phases(phases) = &mut state.way else { return };
        match answer {
            Answer::Found(mut outcome) => {
                let mut record = lock(&self.records[member]);
                record.alone = phases.is_alone();
                if !record.alone {
                    answer::take_devices(&mut record.devices, &mut outcome);
                }
                record.outcome = Some(*outcome);
            }
            Answer::Agreed => {}
            // Another one has ended the attempt.
            Answer::Failed(Error::Interrupted) if settled || phases.is_lost() && !state.stopped => {
            }
            Answer::Failed(error) => {
                phases.loses(matches!(error, Error::Device(_)));
                self.fails(state, member, error);
            }
        }
        let DealMode::Phases(phases) = &mut state.way else { return };
        if !phases.wants_again() || state.stopped || state.error.is_some() {
            return;
        }
        if state.gone.iter().all(|gone| *gone) {
            state.error = state.loss.take();
            return;
        }
        phases.again(&state.gone);
        self.records.iter().for_each(|record| *lock(record) = Record::default());
    }

    /// A member has failed: where a device has, others do its work.
    fn fails(&self, state: &mut State, member: usize, error: Error) {
        let (name, several) = (&self.job.names[member], self.job.several);
        let error = named(name, error);
        warn!(member = name, %error, "a member has failed and gets no more work");
        // What a device doesn't do it says again for another question.
        state.gone[member] = matches!(error, Error::Device(_));
        let replaced = match &state.way {
            // The list already has lines of the failed portion, which cannot be removed.
            DealMode::Shares(_) => !self.job.query.list,
            DealMode::Phases(phases) => phases.begins_again(),
        };
        if state.gone[member] && replaced {
            state.warnings.push(format!("{error}; the other {several} did its work"));
            state.loss = Some(error);
            return;
        }
        if !matches!(state.error, Some(ref known) if !matches!(known, Error::Interrupted)) {
            state.error = Some(error);
        }
        self.stop_in(state);
    }

    /// The next of all candidates of a phase for a member; an empty range when none are left.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once the attempt is over, and [`Error::Device`] for a member that has other candidates.
    pub fn next(
        &self,
        (member, attempt): (usize, u32),
        candidates: Candidates,
    ) -> Result<Range<usize>> {
        let mut state = lock(&self.state);
        let DealMode::Phases(phases) = &mut state.way else { return Err(Error::Interrupted) };
        let (range, new) = phases.next((member, attempt), candidates)?;
        if new {
            self.job.progress.begin(candidates.all as u64);
        }
        self.job.progress.add(range.len() as u64);
        Ok(range)
    }

    /// Takes a member's results of a phase, and waits for those of all.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once the attempt is over.
    pub fn join(&self, member: (usize, u32), found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        let begun = Instant::now();
        let round = self.put(member, found)?;
        let mut state = lock(&self.state);
        let joined = loop {
            let DealMode::Phases(phases) = &state.way else { return Err(Error::Interrupted) };
            if let Some(joined) = phases.joined(round)? {
                break joined;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        let mut record = lock(&self.records[member.0]);
        record.waited += begun.elapsed();
        Ok(joined.to_vec())
    }

    /// Takes a member's results of a phase; [`Desk::joined`] has those of all.
    ///
    /// # Errors
    /// As [`Desk::join`].
    pub fn put(&self, member: (usize, u32), found: Vec<u8>) -> Result<Round> {
        let mut state = lock(&self.state);
        let DealMode::Phases(phases) = &mut state.way else { return Err(Error::Interrupted) };
        let (round, joined) = phases.put(member, found)?;
        self.change(&mut state);
        drop(state);
        // The last member of a phase writes before it begins the next one, so that they stay in order.
        if let (Some(kept), Some(joined)) = (self.job.kept, joined) {
            kept.join(joined)?;
        }
        Ok(round)
    }

    /// What all members have found of a phase; `None` as long as somebody hasn't said it.
    ///
    /// # Errors
    /// As [`Desk::join`].
    pub fn joined(&self, round: Round) -> Result<Option<Join>> {
        match &lock(&self.state).way {
            DealMode::Phases(phases) => phases.joined(round),
            DealMode::Shares(_) => Err(Error::Interrupted),
        }
    }

    /// True if no member has an order or will get one.
    pub fn is_over(&self) -> bool {
        let state = lock(&self.state);
        let ends = state.stopped || state.error.is_some() || state.gone.iter().all(|gone| *gone);
        match &state.way {
            DealMode::Shares(shares) => shares.is_over(ends),
            DealMode::Phases(phases) => phases.is_over(),
        }
    }

    /// Whether the run works in phases.
    pub fn in_phases(&self) -> bool {
        matches!(lock(&self.state).way, DealMode::Phases(_))
    }

    /// Whether a member has to end something.
    pub fn owes(&self, member: usize) -> bool {
        match &lock(&self.state).way {
            DealMode::Shares(shares) => shares.owes(member),
            DealMode::Phases(phases) => phases.owes(member),
        }
    }

    /// The members that have failed.
    pub fn lost(&self) -> Vec<bool> {
        lock(&self.state).gone.clone()
    }

    /// Whether a member has failed so that the run has no answer.
    pub fn has_failed(&self) -> bool {
        lock(&self.state).error.is_some()
    }

    /// Whether no more orders are given out.
    pub fn is_stopped(&self) -> bool {
        lock(&self.state).stopped
    }

    /// Shows what was done since; never less, though members begin again with each phase.
    pub fn show(&self) {
        let state = lock(&self.state);
        let meters = self.meters.iter().map(|meter| meter.get());
        match &state.way {
            DealMode::Shares(shares) => {
                let (done, present) = shares.progress();
                let mut units = done as u64 * Self::UNITS;
                for (portions, (part, whole)) in present.zip(meters) {
                    let part = part.min(whole) as f64 / whole.max(1) as f64;
                    units += (part * (portions as u64 * Self::UNITS) as f64) as u64;
                }
                let before = self.shown.fetch_max(units, Ordering::Relaxed);
                self.job.progress.add(units.saturating_sub(before));
            }
            // Candidates are counted as they are given out. Without any each member knows how far it is.
            DealMode::Phases(phases) if !phases.has_candidates() && !phases.is_alone() => {
                let (done, total) = meters.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                self.job.progress.begin(total);
                self.job.progress.add(done);
            }
            DealMode::Phases(_) => {}
        }
    }

    /// The answer of all members, and a record of each.
    ///
    /// # Errors
    /// Those of members; that of a lost device only if no other did its work.
    pub fn close(self) -> Result<(Outcome, Vec<Record>)> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = state.error {
            return Err(error);
        }
        let inner =
            |record: Mutex<Record>| record.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut records: Vec<Record> = self.records.into_iter().map(inner).collect();
        let found: Vec<Outcome> = records.iter_mut().filter_map(|r| r.outcome.take()).collect();
        let mut outcome = match &state.way {
            DealMode::Shares(shares) => {
                records.iter_mut().for_each(|record| record.part.1 = shares.count());
                let finished = shares.is_finished();
                match state.loss {
                    Some(loss) if !finished && !state.stopped => return Err(loss),
                    _ => answer::of_shares(found, finished, &self.job)?,
                }
            }
            DealMode::Phases(phases) => {
                let examined = |(member, record): (usize, &mut Record)| {
                    record.part = phases.examined(member);
                };
                records.iter_mut().enumerate().for_each(examined);
                answer::of_phases(found, &records)?
            }
        };
        answer::warn(&mut outcome, state.warnings);
        Ok((outcome, records))
    }
}
