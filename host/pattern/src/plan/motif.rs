//! Equations between the counts of motifs, so that only small embeddings are visited.
//!
//! Take a vertex-induced pattern P of k vertices with two vertices x, y that are not adjacent and
//! whose removal leaves a connected pattern H. Visit every embedding S of H once, and know for
//! each set m of its vertices the number g(m) of graph vertices outside S whose neighbours in S
//! are exactly m. The pairs of outside vertices with the neighbour sets m(x) and m(y) number
//! g(m(x))·g(m(y)), or g·(g − 1)/2 where both are equal. Each such pair makes P if it is not
//! adjacent and P + xy if it is, so with A the sum over all S and over the images of
//! {m(x), m(y)} under the automorphisms of H
//!
//! > A = c₀ · n(P) + c₁ · n(P + xy)
//!
//! where c₀ and c₁ are the numbers of pairs of P and P + xy that look so. Solved by falling
//! number of edges, this gives every n(P) from embeddings of k − 2 vertices. Left over are the
//! clique and those patterns that no such pair exists for: the cycle, for k up to 6. For k = 3 and
//! 4 these are the well-known closed formulas over vertices and edges.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::{Dictionary, Pattern};

/// One equation A = c₀ · n(P) + c₁ · n(P + xy).
#[derive(Debug, Clone, PartialEq, Eq)]
struct Equation {
    /// Number of P in the dictionary of k.
    pattern: usize,
    /// Number of P + xy.
    closed: usize,
    c0: u128,
    c1: u128,
}

/// A pair of neighbour sets, to be added to a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Term {
    /// Neighbour set of x, as bits of positions in the embedding; at most `second`.
    pub first: u8,
    /// Neighbour set of y.
    pub second: u8,
    /// The sum A that the pair belongs to.
    pub sum: u16,
}

/// What to visit and how to solve for the motifs of k vertices.
#[derive(Debug)]
pub struct MotifPlan {
    k: usize,
    equations: Vec<Equation>,
    /// By adjacency bits of the embedding of k − 2 vertices in the order in which it was found.
    terms: Vec<Vec<Term>>,
    /// Patterns without an equation, other than the clique.
    left_over: Vec<usize>,
}

/// A pair of vertices of a pattern as seen from the rest: the rest's number, and the pair of
/// neighbour sets in canonical positions, the smallest one under the rest's automorphisms.
pub(super) type Class = (usize, u8, u8);

/// Fewest and most vertices of a motif.
const SIZES: std::ops::RangeInclusive<usize> = 3..=6;

impl MotifPlan {
    /// The plan for `k` vertices, 3 to 6; made once.
    ///
    /// # Panics
    /// If k is out of range.
    pub fn of(k: usize) -> &'static MotifPlan {
        static MADE: [OnceLock<MotifPlan>; 7] = [const { OnceLock::new() }; 7];
        assert!(SIZES.contains(&k), "no motifs of {k} vertices");
        MADE[k].get_or_init(|| MotifPlan::make(k))
    }

    fn make(k: usize) -> Self {
        let patterns = Dictionary::of(k).patterns();
        let rest = Dictionary::of(k - 2);

        // For each pattern: how many pairs of each class, not adjacent and adjacent.
        let mut open: Vec<BTreeMap<Class, u128>> = vec![BTreeMap::new(); patterns.len()];
        let mut closed = open.clone();
        for (n, p) in patterns.iter().enumerate() {
            for x in 0..k {
                for y in 0..x {
                    if let Some(class) = class_of(p, x, y) {
                        let side = if p.has_edge(x, y) { &mut closed } else { &mut open };
                        *side[n].entry(class).or_default() += 1;
                    }
                }
            }
        }

        let mut equations = vec![];
        let mut left_over = vec![];
        let mut sums: BTreeMap<Class, u16> = BTreeMap::new();
        for (n, p) in patterns.iter().enumerate() {
            if p.edge_count() == k * (k - 1) / 2 {
                continue;
            }
            let Some((&class, &c0)) = open[n].iter().next() else {
                left_over.push(n);
                continue;
            };
            let (mate, c1) = closed
                .iter()
                .enumerate()
                .find_map(|(n, classes)| Some((n, *classes.get(&class)?)))
                .expect("the pattern with the edge x-y has this class");
            sums.insert(class, equations.len() as u16);
            equations.push(Equation { pattern: n, closed: mate, c0, c1 });
        }

        let size = k - 2;
        let graphs = 1u32 << (size * (size - 1) / 2);
        let terms = (0..graphs)
            .map(|bits| {
                let mut terms = vec![];
                if let Some(number) = rest.number(bits) {
                    for second in 1..1u8 << size {
                        for first in 1..=second {
                            let class = canonical_class(number, bits, size, first, second);
                            if let Some(&sum) = sums.get(&class) {
                                terms.push(Term { first, second, sum });
                            }
                        }
                    }
                }
                terms
            })
            .collect();
        MotifPlan { k, equations, terms, left_over }
    }

    /// Number of sums A.
    pub fn sums(&self) -> usize {
        self.equations.len()
    }

    /// The pairs of neighbour sets that count for an embedding with these adjacency bits.
    #[inline]
    pub fn terms(&self, bits: u32) -> &[Term] {
        &self.terms[bits as usize]
    }

    /// The patterns whose number [`MotifPlan::solve`] must be given besides the clique's, by
    /// their number in the dictionary.
    pub fn left_over(&self) -> &[usize] {
        &self.left_over
    }

    /// The vertex-induced counts by number of the pattern in the dictionary of k.
    ///
    /// `sums` are the sums A, `cliques` the number of k-cliques, and `edge_induced(n)` the
    /// edge-induced number of the left-over pattern n.
    pub fn solve(
        &self,
        sums: &[u128],
        cliques: u128,
        mut edge_induced: impl FnMut(usize) -> u128,
    ) -> Vec<u128> {
        let patterns = Dictionary::of(self.k).patterns();
        let copies = copies(self.k);
        let mut counts = vec![0u128; patterns.len()];
        // Patterns are sorted by edges, so those with more come first here.
        for n in (0..patterns.len()).rev() {
            counts[n] = if let Some(at) = self.equations.iter().position(|e| e.pattern == n) {
                let e = &self.equations[at];
                (sums[at] - e.c1 * counts[e.closed]) / e.c0
            } else if self.left_over.contains(&n) {
                let inside: u128 = (n + 1..patterns.len())
                    .map(|host| copies[host][n] as u128 * counts[host])
                    .sum();
                edge_induced(n) - inside
            } else {
                cliques
            };
        }
        counts
    }
}

/// How pair x, y of `p` looks from the rest; `None` if the rest isn't connected or one of the two
/// has no neighbour in it.
pub(super) fn class_of(p: &Pattern, x: usize, y: usize) -> Option<Class> {
    let others: Vec<usize> = (0..p.vertices()).filter(|&v| v != x && v != y).collect();
    let rest = p.induced(&others);
    let bits = rest.bits() as u32;
    let number = Dictionary::of(others.len()).number(bits)?;
    let set = |v: usize| {
        others.iter().enumerate().fold(0u8, |set, (i, &o)| set | (p.has_edge(v, o) as u8) << i)
    };
    let (a, b) = (set(x), set(y));
    if a == 0 || b == 0 {
        return None;
    }
    Some(canonical_class(number, bits, others.len(), a, b))
}

/// The smallest image of a pair of neighbour sets, in the positions of the canonical form.
pub(super) fn canonical_class(number: usize, bits: u32, size: usize, a: u8, b: u8) -> Class {
    let dictionary = Dictionary::of(size);
    let order = &dictionary.order(bits)[..size];
    let to_canonical = |set: u8| {
        order.iter().enumerate().fold(0u8, |out, (new, &old)| out | (set >> old & 1) << new)
    };
    let (a, b) = (to_canonical(a), to_canonical(b));
    automorphisms(size)[number]
        .iter()
        .map(|image| {
            let moved = |set: u8| {
                image.iter().enumerate().fold(0u8, |out, (v, &w)| out | (set >> v & 1) << w)
            };
            let (a, b) = (moved(a), moved(b));
            (number, a.min(b), a.max(b))
        })
        .min()
        .expect("the identity is one")
}

/// All automorphisms of each pattern of at most 4 vertices, by its number: `image[v]`; made once.
fn automorphisms(size: usize) -> &'static [Vec<Vec<usize>>] {
    static MADE: [OnceLock<Vec<Vec<Vec<usize>>>>; 5] = [const { OnceLock::new() }; 5];
    MADE[size].get_or_init(|| Dictionary::of(size).patterns().iter().map(images).collect())
}

fn images(p: &Pattern) -> Vec<Vec<usize>> {
    let n = p.vertices();
    let mut found = vec![];
    for code in 0..n.pow(n as u32) {
        let image: Vec<usize> = (0..n).map(|v| code / n.pow(v as u32) % n).collect();
        let injective = (0..n).all(|v| (0..v).all(|u| image[u] != image[v]));
        if injective
            && (0..n).all(|v| (0..v).all(|u| p.has_edge(u, v) == p.has_edge(image[u], image[v])))
        {
            found.push(image);
        }
    }
    found
}

/// `copies(k)[host][p]`: in how many ways the edges of pattern `host` can be thinned out to
/// pattern p on the same k vertices, by their numbers in the dictionary; made once.
pub fn copies(k: usize) -> &'static [Vec<u64>] {
    static MADE: [OnceLock<Vec<Vec<u64>>>; 7] = [const { OnceLock::new() }; 7];
    MADE[k].get_or_init(|| thin_out(k))
}

fn thin_out(k: usize) -> Vec<Vec<u64>> {
    let dictionary = Dictionary::of(k);
    let patterns = dictionary.patterns();
    patterns
        .iter()
        .map(|host| {
            let all = host.bits() as u32;
            let mut copies = vec![0; patterns.len()];
            // Every subset of the host's edges, by the usual descent over submasks.
            let mut kept = all;
            loop {
                if let Some(n) = dictionary.number(kept) {
                    copies[n] += 1;
                }
                if kept == 0 {
                    return copies;
                }
                kept = (kept - 1) & all;
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name;

    #[test]
    fn only_the_cycle_is_left_over() {
        for k in 3..=6 {
            let names: Vec<String> = MotifPlan::of(k)
                .left_over()
                .iter()
                .map(|&n| name(&Dictionary::of(k).patterns()[n]))
                .collect();
            let expected: Vec<String> =
                (4..=k).filter(|&c| c == k).map(|c| format!("{c}-cycle")).collect();
            assert_eq!(names, expected);
        }
    }

    #[test]
    fn a_clique_of_four_holds_three_cycles_and_sixteen_trees() {
        let copies = copies(4);
        let d = Dictionary::of(4);
        let at = |wanted: &str| d.patterns().iter().position(|p| name(p) == wanted).unwrap();
        let clique = at("4-clique");
        assert_eq!(copies[clique][at("4-cycle")], 3);
        assert_eq!(copies[clique][at("3-star")] + copies[clique][at("4-path")], 16);
        assert_eq!(copies[at("diamond")][at("diamond")], 1);
        assert_eq!(copies[at("4-cycle")][at("diamond")], 0);
    }
}
