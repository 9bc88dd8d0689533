//! The primitives against what a few lines on the host find, at several budgets, with kernels that test their
//! indices.

use std::ops::ControlFlow;

use gramer_base::context::Context;
use gramer_base::error::Error;
use gramer_cpu::Cpu;
use gramer_engine::EngineExt;
use gramer_gpu::primitives::{
    EdgeFilter, Filter, GroupKey, Key, Measure, Mining, Numbers, Positions, Table, Workflow,
};
use gramer_gpu::{Fault, Gpu, Settings, TableSettings};
use gramer_graph::generate::{Labels, Model, Recipe, generate};
use gramer_graph::{Builder, Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Task};

mod common;

/// Bytes of the device's memory: as much as is wanted.
const ENOUGH: u64 = 8 << 20;
/// More than the least: there are a few pages and some hundred rows.
const MORE: u64 = 5 << 10;

/// The least budget for a graph, as the message of a smaller one names it.
fn least(graph: &Graph) -> Option<u64> {
    let gpu = open(1 << 10)?;
    let text = Mining::new(&gpu, graph).err().expect("there is no room").to_string();
    let (_, rest) = text.split_once("the setting `memory` at least ").unwrap();
    Some(rest.split_once('K').unwrap().0.parse::<u64>().unwrap() << 10)
}

fn open(memory: u64) -> Option<Gpu> {
    // Nothing stays in the host's memory either where the device's is small.
    let host_memory = (memory < ENOUGH).then_some(memory / 4);
    let table = TableSettings { host_memory, ..TableSettings::default() };
    common::open(Settings { checked: true, memory: Some(memory), table, ..Settings::default() })
}

fn random(model: Model, labels: [u32; 2]) -> Graph {
    let of = |count| (count > 0).then_some(Labels { count, exponent: 0.4 });
    let recipe =
        Recipe { model, seed: 11, vertex_labels: of(labels[0]), edge_labels: of(labels[1]) };
    generate(&recipe, &Context::default()).unwrap()
}

fn labelled() -> Graph {
    random(Model::BarabasiAlbert { vertices: 60, edges_per_vertex: 3 }, [3, 2])
}

type Rows = Vec<Vec<VertexId>>;

/// Extends rows on the host: neighbours of any of these positions, each once, that `keep` says.
fn extended(
    graph: &Graph,
    rows: &Rows,
    by: &dyn Fn(usize) -> Vec<usize>,
    keep: &dyn Fn(&[VertexId], VertexId) -> bool,
) -> Rows {
    let mut found = vec![];
    for row in rows {
        let mut next: Vec<VertexId> = by(row.len())
            .into_iter()
            .flat_map(|at| graph.view().neighbours(row[at]).to_vec())
            .collect();
        next.sort_unstable();
        next.dedup();
        found.extend(next.into_iter().filter(|&u| keep(row, u)).map(|u| [&row[..], &[u]].concat()));
    }
    found.sort_unstable();
    found
}

fn rows(table: &Table<'_, gramer_gpu::primitives::Vertices>) -> Rows {
    let mut rows: Rows = table.rows().map(|row| row.unwrap()).collect();
    rows.sort_unstable();
    assert_eq!(rows.len() as u64, table.len());
    rows
}

#[test]
fn extensions_keep_what_their_filters_say() {
    let graph = random(Model::BarabasiAlbert { vertices: 170, edges_per_vertex: 4 }, [3, 2]);
    let view = graph.view();
    let edge = |u, v| view.edge_label(u, v);
    let label = |v: VertexId| view.vertex_label(v);
    let all = |size: usize| (0..size).collect::<Vec<_>>();
    type Case<'k> = (
        Positions,
        Filter,
        Box<dyn Fn(usize) -> Vec<usize> + 'k>,
        Box<dyn Fn(&[VertexId], VertexId) -> bool + 'k>,
    );
    let cases: Vec<Case<'_>> = vec![
        ((..).into(), Filter::any(), Box::new(all), Box::new(|_, _| true)),
        (
            1.into(),
            Filter::label(1).and(Filter::degree_at_most(9)),
            Box::new(|_| vec![1]),
            Box::new(|_, u| label(u) == 1 && view.degree(u) <= 9),
        ),
        (
            (0..2).into(),
            Filter::not_adjacent(Positions::last()).and(Filter::degree_at_least(4)),
            Box::new(all),
            Box::new(|row, u| edge(row[1], u).is_none() && view.degree(u) >= 4),
        ),
        (
            (..).into(),
            Filter::edge_label(0, 1).and(Filter::above([1])),
            Box::new(all),
            Box::new(|row, u| edge(row[0], u) == Some(1) && u > row[1]),
        ),
        (
            0.into(),
            Filter::adjacent(..).and(Filter::above(..)),
            Box::new(|_| vec![0]),
            Box::new(|row, u| row.iter().all(|&v| edge(v, u).is_some() && u > v)),
        ),
        (
            (..).into(),
            Filter::source(
                "uint of(const embedding *e, uint v) { return label(e, v); }\n\
                 bool keep(const embedding *e, uint u) {\n    \
                 return of(e, u) != of(e, e->vertex[0]) && edge_label(e, u, e->vertex[e->size - 1]) != 0;\n}",
            )
            .and(Filter::source("bool keep(const embedding *e, uint u) { return degree(e, u) < 12; }")),
            Box::new(all),
            Box::new(|row, u| {
                label(u) != label(row[0]) && edge(row[1], u) != Some(0) && view.degree(u) < 12
            }),
        ),
    ];
    let Some(least) = least(&graph) else { return };
    let begin = Filter::degree_at_least(16);
    for memory in [ENOUGH, least + MORE] {
        let Some(gpu) = open(memory) else { return };
        let mining = Mining::new(&gpu, &graph).unwrap();
        assert_eq!(mining.pages().is_some(), memory < ENOUGH, "{memory}");
        let mut begun = Table::vertices(&mining, &begin).unwrap();
        let mut first: Rows = (0..170).filter(|&v| view.degree(v) >= 16).map(|v| vec![v]).collect();
        assert_eq!(rows(&begun), first);
        begun.extend_vertex(.., &Filter::any()).unwrap();
        first = extended(&graph, &first, &all, &|_, _| true);
        assert_eq!(rows(&begun), first);
        for (number, (by, filter, from, keep)) in cases.iter().enumerate() {
            let right = extended(&graph, &first, from, &|row, u| !row.contains(&u) && keep(row, u));
            let mut table = Table::vertices(&mining, &begin).unwrap();
            table.extend_vertex(.., &Filter::any()).unwrap();
            let count = table.count_extensions(by.clone(), filter).unwrap();
            table.extend_vertex(by.clone(), filter).unwrap();
            assert!(right.len() > 30, "{number}");
            assert_eq!(
                (rows(&table), count),
                (right.clone(), right.len() as u128),
                "{number} {memory}"
            );
            // The filter afterwards, on whole rows.
            let mut late = Table::vertices(&mining, &begin).unwrap();
            late.extend_vertex(.., &Filter::any()).unwrap();
            late.extend_vertex(by.clone(), &Filter::any()).unwrap();
            late.filter(filter).unwrap();
            assert_eq!(rows(&late), right, "{number} {memory}");
        }
        let (limit, peak) = gpu.memory().unwrap();
        assert!(peak <= limit);
    }
}

#[test]
fn walks_may_come_back_and_sets_come_once() {
    let graph = random(Model::ErdosRenyiEdges { vertices: 24, edges: 50 }, [0; 2]);
    let Some(gpu) = open(ENOUGH) else { return };
    let view = graph.view();
    for numbers in [Numbers::Ids, Numbers::Degree] {
        let mining = Mining::with(&gpu, &graph, numbers, &Context::default()).unwrap();
        let mut walks = Table::vertices(&mining, &Filter::any()).unwrap();
        let mut right: Rows = (0..24).map(|v| vec![v]).collect();
        let last = |size: usize| vec![size - 1];
        for _ in 0..2 {
            walks.extend_walk(Positions::last(), &Filter::any()).unwrap();
            right = extended(&graph, &right, &last, &|_, _| true);
        }
        walks.extend_walk(Positions::last(), &Filter::distinct(0)).unwrap();
        right = extended(&graph, &right, &last, &|row, u| u != row[0]);
        assert!(right.iter().any(|row| row[0] == row[2]));
        assert_eq!(rows(&walks), right);
        assert!(walks.aggregate(&Key::Pattern, &Measure::Count).is_err());

        // Connected sets of four, by extension from the last vertex alone too: the rest is in no set.
        let mut sets = Table::vertices(&mining, &Filter::any()).unwrap();
        (0..3).for_each(|_| sets.extend_vertex(.., &Filter::canonical()).unwrap());
        let mut found = rows(&sets);
        found.iter_mut().for_each(|row| row.sort_unstable());
        found.sort_unstable();
        let mut once = found.clone();
        once.dedup();
        assert_eq!(found, once);
        let connected = |set: &[VertexId]| {
            let mut seen = vec![set[0]];
            for at in 0..set.len() {
                let Some(&v) = seen.get(at) else { return false };
                let next = set.iter().filter(|&&u| view.edge_label(u, v).is_some());
                let new: Vec<VertexId> = next.copied().filter(|u| !seen.contains(u)).collect();
                seen.extend(new);
            }
            seen.len() == set.len()
        };
        let mut all = 0;
        for set in (0..1u32 << 24).filter(|bits| bits.count_ones() == 4) {
            let set: Vec<VertexId> = (0..24).filter(|v| set >> v & 1 == 1).collect();
            if connected(&set) {
                all += 1;
                assert!(found.binary_search(&set).is_ok(), "{set:?}");
            }
        }
        assert_eq!(found.len(), all);
        let mut last = Table::vertices(&mining, &Filter::any()).unwrap();
        (0..2).for_each(|_| last.extend_vertex(Positions::last(), &Filter::canonical()).unwrap());
        assert!(!last.is_empty());
        for row in rows(&last) {
            assert!(view.edge_label(row[1], row[2]).is_some());
        }
    }
}

#[test]
fn edges_come_in_every_order_and_once_in_canonical_order() {
    let graph = labelled();
    let view = graph.view();
    let all: Vec<(VertexId, VertexId)> = (0..60)
        .flat_map(|u| view.neighbours(u).iter().map(move |&v| (u, v)))
        .filter(|(u, v)| u < v)
        .collect();
    let meets = |a: (u32, u32), b: (u32, u32)| [b.0, b.1].iter().any(|v| *v == a.0 || *v == a.1);
    let Some(least) = least(&graph) else { return };
    for memory in [ENOUGH, least + (1 << 10)] {
        let Some(gpu) = open(memory) else { return };
        let mining = Mining::new(&gpu, &graph).unwrap();
        assert_eq!(mining.pages().is_some(), memory < ENOUGH, "{memory}");
        let mut table = Table::edges(&mining, &EdgeFilter::any()).unwrap();
        let mut rows: Vec<_> = table.rows().map(|row| row.unwrap()[0]).collect();
        rows.sort_unstable();
        assert_eq!(rows, all);
        table.extend_edge(&EdgeFilter::label(1)).unwrap();
        let mut right: Vec<_> = all
            .iter()
            .flat_map(|&a| all.iter().map(move |&b| vec![a, b]))
            .filter(|row| row[0] != row[1] && meets(row[0], row[1]))
            .filter(|row| view.edge_label(row[1].0, row[1].1) == Some(1))
            .collect();
        right.sort_unstable();
        let mut rows: Vec<_> = table.rows().map(|row| row.unwrap()).collect();
        rows.sort_unstable();
        assert_eq!(rows, right, "{memory}");
        // Sets of three edges, each once; then what a filter of rows and functions say.
        let mut sets = Table::edges(&mining, &EdgeFilter::any()).unwrap();
        (0..2).for_each(|_| sets.extend_edge(&EdgeFilter::canonical()).unwrap());
        let sorted = |table: &Table<'_, gramer_gpu::primitives::Edges>| {
            let mut rows: Vec<Vec<_>> = table.rows().map(|row| row.unwrap()).collect();
            rows.iter_mut().for_each(|row| row.sort_unstable());
            rows.sort_unstable();
            rows
        };
        let mut once = sorted(&sets);
        let number = once.len();
        once.dedup();
        assert_eq!((once.len(), number), (three_edges(&all, &meets), number), "{memory}");
        let mut late = Table::edges(&mining, &EdgeFilter::any()).unwrap();
        (0..2).for_each(|_| late.extend_edge(&EdgeFilter::any()).unwrap());
        late.filter(&EdgeFilter::canonical()).unwrap();
        // The first two may come in either order.
        assert!(late.len() >= sets.len());
        let few = EdgeFilter::vertices_at_most(3).and(EdgeFilter::source(
            "bool keep(const embedding *e, uint u, uint v) {\n    \
             return e->edges == 2 && (u == e->from[0] || u == e->to[0]) && adjacent(e, u, v);\n}",
        ));
        let mut triangles = Table::edges(&mining, &EdgeFilter::any()).unwrap();
        triangles.extend_edge(&EdgeFilter::any()).unwrap();
        triangles.extend_edge(&few).unwrap();
        let count = Cpu.run(&graph, &Task::Clique { k: 3 }, None, &Context::default()).unwrap();
        // A triangle's last edge comes after its others in either order; its first vertex in the embedding is
        // one of the first edge.
        assert_eq!(u128::from(triangles.len()), 6 * count.results[0].count);
        sets.filter(&few).unwrap();
        assert_eq!(u128::from(sets.len()), count.results[0].count);
        let (limit, peak) = gpu.memory().unwrap();
        assert!(peak <= limit);
    }
}

/// Connected sets of three edges.
fn three_edges(all: &[(u32, u32)], meets: &dyn Fn((u32, u32), (u32, u32)) -> bool) -> usize {
    let mut number = 0;
    for (i, &a) in all.iter().enumerate() {
        for (j, &b) in all.iter().enumerate().skip(i + 1) {
            for &c in &all[j + 1..] {
                let pairs = [meets(a, b), meets(b, c), meets(a, c)];
                number += usize::from(pairs.iter().filter(|&&p| p).count() >= 2);
            }
        }
    }
    number
}

#[test]
fn rows_are_aggregated_by_patterns_and_by_functions() {
    let graph = labelled();
    let view = graph.view();
    let Some(least) = least(&graph) else { return };
    // With enough memory programs.rs aggregates.
    let Some(gpu) = open(least + (1 << 10)) else { return };
    let mining = Mining::new(&gpu, &graph).unwrap();
    let mut table = Table::vertices(&mining, &Filter::any()).unwrap();
    (0..2).for_each(|_| table.extend_vertex(.., &Filter::canonical()).unwrap());
    let rows = rows(&table);
    let groups = table.aggregate(&Key::Pattern, &Measure::Count).unwrap();
    let mut right = std::collections::HashMap::<Pattern, u128>::new();
    for row in &rows {
        *right.entry(Pattern::of_embedding(view, row).canonical().0).or_default() += 1;
    }
    assert!(right.len() > 20);
    assert_eq!(groups.len(), right.len());
    right.iter().for_each(|(pattern, &count)| assert_eq!(groups.of_pattern(pattern), count));
    // The groups of some rows, and only these rows.
    let kept: u128 = right.values().filter(|&&count| count >= 5).sum();
    table.filter(&groups.at_least(5)).unwrap();
    assert_eq!(u128::from(table.len()), kept);
    let again = table.aggregate(&Key::Pattern, &Measure::Count).unwrap();
    assert!(again.iter().all(|group| group.value >= 5));

    let key = Key::source("uint key(const embedding *e) { return label(e, e->vertex[1]); }");
    let sum = Measure::sum(
        "ulong value(const embedding *e) { return ((ulong)degree(e, e->vertex[0]) << 33) + 1; }",
    );
    let sums = table.aggregate(&key, &sum).unwrap();
    let mut all = 0;
    for label in 0..3 {
        let own = table.rows().map(|row| row.unwrap()).filter(|r| view.vertex_label(r[1]) == label);
        let right: u128 = own.map(|r| ((view.degree(r[0]) as u128) << 33) + 1).sum();
        assert_eq!(sums.of_number(label), right, "{label}");
        all += right;
    }
    assert_eq!(sums.iter().map(|group| group.value).sum::<u128>(), all);
    let one = sums.chosen(|group| group.by == GroupKey::Number(2));
    table.filter(&one).unwrap();
    assert!(
        !table.is_empty()
            && table
                .visit(|row| match view.vertex_label(row[1]) {
                    2 => ControlFlow::Continue(()),
                    other => panic!("{other}"),
                })
                .is_ok()
    );
    let error = table.aggregate(&key, &Measure::Mni).unwrap_err();
    assert_eq!(error.exit_code(), 2);
}

#[test]
fn tables_of_hubs_are_cut_spilled_and_counted() {
    let mut star = Builder::new();
    (1..=420u64).for_each(|leaf| {
        star.edge(0, leaf);
        if leaf % 3 == 0 {
            star.edge(leaf, leaf - 1);
        }
    });
    let graph = star.build();
    let task = Task::Motif { k: 3, induced: Induced::Vertex };
    let right = Cpu.run(&graph, &task, None, &Context::default()).unwrap().results;
    let Some(least) = least(&graph) else { return };
    for memory in [ENOUGH, least + MORE] {
        let Some(gpu) = open(memory) else { return };
        let mining = Mining::new(&gpu, &graph).unwrap();
        let motifs = Workflow::new(3).filter(Filter::canonical());
        let groups = motifs.aggregate_pattern(&mining).unwrap();
        right.iter().for_each(|c| assert_eq!(groups.of_pattern(&c.pattern), c.count, "{memory}"));
        let all: u128 = right.iter().map(|c| c.count).sum();
        assert_eq!(motifs.aggregate_counter(&mining).unwrap(), all);
        let mut seen = 0;
        motifs
            .aggregate_store(&mining, |row| {
                assert_eq!(row.len(), 3);
                seen += 1;
                if seen == 1000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
            .unwrap();
        assert_eq!(seen, 1000);
        let mut table = Table::vertices(&mining, &Filter::any()).unwrap();
        table.extend_vertex(.., &Filter::canonical()).unwrap();
        table.extend_vertex(.., &Filter::canonical()).unwrap();
        assert_eq!(u128::from(table.len()), all);
        assert_eq!(table.bytes_in_file() > 0, memory < ENOUGH);
        // Two tables of one graph do not disturb each other.
        let mut other = Table::edges(&mining, &EdgeFilter::any()).unwrap();
        assert_eq!((other.len(), table.rows().take(3).count()), (560, 3));
        if memory == ENOUGH {
            other.extend_edge(&EdgeFilter::canonical()).unwrap();
            let degrees = (0..graph.vertices()).map(|v| graph.view().degree(v as VertexId) as u64);
            assert_eq!(other.len(), degrees.map(|d| d * (d - 1) / 2).sum::<u64>());
        }
    }
}

#[test]
fn what_is_asked_wrongly_is_refused_and_changes_nothing() {
    let graph = random(Model::ErdosRenyiEdges { vertices: 20, edges: 40 }, [0; 2]);
    let Some(gpu) = open(ENOUGH) else { return };
    let context = Context::default();
    let mining = Mining::with(&gpu, &graph, Numbers::Ids, &context).unwrap();
    let mut table = Table::vertices(&mining, &Filter::any()).unwrap();
    let wrong = "bool keep(const embedding *e, uint u) {\n    return u > limit;\n}";
    for (filter, said) in [
        (Filter::adjacent(1), "position 1 isn't there"),
        (Filter::label(1), "no labels of vertices"),
        (Filter::source(wrong), "line 2, `return u > limit;`"),
        (
            Filter::source("bool hold(const embedding *e, uint u) { return true; }"),
            "to define `bool keep(",
        ),
    ] {
        let error = table.extend_vertex(.., &filter).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert_eq!(error.exit_code(), 2);
    }
    let wrong = Key::source("uint key(const embedding *e) { return e->edges; }");
    let error = table.aggregate(&wrong, &Measure::Count).unwrap_err();
    assert!(error.to_string().contains("line 1, `uint key("), "{error}");
    assert!(table.extend_vertex(0..0, &Filter::any()).is_err());
    assert!(Workflow::new(1).aggregate_counter(&mining).is_err());
    assert!(Workflow::new(17).aggregate_pattern(&mining).is_err());
    assert_eq!((table.len(), table.columns()), (20, 1));
    let never = Filter::degree_at_least(2).and(Filter::degree_at_most(1));
    assert_eq!(table.count_extensions(.., &never).unwrap(), 0);

    context.cancel.cancel();
    let stopped = table.extend_vertex(.., &Filter::any()).unwrap_err();
    assert!(matches!(stopped, Error::Interrupted));
    assert_eq!((table.len(), table.columns()), (20, 1));

    // The least budget that is named does.
    let Some(gpu) = open(least(&graph).unwrap()) else { return };
    let mining = Mining::new(&gpu, &graph).unwrap();
    let mut table = Table::vertices(&mining, &Filter::any()).unwrap();
    table.extend_vertex(.., &Filter::any()).unwrap();
    assert_eq!(table.len(), 80);
}

/// An extension, a filter with a function, and an aggregation; the table's rows after each, as far as that
/// went, and the first error. What failed is done once more.
fn worked(gpu: &Gpu, graph: &Graph, again: bool) -> (Vec<u64>, Option<Error>) {
    let mining = match Mining::new(gpu, graph) {
        Ok(mining) => mining,
        Err(error) => return (vec![], Some(error)),
    };
    let odd = Filter::source("bool keep(const embedding *e, uint u) { return u % 2 == 1; }");
    let mut table = Table::vertices(&mining, &Filter::any()).unwrap();
    let (mut rows, mut failed) = (vec![table.len()], None);
    for step in 0..3 {
        let work = |table: &mut Table<'_, gramer_gpu::primitives::Vertices>| match step {
            0 => table.extend_vertex(.., &Filter::degree_at_least(3)),
            1 => table.filter(&odd),
            _ => table
                .aggregate(&Key::Pattern, &Measure::Count)
                .map(|groups| assert_eq!(groups.len(), 1)),
        };
        if let Err(error) = work(&mut table) {
            assert_eq!(table.len(), rows[step]);
            failed = Some(error);
            if !again {
                break;
            }
            work(&mut table).unwrap();
        }
        rows.push(table.len());
    }
    (rows, failed)
}

#[test]
fn an_operation_that_fails_leaves_the_table_as_it_was() {
    let graph = random(Model::ErdosRenyiEdges { vertices: 20, edges: 40 }, [0; 2]);
    let Some(gpu) = open(ENOUGH) else { return };
    let (right, none) = worked(&gpu, &graph, false);
    assert!(none.is_none() && right.len() == 4 && right[2] < right[1]);
    let mut failures = 0;
    for call in (0..).step_by(2) {
        let lasting = call % 4 == 0;
        let fault = Some(Fault { call, code: -36, lasting });
        let settings =
            Settings { checked: true, memory: Some(ENOUGH), fault, ..Settings::default() };
        let Some(gpu) = common::open(settings) else { return };
        let (rows, failed) = worked(&gpu, &graph, !lasting);
        let Some(error) = failed else {
            assert_eq!(rows, right);
            break;
        };
        assert!(matches!(error, Error::Device(_)), "{error}");
        assert!(error.to_string().contains("(-36)"), "{error}");
        assert!(rows == right || (rows.len() < 4 && right.starts_with(&rows)), "{call}: {rows:?}");
        failures += 1;
    }
    assert!(failures >= 15, "{failures}");

    // A folder for tables that isn't there.
    let spill = Some("/nowhere/at/all".into());
    let table = TableSettings { host_memory: Some(100), spill, ..TableSettings::default() };
    let settings = Settings { checked: true, memory: Some(ENOUGH), table, ..Settings::default() };
    let Some(gpu) = common::open(settings) else { return };
    let mining = Mining::new(&gpu, &graph).unwrap();
    let error = Table::vertices(&mining, &Filter::any()).err().expect("there is no such folder");
    assert!(matches!(error, Error::Io { .. }) && error.to_string().contains("/nowhere"), "{error}");
}
