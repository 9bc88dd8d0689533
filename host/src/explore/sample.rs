//! Cycles of a task from a part of its work units, with a confidence interval.
//!
//! The sampling unit is a work unit (a start vertex with its list). How much work each has is known
//! exactly: algorithm 1 on the CPU counts its candidates and walks. Units with more than 1/200 of
//! the work always run. The others are drawn in strata of the rank order: from each, so many
//! neighbours in rank together, because units that follow each other share lines.
//!
//! A replicate simulates a stream of three draws: the first fills caches and slots, the second is
//! the window, the third keeps the core busy until the window is over. The core takes units as it
//! gets free, so the time from taking the window's first unit to taking the third draw's first is the
//! time of the window's work, whatever is still under way at either end. It gives cycles for a unit
//! of work; the light units' whole work is known. A second run of the first two replicates with the
//! heavy units put in at their ranks says how much longer the stream takes with them:
//!
//! cycles = begin + light work × (window's cycles / window's work) + (end with heavy − end without)
//!
//! Replicates are independent draws, so their spread gives the interval: Student's t, 95 %. What it
//! doesn't cover: the first fill of the caches, and slots that stay empty at the very end. In
//! ascending order of comparison single trees outlast all others and the end is most of the run;
//! there is no sampling in that order.

use std::ops::ControlFlow;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde_json::Value;

use super::parameter::{Parameter, Point};
use super::simulator::{Ran, SimulatedTask, Simulator};
use crate::context::Context;
use crate::engine::reference::{Cliques, Comparison, Explorer, Motifs, Primitives, Unit};
use crate::error::{Error, Result};
use crate::graph::{Graph, VertexId};
use crate::task::Task;

/// A unit with more than the whole work divided by this always runs.
const HEAVY: u64 = 200;
/// Neighbours in rank that are drawn together: four beats of the in-stream.
const CLUSTER: usize = 16;
/// Units in a beat of the in-stream.
const A_BEAT: usize = 4;
/// Replicates that are run with the heavy units as well.
const WITH_HEAVY: usize = 2;
/// Student's t for a two-sided 95 %, by degrees of freedom from 1.
const STUDENT: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// How much is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Independent draws, 2 to 11.
    pub replicates: usize,
    /// A window has one in so many of the units, but at least four times those in flight.
    pub one_in: usize,
    /// Of the draws.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Plan { replicates: 5, one_in: 100, seed: 1 }
    }
}

/// An estimate.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// Cycles of the whole task.
    pub cycles: f64,
    /// Half of the interval that contains them with a confidence of 95 %.
    pub half: f64,
    /// The estimate of each replicate.
    pub replicates: Vec<f64>,
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
    Unit::all(view)
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

/// Estimates the cycles of a point.
///
/// # Errors
/// [`Error::Usage`] for the ascending order or a plan out of range; those of the simulator;
/// [`Error::Device`] if a run of the sample failed.
pub fn estimate(
    simulator: &Simulator,
    graph: &Graph,
    simulated: &SimulatedTask,
    work: &[u64],
    point: &Point,
    plan: &Plan,
    context: &Context,
) -> Result<Sampled> {
    if point.settings.iter().any(|s| s.parameter == Parameter::Order && s.text == "ascending") {
        return Err(Error::usage("sampling needs order=descending: see explore::sample"));
    }
    if !(2..=STUDENT.len() + 1).contains(&plan.replicates) || plan.one_in == 0 {
        return Err(Error::usage("a sample has 2 to 11 replicates of at most one in one unit"));
    }
    let whole: u64 = work.iter().sum();
    let (heavy, light): (Vec<VertexId>, Vec<VertexId>) =
        (0..work.len() as VertexId).partition(|&v| work[v as usize] > whole / HEAVY);
    let machine = &point.machine.machine;
    let in_flight = (machine.processing_units * machine.slots) as usize;
    let window = (light.len() / plan.one_in).max(4 * in_flight).max(8 * CLUSTER);
    let around = (window / 2).max(2 * in_flight);
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
    let draws: Vec<Draw> = (0..plan.replicates)
        .map(|_| Draw {
            before: draw(&light, around, &mut random),
            window: draw(&light, window, &mut random),
            after: draw(&light, around, &mut random),
        })
        .collect();
    // First all without the heavy units, then some with them.
    let without = draws.iter().map(|draw| (draw, &[][..]));
    let with = draws.iter().take(WITH_HEAVY).map(|draw| (draw, &heavy[..]));
    let mut points = vec![];
    for (draw, heavy) in without.chain(with) {
        let mut middle = [&draw.window[..], heavy].concat();
        middle.sort_unstable();
        let units = [&draw.before[..], &middle, &draw.after].concat();
        let file = simulator.units(graph, &units)?;
        let mut point = point.clone();
        point.options.extend(["--units".into(), file.display().to_string()]);
        points.push(point);
    }
    let ran = simulator.run(graph, simulated, &points, context, &|_, _, _| {})?;
    let light_work: u64 = light.iter().map(|&v| work[v as usize]).sum();
    let results = ran
        .into_iter()
        .map(|ran| match ran {
            Ran::Done(kept) => Ok(kept.result),
            Ran::Limit => Err(Error::Device("a sample has too many cycles".into())),
            Ran::Failed(said) => Err(Error::Device(said)),
        })
        .collect::<Result<Vec<Value>>>()?;
    let end = |of: &Value| of["cycles"].as_u64().unwrap_or(0);
    let (without, with) = results.split_at(draws.len());
    let of_heavy: f64 =
        with.iter().zip(without).map(|(w, wo)| end(w) as f64 - end(wo) as f64).sum::<f64>()
            / with.len() as f64;
    let mut replicates = vec![];
    for (draw, without) in draws.iter().zip(without) {
        let taken = |beat: usize| without["taken"][beat].as_f64().unwrap_or(f64::NAN);
        let first = draw.before.len() / A_BEAT;
        let last = first + draw.window.len() / A_BEAT;
        let cycles = taken(last) - taken(first);
        let in_window: u64 = draw.window.iter().map(|&v| work[v as usize]).sum();
        replicates.push(taken(0) + light_work as f64 * cycles / in_window as f64 + of_heavy);
    }
    let cycles_simulated = results.iter().map(end).sum();
    if let Some(bad) = replicates.iter().find(|r| !r.is_finite()) {
        return Err(Error::Device(format!("a replicate's estimate is {bad}: too few units")));
    }
    let (cycles, half) = interval(&replicates);
    Ok(Sampled { cycles, half, replicates, simulated: cycles_simulated, heavy: heavy.len() })
}

/// The three parts of a replicate's stream.
struct Draw {
    before: Vec<VertexId>,
    window: Vec<VertexId>,
    after: Vec<VertexId>,
}

/// Clusters of units that follow each other in `light`, at random places of as many equal blocks of
/// it, in their order: about `count` units, at least one cluster and never more than there are.
fn draw(light: &[VertexId], count: usize, random: &mut ChaCha8Rng) -> Vec<VertexId> {
    let clusters = (count.min(light.len()) / CLUSTER).max(1);
    (0..clusters)
        .flat_map(|block| {
            let (from, to) = (block * light.len() / clusters, (block + 1) * light.len() / clusters);
            let places = (to - from).saturating_sub(CLUSTER) as u64 + 1;
            let at = from + (random.next_u64() % places) as usize;
            light[at..(at + CLUSTER).min(to)].iter().copied()
        })
        .collect()
}

/// Mean, and half of its 95 % interval.
fn interval(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, STUDENT[values.len() - 2] * (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_cover_the_rank_order() {
        let light: Vec<VertexId> = (0..1000).map(|i| 2 * i).collect();
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let drawn = draw(&light, 80, &mut random);
        assert_eq!(drawn.len(), 80);
        for (block, cluster) in drawn.chunks(CLUSTER).enumerate() {
            let within = 400 * block..400 * (block + 1);
            assert!(cluster.iter().all(|&unit| within.contains(&(unit as usize))), "{block}");
            assert!(cluster.windows(2).all(|pair| pair[1] == pair[0] + 2), "neighbours in rank");
        }
        assert_ne!(drawn, draw(&light, 80, &mut random));
        assert_eq!(draw(&light[..40], 1000, &mut random).len(), 2 * CLUSTER);
        assert_eq!(draw(&light[..10], 1000, &mut random), light[..10]);
    }

    #[test]
    fn the_interval_is_students() {
        // 4 ± 3.182 · 2.582 / 2.
        let (mean, half) = interval(&[1.0, 3.0, 5.0, 7.0]);
        assert_eq!(mean, 4.0);
        assert!((half - 4.108).abs() < 1e-3, "{half}");
    }

    #[test]
    fn work_is_that_of_algorithm_1() {
        use crate::engine::reference::Counters;
        use crate::graph::generate::{Model, Recipe, generate};
        let context = Context::default();
        let model = Model::ErdosRenyiEdges { vertices: 60, edges: 200 };
        let recipe = Recipe { model, seed: 3, vertex_labels: None, edge_labels: None };
        let graph = generate(&recipe, &context).unwrap();
        let work = work(&graph, &Task::Clique { k: 4 }, &context).unwrap();
        let units: Vec<Unit> = Unit::all(graph.view()).collect();
        let mut whole =
            Explorer::new(graph.view(), Comparison::Descending, Cliques::new(4), &context);
        assert!(whole.run_units(&units).is_continue());
        let Counters { candidates_by_depth, extensions, .. } = whole.counters();
        assert_eq!(work.len(), 60);
        assert_eq!(work.iter().sum::<u64>(), candidates_by_depth.iter().sum::<u64>() + extensions);
    }
}
