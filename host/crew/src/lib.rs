#![doc = include_str!("../README.md")]
//!
//! The dealer is a [`Desk`](desk::Desk): a task is cut into portions of work units ([`deal`]), which members take as they
//! become free, so that no share of the work is fixed beforehand; or members examine some candidates of each phase and
//! receive the results of the others. A member is a device with its own thread ([`member`]), or a process for which a
//! thread here speaks. One that fails leaves its portion to the others, and a warning in the outcome.
//!
//! Outcomes of shares add up where all devices have a scheme in common ([`Division::among`]). Devices of one kind do.
//! Devices of several kinds use [`Scheme::Ids`](gramer_engine::Scheme::Ids), which may cost some of them their fastest
//! method.

mod answer;
pub mod checkpoint;
pub mod deal;
pub mod desk;
pub mod member;
pub mod order;
pub mod phases;
pub mod rivals;
mod run;
pub mod shares;
pub mod speeds;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::for_parts;
use gramer_engine::division::{Offer, TERMS};
use gramer_engine::reason::Reason;
use gramer_engine::{
    Ask, Choices, Device, DeviceGraph, Division, Engine, EngineExt, Facts, Failure, Needs, Outcome,
    Plan, PreparedGraph, Query, Reply, Sink, Units,
};
use gramer_graph::Graph;
use gramer_pattern::task::Task;

use checkpoint::{Checkpoint, CheckpointSettings, KEPT};
use order::named;
use run::CrewRun;

/// Several devices as one.
#[derive(Clone)]
pub struct Crew {
    devices: Arc<[Box<dyn Engine>]>,
    /// What reports call each: its name, with a number where names repeat.
    names: Arc<[String]>,
}

/// A way in which devices work together, as plans name it.
const WAYS: [(&str, Needs); 4] = [
    ("phases", TERMS[0]),
    ("phases of twins", TERMS[1]),
    ("shares", TERMS[2]),
    ("shares by ids", TERMS[3]),
];

impl Crew {
    /// A crew of these devices.
    ///
    /// # Panics
    /// If there are no devices.
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
        Crew { devices: devices.into(), names }
    }

    /// The devices, and what reports call each.
    pub fn devices(&self) -> impl Iterator<Item = (&str, &dyn Engine)> {
        self.names.iter().map(String::as_str).zip(self.devices.iter().map(AsRef::as_ref))
    }

    /// The devices that answer a question only as a whole under these terms.
    fn whole(&self, ask: &Ask<'_>, terms: &[Needs]) -> Vec<String> {
        let engines = self.devices.iter().map(AsRef::as_ref);
        let whole = engines.filter(|&engine| Offer::of(engine, ask).is_whole(terms));
        let mut names: Vec<String> = whole.map(|engine: &dyn Engine| engine.name()).collect();
        names.dedup();
        names
    }

    /// How the devices divide a question under one of these terms.
    fn division(&self, ask: &Ask<'_>, terms: &[Needs]) -> Option<Division> {
        let offers: Vec<Offer> =
            self.devices.iter().map(|device| Offer::of(device.as_ref(), ask)).collect();
        Division::among(&offers.iter().collect::<Vec<_>>(), terms)
    }
}

impl Engine for Crew {
    fn device(&self) -> Device {
        let all: Vec<Device> = self.devices.iter().map(|device| device.device()).collect();
        let names: Vec<&str> = all.iter().map(|device| device.name.as_str()).collect();
        let runs_cost = all.iter().all(|device| device.runs_cost);
        Device { runs_cost, ..Device::named(names.join(",")) }
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        let mut choices = Choices::default();
        // One that doesn't do it alone doesn't do a part of it.
        for (name, device) in self.devices() {
            let own = device.choose(ask);
            if own.fits.is_empty() {
                let member =
                    |reason| Reason::Member { device: name.into(), reason: Box::new(reason) };
                choices.not.extend(own.not.into_iter().map(|(method, why)| (method, member(why))));
            }
        }
        if !choices.not.is_empty() {
            return choices;
        }
        let undivided = Reason::Undivided { whole: self.whole(ask, &TERMS) };
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
                None => choices.not.push((way.into(), undivided.clone())),
            }
        }
        choices
    }

    fn prepare(&self, graph: &Graph, context: &Context) -> Result<PreparedGraph> {
        Ok(PreparedGraph::new(self.clone(), graph, self.on_crew(graph, context)?))
    }
}

impl Crew {
    /// Counts with a [`Checkpoint`]: continues from its file if it exists, and keeps the file, so that the next run
    /// continues a stopped or failed one. After the answer has been delivered, the caller removes the file with
    /// [`Checkpoint::remove`].
    ///
    /// # Errors
    /// Those of [`Checkpoint::open`] and of the devices; what was finished is then in the file.
    pub fn run_kept(
        &self,
        graph: &Graph,
        task: &Task,
        keeping: &CheckpointSettings,
        context: &Context,
    ) -> Result<(Outcome, Checkpoint)> {
        let query = Query::new(task.clone());
        let facts = Facts::of(graph);
        let memory = context.budget.as_ref().map(|budget| budget.bytes);
        let ask = Ask::new(&query).facts(Some(&facts)).memory(memory);
        let division = self.division_kept(&ask)?;
        let kept = Checkpoint::open(keeping, graph, task, (&division).into(), &context.cancel)?;
        let rest = kept.rest()?;
        let units = rest.as_ref().map_or(Units::All, Units::Share);
        let run = self
            .on_crew(graph, context)
            .and_then(|on| on.divided(&query, &division, units, (None, Some(&kept)), context));
        let outcome = kept.close(run)?;
        Ok((outcome, kept))
    }

    /// How the devices divide a question into shares or phases, which a checkpoint keeps.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a question that they divide in neither way, and for what a device doesn't do.
    pub fn division_kept(&self, ask: &Ask<'_>) -> Result<Division> {
        for (name, device) in self.devices() {
            device.plan(ask).map_err(|error| named(name, error))?;
        }
        let refusal = || checkpoint::whole(&ask.query.task.info().subject, &self.whole(ask, &KEPT));
        self.division(ask, &KEPT).ok_or_else(refusal)
    }

    /// Prepares the graph on all devices at a time. Those that fail are left out.
    fn on_crew(&self, graph: &Graph, context: &Context) -> Result<CrewGraph> {
        let prepared: Vec<Result<PreparedGraph>> =
            for_parts(self.devices.iter().collect(), |device| device.prepare(graph, context));
        let (mut ready, mut warnings, mut failed) = (vec![], vec![], None);
        for (at, prepared) in prepared.into_iter().enumerate() {
            match prepared.map_err(|e| named(&self.names[at], e)) {
                Ok(prepared) => ready.push(MemberGraph { at, prepared }),
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
                let (crew, graph) = (self.clone(), graph.clone());
                Ok(CrewGraph { crew, graph, ready: Mutex::new(ready), warnings })
            }
        }
    }
}

/// A graph on one of the devices.
struct MemberGraph {
    /// The device's place.
    at: usize,
    prepared: PreparedGraph,
}

/// A graph on several devices.
struct CrewGraph {
    crew: Crew,
    graph: Graph,
    /// The devices that haven't failed; one task runs at a time.
    ready: Mutex<Vec<MemberGraph>>,
    /// Of devices that couldn't take the graph.
    warnings: Vec<String>,
}

impl DeviceGraph for CrewGraph {
    fn answer(
        &self,
        query: &Query,
        plan: &Plan,
        run: &gramer_engine::Run<'_>,
    ) -> Result<Reply, Failure> {
        let terms = WAYS.iter().find(|(way, _)| *way == plan.method).map(|(_, terms)| *terms);
        let terms = terms.ok_or(Failure::Retreat(Reason::NotNamed))?;
        let division = Division { terms, scheme: plan.scheme.clone() };
        match self.divided(query, &division, run.units, (run.sink, None), run.context) {
            // Devices that turn out to differ.
            Err(Error::Unsupported(what)) if division.in_phases() => {
                Err(Failure::Retreat(Reason::Pattern(what)))
            }
            outcome => Ok(outcome?.into()),
        }
    }
}

impl CrewGraph {
    /// Makes the devices answer a question together.
    fn divided(
        &self,
        query: &Query,
        division: &Division,
        units: Units<'_>,
        (sink, kept): (Option<&dyn Sink>, Option<&Checkpoint>),
        context: &Context,
    ) -> Result<Outcome> {
        units.check(self.graph.view())?;
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let run = CrewRun {
            names: &self.crew.names,
            graph: &self.graph,
            query,
            division,
            units,
            sink,
            context,
            kept,
            runs_cost: self.crew.device().runs_cost,
        };
        let mut outcome = run.on(&mut ready)?;
        answer::warn_first(&mut outcome, &self.warnings);
        Ok(outcome)
    }
}
