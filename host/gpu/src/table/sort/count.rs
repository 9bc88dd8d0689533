//! Numbers, and how often each occurs: the external sort alone, on one device or on several.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gramer_base::context::{Cancel, Context};
use gramer_base::error::{Error, Result};

use super::super::graph::most_arena;
use super::super::settings::Merge;
use super::super::store::Room;
use super::super::whole::SCAN;
use super::{Piece, Records, Runs, Sorter, Space, meanwhile};
use crate::Gpu;
use crate::device::Device;
use crate::memory::Buffer;

/// Words below which segments are too short to be merged.
const LEAST: usize = 1 << 12;
/// Maximum size of a segment, in numbers: larger copies block the driver for too long.
const MOST: u64 = 1 << 25;
/// Numbers that are taken between two looks at the flag that stops a run.
const LOOK: usize = 1 << 16;
const RECORDS: Records = Records { key: 2, weight: 2 };

/// Segments used by [`count_numbers`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segments {
    /// Segments that were sorted on the devices, each as large as its device's memory allows.
    pub sorted: u64,
    /// Segments by device.
    pub by_device: Vec<u64>,
    /// Merges of two segments and more.
    pub merges: u64,
    /// The time of these, what the host does for them and `visit` included.
    pub merging: Duration,
    /// The time of the kernels that put records in order in these, of all devices together.
    pub kernels: Duration,
}

/// A device, and its memory for the sort.
struct Place {
    device: Arc<Device>,
    arena: Buffer<u32>,
    fault: Buffer<u32>,
    /// Maximum size of a segment, in numbers.
    size: usize,
}

impl Place {
    fn new(gpu: &Gpu) -> Result<Self> {
        let device = gpu.device()?;
        let place = device.place();
        let words = (device.budget.free() / 4).saturating_sub(1).min(most_arena(device)) as usize;
        if words < LEAST {
            return Err(Error::Unsupported(format!(
                "numbers are sorted in at least 20 KiB of the device's memory, and {} bytes are free: give the \
                 setting `memory` more",
                device.budget.free()
            )));
        }
        let arena = Buffer::new(&place, words, "numbers that are sorted")?;
        let fault = Buffer::of(&place, &[0], "the error word")?;
        let lanes = device.lanes(SCAN) as u64;
        let needed = |size: u64| 2 * size + Space::words(RECORDS, size, false, lanes);
        let mut size = (words as u64 / 8).min(MOST);
        while needed(size) > words as u64 {
            size -= size.div_ceil(64);
        }
        Ok(Place { device: device.clone(), arena, fault, size: size as usize })
    }

    fn sorter(&mut self, merge: Merge) -> Result<Sorter<'_>> {
        let Place { device, arena, fault, .. } = self;
        Sorter::new(device, arena, fault, RECORDS, merge)
    }
}

/// Calls `visit` with each of these numbers once, in ascending order, and with how often it occurs: GAMMA's external
/// sort (section 6.2, Alg. 3) without a table, on one device or on several (section 5.3).
///
/// Segments are sorted within [`Settings::memory`](crate::Settings::memory), lie in the host's memory up to
/// [`TableSettings::host_memory`](crate::TableSettings::host_memory) of the first device and in a file beyond it, 16 bytes
/// for each number that is different in its segment, or 8 where all are, and are merged on the devices. Of several devices each sorts a
/// segment at a time, and each merges what all segments have up to another checkpoint.
///
/// # Errors
/// [`Error::Usage`] without a device, [`Error::Unsupported`] where a budget is less than 20 KiB, [`Error::Io`] of the
/// file, [`Error::Interrupted`], [`Error::Device`].
pub fn count_numbers(
    gpus: &[&Gpu],
    numbers: impl IntoIterator<Item = u64>,
    context: &Context,
    mut visit: impl FnMut(u64, u64),
) -> Result<Segments> {
    let Some(first) = gpus.first() else {
        return Err(Error::usage("numbers are sorted on a device, and none is named"));
    };
    let settings = first.of_tables();
    let room = Room::of(settings.host_memory, settings.spill.as_deref());
    let mut places: Vec<Place> = gpus.iter().map(|gpu| Place::new(gpu)).collect::<Result<_>>()?;
    let sizes: Vec<usize> = places.iter().map(|place| place.size).collect();
    let merge = settings.merge;
    let mut sorters: Vec<Sorter<'_>> =
        places.iter_mut().map(|place| place.sorter(merge)).collect::<Result<_>>()?;
    let capacity = sorters.iter().map(|sorter| sorter.capacity(Runs::WAYS)).min();
    let mut runs = Runs::new(RECORDS, &room, capacity.unwrap_or(0));
    let (mut merging, mut by_device) = (Duration::ZERO, vec![0; gpus.len()]);
    let (mut numbers, cancel) = (numbers.into_iter(), &context.cancel);
    let chunk = runs.chunk();
    let (mut parts, mut spare) = (taken(&mut numbers, &sizes, vec![], cancel)?, vec![]);
    while !parts[0].is_empty() {
        let used = parts.iter().filter(|part| !part.is_empty()).count();
        by_device[..used].iter_mut().for_each(|segments| *segments += 1);
        let (done, next) = meanwhile(
            || sorted(&parts[..used], chunk, &mut sorters, cancel),
            || taken(&mut numbers, &sizes, std::mem::take(&mut spare), cancel),
        );
        let next = next?;
        for pieces in done {
            runs.push(pieces?)?;
        }
        spare = std::mem::replace(&mut parts, next);
        let begun = Instant::now();
        runs.merge_due(&mut sorters, cancel)?;
        merging += begun.elapsed();
    }
    let begun = Instant::now();
    runs.end(&mut sorters, cancel, &mut |piece| {
        let keys =
            piece.keys.chunks_exact(2).map(|key| u64::from(key[0]) | u64::from(key[1]) << 32);
        if piece.weights.is_empty() {
            keys.for_each(|key| visit(key, 1));
        } else {
            let times = |at| RECORDS.weight_at(&piece.weights, at) as u64;
            keys.enumerate().for_each(|(at, key)| visit(key, times(at)));
        }
        Ok(())
    })?;
    sorters.iter().try_for_each(Sorter::check)?;
    merging += begun.elapsed();
    let kernels = sorters.iter().map(|sorter| sorter.merging).sum();
    Ok(Segments { sorted: runs.segments, by_device, merges: runs.merges, merging, kernels })
}

/// The next numbers, up to a limit for each device, in vectors that aren't needed any more.
fn taken(
    numbers: &mut impl Iterator<Item = u64>,
    sizes: &[usize],
    mut parts: Vec<Vec<u64>>,
    cancel: &Cancel,
) -> Result<Vec<Vec<u64>>> {
    parts.resize_with(sizes.len(), Vec::new);
    for (part, &size) in parts.iter_mut().zip(sizes) {
        part.clear();
        while part.len() < size {
            cancel.check()?;
            let (before, most) = (part.len(), LOOK.min(size - part.len()));
            part.extend(numbers.by_ref().take(most));
            if part.len() < before + most {
                break;
            }
        }
    }
    Ok(parts)
}

/// Sorts each part on a different device; the segments are in pieces of `most` numbers.
fn sorted(
    parts: &[Vec<u64>],
    most: usize,
    sorters: &mut [Sorter<'_>],
    cancel: &Cancel,
) -> Vec<Result<Vec<Piece>>> {
    let one = |(part, sorter): (&Vec<u64>, &mut Sorter<'_>)| {
        let size = part.len() as u32;
        let space = Space::new(RECORDS, size, false, 0, 2 * size);
        // The lower word of a number is the first.
        sorter.write(0, bytemuck::cast_slice(part))?;
        let sorted = sorter.sort(&space, size, [32, 32], cancel)?;
        let reduced = sorter.reduce(&space, sorted, size, None)?;
        sorter.read(reduced, most)
    };
    super::each(parts.iter().collect(), sorters, one)
}
