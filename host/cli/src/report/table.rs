//! The answer for people.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement};

use gramer_engine::DeviceMetrics;
use gramer_engine::metrics::{Metric, Value};
use gramer_graph::error::Place;
use gramer_pattern::labelled_name;
use gramer_picture::number::{grouped, seconds};
use gramer_picture::{characters, words};

use super::Answer;
use super::symbols::{Symbols, new_table, symbols};

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

/// Writes the answer as a heading, a table and a closing line.
///
/// # Errors
/// Those of `out`.
pub fn table(answer: &Answer<'_>, drawing: Drawing, out: &mut dyn Write) -> io::Result<()> {
    let graph = answer.graph;
    writeln!(out, "{}", words::question(answer.task))?;
    write!(
        out,
        "graph {}: {} vertices, {} edges",
        Place::file(answer.source),
        grouped(graph.vertices() as u128),
        grouped(graph.edges() as u128)
    )?;
    for (labels, of) in [(graph.vertex_label_count(), "vertex"), (graph.edge_label_count(), "edge")]
    {
        if labels > 0 {
            write!(out, ", {labels} {of} labels")?;
        }
    }
    writeln!(out, "; device {} ({} threads)", answer.device, answer.threads)?;
    writeln!(out)?;

    let unknown = answer.nothing_known();
    let shown = |count: u128| if unknown { "?".to_string() } else { grouped(count) };
    let drawn = drawing.wanted(answer.outcome.results.len());
    let mut table = new_table();
    table.set_content_arrangement(ContentArrangement::Disabled);
    let picture = drawn.then_some("");
    let counted = words::counted(answer.task);
    let header = ["pattern", "vertices"].into_iter().chain(picture).chain(["edges", counted]);
    table.set_header(header.collect::<Vec<_>>());
    for r in &answer.outcome.results {
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
    for &(size, count) in &answer.outcome.larger_cliques {
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
    if answer.outcome.results.is_empty() && answer.outcome.larger_cliques.is_empty() {
        writeln!(out, "no pattern")?;
    } else {
        writeln!(out, "{table}")?;
    }

    let times = answer.times;
    writeln!(
        out,
        "total {}; load {}, prepare {}, mine {}",
        shown(answer.total()),
        seconds(times.load),
        seconds(times.prepare),
        seconds(times.mine)
    )?;
    for device in &answer.outcome.devices {
        measured(device, out)?;
    }
    if let Some(listed) = answer.listed {
        writeln!(out, "{} embeddings listed", grouped(listed as u128))?;
    }
    match answer.reservation() {
        Some(reservation) => writeln!(out, "{reservation}"),
        None => Ok(()),
    }
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
        Value::Seconds(s) => format!("{name} {s:.6} s"),
        share @ Value::Share { .. } => {
            format!("{name} {:.2} %", 100.0 * share.number().unwrap_or(0.0))
        }
        Value::Text(text) => format!("{name} {text}"),
        other => format!("{name} {other:?}"),
    }
}
