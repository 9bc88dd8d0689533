//! Connected vertex sets of a given size, each visited once.
//!
//! Wernicke's ESU (*Efficient detection of network motifs*, 2006): the smallest vertex of a set
//! is its root, and a vertex joins the extension list only from the first member that it is next
//! to. Since vertex 0 is the most valuable one, the root is the busiest member, and the vertices
//! that join later, whose lists are read most often, have short ones.

use std::ops::ControlFlow;

use gramer_base::context::Context;
use gramer_graph::{VertexId, View};

use super::phase::PhaseRun;
use super::reach::{ByVertex, Form};
use super::{Job, StartVertices};

/// Largest set.
pub(super) const MAX_SIZE: usize = 6;
/// Bytes per vertex of the dense form.
pub(super) const BYTES: usize = 1;

/// The set being grown, and how the rest of the graph sees it.
pub(super) struct Frontier<'a, F: Form> {
    graph: View<'a>,
    /// The members, in the order in which they joined.
    pub members: Vec<VertexId>,
    /// Adjacency bits of the members; see [`gramer_pattern::Pattern::from_bits`].
    pub bits: u32,
    /// By vertex: which members it is next to, as bits of their positions.
    seen: F::Table<u8>,
    /// Members whose rows are too long for the table, and are searched: the bit and the row of each.
    searched: Vec<(u8, &'a [VertexId])>,
    /// The most neighbours that a member in the table has: all members together fill it.
    longest: usize,
    /// By set of positions (not empty): number of vertices, members included, that are next to
    /// exactly these members.
    exactly: [u32; 1 << MAX_SIZE],
}

impl<'a, F: Form> Frontier<'a, F> {
    fn new(graph: View<'a>) -> Self {
        // As if there were another: a table that forgets entries has more slots for each that is left.
        let seen = F::Table::new(graph.vertices(), 0, 2);
        Frontier {
            graph,
            members: Vec::with_capacity(MAX_SIZE),
            bits: 0,
            longest: seen.most() / MAX_SIZE,
            seen,
            searched: vec![],
            exactly: [0; 1 << MAX_SIZE],
        }
    }

    fn push(&mut self, v: VertexId) {
        let at = self.members.len();
        self.bits |= (self.seen(v) as u32) << (at * at.saturating_sub(1) / 2);
        self.members.push(v);
        let row = self.graph.neighbours(v);
        if !F::DENSE {
            return self.push_sparse(at, row);
        }
        for &u in row {
            let seen = self.seen.entry(u);
            self.exactly[*seen as usize] = self.exactly[*seen as usize].wrapping_sub(1);
            *seen |= 1 << at;
            self.exactly[*seen as usize] += 1;
        }
    }

    fn pop(&mut self) {
        let v = self.members.pop().expect("a member");
        let at = self.members.len();
        self.bits &= !(u32::MAX << (at * at.saturating_sub(1) / 2));
        let row = self.graph.neighbours(v);
        if !F::DENSE {
            return self.pop_sparse(at, row);
        }
        for &u in row {
            let seen = self.seen.entry(u);
            self.exactly[*seen as usize] -= 1;
            *seen &= !(1 << at);
            self.exactly[*seen as usize] = self.exactly[*seen as usize].wrapping_add(1);
        }
    }

    /// Notes a member's row, in the table or to be searched.
    fn push_sparse(&mut self, at: usize, row: &'a [VertexId]) {
        let bit = 1 << at;
        for &u in row {
            let seen = self.seen(u);
            self.exactly[seen as usize] = self.exactly[seen as usize].wrapping_sub(1);
            self.exactly[(seen | bit) as usize] += 1;
            if row.len() <= self.longest {
                *self.seen.entry(u) |= bit;
            }
        }
        if row.len() > self.longest {
            self.searched.push((bit, row));
        }
    }

    /// The other way round, for the member that came last.
    fn pop_sparse(&mut self, at: usize, row: &'a [VertexId]) {
        let bit = 1 << at;
        if row.len() > self.longest {
            self.searched.pop();
        }
        for &u in row {
            if row.len() <= self.longest {
                *self.seen.entry(u) &= !bit;
            }
            let seen = self.seen(u);
            self.exactly[(seen | bit) as usize] -= 1;
            self.exactly[seen as usize] = self.exactly[seen as usize].wrapping_add(1);
        }
        // Without members nothing is seen.
        if at == 0 {
            self.seen.clear([]);
        }
    }

    /// Which members `v` is next to, as bits of their positions.
    #[inline(always)]
    pub fn seen(&self, v: VertexId) -> u8 {
        let mut seen = self.seen.get(v);
        if !F::DENSE {
            for &(bit, row) in &self.searched {
                seen |= if row.binary_search(&v).is_ok() { bit } else { 0 };
            }
        }
        seen
    }

    /// Adjacency bits of the members and `last`, which would join them.
    #[inline]
    pub fn bits_with(&self, last: VertexId) -> u32 {
        let at = self.members.len();
        self.bits | (self.seen(last) as u32) << (at * at.saturating_sub(1) / 2)
    }

    /// For the members and `last`: by set of positions (not empty), the number of other vertices
    /// that are next to exactly these. Reads the list of `last` once.
    #[inline]
    pub fn outside(&self, last: VertexId, outside: &mut [u32; 1 << MAX_SIZE]) {
        let at = self.members.len();
        let half = 1usize << at;
        outside[half..2 * half].fill(0);
        let with_last = &mut outside[half..2 * half];
        let row = self.graph.neighbours(last);
        match half {
            // One number in a register, not two in memory, each of which waits for what it was before.
            2 => {
                let near: u32 = row.iter().map(|&u| u32::from(self.seen(u))).sum();
                with_last.copy_from_slice(&[row.len() as u32 - near, near]);
            }
            _ => row.iter().for_each(|&u| with_last[self.seen(u) as usize] += 1),
        }
        for set in 1..half {
            outside[set] = self.exactly[set] - outside[half | set];
        }
        // Members were counted where they see each other; they aren't outside.
        let last_sees = self.seen(last) as usize;
        for (i, &m) in self.members.iter().enumerate() {
            let sees = self.seen(m) as usize | (last_sees >> i & 1) << at;
            if sees != 0 {
                outside[sees] -= 1;
            }
        }
        if last_sees != 0 {
            outside[last_sees] -= 1;
        }
    }
}

/// Visits every connected set of `size` vertices once: `visit(state, frontier, last)` gets the
/// set without its last vertex, and that.
///
/// The form is that of [`fits`] for [`BYTES`] per vertex.
///
/// [`fits`]: super::reach::fits
pub(super) fn run<'a, F: Form, S: Send>(
    graph: View<'_>,
    size: usize,
    job: Job<'a>,
    make: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &Frontier<'_, F>, VertexId) -> ControlFlow<()> + Sync,
) -> PhaseRun<'a, S> {
    assert!((1..=MAX_SIZE).contains(&size));
    let context = job.context;
    let larger = |v: VertexId| graph.degree(v) - graph.neighbours(v).partition_point(|&u| u < v);
    let list = |v| if size == 1 { 1 } else { larger(v) };
    let weight = |v: VertexId| (larger(v) as u64 + 1).pow(size as u32 - 1);
    let units = StartVertices::vertices(graph).units(job, list, weight);
    let ran = job.run(
        &units,
        || (make(), Frontier::<F>::new(graph), vec![vec![]; size]),
        |(state, frontier, lists), unit| {
            let root = unit.start;
            if size == 1 {
                return visit(state, frontier, root);
            }
            let first = graph.degree(root) - larger(root);
            let candidates = &graph.neighbours(root)[first..];
            frontier.push(root);
            let mut flow = ControlFlow::Continue(());
            for at in unit.range() {
                graph.ask_row_ahead(candidates, at);
                let (v, rest) = (candidates[at], &candidates[at + 1..]);
                flow = if context.cancel.is_cancelled() {
                    ControlFlow::Break(())
                } else if size == 2 {
                    visit(state, frontier, v)
                } else {
                    extend(frontier, lists, v, rest, size, context, &mut |f, last| {
                        visit(state, f, last)
                    })
                };
                if flow.is_break() {
                    break;
                }
            }
            frontier.pop();
            flow
        },
    );
    ran.map(|state| state.0)
}

/// Extends the members by `v`, then by every later vertex of the extension list `rest` and every vertex
/// next to `v` alone.
fn extend<F: Form>(
    frontier: &mut Frontier<'_, F>,
    lists: &mut [Vec<VertexId>],
    v: VertexId,
    rest: &[VertexId],
    size: usize,
    context: &Context,
    visit: &mut impl FnMut(&Frontier<'_, F>, VertexId) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let root = frontier.members[0];
    let (list, deeper) = lists.split_first_mut().expect("a list for each level");
    list.clear();
    list.extend_from_slice(rest);
    let neighbours = frontier.graph.neighbours(v);
    let after_root = neighbours.partition_point(|&u| u <= root);
    // Members see each other, the root's mate included, so none of them is found anew here.
    list.extend(neighbours[after_root..].iter().filter(|&&u| frontier.seen(u) == 0));
    frontier.push(v);
    let mut flow = ControlFlow::Continue(());
    let last_level = frontier.members.len() + 1 == size;
    for at in 0..list.len() {
        flow = if at % 16 == 15 && context.cancel.is_cancelled() {
            ControlFlow::Break(())
        } else if last_level {
            visit(frontier, list[at])
        } else {
            extend(frontier, deeper, list[at], &list[at + 1..], size, context, visit)
        };
        if flow.is_break() {
            break;
        }
    }
    frontier.pop();
    flow
}
