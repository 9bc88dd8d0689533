//! The question that an engine answers, and the facts known before a graph is read or a device is opened.
//!
//! A [`Query`] is the identity of a question: equal for every share, every device and every resumed run. What else a
//! run asks for (a share, peers, a memory limit) is a [`Needs`] bit of its [`Ask`]. A method that doesn't
//! [offer](crate::method::Method::offers) a need is refused before it runs, so that a need added later is refused by
//! every method that hasn't declared it.

use serde::{Deserialize, Serialize};

use gramer_base::error::{Error, Result};
use gramer_graph::Graph;
use gramer_pattern::Filter;
use gramer_pattern::filter::Attribute;
use gramer_pattern::task::{Mappings, Task};

use crate::estimate::Precision;
use crate::per::Per;

/// A question about a graph.
///
/// ```
/// use gramer_engine::query::{Answer, Needs, Query};
/// use gramer_pattern::Task;
///
/// let query = Query::new(Task::Clique { k: 4 });
/// assert_eq!(query.needs(None), Needs::NONE);
/// let query = query.answer(Answer::PerVertex).list(true);
/// assert_eq!(query.needs(None), Needs::PER_VERTEX | Needs::LIST);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Query {
    /// Mining task.
    pub task: Task,
    /// The form of the answer.
    #[serde(default, skip_serializing_if = "Answer::is_counts")]
    pub answer: Answer,
    /// Whether every embedding is handed to a sink.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub list: bool,
    /// Condition on the vertices of an embedding, for cliques and motifs: others are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Filter>,
    /// For motifs: embeddings of patterns with fewer embeddings, of 2 vertices or more, are neither extended nor counted.
    /// Each size is counted among those that are reached, which depends on the order of algorithm 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub support: Option<u64>,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The number of occurrences of each pattern.
    #[default]
    Counts,
    /// The number of occurrences that each vertex is in.
    PerVertex,
    /// The number of occurrences that each edge is in.
    PerEdge,
    /// The number of occurrences in each graph of a file of several.
    PerGraph,
    /// An estimate from a random sample.
    Estimate(Precision),
}

impl Answer {
    fn is_counts(&self) -> bool {
        *self == Answer::Counts
    }

    /// Returns whether counts are per vertex or per edge.
    pub fn per(self) -> Option<Per> {
        match self {
            Answer::PerVertex => Some(Per::Vertex),
            Answer::PerEdge => Some(Per::Edge),
            Answer::PerGraph => Some(Per::Graph),
            Answer::Counts | Answer::Estimate(_) => None,
        }
    }
}

impl From<Per> for Answer {
    fn from(per: Per) -> Self {
        match per {
            Per::Vertex => Answer::PerVertex,
            Per::Edge => Answer::PerEdge,
            Per::Graph => Answer::PerGraph,
        }
    }
}

impl Query {
    /// The number of occurrences of each pattern of a task.
    pub fn new(task: Task) -> Self {
        Query { task, answer: Answer::Counts, list: false, filter: None, support: None }
    }

    /// Sets the form of the answer.
    #[must_use]
    pub fn answer(self, answer: Answer) -> Self {
        Query { answer, ..self }
    }

    /// Sets whether the embeddings are listed.
    #[must_use]
    pub fn list(self, list: bool) -> Self {
        Query { list, ..self }
    }

    /// Sets the condition on the vertices of an embedding.
    #[must_use]
    pub fn filter(self, filter: Option<Filter>) -> Self {
        Query { filter, ..self }
    }

    /// Sets the least number of embeddings of a motif.
    #[must_use]
    pub fn support(self, support: Option<u64>) -> Self {
        Query { support, ..self }
    }

    /// Returns what a method must offer to answer the query on a graph with these `facts`.
    pub fn needs(&self, facts: Option<&Facts>) -> Needs {
        let list = if self.list { Needs::LIST } else { Needs::NONE };
        let answer = match self.answer {
            Answer::Counts => Needs::NONE,
            Answer::PerVertex => Needs::PER_VERTEX,
            Answer::PerEdge => Needs::PER_EDGE,
            Answer::PerGraph => Needs::PER_GRAPH,
            Answer::Estimate(_) => Needs::ESTIMATE,
        };
        let pattern = match &self.task {
            Task::Match { pattern, mappings, .. } => {
                let vertices = pattern.has_vertex_labels();
                let absent = if pattern.has_absences() { Needs::ABSENT } else { Needs::NONE };
                let apart = if pattern.is_connected() { Needs::NONE } else { Needs::COMPONENTS };
                let repeats = mappings.is_some_and(Mappings::repeats);
                let repeats = if repeats { Needs::REPEATS } else { Needs::NONE };
                Needs::labels(vertices, pattern.has_edge_labels()) | absent | apart | repeats
            }
            Task::Fsm { .. } => {
                facts.map_or(Needs::NONE, |f| Needs::labels(f.vertex_labels, f.edge_labels))
            }
            // Others look at no label.
            _ => Needs::NONE,
        };
        let filter = self.filter.as_ref().map_or(Needs::NONE, |filter| {
            Needs::FILTER | Needs::labels(filter.reads(Attribute::Label), false)
        });
        let support = if self.support.is_some() { Needs::SUPPORT } else { Needs::NONE };
        list | answer | pattern | filter | support
    }
}

/// Needs of a run in addition to the task, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Needs(u32);

macro_rules! needs {
    ($($(#[$doc:meta])* $name:ident $bit:literal $phrase:literal;)*) => {
        impl Needs {
            $($(#[$doc])* pub const $name: Needs = Needs(1 << $bit);)*

            /// Each need with its name and the words that follow "answers the task".
            pub const ALL: &'static [(Needs, &'static str, &'static str)] =
                &[$((Needs::$name, stringify!($name), $phrase),)*];
        }
    };
}

needs! {
    /// Every embedding is handed to a sink.
    LIST 0 "with a list of embeddings";
    /// Counts per vertex.
    PER_VERTEX 1 "per vertex";
    /// Counts per edge.
    PER_EDGE 2 "per edge";
    /// An estimate from a sample.
    ESTIMATE 3 "as an estimate";
    /// A part of the work units; the results of all parts add up.
    SHARE 4 "in shares";
    /// Embeddings belong to units by [`Scheme::Ids`](crate::method::Scheme::Ids).
    BY_IDS 5 "with devices of another kind";
    /// Several members, which join what they found phase by phase.
    PEERS 6 "in phases with other devices or processes";
    /// Peers are devices of one host and one hardware, whose parts depend on who takes part.
    TWINS 7 "with devices of the same hardware";
    /// A limit of the memory that the method takes.
    MEMORY 8 "within a memory limit";
    /// Labels of vertices are compared.
    VERTEX_LABELS 9 "with vertex labels";
    /// Labels of edges are compared.
    EDGE_LABELS 10 "with edge labels";
    /// The pattern has pairs that must not be joined.
    ABSENT 11 "with pairs that must not be joined";
    /// The pattern is not connected.
    COMPONENTS 12 "with a pattern of several components";
    /// Counts per graph of a file of several.
    PER_GRAPH 13 "per graph";
    /// A condition on the vertices of an embedding.
    FILTER 14 "with a filter";
    /// A least number of embeddings of each pattern on the way.
    SUPPORT 15 "with a least support";
    /// Mappings that may take several vertices of the pattern to one of the graph.
    REPEATS 16 "by homomorphisms or edge isomorphisms";
}

impl Needs {
    /// No need.
    pub const NONE: Needs = Needs(0);

    /// All of both.
    #[must_use]
    pub const fn and(self, other: Needs) -> Needs {
        Needs(self.0 | other.0)
    }

    /// Returns the needs of `self` that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Needs) -> Needs {
        Needs(self.0 & !other.0)
    }

    /// Returns the needs in both.
    #[must_use]
    pub const fn common(self, other: Needs) -> Needs {
        Needs(self.0 & other.0)
    }

    /// Whether there are no needs.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are among these.
    pub const fn has(self, other: Needs) -> bool {
        other.without(self).is_none()
    }

    /// Each bit alone.
    pub fn each(self) -> impl Iterator<Item = Needs> {
        Needs::ALL.iter().map(|(need, ..)| *need).filter(move |need| self.has(*need))
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Needs::ALL.iter().filter(move |(need, ..)| self.has(*need)).map(|(_, name, _)| *name)
    }

    /// Their phrases, as in "answers motifs per vertex".
    pub fn phrases(self) -> impl Iterator<Item = &'static str> {
        Needs::ALL.iter().filter(move |(need, ..)| self.has(*need)).map(|(.., phrase)| *phrase)
    }

    /// Labels of vertices and of edges, where they are compared.
    const fn labels(vertices: bool, edges: bool) -> Needs {
        let vertices = if vertices { Needs::VERTEX_LABELS } else { Needs::NONE };
        let edges = if edges { Needs::EDGE_LABELS } else { Needs::NONE };
        vertices.and(edges)
    }
}

impl std::ops::BitOr for Needs {
    type Output = Needs;

    fn bitor(self, other: Needs) -> Needs {
        self.and(other)
    }
}

impl std::fmt::Debug for Needs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("{")?;
        for (at, name) in self.names().enumerate() {
            write!(f, "{}{name}", if at > 0 { ", " } else { "" })?;
        }
        f.write_str("}")
    }
}

/// Serialised as a list of names.
impl Serialize for Needs {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

impl<'de> Deserialize<'de> for Needs {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        let names: Vec<String> = Vec::deserialize(deserializer)?;
        names.iter().try_fold(Needs::NONE, |all, name| {
            let known = Needs::ALL.iter().find(|(_, known, _)| known == name);
            let unknown = || serde::de::Error::custom(format!("there is no need {name}"));
            known.map(|(need, ..)| all | *need).ok_or_else(unknown)
        })
    }
}

/// Facts about a graph that need no pass over it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Facts {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of edges.
    pub edges: u64,
    /// Whether vertices have labels.
    pub vertex_labels: bool,
    /// Whether edges have labels.
    pub edge_labels: bool,
}

impl Facts {
    /// Facts of a graph in memory.
    pub fn of(graph: &Graph) -> Self {
        let view = graph.view();
        Facts {
            vertices: view.vertices() as u64,
            edges: view.neighbours.len() as u64 / 2,
            vertex_labels: view.vertex_labels.is_some(),
            edge_labels: graph.has_edge_labels(),
        }
    }
}

/// A question with the terms of a run.
///
/// ```
/// use gramer_engine::query::{Ask, Needs, Query};
/// use gramer_pattern::Task;
///
/// let query = Query::new(Task::MaximalCliques);
/// let ask = Ask::new(&query).terms(Needs::SHARE).memory(Some(1 << 30));
/// assert_eq!(ask.needs(), Needs::SHARE | Needs::MEMORY);
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Ask<'a> {
    /// The question.
    pub query: &'a Query,
    /// Known facts about the graph.
    pub facts: Option<&'a Facts>,
    /// [`Needs::SHARE`], [`Needs::BY_IDS`], [`Needs::PEERS`], [`Needs::TWINS`].
    pub terms: Needs,
    /// Bytes that the host may take.
    pub memory: Option<u64>,
    /// The name of the only method that may run.
    pub only: Option<&'a str>,
}

impl<'a> Ask<'a> {
    /// A whole run on one device.
    pub fn new(query: &'a Query) -> Self {
        Ask { query, facts: None, terms: Needs::NONE, memory: None, only: None }
    }

    /// Adds facts about the graph.
    #[must_use]
    pub fn facts(self, facts: Option<&'a Facts>) -> Self {
        Ask { facts, ..self }
    }

    /// Under these terms.
    #[must_use]
    pub fn terms(self, terms: Needs) -> Self {
        Ask { terms, ..self }
    }

    /// Limits the memory.
    #[must_use]
    pub fn memory(self, memory: Option<u64>) -> Self {
        Ask { memory, ..self }
    }

    /// Restricts the choice to the method with this name.
    #[must_use]
    pub fn only(self, only: Option<&'a str>) -> Self {
        Ask { only, ..self }
    }

    /// Returns what a method must offer.
    pub fn needs(&self) -> Needs {
        let memory = if self.memory.is_some() { Needs::MEMORY } else { Needs::NONE };
        self.query.needs(self.facts) | self.terms | memory
    }

    /// Checks the ranges of the question's numbers, and that the task and the graph have what a filter reads.
    ///
    /// # Errors
    /// [`gramer_base::Error::Usage`] that names the field.
    pub fn check(&self) -> Result<()> {
        self.query.task.check()?;
        let unlabelled = self.facts.is_some_and(|facts| !facts.vertex_labels);
        if unlabelled && self.query.filter.as_ref().is_some_and(|f| f.reads(Attribute::Label)) {
            return Err(Error::usage(
                "the setting `filter` compares labels, and the vertices of the graph have none: give them by the \
                 setting `labels`",
            ));
        }
        let of_motifs = matches!(self.query.task, Task::Motif { .. });
        let patterns =
            self.query.filter.as_ref().is_some_and(|f| !f.pattern_conditions().is_empty());
        if patterns && !of_motifs {
            return Err(Error::usage(format!(
                "the setting `filter` compares `pattern`, and {} have one pattern: leave the condition out",
                self.query.task.info().subject
            )));
        }
        match self.query.support {
            Some(0) => return Err(Error::usage("support is 0, but must be at least 1")),
            Some(_) if !of_motifs => {
                return Err(Error::usage("a least support of the question is for motifs alone"));
            }
            _ => {}
        }
        match self.query.answer {
            Answer::Estimate(precision) => precision.check(),
            Answer::Counts | Answer::PerVertex | Answer::PerEdge | Answer::PerGraph => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_pattern::Pattern;
    use gramer_pattern::task::Induced;

    #[test]
    fn a_query_comes_back_from_text_and_has_no_defaults_in_it() {
        let plain = Query::new(Task::Clique { k: 4 });
        let text = r#"{"task":{"task":"clique","k":4}}"#;
        assert_eq!(serde_json::to_string(&plain).unwrap(), text);
        assert_eq!(serde_json::from_str::<Query>(text).unwrap(), plain);
        let precision = Precision { relative: 0.01, seed: 7 };
        let asked = plain.answer(Answer::Estimate(precision)).list(true);
        let text = serde_json::to_string(&asked).unwrap();
        assert_eq!(serde_json::from_str::<Query>(&text).unwrap(), asked);
    }

    #[test]
    fn labels_are_needed_by_patterns_and_graphs_that_have_some() {
        let mut pattern = Pattern::clique(3);
        let query =
            |pattern| Query::new(Task::Match { pattern, induced: Induced::Edge, mappings: None });
        assert_eq!(query(pattern.clone()).needs(None), Needs::NONE);
        pattern.set_vertex_label(0, 1);
        assert_eq!(query(pattern.clone()).needs(None), Needs::VERTEX_LABELS);
        pattern.set_edge_label(0, 1, 1);
        let both = Needs::VERTEX_LABELS | Needs::EDGE_LABELS;
        assert_eq!(query(pattern).needs(None), both);
        assert_eq!(both.phrases().collect::<Vec<_>>(), ["with vertex labels", "with edge labels"]);
        assert_eq!(format!("{both:?}"), "{VERTEX_LABELS, EDGE_LABELS}");
        let text = serde_json::to_string(&both).unwrap();
        assert_eq!(serde_json::from_str::<Needs>(&text).unwrap(), both);
        assert!(serde_json::from_str::<Needs>("[\"SPEED\"]").is_err());
    }
}
