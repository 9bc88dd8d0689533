//! Tables that are made column by column: each is whole before the next is begun, and lies in the host's
//! memory, or beyond a limit in a file.
//!
//! The device works on a segment at a time. Once the blocks of the new column are full, the segment is
//! packed: elements get their places by a prefix scan, ancestors without a descendant are dropped from
//! column to column, and what is left goes to the host as a segment of its own.

use gramer_graph::error::Result;

use crate::device::Arg;
use crate::program::Program;

use super::run::Run;
use super::shape::{Column, LANES, Region, Whole};
use super::store::{Room, Segment, Store};

/// Lanes of the group that scans, where the device has as many; `SCAN` in `pack.cl`.
pub(super) const SCAN: usize = 256;

impl Run<'_> {
    /// Extends the first column to the end of the plan, column by column; `false` once the run was asked
    /// to stop.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Device`], and [`gramer_graph::Error::Io`] of the file.
    pub fn whole(&mut self, rows: u32, pack: &Program, room: &Room) -> Result<bool> {
        let stored = self.plan.len() as u64 - 1;
        let arena = Whole::new(self.room as u64, stored, self.graph.warps);
        // The column that is extended and the new one share the memory.
        let room = &Room { memory: room.memory / 2, ..room.clone() };
        let mut table = Store::new(room);
        for depth in 1..=self.plan.len() {
            let out = (depth < self.plan.len()).then_some(arena.out);
            let mut next = Store::new(room);
            let mut full = |run: &mut Self, region: Region, blocks: u32| -> Result<bool> {
                let segment = run.pack(pack, &arena, region, blocks)?;
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
                    let rows = self.load(&arena, &segment)?;
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

    /// Puts a segment into the arena; the number of its last elements.
    fn load(&mut self, arena: &Whole, segment: &Segment) -> Result<u32> {
        let queue = &self.graph.device.queue;
        self.columns.truncate(1);
        let mut words = segment.words.as_slice();
        for (at, &rows) in segment.rows.iter().enumerate() {
            let column = arena.input(at);
            for to in [column.ids, column.parents] {
                let (part, rest) = words.split_at(rows as usize);
                self.graph.arena.write_at(queue, to as usize, part)?;
                words = rest;
            }
            self.columns.push(column);
        }
        self.loaded.clone_from(&segment.rows);
        Ok(*segment.rows.last().expect("a segment has a column"))
    }

    /// Packs the columns of the segment that have descendants in the new column, and that, and reads
    /// them.
    fn pack(
        &mut self,
        pack: &Program,
        arena: &Whole,
        region: Region,
        blocks: u32,
    ) -> Result<Segment> {
        let device = self.graph.device.clone();
        let all = Arg::Buffer(self.graph.arena.raw());
        let fault = Arg::Buffer(self.graph.fault.raw());
        let marks = Arg::U32(arena.marks);
        let launch = |kernel: &str, args: &[Arg], rows: u32| {
            let groups = (rows as usize).div_ceil(8 * LANES).min(64 * device.limits.units).max(1);
            let args: Vec<Arg> = [all, marks].iter().chain(args).copied().collect();
            device.launch(pack, kernel, &args, groups, LANES)
        };
        // Places by the marks of a column, and the elements to them.
        let gather = |from: Column, to: Column, rows: u32| -> Result<u32> {
            device.launch(
                pack,
                "scan_marks",
                &[all, marks, Arg::U32(rows)],
                1,
                device.lanes(SCAN),
            )?;
            let places = [from.ids, from.parents, to.ids, to.parents, rows];
            launch("gather", &places.map(Arg::U32), rows)?;
            let mut stay = [0];
            let at = (arena.marks + rows) as usize;
            self.graph.arena.read_at(&device.queue, at, &mut stay)?;
            Ok(stay[0])
        };
        let ancestors = self.columns[1..].to_vec();
        let mut rows = vec![0; ancestors.len() + 1];
        let (new, raw) = (ancestors.len(), blocks * region.column.block);
        let column = region.column;
        launch("mark_filled", &[column.fills, column.block, raw].map(Arg::U32), raw)?;
        rows[new] = gather(column, arena.packed(new), raw)?;
        for at in (0..new).rev() {
            let (child, size) = (arena.packed(at + 1), self.loaded[at]);
            let (parents, children) = (Arg::U32(child.parents), Arg::U32(rows[at + 1]));
            launch("clear_marks", &[Arg::U32(size)], size)?;
            let args = [parents, children, Arg::U32(size), fault];
            launch("mark_parents", &args, rows[at + 1])?;
            rows[at] = gather(ancestors[at], arena.packed(at), size)?;
            launch("place_parents", &args, rows[at + 1])?;
            self.used.compacted += u64::from(size - rows[at]);
        }
        let mut words = vec![0; 2 * rows.iter().sum::<u32>() as usize];
        let mut rest = words.as_mut_slice();
        for (at, &rows) in rows.iter().enumerate() {
            let column = arena.packed(at);
            for from in [column.ids, column.parents] {
                let (part, more) = rest.split_at_mut(rows as usize);
                self.graph.arena.read_at(&device.queue, from as usize, part)?;
                rest = more;
            }
        }
        Ok(Segment { rows, words })
    }
}
