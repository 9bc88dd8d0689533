//! Launches of the set core over a resident image: each is enqueued while the previous one runs, so that the device
//! waits for no host between them, and the host makes the next streams meanwhile.
//!
//! A compute unit has several slots, sets of buffers for one launch each. A slot keeps its streams on the device: the same
//! launch again writes nothing.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_machine::Accelerator;
use opencl3::event::Event;
use opencl3::memory::{Buffer, ClMem};
use opencl3::types::cl_event;

use super::compute_unit::{ComputeUnit, Execution};
use super::places::{DRAIN, FILL};
use super::set::{UnitTotals, is_whole, valid};
use super::stop::{Stop, Wait};
use super::transfer::{buffer, failed, write};
use super::units::{Place, placed};
use super::{Session, add};
use crate::image::LINE;
use crate::set::plan::units::fewer_walkers;
use crate::set::sums::Total;
use crate::set::units::{InStream, Streams};
use crate::stream::{Area, Results, Status};

/// Launches in flight at most: one waits on the device while another runs.
const IN_FLIGHT: usize = 2;
/// Slots of a compute unit: the streams of as many launches stay on the device.
const SLOTS: usize = 8;

/// The image of launches: its number and its lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnImage {
    pub number: u64,
    pub lines: u32,
}

/// Buffers of a launch on a compute unit, and the kernels' events.
pub(super) struct Slot {
    head: Buffer<u8>,
    units: Buffer<u8>,
    pub(super) result: Buffer<u8>,
    /// Bytes of `head` and `units`.
    room: (usize, usize),
    events: Vec<Event>,
    /// The image was on chip when the launch was enqueued.
    here: bool,
}

/// Content of the slots with the same number of all compute units.
#[derive(Default)]
pub(super) struct Filled {
    streams: Weak<Vec<InStream>>,
    /// Number of the last launch from them.
    last: u64,
}

impl Filled {
    /// Whether the devices have these streams: an address is not used again as long as somebody points to it.
    fn holds(&self, streams: &Streams) -> bool {
        self.streams.as_ptr() == Arc::as_ptr(streams)
    }
}

/// A launch in flight.
struct Launch {
    slot: usize,
    streams: Streams,
    /// When it was enqueued.
    since: Instant,
}

/// Parameters of a series of launches.
struct Series<'a> {
    machine: &'a Accelerator,
    stop: &'a Stop<'a>,
    area: Area,
    image: OnImage,
}

impl Series<'_> {
    fn run(&self) -> Execution<'_> {
        let patterns = self.machine.set_sums();
        Execution { machine: self.machine, stop: self.stop, patterns, k: 0, list: false }
    }
}

impl Session {
    /// Runs launches one after the other over the image that [`Session::load_image`] put there. While one runs, the next one
    /// is made by `launches` and enqueued. `take` gets the sums of each in order, and says whether the others are
    /// needed: what is in flight then is dropped.
    ///
    /// # Errors
    /// Those of `launches`; [`Error::Device`] if the runtime refuses or the answer is invalid; [`Error::Unsupported`] if a
    /// sum doesn't fit into the core's counts, or a plan's sets have no room.
    pub(crate) fn run_launches(
        &mut self,
        launches: impl Iterator<Item = Result<Streams>>,
        image: OnImage,
        time_limit: Option<Duration>,
        context: &Context,
        take: &mut dyn FnMut(UnitTotals) -> bool,
    ) -> Result<()> {
        let machine = Arc::clone(&self.machine);
        let stop = Stop { cancel: &context.cancel, raised: AtomicBool::new(false), time_limit };
        let area = Area::new(&machine, machine.set_sums(), 0);
        let series = Series { machine: &machine, stop: &stop, area, image };
        // If a thread panics, kernels may run on: the buffers that they use stay.
        let broken = std::mem::replace(&mut self.broken, true);
        let mut flying = VecDeque::new();
        let outcome = self.launch_all(&series, launches, &mut flying, context, take);
        // What is in flight ends before its buffers are used again.
        let mut ended = Ok(());
        if !flying.is_empty() {
            stop.raised.store(true, Ordering::Relaxed);
        }
        for launch in flying {
            self.residency.dropped += 1;
            ended = self.wait_for(&series, &launch).and(ended);
            let units = placed(&mut self.cards).map(|(unit, _)| unit);
            units.filter(|unit| !unit.slots[launch.slot].here).for_each(|unit| unit.on_chip = None);
        }
        let outcome = outcome.and(ended);
        self.broken = broken || matches!(outcome, Err(Error::Device(_)));
        outcome
    }

    fn launch_all(
        &mut self,
        series: &Series<'_>,
        mut launches: impl Iterator<Item = Result<Streams>>,
        flying: &mut VecDeque<Launch>,
        context: &Context,
        take: &mut dyn FnMut(UnitTotals) -> bool,
    ) -> Result<()> {
        loop {
            let begun = Instant::now();
            let streams = launches.next().transpose();
            self.preparation += begun.elapsed();
            let streams = streams?;
            let most = if streams.is_some() { IN_FLIGHT } else { 1 };
            if let Some(streams) = streams {
                self.enqueue(series, streams, flying)?;
            }
            while flying.len() >= most {
                let Some(launch) = flying.pop_front() else { break };
                let units = launch.streams.len() as u64;
                context.progress.begin(units);
                let totals = self.finish(series, &launch)?;
                context.progress.add(units);
                let complete = totals.complete;
                if !take(totals) || !complete {
                    return Ok(());
                }
            }
            if most == 1 {
                return Ok(());
            }
        }
    }

    /// Enqueues a launch behind those in flight.
    fn enqueue(
        &mut self,
        series: &Series<'_>,
        streams: Streams,
        flying: &mut VecDeque<Launch>,
    ) -> Result<()> {
        let (begun, before) = (Instant::now(), self.transferred());
        let slot = self.slot_for(&streams, flying);
        let held = self.filled[slot].holds(&streams);
        self.filled[slot] = Filled::default();
        let ahead = flying.back().map(|launch| launch.slot);
        let mut loads = false;
        for ((unit, place), stream) in placed(&mut self.cards).zip(streams.iter()) {
            unit.launch(series, place, stream, slot, ahead, held)?;
            loads |= !unit.slots[slot].here;
        }
        self.launches += 1;
        self.filled[slot] = Filled { streams: Arc::downgrade(&streams), last: self.launches };
        self.residency.images_loaded += u64::from(loads);
        self.residency.ahead += u64::from(ahead.is_some());
        self.launching += begun.elapsed().saturating_sub(self.transferred() - before);
        flying.push_back(Launch { slot, streams, since: Instant::now() });
        Ok(())
    }

    /// The slot that holds these streams, else an empty one, else that of the oldest launch.
    fn slot_for(&mut self, streams: &Streams, flying: &VecDeque<Launch>) -> usize {
        let free = |slot: &usize| flying.iter().all(|launch| launch.slot != *slot);
        let slots = || (0..self.filled.len()).filter(free);
        if let Some(slot) = slots().find(|&slot| self.filled[slot].holds(streams)) {
            return slot;
        }
        if self.filled.len() < SLOTS {
            self.filled.push(Filled::default());
            return self.filled.len() - 1;
        }
        slots().min_by_key(|&slot| self.filled[slot].last).unwrap_or(0)
    }

    /// Waits until a launch has ended on all compute units; a failure of one stops the others.
    fn wait_for(&mut self, series: &Series<'_>, launch: &Launch) -> Result<()> {
        let (stop, slot) = (series.stop, launch.slot);
        let mut wait = Wait::new(stop);
        let from = self.last_end.map_or(launch.since, |end| end.max(launch.since));
        let mut running = vec![true; launch.streams.len()];
        let mut failure = None;
        loop {
            for ((unit, place), running) in placed(&mut self.cards).zip(&mut running) {
                if !*running {
                    continue;
                }
                let events = std::mem::take(&mut unit.slots[slot].events);
                let ended = wait.look(unit, &events, place.name);
                unit.slots[slot].events = events;
                *running = matches!(ended, Ok(false));
                if let Err(error) = ended {
                    stop.raised.store(true, Ordering::Relaxed);
                    failure.get_or_insert(error);
                } else if !*running {
                    unit.moved.kernels += from.elapsed();
                }
            }
            if !running.contains(&true) {
                break;
            }
            wait.pause();
        }
        self.waited += wait.took();
        self.last_end = Some(Instant::now());
        failure.map_or(Ok(()), Err)
    }

    /// Waits for a launch; its sums of all compute units.
    fn finish(&mut self, series: &Series<'_>, launch: &Launch) -> Result<UnitTotals> {
        self.wait_for(series, launch)?;
        let mut summed = UnitTotals { total: Total::default(), complete: true };
        for at in 0..launch.streams.len() {
            let results = self.results_of(series, launch, at)?;
            self.runs += 1;
            add(&mut self.counters, &results.counters);
            summed.complete &= results.status == Status::Done;
            for (sum, &own) in summed.total.iter_mut().zip(&results.counts) {
                *sum += u128::from(own);
            }
        }
        Ok(summed)
    }

    /// Results of a launch on the compute unit `at`, which runs again with fewer walkers where their sets have no room.
    fn results_of(&mut self, series: &Series<'_>, launch: &Launch, at: usize) -> Result<Results> {
        let (machine, run, slot) = (series.machine, series.run(), launch.slot);
        let mut stream = None;
        loop {
            let sent = stream.as_ref().unwrap_or(&launch.streams[at]);
            let (unit, place) = placed(&mut self.cards).nth(at).expect("it was launched");
            let outcome = unit.results(&run, Some(slot), &series.area, place.name);
            let status = outcome.as_ref().map_or(Status::Error, |results| results.status);
            if !is_whole(unit.slots[slot].here, status, sent.wait) {
                unit.on_chip = None;
            }
            let mut results = outcome?;
            if let Some(failure) = results.failure(machine) {
                return Err(Error::Device(format!("{}: {failure}", place.name)));
            }
            let mut fewer = sent.clone();
            if results.status != Status::Full || !fewer_walkers(machine, &mut fewer.head) {
                valid(&mut results, unit.told, &sent.head, machine, place.name)?;
                return Ok(results);
            }
            // Nothing was found that counts: with more room for each of fewer walkers it begins again.
            unit.retries += 1;
            unit.launch(series, place, &fewer, slot, None, false)?;
            let events = std::mem::take(&mut unit.slots[slot].events);
            let begun = Instant::now();
            unit.wait(series.stop, &events, place.name)?;
            unit.moved.kernels += begun.elapsed();
            self.waited += begun.elapsed();
            self.filled[slot] = Filled::default();
            stream = Some(fewer);
        }
    }
}

impl ComputeUnit {
    /// Enqueues a stream from a slot, behind the launch of the slot `ahead`. What the slot has `held` from an earlier launch is not
    /// written again.
    fn launch(
        &mut self,
        series: &Series<'_>,
        place: Place<'_>,
        stream: &InStream,
        slot: usize,
        ahead: Option<usize>,
        held: bool,
    ) -> Result<()> {
        let Place { name, places, .. } = place;
        let (machine, image) = (series.machine, series.image);
        self.make_room(series, place, stream, slot)?;
        if ahead.is_none() {
            self.clear_abort(name)?;
        }
        let here = self.on_chip.replace(image.number) == Some(image.number);
        let own = &self.slots[slot];
        self.set(places, FILL, "head", &own.head.get(), name)?;
        self.set(places, FILL, "head_beats", &((stream.head.len() / LINE) as u32), name)?;
        self.set(places, FILL, "units_first", &0u32, name)?;
        self.set(places, FILL, "units", &own.units.get(), name)?;
        self.set(places, FILL, "units_beats", &((stream.units.len() / LINE) as u32), name)?;
        self.set_result(&own.result, &series.area, machine, name, places)?;
        self.set_core(machine, stream.wait, if here { 0 } else { image.lines }, place)?;
        let after: Vec<cl_event> =
            ahead.map_or(vec![], |ahead| self.slots[ahead].events.iter().map(Event::get).collect());
        let own = &mut self.slots[slot];
        if !held {
            write(&self.transfer, &mut own.head, 0, &stream.head, &mut self.moved)
                .and_then(|()| {
                    write(&self.transfer, &mut own.units, 0, &stream.units, &mut self.moved)
                })
                .map_err(|e| failed(name, "writing the work units", e))?;
        }
        let events = self.start(&after, name)?;
        let own = &mut self.slots[slot];
        (own.events, own.here) = (events, here);
        Ok(())
    }

    /// Makes the buffers of a slot large enough for a stream.
    fn make_room(
        &mut self,
        series: &Series<'_>,
        place: Place<'_>,
        stream: &InStream,
        slot: usize,
    ) -> Result<()> {
        let Place { at, name, cl, places } = place;
        let make = |kernel, argument, bytes: usize| {
            let memory = places.memory_of(kernel, at, argument)?;
            buffer(cl, &self.transfer, name, bytes as u64, memory, places)
        };
        let room = self.slots.get(slot).map_or((0, 0), |own| own.room);
        let need = (room.0.max(stream.head.len()), room.1.max(stream.units.len()));
        if need == room {
            return Ok(());
        }
        let begun = Instant::now();
        let (head, units) = (make(FILL, "head", need.0)?, make(FILL, "units", need.1)?);
        match self.slots.get_mut(slot) {
            Some(own) => (own.head, own.units, own.room) = (head, units, need),
            None => {
                let result = make(DRAIN, "result", series.area.beats() as usize * LINE)?;
                self.slots.push(Slot {
                    head,
                    units,
                    result,
                    room: need,
                    events: vec![],
                    here: false,
                });
            }
        }
        self.moved.transfer += begun.elapsed();
        Ok(())
    }
}
