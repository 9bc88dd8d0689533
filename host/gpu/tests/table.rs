//! The strategy `table` against the CPU engine, at every budget, with kernels that test their indices.

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::{Engine, EngineExt, Share, Units};
use gramer_gpu::{Ablation, Access, Settings, Strategy, TableSettings, Traversal};
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

fn table(memory: Option<u64>, table: TableSettings) -> Settings {
    Settings {
        checked: true,
        strategy: Some(Strategy::Table),
        memory,
        table,
        ..Settings::default()
    }
}

fn plain(model: Model, seed: u64) -> Graph {
    random(model, seed, [0, 0])
}

fn labelled(seed: u64) -> Graph {
    random(Model::BarabasiAlbert { vertices: 120, edges_per_vertex: 6 }, seed, [4, 2])
}

/// A hub over many small parts, dense parts with lists longer than a tile, and a path.
fn skewed() -> Graph {
    let mut builder = Builder::new();
    for v in 1..1200u64 {
        builder.edge(0, v);
        if v % 3 == 0 {
            builder.edge(v, v - 1);
        }
        if v % 5 == 0 {
            builder.edge(1, v);
        }
    }
    // A complete bipartite graph, and two edges more from each vertex within its side.
    for u in 0..430u64 {
        (0..430).for_each(|v| builder.edge(2000 + u, 3000 + v));
        for step in [1, 7] {
            builder.edge(2000 + u, 2000 + (u + step) % 430);
            builder.edge(3000 + u, 3000 + (u + step * step) % 430);
        }
    }
    builder.build()
}

#[test]
fn cliques_in_core() {
    let Some(gpu) = open(table(None, TableSettings::default())) else { return };
    let graphs = [
        plain(Model::BarabasiAlbert { vertices: 150, edges_per_vertex: 7 }, 1),
        plain(Model::Rmat { scale: 8, edge_factor: 12, a: 0.57, b: 0.19, c: 0.19 }, 2),
        plain(Model::ErdosRenyiProbability { vertices: 40, p: 0.7 }, 3),
        skewed(),
        Builder::new().build(),
    ];
    for (at, graph) in graphs.iter().enumerate() {
        for k in 3..=if at == 2 { 8 } else { 5 } {
            let task = Task::Clique { k };
            let outcome = answer(&gpu, graph, &task);
            assert_eq!(outcome.results, answer(&Cpu, graph, &task).results, "{at} {k}");
        }
    }
}

/// Every budget from the least on gives the same counts, and none is exceeded.
#[test]
fn every_budget_counts_the_same_or_names_the_least() {
    let graph = plain(Model::BarabasiAlbert { vertices: 400, edges_per_vertex: 9 }, 3);
    let task = Task::Clique { k: 4 };
    let right = answer(&Cpu, &graph, &task).results;
    let Some(gpu) = open(table(Some(1 << 10), TableSettings::default())) else { return };
    let error = gpu.run(&graph, &task, None, &Context::default()).unwrap_err();
    let text = error.to_string();
    assert_eq!(error.exit_code(), 1);
    let named =
        text.split("the setting `memory` at least ").nth(1).unwrap().split('K').next().unwrap();
    let least: u64 = named.parse().unwrap();
    let (mut refills, mut paged, mut whole) = (0.0, 0, 0);
    for kib in [least - 1, least, least + 1, least + 4, 2 * least, 4 * least, 1024] {
        let Some(gpu) = open(table(Some(kib << 10), TableSettings::default())) else { return };
        let outcome = match gpu.run(&graph, &task, None, &Context::default()) {
            Ok(outcome) => outcome,
            Err(error) => {
                assert!(kib < least && error.to_string().contains(&text[text.len() - 40..]));
                continue;
            }
        };
        assert!(kib >= least);
        assert_eq!(outcome.results, right, "{kib} KiB");
        let (limit, peak) = gpu.memory().unwrap();
        assert!(
            limit == kib << 10 && peak <= limit && number(&outcome, "memory.peak") as u64 == peak
        );
        refills += number(&outcome, "pool.refills");
        match outcome.devices[0].get("pages.slots") {
            Some(_) => {
                paged += 1;
                assert!(number(&outcome, "pages.cold") > 0.0);
            }
            None => whole += 1,
        }
    }
    assert!(refills > 0.0 && paged >= 3 && whole >= 1, "{refills} {paged} {whole}");
}

/// Whole columns, in the host's memory and in a file, at small and large budgets.
#[test]
fn whole_tables_spill_to_the_host_and_to_a_file() {
    let graph = plain(Model::BarabasiAlbert { vertices: 300, edges_per_vertex: 8 }, 6);
    let folder = tempfile::tempdir().unwrap();
    let tailed = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]);
    let tasks = [
        Task::Clique { k: 3 },
        Task::Clique { k: 5 },
        Task::Match { pattern: tailed, induced: Induced::Vertex, mappings: None },
    ];
    let rights: Vec<_> = tasks.iter().map(|task| answer(&Cpu, &graph, task).results).collect();
    for (memory, host_memory) in [(None, 1 << 30), (None, 0), (Some(16 << 10), 4 << 10)] {
        let settings = TableSettings {
            traversal: Traversal::Breadth,
            host_memory: Some(host_memory),
            spill: Some(folder.path().into()),
            ..TableSettings::default()
        };
        let Some(gpu) = open(table(memory, settings)) else { return };
        for (task, right) in tasks.iter().zip(&rights) {
            let outcome = answer(&gpu, &graph, task);
            assert_eq!(&outcome.results, right, "{task:?} {memory:?} {host_memory}");
            let of = |name| number(&outcome, name);
            assert!(of("table.rows") > 0.0 && of("spill.host") >= 8.0 * of("table.rows"));
            assert_eq!(of("spill.file") > 0.0, host_memory < 1 << 30);
            assert!(memory.is_none() || of("table.segments") > 8.0);
            // Edges of which no triangle comes are dropped, and so are triangles without a 4-clique.
            assert!(*task != tasks[1] || of("table.compacted") > 0.0);
        }
        let (limit, peak) = gpu.memory().unwrap();
        assert!(peak <= limit);
    }
    // The file has no name, and nothing is left of it.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let settings = TableSettings {
        traversal: Traversal::Breadth,
        host_memory: Some(0),
        spill: Some("/nowhere/at/all".into()),
        ..TableSettings::default()
    };
    let Some(gpu) = open(table(None, settings)) else { return };
    let error = gpu.run(&graph, &tasks[1], None, &Context::default()).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
    assert_eq!(error.exit_code(), 1);
}

/// Shares in both orders of extension, and with so little memory that the roots come in parts.
#[test]
fn shares_add_up() {
    let graph = plain(Model::BarabasiAlbert { vertices: 300, edges_per_vertex: 8 }, 6);
    let tailed = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]);
    let tasks = [
        Task::Clique { k: 4 },
        Task::Match { pattern: tailed, induced: Induced::Vertex, mappings: None },
        Task::Match {
            pattern: Pattern::from_edges(2, &[(0, 1)]),
            induced: Induced::Edge,
            mappings: Some(Mappings::Isomorphism),
        },
    ];
    let context = Context::default();
    for (memory, traversal) in [
        (None, Traversal::Depth),
        (Some(20 << 10), Traversal::Depth),
        (None, Traversal::Breadth),
        (Some(28 << 10), Traversal::Breadth),
    ] {
        let settings = TableSettings { traversal, ..TableSettings::default() };
        let Some(gpu) = open(table(memory, settings)) else { return };
        let prepared = gpu.prepare(&graph, &context).unwrap();
        for task in &tasks {
            let right = answer(&Cpu, &graph, task).results[0].count;
            let mut sum = 0;
            for range in [0..120, 120..121, 121..300] {
                let share = Share::new([range], []).unwrap();
                let outcome = prepared.run(task, Units::Share(&share), None, &context).unwrap();
                assert!(outcome.complete && outcome.results[0].count < right);
                sum += outcome.results[0].count;
            }
            assert_eq!(sum, right, "{task:?} {memory:?} {traversal:?}");
        }
    }
}

#[test]
fn hot_pages_are_chosen_by_every_rule_and_nothing_else_changes() {
    let graph = plain(Model::Rmat { scale: 9, edge_factor: 10, a: 0.57, b: 0.19, c: 0.19 }, 5);
    let task = Task::Clique { k: 4 };
    let right = answer(&Cpu, &graph, &task).results;
    let (mut hot, mut rows) = (vec![], None);
    for access in [Access::Heat, Access::Recent, Access::Rank, Access::Cold, Access::Defer] {
        let settings = TableSettings { access, ..TableSettings::default() };
        let Some(gpu) = open(table(Some(20 << 10), settings)) else { return };
        let outcome = answer(&gpu, &graph, &task);
        assert_eq!(outcome.results, right);
        let elements = number(&outcome, "table.rows");
        assert!(rows.is_none_or(|rows| rows == elements), "{access:?}");
        rows = Some(elements);
        let of = |name| number(&outcome, name);
        hot.push(of("pages.hot") / (of("pages.hot") + of("pages.cold")));
        assert!(of("pages.hits.fixed") > 0.0 && of("pages.slots") < of("pages.number"));
        assert_eq!(of("pages.copied") > 0.0, access != Access::Cold);
        // Chosen once.
        assert!(access != Access::Rank || of("pages.copied") == of("pages.slots"));
    }
    assert!(
        hot[0] > 0.3 && hot[1] > 0.0 && hot[2] > 0.3 && hot[3] == 0.0 && hot[4] == 1.0,
        "{hot:?}"
    );
}

/// A device that can't read the host's memory: elements wait for their pages, at every budget from the least on.
#[test]
fn elements_wait_for_their_pages_and_counts_are_the_same() {
    let graph = plain(Model::Rmat { scale: 8, edge_factor: 10, a: 0.57, b: 0.19, c: 0.19 }, 5);
    let labelled = labelled(3);
    let mut path = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
    (0..4).for_each(|v| path.set_vertex_label(v, v as u32 % 3));
    [(0, 1), (1, 2), (2, 3)].iter().for_each(|&(u, v)| path.set_edge_label(u, v, (u % 2) as u32));
    let square = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    let matched =
        |pattern, induced| Task::Match { pattern, induced, mappings: Some(Mappings::Isomorphism) };
    let tasks = [
        (&graph, Task::Clique { k: 4 }),
        (&graph, matched(Pattern::from_edges(3, &[(0, 1), (1, 2)]), Induced::Vertex)),
        (&labelled, matched(square, Induced::Vertex)),
        (&labelled, matched(path, Induced::Edge)),
    ];
    let settings = |traversal, without| TableSettings {
        access: Access::Defer,
        traversal,
        without,
        host_memory: Some(1 << 30),
        ..TableSettings::default()
    };
    let (mut refills, mut most, mut paged) = (0.0, 0.0f64, 0);
    for (graph, task) in &tasks {
        let right = answer(&Cpu, graph, task).results;
        for traversal in [Traversal::Depth, Traversal::Breadth] {
            let of = |memory| open(table(Some(memory), settings(traversal, Ablation::default())));
            let Some(gpu) = of(1 << 10) else { return };
            let text = gpu.run(graph, task, None, &Context::default()).unwrap_err().to_string();
            let named = text.split("the setting `memory` at least ").nth(1).unwrap();
            let least: u64 = named.split('K').next().unwrap().parse().unwrap();
            for kib in [least, least + least / 2] {
                let Some(gpu) = of(kib << 10) else { return };
                let outcome = answer(&gpu, graph, task);
                assert_eq!(outcome.results, right, "{task:?} {traversal:?} {kib} KiB");
                let (limit, peak) = gpu.memory().unwrap();
                assert!(limit == kib << 10 && peak <= limit);
                if outcome.devices[0].get("pages.slots").is_none() {
                    continue;
                }
                paged += 1;
                assert_eq!(number(&outcome, "pages.cold"), 0.0);
                assert!(number(&outcome, "pages.copied") > 0.0);
                assert!(number(&outcome, "pages.hot") > 0.0);
                refills += number(&outcome, "pool.refills");
                most = most.max(number(&outcome, "pages.passes"));
            }
        }
    }
    assert!(refills > 0.0 && most > 20.0 && paged >= 8, "{refills} {most} {paged}");
    // Groups of one element wait one by one.
    let without = Ablation { groups: true, ..Ablation::default() };
    let Some(gpu) = open(table(Some(24 << 10), settings(Traversal::Depth, without))) else {
        return;
    };
    let right = answer(&Cpu, &graph, &tasks[0].1).results;
    assert_eq!(answer(&gpu, &graph, &tasks[0].1).results, right);
}

#[test]
fn each_mechanism_may_be_left_out() {
    let graph = plain(Model::BarabasiAlbert { vertices: 200, edges_per_vertex: 9 }, 4);
    let task = Task::Clique { k: 4 };
    let right = answer(&Cpu, &graph, &task).results;
    let mut searched = vec![];
    for without in [
        Ablation::default(),
        Ablation { filter: true, layout: true, ..Ablation::default() },
        Ablation { groups: true, ..Ablation::default() },
    ] {
        let settings = TableSettings { without, ..TableSettings::default() };
        let Some(gpu) = open(table(None, settings)) else { return };
        let outcome = answer(&gpu, &graph, &task);
        assert_eq!(outcome.results, right, "{without:?}");
        searched.push(number(&outcome, "filter.passed"));
    }
    assert!(searched[0] < 0.8 * searched[1], "{searched:?}");
}

#[test]
fn patterns_with_and_without_labels() {
    let labelled = labelled(3);
    let plain = plain(Model::BarabasiAlbert { vertices: 60, edges_per_vertex: 4 }, 7);
    let mut path = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3)]);
    let mut square = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    let tailed = Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4)]);
    let star = Pattern::from_edges(4, &[(0, 1), (0, 2), (0, 3)]);
    let edge = Pattern::from_edges(2, &[(0, 1)]);
    let of = |pattern: &Pattern, induced, mappings: bool| Task::Match {
        pattern: pattern.clone(),
        induced,
        mappings: mappings.then_some(Mappings::Isomorphism),
    };
    let mut tasks = vec![];
    for pattern in [&path, &square, &tailed, &star, &edge] {
        for induced in [Induced::Vertex, Induced::Edge] {
            tasks.push((&plain, of(pattern, induced, false)));
        }
        tasks.push((&plain, of(pattern, Induced::Edge, true)));
    }
    for v in 0..4 {
        path.set_vertex_label(v, v as u32 % 3);
        square.set_vertex_label(v, v as u32 % 2);
    }
    for (u, v) in [(0, 1), (1, 2), (2, 3)] {
        path.set_edge_label(u, v, (u % 2) as u32);
        square.set_edge_label(u, v, 1);
    }
    square.set_edge_label(3, 0, 0);
    for pattern in [&path, &square] {
        for induced in [Induced::Vertex, Induced::Edge] {
            tasks.push((&labelled, of(pattern, induced, true)));
        }
    }
    for memory in [None, Some(24 << 10)] {
        let Some(gpu) = open(table(memory, TableSettings::default())) else { return };
        for (graph, task) in &tasks {
            let right = answer(&Cpu, graph, task).results;
            assert_eq!(answer(&gpu, graph, task).results, right, "{task:?} {memory:?}");
        }
        let (limit, peak) = gpu.memory().unwrap();
        assert!(peak <= limit);
    }
}

#[test]
fn a_run_stops_when_it_is_asked_to() {
    let Some(gpu) = open(Settings { checked: false, ..table(None, TableSettings::default()) })
    else {
        return;
    };
    let small = plain(Model::ErdosRenyiEdges { vertices: 8, edges: 12 }, 1);
    answer(&gpu, &small, &Task::Clique { k: 9 });
    let graph = plain(Model::ErdosRenyiProbability { vertices: 300, p: 0.5 }, 3);
    let context = Context::default();
    let cancel = context.cancel.clone();
    let stop = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        cancel.cancel();
    });
    let begun = std::time::Instant::now();
    let part = gpu.run(&graph, &Task::Clique { k: 9 }, None, &context).unwrap();
    assert!(!part.complete && begun.elapsed().as_secs_f64() < 10.0);
    stop.join().unwrap();
}
