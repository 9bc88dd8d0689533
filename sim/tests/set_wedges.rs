//! Houses and 5-cycles on the set core: the core as a whole counts what its functional model does with the same
//! bytes, and that is what the CPU engine counts. Random graphs and hubs, with streams and memory held back at random
//! and answers out of order.

#[path = "support/set.rs"]
mod support;
#[path = "support/wedges.rs"]
mod wedges;

use gramer::accelerator::set::image::Words;
use gramer::accelerator::set::numbers::SUM_EMBEDDINGS;
use gramer::accelerator::set::wedges::Shape;
use gramer::accelerator::set::wedges::units::{deal, units};
use gramer::cpu::Cpu;
use gramer::engine::{EngineExt, Units};
use gramer::pattern::Pattern;
use gramer::task::{Induced, Task};
use gramer::{Context, Graph};
use gramer_machine::Accelerator;
use gramer_machine::set::LAST_ALL;
use gramer_models::wedges as reference;
use gramer_sim::model::Model;
use gramer_sim::run::FULL;
use gramer_testing::graphs::{pairs, ranked};

use support::{held, library, narrow};
use wedges::{Bench, hubs, random, real, small};

const SHAPES: [Shape; 2] = [Shape::House, Shape::FiveCycle];

/// A shape on a graph, as this many clusters are sent it.
fn bench<'a>(machine: &'a Accelerator, graph: &Graph, shape: Shape, clusters: usize) -> Bench<'a> {
    Bench::new(
        machine,
        graph,
        |machine, image, stream| reference::run(machine, image, stream).expect("ends have room"),
        |image| {
            let work = units(machine, graph.view(), Units::All, image, shape);
            let dealt = deal(machine, shape, work.clone(), clusters);
            (work, dealt.iter().map(|stream| stream.whole()).collect())
        },
    )
}

fn known(graph: &Graph, shape: Shape) -> u128 {
    let edges: &[(usize, usize)] = match shape {
        Shape::House => &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)],
        Shape::FiveCycle => &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)],
    };
    let pattern = Pattern::from_edges(5, edges);
    let task = Task::Match { pattern, induced: Induced::Edge, mappings: None };
    Cpu.run(graph, &task, None, &Context::with_threads(1)).unwrap().results[0].count
}

#[test]
fn houses_and_five_cycles_of_random_graphs() {
    let Some((machine, mut core)) = small() else { return };
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
            let bench = bench(&machine, &graph, shape, 1 + rng.usize(0..2));
            let what = format!("seed {seed}, {shape:?}");
            let total = bench.compare(&mut core, &held(&machine, seed), &what);
            let counted = shape.occurrences(&total);
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
    let Some((machine, mut core)) = small() else { return };
    for leaves in [2, 3, 4, 15, 16, 17, 31, 33, 63, 64, 123, 124, 125, 128, 129, 160, 257, 700] {
        let graph = hubs(leaves);
        for shape in SHAPES {
            let bench = bench(&machine, &graph, shape, 1);
            let what = format!("hubs of {leaves}, {shape:?}");
            let total = bench.compare(&mut core, &held(&machine, leaves), &what);
            assert_eq!(shape.occurrences(&total), known(&graph, shape), "{what}");
        }
    }
    // Up to 134 neighbours in front of a vertex: lists beyond the sizes that are exact.
    let complete = ranked(&pairs(135, |_, _| true));
    let bench = bench(&machine, &complete, Shape::FiveCycle, 1);
    let total = bench.compare(&mut core, &held(&machine, 0), "a complete graph");
    assert_eq!(Shape::FiveCycle.occurrences(&total), 135 * 134 * 133 * 132 * 131 / 10);
}

/// A map of a single bank notes all ends of a root in one row after another.
#[test]
fn wedges_on_a_map_of_one_bank() {
    let machine = narrow();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let mut found = 0;
    for seed in 0..8 {
        let graph = random(seed, 6 + 9 * seed, 30, 1);
        for shape in SHAPES {
            let bench = bench(&machine, &graph, shape, 1);
            bench.compare(&mut core, &held(&machine, seed), &format!("seed {seed}, {shape:?}"));
            found += u32::from(known(&graph, shape) > 0);
        }
    }
    assert!(found > 8, "{found} graphs have them");
}

/// More ends in a bank than it has room for end the run; one that is stopped has the sums of the units before; both
/// leave the core as it was.
#[test]
fn wedges_that_end_early_are_clean() {
    let Some((machine, mut core)) = small() else { return };
    let graph = random(3, 500, 2, 2);
    let bench = bench(&machine, &graph, Shape::FiveCycle, 1);
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
    bench.compare(&mut core, &held(&machine, 1), "after a run without room");
    bench.stops(&mut core);
}

/// A real graph: citeseer, if the data are at hand.
#[test]
fn houses_and_five_cycles_of_a_real_graph() {
    let Some(graph) = real("citeseer/citeseer.lg") else { return };
    let Some((machine, mut core)) = small() else { return };
    for (shape, count) in SHAPES.into_iter().zip([55_359, 28_394]) {
        let bench = bench(&machine, &graph, shape, 1);
        let total = bench.compare(&mut core, &held(&machine, 0), "citeseer");
        assert_eq!(shape.occurrences(&total), count, "{shape:?}");
        let outcome = bench.run(&mut core, &bench.streams[0], false, &held(&machine, 0));
        let (cycles, sum) = (outcome.sum("core.cycles"), outcome.counts[SUM_EMBEDDINGS]);
        println!("{shape:?}: {cycles} cycles, products {sum}");
    }
}
