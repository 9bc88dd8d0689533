//! Canonical forms and automorphisms.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use canonical_form::Canonize;

use super::{Label, Pattern, SMALL_VERTICES, VertexSet};

/// Most vertices for which a [`Dictionary`] is kept.
pub(crate) const DICTIONARY_VERTICES: usize = 6;

/// All graphs of k unlabelled vertices: from adjacency bits ([`Pattern::bits`]) to the pattern's
/// number, as the process stage of the accelerator does it.
///
/// The canonical form is the one with the smallest adjacency bits; patterns are numbered by edges,
/// then by those bits.
///
/// ```
/// use gramer_pattern::{Dictionary, Pattern, name};
///
/// let all = Dictionary::of(3);
/// let names: Vec<String> = all.patterns().iter().map(name).collect();
/// assert_eq!(names, ["wedge", "triangle"]);
/// let wedge = Pattern::from_edges(3, &[(0, 2), (1, 2)]);
/// assert_eq!(all.number(wedge.bits() as u32), Some(0));
/// assert_eq!(all.number(1), None, "one edge among three vertices is not connected");
/// ```
pub struct Dictionary {
    /// Connected patterns in their order.
    patterns: Vec<Pattern>,
    /// By adjacency bits: number of the pattern, or `u16::MAX` for a disconnected graph.
    numbers: Vec<u16>,
    /// By adjacency bits: `order[i]` is the vertex that becomes canonical vertex i.
    orders: Vec<[u8; DICTIONARY_VERTICES]>,
}

impl Dictionary {
    /// The dictionary of the graphs of `k` vertices, 1 to 6; made once.
    ///
    /// # Panics
    /// If k is out of range.
    pub fn of(k: usize) -> &'static Dictionary {
        static MADE: [OnceLock<Dictionary>; DICTIONARY_VERTICES] =
            [const { OnceLock::new() }; DICTIONARY_VERTICES];
        assert!((1..=DICTIONARY_VERTICES).contains(&k), "no dictionary of {k} vertices");
        MADE[k - 1].get_or_init(|| Dictionary::make(k))
    }

    fn make(k: usize) -> Dictionary {
        let pairs = k * (k - 1) / 2;
        let permutations = permutations(k);
        // Where each pair's bit goes under each permutation.
        let moves: Vec<Vec<u8>> = permutations
            .iter()
            .map(|order| {
                let mut position = [0; DICTIONARY_VERTICES];
                for (new, &old) in order.iter().enumerate() {
                    position[old as usize] = new;
                }
                let mut to = Vec::with_capacity(pairs);
                for j in 1..k {
                    for i in 0..j {
                        let (a, b) = (position[i].min(position[j]), position[i].max(position[j]));
                        to.push((b * (b - 1) / 2 + a) as u8);
                    }
                }
                to
            })
            .collect();
        let graphs = 1usize << pairs;
        let mut canonical = vec![u32::MAX; graphs];
        let mut orders = vec![[0; DICTIONARY_VERTICES]; graphs];
        let mut connected: BTreeMap<(u32, u32), Pattern> = BTreeMap::new();
        // Ascending, so the first graph of a class is the one with the smallest bits.
        for bits in 0..graphs as u32 {
            if canonical[bits as usize] != u32::MAX {
                continue;
            }
            for (order, to) in permutations.iter().zip(&moves) {
                let image = (0..pairs).fold(0u32, |image, p| image | (bits >> p & 1) << to[p]);
                if canonical[image as usize] == u32::MAX {
                    canonical[image as usize] = bits;
                    // `order` takes the canonical graph to the image: canonical vertex order[i]
                    // is image vertex i. The way back is its inverse.
                    for (new, &old) in order.iter().enumerate() {
                        orders[image as usize][old as usize] = new as u8;
                    }
                }
            }
            let pattern = Pattern::from_bits(k, bits as u128);
            if pattern.is_connected() {
                connected.insert((bits.count_ones(), bits), pattern);
            }
        }
        let mut numbers = vec![u16::MAX; graphs];
        let number_of: BTreeMap<u32, u16> =
            connected.keys().enumerate().map(|(n, &(_, bits))| (bits, n as u16)).collect();
        for bits in 0..graphs {
            if let Some(&n) = number_of.get(&canonical[bits]) {
                numbers[bits] = n;
            }
        }
        Dictionary { patterns: connected.into_values().collect(), numbers, orders }
    }

    /// The connected patterns: by edges, then by adjacency bits.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// The number of the pattern with these adjacency bits; `None` for a disconnected graph.
    #[inline]
    pub fn number(&self, bits: u32) -> Option<usize> {
        let n = self.numbers[bits as usize];
        (n != u16::MAX).then_some(n as usize)
    }

    /// Vertex i of the canonical form is vertex `order(bits)[i]` of the graph with these bits.
    #[inline]
    pub fn order(&self, bits: u32) -> &[u8; DICTIONARY_VERTICES] {
        &self.orders[bits as usize]
    }
}

fn permutations(k: usize) -> Vec<Vec<u8>> {
    let mut all = vec![vec![]];
    for i in 0..k {
        all = all
            .into_iter()
            .flat_map(|p: Vec<u8>| {
                (0..=p.len()).map(move |at| {
                    let mut q = p.clone();
                    q.insert(at, i as u8);
                    q
                })
            })
            .collect();
    }
    all
}

/// The colour of a pair that must not be joined; labels have 32 bits.
const ABSENT: u64 = u64::MAX;

/// What the canonical labelling of the library sees of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct LabelledPattern(Pattern);

impl Canonize for LabelledPattern {
    fn size(&self) -> usize {
        self.0.vertices()
    }

    fn apply_morphism(&self, morphism: &[usize]) -> Self {
        let mut order = vec![0; morphism.len()];
        for (old, &new) in morphism.iter().enumerate() {
            order[new] = old;
        }
        LabelledPattern(self.0.permuted(&order))
    }

    fn invariant_color(&self, u: usize) -> u64 {
        self.0.vertex_label(u).into()
    }

    fn invariant_neighborhood(&self, u: usize) -> impl Iterator<Item = (usize, u64)> {
        let colour = move |v| match self.0.edge_label(u, v) {
            Some(label) => Some(label.into()),
            None => self.0.is_absent(u, v).then_some(ABSENT),
        };
        (0..self.0.vertices()).filter_map(move |v| Some((v, colour(v)?)))
    }
}

const MOST_KNOWN: usize = 4096;

thread_local! {
    /// The orders of labelled patterns, by their ranked forms, of which a task has few, and many patterns. Equal
    /// patterns up to the order of vertices have the same ranks, and so the same form.
    static KNOWN: RefCell<HashMap<LabelledPattern, Vec<usize>>> = RefCell::default();
}

/// The order that leads to the canonical form.
fn searched(pattern: &LabelledPattern) -> Vec<usize> {
    let morphism = pattern.morphism_to_canonical();
    let mut order = vec![0; morphism.len()];
    for (old, &new) in morphism.iter().enumerate() {
        order[new] = old;
    }
    order
}

impl Pattern {
    /// The canonical form, equal for isomorphic patterns and only for those, and the order that
    /// leads to it: vertex i of the form is vertex `order[i]` of this pattern.
    ///
    /// # Panics
    /// If there are more than [`SMALL_VERTICES`] vertices: the search for the form may take any time there.
    pub fn canonical(&self) -> (Pattern, Vec<usize>) {
        let n = self.vertices();
        assert!(n <= SMALL_VERTICES, "a pattern of {n} vertices has no canonical form here");
        let labels = !self.vertex_labels.is_empty() || !self.edge_labels.is_empty();
        if !labels && !self.has_absences() && (1..=DICTIONARY_VERTICES).contains(&n) {
            let order: Vec<usize> = Dictionary::of(n).order(self.bits() as u32)[..n]
                .iter()
                .map(|&v| v as usize)
                .collect();
            return (self.permuted(&order), order);
        }
        if n == 0 {
            return (self.clone(), vec![]);
        }
        let order = KNOWN.with_borrow_mut(|known| {
            let ranked = LabelledPattern(self.ranked());
            if let Some(order) = known.get(&ranked) {
                return order.clone();
            }
            let order = searched(&ranked);
            if known.len() == MOST_KNOWN {
                known.clear();
            }
            known.insert(ranked, order.clone());
            order
        });
        (self.permuted(&order), order)
    }

    /// The pattern with the ranks of labels in place of labels, smallest 0.
    fn ranked(&self) -> Pattern {
        let mut ranked = self.clone();
        let mut labels = self.vertex_labels.clone();
        labels.sort_unstable();
        labels.dedup();
        for label in &mut ranked.vertex_labels {
            *label = labels.partition_point(|l| l < label) as Label;
        }
        let mut labels: Vec<Label> = self.edge_labels.iter().map(|edge| edge.2).collect();
        labels.sort_unstable();
        labels.dedup();
        for (_, _, label) in &mut ranked.edge_labels {
            *label = labels.partition_point(|l| l < label) as Label;
        }
        ranked
    }
}

/// For each vertex of `order`, as bits: its orbit under the automorphisms of the pattern that
/// keep labels and `colours` and fix every vertex before it in `order`.
///
/// The sizes' product is the number of such automorphisms when `order` holds all vertices; when
/// it holds a set that `colours` keeps together, the number of ways in which they move that set.
/// From the chain follow the conditions that break the symmetry: a vertex comes before all others
/// of its orbit.
pub fn automorphism_orbits_chain(
    pattern: &Pattern,
    order: &[usize],
    colours: &[u32],
) -> Vec<VertexSet> {
    let n = pattern.vertices();
    assert_eq!(colours.len(), n);
    let mut fixed = Vec::with_capacity(n);
    let mut orbits = Vec::with_capacity(order.len());
    for &v in order {
        // In a large pattern a wrong image may be noticed late, and colours tell most of them at once.
        let refined = (n > SMALL_VERTICES).then(|| refined(pattern, colours, &fixed));
        if refined.as_ref().is_some_and(|found| all_differ(found)) {
            // Nothing but the identity keeps them.
            orbits.extend(order[orbits.len()..].iter().map(|&v| 1 << v));
            break;
        }
        let orbit = orbit(pattern, refined.as_deref().unwrap_or(colours), &fixed, v);
        fixed.push(v);
        orbits.push(orbit);
    }
    orbits
}

/// For each vertex, as bits: its orbit under the automorphisms of the pattern that keep labels.
///
/// ```
/// use gramer_pattern::{Pattern, automorphism_orbits};
///
/// let path = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
/// assert_eq!(automorphism_orbits(&path), [0b101, 0b010, 0b101]);
/// ```
pub fn automorphism_orbits(pattern: &Pattern) -> Vec<VertexSet> {
    let n = pattern.vertices();
    let mut colours = vec![0; n];
    if n > SMALL_VERTICES {
        colours = refined(pattern, &colours, &[]);
        if all_differ(&colours) {
            return (0..n).map(|v| 1 << v).collect();
        }
    }
    let mut orbits: Vec<VertexSet> = vec![0; n];
    for v in 0..n {
        if orbits[v] == 0 {
            let orbit = orbit(pattern, &colours, &[], v);
            (0..n).filter(|&w| orbit >> w & 1 == 1).for_each(|w| orbits[w] = orbit);
        }
    }
    orbits
}

/// The orbit of a vertex under the automorphisms that keep `colours` and fix the vertices of `fixed`.
fn orbit(pattern: &Pattern, colours: &[u32], fixed: &[usize], v: usize) -> VertexSet {
    let n = pattern.vertices();
    let mut orbit: VertexSet = 1 << v;
    for w in 0..n {
        if w != v && !fixed.contains(&w) {
            let mut image = vec![usize::MAX; n];
            for &f in fixed {
                image[f] = f;
            }
            image[v] = w;
            if compatible(pattern, colours, &image, v) && extend(pattern, colours, &mut image) {
                orbit |= 1 << w;
            }
        }
    }
    orbit
}

/// Whether no two vertices have one colour, each of which is below their number.
fn all_differ(colours: &[u32]) -> bool {
    colours.iter().fold(0, |met: VertexSet, &c| met | 1 << c).count_ones() as usize == colours.len()
}

/// `colours` made finer: vertices of one colour have the same label and degree, as many neighbours of each
/// colour over edges with each label, and each of `fixed` has its own colour (colour refinement, the
/// method of Weisfeiler and Leman, 1968). Automorphisms that keep `colours` and `fixed` keep these.
fn refined(pattern: &Pattern, colours: &[u32], fixed: &[usize]) -> Vec<u32> {
    let n = pattern.vertices();
    let number = |keys: Vec<Vec<u32>>| -> Vec<u32> {
        let mut known = keys.clone();
        known.sort_unstable();
        known.dedup();
        keys.iter().map(|k| known.binary_search(k).expect("collected") as u32).collect()
    };
    let first = |v: usize| {
        let place = fixed.iter().position(|&f| f == v).unwrap_or(n);
        vec![colours[v], pattern.vertex_label(v), place as u32]
    };
    let mut found = number((0..n).map(first).collect());
    loop {
        let finer = |v: usize| {
            let near = (0..n).filter_map(|u| Some([pattern.edge_label(u, v)?, found[u]]));
            let mut near: Vec<[u32; 2]> = near.collect();
            near.sort_unstable();
            std::iter::once(found[v]).chain(near.into_iter().flatten()).collect()
        };
        let next = number((0..n).map(finer).collect());
        // Colours are only ever split, and their order is kept.
        if next == found {
            return found;
        }
        found = next;
    }
}

/// Number of automorphisms that keep the labels.
pub fn automorphism_count(pattern: &Pattern) -> u128 {
    let order: Vec<usize> = (0..pattern.vertices()).collect();
    automorphism_orbits_chain(pattern, &order, &vec![0; pattern.vertices()])
        .iter()
        .map(|orbit| orbit.count_ones() as u128)
        .product()
}

/// Whether the image of `v` agrees with the images set so far.
fn compatible(pattern: &Pattern, colours: &[u32], image: &[usize], v: usize) -> bool {
    let w = image[v];
    colours[v] == colours[w]
        && pattern.vertex_label(v) == pattern.vertex_label(w)
        && pattern.degree(v) == pattern.degree(w)
        && (0..pattern.vertices()).filter(|&u| u != v && image[u] != usize::MAX).all(|u| {
            image[u] != w
                && pattern.edge_label(u, v) == pattern.edge_label(image[u], w)
                && pattern.is_absent(u, v) == pattern.is_absent(image[u], w)
        })
}

fn extend(pattern: &Pattern, colours: &[u32], image: &mut [usize]) -> bool {
    let n = pattern.vertices();
    // A vertex next to one that has its image is the most constrained.
    let open = (0..n).filter(|&v| image[v] == usize::MAX);
    let Some(v) = open.max_by_key(|&v| {
        (0..n).filter(|&u| pattern.has_edge(u, v) && image[u] != usize::MAX).count()
    }) else {
        return true;
    };
    for w in 0..n {
        image[v] = w;
        if compatible(pattern, colours, image, v) && extend(pattern, colours, image) {
            return true;
        }
    }
    image[v] = usize::MAX;
    false
}

#[cfg(test)]
mod tests;
