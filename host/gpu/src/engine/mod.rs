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

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::start;
use gramer_engine::{Ask, Choices, Engine, Needs, PreparedGraph, Scheme};
use gramer_graph::Graph;
use gramer_pattern::task::Task;

use crate::device::Device;
use crate::graph::ByDegree;
use crate::room::Sizes;
use crate::select::{self, select};
use crate::table::TableSettings;
use crate::wide::Shape;
use crate::{Settings, Steps, Strategy, Yardsticks, platform};
pub(crate) use on_device::of_counted;
use on_gpu::GpuGraph;
pub use trial::Trial;

/// A GPU behind OpenCL.
///
/// ```no_run
/// use gramer_engine::EngineExt;
/// use gramer_gpu::{Gpu, Settings};
/// use gramer_base::Context;
/// use gramer_graph::Builder;
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
/// # Ok::<(), gramer_base::Error>(())
/// ```
#[derive(Clone)]
pub struct Gpu {
    shared: Arc<SharedState>,
}

/// State shared by the copies of an engine.
struct SharedState {
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
impl Drop for SharedState {
    fn drop(&mut self) {
        let opening = self.opening.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = opening.take() {
            // The device and a possible error are no longer needed.
            let _ = thread.join();
        }
    }
}

impl Gpu {
    /// Opens the device that `gpu…` names; results use this name.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that no device has, [`Error::Device`] if there is none or it
    /// can't be opened.
    pub fn open(device: &str, settings: &Settings) -> Result<Self> {
        let _phase = gramer_base::memory::Phase::begin(&"opening the OpenCL device");
        let handle = select(device)?;
        let (found, own) = (handle.found.clone(), settings.clone());
        let opening = start("that opens the device", move || Device::open(handle, &own))?;
        let opening = Mutex::new(Some(opening));
        let (name, opened) = (device.into(), OnceLock::new());
        let (settings, traced) = (settings.clone(), AtomicBool::new(false));
        let shared = SharedState { name, found, settings, traced, opening, opened };
        Ok(Gpu { shared: Arc::new(shared) })
    }

    /// The device, once it is open.
    ///
    /// # Errors
    /// [`Error::Device`] where it can't be opened.
    pub(crate) fn device(&self) -> Result<&Arc<Device>> {
        let shared = &*self.shared;
        let mut opening = shared.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = opening.take() {
            let device = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let device = Arc::new(device);
            if shared.settings.stays_open {
                std::mem::forget(device.clone());
            }
            let _ = shared.opened.set(device);
        }
        shared.opened.get().ok_or_else(|| Error::Device(format!("{} was not opened", shared.name)))
    }

    /// Warnings about the device.
    pub(crate) fn notes(&self) -> Vec<String> {
        let SharedState { name, found, opened, .. } = &*self.shared;
        let processor = (found.kind != "gpu" && name != select::PORTABLE).then(|| {
            format!(
                "{name} is not a GPU but a processor behind OpenCL ({}): the engine `cpu` is faster there",
                found.name
            )
        });
        let cache = opened.get().and_then(|device| device.cache_note());
        processor.into_iter().chain(cache).collect()
    }

    /// The opened device.
    pub fn found(&self) -> &platform::NamedDevice {
        &self.shared.found
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

    /// Peak rates of the device, measured now.
    ///
    /// # Errors
    /// As [`Gpu::memory`], and [`Error::Unsupported`] if the budget is too small for what is read.
    pub fn yardsticks(&self) -> Result<Yardsticks> {
        Yardsticks::measure(self.device()?)
    }

    /// Words per second that kernels read of lists of `length` words at random places of an array of `words`, measured
    /// now.
    ///
    /// # Errors
    /// As [`Gpu::yardsticks`].
    pub fn list_rate(&self, words: usize, length: usize) -> Result<f64> {
        crate::yardstick::list_rate(self.device()?, words, length)
    }

    /// Comparisons per second of searches in lists of 2^`levels` - 1 numbers at random places of an array of `words`,
    /// measured now.
    ///
    /// # Errors
    /// As [`Gpu::yardsticks`].
    pub fn search_rate(&self, words: usize, levels: u32) -> Result<f64> {
        crate::yardstick::search_rate(self.device()?, words, levels)
    }

    /// Counters in global memory per second that are incremented, and that are read, measured now: eight lanes meet
    /// counters that lie `gap` words apart.
    ///
    /// # Errors
    /// As [`Gpu::yardsticks`].
    pub fn counter_rates(&self, gap: usize) -> Result<[f64; 2]> {
        crate::yardstick::counter_rates(self.device()?, gap)
    }
}

impl Gpu {
    /// Settings with which it was opened.
    fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Memory settings of tables.
    pub(crate) fn of_tables(&self) -> &TableSettings {
        &self.settings().table
    }

    /// Steps of SGSI that are taken.
    pub(crate) fn steps(&self) -> Steps {
        self.settings().steps
    }

    /// Minimum memory of a task on a graph.
    fn sizes<'a>(&self, graph: &'a Graph, by: &'a ByDegree) -> Result<Sizes<'a>> {
        Ok(Sizes { graph, by, limits: self.device()?.limits, steps: self.steps() })
    }

    /// The strategy that a task begins with: exploration of motifs of five takes over from their formulas.
    fn first(&self, task: &Task, strategy: Strategy) -> Strategy {
        let five = matches!(task, Task::Motif { k: 5, .. }) && strategy == Strategy::Wide;
        if five && self.settings().strategy.is_none() { Strategy::Formula } else { strategy }
    }

    /// Division of work in the strategy `wide`.
    fn shape(&self) -> Shape {
        let Settings { balance, tile, .. } = self.settings();
        Shape { balance: *balance, tile: tile.unwrap_or_default() }
    }
}

impl Engine for Gpu {
    fn device(&self) -> gramer_engine::Device {
        gramer_engine::Device {
            name: self.shared.name.clone(),
            kind: "gpu".into(),
            model: self.found().name.clone(),
            runs_cost: true,
        }
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        let mut choices = self.settings().choose(ask);
        // The parts of twins are those of one hardware.
        for plan in choices.fits.iter_mut().filter(|_| ask.terms.has(Needs::TWINS)) {
            if let Scheme::Own { settings, .. } = &mut plan.scheme {
                settings.push(("device".into(), self.found().name.clone()));
            }
        }
        choices
    }

    fn prepare(&self, graph: &Graph, _context: &Context) -> Result<PreparedGraph> {
        self.device()?;
        Ok(PreparedGraph::new(self.clone(), graph, GpuGraph::new(self, graph)))
    }
}
