//! Devices that speak OpenCL: the accelerator on a card or emulated.
//!
//! Nothing here knows whether a device is emulated; platform and program binary decide. The
//! OpenCL library is loaded when it is first asked for, so that the program starts without one.
//!
//! | module | what it holds |
//! |---|---|
//! | [`runtime`] | platforms, devices, what is missing where there are none |
//! | [`xilinx`] | the vendor's extension that places a buffer in a memory bank |
//! | [`settings`] | run-time switches of the accelerator |
//! | [`emulated`] | an emulated device for other programs: the command `gramer` drives it |
//! | [`image`] | a graph as it lies in the banks |
//! | [`units`] | the ranges of work units that one run takes |
//! | [`stream`] | what goes into the streams and comes out |
//! | [`set`] | images, units and sums of the set core |
//! | [`session`] | a programmed device: kernels, buffers, runs |
//! | [`metrics`] | what a session measures |
//! | [`tasks`] | mining tasks as passes of the core |

pub mod emulated;
pub mod image;
pub mod launch;
pub mod metrics;
pub mod runtime;
pub mod session;
pub mod set;
pub mod settings;
pub mod stream;
pub mod tasks;
pub mod units;
pub mod xclbin;
pub mod xilinx;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use gramer_engine::{
    BY_IDS, Engine, MemorySpeed, Outcome, Prepared, Sink, Together, Units, not_together,
    only_its_kind, shares,
};
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, Label};
use gramer_machine::Core;
use gramer_pattern::task::Task;
use image::DeviceImage;
use session::Session;
use set::engine::SetResident;
use set::frequent::Asked;
use set::matches::has_plans;
use settings::Settings;

/// The accelerator behind OpenCL.
///
/// ```no_run
/// use gramer_accelerator::{Accelerator, settings::Settings};
/// use gramer_engine::Engine;
/// use gramer_graph::{Builder, Context};
/// use gramer_pattern::Task;
///
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (1, 2), (2, 0)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let card = Accelerator::open("gramer.xclbin", "gramer.xclbin", Settings::default())?;
/// let outcome = card.run(&graph, &Task::Clique { k: 3 }, None, &Context::default())?;
/// assert_eq!(outcome.results[0].count, 1);
/// # Ok::<(), gramer_graph::Error>(())
/// ```
pub struct Accelerator {
    name: String,
    machine: gramer_machine::Accelerator,
    settings: Settings,
    /// A run has the device to itself.
    session: Mutex<Session>,
}

impl Accelerator {
    /// Opens the devices that `file` names, `FILE.xclbin[@INDEX[,INDEX…]]`, and programs them.
    /// Work is divided among all of them. Results call them `name`.
    ///
    /// # Errors
    /// Those of reading the file, and [`Error::Device`] for what the runtime refuses.
    pub fn open(file: &str, name: &str, settings: Settings) -> Result<Self> {
        let (path, indices) = parse(file)?;
        let session = Session::open(&path, &indices, name)?;
        let machine = session.machine().clone();
        settings.check(&machine)?;
        if machine.core == Core::Set {
            set::engine::check(&settings, &machine)?;
        }
        Ok(Accelerator { name: name.into(), machine, settings, session: Mutex::new(session) })
    }

    /// The machine in the file.
    pub fn machine(&self) -> &gramer_machine::Accelerator {
        &self.machine
    }

    /// Runs `work` with the programmed devices.
    pub fn with_session<T>(&self, work: impl FnOnce(&mut Session) -> T) -> T {
        work(&mut self.session.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

/// Whether `--device` names an xclbin.
pub fn is_xclbin(device: &str) -> bool {
    let file = device.rsplit_once('@').map_or(device, |(file, _)| file);
    [device, file].iter().any(|name| Path::new(name).extension().is_some_and(|e| e == "xclbin"))
}

/// File and indices of `FILE[@INDEX[,INDEX…]]`.
///
/// # Errors
/// [`Error::Usage`] for other indices than different numbers.
pub fn parse(device: &str) -> Result<(PathBuf, Vec<usize>)> {
    let (file, indices) = match device.rsplit_once('@') {
        Some((file, indices)) if !indices.contains('/') => (file, indices),
        _ => return Ok((device.into(), vec![0])),
    };
    let numbers: Option<Vec<usize>> = indices.split(',').map(|i| i.parse().ok()).collect();
    let mut seen = std::collections::HashSet::new();
    match numbers {
        Some(numbers) if numbers.iter().all(|i| seen.insert(*i)) => Ok((file.into(), numbers)),
        _ => Err(Error::usage(format!(
            "{device}: after @ comes the index of a device, or several different ones separated \
             by commas; `gramer devices` shows them"
        ))),
    }
}

/// Whether the core of a machine does a task; with a graph, also on its labels and its size.
///
/// # Errors
/// [`Error::Usage`] for a task out of range, and [`Error::Unsupported`] with the limit of the machine.
pub fn supports(
    machine: &gramer_machine::Accelerator,
    task: &Task,
    graph: Option<&Graph>,
) -> Result<()> {
    task.check()?;
    match machine.core {
        Core::Paper => tasks::supports(machine, task, graph),
        Core::Set => set::tasks::check(machine, task, graph),
    }
}

impl Engine for Accelerator {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn rule(&self) -> String {
        match self.machine.core {
            Core::Paper => self.settings.comparison.rule(),
            Core::Set => SET_RULE.into(),
        }
    }

    fn supports(&self, task: &Task, graph: Option<&Graph>) -> Result<()> {
        supports(&self.machine, task, graph)
    }

    fn supports_together(&self, task: &Task) -> Result<()> {
        match Asked::of(task).filter(|_| has_plans(&self.machine)) {
            Some(asked) => asked.check(&self.machine, None),
            None => Err(not_together(&self.name, task)),
        }
    }

    fn memories(&self, bytes: u64, context: &Context) -> Result<Vec<MemorySpeed>> {
        let bytes = bytes.min(self.machine.memory.bank_bytes / 2) as usize;
        self.with_session(|session| session.memories(bytes, &context.cancel))
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        if self.machine.core == Core::Set {
            return Ok(Box::new(OnSetCore::new(self, graph, false)));
        }
        let resident = Resident {
            accelerator: self,
            graph,
            labels: tasks::labels(&self.machine, graph).ok(),
            number: next_number(),
        };
        self.with_session(|session| resident.load(session, context))?;
        Ok(Box::new(resident))
    }

    fn prepare_by_ids<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        if self.machine.core == Core::Set {
            return Ok(Box::new(OnSetCore::new(self, graph, true)));
        }
        match self.rule() == BY_IDS {
            true => self.prepare(graph, context),
            false => Err(only_its_kind(&self.name)),
        }
    }
}

/// The rule of the set core: cliques are those of [`BY_IDS`], of motifs each root has a part of the sums.
pub(crate) const SET_RULE: &str = "set core";

/// Tells graphs and images on devices from each other.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Refuses what a set core doesn't share with devices of another kind.
///
/// # Errors
/// [`Error::Unsupported`] for motifs and matches.
pub(crate) fn by_ids_on_set(machine: &gramer_machine::Accelerator, task: &Task) -> Result<()> {
    match task {
        Task::Motif { .. } | Task::Match { .. } => Err(Error::Unsupported(format!(
            "machine {} shares motifs and matches with other set cores alone: name devices of one kind",
            machine.machine.name
        ))),
        _ => Ok(()),
    }
}

/// A graph in the memory of the devices. Tasks find it there as long as no other graph is prepared
/// on the same devices; then it is written anew.
struct Resident<'a> {
    accelerator: &'a Accelerator,
    graph: &'a Graph,
    /// The graph's labels in order, where the machine has room for them.
    labels: Option<Vec<Label>>,
    /// Tells it from others.
    number: u64,
}

impl Resident<'_> {
    /// Writes the graph into the devices' memory unless it is there already.
    fn load(&self, session: &mut Session, context: &Context) -> Result<DeviceImage<'_>> {
        let mut image = DeviceImage::new(self.graph.view(), &self.accelerator.machine);
        if let Some(labels) = &self.labels {
            image = image.with_labels(labels);
        }
        session.load(&image, self.number, context)?;
        Ok(image)
    }
}

impl Prepared for Resident<'_> {
    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        self.accelerator.supports(task, Some(self.graph))?;
        shares::check(self.graph, task, units, sink)?;
        let outcome = self
            .accelerator
            .with_session(|session| tasks::run(session, self, task, units, sink, context))?;
        Ok(outcome.of(units))
    }
}

impl Drop for Resident<'_> {
    fn drop(&mut self) {
        self.accelerator.with_session(|session| session.unload(self.number));
    }
}

/// A graph for the set core; see [`SetResident`].
struct OnSetCore<'a> {
    accelerator: &'a Accelerator,
    resident: SetResident<'a>,
    /// It shares tasks with devices of other kinds.
    by_ids: bool,
}

impl<'a> OnSetCore<'a> {
    fn new(accelerator: &'a Accelerator, graph: &'a Graph, by_ids: bool) -> Self {
        OnSetCore { accelerator, resident: SetResident::new(graph, next_number), by_ids }
    }
}

impl Prepared for OnSetCore<'_> {
    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        task.check()?;
        shares::check(self.resident.graph(), task, units, sink)?;
        if self.by_ids {
            by_ids_on_set(&self.accelerator.machine, task)?;
        }
        let (name, settings) = (&self.accelerator.name, &self.accelerator.settings);
        self.accelerator.with_session(|session| {
            let mut outcome =
                self.resident.run(session, settings, task, (units, sink), context)?.of(units);
            outcome.devices = vec![session.metrics().named(name)];
            Ok(outcome)
        })
    }

    fn run_together(
        &self,
        task: &Task,
        together: &dyn Together,
        context: &Context,
    ) -> Result<Outcome> {
        self.accelerator.supports_together(task)?;
        let asked = Asked::of(task).expect("it was refused above");
        let (name, settings) = (&self.accelerator.name, &self.accelerator.settings);
        self.accelerator.with_session(|session| {
            let with = (None, Some(together));
            let mut outcome = self.resident.frequent(session, settings, asked, with, context)?;
            outcome.devices = vec![session.metrics().named(name)];
            Ok(outcome)
        })
    }
}

impl Drop for OnSetCore<'_> {
    fn drop(&mut self) {
        let numbers = self.resident.numbers();
        self.accelerator.with_session(|session| numbers.map(|number| session.unload(number)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_a_file_with_indices() {
        assert!(is_xclbin("a.xclbin") && is_xclbin("dir/a.xclbin@1") && is_xclbin("a.xclbin@0,2"));
        assert!(!is_xclbin("cpu") && !is_xclbin("emulator:a.yaml"));
        assert_eq!(parse("a.xclbin").unwrap(), ("a.xclbin".into(), vec![0]));
        assert_eq!(parse("d@e/a.xclbin").unwrap(), ("d@e/a.xclbin".into(), vec![0]));
        assert_eq!(parse("d@e/a.xclbin@3").unwrap(), ("d@e/a.xclbin".into(), vec![3]));
        assert_eq!(parse("a.xclbin@0,2").unwrap().1, [0, 2]);
        for wrong in ["a.xclbin@", "a.xclbin@x", "a.xclbin@1,1", "a.xclbin@-1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
