//! Runs of the set core: each compute unit has its own image and stream.

use std::borrow::Cow;

use gramer_machine::Accelerator;

use super::Session;
use super::compute_unit::{ComputeUnit, Execution};
use super::places::{CORE, FILL};
use super::stop::STOP_AT_ONCE;
use super::transfer::{buffer, failed, size, write};
use super::units::Place;
use crate::image::LINE;
use crate::set::plan::units::{self, fewer_walkers};
use crate::set::sums::Total;
use crate::set::units::InStream;
use crate::stream::{Area, Results, Status};
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use opencl3::memory::{Buffer, ClMem};

/// Bit 0 of the core's flags.
const WAIT: u64 = 1;

/// Sums of all compute units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTotals {
    /// The sums of all of them.
    pub total: Total,
    /// Whether every unit was explored; the sums are of those that were.
    pub complete: bool,
}

impl Session {
    /// Puts the image with this number into the bank of every compute unit, unless it is there. The transfer
    /// is one of the task that has begun.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a bank is too small, [`Error::Interrupted`].
    pub fn load_image(&mut self, image: &[u8], number: u64, context: &Context) -> Result<()> {
        if self.loaded == Some(number) {
            return Ok(());
        }
        self.loaded = None;
        let channels = self.machine.core_ports();
        room_for(&self.machine, image.len() as u64)?;
        for card in self.cards.iter_mut() {
            card.graph.clear();
            let (name, cl, places) = (&*card.name, &card.context, &*card.places);
            for (at, unit) in (0..).zip(&mut card.units) {
                context.cancel.check()?;
                card.graph.extend(unit.take_image(
                    image,
                    channels,
                    Place { at, name, cl, places },
                )?);
            }
        }
        self.residency.images_written += 1;
        self.loaded = Some(number);
        Ok(())
    }

    /// Whether every compute unit has the image with this number on chip, from an earlier run.
    pub fn is_on_chip(&self, number: u64) -> bool {
        let mut units = self.cards.iter().flat_map(|card| &card.units);
        units.all(|unit| unit.on_chip == Some(number))
    }
}

/// What one compute unit does.
pub(super) struct StreamJob<'a> {
    pub(super) stream: &'a InStream,
    /// The image's number, and its lines.
    pub(super) number: u64,
    pub(super) lines: u32,
    pub(super) place: Place<'a>,
}

impl ComputeUnit {
    /// Puts an image into the banks of the unit's channels, as the one that its kernel reads: line n into that of
    /// channel n mod `channels`.
    pub(super) fn take_image(
        &mut self,
        image: &[u8],
        channels: u32,
        place: Place<'_>,
    ) -> Result<Vec<Buffer<u8>>> {
        let Place { at, name, cl, places } = place;
        self.on_chip = None;
        let mut buffers = vec![];
        for channel in 0..channels {
            let bank = format!("bank{channel}");
            let memory = places.memory_of(CORE, at, &bank)?;
            let part = part(image, channel as usize, channels as usize);
            let bytes = part.len() as u64;
            let mut to = buffer(cl, &self.transfer, name, bytes, memory, places)?;
            self.set(places, CORE, &bank, &to.get(), name)?;
            write(&self.transfer, &mut to, 0, &part, &mut self.moved)
                .map_err(|e| failed(name, "writing the graph", e))?;
            buffers.push(to);
        }
        Ok(buffers)
    }

    /// Runs a stream, again with fewer walkers where their sets have no room.
    pub(super) fn run_stream(
        &mut self,
        run: &Execution<'_>,
        job: &StreamJob<'_>,
        area: &Area,
    ) -> Result<Results> {
        let mut stream = job.stream.clone();
        let (mut results, told) = loop {
            let job = StreamJob { stream: &stream, ..*job };
            let (results, told) = self.send_stream(run, &job, area)?;
            // Nothing was found that counts: with more room for each of fewer walkers it begins again.
            if results.status != Status::Full || !fewer_walkers(run.machine, &mut stream.head) {
                break (results, told);
            }
            self.retries += 1;
        };
        valid(&mut results, told, &stream.head, run.machine, job.place.name)?;
        Ok(results)
    }

    /// Runs a stream over an image that is loaded first unless it is there. Also gives the word that was left at
    /// the abort address.
    pub(super) fn send_stream(
        &mut self,
        run: &Execution<'_>,
        job: &StreamJob<'_>,
        area: &Area,
    ) -> Result<(Results, u32)> {
        let Place { at, name, cl, places } = job.place;
        let here = self.on_chip.replace(job.number) == Some(job.number);
        let memory = places.memory_of(FILL, at, "head")?;
        let head = &job.stream.head;
        let mut to = buffer(cl, &self.transfer, name, head.len() as u64, memory, places)?;
        self.reserve_result(area, run.machine, name, cl, places)?;
        self.set(places, FILL, "head", &to.get(), name)?;
        self.set(places, FILL, "head_beats", &((head.len() / LINE) as u32), name)?;
        self.set(places, FILL, "units_first", &0u32, name)?;
        let lines = if here { 0 } else { job.lines };
        self.set_core(run.machine, job.stream.wait, lines, job.place)?;
        write(&self.transfer, &mut to, 0, head, &mut self.moved)
            .map_err(|e| failed(name, "writing the header", e))?;
        let outcome = self.execute(run, name, cl, places, &job.stream.units, area);
        if !matches!(&outcome, Ok((results, _)) if is_whole(here, results.status, job.stream.wait))
        {
            self.on_chip = None;
        }
        let (results, told) = outcome?;
        match results.failure(run.machine) {
            Some(failure) => Err(Error::Device(format!("{name}: {failure}"))),
            None => Ok((results, told)),
        }
    }

    /// Sets the core's arguments for a stream over the image in the unit's bank, of which `lines` are loaded.
    pub(super) fn set_core(
        &self,
        machine: &Accelerator,
        wait: bool,
        lines: u32,
        place: Place<'_>,
    ) -> Result<()> {
        let Place { name, places, .. } = place;
        for argument in &machine.arguments {
            let value = match argument.name.as_str() {
                "flags" if wait => WAIT,
                "flags" => 0,
                "image_lines" => lines.into(),
                "abort" => {
                    let abort = self.abort.get();
                    self.set(places, CORE, "abort", &abort, name)?;
                    continue;
                }
                bank if bank.starts_with("bank") => continue, // since the image was put there
                "result_beats" => continue,                   // with the result area
                other => {
                    return Err(Error::Device(format!(
                        "{name}: this program doesn't know the core's argument `{other}`; build the \
                         xclbin again with this version"
                    )));
                }
            };
            self.set_scalar(places, CORE, argument, value, name)?;
        }
        Ok(())
    }
}

/// The lines of an image that a channel has.
fn part(image: &[u8], channel: usize, channels: usize) -> Cow<'_, [u8]> {
    match channels {
        1 => image.into(),
        _ => image.chunks(LINE).skip(channel).step_by(channels).flatten().copied().collect(),
    }
}

/// Whether a unit has the whole image on chip after a run: it was `here` before, or units that waited for it found it whole.
pub(super) fn is_whole(here: bool, status: Status, wait: bool) -> bool {
    match status {
        _ if here => true,
        Status::Done => true,
        Status::Full => wait,
        _ => false,
    }
}

/// Checks the results of a stream with this header; the sums of a core that was stopped at once count as 0.
///
/// # Errors
/// [`Error::Unsupported`] for sets without room and a sum that is too large, [`Error::Device`] for what no core should answer.
pub(super) fn valid(
    results: &mut Results,
    told: u32,
    head: &[u8],
    machine: &Accelerator,
    name: &str,
) -> Result<()> {
    if results.status == Status::Aborted && told == STOP_AT_ONCE {
        results.counts.fill(0); // they mean nothing
    }
    if results.status == Status::Full {
        return Err(match units::is_plan(machine, head) {
            true => no_room_for_sets(machine),
            false => Error::Device(format!(
                "{name}: the core has no room for the ends of a root's wedges, though the root was cut so that it has; \
                 build the xclbin again with this version, or count with the engine `cpu`"
            )),
        });
    }
    if results.saturated {
        return Err(Error::Unsupported(
            "a sum exceeds 64 bits, the most that the core holds; the engine `cpu` counts \
             on"
            .into(),
        ));
    }
    Ok(())
}

/// Whether an image of this size in bytes fits a bank.
///
/// # Errors
/// [`Error::Unsupported`] with the room that there is.
pub(super) fn room_for(machine: &Accelerator, need: u64) -> Result<()> {
    let room = machine.memory.bank_bytes;
    if need <= room {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "the graph needs {} in a memory bank, but a bank of machine {} has {}; use the engine `cpu`",
        size(need),
        machine.machine.name,
        size(room)
    )))
}

/// What a run says whose search plan needs more memory for its sets.
pub(super) fn no_room_for_sets(machine: &Accelerator) -> Error {
    let lines = machine.set.as_ref().map_or(0, |set| set.plan_lines());
    Error::Unsupported(format!(
        "the sets of a search plan need more than the {lines} lines of 64 bytes that a PU of \
         machine {} has for them; use the engine `cpu`",
        machine.machine.name
    ))
}
