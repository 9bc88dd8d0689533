//! Plans of mappings that may take several vertices of a pattern to one of the graph: homomorphisms and edge
//! isomorphisms.
//!
//! In a plan of homomorphisms no candidate is left out for its use elsewhere, so that vertices depend on each other
//! by the pattern's edges alone. Edge isomorphisms are met in a chain, each vertex with the conflicts of its edges.

use gramer_graph::NO_LABEL;

use super::candidates::{ByLabel, Candidates};
use super::matching_order::matching_order;
use super::planner::Planner;
use super::search::{EdgeConflict, Formula, NextStep, SearchPlan, bits, typical};
use super::symmetry::Restrictions;
use crate::task::Mappings;
use crate::{Pattern, VertexSet};

/// Candidates none of which is in another's way.
struct Coinciding<'a>(&'a dyn Candidates);

impl Candidates for Coinciding<'_> {
    fn class(&self, v: usize) -> u8 {
        self.0.class(v)
    }

    fn overlap(&self, v: usize) -> VertexSet {
        1 << v
    }

    fn linked(&self, v: usize) -> VertexSet {
        self.0.linked(v)
    }
}

impl Planner<'_> {
    /// The plan for mappings of a kind. With `emit` every one is met; without, they are counted, up to the limit by
    /// the order that meets them.
    pub fn mapping(&self, mappings: Mappings, emit: bool) -> SearchPlan {
        if !mappings.repeats() {
            return self.best(true, emit);
        }
        let edges = mappings == Mappings::EdgeIsomorphism;
        let planner = Planner { space: &Coinciding(self.space), ..*self };
        let mut plan = if edges || emit || self.limit.is_some() {
            let order = matching_order(self.pattern, self.estimates, self.limit, |_| false);
            let none = Restrictions::none(self.pattern.vertices());
            planner.plan(&order, &none, emit || edges).0
        } else {
            planner.cheapest(false)
        };
        plan.mappings = mappings;
        if edges {
            self.keep_edges_apart(&mut plan);
            if !emit {
                count_last(&mut plan);
            }
        }
        plan
    }

    /// Adds the conflicts of edges to a chain of steps.
    fn keep_edges_apart(&self, plan: &mut SearchPlan) {
        let mut placed: VertexSet = 0;
        for step in &mut plan.steps {
            if let Some(source) = &mut step.source {
                source.edges = edge_conflicts(self.pattern, self.space, placed, step.vertex);
                for e in &source.edges {
                    source.reasons |= 1 << e.near | 1 << e.first | 1 << e.second;
                }
            }
            placed |= 1 << step.vertex;
        }
    }
}

/// Counts the candidates of a chain's last vertex instead of visiting them.
fn count_last(plan: &mut SearchPlan) {
    if let Some(source) = plan.steps.last_mut().and_then(|last| last.source.take()) {
        plan.steps.pop();
        if let Some(before) = plan.steps.last_mut() {
            before.then = vec![NextStep::Formula(Formula::One(source))];
        }
    }
}

/// The conflicts of the edges of `w` with the pattern's other edges, once the vertices `placed` have their images.
pub fn edge_conflicts(
    pattern: &Pattern,
    space: &dyn Candidates,
    placed: VertexSet,
    w: usize,
) -> Vec<EdgeConflict> {
    let alike = |(a, b): (usize, usize), (c, d): (usize, usize)| {
        let labels = [pattern.edge_label(a, b), pattern.edge_label(c, d)];
        labels[0] == labels[1] || labels.contains(&Some(NO_LABEL))
    };
    // Edges to a common neighbour would be one edge if their other ends had one image.
    let fork = |a: usize, b: usize| {
        bits(pattern.neighbours(a) & pattern.neighbours(b)).any(|c| alike((a, c), (b, c)))
    };
    let share = |a: usize, b: usize| !pattern.has_edge(a, b) && space.overlap(a) >> b & 1 == 1;
    let apart = bits(placed).filter(|&d| share(w, d) && fork(w, d));
    let mut conflicts: Vec<EdgeConflict> =
        apart.map(|d| EdgeConflict { near: d, first: d, second: d }).collect();
    for near in bits(pattern.neighbours(w) & placed) {
        let meets = |first: usize| first != near && share(near, first) && !fork(near, first);
        for first in bits(placed).filter(|&first| meets(first)) {
            let may = |second: usize| {
                second != near
                    && share(w, second)
                    && !fork(w, second)
                    && alike((w, near), (second, first))
            };
            let seconds = bits(pattern.neighbours(first) & placed).filter(|&second| may(second));
            conflicts.extend(seconds.map(|second| EdgeConflict { near, first, second }));
        }
    }
    conflicts
}

impl SearchPlan {
    /// The plan for any graph, as [`SearchPlan::of`], for edge-induced mappings of a kind.
    ///
    /// ```
    /// use gramer_pattern::{Pattern, plan::search::SearchPlan, task::Mappings};
    ///
    /// // The images of the path's ends may be one vertex, but then both edges have one image.
    /// let path = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    /// let conflicts = |mappings| {
    ///     let plan = SearchPlan::of_mappings(&path, mappings, true);
    ///     let sources = plan.steps.into_iter().filter_map(|step| step.source);
    ///     sources.map(|source| source.conflicts.len() + source.edges.len()).sum::<usize>()
    /// };
    /// assert_eq!(conflicts(Mappings::Homomorphism), 0);
    /// assert_eq!(conflicts(Mappings::EdgeIsomorphism), 1);
    /// ```
    pub fn of_mappings(pattern: &Pattern, mappings: Mappings, emit: bool) -> Self {
        let (space, estimates) = (ByLabel::new(pattern), typical(pattern.vertices()));
        let (induced, limit) = (false, None);
        Planner { pattern, space: &space, estimates: &estimates, induced, limit }
            .mapping(mappings, emit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_edges_of_a_path_conflict_where_their_inner_ends_meet() {
        let path = Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        let found = |placed, w| edge_conflicts(&path, &ByLabel::new(&path), placed, w);
        let same = |v| EdgeConflict { near: v, first: v, second: v };
        assert_eq!(found(0b11, 2), [same(0)]);
        // 0 and 2 differ already, so that 2 – 3 and 0 – 1 do, too.
        assert_eq!(found(0b111, 3), [same(1)]);
        assert_eq!(found(0b1111, 4), [same(2), EdgeConflict { near: 3, first: 0, second: 1 }]);
    }

    #[test]
    fn edges_with_different_labels_never_conflict() {
        let mut path = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        path.set_edge_label(0, 1, 4);
        assert_eq!(edge_conflicts(&path, &ByLabel::new(&path), 0b11, 2).len(), 1);
        path.set_edge_label(1, 2, 5);
        assert_eq!(edge_conflicts(&path, &ByLabel::new(&path), 0b11, 2), []);
    }
}
