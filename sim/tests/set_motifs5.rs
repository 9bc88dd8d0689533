//! 5-motifs on the set core: the core as a whole sums what its functional model does with the same bytes, and what follows with
//! the 5-cycles and 5-cliques is what the CPU engine counts. Random graphs, stars and complete ones, with streams and memory
//! held back at random and answers out of order.

#[path = "../../host/tests/common/environment.rs"]
mod environment;
#[path = "support/set.rs"]
mod support;

use gramer::accelerator::set::image::Words;
use gramer::accelerator::set::motifs5::units::{deal, units};
use gramer::accelerator::set::motifs5::{counts, reference};
use gramer::accelerator::set::reference::{SUM_CLIQUES, SUM_EMBEDDINGS};
use gramer::accelerator::set::sums::Total;
use gramer::accelerator::set::units::PlacedUnit;
use gramer::accelerator::set::wedges::image::WedgeImage;
use gramer::accelerator::set::wedges::{self, Shape};
use gramer::engine::cpu::Cpu;
use gramer::engine::{Engine, Units};
use gramer::graph::Builder;
use gramer::prepare::renumber;
use gramer::task::{Induced, Task};
use gramer::{Context, Graph};
use gramer_machine::Accelerator;
use gramer_machine::named::named;
use gramer_machine::set::{LAST_ALL, LEVEL_BITS, PRODUCTS_OPEN, SUMS};
use gramer_sim::model::Model;
use gramer_sim::run::{ABORTED, DONE, Outcome, Simulation};
use gramer_sim::set::{Run, run};

use support::{held, library};

fn graph(edges: impl Iterator<Item = (u64, u64)>) -> Graph {
    let mut builder = Builder::new();
    edges.for_each(|(u, v)| builder.edge(u, v));
    renumber(&builder.build(), &Context::with_threads(1)).unwrap()
}

/// Some vertices are next to most others, the rest to some.
fn random(seed: u64, vertices: u64, per_cent: u32, hubs: u64) -> Graph {
    let mut rng = fastrand::Rng::with_seed(seed);
    let pairs = (0..vertices).flat_map(|u| (0..u).map(move |v| (u, v)));
    graph(pairs.filter(|&(_, v)| rng.u32(0..100) < if v < hubs { 60 } else { per_cent }))
}

fn add(total: &mut Total, values: &[u64]) {
    total.iter_mut().zip(values).for_each(|(sum, &own)| *sum += u128::from(own));
}

/// A graph, as clusters are sent it.
struct Bench<'a> {
    machine: &'a Accelerator,
    graph: &'a Graph,
    image: WedgeImage,
    streams: Vec<Vec<u8>>,
    /// Units that are a part of a root.
    parts: usize,
}

impl<'a> Bench<'a> {
    fn new(machine: &'a Accelerator, graph: &'a Graph, clusters: usize) -> Self {
        let image = WedgeImage::new(graph.view()).unwrap();
        let work = units(machine, graph.view(), &image, clusters);
        let parts = work.iter().filter(|unit| unit.first > 0 || unit.last < LAST_ALL).count();
        let dealt = deal(machine, work, clusters);
        let streams = dealt.iter().map(|stream| stream.whole()).collect();
        Bench { machine, graph, image, streams, parts }
    }

    fn run(&self, core: &mut Model, stream: &[u8], load: bool, s: &Simulation) -> Outcome {
        let job = Run { image: self.image.bytes(), stream, load, wait: true };
        run(self.machine, core, &job, s).unwrap()
    }

    /// Runs all streams, the first of which loads the image, and compares with the functional model: the sums.
    fn compare(&self, core: &mut Model, s: &Simulation, what: &str) -> Total {
        let mut total = Total::default();
        let mut load = true;
        for stream in &self.streams {
            let outcome = self.run(core, stream, std::mem::take(&mut load), s);
            let wanted = reference::run(self.machine, self.image.words(), stream);
            assert_eq!(outcome.status, DONE, "{what}");
            assert_eq!(outcome.counts, wanted.values, "{what}");
            assert_eq!(outcome.saturated, wanted.saturated, "{what}");
            assert_eq!(outcome.next_unit, wanted.next_unit, "{what}");
            add(&mut total, &outcome.counts);
        }
        total
    }

    /// The counts that follow, with 5-cycles by the core and cliques by the CPU engine.
    fn counts(&self, core: &mut Model, mut total: Total, s: &Simulation) -> Vec<u128> {
        let (view, shape) = (self.graph.view(), Shape::FiveCycle);
        let work = wedges::units::units(self.machine, view, Units::All, &self.image, shape);
        let stream = wedges::units::deal(self.machine, shape, work, 1)[0].whole();
        let mut cycles = Total::default();
        add(&mut cycles, &self.run(core, &stream, false, s).counts);
        total[SUM_EMBEDDINGS] = shape.occurrences(&cycles);
        total[SUM_CLIQUES] = known(self.graph, &Task::Clique { k: 5 })[0];
        counts(&total)
    }
}

fn known(graph: &Graph, task: &Task) -> Vec<u128> {
    let found = Cpu.run(graph, task, None, &Context::with_threads(1)).unwrap();
    found.results.iter().map(|count| count.count).collect()
}

const MOTIFS: Task = Task::Motif { k: 5, induced: Induced::Vertex };

#[test]
fn motifs5_of_random_graphs() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let (mut patterns, mut parts) = ([0u32; 21], 0);
    for seed in 0..32 {
        let mut rng = fastrand::Rng::with_seed(5_000 + seed);
        let graph = match seed % 4 {
            0 => random(seed, rng.u64(5..14), 55, 0),
            1 => random(seed, rng.u64(20..50), rng.u32(5..40), 1),
            2 => random(seed, rng.u64(60..140), 4, 2),
            _ => random(seed, rng.u64(150..300), 1, 1),
        };
        let bench = Bench::new(&machine, &graph, 1 + rng.usize(0..2));
        let (what, simulation) = (format!("seed {seed}"), held(&machine, seed));
        let total = bench.compare(&mut core, &simulation, &what);
        let found = bench.counts(&mut core, total, &simulation);
        assert_eq!(found, known(&graph, &MOTIFS), "{what}");
        for (seen, &count) in patterns.iter_mut().zip(&found) {
            *seen += u32::from(count > 0);
        }
        parts += bench.parts;
    }
    assert!(patterns.iter().all(|&seen| seen >= 4), "graphs with each pattern: {patterns:?}");
    assert!(parts > 50, "{parts} units are parts of roots");
}

/// Vertices whose lists have the lengths at which something changes: complete graphs, stars, and two hubs with leaves in
/// common, of which some are neighbours.
#[test]
fn motifs_of_lists_of_every_length() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let pairs = |n: u64| (0..n).flat_map(|u| (0..u).map(move |v| (u, v)));
    let mut all: Vec<(String, Graph)> = vec![];
    for vertices in [2, 3, 4, 5, 6, 16, 17, 18, 32, 33, 34] {
        all.push((format!("complete, {vertices}"), graph(pairs(vertices))));
    }
    for leaves in [1, 2, 3, 4, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129, 260] {
        all.push((format!("star, {leaves}"), graph((1..=leaves).map(|v| (0, v)))));
        let first = (2..leaves + 2).map(|v| (0, v));
        let second = (2..leaves + 2).filter(|v| v % 3 != 1).map(|v| (1, v));
        let others = (2..leaves + 1).filter(|v| v % 7 < 3).map(|v| (v, v + 1));
        all.push((format!("hubs, {leaves}"), graph(first.chain(second).chain(others))));
    }
    // Many roots with few neighbours, and triangles from each of their vertices: what is known of a root ends soon.
    all.push(("triangles in a row".into(), graph((0..150).flat_map(|v| [(v, v + 1), (v, v + 2)]))));
    let fans = |v: u64| [(0, 2 * v + 1), (0, 2 * v + 2), (2 * v + 1, 2 * v + 2)];
    all.push(("fans".into(), graph((0..40).flat_map(fans))));
    for links in [10, 40, 90] {
        let mut rng = fastrand::Rng::with_seed(links);
        let apart =
            (0..60).flat_map(|t| [(3 * t, 3 * t + 1), (3 * t + 1, 3 * t + 2), (3 * t, 3 * t + 2)]);
        let between: Vec<_> = (0..links).map(|_| (rng.u64(0..180), rng.u64(0..180))).collect();
        let between = between.into_iter().filter(|(u, v)| u != v);
        all.push((format!("triangles, {links} links"), graph(apart.chain(between))));
    }
    for (seed, (what, graph)) in (0..).zip(&all) {
        let bench = Bench::new(&machine, graph, 1);
        let simulation = held(&machine, seed);
        let total = bench.compare(&mut core, &simulation, what);
        assert_eq!(bench.counts(&mut core, total, &simulation), known(graph, &MOTIFS), "{what}");
    }
}

/// More roots than the map has levels for, so that it is cleared on the way: each takes as many as its list has entries. They
/// are one hub again and again, each time with the last of its neighbours alone.
#[test]
fn tags_when_levels_begin_again() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let leaves = 1_500;
    let graph = graph((1..=leaves).map(|v| (0, v)).chain((1..300).map(|v| (v, v + 1))));
    let mut bench = Bench::new(&machine, &graph, 1);
    let hub =
        *units(&machine, graph.view(), &bench.image, 1).iter().max_by_key(|u| u.work).unwrap();
    let end = PlacedUnit { first: leaves as u32 / 4 - 5, last: LAST_ALL, work: 1, ..hub };
    let roots = 400;
    let levels = roots / machine.machine.processing_units as u64 * leaves;
    assert!(levels > 2 << LEVEL_BITS, "{levels} levels");
    bench.streams = vec![deal(&machine, vec![end; roots as usize], 1)[0].whole()];
    let total = bench.compare(&mut core, &held(&machine, 3), "a hub");
    assert!(total[SUMS as usize..].iter().any(|&sum| sum > 0));
}

/// Parts of a hub with one neighbour alone, and between them roots of triangles that come after it: nothing of a root is
/// taken for the next one.
#[test]
fn short_units_between_others() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let leaves = (1..=17).map(|v| (0, v));
    let graph = graph(leaves.chain((20..60).flat_map(|v| [(v, v + 1), (v, v + 2), (v, v + 3)])));
    let mut bench = Bench::new(&machine, &graph, 1);
    let all = units(&machine, graph.view(), &bench.image, 1);
    let hub = *all.iter().max_by_key(|unit| unit.quarters).unwrap();
    let (first, last) = (hub.address % 4 + 4, LAST_ALL);
    let mut stream = deal(&machine, vec![], 1)[0].whole()[..64].to_vec();
    // A unit for each of the two PUs, and then nothing until they have ended.
    let mut beat = |units: [PlacedUnit; 2]| {
        for unit in units {
            let mut half = [0; 32];
            let fields = [("address", unit.address), ("quarters", unit.quarters)];
            let range = [("first", unit.first), ("last", unit.last)];
            for (name, value) in fields.into_iter().chain(range) {
                machine
                    .streams
                    .input
                    .field("unit", name)
                    .unwrap()
                    .set(&mut half[..8], value.into());
            }
            stream.extend(half);
        }
        stream.extend([0; 64 * 400]);
    };
    let others: Vec<_> = all.iter().filter(|unit| unit.address != hub.address).collect();
    for pair in others.chunks_exact(2) {
        beat([PlacedUnit { first, last, ..hub }; 2]);
        beat([*pair[0], *pair[1]]);
    }
    bench.streams = vec![stream];
    for seed in 0..4 {
        let total = bench.compare(&mut core, &held(&machine, seed), "short units");
        let triangles = &total[SUMS as usize + PRODUCTS_OPEN..];
        assert!(triangles.iter().any(|&sum| sum > 0));
    }
}

/// One that is stopped has the sums of the units before; the core is then as it was.
#[test]
fn motifs_that_end_early_are_clean() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let graph = random(3, 120, 4, 2);
    let bench = Bench::new(&machine, &graph, 1);
    bench.compare(&mut core, &held(&machine, 0), "whole");
    let cycles = bench.run(&mut core, &bench.streams[0], true, &held(&machine, 0)).cycles;
    let mut stopped = 0;
    for (at, word) in (0..6).map(|i| (100 + cycles * i / 6, 1 + i as u32 % 2)) {
        let simulation = Simulation { abort: Some((at, word)), ..held(&machine, at) };
        let outcome = bench.run(&mut core, &bench.streams[0], true, &simulation);
        if outcome.status == ABORTED && word == 1 {
            let mut part = bench.streams[0].clone();
            part[64 + outcome.next_unit as usize * 8..].fill(0);
            let wanted = reference::run(&machine, bench.image.words(), &part);
            assert_eq!(outcome.counts, wanted.values, "stopped in cycle {at}");
        }
        stopped += u32::from(outcome.status == ABORTED);
        bench.compare(&mut core, &held(&machine, at), "after a run that was stopped");
    }
    assert!(stopped >= 3, "{stopped} runs were stopped");
}

/// A real graph: citeseer, as far as it is there.
#[test]
fn motifs_of_a_real_graph() {
    use gramer::graph::read::{ReadOptions, read_graph};
    let Some(folder) = environment::data() else { return };
    let path = folder.join("citeseer/citeseer.lg");
    let context = Context::with_threads(1);
    let read = read_graph(&path, &ReadOptions::default(), &context).unwrap();
    let graph = renumber(&read, &context).unwrap();
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let bench = Bench::new(&machine, &graph, 2);
    let simulation = held(&machine, 0);
    let total = bench.compare(&mut core, &simulation, "citeseer");
    assert_eq!(bench.counts(&mut core, total, &simulation), known(&graph, &MOTIFS));
}
