//! A task on the simulated set core. Clusters share nothing, so one model simulates them one after the other.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use gramer::accelerator::choose_on;
use gramer::accelerator::set::image::{SetImage, Size, Words};
use gramer::accelerator::set::motifs5;
use gramer::accelerator::set::numbers::SUM_EMBEDDINGS;
use gramer::accelerator::set::segments::Segments;
use gramer::accelerator::set::sums::{Degrees, Total, total_of};
use gramer::accelerator::set::tasks::{SetTask, stays};
use gramer::accelerator::set::units::{Arrange, InStream, deal, longest, units};
use gramer::accelerator::set::wedges::image::WedgeImage;
use gramer::accelerator::set::wedges::{self, Shape};
use gramer::accelerator::settings::Settings;
use gramer::engine::{Ask, Query, Units};
use gramer::graph::View;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::pattern;
use gramer::task::Induced;
use gramer::{Task, prepare};
use gramer_machine::Accelerator;
use gramer_models::Sums;
use gramer_sim::model::Model;
use gramer_sim::run::{DONE, ERROR, Outcome, REFUSED, Simulation, status_name};
use gramer_sim::set::{Run, run};

/// The request.
pub struct SetRequest<'a> {
    /// The machine.
    pub accelerator: &'a Accelerator,
    /// Its model, and the hash of that.
    pub library: &'a Path,
    /// See [`SetRequest::library`].
    pub model: &'a str,
    /// Cliques, else motifs.
    pub cliques: bool,
    /// Vertices.
    pub k: u32,
    /// The graph's file.
    pub graph: &'a Path,
    /// The image is loaded while units run, instead of before.
    pub load: bool,
    /// Number of the machine's clusters to simulate, with their units.
    pub clusters: usize,
    /// With N, every N-th segment of a cluster is simulated; 1: all.
    pub part: usize,
    /// Settings of the simulation.
    pub simulation: &'a Simulation,
}

/// Results.
pub struct SetResult {
    results: Vec<(String, u128)>,
    /// Images that were loaded, one unless the graph has no room in a cluster.
    segments: u64,
    /// Segments that there are, where only some were simulated.
    segments_in_all: u64,
    /// Lines of all of them.
    image_lines: u64,
    /// Lines of the image of the whole graph; `None` for more than ids can name.
    whole_lines: Option<u64>,
    /// From the start to the last sum of the cluster that took longest, over all its segments; of several runs of all
    /// clusters the sum. An estimate where only some segments were simulated.
    cycles: u64,
    /// Each of several runs of all clusters, with its cycles.
    stages: Vec<(&'static str, u64)>,
    /// One per cluster that had work, and seconds that it took here.
    clusters: Vec<(Outcome, f64)>,
}

/// A core with what its runs gave so far.
struct Bench<'a> {
    asked: &'a SetRequest<'a>,
    core: Model,
    total: Total,
    /// What each cluster did, if anything.
    clusters: Vec<Option<(Outcome, f64)>>,
    /// Cycles of each before the present one of several runs.
    before: Vec<u64>,
    /// Cycles that each would take for all its segments.
    estimate: Vec<f64>,
    done: SetResult,
}

impl Bench<'_> {
    /// Runs a cluster over an image that the core has, or loads; gives its sums.
    fn run(&mut self, at: usize, image: &dyn Words, stream: &InStream) -> Result<Total> {
        let (load, simulation) = (self.asked.load, self.asked.simulation);
        let clock = Instant::now();
        let outcome =
            cluster(self.asked.accelerator, &mut self.core, image, stream, load, simulation)?;
        let seconds = clock.elapsed().as_secs_f64();
        let found = total_of(&outcome.counts);
        match &mut self.clusters[at] {
            Some((sum, spent)) => {
                add(sum, outcome);
                *spent += seconds;
            }
            none => *none = Some((outcome, seconds)),
        }
        Ok(found)
    }

    fn arrange(&self) -> Arrange {
        if self.asked.load { Arrange::ByAddress } else { Arrange::ByWork }
    }

    /// Loads an image before the run if it must be resident.
    fn place(&mut self, image: &dyn Words) -> Result<()> {
        self.done.segments += 1;
        self.done.image_lines += u64::from(image.lines());
        if !self.asked.load {
            let machine = self.asked.accelerator;
            let empty = deal(machine, &[], vec![], 1, self.arrange());
            cluster(machine, &mut self.core, image, &empty[0], true, self.asked.simulation)?;
        }
        Ok(())
    }

    /// A task over the whole image.
    fn whole(&mut self, view: View<'_>, task: SetTask) -> Result<()> {
        let image = SetImage::new(view, task.lists(), 0)?;
        let operations = task.operations();
        let work = units(view, &image, &operations, Units::All);
        let (machine, clusters) = (self.asked.accelerator, self.clusters.len());
        self.place(&image)?;
        for (at, stream) in deal(machine, &operations, work, clusters, self.arrange())
            .iter()
            .enumerate()
            .take(self.asked.clusters)
        {
            let found = self.run(at, &image, stream)?;
            self.total.iter_mut().zip(found).for_each(|(sum, own)| *sum += own);
        }
        Ok(())
    }

    /// Streams over the image for wedges, one for each cluster: the sum of what they give, which must be what the functional
    /// model has.
    fn over(
        &mut self,
        image: &WedgeImage,
        streams: &[InStream],
        model: impl Fn(&[u8]) -> Option<Sums>,
    ) -> Result<Total> {
        let mut total = Total::default();
        for (at, stream) in streams.iter().enumerate().take(self.asked.clusters) {
            let found = self.run(at, image, stream)?;
            let wanted = model(&stream.whole()).context("the functional model has no room")?;
            let same = found.iter().zip(&wanted.values).all(|(&own, &one)| own == u128::from(one));
            ensure!(
                same,
                "the core's sums are {found:?}, but the functional model's are {wanted:?}"
            );
            total.iter_mut().zip(found).for_each(|(sum, own)| *sum += own);
        }
        Ok(total)
    }

    /// Ends a run of all clusters: those that follow begin when the one that takes longest has ended.
    fn stage(&mut self, name: &'static str) {
        let own = |outcome: &Outcome| outcome.sum("core.cycles");
        let spent = |at: usize, done: &Option<(Outcome, f64)>, before: &[u64]| {
            done.as_ref().map_or(0, |(outcome, _)| own(outcome)) - before.get(at).unwrap_or(&0)
        };
        let all = self.clusters.iter().enumerate();
        let most = all.map(|(at, done)| spent(at, done, &self.before)).max().unwrap_or(0);
        self.before = self.clusters.iter().map(|d| d.as_ref().map_or(0, |(o, _)| own(o))).collect();
        self.done.stages.push((name, most));
    }

    /// Motifs of 5 vertices: cliques are there; then two runs over the image for wedges.
    fn motifs5(&mut self, view: View<'_>) -> Result<()> {
        self.stage("cliques");
        let (machine, clusters) = (self.asked.accelerator, self.clusters.len());
        let image = WedgeImage::new(view)?;
        super::plans::has_room(machine, &image)?;
        self.place(&image)?;
        self.done.segments -= 1; // another image of the same graph
        let work = motifs5::units::units(machine, view, &image, clusters);
        let streams = motifs5::units::deal(machine, work, clusters);
        let sums = self.over(&image, &streams, |stream| {
            Some(gramer_models::motifs5::run(machine, image.words(), stream))
        })?;
        self.total.iter_mut().zip(sums).for_each(|(sum, own)| *sum += own);
        self.stage("motifs5");
        let shape = Shape::FiveCycle;
        let work = wedges::units::units(machine, view, Units::All, &image, shape);
        let streams = wedges::units::deal(machine, shape, work, clusters);
        let sums = self.over(&image, &streams, |stream| {
            gramer_models::wedges::run(machine, image.words(), stream)
        })?;
        // What is too much is known when all clusters have run.
        if self.asked.clusters >= clusters {
            self.total[SUM_EMBEDDINGS] = shape.occurrences(&sums);
        }
        self.stage("five_cycles");
        Ok(())
    }

    /// A task segment by segment, each on the cluster that has its roots.
    fn segments(&mut self, view: View<'_>, task: SetTask) -> Result<()> {
        let (machine, clusters) = (self.asked.accelerator, self.clusters.len());
        for operation in task.operations() {
            let parts = Segments::parts(machine, view, operation, Units::All, clusters);
            for (at, segments) in parts.into_iter().enumerate().take(self.asked.clusters) {
                self.cluster_segments(at, segments)?;
            }
        }
        Ok(())
    }

    /// Runs the segments of a cluster; with a part of N every N-th, the first from the middle of N.
    fn cluster_segments(&mut self, at: usize, mut segments: Segments<'_>) -> Result<()> {
        let (machine, part) = (self.asked.accelerator, self.asked.part);
        let before = self.cycles(at);
        let (mut all, mut simulated) = (0u64, 0u64);
        while let Some(segment) = segments.next()? {
            all += 1;
            if (all as usize - 1) % part != (part - 1) / 2 {
                continue;
            }
            simulated += 1;
            let (operations, units) = (&segment.operations, segment.units.clone());
            let stream = &deal(machine, operations, units, 1, self.arrange())[0];
            self.place(&segment.image)?;
            let found = self.run(at, &segment.image, stream)?;
            segment.add(&mut self.total, &found);
        }
        ensure!(
            simulated > 0 || all == 0,
            "cluster {at} has {all} segments, of which a part of {part} has none: give a smaller one"
        );
        self.done.segments_in_all += all;
        let own = (self.cycles(at) - before) as f64;
        self.estimate[at] += own * all as f64 / simulated.max(1) as f64;
        Ok(())
    }

    /// Cycles of a cluster so far.
    fn cycles(&self, at: usize) -> u64 {
        self.clusters[at].as_ref().map_or(0, |(outcome, _)| outcome.sum("core.cycles"))
    }
}

/// Adds the counters of another run of a cluster. What PUs did over time is that of the first.
fn add(sum: &mut Outcome, other: Outcome) {
    sum.cycles += other.cycles;
    for (name, units) in other.counters {
        let all = sum.counters.get_mut(&name).into_iter().flatten().flatten();
        all.zip(units.into_iter().flatten()).for_each(|(sum, own)| *sum += own);
    }
}

/// The sums of a task: cliques, else motifs.
///
/// # Errors
/// Tasks that the machine does not support.
pub fn task(machine: &Accelerator, cliques: bool, k: u32) -> Result<SetTask> {
    let k = k as usize;
    let task = match cliques {
        true => Task::Clique { k },
        false => Task::Motif { k, induced: Induced::Vertex },
    };
    task.check()?;
    let query = Query::new(task.clone());
    let ask = Ask::new(&query);
    choose_on(machine, &Settings::default(), &ask).first(&machine.machine.name, &ask)?;
    SetTask::of(&task).context("the set core has no sums for this task")
}

/// Runs a task.
///
/// # Errors
/// Tasks that the set core does not support, and all errors of the run.
pub fn mine(asked: &SetRequest<'_>) -> Result<SetResult> {
    let machine = asked.accelerator;
    let context = gramer::Context::default();
    let k = asked.k as usize;
    let task = task(machine, asked.cliques, asked.k)?;
    let graph = read_graph(asked.graph, &ReadOptions::default(), &context)?;
    let graph = prepare::renumber(&graph, &context)?;
    let view = graph.view();
    let size = SetImage::size_of(view, task.lists());
    let done = SetResult {
        results: vec![],
        segments: 0,
        segments_in_all: 0,
        image_lines: 0,
        whole_lines: size.map(Size::lines),
        cycles: 0,
        stages: vec![],
        clusters: vec![],
    };
    let core = Model::load(asked.library)?;
    let clusters = vec![None; machine.kernels.compute_units as usize];
    let (before, estimate) = (vec![], vec![0.0; clusters.len()]);
    let mut bench =
        Bench { asked, core, total: Total::default(), clusters, before, estimate, done };
    let whole = stays(machine, size, longest(view), task)?;
    ensure!(
        !whole || asked.part == 1,
        "--part is for graphs in segments, and this one fits on chip"
    );
    match whole {
        true => bench.whole(view, task)?,
        false => bench.segments(view, task)?,
    }
    if task == SetTask::Motifs5 {
        bench.motifs5(view)?;
    }
    let whole = asked.clusters >= bench.clusters.len() && asked.part == 1;
    let counts = match whole {
        true => task.counts(&bench.total, &Degrees::of(view)),
        false => vec![],
    };
    let name = |p: &pattern::Pattern| match asked.cliques {
        true => format!("{k}-clique"),
        false => pattern::name(p),
    };
    let estimate = bench.estimate.iter().fold(0.0, |most: f64, &cycles| most.max(cycles)) as u64;
    let mut done = bench.done;
    done.clusters = bench.clusters.into_iter().flatten().collect();
    let own = done.clusters.iter().map(|(outcome, _)| outcome.sum("core.cycles"));
    done.cycles = match done.stages.is_empty() {
        true if asked.part > 1 && done.segments_in_all > 0 => estimate,
        true => own.max().unwrap_or(0),
        false => done.stages.iter().map(|(_, cycles)| cycles).sum(),
    };
    done.results = counts.iter().map(|c| (name(&c.pattern), c.count)).collect();
    Ok(done)
}

fn cluster(
    machine: &Accelerator,
    core: &mut Model,
    image: &dyn Words,
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

/// The answer as JSON; `cycles` are those of the cluster that took longest, summed over its segments; `passes`
/// are the clusters.
///
/// # Errors
/// None that this data can cause.
pub fn json(asked: &SetRequest<'_>, done: &SetResult) -> Result<String> {
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
            super::output::add_timeline(&mut pass, outcome);
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
        "whole_lines": done.whole_lines,
        "segments": done.segments,
        "segments_in_all": done.segments_in_all.max(done.segments),
        "cycles": done.cycles,
        "stages": done.stages.iter().copied().collect::<std::collections::BTreeMap<_, _>>(),
        "passes": passes,
        "seconds": seconds,
        "cycles_per_second": simulated as f64 / seconds,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// The answer as tables for reading.
pub fn tables(asked: &SetRequest<'_>, done: &SetResult) -> String {
    let machine = &asked.accelerator.machine;
    let mut text = String::new();
    for (name, count) in &done.results {
        let _ = writeln!(text, " {name}  {count}");
    }
    let cycles = done.cycles;
    let image = if asked.load { "loaded meanwhile" } else { "on chip before" };
    let _ = writeln!(text, "\nmachine {}, model {}", machine.name, asked.model);
    let _ = match (done.segments, done.whole_lines) {
        (0 | 1, _) => writeln!(text, "image of {} lines, {image}", done.image_lines),
        (n, whole) => {
            let whole = whole.map_or("more than ids can name".into(), |lines| lines.to_string());
            let lines = done.image_lines;
            let all = done.segments_in_all.max(n);
            writeln!(text, "{n} of {all} segments of {lines} lines, {image}; the graph has {whole}")
        }
    };
    for (name, cycles) in &done.stages {
        let _ = writeln!(text, "  {name}: cycles {cycles}");
    }
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
