//! Tests of cliques of seven vertices and more by pivots (`kernels/pivots.cl`).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::bitmaps::{RootTask, Rows};
use super::small_sets::{SMALL, SmallSets};
use super::{Arcs, LANES, Tests, sample};

/// Sets up to which cliques are met one by one, on a device of 132 compute units.
const FEW: u64 = 13_200_000;

/// The engine's estimate of the sets of a root with this many cliques of four among its targets: a complete graph's.
fn sets_of(found: u64, k: usize) -> u64 {
    let vertices = (24.0 * found as f64).sqrt().sqrt() + 1.5;
    (0..k - 2).map(|i| (vertices - i as f64).max(0.0) / (i + 1) as f64).product::<f64>() as u64
}

fn is_small(task: &RootTask) -> bool {
    task.size <= SMALL
}

impl Arcs {
    /// The tests of cliques of `k` by pivots: small roots are walked, others weighed by their cliques of five, and those
    /// with one are walked. `None` if there are so few sets that they are met one by one.
    pub fn by_pivots(&self, k: usize) -> Option<Tests> {
        let found: Vec<AtomicU64> = (0..self.vertices()).map(|_| AtomicU64::new(0)).collect();
        let (small, all): (Vec<_>, Vec<_>) = self.root_tasks(k).into_iter().partition(is_small);
        let weighing = sample::exact(&all, |task, tests| {
            let cliques = self.root(&self.targets_of(task), 5, tests);
            tests.estimated += sets_of(cliques, task.k);
            found[task.root as usize].fetch_add(cliques, Relaxed);
        });
        if weighing.estimated <= FEW {
            return None;
        }
        let weight = |task: &RootTask| found[task.root as usize].load(Relaxed);
        let mut tasks: Vec<RootTask> = all.into_iter().filter(|task| weight(task) > 0).collect();
        tasks.sort_by_key(|task| std::cmp::Reverse(weight(task)));
        tasks.extend(small.into_iter().filter(|task| task.size as usize >= task.k - 1));
        let mut walks = self.walks(&tasks, LEAST);
        let mut groups = GROUPS;
        while groups > LEAST && walks.work() * groups as f64 > sample::most_work() * GROUPS as f64 {
            groups /= 2;
        }
        if groups > LEAST {
            walks = self.walks(&tasks, groups);
        }
        let left = 1.0 - walks.error;
        Some(Tests { error: walks.error, ..weighing.plus(&walks.times(left)) })
    }

    /// The walks of all roots, with some of the groups of branches; the error is two standard errors.
    fn walks(&self, tasks: &[RootTask], groups: u64) -> Tests {
        let by_group: Vec<AtomicU64> = (0..groups).map(|_| AtomicU64::new(0)).collect();
        // A walker takes several small roots at once.
        let (large, small) = tasks.split_at(tasks.partition_point(|task| !is_small(task)));
        let units: Vec<&[RootTask]> =
            large.chunks(1).chain(small.chunks(gramer_gpu::SmallSets::of(1).sets())).collect();
        let tests = sample::exact(&units, |unit, tests| {
            let words = unit[0].size.div_ceil(32).next_power_of_two();
            let mut small = SmallSets::new(words as usize, unit[0].k);
            for task in *unit {
                let targets = self.targets_of(task);
                if task.k < 7 && !is_small(task) {
                    self.root(&targets, task.k, tests);
                    continue;
                }
                let rows = self.rows(&targets, tests);
                let sample = Sample { groups, by_group: &by_group, root: task.root };
                let sought = task.k - 1;
                match rows.words {
                    0..=4 => Walk::<2>::all(&rows, sought, sample, &mut small, tests),
                    5..=8 => Walk::<4>::all(&rows, sought, sample, &mut small, tests),
                    _ => Walk::<8>::all(&rows, sought, sample, &mut small, tests),
                }
            }
            small.walk(tests);
        });
        if groups == GROUPS {
            return tests;
        }
        let words: Vec<f64> = by_group.iter().map(|words| words.load(Relaxed) as f64).collect();
        let (n, all) = (groups as f64, GROUPS as f64);
        let mean = words.iter().sum::<f64>() / n;
        let variance = words.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let error = 2.0 * all * (variance / n * (1.0 - n / all)).sqrt() / tests.words.max(1) as f64;
        Tests { error: error.min(1.0), ..tests }
    }
}

/// Small roots, small sets that hold one vertex and branches that hold two are divided at random into this many groups; of
/// too much work some of them are walked.
const GROUPS: u64 = 64;
/// Groups of the smallest sample.
const LEAST: u64 = 4;

/// Which branches are walked.
#[derive(Clone, Copy)]
struct Sample<'a> {
    groups: u64,
    /// Words of each group's branches.
    by_group: &'a [AtomicU64],
    root: u32,
}

/// A walk over the states of a root; sets are `W` double words.
struct Walk<'a, const W: usize> {
    /// Rows both ways.
    rows: Vec<[u64; W]>,
    /// Vertices of a clique in the root's graph.
    sought: u32,
    sample: Sample<'a>,
    /// Branches and small sets that were met, which have groups.
    branches: u64,
    small: &'a mut SmallSets,
    tests: &'a mut Tests,
}

impl<'a, const W: usize> Walk<'a, W> {
    fn all(
        rows: &Rows,
        sought: usize,
        sample: Sample<'a>,
        small: &'a mut SmallSets,
        tests: &'a mut Tests,
    ) {
        let mut both = vec![[0u64; W]; rows.n];
        for j in 0..rows.n {
            for (x, &word) in rows.row(j).iter().enumerate() {
                let mut bits = word;
                while bits != 0 {
                    let i = 32 * x + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    both[j][i / 64] |= 1 << (i % 64);
                    both[i][j / 64] |= 1 << (j % 64);
                }
            }
        }
        let mut set = [0u64; W];
        (0..rows.n).for_each(|i| set[i / 64] |= 1 << (i % 64));
        let (sought, branches) = (sought as u32, 0);
        let mut walk = Walk { rows: both, sought, sample, branches, small, tests };
        match rows.n as u32 {
            ..=SMALL => walk.sampled(|walk| walk.small(set, 0, 0)),
            _ => walk.state(set, 0, 0),
        }
    }

    /// A state and all below it: the pivot is chosen by the neighbours that each candidate has among the others. Each
    /// lane of a warp takes other candidates of a word, and one word that has some takes all lanes. Words of rows where the
    /// set has none are not counted. A small set that holds a vertex is walked by [`Small`], as a small root is.
    fn state(&mut self, mut set: [u64; W], held: u32, mut pivots: u32) {
        loop {
            let size: u32 = set.iter().map(|w| w.count_ones()).sum();
            if held + pivots + size < self.sought || held + 1 >= self.sought || size == 0 {
                return;
            }
            let need = self.sought - held;
            if held > 0 && self.small.is_last(need, size) {
                return self.count_last(&set, need);
            }
            if size <= SMALL && held > 0 {
                let walk = |walk: &mut Self| walk.small(set, held, pivots);
                return if held == 1 { self.sampled(walk) } else { walk(self) };
            }
            let (mut best, mut complete) = ((0, 0), true);
            let mut halves = 0;
            for (x, &word) in set.iter().enumerate() {
                halves += u64::from(word as u32 != 0) + u64::from(word >> 32 != 0);
                let mut bits = word;
                while bits != 0 {
                    let i = 64 * x + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let row = &self.rows[i];
                    let near: u32 = (0..W).map(|x| (row[x] & set[x]).count_ones()).sum();
                    best = best.max((near, i));
                    complete &= near + 1 == size;
                }
            }
            self.tests.states += 1;
            self.tests.candidates += u64::from(size) * halves;
            self.tests.words += LANES * halves * halves;
            if complete {
                return;
            }
            let (near, pivot) = best;
            set[pivot / 64] &= !(1 << (pivot % 64));
            if near + 1 == size {
                pivots += 1;
                continue;
            }
            let row = self.rows[pivot];
            let among: [u64; W] = std::array::from_fn(|x| set[x] & row[x]);
            self.state(among, held, pivots + 1);
            for x in 0..W {
                let mut waiting = set[x] & !row[x];
                while waiting != 0 {
                    let bit = waiting & waiting.wrapping_neg();
                    waiting ^= bit;
                    set[x] ^= bit;
                    let row = &self.rows[64 * x + bit.trailing_zeros() as usize];
                    let branch: [u64; W] = std::array::from_fn(|y| set[y] & row[y]);
                    if held == 1 {
                        self.sampled(|walk| walk.state(branch, 2, pivots));
                    } else {
                        self.state(branch, held + 1, pivots);
                    }
                }
            }
            return;
        }
    }

    /// A set that needs two or three vertices more: the edges, for which each candidate counts its later neighbours as for a
    /// pivot, and the triangles, for which lanes that take 32 lowest candidates go over all later second ones.
    fn count_last(&mut self, set: &[u64; W], need: u32) {
        let halves = |set: &[u64; W]| -> u64 {
            set.iter().map(|&w| u64::from(w as u32 != 0) + u64::from(w >> 32 != 0)).sum()
        };
        let size: u64 = set.iter().map(|w| u64::from(w.count_ones())).sum();
        let all = halves(set);
        self.tests.states += 1;
        self.tests.candidates += size * all;
        if need == 2 {
            self.tests.words += LANES * all * (all + 1) / 2;
            return;
        }
        self.tests.words += size.div_ceil(LANES) * LANES * all;
        let (mut left, mut at, mut read) = (*set, 0, 0);
        for x in 0..W {
            while left[x] != 0 {
                // Earlier words have none left.
                let rounds = at / LANES + u64::from(at % LANES != 0);
                read += rounds * LANES * halves(&left);
                left[x] &= left[x] - 1;
                at += 1;
            }
        }
        self.tests.words += read;
        self.tests.candidates += read;
    }

    /// A walk below a branch, if its group is walked.
    fn sampled(&mut self, walk: impl FnOnce(&mut Self)) {
        self.branches += 1;
        let Sample { groups, root, by_group } = self.sample;
        let mixed = (u64::from(root) << 32 | self.branches).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let group = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32 & (GROUPS - 1);
        if group >= groups {
            return;
        }
        if groups == GROUPS {
            return walk(self);
        }
        self.small.walk(self.tests);
        let others = std::mem::take(self.tests);
        walk(self);
        self.small.walk(self.tests);
        by_group[group as usize].fetch_add(self.tests.words, Relaxed);
        *self.tests = others.plus(&self.tests.times(GROUPS as f64 / groups as f64));
    }

    /// All states below a small set: its candidates are numbered again, by a lane each.
    fn small(&mut self, set: [u64; W], held: u32, pivots: u32) {
        let mut members = vec![];
        for (x, &word) in set.iter().enumerate() {
            (0..64).filter(|bit| word >> bit & 1 != 0).for_each(|bit| members.push(64 * x + bit));
        }
        let is_near = |i: usize, j: usize| u32::from(self.rows[i][j / 64] >> (j % 64) & 1 != 0);
        let near =
            |&i: &usize| (0..).zip(&members).fold(0, |near, (at, &j)| near | is_near(i, j) << at);
        let near: Vec<u32> = members.iter().map(near).collect();
        self.small.collect(near, self.sought - held, pivots, self.tests);
    }
}
