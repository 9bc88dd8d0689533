//! The report for people.

use std::io::{self, Write};
use std::time::Duration;

use comfy_table::{CellAlignment, ContentArrangement};

use gramer_engine::Measured;
use gramer_graph::error::Place;
use gramer_pattern::task::{Measure, SizeLimit, Task};

use gramer_pattern::labelled_name;

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

    let counted = match report.task {
        Task::Fsm { measure: Measure::Mni, .. } => "support",
        Task::Match { mappings: true, .. } => "mappings",
        _ => "count",
    };
    let unknown = report.nothing_known();
    let shown = |count: u128| if unknown { "?".to_string() } else { grouped(count) };
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

    let times = report.times;
    writeln!(
        out,
        "total {}; load {}, prepare {}, mine {}",
        shown(report.total()),
        seconds(times.load),
        seconds(times.prepare),
        seconds(times.mine)
    )?;
    if let Some(measured) = &report.outcome.measured {
        accelerator(measured, out)?;
    }
    if let Some(listed) = report.listed {
        writeln!(out, "{} embeddings listed", grouped(listed as u128))?;
    }
    match report.stopped {
        Some(Stopped::Interrupt) if unknown => {
            writeln!(
                out,
                "interrupted before anything was found: nothing can be said of the answer"
            )
        }
        Some(Stopped::Interrupt) if matches!(report.task, Task::Fsm { .. }) => {
            writeln!(out, "interrupted: larger patterns are missing, those found are right")
        }
        Some(Stopped::Interrupt) => {
            writeln!(out, "interrupted: the counts are what had been found, lower bounds")
        }
        Some(Stopped::Limit) => writeln!(out, "stopped at the limit: the counts are lower bounds"),
        None => Ok(()),
    }
}

/// What the accelerator measured.
fn accelerator(m: &Measured, out: &mut dyn Write) -> io::Result<()> {
    let several = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    writeln!(
        out,
        "{} cycles of machine {} ({:.6} s at {} MHz) in {} of {}",
        grouped(m.longest().into()),
        m.machine,
        m.seconds_at_clock(),
        m.clock_mhz,
        several(m.runs, "run"),
        several(m.compute_units as u64, "compute unit")
    )?;
    for kind in ["vertex", "edge"] {
        let [high, low, misses] = m.shares(kind).map(|share| 100.0 * share);
        writeln!(
            out,
            "{} {kind} accesses: {high:.2} % high-priority hits, {low:.2} % low-priority hits, \
             {misses:.2} % misses",
            grouped(m.counter(&format!("pu.{kind}_accesses")).into())
        )?;
    }
    writeln!(
        out,
        "transfer {} ({:.1} % of the time with the device): {} bytes to it, {} from it",
        seconds(m.transfer),
        100.0 * m.transfer_share(),
        grouped(m.bytes.0.into()),
        grouped(m.bytes.1.into())
    )
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
