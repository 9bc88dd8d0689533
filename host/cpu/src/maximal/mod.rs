//! Maximal cliques, by size.
//!
//! Bron and Kerbosch's search with Tomita's pivot, started from every vertex in degeneracy order
//! (Eppstein, Löffler and Strash, 2010). The candidates of a start vertex are its targets in the
//! oriented graph, so the sets of the search are short rows of bits. A start vertex or a branch is
//! left as soon as an excluded vertex is next to all of its candidates, of which one or two need no
//! search; candidates that are next to all others
//! join at once; and where every candidate misses at most one other, the cliques are counted by
//! formula (the 2-plexes of Wang, Yu and Long, *Maximal Clique Enumeration with Hybrid Branching
//! and Early Termination*, 2024).

mod branch;
mod root;
#[cfg(test)]
mod tests;

use std::ops::{ControlFlow, Range};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_engine::{Outcome, Sink, Subject};
use gramer_graph::Graph;
use gramer_pattern::Pattern;

use super::clique::row::{Row, by_width};
use super::oriented::Oriented;
use super::reach::{Form, by_form};
use super::{Job, Resident, StartVertices, clique, run_units};
use branch::Branch;
use root::Root;

/// One entry a size, from 1 to the largest clique.
pub(super) fn run(graph: &Resident, job: Job<'_>) -> Result<Outcome> {
    let (sizes, complete) = by_size(graph, job)?;
    let mut outcome = Outcome::new(vec![], complete);
    for (size, &count) in sizes.iter().enumerate().skip(1) {
        outcome.push(Subject::clique(size), count);
    }
    Ok(outcome)
}

/// Number of maximal cliques by size (index 0 is unused), and whether the run was finished.
fn by_size(graph: &Resident, job: Job<'_>) -> Result<(Vec<u128>, bool)> {
    let Job { sink, context, .. } = job;
    // A step of a search, for each that finds a 4-cycle.
    let _plan = clique::planned(graph, context, |shape| 100.0 * shape.cycle_steps);
    let oriented = match graph.oriented(context) {
        Ok(oriented) => oriented,
        Err(Error::Interrupted) => return Ok((vec![], false)),
        Err(other) => return Err(other),
    };
    let targets = |n: u32| oriented.targets(n).len();
    // Every start vertex has at least one position, since a vertex without targets may still be
    // a maximal clique (an isolated vertex).
    let units = StartVertices::numbered(graph.graph.view(), &oriented.vertex).units(
        job,
        |n| targets(n).max(1),
        |n| (targets(n) as u64).pow(3) + oriented.degree(graph.graph.view(), n) as u64 + 1,
    );
    let (found, complete) = by_form!(oriented.vertices(), 4, F => {
        let (states, complete) = run_units(
            &units,
            context,
            || Search::<F>::new(&graph.graph, oriented, sink, context),
            |search, unit| search.start(unit.start, unit.range()),
        );
        let found = states.into_iter().map(|state| (!state.overflow).then_some(state.found));
        (found.collect::<Option<Vec<_>>>(), complete)
    });
    let mut sizes = vec![0u128; oriented.degeneracy() + 2];
    for found in found.ok_or_else(too_many)? {
        for (total, count) in sizes.iter_mut().zip(&found) {
            *total = total.checked_add(*count).ok_or_else(too_many)?;
        }
    }
    while sizes.len() > 1 && sizes.last() == Some(&0) {
        sizes.pop();
    }
    Ok((sizes, complete))
}

fn too_many() -> Error {
    Error::Unsupported("the number of maximal cliques needs more than 128 bits".into())
}

/// State of a thread; its size depends on the start vertex with the most members.
struct Search<'a, F: Form> {
    graph: &'a Graph,
    oriented: &'a Oriented,
    sink: Option<&'a dyn Sink>,
    context: &'a Context,
    /// By size: maximal cliques found.
    found: Vec<u128>,
    /// Whether a number was too large for 128 bits.
    overflow: bool,
    root: Root<'a, F>,
    /// The clique so far, in the oriented graph's numbers; kept for the sink only.
    clique: Vec<u32>,
}

impl<'a, F: Form> Search<'a, F> {
    fn new(
        graph: &'a Graph,
        oriented: &'a Oriented,
        sink: Option<&'a dyn Sink>,
        context: &'a Context,
    ) -> Self {
        Search {
            graph,
            oriented,
            sink,
            context,
            found: vec![0; oriented.degeneracy() + 2],
            overflow: false,
            root: Root::new(oriented),
            clique: vec![],
        }
    }

    /// Searches the cliques whose last vertex in the order is `start`, along those first branches
    /// whose member has a position in `part`.
    fn start(&mut self, start: u32, part: Range<usize>) -> ControlFlow<()> {
        let members = self.oriented.targets(start);
        let view = self.graph.view();
        self.clique.clear();
        self.clique.push(start);
        if members.is_empty() {
            // Maximal if nothing leads here either.
            if self.oriented.degree(view, start) > 0 {
                return ControlFlow::Continue(());
            }
            self.found[1] += 1;
            return self.sink.map_or(ControlFlow::Continue(()), |sink| {
                sink.embedding(&Pattern::cliques()[1], &[self.oriented.vertex[start as usize]])
            });
        }
        if !self.root.enter(self.oriented, view, start) {
            return ControlFlow::Continue(());
        }
        let width = self.root.width();
        by_width!(width, R => {
            let rows = R::rows(self.root.rows(), width);
            let mut branch = Branch {
                rows: &rows,
                members,
                excluded: R::rows(self.root.outside(), width).into_owned(),
                vertex: &self.oriented.vertex,
                sink: self.sink,
                context: self.context,
                found: &mut self.found,
                overflow: &mut self.overflow,
                clique: &mut self.clique,
            };
            branch.search(R::full(members.len(), width), part)
        })
    }
}
