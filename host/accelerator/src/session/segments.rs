//! Segments of a graph on the set core: each compute unit runs the segments of its roots one after the other, each with
//! its image.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::set::image::Words;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_machine::Accelerator;

use super::compute_unit::{ComputeUnit, Execution};
use super::set::{StreamJob, UnitTotals, room_for};
use super::stop::Stop;
use super::units::{Place, on_units};
use super::{Session, add};
use crate::set::segments::{Segment, Segments};
use crate::set::sums::{Total, total_of};
use crate::set::units::{Arrange, deal};
use crate::stream::{Area, Results, Status};

/// What a compute unit found, and what was measured.
struct Part {
    summed: UnitTotals,
    counters: BTreeMap<String, Vec<u64>>,
    /// Segments that were run, and their lines.
    segments: (u64, u64),
    preparation: Duration,
}

/// What the threads of all compute units share.
struct Job<'a> {
    machine: &'a Accelerator,
    stop: Stop<'a>,
    context: &'a Context,
    /// Makes numbers that tell images from all others.
    number: fn() -> u64,
}

impl Session {
    /// Runs segments on all compute units: each has its entry of `parts`, one of which follows the other. None waits
    /// for another. What was found before the run is stopped counts.
    ///
    /// # Errors
    /// Errors of cutting a graph; [`Error::Device`] for what the runtime refuses and what no core should
    /// answer; [`Error::Unsupported`] if a bank is too small or a sum doesn't fit into the core's counts.
    pub(crate) fn run_segments(
        &mut self,
        parts: Vec<Vec<Segments<'_>>>,
        number: fn() -> u64,
        time_limit: Option<Duration>,
        context: &Context,
    ) -> Result<UnitTotals> {
        self.threads = true;
        // Their banks get other images.
        self.loaded = None;
        self.cards.iter_mut().for_each(|card| card.graph.clear());
        // If a thread panics, kernels may run on: the buffers that they use stay.
        let broken = std::mem::replace(&mut self.broken, true);
        let stop = Stop { cancel: &context.cancel, raised: AtomicBool::new(false), time_limit };
        let job = Job { machine: &self.machine, stop, context, number };
        let outcomes = on_units(&mut self.cards, parts, &job.stop, |unit, place, own| {
            unit.run_segments(&job, place, own)
        });
        let failed = |outcome: &Result<Part>| matches!(outcome, Err(Error::Device(_)));
        self.broken = broken || outcomes.iter().any(failed);
        let mut summed = UnitTotals { total: Total::default(), complete: true };
        let mut longest = Duration::ZERO;
        for part in outcomes {
            let part = part?;
            self.runs += part.segments.0;
            self.segments.0 += part.segments.0;
            self.segments.1 += part.segments.1;
            longest = longest.max(part.preparation);
            add(&mut self.counters, &part.counters);
            summed.complete &= part.summed.complete;
            summed.total.iter_mut().zip(part.summed.total).for_each(|(sum, own)| *sum += own);
        }
        self.preparation += longest;
        Ok(summed)
    }
}

impl ComputeUnit {
    /// Runs segment after segment.
    fn run_segments(
        &mut self,
        job: &Job<'_>,
        place: Place<'_>,
        parts: Vec<Segments<'_>>,
    ) -> Result<Part> {
        let mut part = Part {
            summed: UnitTotals { total: Total::default(), complete: true },
            counters: BTreeMap::new(),
            segments: (0, 0),
            preparation: Duration::ZERO,
        };
        for mut segments in parts {
            let mut left = segments.roots_left();
            loop {
                if job.stop.asked() {
                    part.summed.complete &= segments.is_done();
                    break;
                }
                let begun = Instant::now();
                let segment = segments.next()?;
                part.preparation += begun.elapsed();
                let Some(segment) = segment else { break };
                let results = self.run_segment(job, place, &segment, &mut part.preparation)?;
                part.segments.0 += 1;
                part.segments.1 += u64::from(segment.image.lines());
                add(&mut part.counters, &results.counters);
                segment.add(&mut part.summed.total, &total_of(&results.counts));
                if results.status != Status::Done {
                    part.summed.complete = false;
                    return Ok(part);
                }
                let after = segments.roots_left();
                job.context.progress.add((left - after) as u64);
                left = after;
            }
        }
        Ok(part)
    }

    fn run_segment(
        &mut self,
        job: &Job<'_>,
        place: Place<'_>,
        segment: &Segment,
        preparation: &mut Duration,
    ) -> Result<Results> {
        let begun = Instant::now();
        let (image, operations) = (&segment.image, &segment.operations);
        let units = segment.units.clone();
        let stream = &deal(job.machine, operations, units, 1, Arrange::ByAddress)[0];
        *preparation += begun.elapsed();
        room_for(job.machine, image.bytes().len() as u64)?;
        let buffers = self.take_image(image.bytes(), job.machine.core_ports(), place)?;
        let (number, lines) = ((job.number)(), image.lines());
        let of_stream = StreamJob { stream, number, lines, place };
        let (machine, patterns) = (job.machine, job.machine.set_sums());
        let run = Execution { machine, stop: &job.stop, patterns, k: 0, list: false };
        let area = Area::new(machine, patterns, 0);
        let results = self.run_stream(&run, &of_stream, &area);
        self.on_chip = None; // no later run has this image
        if results.is_err() {
            // Pending commands may still read it.
            std::mem::forget(buffers);
        }
        results
    }
}
