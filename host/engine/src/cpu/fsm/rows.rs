//! The part of a graph in which vertex-induced embeddings are looked for.

use gramer_graph::context::{Cancel, Looks};
use gramer_graph::error::{Error, Result};
use gramer_graph::{VertexId, View};

use super::labels::Labels;
use super::tally::{Tally, bits_for};

/// A graph's vertices that have a frequent edge, with all edges between them: an edge that isn't
/// frequent must be known too, because it makes every embedding with both its ends worthless.
///
/// Vertices are numbered by ascending degree. An embedding is looked for from its smallest
/// vertex, so the hubs, which are the largest, start only what is among themselves.
pub(super) struct Rows {
    offsets: Vec<usize>,
    /// Neighbours, ascending in a row.
    targets: Vec<u32>,
    /// Parallel to `targets`: the number of the edge's label among those of frequent edges, from
    /// 1; [`Rows::forbidden`] for an edge that isn't frequent.
    labels: Vec<u32>,
    classes: Vec<u32>,
    /// Vertices of the graph by number here.
    originals: Vec<VertexId>,
    /// By number of an edge label here: its number in [`Labels`].
    label_numbers: Vec<u32>,
    pub forbidden: u32,
    /// Bits that hold an edge label's number here, or `forbidden` where there is such an edge.
    pub width: u32,
}

/// Which edges are counted as one: classes of the ends, smaller first, and the label.
pub(super) struct EdgeKinds {
    class_bits: u32,
    label_bits: u32,
}

impl EdgeKinds {
    pub fn new(labels: &Labels) -> Self {
        EdgeKinds {
            class_bits: bits_for(labels.classes().saturating_sub(1)),
            label_bits: bits_for(labels.edge_labels()),
        }
    }

    /// Bits of a key.
    pub fn bits(&self) -> u32 {
        2 * self.class_bits + self.label_bits
    }

    #[inline]
    pub fn key(&self, a: u32, b: u32, label: u32) -> u128 {
        let high = u128::from(a.min(b)) << self.class_bits | u128::from(a.max(b));
        high << self.label_bits | u128::from(label)
    }

    /// Classes and label of a key.
    pub fn of_key(&self, key: u128) -> (u32, u32, u32) {
        let low = |key: u128, bits: u32| (key & ((1 << bits) - 1)) as u32;
        let ends = key >> self.label_bits;
        (
            low(ends >> self.class_bits, self.class_bits),
            low(ends, self.class_bits),
            low(key, self.label_bits),
        )
    }
}

impl Rows {
    /// The part of `graph` for patterns of up to `max` vertices whose edges occur at least
    /// `support` times by `kinds` and `counts`.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the labels of a vertex's edges to max − 1 others don't fit 64
    /// bits: more than 510 frequent edge labels for 8 vertices, 1,022 for 7, 4,094 for 6, 65,534
    /// for 5, 2 M for 4. [`Error::Interrupted`] once `cancel` is raised.
    pub fn new(
        graph: View<'_>,
        labels: &Labels,
        kinds: &EdgeKinds,
        counts: &Tally,
        support: u64,
        max: usize,
        cancel: &Cancel,
    ) -> Result<Rows> {
        let mut looks = Looks::new(cancel);
        let mut numbers = vec![0u32; labels.edge_labels() + 1];
        let mut label_numbers = vec![0];
        for (key, count) in counts.iter() {
            let (.., label) = kinds.of_key(key);
            if count >= i128::from(support) && numbers[label as usize] == 0 {
                numbers[label as usize] = label_numbers.len() as u32;
                label_numbers.push(label);
            }
        }
        let forbidden = label_numbers.len() as u32;
        let class: Vec<u32> =
            (0..graph.vertices() as VertexId).map(|v| labels.class(graph, v)).collect();
        let number = |v: VertexId, at: usize| {
            let (a, b) = (class[v as usize], class[graph.neighbours[at] as usize]);
            let label = labels.entry(graph, at);
            let frequent = counts.get(kinds.key(a, b, label)) >= i128::from(support);
            if frequent { numbers[label as usize] } else { forbidden }
        };

        let mut any_forbidden = false;
        let mut originals: Vec<VertexId> = vec![];
        for v in 0..graph.vertices() as VertexId {
            looks.check(1 + graph.degree(v))?;
            let mut keep = false;
            for at in graph.row(v) {
                let frequent = number(v, at) != forbidden;
                keep |= frequent;
                any_forbidden |= !frequent;
            }
            if keep {
                originals.push(v);
            }
        }
        let width = bits_for(forbidden as usize - usize::from(!any_forbidden)).max(1);
        if width as usize * (max - 1) > 64 {
            return Err(Error::Unsupported(format!(
                "the graph has {} edge labels on frequent edges, too many for patterns of {max} \
                 vertices; lower the largest number of vertices, raise the support, or leave the edge labels out",
                forbidden - 1
            )));
        }
        originals.sort_by_key(|&v| graph.degree(v));

        let mut here = vec![u32::MAX; graph.vertices()];
        for (new, &old) in originals.iter().enumerate() {
            here[old as usize] = new as u32;
        }
        let mut offsets = Vec::with_capacity(originals.len() + 1);
        offsets.push(0);
        for &v in &originals {
            looks.check(1 + graph.degree(v))?;
            let kept =
                graph.neighbours(v).iter().filter(|&&u| here[u as usize] != u32::MAX).count();
            offsets.push(offsets[offsets.len() - 1] + kept);
        }
        let entries = offsets[originals.len()];
        let (mut targets, mut edge_labels) = (vec![0; entries], vec![0; entries]);
        let mut cursor = offsets.clone();
        // Sources ascend, so every row does.
        for (new, &old) in originals.iter().enumerate() {
            looks.check(1 + graph.degree(old))?;
            for at in graph.row(old) {
                let to = here[graph.neighbours[at] as usize];
                if to != u32::MAX {
                    let cursor = &mut cursor[to as usize];
                    targets[*cursor] = new as u32;
                    edge_labels[*cursor] = number(old, at);
                    *cursor += 1;
                }
            }
        }
        let classes = originals.iter().map(|&v| class[v as usize]).collect();
        Ok(Rows {
            offsets,
            targets,
            labels: edge_labels,
            classes,
            originals,
            label_numbers,
            forbidden,
            width,
        })
    }

    pub fn vertices(&self) -> usize {
        self.originals.len()
    }

    #[inline]
    pub fn class(&self, v: u32) -> u32 {
        self.classes[v as usize]
    }

    /// The vertices of the graph by number.
    pub fn originals(&self) -> &[VertexId] {
        &self.originals
    }

    /// The vertex of the graph.
    pub fn original(&self, v: u32) -> VertexId {
        self.originals[v as usize]
    }

    /// The number in [`Labels`] of an edge label of this part.
    pub fn label_number(&self, label: u32) -> u32 {
        self.label_numbers[label as usize]
    }

    /// Number of frequent edge labels; theirs are the numbers 1 to this.
    pub fn edge_labels(&self) -> usize {
        self.label_numbers.len() - 1
    }

    pub fn degree(&self, v: u32) -> usize {
        self.offsets[v as usize + 1] - self.offsets[v as usize]
    }

    /// All neighbours of `v` with the labels of the edges.
    #[inline]
    pub fn row(&self, v: u32) -> (&[u32], &[u32]) {
        let range = self.offsets[v as usize]..self.offsets[v as usize + 1];
        (&self.targets[range.clone()], &self.labels[range])
    }

    /// The neighbours of `v` that come after `root`, with the labels of the edges.
    #[inline]
    pub fn after(&self, v: u32, root: u32) -> (&[u32], &[u32]) {
        let (targets, labels) = self.row(v);
        let at = targets.partition_point(|&t| t <= root);
        (&targets[at..], &labels[at..])
    }
}
