//! Tests of the states of small sets (`kernels/small_sets.clh`).

use super::{LANES, Tests};

/// Most candidates of a small set, and most targets of a small root.
pub const SMALL: u32 = gramer_gpu::SmallSets::CANDIDATES as u32;

/// A state of a set that was collected.
#[derive(Clone, Copy)]
struct State {
    /// Number of its set.
    number: usize,
    candidates: u32,
    /// Vertices that a clique still needs.
    need: u32,
    pivots: u32,
}

/// Sets that a walker has collected, and what waits below them.
pub struct SmallSets {
    sizes: gramer_gpu::SmallSets,
    /// Maximum number of vertices that are needed where a set is counted by edges and triangles.
    ends: u32,
    /// Neighbours of each candidate of each set.
    near: Vec<Vec<u32>>,
    waiting: Vec<State>,
    /// Population counts of each leaf that waits.
    leaves: Vec<u64>,
}

impl SmallSets {
    /// None, for rows of this many words and cliques of `k`.
    pub fn new(words: usize, k: usize) -> Self {
        let ends = gramer_gpu::SmallSets::ends(k) as u32;
        let sizes = gramer_gpu::SmallSets::of(words);
        SmallSets { sizes, ends, near: vec![], waiting: vec![], leaves: vec![] }
    }

    /// Whether all lanes of a walker count a set of this many candidates by its edges and triangles.
    pub fn is_last(&self, need: u32, candidates: u32) -> bool {
        need <= self.ends && (need == 2 || candidates as usize <= self.sizes.last())
    }

    /// Collects a set, given the neighbours of each candidate; if it is the last that there is room for, walks them all.
    pub fn collect(&mut self, near: Vec<u32>, need: u32, pivots: u32, tests: &mut Tests) {
        let candidates = u32::MAX >> (SMALL - near.len() as u32);
        self.waiting.push(State { number: self.near.len(), candidates, need, pivots });
        self.near.push(near);
        if self.near.len() == self.sizes.sets() {
            self.walk(tests);
        }
    }

    /// Walks the sets that were collected: each lane takes one of the last states, and 32 lanes go on when the
    /// slowest is done.
    pub fn walk(&mut self, tests: &mut Tests) {
        while !self.waiting.is_empty() {
            let all = self.waiting.len();
            let mut taken = all.min(LANES as usize);
            let mut examined: Vec<Branches> = self.waiting[all - taken..]
                .iter()
                .rev()
                .map(|state| Branches::of(state, &self.near[state.number]))
                .collect();
            let most = |examined: &[Branches]| -> usize {
                examined.iter().map(|b| b.waiting.count_ones() as usize).sum()
            };
            while taken > 1 && all - taken + most(&examined[..taken]) > self.sizes.waiting() {
                taken /= 2;
            }
            // Lanes whose states have no room have examined them, and do that again.
            let size = |state: &State| u64::from(state.candidates.count_ones());
            let states = &self.waiting[all - examined.len()..];
            let longest = states.iter().map(size).max().expect("there is one");
            tests.waited += LANES * longest;
            examined.truncate(taken);
            let sizes: u64 = self.waiting[all - taken..].iter().map(size).sum();
            tests.states += taken as u64;
            tests.members += sizes;
            tests.candidates += sizes + most(&examined) as u64;
            self.waiting.truncate(all - taken);
            // A lane reads a word for each branch.
            let longest = examined.iter().map(|b| u64::from(b.waiting.count_ones())).max();
            tests.words += sizes + LANES * longest.unwrap_or(0);
            while examined.iter().any(|b| b.waiting != 0) {
                for branches in examined.iter_mut().filter(|b| b.waiting != 0) {
                    let near = &self.near[branches.state.number];
                    match branches.next(near, self.ends) {
                        Branch::State(state) => self.waiting.push(state),
                        Branch::Leaf(counts) => self.leaves.push(counts),
                        Branch::TooSmall => {}
                    }
                }
                if self.leaves.len() >= LANES as usize {
                    self.count_leaves(tests);
                }
            }
        }
        while !self.leaves.is_empty() {
            self.count_leaves(tests);
        }
        self.near.clear();
    }

    /// Counts the last leaves, one a lane. A population count reads a word.
    fn count_leaves(&mut self, tests: &mut Tests) {
        let left = self.leaves.len().saturating_sub(LANES as usize);
        let counts: u64 = self.leaves[left..].iter().sum();
        let longest = self.leaves[left..].iter().max().expect("there is one");
        tests.words += counts;
        tests.members += counts;
        tests.candidates += counts;
        tests.waited += LANES * longest;
        self.leaves.truncate(left);
    }
}

/// A branch of a state.
enum Branch {
    State(State),
    /// A set that a lane counts with this number of population counts.
    Leaf(u64),
    /// It has too few vertices for a clique.
    TooSmall,
}

/// Population counts of a leaf: for its edges those of each candidate but the last, and for triangles those of each edge but
/// a candidate's last.
fn leaf_counts(candidates: u32, need: u32, near: &[u32]) -> u64 {
    if need < 2 {
        return 0;
    }
    let mut counts = u64::from(candidates.count_ones()).saturating_sub(1);
    if need > 2 {
        for i in bits(candidates) {
            let later = candidates & near[i as usize] & (u32::MAX << i);
            counts += u64::from(later.count_ones()).saturating_sub(1);
        }
    }
    counts
}

/// The branches of a state.
struct Branches {
    /// What is left of it.
    state: State,
    pivot: u32,
    /// Candidates that aren't neighbours of the pivot.
    beside: u32,
    waiting: u32,
}

impl Branches {
    fn of(state: &State, near: &[u32]) -> Self {
        let mut state = *state;
        let size = state.candidates.count_ones();
        let (mut whole, mut best) = (0, (0, 0));
        for i in bits(state.candidates) {
            match (state.candidates & near[i as usize]).count_ones() {
                found if found + 1 == size => whole |= 1 << i,
                found => best = best.max((found, i)),
            }
        }
        state.candidates ^= whole;
        state.pivots += whole.count_ones();
        if state.candidates == 0 {
            return Branches { state, pivot: 0, beside: 0, waiting: 0 };
        }
        let pivot = best.1;
        state.candidates ^= 1 << pivot;
        let beside = state.candidates & !near[pivot as usize];
        Branches { state, pivot, beside, waiting: beside | 1 << pivot }
    }

    /// The next branch.
    fn next(&mut self, near: &[u32], ends: u32) -> Branch {
        let State { number, candidates, need, pivots } = self.state;
        let i = self.waiting.trailing_zeros();
        self.waiting &= self.waiting - 1;
        let is_pivot = u32::from(i == self.pivot);
        let gone = if i == self.pivot { 0 } else { self.beside & ((1 << i) - 1) };
        let candidates = candidates & near[i as usize] & !gone;
        let (left, need, pivots) =
            (candidates.count_ones(), need + is_pivot - 1, pivots + is_pivot);
        if pivots + left < need {
            Branch::TooSmall
        } else if left <= 3
            || need == 1
            || need <= ends && (need == 2 || left as usize <= gramer_gpu::SmallSets::LEAF)
        {
            Branch::Leaf(leaf_counts(candidates, need, near))
        } else {
            Branch::State(State { number, candidates, need, pivots })
        }
    }
}

/// Positions of the bits that are set.
fn bits(word: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |bit| word >> bit & 1 != 0)
}
