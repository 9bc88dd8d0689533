//! The graph as minimum-image supports need it: vertices of one label are numbered in a row, so that a domain is
//! bits of one class.

use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_graph::{Graph, Label, NO_LABEL, VertexId};
use gramer_pattern::Pattern;

use crate::device::{Arg, Device};
use crate::memory::Buffer;

/// Vertices of one label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Class {
    pub first: u32,
    pub size: u32,
}

impl Class {
    pub fn words(self) -> usize {
        self.size.div_ceil(32) as usize
    }
}

/// A graph on the device with its vertices numbered by label.
pub(crate) struct ByLabel {
    /// Ascending.
    labels: Vec<Label>,
    classes: Vec<Class>,
    offsets: Buffer<u32>,
    targets: Buffer<u32>,
    /// Edge label by entry, if the graph has edge labels.
    pub edge_labels: Option<Buffer<u32>>,
}

impl ByLabel {
    /// Numbers the vertices, and puts the graph onto the device.
    ///
    /// # Errors
    /// [`gramer_base::Error::Unsupported`] if the budget is too small,
    /// [`gramer_base::Error::Interrupted`].
    pub fn new(device: &Device, graph: &Graph, context: &Context) -> Result<Self> {
        let view = graph.view();
        let vertices = view.vertices();
        let label = |v: VertexId| view.vertex_labels.map_or(NO_LABEL, |l| l[v as usize]);
        let mut vertex: Vec<VertexId> = (0..vertices as VertexId).collect();
        vertex.sort_by_key(|&v| label(v));
        context.cancel.check()?;
        let mut number = vec![0u32; vertices];
        let (mut labels, mut classes): (Vec<Label>, Vec<Class>) = (vec![], vec![]);
        for (at, &v) in vertex.iter().enumerate() {
            number[v as usize] = at as u32;
            if labels.last() != Some(&label(v)) {
                labels.push(label(v));
                classes.push(Class { first: at as u32, size: 0 });
            }
            classes.last_mut().expect("one was pushed").size += 1;
        }
        let mut offsets = vec![0u32];
        let mut targets = Vec::with_capacity(view.neighbours.len());
        let mut edge_labels = vec![];
        let mut row: Vec<(u32, Label)> = vec![];
        for (at, &v) in vertex.iter().enumerate() {
            if at % 4096 == 0 {
                context.cancel.check()?;
            }
            row.clear();
            let entry = |e: usize| {
                (number[view.neighbours[e] as usize], view.edge_labels.map_or(NO_LABEL, |l| l[e]))
            };
            row.extend(view.row(v).map(entry));
            row.sort_unstable();
            targets.extend(row.iter().map(|r| r.0));
            if view.edge_labels.is_some() {
                edge_labels.extend(row.iter().map(|r| r.1));
            }
            offsets.push(targets.len() as u32);
        }
        let place = device.place();
        let labels_of_edges = || Buffer::of(&place, &edge_labels, "edge labels");
        let edge_labels = view.edge_labels.map(|_| labels_of_edges()).transpose()?;
        Ok(ByLabel {
            labels,
            classes,
            offsets: Buffer::of(&place, &offsets, "the offsets by label")?,
            targets: Buffer::of(&place, &targets, "the edges by label")?,
            edge_labels,
        })
    }

    /// Ascending.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Returns the classes in the order of labels.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the vertices that may be images of a pattern's vertex.
    pub fn class(&self, pattern: &Pattern, vertex: usize) -> Class {
        let at = self.labels.binary_search(&pattern.vertex_label(vertex));
        self.classes[at.expect("patterns have labels of the graph")]
    }

    /// Words of the domains of a pattern: of the first vertex of each orbit.
    pub fn words(&self, pattern: &Pattern, orbits: &[usize]) -> usize {
        heads(orbits).map(|v| self.class(pattern, v).words()).sum()
    }

    /// Start of each vertex' domain among the concatenated domains of the pattern.
    pub fn firsts(&self, pattern: &Pattern, orbits: &[usize]) -> Vec<u32> {
        let (mut firsts, mut words) = (vec![0; orbits.len()], 0);
        for head in heads(orbits) {
            firsts[head] = words;
            words += self.class(pattern, head).words() as u32;
        }
        orbits.iter().map(|&head| firsts[head]).collect()
    }

    pub fn args(&self) -> [Arg; 5] {
        let labels = self.edge_labels.as_ref().unwrap_or(&self.targets);
        [
            Arg::Buffer(self.offsets.raw()),
            Arg::Buffer(self.targets.raw()),
            Arg::Buffer(labels.raw()),
            Arg::U32(self.offsets.len() as u32 - 1),
            Arg::U32(self.targets.len() as u32),
        ]
    }
}

/// The first vertices of orbits, of which `orbits` has one for each vertex.
pub(crate) fn heads(orbits: &[usize]) -> impl Iterator<Item = usize> + '_ {
    orbits.iter().enumerate().filter(|&(v, &head)| v == head).map(|(v, _)| v)
}
