//! What an extension keeps: conditions on the new vertex or edge, and how they become words of a plan.

use std::sync::Arc;

use gramer_base::error::{Error, Result};
use gramer_graph::{Label, NO_LABEL};

use crate::plan::Depth;

use super::super::run::Step;
use super::{MOST_VERTICES, Positions};

/// A condition.
#[derive(Debug, Clone)]
enum Condition {
    Label(Label),
    DegreeAtLeast(u32),
    DegreeAtMost(u32),
    Adjacent(Positions),
    NotAdjacent(Positions),
    EdgeLabel(Positions, Label),
    Above(Positions),
    Distinct(Positions),
    Canonical,
}

/// Which vertices an extension adds: conditions on the new vertex, all of which must hold.
///
/// They are looked at on the device while a table is extended, so that what they refuse is never stored
/// (GAMMA, section 4.2.3; DuMato's phase *filter*, section 4.2). [`Table::filter`](super::Table::filter)
/// takes the same filters and looks at the last vertex of each row.
///
/// ```
/// use gramer_gpu::primitives::Filter;
///
/// // The next vertex of a clique, each clique once.
/// let clique = Filter::adjacent(..).and(Filter::above(..));
/// // One more condition, in OpenCL C.
/// let even = Filter::source("bool keep(const embedding *e, uint u) { return u % 2 == 0; }");
/// let both = clique.and(even);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Filter {
    all: Vec<Condition>,
    pub(super) sources: Vec<Arc<str>>,
}

impl Filter {
    fn of(condition: Condition) -> Self {
        Filter { all: vec![condition], sources: vec![] }
    }

    /// Creates a filter that accepts everything.
    pub fn any() -> Self {
        Filter::default()
    }

    /// The new vertex has this label; [`NO_LABEL`] is any. Refused on a graph without labels of vertices.
    pub fn label(label: Label) -> Self {
        Filter::of(Condition::Label(label))
    }

    /// The new vertex has at least this many neighbours in the graph.
    pub fn degree_at_least(degree: u32) -> Self {
        Filter::of(Condition::DegreeAtLeast(degree))
    }

    /// The new vertex has at most this many neighbours in the graph.
    pub fn degree_at_most(degree: u32) -> Self {
        Filter::of(Condition::DegreeAtMost(degree))
    }

    /// The new vertex is a neighbour of each of these.
    pub fn adjacent(positions: impl Into<Positions>) -> Self {
        Filter::of(Condition::Adjacent(positions.into()))
    }

    /// The new vertex is not a neighbour of any of these.
    pub fn not_adjacent(positions: impl Into<Positions>) -> Self {
        Filter::of(Condition::NotAdjacent(positions.into()))
    }

    /// The new vertex is a neighbour of each of these by an edge of this label; [`NO_LABEL`] is any. Refused
    /// on a graph without labels of edges.
    pub fn edge_label(positions: impl Into<Positions>, label: Label) -> Self {
        Filter::of(Condition::EdgeLabel(positions.into(), label))
    }

    /// The new vertex comes after each of these in the order of [`Numbers`](super::Numbers): it has a larger
    /// id, unless vertices are numbered by degree.
    pub fn above(positions: impl Into<Positions>) -> Self {
        Filter::of(Condition::Above(positions.into()))
    }

    /// The new vertex differs from these. [`Table::extend_vertex`](super::Table::extend_vertex) adds no vertex
    /// twice anyway; this is for [`Table::extend_walk`](super::Table::extend_walk).
    pub fn distinct(positions: impl Into<Positions>) -> Self {
        Filter::of(Condition::Distinct(positions.into()))
    }

    /// Each connected set of vertices is made in one order alone: the new vertex is above the first vertex,
    /// and above all after the first of its neighbours (Arabesque's rule; DuMato, definition 12). It holds
    /// if all extensions use it with all positions.
    pub fn canonical() -> Self {
        Filter::of(Condition::Canonical)
    }

    /// A function `bool keep(const embedding *e, uint u)` in OpenCL C 1.2: whether the new vertex `u` is
    /// kept. What it may ask of `e` stands in [the documentation of this module](super#functions-in-opencl-c).
    pub fn source(text: impl Into<String>) -> Self {
        Filter { all: vec![], sources: vec![text.into().into()] }
    }

    /// Both.
    #[must_use]
    pub fn and(mut self, other: Filter) -> Self {
        self.all.extend(other.all);
        self.sources.extend(other.sources);
        self
    }

    /// Whether it keeps everything.
    pub(super) fn is_any(&self) -> bool {
        self.all.is_empty() && self.sources.is_empty()
    }

    /// Conditions on a vertex added to `size` vertices.
    pub(super) fn terms(&self, size: usize, labels: Labels) -> Result<Terms> {
        let mut terms = Terms::default();
        for condition in &self.all {
            match condition {
                Condition::Label(NO_LABEL) => {}
                Condition::Label(label) => {
                    labels.vertices()?;
                    terms.never |= terms.label != NO_LABEL && terms.label != *label;
                    terms.label = *label;
                }
                Condition::DegreeAtLeast(d) => terms.degrees.0 = terms.degrees.0.max(*d),
                Condition::DegreeAtMost(d) => terms.degrees.1 = terms.degrees.1.min(*d),
                Condition::Adjacent(at) => terms.near |= at.of(size)?,
                Condition::NotAdjacent(at) => terms.far |= at.of(size)?,
                Condition::EdgeLabel(at, label) => {
                    let near = at.of(size)?;
                    terms.near |= near;
                    if *label != NO_LABEL {
                        labels.edges()?;
                    }
                    for own in (0..size).filter(|&j| near >> j & 1 == 1 && *label != NO_LABEL) {
                        let known = terms.edges[own];
                        terms.never |= known != NO_LABEL && known != *label;
                        terms.edges[own] = *label;
                    }
                }
                Condition::Above(at) => terms.above |= at.of(size)?,
                Condition::Distinct(at) => terms.distinct |= at.of(size)?,
                Condition::Canonical => terms.canonical = true,
            }
        }
        terms.never |= terms.near & terms.far != 0 || terms.degrees.0 > terms.degrees.1;
        Ok(terms)
    }
}

/// Which labels a graph has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Labels {
    pub of_vertices: bool,
    pub of_edges: bool,
}

impl Labels {
    fn vertices(self) -> Result<()> {
        Self::there(self.of_vertices, "vertices")
    }

    fn edges(self) -> Result<()> {
        Self::there(self.of_edges, "edges")
    }

    fn there(there: bool, what: &str) -> Result<()> {
        if there {
            return Ok(());
        }
        Err(Error::usage(format!(
            "a filter asks for a label and the graph has no labels of {what}; leave it out, or give the graph \
             labels"
        )))
    }
}

/// Conditions on a new vertex, positions as bits.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    label: u32,
    near: u32,
    far: u32,
    above: u32,
    distinct: u32,
    edges: [u32; MOST_VERTICES],
    degrees: (u32, u32),
    pub canonical: bool,
    /// Whether the conditions contradict each other.
    pub never: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Terms {
            label: NO_LABEL,
            near: 0,
            far: 0,
            above: 0,
            distinct: 0,
            edges: [NO_LABEL; MOST_VERTICES],
            degrees: (0, u32::MAX),
            canonical: false,
            never: false,
        }
    }
}

impl Terms {
    /// Next to all of this many positions.
    pub fn next_to_all(positions: usize) -> Self {
        Terms { near: (1 << positions) - 1, ..Terms::default() }
    }

    /// Whether the numbers of neighbours matter.
    pub fn has_degrees(&self) -> bool {
        self.degrees != (0, u32::MAX)
    }

    /// Encodes the conditions for kernels.
    pub fn step(&self) -> Step {
        let Terms { label, near, far, above: below, distinct, .. } = *self;
        let mut next = Depth { label, near, far, below, distinct, ..Depth::default() };
        next.edge_labels[..MOST_VERTICES].copy_from_slice(&self.edges);
        Step { next, degrees: self.degrees }
    }

    /// Extensions of an embedding of this many vertices by the neighbours of any of `union`, which aren't
    /// empty: one after the other, so that each new vertex is found by one of them alone.
    pub fn steps(&self, size: usize, union: u32) -> Vec<Step> {
        let mut steps = vec![];
        let bits = |of: u32| (0..size as u32).filter(move |j| of >> j & 1 == 1);
        let before = |j: u32| (1u32 << j) - 1;
        let mut add = |near: u32, far: u32, above: u32| {
            let (near, far) = (self.near | near, self.far | far);
            if near & far == 0 && !self.never {
                steps.push(Terms { near, far, above: self.above | above, ..self.clone() }.step());
            }
        };
        let given = self.near & union != 0;
        if !self.canonical {
            match given {
                true => add(0, 0, 0),
                false => bits(union).for_each(|j| add(1 << j, union & before(j), 0)),
            }
            return steps;
        }
        // By the first neighbour, and where that is none of those that are extended by the first of these.
        for first in 0..size as u32 {
            let after = (before(size as u32) & !before(first + 1)) | 1;
            if given || union >> first & 1 == 1 {
                add(1 << first, before(first), after);
                continue;
            }
            for j in bits(union & !before(first)) {
                add(1 << first | 1 << j, before(first) | union & before(j), after);
            }
        }
        steps
    }
}

/// Which edges an extension adds: conditions on the new edge, all of which must hold.
///
/// ```
/// use gramer_gpu::primitives::EdgeFilter;
///
/// let each_once = EdgeFilter::canonical().and(EdgeFilter::vertices_at_most(3));
/// ```
#[derive(Debug, Clone)]
pub struct EdgeFilter {
    label: Label,
    /// Two labels were requested.
    never: bool,
    degrees: (u32, u32),
    vertices: u32,
    canonical: bool,
    pub(super) sources: Vec<Arc<str>>,
}

impl Default for EdgeFilter {
    fn default() -> Self {
        EdgeFilter {
            label: NO_LABEL,
            never: false,
            degrees: (0, u32::MAX),
            vertices: u32::MAX,
            canonical: false,
            sources: vec![],
        }
    }
}

impl EdgeFilter {
    /// Creates a filter that accepts everything.
    pub fn any() -> Self {
        EdgeFilter::default()
    }

    /// The new edge has this label; [`NO_LABEL`] is any. Refused on a graph without labels of edges.
    pub fn label(label: Label) -> Self {
        EdgeFilter { label, ..EdgeFilter::default() }
    }

    /// Both vertices of the new edge have at least this many neighbours in the graph.
    pub fn degree_at_least(degree: u32) -> Self {
        EdgeFilter { degrees: (degree, u32::MAX), ..EdgeFilter::default() }
    }

    /// Both vertices of the new edge have at most this many neighbours in the graph.
    pub fn degree_at_most(degree: u32) -> Self {
        EdgeFilter { degrees: (0, degree), ..EdgeFilter::default() }
    }

    /// Requires at most this many vertices in the embedding with the new edge.
    pub fn vertices_at_most(vertices: usize) -> Self {
        let vertices = u32::try_from(vertices).unwrap_or(u32::MAX);
        EdgeFilter { vertices, ..EdgeFilter::default() }
    }

    /// Each connected set of edges is made in one order alone: the rule of [`Filter::canonical`], on edges.
    /// It holds if all extensions use it.
    pub fn canonical() -> Self {
        EdgeFilter { canonical: true, ..EdgeFilter::default() }
    }

    /// A function `bool keep(const embedding *e, uint u, uint v)` in OpenCL C 1.2: whether the edge from `u`,
    /// a vertex of the embedding, to `v` is kept. See
    /// [the documentation of this module](super#functions-in-opencl-c).
    pub fn source(text: impl Into<String>) -> Self {
        EdgeFilter { sources: vec![text.into().into()], ..EdgeFilter::default() }
    }

    /// Both.
    #[must_use]
    pub fn and(mut self, other: EdgeFilter) -> Self {
        if self.label == NO_LABEL {
            self.label = other.label;
        }
        self.never |= other.never || (other.label != NO_LABEL && other.label != self.label);
        let (low, high) = self.degrees;
        self.degrees = (low.max(other.degrees.0), high.min(other.degrees.1));
        self.vertices = self.vertices.min(other.vertices);
        self.canonical |= other.canonical;
        self.sources.extend(other.sources);
        self
    }

    /// Whether it keeps everything.
    pub(super) fn is_any(&self) -> bool {
        let plain = self.label == NO_LABEL && self.degrees == (0, u32::MAX) && !self.never;
        plain && self.vertices == u32::MAX && self.sources.is_empty()
    }

    /// Encodes the filter for kernels; `None` if it rejects everything.
    pub(super) fn step(&self, labels: Labels) -> Result<Option<Step>> {
        if self.label != NO_LABEL {
            labels.edges()?;
        }
        // `edges.cl` reads these words in the place of sets.
        let (near, far) = (self.vertices, self.canonical.into());
        let next = Depth { label: self.label, near, far, ..Depth::default() };
        let step = Step { next, degrees: self.degrees };
        Ok((!self.never && self.degrees.0 <= self.degrees.1).then_some(step))
    }

    /// Whether it is for the canonical order alone.
    pub(super) fn is_canonical(&self) -> bool {
        self.canonical
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Labels = Labels { of_vertices: false, of_edges: false };
    const ALL: Labels = Labels { of_vertices: true, of_edges: true };

    /// Near, far and above of each step.
    fn steps(filter: &Filter, size: usize, union: u32) -> Vec<[u32; 3]> {
        let terms = filter.terms(size, ALL).unwrap();
        let steps = terms.steps(size, union);
        steps.iter().map(|s| [s.next.near, s.next.far, s.next.below]).collect()
    }

    #[test]
    fn each_new_vertex_is_found_by_one_step() {
        assert_eq!(steps(&Filter::any(), 3, 0b111), [[1, 0, 0], [2, 1, 0], [4, 3, 0]]);
        // A neighbour of the second is one of the second or third.
        assert_eq!(steps(&Filter::adjacent(1), 3, 0b110), [[2, 0, 0]]);
        assert_eq!(steps(&Filter::not_adjacent(0), 2, 0b11), [[2, 1, 0]]);
        let canonical = Filter::canonical();
        assert_eq!(steps(&canonical, 3, 0b111), [[1, 0, 0b111], [2, 1, 0b101], [4, 3, 0b001]]);
        // By the last alone: its first neighbour may be an earlier one.
        assert_eq!(
            steps(&canonical, 3, 0b100),
            [[0b101, 0, 0b111], [0b110, 1, 0b101], [0b100, 3, 1]]
        );
        assert_eq!(steps(&canonical.and(Filter::adjacent(..)), 2, 0b11), [[3, 0, 3]]);
    }

    #[test]
    fn what_contradicts_itself_keeps_nothing() {
        for filter in [
            Filter::label(1).and(Filter::label(2)),
            Filter::adjacent(0).and(Filter::not_adjacent(..)),
            Filter::degree_at_least(3).and(Filter::degree_at_most(2)),
            Filter::edge_label(0, 1).and(Filter::edge_label(0, 2)),
        ] {
            assert!(steps(&filter, 2, 3).is_empty(), "{filter:?}");
        }
        let two = EdgeFilter::label(1).and(EdgeFilter::label(2));
        assert!(two.step(ALL).unwrap().is_none());
        let one = EdgeFilter::any().and(EdgeFilter::label(2)).and(EdgeFilter::canonical());
        let step = one.step(ALL).unwrap().unwrap();
        assert_eq!((step.next.label, step.next.near, step.next.far), (2, u32::MAX, 1));
    }

    #[test]
    fn positions_and_labels_that_are_not_there_are_refused() {
        for (filter, size, said) in [
            (Filter::adjacent(2), 2, "position 2 isn't there"),
            (Filter::above(1..99), 3, "position 3 isn't there"),
            (Filter::above(0..0), 3, "none is given"),
            (Filter::distinct(Positions::last()), 0, "none before it"),
            (Filter::label(1), 1, "no labels of vertices"),
            (Filter::edge_label(0, 1), 1, "no labels of edges"),
        ] {
            let error = filter.terms(size, NONE).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
            assert_eq!(error.exit_code(), 2);
        }
        assert!(
            Filter::label(NO_LABEL).and(Filter::edge_label(0, NO_LABEL)).terms(1, NONE).is_ok()
        );
        assert_eq!(Positions::from(0..5).within(2).unwrap(), 3);
        assert!(Positions::from(2..5).within(2).is_err());
    }
}
