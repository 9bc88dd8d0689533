//! `gramer-lab explore`: a task on many variants of a machine.

use std::path::{Path, PathBuf};

use comfy_table::CellAlignment;
use serde_json::{Value, json};

use crate::explore::measures::Metric;
use crate::explore::parameter::{Parameter, Point, Variation, combinations};
use crate::explore::simulator::{RunOutcome, Simulator};
use crate::explore::{
    About, PointResult, counts, csv, described, long_name, page, plot, supports, sweep, task,
};
use gramer_accelerator::xclbin::build::read_machine;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::output::{check_run, write_run};
use gramer_cli::report::symbols::new_table;
use gramer_cli::{COMMIT, GraphArgs, Output, print, tell, threads, told};
use gramer_graph::Order;
use gramer_picture::number::grouped;

/// Metrics of the printed table; the files have all.
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
/// Plotted metrics, and whether each is relative to the first point.
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

    /// Task to mine: clique:K, motif:K or fsm:VERTICES:SUPPORT
    #[arg(long, value_name = "TASK")]
    task: String,

    /// Parameter to vary, NAME=VALUE,VALUE,…; repeat for all combinations (a single value
    /// is a fixed setting)
    #[arg(long, value_name = "NAME=VALUES", required = true)]
    vary: Vec<String>,

    /// Machine to vary: a name such as `small`, or the path of a description (default: the
    /// paper's)
    #[arg(long, value_name = "MACHINE")]
    machine: Option<PathBuf>,

    /// Points at a time; 0 or auto is one for each core [default: auto]
    #[arg(long, value_name = "N", value_parser = threads)]
    jobs: Option<u16>,

    /// Stop a point after this number of cycles
    #[arg(long, value_name = "N", default_value_t = 10_000_000_000)]
    max_cycles: u64,

    /// Folder for index.html, points.csv, points.json and the plots, created if missing. A later run replaces these
    /// files unless they were changed
    #[arg(long, value_name = "FOLDER", default_value = "target/explore/last")]
    out: PathBuf,

    /// Replace files in the folder of --out even if they were changed or are not of a sweep
    #[arg(long)]
    force: bool,

    /// Cache of the points' results
    #[arg(long, value_name = "FOLDER", default_value = "target/explore/cache")]
    cache: PathBuf,

    /// Format of the printed results
    #[arg(long, value_enum, default_value = "table")]
    output: Output,
}

fn after_help() -> String {
    let mut text = String::from("What can be varied:\n");
    for p in Parameter::all() {
        text += &format!("  {:<18}{} ({})\n", p.name(), p.title(), p.takes());
    }
    text + "\nExamples:\n  \
        gramer-lab explore graph.txt --task motif:3 --vary slots=1,2,4,8,16\n  \
        gramer-lab explore graph.txt --task clique:5 --vary tau=1%,5%,50% --vary order=descending,ascending\n  \
        gramer-lab explore graph.txt --task motif:3 --vary policy=locality,static-lru,uniform-lru \
        --vary on_chip=10%\n\n\
        Each point runs on the simulated core by `gramer-lab simulate`, or by the program that $GRAMER_SIM names.\n\
        Every count is compared with the CPU engine's."
}

impl Args {
    /// Runs the sweep.
    ///
    /// # Errors
    /// Errors of reading and of the simulator; [`Error::Device`] if points failed, after the others
    /// were written.
    pub fn run(self, mut context: Context) -> Result<()> {
        if let Some(jobs) = self.jobs {
            context.threads = jobs.into();
        }
        let plots = PLOTTED.iter().map(|(_, _, name)| format!("{name}.svg"));
        let names: Vec<String> = FILES.map(String::from).into_iter().chain(plots).collect();
        let inputs: Vec<&Path> = self.graph.inputs().chain(self.machine.as_deref()).collect();
        check_run(&self.out, &names, self.force, &inputs)?;
        let (simulated, mined) = task(&self.task)?;
        let variations: Vec<Variation> =
            self.vary.iter().map(|text| Variation::parse(text)).collect::<Result<_>>()?;
        let base = read_machine(self.machine.as_deref())?;
        // A model takes minutes to build: what no core does is refused before, and before the graph is read.
        supports(&base, &mined, None)?;
        variations.iter().try_for_each(|varied| varied.parameter.check(&base))?;
        let graph = self.graph.load_in(Order::RankOn1.into(), &context)?.graph;
        supports(&base, &mined, Some(&graph))?;
        let points: Vec<Point> = combinations(&variations)
            .iter()
            .map(|settings| Point::new(&base, graph.view(), settings))
            .collect::<Result<_>>()?;
        let simulator = Simulator::new(&self.cache, context.threads(), self.max_cycles)?;
        let note = |done: usize, at: usize, ran: &RunOutcome| {
            let what = match ran {
                RunOutcome::Done(kept) => format!("{} cycles", kept.result["cycles"]),
                RunOutcome::Limit => "too many cycles".into(),
                RunOutcome::Failed(_) => "failed".into(),
            };
            tell(&format!(
                "{done} of {}: {}: {what}",
                points.len(),
                described(&points[at].settings)
            ));
        };
        let all = sweep(&simulator, &graph, &simulated, &mined, &points, &context, &note)?;

        let name = self.graph.graph.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let title = format!("{} on {name}", long_name(&mined));
        let document = document(&all, &self.task, &self.graph.graph, &base.machine.name);
        let x = variations.iter().position(|v| v.values.len() > 1).unwrap_or(0);
        let plots = PLOTTED.map(|(metric, relative, _)| plot(&all, x, metric, relative, &title));
        let rows: Vec<Vec<String>> = all.iter().map(cells).collect();
        let about = About {
            title: &title,
            machine: &base,
            graph: (&name, &graph),
            version: &version(),
            date: &today(),
        };
        let index = page(&about, &all, &header(&all), &rows, &plots);
        let texts = [index, csv(&all), format!("{document:#}\n")];
        let texts = texts.into_iter().chain(plots.iter().map(|plot| plot.svg()));
        let files: Vec<(String, String)> = names.into_iter().zip(texts).collect();
        write_run(&self.out, &files, self.force)?;
        print(|out| match self.output {
            Output::Json => writeln!(out, "{document:#}"),
            Output::Table => table(&all, &title, &self.out, out),
        })?;
        failures(&all)
    }
}

/// Reports the points without a result, grouped by reason.
///
/// # Errors
/// [`Error::Device`] if there are some.
fn failures(all: &[PointResult]) -> Result<()> {
    let failed = || all.iter().filter_map(|p| Some((&p.settings, p.measures.as_ref().err()?)));
    let mut reasons: Vec<(&String, Vec<String>)> = vec![];
    for (settings, reason) in failed() {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, points)) => points.push(described(settings)),
            None => reasons.push((reason, vec![described(settings)])),
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> =
        reasons.iter().map(|(reason, points)| format!("{}: {reason}", points.join(", "))).collect();
    Err(Error::Device(format!(
        "{} of {} points have no result: {}",
        failed().count(),
        all.len(),
        lines.join("\n")
    )))
}

fn document(all: &[PointResult], task: &str, graph: &Path, machine: &str) -> Value {
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
                    json!({"settings": settings, "error": told(said)})
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
    all: &[PointResult],
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
    writeln!(out, "{title}, simulated; {}\n{table}", counts(all))?;
    writeln!(out, "{}: index.html, points.csv, points.json and plots", folder.display())
}

/// Names of the parameters, then those of the metrics.
fn header(all: &[PointResult]) -> Vec<String> {
    let settings = all.first().map_or(&[][..], |p| &p.settings);
    let readable = |name: &str| name.replace('_', " ");
    let names = settings.iter().map(|s| readable(s.parameter.name()));
    let titles = SHOWN.iter().map(|m| match m {
        Metric::Milliseconds => "ms".into(),
        m if m.is_share() => format!("{} %", readable(m.name())),
        m => readable(m.name()),
    });
    names.chain(titles).collect()
}

/// A point's row.
fn cells(point: &PointResult) -> Vec<String> {
    let head = point.settings.iter().map(|s| s.text.clone());
    let cells: Vec<String> = match &point.measures {
        Ok(m) => SHOWN
            .iter()
            .map(|&metric| match metric {
                Metric::Cycles => grouped(m.cycles().into()),
                // The core of the machine may not count it.
                _ if m.get(metric).is_nan() => "–".into(),
                Metric::Milliseconds => format!("{:.3}", m.shown(metric)),
                _ => format!("{:.1}", m.shown(metric)),
            })
            .collect(),
        Err(_) => vec!["–".into(); SHOWN.len()],
    };
    head.chain(cells).collect()
}

/// The version of this program, with its commit where the build knows it.
fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match COMMIT {
        "unknown" => version.into(),
        commit => format!("{version} ({commit})"),
    }
}

/// Today's date in UTC: `2026-01-31`.
fn today() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    date(since.map_or(0, |since| since.as_secs()) / 86_400)
}

/// The date of a day since 1970-01-01.
fn date(mut day: u64) -> String {
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", day + 1)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_are_dates() {
        let all = [0, 58, 59, 11_016, 19_782, 20_819].map(date);
        let known =
            ["1970-01-01", "1970-02-28", "1970-03-01", "2000-02-29", "2024-02-29", "2027-01-01"];
        assert_eq!(all, known);
    }
}
