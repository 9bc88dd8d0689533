//! The engine: which task goes to which strategy.

mod effect;
pub(crate) mod measured;
mod no_room;
mod on_device;
mod run;
mod trial;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;

use gramer_engine::{Engine, Prepared};
use gramer_graph::Graph;
use gramer_graph::choice::Choice;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::parallel::start;
use gramer_pattern::SMALL_VERTICES;
use gramer_pattern::task::{Induced, Task};

use crate::device::Device;
use crate::graph::{ByDegree, Numbering};
use crate::program::Heeding;
use crate::resident::Resident;
use crate::room::Sizes;
use crate::search;
use crate::select::{self, select};
use crate::stop::Watched;
use crate::table::{self, TableSettings};
use crate::wide;
use crate::wide::Shape;
use crate::{Settings, Steps, Strategy, Yardsticks, platform};
use no_room::NoRoom;
use on_device::OnDevice;
pub(crate) use on_device::of_counted;
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
    strategy: Option<Strategy>,
    shape: Shape,
    stays_open: bool,
    table: TableSettings,
    steps: Steps,
    profile: Option<PathBuf>,
    /// The trace at `profile` is this engine's.
    traced: AtomicBool,
    trial: Option<Trial>,
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
        let (found, settings) = (handle.found.clone(), settings.clone());
        let Settings { strategy, balance, tile, steps, trial, stays_open, ref profile, .. } =
            settings;
        let shape = Shape { balance, tile: tile.unwrap_or_default() };
        let (profile, table) = (profile.clone(), settings.table.clone());
        let opening = start("that opens the device", move || Device::open(handle, &settings))?;
        let opening = Mutex::new(Some(opening));
        let (name, opened) = (device.into(), OnceLock::new());
        Ok(Gpu {
            name,
            found,
            strategy,
            shape,
            stays_open,
            table,
            steps,
            profile,
            traced: AtomicBool::new(false),
            trial,
            opening,
            opened,
        })
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
            if self.stays_open {
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
        &self.table
    }

    /// Steps of SGSI that are taken.
    pub(crate) fn steps(&self) -> Steps {
        self.steps
    }

    /// What a task takes at least on a graph.
    fn sizes<'a>(&self, graph: &'a Graph, by: &'a ByDegree) -> Result<Sizes<'a>> {
        Ok(Sizes { graph, by, limits: self.device()?.limits, steps: self.steps })
    }

    /// How a task is done.
    fn strategy(&self, task: &Task) -> Result<Strategy> {
        chosen(self.strategy, task)
    }
}

/// The strategies that count what a task asks for, the fastest first.
fn able(task: &Task) -> &'static [Strategy] {
    use Strategy::{Formula, Local, Plan, Table, Wide};
    match task {
        Task::Clique { k } if *k <= wide::MOST_VERTICES => &[Local, Plan, Wide, Table],
        Task::Clique { .. } => &[Local, Plan, Table],
        Task::CliqueSizes { .. } => &[Local, Plan],
        Task::Motif { k: 3 | 4, .. } => &[Formula, Plan, Wide, Table],
        Task::Motif { k: 5, .. } => &[Formula, Wide, Plan, Table],
        Task::Motif { k: 6, .. } => &[Wide, Plan, Table],
        Task::Motif { .. } => &[Wide, Table],
        Task::Match { .. } | Task::Fsm { .. } => &[Plan, Table],
        _ => &[Plan],
    }
}

/// How a task is counted: as was said, or in the fastest way.
fn chosen(said: Option<Strategy>, task: &Task) -> Result<Strategy> {
    let able = able(task);
    match said {
        None => Ok(able[0]),
        Some(said) if able.contains(&said) => Ok(said),
        Some(said) => {
            let able: Vec<&str> = able.iter().map(|s| s.name()).collect();
            Err(Error::Unsupported(format!(
                "the strategy {} doesn't do this; {} does",
                said.name(),
                able.join(" or ")
            )))
        }
    }
}

/// What can't be done here is done there.
fn refuse<T>(what: &str) -> Result<T> {
    Err(Error::Unsupported(format!("the GPU engine has no {what} yet; the engine `cpu` does it")))
}

impl Gpu {
    fn on_device<'a>(
        &'a self,
        graph: &'a Graph,
        numbering: Numbering,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        let _heeding = Heeding::begin(&context.cancel);
        let _watched = Watched::begin(&context.cancel, None)?;
        let device = self.device()?;
        device.budget.take_refusal();
        match Resident::new(device.clone(), graph, numbering, context) {
            Ok(resident) => Ok(Box::new(OnDevice::new(self, resident, numbering, graph))),
            Err(error) => match device.budget.take_refusal() {
                // How much would do depends on the task.
                Some(refusal) => Ok(Box::new(NoRoom { gpu: self, graph, numbering, refusal })),
                None => Err(error),
            },
        }
    }
}

impl Engine for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    /// Strategies count an embedding in different units.
    fn rule(&self) -> String {
        let strategy = self.strategy.map_or("fastest", |strategy| strategy.name());
        let order = self.steps.order.name();
        // The paper's order follows from the numbers of candidates, which these change for joins of tables.
        let by_signatures = self.strategy == Some(Strategy::Table)
            && self.steps.signatures
            && self.steps.order == search::Order::Paper;
        let signatures = if by_signatures { " by signatures" } else { "" };
        format!("gpu, {strategy}, order {order}{signatures}")
    }

    fn runs_cost(&self) -> bool {
        true
    }

    fn supports(&self, task: &Task, graph: Option<&Graph>) -> Result<()> {
        task.check()?;
        match task {
            Task::Motif { k: 7.., induced: Induced::Edge } => {
                refuse("edge-induced motifs of more than 6 vertices")
            }
            Task::CliqueSizes { largest, .. } if *largest > SMALL_VERTICES => {
                refuse(&format!("cliques of more than {SMALL_VERTICES} vertices"))
            }
            Task::Clique { .. } | Task::CliqueSizes { .. } | Task::Motif { .. } => {
                self.strategy(task).map(drop)
            }
            Task::MaximalCliques => refuse("maximal cliques"),
            Task::Fsm { .. } => self.strategy(task).map(drop),
            Task::Match { pattern, .. } if pattern.vertices() > SMALL_VERTICES => {
                refuse(&format!("matches of patterns of more than {SMALL_VERTICES} vertices"))
            }
            Task::Match { pattern, mappings, .. } => {
                self.strategy(task)?;
                match graph {
                    Some(graph) => search::comparable(graph, pattern, *mappings).map(drop),
                    None => Ok(()),
                }
            }
            other => refuse(other.name()),
        }
    }

    fn supports_together(&self, task: &Task) -> Result<()> {
        self.supports(task, None)?;
        match task {
            Task::Fsm { .. }
                if self
                    .strategy
                    .is_none_or(|said| matches!(said, Strategy::Plan | Strategy::Table)) =>
            {
                Ok(())
            }
            Task::Clique { .. } if self.strategy.is_none_or(|said| said == Strategy::Local) => {
                Ok(())
            }
            Task::Motif { k: 3..=5, .. }
                if self.strategy.is_none_or(|s| s == Strategy::Formula) =>
            {
                Ok(())
            }
            other => Err(Error::Unsupported(format!(
                "several GPUs do the task {} in shares",
                other.name()
            ))),
        }
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        let _phase = gramer_graph::memory::Phase::begin(&"bringing the graph to the GPU");
        if self.strategy == Some(Strategy::Table) {
            let _heeding = Heeding::begin(&context.cancel);
            let _watched = Watched::begin(&context.cancel, None)?;
            return Ok(Box::new(table::OnTable::new(self, graph, &self.table, context)?));
        }
        self.on_device(graph, Numbering::Degree, context)
    }

    fn prepare_by_ids<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        if self.strategy == Some(Strategy::Table) {
            return Err(Error::Unsupported(
                "the strategy table has no rule that devices of different kinds share; leave out the \
                 setting `strategy`, or name GPUs alone"
                    .into(),
            ));
        }
        if self.steps.order == search::Order::Paper {
            return Err(Error::Unsupported(
                "devices of different kinds take a pattern's vertices in one order, which is not that \
                 of the paper: leave out the setting `order`, or name GPUs alone"
                    .into(),
            ));
        }
        self.on_device(graph, Numbering::Ids, context)
    }
}
