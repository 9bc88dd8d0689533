//! Sorted segments that lie in the host's memory and in a file, and their merge by checkpoints (GAMMA, Alg. 3).
//!
//! A segment is cut into chunks of equal size, whose first keys are its checkpoints. Segments are merged up to the next
//! checkpoint of all of them that isn't on the device's side yet: by its matched index (definition 5) in each, which
//! is that of the first key not below it. So equal keys are always in the same merge, each merge has room on the
//! device, and each chunk is read once. What lies between two checkpoints is independent of all else, so that several
//! devices merge at a time, each the records up to another checkpoint.

use std::collections::VecDeque;
use std::sync::Arc;

use gramer_base::context::Cancel;
use gramer_base::error::Result;

use super::super::store::{Room, Segment, Store};
use super::merge::{Part, WAYS};
use super::{Piece, Records, Sorter, meanwhile};

/// Number of segments that are merged into one where more are left than one merge takes.
const FEWER: usize = WAYS / 2;
/// Maximum number of records of a merge up to a checkpoint: between these a stop is heard.
const MOST_MERGED: usize = 1 << 21;

/// Segments of sorted records with different keys.
pub(in crate::table) struct Runs {
    records: Records,
    store: Store,
    runs: Vec<SortedRun>,
    /// Records of a chunk, and of a merge.
    chunk: usize,
    capacity: usize,
    /// Segments that were sorted in core, and merges of segments.
    pub segments: u64,
    pub merges: u64,
}

/// A segment.
struct SortedRun {
    /// How often its records were merged.
    tier: u32,
    chunks: VecDeque<Chunk>,
}

/// A part of a segment that lies in the store.
struct Chunk {
    first: u64,
    number: usize,
    records: usize,
}

/// A chunk in memory, keys before weights.
struct LoadedChunk {
    words: Vec<u32>,
    records: usize,
}

/// Some records of a chunk.
struct Slice {
    chunk: Arc<LoadedChunk>,
    from: usize,
    to: usize,
}

impl Slice {
    fn part(&self, records: Records) -> Part<'_> {
        let [key, weight] = [records.key, records.weight].map(|words| words as usize);
        let (keys, weights) = self.chunk.words.split_at(self.chunk.records * key);
        let weights = match weights {
            // Each is 1.
            [] => weights,
            _ => &weights[self.from * weight..self.to * weight],
        };
        (&keys[self.from * key..self.to * key], weights)
    }
}

/// The parts of segments up to a checkpoint: slices of each non-empty one.
type Window = Vec<Vec<Slice>>;

/// Rest of a segment during a merge.
struct Cursor {
    chunks: VecDeque<Chunk>,
    /// What is loaded and isn't merged; no slice is empty.
    loaded: VecDeque<Slice>,
}

impl Runs {
    /// None, for sorters with at least this [`Sorter::capacity`] for [`Runs::PIECES`].
    pub fn new(records: Records, room: &Room, capacity: usize) -> Self {
        let capacity = capacity.min(MOST_MERGED);
        let chunk = (capacity / (2 * WAYS)).max(1);
        let (store, runs) = (Store::new(room), vec![]);
        Runs { records, store, runs, chunk, capacity, segments: 0, merges: 0 }
    }

    /// Maximum of segments in a merge.
    pub const WAYS: usize = WAYS;

    /// Maximum number of records in a piece.
    pub fn chunk(&self) -> usize {
        self.chunk
    }

    /// Keeps a segment that was sorted, in pieces of at most [`Runs::chunk`] records.
    ///
    /// # Errors
    /// Errors of [`Store::push`].
    pub fn push(&mut self, pieces: Vec<Piece>) -> Result<()> {
        self.segments += 1;
        let mut run = SortedRun { tier: 0, chunks: VecDeque::new() };
        pieces.into_iter().try_for_each(|piece| self.append(&mut run, piece))?;
        if !run.chunks.is_empty() {
            self.runs.push(run);
        }
        Ok(())
    }

    fn append(&mut self, run: &mut SortedRun, piece: Piece) -> Result<()> {
        let Piece { keys: mut words, weights } = piece;
        let records = words.len() / self.records.key as usize;
        let (first, number) = (self.records.key_at(&words, 0), self.store.len());
        words.extend(weights);
        self.store.push(Segment { rows: vec![records as u32], words })?;
        run.chunks.push_back(Chunk { first, number, records });
        Ok(())
    }

    /// Merges segments of one tier where there are enough of them.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], [`gramer_base::Error::Io`] of the file, and
    /// [`gramer_base::Error::Interrupted`].
    pub fn merge_due(&mut self, sorters: &mut [Sorter<'_>], cancel: &Cancel) -> Result<()> {
        let mut tier = 0;
        while self.runs.iter().any(|run| run.tier >= tier) {
            let own = |run: &SortedRun| run.tier == tier;
            while self.runs.iter().filter(|run| own(run)).count() >= WAYS {
                let (mut due, rest) =
                    std::mem::take(&mut self.runs).into_iter().partition::<Vec<_>, _>(own);
                self.runs = rest;
                self.runs.extend(due.drain(WAYS..));
                self.merge_to_one(due, sorters, cancel)?;
            }
            tier += 1;
        }
        Ok(())
    }

    fn merge_to_one(
        &mut self,
        runs: Vec<SortedRun>,
        sorters: &mut [Sorter<'_>],
        cancel: &Cancel,
    ) -> Result<()> {
        let tier = runs.iter().map(|run| run.tier).max().unwrap_or(0) + 1;
        let mut merged = SortedRun { tier, chunks: VecDeque::new() };
        let mut take = |runs: &mut Self, piece| runs.append(&mut merged, piece).map(|()| None);
        self.merge(runs, (sorters, cancel), &mut take)?;
        self.runs.push(merged);
        Ok(())
    }

    /// Calls `take` with all records in ascending order, each key once, some at a time. None stays.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], [`gramer_base::Error::Io`] of the file,
    /// [`gramer_base::Error::Interrupted`], and those of `take`.
    pub fn end(
        &mut self,
        sorters: &mut [Sorter<'_>],
        cancel: &Cancel,
        take: &mut dyn FnMut(&Piece) -> Result<()>,
    ) -> Result<()> {
        while self.runs.len() > WAYS {
            // Those that were merged least are the smallest.
            self.runs.sort_by_key(|run| run.tier);
            let due = self.runs.drain(..FEWER).collect();
            self.merge_to_one(due, sorters, cancel)?;
        }
        let runs = std::mem::take(&mut self.runs);
        self.merge(runs, (sorters, cancel), &mut |_, piece| take(&piece).map(|()| Some(piece)))
    }

    /// Merges segments, and meanwhile passes what was merged last to `take`, which may give the piece back.
    fn merge(
        &mut self,
        runs: Vec<SortedRun>,
        (sorters, cancel): (&mut [Sorter<'_>], &Cancel),
        take: &mut dyn FnMut(&mut Self, Piece) -> Result<Option<Piece>>,
    ) -> Result<()> {
        self.merges += u64::from(runs.len() > 1);
        let cursor = |run: SortedRun| Cursor { chunks: run.chunks, loaded: VecDeque::new() };
        let mut cursors: Vec<Cursor> = runs.into_iter().map(cursor).collect();
        let mut last: Vec<Piece> = vec![];
        loop {
            cancel.check()?;
            let mut windows = vec![];
            while windows.len() < sorters.len() {
                match self.window(&mut cursors)? {
                    Some(window) => windows.push(window),
                    None => break,
                }
            }
            let (end, most) = (windows.is_empty(), self.chunk);
            let (pieces, spare) = meanwhile(
                || merged(windows, sorters, most),
                || -> Result<Vec<Piece>> {
                    let mut spare = vec![];
                    for piece in last.drain(..) {
                        spare.extend(take(self, piece)?);
                    }
                    Ok(spare)
                },
            );
            let spare = spare?;
            if end {
                return Ok(());
            }
            for pieces in pieces {
                last.extend(pieces?);
            }
            if let Some(first) = sorters.first_mut() {
                first.spare.extend(spare);
            }
        }
    }

    /// Returns the records up to the next checkpoint; `None` at the end.
    fn window(&mut self, cursors: &mut [Cursor]) -> Result<Option<Window>> {
        self.load(cursors)?;
        // The next checkpoint that isn't loaded: all smaller keys are.
        let bound = cursors.iter().filter_map(|c| Some(c.chunks.front()?.first)).min();
        let records = self.records;
        let slices = cursors.iter_mut().map(|cursor| cursor.below(records, bound));
        let window: Window = slices.filter(|slices| !slices.is_empty()).collect();
        Ok(Some(window).filter(|window| !window.is_empty()))
    }

    /// Reads a chunk of each segment of which nothing is loaded, and more of those whose keys are the smallest as long as
    /// there is room.
    fn load(&mut self, cursors: &mut [Cursor]) -> Result<()> {
        for cursor in cursors.iter_mut().filter(|cursor| cursor.loaded.is_empty()) {
            cursor.load(&mut self.store)?;
        }
        loop {
            let all: usize = cursors.iter().map(Cursor::left).sum();
            let next = cursors
                .iter_mut()
                .filter(|cursor| !cursor.chunks.is_empty())
                .min_by_key(|cursor| cursor.chunks[0].first);
            let Some(next) = next else { return Ok(()) };
            // The other half is for chunks that have to be read.
            if all + next.chunks[0].records > self.capacity / 2 {
                return Ok(());
            }
            next.load(&mut self.store)?;
        }
    }
}

impl Cursor {
    /// Records that are loaded and weren't merged.
    fn left(&self) -> usize {
        self.loaded.iter().map(|slice| slice.to - slice.from).sum()
    }

    /// Reads the next chunk if there is one.
    fn load(&mut self, store: &mut Store) -> Result<()> {
        let Some(Chunk { number, records, .. }) = self.chunks.pop_front() else { return Ok(()) };
        let words = store.take(number)?.words;
        let chunk = Arc::new(LoadedChunk { words, records });
        self.loaded.push_back(Slice { chunk, from: 0, to: records });
        Ok(())
    }

    /// Takes the loaded records below the bound; all without one.
    fn below(&mut self, records: Records, bound: Option<u64>) -> Vec<Slice> {
        let mut slices = vec![];
        while let Some(mut slice) = self.loaded.pop_front() {
            let cut = bound.map_or(slice.to, |bound| slice.matched(records, bound));
            let to = slice.to;
            if cut > slice.from {
                let chunk = slice.chunk.clone();
                slices.push(Slice { chunk, from: slice.from, to: cut });
            }
            if cut < to {
                slice.from = cut;
                self.loaded.push_front(slice);
                break;
            }
        }
        slices
    }
}

impl Slice {
    /// The first record that isn't below the bound.
    fn matched(&self, records: Records, bound: u64) -> usize {
        let (mut low, mut high) = (self.from, self.to);
        while low < high {
            let middle = low + (high - low) / 2;
            match records.key_at(&self.chunk.words, middle) < bound {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }
}

/// The records of each window in ascending order, each window merged by another device, in pieces of `most`.
fn merged(
    windows: Vec<Window>,
    sorters: &mut [Sorter<'_>],
    most: usize,
) -> Vec<Result<Vec<Piece>>> {
    let one = |(window, sorter): (Window, &mut Sorter<'_>)| {
        let records = sorter.records;
        if let [alone] = &window[..] {
            let parts = alone.iter().map(|slice| slice.part(records));
            let piece = |(keys, weights): Part<'_>| Piece {
                keys: keys.to_vec(),
                weights: weights.to_vec(),
            };
            return Ok(parts.map(piece).collect());
        }
        let segments: Vec<Vec<Part<'_>>> = window
            .iter()
            .map(|slices| slices.iter().map(|slice| slice.part(records)).collect())
            .collect();
        let merged = sorter.merge(&segments)?;
        sorter.read(merged, most)
    };
    super::each(windows, sorters, one)
}
