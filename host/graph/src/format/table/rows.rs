//! Rows of a table: fields between separators, perhaps in quotes, without comments.
//!
//! Lines without quotes are split where they lie; the others go through `csv-core`.

use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use csv::ByteRecord;
use csv_core::ReadRecordResult;

use super::batch::Batch;
use crate::format::lines::refused;
use crate::read::scan::is_blank;
use crate::read::{LONGEST_LINE, Separator, too_long, trim};
use gramer_base::error::{Error, Place, Result};

/// Bytes of a row from which on a quote was surely left open.
const LONGEST_ROW: usize = LONGEST_LINE;

/// Rows of a text, without blank lines and comments.
pub(super) struct Rows<'r> {
    content: Content<'r>,
    separator: Separator,
    /// Splits rows with quotes.
    core: Box<csv_core::Reader>,
    line: Vec<u8>,
    fields: Vec<u8>,
    ends: Vec<usize>,
    one: Batch,
}

impl<'r> Rows<'r> {
    pub fn new(reader: &'r mut dyn BufRead, separator: Separator, path: &Path) -> Self {
        let byte = match separator {
            Separator::Blanks => None,
            Separator::Byte(byte) => Some(byte),
        };
        let core = csv_core::ReaderBuilder::new().delimiter(byte.unwrap_or(b',')).build();
        Rows {
            content: Content::new(reader, byte, path),
            separator,
            core: Box::new(core),
            line: vec![],
            fields: vec![0; 256],
            ends: vec![0; 16],
            one: Batch::default(),
        }
    }

    /// Reads the next row; returns its first line, from 1, or `None` at the end.
    ///
    /// # Errors
    /// [`Error::Input`] for a quote that is never closed and for a line that is too long, [`Error::Io`].
    pub fn next(&mut self, row: &mut ByteRecord) -> Result<Option<u64>> {
        let mut one = std::mem::take(&mut self.one);
        one.clear();
        let read = self.read(&mut one, 1);
        row.clear();
        let line = one.rows().next().map(|read| {
            read.iter().for_each(|field| row.push_field(field));
            read.line
        });
        self.one = one;
        read.map(|_| line)
    }

    /// Adds rows to a batch until it has `most`, or one more where a line holds two; whether the text has ended. Rows in
    /// front of a fault are there.
    ///
    /// # Errors
    /// As [`Rows::next`].
    pub fn read(&mut self, batch: &mut Batch, most: usize) -> Result<bool> {
        while batch.len() < most {
            let added = match self.separator {
                Separator::Byte(byte) => {
                    self.content.append_rows(batch, byte, most - batch.len())? > 0
                }
                Separator::Blanks => false,
            };
            if !added && !self.append_row(batch)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds the next row, with quotes or whatever else it has; `false` if there is none.
    fn append_row(&mut self, batch: &mut Batch) -> Result<bool> {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        let more = self.content.append_line(&mut line)?;
        let number = self.content.number;
        while more && self.content.quoted.is_some() {
            self.content.append_line(&mut line)?;
        }
        match self.separator {
            _ if !more => {}
            Separator::Blanks => batch.push(number, Separator::Blanks.split(trim(&line))),
            Separator::Byte(_) => {
                if line.last() != Some(&b'\n') {
                    line.push(b'\n');
                }
                self.split(&line, number, batch);
            }
        }
        self.line = line;
        Ok(more)
    }

    /// Splits lines that end with a line end. A carriage return alone ends a row, too.
    fn split(&mut self, lines: &[u8], number: u64, batch: &mut Batch) {
        let (mut rest, mut filled, mut ended) = (lines, 0, 0);
        loop {
            let (fields, ends) = (&mut self.fields[filled..], &mut self.ends[ended..]);
            let (result, read, written, found) = self.core.read_record(rest, fields, ends);
            rest = &rest[read..];
            (filled, ended) = (filled + written, ended + found);
            match result {
                ReadRecordResult::OutputFull => self.fields.resize(2 * self.fields.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::InputEmpty | ReadRecordResult::End => break,
                ReadRecordResult::Record => {
                    let begins = std::iter::once(0).chain(self.ends[..ended].iter().copied());
                    let bounds = begins.zip(&self.ends[..ended]);
                    batch.push(number, bounds.map(|(begin, &end)| &self.fields[begin..end]));
                    (filled, ended) = (0, 0);
                }
            }
        }
    }

    /// Whether the last line read lacks a line end.
    pub fn is_open(&self) -> bool {
        self.content.is_open
    }

    /// Comments behind the first row: how many, and the line of the first one.
    pub fn comments(&self) -> Option<(u64, u64)> {
        self.content.comments
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
    /// The line in which the quotes began that are open.
    quoted: Option<u64>,
    /// Bytes of the open row.
    open: usize,
    content: bool,
    comments: Option<(u64, u64)>,
    /// The last line with content lacks a line end.
    is_open: bool,
}

impl<'r> Content<'r> {
    fn new(reader: &'r mut dyn BufRead, separator: Option<u8>, path: &Path) -> Self {
        Content {
            reader,
            path: path.to_path_buf(),
            separator,
            number: 0,
            quoted: None,
            open: 0,
            content: false,
            comments: None,
            is_open: false,
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
        }
        self.is_open = line.last() != Some(&b'\n');
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

    /// Adds the next lines to a batch, up to `most`, as far as they are whole, have no quotes and are plainly content;
    /// returns their number.
    fn append_rows(&mut self, batch: &mut Batch, separator: u8, most: usize) -> Result<usize> {
        if !self.content || self.quoted.is_some() {
            return Ok(0);
        }
        let text = self.reader.fill_buf().map_err(|source| refused(&self.path, source))?;
        let is_content = |first: u8| !is_blank(first) && !b"#%\r\n".contains(&first);
        let (lines, bytes) = batch.push_lines(text, separator, self.number + 1, most, is_content);
        self.reader.consume(bytes);
        self.number += lines as u64;
        Ok(lines)
    }

    fn unclosed(&self, line: u64) -> Error {
        let what = "a quote (`\"`) that begins in this line is never closed; a quote inside of quotes is written twice";
        Error::input(Place::line(&self.path, line), what)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn rows(text: &str, separator: u8, buffer: usize, most: usize) -> Vec<(u64, Vec<String>)> {
        let mut reader = BufReader::with_capacity(buffer, text.as_bytes());
        let mut rows = Rows::new(&mut reader, Separator::Byte(separator), Path::new("t"));
        let (mut batch, mut all) = (Batch::default(), vec![]);
        loop {
            batch.clear();
            let ended = rows.read(&mut batch, most).unwrap();
            all.extend(batch.rows().map(|row| {
                let fields = row.iter().map(|field| String::from_utf8_lossy(field).into_owned());
                (row.line, fields.collect())
            }));
            if ended {
                return all;
            }
        }
    }

    #[test]
    fn rows_are_those_of_the_csv_crate() {
        let mut state = 7u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        const FIELDS: [&str; 12] = [
            "a",
            "bcd",
            "",
            "x y",
            "\"q\"",
            "\"a,b\"",
            "\"two\nlines\"",
            "\"d\"\"q\"",
            "é",
            "in\"side",
            "\"\r\n\"",
            "a long field that is longer than a buffer",
        ];
        for trial in 0..400 {
            let plain = trial % 3 == 0;
            let mut text = String::new();
            let mut lines = vec![];
            for _ in 0..1 + random(30) {
                lines.push(1 + text.matches('\n').count() as u64);
                text += "n";
                for _ in 0..random(4) {
                    text += ",";
                    text += FIELDS[random(if plain { 4 } else { FIELDS.len() })];
                }
                text += ["\n", "\n", "\r\n"][random(3)];
            }
            if random(4) == 0 {
                text.truncate(text.trim_end().len());
            }
            let mut reader = csv::ReaderBuilder::new();
            reader.has_headers(false).flexible(true);
            let expected: Vec<Vec<String>> = reader
                .from_reader(text.as_bytes())
                .records()
                .map(|row| row.unwrap().iter().map(String::from).collect())
                .collect();
            for (buffer, most) in [(1 << 16, 32), (1 << 16, 1), (40, 32), (7, 3)] {
                let found = rows(&text, b',', buffer, most);
                let fields: Vec<Vec<String>> = found.iter().map(|(_, row)| row.clone()).collect();
                assert_eq!(fields, expected, "{text:?}");
                let own: Vec<u64> = found.iter().map(|(line, _)| *line).collect();
                assert_eq!(own, lines, "{text:?}");
            }
        }
    }

    #[test]
    fn comments_and_blank_lines_are_no_rows_but_lines() {
        let text = "# head\na;b\n\n%x\nc;d\n  \n\"#e\";\"f\n\n# g\"\nh;i\rj;k\nl;m";
        let rows = rows(text, b';', 1 << 16, 32);
        let shown: Vec<String> =
            rows.iter().map(|(line, row)| format!("{line} {}", row.join("|"))).collect();
        assert_eq!(shown, ["2 a|b", "5 c|d", "7 #e|f\n\n# g", "10 h|i", "10 j|k", "11 l|m"]);
    }
}
