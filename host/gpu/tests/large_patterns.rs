//! Patterns of 17 to 32 vertices by each strategy for matches against the CPU engine, with kernels that test their
//! indices.

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::{Engine, EngineExt, Outcome, Sink};
use gramer_gpu::{
    Ablation, Access, FirstEdge, Gpu, Join, JoinSettings, Layers, Order, Settings, Steps, Strategy,
    TableSettings, Traversal, Trial,
};
use gramer_graph::generate::Model;
use gramer_graph::{Graph, NO_LABEL, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Mappings, Task};
use gramer_testing::graphs::{self, numbers, random};
use gramer_testing::sinks::Sets;

mod common;

fn labelled(seed: u64) -> Graph {
    random(Model::BarabasiAlbert { vertices: 300, edges_per_vertex: 3 }, seed, [8, 2])
}

/// A random walk to this many vertices. An edge-induced pattern has the edges that were taken, some of them and of the
/// vertices without their label; a vertex-induced one has all edges and labels. Both occur in the graph.
fn drawn(graph: &Graph, vertices: usize, induced: Induced, seed: u64) -> Pattern {
    let (view, mut below) = (graph.view(), numbers(seed));
    let mut seen = vec![below(graph.vertices() as u64) as VertexId];
    let mut taken = vec![];
    let mut at = 0;
    while seen.len() < vertices {
        let row = view.neighbours(seen[at]);
        let next = row[below(row.len() as u64) as usize];
        let to = seen.iter().position(|&v| v == next).unwrap_or_else(|| {
            seen.push(next);
            seen.len() - 1
        });
        taken.push((at.min(to), at.max(to)));
        at = to;
    }
    if induced == Induced::Vertex {
        let pairs = (0..vertices).flat_map(|j| (0..j).map(move |i| (i, j)));
        taken = pairs.filter(|&(i, j)| view.neighbours(seen[i]).contains(&seen[j])).collect();
    }
    let mut pattern = Pattern::from_edges(vertices, &taken);
    let mut named = |label| match induced == Induced::Edge && below(8) == 0 {
        true => NO_LABEL,
        false => label,
    };
    for (i, &v) in seen.iter().enumerate() {
        pattern.set_vertex_label(i, named(view.vertex_label(v)));
    }
    for (i, j) in pattern.edges() {
        let label = view.edge_label(seen[i], seen[j]).expect("an edge of the graph");
        pattern.set_edge_label(i, j, named(label));
    }
    pattern
}

/// Patterns of all sizes in both forms.
fn tasks(graph: &Graph) -> Vec<Task> {
    let sizes = [17, 18, 20, 23, 26, 30, 32];
    let task = |(at, &vertices): (usize, &usize), induced| {
        let pattern = drawn(graph, vertices, induced, 40 + at as u64);
        Task::Match { pattern, induced, mappings: Some(Mappings::Isomorphism) }
    };
    [Induced::Edge, Induced::Vertex]
        .into_iter()
        .flat_map(|induced| sizes.iter().enumerate().map(move |size| task(size, induced)))
        .collect()
}

fn open(strategy: Strategy, steps: Steps, table: TableSettings) -> Option<Gpu> {
    let strategy = Some(strategy);
    common::open(Settings { checked: true, strategy, steps, table, ..Settings::default() })
}

fn ask(engine: &dyn Engine, graph: &Graph, task: &Task, sink: Option<&dyn Sink>) -> Outcome {
    let outcome = engine.run(graph, task, sink, &Context::default()).unwrap();
    assert!(outcome.complete);
    outcome
}

fn compare(gpu: &Gpu, graph: &Graph, case: &str) {
    let mut many = 0;
    for task in &tasks(graph) {
        let right = ask(&Cpu, graph, task, None).results;
        assert!((1..1_000_000).contains(&right[0].count), "{case}: {right:?}");
        many += u32::from(right[0].count > 100);
        assert_eq!(ask(gpu, graph, task, None).results, right, "{case}");
    }
    assert!(many > 2, "patterns occur often");
}

const STEPS: [Steps; 2] = [
    Steps { signatures: false, order: Order::Cost },
    Steps { signatures: true, order: Order::Paper },
];

#[test]
fn searches_count_and_list() {
    let graph = labelled(1);
    for steps in STEPS {
        let Some(gpu) = open(Strategy::Plan, steps, TableSettings::default()) else { return };
        compare(&gpu, &graph, &format!("{steps:?}"));
        for task in tasks(&graph).iter().step_by(3) {
            let (right, found) = (Sets::default(), Sets::default());
            ask(&Cpu, &graph, task, Some(&right));
            ask(&gpu, &graph, task, Some(&found));
            assert_eq!(found.listed(), right.listed(), "{task:?}");
        }
    }
}

#[test]
fn joins_in_every_way() {
    let graph = labelled(2);
    let (join, none) = (JoinSettings::default(), Ablation::default());
    let all = Ablation { pcsr: true, prealloc: true, sets: true, write_cache: true, ..none };
    let layers = |layers, first| JoinSettings { layers, first, ..join };
    for (join_settings, without) in [
        (join, none),
        (JoinSettings { segments: 3, ..join }, none),
        (layers(Layers::Paper, FirstEdge::Label), none),
        (layers(Layers::Histogram, FirstEdge::Row), none),
        (join, Ablation { prealloc: true, ..none }),
        (join, all),
    ] {
        for steps in STEPS {
            let join = Join::Prealloc;
            let table = TableSettings { join, join_settings, without, ..TableSettings::default() };
            let Some(gpu) = open(Strategy::Table, steps, table) else { return };
            compare(&gpu, &graph, &format!("{join_settings:?} {without:?} {steps:?}"));
        }
    }
}

#[test]
fn tables_depth_first_breadth_first_and_by_pages() {
    let graph = labelled(3);
    let plain = TableSettings::default();
    for table in [plain.clone(), TableSettings { traversal: Traversal::Breadth, ..plain.clone() }] {
        let case = format!("{:?}", table.traversal);
        let Some(gpu) = open(Strategy::Table, Steps::default(), table) else { return };
        compare(&gpu, &graph, &case);
    }
    // No hubs: the least memory has room for the lists of 32 vertices, and not for all.
    let model = Model::ErdosRenyiEdges { vertices: 1500, edges: 4500 };
    let graph = random(model, 9, [8, 2]);
    for access in [Access::Heat, Access::Rank, Access::Defer] {
        for task in tasks(&graph).iter().step_by(3) {
            let open = |kib: u64| {
                let table = TableSettings { access, ..plain.clone() };
                let (strategy, memory) = (Some(Strategy::Table), Some(kib << 10));
                common::open(Settings {
                    checked: true,
                    strategy,
                    memory,
                    table,
                    ..Settings::default()
                })
            };
            let Some(gpu) = open(1) else { return };
            let error = gpu.run(&graph, task, None, &Context::default()).unwrap_err().to_string();
            let named = error.split("at least ").nth(1).and_then(|text| text.split('K').next());
            let least = named.and_then(|kib| kib.parse().ok()).unwrap_or_else(|| panic!("{error}"));
            let Some(gpu) = open(least) else { return };
            let found = ask(&gpu, &graph, task, None);
            assert_eq!(found.results, ask(&Cpu, &graph, task, None).results, "{access:?}");
            assert!(found.devices[0].get("pages.slots").is_some(), "{access:?}");
        }
    }
}

/// A query of a few vertices after one of many, and the other way round, on one resident graph.
#[test]
fn sizes_may_alternate() {
    let graph = labelled(4);
    let sizes = [32, 3, 17, 16, 30, 2];
    for (strategy, join) in [
        (Strategy::Plan, Join::Intersect),
        (Strategy::Table, Join::Intersect),
        (Strategy::Table, Join::Prealloc),
    ] {
        let table = TableSettings { join, ..TableSettings::default() };
        let Some(gpu) = open(strategy, Steps::default(), table) else { return };
        let prepared = gpu.prepare(&graph, &Context::default()).unwrap();
        for (at, vertices) in sizes.into_iter().enumerate() {
            let pattern = drawn(&graph, vertices, Induced::Vertex, at as u64);
            let task = Task::Match {
                pattern,
                induced: Induced::Vertex,
                mappings: Some(Mappings::Isomorphism),
            };
            let right = ask(&Cpu, &graph, &task, None).results;
            let all = gramer_engine::Units::All;
            let found = prepared.run(&task, all, None, &Context::default()).unwrap();
            assert_eq!(found.results, right, "{strategy:?} {join:?} {vertices}");
        }
    }
}

/// Patterns without labels have symmetries: occurrences are counted once each, also after a trial.
#[test]
fn occurrences_of_symmetric_patterns() {
    // Each vertex is next to the four nearest on a ring.
    let ring = (0..28).flat_map(|v| [(v, (v + 1) % 28), (v, (v + 2) % 28)]);
    let (ring, complete) = (graphs::graph(ring), graphs::complete(18));
    let path: Vec<_> = (1..17).map(|v| (v - 1, v)).collect();
    let cycle: Vec<_> = path.iter().copied().chain([(0, 16)]).collect();
    let trial = Trial { after: std::time::Duration::ZERO, left: 0.0, gain: 0.0 };
    for (graph, pattern, induced) in [
        (&ring, Pattern::from_edges(17, &path), Induced::Vertex),
        (&ring, Pattern::from_edges(17, &cycle), Induced::Vertex),
        (&ring, Pattern::from_edges(17, &cycle), Induced::Edge),
        (&complete, Pattern::clique(17), Induced::Edge),
    ] {
        let task = Task::Match { pattern, induced, mappings: None };
        let right = ask(&Cpu, graph, &task, None).results;
        assert!(right[0].count > 0, "{task:?}");
        for trial in [None, Some(trial)] {
            let settings = Settings { checked: true, trial, ..Settings::default() };
            let Some(gpu) = common::open(settings) else { return };
            assert_eq!(ask(&gpu, graph, &task, None).results, right, "{task:?}");
        }
    }
}
