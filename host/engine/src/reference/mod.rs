//! Algorithm 1 of the paper, as plainly as it can be written: the reference that the accelerator
//! is compared with.
//!
//! One thread explores depth first. Every embedding is a set of vertices together with all the
//! edges that the graph has between them, and each is reached exactly once, through the rule of
//! Arabesque that the paper cites; an application is a set of [`Primitives`].
//!
//! # What is explored, and in which order
//!
//! An embedding lists its vertices in the order in which they were added: `v[0]` is its root. Two
//! ids are compared by [`Comparison`]: *a comes before b* is a < b in ascending order and a > b in
//! descending order. To extend an embedding of s vertices, for each position i = 0 … s − 1 in turn
//! the list of `v[i]` is walked from its first entry to its last. An entry w passes
//!
//! 1. the **tests on ids**: the root comes before w; every `v[j]` with j > i comes before w; w is
//!    not in the embedding. An entry that passes is a *candidate*;
//! 2. the **connectivity** of w with every other position j ≠ i, found by searching for w in the
//!    list of `v[j]`. If w is a neighbour of a `v[j]` with j < i, then i isn't the position of its
//!    first neighbour: the list of that `v[j]` gave or refused this embedding already, and w is
//!    dropped. Else the embedding with w is canonical;
//! 3. the application's [`Primitives::filter`].
//!
//! A work unit is a root with a range of positions in its list. The range bounds the walk of the
//! root's list while the embedding is the root alone, and nothing else.
//!
//! *Each connected set of vertices is reached once.* Its canonical order starts with the vertex
//! that comes before all others; after that always comes the first of those that are neighbours
//! of the vertices so far. The tests accept w exactly if appending it to a canonical order gives
//! a canonical order: with i the position of w's first neighbour, w could have been chosen at any
//! step after i, so the vertices chosen since (j > i) must come before it. Every prefix of a
//! canonical order is one, so nothing is missed; and w is taken from the list of position i alone,
//! so nothing comes twice.
//!
//! A complete subgraph is canonical in the order of its ids, and all its vertices are neighbours
//! of the root. An application of [`Shape::Complete`] therefore walks the root's list only.
//!
//! # What is counted
//!
//! [`Counters::candidates_by_depth`] and [`Counters::embeddings_by_depth`] are fixed by the rules
//! above and equal on every implementation; the accelerator must reproduce them. Accesses are
//! counted as the paper does in figures 4 and 5, for a machine that keeps nothing between two
//! embeddings: see [`Counters`].

mod accesses;
mod application;
mod counters;
mod explorer;
mod occurrences;
mod work;

pub use accesses::accesses;
pub use application::{Cliques, LabelledPatterns, Motifs, Primitives, Shape, WithFilter};
pub use counters::{Accesses, Counters};
pub use explorer::{Access, Embedding, Explorer, Stop};
pub use occurrences::{Occurrences, occurrences};
pub use work::{work_of_clique_entries, work_of_units};

use std::collections::HashSet;
use std::ops::ControlFlow;

use gramer_base::choice::Choice;
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::{Graph, VertexId, View};
use gramer_pattern::closing::results;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task, parts_reported};
use gramer_pattern::{Filter, Pattern};

use super::method::{self, Fit, Kit, Method, Methods, Scheme, choose, run_plan};
use super::reason::Reason;
use super::{
    Ask, Choices, Count, Device, DeviceGraph, Engine, Failure, Needs, Outcome, Plan, PreparedGraph,
    Query, Reply, Sink, Units,
};
use crate::work::WorkUnit;

/// Which of two vertex ids comes first; see the module.
///
/// In the order of Rank(ON_1), ascending makes the most valuable vertices the roots, whose trees
/// then are giants; descending spreads the work evenly. Results are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Comparison {
    /// Smaller ids come first.
    Ascending,
    /// Larger ids come first.
    #[default]
    Descending,
}

impl Choice for Comparison {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Comparison::Ascending, "ascending", "Smaller ids come first"),
        (Comparison::Descending, "descending", "Larger ids come first"),
    ];
}

impl Comparison {
    /// Scheme of algorithm 1.
    pub fn scheme(self) -> Scheme {
        Scheme::Ids { ascending: self == Comparison::Ascending }
    }

    /// Whether `a` comes before `b`. No vertex comes before itself.
    #[inline]
    pub fn before(self, a: VertexId, b: VertexId) -> bool {
        match self {
            Comparison::Ascending => a < b,
            Comparison::Descending => a > b,
        }
    }
}

/// Engine of algorithm 1: cliques, vertex-induced motifs and frequent subgraphs by
/// embeddings. Single-threaded.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reference {
    /// The order in which ids are compared.
    pub comparison: Comparison,
}

impl Engine for Reference {
    fn device(&self) -> Device {
        Device::named("reference")
    }

    fn choose(&self, ask: &Ask<'_>) -> Choices {
        choose(METHODS, ask, self)
    }

    fn prepare(&self, graph: &Graph, _context: &Context) -> Result<PreparedGraph> {
        let resident = Resident { engine: *self, graph: graph.clone() };
        Ok(PreparedGraph::new(*self, graph, resident))
    }
}

/// A graph as the reference engine reads it, unchanged.
pub struct Resident {
    engine: Reference,
    graph: Graph,
}

impl DeviceGraph for Resident {
    fn answer(&self, query: &Query, plan: &Plan, run: &method::Run<'_>) -> Result<Reply, Failure> {
        run_plan(METHODS, query, self, plan, run)
    }
}

impl Kit for Reference {
    type DeviceGraph = Resident;
    const KIND: &'static str = "reference";
}

const METHODS: &Methods<Reference> = &[&Algorithm1];

/// Algorithm 1 for cliques, vertex-induced motifs and frequent patterns by embeddings.
struct Algorithm1;

impl Method<Reference> for Algorithm1 {
    fn name(&self) -> &'static str {
        "algorithm-1"
    }

    fn offers(&self, reference: &Reference) -> Needs {
        let by_ids = match reference.comparison {
            Comparison::Descending => Needs::BY_IDS,
            Comparison::Ascending => Needs::NONE,
        };
        let labels = Needs::VERTEX_LABELS | Needs::EDGE_LABELS;
        by_ids | Needs::LIST | Needs::SHARE | Needs::FILTER | Needs::SUPPORT | labels
    }

    fn fit(&self, ask: &Ask<'_>, _: &Reference) -> Fit {
        match &ask.query.task {
            Task::Clique { .. } => Fit::Yes,
            // What a pattern's embeddings are is known when all shares are merged.
            Task::Motif { induced: Induced::Vertex, .. } => {
                Fit::not_together(ask, Needs::SUPPORT | Needs::SHARE)
            }
            Task::Motif { induced, .. } => Fit::No(Reason::Induced(*induced)),
            // Which patterns are frequent is known when all shares are merged.
            Task::Fsm { measure: Measure::Embeddings, .. } => {
                Fit::not_together(ask, Needs::LIST | Needs::SHARE)
                    .and(|| Fit::not_together(ask, Needs::SHARE | Needs::BY_IDS))
                    .and(|| Fit::not_together(ask, Needs::FILTER))
            }
            Task::Fsm { measure, .. } => Fit::No(Reason::Measure(*measure)),
            _ => Fit::No(Reason::Task),
        }
    }

    fn scheme(&self, _: &Ask<'_>, reference: &Reference) -> Scheme {
        reference.comparison.scheme()
    }

    fn run(
        &self,
        query: &Query,
        on: &Resident,
        _: &Plan,
        run: &method::Run<'_>,
    ) -> Result<Reply, Failure> {
        let (units, sink, context) = (run.units, run.sink, run.context);
        let comparison = on.engine.comparison;
        let (view, filter) = (on.graph.view(), query.filter.as_ref());
        let run = ReferenceRun { view, filter, comparison, units, context };
        match &query.task {
            Task::Clique { k } => Ok(run.cliques(*k, sink).into()),
            Task::Motif { k, .. } => Ok(match query.support {
                Some(support) => run.supported_motifs(*k, support, sink).into(),
                None => run.motifs(*k, sink).into(),
            }),
            Task::Fsm { limit: SizeLimit::MaxVertices(largest), support, .. } => {
                Ok(run.frequent(*largest, *support, sink).into())
            }
            _ => Err(Failure::Retreat(Reason::Task)),
        }
    }
}

/// Patterns with enough embeddings, of 2 vertices and more.
struct Grown {
    /// By size.
    results: Vec<Count>,
    /// Their patterns.
    reported: HashSet<Pattern>,
    /// Whether every pass went to its end.
    complete: bool,
}

/// One run of the engine.
struct ReferenceRun<'a> {
    view: View<'a>,
    filter: Option<&'a Filter>,
    comparison: Comparison,
    units: Units<'a>,
    context: &'a Context,
}

impl ReferenceRun<'_> {
    /// Explores the units; gives the primitives back and whether the run went to its end.
    fn explore<P: Primitives>(&self, primitives: P) -> (P, bool) {
        let units: Vec<WorkUnit> = self.units.iter(self.view).collect();
        self.context.progress.begin(units.len() as u64);
        let filtered = WithFilter::new(self.view, self.filter, primitives);
        let mut explorer = Explorer::new(self.view, self.comparison, filtered, self.context);
        let complete = explorer.run_units(&units).is_continue();
        (explorer.into_primitives().inner, complete)
    }

    fn cliques(&self, k: usize, sink: Option<&dyn Sink>) -> Outcome {
        let pattern = Pattern::clique(k);
        let (cliques, complete) =
            self.explore(Cliques::new(k).with_sink(|e: &Embedding| match sink {
                Some(sink) => sink.embedding(&pattern, e.vertices()),
                None => ControlFlow::Continue(()),
            }));
        let count = cliques.count.into();
        drop(cliques);
        Outcome { results: vec![Count { pattern, count }], complete, ..Outcome::default() }
    }

    fn motifs(&self, k: usize, sink: Option<&dyn Sink>) -> Outcome {
        let (motifs, complete) =
            self.explore(Motifs::new(k).with_sink(|p: &Pattern, v: &[VertexId]| match sink {
                Some(sink) => sink.embedding(p, v),
                None => ControlFlow::Continue(()),
            }));
        let results =
            motifs.counts().map(|(pattern, count)| Count { pattern, count: count.into() });
        Outcome { results: results.collect(), complete, ..Outcome::default() }
    }

    /// One pass per size, each through embeddings of the patterns that the passes before it reported:
    /// `Aggregate_filter`. `reports` says of a pattern whether it may be reported if it has the support; labels are
    /// those of `view`.
    fn grown(
        &self,
        view: View<'_>,
        largest: usize,
        support: u64,
        reports: &dyn Fn(&Pattern, &HashSet<Pattern>) -> bool,
    ) -> Grown {
        let mut grown = Grown { results: vec![], reported: HashSet::new(), complete: true };
        for size in 2..=largest {
            let pass = LabelledPatterns::new(view, size, grown.reported.clone());
            let (pass, complete) = self.explore(pass);
            if !complete {
                return Grown { complete, ..grown };
            }
            let mut found: Vec<Count> = pass
                .counts()
                .filter(|&(pattern, count)| count >= support && reports(pattern, &grown.reported))
                .map(|(pattern, count)| Count { pattern: pattern.clone(), count: count.into() })
                .collect();
            if found.is_empty() {
                break;
            }
            results::sort(&mut found);
            grown.reported.extend(found.iter().map(|c| c.pattern.clone()));
            grown.results.append(&mut found);
        }
        grown
    }

    /// Motifs of `k` vertices that are grown through motifs with enough embeddings.
    fn supported_motifs(&self, k: usize, support: u64, sink: Option<&dyn Sink>) -> Outcome {
        let view = View { vertex_labels: None, edge_labels: None, ..self.view };
        let Grown { mut results, reported, mut complete } =
            self.grown(view, k, support, &|_, _| true);
        results.retain(|found| found.pattern.vertices() == k);
        results.sort_by_key(|found| (found.pattern.edge_count(), found.pattern.bits()));
        if let Some(sink) = sink
            && complete
            && !results.is_empty()
        {
            let take = |p: &Pattern, v: &[VertexId]| match p.vertices() == k {
                true => sink.embedding(p, v),
                false => ControlFlow::Continue(()),
            };
            complete = self.explore(LabelledPatterns::new(view, k, reported).with_sink(take)).1;
        }
        Outcome { results, complete, ..Outcome::default() }
    }

    /// Of a share all patterns are reported that occur: every prefix of an embedding is one of the same unit.
    fn frequent(&self, largest: usize, support: u64, sink: Option<&dyn Sink>) -> Outcome {
        let share = self.units.share().is_some();
        let support = if share { 1 } else { support };
        let reports = |pattern: &Pattern, reported: &HashSet<Pattern>| {
            share || parts_reported(pattern, reported)
        };
        let Grown { results, reported, mut complete } =
            self.grown(self.view, largest, support, &reports);
        if !complete {
            return Outcome { results, complete, ..Outcome::default() };
        }
        if let (Some(sink), Some(last)) = (sink, results.last()) {
            let size = last.pattern.vertices();
            let list = LabelledPatterns::new(self.view, size, reported)
                .with_sink(|p: &Pattern, v: &[VertexId]| sink.embedding(p, v));
            complete = self.explore(list).1;
        }
        Outcome { results, complete, ..Outcome::default() }
    }
}
