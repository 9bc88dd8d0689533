//! The merge of sorted segments on a device.

use std::time::Instant;

use gramer_base::error::Result;

use super::{ReducedRecords, SortedRecords, Sorter, Space, WARP, Weights, tiles};
use crate::table::shape::NONE;

/// As in `merge.cl`: elements between two checkpoints, and of a part at most.
const STRIDE: u32 = 16;
const PART: u32 = 512;
/// Maximum number of segments.
pub(super) const WAYS: usize = 16;

/// A part of a segment: keys and weights of records, no weights where each is 1.
pub(super) type Part<'p> = (&'p [u32], &'p [u32]);

/// Places in the arena, in words, for a merge. Keys are at 0.
struct MergeSpace {
    weights: u32,
    starts: u32,
    splits: u32,
    /// Merged keys, and their numbers before.
    first: u32,
    index: u32,
    to_keys: u32,
    to_weights: u32,
    counts: u32,
    end: u64,
}

/// Maximum number of parts that this many records of this many segments are merged in.
fn most_parts(size: u64, segments: u64) -> u64 {
    let checkpoints = size / u64::from(STRIDE) + segments;
    checkpoints.div_ceil(u64::from(PART / STRIDE) - segments)
}

impl Sorter<'_> {
    fn merge_space(&self, size: u64, segments: u64) -> MergeSpace {
        let [key, weight] = [self.records.key, self.records.weight].map(u64::from);
        let weights = key * size;
        let starts = weights + weight * size;
        let splits = starts + segments + 1;
        let first = splits + segments * most_parts(size, segments);
        let index = first + key * size;
        let to_keys = index + size;
        let to_weights = to_keys + key * size;
        let counts = to_weights + weight * size;
        let end = counts + tiles(size, self.lanes() as u64) + 1;
        let places = [weights, starts, splits, first, index, to_keys, to_weights, counts];
        let [weights, starts, splits, first, index, to_keys, to_weights, counts] =
            places.map(|place| place as u32);
        MergeSpace { weights, starts, splits, first, index, to_keys, to_weights, counts, end }
    }

    /// Number of records that fit the arena while this many segments are merged.
    pub fn capacity(&self, segments: usize) -> usize {
        let words = self.arena.len() as u64;
        let fits = |size: u64| self.merge_space(size, segments as u64).end <= words;
        // The first size in question that doesn't fit.
        let (mut low, mut high) = (0, words);
        while low < high {
            let middle = low + (high - low) / 2;
            if fits(middle) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low as usize).saturating_sub(1)
    }

    /// Merges sorted segments, at most the number passed to [`Sorter::capacity`], each as its parts in order. Overwrites the
    /// rest of the arena. None is empty.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn merge(&mut self, segments: &[Vec<Part<'_>>]) -> Result<ReducedRecords> {
        let records = self.records;
        let weighted = segments.iter().flatten().any(|(_, weights)| !weights.is_empty());
        let mut starts = vec![0u32];
        for parts in segments {
            let size = parts.iter().map(|(keys, _)| keys.len() as u32 / records.key).sum::<u32>();
            starts.push(starts[starts.len() - 1] + size);
        }
        let (size, number) = (starts[segments.len()], segments.len() as u32);
        let space = self.merge_space(size.into(), number.into());
        let queue = &self.device.queue;
        let mut at = 0;
        for &(keys, weights) in segments.iter().flatten() {
            let own = keys.len() as u32 / records.key;
            self.arena.write_at(queue, (records.key * at) as usize, keys)?;
            let to = (space.weights + records.weight * at) as usize;
            match weighted && weights.is_empty() {
                true => self.arena.write_at(queue, to, &ones(records.weight, own))?,
                false => self.arena.write_at(queue, to, weights)?,
            }
            at += own;
        }
        self.arena.write_at(queue, space.starts as usize, &starts)?;
        // The writes are no part of the kernels' time.
        self.device.finish()?;
        let begun = Instant::now();
        let checkpoints = starts.windows(2).map(|own| (own[1] - own[0]).div_ceil(STRIDE)).sum();
        let parts = u32::div_ceil(checkpoints, PART / STRIDE - number);
        let args = [0, space.starts, number, checkpoints, space.splits, parts];
        self.over_elements("split_segments", checkpoints, &args, true)?;
        let index = if weighted { space.index } else { NONE };
        let MergeSpace { starts, splits, first, .. } = space;
        let args = [0, size, starts, number, splits, parts, first, index];
        let lanes = self.device.lanes(WARP);
        self.launch_with("merge_parts", (parts as usize, lanes), &args, true)?;
        self.device.finish()?;
        self.merging += begun.elapsed();
        let MergeSpace { to_keys, to_weights, counts, .. } = space;
        let merged = Space { keys: [first, 0], index: None, to_keys, to_weights, counts };
        let sorted = SortedRecords { keys: first, index: weighted.then_some(index) };
        let words = records.weight;
        let weights = weighted.then_some(Weights { at: space.weights, words, stride: words });
        self.reduce(&merged, sorted, size, weights)
    }
}

/// Weights of 1.
fn ones(words: u32, size: u32) -> Vec<u32> {
    (0..words * size).map(|at| u32::from(at % words == 0)).collect()
}
