//! The set core as a whole gives the sums of its functional model, unit for unit and bit for bit: on
//! random graphs, on lists of every length at which something changes, with streams and memory held
//! back at random and answers out of order, and after runs that ended early.

#[path = "support/set_corners.rs"]
mod corners;
#[path = "support/set_bench.rs"]
mod set_bench;
#[path = "support/set.rs"]
mod support;

use gramer::accelerator::set::image::{Lists, SetImage, Words};
use gramer::accelerator::set::numbers::{SUM_CLIQUES, SUM_CYCLES, SUM_TRIANGLES};
use gramer::accelerator::set::segments::Segments;
use gramer::accelerator::set::sums::{Degrees, Total, motifs4};
use gramer::accelerator::set::tasks::SetTask;
use gramer::accelerator::set::units::{Arrange, Operation, deal, units};
use gramer::cpu::Cpu;
use gramer::engine::{EngineExt, Units};
use gramer::graph::Builder;
use gramer::task::{Induced, Task};
use gramer::{Context, Graph};
use gramer_machine::set::QUARTERS_LONG;
use gramer_machine::{Accelerator, named};
use gramer_models::cliques as reference;
use gramer_sim::model::Model;
use gramer_sim::run::{ABORTED, CUT, ERROR, REFUSED, STREAM_WAIT, Simulation};
use gramer_sim::set::{Run, run};
use gramer_testing::graphs::{self, ranked};

use set_bench::Bench;
use support::{held, library, narrow, seeds};

fn machine(name: &str) -> Accelerator {
    named::named(name).unwrap().unwrap()
}

/// Two memory channels, each of one partition.
fn two_channels() -> Accelerator {
    let machine = "base: set-small.yaml\nmachine: {name: two_channels}\nset: {channels: 2}";
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../machines/two_channels.yaml");
    Accelerator::parse(machine, folder.as_ref()).unwrap()
}

fn graph(edges: impl IntoIterator<Item = (u64, u64)>) -> Graph {
    ranked(&graphs::graph(edges))
}

fn random(rng: &mut fastrand::Rng, most: u64) -> Graph {
    let (n, share) = (2 + rng.u64(0..most), rng.u32(1..100));
    ranked(&graphs::pairs(n, |_, _| rng.u32(0..100) < share))
}

/// Of eight PUs nearly all share their functions: else a model takes minutes to compile, and each PU has
/// instructions of its own to fetch, which no other test would notice.
#[test]
fn pus_share_their_functions() {
    let Some(library) = library(&machine("set")) else { return };
    let head = r"(?m)^VL_INLINE_OPT void \w+_gramer_set_pu___nba_\w+?gen_pu__BRA__(\d+)__KET__";
    let head = regex_lite::Regex::new(head).unwrap();
    let mut owners = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(library.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "cpp") {
            let text = std::fs::read_to_string(&path).unwrap();
            let defined = text.lines().filter(|line| line.ends_with('{'));
            owners.extend(defined.filter_map(|line| Some(head.captures(line)?[1].to_string())));
        }
    }
    assert!((1..=2).contains(&owners.len()), "functions of the PUs {owners:?} of 0 to 7");
}

#[test]
fn cliques_of_random_graphs() {
    for (name, most, seeds) in [("set-small", 60, seeds(0..40, 1)), ("set", 120, seeds(40..50, 4))]
    {
        let machine = machine(name);
        let Some(library) = library(&machine) else { return };
        let mut core = Model::load(&library).unwrap();
        let mut conflicts = 0;
        for seed in seeds {
            let mut rng = fastrand::Rng::with_seed(seed);
            let graph = random(&mut rng, most);
            let arrange = [Arrange::ByAddress, Arrange::ByWork][seed as usize % 2];
            let large = rng.u32(5..=16);
            for k in [3, 4, (5..=large).take_while(|&k| few(&graph, k - 1)).last().unwrap_or(3)] {
                let bench = Bench::new(&machine, &graph, &[Operation::Cliques { k }], arrange);
                let what = format!("{name}, {seed}, k = {k}");
                let outcomes = bench.compare(&mut core, &held(&machine, seed), &what);
                let found = outcomes.iter().map(|o| u128::from(o.counts[SUM_CLIQUES]));
                assert_eq!(found.sum::<u128>(), cliques(&graph, k), "{what}");
                conflicts += outcomes.iter().map(|o| o.sum("partition.conflicts")).sum::<u64>();
            }
        }
        // Four PUs share a port, unless a PU has its own.
        assert_eq!(conflicts > 0, name == "set", "{name}: {conflicts} cycles with a conflict");
    }
}

/// Runs a test on random graphs of each machine: its name, the most vertices, and the seeds.
fn on_random_graphs(
    cases: [(&str, u64, std::ops::Range<u64>); 2],
    test: impl Fn(&Accelerator, &mut Model, &Graph, u64),
) {
    for (name, most, seeds) in cases {
        let machine = machine(name);
        let Some(library) = library(&machine) else { return };
        let mut core = Model::load(&library).unwrap();
        for seed in seeds {
            let graph = random(&mut fastrand::Rng::with_seed(seed), most);
            test(&machine, &mut core, &graph, seed);
        }
    }
}

/// Cliques of four sizes in one run: a plan and a sum for each size.
#[test]
fn cliques_of_four_sizes_in_a_run() {
    let cases = [("set-small", 60, seeds(0..12, 1)), ("set", 120, seeds(12..15, 4))];
    on_random_graphs(cases, |machine, core, graph, seed| {
        let arrange = [Arrange::ByAddress, Arrange::ByWork][seed as usize % 2];
        let mut sizes = [3, 4, 5, 6];
        sizes.rotate_left(seed as usize % 4);
        let operations = sizes.map(|k| Operation::Cliques { k });
        let mut bench = Bench::new(machine, graph, &operations, arrange);
        // Sums in another order than the plans.
        let sum = |plan: usize| (plan + seed as usize) % sizes.len();
        let field = machine.streams.input.field("plan", "sum").unwrap();
        for stream in &mut bench.streams {
            for (plan, bytes) in stream.chunks_mut(4).take(sizes.len()).enumerate() {
                field.set(bytes, sum(plan) as u64);
            }
        }
        let what = format!("{}, {seed}, {sizes:?}", machine.machine.name);
        let outcomes = bench.compare(core, &held(machine, seed), &what);
        for (plan, k) in sizes.into_iter().enumerate() {
            let found = outcomes.iter().map(|o| u128::from(o.counts[SUM_CLIQUES + sum(plan)]));
            assert_eq!(found.sum::<u128>(), cliques(graph, k), "{what}, {k}");
        }
    });
}

/// Two channels give the sums of one, in half of the time to load.
#[test]
fn channels_load_their_lines_at_the_same_time() {
    let (one, two) = (machine("set-small"), two_channels());
    let [Some(a), Some(b)] = [library(&one), library(&two)] else { return };
    let (mut a, mut b) = (Model::load(&a).unwrap(), Model::load(&b).unwrap());
    for seed in seeds(0..16, 1) {
        let graph = random(&mut fastrand::Rng::with_seed(seed), 90);
        let operations = [Operation::Cliques { k: 4 }, Operation::Paths];
        let [one, two] = [(&one, &mut a), (&two, &mut b)].map(|(machine, core)| {
            let bench = Bench::new(machine, &graph, &operations, Arrange::ByAddress);
            let held = held(machine, seed);
            let loaded = bench.compare(core, &held, &format!("{seed}")).remove(0);
            let outcome = bench.run(core, &bench.streams[0], false, &held);
            assert_eq!(outcome.counts, loaded.counts, "{seed}: the image of an earlier run");
            (
                bench.image.lines(),
                loaded.sum("core.load_cycles"),
                loaded.counters["bank.beats"].clone(),
            )
        });
        // The abort word is read from channel 0, too.
        let lines = u64::from(one.0);
        assert!(two.2[0][0] >= lines.div_ceil(2), "{seed}: {two:?}");
        assert_eq!(two.2[1][0], lines / 2, "{seed}");
        if seed % 2 == 0 {
            assert!(one.1.abs_diff(two.1 + lines / 2) <= 12, "{seed}: {one:?} and {two:?}");
        }
    }
}

/// Cliques of `k` vertices by the CPU engine.
fn cliques(graph: &Graph, k: u32) -> u128 {
    let task = Task::Clique { k: k as usize };
    Cpu.run(graph, &task, None, &Context::with_threads(1)).unwrap().results[0].count
}

/// Whether a graph has so few of them that the core visits them in seconds. A dense graph may have few large ones and
/// millions of those in between, so that all sizes up to one have to be requested.
fn few(graph: &Graph, k: u32) -> bool {
    cliques(graph, k) < 20_000
}

/// Marks, counters and the sums of edges, beside cliques in the same run and alone.
#[test]
fn motifs_of_random_graphs() {
    let cases = [("set-small", 60, seeds(0..24, 1)), ("set", 120, seeds(24..28, 4))];
    on_random_graphs(cases, |machine, core, graph, seed| {
        let both = [Operation::Cliques { k: 4 }, Operation::Paths];
        let operations = if seed % 3 == 0 { &both[1..] } else { &both[..] };
        let bench = Bench::new(machine, graph, operations, Arrange::ByWork);
        let what = format!("{}, {seed}", machine.machine.name);
        let outcomes = bench.compare(core, &held(machine, seed), &what);
        let sum = |at: usize| outcomes.iter().map(|o| u128::from(o.counts[at])).sum::<u128>();
        // From the same sums as the functional model, the CPU engine's counts.
        let context = Context::with_threads(1);
        let triangles = Cpu.run(graph, &Task::Clique { k: 3 }, None, &context).unwrap();
        assert_eq!(sum(SUM_TRIANGLES), 3 * triangles.results[0].count, "{what}");
        if operations.len() == 2 {
            let motifs = Task::Motif { k: 4, induced: Induced::Vertex };
            let motifs = Cpu.run(graph, &motifs, None, &context).unwrap();
            let mut total = Total::default();
            (0..outcomes[0].counts.len()).for_each(|at| total[at] = sum(at));
            let counts = motifs4(&total, &Degrees::of(graph.view()));
            let known: Vec<u128> = motifs.results.iter().map(|c| c.count).collect();
            assert_eq!(counts, known, "{what}");
        }
    });
}

/// Hubs whose lists have the lengths at which something changes, and neighbours in common: 4-cycles.
#[test]
fn motifs_of_hubs() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    for leaves in [1, 3, 15, 16, 17, 62, 63, 64, 240, 241, 252, 253, 511, 512, 513, 1100] {
        let second = (2..leaves + 2).filter(|v| v % 3 != 1).map(|v| (1, v));
        let edges = (1..leaves + 2).map(|v| (0, v)).chain(second);
        let hubs = graph(edges.chain((3..leaves).step_by(7).map(|v| (v, v + 1))));
        let bench = Bench::new(&machine, &hubs, &[Operation::Paths], Arrange::ByWork);
        bench.compare(&mut core, &held(&machine, leaves), &format!("hub of {leaves}"));
    }
}

/// A sum that doesn't fit stays at its largest value and the status says so: of one PU alone, and of two whose sums fit.
#[test]
fn sums_stay_at_their_largest_value_and_say_so() {
    let machine = narrow();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    // Each of the last vertices is next to all of three sets, which are complete to each other: their product is
    // the number of 4-cliques that end in it. In the order of the input, so that no other vertex has any.
    let rooted = |sets: [u64; 3], roots: u64| {
        let of = |v: u64| (0..3).find(|&s| v < sets[..=s].iter().sum()).unwrap_or(3);
        let all = sets.iter().sum::<u64>() + roots;
        let mut builder = Builder::new();
        for (u, v) in (0..all).flat_map(|u| (0..u).map(move |v| (u, v))) {
            if of(u) != of(v) {
                builder.edge(v, u);
            }
        }
        builder.build()
    };
    let cases = [([3, 5, 17], 1, 255, false), ([4, 8, 8], 1, 255, true), ([4, 4, 8], 2, 255, true)];
    for (sets, roots, sum, saturated) in cases {
        let what = format!("{roots} after sets of {sets:?}");
        let graph = rooted(sets, roots);
        let bench =
            Bench::new(&machine, &graph, &[Operation::Cliques { k: 4 }], Arrange::ByAddress);
        let outcomes = bench.compare(&mut core, &held(&machine, 1), &what);
        assert_eq!(outcomes[0].counts[SUM_CLIQUES], sum, "{what}");
        assert_eq!(outcomes[0].saturated, saturated, "{what}");
    }
}

/// Complete graphs are dense to the last bit of a row, roots of many neighbours reach the longest list.
#[test]
fn lists_of_every_length_that_matters() {
    lists(&machine("set-small"), &[127, 128, 129, 241, 248, 249, 252, 253, 255, 256]);
}

/// The same where lists are twice as long, and rows and sets twice as wide.
#[test]
fn lists_of_512_entries() {
    let mut machine = machine("set-small");
    let set = machine.set.as_mut().unwrap();
    (set.lists, set.list_lines) = (4, 32);
    lists(&machine, &[255, 256, 257, 383, 384, 511, 512]);
}

/// Complete graphs of up to 66 vertices, and roots with this many neighbours.
fn lists(machine: &Accelerator, roots: &[u64]) {
    let Some(library) = library(machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let mut compare = |graph: &Graph, k: u32, what: &str| {
        let bench = Bench::new(machine, graph, &[Operation::Cliques { k }], Arrange::ByAddress);
        bench.compare(&mut core, &held(machine, 1), what);
    };
    for d in [1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 63, 64, 65] {
        let complete = graph((0..=d).flat_map(|u| (0..u).map(move |v| (u, v))));
        for k in [3, 4, 5] {
            compare(&complete, k, &format!("complete graph of {}, k = {k}", d + 1));
        }
    }
    for &d in roots {
        let mut rng = fastrand::Rng::with_seed(d);
        let inner: Vec<(u64, u64)> = (0..6 * d).map(|_| (rng.u64(0..d), rng.u64(0..d))).collect();
        // In the order of the input the last vertex has all others before it.
        let mut builder = Builder::new();
        for (u, v) in inner.into_iter().chain((0..d).map(|v| (v, d))) {
            builder.edge(u, v);
        }
        let rooted = builder.build();
        for k in [3, 4, 6] {
            compare(&rooted, k, &format!("root of {d} neighbours, k = {k}"));
        }
    }
}

/// In complete graphs sets are many and large: they wait for the counter, and all walkers are in flight.
#[test]
fn complete_graphs_have_all_walkers_under_way() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    for n in 20..=34 {
        let complete = graph((0..n).flat_map(|u| (0..u).map(move |v| (u, v))));
        for k in [6, 7] {
            let operation = [Operation::Cliques { k }];
            let bench = Bench::new(&machine, &complete, &operation, Arrange::ByWork);
            bench.compare(&mut core, &held(&machine, n), &format!("{n} vertices, k = {k}"));
        }
    }
}

/// A task that is cut for the memory and lists of `host`, on the core and by the functional model.
fn in_segments(
    (machine, host): (&Accelerator, &Accelerator),
    core: &mut Model,
    graph: &Graph,
    task: &Task,
    seed: u64,
) -> usize {
    let set = SetTask::of(task).unwrap();
    let (mut total, mut count) = (Total::default(), 0);
    for operation in set.operations() {
        let mut segments = Segments::new(host, graph.view(), operation, Units::All);
        while let Some(segment) = segments.next().unwrap() {
            let (operations, work) = (&segment.operations, segment.units.clone());
            let dealt = deal(machine, operations, work, 1, Arrange::ByAddress);
            let (image, streams) = (segment.image.clone(), vec![dealt[0].whole()]);
            let bench = Bench { machine, image, streams, wait: dealt[0].wait };
            let what = format!("{seed}, {task:?}, segment {count}");
            let outcome = &bench.compare(core, &held(machine, seed), &what)[0];
            segment.add(&mut total, &std::array::from_fn(|at| u128::from(outcome.counts[at])));
            count += 1;
        }
    }
    let known = Cpu.run(graph, task, None, &Context::with_threads(1)).unwrap();
    assert_eq!(set.counts(&total, &Degrees::of(graph.view())), known.results, "{seed}, {task:?}");
    count
}

/// The host takes the machine for one with less memory and shorter lists, so that all is cut.
#[test]
fn graphs_in_segments() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let mut host = machine.clone();
    let set = host.set.as_mut().unwrap();
    (set.partition_lines, set.list_lines) = (128, 4);
    let mut most = 0;
    for seed in 0..10 {
        let graph = random(&mut fastrand::Rng::with_seed(300 + seed), 110);
        let motif = Task::Motif { k: 4, induced: Induced::Vertex };
        for task in [Task::Clique { k: 3 }, Task::Clique { k: 4 }, Task::Clique { k: 5 }, motif] {
            if task.name() == "clique" || few(&graph, 4) {
                most = most.max(in_segments((&machine, &host), &mut core, &graph, &task, seed));
            }
        }
    }
    assert!(most > 5, "{most} segments");
}

/// Counters that come to all entries of a root's block, whole lines, and are read for the roots after it in the same PU: a
/// few vertices next to the same ones.
#[test]
fn counters_as_large_as_a_root_s_block() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    for (seed, (hubs, leaves)) in (0..).zip([(3, 16), (4, 16), (3, 32), (5, 48), (4, 64), (3, 15)])
    {
        let edges = (0..hubs).flat_map(|a| (0..leaves).map(move |b| (a, hubs + b)));
        let graph = graph(edges.collect::<Vec<_>>());
        let image = SetImage::new(graph.view(), Lists::Both, 1).unwrap();
        let operations = [Operation::Paths];
        let work = units(graph.view(), &image, &operations, Units::All);
        let dealt = deal(&machine, &operations, work, 1, Arrange::ByWork);
        let (streams, wait) = (vec![dealt[0].whole()], dealt[0].wait);
        let bench = Bench { machine: &machine, image, streams, wait };
        let what = format!("{hubs} hubs of {leaves}");
        let outcome = &bench.compare(&mut core, &held(&machine, seed), &what)[0];
        let pairs = |n: u64| n * (n - 1) / 2;
        assert_eq!(outcome.counts[SUM_CYCLES], pairs(hubs) * pairs(leaves), "{what}");
    }
}

/// Roots with more neighbours before them than the list buffer holds.
#[test]
fn lists_longer_than_the_list_buffer() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    for d in [257, 511, 513, 700, 1500] {
        let mut rng = fastrand::Rng::with_seed(d);
        let inner: Vec<(u64, u64)> = (0..8 * d).map(|_| (rng.u64(0..d), rng.u64(0..d))).collect();
        // In the order of the input the last vertex has all others before it.
        let mut builder = Builder::new();
        for (u, v) in inner.into_iter().chain((0..d).map(|v| (v, d))) {
            builder.edge(u, v);
        }
        let rooted = builder.build();
        for k in [3, 4, 5] {
            let task = Task::Clique { k };
            in_segments((&machine, &machine), &mut core, &rooted, &task, d);
        }
    }
}

#[test]
fn stars_and_graphs_without_edges_have_no_cliques() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    for leaves in [1, 3, 64, 241, 1024] {
        let star = graph((1..=leaves).map(|v| (0, v)));
        let bench = Bench::new(&machine, &star, &[Operation::Cliques { k: 3 }], Arrange::ByWork);
        bench.compare(&mut core, &held(&machine, leaves), "star");
    }
    let bench =
        Bench::new(&machine, &graph([]), &[Operation::Cliques { k: 3 }], Arrange::ByAddress);
    bench.compare(&mut core, &held(&machine, 0), "no edge");
}

/// An image stays on chip: later runs need not load it, and take the same cycles each time.
#[test]
fn an_image_stays_over_many_runs() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let graph = random(&mut fastrand::Rng::with_seed(5), 200);
    let of = |k| Bench::new(&machine, &graph, &[Operation::Cliques { k }], Arrange::ByWork);
    let simulation = held(&machine, 0);
    let (three, four) = (of(3), of(4));
    three.compare(&mut core, &simulation, "loads");
    let wanted = reference::run(&machine, four.image.words(), &four.streams[0]);
    let cycles: Vec<u64> = (0..2)
        .map(|_| {
            let outcome = four.run(&mut core, &four.streams[0], false, &simulation);
            assert_eq!(outcome.counts, wanted.values);
            // The abort word alone was read.
            assert!(outcome.sum("bank.beats") <= 1 + outcome.cycles / 2048);
            // Each of two PUs has a port of every partition to itself.
            assert_eq!(outcome.sum("partition.conflicts"), 0);
            outcome.cycles
        })
        .collect();
    assert_eq!(cycles[0], cycles[1]);
}

/// A run that is stopped after its units in progress has the sums of the units before `next_unit`.
#[test]
fn runs_that_end_early_are_clean() {
    end_early(&machine("set-small"));
    end_early(&two_channels());
}

fn end_early(machine: &Accelerator) {
    let Some(library) = library(machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let graph = random(&mut fastrand::Rng::with_seed(77), 110);
    let bench = Bench::new(machine, &graph, &[Operation::Cliques { k: 4 }], Arrange::ByWork);
    let whole = bench.compare(&mut core, &held(machine, 0), "whole")[0].clone();
    let mut stopped = 0;
    for (at, word) in (0..12).map(|i| (100 + whole.cycles * i / 12, 1 + i as u32 % 2)) {
        let simulation = Simulation { abort: Some((at, word)), ..held(machine, at) };
        let outcome = bench.run(&mut core, &bench.streams[0], true, &simulation);
        if outcome.status == ABORTED && word == 1 {
            // The same units, and no others.
            let mut part = bench.streams[0].clone();
            part[64 + outcome.next_unit as usize * 8..].fill(0);
            let wanted = reference::run(machine, bench.image.words(), &part);
            assert_eq!(outcome.counts, wanted.values, "stopped in cycle {at}");
            stopped += 1;
        } else if outcome.status == ABORTED {
            assert_eq!(outcome.next_unit, 0);
            stopped += 1;
        }
        bench.compare(&mut core, &held(machine, at), "after a run that was stopped");
    }
    assert!(stopped >= 4, "{stopped} runs were stopped");
    // A read that fails, and an image that has no room.
    let mut simulation = held(machine, 0);
    simulation.timing.fail_at = Some(3);
    let failed = bench.run(&mut core, &bench.streams[0], true, &simulation);
    assert_eq!((failed.status, failed.next_unit), (ERROR, 0));
    bench.compare(&mut core, &held(machine, 0), "after a read that failed");
    let lines = (machine.set_quarters() / 4 + 1) as usize;
    let job =
        Run { image: &vec![0xff; lines * 64], stream: &bench.streams[0], load: true, wait: true };
    let refused = run(machine, &mut core, &job, &held(machine, 0)).unwrap();
    assert_eq!(refused.status, REFUSED);
    assert_eq!(refused.error_address, u64::from(machine.offset("image_lines").unwrap()));
    bench.compare(&mut core, &held(machine, 0), "after a run that was refused");
}

/// A stream without its last beat ends a run after [`STREAM_WAIT`] cycles; one that has not begun, once the run is
/// stopped.
#[test]
fn a_stream_without_its_last_beat_is_ended() {
    let machine = machine("set-small");
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let graph = random(&mut fastrand::Rng::with_seed(77), 110);
    let bench = Bench::new(&machine, &graph, &[Operation::Cliques { k: 4 }], Arrange::ByWork);
    let beats = bench.streams[0].len() / 64;
    for (cut, abort) in [(0, Some((5_000, 1))), (beats / 2, None), (beats, Some((900, 2)))] {
        let simulation = Simulation { cut: Some(cut), abort, ..held(&machine, 0) };
        let outcome = bench.run(&mut core, &bench.streams[0], true, &simulation);
        assert_eq!((outcome.status, outcome.next_unit), (CUT, 0), "{cut} of {beats} beats");
        let most = STREAM_WAIT + 100_000;
        assert!((STREAM_WAIT..most).contains(&outcome.cycles), "{cut}: {} cycles", outcome.cycles);
        bench.compare(&mut core, &held(&machine, 0), "after a stream that was cut");
    }
}
