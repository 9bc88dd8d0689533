//! Motifs of three and four vertices from sums over vertices, arcs, triangles, 4-cliques and 4-cycles
//! (PGD, Ahmed et al. 2015; ORCA, Hočevar and Demšar 2014); those of five in [`five`](super::five).
//!
//! Engines find the sums as they like; the sums of shares add up, and the equations are solved once all
//! are there.

use crate::plan::motif::copies;
use crate::task::Induced;
use crate::{Count, Dictionary, Pattern};

/// The sums, where d is the degree of a vertex and t the number of triangles of an edge (u, v):
///
/// | place | of 4 vertices |
/// |---|---|
/// | 0 | 4-cliques (triangles, for motifs of 3 vertices) |
/// | 1 | 4-cycles, with chords or without |
/// | 2 | Σ t |
/// | 3 | Σ t (t − 1) / 2 |
/// | 4 | Σ t (d_u + d_v − 4) |
/// | 5 | Σ (d_u − 1)(d_v − 1) |
/// | 6 | Σ d (d − 1)(d − 2) / 6 |
/// | 7 | Σ d (d − 1) / 2 |
///
/// Motifs of 3 vertices follow from the places 0 and 7.
pub type Sums = [u128; 8];

/// The motifs of `k` vertices in the order of the dictionary; `None` for another k than 3 and 4, and for
/// numbers that are no sums of a graph.
///
/// ```
/// use gramer_pattern::closing::forms::motifs;
/// use gramer_pattern::task::Induced;
///
/// // A triangle with a tail: one triangle, five pairs of edges that meet.
/// let sums = [1, 0, 0, 0, 0, 0, 0, 5];
/// let counts = motifs(3, Induced::Vertex, &sums).unwrap();
/// assert_eq!((counts[0].count, counts[1].count), (2, 1));
/// ```
pub fn motifs(k: usize, induced: Induced, sums: &Sums) -> Option<Vec<Count>> {
    let of: fn(&Sums, &Pattern) -> Option<u128> = match k {
        3 => of_three,
        4 => of_four,
        _ => return None,
    };
    let patterns = Dictionary::of(k).patterns();
    let mut counts = patterns.iter().map(|p| of(sums, p)).collect::<Option<Vec<u128>>>()?;
    if induced == Induced::Edge {
        counts = edge_induced(k, &counts);
    }
    let counts = patterns.iter().zip(counts);
    Some(counts.map(|(p, count)| Count { pattern: p.clone(), count }).collect())
}

/// Edge-induced counts: an embedding holds the patterns that its edges can be thinned out to.
pub fn edge_induced(k: usize, counts: &[u128]) -> Vec<u128> {
    let copies = copies(k);
    let inside = |p: usize| counts.iter().zip(copies).map(|(&n, c)| n * u128::from(c[p])).sum();
    (0..counts.len()).map(inside).collect()
}

/// Vertex-induced counts from edge-induced ones: what lies in patterns with more edges is taken away. `None`
/// for numbers that no graph has.
pub fn vertex_induced(k: usize, counts: &[u128]) -> Option<Vec<u128>> {
    let copies = copies(k);
    let mut induced = counts.to_vec();
    // Patterns are sorted by edges, so those with more come first here.
    for p in (0..counts.len()).rev() {
        let inside: u128 =
            (p + 1..counts.len()).map(|host| induced[host] * u128::from(copies[host][p])).sum();
        induced[p] = induced[p].checked_sub(inside)?;
    }
    Some(induced)
}

fn of_three(sums: &Sums, pattern: &Pattern) -> Option<u128> {
    let triangles = sums[0];
    if pattern.edge_count() == 3 { Some(triangles) } else { sums[7].checked_sub(3 * triangles) }
}

fn of_four(sums: &Sums, pattern: &Pattern) -> Option<u128> {
    let [cliques, cycles, triangles, pairs, tails, paths, stars, _] = *sums;
    let diamond = pairs.checked_sub(6 * cliques)?;
    let tailed_triangle = (tails / 2).checked_sub(4 * diamond + 12 * cliques)?;
    let cycle = cycles.checked_sub(diamond + 3 * cliques)?;
    let highest = (0..4).map(|v| pattern.degree(v)).max();
    match (pattern.edge_count(), highest) {
        (3, Some(3)) => stars.checked_sub(tailed_triangle + 2 * diamond + 4 * cliques),
        // Σ t is three times the triangles.
        (3, _) => paths
            .checked_sub(triangles + 4 * cycle + 2 * tailed_triangle + 6 * diamond + 12 * cliques),
        (4, Some(3)) => Some(tailed_triangle),
        (4, _) => Some(cycle),
        (5, _) => Some(diamond),
        _ => Some(cliques),
    }
}
