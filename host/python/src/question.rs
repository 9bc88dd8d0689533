//! Questions from Python, and the settings of their runs.

use std::time::Duration;

use gramer_base::Context;
use gramer_base::choice::Choice;
use gramer_cpu::Cpu;
use gramer_engine::Engine;
use gramer_engine::reference::Reference;
use gramer_gpu::{Gpu, Settings, default_cache, is_gpu};
use gramer_pattern::task::{Induced, Mappings, Measure, SizeLimit};
use gramer_pattern::{Statistic, Task};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::device;
use crate::error::raise;
use crate::pattern::Pattern;
use crate::run::Watch;

/// Threads, progress, time: what every run takes.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    device: String,
    threads: usize,
    progress: Option<Py<PyAny>>,
    timeout: Option<f64>,
}

impl Options {
    pub fn context(&self) -> Context {
        Context::with_threads(self.threads)
    }

    /// Messages for the caller, with room for arrays of this many bytes ([`Watch::room`]).
    pub fn watch(&self, python: Python<'_>, room: usize) -> PyResult<Watch> {
        let limit = match self.timeout {
            None => None,
            Some(seconds) => Some(Duration::try_from_secs_f64(seconds).map_err(|_| {
                PyValueError::new_err(format!(
                    "timeout is {seconds}, but must be seconds from 0 on"
                ))
            })?),
        };
        Ok(Watch { progress: self.progress.as_ref().map(|p| p.clone_ref(python)), limit, room })
    }

    /// The engine that `device` names.
    pub fn engine(&self, python: Python<'_>) -> PyResult<Box<dyn Engine>> {
        match self.device.as_str() {
            "cpu" => Ok(Box::new(Cpu)),
            "reference" => Ok(Box::new(Reference::default())),
            gpu if is_gpu(gpu) => {
                let settings = Settings { cache: default_cache(), ..Settings::default() };
                Ok(Box::new(Gpu::open(gpu, &settings).map_err(raise)?))
            }
            other => device::of(python, other),
        }
    }
}

/// The question in Python's words.
pub fn task_of(question: &Bound<'_, PyDict>) -> PyResult<Task> {
    let item = |name: &str| {
        question.get_item(name)?.ok_or_else(|| PyValueError::new_err(format!("no {name} is given")))
    };
    let induced = || choice::<Induced>("induced", &item("induced")?.extract::<String>()?);
    let task = match item("task")?.extract::<String>()?.as_str() {
        "clique" => Task::Clique { k: item("k")?.extract()? },
        "maximal-cliques" => Task::MaximalCliques,
        "motif" => Task::Motif { k: item("k")?.extract()?, induced: induced()? },
        "fsm" => Task::Fsm {
            limit: match item("max_edges")?.extract()? {
                Some(edges) => SizeLimit::MaxEdges(edges),
                None => SizeLimit::MaxVertices(item("max_vertices")?.extract()?),
            },
            support: item("support")?.extract()?,
            measure: choice::<Measure>("measure", &item("measure")?.extract::<String>()?)?,
        },
        "match" => Task::Match {
            pattern: item("pattern")?.cast::<Pattern>()?.get().0.clone(),
            induced: induced()?,
            mappings: mappings(&item("mappings")?)?,
        },
        "statistic" => Task::Statistic(choice::<Statistic>(
            "statistic",
            &item("statistic")?.extract::<String>()?,
        )?),
        other => return Err(PyValueError::new_err(format!("no task is called {other:?}"))),
    };
    task.check().map_err(raise)?;
    Ok(task)
}

/// False, true for isomorphisms, or a name.
fn mappings(value: &Bound<'_, PyAny>) -> PyResult<Option<Mappings>> {
    match value.extract::<bool>() {
        Ok(all) => Ok(all.then_some(Mappings::Isomorphism)),
        Err(_) => choice("mappings", &value.extract::<String>()?).map(Some),
    }
}

pub fn choice<T: Choice>(what: &str, name: &str) -> PyResult<T> {
    match T::ALL.iter().find(|(_, known, _)| *known == name) {
        Some((value, ..)) => Ok(*value),
        None => {
            let known: Vec<&str> = T::ALL.iter().map(|(_, name, _)| *name).collect();
            let message = format!("{what} is {name:?}, but must be one of {}", known.join(", "));
            Err(PyValueError::new_err(message))
        }
    }
}
