//! What a search plan's cost model knows of a pattern with labels in a graph.

use gramer_graph::{Label, NO_LABEL, VertexId, View};
use gramer_pattern::plan::matching_order::Estimates;
use gramer_pattern::{MAX_VERTICES, Pattern};

/// Counts, over a whole graph, the vertices of each of the pattern's labels and the edges between every two
/// of them: with them a plan begins at a rare label. One pass over the edges.
pub fn estimates(view: View<'_>, pattern: &Pattern) -> Estimates {
    let n = pattern.vertices();
    let mut labels: Vec<Label> = (0..n).map(|v| pattern.vertex_label(v)).collect();
    labels.sort_unstable();
    labels.dedup();
    let place = |label| labels.binary_search(&label).ok();
    let own = |v: VertexId| view.vertex_labels.and_then(|of| place(of[v as usize]));
    let any = place(NO_LABEL);
    // By place: vertices and all their neighbours; by two places: neighbours, and these times all neighbours.
    let (mut vertices, mut ends) = ([0.0; MAX_VERTICES], [0.0; MAX_VERTICES]);
    let mut arcs = [[0.0; MAX_VERTICES]; MAX_VERTICES];
    let mut walks = [[0.0; MAX_VERTICES]; MAX_VERTICES];
    for v in 0..view.vertices() as VertexId {
        let row = view.neighbours(v);
        let degree = row.len() as f64;
        let mut near = [0.0; MAX_VERTICES];
        for &u in row {
            own(u).into_iter().for_each(|at| near[at] += 1.0);
        }
        any.into_iter().for_each(|at| near[at] = degree);
        for at in own(v).into_iter().chain(any) {
            vertices[at] += 1.0;
            ends[at] += degree;
            for (to, near) in near.iter().enumerate() {
                arcs[at][to] += near;
                walks[at][to] += near * degree;
            }
        }
    }
    let at: Vec<usize> = (0..n).filter_map(|v| place(pattern.vertex_label(v))).collect();
    let mut known = Estimates {
        candidates: at.iter().map(|&at| vertices[at]).collect(),
        reach: vec![[0.0; MAX_VERTICES]; n],
        biased: vec![[0.0; MAX_VERTICES]; n],
    };
    for u in 0..n {
        for w in 0..n {
            let (from, to) = (at[u], at[w]);
            known.reach[u][w] = arcs[from][to] / f64::max(vertices[from], 1.0);
            known.biased[u][w] = walks[from][to] / f64::max(ends[from], 1.0);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_and_edges_are_counted_by_label() {
        // A star: the middle has label 1, two of its four leaves label 2, two label 3.
        let offsets = [0, 4, 5, 6, 7, 8];
        let neighbours = [1, 2, 3, 4, 0, 0, 0, 0];
        let view = View {
            offsets: &offsets,
            neighbours: &neighbours,
            vertex_labels: Some(&[1, 2, 3, 2, 3]),
            edge_labels: None,
        };
        let mut wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        wedge.set_vertex_label(0, 2);
        wedge.set_vertex_label(1, 1);
        let known = estimates(view, &wedge);
        assert_eq!(known.candidates, [2.0, 1.0, 5.0]);
        assert_eq!((known.reach[1][0], known.reach[1][2]), (2.0, 4.0));
        assert_eq!((known.reach[0][1], known.reach[0][0]), (1.0, 0.0));
        // Of the five vertices of any label the middle is reached by four of eight ends.
        assert_eq!((known.reach[2][1], known.biased[2][1]), (4.0 / 5.0, 4.0 / 8.0));
    }
}
