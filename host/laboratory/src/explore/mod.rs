//! Sweeps: a task on many variants of a machine, each on the simulated core.
//!
//! | module | what it holds |
//! |---|---|
//! | [`parameter`] | what can be varied, and what a value does to machine and run |
//! | [`simulator`] | `gramer-sim` as a child a point, with a cache of results |
//! | [`measures`] | the numbers of a run |
//! | [`mod@plot`] | SVG |
//! | [`sample`] | cycles of large runs from a part of their work units |
//!
//! This program doesn't contain the simulated core: a model is built and loaded by the child.

pub mod measures;
pub mod parameter;
pub mod plot;
pub mod sample;
pub mod simulator;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gramer_engine::Engine;
use gramer_engine::cpu::Cpu;
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_pattern;
use gramer_pattern::labelled_name;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};
use gramer_picture::page::{PreEscaped, document};
use measures::{Measures, Metric};
use parameter::{Point, Setting};
use plot::{Plot, Series};
use simulator::{Ran, SimulatedTask, Simulator};

/// Understands `clique:5`, `motif:4` and `fsm:3:2000` (vertices, support): what the simulator is to
/// do.
///
/// # Errors
/// [`Error::Usage`] for another form or a size out of range.
pub fn task(text: &str) -> Result<(SimulatedTask, Task)> {
    let form = || {
        let forms = "clique:K, motif:K or fsm:VERTICES:SUPPORT";
        Error::usage(format!("the task is {text:?}, but must be {forms}"))
    };
    let (kind, size) = text.split_once(':').ok_or_else(form)?;
    let (size, support) = match kind {
        "fsm" => size.split_once(':').ok_or_else(form)?,
        _ => (size, ""),
    };
    let k: usize = size.parse().map_err(|_| form())?;
    let task = match kind {
        "clique" => Task::Clique { k },
        "motif" => Task::Motif { k, induced: Induced::Vertex },
        "fsm" => Task::Fsm {
            limit: SizeLimit::MaxVertices(k),
            support: support.parse().map_err(|_| form())?,
            measure: Measure::Embeddings,
        },
        _ => return Err(form()),
    };
    task.check()?;
    let mut words = vec![kind, "-k", size];
    if !support.is_empty() {
        words.extend(["--support", support]);
    }
    let words = words.into_iter().map(String::from).collect();
    Ok((SimulatedTask { name: text.to_string(), words }, task))
}

/// The paper's short name of a task: `5-CF`, `3-MC`, `FSM-2K`.
pub fn short_name(task: &Task) -> String {
    match task {
        Task::Clique { k } => format!("{k}-CF"),
        Task::Motif { k, .. } => format!("{k}-MC"),
        Task::Fsm { support, .. } if support % 1000 == 0 => format!("FSM-{}K", support / 1000),
        Task::Fsm { support, .. } => format!("FSM-{support}"),
        other => other.name().into(),
    }
}

/// A point of a sweep and what came of it.
#[derive(Debug, Clone)]
pub struct Measured {
    /// What was set.
    pub settings: Vec<Setting>,
    /// Its numbers, unless it failed or took too long.
    pub measures: Result<Measures, String>,
    /// It took more cycles than allowed.
    pub given_up: bool,
}

/// Runs a task on all points and compares every count with the CPU engine's.
///
/// # Errors
/// Those of [`Simulator::run`], of the CPU engine, and [`Error::Device`] if a count differs.
pub fn sweep(
    simulator: &Simulator,
    graph: &Graph,
    simulated: &SimulatedTask,
    task: &Task,
    points: &[Point],
    context: &Context,
    told: &(dyn Fn(usize, usize, &Ran) + Sync),
) -> Result<Vec<Measured>> {
    let ran = simulator.run(graph, simulated, points, context, told)?;
    let outcome = Cpu.run(graph, task, None, context)?;
    if !outcome.complete {
        return Err(Error::Interrupted);
    }
    let labelled = matches!(task, Task::Fsm { .. });
    let name = if labelled { labelled_name } else { gramer_pattern::name };
    let expected: BTreeMap<String, u128> =
        outcome.results.iter().map(|c| (name(&c.pattern), c.count)).collect();
    points
        .iter()
        .zip(ran)
        .map(|(point, ran)| {
            let given_up = matches!(ran, Ran::Limit);
            let measures = match ran {
                Ran::Done(kept) => {
                    let m = &point.machine.machine;
                    Ok(Measures::new(*kept, m.clock_mhz, m.processing_units))
                }
                Ran::Limit => {
                    Err(format!("left out by the setting `max_cycles` {}", simulator.max_cycles))
                }
                Ran::Failed(said) => Err(said),
            };
            if let Ok(measures) = &measures {
                match labelled {
                    true => same_patterns(&expected, measures, &point.settings)?,
                    false => same_counts(&expected, measures, &point.settings)?,
                }
            }
            Ok(Measured { settings: point.settings.clone(), measures, given_up })
        })
        .collect()
}

/// The answer must not depend on the machine.
fn same_counts(
    expected: &BTreeMap<String, u128>,
    measures: &Measures,
    settings: &[Setting],
) -> Result<()> {
    for (name, count) in measures.counts() {
        // The only pattern has several names: a triangle is a 3-clique.
        let only = if expected.len() == 1 { expected.values().next() } else { None };
        let right = only.or(expected.get(&name)).copied().unwrap_or(0);
        if right != u128::from(count) {
            return Err(Error::Device(format!(
                "{}: the core counted {count} of {name}, the CPU engine {right}",
                described(settings)
            )));
        }
    }
    match measures.counts().len() {
        0 => Err(Error::Device(format!("{}: the core counted nothing", described(settings)))),
        _ => Ok(()),
    }
}

/// As [`same_counts`] for tasks that find their patterns: the same ones, no matter how many.
fn same_patterns(
    expected: &BTreeMap<String, u128>,
    measures: &Measures,
    settings: &[Setting],
) -> Result<()> {
    let found: BTreeMap<String, u128> =
        measures.counts().into_iter().map(|(name, count)| (name, count.into())).collect();
    if found == *expected {
        return Ok(());
    }
    let other = |(name, count): (&String, &u128)| {
        (expected.get(name) != Some(count)).then(|| format!("{count} of {name}"))
    };
    let wrong = found.iter().find_map(other).unwrap_or_else(|| "too few patterns".into());
    Err(Error::Device(format!(
        "{}: the core found {wrong}, unlike the CPU engine",
        described(settings)
    )))
}

/// `slots=2 stealing=off`.
pub fn described(settings: &[Setting]) -> String {
    let all: Vec<String> =
        settings.iter().map(|s| format!("{}={}", s.parameter.name(), s.text)).collect();
    if all.is_empty() { "base".into() } else { all.join(" ") }
}

/// A sweep as CSV: a column a parameter, then every metric (shares from 0 to 1).
pub fn csv(all: &[Measured]) -> String {
    let mut text = String::new();
    let Some(first) = all.first() else { return text };
    for setting in &first.settings {
        let _ = write!(text, "{},", setting.parameter.name());
    }
    let names: Vec<&str> = Metric::all().map(Metric::name).collect();
    let _ = writeln!(text, "{},note", names.join(","));
    for point in all {
        for setting in &point.settings {
            let _ = write!(text, "{},", setting.text);
        }
        match &point.measures {
            Ok(measures) => {
                for metric in Metric::all() {
                    let _ = write!(text, "{},", measures.get(metric));
                }
            }
            Err(said) => {
                text += &",".repeat(names.len());
                let _ = write!(text, "\"{}\"", said.replace('"', "'").replace('\n', " "));
            }
        }
        text.push('\n');
    }
    text
}

/// The points as a plot of one metric: the parameter at `x` along the axis, a series for each
/// combination of the others. With `relative`, values are divided by the series' first, or for
/// cycles the other way round: a speed-up.
pub fn plot(all: &[Measured], x: usize, metric: Metric, relative: bool, title: &str) -> Plot {
    let mut positions: Vec<String> = vec![];
    let mut series: Vec<Series> = vec![];
    let mut x_title = String::new();
    for point in all {
        let Some(setting) = point.settings.get(x) else { continue };
        x_title = setting.parameter.title().to_string();
        let position = positions.iter().position(|p| *p == setting.text).unwrap_or_else(|| {
            positions.push(setting.text.clone());
            positions.len() - 1
        });
        let others: Vec<Setting> = point
            .settings
            .iter()
            .enumerate()
            .filter(|(at, s)| *at != x && varies(all, s))
            .map(|(_, s)| s.clone())
            .collect();
        let name = if others.is_empty() { metric.name().into() } else { described(&others) };
        let Ok(measures) = &point.measures else { continue };
        let value = (position, measures.shown(metric), 0.0);
        match series.iter_mut().find(|s| s.name == name) {
            Some(series) => series.points.push(value),
            None => series.push(Series { name, points: vec![value] }),
        }
    }
    let time = matches!(metric, Metric::Cycles | Metric::Milliseconds);
    if relative {
        for series in &mut series {
            let first = series.points[0].1;
            for point in &mut series.points {
                point.1 = if time { first / point.1 } else { point.1 / first };
            }
        }
    }
    let y_title = match (relative, time) {
        (false, _) => metric.title().to_string(),
        (true, true) => "speed-up over the first".into(),
        (true, false) => format!("{}, first = 1", metric.name()),
    };
    let lines = all.iter().filter_map(|p| p.settings.get(x)).all(|s| s.number.is_some());
    let title = title.to_string();
    Plot { title, x_title, y_title, x: positions, lines, logarithmic: false, series }
}

/// A sweep as a page: its table, and the plots.
pub fn page(title: &str, header: &[String], rows: &[Vec<String>], plots: &[Plot]) -> String {
    let mut body = format!("<h1>{}</h1>\n", escaped(title));
    body +=
        "<p>Simulated; counts are equal to the CPU engine's.</p>\n<div class=\"scroll\"><table>";
    let row = |cells: &[String], tag: &str| {
        let cell = |text: &String| format!("<{tag}>{}</{tag}>", escaped(text));
        format!("<tr>{}</tr>", cells.iter().map(cell).collect::<String>())
    };
    body += &row(header, "th");
    rows.iter().for_each(|cells| body += &row(cells, "td"));
    body += "</table></div>\n";
    for plot in plots {
        body += &format!("<figure>{}</figure>\n", plot.svg());
    }
    document(title, PreEscaped(body))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Whether the parameter of a setting has several values.
fn varies(all: &[Measured], setting: &Setting) -> bool {
    all.iter()
        .flat_map(|p| &p.settings)
        .any(|s| s.parameter == setting.parameter && s.text != setting.text)
}
