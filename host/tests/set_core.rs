//! The functional model of the set core, on the very bytes that a cluster is sent, gives what the CPU
//! engine gives: on random graphs, on graphs whose lists have the lengths at which something changes,
//! and on the real ones.

use std::path::Path;

use gramer::accelerator::choose_on;
use gramer::accelerator::set::image::{SetImage, Words};
use gramer::accelerator::set::numbers::{SUM_CLIQUES, SUM_MARKS, SUM_TRIANGLES};
use gramer::accelerator::set::sums::{Degrees, Total};
use gramer::accelerator::set::tasks::{SetTask, stays};
use gramer::accelerator::set::units::{Arrange, deal, longest, separate_sums, units};
use gramer::accelerator::settings::Settings;
use gramer::cpu::Cpu;
use gramer::engine::{Ask, Count, EngineExt, Query, Units};
use gramer::graph::Builder;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::prepare::renumber;
use gramer::task::Induced;
use gramer::{Context, Graph, Task};
use gramer_machine::set::{LEVEL_BITS, MAP_LINES};
use gramer_machine::{Accelerator, named};
use gramer_models::cliques as reference;
use gramer_testing::environment;
use gramer_testing::graphs::{graph, numbers};
use gramer_testing::ground_truth;

fn machine(name: &str) -> Accelerator {
    named::named(name).unwrap().unwrap()
}

/// Whether no method of a machine answers a task.
fn refused(machine: &Accelerator, task: Task, list: bool) -> bool {
    let query = Query::new(task).list(list);
    choose_on(machine, &Settings::default(), &Ask::new(&query)).fits.is_empty()
}

/// Whether the whole graph has room in a cluster.
fn room(machine: &Accelerator, graph: &Graph, task: SetTask) -> bool {
    let view = graph.view();
    stays(machine, SetImage::size_of(view, task.lists()), longest(view), task).unwrap()
}

/// What the functional model gives for a task on all clusters of a machine.
fn model(machine: &Accelerator, graph: &Graph, task: &Task, arrange: Arrange) -> Vec<Count> {
    let task = SetTask::of(task).unwrap();
    let view = graph.view();
    let image = SetImage::new(view, task.lists(), 2).unwrap();
    assert!(room(machine, graph, task));
    let operations = task.operations();
    let clusters = machine.kernels.compute_units as usize;
    let work = units(view, &image, &operations, Units::All);
    let mut total: Total = Default::default();
    for mut stream in deal(machine, &operations, work, clusters, arrange) {
        if matches!(task, SetTask::CliqueSizes(..)) {
            separate_sums(machine, &mut stream.head);
        }
        let sums = reference::run(machine, image.words(), &stream.whole());
        assert!(!sums.saturated);
        total.iter_mut().zip(sums.values).for_each(|(all, own)| *all += u128::from(own));
    }
    if task == SetTask::Motifs4 {
        // Conservation: every vertex that is a root is marked with all its neighbours.
        let triangles = Cpu.run(graph, &Task::Clique { k: 3 }, None, &Context::with_threads(1));
        assert_eq!(total[SUM_TRIANGLES], 3 * triangles.unwrap().results[0].count);
        let roots = (0..view.vertices() as u32).filter(|&v| {
            let row = view.neighbours(v);
            row.len() > 1 && row.last().is_some_and(|&u| u > v)
        });
        assert_eq!(total[SUM_MARKS], roots.map(|v| view.degree(v) as u128).sum::<u128>());
    } else {
        let sums = SUM_CLIQUES..SUM_CLIQUES + operations.len();
        assert!(total.iter().enumerate().all(|(at, &sum)| sums.contains(&at) || sum == 0));
    }
    task.counts(&total, &Degrees::of(view))
}

fn tasks(largest: usize) -> impl Iterator<Item = Task> {
    let cliques = (3..=largest).map(|k| Task::Clique { k });
    let motif = |k| Task::Motif { k, induced: Induced::Vertex };
    // As many sizes as a header has plans.
    let sizes = Task::CliqueSizes { smallest: 3, largest: largest.min(6) };
    cliques.chain([sizes, motif(3), motif(4)])
}

fn compare(machine: &Accelerator, graph: &Graph, largest: usize, what: &str) {
    for task in tasks(largest) {
        let cpu = Cpu.run(graph, &task, None, &Context::with_threads(1)).unwrap();
        for arrange in [Arrange::ByWork, Arrange::ByAddress] {
            let mut found = model(machine, graph, &task, arrange);
            if matches!(task, Task::CliqueSizes { .. }) {
                // Sizes end with the largest clique.
                let (sizes, larger) = found.split_at(cpu.results.len());
                assert!(larger.iter().all(|size| size.count == 0), "{what}");
                found = sizes.to_vec();
            }
            assert_eq!(found, cpu.results, "{what}, {task:?}");
        }
    }
}

#[test]
fn random_graphs_count_as_on_the_cpu() {
    let machines = ["set", "set32", "set-small"].map(machine);
    for seed in 0..150 {
        let mut rng = numbers(seed);
        let (n, share) = (2 + rng(70), 1 + rng(99));
        let mut edges = vec![];
        for u in 0..n {
            edges.extend((0..u).filter(|_| rng(100) < share).map(|v| (u, v)));
        }
        let read = graph(edges);
        let ranked = renumber(&read, &Context::with_threads(1)).unwrap();
        // In any order of the vertices the counts are the same.
        let graph = if seed % 3 == 0 { &read } else { &ranked };
        let largest = if share > 70 { 5 } else { 8 };
        compare(&machines[seed as usize % 3], graph, largest, &format!("seed {seed}"));
    }
}

/// Complete graphs whose last root has d neighbours before it.
#[test]
fn lists_of_every_length_that_matters() {
    let machine = machine("set");
    for d in [63, 64, 65, 127, 128, 129] {
        let complete = graph((0..=d).flat_map(|u| (0..u).map(move |v| (u, v))));
        assert_eq!(longest(complete.view()), d as u32);
        compare(&machine, &complete, 5, &format!("complete graph, d = {d}"));
    }
    // Few edges among many neighbours: a root of d neighbours, and a random graph among them.
    let mut twice = machine.clone();
    twice.set.as_mut().unwrap().list_lines *= 2;
    for d in [241, 248, 252, 255, 256, 257, 511, 512] {
        let machine = if d > 256 { &twice } else { &machine };
        let mut rng = numbers(d);
        let inner: Vec<(u64, u64)> = (0..4 * d).map(|_| (rng(d), rng(d))).collect();
        let root = (0..d).map(|v| (v, d));
        let graph = graph(inner.into_iter().filter(|(u, v)| u != v).chain(root));
        assert_eq!(longest(graph.view()), d as u32);
        compare(machine, &graph, 6, &format!("root of {d} neighbours"));
    }
}

#[test]
fn stars_hubs_and_empty_lists() {
    let machine = machine("set");
    for leaves in [1, 2, 3, 62, 63, 64, 240, 241, 252, 253, 1023, 1024, 5000] {
        let star = graph((1..=leaves).map(|v| (0, v)));
        compare(&machine, &star, 4, &format!("star of {leaves}"));
        // Two hubs with all leaves in common: K(2, n), all 4-cycles.
        let both = graph((2..leaves + 2).flat_map(|v| [(0, v), (1, v)]));
        compare(&machine, &both, 4, &format!("two hubs of {leaves}"));
    }
    // Vertices without neighbours have no block.
    let mut builder = Builder::new();
    builder.vertex_range(0..50);
    builder.edge(10, 40);
    builder.edge(40, 41);
    compare(&machine, &builder.build(), 4, "two edges");
    compare(&machine, &graph([]), 4, "no vertex");
}

#[test]
fn sums_stay_at_the_largest_count() {
    let mut machine = machine("set-small");
    machine.applications.count_bits = 8;
    let complete = graph((0..20).flat_map(|u| (0..u).map(move |v| (u, v))));
    let task = SetTask::Cliques(3);
    let image = SetImage::new(complete.view(), task.lists(), 1).unwrap();
    let operations = task.operations();
    let work = units(complete.view(), &image, &operations, Units::All);
    let streams = deal(&machine, &operations, work, 1, Arrange::ByWork);
    let sums = reference::run(&machine, image.words(), &streams[0].whole());
    assert_eq!((sums.values[SUM_CLIQUES], sums.saturated), (255, true));
}

#[test]
fn what_stays_on_chip_and_what_is_refused() {
    let machine = machine("set");
    for (before, fit) in [(256, true), (257, false)] {
        let wide = graph((0..before).map(|v| (v, before)));
        assert_eq!(room(&machine, &wide, SetTask::Cliques(3)), fit);
    }
    // A counter of the map holds a level for each entry of a root's block: 8,191 lines of them.
    for (leaves, fit) in [(MAP_LINES * 16, true), (MAP_LINES * 16 + 1, false)] {
        let star = graph((1..=u64::from(leaves)).map(|v| (0, v)));
        assert_eq!(room(&machine, &star, SetTask::Motifs4), fit);
        assert!(room(&machine, &star, SetTask::Cliques(4)));
    }
    let large = graph((0..300_000).map(|v| (v, v + 1)));
    assert!(!room(&machine, &large, SetTask::Cliques(3)));
    for task in [
        Task::Clique { k: 17 },
        Task::CliqueSizes { smallest: 3, largest: 17 },
        Task::MaximumClique,
        Task::Motif { k: 5, induced: Induced::Vertex },
        Task::Motif { k: 4, induced: Induced::Edge },
        Task::MaximalCliques,
    ] {
        assert!(refused(&machine, task.clone(), false), "{task:?}");
    }
    assert!(refused(&machine, Task::Clique { k: 3 }, true));
    // As many sizes as a clique can have, one for each of a header's plans.
    let sizes = SetTask::of(&Task::CliqueSizes { smallest: 3, largest: 16 }).unwrap();
    assert_eq!(sizes.passes(4, 4), [SetTask::CliqueSizes(3, 5)]);
    assert_eq!(sizes.passes(4, 1), [3, 4, 5].map(|k| SetTask::CliqueSizes(k, k)));
    assert_eq!(sizes.passes(0, 4), [SetTask::CliqueSizes(3, 3)]);
    let groups = [(3, 6), (7, 10), (11, 14), (15, 16)];
    assert_eq!(sizes.passes(512, 4), groups.map(|(first, last)| SetTask::CliqueSizes(first, last)));
}

/// The host refuses what the map's counters can't hold: both must speak of counters of one width.
#[test]
fn the_width_of_the_map_s_counters_is_that_of_the_core() {
    let path = environment::root().join("rtl/set/gramer_set_types_pkg.sv");
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find(|line| line.contains(" LEVEL_W ")).unwrap();
    let value = line.split(['=', ';']).nth(1).unwrap().trim();
    assert_eq!(value, LEVEL_BITS.to_string());
}

/// Real graphs that the machine has room for: counts of independent programs.
#[test]
fn real_graphs_count_as_known() {
    let Some(data) = environment::data() else { return };
    let machine = machine("set");
    let text = std::fs::read_to_string(data.join("ground_truth.tsv")).unwrap();
    let mut compared = 0;
    for (name, file) in [
        ("citeseer", "citeseer.lg"),
        ("p2p-gnutella04", "p2p-gnutella04.txt.zst"),
        ("p2p-gnutella08", "p2p-gnutella08.txt.zst"),
        ("email-eu-core", "email-Eu-core.csv.zst"),
        ("ca-astroph", "ca-AstroPh.txt.zst"),
        ("email-enron", "email-enron.txt.zst"),
        ("wiki-vote", "wiki-vote.txt.zst"),
    ] {
        let graph = real(&data.join(name).join(file));
        let mut known: Vec<(Task, Vec<Count>)> = vec![];
        for row in text.lines().map(|line| line.split('\t').collect::<Vec<_>>()) {
            // Other copies of a graph have other counts.
            let copies = row[0] != name
                || row[3].contains(" over ") && !row[3].contains(file.trim_end_matches(".zst"));
            let Some((task, pattern)) = ground_truth::counted(row[1]).unwrap() else { continue };
            let large = matches!(task, Task::Clique { k } if k > 6);
            if copies || large || refused(&machine, task.clone(), false) {
                continue;
            }
            if !known.iter().any(|(t, _)| *t == task) {
                let counts = model(&machine, &graph, &task, Arrange::ByWork);
                known.push((task.clone(), counts));
            }
            let counts = &known.iter().find(|(t, _)| *t == task).unwrap().1;
            let pattern = pattern.canonical().0;
            let ours = counts.iter().find(|c| c.pattern.canonical().0 == pattern).unwrap();
            assert_eq!(ours.count.to_string(), row[2], "{name}, {}", row[1]);
            compared += 1;
        }
    }
    assert!(compared >= 60, "{compared} counts are known");
}

fn real(path: &Path) -> Graph {
    let context = Context::with_threads(1);
    let graph = read_graph(path, &ReadOptions::default(), &context).unwrap();
    renumber(&graph, &context).unwrap()
}
