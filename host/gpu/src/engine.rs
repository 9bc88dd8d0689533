//! The engine: which task goes to which strategy.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Count, Engine, Open, Outcome, Prepared, Sink, Units, formulas, shares};
use gramer_graph::Graph;
use gramer_graph::choice::Choice;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};
use gramer_pattern::{Dictionary, Pattern};

use crate::calls;
use crate::device::Device;
use crate::domains::ByLabel;
use crate::formula::{self, Cycles};
use crate::fsm;
use crate::graph::Numbering;
use crate::local::{self, Roots};
use crate::memory::Buffer;
use crate::picked::Picked;
use crate::resident::Resident;
use crate::search::{self, Labels, Question};
use crate::select::select;
use crate::table::{self, TableSettings};
use crate::wide::{self, Wanted};
use crate::{Balance, Settings, Steps, Strategy, platform};

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
    strategy: Option<Strategy>,
    balance: Balance,
    table: TableSettings,
    steps: Steps,
    profile: Option<PathBuf>,
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
        let handle = select(device)?;
        let (found, settings) = (handle.found.clone(), settings.clone());
        let Settings { strategy, balance, steps, ref profile, .. } = settings;
        let (profile, table) = (profile.clone(), settings.table.clone());
        let opening = std::thread::spawn(move || Device::open(handle, &settings));
        let opening = Mutex::new(Some(opening));
        let (name, opened) = (device.into(), OnceLock::new());
        Ok(Gpu { name, found, strategy, balance, table, steps, profile, opening, opened })
    }

    /// The device, once it is open.
    ///
    /// # Errors
    /// [`Error::Device`] where it can't be opened.
    pub(crate) fn device(&self) -> Result<&Arc<Device>> {
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

impl Gpu {
    /// How a task is done: as was said, or in the fastest way.
    fn strategy(&self, task: &Task) -> Result<Strategy> {
        use Strategy::{Formula, Local, Plan, Table, Wide};
        let able: &[Strategy] = match task {
            Task::Clique { k } if *k <= wide::MOST_VERTICES => &[Local, Plan, Wide, Table],
            Task::Clique { .. } => &[Local, Plan, Table],
            Task::Motif { k: 3 | 4, .. } => &[Formula, Plan, Wide],
            Task::Motif { k: 5 | 6, .. } => &[Wide, Plan],
            Task::Motif { .. } => &[Wide],
            Task::Match { .. } => &[Plan, Table],
            _ => &[Plan],
        };
        match self.strategy {
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

impl Gpu {
    fn on_device<'a>(
        &'a self,
        graph: &'a Graph,
        numbering: Numbering,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        let resident = Resident::new(self.device()?.clone(), graph, numbering, context)?;
        Ok(Box::new(OnDevice {
            gpu: self,
            resident,
            numbering,
            running: Mutex::new(()),
            roots: Default::default(),
            cycles: OnceLock::new(),
            edges: OnceLock::new(),
            graph,
            labels: OnceLock::new(),
            by_label: OnceLock::new(),
        }))
    }
}

impl Engine for Gpu {
    fn name(&self) -> String {
        self.name.clone()
    }

    /// Strategies count an embedding in different units.
    fn rule(&self) -> String {
        let strategy = self.strategy.map_or("fastest", |strategy| strategy.name());
        format!("gpu, {strategy}, order {}", self.steps.order.name())
    }

    fn supports(&self, task: &Task, graph: Option<&Graph>) -> Result<()> {
        task.check()?;
        match task {
            Task::Motif { k: 7.., induced: Induced::Edge } => {
                refuse("edge-induced motifs of more than 6 vertices")
            }
            Task::Clique { .. } | Task::Motif { .. } => self.strategy(task).map(drop),
            Task::MaximalCliques => refuse("maximal cliques"),
            Task::Fsm { .. } => self.strategy(task).map(drop),
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

    fn prepare<'a>(
        &'a self,
        graph: &'a Graph,
        context: &Context,
    ) -> Result<Box<dyn Prepared + 'a>> {
        if self.strategy == Some(Strategy::Table) {
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
                "the strategy table has no shares of work units; leave out --strategy".into(),
            ));
        }
        if self.steps.order == search::Order::Paper {
            return Err(Error::Unsupported(
                "devices of different kinds take a pattern's vertices in one order, which is not that \
                 of the paper: leave out --order, or name GPUs alone"
                    .into(),
            ));
        }
        self.on_device(graph, Numbering::Ids, context)
    }
}

/// A graph on the device, with what tasks derive from it.
struct OnDevice<'a> {
    gpu: &'a Gpu,
    resident: Resident,
    numbering: Numbering,
    /// Tasks share the sums: one runs at a time.
    running: Mutex<()>,
    /// By [`Roots::deep`].
    roots: [OnceLock<Roots>; 2],
    cycles: OnceLock<Cycles>,
    edges: OnceLock<Buffer<u32>>,
    graph: &'a Graph,
    labels: OnceLock<Labels>,
    by_label: OnceLock<ByLabel>,
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

    fn cliques(&self, k: usize, share: Option<&Picked>, context: &Context) -> Result<Outcome> {
        let all = self.roots(k)?;
        let own = share.map(|share| all.of_share(&self.resident, share)).transpose()?;
        let roots = own.as_ref().unwrap_or(all);
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
        part: Part<'_>,
        context: &Context,
    ) -> Result<(Count, bool)> {
        let asked = search::comparable(self.graph, pattern, mappings)?;
        let labels = made(&self.labels, || Labels::new(&self.resident, self.graph))?;
        let (Part { share, sink }, steps) = (part, self.gpu.steps);
        let question = Question { given: pattern, induced, mappings, sink, share, steps };
        let (count, complete) =
            search::run(&self.resident, self.graph, labels, &asked, &question, context)?;
        Ok((Count { pattern: pattern.clone(), count }, complete))
    }

    /// Cliques or motifs by search, pattern by pattern.
    fn search(
        &self,
        patterns: &[Pattern],
        induced: Induced,
        part: Part<'_>,
        context: &Context,
    ) -> Result<Outcome> {
        let (mut results, mut complete) = (vec![], true);
        for pattern in patterns {
            let found = match complete {
                true => self.matches(pattern, induced, false, part, context)?,
                false => (Count { pattern: pattern.clone(), count: 0 }, false),
            };
            complete &= found.1;
            results.push(found.0);
        }
        Ok(Outcome::new(results, complete))
    }

    /// Frequent patterns, in the order of the CPU engine; of a run that went to its end the sink gets
    /// what they stand for.
    fn frequent(
        &self,
        (limit, support, measure): (SizeLimit, u64, Measure),
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        let (device, graph) = (&self.resident.device, self.graph);
        let (mut results, mut complete) = match (measure, limit) {
            (Measure::Mni, limit) => {
                let by = made(&self.by_label, || ByLabel::new(device, graph, context))?;
                let fault = &self.resident.fault;
                let found = fsm::by_images(device, graph, by, limit, support, fault, context)?;
                self.resident.check()?;
                found
            }
            (Measure::Embeddings, SizeLimit::MaxVertices(max)) => {
                fsm::by_embeddings(graph, max, support, context, |pattern| {
                    let all = Part { share: None, sink: None };
                    let found = self.matches(pattern, Induced::Vertex, false, all, context)?;
                    Ok((found.0.count, found.1))
                })?
            }
            (Measure::Embeddings, SizeLimit::MaxEdges(_)) => {
                return Err(Error::usage("measure embeddings goes with max-vertices"));
            }
        };
        shares::sort(&mut results);
        let induced = if measure == Measure::Mni { Induced::Edge } else { Induced::Vertex };
        for Count { pattern, .. } in sink.map_or(&[][..], |_| &results[..]) {
            if complete {
                let part = Part { share: None, sink };
                complete = self.matches(pattern, induced, false, part, context)?.1;
            }
        }
        Ok(Outcome::new(results, complete))
    }

    fn wide_cliques(&self, k: usize, part: Part<'_>, context: &Context) -> Result<Outcome> {
        let found = self.wide(k, Wanted::Cliques, part, context)?;
        let pattern = Pattern::clique(k);
        let count = found.counts.get(&pattern).copied().unwrap_or(0);
        Ok(Outcome::new(vec![Count { pattern, count }], found.complete))
    }

    /// Up to six vertices all patterns, above those that occur.
    fn wide_motifs(
        &self,
        k: usize,
        induced: Induced,
        part: Part<'_>,
        context: &Context,
    ) -> Result<Outcome> {
        let wide::Found { mut counts, complete } = self.wide(k, Wanted::Motifs, part, context)?;
        if k <= 6 {
            let patterns = Dictionary::of(k).patterns();
            let counts = patterns.iter().map(|p| counts.remove(p).unwrap_or(0)).collect();
            return Ok(of_patterns(k, induced, counts, complete));
        }
        let mut results: Vec<Count> =
            counts.into_iter().map(|(pattern, count)| Count { pattern, count }).collect();
        results.sort_by_key(|c| (c.pattern.edge_count(), c.pattern.bits()));
        Ok(Outcome::new(results, complete))
    }

    fn wide(
        &self,
        k: usize,
        wanted: Wanted,
        part: Part<'_>,
        context: &Context,
    ) -> Result<wide::Found> {
        wide::search(&self.resident, k, wanted, self.gpu.balance, part.share, context)
    }

    /// Motifs by closed formulas; of a share, the sums that they want.
    fn motifs(
        &self,
        k: usize,
        induced: Induced,
        share: Option<&Picked>,
        context: &Context,
    ) -> Result<Outcome> {
        let all = self.roots(k)?;
        let sums = if k == 3 {
            let own = share.map(|share| all.of_share(&self.resident, share)).transpose()?;
            formula::three(&self.resident, own.as_ref().unwrap_or(all), share, context)?
        } else {
            let cycles = made(&self.cycles, || Cycles::new(&self.resident))?;
            let arcs = self.resident.oriented.ends.len();
            let edges = made(&self.edges, || {
                Buffer::new(&self.resident.device.place(), arcs, "triangles of arcs")
            })?;
            match share {
                None => formula::four(&self.resident, all, cycles, edges, context)?,
                Some(share) => {
                    let resident = &self.resident;
                    formula::four_of_share(resident, all, cycles, edges, share, context)?
                }
            }
        };
        match (sums, share) {
            (Some(sums), Some(_)) => {
                let open = Some(Open::Formulas { sums });
                let mut outcome = Outcome::new(vec![], true);
                outcome.open = open;
                Ok(outcome)
            }
            (Some(sums), None) => formulas::motifs(k, induced, &sums)
                .map(|results| Outcome::new(results, true))
                .ok_or_else(|| {
                    Error::Device(format!("{}: its sums are none of a graph", self.gpu.name))
                }),
            // The formulas need all sums: a run that was not finished gives zeros.
            (None, _) => {
                let zero = |p: &Pattern| Count { pattern: p.clone(), count: 0 };
                Ok(Outcome::new(Dictionary::of(k).patterns().iter().map(zero).collect(), false))
            }
        }
    }
}

/// The part of a task that a run does: the roots that count, and who takes embeddings.
#[derive(Clone, Copy)]
struct Part<'a> {
    share: Option<&'a Picked>,
    sink: Option<&'a dyn Sink>,
}

/// The answer from vertex-induced counts in the order of the dictionary.
fn of_patterns(k: usize, induced: Induced, mut counts: Vec<u128>, complete: bool) -> Outcome {
    if induced == Induced::Edge {
        counts = formulas::edge_induced(k, &counts);
    }
    let patterns = Dictionary::of(k).patterns().iter();
    let results = patterns.zip(counts).map(|(p, count)| Count { pattern: p.clone(), count });
    Outcome::new(results.collect(), complete)
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
        shares::check(self.graph, task, units, sink)?;
        let picked = Picked::of(units, self.graph.view(), &self.resident.by);
        let share = picked.as_ref();
        let part = Part { share, sink };
        let _one = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let device = &self.resident.device;
        let work = &device.work;
        let before = (work.launches.load(Relaxed), Instant::now(), work.donations.load(Relaxed));
        // Only a search has embeddings to hand on.
        let strategy = match sink {
            Some(_) => Strategy::Plan,
            // The closed formulas' sums belong to no embedding.
            None if self.numbering == Numbering::Ids && matches!(task, Task::Motif { .. }) => {
                Strategy::Wide
            }
            None => self.gpu.strategy(task)?,
        };
        let mut outcome = match (task, strategy) {
            (Task::Clique { k }, Strategy::Local) => self.cliques(*k, share, context),
            (Task::Clique { k }, Strategy::Wide) => self.wide_cliques(*k, part, context),
            (Task::Clique { k }, _) => {
                self.search(&[Pattern::clique(*k)], Induced::Edge, part, context)
            }
            (Task::Motif { k, induced }, Strategy::Formula) => {
                self.motifs(*k, *induced, share, context)
            }
            (Task::Motif { k, induced }, Strategy::Wide) => {
                self.wide_motifs(*k, *induced, part, context)
            }
            (Task::Motif { k: 7.., .. }, _) => refuse("list of motifs of more than 6 vertices"),
            // The plans' first vertices aren't those with the largest ids.
            (Task::Motif { .. }, Strategy::Plan) if self.numbering == Numbering::Ids => {
                refuse("list of motifs beside devices of another kind")
            }
            (Task::Motif { k, induced }, _) => {
                self.search(Dictionary::of(*k).patterns(), *induced, part, context)
            }
            (Task::Match { pattern, induced, mappings }, _) => {
                let (count, complete) =
                    self.matches(pattern, *induced, *mappings, part, context)?;
                Ok(Outcome::new(vec![count], complete))
            }
            (Task::Fsm { .. }, _) if share.is_some() => refuse("shares of frequent patterns"),
            (Task::Fsm { limit, support, measure }, _) => {
                self.frequent((*limit, *support, *measure), sink, context)
            }
            _ => unreachable!("it was refused above"),
        }?;
        let mut metrics = DeviceMetrics::of(&self.gpu.found.name);
        metrics.headline("run.time", "s", Value::time(before.1.elapsed()));
        let launches = device.work.launches.load(Relaxed) - before.0;
        metrics.headline("run.launches", "", Value::Count(launches));
        let (written, read) = device.budget.moved();
        metrics.headline("bus.written", "bytes", Value::Count(written));
        metrics.headline("bus.read", "bytes", Value::Count(read));
        metrics.headline("memory.peak", "bytes", Value::Setting(device.budget.peak()));
        metrics.detail("run.strategy", "", Value::Text(reason(strategy, sink.is_some()).into()));
        if strategy == Strategy::Wide {
            let donations = device.work.donations.load(Relaxed) - before.2;
            metrics.detail("wide.donations", "", Value::Count(donations));
        }
        if let Some(spans) = device.calls.take() {
            for (name, (time, calls)) in calls::totals(&spans) {
                metrics.detail(format!("profile.{name}.time"), "s", Value::time(time));
                metrics.detail(format!("profile.{name}.calls"), "", Value::Count(calls));
            }
            if let Some(path) = &self.gpu.profile {
                calls::write_trace(path, &self.gpu.found.name, &spans)?;
            }
        }
        metrics.detail("device.driver", "", Value::Text(self.gpu.found.driver.clone()));
        outcome.devices.push(metrics);
        Ok(outcome.of(units))
    }
}

/// A strategy with its reason.
fn reason(strategy: Strategy, listed: bool) -> &'static str {
    match strategy {
        _ if listed => "plan: every embedding is met",
        Strategy::Plan => "plan: depth-first search over sorted lists",
        Strategy::Formula => "formula: all counts follow from triangles, 4-cliques and 4-cycles",
        Strategy::Local => "local: bitmaps of oriented neighbourhoods",
        Strategy::Wide => "wide: all patterns in one exploration",
        Strategy::Table => table::REASON,
    }
}

impl Drop for OnDevice<'_> {
    fn drop(&mut self) {
        // A run that failed may have left kernels in the queue that use the buffers.
        let _ = self.resident.device.finish();
    }
}
