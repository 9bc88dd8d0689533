//! A run: the strategy of the task, its answer, and what was measured.

use std::ops::RangeInclusive;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::reason::Reason;
use gramer_engine::{Failure, Outcome, Peers, Run};
use gramer_pattern::task::{Induced, Task};
use gramer_pattern::{Dictionary, Pattern};
use tracing::{info, info_span};

use super::measured::{self, Baseline};
use super::on_device::{Part, ResidentGraph};
use super::trial::TrialResult;
use crate::picked::RootSelection;
use crate::program::CompilerStop;
use crate::stop::RunGuard;
use crate::{Strategy, search, table};

impl ResidentGraph {
    /// Answers a task by a strategy other than `table`.
    pub(super) fn answer(
        &self,
        strategy: Strategy,
        task: &Task,
        run: &Run<'_>,
    ) -> Result<Outcome, Failure> {
        let device = self.resident.device.label();
        let _phase = gramer_base::memory::Phase::begin(&"mining on the GPU");
        let _span = info_span!("mine", engine = "gpu", device).entered();
        let _one = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let _heeding = CompilerStop::begin(&run.context.cancel);
        let _watched = RunGuard::begin(&run.context.cancel, Some(&self.resident.words))?;
        match run.peers {
            Some(peers) => Ok(self.with_peers(strategy, task, peers, run.context)?),
            None => self.alone_by(strategy, task, run),
        }
    }

    fn alone_by(&self, strategy: Strategy, task: &Task, run: &Run<'_>) -> Result<Outcome, Failure> {
        let (context, sink) = (run.context, run.sink);
        let picked = RootSelection::of(run.units, self.graph.view(), &self.resident.by);
        let share = picked.as_ref();
        let part = Part { share, sink };
        self.make_room(task);
        self.resident.device.budget.take_refusal();
        let before = Baseline::of(&self.resident.device);
        let (mut tried, mut details) = (None, DeviceMetrics::default());
        let chosen = strategy;
        info!(strategy = reason(strategy, sink.is_some()), "the strategy is chosen");
        let found = match (task, strategy) {
            (Task::Clique { k }, _) => self.cliques_by(strategy, *k, part, context),
            (Task::CliqueSizes { smallest, largest }, _) => {
                self.clique_sizes(strategy, *smallest..=*largest, part, context)
            }
            (Task::Motif { k, induced }, Strategy::Formula) => {
                match self.motifs(*k, *induced, share, context) {
                    // How many wedges there are is known when the triangles are counted.
                    Err(Error::Unsupported(_))
                        if *k == 5 && self.gpu.settings().strategy.is_none() =>
                    {
                        self.resident.device.budget.take_refusal();
                        return Err(Failure::Retreat(Reason::Memory { needs: None }));
                    }
                    answer => answer,
                }
            }
            (Task::Motif { k, induced }, Strategy::Wide) => {
                self.wide_motifs(*k, *induced, part, context)
            }
            (Task::Motif { k, induced }, _) => {
                self.search(Dictionary::of(*k).patterns(), *induced, part, context)
            }
            (Task::Match { pattern, induced, mappings }, _) => {
                search::comparable(&self.graph, pattern, mappings.is_some())?;
                let asked = (pattern, *induced, mappings.is_some());
                self.counted(asked, part, &mut details, context).map(|(outcome, found)| {
                    tried = found;
                    outcome
                })
            }
            (Task::Fsm { limit, support, measure }, _) => {
                self.frequent((*limit, *support, *measure), sink, None, context)
            }
            _ => return Err(Failure::Retreat(Reason::Task)),
        };
        let mut outcome =
            found.map_err(|error| self.with_least(error, task, chosen, sink.is_some()))?;
        let by_table = tried.is_some_and(|tried| tried.by_table);
        let strategy = if by_table { Strategy::Table } else { strategy };
        let mut metrics = self.metrics(strategy, (sink.is_some(), tried), before)?;
        metrics.metrics.append(&mut details.metrics);
        outcome.devices.push(metrics);
        outcome.warnings.extend(self.gpu.notes());
        // Strategies whose kernels look at the word say so themselves; no count of a stopped run passes for a whole one.
        outcome.complete &= !self.resident.was_stopped();
        Ok(outcome)
    }

    fn with_peers(
        &self,
        strategy: Strategy,
        task: &Task,
        peers: &dyn Peers,
        context: &Context,
    ) -> Result<Outcome> {
        let before = Baseline::of(&self.resident.device);
        let (mut outcome, part) = match task {
            Task::Clique { k } if *k > 3 => {
                let (outcome, part) = self.cliques_together(*k, peers, context)?;
                (outcome, Some(part))
            }
            Task::Motif { k: 4, induced } => {
                let (outcome, part) = self.motifs_of_four_together(*induced, peers, context)?;
                (outcome, Some(part))
            }
            Task::Fsm { limit, support, measure } => {
                let asked = (*limit, *support, *measure);
                (self.frequent(asked, None, Some(peers), context)?, None)
            }
            // Triangles, and motifs of three and five vertices.
            _ => {
                let (outcome, part) = self.alone(task, peers, context)?;
                (outcome, Some(part))
            }
        };
        let mut metrics = self.metrics(strategy, (false, None), before)?;
        if let Some(part) = part {
            metrics.headline("share.portions", "", Value::Share { part, whole: 1.0 });
        }
        outcome.devices.push(metrics);
        Ok(outcome)
    }

    /// A refusal for want of memory, with what the whole task takes.
    fn with_least(&self, error: Error, task: &Task, strategy: Strategy, listed: bool) -> Error {
        let refusal = self.resident.device.budget.take_refusal();
        match (error, refusal) {
            (Error::Unsupported(_), Some(refusal)) => {
                let sizes = self.gpu.sizes(&self.graph, &self.resident.by);
                let first = self.gpu.first(task, strategy);
                sizes.map_or_else(|e| e, |s| refusal.error(s.least(task, first, listed)))
            }
            (error, _) => error,
        }
    }

    /// The cliques of one size by a strategy.
    fn cliques_by(
        &self,
        strategy: Strategy,
        k: usize,
        part: Part<'_>,
        context: &Context,
    ) -> Result<Outcome> {
        match strategy {
            Strategy::Local => self.cliques(k, part.share, context),
            Strategy::Wide => self.wide_cliques(k, part, context),
            _ => self.search(&[Pattern::clique(k)], Induced::Edge, part, context),
        }
    }

    /// The cliques of several sizes; those after the largest clique are left out.
    fn clique_sizes(
        &self,
        strategy: Strategy,
        mut sizes: RangeInclusive<usize>,
        part: Part<'_>,
        context: &Context,
    ) -> Result<Outcome> {
        let mut all = Outcome::new(vec![], true);
        // Without cliques of a size, larger ones cannot exist.
        while all.complete
            && all.results.last().is_none_or(|last| last.count > 0)
            && let Some(k) = sizes.next()
        {
            let next = match self.cliques_by(strategy, k, part, context) {
                Err(Error::Interrupted) => Outcome::new(vec![], false),
                next => next?,
            };
            all.results.extend(next.results);
            all.complete = next.complete;
        }
        if all.results.len() > 1 && all.results.last().is_some_and(|last| last.count == 0) {
            all.results.pop();
        }
        Ok(all)
    }

    /// Returns the measurements since `before`.
    fn metrics(
        &self,
        strategy: Strategy,
        (listed, tried): (bool, Option<TrialResult>),
        before: Baseline,
    ) -> Result<DeviceMetrics> {
        let device = &self.resident.device;
        let mut metrics = before.headlines(&self.gpu, device);
        match tried {
            Some(tried) => tried.report(&mut metrics),
            None => {
                let reason = reason(strategy, listed);
                metrics.detail("run.strategy", "", Value::Text(reason.into()));
            }
        }
        if let Some(form) = device.known_form() {
            metrics.detail("device.lanes", "", Value::Text(form.said()));
        }
        if strategy == Strategy::Wide {
            let donations = device.work.donations.load(Relaxed) - before.donations;
            metrics.detail("wide.donations", "", Value::Count(donations));
            let activity = device.work.activity.lock().unwrap_or_else(PoisonError::into_inner);
            activity.report(&mut metrics);
        }
        measured::details(&self.gpu, device, &mut metrics)?;
        Ok(metrics)
    }
}

/// A strategy with its reason.
fn reason(strategy: Strategy, listed: bool) -> &'static str {
    match strategy {
        _ if listed => "plan: every embedding is met",
        Strategy::Plan => "plan: depth-first search over sorted lists",
        Strategy::Formula => "formula: all counts follow from those of smaller patterns",
        Strategy::Local => "local: bitmaps of oriented neighbourhoods",
        Strategy::Wide => "wide: all patterns in one exploration",
        Strategy::Table => table::REASON,
    }
}
