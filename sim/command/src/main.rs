//! `gramer-sim`: a task on a graph, straight on the simulated core.
//!
//! Exit code 0: the task was done; 1: it failed; 2: an option is wrong.

mod check;
mod output;
mod set;

use std::collections::HashSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use check::{Usage, check};
use clap::{Parser, ValueEnum};
use gramer::accelerator::tasks::Table;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::pattern::labelled_name;
use gramer::pattern::{self, Dictionary, Pattern};
use gramer::task::parts_reported;
use gramer_machine::{Accelerator, Core, lambda_range, lambda_steps};
use gramer_sim::image::{Csr, Unit};
use gramer_sim::model::{self, Build, Model};
use gramer_sim::run::{
    Application, DONE, ERROR, OnChip, Outcome, REFUSED, Settings, Simulation, run, status_name,
    whole_units,
};
use output::{Listing, Part, TaskReport};

/// What is mined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mine {
    /// Cliques of k vertices.
    Clique,
    /// Vertex-induced patterns of k vertices.
    Motif,
    /// Labelled patterns of 2 to k vertices with at least --support vertex-induced embeddings.
    Fsm,
}

/// Runs a task on the simulated core, without OpenCL, and prints counts, cycles and counters.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// What is mined.
    #[arg(required_unless_present_any = ["model", "identity"])]
    task: Option<Mine>,
    /// Vertices of an embedding; with fsm of the largest pattern, 2 or 3.
    #[arg(short, required_unless_present_any = ["model", "identity"])]
    k: Option<u32>,
    /// A graph in any format that `gramer` reads.
    #[arg(required_unless_present_any = ["model", "identity"])]
    graph: Option<PathBuf>,
    /// Least embeddings of a pattern that is reported (fsm alone).
    #[arg(long, value_name = "S", required_if_eq("task", "fsm"))]
    support: Option<u64>,
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
    /// Run these work units instead of one a vertex: lines of start vertex (its rank), first
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

fn main() -> ExitCode {
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
            eprintln!("error: {error:#}");
            let wrong_use = error.is::<Usage>()
                || matches!(error.downcast_ref(), Some(gramer::Error::Usage(_)));
            ExitCode::from(if wrong_use { 2 } else { 1 })
        }
    }
}

/// A graph on the simulated machine, and everything that one pass after the other has in common.
struct Bench {
    accelerator: Accelerator,
    core: Model,
    graph: Csr,
    units: Vec<Unit>,
    settings: Settings,
    simulation: Simulation,
    listing: Option<Listing>,
    /// Original ids by rank.
    ids: Vec<u64>,
    parts: Vec<Part>,
}

impl Bench {
    /// One pass of the core; embeddings are listed if there is a list and `names` says how the
    /// patterns are called.
    fn pass(&mut self, settings: Settings, names: &[String], lists: bool) -> Result<Outcome> {
        let patterns = self.accelerator.applications.pattern_counters;
        ensure!(
            settings.patterns <= patterns,
            "the task needs {} pattern counters, and machine {} has {patterns}",
            settings.patterns,
            self.accelerator.machine.name
        );
        let lists = lists && self.listing.is_some();
        let settings = Settings { list: lists.then_some(u32::MAX), ..settings };
        let clock = std::time::Instant::now();
        let outcome = run(
            &self.accelerator,
            &mut self.core,
            &self.graph,
            &self.units,
            &settings,
            &self.simulation,
        )?;
        if outcome.status == ERROR {
            bail!("the memory answered a read at {:#x} with an error", outcome.error_address);
        }
        if outcome.status == REFUSED {
            bail!("{}", self.accelerator.refusal(outcome.error_address));
        }
        ensure!(outcome.status == DONE, "the core ended early: {}", status_name(outcome.status));
        if let (true, Some(listing)) = (lists, &mut self.listing) {
            listing.add(&outcome.records, names, &self.ids);
        }
        self.parts.push(Part {
            k: settings.k,
            outcome: outcome.clone(),
            seconds: clock.elapsed().as_secs_f64(),
        });
        Ok(outcome)
    }

    /// One pass a size, each through the patterns that the passes before it reported, as the host
    /// does it; listing is a further pass a size.
    fn frequent(
        &mut self,
        largest: u32,
        support: u64,
        labels: &[u32],
    ) -> Result<Vec<(String, u64)>> {
        let bits = self.accelerator.applications.label_bits;
        let named = (!self.graph.labels.is_empty()).then_some(labels);
        let mut reported: HashSet<Pattern> = HashSet::new();
        let mut results = vec![];
        let mut sizes = 0;
        for size in 2..=largest {
            let wanted = |p: &Pattern| parts_reported(p, &reported);
            let table = Table::new(bits, labels.len(), named, size as usize, &reported, &wanted);
            let outcome = self.pass(self.labelled(&table, size), &[], false)?;
            let mut found: Vec<(Pattern, u64)> = table
                .patterns
                .into_iter()
                .zip(outcome.counts)
                .filter(|&(_, count)| count >= support)
                .collect();
            if found.is_empty() {
                break;
            }
            sizes = size;
            found.sort_by_cached_key(|(p, count)| {
                (p.edge_count(), std::cmp::Reverse(*count), p.clone())
            });
            results.extend(found.iter().map(|(p, count)| (labelled_name(p), *count)));
            reported.extend(found.into_iter().map(|(p, _)| p));
        }
        if self.listing.is_some() {
            for size in 2..=sizes {
                let wanted = |p: &Pattern| reported.contains(p);
                let table =
                    Table::new(bits, labels.len(), named, size as usize, &reported, &wanted);
                let names: Vec<String> = table.patterns.iter().map(labelled_name).collect();
                self.pass(self.labelled(&table, size), &names, true)?;
            }
        }
        Ok(results)
    }

    fn labelled(&self, table: &Table, size: u32) -> Settings {
        Settings {
            application: Application::Fsm,
            k: size,
            dictionary: table.dictionary.clone(),
            patterns: (table.patterns.len() as u32).max(1),
            ..self.settings.clone()
        }
    }
}

/// Reads the work units of a file.
fn read_units(file: &Path, graph: &Csr) -> Result<Vec<Unit>> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let unit = |(at, line): (usize, &str)| {
        let numbers: Option<Vec<u32>> = line.split_whitespace().map(|w| w.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[start, first, limit]) if (start as usize) < graph.vertices() => {
                Ok(Unit { start, first, limit })
            }
            _ => bail!(
                "{}:{}: {line:?} is not a vertex below {}, a first and an end position",
                file.display(),
                at + 1,
                graph.vertices()
            ),
        }
    };
    text.lines().enumerate().map(unit).collect()
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

/// A graph as the core gets it.
struct Input {
    graph: Csr,
    /// The graph's own labels, by the core's.
    labels: Vec<u32>,
    /// The graph's own ids, by vertex.
    ids: Vec<u64>,
}

/// Reads a graph and numbers its vertices by rank; frequent subgraphs get its labels.
fn read_input(path: &Path, task: Mine, accelerator: &Accelerator) -> Result<Input> {
    let context = gramer::Context::default();
    let loaded = read_graph(path, &ReadOptions::default(), &context)?;
    let loaded = gramer::prepare::renumber(&loaded, &context)?;
    let view = loaded.view();
    let mut graph =
        Csr { offsets: view.offsets.to_vec(), edges: view.neighbours.to_vec(), labels: vec![] };
    // The core's labels are their places among those of the graph.
    let mut labels = vec![0];
    if let (Mine::Fsm, Some(all)) = (task, view.vertex_labels) {
        labels = all.to_vec();
        labels.sort_unstable();
        labels.dedup();
        graph.labels =
            all.iter().map(|l| labels.partition_point(|other| other < l) as u32).collect();
    }
    let most = 1usize << accelerator.applications.label_bits;
    ensure!(
        labels.len() <= most,
        "the graph has {} vertex labels, and machine {} has room for {most}; the CPU engine does \
         it: gramer mine fsm",
        labels.len(),
        accelerator.machine.name
    );
    ensure!(
        task != Mine::Fsm || !loaded.has_edge_labels(),
        "machine {} doesn't read edge labels; the CPU engine does it: gramer mine fsm",
        accelerator.machine.name
    );
    Ok(Input { graph, labels, ids: loaded.original_ids().to_vec() })
}

/// Runs the passes of a task: counts by the name of their pattern.
fn counts(
    bench: &mut Bench,
    task: Mine,
    k: u32,
    support: Option<u64>,
    labels: &[u32],
) -> Result<Vec<(String, u64)>> {
    Ok(match task {
        Mine::Clique => {
            let names = [format!("{k}-clique")];
            let outcome = bench.pass(bench.settings.clone(), &names, true)?;
            names.into_iter().zip(outcome.counts).collect()
        }
        Mine::Motif => {
            let all = Dictionary::of(k as usize);
            let entry = |key| all.number(key).map_or(0, |n| 0x8000 | n as u16);
            let names: Vec<String> = all.patterns().iter().map(pattern::name).collect();
            let settings = Settings {
                application: Application::Motif,
                dictionary: (0..1u32 << (k * (k - 1) / 2)).map(entry).collect(),
                patterns: names.len() as u32,
                ..bench.settings.clone()
            };
            let outcome = bench.pass(settings, &names, true)?;
            names.into_iter().zip(outcome.counts).collect()
        }
        Mine::Fsm => bench.frequent(k, support.unwrap_or(0), labels)?,
    })
}

fn mine(options: Options) -> Result<()> {
    let accelerator = Accelerator::read(&options.machine)?;
    if options.identity {
        return output::print(&(identity(&accelerator)? + "\n"));
    }
    check(&options, &accelerator)?;
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
    let (Some(task), Some(k), Some(path)) = (options.task, options.k, &options.graph) else {
        return Ok(()); // the command line has them
    };

    let on_chip = on_chip(&options)?;
    if accelerator.core == Core::Set {
        let simulation = &simulated(&options, &accelerator);
        let cliques = task == Mine::Clique;
        let (library, model, load) = (&library, &hash, options.load);
        let (accelerator, graph) = (&accelerator, path);
        let asked = set::Asked { accelerator, library, model, cliques, k, graph, load, simulation };
        let done = set::mine(&asked)?;
        let text =
            if options.json { set::json(&asked, &done)? } else { set::tables(&asked, &done) };
        return output::print(&text);
    }

    let Input { graph, labels, ids } = read_input(path, task, &accelerator)?;
    let simulation = simulated(&options, &accelerator);
    let settings = Settings {
        application: Application::Clique,
        k,
        ascending: options.ascending,
        stealing: !options.no_stealing,
        lru: options.lru,
        slots: options.slots.unwrap_or(accelerator.machine.slots),
        lambda_eighths: lambda_steps(options.lambda).unwrap_or_default(), // checked
        tau: options.tau,
        capacity: options.capacity,
        on_chip,
        dictionary: vec![],
        patterns: 1,
        list: None,
    };
    let units = match &options.units {
        None => whole_units(&graph),
        Some(file) => read_units(file, &graph)?,
    };
    let mut bench = Bench {
        core: Model::load(&library)?,
        accelerator,
        graph,
        units,
        settings,
        simulation,
        listing: options.list.as_ref().map(|_| Listing::default()),
        ids,
        parts: vec![],
    };
    let results = counts(&mut bench, task, k, options.support, &labels)?;
    if let (Some(file), Some(listing)) = (&options.list, &bench.listing) {
        listing.write(file)?;
        if file.as_os_str() == "-" {
            return Ok(());
        }
    }
    let report = TaskReport {
        accelerator: &bench.accelerator,
        model: &hash,
        task: task.to_possible_value().map_or(String::new(), |v| v.get_name().to_string()),
        k,
        results: &results,
        parts: &bench.parts,
        taken: options.units.is_some(), // of no use where all units are run
    };
    output::print(&if options.json { report.json()? } else { report.tables() })
}
