//! Back to the order of the input.

use super::write::each_edge;
use super::{Builder, Graph, Order, Parts, VertexId};
use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::{Error, Result};

/// Returns the graph with its vertices in the order of the input: by ascending original id.
///
/// # Errors
/// [`Error::Interrupted`] after Ctrl-C, [`Error::Unsupported`] where memory is too small or limited.
pub fn in_input_order(graph: &Graph, context: &Context) -> Result<Graph> {
    if graph.order() == Order::Input {
        return Ok(graph.clone());
    }
    if context.budget.is_some() {
        let what = "memory is limited, and to bring a graph back to the order of its input takes memory for all of \
                    it: leave the limit out, or keep the order of the image";
        return Err(Error::Unsupported(what.into()));
    }
    let mut builder = Builder::new();
    let mut looks = CancelPoll::new(&context.cancel);
    for v in 0..graph.vertices() as VertexId {
        looks.check(1)?;
        match graph.view().vertex_labels {
            Some(labels) => builder.labelled_vertex(graph.original_id(v), labels[v as usize]),
            None => builder.vertex(graph.original_id(v)),
        }
    }
    each_edge(graph, |u, v, label| {
        let (u, v) = (graph.original_id(u), graph.original_id(v));
        if graph.has_edge_labels() {
            builder.labelled_edge(u, v, label);
        } else {
            builder.edge(u, v);
        }
        looks.check(1)
    })?;
    let built = builder.build_with(context)?;
    if built.vertices() != graph.vertices() || built.edges() != graph.edges() {
        return Err(Error::Unsupported("the original ids of the graph repeat".into()));
    }
    // What was dropped on the way from the input, not from the ordered graph.
    let Graph { offsets, neighbours, vertex_labels, edge_labels, original_ids, .. } = built;
    let stats = graph.stats();
    let order = Order::Input;
    let names = graph.names().clone();
    let parts = Parts {
        offsets,
        neighbours,
        vertex_labels,
        edge_labels,
        original_ids: original_ids.stored(),
        names,
        order,
        stats,
    };
    Ok(Graph::from_parts(parts).made_of(graph))
}
