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
use crate::set::plan::run::Runs;
use crate::set::units::InStream;

/// In-streams, one for each cluster, and the image that they are of.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// The image.
    pub image: &'a WedgeImage,
    /// The streams.
    pub streams: &'a [InStream],
}

/// A graph's image for wedges, built when it is first needed.
#[derive(Default)]
pub struct WedgeImages {
    image: Mutex<Option<WedgeImage>>,
}

impl WedgeImages {
    /// What `run` does with the image; `None` for a graph that has no room on the machine in this form.
    ///
    /// # Errors
    /// Errors of `run`, and those of building the image but for room.
    pub fn with<T>(
        &self,
        machine: &Accelerator,
        view: View<'_>,
        run: impl FnOnce(&WedgeImage) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut image = self.image.lock().unwrap_or_else(PoisonError::into_inner);
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
        run(image).map(Some)
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
    let begun = Instant::now();
    let (machine, clusters) = (runs.machine().clone(), runs.clusters());
    images.with(&machine, view, |image| {
        let work = units(&machine, view, Units::All, image, shape);
        let streams = deal(&machine, shape, work, clusters);
        runs.note_preparation(begun.elapsed());
        let (total, complete) = runs.sums(&Job { image, streams: &streams })?;
        // What is too much is known when all roots have been.
        Ok((if complete { shape.occurrences(&total) } else { 0 }, complete))
    })
}
