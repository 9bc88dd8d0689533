//! Which strategy counts a match: `plan` begins, and what takes long is tried by `table` as well.
//!
//! Neither is the faster one everywhere, and the sizes of graph and pattern do not predict the faster one:
//! it depends on how much the lists that embeddings share are worth to `table`, and how evenly the work
//! lies to `plan`. So both count a sample of the roots, and the faster one counts all of them. Where that
//! is `plan`, it goes on where it was.
//!
//! One kind needs no sample: four vertices that have two neighbours and more each, on a graph of many edges
//! ([`MANY_EDGES`]). `table` was faster with all of these that were measured (docs/results/bench/strategies.md).

use std::cell::RefCell;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Count, Outcome};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Task};

use super::on_device::{Part, ResidentGraph};
use crate::graph::Numbering;
use crate::picked::RootSelection;
use crate::plan::PlanWords;
use crate::search::{Order, Rival};

/// The sample has one of this many roots.
const EACH: usize = 64;
/// Parts of the sample that `table` counts: after each it is seen whether it takes too long.
const PARTS: usize = 4;

/// From this many edges on `table` counts closed patterns of four vertices at once: the graphs that were measured have
/// twice as many and more.
const MANY_EDGES: usize = 1 << 18;

/// Whether `table` counts a pattern faster on a graph of this many edges, without a sample.
fn is_known(pattern: &Pattern, edges: usize) -> bool {
    let closed = |v: usize| pattern.neighbours(v).count_ones() >= 2;
    edges >= MANY_EDGES && pattern.vertices() == 4 && (0..4).all(closed)
}

/// Conditions for trying a match, started with `plan`, with `table`, and the minimum gain; answers don't depend
/// on them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// Time that `plan` searches before a trial.
    pub after: Duration,
    /// Minimum ratio of remaining to finished work.
    pub left: f64,
    /// `table` must be this many times as fast on the sample.
    pub gain: f64,
}

impl Default for Trial {
    /// Work of less than a fifth of a second does not justify a sample and a second copy of the graph.
    fn default() -> Self {
        Trial { after: Duration::from_millis(20), left: 8.0, gain: 1.25 }
    }
}

impl Trial {
    /// Whether it is time, after `spent` seconds for this many of all tasks.
    pub(crate) fn is_due(&self, spent: f64, done: u32, all: usize) -> bool {
        let done = f64::from(done);
        spent >= self.after.as_secs_f64() && all as f64 - done >= self.left * done
    }
}

/// Result of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TrialResult {
    /// Roots of the sample.
    roots: usize,
    /// Seconds for them by `plan`, and by `table`, at least if it was stopped.
    plan: f64,
    table: f64,
    pub(super) by_table: bool,
}

impl TrialResult {
    fn new(roots: usize, plan: f64, table: f64, trial: Trial) -> Self {
        TrialResult { roots, plan, table, by_table: table * trial.gain < plan }
    }

    /// Result without a sample.
    const KNOWN: TrialResult = TrialResult { roots: 0, plan: 0.0, table: 0.0, by_table: true };

    /// The choice with its reason.
    fn reason(&self) -> String {
        if self.roots == 0 {
            return "table: four vertices without ends, on a graph of many edges".into();
        }
        let TrialResult { roots, plan, table, by_table } = *self;
        let (plan, table) = (1e3 * plan, 1e3 * table);
        match by_table {
            true => format!("table: {roots} roots took it {table:.1} ms, and plan {plan:.1} ms"),
            false => {
                format!("plan: {roots} roots took it {plan:.1} ms, and table {table:.1} ms or more")
            }
        }
    }

    pub(super) fn report(&self, metrics: &mut DeviceMetrics) {
        metrics.detail("run.strategy", "", Value::Text(self.reason()));
        if self.roots == 0 {
            return;
        }
        metrics.detail("trial.roots", "", Value::Count(self.roots as u64));
        metrics.detail("trial.plan", "s", Value::Seconds(self.plan));
        metrics.detail("trial.table", "s", Value::Seconds(self.table));
    }
}

/// A pattern as it was requested, with how it is counted.
pub(super) type TrialRecord = (Pattern, Induced, bool, TrialResult);

impl ResidentGraph {
    /// When a match is tried by both strategies, if either may count it.
    fn trial(&self) -> Option<Trial> {
        let steps = self.gpu.steps();
        let either = self.gpu.settings().strategy.is_none()
            && self.numbering == Numbering::Degree
            && !steps.signatures
            && steps.order == Order::Cost;
        let portable = self.resident.device.limits.portable;
        let usual = || (!portable).then(Trial::default);
        self.gpu.settings().trial.or_else(usual).filter(|_| either)
    }

    /// Counts a match, and hands it on where that is requested; in the way that is faster, once that is known.
    /// What `table` did goes to `metrics`.
    pub(super) fn counted(
        &self,
        (pattern, induced, mappings): (&Pattern, Induced, bool),
        part: Part<'_>,
        metrics: &mut DeviceMetrics,
        context: &Context,
    ) -> Result<(Outcome, Option<TrialResult>)> {
        let share = part.share;
        let Some(trial) = self.trial().filter(|_| part.sink.is_none()) else {
            let (count, complete) = self.matches(pattern, induced, mappings, part, context)?;
            return Ok((Outcome::new(vec![count], complete), None));
        };
        let known = self.known(pattern, induced, mappings);
        let found = RefCell::new((known, metrics));
        let mut ask = |words: &PlanWords| {
            let (tried, metrics) = &mut *found.borrow_mut();
            if tried.is_none() {
                *tried = self.tried((pattern, induced, mappings), trial, words, share, context)?;
            }
            match tried.filter(|tried| tried.by_table) {
                None => {
                    self.table.release();
                    Ok(None)
                }
                Some(_) => {
                    let answer = self.by_table(words, share, metrics, context)?;
                    // Without room for it any more, what was found is of no use.
                    *tried = tried.filter(|_| answer.is_some());
                    Ok(answer)
                }
            }
        };
        let rival = match known {
            // The sample said that it isn't worth another look.
            Some(tried) if !tried.by_table => None,
            Some(_) => Some(Rival { trial: None, ask: &mut ask }),
            None => Some(Rival { trial: Some(trial), ask: &mut ask }),
        };
        let (count, complete) =
            self.matches_or(pattern, induced, mappings, part, rival, context)?;
        let tried = found.into_inner().0;
        if let (Some(tried), None) = (tried, known) {
            let decided = (pattern.clone(), induced, mappings, tried);
            self.decided.lock().unwrap_or_else(PoisonError::into_inner).push(decided);
        }
        Ok((Outcome::new(vec![count], complete), tried))
    }

    /// Frees the device memory of the strategy `table`, unless this task uses it.
    pub(super) fn make_room(&self, task: &Task) {
        let stays = match task {
            Task::Match { pattern, induced, mappings } => {
                self.known(pattern, *induced, mappings.is_some())
            }
            _ => None,
        };
        if !stays.is_some_and(|tried| tried.by_table) {
            self.table.release();
        }
    }

    /// Returns the result of an earlier count of this match.
    fn known(&self, pattern: &Pattern, induced: Induced, mappings: bool) -> Option<TrialResult> {
        let decided = self.decided.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |d: &&TrialRecord| d.0 == *pattern && (d.1, d.2) == (induced, mappings);
        // A trial that was requested takes place.
        let usual = self.gpu.settings().trial.is_none() && !self.resident.device.limits.portable;
        let known =
            || (usual && is_known(pattern, self.graph.edges())).then_some(TrialResult::KNOWN);
        decided.iter().find(same).map(|d| d.3).or_else(known)
    }

    /// All roots, or those of a share.
    fn roots_of(&self, share: Option<&RootSelection>) -> Vec<u32> {
        match share {
            Some(share) => share.roots.clone(),
            None => (0..self.resident.by.vertices() as u32).collect(),
        }
    }

    fn by_table(
        &self,
        words: &PlanWords,
        share: Option<&RootSelection>,
        metrics: &mut DeviceMetrics,
        context: &Context,
    ) -> Result<Option<(u128, bool)>> {
        if !self.table.make_ready(words, context)? {
            return Ok(None);
        }
        self.table.matches_of(words, &self.roots_of(share), context, metrics).map(Some)
    }

    /// Counts a sample in both ways; `None` where there is no room for that, nothing to sample, or the run
    /// was asked to stop.
    fn tried(
        &self,
        (pattern, induced, mappings): (&Pattern, Induced, bool),
        trial: Trial,
        words: &PlanWords,
        share: Option<&RootSelection>,
        context: &Context,
    ) -> Result<Option<TrialResult>> {
        // Numbers ascend by degree, so that every degree has its part.
        let roots: Vec<u32> =
            self.roots_of(share).into_iter().skip(EACH / 2).step_by(EACH).collect();
        if roots.is_empty() {
            return Ok(None);
        }
        // The meter shows the run that this is a part of.
        let context = &Context { progress: Default::default(), ..context.clone() };
        let picked = RootSelection { roots, first: false };
        let begun = Instant::now();
        let part = Part { share: Some(&picked), sink: None };
        let (right, complete) = self.matches_or(pattern, induced, mappings, part, None, context)?;
        let plan = begun.elapsed().as_secs_f64();
        // Only now: tables take what memory there is.
        if !complete || !self.table.make_ready(words, context)? {
            return Ok(None);
        }
        let (begun, mut count) = (Instant::now(), 0);
        for part in 0..PARTS {
            let roots: Vec<u32> = picked.roots.iter().skip(part).step_by(PARTS).copied().collect();
            if roots.is_empty() {
                continue;
            }
            let mut own = DeviceMetrics::default();
            let (found, complete) = self.table.matches_of(words, &roots, context, &mut own)?;
            if !complete {
                return Ok(None);
            }
            count += found;
            let table = begun.elapsed().as_secs_f64();
            if part + 1 < PARTS && table * trial.gain >= plan {
                return Ok(Some(TrialResult::new(picked.roots.len(), plan, table, trial)));
            }
        }
        let table = begun.elapsed().as_secs_f64();
        agreed(count, right)?;
        Ok(Some(TrialResult::new(picked.roots.len(), plan, table, trial)))
    }
}

/// Both ways are exact.
fn agreed(table: u128, plan: Count) -> Result<()> {
    if table == plan.count {
        return Ok(());
    }
    Err(Error::Device(format!(
        "the strategies table and plan counted a sample differently ({table} and {}): this is a \
         fault of this program or of the driver; use the engine `cpu`",
        plan.count
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_done_is_not_tried() {
        let trial = Trial::default();
        assert!(!trial.is_due(0.019, 1, 1000));
        assert!(trial.is_due(0.021, 100, 1000));
        assert!(!trial.is_due(0.021, 200, 1000));
        assert!(trial.is_due(9.0, 0, 1));
    }

    #[test]
    fn a_table_must_gain_something() {
        let tried = |plan, table| TrialResult::new(10, plan, table, Trial::default());
        assert!(tried(0.010, 0.007).by_table);
        assert!(!tried(0.010, 0.009).by_table);
        assert!(tried(0.010, 0.007).reason().starts_with("table: 10 roots took it 7.0 ms"));
        assert!(tried(0.010, 0.009).reason().starts_with("plan: 10 roots took it 10.0 ms"));
    }

    #[test]
    fn closed_patterns_of_four_vertices_need_no_sample() {
        let cycle = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let tailed = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]);
        assert!(is_known(&cycle, MANY_EDGES) && !is_known(&cycle, MANY_EDGES - 1));
        assert!(is_known(&Pattern::clique(4), MANY_EDGES));
        assert!(!is_known(&tailed, usize::MAX) && !is_known(&Pattern::clique(5), usize::MAX));
    }

    #[test]
    fn different_counts_are_no_answer() {
        let plan = |count| Count { pattern: Pattern::clique(3), count };
        assert!(agreed(4, plan(4)).is_ok());
        assert!(agreed(4, plan(5)).unwrap_err().to_string().contains("(4 and 5)"));
    }
}
