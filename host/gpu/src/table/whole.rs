//! Tables that are made column by column: each is whole before the next is begun, and lies in the host's
//! memory, or beyond a limit in a file.
//!
//! The device works on a segment at a time. Once the blocks of the new column are full, the segment is
//! packed: elements get their places by a prefix scan, ancestors without a descendant are dropped from
//! column to column, and what is left goes to the host as its own segment.

use gramer_base::error::Result;

use crate::device::Arg;
use crate::program::Program;

use super::run::TableRun;
use super::shape::{Column, LANES, NONE, Region, TableArena};
use super::store::{Room, Segment, Store};

/// Lanes of the group that scans, where the device has as many; `SCAN` in `pack.cl`.
pub(super) const SCAN: usize = 256;

impl TableRun<'_> {
    /// Extends the first column to the end of the plan, column by column; `false` once the run was asked
    /// to stop.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], and [`gramer_base::Error::Io`] of the file.
    pub fn whole(&mut self, rows: u32, pack: &Program, room: &Room) -> Result<bool> {
        let stored = self.plan.len() as u64 - 1;
        let arena = TableArena::new(self.room as u64, stored, self.graph.warps);
        // The column that is extended and the new one share the memory.
        let room = &Room { memory: room.memory / 2, ..room.clone() };
        let mut table = Store::new(room);
        for depth in 1..=self.plan.len() {
            let out = (depth < self.plan.len()).then_some(arena.out);
            let mut next = Store::new(room);
            let mut full = |run: &mut Self, region: Region, blocks: u32| -> Result<bool> {
                let segment = run.pack(pack, &arena, (region, blocks), 1)?;
                run.used.segments += 1;
                run.used.spilled += 4 * segment.words.len() as u64;
                next.push(segment)?;
                Ok(true)
            };
            let mut complete = true;
            if depth == 1 {
                complete = self.extend(rows, out, &mut full)?;
            } else {
                while let Some(segment) = table.pop()? {
                    let rows = self.load(&arena, &segment, 1)?;
                    complete &= self.extend(rows, out, &mut full)?;
                    if !complete {
                        break;
                    }
                }
            }
            self.columns.truncate(1);
            self.used.filed += next.written();
            if !complete {
                return Ok(false);
            }
            table = next;
        }
        Ok(true)
    }

    /// Loads a segment into the arena, with its columns after the `first` existing ones; returns the number of its
    /// last elements.
    pub(super) fn load(
        &mut self,
        arena: &TableArena,
        segment: &Segment,
        first: usize,
    ) -> Result<u32> {
        let queue = &self.graph.device.queue;
        self.columns.truncate(first);
        let mut words = &*segment.words;
        for (at, &rows) in segment.rows.iter().enumerate() {
            let mut column = arena.input(at);
            for to in [column.ids, column.parents] {
                let (part, rest) = words.split_at(rows as usize);
                self.graph.arena.write_at(queue, to as usize, part)?;
                words = rest;
            }
            if first + at == 0 {
                column.parents = NONE;
            }
            self.columns.push(column);
        }
        self.loaded.clone_from(&segment.rows);
        Ok(*segment.rows.last().expect("a segment has a column"))
    }

    /// Packs the columns after the `first` that have descendants in the new column, and that, and reads
    /// them.
    pub(super) fn pack(
        &mut self,
        pack: &Program,
        arena: &TableArena,
        (region, blocks): (Region, u32),
        first: usize,
    ) -> Result<Segment> {
        let column = region.column;
        let raw = blocks * column.block;
        let args = [column.fills, column.block, raw].map(Arg::U32);
        self.over_rows(pack, "mark_filled", arena, &args, raw)?;
        let ancestors = self.columns[first..].to_vec();
        self.marked(pack, arena, (column, raw), &ancestors)
    }

    /// Packs the marked elements of a column, and of those before it what has descendants among them.
    pub(super) fn marked(
        &mut self,
        pack: &Program,
        arena: &TableArena,
        (column, raw): (Column, u32),
        ancestors: &[Column],
    ) -> Result<Segment> {
        let fault = Arg::Buffer(self.graph.fault.raw());
        let mut rows = vec![0; ancestors.len() + 1];
        let new = ancestors.len();
        rows[new] = self.gather(pack, arena, column, arena.packed(new), raw)?;
        for at in (0..new).rev() {
            let (child, size) = (arena.packed(at + 1), self.loaded[at]);
            let (parents, children) = (Arg::U32(child.parents), Arg::U32(rows[at + 1]));
            self.over_rows(pack, "clear_marks", arena, &[Arg::U32(size)], size)?;
            let args = [parents, children, Arg::U32(size), fault];
            self.over_rows(pack, "mark_parents", arena, &args, rows[at + 1])?;
            rows[at] = self.gather(pack, arena, ancestors[at], arena.packed(at), size)?;
            self.over_rows(pack, "place_parents", arena, &args, rows[at + 1])?;
            self.used.compacted += u64::from(size - rows[at]);
        }
        let queue = &self.graph.device.queue;
        let mut words = vec![0; 2 * rows.iter().sum::<u32>() as usize];
        let mut rest = words.as_mut_slice();
        for (at, &rows) in rows.iter().enumerate() {
            let column = arena.packed(at);
            for from in [column.ids, column.parents] {
                let (part, more) = rest.split_at_mut(rows as usize);
                self.graph.arena.read_at(queue, from as usize, part)?;
                rest = more;
            }
        }
        Ok(Segment { rows, words })
    }

    /// A kernel over this many elements.
    fn over_rows(
        &self,
        pack: &Program,
        kernel: &str,
        arena: &TableArena,
        args: &[Arg],
        rows: u32,
    ) -> Result<()> {
        let device = &self.graph.device;
        let groups = (rows as usize).div_ceil(8 * LANES).min(64 * device.limits.units).max(1);
        let mut all = vec![Arg::Buffer(self.graph.arena.raw()), Arg::U32(arena.marks)];
        all.extend(args);
        device.launch(pack, kernel, &all, groups, LANES)
    }

    /// Compacts the marked elements of a column; returns their number.
    fn gather(
        &self,
        pack: &Program,
        arena: &TableArena,
        from: Column,
        to: Column,
        rows: u32,
    ) -> Result<u32> {
        let device = &self.graph.device;
        let all = Arg::Buffer(self.graph.arena.raw());
        let args = [all, Arg::U32(arena.marks), Arg::U32(rows)];
        device.launch(pack, "scan_marks", &args, 1, device.lanes(SCAN))?;
        // The first column has no parents: any words do.
        let parents = if from.parents == NONE { from.ids } else { from.parents };
        let places = [from.ids, parents, to.ids, to.parents, rows];
        self.over_rows(pack, "gather", arena, &places.map(Arg::U32), rows)?;
        let mut stay = [0];
        let at = (arena.marks + rows) as usize;
        self.graph.arena.read_at(&device.queue, at, &mut stay)?;
        Ok(stay[0])
    }
}
