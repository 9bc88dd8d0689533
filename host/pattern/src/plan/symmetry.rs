//! How a search meets each occurrence of a pattern once.
//!
//! Two mappings of a pattern have the same image exactly if one is the other after an
//! automorphism of the pattern. A search that follows an order of the pattern's vertices keeps one
//! mapping of each such class when it demands that the image of a vertex be larger than the images
//! of all other vertices of its orbit, under the automorphisms that fix the vertices before it
//! (Schreier–Sims, as in the symmetry breaking of Grochow and Kellis, 2007).

use crate::{Pattern, VertexSet, automorphism_orbits_chain};
use gramer_graph::{Label, NO_LABEL};

/// Conditions on vertex ids that break symmetry.
///
/// All are of the form "the later vertex has the smaller id": in the order of Rank(ON_1) the
/// smaller ids are the hubs, so a search starts at the least valuable vertex of an occurrence and
/// every list it walks is cut short before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restrictions {
    /// By pattern vertex, as bits: the vertices, all earlier in the order, whose image must have
    /// a larger id than this vertex's image.
    pub below: Vec<VertexSet>,
    /// How many mappings each mapping that keeps the conditions stands for.
    pub factor: u128,
}

impl Restrictions {
    /// No condition: every mapping stands for itself.
    pub fn none(vertices: usize) -> Self {
        Restrictions { below: vec![0; vertices], factor: 1 }
    }

    /// The conditions for a search in `order`, taken from those automorphisms (labels kept) that
    /// map the vertex set `prefix` onto itself, and only between vertices of `prefix`. The
    /// vertices of `prefix` must come first in `order`.
    ///
    /// With all vertices in `prefix`, every class of mappings with the same image has exactly one
    /// member that keeps the conditions (for patterns that aren't [`ambiguous`]), and `factor` is
    /// the number of automorphisms. With fewer, the vertices outside are free of conditions, so
    /// that their images may be counted without being listed, and the number of all mappings is
    /// still `factor` times the number of those that keep the conditions: an automorphism that
    /// keeps `prefix` permutes the ways to extend a mapping of `prefix`.
    pub fn new(pattern: &Pattern, order: &[usize], prefix: VertexSet) -> Self {
        let n = pattern.vertices();
        let colours: Vec<u32> = (0..n).map(|v| prefix >> v & 1).collect();
        let first: Vec<usize> = order.iter().copied().filter(|&v| prefix >> v & 1 == 1).collect();
        debug_assert_eq!(first, order[..first.len()]);
        let mut restrictions = Restrictions::none(n);
        let orbits = automorphism_orbits_chain(pattern, &first, &colours);
        for (&v, orbit) in first.iter().zip(orbits) {
            restrictions.factor *= u128::from(orbit.count_ones());
            for w in (0..n).filter(|&w| w != v && orbit >> w & 1 == 1) {
                restrictions.below[w] |= 1 << v;
            }
        }
        restrictions
    }
}

/// Whether a vertex or edge with either label could take the other's place.
fn compatible(a: Label, b: Label) -> bool {
    a == b || a == NO_LABEL || b == NO_LABEL
}

/// Whether two mappings of the pattern may have the same image though no automorphism that keeps
/// the labels leads from one to the other.
///
/// That takes wildcards: the wedge `1 – * – *` and an image whose ends both have label 1. Such
/// occurrences can't be told apart by conditions on ids alone, and the number of occurrences isn't
/// the number of mappings divided by a constant.
pub fn ambiguous(pattern: &Pattern) -> bool {
    let n = pattern.vertices();
    let mixed =
        |labels: &[Label]| labels.contains(&NO_LABEL) && labels.iter().any(|&l| l != NO_LABEL);
    let vertex_labels: Vec<Label> = (0..n).map(|v| pattern.vertex_label(v)).collect();
    let edges = pattern.edges();
    let edge_label = |e: (usize, usize)| pattern.edge_label(e.0, e.1).expect("edge");
    let edge_labels: Vec<Label> = edges.iter().map(|&e| edge_label(e)).collect();
    let exchanged = |a: Label, b: Label| a != b && compatible(a, b);
    if mixed(&vertex_labels) {
        for i in 0..n {
            for j in (0..n).filter(|&j| exchanged(vertex_labels[i], vertex_labels[j])) {
                let mut image = vec![usize::MAX; n];
                image[i] = j;
                if agrees(pattern, &image, i) && complete(pattern, &mut image) {
                    return true;
                }
            }
        }
    }
    if mixed(&edge_labels) {
        for (e, &(a, b)) in edges.iter().enumerate() {
            for (f, &(c, d)) in edges.iter().enumerate() {
                if !exchanged(edge_labels[e], edge_labels[f]) {
                    continue;
                }
                for (c, d) in [(c, d), (d, c)] {
                    let mut image = vec![usize::MAX; n];
                    (image[a], image[b]) = (c, d);
                    if agrees(pattern, &image, a)
                        && agrees(pattern, &image, b)
                        && complete(pattern, &mut image)
                    {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// Whether the image of `v` fits the images set so far, labels only up to wildcards.
fn agrees(pattern: &Pattern, image: &[usize], v: usize) -> bool {
    let w = image[v];
    pattern.degree(v) == pattern.degree(w)
        && compatible(pattern.vertex_label(v), pattern.vertex_label(w))
        && (0..pattern.vertices()).filter(|&u| u != v && image[u] != usize::MAX).all(|u| {
            image[u] != w
                && pattern.is_absent(u, v) == pattern.is_absent(image[u], w)
                && match (pattern.edge_label(u, v), pattern.edge_label(image[u], w)) {
                    (None, None) => true,
                    (Some(a), Some(b)) => compatible(a, b),
                    _ => false,
                }
        })
}

fn complete(pattern: &Pattern, image: &mut [usize]) -> bool {
    let n = pattern.vertices();
    let next = (0..n).filter(|&v| image[v] == usize::MAX).max_by_key(|&v| {
        (0..n).filter(|&u| pattern.has_edge(u, v) && image[u] != usize::MAX).count()
    });
    let Some(v) = next else { return true };
    for w in 0..n {
        image[v] = w;
        if agrees(pattern, image, v) && complete(pattern, image) {
            return true;
        }
    }
    image[v] = usize::MAX;
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automorphism_count;

    #[test]
    fn conditions_of_the_cycle() {
        let cycle = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let all = Restrictions::new(&cycle, &[0, 1, 3, 2], 0b1111);
        assert_eq!(all.below, [0, 0b0001, 0b0001, 0b0011]);
        assert_eq!(all.factor, automorphism_count(&cycle));
        // With vertex 2 apart only the exchange of its neighbours is left.
        let part = Restrictions::new(&cycle, &[0, 1, 3, 2], 0b1011);
        assert_eq!(part.below, [0, 0, 0, 0b0010]);
        assert_eq!(part.factor, 2);
    }

    #[test]
    fn one_order_of_every_class_keeps_the_conditions() {
        // On the complete graph of as many vertices every permutation is a mapping.
        fn permutations(n: usize) -> Vec<Vec<usize>> {
            if n == 0 {
                return vec![vec![]];
            }
            let mut all = vec![];
            for p in permutations(n - 1) {
                for at in 0..n {
                    let mut q = p.clone();
                    q.insert(at, n - 1);
                    all.push(q);
                }
            }
            all
        }
        let all = permutations(5);
        for pattern in crate::Dictionary::of(5).patterns() {
            let order = [0, 1, 2, 3, 4];
            for prefix in [0b11111, 0b01111, 0b00111] {
                let r = Restrictions::new(pattern, &order, prefix);
                let kept = all
                    .iter()
                    .filter(|f| {
                        (0..5).all(|w| (0..5).all(|v| r.below[w] >> v & 1 == 0 || f[w] < f[v]))
                    })
                    .count();
                assert_eq!(kept as u128 * r.factor, 120, "{pattern:?} {prefix:b}");
            }
        }
    }

    #[test]
    fn wildcards_beside_labels_may_be_ambiguous() {
        let mut wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        assert!(!ambiguous(&wedge));
        wedge.set_vertex_label(0, 1);
        assert!(ambiguous(&wedge));
        wedge.set_vertex_label(2, 2);
        assert!(!ambiguous(&wedge));
        wedge.set_vertex_label(2, 1);
        assert!(!ambiguous(&wedge), "the middle differs by its degree");
        let mut edges = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        edges.set_edge_label(0, 1, 4);
        assert!(ambiguous(&edges));
        edges.set_edge_label(1, 2, 5);
        assert!(!ambiguous(&edges));
    }
}
