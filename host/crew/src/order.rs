//! What members and their [`Desk`](crate::desk::Desk) tell each other.

use std::time::Duration;

use gramer_base::context::{Cancel, Progress};
use gramer_base::error::{Error, Result};
use gramer_engine::metrics::DeviceMetrics;
use gramer_engine::{Outcome, Query};
use gramer_graph::Graph;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;

/// What all members work at.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// The question.
    pub query: &'a Query,
    /// The graph.
    pub graph: &'a Graph,
    /// Where finished portions are kept.
    pub kept: Option<&'a Checkpoint>,
    /// What messages call each member.
    pub names: &'a [String],
    /// What messages call several: `devices`, `ranks`.
    pub several: &'static str,
    /// Shows how far the run is.
    pub progress: &'a Progress,
}

/// What a member is to do.
#[derive(Debug, Clone)]
pub struct Order {
    /// Its work.
    pub work: Work,
    /// Stops it.
    pub cancel: Cancel,
}

/// The work of an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Work {
    /// The units of these portions.
    Portions(Vec<usize>),
    /// The whole question, together with others.
    Phases {
        /// Attempts never mix.
        attempt: u32,
        /// How many take part.
        members: usize,
    },
    /// The whole question, without others.
    Alone,
}

/// The answer to a member's request for an order.
#[derive(Debug)]
pub enum Turn<T> {
    /// This.
    Now(T),
    /// Nothing yet: at this time since the beginning, or once another member has ended something, it asks again.
    Later(Option<Duration>),
    /// No further work.
    Over,
}

/// How an order has ended.
#[derive(Debug)]
pub enum Answer {
    /// With this.
    Found(Box<Outcome>),
    /// With the complete results of all members of the phases.
    Agreed,
    /// Not at all.
    Failed(Error),
}

impl Answer {
    /// Whether it is whole.
    pub fn is_complete(&self) -> bool {
        match self {
            Answer::Found(outcome) => outcome.complete,
            Answer::Agreed => true,
            Answer::Failed(_) => false,
        }
    }
}

impl From<Result<Outcome>> for Answer {
    fn from(answer: Result<Outcome>) -> Self {
        answer.map_or_else(Answer::Failed, |outcome| Answer::Found(Box::new(outcome)))
    }
}

/// Candidates of a phase that a member requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidates {
    /// The phase.
    pub phase: usize,
    /// How many it has.
    pub all: usize,
    /// Whether the member wants its part at once, since it examines a range in one run.
    pub part: bool,
}

/// Record of a member at the end.
#[derive(Debug, Default)]
pub struct Record {
    /// What it found, merged; none if it found nothing, or if that is kept.
    pub outcome: Option<Outcome>,
    /// What its devices measured.
    pub devices: Vec<DeviceMetrics>,
    /// How long it was at work, and how long of that it waited for others.
    pub busy: Duration,
    /// See there.
    pub waited: Duration,
    /// Orders that it has ended.
    pub runs: u64,
    /// Share of all portions that it has finished, or of all candidates that it was given.
    pub part: (usize, usize),
    /// Whether it did all the work alone; its devices are then in the outcome.
    pub alone: bool,
}

/// What a member says, with its name.
pub fn named(name: &str, error: Error) -> Error {
    match error {
        Error::Unsupported(what) if !what.starts_with(name) => {
            Error::Unsupported(format!("{name}: {what}"))
        }
        Error::Usage(what) if !what.starts_with(name) => Error::Usage(format!("{name}: {what}")),
        Error::Device(what) if !what.starts_with(name) => Error::Device(format!("{name}: {what}")),
        other => other,
    }
}
