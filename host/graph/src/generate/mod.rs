//! Synthetic graphs: the same bytes for the same seed on every machine and any number of threads.
//!
//! Random numbers come from ChaCha8 with the seed as key; each use (and, for R-MAT, each run of
//! 65,536 edges) has its own stream. Decisions compare integers. Logarithms and powers are those
//! of the crate libm, one version of it and without its processor's instructions: the mathematical
//! functions of the C library differ from system to system.

mod labels;
mod models;

use super::{Builder, Graph, MAX_GRAPH_VERTICES};
use gramer_base::context::Context;
use gramer_base::counted::counted;
use gramer_base::error::{Error, Result};
use labels::{LabelSampler, with_edge_labels};
use models::{barabasi_albert, bernoulli, pair, pairs, rmat, rng, sample};

/// A random graph model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Model {
    /// R-MAT, the recursive matrix (a stochastic Kronecker graph): each edge chooses one of four
    /// quadrants `scale` times (Chakrabarti, Zhan, Faloutsos, SDM 2004). Self loops and
    /// duplicates are dropped, so that there are fewer than `edge_factor` · 2^`scale` edges.
    Rmat {
        /// log2 of the number of vertices, 1 to 31.
        scale: u32,
        /// Edges drawn a vertex.
        edge_factor: u64,
        /// Probability of the quadrant (0, 0).
        a: f64,
        /// Probability of the quadrant (0, 1).
        b: f64,
        /// Probability of the quadrant (1, 0); the rest goes to (1, 1).
        c: f64,
    },
    /// Erdős–Rényi G(n, m): `edges` different edges, all sets of them equally likely.
    ErdosRenyiEdges {
        /// Number of vertices.
        vertices: u64,
        /// Number of edges.
        edges: u64,
    },
    /// Erdős–Rényi (Gilbert) G(n, p): each edge is there with probability `p`.
    ErdosRenyiProbability {
        /// Number of vertices.
        vertices: u64,
        /// Probability of an edge, 0 to 1.
        p: f64,
    },
    /// Barabási–Albert: from a complete graph of `edges_per_vertex` + 1 vertices, each further
    /// vertex is joined to that many different vertices, chosen in proportion to their degrees.
    BarabasiAlbert {
        /// Number of vertices, more than `edges_per_vertex`.
        vertices: u64,
        /// Edges of a new vertex, at least 1.
        edges_per_vertex: u64,
    },
}

/// Distribution of labels: 0 to `count` - 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Labels {
    /// Number of labels, at least 1.
    pub count: u32,
    /// Label i has a weight of (i + 1)^-`exponent`; 0 makes all equally likely.
    pub exponent: f64,
}

/// A graph to be made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// The random model.
    pub model: Model,
    /// The seed.
    pub seed: u64,
    /// Labels of the vertices.
    pub vertex_labels: Option<Labels>,
    /// Labels of the edges.
    pub edge_labels: Option<Labels>,
}

/// Purposes of random streams.
mod stream {
    pub const EDGES: u64 = 0;
    pub const VERTEX_LABELS: u64 = 1 << 48;
    pub const EDGE_LABELS: u64 = 2 << 48;
}

/// Makes a graph. Its vertices are 0 to V - 1, those without an edge included.
///
/// # Errors
/// [`Error::Usage`] for parameters out of range, [`Error::Unsupported`] for a graph that is too
/// large, [`Error::Interrupted`] after Ctrl-C.
pub fn generate(recipe: &Recipe, context: &Context) -> Result<Graph> {
    recipe.check()?;
    let _phase = gramer_base::memory::Phase::begin(&"generating the graph");
    let mut builder = Builder::new();
    match recipe.model {
        Model::Rmat { scale, edge_factor, a, b, c } => {
            builder.vertex_range(0..1 << scale);
            rmat(&mut builder, recipe.seed, scale, edge_factor << scale, [a, b, c], context)?;
        }
        Model::ErdosRenyiEdges { vertices, edges } => {
            builder.vertex_range(0..vertices);
            let mut rng = rng(recipe.seed, stream::EDGES);
            for index in sample(&mut rng, pairs(vertices), edges, context)? {
                let (u, v) = pair(index);
                builder.edge(u, v);
            }
        }
        Model::ErdosRenyiProbability { vertices, p } => {
            builder.vertex_range(0..vertices);
            bernoulli(&mut builder, recipe.seed, vertices, p, context)?;
        }
        Model::BarabasiAlbert { vertices, edges_per_vertex } => {
            builder.vertex_range(0..vertices);
            let mut rng = rng(recipe.seed, stream::EDGES);
            barabasi_albert(&mut builder, &mut rng, vertices, edges_per_vertex, context)?;
        }
    }
    let mut graph = builder.build_with(context)?;
    if let Some(labels) = recipe.vertex_labels {
        let mut draw = LabelSampler::new(labels, recipe.seed, stream::VERTEX_LABELS);
        let labels = (0..graph.vertices()).map(|_| draw.next()).collect();
        graph = graph.with_vertex_labels(Some(labels));
    }
    if let Some(labels) = recipe.edge_labels {
        graph =
            with_edge_labels(&graph, LabelSampler::new(labels, recipe.seed, stream::EDGE_LABELS));
    }
    Ok(graph)
}

impl Recipe {
    fn check(&self) -> Result<()> {
        let usage = |what: String| Err(Error::usage(what));
        let is_probability = |p: f64| (0.0..=1.0).contains(&p);
        let too_many = |vertices: u64| {
            usage(format!("{vertices} vertices are more than the {MAX_GRAPH_VERTICES} possible"))
        };
        match self.model {
            Model::Rmat { scale, edge_factor, a, b, c } => {
                if !(1..=31).contains(&scale) {
                    return usage(format!("scale is {scale}, but must be 1 to 31"));
                }
                if edge_factor.checked_mul(1 << scale).is_none() {
                    return usage(format!("edge-factor {edge_factor} is too large"));
                }
                if ![a, b, c].into_iter().all(is_probability) || a + b + c > 1.0 {
                    return usage(format!(
                        "a, b and c are {a}, {b} and {c}, but must be 0 to 1 and at most 1 together"
                    ));
                }
            }
            Model::ErdosRenyiEdges { vertices, .. } if vertices > MAX_GRAPH_VERTICES => {
                return too_many(vertices);
            }
            Model::ErdosRenyiEdges { vertices, edges } if edges > pairs(vertices) => {
                return usage(format!(
                    "edges is {edges}, but {} at most {} edges",
                    counted(vertices, "vertex has", "vertices have"),
                    pairs(vertices)
                ));
            }
            Model::ErdosRenyiEdges { .. } => {}
            Model::ErdosRenyiProbability { vertices, .. } if vertices > MAX_GRAPH_VERTICES => {
                return too_many(vertices);
            }
            Model::ErdosRenyiProbability { p, .. } if !is_probability(p) => {
                return usage(format!("probability is {p}, but must be 0 to 1"));
            }
            Model::ErdosRenyiProbability { .. } => {}
            Model::BarabasiAlbert { vertices, .. } if vertices > MAX_GRAPH_VERTICES => {
                return too_many(vertices);
            }
            Model::BarabasiAlbert { vertices, edges_per_vertex } => {
                if edges_per_vertex == 0 || edges_per_vertex >= vertices {
                    return usage(format!(
                        "edges-per-vertex is {edges_per_vertex}, but must be at least 1 and less \
                         than the {}",
                        counted(vertices, "vertex", "vertices")
                    ));
                }
            }
        }
        for labels in [self.vertex_labels, self.edge_labels].into_iter().flatten() {
            if !(1..=1 << 24).contains(&labels.count) {
                return usage(format!(
                    "the number of labels is {}, but must be 1 to {}",
                    labels.count,
                    1 << 24
                ));
            }
            if !(0.0..=16.0).contains(&labels.exponent) {
                return usage(format!("the exponent is {}, but must be 0 to 16", labels.exponent));
            }
        }
        Ok(())
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::each_edge;

    fn make(model: Model, seed: u64) -> Graph {
        let recipe = Recipe { model, seed, vertex_labels: None, edge_labels: None };
        generate(&recipe, &Context::with_threads(1)).unwrap()
    }

    #[test]
    fn pairs_are_numbered_by_rows() {
        let mut index = 0;
        for u in 1..200 {
            for v in 0..u {
                assert_eq!(pair(index), (u, v));
                index += 1;
            }
        }
        let last = MAX_GRAPH_VERTICES - 1;
        assert_eq!(pair(pairs(MAX_GRAPH_VERTICES) - 1), (last, last - 1));
    }

    #[test]
    fn models_have_the_sizes_that_they_promise() {
        let g = make(Model::ErdosRenyiEdges { vertices: 1000, edges: 3000 }, 1);
        assert_eq!((g.vertices(), g.edges()), (1000, 3000));
        let g = make(Model::ErdosRenyiEdges { vertices: 30, edges: 430 }, 1);
        assert_eq!((g.vertices(), g.edges()), (30, 430));
        let g = make(Model::ErdosRenyiEdges { vertices: 30, edges: 435 }, 1);
        assert_eq!(g.edges(), 435);
        let g = make(Model::BarabasiAlbert { vertices: 500, edges_per_vertex: 3 }, 1);
        assert_eq!((g.vertices(), g.edges()), (500, 6 + 496 * 3));
        assert_eq!(g.stats().duplicates + g.stats().self_loops, 0);
        // Five standard deviations about p n (n - 1) / 2.
        let g = make(Model::ErdosRenyiProbability { vertices: 1000, p: 0.01 }, 1);
        assert!((g.edges() as f64 - 4995.0).abs() < 5.0 * 70.4, "{}", g.edges());
        for (p, edges) in [(0.0, 0), (1.0, 4950)] {
            let g = make(Model::ErdosRenyiProbability { vertices: 100, p }, 1);
            assert_eq!((g.vertices(), g.edges()), (100, edges));
        }
        for vertices in [0, 1] {
            let g = make(Model::ErdosRenyiProbability { vertices, p: 0.5 }, 1);
            assert_eq!((g.vertices() as u64, g.edges()), (vertices, 0));
        }
        let g = make(Model::Rmat { scale: 10, edge_factor: 16, a: 0.57, b: 0.19, c: 0.19 }, 1);
        assert_eq!((g.vertices(), g.stats().raw_edges), (1024, 16384));
        assert!(g.max_degree() > 300, "R-MAT has hubs: {}", g.max_degree());
    }

    #[test]
    fn every_edge_of_a_random_graph_is_equally_likely() {
        // 200 graphs with 20 of 45 edges: each edge 88.9 times, with a deviation of 7.
        for p in [None, Some(20.0 / 45.0)] {
            let mut times = [[0u32; 10]; 10];
            for seed in 0..200 {
                let model = match p {
                    None => Model::ErdosRenyiEdges { vertices: 10, edges: 20 },
                    Some(p) => Model::ErdosRenyiProbability { vertices: 10, p },
                };
                let g = make(model, seed);
                let _: std::result::Result<(), ()> = each_edge(&g, |u, v, _| {
                    times[u as usize][v as usize] += 1;
                    Ok(())
                });
            }
            for (u, row) in times.iter().enumerate() {
                for (v, &times) in row.iter().enumerate().skip(u + 1) {
                    assert!((54..124).contains(&times), "{u}-{v}: {times}");
                }
            }
        }
    }

    #[test]
    fn labels_follow_their_weights() {
        let model = Model::ErdosRenyiEdges { vertices: 60_000, edges: 60_000 };
        for (exponent, expected) in [
            (0.0, [10_000.0f64; 6]),
            (1.0, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(|i| 60_000.0 / (2.45 * i))),
        ] {
            let labels = Some(Labels { count: 6, exponent });
            let recipe = Recipe { model, seed: 3, vertex_labels: labels, edge_labels: labels };
            let g = generate(&recipe, &Context::with_threads(1)).unwrap();
            let mut vertices = [0.0f64; 6];
            g.view().vertex_labels.unwrap().iter().for_each(|&l| vertices[l as usize] += 1.0);
            let mut edges = [0.0f64; 6];
            g.view().edge_labels.unwrap().iter().for_each(|&l| edges[l as usize] += 0.5);
            for i in 0..6 {
                assert!((vertices[i] - expected[i]).abs() < 5.0 * f64::sqrt(expected[i]));
                assert!((edges[i] - expected[i]).abs() < 5.0 * f64::sqrt(expected[i]));
            }
            let _: std::result::Result<(), ()> = each_edge(&g, |u, v, label| {
                assert_eq!(g.view().edge_label(v, u), Some(label));
                Ok(())
            });
        }
    }

    /// Rows and labels must never change.
    #[test]
    fn golden_graphs() {
        let models = [
            Model::Rmat { scale: 14, edge_factor: 8, a: 0.57, b: 0.19, c: 0.19 },
            Model::ErdosRenyiEdges { vertices: 5000, edges: 20_000 },
            Model::ErdosRenyiProbability { vertices: 5000, p: 0.002 },
            Model::BarabasiAlbert { vertices: 5000, edges_per_vertex: 4 },
        ];
        let mut found = [0; 4];
        for (i, &model) in models.iter().enumerate() {
            for threads in [1, 3] {
                let recipe = Recipe {
                    model,
                    seed: 42,
                    vertex_labels: Some(Labels { count: 29, exponent: 0.0 }),
                    edge_labels: Some(Labels { count: 7, exponent: 1.5 }),
                };
                let graph = generate(&recipe, &Context::with_threads(threads)).unwrap();
                let view = graph.view();
                let mut hash = xxhash_rust::xxh3::Xxh3::new();
                view.offsets.iter().for_each(|o| hash.update(&o.to_le_bytes()));
                for part in [Some(view.neighbours), view.vertex_labels, view.edge_labels] {
                    part.unwrap().iter().for_each(|n| hash.update(&n.to_le_bytes()));
                }
                let hash = hash.digest();
                assert!(threads == 1 || found[i] == hash, "threads must not matter");
                found[i] = hash;
            }
        }
        assert_eq!(found, GOLDEN, "{found:#018x?}");
    }

    const GOLDEN: [u64; 4] =
        [0xe184e13927f389f4, 0xce952de2476aedd1, 0xca2486716f0e1197, 0xf87a76dbd727376c];

    #[test]
    fn parameters_out_of_range_are_named() {
        let rmat = |scale, a| Model::Rmat { scale, edge_factor: 16, a, b: 0.19, c: 0.19 };
        let er = |p| Model::ErdosRenyiProbability { vertices: 5, p };
        for (model, what) in [
            (rmat(0, 0.57), "scale is 0, but must be 1 to 31"),
            (rmat(40, 0.57), "scale is 40"),
            (rmat(5, 0.9), "at most 1 together"),
            (rmat(5, f64::NAN), "at most 1 together"),
            (Model::ErdosRenyiEdges { vertices: 5, edges: 11 }, "5 vertices have at most 10"),
            (er(1.5), "probability is 1.5"),
            (er(f64::NAN), "probability is NaN"),
            (Model::BarabasiAlbert { vertices: 3, edges_per_vertex: 3 }, "less than the 3"),
            (Model::BarabasiAlbert { vertices: 3, edges_per_vertex: 0 }, "at least 1"),
            (Model::ErdosRenyiEdges { vertices: 1 << 33, edges: 1 }, "more than"),
        ] {
            let recipe = Recipe { model, seed: 1, vertex_labels: None, edge_labels: None };
            let error = generate(&recipe, &Context::with_threads(1)).unwrap_err();
            assert_eq!(error.exit_code(), 2);
            assert!(error.to_string().contains(what), "{error}");
        }
    }
}
