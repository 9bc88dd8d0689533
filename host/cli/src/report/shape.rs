//! Patterns as JSON has them.

use serde::Serialize;

use gramer_graph::{Graph, Label, NO_LABEL, Name};
use gramer_pattern::Pattern;

/// A pattern, or what stands for one.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Shape {
    Pattern(Pattern),
    /// With labels that are texts.
    Named {
        vertices: usize,
        edges: Vec<(usize, usize)>,
        labels: Option<Vec<Option<Name<'static>>>>,
        edge_labels: Option<Vec<Option<Name<'static>>>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        absent: Vec<(usize, usize)>,
    },
    /// A clique of more vertices than a pattern can have; its edges are all pairs.
    Clique {
        vertices: usize,
        edges: Option<()>,
        labels: Option<()>,
        edge_labels: Option<()>,
    },
}

impl Shape {
    pub(super) fn of(pattern: &Pattern, graph: &Graph) -> Self {
        let names = graph.names();
        if names.vertex_labels.is_none() && names.edge_labels.is_none() {
            return Shape::Pattern(pattern.clone());
        }
        let known = |label: &Label| *label != NO_LABEL;
        let vertex =
            |label: &Label| known(label).then(|| graph.vertex_label_name(*label).into_owned());
        let edge = |(i, j): &(usize, usize)| {
            let label = pattern.edge_label(*i, *j).filter(known)?;
            Some(graph.edge_label_name(label).into_owned())
        };
        let edges = pattern.edges();
        Shape::Named {
            vertices: pattern.vertices(),
            labels: pattern
                .has_vertex_labels()
                .then(|| pattern.vertex_labels().iter().map(vertex).collect()),
            edge_labels: pattern.has_edge_labels().then(|| edges.iter().map(edge).collect()),
            edges,
            absent: pattern.absences(),
        }
    }
}
