//! Homomorphisms and edge isomorphisms by SGSI's join, against the CPU engine, with kernels that test their indices.

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::{Ask, Engine, Query, Share, Units, reason};
use gramer_gpu::{
    Ablation, Join, JoinSettings, Layers, Order, Settings, Steps, Strategy, TableSettings,
};
use gramer_graph::generate::Model;
use gramer_graph::{Builder, Graph, NO_LABEL};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Mappings, Task};
use gramer_testing::graphs::random;

#[path = "common/answers.rs"]
mod answers;
mod common;

use answers::{answer, number};
use common::open;

fn settings(join_settings: JoinSettings, without: Ablation, steps: Steps) -> Settings {
    let join = Join::Prealloc;
    let table = TableSettings { join, join_settings, without, ..TableSettings::default() };
    let strategy = Some(Strategy::Table);
    Settings { checked: true, strategy, steps, table, ..Settings::default() }
}

fn task(pattern: &Pattern, mappings: Mappings) -> Task {
    Task::Match { pattern: pattern.clone(), induced: Induced::Edge, mappings: Some(mappings) }
}

/// Paths, a cycle and a star, each for all kinds of mappings; labels are frequent or any.
fn tasks(labelled: bool) -> Vec<Task> {
    let mut path = Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
    let mut cycle = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    let mut star = Pattern::from_edges(4, &[(0, 1), (0, 2), (0, 3)]);
    if labelled {
        for (u, label) in [(0, 0), (1, NO_LABEL), (2, 0), (3, 1)] {
            path.set_edge_label(u, u + 1, label);
        }
        cycle.set_edge_label(0, 1, 0);
        cycle.set_vertex_label(2, 1);
        [(1, 0), (2, 0), (3, 0)].iter().for_each(|&(v, label)| star.set_vertex_label(v, label));
        star.set_edge_label(0, 1, 2);
    }
    let kinds = [Mappings::Isomorphism, Mappings::Homomorphism, Mappings::EdgeIsomorphism];
    let all = [&path, &cycle, &star].into_iter();
    all.flat_map(|pattern| kinds.map(|kind| task(pattern, kind))).collect()
}

/// The counts of the CPU engine, which differ from kind to kind.
fn rights(graph: &Graph, tasks: &[Task]) -> Vec<u128> {
    let rights: Vec<_> =
        tasks.iter().map(|task| answer(&Cpu, graph, task).results[0].count).collect();
    for kinds in rights.chunks(3) {
        assert!(0 < kinds[0] && kinds[0] <= kinds[2] && kinds[2] < kinds[1], "{rights:?}");
    }
    rights
}

fn check(settings: Settings, graph: &Graph, tasks: &[Task], rights: &[u128]) {
    let Some(gpu) = open(settings.clone()) else { return };
    for (task, right) in tasks.iter().zip(rights) {
        assert_eq!(answer(&gpu, graph, task).results[0].count, *right, "{task:?} {settings:?}");
    }
}

#[test]
fn every_way_to_join_counts_every_kind() {
    let (none, plain, join) = (Ablation::default(), Steps::default(), JoinSettings::default());
    for labels in [[2, 3], [0, 0]] {
        let model = Model::BarabasiAlbert { vertices: 300, edges_per_vertex: 3 };
        let graph = random(model, 3, labels);
        let tasks = tasks(labels[0] > 0);
        let rights = rights(&graph, &tasks);
        for signatures in [false, true] {
            for order in [Order::Cost, Order::Paper] {
                let steps = Steps { signatures, order };
                check(settings(join, none, steps), &graph, &tasks, &rights);
            }
        }
        for without in [
            Ablation { pcsr: true, ..none },
            Ablation { prealloc: true, ..none },
            Ablation { sets: true, ..none },
            Ablation { write_cache: true, ..none },
        ] {
            check(settings(join, without, plain), &graph, &tasks, &rights);
        }
        let segments = JoinSettings { segments: 3, ..join };
        check(settings(segments, none, plain), &graph, &tasks, &rights);
    }
}

/// Hubs whose rows go to each of the four layers.
#[test]
fn every_layer_counts_every_kind() {
    let mut builder = Builder::new();
    for (hub, size) in [70, 400, 1100, 4500u64].into_iter().enumerate() {
        (0..size).for_each(|leaf| builder.labelled_edge(hub as u64, 10 + leaf, (leaf % 2) as u32));
        (0..hub).for_each(|other| builder.labelled_edge(hub as u64, other as u64, 0));
    }
    let graph = builder.build();
    let mut wedge = Pattern::from_edges(3, &[(0, 1), (1, 2)]);
    wedge.set_edge_label(0, 1, 0);
    let kinds = [Mappings::Homomorphism, Mappings::EdgeIsomorphism];
    let tasks = kinds.map(|kind| task(&wedge, kind));
    let rights = tasks.each_ref().map(|task| answer(&Cpu, &graph, task).results[0].count);
    assert!(rights[0] > rights[1]);
    let join = JoinSettings { layers: Layers::Paper, ..JoinSettings::default() };
    let Some(gpu) = open(settings(join, Ablation::default(), Steps::default())) else { return };
    for (task, right) in tasks.iter().zip(rights) {
        let outcome = answer(&gpu, &graph, task);
        assert_eq!(outcome.results[0].count, right, "{task:?}");
        for layer in ["warp", "warps", "block", "device"] {
            assert!(number(&outcome, &format!("join.layer.{layer}")) > 0.0, "{layer}");
        }
    }
}

#[test]
fn shares_add_up() {
    let graph = random(Model::BarabasiAlbert { vertices: 200, edges_per_vertex: 3 }, 6, [0, 0]);
    let steps = Steps::default();
    let Some(gpu) = open(settings(JoinSettings::default(), Ablation::default(), steps)) else {
        return;
    };
    let context = Context::default();
    let prepared = gpu.prepare(&graph, &context).unwrap();
    for task in tasks(false) {
        let right = answer(&Cpu, &graph, &task).results[0].count;
        let counts = [0..80, 80..81, 81..200].map(|range| {
            let share = Share::new([range], []).unwrap();
            let outcome = prepared.run(&task, Units::Share(&share), None, &context).unwrap();
            outcome.results[0].count
        });
        assert_eq!(counts.iter().sum::<u128>(), right, "{task:?} {counts:?}");
    }
}

#[test]
fn other_strategies_and_joins_say_which_one_counts() {
    let none = Settings::default();
    let intersect = Settings { strategy: Some(Strategy::Table), ..none.clone() };
    let plan = Settings { strategy: Some(Strategy::Plan), ..none.clone() };
    for settings in [none, intersect, plan] {
        for mappings in [Mappings::Homomorphism, Mappings::EdgeIsomorphism] {
            let query = Query::new(task(&Pattern::clique(3), mappings));
            let ask = Ask::new(&query);
            let choices = settings.choose(&ask);
            assert!(choices.fits.is_empty(), "{settings:?}");
            let refusal = reason::refusal("gpu", &ask, &choices).to_string();
            let named = "only with the setting `strategy` table and the setting `join` prealloc";
            assert!(refusal.contains(named), "{refusal}");
        }
    }
}
