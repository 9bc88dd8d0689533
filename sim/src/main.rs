//! `gramer-sim`: a task on a graph, straight on the simulated core.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Parser, ValueEnum};
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::pattern::{self, Dictionary};
use gramer_machine::Accelerator;
use gramer_sim::image::{Csr, Unit};
use gramer_sim::model::{self, Build, Model};
use gramer_sim::run::{Application, OnChip, Outcome, Settings, Simulation, run, whole_units};

/// What is mined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mine {
    /// Cliques of k vertices.
    Clique,
    /// Vertex-induced patterns of k vertices.
    Motif,
}

/// Runs a task on the simulated core, without OpenCL, and prints counts, cycles and counters.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// What is mined.
    #[arg(required_unless_present_any = ["model", "identity"])]
    task: Option<Mine>,
    /// Vertices of an embedding.
    #[arg(short, required_unless_present_any = ["model", "identity"])]
    k: Option<u32>,
    /// A graph in any format that `gramer` reads.
    #[arg(required_unless_present_any = ["model", "identity"])]
    graph: Option<PathBuf>,
    /// Build the model of the machine, or find it, and print its hash.
    #[arg(long)]
    model: bool,
    /// Print a hash of all that decides how many cycles a task takes on the machine: its model,
    /// and the simulation around it. Builds nothing.
    #[arg(long)]
    identity: bool,
    /// The machine.
    #[arg(long, default_value = "accelerator.yaml")]
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
    /// λ of equation (2), 0 to 8 in steps of 1/8.
    #[arg(long, default_value_t = 1.0)]
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
    /// Cycles between two beats of a bank; the default is the machine's.
    #[arg(long)]
    cycles_a_beat: Option<u64>,
    /// Hold every handshake back in one clock of N, at random; 0: never.
    #[arg(long, default_value_t = 0, value_name = "N")]
    back_pressure: u32,
    /// Seed of the random back-pressure.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Give up after so many cycles.
    #[arg(long, default_value_t = 10_000_000_000)]
    max_cycles: u64,
    /// Keep the design's assertions in (slower).
    #[arg(long)]
    assertions: bool,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let accelerator = Accelerator::read(&options.machine)?;
    if options.identity {
        println!("{}", identity(&accelerator)?);
        return Ok(());
    }
    let library =
        model::build(&accelerator, Build { fast: !options.assertions, ..Build::default() })?;
    let hash = library
        .parent()
        .and_then(|p| p.file_name())
        .context("the model has no folder")?
        .to_string_lossy()
        .into_owned();
    if options.model {
        println!("{hash}");
        return Ok(());
    }
    let (Some(task), Some(k), Some(graph)) = (options.task, options.k, options.graph) else {
        return Ok(()); // the command line has them
    };
    let largest = match task {
        Mine::Clique => accelerator.machine.depth,
        Mine::Motif => accelerator.applications.max_motif,
    };
    ensure!(
        (3..=largest).contains(&k),
        "-k is {}, but must be 3 to {largest} on machine {}",
        k,
        accelerator.machine.name
    );
    let slots = options.slots.unwrap_or(accelerator.machine.slots);
    ensure!(
        (1..=accelerator.machine.slots).contains(&slots),
        "--slots is {slots}, but must be 1 to {}",
        accelerator.machine.slots
    );
    ensure!((0.0..=8.0).contains(&options.lambda), "--lambda must be 0 to 8");
    ensure!(options.tau.is_none_or(|t| (0.0..=1.0).contains(&t)), "--tau must be 0 to 1");
    ensure!(options.capacity > 0.0 && options.capacity <= 1.0, "--capacity must be above 0 to 1");

    let on_chip = match options.on_chip.as_deref() {
        None => None,
        Some(&[vertex_bound, edge_bound, vertex_sets, edge_sets]) => {
            Some(OnChip { vertex_bound, edge_bound, vertex_sets, edge_sets })
        }
        Some(other) => bail!("--on-chip has {} numbers, but must have 4", other.len()),
    };

    let context = gramer::Context::default();
    let graph = read_graph(&graph, &ReadOptions::default(), &context)?;
    let graph = gramer::prepare::renumber(&graph, &context)?;
    let view = graph.view();
    let csr =
        Csr { offsets: view.offsets.to_vec(), edges: view.neighbours.to_vec(), labels: vec![] };

    let (application, dictionary, names) = match task {
        Mine::Clique => (Application::Clique, vec![], vec![format!("{}-clique", k)]),
        Mine::Motif => {
            let all = Dictionary::of(k as usize);
            let bits = k * (k - 1) / 2;
            let entries = (0..1u32 << bits)
                .map(|key| all.number(key).map_or(0, |n| 0x8000 | n as u16))
                .collect();
            (Application::Motif, entries, all.patterns().iter().map(pattern::name).collect())
        }
    };
    let settings = Settings {
        application,
        k,
        ascending: options.ascending,
        stealing: !options.no_stealing,
        lru: options.lru,
        slots,
        lambda_eighths: (options.lambda * 8.0).round() as u32,
        tau: options.tau,
        capacity: options.capacity,
        on_chip,
        dictionary,
        patterns: names.len() as u32,
        list: None,
    };
    let mut simulation = Simulation::of(&accelerator);
    simulation.timing.latency = options.latency.unwrap_or(simulation.timing.latency);
    simulation.timing.cycles_a_beat =
        options.cycles_a_beat.unwrap_or(simulation.timing.cycles_a_beat);
    simulation.timing.back_pressure = options.back_pressure;
    simulation.back_pressure = options.back_pressure;
    simulation.seed = options.seed;
    simulation.max_cycles = options.max_cycles;
    simulation.progress = 1_000_000;

    let mut core = Model::load(&library)?;
    let clock = std::time::Instant::now();
    let units = match &options.units {
        None => whole_units(&csr),
        Some(file) => read_units(file, &csr)?,
    };
    let mut outcome = run(&accelerator, &mut core, &csr, &units, &settings, &simulation)?;
    let seconds = clock.elapsed().as_secs_f64();
    if options.units.is_none() {
        outcome.taken.clear(); // of no use where all units are run
    }
    if options.json {
        print_json(&accelerator, &names, &outcome, seconds, &hash)?;
    } else {
        print_tables(&accelerator, &names, &outcome, seconds, &hash);
    }
    ensure!(outcome.status == 0, "AXI error at address {:#x}", outcome.error_address);
    Ok(())
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
    let around = [include_str!("ddr.rs"), include_str!("image.rs"), include_str!("run.rs")];
    Ok(format!("{model}-{:016x}", xxhash_rust::xxh3::xxh3_64(around.concat().as_bytes())))
}

fn print_json(
    accelerator: &Accelerator,
    names: &[String],
    outcome: &Outcome,
    seconds: f64,
    hash: &str,
) -> Result<()> {
    let results: Vec<_> = names
        .iter()
        .zip(&outcome.counts)
        .map(|(name, count)| serde_json::json!({ "name": name, "count": count }))
        .collect();
    let value = serde_json::json!({
        "machine": accelerator.machine.name,
        "model": hash,
        "results": results,
        "cycles": outcome.cycles,
        "status": outcome.status,
        "saturated": outcome.saturated,
        "counters": outcome.counters,
        "taken": outcome.taken,
        "seconds": seconds,
        "cycles_per_second": outcome.cycles as f64 / seconds,
    });
    println!("{}", serde_json::to_string_pretty(&value)?);
    Ok(())
}

fn print_tables(
    accelerator: &Accelerator,
    names: &[String],
    outcome: &Outcome,
    seconds: f64,
    hash: &str,
) {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    for (name, count) in names.iter().zip(&outcome.counts) {
        table.add_row([name.clone(), count.to_string()]);
    }
    println!("{table}\n");

    let cycles = outcome.cycles;
    let sum = |name: &str| outcome.sum(name);
    let share = |part: u64, whole: u64| 100.0 * part as f64 / (whole.max(1)) as f64;
    let pus = u64::from(accelerator.machine.processing_units);
    let candidates: u64 = outcome.sums("pu.candidates").iter().sum();
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let mut row = |name: &str, value: String| {
        table.add_row([name.to_string(), value]);
    };
    row("machine", format!("{}, model {hash}", accelerator.machine.name));
    row("cycles", cycles.to_string());
    row(
        "time at the machine's clock",
        format!("{:.6} s", cycles as f64 / (f64::from(accelerator.machine.clock_mhz) * 1e6)),
    );
    row("simulated", format!("{seconds:.2} s, {:.0} cycles a second", cycles as f64 / seconds));
    row(
        "candidates",
        format!("{candidates}, {:.3} a cycle", candidates as f64 / cycles.max(1) as f64),
    );
    for name in ["pu.candidates", "pu.embeddings"] {
        let values = outcome.sums(name);
        let used = values.iter().rposition(|&v| v > 0).map_or(0, |at| at + 1);
        row(&format!("{name} by depth"), format!("{:?}", &values[..used]));
    }
    for name in ["core.work_units", "pu.extensions", "pu.entries_scanned", "pu.steals"] {
        row(name, sum(name).to_string());
    }
    for kind in ["vertex", "edge"] {
        let all = sum(&format!("pu.{kind}_accesses"));
        let part = |p: &str| share(sum(&format!("partition.{kind}_{p}")), all);
        row(
            &format!("{kind} accesses"),
            format!(
                "{all}: {:.2} % high hits, {:.2} % low hits, {:.2} % misses; {} conflicts",
                part("high_hits"),
                part("low_hits"),
                part("misses"),
                sum(&format!("partition.{kind}_conflicts"))
            ),
        );
    }
    for name in ["port_busy", "idle_memory", "idle_inside", "idle_no_work"] {
        let units = &outcome.counters[&format!("pu.{name}")];
        let each: Vec<String> =
            units.iter().map(|v| format!("{:.1}", share(v[0], cycles))).collect();
        let all = share(units.iter().map(|v| v[0]).sum(), cycles * pus);
        row(&format!("pu.{name} %"), format!("{all:.1} ({})", each.join(" ")));
    }
    row("DDR beats a bank", format!("{:?}", outcome.counters["bank.beats"].concat()));
    println!("{table}");
}
