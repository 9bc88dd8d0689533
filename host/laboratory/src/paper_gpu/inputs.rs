//! Graphs of the experiments: real ones, and labels for them.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::read::{ReadOptions, read_graph};
use gramer_graph::{Builder, Graph, VertexId};

use super::{Input, Options};

/// The graphs without labels, and those with.
pub(super) fn inputs(options: &Options, context: &Context) -> Result<(Vec<Input>, Vec<Input>)> {
    let input = |name: &str, graph| Input { name: name.into(), graph };
    if options.quick {
        let model = Model::BarabasiAlbert { vertices: 60, edges_per_vertex: 3 };
        let labels = |count| Some(Labels { count, exponent: 1.0 });
        let random = |seed, labelled: bool| {
            let (vertex_labels, edge_labels) =
                if labelled { (labels(3), labels(4)) } else { (None, None) };
            generate(&Recipe { model, seed, vertex_labels, edge_labels }, context)
        };
        let plain = vec![input("random-1", random(1, false)?)];
        return Ok((plain, vec![input("random-2", random(2, true)?)]));
    }
    let Some(data) = &options.data else {
        return Err(Error::usage(
            "the real graphs are missing: name their folder with the setting `data` or GRAMER_DATA, or give \
             the setting `quick` for small random ones",
        ));
    };
    let read = |file: &str| {
        let options = ReadOptions { edge_labels: false, ..ReadOptions::default() };
        read_graph(&data.join(file), &options, context)
    };
    let plain = vec![
        input("citeseer", read("citeseer/citeseer.lg")?),
        input("ca-astroph", read("ca-astroph/ca-AstroPh.txt.zst")?),
        input("rmat15", read("rmat15/rmat15.txt.zst")?),
    ];
    let enron = read("email-enron/email-enron.txt.zst")?;
    let labelled = vec![
        input("email-enron", with_labels(&enron, 10, 100)),
        input("ca-astroph", with_labels(&plain[1].graph, 10, 100)),
        input("rmat15", with_labels(&plain[2].graph, 10, 100)),
    ];
    Ok((plain, labelled))
}

/// A power law of labels: label i has a weight of 1 / (i + 1).
struct LabelDistribution {
    rng: ChaCha8Rng,
    ends: Vec<f64>,
}

impl LabelDistribution {
    fn new(labels: u32, seed: u64) -> Self {
        let mut sum = 0.0;
        let mut ends: Vec<f64> = vec![];
        for i in 1..=labels {
            sum += 1.0 / f64::from(i);
            ends.push(sum);
        }
        ends.iter_mut().for_each(|end| *end /= sum);
        LabelDistribution { rng: ChaCha8Rng::seed_from_u64(seed), ends }
    }

    fn next(&mut self) -> u32 {
        let at = (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        self.ends.partition_point(|&end| end <= at).min(self.ends.len() - 1) as u32
    }
}

/// A graph with labels by a power law, as the paper gives them to graphs without.
pub(super) fn with_labels(graph: &Graph, vertex_labels: u32, edge_labels: u32) -> Graph {
    let (mut vertices, mut edges) =
        (LabelDistribution::new(vertex_labels, 1), LabelDistribution::new(edge_labels, 2));
    let mut builder = Builder::new();
    let view = graph.view();
    for v in 0..graph.vertices() as VertexId {
        builder.labelled_vertex(v.into(), vertices.next());
        for &u in view.neighbours(v).iter().filter(|&&u| u > v) {
            builder.labelled_edge(v.into(), u.into(), edges.next());
        }
    }
    builder.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_follow_a_power_law_and_edges_stay() {
        let model = Model::BarabasiAlbert { vertices: 2000, edges_per_vertex: 4 };
        let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
        let plain = generate(&recipe, &Context::default()).unwrap();
        let graph = with_labels(&plain, 10, 20);
        assert_eq!((graph.vertices(), graph.edges()), (plain.vertices(), plain.edges()));
        let labels = graph.view().edge_labels.unwrap();
        let times = |label| labels.iter().filter(|&&l| l == label).count() as f64;
        let sum: f64 = (1..=20).map(|i| 1.0 / f64::from(i)).sum();
        for label in [0, 4, 19] {
            let expected = labels.len() as f64 / sum / f64::from(label + 1);
            let share = times(label) / expected;
            assert!((0.7..1.4).contains(&share), "{label}: {share}");
        }
    }
}
