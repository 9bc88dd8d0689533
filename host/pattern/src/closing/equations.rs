//! Motifs from the sums of the equations of [`MotifPlan`]: over edges, of cliques and of cycles. Engines find the sums,
//! which add up over the shares of a run.

use super::forms::edge_induced;
use crate::plan::motif::MotifPlan;
use crate::task::Induced;
use crate::{Count, Dictionary, Pattern, automorphism_count};

/// An answer from the sums of all units; `None` if they aren't those of this task.
pub fn motifs(k: usize, induced: Induced, sums: &[u128]) -> Option<Vec<Count>> {
    (sums.len() == sums_of(k)).then(|| by_pattern(k, counts(k, induced, sums)))
}

/// The counts of all patterns of k vertices, given by number of the pattern.
pub fn by_pattern(k: usize, counts: Vec<u128>) -> Vec<Count> {
    let patterns = Dictionary::of(k).patterns().iter();
    patterns.zip(counts).map(|(p, count)| Count { pattern: p.clone(), count }).collect()
}

/// Number of sums of all equations.
fn sums_of(k: usize) -> usize {
    let plan = MotifPlan::of(k);
    let cycles = match k {
        _ if plan.left_over().is_empty() => 0,
        4 => 1,
        5 => 2,
        _ => 2 + (3..=5).map(sums_of).sum::<usize>(),
    };
    plan.sums() + 1 + cycles
}

/// Counts by number of the pattern from all sums.
pub fn counts(k: usize, induced: Induced, sums: &[u128]) -> Vec<u128> {
    let counts = vertex_induced(k, sums);
    match induced {
        Induced::Vertex => counts,
        Induced::Edge => edge_induced(k, &counts),
    }
}

/// Vertex-induced counts by number of the pattern from all sums.
pub fn vertex_induced(k: usize, all: &[u128]) -> Vec<u128> {
    let plan = MotifPlan::of(k);
    let (sums, rest) = all.split_at(plan.sums());
    let (cliques, rest) = (rest[0], &rest[1..]);
    let cycles = match k {
        _ if plan.left_over().is_empty() => 0,
        4 => rest[0],
        5 => five_cycles([rest[0], rest[1]]),
        _ => six_cycles(rest[0], smaller(rest[1], &rest[2..])),
    };
    plan.solve(sums, cliques, |_| cycles)
}

/// The edge-induced numbers of all patterns of 2 to 5 vertices: of 2 the edges, each of which is in two
/// lists; of the others from their sums.
fn smaller(entries: u128, mut sums: &[u128]) -> impl Fn(&Pattern) -> u128 + use<> {
    let by_size: Vec<Vec<u128>> = (3..=5)
        .map(|k| {
            let own;
            (own, sums) = sums.split_at(sums_of(k));
            edge_induced(k, &vertex_induced(k, own))
        })
        .collect();
    move |p: &Pattern| match p.vertices() {
        2 => entries / 2,
        k => {
            let number = Dictionary::of(k).number(p.bits() as u32).expect("it is connected");
            by_size[k - 3][number]
        }
    }
}

/// Number of 5-cycles from the pairs of paths that are opposite to an edge, and those of them that meet.
pub fn five_cycles([pairs, meeting]: [u128; 2]) -> u128 {
    pairs - meeting
}

/// Number of 6-cycles, from the closed walks of six steps: a walk that visits a vertex twice runs
/// over a smaller pattern, whose edge-induced number `smaller` gives.
fn six_cycles(walks: u128, smaller: impl Fn(&Pattern) -> u128) -> u128 {
    let shorter: u128 = folded_cycles(6)
        .iter()
        .map(|image| automorphism_count(image) * smaller(&image.canonical().0))
        .sum();
    (walks - shorter) / 12
}

/// The patterns that the k-cycle becomes when some of its vertices, no two of them adjacent, are
/// put into one; one entry for each way to do it.
fn folded_cycles(k: usize) -> Vec<Pattern> {
    let mut found = vec![];
    let mut block = vec![0usize; k];
    fold_from(1, &mut block, &mut found);
    found
}

/// Assigns blocks to the vertices from `at` on, in every way that starts new blocks in order.
fn fold_from(at: usize, block: &mut [usize], found: &mut Vec<Pattern>) {
    let k = block.len();
    if at == k {
        let blocks = block.iter().max().map_or(0, |b| b + 1);
        if blocks < k && block[k - 1] != block[0] {
            let edges: Vec<_> = (0..k).map(|v| (block[v], block[(v + 1) % k])).collect();
            found.push(Pattern::from_edges(blocks, &edges));
        }
        return;
    }
    let fresh = block[..at].iter().max().map_or(0, |b| b + 1);
    for b in (0..=fresh).filter(|&b| b != block[at - 1]).collect::<Vec<_>>() {
        block[at] = b;
        fold_from(at + 1, block, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_six_cycle_folds_in_as_many_ways_as_known() {
        // Partitions of six things in a ring without neighbours in a block: OEIS A000296 has 41,
        // one of which keeps all six apart.
        assert_eq!(folded_cycles(6).len(), 40);
    }
}
