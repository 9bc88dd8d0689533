//! The engine: which task goes to which strategy.

use std::sync::{Arc, OnceLock};

use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Count, Engine, Outcome, Prepared, Sink};
use gramer_graph::Graph;
use gramer_graph::choice::Choice;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_pattern::task::{Induced, Task};
use gramer_pattern::{Dictionary, Pattern};

use crate::device::Device;
use crate::formula::{self, Cycles, Four, Three};
use crate::local::{self, Roots};
use crate::memory::Buffer;
use crate::resident::Resident;
use crate::select::select;
use crate::wide::{self, Wanted};
use crate::{Settings, Strategy, platform};

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
    device: Arc<Device>,
}

impl Gpu {
    /// Opens the device that `gpu…` names; results call it so.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that no device has, [`Error::Device`] where there is none or it
    /// can't be opened.
    pub fn open(device: &str, settings: &Settings) -> Result<Self> {
        let opened = Device::open(select(device)?, settings)?;
        Ok(Gpu { name: device.into(), device: Arc::new(opened) })
    }

    /// What was opened.
    pub fn found(&self) -> &platform::Found {
        &self.device.found
    }

    /// Bytes of device memory: what may be used, and the most that was in use at a time.
    pub fn memory(&self) -> (u64, u64) {
        (self.device.budget.limit(), self.device.budget.peak())
    }

    /// Programs that were built from source, and that came from the cache, since it was opened.
    pub fn programs(&self) -> (u64, u64) {
        use std::sync::atomic::Ordering::Relaxed;
        (self.device.work.built.load(Relaxed), self.device.work.cached.load(Relaxed))
    }
}

impl Gpu {
    /// How a task is done: as was said, or in the fastest way.
    fn strategy(&self, task: &Task) -> Result<Strategy> {
        let able: &[Strategy] = match task {
            Task::Clique { k } if *k <= wide::MOST_VERTICES => &[Strategy::Local, Strategy::Wide],
            Task::Clique { .. } => &[Strategy::Local],
            Task::Motif { k: 3 | 4, .. } => &[Strategy::Formula, Strategy::Wide],
            _ => &[Strategy::Wide],
        };
        match self.device.strategy {
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
}

/// What can't be done here is done there.
fn refuse<T>(what: &str) -> Result<T> {
    Err(Error::Unsupported(format!("the GPU engine has no {what} yet; use --device cpu")))
}

impl Engine for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn supports(&self, task: &Task, _graph: Option<&Graph>) -> Result<()> {
        task.check()?;
        match task {
            Task::Clique { .. } | Task::Motif { induced: Induced::Vertex, .. } => {
                self.strategy(task).map(|_| ())
            }
            Task::Motif { k: 7.., .. } => refuse("edge-induced motifs of more than 6 vertices"),
            Task::Motif { .. } => self.strategy(task).map(|_| ()),
            Task::MaximalCliques => refuse("maximal cliques"),
            Task::Fsm { .. } => refuse("frequent patterns"),
            Task::Match { .. } => refuse("matching"),
            other => refuse(other.name()),
        }
    }

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        let resident = Resident::new(self.device.clone(), graph, context)?;
        Ok(Box::new(OnDevice {
            gpu: self,
            resident,
            running: std::sync::Mutex::new(()),
            roots: OnceLock::new(),
            cycles: OnceLock::new(),
            edges: OnceLock::new(),
        }))
    }
}

/// A graph on the device, with what tasks derive from it.
struct OnDevice<'a> {
    gpu: &'a Gpu,
    resident: Resident,
    /// Tasks share the sums: one runs at a time.
    running: std::sync::Mutex<()>,
    roots: OnceLock<Roots>,
    cycles: OnceLock<Cycles>,
    edges: OnceLock<Buffer<u32>>,
}

/// The value of a cell, made by `make` if it has none.
fn made<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if cell.get().is_none() {
        let _ = cell.set(make()?);
    }
    Ok(cell.get().expect("it was set above"))
}

impl OnDevice<'_> {
    fn roots(&self) -> Result<&Roots> {
        made(&self.roots, || Roots::new(&self.resident))
    }

    fn cliques(&self, k: usize, context: &Context) -> Result<Outcome> {
        let roots = self.roots()?;
        self.resident.clear()?;
        let complete = local::count(&self.resident, roots, k, None, context)?;
        // What was counted before the stop is a lower bound, unless roots were still being weighed.
        let count = if complete || k < 6 { self.resident.read()?[0] } else { 0 };
        let results = vec![Count { pattern: Pattern::clique(k), count }];
        Ok(Outcome::new(results, complete))
    }

    fn wide_cliques(&self, k: usize, context: &Context) -> Result<Outcome> {
        let found = self.wide(k, Wanted::Cliques, context)?;
        let pattern = Pattern::clique(k);
        let count = found.counts.get(&pattern).copied().unwrap_or(0);
        let results = vec![Count { pattern, count }];
        let mut outcome = Outcome::new(results, found.complete);
        outcome.devices.push(self.metrics_of(&found));
        Ok(outcome)
    }

    fn metrics_of(&self, found: &wide::Found) -> DeviceMetrics {
        let mut metrics = DeviceMetrics::of(self.gpu.device.label());
        metrics.detail("wide.slices", "", Value::Count(found.slices));
        metrics.detail("wide.donations", "", Value::Count(found.given));
        metrics
    }

    fn wide(&self, k: usize, wanted: Wanted, context: &Context) -> Result<wide::Found> {
        wide::search(&self.resident, k, wanted, self.gpu.device.balance, context)
    }

    /// Up to six vertices all patterns, above those that occur.
    fn wide_motifs(&self, k: usize, induced: Induced, context: &Context) -> Result<Outcome> {
        let found = self.wide(k, Wanted::Motifs, context)?;
        let metrics = self.metrics_of(&found);
        let wide::Found { mut counts, complete, .. } = found;
        let mut outcome = if k > 6 {
            let mut results: Vec<Count> =
                counts.into_iter().map(|(pattern, count)| Count { pattern, count }).collect();
            results.sort_by_key(|c| (c.pattern.edge_count(), c.pattern.bits()));
            Outcome::new(results, complete)
        } else {
            let patterns = Dictionary::of(k).patterns();
            let all = patterns.iter().map(|p| counts.remove(p).unwrap_or(0)).collect();
            of_patterns(k, induced, all, complete)
        };
        outcome.devices.push(metrics);
        Ok(outcome)
    }

    fn motifs(&self, k: usize, induced: Induced, context: &Context) -> Result<Outcome> {
        let roots = self.roots()?;
        let counts = if k == 3 {
            formula::three(&self.resident, roots, context)?.map(|three| of_three(&three))
        } else {
            let cycles = made(&self.cycles, || Cycles::new(&self.resident))?;
            let arcs = self.resident.oriented.ends.len();
            let edges = made(&self.edges, || {
                Buffer::new(&self.gpu.device.place(), arcs, "triangles of arcs")
            })?;
            formula::four(&self.resident, roots, cycles, edges, context)?.map(|four| of_four(&four))
        };
        let patterns = Dictionary::of(k).patterns();
        let complete = counts.is_some();
        // The formulas need all sums: a run that was not finished gives zeros.
        let counts = counts.unwrap_or_else(|| vec![0; patterns.len()]);
        Ok(of_patterns(k, induced, counts, complete))
    }
}

/// The answer from vertex-induced counts in the order of the dictionary.
fn of_patterns(k: usize, induced: Induced, mut counts: Vec<u128>, complete: bool) -> Outcome {
    if induced == Induced::Edge {
        counts = edge_induced(k, &counts);
    }
    let patterns = Dictionary::of(k).patterns().iter();
    let results = patterns.zip(counts).map(|(p, count)| Count { pattern: p.clone(), count });
    Outcome::new(results.collect(), complete)
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
        _units: gramer_engine::Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        self.gpu.supports(task, None)?;
        if sink.is_some() {
            return refuse(&format!("list of embeddings for the task {}", task.name()));
        }
        let _one = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match task {
            Task::Clique { k } => match self.gpu.strategy(task)? {
                Strategy::Wide => self.wide_cliques(*k, context),
                _ => self.cliques(*k, context),
            },
            Task::Motif { k, induced } => match self.gpu.strategy(task)? {
                Strategy::Wide => self.wide_motifs(*k, *induced, context),
                _ => self.motifs(*k, *induced, context),
            },
            _ => unreachable!("it was refused above"),
        }
    }
}

impl Drop for OnDevice<'_> {
    fn drop(&mut self) {
        // A run that failed may have left kernels in the queue that use the buffers.
        let _ = self.gpu.device.finish();
    }
}
