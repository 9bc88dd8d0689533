//! What can be said about a graph at a glance.

use serde::Serialize;

use super::{Graph, Order, VertexId};
use gramer_base::context::Cancel;
use gramer_base::error::Result;

/// Sizes of a graph and what was dropped when it was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Number of vertices, isolated ones included.
    pub vertices: u64,
    /// Number of undirected edges.
    pub edges: u64,
    /// Vertices without an edge.
    pub isolated: u64,
    /// Smallest degree.
    pub min_degree: u64,
    /// Mean degree, 2 E / V; 0 for an empty graph.
    pub mean_degree: f64,
    /// Largest degree.
    pub max_degree: u64,
    /// Connected components, isolated vertices included.
    pub components: u64,
    /// Vertices of the largest component.
    pub largest_component: u64,
    /// Different vertex labels; 0 without labels.
    pub vertex_labels: u64,
    /// Different edge labels; 0 without labels.
    pub edge_labels: u64,
    /// Meaning of the vertex numbers: `input` or `rank`.
    pub order: &'static str,
    /// Edges read.
    pub raw_edges: u64,
    /// Self loops dropped.
    pub self_loops: u64,
    /// Duplicates dropped, in either direction.
    pub duplicates: u64,
    /// Duplicates with another edge label than the one kept.
    pub label_conflicts: u64,
    /// Bytes of the graph's arrays, in memory or mapped.
    pub memory_bytes: u64,
}

impl Summary {
    /// Analyses the whole graph, including its components, in linear time.
    ///
    /// # Errors
    /// [`gramer_base::Error::Interrupted`] after Ctrl-C.
    pub fn new(graph: &Graph, cancel: &Cancel) -> Result<Self> {
        let view = graph.view();
        let degrees = || (0..graph.vertices() as VertexId).map(|v| view.degree(v) as u64);
        let (components, largest_component) = components(graph, cancel)?;
        let stats = graph.stats();
        let entries = view.neighbours.len() as u64;
        let vertices = graph.vertices() as u64;
        let memory_bytes = 8 * (vertices + 1)
            + 8 * vertices
            + 4 * entries
            + if graph.has_vertex_labels() { 4 * vertices } else { 0 }
            + if graph.has_edge_labels() { 4 * entries } else { 0 };
        Ok(Summary {
            vertices,
            edges: graph.edges() as u64,
            isolated: degrees().filter(|&d| d == 0).count() as u64,
            min_degree: degrees().min().unwrap_or(0),
            mean_degree: if vertices == 0 { 0.0 } else { entries as f64 / vertices as f64 },
            max_degree: graph.max_degree() as u64,
            components,
            largest_component,
            vertex_labels: graph.vertex_label_count() as u64,
            edge_labels: graph.edge_label_count() as u64,
            order: match graph.order() {
                Order::Input => "input",
                Order::RankOn1 => "rank",
            },
            raw_edges: stats.raw_edges,
            self_loops: stats.self_loops,
            duplicates: stats.duplicates,
            label_conflicts: stats.label_conflicts,
            memory_bytes,
        })
    }
}

/// Number of connected components, and vertices of the largest (union-find, path halving, the
/// smaller number becomes the root).
fn components(graph: &Graph, cancel: &Cancel) -> Result<(u64, u64)> {
    let view = graph.view();
    let mut parent: Vec<VertexId> = (0..graph.vertices() as VertexId).collect();
    let root = |parent: &mut [VertexId], mut v: VertexId| {
        while parent[v as usize] != v {
            let above = parent[parent[v as usize] as usize];
            parent[v as usize] = above;
            v = above;
        }
        v
    };
    for u in 0..graph.vertices() as VertexId {
        if u % 4096 == 0 {
            cancel.check()?;
        }
        let row = view.neighbours(u);
        for &v in &row[..row.partition_point(|&v| v < u)] {
            let (a, b) = (root(&mut parent, u), root(&mut parent, v));
            parent[a.max(b) as usize] = a.min(b);
        }
    }
    let mut sizes = vec![0u64; parent.len()];
    for v in 0..parent.len() as VertexId {
        let root = root(&mut parent, v);
        sizes[root as usize] += 1;
    }
    let count = sizes.iter().filter(|&&size| size > 0).count() as u64;
    Ok((count, sizes.into_iter().max().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    #[test]
    fn two_paths_and_a_lone_vertex() {
        let mut b = Builder::new();
        for (u, v) in [(5, 4), (4, 3), (0, 1)] {
            b.edge(u, v);
        }
        b.vertex(9);
        let s = Summary::new(&b.build(), &Cancel::default()).unwrap();
        assert_eq!((s.vertices, s.edges, s.isolated), (6, 3, 1));
        assert_eq!((s.min_degree, s.max_degree, s.mean_degree), (0, 2, 1.0));
        assert_eq!((s.components, s.largest_component), (3, 3));
        let s = Summary::new(&Builder::new().build(), &Cancel::default()).unwrap();
        assert_eq!((s.components, s.largest_component, s.min_degree), (0, 0, 0));
    }
}
