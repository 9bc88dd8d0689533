//! Houses and 5-cycles on the set core: the core as a whole counts what its functional model does with the same
//! bytes, and that is what the CPU engine counts. Random graphs and hubs, with streams and memory held back at random
//! and answers out of order.

#[path = "../../host/tests/common/environment.rs"]
mod environment;
#[path = "support/set.rs"]
mod support;

use gramer::accelerator::set::image::Words;
use gramer::accelerator::set::reference::SUM_EMBEDDINGS;
use gramer::accelerator::set::sums::Total;
use gramer::accelerator::set::wedges::Shape;
use gramer::accelerator::set::wedges::image::WedgeImage;
use gramer::accelerator::set::wedges::reference;
use gramer::accelerator::set::wedges::units::{deal, units};
use gramer::engine::cpu::Cpu;
use gramer::engine::{Engine, Units};
use gramer::graph::Builder;
use gramer::pattern::Pattern;
use gramer::prepare::renumber;
use gramer::task::{Induced, Task};
use gramer::{Context, Graph};
use gramer_machine::Accelerator;
use gramer_machine::named::named;
use gramer_machine::set::LAST_ALL;
use gramer_sim::model::Model;
use gramer_sim::run::{ABORTED, DONE, FULL, Outcome, Simulation};
use gramer_sim::set::{Run, run};

use support::{held, library};

const SHAPES: [Shape; 2] = [Shape::House, Shape::FiveCycle];

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

/// A shape on a graph, as clusters are sent it.
struct Bench<'a> {
    machine: &'a Accelerator,
    shape: Shape,
    image: WedgeImage,
    streams: Vec<Vec<u8>>,
    /// Units that are a part of a root.
    parts: usize,
}

impl<'a> Bench<'a> {
    fn new(machine: &'a Accelerator, graph: &Graph, shape: Shape, clusters: usize) -> Self {
        let image = WedgeImage::new(graph.view()).unwrap();
        let work = units(machine, graph.view(), Units::All, &image, shape);
        let parts = work.iter().filter(|unit| unit.first > 0 || unit.last < LAST_ALL).count();
        let dealt = deal(machine, shape, work, clusters);
        let streams = dealt.iter().map(|stream| stream.whole()).collect();
        Bench { machine, shape, image, streams, parts }
    }

    fn run(&self, core: &mut Model, stream: &[u8], load: bool, s: &Simulation) -> Outcome {
        let job = Run { image: self.image.bytes(), stream, load, wait: true };
        run(self.machine, core, &job, s).unwrap()
    }

    /// Runs all streams, the first of which loads the image, and compares with the functional model: what there is.
    fn compare(&self, core: &mut Model, s: &Simulation, what: &str) -> u128 {
        let mut total = Total::default();
        let mut load = true;
        for stream in &self.streams {
            let outcome = self.run(core, stream, std::mem::take(&mut load), s);
            let wanted = reference::run(self.machine, self.image.words(), stream).unwrap();
            assert_eq!(outcome.status, DONE, "{what}");
            assert_eq!(outcome.counts, wanted.values, "{what}");
            assert_eq!(outcome.saturated, wanted.saturated, "{what}");
            assert_eq!(outcome.next_unit, wanted.next_unit, "{what}");
            total.iter_mut().zip(&outcome.counts).for_each(|(sum, &own)| *sum += u128::from(own));
        }
        self.shape.occurrences(&total)
    }
}

fn known(graph: &Graph, shape: Shape) -> u128 {
    let edges: &[(usize, usize)] = match shape {
        Shape::House => &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)],
        Shape::FiveCycle => &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)],
    };
    let pattern = Pattern::from_edges(5, edges);
    let task = Task::Match { pattern, induced: Induced::Edge, mappings: false };
    Cpu.run(graph, &task, None, &Context::with_threads(1)).unwrap().results[0].count
}

#[test]
fn houses_and_five_cycles_of_random_graphs() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let (mut found, mut parts) = (0, 0);
    for seed in 0..40 {
        let mut rng = fastrand::Rng::with_seed(1_000 + seed);
        let graph = match seed % 4 {
            0 => random(seed, rng.u64(4..14), 40, 0),
            1 => random(seed, rng.u64(20..70), rng.u32(5..40), 1),
            2 => random(seed, rng.u64(100..300), 3, 2),
            _ => random(seed, rng.u64(300..700), 1, 1),
        };
        for shape in SHAPES {
            let bench = Bench::new(&machine, &graph, shape, 1 + rng.usize(0..2));
            let what = format!("seed {seed}, {shape:?}");
            let counted = bench.compare(&mut core, &held(&machine, seed), &what);
            assert_eq!(counted, known(&graph, shape), "{what}");
            found += u32::from(counted > 0);
            parts += bench.parts;
        }
    }
    assert!(found > 50, "{found} graphs have them");
    assert!(parts > 50, "{parts} units are parts of roots");
}

/// Hubs whose lists have the lengths at which something changes, with neighbours in common that have edges.
#[test]
fn houses_and_five_cycles_of_hubs() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    for leaves in [2, 3, 4, 15, 16, 17, 31, 33, 63, 64, 123, 124, 125, 128, 129, 160, 257, 700] {
        let first = (2..leaves + 2).map(|v| (0, v));
        let second = (2..leaves + 2).filter(|v| v % 3 != 1).map(|v| (1, v));
        let others = (2..leaves + 1).filter(|v| v % 7 < 3).map(|v| (v, v + 1));
        let graph = graph(first.chain(second).chain(others));
        for shape in SHAPES {
            let bench = Bench::new(&machine, &graph, shape, 1);
            let what = format!("hubs of {leaves}, {shape:?}");
            let counted = bench.compare(&mut core, &held(&machine, leaves), &what);
            assert_eq!(counted, known(&graph, shape), "{what}");
        }
    }
}

/// More ends in a bank than it has room for end the run; one that is stopped has the sums of the units before; both
/// leave the core as it was.
#[test]
fn wedges_that_end_early_are_clean() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let graph = random(3, 500, 2, 2);
    let bench = Bench::new(&machine, &graph, Shape::FiveCycle, 1);
    assert!(bench.parts > 10);
    bench.compare(&mut core, &held(&machine, 0), "whole");
    // As if no root were cut.
    let mut whole = bench.streams[0].clone();
    for place in whole[64..].chunks_exact_mut(8).filter(|place| place.iter().any(|&b| b > 0)) {
        let (first, last) = ("first", "last");
        for (name, value) in [(first, 0), (last, u64::from(LAST_ALL))] {
            machine.streams.input.field("unit", name).unwrap().set(place, value);
        }
    }
    assert!(reference::run(&machine, bench.image.words(), &whole).is_none());
    let outcome = bench.run(&mut core, &whole, true, &held(&machine, 1));
    assert_eq!((outcome.status, outcome.next_unit), (FULL, 0));
    let cycles = {
        bench.compare(&mut core, &held(&machine, 1), "after a run without room");
        bench.run(&mut core, &bench.streams[0], true, &held(&machine, 0)).cycles
    };
    let mut stopped = 0;
    for (at, word) in (0..6).map(|i| (100 + cycles * i / 6, 1 + i as u32 % 2)) {
        let simulation = Simulation { abort: Some((at, word)), ..held(&machine, at) };
        let outcome = bench.run(&mut core, &bench.streams[0], true, &simulation);
        if outcome.status == ABORTED && word == 1 {
            let mut part = bench.streams[0].clone();
            part[64 + outcome.next_unit as usize * 8..].fill(0);
            let wanted = reference::run(&machine, bench.image.words(), &part).unwrap();
            assert_eq!(outcome.counts, wanted.values, "stopped in cycle {at}");
        }
        stopped += u32::from(outcome.status == ABORTED);
        bench.compare(&mut core, &held(&machine, at), "after a run that was stopped");
    }
    assert!(stopped >= 3, "{stopped} runs were stopped");
}

/// A real graph: citeseer, as far as it is there.
#[test]
fn houses_and_five_cycles_of_a_real_graph() {
    use gramer::graph::read::{ReadOptions, read_graph};
    let Some(folder) = environment::data() else { return };
    let path = folder.join("citeseer/citeseer.lg");
    let context = Context::with_threads(1);
    let read = read_graph(&path, &ReadOptions::default(), &context).unwrap();
    let graph = renumber(&read, &context).unwrap();
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    for (shape, count) in SHAPES.into_iter().zip([55_359, 28_394]) {
        let bench = Bench::new(&machine, &graph, shape, 1);
        let counted = bench.compare(&mut core, &held(&machine, 0), "citeseer");
        assert_eq!(counted, count, "{shape:?}");
        let outcome = bench.run(&mut core, &bench.streams[0], false, &held(&machine, 0));
        let (cycles, sum) = (outcome.sum("core.cycles"), outcome.counts[SUM_EMBEDDINGS]);
        println!("{shape:?}: {cycles} cycles, products {sum}");
    }
}
