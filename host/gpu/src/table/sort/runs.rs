//! Sorted segments that lie in the host's memory and in a file, and their merge by checkpoints (GAMMA, Alg. 3).
//!
//! A segment is cut into chunks of equal size, whose first keys are its checkpoints. Segments are merged up to the next
//! checkpoint of all of them that isn't on the device's side yet: by its matched index (definition 5) in each, which
//! is that of the first key not below it. So equal keys are always in the same merge, each merge has room on the
//! device, and each chunk is read once. What lies between two checkpoints is independent of all else, so that several
//! devices merge at a time, each the records up to another checkpoint.

use std::collections::VecDeque;

use gramer_base::context::Cancel;
use gramer_base::error::Result;

use super::super::store::{Room, Segment, Store};
use super::{Part, Piece, Records, Sorter};

/// Number of segments of one tier that are merged into one.
const WAYS: usize = 8;
/// Maximum number of segments that are merged at once.
const MOST: usize = 2 * WAYS;
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

/// The parts of segments up to a checkpoint: a piece of each non-empty one.
type Window = Vec<Piece>;

/// Rest of a segment during a merge.
struct Cursor {
    chunks: VecDeque<Chunk>,
    loaded: Piece,
    /// The first loaded record that is not merged yet.
    from: usize,
}

impl Runs {
    /// None, for sorters with at least this [`Sorter::capacity`] for [`Runs::PIECES`].
    pub fn new(records: Records, room: &Room, capacity: usize) -> Self {
        let capacity = capacity.min(MOST_MERGED);
        let chunk = (capacity / (2 * MOST)).max(1);
        let (store, runs) = (Store::new(room), vec![]);
        Runs { records, store, runs, chunk, capacity, segments: 0, merges: 0 }
    }

    /// Maximum of pieces in a merge.
    pub const PIECES: usize = MOST;

    /// Keeps a segment that was sorted.
    ///
    /// # Errors
    /// Errors of [`Store::push`].
    pub fn push(&mut self, piece: &Piece) -> Result<()> {
        self.segments += 1;
        let mut run = SortedRun { tier: 0, chunks: VecDeque::new() };
        self.append(&mut run, piece)?;
        if !run.chunks.is_empty() {
            self.runs.push(run);
        }
        Ok(())
    }

    fn append(&mut self, run: &mut SortedRun, piece: &Piece) -> Result<()> {
        let (key, weight) = (self.records.key as usize, self.records.weight as usize);
        let all = piece.keys.len() / key;
        for from in (0..all).step_by(self.chunk) {
            let to = all.min(from + self.chunk);
            let (keys, weights) =
                (&piece.keys[from * key..to * key], &piece.weights[from * weight..to * weight]);
            let first = self.records.key_at(keys, 0);
            let (number, records) = (self.store.len(), to - from);
            let rows = vec![records as u32];
            self.store.push(Segment { rows, words: [keys, weights].concat() })?;
            run.chunks.push_back(Chunk { first, number, records });
        }
        Ok(())
    }

    /// Merges segments of one tier where there are enough of them.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`], [`gramer_base::Error::Io`] of the file, and
    /// [`gramer_base::Error::Interrupted`].
    pub fn merge_due(&mut self, sorters: &mut [Sorter<'_>], cancel: &Cancel) -> Result<()> {
        let mut tier = 0;
        while let Some(most) = self.runs.iter().map(|run| run.tier).max().filter(|&m| tier <= m) {
            if self.runs.iter().filter(|run| run.tier == tier).count() >= WAYS {
                let (due, rest) = std::mem::take(&mut self.runs)
                    .into_iter()
                    .partition::<Vec<_>, _>(|run| run.tier == tier);
                self.runs = rest;
                self.merge_to_one(due, sorters, cancel)?;
            }
            if tier == most {
                break;
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
        let mut take = |runs: &mut Self, piece: Piece| runs.append(&mut merged, &piece);
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
        take: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<()> {
        while self.runs.len() > MOST {
            // Those that were merged least are the smallest.
            self.runs.sort_by_key(|run| run.tier);
            let due = self.runs.drain(..WAYS).collect();
            self.merge_to_one(due, sorters, cancel)?;
        }
        let runs = std::mem::take(&mut self.runs);
        self.merge(runs, (sorters, cancel), &mut |_, piece| take(piece))
    }

    fn merge(
        &mut self,
        runs: Vec<SortedRun>,
        (sorters, cancel): (&mut [Sorter<'_>], &Cancel),
        take: &mut dyn FnMut(&mut Self, Piece) -> Result<()>,
    ) -> Result<()> {
        self.merges += u64::from(runs.len() > 1);
        let cursor =
            |run: SortedRun| Cursor { chunks: run.chunks, loaded: Piece::default(), from: 0 };
        let mut cursors: Vec<Cursor> = runs.into_iter().map(cursor).collect();
        loop {
            cancel.check()?;
            let mut windows = vec![];
            while windows.len() < sorters.len() {
                match self.window(&mut cursors)? {
                    Some(window) => windows.push(window),
                    None => break,
                }
            }
            if windows.is_empty() {
                return Ok(());
            }
            for piece in merged(windows, sorters) {
                take(self, piece?)?;
            }
        }
    }

    /// Returns the records up to the next checkpoint; `None` at the end.
    fn window(&mut self, cursors: &mut [Cursor]) -> Result<Option<Window>> {
        self.load(cursors)?;
        // The next checkpoint that isn't loaded: all smaller keys are.
        let bound = cursors.iter().filter_map(|c| Some(c.chunks.front()?.first)).min();
        let records = self.records;
        let mut window = vec![];
        for cursor in cursors {
            let cut = cursor.matched(records, bound);
            if cut > cursor.from {
                window.push(cursor.part(records, cut));
                cursor.from = cut;
            }
        }
        Ok(Some(window).filter(|window| !window.is_empty()))
    }

    /// Reads a chunk of each segment of which nothing is loaded, and more of those whose keys are the smallest as long as
    /// there is room.
    fn load(&mut self, cursors: &mut [Cursor]) -> Result<()> {
        let records = self.records;
        for cursor in cursors.iter_mut().filter(|cursor| cursor.left(records) == 0) {
            if let Some(chunk) = cursor.chunks.pop_front() {
                cursor.append(records, self.store.take(chunk.number)?);
            }
        }
        loop {
            let all: usize = cursors.iter().map(|cursor| cursor.left(records)).sum();
            let next = cursors
                .iter_mut()
                .filter(|cursor| !cursor.chunks.is_empty())
                .min_by_key(|cursor| cursor.chunks[0].first);
            let Some(next) = next else { return Ok(()) };
            // The other half is for chunks that have to be read.
            if all + next.chunks[0].records > self.capacity / 2 {
                return Ok(());
            }
            let chunk = next.chunks.pop_front().expect("it has one");
            next.append(records, self.store.take(chunk.number)?);
        }
    }
}

impl Cursor {
    /// Records that are loaded and weren't merged.
    fn left(&self, records: Records) -> usize {
        self.loaded.keys.len() / records.key as usize - self.from
    }

    fn append(&mut self, records: Records, chunk: Segment) {
        let [key, weight] = [records.key, records.weight].map(|words| words as usize);
        self.loaded.keys.drain(..self.from * key);
        self.loaded.weights.drain(..self.from * weight);
        self.from = 0;
        let (keys, weights) = chunk.words.split_at(chunk.rows[0] as usize * key);
        self.loaded.keys.extend_from_slice(keys);
        self.loaded.weights.extend_from_slice(weights);
    }

    /// The first record that isn't below the bound; the end without one.
    fn matched(&self, records: Records, bound: Option<u64>) -> usize {
        let (mut low, mut high) = (self.from, self.from + self.left(records));
        let Some(bound) = bound else { return high };
        while low < high {
            let middle = low + (high - low) / 2;
            match records.key_at(&self.loaded.keys, middle) < bound {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Records up to one of them.
    fn part(&self, records: Records, to: usize) -> Piece {
        let [key, weight] = [records.key, records.weight].map(|words| words as usize);
        let from = self.from;
        Piece {
            keys: self.loaded.keys[from * key..to * key].to_vec(),
            weights: self.loaded.weights[from * weight..to * weight].to_vec(),
        }
    }
}

/// The records of each window in ascending order, each window merged by another device.
fn merged(windows: Vec<Window>, sorters: &mut [Sorter<'_>]) -> Vec<Result<Piece>> {
    let one = |(mut window, sorter): (Window, &mut Sorter<'_>)| match window.len() {
        1 => Ok(window.swap_remove(0)),
        _ => {
            let parts: Vec<Part<'_>> =
                window.iter().map(|piece| (&piece.keys[..], &piece.weights[..])).collect();
            sorter.merge(&parts)
        }
    };
    super::each(windows, sorters, one)
}
