//! The order in which roots go into segments: those whose lists are much the same follow each other.

use gramer_graph::{VertexId, View};

/// All vertices: each after the last of its neighbours before it, and next to the others of which that is
/// the last. So a vertex is near those with which it has neighbours in common.
pub fn near(view: View<'_>) -> Vec<VertexId> {
    let n = view.vertices();
    let none = VertexId::MAX;
    // The children of each vertex in a list, the first of them first.
    let (mut child, mut sibling) = (vec![none; n], vec![none; n]);
    let mut roots = vec![];
    for v in (0..n as VertexId).rev() {
        let row = view.neighbours(v);
        match row[..row.partition_point(|&u| u < v)].last() {
            Some(&parent) => {
                sibling[v as usize] = child[parent as usize];
                child[parent as usize] = v;
            }
            None => roots.push(v),
        }
    }
    let mut order = Vec::with_capacity(n);
    let mut stack = roots;
    while let Some(v) = stack.pop() {
        order.push(v);
        if sibling[v as usize] != none {
            stack.push(sibling[v as usize]);
        }
        if child[v as usize] != none {
            stack.push(child[v as usize]);
        }
    }
    order
}
