//! `gramer selftest`.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use comfy_table::CellAlignment;

use super::device::{self, DeviceOptions};
use crate::report::symbols::{new_table, time};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_cpu::Cpu;
use gramer_engine::{Ask, Engine, EngineExt, Facts, Outcome, PreparedGraph, Query, Sink, Units};
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::prepare::renumber;
use gramer_graph::{Builder, Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

/// Options of the subcommand.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The device, as for `gramer mine`
    #[arg(long, value_name = "DEVICE")]
    device: String,

    /// MiB to write to and read from each memory bank
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=4096))]
    mib: u32,

    #[command(flatten)]
    options: DeviceOptions,
}

impl Args {
    /// Tests the device and prints a line for each test.
    ///
    /// # Errors
    /// [`Error::Device`] if an answer differs from the CPU engine's, and what the device refuses.
    pub fn run(self, context: &Context) -> Result<()> {
        let engine = self.options.engine(&self.device, false, context)?;
        let engine = engine.as_ref();
        // What is no sum of shares isn't asked of several devices.
        let several = device::split(&self.device).len() > 1;
        let (mut tests, mut wrong) = (0, vec![]);
        for (name, graph) in graphs(context)? {
            let device = engine.prepare(&graph, context)?;
            let host = Cpu.prepare(&graph, context)?;
            for (task, list) in tasks() {
                let query = Query::new(task.clone()).list(list);
                let facts = Facts::of(&graph);
                if engine.plan(&Ask::new(&query).facts(Some(&facts))).is_err() {
                    continue;
                }
                context.cancel.check()?;
                let question = format!("{}{}", describe(&task), if list { ", listed" } else { "" });
                let begun = Instant::now();
                let answer = match ask(&device, &task, list, context) {
                    // A device that supports counting, but no lists or no shares, returns
                    // `Unsupported`.
                    Err(Error::Unsupported(_)) if list || several => continue,
                    answer => answer?,
                };
                let took = begun.elapsed();
                context.cancel.check()?;
                let right = ask(&host, &task, list, context)?;
                let equal = answer.0.results == right.0.results
                    && answer.0.complete == right.0.complete
                    && answer.1 == right.1;
                tests += 1;
                let measured = |name| answer.0.devices.iter().find_map(|d| d.count(name));
                let cycles = match (measured("run.cycles"), measured("run.runs")) {
                    (Some(cycles), Some(runs)) => format!(", {cycles} cycles in {runs} runs"),
                    _ => String::new(),
                };
                let verdict = if equal { "right" } else { "WRONG" };
                super::print(|out| {
                    writeln!(out, "{verdict}  {name}: {question} ({}{cycles})", time(took))
                })?;
                if !equal {
                    wrong.push(format!(
                        "{name}: {question}: the device says {:?}, the CPU engine {:?}",
                        counts(&answer.0),
                        counts(&right.0)
                    ));
                }
            }
        }
        self.memories(engine, context)?;
        if wrong.is_empty() {
            return super::print(|out| writeln!(out, "{tests} tests passed"));
        }
        Err(Error::Device(format!(
            "{} of {tests} tests failed:\n{}",
            wrong.len(),
            wrong.join("\n")
        )))
    }

    /// The speed of the device's memories, if it has its own.
    fn memories(&self, engine: &dyn Engine, context: &Context) -> Result<()> {
        let rows = device::accelerator::memories(engine, u64::from(self.mib) << 20, context)?;
        if rows.is_empty() {
            return Ok(());
        }
        let mut table = new_table();
        table.set_header(["device", "bank", "write MB/s", "read MB/s"]);
        for row in rows {
            let rate = |t: Duration| format!("{:.0}", row.bytes as f64 / t.as_secs_f64() / 1e6);
            let (write, read) = (rate(row.write), rate(row.read));
            table.add_row([row.device, row.memory, write, read]);
        }
        for column in 1..4 {
            if let Some(column) = table.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        super::print(|out| writeln!(out, "{table}"))
    }
}

/// Small graphs that between them have hubs, cliques, isolated vertices and labels.
fn graphs(context: &Context) -> Result<Vec<(&'static str, Graph)>> {
    let labels = |count| Some(Labels { count, exponent: 0.5 });
    let recipe =
        |model, seed, vertex_labels| Recipe { model, seed, vertex_labels, edge_labels: None };
    let random = Model::ErdosRenyiEdges { vertices: 70, edges: 240 };
    let grown = Model::BarabasiAlbert { vertices: 90, edges_per_vertex: 4 };
    let dense = Model::ErdosRenyiProbability { vertices: 18, p: 0.7 };
    let mut hub = Builder::new();
    hub.vertex_range(0..120);
    for v in 1..110 {
        hub.edge(0, v);
        hub.edge(v, v % 7 + 1);
    }
    let mut one = Builder::new();
    one.edge(0, 1);
    let made = [
        ("one edge", one.build_with(context)?),
        ("random graph", generate(&recipe(random, 1, labels(3)), context)?),
        ("grown graph", generate(&recipe(grown, 2, labels(4)), context)?),
        ("dense graph", generate(&recipe(dense, 3, labels(2)), context)?),
        ("hub", hub.build_with(context)?),
    ];
    made.into_iter().map(|(name, graph)| Ok((name, renumber(&graph, context)?))).collect()
}

/// Every application, and whether embeddings are listed.
fn tasks() -> Vec<(Task, bool)> {
    let motif = |k| Task::Motif { k, induced: Induced::Vertex };
    let fsm = |support| Task::Fsm {
        limit: SizeLimit::MaxVertices(3),
        support,
        measure: Measure::Embeddings,
    };
    vec![
        (Task::Clique { k: 3 }, false),
        (Task::Clique { k: 5 }, false),
        (motif(3), false),
        (motif(4), false),
        (fsm(1), false),
        (fsm(20), false),
        (Task::Clique { k: 4 }, true),
        (motif(3), true),
        (fsm(20), true),
    ]
}

fn describe(task: &Task) -> String {
    match task {
        Task::Clique { k } => format!("cliques of {k}"),
        Task::Motif { k, .. } => format!("motifs of {k}"),
        Task::Fsm { support, .. } => format!("patterns of up to 3 vertices, support {support}"),
        other => other.name().to_string(),
    }
}

/// Embeddings as sets: their order is free.
type Embeddings = BTreeSet<(Pattern, Vec<VertexId>)>;

struct Collect(Mutex<Embeddings>);

impl Sink for Collect {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let mut vertices = vertices.to_vec();
        vertices.sort_unstable();
        let mut all = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.insert((pattern.clone(), vertices));
        ControlFlow::Continue(())
    }
}

fn ask(
    prepared: &PreparedGraph,
    task: &Task,
    list: bool,
    context: &Context,
) -> Result<(Outcome, Embeddings)> {
    let collect = Collect(Mutex::default());
    let sink = list.then_some(&collect as &dyn Sink);
    let outcome = prepared.run(task, Units::All, sink, context)?;
    Ok((outcome, collect.0.into_inner().unwrap_or_default()))
}

fn counts(outcome: &Outcome) -> Vec<u128> {
    outcome.results.iter().map(|r| r.count).collect()
}
