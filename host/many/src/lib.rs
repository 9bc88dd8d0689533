//! Several devices as one engine.
//!
//! A task is cut into portions of work units ([`deal`]), which devices take as they become free, so that
//! no share of the work is fixed beforehand. Each device has a thread of its own. One that fails leaves
//! its portion to the others, and a warning in the outcome.
//!
//! Outcomes of shares add up where all devices have a scheme in common ([`Division::among`]). Devices of one kind do.
//! Those of several kinds are asked for [`Scheme::Ids`](gramer_engine::Scheme::Ids), which may cost some of them their
//! fastest way.
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
use std::sync::{Mutex, PoisonError};
use std::thread::{Scope, ScopedJoinHandle};

use gramer_engine::division::{Offer, SHARES, TERMS};
use gramer_engine::reason::{Reason, described};
use gramer_engine::{
    Ask, Choices, Division, Engine, Facts, Failure, Found, MemorySpeed, Needs, Outcome, Plan,
    Prepared, Query, Sink, Units,
};
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
}

/// A way in which devices work together, as plans name it.
const WAYS: [(&str, Needs); 4] = [
    ("phases", TERMS[0]),
    ("phases of twins", TERMS[1]),
    ("shares", TERMS[2]),
    ("shares by ids", TERMS[3]),
];

impl Many {
    /// These devices together.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(devices: Vec<Box<dyn Engine>>) -> Self {
        assert!(!devices.is_empty(), "there is a device");
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
        Many { devices, names }
    }

    /// How the devices divide a question under one of these terms.
    fn division(&self, ask: &Ask<'_>, terms: &[Needs]) -> Option<Division> {
        let offers: Vec<Offer> =
            self.devices.iter().map(|device| Offer::of(device.as_ref(), ask)).collect();
        Division::among(&offers.iter().collect::<Vec<_>>(), terms)
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

impl Engine for Many {
    fn name(&self) -> String {
        let names: Vec<String> = self.devices.iter().map(|device| device.name()).collect();
        names.join(",")
    }

    fn order(&self) -> Order {
        self.devices[0].order()
    }

    fn runs_cost(&self) -> bool {
        self.devices.iter().all(|device| device.runs_cost())
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        let mut choices = Choices::default();
        // One that doesn't do it alone doesn't do a part of it.
        for (device, name) in self.devices.iter().zip(&self.names) {
            let own = device.choose(ask);
            if own.fits.is_empty() {
                let member =
                    |reason| Reason::Member { device: name.clone(), reason: Box::new(reason) };
                choices.not.extend(own.not.into_iter().map(|(method, why)| (method, member(why))));
            }
        }
        if !choices.not.is_empty() {
            return choices;
        }
        for (way, terms) in WAYS {
            // A part of the work is shared out in parts.
            let whole = ask.terms.common(Needs::PEERS | Needs::TWINS | Needs::SHARE).is_none();
            let fits = whole
                || ask.terms.common(Needs::PEERS | Needs::TWINS).is_none()
                    && terms.has(Needs::SHARE);
            let by_ids = !ask.terms.has(Needs::BY_IDS) || terms.has(Needs::BY_IDS);
            match self.division(ask, &[terms]).filter(|_| fits && by_ids) {
                Some(Division { scheme, .. }) => {
                    choices.fits.push(Plan { method: way.into(), scheme, any_order: false });
                }
                None => choices.not.push((way.into(), Reason::Undivided)),
            }
        }
        choices
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        Ok(Box::new(self.on_many(graph, context)?))
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
        let query = Query::new(task.clone());
        let facts = Facts::of(graph);
        let memory = context.budget.as_ref().map(|budget| budget.bytes);
        let ask = Ask::new(&query).facts(Some(&facts)).memory(memory);
        let division = self.division_kept(&ask)?;
        let rule = division.scheme.to_string();
        let kept = Checkpoint::open(keeping, graph, task, rule, &context.cancel)?;
        let rest = kept.rest()?;
        let units = rest.as_ref().map_or(Units::All, Units::Share);
        let run = self
            .on_many(graph, context)
            .and_then(|on| on.in_shares(&query, &division, units, (None, Some(&kept)), context));
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

    /// How the devices divide a question into shares, which a checkpoint keeps.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a question that isn't the sum of shares, and for what a device doesn't do.
    pub fn division_kept(&self, ask: &Ask<'_>) -> Result<Division> {
        self.plan(ask)?;
        self.division(ask, &SHARES).ok_or_else(|| checkpoint::whole(&described(&ask.query.task)))
    }

    /// Prepares the graph on all devices at a time. Those that fail are left out.
    fn on_many<'a>(&'a self, graph: &'a Graph, context: &Context) -> Result<OnMany<'a>> {
        let prepare = |device: &'a dyn Engine| device.prepare(graph, context);
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
            _ => Ok(OnMany { many: self, graph, ready: Mutex::new(ready), warnings }),
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
    /// The devices that haven't failed; one task runs at a time.
    ready: Mutex<Vec<Ready<'a>>>,
    /// Of devices that couldn't take the graph.
    warnings: Vec<String>,
}

impl Prepared for OnMany<'_> {
    fn engine(&self) -> &dyn Engine {
        self.many
    }

    fn graph(&self) -> &Graph {
        self.graph
    }

    fn answer(
        &self,
        query: &Query,
        plan: &Plan,
        run: &gramer_engine::Run<'_>,
    ) -> Result<Found, Failure> {
        let terms = WAYS.iter().find(|(way, _)| *way == plan.method).map(|(_, terms)| *terms);
        let terms = terms.ok_or(Failure::Retreat(Reason::NotNamed))?;
        let division = Division { terms, scheme: plan.scheme.clone() };
        if !division.in_phases() {
            let found = self.in_shares(query, &division, run.units, (run.sink, None), run.context);
            return Ok(found?.into());
        }
        let ready = &mut *self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let ready = (ready, self.many.runs_cost());
        match levels::run(&self.many.names, ready, (query, &division), run.context) {
            // Devices that turn out to differ.
            Err(Error::Unsupported(what)) => Err(Failure::Retreat(Reason::Pattern(what))),
            outcome => Ok(self.warned(outcome?).into()),
        }
    }
}

impl OnMany<'_> {
    /// Shares the units out.
    fn in_shares(
        &self,
        query: &Query,
        division: &Division,
        units: Units<'_>,
        (sink, kept): (Option<&dyn Sink>, Option<&Checkpoint<'_>>),
        context: &Context,
    ) -> Result<Outcome> {
        units.check(self.graph.view())?;
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let run = Run {
            names: &self.many.names,
            graph: self.graph,
            query,
            division,
            units,
            sink,
            context,
            kept,
            at_once: self.many.runs_cost(),
        };
        Ok(self.warned(run.on(&mut ready)?))
    }

    /// An outcome with what is to say of the devices.
    fn warned(&self, mut outcome: Outcome) -> Outcome {
        outcome.warnings.splice(0..0, self.warnings.iter().cloned());
        outcome
    }
}
