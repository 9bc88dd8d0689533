//! The CPU engine by the rule of assignment that it shares with other kinds of engines
//! ([`Scheme::Ids`](gramer_engine::method::Scheme::Ids)).
//!
//! Cliques start at their largest id, as edges are oriented towards smaller ones. Motifs are enumerated,
//! since the sums of the CPU engine's equations belong to no rule, on a copy of the graph that is
//! numbered backwards: the census starts at smallest ids. Patterns are matched by the plan that depends
//! on the pattern alone.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::{Graph, Order, Parts, VertexId, View};
use gramer_pattern::plan::search::SearchPlan;
use gramer_pattern::plan::symmetry::ambiguous;
use gramer_pattern::task::Induced;
use gramer_pattern::{Dictionary, Pattern};

use super::oriented::Oriented;
use super::{Job, Resident, clique, matching, motif};
use gramer_engine::{Count, Outcome, Sink, Units};
use gramer_pattern::closing::forms::edge_induced;

/// A graph whose tasks follow the rule.
pub(super) struct ByIds {
    /// Graph oriented by ids.
    resident: Resident,
    backwards: OnceLock<Graph>,
}

impl ByIds {
    /// Orients the graph by ids.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn new(graph: &Graph, context: &Context) -> Result<Self> {
        let resident = Resident::new(graph);
        let order = (0..graph.vertices() as VertexId).collect();
        let _ = resident.oriented.set(Oriented::by_order(graph.view(), order, context)?);
        Ok(ByIds { resident, backwards: OnceLock::new() })
    }

    fn backwards(&self) -> &Graph {
        self.backwards.get_or_init(|| backwards(self.resident.graph.view()))
    }

    /// Cliques of k vertices.
    pub fn cliques(&self, k: usize, job: Job<'_>) -> Result<Outcome> {
        clique::run(&self.resident, k, job)
    }

    /// Motifs of k vertices, by a visit of every embedding.
    pub fn motifs(&self, k: usize, induced: Induced, job: Job<'_>) -> Result<Outcome> {
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
                let sink = RenumberedSink { sink, last };
                motif::list(&resident, k, induced, &sink, Job { units, ..job })
            }
            None => {
                let job = Job { units, ..job };
                let (counts, complete) =
                    motif::list(&resident, k, Induced::Vertex, &motif::NoSink, job);
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

    /// Occurrences of a pattern, by the plan that depends on the pattern alone.
    pub fn matches(
        &self,
        pattern: &Pattern,
        induced: Induced,
        mappings: bool,
        job: Job<'_>,
    ) -> Result<Outcome> {
        let graph = &self.resident.graph;
        let asked = matching::comparable(graph, pattern)?;
        if !mappings && ambiguous(&asked) {
            return Err(Error::Unsupported(
                "with wildcards next to labels, several mappings of this pattern have the same \
                 image, which devices of different kinds can't distinguish: name devices of one \
                 kind"
                    .into(),
            ));
        }
        let plan = SearchPlan::of(&asked, induced, mappings, true);
        let (count, complete) = matching::execute_named(graph, &plan, pattern, job)?;
        Ok(Outcome::new(vec![Count { pattern: pattern.clone(), count }], complete))
    }
}

/// The graph with vertex v as V − 1 − v, without labels.
fn backwards(view: View<'_>) -> Graph {
    let last = (view.vertices() as VertexId).wrapping_sub(1);
    let end = view.offsets[view.vertices()];
    let offsets: Vec<u64> = view.offsets.iter().rev().map(|&o| end - o).collect();
    let neighbours: Vec<VertexId> = view.neighbours.iter().rev().map(|&v| last - v).collect();
    Graph::from_parts(Parts {
        offsets: offsets.into(),
        neighbours: neighbours.into(),
        vertex_labels: None,
        edge_labels: None,
        original_ids: None,
        names: gramer_graph::Dictionaries::default(),
        order: Order::Input,
        stats: Default::default(),
    })
}

/// Hands embeddings on under their own numbers.
struct RenumberedSink<'a> {
    sink: &'a dyn Sink,
    last: VertexId,
}

impl Sink for RenumberedSink<'_> {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let own: Vec<VertexId> = vertices.iter().map(|v| self.last - v).collect();
        self.sink.embedding(pattern, &own)
    }

    fn limit(&self) -> Option<u64> {
        self.sink.limit()
    }

    fn only_counts(&self) -> bool {
        self.sink.only_counts()
    }

    fn embeddings(&self, number: u64) {
        self.sink.embeddings(number);
    }
}
