//! Data movers: their HLS sources, called on a host's view of the buffers.

use anyhow::{Result, ensure};

/// Memory line or stream beat, with the alignment of the C++ type.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

unsafe extern "C" {
    fn emulated_fill(
        head: *const Line,
        head_beats: u32,
        units: *const Line,
        units_first: u32,
        units_beats: u32,
        beats: *mut Line,
    ) -> i64;
    fn emulated_drain(beats: *const Line, count: u64, result: *mut Line, capacity: u32);
}

fn aligned(lines: &[[u8; 64]]) -> Vec<Line> {
    lines.iter().map(|&line| Line(line)).collect()
}

fn plain(lines: &[Line]) -> Vec<[u8; 64]> {
    lines.iter().map(|line| line.0).collect()
}

/// Beats sent by `gramer_fill`: all of `head`, then `units` from beat `first` on.
pub fn fill(head: &[[u8; 64]], units: &[[u8; 64]], first: u32) -> Result<Vec<[u8; 64]>> {
    ensure!(units.len() >= first as usize, "units_first is beyond the units");
    let (head, units) = (aligned(head), aligned(units));
    let count = units.len() - first as usize;
    let mut beats = vec![Line([0; 64]); head.len() + count];
    // SAFETY: `beats` has room for all beats of head and units, and the lengths are those of the sources.
    let last = unsafe {
        emulated_fill(
            head.as_ptr(),
            head.len() as u32,
            units.as_ptr(),
            first,
            count as u32,
            beats.as_mut_ptr(),
        )
    };
    ensure!(last == beats.len() as i64 - 1, "gramer_fill: TLAST is with beat {last}");
    Ok(plain(&beats))
}

/// Result area after `gramer_drain` received these beats. `before` is its previous content.
pub fn drain(beats: &[[u8; 64]], before: &[[u8; 64]]) -> Vec<[u8; 64]> {
    let (beats, mut area) = (aligned(beats), aligned(before));
    // SAFETY: the lengths are those of both arrays, and the last of `beats` ends the stream.
    unsafe {
        emulated_drain(beats.as_ptr(), beats.len() as u64, area.as_mut_ptr(), area.len() as u32);
    }
    plain(&area)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(n: usize) -> [u8; 64] {
        std::array::from_fn(|i| (n * 7 + i) as u8)
    }

    #[test]
    fn fill_sends_head_and_units_in_order() {
        for (heads, units, first) in [(1, 1, 0), (3, 5, 2), (100, 0, 0), (2, 4, 3), (0, 1, 0)] {
            let head: Vec<_> = (0..heads).map(line).collect();
            let work: Vec<_> = (500..500 + units).map(line).collect();
            let sent = fill(&head, &work, first).unwrap();
            let expected: Vec<_> = head.iter().chain(&work[first as usize..]).copied().collect();
            assert_eq!(sent, expected);
        }
    }

    #[test]
    fn drain_stores_what_fits_and_says_how_much_came() {
        for (count, capacity) in [(1, 2), (5, 6), (5, 5), (7, 3), (3, 1), (200, 300)] {
            let beats: Vec<_> = (0..count).map(line).collect();
            let before = vec![[0xee; 64]; capacity];
            let area = drain(&beats, &before);
            let mut head = [0; 64];
            head[..8].copy_from_slice(&(count as u64).to_le_bytes());
            head[8] = u8::from(count + 1 > capacity);
            assert_eq!(area[0], head);
            for (at, line) in area.iter().enumerate().skip(1) {
                assert_eq!(line, beats.get(at - 1).unwrap_or(&[0xee; 64]), "beat {at}");
            }
        }
    }
}
