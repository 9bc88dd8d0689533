//! What can be asked of an engine.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::info::{CLIQUE, MAXIMAL_CLIQUES, MAXIMUM_CLIQUE, Parameter, TaskInfo, Total};
use crate::{MAX_VERTICES, Pattern, SMALL_VERTICES, Statistic};

pub use crate::mappings::Mappings;
use gramer_base::choice::Choice;
use gramer_base::error::{Error, Result};

/// Which subgraphs count as an occurrence of a pattern. They are different questions with
/// different answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Induced {
    /// A set of vertices with *all* edges that the graph has between them.
    Vertex,
    /// A set of edges; the graph may have more edges between their ends.
    Edge,
}

impl Choice for Induced {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (
            Induced::Vertex,
            "vertex",
            "A set of vertices with all edges that the graph has between them",
        ),
        (Induced::Edge, "edge", "A set of edges; the graph may have more edges between their ends"),
    ];
}

impl std::fmt::Display for Induced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// How often a labelled pattern occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The number of its vertex-induced embeddings, by the rule that a pattern counts only if
    /// each connected induced sub-pattern with one vertex fewer does.
    Embeddings,
    /// Minimum-image support of edge-induced occurrences: the smallest number of different
    /// graph vertices that a pattern vertex is mapped to.
    Mni,
    /// The number of graphs of a file of several graphs in which it occurs, edge-induced.
    Transactions,
    /// The number of its instances, which are sets of edges of the graph. A pattern is reached by adding an edge to a
    /// frequent one (GAMMA's algorithm 2).
    Instances,
}

impl Choice for Measure {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Measure::Embeddings, "embeddings", "The number of vertex-induced embeddings"),
        (Measure::Mni, "mni", "Minimum-image support of edge-induced occurrences"),
        (Measure::Transactions, "transactions", "The number of graphs of the file that contain it"),
        (Measure::Instances, "instances", "The number of edge-induced instances"),
    ];
}

/// How far frequent subgraph mining goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeLimit {
    /// Patterns of up to this many vertices.
    MaxVertices(usize),
    /// Patterns of up to this many edges.
    MaxEdges(usize),
}

/// A mining task.
///
/// ```
/// use gramer_pattern::task::{Induced, Task};
///
/// let task = Task::Motif { k: 4, induced: Induced::Vertex };
/// task.check()?;
/// assert_eq!(task.name(), "motif");
/// assert!(Task::Clique { k: 2 }.check().is_err());
/// # Ok::<(), gramer_base::Error>(())
/// ```
///
/// Serialised as `{"task": "motif", "k": 4, "induced": "vertex"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "task", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Task {
    /// The complete subgraphs of `k` vertices.
    Clique {
        /// 3 to 16.
        k: usize,
    },
    /// The complete subgraphs of `smallest` to `largest` vertices, by size, from one search.
    CliqueSizes {
        /// At least 3.
        smallest: usize,
        /// At least as many; there is no upper bound.
        largest: usize,
    },
    /// The maximal cliques, by size.
    MaximalCliques,
    /// One complete subgraph with as many vertices as any.
    MaximumClique,
    /// Every connected pattern of `k` vertices with its number of occurrences.
    Motif {
        /// 3 to 8; engines have their own bounds.
        k: usize,
        /// What an occurrence is.
        induced: Induced,
    },
    /// The frequent labelled patterns.
    Fsm {
        /// Largest pattern.
        limit: SizeLimit,
        /// Least support, at least 1.
        support: u64,
        /// What support is.
        measure: Measure,
    },
    /// Numbers with names.
    Statistic(Statistic),
    /// The occurrences of one pattern.
    Match {
        /// The query: 1 to 32 vertices.
        pattern: Pattern,
        /// What an occurrence is.
        induced: Induced,
        /// The mappings that are counted, or each occurrence once.
        #[serde(with = "crate::mappings::field")]
        mappings: Option<Mappings>,
    },
}

impl Task {
    /// The name of the task in results and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Task::Clique { .. } => "clique",
            Task::CliqueSizes { .. } => "clique-sizes",
            Task::MaximalCliques => "maximal-cliques",
            Task::MaximumClique => "maximum-clique",
            Task::Motif { .. } => "motif",
            Task::Fsm { .. } => "fsm",
            Task::Statistic(statistic) => statistic.name(),
            Task::Match { .. } => "match",
        }
    }

    /// What printers and refusals say of it.
    ///
    /// ```
    /// use gramer_pattern::task::{Induced, Task};
    ///
    /// let info = Task::Motif { k: 4, induced: Induced::Vertex }.info();
    /// assert_eq!(info.question, "motifs of 4 vertices, vertex-induced");
    /// ```
    pub fn info(&self) -> TaskInfo {
        match self {
            Task::Clique { k } => TaskInfo::cliques(
                format!("cliques of {k} vertices"),
                format!("How many cliques of {k} vertices are there?"),
                CLIQUE,
            )
            .with([("k", Parameter::Number(*k as u64))]),
            Task::CliqueSizes { smallest, largest } => {
                let sizes = match largest {
                    &usize::MAX => format!("{smallest} and more"),
                    _ => format!("{smallest} to {largest}"),
                };
                let heading = match largest {
                    &usize::MAX => format!("from {smallest} on"),
                    _ => format!("from {smallest} to {largest}"),
                };
                let heading = format!("How many cliques of each size {heading} are there?");
                let info =
                    TaskInfo::cliques(format!("cliques of {sizes} vertices"), heading, CLIQUE);
                let sizes = [("k", smallest), ("up_to", largest)];
                let sizes = sizes.map(|(name, size)| (name, Parameter::Number(*size as u64)));
                TaskInfo { parts: true, ..info.with(sizes) }
            }
            Task::MaximumClique => TaskInfo {
                total: Total::Sum("clique found"),
                ..TaskInfo::cliques(
                    "the maximum clique".into(),
                    "How large is the largest clique?".into(),
                    MAXIMUM_CLIQUE,
                )
            },
            Task::MaximalCliques => TaskInfo {
                question: "maximal cliques by size (vertex-induced)".into(),
                total: Total::Sum("maximal cliques"),
                parts: true,
                ..TaskInfo::cliques(
                    "maximal cliques".into(),
                    "How many maximal cliques of each size are there?".into(),
                    MAXIMAL_CLIQUES,
                )
            },
            Task::Motif { k, induced } => TaskInfo::motifs(*k, *induced),
            Task::Fsm { limit, support, measure } => TaskInfo::frequent(*limit, *support, *measure),
            Task::Statistic(statistic) => TaskInfo::statistic(statistic.info()),
            Task::Match { pattern, induced, mappings } => {
                TaskInfo::matches(pattern, *induced, *mappings)
            }
        }
    }

    /// Checks the ranges that the documentation of the fields gives.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the field.
    pub fn check(&self) -> Result<()> {
        let range = |what: &str, value: usize, low: usize, high: usize| {
            let allowed = match high {
                _ if (low..=high).contains(&value) => return Ok(()),
                usize::MAX => format!("at least {low}"),
                _ => format!("{low} to {high}"),
            };
            Err(Error::usage(format!("{what} is {value}, but must be {allowed}")))
        };
        match self {
            Task::Clique { k } => range("k", *k, 3, SMALL_VERTICES),
            Task::CliqueSizes { smallest, largest } => {
                range("the smallest size", *smallest, 3, usize::MAX)?;
                range("the largest size", *largest, *smallest, usize::MAX)
            }
            Task::MaximalCliques | Task::MaximumClique | Task::Statistic(_) => Ok(()),
            Task::Motif { k, .. } => range("k", *k, 3, 8),
            Task::Fsm { limit, support, measure } => {
                if *support == 0 {
                    return Err(Error::usage("support is 0, but must be at least 1"));
                }
                match (limit, measure) {
                    (SizeLimit::MaxVertices(_), Measure::Instances) => Err(Error::usage(
                        "measure instances adds edge by edge: give max-edges instead of max-vertices",
                    )),
                    (SizeLimit::MaxVertices(n), _) => range("max-vertices", *n, 2, 8),
                    (
                        SizeLimit::MaxEdges(n),
                        Measure::Mni | Measure::Transactions | Measure::Instances,
                    ) => range("max-edges", *n, 1, 7),
                    (SizeLimit::MaxEdges(_), Measure::Embeddings) => Err(Error::usage(
                        "max-edges goes with the measures mni, transactions and instances (edge-induced); for measure embeddings \
                         (vertex-induced) give max-vertices",
                    )),
                }
            }
            Task::Match { pattern, induced, mappings } => {
                range("the number of pattern vertices", pattern.vertices(), 1, MAX_VERTICES)?;
                if *induced == Induced::Vertex && pattern.has_absences() {
                    return Err(Error::usage(
                        "vertex-induced, no pair without an edge is joined: take the pairs that must not be joined \
                         out of the pattern, or ask for edge-induced occurrences",
                    ));
                }
                if *induced == Induced::Vertex && mappings.is_some_and(Mappings::repeats) {
                    return Err(Error::usage(
                        "homomorphisms and edge isomorphisms are edge-induced, not vertex-induced: ask for \
                         edge-induced mappings, or for isomorphisms",
                    ));
                }
                Ok(())
            }
        }
    }
}

/// Whether every connected induced sub-pattern with one vertex fewer, of 2 or more vertices, has
/// been reported: the rule of [`Measure::Embeddings`], which makes the answer independent of the
/// numbering.
pub fn parts_reported(pattern: &Pattern, reported: &HashSet<Pattern>) -> bool {
    let n = pattern.vertices();
    n <= 2
        || (0..n).all(|left_out| {
            let rest: Vec<usize> = (0..n).filter(|&i| i != left_out).collect();
            let part = pattern.induced(&rest);
            !part.is_connected() || reported.contains(&part.canonical().0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_come_back_from_text() {
        let mut pattern = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        pattern.set_vertex_label(1, 7);
        let fsm = |limit, measure| Task::Fsm { limit, support: u64::MAX, measure };
        for (task, text) in [
            (Task::Clique { k: 4 }, r#"{"task":"clique","k":4}"#),
            (Task::MaximalCliques, r#"{"task":"maximal-cliques"}"#),
            (Task::Statistic(Statistic::Core), r#"{"task":"statistic","statistic":"core"}"#),
            (
                Task::Motif { k: 3, induced: Induced::Edge },
                r#"{"task":"motif","k":3,"induced":"edge"}"#,
            ),
            (
                fsm(SizeLimit::MaxVertices(3), Measure::Embeddings),
                r#"{"task":"fsm","limit":{"max_vertices":3},"support":18446744073709551615,"measure":"embeddings"}"#,
            ),
            (
                fsm(SizeLimit::MaxEdges(2), Measure::Mni),
                r#"{"task":"fsm","limit":{"max_edges":2},"support":18446744073709551615,"measure":"mni"}"#,
            ),
            (
                Task::Match {
                    pattern,
                    induced: Induced::Vertex,
                    mappings: Some(Mappings::Isomorphism),
                },
                r#"{"task":"match","pattern":{"vertices":3,"edges":[[0,1],[1,2]],"labels":[null,7,null],"edge_labels":null},"induced":"vertex","mappings":true}"#,
            ),
        ] {
            assert_eq!(serde_json::to_string(&task).unwrap(), text);
            assert_eq!(serde_json::from_str::<Task>(text).unwrap(), task);
            assert!(text.contains(&format!("\"{}\"", task.name())));
        }
        let mappings = |value: &str| {
            let text = r#"{"task":"match","pattern":{"vertices":1,"edges":[],"labels":null,"edge_labels":null},"#;
            let text = format!("{text}\"induced\":\"edge\",\"mappings\":{value}}}");
            let task = serde_json::from_str::<Task>(&text).map_err(|e| e.to_string())?;
            let Task::Match { mappings, .. } = task.clone() else { panic!("{task:?}") };
            Ok((mappings, serde_json::to_string(&task).unwrap() == text))
        };
        for (value, read) in [
            ("false", None),
            ("true", Some(Mappings::Isomorphism)),
            ("\"homomorphism\"", Some(Mappings::Homomorphism)),
            ("\"edges\"", Some(Mappings::EdgeIsomorphism)),
        ] {
            assert_eq!(mappings(value), Ok((read, true)), "{value}");
        }
        assert_eq!(mappings("\"isomorphism\""), Ok((Some(Mappings::Isomorphism), false)));
        let error: String = mappings("\"edge\"").unwrap_err();
        assert!(error.contains("must be one of isomorphism, homomorphism, edges"), "{error}");
        assert!(serde_json::from_str::<Task>(r#"{"task":"clique"}"#).is_err());
    }
}
