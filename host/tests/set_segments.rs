//! Graphs that are larger than a cluster's memory, and roots with more neighbours before them than a list
//! holds: cut into segments and run by the functional model, they count as on the CPU engine.

use gramer::accelerator::set::image::{SetImage, Words, lines_of};
use gramer::accelerator::set::memory::Memory;
use gramer::accelerator::set::numbers::SUM_CLIQUES;
use gramer::accelerator::set::segments::{Segment, Segments};
use gramer::accelerator::set::sums::{Degrees, Total};
use gramer::accelerator::set::tasks::{SetTask, stays};
use gramer::accelerator::set::units::{Arrange, Operation, deal, longest};
use gramer::cpu::Cpu;
use gramer::engine::{Count, EngineExt, Outcome, Share, Units};
use gramer::task::Induced;
use gramer::{Context, Graph, Task};
use gramer_machine::set::{LAST_ALL, LENGTH_BLOCK, QUARTERS_LONG};
use gramer_machine::{Accelerator, named};
use gramer_models::cliques as reference;
use gramer_testing::graphs::{graph, numbers, pairs, ranked};

/// A machine with given lines per cluster and lines per list.
fn machine(partition_lines: u32, list_lines: u32) -> Accelerator {
    let mut machine = named::named("set-small").unwrap().unwrap();
    let set = machine.set.as_mut().unwrap();
    (set.partition_lines, set.list_lines) = (partition_lines, list_lines);
    machine
}

fn random(mut rng: impl FnMut(u64) -> u64, n: u64, percent: u64) -> Graph {
    ranked(&pairs(n, |_, _| rng(100) < percent))
}

fn motif(k: usize) -> Task {
    Task::Motif { k, induced: Induced::Vertex }
}

fn on_cpu(graph: &Graph, task: &Task) -> Vec<Count> {
    Cpu.run(graph, task, None, &Context::with_threads(1)).unwrap().results
}

/// What a task was cut into.
#[derive(Default)]
struct Cut {
    segments: usize,
    /// Those with edges: of roots that are cut themselves.
    edges: usize,
}

/// What the functional model gives for a task that is cut, and its segments.
fn model(machine: &Accelerator, graph: &Graph, task: SetTask, units: Units<'_>) -> (Total, Cut) {
    parts(machine, graph, task, units, 1)
}

/// The same with roots for several clusters.
fn parts(
    machine: &Accelerator,
    graph: &Graph,
    task: SetTask,
    units: Units<'_>,
    clusters: usize,
) -> (Total, Cut) {
    let (mut total, mut cut) = (Total::default(), Cut::default());
    let of = |operation| Segments::parts(machine, graph.view(), operation, units, clusters);
    for mut segments in task.operations().into_iter().flat_map(of) {
        while let Some(segment) = segments.next().unwrap() {
            cut.segments += 1;
            cut.edges += usize::from(segment.operations.contains(&Operation::Edges));
            rules(machine, &segment);
            let Segment { image, operations, units, .. } = &segment;
            let mut found = Total::default();
            for stream in deal(machine, operations, units.clone(), 2, Arrange::ByAddress) {
                let sums = reference::run(machine, image.words(), &stream.whole());
                assert!(!sums.saturated);
                found.iter_mut().zip(sums.values).for_each(|(all, own)| *all += u128::from(own));
            }
            segment.add(&mut total, &found);
        }
        assert!(segments.is_done() && segments.roots_left() == 0);
    }
    (total, cut)
}

/// The rules of an image, for all lists reachable from units.
fn rules(machine: &Accelerator, segment: &Segment) {
    let Segment { image, operations, units, .. } = segment;
    let room = machine.set_quarters().min(machine.set.as_ref().unwrap().map_entries());
    assert!(image.lines() * 4 <= room && operations.len() <= 4);
    let memory = Memory::new(image.words());
    let whole_lines = |address: u32, quarters: u32| {
        assert!(address % 4 == 0 || lines_of(address, quarters) <= 1, "rule 1");
    };
    for unit in units {
        let length = |at: u32| image.words()[(at as usize - 1) * 4 + LENGTH_BLOCK as usize];
        let quarters = match unit.quarters {
            QUARTERS_LONG => length(unit.address),
            quarters => quarters,
        };
        whole_lines(unit.address, quarters);
        let cliques = matches!(operations[unit.plan as usize], Operation::Cliques { .. });
        assert!(!cliques || quarters <= 4 * machine.set.as_ref().unwrap().list_lines);
        assert!(unit.first < unit.last && (cliques || unit.last == LAST_ALL));
        let list: Vec<_> = memory.list(unit.address, quarters).collect();
        assert!(list.windows(2).all(|pair| pair[0].id() < pair[1].id()), "ids ascend");
        for entry in list.into_iter().filter(|e| cliques || e.id() > unit.address) {
            let quarters = memory.size(entry, false);
            whole_lines(entry.id(), quarters);
            let ids: Vec<u32> = memory.list(entry.id(), quarters).map(|e| e.id()).collect();
            // What comes before a member: the core compares it with those members alone.
            assert!(!cliques || ids.is_sorted() && ids.last().is_none_or(|&id| id < entry.id()));
        }
    }
}

fn compare(machine: &Accelerator, graph: &Graph, task: &Task, what: &str) -> Cut {
    let set = SetTask::of(task).unwrap();
    let (total, cut) = model(machine, graph, set, Units::All);
    let counts = set.counts(&total, &Degrees::of(graph.view()));
    assert_eq!(counts, on_cpu(graph, task), "{what}, {task:?}");
    cut
}

#[test]
fn random_graphs_in_many_segments_count_as_on_the_cpu() {
    let (mut most, mut several) = (0, 0);
    for seed in 0..60 {
        let mut rng = numbers(seed);
        let (n, percent) = (2 + rng(138), 1 + rng(44));
        let graph = random(rng, n, percent);
        // Little memory, so that roots have no room even alone; or short lists.
        let machine = match seed % 3 {
            0 => machine(16, 32),
            1 => machine(32, 4),
            _ => machine(128, 4),
        };
        let largest = if percent > 30 { 5 } else { 8 };
        for k in 3..=largest {
            let cut = compare(&machine, &graph, &Task::Clique { k }, &format!("seed {seed}"));
            let segments = cut.segments;
            (most, several) = (most.max(segments), several + usize::from(segments > 1));
        }
    }
    assert!(most > 20 && several > 100, "{most} segments, {several} times several");
}

#[test]
fn motifs_in_many_segments_count_as_on_the_cpu() {
    let (mut most, mut hubs) = (0, 0);
    for seed in 0..60 {
        let mut rng = numbers(1000 + seed);
        // Every second time with roots that have no room.
        let (n, percent, lines) = match seed % 2 {
            0 => (2 + rng(300), 1 + rng(3), 64),
            _ => (40 + rng(80), 10 + rng(20), 16),
        };
        let graph = random(rng, n, percent);
        for k in [3, 4] {
            let cut = compare(&machine(lines, 32), &graph, &motif(k), &format!("seed {seed}"));
            (most, hubs) = (most.max(cut.segments), hubs + usize::from(cut.edges > 0));
        }
    }
    assert!(most > 20 && hubs > 10, "{most} segments, {hubs} times a root had no room");
}

/// Cut for several clusters, of which there may be more than roots, a graph counts the same; heavy roots are in all.
#[test]
fn clusters_have_roots_of_their_own() {
    let (mut more, mut heavy) = (0, 0);
    for seed in 0..40 {
        let mut rng = numbers(3000 + seed);
        let (n, percent) = (2 + rng(120), 1 + rng(30));
        let graph = random(rng, n, percent);
        let machine = machine(if seed % 2 == 0 { 16 } else { 64 }, 32);
        for task in [Task::Clique { k: 3 }, Task::Clique { k: 5 }, motif(4)] {
            let set = SetTask::of(&task).unwrap();
            let known = on_cpu(&graph, &task);
            let one = model(&machine, &graph, set, Units::All).1;
            for clusters in [2, 4, 200] {
                let (total, cut) = parts(&machine, &graph, set, Units::All, clusters);
                let counts = set.counts(&total, &Degrees::of(graph.view()));
                assert_eq!(counts, known, "seed {seed}, {task:?}, {clusters} clusters");
                more += usize::from(cut.segments > one.segments);
                heavy += usize::from(cut.edges > 1);
            }
        }
    }
    assert!(more > 50 && heavy > 10, "{more} times more segments, {heavy} times heavy roots");
}

/// Roots with many neighbours before them, some of them adjacent, and a clique among them.
#[test]
fn lists_longer_than_the_core_s_are_cut() {
    let machine = named::named("set-small").unwrap().unwrap();
    for d in [255, 256, 257, 511, 512, 513, 1500] {
        let mut rng = numbers(d);
        let inner: Vec<(u64, u64)> = (0..8 * d).map(|_| (rng(d), rng(d))).collect();
        let clique = (0..18).flat_map(|u| (0..u).map(move |v| (u * d / 18, v * d / 18)));
        let root = (0..d).map(|v| (v, d));
        let edges = inner.into_iter().filter(|(u, v)| u != v).chain(clique).chain(root);
        let graph = graph(edges);
        assert_eq!(u64::from(longest(graph.view())), d);
        let size = SetImage::size_of(graph.view(), SetTask::Cliques(3).lists());
        let fits = stays(&machine, size, d as u32, SetTask::Cliques(3)).unwrap();
        assert_eq!(fits, d <= 256);
        for k in [3, 4, 5, 6, 7, 8, 16] {
            compare(&machine, &graph, &Task::Clique { k }, &format!("root of {d}"));
        }
    }
    for d in [255, 256, 257, 511, 512, 513] {
        let complete = graph((0..=d).flat_map(|u| (0..u).map(move |v| (u, v))));
        let (total, _) = model(&machine, &complete, SetTask::Cliques(3), Units::All);
        let n = u128::from(d) + 1;
        assert_eq!(total[SUM_CLIQUES], n * (n - 1) * (n - 2) / 6, "complete, {d}");
    }
}

/// With short lists dense graphs are cut again and again.
#[test]
fn lists_are_cut_down_to_triangles() {
    for (seed, (n, percent, largest)) in (0..).zip([(66, 100, 5), (130, 60, 6), (200, 50, 5)]) {
        let graph = random(numbers(seed), n, percent);
        assert!(longest(graph.view()) > 64);
        for k in 3..=largest {
            let what = format!("{n} vertices");
            compare(&machine(512, 4), &graph, &Task::Clique { k }, &what);
        }
    }
}

/// Shares of the units add up, with lists that are divided, whole and in segments.
#[test]
fn shares_add_up() {
    for seed in 0..12 {
        let mut rng = numbers(2000 + seed);
        let (n, percent) = (3 + rng(107), 2 + rng(18));
        let graph = random(rng, n, percent);
        let machine = machine(if seed % 2 == 0 { 128 } else { 8192 }, 4);
        let view = graph.view();
        for task in [Task::Clique { k: 3 }, Task::Clique { k: 5 }, motif(3), motif(4)] {
            let set = SetTask::of(&task).unwrap();
            let parts: Vec<Outcome> = Share::split(view, 7)
                .iter()
                .map(|share| {
                    let units = Units::Share(share);
                    let (total, _) = model(&machine, &graph, set, units);
                    set.share(&total, &Degrees::of_units(view, units)).of(units)
                })
                .collect();
            let merged = Outcome::merge(&task, &graph, parts).unwrap();
            assert_eq!(merged.results, on_cpu(&graph, &task), "seed {seed}, {task:?}");
        }
    }
}

/// What can't be cut is refused, with the vertex and the engine that does it.
#[test]
fn a_root_without_room_is_named() {
    let machine = machine(16, 4);
    let star = graph((1..2000).map(|v| (0, v)).chain([(1, 2)]));
    let mut segments = Segments::new(&machine, star.view(), Operation::Paths, Units::All);
    let said = segments.next().unwrap_err().to_string();
    assert!(said.contains("vertex 0 with 1999 neighbours"), "{said}");
    assert!(said.contains("machine set_small") && said.contains("the engine `cpu`"), "{said}");
}
