//! Frequent patterns by each measure against the CPU engine, with kernels that test their indices.

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::{Engine, EngineExt, Outcome};
use gramer_gpu::{Gpu, Settings};
use gramer_graph::Graph;
use gramer_graph::generate::Model;
use gramer_graph::read::{ReadOptions, read_graph};
use gramer_pattern::task::{Measure, SizeLimit, Task};
use gramer_testing::graphs::random;
use gramer_testing::sinks::Sets;

mod common;

/// The device with kernels that test their indices.
fn open(settings: Settings) -> Option<Gpu> {
    common::open(Settings { checked: true, ..settings })
}

fn mni(limit: SizeLimit, support: u64) -> Task {
    Task::Fsm { limit, support, measure: Measure::Mni }
}

fn embeddings(vertices: usize, support: u64) -> Task {
    Task::Fsm { limit: SizeLimit::MaxVertices(vertices), support, measure: Measure::Embeddings }
}

/// Compares the answers, and says how many patterns there are.
fn compare(gpu: &Gpu, graph: &Graph, task: &Task) -> usize {
    let run = |engine: &dyn Engine| engine.run(graph, task, None, &Context::default()).unwrap();
    let (answer, right) = (run(gpu), run(&Cpu));
    assert!(answer.complete);
    assert_eq!(answer.results, right.results, "{task:?}");
    right.results.len()
}

#[test]
fn minimum_images_on_random_graphs() {
    let Some(gpu) = open(Settings::default()) else { return };
    let mut patterns = 0;
    for seed in 0..8u64 {
        let labels = [[3, 2], [2, 0], [0, 3], [0, 0]][seed as usize % 4];
        let model = match seed % 3 {
            0 => Model::ErdosRenyiEdges { vertices: 60, edges: 150 },
            1 => Model::BarabasiAlbert { vertices: 70, edges_per_vertex: 2 },
            _ => Model::Rmat { scale: 6, edge_factor: 3, a: 0.5, b: 0.2, c: 0.2 },
        };
        let graph = random(model, seed, labels);
        for (limit, support) in [
            (SizeLimit::MaxEdges(2), 2),
            (SizeLimit::MaxEdges(3), 4),
            (SizeLimit::MaxEdges(5), 12),
            (SizeLimit::MaxVertices(4), 7),
        ] {
            patterns += compare(&gpu, &graph, &mni(limit, support));
        }
    }
    assert!(patterns > 500, "{patterns}");
}

/// Paths of two edges follow from the labels around vertices where these are bits of a word, and from domains where
/// there are more labels.
#[test]
fn minimum_images_of_paths_with_many_labels() {
    let Some(gpu) = open(Settings::default()) else { return };
    let model = Model::Rmat { scale: 9, edge_factor: 8, a: 0.57, b: 0.19, c: 0.19 };
    for labels in [1, 2, 33, 64, 65] {
        let graph = random(model, labels.into(), [labels, 0]);
        let support = 40 / u64::from(labels.min(20));
        for limit in [SizeLimit::MaxEdges(2), SizeLimit::MaxVertices(3)] {
            assert!(compare(&gpu, &graph, &mni(limit, support)) > 1, "{labels} {limit:?}");
        }
    }
}

/// Classes of more than a word, and rows of every length.
#[test]
fn minimum_images_where_domains_are_long() {
    let Some(gpu) = open(Settings::default()) else { return };
    let model = Model::Rmat { scale: 10, edge_factor: 4, a: 0.57, b: 0.19, c: 0.19 };
    let graph = random(model, 3, [3, 0]);
    assert!(compare(&gpu, &graph, &mni(SizeLimit::MaxEdges(3), 60)) > 10);
    // No vertex is an image of the third one, or all are.
    assert_eq!(compare(&gpu, &graph, &mni(SizeLimit::MaxEdges(3), 1000)), 0);
}

#[test]
fn embeddings_on_random_graphs() {
    let Some(gpu) = open(Settings::default()) else { return };
    let mut patterns = 0;
    for seed in 0..4u64 {
        let labels = [[3, 2], [2, 0], [0, 2], [0, 0]][seed as usize];
        let graph = random(Model::ErdosRenyiEdges { vertices: 40, edges: 90 }, seed, labels);
        patterns += compare(&gpu, &graph, &embeddings(4, 25));
        patterns += compare(&gpu, &graph, &embeddings(3, 3));
    }
    assert!(patterns > 60, "{patterns}");
}

#[test]
fn instances_on_random_graphs() {
    let Some(gpu) = open(Settings::default()) else { return };
    let mut patterns = 0;
    for seed in 0..4u64 {
        let labels = [[3, 2], [2, 0], [0, 2], [0, 0]][seed as usize];
        let graph = random(Model::ErdosRenyiEdges { vertices: 40, edges: 90 }, seed, labels);
        let limit = SizeLimit::MaxEdges(3);
        let task = Task::Fsm { limit, support: 20, measure: Measure::Instances };
        patterns += compare(&gpu, &graph, &task);
    }
    assert!(patterns > 20, "{patterns}");
}

#[test]
fn citeseer_at_four_supports() {
    let Some(gpu) = open(Settings::default()) else { return };
    let Some(folder) = common::environment::data() else { return };
    let path = folder.join("citeseer/citeseer.lg");
    let graph = read_graph(&path, &ReadOptions::default(), &Context::default()).unwrap();
    for support in [50, 200, 500, 2000] {
        let found = compare(&gpu, &graph, &mni(SizeLimit::MaxEdges(3), support));
        assert_eq!(found == 0, support >= 2000);
        compare(&gpu, &graph, &embeddings(3, support));
    }
}

#[test]
fn lists_of_what_is_frequent() {
    let Some(gpu) = open(Settings::default()) else { return };
    let graph = random(Model::ErdosRenyiEdges { vertices: 40, edges: 70 }, 9, [2, 0]);
    for task in [mni(SizeLimit::MaxEdges(2), 8), embeddings(3, 20)] {
        let ask = |engine: &dyn Engine| -> (Outcome, Sets) {
            let all = Sets::default();
            let outcome = engine.run(&graph, &task, Some(&all), &Context::default()).unwrap();
            (outcome, all)
        };
        let ((answer, listed), (right, wanted)) = (ask(&gpu), ask(&Cpu));
        assert_eq!(answer.results, right.results);
        assert!(!right.results.is_empty());
        assert_eq!(listed.listed(), wanted.listed(), "{task:?}");
    }
}

/// Candidates are examined in batches where not all domains fit.
#[test]
fn a_small_budget_is_kept() {
    let graph = random(Model::ErdosRenyiEdges { vertices: 60, edges: 150 }, 1, [3, 0]);
    let task = mni(SizeLimit::MaxEdges(3), 4);
    let mut refused = 0;
    for kib in [2, 300, 2000] {
        let Some(gpu) = open(Settings { memory: Some(kib << 10), ..Settings::default() }) else {
            return;
        };
        match gpu.run(&graph, &task, None, &Context::default()) {
            Ok(outcome) => {
                let right = Cpu.run(&graph, &task, None, &Context::default()).unwrap();
                assert_eq!(outcome.results, right.results, "{kib} KiB");
            }
            Err(error) => {
                assert!(error.to_string().contains("setting `memory`"), "{error}");
                refused += 1;
            }
        }
        let (limit, peak) = gpu.memory().unwrap();
        assert!(peak <= limit);
    }
    assert_eq!(refused, 1);
}

#[test]
fn a_search_stops_when_it_is_asked_to() {
    let Some(gpu) = open(Settings::default()) else { return };
    let graph = random(Model::ErdosRenyiEdges { vertices: 60, edges: 150 }, 1, [3, 0]);
    for task in [mni(SizeLimit::MaxEdges(3), 4), embeddings(4, 10)] {
        let context = Context::default();
        let prepared = gpu.prepare(&graph, &context).unwrap();
        context.cancel.cancel();
        if let Ok(outcome) = prepared.run(&task, gramer_engine::Units::All, None, &context) {
            assert!(!outcome.complete);
        }
    }
}
