//! Sorted segments that lie in the host's memory and in a file, and their merge by checkpoints (GAMMA, Alg. 3).
//!
//! A segment is cut into chunks of equal size, whose first keys are its checkpoints. Segments are merged up to the next
//! checkpoint of all of them that isn't on the device's side yet: by its matched index (definition 5) in each, which
//! is that of the first key not below it. So equal keys are always in the same merge, each merge has room on the
//! device, and each chunk is read once.

use std::collections::VecDeque;

use gramer_graph::error::Result;

use super::super::store::{Room, Segment, Store};
use super::{Part, Piece, Records, Sorter};

/// Segments that become one as soon as there are as many of one tier.
const WAYS: usize = 8;
/// Most segments that are merged at once.
const MOST: usize = 2 * WAYS;

/// Segments of sorted records with different keys.
pub(in crate::table) struct Runs {
    records: Records,
    store: Store,
    runs: Vec<Run>,
    /// Records of a chunk, and of a merge.
    chunk: usize,
    capacity: usize,
    /// Segments that were sorted in core, and merges of segments.
    pub segments: u64,
    pub merges: u64,
}

/// A segment.
struct Run {
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

/// What is left of a segment while it is merged.
struct Cursor {
    chunks: VecDeque<Chunk>,
    loaded: Piece,
    /// The first record of what is loaded that wasn't merged.
    from: usize,
}

impl Runs {
    /// None, for a sorter with this [`Sorter::capacity`] for [`Runs::PIECES`].
    pub fn new(records: Records, room: &Room, capacity: usize) -> Self {
        let chunk = (capacity / (2 * MOST)).max(1);
        let (store, runs) = (Store::new(room), vec![]);
        Runs { records, store, runs, chunk, capacity, segments: 0, merges: 0 }
    }

    /// Most pieces of a merge.
    pub const PIECES: usize = MOST;

    /// Keeps a segment that was sorted.
    ///
    /// # Errors
    /// Those of [`Store::push`].
    pub fn push(&mut self, piece: &Piece) -> Result<()> {
        self.segments += 1;
        let mut run = Run { tier: 0, chunks: VecDeque::new() };
        self.append(&mut run, piece)?;
        if !run.chunks.is_empty() {
            self.runs.push(run);
        }
        Ok(())
    }

    fn append(&mut self, run: &mut Run, piece: &Piece) -> Result<()> {
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
    /// [`gramer_graph::Error::Device`], and [`gramer_graph::Error::Io`] of the file.
    pub fn merge_due(&mut self, sorter: &mut Sorter<'_>) -> Result<()> {
        let mut tier = 0;
        while let Some(most) = self.runs.iter().map(|run| run.tier).max().filter(|&m| tier <= m) {
            if self.runs.iter().filter(|run| run.tier == tier).count() >= WAYS {
                let (due, rest) = std::mem::take(&mut self.runs)
                    .into_iter()
                    .partition::<Vec<_>, _>(|run| run.tier == tier);
                self.runs = rest;
                self.merge_to_one(due, sorter)?;
            }
            if tier == most {
                break;
            }
            tier += 1;
        }
        Ok(())
    }

    fn merge_to_one(&mut self, runs: Vec<Run>, sorter: &mut Sorter<'_>) -> Result<()> {
        let tier = runs.iter().map(|run| run.tier).max().unwrap_or(0) + 1;
        let mut merged = Run { tier, chunks: VecDeque::new() };
        self.merge(runs, sorter, &mut |runs, piece| runs.append(&mut merged, &piece))?;
        self.runs.push(merged);
        Ok(())
    }

    /// Calls `take` with all records in ascending order, each key once, some at a time. None stays.
    ///
    /// # Errors
    /// [`gramer_graph::Error::Device`], [`gramer_graph::Error::Io`] of the file, and those of `take`.
    pub fn end(
        &mut self,
        sorter: &mut Sorter<'_>,
        take: &mut dyn FnMut(Piece) -> Result<()>,
    ) -> Result<()> {
        while self.runs.len() > MOST {
            // Those that were merged least are the smallest.
            self.runs.sort_by_key(|run| run.tier);
            let due = self.runs.drain(..WAYS).collect();
            self.merge_to_one(due, sorter)?;
        }
        let runs = std::mem::take(&mut self.runs);
        self.merge(runs, sorter, &mut |_, piece| take(piece))
    }

    fn merge(
        &mut self,
        runs: Vec<Run>,
        sorter: &mut Sorter<'_>,
        take: &mut dyn FnMut(&mut Self, Piece) -> Result<()>,
    ) -> Result<()> {
        self.merges += u64::from(runs.len() > 1);
        let cursor = |run: Run| Cursor { chunks: run.chunks, loaded: Piece::default(), from: 0 };
        let mut cursors: Vec<Cursor> = runs.into_iter().map(cursor).collect();
        loop {
            self.load(&mut cursors)?;
            // The next checkpoint that isn't loaded: all smaller keys are.
            let bound = cursors.iter().filter_map(|c| Some(c.chunks.front()?.first)).min();
            let records = self.records;
            let cuts: Vec<usize> = cursors.iter().map(|c| c.matched(records, bound)).collect();
            let parts: Vec<Part<'_>> = cursors
                .iter()
                .zip(&cuts)
                .filter(|(cursor, cut)| **cut > cursor.from)
                .map(|(cursor, &cut)| cursor.part(records, cut))
                .collect();
            let piece = match parts[..] {
                [] => return Ok(()),
                [(keys, weights)] => Piece { keys: keys.to_vec(), weights: weights.to_vec() },
                _ => sorter.merge(&parts)?,
            };
            take(self, piece)?;
            for (cursor, cut) in cursors.iter_mut().zip(cuts) {
                cursor.from = cut;
            }
        }
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
    fn part(&self, records: Records, to: usize) -> Part<'_> {
        let [key, weight] = [records.key, records.weight].map(|words| words as usize);
        let from = self.from;
        (&self.loaded.keys[from * key..to * key], &self.loaded.weights[from * weight..to * weight])
    }
}
