//! Patterns from the form in which they are serialised.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use gramer_graph::{Label, NO_LABEL};

use crate::{MAX_VERTICES, Pattern};

/// The fields of a serialised pattern.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    vertices: usize,
    edges: Vec<(usize, usize)>,
    #[serde(default)]
    labels: Option<Vec<Option<Label>>>,
    #[serde(default)]
    edge_labels: Option<Vec<Option<Label>>>,
    #[serde(default)]
    absent: Vec<(usize, usize)>,
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Fields::deserialize(deserializer)?;
        let n = fields.vertices;
        if n > MAX_VERTICES {
            return Err(D::Error::custom(format!(
                "{n} vertices; there are at most {MAX_VERTICES}"
            )));
        }
        let mut pattern = Pattern::new(n);
        for &(i, j) in &fields.edges {
            if i >= n || j >= n || i == j || pattern.has_edge(i, j) {
                return Err(D::Error::custom(format!("{i}-{j} is not an edge of {n} vertices")));
            }
            pattern.add_edge(i, j);
        }
        let fits = |name: &str, labels: &Option<Vec<_>>, wanted: usize| match labels {
            Some(labels) if labels.len() != wanted => {
                Err(D::Error::custom(format!("`{name}` must have {wanted} entries")))
            }
            _ => Ok(()),
        };
        fits("labels", &fields.labels, n)?;
        fits("edge_labels", &fields.edge_labels, fields.edges.len())?;
        for (v, label) in fields.labels.into_iter().flatten().enumerate() {
            pattern.set_vertex_label(v, label.unwrap_or(NO_LABEL));
        }
        let labels = fields.edge_labels.into_iter().flatten();
        for (&(i, j), label) in fields.edges.iter().zip(labels) {
            pattern.set_edge_label(i, j, label.unwrap_or(NO_LABEL));
        }
        for (i, j) in fields.absent {
            if i >= n || j >= n || i == j || pattern.has_edge(i, j) {
                return Err(D::Error::custom(format!("{i}-{j} is not a pair that can be absent")));
            }
            pattern.set_absent(i, j);
        }
        Ok(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_comes_back() {
        let mut pattern = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (0, 3)]);
        for step in 0..4 {
            let text = serde_json::to_string(&pattern).unwrap();
            assert_eq!(serde_json::from_str::<Pattern>(&text).unwrap(), pattern, "{text}");
            match step {
                0 => pattern.set_vertex_label(2, 7),
                1 => pattern.set_absent(0, 2),
                _ => pattern.edges().iter().for_each(|&(i, j)| pattern.set_edge_label(i, j, 3)),
            }
        }
    }

    #[test]
    fn what_is_not_a_pattern_is_refused() {
        for text in [
            r#"{"vertices": 33, "edges": []}"#,
            r#"{"vertices": 2, "edges": [[0, 2]]}"#,
            r#"{"vertices": 2, "edges": [[1, 1]]}"#,
            r#"{"vertices": 2, "edges": [[0, 1], [1, 0]]}"#,
            r#"{"vertices": 2, "edges": [[0, 1]], "labels": [1]}"#,
            r#"{"vertices": 2, "edges": [[0, 1]], "edge_labels": []}"#,
            r#"{"vertices": 2, "edges": [[0, 1]], "absent": [[1, 0]]}"#,
            r#"{"vertices": 2, "edges": [], "absent": [[1, 1]]}"#,
        ] {
            assert!(serde_json::from_str::<Pattern>(text).is_err(), "{text}");
        }
    }
}
