//! The report for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use gramer_engine::Measured;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};
use gramer_pattern::{MAX_VERTICES, Pattern, name};

use super::{Report, Stopped};

#[derive(Serialize)]
struct Document<'a> {
    gramer: &'static str,
    task: &'static str,
    #[serde(flatten)]
    parameters: Parameters,
    induced: Induced,
    graph: GraphPart<'a>,
    device: &'a str,
    threads: usize,
    results: Vec<Entry>,
    /// `null`, as all counts, where the run was interrupted before anything was found.
    total: Option<u128>,
    complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<Stopped>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accelerator: Option<AcceleratorPart<'a>>,
    seconds: Seconds,
}

/// What the accelerator measured.
#[derive(Serialize)]
struct AcceleratorPart<'a> {
    machine: &'a str,
    compute_units: usize,
    clock_mhz: u32,
    runs: u64,
    /// Of the compute unit that took longest.
    cycles: u64,
    cycles_by_compute_unit: &'a [u64],
    /// Those cycles at the machine's clock.
    seconds_at_clock: f64,
    vertex: Accesses,
    edge: Accesses,
    transfer: Transfer,
    counters: &'a BTreeMap<String, Vec<u64>>,
}

/// Shares of the accesses to one kind of memory.
#[derive(Serialize)]
struct Accesses {
    accesses: u64,
    high_hits: f64,
    low_hits: f64,
    misses: f64,
}

#[derive(Serialize)]
struct Transfer {
    bytes_to_device: u64,
    bytes_from_device: u64,
    seconds: f64,
    kernel_seconds: f64,
    /// Of the time with the device.
    share: f64,
}

impl<'a> AcceleratorPart<'a> {
    fn of(m: &'a Measured) -> Self {
        let accesses = |kind: &str| {
            let [high_hits, low_hits, misses] = m.shares(kind);
            let accesses = m.counter(&format!("pu.{kind}_accesses"));
            Accesses { accesses, high_hits, low_hits, misses }
        };
        AcceleratorPart {
            machine: &m.machine,
            compute_units: m.compute_units,
            clock_mhz: m.clock_mhz,
            runs: m.runs,
            cycles: m.longest(),
            cycles_by_compute_unit: &m.cycles,
            seconds_at_clock: m.seconds_at_clock(),
            vertex: accesses("vertex"),
            edge: accesses("edge"),
            transfer: Transfer {
                bytes_to_device: m.bytes.0,
                bytes_from_device: m.bytes.1,
                seconds: m.transfer.as_secs_f64(),
                kernel_seconds: m.kernels.as_secs_f64(),
                share: m.transfer_share(),
            },
            counters: &m.counters,
        }
    }
}

/// What the task was given, under the names of the options.
#[derive(Serialize, Default)]
struct Parameters {
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    up_to: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_vertices: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_edges: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    support: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<Measure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mappings: Option<bool>,
}

impl Parameters {
    fn of(task: &Task) -> Self {
        let none = Parameters::default();
        match task {
            Task::Clique { k } | Task::Motif { k, .. } => Parameters { k: Some(*k), ..none },
            Task::CliqueSizes { smallest, largest } => {
                Parameters { k: Some(*smallest), up_to: Some(*largest), ..none }
            }
            Task::MaximalCliques | Task::MaximumClique => none,
            Task::Fsm { limit, support, measure } => {
                let (max_vertices, max_edges) = match limit {
                    SizeLimit::MaxVertices(n) => (Some(*n), None),
                    SizeLimit::MaxEdges(n) => (None, Some(*n)),
                };
                let (support, measure) = (Some(*support), Some(*measure));
                Parameters { max_vertices, max_edges, support, measure, ..none }
            }
            Task::Match { mappings, .. } => Parameters { mappings: Some(*mappings), ..none },
        }
    }
}

#[derive(Serialize)]
struct GraphPart<'a> {
    source: &'a str,
    vertices: usize,
    edges: usize,
    /// Different vertex labels; 0 without labels.
    labels: usize,
    /// Different edge labels; 0 without labels.
    edge_labels: usize,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Shape {
    Pattern(Pattern),
    /// A clique of more vertices than a pattern can have; its edges are all pairs.
    Clique {
        vertices: usize,
        edges: Option<()>,
        labels: Option<()>,
        edge_labels: Option<()>,
    },
}

#[derive(Serialize)]
struct Entry {
    pattern: Shape,
    name: String,
    count: Option<u128>,
}

#[derive(Serialize)]
struct Seconds {
    load: f64,
    prepare: f64,
    mine: f64,
}

/// Writes the report as one JSON object and a line end.
///
/// # Errors
/// Those of `out`.
pub fn json(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let outcome = report.outcome;
    let known = |count: u128| (!report.nothing_known()).then_some(count);
    let patterns = outcome.results.iter().map(|r| Entry {
        name: name(&r.pattern),
        pattern: Shape::Pattern(r.pattern.clone()),
        count: known(r.count),
    });
    let larger = outcome.larger_cliques.iter().map(|&(vertices, count)| {
        debug_assert!(vertices > MAX_VERTICES);
        let pattern = Shape::Clique { vertices, edges: None, labels: None, edge_labels: None };
        Entry { pattern, name: format!("{vertices}-clique"), count: known(count) }
    });
    let times = report.times;
    let document = Document {
        gramer: env!("CARGO_PKG_VERSION"),
        task: report.task.name(),
        parameters: Parameters::of(report.task),
        induced: report.task.induced(),
        graph: GraphPart {
            source: report.source,
            vertices: report.graph.vertices(),
            edges: report.graph.edges(),
            labels: report.graph.vertex_label_count(),
            edge_labels: report.graph.edge_label_count(),
        },
        device: report.device,
        threads: report.threads,
        results: patterns.chain(larger).collect(),
        total: known(report.total()),
        complete: outcome.complete,
        stopped: report.stopped,
        listed: report.listed,
        accelerator: outcome.measured.as_ref().map(AcceleratorPart::of),
        seconds: Seconds {
            load: times.load.as_secs_f64(),
            prepare: times.prepare.as_secs_f64(),
            mine: times.mine.as_secs_f64(),
        },
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
