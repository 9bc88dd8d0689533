//! Small graphs, and an oracle that answers every task by brute force from the definitions. The oracle uses
//! nothing of the library but its types.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use gramer_graph::Graph;
use gramer_graph::{Builder, Label, NO_LABEL};
use gramer_pattern::Pattern;

mod random;

pub use random::{Labels, PLAIN, config, graphs, patterns};

/// A graph of a few vertices as a matrix.
#[derive(Clone, PartialEq)]
pub struct Small {
    /// `edges[u][v]`: the label of the edge (0 without edge labels), or none.
    pub edges: Vec<Vec<Option<Label>>>,
    /// The label of each vertex, if they have some.
    pub vertex_labels: Option<Vec<Label>>,
    /// Whether edges have labels.
    pub edge_labels: bool,
}

/// What a pattern is, up to isomorphism: the number of vertices, their labels, then for each pair
/// 0 or the label of its edge and 1; of all the orders that sort the vertices by label and degree,
/// the smallest such list.
pub type Key = Vec<u64>;

/// Occurrences by pattern.
pub type Counts = BTreeMap<Key, u128>;

impl std::fmt::Debug for Small {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} vertices, edges", self.n())?;
        for (u, v, label) in self.edge_list() {
            write!(f, " {u}-{v}")?;
            if self.edge_labels {
                write!(f, ":{label}")?;
            }
        }
        write!(f, ", labels {:?}", self.vertex_labels)
    }
}

impl Small {
    /// `n` vertices without edges or labels.
    pub fn new(n: usize) -> Self {
        Small { edges: vec![vec![None; n]; n], vertex_labels: None, edge_labels: false }
    }

    /// `n` vertices with these edges and no labels.
    pub fn from_edges(n: usize, edges: &[(usize, usize)]) -> Self {
        let mut small = Small::new(n);
        for &(u, v) in edges {
            small.edges[u][v] = Some(0);
            small.edges[v][u] = Some(0);
        }
        small
    }

    /// Number of vertices.
    pub fn n(&self) -> usize {
        self.edges.len()
    }

    /// Each edge once, its smaller vertex first, with its label.
    pub fn edge_list(&self) -> Vec<(usize, usize, Label)> {
        let pairs = (0..self.n()).flat_map(|u| (u + 1..self.n()).map(move |v| (u, v)));
        pairs.filter_map(|(u, v)| Some((u, v, self.edges[u][v]?))).collect()
    }

    /// Number of neighbours.
    pub fn degree(&self, v: usize) -> usize {
        self.edges[v].iter().flatten().count()
    }

    /// The graph of the library; original ids are the numbers here.
    pub fn graph(&self) -> Graph {
        let mut b = Builder::new();
        for v in 0..self.n() as u64 {
            match &self.vertex_labels {
                Some(labels) => b.labelled_vertex(v, labels[v as usize]),
                None => b.vertex(v),
            }
        }
        for (u, v, label) in self.edge_list() {
            if self.edge_labels {
                b.labelled_edge(u as u64, v as u64, label);
            } else {
                b.edge(u as u64, v as u64);
            }
        }
        b.build()
    }

    /// The same graph with vertex i renamed `to[i]`.
    pub fn renamed(&self, to: &[usize]) -> Small {
        let n = self.n();
        let mut other = self.clone();
        for u in 0..n {
            for v in 0..n {
                other.edges[to[u]][to[v]] = self.edges[u][v];
            }
            if let (Some(labels), Some(mine)) = (&mut other.vertex_labels, &self.vertex_labels) {
                labels[to[u]] = mine[u];
            }
        }
        other
    }

    /// All sets of `k` vertices.
    fn subsets(&self, k: usize) -> impl Iterator<Item = Vec<usize>> {
        let n = self.n();
        (0u32..1 << n)
            .filter(move |set| set.count_ones() as usize == k)
            .map(move |set| (0..n).filter(|&v| set >> v & 1 == 1).collect())
    }

    /// The part with these vertices and those of its edges that `keep` names by position.
    fn part(&self, vertices: &[usize], keep: impl Fn(usize, usize) -> bool) -> Small {
        let k = vertices.len();
        let mut part = Small::new(k);
        part.edge_labels = self.edge_labels;
        for i in 0..k {
            for j in 0..k {
                part.edges[i][j] = self.edges[vertices[i]][vertices[j]].filter(|_| keep(i, j));
            }
        }
        part.vertex_labels =
            self.vertex_labels.as_ref().map(|l| vertices.iter().map(|&v| l[v]).collect());
        part
    }

    fn induced(&self, vertices: &[usize]) -> Small {
        self.part(vertices, |_, _| true)
    }

    /// The same graph without labels.
    pub fn without_labels(&self) -> Small {
        let mut plain = self.part(&(0..self.n()).collect::<Vec<_>>(), |_, _| true);
        plain.vertex_labels = None;
        plain.edge_labels = false;
        plain.edges.iter_mut().flatten().flatten().for_each(|label| *label = 0);
        plain
    }

    /// Whether every vertex is reached from the first one.
    pub fn is_connected(&self) -> bool {
        let ends: Vec<(usize, usize)> = self.edge_list().iter().map(|&(u, v, _)| (u, v)).collect();
        connects(self.n(), &ends)
    }

    fn is_complete(&self) -> bool {
        self.edge_list().len() == self.n() * (self.n() - 1) / 2
    }

    fn listed(&self, order: &[usize]) -> Key {
        let mut list = vec![self.n() as u64];
        list.extend(order.iter().map(|&v| self.vertex_labels.as_ref().map_or(0, |l| l[v].into())));
        for (j, &v) in order.iter().enumerate() {
            list.extend(order[..j].iter().map(|&u| self.edges[u][v].map_or(0, |l| 1 + l as u64)));
        }
        list
    }

    /// See [`Key`].
    pub fn key(&self) -> Key {
        thread_local! {
            static KNOWN: RefCell<HashMap<Key, Key>> = RefCell::default();
        }
        let mut order: Vec<usize> = (0..self.n()).collect();
        let own = self.listed(&order);
        if let Some(key) = KNOWN.with_borrow(|known| known.get(&own).cloned()) {
            return key;
        }
        let class = |v: usize| (self.vertex_labels.as_ref().map_or(0, |l| l[v]), self.degree(v));
        order.sort_by_key(|&v| class(v));
        let classes: Vec<_> = order.iter().map(|&v| class(v)).collect();
        let mut least = self.listed(&order);
        permutations(&mut order, &classes, 0, &mut |order| {
            least = std::mem::take(&mut least).min(self.listed(order));
        });
        KNOWN.with_borrow_mut(|known| known.insert(own, least.clone()));
        least
    }

    /// Complete subgraphs of `k` vertices.
    pub fn cliques(&self, k: usize) -> u128 {
        self.subsets(k).filter(|s| self.induced(s).is_complete()).count() as u128
    }

    /// Maximal cliques by size.
    pub fn maximal_cliques(&self) -> BTreeMap<usize, u128> {
        let mut by_size = BTreeMap::new();
        for k in 1..=self.n() {
            for set in self.subsets(k).filter(|s| self.induced(s).is_complete()) {
                let extends =
                    |v: usize| !set.contains(&v) && set.iter().all(|&u| self.edges[u][v].is_some());
                if !(0..self.n()).any(extends) {
                    *by_size.entry(k).or_default() += 1;
                }
            }
        }
        by_size
    }

    /// Connected sets of k vertices.
    pub fn connected_sets(&self, k: usize) -> u64 {
        self.subsets(k).filter(|s| self.induced(s).is_connected()).count() as u64
    }

    /// Vertex-induced connected subgraphs of k vertices by pattern, labels included.
    pub fn induced_patterns(&self, k: usize) -> Counts {
        let mut counts = Counts::new();
        for set in self.subsets(k) {
            let part = self.induced(&set);
            if part.is_connected() {
                *counts.entry(part.key()).or_default() += 1;
            }
        }
        counts
    }

    /// Vertex-induced motifs: without labels.
    pub fn motifs_by_vertices(&self, k: usize) -> Counts {
        self.without_labels().induced_patterns(k)
    }

    /// Edge-induced motifs: sets of edges that connect k vertices.
    pub fn motifs_by_edges(&self, k: usize) -> Counts {
        let mut counts = Counts::new();
        let plain = self.without_labels();
        for set in plain.subsets(k) {
            let whole = plain.induced(&set);
            let edges = whole.edge_list();
            for chosen in 0u64..1 << edges.len() {
                let chosen: Vec<(usize, usize)> = edges
                    .iter()
                    .enumerate()
                    .filter(|(e, _)| chosen >> e & 1 == 1)
                    .map(|(_, &(u, v, _))| (u, v))
                    .collect();
                if connects(k, &chosen) {
                    *counts.entry(Small::from_edges(k, &chosen).key()).or_default() += 1;
                }
            }
        }
        counts
    }

    /// Frequent labelled patterns of 2 to `largest` vertices by vertex-induced embeddings: at
    /// least `support` of them, and every connected part with one vertex fewer reported.
    pub fn frequent_by_embeddings(&self, largest: usize, support: u64) -> Counts {
        let mut reported = Counts::new();
        for k in 2..=largest {
            let mut candidates: BTreeMap<Key, (Small, u128)> = BTreeMap::new();
            for set in self.subsets(k) {
                let part = self.induced(&set);
                if part.is_connected() {
                    candidates.entry(part.key()).or_insert((part, 0)).1 += 1;
                }
            }
            for (key, (part, count)) in candidates {
                let reported_part = |left_out: usize| {
                    let rest: Vec<usize> = (0..k).filter(|&v| v != left_out).collect();
                    let smaller = part.induced(&rest);
                    !smaller.is_connected() || reported.contains_key(&smaller.key())
                };
                if count >= support as u128 && (k == 2 || (0..k).all(reported_part)) {
                    reported.insert(key, count);
                }
            }
        }
        reported
    }

    /// Frequent labelled patterns by minimum-image support: every connected set of edges, of up
    /// to so many vertices and edges, is a pattern; its support is the least number of vertices
    /// that one of its vertices is mapped to.
    pub fn frequent_by_images(&self, vertices: usize, edges: usize, support: u64) -> Counts {
        let all = self.edge_list();
        let mut patterns: BTreeMap<Key, Small> = BTreeMap::new();
        for chosen in 1u64..1 << all.len() {
            if chosen.count_ones() as usize > edges {
                continue;
            }
            let of = all.iter().enumerate().filter(|(e, _)| chosen >> e & 1 == 1).map(|(_, e)| e);
            let ends: BTreeSet<usize> = of.clone().flat_map(|&(u, v, _)| [u, v]).collect();
            if ends.len() > vertices {
                continue;
            }
            let ends: Vec<usize> = ends.into_iter().collect();
            let kept: BTreeSet<(usize, usize)> = of.map(|&(u, v, _)| (u, v)).collect();
            let part = self
                .part(&ends, |i, j| kept.contains(&(ends[i].min(ends[j]), ends[i].max(ends[j]))));
            if part.is_connected() {
                patterns.entry(part.key()).or_insert(part);
            }
        }
        let mut frequent = Counts::new();
        for (key, pattern) in patterns {
            let mut images = vec![BTreeSet::new(); pattern.n()];
            self.mappings(&pattern, false, &mut |mapping| {
                mapping.iter().zip(&mut images).for_each(|(&v, images)| _ = images.insert(v));
            });
            let least = images.iter().map(BTreeSet::len).min().unwrap_or(0);
            if least as u64 >= support {
                frequent.insert(key, least as u128);
            }
        }
        frequent
    }

    /// Calls `each` with every injective mapping of the pattern's vertices that keeps labels
    /// ([`NO_LABEL`] goes with any) and edges; with `induced` also the absence of edges.
    pub fn mappings(&self, pattern: &Small, induced: bool, each: &mut dyn FnMut(&[usize])) {
        self.map_on(pattern, induced, &mut vec![], each);
    }

    fn map_on(
        &self,
        pattern: &Small,
        induced: bool,
        mapping: &mut Vec<usize>,
        each: &mut dyn FnMut(&[usize]),
    ) {
        let i = mapping.len();
        if i == pattern.n() {
            return each(mapping);
        }
        let same = |wanted: Label, label: Label| wanted == NO_LABEL || wanted == label;
        for v in 0..self.n() {
            let label = self.vertex_labels.as_ref().map_or(0, |l| l[v]);
            let fits = pattern.vertex_labels.as_ref().is_none_or(|l| same(l[i], label))
                && mapping.iter().enumerate().all(|(j, &u)| {
                    u != v
                        && match (pattern.edges[j][i], self.edges[u][v]) {
                            (Some(wanted), Some(label)) => {
                                !pattern.edge_labels || same(wanted, label)
                            }
                            (Some(_), None) => false,
                            (None, Some(_)) => !induced,
                            (None, None) => true,
                        }
                });
            if fits {
                mapping.push(v);
                self.map_on(pattern, induced, mapping, each);
                mapping.pop();
            }
        }
    }

    /// Mappings of a pattern, and its occurrences: the different images, a set of vertices with a
    /// set of edges.
    pub fn matches(&self, pattern: &Small, induced: bool) -> (u128, u128) {
        let edges = pattern.edge_list();
        let mut images = BTreeSet::new();
        let mut mappings = 0;
        self.mappings(pattern, induced, &mut |mapping| {
            mappings += 1;
            let vertices: BTreeSet<usize> = mapping.iter().copied().collect();
            let edges: BTreeSet<(usize, usize)> = edges
                .iter()
                .map(|&(i, j, _)| (mapping[i].min(mapping[j]), mapping[i].max(mapping[j])))
                .collect();
            images.insert((vertices, edges));
        });
        (mappings, images.len() as u128)
    }

    /// As a pattern of the library.
    pub fn pattern(&self) -> Pattern {
        let mut p = Pattern::new(self.n());
        for (u, v, label) in self.edge_list() {
            p.add_edge(u, v);
            if self.edge_labels {
                p.set_edge_label(u, v, label);
            }
        }
        for (v, &label) in self.vertex_labels.iter().flatten().enumerate() {
            p.set_vertex_label(v, label);
        }
        p
    }

    /// From a pattern of the library.
    pub fn of_pattern(p: &Pattern) -> Small {
        let mut small = Small::new(p.vertices());
        small.edge_labels = p.has_edge_labels();
        for (u, v) in p.edges() {
            let label = p.edge_label(u, v).filter(|_| small.edge_labels).or(Some(0));
            small.edges[u][v] = label;
            small.edges[v][u] = label;
        }
        if p.has_vertex_labels() {
            small.vertex_labels = Some((0..p.vertices()).map(|i| p.vertex_label(i)).collect());
        }
        small
    }
}

/// Whether the edges connect all of `n` vertices.
fn connects(n: usize, edges: &[(usize, usize)]) -> bool {
    let mut reached = 1u64;
    loop {
        let mut more = reached;
        for &(u, v) in edges {
            if reached & (1 << u | 1 << v) != 0 {
                more |= 1 << u | 1 << v;
            }
        }
        if more == reached {
            return reached.count_ones() as usize == n;
        }
        reached = more;
    }
}

/// Calls `each` with every order that puts places of one class in another way.
fn permutations<C: PartialEq>(
    order: &mut [usize],
    classes: &[C],
    fixed: usize,
    each: &mut dyn FnMut(&[usize]),
) {
    if fixed == order.len() {
        return each(order);
    }
    for i in (fixed..order.len()).filter(|&i| classes[i] == classes[fixed]) {
        order.swap(fixed, i);
        permutations(order, classes, fixed + 1, each);
        order.swap(fixed, i);
    }
}

/// The results of an engine by pattern.
///
/// # Panics
/// If a pattern comes twice.
pub fn counts(outcome: &gramer_engine::Outcome) -> Counts {
    assert!(outcome.complete);
    let mut counts = Counts::new();
    for c in &outcome.results {
        let twice = counts.insert(Small::of_pattern(&c.pattern).key(), c.count);
        assert_eq!(twice, None, "{:?} comes twice", c.pattern);
    }
    counts
}

/// The same without the patterns that don't occur.
pub fn occurring(mut counts: Counts) -> Counts {
    counts.retain(|_, &mut count| count > 0);
    counts
}
