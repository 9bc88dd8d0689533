//! Statistics of a labelled pattern in a graph, for the cost model of search plans.

use gramer_graph::{Label, NO_LABEL, VertexId, View};
use gramer_pattern::plan::matching_order::Estimates;
use gramer_pattern::{MAX_VERTICES, Pattern};

/// Counts, over a whole graph, the vertices of each of the pattern's labels and the edges between every two
/// of them: with them a plan begins at a rare label. One pass over the edges.
pub fn estimates(view: View<'_>, pattern: &Pattern) -> Estimates {
    let labels = (0..pattern.vertices()).map(|v| pattern.vertex_label(v)).collect();
    LabelPairs::new(view, labels).estimates(pattern)
}

/// Vertices by label and edges by the labels of their ends, for any number of patterns.
#[derive(Debug, Clone)]
pub struct LabelPairs {
    /// In order; [`NO_LABEL`] matches every vertex.
    labels: Vec<Label>,
    /// By place: vertices, and all their neighbours.
    vertices: Vec<f64>,
    ends: Vec<f64>,
    /// By two places, the second next to each other: neighbours, and these times all neighbours.
    arcs: Vec<f64>,
    walks: Vec<f64>,
}

impl LabelPairs {
    /// Of these labels, in one pass over the edges.
    pub fn new(view: View<'_>, mut labels: Vec<Label>) -> Self {
        labels.sort_unstable();
        labels.dedup();
        let place = |label| labels.binary_search(&label).ok();
        let own = |v: VertexId| view.vertex_labels.and_then(|of| place(of[v as usize]));
        let any = place(NO_LABEL);
        let all = labels.len();
        let (mut vertices, mut ends) = (vec![0.0; all], vec![0.0; all]);
        let (mut arcs, mut walks) = (vec![0.0; all * all], vec![0.0; all * all]);
        for v in 0..view.vertices() as VertexId {
            let row = view.neighbours(v);
            let degree = row.len() as f64;
            for at in own(v).into_iter().chain(any) {
                vertices[at] += 1.0;
                ends[at] += degree;
                for to in row.iter().flat_map(|&u| own(u).into_iter().chain(any)) {
                    arcs[at * all + to] += 1.0;
                    walks[at * all + to] += degree;
                }
            }
        }
        LabelPairs { labels, vertices, ends, arcs, walks }
    }

    /// Statistics of a pattern.
    ///
    /// # Panics
    /// If it has a label that was not counted.
    pub fn estimates(&self, pattern: &Pattern) -> Estimates {
        let (n, all) = (pattern.vertices(), self.labels.len());
        let place = |v| self.labels.binary_search(&pattern.vertex_label(v));
        let at: Vec<usize> =
            (0..n).map(|v| place(v).expect("the pattern's labels were counted")).collect();
        let mut known = Estimates {
            candidates: at.iter().map(|&at| self.vertices[at]).collect(),
            reach: vec![[0.0; MAX_VERTICES]; n],
            biased: vec![[0.0; MAX_VERTICES]; n],
        };
        for u in 0..n {
            for w in 0..n {
                let (from, both) = (at[u], at[u] * all + at[w]);
                known.reach[u][w] = self.arcs[both] / f64::max(self.vertices[from], 1.0);
                known.biased[u][w] = self.walks[both] / f64::max(self.ends[from], 1.0);
            }
        }
        known
    }

    /// Whether the graph has an edge between vertices with these labels.
    ///
    /// # Panics
    /// If one of them was not counted.
    pub fn has_edge(&self, a: Label, b: Label) -> bool {
        let place = |label| self.labels.binary_search(&label).expect("the label was counted");
        self.arcs[place(a) * self.labels.len() + place(b)] > 0.0
    }
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
