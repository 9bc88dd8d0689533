//! Experiments of the papers behind the GPU engine (DuMato, GSI with its successor, GAMMA), as far as one device can
//! repeat them, and a report that compares them with the papers' own figures.
//!
//! | module | experiments |
//! |---|---|
//! | `dumato` | balance between warps: off and on, thresholds, donations |
//! | `threads` | searches by single threads and by warps |
//! | `activity` | warps with work over time |
//! | `gsi` | the steps of the join, loads of global memory, layers |
//! | `labels` | joins by number of labels and size of the query |
//! | `paradigms` | plans, formulas and exploration without a plan, by size of the motifs |
//! | `compression` | table A.1 of DuMato, on the CPU |
//! | `queries` | queries of the joins, by random walks |
//! | `gamma` | prefix groups, filter, layout, access modes, the time of transfers |
//! | `sort` | the external sort and its merge of sorted segments |
//! | `sizes` | rows of embedding tables |
//! | `growth` | times by density of the graph, and by number of warps |
//! | `point` | one setting of one task, measured |
//! | `limits` | time limits of a point and of the whole run |
//! | `unfinished` | points of a run that was interrupted |
//!
//! All settings of a task must count the same, or the run ends with an error. Verdicts come from ratios on one
//! device: times of other machines stand beside ours without one.

mod activity;
mod compression;
mod dumato;
mod gamma;
mod growth;
mod gsi;
mod inputs;
mod labels;
mod limits;
mod paradigms;
mod point;
mod queries;
mod sizes;
mod sort;
mod threads;
mod unfinished;

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_gpu::{Gpu, Settings};
use gramer_graph::Graph;

use crate::paper::claims::CLAIMS;
use crate::paper::earlier::Report;
use crate::paper::report::{Block, PAGE, PaperReport, Part, REPORT, Section, rule};
use crate::paper::{Progress, csv_table};

use limits::{Limits, Timeout};
pub use point::Point;
use unfinished::PartialRun;

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
    /// Time limit of a point, including its programs and the warm-up run; a point beyond it has no time.
    pub point_limit: Option<Duration>,
    /// Time limit of the whole run; points beyond it have no time.
    pub time_limit: Option<Duration>,
    /// Folder that keeps built programs; none: they are built in each run.
    pub cache: Option<PathBuf>,
    /// Names of the experiments to run, of [`experiments`]; none: all. The sections of the others are taken from the
    /// report in `out`.
    pub only: Vec<String>,
    /// Shares of warps without work from which on DuMato's balance moves work, in % (figures 6.4 and 6.5); 30 is always run.
    pub thresholds: Vec<u32>,
    /// Numbers of extensions that a warp without work gets (table 6.6); 1 and 16 are always run.
    pub donations: Vec<u32>,
    /// Measure nothing on the device: the verdicts follow from the points of the report in `out`.
    pub verdicts: bool,
}

type Sections = fn(&Lab<'_>) -> Result<Vec<Section>>;

/// An experiment: its name, the titles of its sections, and what runs it.
struct Experiment {
    name: &'static str,
    titles: &'static [&'static str],
    run: Sections,
    site: Site,
}

const fn on_device(
    name: &'static str,
    titles: &'static [&'static str],
    run: Sections,
) -> Experiment {
    Experiment { name, titles, run, site: Site::Device }
}

const fn on_host(name: &'static str, titles: &'static [&'static str], run: Sections) -> Experiment {
    Experiment { name, titles, run, site: Site::Host }
}

/// The joins are last: how long their queries take is known least.
const EXPERIMENTS: &[Experiment] = &[
    on_device(
        "table-6.3",
        &["DuMato, table 6.3: searches by thread and by warp"],
        threads::sections,
    ),
    on_device(
        "figure-6.2",
        &["DuMato, figures 6.2 and 6.6: activity of warps"],
        activity::sections,
    ),
    on_device("table-6.7", &["DuMato, table 6.7: balance off and on"], dumato::on_and_off),
    on_device("table-6.6", &["DuMato, table 6.6: donations"], dumato::donations),
    on_device("figure-6.4", &["DuMato, figure 6.4: thresholds and threads"], dumato::thresholds),
    on_device(
        "figure-6.5",
        &["DuMato, figure 6.5: thresholds and threads, cliques"],
        dumato::thresholds_of_cliques,
    ),
    on_device("table-6.5", &["DuMato, table 6.5: virtual warps"], dumato::tiles),
    on_device(
        "paradigms",
        &["Beyond DuMato: plans, formulas and exploration"],
        paradigms::sections,
    ),
    on_host("table-a.1", &["DuMato, table A.1: compression by cliques"], compression::sections),
    on_device(
        "figure-26",
        &["GAMMA, figures 26, 32 and 34: mechanisms of the extension"],
        gamma::mechanisms,
    ),
    on_device(
        "figure-27",
        &["GAMMA, figures 27 and 33: the same, subgraph matching"],
        gamma::matching,
    ),
    on_device("figure-24", &["GAMMA, figure 24: density"], growth::density),
    on_device("figure-25", &["GAMMA, figure 25: number of warps"], growth::warps),
    on_device("figure-28", &["GAMMA, figures 7 and 28: which pages are copied"], gamma::access),
    on_device(
        "figure-29",
        &["GAMMA, figure 29: the merge of sorted segments", "GAMMA, table 4: the external sort"],
        sort::sections,
    ),
    on_device("figure-30", &["GAMMA, figure 30: time of transfers"], gamma::breakdown),
    on_device(
        "figure-31",
        &["GAMMA, figure 31: compression of embedding tables"],
        sizes::compression,
    ),
    on_device("tables", &["GAMMA, figure 16: peak memory"], sizes::memory),
    on_device(
        "figure-16",
        &["GSI, figure 16: number of labels", "SGSI, figure 17c: size of the query"],
        labels::sections,
    ),
    on_device(
        "joins",
        &[
            "GSI, table 3: the steps of the join",
            "GSI, table 4: rows by PCSR and by binary search",
            "SGSI, table 5: layers",
        ],
        gsi::sections,
    ),
    on_device("table-6", &["SGSI, table 6: memory"], gsi::memory),
];

/// Site of an experiment's measurements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Site {
    /// On the device.
    Device,
    /// On the processor.
    Host,
}

/// Names of the experiments.
pub fn experiments() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().map(|experiment| experiment.name)
}

/// The sections of experiments: measured, or those of an earlier report.
fn parts(lab: &Lab<'_>, before: Option<&Report>) -> Result<Vec<Part>> {
    let mut parts = vec![];
    for &Experiment { name, titles, run, .. } in EXPERIMENTS {
        let only = &lab.options.only;
        let chosen = only.is_empty() || only.iter().any(|only| only == name);
        match before {
            Some(before) if !chosen => {
                for title in titles {
                    match before.section(title) {
                        Ok(earlier) => parts.push(Part::Earlier(earlier)),
                        // It stays out of the report, as before.
                        Err(missing) => (lab.tell)(&missing.to_string()),
                    }
                }
            }
            _ => parts.extend(run(lab)?.into_iter().map(Part::from)),
        }
    }
    Ok(parts)
}

/// Files of all points.
const POINTS: [&str; 2] = ["points.csv", "points.json"];
/// Numbers of table A.1.
const COMPRESSION: &str = "table-a.1.csv";
/// Names of the files of a report beside the page.
const FILES: [&str; 5] = [REPORT, CLAIMS, COMPRESSION, POINTS[0], POINTS[1]];

/// Names of the files that a report has.
pub fn files(html: bool) -> Vec<&'static str> {
    [&FILES[..], if html { &[PAGE] } else { &[] }].concat()
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
    tell: Progress<'a>,
    /// Without labels.
    plain: Vec<Input>,
    /// With 10 labels of vertices and 100 of edges, as GSI's enron has (table 2); a few for a quick run.
    labelled: Vec<Input>,
    points: RefCell<Vec<Point>>,
    /// Experiments of this run, with points or without.
    asked: RefCell<HashSet<String>>,
    unfinished: RefCell<PartialRun>,
    /// When the run in progress began, once its programs were built.
    begun: Cell<Option<Instant>>,
    failed: RefCell<Vec<String>>,
    limits: Limits,
    late: RefCell<Vec<(String, Timeout)>>,
}

/// Runs the experiments and writes the report: README.md, points.csv and points.json. Gives the points that
/// failed. What a run that was interrupted, or whose time was over, had measured is not measured again.
///
/// # Errors
/// Errors of reading and writing; [`Error::Device`] where there is no such device, or settings of a task count
/// different numbers; [`Error::Interrupted`].
pub fn run(options: &Options, context: &Context, tell: Progress<'_>) -> Result<Vec<String>> {
    let limits = Limits::begin(options.point_limit, options.time_limit);
    let again = options.verdicts || !options.only.is_empty();
    let before = if again { Some(Report::read(&options.out)?) } else { None };
    let chosen = |name: &str| options.only.is_empty() || options.only.iter().any(|o| o == name);
    let on_device = |e: &Experiment| e.site == Site::Device && chosen(e.name);
    let device = match !options.verdicts && EXPERIMENTS.iter().any(on_device) {
        true => {
            let gpu = Gpu::open(&options.device, &Settings::default())?;
            Some(format!("{} (driver {})", gpu.found().name, gpu.found().driver))
        }
        false => None,
    };
    let (plain, labelled) = inputs::inputs(options, context)?;
    let (points, asked, failed, late, begun) = Default::default();
    let graphs = match &options.data {
        Some(folder) if !options.quick => folder.display().to_string(),
        _ => "random ones".into(),
    };
    let unfinished = match &device {
        Some(device) => {
            let run = format!("{device}, best of {}, graphs: {graphs}", options.best);
            PartialRun::open(&options.out, run, tell)?
        }
        None => PartialRun::default(),
    };
    let earlier = if again { earlier_points(&options.out)? } else { vec![] };
    let unfinished =
        RefCell::new(if options.verdicts { unfinished.with(&earlier) } else { unfinished });
    let lab = Lab {
        options,
        context,
        tell,
        plain,
        labelled,
        points,
        asked,
        unfinished,
        failed,
        limits,
        late,
        begun,
    };
    let mut parts = parts(&lab, before.as_ref())?;
    parts.push(numbers(&all_points(earlier, &lab.asked.borrow(), &lab.points.borrow()))?.into());
    let report = PaperReport {
        title: "Experiments of the GPU engine's papers on this device".into(),
        opening: opening(&lab, device.as_deref(), before.as_ref()),
        parts,
    };
    report.write(&options.out, options.html, options.force)?;
    // Points for which the time of the whole run was too short are measured by the same command again.
    let late = lab.late.into_inner();
    if !late.is_empty() {
        let missing = late.iter().filter(|(_, late)| *late == Timeout::Missing).count();
        if missing > 0 {
            tell(&format!("points that the report lacks: {missing}"));
        }
        if late.len() > missing {
            tell(&format!("points that took longer than they may: {}", late.len() - missing));
        }
    }
    if !late.iter().any(|(_, late)| matches!(late, Timeout::Run(_))) {
        lab.unfinished.into_inner().end()?;
    }
    Ok(lab.failed.into_inner())
}

/// The points of the report in a folder.
fn earlier_points(folder: &Path) -> Result<Vec<Point>> {
    let path = folder.join(POINTS[1]);
    let text = fs::read_to_string(&path).map_err(|e| Error::io(&path, "read", e))?;
    serde_json::from_str(&text).map_err(|e| {
        let what = format!("no points of a report ({e}); measure all experiments");
        Error::input(gramer_base::error::Place::file(&path), what)
    })
}

/// Points of an earlier report, less those of this run's experiments, with the points of this run.
fn all_points(mut all: Vec<Point>, asked: &HashSet<String>, measured: &[Point]) -> Vec<Point> {
    all.retain(|point| !asked.contains(&point.experiment));
    all.extend_from_slice(measured);
    all
}

fn opening(lab: &Lab<'_>, device: Option<&str>, before: Option<&Report>) -> Vec<String> {
    let graphs: Vec<String> = lab
        .plain
        .iter()
        .chain(lab.labelled.iter().filter(|own| lab.plain.iter().all(|i| i.name != own.name)))
        .map(|i| format!("{} ({} vertices, {} edges)", i.name, i.graph.vertices(), i.graph.edges()))
        .collect();
    let mut all = vec![match (device, before.and_then(|before| before.opening.first())) {
        // Its times are of another run.
        (None, Some(first)) => first.clone(),
        (device, _) => measured_on(lab, device.unwrap_or("none"), &graphs),
    }];
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
    let missing = late.iter().filter(|(_, late)| *late == Timeout::Missing).count();
    if missing > 0 {
        all.push(format!(
            "{missing} points of today's experiments aren't in this report yet: they are *not run* below."
        ));
    }
    if late.len() > missing {
        let each: Vec<String> = late
            .iter()
            .filter(|(_, late)| *late != Timeout::Missing)
            .map(|(what, late)| format!("{what}: {}", late.why()))
            .collect();
        all.push(format!(
            "**{} points without a time**, as they took longer than they may. They are *not run* below, and no case \
             holds by them unless the time until the limit decides it: {}.",
            each.len(),
            each.join("; ")
        ));
    }
    all
}

/// Where and how points were measured.
fn measured_on(lab: &Lab<'_>, device: &str, graphs: &[String]) -> String {
    format!(
        "Written by `gramer-lab paper-gpu`. Device: {device}. A time is the shortest of {} runs, or of up to ten short \
         ones, after one that isn't counted; longer ones than 5 s are run once. Tasks find the graph on the device, \
         queries of a join also signatures and PCSR. All settings of a task counted the same. A loaded word or line is \
         counted by the kernels themselves, not by a profiler. Graphs: {}.",
        lab.options.best,
        graphs.join(", ")
    )
}

/// All points as files.
fn numbers(points: &[Point]) -> Result<Section> {
    let header = [
        "experiment",
        "graph",
        "task",
        "setting",
        "seconds",
        "stopped",
        "count",
        "loads",
        "stores",
        "peak",
        "active",
        "above",
        "balances",
        "again",
        "kernel",
        "room",
    ];
    let row = |p: &Point| {
        let stopped = if p.stopped { "yes" } else { "" };
        let measured = [p.seconds.to_string(), stopped.into(), p.count.to_string()];
        let counters =
            [p.loads, p.stores, p.peak, p.active, p.above, p.balances, p.again, p.kernel, p.room];
        let counters = counters.map(|n| n.map_or_else(String::new, |n| n.to_string()));
        p.names().map(String::from).into_iter().chain(measured).chain(counters).collect()
    };
    let csv = csv_table(&header, &points.iter().map(row).collect::<Vec<_>>());
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

/// The folder of the real graphs: the one that is given, else that of GRAMER_DATA.
pub fn data_folder(given: Option<&Path>) -> Option<PathBuf> {
    crate::paper::data_folder(given)
}
