//! Frequent subgraphs on the whole core: candidate after candidate as a plan that counts or lists, against the CPU
//! engine.

use gramer::accelerator::set::frequent::{FrequentRequest, mine};
use gramer::accelerator::set::image::Words;
use gramer::accelerator::set::plan::image::Order;
use gramer::accelerator::set::plan::run::{Job, PlanImages, Runs};
use gramer::accelerator::set::sums::Total;
use gramer::accelerator::set::wedges::run::Job as WedgeJob;
use gramer::accelerator::stream::{Record, RecordSink};
use gramer::base::{Error, Result};
use gramer::task::{Measure, SizeLimit};
use gramer_sim::set::list;

use super::*;

/// The simulated core as devices are: one cluster after the other on one model.
struct OnCore<'a> {
    machine: &'a Accelerator,
    core: Model,
    simulation: Simulation,
    clusters: usize,
    /// Which of the graph's images is on chip.
    loaded: Option<Order>,
    /// Launches, their cycles, and records that came.
    launches: u64,
    cycles: u64,
    records: u64,
}

impl<'a> OnCore<'a> {
    fn new(machine: &'a Accelerator, library: &std::path::Path, simulation: Simulation) -> Self {
        let core = Model::load(library).unwrap();
        let (launches, cycles, records) = (0, 0, 0);
        OnCore { machine, core, simulation, clusters: 1, loaded: None, launches, cycles, records }
    }

    fn launch(&mut self, job: &Job<'_>, stream: &[u8], listed: Option<(u32, u32)>) -> Outcome {
        let (image, order) = job.image;
        let load = self.loaded.replace(order) != Some(order);
        let (mut stream, mut load) = (stream.to_vec(), load);
        let outcome = loop {
            let job = super::Run { image: image.bytes(), stream: &stream, load, wait: true };
            let outcome =
                list(self.machine, &mut self.core, &job, listed, &self.simulation).unwrap();
            if outcome.status == DONE {
                break outcome;
            }
            assert!(fewer_walkers(self.machine, &mut stream), "sets have no room");
            load = true;
        };
        self.launches += 1;
        self.cycles += outcome.sum("core.cycles");
        outcome
    }
}

impl Runs for OnCore<'_> {
    fn sums(&mut self, _: &WedgeJob<'_>) -> Result<(Total, bool)> {
        Err(Error::Unsupported("frequent patterns are no houses".into()))
    }

    fn machine(&self) -> &Accelerator {
        self.machine
    }

    fn clusters(&self) -> usize {
        self.clusters
    }

    fn count(&mut self, job: &Job<'_>) -> Result<(u128, bool)> {
        let mut sum = 0;
        for stream in job.streams.iter() {
            let outcome = self.launch(job, &stream.whole(), None);
            sum += u128::from(outcome.counts[SUM_EMBEDDINGS]);
        }
        Ok((sum, true))
    }

    fn list(
        &mut self,
        job: &Job<'_>,
        vertices: u32,
        _enough: Option<u64>,
        take: &RecordSink<'_>,
    ) -> Result<(u128, bool)> {
        let mut count = 0;
        for stream in job.streams.iter() {
            let outcome = self.launch(job, &stream.whole(), Some((vertices, 1 << 24)));
            self.records += outcome.records.len() as u64;
            for record in outcome.records {
                count += 1;
                if !take(&Record { ordinal: 0, pattern: 0, vertices: record.ids })? {
                    return Ok((count, false));
                }
            }
        }
        Ok((count, true))
    }
}

/// Mines on the core and on the CPU; gives how many patterns there are.
fn compare(runs: &mut OnCore<'_>, graph: &Graph, asked: FrequentRequest, what: &str) -> usize {
    let context = Context::with_threads(1);
    runs.loaded = None; // it has another graph
    let images = PlanImages::default();
    let found = mine(runs, (graph, &images), asked, (None, None), &context).unwrap();
    let FrequentRequest { limit, support, measure } = asked;
    let task = Task::Fsm { limit, support, measure };
    let known = Cpu.run(graph, &task, None, &context).unwrap();
    assert!(found.complete, "{what}");
    assert_eq!(found.results, known.results, "{what}");
    found.results.len()
}

#[test]
fn the_core_finds_frequent_patterns() {
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let (mut found, mut launches) = (0, 0);
    for seed in 0..10 {
        let mut rng = fastrand::Rng::with_seed(3_000 + seed);
        let labels = rng.u32(1..4);
        let graph = labels::labelled(&mut rng, 16, labels);
        let (limit, measure) = match seed % 3 {
            0 => (SizeLimit::MaxVertices(4), Measure::Embeddings),
            1 => (SizeLimit::MaxVertices(3), Measure::Mni),
            _ => (SizeLimit::MaxEdges(3), Measure::Mni),
        };
        let asked = FrequentRequest { limit, support: rng.u64(2..6), measure };
        let mut runs = OnCore::new(&machine, &library, held(&machine, seed));
        runs.clusters = 1 + seed as usize % 2;
        found += compare(&mut runs, &graph, asked, &format!("seed {seed}, {asked:?}"));
        launches += runs.launches;
    }
    assert!(found > 100 && launches > 100, "{found} patterns, {launches} launches");
}

/// A real graph; prints launches, cycles and records.
#[test]
fn citeseer_has_the_frequent_patterns_of_the_cpu_engine() {
    let Some(folder) = environment::data() else {
        return environment::skip(environment::DATA, "there are no real graphs");
    };
    let machine = named("set-small").unwrap().unwrap();
    let Some(library) = library(&machine) else { return };
    let context = Context::with_threads(1);
    let file = folder.join("citeseer/citeseer.lg");
    let read = read_graph(&file, &ReadOptions::default(), &context).unwrap();
    let graph = renumber(&read, &context).unwrap();
    let (counts, images) = (Measure::Embeddings, Measure::Mni);
    let (vertices, edges) = (SizeLimit::MaxVertices, SizeLimit::MaxEdges);
    for (limit, support, measure) in [
        (vertices(3), 2_000, counts),
        (vertices(3), 500, counts),
        (vertices(3), 200, counts),
        (vertices(3), 50, counts),
        (vertices(4), 500, counts),
        (vertices(3), 500, images),
        (vertices(3), 200, images),
        (edges(3), 200, images),
        (vertices(3), 50, images),
    ] {
        let asked = FrequentRequest { limit, support, measure };
        let simulation = Simulation { max_cycles: 2_000_000_000, ..held(&machine, 0) };
        let mut runs = OnCore::new(&machine, &library, simulation);
        let clock = std::time::Instant::now();
        let found = compare(&mut runs, &graph, asked, &format!("{asked:?}"));
        println!(
            "citeseer {limit:?} {measure:?} {support}: {found} patterns, {} launches, {} cycles, {} records, {:.1} s",
            runs.launches,
            runs.cycles,
            runs.records,
            clock.elapsed().as_secs_f64()
        );
    }
}
