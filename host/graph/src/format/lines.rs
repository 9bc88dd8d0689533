//! Lines of a text that is read from the first to the last byte.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use crate::read::{LONGEST_LINE, too_long, trim};
use gramer_base::error::{Error, Result};

/// Lines with content, with their numbers from 1.
pub(crate) struct Lines<'r> {
    reader: &'r mut dyn BufRead,
    path: PathBuf,
    comments: &'static [u8],
    line: Vec<u8>,
    number: u64,
    /// Whether the line before had an end.
    ended: bool,
}

impl<'r> Lines<'r> {
    pub(super) fn new(reader: &'r mut dyn BufRead, path: &Path, comments: &'static [u8]) -> Self {
        Lines { reader, path: path.to_path_buf(), comments, line: vec![], number: 0, ended: true }
    }

    /// The next line that is neither blank nor a comment, without its end and the white space around it.
    ///
    /// # Errors
    /// [`Error::Input`] for a line that is longer than any graph needs, [`Error::Io`] where the system refuses.
    pub fn next(&mut self) -> Result<Option<(u64, &[u8])>> {
        loop {
            let comments = self.comments;
            match self.next_of_all()? {
                None => return Ok(None),
                Some((_, [])) => {}
                Some((_, [first, ..])) if comments.contains(first) => {}
                Some(_) => break,
            }
        }
        Ok(Some((self.number, trim(&self.line))))
    }

    /// Whether the last line had a line end, after the last line: otherwise the text may be truncated.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// As [`Lines::next`], with blank lines and comments.
    ///
    /// # Errors
    /// As [`Lines::next`].
    pub fn next_of_all(&mut self) -> Result<Option<(u64, &[u8])>> {
        Ok(self.next_whole()?.map(|(number, line)| (number, trim(line))))
    }

    /// As [`Lines::next_of_all`], with the white space around the line and its end.
    ///
    /// # Errors
    /// As [`Lines::next`].
    pub fn next_whole(&mut self) -> Result<Option<(u64, &[u8])>> {
        self.ended = self.line.last().is_none_or(|&last| last == b'\n');
        self.line.clear();
        let mut limited = (&mut *self.reader).take(LONGEST_LINE as u64 + 1);
        let read = limited.read_until(b'\n', &mut self.line);
        let read = read.map_err(|source| refused(&self.path, source))?;
        self.number += 1;
        if read > LONGEST_LINE {
            return Err(too_long(&self.path, self.number));
        }
        Ok((read > 0).then_some((self.number, &self.line)))
    }
}

/// A read that failed, in the words of the source of the bytes where it has some.
pub(crate) fn refused(path: &Path, source: std::io::Error) -> Error {
    if !source.get_ref().is_some_and(|inner| inner.is::<Error>()) {
        return Error::io(path, "read", source);
    }
    match source.into_inner().map(|inner| inner.downcast::<Error>()) {
        Some(Ok(error)) => *error,
        _ => Error::io(path, "read", std::io::ErrorKind::Other.into()),
    }
}
