//! SGSI's join against the CPU engine, with kernels that test their indices.

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::{Engine, EngineExt, Share, Units};
use gramer_gpu::{
    Ablation, FirstEdge, Join, JoinSettings, Layers, Order, Rows, Settings, Steps, Strategy,
    TableSettings,
};
use gramer_graph::generate::Model;
use gramer_graph::{Builder, Graph};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Mappings, Task};
use gramer_testing::graphs::random;

#[path = "common/answers.rs"]
mod answers;
mod common;

use answers::{answer, number};
use common::open;

/// Changes of the defaults.
#[derive(Clone, Copy, Default)]
struct Case {
    memory: Option<u64>,
    steps: Steps,
    join: JoinSettings,
    without: Ablation,
}

fn settings(case: Case) -> Settings {
    let Case { memory, steps, join, without } = case;
    let table = TableSettings {
        join: Join::Prealloc,
        join_settings: join,
        without,
        ..TableSettings::default()
    };
    Settings {
        checked: true,
        strategy: Some(Strategy::Table),
        memory,
        steps,
        table,
        ..Settings::default()
    }
}

/// A few hubs, and many labels that few vertices have.
fn labelled(seed: u64) -> Graph {
    random(Model::BarabasiAlbert { vertices: 800, edges_per_vertex: 4 }, seed, [2, 30])
}

fn task(pattern: &Pattern, induced: Induced, mappings: bool) -> Task {
    Task::Match {
        pattern: pattern.clone(),
        induced,
        mappings: mappings.then_some(Mappings::Isomorphism),
    }
}

/// A pattern with these labels of edges; those of vertices repeat.
fn pattern(vertices: usize, edges: &[(usize, usize, u32)], labels: &[u32]) -> Pattern {
    let plain: Vec<_> = edges.iter().map(|&(u, v, _)| (u, v)).collect();
    let mut pattern = Pattern::from_edges(vertices, &plain);
    edges.iter().for_each(|&(u, v, label)| pattern.set_edge_label(u, v, label));
    for v in (0..vertices).filter(|_| !labels.is_empty()) {
        pattern.set_vertex_label(v, labels[v % labels.len()]);
    }
    pattern
}

/// Trees, cycles and vertex-induced patterns; labels are frequent (0, 1) and rare, and some edges have any.
fn tasks() -> Vec<Task> {
    const ANY: u32 = gramer_graph::NO_LABEL;
    let path = pattern(4, &[(0, 1, 0), (1, 2, 12), (2, 3, 1)], &[]);
    let triangle = pattern(3, &[(0, 1, 9), (1, 2, ANY), (0, 2, ANY)], &[]);
    let tailed = pattern(4, &[(0, 1, 0), (1, 2, ANY), (0, 2, ANY), (2, 3, 9)], &[]);
    let star = pattern(4, &[(0, 1, 0), (0, 2, 9), (0, 3, 1)], &[0, 1]);
    vec![
        task(&path, Induced::Vertex, true),
        task(&triangle, Induced::Edge, true),
        task(&tailed, Induced::Edge, true),
        task(&star, Induced::Vertex, false),
    ]
}

fn rights(graph: &Graph, tasks: &[Task]) -> Vec<Vec<gramer_engine::Count>> {
    let rights: Vec<_> = tasks.iter().map(|task| answer(&Cpu, graph, task).results).collect();
    assert!(rights.iter().all(|right| right[0].count > 0), "every pattern occurs: {rights:?}");
    rights
}

/// Groups of one pair overflow all the time, groups of 15 don't.
#[test]
fn labels_of_edges_by_pcsr_with_chains_and_without() {
    let graph = labelled(3);
    let tasks = tasks();
    let rights = rights(&graph, &tasks);
    for pairs in [16, 3, 2] {
        let join = JoinSettings { pairs, ..JoinSettings::default() };
        let Some(gpu) = open(settings(Case { join, ..Case::default() })) else { return };
        let (mut chained, mut overflowing) = (0.0, 0.0);
        for (task, right) in tasks.iter().zip(&rights) {
            let outcome = answer(&gpu, &graph, task);
            assert_eq!(&outcome.results, right, "{pairs} {task:?}");
            chained += number(&outcome, "join.chained");
            overflowing += number(&outcome, "join.overflowing");
        }
        assert_eq!((chained > 0.0, overflowing > 0.0), (pairs < 16, pairs < 16), "{pairs}");
    }
    let join = JoinSettings { pairs: 17, ..JoinSettings::default() };
    let Some(gpu) = open(settings(Case { join, ..Case::default() })) else { return };
    let error = gpu.run(&graph, &tasks[0], None, &Context::default()).unwrap_err();
    assert_eq!((error.exit_code(), error.to_string().contains("2 to 16 pairs")), (2, true));
}

/// The paper's compressed representation: also in segments, with a layer each, and done twice.
#[test]
fn rows_by_binary_search_lead_to_the_same() {
    let graph = labelled(3);
    let tasks = tasks();
    let rights = rights(&graph, &tasks);
    let rows = Rows::Search;
    let twice = Ablation { prealloc: true, ..Ablation::default() };
    let cases = [
        (JoinSettings { rows, ..JoinSettings::default() }, Ablation::default()),
        (JoinSettings { rows, segments: 3, ..JoinSettings::default() }, Ablation::default()),
        (
            JoinSettings { rows, layers: Layers::Paper, ..JoinSettings::default() },
            Ablation::default(),
        ),
        (JoinSettings { rows, ..JoinSettings::default() }, twice),
    ];
    for (join, without) in cases {
        let Some(gpu) = open(settings(Case { join, without, ..Case::default() })) else { return };
        for (task, right) in tasks.iter().zip(&rights) {
            let outcome = answer(&gpu, &graph, task);
            assert_eq!(&outcome.results, right, "{join:?} {task:?}");
            assert_eq!(number(&outcome, "join.overflowing"), 0.0);
        }
    }
}

/// A query finds signatures and PCSR on the device; another task has them freed.
#[test]
fn signatures_and_lists_stay_on_the_device() {
    let graph = labelled(3);
    let tasks = tasks();
    let rights = rights(&graph, &tasks);
    let steps = Steps { signatures: true, order: Order::Paper };
    let Some(gpu) = open(settings(Case { steps, ..Case::default() })) else { return };
    let prepared = gpu.prepare(&graph, &Context::default()).unwrap();
    let ask = |task: &Task| {
        let outcome = prepared.run(task, Units::All, None, &Context::default()).unwrap();
        let number = |name: &str| outcome.devices[0].get(name).and_then(|v| v.number());
        let [loaded, written] =
            ["join.segments.loaded", "bus.written"].map(|name| number(name).unwrap_or(0.0));
        (outcome.results, loaded, written)
    };
    let mut first = vec![];
    for (task, right) in tasks.iter().zip(&rights) {
        let (results, loaded, written) = ask(task);
        assert_eq!(&results, right, "{task:?}");
        first.push((loaded, written));
    }
    assert!(first[0].0 > 0.0);
    for (task, right) in tasks.iter().zip(&rights) {
        let (results, loaded, written) = ask(task);
        assert_eq!((&results, loaded), (right, 0.0), "{task:?}");
        assert!(2.0 * written < first[0].1, "{written} {first:?}");
    }
    let clique = Task::Clique { k: 3 };
    assert_eq!(ask(&clique).0, answer(&Cpu, &graph, &clique).results);
    let (results, loaded, _) = ask(&tasks[0]);
    assert_eq!(results, rights[0]);
    assert!(loaded > 0.0);
}

/// What is kept makes room: queries after others do with the memory that they would do with alone.
#[test]
fn kept_buffers_make_room_in_small_budgets() {
    let graph = labelled(3);
    let tasks = tasks();
    let rights = rights(&graph, &tasks);
    let context = Context::default();
    let mut ran = [0; 2];
    for signatures in [false, true] {
        for kilobytes in [8, 16, 24, 32, 40, 60, 80, 110, 150, 300] {
            let steps = Steps { signatures, order: Order::Paper };
            let case = Case { steps, memory: Some(kilobytes << 10), ..Case::default() };
            let Some(gpu) = open(settings(case)) else { return };
            let Some(other) = open(settings(case)) else { return };
            let prepared = other.prepare(&graph, &context).unwrap();
            for (task, right) in tasks.iter().zip(&rights).cycle().take(2 * tasks.len()) {
                let alone = gpu.run(&graph, task, None, &context);
                let after = prepared.run(task, Units::All, None, &context);
                assert_eq!(alone.is_ok(), after.is_ok(), "{kilobytes} {:?}", after.err());
                ran[usize::from(alone.is_ok())] += 1;
                if let Ok(after) = after {
                    assert_eq!(&after.results, right, "{kilobytes} {task:?}");
                }
            }
        }
    }
    assert!(ran[0] > 0 && ran[1] > 0, "{ran:?}");
}

/// Lists of a hundred, of which half the elements fit: without the cache each batch of lanes leaves a part of a
/// line.
#[test]
fn parts_of_lines_wait_in_the_write_cache() {
    let graph = random(Model::ErdosRenyiEdges { vertices: 140, edges: 7000 }, 7, [2, 1]);
    let tasks = [task(&pattern(3, &[(0, 1, 0), (1, 2, 0)], &[0, 1, 1]), Induced::Edge, true)];
    let rights = rights(&graph, &tasks);
    let none = Ablation::default();
    let stores = [none, Ablation { write_cache: true, ..none }].map(|without| {
        let gpu = open(settings(Case { without, ..Case::default() }))?;
        let outcome = answer(&gpu, &graph, &tasks[0]);
        assert_eq!(outcome.results, rights[0], "{without:?}");
        Some(number(&outcome, "join.stores"))
    });
    let [Some(with), Some(without)] = stores else { return };
    assert!(without > 1.2 * with, "{without} {with}");
}

/// Each step of GSI's by itself left out, and all of them; each has its effect.
#[test]
fn steps_may_be_left_out() {
    let graph = labelled(5);
    let tasks = tasks();
    let rights = rights(&graph, &tasks);
    let none = Ablation::default();
    let all = Ablation { pcsr: true, prealloc: true, sets: true, write_cache: true, ..none };
    let mut loads = vec![];
    let mut stores = vec![];
    for without in [
        none,
        Ablation { pcsr: true, ..none },
        Ablation { prealloc: true, ..none },
        Ablation { sets: true, ..none },
        Ablation { write_cache: true, ..none },
        all,
    ] {
        let Some(gpu) = open(settings(Case { without, ..Case::default() })) else { return };
        let mut sums = [0.0, 0.0];
        for (task, right) in tasks.iter().zip(&rights) {
            let outcome = answer(&gpu, &graph, task);
            assert_eq!(&outcome.results, right, "{without:?} {task:?}");
            sums[0] += number(&outcome, "join.loads");
            sums[1] += number(&outcome, "join.stores");
        }
        loads.push(sums[0]);
        stores.push(sums[1]);
    }
    assert!(loads[1] > 1.5 * loads[0], "lists of all labels are longer: {loads:?}");
    assert!(loads[3] > loads[0] && loads[5] > loads[1], "{loads:?}");
    // Lists of these hubs are shorter than what lanes write together: `parts_of_lines_wait_in_the_write_cache`.
    assert!(stores[4] >= stores[0], "{stores:?}");
    let without = Ablation { prealloc: true, ..none };
    let join = JoinSettings { segments: 2, ..JoinSettings::default() };
    let Some(gpu) = open(settings(Case { without, join, ..Case::default() })) else { return };
    let error = gpu.run(&graph, &tasks[0], None, &Context::default()).unwrap_err();
    assert!(error.to_string().contains("one segment"), "{error}");
}

/// The buffers are as long as the shortest list of each row, or as that of the rarest label.
#[test]
fn buffers_are_as_long_as_the_first_edge_says() {
    // A hub with 6 leaves of label 0, of which each has an edge of label 1 to a second hub.
    let mut builder = Builder::new();
    for leaf in 0..6u64 {
        builder.labelled_edge(100, leaf, 0);
        builder.labelled_edge(200, leaf, 1);
    }
    builder.labelled_edge(100, 200, 2);
    let graph = builder.build();
    let triangle = pattern(3, &[(0, 1, 2), (0, 2, 0), (1, 2, 1)], &[]);
    let task = task(&triangle, Induced::Edge, true);
    for first in [FirstEdge::Row, FirstEdge::Label] {
        let join = JoinSettings { first, ..JoinSettings::default() };
        let steps = Steps { order: Order::Paper, ..Steps::default() };
        let Some(gpu) = open(settings(Case { join, steps, ..Case::default() })) else { return };
        let outcome = answer(&gpu, &graph, &task);
        assert_eq!(outcome.results[0].count, 6);
        assert_eq!(outcome.results, answer(&Cpu, &graph, &task).results);
        // One buffer for each hub that has the edge 2, then of one row with lists of 6 and 6.
        let allocated = number(&outcome, "join.allocated");
        assert!((6.0..=16.0).contains(&allocated), "{first:?} {allocated}");
        // One join: lengths, choice, three of the prefix sum, cut; the first edge; the other; places; link.
        let launches = [number(&outcome, "join.launches.1"), number(&outcome, "join.launches.2")];
        assert!(launches.iter().all(|&n| (8.0..=16.0).contains(&n)), "{first:?} {launches:?}");
    }
}

#[test]
fn segments_change_nothing_and_lists_lie_across_them() {
    let graph = labelled(7);
    let mut tasks = tasks();
    // Lists of all edges: those of hubs lie in several segments.
    let mut square = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    square.set_vertex_label(0, 0);
    tasks.push(task(&square, Induced::Vertex, true));
    let rights = rights(&graph, &tasks);
    for segments in [1, 2, 7] {
        for memory in [None, Some(160 << 10)] {
            let join = JoinSettings { segments, ..JoinSettings::default() };
            let case = Case { join, memory, ..Case::default() };
            let Some(gpu) = open(settings(case)) else { return };
            for (task, right) in tasks.iter().zip(&rights) {
                let outcome = answer(&gpu, &graph, task);
                assert_eq!(&outcome.results, right, "{segments} {memory:?} {task:?}");
                assert!(number(&outcome, "join.segments") as u32 >= segments);
            }
            let (limit, peak) = gpu.memory().unwrap();
            assert!(peak <= limit);
        }
    }
}

/// Rows of all lengths, so that each layer has some.
#[test]
fn layers_change_nothing_and_each_has_rows() {
    let mut builder = Builder::new();
    // Five hubs with 70 to 4,500 neighbours, with labels by parity, which are next to each other.
    let sizes = [70, 400, 1100, 2000, 4500u64];
    for (hub, &size) in sizes.iter().enumerate() {
        for leaf in 0..size {
            builder.labelled_edge(hub as u64, 10 + leaf, (leaf % 2) as u32);
        }
        (0..hub).for_each(|other| builder.labelled_edge(hub as u64, other as u64, 0));
    }
    let graph = builder.build();
    let wedge = pattern(3, &[(0, 1, 0), (0, 2, 1)], &[]);
    let triangle = pattern(3, &[(0, 1, 0), (0, 2, 0), (1, 2, 0)], &[]);
    let tasks = [
        task(&wedge, Induced::Vertex, true),
        task(&triangle, Induced::Edge, false),
        task(&Pattern::from_edges(3, &[(0, 1), (1, 2)]), Induced::Edge, false),
    ];
    let rights = rights(&graph, &tasks);
    for (layers, first) in [
        (Layers::None, FirstEdge::Row),
        (Layers::Paper, FirstEdge::Label),
        (Layers::Paper, FirstEdge::Row),
        (Layers::Histogram, FirstEdge::Label),
    ] {
        let join = JoinSettings { layers, first, ..JoinSettings::default() };
        let Some(gpu) = open(settings(Case { join, ..Case::default() })) else { return };
        let mut rows = [0.0; 4];
        for (task, right) in tasks.iter().zip(&rights) {
            let outcome = answer(&gpu, &graph, task);
            assert_eq!(&outcome.results, right, "{layers:?} {task:?}");
            for (sum, layer) in rows.iter_mut().zip(["warp", "warps", "block", "device"]) {
                *sum += number(&outcome, &format!("join.layer.{layer}"));
            }
        }
        match layers {
            Layers::None => assert_eq!(rows, [0.0; 4]),
            Layers::Paper => assert!(rows.iter().all(|&n| n > 0.0), "{rows:?}"),
            Layers::Histogram => assert!(rows.iter().sum::<f64>() > 5000.0, "{rows:?}"),
        }
    }
}

/// Signatures in one segment and in many, the paper's order, and budgets down to the least.
#[test]
fn signatures_orders_and_budgets() {
    let graph = labelled(11);
    let tasks = tasks();
    let rights = rights(&graph, &tasks);
    let paper = Steps { signatures: true, order: Order::Paper };
    // The size named first may not suffice for later steps, but after a few attempts it does.
    let (mut least, mut refused) = (16u64, 0);
    loop {
        let case = Case { memory: Some(least << 10), steps: paper, ..Case::default() };
        let Some(gpu) = open(settings(case)) else { return };
        let all = tasks.iter().map(|task| gpu.run(&graph, task, None, &Context::default()));
        let Err(error) = all.collect::<Result<Vec<_>, _>>() else { break };
        let text = error.to_string();
        let named = text.split("the setting `memory` at least ").nth(1).expect("a size is named");
        let named: u64 = named.split('K').next().unwrap().parse().unwrap();
        assert!(error.exit_code() == 1 && named > least, "{least}: {text}");
        (least, refused) = (named, refused + 1);
    }
    assert!((1..12).contains(&refused), "{refused}");
    let (mut segments, mut batches) = (vec![], vec![]);
    for memory in [None, Some(least << 10), Some((2 * least) << 10)] {
        let Some(gpu) = open(settings(Case { memory, steps: paper, ..Case::default() })) else {
            return;
        };
        for (task, right) in tasks.iter().zip(&rights) {
            let outcome = answer(&gpu, &graph, task);
            assert_eq!(&outcome.results, right, "{memory:?} {task:?}");
            segments.push(number(&outcome, "join.signatures.segments"));
            batches.push(number(&outcome, "join.batches"));
        }
        let (limit, peak) = gpu.memory().unwrap();
        assert!(peak <= limit);
    }
    assert!(segments[0] == 1.0 && segments[4] > 1.0, "{segments:?}");
    assert!(batches[4] > batches[0], "{batches:?}");
}

#[test]
fn shares_add_up_and_graphs_without_labels_are_joined() {
    let plain = random(Model::BarabasiAlbert { vertices: 200, edges_per_vertex: 5 }, 6, [0, 0]);
    let tailed = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]);
    let tasks = [
        task(&tailed, Induced::Vertex, false),
        task(&Pattern::from_edges(2, &[(0, 1)]), Induced::Edge, true),
        task(&Pattern::clique(4), Induced::Edge, false),
    ];
    let Some(gpu) = open(settings(Case::default())) else { return };
    let context = Context::default();
    let prepared = gpu.prepare(&plain, &context).unwrap();
    for task in &tasks {
        let right = answer(&Cpu, &plain, task).results[0].count;
        let mut sum = 0;
        for range in [0..80, 80..81, 81..200] {
            let share = Share::new([range], []).unwrap();
            let outcome = prepared.run(task, Units::Share(&share), None, &context).unwrap();
            assert!(outcome.complete && outcome.results[0].count < right);
            sum += outcome.results[0].count;
        }
        assert_eq!(sum, right, "{task:?}");
    }
    let empty = Builder::new().build();
    assert_eq!(answer(&gpu, &empty, &tasks[1]).results[0].count, 0);
}

/// The paper's order for GAMMA's join as well.
#[test]
fn extensions_take_the_order_too() {
    let graph = labelled(13);
    let tasks = tasks();
    let rights = rights(&graph, &tasks);
    let steps = Steps { order: Order::Paper, ..Steps::default() };
    let mut settings = settings(Case { steps, ..Case::default() });
    settings.table.join = Join::Intersect;
    let Some(gpu) = open(settings) else { return };
    for (task, right) in tasks.iter().zip(&rights) {
        assert_eq!(&answer(&gpu, &graph, task).results, right, "{task:?}");
    }
}
