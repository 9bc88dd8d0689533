//! Cycles and hit ratios of a task from a part of its work, with confidence intervals.
//!
//! | module | content |
//! |---|---|
//! | [`work`] | work of units, and slices of them |
//! | `draws` | what a sample draws |
//! | `schedule` | distribution of units among slots |
//! | `sweep` | the first fill of the caches |
//! | [`windows`] | ratios of what windows count |
//!
//! How much work each unit (a start vertex with its list) has is known: candidates and lists of algorithm 1, and a fixed part
//! ([`work`]). `schedule` distributes all units among the slots. Until the last unit is taken all slots are busy. A window of
//! the sample is what they do from a random time on: the rest of the units under way then, and those that follow, cut into
//! slices of their lists, each slot for as much work. So as many trees are under way at once as in the whole run.
//! Windows begin in equal parts of the time. One simulation runs a stream of
//!
//! | part | content | purpose |
//! |---|---|---|
//! | sweep | a slice per line that the chip has room for, the best last; little work | caches have had their first fill |
//! | windows | a settling part, which isn't measured, and the measured one | lines of other trees have left |
//! | after | another window | the core stays busy until the last window is over |
//!
//! The core takes slices as it gets free, so the time from taking a window's first measured slice to
//! taking the next part's first is the time of the window's work: slices in flight at its end replace those at its begin. The work
//! of a window is therefore summed over slices, shifted by half of those in flight.
//!
//! With the windows' cycles c and work w, the core takes W · Σ c / Σ w for the work W until the last unit is taken (the ratio
//! estimator of survey sampling). Successive differences of their residuals give the variance (Student's t, 95 %).
//!
//! **Size.** Entries of lists can't be cut. The larger they are, the more work is in flight and the larger windows are: four
//! times what is in flight, as much if that would be too much work, or at last a quarter of it, with fewer windows. What is
//! in flight at the ends of windows is part of the residuals.
//!
//! **The end.** When no unit is left, slots steal inside their PU, and PUs end at different times: in ascending order of
//! comparison single trees outlast all others. A further simulation of one PU with a slice of the largest
//! unit measures by how much a PU is faster when it is alone. The time of the end follows from the schedule; a quarter of
//! it widens the interval, since slots are not equally fast.
//!
//! **Hit ratios** are ratios of sums over the windows of the run's timeline that lie in windows of the sample. What the caches
//! still lack after the settling part shows in the difference between the halves of windows, which widens the interval.
//!
//! Biases that the spread of the draws doesn't show widen the intervals:
//! - A window's begin shares no lines with its predecessor: 1.5 % of the cycles.
//! - A slice that goes on with a unit counts with the fixed work of a unit, but may cost less: half of that is added.
//! - The caches' first fill and the drain at the end happen once, outside of all draws. Both are measured, and
//!   cost between nothing, if other slots' work hides them, and that time. Half of it is added, and as much to the
//!   interval on both sides. The first fill has up to two misses for each line.

mod draws;
mod schedule;
mod sweep;
pub mod windows;
pub mod work;

use serde_json::Value;

use super::measures::Metric;
use super::parameter::{Parameter, Point, Setting};
use super::simulator::{RunOutcome, SimulatedTask, Simulator};
use draws::{Draws, sum};
use gramer_accelerator::stream::UNITS_A_BEAT;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::WorkUnit;
use gramer_engine::reference::Comparison;
use gramer_graph::{Graph, VertexId};
use schedule::Schedule;
use windows::{Bins, Hits, Ratio, WINDOWS};
use work::{FIXED, TaskWork};

/// Cost of the begins of windows, as a share of the cycles.
const WINDOW_BEGINS: f64 = 0.015;
/// Share of the schedule's end by which it may be wrong.
const END_ERROR: f64 = 0.25;
/// Share of the end in a run from which on a PU alone is measured.
const END_MATTERS: f64 = 0.01;

/// Size and seed of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleSettings {
    /// Windows, 4 to 24.
    pub windows: usize,
    /// Candidates and lists of all windows together; more if those in flight are many.
    pub work: u64,
    /// Seed.
    pub seed: u64,
}

impl Default for SampleSettings {
    fn default() -> Self {
        SampleSettings { windows: 12, work: 8_000_000, seed: 1 }
    }
}

/// Estimate of a task's run.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Cycles of the whole task, with half of the interval that contains them with a confidence of 95 %.
    pub cycles: Ratio,
    /// Part of the cycles after the last unit was taken.
    pub end: f64,
    /// Shares of the run that windows give, with their intervals.
    pub shares: Vec<(Metric, Ratio)>,
    /// Accesses of vertices and edges.
    pub accesses: [f64; 2],
    /// Part of the work that was simulated in windows.
    pub part: f64,
    /// Cycles that were simulated for it.
    pub simulated: u64,
}

/// The order of comparison of a point.
pub fn comparison(point: &Point) -> Comparison {
    let ascending = |s: &Setting| s.parameter == Parameter::Order && s.text == "ascending";
    match point.settings.iter().any(ascending) {
        true => Comparison::Ascending,
        false => Comparison::Descending,
    }
}

/// Whether slots of a PU steal from each other.
fn steals(point: &Point) -> bool {
    !point.settings.iter().any(|s| s.parameter == Parameter::Stealing && s.text == "off")
}

/// Estimates a point.
///
/// # Errors
/// [`Error::Usage`] for a sampling out of range; [`Error::Unsupported`] if slices are too large or the task is too small for
/// a sample; those of the simulator; [`Error::Device`] if a run of the sample failed.
pub fn estimate(
    simulator: &Simulator,
    graph: &Graph,
    simulated: &SimulatedTask,
    work: &TaskWork<'_>,
    point: &Point,
    sampling: &SampleSettings,
    context: &Context,
) -> Result<Estimate> {
    if !WINDOWS.contains(&sampling.windows) {
        return Err(Error::usage("a sample has 4 to 24 windows"));
    }
    let machine = &point.machine.machine;
    let (pus, slots) = (machine.processing_units as usize, slots(point));
    let all = (0..work.units() as VertexId).map(|v| work.of(v));
    let schedule = Schedule::new(all, pus, slots);
    let uneven = schedule.end(1.0) > END_MATTERS * schedule.begun();
    if uneven && !steals(point) {
        let why = "without stealing a slot that is alone may have any speed: no sampling";
        return Err(Error::Unsupported(why.into()));
    }
    let drawn = Draws::new(graph.view(), work, point.room, &schedule, sampling)?;
    let mut streams = vec![drawn.units()];
    if uneven {
        streams.push(drawn.alone(work, sampling)?);
    }
    let results = runs(simulator, graph, simulated, point, &streams, context)?;
    estimated(&drawn, work, &schedule, &streams, pus * slots, point, &results)
}

/// Slots of a PU in use.
fn slots(point: &Point) -> usize {
    let given = point.settings.iter().find(|s| s.parameter == Parameter::Slots);
    given.and_then(|s| s.number).map_or(point.machine.machine.slots as usize, |n| n as usize)
}

/// Results of streams on a point.
fn runs(
    simulator: &Simulator,
    graph: &Graph,
    simulated: &SimulatedTask,
    point: &Point,
    streams: &[Vec<WorkUnit>],
    context: &Context,
) -> Result<Vec<Value>> {
    let points = streams.iter().map(|units| {
        let file = simulator.units(units)?;
        let mut point = point.clone();
        point.options.extend(["--units".into(), file.display().to_string(), "--timeline".into()]);
        Ok(point)
    });
    let points: Vec<Point> = points.collect::<Result<_>>()?;
    simulator
        .run(graph, simulated, &points, context, &|_, _, _| {})?
        .into_iter()
        .map(|ran| match ran {
            RunOutcome::Done(kept) => Ok(kept.result),
            RunOutcome::Limit if simulator.cached() => {
                Err(Error::Device("not in the cache".into()))
            }
            RunOutcome::Limit => Err(Error::Device("a sample has too many cycles".into())),
            RunOutcome::Failed(said) => Err(Error::Device(said)),
        })
        .collect()
}

/// The estimate from the results of the streams: the sample and, if it was run, a PU alone.
fn estimated(
    draws: &Draws,
    work: &TaskWork<'_>,
    schedule: &Schedule,
    streams: &[Vec<WorkUnit>],
    in_flight: usize,
    point: &Point,
    results: &[Value],
) -> Result<Estimate> {
    let end = |of: &Value| of["cycles"].as_f64().unwrap_or(f64::NAN);
    let taken = |of: &Value, unit: usize| of["taken"][unit / UNITS_A_BEAT].as_f64();
    let sample = &results[0];
    let at = |unit: usize| taken(sample, unit).unwrap_or(f64::NAN);
    let (slices, measured) = draws.slices();
    let (sweep, bins) = (draws.sweep.len(), Bins::of(sample));
    let (mut times, mut counted) = (vec![], vec![]);
    for window in measured {
        let (begin, over) = (at(sweep + window.start), at(sweep + window.end));
        // When a slice is taken, about half of the work of those in flight is still to be done.
        let behind = (in_flight / 2).min(window.start);
        let done = sum(&slices[window.start - behind..window.end - behind]);
        times.push((over - begin, done as f64));
        let middle = f64::midpoint(begin, over);
        let parts = [(begin, over), (begin, middle), (middle, over)];
        counted.push(parts.map(|(from, to)| bins.between(from, to)));
    }
    let a_work = Ratio::of(&times);
    let alone = match (results.get(1), streams.get(1)) {
        (Some(result), Some(units)) => {
            let last = units.len() - 1;
            let begin = taken(result, last).unwrap_or(f64::NAN);
            let own = work.of_slice(units[last])? as f64;
            let speed = own / (end(result) - begin);
            let pus = f64::from(point.machine.machine.processing_units);
            (speed * a_work.value * pus).clamp(1.0, pus)
        }
        _ => 1.0,
    };
    let measured = || draws.windows.iter().flat_map(|window| &window.measured);
    let in_windows: u64 = measured().map(|slice| slice.work).sum();
    let cuts = measured().filter(|slice| slice.unit.first > 0).count() as u64 * FIXED / 2;
    let cuts = cuts as f64 / in_windows as f64;
    let until = schedule.begun() * a_work.value;
    let end_cycles = schedule.end(alone) * a_work.value;
    let fill = at(sweep) - at(0);
    let drain = end(sample) - at(sweep + slices.len() - 1);
    let added = (fill + drain) / 2.0;
    let (until, end_cycles) = (until * (1.0 + cuts), end_cycles * (1.0 + cuts));
    let cycles = at(0) + until + end_cycles + added;
    let half =
        schedule.begun() * a_work.half + END_ERROR * end_cycles + added + WINDOW_BEGINS * cycles;
    if !(cycles.is_finite() && half.is_finite()) {
        return Err(Error::Device(format!("the estimate is {cycles} ± {half}: too few units")));
    }
    let lines = [0, 1].map(|kind| point.room[kind].min(draws.lines[kind]));
    let (shares, accesses) = hits(&counted, until + end_cycles, lines);
    Ok(Estimate {
        cycles: Ratio { value: cycles, half },
        end: end_cycles / cycles,
        shares,
        accesses,
        part: in_windows as f64 / work.whole() as f64,
        simulated: results.iter().map(|r| end(r) as u64).sum(),
    })
}

/// Cycles, and hits of vertices and edges: of a window, and of its halves.
type Counted = [(f64, [Hits; 2]); 3];

/// Hit ratios and numbers of accesses of vertices and edges, from the cycles and hits of windows, for as many cycles of all
/// PUs. The first fill reads each of these lines; an access that waits for a line is a miss, too: up to two for each line.
fn hits(counted: &[Counted], cycles: f64, lines: [u64; 2]) -> (Vec<(Metric, Ratio)>, [f64; 2]) {
    let kinds = [(Metric::VertexHits, Metric::VertexHigh), (Metric::EdgeHits, Metric::EdgeHigh)];
    let (mut shares, mut accesses) = (vec![], [0.0; 2]);
    for (kind, (both, high)) in kinds.into_iter().enumerate() {
        let share = |part: fn(Hits) -> f64| {
            let [whole, before, after] = [0, 1, 2].map(|of| {
                let all = counted.iter().map(|window| window[of].1[kind]);
                Ratio::of(&all.map(|hits| (part(hits), hits.accesses())).collect::<Vec<_>>())
            });
            // There is no difference where no window of the timeline lies in a half.
            let difference = (after.value - before.value).abs().max(0.0);
            Ratio { value: whole.value, half: whole.half + difference }
        };
        let rate = |[(n, hits), ..]: &Counted| (hits[kind].accesses(), *n);
        accesses[kind] = Ratio::of(&counted.iter().map(rate).collect::<Vec<_>>()).value * cycles;
        let first = (lines[kind] as f64 / accesses[kind]).min(1.0);
        let Ratio { value, half } = share(Hits::hits);
        shares.push((both, Ratio { value: (value - first).max(0.0), half: half + first }));
        shares.push((high, share(|hits| hits.high)));
    }
    (shares, accesses)
}

#[cfg(test)]
mod tests {
    use super::draws::{LEAST_SLICE, slices};
    use super::*;
    use gramer_graph::generate::{Model, Recipe, generate};
    use gramer_pattern::task::Task;

    fn graph(vertices: u64, edges: u64) -> Graph {
        let model = Model::ErdosRenyiEdges { vertices, edges };
        let recipe = Recipe { model, seed: 3, vertex_labels: None, edge_labels: None };
        generate(&recipe, &Context::default()).unwrap()
    }

    #[test]
    fn slots_go_on_where_they_are() {
        let (graph, context) = (graph(2000, 20_000), Context::default());
        let task = Task::Clique { k: 3 };
        let work = TaskWork::new(&graph, &task, Comparison::Ascending, &context).unwrap();
        let all = || (0..2000).map(|v| work.of(v));
        let schedule = Schedule::new(all(), 2, 4);
        let last = schedule.last();
        // All of the time: every unit once, in order.
        let whole = slices(&work, &schedule, 0..last + 1, u64::MAX).unwrap();
        assert!(whole.windows(2).all(|pair| pair[0].unit.start < pair[1].unit.start));
        assert_eq!(whole.len(), 2000);
        // Parts of it have their share of the work.
        for part in 0..4 {
            let times = last * part / 4..last * (part + 1) / 4;
            let own = sum(&slices(&work, &schedule, times, LEAST_SLICE).unwrap()) as f64;
            assert!((own * 4.0 / schedule.begun() - 1.0).abs() < 0.1, "{part}: {own}");
        }
    }

    #[test]
    fn hits_of_the_first_fill_are_between_none_and_all() {
        let window = Hits { high: 60.0, low: 30.0, misses: 10.0 };
        let counted = [(100.0, [window; 2]); 3];
        let (shares, accesses) = hits(&[counted; 4], 10_000.0, [100, 1000]);
        assert_eq!(accesses, [10_000.0; 2]);
        let vertices = Ratio { value: 0.9 - 0.01, half: 0.01 };
        assert_eq!(shares[0], (Metric::VertexHits, vertices));
        assert_eq!(shares[1], (Metric::VertexHigh, Ratio { value: 0.6, half: 0.0 }));
        assert!((shares[2].1.value - 0.8).abs() < 1e-9 && shares[2].0 == Metric::EdgeHits);
        // Caches that still fill: the halves' 0.8 and 0.9.
        let colder = Hits { low: 20.0, misses: 20.0, ..window };
        let filling = [window, colder, window].map(|hits| (100.0, [hits; 2]));
        let (shares, _) = hits(&[filling; 4], 1e9, [0, 0]);
        let Ratio { value, half } = shares[0].1;
        assert!((value - 0.9).abs() < 1e-9 && (half - 0.1).abs() < 1e-9, "{value} {half}");
    }
}
