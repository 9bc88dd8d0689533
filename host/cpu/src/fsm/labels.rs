//! Dense numbers for the labels of a graph.

use rustc_hash::FxHashMap;

use gramer_graph::{Label, NO_LABEL, VertexId, View};

/// The labels of a graph in ascending order. A vertex label's number is its place, called the
/// class of the vertex; an edge label's number is its place plus 1, because 0 stands for "no
/// edge". Without labels everything has one and the same label.
pub(super) struct Labels {
    vertices: Vec<Label>,
    edges: Vec<Label>,
    class_of: Lookup,
    edge_of: Lookup,
}

impl Labels {
    pub fn new(graph: View<'_>) -> Self {
        let (vertices, class_of) = graph.vertex_labels.map_or_else(unlabelled, dense);
        let (edges, edge_of) = graph.edge_labels.map_or_else(unlabelled, dense);
        Labels { vertices, edges, class_of, edge_of }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.vertices.len()
    }

    /// Number of edge labels; their numbers are 1 to this.
    pub fn edge_labels(&self) -> usize {
        self.edges.len()
    }

    /// Class of a vertex.
    #[inline]
    pub fn class(&self, graph: View<'_>, v: VertexId) -> u32 {
        graph.vertex_labels.map_or(0, |l| self.class_of.get(l[v as usize]))
    }

    /// Number of the label of the edge entry at position `at` of the neighbour array.
    #[inline]
    pub fn entry(&self, graph: View<'_>, at: usize) -> u32 {
        graph.edge_labels.map_or(1, |l| self.edge_of.get(l[at]) + 1)
    }

    /// The label of a class.
    pub fn vertex(&self, class: u32) -> Label {
        self.vertices[class as usize]
    }

    /// The label of an edge label's number (1 or more).
    pub fn edge(&self, number: u32) -> Label {
        self.edges[number as usize - 1]
    }
}

/// Map from a label to its index.
enum Lookup {
    Table(Vec<u32>),
    Map(FxHashMap<Label, u32>),
}

impl Lookup {
    #[inline]
    fn get(&self, label: Label) -> u32 {
        match self {
            Lookup::Table(places) => places[label as usize],
            Lookup::Map(places) => places[&label],
        }
    }
}

fn unlabelled() -> (Vec<Label>, Lookup) {
    (vec![NO_LABEL], Lookup::Table(vec![]))
}

/// Labels up to this many times the size of the array are numbered through a table.
const SPARSE: usize = 4;

fn dense(labels: &[Label]) -> (Vec<Label>, Lookup) {
    let largest = labels.iter().copied().max().map_or(0, |l| l as usize);
    if largest <= SPARSE * labels.len() + 1024 {
        let mut places = vec![u32::MAX; largest + 1];
        for &label in labels {
            places[label as usize] = 0;
        }
        let mut all = vec![];
        for (label, place) in places.iter_mut().enumerate().filter(|(_, place)| **place == 0) {
            *place = all.len() as u32;
            all.push(label as Label);
        }
        return (all, Lookup::Table(places));
    }
    let mut all: Vec<Label> = labels.to_vec();
    all.sort_unstable();
    all.dedup();
    let places = all.iter().enumerate().map(|(place, &label)| (label, place as u32)).collect();
    (all, Lookup::Map(places))
}
