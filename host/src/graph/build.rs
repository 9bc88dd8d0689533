//! From a list of edges to rows.

use rayon::prelude::*;

use super::{Graph, Label, Order, Parts, VertexId};

/// What was dropped when a graph was built from its input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuildStats {
    /// Edges read.
    pub raw_edges: u64,
    /// Edges from a vertex to itself, dropped.
    pub self_loops: u64,
    /// Edges that were there already, in either direction, dropped.
    pub duplicates: u64,
    /// Duplicates whose edge label differs from the one kept (the smallest).
    pub label_conflicts: u64,
}

/// Collects edges between original ids and turns them into a [`Graph`].
///
/// Vertices get numbers by ascending original id, so the result doesn't depend on the order in
/// which edges were added.
#[derive(Debug, Default)]
pub struct Builder {
    edges: Vec<(u64, u64)>,
    /// Parallel to `edges`, or empty.
    edge_labels: Vec<Label>,
    /// Ids that are in the graph even without an edge.
    declared: Vec<u64>,
    /// Labels by original id.
    vertex_labels: Vec<(u64, Label)>,
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an edge without label.
    pub fn edge(&mut self, u: u64, v: u64) {
        debug_assert!(self.edge_labels.is_empty());
        self.edges.push((u, v));
    }

    /// Adds an edge with a label. All edges have one, or none has.
    pub fn labelled_edge(&mut self, u: u64, v: u64, label: Label) {
        debug_assert_eq!(self.edges.len(), self.edge_labels.len());
        self.edges.push((u, v));
        self.edge_labels.push(label);
    }

    /// Adds many edges without label.
    pub fn edges(&mut self, edges: Vec<(u64, u64)>) {
        if self.edges.is_empty() { self.edges = edges } else { self.edges.extend(edges) }
    }

    /// Declares a vertex, which then exists even without an edge.
    pub fn vertex(&mut self, id: u64) {
        self.declared.push(id);
    }

    /// Declares a vertex with its label.
    pub fn labelled_vertex(&mut self, id: u64, label: Label) {
        self.declared.push(id);
        self.vertex_labels.push((id, label));
    }

    /// Builds the graph, in parallel. If any vertex has a label, those without get label 0.
    ///
    /// # Panics
    /// If there are more than 2^32 - 2 vertices.
    pub fn build(self) -> Graph {
        let Builder { edges, edge_labels, mut declared, vertex_labels } = self;
        let raw_edges = edges.len() as u64;

        // Ids in use, ascending. Where they are dense a table maps them, else a search does.
        let mut ids: Vec<u64> = Vec::new();
        let largest = edges
            .par_iter()
            .map(|&(u, v)| u.max(v))
            .max()
            .into_iter()
            .chain(declared.iter().copied())
            .max();
        let dense_limit = 4 * (2 * edges.len() + declared.len()) as u64 + 1024;
        let number: Box<dyn Fn(u64) -> VertexId + Sync>;
        match largest {
            None => number = Box::new(|_| unreachable!("no ids")),
            Some(largest) if largest < dense_limit => {
                let mut used = vec![false; largest as usize + 1];
                for &(u, v) in &edges {
                    used[u as usize] = true;
                    used[v as usize] = true;
                }
                for &id in &declared {
                    used[id as usize] = true;
                }
                let mut table = vec![VertexId::MAX; used.len()];
                for (id, _) in used.iter().enumerate().filter(|(_, used)| **used) {
                    table[id] = ids.len() as VertexId;
                    ids.push(id as u64);
                }
                number = Box::new(move |id| table[id as usize]);
            }
            Some(_) => {
                ids.reserve(2 * edges.len() + declared.len());
                ids.extend(edges.iter().flat_map(|&(u, v)| [u, v]));
                ids.append(&mut declared);
                ids.par_sort_unstable();
                ids.dedup();
                let ids = ids.clone();
                number =
                    Box::new(move |id| ids.binary_search(&id).expect("id is in use") as VertexId);
            }
        }
        assert!(ids.len() < VertexId::MAX as usize, "a graph has at most 2^32 - 2 vertices");
        let vertices = ids.len();

        let self_loops = edges.par_iter().filter(|(u, v)| u == v).count() as u64;
        // Both directions of every edge as one sortable key: source, target, then label.
        let (offsets, neighbours, labels, label_conflicts) = if edge_labels.is_empty() {
            let (offsets, neighbours) = rows(vertices, &edges, &number);
            (offsets, neighbours, None, 0)
        } else {
            let mut keys: Vec<(VertexId, VertexId, Label)> = edges
                .par_iter()
                .zip(&edge_labels)
                .filter(|((u, v), _)| u != v)
                .flat_map_iter(|(&(u, v), &label)| {
                    let (u, v) = (number(u), number(v));
                    [(u, v, label), (v, u, label)]
                })
                .collect();
            keys.par_sort_unstable();
            let conflicts = keys
                .chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
                .map(|same| same.iter().filter(|k| k.2 != same[0].2).count() as u64)
                .sum::<u64>()
                / 2;
            keys.dedup_by_key(|k| (k.0, k.1));
            let mut offsets = vec![0u64; vertices + 1];
            for k in &keys {
                offsets[k.0 as usize + 1] += 1;
            }
            for v in 0..vertices {
                offsets[v + 1] += offsets[v];
            }
            let neighbours: Vec<VertexId> = keys.iter().map(|k| k.1).collect();
            let labels: Vec<Label> = keys.iter().map(|k| k.2).collect();
            (offsets, neighbours, Some(labels), conflicts)
        };
        let duplicates = raw_edges - self_loops - neighbours.len() as u64 / 2;

        let labelled = !vertex_labels.is_empty();
        let mut by_vertex = vec![0; if labelled { vertices } else { 0 }];
        for (id, label) in vertex_labels {
            by_vertex[number(id) as usize] = label;
        }

        Graph::from_parts(Parts {
            offsets: offsets.into(),
            neighbours: neighbours.into(),
            vertex_labels: labelled.then(|| by_vertex.into()),
            edge_labels: labels.map(Into::into),
            original_ids: ids.into(),
            order: Order::Input,
            stats: BuildStats { raw_edges, self_loops, duplicates, label_conflicts },
        })
    }
}

/// Rows of the unlabelled graph: counting sort by source, then each row sorted and deduplicated.
fn rows(
    vertices: usize,
    edges: &[(u64, u64)],
    number: &(dyn Fn(u64) -> VertexId + Sync),
) -> (Vec<u64>, Vec<VertexId>) {
    let numbered: Vec<(VertexId, VertexId)> =
        edges.par_iter().filter(|(u, v)| u != v).map(|&(u, v)| (number(u), number(v))).collect();
    let mut start = vec![0usize; vertices + 1];
    for &(u, v) in &numbered {
        start[u as usize + 1] += 1;
        start[v as usize + 1] += 1;
    }
    for v in 0..vertices {
        start[v + 1] += start[v];
    }
    let mut cursor = start.clone();
    let mut raw = vec![0 as VertexId; 2 * numbered.len()];
    for &(u, v) in &numbered {
        raw[cursor[u as usize]] = v;
        cursor[u as usize] += 1;
        raw[cursor[v as usize]] = u;
        cursor[v as usize] += 1;
    }
    drop(numbered);
    // Rows are disjoint slices of `raw`.
    let mut rows: Vec<&mut [VertexId]> = Vec::with_capacity(vertices);
    let mut rest = raw.as_mut_slice();
    for v in 0..vertices {
        let (row, tail) = rest.split_at_mut(start[v + 1] - start[v]);
        rows.push(row);
        rest = tail;
    }
    let lengths: Vec<usize> = rows
        .par_iter_mut()
        .with_min_len(256)
        .map(|row| {
            row.sort_unstable();
            let mut kept = 0;
            for i in 0..row.len() {
                if kept == 0 || row[i] != row[kept - 1] {
                    row[kept] = row[i];
                    kept += 1;
                }
            }
            kept
        })
        .collect();
    drop(rows);
    let mut offsets = Vec::with_capacity(vertices + 1);
    offsets.push(0u64);
    let mut kept = 0usize;
    for v in 0..vertices {
        raw.copy_within(start[v]..start[v] + lengths[v], kept);
        kept += lengths[v];
        offsets.push(kept as u64);
    }
    raw.truncate(kept);
    (offsets, raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_duplicates_are_dropped_and_counted() {
        let mut b = Builder::new();
        for (u, v) in [(7, 3), (3, 7), (7, 7), (1_000_000_000_000, 3), (7, 3)] {
            b.edge(u, v);
        }
        let g = b.build();
        assert_eq!((g.vertices(), g.edges()), (3, 2));
        assert_eq!(g.original_ids(), [3, 7, 1_000_000_000_000]);
        assert_eq!(g.view().neighbours(0), [1, 2]);
        assert_eq!(g.view().neighbours(1), [0]);
        let expected =
            BuildStats { raw_edges: 5, self_loops: 1, duplicates: 2, label_conflicts: 0 };
        assert_eq!(g.stats(), expected);
    }

    #[test]
    fn of_two_edge_labels_the_smaller_is_kept() {
        let mut b = Builder::new();
        b.labelled_edge(0, 1, 9);
        b.labelled_edge(1, 0, 4);
        b.labelled_edge(1, 2, 5);
        let g = b.build();
        assert_eq!(g.view().edge_label(0, 1), Some(4));
        assert_eq!(g.view().edge_label(1, 0), Some(4));
        assert_eq!(g.view().edge_label(2, 1), Some(5));
        assert_eq!(g.view().edge_label(0, 2), None);
        assert_eq!(g.stats().label_conflicts, 1);
    }

    #[test]
    fn an_empty_builder_gives_an_empty_graph() {
        let g = Builder::new().build();
        assert_eq!((g.vertices(), g.edges()), (0, 0));
    }
}
