//! Search plans on the devices of a session.

use std::sync::Arc;
use std::time::Duration;

use crate::set::image::Words;
use gramer_base::context::Context;
use gramer_base::error::Result;
use gramer_machine::Accelerator;

use super::listing::Listing;
use super::{OnImage, Session};
use crate::set::numbers::SUM_EMBEDDINGS;
use crate::set::plan::run::{Job, Made, Runs};
use crate::set::sums::Total;
use crate::set::units::Streams;
use crate::set::wedges::run::Job as WedgeJob;
use crate::settings::Settings;
use crate::stream::RecordSink;

/// Devices, with the data shared by a task's runs.
pub(crate) struct SessionRunner<'a> {
    pub session: &'a mut Session,
    pub settings: &'a Settings,
    /// Tell a graph's images from others, by their order, then that for wedges.
    pub numbers: [u64; 3],
    pub context: &'a Context,
}

impl Runs for SessionRunner<'_> {
    fn machine(&self) -> &Accelerator {
        self.session.machine()
    }

    fn clusters(&self) -> usize {
        self.session.compute_units()
    }

    fn count(&mut self, job: &Job<'_>) -> Result<(u128, bool)> {
        let (image, order) = job.image;
        let (total, complete) = self.launch(image, self.numbers[order as usize], job.streams)?;
        Ok((total[SUM_EMBEDDINGS], complete))
    }

    fn list(
        &mut self,
        job: &Job<'_>,
        vertices: u32,
        enough: Option<u64>,
        take: &RecordSink<'_>,
    ) -> Result<(u128, bool)> {
        let (image, order) = job.image;
        let number = self.numbers[order as usize];
        self.session.load_image(image.bytes(), number, self.context)?;
        let image = (number, image.lines());
        let listing = Listing { streams: job.streams, image, vertices, enough };
        let listed = self.session.list_streams(&listing, self.settings, take, self.context)?;
        Ok((listed.count, listed.complete))
    }

    fn sums(&mut self, job: &WedgeJob<'_>) -> Result<(Total, bool)> {
        self.launch(job.image, self.numbers[2], job.streams)
    }

    fn note_preparation(&mut self, took: Duration, made: Made) {
        self.session.note_preparation(took);
        self.session.residency.images_built += u64::from(made.image);
        self.session.residency.streams_built += u64::from(made.streams);
    }
}

impl SessionRunner<'_> {
    /// One launch over an image.
    fn launch(
        &mut self,
        image: &dyn Words,
        number: u64,
        streams: &Streams,
    ) -> Result<(Total, bool)> {
        let (session, context) = (&mut *self.session, self.context);
        session.load_image(image.bytes(), number, context)?;
        let on = OnImage { number, lines: image.lines() };
        let limit = self.settings.time_limit.map(Duration::from_secs);
        let one = std::iter::once(Ok(Arc::clone(streams)));
        let mut found = (Total::default(), false);
        session.run_launches(one, on, limit, context, &mut |totals| {
            found = (totals.total, totals.complete);
            true
        })?;
        Ok(found)
    }
}
