//! What is found at some vertices, on its way to the rows of others.

use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::position::Position;
use crate::VertexId;
use crate::context::Cancel;
use crate::error::Result;
use crate::parallel::on_threads;

/// Something for rows, by the vertex at which it is found.
pub(super) trait Found: Sync {
    /// Calls `each(row, what)` for all that is found at a range of vertices, in order. Stops early once the run is
    /// asked to stop.
    fn scan(&self, vertices: Range<usize>, each: impl FnMut(VertexId, u32));
}

/// Calls `take(row, what)` for all that is found at the vertices of `parts`, which follow each other. What is for one
/// row comes from one thread and in the order in which it is found.
///
/// One thread hands it over at once. Several deal it out to lists of groups of rows first, 8 bytes each, so that each
/// thing passes through two hands however many threads there are.
///
/// # Errors
/// [`crate::Error::Interrupted`] if the run was asked to stop.
pub(super) fn to_rows(
    found: &impl Found,
    parts: &[Range<usize>],
    threads: usize,
    cancel: &Cancel,
    take: impl Fn(VertexId, u32) + Sync,
) -> Result<()> {
    if threads == 1 {
        parts.iter().for_each(|part| found.scan(part.clone(), &take));
        return cancel.check();
    }
    // Rows that are long because they come first are in different groups.
    let groups = (4 * threads).next_power_of_two();
    let group = |row: VertexId| row as usize & (groups - 1);
    let dealt: Vec<OnceLock<Vec<Vec<[u32; 2]>>>> = parts.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    on_threads(threads, |_| {
        while let number = next.fetch_add(1, Ordering::Relaxed)
            && let Some(part) = parts.get(number)
        {
            let mut lists = vec![vec![]; groups];
            found.scan(part.clone(), |row, what| lists[group(row)].push([row, what]));
            dealt[number].set(lists).expect("each part is dealt once");
        }
    });
    cancel.check()?;
    let next = AtomicUsize::new(0);
    on_threads(threads, |_| {
        while let group = next.fetch_add(1, Ordering::Relaxed)
            && group < groups
            && !cancel.is_cancelled()
        {
            let lists = dealt.iter().filter_map(|part| part.get()?.get(group));
            lists.flatten().for_each(|&[row, what]| take(row, what));
        }
    });
    cancel.check()
}

/// Parts for so many threads, of rows that begin at these positions: with about as many entries each.
pub(super) fn parts<P: Position>(start: &[P], threads: usize) -> Vec<Range<usize>> {
    let count = if threads == 1 { 1 } else { 4 * threads };
    super::halves::shares(start, count).windows(2).map(|w| w[0]..w[1]).collect()
}
