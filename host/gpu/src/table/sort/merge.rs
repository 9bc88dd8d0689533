//! The merge of sorted segments on a device.

use std::time::Instant;

use gramer_base::error::Result;

use super::{ReducedRecords, SortedRecords, Sorter, Space, Weights, tiles};
use crate::device::Device;
use crate::table::settings::Merge;
use crate::table::shape::NONE;

/// Elements between two checkpoints.
const STRIDE: u32 = 16;
/// Maximum number of elements of a part.
const PART: u32 = 512;
/// Maximum number of segments.
pub(super) const WAYS: usize = 16;
/// Lanes of a group that merges, where the device has as many.
const WARP: usize = 32;

/// Definitions of `merge.cl`.
pub(super) fn defines(device: &Device, merge: Merge) -> String {
    let form = match merge {
        Merge::Path => "#define PATH\n",
        Merge::Earlier => "",
        Merge::Every => "#define EVERY\n",
    };
    let warp = device.lanes(WARP);
    format!(
        "#define STRIDE {STRIDE}u\n#define PART {PART}u\n#define WAYS {WAYS}u\n#define WARP {warp}u\n{form}"
    )
}

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::*;
    use crate::memory::Buffer;
    use crate::table::sort::Records;
    use crate::{Settings, select};

    /// Random numbers (SplitMix64).
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed ^ mixed >> 27) % end
        }

        /// A segment of up to `size` keys below `end`, and a weight for each of them, or none.
        fn segment(&mut self, size: u64, end: u64, weights: bool) -> BTreeMap<u64, Option<u32>> {
            let own = |random: &mut Self| weights.then(|| random.below(1000) as u32);
            (0..size).map(|_| (self.below(end), own(self))).collect()
        }
    }

    /// Words of keys and of weights.
    fn words(
        records: Records,
        segment: impl Iterator<Item = (u64, Option<u32>)>,
    ) -> (Vec<u32>, Vec<u32>) {
        let (mut keys, mut weights) = (vec![], vec![]);
        for (key, own) in segment {
            keys.extend([key as u32, (key >> 32) as u32].iter().take(records.key as usize));
            if let Some(own) = own {
                weights.extend((0..records.weight).map(|at| if at == 0 { own } else { 0 }));
            }
        }
        (keys, weights)
    }

    /// Merges segments, each as two parts, and compares with a map's sums.
    fn compare(sorter: &mut Sorter<'_>, segments: &[BTreeMap<u64, Option<u32>>], what: &str) {
        let records = sorter.records;
        let mut right: BTreeMap<u64, u128> = BTreeMap::new();
        for (&key, own) in segments.iter().flatten() {
            *right.entry(key).or_default() += u128::from(own.unwrap_or(1));
        }
        let halves = |segment: &BTreeMap<u64, Option<u32>>| {
            let half = segment.len() / 3;
            let all = || segment.iter().map(|(&key, &own)| (key, own));
            [words(records, all().take(half)), words(records, all().skip(half))]
        };
        let halves: Vec<_> = segments.iter().map(halves).collect();
        let parts: Vec<Vec<Part<'_>>> = halves
            .iter()
            .map(|own| own.iter().map(|(keys, weights)| (&keys[..], &weights[..])).collect())
            .collect();
        let merged = sorter.merge(&parts).unwrap();
        sorter.check().unwrap();
        let mut found = vec![];
        for piece in sorter.read(merged, 1000).unwrap() {
            for at in 0..piece.keys.len() / records.key as usize {
                let weight = records.weight_at(&piece.weights, at);
                found.push((records.key_at(&piece.keys, at), weight));
            }
        }
        if records.weight == 0 {
            right.values_mut().for_each(|sum| *sum = 1);
        }
        assert!(found == right.into_iter().collect::<Vec<_>>(), "{what}");
    }

    /// Lists of one element and of many parts, keys in all segments and in one, with weights in some of them.
    #[test]
    fn segments_are_merged_as_by_a_map() {
        let Some(handle) = select::portable() else { return };
        let settings = Settings { checked: true, ..Settings::default() };
        let device = Arc::new(Device::open(handle, &settings).unwrap());
        let place = device.place();
        let mut arena = Buffer::new(&place, 1 << 20, "records").unwrap();
        let fault = Buffer::of(&place, &[0], "the error word").unwrap();
        for merge in [Merge::Path, Merge::Earlier, Merge::Every] {
            for [key, weight] in [[2, 2], [1, 0], [2, 4]] {
                let records = Records { key, weight };
                let form = format!("{records:?} {merge:?}");
                let mut sorter = Sorter::new(&device, &mut arena, &fault, records, merge).unwrap();
                let mut random = Random(7);
                let most = if key == 1 { u64::from(u32::MAX) } else { u64::MAX };
                for ways in [1, 2, 3, 7, 8, 15, 16] {
                    for (size, end) in [(1, most), (40, 50), (900, most), (700, 1000)] {
                        let mut all: Vec<_> = (0..ways)
                            .map(|_| {
                                let weights = weight > 0 && random.below(2) == 0;
                                let size = 1 + random.below(size);
                                random.segment(size, end, weights)
                            })
                            .collect();
                        compare(&mut sorter, &all, &format!("{form} {ways} {size} {end}"));
                        // One is much longer.
                        let at = random.below(ways) as usize;
                        all[at] = random.segment(8000, most, false);
                        compare(&mut sorter, &all, &format!("{form} {ways} {size} {end}, longer"));
                    }
                }
                // All of one segment before all of the next, and the other way around; keys at both ends.
                for back in [false, true] {
                    let all: Vec<_> = (0..16)
                        .map(|k| if back { 15 - k } else { k })
                        .map(|k| (0..300).map(|n| (k * 1000 + n, None)).collect())
                        .chain([[(0, None), (most, None)].into_iter().collect()])
                        .skip(1)
                        .collect();
                    compare(&mut sorter, &all, "one after the other");
                }
            }
        }
    }

    /// What is promised to fit does, at any number of segments up to that.
    #[test]
    fn as_many_records_fit_as_are_promised() {
        let Some(handle) = select::portable() else { return };
        let settings = Settings { checked: true, ..Settings::default() };
        let device = Arc::new(Device::open(handle, &settings).unwrap());
        let place = device.place();
        let fault = Buffer::of(&place, &[0], "the error word").unwrap();
        for words in [1 << 12, 40_000] {
            let mut arena = Buffer::new(&place, words, "records").unwrap();
            let records = Records { key: 2, weight: 2 };
            let mut sorter =
                Sorter::new(&device, &mut arena, &fault, records, Merge::default()).unwrap();
            let most = sorter.capacity(WAYS);
            assert!(most > words / 16, "{most} of {words} words");
            assert!(sorter.merge_space(most as u64 + 1, WAYS as u64).end > words as u64);
            for ways in [2, WAYS] {
                assert!(sorter.merge_space(most as u64, ways as u64).end <= words as u64);
                let all: Vec<BTreeMap<u64, Option<u32>>> = (0..ways)
                    .map(|way| (way..most).step_by(ways).map(|n| (n as u64 * 3, Some(2))).collect())
                    .collect();
                compare(&mut sorter, &all, &format!("{most} records of {ways} segments"));
            }
        }
    }
}
