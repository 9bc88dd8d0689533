//! What there is to say of a task: its words and properties.

use serde::Serialize;

use gramer_base::choice::Choice;
use gramer_base::counted::counted;

use crate::statistic::StatisticInfo;
use crate::task::{Induced, Mappings, Measure, SizeLimit};
use crate::{Filter, Pattern, labelled_name};

/// What the lines of an answer add up to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Total {
    /// Their counts add up to a number of these.
    Sum(&'static str),
    /// The lines themselves are counted, as these.
    Lines(&'static str),
    /// Nothing.
    None,
}

/// The meaning of an answer whose run was stopped early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlyEnd {
    /// Its counts are lower bounds.
    LowerBounds,
    /// Its lines are right, and others are missing.
    Lines,
}

/// A parameter of a task in results, under the name of its option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Parameter {
    /// A size or a threshold.
    Number(u64),
    /// A choice.
    Word(&'static str),
    /// A switch.
    Switch(bool),
    /// A text.
    Text(String),
}

/// A task in words and properties: all that printers, pages, results for programs and refusals need of it, so that none
/// of them knows a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskInfo {
    /// The object of the search, as a noun phrase.
    pub subject: String,
    /// The task in a line of a report.
    pub question: String,
    /// The question as a heading.
    pub heading: String,
    /// What exactly is counted.
    pub meaning: &'static str,
    /// What the number of a line is.
    pub unit: &'static str,
    /// What the lines add up to.
    pub total: Total,
    /// Whether the lines are the parts of that whole.
    pub parts: bool,
    /// What a stopped run says.
    pub early: EarlyEnd,
    /// Which induced question it answers, if that is a question at all.
    pub induced: Option<Induced>,
    /// Its parameters.
    pub parameters: Vec<(&'static str, Parameter)>,
}

pub(crate) const CLIQUE: &str = "A clique is a set of vertices each two of which are neighbours, counted once. Vertex-induced and \
    edge-induced are the same here.";
pub(crate) const MAXIMUM_CLIQUE: &str = "A clique is a set of vertices each two of which are neighbours. One of those with the \
    most vertices was searched.";
pub(crate) const MAXIMAL_CLIQUES: &str = "A clique is a set of vertices each two of which are neighbours; it is maximal if no \
    other vertex is a neighbour of all of them.";
const EMBEDDINGS: &str = "Vertex-induced, by embeddings: the support of a pattern is the number of sets of vertices \
    that it is made by with all edges between them. Each connected part with one vertex fewer is frequent as well.";
const MINIMUM_IMAGE: &str = "Edge-induced, by minimum image: the support of a pattern is the smallest number of \
    different vertices that one of its vertices stands for. An occurrence may have more edges than the pattern.";
const TRANSACTIONS: &str = "Edge-induced, by transactions: the support of a pattern is the number of graphs of the file \
    that contain it. An occurrence may have more edges than the pattern.";
const INSTANCES: &str = "Edge-induced, by instances: the support of a pattern is the number of sets of edges that form \
    it. Some pattern with one edge fewer is frequent as well.";
const VERTEX_MAPPINGS: &str = "Vertex-induced: a mapping gives each vertex of the pattern another vertex of the \
    graph, with the pattern's edges between them and no others.";
const EDGE_MAPPINGS: &str = "Edge-induced: a mapping gives each vertex of the pattern another vertex of the graph, \
    with the pattern's edges between them. There may be more edges.";
const VERTEX_SETS: &str = "Vertex-induced: every set of connected vertices counts once, as the pattern of all edges \
    among them.";
const EDGE_SETS: &str = "Edge-induced: every set of edges counts once, as the pattern that it makes. There may be more \
    edges between its vertices, so dense patterns hold sparser ones.";

const OPEN_SETS: &str = "Edge-induced: every set of edges counts once, as the pattern that it makes, where the pairs that \
    must not be joined are not. There may be other edges between its vertices.";
const OPEN_MAPPINGS: &str = "Edge-induced: a mapping gives each vertex of the pattern another vertex of the graph, with \
    the pattern's edges between them and without those that it forbids. There may be other edges.";
const HOMOMORPHISMS: &str = "Edge-induced: a homomorphism gives each vertex of the pattern a vertex of the graph, with the \
    pattern's edges between them. Vertices without an edge between them may have one image.";
const EDGE_ISOMORPHISMS: &str = "Edge-induced: an edge isomorphism gives each vertex of the pattern a vertex of the graph, \
    and each edge of the pattern another edge of the graph. Vertices without an edge between them may have one image.";

/// The meaning of an occurrence that counts once.
fn occurrence(induced: Induced) -> &'static str {
    match induced {
        Induced::Vertex => VERTEX_SETS,
        Induced::Edge => EDGE_SETS,
    }
}

impl TaskInfo {
    /// Of a task of cliques.
    pub(crate) fn cliques(subject: String, heading: String, meaning: &'static str) -> Self {
        TaskInfo {
            question: format!("{subject} (vertex-induced)"),
            subject,
            heading,
            meaning,
            unit: "count",
            total: Total::Sum("cliques"),
            parts: false,
            early: EarlyEnd::LowerBounds,
            induced: Some(Induced::Vertex),
            parameters: vec![],
        }
    }

    pub(crate) fn with(
        self,
        parameters: impl IntoIterator<Item = (&'static str, Parameter)>,
    ) -> Self {
        TaskInfo { parameters: parameters.into_iter().collect(), ..self }
    }

    /// The same of the embeddings that pass a filter.
    #[must_use]
    pub fn filtered(mut self, filter: &Filter) -> Self {
        let text = filter.to_string();
        self.question = format!("{} with {text}", self.question);
        self.parameters.push(("filter", Parameter::Text(text)));
        self
    }

    /// The same of motifs that are grown through motifs with enough embeddings.
    #[must_use]
    pub fn supported(mut self, support: u64) -> Self {
        self.question = format!("{}, grown with at least {support} embeddings", self.question);
        self.parameters.push(("support", Parameter::Number(support)));
        self
    }

    /// Of a task whose lines are numbers with names, which don't add up.
    pub(crate) fn statistic(statistic: &StatisticInfo) -> Self {
        TaskInfo {
            subject: statistic.subject.into(),
            question: statistic.subject.into(),
            heading: statistic.heading.into(),
            meaning: statistic.meaning,
            unit: statistic.unit,
            total: Total::None,
            parts: false,
            early: EarlyEnd::Lines,
            induced: None,
            parameters: vec![],
        }
    }

    /// Of a task of motifs.
    pub(crate) fn motifs(k: usize, induced: Induced) -> Self {
        TaskInfo {
            question: format!("motifs of {k} vertices, {induced}-induced"),
            meaning: occurrence(induced),
            total: Total::Sum("occurrences in all"),
            parts: true,
            induced: Some(induced),
            ..TaskInfo::cliques(
                format!("{induced}-induced motifs of {k} vertices"),
                format!("How often does each pattern of {k} vertices occur?"),
                "",
            )
        }
        .with([("k", Parameter::Number(k as u64))])
    }

    /// Of a task of frequent patterns.
    pub(crate) fn frequent(limit: SizeLimit, support: u64, measure: Measure) -> Self {
        let (name, n, one, more) = match limit {
            SizeLimit::MaxVertices(n) => ("max_vertices", n, "vertex", "vertices"),
            SizeLimit::MaxEdges(n) => ("max_edges", n, "edge", "edges"),
        };
        let size = counted(n, one, more);
        let (induced, by, unit, meaning) = match measure {
            Measure::Embeddings => (Induced::Vertex, "embeddings", "count", EMBEDDINGS),
            Measure::Mni => (Induced::Edge, "minimum-image support", "support", MINIMUM_IMAGE),
            Measure::Transactions => {
                (Induced::Edge, "graphs that contain them", "support", TRANSACTIONS)
            }
            Measure::Instances => (Induced::Edge, "instances", "support", INSTANCES),
        };
        TaskInfo {
            subject: format!("frequent patterns by the measure {}", measure.name()),
            question: format!(
                "frequent patterns of up to {size}, at least {support} by {by}, {induced}-induced"
            ),
            heading: format!(
                "Which labelled patterns of up to {size} have a support of {support} or more?"
            ),
            meaning,
            unit,
            total: Total::Lines("frequent patterns"),
            parts: false,
            early: EarlyEnd::Lines,
            induced: Some(induced),
            parameters: vec![
                (name, Parameter::Number(n as u64)),
                ("support", Parameter::Number(support)),
                ("measure", Parameter::Word(measure.name())),
            ],
        }
    }

    /// Of a task of matches.
    pub(crate) fn matches(pattern: &Pattern, induced: Induced, mappings: Option<Mappings>) -> Self {
        let open = pattern.has_absences();
        // The column, the noun, what a sum is, and the meaning.
        let (unit, of, total, meaning) = match (mappings, induced) {
            (None, _) if open => ("count", "occurrences", "occurrences in all", OPEN_SETS),
            (None, _) => ("count", "occurrences", "occurrences in all", occurrence(induced)),
            (Some(kind), induced) => {
                let meaning = match (kind, induced) {
                    (Mappings::Homomorphism, _) => HOMOMORPHISMS,
                    (Mappings::EdgeIsomorphism, _) => EDGE_ISOMORPHISMS,
                    (Mappings::Isomorphism, _) if open => OPEN_MAPPINGS,
                    (Mappings::Isomorphism, Induced::Vertex) => VERTEX_MAPPINGS,
                    (Mappings::Isomorphism, Induced::Edge) => EDGE_MAPPINGS,
                };
                (kind.plural(), kind.plural(), kind.plural(), meaning)
            }
        };
        let name = labelled_name(pattern);
        TaskInfo {
            subject: format!(
                "{induced}-induced matches of {}",
                counted(pattern.vertices(), "vertex", "vertices")
            ),
            question: format!("{of} of a pattern, {induced}-induced"),
            heading: match mappings {
                None => format!("How often does {name} occur?"),
                Some(_) => format!("How many {of} of {name} are there?"),
            },
            meaning,
            unit,
            total: Total::Sum(total),
            parts: false,
            early: EarlyEnd::LowerBounds,
            induced: Some(induced),
            parameters: vec![(
                "mappings",
                match mappings {
                    Some(kind) if kind.repeats() => Parameter::Word(kind.name()),
                    own => Parameter::Switch(own.is_some()),
                },
            )],
        }
    }
}
