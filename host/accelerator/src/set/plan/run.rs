//! Search plans on a graph: images, runners and runs.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::set::image::Words;
use gramer_base::error::{Error, Result};
use gramer_engine::Units;
use gramer_graph::{VertexId, View};
use gramer_machine::Accelerator;
use gramer_machine::set::{LINE_QUARTERS, PADDING};
use gramer_pattern::MAX_VERTICES;

use super::image::{Order, PlanImage};
use super::units::{deal, units_of, walkers};
use super::words::Program;
use crate::set::kept::KeptStreams;
use crate::set::sums::Total;
use crate::set::tasks::unsupported;
use crate::set::units::Streams;
use crate::set::wedges::run::{Job as WedgeJob, WedgeImages};
use crate::stream::{Record, RecordSink};

/// In-streams with a search plan, one for each cluster, and the image that they are of.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The image, and the order of its vertices, which tells a graph's two images apart.
    pub image: (&'a PlanImage, Order),
    /// The streams.
    pub streams: &'a Streams,
}

/// What the host made for a job; the rest was there from an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Made {
    /// The image.
    pub image: bool,
    /// The streams.
    pub streams: bool,
}

/// Runner of in-streams: devices, or a model of the core.
pub trait Runs {
    /// The machine.
    fn machine(&self) -> &Accelerator;

    /// How many clusters it has.
    fn clusters(&self) -> usize;

    /// Counts: the sum of all clusters, and whether all of it was counted.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Unsupported`] for sets without room, [`Error::Interrupted`].
    fn count(&mut self, job: &Job<'_>) -> Result<(u128, bool)>;

    /// Lists embeddings of this many vertices, of which `enough` are wanted, or all: how many came, and whether these
    /// are all.
    ///
    /// # Errors
    /// As [`Runs::count`], and those of `take`.
    fn list(
        &mut self,
        job: &Job<'_>,
        vertices: u32,
        enough: Option<u64>,
        take: &RecordSink<'_>,
    ) -> Result<(u128, bool)>;

    /// Counts houses or 5-cycles: the sums of all clusters, and whether they are of all units.
    ///
    /// # Errors
    /// [`Error::Device`], [`Error::Interrupted`].
    fn sums(&mut self, job: &WedgeJob<'_>) -> Result<(Total, bool)>;

    /// Hears how long it took to make a job, and what of it was made.
    fn note_preparation(&mut self, _took: Duration, _made: Made) {}
}

/// An image with the vertices of its quarter-lines, for lists.
struct PlacedImage {
    image: PlanImage,
    vertices: OnceLock<Vec<VertexId>>,
}

/// What streams of a plan from all roots are of.
#[derive(PartialEq)]
struct StreamKey {
    machine: String,
    clusters: usize,
    program: Program,
}

/// A graph's images in the view's order and in that of labels, each built when a plan first needs it, and that for wedges.
#[derive(Default)]
pub struct PlanImages {
    images: Mutex<[Option<PlacedImage>; 2]>,
    streams: KeptStreams<StreamKey>,
    /// For houses and 5-cycles.
    pub wedges: WedgeImages,
}

/// Input of a plan: a graph, its images, and the roots that count.
#[derive(Clone, Copy)]
pub struct PlanInput<'a> {
    /// The graph.
    pub view: View<'a>,
    /// Its images.
    pub images: &'a PlanImages,
    /// The roots.
    pub roots: Units<'a>,
    /// True if a vertex may be the root of an embedding; others may be left out.
    pub may: Option<&'a (dyn Fn(VertexId) -> bool + Sync)>,
}

impl PlanInput<'_> {
    /// Counts with a plan's words; the sum wants [`Program::occurrences`] or [`Program::mappings`].
    ///
    /// # Errors
    /// As [`Runs::count`]; [`Error::Unsupported`] for a graph without room.
    pub fn count(&self, runs: &mut dyn Runs, program: &Program) -> Result<(u128, bool)> {
        self.with(runs, program, |runs, job, _| runs.count(job))
    }

    /// Lists with a plan's words; `take` gets the graph's vertices in the order of the pattern's.
    ///
    /// # Errors
    /// As [`Runs::list`]; [`Error::Unsupported`] for a graph without room, [`Error::Device`] for records of no vertex.
    pub fn list(
        &self,
        runs: &mut dyn Runs,
        program: &Program,
        enough: Option<u64>,
        take: &(dyn Fn(&[VertexId]) -> bool + Sync),
    ) -> Result<(u128, bool)> {
        let order = program.listed();
        self.with(runs, program, |runs, job, placed| {
            let of = placed.vertices.get_or_init(|| placed.image.vertices());
            let take = |record: &Record| {
                let mut vertices = [0; MAX_VERTICES];
                for (&at, &id) in order.iter().zip(&record.vertices) {
                    let vertex = of.get(id as usize).filter(|&&v| v != PADDING);
                    vertices[at] = *vertex.ok_or_else(|| {
                        Error::Device(format!("the core listed the id {id}, which no vertex has"))
                    })?;
                }
                Ok(take(&vertices[..order.len()]))
            };
            runs.list(job, order.len() as u32, enough, &take)
        })
    }

    fn with<T>(
        &self,
        runs: &mut dyn Runs,
        program: &Program,
        run: impl FnOnce(&mut dyn Runs, &Job<'_>, &PlacedImage) -> Result<T>,
    ) -> Result<T> {
        let begun = Instant::now();
        let (machine, clusters) = (runs.machine().clone(), runs.clusters());
        let mut images = self.images.images.lock().unwrap_or_else(PoisonError::into_inner);
        let order = program.order();
        let built = images[order as usize].is_none();
        let placed = match &mut images[order as usize] {
            Some(placed) => placed,
            none => {
                let image = PlanImage::new(self.view, order)?;
                none.insert(PlacedImage { image, vertices: OnceLock::new() })
            }
        };
        let image = &placed.image;
        if image.lines() > machine.set_quarters() / LINE_QUARTERS {
            let what = format!(
                "has {} KiB of memory for a graph in each cluster, and patterns need all of it there: {} KiB",
                machine.set_quarters() / 64,
                image.bytes().len().div_ceil(1024)
            );
            return Err(unsupported(&machine, &what));
        }
        let may = |v| self.may.is_none_or(|may| may(v));
        let make = || {
            let walkers = walkers(&machine, clusters);
            let work = units_of(self.view, (self.roots, &may), image, program, walkers);
            deal(&machine, (program, image), work, clusters)
        };
        let (streams, new) = match (self.roots.share(), self.may) {
            (None, None) => {
                let (machine, program) = (machine.machine.name.clone(), program.clone());
                let key = StreamKey { machine, clusters, program };
                self.images.streams.get(key, make)
            }
            _ => (Arc::new(make()), true),
        };
        runs.note_preparation(begun.elapsed(), Made { image: built, streams: new });
        run(runs, &Job { image: (image, order), streams: &streams }, placed)
    }
}
