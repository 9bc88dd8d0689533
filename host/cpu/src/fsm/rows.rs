//! The part of a graph in which vertex-induced embeddings are looked for.

use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::{Error, Result};
use gramer_base::memory::{filled_or_unwind, zeroed_or_unwind};
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

/// The edges of a graph by the numbers that [`Rows`] gives their labels.
struct Numbering<'a> {
    graph: View<'a>,
    labels: &'a Labels,
    kinds: &'a EdgeKinds,
    counts: &'a Tally,
    support: i128,
    /// Classes of the graph's vertices.
    class: Vec<u32>,
    /// By label: its number, or 0 if it is in no frequent edge.
    numbers: Vec<u32>,
    /// See [`Rows`].
    label_numbers: Vec<u32>,
    forbidden: u32,
}

impl<'a> Numbering<'a> {
    fn new(
        graph: View<'a>,
        labels: &'a Labels,
        kinds: &'a EdgeKinds,
        counts: &'a Tally,
        support: u64,
    ) -> Self {
        let support = i128::from(support);
        let mut numbers = vec![0u32; labels.edge_labels() + 1];
        let mut label_numbers = vec![0];
        for (key, count) in counts.iter() {
            let (.., label) = kinds.of_key(key);
            if count >= support && numbers[label as usize] == 0 {
                numbers[label as usize] = label_numbers.len() as u32;
                label_numbers.push(label);
            }
        }
        let forbidden = label_numbers.len() as u32;
        let class = (0..graph.vertices() as VertexId).map(|v| labels.class(graph, v)).collect();
        Numbering {
            graph,
            labels,
            kinds,
            counts,
            support,
            class,
            numbers,
            label_numbers,
            forbidden,
        }
    }

    /// The number of the label of `v`'s edge at this entry.
    #[inline]
    fn number(&self, v: VertexId, at: usize) -> u32 {
        let (a, b) = (self.class[v as usize], self.class[self.graph.neighbours[at] as usize]);
        let label = self.labels.entry(self.graph, at);
        let frequent = self.counts.get(self.kinds.key(a, b, label)) >= self.support;
        if frequent { self.numbers[label as usize] } else { self.forbidden }
    }

    /// The vertices with a frequent edge, and whether any vertex has an edge that isn't frequent.
    fn with_frequent_edges(&self, looks: &mut CancelPoll<'_>) -> Result<(Vec<VertexId>, bool)> {
        let mut any_forbidden = false;
        let mut kept: Vec<VertexId> = vec![];
        for v in 0..self.graph.vertices() as VertexId {
            looks.check(1 + self.graph.degree(v))?;
            let mut keep = false;
            for at in self.graph.row(v) {
                let frequent = self.number(v, at) != self.forbidden;
                keep |= frequent;
                any_forbidden |= !frequent;
            }
            if keep {
                kept.push(v);
            }
        }
        Ok((kept, any_forbidden))
    }

    /// Offsets, targets and numbers of labels of the rows among `originals`, which are numbered by their
    /// places.
    fn rows(
        &self,
        originals: &[VertexId],
        looks: &mut CancelPoll<'_>,
    ) -> Result<(Vec<usize>, Vec<u32>, Vec<u32>)> {
        let graph = self.graph;
        let mut here = filled_or_unwind(u32::MAX, graph.vertices());
        for (new, &old) in originals.iter().enumerate() {
            here[old as usize] = new as u32;
        }
        let mut offsets = Vec::with_capacity(originals.len() + 1);
        offsets.push(0);
        for &v in originals {
            looks.check(1 + graph.degree(v))?;
            let kept =
                graph.neighbours(v).iter().filter(|&&u| here[u as usize] != u32::MAX).count();
            offsets.push(offsets[offsets.len() - 1] + kept);
        }
        let entries = offsets[originals.len()];
        let (mut targets, mut edge_labels) = (zeroed_or_unwind(entries), zeroed_or_unwind(entries));
        let mut cursor = offsets.clone();
        // Sources ascend, so every row does.
        for (new, &old) in originals.iter().enumerate() {
            looks.check(1 + graph.degree(old))?;
            for at in graph.row(old) {
                let to = here[graph.neighbours[at] as usize];
                if to != u32::MAX {
                    let cursor = &mut cursor[to as usize];
                    targets[*cursor] = new as u32;
                    edge_labels[*cursor] = self.number(old, at);
                    *cursor += 1;
                }
            }
        }
        Ok((offsets, targets, edge_labels))
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
        let mut looks = CancelPoll::new(cancel);
        let numbering = Numbering::new(graph, labels, kinds, counts, support);
        let (mut originals, any_forbidden) = numbering.with_frequent_edges(&mut looks)?;
        let forbidden = numbering.forbidden;
        let width = bits_for(forbidden as usize - usize::from(!any_forbidden)).max(1);
        if width as usize * (max - 1) > 64 {
            return Err(Error::Unsupported(format!(
                "the graph has {} edge labels on frequent edges, too many for patterns of {max} \
                 vertices; lower the largest number of vertices, raise the support, or leave the edge labels out",
                forbidden - 1
            )));
        }
        originals.sort_by_key(|&v| graph.degree(v));
        let (offsets, targets, labels) = numbering.rows(&originals, &mut looks)?;
        let classes = originals.iter().map(|&v| numbering.class[v as usize]).collect();
        let label_numbers = numbering.label_numbers;
        Ok(Rows { offsets, targets, labels, classes, originals, label_numbers, forbidden, width })
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
