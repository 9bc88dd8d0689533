//! Where bytes come from: a file or standard input, plain or compressed, in blocks of lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::Serialize;

use crate::error::{Error, Place, Result};

/// How a file is compressed.
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

/// The path that means standard input.
pub const STDIN: &str = "-";

/// A name for messages: standard input is `<stdin>`.
pub(crate) fn display_path(path: &Path) -> PathBuf {
    if path.as_os_str() == STDIN { PathBuf::from("<stdin>") } else { path.to_path_buf() }
}

/// An open input, decompressed.
pub(crate) struct Source {
    /// For messages.
    pub path: PathBuf,
    pub compression: Compression,
    /// The file itself where it is a plain regular one; only such a file can be mapped.
    pub file: Option<File>,
    reader: Box<dyn Read + Send>,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// [`Error::Io`] where it can't be opened or read, [`Error::Input`] for a directory and for
    /// kinds of compression that aren't supported.
    pub fn open(path: &Path) -> Result<Self> {
        let shown = display_path(path);
        let refused = |source| Error::io(&shown, "read", source);
        if path.as_os_str() == STDIN {
            return Self::new(shown.clone(), Box::new(io::stdin()), None);
        }
        let file = File::open(path).map_err(refused)?;
        let kind = file.metadata().map_err(refused)?;
        if kind.is_dir() {
            return Err(Error::input(
                Place::file(&shown),
                "is a directory; name the graph file in it",
            ));
        }
        let mappable = if kind.is_file() { Some(file.try_clone().map_err(refused)?) } else { None };
        Self::new(shown, Box::new(file), mappable)
    }

    /// Bytes in memory, as if read from a file.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<Self> {
        Self::new(path.to_path_buf(), Box::new(io::Cursor::new(bytes)), None)
    }

    fn new(path: PathBuf, mut raw: Box<dyn Read + Send>, file: Option<File>) -> Result<Self> {
        let mut magic = Vec::new();
        raw.by_ref()
            .take(6)
            .read_to_end(&mut magic)
            .map_err(|source| Error::io(&path, "read", source))?;
        let again = io::Cursor::new(magic.clone()).chain(raw);
        let refused = |what: &str| {
            let what = format!("is compressed with {what}; gzip, zstd and plain files can be read");
            Err(Error::input(Place::file(&path), what))
        };
        // gzip, zstd, and zstd's skippable frames, with which some tools begin.
        let (compression, reader): (_, Box<dyn Read + Send>) = match magic.as_slice() {
            [0x1f, 0x8b, ..] => {
                (Compression::Gzip, Box::new(flate2::read::MultiGzDecoder::new(again)))
            }
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                let decoder = zstd::stream::read::Decoder::new(again)
                    .map_err(|source| Error::io(&path, "decompress", source))?;
                (Compression::Zstd, Box::new(decoder))
            }
            [0xfd, b'7', b'z', b'X', b'Z', 0] => return refused("xz"),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => return refused("bzip2"),
            [b'P', b'K', 3, 4, ..] => return refused("zip"),
            [0x04, 0x22, 0x4d, 0x18, ..] => return refused("lz4"),
            _ => (Compression::None, Box::new(again)),
        };
        let file = file.filter(|_| compression == Compression::None);
        Ok(Source { path, compression, file, reader })
    }

    /// Appends up to `more` bytes to `buffer`; returns whether the input has ended.
    ///
    /// # Errors
    /// [`Error::Io`] where the system or the decompressor refuses.
    pub fn fill(&mut self, buffer: &mut Vec<u8>, more: usize) -> Result<bool> {
        let before = buffer.len();
        buffer.reserve(more.min(BLOCK));
        self.reader.by_ref().take(more as u64).read_to_end(buffer).map_err(|source| {
            let action = match self.compression {
                Compression::None => "read",
                Compression::Gzip | Compression::Zstd => "decompress",
            };
            Error::io(&self.path, action, source)
        })?;
        Ok(buffer.len() - before < more)
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

impl Blocks {
    /// The rest of `source`, after `carry`, whose first line has this number.
    pub fn new(source: Source, carry: Vec<u8>, ended: bool, line: u64) -> Self {
        Blocks { state: Mutex::new(State { source, carry, ended, line, index: 0, bytes: 0 }) }
    }

    /// Fills `block` with the next lines; `false` at the end of the input. A block ends with a
    /// line end, except the last one.
    ///
    /// # Errors
    /// As [`Source::fill`]; the input then counts as ended for other threads.
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
                // What follows the last line end goes with it once no more can follow.
                break if state.ended { block.text.len() } else { newline + 1 };
            }
            if state.ended {
                break block.text.len();
            }
            if newline.is_none() {
                searched = block.text.len();
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], carry: usize) -> Vec<(u64, Vec<u8>)> {
        let mut source = Source::from_bytes(Path::new("t"), bytes.to_vec()).unwrap();
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
            let mut source = Source::from_bytes(Path::new("t"), twice).unwrap();
            assert_eq!(source.compression, compression);
            let mut read = Vec::new();
            assert!(source.fill(&mut read, usize::MAX >> 1).unwrap());
            assert_eq!(read, text.repeat(2));
        }
        for cut in [&gzip[..gzip.len() - 20], &zstd[..zstd.len() - 3]] {
            let mut source = Source::from_bytes(Path::new("t.zst"), cut.to_vec()).unwrap();
            let error = source.fill(&mut Vec::new(), 1 << 20).unwrap_err().to_string();
            assert!(error.starts_with("t.zst: cannot decompress: "), "{error}");
        }
    }
}
