//! Devices that need their own process: emulated accelerators and cards. The Xilinx Runtime takes its settings from
//! the environment at the start of a program, so that a worker of the command `gramer` has the device. It stays open until
//! Python ends.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use gramer_accelerator::emulated::{EmulatedDevice, find_helper_of};
use gramer_accelerator::settings::Settings;
use gramer_base::Context;
use gramer_base::error::Result;
use gramer_engine::{Ask, Engine, EngineExt, Facts, Outcome, PreparedGraph, Query, Sink, Units};
use gramer_graph::Graph;
use gramer_pattern::Task;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::raise;

/// The devices that were used, by their names.
static OPEN: Mutex<BTreeMap<String, EmulatedDevice>> = Mutex::new(BTreeMap::new());

/// The device with this name, open if it was used before.
pub fn of(python: Python<'_>, device: &str) -> PyResult<Box<dyn Engine>> {
    let emulated = device == "emulator" || device.starts_with("emulator:");
    if !emulated && !gramer_accelerator::is_xclbin(device) {
        return Err(PyValueError::new_err(format!(
            "no device is called {device:?}: use cpu, reference, gpu, emulator[:MACHINE] or FILE.xclbin[@INDEX]"
        )));
    }
    let own: PathBuf = python.import("sys")?.getattr("executable")?.extract()?;
    let helper = find_helper_of(Some(&own)).map_err(raise)?;
    let new = EmulatedDevice::with_helper(device, Settings::default(), helper).map_err(raise)?;
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |known: &&EmulatedDevice| {
        known.machine() == new.machine() && known.helper() == new.helper()
    };
    let known = open.get(device).filter(same).cloned();
    let kept = known.unwrap_or_else(|| {
        open.insert(device.into(), new.clone());
        new
    });
    Ok(Box::new(kept))
}

/// Ends the workers: Python drops nothing at its end.
#[pyfunction]
pub fn close(python: Python<'_>) {
    let open = std::mem::take(&mut *OPEN.lock().unwrap_or_else(PoisonError::into_inner));
    python.detach(|| open.values().for_each(EmulatedDevice::end));
}

/// A graph on the device with a worker that answered last: it stays there for the next questions.
#[derive(Default)]
pub struct Prepared(Mutex<Option<PreparedGraph>>);

impl Prepared {
    /// Answers a task on an engine.
    pub fn run(
        &self,
        engine: &dyn Engine,
        graph: &Graph,
        task: &Task,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        let (query, facts) = (Query::new(task.clone()).list(sink.is_some()), Facts::of(graph));
        engine.plan(&Ask::new(&query).facts(Some(&facts)))?;
        self.on(engine, graph, context)?.run(task, Units::All, sink, context)
    }

    /// The graph on an engine.
    fn on(&self, engine: &dyn Engine, graph: &Graph, context: &Context) -> Result<PreparedGraph> {
        let emulated = |engine: &dyn Engine| {
            let any: &dyn Any = engine;
            any.downcast_ref::<EmulatedDevice>().cloned()
        };
        let Some(device) = emulated(engine) else { return engine.prepare(graph, context) };
        let last = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &PreparedGraph| {
            emulated(known.engine()).is_some_and(|known| known.shares_worker(&device))
        };
        if let Some(known) = last().clone().filter(same) {
            return Ok(known);
        }
        let new = engine.prepare(graph, context)?;
        *last() = Some(new.clone());
        Ok(new)
    }
}
