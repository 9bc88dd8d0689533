//! Elements that wait until the pages of their lists are on the device (GAMMA's deferral).

use gramer_base::error::Result;

use crate::device::{Arg, Device};
use crate::plan::DepthLimit;
use crate::program::Program;
use crate::table::shape::{LANES, NONE};

use super::{MOST_ROWS, PagedLists, Source};

/// Words that describe the first waiting element, as in `pages.cl`.
pub(in crate::table) fn first_words(limit: DepthLimit) -> usize {
    2 + 2 * limit.depths()
}

/// Start of a column's marks, in words: those of columns in the arena follow those of all vertices.
pub(in crate::table) fn marks_of(vertices: usize, ids: u32) -> usize {
    match ids {
        NONE => 0,
        ids => 2 * (vertices.div_ceil(LANES) + ids as usize / LANES),
    }
}

/// Words of all marks.
pub(in crate::table) fn marks(vertices: usize, arena_words: u64) -> u64 {
    2 * ((vertices.div_ceil(LANES) + 1) as u64 + arena_words.div_ceil(LANES as u64))
}

/// Kernel arguments for the elements of an extension.
pub(in crate::table) struct Rows {
    /// Number of places.
    pub rows: u32,
    /// Range of elements to process.
    pub part: (u32, u32),
    /// Start of their marks, in words.
    pub marks: usize,
    /// The graph's offsets, the arena and the shape.
    pub args: [Arg; 3],
}

/// Of the 32 elements from `first` on, as bits, those that aren't from `from` to `to`.
fn done(first: u32, from: u32, to: u32) -> u32 {
    let below = |bound: u32| match bound.saturating_sub(first) {
        bits if bits < LANES as u32 => (1u32 << bits) - 1,
        _ => u32::MAX,
    };
    below(from) | !below(to)
}

impl PagedLists {
    /// Page of each slot, if elements wait for pages.
    pub fn state(&self) -> Option<Vec<u32>> {
        matches!(self.source, Source::Host(_)).then(|| self.heat.state())
    }

    /// Brings the pages back to the slots that they had.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn restore(&mut self, device: &Device, program: &Program, state: &[u32]) -> Result<()> {
        let changes = self.heat.restore(state);
        self.table.write(&device.queue, &self.heat.slot_of)?;
        self.copy(device, program, &changes)
    }

    /// Before the first pass over elements: none of a part of them is done, and all others are.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn begin_passes(&mut self, device: &Device, rows: &Rows) -> Result<()> {
        let Source::Host(host) = &mut self.source else { return Ok(()) };
        let (from, to) = rows.part;
        let windows = (0..rows.rows).step_by(LANES);
        let words: Vec<u32> = windows.flat_map(|first| [done(first, from, to), 0]).collect();
        host.marks.write_at(&device.queue, rows.marks, &words)
    }

    /// Before a pass: copies the pages that most elements wait for, and marks the elements that have all
    /// of theirs. Whether others wait then.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn pass(
        &mut self,
        device: &Device,
        program: &Program,
        rows: &Rows,
        first_pass: bool,
    ) -> Result<bool> {
        let Source::Host(host) = &mut self.source else { return Ok(false) };
        let Rows { rows: all, marks, args, .. } = rows;
        self.passes += 1;
        let bits = self.bits;
        let waits = [Arg::Buffer(host.marks.raw()), Arg::U32((marks / 2) as u32)];
        let groups =
            |rows: u32| (rows as usize).div_ceil(LANES * LANES).clamp(1, 64 * device.limits.units);
        host.first.write(&device.queue, &[NONE])?;
        let mut part = vec![0; self.heat.slot_of.len()];
        let mut reads = vec![0.0; part.len()];
        for from in (0..*all).step_by(MOST_ROWS as usize) {
            let to = (*all).min(from + MOST_ROWS);
            self.reads.zero(&device.queue)?;
            let mut list = args.to_vec();
            list.extend([Arg::U32(from), Arg::U32(to), Arg::Buffer(self.reads.raw())]);
            list.extend(waits);
            list.push(Arg::Buffer(host.first.raw()));
            device.launch(program, "waiting", &list, groups(to - from), LANES)?;
            self.reads.read(&device.queue, &mut part)?;
            reads.iter_mut().zip(&part).for_each(|(sum, &n)| *sum += f64::from(n));
        }
        let mut list = args.to_vec();
        list.push(Arg::Buffer(host.first.raw()));
        device.launch(program, "needs", &list, 1, 1)?;
        let mut said = vec![0; host.first.len()];
        host.first.read(&device.queue, &mut said)?;
        let mut needed: Vec<u32> = vec![];
        if said[0] != NONE {
            for list in said[2..].chunks_exact(2).filter(|list| list[0] < list[1]) {
                needed.extend(list[0] >> bits..=(list[1] - 1) >> bits);
            }
            needed.sort_unstable();
            needed.dedup();
        }
        if first_pass {
            self.heat.extension(&reads);
        }
        let changes = self.heat.pass(&reads, &needed);
        if !changes.is_empty() {
            self.table.write(&device.queue, &self.heat.slot_of)?;
        }
        self.copy(device, program, &changes)?;
        let Source::Host(host) = &mut self.source else { return Ok(false) };
        host.first.write(&device.queue, &[NONE, 0])?;
        let mut list = args.to_vec();
        list.push(Arg::Buffer(self.table.raw()));
        list.extend(waits);
        list.push(Arg::Buffer(host.first.raw()));
        device.launch(program, "admit", &list, groups(*all), LANES)?;
        let mut said = [0; 2];
        host.first.read(&device.queue, &mut said)?;
        Ok(said[1] > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_outside_of_a_part_are_done() {
        assert_eq!(done(0, 0, 32), 0);
        assert_eq!(done(0, 3, 5), !0b11000);
        assert_eq!(
            (done(32, 3, 40), done(64, 3, 40), done(32, 64, 70)),
            (!0xff, u32::MAX, u32::MAX)
        );
        assert_eq!(done(96, 3, 128), 0);
    }
}
