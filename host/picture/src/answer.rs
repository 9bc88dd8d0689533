//! An answer with all that is said of it, and its page.

use std::time::Duration;

use gramer_engine::estimate::CONFIDENCE;
use gramer_engine::{Estimated, Outcome, Per, Precision};
use gramer_graph::Graph;
use gramer_pattern::task::Task;
use maud::{Markup, html};

use crate::number::{about, grouped, seconds};
use crate::page::{self, Part, document, numbers, stack};
use crate::per::{self, PerReport};
use crate::{device, patterns, words};

/// Why a run ended before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stopped {
    /// Ctrl-C.
    Interrupt,
    /// The limit of listed embeddings was reached.
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
}

/// An answer: what was asked, of what, what came out and how long it took.
///
/// ```
/// use gramer_engine::Engine;
/// use gramer_engine::cpu::Cpu;
/// use gramer_graph::{Builder, Context};
/// use gramer_pattern::Task;
/// use gramer_picture::{Answer, Stopped};
///
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let task = Task::Clique { k: 3 };
/// let outcome = Cpu.run(&graph, &task, None, &Context::default())?;
/// let mut answer = Answer::new(&task, "kite.txt", &graph, &outcome);
/// assert_eq!(answer.total(), 1);
/// assert!(answer.page().starts_with("<!DOCTYPE html>"));
/// // Of a run that was stopped the counts are lower bounds, and the page says so.
/// answer.stopped = Some(Stopped::TimeLimit);
/// assert!(answer.lower_bounds());
/// assert!(answer.reservation().is_some_and(|said| said.contains("time limit")));
/// # Ok::<(), gramer_graph::Error>(())
/// ```
#[derive(Debug)]
pub struct Answer<'a> {
    /// What was asked.
    pub task: &'a Task,
    /// Where the graph came from, as the user wrote it.
    pub source: &'a str,
    /// The graph.
    pub graph: &'a Graph,
    /// The engine that answered.
    pub device: &'a str,
    /// Its threads.
    pub threads: usize,
    /// What it found.
    pub outcome: &'a Outcome,
    /// Why it is incomplete, if it is.
    pub stopped: Option<Stopped>,
    /// Embeddings listed, where a list was asked for; lines, of counts per vertex or edge.
    pub listed: Option<u64>,
    /// Counts per vertex or edge, where they were asked for and are known.
    pub per: Option<&'a PerReport>,
    /// An estimate instead of counts, and what was asked of it.
    pub estimated: Option<(Precision, &'a Estimated)>,
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
            source,
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
    /// The sum of the counts; for frequent subgraph mining, the number of patterns reported
    /// (supports don't add up to anything).
    pub fn total(&self) -> u128 {
        match self.task {
            Task::Fsm { .. } => self.outcome.results.len() as u128,
            _ => self.counts().sum(),
        }
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = u128> + Clone + '_ {
        let larger = self.outcome.larger_cliques.iter().map(|&(_, count)| count);
        self.outcome.results.iter().map(|r| r.count).chain(larger)
    }

    /// Whether the run ended before anything was found: its zeros are no answer. Motifs are counted by
    /// equations, which give no number before all of their sums are there.
    pub fn nothing_known(&self) -> bool {
        let early = matches!(self.stopped, Some(Stopped::Interrupt | Stopped::TimeLimit));
        early && self.counts().all(|count| count == 0)
    }

    /// Whether the counts are lower bounds. The supports of the patterns that were found are whole in
    /// any case.
    pub fn lower_bounds(&self) -> bool {
        self.stopped.is_some() && !matches!(self.task, Task::Fsm { .. })
    }

    /// A count as it is written: `?` where nothing is known, `≥` before a lower bound.
    pub(crate) fn shown(&self, count: u128) -> String {
        match (self.nothing_known(), self.lower_bounds()) {
            (true, _) => "?".into(),
            (false, true) => format!("≥ {}", grouped(count)),
            (false, false) => grouped(count),
        }
    }

    /// Why the answer is not whole, in a sentence.
    pub fn reservation(&self) -> Option<String> {
        let early = match self.stopped? {
            Stopped::Interrupt => "Interrupted",
            Stopped::TimeLimit => "Incomplete, stopped at the time limit",
            Stopped::Limit => "Stopped at the limit",
        };
        Some(if self.nothing_known() {
            format!("{early} before anything was found: nothing can be said of the answer.")
        } else if matches!(self.task, Task::Fsm { .. }) {
            format!("{early}: larger patterns are missing, those found are right.")
        } else {
            format!("{early}: the counts are what had been found, lower bounds.")
        })
    }

    /// What an estimate is worth, in a sentence; nothing of one that was stopped, which has no numbers.
    fn sampled(&self) -> Option<String> {
        let (precision, found) = self.estimated.filter(|(_, found)| found.complete)?;
        let within = if found.reached { "within" } else { "NOT within" };
        Some(format!(
            "An estimate from {} samples, no count: with a confidence of {} % the total is {within} ±{} %, as was \
             asked.",
            grouped(found.samples.into()),
            100.0 * CONFIDENCE,
            100.0 * precision.relative
        ))
    }

    /// The total as it is written, and what is said of it.
    fn found(&self) -> (String, String) {
        let of = match self.task {
            Task::Fsm { .. } => "frequent patterns",
            Task::Match { mappings: true, .. } => "mappings",
            Task::Clique { .. } | Task::CliqueSizes { .. } => "cliques",
            Task::MaximalCliques => "maximal cliques",
            Task::MaximumClique => "clique found",
            _ => "occurrences in all",
        };
        let Some((_, found)) = self.estimated else {
            return (self.shown(self.total()), of.into());
        };
        match found.total.as_ref().or(found.results.first().map(|(_, estimate)| estimate)) {
            None => ("?".into(), of.into()),
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
        let title = format!("{}: {}", self.source, words::question(self.task));
        document(
            &title,
            html! {
                header {
                    p.task { "gramer " (self.task.name()) " · " (self.source) }
                    h1 { (words::heading(self.task)) }
                    p { (words::meaning(self.task)) }
                    @if let Some(reservation) = self.reservation() {
                        p.warning role="note" { (reservation) }
                    }
                    @if let Some(said) = self.sampled() { p.warning role="note" { (numbers(&said)) } }
                    (self.facts())
                }
                section { h2 { "Patterns" } (patterns::section(self)) }
                @if let Some(per) = self.per {
                    section { h2 { "Per " (per.per) } (per::section(per)) }
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

    /// What the lines of the list are.
    pub fn listed_what(&self) -> &'static str {
        match self.per.map(|numbers| numbers.per) {
            None => "embeddings",
            Some(Per::Vertex) => "vertices",
            Some(Per::Edge) => "edges",
        }
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
                            "{} vertices, {} edges",
                            grouped(graph.vertices() as u128),
                            grouped(graph.edges() as u128)
                        )))
                        @for (count, what) in labels {
                            @if count > 0 { small { (count) " " (what) " labels" } }
                        }
                    }
                }
                div {
                    dt { "Device" }
                    dd {
                        (self.device)
                        small { (self.threads) (if self.threads == 1 { " thread" } else { " threads" }) " of the host" }
                    }
                }
                div { dt { "Time" } dd { (seconds(all)) small { "from the file to the answer" } } }
                @if let Some(listed) = self.listed {
                    div {
                        dt { "Listed" }
                        dd { (grouped(listed.into())) small { (self.listed_what()) } }
                    }
                }
            }
        }
    }

    fn phases(&self) -> Markup {
        let Times { load, prepare, mine } = self.times;
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
