//! A graph in device memory: what strategies share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_graph::Graph;
use opencl3::command_queue::CommandQueue;

use crate::canon::Canon;
use crate::device::{Arg, Device};
use crate::graph::{ByDegree, Numbering};
use crate::memory::Buffer;
use crate::stop::Words;

/// Parts of a device sum; as in `common.clh`.
pub(crate) const SLOTS: usize = 64;
/// Sums of a run: cliques, cycles, and the six of the formulas.
pub(crate) const SUMS: usize = 8;
/// Words of a sum.
pub(crate) const SUM_WORDS: usize = 4;

/// Offsets and ends of arcs or edges.
pub(crate) struct Rows {
    pub offsets: Buffer<u32>,
    pub ends: Buffer<u32>,
}

/// A graph on a device.
pub(crate) struct Resident {
    pub device: Arc<Device>,
    pub by: Arc<ByDegree>,
    /// Arcs from smaller to larger numbers.
    pub oriented: Rows,
    pub sums: Buffer<u32>,
    /// Sums at the last read: they are never cleared, which would take another command per task. `None` if a task may
    /// have ended without reading them.
    before: Mutex<Option<[u128; SUMS]>>,
    /// Sums at the start of the current task.
    start: Mutex<[u128; SUMS]>,
    /// The first fault that a checked kernel met, and the word that ends kernels.
    pub words: Words,
    /// Dictionaries of codes by number of vertices, once they were requested.
    canons: Mutex<HashMap<usize, Arc<Canon>>>,
    full: OnceLock<Rows>,
    degrees: OnceLock<Buffer<u32>>,
}

impl Resident {
    /// Uploads a graph to the device.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the budget is too small, [`Error::Interrupted`].
    pub fn new(
        device: Arc<Device>,
        graph: &Graph,
        numbering: Numbering,
        context: &Context,
    ) -> Result<Self> {
        let by = Arc::new(ByDegree::new(graph, numbering, context)?);
        let place = device.place();
        let (offsets, targets) = by.oriented();
        let oriented = Rows {
            offsets: Buffer::of(&place, &offsets, "the graph's offsets")?,
            ends: Buffer::of(&place, &targets, "the graph's arcs")?,
        };
        let sums = Buffer::new(&place, SUMS * SLOTS * SUM_WORDS, "sums")?;
        let words = Words::new(&device)?;
        let (full, degrees) = (OnceLock::new(), OnceLock::new());
        let (before, start) = (Mutex::new(None), Mutex::new([0; SUMS]));
        let canons = Mutex::default();
        Ok(Resident { device, by, oriented, sums, before, start, words, canons, full, degrees })
    }

    /// All edges, both ways; put there by the first task that asks.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the budget is too small.
    pub fn full(&self) -> Result<&Rows> {
        if self.full.get().is_none() {
            let place = self.device.place();
            let rows = Rows {
                offsets: Buffer::of(&place, &self.by.offsets, "all rows' offsets")?,
                ends: Buffer::of(&place, &self.by.neighbours, "the edges")?,
            };
            let _ = self.full.set(rows);
        }
        Ok(self.full.get().expect("it was set above"))
    }

    /// The number of neighbours of each vertex.
    ///
    /// # Errors
    /// As [`Resident::full`].
    pub fn degrees(&self) -> Result<&Buffer<u32>> {
        if self.degrees.get().is_none() {
            let degrees: Vec<u32> = (0..self.by.vertices()).map(|n| self.by.degree(n)).collect();
            let _ = self.degrees.set(Buffer::of(&self.device.place(), &degrees, "degrees")?);
        }
        Ok(self.degrees.get().expect("it was set above"))
    }

    /// The dictionary of codes of `k` vertices.
    ///
    /// # Errors
    /// As [`Canon::new`].
    pub fn canon(&self, k: usize) -> Result<Arc<Canon>> {
        let mut canons = self.canons.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(canon) = canons.get(&k) {
            return Ok(canon.clone());
        }
        let canon = Arc::new(Canon::new(&self.device, k)?);
        canons.insert(k, canon.clone());
        Ok(canon)
    }

    /// V and E as arguments of kernels.
    pub fn sizes(&self) -> [Arg; 2] {
        let edges = self.by.neighbours.len() / 2;
        [Arg::U32(self.by.vertices() as u32), Arg::U32(edges as u32)]
    }

    /// Begins a task: its sums count from here.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn begin(&self) -> Result<()> {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken until the sums were read.
        if before.is_none() {
            self.sums.zero(&self.device.queue)?;
        }
        *self.start.lock().unwrap_or_else(PoisonError::into_inner) =
            before.take().unwrap_or([0; SUMS]);
        Ok(())
    }

    /// Waits for all kernels, and reads the sums of the task.
    ///
    /// # Errors
    /// [`Error::Device`] for a fault that a checked kernel met, and what the runtime refuses.
    pub fn read(&self) -> Result<[u128; SUMS]> {
        let mut now = [0u128; SUMS];
        wide_sums(&self.sums, &self.device.queue, &mut now)?;
        self.check()?;
        let start = *self.start.lock().unwrap_or_else(PoisonError::into_inner);
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        Ok(std::array::from_fn(|i| now[i].wrapping_sub(start[i])))
    }

    /// The error word of checked kernels, with the word that ends kernels behind it.
    pub fn fault(&self) -> &Buffer<u32> {
        self.words.buffer()
    }

    /// True if kernels were stopped: results read since the run began may be incomplete.
    pub fn was_stopped(&self) -> bool {
        self.words.were_raised()
    }

    /// Refuses results of stopped kernels.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn check_stop(&self) -> Result<()> {
        if self.was_stopped() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Checks the error word of checked kernels.
    pub fn check(&self) -> Result<()> {
        check_fault(&self.device, self.fault())
    }
}

/// Checks the error word of checked kernels.
///
/// # Errors
/// [`Error::Device`] for a fault that a kernel met, and what the runtime refuses.
pub(crate) fn check_fault(device: &Device, fault: &Buffer<u32>) -> Result<()> {
    if !device.is_checked() {
        return Ok(());
    }
    let mut code = [0];
    fault.read(&device.queue, &mut code)?;
    match code[0] {
        0 => Ok(()),
        code => Err(Error::Device(format!(
            "{}: a kernel left its arrays (check {code}): this is a fault of this program; use the \
             engine `cpu`",
            device.label()
        ))),
    }
}

/// Waits for all kernels, and reads sums of 128 bits in [`SLOTS`] parts each.
///
/// # Errors
/// [`Error::Device`].
pub(crate) fn wide_sums(
    buffer: &Buffer<u32>,
    queue: &CommandQueue,
    sums: &mut [u128],
) -> Result<()> {
    let mut words = vec![0u32; sums.len() * SLOTS * SUM_WORDS];
    buffer.read(queue, &mut words)?;
    sums.fill(0);
    for (at, part) in words.chunks_exact(SUM_WORDS).enumerate() {
        let value = part.iter().rev().fold(0u128, |sum, &word| sum << 32 | u128::from(word));
        sums[at / SLOTS] = sums[at / SLOTS].wrapping_add(value);
    }
    Ok(())
}
