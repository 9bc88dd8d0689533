//! Mappings of a pattern by their definitions: every choice of images is tried.

use std::collections::BTreeSet;

use gramer_graph::{NO_LABEL, VertexId, View};
use gramer_pattern::Pattern;
use gramer_pattern::task::Mappings;

/// Every edge-induced mapping of a kind, ascending.
pub fn every(graph: View<'_>, pattern: &Pattern, mappings: Mappings) -> Vec<Vec<VertexId>> {
    let mut all: Vec<Vec<VertexId>> = vec![vec![]];
    for v in 0..pattern.vertices() {
        let images = 0..graph.vertices() as VertexId;
        let longer = |mapping: &Vec<VertexId>| {
            let images = images.clone().filter(|&x| fits(graph, pattern, mapping, v, x));
            images.map(|x| [&mapping[..], &[x]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let edges = pattern.edges();
    all.retain(|mapping| match mappings {
        Mappings::Homomorphism => true,
        Mappings::Isomorphism => {
            mapping.iter().collect::<BTreeSet<_>>().len() == pattern.vertices()
        }
        Mappings::EdgeIsomorphism => {
            let ends = edges.iter().map(|&(u, v)| BTreeSet::from([mapping[u], mapping[v]]));
            ends.collect::<BTreeSet<_>>().len() == edges.len()
        }
    });
    all
}

/// Whether `x` has the label of the vertex `v`, and the edges to the images of the vertices before.
fn fits(graph: View<'_>, pattern: &Pattern, mapping: &[VertexId], v: usize, x: VertexId) -> bool {
    let same = |wanted, label| wanted == NO_LABEL || wanted == label;
    same(pattern.vertex_label(v), graph.vertex_label(x))
        && mapping.iter().enumerate().all(|(u, &y)| {
            match (pattern.edge_label(u, v), graph.edge_label(y, x)) {
                (Some(wanted), Some(label)) => same(wanted, label),
                (Some(_), None) => false,
                (None, there) => there.is_none() || !pattern.is_absent(u, v),
            }
        })
}
