//! Numbers, and how often each occurs: the external sort by itself.

use std::time::{Duration, Instant};

use gramer_graph::error::{Error, Result};

use super::super::graph::most_arena;
use super::super::store::Room;
use super::super::whole::SCAN;
use super::{Records, Runs, Sorter, Space};
use crate::Gpu;
use crate::memory::Buffer;

/// Words below which segments are too short to be merged.
const LEAST: usize = 1 << 12;
const RECORDS: Records = Records { key: 2, weight: 2 };

/// What [`count_numbers`] took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segments {
    /// Segments that were sorted on the device, each as large as its memory allows.
    pub sorted: u64,
    /// Merges of two segments and more.
    pub merges: u64,
    /// The time of these, what the host does for them and `visit` included.
    pub merging: Duration,
}

/// Calls `visit` with each of these numbers once, in ascending order, and with how often it occurs: GAMMA's external
/// sort (section 6.2, Alg. 3) without a table.
///
/// Segments are sorted within [`Settings::memory`](crate::Settings::memory), lie in the host's memory up to
/// [`TableSettings::host_memory`](crate::TableSettings::host_memory) and in a file beyond it, 16 bytes for each number
/// that is different in its segment, and are merged on the device.
///
/// # Errors
/// [`Error::Unsupported`] where the budget is less than 20 KiB, [`Error::Io`] of the file, [`Error::Device`].
pub fn count_numbers(
    gpu: &Gpu,
    numbers: impl IntoIterator<Item = u64>,
    mut visit: impl FnMut(u64, u64),
) -> Result<Segments> {
    let device = gpu.device()?;
    let place = device.place();
    let words = (device.budget.free() / 4).saturating_sub(1).min(most_arena(device)) as usize;
    if words < LEAST {
        return Err(Error::Unsupported(format!(
            "numbers are sorted in at least 20 KiB of the device's memory, and {} bytes are free: give the setting \
             `memory` more",
            device.budget.free()
        )));
    }
    let mut arena: Buffer<u32> = Buffer::new(&place, words, "numbers that are sorted")?;
    let fault = Buffer::of(&place, &[0], "the error word")?;
    let lanes = device.lanes(SCAN) as u64;
    let needed = |size: u64| 2 * size + Space::words(RECORDS, size, false, lanes);
    let mut size = words as u64 / 8;
    while needed(size) > words as u64 {
        size -= size.div_ceil(64);
    }
    let settings = gpu.of_tables();
    let room = Room::of(settings.host_memory, settings.spill.as_deref());
    let every = settings.without.matched;
    let mut sorter = Sorter::new(device, &mut arena, &fault, (RECORDS, every))?;
    let mut merging = Duration::ZERO;
    let mut runs = Runs::new(RECORDS, &room, sorter.capacity(Runs::PIECES));
    let mut numbers = numbers.into_iter();
    let mut part: Vec<u32> = Vec::with_capacity(2 * size as usize);
    loop {
        part.clear();
        let next = numbers.by_ref().take(size as usize);
        part.extend(next.flat_map(|number| [number as u32, (number >> 32) as u32]));
        if part.is_empty() {
            break;
        }
        let size = part.len() as u32 / 2;
        let space = Space::new(RECORDS, size, false, 0, 2 * size);
        sorter.write(0, &part)?;
        let sorted = sorter.sort(&space, size, [32, 32])?;
        runs.push(&sorter.reduce(&space, sorted, size, None)?)?;
        let begun = Instant::now();
        runs.merge_due(&mut sorter)?;
        merging += begun.elapsed();
    }
    let begun = Instant::now();
    runs.end(&mut sorter, &mut |piece| {
        for at in 0..piece.keys.len() / 2 {
            let times = RECORDS.weight_at(&piece.weights, at) as u64;
            visit(RECORDS.key_at(&piece.keys, at), times);
        }
        Ok(())
    })?;
    sorter.check()?;
    merging += begun.elapsed();
    Ok(Segments { sorted: runs.segments, merges: runs.merges, merging })
}
