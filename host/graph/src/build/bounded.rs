//! Rows by way of files, where memory is limited: what grows with the edges is on the disk.
//!
//! Entries are dealt to regions of a file, each of some rows in a sequence and a part of the memory long. Where
//! a region begins is known from the degrees, so that one file does for all. Then region by region is read,
//! its rows are sorted, and go to the file of all rows.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::entry::tidy;
use super::numbering::Numbering;
use super::rows::DropCounts;
use super::{EdgeBlock, Pairs};
use crate::VertexId;
use gramer_base::Storage;
use gramer_base::budget::{ArrayFile, BASE, Budget, nameless, not_read, not_written};
use gramer_base::context::{Cancel, CancelPoll};
use gramer_base::error::{Error, Result};
use gramer_base::memory::zeroed;

/// Bytes per vertex, at most, while rows are made and put in order.
const PER_VERTEX: u64 = 72;

/// An entry on its way: its row and its neighbour.
type Record = [VertexId; 2];

/// Refuses a limit that is too small for this many vertices, of which there may be more.
///
/// # Errors
/// [`Error::Unsupported`] with the least that would do.
pub(super) fn check_room(vertices: usize, budget: &Budget) -> Result<()> {
    let least = BASE + PER_VERTEX * vertices as u64;
    if budget.bytes >= least {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "{vertices} vertices and more need at least {}M of memory ({}M, and {PER_VERTEX} bytes for each vertex), and {} \
         bytes are allowed: allow more with the setting `memory`",
        least.div_ceil(1 << 20),
        BASE >> 20,
        budget.bytes
    )))
}

/// Bytes in memory at a time, without arrays that grow with the vertices.
pub(super) fn spare(vertices: usize, budget: &Budget) -> u64 {
    budget.bytes.saturating_sub(BASE + PER_VERTEX * vertices as u64).max(1 << 20)
}

/// Whether all edges so far could be read from their files.
///
/// # Errors
/// [`Error::Io`] if not.
pub(super) fn check_read(blocks: &[EdgeBlock]) -> Result<()> {
    blocks.iter().try_for_each(|block| match &block.pairs {
        Pairs::Spilled(spilled) => spilled.spill().check(),
        _ => Ok(()),
    })
}

/// Rows as [`super::rows::rows`] makes them, of edges without labels: where each begins, and their entries.
///
/// # Errors
/// [`Error::Io`] where a file can't be written or read, [`Error::Unsupported`] for a row that is larger than
/// the memory, [`Error::Interrupted`].
pub(super) fn rows_in_file(
    vertices: usize,
    blocks: Vec<EdgeBlock>,
    numbering: &Numbering,
    budget: &Budget,
    cancel: &Cancel,
) -> Result<(Vec<u64>, Storage<VertexId>, DropCounts)> {
    let mut start = counted(vertices, &blocks, numbering, cancel)?;
    let entries = start[vertices];
    let raw_edges = blocks.iter().map(|b| b.len() as u64).sum::<u64>();
    let dropped = DropCounts { self_loops: raw_edges - entries / 2, conflicts: 0 };
    let regions = Regions::new(&start, spare(vertices, budget));
    let file = regions.deal(&blocks, numbering, &start, &budget.folder, cancel)?;
    drop(blocks);

    let mut all = ArrayFile::create(&budget.folder)?;
    let mut looks = CancelPoll::new(cancel);
    let (mut records, mut row_entries): (Vec<Record>, Vec<VertexId>) = (vec![], vec![]);
    let (mut cursor, mut spare, mut kept_before) = (vec![], vec![], 0);
    for region in regions.bounds.windows(2) {
        cancel.check()?;
        let (first, last) = (region[0], region[1]);
        let base = start[first];
        let length = (start[last] - base) as usize;
        regions.check_room(first, length)?;
        records.resize(length, [0; 2]);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut records);
        let read = file.read_exact_at(bytes, base * size_of::<Record>() as u64);
        read.map_err(not_read(&budget.folder))?;
        row_entries.resize(length, 0);
        cursor.clear();
        cursor.extend(start[first..last].iter().map(|s| (s - base) as usize));
        for &[row, neighbour] in &records {
            let at = &mut cursor[row as usize - first];
            row_entries[*at] = neighbour;
            *at += 1;
        }
        let mut from = 0;
        for (row, &to) in (first..last).zip(&cursor) {
            looks.check(to - from + 1)?;
            let (kept, _) = tidy(&mut row_entries[from..to], &mut spare);
            all.append(&row_entries[from..from + kept])?;
            from = to;
            // Regions behind this one begin where they began: their own starts are still the old ones.
            start[row] = kept_before;
            kept_before += kept as u64;
        }
    }
    start[vertices] = kept_before;
    Ok((start, all.finish()?, dropped))
}

/// Returns the start of each row, without loops, with duplicates: V + 1 positions.
fn counted(
    vertices: usize,
    blocks: &[EdgeBlock],
    numbering: &Numbering,
    cancel: &Cancel,
) -> Result<Vec<u64>> {
    let mut start: Vec<u64> = zeroed(vertices + 1)?;
    for block in blocks {
        cancel.check()?;
        block.for_each(|u, v| {
            if u != v {
                start[numbering.of(u) as usize + 1] += 1;
                start[numbering.of(v) as usize + 1] += 1;
            }
        });
    }
    check_read(blocks)?;
    for v in 0..vertices {
        start[v + 1] += start[v];
    }
    Ok(start)
}

/// Rows that are in memory together.
struct Regions {
    /// The first row of each, and behind the last.
    bounds: Vec<usize>,
    /// Entries of one, unless a row has more.
    most: u64,
    /// Records that wait for each to be written.
    waiting: usize,
}

impl Regions {
    /// Creates the minimum number of parts for this memory, of which they use about half.
    fn new(start: &[u64], memory: u64) -> Self {
        let vertices = start.len() - 1;
        // A record, an entry, and where the row is filled.
        let most = memory / 2 / (size_of::<Record>() + size_of::<VertexId>()) as u64;
        let mut bounds = vec![0];
        while let Some(&first) = bounds.last()
            && first < vertices
        {
            let end = start.partition_point(|&s| s <= start[first] + most);
            bounds.push((end - 1).max(first + 1));
        }
        let regions = bounds.len() as u64;
        let waiting = (memory / 4 / regions / size_of::<Record>() as u64).clamp(1, 1 << 13);
        Regions { bounds, most, waiting: waiting as usize }
    }

    /// Refuses a row that is larger than the memory.
    fn check_room(&self, row: usize, length: usize) -> Result<()> {
        if length as u64 <= 2 * self.most {
            return Ok(());
        }
        Err(Error::Unsupported(format!(
            "{length} lines of the input name one vertex (number {row} by its id), and so many have no room \
             in the memory that is allowed: allow more"
        )))
    }

    /// The file with the records of all regions, each behind the one before.
    fn deal(
        &self,
        blocks: &[EdgeBlock],
        numbering: &Numbering,
        start: &[u64],
        folder: &Path,
        cancel: &Cancel,
    ) -> Result<File> {
        let file = nameless(folder)?;
        let mut at: Vec<u64> = self.bounds.iter().map(|&first| start[first]).collect();
        let mut waiting: Vec<Vec<Record>> = self.bounds.iter().map(|_| vec![]).collect();
        let mut failed = None;
        let mut write = |region: usize, records: &mut Vec<Record>| {
            let begin = at[region] * size_of::<Record>() as u64;
            at[region] += records.len() as u64;
            if let Err(error) = file.write_all_at(bytemuck::cast_slice(records), begin) {
                failed.get_or_insert(error);
            }
            records.clear();
        };
        for block in blocks {
            cancel.check()?;
            block.for_each(|u, v| {
                if u == v {
                    return;
                }
                let (u, v) = (numbering.of(u), numbering.of(v));
                for record in [[u, v], [v, u]] {
                    let region = self.bounds.partition_point(|&b| b <= record[0] as usize) - 1;
                    let own = &mut waiting[region];
                    own.push(record);
                    if own.len() >= self.waiting {
                        write(region, own);
                    }
                }
            });
        }
        waiting.iter_mut().enumerate().for_each(|(region, own)| write(region, own));
        check_read(blocks)?;
        match failed {
            None => Ok(file),
            Some(error) => Err(not_written(folder)(error)),
        }
    }
}
