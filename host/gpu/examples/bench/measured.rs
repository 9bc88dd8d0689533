//! What a row is held against: its launches, the time that the device is busy, and what bounds it.

use gramer_base::context::Context;
use gramer_engine::metrics::DeviceMetrics;
use gramer_engine::{Engine, PreparedGraph, Units};
use gramer_gpu::{Gpu, Settings, Strategy, Yardsticks};
use gramer_graph::Graph;
use gramer_pattern::task::Task;

use crate::Failure;
use crate::bounds::{Arcs, Bound, Rates, Tests};

/// The device opened again with timing, and its measured rates.
pub struct MeasuredDevice {
    gpu: Gpu,
    /// Without a limit of memory.
    whole: Gpu,
    pub most: Yardsticks,
    strategy: Option<Strategy>,
    /// For the trace, dropped last.
    _folder: tempfile::TempDir,
}

/// A graph where times are taken, with its arcs.
pub struct TimedGraph {
    prepared: PreparedGraph,
    arcs: Arcs,
}

/// What bounds a row.
pub struct Bounded {
    pub launches: u64,
    /// Milliseconds of kernels and transfers.
    pub busy: f64,
    pub bound: Bound,
    pub tests: Tests,
    pub rates: Rates,
}

impl MeasuredDevice {
    /// The trace that times come with is of no use here.
    pub fn open(device: &str, settings: &Settings) -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?;
        let trace = folder.path().join("trace.json");
        let settings = Settings { profile: Some(trace), ..settings.clone() };
        let strategy = settings.strategy;
        let gpu = Gpu::open(device, &settings)?;
        // With a small `--memory` as well: it is the device that is measured.
        let whole = Settings { cache: settings.cache, ..Settings::default() };
        let whole = Gpu::open(device, &whole)?;
        let most = whole.yardsticks()?;
        Ok(MeasuredDevice { gpu, whole, most, strategy, _folder: folder })
    }

    pub fn prepare(&self, graph: &Graph) -> Result<TimedGraph, Failure> {
        let prepared = self.gpu.prepare(graph, &Context::default())?;
        Ok(TimedGraph { prepared, arcs: Arcs::of(graph) })
    }

    /// The rates that these tests are held against.
    fn rates(&self, words: usize, tests: &Tests) -> Result<Rates, Failure> {
        let of = |known: bool, rate: &dyn Fn() -> gramer_base::error::Result<f64>| {
            if known { rate() } else { Ok(0.0) }
        };
        let lists = of(tests.read > 0, &|| self.whole.list_rate(words, tests.length()))?;
        let comparisons =
            of(tests.comparisons > 0, &|| self.whole.search_rate(words, tests.levels()))?;
        let [global_increments, global_reads] = match tests.global_increments {
            0 => [0.0; 2],
            _ => self.whole.counter_rates(tests.gap())?,
        };
        Ok(Rates { device: self.most, lists, comparisons, global_increments, global_reads })
    }

    /// What bounds a task on a graph.
    pub fn bounded(&self, graph: &TimedGraph, task: &Task) -> Result<Bounded, Failure> {
        let TimedGraph { prepared, arcs } = graph;
        let context = Context::default();
        // The first run may build programs.
        prepared.run(task, Units::All, None, &context)?;
        let outcome = prepared.run(task, Units::All, None, &context)?;
        let metrics = outcome.devices.first().ok_or("no metrics")?;
        let launches = metrics.count("run.launches").unwrap_or(0);
        let of_profile = |name: &str| name.starts_with("profile.") && name.ends_with(".time");
        let times = metrics.metrics.iter().filter(|m| of_profile(&m.name));
        let busy = 1e3 * times.filter_map(|m| m.value.number()).fold(0.0, |a, b| a + b);
        let tests = self.tests(arcs, task, metrics);
        let rates = self.rates(arcs.len(), &tests)?;
        let bound = Bound::of(&rates, launches, arcs.bytes(), &tests);
        Ok(Bounded { launches, busy, bound, tests, rates })
    }

    /// The tests of a task; of tables those that the run counted itself.
    fn tests(&self, arcs: &Arcs, task: &Task, metrics: &DeviceMetrics) -> Tests {
        if self.strategy == Some(Strategy::Table) {
            return Tests::of_table(metrics.count("elements.tested").unwrap_or(0));
        }
        arcs.tests(task, self.strategy).unwrap_or_default()
    }
}
