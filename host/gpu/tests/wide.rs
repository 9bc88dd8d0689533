//! The strategy `wide` against the CPU engine and the reference, with kernels that test their indices.

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::reference::Reference;
use gramer_engine::{Ask, Engine, EngineExt, Outcome, Query};
use gramer_gpu::{Balance, Lanes, Settings, Strategy, Tile};
use gramer_graph::generate::Model;
use gramer_graph::{Builder, Graph};
use gramer_pattern::task::{Induced, Task};
use gramer_testing::graphs::random;

mod common;

use common::open;

fn wide() -> Settings {
    Settings { checked: true, strategy: Some(Strategy::Wide), ..Settings::default() }
}

fn motif(k: usize) -> Task {
    Task::Motif { k, induced: Induced::Vertex }
}

fn answer(engine: &dyn Engine, graph: &Graph, task: &Task) -> Outcome {
    let outcome = engine.run(graph, task, None, &Context::default()).unwrap();
    assert!(outcome.complete);
    outcome
}

#[test]
fn motifs_and_cliques_equal_those_of_the_cpu() {
    let Some(gpu) = open(wide()) else { return };
    let graphs = [
        random(Model::ErdosRenyiEdges { vertices: 40, edges: 130 }, 1, [0, 0]),
        random(Model::BarabasiAlbert { vertices: 50, edges_per_vertex: 3 }, 2, [0, 0]),
        random(Model::Rmat { scale: 6, edge_factor: 4, a: 0.57, b: 0.19, c: 0.19 }, 3, [0, 0]),
    ];
    for graph in &graphs {
        let motifs = (3..=6).flat_map(|k| {
            [Induced::Vertex, Induced::Edge].map(|induced| Task::Motif { k, induced })
        });
        for task in motifs.chain([3, 5, 8].map(|k| Task::Clique { k })) {
            assert_eq!(answer(&gpu, graph, &task).results, answer(&Cpu, graph, &task).results);
        }
    }
}

/// Parts of a warp with an embedding each: in one work-group by instructions of NVIDIA's, else in one of their own.
#[test]
fn virtual_warps_find_the_same() {
    let graph =
        random(Model::Rmat { scale: 6, edge_factor: 4, a: 0.57, b: 0.19, c: 0.19 }, 3, [0, 0]);
    for (tile, task) in [(Tile::Eight, motif(4)), (Tile::Sixteen, Task::Clique { k: 4 })] {
        let right = answer(&Cpu, &graph, &task).results;
        for lanes in [None, Some(Lanes::Local)] {
            let Some(gpu) = open(Settings { tile: Some(tile), lanes, ..wide() }) else { return };
            assert_eq!(answer(&gpu, &graph, &task).results, right, "{tile:?} {lanes:?}");
            let Some(whole) = open(wide()) else { return };
            answer(&whole, &graph, &task);
            // There are more of them, each with its own room, but at most as many as roots, and a GPU holds all at once.
            let more = gpu.memory().unwrap().1 > whole.memory().unwrap().1;
            assert!(more || gpu.found().kind == "gpu", "{tile:?}");
        }
    }
}

/// The thesis' baseline: no level is stored, lanes wait for none, and nothing is given away.
#[test]
fn single_lanes_find_the_same_depth_first() {
    let graph =
        random(Model::Rmat { scale: 6, edge_factor: 4, a: 0.57, b: 0.19, c: 0.19 }, 3, [0, 0]);
    let small = random(Model::ErdosRenyiEdges { vertices: 13, edges: 26 }, 5, [0, 0]);
    for lanes in [None, Some(Lanes::Local)] {
        let settings = Settings { tile: Some(Tile::Lane), lanes, ..wide() };
        let Some(gpu) = open(settings) else { return };
        for task in [motif(3), motif(4), Task::Clique { k: 3 }, Task::Clique { k: 5 }] {
            let outcome = answer(&gpu, &graph, &task);
            assert_eq!(outcome.results, answer(&Cpu, &graph, &task).results, "{task:?}");
            assert_eq!(outcome.devices[0].count("wide.donations"), Some(0));
            assert!(outcome.devices[0].count("wide.slices") > Some(0));
        }
        let mut right = answer(&Reference::default(), &small, &motif(6)).results;
        right.retain(|c| c.count > 0);
        let total =
            |results: &[gramer_engine::Count]| results.iter().map(|c| c.count).sum::<u128>();
        assert_eq!(total(&answer(&gpu, &small, &motif(6)).results), total(&right));
    }
}

#[test]
fn motifs_of_seven_vertices_equal_those_of_the_reference() {
    let Some(gpu) = open(wide()) else { return };
    let graph = random(Model::ErdosRenyiEdges { vertices: 14, edges: 27 }, 7, [0, 0]);
    let mut right = answer(&Reference::default(), &graph, &motif(7)).results;
    right.retain(|c| c.count > 0);
    right.sort_by_key(|c| (c.pattern.edge_count(), c.pattern.bits()));
    assert!(right.len() > 30);
    assert_eq!(answer(&gpu, &graph, &motif(7)).results, right);
    let edge = Task::Motif { k: 7, induced: Induced::Edge };
    let refuses = |engine: &dyn Engine, task| engine.plan(&Ask::new(&Query::new(task))).is_err();
    assert!(refuses(&gpu, edge) && refuses(&Cpu, motif(7)));
}

/// A hub with more leaves than an array holds: levels are filled in portions.
#[test]
fn a_level_that_does_not_fit_is_made_in_portions() {
    let Some(gpu) = open(wide()) else { return };
    let mut star = Builder::new();
    for leaf in 1..=600u64 {
        star.edge(0, leaf);
        if leaf % 7 == 0 {
            star.edge(leaf, leaf - 1);
        }
    }
    let graph = star.build();
    assert_eq!(answer(&gpu, &graph, &motif(3)).results, answer(&Cpu, &graph, &motif(3)).results);
    let small = Settings { memory: Some(96 << 10), ..wide() };
    let Some(gpu) = open(small) else { return };
    let model = Model::BarabasiAlbert { vertices: 100, edges_per_vertex: 4 };
    let graph = random(model, 1, [0, 0]);
    assert_eq!(answer(&gpu, &graph, &motif(4)).results, answer(&Cpu, &graph, &motif(4)).results);
    let (limit, peak) = gpu.memory().unwrap();
    assert!(peak <= limit);
}

/// One root has nearly all of the work: the others' warps live on what they are given.
#[test]
fn work_is_given_to_warps_that_have_none() {
    // The vertex of least degree is the root of all subgraphs with it: here it holds the rest together.
    let mut builder = Builder::new();
    for v in 1..=40u64 {
        builder.edge(0, v);
        for u in v + 1..=40 {
            if (u * 7 + v * 3) % 5 < 3 {
                builder.edge(v, u);
            }
        }
    }
    let graph = builder.build();
    let right = answer(&Cpu, &graph, &motif(5)).results;
    let mut given = vec![];
    let balances = [
        Balance::default(),
        Balance { donations: 0, ..Balance::default() },
        // Fewer warps than roots, and more.
        Balance { warps: Some(3), ..Balance::default() },
        Balance { warps: Some(64), ..Balance::default() },
    ];
    for balance in balances {
        let Some(gpu) = open(Settings { balance, ..wide() }) else { return };
        let outcome = answer(&gpu, &graph, &motif(5));
        assert_eq!(outcome.results, right);
        given.push(outcome.devices[0].count("wide.donations").unwrap());
    }
    assert!(given[0] > 0 && given[1] == 0 && given[3] > 0, "{given:?}");
}

#[test]
fn a_strategy_that_can_not_do_it_names_one_that_can() {
    let settings = Settings { strategy: Some(Strategy::Local), ..wide() };
    let Some(gpu) = open(settings) else { return };
    let said = gpu.plan(&Ask::new(&Query::new(motif(5)))).unwrap_err().to_string();
    assert!(said.contains("another method was named"), "{said}");
}

#[test]
fn a_search_stops_when_it_is_asked_to() {
    let Some(gpu) = open(Settings { checked: false, ..wide() }) else { return };
    // Built before the time is taken.
    let small = random(Model::ErdosRenyiEdges { vertices: 8, edges: 12 }, 1, [0, 0]);
    answer(&gpu, &small, &motif(6));
    let graph = random(Model::ErdosRenyiProbability { vertices: 300, p: 0.3 }, 3, [0, 0]);
    let context = Context::default();
    let cancel = context.cancel.clone();
    let stop = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        cancel.cancel();
    });
    let begun = std::time::Instant::now();
    let part = gpu.run(&graph, &motif(6), None, &context).unwrap();
    assert!(!part.complete && begun.elapsed().as_secs_f64() < 10.0);
    stop.join().unwrap();
}
