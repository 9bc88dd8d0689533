use std::collections::HashSet;

use crate::set::image::Words;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_cpu::Cpu;
use gramer_engine::{EngineExt, Share, Units};
use gramer_graph::prepare::renumber;
use gramer_graph::{Builder, Graph};
use gramer_machine::Accelerator;
use gramer_machine::named::named;
use gramer_machine::set::LAST_ALL;
use gramer_pattern::Pattern;
use gramer_pattern::task::{Induced, Mappings, Task};
use gramer_testing::graphs;

use super::Shape;
use super::image::WedgeImage;
use super::run::Job as WedgeJob;
use super::units::{deal, units};
use crate::set::matches::{self, Match};
use crate::set::numbers::SUM_EMBEDDINGS;
use crate::set::plan::run::{Job, PlanImages, Runs};
use crate::set::sums::Total;
use crate::stream::RecordSink;
use gramer_models::wedges as reference;

fn random(rng: &mut fastrand::Rng, n: u64, per_cent: u32, ranked: bool) -> Graph {
    let graph = graphs::pairs(n, |_, v| rng.u32(0..100) < if v < 2 { 70 } else { per_cent });
    if ranked { graphs::ranked(&graph) } else { graph }
}

/// Embeddings of a pattern, found vertex by vertex, by its automorphisms.
fn brute(graph: &Graph, pattern: &Pattern) -> u128 {
    fn place(graph: &Graph, pattern: &Pattern, images: &mut Vec<u32>) -> u128 {
        let at = images.len();
        if at == pattern.vertices() {
            return 1;
        }
        let mut found = 0;
        for v in 0..graph.view().vertices() as u32 {
            let near = |&before: &usize| {
                !pattern.has_edge(at, before)
                    || graph.view().neighbours(v).binary_search(&images[before]).is_ok()
            };
            if !images.contains(&v) && (0..at).all(|before| near(&before)) {
                images.push(v);
                found += place(graph, pattern, images);
                images.pop();
            }
        }
        found
    }
    place(graph, pattern, &mut vec![]) / gramer_pattern::automorphism_count(pattern)
}

fn pattern(shape: Shape) -> Pattern {
    match shape {
        Shape::House => Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]),
        Shape::FiveCycle => Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]),
    }
}

/// What the model finds, and how many units were a part of a root.
fn counted(machine: &Accelerator, graph: &Graph, shape: Shape, roots: Units<'_>) -> (Total, usize) {
    let image = WedgeImage::new(graph.view()).unwrap();
    let work = units(machine, graph.view(), roots, &image, shape);
    let parts = work.iter().filter(|unit| (unit.first, unit.last) != (0, LAST_ALL)).count();
    let mut total = Total::default();
    for stream in deal(machine, shape, work, 3) {
        let sums = reference::run(machine, image.words(), &stream.whole()).unwrap();
        for (sum, value) in total.iter_mut().zip(sums.values) {
            *sum += u128::from(value);
        }
    }
    (total, parts)
}

#[test]
fn sums_give_what_is_there() {
    let machine = named("set-small").unwrap().unwrap();
    let (mut found, mut parts) = ([0; 2], 0);
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (n, per_cent) = (rng.u64(4..13), rng.u32(10..80));
        let graph = random(&mut rng, n, per_cent, seed % 3 > 0);
        for (at, shape) in [Shape::House, Shape::FiveCycle].into_iter().enumerate() {
            let pattern = pattern(shape);
            let (total, _) = counted(&machine, &graph, shape, Units::All);
            let wanted = brute(&graph, &pattern);
            assert_eq!(shape.occurrences(&total), wanted, "seed {seed}, {shape:?}");
            found[at] += usize::from(wanted > 0);
        }
    }
    // Against the CPU engine, with roots that reach more than banks have room for.
    for seed in 0..6 {
        let mut rng = fastrand::Rng::with_seed(100 + seed);
        let graph = random(&mut rng, 150 + 150 * seed, 3, seed % 2 > 0);
        for shape in [Shape::House, Shape::FiveCycle] {
            let task =
                Task::Match { pattern: pattern(shape), induced: Induced::Edge, mappings: None };
            let context = Context::with_threads(1);
            let wanted = Cpu.run(&graph, &task, None, &context).unwrap().results[0].count;
            let (total, cut) = counted(&machine, &graph, shape, Units::All);
            assert_eq!(shape.occurrences(&total), wanted, "seed {seed}, {shape:?}");
            parts += cut;
        }
    }
    assert!(found[0] > 40 && found[1] > 40, "{found:?} graphs have them");
    assert!(parts > 20, "{parts} units are parts of roots");
}

/// Parts of a root follow each other without a gap, for any contents of the banks.
#[test]
fn parts_of_a_root_are_all_of_it() {
    let machine = named("set-small").unwrap().unwrap();
    let mut rng = fastrand::Rng::with_seed(5);
    let graph = random(&mut rng, 900, 2, true);
    let image = WedgeImage::new(graph.view()).unwrap();
    let work = units(&machine, graph.view(), Units::All, &image, Shape::FiveCycle);
    let roots: HashSet<u32> = work.iter().map(|unit| unit.address).collect();
    assert!(roots.len() < work.len());
    for root in roots {
        let mut end = 0;
        for unit in work.iter().filter(|unit| unit.address == root) {
            assert_eq!(unit.first, end);
            assert!(unit.last > end);
            end = unit.last;
        }
        assert_eq!(end, LAST_ALL);
    }
}

#[test]
fn patterns_are_known_in_any_order_of_their_vertices() {
    let machine = named("set-plans").unwrap().unwrap();
    let turned = Pattern::from_edges(5, &[(4, 2), (2, 0), (0, 3), (3, 1), (1, 4)]);
    assert_eq!(Shape::of(&machine, &turned, Induced::Edge), Some(Shape::FiveCycle));
    let turned = Pattern::from_edges(5, &[(4, 3), (3, 2), (2, 1), (1, 4), (0, 4), (0, 3)]);
    assert_eq!(Shape::of(&machine, &turned, Induced::Edge), Some(Shape::House));
    assert_eq!(Shape::of(&machine, &turned, Induced::Vertex), None);
    assert_eq!(Shape::of(&machine, &Pattern::clique(5), Induced::Edge), None);
    let plain = named("set").unwrap().unwrap();
    assert_eq!(Shape::of(&plain, &turned, Induced::Edge), None);
}

/// The functional model of some clusters.
struct ModelRunner {
    machine: Accelerator,
    /// Runs of wedges and of plans.
    runs: [usize; 2],
    /// No run of wedges ends.
    stopped: bool,
}

impl Runs for ModelRunner {
    fn machine(&self) -> &Accelerator {
        &self.machine
    }

    fn clusters(&self) -> usize {
        2
    }

    fn count(&mut self, job: &Job<'_>) -> Result<(u128, bool)> {
        self.runs[1] += 1;
        let of = |stream: Vec<u8>| {
            let sums = gramer_models::plan::run(&self.machine, job.image.0.words(), &stream);
            u128::from(sums.unwrap().values[SUM_EMBEDDINGS])
        };
        Ok((job.streams.iter().map(|stream| of(stream.whole())).sum(), true))
    }

    fn list(
        &mut self,
        _: &Job<'_>,
        _: u32,
        _: Option<u64>,
        _: &RecordSink<'_>,
    ) -> Result<(u128, bool)> {
        Err(Error::Unsupported("nothing is listed here".into()))
    }

    fn sums(&mut self, job: &WedgeJob<'_>) -> Result<(Total, bool)> {
        self.runs[0] += 1;
        let mut total = Total::default();
        for stream in job.streams.iter() {
            let found = reference::run(&self.machine, job.image.words(), &stream.whole()).unwrap();
            total.iter_mut().zip(found.values).for_each(|(sum, own)| *sum += u128::from(own));
        }
        Ok((total, !self.stopped))
    }
}

/// Matches are counted so where all roots are there and the graph has room, and by a plan where not.
#[test]
fn matches_are_counted_by_wedges_or_by_a_plan() {
    let graph = random(&mut fastrand::Rng::with_seed(8), 40, 20, true);
    let mut hub = Builder::new();
    // Too many neighbours for either image.
    (1..40_000).for_each(|v| hub.edge(0, v));
    let hub = renumber(&hub.build(), &Context::with_threads(1)).unwrap();
    for (shape, mappings) in [
        (Shape::House, false),
        (Shape::House, true),
        (Shape::FiveCycle, false),
        (Shape::FiveCycle, true),
    ] {
        let task = Task::Match {
            pattern: pattern(shape),
            induced: Induced::Edge,
            mappings: mappings.then_some(Mappings::Isomorphism),
        };
        let wanted = Cpu.run(&graph, &task, None, &Context::with_threads(1)).unwrap();
        let machine = named("set-small").unwrap().unwrap();
        let run = |set: u32, stopped: bool, graph: &Graph, units: Units<'_>| {
            let mut machine = machine.clone();
            machine.set.as_mut().unwrap().reached = set;
            let mut runs = ModelRunner { machine, runs: [0; 2], stopped };
            let wanted = Match::of(&runs.machine, &task, false).unwrap().unwrap();
            let images = PlanImages::default();
            let found = matches::run(&mut runs, (graph, &images), (&wanted, None), units);
            (found, runs.runs)
        };
        let (found, runs) = run(8, false, &graph, Units::All);
        assert_eq!((found.unwrap().results, runs), (wanted.results.clone(), [1, 0]));
        let (found, runs) = run(0, false, &graph, Units::All);
        assert_eq!((found.unwrap().results, runs[0]), (wanted.results.clone(), 0));
        let (found, runs) = run(8, true, &graph, Units::All);
        let found = found.unwrap();
        assert_eq!((found.results[0].count, found.complete, runs), (0, false, [1, 0]));
        // A share of the roots is counted by a plan.
        let mut sum = 0;
        for share in Share::split(graph.view(), 3) {
            let (found, runs) = run(8, false, &graph, Units::Share(&share));
            assert_eq!(runs[0], 0);
            sum += found.unwrap().results[0].count;
        }
        assert_eq!(sum, wanted.results[0].count);
        let (found, runs) = run(8, false, &hub, Units::All);
        let refused = found.unwrap_err().to_string();
        assert!(refused.contains("use the engine `cpu`"), "{refused}");
        assert_eq!(runs, [0, 0]);
    }
}
