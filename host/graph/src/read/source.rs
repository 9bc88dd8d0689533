//! Where bytes come from: a file or standard input, plain or compressed, in blocks of lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use flate2::bufread::GzDecoder;
use serde::Serialize;

use super::watch::FileSnapshot;
use gramer_base::context::{Cancel, Progress};
use gramer_base::error::{Error, Place, Result};
use gramer_base::input::{self, InterruptibleReader, STDIN};
use gramer_base::pages::in_large_pages;

/// Compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// Not at all.
    None,
    /// gzip (RFC 1952), any number of members.
    Gzip,
    /// zstd (RFC 8878), any number of frames.
    Zstd,
}

/// A name for messages: standard input is `<stdin>`.
pub(crate) fn display_path(path: &Path) -> PathBuf {
    if path.as_os_str() == STDIN { PathBuf::from("<stdin>") } else { path.to_path_buf() }
}

/// Whether the name of a file ends in one of these.
fn named(path: &Path, ends: &[&str]) -> bool {
    path.extension().is_some_and(|own| ends.iter().any(|end| own.eq_ignore_ascii_case(end)))
}

/// An open input, decompressed.
pub(crate) struct Source {
    /// Path for messages.
    pub path: PathBuf,
    pub compression: Compression,
    /// The file itself where it is a plain regular one; only such a file can be mapped.
    pub file: Option<File>,
    /// A regular file, plain or compressed, as it was when it was opened.
    pub watch: Option<FileSnapshot>,
    reader: Box<dyn Read + Send>,
    /// The meter of a plain file. (A reader around the file would have each buffer filled with zeros before.)
    meter: Option<Arc<Progress>>,
    cancel: Cancel,
    /// Whether something else followed the compressed data.
    trailing: Arc<AtomicBool>,
}

/// A compressed input whose bytes are added to a meter as they are read.
struct MeteredReader<R> {
    reader: R,
    meter: Option<Arc<Progress>>,
}

impl<R: Read> Read for MeteredReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if let Some(meter) = &self.meter {
            meter.add(count as u64);
        }
        Ok(count)
    }
}

/// Bytes that are read several times.
struct SharedBytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The members of a gzip file one after the other. What follows the last one and is none is left
/// out, as gzip itself does.
struct Gzip<R: BufRead> {
    /// The member being read; `None` at the end.
    member: Option<GzDecoder<R>>,
    /// Whether the member is not the first, and has given nothing yet.
    fresh: bool,
    trailing: Arc<AtomicBool>,
}

/// The first bytes of a member.
const GZIP: [u8; 2] = [0x1f, 0x8b];

impl<R: BufRead> Gzip<R> {
    fn new(raw: R, trailing: Arc<AtomicBool>) -> Self {
        Gzip { member: Some(GzDecoder::new(raw)), fresh: false, trailing }
    }

    /// The next member, if one follows. Zeros that fill up a block mean nothing.
    fn next_member(&mut self, mut raw: R) -> io::Result<Option<GzDecoder<R>>> {
        loop {
            let rest = raw.fill_buf()?;
            let zeros = rest.iter().take_while(|&&byte| byte == 0).count();
            match rest.get(zeros) {
                None if rest.is_empty() => return Ok(None),
                None => {}
                // The second byte may not have been read yet; then the decoder tells.
                Some(&first)
                    if first == GZIP[0]
                        && rest.get(zeros + 1).is_none_or(|&second| second == GZIP[1]) =>
                {
                    raw.consume(zeros);
                    self.fresh = true;
                    return Ok(Some(GzDecoder::new(raw)));
                }
                Some(_) => {
                    self.trailing.store(true, Ordering::Relaxed);
                    return Ok(None);
                }
            }
            raw.consume(zeros);
        }
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member
            && !buffer.is_empty()
        {
            match member.read(buffer) {
                Ok(0) => {
                    let raw = self.member.take().map(GzDecoder::into_inner);
                    self.member = raw.map(|raw| self.next_member(raw)).transpose()?.flatten();
                }
                Ok(count) => {
                    self.fresh = false;
                    return Ok(count);
                }
                // It only began as a member does.
                Err(e) if self.fresh && e.kind() == io::ErrorKind::InvalidInput => {
                    self.trailing.store(true, Ordering::Relaxed);
                    self.member = None;
                }
                Err(e) => return Err(e),
            }
        }
        Ok(0)
    }
}

impl Source {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// [`Error::Io`] where it can't be opened or read, [`Error::Input`] for a directory and for
    /// kinds of compression that aren't supported, [`Error::Interrupted`] after Ctrl-C.
    pub fn open(path: &Path, cancel: &Cancel) -> Result<Self> {
        Self::watched(path, cancel, None)
    }

    /// As [`Source::open`], reporting the bytes of a regular file as a phase of `progress`.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn watched(path: &Path, cancel: &Cancel, progress: Option<&Arc<Progress>>) -> Result<Self> {
        let shown = display_path(path);
        let refused = |source| Error::io(&shown, "read", source);
        if path.as_os_str() == STDIN {
            // Nothing else reads standard input, so that the buffer of the library isn't needed.
            let raw = InterruptibleReader::new(io::stdin(), cancel.clone());
            return Self::new(shown, Box::new(raw), None, None, cancel);
        }
        let file = input::open(path).map_err(refused)?;
        let kind = file.metadata().map_err(refused)?;
        if kind.is_dir() {
            return Err(Error::input(
                Place::file(&shown),
                "is a directory; name the graph file in it",
            ));
        }
        if !kind.is_file() {
            let raw = InterruptibleReader::new(file, cancel.clone());
            return Self::new(shown, Box::new(raw), None, None, cancel);
        }
        let mappable = file.try_clone().map_err(refused)?;
        let watch = FileSnapshot::new(shown.clone(), &file).map_err(refused)?;
        if let Some(meter) = progress {
            meter.begin(kind.len());
        }
        let source = Self::new(shown, Box::new(file), Some(mappable), progress.cloned(), cancel)?;
        Ok(Source { watch: Some(watch), ..source })
    }

    /// Bytes in memory, as if read from a file.
    pub fn from_bytes(path: &Path, bytes: Arc<Vec<u8>>) -> Result<Self> {
        let raw = Box::new(io::Cursor::new(SharedBytes(bytes)));
        Self::new(path.to_path_buf(), raw, None, None, &Cancel::default())
    }

    fn new(
        path: PathBuf,
        mut raw: Box<dyn Read + Send>,
        file: Option<File>,
        mut meter: Option<Arc<Progress>>,
        cancel: &Cancel,
    ) -> Result<Self> {
        let mut magic = Vec::new();
        let read = raw.by_ref().take(6).read_to_end(&mut magic);
        cancel.check()?;
        read.map_err(|source| Error::io(&path, "read", source))?;
        if let Some(meter) = &meter {
            meter.add(magic.len() as u64);
        }
        let mut metered = |raw| {
            io::Cursor::new(magic.clone()).chain(MeteredReader { reader: raw, meter: meter.take() })
        };
        let refused = |what: &str, unpack: &str| {
            let what = format!(
                "is compressed with {what}; gzip, zstd and plain files can be read: {unpack} FILE | gramer … -"
            );
            Err(Error::input(Place::file(&path), what))
        };
        let trailing = Arc::new(AtomicBool::new(false));
        // gzip, zstd, and zstd's skippable frames, with which some tools begin.
        let (compression, reader): (_, Box<dyn Read + Send>) = match magic.as_slice() {
            [0x1f, 0x8b, ..] => (
                Compression::Gzip,
                Box::new(Gzip::new(BufReader::new(metered(raw)), trailing.clone())),
            ),
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                let failed = |source| Error::io(&path, "decompress", source);
                // The decoder panics where the system refuses its memory.
                if zstd::zstd_safe::DCtx::try_create().is_none() {
                    return Err(failed(io::ErrorKind::OutOfMemory.into()));
                }
                let decoder = zstd::stream::read::Decoder::new(metered(raw)).map_err(failed)?;
                (Compression::Zstd, Box::new(decoder))
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0] => return refused("xz", "xz -dc"),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => return refused("bzip2", "bzip2 -dc"),
            [b'P', b'K', 3, 4, ..] if named(&path, &["xlsx", "xlsm", "ods"]) => {
                let what = "is a workbook of a spreadsheet; save the sheet as CSV";
                return Err(Error::input(Place::file(&path), what));
            }
            [b'P', b'K', 3, 4, ..] if named(&path, &["npz"]) => {
                let what = "holds arrays of NumPy; in Python: gramer.Graph.from_scipy(scipy.sparse.load_npz(FILE))";
                return Err(Error::input(Place::file(&path), what));
            }
            [b'P', b'K', 3, 4, ..] => return refused("zip", "unzip -p"),
            [0x04, 0x22, 0x4d, 0x18, ..] => return refused("lz4", "lz4 -dc"),
            _ => (Compression::None, Box::new(io::Cursor::new(magic).chain(raw))),
        };
        let file = file.filter(|_| compression == Compression::None);
        let cancel = cancel.clone();
        Ok(Source { path, compression, file, watch: None, reader, meter, cancel, trailing })
    }

    /// A remark on what followed the compressed data, once all of it was read.
    pub fn trailing(&self) -> Option<String> {
        let note = "something that is no gzip follows the compressed data and is ignored";
        self.trailing.load(Ordering::Relaxed).then(|| note.into())
    }

    /// Appends up to `more` bytes to `buffer`; returns whether the input has ended.
    ///
    /// # Errors
    /// [`Error::Io`] where the system or the decompressor refuses, [`Error::Interrupted`] after
    /// Ctrl-C.
    pub fn fill(&mut self, buffer: &mut Vec<u8>, more: usize) -> Result<bool> {
        let before = buffer.len();
        buffer.reserve(more.min(BLOCK));
        // In short steps, so that the stop flag is checked during decompression.
        let mut left = more;
        while left > 0 {
            self.cancel.check()?;
            let step = left.min(BLOCK);
            let count = self.read_some(buffer, step)?;
            left -= count;
            if count < step {
                break;
            }
        }
        Ok(buffer.len() - before < more)
    }

    /// Appends `step` bytes, fewer only at the end of the input.
    fn read_some(&mut self, buffer: &mut Vec<u8>, step: usize) -> Result<usize> {
        let read = self.reader.by_ref().take(step as u64).read_to_end(buffer);
        if let (Some(meter), Ok(count)) = (&self.meter, &read) {
            meter.add(*count as u64);
        }
        read.map_err(|source| {
            if self.cancel.is_cancelled() {
                return Error::Interrupted;
            }
            let action = match self.compression {
                Compression::None => "read",
                Compression::Gzip | Compression::Zstd => "decompress",
            };
            Error::io(&self.path, action, source)
        })
    }
}

/// A run of whole lines of the input.
#[derive(Debug, Default)]
pub(crate) struct TextBlock {
    pub text: Vec<u8>,
    /// Number of the first line, from 1.
    pub first_line: u64,
    /// Position among the blocks.
    pub index: usize,
}

/// Hands out the input block by block to any number of threads. Only the reading (and
/// decompressing) is done under the lock; each thread keeps its own buffer, which stays in its
/// cache.
pub(crate) struct Blocks {
    state: Mutex<State>,
}

struct State {
    source: Source,
    /// Bytes that were read but not handed out.
    carry: Vec<u8>,
    ended: bool,
    line: u64,
    index: usize,
    bytes: u64,
}

/// Bytes that are read at a time: small enough for a second-level cache.
pub(crate) const BLOCK: usize = 1 << 20;

/// The longest line, in bytes. The neighbours of twenty million vertices fit; a compressed file
/// of a few kilobytes can hold a line that no memory does.
pub(crate) const LONGEST_LINE: usize = 256 << 20;

/// Refuses the line `line` (from 1), which is longer than any graph needs.
pub(crate) fn too_long(path: &Path, line: u64) -> Error {
    let what = format!(
        "this line is longer than {} MiB, which no line may be; an edge list or an image \
         (`gramer graph convert`) has no long lines",
        LONGEST_LINE >> 20
    );
    Error::input(Place::line(path, line), what)
}

impl Blocks {
    /// The rest of `source`, after `carry`, whose first line has this number.
    pub fn new(source: Source, carry: Vec<u8>, ended: bool, line: u64) -> Self {
        Blocks { state: Mutex::new(State { source, carry, ended, line, index: 0, bytes: 0 }) }
    }

    /// A block to be filled, with room for as much as most have.
    pub fn empty(&self) -> TextBlock {
        let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        // What was carried over, and as much again; where that was all, its memory is taken.
        let room = if state.ended { 0 } else { 2 * BLOCK };
        TextBlock { text: in_large_pages(Vec::with_capacity(room)), ..TextBlock::default() }
    }

    /// Fills `block` with the next lines; `false` at the end of the input. A block ends with a
    /// line end, except the last one.
    ///
    /// # Errors
    /// As [`Source::fill`], and [`Error::Input`] for a line longer than [`LONGEST_LINE`]; the
    /// input then counts as ended for other threads.
    pub fn next(&self, block: &mut TextBlock) -> Result<bool> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let state = &mut *state;
        block.text.clear();
        block.text.append(&mut state.carry);
        let mut searched = 0;
        let end = loop {
            let newline = memchr::memrchr(b'\n', &block.text[searched..]).map(|i| searched + i);
            if let Some(newline) = newline
                && (block.text.len() >= BLOCK || state.ended)
            {
                // The rest behind the last line end belongs to it at the end of the source.
                break if state.ended { block.text.len() } else { newline + 1 };
            }
            if state.ended {
                break block.text.len();
            }
            if newline.is_none() {
                searched = block.text.len();
            }
            if searched > LONGEST_LINE {
                state.ended = true;
                block.text.clear();
                return Err(too_long(&state.source.path, state.line));
            }
            match state.source.fill(&mut block.text, BLOCK) {
                Ok(ended) => state.ended = ended,
                Err(error) => {
                    state.ended = true;
                    block.text.clear();
                    return Err(error);
                }
            }
        };
        state.carry.extend_from_slice(&block.text[end..]);
        block.text.truncate(end);
        block.first_line = state.line;
        block.index = state.index;
        state.line += memchr::memchr_iter(b'\n', &block.text).count() as u64;
        state.index += 1;
        state.bytes += end as u64;
        Ok(end > 0)
    }

    /// Bytes handed out so far.
    pub fn bytes(&self) -> u64 {
        self.state.lock().unwrap_or_else(|e| e.into_inner()).bytes
    }

    /// As [`Source::trailing`].
    pub fn trailing(&self) -> Option<String> {
        self.state.lock().unwrap_or_else(|e| e.into_inner()).source.trailing()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], carry: usize) -> Vec<(u64, Vec<u8>)> {
        let mut source = Source::from_bytes(Path::new("t"), Arc::new(bytes.to_vec())).unwrap();
        let mut head = Vec::new();
        let ended = source.fill(&mut head, carry).unwrap();
        let blocks = Blocks::new(source, head, ended, 1);
        let (mut block, mut found) = (TextBlock::default(), Vec::new());
        while blocks.next(&mut block).unwrap() {
            found.push((block.first_line, block.text.clone()));
        }
        found
    }

    #[test]
    fn blocks_are_whole_lines_and_nothing_is_lost() {
        let line = b"some line of text\n";
        let mut text = line.repeat(3 * BLOCK / line.len());
        text.extend_from_slice(&[b'x'; 2 * BLOCK]);
        text.extend_from_slice(b"\nno end");
        for carry in [0, 1, 100, BLOCK, 2 * BLOCK, 100 * BLOCK] {
            let blocks = all(&text, carry);
            let mut line = 1;
            for (i, (first, block)) in blocks.iter().enumerate() {
                assert_eq!(*first, line);
                assert!(block.ends_with(b"\n") || i == blocks.len() - 1);
                line += block.iter().filter(|b| **b == b'\n').count() as u64;
            }
            assert!(blocks.into_iter().map(|b| b.1).collect::<Vec<_>>().concat() == text);
        }
        assert!(all(b"", 10).is_empty());
        assert_eq!(all(b"x", 10), [(1, b"x".to_vec())]);
    }

    #[test]
    fn compressed_input_is_found_by_its_first_bytes() {
        let text = b"1 2\n".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut gzip, &text).unwrap();
        let gzip = gzip.finish().unwrap();
        let zstd = zstd::encode_all(&text[..], 3).unwrap();
        for (bytes, compression) in
            [(&text, Compression::None), (&gzip, Compression::Gzip), (&zstd, Compression::Zstd)]
        {
            // Members and frames may follow each other.
            let twice = [bytes.as_slice(), bytes].concat();
            let mut source = Source::from_bytes(Path::new("t"), Arc::new(twice)).unwrap();
            assert_eq!(source.compression, compression);
            let mut read = Vec::new();
            assert!(source.fill(&mut read, usize::MAX >> 1).unwrap());
            assert_eq!(read, text.repeat(2));
        }
        // gzip ignores trailing data after its members, zeros silently.
        for (rest, noted) in [(&b"\0\0\0"[..], false), (b"oops", true), (b"\0\x1f no", true)] {
            let mut source =
                Source::from_bytes(Path::new("t.gz"), Arc::new([&gzip, rest].concat())).unwrap();
            let mut read = Vec::new();
            assert!(source.fill(&mut read, usize::MAX >> 1).unwrap());
            assert_eq!(read, text);
            assert_eq!(source.trailing().is_some(), noted, "{rest:?}");
        }
        for cut in [&gzip[..gzip.len() - 20], &zstd[..zstd.len() - 3]] {
            let mut source =
                Source::from_bytes(Path::new("t.zst"), Arc::new(cut.to_vec())).unwrap();
            let error = source.fill(&mut Vec::new(), 1 << 20).unwrap_err().to_string();
            assert!(error.starts_with("t.zst: cannot decompress: "), "{error}");
        }
    }
}
