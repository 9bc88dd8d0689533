//! Several devices as one engine.
//!
//! A task is cut into portions of work units ([`deal`]), which devices take as they become free, so that
//! no share of the work is fixed beforehand. Each device has a thread of its own. One that fails leaves
//! its portion to the others, and a warning in the outcome.
//!
//! Outcomes of shares add up where all devices assign embeddings to units by one rule
//! ([`Engine::rule`]). Devices of one kind do. Those of several kinds are asked for the common one
//! ([`gramer_engine::BY_IDS`]), which may cost some of them their fastest way.
//!
//! ```
//! use gramer_engine::{Engine, cpu::Cpu};
//! use gramer_graph::{Builder, Context};
//! use gramer_many::Many;
//! use gramer_pattern::Task;
//!
//! let mut builder = Builder::new();
//! for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
//!     builder.edge(u, v);
//! }
//! let graph = builder.build();
//! let both = Many::new(vec![Box::new(Cpu), Box::new(Cpu)]);
//! let triangles = both.run(&graph, &Task::Clique { k: 3 }, None, &Context::default())?;
//! assert_eq!(triangles.results[0].count, 1);
//! # Ok::<(), gramer_graph::Error>(())
//! ```

pub mod checkpoint;
pub mod deal;
mod levels;
pub mod rivals;
mod run;
pub mod speeds;

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread::{Scope, ScopedJoinHandle};

use gramer_engine::{BY_IDS, Engine, MemorySpeed, Outcome, Prepared, Sink, Units, shares};
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::parallel::{for_parts, start_in};
use gramer_graph::{Graph, Order};
use gramer_pattern::task::Task;

use checkpoint::{Checkpoint, Keeping};
use run::Run;

/// Several devices as one.
pub struct Many {
    devices: Vec<Box<dyn Engine>>,
    /// What reports call each: its name, with a number where names repeat.
    names: Vec<String>,
    /// Whether they are asked for the common rule.
    by_ids: bool,
}

impl Many {
    /// These devices together.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(devices: Vec<Box<dyn Engine>>) -> Self {
        assert!(!devices.is_empty(), "there is a device");
        let rule = devices[0].rule();
        let by_ids = devices.iter().any(|device| device.rule() != rule);
        let mut seen: HashMap<String, usize> = HashMap::new();
        devices.iter().for_each(|d| *seen.entry(d.name()).or_default() += 1);
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let names = devices
            .iter()
            .map(|device| {
                let name = device.name();
                if seen[&name] == 1 {
                    return name;
                }
                let number = numbers.entry(name.clone()).or_default();
                *number += 1;
                format!("{name} ({number})")
            })
            .collect();
        Many { devices, names, by_ids }
    }
}

/// What a device says, with its name.
fn named(name: &str, error: Error) -> Error {
    match error {
        Error::Unsupported(what) => Error::Unsupported(format!("{name}: {what}")),
        Error::Usage(what) => Error::Usage(format!("{name}: {what}")),
        Error::Device(what) if !what.starts_with(name) => Error::Device(format!("{name}: {what}")),
        other => other,
    }
}

/// Why a task isn't shared out.
fn together(error: Error) -> Error {
    match error {
        Error::Unsupported(what) => Error::Unsupported(format!(
            "several devices can't do this task together: {what}; or name one device"
        )),
        other => other,
    }
}

impl Engine for Many {
    fn name(&self) -> String {
        let names: Vec<String> = self.devices.iter().map(|device| device.name()).collect();
        names.join(",")
    }

    fn order(&self) -> Order {
        self.devices[0].order()
    }

    fn rule(&self) -> String {
        if self.by_ids { BY_IDS.into() } else { self.devices[0].rule() }
    }

    fn runs_cost(&self) -> bool {
        self.devices.iter().all(|device| device.runs_cost())
    }

    fn supports(&self, task: &Task, graph: Option<&Graph>) -> Result<()> {
        task.check()?;
        self.devices
            .iter()
            .zip(&self.names)
            .try_for_each(|(d, name)| d.supports(task, graph).map_err(|e| named(name, e)))?;
        if self.by_levels(task) {
            return Ok(());
        }
        shares::divisible(task, false).map_err(together)?;
        if self.by_ids { shares::divisible_by_ids(task) } else { Ok(()) }
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        Ok(Box::new(self.on_many(graph, self.by_ids, context)?))
    }

    fn prepare_by_ids<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        Ok(Box::new(self.on_many(graph, true, context)?))
    }

    fn memories(&self, bytes: u64, context: &Context) -> Result<Vec<MemorySpeed>> {
        let mut all = vec![];
        for (device, name) in self.devices.iter().zip(&self.names) {
            all.extend(device.memories(bytes, context).map_err(|e| named(name, e))?);
        }
        Ok(all)
    }
}

impl Many {
    /// Whether the devices do a task together, those of one kind that can: frequent patterns and closed forms, where they share the
    /// candidates of each level, and others, where they share the tasks that each would have alone.
    fn by_levels(&self, task: &Task) -> bool {
        let alike = || {
            let names: Vec<String> = self.devices.iter().map(|device| device.name()).collect();
            speeds::alike(names.iter().map(String::as_str))
        };
        !self.by_ids
            && (matches!(task, Task::Fsm { .. }) || alike())
            && self.devices.iter().all(|device| device.supports_together(task).is_ok())
    }

    /// Counts with a [`Checkpoint`]: goes on from its file where that is there, and leaves it there, so
    /// that a run that was stopped or has failed is continued by the next one. Whoever has put the
    /// answer where it belongs removes the file with [`Checkpoint::remove`].
    ///
    /// # Errors
    /// Those of [`Checkpoint::open`] and of the devices; what was finished is then in the file.
    pub fn run_kept<'a>(
        &self,
        graph: &'a Graph,
        task: &Task,
        keeping: &Keeping,
        context: &Context,
    ) -> Result<(Outcome, Checkpoint<'a>)> {
        checkpoint::supports(task)?;
        self.supports(task, Some(graph))?;
        let kept = Checkpoint::open(keeping, graph, task, self.rule(), &context.cancel)?;
        let rest = kept.rest()?;
        let units = rest.as_ref().map_or(Units::All, Units::Share);
        let run = self
            .on_many(graph, self.by_ids, context)
            .and_then(|on| on.run(task, units, None, Some(&kept), context));
        let kept_nothing = kept.outcome().is_none();
        let saved = match &run {
            Err(error) if kept_nothing && !matches!(error, Error::Interrupted) => kept.remove(),
            _ => kept.save(),
        };
        let run = match run {
            // Before the first share; what runs before this one found is an answer all the same.
            Err(Error::Interrupted) => Outcome::new(vec![], false),
            run => run?,
        };
        let mut outcome = kept.outcome().unwrap_or_else(|| Outcome::new(vec![], false));
        outcome.complete = run.complete;
        outcome.devices = run.devices;
        outcome.warnings = run.warnings;
        if let Err(error) = saved {
            outcome.warnings.push(format!("the checkpoint is not written: {error}"));
        }
        Ok((outcome, kept))
    }

    /// Prepares the graph on all devices at a time. Those that fail are left out.
    fn on_many<'a>(
        &'a self,
        graph: &'a Graph,
        by_ids: bool,
        context: &Context,
    ) -> Result<OnMany<'a>> {
        let prepare = |device: &'a dyn Engine| match by_ids {
            true => device.prepare_by_ids(graph, context),
            false => device.prepare(graph, context),
        };
        let prepared: Vec<Result<Box<dyn Prepared + 'a>>> =
            for_parts(self.devices.iter().collect(), |device| prepare(device.as_ref()));
        let (mut ready, mut warnings, mut failed) = (vec![], vec![], None);
        for (at, prepared) in prepared.into_iter().enumerate() {
            match prepared.map_err(|e| named(&self.names[at], e)) {
                Ok(prepared) => ready.push(Ready { at, prepared }),
                Err(error @ Error::Device(_)) => {
                    warnings.push(format!("{error}; the other devices do its work"));
                    failed = Some(error);
                }
                Err(error) => return Err(error),
            }
        }
        match failed {
            Some(error) if ready.is_empty() => Err(error),
            _ => {
                Ok(OnMany { many: self, graph, whole: by_ids, ready: Mutex::new(ready), warnings })
            }
        }
    }
}

/// Starts a thread for the work of each device, up to the first that the system refuses: its error.
fn start_all<'scope, T: Send + 'scope, W: FnOnce() -> T + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    works: impl Iterator<Item = W>,
) -> (Vec<ScopedJoinHandle<'scope, T>>, Option<Error>) {
    let mut started = vec![];
    for work in works {
        match start_in(scope, "for a device", work) {
            Ok(thread) => started.push(thread),
            Err(error) => return (started, Some(error)),
        }
    }
    (started, None)
}

/// A graph on one of the devices.
struct Ready<'a> {
    /// The device's place.
    at: usize,
    prepared: Box<dyn Prepared + 'a>,
}

/// A graph on several devices.
struct OnMany<'a> {
    many: &'a Many,
    graph: &'a Graph,
    /// Whether lists are left whole.
    whole: bool,
    /// The devices that haven't failed; one task runs at a time.
    ready: Mutex<Vec<Ready<'a>>>,
    /// Of devices that couldn't take the graph.
    warnings: Vec<String>,
}

impl Prepared for OnMany<'_> {
    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        self.run(task, units, sink, None, context)
    }
}

impl OnMany<'_> {
    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        kept: Option<&Checkpoint<'_>>,
        context: &Context,
    ) -> Result<Outcome> {
        self.many.supports(task, Some(self.graph))?;
        units.check(self.graph.view())?;
        let by_levels = !self.whole && self.many.by_levels(task);
        let mut refused = None;
        if by_levels && sink.is_none() && kept.is_none() && units.share().is_none() {
            let mut ready = self.ready.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let ready = (&mut *ready, self.many.runs_cost());
            match levels::run(&self.many.names, ready, task, context) {
                // Devices that turn out to differ; what is no sum of portions isn't done then.
                Err(error @ Error::Unsupported(_)) if shares::divisible(task, false).is_ok() => {
                    refused = Some(error);
                }
                outcome => {
                    let mut outcome = outcome?;
                    outcome.warnings.splice(0..0, self.warnings.iter().cloned());
                    return Ok(outcome);
                }
            }
        }
        shares::divisible(task, sink.is_some()).map_err(together)?;
        let mut ready = self.ready.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let run = Run {
            names: &self.many.names,
            graph: self.graph,
            whole: self.whole,
            task,
            units,
            sink,
            context,
            kept,
            at_once: self.many.runs_cost(),
        };
        // Where there are no shares either, what was wrong first is what to mend.
        let mut outcome = run.on(&mut ready).map_err(|error| match (error, refused) {
            (Error::Unsupported(_), Some(first)) => first,
            (error, _) => error,
        })?;
        outcome.warnings.splice(0..0, self.warnings.iter().cloned());
        Ok(outcome)
    }
}
