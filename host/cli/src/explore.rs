//! `gramer explore`: a task on many variants of a machine.

use std::path::{Path, PathBuf};

use comfy_table::CellAlignment;
use serde_json::{Value, json};

use super::graph_args::GraphArgs;
use super::mine::Output;
use crate::command_line::tell;
use crate::report::symbols::new_table;
use crate::usage::threads;
use gramer_accelerator::xclbin::build::read_machine;
use gramer_graph::Order;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::output::{check_files, write_files};
use gramer_laboratory::explore::measures::Metric;
use gramer_laboratory::explore::parameter::{Parameter, Point, Variation, combinations};
use gramer_laboratory::explore::simulator::{Ran, Simulator};
use gramer_laboratory::explore::{Measured, csv, described, page, plot, short_name, sweep, task};

/// Metrics of the table; all are in the files.
const SHOWN: [Metric; 8] = [
    Metric::Cycles,
    Metric::Milliseconds,
    Metric::VertexHits,
    Metric::EdgeHits,
    Metric::Busy,
    Metric::WaitMemory,
    Metric::WaitInside,
    Metric::NoWork,
];
/// Metrics that are plotted, and whether relative to the first point.
const PLOTTED: [(Metric, bool, &str); 4] = [
    (Metric::Cycles, false, "cycles"),
    (Metric::Cycles, true, "speed-up"),
    (Metric::VertexHits, false, "vertex_hits"),
    (Metric::EdgeHits, false, "edge_hits"),
];

/// Files in the folder of --out beside the plots.
const FILES: [&str; 3] = ["index.html", "points.csv", "points.json"];

/// Options of the subcommand.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub struct Args {
    #[command(flatten)]
    graph: GraphArgs,

    /// What is mined: clique:K, motif:K or fsm:VERTICES:SUPPORT
    #[arg(long, value_name = "TASK")]
    task: String,

    /// What is varied, NAME=VALUE,VALUE,…; several times for all combinations (a single value
    /// is a fixed setting)
    #[arg(long, value_name = "NAME=VALUES", required = true)]
    vary: Vec<String>,

    /// The machine that is varied: a name such as `small`, or the path of a description; the
    /// paper's by default
    #[arg(long, value_name = "MACHINE")]
    machine: Option<PathBuf>,

    /// Points at a time; 0 or auto is one for each core [default: auto]
    #[arg(long, value_name = "N", value_parser = threads)]
    jobs: Option<u16>,

    /// Give a point up after so many cycles
    #[arg(long, value_name = "N", default_value_t = 10_000_000_000)]
    max_cycles: u64,

    /// Folder for index.html, points.csv, points.json and the plots; made if it is missing
    #[arg(long, value_name = "FOLDER", default_value = "target/explore/last")]
    out: PathBuf,

    /// Replace files of an earlier run in the folder of --out
    #[arg(long)]
    force: bool,

    /// Folder that keeps each point's result, so that it isn't simulated twice
    #[arg(long, value_name = "FOLDER", default_value = "target/explore/cache")]
    cache: PathBuf,

    /// How results are printed
    #[arg(long, value_enum, default_value = "table")]
    output: Output,
}

fn after_help() -> String {
    let mut text = String::from("What can be varied:\n");
    for p in Parameter::all() {
        text += &format!("  {:<18}{} ({})\n", p.name(), p.title(), p.takes());
    }
    text + "\nExamples:\n  \
        gramer explore graph.txt --task motif:3 --vary slots=1,2,4,8,16\n  \
        gramer explore graph.txt --task clique:5 --vary tau=1%,5%,50% --vary order=descending,ascending\n  \
        gramer explore graph.txt --task motif:3 --vary policy=locality,static-lru,uniform-lru \
        --vary on_chip=10%\n\n\
        Each point runs on the simulated core, by the program gramer-sim beside this one (or \
        $GRAMER_SIM).\nEvery count is compared with the CPU engine's."
}

impl Args {
    /// Runs the sweep.
    ///
    /// # Errors
    /// Those of reading and of the simulator; [`Error::Device`] if points failed, after the others
    /// are written.
    pub fn run(self, mut context: Context) -> Result<()> {
        if let Some(jobs) = self.jobs {
            context.threads = jobs.into();
        }
        let plots = PLOTTED.iter().map(|(_, _, name)| format!("{name}.svg"));
        let names: Vec<String> = FILES.map(String::from).into_iter().chain(plots).collect();
        let inputs: Vec<&Path> = self.graph.inputs().chain(self.machine.as_deref()).collect();
        check_files(&self.out, &names, self.force, &inputs)?;
        let (simulated, mined) = task(&self.task)?;
        let variations: Vec<Variation> =
            self.vary.iter().map(|text| Variation::parse(text)).collect::<Result<_>>()?;
        let base = read_machine(self.machine.as_deref())?;
        let graph = self.graph.load_in(Order::RankOn1, &context)?.graph;
        let points: Vec<Point> = combinations(&variations)
            .iter()
            .map(|settings| Point::new(&base, graph.view(), settings))
            .collect::<Result<_>>()?;
        let simulator = Simulator::new(&self.cache, context.threads(), self.max_cycles)?;
        let told = |done: usize, at: usize, ran: &Ran| {
            let what = match ran {
                Ran::Done(kept) => format!("{} cycles", kept.result["cycles"]),
                Ran::Limit => "too many cycles".into(),
                Ran::Failed(_) => "failed".into(),
            };
            tell(&format!(
                "{done} of {}: {}: {what}",
                points.len(),
                described(&points[at].settings)
            ));
        };
        let all = sweep(&simulator, &graph, &simulated, &mined, &points, &context, &told)?;

        let name = self.graph.graph.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let title = format!("{} on {name}", short_name(&mined));
        let document = document(&all, &self.task, &self.graph.graph, &base.machine.name);
        let x = variations.iter().position(|v| v.values.len() > 1).unwrap_or(0);
        let plots = PLOTTED.map(|(metric, relative, _)| plot(&all, x, metric, relative, &title));
        let rows: Vec<Vec<String>> = all.iter().map(cells).collect();
        let texts =
            [page(&title, &header(&all), &rows, &plots), csv(&all), format!("{document:#}\n")];
        let texts = texts.into_iter().chain(plots.iter().map(|plot| plot.svg()));
        let files: Vec<(String, String)> = names.into_iter().zip(texts).collect();
        write_files(&self.out, &files, self.force)?;
        super::print(|out| match self.output {
            Output::Json => writeln!(out, "{document:#}"),
            Output::Table => table(&all, &title, &self.out, out),
        })?;
        let failed = all.iter().filter_map(|p| Some((p, p.measures.as_ref().err()?)));
        let failed: Vec<String> =
            failed.map(|(p, said)| format!("{}: {said}", described(&p.settings))).collect();
        match failed.is_empty() {
            true => Ok(()),
            false => Err(Error::Device(format!(
                "{} of {} points have no result: {}",
                failed.len(),
                all.len(),
                failed.join("\n")
            ))),
        }
    }
}

fn document(all: &[Measured], task: &str, graph: &Path, machine: &str) -> Value {
    let points: Vec<Value> = all
        .iter()
        .map(|point| {
            let settings: serde_json::Map<String, Value> = point
                .settings
                .iter()
                .map(|s| (s.parameter.name().to_string(), json!(s.text)))
                .collect();
            match &point.measures {
                Ok(m) => {
                    let metrics: serde_json::Map<String, Value> =
                        Metric::all().map(|x| (x.name().into(), json!(m.get(x)))).collect();
                    json!({
                        "settings": settings,
                        "identity": m.kept().identity,
                        "options": m.kept().options,
                        "metrics": metrics,
                        "results": m.kept().result["results"],
                        "counters": m.kept().result["counters"],
                    })
                }
                Err(said) => {
                    json!({"settings": settings, "error": crate::options::told(said)})
                }
            }
        })
        .collect();
    json!({
        "graph": graph.display().to_string(),
        "task": task,
        "machine": machine,
        "simulated": true,
        "points": points,
    })
}

fn table(
    all: &[Measured],
    title: &str,
    folder: &Path,
    out: &mut dyn std::io::Write,
) -> std::io::Result<()> {
    let mut table = new_table();
    let settings = all.first().map_or(&[][..], |p| &p.settings);
    table.set_header(header(all));
    all.iter().for_each(|point| {
        table.add_row(cells(point));
    });
    for at in settings.len()..settings.len() + SHOWN.len() {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    writeln!(out, "{title}, simulated; counts equal to the CPU engine's\n{table}")?;
    writeln!(out, "{}: index.html, points.csv, points.json and plots", folder.display())
}

/// Names of the parameters, then those of the metrics.
fn header(all: &[Measured]) -> Vec<String> {
    let settings = all.first().map_or(&[][..], |p| &p.settings);
    let names = settings.iter().map(|s| s.parameter.name().to_string());
    let titles = SHOWN.iter().map(|m| match m.is_share() {
        true => format!("{} %", m.name()),
        false => m.name().to_string(),
    });
    names.chain(titles).collect()
}

/// A point's row.
fn cells(point: &Measured) -> Vec<String> {
    let head = point.settings.iter().map(|s| s.text.clone());
    let cells: Vec<String> = match &point.measures {
        Ok(m) => SHOWN
            .iter()
            .map(|&metric| match metric {
                Metric::Cycles => m.cycles().to_string(),
                Metric::Milliseconds => format!("{:.3}", m.shown(metric)),
                _ => format!("{:.1}", m.shown(metric)),
            })
            .collect(),
        Err(_) => vec!["–".into(); SHOWN.len()],
    };
    head.chain(cells).collect()
}
