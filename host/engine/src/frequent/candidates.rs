//! Candidates for frequent patterns: kinds of edges, and patterns with a vertex or an edge more.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_base::parallel::on_threads;
use gramer_graph::{Graph, Label, NO_LABEL, VertexId};
use gramer_pattern::{Pattern, automorphism_orbits};

/// The label of one end, of the other, and of the edge.
pub type Kind = (Label, Label, Label);

/// The numbers below `all` that are a thread's.
pub fn part(all: usize, thread: usize, threads: usize) -> Range<usize> {
    all * thread / threads..all * (thread + 1) / threads
}

/// The edges of a graph by kind, the smaller label first; in the order of kinds, which all devices share.
///
/// # Errors
/// [`gramer_base::Error::Interrupted`].
pub fn kinds(graph: &Graph, context: &Context) -> Result<Vec<(Kind, u64)>> {
    let view = graph.view();
    let label = |v: VertexId| view.vertex_labels.map_or(NO_LABEL, |l| l[v as usize]);
    /// Arcs that are worth a thread.
    const ARCS: usize = 1 << 16;
    let threads = context.threads().min(view.neighbours.len() / ARCS).max(1);
    let parts = on_threads(threads, |thread| {
        let mut kinds: HashMap<Kind, u64> = HashMap::new();
        for v in part(view.vertices(), thread, threads) {
            if v % 4096 == 0 {
                context.cancel.check()?;
            }
            let v = v as VertexId;
            for e in view.row(v) {
                let u = view.neighbours[e];
                if u > v {
                    let (a, b) = (label(v).min(label(u)), label(v).max(label(u)));
                    *kinds
                        .entry((a, b, view.edge_labels.map_or(NO_LABEL, |l| l[e])))
                        .or_default() += 1;
                }
            }
        }
        Ok(kinds)
    });
    let mut kinds: HashMap<Kind, u64> = HashMap::new();
    for part in parts {
        part?.into_iter().for_each(|(kind, n)| *kinds.entry(kind).or_default() += n);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_unstable();
    Ok(kinds)
}

/// The kinds of labels that a graph has.
#[derive(Clone, Copy)]
pub struct LabelKinds {
    /// Vertices have labels.
    pub vertices: bool,
    /// Edges have labels.
    pub edges: bool,
}

impl LabelKinds {
    /// Kinds of a graph's edges.
    pub fn of(graph: &Graph) -> Self {
        LabelKinds { vertices: graph.has_vertex_labels(), edges: graph.has_edge_labels() }
    }

    /// The pattern of one edge.
    pub fn edge(self, (a, b, label): Kind) -> Pattern {
        let mut pattern = self.wider(&Pattern::new(1), b);
        if self.vertices {
            pattern.set_vertex_label(0, a);
        }
        self.add(&mut pattern, 0, 1, label);
        pattern
    }

    /// The pattern with a vertex more.
    pub fn wider(self, pattern: &Pattern, label: Label) -> Pattern {
        let n = pattern.vertices();
        let mut wider = Pattern::new(n + 1);
        if self.vertices {
            (0..n).for_each(|v| wider.set_vertex_label(v, pattern.vertex_label(v)));
            wider.set_vertex_label(n, label);
        }
        for (i, j) in pattern.edges() {
            self.add(&mut wider, i, j, pattern.edge_label(i, j).unwrap_or(NO_LABEL));
        }
        wider
    }

    /// Adds an edge to a pattern.
    pub fn add(self, pattern: &mut Pattern, i: usize, j: usize, label: Label) {
        pattern.add_edge(i, j);
        if self.edges {
            pattern.set_edge_label(i, j, label);
        }
    }
}

/// Possible extensions of a vertex: labels of the other end and of the edge, by its label.
pub fn around(kinds: impl Iterator<Item = Kind>) -> HashMap<Label, Vec<(Label, Label)>> {
    let mut around: HashMap<Label, Vec<(Label, Label)>> = HashMap::new();
    for (a, b, label) in kinds {
        around.entry(a).or_default().push((b, label));
        if a != b {
            around.entry(b).or_default().push((a, label));
        }
    }
    around.values_mut().for_each(|list| list.sort_unstable());
    around
}

/// The pattern with another vertex, in every way that kinds of edges allow.
pub fn with_vertex(
    labelled: LabelKinds,
    pattern: &Pattern,
    around: &HashMap<Label, Vec<(Label, Label)>>,
) -> Vec<Pattern> {
    let n = pattern.vertices();
    let labels: BTreeSet<Label> = (0..n)
        .filter_map(|v| around.get(&pattern.vertex_label(v)))
        .flat_map(|list| list.iter().map(|&(other, _)| other))
        .collect();
    let mut all = vec![];
    for label in labels {
        // Vertex by vertex: no edge, or one of each label.
        let mut ways = vec![(labelled.wider(pattern, label), false)];
        for v in 0..n {
            let near = around.get(&pattern.vertex_label(v)).map_or(&[][..], Vec::as_slice);
            let edges: Vec<Label> =
                near.iter().filter(|&&(other, _)| other == label).map(|&(_, edge)| edge).collect();
            for at in 0..ways.len() {
                for &edge in &edges {
                    let mut way = ways[at].0.clone();
                    labelled.add(&mut way, v, n, edge);
                    ways.push((way, true));
                }
            }
        }
        all.extend(ways.into_iter().filter(|way| way.1).map(|way| way.0));
    }
    all
}

/// Calls `add` with the pattern with an edge more, in every way that kinds of edges allow.
pub fn with_edge(
    labelled: LabelKinds,
    pattern: &Pattern,
    around: &HashMap<Label, Vec<(Label, Label)>>,
    max_vertices: usize,
    mut add: impl FnMut(Pattern),
) {
    let nothing = vec![];
    let n = pattern.vertices();
    let heads = orbits(pattern);
    for (v, &head) in heads.iter().enumerate() {
        let near = around.get(&pattern.vertex_label(v)).unwrap_or(&nothing);
        if n < max_vertices && head == v {
            for &(other, edge) in near {
                let mut wider = labelled.wider(pattern, other);
                labelled.add(&mut wider, v, n, edge);
                add(wider);
            }
        }
        for u in (v + 1..n).filter(|&u| !pattern.has_edge(v, u)) {
            for &(_, edge) in near.iter().filter(|k| k.0 == pattern.vertex_label(u)) {
                let mut closed = pattern.clone();
                labelled.add(&mut closed, v, u, edge);
                add(closed);
            }
        }
    }
}

/// First vertex of the orbit, by vertex.
pub fn orbits(pattern: &Pattern) -> Vec<usize> {
    automorphism_orbits(pattern).iter().map(|orbit| orbit.trailing_zeros() as usize).collect()
}
