//! How answers are written: a table for people, JSON for programs, lists of embeddings.

mod json;
mod list;
pub mod per;
mod progress;
pub mod symbols;
mod table;

pub use json::{Counts, json};
pub use list::{ListFormat, ListWriter};
pub use progress::{BuildMeter, Meter};
pub use table::{Drawing, table};

use std::time::Duration;

use gramer_engine::{Estimated, Outcome, Precision};
use gramer_graph::Graph;
use gramer_pattern::task::Task;

/// Why a run ended before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// Ctrl-C.
    Interrupt,
    /// `--limit` was reached.
    Limit,
    /// `--time-limit` was reached.
    TimeLimit,
}

/// Wall time of the phases of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// Reading the graph.
    pub load: Duration,
    /// Rank(ON_1) renumbering; nothing for an image in that order.
    pub prepare: Duration,
    /// The engine.
    pub mine: Duration,
}

/// Everything that a report says.
#[derive(Debug)]
pub struct Report<'a> {
    /// What was asked.
    pub task: &'a Task,
    /// Where the graph came from, as the user wrote it.
    pub source: &'a str,
    /// The graph.
    pub graph: &'a Graph,
    /// The engine that answered.
    pub device: &'a str,
    /// Its threads.
    pub threads: usize,
    /// The answer.
    pub outcome: &'a Outcome,
    /// Why it is incomplete, if it is.
    pub stopped: Option<Stopped>,
    /// Embeddings listed, where a list was asked for.
    pub listed: Option<u64>,
    /// Wall time by phase.
    pub times: Times,
    /// Counts per vertex or edge, where they were asked for and are known.
    pub per: Option<&'a per::PerReport>,
    /// An estimate instead of counts.
    pub estimated: Option<(Precision, &'a Estimated)>,
}

impl Report<'_> {
    /// The sum of the counts; for frequent subgraph mining, the number of patterns reported
    /// (supports don't add up to anything).
    pub fn total(&self) -> u128 {
        match self.task {
            Task::Fsm { .. } => self.outcome.results.len() as u128,
            _ => self.counts().sum(),
        }
    }

    fn counts(&self) -> impl Iterator<Item = u128> + '_ {
        let larger = self.outcome.larger_cliques.iter().map(|&(_, count)| count);
        self.outcome.results.iter().map(|r| r.count).chain(larger)
    }

    /// Whether the run was interrupted before anything was found: its zeros are no answer. Motifs
    /// are counted by equations, which give no number before all of their sums are there.
    pub fn nothing_known(&self) -> bool {
        let early = matches!(self.stopped, Some(Stopped::Interrupt | Stopped::TimeLimit));
        early && self.counts().all(|count| count == 0)
    }

    /// Whether the counts are lower bounds. The supports of the patterns that were found are whole in
    /// any case.
    pub fn lower_bounds(&self) -> bool {
        self.stopped.is_some() && !matches!(self.task, Task::Fsm { .. })
    }

    /// The answer as a page: everything but counts per vertex or edge, and estimates.
    pub fn page(&self) -> String {
        let early = self.stopped.map(|why| match why {
            Stopped::Interrupt => gramer_picture::Stopped::Interrupt,
            Stopped::Limit => gramer_picture::Stopped::Limit,
            Stopped::TimeLimit => gramer_picture::Stopped::TimeLimit,
        });
        let Times { load, prepare, mine } = self.times;
        let answer = gramer_picture::Answer {
            task: self.task,
            source: self.source,
            graph: self.graph,
            device: self.device,
            threads: self.threads,
            outcome: self.outcome,
            stopped: early,
            listed: self.listed,
            times: gramer_picture::Times { load, prepare, mine },
        };
        answer.page()
    }
}
