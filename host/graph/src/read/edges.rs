//! Edge lists: two ids per line.
//!
//! An *edge line* holds two vertex ids (whole numbers, 0 to 2^64 - 1) and perhaps further
//! numbers such as a weight or a time, which are ignored. Fields are separated by white space,
//! a comma, or both. All edge lines of a file have the same number of columns. Lines that begin
//! with `#` or `%` and blank lines are skipped; the first line that is neither may name the
//! columns (`id_1,id_2`) if numbers follow it, which is remarked. Direction is dropped. Vertices are those with an edge line.

use super::chunk::{Chunk, End, Parser, gather};
use super::pairs::pair_lines;
use super::scan::{self, Digits, Fault, digits, fields, is_comment, is_number, quote, trim};
use crate::Builder;
use crate::error::Result;

/// The most lines that are read one by one before several at a time are tried again.
const MOST_ALONE: usize = 64;

/// An edge list.
pub(crate) struct EdgeList {
    /// Columns of the first edge line.
    pub columns: usize,
    /// The line that names the columns, and its number from 1.
    names: Option<(u64, String)>,
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
        let mut content = scan::lines(head)
            .enumerate()
            .filter(|(_, (_, line))| !line.is_empty() && !is_comment(line));
        let plain = |columns, at| (EdgeList { columns, names: None }, at);
        let Some((number, (at, line))) = content.next() else { return plain(2, 0) };
        // A name is never an id, so that this line is no edge; if no ids follow it, it is wrong.
        if is_column_names(line) {
            let next = content.next().map(|(_, next)| next);
            if next.is_none_or(|(_, line)| begins_with_ids(line)) {
                let (next, columns) =
                    next.map_or((head.len(), 2), |(at, line)| (at, fields(line).count()));
                let names = Some((number as u64 + 1, quote(line)));
                return (EdgeList { columns, names }, next);
            }
        }
        plain(fields(line).count(), at)
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
                 list, name its format with the setting `format`)",
                self.columns
            ));
        }
        Ok((u, v))
    }
}

/// Whether a line or a field begins like a name.
pub(crate) fn begins_as_name(text: &[u8]) -> bool {
    let first = text.first().copied().unwrap_or(b'0');
    first.is_ascii_alphabetic() || matches!(first, b'_' | b'"' | b'\'' | 0x80..)
}

/// Whether a first line names columns: both of its first two fields begin like a name.
pub(crate) fn is_column_names(line: &[u8]) -> bool {
    let is_name = |field: &[u8]| begins_as_name(field) && !field.contains(&0);
    let mut columns = fields(line);
    let (first, second) = (columns.next(), columns.next());
    first.is_some_and(is_name) && second.is_some_and(is_name)
}

/// Whether the first two fields of a line are ids.
fn begins_with_ids(line: &[u8]) -> bool {
    let mut columns = fields(line);
    let mut is_id = || columns.next().is_some_and(|field| scan::id(field).is_ok());
    is_id() && is_id()
}

impl Parser for EdgeList {
    fn joins(&self) -> bool {
        true
    }

    fn block(&self, text: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        let mut at = 0;
        // Lines to be read one by one, and how many these are where the next ones can't be read together.
        let (mut alone, mut next_alone) = (0, 1);
        while at < text.len() {
            if alone > 0 {
                alone -= 1;
            } else if self.columns == 2 {
                let from = at;
                at = pair_lines(text, at, &mut chunk.edges);
                next_alone = if at > from { 1 } else { MOST_ALONE.min(2 * next_alone) };
                alone = next_alone;
                continue;
            }
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
        if let Some((line, names)) = &self.names {
            end.notes.push(format!("line {line}, {names}, is taken as the names of the columns"));
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
