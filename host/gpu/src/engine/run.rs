//! A run: the strategy of the task, its answer, and what was measured.

use std::ops::RangeInclusive;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;

use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Engine, Outcome, Prepared, Sink, Together, Units, shares};
use gramer_graph::choice::Choice;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_pattern::task::{Induced, Task};
use gramer_pattern::{Dictionary, Pattern};
use tracing::{info, info_span};

use super::measured::{self, Before};
use super::on_device::{OnDevice, Part};
use super::refuse;
use super::trial::Tried;
use crate::graph::Numbering;
use crate::picked::Picked;
use crate::program::Heeding;
use crate::stop::Watched;
use crate::{Strategy, table};

impl Prepared for OnDevice<'_> {
    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        self.gpu.supports(task, Some(self.graph))?;
        shares::check(self.graph, task, units, sink)?;
        let device = self.resident.device.label();
        let _phase = gramer_graph::memory::Phase::begin(&"mining on the GPU");
        let _span = info_span!("mine", engine = "gpu", device).entered();
        let picked = Picked::of(units, self.graph.view(), &self.resident.by);
        let share = picked.as_ref();
        let part = Part { share, sink };
        let _one = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let _heeding = Heeding::begin(&context.cancel);
        let _watched = Watched::begin(&context.cancel, Some(&self.resident.words))?;
        self.make_room(task);
        self.resident.device.budget.take_refusal();
        let before = Before::of(&self.resident.device);
        let (mut tried, mut details) = (None, DeviceMetrics::default());
        let chosen = self.chosen(task, part)?;
        let mut strategy = chosen;
        info!(
            task = task.name(),
            strategy = reason(strategy, sink.is_some()),
            "the strategy is chosen"
        );
        let mut outcome = match (task, strategy) {
            (Task::Clique { k }, _) => self.cliques_by(strategy, *k, part, context),
            (Task::CliqueSizes { smallest, largest }, _) => {
                self.clique_sizes(strategy, *smallest..=*largest, part, context)
            }
            (Task::Motif { k, induced }, Strategy::Formula) => {
                match self.motifs(*k, *induced, share, context) {
                    Err(Error::Unsupported(_)) if *k == 5 && self.gpu.strategy.is_none() => {
                        strategy = Strategy::Wide;
                        self.wide_motifs(*k, *induced, part, context)
                    }
                    answer => answer,
                }
            }
            (Task::Motif { k, induced }, Strategy::Wide) => {
                self.wide_motifs(*k, *induced, part, context)
            }
            (Task::Motif { k: 7.., .. }, _) => refuse("list of motifs of more than 6 vertices"),
            // The plans' first vertices aren't those with the largest ids.
            (Task::Motif { .. }, Strategy::Plan) if self.numbering == Numbering::Ids => {
                refuse("list of motifs beside devices of another kind")
            }
            (Task::Motif { k, induced }, _) => {
                self.search(Dictionary::of(*k).patterns(), *induced, part, context)
            }
            (Task::Match { pattern, induced, mappings }, _) => {
                let asked = (pattern, *induced, *mappings);
                self.counted(asked, part, &mut details, context).map(|(outcome, found)| {
                    tried = found;
                    outcome
                })
            }
            (Task::Fsm { .. }, _) if share.is_some() => refuse("shares of frequent patterns"),
            (Task::Fsm { limit, support, measure }, _) => {
                self.frequent((*limit, *support, *measure), sink, None, context)
            }
            _ => unreachable!("it was refused above"),
        }
        .map_err(|error| self.with_least(error, task, chosen, sink.is_some()))?;
        let by_table = tried.is_some_and(|tried| tried.by_table);
        let strategy = if by_table { Strategy::Table } else { strategy };
        let mut metrics = self.metrics(strategy, (sink.is_some(), tried), before)?;
        metrics.metrics.append(&mut details.metrics);
        outcome.devices.push(metrics);
        outcome.warnings.extend(self.gpu.notes());
        // Strategies whose kernels look at the word say so themselves; no count of a stopped run passes for a whole one.
        outcome.complete &= !self.resident.was_stopped();
        Ok(outcome.of(units))
    }

    fn run_together(
        &self,
        task: &Task,
        together: &dyn Together,
        context: &Context,
    ) -> Result<Outcome> {
        self.gpu.supports_together(task)?;
        let _one = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let _heeding = Heeding::begin(&context.cancel);
        let _watched = Watched::begin(&context.cancel, Some(&self.resident.words))?;
        let before = Before::of(&self.resident.device);
        let (mut outcome, part) = match task {
            Task::Clique { k: 3 } | Task::Motif { k: 3 | 5, .. } => {
                let (outcome, part) = self.alone(task, together, context)?;
                (outcome, Some(part))
            }
            Task::Clique { k } => {
                let (outcome, part) = self.cliques_together(*k, together, context)?;
                (outcome, Some(part))
            }
            Task::Motif { induced, .. } => {
                let (outcome, part) = self.motifs_of_four_together(*induced, together, context)?;
                (outcome, Some(part))
            }
            Task::Fsm { limit, support, measure } => {
                let asked = (*limit, *support, *measure);
                (self.frequent(asked, None, Some(together), context)?, None)
            }
            _ => unreachable!("it was refused above"),
        };
        let mut metrics = self.metrics(self.gpu.strategy(task)?, (false, None), before)?;
        if let Some(part) = part {
            metrics.headline("share.portions", "", Value::Share { part, whole: 1.0 });
        }
        outcome.devices.push(metrics);
        Ok(outcome)
    }
}

impl OnDevice<'_> {
    /// A refusal for want of memory, with what the whole task takes.
    fn with_least(&self, error: Error, task: &Task, strategy: Strategy, listed: bool) -> Error {
        let refusal = self.resident.device.budget.take_refusal();
        match (error, refusal) {
            (Error::Unsupported(_), Some(refusal)) => {
                let sizes = self.gpu.sizes(self.graph, &self.resident.by);
                sizes.map_or_else(|e| e, |s| refusal.error(s.least(task, strategy, listed)))
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
        // Without a clique of a size there is none of a larger one.
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

    /// How a task, or a share of it, is done.
    fn chosen(&self, task: &Task, part: Part<'_>) -> Result<Strategy> {
        let by_ids = self.numbering == Numbering::Ids;
        match task {
            // Only a search has embeddings to hand on.
            _ if part.sink.is_some() => match self.gpu.strategy {
                None | Some(Strategy::Plan) => Ok(Strategy::Plan),
                Some(said) => Err(Error::Unsupported(format!(
                    "the strategy {} has no lists of embeddings; leave out the setting `strategy`",
                    said.name()
                ))),
            },
            // The closed formulas' sums belong to no embedding, and those of five vertices to no share.
            Task::Motif { .. } if by_ids => match self.gpu.strategy {
                None | Some(Strategy::Wide) => Ok(Strategy::Wide),
                Some(said) => Err(Error::Unsupported(format!(
                    "the strategy {} has no motifs beside devices of another kind; leave out the setting \
                     `strategy`",
                    said.name()
                ))),
            },
            Task::Motif { k: 5, .. } if part.share.is_some() => match self.gpu.strategy {
                None => Ok(Strategy::Wide),
                Some(Strategy::Formula) => Err(Error::Unsupported(
                    "the strategy formula has no shares of motifs of five vertices; leave out the setting \
                     `strategy`"
                        .into(),
                )),
                Some(said) => Ok(said),
            },
            _ => self.gpu.strategy(task),
        }
    }

    /// What was measured since `before`.
    fn metrics(
        &self,
        strategy: Strategy,
        (listed, tried): (bool, Option<Tried>),
        before: Before,
    ) -> Result<DeviceMetrics> {
        let device = &self.resident.device;
        let mut metrics = before.headlines(self.gpu, device);
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
        }
        measured::details(self.gpu, device, &mut metrics)?;
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
