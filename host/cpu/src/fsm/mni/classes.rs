//! The graph by class.

use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::Result;
use gramer_base::memory::zeroed_or_unwind;
use gramer_graph::{VertexId, View};

use crate::fsm::labels::Labels;

/// The graph with its vertices numbered by class, so that the neighbours of one class are
/// together in a row and a domain needs the bits of its class only.
pub(super) struct Classes {
    /// By class: its first vertex; one more at the end.
    pub(super) start: Vec<u32>,
    pub(super) offsets: Vec<usize>,
    pub(super) targets: Vec<u32>,
    /// Parallel to `targets`: the edge's label; empty if there is only one.
    labels: Vec<u32>,
}

impl Classes {
    /// Fails once `cancel` is raised.
    pub(super) fn new(graph: View<'_>, labels: &Labels, cancel: &Cancel) -> Result<Self> {
        let mut looks = CancelPoll::new(cancel);
        let vertices = graph.vertices();
        let mut class: Vec<u32> = Vec::with_capacity(vertices);
        for v in 0..vertices as VertexId {
            looks.check(1)?;
            class.push(labels.class(graph, v));
        }
        let mut start = vec![0u32; labels.classes() + 1];
        for &c in &class {
            start[c as usize + 1] += 1;
        }
        for c in 0..labels.classes() {
            start[c + 1] += start[c];
        }
        let mut next = start.clone();
        let mut vertex = zeroed_or_unwind::<VertexId>(vertices);
        let mut number = zeroed_or_unwind::<u32>(vertices);
        for v in 0..vertices {
            looks.check(1)?;
            let at = &mut next[class[v] as usize];
            vertex[*at as usize] = v as VertexId;
            number[v] = *at;
            *at += 1;
        }
        let mut offsets = Vec::with_capacity(vertices + 1);
        offsets.push(0);
        let mut end = 0;
        for &v in &vertex {
            end += graph.degree(v);
            offsets.push(end);
        }
        // Sources in ascending order fill every row in ascending order.
        let mut cursor = offsets.clone();
        let mut targets = vec![0; end];
        let several = labels.edge_labels() > 1;
        let mut edge_labels = vec![0; if several { end } else { 0 }];
        for (n, &v) in vertex.iter().enumerate() {
            looks.check(1 + graph.degree(v))?;
            for at in graph.row(v) {
                let slot = &mut cursor[number[graph.neighbours[at] as usize] as usize];
                targets[*slot] = n as u32;
                if several {
                    edge_labels[*slot] = labels.entry(graph, at);
                }
                *slot += 1;
            }
        }
        Ok(Classes { start, offsets, targets, labels: edge_labels })
    }

    pub(super) fn of(&self, class: u32) -> std::ops::Range<u32> {
        self.start[class as usize]..self.start[class as usize + 1]
    }

    /// Positions of the neighbours of `v` of one class.
    #[inline]
    pub(super) fn neighbours(&self, v: u32, class: u32) -> std::ops::Range<usize> {
        let row = self.offsets[v as usize]..self.offsets[v as usize + 1];
        let targets = &self.targets[row.clone()];
        let class = self.of(class);
        let first = targets.partition_point(|&t| t < class.start);
        let len = targets[first..].partition_point(|&t| t < class.end);
        row.start + first..row.start + first + len
    }

    /// The same positions, one after the other. Cheaper where few are needed: their end isn't searched for.
    #[inline]
    pub(super) fn first_neighbours(&self, v: u32, class: u32) -> impl Iterator<Item = usize> {
        let row = self.offsets[v as usize]..self.offsets[v as usize + 1];
        let class = self.of(class);
        let before = self.targets[row.clone()].partition_point(|&t| t < class.start);
        (row.start + before..row.end).take_while(move |&at| self.targets[at] < class.end)
    }

    /// Label of the edge at a position.
    #[inline]
    pub(super) fn label(&self, at: usize) -> u32 {
        if self.labels.is_empty() { 1 } else { self.labels[at] }
    }

    pub(super) fn has_edge(&self, u: u32, v: u32, label: u32) -> bool {
        let degree = |v: u32| self.offsets[v as usize + 1] - self.offsets[v as usize];
        let (a, b) = if degree(u) <= degree(v) { (u, v) } else { (v, u) };
        let row = self.offsets[a as usize]..self.offsets[a as usize + 1];
        match self.targets[row.clone()].binary_search(&b) {
            Ok(at) => self.label(row.start + at) == label,
            Err(_) => false,
        }
    }
}
