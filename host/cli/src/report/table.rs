//! The report for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement};

use gramer_engine::estimate::Estimate;
use gramer_engine::metrics::{Metric, Value};
use gramer_engine::{DeviceMetrics, Estimated, Per, Precision};
use gramer_graph::error::Place;
use gramer_pattern::labelled_name;
use gramer_pattern::task::Task;
use gramer_picture::number::{about, grouped};
use gramer_picture::per::PerReport;
use gramer_picture::{characters, words};

use super::symbols::{Symbols, exact_time, new_table, symbols, time};
use super::{Answer, Stopped};

/// Whether a table has a picture of each pattern, of Braille's characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Drawing {
    /// On a terminal that has the characters, up to 40 patterns
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Drawing {
    /// More patterns would fill several screens.
    const MOST: usize = 40;

    /// What is drawn where standard output is a terminal or isn't; to be asked before a device is
    /// opened, which may lead it elsewhere.
    #[must_use]
    pub fn on(self, terminal: bool) -> Self {
        match self {
            Drawing::Auto if !terminal || symbols() == Symbols::Ascii => Drawing::Never,
            other => other,
        }
    }

    fn wanted(self, patterns: usize) -> bool {
        match self {
            Drawing::Auto => patterns <= Drawing::MOST,
            Drawing::Always => true,
            Drawing::Never => false,
        }
    }
}

/// Writes the report as a heading, a table and a closing line.
///
/// # Errors
/// Those of `out`.
pub fn table(report: &Answer<'_>, drawing: Drawing, out: &mut dyn Write) -> io::Result<()> {
    let graph = report.graph;
    writeln!(out, "{}", words::question(report.task))?;
    write!(
        out,
        "graph {}: {} vertices, {} edges",
        Place::file(report.source),
        grouped(graph.vertices() as u128),
        grouped(graph.edges() as u128)
    )?;
    for (labels, of) in [(graph.vertex_label_count(), "vertex"), (graph.edge_label_count(), "edge")]
    {
        if labels > 0 {
            write!(out, ", {labels} {of} labels")?;
        }
    }
    writeln!(out, "; device {} ({} threads)", report.device, report.threads)?;
    writeln!(out)?;

    if let Some((precision, found)) = report.estimated {
        estimate(precision, found, out)?;
        return closing(report, out);
    }
    let counted = words::counted(report.task);
    let unknown = report.nothing_known();
    let shown = |count: u128| match (unknown, report.lower_bounds()) {
        (true, _) => "?".to_string(),
        (false, true) => format!("≥ {}", grouped(count)),
        (false, false) => grouped(count),
    };
    let drawn = drawing.wanted(report.outcome.results.len());
    let mut table = new_table();
    table.set_content_arrangement(ContentArrangement::Disabled);
    let picture = drawn.then_some("");
    let header = ["pattern", "vertices"].into_iter().chain(picture).chain(["edges", counted]);
    table.set_header(header.collect::<Vec<_>>());
    for r in &report.outcome.results {
        let edges: Vec<String> =
            r.pattern.edges().iter().map(|(i, j)| format!("{i}-{j}")).collect();
        // A long list of edges says less than its length.
        let edges =
            if edges.len() > 12 { format!("{} edges", edges.len()) } else { edges.join(" ") };
        let vertices = r.pattern.vertices().to_string();
        let mut row = vec![labelled_name(&r.pattern), vertices, edges, shown(r.count)];
        if drawn {
            row.insert(2, characters::drawn(&r.pattern).join("\n"));
        }
        table.add_row(row);
    }
    for &(size, count) in &report.outcome.larger_cliques {
        let edges = format!("{} edges", size * (size - 1) / 2);
        let mut row = vec![format!("{size}-clique"), size.to_string(), edges, shown(count)];
        if drawn {
            row.insert(2, String::new());
        }
        table.add_row(row);
    }
    for column in [1, if drawn { 4 } else { 3 }] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if report.outcome.results.is_empty() && report.outcome.larger_cliques.is_empty() {
        writeln!(out, "no pattern")?;
    } else {
        writeln!(out, "{table}")?;
    }

    if let Some(numbers) = report.per {
        per(numbers, out)?;
    }

    write!(out, "total {}; ", shown(report.total()))?;
    closing(report, out)
}

/// An estimate: never a number alone, always with what is not known of it.
fn estimate(precision: Precision, found: &Estimated, out: &mut dyn Write) -> io::Result<()> {
    let percent = |share: f64| 100.0 * share;
    let of = percent(gramer_engine::estimate::CONFIDENCE);
    writeln!(
        out,
        "ESTIMATE from {} samples (seed {}), no count:",
        grouped(found.samples.into()),
        precision.seed
    )?;
    let mut table = new_table();
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["pattern", "about", &format!("{of} % interval"), "± %", "samples with it"]);
    let row = |estimate: &Estimate| match estimate.interval {
        Some((from, to)) => {
            let half = percent((to - from) / 2.0 / estimate.value);
            [
                about(estimate.value),
                format!("{} to {}", about(from), about(to)),
                format!("{half:.2}"),
            ]
        }
        None => [format!("{}?", about(estimate.value)), "too few samples".into(), "–".into()],
    };
    let total = found.total.as_ref().filter(|_| found.results.len() > 1);
    let lines = found.results.iter().map(|(pattern, estimate)| (labelled_name(pattern), estimate));
    for (name, estimate) in lines.chain(total.map(|total| ("total".to_string(), total))) {
        let [value, interval, half] = row(estimate);
        table.add_row([name, value, interval, half, grouped(estimate.hits.into())]);
    }
    for column in 1..5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    if found.complete {
        writeln!(out, "{table}")?;
        let asked = percent(precision.relative);
        match found.reached {
            true => writeln!(out, "the total is within ±{asked} %, as was asked")?,
            false => writeln!(out, "the total is NOT within ±{asked} %, as was asked")?,
        }
    }
    Ok(())
}

/// Times, what devices say, and why the run ended before its end.
fn closing(report: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (times, unknown) = (report.times, report.nothing_known());
    write!(out, "load {}, ", time(times.load))?;
    // A graph that is read in order, or needs none, has no such phase.
    if !times.prepare.is_zero() {
        write!(out, "prepare {}, ", time(times.prepare))?;
    }
    writeln!(out, "mine {}", time(times.mine))?;
    for device in report.outcome.devices.iter().filter(|d| d.metrics.iter().any(|m| m.headline)) {
        measured(device, out)?;
    }
    if let Some(listed) = report.listed {
        writeln!(out, "{} {} listed", grouped(listed.into()), report.listed_what())?;
    }
    let early = match report.stopped {
        Some(Stopped::Interrupt) => "interrupted",
        Some(Stopped::TimeLimit) => "INCOMPLETE, stopped at the time limit",
        Some(Stopped::Limit) => {
            return writeln!(out, "stopped at the limit: the counts are lower bounds");
        }
        None => return Ok(()),
    };
    if unknown {
        writeln!(out, "{early} before anything was found: nothing can be said of the answer")
    } else if matches!(report.task, Task::Fsm { .. }) {
        writeln!(out, "{early}: larger patterns are missing, those found are right")
    } else {
        writeln!(out, "{early}: the counts are what had been found, lower bounds")
    }
}

/// Counts per vertex or edge: a table of the columns, then what was asked of each.
fn per(numbers: &PerReport, out: &mut dyn Write) -> io::Result<()> {
    let (one, all) = match numbers.per {
        Per::Vertex => ("vertex", "vertices"),
        Per::Edge => ("edge", "edges"),
    };
    let orbits = numbers.columns.iter().any(|column| column.orbit.is_some());
    writeln!(out, "\nper {one}, {} {all}:", grouped(numbers.items as u128))?;
    let mut table = new_table();
    table.set_content_arrangement(ContentArrangement::Disabled);
    let largest = format!("largest ({one}: count)");
    table.set_header(match orbits {
        true => vec!["pattern", "orbit", "sum", &largest],
        false => vec!["pattern", "sum", &largest],
    });
    for column in &numbers.columns {
        let top: Vec<String> =
            column.top.iter().map(|(item, count)| format!("{item}: {}", grouped(*count))).collect();
        let mut row = vec![column.name.clone()];
        row.extend(column.orbit.as_ref().map(|orbit| orbit.number.to_string()));
        // A line each, where few columns are shown.
        row.extend([grouped(column.sum), top.join(if orbits { "; " } else { "\n" })]);
        table.add_row(row);
    }
    for column in 1..if orbits { 3 } else { 2 } {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    writeln!(out, "{table}")?;
    for column in numbers.columns.iter().filter(|column| !column.histogram.is_empty()) {
        let orbit = column.orbit.as_ref();
        let orbit = orbit.map_or(String::new(), |orbit| format!(", orbit {}", orbit.number));
        writeln!(out, "{}{orbit}: {all} by count", column.name)?;
        for bin in &column.histogram {
            writeln!(out, "  {bin}: {}", grouped(bin.items.into()))?;
        }
    }
    Ok(())
}

/// What a device measured: a line for each section.
fn measured(device: &DeviceMetrics, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "measured by {}:", device.device)?;
    let shown: Vec<&Metric> = device.metrics.iter().filter(|m| m.headline).collect();
    for section in shown.chunk_by(|a, b| parts(a).0 == parts(b).0) {
        let items: Vec<String> = section.iter().map(|m| item(m)).collect();
        let name = parts(section[0]).0.replace('_', " ");
        writeln!(out, "  {name}: {}", items.join(", "))?;
    }
    Ok(())
}

/// Section and name of a metric.
fn parts(metric: &Metric) -> (&str, &str) {
    metric.name.split_once('.').unwrap_or(("", &metric.name))
}

/// `cycles 1,234`, `clock 200 MHz`, `high hits 12.50 %`.
fn item(metric: &Metric) -> String {
    let name = parts(metric).1.replace('_', " ");
    let unit = |unit: &str| match unit {
        // The name says it.
        "" => String::new(),
        unit if name.split(' ').any(|word| word == unit) => String::new(),
        unit => format!(" {unit}"),
    };
    match &metric.value {
        Value::Count(n) | Value::Setting(n) => {
            format!("{name} {}{}", grouped((*n).into()), unit(&metric.unit))
        }
        Value::Counts(all) => {
            let all: Vec<String> = all.iter().map(|&n| grouped(n.into())).collect();
            format!("{name} {}{}", all.join(" "), unit(&metric.unit))
        }
        Value::Seconds(s) => format!("{name} {}", exact_time(*s)),
        share @ Value::Share { .. } => {
            format!("{name} {:.2} %", 100.0 * share.number().unwrap_or(0.0))
        }
        Value::Text(text) => format!("{name} {text}"),
        other => format!("{name} {other:?}"),
    }
}
