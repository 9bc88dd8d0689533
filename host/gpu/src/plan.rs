//! Plans as words: what `search.cl` interprets, made from the host's search plans.

use gramer_graph::{Label, NO_LABEL};
use gramer_pattern::plan::candidates::ByLabel;
use gramer_pattern::plan::repeats::edge_conflicts;
use gramer_pattern::plan::search::{EdgeConflict, NextStep, SearchPlan, bits};
use gramer_pattern::plan::symmetry::Restrictions;
use gramer_pattern::task::{Induced, Mappings};
use gramer_pattern::{MAX_VERTICES, Pattern, SMALL_VERTICES, VertexSet};

/// Maximum number of depths of a build of the kernels. Local memory grows with it, so patterns of up to
/// [`SMALL_VERTICES`] vertices have a separate build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DepthLimit(usize);

impl DepthLimit {
    /// The limit of most patterns, and of programs of users.
    pub const SMALL: DepthLimit = DepthLimit(SMALL_VERTICES);

    /// The smallest limit for this many depths.
    pub fn of(depths: usize) -> Self {
        if depths <= SMALL_VERTICES { Self::SMALL } else { DepthLimit(MAX_VERTICES) }
    }

    /// Number of depths.
    pub const fn depths(self) -> usize {
        self.0
    }

    /// Words of a depth in a plan; `DEPTH_WORDS` in `search.cl`.
    pub const fn words(self) -> usize {
        6 + self.0
    }

    /// Definition of the limit for kernels.
    pub fn define(self) -> String {
        format!("#define MOST_DEPTHS {}\n", self.0)
    }
}

/// A vertex of a plan, and its connection with the earlier ones. Sets have a bit for each earlier depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Depth {
    pub label: Label,
    /// Neighbours.
    pub near: u32,
    /// Vertices that must not be neighbours.
    pub far: u32,
    /// Vertices whose images have smaller numbers.
    pub below: u32,
    /// Vertices that are compared, as they might have the same image.
    pub distinct: u32,
    pub edge_labels: [Label; MAX_VERTICES],
    /// The pattern's vertex.
    pub vertex: u32,
}

impl Default for Depth {
    fn default() -> Self {
        Depth {
            label: NO_LABEL,
            near: 0,
            far: 0,
            below: 0,
            distinct: 0,
            edge_labels: [NO_LABEL; MAX_VERTICES],
            vertex: 0,
        }
    }
}

impl Depth {
    /// Encodes the depth as `search.cl` describes it.
    pub fn words(&self, limit: DepthLimit) -> Vec<u32> {
        let mut words = vec![self.label, self.near, self.far, self.below, self.distinct];
        words.extend_from_slice(&self.edge_labels[..limit.depths()]);
        words.push(self.vertex);
        words
    }
}

/// A plan in the form that kernels read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlanWords {
    pub depths: Vec<Depth>,
    /// The pattern vertex of each depth.
    pub order: Vec<usize>,
    /// Of edge isomorphisms, by depth: the conflicts of its edges, each with its three depths from the lowest byte on.
    pub edges: Vec<Vec<u32>>,
}

/// Conflicts of a vertex' edges as words; `depth` gives the depth of a vertex.
fn packed(conflicts: &[EdgeConflict], depth: impl Fn(usize) -> usize) -> Vec<u32> {
    let word = |e: &EdgeConflict| depth(e.near) | depth(e.first) << 8 | depth(e.second) << 16;
    conflicts.iter().map(|e| word(e) as u32).collect()
}

impl PlanWords {
    /// The words of a plan that meets every mapping.
    ///
    /// # Panics
    /// If it is a tree or has formulas: a plan that was made to count.
    pub fn new(plan: &SearchPlan) -> Self {
        let mut order = vec![];
        let mut depths = vec![];
        let mut edges = vec![];
        let mut step = &plan.steps[0];
        loop {
            // Depth of a vertex that has its image.
            let depth = |v: usize| {
                order.iter().position(|&o| o == v).expect("sets know of earlier vertices alone")
            };
            let label = plan.classes[usize::from(step.class)];
            let mut own = Depth { label, vertex: step.vertex as u32, ..Depth::default() };
            if let Some(source) = &step.source {
                let mut below = source.bounds;
                let mut set = Some(source.set);
                while let Some(number) = set {
                    let candidates = &plan.sets[number];
                    if let Some(list) = &candidates.list {
                        own.near |= 1 << depth(list.of);
                        own.edge_labels[depth(list.of)] = list.edge_label;
                    }
                    candidates.subtract.iter().for_each(|&v| own.far |= 1 << depth(v));
                    below |= candidates.bounds;
                    set = candidates.parent;
                }
                // The host's conditions ask for falling numbers, with its largest degrees first. Here
                // degrees ascend, so the same conditions ask for ascending numbers.
                bits(below).for_each(|v| own.below |= 1 << depth(v));
                source.conflicts.iter().for_each(|&v| own.distinct |= 1 << depth(v));
            }
            if plan.mappings == Mappings::EdgeIsomorphism {
                let conflicts = step.source.as_ref().map(|source| &source.edges[..]);
                edges.push(packed(conflicts.unwrap_or_default(), depth));
            }
            depths.push(own);
            order.push(step.vertex);
            match step.then.as_slice() {
                [NextStep::Step(next)] => step = &plan.steps[*next],
                [NextStep::Emit] => return PlanWords { depths, order, edges },
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
        let mut depths = vec![];
        for (depth, &v) in order.iter().enumerate() {
            let label = pattern.vertex_label(v);
            let mut own = Depth { label, vertex: v as u32, ..Depth::default() };
            for (d, &u) in order[..depth].iter().enumerate() {
                if let Some(label) = pattern.edge_label(u, v) {
                    own.near |= 1 << d;
                    own.edge_labels[d] = label;
                } else {
                    own.far |= u32::from(induced == Induced::Vertex) << d;
                    own.distinct |= 1 << d;
                }
                own.below |= (restrictions.below[v] >> u & 1) << d;
            }
            depths.push(own);
        }
        PlanWords { depths, order, edges: vec![] }
    }

    /// The words of a search for homomorphisms or edge isomorphisms in the given order.
    pub fn repeating(pattern: &Pattern, mappings: Mappings, order: Vec<usize>) -> Self {
        let mut plan = PlanWords::ordered(pattern, Induced::Edge, true, order);
        plan.depths.iter_mut().for_each(|depth| depth.distinct = 0);
        if mappings == Mappings::EdgeIsomorphism {
            let (order, space) = (&plan.order, ByLabel::new(pattern));
            let depth = |v| order.iter().position(|&o| o == v).expect("an order has all vertices");
            let of = |at: usize| {
                let placed = order[..at].iter().fold(0, |all, &v| all | 1 << v);
                packed(&edge_conflicts(pattern, &space, placed, order[at]), depth)
            };
            plan.edges = (0..order.len()).map(of).collect();
        }
        plan
    }

    /// Of edge isomorphisms, the place of a depth's conflicts in its words.
    pub fn conflicts_at(&self) -> Option<usize> {
        (!self.edges.is_empty()).then(|| self.depths[0].words(self.limit()).len())
    }

    /// The words of a depth for joins: of edge isomorphisms, the number of conflicts and these follow.
    pub fn join_words(&self, at: usize) -> Vec<u32> {
        let mut words = self.depths[at].words(self.limit());
        if let Some(edges) = self.edges.get(at) {
            words.push(edges.len() as u32);
            words.extend_from_slice(edges);
        }
        words
    }

    /// Number of depths.
    pub fn size(&self) -> usize {
        self.order.len()
    }

    /// The limit of the kernels that read it.
    pub fn limit(&self) -> DepthLimit {
        DepthLimit::of(self.size())
    }

    /// Encodes all depths.
    pub fn words(&self) -> Vec<u32> {
        self.depths.iter().flat_map(|depth| depth.words(self.limit())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_asks_for_ascending_numbers() {
        let plan = SearchPlan::of(&Pattern::clique(3), Induced::Edge, false, true);
        let plan = PlanWords::new(&plan);
        assert_eq!(plan.size(), 3);
        let last = plan.depths[2];
        assert_eq!((last.label, last.near, last.far), (NO_LABEL, 0b11, 0));
        // Above the second, which is above the first.
        assert_ne!(last.below & 0b10, 0);
        assert_eq!(plan.depths[1].below, 1);
    }

    #[test]
    fn an_induced_path_has_a_vertex_that_must_not_be_a_neighbour() {
        let path = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        let plan = PlanWords::new(&SearchPlan::of(&path, Induced::Vertex, false, true));
        let last = plan.depths[2];
        assert_eq!((last.near.count_ones(), last.far.count_ones()), (1, 1));
    }

    #[test]
    fn words_have_room_for_as_many_labels_as_the_kernels() {
        for (vertices, most) in [(2, 16), (16, 16), (17, 32), (32, 32)] {
            let edges: Vec<_> = (1..vertices).map(|v| (v - 1, v)).collect();
            let mut path = Pattern::from_edges(vertices, &edges);
            edges.iter().for_each(|&(u, v)| path.set_edge_label(u, v, u as u32));
            let plan = PlanWords::ordered(&path, Induced::Edge, true, (0..vertices).collect());
            let (words, each) = (plan.words(), plan.limit().words());
            assert_eq!((plan.limit().depths(), words.len()), (most, vertices * each));
            let last = &words[(vertices - 1) * each..];
            assert_eq!(last[1], 1 << (vertices - 2));
            assert_eq!(last[5 + vertices - 2], vertices as u32 - 2);
            assert_eq!(last[each - 1], vertices as u32 - 1);
        }
    }
}
