//! The same tasks on one GPU, two, four and so on: `make bench-gpus`.
//!
//! usage: scale RESULTS.json [--devices A,B,…] [--counts 1,2,4] [--limit SECONDS] [--cap SECONDS]
//!        [--scales 20,22] [--tasks 5-cliques,…]
//!
//! Graphs are those of `gramer graph generate rmat --scale N --edge-factor 16 --seed 1`, with four vertex
//! labels, in Rank(ON_1) order. A row is a task on so many of the devices, the graph resident: the time
//! from the first command to the merged answer, the shortest of up to three runs, each device's busy time
//! and the bytes that went over its bus in that run. Runs on all numbers of devices must agree. A run of
//! more than `--cap` seconds is stopped and said to be; once `--limit` seconds are over nothing begins any
//! more. The rows are in RESULTS.json at every moment.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::output;
use gramer_crew::Crew;
use gramer_engine::metrics::Value;
use gramer_engine::{Engine, Outcome, PreparedGraph, Units};
use gramer_gpu::platform::devices;
use gramer_gpu::{Gpu, Settings, Strategy, default_cache};
use gramer_graph::Graph;
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::prepare::renumber;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};
use gramer_pattern::{Pattern, named};
use serde_json::{Value as Json, json};

type Failure = Box<dyn std::error::Error>;

/// What the command line says.
struct Options {
    results: String,
    devices: Vec<String>,
    counts: Vec<usize>,
    limit: Duration,
    cap: Duration,
    scales: Vec<u32>,
    /// Names of tasks; all if there are none.
    tasks: Vec<String>,
}

fn options() -> Result<Options, Failure> {
    let mut words = std::env::args().skip(1);
    let results = words.next().ok_or("usage: scale RESULTS.json [--devices A,B,…] …")?;
    let (found, _) = devices();
    let gpus = found.into_iter().filter(|d| d.kind == "gpu").map(|d| d.device);
    let mut options = Options {
        results,
        devices: gpus.collect(),
        counts: vec![1, 2, 4, 8],
        limit: Duration::from_secs(3600),
        cap: Duration::from_secs(60),
        scales: vec![20, 22],
        tasks: vec![],
    };
    while let Some(word) = words.next() {
        let value = words.next().ok_or(format!("{word}: a value is missing"))?;
        let seconds = || value.parse().map(Duration::from_secs);
        match word.as_str() {
            "--devices" => options.devices = value.split(',').map(String::from).collect(),
            "--counts" => {
                options.counts = value.split(',').map(str::parse).collect::<Result<_, _>>()?
            }
            "--limit" => options.limit = seconds()?,
            "--cap" => options.cap = seconds()?,
            "--tasks" => options.tasks = value.split(',').map(String::from).collect(),
            "--scales" => {
                options.scales = value.split(',').map(str::parse).collect::<Result<_, _>>()?
            }
            _ => return Err(format!("{word}: no such option").into()),
        }
    }
    Ok(options)
}

/// A graph as `gramer graph generate rmat` makes it.
fn rmat(scale: u32) -> Result<Graph, Failure> {
    let model = Model::Rmat { scale, edge_factor: 16, a: 0.57, b: 0.19, c: 0.19 };
    let labels = Some(Labels { count: 4, exponent: 0.0 });
    let recipe = Recipe { model, seed: 1, vertex_labels: labels, edge_labels: None };
    let context = Context::default();
    Ok(renumber(&generate(&recipe, &context)?, &context)?)
}

/// A pattern whose vertices have the labels 0, 1, 2, 3, 0, ….
fn labelled(mut pattern: Pattern) -> Pattern {
    (0..pattern.vertices()).for_each(|v| pattern.set_vertex_label(v, v as u32 % 4));
    pattern
}

/// Tasks with the names that the table has, and the strategy that does them.
type Tasks = (Option<Strategy>, Vec<(&'static str, Task)>);

fn tasks(scale: u32) -> Vec<Tasks> {
    let diamond = labelled(named("diamond").expect("it is a name"));
    let by_table = Task::Match { pattern: diamond, induced: Induced::Edge, mappings: None };
    let frequent = |edges, support| Task::Fsm {
        limit: SizeLimit::MaxEdges(edges),
        support,
        measure: Measure::Mni,
    };
    let mut tasks = vec![
        ("5-cliques", Task::Clique { k: 5 }),
        ("4-motifs", Task::Motif { k: 4, induced: Induced::Vertex }),
    ];
    if scale <= 20 {
        for (name, of) in [("labelled diamonds", "diamond"), ("labelled 4-cycles", "4-cycle")] {
            let pattern = labelled(named(of).expect("it is a name"));
            let task = Task::Match { pattern, induced: Induced::Edge, mappings: None };
            tasks.push((name, task));
        }
        tasks.push(("6-cliques", Task::Clique { k: 6 }));
        tasks.push(("frequent, 3 edges", frequent(3, 1 << (scale - 8))));
    }
    let mut all = vec![(None, tasks)];
    if scale <= 20 {
        all.push((Some(Strategy::Table), vec![("labelled diamonds by table", by_table)]));
    }
    all
}

/// A run with its time; it is stopped after `cap`.
fn run(
    prepared: &PreparedGraph,
    task: &Task,
    cap: Duration,
) -> Result<(Duration, Outcome), Failure> {
    let context = Context::default();
    let over = Arc::new(AtomicBool::new(false));
    let watch = {
        let (over, cancel) = (over.clone(), context.cancel.clone());
        std::thread::spawn(move || {
            let begun = Instant::now();
            while !over.load(Ordering::Relaxed) && begun.elapsed() < cap {
                std::thread::park_timeout(cap.saturating_sub(begun.elapsed()));
            }
            if !over.load(Ordering::Relaxed) {
                cancel.cancel();
            }
        })
    };
    let begun = Instant::now();
    let outcome = prepared.run(task, Units::All, None, &context);
    let took = begun.elapsed();
    over.store(true, Ordering::Relaxed);
    watch.thread().unpark();
    let _ = watch.join();
    Ok((took, outcome?))
}

/// What a row says of its devices.
fn by_device(outcome: &Outcome) -> Vec<Json> {
    let number = |d: &gramer_engine::DeviceMetrics, name| d.get(name).and_then(Value::number);
    let device = |d: &gramer_engine::DeviceMetrics| {
        json!({
            "device": d.device,
            "busy": number(d, "share.busy").or(number(d, "run.time")),
            "portions": number(d, "share.portions").or(number(d, "share.candidates")),
            "runs": number(d, "share.runs"),
            "written": number(d, "bus.written"),
            "read": number(d, "bus.read"),
            "memory": number(d, "memory.peak"),
        })
    };
    outcome.devices.iter().map(device).collect()
}

/// The shortest of up to three runs.
struct TimedRun {
    seconds: f64,
    outcome: Outcome,
    /// Seconds of the first run.
    first: f64,
    runs: u32,
}

/// Times a task, as long as it isn't late; nothing where it was late before the first run.
fn timed(
    prepared: &PreparedGraph,
    task: &Task,
    cap: Duration,
    late: impl Fn() -> bool,
) -> Result<Option<TimedRun>, Failure> {
    let (mut best, mut first, mut runs) = (None, 0.0, 0);
    while runs < 3 && !late() {
        let (took, outcome) = run(prepared, task, cap)?;
        let took = took.as_secs_f64();
        if runs == 0 {
            first = took;
        }
        runs += 1;
        let complete = outcome.complete;
        // The first one builds programs; a long one is not the worse for that.
        if best.as_ref().is_none_or(|(known, _)| took < *known) {
            best = Some((took, outcome));
        }
        if !complete || took > 12.0 {
            break;
        }
    }
    Ok(best.map(|(seconds, outcome)| TimedRun { seconds, outcome, first, runs }))
}

/// The devices as one engine.
fn open(devices: &[String], settings: &Settings) -> Result<Box<dyn Engine>, Failure> {
    let mut engines: Vec<Box<dyn Engine>> = vec![];
    for name in devices {
        engines.push(Box::new(Gpu::open(name, settings)?));
    }
    // One device is measured without what deals work to several.
    Ok(match devices.len() {
        1 => engines.remove(0),
        _ => Box::new(Crew::new(engines)),
    })
}

/// All rows, and where they are written.
struct Table<'a> {
    options: &'a Options,
    begun: Instant,
    settings: Settings,
    head: Json,
    rows: Vec<Json>,
}

impl Table<'_> {
    fn late(&self) -> bool {
        self.begun.elapsed() >= self.options.limit
    }

    fn save(&self) -> Result<(), Failure> {
        output::write_own(Path::new(&self.options.results), |out| {
            let all = json!({"machine": self.head, "rows": self.rows});
            serde_json::to_writer_pretty(&mut *out, &all)?;
            writeln!(out)
        })?;
        Ok(())
    }

    /// All rows of a graph.
    fn graph(&mut self, scale: u32) -> Result<(), Failure> {
        let made = Instant::now();
        let graph = rmat(scale)?;
        println!(
            "rmat{scale}: {} vertices, {} edges, made in {:.1} s",
            graph.vertices(),
            graph.edges(),
            made.elapsed().as_secs_f64()
        );
        let mut all = tasks(scale);
        let wanted = &self.options.tasks;
        for (_, tasks) in &mut all {
            tasks.retain(|(name, _)| wanted.is_empty() || wanted.iter().any(|w| w == name));
        }
        all.retain(|(_, tasks)| !tasks.is_empty());
        let mut right: Vec<Vec<Option<Outcome>>> =
            all.iter().map(|(_, tasks)| vec![None; tasks.len()]).collect();
        let options = self.options;
        for &count in &options.counts {
            if count > options.devices.len() || self.late() {
                println!("rmat{scale} on {count}: not run");
                continue;
            }
            for ((strategy, tasks), right) in all.iter().zip(&mut right) {
                let settings = Settings { strategy: *strategy, ..self.settings.clone() };
                let engine = open(&options.devices[..count], &settings)?;
                self.on(count, engine.as_ref(), (scale, tasks), &graph, right)?;
            }
        }
        Ok(())
    }

    /// The rows of a graph on a number of devices; `right` has the counts of fewer devices, by task.
    fn on(
        &mut self,
        count: usize,
        engine: &dyn Engine,
        (scale, tasks): (u32, &[(&'static str, Task)]),
        graph: &Graph,
        right: &mut [Option<Outcome>],
    ) -> Result<(), Failure> {
        let context = Context::default();
        let loading = Instant::now();
        let prepared = engine.prepare(graph, &context)?;
        let prepare = loading.elapsed().as_secs_f64();
        for ((name, task), right) in tasks.iter().zip(right) {
            if self.late() {
                break;
            }
            let found = timed(&prepared, task, self.options.cap, || self.late())?;
            let Some(TimedRun { seconds, outcome, first, runs }) = found else { break };
            let equal = match right {
                Some(known) if outcome.complete => known.results == outcome.results,
                _ => true,
            };
            // Frequent patterns are many: their number says enough.
            let counts: Vec<String> = match task {
                Task::Fsm { .. } => vec![outcome.results.len().to_string()],
                _ => outcome.results.iter().map(|r| r.count.to_string()).collect(),
            };
            let row = json!({
                "graph": format!("rmat{scale}"), "task": name, "devices": count,
                "seconds": seconds, "first": first, "runs": runs, "prepare": prepare,
                "complete": outcome.complete, "equal": equal, "counts": counts,
                "warnings": outcome.warnings, "by_device": by_device(&outcome),
            });
            println!("{row}");
            self.rows.push(row);
            self.save()?;
            if outcome.complete && right.is_none() {
                *right = Some(outcome);
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Failure> {
    let options = options()?;
    let begun = Instant::now();
    let settings = Settings { cache: default_cache(), ..Settings::default() };
    let (found, _) = devices();
    let named: Vec<_> = found.iter().filter(|d| options.devices.contains(&d.device)).collect();
    let head = json!({
        "devices": options.devices,
        "names": named.iter().map(|d| d.name.clone()).collect::<Vec<_>>(),
        "driver": named.first().map(|d| d.driver.clone()),
        "threads": Context::default().threads(),
    });
    println!("{head}");
    let mut table = Table { options: &options, begun, settings, head, rows: vec![] };
    for &scale in &options.scales {
        if table.late() {
            println!("rmat{scale}: not run, the time is over");
            continue;
        }
        table.graph(scale)?;
    }
    table.save()?;
    let wrong = table.rows.iter().filter(|row| row["equal"] == false).count();
    if wrong > 0 {
        return Err(format!("{wrong} rows differ from one device's").into());
    }
    Ok(())
}
