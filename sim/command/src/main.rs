//! `gramer-sim`: a task on a graph, straight on the simulated core.
//!
//! Exit code 0: the task was done; 1: it failed; 2: an option is wrong.

mod check;
mod output;
mod paper;
mod plans;
mod set;
mod wedges;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use check::{Usage, check, check_outputs};
use clap::{Parser, ValueEnum};
use gramer::graph::memory::{Ending, end_if_refused};
use gramer::graph::output::clear;
use gramer::graph::pages::LargeArrays;
use gramer_machine::{Accelerator, Core, lambda_range};
use gramer_sim::model::{self, Build};
use gramer_sim::run::{OnChip, Simulation};

/// What is mined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mine {
    /// Cliques of k vertices.
    Clique,
    /// Vertex-induced patterns of k vertices.
    Motif,
    /// Labelled patterns of 2 to k vertices with at least --support vertex-induced embeddings.
    Fsm,
    /// The occurrences of --pattern, edge-induced (set core with search plans alone).
    Match,
}

/// Runs a task on the simulated core, without OpenCL, and prints counts, cycles and counters.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// What is mined.
    #[arg(required_unless_present_any = ["model", "identity"])]
    task: Option<Mine>,
    /// Vertices of an embedding; with fsm of the largest pattern, 2 or 3.
    #[arg(short, required_unless_present_any = ["model", "identity", "pattern"])]
    k: Option<u32>,
    /// A graph in any format that `gramer` reads.
    #[arg(required_unless_present_any = ["model", "identity"])]
    graph: Option<PathBuf>,
    /// Least embeddings of a pattern that is reported (fsm alone).
    #[arg(long, value_name = "S", required_if_eq("task", "fsm"))]
    support: Option<u64>,
    /// The name of the pattern, like house or 5-cycle (match alone).
    #[arg(long, value_name = "NAME", required_if_eq("task", "match"))]
    pattern: Option<String>,
    /// Run every N-th unit alone, of those in the order of their work (match alone).
    #[arg(long, default_value_t = 1, value_name = "N")]
    part: usize,
    /// Simulate the first N of the machine's clusters alone, each with its share of the units (set core alone). If they are
    /// fewer than it has, there are no counts.
    #[arg(long, value_name = "N")]
    clusters: Option<usize>,
    /// Make clusters of N PUs, and more of them, so that all have as many PUs as the machine: a cluster then
    /// has a smaller share of the units (match alone).
    #[arg(long, value_name = "N")]
    pus: Option<u32>,
    /// List the embeddings in this file, a line each: the pattern, then the graph's vertex ids;
    /// `-` is standard output, in place of the report.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Build the model of the machine, or find it, and print its hash.
    #[arg(long)]
    model: bool,
    /// Print a hash of all that decides how many cycles a task takes on the machine: its model,
    /// and the simulation around it. Builds nothing.
    #[arg(long)]
    identity: bool,
    /// The machine.
    #[arg(long, default_value = "accelerator.yaml", value_name = "YAML")]
    machine: PathBuf,
    /// Compare ids by ascending rank; the default is descending.
    #[arg(long)]
    ascending: bool,
    /// Turn work stealing off.
    #[arg(long)]
    no_stealing: bool,
    /// Replace the least recently used line instead of by equation (2).
    #[arg(long)]
    lru: bool,
    /// Slots in use, 1 to all.
    #[arg(long)]
    slots: Option<u32>,
    /// λ of equation (2).
    #[arg(long, default_value_t = 1.0, help = format!("λ of equation (2), {}", lambda_range()))]
    lambda: f64,
    /// τ, 0 to 1; the default is the paper's min(50 %, memory / (2 (V + E))).
    #[arg(long)]
    tau: Option<f64>,
    /// Share of the on-chip memory in use, above 0 to 1.
    #[arg(long, default_value_t = 1.0)]
    capacity: f64,
    /// What lies on the chip, instead of what follows from τ and the capacity: vertex and edge lines
    /// that are high-priority, cache sets in use of each vertex and edge memory.
    #[arg(long, value_name = "VL,EL,VS,ES", value_delimiter = ',')]
    on_chip: Option<Vec<u64>>,
    /// Run these work units instead of one per vertex: lines of start vertex (its rank), first
    /// position and end position in its list.
    #[arg(long, value_name = "FILE")]
    units: Option<PathBuf>,
    /// Unloaded read latency of DDR in cycles; the default is the machine's.
    #[arg(long)]
    latency: Option<u64>,
    /// Cycles between two beats of a bank, at least 1; the default is the machine's.
    #[arg(long)]
    cycles_a_beat: Option<u64>,
    /// Hold every handshake back in one clock of N, at random; 0: never.
    #[arg(long, default_value_t = 0, value_name = "N")]
    back_pressure: u32,
    /// Seed of the random back-pressure.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Give up after so many cycles (of each pass of fsm).
    #[arg(long, default_value_t = 10_000_000_000)]
    max_cycles: u64,
    /// Write a waveform (FST); slower, in a build of its own.
    #[arg(long, value_name = "FILE.fst")]
    trace: Option<PathBuf>,
    /// Replace the files of --list and --trace if they are there already.
    #[arg(long)]
    force: bool,
    /// Clocks since the reset that the waveform holds.
    #[arg(
        long,
        value_name = "FIRST-LAST",
        default_value = "0-19999",
        value_parser = window,
        requires = "trace"
    )]
    trace_cycles: String,
    /// Load the graph's image while units run, instead of before (set core alone).
    #[arg(long)]
    load: bool,
    /// Keep the design's assertions in (slower).
    #[arg(long)]
    assertions: bool,
    /// Print each access to an on-chip memory on standard error, a line each, in a build of its own:
    /// `access`, array, line, rank, 1 if it is high-priority, 1 if it is in the cache
    /// (scripts/replay.py).
    #[arg(long)]
    accesses: bool,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// JSON says of each pass what each PU did over time: cycles by window and state.
    #[arg(long, requires = "json")]
    timeline: bool,
}

/// A window of clocks, as the shim of traced models takes it.
fn window(text: &str) -> Result<String, String> {
    let parts = text
        .split_once('-')
        .and_then(|(from, to)| Some((from.parse::<u64>().ok()?, to.parse::<u64>().ok()?)));
    match parts {
        Some((from, to)) if from <= to => Ok(format!("{from}-{to}")),
        _ => Err("must be FIRST-LAST, two numbers in order, like 1000-2999".into()),
    }
}

#[global_allocator]
static MEMORY: LargeArrays = LargeArrays;

/// How the program ends where memory is refused.
static ENDING: Ending =
    Ending { program: "gramer-sim", remedy: "raise the memory limit (ulimit -v, ulimit -d)" };

fn main() -> ExitCode {
    end_if_refused(&ENDING);
    let options = Options::parse(); // ends with 2 itself
    if let Some(trace) = &options.trace {
        // SAFETY: no other thread has been started yet.
        unsafe {
            std::env::set_var("GRAMER_TRACE", trace);
            std::env::set_var("GRAMER_TRACE_CYCLES", &options.trace_cycles);
        }
    }
    match mine(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let setting = |name: &str| format!("--{}", name.replace('_', "-"));
            let message = gramer::error::told(&said(&error), setting, |name| name.into());
            eprintln!("error: {message}");
            let wrong_use = error.is::<Usage>()
                || matches!(error.downcast_ref(), Some(gramer::Error::Usage(_)));
            ExitCode::from(if wrong_use { 2 } else { 1 })
        }
    }
}

/// A machine with as many PUs, so many of them in each cluster.
fn with_pus(mut accelerator: Accelerator, pus: Option<u32>) -> Accelerator {
    if let Some(pus) = pus {
        let all = accelerator.kernels.compute_units * accelerator.machine.processing_units;
        accelerator.kernels.compute_units = all / pus;
        accelerator.machine.processing_units = pus;
    }
    accelerator
}

/// A hash of the model and of the sources that simulate what is around it.
fn identity(accelerator: &Accelerator) -> Result<String> {
    let model = model::hash(accelerator, Build { fast: true, ..Build::default() })?;
    Ok(format!("{model}-{:016x}", gramer_sim::surroundings()))
}

/// The simulation that the options ask for.
fn simulated(options: &Options, accelerator: &Accelerator) -> Simulation {
    let mut simulation = Simulation::of(accelerator);
    simulation.timing.latency = options.latency.unwrap_or(simulation.timing.latency);
    simulation.timing.cycles_a_beat =
        options.cycles_a_beat.unwrap_or(simulation.timing.cycles_a_beat);
    simulation.timing.back_pressure = options.back_pressure;
    simulation.back_pressure = options.back_pressure;
    simulation.seed = options.seed;
    simulation.max_cycles = options.max_cycles;
    simulation.timeline = options.timeline;
    // After a reset a set core clears its maps, a word per cycle, which is over on a card before a run begins.
    simulation.rest = accelerator.set.as_ref().map_or(0, |set| 2 * u64::from(set.map_words));
    simulation.progress = if std::io::stderr().is_terminal() { 100_000 } else { 0 };
    simulation
}

/// What the option `--on-chip` says.
fn on_chip(options: &Options) -> Result<Option<OnChip>> {
    match options.on_chip.as_deref() {
        None => Ok(None),
        Some(&[vertex_bound, edge_bound, vertex_sets, edge_sets]) => {
            Ok(Some(OnChip { vertex_bound, edge_bound, vertex_sets, edge_sets }))
        }
        Some(other) => Err(Usage(format!("--on-chip has {} numbers, not 4", other.len())).into()),
    }
}

fn mine(options: Options) -> Result<()> {
    let accelerator = Accelerator::read(&options.machine)?;
    if options.identity {
        return output::print(&(identity(&accelerator)? + "\n"));
    }
    check(&options, &accelerator)?;
    check_outputs(&options)?;
    let accelerator = with_pus(accelerator, options.pus);
    let build = Build {
        fast: !options.assertions,
        trace: options.trace.is_some(),
        accesses: options.accesses,
        ..Build::default()
    };
    let library = model::build(&accelerator, build)?;
    let hash = model::hash(&accelerator, build)?;
    if options.model {
        println!("{hash}");
        return Ok(());
    }
    if let Some(trace) = &options.trace {
        clear(trace)?;
    }
    if let (Some(Mine::Match), Some(name), Some(graph)) =
        (options.task, &options.pattern, &options.graph)
    {
        return output::print(&matched(&options, &accelerator, (&library, &hash), name, graph)?);
    }
    let (Some(task), Some(k), Some(path)) = (options.task, options.k, &options.graph) else {
        return Ok(()); // the command line has them
    };

    let on_chip = on_chip(&options)?;
    let asked = (task, k, path.as_path());
    let text = match accelerator.core {
        Core::Set => Some(on_set_core(&options, &accelerator, &library, &hash, asked)?),
        Core::Paper => paper::on_core(&options, accelerator, on_chip, &library, &hash, asked)?,
    };
    match text {
        Some(text) => output::print(&text),
        None => Ok(()),
    }
}

/// Task, its size and the graph's file.
type Asked<'a> = (Mine, u32, &'a Path);

/// What the set core gives, as text.
fn on_set_core(
    options: &Options,
    accelerator: &Accelerator,
    library: &Path,
    model: &str,
    (task, k, graph): Asked<'_>,
) -> Result<String> {
    let simulation = &simulated(options, accelerator);
    let (cliques, load) = (task == Mine::Clique, options.load);
    let clusters = options.clusters.unwrap_or(usize::MAX);
    let asked =
        set::Asked { accelerator, library, model, cliques, k, graph, load, clusters, simulation };
    let done = set::mine(&asked)?;
    if options.json { set::json(&asked, &done) } else { Ok(set::tables(&asked, &done)) }
}

/// What the set core gives for a pattern, as text.
fn matched(
    options: &Options,
    accelerator: &Accelerator,
    (library, model): (&Path, &str),
    name: &str,
    graph: &Path,
) -> Result<String> {
    let pattern = gramer::pattern::named(name)
        .ok_or_else(|| Usage(format!("--pattern is {name}, which no pattern has for a name")))?;
    let asked = plans::Asked {
        accelerator,
        library,
        model,
        pattern: (&pattern, name),
        graph,
        part: options.part,
        clusters: options.clusters.unwrap_or(usize::MAX),
        simulation: &simulated(options, accelerator),
    };
    let done = plans::mine(&asked)?;
    if options.json { plans::json(&asked, &done) } else { Ok(plans::tables(&asked, &done)) }
}

/// An error and what it is from, each once: some say themselves what they are from.
fn said(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |text, cause| match cause.to_string() {
        cause if text.is_empty() => cause,
        cause if text.ends_with(&cause) => text,
        cause => format!("{text}: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_error_says_each_cause_once() {
        let cause = || std::io::Error::other("no disk");
        let read = anyhow::Error::from(cause()).context("a.txt: cannot read: no disk");
        assert_eq!(super::said(&read), "a.txt: cannot read: no disk");
        let bare = anyhow::Error::from(cause()).context("a.txt");
        assert_eq!(super::said(&bare), "a.txt: no disk");
    }
}
