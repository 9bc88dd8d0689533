//! Number of cliques by size, without visiting them.
//!
//! The tree of Pivoter (Jain and Seshadhri, *The Power of Pivoting for Exact Clique Counting*,
//! 2020): in a set of candidates a pivot is chosen; every clique either has a candidate that isn't
//! next to the pivot, and is found from the first one of these, which it *holds*, or all of its
//! candidates are next to the pivot, which it may have or not. At a leaf with h vertices held and
//! q pivots there are C(q, s − h) cliques of s vertices.
//!
//! The tree is cut off early: where the candidates are all next to each other, where each of them
//! misses at most one other (the cliques then are a choice of one, another or none of each pair
//! and of the rest), and where at most two more candidates are needed, so that their pairs
//! need only be counted.

use std::ops::Range;
use std::sync::Arc;

use ethnum::U256;
use gramer_base::context::Cancel;
use gramer_base::error::{Error, Result};
use gramer_engine::Outcome;

use super::local::Local;
use super::row::{Row, by_width};

/// Numbers of cliques from the leaves of many trees.
#[derive(Debug, Clone)]
pub(in super::super) struct Leaves {
    /// Requested sizes, each at least 1.
    sizes: Range<usize>,
    /// Pivots of a leaf: fewer than this.
    stride: usize,
    /// By vertices held and pivots: how many leaves.
    leaves: Vec<u128>,
    /// Excess of the leaves' count of the largest size.
    excess: u128,
    /// Whether a number was too large for 128 bits.
    overflow: bool,
    choices: Arc<Choices>,
    /// Members looked at, as a measure of work.
    pub work: u64,
}

impl Leaves {
    /// Creates a tree for cliques of `sizes` vertices, and start vertices of up to `members` members.
    pub fn new(sizes: Range<usize>, members: usize) -> Self {
        // No clique is larger than a start vertex and its members.
        let sizes = sizes.start..sizes.end.min(members + 2).max(sizes.start);
        let stride = members + 1;
        let choices = Arc::new(Choices::new(members / 2, sizes.end));
        let leaves = vec![0; sizes.end * stride];
        Leaves { sizes, stride, leaves, excess: 0, overflow: false, choices, work: 0 }
    }

    /// Adds leaves with one, the other or none of each of `pairs` pairs, in addition to held vertices and
    /// pivots.
    fn add_pairs(&mut self, held: usize, pivots: usize, pairs: usize) {
        let Range { start: smallest, end: sizes } = self.sizes;
        let fewest = smallest.saturating_sub(held + pivots);
        for chosen in fewest..=pairs.min(sizes - 1 - held) {
            match self.choices.of(pairs, chosen) {
                u128::MAX => self.overflow = true,
                ways => self.add(held + chosen, pivots, ways),
            }
        }
    }

    #[inline(always)]
    fn add(&mut self, held: usize, pivots: usize, times: u128) {
        let leaf = &mut self.leaves[held * self.stride + pivots];
        let (sum, overflow) = leaf.overflowing_add(times);
        *leaf = sum;
        self.overflow |= overflow;
    }

    /// Whether a number of cliques needs more than 128 bits. More leaves don't change that.
    pub fn overflows(&self) -> bool {
        self.overflow
    }

    /// Forgets all leaves.
    pub fn clear(&mut self) {
        self.leaves.fill(0);
        (self.excess, self.overflow, self.work) = (0, false, 0);
    }

    /// Adds the leaves of others for the same sizes.
    pub fn merge(&mut self, other: &Leaves) {
        for at in 0..self.leaves.len() {
            self.add(0, at, other.leaves[at]);
        }
        let (sum, overflow) = self.excess.overflowing_add(other.excess);
        self.excess = sum;
        self.overflow |= overflow | other.overflow;
    }

    /// Number of cliques of each size; with `saturate`, [`Outcome::SATURATED`] for one of more than 128 bits.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a number of more than 128 bits otherwise, and for that many leaves.
    pub fn counts(&self, saturate: bool) -> Result<Vec<u128>> {
        let count = |size: usize| {
            // Up to the excess it may be larger than the number of cliques.
            let mut sum = U256::ZERO;
            for held in 0..=size {
                let row = &self.leaves[held * self.stride..(held + 1) * self.stride];
                for (pivots, &leaves) in row.iter().enumerate().filter(|(_, leaves)| **leaves > 0) {
                    let each = binomial(pivots, size - held)?;
                    sum = sum.checked_add(U256::from(leaves) * U256::from(each))?;
                }
            }
            let excess = if size + 1 == self.sizes.end { self.excess } else { 0 };
            u128::try_from(sum.checked_sub(U256::from(excess))?).ok()
        };
        if self.overflow {
            return Err(too_many());
        }
        let too_large = if saturate { Some(Outcome::SATURATED) } else { None };
        self.sizes.clone().map(|size| count(size).or(too_large).ok_or_else(too_many)).collect()
    }
}

/// The ways to choose members of different pairs.
#[derive(Debug)]
struct Choices {
    /// By pairs and members, up to the largest size; `u128::MAX` is too many to say.
    ways: Vec<u128>,
    sizes: usize,
}

impl Choices {
    fn new(pairs: usize, sizes: usize) -> Self {
        let sizes = sizes.max(1);
        let mut ways = vec![0u128; (pairs + 1) * sizes];
        ways[0] = 1;
        for at in sizes..ways.len() {
            let without = ways[at - sizes];
            let with = if at % sizes == 0 { 0 } else { ways[at - sizes - 1].saturating_mul(2) };
            ways[at] = without.saturating_add(with);
        }
        Choices { ways, sizes }
    }

    fn of(&self, pairs: usize, members: usize) -> u128 {
        self.ways[pairs * self.sizes + members]
    }
}

fn too_many() -> Error {
    Error::Unsupported("the number of cliques needs more than 128 bits".into())
}

/// C(n, k), where it fits.
fn binomial(n: usize, k: usize) -> Option<u128> {
    if k > n {
        return Some(0);
    }
    let mut product = 1u128;
    for i in 0..k.min(n - k) {
        // The product is C(n, i) before, and C(n, i + 1) after: divide what divides first.
        let (factor, divisor) = ((n - i) as u128, i as u128 + 1);
        let common = gcd(product, divisor);
        product = (product / common).checked_mul(factor / (divisor / common))?;
    }
    Some(product)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Adds the cliques of the start vertex of `local`, whose matrix is symmetric: those whose first
/// held member has a position in `part`, and with position 0 those that hold none. Returns
/// whether it came to the end.
pub(super) fn count(
    local: &Local,
    part: Range<usize>,
    leaves: &mut Leaves,
    cancel: &Cancel,
) -> bool {
    let width = local.width();
    by_width!(width, R => {
        let rows = R::rows(local.rows(), width);
        let mut tree = Tree { rows: &rows, leaves, cancel };
        let set = R::full(local.members(), width);
        search(&mut tree, set, 1, 0, Some(part));
    });
    !cancel.is_cancelled()
}

/// Adds the cliques of the start vertex of `local`, whose matrix is symmetric, and of one member, with
/// no member at a larger position. Returns whether it came to the end.
pub(in super::super) fn count_with(
    local: &Local,
    member: usize,
    leaves: &mut Leaves,
    cancel: &Cancel,
) -> bool {
    let width = local.width();
    by_width!(width, R => {
        let rows = R::rows(local.rows(), width);
        let mut tree = Tree { rows: &rows, leaves, cancel };
        let smaller = rows[member].and(&R::full(member, width));
        search(&mut tree, smaller, 2, 0, None);
    });
    !cancel.is_cancelled()
}

struct Tree<'a, R> {
    rows: &'a [R],
    leaves: &'a mut Leaves,
    cancel: &'a Cancel,
}

fn search<R: Row>(
    tree: &mut Tree<'_, R>,
    set: R,
    held: usize,
    pivots: usize,
    part: Option<Range<usize>>,
) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { node_x86(tree, set, held, pivots, part) };
    }
    node_portable(tree, set, held, pivots, part);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn node_x86<R: Row>(
    tree: &mut Tree<'_, R>,
    set: R,
    held: usize,
    pivots: usize,
    part: Option<Range<usize>>,
) {
    node(tree, set, held, pivots, part, |tree, set, held, pivots| {
        node_x86(tree, set, held, pivots, None);
    });
}

fn node_portable<R: Row>(
    tree: &mut Tree<'_, R>,
    set: R,
    held: usize,
    pivots: usize,
    part: Option<Range<usize>>,
) {
    node(tree, set, held, pivots, part, |tree, set, held, pivots| {
        node_portable(tree, set, held, pivots, None);
    });
}

/// A node of the tree and the pivots that follow it; `below` does the nodes that hold one more.
/// `part` as in [`count`].
#[inline(always)]
fn node<R: Row>(
    tree: &mut Tree<'_, R>,
    mut set: R,
    held: usize,
    mut pivots: usize,
    part: Option<Range<usize>>,
    below: impl Fn(&mut Tree<'_, R>, R, usize, usize),
) {
    let Range { start: smallest, end: sizes } = tree.leaves.sizes;
    // The leaf at the end of the pivots belongs to one part only.
    let has_leaf = part.as_ref().is_none_or(|part| part.start == 0);
    loop {
        let size = set.size() as usize;
        if held + pivots + size < smallest || tree.cancel.is_cancelled() {
            return;
        }
        if held + 2 >= sizes || size <= 1 {
            // At most one more vertex is needed or available.
            if has_leaf {
                tree.leaves.add(held, pivots + size, 1);
            }
            return;
        }
        tree.leaves.work += size as u64;
        if held + 3 == sizes {
            // At most two more: any two, but for those that aren't next to each other.
            if has_leaf {
                let ends: u32 = set.members().map(|m| tree.rows[m].common(&set)).sum();
                let missing = (size * (size - 1) - ends as usize) / 2;
                tree.leaves.add(held, pivots + size, 1);
                tree.leaves.excess += missing as u128;
            }
            return;
        }
        // The pivot: next to most, but not to all; those that are next to all are pivots anyway.
        let (mut pivot, mut most, mut paired) = (0, None, 0);
        let mut others = set.clone();
        for m in set.members() {
            let next_to = tree.rows[m].common(&set) as usize;
            if next_to + 1 == size {
                others.remove(m);
            } else {
                paired += usize::from(next_to + 2 == size);
                if most.is_none_or(|most| next_to > most) {
                    (pivot, most) = (m, Some(next_to));
                }
            }
        }
        let left = others.size() as usize;
        pivots += size - left;
        if paired == left {
            // Each of those left misses one other: pairs.
            if has_leaf {
                tree.leaves.add_pairs(held, pivots, left / 2);
            }
            return;
        }
        set = others;
        let row = &tree.rows[pivot];
        let mut first = set.and_not(row);
        first.remove(pivot);
        for m in first.members() {
            if part.as_ref().is_none_or(|part| part.contains(&m)) {
                below(tree, set.and(&tree.rows[m]), held + 1, pivots);
            }
            set.remove(m);
        }
        set.keep(row);
        pivots += 1;
    }
}
