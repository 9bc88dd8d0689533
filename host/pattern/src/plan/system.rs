//! The motifs of six vertices, from sums that avoid the most frequent subgraphs.
//!
//! The equations of [`super::motif`] need a visit to every connected set of four vertices, most of
//! which are stars and paths. But a number of occurrences, edge-induced, is an equation as well:
//!
//! > occurrences of P = Σ over patterns Q of (copies of P in Q) · n(Q)
//!
//! with n the vertex-induced counts, and many patterns have occurrences that are counted without a
//! visit to any of them ([`super::homomorphism`]). So the sets that are visited are only those with
//! a 4-cycle: cliques, diamonds and 4-cycles. Their equations, and the occurrences of those patterns
//! that are then still missing, make a linear system, of which [`MotifSystem`] keeps as many
//! equations as there are patterns: the sums, since one more costs nothing once the sets are visited,
//! and then occurrences, cheap ones first.
//!
//! The system is solved modulo the prime 2^127 − 1, above any number of occurrences of six vertices
//! in a graph of less than 2^22 vertices, so that the remainders are the counts themselves.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::homomorphism::{HomomorphismPlan, Shape};
use super::motif::{Class, Term, canonical_class, class_of, copies};
use crate::Dictionary;

/// Vertices of the patterns, and of the sets that are visited.
const K: usize = 6;
const VISITED: usize = K - 2;
/// Most vertices of a graph that the counts of fit.
pub const MOST_VERTICES: usize = 1 << 22;

/// What the right side of an equation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The number of 6-cliques.
    Cliques,
    /// The number of edge-induced occurrences of the pattern with this number in the dictionary.
    Occurrences(usize),
    /// The sum with this number over all cliques, diamonds and 4-cycles.
    Sum(usize),
}

/// What to count, what to sum and how the counts of all patterns of six vertices follow.
#[derive(Debug)]
pub struct MotifSystem {
    /// For each equation its coefficients by number of the pattern, and its right side.
    equations: Vec<(Vec<u64>, Source)>,
    sums: usize,
    /// By adjacency bits of the visited set in the order in which it was found.
    terms: Vec<Vec<Term>>,
}

impl MotifSystem {
    /// The system; made once.
    pub fn of_six() -> &'static MotifSystem {
        static MADE: OnceLock<MotifSystem> = OnceLock::new();
        MADE.get_or_init(MotifSystem::make)
    }

    fn make() -> Self {
        let patterns = Dictionary::of(K).patterns();
        let count = patterns.len();
        let copies = copies(K);
        let cores: Vec<(usize, usize)> = patterns
            .iter()
            .map(|p| HomomorphismPlan::of(p, &Shape::TYPICAL).core)
            .map(|core| (core.vertices(), core.edge_count()))
            .collect();
        let occurrences = |n: usize| -> (Vec<u64>, Source) {
            ((0..count).map(|host| copies[host][n]).collect(), Source::Occurrences(n))
        };
        let mut by_core: Vec<usize> = (0..count).collect();
        by_core.sort_by_key(|&n| (cores[n], n));
        // What is a sum of tables costs hardly anything.
        let (cheap, dear): (Vec<usize>, Vec<usize>) =
            by_core.into_iter().partition(|&n| cores[n].0 == 1);
        let clique: Vec<u64> = (0..count).map(|n| u64::from(n + 1 == count)).collect();

        // All sums over the visited sets together cost the same for any subset of them.
        let mut system = Independent::default();
        system.add(&clique);
        let mut kept = vec![(clique, Source::Cliques)];
        let mut sums: BTreeMap<Class, u16> = BTreeMap::new();
        for (class, row) in classes() {
            if system.add(&row) {
                kept.push((row, Source::Sum(sums.len())));
                sums.insert(class, sums.len() as u16);
            }
        }
        kept.extend(cheap.into_iter().map(occurrences).filter(|(row, _)| system.add(row)));
        kept.extend(dear.into_iter().map(occurrences).filter(|(row, _)| system.add(row)));
        assert_eq!(kept.len(), count, "occurrences alone are enough");
        MotifSystem { equations: kept, sums: sums.len(), terms: terms(&sums) }
    }

    /// The right sides that [`MotifSystem::solve`] needs.
    pub fn sources(&self) -> impl Iterator<Item = Source> + '_ {
        self.equations.iter().map(|(_, source)| *source)
    }

    /// Number of sums over the visited sets.
    pub fn sums(&self) -> usize {
        self.sums
    }

    /// The pairs of neighbour sets whose product counts for a visited set with these adjacency
    /// bits; none for a set without a 4-cycle.
    pub fn terms(&self, bits: u32) -> &[Term] {
        &self.terms[bits as usize]
    }

    /// The vertex-induced counts by number of the pattern in the dictionary of six, from the right
    /// sides in the order of [`MotifSystem::sources`].
    ///
    /// # Panics
    /// If there are fewer right sides than sources.
    pub fn solve(&self, values: &[u128]) -> Vec<u128> {
        let mut rows: Vec<Vec<u128>> = self
            .equations
            .iter()
            .zip(values)
            .map(|((row, _), &value)| {
                row.iter().map(|&c| u128::from(c)).chain([reduced(value)]).collect()
            })
            .collect();
        assert_eq!(rows.len(), self.equations.len());
        let count = rows.len();
        for at in 0..count {
            let pivot = (at..count).find(|&r| rows[r][at] != 0).expect("they are independent");
            rows.swap(at, pivot);
            let scale = inverse(rows[at][at]);
            rows[at].iter_mut().for_each(|c| *c = times(*c, scale));
            let (above, rest) = rows.split_at_mut(at);
            let (pivot, below) = rest.split_first_mut().expect("a row");
            for row in above.iter_mut().chain(below) {
                subtract(row, pivot, at);
            }
        }
        rows.into_iter().map(|row| row[count]).collect()
    }
}

/// For each pair of neighbour sets of a clique, diamond or 4-cycle: the coefficients of the equation
/// of its sum. Those with the fewest images come first, cliques before diamonds before cycles.
fn classes() -> Vec<(Class, Vec<u64>)> {
    let patterns = Dictionary::of(K).patterns();
    let visited = Dictionary::of(VISITED).patterns();
    let mut rows: BTreeMap<Class, Vec<u64>> = BTreeMap::new();
    for (n, p) in patterns.iter().enumerate() {
        for x in 0..K {
            for y in 0..x {
                let Some(class) = class_of(p, x, y) else { continue };
                if has_cycle(visited[class.0].bits() as u32) {
                    rows.entry(class).or_insert_with(|| vec![0; patterns.len()])[n] += 1;
                }
            }
        }
    }
    let images = |class: &Class| {
        let bits = visited[class.0].bits() as u32;
        pairs().filter(|&(a, b)| canonical_class(class.0, bits, VISITED, a, b) == *class).count()
    };
    let mut rows: Vec<_> = rows.into_iter().collect();
    rows.sort_by_cached_key(|(class, _)| {
        (std::cmp::Reverse(visited[class.0].edge_count()), images(class), *class)
    });
    rows
}

/// All pairs of neighbour sets, the smaller one first.
fn pairs() -> impl Iterator<Item = (u8, u8)> {
    (1..1u8 << VISITED).flat_map(|second| (1..=second).map(move |first| (first, second)))
}

/// Whether four vertices with these adjacency bits have a 4-cycle.
fn has_cycle(bits: u32) -> bool {
    // The edges that each of the three cycles of four vertices leaves out, as positions of bits:
    // of i and j, j < i, it is i · (i − 1) / 2 + j.
    [[0, 5], [1, 4], [2, 3]].iter().any(|left_out| {
        let cycle = 0b111111 & !(1 << left_out[0]) & !(1 << left_out[1]);
        bits & cycle == cycle
    })
}

fn terms(sums: &BTreeMap<Class, u16>) -> Vec<Vec<Term>> {
    let visited = Dictionary::of(VISITED);
    (0..1u32 << (VISITED * (VISITED - 1) / 2))
        .map(|bits| match visited.number(bits) {
            Some(number) if has_cycle(bits) => {
                let sum_of = |a, b| sums.get(&canonical_class(number, bits, VISITED, a, b));
                let mut terms: Vec<Term> = pairs()
                    .filter_map(|(first, second)| {
                        let &sum = sum_of(first, second)?;
                        Some(Term { first, second, sum })
                    })
                    .collect();
                terms.sort_by_key(|term| (term.sum, *term));
                terms
            }
            _ => vec![],
        })
        .collect()
}

/// Rows of coefficients of which none follows from the others.
#[derive(Default)]
struct Independent {
    /// Each with the place of its first coefficient, which is 1; others have none there.
    rows: Vec<(usize, Vec<u128>)>,
}

impl Independent {
    /// Adds a row unless it follows from those that are there; says whether it did.
    fn add(&mut self, row: &[u64]) -> bool {
        let mut row: Vec<u128> = row.iter().map(|&c| c.into()).collect();
        for (at, other) in &self.rows {
            subtract(&mut row, other, *at);
        }
        let Some(at) = row.iter().position(|&c| c != 0) else { return false };
        let scale = inverse(row[at]);
        row.iter_mut().for_each(|c| *c = times(*c, scale));
        self.rows.push((at, row));
        true
    }
}

/// Takes away as much of a row, whose coefficient `at` is 1, as leaves none there.
fn subtract(row: &mut [u128], other: &[u128], at: usize) {
    let factor = row[at];
    if factor != 0 {
        let factor = PRIME - factor;
        for (c, &o) in row.iter_mut().zip(other) {
            if o != 0 {
                *c = reduced(*c + times(o, factor));
            }
        }
    }
}

/// What is calculated modulo: 2^127 − 1.
const PRIME: u128 = (1 << 127) - 1;

/// The remainder of any number.
fn reduced(n: u128) -> u128 {
    let n = (n & PRIME) + (n >> 127);
    if n >= PRIME { n - PRIME } else { n }
}

/// The product of two remainders.
fn times(a: u128, b: u128) -> u128 {
    const HALF: u128 = u64::MAX as u128;
    let ([a1, a0], [b1, b0]) = ([a >> 64, a & HALF], [b >> 64, b & HALF]);
    // a1 and b1 have 63 bits, so that the middle has 128.
    let (low, middle, high) = (a0 * b0, a1 * b0 + a0 * b1, a1 * b1);
    let (low, carry) = low.overflowing_add(middle << 64);
    let high = high + (middle >> 64) + u128::from(carry);
    // 2^128 is 2 here.
    reduced(reduced(low) + reduced(high << 1))
}

/// The number that gives 1 with this one, by Fermat: n^(p − 2).
fn inverse(n: u128) -> u128 {
    let (mut power, mut product, mut exponent) = (n, 1, PRIME - 2);
    while exponent != 0 {
        if exponent & 1 == 1 {
            product = times(product, power);
        }
        power = times(power, power);
        exponent >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pattern;

    #[test]
    fn remainders_are_those_of_the_prime() {
        assert_eq!(times(1 << 126, 2), 1);
        assert_eq!(times(PRIME - 1, PRIME - 1), 1);
        assert_eq!(reduced(u128::MAX), 1);
        for n in [2, 3, 720, u128::from(u64::MAX), (1 << 126) + 12_345, PRIME - 1] {
            assert_eq!(times(n, inverse(n)), 1, "{n}");
        }
    }

    #[test]
    fn counts_follow_from_their_own_right_sides() {
        let system = MotifSystem::of_six();
        let count = Dictionary::of(6).patterns().len();
        let counts: Vec<u128> = (0..count as u128).map(|n| (n * n + 7) << (n % 5 * 20)).collect();
        let values: Vec<u128> = system
            .equations
            .iter()
            .map(|(row, _)| row.iter().zip(&counts).map(|(&c, n)| u128::from(c) * n).sum())
            .collect();
        assert_eq!(system.solve(&values), counts);
    }

    #[test]
    fn sets_with_a_4_cycle_are_those_three() {
        let names: Vec<bool> =
            Dictionary::of(4).patterns().iter().map(|p| has_cycle(p.bits() as u32)).collect();
        assert_eq!(names, [false, false, false, true, true, true]);
        let path = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
        assert!(MotifSystem::of_six().terms(path.bits() as u32).is_empty());
    }

    #[test]
    fn few_occurrences_are_needed_that_are_no_sums_of_tables() {
        let system = MotifSystem::of_six();
        let patterns = Dictionary::of(6).patterns();
        let mut cores = BTreeMap::new();
        for source in system.sources() {
            if let Source::Occurrences(n) = source {
                let core = HomomorphismPlan::of(&patterns[n], &Shape::TYPICAL).core;
                *cores.entry((core.vertices(), core.edge_count())).or_insert(0) += 1;
            }
        }
        let expected = [
            ((1, 0), 20),
            ((4, 4), 4),
            ((4, 6), 2),
            ((5, 5), 2),
            ((6, 6), 1),
            ((6, 7), 2),
            ((6, 8), 2),
            ((6, 9), 4),
            ((6, 10), 2),
            ((6, 11), 1),
        ];
        assert_eq!(cores.into_iter().collect::<Vec<_>>(), expected);
        assert_eq!(system.sums(), 71);
    }
}
