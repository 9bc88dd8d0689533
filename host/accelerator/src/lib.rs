#![doc = include_str!("../README.md")]
//!
//! | module | content |
//! |---|---|
//! | [`runtime`] | platforms, devices, and diagnostics if there are none |
//! | [`xilinx`] | the vendor's extension that places a buffer in a memory bank |
//! | [`settings`] | run-time switches of the accelerator |
//! | [`emulated`] | an emulated device for other programs: the command `gramer` drives it |
//! | [`image`] | layout of a graph in the banks |
//! | [`units`] | ranges of work units, one for each run |
//! | [`filter`] | the user's filter as words of the paper's core |
//! | [`stream`] | contents of the in-stream and the out-stream |
//! | [`set`] | images, units and sums of the set core |
//! | [`session`] | a programmed device: kernels, buffers, runs |
//! | [`metrics`] | metrics of a session |
//! | [`tasks`] | mining tasks as passes of the core |

pub mod emulated;
pub mod filter;
pub mod image;
pub mod launch;
mod methods;
pub mod metrics;
pub mod runtime;
pub mod session;
pub mod set;
pub mod settings;
pub mod stream;
pub mod table;
pub mod tasks;
pub mod units;
pub mod xclbin;
pub mod xilinx;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::method::run_plan;
use gramer_engine::{
    Ask, Choices, Device, DeviceGraph, Engine, Failure, Outcome, Plan, PreparedGraph, Query, Reply,
    Run,
};
use gramer_graph::{Graph, Label};
use gramer_machine::Core;
use image::DeviceImage;
pub use methods::choose_on;
use session::{MemorySpeed, Session};
use set::engine::SetResident;
use settings::Settings;

/// The accelerator behind OpenCL.
///
/// ```no_run
/// use gramer_accelerator::{Accelerator, settings::Settings};
/// use gramer_engine::EngineExt;
/// use gramer_base::Context;
/// use gramer_graph::Builder;
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
/// # Ok::<(), gramer_base::Error>(())
/// ```
#[derive(Clone)]
pub struct Accelerator {
    shared: Arc<SharedState>,
}

/// What copies of an engine share.
struct SharedState {
    name: String,
    /// The file that programs it.
    file: PathBuf,
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
    /// Errors of reading the file, and [`Error::Device`] if the runtime refuses.
    pub fn open(file: &str, name: &str, settings: Settings) -> Result<Self> {
        let (path, indices) = parse(file)?;
        let session = Session::open(&path, &indices, name)?;
        let machine = (**session.machine()).clone();
        settings.check(&machine)?;
        if machine.core == Core::Set {
            set::engine::check(&settings, &machine)?;
        }
        let (name, session) = (name.into(), Mutex::new(session));
        let shared = SharedState { name, file: path, machine, settings, session };
        Ok(Accelerator { shared: Arc::new(shared) })
    }

    /// The machine in the file.
    pub fn machine(&self) -> &gramer_machine::Accelerator {
        &self.shared.machine
    }

    /// Runs `work` with the programmed devices.
    pub fn with_session<T>(&self, work: impl FnOnce(&mut Session) -> T) -> T {
        work(&mut self.shared.session.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Writes and reads about `bytes` bytes in each memory bank of each device, and checks that what was written is
    /// read. No graph may be prepared.
    ///
    /// # Errors
    /// [`Error::Device`] if data read back differ from those written, or the device refuses.
    pub fn memories(&self, bytes: u64, context: &Context) -> Result<Vec<MemorySpeed>> {
        let bytes = bytes.min(self.machine().memory.bank_bytes / 2) as usize;
        self.with_session(|session| session.memories(bytes, &context.cancel))
    }
}

/// Whether `--device` names an xclbin.
pub fn is_xclbin(device: &str) -> bool {
    let file = device.rsplit_once('@').map_or(device, |(file, _)| file);
    [device, file].iter().any(|name| Path::new(name).extension().is_some_and(|e| e == "xclbin"))
}

/// The machine of a device that `--device` names: `emulator[:MACHINE][:functional]`, or that in an xclbin.
///
/// # Errors
/// [`Error::Usage`] for another name, and those of reading the machine or the file.
pub fn machine_of(device: &str) -> Result<gramer_machine::Accelerator> {
    match launch::parse(device)? {
        Some(launch::Request::Machine { machine, .. }) => {
            xclbin::build::read_machine(machine.as_deref())
        }
        Some(launch::Request::File { .. }) | None => {
            let file = xclbin::Xclbin::read(&parse(device)?.0)?;
            file.machine()?.ok_or_else(|| file.no_machine())
        }
    }
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

impl Engine for Accelerator {
    fn device(&self) -> Device {
        let model = self.shared.file.display().to_string();
        Device { kind: "accelerator".into(), model, ..Device::named(&self.shared.name) }
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        choose_on(self.machine(), &self.shared.settings, ask)
    }

    fn prepare(&self, graph: &Graph, context: &Context) -> Result<PreparedGraph> {
        if self.machine().core == Core::Set {
            return Ok(PreparedGraph::new(self.clone(), graph, SetCoreGraph::new(self, graph)));
        }
        let resident = PaperCoreGraph {
            accelerator: self.clone(),
            graph: graph.clone(),
            labels: tasks::labels(self.machine(), graph, "cpu").ok(),
            number: next_number(),
        };
        self.with_session(|session| resident.load(session, context).map(|_| ()))?;
        Ok(PreparedGraph::new(self.clone(), graph, resident))
    }
}

/// Tells graphs and images on devices from each other.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A graph in the memory of the devices. Tasks find it there as long as no other graph is prepared
/// on the same devices; then it is written anew.
pub struct PaperCoreGraph {
    accelerator: Accelerator,
    graph: Graph,
    /// The graph's labels in order, where the machine has room for them.
    labels: Option<Vec<Label>>,
    /// Tells it from others.
    number: u64,
}

impl PaperCoreGraph {
    /// Answers a task by passes of the core.
    fn run(&self, query: &Query, run: &Run<'_>) -> Result<Reply, Failure> {
        let found = self.accelerator.with_session(|session| {
            tasks::run(session, self, query, run.units, run.sink, run.context)
        });
        Ok(found?.into())
    }

    /// Writes the graph into the devices' memory unless it is there already.
    fn load(&self, session: &mut Session, context: &Context) -> Result<DeviceImage<'_>> {
        let mut image = DeviceImage::new(self.graph.view(), self.accelerator.machine());
        if let Some(labels) = &self.labels {
            image = image.with_labels(labels);
        }
        session.load(&image, self.number, context)?;
        Ok(image)
    }
}

impl DeviceGraph for PaperCoreGraph {
    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        run_plan(methods::METHODS, query, self, plan, run)
    }
}

impl Drop for PaperCoreGraph {
    fn drop(&mut self) {
        self.accelerator.with_session(|session| session.unload(self.number));
    }
}

/// A graph for the set core.
pub struct SetCoreGraph {
    accelerator: Accelerator,
    resident: SetResident,
}

impl SetCoreGraph {
    fn new(accelerator: &Accelerator, graph: &Graph) -> Self {
        let resident = SetResident::new(graph, next_number);
        SetCoreGraph { accelerator: accelerator.clone(), resident }
    }

    /// Does work with the devices, and notes what they measured.
    fn in_session(
        &self,
        work: impl FnOnce(&SetResident, &mut Session, &Settings) -> Result<Outcome>,
    ) -> Result<Reply, Failure> {
        let SharedState { name, settings, .. } = &*self.accelerator.shared;
        let found = self.accelerator.with_session(|session| {
            let mut outcome = work(&self.resident, session, settings)?;
            outcome.devices = vec![session.metrics().named(name)];
            Ok(outcome)
        });
        Ok(found.map_err(Failure::Error)?.into())
    }

    /// Counts or lists the matches of a pattern, or lists cliques.
    fn matches(&self, query: &Query, run: &Run<'_>) -> Result<Reply, Failure> {
        self.in_session(|resident, session, settings| {
            resident.matches(session, settings, query, run)
        })
    }
}

impl DeviceGraph for SetCoreGraph {
    fn answer(&self, query: &Query, plan: &Plan, run: &Run<'_>) -> Result<Reply, Failure> {
        run_plan(set::methods::METHODS, query, self, plan, run)
    }
}

impl Drop for SetCoreGraph {
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
