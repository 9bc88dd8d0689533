//! The enumeration of one thread.

use std::ops::{ControlFlow, Range};

use gramer_base::context::Context;

use super::visit::EmbeddingVisitor;
use crate::cycle::within;
use crate::fsm::code::MAX;
use crate::fsm::rows::Rows;
use crate::fsm::trie::{DEAD, Trie};
use crate::reach::{ByVertex, Form, parts};

/// Marks 0: not a neighbour of the embedding. Slots hold nodes; this is none.
const NOT_WAITING: u32 = DEAD;

/// One thread's enumeration.
pub(super) struct Walker<'a, F: Form> {
    pub(super) rows: &'a Rows,
    context: &'a Context,
    pub(super) trie: Trie<'a>,
    /// The embedding, in the order in which it grew.
    pub(super) members: Vec<u32>,
    /// By vertex: the labels of its edges to the members, [`Rows::width`] bits each.
    marks: F::Table<u64>,
    /// Members whose rows are too long for the table, and are searched.
    searched: Vec<LabelledRow<'a>>,
    /// The longest row that is in the table: those of all members fill it.
    longest: usize,
    /// A stack of vertices that wait, each with its node if it were added next.
    waiting: Vec<(u32, u32)>,
    /// By vertex: the node if it waits, while [`Walker::pairs`] runs.
    slots: F::Table<u32>,
    /// By node: how many waiting vertices would lead to it.
    alike: Vec<u64>,
    /// By pattern number. Signed, because pairs are first counted as if none were neighbours.
    pub(super) counts: Vec<i128>,
}

/// A member's row: where its labels begin in a mark, and its neighbours with the labels.
struct LabelledRow<'a> {
    shift: u32,
    targets: &'a [u32],
    labels: &'a [u32],
}

impl<'a, F: Form> Walker<'a, F> {
    /// Bytes per vertex of the dense form.
    pub(super) const BYTES: usize = 12;

    pub(super) fn new(rows: &'a Rows, trie: Trie<'a>, context: &'a Context) -> Self {
        // As if there were two others: a table that forgets entries has more slots for each that is left.
        let marks = F::Table::new(rows.vertices(), 0, 4);
        Walker {
            rows,
            context,
            trie,
            members: Vec::with_capacity(MAX),
            longest: marks.most() / MAX,
            marks,
            searched: vec![],
            waiting: vec![],
            slots: F::Table::new(rows.vertices(), NOT_WAITING, 4),
            alike: vec![],
            counts: vec![],
        }
    }

    /// Enumerates the embeddings whose smallest vertex is `root` and whose second one is in
    /// `part` of the neighbours after it.
    pub(super) fn unit(
        &mut self,
        visit: &mut impl EmbeddingVisitor<F>,
        root: u32,
        part: std::ops::Range<usize>,
    ) -> ControlFlow<()> {
        let rows = self.rows;
        let node = self.trie.child(Trie::ROOT, 0, rows.class(root));
        let (targets, labels) = rows.after(root, root);
        let in_table = self.in_table(targets);
        for (&v, &label) in targets.iter().zip(labels) {
            if in_table {
                *self.marks.entry(v) = u64::from(label);
            }
            let next = self.trie.child(node, u64::from(label), rows.class(v));
            self.waiting.push((v, next));
        }
        if !in_table {
            self.searched.push(LabelledRow { shift: 0, targets, labels });
        }
        self.members.push(root);
        let done = part.into_iter().try_for_each(|at| self.grow(visit, 0, at));
        self.members.clear();
        self.waiting.clear();
        self.marks.clear(targets.iter().copied());
        self.searched.clear();
        done
    }

    /// Whether a member's row is in the table of marks.
    #[inline(always)]
    fn in_table(&self, row: &[u32]) -> bool {
        F::DENSE || row.len() <= self.longest
    }

    /// The labels of a vertex' edges to the members.
    #[inline(always)]
    fn mark(&self, v: u32) -> u64 {
        let mut mark = self.marks.get(v);
        if !F::DENSE {
            for row in &self.searched {
                let label = row.targets.binary_search(&v).map_or(0, |at| row.labels[at]);
                mark |= u64::from(label) << row.shift;
            }
        }
        mark
    }

    /// Adds a label to a vertex' mark, in the table if it is there; whether it is its first.
    #[inline(always)]
    fn add_label(&mut self, v: u32, label: u64, in_table: bool) -> bool {
        let new = F::DENSE || self.mark(v) == 0;
        if !in_table {
            return new;
        }
        let mark = self.marks.entry(v);
        let new = if F::DENSE { *mark == 0 } else { new };
        *mark |= label;
        new
    }

    /// Adds the waiting vertex at `at`; those from `first` up to it go on waiting.
    fn grow(
        &mut self,
        visit: &mut impl EmbeddingVisitor<F>,
        first: usize,
        at: usize,
    ) -> ControlFlow<()> {
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
        let in_table = self.in_table(targets);
        for (&u, &label) in targets.iter().zip(labels) {
            if self.add_label(u, u64::from(label) << shift, in_table) {
                let next = self.trie.child(node, u64::from(label) << shift, rows.class(u));
                if next != DEAD {
                    self.waiting.push((u, next));
                }
            }
        }
        if !in_table {
            self.searched.push(LabelledRow { shift, targets, labels });
        }
        for i in first..at {
            let (u, then) = self.waiting[i];
            if then != DEAD {
                let next = self.trie.child(node, self.mark(u), rows.class(u));
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
        if !in_table {
            self.searched.pop();
            return done;
        }
        let field = ((1 << rows.width) - 1) << shift;
        for &u in targets {
            *self.marks.entry(u) &= !field;
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
        for &(_, next) in &waiting[first..] {
            if self.alike[next as usize] == 0 {
                groups.push(next);
            }
            self.alike[next as usize] += 1;
        }
        let every = 0..rows.vertices() as u32;
        let reach = || waiting.len() - first;
        let visit = |each: &mut dyn FnMut(u32)| waiting[first..].iter().for_each(|&(v, _)| each(v));
        let done = parts(self.slots.most(), every.clone(), reach, visit)
            .try_for_each(|part| self.last_edges(&waiting[first..], root, shift, (part, &every)));
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
        self.waiting = waiting;
        done
    }

    /// Corrects [`Walker::pairs`] by the edges of waiting vertices to a part of the vertices.
    #[inline]
    fn last_edges(
        &mut self,
        waiting: &[(u32, u32)],
        root: u32,
        shift: u32,
        (part, every): (Range<u32>, &Range<u32>),
    ) -> ControlFlow<()> {
        let rows = self.rows;
        let whole = F::DENSE || part == *every;
        for &(v, next) in waiting.iter().filter(|(v, _)| whole || part.contains(v)) {
            *self.slots.entry(v) = next;
        }
        let mut done = ControlFlow::Continue(());
        for &(v, next) in waiting {
            if self.context.cancel.is_cancelled() {
                done = ControlFlow::Break(());
                break;
            }
            let (mut targets, mut labels) = rows.after(v, root);
            if !whole {
                let range = within(targets, &part);
                (targets, labels) = (&targets[range.clone()], &labels[range]);
            }
            for (&u, &label) in targets.iter().zip(labels) {
                let slot = self.slots.get(u);
                let mark = self.mark(u);
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
        self.slots.clear(waiting.iter().map(|&(v, _)| v));
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
