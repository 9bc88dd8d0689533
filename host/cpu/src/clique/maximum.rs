//! A largest clique.
//!
//! Branch and bound: the candidates are coloured so that neighbours differ, and a clique has at
//! most as many of them as there are colours (Tomita and Seki, 2003; with sets as bits, San
//! Segundo et al., *An exact bit-parallel algorithm for the maximum clique problem*, 2011). The
//! start vertices come in the order in which they were peeled last, so that the densest part of
//! the graph gives a large clique first and most of the others are passed over. Of several largest
//! cliques the one of the first start vertex is found, on any number of threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use gramer_base::context::Cancel;

use super::super::oriented::Oriented;
use super::super::{Job, Resident, StartVertices, run_units};
use super::local::Local;
use super::row::{Row, by_width};

/// A clique with the largest number of vertices, in the oriented graph's numbers, and whether the
/// search was finished; empty for a graph without vertices.
pub(super) fn largest(graph: &Resident, oriented: &Oriented, job: Job<'_>) -> (Vec<u32>, bool) {
    let best = Best { rank: AtomicU64::new(0), clique: Mutex::new(vec![]) };
    let context = job.context;
    let mut units = StartVertices::numbered(graph.graph.view(), &oriented.vertex).units(
        job,
        |_| 1,
        |n| (oriented.targets(n).len() as u64).pow(2) + 1,
    );
    // How much a large clique rules out shows once it is found.
    context.progress.set_unpredictable(true);
    // Those that bound the others come first.
    units.in_order();
    let (_, complete) = run_units(
        &units,
        context,
        || Local::new(true),
        |local, unit| {
            let start = unit.start;
            let targets = oriented.targets(start);
            if best.is_less_than(targets.len() + 1, start) {
                local.enter(oriented, start);
                let width = local.width();
                by_width!(width, R => {
                    let rows = R::rows(local.rows(), width);
                    let set = R::full(targets.len(), width);
                    let cancel = &context.cancel;
                    let clique = vec![start];
                    Bound { rows: &rows, targets, best: &best, cancel, clique, order: vec![] }
                        .search(set);
                });
            }
            match context.cancel.is_cancelled() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        },
    );
    context.progress.set_unpredictable(false);
    (best.clique.into_inner().unwrap_or_else(PoisonError::into_inner), complete)
}

/// The largest clique of all threads.
struct Best {
    rank: AtomicU64,
    clique: Mutex<Vec<u32>>,
}

impl Best {
    /// A clique ranks by its size; of two with the same size, the one of the earlier start vertex is higher.
    fn rank(size: usize, start: u32) -> u64 {
        (size as u64) << u32::BITS | u64::from(!start)
    }

    /// Whether a clique of this size from this start vertex would be a better one.
    fn is_less_than(&self, size: usize, start: u32) -> bool {
        self.rank.load(Relaxed) < Self::rank(size, start)
    }

    fn offer(&self, clique: &[u32]) {
        let mut largest = self.clique.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_less_than(clique.len(), clique[0]) {
            *largest = clique.to_vec();
            self.rank.store(Self::rank(clique.len(), clique[0]), Relaxed);
        }
    }
}

/// The search from one start vertex.
struct Bound<'a, R> {
    rows: &'a [R],
    targets: &'a [u32],
    best: &'a Best,
    cancel: &'a Cancel,
    clique: Vec<u32>,
    /// A stack of members with the number of colours up to theirs; each level works on its end.
    order: Vec<(u32, u32)>,
}

impl<R: Row> Bound<'_, R> {
    fn search(&mut self, mut set: R) {
        if set.is_empty() {
            self.best.offer(&self.clique);
            return;
        }
        let begin = self.order.len();
        self.colour(&set);
        for at in (begin..self.order.len()).rev() {
            let (member, colours) = self.order[at];
            let bound = self.clique.len() + colours as usize;
            if !self.best.is_less_than(bound, self.clique[0]) || self.cancel.is_cancelled() {
                break;
            }
            self.clique.push(self.targets[member as usize]);
            self.search(set.and(&self.rows[member as usize]));
            self.clique.pop();
            set.remove(member as usize);
        }
        self.order.truncate(begin);
    }

    /// Appends the members of `set` to the order, colour by colour.
    fn colour(&mut self, set: &R) {
        let mut uncoloured = set.clone();
        let mut colours = 0;
        while !uncoloured.is_empty() {
            colours += 1;
            let mut free = uncoloured.clone();
            while let Some(member) = free.members().next() {
                free.remove(member);
                uncoloured.remove(member);
                free = free.and_not(&self.rows[member]);
                self.order.push((member as u32, colours));
            }
        }
    }
}
