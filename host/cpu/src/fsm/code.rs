//! Small labelled patterns as values of a fixed size, and their canonical codes.
//!
//! Frequent subgraph mining examines many more candidates than it reports, so candidates are
//! identified by this code; [`Pattern::canonical`] is used once per reported pattern.

use std::hash::{Hash, Hasher};

use gramer_graph::View;
use gramer_pattern::Pattern;

use super::labels::Labels;

/// Maximum number of vertices of a mined pattern: `--max-vertices` 8, or the ends of a tree of 7 edges.
pub(super) const MAX: usize = 8;
const PAIRS: usize = MAX * (MAX - 1) / 2;

/// A labelled pattern of up to [`MAX`] vertices. Labels are dense numbers: see [`Labels`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Small {
    n: u8,
    classes: [u32; MAX],
    /// At j (j − 1) / 2 + i for i < j: 0 for no edge, else the number of its label.
    edges: [u32; PAIRS],
}

impl Hash for Small {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let n = self.n as usize;
        for pair in self.classes[..n].chunks(2) {
            state.write_u64(pair.iter().fold(0, |word, &c| word << 32 | u64::from(c)));
        }
        for pair in self.edges[..n * n.saturating_sub(1) / 2].chunks(2) {
            state.write_u64(pair.iter().fold(0, |word, &e| word << 32 | u64::from(e)));
        }
    }
}

#[inline]
fn pair(i: usize, j: usize) -> usize {
    let (i, j) = if i < j { (i, j) } else { (j, i) };
    j * (j - 1) / 2 + i
}

impl Small {
    pub const EMPTY: Small = Small { n: 0, classes: [0; MAX], edges: [0; PAIRS] };

    #[inline]
    pub fn n(&self) -> usize {
        self.n as usize
    }

    #[inline]
    pub fn class(&self, i: usize) -> u32 {
        self.classes[i]
    }

    /// Number of the label of edge i–j; 0 if it has none.
    #[inline]
    pub fn edge(&self, i: usize, j: usize) -> u32 {
        if i == j { 0 } else { self.edges[pair(i, j)] }
    }

    pub fn set_edge(&mut self, i: usize, j: usize, label: u32) {
        self.edges[pair(i, j)] = label;
    }

    /// Adds a vertex without edges and returns its number.
    pub fn push(&mut self, class: u32) -> usize {
        let i = self.n();
        self.classes[i] = class;
        self.n += 1;
        i
    }

    pub fn with_vertex(&self, class: u32) -> (Small, usize) {
        let mut p = *self;
        let i = p.push(class);
        (p, i)
    }

    pub fn neighbours(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.n()).filter(move |&j| self.edge(i, j) != 0)
    }

    pub fn degree(&self, i: usize) -> usize {
        self.neighbours(i).count()
    }

    /// Edges as (i, j), i < j.
    pub fn edge_list(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (1..self.n())
            .flat_map(move |j| (0..j).map(move |i| (i, j)))
            .filter(|&(i, j)| self.edges[pair(i, j)] != 0)
    }

    pub fn edge_count(&self) -> usize {
        self.edge_list().count()
    }

    /// The sub-pattern on `vertices`; its vertex i is `vertices[i]`.
    pub fn induced(&self, vertices: &[usize]) -> Small {
        let mut p = Small::EMPTY;
        for &v in vertices {
            let j = p.push(self.classes[v]);
            for (i, &u) in vertices[..j].iter().enumerate() {
                p.set_edge(i, j, self.edge(u, v));
            }
        }
        p
    }

    pub fn is_connected(&self) -> bool {
        let all = (1u32 << self.n) - 1;
        let mut seen = 1u32;
        loop {
            let next = (0..self.n())
                .filter(|&i| seen >> i & 1 == 1)
                .flat_map(|i| self.neighbours(i))
                .fold(seen, |next, j| next | 1 << j);
            if next == seen {
                return seen == all;
            }
            seen = next;
        }
    }

    /// The pattern with the labels of the graph.
    pub fn to_pattern(self, labels: &Labels, graph: View<'_>) -> Pattern {
        let mut p = Pattern::new(self.n());
        if graph.vertex_labels.is_some() {
            for i in 0..self.n() {
                p.set_vertex_label(i, labels.vertex(self.classes[i]));
            }
        }
        for (i, j) in self.edge_list() {
            p.add_edge(i, j);
            if graph.edge_labels.is_some() {
                p.set_edge_label(i, j, labels.edge(self.edge(i, j)));
            }
        }
        p
    }

    /// The code, equal for isomorphic patterns and only for those.
    pub fn canonical(&self) -> Canonical {
        Search::new(self).run()
    }
}

/// A code with the way to it.
#[derive(Clone, Copy)]
pub(super) struct Canonical {
    pub code: Small,
    /// Vertex i of the code is vertex `order[i]` of the pattern.
    pub order: [u8; MAX],
    /// Smallest vertex of the orbit under automorphisms, by vertex of the code.
    pub orbits: [u8; MAX],
}

/// Backtracking over the orders that keep an invariant ordered partition, for the one whose rows
/// (edges to earlier vertices) come first. Rows that exceed the best end a branch, and of twins
/// (vertices that may be swapped) only one is tried at a place.
struct Search<'a> {
    pattern: &'a Small,
    /// By vertex; isomorphic patterns have equal ones.
    invariants: [u64; MAX],
    /// By place: the invariant of the vertices that may stand there.
    cells: [u64; MAX],
    order: [u8; MAX],
    best: Option<[u8; MAX]>,
    /// By vertex: parent in the forest of orbits.
    orbits: [u8; MAX],
}

/// A mixer with good low and high bits; its values only order the cells.
#[inline]
fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ x >> 32
}

impl<'a> Search<'a> {
    fn new(pattern: &'a Small) -> Self {
        let n = pattern.n();
        let mut invariants = [0; MAX];
        for (i, invariant) in invariants.iter_mut().enumerate().take(n) {
            *invariant = mix(u64::from(pattern.classes[i]) + 1);
        }
        // Two rounds tell nearly all vertices of such small patterns apart.
        for _ in 0..if n > 4 { 3 } else { 2 } {
            let old = invariants;
            for (i, invariant) in invariants.iter_mut().enumerate().take(n) {
                let around = pattern.neighbours(i).fold(0u64, |sum, j| {
                    sum.wrapping_add(mix(old[j] ^ u64::from(pattern.edge(i, j)) << 20))
                });
                *invariant = mix(old[i].wrapping_mul(3).wrapping_add(around));
            }
        }
        let mut cells = invariants;
        cells[..n].sort_unstable();
        let orbits = std::array::from_fn(|i| i as u8);
        Search { pattern, invariants, cells, order: [0; MAX], best: None, orbits }
    }

    fn run(mut self) -> Canonical {
        let n = self.pattern.n();
        self.place(0, 0, true);
        let order = self.best.expect("an order of all vertices");
        let vertices: [usize; MAX] = order.map(usize::from);
        let mut orbits = [0; MAX];
        for i in 0..n {
            let root = self.root(vertices[i]);
            orbits[i] = (0..n).find(|&j| self.root(vertices[j]) == root).expect("itself") as u8;
        }
        Canonical { code: self.pattern.induced(&vertices[..n]), order, orbits }
    }

    fn root(&self, mut v: usize) -> usize {
        while self.orbits[v] as usize != v {
            v = self.orbits[v] as usize;
        }
        v
    }

    fn join(&mut self, u: usize, v: usize) {
        let (u, v) = (self.root(u), self.root(v));
        self.orbits[u.max(v)] = u.min(v) as u8;
    }

    /// Whether swapping `u` and `v` is an automorphism.
    fn twins(&self, u: usize, v: usize) -> bool {
        self.pattern.classes[u] == self.pattern.classes[v]
            && (0..self.pattern.n())
                .filter(|&w| w != u && w != v)
                .all(|w| self.pattern.edge(u, w) == self.pattern.edge(v, w))
    }

    /// Fills the places from `at` on; `equal`: the places before are as in the best order.
    /// Returns whether a new best order was found.
    fn place(&mut self, at: usize, used: u32, mut equal: bool) -> bool {
        let n = self.pattern.n();
        if at == n {
            match self.best {
                Some(best) if equal => {
                    let order = self.order;
                    for (&u, &v) in best[..n].iter().zip(&order[..n]) {
                        self.join(u as usize, v as usize);
                    }
                    return false;
                }
                _ => {
                    self.best = Some(self.order);
                    return true;
                }
            }
        }
        let mut improved = false;
        let mut tried = 0u32;
        for v in 0..n {
            if used >> v & 1 == 1 || self.invariants[v] != self.cells[at] {
                continue;
            }
            if let Some(u) = (0..v).find(|&u| tried >> u & 1 == 1 && self.twins(u, v)) {
                self.join(u, v);
                continue;
            }
            tried |= 1 << v;
            self.order[at] = v as u8;
            let mut still_equal = equal;
            if let Some(best) = self.best.filter(|_| equal) {
                let row = |order: &[u8; MAX]| {
                    let v = order[at] as usize;
                    let order = *order;
                    (0..at).map(move |q| (order[q] as usize, v))
                };
                let edge = |(u, v): (usize, usize)| self.pattern.edge(u, v);
                let class = |order: &[u8; MAX]| self.pattern.classes[order[at] as usize];
                let ours = class(&self.order)
                    .cmp(&class(&best))
                    .then_with(|| row(&self.order).map(edge).cmp(row(&best).map(edge)));
                match ours {
                    std::cmp::Ordering::Greater => continue,
                    std::cmp::Ordering::Equal => {}
                    std::cmp::Ordering::Less => still_equal = false,
                }
            }
            if self.place(at + 1, used | 1 << v, still_equal) {
                // The best order now begins as this one does.
                improved = true;
                equal = true;
            }
        }
        improved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_pattern::automorphism_orbits;

    fn random(next: &mut impl FnMut() -> u64, n: usize, most: (u64, u64)) -> Small {
        let (classes, labels) = (1 + next() % most.0, 1 + next() % most.1);
        loop {
            let mut p = Small::EMPTY;
            for j in 0..n {
                p.push((next() % classes) as u32);
                for i in 0..j {
                    if next() % 5 < 2 {
                        p.set_edge(i, j, 1 + (next() % labels) as u32);
                    }
                }
            }
            if p.is_connected() {
                return p;
            }
        }
    }

    fn generator(mut state: u64) -> impl FnMut() -> u64 {
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            mix(state)
        }
    }

    fn plain(p: &Small) -> Pattern {
        let mut q = Pattern::new(p.n());
        for i in 0..p.n() {
            q.set_vertex_label(i, p.class(i));
        }
        for (i, j) in p.edge_list() {
            q.add_edge(i, j);
            q.set_edge_label(i, j, p.edge(i, j));
        }
        q
    }

    #[test]
    fn codes_are_equal_exactly_for_isomorphic_patterns() {
        let mut next = generator(1);
        for round in 0..4000 {
            let n = 2 + round % 7;
            let p = random(&mut next, n, (3, 2));
            let mut order: Vec<usize> = (0..n).collect();
            for i in (1..n).rev() {
                order.swap(i, (next() % (i as u64 + 1)) as usize);
            }
            let q = p.induced(&order);
            let (a, b) = (p.canonical(), q.canonical());
            assert!(a.code == b.code);
            let to: Vec<usize> = a.order[..n].iter().map(|&v| v as usize).collect();
            assert!(p.induced(&to) == a.code, "the order leads to the code");
            // A pattern that differs in one place has the same code only if it is isomorphic.
            let mut other = p;
            other.set_edge(0, n - 1, if p.edge(0, n - 1) == 0 { 1 } else { 2 });
            let same = plain(&p).canonical().0 == plain(&other).canonical().0;
            assert_eq!(a.code == other.canonical().code, same);
        }
    }

    #[test]
    fn orbits_are_those_of_the_automorphisms() {
        let mut next = generator(2);
        for round in 0..3000 {
            let p = random(&mut next, 2 + round % 7, (2, 1));
            let Canonical { code, orbits, .. } = p.canonical();
            let pattern = plain(&code);
            let all = automorphism_orbits(&pattern);
            for (v, &first) in orbits[..code.n()].iter().enumerate() {
                let orbit = all[v];
                assert_eq!(first as u32, orbit.trailing_zeros(), "{pattern:?} vertex {v}");
            }
        }
    }
}
