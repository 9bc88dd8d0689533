//! Houses and 5-cycles of a graph, on devices or on a model of the core.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::set::image::Words;
use gramer_base::error::{Error, Result};
use gramer_engine::Units;
use gramer_graph::View;
use gramer_machine::Accelerator;
use gramer_machine::set::LINE_QUARTERS;

use super::Shape;
use super::image::WedgeImage;
use super::units::{deal, units};
use crate::set::kept::KeptStreams;
use crate::set::plan::run::{Made, Runs};
use crate::set::sums::Total;
use crate::set::units::{InStream, Streams};

/// In-streams, one for each cluster, and the image that they are of.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The image.
    pub image: &'a WedgeImage,
    /// The streams.
    pub streams: &'a Streams,
}

/// A graph's image for wedges, built when it is first needed.
#[derive(Default)]
pub struct WedgeImages {
    image: Mutex<Option<WedgeImage>>,
    streams: KeptStreams<StreamKey>,
}

/// What streams of all roots are of.
#[derive(PartialEq)]
struct StreamKey {
    machine: String,
    clusters: usize,
    /// `None`: 5-motifs.
    shape: Option<Shape>,
}

impl WedgeImages {
    /// What `run` does with the image, of which it hears whether it was built now; `None` for a graph that has no room on the machine in this form.
    ///
    /// # Errors
    /// Errors of `run`, and those of building the image but for room.
    pub fn with<T>(
        &self,
        machine: &Accelerator,
        view: View<'_>,
        run: impl FnOnce(&WedgeImage, bool) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut image = self.image.lock().unwrap_or_else(PoisonError::into_inner);
        let built = image.is_none();
        let image = match &mut *image {
            Some(image) => image,
            none => match WedgeImage::new(view) {
                Ok(made) => none.insert(made),
                Err(Error::Unsupported(_)) => return Ok(None),
                Err(other) => return Err(other),
            },
        };
        if image.lines() > machine.set_quarters() / LINE_QUARTERS {
            return Ok(None);
        }
        run(image, built).map(Some)
    }

    /// Runs the streams of a shape, or of 5-motifs, which `make` makes if they are not kept: the sums of all clusters, and
    /// whether they are of all units. `None` for a graph that has no room.
    ///
    /// # Errors
    /// As [`Runs::sums`].
    pub(crate) fn sums(
        &self,
        runs: &mut dyn Runs,
        view: View<'_>,
        shape: Option<Shape>,
        make: impl FnOnce(&Accelerator, &WedgeImage, usize) -> Vec<InStream>,
    ) -> Result<Option<(Total, bool)>> {
        let begun = Instant::now();
        let (machine, clusters) = (runs.machine().clone(), runs.clusters());
        self.with(&machine, view, |image, built| {
            let key = StreamKey { machine: machine.machine.name.clone(), clusters, shape };
            let (streams, new) = self.streams.get(key, || make(&machine, image, clusters));
            runs.note_preparation(begun.elapsed(), Made { image: built, streams: new });
            runs.sums(&Job { image, streams: &streams })
        })
    }
}

/// Counts the occurrences of a shape from all roots, and whether all of them were counted; `None` for a graph that has
/// no room in this form, which a search plan may have room for.
///
/// # Errors
/// As [`Runs::sums`].
pub fn count(
    runs: &mut dyn Runs,
    (view, images): (View<'_>, &WedgeImages),
    shape: Shape,
) -> Result<Option<(u128, bool)>> {
    let found = images.sums(runs, view, Some(shape), |machine, image, clusters| {
        let work = units(machine, view, Units::All, image, shape);
        deal(machine, shape, work, clusters)
    })?;
    // What is too much is known when all roots have been.
    let count = |(total, complete): (Total, bool)| match complete {
        true => (shape.occurrences(&total), true),
        false => (0, false),
    };
    Ok(found.map(count))
}
