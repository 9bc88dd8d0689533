//! Which of the mappings with the same image stands for their occurrence.

use gramer_graph::{Label, NO_LABEL, VertexId, View};
use gramer_pattern::{MAX_VERTICES, Pattern, VertexSet};

/// Decides for patterns where wildcards let several mappings that no automorphism of the labelled
/// pattern links have the same image (see [`gramer_pattern::plan::symmetry::ambiguous`]).
///
/// The mapping that stands for its occurrence is the one whose images, read in the order of the
/// search, are the greatest among all mappings onto that occurrence. Conditions on ids leave the
/// greatest of each class of mappings that automorphisms link; this test leaves one class.
pub(super) struct Representative<'a> {
    graph: View<'a>,
    pattern: &'a Pattern,
    order: Vec<usize>,
}

impl<'a> Representative<'a> {
    pub fn new(graph: View<'a>, pattern: &'a Pattern, order: &[usize]) -> Self {
        Representative { graph, pattern, order: order.to_vec() }
    }

    /// Whether no mapping onto the same occurrence is greater.
    pub fn is_chosen(&self, mapping: &[VertexId]) -> bool {
        let mut image = [usize::MAX; MAX_VERTICES];
        !self.greater(mapping, 0, 0, false, &mut image)
    }

    /// Whether the choice so far, `image[v]` being the pattern vertex whose place v takes, can be
    /// completed to a greater mapping. `ahead`: it is greater already.
    fn greater(
        &self,
        mapping: &[VertexId],
        depth: usize,
        taken: VertexSet,
        ahead: bool,
        image: &mut [usize; MAX_VERTICES],
    ) -> bool {
        let n = self.order.len();
        if depth == n {
            return ahead;
        }
        let v = self.order[depth];
        for w in 0..n {
            if taken >> w & 1 == 1 || (!ahead && mapping[w] < mapping[v]) {
                continue;
            }
            image[v] = w;
            if self.fits(mapping, depth, image)
                && self.greater(mapping, depth + 1, taken | 1 << w, ahead || w != v, image)
            {
                return true;
            }
        }
        false
    }

    /// Whether the vertex at `depth` may take the place that it has in `image`.
    fn fits(&self, mapping: &[VertexId], depth: usize, image: &[usize; MAX_VERTICES]) -> bool {
        let v = self.order[depth];
        let w = image[v];
        let matches = |wanted: Label, there: Label| wanted == NO_LABEL || wanted == there;
        self.pattern.degree(v) == self.pattern.degree(w)
            && matches(self.pattern.vertex_label(v), self.graph.vertex_label(mapping[w]))
            && self.order[..depth].iter().all(|&u| {
                // The occurrence has the edges and the absent pairs of the pattern at the places of the images.
                let there = self.pattern.has_edge(image[u], w);
                there == self.pattern.has_edge(u, v)
                    && self.pattern.is_absent(image[u], w) == self.pattern.is_absent(u, v)
                    && (!there
                        || match self.pattern.edge_label(u, v) {
                            None | Some(NO_LABEL) => true,
                            Some(label) => {
                                self.graph.edge_label(mapping[image[u]], mapping[w]) == Some(label)
                            }
                        })
            })
    }
}
