//! The engine: which task goes to which strategy.

mod effect;
pub(crate) mod measured;
mod methods;
mod on_device;
mod on_gpu;
mod run;
mod trial;

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use gramer_engine::{Ask, Choices, Engine, Needs, Prepared, Scheme};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::parallel::start;

use crate::device::Device;
use crate::graph::ByDegree;
use crate::room::Sizes;
use crate::select::{self, select};
use crate::table::TableSettings;
use crate::wide::Shape;
use crate::{Settings, Steps, Yardsticks, platform};
pub(crate) use on_device::of_counted;
use on_gpu::OnGpu;
pub use trial::Trial;

/// A GPU behind OpenCL.
///
/// ```no_run
/// use gramer_engine::Engine;
/// use gramer_gpu::{Gpu, Settings};
/// use gramer_graph::{Builder, Context};
/// use gramer_pattern::Task;
///
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (1, 2), (2, 0)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let gpu = Gpu::open("gpu", &Settings::default())?;
/// let outcome = gpu.run(&graph, &Task::Clique { k: 3 }, None, &Context::default())?;
/// assert_eq!(outcome.results[0].count, 1);
/// # Ok::<(), gramer_graph::Error>(())
/// ```
pub struct Gpu {
    name: String,
    found: platform::NamedDevice,
    settings: Settings,
    /// The trace at `profile` is this engine's.
    traced: AtomicBool,
    /// The context takes a tenth of a second, in which the host may read a graph.
    opening: Mutex<Option<JoinHandle<Result<Device>>>>,
    opened: OnceLock<Arc<Device>>,
}

/// A driver that is still being opened when the process ends may crash it.
impl Drop for Gpu {
    fn drop(&mut self) {
        let opening = self.opening.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = opening.take() {
            // Nobody waits for the device any more, nor for why it can't be opened.
            let _ = thread.join();
        }
    }
}

impl Gpu {
    /// Opens the device that `gpu…` names; results call it so.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that no device has, [`Error::Device`] where there is none or it
    /// can't be opened.
    pub fn open(device: &str, settings: &Settings) -> Result<Self> {
        let _phase = gramer_graph::memory::Phase::begin(&"opening the OpenCL device");
        let handle = select(device)?;
        let (found, own) = (handle.found.clone(), settings.clone());
        let opening = start("that opens the device", move || Device::open(handle, &own))?;
        let opening = Mutex::new(Some(opening));
        let (name, opened) = (device.into(), OnceLock::new());
        let (settings, traced) = (settings.clone(), AtomicBool::new(false));
        Ok(Gpu { name, found, settings, traced, opening, opened })
    }

    /// The device, once it is open.
    ///
    /// # Errors
    /// [`Error::Device`] where it can't be opened.
    pub(crate) fn device(&self) -> Result<&Arc<Device>> {
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = opening.take() {
            let device = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let device = Arc::new(device);
            if self.settings.stays_open {
                std::mem::forget(device.clone());
            }
            let _ = self.opened.set(device);
        }
        self.opened.get().ok_or_else(|| Error::Device(format!("{} was not opened", self.name)))
    }

    /// What the user should know of the device beside an answer.
    pub(crate) fn notes(&self) -> Vec<String> {
        let processor = (self.found.kind != "gpu" && self.name != select::PORTABLE).then(|| {
            format!(
                "{} is no GPU but a processor behind OpenCL ({}): the engine `cpu` is faster there",
                self.name, self.found.name
            )
        });
        let cache = self.opened.get().and_then(|device| device.cache_note());
        processor.into_iter().chain(cache).collect()
    }

    /// What was opened.
    pub fn found(&self) -> &platform::NamedDevice {
        &self.found
    }

    /// Bytes of device memory: what may be used, and the most that was in use at a time.
    ///
    /// # Errors
    /// [`Error::Device`] where the device can't be opened.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let budget = &self.device()?.budget;
        Ok((budget.limit(), budget.peak()))
    }

    /// Programs that were built from source, and that came from the cache, since it was opened.
    ///
    /// # Errors
    /// As [`Gpu::memory`].
    pub fn programs(&self) -> Result<(u64, u64)> {
        let work = &self.device()?.work;
        Ok((work.built.load(Relaxed), work.cached.load(Relaxed)))
    }

    /// What the device does at most, measured now.
    ///
    /// # Errors
    /// As [`Gpu::memory`], and [`Error::Unsupported`] where the budget has no room for what is read.
    pub fn yardsticks(&self) -> Result<Yardsticks> {
        Yardsticks::measure(self.device()?)
    }
}

impl Gpu {
    /// How tables use the memories.
    pub(crate) fn of_tables(&self) -> &TableSettings {
        &self.settings.table
    }

    /// Steps of SGSI that are taken.
    pub(crate) fn steps(&self) -> Steps {
        self.settings.steps
    }

    /// What a task takes at least on a graph.
    fn sizes<'a>(&self, graph: &'a Graph, by: &'a ByDegree) -> Result<Sizes<'a>> {
        Ok(Sizes { graph, by, limits: self.device()?.limits, steps: self.settings.steps })
    }

    /// How the strategy `wide` divides its work.
    fn shape(&self) -> Shape {
        Shape { balance: self.settings.balance, tile: self.settings.tile.unwrap_or_default() }
    }
}

impl Engine for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        let mut choices = self.settings.choose(ask);
        // The parts of twins are those of one hardware.
        for plan in choices.fits.iter_mut().filter(|_| ask.terms.has(Needs::TWINS)) {
            if let Scheme::Own { settings, .. } = &mut plan.scheme {
                settings.push(("device".into(), self.found.name.clone()));
            }
        }
        choices
    }

    fn runs_cost(&self) -> bool {
        true
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        _context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        self.device()?;
        Ok(Box::new(OnGpu::new(self, graph)))
    }
}
