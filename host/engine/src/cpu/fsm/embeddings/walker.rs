//! The enumeration of one thread.

use std::ops::ControlFlow;

use gramer_graph::context::Context;

use super::visit::Visit;
use crate::cpu::fsm::code::MAX;
use crate::cpu::fsm::rows::Rows;
use crate::cpu::fsm::trie::{DEAD, Trie};

/// Marks 0: not a neighbour of the embedding. Slots hold nodes; this is none.
const NOT_WAITING: u32 = DEAD;

/// One thread's enumeration.
pub(super) struct Walker<'a> {
    pub(super) rows: &'a Rows,
    context: &'a Context,
    pub(super) trie: Trie<'a>,
    /// The embedding, in the order in which it grew.
    pub(super) members: Vec<u32>,
    /// By vertex: the labels of its edges to the members, [`Rows::width`] bits each.
    marks: Vec<u64>,
    /// A stack of vertices that wait, each with its node if it were added next.
    waiting: Vec<(u32, u32)>,
    /// By vertex: the node if it waits, while [`Walker::pairs`] runs.
    slots: Vec<u32>,
    /// By node: how many waiting vertices would lead to it.
    alike: Vec<u64>,
    /// By pattern number. Signed, because pairs are first counted as if none were neighbours.
    pub(super) counts: Vec<i128>,
}

impl<'a> Walker<'a> {
    pub(super) fn new(rows: &'a Rows, trie: Trie<'a>, context: &'a Context) -> Self {
        Walker {
            rows,
            context,
            trie,
            members: Vec::with_capacity(MAX),
            marks: vec![0; rows.vertices()],
            waiting: vec![],
            slots: vec![NOT_WAITING; rows.vertices()],
            alike: vec![],
            counts: vec![],
        }
    }

    /// Enumerates the embeddings whose smallest vertex is `root` and whose second one is in
    /// `part` of the neighbours after it.
    pub(super) fn unit(
        &mut self,
        visit: &mut impl Visit,
        root: u32,
        part: std::ops::Range<usize>,
    ) -> ControlFlow<()> {
        let rows = self.rows;
        let node = self.trie.child(Trie::ROOT, 0, rows.class(root));
        let (targets, labels) = rows.after(root, root);
        for (&v, &label) in targets.iter().zip(labels) {
            self.marks[v as usize] = u64::from(label);
            let next = self.trie.child(node, u64::from(label), rows.class(v));
            self.waiting.push((v, next));
        }
        self.members.push(root);
        let done = part.into_iter().try_for_each(|at| self.grow(visit, 0, at));
        self.members.clear();
        self.waiting.clear();
        for &v in targets {
            self.marks[v as usize] = 0;
        }
        done
    }

    /// Adds the waiting vertex at `at`; those from `first` up to it go on waiting.
    fn grow(&mut self, visit: &mut impl Visit, first: usize, at: usize) -> ControlFlow<()> {
        let (v, node) = self.waiting[at];
        if node == DEAD {
            return ControlFlow::Continue(());
        }
        if self.context.cancel.is_cancelled() {
            return ControlFlow::Break(());
        }
        let below = self.waiting.len();
        if self.members.len() + 1 == visit.largest() {
            self.members.push(v);
            let done = visit.visit(self, node, below);
            self.members.pop();
            return done.map_continue(|_| ());
        }
        let rows = self.rows;
        let (targets, labels) = rows.after(v, self.members[0]);
        let shift = self.members.len() as u32 * rows.width;
        for (&u, &label) in targets.iter().zip(labels) {
            let mark = &mut self.marks[u as usize];
            let new = *mark == 0;
            *mark |= u64::from(label) << shift;
            if new {
                let next = self.trie.child(node, u64::from(label) << shift, rows.class(u));
                if next != DEAD {
                    self.waiting.push((u, next));
                }
            }
        }
        for i in first..at {
            let (u, then) = self.waiting[i];
            if then != DEAD {
                let next = self.trie.child(node, self.marks[u as usize], rows.class(u));
                if next != DEAD {
                    self.waiting.push((u, next));
                }
            }
        }
        self.members.push(v);
        let mut done = ControlFlow::Continue(());
        match visit.visit(self, node, below) {
            ControlFlow::Break(()) => done = ControlFlow::Break(()),
            ControlFlow::Continue(false) => {}
            ControlFlow::Continue(true) => {
                let above = self.waiting.len();
                done = (below..above).try_for_each(|next| self.grow(visit, below, next));
            }
        }
        self.members.pop();
        self.waiting.truncate(below);
        let field = ((1 << rows.width) - 1) << shift;
        for &u in targets {
            self.marks[u as usize] &= !field;
        }
        done
    }

    /// Counts all ways to add two vertices to the embedding, without listing them.
    ///
    /// Two waiting vertices are first counted as if none were neighbours: their number by node is
    /// enough for that. Then the edges of each waiting vertex are walked once. One to another
    /// waiting vertex moves that pair to the pattern with that edge; one to a vertex that no
    /// member knows adds that vertex as the last.
    pub(super) fn pairs(&mut self, node: u32, first: usize) -> ControlFlow<()> {
        let rows = self.rows;
        let root = self.members[0];
        let shift = self.members.len() as u32 * rows.width;
        debug_assert!(node != DEAD);
        let waiting = std::mem::take(&mut self.waiting);
        let mut groups = vec![];
        self.alike.resize(self.alike.len().max(self.trie.len()), 0);
        for &(v, next) in &waiting[first..] {
            self.slots[v as usize] = next;
            if self.alike[next as usize] == 0 {
                groups.push(next);
            }
            self.alike[next as usize] += 1;
        }
        let mut done = ControlFlow::Continue(());
        for &(v, next) in &waiting[first..] {
            if self.context.cancel.is_cancelled() {
                done = ControlFlow::Break(());
                break;
            }
            let (targets, labels) = rows.after(v, root);
            for (&u, &label) in targets.iter().zip(labels) {
                let slot = self.slots[u as usize];
                let mark = self.marks[u as usize];
                let edge = u64::from(label) << shift;
                if slot != NOT_WAITING {
                    if u > v {
                        self.add(next, mark, u, -1);
                        self.add(next, mark | edge, u, 1);
                    }
                } else if mark == 0 {
                    self.add(next, edge, u, 1);
                }
            }
        }
        for (i, &a) in groups.iter().enumerate() {
            let n = i128::from(self.alike[a as usize]);
            for &b in &groups[i..] {
                let m = i128::from(self.alike[b as usize]);
                let (mark, class) = self.trie.last(b);
                let pairs = if a == b { n * (n - 1) / 2 } else { n * m };
                let number = self.trie.child(a, mark, class);
                self.count(number, pairs);
            }
        }
        for group in groups {
            self.alike[group as usize] = 0;
        }
        for &(v, _) in &waiting[first..] {
            self.slots[v as usize] = NOT_WAITING;
        }
        self.waiting = waiting;
        done
    }

    /// Adds to the pattern that `u` with the edges `mark` makes of `node`.
    #[inline]
    fn add(&mut self, node: u32, mark: u64, u: u32, count: i128) {
        let number = self.trie.child(node, mark, self.rows.class(u));
        self.count(number, count);
    }

    #[inline]
    pub(super) fn count(&mut self, number: u32, count: i128) {
        if number == DEAD {
            return;
        }
        if number as usize >= self.counts.len() {
            self.counts.resize(number as usize + 1, 0);
        }
        self.counts[number as usize] += count;
    }
}
