//! The search from one start vertex.

use std::ops::{ControlFlow, Range};

use gramer_base::context::Context;
use gramer_graph::VertexId;
use gramer_pattern::{Pattern, SMALL_VERTICES};

use super::super::clique::row::Row;
use gramer_engine::Sink;

/// Largest number of pairs that are counted by formula: more give a number above 128 bits.
const MAX_PAIRS: u32 = 127;

/// The search from one start vertex.
pub(super) struct Branch<'a, R> {
    /// By member: the members next to it.
    pub rows: &'a [R],
    pub members: &'a [u32],
    /// A stack of rows of excluded vertices that aren't members: each level works on its end.
    pub excluded: Vec<R>,
    pub vertex: &'a [VertexId],
    pub sink: Option<&'a dyn Sink>,
    pub context: &'a Context,
    /// By size: maximal cliques found.
    pub found: &'a mut [u128],
    /// Whether a number was too large for 128 bits.
    pub overflow: &'a mut bool,
    /// The clique so far; kept for the sink only.
    pub clique: &'a mut Vec<u32>,
}

/// A node of the search: what may join, and what would if it weren't excluded. No excluded vertex is next
/// to all candidates.
struct Node<R> {
    candidates: R,
    /// Excluded members.
    barred: R,
    /// Start of the other excluded vertices in [`Branch::excluded`].
    outside: usize,
    seen: ExcludedRows<R>,
    /// Vertices in the clique.
    size: usize,
    /// Restricts the first branches.
    part: Option<Range<usize>>,
}

/// The candidates that excluded vertices are next to.
struct ExcludedRows<R> {
    /// By any of them.
    any: R,
    /// By the one with most.
    most: R,
    /// Number of these.
    size: u32,
}

impl<R: Row> ExcludedRows<R> {
    #[inline(always)]
    fn none(like: &R) -> Self {
        let none = like.and_not(like);
        ExcludedRows { any: none.clone(), most: none, size: 0 }
    }

    /// Adds an excluded vertex by the candidates next to it; returns how many these are.
    #[inline(always)]
    fn add(&mut self, near: &R) -> u32 {
        let size = near.size();
        self.any.join(near);
        if size > self.size {
            (self.most, self.size) = (near.clone(), size);
        }
        size
    }
}

impl<R: Row> Branch<'_, R> {
    /// Searches with all `candidates`, along those first branches whose member has a position in `part`.
    pub fn search(&mut self, candidates: R, part: Range<usize>) -> ControlFlow<()> {
        let mut seen = ExcludedRows::none(&candidates);
        for row in &self.excluded {
            seen.add(row);
        }
        let barred = candidates.and_not(&candidates);
        let node = Node { candidates, barred, outside: 0, seen, size: 1, part: Some(part) };
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
        // The node itself belongs to one part; its branches may not.
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
        let Some(pivot) = pivot else {
            // All are next to each other, and no excluded vertex is next to all.
            if !whole {
                return ControlFlow::Continue(());
            }
            self.hold(&node.candidates);
            return self.report(node.size + all as usize, 1);
        };
        let left = rest.size();
        if left < all {
            // What is next to all other candidates is in every clique that is found from here.
            self.join(node, &rest);
            most -= all - left;
        }
        // An excluded vertex that is next to more than any candidate is the better pivot.
        let near = if node.seen.size > most { &node.seen.most } else { &self.rows[pivot] };
        let branches = rest.and_not(near);
        if paired == left
            && self.sink.is_none()
            && left <= 2 * MAX_PAIRS
            && self.is_free(node, &rest)
        {
            let cliques = if whole { 1 << (left / 2) } else { 0 };
            return self.report(node.size + left as usize / 2, cliques);
        }
        for m in branches.members() {
            if node.part.as_ref().is_none_or(|part| part.contains(&m)) {
                self.branch(node, m, &below)?;
            }
            node.candidates.remove(m);
            node.barred.insert(m);
        }
        ControlFlow::Continue(())
    }

    /// Leaves the `rest` of the candidates and lets the others join.
    #[inline(always)]
    fn join(&mut self, node: &mut Node<R>, rest: &R) {
        let universal = node.candidates.and_not(rest);
        self.hold(&universal);
        for m in universal.members() {
            node.barred.keep(&self.rows[m]);
        }
        let joined = universal.size();
        node.size += joined as usize;
        node.candidates = rest.clone();
        node.seen = ExcludedRows::none(rest);
        for m in node.barred.members() {
            node.seen.add(&self.rows[m].and(rest));
        }
        let end = self.excluded.len();
        for at in node.outside..end {
            if self.excluded[at].common(&universal) == joined {
                let row = self.excluded[at].and(rest);
                if node.seen.add(&row) > 0 {
                    self.excluded.push(row);
                }
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
        let size = node.size + 1;
        let all = candidates.size();
        if all == 0 {
            return match barred.is_empty() && !node.seen.any.has(m) {
                true => self.alone(m, size),
                false => ControlFlow::Continue(()),
            };
        }
        let end = self.excluded.len();
        let flow = match self.exclude(node, m, &candidates, &barred, all) {
            None => ControlFlow::Continue(()),
            Some(seen) => {
                let joined = self.clique.len();
                if self.sink.is_some() {
                    self.clique.push(self.members[m]);
                }
                let first = candidates.members().next().expect("there is one");
                let flow = match all {
                    1 => self.alone(first, size + 1),
                    2 if !self.rows[first].meets(&candidates) => {
                        // Either of the two.
                        match self.sink {
                            None => {
                                let free = candidates.and_not(&seen.any).size();
                                self.report(size + 1, u128::from(free))
                            }
                            Some(_) => {
                                let free = candidates.and_not(&seen.any);
                                free.members().try_for_each(|m| self.alone(m, size + 1))
                            }
                        }
                    }
                    2 => {
                        self.hold(&candidates);
                        self.report(size + 2, 1)
                    }
                    _ => below(
                        self,
                        Node { candidates, barred, outside: end, seen, size, part: None },
                    ),
                };
                self.clique.truncate(joined);
                flow
            }
        };
        self.excluded.truncate(end);
        flow
    }

    /// Adds the excluded vertices of the branch of `m` that are next to a candidate of it; none where one
    /// is next to `all`: that could join every clique found there.
    #[inline(always)]
    fn exclude(
        &mut self,
        node: &Node<R>,
        m: usize,
        candidates: &R,
        barred: &R,
        all: u32,
    ) -> Option<ExcludedRows<R>> {
        let mut seen = ExcludedRows::none(candidates);
        for b in barred.members() {
            if seen.add(&self.rows[b].and(candidates)) == all {
                return None;
            }
        }
        for at in node.outside..self.excluded.len() {
            let row = &self.excluded[at];
            if row.has(m) {
                let row = row.and(candidates);
                let size = seen.add(&row);
                if size == all {
                    return None;
                }
                if size > 0 {
                    self.excluded.push(row);
                }
            }
        }
        Some(seen)
    }

    /// Adds members to the clique that the sink gets.
    #[inline(always)]
    fn hold(&mut self, members: &R) {
        if self.sink.is_some() {
            self.clique.extend(members.members().map(|m| self.members[m]));
        }
    }

    /// The maximal clique of `size` vertices that `m` completes.
    #[inline(always)]
    fn alone(&mut self, m: usize, size: usize) -> ControlFlow<()> {
        if self.sink.is_none() {
            return self.report(size, 1);
        }
        self.clique.push(self.members[m]);
        let flow = self.report(size, 1);
        self.clique.pop();
        flow
    }

    /// Reports a number of maximal cliques of `size` vertices, or the clique itself to the sink. A number that exceeds
    /// its type ends the run, since it can only grow.
    #[inline(always)]
    fn report(&mut self, size: usize, cliques: u128) -> ControlFlow<()> {
        let (sum, overflow) = self.found[size].overflowing_add(cliques);
        self.found[size] = sum;
        if overflow {
            *self.overflow = true;
            return ControlFlow::Break(());
        }
        match self.sink {
            None => ControlFlow::Continue(()),
            Some(sink) => self.list(sink, size),
        }
    }

    #[cold]
    fn list(&self, sink: &dyn Sink, size: usize) -> ControlFlow<()> {
        let mut vertices: Vec<VertexId> =
            self.clique.iter().map(|&n| self.vertex[n as usize]).collect();
        vertices.sort_unstable();
        sink.embedding(&Pattern::cliques()[size.min(SMALL_VERTICES)], &vertices)
    }
}
