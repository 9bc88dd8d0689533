//! Maximal cliques, by size.
//!
//! Bron and Kerbosch's search with Tomita's pivot, started from every vertex in degeneracy order
//! (Eppstein, Löffler and Strash, 2010). The candidates of a start vertex are its targets in the
//! oriented graph, so the sets of the search are short rows of bits. A branch is left as soon as
//! an excluded vertex is next to all of its candidates; candidates that are next to all others
//! join at once; and where every candidate misses at most one other, the cliques are counted by
//! formula (the 2-plexes of Wang, Yu and Long, *Maximal Clique Enumeration with Hybrid Branching
//! and Early Termination*, 2024).

use std::ops::{ControlFlow, Range};

use crate::{Count, Outcome, Sink};
use gramer_graph::VertexId;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_pattern::{Pattern, SMALL_VERTICES};

use super::clique::local::Local;
use super::clique::row::{Row, by_width};
use super::oriented::Oriented;
use super::{Job, Resident, Starts, run_units, sets};

/// Largest number of pairs that are counted by formula: more give a number above 128 bits.
const MAX_PAIRS: u32 = 127;

/// One entry a size, from 1 to the largest clique.
pub(super) fn run(graph: &Resident<'_>, job: Job<'_>) -> Result<Outcome> {
    let (sizes, complete) = by_size(graph, job)?;
    let by_size = || sizes.iter().copied().enumerate().skip(1);
    let results = by_size()
        .take_while(|&(size, _)| size <= SMALL_VERTICES)
        .map(|(size, count)| Count { pattern: Pattern::clique(size), count })
        .collect();
    let larger_cliques = by_size().filter(|&(size, _)| size > SMALL_VERTICES).collect();
    Ok(Outcome { results, larger_cliques, complete, ..Outcome::default() })
}

/// Number of maximal cliques by size (index 0 is unused), and whether the run was finished.
fn by_size(graph: &Resident<'_>, job: Job<'_>) -> Result<(Vec<u128>, bool)> {
    let Job { sink, context, .. } = job;
    let oriented = match graph.oriented(context) {
        Ok(oriented) => oriented,
        Err(Error::Interrupted) => return Ok((vec![], false)),
        Err(other) => return Err(other),
    };
    let targets = |n: u32| oriented.targets(n).len();
    // Every start vertex has at least one position, since a vertex without targets may still be
    // a maximal clique (an isolated vertex).
    let units = Starts::numbered(graph.graph.view(), &oriented.vertex).units(
        job,
        |n| targets(n).max(1),
        |n| (targets(n) as u64).pow(3) + oriented.degree(graph.graph.view(), n) as u64 + 1,
    );
    let (states, complete) = run_units(
        &units,
        context,
        || Search::new(graph, oriented, sink, context),
        |search, unit| search.start(unit.start, unit.range()),
    );
    if states.iter().any(|state| state.overflow) {
        return Err(too_many());
    }
    let mut sizes = vec![0u128; oriented.degeneracy() + 2];
    for state in &states {
        for (total, count) in sizes.iter_mut().zip(&state.found) {
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

/// What a thread holds; its size depends on the busiest start vertex.
struct Search<'a> {
    graph: &'a Resident<'a>,
    oriented: &'a Oriented,
    sink: Option<&'a dyn Sink>,
    context: &'a Context,
    /// By size: maximal cliques found.
    found: Vec<u128>,
    /// Whether a number was too large for 128 bits.
    overflow: bool,
    local: Local,
    /// The excluded vertices that aren't members: a row each of the members next to it.
    outside: Vec<u64>,
    /// The clique so far, in the oriented graph's numbers; kept for the sink only.
    clique: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(
        graph: &'a Resident<'a>,
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
            local: Local::new(true),
            outside: vec![],
            clique: vec![],
        }
    }

    /// Searches the cliques whose last vertex in the order is `start`, along those first branches
    /// whose member has a position in `part`.
    fn start(&mut self, start: u32, part: Range<usize>) -> ControlFlow<()> {
        let members = self.oriented.targets(start);
        let view = self.graph.graph.view();
        self.clique.clear();
        self.clique.push(start);
        if members.is_empty() {
            // Maximal if nothing leads here either.
            if self.oriented.degree(view, start) > 0 {
                return ControlFlow::Continue(());
            }
            self.found[1] += 1;
            return self.sink.map_or(ControlFlow::Continue(()), |sink| {
                sink.embedding(&Pattern::clique(1), &[self.oriented.vertex[start as usize]])
            });
        }
        if self.local.enter(self.oriented, start) {
            // Excluded from the start: what leads to `start`, since those cliques were or will be
            // found from there. A row without members can't exclude anything further down.
            let width = self.local.width();
            self.outside.clear();
            for source in self.oriented.sources(view, start) {
                let at = self.outside.len();
                self.outside.resize(at + width, 0);
                sets::positions(members, self.oriented.targets(source), &mut self.outside[at..]);
                if self.outside[at..].iter().all(|&word| word == 0) {
                    self.outside.truncate(at);
                }
            }
        }
        let width = self.local.width();
        by_width!(width, R => {
            let rows = R::rows(self.local.rows(), width);
            let mut branch = Branch {
                rows: &rows,
                members,
                excluded: R::rows(&self.outside, width).into_owned(),
                vertex: &self.oriented.vertex,
                sink: self.sink,
                context: self.context,
                found: &mut self.found,
                overflow: &mut self.overflow,
                clique: &mut self.clique,
            };
            let candidates = R::full(members.len(), width);
            let none = candidates.and_not(&candidates);
            branch.search(candidates, none, part)
        })
    }
}

/// The search from one start vertex.
struct Branch<'a, R> {
    rows: &'a [R],
    members: &'a [u32],
    /// A stack of rows of excluded vertices that aren't members: each level works on its end.
    excluded: Vec<R>,
    vertex: &'a [VertexId],
    sink: Option<&'a dyn Sink>,
    context: &'a Context,
    found: &'a mut [u128],
    overflow: &'a mut bool,
    clique: &'a mut Vec<u32>,
}

/// A node of the search: what may join, and what would if it weren't excluded.
struct Node<R> {
    candidates: R,
    /// Excluded members.
    barred: R,
    /// Where the other excluded vertices begin in [`Branch::excluded`].
    outside: usize,
    /// Vertices in the clique.
    size: usize,
    /// Restricts the first branches.
    part: Option<Range<usize>>,
}

impl<R: Row> Branch<'_, R> {
    fn search(&mut self, candidates: R, barred: R, part: Range<usize>) -> ControlFlow<()> {
        let node = Node { candidates, barred, outside: 0, size: 1, part: Some(part) };
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.node_x86(node) };
        }
        self.node_portable(node)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt,bmi1,bmi2")]
    fn node_x86(&mut self, node: Node<R>) -> ControlFlow<()> {
        self.node(node, |branch, node| branch.node_x86(node))
    }

    fn node_portable(&mut self, node: Node<R>) -> ControlFlow<()> {
        self.node(node, |branch, node| branch.node_portable(node))
    }

    /// Searches from a node with candidates; `below` does those that have one vertex more.
    #[inline(always)]
    fn node(
        &mut self,
        mut node: Node<R>,
        below: impl Fn(&mut Self, Node<R>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.context.cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        let joined = self.clique.len();
        let first_outside = node.outside;
        let flow = self.branches(&mut node, below);
        self.clique.truncate(joined);
        if node.outside > first_outside {
            self.excluded.truncate(node.outside);
        }
        flow
    }

    #[inline(always)]
    fn branches(
        &mut self,
        node: &mut Node<R>,
        below: impl Fn(&mut Self, Node<R>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // The whole node belongs to one part, but for its branches.
        let whole = node.part.as_ref().is_none_or(|part| part.start == 0);
        let all = node.candidates.size();
        let (mut pivot, mut most, mut paired) = (None, 0, 0);
        let mut rest = node.candidates.clone();
        for m in node.candidates.members() {
            let next_to = self.rows[m].common(&node.candidates);
            if next_to + 1 == all {
                rest.remove(m);
            } else {
                paired += u32::from(next_to + 2 == all);
                if pivot.is_none() || next_to > most {
                    (pivot, most) = (Some(m), next_to);
                }
            }
        }
        let left = rest.size();
        let universal = node.candidates.and_not(&rest);
        if left < all {
            // What is next to all other candidates is in every clique that is found from here.
            self.join(node, &universal, &rest);
            most -= (all - left).min(most);
        }
        let Some(pivot) = pivot else {
            let maximal = node.barred.is_empty() && self.excluded.len() == node.outside;
            return if whole && maximal {
                self.report(node.size, 1)
            } else {
                ControlFlow::Continue(())
            };
        };
        // An excluded vertex next to all candidates could join every clique found from here;
        // one that is next to more than any candidate is the better pivot.
        let mut near = &self.rows[pivot];
        for x in node.barred.members().map(|m| &self.rows[m]).chain(&self.excluded[node.outside..])
        {
            let next_to = x.common(&rest);
            if next_to == left {
                return ControlFlow::Continue(());
            }
            if next_to > most {
                (near, most) = (x, next_to);
            }
        }
        if paired == left
            && self.sink.is_none()
            && left <= 2 * MAX_PAIRS
            && self.is_free(node, &rest)
        {
            let cliques = if whole { 1 << (left / 2) } else { 0 };
            return self.report(node.size + left as usize / 2, cliques);
        }
        for m in rest.and_not(near).members() {
            if node.part.as_ref().is_none_or(|part| part.contains(&m)) {
                self.branch(node, m, &below)?;
            }
            node.candidates.remove(m);
            node.barred.insert(m);
        }
        ControlFlow::Continue(())
    }

    /// Lets the `universal` candidates join and leaves the `rest`.
    #[inline(always)]
    fn join(&mut self, node: &mut Node<R>, universal: &R, rest: &R) {
        for m in universal.members() {
            node.barred.keep(&self.rows[m]);
            if self.sink.is_some() {
                self.clique.push(self.members[m]);
            }
        }
        let joined = universal.size();
        node.size += joined as usize;
        node.candidates = rest.clone();
        let end = self.excluded.len();
        for at in node.outside..end {
            if self.excluded[at].common(universal) == joined {
                let row = self.excluded[at].clone();
                self.excluded.push(row);
            }
        }
        node.outside = end;
    }

    /// Whether no excluded vertex is next to a whole choice of one of each pair of `rest`, whose
    /// members each miss one other.
    #[inline(always)]
    fn is_free(&self, node: &Node<R>, rest: &R) -> bool {
        let mut rows =
            node.barred.members().map(|m| &self.rows[m]).chain(&self.excluded[node.outside..]);
        rows.all(|row| {
            let missed = rest.and_not(row);
            // Both of a pair.
            missed.members().any(|m| missed.and_not(&self.rows[m]).size() == 2)
        })
    }

    /// The branch in which candidate `m` joins.
    #[inline(always)]
    fn branch(
        &mut self,
        node: &Node<R>,
        m: usize,
        below: &impl Fn(&mut Self, Node<R>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let row = &self.rows[m];
        let candidates = node.candidates.and(row);
        let barred = node.barred.and(row);
        let end = self.excluded.len();
        if self.sink.is_some() {
            self.clique.push(self.members[m]);
        }
        let flow = if candidates.is_empty() {
            let outside = &self.excluded[node.outside..];
            if barred.is_empty() && !outside.iter().any(|x| x.has(m)) {
                self.report(node.size + 1, 1)
            } else {
                ControlFlow::Continue(())
            }
        } else {
            for at in node.outside..end {
                let x = &self.excluded[at];
                // Without a candidate next to it, it can't exclude anything further down.
                if x.has(m) && x.common(&candidates) > 0 {
                    let x = x.clone();
                    self.excluded.push(x);
                }
            }
            let size = node.size + 1;
            let flow = below(self, Node { candidates, barred, outside: end, size, part: None });
            self.excluded.truncate(end);
            flow
        };
        if self.sink.is_some() {
            self.clique.pop();
        }
        flow
    }

    /// So many maximal cliques of `size` vertices; for the sink it is the clique itself.
    fn report(&mut self, size: usize, cliques: u128) -> ControlFlow<()> {
        let (sum, overflow) = self.found[size].overflowing_add(cliques);
        self.found[size] = sum;
        *self.overflow |= overflow;
        let Some(sink) = self.sink else {
            return ControlFlow::Continue(());
        };
        let mut vertices: Vec<VertexId> =
            self.clique.iter().map(|&n| self.vertex[n as usize]).collect();
        vertices.sort_unstable();
        sink.embedding(&Pattern::clique(size.min(SMALL_VERTICES)), &vertices)
    }
}
