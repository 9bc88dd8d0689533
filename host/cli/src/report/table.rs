//! The report for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement};

use gramer_base::counted::{counted, noun};
use gramer_base::error::{Place, said};
use gramer_engine::estimate::Estimate;
use gramer_engine::metrics::{Metric, Value};
use gramer_engine::{DeviceMetrics, Line, Per, Precision, SampledCounts, Subject};
use gramer_graph::Graph;
use gramer_graph::read::Format;
use gramer_pattern::info::EarlyEnd;
use gramer_pattern::labelled_name_in;
use gramer_picture::characters;
use gramer_picture::number::{about, grouped};
use gramer_picture::per::{Item, PerReport};

use super::symbols::{Symbols, exact_time, new_table, symbols, time};
use super::{Answer, StopReason};

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

    /// Resolves the setting for standard output, a terminal or not. Must be called before a device is opened, since
    /// that may redirect standard output.
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
    writeln!(out, "{}", report.info().question)?;
    // An edge list needs no word.
    let format = report.format.filter(|format| !matches!(format, Format::Edges | Format::Image));
    let format = format.map_or(String::new(), |format| format!(" ({format})"));
    write!(
        out,
        "graph {}{format}: {} {}, {} {}",
        Place::file(report.source),
        grouped(graph.vertices() as u128),
        noun(graph.vertices(), "vertex", "vertices"),
        grouped(graph.edges() as u128),
        noun(graph.edges(), "edge", "edges")
    )?;
    for (labels, of) in [(graph.vertex_label_count(), "vertex"), (graph.edge_label_count(), "edge")]
    {
        if labels > 0 {
            write!(out, ", {labels} {of} {}", noun(labels, "label", "labels"))?;
        }
    }
    let threads = counted(report.threads, "thread", "threads");
    writeln!(out, "; device {} ({threads})", report.device)?;
    writeln!(out)?;

    if let Some((precision, found)) = report.estimated {
        estimate(precision, found, graph, out)?;
        return closing(report, out);
    }
    lines(report, drawing, out)?;

    if let Some(numbers) = report.per {
        per(numbers, graph, out)?;
    }

    if let Some(total) = report.total() {
        write!(out, "total {}; ", report.shown(total))?;
    }
    closing(report, out)
}

/// The lines of an answer; with sizes and edges where there are patterns.
fn lines(report: &Answer<'_>, drawing: Drawing, out: &mut dyn Write) -> io::Result<()> {
    let lines: Vec<Line<'_>> = report.outcome.lines().collect();
    if lines.is_empty() {
        return writeln!(out, "no pattern");
    }
    let sized = lines.iter().any(|line| line.of.size().is_some());
    let drawn = sized && drawing.wanted(report.outcome.results.len());
    let mut table = new_table();
    table.set_content_arrangement(ContentArrangement::Disabled);
    let unit = report.info().unit;
    table.set_header(match (sized, drawn) {
        (true, true) => vec!["pattern", "vertices", "drawing", "edges", unit],
        (true, false) => vec!["pattern", "vertices", "edges", unit],
        (false, _) => vec!["", unit],
    });
    for line in &lines {
        let mut row = vec![line.of.name_in(report.graph)];
        if sized {
            row.push(line.of.size().map_or_else(String::new, |(vertices, _)| vertices.to_string()));
        }
        if drawn {
            let picture = |pattern| characters::drawn(pattern).join("\n");
            row.push(line.of.pattern().map_or_else(String::new, picture));
        }
        if sized {
            row.push(edges(&line.of));
        }
        row.push(report.shown(line.count));
        table.add_row(row);
    }
    let last = 1 + 2 * usize::from(sized) + usize::from(drawn);
    for column in [1, last] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    writeln!(out, "{table}")
}

/// The edges of a pattern, or their number where the list says less than its length.
fn edges(of: &Subject) -> String {
    match (of.pattern(), of.size()) {
        (Some(pattern), Some((_, edges))) if edges <= 12 => {
            let edges: Vec<String> =
                pattern.edges().iter().map(|(i, j)| format!("{i}-{j}")).collect();
            edges.join(" ")
        }
        (_, Some((_, edges))) => counted(edges, "edge", "edges"),
        (_, None) => String::new(),
    }
}

/// An estimate: never a number alone, always with what is not known of it.
fn estimate(
    precision: Precision,
    found: &SampledCounts,
    graph: &Graph,
    out: &mut dyn Write,
) -> io::Result<()> {
    let percent = |share: f64| 100.0 * share;
    let of = percent(gramer_engine::estimate::CONFIDENCE);
    writeln!(
        out,
        "ESTIMATE from {} {} (seed {}), no count:",
        grouped(found.samples.into()),
        noun(found.samples, "sample", "samples"),
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
    let named = |pattern| labelled_name_in(pattern, graph);
    let lines = found.results.iter().map(|(pattern, estimate)| (named(pattern), estimate));
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
            true => writeln!(out, "the total is within ±{asked} %, as requested")?,
            false => writeln!(out, "the total is NOT within ±{asked} %, as requested")?,
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
        writeln!(out, "{} {} listed", grouped(listed.into()), report.listed_what(listed))?;
    }
    let early = match report.stopped {
        Some(StopReason::Interrupt) => "interrupted",
        Some(StopReason::TimeLimit) => "INCOMPLETE, stopped at the time limit",
        Some(StopReason::Limit) => {
            return writeln!(out, "stopped at the limit: the counts are lower bounds");
        }
        None => return Ok(()),
    };
    if unknown {
        writeln!(out, "{early} before the first result: nothing is known of the answer")
    } else if report.info().early == EarlyEnd::Lines {
        writeln!(out, "{early}: larger patterns are missing, those found are right")
    } else {
        writeln!(out, "{early}: the counts are those found so far, lower bounds")
    }
}

/// Counts per vertex or edge: a table of the columns, then the requested details of each.
fn per(numbers: &PerReport, graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    let (one, all) = match numbers.per {
        Per::Vertex => ("vertex", "vertices"),
        Per::Edge => ("edge", "edges"),
        Per::Graph => ("graph", "graphs"),
    };
    let orbits = numbers.columns.iter().any(|column| column.orbit.is_some());
    let items = noun(numbers.items, one, all);
    writeln!(out, "\nper {one}, {} {items}:", grouped(numbers.items as u128))?;
    let mut table = new_table();
    table.set_content_arrangement(ContentArrangement::Disabled);
    let summed = numbers.columns.iter().any(|column| column.sum.is_some());
    let largest = format!("largest ({one}: {})", if summed { "count" } else { "number" });
    table.set_header(match (orbits, summed) {
        (true, _) => vec!["pattern", "orbit", "sum", &largest],
        (false, true) => vec!["pattern", "sum", &largest],
        (false, false) => vec!["", &largest],
    });
    for column in &numbers.columns {
        let shown = |(item, count): &(Item, u128)| {
            // One line, and nothing that a terminal would obey.
            format!("{}: {}", said(&item.shown(graph)), grouped(*count))
        };
        let top: Vec<String> = column.top.iter().map(shown).collect();
        let mut row = vec![column.name.clone()];
        row.extend(column.orbit.as_ref().map(|orbit| orbit.number.to_string()));
        // A line each, where few columns are shown.
        if summed {
            row.push(column.sum.map_or_else(String::new, grouped));
        }
        row.push(top.join(if orbits { "; " } else { "\n" }));
        table.add_row(row);
    }
    for column in 1..1 + usize::from(orbits) + usize::from(summed) {
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

/// Writes the measurements of a device, one line per section.
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
