//! Rows by key on the device: what each key stands for, by a dictionary that the host fills, and sorted segments of that.

use std::sync::atomic::{AtomicU64, Ordering};

use gramer_base::error::Result;

use super::super::COMMON;
use super::super::graph::TableGraph;
use super::super::run::TableRun;
use super::super::shape::{LANES, NONE};
use super::super::sort::{Records, Runs, Sorter, Space, Weights};
use super::super::store::Segment;
use super::super::whole::SCAN;
use super::mining::{Mining, SegmentSteps, marked};
use crate::device::Arg;
use crate::program::Program;

const DICTIONARY: &str = include_str!("../../../kernels/dictionary.cl");
/// Maximum number of rows that are sorted at a time: between these a stop is heard.
const MOST_SORTED: u64 = 1 << 21;
/// Unique numbers of the sets of keys that fill the dictionary, from 1 on.
static OWNERS: AtomicU64 = AtomicU64::new(1);

/// Totals of grouping on the device.
#[derive(Debug, Default)]
pub(crate) struct GroupingTotals {
    /// Segments of keys that were sorted in core, and merges of some of them.
    pub segments: AtomicU64,
    pub merges: AtomicU64,
    /// Keys that the host resolved because the dictionary lacked them, and of these the ones that it had no room
    /// for.
    pub asked: AtomicU64,
    pub left: AtomicU64,
}

/// The keys of rows, and what they stand for.
pub(super) struct Keys {
    /// Words of a row's key, of a row with what is summed up, and of what a key stands for.
    key: usize,
    width: usize,
    values: usize,
    /// Whether a key is a number that stands for itself.
    number: bool,
    owner: u64,
}

/// Computes the meaning of a key.
pub(super) type KeyReader<'s> = dyn FnMut(&[u32], &mut [u32]) + 's;

/// Receiver of parts of a list of rows with keys resolved on the device.
type RowTaker<'t> = dyn FnMut(&TableRun<'_>, (u32, u32)) -> Result<()> + 't;

/// Records to sort for rows with known keys.
#[derive(Debug, Clone, Copy)]
pub(super) struct SortInput {
    pub records: Records,
    /// Records per row; several are written by the kernel `emit`.
    pub each: usize,
    pub emit: Option<&'static str>,
    /// Whether the words behind a row's key are summed up.
    pub sums: bool,
}

/// Places in the arena while rows are grouped.
#[derive(Debug, Clone, Copy)]
struct Areas {
    /// Rows at a time.
    rows: u32,
    keys: u32,
    found: u32,
    fresh: u32,
    left: u32,
    said: u32,
    values: u32,
    /// Initial location of the records to sort.
    first: u32,
    /// Room for keys on their way to the host, and then for the sort.
    rest: u32,
    rest_words: u32,
}

impl Keys {
    /// Keys of `key` words, in rows of `width`, that stand for `values` words each.
    pub fn new(key: usize, width: usize, values: usize) -> Self {
        let owner = OWNERS.fetch_add(1, Ordering::Relaxed);
        Keys { key, width, values, number: false, owner }
    }

    /// Keys that are a number each.
    pub fn numbers(width: usize) -> Self {
        Keys { number: true, ..Keys::new(1, width, 1) }
    }

    fn program(&self, mining: &Mining) -> Result<std::sync::Arc<Program>> {
        let defines = format!("#define KEY {}u\n#define VALUES {}u\n", self.key, self.values);
        mining.device()?.program("dictionary", &[COMMON, &defines, DICTIONARY])
    }

    /// Slots of the dictionary: a power of two, or none.
    fn slots(&self, held: &TableGraph) -> u32 {
        let words = held.dictionary.as_ref().map_or(0, |dictionary| dictionary.len());
        match words / (1 + self.values + self.key) {
            0 => 0,
            most => 1 << most.ilog2(),
        }
    }

    /// Divides the words from `from` to `to` for as many rows as fit, up to a limit. With `values` they go there.
    fn areas(
        &self,
        (from, to): (u32, u32),
        most: u32,
        values: Option<u32>,
        (sorting, lanes): (Option<SortInput>, u64),
    ) -> Areas {
        let (each, key) = sorting.map_or((0, 0), |s| (s.each as u64, u64::from(s.records.key)));
        let indexed = sorting.is_some_and(|s| s.sums);
        let own = sorting.is_some_and(|s| s.emit.is_some());
        let before = |rows: u64| {
            rows * (self.width as u64 + 3)
                + 2
                + if own { rows * self.values as u64 } else { 0 }
                + each * key * rows
        };
        let rest = |rows: u64| {
            let sort = sorting.map_or(0, |s| Space::words(s.records, each * rows, indexed, lanes));
            sort.max(self.key.max(self.values) as u64)
        };
        let words = u64::from(to - from);
        let (mut rows, mut above) = (1, u64::from(most).min(MOST_SORTED) + 1);
        while rows + 1 < above {
            let middle = rows + (above - rows) / 2;
            match before(middle) + rest(middle) <= words {
                true => rows = middle,
                false => above = middle,
            }
        }
        assert!(before(rows) + rest(rows) <= words, "the least arena has room for a row");
        let at = |words: u64| from + words as u32;
        let keys = self.width as u64 * rows;
        let found = [0, 1, 2, 3].map(|list| at(keys + list * rows));
        let values_at = found[3] + 2;
        let first = values_at + if own { (rows * self.values as u64) as u32 } else { 0 };
        let all = first + (each * key * rows) as u32;
        Areas {
            rows: rows as u32,
            keys: from,
            found: found[0],
            fresh: found[1],
            left: found[2],
            said: found[3],
            // Without separate values, the record itself is the value of a key.
            values: values.unwrap_or(if own { values_at } else { first }),
            first,
            rest: all,
            rest_words: to - all,
        }
    }
}

impl Mining {
    /// Sorts the records of a segment of at most [`Mining::rows_of`] rows, and stores them in segments. `bits` is the
    /// number of bits of its words in use so far.
    ///
    /// # Errors
    /// As [`Mining::extend`].
    pub(super) fn sort_rows(
        &self,
        over: &SegmentSteps<'_>,
        segment: Segment,
        (keys, sorting): (&Keys, SortInput),
        (say, bits): (&mut KeyReader<'_>, &dyn Fn() -> [u32; 2]),
        runs: &mut Runs,
    ) -> Result<()> {
        let columns = segment.rows.len();
        let (program, cancel) = (keys.program(self)?, self.cancel());
        self.over(over, (segment, columns), &mut |run, arena, rows| {
            let lanes = run.graph.device.lanes(SCAN) as u64;
            let all = (arena.packed, run.graph.arena.len() as u32);
            let areas = keys.areas(all, rows, None, (Some(sorting), lanes));
            run.describe(0, (rows, None), over.step)?;
            for from in (0..rows).step_by(areas.rows as usize) {
                let to = rows.min(from + areas.rows);
                self.known(run, over, (rows, from, to), (keys, &program), &areas, say)?;
                if let Some(kernel) = sorting.emit {
                    let more = [areas.values, areas.first];
                    self.launch_rows(run, kernel, (from, to), more, false)?;
                }
                let size = (to - from) * sorting.each as u32;
                let indexed = sorting.sums;
                let space = Space::new(sorting.records, size, indexed, areas.first, areas.rest);
                let weights = sorting.sums.then_some(Weights {
                    at: areas.keys + keys.key as u32,
                    words: (keys.width - keys.key) as u32,
                    stride: keys.width as u32,
                });
                let TableGraph { device, arena, fault, .. } = &mut *run.graph;
                let (records, merge) = (sorting.records, self.merge());
                let mut sorter = Sorter::new(device, arena, fault, records, merge)?;
                let sorted = sorter.sort(&space, size, bits(), cancel)?;
                let reduced = sorter.reduce(&space, sorted, size, weights)?;
                runs.push(sorter.read(reduced, runs.chunk())?)?;
            }
            Ok(())
        })?;
        self.sorting(sorting.records, &mut |sorter| {
            runs.merge_due(std::slice::from_mut(sorter), cancel)
        })
    }

    /// Keeps the rows of a segment whose keys stand for 1, and not for 0.
    ///
    /// # Errors
    /// As [`Mining::extend`].
    pub(super) fn keep_by_keys(
        &self,
        over: &SegmentSteps<'_>,
        segment: Segment,
        keys: &Keys,
        say: &mut KeyReader<'_>,
        kept: &mut dyn FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let pack = self.pack()?;
        let columns = segment.rows.len();
        let program = keys.program(self)?;
        self.over(over, (segment, columns), &mut |run, arena, rows| {
            // Marks are what the keys of a part stand for.
            let all = (arena.packed, arena.marks);
            let areas = keys.areas(all, rows, Some(arena.marks), (None, 0));
            run.describe(0, (rows, None), over.step)?;
            for from in (0..rows).step_by(areas.rows as usize) {
                let part = (rows, from, rows.min(from + areas.rows));
                let areas = Areas { values: arena.marks + from, ..areas };
                self.known(run, over, part, (keys, &program), &areas, say)?;
            }
            kept(marked(run, &pack, arena, rows)?)
        })?;
        Ok(())
    }

    /// Does something with the arena as the room of a sorter.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], and those of `work`.
    pub(super) fn sorting(
        &self,
        records: Records,
        work: &mut dyn FnMut(&mut Sorter<'_>) -> Result<()>,
    ) -> Result<()> {
        let merge = self.merge();
        let mut held = self.lock();
        let TableGraph { device, arena, fault, .. } = &mut *held;
        let mut sorter = Sorter::new(device, arena, fault, records, merge)?;
        let done = work(&mut sorter).and_then(|()| sorter.check());
        if done.is_err() {
            let _ = device.finish();
        }
        done
    }

    /// No segments yet.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`] where the kernels aren't built.
    pub(super) fn runs(&self, records: Records) -> Result<Runs> {
        let mut capacity = 0;
        self.sorting(records, &mut |sorter| {
            capacity = sorter.capacity(Runs::WAYS);
            Ok(())
        })?;
        Ok(Runs::new(records, &self.room(), capacity))
    }

    /// Adds up what segments took, for reports.
    pub(super) fn count_runs(&self, runs: &Runs) {
        self.grouped.segments.fetch_add(runs.segments, Ordering::Relaxed);
        self.grouped.merges.fetch_add(runs.merges, Ordering::Relaxed);
    }

    /// Finds what the keys of some rows stand for.
    fn known(
        &self,
        run: &mut TableRun<'_>,
        over: &SegmentSteps<'_>,
        (all, from, to): (u32, u32, u32),
        (keys, program): (&Keys, &Program),
        areas: &Areas,
        say: &mut KeyReader<'_>,
    ) -> Result<()> {
        let kernel = if over.edges { "keys_of_edges" } else { "keys_of_rows" };
        let width = keys.width as u32;
        let more = |first: u32| [areas.keys + (first - from) * width, width];
        self.read_rows(run, kernel, (all, from, to), &more)?;
        let rows = to - from;
        let teaching = KeyResolver { keys, program, areas };
        if keys.number {
            let words = [rows, areas.keys, width, areas.values];
            return teaching.launch(run, "give_numbers", rows, (false, &words, false));
        }
        let owner = std::mem::replace(&mut run.graph.dictionary_of, 0);
        if let Some(dictionary) = run.graph.dictionary.as_ref().filter(|_| owner != keys.owner) {
            dictionary.zero(&run.graph.device.queue)?;
        }
        let slots = keys.slots(run.graph);
        let queue = &run.graph.device.clone().queue;
        run.graph.arena.write_at(queue, areas.said as usize, &[0, 0])?;
        let Areas { keys: at, found, fresh, left, said, values, .. } = *areas;
        let words = [slots, rows, at, width, found, fresh, left, said];
        teaching.launch(run, "find_keys", rows, (true, &words, true))?;
        let mut counts = [0, 0];
        run.graph.arena.read_at(queue, said as usize, &mut counts)?;
        let [new, without] = counts.map(|count| count.min(rows));
        self.grouped.asked.fetch_add(u64::from(new) + u64::from(without), Ordering::Relaxed);
        self.grouped.left.fetch_add(without.into(), Ordering::Relaxed);
        teaching.each(run, (fresh, new), say, &mut |run, (from, to)| {
            let words = [slots, fresh, from, to, at, width, found, areas.rest];
            teaching.launch(run, "learn_keys", to - from, (true, &words, true))
        })?;
        if slots > 0 {
            let words = [slots, rows, found, values];
            teaching.launch(run, "give_values", rows, (true, &words, true))?;
        }
        teaching.each(run, (left, without), say, &mut |run, (from, to)| {
            let words = [left, from, to, values, areas.rest];
            teaching.launch(run, "give_left", to - from, (false, &words, false))
        })?;
        // What was met is whole.
        run.graph.dictionary_of = keys.owner;
        Ok(())
    }
}

/// Keys that the host resolves.
struct KeyResolver<'t> {
    keys: &'t Keys,
    program: &'t Program,
    areas: &'t Areas,
}

impl KeyResolver<'_> {
    /// A kernel over this many rows, with the dictionary and the error word if it takes them.
    fn launch(
        &self,
        run: &TableRun<'_>,
        kernel: &str,
        rows: u32,
        (dictionary, words, fault): (bool, &[u32], bool),
    ) -> Result<()> {
        let TableGraph { device, arena, fault: error, dictionary: held, .. } = &*run.graph;
        let mut args = vec![Arg::Buffer(arena.raw())];
        if dictionary {
            // Without one it has no slots, and nothing is read there.
            args.push(Arg::Buffer(held.as_ref().map_or(error.raw(), |held| held.raw())));
        }
        args.extend(words.iter().map(|&word| Arg::U32(word)));
        if fault {
            args.push(Arg::Buffer(error.raw()));
        }
        let groups = (rows as usize).div_ceil(LANES).min(64 * device.limits.units);
        device.launch(self.program, kernel, &args, groups, LANES)
    }

    /// Resolves the keys of a list of rows on the host, in batches; calls `told` when the results are on the
    /// device.
    fn each(
        &self,
        run: &mut TableRun<'_>,
        (list, size): (u32, u32),
        say: &mut KeyReader<'_>,
        told: &mut RowTaker<'_>,
    ) -> Result<()> {
        let Keys { key, values, width, .. } = *self.keys;
        let queue = &run.graph.device.clone().queue;
        let rest = self.areas.rest;
        let most = self.areas.rest_words as usize / key.max(values);
        let (mut asked, mut said) = (vec![], vec![]);
        for from in (0..size).step_by(most) {
            let to = size.min(from + most as u32);
            let words = [list, from, to, self.areas.keys, width as u32, rest];
            self.launch(run, "take_keys", to - from, (false, &words, false))?;
            asked.resize((to - from) as usize * key, NONE);
            said.resize((to - from) as usize * values, NONE);
            run.graph.arena.read_at(queue, rest as usize, &mut asked)?;
            for (key, values) in asked.chunks_exact(key).zip(said.chunks_exact_mut(values)) {
                say(key, values);
            }
            run.graph.arena.write_at(queue, rest as usize, &said)?;
            told(run, (from, to))?;
        }
        Ok(())
    }
}
