//! What a pattern becomes when vertices are put into one.

use std::collections::BTreeMap;

use crate::{Pattern, VertexSet};

/// The patterns that `pattern` becomes when vertices that are not adjacent are put into one, in
/// canonical form, each with a coefficient: the mappings of `pattern` number the sum over all of
/// them of coefficient × homomorphisms. Labels are not looked at.
///
/// ```
/// use gramer_pattern::{Pattern, plan::homomorphism::quotients};
/// // Two-edge walks, less those that come back.
/// let wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
/// let coefficients: Vec<i64> = quotients(&wedge).into_iter().map(|(_, c)| c).collect();
/// assert_eq!(coefficients, [-1, 1]);
/// ```
pub fn quotients(pattern: &Pattern) -> Vec<(Pattern, i64)> {
    let mut sum: BTreeMap<(usize, u128), (Pattern, i64)> = BTreeMap::new();
    let mut seen: BTreeMap<(usize, u128), (usize, u128)> = BTreeMap::new();
    let mut blocks: Vec<VertexSet> = vec![];
    partition(pattern, 0, &mut blocks, &mut |blocks| {
        let quotient = quotient(pattern, blocks);
        let coefficient: i64 = blocks
            .iter()
            .map(|block| {
                let size = i64::from(block.count_ones());
                (1..size).product::<i64>() * if size % 2 == 0 { -1 } else { 1 }
            })
            .product();
        let drawn = (quotient.vertices(), quotient.bits());
        let key = *seen.entry(drawn).or_insert_with(|| {
            let canonical = quotient.canonical().0;
            let key = (canonical.vertices(), canonical.bits());
            sum.entry(key).or_insert((canonical, 0));
            key
        });
        sum.get_mut(&key).expect("just made").1 += coefficient;
    });
    sum.into_values().filter(|(_, coefficient)| *coefficient != 0).collect()
}

/// The patterns that `pattern` becomes when vertices that are not adjacent are put into one, in
/// canonical form, itself left out; each with the number of ways in which it comes about: the
/// homomorphisms of `pattern` number its mappings and those of all of these.
///
/// ```
/// use gramer_pattern::{Pattern, plan::homomorphism::folded};
/// // Two-edge walks come back or are mappings.
/// let wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
/// assert_eq!(folded(&wedge), [(Pattern::clique(2), 1)]);
/// ```
pub fn folded(pattern: &Pattern) -> Vec<(Pattern, u64)> {
    let mut sum: BTreeMap<(usize, u128), (Pattern, u64)> = BTreeMap::new();
    partition(pattern, 0, &mut vec![], &mut |blocks| {
        if blocks.len() < pattern.vertices() {
            let quotient = quotient(pattern, blocks).canonical().0;
            sum.entry((quotient.vertices(), quotient.bits())).or_insert((quotient, 0)).1 += 1;
        }
    });
    sum.into_values().collect()
}

/// The pattern with each of these sets of vertices put into one.
fn quotient(pattern: &Pattern, blocks: &[VertexSet]) -> Pattern {
    let of = |v: usize| blocks.iter().position(|b| b >> v & 1 == 1).expect("every vertex");
    let edges: Vec<_> = pattern.edges().iter().map(|&(u, v)| (of(u), of(v))).collect();
    Pattern::from_edges(blocks.len(), &edges)
}

/// Calls `found` with every partition of the vertices into sets without an edge inside.
fn partition(
    pattern: &Pattern,
    v: usize,
    blocks: &mut Vec<VertexSet>,
    found: &mut impl FnMut(&[VertexSet]),
) {
    if v == pattern.vertices() {
        return found(blocks);
    }
    for at in 0..blocks.len() {
        if pattern.neighbours(v) & blocks[at] == 0 {
            blocks[at] |= 1 << v;
            partition(pattern, v + 1, blocks, found);
            blocks[at] &= !(1 << v);
        }
    }
    blocks.push(1 << v);
    partition(pattern, v + 1, blocks, found);
    blocks.pop();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_of_a_clique_and_of_a_cycle() {
        assert_eq!(quotients(&Pattern::clique(4)), [(Pattern::clique(4), 1)]);
        // The 4-cycle, two wedges, and an edge that is walked four times.
        let cycle = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let coefficients: Vec<i64> = quotients(&cycle).into_iter().map(|(_, c)| c).collect();
        assert_eq!(coefficients, [1, -2, 1]);
    }
}
