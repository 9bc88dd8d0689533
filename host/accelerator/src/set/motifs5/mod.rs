//! Motifs of 5 vertices, in three runs: cliques, 5-cycles by [wedges](super::wedges), and sums of products over all connected
//! sets of three vertices (`docs/reference/set-core.md`, section *5-motifs*), from which the equations of [`MotifPlan`] give the others.
//!
//! | module | content |
//! |---|---|
//! | [`run`] | runs of a graph |
//! | [`units`] | roots, cut where they have many neighbours, and the streams of several clusters |

use std::collections::BTreeSet;

use gramer_machine::set::{FACTORS, FACTORS_OF, PRODUCTS, PRODUCTS_OPEN, SUMS, factor};
use gramer_pattern::plan::motif::MotifPlan;

use super::numbers::{SUM_CLIQUES, SUM_EMBEDDINGS};
use super::sums::Total;

pub mod run;
pub mod units;

/// Vertices of these motifs.
pub const VERTICES: usize = 5;

/// Adjacency bits of a set {a, b, c} without the edge a–c, and of a triangle.
const SHAPES: [u32; 2] = [0b101, 0b111];

/// A pair of neighbour sets in a set of three vertices, the smaller one first.
type Pair = (u8, u8);

/// The pairs that a product is of.
fn pairs_of(product: usize) -> BTreeSet<Pair> {
    let [first, second] = FACTORS_OF[product].map(|name| FACTORS[factor(name) as usize].1);
    let pairs = first.iter().flat_map(|&x| second.iter().map(move |&y| (x.min(y), x.max(y))));
    match first == second {
        // One number with itself less one: each pair of its vertices twice.
        true => first.iter().map(|&x| (x, x)).collect(),
        false => pairs.collect(),
    }
}

/// Products, each with its sign, whose sum has just these pairs.
fn made_of(pairs: &BTreeSet<Pair>, from: &[usize]) -> Option<Vec<(usize, bool)>> {
    if pairs.is_empty() {
        return Some(vec![]);
    }
    let part = |&&p: &&usize| !pairs_of(p).is_empty() && pairs_of(p).is_subset(pairs);
    if let Some(&part) = from.iter().find(part) {
        let rest = made_of(&(pairs - &pairs_of(part)), from)?;
        return Some([vec![(part, true)], rest].concat());
    }
    let &more = from.iter().find(|&&p| pairs_of(p).is_superset(pairs))?;
    let too_much = made_of(&(&pairs_of(more) - pairs), from)?;
    let too_much = too_much.into_iter().map(|(p, sign)| (p, !sign));
    Some(std::iter::once((more, true)).chain(too_much).collect())
}

/// The sums of [`MotifPlan`] from those of products.
///
/// # Panics
/// If no products make them, which a test excludes.
pub fn plan_sums(products: &[u128]) -> Vec<u128> {
    let plan = MotifPlan::of(VERTICES);
    let sides =
        [(0..PRODUCTS_OPEN).collect::<Vec<_>>(), (PRODUCTS_OPEN..PRODUCTS as usize).collect()];
    let value = |p: usize| {
        let [first, second] = FACTORS_OF[p];
        if first == second { products[p] / 2 } else { products[p] }
    };
    let one = |sum: usize| {
        let (mut more, mut less) = (0, 0);
        for (bits, from) in SHAPES.into_iter().zip(&sides) {
            let terms = plan.terms(bits).iter().filter(|term| usize::from(term.sum) == sum);
            let pairs = terms.map(|term| (term.first, term.second)).collect();
            for (p, sign) in made_of(&pairs, from).expect("products make every sum") {
                *(if sign { &mut more } else { &mut less }) += value(p);
            }
        }
        more - less
    };
    (0..plan.sums()).map(one).collect()
}

/// Vertex-induced counts by number in the dictionary, from the sums of all roots: those of products, with the 5-cliques and, as
/// embeddings, the edge-induced 5-cycles.
pub fn counts(total: &Total) -> Vec<u128> {
    let sums = plan_sums(&total[SUMS as usize..]);
    MotifPlan::of(VERTICES).solve(&sums, total[SUM_CLIQUES], |_| total[SUM_EMBEDDINGS])
}

#[cfg(test)]
mod tests;
