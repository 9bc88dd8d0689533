//! The engine: which task goes to which strategy.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Count, Engine, Outcome, Prepared, Sink, Units};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_pattern::task::{Induced, Task};
use gramer_pattern::{Dictionary, Pattern};

use crate::device::Device;
use crate::formula::{self, Cycles, Four, Three};
use crate::local::{self, Roots};
use crate::memory::Buffer;
use crate::resident::Resident;
use crate::search::{self, Labels, Question};
use crate::select::select;
use crate::{Settings, platform};

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
    found: platform::Found,
    /// The context takes a tenth of a second, in which the host may read a graph.
    opening: Mutex<Option<JoinHandle<Result<Device>>>>,
    opened: OnceLock<Arc<Device>>,
}

impl Gpu {
    /// Opens the device that `gpu…` names; results call it so.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that no device has, [`Error::Device`] where there is none or it
    /// can't be opened.
    pub fn open(device: &str, settings: &Settings) -> Result<Self> {
        let handle = select(device)?;
        let (found, settings) = (handle.found.clone(), settings.clone());
        let opening = std::thread::spawn(move || Device::open(handle, &settings));
        let opening = Mutex::new(Some(opening));
        Ok(Gpu { name: device.into(), found, opening, opened: OnceLock::new() })
    }

    /// The device, once it is open.
    ///
    /// # Errors
    /// [`Error::Device`] where it can't be opened.
    fn device(&self) -> Result<&Arc<Device>> {
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = opening.take() {
            let device = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let _ = self.opened.set(Arc::new(device));
        }
        self.opened.get().ok_or_else(|| Error::Device(format!("{} was not opened", self.name)))
    }

    /// What was opened.
    pub fn found(&self) -> &platform::Found {
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
}

/// What can't be done here is done there.
fn refuse<T>(what: &str) -> Result<T> {
    Err(Error::Unsupported(format!("the GPU engine has no {what} yet; use --device cpu")))
}

impl Engine for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn supports(&self, task: &Task, graph: Option<&Graph>) -> Result<()> {
        task.check()?;
        match task {
            Task::Clique { .. } | Task::Motif { k: 3 | 4, .. } => Ok(()),
            Task::Motif { k, .. } => refuse(&format!("motifs of {k} vertices, only of 3 and 4")),
            Task::MaximalCliques => refuse("maximal cliques"),
            Task::Fsm { .. } => refuse("frequent patterns"),
            Task::Match { pattern, mappings, .. } => match graph {
                Some(graph) => search::comparable(graph, pattern, *mappings).map(drop),
                None => Ok(()),
            },
            other => refuse(&format!("strategy for the task {}", other.name())),
        }
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        let resident = Resident::new(self.device()?.clone(), graph, context)?;
        Ok(Box::new(OnDevice {
            gpu: self,
            resident,
            running: Mutex::new(()),
            roots: Default::default(),
            cycles: OnceLock::new(),
            edges: OnceLock::new(),
            graph,
            labels: OnceLock::new(),
        }))
    }
}

/// A graph on the device, with what tasks derive from it.
struct OnDevice<'a> {
    gpu: &'a Gpu,
    resident: Resident,
    /// Tasks share the sums: one runs at a time.
    running: Mutex<()>,
    /// By [`Roots::deep`].
    roots: [OnceLock<Roots>; 2],
    cycles: OnceLock<Cycles>,
    edges: OnceLock<Buffer<u32>>,
    graph: &'a Graph,
    labels: OnceLock<Labels>,
}

/// The value of a cell, made by `make` if it has none.
fn made<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if cell.get().is_none() {
        let _ = cell.set(make()?);
    }
    Ok(cell.get().expect("it was set above"))
}

impl OnDevice<'_> {
    /// The roots for cliques of `k`.
    fn roots(&self, k: usize) -> Result<&Roots> {
        let deep = Roots::deep(k);
        made(&self.roots[usize::from(deep)], || Roots::new(&self.resident, deep))
    }

    fn cliques(&self, k: usize, context: &Context) -> Result<Outcome> {
        let roots = self.roots(k)?;
        self.resident.begin()?;
        let complete = local::count(&self.resident, roots, k, None, context)?;
        // What was counted before the stop is a lower bound, unless roots were still being weighed.
        let count = if complete || k < 6 { self.resident.read()?[0] } else { 0 };
        Ok(Outcome::new(vec![Count { pattern: Pattern::clique(k), count }], complete))
    }

    /// Counts a pattern by search, and hands what is found to the sink.
    fn matches(
        &self,
        pattern: &Pattern,
        induced: Induced,
        mappings: bool,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<(Count, bool)> {
        let asked = search::comparable(self.graph, pattern, mappings)?;
        let labels = made(&self.labels, || Labels::new(&self.resident, self.graph))?;
        let question = Question { given: pattern, induced, mappings, sink };
        let (count, complete) =
            search::run(&self.resident, self.graph, labels, &asked, &question, context)?;
        Ok((Count { pattern: pattern.clone(), count }, complete))
    }

    /// Lists the embeddings of cliques or motifs, pattern by pattern.
    fn list(
        &self,
        patterns: &[Pattern],
        induced: Induced,
        sink: &dyn Sink,
        context: &Context,
    ) -> Result<Outcome> {
        let (mut results, mut complete) = (vec![], true);
        for pattern in patterns {
            let found = match complete {
                true => self.matches(pattern, induced, false, Some(sink), context)?,
                false => (Count { pattern: pattern.clone(), count: 0 }, false),
            };
            complete &= found.1;
            results.push(found.0);
        }
        Ok(Outcome::new(results, complete))
    }

    fn motifs(&self, k: usize, induced: Induced, context: &Context) -> Result<Outcome> {
        let roots = self.roots(k)?;
        let counts = if k == 3 {
            formula::three(&self.resident, roots, context)?.map(|three| of_three(&three))
        } else {
            let cycles = made(&self.cycles, || Cycles::new(&self.resident))?;
            let arcs = self.resident.oriented.ends.len();
            let edges = made(&self.edges, || {
                Buffer::new(&self.resident.device.place(), arcs, "triangles of arcs")
            })?;
            formula::four(&self.resident, roots, cycles, edges, context)?.map(|four| of_four(&four))
        };
        let patterns = Dictionary::of(k).patterns();
        let complete = counts.is_some();
        // The formulas need all sums: a run that was not finished gives zeros.
        let mut counts = counts.unwrap_or_else(|| vec![0; patterns.len()]);
        if induced == Induced::Edge {
            counts = edge_induced(k, &counts);
        }
        let results =
            patterns.iter().zip(counts).map(|(p, count)| Count { pattern: p.clone(), count });
        Ok(Outcome::new(results.collect(), complete))
    }
}

/// Edge-induced counts: an embedding holds the patterns that its edges can be thinned out to.
fn edge_induced(k: usize, counts: &[u128]) -> Vec<u128> {
    let copies = gramer_pattern::plan::motif::copies(k);
    let inside = |p: usize| counts.iter().zip(copies).map(|(&n, c)| n * u128::from(c[p])).sum();
    (0..counts.len()).map(inside).collect()
}

/// Counts in the order of the dictionary.
fn of_three(three: &Three) -> Vec<u128> {
    let of = |p: &Pattern| if p.edge_count() == 3 { three.triangle } else { three.wedge };
    Dictionary::of(3).patterns().iter().map(of).collect()
}

/// Counts in the order of the dictionary.
fn of_four(four: &Four) -> Vec<u128> {
    let of = |p: &Pattern| {
        let highest = (0..4).map(|v| p.degree(v)).max();
        match (p.edge_count(), highest) {
            (3, Some(3)) => four.star,
            (3, _) => four.path,
            (4, Some(3)) => four.tailed_triangle,
            (4, _) => four.cycle,
            (5, _) => four.diamond,
            _ => four.clique,
        }
    };
    Dictionary::of(4).patterns().iter().map(of).collect()
}

impl Prepared for OnDevice<'_> {
    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        self.gpu.supports(task, Some(self.graph))?;
        if units.share().is_some() {
            return refuse("shares of work units");
        }
        let _one = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let device = &self.resident.device;
        let before = (device.work.launches.load(Relaxed), Instant::now());
        let mut outcome = match (task, sink) {
            (Task::Clique { k }, None) => self.cliques(*k, context),
            (Task::Clique { k }, Some(sink)) => {
                self.list(&[Pattern::clique(*k)], Induced::Edge, sink, context)
            }
            (Task::Motif { k, induced }, None) => self.motifs(*k, *induced, context),
            (Task::Motif { k, induced }, Some(sink)) => {
                self.list(Dictionary::of(*k).patterns(), *induced, sink, context)
            }
            (Task::Match { pattern, induced, mappings }, sink) => {
                let (count, complete) =
                    self.matches(pattern, *induced, *mappings, sink, context)?;
                Ok(Outcome::new(vec![count], complete))
            }
            _ => unreachable!("it was refused above"),
        }?;
        let mut metrics = DeviceMetrics::of(&self.gpu.found.name);
        metrics.headline("run.time", "s", Value::time(before.1.elapsed()));
        let launches = device.work.launches.load(Relaxed) - before.0;
        metrics.headline("run.launches", "", Value::Count(launches));
        metrics.headline("memory.peak", "bytes", Value::Setting(device.budget.peak()));
        metrics.detail("run.strategy", "", Value::Text(strategy(task, sink.is_some()).into()));
        metrics.detail("device.driver", "", Value::Text(self.gpu.found.driver.clone()));
        outcome.devices.push(metrics);
        Ok(outcome.of(units))
    }
}

/// The strategy for a task, with its reason.
fn strategy(task: &Task, listed: bool) -> &'static str {
    match task {
        _ if listed => "plan: every embedding is met",
        Task::Match { .. } => "plan: depth-first search over sorted lists",
        Task::Motif { .. } => "formula: all counts follow from triangles, 4-cliques and 4-cycles",
        _ => "local: bitmaps of oriented neighbourhoods",
    }
}

impl Drop for OnDevice<'_> {
    fn drop(&mut self) {
        // A run that failed may have left kernels in the queue that use the buffers.
        let _ = self.resident.device.finish();
    }
}
