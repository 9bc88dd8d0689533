//! Tests of cliques of four to six vertices by the bitmaps of roots (`kernels/local.cl`).

use std::cell::RefCell;

use super::{Arcs, Tests, sample};

/// Maximum number of targets of a root in the classes for cliques of five vertices and more.
const MOST_TARGETS: usize = 512;
/// Element tests up to which a root is not weighed for cliques of six.
const LIGHT: u64 = 2000;
/// Pairs that a warp takes at a time for cliques of six.
const PAIRS: u32 = 32;

/// A root, or an arc of a root with too many targets, and the size of the cliques that it is searched for.
#[derive(Clone, Copy)]
pub struct RootTask {
    pub root: u32,
    /// The other end of an arc.
    over: Option<u32>,
    /// Number of its targets.
    pub size: u32,
    pub k: usize,
}

/// The work of a task, about: a random graph of its size has this much.
fn weight_of(task: &RootTask) -> f64 {
    f64::from(task.size).powi(task.k as i32 - 2)
}

thread_local! {
    /// By vertex, its place among the targets of the current root, and 1; else 0.
    static PLACES: RefCell<Vec<u32>> = const { RefCell::new(vec![]) };
}

impl Arcs {
    /// The tests of cliques of four to six vertices.
    pub fn by_bitmaps(&self, k: usize) -> Tests {
        sample::all(&self.root_tasks(k), weight_of, |task, tests| {
            let targets = self.targets_of(task);
            if task.k == 6 && self.element_tests(task, &targets) > LIGHT {
                // Such roots are weighed first, by the 4-cliques of their targets.
                self.root(&targets, 5, tests);
            }
            self.root(&targets, task.k, tests);
        })
    }

    /// All roots with two targets at least, by falling number of targets. From cliques of five vertices on, roots with
    /// too many targets are replaced by their arcs.
    pub fn root_tasks(&self, k: usize) -> Vec<RootTask> {
        let (mut tasks, mut marks) = (vec![], vec![false; self.vertices()]);
        for root in 0..self.vertices() as u32 {
            let targets = self.of_vertex(root as usize);
            if k < 5 || targets.len() <= MOST_TARGETS {
                tasks.push(RootTask { root, over: None, size: targets.len() as u32, k });
                continue;
            }
            targets.iter().for_each(|&t| marks[t as usize] = true);
            for &v in targets {
                let common = self.of_vertex(v as usize).iter().filter(|&&t| marks[t as usize]);
                let size = common.count() as u32;
                tasks.push(RootTask { root, over: Some(v), size, k: k - 1 });
            }
            targets.iter().for_each(|&t| marks[t as usize] = false);
        }
        tasks.retain(|task| task.size > 1);
        tasks.sort_unstable_by(|a, b| {
            b.size.cmp(&a.size).then(a.root.cmp(&b.root)).then(a.over.cmp(&b.over))
        });
        tasks
    }

    /// The targets of a root, or the common ones of an arc's ends.
    pub fn targets_of(&self, task: &RootTask) -> Vec<u32> {
        let own = self.of_vertex(task.root as usize);
        let Some(over) = task.over else { return own.to_vec() };
        let (mut at, mut common) = (0, Vec::with_capacity(task.size as usize));
        for &t in self.of_vertex(over as usize) {
            at += own[at..].iter().take_while(|&&o| o < t).count();
            if own.get(at) == Some(&t) {
                common.push(t);
            }
        }
        common
    }

    /// The estimate by which roots are light.
    fn element_tests(&self, task: &RootTask, targets: &[u32]) -> u64 {
        if task.over.is_some() {
            return u64::from(task.size) * u64::from(task.size);
        }
        targets.iter().map(|&t| self.of_vertex(t as usize).len() as u64).sum()
    }

    /// The bitmaps of a root with these targets: row j has those i < j that have an arc to j. The lists that are read
    /// for that are added.
    pub fn rows(&self, targets: &[u32], tests: &mut Tests) -> Rows {
        let (n, words) = (targets.len(), targets.len().div_ceil(32));
        let mut rows = vec![0u32; n * words];
        let last = targets.last().copied().unwrap_or(0);
        PLACES.with_borrow_mut(|places| {
            places.resize(self.vertices(), 0);
            (1..).zip(targets).for_each(|(at, &t)| places[t as usize] = at);
            for (i, &v) in targets.iter().enumerate() {
                let own = self.of_vertex(v as usize);
                let own = &own[..own.partition_point(|&w| w <= last)];
                tests.add_list(own.len());
                for &w in own {
                    let at = places[w as usize] as usize;
                    if at != 0 {
                        rows[(at - 1) * words + i / 32] |= 1 << (i % 32);
                    }
                }
            }
            targets.iter().for_each(|&t| places[t as usize] = 0);
        });
        Rows { rows, words, n }
    }

    /// The tests of cliques of `k` of a root with these targets; the (k − 1)-cliques among these.
    pub fn root(&self, targets: &[u32], k: usize, tests: &mut Tests) -> u64 {
        let rows = self.rows(targets, tests);
        let mut sets = vec![vec![u32::MAX; rows.words]; k - 2];
        let mut walk = Walk { rows: &rows, k, pairs: 0, found: 0, tests };
        walk.narrowed(&mut sets, 0, rows.n);
        walk.tests.end_warp();
        walk.found
    }
}

/// The bitmaps of a root.
pub struct Rows {
    rows: Vec<u32>,
    pub words: usize,
    pub n: usize,
}

impl Rows {
    pub fn row(&self, j: usize) -> &[u32] {
        &self.rows[j * self.words..][..self.words]
    }
}

/// A walk over the sets of a root.
struct Walk<'a> {
    rows: &'a Rows,
    k: usize,
    pairs: u32,
    /// Cliques with a last member.
    found: u64,
    tests: &'a mut Tests,
}

impl Walk<'_> {
    /// Narrows the set of `chosen` rows, whose members are below `end`, by each of its members, up to the last level;
    /// adds the words that are tested then.
    fn narrowed(&mut self, sets: &mut [Vec<u32>], chosen: usize, end: usize) {
        let (set, below) = sets.split_first_mut().expect("a set for each level");
        let set = &set[..end.div_ceil(32)];
        let size: u64 = set.iter().map(|w| u64::from(w.count_ones())).sum();
        let triples = self.k == 6;
        if chosen == 2 {
            self.pairs += 1;
            if triples && self.pairs % PAIRS == 0 {
                self.tests.end_warp();
            }
        }
        if chosen == self.k - 3 {
            // A set of less than two members is left out where lanes take triples.
            if triples && size < 2 {
                return self.tests.add_set(0);
            }
            self.tests.add_set(size);
            self.tests.words +=
                (1..).zip(set).map(|(x, w)| x * u64::from(w.count_ones())).sum::<u64>();
            if self.k == 5 {
                self.found += self.last(set);
            }
            return;
        }
        // Below a member of a pair's set there must be two more.
        let mut skipped = if triples && chosen == 2 { 2 } else { 0 };
        for x in 0..set.len() {
            let mut bits = if x == end / 32 { set[x] & ((1u32 << (end % 32)) - 1) } else { set[x] };
            while bits != 0 {
                let j = 32 * x + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if skipped > 0 {
                    skipped -= 1;
                    continue;
                }
                // The rows themselves are sets of no further test.
                if chosen > 0 {
                    self.tests.members += 1;
                    self.tests.waited += 1;
                    self.tests.words += x as u64 + 1;
                }
                let row = self.rows.row(j);
                for (inner, (a, b)) in below[0].iter_mut().zip(row.iter().zip(set)).take(x + 1) {
                    *inner = a & b;
                }
                self.narrowed(below, chosen + 1, j);
            }
        }
    }

    /// Members that rows of a set's members have in common with it.
    fn last(&self, set: &[u32]) -> u64 {
        let mut found = 0;
        for (x, &word) in set.iter().enumerate() {
            let mut bits = word;
            while bits != 0 {
                let row = self.rows.row(32 * x + bits.trailing_zeros() as usize);
                bits &= bits - 1;
                found +=
                    set.iter().zip(row).map(|(a, b)| u64::from((a & b).count_ones())).sum::<u64>();
            }
        }
        found
    }
}
