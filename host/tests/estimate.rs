//! Estimates hold what they say: over many seeds, as many of their intervals have the exact count
//! in them as are promised, and their mean is the exact count.

use gramer::cpu::Cpu;
use gramer::engine::estimate::{Precision, SampledCounts};
use gramer::engine::reference::Reference;
use gramer::engine::{Answer, Ask, Engine, EngineExt, Query};
use gramer::graph::generate::{Labels, Model, Recipe, generate};
use gramer::pattern::{name, named};
use gramer::task::{Induced, Mappings};
use gramer::{Context, Graph, Pattern, Task};
use gramer_testing::truth::Small;

const SEEDS: u64 = 40;
/// Of the matches, whose samples take longer.
const FEWER: u64 = 16;

fn rmat(labels: u32) -> Graph {
    let model = Model::Rmat { scale: 9, edge_factor: 8, a: 0.57, b: 0.19, c: 0.19 };
    let labels = (labels > 0).then_some(Labels { count: labels, exponent: 0.5 });
    let recipe = Recipe { model, seed: 7, vertex_labels: labels, edge_labels: labels };
    generate(&recipe, &Context::default()).unwrap()
}

fn even() -> Graph {
    let model = Model::ErdosRenyiEdges { vertices: 400, edges: 6000 };
    let recipe = Recipe { model, seed: 3, vertex_labels: None, edge_labels: None };
    generate(&recipe, &Context::default()).unwrap()
}

fn estimate(graph: &Graph, task: &Task, seed: u64, threads: usize) -> SampledCounts {
    let context = Context::with_threads(threads);
    let prepared = Cpu.prepare(graph, &context).unwrap();
    prepared.estimate(task, Precision { relative: 0.05, seed }, &context).unwrap()
}

fn intervals_hold(graph: &Graph, task: &Task, seeds: u64) {
    let exact = Cpu.run(graph, task, None, &Context::default()).unwrap();
    let (mut held, mut intervals) = (0, 0);
    let mut sums = vec![(0, 0.0, 0.0); exact.results.len()];
    for seed in 0..seeds {
        let found = estimate(graph, task, seed, 1);
        assert!(found.complete);
        assert_eq!(found.results.len(), exact.results.len());
        for (at, (exact, (pattern, estimate))) in
            exact.results.iter().zip(&found.results).enumerate()
        {
            assert_eq!(exact.pattern, *pattern);
            if exact.count == 0 {
                assert_eq!((estimate.value, estimate.interval), (0.0, None));
            }
            if let Some((from, to)) = estimate.interval {
                intervals += 1;
                held += u32::from((from..=to).contains(&(exact.count as f64)));
                sums[at].0 += 1;
                sums[at].1 += estimate.value;
                sums[at].2 += ((to - from) / 2.0 / 1.96).powi(2);
            }
        }
    }
    assert!(intervals >= seeds as u32, "{task:?}: {intervals} intervals");
    // 95 % less three standard deviations of the share.
    let least = 0.95 - 3.0 * (0.95 * 0.05 / f64::from(intervals)).sqrt();
    let share = f64::from(held) / f64::from(intervals);
    println!("{task:?}: {held} of {intervals} intervals hold the count, {share:.3}");
    assert!(share >= least, "{task:?}: {held} of {intervals}");
    for (exact, (known, sum, variance)) in exact.results.iter().zip(sums) {
        // Where some seeds had no interval, the mean would be one of chosen ones.
        if known == seeds {
            let from = sum - exact.count as f64 * seeds as f64;
            assert!(from.abs() <= 4.5 * variance.sqrt(), "{task:?}: {}", name(&exact.pattern));
        }
    }
}

#[test]
fn cliques() {
    for (graph, k) in [(rmat(0), 3), (rmat(0), 5), (even(), 4)] {
        intervals_hold(&graph, &Task::Clique { k }, SEEDS);
    }
}

#[test]
fn motifs() {
    intervals_hold(&rmat(0), &Task::Motif { k: 4, induced: Induced::Vertex }, SEEDS);
    intervals_hold(&rmat(0), &Task::Motif { k: 5, induced: Induced::Edge }, SEEDS);
    intervals_hold(&even(), &Task::Motif { k: 3, induced: Induced::Vertex }, SEEDS);
}

#[test]
fn matches() {
    let mut labelled = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (0, 2)]);
    labelled.set_vertex_label(0, 1);
    labelled.set_vertex_label(2, 0);
    labelled.set_edge_label(0, 1, 0);
    let task = |pattern, induced, mappings: bool| Task::Match {
        pattern,
        induced,
        mappings: mappings.then_some(Mappings::Isomorphism),
    };
    intervals_hold(&rmat(3), &task(labelled, Induced::Edge, true), FEWER);
    let house = named("house").unwrap();
    intervals_hold(&rmat(0), &task(house.clone(), Induced::Edge, false), FEWER);
    intervals_hold(&even(), &task(house, Induced::Vertex, false), FEWER);
}

#[test]
fn the_seed_alone_decides() {
    let graph = rmat(0);
    let task = Task::Motif { k: 4, induced: Induced::Vertex };
    let first = estimate(&graph, &task, 1, 1);
    assert_eq!(first, estimate(&graph, &task, 1, 3));
    assert_ne!(first, estimate(&graph, &task, 2, 1));
    assert!(first.reached);
    let total = first.total.unwrap();
    let (from, to) = total.interval.unwrap();
    assert!(to - from <= 0.1 * total.value);
}

#[test]
fn nothing_and_what_is_not_estimated() {
    let path = Small::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).graph();
    let found = estimate(&path, &Task::Clique { k: 3 }, 1, 2);
    assert_eq!(found.results[0].1.value, 0.0);
    assert!(found.complete && !found.reached && found.results[0].1.interval.is_none());
    let edgeless = Small::new(3).graph();
    let motifs = Task::Motif { k: 3, induced: Induced::Vertex };
    assert!(estimate(&edgeless, &motifs, 1, 1).results.iter().all(|(_, e)| e.value == 0.0));
    let answer = Answer::Estimate(Precision { relative: 0.1, seed: 1 });
    let query = |task| Query::new(task).answer(answer);
    assert!(Cpu.plan(&Ask::new(&query(Task::MaximalCliques))).is_err());
    let said = Reference::default().plan(&Ask::new(&query(motifs.clone())));
    let said = said.unwrap_err().to_string();
    assert!(said.contains("as an estimate"), "{said}");
    let context = Context::with_threads(1);
    let prepared = Cpu.prepare(&path, &context).unwrap();
    for relative in [0.0, 0.6, f64::NAN] {
        assert!(prepared.estimate(&motifs, Precision { relative, seed: 1 }, &context).is_err());
    }
    context.cancel.cancel();
    let stopped =
        prepared.estimate(&motifs, Precision { relative: 0.1, seed: 1 }, &context).unwrap();
    assert!(!stopped.complete && stopped.results.is_empty());
}
