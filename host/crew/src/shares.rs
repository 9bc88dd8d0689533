//! A run in shares, as plain state: which member has which portions.

use std::time::Duration;

use gramer_base::error::Error;

use crate::deal::{Deal, Pace};
use crate::order::{Answer, Turn};
use crate::rivals::{Attempt, AttemptEnd, Rivals};
use crate::speeds::Speeds;

/// Settings of a deal in portions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DealSettings {
    /// Number of portions.
    pub portions: usize,
    /// Whether members are equally fast, so that none repeats the portions of another.
    pub alike: bool,
    /// Whether each member gets its part at once, since each run costs it much.
    pub at_once: bool,
    /// Whether finished portions are kept on disk.
    pub kept: bool,
    /// Whether embeddings are listed. Lines of a list can't be taken back, so that no portion is given out twice.
    pub listed: bool,
}

/// Portions of a member.
#[derive(Debug, Clone)]
pub(crate) struct MemberPortions {
    pub portions: Vec<usize>,
    pub run: Attempt,
}

/// State of a run in shares: the portions of each member.
#[derive(Debug)]
pub(crate) struct Shares {
    dealing: DealSettings,
    deal: Deal,
    paces: Vec<Pace>,
    has: Vec<Option<MemberPortions>>,
    /// Of members that may differ.
    speeds: Option<Speeds>,
    rivals: Rivals,
    /// An answer was incomplete: a limit was reached, or the user wants no more.
    incomplete: bool,
}

impl Shares {
    pub fn new(members: usize, dealing: DealSettings) -> Self {
        let part = dealing.portions.div_ceil(members);
        let pace = || match dealing.at_once {
            true => Pace::of_part(part),
            false => Pace::new(dealing.kept),
        };
        Shares {
            dealing,
            deal: Deal::new(0..dealing.portions, members),
            paces: (0..members).map(|_| pace()).collect(),
            has: vec![None; members],
            speeds: (!dealing.alike).then(|| Speeds::new(members)),
            rivals: Rivals::default(),
            incomplete: false,
        }
    }

    /// The next portions of a member, or those that another one is too slow with.
    pub fn turn(&mut self, member: usize, now: Duration) -> Turn<MemberPortions> {
        let Shares { deal, speeds, rivals, .. } = self;
        let (least, most) = self.paces[member].portions();
        let suits = speeds.as_ref().map(|speeds| speeds.most(member, deal.left(), now));
        let most = most.min(suits.unwrap_or(usize::MAX));
        let portions = deal.take_between((least.min(most), most));
        let has = if !portions.is_empty() {
            let run = rivals.begin(member, &portions, now);
            MemberPortions { portions, run }
        } else if deal.out() == 0 {
            return Turn::Over;
        } else {
            let Some(speeds) = speeds.as_ref().filter(|_| !self.dealing.listed) else {
                return Turn::Later(None);
            };
            let rate = speeds.known(member, now);
            match rivals.rival(member, rate, now) {
                Some((portions, run)) => MemberPortions { portions, run },
                None => return Turn::Later(rivals.next_rival(member, rate)),
            }
        };
        if let Some(speeds) = speeds {
            speeds.begins(member, has.portions.len(), now);
        }
        self.has[member] = Some(has.clone());
        Turn::Now(has)
    }

    /// The run of a member has ended: what it had, and whether its answer counts.
    pub fn ends(
        &mut self,
        member: usize,
        answer: &Answer,
        took: Duration,
        now: Duration,
    ) -> Option<(MemberPortions, AttemptEnd)> {
        let has = self.has[member].take()?;
        let ended = self.rivals.end(&has.run, answer.is_complete());
        if let Some(speeds) = &mut self.speeds {
            let failed = match answer {
                Answer::Found(_) | Answer::Agreed => false,
                Answer::Failed(Error::Interrupted) => ended != AttemptEnd::Late,
                Answer::Failed(_) => true,
            };
            // What was stopped says nothing of a speed.
            speeds.ends(member, now, failed, ended != AttemptEnd::Late);
        }
        if ended != AttemptEnd::Late {
            self.paces[member].took(has.portions.len(), took);
        }
        Some((has, ended))
    }

    /// Portions are finished.
    pub fn done(&mut self, portions: &[usize]) {
        self.deal.done(portions);
    }

    /// A member has found what there is of its portions in part.
    pub fn incomplete(&mut self) {
        self.incomplete = true;
    }

    /// A member takes no more portions; those that no other member has are dealt again.
    pub fn give_back(&mut self, portions: Vec<usize>) {
        self.deal.give_back(portions);
    }

    /// Stops all runs.
    pub fn stop(&self) {
        self.rivals.stop();
    }

    /// Whether all portions are finished.
    pub fn is_finished(&self) -> bool {
        self.deal.left() + self.deal.out() == 0 && !self.incomplete
    }

    /// True if no member has portions or will get any; `ends`: no more are given out.
    pub fn is_over(&self, ends: bool) -> bool {
        self.has.iter().all(Option::is_none) && (ends || self.deal.left() + self.deal.out() == 0)
    }

    /// Number of portions.
    pub fn count(&self) -> usize {
        self.dealing.portions
    }

    /// Portions that are finished, and those of each member.
    pub fn progress(&self) -> (usize, impl Iterator<Item = usize>) {
        let done = self.dealing.portions - self.deal.left() - self.deal.out();
        let of = |has: &Option<MemberPortions>| has.as_ref().map_or(0, |has| has.portions.len());
        (done, self.has.iter().map(of))
    }

    /// Whether a member has portions.
    pub fn owes(&self, member: usize) -> bool {
        self.has[member].is_some()
    }
}
