//! Homomorphisms of a core that is a clique, or a clique without one edge, with values at one vertex or edge at most.
//!
//! All mappings of a clique onto one in the graph are homomorphisms, so that numbers of cliques by vertex or edge say how
//! often each value counts; no clique is visited for its values. A clique of n vertices without an edge is a *base* of
//! n − 2 vertices, with two common neighbours of it that may be one vertex.

use std::collections::BTreeMap;
use std::rc::Rc;

use ethnum::U256;
use gramer_base::error::Error;
use gramer_engine::per::{Numbers, Per};
use gramer_graph::VertexId;
use gramer_pattern::plan::homomorphism::{HomomorphismPlan, Shape};

use super::{Arcs, CountFailure, Value};
use crate::clique::{self, almost};
use crate::per::cliques::numbers;

/// Where a core has values other than 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Nowhere,
    Vertex(usize),
    /// By the arcs from the image of the first to that of the second.
    Edge((usize, usize)),
}

/// A core that is counted from cliques.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CliqueCore {
    vertices: usize,
    /// Whether an edge is missing.
    lacks_edge: bool,
    pub place: Place,
}

/// Numbers of cliques that are known, by size and what they are of.
pub(super) type Columns = BTreeMap<(usize, Column), Rc<Numbers>>;

/// What numbers are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Column {
    /// Cliques at each vertex.
    Vertex,
    /// Cliques at each edge.
    Edge,
    /// [`almost::squares`] at each vertex.
    Squares,
}

impl CliqueCore {
    /// The core of a plan, if it is one.
    pub fn of(plan: &HomomorphismPlan) -> Option<Self> {
        let (core, n) = (&plan.core, plan.core.vertices());
        let lacks_edge = match n * n.saturating_sub(1) / 2 - core.edge_count() {
            0 if n >= 3 => false,
            1 if n >= almost::LEAST => true,
            _ => return None,
        };
        let mut at_vertices = (0..n).filter(|&v| plan.vertices[v] != 0);
        let mut at_edges = plan.edges.keys().copied().filter(|(u, v)| u < v);
        let place = match (at_vertices.next(), at_edges.next()) {
            (None, None) => Place::Nowhere,
            // Of a clique that lacks an edge, members of bases have numbers.
            (Some(v), None) if !lacks_edge || core.degree(v) == n - 1 => Place::Vertex(v),
            (None, Some(edge)) if !lacks_edge => Place::Edge(edge),
            _ => return None,
        };
        let more = at_vertices.next().is_some() || at_edges.next().is_some();
        (!more).then_some(CliqueCore { vertices: n, lacks_edge, place })
    }

    /// Estimated cost in elements visited, with about a nanosecond each.
    pub fn cost(&self, shape: &Shape) -> f64 {
        let size = self.vertices - usize::from(self.lacks_edge);
        let arcs = if self.place == Place::Nowhere { 0.0 } else { shape.arcs };
        arcs + clique::of_size(size, shape)
    }

    /// Number of homomorphisms; `values` are those of [`CliqueCore::place`].
    pub fn count<V: Value>(
        &self,
        values: Option<&[V]>,
        arcs: &mut Arcs<'_>,
    ) -> Result<U256, CountFailure> {
        let CliqueCore { vertices: n, lacks_edge, place } = *self;
        // Of n - 2 vertices of a base the one with values is given.
        let orders = factorial(match (place, lacks_edge) {
            (Place::Nowhere, false) => n,
            (Place::Vertex(_), false) => n - 1,
            (Place::Edge(_), false) | (Place::Nowhere, true) => n - 2,
            (_, true) => n - 3,
        });
        let Some(values) = values else {
            return Ok(orders * self.bare(arcs)?);
        };
        let column = match (place, lacks_edge) {
            (Place::Edge(_), _) => Column::Edge,
            (_, false) => Column::Vertex,
            (_, true) => Column::Squares,
        };
        let numbers = column_of(n, column, arcs)?;
        let mut sum = U256::ZERO;
        let mut add = |value: U256, number: u128| sum += value * U256::from(number);
        if column != Column::Edge {
            for (&value, number) in values.iter().zip(numbers.iter()) {
                add(value.into(), number);
            }
            return Ok(orders * sum);
        }
        let (turned, graph) = (arcs.turned()?, arcs.graph);
        let mut edge = 0;
        for v in 0..graph.vertices() as VertexId {
            for arc in graph.row(v) {
                if graph.neighbours[arc] >= v {
                    break;
                }
                let number = numbers.get(edge);
                if number > 0 {
                    add(values[arc].into(), number);
                    add(values[turned[arc] as usize].into(), number);
                }
                edge += 1;
            }
        }
        Ok(orders * sum)
    }

    /// Cliques, or the sum of the squares of the extensions of bases.
    fn bare(&self, arcs: &Arcs<'_>) -> Result<U256, CountFailure> {
        let whole = |result: Result<(u128, bool), Error>| match result {
            Ok((count, true)) => Ok(U256::from(count)),
            Ok((_, false)) => Err(CountFailure::Stopped),
            Err(error) => Err(error.into()),
        };
        let (n, resident, job) = (self.vertices, arcs.resident, arcs.job);
        if !self.lacks_edge {
            return whole(clique::count(resident, n, job));
        }
        let pairs = whole(almost::count(resident, n, job))?;
        // Of both extensions in one vertex there is one for each member of a clique.
        let cliques = whole(clique::count(resident, n - 1, job))?;
        Ok(U256::from(2u64) * pairs + U256::from(n as u64 - 1) * cliques)
    }
}

/// Numbers at each vertex, or edge (that with the larger end first in [`gramer_engine::per::edges`]).
fn column_of(n: usize, column: Column, arcs: &mut Arcs<'_>) -> Result<Rc<Numbers>, CountFailure> {
    if let Some(known) = arcs.cliques.get(&(n, column)) {
        return Ok(Rc::clone(known));
    }
    let (resident, context) = (arcs.resident, arcs.job.context);
    let per = if column == Column::Edge { Per::Edge } else { Per::Vertex };
    let found = match column {
        Column::Squares => almost::squares(resident, n, context),
        _ => resident
            .oriented(context)
            .and_then(|oriented| numbers(resident, oriented, n..n + 1, per, context))
            .map(|mut found| found.pop()),
    };
    let found = found?.ok_or(CountFailure::Stopped)?;
    let found = Rc::new(found);
    arcs.cliques.insert((n, column), Rc::clone(&found));
    Ok(found)
}

fn factorial(n: usize) -> U256 {
    (2..=n as u64).map(U256::from).product()
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::tests::graph_of;
    use super::super::{Decomposition, shape};
    use super::*;
    use crate::{Job, Resident};
    use gramer_base::context::Context;
    use gramer_engine::interpreter::interpret;
    use gramer_pattern::Pattern;
    use gramer_pattern::plan::search::SearchPlan;
    use gramer_pattern::task::Induced;

    /// A clique of `n` vertices, or one without its last edge, with more at some of its vertices: a leaf at one, or a
    /// triangle on the edge between two.
    fn decorated(n: usize, lacks_edge: bool, more: &[(usize, usize)]) -> Pattern {
        let mut pattern = Pattern::new(n + more.len());
        for v in 1..n {
            (0..v).filter(|&u| !(lacks_edge && u == n - 2)).for_each(|u| pattern.add_edge(u, v));
        }
        for (new, &(u, v)) in (n..).zip(more) {
            pattern.add_edge(u, new);
            if u != v {
                pattern.add_edge(v, new);
            }
        }
        pattern
    }

    #[test]
    fn cores_have_values_at_one_vertex_or_edge() {
        let core = |pattern| CliqueCore::of(&HomomorphismPlan::of(&pattern, &Shape::TYPICAL));
        let place = |pattern| core(pattern).map(|core| core.place);
        assert_eq!(place(decorated(4, false, &[])), Some(Place::Nowhere));
        assert!(matches!(place(decorated(5, false, &[(1, 1), (1, 1)])), Some(Place::Vertex(_))));
        assert!(matches!(place(decorated(4, false, &[(1, 2), (1, 2)])), Some(Place::Edge(_))));
        assert_eq!(place(decorated(4, false, &[(1, 2), (1, 1)])), None);
        assert_eq!(place(decorated(4, false, &[(1, 2), (0, 3)])), None);
        assert!(matches!(place(decorated(5, true, &[(0, 0)])), Some(Place::Vertex(_))));
        assert!(core(decorated(5, true, &[])).is_some_and(|core| core.lacks_edge));
        // At a vertex that is no member of the base, and at an edge.
        assert_eq!(core(decorated(5, true, &[(4, 4)])), None);
        assert_eq!(core(decorated(5, true, &[(0, 1)])), None);
        assert_eq!(core(Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)])), None);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(96))]
        #[test]
        fn clique_cores_agree_with_the_interpreter(
            n in 4usize..7,
            lacks_edge in proptest::bool::ANY,
            at in (0usize..6, 0usize..6),
            each in 0usize..3,
            edges in proptest::collection::vec((0u64..13, 0u64..13), 20..110),
            hub in proptest::bool::ANY,
            threads in 1usize..4,
        ) {
            let graph = graph_of(&edges, hub);
            let lacks_edge = lacks_edge && n > 4;
            let at = (at.0 % n, at.1 % n);
            let at = if at.0.min(at.1) + 2 == n { (at.0, at.0) } else { at };
            let pattern = decorated(n, lacks_edge, &vec![at; each.min(7 - n)]);
            let context = Context::with_threads(threads);
            let resident = Resident::new(&graph);
            let decomposition =
                Decomposition::new(graph.view(), &pattern, &shape(graph.view())).unwrap();
            let counted = decomposition.count(&resident, Job::whole(&context)).unwrap();
            let plan = SearchPlan::of(&pattern, Induced::Edge, false, true);
            let met = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
            proptest::prop_assert_eq!(counted, met, "{:?}", pattern);
            context.cancel.cancel();
            let stopped = decomposition.count(&Resident::new(&graph), Job::whole(&context));
            match stopped {
                Ok(number) => proptest::prop_assert_eq!(number, counted),
                Err(failure) => proptest::prop_assert!(matches!(failure, CountFailure::Stopped)),
            }
        }
    }
}
