//! The words of search plans for the set core, executed step by step as the core does it, count what the
//! plans mean: all patterns of up to five vertices and larger ones at random, on random graphs.

use std::ops::ControlFlow;

use gramer::accelerator::set::plan::image::PlanImage;
use gramer::accelerator::set::plan::reference;
use gramer::accelerator::set::plan::units::{deal, units};
use gramer::accelerator::set::plan::words::Program;
use gramer::accelerator::set::reference::SUM_EMBEDDINGS;
use gramer::engine::interpreter::interpret;
use gramer::graph::Builder;
use gramer::pattern::plan::search::SearchPlan;
use gramer::pattern::{Dictionary, Pattern};
use gramer::prepare::renumber;
use gramer::task::Induced;
use gramer::{Context, Graph};
use gramer_machine::Accelerator;
use gramer_machine::named::named;

fn random(rng: &mut fastrand::Rng, most: u64) -> Graph {
    let (n, share) = (4 + rng.u64(0..most), rng.u32(5..60));
    let mut builder = Builder::new();
    for (u, v) in (0..n).flat_map(|u| (0..u).map(move |v| (u, v))) {
        if rng.u32(0..100) < share {
            builder.edge(u, v);
        }
    }
    renumber(&builder.build(), &Context::with_threads(1)).unwrap()
}

/// A connected pattern of so many vertices.
fn pattern(rng: &mut fastrand::Rng, vertices: usize) -> Pattern {
    let mut edges: Vec<(usize, usize)> = (1..vertices).map(|v| (rng.usize(0..v), v)).collect();
    for v in 0..vertices {
        for u in 0..v {
            if rng.u32(0..100) < 35 && !edges.contains(&(u, v)) {
                edges.push((u, v));
            }
        }
    }
    Pattern::from_edges(vertices, &edges)
}

/// The sum over so many clusters.
fn sum(machine: &Accelerator, graph: &Graph, program: &Program, clusters: usize) -> u128 {
    let image = PlanImage::new(graph.view()).unwrap();
    let work = units(graph.view(), &image, program, machine.machine.processing_units);
    let streams = deal(machine, program, work, clusters);
    let run = |stream: &[u8]| reference::run(machine, image.words(), stream).expect("room for sets");
    streams.iter().map(|s| u128::from(run(&s.whole()).values[SUM_EMBEDDINGS])).sum()
}

/// What a plan counts, by its meaning.
fn meant(graph: &Graph, pattern: &Pattern, induced: Induced) -> u128 {
    let plan = SearchPlan::of(pattern, induced, false, false);
    let mappings = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
    mappings * u128::from(plan.factor) / u128::from(plan.automorphisms)
}

#[test]
fn words_count_what_plans_mean() {
    let machine = named("set-small").unwrap().unwrap();
    let levels = machine.set.as_ref().unwrap().plan_levels;
    let mut found = 0;
    for seed in 0..12 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let graph = random(&mut rng, 22);
        let mut patterns: Vec<Pattern> = vec![];
        if seed < 4 {
            (3..=5).for_each(|k| patterns.extend(Dictionary::of(k).patterns().iter().cloned()));
        }
        patterns.extend((6..=8).map(|n| pattern(&mut rng, n)));
        for pattern in patterns {
            for induced in [Induced::Vertex, Induced::Edge] {
                let program = Program::counting(&pattern, induced, levels).unwrap();
                let clusters = 1 + rng.usize(0..3);
                let counted = sum(&machine, &graph, &program, clusters);
                let wanted = meant(&graph, &pattern, induced);
                let what = format!("seed {seed}, {pattern:?}, {induced:?}");
                assert_eq!(program.occurrences(counted), wanted, "{what}");
                found += u32::from(wanted > 0);
            }
        }
    }
    assert!(found > 150, "{found} patterns are in the graphs");
}
