//! Sorting of records on the device, sums of equal ones, and the merge of sorted segments (GAMMA, section 6.2).
//!
//! A [`Sorter`] works in a part of an arena of words that its caller gives it: it reserves nothing. What doesn't fit
//! there is sorted in segments, which [`Runs`] keeps in the host's memory and in a file, and merges.

mod count;
mod merge;
mod runs;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gramer_base::context::Cancel;
use gramer_base::error::Result;
use gramer_base::parallel::{beside, for_parts};

use crate::device::{Arg, Device};
use crate::memory::Buffer;
use crate::program::Program;
use crate::resident::check_fault;

use super::COMMON;
use super::settings::Merge;
use super::shape::NONE;
use super::whole::SCAN;

pub use count::{Segments, count_numbers};
pub(super) use runs::Runs;

const SORT: &str = include_str!("../../../kernels/sort.cl");
const MERGE: &str = include_str!("../../../kernels/merge.cl");
/// As in `sort.cl`: elements of a lane, bits of a digit.
const EACH: u32 = 16;
const DIGIT_BITS: u32 = 4;
const DIGITS: u32 = 1 << DIGIT_BITS;
/// Records from which on a stop is heard between the digits of a sort: a driver takes kernels long before they have run.
const LONG: u32 = 1 << 22;

/// Layout of records, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Records {
    /// Words of a key: 1 or 2, the lower one first.
    pub key: u32,
    /// Words of a weight, which is added up for equal keys: 2 or 4; 0: equal keys are merged.
    pub weight: u32,
}

impl Records {
    /// The key with this number.
    pub fn key_at(self, keys: &[u32], at: usize) -> u64 {
        let own = &keys[at * self.key as usize..][..self.key as usize];
        own.iter().rev().fold(0, |key, &word| key << 32 | u64::from(word))
    }

    /// The weight with this number; each is 1 where they aren't kept.
    pub fn weight_at(self, weights: &[u32], at: usize) -> u128 {
        if weights.is_empty() {
            return 1;
        }
        let own = &weights[at * self.weight as usize..][..self.weight as usize];
        own.iter().rev().fold(0, |sum, &word| sum << 32 | u128::from(word))
    }
}

/// Places in the arena, in words, for a number of records to be sorted and added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Space {
    /// Keys lie in the first one before they are sorted.
    pub keys: [u32; 2],
    /// Numbers of records before they were sorted, where weights are found by them.
    index: Option<[u32; 2]>,
    to_keys: u32,
    to_weights: u32,
    counts: u32,
}

impl Space {
    /// Room for `size` records: their keys lie at `keys`, and all else from `at` on.
    pub fn new(records: Records, size: u32, indexed: bool, keys: u32, at: u32) -> Self {
        let second = at;
        let index = second + records.key * size;
        let to_keys = index + if indexed { 2 * size } else { 0 };
        let to_weights = to_keys + records.key * size;
        let counts = to_weights + records.weight * size;
        let index = indexed.then_some([index, index + size]);
        Space { keys: [keys, second], index, to_keys, to_weights, counts }
    }

    /// Words of all but the first keys, where groups of kernels have this many lanes.
    pub fn words(records: Records, size: u64, indexed: bool, lanes: u64) -> u64 {
        let each = u64::from(2 * records.key + records.weight) + if indexed { 2 } else { 0 };
        each * size + u64::from(DIGITS) * tiles(size, lanes) + 1
    }
}

/// Groups of kernels that take tiles.
fn tiles(size: u64, lanes: u64) -> u64 {
    size.div_ceil(lanes * u64::from(EACH)).max(1)
}

/// Location of records' weights before they are added up: position of the first, words of one, and stride in
/// words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weights {
    pub at: u32,
    pub words: u32,
    pub stride: u32,
}

/// Records that are sorted: where their keys lie, and their numbers before that, if these aren't the same or not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SortedRecords {
    keys: u32,
    index: Option<u32>,
}

/// Sorted records with different keys, on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReducedRecords {
    size: u32,
    keys: u32,
    /// None where each weighs 1.
    weights: Option<u32>,
}

/// Sorted records with different keys, in the host's memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Piece {
    pub keys: Vec<u32>,
    /// Empty where each record weighs 1.
    pub weights: Vec<u32>,
}

/// Sorter with an arena.
pub(super) struct Sorter<'a> {
    device: Arc<Device>,
    program: Arc<Program>,
    arena: &'a mut Buffer<u32>,
    fault: &'a Buffer<u32>,
    pub records: Records,
    /// Vectors of pieces that aren't needed any more.
    spare: Vec<Piece>,
    /// Time of the merges' kernels.
    merging: Duration,
}

impl<'a> Sorter<'a> {
    /// Creates a sorter.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`] where the program isn't built.
    pub fn new(
        device: &Arc<Device>,
        arena: &'a mut Buffer<u32>,
        fault: &'a Buffer<u32>,
        records: Records,
        merge: Merge,
    ) -> Result<Self> {
        let program = program(device, records, merge)?;
        let (spare, merging) = (vec![], Duration::ZERO);
        Ok(Sorter { device: device.clone(), program, arena, fault, records, spare, merging })
    }

    fn lanes(&self) -> usize {
        self.device.lanes(SCAN)
    }

    /// A kernel over tiles of this many elements.
    fn over_tiles(&self, kernel: &str, size: u32, args: &[u32], fault: bool) -> Result<()> {
        let groups = tiles(size.into(), self.lanes() as u64) as usize;
        self.launch(kernel, groups, args, fault)
    }

    /// A kernel whose lanes take single elements.
    fn over_elements(&self, kernel: &str, size: u32, args: &[u32], fault: bool) -> Result<()> {
        let groups = (size as usize).div_ceil(self.lanes()).min(64 * self.device.limits.units);
        self.launch(kernel, groups, args, fault)
    }

    fn launch(&self, kernel: &str, groups: usize, args: &[u32], fault: bool) -> Result<()> {
        self.launch_with(kernel, (groups, self.lanes()), args, fault)
    }

    fn launch_with(
        &self,
        kernel: &str,
        (groups, lanes): (usize, usize),
        args: &[u32],
        fault: bool,
    ) -> Result<()> {
        let mut all = vec![Arg::Buffer(self.arena.raw())];
        all.extend(args.iter().map(|&word| Arg::U32(word)));
        if fault {
            all.push(Arg::Buffer(self.fault.raw()));
        }
        self.device.launch(&self.program, kernel, &all, groups, lanes)
    }

    /// Sums of words before each, and of all behind them.
    fn sum_before(&self, words: u32, size: u32) -> Result<()> {
        self.launch("sum_before", 1, &[words, size], false)
    }

    /// Sorts records by this many bits of their keys' words, from the lowest. The sort is stable.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], [`gramer_base::Error::Interrupted`].
    pub fn sort(
        &self,
        space: &Space,
        size: u32,
        bits: [u32; 2],
        cancel: &Cancel,
    ) -> Result<SortedRecords> {
        let tiles = tiles(size.into(), self.lanes() as u64) as u32;
        let (mut from, mut index) = (0, None);
        let shifts = (0..self.records.key).flat_map(|word| {
            let shifts = (0..bits[word as usize]).step_by(DIGIT_BITS as usize);
            shifts.map(move |shift| shift + 32 * word)
        });
        for shift in shifts {
            if size >= LONG {
                self.device.finish()?;
                cancel.check()?;
            }
            let (keys, to) = (space.keys[from], space.keys[1 - from]);
            if tiles > 1 {
                let args = [keys, size, shift, space.counts, tiles];
                self.over_tiles("count_digits", size, &args, false)?;
                self.sum_before(space.counts, DIGITS * tiles)?;
            }
            let to_index = space.index.map(|index| index[1 - from]);
            let [was, is] = [index, to_index].map(|index| index.unwrap_or(NONE));
            let args = [keys, was, size, shift, space.counts, tiles, to, is];
            self.over_tiles("move_by_digit", size, &args, true)?;
            (from, index) = (1 - from, to_index);
        }
        Ok(SortedRecords { keys: space.keys[from], index })
    }

    /// Each key of sorted records once, and the sum of its weights; without any they weigh 1.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn reduce(
        &self,
        space: &Space,
        sorted: SortedRecords,
        size: u32,
        weights: Option<Weights>,
    ) -> Result<ReducedRecords> {
        let tiles = tiles(size.into(), self.lanes() as u64) as u32;
        // A driver that runs wrong must not lead behind the arena.
        let read = |at: u32| -> Result<u32> {
            let mut runs = [0];
            self.arena.read_at(&self.device.queue, at as usize, &mut runs)?;
            Ok(runs[0].min(size))
        };
        // Of a single tile it is known afterwards.
        let mut runs = size;
        if tiles > 1 {
            self.over_tiles("count_runs", size, &[sorted.keys, size, space.counts], false)?;
            self.sum_before(space.counts, tiles)?;
            runs = read(space.counts + tiles)?;
            if runs == size && weights.is_none() {
                return Ok(ReducedRecords { size, keys: sorted.keys, weights: None });
            }
        }
        if runs * self.records.weight > 0 {
            let words = runs * self.records.weight;
            self.over_elements("clear_words", words, &[space.to_weights, words], false)?;
        }
        let Weights { at, words: own, stride } =
            weights.unwrap_or(Weights { at: 0, words: 0, stride: 0 });
        let index = sorted.index.unwrap_or(NONE);
        let Space { to_keys, to_weights, counts, .. } = *space;
        let args = [sorted.keys, index, size, at, own, stride, counts, tiles, to_keys, to_weights];
        self.over_tiles("reduce_runs", size, &args, true)?;
        if tiles == 1 {
            runs = read(counts)?;
        }
        let weighted = self.records.weight > 0 && !(weights.is_none() && runs == size);
        let weights = weighted.then_some(to_weights);
        Ok(ReducedRecords { size: runs, keys: to_keys, weights })
    }

    /// Reads records from the device in pieces of `most`.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn read(&mut self, reduced: ReducedRecords, most: usize) -> Result<Vec<Piece>> {
        let Records { key, weight } = self.records;
        let queue = &self.device.queue;
        let mut pieces = vec![];
        for from in (0..reduced.size).step_by(most) {
            let size = (most as u32).min(reduced.size - from);
            let mut piece = self.spare.pop().unwrap_or_default();
            piece.keys.resize((key * size) as usize, 0);
            self.arena.read_at(queue, (reduced.keys + key * from) as usize, &mut piece.keys)?;
            piece.weights.resize(reduced.weights.map_or(0, |_| weight * size) as usize, 0);
            if let Some(at) = reduced.weights {
                self.arena.read_at(queue, (at + weight * from) as usize, &mut piece.weights)?;
            }
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// Writes words to the arena.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn write(&mut self, at: u32, words: &[u32]) -> Result<()> {
        self.arena.write_at(&self.device.queue, at as usize, words)
    }

    /// Checks the error word of checked kernels.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`] for a fault that one has met.
    pub fn check(&self) -> Result<()> {
        check_fault(&self.device, self.fault)
    }
}

/// Processes each part on a different device, concurrently; returns the results in order.
fn each<P: Send, R: Send>(
    parts: Vec<P>,
    sorters: &mut [Sorter<'_>],
    work: impl Fn((P, &mut Sorter<'_>)) -> Result<R> + Sync,
) -> Vec<Result<R>> {
    for_parts(parts.into_iter().zip(sorters).collect(), work)
}

/// Does `own` on this thread, and `work` meanwhile on another where the system gives one, else before.
fn meanwhile<R: Send, T>(work: impl FnOnce() -> R + Send, own: impl FnOnce() -> T) -> (R, T) {
    let (due, done) = (Mutex::new(Some(work)), Mutex::new(None));
    let run = || {
        let work = due.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(work) = work {
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(work());
        }
    };
    let own = beside(2, run, own);
    run();
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    (done.expect("it has run"), own)
}

fn program(device: &Device, records: Records, merge: Merge) -> Result<Arc<Program>> {
    let Records { key, weight } = records;
    let scan = device.lanes(SCAN);
    let defines =
        format!("#define SCAN {scan}u\n#define KEY_WORDS {key}\n#define WEIGHT_WORDS {weight}\n");
    device.program("sort", &[COMMON, &defines, &merge::defines(device, merge), SORT, MERGE])
}
