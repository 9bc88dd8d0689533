//! Frequent patterns with the functional model of the core, against the CPU engine, which its own tests compare with
//! brute force.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::{Barrier, Mutex};

use crate::methods::choose_on;
use crate::set::image::Words;
use crate::settings::Settings;
use gramer_engine::{Ask, Facts, Query};
use gramer_graph::Builder;
use gramer_graph::prepare::renumber;
use gramer_machine::Accelerator;
use gramer_machine::named::named;
use gramer_machine::set::SetCore;

use super::super::numbers::SUM_EMBEDDINGS;
use super::super::plan::run::Job;
use super::super::plan::units::fewer_walkers;
use super::super::sums::Total;
use super::super::wedges::run::Job as WedgeJob;
use super::*;
use crate::stream::{Record, RecordSink};
use gramer_models::plan as reference;

/// The functional model of some clusters, which hands records on in parts.
struct ModelRunner {
    machine: Accelerator,
    clusters: usize,
    runs: usize,
    listed: usize,
    /// So many runs may begin.
    most: usize,
}

impl ModelRunner {
    fn new(clusters: usize) -> Self {
        let machine = named("set-small").unwrap().unwrap();
        ModelRunner { machine, clusters, runs: 0, listed: 0, most: usize::MAX }
    }
}

/// Runs a stream with as many walkers as have room for their sets.
fn with_room<T>(machine: &Accelerator, mut stream: Vec<u8>, of: impl Fn(&[u8]) -> Option<T>) -> T {
    loop {
        match of(&stream) {
            Some(found) => break found,
            None => assert!(fewer_walkers(machine, &mut stream), "sets have no room"),
        }
    }
}

impl Runs for ModelRunner {
    fn sums(&mut self, _: &WedgeJob<'_>) -> Result<(Total, bool)> {
        Err(Error::Unsupported("frequent patterns are no houses".into()))
    }

    fn machine(&self) -> &Accelerator {
        &self.machine
    }

    fn clusters(&self) -> usize {
        self.clusters
    }

    fn count(&mut self, job: &Job<'_>) -> Result<(u128, bool)> {
        self.runs += 1;
        if self.runs > self.most {
            return Ok((0, false));
        }
        let of = |stream: &[u8]| reference::run(&self.machine, job.image.0.words(), stream);
        let sums = job.streams.iter().map(|stream| with_room(&self.machine, stream.whole(), of));
        Ok((sums.map(|sums| u128::from(sums.values[SUM_EMBEDDINGS])).sum(), true))
    }

    fn list(
        &mut self,
        job: &Job<'_>,
        vertices: u32,
        _enough: Option<u64>,
        take: &RecordSink<'_>,
    ) -> Result<(u128, bool)> {
        self.runs += 1;
        if self.runs > self.most {
            return Ok((0, false));
        }
        let mut count = 0;
        for stream in job.streams.iter() {
            let of = |stream: &[u8]| reference::list(&self.machine, job.image.0.words(), stream);
            for ids in with_room(&self.machine, stream.whole(), of).1 {
                assert_eq!(ids.len(), vertices as usize);
                count += 1;
                self.listed += 1;
                if !take(&Record { ordinal: 0, pattern: 0, vertices: ids })? {
                    return Ok((count, false));
                }
            }
        }
        Ok((count, true))
    }
}

/// A graph with up to this many vertices, and that many labels or none.
fn graph(rng: &mut fastrand::Rng, most: u64, labels: u32) -> Graph {
    let (n, share) = (4 + rng.u64(0..most), rng.u32(5..45));
    let mut builder = Builder::new();
    for v in 0..n {
        match labels {
            0 => builder.vertex(v),
            _ => builder.labelled_vertex(v, 7 * rng.u32(0..labels)),
        }
    }
    for (u, v) in (0..n).flat_map(|u| (0..u).map(move |v| (u, v))) {
        if rng.u32(0..100) < share {
            builder.edge(u, v);
        }
    }
    renumber(&builder.build(), &Context::with_threads(1)).unwrap()
}

/// Embeddings as sets of vertices with their pattern.
#[derive(Default)]
struct ListSink(Mutex<BTreeSet<(Pattern, Vec<VertexId>)>>, Mutex<usize>);

impl Sink for ListSink {
    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        // Which mapping of an occurrence comes depends on the engine: what is left of it are the edges.
        let mut edges: Vec<VertexId> = vec![];
        let mut pairs: Vec<[VertexId; 2]> = pattern
            .edges()
            .iter()
            .map(|&(i, j)| [vertices[i].min(vertices[j]), vertices[i].max(vertices[j])])
            .collect();
        pairs.sort_unstable();
        pairs.iter().for_each(|pair| edges.extend(pair));
        self.0.lock().unwrap().insert((pattern.clone(), edges));
        *self.1.lock().unwrap() += 1;
        ControlFlow::Continue(())
    }
}

fn task(asked: FrequentRequest) -> Task {
    let FrequentRequest { limit, support, measure } = asked;
    Task::Fsm { limit, support, measure }
}

/// What is asked in a round.
fn asked(rng: &mut fastrand::Rng, round: u64) -> FrequentRequest {
    let support = rng.u64(1..12);
    let (limit, measure) = match round % 4 {
        0 => (SizeLimit::MaxVertices(3), Measure::Embeddings),
        1 => (SizeLimit::MaxVertices(4), Measure::Embeddings),
        2 => (SizeLimit::MaxVertices(4), Measure::Mni),
        _ => (SizeLimit::MaxEdges(4), Measure::Mni),
    };
    FrequentRequest { limit, support, measure }
}

#[test]
fn random_graphs_have_the_patterns_and_lists_of_the_cpu_engine() {
    let context = Context::with_threads(1);
    let (mut larger, mut listed) = (0, 0);
    for round in 0..60 {
        let mut rng = fastrand::Rng::with_seed(500 + round);
        let labels = rng.u32(0..5);
        let graph = graph(&mut rng, 18, labels);
        let asked = asked(&mut rng, round);
        let (ours, theirs) = (ListSink::default(), ListSink::default());
        let mut runs = ModelRunner::new(1 + rng.usize(0..3));
        let images = PlanImages::default();
        let found =
            mine(&mut runs, (&graph, &images), asked, (Some(&ours), None), &context).unwrap();
        let wanted = Cpu.run(&graph, &task(asked), Some(&theirs), &context).unwrap();
        assert!(found.complete, "round {round}");
        assert_eq!(found.results, wanted.results, "round {round}, {asked:?}");
        let (ours, times) = (ours.0.into_inner().unwrap(), ours.1.into_inner().unwrap());
        assert_eq!(ours.len(), times, "round {round}: an embedding came twice");
        assert_eq!(ours, theirs.0.into_inner().unwrap(), "round {round}, {asked:?}");
        larger += found.results.iter().filter(|count| count.pattern.edge_count() > 2).count();
        listed += times;
    }
    assert!(larger > 200 && listed > 20_000, "{larger} patterns, {listed} embeddings");
}

/// Triangles that are too many to be listed are counted by their labels; those of few labels are listed at once.
#[test]
fn triangles_are_listed_at_once_where_they_are_few() {
    let context = Context::with_threads(1);
    let limit = SizeLimit::MaxVertices(3);
    let asked = FrequentRequest { limit, support: 3, measure: Measure::Embeddings };
    for (vertices, runs, listed) in [(40, 1, 9_880), (76, 1 + 10, MOST_TRIANGLES as usize)] {
        let mut builder = Builder::new();
        (0..vertices).for_each(|v| builder.labelled_vertex(v, v as u32 % 3));
        (0..vertices).for_each(|u| (0..u).for_each(|v| builder.edge(u, v)));
        // A label that no triangle has.
        (0..5).for_each(|v| builder.labelled_vertex(100 + v, 9));
        (0..5).for_each(|v| builder.edge(v, 100 + v));
        let graph = renumber(&builder.build(), &context).unwrap();
        let (mut model, images) = (ModelRunner::new(2), PlanImages::default());
        let found = mine(&mut model, (&graph, &images), asked, (None, None), &context).unwrap();
        let wanted = Cpu.run(&graph, &task(asked), None, &context).unwrap();
        assert_eq!(found.results, wanted.results, "{vertices} vertices");
        assert_eq!((model.runs, model.listed), (runs, listed), "{vertices} vertices");
        // Without labels one number says all.
        let mut builder = Builder::new();
        (0..vertices).for_each(|u| (0..u).for_each(|v| builder.edge(u, v)));
        let plain = builder.build();
        let mut model = ModelRunner::new(2);
        let on = (&plain, &PlanImages::default());
        let found = mine(&mut model, on, asked, (None, None), &context).unwrap();
        assert_eq!(found.results, Cpu.run(&plain, &task(asked), None, &context).unwrap().results);
        assert_eq!((model.runs, model.listed), (1, 0), "{vertices} vertices");
    }
}

/// A run that is stopped before any launch has the sizes before that.
#[test]
fn of_a_run_that_is_stopped_whole_levels_are_there() {
    let context = Context::with_threads(1);
    let graph = graph(&mut fastrand::Rng::with_seed(3), 30, 2);
    for measure in [Measure::Embeddings, Measure::Mni] {
        let asked = FrequentRequest { limit: SizeLimit::MaxVertices(4), support: 2, measure };
        let whole = Cpu.run(&graph, &task(asked), None, &context).unwrap().results;
        let images = PlanImages::default();
        let mut all = ModelRunner::new(1);
        mine(&mut all, (&graph, &images), asked, (None, None), &context).unwrap();
        assert!(all.runs > 10, "{measure:?}: {} runs", all.runs);
        let mut sizes = BTreeSet::new();
        for most in 0..all.runs {
            let mut runs = ModelRunner { most, ..ModelRunner::new(1) };
            let part = mine(&mut runs, (&graph, &images), asked, (None, None), &context).unwrap();
            assert!(!part.complete, "{measure:?} after {most} runs");
            let level = |pattern: &Pattern| match measure {
                Measure::Embeddings => pattern.vertices(),
                Measure::Mni | Measure::Transactions | Measure::Instances => pattern.edge_count(),
            };
            let most = part.results.iter().map(|count| level(&count.pattern)).max().unwrap();
            let known: Vec<Count> =
                whole.iter().filter(|count| level(&count.pattern) <= most).cloned().collect();
            assert_eq!(part.results, known);
            sizes.insert(most);
        }
        assert!(sizes.len() > 1, "{measure:?}: {sizes:?}");
        let stopped = Context::with_threads(1);
        stopped.cancel.cancel();
        let part = mine(&mut all, (&graph, &images), asked, (None, None), &stopped).unwrap();
        assert!(!part.complete);
    }
}

/// Threads as devices.
struct Threads {
    barrier: Barrier,
    next: Mutex<Vec<(usize, usize)>>,
    found: Mutex<Vec<Vec<u8>>>,
}

impl Peers for Threads {
    fn threads(&self) -> usize {
        1
    }

    fn next(&self, level: usize, all: usize) -> Result<Range<usize>> {
        let mut next = self.next.lock().unwrap();
        let at = match next.iter_mut().find(|(of, _)| *of == level) {
            Some((_, at)) => at,
            None => {
                next.push((level, 0));
                &mut next.last_mut().unwrap().1
            }
        };
        let range = *at..(*at + 2).min(all).max(*at);
        *at = range.end;
        Ok(range)
    }

    fn join(&self, _: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.found.lock().unwrap().push(found);
        self.barrier.wait();
        let all = self.found.lock().unwrap().clone();
        if self.barrier.wait().is_leader() {
            self.found.lock().unwrap().clear();
        }
        self.barrier.wait();
        Ok(all)
    }
}

#[test]
fn several_devices_share_candidates() {
    let context = Context::with_threads(1);
    for round in 0..8 {
        let mut rng = fastrand::Rng::with_seed(900 + round);
        let (graph, asked) = (graph(&mut rng, 24, 3), asked(&mut rng, round));
        let wanted = Cpu.run(&graph, &task(asked), None, &context).unwrap().results;
        let barrier = Barrier::new(2);
        let together = Threads { barrier, next: Mutex::default(), found: Mutex::default() };
        let one = || {
            let (mut runs, images) = (ModelRunner::new(1), PlanImages::default());
            let with = (None, Some(&together as &dyn Peers));
            let found = mine(&mut runs, (&graph, &images), asked, with, &context).unwrap();
            (found.results, runs.runs)
        };
        let found: Vec<_> = std::thread::scope(|scope| {
            let threads = [scope.spawn(one), scope.spawn(one)];
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.iter().all(|(results, _)| *results == wanted), "round {round}");
    }
}

/// What a machine doesn't do is refused with its limit.
#[test]
fn refusals_name_the_limit() {
    let small = named("set-small").unwrap().unwrap();
    let said = |machine: &Accelerator, limit, measure, facts: Option<&Facts>| {
        let query = Query::new(Task::Fsm { limit, support: 1, measure });
        let ask = Ask::new(&query).facts(facts);
        let choices = choose_on(machine, &Settings::default(), &ask);
        choices.first("set", &ask).err().map_or(String::new(), |error| error.to_string())
    };
    let (vertices, edges) = (SizeLimit::MaxVertices, SizeLimit::MaxEdges);
    let (counts, images) = (Measure::Embeddings, Measure::Mni);
    assert_eq!(said(&small, vertices(8), counts, None), "");
    assert_eq!(said(&small, edges(7), images, None), "");
    let few = Accelerator {
        set: small.set.clone().map(|set| SetCore { plan_levels: 2, ..set }),
        ..small.clone()
    };
    assert!(said(&few, vertices(4), counts, None).contains("patterns of 2 to 3, not 4"));
    assert!(said(&few, edges(3), images, None).contains("patterns of 2 to 3, not 4"));
    assert_eq!(said(&few, edges(2), images, None), "");
    let none = named("set").unwrap().unwrap();
    assert!(said(&none, vertices(3), counts, None).contains("no method"));
    let mut unlisted = small.clone();
    unlisted.arguments.retain(|argument| argument.name != "result_beats");
    assert_eq!(said(&unlisted, vertices(3), counts, None), "");
    assert!(
        said(&unlisted, vertices(3), images, None).contains("does not support the measure mni")
    );
    let mut builder = Builder::new();
    builder.labelled_edge(0, 1, 3);
    let labelled = Facts::of(&builder.build());
    let text = said(&small, vertices(3), counts, Some(&labelled));
    assert!(text.contains("with edge labels"), "{text}");
}
