//! Plans as words: what `search.cl` interprets, made from the host's search plans.

use std::ops::Range;

use gramer_graph::NO_LABEL;
use gramer_pattern::plan::search::{NextStep, SearchPlan, bits};
use gramer_pattern::plan::symmetry::Restrictions;
use gramer_pattern::task::Induced;
use gramer_pattern::{Pattern, SMALL_VERTICES, VertexSet};

/// Words of a depth; as in `search.cl`.
pub(crate) const DEPTH_WORDS: usize = 6 + SMALL_VERTICES;
/// Those of them that are labels of edges to earlier vertices.
pub(crate) const EDGE_LABELS: Range<usize> = 5..5 + SMALL_VERTICES;

/// A plan in the form that the kernel reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanWords {
    /// [`DEPTH_WORDS`] for each depth.
    pub words: Vec<u32>,
    /// The pattern vertex of each depth.
    pub order: Vec<usize>,
}

impl PlanWords {
    /// The words of a plan that meets every mapping.
    ///
    /// # Panics
    /// If it is a tree or has formulas: a plan that was made to count.
    pub fn new(plan: &SearchPlan) -> Self {
        let mut order = vec![];
        let mut words = vec![];
        let mut step = &plan.steps[0];
        loop {
            // Depth of a vertex that has its image.
            let depth = |v: usize| {
                order.iter().position(|&o| o == v).expect("sets know of earlier vertices alone")
            };
            let mut word = [0u32; DEPTH_WORDS];
            word[EDGE_LABELS].fill(NO_LABEL);
            word[EDGE_LABELS.end] = step.vertex as u32;
            word[0] = plan.classes[usize::from(step.class)];
            if let Some(source) = &step.source {
                let mut below = source.bounds;
                let mut set = Some(source.set);
                while let Some(number) = set {
                    let candidates = &plan.sets[number];
                    if let Some(list) = &candidates.list {
                        word[1] |= 1 << depth(list.of);
                        word[5 + depth(list.of)] = list.edge_label;
                    }
                    candidates.subtract.iter().for_each(|&v| word[2] |= 1 << depth(v));
                    below |= candidates.bounds;
                    set = candidates.parent;
                }
                // The host's conditions ask for falling numbers, with its largest degrees first. Here
                // degrees ascend, so the same conditions ask for ascending numbers.
                bits(below).for_each(|v| word[3] |= 1 << depth(v));
                source.conflicts.iter().for_each(|&v| word[4] |= 1 << depth(v));
            }
            words.extend_from_slice(&word);
            order.push(step.vertex);
            match step.then.as_slice() {
                [NextStep::Step(next)] => step = &plan.steps[*next],
                [NextStep::Emit] => return PlanWords { words, order },
                other => panic!("a plan that meets every mapping is a chain, not {other:?}"),
            }
        }
    }

    /// The words of a search in the given order, in which each vertex is next to an earlier one. Every mapping
    /// is met, of each occurrence one unless `mappings`.
    pub fn ordered(pattern: &Pattern, induced: Induced, mappings: bool, order: Vec<usize>) -> Self {
        let restrictions = match mappings {
            true => Restrictions::none(pattern.vertices()),
            false => Restrictions::new(pattern, &order, VertexSet::MAX),
        };
        let mut words = vec![];
        for (depth, &v) in order.iter().enumerate() {
            let mut word = [0u32; DEPTH_WORDS];
            word[0] = pattern.vertex_label(v);
            word[EDGE_LABELS].fill(NO_LABEL);
            word[EDGE_LABELS.end] = v as u32;
            for (d, &u) in order[..depth].iter().enumerate() {
                if let Some(label) = pattern.edge_label(u, v) {
                    word[1] |= 1 << d;
                    word[5 + d] = label;
                } else {
                    word[2] |= u32::from(induced == Induced::Vertex) << d;
                    word[4] |= 1 << d;
                }
                word[3] |= (restrictions.below[v] >> u & 1) << d;
            }
            words.extend_from_slice(&word);
        }
        PlanWords { words, order }
    }

    /// Number of depths.
    pub fn depths(&self) -> usize {
        self.order.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_asks_for_ascending_numbers() {
        let plan = SearchPlan::of(&Pattern::clique(3), Induced::Edge, false, true);
        let words = PlanWords::new(&plan);
        assert_eq!(words.depths(), 3);
        let last = &words.words[2 * DEPTH_WORDS..];
        assert_eq!((last[0], last[1], last[2]), (NO_LABEL, 0b11, 0));
        // Above the second, which is above the first.
        assert_ne!(last[3] & 0b10, 0);
        assert_eq!(words.words[DEPTH_WORDS + 3], 1);
    }

    #[test]
    fn an_induced_path_has_a_vertex_that_must_not_be_a_neighbour() {
        let path = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        let words = PlanWords::new(&SearchPlan::of(&path, Induced::Vertex, false, true));
        let last = &words.words[2 * DEPTH_WORDS..];
        assert_eq!((last[1].count_ones(), last[2].count_ones()), (1, 1));
    }
}
