//! `gramer-lab simulate`: a task on a graph, straight on the simulated core.

mod check;
mod image;
mod output;
mod paper;
mod plans;
mod set;
mod wedges;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use check::{Usage, check, check_outputs};
use clap::ValueEnum;
use gramer::Error;
use gramer::base::output::clear;
use gramer_machine::{Accelerator, Core, Dram, lambda_range};
use gramer_sim::dram::Device;
use gramer_sim::model::{self, Build};
use gramer_sim::run::{OnChip, Simulation};

/// Mining task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MiningTask {
    /// Cliques of k vertices.
    Clique,
    /// Vertex-induced patterns of k vertices.
    Motif,
    /// Labelled patterns of 2 to k vertices with at least --support vertex-induced embeddings.
    Fsm,
    /// Occurrences of --pattern, edge-induced (only set cores with search plans).
    Match,
}

/// Options of the subcommand.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Mining task.
    #[arg(required_unless_present_any = ["model", "identity"])]
    task: Option<MiningTask>,
    /// Number of vertices of an embedding; for fsm, of the largest pattern (2 or 3).
    #[arg(short, required_unless_present_any = ["model", "identity", "pattern"])]
    k: Option<u32>,
    /// A graph in any format that `gramer` reads.
    #[arg(required_unless_present_any = ["model", "identity"])]
    graph: Option<PathBuf>,
    /// Minimum number of embeddings of a reported pattern (fsm only).
    #[arg(long, value_name = "S", required_if_eq("task", "fsm"))]
    support: Option<u64>,
    /// Name of the pattern, such as house or 5-cycle (match only).
    #[arg(long, value_name = "NAME", required_if_eq("task", "match"))]
    pattern: Option<String>,
    /// Run only every N-th unit, ordered by work (match), or every N-th segment of a graph that is larger than a cluster:
    /// cycles are then estimates, and there are no counts.
    #[arg(long, default_value_t = 1, value_name = "N")]
    part: usize,
    /// Simulate only the first N of the machine's clusters, each with its share of the units (set core only). Without all
    /// clusters there are no counts.
    #[arg(long, value_name = "N")]
    clusters: Option<usize>,
    /// Regroup the machine's PUs into clusters of N, each with a smaller share of the units (match only).
    #[arg(long, value_name = "N")]
    pus: Option<u32>,
    /// List the embeddings in this file, one a line: the pattern, then vertex ids of the graph;
    /// `-` is standard output, instead of the report.
    #[arg(long, value_name = "FILE")]
    list: Option<PathBuf>,
    /// Write the graph's image in this file, and simulate nothing (set core, cliques and motifs; the format is in
    /// docs/reference/set-core.md).
    #[arg(long, value_name = "FILE")]
    image_out: Option<PathBuf>,
    /// Write the in-stream of each cluster in this file with .0, .1, … appended, and simulate nothing.
    #[arg(long, value_name = "FILE")]
    in_stream_out: Option<PathBuf>,
    /// Build the machine's model if necessary and print its hash.
    #[arg(long)]
    model: bool,
    /// Print a hash of everything that determines the machine's cycles: its model and the simulation
    /// around it. Builds nothing.
    #[arg(long)]
    identity: bool,
    /// The machine.
    #[arg(long, default_value = "accelerator.yaml", value_name = "YAML")]
    machine: PathBuf,
    /// Compare ids by ascending rank (default: descending).
    #[arg(long)]
    ascending: bool,
    /// Turn work stealing off.
    #[arg(long)]
    no_stealing: bool,
    /// Evict the least recently used line instead of using equation (2).
    #[arg(long)]
    lru: bool,
    /// Slots in use, 1 to all.
    #[arg(long)]
    slots: Option<u32>,
    /// λ of equation (2).
    #[arg(long, default_value_t = 1.0, help = format!("λ of equation (2), {}", lambda_range()))]
    lambda: f64,
    /// τ, 0 to 1 (default: the paper's min(50 %, memory / (2 (V + E)))).
    #[arg(long)]
    tau: Option<f64>,
    /// Share of the on-chip memory in use, above 0 to 1.
    #[arg(long, default_value_t = 1.0)]
    capacity: f64,
    /// On-chip contents, instead of those derived from τ and the capacity: high-priority vertex and
    /// edge lines, cache sets in use of each vertex and edge memory.
    #[arg(long, value_name = "VL,EL,VS,ES", value_delimiter = ',')]
    on_chip: Option<Vec<u64>>,
    /// Run these work units instead of one per vertex: lines of start vertex (its rank), first
    /// and end position in its list.
    #[arg(long, value_name = "FILE")]
    units: Option<PathBuf>,
    /// Read latency in cycles of a closed row, nothing else under way (default: the machine's).
    #[arg(long)]
    latency: Option<u64>,
    /// What is behind a memory bank: ddr4, hbm2, or ideal, constant latency (default: the machine's).
    #[arg(long, value_parser = dram)]
    dram: Option<Dram>,
    /// Cycles between two beats of a bank's port, at least 1 (default: the machine's).
    #[arg(long)]
    cycles_a_beat: Option<u64>,
    /// Random back-pressure: hold every handshake in one of N clocks; 0: never.
    #[arg(long, default_value_t = 0, value_name = "N")]
    back_pressure: u32,
    /// Seed of the random back-pressure.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Stop after this number of cycles (of each pass of fsm).
    #[arg(long, default_value_t = 10_000_000_000)]
    max_cycles: u64,
    /// Write a waveform (FST); uses a separate, slower model.
    #[arg(long, value_name = "FILE.fst")]
    trace: Option<PathBuf>,
    /// Replace existing files of --list, --trace, --image-out and --in-stream-out.
    #[arg(long)]
    force: bool,
    /// Clocks of the waveform, counted from the reset.
    #[arg(
        long,
        value_name = "FIRST-LAST",
        default_value = "0-19999",
        value_parser = window,
        requires = "trace"
    )]
    trace_cycles: String,
    /// Load the graph's image while units run instead of before (set core only).
    #[arg(long)]
    load: bool,
    /// Check the design's assertions (slower).
    #[arg(long)]
    assertions: bool,
    /// Print each access to an on-chip memory on standard error, one a line, with a separate model:
    /// `access`, array, line, rank, 1 if it is high-priority, 1 if it is in the cache
    /// (scripts/replay.py).
    #[arg(long)]
    accesses: bool,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Add a timeline of each PU to the JSON, cycles by window and state, with hits and misses of the on-chip memories.
    #[arg(long, requires = "json")]
    timeline: bool,
}

/// What is behind a memory bank.
fn dram(text: &str) -> Result<Dram, String> {
    Dram::named(text).ok_or_else(|| "must be ddr4, hbm2 or ideal".into())
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

impl Options {
    /// Whether it writes what the core is sent, instead of a simulation.
    fn writes_image(&self) -> bool {
        self.image_out.is_some() || self.in_stream_out.is_some()
    }

    /// Runs the task, or prints the requested hash.
    ///
    /// # Errors
    /// [`Error::Usage`] for options that contradict each other or the machine, and those of the simulation.
    pub fn run(self) -> gramer::Result<()> {
        if let Some(trace) = &self.trace {
            // SAFETY: no other thread has been started yet.
            unsafe {
                std::env::set_var("GRAMER_TRACE", trace);
                std::env::set_var("GRAMER_TRACE_CYCLES", &self.trace_cycles);
            }
        }
        mine(self).map_err(|error| {
            let wrong_use =
                error.is::<Usage>() || matches!(error.downcast_ref(), Some(Error::Usage(_)));
            let message = said(&error);
            if wrong_use { Error::Usage(message) } else { Error::Device(message) }
        })
    }
}

/// The machine with its PUs regrouped into clusters of this size.
fn with_pus(mut accelerator: Accelerator, pus: Option<u32>) -> Accelerator {
    if let Some(pus) = pus {
        let all = accelerator.kernels.compute_units * accelerator.machine.processing_units;
        accelerator.kernels.compute_units = all / pus;
        accelerator.machine.processing_units = pus;
    }
    accelerator
}

/// Hash of the model and of the sources that simulate its surroundings.
fn identity(accelerator: &Accelerator) -> Result<String> {
    let model = model::hash(accelerator, Build { fast: true, ..Build::default() })?;
    Ok(format!("{model}-{:016x}", gramer_sim::surroundings()))
}

/// The simulation that the options describe.
fn simulated(options: &Options, accelerator: &Accelerator) -> Simulation {
    let mut simulation = Simulation::of(accelerator);
    simulation.timing.latency = options.latency.unwrap_or(simulation.timing.latency);
    simulation.timing.dram = options.dram.map_or(simulation.timing.dram, Device::of);
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

/// Parses the option `--on-chip`.
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
    check_outputs(&options, &accelerator)?;
    let accelerator = with_pus(accelerator, options.pus);
    if let (Some(task), Some(k), Some(path), true) =
        (options.task, options.k, &options.graph, options.writes_image())
    {
        return image::export(&options, &accelerator, (task, k, path));
    }
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
    if let (Some(MiningTask::Match), Some(name), Some(graph)) =
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

/// Task, size and graph file.
type GraphTask<'a> = (MiningTask, u32, &'a Path);

/// Results of the set core as text.
fn on_set_core(
    options: &Options,
    accelerator: &Accelerator,
    library: &Path,
    model: &str,
    (task, k, graph): GraphTask<'_>,
) -> Result<String> {
    let simulation = &simulated(options, accelerator);
    let (cliques, load) = (task == MiningTask::Clique, options.load);
    let clusters = options.clusters.unwrap_or(usize::MAX);
    let asked = set::SetRequest {
        accelerator,
        library,
        model,
        cliques,
        k,
        graph,
        load,
        clusters,
        part: options.part,
        simulation,
    };
    let done = set::mine(&asked)?;
    if options.json { set::json(&asked, &done) } else { Ok(set::tables(&asked, &done)) }
}

/// Results of the set core for a pattern as text.
fn matched(
    options: &Options,
    accelerator: &Accelerator,
    (library, model): (&Path, &str),
    name: &str,
    graph: &Path,
) -> Result<String> {
    let pattern = gramer::pattern::named(name)
        .ok_or_else(|| Usage(format!("--pattern is {name}, which no pattern has for a name")))?;
    let asked = plans::PatternRequest {
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

/// An error with its causes, each once: some messages repeat their cause.
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
