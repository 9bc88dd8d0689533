//! The CPU engine by the rule of assignment that it shares with other kinds of engines
//! ([`crate::BY_IDS`]).
//!
//! Cliques start at their largest id, as edges are oriented towards smaller ones. Motifs are enumerated,
//! since the sums of the CPU engine's equations belong to no rule, on a copy of the graph that is
//! numbered backwards: the census starts at smallest ids. Patterns are matched by the plan that depends
//! on the pattern alone.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_graph::{Graph, Order, Parts, VertexId, View};
use gramer_pattern::plan::search::SearchPlan;
use gramer_pattern::plan::symmetry::ambiguous;
use gramer_pattern::task::{Induced, Task};
use gramer_pattern::{Dictionary, Pattern};

use super::budget::unsupported;
use super::oriented::Oriented;
use super::{Job, Resident, clique, matching, motif};
use crate::formulas::edge_induced;
use crate::{Count, Outcome, Prepared, Sink, Units, shares};

/// A graph whose tasks follow the rule.
pub(super) struct ByIds<'a> {
    /// Its orientation is by ids.
    resident: Resident<'a>,
    backwards: OnceLock<Graph>,
}

impl<'a> ByIds<'a> {
    /// Orients the graph by ids.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::Unsupported`] where memory is limited.
    pub fn new(graph: &'a Graph, context: &Context) -> Result<Self> {
        if context.budget.is_some() {
            return Err(unsupported("work that is shared with devices of another kind"));
        }
        let resident = Resident::new(graph);
        let order = (0..graph.vertices() as VertexId).collect();
        let _ = resident.oriented.set(Oriented::by_order(graph.view(), order, context)?);
        Ok(ByIds { resident, backwards: OnceLock::new() })
    }

    fn backwards(&self) -> &Graph {
        self.backwards.get_or_init(|| backwards(self.resident.graph.view()))
    }

    fn motifs(&self, k: usize, induced: Induced, job: Job<'_>) -> Result<Outcome> {
        let graph = self.backwards();
        let share = job.units.share().map(|share| {
            share.backwards(graph.vertices()).ok_or_else(|| {
                Error::usage("by this rule a share has vertices with their whole lists")
            })
        });
        let share = share.transpose()?;
        let units = share.as_ref().map_or(Units::All, Units::Share);
        let resident = Resident::new(graph);
        let last = (graph.vertices() as VertexId).wrapping_sub(1);
        let (counts, complete) = match job.sink {
            Some(sink) => {
                let sink = Mirrored { sink, last };
                motif::list(&resident, k, induced, &sink, Job { units, ..job })
            }
            None => {
                let job = Job { units, ..job };
                let (counts, complete) = motif::list(&resident, k, Induced::Vertex, &Nothing, job);
                match induced {
                    Induced::Vertex => (counts, complete),
                    Induced::Edge => (edge_induced(k, &counts), complete),
                }
            }
        };
        let patterns = Dictionary::of(k).patterns().iter();
        let results = patterns.zip(counts).map(|(p, count)| Count { pattern: p.clone(), count });
        Ok(Outcome::new(results.collect(), complete))
    }

    fn matches(
        &self,
        pattern: &Pattern,
        induced: Induced,
        mappings: bool,
        job: Job<'_>,
    ) -> Result<Outcome> {
        let graph = self.resident.graph;
        let asked = matching::comparable(graph, pattern)?;
        if !mappings && ambiguous(&asked) {
            return Err(Error::Unsupported(
                "wildcards beside labels let several mappings of this pattern have the same image, \
                 which devices of different kinds don't tell apart together: name devices of one kind"
                    .into(),
            ));
        }
        let plan = SearchPlan::of(&asked, induced, mappings, true);
        let (count, complete) = matching::execute_named(graph, &plan, pattern, job)?;
        Ok(Outcome::new(vec![Count { pattern: pattern.clone(), count }], complete))
    }
}

impl Prepared for ByIds<'_> {
    fn run(
        &self,
        task: &Task,
        units: Units<'_>,
        sink: Option<&dyn Sink>,
        context: &Context,
    ) -> Result<Outcome> {
        task.check()?;
        shares::check(self.resident.graph, task, units, sink)?;
        let job = Job { units, sink, context, others: None };
        let outcome = match task {
            Task::Clique { k } => clique::run(&self.resident, *k, job),
            Task::Motif { k, induced } => self.motifs(*k, *induced, job),
            Task::Match { pattern, induced, mappings } => {
                self.matches(pattern, *induced, *mappings, job)
            }
            other => shares::divisible_by_ids(other).map(|()| unreachable!("it is no task by ids")),
        }?;
        Ok(outcome.of(units))
    }
}

/// The graph with vertex v as V − 1 − v, without labels.
fn backwards(view: View<'_>) -> Graph {
    let last = (view.vertices() as VertexId).wrapping_sub(1);
    let end = view.offsets[view.vertices()];
    let offsets: Vec<u64> = view.offsets.iter().rev().map(|&o| end - o).collect();
    let neighbours: Vec<VertexId> = view.neighbours.iter().rev().map(|&v| last - v).collect();
    let original_ids: Vec<u64> = (0..view.vertices() as u64).collect();
    Graph::from_parts(Parts {
        offsets: offsets.into(),
        neighbours: neighbours.into(),
        vertex_labels: None,
        edge_labels: None,
        original_ids: original_ids.into(),
        order: Order::Input,
        stats: Default::default(),
    })
}

/// Hands embeddings on under their own numbers.
struct Mirrored<'a> {
    sink: &'a dyn Sink,
    last: VertexId,
}

impl Sink for Mirrored<'_> {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let own: Vec<VertexId> = vertices.iter().map(|v| self.last - v).collect();
        self.sink.embedding(pattern, &own)
    }

    fn limit(&self) -> Option<u64> {
        self.sink.limit()
    }
}

/// Takes what is only counted.
struct Nothing;

impl Sink for Nothing {
    fn embedding(&self, _pattern: &Pattern, _vertices: &[VertexId]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
