//! Programmed devices: kernels, buffers, and runs of the kernels over ranges of work units.

mod card;
mod compute_unit;
mod launches;
mod listing;
mod pass;
mod pending;
mod places;
mod plans;
mod samples;
mod segments;
mod set;
mod stop;
mod transfer;
mod units;

pub(crate) use launches::OnImage;
pub use pass::{Pass, PassResult};
pub(crate) use plans::SessionRunner;
pub(crate) use set::UnitTotals;

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gramer_base::context::{Cancel, Context};
use gramer_base::error::{Error, Result};
use gramer_engine::metrics::Timeline;
use gramer_machine::{Accelerator, Core};
use serde::{Deserialize, Serialize};
use tracing::{info_span, warn};

use crate::image::DeviceImage;
use crate::metrics::{CoreMetrics, HostTime, Residency};
use crate::stream;
use crate::xclbin::{Xclbin, kind};
use card::Card;
use launches::Filled;
use places::{CORE, Places};
use samples::Samples;
use transfer::{TransferTotals, failed, read, size, write};

/// Bytes that are written at a time.
const CHUNK: usize = 16 << 20;

/// How fast a memory of a device is, as the host sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySpeed {
    /// The device's name.
    pub device: String,
    /// The memory's name: of a bank, its number.
    pub memory: String,
    /// Bytes that were moved each way.
    pub bytes: u64,
    /// Time to write them, the best of several.
    pub write: Duration,
    /// Time to read them, the best of several.
    pub read: Duration,
}

/// Programmed devices.
pub struct Session {
    machine: Arc<Accelerator>,
    /// MHz of the kernels' clock.
    clock_mhz: u32,
    /// Not released after a failure: the runtime waits for commands that never end.
    cards: ManuallyDrop<Vec<Card>>,
    broken: bool,
    /// The graph in the devices' memory: by its number.
    loaded: Option<u64>,
    /// No task has begun since it was put there.
    fresh: bool,
    runs: u64,
    /// What the slots of the compute units hold.
    filled: Vec<Filled>,
    /// Launches from slots since the session was opened.
    launches: u64,
    /// When the last of them ended.
    last_end: Option<Instant>,
    /// When the task began.
    begun: Instant,
    /// Time in which the host built images and streams, set arguments and enqueued, and waited for kernels.
    preparation: Duration,
    launching: Duration,
    waited: Duration,
    /// Compute units had threads, whose times add up to more than the task's.
    threads: bool,
    pub(crate) residency: Residency,
    /// Segments of a graph that was cut, and their lines.
    segments: (u64, u64),
    counters: BTreeMap<String, Vec<u64>>,
    samples: Samples,
}

impl Session {
    /// Programs the accelerators with these indices. `shown` is what messages call them.
    ///
    /// # Errors
    /// Errors of reading the file; [`Error::Device`] if the runtime refuses.
    pub fn open(path: &Path, indices: &[usize], shown: &str) -> Result<Self> {
        let bytes = Xclbin::bytes(path)?;
        let xclbin = Xclbin::parse(&bytes, path)?;
        let (machine, places) = Self::described(&xclbin)?;
        let described = machine.machine.clock_mhz;
        let clock_mhz = xclbin.kernel_mhz()?.unwrap_or(described);
        if clock_mhz != described {
            warn!(
                "the kernels run at {clock_mhz} MHz; the machine's description asks for {described} MHz"
            );
        }
        let shown = shown
            .rsplit_once(".xclbin@")
            .map_or(shown.to_string(), |s| s.0.to_string() + ".xclbin");
        let _phase = gramer_base::memory::Phase::begin(&"programming the device");
        let _span = info_span!("program", devices = indices.len(), file = shown).entered();
        let open = |&i: &usize| Card::open(&xclbin, &bytes, &machine, &places, &shown, i);
        let cards: Result<Vec<Card>> = indices.iter().map(open).collect();
        Ok(Session::of(machine, clock_mhz, cards?))
    }

    fn of(machine: Accelerator, clock_mhz: u32, cards: Vec<Card>) -> Self {
        Session {
            machine: Arc::new(machine),
            clock_mhz,
            cards: ManuallyDrop::new(cards),
            broken: false,
            loaded: None,
            fresh: false,
            runs: 0,
            filled: vec![],
            launches: 0,
            last_end: None,
            begun: Instant::now(),
            preparation: Duration::ZERO,
            launching: Duration::ZERO,
            waited: Duration::ZERO,
            threads: false,
            residency: Residency::default(),
            segments: (0, 0),
            counters: BTreeMap::new(),
            samples: Samples::new(),
        }
    }

    /// What [`Session::open`] asks of a file before it asks the runtime: the machine that it describes,
    /// with every kernel, argument and bank.
    ///
    /// # Errors
    /// Data that a device lacks, and its transfer.
    pub fn taken(xclbin: &Xclbin) -> Result<Accelerator> {
        Ok(Self::described(xclbin)?.0)
    }

    fn described(xclbin: &Xclbin) -> Result<(Accelerator, Arc<Places>)> {
        let machine = xclbin.machine()?.ok_or_else(|| xclbin.no_machine())?;
        for kind in
            [kind::EMBEDDED_METADATA, kind::MEM_TOPOLOGY, kind::CONNECTIVITY, kind::IP_LAYOUT]
        {
            xclbin.required(kind)?;
        }
        stream::check(&machine).map_err(|e| xclbin.wrong(e))?;
        let places = Places::of(xclbin, &machine)?;
        Ok((machine, places))
    }

    /// The machine in the file.
    pub fn machine(&self) -> &Arc<Accelerator> {
        &self.machine
    }

    /// Compute units of all devices.
    pub fn compute_units(&self) -> usize {
        self.cards.iter().map(|c| c.units.len()).sum()
    }

    /// Units that one run may have: those of all compute units take up to 1/32 of a bank.
    pub fn most_units(&self) -> usize {
        let units = u64::from(self.machine.kernels.compute_units);
        (self.machine.memory.bank_bytes / 32 / 16 / units).min(1 << 26) as usize
    }

    /// Begins a task: what was measured so far is forgotten, but for the transfer of a graph that no
    /// task has used yet.
    pub fn begin(&mut self) {
        self.runs = 0;
        self.begun = Instant::now();
        (self.preparation, self.launching, self.waited) = Default::default();
        self.threads = false;
        self.residency = Residency::default();
        self.segments = (0, 0);
        self.counters.clear();
        self.samples.begin();
        let fresh = std::mem::take(&mut self.fresh);
        for card in self.cards.iter_mut() {
            if !fresh {
                card.moved = TransferTotals::default();
            }
            for unit in &mut card.units {
                unit.moved = TransferTotals::default();
                unit.cycles = 0;
                unit.retries = 0;
                unit.by_pu.clear();
            }
        }
    }

    /// Adds time in which the host built what a task sends.
    pub(crate) fn note_preparation(&mut self, took: Duration) {
        self.preparation += took;
    }

    /// Metrics since [`Session::begin`].
    pub fn metrics(&self) -> CoreMetrics {
        let units = || self.cards.iter().flat_map(|c| &c.units);
        let moved = || self.moved();
        CoreMetrics {
            machine: self.machine.machine.name.clone(),
            compute_units: self.compute_units(),
            processing_units: self.machine.machine.processing_units,
            clock_mhz: self.clock_mhz,
            described_mhz: self.machine.machine.clock_mhz,
            runs: self.runs,
            cycles: units().map(|u| u.cycles).collect(),
            counters: self.counters.clone(),
            bytes: (moved().map(|m| m.written).sum(), moved().map(|m| m.read).sum()),
            transfer: self.transferred(),
            kernels: moved().map(|m| m.kernels).sum(),
            preparation: self.preparation,
            host: self.host_time(),
            residency: self.residency,
            segments: self.segments,
            retries: units().map(|u| u.retries).sum(),
            by_pu: units().map(|u| u.by_pu.clone()).collect(),
            timelines: self.timelines(),
        }
    }

    /// Time in which data went to and from devices, summed over compute units.
    fn transferred(&self) -> Duration {
        self.moved().map(|moved| moved.transfer).sum()
    }

    /// Transfers of devices and of their compute units.
    fn moved(&self) -> impl Iterator<Item = &TransferTotals> {
        let units = self.cards.iter().flat_map(|card| &card.units);
        self.cards.iter().map(|card| &card.moved).chain(units.map(|unit| &unit.moved))
    }

    /// The host's own time since [`Session::begin`], of a set core whose compute units needed no threads.
    fn host_time(&self) -> Option<HostTime> {
        let others = self.waited + self.transferred();
        let own = || HostTime {
            all: self.begun.elapsed().saturating_sub(others),
            launching: self.launching,
        };
        (self.machine.core == Core::Set && !self.threads).then(own)
    }

    /// What PUs did over time, by compute unit as they are counted through all devices.
    fn timelines(&self) -> BTreeMap<usize, Timeline> {
        let mut sampled = self.samples.read();
        let units = self.cards.iter().flat_map(|c| (0..c.units.len()).map(|unit| (c.index, unit)));
        units.enumerate().filter_map(|(at, place)| Some((at, sampled.remove(&place)?))).collect()
    }

    /// Puts a graph into the memory of every device, unless it is there. `number` tells graphs
    /// apart.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if a bank is too small, [`Error::Interrupted`].
    pub fn load(&mut self, image: &DeviceImage<'_>, number: u64, context: &Context) -> Result<()> {
        if self.loaded == Some(number) {
            return Ok(());
        }
        self.loaded = None;
        let banks = self.machine.memory.ddr_banks as usize;
        for card in self.cards.iter_mut() {
            card.moved = TransferTotals::default();
            card.graph.clear();
            for bank in 0..banks {
                let (need, room) = (image.bank_bytes(bank), self.machine.memory.bank_bytes);
                if need > room {
                    return Err(Error::Unsupported(format!(
                        "the graph needs {} in memory bank {bank}, but a bank of machine {} has \
                         {}; use the engine `cpu`",
                        size(need),
                        self.machine.machine.name,
                        size(room)
                    )));
                }
                let memory = card.places.memory(CORE, &format!("bank{bank}"))?;
                card.graph.push(card.buffer(need, memory)?);
            }
            let mut chunk = vec![];
            for (bank, buffer) in card.graph.iter_mut().enumerate() {
                let bytes = image.bank_bytes(bank) as usize;
                for offset in (0..bytes).step_by(CHUNK) {
                    context.cancel.check()?;
                    chunk.resize(CHUNK.min(bytes - offset), 0);
                    image.bank(bank, offset as u64, &mut chunk);
                    let written = write(&card.queue, buffer, offset, &chunk, &mut card.moved);
                    written.map_err(|e| failed(&card.name, "writing the graph", e))?;
                }
            }
        }
        self.loaded = Some(number);
        self.fresh = true;
        Ok(())
    }

    /// Frees the memory of the graph with this number, if it is there.
    pub fn unload(&mut self, number: u64) {
        // After a failure, pending commands may still read it.
        if self.loaded == Some(number) && !self.broken {
            self.loaded = None;
            self.cards.iter_mut().for_each(|card| card.graph.clear());
            let units = self.cards.iter_mut().flat_map(|card| &mut card.units);
            units.for_each(|unit| unit.on_chip = None);
        }
    }

    /// Time to write and to read `bytes` in each memory bank of each device. A resident graph is lost.
    ///
    /// # Errors
    /// [`Error::Device`], also if what is read isn't what was written; [`Error::Interrupted`].
    pub fn memories(&mut self, bytes: usize, cancel: &Cancel) -> Result<Vec<MemorySpeed>> {
        let banks = self.machine.core_ports() as usize;
        let mut rows = vec![];
        self.loaded = None;
        for card in self.cards.iter_mut() {
            card.graph.clear();
            for bank in 0..banks {
                cancel.check()?;
                let memory = card.places.memory(CORE, &format!("bank{bank}"))?;
                let mut buffer = card.buffer(bytes as u64, memory)?;
                let data: Vec<u8> = (0..bytes).map(|i| (i * 31 + (i >> 8) + bank) as u8).collect();
                let mut times = [Duration::MAX; 2];
                let mut back = vec![0; bytes];
                // The first transfer pins pages; the better of two says what a long run sees.
                for _ in 0..2 {
                    let begun = Instant::now();
                    write(&card.queue, &mut buffer, 0, &data, &mut card.moved)
                        .map_err(|e| failed(&card.name, "writing", e))?;
                    times[0] = times[0].min(begun.elapsed());
                    back.fill(0);
                    let begun = Instant::now();
                    read(&card.queue, &buffer, 0, &mut back, &mut card.moved)
                        .map_err(|e| failed(&card.name, "reading", e))?;
                    times[1] = times[1].min(begun.elapsed());
                }
                if let Some(at) = (0..bytes).find(|&i| back[i] != data[i]) {
                    return Err(Error::Device(format!(
                        "{}: memory bank {bank} returned {:#04x} at byte {at} instead of {:#04x}",
                        card.name, back[at], data[at]
                    )));
                }
                let [write, read] = times;
                let (device, memory, bytes) = (card.name.clone(), bank.to_string(), bytes as u64);
                rows.push(MemorySpeed { device, memory, bytes, write, read });
            }
        }
        Ok(rows)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.broken {
            // SAFETY: it is dropped once, here, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.cards) }
        }
    }
}

fn add(sums: &mut BTreeMap<String, Vec<u64>>, more: &BTreeMap<String, Vec<u64>>) {
    for (name, values) in more {
        let sum = sums.entry(name.clone()).or_insert_with(|| vec![0; values.len()]);
        sum.iter_mut().zip(values).for_each(|(s, v)| *s = s.saturating_add(*v));
    }
}

#[cfg(test)]
mod tests;
