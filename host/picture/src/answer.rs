//! An answer with its context, and its page.

use std::time::Duration;

use gramer_base::counted::noun;
use gramer_engine::estimate::CONFIDENCE;
use gramer_engine::{Outcome, Per, Precision, SampledCounts};
use gramer_graph::Graph;
use gramer_graph::read::Format;
use gramer_pattern::Filter;
use gramer_pattern::info::{EarlyEnd, TaskInfo, Total};
use gramer_pattern::task::Task;
use maud::{Markup, html};

use crate::number::{about, grouped, seconds};
use crate::page::{self, Part, document, numbers, stack};
use crate::per::{self, PerReport};
use crate::{device, patterns};

/// Reason for the early end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// Ctrl-C.
    Interrupt,
    /// The limit of embeddings was reached.
    Limit,
    /// The time was up.
    TimeLimit,
}

/// Wall time of the phases of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// Reading the graph.
    pub load: Duration,
    /// Rank(ON_1) renumbering; nothing for an image in that order.
    pub prepare: Duration,
    /// The engine.
    pub mine: Duration,
    /// The part of [`Times::mine`] up to the first embedding, where embeddings are visited.
    pub first: Option<Duration>,
}

/// An answer: question, graph, results and times.
///
/// ```
/// use gramer_engine::EngineExt;
/// use gramer_cpu::Cpu;
/// use gramer_base::Context;
/// use gramer_graph::Builder;
/// use gramer_pattern::Task;
/// use gramer_picture::{Answer, StopReason};
///
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let task = Task::Clique { k: 3 };
/// let outcome = Cpu.run(&graph, &task, None, &Context::default())?;
/// let mut answer = Answer::new(&task, "kite.txt", &graph, &outcome);
/// assert_eq!(answer.total(), Some(1));
/// assert!(answer.page().starts_with("<!DOCTYPE html>"));
/// // Of a run that was stopped the counts are lower bounds, and the page says so.
/// answer.stopped = Some(StopReason::TimeLimit);
/// assert!(answer.lower_bounds());
/// assert!(answer.reservation().is_some_and(|said| said.contains("time limit")));
/// # Ok::<(), gramer_base::Error>(())
/// ```
#[derive(Debug)]
pub struct Answer<'a> {
    /// The question.
    pub task: &'a Task,
    /// Condition on the vertices of the embeddings that were counted, if there is one.
    pub filter: Option<&'a Filter>,
    /// Least number of embeddings of the motifs that others were grown through, if there is one.
    pub support: Option<u64>,
    /// Where the graph came from, as the user wrote it.
    pub source: &'a str,
    /// The format that it was read in, where it was read.
    pub format: Option<Format>,
    /// The graph.
    pub graph: &'a Graph,
    /// The engine that answered.
    pub device: &'a str,
    /// Its threads.
    pub threads: usize,
    /// The outcome.
    pub outcome: &'a Outcome,
    /// Why it is incomplete, if it is.
    pub stopped: Option<StopReason>,
    /// Embeddings listed, where a list was requested; lines, of counts per vertex or edge.
    pub listed: Option<u64>,
    /// Counts per vertex or edge, where they were requested and are known.
    pub per: Option<&'a PerReport>,
    /// An estimate instead of counts, with its requested precision.
    pub estimated: Option<(Precision, &'a SampledCounts)>,
    /// Remarks of the reader of the graph.
    pub notes: &'a [String],
    /// Wall time by phase.
    pub times: Times,
}

impl<'a> Answer<'a> {
    /// An answer of the CPU engine with one thread, with nothing more; times are 0.
    pub fn new(task: &'a Task, source: &'a str, graph: &'a Graph, outcome: &'a Outcome) -> Self {
        let (stopped, listed, per, estimated) = (None, None, None, None);
        let times = Times::default();
        let (device, threads) = ("cpu", 1);
        Answer {
            task,
            filter: None,
            support: None,
            source,
            format: None,
            graph,
            device,
            threads,
            outcome,
            stopped,
            listed,
            per,
            estimated,
            notes: &[],
            times,
        }
    }
}

impl Answer<'_> {
    /// Words and properties of the question.
    pub fn info(&self) -> TaskInfo {
        let mut info = self.task.info();
        if let Some(filter) = self.filter {
            info = info.filtered(filter);
        }
        match self.support {
            Some(support) => info.supported(support),
            None => info,
        }
    }

    /// Total of the lines, if there is one: their sum, or their number.
    pub fn total(&self) -> Option<u128> {
        match self.info().total {
            Total::Sum(_) => Some(self.outcome.counts().fold(0, u128::saturating_add)),
            Total::Lines(_) => Some(self.outcome.counts().count() as u128),
            Total::None => None,
        }
    }

    /// Whether the run ended before anything was found: its zeros are no answer. Motifs are counted by
    /// equations, which give no number before all of their sums are there.
    pub fn nothing_known(&self) -> bool {
        let early = matches!(self.stopped, Some(StopReason::Interrupt | StopReason::TimeLimit));
        early && self.outcome.counts().all(|count| count == 0)
    }

    /// Whether the counts are lower bounds. The supports of the patterns that were found are whole in
    /// any case.
    pub fn lower_bounds(&self) -> bool {
        self.stopped.is_some() && self.info().early == EarlyEnd::LowerBounds
    }

    /// A count as text: `?` if unknown, with `≥` if it is a lower bound.
    pub fn shown(&self, count: u128) -> String {
        match (self.nothing_known(), self.lower_bounds()) {
            (true, _) => "?".into(),
            _ if count == Outcome::SATURATED => "≥ 2^128 − 1".into(),
            (false, true) => format!("≥ {}", grouped(count)),
            (false, false) => grouped(count),
        }
    }

    /// Why the answer is not whole, in a sentence.
    pub fn reservation(&self) -> Option<String> {
        let early = match self.stopped? {
            StopReason::Interrupt => "Interrupted",
            StopReason::TimeLimit => "Incomplete, stopped at the time limit",
            StopReason::Limit => "Stopped at the limit",
        };
        Some(if self.nothing_known() {
            format!("{early} before the first result: nothing is known of the answer.")
        } else if self.info().early == EarlyEnd::Lines {
            format!("{early}: larger patterns are missing, those found are right.")
        } else {
            format!("{early}: the counts are those found so far, lower bounds.")
        })
    }

    /// Sentence on the precision of an estimate; none for a stopped one, which has no numbers.
    fn sampled(&self) -> Option<String> {
        let (precision, found) = self.estimated.filter(|(_, found)| found.complete)?;
        let within = if found.reached { "within" } else { "NOT within" };
        Some(format!(
            "An estimate from {} samples, no count: with a confidence of {} % the total is \
             {within} ±{} %, as requested.",
            grouped(found.samples.into()),
            100.0 * CONFIDENCE,
            100.0 * precision.relative
        ))
    }

    /// The total as text, with its note; the last line if there is no total.
    fn found(&self) -> (String, String) {
        let of = match self.info().total {
            Total::Sum(of) | Total::Lines(of) => of.to_string(),
            Total::None => {
                let last = self.outcome.lines().last();
                last.map_or_else(String::new, |line| line.of.name_in(self.graph))
            }
        };
        let Some((_, found)) = self.estimated else {
            let number = self.total().or_else(|| self.outcome.counts().last());
            return (number.map_or("?".into(), |number| self.shown(number)), of);
        };
        match found.total.as_ref().or(found.results.first().map(|(_, estimate)| estimate)) {
            None => ("?".into(), of),
            Some(total) => match total.interval {
                None => (format!("≈ {}?", about(total.value)), format!("{of}, too few samples")),
                Some((from, to)) => (
                    format!("≈ {}", about(total.value)),
                    format!("{of}, {} to {}", about(from), about(to)),
                ),
            },
        }
    }

    /// The answer as one page of HTML, which needs no other file.
    pub fn page(&self) -> String {
        let info = self.info();
        let title = format!("{}: {}", self.source, info.question);
        document(
            &title,
            html! {
                header {
                    p.task { "gramer " (self.task.name()) " · " (self.source) }
                    h1 { (info.heading) }
                    p { (info.meaning) }
                    @if let Some(filter) = self.filter { p { "Filter: " code { (filter) } } }
                    @if let Some(support) = self.support { p { "Least support: " (support) } }
                    @if let Some(reservation) = self.reservation() {
                        p.warning role="note" { (reservation) }
                    }
                    @if let Some(said) = self.sampled() { p.warning role="note" { (numbers(&said)) } }
                    (self.facts())
                }
                section { h2 { (patterns::title(self)) } (patterns::section(self)) }
                @if let Some(per) = self.per {
                    section { h2 { "Per " (per.per) } (per::section(per, self.graph)) }
                }
                section { h2 { "Time" } (self.phases()) }
                @for measured in &self.outcome.devices {
                    section { h2 { "Measured by " (measured.device) } (device::section(measured)) }
                }
                footer {
                    "Made by gramer " (env!("CARGO_PKG_VERSION")) ". "
                    @match self.estimated {
                        Some((precision, found)) => {
                            "Numbers are estimates from " (grouped(found.samples.into()))
                            " samples (seed " (precision.seed) ")"
                        }
                        None => {
                            "Counts are exact"
                            @if self.stopped.is_some() { " of what was searched" }
                        }
                    }
                    "; times are wall times."
                }
            },
        )
    }

    /// Noun for this many lines of the list.
    pub fn listed_what(&self, count: u64) -> &'static str {
        let (one, many) = match self.per.map(|numbers| numbers.per) {
            None => ("embedding", "embeddings"),
            Some(Per::Vertex) => ("vertex", "vertices"),
            Some(Per::Edge) => ("edge", "edges"),
            Some(Per::Graph) => ("graph", "graphs"),
        };
        noun(count, one, many)
    }

    fn facts(&self) -> Markup {
        let graph = self.graph;
        let labels = [(graph.vertex_label_count(), "vertex"), (graph.edge_label_count(), "edge")];
        let (total, of) = self.found();
        let all = self.times.load + self.times.prepare + self.times.mine;
        let characters = total.chars().count();
        html! {
            dl.facts {
                // A long number has the whole width, and shrinks to it.
                div class=[(characters > 15).then_some("wide")] {
                    dt { "Found" }
                    dd.large style=(page::characters(characters)) { (numbers(&total)) small { (numbers(&of)) } }
                }
                div {
                    dt { "Graph" }
                    dd {
                        (numbers(&format!(
                            "{} {}, {} {}",
                            grouped(graph.vertices() as u128),
                            noun(graph.vertices(), "vertex", "vertices"),
                            grouped(graph.edges() as u128),
                            noun(graph.edges(), "edge", "edges")
                        )))
                        @for (count, what) in labels {
                            @if count > 0 { small { (count) " " (what) " " (noun(count, "label", "labels")) } }
                        }
                    }
                }
                div {
                    dt { "Device" }
                    dd {
                        (self.device)
                        small { (self.threads) " " (noun(self.threads, "thread", "threads")) " of the host" }
                    }
                }
                div { dt { "Time" } dd { (seconds(all)) small { "from the file to the answer" } } }
                @if let Some(listed) = self.listed {
                    div {
                        dt { "Listed" }
                        dd { (grouped(listed.into())) small { (self.listed_what(listed)) } }
                    }
                }
            }
        }
    }

    fn phases(&self) -> Markup {
        let Times { load, prepare, mine, .. } = self.times;
        let all = (load + prepare + mine).as_secs_f64();
        let part = |name: &str, time: Duration| Part {
            name: name.into(),
            amount: seconds(time),
            share: if all > 0.0 { time.as_secs_f64() / all } else { 0.0 },
        };
        let mut parts = vec![part("reading the graph", load)];
        // A graph that is read in order, or needs none, has no such phase.
        if !prepare.is_zero() {
            parts.push(part("ordering its vertices", prepare));
        }
        parts.push(part("mining", mine));
        stack("Phases", &parts)
    }
}
