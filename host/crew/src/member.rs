//! A member with a device of this process, at work for a [`Desk`] here or in another process.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gramer_base::context::{Cancel, Context, Progress};
use gramer_base::error::{Error, Result};
use gramer_engine::{Division, Outcome, Peers, PreparedGraph, Query, Run, Sink, Units};
use gramer_graph::Graph;

use crate::deal::Portions;
use crate::desk::Desk;
use crate::order::{Answer, Candidates, Order, Work};

/// Context of the members of this process.
#[derive(Clone, Copy)]
pub struct MemberContext<'a> {
    /// The question.
    pub query: &'a Query,
    /// How it is divided.
    pub division: &'a Division,
    /// The graph.
    pub graph: &'a Graph,
    /// Of a run in shares.
    pub portions: Option<&'a Portions>,
    /// Takes embeddings.
    pub sink: Option<&'a dyn Sink>,
    /// Threads, memory and progress of all members here.
    pub context: &'a Context,
    /// How members share threads.
    pub threads: Threads,
}

/// How members share the threads of a [`MemberContext`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Threads {
    /// All members share the threads; their number at the beginning.
    Shared(usize),
    /// One member has its own threads; the number of threads of all members.
    Own(usize),
}

impl Threads {
    /// Threads of one of these members, and of all.
    fn of(self, context: &Context, members: usize) -> (usize, usize) {
        let own = (context.threads() / members).max(1);
        match self {
            Threads::Shared(_) => (own, own * members),
            Threads::Own(all) => (context.threads(), all),
        }
    }
}

/// The seat of a member at a desk, in this process or reached by messages.
pub trait Seat: Sync {
    /// The next order, once there is one; `None` at the end.
    fn order(&self) -> Option<Order>;

    /// Reports that the order has ended, after this time.
    fn ended(&self, answer: Answer, took: Duration);

    /// The next of all candidates of a phase; an empty range when none are left.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once the attempt is over.
    fn next(&self, attempt: u32, candidates: Candidates) -> Result<Range<usize>>;

    /// Reports this member's results of a phase, and waits for those of all.
    ///
    /// # Errors
    /// As [`Seat::next`].
    fn join(&self, attempt: u32, found: Vec<u8>) -> Result<Vec<Vec<u8>>>;

    /// The progress that the member updates while it works.
    fn meter(&self) -> Arc<Progress>;
}

/// A seat at a desk of this process.
pub struct LocalSeat<'a> {
    /// The desk.
    pub desk: &'a Desk<'a>,
    /// The number of the member.
    pub member: usize,
}

impl Seat for LocalSeat<'_> {
    fn order(&self) -> Option<Order> {
        self.desk.order(self.member)
    }

    fn ended(&self, answer: Answer, took: Duration) {
        self.desk.ended(self.member, answer, took);
    }

    fn next(&self, attempt: u32, candidates: Candidates) -> Result<Range<usize>> {
        self.desk.next((self.member, attempt), candidates)
    }

    fn join(&self, attempt: u32, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.desk.join((self.member, attempt), found)
    }

    fn meter(&self) -> Arc<Progress> {
        self.desk.meter(self.member)
    }
}

/// Works until there are no more orders.
pub fn work(seat: &dyn Seat, prepared: &PreparedGraph, post: &MemberContext<'_>) {
    while let Some(order) = seat.order() {
        let begun = Instant::now();
        let answer = post.answer(seat, prepared, order);
        seat.ended(answer.into(), begun.elapsed());
    }
}

impl MemberContext<'_> {
    fn answer(
        &self,
        seat: &dyn Seat,
        prepared: &PreparedGraph,
        Order { work, cancel }: Order,
    ) -> Result<Outcome> {
        let context = |threads: usize, cancel: Cancel| Context {
            threads,
            cancel,
            progress: seat.meter(),
            ..self.context.clone()
        };
        let division = Some(self.division);
        let outcome = match work {
            Work::Portions(taken) => {
                let members = if let Threads::Shared(members) = self.threads { members } else { 1 };
                let context = context(self.threads.of(self.context, members).0, cancel);
                let share = self.share(&taken)?;
                let (units, sink) = (Units::Share(&share), self.sink);
                prepared.counts(self.query, &Run { units, sink, division, ..Run::new(&context) })
            }
            Work::Phases { attempt, members } => {
                let (own, threads) = self.threads.of(self.context, members);
                let context = context(own, cancel);
                let peers = SeatPeers { seat, attempt, threads };
                let peers = Some(&peers as &dyn Peers);
                prepared.counts(self.query, &Run { peers, division, ..Run::new(&context) })
            }
            Work::Alone => {
                let context = Context { cancel, ..self.context.clone() };
                prepared.counts(self.query, &Run::new(&context))
            }
        }?;
        // Other members may have their own file, which tells them nothing of this one's.
        self.graph.check_unchanged()?;
        Ok(outcome)
    }

    fn share(&self, taken: &[usize]) -> Result<gramer_engine::Share> {
        let all = self.portions.map_or(0, Portions::count);
        match (self.portions, taken.iter().find(|&&portion| portion >= all)) {
            (Some(portions), None) => portions.share(self.graph.view(), taken),
            (_, portion) => Err(Error::Device(format!("there is no portion {portion:?}"))),
        }
    }
}

/// The members of phases, as the engine of one sees them.
struct SeatPeers<'a> {
    seat: &'a dyn Seat,
    attempt: u32,
    threads: usize,
}

impl Peers for SeatPeers<'_> {
    fn threads(&self) -> usize {
        self.threads
    }

    fn next(&self, phase: usize, all: usize) -> Result<Range<usize>> {
        self.seat.next(self.attempt, Candidates { phase, all, part: false })
    }

    fn at_once(&self, phase: usize, all: usize) -> Result<Range<usize>> {
        self.seat.next(self.attempt, Candidates { phase, all, part: true })
    }

    fn join(&self, _phase: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.seat.join(self.attempt, found)
    }
}
