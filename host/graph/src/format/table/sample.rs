//! The first rows of a table, by which its shape is found.

use csv::ByteRecord;

use super::blanks::has_blanks_around;
use super::rows::Rows;
use crate::format::Sink;
use crate::read::names as column_names;
use crate::read::{Separator, says_ends, scan, trim, unquoted};
use gramer_base::error::Result;

/// Rows that show the shape.
pub(in crate::format) const SAMPLE: usize = 100;

/// The first rows of a table.
pub(in crate::format) struct Sample {
    pub separator: Separator,
    pub rows: Vec<ByteRecord>,
    /// The line of the first row.
    pub line: u64,
    pub trims: bool,
    /// Lines of the rows.
    pub lines: Vec<u64>,
    /// Whether the rows below the first one have names in front.
    pub names_of_rows: bool,
    /// Names of columns in a comment in front of the first row, one for each field, and its line.
    pub comment: Option<(u64, Vec<String>)>,
    /// Whether the first row is the names of the columns, which are no line of a text.
    pub named: bool,
}

impl Sample {
    /// Names of columns and rows below them.
    #[cfg(feature = "columnar")]
    pub fn named(rows: Vec<ByteRecord>) -> Self {
        let separator = Separator::Byte(b',');
        let (lines, names_of_rows, comment) = (vec![], false, None);
        Sample {
            separator,
            rows,
            line: 1,
            trims: false,
            lines,
            names_of_rows,
            comment,
            named: true,
        }
    }

    /// Finds what separates the fields of a text that begins so.
    ///
    /// # Errors
    /// For decimal commas between blanks, which would separate fields.
    pub fn of(sink: &Sink<'_>, text: &[u8]) -> Result<Self> {
        let sample = Self::regular(sink, text)?;
        let rows = sample.rows.iter().skip(usize::from(sample.rows.len() > 1));
        let words = |row: &ByteRecord| row[0].split(|&byte| scan::is_blank(byte)).count();
        let decimal = |row: &ByteRecord| {
            let digits = |field: &[u8]| !field.is_empty() && field.iter().all(u8::is_ascii_digit);
            let last = |field: &[u8]| {
                field.rsplit(|&byte| scan::is_blank(byte)).next().is_some_and(digits)
            };
            row.len() == 2 && words(row) > 2 && last(&row[0]) && digits(&row[1])
        };
        // Where there are quotes, names with blanks are in them.
        let quoted = text.contains(&b'"');
        if sample.separator == Separator::Byte(b',') && !quoted && rows.clone().all(decimal) {
            let line = sample.lines.last().copied().unwrap_or(sample.line);
            let what = "a comma stands between digits behind blanks: write decimals with a point, or, if the comma \
                        separates fields, put names with blanks in quotes";
            return Err(sink.fault_at(line, what));
        }
        Ok(sample)
    }

    /// By what splits all rows alike, else most of them.
    fn regular(sink: &Sink<'_>, text: &[u8]) -> Result<Self> {
        let told = text.strip_prefix(b"sep=").and_then(|rest| rest.first()).copied();
        if let Some(told) = told {
            return Self::by(sink, text, Separator::Byte(told));
        }
        let blanks = Self::by(sink, text, Separator::Blanks)?;
        // Attributes of NetworkX are in braces, with commas between them.
        let last = |row: &ByteRecord| row.get(row.len().max(1) - 1).unwrap_or_default().to_vec();
        let braces = |row: &ByteRecord| last(row).starts_with(b"{") && last(row).ends_with(b"}");
        if !blanks.rows.is_empty() && blanks.rows.iter().all(braces) {
            // Where a mark stands in front of the braces, names may hold blanks.
            let ends = |row: &ByteRecord| row.len() == 3 && braces(row);
            let marked =
                [b'\t', b';', b'|'].map(|byte| Self::by(sink, text, Separator::Byte(byte)));
            let found = marked.into_iter().flatten().find(|sample| sample.rows.iter().all(ends));
            return Ok(found.unwrap_or(blanks));
        }
        let mut others = vec![];
        let mut fault = None;
        for byte in [b'\t', b';', b'|', b','] {
            match Self::by(sink, text, Separator::Byte(byte)) {
                Ok(sample) => others.push(sample),
                // A quote of another separator seems to begin a field, and is never closed.
                Err(error) => fault = Some(error),
            }
        }
        let regular = |sample: &Self| sample.is_regular();
        let says_ends = |sample: &Self| sample.rows.first().is_some_and(says_ends_of);
        let found = others.iter().position(|sample| regular(sample) && says_ends(sample));
        if let Some(at) = found.or_else(|| others.iter().position(regular)) {
            return Ok(others.swap_remove(at));
        }
        match fault {
            None if blanks.is_regular() => Ok(blanks),
            // Rows that differ: what most of them agree on.
            None => Ok(others.into_iter().fold(blanks, |best, sample| {
                if sample.agreed() > best.agreed() { sample } else { best }
            })),
            Some(error) => Err(error),
        }
    }

    fn by(sink: &Sink<'_>, text: &[u8], separator: Separator) -> Result<Self> {
        let mut rest = text;
        let mut rows = Rows::new(&mut rest, separator, sink.path());
        let (mut found, mut lines, mut row) = (vec![], vec![], ByteRecord::new());
        while found.len() < SAMPLE {
            match rows.next(&mut row) {
                Ok(Some(line)) => {
                    lines.push(line);
                    found.push(row.clone());
                }
                Ok(None) => break,
                // The quote may be closed behind the sample.
                Err(_) if found.len() > 1 => break,
                Err(error) => return Err(error),
            }
        }
        // The last row of a beginning may be cut off.
        if found.len() > 1 && found.len() < SAMPLE && !text.ends_with(b"\n") && text.len() > CUT {
            found.pop();
        }
        let trims = match separator {
            Separator::Byte(byte) => has_blanks_around(text, byte),
            Separator::Blanks => false,
        };
        let head = found.first().cloned();
        let shorter = found.len() > 1 && found[0].len() < found[1].len();
        let content = || scan::lines(text).map(|(_, line)| line).filter(|line| is_row(line));
        let behind = || content().skip(1).take(found.len() - 1);
        let names_of_rows = shorter && column_names::have_names_of_rows(behind(), separator);
        // Files that were joined repeat the names of the columns.
        let keeps =
            |(at, (row, _)): &(usize, (ByteRecord, u64))| *at == 0 || Some(row) != head.as_ref();
        let (rows, lines): (Vec<ByteRecord>, Vec<u64>) =
            found.into_iter().zip(lines).enumerate().filter(keeps).map(|(_, row)| row).unzip();
        let line = lines.first().copied().unwrap_or(0);
        let comment = None;
        let mut sample =
            Sample { separator, rows, line, trims, lines, names_of_rows, comment, named: false };
        sample.comment = sample.comment_of(text);
        Ok(sample)
    }

    /// Names of columns in the last comment in front of the first row that has as many fields as the rows.
    fn comment_of(&self, text: &[u8]) -> Option<(u64, Vec<String>)> {
        let width = self.width();
        let before = usize::try_from(self.line).map_or(0, |line| line.saturating_sub(1));
        let comments = scan::lines(text).take(before).zip(1..);
        let comments = comments.filter(|((_, line), _)| scan::is_comment(line));
        let named = comments.map(|((_, line), number)| {
            (number, column_names::of(trim(&line[1..]), self.separator))
        });
        named.filter(|(_, names)| width > 1 && names.len() == width).last()
    }

    /// Whether all rows have as many fields, two at least. A first row may have one less, over names of rows; a
    /// separator may end a row.
    fn is_regular(&self) -> bool {
        let width = self.width();
        width > 1
            && self.rows.iter().enumerate().all(|(i, row)| {
                row.len() == width
                    || row.len() == width + 1 && row.get(width) == Some(b"")
                    || i == 0 && self.rows.len() > 1 && row.len() > 1 && row.len() + 1 == width
            })
    }

    /// Rows with as many fields as the second one, if these are two at least.
    fn agreed(&self) -> usize {
        let width = self.width();
        if width < 2 { 0 } else { self.rows.iter().filter(|row| row.len() == width).count() }
    }

    /// Fields of the second row, which is not a header; of the first one if it is the only row.
    pub fn width(&self) -> usize {
        let row = self.rows.get(1).or(self.rows.first());
        row.map_or(0, |row| match row.len() {
            // A separator ends each row.
            n if n > 2 && self.rows.iter().all(|r| r.len() == n && r.get(n - 1) == Some(b"")) => {
                n - 1
            }
            n => n,
        })
    }

    /// Whether the rows below the first one have no text from a column on: a separator ends each of them.
    pub fn is_empty_from(&self, column: usize) -> bool {
        self.rows.iter().skip(1).all(|row| row.iter().skip(column).all(|field| field.is_empty()))
    }

    /// The fields of a row as texts.
    pub fn texts(&self, row: &ByteRecord) -> Vec<String> {
        (0..row.len())
            .map(|column| String::from_utf8_lossy(self.field(row, column)).into_owned())
            .collect()
    }

    /// The meaning of a field of a row.
    pub fn field<'r>(&self, row: &'r ByteRecord, column: usize) -> &'r [u8] {
        field(row.get(column), self.trims || self.separator == Separator::Blanks)
    }
}

/// Samples of this length or more may end within a row.
const CUT: usize = 64 << 10;

/// A field, empty where the row has none; with `trims` without white space and quotes around it.
#[inline]
pub(super) fn field(field: Option<&[u8]>, trims: bool) -> &[u8] {
    let field = field.unwrap_or_default();
    if trims { unquoted(trim(field)) } else { field }
}

/// Whether a line is neither blank nor a comment, nor names the separator.
fn is_row(line: &[u8]) -> bool {
    !line.is_empty() && !scan::is_comment(line) && !line.starts_with(b"sep=")
}

/// Whether a row has usual names of both ends.
fn says_ends_of(row: &ByteRecord) -> bool {
    let line: Vec<&[u8]> = row.iter().collect();
    says_ends(&line.join(&b'\t'))
}
