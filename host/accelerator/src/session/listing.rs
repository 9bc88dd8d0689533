//! Listing by a search plan on the set core: records are taken from a compute unit's result area, and unfinished units
//! are sent again until none is left.
//!
//! A run whose area is half full hands out no more units and ends with those in progress: their records are complete,
//! and the rest continues in the next run. If even those have no room, the run's records are dropped and fewer units are
//! sent, in the end parts of one, or one with a larger area.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_machine::Accelerator;
use gramer_machine::set::RECORD_NARROW;

use super::compute_unit::{ComputeUnit, Execution};
use super::pass::record_beats;
use super::pending::{PendingUnits, UNIT};
use super::set::{StreamJob, no_room_for_sets};
use super::stop::Stop;
use super::units::{Place, on_units};
use super::{Session, add};
use crate::set::numbers::SUM_EMBEDDINGS;
use crate::set::plan::units::fewer_walkers;
use crate::set::units::InStream;
use crate::settings::Settings;
use crate::stream::{Area, RecordSink, Results, Status};

/// An area that is too small for one unit grows by this factor.
const GROWTH: u32 = 4;

/// What is listed.
pub(crate) struct Listing<'a> {
    /// For each compute unit.
    pub streams: &'a [InStream],
    /// The image's number, and its lines.
    pub image: (u64, u32),
    /// Vertices of an embedding.
    pub vertices: u32,
    /// Number of embeddings that are enough.
    pub enough: Option<u64>,
}

/// Number of listed embeddings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListingEnd {
    /// Embeddings.
    pub count: u128,
    /// Whether these are all.
    pub complete: bool,
}

impl Session {
    /// Runs the streams, one on each compute unit, over the image that [`Session::load_image`] put there, and hands
    /// each record to `take`, until that has enough.
    ///
    /// # Errors
    /// [`Error::Device`] if the runtime refuses or the answer is invalid; [`Error::Unsupported`] for sets
    /// without room; those of `take`.
    pub(crate) fn list_streams(
        &mut self,
        listing: &Listing<'_>,
        settings: &Settings,
        take: &RecordSink<'_>,
        context: &Context,
    ) -> Result<ListingEnd> {
        // If a thread panics, kernels may run on: the buffers that they use stay.
        let broken = std::mem::replace(&mut self.broken, true);
        let outcome = self.list_all(listing, settings, take, context);
        self.broken = broken || matches!(outcome, Err(Error::Device(_)));
        outcome
    }

    fn list_all(
        &mut self,
        listing: &Listing<'_>,
        settings: &Settings,
        take: &RecordSink<'_>,
        context: &Context,
    ) -> Result<ListingEnd> {
        self.threads = true;
        self.residency.images_loaded += u64::from(!self.is_on_chip(listing.image.0));
        let machine = &self.machine;
        let beats = record_beats(machine, settings, listing.enough).max(1); // so that it can grow
        let time_limit = settings.time_limit.map(Duration::from_secs);
        let stop = Stop { cancel: &context.cancel, raised: AtomicBool::new(false), time_limit };
        let places: usize = listing.streams.iter().map(|s| s.units.len() / UNIT).sum();
        context.progress.begin(places as u64);
        let shared = SharedListing { machine, listing, stop, take, context };
        let outcomes =
            on_units(&mut self.cards, listing.streams, &shared.stop, |unit, place, stream| {
                shared.list(unit, place, stream, beats)
            });
        let mut listed = ListingEnd { count: 0, complete: true };
        for own in outcomes {
            let own = own?;
            self.runs += own.runs;
            add(&mut self.counters, &own.counters);
            listed.count += own.listed.count;
            listed.complete &= own.listed.complete;
        }
        Ok(listed)
    }
}

/// State shared by the threads of the compute units.
struct SharedListing<'a> {
    machine: &'a Accelerator,
    listing: &'a Listing<'a>,
    stop: Stop<'a>,
    take: &'a RecordSink<'a>,
    context: &'a Context,
}

/// Result of one compute unit.
struct UnitListing {
    listed: ListingEnd,
    runs: u64,
    counters: BTreeMap<String, Vec<u64>>,
}

impl SharedListing<'_> {
    /// Sends the units of a stream, as many at a time as have room, until none is left.
    fn list(
        &self,
        unit: &mut ComputeUnit,
        place: Place<'_>,
        stream: &InStream,
        beats: u32,
    ) -> Result<UnitListing> {
        let (machine, listing, name) = (self.machine, self.listing, place.name);
        let mut area = Area::new(machine, machine.set_sums(), beats);
        let run = Execution {
            machine,
            stop: &self.stop,
            patterns: machine.set_sums(),
            k: listing.vertices,
            list: true,
        };
        let listed = ListingEnd { count: 0, complete: true };
        let mut own = UnitListing { listed, runs: 0, counters: BTreeMap::new() };
        let (mut pending, mut head) = (PendingUnits::new(&stream.units), stream.head.clone());
        while let Some(units) = pending.next() {
            if self.stop.asked() {
                own.listed.complete = false;
                return Ok(own);
            }
            let part = InStream { head: head.clone(), units, wait: stream.wait };
            let (number, lines) = listing.image;
            let job = StreamJob { stream: &part, number, lines, place };
            let (results, _) = unit.send_stream(&run, &job, &area)?;
            own.runs += 1;
            add(&mut own.counters, &results.counters);
            self.keep(name, &results, &mut own.listed)?;
            let before = pending.left();
            match results.status {
                Status::Full if results.next_unit == 0 => {
                    let records = results.records.len() + results.unfinished.len();
                    let a_beat = if listing.vertices > RECORD_NARROW { 1 } else { 2 };
                    if records.div_ceil(a_beat) < area.records as usize {
                        // With more room for each of fewer walkers they begin again.
                        if !fewer_walkers(machine, &mut head) {
                            return Err(no_room_for_sets(machine));
                        }
                        unit.retries += 1;
                    } else if !pending.fewer(machine) {
                        area.records = area.records.checked_mul(GROWTH).ok_or_else(|| {
                            Error::Device(format!("{name}: no result area is large enough"))
                        })?;
                    }
                }
                Status::Done => pending.done(usize::MAX),
                _ => pending.done(results.next_unit as usize),
            }
            self.context.progress.add(before.saturating_sub(pending.left()) as u64);
            if results.status == Status::Aborted {
                own.listed.complete = false;
                return Ok(own);
            }
        }
        Ok(own)
    }

    /// Hands on the records of a run that are whole, or all where these are enough: then nothing is done again,
    /// and none is listed twice.
    fn keep(&self, name: &str, results: &Results, listed: &mut ListingEnd) -> Result<()> {
        let sum = results.counts[SUM_EMBEDDINGS];
        if results.status == Status::Done && sum != results.records.len() as u64 {
            return Err(Error::Device(format!(
                "{name}: the core counted {sum} embeddings, but listed {}",
                results.records.len()
            )));
        }
        let all = results.records.len() + results.unfinished.len();
        let rest = match self.listing.enough {
            Some(enough) if all as u64 >= enough => &results.unfinished[..],
            _ => &[],
        };
        for record in results.records.iter().chain(rest) {
            listed.count += 1;
            if !(self.take)(record)? {
                self.stop.raised.store(true, Ordering::Relaxed);
                break;
            }
        }
        if self.stop.raised.load(Ordering::Relaxed) {
            listed.complete = false;
        }
        Ok(())
    }
}
