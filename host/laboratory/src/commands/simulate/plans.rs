//! A pattern on the simulated set core, by the map or by one or two search plans: all units or a sample, on all clusters or some.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use gramer::accelerator::set::image::Words;
use gramer::accelerator::set::numbers::SUM_EMBEDDINGS;
use gramer::accelerator::set::plan::image::PlanImage;
use gramer::accelerator::set::plan::units::{deal, fewer_walkers, parts, units, walkers};
use gramer::accelerator::set::plan::words::{CountPlan, Program};
use gramer::accelerator::set::units::PlacedUnit;
use gramer::accelerator::set::wedges::Shape;
use gramer::engine::Units;
use gramer::graph::View;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::pattern::Pattern;
use gramer::prepare;
use gramer::task::Induced;
use gramer_machine::Accelerator;
use gramer_machine::set::LINE_QUARTERS;
use gramer_models::plan as reference;
use gramer_sim::model::Model;
use gramer_sim::run::{DONE, FULL, Outcome, Simulation, status_name};
use gramer_sim::set::{Run, run};

use super::wedges;

/// The request.
pub struct PatternRequest<'a> {
    /// The machine.
    pub accelerator: &'a Accelerator,
    /// Its model, and the hash of that.
    pub library: &'a Path,
    /// See [`PatternRequest::library`].
    pub model: &'a str,
    /// The pattern, and the name that the user gave it.
    pub pattern: (&'a Pattern, &'a str),
    /// The graph's file.
    pub graph: &'a Path,
    /// Of the units in the order of their work every n-th is run.
    pub part: usize,
    /// Number of the machine's clusters to simulate, with their units.
    pub clusters: usize,
    /// Settings of the simulation.
    pub simulation: &'a Simulation,
}

/// Results.
pub struct PatternResult {
    /// Occurrences, if all units ran.
    pub count: Option<u128>,
    /// Of each program: the one that counts, then what counts what is too much.
    pub runs: Vec<ProgramRuns>,
}

/// Runs of a program.
#[derive(Default)]
pub struct ProgramRuns {
    /// Its count, from the units that ran; without a program the sum of products.
    pub count: u128,
    /// Units that there are, and that ran.
    pub units: (usize, usize),
    /// Active walkers of a PU in the last attempt; 0 without a program.
    pub walkers: Option<u32>,
    /// Runs that ended because a set had no room.
    pub retries: u64,
    /// The most cycles that those took of a cluster.
    pub lost: u64,
    /// From the start to the last sum of the cluster that took longest, with those.
    pub cycles: u64,
    /// One per cluster, and seconds that it took here.
    pub clusters: Vec<(Outcome, f64)>,
}

/// Every `part`th unit in the order of work, from the middle of the first `part` on: large and small ones are there
/// as often as among all of them, whatever they count.
pub fn sample(mut all: Vec<PlacedUnit>, part: usize) -> Vec<PlacedUnit> {
    all.sort_by_key(|u| (u.work, u.address, u.first));
    all.into_iter().skip((part - 1) / 2).step_by(part).collect()
}

/// Runs a pattern.
///
/// # Errors
/// Tasks that the set core does not support, and all errors of the run, also sums that differ from those of the
/// functional model.
pub fn mine(asked: &PatternRequest<'_>) -> Result<PatternResult> {
    let machine = asked.accelerator;
    let levels = machine.set.as_ref().map_or(0, |set| set.plan_levels);
    let context = gramer::Context::default();
    let counted = CountPlan::of(asked.pattern.0, Induced::Edge, levels)
        .map_err(|what| anyhow::anyhow!("the set core {what}"))?;
    let read = read_graph(asked.graph, &ReadOptions::default(), &context)?;
    let graph = prepare::renumber(&read, &context)?;
    if let Some(shape) = Shape::of(machine, asked.pattern.0, Induced::Edge) {
        return wedges::mine(asked, shape, graph.view());
    }
    let image = PlanImage::new(graph.view(), counted.program.order())?;
    has_room(machine, &image)?;
    let mut core = Model::load(asked.library)?;
    let empty = deal(machine, (&counted.program, &image), vec![], 1)[0].whole();
    cluster(asked, &mut core, (&image, &empty), true)?;
    let mut sums = [0; 2];
    let mut runs = vec![];
    let programs = std::iter::once(&counted.program).chain(counted.less.iter().map(|(_, p)| p));
    for (sum, program) in sums.iter_mut().zip(programs) {
        let (own, done) = of_program(asked, &mut core, (graph.view(), &image), program)?;
        *sum = own;
        runs.push(done);
    }
    let all = runs.iter().all(|run| run.units.0 == run.units.1);
    Ok(PatternResult { count: all.then(|| counted.occurrences(sums[0], sums[1])), runs })
}

/// Runs a program: the sum, and the rest.
fn of_program(
    asked: &PatternRequest<'_>,
    core: &mut Model,
    (view, image): (View<'_>, &PlanImage),
    program: &Program,
) -> Result<(u128, ProgramRuns)> {
    let (machine, part) = (asked.accelerator, asked.part);
    let count = machine.kernels.compute_units as usize;
    let all = units(view, Units::All, image, program, walkers(machine, count));
    let mut done = ProgramRuns { units: (all.len(), 0), ..ProgramRuns::default() };
    let streams = deal(machine, (program, image), sample(all, part), count);
    let mut sum = 0;
    for stream in streams.iter().take(asked.clusters) {
        let (mut stream, clock) = (stream.whole(), Instant::now());
        let mut lost = 0;
        let outcome = loop {
            let outcome = cluster(asked, core, (image, &stream), false)?;
            if outcome.status == DONE {
                break outcome;
            }
            lost += outcome.sum("core.cycles");
            done.retries += 1;
            ensure!(fewer_walkers(machine, &mut stream), "sets have no room");
        };
        let wanted = reference::run(machine, image.words(), &stream);
        let own = outcome.counts[SUM_EMBEDDINGS];
        ensure!(
            wanted.is_some_and(|wanted| outcome.counts == wanted.values),
            "the core counted {own}, unlike the functional model"
        );
        sum += u128::from(own);
        done.units.1 += outcome.sum("core.work_units") as usize;
        let own = parts(machine, &stream);
        done.walkers = Some(done.walkers.map_or(own, |other| other.min(own)));
        done.cycles = done.cycles.max(lost + outcome.sum("core.cycles"));
        done.lost = done.lost.max(lost);
        done.clusters.push((outcome, clock.elapsed().as_secs_f64()));
    }
    done.count = program.occurrences(sum);
    Ok((sum, done))
}

/// Refuses an image that has no room on chip.
pub(crate) fn has_room(machine: &Accelerator, image: &dyn Words) -> Result<()> {
    ensure!(
        image.lines() <= machine.set_quarters() / LINE_QUARTERS,
        "the graph's image has {} lines, more than a cluster has on chip",
        image.lines()
    );
    Ok(())
}

/// A run of a cluster, which may end as a set had no room.
pub(crate) fn cluster(
    asked: &PatternRequest<'_>,
    core: &mut Model,
    (image, stream): (&dyn Words, &[u8]),
    load: bool,
) -> Result<Outcome> {
    let job = Run { image: image.bytes(), stream, load, wait: true };
    let outcome = run(asked.accelerator, core, &job, asked.simulation)?;
    match outcome.status {
        DONE | FULL => {}
        other => bail!("the core ended early: {}", status_name(other)),
    }
    ensure!(!outcome.saturated, "a sum is too large");
    Ok(outcome)
}

/// The answer as JSON: of each program `cycles` are those of the cluster that took longest; `passes` are the clusters.
///
/// # Errors
/// None that this data can cause.
pub fn json(asked: &PatternRequest<'_>, done: &PatternResult) -> Result<String> {
    let pass = |(outcome, seconds): &(Outcome, f64)| {
        serde_json::json!({
            "status": status_name(outcome.status),
            "cycles": outcome.sum("core.cycles"),
            "counters": outcome.counters,
            "seconds": seconds,
        })
    };
    let run = |run: &ProgramRuns| {
        serde_json::json!({
            "count": run.count,
            "units": run.units.0,
            "units_run": run.units.1,
            "walkers": run.walkers,
            "retries": run.retries,
            "lost_cycles": run.lost,
            "cycles": run.cycles,
            "passes": run.clusters.iter().map(pass).collect::<Vec<_>>(),
        })
    };
    let value = serde_json::json!({
        "machine": asked.accelerator.machine.name,
        "model": asked.model,
        "task": "match",
        "results": [{ "name": asked.pattern.1, "count": done.count }],
        "part": asked.part,
        "cycles": done.runs.iter().map(|run| run.cycles).sum::<u64>(),
        "programs": done.runs.iter().map(run).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// The answer as tables for reading.
pub fn tables(asked: &PatternRequest<'_>, done: &PatternResult) -> String {
    let mut text = String::new();
    if let Some(count) = done.count {
        let _ = writeln!(text, " {}  {count}", asked.pattern.1);
    }
    let _ = writeln!(text, "\nmachine {}, model {}", asked.accelerator.machine.name, asked.model);
    let pus = f64::from(asked.accelerator.machine.processing_units);
    for (at, run) in done.runs.iter().enumerate() {
        let (all, ran) = run.units;
        let _ = writeln!(text, "\nprogram {at}: {}", run.count);
        let walkers = run.walkers.map_or(String::new(), |n| format!(", {n} walkers a PU"));
        let _ = writeln!(text, "{ran} of {all} units{walkers}");
        if run.retries > 0 {
            let (retries, lost) = (run.retries, run.lost);
            let _ = writeln!(text, "{retries} runs ended since a set had no room, {lost} cycles");
        }
        let _ = writeln!(text, "cycles {}, image on chip before", run.cycles);
        for (at, (outcome, seconds)) in run.clusters.iter().enumerate() {
            let own = outcome.sum("core.cycles").max(1);
            let rate = own as f64 / seconds;
            let _ = writeln!(text, "\ncluster {at}: {own} cycles; {rate:.0} simulated per second");
            for name in
                ["steps", "plan_steps", "plan_passes", "plan_no_line", "map_busy", "idle_no_work"]
            {
                let share = 100.0 * outcome.sum(&format!("pu.{name}")) as f64 / (own as f64 * pus);
                let _ = writeln!(text, "  pu.{name} %  {share:.1}");
            }
            for name in ["core.work_units", "pu.members", "pu.lines_answered"] {
                let _ = writeln!(text, "  {name}  {}", outcome.sum(name));
            }
        }
    }
    text
}
