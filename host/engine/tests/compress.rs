//! Compressed graphs against algorithm 19 as printed.

use std::path::Path;

use gramer_base::{Context, Error};
use gramer_cpu::Cpu;
use gramer_engine::compress::{CompressionResult, read, write};
use gramer_engine::per::edges;
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::{Builder, Graph, Label, VertexId};

fn context() -> Context {
    Context::with_threads(2)
}

fn compress(graph: &Graph, k: usize, context: &Context) -> gramer_base::Result<CompressionResult> {
    gramer_engine::compress::compress(&Cpu, graph, k, context)
}

fn random(model: Model, labels: bool) -> Graph {
    let vertex_labels = labels.then_some(Labels { count: 5, exponent: 0.0 });
    generate(&Recipe { model, seed: 6, vertex_labels, edge_labels: None }, &context()).unwrap()
}

/// All cliques of k, by brute force.
fn all_cliques(graph: &Graph, k: usize) -> Vec<Vec<VertexId>> {
    let view = graph.view();
    let mut found = vec![vec![]];
    for _ in 0..k {
        let mut next = vec![];
        for clique in &found {
            for v in clique.last().map_or(0, |&v: &VertexId| v + 1)..view.vertices() as VertexId {
                if clique.iter().all(|u| view.neighbours(v).contains(u)) {
                    next.push([&clique[..], &[v]].concat());
                }
            }
        }
        found = next;
    }
    found
}

fn pairs(clique: &[VertexId]) -> Vec<(VertexId, VertexId)> {
    let with_smaller = |at: usize| clique[..at].iter().map(move |&u| (u, clique[at]));
    (0..clique.len()).flat_map(with_smaller).collect()
}

/// The paper's algorithm 19: every clique is listed, and its shared edges are counted.
fn as_printed(graph: &Graph, k: usize) -> (usize, Vec<(i64, Vec<VertexId>)>) {
    let cliques = all_cliques(graph, k);
    let mut edges = std::collections::HashMap::new();
    cliques.iter().flat_map(|c| pairs(c)).for_each(|e| *edges.entry(e).or_insert(0) += 1);
    let rank = |clique: &Vec<VertexId>| {
        let shared = pairs(clique).iter().filter(|e| edges[e] > 1).count() as i64;
        (k * (k - 1) / 2) as i64 - (shared + k as i64 + 1)
    };
    let mut ranked: Vec<_> =
        cliques.iter().map(|c| (rank(c), c.clone())).filter(|c| c.0 > 0).collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    (cliques.len(), ranked)
}

fn text(graph: &Graph, compressed: &CompressionResult) -> Vec<u8> {
    let mut text = vec![];
    write(&mut text, graph, compressed).unwrap();
    text
}

type Edges = Vec<(u64, u64)>;
type Vertices = Vec<(u64, Option<Label>)>;

/// Edges by ids, ids, and labels by id.
fn content(graph: &Graph) -> (Edges, Vertices) {
    let (view, ids) = (graph.view(), graph.original_ids());
    let ends = |(u, v): (VertexId, VertexId)| (ids[u as usize], ids[v as usize]);
    let mut edges: Vec<_> = edges(view).map(ends).map(|(u, v)| (u.min(v), u.max(v))).collect();
    edges.sort_unstable();
    let label = |v: usize| view.vertex_labels.map(|labels| labels[v]);
    let mut vertices: Vec<_> = (0..ids.len()).map(|v| (ids[v], label(v))).collect();
    vertices.sort_unstable();
    (edges, vertices)
}

/// Cliques of 4 to 9 vertices, most of which share a vertex with the next, and edges between them.
fn planted() -> Graph {
    let mut builder = Builder::new();
    let mut begin = 0;
    for size in (4..=9).chain(4..=9) {
        let vertices = begin..begin + size;
        vertices.clone().for_each(|v| (begin..v).for_each(|u| builder.edge(u, v)));
        begin += size - u64::from(size != 6);
    }
    (0..begin).for_each(|v| builder.edge(v, (v + 17) % begin));
    builder.build()
}

#[test]
fn cliques_are_those_of_algorithm_19_and_the_graph_comes_back() {
    let mut replaced = 0;
    let models = [
        (Model::ErdosRenyiEdges { vertices: 40, edges: 200 }, false),
        (Model::BarabasiAlbert { vertices: 60, edges_per_vertex: 5 }, true),
        (Model::ErdosRenyiProbability { vertices: 22, p: 0.6 }, false),
        (Model::Rmat { scale: 6, edge_factor: 4, a: 0.57, b: 0.19, c: 0.19 }, true),
    ];
    let graphs = models.map(|(model, labels)| (format!("{model:?}"), random(model, labels)));
    for (model, graph) in graphs.into_iter().chain([("planted".into(), planted())]) {
        for k in 4..=7 {
            let compressed = compress(&graph, k, &context()).unwrap();
            let (cliques, ranked) = as_printed(&graph, k);
            assert_eq!(compressed.cliques, cliques as u128, "{model} {k}");
            let own: Vec<_> =
                compressed.replaced.iter().map(|c| (c.rank as i64, c.vertices.clone())).collect();
            assert_eq!(own, ranked, "{model} {k}");
            let gone = graph.edges() - compressed.edges.len();
            assert_eq!(gone as u64, compressed.score + ranked.len() as u64 * (k as u64 + 1));
            let text = text(&graph, &compressed);
            let back = read(&text[..], Path::new("x"), &context()).unwrap();
            assert_eq!(content(&back), content(&graph), "{model} {k}");
            replaced += ranked.len();
        }
    }
    assert!(replaced >= 10, "{replaced} cliques were replaced");
}

#[test]
fn vertices_without_edges_and_large_ids_come_back() {
    let mut builder = Builder::new();
    let ids: Vec<u64> = (0..7).map(|n| u64::MAX - 3 * n).collect();
    for (at, &v) in ids.iter().enumerate() {
        ids[..at].iter().for_each(|&u| builder.edge(u, v));
    }
    builder.vertex(17);
    builder.edge(1, 2);
    let graph = builder.build();
    let compressed = compress(&graph, 7, &context()).unwrap();
    // 21 edges become 7 and a vertex.
    assert_eq!((compressed.score, compressed.edges.len()), (13, 1));
    let written = text(&graph, &compressed);
    let lines = String::from_utf8(written.clone()).unwrap();
    assert!(
        lines.starts_with("gramer-cliques 1 7 10 22 1 1\nv 17\nc 18446744073709551597 "),
        "{lines}"
    );
    let back = read(&written[..], Path::new("x"), &context()).unwrap();
    assert_eq!(content(&back), content(&graph));
}

#[test]
fn what_was_changed_is_refused_with_its_line() {
    let good = "gramer-cliques 1 4 5 7 1 1\nc 1 2 3 4\ne 4 5\n";
    let said = |text: &str| match read(text.as_bytes(), Path::new("x.cliques"), &context()) {
        Ok(graph) => panic!("{text}: {} edges", graph.edges()),
        Err(error) => error.to_string(),
    };
    assert!(read(good.as_bytes(), Path::new("x"), &context()).is_ok());
    for (text, wanted) in [
        ("", "x.cliques: is empty"),
        ("1 2\n", "x.cliques:1: `1 2`: a compressed graph begins with"),
        (
            "gramer-cliques 2 4 5 7 1 1\n",
            "x.cliques:1: `gramer-cliques 2 4 5 7 1 1`: it has version `2`",
        ),
        ("gramer-cliques 1 3 5 7 1 1\n", "five numbers: vertices of a clique (4 to 16)"),
        ("gramer-cliques 1 4 5 7 1\n", "five numbers"),
        (
            "gramer-cliques 1 4 5 7 1 1\nc 1 2 3\n",
            "x.cliques:2: `c 1 2 3`: a clique has 4 vertices here",
        ),
        ("gramer-cliques 1 4 5 7 1 1\nc 1 2 3 x\n", "x.cliques:2: `c 1 2 3 x`: what follows"),
        ("gramer-cliques 1 4 5 7 1 1\nq 1\n", "x.cliques:2: `q 1`: a line is v ID"),
        ("gramer-cliques 1 4 5 7 1 1\n\n", "x.cliques:2: ``: the line is empty"),
        (
            "gramer-cliques 1 4 5 7 1 1\nv 1 4294967295\n",
            "x.cliques:2: `v 1 4294967295`: a label is at most",
        ),
        (&good[..good.len() - 6], "announces 1 clique and 1 edge, and 1 and 0 follow"),
        (
            &good.replace("e 4 5", "e 4 3"),
            "a graph of 5 vertices and 7 edges, and its lines make one of 4 and 6",
        ),
        (&good.replace("c 1 2 3 4", "c 1 2 3 3"), "make one of 5 and"),
        (&format!("{good}v 1 3\n"), "1 with a label"),
        (&format!("{good}v {}\n", "1".repeat(2000)), "x.cliques:4: `v 111"),
    ] {
        assert!(said(text).contains(wanted), "{text}: {}", said(text));
    }
    assert!(said("\u{0}\u{0}").contains("x.cliques:1"));
}

#[test]
fn what_gains_nothing_and_what_loses_labels_is_refused() {
    let mut builder = Builder::new();
    builder.labelled_edge(0, 1, 4);
    let labelled = builder.build();
    assert!(matches!(compress(&labelled, 4, &context()), Err(Error::Unsupported(_))));
    for k in [0, 3, 17] {
        assert!(matches!(compress(&Builder::new().build(), k, &context()), Err(Error::Usage(_))));
    }
    let empty = compress(&Builder::new().build(), 4, &context()).unwrap();
    assert_eq!((empty.cliques, empty.score, empty.replaced.len()), (0, 0, 0));
}
