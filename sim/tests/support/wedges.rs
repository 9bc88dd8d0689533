//! What tests of the operations over the image for wedges have in common: graphs, and runs beside the functional model's.

use gramer::accelerator::set::image::Words;
use gramer::accelerator::set::sums::Total;
use gramer::accelerator::set::units::PlacedUnit;
use gramer::accelerator::set::wedges::image::WedgeImage;
use gramer::graph::read::{ReadOptions, read_graph};
use gramer::{Context, Graph};
use gramer_machine::Accelerator;
use gramer_machine::named::named;
use gramer_machine::set::LAST_ALL;
use gramer_models::Sums;
use gramer_sim::model::Model;
use gramer_sim::run::{ABORTED, DONE, Outcome, Simulation};
use gramer_sim::set::{Run, run};

use crate::support::{held, library};
use gramer_testing::environment;
use gramer_testing::graphs::{self, ranked};

/// The smallest machine with these operations, and a model of it if there is one.
pub fn small() -> Option<(Accelerator, Model)> {
    let machine = named("set-small").unwrap().unwrap();
    let core = Model::load(&library(&machine)?).unwrap();
    Some((machine, core))
}

/// A graph of these edges, by rank.
pub fn graph(edges: impl Iterator<Item = (u64, u64)>) -> Graph {
    ranked(&graphs::graph(edges))
}

/// Some vertices are next to most others, the rest to some.
pub fn random(seed: u64, vertices: u64, per_cent: u32, hubs: u64) -> Graph {
    let mut rng = fastrand::Rng::with_seed(seed);
    ranked(&graphs::pairs(vertices, |_, v| rng.u32(0..100) < if v < hubs { 60 } else { per_cent }))
}

/// Two hubs with leaves in common, of which some are neighbours.
pub fn hubs(leaves: u64) -> Graph {
    let first = (2..leaves + 2).map(|v| (0, v));
    let second = (2..leaves + 2).filter(|v| v % 3 != 1).map(|v| (1, v));
    let others = (2..leaves + 1).filter(|v| v % 7 < 3).map(|v| (v, v + 1));
    graph(first.chain(second).chain(others))
}

/// A real graph by its file, if the data are at hand.
pub fn real(file: &str) -> Option<Graph> {
    let path = environment::data()?.join(file);
    let context = Context::with_threads(1);
    let read = read_graph(&path, &ReadOptions::default(), &context).unwrap();
    Some(ranked(&read))
}

/// The functional model of an operation: machine, image and stream to sums.
pub type Reference = fn(&Accelerator, &[u32], &[u8]) -> Sums;

/// A graph, as clusters are sent it.
pub struct Bench<'a> {
    pub machine: &'a Accelerator,
    pub image: WedgeImage,
    pub streams: Vec<Vec<u8>>,
    /// Units that are a part of a root.
    pub parts: usize,
    reference: Reference,
}

impl<'a> Bench<'a> {
    /// With the units that `deal` gives, and their streams.
    pub fn new(
        machine: &'a Accelerator,
        graph: &Graph,
        reference: Reference,
        deal: impl FnOnce(&WedgeImage) -> (Vec<PlacedUnit>, Vec<Vec<u8>>),
    ) -> Self {
        let image = WedgeImage::new(graph.view()).unwrap();
        let (units, streams) = deal(&image);
        let parts = units.iter().filter(|unit| unit.first > 0 || unit.last < LAST_ALL).count();
        Bench { machine, image, streams, parts, reference }
    }

    pub fn run(&self, core: &mut Model, stream: &[u8], load: bool, s: &Simulation) -> Outcome {
        let job = Run { image: self.image.bytes(), stream, load, wait: true };
        run(self.machine, core, &job, s).unwrap()
    }

    /// Runs all streams, the first of which loads the image, and compares with the functional model: the sums.
    pub fn compare(&self, core: &mut Model, s: &Simulation, what: &str) -> Total {
        let mut total = Total::default();
        let mut load = true;
        for stream in &self.streams {
            let outcome = self.run(core, stream, std::mem::take(&mut load), s);
            let wanted = (self.reference)(self.machine, self.image.words(), stream);
            assert_eq!(outcome.status, DONE, "{what}");
            assert_eq!(outcome.counts, wanted.values, "{what}");
            assert_eq!(outcome.saturated, wanted.saturated, "{what}");
            assert_eq!(outcome.next_unit, wanted.next_unit, "{what}");
            add(&mut total, &outcome.counts);
        }
        total
    }

    /// A run of the first stream that is stopped has the sums of the units before, and leaves the core as it was.
    pub fn stops(&self, core: &mut Model) {
        let cycles = self.run(core, &self.streams[0], true, &held(self.machine, 0)).cycles;
        let mut stopped = 0;
        for (at, word) in (0..6).map(|i| (100 + cycles * i / 6, 1 + i as u32 % 2)) {
            let simulation = Simulation { abort: Some((at, word)), ..held(self.machine, at) };
            let outcome = self.run(core, &self.streams[0], true, &simulation);
            if outcome.status == ABORTED && word == 1 {
                let mut part = self.streams[0].clone();
                part[64 + outcome.next_unit as usize * 8..].fill(0);
                let wanted = (self.reference)(self.machine, self.image.words(), &part);
                assert_eq!(outcome.counts, wanted.values, "stopped in cycle {at}");
            }
            stopped += u32::from(outcome.status == ABORTED);
            self.compare(core, &held(self.machine, at), "after a run that was stopped");
        }
        assert!(stopped >= 3, "{stopped} runs were stopped");
    }
}

/// Adds sums of a run to a total.
pub fn add(total: &mut Total, values: &[u64]) {
    total.iter_mut().zip(values).for_each(|(sum, &own)| *sum += u128::from(own));
}
