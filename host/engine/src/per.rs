//! Counts per vertex or per edge: in how many occurrences each of them is.

use ethnum::U256;
use serde::{Deserialize, Serialize};

use gramer_base::choice::Choice;
use gramer_base::memory::with_room_or_unwind;
use gramer_graph::{VertexId, View};
use gramer_pattern::Pattern;

use crate::Subject;

/// Object of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// Every vertex of the graph.
    Vertex,
    /// Every edge of the graph.
    Edge,
    /// Every graph of a file of several.
    Graph,
}

impl Choice for Per {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Per::Vertex, "vertex", "For every vertex, the occurrences that it is in"),
        (Per::Edge, "edge", "For every edge, the occurrences that it is in"),
        (Per::Graph, "graph", "For every graph of a file of several, its occurrences"),
    ];
}

impl std::fmt::Display for Per {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Integers, in 64 bits while all of them fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Numbers {
    /// All fit.
    Narrow(Vec<u64>),
    /// One at least needs more.
    Wide(Vec<u128>),
}

impl Numbers {
    /// No columns yet, with room for this many items.
    pub fn with_capacity(capacity: usize) -> Self {
        Numbers::Narrow(with_room_or_unwind(capacity))
    }

    /// Adds a number at the end.
    #[inline]
    pub fn push(&mut self, number: u128) {
        match (&mut *self, u64::try_from(number)) {
            (Numbers::Narrow(all), Ok(number)) => all.push(number),
            (Numbers::Wide(all), _) => all.push(number),
            (Numbers::Narrow(all), Err(_)) => {
                let mut wide: Vec<u128> = all.iter().map(|&n| n.into()).collect();
                wide.push(number);
                *self = Numbers::Wide(wide);
            }
        }
    }

    /// Adds others at the end.
    pub fn append(&mut self, other: Numbers) {
        match (&mut *self, other) {
            (Numbers::Narrow(all), Numbers::Narrow(mut more)) => all.append(&mut more),
            (_, more) => more.iter().for_each(|number| self.push(number)),
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        match self {
            Numbers::Narrow(all) => all.len(),
            Numbers::Wide(all) => all.len(),
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    ///
    /// # Panics
    /// If `at` is out of range.
    #[inline]
    pub fn get(&self, at: usize) -> u128 {
        match self {
            Numbers::Narrow(all) => all[at].into(),
            Numbers::Wide(all) => all[at],
        }
    }

    /// All, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u128> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// Their sum; `None` if it needs more than 128 bits.
    pub fn sum(&self) -> Option<u128> {
        self.iter().try_fold(0u128, u128::checked_add)
    }

    /// The number of occurrences, if each of them is in this many of the numbers; `None` if it needs more than 128
    /// bits.
    ///
    /// # Panics
    /// If these are no numbers of such occurrences.
    pub fn occurrences(&self, places: u128) -> Option<u128> {
        let sum: U256 = self.iter().map(U256::from).sum();
        let places = U256::from(places);
        assert_eq!(sum % places, U256::ZERO, "an occurrence is counted at each of its places");
        u128::try_from(sum / places).ok()
    }
}

/// The numbers of one place that a vertex or an edge can have in an occurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Subject of the numbers.
    pub of: Subject,
    /// The orbit of the vertex or edge in the pattern, as ORCA numbers them; `None` for cliques,
    /// which have one.
    pub orbit: Option<Orbit>,
    /// Numbers by vertex, by edge in the order of [`edges`], or by graph in the order of
    /// [`transactions`](gramer_graph::transactions::of).
    pub counts: Numbers,
}

impl Column {
    /// Number of places of one occurrence in which a vertex or edge has this orbit: the sum of the column is that
    /// many times the number of occurrences. `None` for a column of other numbers, whose sum says nothing.
    pub fn places(&self, per: Per) -> Option<u128> {
        match (&self.orbit, self.of.size()) {
            (Some(orbit), _) => Some(orbit.places.len() as u128),
            (None, Some((vertices, edges))) => Some(match per {
                Per::Vertex => vertices as u128,
                Per::Edge => edges as u128,
                Per::Graph => 1,
            }),
            (None, None) => None,
        }
    }

    /// The number of occurrences that the column is about; `None` if it needs more than 128 bits or the column has none.
    ///
    /// # Panics
    /// If these are no numbers of such occurrences.
    pub fn occurrences(&self, per: Per) -> Option<u128> {
        self.counts.occurrences(self.places(per)?)
    }

    /// Whether its numbers count occurrences, which add up.
    pub fn adds_up(&self) -> bool {
        self.of.size().is_some()
    }
}

/// The edges in the order of columns per edge: (u, v) with u < v, ascending by v, then by u.
pub fn edges(view: View<'_>) -> impl Iterator<Item = (VertexId, VertexId)> + '_ {
    (0..view.vertices() as VertexId).flat_map(move |v| {
        view.neighbours(v).iter().copied().take_while(move |&u| u < v).map(move |u| (u, v))
    })
}

/// A class of the vertices, or of the edges, of a pattern that its symmetries take to each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orbit {
    /// Its number in ORCA (Hočevar and Demšar, 2014 and 2016; for vertices that of
    /// Pržulj, 2007).
    pub number: usize,
    /// The vertices of the pattern in canonical form that are in it, twice each; or the ends of its edges.
    pub places: Vec<(usize, usize)>,
}

/// A pattern with one of its vertices or edges, the root.
struct RootedPattern {
    vertices: usize,
    edges: &'static [(usize, usize)],
    /// A vertex twice, or the ends of an edge.
    root: (usize, usize),
}

const fn rooted(
    vertices: usize,
    edges: &'static [(usize, usize)],
    root: (usize, usize),
) -> RootedPattern {
    RootedPattern { vertices, edges, root }
}

const EDGE: &[(usize, usize)] = &[(0, 1)];
const WEDGE: &[(usize, usize)] = &[(0, 1), (1, 2)];
const TRIANGLE: &[(usize, usize)] = &[(0, 1), (1, 2), (0, 2)];
const PATH: &[(usize, usize)] = &[(0, 1), (1, 2), (2, 3)];
const CLAW: &[(usize, usize)] = &[(0, 1), (0, 2), (0, 3)];
const CYCLE: &[(usize, usize)] = &[(0, 1), (1, 2), (2, 3), (0, 3)];
/// The triangle 0 1 2 with a tail from 0 to 3.
const PAW: &[(usize, usize)] = &[(0, 1), (1, 2), (0, 2), (0, 3)];
/// The 4-cycle with the chord 0 2.
const DIAMOND: &[(usize, usize)] = &[(0, 1), (1, 2), (2, 3), (0, 3), (0, 2)];
const CLIQUE: &[(usize, usize)] = &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// The orbits of vertices, by number.
const OF_VERTICES: [RootedPattern; 15] = [
    rooted(2, EDGE, (0, 0)),
    rooted(3, WEDGE, (0, 0)),
    rooted(3, WEDGE, (1, 1)),
    rooted(3, TRIANGLE, (0, 0)),
    rooted(4, PATH, (0, 0)),
    rooted(4, PATH, (1, 1)),
    rooted(4, CLAW, (1, 1)),
    rooted(4, CLAW, (0, 0)),
    rooted(4, CYCLE, (0, 0)),
    rooted(4, PAW, (3, 3)),
    rooted(4, PAW, (1, 1)),
    rooted(4, PAW, (0, 0)),
    rooted(4, DIAMOND, (1, 1)),
    rooted(4, DIAMOND, (0, 0)),
    rooted(4, CLIQUE, (0, 0)),
];

/// The orbits of edges, by number.
const OF_EDGES: [RootedPattern; 12] = [
    rooted(3, WEDGE, (0, 1)),
    rooted(3, TRIANGLE, (0, 1)),
    rooted(4, PATH, (0, 1)),
    rooted(4, PATH, (1, 2)),
    rooted(4, CLAW, (0, 1)),
    rooted(4, CYCLE, (0, 1)),
    rooted(4, PAW, (0, 3)),
    rooted(4, PAW, (1, 2)),
    rooted(4, PAW, (0, 1)),
    rooted(4, DIAMOND, (0, 1)),
    rooted(4, DIAMOND, (0, 2)),
    rooted(4, CLIQUE, (0, 1)),
];

/// The orbits of the patterns of `k` vertices, k 2 to 4, and what edge-induced and vertex-induced
/// numbers of theirs have to do with each other.
#[derive(Debug, Clone)]
pub struct Orbits {
    /// Number of the first one.
    first: usize,
    /// Pattern, in canonical form, and orbit.
    orbits: Vec<(Pattern, Orbit)>,
    /// By orbit i and j: how often an occurrence with j's root holds, edge-induced, one of i's with
    /// the same root and the same vertices.
    inside: Vec<Vec<u128>>,
}

impl Orbits {
    /// Returns the orbits of all patterns of `k` vertices.
    ///
    /// # Panics
    /// If `k` isn't 2 to 4.
    pub fn of(k: usize, per: Per) -> Self {
        assert!((2..=4).contains(&k));
        let all: &[RootedPattern] = match per {
            Per::Vertex => &OF_VERTICES,
            Per::Edge => &OF_EDGES,
            Per::Graph => &[],
        };
        let first = all.iter().position(|r| r.vertices == k).unwrap_or(0);
        let rooted: Vec<&RootedPattern> = all.iter().filter(|r| r.vertices == k).collect();
        let forms: Vec<_> = rooted.iter().map(|r| form(k, r.edges, r.root)).collect();
        let orbits = rooted.iter().zip(&forms).enumerate().map(|(at, (r, own))| {
            let pattern = Pattern::from_edges(k, r.edges).canonical().0;
            let edges = pattern.edges();
            let alike = |root: &(usize, usize)| form(k, &edges, *root) == *own;
            let places = match per {
                Per::Vertex => (0..k).map(|v| (v, v)).filter(alike).collect(),
                Per::Edge => edges.iter().copied().filter(alike).collect(),
                Per::Graph => vec![],
            };
            (pattern, Orbit { number: first + at, places })
        });
        let orbits = orbits.collect();
        let held = |inner: &[u32], host: &RootedPattern| {
            // Every choice of the host's edges with all of its vertices.
            (0..1u32 << host.edges.len())
                .map(|chosen| {
                    let kept = host.edges.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1);
                    let kept: Vec<_> = kept.map(|(_, &e)| e).collect();
                    u128::from(form(k, &kept, host.root) == inner)
                })
                .sum()
        };
        let inside =
            forms.iter().map(|i| rooted.iter().map(|host| held(i, host)).collect()).collect();
        Orbits { first, orbits, inside }
    }

    /// Pattern and orbit, in order.
    pub fn all(&self) -> &[(Pattern, Orbit)] {
        &self.orbits
    }

    /// Number of the first one.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Makes vertex-induced numbers of edge-induced ones.
    ///
    /// # Panics
    /// If they are no numbers of one vertex or edge.
    pub fn induce(&self, counts: &mut [u128]) {
        // An orbit of a higher number is that of a pattern with as many edges, or more.
        for i in (0..counts.len()).rev() {
            let more: u128 = (i + 1..counts.len()).map(|j| self.inside[i][j] * counts[j]).sum();
            counts[i] = counts[i].checked_sub(more).expect("an occurrence is counted once");
        }
    }
}

/// A form that patterns with roots have in common if they are the same up to numbering.
fn form(k: usize, edges: &[(usize, usize)], root: (usize, usize)) -> Vec<u32> {
    let mut best: Option<Vec<u32>> = None;
    let mut order: Vec<usize> = (0..k).collect();
    permutations(&mut order, 0, &mut |to| {
        let pair = |(a, b): (usize, usize)| 1u32 << (4 * to[a].min(to[b]) + to[a].max(to[b]));
        // A root that isn't an edge of these is no root of theirs; it then has its own form.
        let kept = root.0 == root.1 || edges.iter().any(|&e| pair(e) == pair(root));
        let form = vec![edges.iter().map(|&e| pair(e)).sum(), pair(root), u32::from(kept)];
        if best.as_ref().is_none_or(|best| form < *best) {
            best = Some(form);
        }
    });
    best.expect("there is a numbering")
}

fn permutations(order: &mut Vec<usize>, at: usize, visit: &mut dyn FnMut(&[usize])) {
    if at == order.len() {
        return visit(order);
    }
    for i in at..order.len() {
        order.swap(at, i);
        permutations(order, at + 1, visit);
        order.swap(at, i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orbits_have_the_places_that_the_patterns_have() {
        let places = |k, per| {
            Orbits::of(k, per)
                .all()
                .iter()
                .map(|(_, o)| (o.number, o.places.len()))
                .collect::<Vec<_>>()
        };
        assert_eq!(places(2, Per::Vertex), [(0, 2)]);
        assert_eq!(places(3, Per::Vertex), [(1, 2), (2, 1), (3, 3)]);
        let four = [2, 2, 3, 1, 4, 1, 2, 1, 2, 2, 4];
        assert_eq!(places(4, Per::Vertex), (4..15).zip(four).collect::<Vec<_>>());
        assert_eq!(places(3, Per::Edge), [(0, 2), (1, 3)]);
        let four = [2, 1, 3, 4, 1, 1, 2, 4, 1, 6];
        assert_eq!(places(4, Per::Edge), (2..12).zip(four).collect::<Vec<_>>());
    }

    #[test]
    fn a_number_above_64_bits_widens_the_column() {
        let mut numbers = Numbers::with_capacity(2);
        numbers.push(7);
        assert_eq!(numbers, Numbers::Narrow(vec![7]));
        numbers.push(1 << 64);
        assert_eq!(numbers, Numbers::Wide(vec![7, 1 << 64]));
        assert_eq!(numbers.sum(), Some((1 << 64) + 7));
        numbers.push(u128::MAX);
        assert_eq!(numbers.sum(), None);
    }
}
