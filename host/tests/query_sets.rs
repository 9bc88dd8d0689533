//! Known numbers of matches of whole query sets in real graphs.

#[path = "../benches/common/cpu_time.rs"]
mod cpu_time;

use std::collections::BTreeMap;
use std::path::Path;

use environment::data;
use gramer::cpu::Cpu;
use gramer::engine::EngineExt;
use gramer::task::{Induced, Mappings};
use gramer::{Context, Graph, Pattern, Task};
use gramer_testing::environment;
use gramer_testing::query_sets;
use query_sets::{graph, queries};

/// Lines `NAME:COUNT`.
fn expected(path: &Path) -> BTreeMap<String, u128> {
    let text = std::fs::read_to_string(path).expect("expected counts");
    text.lines()
        .map(|line| {
            let (name, count) = line.split_once(':').expect("NAME:COUNT");
            (name.to_string(), count.trim().parse().expect("a count"))
        })
        .collect()
}

fn count(graph: &Graph, pattern: &Pattern, mappings: bool, threads: usize) -> u128 {
    let task = Task::Match {
        pattern: pattern.clone(),
        induced: Induced::Edge,
        mappings: mappings.then_some(Mappings::Isomorphism),
    };
    let outcome = Cpu.run(graph, &task, None, &Context::with_threads(threads)).expect("matches");
    assert!(outcome.complete);
    outcome.results[0].count
}

fn check_set(folder: &str, graph_file: &str, archive: &str) {
    let Some(data) = data() else { return };
    let folder = data.join(folder);
    let graph = graph(&folder.join(graph_file));
    let queries = queries(&folder.join(archive), |name| !name.ends_with("_meta"));
    let expected = expected(&folder.join("expected_output.res"));
    assert_eq!(expected.len(), 200);
    assert!(expected.keys().eq(queries.iter().map(|(name, _)| name)), "a count for each query");
    for (i, (name, pattern)) in queries.iter().enumerate() {
        assert_eq!(count(&graph, pattern, true, 1 + i % 2), expected[name], "{name}");
    }
}

#[test]
fn the_200_dense_queries_of_hprd() {
    check_set("sm-hprd", "HPRD.graph.zst", "queries_test_dense16.tar.zst");
}

#[test]
fn the_200_queries_of_hprd_with_edge_labels() {
    check_set("sm-hprd-elabel", "HPRD_elabeled.txt.zst", "queries_elabel.tar.zst");
}

#[test]
fn edge_labels_only_take_matches_away() {
    let Some(data) = data() else { return };
    let folder = data.join("sm-hprd-elabel");
    let plain = graph(&folder.join("HPRD_elabeled.txt.zst")).without_edge_labels();
    let expected = expected(&folder.join("expected_output.res"));
    for (name, pattern) in
        queries(&folder.join("queries_elabel.tar.zst"), |n| !n.ends_with("_meta"))
    {
        let mut unlabelled = Pattern::from_edges(pattern.vertices(), &pattern.edges());
        for v in 0..pattern.vertices() {
            unlabelled.set_vertex_label(v, pattern.vertex_label(v));
        }
        assert!(count(&plain, &unlabelled, true, 1) >= expected[&name], "{name}");
    }
}

#[test]
fn one_graph_in_two_formats_gives_the_same_counts() {
    // The igraph copies give every edge the label 0, in the graph and in the queries.
    let Some(data) = data() else { return };
    let folder = data.join("sm-hprd");
    let plain = graph(&folder.join("HPRD.graph.zst"));
    let labelled = graph(&folder.join("hprd.igraph.zst"));
    assert!(!plain.has_edge_labels());
    let few = |name: &str| name.starts_with("query_dense_16_1");
    let mut found = 0;
    for (name, pattern) in queries(&folder.join("queries_igraph.tar.zst"), few).iter().take(40) {
        assert!(pattern.has_edge_labels());
        let here = count(&labelled, pattern, true, 1);
        assert_eq!(here, count(&plain, pattern, true, 1), "{name}");
        found += u32::from(here > 0);
    }
    assert!(found > 30, "queries are taken from the graph");
}

#[test]
fn known_subgraphs_of_citeseer() {
    let Some(data) = data() else { return };
    let graph = graph(&data.join("citeseer/citeseer.graph"));
    for (name, expected) in [
        ("triangle", 1166),
        ("4-cycle", 6059),
        ("diamond", 3730),
        ("4-clique", 255),
        ("5-clique", 46),
        ("5-cycle", 28394),
        ("hourglass", 16034),
        ("house", 55359),
    ] {
        let pattern = gramer::pattern::named(name).expect(name);
        assert_eq!(count(&graph, &pattern, false, 2), expected, "{name}");
    }
    // A triangle on one side of a diamond with a chord ("box-house"), and two squares with chords
    // that share an edge.
    let square = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)];
    let box_house =
        Pattern::from_edges(5, &[square.as_slice(), &[(1, 3), (0, 4), (1, 4)]].concat());
    assert_eq!(count(&graph, &box_house, false, 2), 5588);
}

/// The benches measure queries and rankings of fractions of a millisecond.
#[test]
fn short_work_takes_cpu_time() {
    for clock in [cpu_time::of_thread, cpu_time::of_process] {
        for _ in 0..20 {
            let before = clock();
            let sum =
                (0..20_000u64).fold(1, |sum, i| std::hint::black_box(sum ^ i).wrapping_mul(3));
            assert!(clock() > before, "no time for {sum}");
        }
    }
}
