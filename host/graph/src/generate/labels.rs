//! Labels by a power law.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::Rng;

use super::Labels;
use super::models::rng;
use crate::write::each_edge;
use crate::{Graph, Label, NO_LABEL, Parts, VertexId};

/// Sampler of labels.
pub(super) struct LabelSampler {
    rng: ChaCha8Rng,
    /// Upper ends of the labels' shares of 2^53.
    shares: Vec<u64>,
}

impl LabelSampler {
    pub fn new(labels: Labels, seed: u64, stream: u64) -> Self {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=labels.count)
            .map(|i| {
                sum += libm::pow(f64::from(i), -labels.exponent);
                sum
            })
            .collect();
        let mut shares: Vec<u64> =
            sums.iter().map(|s| (s / sum * (1u64 << 53) as f64) as u64).collect();
        shares[labels.count as usize - 1] = 1 << 53;
        LabelSampler { rng: rng(seed, stream), shares }
    }

    pub fn next(&mut self) -> Label {
        let r = self.rng.next_u64() >> 11;
        let label = self.shares.partition_point(|&end| end <= r) as Label;
        debug_assert!(label < NO_LABEL);
        label
    }
}

/// The graph with labels on its edges, drawn in the order of their smaller, then larger end.
pub(super) fn with_edge_labels(graph: &Graph, mut draw: LabelSampler) -> Graph {
    let view = graph.view();
    let mut labels = vec![0 as Label; view.neighbours.len()];
    // Edges come by ascending smaller end, so that each row's lower part fills in order.
    let mut lower: Vec<usize> =
        (0..graph.vertices() as VertexId).map(|v| view.row(v).start).collect();
    let mut upper: Vec<usize> = (0..graph.vertices() as VertexId)
        .map(|v| view.row(v).start + view.neighbours(v).partition_point(|&u| u < v))
        .collect();
    let done: std::result::Result<(), std::convert::Infallible> = each_edge(graph, |u, v, _| {
        let label = draw.next();
        labels[upper[u as usize]] = label;
        upper[u as usize] += 1;
        labels[lower[v as usize]] = label;
        lower[v as usize] += 1;
        Ok(())
    });
    let Ok(()) = done;
    Graph::from_parts(Parts {
        offsets: view.offsets.to_vec().into(),
        neighbours: view.neighbours.to_vec().into(),
        vertex_labels: view.vertex_labels.map(|l| l.to_vec().into()),
        edge_labels: Some(labels.into()),
        original_ids: Some(graph.original_ids().to_vec().into()),
        names: graph.names().clone(),
        order: graph.order(),
        stats: graph.stats(),
    })
}
