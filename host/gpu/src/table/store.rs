//! Tables that don't fit the device: segments in the host's memory, and beyond a limit in a file.
//!
//! A segment is its own table: its columns hold the ancestors of its last elements and no others. The
//! file has no name in its folder: it vanishes with the run, however that ends.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use gramer_base::error::{Error, Result};
use xxhash_rust::xxh3::xxh3_64;

/// Capacity and location for segments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Room {
    /// Bytes of the host's memory.
    pub memory: u64,
    /// The folder of the file.
    pub folder: PathBuf,
}

impl Room {
    /// The folder for temporary files, and half of the memory that the system says is available.
    pub fn of(memory: Option<u64>, folder: Option<&Path>) -> Self {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_path_buf);
        Room { memory: memory.unwrap_or_else(|| available() / 2), folder }
    }
}

/// Bytes of the host's memory that are available; 1 GiB where the system doesn't say.
fn available() -> u64 {
    let said = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = said.lines().find_map(|l| l.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|l| l.trim().split(' ').next()?.parse::<u64>().ok());
    kib.map_or(1 << 30, |kib| kib << 10)
}

/// Part of a table in the host's memory: of each column from the second on, the vertices, then the places
/// of their parents. The first column is that of all vertices.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Segment {
    /// Elements of each column.
    pub rows: Vec<u32>,
    /// Ids and parents of each column, one after the other.
    pub words: Vec<u32>,
}

/// A stored segment.
struct StoredSegment {
    rows: Vec<u32>,
    place: Place,
}

enum Place {
    Memory(Vec<u32>),
    File { at: u64, words: usize, hash: u64 },
}

/// Segments, first in, first out.
pub(super) struct Store {
    room: Room,
    kept: VecDeque<StoredSegment>,
    in_memory: u64,
    file: Option<File>,
    written: u64,
}

impl Store {
    pub fn new(room: &Room) -> Self {
        Store { room: room.clone(), kept: VecDeque::new(), in_memory: 0, file: None, written: 0 }
    }

    /// Keeps a segment.
    ///
    /// # Errors
    /// [`Error::Io`] where the file can't be made or written: the disk is full, for one.
    pub fn push(&mut self, segment: Segment) -> Result<()> {
        let Segment { rows, words } = segment;
        let bytes = 4 * words.len() as u64;
        if self.in_memory + bytes <= self.room.memory {
            self.in_memory += bytes;
            self.kept.push_back(StoredSegment { rows, place: Place::Memory(words) });
            return Ok(());
        }
        let folder = &self.room.folder;
        if self.file.is_none() {
            let made = tempfile::tempfile_in(folder);
            self.file =
                Some(made.map_err(|e| Error::io(folder, "create a file for tables in", e))?);
        }
        let file = self.file.as_mut().expect("it was made");
        let data: &[u8] = bytemuck::cast_slice(&words);
        let (at, hash) = (self.written, xxh3_64(data));
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.write_all(data))
            .map_err(|e| Error::io(folder, "write a file for tables in", e))?;
        self.written += bytes;
        let place = Place::File { at, words: words.len(), hash };
        self.kept.push_back(StoredSegment { rows, place });
        Ok(())
    }

    /// Removes and returns the first segment.
    ///
    /// # Errors
    /// [`Error::Io`] where the file doesn't hold what was written.
    pub fn pop(&mut self) -> Result<Option<Segment>> {
        let Some(StoredSegment { rows, place }) = self.kept.pop_front() else { return Ok(None) };
        let words = match place {
            Place::Memory(words) => {
                self.in_memory -= 4 * words.len() as u64;
                words
            }
            Place::File { at, words, hash } => self.read_back(at, words, hash)?,
        };
        Ok(Some(Segment { rows, words }))
    }

    /// The segment with this number, from 0, which stays.
    ///
    /// # Errors
    /// [`Error::Io`] where the file doesn't hold what was written.
    pub fn get(&self, number: usize) -> Result<Segment> {
        let StoredSegment { rows, place } = &self.kept[number];
        let words = match place {
            Place::Memory(words) => words.clone(),
            Place::File { at, words, hash } => self.read_back(*at, *words, *hash)?,
        };
        Ok(Segment { rows: rows.clone(), words })
    }

    /// Removes and returns the segment with this number; the number stays reserved.
    ///
    /// # Errors
    /// [`Error::Io`] where the file doesn't hold what was written.
    pub fn take(&mut self, number: usize) -> Result<Segment> {
        let kept = &mut self.kept[number];
        let rows = std::mem::take(&mut kept.rows);
        let words = match std::mem::replace(&mut kept.place, Place::Memory(vec![])) {
            Place::Memory(words) => {
                self.in_memory -= 4 * words.len() as u64;
                words
            }
            Place::File { at, words, hash } => self.read_back(at, words, hash)?,
        };
        Ok(Segment { rows, words })
    }

    /// Number of segments.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    fn read_back(&self, at: u64, words: usize, hash: u64) -> Result<Vec<u32>> {
        let mut read = vec![0u32; words];
        let data: &mut [u8] = bytemuck::cast_slice_mut(&mut read);
        let mut file = self.file.as_ref().expect("what was written is in a file");
        let fail = |e| Error::io(&self.room.folder, "read back a file for tables in", e);
        file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(data)).map_err(fail)?;
        if xxh3_64(data) != hash {
            let what = "it isn't what was written: another program or the disk changed it";
            return Err(fail(std::io::Error::other(what)));
        }
        Ok(read)
    }

    /// Bytes that were written to the file.
    pub fn written(&self) -> u64 {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(from: u32) -> Segment {
        Segment { rows: vec![2, 3], words: (from..from + 10).collect() }
    }

    fn store(memory: u64) -> Store {
        Store::new(&Room::of(Some(memory), None))
    }

    #[test]
    fn segments_come_back_in_order_from_memory_and_from_the_file() {
        let mut store = store(90);
        (0..5).for_each(|at| store.push(segment(100 * at)).unwrap());
        assert_eq!(store.written(), 120);
        for at in 0..5 {
            assert_eq!(store.pop().unwrap(), Some(segment(100 * at)));
        }
        assert_eq!((store.pop().unwrap(), store.in_memory), (None, 0));
    }

    #[test]
    fn segments_are_taken_in_any_order_and_leave_their_room() {
        let mut store = store(90);
        (0..4).for_each(|at| store.push(segment(100 * at)).unwrap());
        assert_eq!(store.take(3).unwrap(), segment(300));
        assert_eq!(store.take(0).unwrap(), segment(0));
        assert_eq!((store.len(), store.in_memory, store.written()), (4, 40, 80));
        store.push(segment(400)).unwrap();
        assert_eq!((store.in_memory, store.written()), (80, 80));
        assert_eq!((store.take(4).unwrap(), store.take(1).unwrap()), (segment(400), segment(100)));
    }

    #[test]
    fn a_full_disk_and_a_file_that_was_cut_or_changed_are_errors() {
        let mut full = store(0);
        full.file = Some(File::options().write(true).open("/dev/full").unwrap());
        let error = full.push(segment(0)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("space left") && text.contains("tables"), "{text}");
        assert_eq!(error.exit_code(), 1);

        let mut cut = store(0);
        (0..2).for_each(|at| cut.push(segment(at)).unwrap());
        cut.file.as_ref().unwrap().set_len(60).unwrap();
        assert!(cut.pop().is_ok());
        assert!(cut.pop().unwrap_err().to_string().contains("read back"));

        let mut changed = store(0);
        changed.push(segment(0)).unwrap();
        let file = changed.file.as_mut().unwrap();
        file.seek(SeekFrom::Start(4)).and_then(|_| file.write_all(b"x")).unwrap();
        assert!(changed.pop().unwrap_err().to_string().contains("isn't what was written"));

        let nowhere = Room::of(Some(0), Some(Path::new("/nowhere")));
        let text = Store::new(&nowhere).push(segment(0)).unwrap_err().to_string();
        assert!(text.contains("/nowhere"), "{text}");
    }
}
