//! In how many cliques of one start vertex each member, and each pair of members, is.
//!
//! The tree of pivots of [`super::super::clique`], with the members of a leaf at hand: of the
//! C(q, s − h) cliques of s vertices at a leaf with h vertices held and q pivots, each held vertex
//! is in all, and each pivot in C(q − 1, s − h − 1); pairs likewise.

use std::ops::Range;

use gramer_base::context::Cancel;

use super::super::clique::local::Local;
use super::super::clique::row::{Row, by_width};

/// Numbers of the start vertex that a thread works on.
pub(super) struct Tally {
    /// Requested sizes, each at least 3.
    sizes: Range<usize>,
    /// Whether pairs are counted as well.
    pairs: bool,
    members: usize,
    /// Cliques by size.
    pub all: Vec<u128>,
    /// Cliques by member, then by size.
    pub by_member: Vec<u128>,
    /// Cliques by pair of members (larger, smaller), then by size; a pair with the start vertex counts as its member.
    pub by_pair: Vec<u128>,
    /// C(n, k) for n pivots and k members; `u128::MAX` is too many to say.
    choices: Vec<u128>,
    /// Whether a number was too large for 128 bits.
    pub overflow: bool,
}

impl Tally {
    /// Creates a tree for cliques of `sizes` vertices, and start vertices of up to `members` members.
    pub fn new(sizes: Range<usize>, members: usize, pairs: bool) -> Self {
        let width = sizes.end;
        let mut choices = vec![0u128; (members + 1) * width];
        choices[0] = 1;
        for at in width..choices.len() {
            let left = if at % width == 0 { 0 } else { choices[at - width - 1] };
            choices[at] = choices[at - width].saturating_add(left);
        }
        let none = Vec::new;
        Tally {
            sizes,
            pairs,
            members: 0,
            all: none(),
            by_member: none(),
            by_pair: none(),
            choices,
            overflow: false,
        }
    }

    /// Clears the tree for a start vertex with this number of members.
    fn begin(&mut self, members: usize) {
        let sizes = self.sizes.len();
        self.members = members;
        for (numbers, items) in [
            (&mut self.all, 1),
            (&mut self.by_member, members),
            (&mut self.by_pair, if self.pairs { members * members } else { 0 }),
        ] {
            numbers.clear();
            numbers.resize(items * sizes, 0);
        }
    }

    /// The numbers of a pair, by size.
    pub fn pair(&self, i: usize, j: usize) -> &[u128] {
        let sizes = self.sizes.len();
        let at = (i.max(j) * self.members + i.min(j)) * sizes;
        &self.by_pair[at..at + sizes]
    }

    fn choose(&mut self, n: usize, k: usize) -> u128 {
        let ways = self.choices[n * self.sizes.end + k];
        self.overflow |= ways == u128::MAX;
        ways
    }

    fn add(overflow: &mut bool, to: &mut u128, value: u128) {
        match to.checked_add(value) {
            Some(sum) => *to = sum,
            None => *overflow = true,
        }
    }

    fn add_member(&mut self, size: usize, member: usize, value: u128) {
        let at = member * self.sizes.len() + size;
        Tally::add(&mut self.overflow, &mut self.by_member[at], value);
    }

    fn add_pair(&mut self, size: usize, i: usize, j: usize, value: u128) {
        let at = (i.max(j) * self.members + i.min(j)) * self.sizes.len() + size;
        Tally::add(&mut self.overflow, &mut self.by_pair[at], value);
    }

    /// A leaf: any of `free` may be in a clique of sizes up to `end`, besides what is held and the
    /// start vertex.
    fn leaf(&mut self, held: &[usize], free: &[usize], end: usize) {
        let Range { start, .. } = self.sizes;
        for size in start..end {
            let Some(more) = size.checked_sub(held.len() + 1) else { continue };
            let q = free.len();
            if more > q {
                continue;
            }
            let at = size - start;
            let all = self.choose(q, more);
            let one = if more >= 1 { self.choose(q - 1, more - 1) } else { 0 };
            let two = if more >= 2 { self.choose(q - 2, more - 2) } else { 0 };
            Tally::add(&mut self.overflow, &mut self.all[at], all);
            held.iter().for_each(|&m| self.add_member(at, m, all));
            if one > 0 {
                free.iter().for_each(|&m| self.add_member(at, m, one));
            }
            if self.pairs {
                for (n, &m) in held.iter().enumerate() {
                    held[..n].iter().for_each(|&o| self.add_pair(at, m, o, all));
                    if one > 0 {
                        free.iter().for_each(|&o| self.add_pair(at, m, o, one));
                    }
                }
                if two > 0 {
                    for (n, &m) in free.iter().enumerate() {
                        free[..n].iter().for_each(|&o| self.add_pair(at, m, o, two));
                    }
                }
            }
        }
    }

    /// Adds the cliques of the largest size if two more vertices are needed: two pivots, a pivot and a
    /// member of `set`, or two adjacent members of `set`.
    fn two_more<R: Row>(&mut self, rows: &[R], set: &R, held: &[usize], pivots: &[usize]) {
        let at = self.sizes.len() - 1;
        let (q, size) = (pivots.len() as u128, u128::from(set.size()));
        let mut ends = 0;
        for m in set.members() {
            let next_to = u128::from(rows[m].common(set));
            ends += next_to;
            self.add_member(at, m, q + next_to);
            if self.pairs {
                held.iter().for_each(|&h| self.add_pair(at, h, m, q + next_to));
                pivots.iter().for_each(|&p| self.add_pair(at, p, m, 1));
                let smaller = rows[m].and(set);
                for o in smaller.members().take_while(|&o| o < m) {
                    self.add_pair(at, m, o, 1);
                }
            }
        }
        let all = q * q.saturating_sub(1) / 2 + q * size + ends / 2;
        Tally::add(&mut self.overflow, &mut self.all[at], all);
        held.iter().for_each(|&h| self.add_member(at, h, all));
        if q > 0 {
            pivots.iter().for_each(|&p| self.add_member(at, p, q - 1 + size));
        }
        if self.pairs {
            for (n, &h) in held.iter().enumerate() {
                held[..n].iter().for_each(|&o| self.add_pair(at, h, o, all));
                if q > 0 {
                    pivots.iter().for_each(|&p| self.add_pair(at, h, p, q - 1 + size));
                }
            }
            for (n, &p) in pivots.iter().enumerate() {
                pivots[..n].iter().for_each(|&o| self.add_pair(at, p, o, 1));
            }
        }
    }
}

/// Makes `tally` that of the start vertex of `local`, whose matrix is symmetric, for those cliques
/// whose first held member has a position in `part`, and with position 0 those that hold none.
/// Returns whether it came to the end.
pub(super) fn count(local: &Local, part: Range<usize>, tally: &mut Tally, cancel: &Cancel) -> bool {
    let width = local.width();
    tally.begin(local.members());
    by_width!(width, R => {
        let rows = R::rows(local.rows(), width);
        let set = R::full(local.members(), width);
        if tally.sizes == (4..5) && part.start == 0 && part.end == local.members() {
            // No tree is as fast as a look at each edge among the members.
            four(tally, &rows, cancel);
        } else {
            let mut tree =
                Tree { rows: &rows, tally, cancel, held: vec![], pivots: vec![] };
            search(&mut tree, set, Some(part));
        }
    });
    !cancel.is_cancelled()
}

/// The 4-cliques: with an edge among the members goes each of the members next to both ends.
fn four<R: Row>(tally: &mut Tally, rows: &[R], cancel: &Cancel) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { four_x86(tally, rows, cancel) };
    }
    four_portable(tally, rows, cancel);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt,bmi1")]
fn four_x86<R: Row>(tally: &mut Tally, rows: &[R], cancel: &Cancel) {
    four_portable(tally, rows, cancel);
}

#[inline(always)]
fn four_portable<R: Row>(tally: &mut Tally, rows: &[R], cancel: &Cancel) {
    let mut all = 0;
    for (i, row) in rows.iter().enumerate() {
        if cancel.is_cancelled() {
            return;
        }
        let mut with_i = 0;
        for j in row.members() {
            let both = u128::from(rows[j].common(row));
            with_i += both;
            if tally.pairs && j < i {
                tally.by_pair[i * tally.members + j] = both;
            }
        }
        // Each pair of others was met from both of its ends.
        tally.by_member[i] = with_i / 2;
        all += with_i / 2;
    }
    tally.all[0] = all / 3;
}

struct Tree<'a, R> {
    rows: &'a [R],
    tally: &'a mut Tally,
    cancel: &'a Cancel,
    held: Vec<usize>,
    pivots: Vec<usize>,
}

fn search<R: Row>(tree: &mut Tree<'_, R>, set: R, part: Option<Range<usize>>) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
    {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { node_x86(tree, set, part) };
    }
    node_portable(tree, set, part);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,bmi2")]
fn node_x86<R: Row>(tree: &mut Tree<'_, R>, set: R, part: Option<Range<usize>>) {
    node(tree, set, part, |tree, set| node_x86(tree, set, None));
}

fn node_portable<R: Row>(tree: &mut Tree<'_, R>, set: R, part: Option<Range<usize>>) {
    node(tree, set, part, |tree, set| node_portable(tree, set, None));
}

/// A node of the tree and the pivots that follow it; `below` does the nodes that hold one more.
#[inline(always)]
fn node<R: Row>(
    tree: &mut Tree<'_, R>,
    mut set: R,
    part: Option<Range<usize>>,
    below: impl Fn(&mut Tree<'_, R>, R),
) {
    let Range { start: smallest, end: sizes } = tree.tally.sizes;
    let has_leaf = part.as_ref().is_none_or(|part| part.start == 0);
    let before = tree.pivots.len();
    // The start vertex is held as well.
    let held = tree.held.len() + 1;
    loop {
        let size = set.size() as usize;
        if held + tree.pivots.len() + size < smallest || tree.cancel.is_cancelled() {
            break;
        }
        if held + 2 >= sizes || size <= 1 {
            // At most one more vertex is needed or available.
            if has_leaf {
                let members = set.members();
                tree.pivots.extend(members);
                tree.tally.leaf(&tree.held, &tree.pivots, sizes);
            }
            break;
        }
        if held + 3 == sizes {
            // At most two more.
            if has_leaf {
                tree.tally.two_more(tree.rows, &set, &tree.held, &tree.pivots);
                if smallest + 1 < sizes {
                    tree.pivots.extend(set.members());
                    tree.tally.leaf(&tree.held, &tree.pivots, sizes - 1);
                }
            }
            break;
        }
        // The pivot: next to most, but not to all; those that are next to all are pivots anyway.
        let (mut pivot, mut most) = (0, None);
        let mut others = set.clone();
        for m in set.members() {
            let next_to = tree.rows[m].common(&set) as usize;
            if next_to + 1 == size {
                others.remove(m);
                tree.pivots.push(m);
            } else if most.is_none_or(|most| next_to > most) {
                (pivot, most) = (m, Some(next_to));
            }
        }
        set = others;
        if most.is_none() {
            continue;
        }
        let row = &tree.rows[pivot];
        let mut first = set.and_not(row);
        first.remove(pivot);
        for m in first.members() {
            if part.as_ref().is_none_or(|part| part.contains(&m)) {
                tree.held.push(m);
                below(tree, set.and(&tree.rows[m]));
                tree.held.pop();
            }
            set.remove(m);
        }
        set.keep(row);
        tree.pivots.push(pivot);
    }
    tree.pivots.truncate(before);
}
