//! What becomes of failures: each call of OpenCL that fails ends in a message with its code, and never in an
//! answer.

use gramer_base::context::Context;
use gramer_base::error::Error;
use gramer_cpu::Cpu;
use gramer_engine::EngineExt;
use gramer_gpu::{Fault, Gpu, Settings, Strategy};
use gramer_graph::Graph;
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Measure, SizeLimit, Task};

mod common;

/// The device with kernels that test their indices.
fn open(settings: Settings) -> Option<Gpu> {
    common::open(Settings { checked: true, ..settings })
}

fn graph() -> Graph {
    let labels = Some(Labels { count: 2, exponent: 0.5 });
    let model = Model::BarabasiAlbert { vertices: 40, edges_per_vertex: 3 };
    let recipe = Recipe { model, seed: 1, vertex_labels: labels, edge_labels: None };
    generate(&recipe, &Context::default()).unwrap()
}

/// A task of each strategy, with its options.
fn tasks() -> Vec<(Task, Option<Strategy>)> {
    let path = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
    let fsm = |limit, measure| Task::Fsm { limit, support: 6, measure };
    let motif = Task::Motif { k: 4, induced: Induced::Vertex };
    vec![
        (Task::Clique { k: 4 }, None),
        (Task::Clique { k: 6 }, None),
        (motif.clone(), None),
        (motif, Some(Strategy::Wide)),
        (Task::Motif { k: 3, induced: Induced::Vertex }, Some(Strategy::Table)),
        (fsm(SizeLimit::MaxEdges(2), Measure::Mni), Some(Strategy::Table)),
        (Task::Motif { k: 5, induced: Induced::Vertex }, Some(Strategy::Formula)),
        (Task::Match { pattern: path, induced: Induced::Edge, mappings: None }, None),
        (fsm(SizeLimit::MaxEdges(2), Measure::Mni), None),
        (fsm(SizeLimit::MaxVertices(3), Measure::Embeddings), None),
    ]
}

/// Each call of each task fails once, or is the last one of a device that is lost.
#[test]
fn every_call_that_fails_ends_in_a_message() {
    let graph = graph();
    for (task, strategy) in tasks() {
        let right = Cpu.run(&graph, &task, None, &Context::default()).unwrap().results;
        let mut failures = 0;
        for call in 0.. {
            let lasting = call % 2 == 1;
            let code = [-36, -5, -9999, -4][call as usize % 4];
            let fault = Some(Fault { call, code, lasting });
            let Some(gpu) = open(Settings { fault, strategy, ..Settings::default() }) else {
                return;
            };
            match gpu.run(&graph, &task, None, &Context::default()) {
                // There were fewer calls, or one that only frees what it holds.
                Ok(outcome) => {
                    assert!(outcome.complete);
                    assert_eq!(outcome.results, right, "{task:?}, call {call}");
                    break;
                }
                Err(error) => {
                    let text = error.to_string();
                    assert!(matches!(error, Error::Device(_)), "{text}");
                    assert_eq!(error.exit_code(), 1);
                    assert!(text.contains(&format!("({code})")), "{text}");
                    let room = code == -4 || code == -5;
                    assert!(
                        text.contains(if room { "setting `memory`" } else { "was lost" }),
                        "{text}"
                    );
                    failures += 1;
                }
            }
        }
        // Buffers of the graph, of the task, a program, launches and reads at the least.
        assert!(failures >= 8, "{task:?}: {failures}");
    }
}

/// The device still works after a failed call.
#[test]
fn a_device_is_used_again_after_a_failure() {
    let graph = graph();
    let fault = Some(Fault { call: 9, code: -5, lasting: false });
    let Some(gpu) = open(Settings { fault, ..Settings::default() }) else { return };
    let (task, context) = (Task::Clique { k: 4 }, Context::default());
    assert!(gpu.run(&graph, &task, None, &context).is_err());
    let right = Cpu.run(&graph, &task, None, &context).unwrap().results;
    assert_eq!(gpu.run(&graph, &task, None, &context).unwrap().results, right);
}

#[test]
fn a_profile_has_the_time_of_each_kernel() {
    let folder = tempfile::tempdir().unwrap();
    for (strategy, kernel) in [(Strategy::Local, "local_cliques"), (Strategy::Table, "extend")] {
        let path = folder.path().join(format!("{kernel}.json"));
        let (profile, strategy) = (Some(path.clone()), Some(strategy));
        let Some(gpu) = open(Settings { profile, strategy, ..Settings::default() }) else { return };
        let outcome = gpu.run(&graph(), &Task::Clique { k: 4 }, None, &Context::default()).unwrap();
        let metrics = &outcome.devices[0];
        let time = metrics.get(&format!("profile.{kernel}.time"));
        assert!(time.unwrap_or_else(|| panic!("{metrics:?}")).number().unwrap() > 0.0);
        let calls = metrics.count(&format!("profile.{kernel}.calls"));
        assert!(calls >= Some(1) && calls <= metrics.count("run.launches"));
        assert!(metrics.count("profile.read.calls") >= Some(1));
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!(r#""name": "{kernel}", "ph": "X""#)), "{text}");
    }
}
