//! Rows of a table: fields between separators, perhaps in quotes, without comments.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use csv::ByteRecord;

use crate::format::lines::refused;
use crate::read::scan::is_blank;
use crate::read::{LONGEST_LINE, Separator, too_long, trim};
use gramer_base::error::{Error, Place, Result};

/// Bytes of a row from which on a quote was surely left open.
const LONGEST_ROW: usize = LONGEST_LINE;

/// Rows of a text, without blank lines and comments.
pub(super) struct Rows<'r> {
    by: RowInput<'r>,
    path: PathBuf,
}

enum RowInput<'r> {
    /// White space separates fields: each line is a row.
    Blanks { lines: Content<'r>, line: Vec<u8> },
    /// One byte separates fields: a quoted field may span several lines.
    Byte(Box<csv::Reader<Content<'r>>>),
}

impl<'r> Rows<'r> {
    pub fn new(reader: &'r mut dyn BufRead, separator: Separator, path: &Path) -> Self {
        let by = match separator {
            Separator::Blanks => {
                RowInput::Blanks { lines: Content::new(reader, None, path), line: vec![] }
            }
            Separator::Byte(byte) => {
                let mut builder = csv::ReaderBuilder::new();
                builder.has_headers(false).flexible(true).delimiter(byte).buffer_capacity(1 << 16);
                let content = Content::new(reader, Some(byte), path);
                RowInput::Byte(Box::new(builder.from_reader(content)))
            }
        };
        Rows { by, path: path.to_path_buf() }
    }

    /// Reads the next row; returns its first line, from 1, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Input`] for a quote that is never closed and for a line that is too long, [`Error::Io`].
    pub fn next(&mut self, row: &mut ByteRecord) -> Result<Option<u64>> {
        match &mut self.by {
            RowInput::Blanks { lines, line } => {
                line.clear();
                if !lines.append_line(line)? {
                    return Ok(None);
                }
                row.clear();
                Separator::Blanks.split(trim(line)).for_each(|field| row.push_field(field));
                Ok(Some(lines.number))
            }
            RowInput::Byte(reader) => match reader.read_byte_record(row) {
                Ok(true) => {
                    let line = row.position().map_or(1, csv::Position::line);
                    Ok(Some(reader.get_ref().line_of(line)))
                }
                Ok(false) => Ok(None),
                Err(error) => Err(match error.into_kind() {
                    csv::ErrorKind::Io(source) => refused(&self.path, source),
                    other => Error::input(Place::file(&self.path), format!("{other:?}")),
                }),
            },
        }
    }

    /// Comments behind the first row: how many, and the line of the first one.
    pub fn comments(&self) -> Option<(u64, u64)> {
        let content = match &self.by {
            RowInput::Blanks { lines, .. } => lines,
            RowInput::Byte(reader) => reader.get_ref(),
        };
        content.comments
    }
}

/// The lines of a text that are neither blank nor comments.
struct Content<'r> {
    reader: &'r mut dyn BufRead,
    path: PathBuf,
    /// Separates fields, which may be in quotes.
    separator: Option<u8>,
    /// The number of the last line, from 1.
    number: u64,
    /// Lines that were handed out.
    handed: u64,
    /// Of lines behind dropped ones: as which line they are handed out, and by how many lines they are farther.
    dropped: Vec<(u64, u64)>,
    /// The line in which the quotes began that are open.
    quoted: Option<u64>,
    /// Bytes of the open row.
    open: usize,
    content: bool,
    comments: Option<(u64, u64)>,
    line: Vec<u8>,
    at: usize,
}

impl<'r> Content<'r> {
    fn new(reader: &'r mut dyn BufRead, separator: Option<u8>, path: &Path) -> Self {
        Content {
            reader,
            path: path.to_path_buf(),
            separator,
            number: 0,
            handed: 0,
            dropped: vec![],
            quoted: None,
            open: 0,
            content: false,
            comments: None,
            line: vec![],
            at: 0,
        }
    }

    /// Appends the next line with content, with its end; `false` if there is none.
    fn append_line(&mut self, line: &mut Vec<u8>) -> Result<bool> {
        let from = line.len();
        loop {
            let mut limited = (&mut *self.reader).take(LONGEST_LINE as u64 + 1);
            let read = limited.read_until(b'\n', line);
            let read = read.map_err(|source| refused(&self.path, source))?;
            if read == 0 {
                return match self.quoted {
                    None => Ok(false),
                    Some(line) => Err(self.unclosed(line)),
                };
            }
            self.number += 1;
            if read > LONGEST_LINE {
                return Err(too_long(&self.path, self.number));
            }
            if self.quoted.is_some() || self.has_content(&line[from..]) {
                break;
            }
            line.truncate(from);
            // Lines dropped before the next line, which offset its number.
            let next = self.handed + 1;
            self.dropped.pop_if(|(line, _)| *line == next);
            self.dropped.push((next, self.number - self.handed));
        }
        self.handed += 1;
        if let Some(separator) = self.separator
            && (self.quoted.is_some() || memchr::memchr(b'"', &line[from..]).is_some())
        {
            self.follow_quotes(&line[from..], separator)?;
        }
        Ok(true)
    }

    /// Whether a line is neither blank nor a comment, nor says what separates the fields.
    fn has_content(&mut self, line: &[u8]) -> bool {
        let text = trim(line);
        match text.first() {
            None => return false,
            Some(b'#' | b'%') => {
                if self.content {
                    self.comments.get_or_insert((0, self.number)).0 += 1;
                }
                return false;
            }
            Some(_) => self.content = true,
        }
        self.number > 1 || text.len() != 5 || !text.starts_with(b"sep=")
    }

    /// The line of the text that was handed out as line `handed`, from 1.
    fn line_of(&self, handed: u64) -> u64 {
        let before = self.dropped.partition_point(|&(line, _)| line <= handed);
        handed + before.checked_sub(1).map_or(0, |at| self.dropped[at].1)
    }

    /// Keeps in mind whether a quote is open at the end of a line.
    fn follow_quotes(&mut self, line: &[u8], separator: u8) -> Result<()> {
        let mut begins = self.quoted.is_none();
        let mut bytes = line.iter().peekable();
        while let Some(&byte) = bytes.next() {
            match (self.quoted, byte) {
                (Some(_), b'"') if bytes.peek() == Some(&&b'"') => drop(bytes.next()),
                (Some(_), b'"') => self.quoted = None,
                (None, b'"') if begins => self.quoted = Some(self.number),
                _ => {}
            }
            begins = byte == separator;
        }
        self.open = if self.quoted.is_some() { self.open + line.len() } else { 0 };
        match self.quoted {
            Some(line) if self.open > LONGEST_ROW => Err(self.unclosed(line)),
            _ => Ok(()),
        }
    }

    fn unclosed(&self, line: u64) -> Error {
        let what = "a quote (`\"`) that begins in this line is never closed; a quote inside of quotes is written twice";
        Error::input(Place::line(&self.path, line), what)
    }
}

impl Content<'_> {
    /// Copies the next whole lines without quotes or comments at once; returns the
    /// number of bytes. Line by line takes longer.
    fn copy_lines(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.content || self.quoted.is_some() {
            return Ok(0);
        }
        let is_content = |first: &u8| !is_blank(*first) && !b"#%\r\n".contains(first);
        let text = self.reader.fill_buf()?;
        let text = &text[..text.len().min(buffer.len())];
        if !text.first().is_some_and(is_content) {
            return Ok(0);
        }
        let text = &text[..memchr::memchr(b'"', text).unwrap_or(text.len())];
        let (mut end, mut lines) = (0, 0);
        for at in memchr::memchr_iter(b'\n', text) {
            (end, lines) = (at + 1, lines + 1);
            if !text.get(end).is_some_and(is_content) {
                break;
            }
        }
        buffer[..end].copy_from_slice(&text[..end]);
        self.reader.consume(end);
        (self.number, self.handed) = (self.number + lines, self.handed + lines);
        Ok(end)
    }
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.at == self.line.len() {
                let copied = self.copy_lines(&mut buffer[filled..])?;
                if copied > 0 {
                    filled += copied;
                    continue;
                }
                let mut line = std::mem::take(&mut self.line);
                line.clear();
                let more = self.append_line(&mut line);
                (self.line, self.at) = (line, 0);
                if !more.map_err(io::Error::other)? {
                    break;
                }
            }
            let count = (self.line.len() - self.at).min(buffer.len() - filled);
            buffer[filled..filled + count].copy_from_slice(&self.line[self.at..self.at + count]);
            self.at += count;
            filled += count;
        }
        Ok(filled)
    }
}
