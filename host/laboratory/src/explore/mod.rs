//! Sweeps: a task on many variants of a machine, each on the simulated core.
//!
//! | module | content |
//! |---|---|
//! | [`parameter`] | parameters to vary, and their effect on machine and run |
//! | [`simulator`] | `gramer-lab simulate` as a child process for each point, with a cache of results |
//! | [`measures`] | metrics of a run |
//! | [`mod@plot`] | SVG |
//! | [`sample`] | cycles of large runs, estimated from a part of their work units |
//!
//! This process does not contain the simulated core: the child builds and loads the model.

pub mod measures;
pub mod parameter;
pub mod plot;
pub mod sample;
pub mod simulator;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gramer_accelerator::settings::Settings;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_cpu::Cpu;
use gramer_engine::{Ask, EngineExt, Facts, Query};
use gramer_graph::Graph;
use gramer_machine::{Accelerator, Core};
use gramer_pattern;
use gramer_pattern::labelled_name;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};
use gramer_picture::number::grouped;
use gramer_picture::page::{PreEscaped, document, numbers};
use maud::html;
use measures::{Measures, Metric};
use parameter::{Point, Setting};
use plot::{Kind, Plot, Series};
use simulator::{RunOutcome, SimulatedTask, Simulator};

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

/// A task in words: `5-clique finding`, `3-motif counting`.
pub fn long_name(task: &Task) -> String {
    match task {
        Task::Clique { k } => format!("{k}-clique finding"),
        Task::Motif { k, .. } => format!("{k}-motif counting"),
        Task::Fsm { support, .. } => {
            format!("frequent subgraph mining, support {}", grouped((*support).into()))
        }
        other => other.name().into(),
    }
}

/// Whether `gramer-lab simulate` does a task on a machine; with a graph, also on its labels and its size.
///
/// # Errors
/// [`Error::Unsupported`] with the limit of the machine.
pub fn supports(machine: &Accelerator, task: &Task, graph: Option<&Graph>) -> Result<()> {
    // Its host mines labelled patterns, from the core's sums, and the simulator has no host.
    if machine.core == Core::Set && matches!(task, Task::Fsm { .. }) {
        let name = &machine.machine.name;
        return Err(Error::Unsupported(format!(
            "machine {name} has a set core, whose simulation doesn't mine labelled patterns"
        )));
    }
    let (query, facts) = (Query::new(task.clone()), graph.map(Facts::of));
    let ask = Ask::new(&query).facts(facts.as_ref());
    ask.check()?;
    let choices = gramer_accelerator::choose_on(machine, &Settings::default(), &ask);
    choices.first(&machine.machine.name, &ask).map(|_| ())
}

/// Point of a sweep with its result.
#[derive(Debug, Clone)]
pub struct PointResult {
    /// Settings.
    pub settings: Vec<Setting>,
    /// Measures, unless it failed or took too long.
    pub measures: Result<Measures, String>,
    /// Whether it exceeded the limit of cycles.
    pub given_up: bool,
}

/// Runs a task on all points and compares every count with the CPU engine's.
///
/// # Errors
/// Errors of [`Simulator::run`], of the CPU engine, and [`Error::Device`] if a count differs.
pub fn sweep(
    simulator: &Simulator,
    graph: &Graph,
    simulated: &SimulatedTask,
    task: &Task,
    points: &[Point],
    context: &Context,
    told: &(dyn Fn(usize, usize, &RunOutcome) + Sync),
) -> Result<Vec<PointResult>> {
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
            let given_up = matches!(ran, RunOutcome::Limit);
            let measures = match ran {
                RunOutcome::Done(kept) => {
                    let m = &point.machine.machine;
                    Ok(Measures::new(*kept, m.clock_mhz, m.processing_units))
                }
                RunOutcome::Limit => {
                    Err(format!("left out by the setting `max_cycles` {}", simulator.max_cycles))
                }
                RunOutcome::Failed(said) => Err(said),
            };
            if let Ok(measures) = &measures {
                match labelled {
                    true => same_patterns(&expected, measures, &point.settings)?,
                    false => same_counts(&expected, measures, &point.settings)?,
                }
            }
            Ok(PointResult { settings: point.settings.clone(), measures, given_up })
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
pub fn csv(all: &[PointResult]) -> String {
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
/// combination of the others. With `relative`, all values are divided by that of the first point, or for
/// cycles the other way round: a speed-up. `of` says what was run.
pub fn plot(all: &[PointResult], x: usize, metric: Metric, relative: bool, of: &str) -> Plot {
    let mut positions: Vec<String> = vec![];
    let mut series: Vec<Series> = vec![];
    let mut x_title = String::new();
    let first =
        all.iter().find_map(|point| Some((point, point.measures.as_ref().ok()?.shown(metric))));
    let time = matches!(metric, Metric::Cycles | Metric::Milliseconds);
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
        let name = if others.is_empty() { metric.title().into() } else { described(&others) };
        let Ok(measures) = &point.measures else { continue };
        let value = measures.shown(metric);
        let value = match (relative, first) {
            (true, Some((_, first))) if time => first / value,
            (true, Some((_, first))) => value / first,
            _ => value,
        };
        let value = (position, value, 0.0);
        match series.iter_mut().find(|s| s.name == name) {
            Some(series) => series.points.push(value),
            None => series.push(Series { points: vec![value], ..Series::new(&name) }),
        }
    }
    let base = first.map_or(String::new(), |(point, _)| described(&varying(all, point)));
    let y_title = match (relative, time) {
        (false, _) => metric.title().to_string(),
        (true, true) => format!("speed-up over {base}"),
        (true, false) => format!("{}, {base} is 1", metric.title()),
    };
    let what = if relative && time { "speed-up" } else { metric.title().trim_end_matches(" in %") };
    let numbers = all.iter().filter_map(|p| p.settings.get(x)).all(|s| s.number.is_some());
    Plot {
        title: format!("{}: {of}", capitalised(what)),
        x_title,
        y_title,
        x: positions,
        groups: vec![],
        kind: if numbers { Kind::Lines } else { Kind::Dots },
        logarithmic: false,
        series,
    }
}

pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |l| l.to_uppercase().chain(letters).collect())
}

/// What a page of a sweep names.
#[derive(Debug)]
pub struct About<'a> {
    /// The task on the graph, in words.
    pub title: &'a str,
    /// The machine that is varied.
    pub machine: &'a Accelerator,
    /// The graph's name and the graph.
    pub graph: (&'a str, &'a Graph),
    /// Of the program.
    pub version: &'a str,
    /// The day of the run.
    pub date: &'a str,
}

/// Sentence on the counts of a sweep.
pub fn counts(all: &[PointResult]) -> String {
    let found = all.iter().filter(|point| point.measures.is_ok()).count();
    match (found, all.len()) {
        (0, 1) => "the point failed: there is no result".into(),
        (0, points) => format!("all {points} points failed: there is no result"),
        (found, points) if found < points => {
            format!("{found} of {points} points have a result; their counts equal the CPU engine's")
        }
        _ => "counts equal the CPU engine's".into(),
    }
}

/// A sweep as a page: what was run, its table, and the plots.
pub fn page(
    about: &About<'_>,
    all: &[PointResult],
    header: &[String],
    rows: &[Vec<String>],
    plots: &[Plot],
) -> String {
    let Accelerator { machine, kernels, .. } = about.machine;
    let (name, graph) = about.graph;
    let model = all.iter().find_map(|p| Some(p.measures.as_ref().ok()?.kept().identity.clone()));
    let settings = all.first().map_or(0, |point| point.settings.len());
    let units = machine.processing_units * kernels.compute_units.max(1);
    let size = format!(
        "{} vertices, {} edges",
        grouped(graph.vertices() as u128),
        grouped(graph.edges() as u128)
    );
    let body = html! {
        header {
            p.task { "gramer-lab explore" }
            h1 { (about.title) }
            p { "Simulated; " (counts(all)) "." }
            dl.facts {
                div {
                    dt { "Machine, before it is varied" }
                    dd {
                        (machine.name)
                        small { (numbers(&format!("{units} PUs, {} MHz", machine.clock_mhz))) }
                    }
                }
                div { dt { "Graph" } dd { (name) small { (numbers(&size)) } } }
                div {
                    dt { "Version" }
                    dd {
                        "gramer " (about.version)
                        @if let Some(model) = model { small { "model " (model) } }
                    }
                }
                div { dt { "Date" } dd { span.n { (about.date) } } }
            }
        }
        section {
            h2 { "Points" }
            div.scroll {
                table {
                    tr {
                        @for (at, cell) in header.iter().enumerate() {
                            th class=[(at >= settings).then_some("right")] { (cell) }
                        }
                    }
                    @for cells in rows {
                        tr {
                            @for (at, cell) in cells.iter().enumerate() {
                                td class=(if at < settings { "n" } else { "numeric" }) { (cell) }
                            }
                        }
                    }
                }
            }
        }
        section {
            h2 { "Plots" }
            @for plot in plots { figure.scroll { (PreEscaped(plot.svg())) } }
        }
    };
    document(about.title, body)
}

/// Whether the parameter of a setting has several values.
fn varies(all: &[PointResult], setting: &Setting) -> bool {
    all.iter()
        .flat_map(|p| &p.settings)
        .any(|s| s.parameter == setting.parameter && s.text != setting.text)
}

/// The settings of a point whose parameters have several values; all where none has.
fn varying(all: &[PointResult], point: &PointResult) -> Vec<Setting> {
    let some: Vec<Setting> = point.settings.iter().filter(|s| varies(all, s)).cloned().collect();
    if some.is_empty() { point.settings.clone() } else { some }
}
