#![doc = include_str!("../README.md")]

mod absence;
mod canonical;
pub mod closing;
mod deserialize;
mod file;
pub mod filter;
pub mod info;
mod input;
mod mappings;
mod name;
pub mod plan;
pub mod statistic;
pub mod task;
mod text;

pub use canonical::{
    Dictionary, automorphism_count, automorphism_orbits, automorphism_orbits_chain,
};
pub use file::parse_pattern;
pub use filter::Filter;
pub use info::TaskInfo;
pub use input::{LabelPlace, LabelText, Origin, PatternInput, read_pattern};
pub use name::{
    FAMILIES, label_text, labelled_name, labelled_name_as, labelled_name_in, name, named, names,
    other_names, similar,
};
pub use statistic::Statistic;
pub use task::Task;
pub use text::{parse_text, pattern_text};

use std::sync::LazyLock;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use gramer_graph::{Label, NO_LABEL};

/// Most vertices of a pattern.
pub const MAX_VERTICES: usize = 32;

/// Most vertices of a small pattern, whose adjacency bits fit in a number ([`Pattern::bits`]) and which has
/// a canonical form; the depth of the accelerator's ancestor buffers. Larger ones are matched alone.
pub const SMALL_VERTICES: usize = 16;

/// A set of pattern vertices: bit v is set where vertex v is in it.
pub type VertexSet = u32;

/// The set of the vertices 0 to `n` − 1, `n` up to [`MAX_VERTICES`].
pub fn all_vertices(n: usize) -> VertexSet {
    ((1u64 << n) - 1) as VertexSet
}

/// One line of an answer: a pattern with its count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The pattern; for motifs and frequent patterns in canonical form.
    pub pattern: Pattern,
    /// Number of occurrences, or the support where the task asks for that.
    pub count: u128,
}

/// A simple graph of up to 32 vertices. A label of [`NO_LABEL`] stands for any label.
///
/// ```
/// use gramer_pattern::{Pattern, automorphism_count, name};
///
/// let mut pattern = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]);
/// assert_eq!(name(&pattern), "tailed-triangle");
/// assert_eq!((pattern.edge_count(), pattern.degree(2)), (4, 3));
/// assert_eq!(Pattern::from_bits(4, pattern.bits()), pattern);
/// assert_eq!(automorphism_count(&pattern), 2);
/// // A label tells the two apart that an automorphism exchanged.
/// pattern.set_vertex_label(0, 7);
/// assert_eq!(automorphism_count(&pattern), 1);
/// ```
#[derive(Clone, Eq, Hash, PartialOrd, Ord)]
#[expect(
    clippy::derived_hash_with_manual_eq,
    reason = "the fields are compared as a derived implementation does"
)]
pub struct Pattern {
    /// Bit j of `adjacency[i]` is set where vertices i and j are neighbours.
    adjacency: Vec<VertexSet>,
    /// One per vertex, or empty: no vertex labels.
    vertex_labels: Vec<Label>,
    /// `(i, j, label)` with i < j, ascending, one per edge; empty: no edge labels.
    edge_labels: Vec<(u8, u8, Label)>,
    /// Bit j of `absent[i]` is set where the graph must not join the images of i and j; empty: no such pair.
    absent: Vec<VertexSet>,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        /// A vector without elements has no memory. To compare its bytes takes a microcode assist on processors with
        /// AVX-512, some 200 cycles, and lists compare patterns once an embedding.
        fn equal<T: PartialEq>(a: &[T], b: &[T]) -> bool {
            a.len() == b.len() && (a.is_empty() || a == b)
        }
        // Named one by one, so that no field is left out unseen.
        let Pattern { adjacency, vertex_labels, edge_labels, absent } = self;
        equal(adjacency, &other.adjacency)
            && equal(vertex_labels, &other.vertex_labels)
            && equal(edge_labels, &other.edge_labels)
            && equal(absent, &other.absent)
    }
}

impl Pattern {
    /// `vertices` vertices without an edge.
    ///
    /// # Panics
    /// If there are more than [`MAX_VERTICES`].
    pub fn new(vertices: usize) -> Self {
        assert!(vertices <= MAX_VERTICES, "a pattern has at most {MAX_VERTICES} vertices");
        Pattern {
            adjacency: vec![0; vertices],
            vertex_labels: vec![],
            edge_labels: vec![],
            absent: vec![],
        }
    }

    /// A pattern from its edges.
    ///
    /// # Panics
    /// If an edge is a loop or names a vertex that isn't there.
    pub fn from_edges(vertices: usize, edges: &[(usize, usize)]) -> Self {
        let mut p = Pattern::new(vertices);
        for &(i, j) in edges {
            p.add_edge(i, j);
        }
        p
    }

    /// The complete pattern.
    pub fn clique(vertices: usize) -> Self {
        let mut p = Pattern::new(vertices);
        for i in 0..vertices {
            for j in 0..i {
                p.add_edge(i, j);
            }
        }
        p
    }

    /// The complete patterns of up to [`SMALL_VERTICES`] vertices, by number of vertices.
    pub fn cliques() -> &'static [Pattern] {
        static CLIQUES: LazyLock<Vec<Pattern>> =
            LazyLock::new(|| (0..=SMALL_VERTICES).map(Pattern::clique).collect());
        &CLIQUES
    }

    /// A pattern from its adjacency bits: bit j (j − 1) / 2 + i is the edge i–j, i < j. This is
    /// the key of the dictionary in the accelerator's process stage.
    ///
    /// # Panics
    /// If there are more than [`SMALL_VERTICES`].
    pub fn from_bits(vertices: usize, bits: u128) -> Self {
        assert!(vertices <= SMALL_VERTICES, "the bits of {vertices} vertices are no number");
        let mut p = Pattern::new(vertices);
        for j in 1..vertices {
            for i in 0..j {
                if bits >> (j * (j - 1) / 2 + i) & 1 == 1 {
                    p.add_edge(i, j);
                }
            }
        }
        p
    }

    /// The adjacency bits; see [`Pattern::from_bits`].
    ///
    /// # Panics
    /// If there are more than [`SMALL_VERTICES`] vertices.
    pub fn bits(&self) -> u128 {
        let n = self.vertices();
        assert!(n <= SMALL_VERTICES, "the bits of {n} vertices are no number");
        let mut bits = 0;
        for j in 1..n {
            for i in 0..j {
                if self.has_edge(i, j) {
                    bits |= 1 << (j * (j - 1) / 2 + i);
                }
            }
        }
        bits
    }

    /// Adds the edge i–j (nothing happens if it is there).
    pub fn add_edge(&mut self, i: usize, j: usize) {
        assert!(i != j && i < self.vertices() && j < self.vertices() && !self.is_absent(i, j));
        self.adjacency[i] |= 1 << j;
        self.adjacency[j] |= 1 << i;
        if !self.edge_labels.is_empty()
            && let Err(at) = self.label_position(i, j)
        {
            self.edge_labels.insert(at, (i.min(j) as u8, i.max(j) as u8, NO_LABEL));
        }
    }

    /// Sets the label of vertex `i`; the others get [`NO_LABEL`] if they have none yet.
    pub fn set_vertex_label(&mut self, i: usize, label: Label) {
        if self.vertex_labels.is_empty() {
            self.vertex_labels = vec![NO_LABEL; self.vertices()];
        }
        self.vertex_labels[i] = label;
    }

    /// Sets the label of the edge i–j; the others get [`NO_LABEL`] if they have none yet.
    pub fn set_edge_label(&mut self, i: usize, j: usize, label: Label) {
        assert!(self.has_edge(i, j));
        if self.edge_labels.is_empty() {
            let edges = self.edges();
            self.edge_labels = edges.iter().map(|&(a, b)| (a as u8, b as u8, NO_LABEL)).collect();
        }
        let at = self.label_position(i, j).expect("each edge has an entry");
        self.edge_labels[at].2 = label;
    }

    /// Where the label of the edge i–j is, or would be.
    fn label_position(&self, i: usize, j: usize) -> Result<usize, usize> {
        let key = (i.min(j) as u8, i.max(j) as u8);
        self.edge_labels.binary_search_by_key(&key, |e| (e.0, e.1))
    }

    /// Number of vertices.
    #[inline]
    pub fn vertices(&self) -> usize {
        self.adjacency.len()
    }

    /// Whether i and j are neighbours.
    #[inline]
    pub fn has_edge(&self, i: usize, j: usize) -> bool {
        self.adjacency[i] >> j & 1 == 1
    }

    /// The neighbours of `i` as bits.
    #[inline]
    pub fn neighbours(&self, i: usize) -> VertexSet {
        self.adjacency[i]
    }

    /// Number of neighbours of `i`.
    pub fn degree(&self, i: usize) -> usize {
        self.adjacency[i].count_ones() as usize
    }

    /// Edges as (i, j), i < j, ascending.
    pub fn edges(&self) -> Vec<(usize, usize)> {
        let n = self.vertices();
        (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .filter(|&(i, j)| self.has_edge(i, j))
            .collect()
    }

    /// Number of edges.
    pub fn edge_count(&self) -> usize {
        self.adjacency.iter().map(|a| a.count_ones() as usize).sum::<usize>() / 2
    }

    /// Label of vertex `i`: [`NO_LABEL`] for any.
    #[inline]
    pub fn vertex_label(&self, i: usize) -> Label {
        self.vertex_labels.get(i).copied().unwrap_or(NO_LABEL)
    }

    /// Vertex labels, or an empty slice.
    pub fn vertex_labels(&self) -> &[Label] {
        &self.vertex_labels
    }

    /// Label of the edge i–j ([`NO_LABEL`] for any), or `None` where there is no edge.
    pub fn edge_label(&self, i: usize, j: usize) -> Option<Label> {
        if !self.has_edge(i, j) {
            return None;
        }
        Some(self.label_position(i, j).map_or(NO_LABEL, |at| self.edge_labels[at].2))
    }

    /// Whether any vertex asks for a label.
    pub fn has_vertex_labels(&self) -> bool {
        self.vertex_labels.iter().any(|&l| l != NO_LABEL)
    }

    /// Whether any edge asks for a label.
    pub fn has_edge_labels(&self) -> bool {
        self.edge_labels.iter().any(|e| e.2 != NO_LABEL)
    }

    /// Whether every vertex can be reached from vertex 0 (also true of no vertex).
    pub fn is_connected(&self) -> bool {
        self.components().len() <= 1
    }

    /// The vertices of each connected component, by their smallest vertex.
    pub fn components(&self) -> Vec<VertexSet> {
        let mut left = all_vertices(self.vertices());
        let mut components = vec![];
        while left != 0 {
            let mut component: VertexSet = 1 << left.trailing_zeros();
            loop {
                let in_it = |i: &usize| component >> i & 1 == 1;
                let reached = (0..self.vertices()).filter(in_it).map(|i| self.adjacency[i]);
                let grown = reached.fold(component, |all, row| all | row);
                if grown == component {
                    break;
                }
                component = grown;
            }
            components.push(component);
            left &= !component;
        }
        components
    }

    /// The same pattern with its vertices renumbered: new vertex i is old vertex `order[i]`.
    pub fn permuted(&self, order: &[usize]) -> Self {
        let n = self.vertices();
        assert_eq!(order.len(), n);
        self.induced(order)
    }

    /// The sub-pattern that `vertices` induce; new vertex i is old vertex `vertices[i]`.
    pub fn induced(&self, vertices: &[usize]) -> Self {
        let mut p = Pattern::new(vertices.len());
        for (i, &old) in vertices.iter().enumerate() {
            for (j, &other) in vertices.iter().enumerate() {
                if self.has_edge(old, other) {
                    p.adjacency[i] |= 1 << j;
                }
            }
        }
        if !self.vertex_labels.is_empty() {
            p.vertex_labels = vertices.iter().map(|&v| self.vertex_labels[v]).collect();
        }
        p.absent = self.induced_absences(vertices);
        if !self.edge_labels.is_empty() {
            p.edge_labels = p
                .edges()
                .into_iter()
                .map(|(i, j)| {
                    (i as u8, j as u8, self.edge_label(vertices[i], vertices[j]).expect("edge"))
                })
                .collect();
        }
        p
    }

    /// The pattern that the vertices `vertices` of a graph induce, with the labels that the
    /// graph has.
    pub fn of_embedding(
        graph: gramer_graph::View<'_>,
        vertices: &[gramer_graph::VertexId],
    ) -> Self {
        let mut p = Pattern::new(vertices.len());
        for (j, &v) in vertices.iter().enumerate() {
            for (i, &u) in vertices[..j].iter().enumerate() {
                if let Some(label) = graph.edge_label(u, v) {
                    p.add_edge(i, j);
                    if graph.edge_labels.is_some() {
                        p.set_edge_label(i, j, label);
                    }
                }
            }
        }
        if graph.vertex_labels.is_some() {
            p.vertex_labels = vertices.iter().map(|&v| graph.vertex_label(v)).collect();
        }
        p
    }
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pattern({} vertices, edges", self.vertices())?;
        for (i, j) in self.edges() {
            write!(f, " {i}-{j}")?;
            if let Some(label) = self.edge_label(i, j).filter(|&l| l != NO_LABEL) {
                write!(f, ":{label}")?;
            }
        }
        if !self.vertex_labels.is_empty() {
            write!(f, ", labels {:?}", self.vertex_labels)?;
        }
        for (i, j) in self.absences() {
            write!(f, " {i}!-{j}")?;
        }
        write!(f, ")")
    }
}

/// Labels in results: a number, or `null` for any label.
fn label_value(label: Label) -> Option<Label> {
    (label != NO_LABEL).then_some(label)
}

impl Serialize for Pattern {
    /// `{"vertices": 3, "edges": [[0,1],[0,2]], "labels": [4,1,null], "edge_labels": [7,null]}`;
    /// `labels` by vertex and `edge_labels` by edge are `null` where the pattern has none. Pairs that must not be joined
    /// are in `absent`, a field that is left out where there are none.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut s = serializer.serialize_struct("Pattern", 4 + usize::from(self.has_absences()))?;
        s.serialize_field("vertices", &self.vertices())?;
        s.serialize_field("edges", &self.edges())?;
        let labels: Option<Vec<_>> = (!self.vertex_labels.is_empty())
            .then(|| self.vertex_labels.iter().map(|&l| label_value(l)).collect());
        s.serialize_field("labels", &labels)?;
        let edge_labels: Option<Vec<_>> = (!self.edge_labels.is_empty())
            .then(|| self.edge_labels.iter().map(|e| label_value(e.2)).collect());
        s.serialize_field("edge_labels", &edge_labels)?;
        if self.has_absences() {
            s.serialize_field("absent", &self.absences())?;
        }
        s.end()
    }
}
