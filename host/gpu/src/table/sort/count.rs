//! Numbers, and how often each occurs: the external sort alone, on one device or on several.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gramer_base::context::{Cancel, Context};
use gramer_base::error::{Error, Result};

use super::super::graph::most_arena;
use super::super::store::Room;
use super::super::whole::SCAN;
use super::{Piece, Records, Runs, Sorter, Space};
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

    fn sorter(&mut self, every: bool) -> Result<Sorter<'_>> {
        let Place { device, arena, fault, .. } = self;
        Sorter::new(device, arena, fault, (RECORDS, every))
    }
}

/// Calls `visit` with each of these numbers once, in ascending order, and with how often it occurs: GAMMA's external
/// sort (section 6.2, Alg. 3) without a table, on one device or on several (section 5.3).
///
/// Segments are sorted within [`Settings::memory`](crate::Settings::memory), lie in the host's memory up to
/// [`TableSettings::host_memory`](crate::TableSettings::host_memory) of the first device and in a file beyond it, 16 bytes
/// for each number that is different in its segment, and are merged on the devices. Of several devices each sorts a
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
    let every = settings.without.matched;
    let mut sorters: Vec<Sorter<'_>> =
        places.iter_mut().map(|place| place.sorter(every)).collect::<Result<_>>()?;
    let capacity = sorters.iter().map(|sorter| sorter.capacity(Runs::PIECES)).min();
    let mut runs = Runs::new(RECORDS, &room, capacity.unwrap_or(0));
    let (mut merging, mut by_device) = (Duration::ZERO, vec![0; gpus.len()]);
    let (mut numbers, cancel) = (numbers.into_iter(), &context.cancel);
    loop {
        let mut parts = vec![];
        for &size in &sizes {
            let part = taken(&mut numbers, size, cancel)?;
            if part.is_empty() {
                break;
            }
            parts.push(part);
        }
        if parts.is_empty() {
            break;
        }
        by_device.iter_mut().zip(&parts).for_each(|(segments, _)| *segments += 1);
        for piece in sorted(parts, &mut sorters, cancel) {
            runs.push(&piece?)?;
        }
        let begun = Instant::now();
        runs.merge_due(&mut sorters, cancel)?;
        merging += begun.elapsed();
    }
    let begun = Instant::now();
    runs.end(&mut sorters, cancel, &mut |piece| {
        for at in 0..piece.keys.len() / 2 {
            let times = RECORDS.weight_at(&piece.weights, at) as u64;
            visit(RECORDS.key_at(&piece.keys, at), times);
        }
        Ok(())
    })?;
    sorters.iter().try_for_each(Sorter::check)?;
    merging += begun.elapsed();
    Ok(Segments { sorted: runs.segments, by_device, merges: runs.merges, merging })
}

/// The next numbers, up to a limit, as words of keys.
fn taken(
    numbers: &mut impl Iterator<Item = u64>,
    size: usize,
    cancel: &Cancel,
) -> Result<Vec<u32>> {
    let mut part = vec![];
    while part.len() < 2 * size {
        cancel.check()?;
        let (before, most) = (part.len(), LOOK.min(size - part.len() / 2));
        let next = numbers.by_ref().take(most);
        part.extend(next.flat_map(|number| [number as u32, (number >> 32) as u32]));
        if part.len() < before + 2 * most {
            break;
        }
    }
    Ok(part)
}

/// Sorts each part on a different device.
fn sorted(parts: Vec<Vec<u32>>, sorters: &mut [Sorter<'_>], cancel: &Cancel) -> Vec<Result<Piece>> {
    let one = |(part, sorter): (Vec<u32>, &mut Sorter<'_>)| {
        let size = part.len() as u32 / 2;
        let space = Space::new(RECORDS, size, false, 0, 2 * size);
        sorter.write(0, &part)?;
        let sorted = sorter.sort(&space, size, [32, 32], cancel)?;
        sorter.reduce(&space, sorted, size, None)
    };
    super::each(parts, sorters, one)
}
