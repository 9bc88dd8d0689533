//! A task on the paper's core: its passes and their results. Image and in-stream are the same as for a card.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use clap::ValueEnum as _;
use gramer::accelerator::image::{DeviceImage, LINE};
use gramer::accelerator::stream;
use gramer::accelerator::table::Table;
use gramer::engine::{Units, WorkUnit};
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::graph::{Graph, Label};
use gramer::pattern::labelled_name_in;
use gramer::pattern::{self, Dictionary, Pattern};
use gramer::task::parts_reported;
use gramer_machine::{Accelerator, lambda_steps};
use gramer_sim::model::Model;
use gramer_sim::run::{
    Application, DONE, ERROR, Inputs, OnChip, Outcome, REFUSED, Settings, Simulation, on_chip,
    run_inputs, status_name,
};

use super::output::{Listing, Part, TaskReport};
use super::{GraphTask, MiningTask, Options, simulated};

/// Results of the paper's core as text; none if its list takes standard output.
pub fn on_core(
    options: &Options,
    accelerator: Accelerator,
    on_chip: Option<OnChip>,
    library: &Path,
    model: &str,
    (task, k, path): GraphTask<'_>,
) -> Result<Option<String>> {
    let Input { graph, labels, labelled } = read_input(path, task, &accelerator)?;
    let simulation = simulated(options, &accelerator);
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
        filter: vec![],
        select: false,
    };
    let units = match &options.units {
        None => Units::All.iter(graph.view()).collect(),
        Some(file) => read_units(file, graph.vertices())?,
    };
    let mut bench = Bench {
        core: Model::load(library)?,
        accelerator,
        graph,
        labels,
        labelled,
        units,
        settings,
        simulation,
        listing: options.list.as_ref().map(|_| Listing::default()),
        parts: vec![],
    };
    let results = counts(&mut bench, task, k, options.support)?;
    if let (Some(file), Some(listing)) = (&options.list, &bench.listing) {
        listing.write(file, options.force)?;
        if file.as_os_str() == "-" {
            return Ok(None);
        }
    }
    let report = TaskReport {
        accelerator: &bench.accelerator,
        model,
        task: task.to_possible_value().map_or(String::new(), |v| v.get_name().to_string()),
        k,
        results: &results,
        parts: &bench.parts,
        taken: options.units.is_some(), // of no use where all units are run
    };
    Ok(Some(if options.json { report.json()? } else { report.tables() }))
}

/// A graph on the simulated machine, and everything that one pass after the other has in common.
struct Bench {
    accelerator: Accelerator,
    core: Model,
    /// By rank.
    graph: Graph,
    /// The graph's labels, by the core's.
    labels: Vec<Label>,
    /// Whether the core gets them.
    labelled: bool,
    units: Vec<WorkUnit>,
    settings: Settings,
    simulation: Simulation,
    listing: Option<Listing>,
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
        let view = self.graph.view();
        let entries = view.neighbours.len();
        let on_chip = on_chip(&self.accelerator, view.vertices(), entries, &settings)?;
        let inputs = self.inputs(&settings, &on_chip);
        let (core, simulation) = (&mut self.core, &self.simulation);
        let outcome = run_inputs(&self.accelerator, core, inputs, &on_chip, &settings, simulation)?;
        if outcome.status == ERROR {
            bail!("the memory answered a read at {:#x} with an error", outcome.error_address);
        }
        if outcome.status == REFUSED {
            bail!("{}", self.accelerator.refusal(outcome.error_address));
        }
        ensure!(outcome.status == DONE, "the core ended early: {}", status_name(outcome.status));
        if let (true, Some(listing)) = (lists, &mut self.listing) {
            listing.add(&outcome.records, names, &self.graph);
        }
        self.parts.push(Part {
            k: settings.k,
            outcome: outcome.clone(),
            seconds: clock.elapsed().as_secs_f64(),
        });
        Ok(outcome)
    }

    /// The banks and the in-stream of a pass.
    fn inputs(&self, settings: &Settings, on_chip: &OnChip) -> Inputs {
        let machine = &self.accelerator;
        let mut image = DeviceImage::new(self.graph.view(), machine);
        if self.labelled {
            image = image.with_labels(&self.labels);
        }
        let bank = |bank: usize| {
            let mut bytes = vec![0; image.bank_bytes(bank) as usize];
            image.bank(bank, 0, &mut bytes);
            bytes
        };
        let bounds = (on_chip.vertex_bound, on_chip.edge_bound);
        let (dictionary, patterns) = (&settings.dictionary, settings.patterns);
        let head = stream::head(machine, None, dictionary, patterns, &image, bounds);
        let units = stream::units(&self.units);
        let beats = |bytes: &[u8]| -> Vec<[u8; LINE]> {
            bytes.chunks_exact(LINE).map(|beat| beat.try_into().expect("64 bytes")).collect()
        };
        Inputs {
            banks: (0..machine.memory.ddr_banks as usize).map(bank).collect(),
            edge_base: image.edge_base(),
            head: head.len() / LINE,
            stream: beats(&[head, units].concat()),
        }
    }

    /// One pass a size, each through the patterns that the passes before it reported, as the host
    /// does it; listing is a further pass a size.
    fn frequent(&mut self, largest: u32, support: u64) -> Result<Vec<(String, u64)>> {
        let bits = self.accelerator.applications.label_bits;
        let labels = self.labels.clone();
        let named = self.labelled.then_some(&labels[..]);
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
            results
                .extend(found.iter().map(|(p, count)| (labelled_name_in(p, &self.graph), *count)));
            reported.extend(found.into_iter().map(|(p, _)| p));
        }
        if self.listing.is_some() {
            for size in 2..=sizes {
                let wanted = |p: &Pattern| reported.contains(p);
                let table =
                    Table::new(bits, labels.len(), named, size as usize, &reported, &wanted);
                let named = |p| labelled_name_in(p, &self.graph);
                let names: Vec<String> = table.patterns.iter().map(named).collect();
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
fn read_units(file: &Path, vertices: usize) -> Result<Vec<WorkUnit>> {
    let text =
        std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let unit = |(at, line): (usize, &str)| {
        let numbers: Option<Vec<u32>> = line.split_whitespace().map(|w| w.parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[start, first, limit]) if (start as usize) < vertices => {
                Ok(WorkUnit { start, first, limit })
            }
            _ => bail!(
                "{}:{}: {line:?} is not a vertex below {vertices}, a first and an end position",
                file.display(),
                at + 1
            ),
        }
    };
    text.lines().enumerate().map(unit).collect()
}

/// A graph as the core gets it.
struct Input {
    /// By rank.
    graph: Graph,
    /// Its labels, by the core's: their places among those of the graph.
    labels: Vec<Label>,
    labelled: bool,
}

/// Reads a graph and numbers its vertices by rank; frequent subgraphs get its labels.
fn read_input(path: &Path, task: MiningTask, accelerator: &Accelerator) -> Result<Input> {
    let context = gramer::Context::default();
    let loaded = read_graph(path, &ReadOptions::default(), &context)?;
    let graph = gramer::prepare::renumber(&loaded, &context)?;
    let mut labels = vec![0];
    let mut labelled = false;
    if let (MiningTask::Fsm, Some(all)) = (task, graph.view().vertex_labels) {
        labels = all.to_vec();
        labels.sort_unstable();
        labels.dedup();
        labelled = true;
    }
    let most = 1usize << accelerator.applications.label_bits;
    ensure!(
        labels.len() <= most,
        "the graph has {} vertex labels, and machine {} has room for {most}; use the CPU engine: \
         gramer mine fsm",
        labels.len(),
        accelerator.machine.name
    );
    ensure!(
        task != MiningTask::Fsm || !graph.has_edge_labels(),
        "machine {} doesn't read edge labels; use the CPU engine: gramer mine fsm",
        accelerator.machine.name
    );
    Ok(Input { graph, labels, labelled })
}

/// Runs the passes of a task: counts by the name of their pattern.
fn counts(
    bench: &mut Bench,
    task: MiningTask,
    k: u32,
    support: Option<u64>,
) -> Result<Vec<(String, u64)>> {
    Ok(match task {
        MiningTask::Clique => {
            let names = [format!("{k}-clique")];
            let outcome = bench.pass(bench.settings.clone(), &names, true)?;
            names.into_iter().zip(outcome.counts).collect()
        }
        MiningTask::Motif => {
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
        MiningTask::Fsm => bench.frequent(k, support.unwrap_or(0))?,
        MiningTask::Match => bail!("the paper's core doesn't match patterns"),
    })
}
