//! The sums of products are those of the plan, and the functional model's counts those of the CPU engine.

use gramer_base::context::Context;
use gramer_cpu::Cpu;
use gramer_engine::EngineExt;
use gramer_graph::Graph;
use gramer_machine::named::named;
use gramer_pattern::task::{Induced, Task};
use gramer_testing::graphs::pairs;

use super::units::units;
use super::*;
use crate::set::wedges::image::WedgeImage;

#[test]
fn products_make_the_sums_of_the_plan() {
    let plan = MotifPlan::of(VERTICES);
    let mut rng = fastrand::Rng::with_seed(5);
    for _ in 0..100 {
        // Some sets, each with its numbers of vertices outside.
        let mut products = vec![0u128; PRODUCTS as usize];
        let mut wanted = vec![0u128; plan.sums()];
        for _ in 0..rng.usize(1..9) {
            let triangle = rng.bool();
            let g: Vec<u128> = (0..8).map(|_| rng.u128(0..6)).collect();
            for term in plan.terms(SHAPES[usize::from(triangle)]) {
                let [x, y] = [term.first, term.second].map(|mask| g[usize::from(mask)]);
                let own =
                    if term.first == term.second { x * x.saturating_sub(1) / 2 } else { x * y };
                wanted[usize::from(term.sum)] += own;
            }
            for (p, sum) in products.iter_mut().enumerate() {
                if (p >= PRODUCTS_OPEN) != triangle {
                    continue;
                }
                let [x, y] = FACTORS_OF[p].map(|name| -> u128 {
                    let masks = FACTORS[factor(name) as usize].1;
                    masks.iter().map(|&mask| g[usize::from(mask)]).sum()
                });
                let same = FACTORS_OF[p][0] == FACTORS_OF[p][1];
                *sum += x * if same { y.saturating_sub(1) } else { y };
            }
        }
        assert_eq!(plan_sums(&products), wanted);
    }
}

fn graph(seed: u64, vertices: u64, per_cent: u32, hubs: u64) -> Graph {
    let mut rng = fastrand::Rng::with_seed(seed);
    pairs(vertices, |_, v| rng.u32(0..100) < if v < hubs { 60 } else { per_cent })
}

/// Counts by the functional models of the two operations, in this many clusters.
fn modelled(graph: &Graph, clusters: usize) -> Vec<u128> {
    let machine = named("set-small").unwrap().unwrap();
    let mut total = gramer_models::motifs5::totals(&machine, graph.view(), clusters).unwrap();
    let context = Context::with_threads(1);
    total[SUM_CLIQUES] =
        Cpu.run(graph, &Task::Clique { k: 5 }, None, &context).unwrap().results[0].count;
    counts(&total)
}

#[test]
fn the_functional_model_counts_what_the_cpu_engine_does() {
    let context = Context::with_threads(1);
    for seed in 0..24 {
        let graph = match seed % 4 {
            0 => graph(seed, 8 + seed / 4, 60, 0),
            1 => graph(seed, 40, 15, 2),
            2 => graph(seed, 90, 5, 3),
            _ => graph(seed, 150, 2, 1),
        };
        let task = Task::Motif { k: 5, induced: Induced::Vertex };
        let wanted = Cpu.run(&graph, &task, None, &context).unwrap();
        let wanted: Vec<u128> = wanted.results.iter().map(|count| count.count).collect();
        assert_eq!(modelled(&graph, 1 + seed as usize % 2), wanted, "seed {seed}");
    }
}

#[test]
fn heavy_roots_are_cut() {
    let graph = graph(7, 400, 3, 3);
    let machine = named("set-plans32").unwrap().unwrap();
    let image = WedgeImage::new(graph.view()).unwrap();
    let all = units(&machine, graph.view(), &image, 4);
    let most = all.iter().map(|unit| unit.work).max().unwrap();
    let whole: u64 = all.iter().map(|unit| unit.work).sum();
    assert!(most < whole / 50, "{most} of {whole}");
    assert!(all.iter().any(|unit| unit.first > 0));
}
