//! Experiments of the papers behind the GPU engine (DuMato, GSI with its successor, GAMMA), as far as one device can
//! repeat them, and a report that holds them against the papers' own figures.
//!
//! | module | experiments |
//! |---|---|
//! | `dumato` | balance between warps: off and on, thresholds, donations |
//! | `gsi` | the steps of the join, loads of global memory, layers |
//! | `gamma` | prefix groups, filter, layout, access modes, the merge of sorted segments |
//! | `not_run` | what isn't repeated, and why |
//! | `point` | one setting of one task, measured |
//! | `limits` | how long a point and the whole run may take |
//! | `unfinished` | points of a run that was interrupted |
//!
//! All settings of a task must count the same, or the run ends with an error. Verdicts come from ratios on one
//! device: times of other machines stand beside ours without one.

mod dumato;
mod gamma;
mod gsi;
mod limits;
mod not_run;
mod point;
mod unfinished;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use gramer_gpu::{Gpu, Settings};
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::read::{ReadOptions, read_graph};
use gramer_graph::{Builder, Graph, VertexId};

use crate::paper::Tell;
use crate::paper::report::{Block, PAGE, PaperReport, REPORT, Section, rule};

use limits::{Late, Limits};
pub use point::Point;
use unfinished::Unfinished;

/// What [`run`] is asked.
#[derive(Debug, Clone)]
pub struct Options {
    /// Small random graphs: they show that the machinery works, and say nothing of the papers.
    pub quick: bool,
    /// The device, as the GPU engine names them: `gpu`, `gpu:1`, `gpu:portable`.
    pub device: String,
    /// Folder of the real graphs.
    pub data: Option<PathBuf>,
    /// Folder of the report.
    pub out: PathBuf,
    /// Whether the report is written as an HTML page as well.
    pub html: bool,
    /// Whether the report's files may replace others.
    pub force: bool,
    /// Runs of each point, of which the shortest counts; 1 and more.
    pub best: u32,
    /// What a point may take, its programs and the run that isn't counted included; one that takes longer has no
    /// time.
    pub point_limit: Option<Duration>,
    /// What the whole may take until the report is written; points that had no room have no time.
    pub time_limit: Option<Duration>,
    /// Folder that keeps built programs; none: they are built in each run.
    pub cache: Option<PathBuf>,
}

/// Files of all points.
const POINTS: [&str; 2] = ["points.csv", "points.json"];

/// Names of the files that a report has.
pub fn files(html: bool) -> Vec<&'static str> {
    [&[REPORT][..], if html { &[PAGE] } else { &[] }, &POINTS].concat()
}

/// A graph of the experiments.
struct Input {
    name: String,
    graph: Graph,
}

/// What the experiments work with.
struct Lab<'a> {
    options: &'a Options,
    context: &'a Context,
    tell: Tell<'a>,
    /// Without labels.
    plain: Vec<Input>,
    /// With 10 labels of vertices and 100 of edges, as GSI's enron has (table 2); a few for a quick run.
    labelled: Vec<Input>,
    points: RefCell<Vec<Point>>,
    unfinished: RefCell<Unfinished>,
    failed: RefCell<Vec<String>>,
    limits: Limits,
    late: RefCell<Vec<(String, Late)>>,
}

/// Runs the experiments and writes the report: README.md, points.csv and points.json. Gives the points that
/// failed. What a run that was interrupted, or whose time was over, had measured is not measured again.
///
/// # Errors
/// Those of reading and writing; [`Error::Device`] where there is no such device, or settings of a task count
/// different numbers; [`Error::Interrupted`].
pub fn run(options: &Options, context: &Context, tell: Tell<'_>) -> Result<Vec<String>> {
    let limits = Limits::begin(options.point_limit, options.time_limit);
    let gpu = Gpu::open(&options.device, &Settings::default())?;
    let device = format!("{} (driver {})", gpu.found().name, gpu.found().driver);
    drop(gpu);
    let (plain, labelled) = inputs(options, context)?;
    let (points, failed, late) = Default::default();
    let graphs = match &options.data {
        Some(folder) if !options.quick => folder.display().to_string(),
        _ => "random ones".into(),
    };
    let run = format!("{device}, best of {}, graphs: {graphs}", options.best);
    let unfinished = RefCell::new(Unfinished::open(&options.out, run, tell)?);
    let lab =
        Lab { options, context, tell, plain, labelled, points, unfinished, failed, limits, late };
    // The joins are measured last: how long their queries take is known least.
    let tables = gamma::sections(&lab)?;
    let mut sections = dumato::sections(&lab)?;
    sections.extend(gsi::sections(&lab)?);
    sections.extend(tables);
    sections.push(not_run::section());
    sections.push(numbers(&lab.points.borrow())?);
    let opening = opening(&lab, &device);
    let report = PaperReport {
        title: "Experiments of the GPU engine's papers on this device".into(),
        opening,
        sections,
    };
    report.write(&options.out, options.html, options.force)?;
    // Points for which the time of the whole run was too short are measured by the same command again.
    let late = lab.late.into_inner();
    if !late.is_empty() {
        tell(&format!("points that took longer than they may: {}", late.len()));
    }
    if !late.iter().any(|(_, late)| matches!(late, Late::Run(_))) {
        lab.unfinished.into_inner().end()?;
    }
    Ok(lab.failed.into_inner())
}

fn opening(lab: &Lab<'_>, device: &str) -> Vec<String> {
    let graphs: Vec<String> = lab
        .plain
        .iter()
        .chain(&lab.labelled)
        .map(|i| format!("{} ({} vertices, {} edges)", i.name, i.graph.vertices(), i.graph.edges()))
        .collect();
    let mut all = vec![format!(
        "Written by `gramer paper-gpu`. Device: {device}. A time is the shortest of {} runs on a graph that lies on the \
         device, after one that isn't counted. All settings of a task counted the same. A loaded word or line is \
         counted by the kernels themselves, not by a profiler. Graphs: {}.",
        lab.options.best,
        graphs.join(", ")
    )];
    all.push(rule());
    if lab.options.quick {
        all.insert(
            0,
            "**A quick run**: small random graphs, which show that the machinery works. The verdicts below say \
             nothing of the papers."
                .into(),
        );
    }
    let failed = lab.failed.borrow();
    if !failed.is_empty() {
        all.push(format!("**Points that failed**: {}.", failed.join("; ")));
    }
    let late = lab.late.borrow();
    if !late.is_empty() {
        let each: Vec<String> =
            late.iter().map(|(what, late)| format!("{what}: {}", late.why())).collect();
        all.push(format!(
            "**{} points without a time**, as they took longer than they may. They are *not run* below, and no case \
             holds by them: {}.",
            late.len(),
            each.join("; ")
        ));
    }
    all
}

/// All points as files.
fn numbers(points: &[Point]) -> Result<Section> {
    let mut csv = String::from("experiment,graph,task,setting,seconds,count,loads,stores\n");
    for p in points {
        let number = |n: Option<f64>| n.map(|n| n.to_string()).unwrap_or_default();
        csv += &format!(
            "{},{},{},{},{},{},{},{}\n",
            p.experiment,
            p.graph,
            p.task,
            p.setting,
            p.seconds,
            p.count,
            number(p.loads),
            number(p.stores)
        );
    }
    let json = serde_json::to_string_pretty(points)
        .map_err(|e| Error::Device(format!("the points are no JSON: {e}")))?;
    Ok(Section {
        title: "All points".into(),
        blocks: vec![
            Block::File(POINTS[0].into(), csv),
            Block::File(POINTS[1].into(), json + "\n"),
        ],
        claims: vec![],
    })
}

/// The graphs without labels, and those with.
fn inputs(options: &Options, context: &Context) -> Result<(Vec<Input>, Vec<Input>)> {
    let input = |name: &str, graph| Input { name: name.into(), graph };
    if options.quick {
        let model = Model::BarabasiAlbert { vertices: 60, edges_per_vertex: 3 };
        let labels = |count| Some(Labels { count, exponent: 1.0 });
        let random = |seed, labelled: bool| {
            let (vertex_labels, edge_labels) =
                if labelled { (labels(3), labels(4)) } else { (None, None) };
            generate(&Recipe { model, seed, vertex_labels, edge_labels }, context)
        };
        let plain = vec![input("random-1", random(1, false)?)];
        return Ok((plain, vec![input("random-2", random(2, true)?)]));
    }
    let Some(data) = &options.data else {
        return Err(Error::usage(
            "the real graphs are missing: name their folder with the setting `data` or GRAMER_DATA, or give \
             the setting `quick` for small random ones",
        ));
    };
    let read = |file: &str| {
        let options = ReadOptions { edge_labels: false, ..ReadOptions::default() };
        read_graph(&data.join(file), &options, context)
    };
    let plain = vec![
        input("citeseer", read("citeseer/citeseer.lg")?),
        input("ca-astroph", read("ca-astroph/ca-AstroPh.txt.zst")?),
        input("rmat15", read("rmat15/rmat15.txt.zst")?),
    ];
    let enron = read("email-enron/email-enron.txt.zst")?;
    let labelled = vec![
        input("email-enron", with_labels(&enron, 10, 100)),
        input("ca-astroph", with_labels(&plain[1].graph, 10, 100)),
        input("rmat15", with_labels(&plain[2].graph, 10, 100)),
    ];
    Ok((plain, labelled))
}

/// A power law of labels: label i has a weight of 1 / (i + 1).
struct Draw {
    rng: ChaCha8Rng,
    ends: Vec<f64>,
}

impl Draw {
    fn new(labels: u32, seed: u64) -> Self {
        let mut sum = 0.0;
        let mut ends: Vec<f64> = vec![];
        for i in 1..=labels {
            sum += 1.0 / f64::from(i);
            ends.push(sum);
        }
        ends.iter_mut().for_each(|end| *end /= sum);
        Draw { rng: ChaCha8Rng::seed_from_u64(seed), ends }
    }

    fn next(&mut self) -> u32 {
        let at = (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        self.ends.partition_point(|&end| end <= at).min(self.ends.len() - 1) as u32
    }
}

/// A graph with labels by a power law, as the paper gives them to graphs without.
fn with_labels(graph: &Graph, vertex_labels: u32, edge_labels: u32) -> Graph {
    let (mut vertices, mut edges) = (Draw::new(vertex_labels, 1), Draw::new(edge_labels, 2));
    let mut builder = Builder::new();
    let view = graph.view();
    for v in 0..graph.vertices() as VertexId {
        builder.labelled_vertex(v.into(), vertices.next());
        for &u in view.neighbours(v).iter().filter(|&&u| u > v) {
            builder.labelled_edge(v.into(), u.into(), edges.next());
        }
    }
    builder.build()
}

/// The folder of the real graphs: the one that is given, else that of GRAMER_DATA.
pub fn data_folder(given: Option<&Path>) -> Option<PathBuf> {
    crate::paper::data_folder(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_a_power_law_and_edges_stay() {
        let model = Model::BarabasiAlbert { vertices: 2000, edges_per_vertex: 4 };
        let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
        let plain = generate(&recipe, &Context::default()).unwrap();
        let graph = with_labels(&plain, 10, 20);
        assert_eq!((graph.vertices(), graph.edges()), (plain.vertices(), plain.edges()));
        let labels = graph.view().edge_labels.unwrap();
        let times = |label| labels.iter().filter(|&&l| l == label).count() as f64;
        let sum: f64 = (1..=20).map(|i| 1.0 / f64::from(i)).sum();
        for label in [0, 4, 19] {
            let expected = labels.len() as f64 / sum / f64::from(label + 1);
            let share = times(label) / expected;
            assert!((0.7..1.4).contains(&share), "{label}: {share}");
        }
    }
}
