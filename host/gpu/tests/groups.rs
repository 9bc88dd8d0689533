//! Rows in groups by keys that the device sorts: against what the host makes of the same rows, at budgets down to the
//! least; and the external sort by itself.

use std::collections::{BTreeMap, HashMap, HashSet};

use gramer_base::context::Context;
use gramer_base::error::Error;
use gramer_cpu::Cpu;
use gramer_gpu::primitives::{
    EdgeFilter, Filter, GroupKey, Groups, Key, Measure, Mining, Table, count_numbers,
};
use gramer_gpu::{Fault, Gpu, Merge, Settings, Strategy, TableSettings};
use gramer_graph::generate::Model;
use gramer_graph::{Graph, VertexId};
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Task};
use gramer_testing::graphs::random;

#[path = "common/answers.rs"]
mod answers;
mod common;

use answers::{answer, number};

/// With this many bytes of the device's memory; small ones leave nothing in the host's.
fn open(memory: Option<u64>) -> Option<Gpu> {
    let host_memory = memory.map(|_| 0);
    let table = TableSettings { host_memory, ..TableSettings::default() };
    common::open(Settings {
        checked: true,
        strategy: Some(Strategy::Table),
        memory,
        table,
        ..Settings::default()
    })
}

/// Bytes of the least memory for a graph, as the message names it that refuses less.
fn least(graph: &Graph) -> Option<u64> {
    let gpu = open(Some(1 << 10))?;
    let text = Mining::new(&gpu, graph).err().expect("there is no room").to_string();
    let (_, rest) = text.split_once("the setting `memory` at least ").unwrap();
    Some(rest.split_once('K').unwrap().0.parse::<u64>().unwrap() << 10)
}

/// The pattern of a row of vertices, or of edges, and the order of its vertices.
fn pattern_of(graph: &Graph, row: &[VertexId], edges: Option<&[(VertexId, VertexId)]>) -> Pattern {
    let view = graph.view();
    let mut pattern = Pattern::new(row.len());
    for (at, &v) in row.iter().enumerate().filter(|_| view.vertex_labels.is_some()) {
        pattern.set_vertex_label(at, view.vertex_label(v));
    }
    let own = |i: usize, j: usize| match edges {
        None => view.edge_label(row[i], row[j]),
        Some(edges) => {
            let has =
                |&&(u, v): &&(u32, u32)| (u, v) == (row[i], row[j]) || (v, u) == (row[i], row[j]);
            edges.iter().find(has).and_then(|&(u, v)| view.edge_label(u, v))
        }
    };
    for i in 0..row.len() {
        for j in 0..i {
            if let Some(label) = own(i, j) {
                pattern.add_edge(i, j);
                if view.edge_labels.is_some() {
                    pattern.set_edge_label(i, j, label);
                }
            }
        }
    }
    pattern
}

/// Groups by pattern, with the rows of each.
fn counted(groups: &Groups) -> BTreeMap<GroupKey, u128> {
    groups.iter().map(|group| (group.by.clone(), group.value)).collect()
}

/// The budgets: as much as is wanted, some more than the least, and the least.
fn budgets(graph: &Graph) -> Option<[Option<u64>; 3]> {
    let least = least(graph)?;
    Some([None, Some(least + (24 << 10)), Some(least)])
}

#[test]
fn groups_of_vertices_are_those_of_the_host() {
    for (seed, labels) in [(1, [3, 2]), (2, [0, 0]), (3, [4, 0])] {
        let graph =
            random(Model::BarabasiAlbert { vertices: 70, edges_per_vertex: 3 }, seed, labels);
        let Some(budgets) = budgets(&graph) else { return };
        for memory in budgets {
            let Some(gpu) = open(memory) else { return };
            let mining = Mining::new(&gpu, &graph).unwrap();
            let mut table = Table::vertices(&mining, &Filter::any()).unwrap();
            table.extend_vertex(.., &Filter::canonical()).unwrap();
            table.extend_vertex(.., &Filter::canonical()).unwrap();
            let (mut patterns, mut sums, mut ends) =
                (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
            table
                .visit(|row| {
                    let by = GroupKey::Pattern(pattern_of(&graph, row, None).canonical().0);
                    let value = u128::from(row[2]) << 40 | u128::from(row[0]);
                    *patterns.entry(by.clone()).or_insert(0) += 1;
                    *sums.entry(by).or_insert(0) += value;
                    *ends.entry(GroupKey::Number(row[1] << 24 | row[2])).or_insert(0) += value;
                    std::ops::ControlFlow::Continue(())
                })
                .unwrap();
            let value = Measure::sum(
                "ulong value(const embedding *e) { return (ulong)e->vertex[2] << 40 | e->vertex[0]; }",
            );
            let key = Key::source(
                "uint key(const embedding *e) { return e->vertex[1] << 24 | e->vertex[2]; }",
            );
            let groups = table.aggregate(&Key::Pattern, &Measure::Count).unwrap();
            assert_eq!(counted(&groups), patterns, "{memory:?}");
            assert_eq!(counted(&table.aggregate(&Key::Pattern, &value).unwrap()), sums);
            let numbers = table.aggregate(&key, &value).unwrap();
            assert_eq!(counted(&numbers), ends, "{memory:?}");
            // The rows of the largest group.
            let large = groups.at_least(groups.iter().next().unwrap().value);
            let kept: u128 = groups.iter().filter(|g| large.has(g)).map(|g| g.value).sum();
            assert!(kept > 0 && large.len() < groups.len());
            table.filter(&large).unwrap();
            assert_eq!(u128::from(table.len()), kept);
            assert_eq!(table.aggregate(&Key::Pattern, &Measure::Count).unwrap().len(), large.len());
            let (limit, peak) = gpu.memory().unwrap();
            assert!(peak <= limit, "{peak} bytes of {limit}");
        }
    }
}

#[test]
fn images_of_edges_are_those_of_the_host() {
    let graph = random(Model::BarabasiAlbert { vertices: 60, edges_per_vertex: 2 }, 5, [2, 2]);
    let Some(budgets) = budgets(&graph) else { return };
    for memory in budgets {
        let Some(gpu) = open(memory) else { return };
        let mining = Mining::new(&gpu, &graph).unwrap();
        let mut table = Table::edges(&mining, &EdgeFilter::any()).unwrap();
        table.extend_edge(&EdgeFilter::canonical()).unwrap();
        // Of each vertex of the form, the vertices that it has in all embeddings.
        let mut images: HashMap<Pattern, Vec<HashSet<VertexId>>> = HashMap::new();
        table
            .visit(|edges| {
                let mut row: Vec<VertexId> = edges.iter().flat_map(|&(u, v)| [u, v]).collect();
                row.sort_unstable();
                row.dedup();
                let n = row.len();
                // In every order in which it is the same.
                let (form, _) = pattern_of(&graph, &row, Some(edges)).canonical();
                let own = images.entry(form.clone()).or_insert_with(|| vec![HashSet::new(); n]);
                for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                    let turned: Vec<VertexId> = order[..n].iter().map(|&at| row[at]).collect();
                    if pattern_of(&graph, &turned, Some(edges)) == form {
                        turned.iter().zip(own.iter_mut()).for_each(|(&v, image)| {
                            image.insert(v);
                        });
                    }
                }
                std::ops::ControlFlow::Continue(())
            })
            .unwrap();
        let right: BTreeMap<GroupKey, u128> = images
            .into_iter()
            .map(|(form, images)| {
                let least = images.iter().map(HashSet::len).min().unwrap();
                (GroupKey::Pattern(form), least as u128)
            })
            .collect();
        assert!(right.len() > 10);
        let groups = table.aggregate(&Key::Pattern, &Measure::Mni).unwrap();
        assert_eq!(counted(&groups), right, "{memory:?}");
    }
}

/// Keys are sorted in one segment, and in seven and more that are merged; keys that the dictionary has no room for are
/// asked for again and again.
#[test]
fn segments_and_keys_without_room_change_no_count() {
    let graph = random(Model::BarabasiAlbert { vertices: 120, edges_per_vertex: 3 }, 8, [0, 0]);
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let right = answer(&Cpu, &graph, &task);
    let Some(least) = least(&graph) else { return };
    let of = |memory: Option<u64>| {
        let gpu = open(memory)?;
        let found = answer(&gpu, &graph, &task);
        assert_eq!(found.results, right.results, "{memory:?}");
        assert!(number(&found, "memory.peak") as u64 <= gpu.memory().unwrap().0);
        let names = ["groups.segments", "groups.merges", "groups.asked", "groups.left"];
        Some(names.map(|name| number(&found, name) as u64))
    };
    let Some([segments, merges, asked, left]) = of(None) else { return };
    assert_eq!((segments, merges, left), (1, 0, 0));
    assert!((6..=64).contains(&asked), "{asked}");
    for (more, few) in [(600 << 10, 2..=7), (400 << 10, 7..=12)] {
        let Some([segments, merges, asked, left]) = of(Some(least + more)) else { return };
        assert!(few.contains(&segments), "{segments} segments with {more} bytes more");
        assert!(merges > 0 && left == 0 && (6..=64).contains(&asked), "{merges} {asked} {left}");
    }
    let Some([segments, merges, asked, left]) = of(Some(least)) else { return };
    assert!(segments >= 7 && merges > 1, "{segments} segments, {merges} merges");
    assert!(left > 0 && asked == left, "{asked} keys asked for, {left} without room");
}

fn mixed(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) ^ n << 7
}

#[test]
fn numbers_are_counted_in_order_at_every_budget() {
    let context = Context::default();
    let mut numbers: Vec<u64> = (0..20_000)
        .map(|at| match at % 3 {
            0 => mixed(at),
            1 => mixed(at) % 500,
            _ => mixed(at) << 32,
        })
        .collect();
    numbers.extend([0, u64::MAX, u64::MAX]);
    let mut right = BTreeMap::new();
    numbers.iter().for_each(|&n| *right.entry(n).or_insert(0u64) += 1);
    let right: Vec<(u64, u64)> = right.into_iter().collect();
    for (memory, least) in
        [(None, 1), (Some(256 << 10), 3), (Some(100 << 10), 7), (Some(20 << 10), 30)]
    {
        let Some(gpu) = open(memory) else { return };
        let mut found = vec![];
        let took = count_numbers(&[&gpu], numbers.iter().copied(), &context, |n, times| {
            found.push((n, times))
        });
        let took = took.unwrap();
        assert!(found == right, "{memory:?}");
        assert!(took.sorted >= least, "{took:?}");
        assert_eq!(took.merges > 0, memory.is_some(), "{took:?}");
        let (limit, peak) = gpu.memory().unwrap();
        assert!(peak <= limit, "{peak} bytes of {limit}");
    }
    for merge in [Merge::Path, Merge::Earlier, Merge::Every] {
        let table = TableSettings { merge, ..TableSettings::default() };
        let memory = Some(100 << 10);
        let settings = Settings { checked: true, memory, table, ..Settings::default() };
        let gpu = common::open(settings).expect("there is a device");
        let mut found = vec![];
        let took = count_numbers(&[&gpu], numbers.iter().copied(), &context, |n, times| {
            found.push((n, times))
        });
        assert!(took.unwrap().merges > 0 && found == right, "{merge:?}");
    }
    let Some(gpu) = open(Some(8 << 10)) else { return };
    let text = count_numbers(&[&gpu], [1], &context, |_, _| {}).unwrap_err().to_string();
    assert!(text.contains("20 KiB"), "{text}");
    let Some(gpu) = open(None) else { return };
    let none = count_numbers(&[&gpu], [], &context, |_, _| panic!("there is no number")).unwrap();
    assert_eq!((none.sorted, none.merges), (0, 0));
}

/// The call of OpenCL that fails, one after the other: an error each time, and nothing hangs.
#[test]
fn a_sort_that_fails_is_an_error() {
    let mut failed = 0;
    for nth in (1..400).step_by(9) {
        let memory = Some(20 << 10);
        let fault = Some(Fault { call: nth, code: -36, lasting: nth % 2 == 0 });
        let Some(gpu) = common::open(Settings { memory, fault, ..Settings::default() }) else {
            return;
        };
        let numbers = (0..6000).map(|n| n * 7919 % 5003);
        let mut sum = 0;
        match count_numbers(&[&gpu], numbers, &Context::default(), |_, times| sum += times) {
            Ok(_) => assert_eq!(sum, 6000),
            Err(error) => {
                assert_eq!(error.exit_code(), 1, "{error}");
                failed += 1;
            }
        }
    }
    assert!(failed > 20, "{failed}");
}

/// Budgets differ, so that one device has the larger segments.
#[test]
fn several_devices_sort_and_merge_as_one() {
    let numbers: Vec<u64> = (0..30_000).map(|at| (mixed(at) % 9_000) << (at % 3 * 20)).collect();
    let mut right = BTreeMap::new();
    numbers.iter().for_each(|&n| *right.entry(n).or_insert(0u64) += 1);
    let right: Vec<(u64, u64)> = right.into_iter().collect();
    let budgets = [64, 24, 40].map(|kib| open(Some(kib << 10)));
    let [Some(first), Some(second), Some(third)] = budgets else { return };
    for gpus in [&[&first, &second][..], &[&second, &first, &third]] {
        let mut found = vec![];
        let context = Context::default();
        let took = count_numbers(gpus, numbers.iter().copied(), &context, |n, times| {
            found.push((n, times))
        });
        let took = took.unwrap();
        assert!(found == right, "{} devices", gpus.len());
        assert!(took.merges > 1 && took.by_device.iter().all(|&own| own > 1), "{took:?}");
        assert_eq!(took.by_device.iter().sum::<u64>(), took.sorted);
    }
    for gpu in [&first, &second, &third] {
        let (limit, peak) = gpu.memory().unwrap();
        assert!(peak > 0 && peak <= limit, "{peak} bytes of {limit}");
    }
    let none = count_numbers(&[], [1], &Context::default(), |_, _| {}).unwrap_err();
    assert_eq!(none.exit_code(), 2);
}

/// While numbers arrive, while segments are merged, and during the last merge.
#[test]
fn a_stop_is_heard_within_a_merge() {
    let Some(gpu) = open(Some(20 << 10)) else { return };
    let all = 20_000;
    for (at, of_visit) in [(0, false), (all - 1, false), (0, true), (all / 2, true)] {
        let context = Context::default();
        let (cancel, mut visited) = (context.cancel.clone(), 0);
        let numbers = (0..all).inspect(|&n| {
            if !of_visit && n == at {
                cancel.cancel();
            }
        });
        let took = count_numbers(&[&gpu], numbers, &context, |_, _| {
            if of_visit && visited == at {
                context.cancel.cancel();
            }
            visited += 1;
        });
        assert!(matches!(took, Err(Error::Interrupted)), "{took:?}");
        // The merge at hand comes to its end; none is begun.
        assert!(of_visit || visited == 0, "{visited}");
        assert!(visited < all * 3 / 4, "{visited} of {all} numbers");
    }
}
