//! Runs of the set core beside its functional model.

use gramer::Graph;
use gramer::accelerator::set::image::{SetImage, Words};
use gramer::accelerator::set::units::{Arrange, Operation, deal, units};
use gramer::engine::Units;
use gramer_machine::Accelerator;
use gramer_models::cliques as reference;
use gramer_sim::model::Model;
use gramer_sim::run::{DONE, Outcome, Simulation};
use gramer_sim::set::{Run, run};

/// A graph with operations, as clusters are sent it.
pub struct Bench<'a> {
    pub machine: &'a Accelerator,
    pub image: SetImage,
    pub streams: Vec<Vec<u8>>,
    pub wait: bool,
}

impl<'a> Bench<'a> {
    /// Units of all roots, dealt to the machine's clusters.
    pub fn new(
        machine: &'a Accelerator,
        graph: &Graph,
        operations: &[Operation],
        arrange: Arrange,
    ) -> Self {
        let view = graph.view();
        let lists = operations.iter().map(|o| o.lists()).max_by_key(|l| *l as u8).unwrap();
        let image = SetImage::new(view, lists, 1).unwrap();
        let clusters = machine.kernels.compute_units as usize;
        let work = units(view, &image, operations, Units::All);
        let dealt = deal(machine, operations, work, clusters, arrange);
        let wait = dealt[0].wait;
        Bench { machine, image, streams: dealt.iter().map(|s| s.whole()).collect(), wait }
    }

    /// Runs one stream.
    pub fn run(&self, core: &mut Model, stream: &[u8], load: bool, s: &Simulation) -> Outcome {
        let job = Run { image: self.image.bytes(), stream, load, wait: self.wait };
        run(self.machine, core, &job, s).unwrap()
    }

    /// Runs all streams, the first of which loads the image, and compares with the functional model.
    pub fn compare(&self, core: &mut Model, s: &Simulation, what: &str) -> Vec<Outcome> {
        let mut load = true;
        let mut outcomes = vec![];
        for stream in &self.streams {
            let outcome = self.run(core, stream, std::mem::take(&mut load), s);
            let wanted = reference::run(self.machine, self.image.words(), stream);
            assert_eq!(outcome.status, DONE, "{what}");
            assert_eq!(outcome.counts, wanted.values, "{what}");
            assert_eq!(outcome.saturated, wanted.saturated, "{what}");
            assert_eq!(outcome.next_unit, wanted.next_unit, "{what}");
            outcomes.push(outcome);
        }
        outcomes
    }
}
