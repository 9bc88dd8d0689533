//! A task on the simulated set core: one cluster after the other on one model, since clusters share
//! nothing.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail, ensure};
use gramer::accelerator::set::image::SetImage;
use gramer::accelerator::set::sums::{Degrees, Total};
use gramer::accelerator::set::tasks::{SetTask, fits};
use gramer::accelerator::set::units::{Arrange, InStream, deal, longest, units};
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::pattern;
use gramer::task::Induced;
use gramer::{Task, prepare};
use gramer_machine::Accelerator;
use gramer_sim::model::Model;
use gramer_sim::run::{DONE, ERROR, Outcome, REFUSED, Simulation, status_name};
use gramer_sim::set::{Run, run};

/// What is asked.
pub struct Asked<'a> {
    /// The machine.
    pub accelerator: &'a Accelerator,
    /// Its model, and the hash of that.
    pub library: &'a Path,
    /// See [`Asked::library`].
    pub model: &'a str,
    /// Cliques, else motifs.
    pub cliques: bool,
    /// Vertices.
    pub k: u32,
    /// The graph's file.
    pub graph: &'a Path,
    /// The image is loaded while units run, instead of before.
    pub load: bool,
    /// How it is simulated.
    pub simulation: &'a Simulation,
}

/// What came out.
pub struct Done {
    results: Vec<(String, u128)>,
    image_lines: u32,
    /// One a cluster, and seconds that it took here.
    clusters: Vec<(Outcome, f64)>,
}

impl Done {
    /// Cycles of the cluster that took longest, from its start to its last sum.
    fn cycles(&self) -> u64 {
        self.clusters.iter().map(|(outcome, _)| outcome.sum("core.cycles")).max().unwrap_or(0)
    }
}

/// Runs a task.
///
/// # Errors
/// What the set core doesn't do, and everything that goes wrong on the way.
pub fn mine(asked: &Asked<'_>) -> Result<Done> {
    let machine = asked.accelerator;
    let context = gramer::Context::default();
    let k = asked.k as usize;
    let task = match asked.cliques {
        true => Task::Clique { k },
        false => Task::Motif { k, induced: Induced::Vertex },
    };
    task.check()?;
    let task = SetTask::of(machine, &task, false)?;
    let graph = read_graph(asked.graph, &ReadOptions::default(), &context)?;
    let graph = prepare::renumber(&graph, &context)?;
    let view = graph.view();
    let image = SetImage::new(view, task.lists(), context.threads())?;
    fits(machine, &image, longest(view), task)?;
    let operations = task.operations();
    let count = machine.kernels.compute_units as usize;
    let arrange = if asked.load { Arrange::ByAddress } else { Arrange::ByWork };
    let streams = deal(machine, &operations, units(view, &image, &operations), count, arrange);
    let mut core = Model::load(asked.library)?;
    if !asked.load {
        let empty = deal(machine, &operations, vec![], 1, arrange);
        cluster(machine, &mut core, &image, &empty[0], true, asked.simulation)?;
    }
    let (mut total, mut clusters) = (Total::default(), vec![]);
    for stream in &streams {
        let clock = Instant::now();
        let outcome = cluster(machine, &mut core, &image, stream, asked.load, asked.simulation)?;
        for (sum, &own) in total.iter_mut().zip(&outcome.counts) {
            *sum += u128::from(own);
        }
        clusters.push((outcome, clock.elapsed().as_secs_f64()));
    }
    let counts = task.counts(&total, &Degrees::of(view));
    let name = |p: &pattern::Pattern| match asked.cliques {
        true => format!("{k}-clique"),
        false => pattern::name(p),
    };
    let results = counts.iter().map(|c| (name(&c.pattern), c.count)).collect();
    Ok(Done { results, image_lines: image.lines(), clusters })
}

fn cluster(
    machine: &Accelerator,
    core: &mut Model,
    image: &SetImage,
    stream: &InStream,
    load: bool,
    simulation: &Simulation,
) -> Result<Outcome> {
    let whole = stream.whole();
    let job = Run { image: image.bytes(), stream: &whole, load, wait: stream.wait };
    let outcome = run(machine, core, &job, simulation)?;
    match outcome.status {
        DONE => {}
        ERROR => bail!("the memory answered a read at {:#x} with an error", outcome.error_address),
        REFUSED => bail!("{}", machine.refusal(outcome.error_address)),
        other => bail!("the core ended early: {}", status_name(other)),
    }
    ensure!(!outcome.saturated, "a sum exceeds {} bits", machine.applications.count_bits);
    Ok(outcome)
}

/// The answer as JSON; `cycles` are those of the cluster that took longest, `passes` the clusters.
///
/// # Errors
/// None that this data can cause.
pub fn json(asked: &Asked<'_>, done: &Done) -> Result<String> {
    let results: Vec<_> = done
        .results
        .iter()
        .map(|(name, count)| serde_json::json!({ "name": name, "count": count }))
        .collect();
    let passes: Vec<_> = done
        .clusters
        .iter()
        .map(|(outcome, seconds)| {
            let mut pass = serde_json::json!({
                "k": asked.k,
                "status": status_name(outcome.status),
                "saturated": outcome.saturated,
                "cycles": outcome.sum("core.cycles"),
                "counters": outcome.counters,
                "seconds": seconds,
            });
            crate::output::add_timeline(&mut pass, outcome);
            pass
        })
        .collect();
    let seconds: f64 = done.clusters.iter().map(|(_, seconds)| seconds).sum();
    let simulated: u64 = done.clusters.iter().map(|(outcome, _)| outcome.cycles).sum();
    let value = serde_json::json!({
        "machine": asked.accelerator.machine.name,
        "model": asked.model,
        "task": if asked.cliques { "clique" } else { "motif" },
        "k": asked.k,
        "results": results,
        "image": if asked.load { "loaded" } else { "resident" },
        "image_lines": done.image_lines,
        "cycles": done.cycles(),
        "passes": passes,
        "seconds": seconds,
        "cycles_per_second": simulated as f64 / seconds,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// The answer as tables for reading.
pub fn tables(asked: &Asked<'_>, done: &Done) -> String {
    let machine = &asked.accelerator.machine;
    let mut text = String::new();
    for (name, count) in &done.results {
        let _ = writeln!(text, " {name}  {count}");
    }
    let cycles = done.cycles();
    let image = if asked.load { "loaded meanwhile" } else { "on chip before" };
    let _ = writeln!(text, "\nmachine {}, model {}", machine.name, asked.model);
    let _ = writeln!(text, "image of {} lines, {image}", done.image_lines);
    let seconds = cycles as f64 / (f64::from(machine.clock_mhz) * 1e6);
    let _ = writeln!(text, "cycles {cycles}, {seconds:.6} s at the machine's clock");
    for (at, (outcome, seconds)) in done.clusters.iter().enumerate() {
        let own = outcome.sum("core.cycles").max(1);
        let share = |name: &str| {
            let rows = &outcome.counters[&format!("pu.{name}")];
            let each = rows.iter().map(|v| 100.0 * v[0] as f64 / own as f64);
            let all = each.clone().sum::<f64>() / rows.len().max(1) as f64;
            let least = each.clone().fold(f64::INFINITY, f64::min);
            format!("{all:.1} ({least:.1} to {:.1})", each.fold(0.0, f64::max))
        };
        let rate = outcome.cycles as f64 / seconds;
        let _ = writeln!(text, "\ncluster {at}: {own} cycles; {rate:.0} simulated per second");
        for name in ["steps", "level_busy", "map_busy", "idle_no_work", "idle_memory"] {
            let _ = writeln!(text, "  pu.{name} %  {}", share(name));
        }
        for name in ["core.work_units", "pu.lines_answered", "partition.conflicts", "bank.beats"] {
            let _ = writeln!(text, "  {name}  {}", outcome.sum(name));
        }
    }
    text
}
