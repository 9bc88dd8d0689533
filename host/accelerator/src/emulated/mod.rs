//! Emulated devices for programs that use this library.
//!
//! The Xilinx Runtime takes an emulation from the environment of the program that it is loaded into, and may
//! end that program with its own. So the command `gramer` drives an emulated device: a helper, which is
//! started for each task, gets the graph as an image and the task as a job, and leaves its answer in a
//! file. The calling program is neither copied nor started again. Embeddings come when a run has ended.
//!
//! A share of a run is a task for the helper, too, so several such devices mine together
//! (`gramer_many::Many`) and runs go on where they were stopped; each share starts the device anew, which
//! takes a second or so.

mod helper;

use std::path::{Path, PathBuf};
use std::time::Duration;

use gramer_engine::{Ask, Choices, Engine, Prepared};
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, image};
use gramer_machine::trust;

use crate::launch::{self, Request};
use crate::methods::choose_on;
use crate::settings::Settings;
use crate::xclbin::Xclbin;
use crate::xclbin::build::read_machine;
use helper::{GRAPH, OnHelper};

/// The helper, and the variable that names it elsewhere.
pub const HELPER: &str = "gramer";
/// See [`HELPER`].
pub const VARIABLE: &str = "GRAMER";
/// Where `make install` puts it unless it is told another place.
const INSTALLED: [&str; 2] = ["/usr/local/bin", "/usr/bin"];
/// The version of the answers that are understood here.
const SCHEMA: u64 = 1;
/// So long the helper may take to end when it was asked to: it stops between two runs of the kernels.
const ENDS_WITHIN: Duration = Duration::from_secs(10);

/// An emulated device, behind the command `gramer`.
///
/// ```no_run
/// use gramer_accelerator::{emulated::Emulated, settings::Settings};
/// use gramer_engine::Engine;
/// use gramer_graph::{Builder, Context};
/// use gramer_pattern::Task;
///
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (1, 2), (2, 0)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let device = Emulated::open("emulator:small", Settings::default())?;
/// let outcome = device.run(&graph, &Task::Clique { k: 3 }, None, &Context::default())?;
/// assert_eq!(outcome.results[0].count, 1);
/// # Ok::<(), gramer_graph::Error>(())
/// ```
#[derive(Debug)]
pub struct Emulated {
    name: String,
    helper: PathBuf,
    machine: gramer_machine::Accelerator,
    settings: Settings,
}

impl Emulated {
    /// A device as the command line names it: `emulator[:MACHINE][:functional]`, or `FILE.xclbin[@INDEX]` of
    /// an emulation. The helper is that of [`find_helper`].
    ///
    /// # Errors
    /// [`Error::Usage`] for another name, [`Error::Unsupported`] where the helper is missing, with how to
    /// get it, and those of reading the machine.
    pub fn open(device: &str, settings: Settings) -> Result<Self> {
        Self::with_helper(device, settings, find_helper()?)
    }

    /// The same with a helper that lies elsewhere.
    ///
    /// # Errors
    /// As [`Emulated::open`].
    pub fn with_helper(device: &str, settings: Settings, helper: PathBuf) -> Result<Self> {
        let machine = match launch::parse(device)? {
            Some(Request::Machine { machine, .. }) => read_machine(machine.as_deref())?,
            Some(Request::File { path, .. }) => {
                let xclbin = Xclbin::read(&path)?;
                xclbin.machine()?.ok_or_else(|| xclbin.no_machine())?
            }
            None => {
                return Err(Error::usage(format!(
                    "{device} is no emulated device: name `emulator`, `emulator:MACHINE`, or the xclbin of \
                     an emulation"
                )));
            }
        };
        settings.check(&machine)?;
        Ok(Emulated { name: device.into(), helper, machine, settings })
    }

    /// The machine that is emulated.
    pub fn machine(&self) -> &gramer_machine::Accelerator {
        &self.machine
    }

    /// Writes a graph where the helper reads it.
    fn on_helper<'a>(&'a self, graph: &'a Graph, context: &Context) -> Result<OnHelper<'a>> {
        context.cancel.check()?;
        let folder = tempfile::Builder::new().prefix("gramer-helper-").tempdir();
        let folder = folder.map_err(|e| Error::io(std::env::temp_dir(), "make a folder in", e))?;
        image::write(&folder.path().join(GRAPH), graph, "graph")?;
        Ok(OnHelper { device: self, graph, folder })
    }

    /// The program that is started for each task.
    pub fn helper(&self) -> &Path {
        &self.helper
    }
}

/// Finds the command `gramer`: what the variable [`VARIABLE`] names, else beside this program (as [`trust`] has
/// it), on the `PATH`, or where it is installed.
///
/// # Errors
/// [`Error::Unsupported`] with how to get it.
pub fn find_helper() -> Result<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    let own = std::env::current_exe().ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    helper_among(named, own.as_deref(), std::env::split_paths(&path))
}

fn helper_among(
    named: Option<PathBuf>,
    own: Option<&Path>,
    path: impl Iterator<Item = PathBuf>,
) -> Result<PathBuf> {
    if let Some(named) = named {
        return match named.is_file() {
            true => Ok(std::path::absolute(&named).unwrap_or(named)),
            false => Err(Error::Unsupported(format!(
                "{VARIABLE} is {}, but there is no such file; it names the command `{HELPER}`, which runs \
                 emulated devices",
                named.display()
            ))),
        };
    }
    let search = trust::search(HELPER, own, path.chain(INSTALLED.map(PathBuf::from)));
    let reasons = search.reasons();
    search.found.ok_or_else(|| {
        Error::Unsupported(format!(
            "the command `{HELPER}`, which runs emulated devices, is neither beside this program, nor on \
             the PATH, nor in {}: build it with `cargo build --release -p gramer-cli`, install it with \
             `make install`, or name it in {VARIABLE}{reasons}",
            INSTALLED.join(" or ")
        ))
    })
}

impl Engine for Emulated {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        choose_on(&self.machine, &self.settings, ask)
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        Ok(Box::new(self.on_helper(graph, context)?))
    }
}

#[cfg(test)]
mod tests;
