//! Cliques of k vertices by enumeration, up to the last levels where they are only counted.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gramer_base::context::Cancel;
use gramer_graph::VertexId;

use super::super::oriented::Oriented;
use super::local::Local;
use super::row::{Row, by_width, ones};

/// The enumeration of one thread.
#[derive(Debug, Default)]
pub(super) struct Counter<'a> {
    /// Cliques found.
    pub cliques: u128,
    /// Members examined, as a measure of work, since the last report to `most`.
    pub work: u64,
    /// The work of several threads, and that after which all give up.
    pub most: Option<(&'a AtomicU64, u64)>,
}

impl Counter<'_> {
    #[inline(always)]
    fn stops(&self, cancel: &Cancel) -> bool {
        cancel.is_cancelled()
            || self.most.is_some_and(|(all, most)| self.work + all.load(Relaxed) > most)
    }

    /// Adds the cliques of `k` vertices, k ≥ 4, of the start vertex of `local`, whose rows have
    /// the smaller members: those whose largest member has a position in `part`. Returns whether
    /// it came to the end.
    pub fn count(&mut self, local: &Local, part: Range<usize>, k: usize, cancel: &Cancel) -> bool {
        let width = local.width();
        by_width!(width, R => {
            let rows = R::rows(local.rows(), width);
            for i in part {
                let found = within(&rows, &rows[i], k - 2, self, cancel);
                self.cliques += u128::from(found);
            }
        });
        let stops = self.stops(cancel);
        if let Some((all, _)) = self.most {
            all.fetch_add(std::mem::take(&mut self.work), Relaxed);
        }
        !stops
    }
}

/// Number of cliques of `r` members of `set`, r ≥ 2; fewer once it is to stop.
fn within<R: Row>(
    rows: &[R],
    set: &R,
    r: usize,
    counter: &mut Counter<'_>,
    cancel: &Cancel,
) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { level_x86(rows, set, r, counter, cancel) };
    }
    level_portable(rows, set, r, counter, cancel)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn level_x86<R: Row>(
    rows: &[R],
    set: &R,
    r: usize,
    counter: &mut Counter<'_>,
    cancel: &Cancel,
) -> u64 {
    level(rows, set, r, counter, cancel, |set, counter| {
        level_x86(rows, set, r - 1, counter, cancel)
    })
}

fn level_portable<R: Row>(
    rows: &[R],
    set: &R,
    r: usize,
    counter: &mut Counter<'_>,
    cancel: &Cancel,
) -> u64 {
    level(rows, set, r, counter, cancel, |set, counter| {
        level_portable(rows, set, r - 1, counter, cancel)
    })
}

#[inline(always)]
fn level<R: Row>(
    rows: &[R],
    set: &R,
    r: usize,
    counter: &mut Counter<'_>,
    cancel: &Cancel,
    below: impl Fn(&R, &mut Counter) -> u64,
) -> u64 {
    match r {
        2 => {
            counter.work += u64::from(set.size());
            pairs(rows, set)
        }
        3 => {
            // Adjacent pairs cost a look each, together with the third member.
            let mut found = 0;
            for m in set.members() {
                let inner = set.and(&rows[m]);
                counter.work += u64::from(inner.size());
                found += pairs(rows, &inner);
            }
            found
        }
        _ => {
            let mut found = 0;
            for m in set.members() {
                if counter.stops(cancel) {
                    return found;
                }
                let inner = set.and(&rows[m]);
                counter.work += 1;
                if inner.size() as usize + 1 >= r {
                    found += below(&inner, counter);
                }
            }
            found
        }
    }
}

/// Number of adjacent pairs in `set`.
#[inline(always)]
fn pairs<R: Row>(rows: &[R], set: &R) -> u64 {
    set.members().map(|m| u64::from(rows[m].common(set))).sum()
}

/// Visits every clique of one start vertex.
pub(super) struct Lister<'a> {
    oriented: &'a Oriented,
    local: Local,
    /// A set of members per level.
    sets: Vec<u64>,
}

impl<'a> Lister<'a> {
    pub fn new(oriented: &'a Oriented) -> Self {
        Lister { oriented, local: Local::new(false), sets: vec![] }
    }

    /// Hands every clique of `k` vertices, k ≥ 2, to `found` that has the start vertex `start` and
    /// whose largest target has a position in `part`.
    pub fn list(
        &mut self,
        start: u32,
        part: Range<usize>,
        k: usize,
        found: &mut dyn FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.local.enter(self.oriented, start);
        let width = self.local.width();
        self.sets.resize(k * width, 0);
        let level = Level {
            targets: self.oriented.targets(start),
            vertex: &self.oriented.vertex,
            rows: self.local.rows(),
            width,
        };
        let mut clique = vec![self.oriented.vertex[start as usize]];
        for i in part {
            self.sets[..width].copy_from_slice(&self.local.rows()[i * width..(i + 1) * width]);
            level.list(i, &mut self.sets, k - 2, &mut clique, found)?;
        }
        ControlFlow::Continue(())
    }
}

/// Data shared by all levels of a list.
struct Level<'a> {
    targets: &'a [u32],
    vertex: &'a [VertexId],
    rows: &'a [u64],
    width: usize,
}

impl Level<'_> {
    /// Lists the cliques of `member` and `r` members of the first of `sets`.
    fn list(
        &self,
        member: usize,
        sets: &mut [u64],
        r: usize,
        clique: &mut Vec<VertexId>,
        found: &mut dyn FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        clique.push(self.vertex[self.targets[member] as usize]);
        let flow = if r == 0 {
            found(clique)
        } else {
            let (set, deeper) = sets.split_at_mut(self.width);
            ones(set).try_for_each(|m| {
                let row = &self.rows[m * self.width..(m + 1) * self.width];
                for ((to, a), b) in deeper.iter_mut().zip(&*set).zip(row) {
                    *to = a & b;
                }
                self.list(m, deeper, r - 1, clique, found)
            })
        };
        clique.pop();
        flow
    }
}
