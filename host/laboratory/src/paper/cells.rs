//! Cells of tables and CSV files: points by their settings, figures as text.

use super::Input;
use super::report::ORDERS;
use crate::explore::measures::{Measures, Metric};
use crate::explore::parameter::Parameter;
use crate::explore::{PointResult, task};
use gramer_pattern::task::Task;

/// `1,2,4,…` up to `last`.
pub(super) fn doubling(first: u32, last: u32) -> String {
    let all = std::iter::successors(Some(first), |n| Some(n * 2)).take_while(|&n| n <= last);
    all.map(|n| n.to_string()).collect::<Vec<_>>().join(",")
}

/// The value of a parameter of a point.
pub(super) fn value(point: &PointResult, parameter: Parameter) -> &str {
    point.settings.iter().find(|s| s.parameter == parameter).map_or("", |s| &s.text)
}

/// The measures of a point that has some.
pub(super) fn measures(point: &PointResult) -> Option<&Measures> {
    point.measures.as_ref().ok()
}

/// The measures of the point with these values.
pub(super) fn at<'a>(all: &'a [PointResult], wanted: &[(Parameter, &str)]) -> Option<&'a Measures> {
    let fits =
        |p: &&PointResult| wanted.iter().all(|&(parameter, text)| value(p, parameter) == text);
    all.iter().find(fits).and_then(measures)
}

/// Rows of a CSV file that holds several sweeps: graph, task, settings, metrics.
pub(super) struct Csv(pub(super) String);

impl Csv {
    pub(super) fn new(settings: &[Parameter]) -> Self {
        let names: Vec<&str> = settings.iter().map(|p| p.name()).collect();
        let metrics: Vec<&str> = Metric::all().map(Metric::name).collect();
        Csv(format!("graph,task,{},{},half_interval,run\n", names.join(","), metrics.join(",")))
    }

    pub(super) fn add(
        &mut self,
        input: &Input,
        task: &str,
        settings: &[Parameter],
        all: &[PointResult],
    ) {
        for point in all {
            let found = measures(point);
            let values: Vec<&str> = settings.iter().map(|&p| value(point, p)).collect();
            let number = |n: f64| if n.is_nan() { String::new() } else { n.to_string() };
            let metrics: Vec<String> =
                Metric::all().map(|m| found.map_or(String::new(), |f| number(f.get(m)))).collect();
            let half = found.and_then(Measures::half);
            let run = match (found, half) {
                (None, _) => "no",
                (Some(_), None) => "whole",
                (Some(_), Some(_)) => "sample",
            };
            let half = half.map_or(String::new(), |half| format!("{half:.0}"));
            let (values, metrics) = (values.join(","), metrics.join(","));
            self.0 += &format!("{},{task},{values},{metrics},{half},{run}\n", input.name);
        }
    }
}

/// What stands in a table for a point that was not run.
pub(super) const NOT_RUN: &str = "not run";

/// The points of a sweep with these values, in both orders of comparison.
pub(super) fn in_orders<'a>(
    all: &'a [PointResult],
    wanted: &[(Parameter, &str)],
) -> [Option<&'a Measures>; 2] {
    ORDERS.map(|order| at(all, &[wanted, &[(Parameter::Order, order)]].concat()))
}

/// Whether this is frequent subgraph mining that was run and found no frequent pattern.
pub(super) fn finds_nothing(task: &str, found: Option<&Measures>) -> bool {
    let whole = found.filter(|m| m.half().is_none());
    task.starts_with("fsm") && whole.is_some_and(|m| m.counts().is_empty())
}

/// A table as CSV; cells with commas are in quotes.
pub(crate) fn csv_table(header: &[&str], rows: &[Vec<String>]) -> String {
    let cell = |text: &str| match text.contains(',') {
        true => format!("\"{text}\""),
        false => text.into(),
    };
    let mut text = header.join(",") + "\n";
    for row in rows {
        let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

/// Cycles for a table, sampled ones with ≈ and the interval.
pub(super) fn cycles(measures: Option<&Measures>) -> String {
    match measures.map(|m| (m.cycles(), m.half())) {
        None => NOT_RUN.into(),
        Some((cycles, None)) => cycles.to_string(),
        Some((cycles, Some(half))) => format!("≈ {cycles} ± {half:.0}"),
    }
}

/// How many times as fast `to` is as `from`, and half the interval of it if samples are in it.
pub(super) fn speed_up(from: &Measures, to: &Measures) -> (f64, f64) {
    let times = from.get(Metric::Cycles) / to.get(Metric::Cycles);
    (times, times * (from.uncertainty() + to.uncertainty()))
}

/// Such a number for a table.
pub(super) fn times(number: Option<(f64, f64)>, digits: usize) -> String {
    match number {
        None => NOT_RUN.into(),
        Some((value, half)) if half > 0.0 => format!("≈ {value:.digits$} ± {half:.digits$}"),
        Some((value, _)) => format!("{value:.digits$}"),
    }
}

/// The names of an axis whose points are graphs and tasks: the tasks, and the graph of each.
pub(super) fn axis_names(cases: &[[String; 2]]) -> (Vec<String>, Vec<String>) {
    cases.iter().map(|[graph, task]| (task.clone(), graph.clone())).unzip()
}

/// A task as plots name it: `5-cliques`.
pub(super) fn of_task(name: &str) -> String {
    task(name).map_or_else(|_| name.into(), |(_, task)| in_plots(&task))
}

/// The same of a task that was read.
pub(super) fn in_plots(task: &Task) -> String {
    match task {
        Task::Clique { k } => format!("{k}-cliques"),
        Task::Motif { k, .. } => format!("{k}-motifs"),
        _ => "frequent patterns".into(),
    }
}

/// Short name of a task, `5-CF`.
pub(super) fn short(name: &str) -> String {
    task(name).map_or_else(|_| name.into(), |(_, task)| crate::explore::short_name(&task))
}
