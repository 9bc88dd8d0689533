//! One batch of rows: their buffers, what of them stays, and the new rows.

use gramer_base::error::{Error, Result};

use crate::device::Arg;
use crate::memory::Buffer;

use super::layers::{Layers, Thresholds, thresholds};
use super::query::{Level, Link};
use super::run::{CONTROL_WORDS, JoinRun, lanes, scan_lanes};
use super::settings::FirstEdge;

/// No bin, no fixed edge.
const NONE: u32 = u32::MAX;
/// Rows of a part of a prefix sum for each lane, and lanes of kernels with one for each row.
const SCAN_EACH: usize = 8;
const ROW_LANES: usize = 64;
/// Rows that a block takes together; as in `join_layers.cl`.
const POOL_ROWS: usize = 16;

/// A buffer as an argument.
fn buffer(of: &Buffer<u32>) -> Arg {
    Arg::Buffer(of.raw())
}

/// A number as an argument.
fn word(of: usize) -> Arg {
    Arg::U32(of as u32)
}

impl JoinRun<'_> {
    /// The level that adds a vertex to `depth` columns.
    fn level(&self, depth: usize) -> Level {
        self.query.levels[depth - 1].clone()
    }

    fn is_last(&self, depth: usize) -> bool {
        depth + 1 == self.query.depths()
    }

    /// Groups for this many rows.
    fn groups(&self, rows: usize) -> usize {
        let most = if self.device.limits.portable { 2 } else { 64 } * self.device.limits.units;
        rows.clamp(1, most)
    }

    fn by_row(&self, kernel: &str, args: &[Arg], rows: usize) -> Result<()> {
        let lanes = self.device.lanes(ROW_LANES);
        self.device.launch(&self.warp, kernel, args, self.groups(rows.div_ceil(lanes)), lanes)
    }

    fn by_warp(&self, kernel: &str, args: &[Arg], rows: usize) -> Result<()> {
        self.device.launch(&self.warp, kernel, args, self.groups(rows), lanes(&self.device).0)
    }

    /// Prefix sums of sizes.
    fn scan(&self, sizes: &Buffer<u32>, rows: usize, places: &Buffer<u32>) -> Result<()> {
        let lanes = scan_lanes(&self.device);
        let parts = rows.div_ceil(lanes * SCAN_EACH);
        let sums = Arg::Buffer(self.scratch.batch.parts.raw());
        let args = [buffer(sizes), word(rows), buffer(places), sums];
        self.device.launch(&self.warp, "scan_parts", &args, parts, lanes)?;
        self.device.launch(&self.warp, "scan_sums", &[sums, word(parts)], 1, lanes)?;
        self.by_row("scan_add", &[word(rows), buffer(places), sums], rows + 1)
    }

    /// Returns the number of rows that fit into `room`, and their size.
    fn fitting(&self, places: &Buffer<u32>, rows: usize, room: usize) -> Result<(usize, usize)> {
        self.clear_control()?;
        let args = [buffer(places), word(rows), word(room), buffer(&self.scratch.batch.control)];
        self.by_row("cut", &args, rows)?;
        let control = self.control()?;
        Ok((control[0] as usize, control[1] as usize))
    }

    fn clear_control(&self) -> Result<()> {
        self.scratch.batch.control.zero(&self.device.queue)
    }

    fn control(&self) -> Result<[u32; CONTROL_WORDS]> {
        let mut control = [0; CONTROL_WORDS];
        self.scratch.batch.control.read(&self.device.queue, &mut control)?;
        Ok(control)
    }

    /// The edge that comes first for all rows, where it isn't chosen row by row.
    fn fixed(&self, level: &Level) -> Option<u32> {
        match self.settings.first {
            FirstEdge::Row if level.near.len() > 1 => None,
            _ => level.near.iter().min_by_key(|link| self.store.edges(link)).map(|link| link.which),
        }
    }

    /// Lengths of the lists, and each row's first edge (Alg. 3).
    fn choose(&mut self, depth: usize, from: usize, rows: usize) -> Result<()> {
        let (level, limit) = (self.level(depth), self.scratch.room.batch);
        let fixed = self.fixed(&level);
        let measured = level.near.iter().filter(|link| fixed.is_none_or(|j| j == link.which));
        self.scratch.batch.found.zero(&self.device.queue)?;
        for (at, link) in measured.enumerate() {
            for number in 0..self.store.segments(link) {
                self.store.load(link, number)?;
                let mut args = self.lists(link);
                args.extend(self.table(depth, from, rows));
                args.extend([
                    Arg::U32(link.which),
                    buffer(&self.scratch.batch.found),
                    word(at * limit),
                ]);
                args.extend([buffer(&self.sums), buffer(&self.fault)]);
                self.by_warp("lengths", &args, rows)?;
            }
        }
        let near: u32 = level.near.iter().map(|link| 1 << link.which).sum();
        let b = &self.scratch.batch;
        let mut args = vec![buffer(&b.found), Arg::U32(near), Arg::U32(fixed.unwrap_or(NONE))];
        args.extend([word(limit), word(rows), buffer(&b.chosen), buffer(&b.capacity)]);
        args.extend([buffer(&b.fills), buffer(&b.kept), buffer(&b.flags)]);
        self.by_row("choose", &args, rows)
    }

    /// The lists' words, and which are meant.
    fn lists(&self, link: &Link) -> Vec<Arg> {
        let mut args = self.store.args().to_vec();
        args.push(Arg::U32(link.which));
        args
    }

    /// A table and the rows of it.
    fn table(&self, depth: usize, from: usize, rows: usize) -> [Arg; 4] {
        [
            buffer(&self.scratch.tables[depth - 1]),
            word(self.scratch.room.rows),
            word(from),
            word(rows),
        ]
    }

    /// Requirements of the new vertex: columns before it, plan, candidates.
    fn wanted(&self, depth: usize) -> [Arg; 5] {
        let (from, to) = self.candidates_at[depth];
        let candidates = buffer(&self.candidates);
        [word(depth), buffer(&self.plan[depth]), candidates, Arg::U32(from), Arg::U32(to)]
    }

    /// Joins rows of a table of `depth` columns with the next vertex' candidates (Alg. 2): how many rows were
    /// joined, and the number of new ones.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn prealloc(&mut self, depth: usize, from: usize, rows: usize) -> Result<(usize, usize)> {
        self.choose(depth, from, rows)?;
        let b = &self.scratch.batch;
        self.scan(&b.capacity, rows, &b.offsets)?;
        let (rows, allocated) = self.fitting(&b.offsets, rows, self.elements as usize)?;
        if rows == 0 {
            return Err(Error::Device("a row has no room, though the longest has".into()));
        }
        self.did.allocated += allocated as u64;
        let level = self.level(depth);
        self.firsts(depth, from, rows, &level)?;
        self.narrow(depth, from, rows, &level)?;
        if self.is_last(depth) {
            self.add(rows)?;
            return Ok((rows, 0));
        }
        let found = self.places(rows)?;
        let b = &self.scratch.batch;
        let next = &self.scratch.tables[depth];
        let mut args = self.table(depth, from, rows).to_vec();
        args.extend([word(depth), buffer(&self.scratch.gba), buffer(&b.offsets), buffer(&b.fills)]);
        args.extend([buffer(&b.places), buffer(next), word(next.len()), buffer(&self.fault)]);
        self.by_warp("link", &args, rows)?;
        Ok((rows, found))
    }

    /// Adds the fills of rows to the count.
    fn add(&self, rows: usize) -> Result<()> {
        self.by_warp(
            "add_fills",
            &[buffer(&self.scratch.batch.fills), word(rows), buffer(&self.sums)],
            rows,
        )
    }

    /// The places of new rows, and their number.
    fn places(&self, rows: usize) -> Result<usize> {
        let b = &self.scratch.batch;
        self.scan(&b.fills, rows, &b.places)?;
        let mut found = [0];
        b.places.read_at(&self.device.queue, rows, &mut found)?;
        Ok(found[0] as usize)
    }

    /// The first edges of the rows.
    fn firsts(&mut self, depth: usize, from: usize, rows: usize, level: &Level) -> Result<()> {
        let fixed = self.fixed(level);
        let layers = self.divide(rows)?;
        for link in level.near.iter().filter(|link| fixed.is_none_or(|j| j == link.which)) {
            let segments = self.store.segments(link);
            for number in 0..segments {
                self.store.load(link, number)?;
                self.clear_control()?;
                match &layers {
                    None => self.first(depth, from, rows, (link, level), None)?,
                    Some(layers) => self.by_layer(depth, from, (link, level), layers)?,
                }
                if self.is_over(segments, number)? {
                    break;
                }
            }
        }
        self.settle(NONE, rows)
    }

    /// Whether no row has more to read from the segments that are left.
    fn is_over(&mut self, segments: usize, number: usize) -> Result<bool> {
        let left = segments - number - 1;
        let over = left > 0 && self.control()?[3] == 0;
        self.did.skipped += if over { left as u64 } else { 0 };
        Ok(over)
    }

    fn settle(&self, which: u32, rows: usize) -> Result<()> {
        let b = &self.scratch.batch;
        let args = [buffer(&b.chosen), buffer(&b.fills), buffer(&b.kept), buffer(&b.flags)];
        let args: Vec<Arg> = [Arg::U32(which), word(rows)].into_iter().chain(args).collect();
        self.by_row("settle", &args, rows)
    }

    /// The arguments of a first edge for all rows, or for those of a bin.
    fn first_args(
        &self,
        (depth, from, rows): (usize, usize, usize),
        (link, level): (&Link, &Level),
        bin: Option<usize>,
    ) -> Vec<Arg> {
        let b = &self.scratch.batch;
        // The last vertices are only counted, if nothing has to look at them again.
        let store = !self.is_last(depth) || level.near.len() > 1 || !level.far.is_empty();
        let mut args = self.lists(link);
        args.extend(self.table(depth, from, rows));
        args.extend(self.wanted(depth));
        args.extend([buffer(&self.scratch.gba), word(self.scratch.gba.len()), buffer(&b.offsets)]);
        args.extend([buffer(&b.chosen), buffer(&b.fills), buffer(&b.flags), buffer(&b.bins)]);
        let bin = bin.map_or(NONE, |layer| (layer * self.scratch.room.batch) as u32);
        args.extend([Arg::U32(bin), Arg::U32(store.into()), buffer(&b.control)]);
        args.extend([buffer(&self.sums), buffer(&self.fault)]);
        args
    }

    fn first(
        &self,
        depth: usize,
        from: usize,
        rows: usize,
        of: (&Link, &Level),
        bin: Option<usize>,
    ) -> Result<()> {
        self.by_warp("first", &self.first_args((depth, from, rows), of, bin), rows)
    }

    /// Rows by layer, and those that the whole device takes; none without layers.
    fn divide(&mut self, rows: usize) -> Result<Option<[Vec<u32>; 4]>> {
        let Some((program, costs)) = self.block.clone() else { return Ok(None) };
        let lanes = self.device.lanes(ROW_LANES);
        let groups = self.groups(rows.div_ceil(lanes));
        let b = &self.scratch.batch;
        let limits = match self.settings.layers {
            Layers::Histogram => {
                let intervals = self.histogram.len();
                self.histogram.zero(&self.device.queue)?;
                let args =
                    [buffer(&b.capacity), word(rows), word(intervals), buffer(&self.histogram)];
                self.device.launch(&program, "histogram", &args, groups, lanes)?;
                let mut counts = vec![0; intervals];
                self.histogram.read(&self.device.queue, &mut counts)?;
                thresholds(&counts, &costs)
            }
            _ => Thresholds::PAPER,
        };
        self.clear_control()?;
        let b = &self.scratch.batch;
        let limit = self.scratch.room.batch;
        let args = [buffer(&b.capacity), word(rows), Arg::U32(limits.x3), Arg::U32(limits.x1)];
        let args: Vec<Arg> =
            args.into_iter().chain([word(limit), buffer(&b.bins), buffer(&b.control)]).collect();
        self.device.launch(&program, "divide", &args, groups, lanes)?;
        let control = self.control()?;
        let mut layers: [Vec<u32>; 4] = Default::default();
        for (layer, own) in layers.iter_mut().enumerate() {
            *own = vec![0; control[4 + layer] as usize];
            self.did.layers[layer] += own.len() as u64;
        }
        self.scratch.batch.bins.read_at(&self.device.queue, 3 * limit, &mut layers[3])?;
        Ok(Some(layers))
    }

    /// The first edge in each layer.
    fn by_layer(
        &self,
        depth: usize,
        from: usize,
        of: (&Link, &Level),
        layers: &[Vec<u32>; 4],
    ) -> Result<()> {
        let (program, _) = self.block.as_ref().expect("there are layers");
        let block = lanes(&self.device).1;
        let launch = |kernel: &str, layer: usize, rows: usize, groups: usize| {
            let args = self.first_args((depth, from, rows), of, Some(layer));
            self.device.launch(program, kernel, &args, groups, block)
        };
        let size = |layer: usize| layers[layer].len();
        if size(0) > 0 {
            self.first(depth, from, size(0), of, Some(0))?;
        }
        if size(1) > 0 {
            launch("first_pool", 1, size(1), self.groups(size(1).div_ceil(POOL_ROWS)))?;
        }
        if size(2) > 0 {
            launch("first", 2, size(2), self.groups(size(2)))?;
        }
        // Of a list in segments, or with rows that begin with different edges, each block takes its row.
        let (link, level) = of;
        let alone = self.store.segments(link) == 1 && self.fixed(level).is_some();
        if size(3) > 0 && !alone {
            launch("first", 3, size(3), self.groups(size(3)))?;
        }
        for &row in layers[3].iter().filter(|_| alone) {
            let b = &self.scratch.batch;
            let mut args = self.lists(link);
            args.extend(self.table(depth, from, row as usize));
            args.extend(self.wanted(depth));
            args.extend([
                buffer(&self.scratch.gba),
                word(self.scratch.gba.len()),
                buffer(&b.offsets),
            ]);
            args.extend([buffer(&self.sums), buffer(&self.fault)]);
            self.device.launch(program, "first_row", &args, self.groups(usize::MAX), block)?;
            let mut args =
                vec![buffer(&self.scratch.gba), word(self.scratch.gba.len()), buffer(&b.offsets)];
            args.extend([buffer(&b.capacity), Arg::U32(row), buffer(&b.fills), buffer(&b.flags)]);
            args.extend([buffer(&self.sums), buffer(&self.fault)]);
            self.device.launch(program, "squeeze", &args, 1, block)?;
        }
        Ok(())
    }

    /// The other edges of the rows, and vertices that must not be neighbours.
    fn narrow(&mut self, depth: usize, from: usize, rows: usize, level: &Level) -> Result<()> {
        let fixed = self.fixed(level);
        let near =
            level.near.iter().filter(|link| fixed != Some(link.which)).map(|link| (link, false));
        for (link, far) in near.chain(level.far.iter().map(|link| (link, true))) {
            let segments = self.store.segments(link);
            for number in 0..segments {
                self.store.load(link, number)?;
                self.clear_control()?;
                let b = &self.scratch.batch;
                let mut args = self.lists(link);
                args.extend(self.table(depth, from, rows));
                args.extend([
                    Arg::U32(far.into()),
                    buffer(&self.scratch.gba),
                    word(self.scratch.gba.len()),
                ]);
                args.extend([buffer(&b.offsets), buffer(&b.chosen), buffer(&b.fills)]);
                args.extend([buffer(&b.kept), buffer(&b.flags), buffer(&b.control)]);
                args.extend([buffer(&self.sums), buffer(&self.fault)]);
                self.by_warp("narrow", &args, rows)?;
                if !far && self.is_over(segments, number)? {
                    break;
                }
            }
            if !far {
                self.settle(link.which, rows)?;
            }
        }
        Ok(())
    }

    /// Alternative to [`JoinRun::prealloc`] without preallocation: runs everything twice, to count and to write.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the graph isn't whole on the device, [`Error::Device`].
    pub fn twice(&mut self, depth: usize, from: usize, rows: usize) -> Result<(usize, usize)> {
        let level = self.level(depth);
        self.choose(depth, from, rows)?;
        self.store.load_whole(level.near.iter().chain(&level.far))?;
        let pass = |run: &Self, rows: usize, second: bool| {
            let b = &run.scratch.batch;
            let next = run.scratch.tables.get(depth).unwrap_or(&run.scratch.tables[depth - 1]);
            let mut args = run.store.args().to_vec();
            args.extend(run.table(depth, from, rows));
            args.extend(run.wanted(depth));
            args.extend([buffer(&b.chosen), Arg::U32(second.into()), buffer(&b.fills)]);
            args.extend([buffer(&b.places), buffer(next), word(next.len())]);
            args.extend([buffer(&run.sums), buffer(&run.fault)]);
            run.by_warp("twice", &args, rows)
        };
        pass(self, rows, false)?;
        if self.is_last(depth) {
            self.add(rows)?;
            return Ok((rows, 0));
        }
        self.places(rows)?;
        let (rows, found) =
            self.fitting(&self.scratch.batch.places, rows, self.scratch.room.rows)?;
        if rows == 0 {
            return Err(Error::Device("a row has no room, though the longest has".into()));
        }
        pass(self, rows, true)?;
        Ok((rows, found))
    }
}
