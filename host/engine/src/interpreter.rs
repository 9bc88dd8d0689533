//! A slow and obvious interpreter of search plans: what every other device that runs plans is
//! compared with.
//!
//! It does what [`gramer_pattern::plan::search`] says a plan means, step by step, on the rows of the
//! graph, with nothing shared, remembered or cut short: sets are sorted lists, rebuilt each time,
//! [`Step::memo`] is not looked at, and neither are reasons.

use std::ops::ControlFlow;

use gramer_base::error::{Error, Result};
use gramer_graph::{NO_LABEL, VertexId, View};
use gramer_pattern::VertexSet;
use gramer_pattern::plan::search::{
    CandidateSet, EdgeConflict, Formula, NextStep, Partitions, SCHEMA, SearchPlan, Source, Step,
    bits,
};

/// Runs a plan over the whole graph. Each mapping that a [`NextStep::Emit`] meets goes to `emit`, by
/// pattern vertex. The result is the number of mappings that the plan counts, before
/// [`SearchPlan::factor`] and [`SearchPlan::automorphisms`].
///
/// ```
/// use gramer_engine::interpreter::interpret;
/// use gramer_graph::Builder;
/// use gramer_pattern::{Pattern, plan::search::SearchPlan, task::Induced};
/// use std::ops::ControlFlow;
///
/// let mut builder = Builder::new();
/// for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
///     builder.edge(u, v);
/// }
/// let graph = builder.build();
/// let plan = SearchPlan::of(&Pattern::clique(3), Induced::Edge, false, true);
/// let counted = interpret(&plan, graph.view(), |_| ControlFlow::Continue(()))?;
/// assert_eq!(counted, 1);
/// # Ok::<(), gramer_base::Error>(())
/// ```
///
/// # Errors
/// [`Error::Unsupported`] for a plan of another version, or a number above 128 bits.
pub fn interpret(
    plan: &SearchPlan,
    graph: View<'_>,
    emit: impl FnMut(&[VertexId]) -> ControlFlow<()>,
) -> Result<u128> {
    if plan.schema != SCHEMA {
        return Err(Error::Unsupported(format!(
            "the plan is of version {}, and this program knows version {SCHEMA}",
            plan.schema
        )));
    }
    let mut run = Interpretation {
        plan,
        graph,
        images: vec![None; plan.pattern.vertices()],
        sets: vec![vec![]; plan.sets.len()],
        emit,
        stopped: false,
    };
    let Some(root) = plan.steps.first() else { return Ok(0) };
    let mut sum = 0u128;
    for v in 0..graph.vertices() as VertexId {
        if run.belongs(v, root.class) {
            sum = sum.checked_add(run.mapped(root, v)?).ok_or_else(too_many)?;
        }
    }
    Ok(sum)
}

fn too_many() -> Error {
    Error::Unsupported("the number of mappings needs more than 128 bits".into())
}

/// The state of a run.
struct Interpretation<'a, E> {
    plan: &'a SearchPlan,
    graph: View<'a>,
    /// By pattern vertex.
    images: Vec<Option<VertexId>>,
    /// By number of the set; made when the vertex that it waits for has its image.
    sets: Vec<Vec<VertexId>>,
    emit: E,
    stopped: bool,
}

impl<E: FnMut(&[VertexId]) -> ControlFlow<()>> Interpretation<'_, E> {
    /// Whether a graph vertex has the label of a class.
    fn belongs(&self, v: VertexId, class: u8) -> bool {
        let label = self.plan.classes[usize::from(class)];
        label == NO_LABEL || self.graph.vertex_labels.is_some_and(|of| of[v as usize] == label)
    }

    fn image(&self, vertex: usize) -> VertexId {
        self.images[vertex].expect("plans use the images of vertices that were mapped before")
    }

    /// Graph vertices of a class next to the image of `of`, over edges with a label.
    fn neighbours(&self, of: usize, edge_label: u32, class: u8) -> Vec<VertexId> {
        let row = self.graph.row(self.image(of));
        row.filter(|&at| {
            edge_label == NO_LABEL
                || self.graph.edge_labels.is_some_and(|labels| labels[at] == edge_label)
        })
        .map(|at| self.graph.neighbours[at])
        .filter(|&v| self.belongs(v, class))
        .collect()
    }

    /// The members of a set below all of the bounds.
    fn within(&self, set: &[VertexId], bounds: VertexSet) -> Vec<VertexId> {
        let below = |v: &VertexId| bits(bounds).all(|u| *v < self.image(u));
        set.iter().copied().filter(below).collect()
    }

    fn make(&self, set: &CandidateSet) -> Vec<VertexId> {
        let list = set.list.map(|list| self.neighbours(list.of, list.edge_label, set.class));
        let mut made = match (set.parent, list) {
            (Some(parent), Some(list)) => {
                self.sets[parent].iter().copied().filter(|v| list.contains(v)).collect()
            }
            (Some(parent), None) => self.sets[parent].clone(),
            (None, Some(list)) => list,
            (None, None) => vec![],
        };
        for &u in &set.subtract {
            made.retain(|&v| !self.graph.has_edge(self.image(u), v));
        }
        self.within(&made, set.bounds)
    }

    /// The candidates of a source, without the images that it must not use.
    fn candidates(&self, source: &Source) -> Vec<VertexId> {
        let mut candidates = self.within(&self.sets[source.set], source.bounds);
        candidates.retain(|&v| !source.conflicts.iter().any(|&u| self.image(u) == v));
        let meet = |e: &EdgeConflict| self.image(e.near) == self.image(e.first);
        candidates.retain(|&v| !source.edges.iter().any(|e| meet(e) && self.image(e.second) == v));
        candidates
    }

    /// Mappings with `image` for the vertex of a step.
    fn mapped(&mut self, step: &Step, image: VertexId) -> Result<u128> {
        if self.stopped {
            return Ok(0);
        }
        self.images[step.vertex] = Some(image);
        for &number in &step.sets {
            self.sets[number] = self.make(&self.plan.sets[number]);
        }
        let mut product = 1u128;
        for then in &step.then {
            let factor = match then {
                NextStep::Step(next) => {
                    let next = &self.plan.steps[*next];
                    let source = next.source.as_ref().expect("only the root has none");
                    let mut sum = 0u128;
                    for v in self.candidates(source) {
                        sum = sum.checked_add(self.mapped(next, v)?).ok_or_else(too_many)?;
                        // What was made for another image is of no use above.
                        self.images[next.vertex] = None;
                    }
                    sum
                }
                NextStep::Formula(formula) => self.formula(formula)?,
                NextStep::Emit => {
                    let mapping: Vec<VertexId> =
                        (0..self.images.len()).map(|v| self.image(v)).collect();
                    self.stopped |= (self.emit)(&mapping).is_break();
                    1
                }
            };
            product = product.checked_mul(factor).ok_or_else(too_many)?;
            if product == 0 {
                break;
            }
        }
        Ok(product)
    }

    fn formula(&mut self, formula: &Formula) -> Result<u128> {
        match formula {
            Formula::One(source) => Ok(self.candidates(source).len() as u128),
            Formula::Intersection(source) => {
                self.sets[source.set] = self.make(&self.plan.sets[source.set]);
                Ok(self.candidates(source).len() as u128)
            }
            Formula::Same { source, vertices, ordered } => {
                let free = self.candidates(source).len() as u128;
                let mut count = 1u128;
                for i in 0..*vertices as u128 {
                    count = count.checked_mul(free.saturating_sub(i)).ok_or_else(too_many)?;
                    if *ordered {
                        count /= i + 1;
                    }
                }
                Ok(count)
            }
            Formula::Partitions(partitions) => self.choices(partitions),
        }
    }

    fn choices(&self, partitions: &Partitions) -> Result<u128> {
        let sets: Vec<_> = partitions.sources.iter().map(|s| self.candidates(s)).collect();
        let size = |block: u16| {
            let first = &sets[block.trailing_zeros() as usize];
            first.iter().filter(|v| bits(block.into()).all(|s| sets[s].contains(v))).count() as i128
        };
        let sizes: Vec<i128> = partitions.blocks.iter().map(|&block| size(block)).collect();
        let mut sum = 0i128;
        for (coefficient, factors) in &partitions.terms {
            let term = factors
                .iter()
                .try_fold(i128::from(*coefficient), |term, &at| term.checked_mul(sizes[at]));
            sum = term.and_then(|term| sum.checked_add(term)).ok_or_else(too_many)?;
        }
        u128::try_from(sum).map_err(|_| too_many())
    }
}
