//! 5-motifs on the set core: the core as a whole sums what its functional model does with the same bytes, and what follows with
//! the 5-cycles and 5-cliques is what the CPU engine counts. Random graphs, stars and complete ones, with streams and memory
//! held back at random and answers out of order.

#[path = "support/set.rs"]
mod support;
#[path = "support/wedges.rs"]
mod wedges;

use gramer::accelerator::set::motifs5::counts;
use gramer::accelerator::set::motifs5::units::{deal, units};
use gramer::accelerator::set::numbers::{SUM_CLIQUES, SUM_EMBEDDINGS};
use gramer::accelerator::set::sums::Total;
use gramer::accelerator::set::units::PlacedUnit;
use gramer::accelerator::set::wedges::Shape;
use gramer::accelerator::set::wedges::units as wedge_units;
use gramer::cpu::Cpu;
use gramer::engine::{EngineExt, Units};
use gramer::task::{Induced, Task};
use gramer::{Context, Graph};
use gramer_machine::Accelerator;
use gramer_machine::set::{LAST_ALL, LEVEL_BITS, PRODUCTS_OPEN, SUMS};
use gramer_models::motifs5 as reference;
use gramer_sim::model::Model;
use gramer_sim::run::Simulation;

use support::{held, library, narrow};
use wedges::{Bench, add, graph, hubs, random, real, small};

/// A graph, as this many clusters are sent it.
fn bench<'a>(machine: &'a Accelerator, graph: &Graph, clusters: usize) -> Bench<'a> {
    Bench::new(machine, graph, reference::run, |image| {
        let work = units(machine, graph.view(), image, clusters);
        let dealt = deal(machine, work.clone(), clusters);
        (work, dealt.iter().map(|stream| stream.whole()).collect())
    })
}

/// The counts that follow from the sums, with 5-cycles by the core and cliques by the CPU engine.
fn counted(
    bench: &Bench,
    graph: &Graph,
    core: &mut Model,
    s: &Simulation,
    mut total: Total,
) -> Vec<u128> {
    let (view, shape) = (graph.view(), Shape::FiveCycle);
    let work = wedge_units::units(bench.machine, view, Units::All, &bench.image, shape);
    let stream = wedge_units::deal(bench.machine, shape, work, 1)[0].whole();
    let mut cycles = Total::default();
    add(&mut cycles, &bench.run(core, &stream, false, s).counts);
    total[SUM_EMBEDDINGS] = shape.occurrences(&cycles);
    total[SUM_CLIQUES] = known(graph, &Task::Clique { k: 5 })[0];
    counts(&total)
}

fn known(graph: &Graph, task: &Task) -> Vec<u128> {
    let found = Cpu.run(graph, task, None, &Context::with_threads(1)).unwrap();
    found.results.iter().map(|count| count.count).collect()
}

const MOTIFS: Task = Task::Motif { k: 5, induced: Induced::Vertex };

#[test]
fn motifs5_of_random_graphs() {
    let Some((machine, mut core)) = small() else { return };
    let (mut patterns, mut parts) = ([0u32; 21], 0);
    for seed in 0..32 {
        let mut rng = fastrand::Rng::with_seed(5_000 + seed);
        let graph = match seed % 4 {
            0 => random(seed, rng.u64(5..14), 55, 0),
            1 => random(seed, rng.u64(20..50), rng.u32(5..40), 1),
            2 => random(seed, rng.u64(60..140), 4, 2),
            _ => random(seed, rng.u64(150..300), 1, 1),
        };
        let bench = bench(&machine, &graph, 1 + rng.usize(0..2));
        let (what, simulation) = (format!("seed {seed}"), held(&machine, seed));
        let total = bench.compare(&mut core, &simulation, &what);
        let found = counted(&bench, &graph, &mut core, &simulation, total);
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
    let Some((machine, mut core)) = small() else { return };
    let pairs = |n: u64| (0..n).flat_map(|u| (0..u).map(move |v| (u, v)));
    let mut all: Vec<(String, Graph)> = vec![];
    for vertices in [2, 3, 4, 5, 6, 16, 17, 18, 32, 33, 34] {
        all.push((format!("complete, {vertices}"), graph(pairs(vertices))));
    }
    for leaves in [1, 2, 3, 4, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129, 260] {
        all.push((format!("star, {leaves}"), graph((1..=leaves).map(|v| (0, v)))));
        all.push((format!("hubs, {leaves}"), hubs(leaves)));
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
        let bench = bench(&machine, graph, 1);
        let simulation = held(&machine, seed);
        let total = bench.compare(&mut core, &simulation, what);
        let found = counted(&bench, graph, &mut core, &simulation, total);
        assert_eq!(found, known(graph, &MOTIFS), "{what}");
    }
}

/// Products and sums that overflow saturate, and the status reports it.
#[test]
fn products_stay_at_their_largest_value() {
    let machine = narrow();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let mut largest = 0;
    for leaves in [2, 3, 5, 9, 17, 40] {
        let graph = hubs(leaves);
        let total = bench(&machine, &graph, 1).compare(&mut core, &held(&machine, leaves), "hubs");
        largest += total[SUMS as usize..].iter().filter(|&&sum| sum == 255).count();
    }
    assert!(largest > 10, "{largest} sums of products are at their largest value");
}

/// More roots than the map has levels for, so that it is cleared on the way: each takes as many as its list has entries. They
/// are one hub again and again, each time with the last of its neighbours alone.
#[test]
fn tags_when_levels_begin_again() {
    let Some((machine, mut core)) = small() else { return };
    let leaves = 1_500;
    let graph = graph((1..=leaves).map(|v| (0, v)).chain((1..300).map(|v| (v, v + 1))));
    let mut bench = bench(&machine, &graph, 1);
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
    let Some((machine, mut core)) = small() else { return };
    let leaves = (1..=17).map(|v| (0, v));
    let graph = graph(leaves.chain((20..60).flat_map(|v| [(v, v + 1), (v, v + 2), (v, v + 3)])));
    let mut bench = bench(&machine, &graph, 1);
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
    let Some((machine, mut core)) = small() else { return };
    let graph = random(3, 120, 4, 2);
    let bench = bench(&machine, &graph, 1);
    bench.compare(&mut core, &held(&machine, 0), "whole");
    bench.stops(&mut core);
}

/// A real graph: citeseer, if the data are at hand.
#[test]
fn motifs_of_a_real_graph() {
    let Some(graph) = real("citeseer/citeseer.lg") else { return };
    let Some((machine, mut core)) = small() else { return };
    let bench = bench(&machine, &graph, 2);
    let simulation = held(&machine, 0);
    let total = bench.compare(&mut core, &simulation, "citeseer");
    let found = counted(&bench, &graph, &mut core, &simulation, total);
    assert_eq!(found, known(&graph, &MOTIFS));
}
