//! Graphs of a file of several. The upper 32 bits of a vertex id are the number of its graph.

use crate::{Builder, Graph, VertexId};

/// The numbers of the graphs, each with its vertices, by ascending number. A graph with names is one.
///
/// ```
/// use gramer_graph::{Builder, transactions};
///
/// let mut builder = Builder::new();
/// builder.edge(1, 2);
/// builder.edge((7 << 32) + 1, (7 << 32) + 2);
/// let graph = builder.build();
/// let all: Vec<(u64, usize)> =
///     transactions::of(&graph).into_iter().map(|(number, vertices)| (number, vertices.len())).collect();
/// assert_eq!(all, [(0, 2), (7, 2)]);
/// ```
pub fn of(graph: &Graph) -> Vec<(u64, Vec<VertexId>)> {
    let named = graph.names().vertices.is_some();
    let number = |v: VertexId| if named { 0 } else { graph.original_id(v) >> 32 };
    let mut vertices: Vec<VertexId> = (0..graph.vertices() as VertexId).collect();
    vertices.sort_by_key(|&v| number(v));
    let chunks = vertices.chunk_by(|&u, &v| number(u) == number(v));
    chunks.map(|chunk| (number(chunk[0]), chunk.to_vec())).collect()
}

/// One of them by itself, with its ids and labels.
pub fn alone(graph: &Graph, vertices: &[VertexId]) -> Graph {
    let view = graph.view();
    let mut builder = Builder::new();
    for &v in vertices {
        let id = graph.original_id(v);
        match graph.has_vertex_labels() {
            true => builder.labelled_vertex(id, view.vertex_label(v)),
            false => builder.vertex(id),
        }
        for entry in view.row(v) {
            let u = view.neighbours[entry];
            if u > v {
                match view.edge_labels {
                    Some(labels) => builder.labelled_edge(id, graph.original_id(u), labels[entry]),
                    None => builder.edge(id, graph.original_id(u)),
                }
            }
        }
    }
    builder.build()
}
