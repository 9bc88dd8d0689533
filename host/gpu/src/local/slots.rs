//! Global memory of the work-groups of `local_big`.

use gramer_base::error::Result;

use super::roots;
use crate::device::{Arg, Limits};
use crate::memory::Buffer;
use crate::resident::Resident;

/// Bytes of a slot of `local_big` for roots with up to `span` targets; 0 where they have classes.
pub(crate) fn slot_bytes(span: usize, limits: Limits) -> u64 {
    match span > roots::largest(limits) {
        true => 4 * Slots::words(span) as u64,
        false => 0,
    }
}

/// Buffers of `local_big`: a slot of global memory per work-group.
pub(super) struct Slots {
    pub groups: usize,
    buffer: Buffer<u32>,
    span: usize,
    slot_words: usize,
}

impl Slots {
    /// Slots for the work-groups of `tasks`, within the budget.
    pub fn new(graph: &Resident, span: usize, tasks: usize) -> Result<Self> {
        let device = &graph.device;
        let slot_words = Self::words(span);
        let room = device.budget.free() / 2 / (4 * slot_words as u64);
        let groups = (4 * device.limits.units).min(tasks).min(room as usize).max(1);
        let buffer = Buffer::new(&device.place(), groups * slot_words, "rows of large roots")?;
        Ok(Slots { groups, buffer, span, slot_words })
    }

    /// Words of a slot for roots with up to `span` targets.
    fn words(span: usize) -> usize {
        4 * span + span * span.div_ceil(32)
    }

    pub fn args(&self) -> [Arg; 3] {
        [
            Arg::Buffer(self.buffer.raw()),
            Arg::U32(self.span as u32),
            Arg::U64(self.slot_words as u64),
        ]
    }
}
