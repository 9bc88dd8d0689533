//! The report for people.

use std::io::{self, Write};
use std::time::Duration;

use comfy_table::{CellAlignment, ContentArrangement};

use gramer_engine::estimate::Estimate;
use gramer_engine::metrics::{Metric, Value};
use gramer_engine::{DeviceMetrics, Estimated, Per, Precision};
use gramer_graph::error::Place;
use gramer_pattern::task::{Measure, SizeLimit, Task};

use gramer_pattern::labelled_name;

use super::per::PerReport;
use super::symbols::new_table;
use super::{Report, Stopped};

/// Writes the report as a heading, a table and a closing line.
///
/// # Errors
/// Those of `out`.
pub fn table(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let graph = report.graph;
    writeln!(out, "{}", question(report.task))?;
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
    let counted = match report.task {
        Task::Fsm { measure: Measure::Mni, .. } => "support",
        Task::Match { mappings: true, .. } => "mappings",
        _ => "count",
    };
    let unknown = report.nothing_known();
    let shown = |count: u128| match (unknown, report.lower_bounds()) {
        (true, _) => "?".to_string(),
        (false, true) => format!("≥ {}", grouped(count)),
        (false, false) => grouped(count),
    };
    let mut table = new_table();
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["pattern", "vertices", "edges", counted]);
    for r in &report.outcome.results {
        let edges: Vec<String> =
            r.pattern.edges().iter().map(|(i, j)| format!("{i}-{j}")).collect();
        // A long list of edges says less than its length.
        let edges =
            if edges.len() > 12 { format!("{} edges", edges.len()) } else { edges.join(" ") };
        let vertices = r.pattern.vertices().to_string();
        table.add_row([labelled_name(&r.pattern), vertices, edges, shown(r.count)]);
    }
    for &(size, count) in &report.outcome.larger_cliques {
        let edges = format!("{} edges", size * (size - 1) / 2);
        table.add_row([format!("{size}-clique"), size.to_string(), edges, shown(count)]);
    }
    for column in [1, 3] {
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

/// A number with as many digits as an estimate has.
fn about(value: f64) -> String {
    if value < 1e6 { format!("{value:.0}") } else { format!("{value:.4e}") }
}

/// Times, what devices say, and why the run ended before its end.
fn closing(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (times, unknown) = (report.times, report.nothing_known());
    writeln!(
        out,
        "load {}, prepare {}, mine {}",
        seconds(times.load),
        seconds(times.prepare),
        seconds(times.mine)
    )?;
    for device in &report.outcome.devices {
        measured(device, out)?;
    }
    if let Some(listed) = report.listed {
        let what = match report.per.map(|numbers| numbers.per) {
            None => "embeddings",
            Some(Per::Vertex) => "vertices",
            Some(Per::Edge) => "edges",
        };
        writeln!(out, "{} {what} listed", grouped(listed as u128))?;
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
        row.extend(column.orbit.map(|orbit| orbit.to_string()));
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
        let orbit = column.orbit.map_or(String::new(), |orbit| format!(", orbit {orbit}"));
        writeln!(out, "{}{orbit}: {all} by count", column.name)?;
        for bin in &column.histogram {
            let range = match bin.from == bin.to {
                true => grouped(bin.from),
                false => format!("{} to {}", grouped(bin.from), grouped(bin.to)),
            };
            writeln!(out, "  {range}: {}", grouped(bin.items.into()))?;
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
        writeln!(out, "  {}: {}", parts(section[0]).0, items.join(", "))?;
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
        Value::Seconds(s) => format!("{name} {s:.6} s"),
        share @ Value::Share { .. } => {
            format!("{name} {:.2} %", 100.0 * share.number().unwrap_or(0.0))
        }
        Value::Text(text) => format!("{name} {text}"),
        other => format!("{name} {other:?}"),
    }
}

/// The task in words, with the question that it answers.
fn question(task: &Task) -> String {
    let induced = format!("{}-induced", task.induced());
    match task {
        Task::Clique { k } => format!("cliques of {k} vertices ({induced})"),
        Task::CliqueSizes { smallest, largest } => {
            format!("cliques of {smallest} to {largest} vertices ({induced})")
        }
        Task::MaximumClique => format!("a largest clique ({induced})"),
        Task::MaximalCliques => format!("maximal cliques by size ({induced})"),
        Task::Motif { k, .. } => format!("motifs of {k} vertices, {induced}"),
        Task::Fsm { limit, support, measure } => {
            let limit = match limit {
                SizeLimit::MaxVertices(n) => format!("{n} vertices"),
                SizeLimit::MaxEdges(n) => format!("{n} edges"),
            };
            let measure = match measure {
                Measure::Embeddings => "embeddings",
                Measure::Mni => "minimum-image support",
            };
            format!(
                "frequent patterns of up to {limit}, at least {support} by {measure}, {induced}"
            )
        }
        Task::Match { mappings, .. } => {
            let what = if *mappings { "mappings" } else { "occurrences" };
            format!("{what} of a pattern, {induced}")
        }
        other => format!("{}, {induced}", other.name()),
    }
}

/// A number with its digits in groups of three.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn seconds(time: Duration) -> String {
    let s = time.as_secs_f64();
    if s < 0.1 { format!("{:.1} ms", 1e3 * s) } else { format!("{s:.2} s") }
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_come_in_groups_of_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
