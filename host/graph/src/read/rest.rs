//! All of a source as one stream of bytes.

use std::io::{self, BufRead, Read};

use super::source::{BLOCK, Source};

/// Buffered reader of a source from its first byte.
pub(crate) struct SourceReader {
    source: Source,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
    bytes: u64,
}

impl Source {
    /// The source with its first bytes, which have been read, in front.
    pub fn behind(self, head: Vec<u8>) -> SourceReader {
        SourceReader { source: self, bytes: head.len() as u64, buffer: head, at: 0, ended: false }
    }
}

impl SourceReader {
    /// Bytes that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// As [`Source::trailing`].
    pub fn trailing(&mut self) -> Option<String> {
        self.source.trailing()
    }
}

impl BufRead for SourceReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.buffer.len() && !self.ended {
            self.buffer.clear();
            self.at = 0;
            // Interruptions and errors of the source are passed on unchanged.
            self.ended = self.source.fill(&mut self.buffer, BLOCK).map_err(io::Error::other)?;
            self.bytes += self.buffer.len() as u64;
        }
        Ok(&self.buffer[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

impl Read for SourceReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let ready = self.fill_buf()?;
        let count = ready.len().min(buffer.len());
        buffer[..count].copy_from_slice(&ready[..count]);
        self.consume(count);
        Ok(count)
    }
}
