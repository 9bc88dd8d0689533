//! The speed of the GPU engine compared with public CUDA programs: `make bench-gpu`.
//!
//! usage: bench DEVICE PEERS.csv RESULTS.json [--best N] [--tasks a,b,…] [--strategy NAME] [--cpu]
//!        [--labels N] [--memory BYTES] [--signatures] [--pivots yes|no] [--order-paper]
//!        [--classes W:LANES:ROOTS:TILE,…] [--checked] [--profile FILE] [--leave] [--bounds] [--energy N]
//!        [--rates NAME=PER_SECOND,…] GRAPH...
//!
//! Tasks: `tc`, `4cl` (cliques), `4mc` (motifs), `match:0-1,1-2` (mappings; with labels a vertex is
//! `0.LABEL`), `mni:EDGES:S` and `embeddings:VERTICES:S` (frequent patterns). `--labels` gives each vertex
//! one of N labels, by its number. `--cpu` runs the CPU engine as well, compares each count with its own, and
//! shows its time. `--leave` ends the process without closing the device. `--bounds` shows what bounds each row: its
//! launches, the time that kernels and transfers take of it (in two more runs, whose times are taken), and the least that
//! launches, memory or tests take on this device. With `none` as DEVICE only tests are counted, and with
//! `--rates NAME=PER_SECOND,...` bounds computed. `--energy` reads the energy counter of NVIDIA's card N while a row repeats
//! for two seconds: the energy of a run and the card's watts, of all that the card does.
//!
//! A row is a task on a graph that lies on the device: the time from the first command to the counts
//! in the host's memory, best of N runs after one that isn't counted. A graph is called by its file's
//! name up to the first dot. Beside it stands the shortest kernel time of PEERS with a right count, and
//! every count that PEERS has for a clique is compared.

mod bounds;
mod counted;
mod measured;
mod power;
mod tasks;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use bounds::Bound;
use gramer_base::choice::Choice;
use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::{Engine, EngineExt, Outcome, PreparedGraph, Units};
use gramer_gpu::{ClassShape, Gpu, Order, Settings, Strategy};
use gramer_graph::Graph;
use gramer_graph::read::{ReadOptions, read_graph};
use gramer_pattern::task::Task;
use measured::{Bounded, MeasuredDevice, TimedGraph};
use tasks::task;

type Failure = Box<dyn std::error::Error>;

/// By task and graph: seconds of the best peer, its name, and the right count of a clique.
type Peers = BTreeMap<(String, String), (f64, String, Option<u128>)>;

/// The best peer by task and graph.
fn peers(path: &str) -> Result<Peers, Failure> {
    let mut best = Peers::new();
    for line in std::fs::read_to_string(path)?.lines().skip(1) {
        let field: Vec<&str> = line.split(',').collect();
        let [system, task, graph, kernel, _, _, "ok", _, count] = field[..] else { continue };
        let Ok(seconds) = kernel.parse::<f64>() else { continue };
        // These count wrongly on some graphs; their times are no measure there.
        if system.starts_with("gamma") || system.ends_with("asis") {
            continue;
        }
        let clique = task == "tc" || task.ends_with("cl");
        let count = if clique { count.parse().ok() } else { None };
        let row =
            best.entry((task.into(), graph.into())).or_insert((f64::MAX, String::new(), count));
        if clique && row.2 != count {
            return Err(format!("{path}: {task} {graph}: the peers disagree").into());
        }
        if seconds < row.0 {
            (row.0, row.1) = (seconds, system.into());
        }
    }
    Ok(best)
}

fn counts(outcome: &Outcome) -> Vec<u128> {
    outcome.results.iter().map(|r| r.count).collect()
}

unsafe extern "C" {
    /// Ends the process without what was registered for its end.
    fn _exit(code: i32) -> !;
}

/// What the command line says.
struct Options {
    device: String,
    peers: String,
    results: String,
    settings: Settings,
    /// By name.
    tasks: Vec<String>,
    graphs: Vec<String>,
    /// Runs beside the first.
    best: u32,
    /// Labels that the vertices get, or 0.
    labels: u32,
    cpu: bool,
    leave: bool,
    bounds: bool,
    /// Rates of a device by name, for bounds without one.
    rates: String,
    /// Number of the card whose energy is read.
    energy: Option<u32>,
}

fn options() -> Result<Options, Failure> {
    let mut words = std::env::args().skip(1);
    let usage = "usage: bench DEVICE PEERS.csv RESULTS.json [OPTIONS] GRAPH...";
    let mut next = || words.next().ok_or(usage);
    let mut options = Options {
        device: next()?,
        peers: next()?,
        results: next()?,
        settings: Settings { cache: gramer_gpu::default_cache(), ..Settings::default() },
        tasks: ["tc", "3mc", "4cl", "5cl", "6cl", "7cl", "4mc"].map(String::from).into(),
        graphs: vec![],
        best: 5,
        labels: 0,
        cpu: false,
        leave: false,
        bounds: false,
        rates: String::new(),
        energy: None,
    };
    let settings = &mut options.settings;
    while let Ok(word) = next() {
        match word.as_str() {
            "--best" => options.best = next()?.parse()?,
            "--classes" => settings.classes = next()?.split(',').map(ClassShape::parse).collect(),
            "--tasks" => {
                let text = next()?;
                let parting = if text.contains(';') { ';' } else { ',' };
                options.tasks = text.split(parting).map(String::from).collect();
            }
            "--strategy" => {
                let name = next()?;
                let found = Strategy::ALL.iter().find(|s| s.1 == name);
                settings.strategy = Some(found.ok_or("no such strategy")?.0);
            }
            "--signatures" => settings.steps.signatures = true,
            "--pivots" => settings.pivots = Some(next()? == "yes"),
            "--order-paper" => settings.steps.order = Order::Paper,
            "--memory" => settings.memory = Some(next()?.parse()?),
            "--labels" => options.labels = next()?.parse()?,
            "--cpu" => options.cpu = true,
            "--profile" => settings.profile = Some(next()?.into()),
            "--leave" => options.leave = true,
            "--bounds" => options.bounds = true,
            "--rates" => options.rates = next()?,
            "--energy" => options.energy = Some(next()?.parse()?),
            "--checked" => settings.checked = true,
            _ => options.graphs.push(word),
        }
    }
    Ok(options)
}

/// A graph that lies on the device.
struct LoadedGraph<'a> {
    /// What the tables call it.
    name: String,
    graph: &'a Graph,
    prepared: PreparedGraph,
    /// The same where times are taken.
    timed: Option<TimedGraph>,
}

/// Reads a graph; labels are scattered, and the same in each run.
fn read(path: &Path, labels: u32) -> Result<Graph, Failure> {
    let graph = read_graph(path, &ReadOptions::default(), &Context::default())?;
    if labels == 0 {
        return Ok(graph);
    }
    let label = |v: u32| (v.wrapping_mul(0x9e37_79b9) >> 16) % labels;
    let all = (0..graph.vertices() as u32).map(label).collect();
    Ok(graph.with_vertex_labels(Some(all)))
}

/// The rows as they come, and how many counts are wrong.
struct Bench<'a> {
    options: &'a Options,
    peers: Peers,
    measured: Option<MeasuredDevice>,
    meter: Option<power::Meter>,
    rows: Vec<String>,
    wrong: usize,
}

impl Bench<'_> {
    /// All rows of a graph.
    fn graph(&mut self, gpu: &Gpu, path: &Path) -> Result<(), Failure> {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // In the spelling of the peers' file.
        let name = file.split('.').next().unwrap_or_default().to_lowercase();
        let begun = Instant::now();
        let graph = read(path, self.options.labels)?;
        let read = begun.elapsed();
        let begun = Instant::now();
        let prepared = gpu.prepare(&graph, &Context::default())?;
        println!(
            "{name}: {} vertices, {} edges; read in {:.1} ms, put on the device in {:.1} ms",
            graph.vertices(),
            graph.edges(),
            1e3 * read.as_secs_f64(),
            1e3 * begun.elapsed().as_secs_f64()
        );
        let measured = self.measured.take();
        let timed = match &measured {
            Some(by) => Some(by.prepare(&graph)?),
            None => None,
        };
        let on = LoadedGraph { name, graph: &graph, prepared, timed };
        let options = self.options;
        for (label, task) in options.tasks.iter().filter_map(|t| Some((t, task(t)?))) {
            let bounded = match measured.as_ref().zip(on.timed.as_ref()) {
                Some((by, timed)) => Some(by.bounded(timed, &task)?),
                None => None,
            };
            self.row(&on, label, &task, bounded)?;
        }
        drop(on);
        self.measured = measured;
        Ok(())
    }

    /// A task: its time, compared with the best peer's.
    fn row(
        &mut self,
        on: &LoadedGraph<'_>,
        label: &str,
        task: &Task,
        bounded: Option<Bounded>,
    ) -> Result<(), Failure> {
        let name = &on.name;
        let (first, least, outcome) = self.timed(on, label, task)?;
        let energy = match &self.meter {
            Some(meter) => meter.row(name, label, || self.again(on, task))?,
            None => String::new(),
        };
        let host =
            if self.options.cpu { Some(self.by_cpu(on, label, task, &outcome)?) } else { None };
        let peer = self.peers.get(&(label.to_string(), name.clone()));
        let counted = counts(&outcome);
        let verdict = match peer.and_then(|p| p.2) {
            Some(right) if counted != [right] => {
                self.wrong += 1;
                "WRONG"
            }
            Some(_) => "right",
            None => "",
        };
        let (anchor, ratio, who) = match peer {
            Some((seconds, who, _)) => {
                let ms = 1e3 * seconds;
                (format!("{ms:.3}"), format!("{:.2}", ms / least), who.as_str())
            }
            None => ("-".into(), "-".into(), ""),
        };
        let sum: u128 = counted.iter().sum();
        let shown = if counted.len() > 8 {
            format!("{} counts, sum {sum}", counted.len())
        } else {
            format!("{counted:?}")
        };
        println!(
            "{name:12} {label:5} {first:10.3} {least:10.3} {anchor:>10} {ratio:>7}  {who:8} {shown} {verdict}"
        );
        let bounds = bounded.map_or(String::new(), |by| {
            let Bounded { launches, busy, bound: Bound { ms, of }, tests, rates } = by;
            println!("{name} {label}: {launches} launches, busy for {busy:.3} ms, {of} take {ms:.3} ms at least");
            format!(
                ", \"launches\": {launches}, \"busy_ms\": {busy:.4}, \"bound_ms\": {ms:.4}, \"bound\": \"{of}\", \
                 \"tests\": {}, \"rates\": {}",
                tests.json(),
                rates.json()
            )
        });
        // Thousands of supports say no more than their sum.
        let all = if counted.len() > 64 { &[][..] } else { &counted };
        self.rows.push(format!(
            "  {{\"graph\": \"{name}\", \"task\": \"{label}\", \"first_ms\": {first:.4}, \"best_ms\": \
             {least:.4}, \"anchor_ms\": {}, \"anchor\": \"{who}\", \"patterns\": {}, \"sum\": {sum}, \"counts\": \
             {all:?}, \"cpu_ms\": {}, \"verdict\": \"{verdict}\"{bounds}{energy}}}",
            if peer.is_some() { anchor.as_str() } else { "null" },
            counted.len(),
            host.map_or("null".into(), |host| format!("{host:.3}")),
        ));
        Ok(())
    }

    /// Another run, whose answer is not looked at.
    fn again(&self, on: &LoadedGraph<'_>, task: &Task) -> Result<(), Failure> {
        on.prepared.run(task, Units::All, None, &Context::default())?;
        Ok(())
    }

    /// The time of the first run and the shortest of the others, in ms, with the first one's answer.
    fn timed(
        &mut self,
        on: &LoadedGraph<'_>,
        label: &str,
        task: &Task,
    ) -> Result<(f64, f64, Outcome), Failure> {
        let context = Context::default();
        let run = || -> Result<(f64, Outcome), Failure> {
            let begun = Instant::now();
            let outcome = on.prepared.run(task, Units::All, None, &context)?;
            Ok((1e3 * begun.elapsed().as_secs_f64(), outcome))
        };
        let (first, outcome) = run()?;
        let mut least = f64::MAX;
        for _ in 0..self.options.best {
            let (took, again) = run()?;
            least = least.min(took);
            if counts(&again) != counts(&outcome) {
                self.wrong += 1;
                println!("{} {label}: the counts of two runs differ", on.name);
            }
            // A row of seconds needs no repetition.
            if took > 3e3 {
                break;
            }
        }
        Ok((first, least, outcome))
    }

    /// The CPU engine's time in ms; its answer is compared.
    fn by_cpu(
        &mut self,
        on: &LoadedGraph<'_>,
        label: &str,
        task: &Task,
        outcome: &Outcome,
    ) -> Result<f64, Failure> {
        let begun = Instant::now();
        let by = Cpu.run(on.graph, task, None, &Context::default())?;
        let took = 1e3 * begun.elapsed().as_secs_f64();
        let right = outcome.complete && by.results == outcome.results;
        let said = if right { "equal" } else { "DIFFERENT" };
        println!("{} {label}: the CPU engine took {took:.3} ms; its answer is {said}", on.name);
        self.wrong += usize::from(!right);
        Ok(took)
    }
}

fn main() -> Result<(), Failure> {
    // SAFETY: nothing has started a thread yet.
    unsafe { gramer_gpu::platform::ask_for_little(std::env::args().nth(1).as_deref()) }
    let options = options()?;
    if options.device == "none" {
        return counted::rows(&options);
    }
    let peers = peers(&options.peers)?;
    let begun = Instant::now();
    let gpu = Gpu::open(&options.device, &options.settings)?;
    let opened = begun.elapsed();
    let found = gpu.found().clone();
    println!("{} on {}, driver {}", found.name, found.platform, found.driver);
    println!("opened in {:.1} ms", 1e3 * opened.as_secs_f64());
    println!(
        "{:12} {:5} {:>10} {:>10} {:>10} {:>7}  {:8} count",
        "graph", "task", "first ms", "best ms", "anchor ms", "ratio", "anchor"
    );
    let measured = match options.bounds {
        true => Some(MeasuredDevice::open(&options.device, &options.settings)?),
        false => None,
    };
    if let Some(MeasuredDevice { most, .. }) = &measured {
        println!(
            "a launch takes {:.2} us, an answer {:.2} us; {:.0} GB, {:.0} G words, {:.0} G members, {:.0} G lookups and {:.0} G increments per second",
            1e6 * most.launch,
            1e6 * most.answer,
            most.bytes / 1e9,
            most.words / 1e9,
            most.members / 1e9,
            most.lookups / 1e9,
            most.increments / 1e9
        );
    }
    let meter = options.energy.map(|card| power::Meter::open(card, &found.name)).transpose()?;
    let idle = meter.as_ref().map_or(String::new(), power::Meter::head);
    let mut bench = Bench { options: &options, peers, measured, meter, rows: vec![], wrong: 0 };
    for path in &options.graphs {
        bench.graph(&gpu, Path::new(path))?;
    }
    let text = format!(
        "{{\"device\": {:?}, \"platform\": {:?}, \"driver\": {:?}, \"best_of\": {}{idle}, \"rows\": [\n{}\n]}}\n",
        found.name,
        found.platform,
        found.driver,
        options.best,
        bench.rows.join(",\n")
    );
    std::fs::write(&options.results, text)?;
    if bench.wrong > 0 {
        return Err(format!("{} counts are wrong", bench.wrong).into());
    }
    if options.leave {
        // What the driver would do at the process' end isn't waited for.
        std::mem::forget(gpu);
        // SAFETY: it takes any number, and nothing here is needed any more.
        unsafe { _exit(0) };
    }
    Ok(())
}
