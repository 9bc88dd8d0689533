//! Matching and lists by the strategy `plan`, against the CPU engine.

use std::ops::ControlFlow;
use std::sync::Mutex;

use gramer_base::choice::Choice;
use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::metrics::Value;
use gramer_engine::{Engine, EngineExt, Outcome, Sink};
use gramer_gpu::{Gpu, Lanes, Order, Settings, Steps};
use gramer_graph::generate::Model;
use gramer_graph::{Graph, VertexId};
use gramer_pattern::task::{Induced, Mappings, Task};
use gramer_pattern::{Dictionary, Pattern};
use gramer_testing::graphs;
use gramer_testing::sinks::Sets;

mod common;

/// The device with kernels that test their indices.
fn open(settings: Settings) -> Option<Gpu> {
    common::open(Settings { checked: true, ..settings })
}

fn random(model: Model, seed: u64, labelled: bool) -> Graph {
    graphs::random(model, seed, if labelled { [3, 2] } else { [0, 0] })
}

fn ask(engine: &dyn Engine, graph: &Graph, task: &Task, list: bool) -> (Outcome, Sets) {
    let collect = Sets::default();
    let sink = list.then_some(&collect as &dyn Sink);
    let outcome = engine.run(graph, task, sink, &Context::default()).unwrap();
    (outcome, collect)
}

/// Compares the answers to a task, and the lists of vertex sets.
fn compare(gpu: &Gpu, graph: &Graph, task: &Task, list: bool) {
    let (right, rights) = ask(&Cpu, graph, task, list);
    let (answer, answers) = ask(gpu, graph, task, list);
    assert!(answer.complete);
    assert_eq!(answer.results, right.results, "{task:?}");
    assert_eq!(answers.listed(), rights.listed(), "{task:?}");
}

#[test]
fn every_pattern_of_up_to_five_vertices() {
    let Some(gpu) = open(Settings::default()) else { return };
    let graphs = [
        random(Model::ErdosRenyiEdges { vertices: 40, edges: 140 }, 1, false),
        random(Model::BarabasiAlbert { vertices: 60, edges_per_vertex: 4 }, 2, false),
    ];
    for graph in &graphs {
        for k in 2..=5 {
            for pattern in Dictionary::of(k).patterns() {
                for induced in [Induced::Vertex, Induced::Edge] {
                    let pattern = pattern.clone();
                    let mappings = pattern.edge_count() % 2 == 0;
                    let task = Task::Match {
                        pattern,
                        induced,
                        mappings: mappings.then_some(Mappings::Isomorphism),
                    };
                    compare(&gpu, graph, &task, false);
                }
            }
        }
    }
}

#[test]
fn labels_of_vertices_and_edges() {
    let Some(gpu) = open(Settings::default()) else { return };
    let model = Model::Rmat { scale: 7, edge_factor: 6, a: 0.5, b: 0.2, c: 0.2 };
    let graph = random(model, 3, true);
    let mut asked = 0;
    for (number, pattern) in Dictionary::of(4).patterns().iter().enumerate() {
        for seed in 0..3u32 {
            let mut pattern = pattern.clone();
            // Some vertices and edges have labels, others take any.
            for v in 0..4u32 {
                if (seed + v + number as u32) % 3 != 0 {
                    pattern.set_vertex_label(v as usize, (seed + v) % 3);
                }
            }
            if seed == 1 {
                let (i, j) = pattern.edges()[number % pattern.edge_count()];
                pattern.set_edge_label(i, j, 1);
            }
            let task = Task::Match {
                pattern,
                induced: Induced::Edge,
                mappings: Some(Mappings::Isomorphism),
            };
            compare(&gpu, &graph, &task, seed == 2);
            asked += 1;
        }
    }
    assert_eq!(asked, 18);
    let single = {
        let mut pattern = Pattern::new(1);
        pattern.set_vertex_label(0, 1);
        pattern
    };
    compare(
        &gpu,
        &graph,
        &Task::Match { pattern: single, induced: Induced::Edge, mappings: None },
        true,
    );
}

/// Each step of SGSI, alone and with the other, gives the same counts and lists.
#[test]
fn steps_of_sgsi_change_no_answer() {
    let model = Model::Rmat { scale: 7, edge_factor: 6, a: 0.5, b: 0.2, c: 0.2 };
    let graphs = [random(model, 3, true), random(model, 4, false)];
    for (signatures, order) in [(true, Order::Cost), (false, Order::Paper), (true, Order::Paper)] {
        let steps = Steps { signatures, order };
        let Some(gpu) = open(Settings { steps, ..Settings::default() }) else { return };
        for (number, graph) in graphs.iter().enumerate() {
            for (at, pattern) in Dictionary::of(4).patterns().iter().enumerate() {
                let mut pattern = pattern.clone();
                let labelled = number == 0;
                for v in (0..4).filter(|v| labelled && (v + at) % 3 != 0) {
                    pattern.set_vertex_label(v, (v + at) as u32 % 3);
                }
                if labelled && at % 2 == 0 {
                    let (i, j) = pattern.edges()[at % pattern.edge_count()];
                    pattern.set_edge_label(i, j, at as u32 / 2 % 2);
                }
                let induced = if at % 2 == 0 { Induced::Edge } else { Induced::Vertex };
                let mappings = labelled || at % 3 == 0;
                let task = Task::Match {
                    pattern,
                    induced,
                    mappings: mappings.then_some(Mappings::Isomorphism),
                };
                compare(&gpu, graph, &task, at == 1);
            }
        }
        // A label that no vertex has.
        let mut none = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
        (0..3).for_each(|v| none.set_vertex_label(v, 77));
        let task = Task::Match {
            pattern: none,
            induced: Induced::Edge,
            mappings: Some(Mappings::Isomorphism),
        };
        compare(&gpu, &graphs[0], &task, false);
    }
}

#[test]
fn lists_of_cliques_motifs_and_matches() {
    let Some(gpu) = open(Settings::default()) else { return };
    let graph = random(Model::BarabasiAlbert { vertices: 70, edges_per_vertex: 5 }, 4, false);
    compare(&gpu, &graph, &Task::Clique { k: 4 }, true);
    compare(&gpu, &graph, &Task::Motif { k: 3, induced: Induced::Vertex }, true);
    let edge = Pattern::from_edges(2, &[(0, 1)]);
    for mappings in [false, true] {
        let pattern = edge.clone();
        compare(
            &gpu,
            &graph,
            &Task::Match {
                pattern,
                induced: Induced::Edge,
                mappings: mappings.then_some(Mappings::Isomorphism),
            },
            true,
        );
    }
}

#[test]
fn a_ring_that_is_smaller_than_the_list_is_filled_again_and_again() {
    // A budget in which the ring holds a fraction of the embeddings.
    let Some(gpu) = open(Settings { memory: Some(192 << 10), ..Settings::default() }) else {
        return;
    };
    let graph = random(Model::BarabasiAlbert { vertices: 200, edges_per_vertex: 6 }, 4, false);
    let path = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
    let task = Task::Match { pattern: path, induced: Induced::Edge, mappings: None };
    compare(&gpu, &graph, &task, true);
    let (limit, peak) = gpu.memory().unwrap();
    assert!(peak <= limit);
}

#[test]
fn a_list_ends_when_its_sink_asks_for_it() {
    struct Ten(Mutex<u64>);
    impl Sink for Ten {
        fn embedding(&self, _: &Pattern, _: &[VertexId]) -> ControlFlow<()> {
            let mut seen = self.0.lock().unwrap();
            *seen += 1;
            if *seen == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let Some(gpu) = open(Settings::default()) else { return };
    let graph = random(Model::BarabasiAlbert { vertices: 70, edges_per_vertex: 5 }, 4, false);
    let ten = Ten(Mutex::new(0));
    let outcome = gpu.run(&graph, &Task::Clique { k: 3 }, Some(&ten), &Context::default()).unwrap();
    assert!(!outcome.complete);
    assert_eq!((*ten.0.lock().unwrap(), outcome.results[0].count), (10, 10));
}

#[test]
fn what_is_not_done_here_is_refused_with_the_engine_that_can() {
    let Some(gpu) = open(Settings::default()) else { return };
    let graph = random(Model::BarabasiAlbert { vertices: 20, edges_per_vertex: 2 }, 4, true);
    let mut wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    wedge.set_vertex_label(0, 1);
    let wildcards = Task::Match { pattern: wedge, induced: Induced::Edge, mappings: None };
    let motifs = Task::Motif { k: 7, induced: Induced::Edge };
    for task in [Task::MaximalCliques, motifs, wildcards] {
        let error = gpu.run(&graph, &task, None, &Context::default()).unwrap_err();
        let said = error.to_string();
        assert!(said.contains("`gpu:portable` ") || said.contains("the engine `cpu`"), "{error}");
    }
}

/// A device takes a form of lane operations only where it is right; every one that it takes gives the
/// same counts.
#[test]
fn lanes_in_every_form() {
    let graph = random(Model::BarabasiAlbert { vertices: 60, edges_per_vertex: 5 }, 3, true);
    let path = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
    let matched = Task::Match { pattern: path, induced: Induced::Vertex, mappings: None };
    let edges = Task::Match { pattern: Pattern::clique(2), induced: Induced::Edge, mappings: None };
    let dense = random(Model::ErdosRenyiProbability { vertices: 70, p: 0.5 }, 5, false);
    let tasks = [
        (&graph, matched),
        (&graph, edges),
        (&graph, Task::Motif { k: 5, induced: Induced::Vertex }),
        (&dense, Task::Clique { k: 6 }),
        (&dense, Task::Clique { k: 8 }),
    ];
    // The form that this device must have.
    let wanted = std::env::var("GRAMER_REQUIRE_LANES");
    for (lanes, name, _) in Lanes::ALL {
        let Some(gpu) = open(Settings { lanes: Some(*lanes), ..Settings::default() }) else {
            return;
        };
        // On a processor these are counted so by other tests.
        let known = *lanes == Lanes::Local && gpu.found().kind != "gpu";
        for (graph, task) in &tasks[..if known { 3 } else { tasks.len() }] {
            let right = Cpu.run(graph, task, None, &Context::default()).unwrap().results;
            match gpu.run(graph, task, None, &Context::default()) {
                Ok(answer) => {
                    assert_eq!(answer.results, right, "{name}: {task:?}");
                    let said = answer.devices[0].get("device.lanes");
                    assert_eq!(said, Some(&Value::Text((*name).into())), "{task:?}");
                }
                Err(error) => {
                    assert_ne!(*lanes, Lanes::Local, "{error}");
                    assert_ne!(Ok(*name), wanted.as_deref(), "{error}");
                    let said = format!("the form {name} of lane operations ");
                    assert!(error.to_string().contains(&said), "{error}");
                    assert_eq!(error.exit_code(), 2);
                    // It was not opened, and is of no use for another task.
                    break;
                }
            }
        }
    }
}
