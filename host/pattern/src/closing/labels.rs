//! Labels of a pattern that can be compared with those of a graph.

use gramer_base::error::{Error, Result};
use gramer_graph::{Label, NO_LABEL};

use crate::Pattern;

/// The pattern with the labels that can be compared in a graph that has labels of vertices and of edges, or has none. Labels
/// 0 of edges are left out if the graph has none: some programs write a label 0 for every edge.
///
/// ```
/// use gramer_pattern::Pattern;
/// use gramer_pattern::closing::labels::comparable;
///
/// let mut path = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
/// path.set_edge_label(0, 1, 0);
/// path.set_edge_label(1, 2, 0);
/// assert!(comparable(&path, false, true)?.has_edge_labels());
/// assert!(!comparable(&path, false, false)?.has_edge_labels());
/// path.set_edge_label(1, 2, 8);
/// assert!(comparable(&path, false, false).is_err());
/// # Ok::<(), gramer_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Usage`] if it asks for labels that the graph doesn't have.
pub fn comparable(pattern: &Pattern, of_vertices: bool, of_edges: bool) -> Result<Pattern> {
    if pattern.has_vertex_labels() && !of_vertices {
        return Err(Error::usage(
            "the pattern asks for vertex labels, but the graph has none: give the graph labels \
             (the setting `labels`), or take the labels out of the pattern",
        ));
    }
    if !pattern.has_edge_labels() || of_edges {
        return Ok(pattern.clone());
    }
    let edges = pattern.edges();
    let label = |&(i, j): &(usize, usize)| pattern.edge_label(i, j);
    let mut labels: Vec<Label> =
        edges.iter().filter_map(label).filter(|&l| l != NO_LABEL).collect();
    labels.sort_unstable();
    labels.dedup();
    if labels.len() > 1 {
        return Err(Error::usage(format!(
            "the pattern asks for {} different edge labels, but the edges of the graph have none: \
             give a graph with edge labels, or take them out of the pattern",
            labels.len()
        )));
    }
    if let Some(label) = labels.first().filter(|&&label| label != 0) {
        return Err(Error::usage(format!(
            "the pattern asks for the edge label {label}, but the edges of the graph have no labels: \
             give a graph with edge labels, or take it out of the pattern"
        )));
    }
    let mut plain = Pattern::from_edges(pattern.vertices(), &edges);
    pattern.absences().into_iter().for_each(|(i, j)| plain.set_absent(i, j));
    for v in (0..pattern.vertices()).filter(|_| pattern.has_vertex_labels()) {
        plain.set_vertex_label(v, pattern.vertex_label(v));
    }
    Ok(plain)
}
