//! Emulated devices: each has a worker, a process of the command `gramer`.
//!
//! The Xilinx Runtime takes an emulation from the environment of the program that it is loaded into, and may
//! end that program with its own. So a worker opens the device and answers all runs, whole or of shares, in phases, on
//! any number of graphs, which it gets as images ([`serve()`]). It ends with its [`EmulatedDevice`]. The calling program is neither
//! copied nor started again.

mod message;
mod resident;
mod serve;
mod worker;

pub use message::WorkerSetup;
pub use serve::serve;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::Duration;

use gramer_base::context::{Cancel, Context};
use gramer_base::error::{Error, Result};
use gramer_engine::{Ask, Choices, Device, Engine, PreparedGraph};
use gramer_graph::Graph;
use gramer_machine::trust;
use rustix::process::{Resource, getrlimit};

use crate::launch::{self, Request};
use crate::methods::choose_on;
use crate::session::MemorySpeed;
use crate::settings::Settings;
use crate::xclbin::build::ShowBuild;
use resident::WorkerGraph;
use worker::Worker;

/// The helper, and the variable that names it elsewhere.
pub const HELPER: &str = "gramer";
/// See [`HELPER`].
pub const VARIABLE: &str = "GRAMER";
/// Where `make install` puts it by default.
const INSTALLED: [&str; 2] = ["/usr/local/bin", "/usr/bin"];
/// Its command that serves a program; the name of the device follows.
pub const COMMAND: &str = "worker";
/// How often it is looked whether a run shall stop.
const LOOK: Duration = Duration::from_millis(5);

/// How a worker is started.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Shows how far the build of a model is.
    pub build: Option<ShowBuild>,
    /// Receives each line of the worker's standard error, except the last lines of a failing worker.
    pub lines: Option<fn(&str)>,
    /// Variables of its environment.
    pub environment: Vec<(&'static str, String)>,
    /// Have the device say what each PU does over time.
    pub timeline: bool,
}

/// A device behind the command `gramer`: an emulated one, or a card of a program that doesn't open it itself.
///
/// ```no_run
/// use gramer_accelerator::{emulated::EmulatedDevice, settings::Settings};
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
/// let device = EmulatedDevice::open("emulator:small", Settings::default())?;
/// let outcome = device.run(&graph, &Task::Clique { k: 3 }, None, &Context::default())?;
/// assert_eq!(outcome.results[0].count, 1);
/// # Ok::<(), gramer_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct EmulatedDevice {
    name: String,
    helper: PathBuf,
    machine: gramer_machine::Accelerator,
    settings: Settings,
    options: Options,
    /// What is emulated; `None` for a device that needs no emulation.
    emulation: Option<Request>,
    /// From the first use on; a run has the device to itself. Clones share it.
    worker: Arc<Mutex<Option<Worker>>>,
}

impl EmulatedDevice {
    /// A device as the command line names it: `emulator[:MACHINE][:functional]`, or `FILE.xclbin[@INDEX]`. The helper is that of [`find_helper`].
    ///
    /// # Errors
    /// [`Error::Usage`] for another name, [`Error::Device`] where the helper is missing, with how to
    /// get it, and those of reading the machine.
    pub fn open(device: &str, settings: Settings) -> Result<Self> {
        Self::with_helper(device, settings, find_helper()?)
    }

    /// The same with a helper that lies elsewhere.
    ///
    /// # Errors
    /// As [`EmulatedDevice::open`].
    pub fn with_helper(device: &str, settings: Settings, helper: PathBuf) -> Result<Self> {
        let emulation = launch::parse(device)?;
        if emulation.is_none() && !crate::is_xclbin(device) {
            return Err(Error::usage(format!(
                "{device} is not an emulated device: name `emulator`, `emulator:MACHINE`, or an xclbin"
            )));
        }
        let machine = crate::machine_of(device)?;
        settings.check(&machine)?;
        let (name, options, worker) = (device.into(), Options::default(), Arc::default());
        Ok(EmulatedDevice { name, helper, machine, settings, options, emulation, worker })
    }

    /// The same with a worker that is started in this way.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        EmulatedDevice { options, ..self }
    }

    /// Starts the worker, which opens the device, unless it is there. Other functions do it when they need one.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for what is missing, with how to get it; [`Error::Device`] if the device doesn't open;
    /// [`Error::Interrupted`].
    pub fn start(&self, cancel: &Cancel) -> Result<()> {
        self.started(&mut *self.free(cancel)?, cancel).map(|_| ())
    }

    /// Ends the worker, unless a run uses it; the next use starts another one.
    pub fn end(&self) {
        if let Ok(mut worker) = self.worker.try_lock() {
            drop(worker.take());
        }
    }

    /// True of clones of one device.
    pub fn shares_worker(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.worker, &other.worker)
    }

    /// The worker, once no other run uses it.
    fn free(&self, cancel: &Cancel) -> Result<MutexGuard<'_, Option<Worker>>> {
        loop {
            match self.worker.try_lock() {
                Ok(worker) => return Ok(worker),
                Err(TryLockError::Poisoned(worker)) => return Ok(worker.into_inner()),
                Err(TryLockError::WouldBlock) => cancel.check()?,
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Writes and reads about `bytes` bytes in each memory bank; see [`Accelerator::memories`](crate::Accelerator::memories).
    ///
    /// # Errors
    /// Those of the device, and as [`EmulatedDevice::start`].
    pub fn memories(&self, bytes: u64, context: &Context) -> Result<Vec<MemorySpeed>> {
        let mut kept = self.free(&context.cancel)?;
        let measured = self.started(&mut kept, &context.cancel)?.measure(bytes, &context.cancel);
        self.heard(&mut kept, measured, &context.cancel)
    }

    fn started<'w>(&self, kept: &'w mut Option<Worker>, cancel: &Cancel) -> Result<&'w mut Worker> {
        Ok(match kept {
            Some(worker) => worker,
            None => kept.insert(Worker::start(self, cancel).map_err(limited)?),
        })
    }

    /// What came of a question to the worker. One that is not there any more is forgotten, and the next question starts
    /// another one.
    fn heard<T>(
        &self,
        kept: &mut Option<Worker>,
        heard: Result<T, worker::WorkerFailure>,
        cancel: &Cancel,
    ) -> Result<T> {
        heard.map_err(|lost| {
            let worker = kept.take().expect("it was asked");
            let (worker, error) = worker.after(&self.name, lost, cancel);
            *kept = worker;
            limited(error)
        })
    }

    /// The machine that is emulated.
    pub fn machine(&self) -> &gramer_machine::Accelerator {
        &self.machine
    }

    /// The program that is started.
    pub fn helper(&self) -> &Path {
        &self.helper
    }
}

/// Finds the command `gramer`: the one that the variable [`VARIABLE`] names, else beside this program (by the rules of
/// [`trust`]), on the `PATH`, or where it is installed.
///
/// # Errors
/// [`Error::Device`] with how to get it.
pub fn find_helper() -> Result<PathBuf> {
    find_helper_of(std::env::current_exe().ok().as_deref())
}

/// The same for a program at another place.
///
/// # Errors
/// As [`find_helper`].
pub fn find_helper_of(own: Option<&Path>) -> Result<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    helper_among(named, own, std::env::split_paths(&path))
}

fn helper_among(
    named: Option<PathBuf>,
    own: Option<&Path>,
    path: impl Iterator<Item = PathBuf>,
) -> Result<PathBuf> {
    if let Some(named) = named {
        return match named.is_file() {
            true => Ok(std::path::absolute(&named).unwrap_or(named)),
            false => Err(Error::Device(format!(
                "{VARIABLE} is {}, but there is no such file; it names the command `{HELPER}`, which runs \
                 emulated devices",
                named.display()
            ))),
        };
    }
    let search = trust::search(HELPER, own, path.chain(INSTALLED.map(PathBuf::from)));
    let reasons = search.reasons();
    search.found.ok_or_else(|| {
        Error::Device(format!(
            "the command `{HELPER}`, which runs emulated devices, is neither beside this program, nor on \
             the PATH, nor in {}: build it with `cargo build --release -p gramer-cli`, install it with \
             `make install`, or name it in {VARIABLE}{reasons}",
            INSTALLED.join(" or ")
        ))
    })
}

/// Processes of an emulation and their threads, which a limit may be too small for.
const PROCESSES: u64 = 64;

/// The failure of an emulation, with the limits of the system that it may have met: its programs are those of others, and
/// say nothing of them.
fn limited(error: Error) -> Error {
    let of = |resource| getrlimit(resource).current;
    let mut limits = vec![];
    if of(Resource::As).or(of(Resource::Data)).is_some() {
        limits.push("memory (ulimit -v, ulimit -d)");
    }
    if of(Resource::Nproc).is_some_and(|most| most < PROCESSES) {
        limits.push("processes (ulimit -u)");
    }
    let what = match &error {
        Error::Device(what) if !what.contains("limit") => what.clone(),
        Error::Io { .. } => error.to_string(),
        _ => return error,
    };
    match limits[..] {
        [] => error,
        _ => Error::Device(format!(
            "{what}; the system limits the {} of this process, which an emulation shares: raise the limit",
            limits.join(" and the ")
        )),
    }
}

impl Engine for EmulatedDevice {
    fn device(&self) -> Device {
        let kind = "accelerator".into();
        Device { kind, model: self.name.clone(), ..Device::named(&self.name) }
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        choose_on(&self.machine, &self.settings, ask)
    }

    fn prepare(&self, graph: &Graph, context: &Context) -> Result<PreparedGraph> {
        let resident = WorkerGraph::new(self, graph, context)?;
        resident.load(&mut *self.free(&context.cancel)?, &context.cancel)?;
        Ok(PreparedGraph::new(self.clone(), graph, resident))
    }
}

#[cfg(test)]
mod tests;
