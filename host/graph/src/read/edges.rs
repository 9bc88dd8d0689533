//! Edge lists: two ids a line.
//!
//! An *edge line* holds two vertex ids (whole numbers, 0 to 2^64 - 1) and perhaps further
//! numbers such as a weight or a time, which are ignored. Fields are separated by white space,
//! a comma, or both. All edge lines of a file have the same number of columns. Lines that begin
//! with `#` or `%` and blank lines are skipped; the first line that is neither may name the
//! columns (`id_1,id_2`). Direction is dropped. Vertices are those with an edge line.

use super::chunk::{Chunk, End, Parser, gather};
use super::scan::{self, Digits, Fault, digits, fields, is_comment, is_number, quote, trim};
use crate::Builder;
use crate::error::Result;

/// An edge list.
pub(crate) struct EdgeList {
    /// Columns of the first edge line.
    pub columns: usize,
}

/// Ids of a line of exactly two numbers with one separator, and the start of the next line.
/// Whatever looks otherwise is left to the slow way.
#[inline(always)]
pub(crate) fn pair_line(text: &[u8], at: usize) -> Option<(u64, u64, usize)> {
    let Digits::Number(u, end) = digits(text, at) else { return None };
    if !matches!(text.get(end), Some(b' ' | b'\t' | b',')) {
        return None;
    }
    let Digits::Number(v, end) = digits(text, end + 1) else { return None };
    match text.get(end) {
        Some(b'\n') => Some((u, v, end + 1)),
        Some(b'\r') if text.get(end + 1) == Some(&b'\n') => Some((u, v, end + 2)),
        _ => None,
    }
}

/// The end of the line that begins at `at` (behind its line feed).
#[inline]
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |i| at + i + 1)
}

impl EdgeList {
    /// The parser for a file whose head this is, and how many bytes of it aren't body.
    pub fn header(head: &[u8]) -> (Self, usize) {
        let mut content =
            scan::lines(head).filter(|(_, line)| !line.is_empty() && !is_comment(line));
        let Some((at, line)) = content.next() else { return (EdgeList { columns: 2 }, 0) };
        if is_column_names(line) {
            let (next, columns) =
                content.next().map_or((head.len(), 2), |(at, line)| (at, fields(line).count()));
            return (EdgeList { columns }, next);
        }
        (EdgeList { columns: fields(line).count() }, at)
    }

    /// The ends of the edge in the first line of the body, where it has two columns.
    pub fn first_pair(&self, body: &[u8]) -> Option<(u64, u64)> {
        let (_, line) = scan::lines(body).next()?;
        self.line(line).ok()?.filter(|_| self.columns == 2)
    }

    /// The ids of a line, `None` for comments and blank lines.
    fn line(&self, line: &[u8]) -> Result<Option<(u64, u64)>, String> {
        if line.is_empty() || is_comment(line) {
            return Ok(None);
        }
        self.ids(line).map(Some).map_err(|why| format!("{} is no edge line: {why}", quote(line)))
    }

    fn ids(&self, line: &[u8]) -> Result<(u64, u64), String> {
        if let Some(what) = scan::bare_return(line) {
            return Err(what);
        }
        let mut columns = fields(line);
        let u = scan::id(columns.next().unwrap_or_default())?;
        let Some(v) = columns.next() else {
            return Err("it holds one number, but an edge has two vertex ids (if it is a count \
                        or a header, put # before it)"
                .into());
        };
        let v = scan::id(v)?;
        let mut count = 2;
        for column in columns {
            count += 1;
            if !is_number(column) {
                let shown = quote(column);
                return Err(format!(
                    "column {count}, {shown}, is no number (only numbers may follow the two ids)"
                ));
            }
        }
        if count != self.columns {
            return Err(format!(
                "it has {count} columns, but the first edge line has {} (if this is not an edge \
                 list, name its format with --format)",
                self.columns
            ));
        }
        Ok((u, v))
    }
}

/// Whether a first line names columns: both of its first two fields begin like a name.
pub(crate) fn is_column_names(line: &[u8]) -> bool {
    let is_name = |field: &[u8]| {
        let first = field.first().copied().unwrap_or(b'0');
        (first.is_ascii_alphabetic() || matches!(first, b'_' | b'"' | b'\'' | 0x80..))
            && !field.contains(&0)
    };
    let mut columns = fields(line);
    let (first, second) = (columns.next(), columns.next());
    first.is_some_and(is_name) && second.is_some_and(is_name)
}

impl Parser for EdgeList {
    fn block(&self, text: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        // No edge line is shorter than four bytes.
        chunk.edges = crate::build::EdgeBlock::with_capacity(text.len() / 4 + 1);
        let mut at = 0;
        while at < text.len() {
            if self.columns == 2
                && let Some((u, v, next)) = pair_line(text, at)
            {
                chunk.edges.push(u, v);
                at = next;
                continue;
            }
            let end = line_end(text, at);
            match self.line(trim(&text[at..end])) {
                Ok(Some((u, v))) => chunk.edges.push(u, v),
                Ok(None) => {}
                Err(what) => return Err(Fault { at, what }),
            }
            at = end;
        }
        Ok(())
    }

    fn finish(&self, chunks: Vec<Chunk>, end: &mut End) -> Result<Builder> {
        if chunks.iter().all(|c| c.edges.len() == 0) {
            return Err(end.fault("holds no edge: every line is blank, a comment or a header"));
        }
        if self.columns > 2 {
            let columns = self.columns;
            end.notes.push(if columns == 3 {
                "column 3 of the edge list is ignored".into()
            } else {
                format!("columns 3 to {columns} of the edge list are ignored")
            });
        }
        Ok(gather(chunks))
    }
}
