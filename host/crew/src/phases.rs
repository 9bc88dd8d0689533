//! State of a run in phases: unassigned candidates of a phase, and the members' results.
//!
//! All members ask for the same phases in the same order, and all have the whole answer at the end. Where one fails,
//! its attempt is over for all, and those that are left begin again.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gramer_base::context::Cancel;
use gramer_base::error::{Error, Result};

use crate::order::{Candidates, Turn};

/// A member gets what is left of a phase divided by this and by the number of takers.
const PART: usize = 4;
/// The same of members for which each run costs much, once each has had `FIRST` of the part that would be its own.
const LARGE_PART: usize = 2;
const FIRST: (usize, usize) = (3, 4);

/// Division of the candidates of phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseSettings {
    /// Threads of all members, among which candidates are divided; where it is `None`, each member is one taker.
    pub threads: Option<usize>,
    /// Whether each run costs a member much.
    pub runs_cost: bool,
    /// Whether members are alike: one that examines a whole range in one run has its part at once.
    pub alike: bool,
    /// Whether the remaining members start over when a member is lost. A single member works without phases.
    pub again: bool,
}

/// The candidates of a phase.
#[derive(Debug, Clone, Copy)]
struct Phase {
    all: usize,
    /// The first unassigned candidate.
    first: usize,
    /// How often somebody took some.
    times: usize,
}

/// One attempt of the members that are left.
#[derive(Debug)]
pub(crate) struct Phases {
    phasing: PhaseSettings,
    attempt: u32,
    /// Stops this attempt.
    cancel: Cancel,
    /// Members of this attempt, and which of them have begun and ended.
    there: Vec<bool>,
    begun: Vec<bool>,
    ended: Vec<bool>,
    /// A member of this attempt was lost.
    lost: bool,
    phases: HashMap<usize, Phase>,
    /// Results of each member that has finished the phase.
    found: Vec<Option<Vec<u8>>>,
    /// Phases that all have come to the end of, and what was found of the last one.
    rounds: usize,
    joined: Join,
    /// What was found of all phases up to here, where that is kept. Each member hears the phases of runs before and of lost
    /// attempts again, without any candidates.
    kept: Option<Vec<Join>>,
    /// Phases replayed to each member, of this many.
    heard: Vec<usize>,
    again: usize,
    examined: Vec<usize>,
    candidates: usize,
}

/// What all members have found of a phase.
pub type Join = Arc<Vec<Vec<u8>>>;

/// What a member waits for in an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    attempt: u32,
    round: usize,
}

impl Phases {
    /// With what was found of the first phases, if that is kept.
    pub fn new(members: usize, phasing: PhaseSettings, kept: Option<Vec<Join>>) -> Self {
        let again = kept.as_ref().map_or(0, Vec::len);
        Phases {
            phasing,
            attempt: 0,
            cancel: Cancel::default(),
            there: vec![true; members],
            begun: vec![false; members],
            ended: vec![false; members],
            lost: false,
            phases: HashMap::new(),
            found: vec![None; members],
            rounds: again,
            joined: Arc::default(),
            kept,
            heard: vec![0; members],
            again,
            examined: vec![0; members],
            candidates: 0,
        }
    }

    /// Number of members of this attempt.
    pub fn members(&self) -> usize {
        self.there.iter().filter(|there| **there).count()
    }

    /// What a member does now: its part of the attempt, once.
    pub fn turn(&mut self, member: usize) -> Turn<(u32, Cancel)> {
        match self.begun[member] {
            false => {
                self.begun[member] = true;
                Turn::Now((self.attempt, self.cancel.clone()))
            }
            true if self.is_over() => Turn::Over,
            true => Turn::Later(None),
        }
    }

    /// Stops this attempt.
    pub fn stop(&self) {
        self.cancel.cancel();
    }

    fn check(&self, attempt: u32) -> Result<()> {
        match self.attempt == attempt {
            true => self.cancel.check(),
            false => Err(Error::Interrupted),
        }
    }

    /// The next candidates of a phase for a member, and how many the phase has if it is new.
    pub fn next(
        &mut self,
        (member, attempt): (usize, u32),
        Candidates { phase, all, part }: Candidates,
    ) -> Result<(Range<usize>, bool)> {
        self.check(attempt)?;
        if self.heard[member] < self.again {
            return Ok((all..all, false));
        }
        let (members, PhaseSettings { threads, runs_cost, alike, .. }) =
            (self.members(), self.phasing);
        let new = !self.phases.contains_key(&phase);
        let known = self.phases.entry(phase).or_insert(Phase { all, first: 0, times: 0 });
        if known.all != all {
            return Err(Error::Device(format!(
                "it has {all} candidates of level {phase}, and others {}: its processor or memory has failed, or it \
                 runs another program",
                known.all
            )));
        }
        let (left, times) = (all - known.first, known.times);
        let size = match part {
            true if alike => left.div_ceil(members.saturating_sub(times).max(1)),
            _ if !runs_cost => left.div_ceil(PART * threads.unwrap_or(members)),
            _ if times < members => (all * FIRST.0).div_ceil(FIRST.1 * members).min(left),
            _ => left.div_ceil(LARGE_PART * members),
        };
        let range = known.first..known.first + size;
        (known.first, known.times) = (range.end, times + 1);
        self.examined[member] += size;
        self.candidates += if new { all } else { 0 };
        Ok((range, new))
    }

    /// Takes a member's results of a phase. Once all have arrived, [`Phases::joined`] returns them; the return value
    /// is the part to checkpoint.
    pub fn put(
        &mut self,
        (member, attempt): (usize, u32),
        found: Vec<u8>,
    ) -> Result<(Round, Option<Join>)> {
        self.check(attempt)?;
        if self.heard[member] < self.again {
            let round = self.heard[member];
            self.heard[member] += 1;
            return Ok((Round { attempt, round }, None));
        }
        let round = Round { attempt, round: self.rounds };
        self.found[member] = Some(found);
        if self.found.iter().flatten().count() < self.members() {
            return Ok((round, None));
        }
        self.joined = Arc::new(self.found.iter_mut().filter_map(Option::take).collect());
        self.rounds += 1;
        let joined = self.kept.as_mut().map(|kept| {
            kept.push(Arc::clone(&self.joined));
            Arc::clone(&self.joined)
        });
        Ok((round, joined))
    }

    /// What all have found of a phase; `None` as long as somebody hasn't said it.
    pub fn joined(&self, round: Round) -> Result<Option<Join>> {
        if self.attempt == round.attempt && self.rounds > round.round {
            let kept = self.kept.as_ref().and_then(|kept| kept.get(round.round));
            return Ok(Some(Arc::clone(kept.unwrap_or(&self.joined))));
        }
        self.check(round.attempt).map(|()| None)
    }

    /// A member has come to its end. One that has no whole answer ends the attempt for all.
    pub fn ends(&mut self, member: usize, complete: bool) {
        self.ended[member] = true;
        if !complete {
            self.cancel.cancel();
        }
    }

    /// A member has failed, and is lost if its device has.
    pub fn loses(&mut self, lost: bool) {
        self.lost |= lost;
    }

    /// Whether a member of this attempt was lost, so that it is stopped.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Whether all members of the attempt have come to their end.
    pub fn is_over(&self) -> bool {
        self.there.iter().zip(&self.ended).all(|(there, ended)| !there || *ended)
    }

    /// Whether those that are left begin again when a member is lost.
    pub fn begins_again(&self) -> bool {
        self.phasing.again
    }

    /// Whether those that are left shall begin again now.
    pub fn wants_again(&self) -> bool {
        self.is_over() && self.lost && self.phasing.again
    }

    /// True if one member is left, with no peers.
    pub fn is_alone(&self) -> bool {
        self.phasing.again && self.members() == 1 && self.kept.is_none()
    }

    /// Whether a member hasn't come to its end.
    pub fn owes(&self, member: usize) -> bool {
        self.there[member] && !self.ended[member]
    }

    /// Those that are left begin again.
    pub fn again(&mut self, gone: &[bool]) {
        let (attempt, kept) = (self.attempt + 1, self.kept.take());
        *self = Phases { attempt, ..Phases::new(gone.len(), self.phasing, kept) };
        self.there = gone.iter().map(|gone| !gone).collect();
    }

    /// Share of all candidates that a member was given.
    pub fn examined(&self, member: usize) -> (usize, usize) {
        (self.examined[member], self.candidates)
    }

    /// Whether candidates were given out.
    pub fn has_candidates(&self) -> bool {
        !self.phases.is_empty()
    }
}
