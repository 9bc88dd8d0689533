//! Cycles of a task from a part of its work units, with a confidence interval.
//!
//! The sampling unit is a work unit (a start vertex with its list). How much work each has is known
//! exactly: algorithm 1 on the CPU counts its candidates and walks. One simulation runs a stream of
//!
//! | part | units | for |
//! |---|---|---|
//! | sweep | one per line that the chip has room for, the best last; hardly any work | caches have had their first fill |
//! | settling | a draw | slots are busy, replacement has settled |
//! | windows | a draw each | the measurement |
//! | after | a draw | the core stays busy until the last window is over |
//!
//! A draw takes clusters of units with consecutive ranks (they share lines, as in the whole run) from
//! strata of the rank order, every cluster with the same probability. The core takes units as it gets
//! free, so the time from taking a window's first unit to taking the next part's first is the time of
//! the window's work: the units in flight at its end replace those at its begin, the end of such a
//! draw. The work w of a window is therefore summed over as many units, shifted by half of those in
//! flight: closer to the work done in that time, with the same expectation.
//!
//! A window's cycles c are nearly linear in its work, a + b · w, since every unit has a fixed cost.
//! The work W of all light units is known, and so is the expected work of a window of n of the N
//! units, W · n / N. The estimate is the value of the line through the windows at that work (the
//! regression estimator of survey sampling; a ratio Σ c / Σ w is off by 10 % and more when the windows
//! have drawn little of a skewed work):
//!
//! cycles = begin + N / n · (c̄ + b · (W · n / N − w̄)) + heavy + (fill + drain) / 2
//!
//! Windows are independent draws, so the residuals give the variance, with windows − 2 degrees of
//! freedom (Student's t, 95 %). The end of one window overlaps the next, which makes neighbours' errors
//! opposite and the interval conservative.
//!
//! Unlike in the whole run, a cluster's begin shares no lines with its predecessor: a bias by misses
//! that the spread of the draws does not show. With clusters of 64 units it was up to 1.5 % of the
//! cycles in tests (16 units: 3 to 4 %), so the interval is widened by that on both sides.
//!
//! Some units are in no draw, because all of them run: those with more than 1/200 of the work, and
//! clusters with more than twice the expected work of a window. A few draws would miss them without a
//! trace. A further simulation has them at their ranks in the middle window; how much later it ends is
//! `heavy`. Its ends may be off by a drain, which widens the interval.
//!
//! If a unit takes longer than a window (many slots and few units: 3-CF on ca-astroph on the paper's
//! machine), its work reaches into the following windows; windows then differ by a third for the same
//! work, and the interval is ± 20 %.
//!
//! The caches' first fill and the drain at the end happen once, outside of all draws. Both are measured
//! (the sweep's time; from taking the last unit to the end) and cost between nothing, if other slots'
//! work hides them, and that time. Half of it is added, and as much to the interval on both sides.
//!
//! There is no sampling in ascending order of comparison, where single trees outlast all others.

use std::ops::ControlFlow;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use gramer_machine::{ENTRIES_A_LINE, RECORDS_A_LINE};
use serde_json::Value;

use super::parameter::{Parameter, Point, Setting};
use super::simulator::{RunOutcome, SimulatedTask, Simulator};
use gramer_accelerator::stream::UNITS_A_BEAT;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::reference::{Cliques, Comparison, Explorer, Motifs, Primitives};
use gramer_engine::{Units, WorkUnit};
use gramer_graph::{Graph, VertexId, View};
use gramer_pattern::task::Task;

/// A unit with more than the whole work divided by this always runs.
const HEAVY: u64 = 200;
/// Neighbours in rank that are drawn together: sixteen beats of the in-stream.
const CLUSTER: usize = 64;
/// What the begins of clusters may cost in vain, as a share of the cycles.
const CLUSTER_BEGINS: f64 = 0.015;
/// Clusters in a window, at least.
const CLUSTERS: usize = 4;
/// Edge entries in a line.
const A_LINE: usize = ENTRIES_A_LINE as usize;
/// Student's t for a two-sided 95 %, by degrees of freedom from 1.
const STUDENT: [f64; 15] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131,
];

/// Size and seed of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleSettings {
    /// Windows, 4 to 17.
    pub windows: usize,
    /// All windows together have one in this many of the units, but each at least twice as many as
    /// are in flight.
    pub one_in: usize,
    /// Seed.
    pub seed: u64,
}

impl Default for SampleSettings {
    fn default() -> Self {
        SampleSettings { windows: 10, one_in: 20, seed: 1 }
    }
}

/// Estimate of the cycles of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleEstimate {
    /// Cycles of the whole task.
    pub cycles: f64,
    /// Half of the interval that contains them with a confidence of 95 %.
    pub half: f64,
    /// The part of `half` that isn't the draws' spread: first fill, drains, begins of clusters.
    pub systematic: f64,
    /// Cycles and work of each window.
    pub windows: Vec<(f64, f64)>,
    /// Cycles that were simulated for it.
    pub simulated: u64,
    /// Units that always run.
    pub heavy: usize,
}

/// Work of each unit: candidates that algorithm 1 tests, and lists that it walks.
///
/// # Errors
/// [`Error::Unsupported`] for a task that isn't cliques or motifs; [`Error::Interrupted`].
pub fn work(graph: &Graph, task: &Task, context: &Context) -> Result<Vec<u64>> {
    match task {
        Task::Clique { k } => work_of(graph, Cliques::new(*k), context),
        Task::Motif { k, .. } => work_of(graph, Motifs::new(*k), context),
        other => Err(Error::Unsupported(format!("{} can't be sampled", other.name()))),
    }
}

fn work_of<P: Primitives>(graph: &Graph, primitives: P, context: &Context) -> Result<Vec<u64>> {
    let view = graph.view();
    let mut explorer = Explorer::new(view, Comparison::Descending, primitives, context);
    let mut before = 0;
    Units::All
        .iter(view)
        .map(|unit| match explorer.run_units(std::slice::from_ref(&unit)) {
            ControlFlow::Continue(()) => {
                let c = explorer.counters();
                let all = c.candidates_by_depth.iter().sum::<u64>() + c.extensions;
                Ok(all - std::mem::replace(&mut before, all))
            }
            ControlFlow::Break(_) => Err(Error::Interrupted),
        })
        .collect()
}

/// Whether cycles of a point can be estimated; otherwise why not.
pub fn refusal(point: &Point) -> Option<&'static str> {
    let ascending = |s: &Setting| s.parameter == Parameter::Order && s.text == "ascending";
    let why = "in ascending order single trees outlast all others: no sampling";
    point.settings.iter().any(ascending).then_some(why)
}

/// Estimates the cycles of a point.
///
/// # Errors
/// [`Error::Usage`] for the ascending order or a sampling out of range; those of the simulator;
/// [`Error::Device`] if a run of the sample failed.
pub fn estimate(
    simulator: &Simulator,
    graph: &Graph,
    simulated: &SimulatedTask,
    work: &[u64],
    point: &Point,
    sampling: &SampleSettings,
    context: &Context,
) -> Result<CycleEstimate> {
    if let Some(why) = refusal(point) {
        return Err(Error::usage(why));
    }
    if !(4..=STUDENT.len() + 2).contains(&sampling.windows) || sampling.one_in == 0 {
        return Err(Error::usage("a sample has 4 to 17 windows of at most one in one unit"));
    }
    let machine = &point.machine.machine;
    let in_flight = (machine.processing_units * machine.slots) as usize;
    let drawn = SampleUnits::new(graph.view(), work, point, in_flight, sampling)?;
    let results = simulated_with(simulator, graph, simulated, point, &drawn, context)?;
    estimated(&drawn, work, in_flight, &results)
}

/// Work units of a sample.
struct SampleUnits {
    /// Units that always run.
    heavy: Vec<VertexId>,
    /// Units that draws are made of.
    light: Vec<VertexId>,
    sweep: Vec<WorkUnit>,
    settling: Vec<VertexId>,
    windows: Vec<Vec<VertexId>>,
    after: Vec<VertexId>,
}

impl SampleUnits {
    fn new(
        view: View<'_>,
        work: &[u64],
        point: &Point,
        in_flight: usize,
        sampling: &SampleSettings,
    ) -> Result<Self> {
        let size = (work.len() / sampling.one_in / sampling.windows)
            .max(2 * in_flight)
            .max(CLUSTERS * CLUSTER);
        let (heavy, light) = divided(work, size);
        if light.len() < CLUSTERS * CLUSTER {
            let few = light.len();
            return Err(Error::Unsupported(format!("{few} units are too few to sample")));
        }
        let mut random = ChaCha8Rng::seed_from_u64(sampling.seed);
        let mut part = |units: usize| draw(&light, units, &mut random);
        let settling = part(2 * in_flight);
        let windows = (0..sampling.windows).map(|_| part(size)).collect();
        let after = part(2 * in_flight);
        let sweep = sweep(view, point.room);
        Ok(SampleUnits { heavy, light, sweep, settling, windows, after })
    }

    /// The draws one after the other, with these windows.
    fn in_order<'a>(&'a self, windows: &'a [Vec<VertexId>]) -> impl Iterator<Item = VertexId> + 'a {
        self.settling.iter().chain(windows.iter().flatten()).chain(&self.after).copied()
    }

    /// The units of a run, with the heavy ones or without.
    fn units(&self, view: View<'_>, with_heavy: bool) -> Vec<WorkUnit> {
        let mut windows = self.windows.clone();
        if with_heavy {
            let middle = windows.len() / 2;
            let window = &mut windows[middle];
            window.extend(&self.heavy);
            window.sort_unstable();
        }
        let drawn = self.in_order(&windows).map(|v| WorkUnit::whole(view, v));
        self.sweep.iter().cloned().chain(drawn).collect()
    }
}

/// The results of the run without the heavy units, and of the one with them if there are any.
fn simulated_with(
    simulator: &Simulator,
    graph: &Graph,
    simulated: &SimulatedTask,
    point: &Point,
    drawn: &SampleUnits,
    context: &Context,
) -> Result<Vec<Value>> {
    let mut points = vec![];
    for with in [false, true].into_iter().take(if drawn.heavy.is_empty() { 1 } else { 2 }) {
        let file = simulator.units(&drawn.units(graph.view(), with))?;
        let mut point = point.clone();
        point.options.extend(["--units".into(), file.display().to_string()]);
        points.push(point);
    }
    // The units that always run may be most of the work.
    simulator
        .limited_to(simulator.max_cycles().saturating_mul(2))
        .run(graph, simulated, &points, context, &|_, _, _| {})?
        .into_iter()
        .map(|ran| match ran {
            RunOutcome::Done(kept) => Ok(kept.result),
            RunOutcome::Limit => Err(Error::Device("a sample has too many cycles".into())),
            RunOutcome::Failed(said) => Err(Error::Device(said)),
        })
        .collect()
}

/// The estimate from the results of [`simulated_with`].
fn estimated(
    draws: &SampleUnits,
    work: &[u64],
    in_flight: usize,
    results: &[Value],
) -> Result<CycleEstimate> {
    let SampleUnits { heavy, light, sweep, settling, windows, .. } = draws;
    let end = |of: &Value| of["cycles"].as_f64().unwrap_or(f64::NAN);
    let (without, with) = (&results[0], results.get(1));
    let taken = |unit: usize| without["taken"][unit / UNITS_A_BEAT].as_f64().unwrap_or(f64::NAN);
    let drawn: Vec<VertexId> = draws.in_order(windows).collect();
    // When a unit is taken, about half of the work of those in flight is still to be done.
    let behind = in_flight / 2;
    let mut from = settling.len();
    let mut measured = vec![];
    for window in windows {
        let to = from + window.len();
        let cycles = taken(sweep.len() + to) - taken(sweep.len() + from);
        let done: u64 = drawn[from - behind..to - behind].iter().map(|&v| work[v as usize]).sum();
        measured.push((cycles, done as f64));
        from = to;
    }
    let in_windows = (from - settling.len()) as f64;
    let expansion = light.len() as f64 * windows.len() as f64 / in_windows;
    let light_work = light.iter().map(|&v| work[v as usize]).sum::<u64>() as f64;
    let (window, deviation) = regression(&measured, light_work / expansion);
    let fill = taken(sweep.len()) - taken(0);
    let drain = end(without) - taken(sweep.len() + drawn.len() - 1);
    let of_heavy = with.map_or(0.0, |with| end(with) - end(without));
    let added = (fill + drain) / 2.0;
    let systematic = added + with.map_or(0.0, |_| drain);
    let cycles = taken(0) + expansion * window + of_heavy + added;
    let systematic = systematic + CLUSTER_BEGINS * cycles;
    let half = STUDENT[windows.len() - 3] * expansion * deviation + systematic;
    if !(cycles.is_finite() && half.is_finite()) {
        return Err(Error::Device(format!("the estimate is {cycles} ± {half}: too few units")));
    }
    Ok(CycleEstimate {
        cycles,
        half,
        systematic,
        windows: measured,
        simulated: results.iter().map(|r| end(r) as u64).sum(),
        heavy: heavy.len(),
    })
}

/// Units that always run, and the others, for windows of this many units.
fn divided(work: &[u64], window: usize) -> (Vec<VertexId>, Vec<VertexId>) {
    let whole: u64 = work.iter().sum();
    let of_window = whole as u128 * window as u128 / work.len().max(1) as u128;
    let (mut heavy, mut light) = (vec![], vec![]);
    for (cluster, works) in work.chunks(CLUSTER).enumerate() {
        let together = works.iter().sum::<u64>() as u128 > 2 * of_window;
        for (at, &own) in works.iter().enumerate() {
            let list = if together || own > whole / HEAVY { &mut heavy } else { &mut light };
            list.push((cluster * CLUSTER + at) as VertexId);
        }
    }
    (heavy, light)
}

/// Clusters of units that follow each other in `light`, in their order: about `count` units, at least
/// [`CLUSTERS`] clusters. Each is drawn from its own stratum, all with the same probability.
fn draw(light: &[VertexId], count: usize, random: &mut ChaCha8Rng) -> Vec<VertexId> {
    let all = light.len() / CLUSTER;
    let clusters = (count / CLUSTER).max(CLUSTERS).min(all);
    (0..clusters)
        .flat_map(|stratum| {
            let within = random.next_u64() as f64 / 2f64.powi(64);
            let at = ((stratum as f64 + within) * all as f64 / clusters as f64) as usize;
            let from = at.min(all - 1) * CLUSTER;
            // The last cluster has what is left over, up to whole beats.
            let to = if at + 1 < all {
                from + CLUSTER
            } else {
                light.len() / UNITS_A_BEAT * UNITS_A_BEAT
            };
            light[from..to].iter().copied()
        })
        .collect()
}

/// Units that read the first edge lines and the records beside them once each, the best last, and do
/// as little else as they can: one entry of a list each, where there is one that isn't a candidate.
fn sweep(view: View<'_>, [vertex_lines, edge_lines]: [u64; 2]) -> Vec<WorkUnit> {
    // Of each record of a line one list; most lists begin in their own line.
    let lines = edge_lines.max(u64::from(RECORDS_A_LINE) * vertex_lines) as usize;
    let mut units = vec![];
    let mut line = 0;
    for v in 0..view.vertices() as VertexId {
        let row = view.row(v);
        while line < lines && line * A_LINE < row.end {
            let from = (line * A_LINE).max(row.start) - row.start;
            let to = ((line + 1) * A_LINE).min(row.end) - row.start;
            let list = &view.neighbours(v)[from..to];
            let at = (from + list.iter().position(|&u| u > v).unwrap_or(0)) as u32;
            units.push(WorkUnit { start: v, first: at, limit: at + 1 });
            line += 1;
        }
    }
    units.truncate(units.len() / UNITS_A_BEAT * UNITS_A_BEAT);
    units.reverse();
    units
}

/// Where the line through pairs (y, x) by least squares is at `x`, and its standard error there.
fn regression(pairs: &[(f64, f64)], x: f64) -> (f64, f64) {
    let n = pairs.len() as f64;
    let mean = |get: fn(&(f64, f64)) -> f64| pairs.iter().map(get).sum::<f64>() / n;
    let (mean_y, mean_x) = (mean(|p| p.0), mean(|p| p.1));
    let squares: f64 = pairs.iter().map(|p| (p.1 - mean_x).powi(2)).sum();
    let products: f64 = pairs.iter().map(|p| (p.1 - mean_x) * (p.0 - mean_y)).sum();
    let slope = if squares > 0.0 { products / squares } else { 0.0 };
    let beside: f64 =
        pairs.iter().map(|p| (p.0 - mean_y - slope * (p.1 - mean_x)).powi(2)).sum::<f64>();
    let far = if squares > 0.0 { (x - mean_x).powi(2) / squares } else { 0.0 };
    (mean_y + slope * (x - mean_x), (beside / (n - 2.0) * (1.0 / n + far)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_cover_the_rank_order() {
        let light: Vec<VertexId> = (0..1006).map(|i| 2 * i).collect();
        let mut random = ChaCha8Rng::seed_from_u64(7);
        const IDS: VertexId = 2 * CLUSTER as VertexId;
        let mut drawn = [0; 1006 / CLUSTER];
        for _ in 0..1000 {
            let draw = draw(&light, 500, &mut random);
            assert_eq!(draw.len() % UNITS_A_BEAT, 0);
            assert!(draw.windows(2).all(|pair| pair[0] < pair[1] || pair[1] % IDS == 0));
            for begin in draw.iter().filter(|&v| v % IDS == 0) {
                // The last cluster has more units.
                drawn[(*begin / IDS).min(14) as usize] += u32::from(*begin < 15 * IDS);
            }
        }
        // Seven of 15 clusters, with equal probability.
        assert!(drawn.iter().all(|n| (420..520).contains(n)), "{drawn:?}");
        assert_eq!(draw(&light[..300], 1000, &mut random), light[..300]);
    }

    #[test]
    fn what_draws_would_miss_always_runs() {
        // A window should have a quarter of the work, and one cluster has nearly all.
        let mut work = vec![1; 64 * 4];
        work[64..128].fill(3);
        work[192..].fill(100);
        work[3] = 60;
        let (heavy, light) = divided(&work, 64);
        assert_eq!(heavy, [&[3][..], &(192..256).collect::<Vec<_>>()].concat());
        assert_eq!(light.len(), 256 - 65);
    }

    #[test]
    fn a_line_through_the_windows_has_its_standard_error() {
        assert_eq!(
            regression(&[(5.0, 1.0), (7.0, 2.0), (9.0, 3.0), (11.0, 4.0)], 6.0),
            (15.0, 0.0)
        );
        // y = x with residuals 1, -1, -1, 1: s² = 4 / 2, Sxx = 20, (6 - 3)² / 20.
        let (y, deviation) = regression(&[(1.0, 0.0), (1.0, 2.0), (3.0, 4.0), (7.0, 6.0)], 6.0);
        assert!(
            (y - 6.0).abs() < 1e-9 && (deviation - 1.4f64.sqrt()).abs() < 1e-9,
            "{y} {deviation}"
        );
        assert_eq!(regression(&[(2.0, 3.0); 5], 4.0), (2.0, 0.0));
    }

    #[test]
    fn a_sweep_reads_each_line_once() {
        use gramer_graph::generate::{Model, Recipe, generate};
        let context = Context::default();
        let model = Model::ErdosRenyiEdges { vertices: 60, edges: 400 };
        let recipe = Recipe { model, seed: 3, vertex_labels: None, edge_labels: None };
        let graph = generate(&recipe, &context).unwrap();
        let view = graph.view();
        let line = |unit: &WorkUnit| (view.row(unit.start).start + unit.first as usize) / A_LINE;
        let lines = |room| sweep(view, room).iter().map(line).collect::<Vec<_>>();
        assert_eq!(lines([1, 8]), (0..8).rev().collect::<Vec<_>>());
        assert_eq!(lines([100, 8]), (0..48).rev().collect::<Vec<_>>(), "all whole beats of 50");
    }

    #[test]
    fn work_is_that_of_algorithm_1() {
        use gramer_engine::reference::Counters;
        use gramer_graph::generate::{Model, Recipe, generate};
        let context = Context::default();
        let model = Model::ErdosRenyiEdges { vertices: 60, edges: 200 };
        let recipe = Recipe { model, seed: 3, vertex_labels: None, edge_labels: None };
        let graph = generate(&recipe, &context).unwrap();
        let work = work(&graph, &Task::Clique { k: 4 }, &context).unwrap();
        let units: Vec<WorkUnit> = Units::All.iter(graph.view()).collect();
        let mut whole =
            Explorer::new(graph.view(), Comparison::Descending, Cliques::new(4), &context);
        assert!(whole.run_units(&units).is_continue());
        let Counters { candidates_by_depth, extensions, .. } = whole.counters();
        assert_eq!(work.len(), 60);
        assert_eq!(work.iter().sum::<u64>(), candidates_by_depth.iter().sum::<u64>() + extensions);
    }
}
