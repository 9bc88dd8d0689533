//! Cliques of k vertices.
//!
//! Edges are oriented by degeneracy, so a vertex has few targets even where it has many
//! neighbours. The edges among the targets of a start vertex become a matrix of bits, and the
//! (k − 1)-cliques among them are counted by intersecting its rows; the last level is a
//! population count, so no clique is visited one by one unless it is asked for.

use std::ops::ControlFlow;

use crate::work::Groups;
use crate::{Count, Outcome, Sink};
use gramer_graph::VertexId;
use gramer_graph::context::Cancel;
use gramer_graph::error::Result;
use gramer_pattern::Pattern;

use super::oriented::Oriented;
use super::{Job, Resident, Starts, run_units, triangle};

pub(super) fn run(graph: &Resident<'_>, k: usize, job: Job<'_>) -> Result<Outcome> {
    let (count, complete) = match job.sink {
        None => count(graph, k, job),
        Some(sink) => list(graph, k, sink, job),
    };
    let results = vec![Count { pattern: Pattern::clique(k), count }];
    Ok(Outcome { results, complete, ..Outcome::default() })
}

fn units(graph: &Resident<'_>, oriented: &Oriented, k: usize, job: Job<'_>) -> Groups {
    let targets = |n| oriented.targets(n).len();
    // Fewer than k - 1 targets hold no clique.
    let list = |n| if targets(n) + 1 < k { 0 } else { targets(n) };
    // The real cost lies between the square (building the matrix) and the power k - 1.
    Starts::numbered(graph.graph.view(), &oriented.vertex)
        .units(job, list, |n| if targets(n) + 1 < k { 0 } else { (targets(n) as u64).pow(3) })
}

/// Number of cliques of `k` vertices (k ≥ 3), and whether the run was finished.
pub(super) fn count(graph: &Resident<'_>, k: usize, job: Job<'_>) -> (u128, bool) {
    if k == 3 {
        return triangle::count(graph.graph.view(), job);
    }
    let context = job.context;
    let Ok(oriented) = graph.oriented(&context.cancel) else {
        return (0, false);
    };
    let units = units(graph, oriented, k, job);
    let (states, complete) = run_units(
        &units,
        context,
        || (0u128, Local::new(oriented, k)),
        |(total, local), unit| {
            local.enter(oriented, unit.start);
            for i in unit.range() {
                *total += local.count(i, k - 1, &context.cancel) as u128;
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        },
    );
    (states.iter().map(|s| s.0).sum(), complete)
}

fn list(graph: &Resident<'_>, k: usize, sink: &dyn Sink, job: Job<'_>) -> (u128, bool) {
    let context = job.context;
    let Ok(oriented) = graph.oriented(&context.cancel) else {
        return (0, false);
    };
    let units = units(graph, oriented, k, job);
    let pattern = Pattern::clique(k);
    let (states, complete) = run_units(
        &units,
        context,
        || (0u128, Local::new(oriented, k)),
        |(total, local), unit| {
            local.enter(oriented, unit.start);
            let mut clique = vec![oriented.vertex[unit.start as usize]];
            for i in unit.range() {
                local.list(i, k - 1, oriented, &mut clique, &mut |clique| {
                    if context.cancel.is_cancelled() {
                        return ControlFlow::Break(());
                    }
                    *total += 1;
                    let mut sorted: Vec<VertexId> = clique.to_vec();
                    sorted.sort_unstable();
                    sink.embedding(&pattern, &sorted)
                })?;
            }
            ControlFlow::Continue(())
        },
    );
    (states.iter().map(|s| s.0).sum(), complete)
}

/// The edges among the targets of one start vertex, as bits.
struct Local {
    /// The start vertex that `rows` belongs to.
    start: Option<u32>,
    /// Words a row.
    words: usize,
    /// Row i: the targets j < i that target i leads to.
    rows: Vec<u64>,
    /// By vertex: its position among the targets, or `u32::MAX`.
    position: Vec<u32>,
    /// One set a level of the recursion.
    sets: Vec<u64>,
    depth: usize,
}

impl Local {
    fn new(oriented: &Oriented, k: usize) -> Self {
        let words = oriented.degeneracy().div_ceil(64);
        Local {
            start: None,
            words: 0,
            rows: vec![],
            position: vec![u32::MAX; oriented.vertices()],
            sets: vec![0; words * k],
            depth: k,
        }
    }

    /// Builds the matrix of `start`, unless it is there already.
    fn enter(&mut self, oriented: &Oriented, start: u32) {
        if self.start == Some(start) {
            return;
        }
        self.start = Some(start);
        let targets = oriented.targets(start);
        self.words = targets.len().div_ceil(64);
        self.rows.clear();
        self.rows.resize(targets.len() * self.words, 0);
        self.sets.resize(self.depth * self.words.max(1), 0);
        for (i, &t) in targets.iter().enumerate() {
            self.position[t as usize] = i as u32;
        }
        for (i, &t) in targets.iter().enumerate() {
            let row = &mut self.rows[i * self.words..(i + 1) * self.words];
            for &u in oriented.targets(t) {
                let j = self.position[u as usize];
                if j != u32::MAX {
                    row[j as usize / 64] |= 1 << (j % 64);
                }
            }
        }
        for &t in targets {
            self.position[t as usize] = u32::MAX;
        }
    }

    /// Number of cliques of `r` targets (r ≥ 2) whose largest is target `i`; fewer once the run is
    /// asked to stop.
    fn count(&mut self, i: usize, r: usize, cancel: &Cancel) -> u64 {
        let row = &self.rows[i * self.words..(i + 1) * self.words];
        // Bits of row i lie below i.
        let used = i.div_ceil(64);
        count_in(&self.rows, self.words, &row[..used], &mut self.sets, r - 1, cancel)
    }

    /// Hands every clique of `r` targets whose largest is target `i` to `found`, after the
    /// vertices already in `clique`.
    fn list(
        &mut self,
        i: usize,
        r: usize,
        oriented: &Oriented,
        clique: &mut Vec<VertexId>,
        found: &mut dyn FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let targets = oriented.targets(self.start.expect("a start vertex was entered"));
        let set = self.rows[i * self.words..(i + 1) * self.words].to_vec();
        clique.push(oriented.vertex[targets[i] as usize]);
        let flow = self.list_in(&set, r - 1, oriented, targets, clique, found);
        clique.pop();
        flow
    }

    fn list_in(
        &self,
        set: &[u64],
        r: usize,
        oriented: &Oriented,
        targets: &[u32],
        clique: &mut Vec<VertexId>,
        found: &mut dyn FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if r == 0 {
            return found(clique);
        }
        for j in ones(set) {
            let row = &self.rows[j * self.words..(j + 1) * self.words];
            let inner: Vec<u64> = set.iter().zip(row).map(|(a, b)| a & b).collect();
            clique.push(oriented.vertex[targets[j] as usize]);
            self.list_in(&inner, r - 1, oriented, targets, clique, found)?;
            clique.pop();
        }
        ControlFlow::Continue(())
    }
}

/// Positions of the bits of a set, ascending.
pub(super) fn ones(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(w, &word)| {
        let mut word = word;
        std::iter::from_fn(move || {
            if word == 0 {
                return None;
            }
            let bit = word.trailing_zeros() as usize;
            word &= word - 1;
            Some(64 * w + bit)
        })
    })
}

/// Number of cliques of `r` members of `set`.
fn count_in(
    rows: &[u64],
    words: usize,
    set: &[u64],
    scratch: &mut [u64],
    r: usize,
    cancel: &Cancel,
) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("popcnt")
        && std::arch::is_x86_feature_detected!("bmi1")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { count_in_x86_v3(rows, words, set, scratch, r, cancel) };
    }
    count_in_portable(rows, words, set, scratch, r, cancel)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn count_in_x86_v3(
    rows: &[u64],
    words: usize,
    set: &[u64],
    scratch: &mut [u64],
    r: usize,
    cancel: &Cancel,
) -> u64 {
    match r {
        1 => size(set),
        2 => pairs(rows, words, set),
        3 => triples(rows, words, set, scratch),
        _ => {
            let (inner, deeper) = scratch.split_at_mut(words);
            let mut total = 0;
            each(set, |j| {
                if cancel.is_cancelled() {
                    return;
                }
                let used = intersect(set, &rows[j * words..], j, inner);
                total += count_in_x86_v3(rows, words, &inner[..used], deeper, r - 1, cancel);
            });
            total
        }
    }
}

fn count_in_portable(
    rows: &[u64],
    words: usize,
    set: &[u64],
    scratch: &mut [u64],
    r: usize,
    cancel: &Cancel,
) -> u64 {
    match r {
        1 => size(set),
        2 => pairs(rows, words, set),
        3 => triples(rows, words, set, scratch),
        _ => {
            let (inner, deeper) = scratch.split_at_mut(words);
            let mut total = 0;
            each(set, |j| {
                if cancel.is_cancelled() {
                    return;
                }
                let used = intersect(set, &rows[j * words..], j, inner);
                total += count_in_portable(rows, words, &inner[..used], deeper, r - 1, cancel);
            });
            total
        }
    }
}

#[inline(always)]
fn size(set: &[u64]) -> u64 {
    set.iter().map(|w| w.count_ones() as u64).sum()
}

#[inline(always)]
fn each(set: &[u64], mut f: impl FnMut(usize)) {
    for (w, &word) in set.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            f(64 * w + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}

/// Members of `set` that row j holds, into `inner`; returns the words that matter, since a row
/// holds smaller members only.
#[inline(always)]
fn intersect(set: &[u64], row: &[u64], j: usize, inner: &mut [u64]) -> usize {
    let used = j.div_ceil(64);
    for ((to, a), b) in inner[..used].iter_mut().zip(&set[..used]).zip(&row[..used]) {
        *to = a & b;
    }
    used
}

/// Number of adjacent pairs in `set`.
#[inline(always)]
fn pairs(rows: &[u64], words: usize, set: &[u64]) -> u64 {
    let mut total = 0;
    each(set, |j| {
        let used = j.div_ceil(64);
        let row = &rows[j * words..j * words + used];
        total += set[..used].iter().zip(row).map(|(a, b)| (a & b).count_ones() as u64).sum::<u64>();
    });
    total
}

/// Number of triangles in `set`.
#[inline(always)]
fn triples(rows: &[u64], words: usize, set: &[u64], scratch: &mut [u64]) -> u64 {
    let inner = &mut scratch[..words];
    let mut total = 0;
    each(set, |j| {
        let used = intersect(set, &rows[j * words..], j, inner);
        total += pairs(rows, words, &inner[..used]);
    });
    total
}
