//! Search plans on the set core: their words count what the plans mean, and the core as a whole counts what
//! its functional model does with the same bytes. Patterns of three to eight vertices on random graphs,
//! with streams and memory held back at random and answers out of order.

#[path = "support/set_cycles.rs"]
mod cycles;
#[path = "support/set_frequent.rs"]
mod frequent;
#[path = "support/set_labels.rs"]
mod labels;
#[path = "support/set_listing.rs"]
mod listing;
#[path = "support/set.rs"]
mod support;

use gramer::accelerator::set::image::Words;
use gramer::accelerator::set::numbers::SUM_EMBEDDINGS;
use gramer::accelerator::set::plan::image::PlanImage;
use gramer::accelerator::set::plan::units::{deal, fewer_walkers, parts, units, walkers};
use gramer::accelerator::set::plan::words::{CountPlan, Kind, Program, Term, Word};
use gramer::cpu::Cpu;
use gramer::engine::interpreter::interpret;
use gramer::engine::{EngineExt, Units};
use gramer::graph::Builder;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::pattern::plan::search::SearchPlan;
use gramer::pattern::{Dictionary, Pattern};
use gramer::prepare::renumber;
use gramer::task::{Induced, Task};
use gramer::{Context, Graph};
use gramer_machine::Accelerator;
use gramer_machine::named::named;
use gramer_models::plan as reference;
use gramer_sim::model::Model;
use gramer_sim::run::{ABORTED, DONE, FULL, Outcome, Simulation};
use gramer_sim::set::{Run, run};
use gramer_testing::environment;
use gramer_testing::graphs::{pairs, ranked};
use std::ops::ControlFlow;

use support::{held, library};

fn random(rng: &mut fastrand::Rng, most: u64) -> Graph {
    let (n, share) = (4 + rng.u64(0..most), rng.u32(5..60));
    ranked(&pairs(n, |_, _| rng.u32(0..100) < share))
}

/// A connected pattern of this many vertices.
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

/// The sum over this many clusters.
fn sum(machine: &Accelerator, graph: &Graph, program: &Program, clusters: usize) -> u128 {
    let image = PlanImage::new(graph.view(), program.order()).unwrap();
    let work = units(graph.view(), Units::All, &image, program, walkers(machine, 1));
    let streams = deal(machine, (program, &image), work, clusters);
    let run = |mut stream: Vec<u8>| loop {
        if let Some(sums) = reference::run(machine, image.words(), &stream) {
            break u128::from(sums.values[SUM_EMBEDDINGS]);
        }
        assert!(fewer_walkers(machine, &mut stream), "sets have no room");
    };
    streams.iter().map(|s| run(s.whole())).sum()
}

/// What a plan counts, by its meaning.
fn meant(graph: &Graph, pattern: &Pattern, induced: Induced) -> u128 {
    let plan = SearchPlan::of(pattern, induced, false, false);
    let mappings = interpret(&plan, graph.view(), |_| ControlFlow::Continue(())).unwrap();
    mappings * plan.factor / plan.automorphisms
}

#[test]
fn words_count_what_plans_mean() {
    let machine = named("set-small").unwrap().unwrap();
    let levels = machine.set.as_ref().unwrap().plan_levels;
    let (mut found, mut products) = (0, 0);
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
                let product = program.words.last().is_some_and(|word| word.term == Term::Last);
                products += u32::from(product && wanted > 0);
            }
        }
    }
    assert!(found > 150, "{found} patterns are in the graphs");
    assert!(products > 20, "{products} of them are counted two vertices at once");
}

/// The pattern whose count is the difference of two sums.
fn house() -> Pattern {
    Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
}

#[test]
fn a_house_is_the_difference_of_two_sums() {
    let machine = named("set-small").unwrap().unwrap();
    let counted = CountPlan::of(&house(), Induced::Edge, 7).unwrap();
    let (times, diamond) = counted.less.as_ref().unwrap();
    let mut found = 0;
    for seed in 0..40 {
        let mut rng = fastrand::Rng::with_seed(7_000 + seed);
        let graph = random(&mut rng, 30);
        let clusters = 1 + rng.usize(0..3);
        let sums = [&counted.program, diamond].map(|p| sum(&machine, &graph, p, clusters));
        let wanted = meant(&graph, &house(), Induced::Edge);
        assert_eq!(counted.occurrences(sums[0], sums[1]), wanted, "seed {seed}");
        assert_eq!(counted.mappings(sums[0], sums[1]), 2 * wanted);
        // Of a part of the roots of the one there are no more.
        assert_eq!(counted.occurrences(0, sums[1]), 0);
        found += u32::from(wanted > 0 && times * diamond.occurrences(sums[1]) > 0);
    }
    assert!(found > 30, "{found} graphs have houses and diamonds");
    // Other patterns have one program, and so has this one if other edges are forbidden.
    for (pattern, induced) in [
        (house(), Induced::Vertex),
        (Pattern::clique(5), Induced::Edge),
        (Pattern::clique(4), Induced::Edge),
    ] {
        let one = CountPlan::of(&pattern, induced, 7).unwrap();
        assert_eq!(
            (one.less, one.program),
            (None, Program::counting(&pattern, induced, 7).unwrap())
        );
    }
}

// -------------------------------------------------------------------------------------------------------
// The core.

/// A pattern on a graph, as clusters are sent it.
struct Bench<'a> {
    machine: &'a Accelerator,
    image: PlanImage,
    streams: Vec<Vec<u8>>,
    /// Of the first stream's units.
    places: usize,
}

impl<'a> Bench<'a> {
    fn new(machine: &'a Accelerator, graph: &Graph, program: &Program, clusters: usize) -> Self {
        let image = PlanImage::new(graph.view(), program.order()).unwrap();
        let work = units(graph.view(), Units::All, &image, program, walkers(machine, 1));
        let dealt = deal(machine, (program, &image), work, clusters);
        let places = dealt[0].units.len() / 8;
        Bench { machine, image, streams: dealt.iter().map(|s| s.whole()).collect(), places }
    }

    /// Runs the first stream, with fewer walkers where sets have no room.
    fn found(&self, core: &mut Model, s: &Simulation) -> Outcome {
        let mut stream = self.streams[0].clone();
        loop {
            let outcome = self.run(core, &stream, true, s);
            if outcome.status != FULL || !fewer_walkers(self.machine, &mut stream) {
                break outcome;
            }
        }
    }

    fn run(&self, core: &mut Model, stream: &[u8], load: bool, s: &Simulation) -> Outcome {
        let job = Run { image: self.image.bytes(), stream, load, wait: true };
        run(self.machine, core, &job, s).unwrap()
    }

    /// Runs all streams, the first of which loads the image, and compares with the functional model.
    fn compare(&self, core: &mut Model, s: &Simulation, what: &str) -> Vec<Outcome> {
        let mut load = true;
        let mut outcomes = vec![];
        for stream in &self.streams {
            let outcome = self.run(core, stream, std::mem::take(&mut load), s);
            match reference::run(self.machine, self.image.words(), stream) {
                None => assert_eq!((outcome.status, outcome.next_unit), (FULL, 0), "{what}"),
                Some(wanted) => {
                    assert_eq!(outcome.status, DONE, "{what}");
                    assert_eq!(outcome.counts, wanted.values, "{what}");
                    assert_eq!(outcome.saturated, wanted.saturated, "{what}");
                    assert_eq!(outcome.next_unit, wanted.next_unit, "{what}");
                }
            }
            outcomes.push(outcome);
        }
        outcomes
    }
}

#[test]
fn the_core_counts_patterns_of_random_graphs() {
    patterns_of_random_graphs(&named("set-small").unwrap().unwrap(), 0..10);
}

/// Without the image for wedges a core keeps fewer bits of an entry.
#[test]
fn a_core_without_wedges_counts_them_too() {
    let mut machine = named("set-small").unwrap().unwrap();
    machine.set.as_mut().unwrap().reached = 0;
    patterns_of_random_graphs(&machine, 0..4);
}

fn patterns_of_random_graphs(machine: &Accelerator, seeds: std::ops::Range<u64>) {
    let Some(library) = library(machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let (mut found, runs) = (0, 4 * u32::try_from(seeds.end).unwrap());
    for seed in seeds {
        let mut rng = fastrand::Rng::with_seed(100 + seed);
        let graph = random(&mut rng, 20 + 4 * seed);
        let mut patterns: Vec<Pattern> = vec![];
        if seed < 2 {
            (3..=5).for_each(|k| patterns.extend(Dictionary::of(k).patterns().iter().cloned()));
        }
        // Large patterns on small graphs: their counts are the cycles.
        let most = match graph.view().vertices() {
            0..=24 => 8,
            25..=40 => 6,
            _ => 4,
        };
        patterns.extend((3..=most).map(|n| pattern(&mut rng, n)));
        for pattern in patterns {
            for induced in [Induced::Vertex, Induced::Edge] {
                let program = Program::counting(&pattern, induced, 7).unwrap();
                if steps(machine, &graph, &program) > 20_000 {
                    continue;
                }
                let bench = Bench::new(machine, &graph, &program, 1 + rng.usize(0..2));
                let what = format!("seed {seed}, {pattern:?}, {induced:?}");
                let outcomes = bench.compare(&mut core, &held(machine, seed), &what);
                found += u32::from(outcomes.iter().any(|o| o.counts[SUM_EMBEDDINGS] > 0));
            }
        }
    }
    assert!(found > runs, "{found} patterns were found");
}

/// About the candidates that a plan visits: what it counts is more than that.
fn steps(machine: &Accelerator, graph: &Graph, program: &Program) -> u128 {
    sum(machine, graph, program, 1)
}

/// Lists of the lengths at which something changes, in hubs with neighbours in common.
#[test]
fn plans_with_lists_of_every_length_that_matters() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let square = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    let tailed = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 0), (2, 3)]);
    for leaves in [1, 3, 4, 15, 16, 17, 33, 64, 123, 124, 125, 128, 129, 160, 161, 257, 600] {
        let mut builder = Builder::new();
        for v in 2..leaves + 2 {
            builder.edge(0, v);
            if v % 3 != 1 {
                builder.edge(1, v);
            }
            if v % 7 == 0 {
                builder.edge(v, v + 1);
            }
        }
        let graph = renumber(&builder.build(), &Context::with_threads(1)).unwrap();
        for (pattern, induced) in
            [(&square, Induced::Vertex), (&square, Induced::Edge), (&tailed, Induced::Vertex)]
        {
            let program = Program::counting(pattern, induced, 7).unwrap();
            let bench = Bench::new(&machine, &graph, &program, 1);
            let what = format!("hubs of {leaves}, {induced:?}, {pattern:?}");
            bench.compare(&mut core, &held(&machine, leaves), &what);
        }
    }
}

/// A set that has no room ends the run; one that is stopped has the sums of the units before; both
/// leave the core as it was.
#[test]
fn plans_that_end_early_are_clean() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let house = Pattern::from_edges(5, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]);
    let program = Program::counting(&house, Induced::Edge, 7).unwrap();
    let graph = random(&mut fastrand::Rng::with_seed(3), 30);
    let bench = Bench::new(&machine, &graph, &program, 1);
    let whole = bench.compare(&mut core, &held(&machine, 0), "whole")[0].clone();
    let mut stopped = 0;
    for (at, word) in (0..8).map(|i| (100 + whole.cycles * i / 8, 1 + i as u32 % 2)) {
        let simulation = Simulation { abort: Some((at, word)), ..held(&machine, at) };
        let outcome = bench.run(&mut core, &bench.streams[0], true, &simulation);
        if outcome.status == ABORTED && word == 1 {
            let mut part = bench.streams[0].clone();
            let head = part.len() - whole.next_unit as usize * 8;
            part[head + outcome.next_unit as usize * 8..].fill(0);
            let wanted = reference::run(&machine, bench.image.words(), &part).unwrap();
            assert_eq!(outcome.counts, wanted.values, "stopped in cycle {at}");
        }
        stopped += u32::from(outcome.status == ABORTED);
        bench.compare(&mut core, &held(&machine, at), "after a run that was stopped");
    }
    assert!(stopped >= 3, "{stopped} runs were stopped");

    // Hubs with more neighbours in common than the memory has room for.
    let mut builder = Builder::new();
    for v in 2..machine.set.as_ref().unwrap().plan_lines() as u64 * 16 {
        builder.edge(0, v);
        builder.edge(1, v);
    }
    let hubs = renumber(&builder.build(), &Context::with_threads(1)).unwrap();
    let square = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    let program = Program::counting(&square, Induced::Vertex, 7).unwrap();
    let full = Bench::new(&machine, &hubs, &program, 1);
    assert_eq!(reference::run(&machine, full.image.words(), &full.streams[0]), None);
    full.compare(&mut core, &held(&machine, 0), "sets without room");
    bench.compare(&mut core, &held(&machine, 0), "after sets without room");
}

/// A plan that makes a set which nothing reads: the next candidate waits until that set is complete.
#[test]
fn sets_that_nothing_reads_are_complete_before_the_next_candidate() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let square = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    let mut program = Program::counting(&square, Induced::Edge, 7).unwrap();
    let last = program.words.len() - 1;
    let to = program.words.iter().map(|word| word.to + 1).max().unwrap();
    let (streams, label) = (Some(0), program.words[last].label);
    let unread =
        Word { stored: None, streams, to, bounds: 0, conflicts: 0, label, ..program.words[0] };
    assert_eq!((program.words[0].kind, program.words[last].kind), (Kind::Make, Kind::Count));
    program.words.insert(last, unread);
    for seed in 0..4 {
        let graph = random(&mut fastrand::Rng::with_seed(7_200 + seed), 40);
        let bench = Bench::new(&machine, &graph, &program, 1);
        let found = bench.compare(&mut core, &held(&machine, seed), &format!("seed {seed}"));
        let sum = found[0].counts[SUM_EMBEDDINGS].into();
        assert_eq!(program.occurrences(sum), meant(&graph, &square, Induced::Edge), "seed {seed}");
    }
}

/// A term that is kept while the next vertex goes along its candidates.
#[test]
fn the_core_counts_houses_by_two_sums() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let counted = CountPlan::of(&house(), Induced::Edge, 7).unwrap();
    for seed in 0..6 {
        let graph = random(&mut fastrand::Rng::with_seed(7_100 + seed), 40 + 20 * seed);
        let mut sums = [0; 2];
        for (sum, program) in
            sums.iter_mut().zip([&counted.program, &counted.less.as_ref().unwrap().1])
        {
            let bench = Bench::new(&machine, &graph, program, 1);
            let found = bench.compare(&mut core, &held(&machine, seed), &format!("seed {seed}"));
            *sum = found[0].counts[SUM_EMBEDDINGS].into();
        }
        let wanted = meant(&graph, &house(), Induced::Edge);
        assert_eq!(counted.occurrences(sums[0], sums[1]), wanted, "seed {seed}");
    }
}

/// Sets with room for fewer walkers only: the same stream is run with fewer walkers until they fit,
/// and counts what all runs with fewer walkers count.
#[test]
fn plans_begin_again_with_fewer_walkers() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let square = Pattern::from_edges(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
    let program = Program::counting(&square, Induced::Vertex, 7).unwrap();
    let mut ends = vec![];
    for leaves in [20u64, 400, 700, 900] {
        let mut builder = Builder::new();
        for v in 2..leaves + 2 {
            builder.edge(0, v);
            builder.edge(1, v);
        }
        let graph = renumber(&builder.build(), &Context::with_threads(1)).unwrap();
        let bench = Bench::new(&machine, &graph, &program, 1);
        let mut stream = bench.streams[0].clone();
        let begun = parts(&machine, &stream);
        let mut full = 0;
        let mut retry = true;
        while retry {
            let outcome = bench.run(&mut core, &stream, true, &held(&machine, leaves));
            retry = outcome.status == FULL;
            full += u32::from(retry);
            let wanted = reference::run(&machine, bench.image.words(), &stream);
            assert_eq!(
                wanted.is_none(),
                retry,
                "{leaves} leaves, {} walkers",
                parts(&machine, &stream)
            );
            if !retry {
                let found = program.occurrences(outcome.counts[SUM_EMBEDDINGS].into());
                assert_eq!(found, u128::from(leaves * (leaves - 1) / 2), "{leaves} leaves");
                ends.push((begun, parts(&machine, &stream), full));
            }
            assert!(!retry || fewer_walkers(&machine, &mut stream), "{leaves} leaves have no room");
        }
        // With fewer still the count is the same.
        while fewer_walkers(&machine, &mut stream) {
            let outcome = bench.run(&mut core, &stream, true, &held(&machine, leaves));
            let found = program.occurrences(outcome.counts[SUM_EMBEDDINGS].into());
            assert_eq!((outcome.status, found), (DONE, u128::from(leaves * (leaves - 1) / 2)));
        }
    }
    // Walkers at first and in the end, and runs that ended in between.
    assert_eq!(ends, [(4, 4, 0), (4, 2, 1), (2, 1, 1), (2, 1, 1)]);
}

/// A real graph, with the counts of the CPU engine; prints the cycles.
#[test]
fn a_real_graph_has_the_counts_of_the_cpu_engine() {
    let Some(folder) = environment::data() else {
        return environment::skip(environment::DATA, "there are no real graphs");
    };
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let mut core = Model::load(&library).unwrap();
    let context = Context::with_threads(1);
    let file = folder.join("citeseer/citeseer.lg");
    let read = read_graph(&file, &ReadOptions::default(), &context).unwrap();
    let graph = renumber(&read, &context).unwrap();
    for (name, edges) in [
        ("diamond", &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)][..]),
        ("4-cycle", &[(0, 1), (1, 2), (2, 3), (3, 0)]),
        ("5-cycle", &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]),
        ("house", &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]),
    ] {
        let vertices = edges.iter().map(|&(u, v)| u.max(v) + 1).max().unwrap();
        let pattern = Pattern::from_edges(vertices, edges);
        let program = Program::counting(&pattern, Induced::Edge, 7).unwrap();
        let bench = Bench::new(&machine, &graph, &program, 1);
        let outcome = bench.found(&mut core, &held(&machine, 0));
        let task = Task::Match { pattern, induced: Induced::Edge, mappings: None };
        let known = Cpu.run(&graph, &task, None, &context).unwrap().results[0].count;
        assert_eq!(outcome.status, DONE, "{name}");
        assert_eq!(program.occurrences(outcome.counts[SUM_EMBEDDINGS].into()), known, "{name}");
        // Of the cycles of all PUs: pairs of lines that are compared, cycles with a unit and no pair, and
        // cycles without a unit.
        let cycles = outcome.sum("core.cycles");
        let all = cycles * u64::from(machine.machine.processing_units);
        let share = |counter: &str| 100 * outcome.sum(counter) / all;
        println!(
            "citeseer {name}: {known}, {cycles} cycles; lists {}, lines {}, pairs {} ({} %), no pair {} %, \
             no unit {} %; merger: lines {} %, passed {} %, waits for a list {} %",
            outcome.sum("pu.members"),
            outcome.sum("pu.lines_answered"),
            outcome.sum("pu.steps"),
            share("pu.steps"),
            share("pu.idle_memory"),
            share("pu.idle_no_work"),
            share("pu.plan_steps"),
            share("pu.plan_passes"),
            share("pu.plan_no_line"),
        );
    }
}
