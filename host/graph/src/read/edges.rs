//! Edge lists: two ids per line.
//!
//! An *edge line* holds two vertex ids (whole numbers, 0 to 2^64 - 1, perhaps in quotes or with decimals that are
//! zero) and perhaps further fields, which are ignored. Which columns hold the ids, and what separates them, is found
//! by [`Table`]. All edge lines of a file have the same number of columns. Lines that begin with `#` or `%` and blank
//! lines are skipped. Direction is dropped. Vertices are those with an edge line.

use super::chunk::{Chunk, FinishContext, Parser, gather};
use super::names::{self, keeps_zeros, unquoted, whole};
use super::pairs::pair_lines;
use super::scan::{self, Digits, Fault, digits, is_blank, is_comment, quote, trim};
use super::table::{Separator, Table};
use crate::Builder;
use gramer_base::error::Result;

/// The most lines that are read one by one before several at a time are tried again.
const MOST_ALONE: usize = 64;

/// An edge list.
pub(crate) struct EdgeList {
    table: Table,
    /// Whether a line holds two ids and nothing else.
    pairs: bool,
    /// Whether it holds two ids and one more field.
    has_value: bool,
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

/// The edge of a line.
struct LineEdge {
    u: u64,
    v: u64,
    /// Whether an id is written with decimals.
    decimal: bool,
}

impl EdgeList {
    /// The parser for a file whose head this is, and how many bytes of it aren't body. If the format was named
    /// (`forced`), the first two columns hold the ids where names don't say otherwise.
    pub fn header(head: &[u8], forced: bool) -> Result<(Self, usize), Fault> {
        let (table, body) = Table::of(head, forced)?;
        let has_value = table.columns == 3 && table.ends == (0, 1);
        Ok((EdgeList { pairs: table.is_pairs(), has_value, table }, body))
    }

    /// The whole numbers of the first line, where it has two or three columns.
    pub fn first_numbers(&self, body: &[u8]) -> Option<Vec<u64>> {
        if self.table.header.is_some() {
            return None;
        }
        let (_, line) = scan::lines(body).next()?;
        let numbers: Option<Vec<u64>> = self.table.separator.split(line).map(scan::count).collect();
        numbers.filter(|numbers| (2..=3).contains(&numbers.len()))
    }

    /// The ids of a line, `None` for comments, blank lines and the names of the columns.
    fn line(&self, line: &[u8], chunk: &mut Chunk) -> Result<Option<LineEdge>, String> {
        if line.is_empty() || is_comment(line) {
            return Ok(None);
        }
        let ends = self.ends(line).map(Some);
        if ends.is_err() && self.table.header.as_deref() == Some(line) {
            chunk.headers += 1;
            return Ok(None);
        }
        ends.map_err(|why| format!("{} is not an edge line: {why}", quote(line)))
    }

    /// The ids of a line of two numbers and one plain field, such as a weight. Whatever looks otherwise is left to
    /// [`EdgeList::ends`].
    #[inline]
    fn ends_and_value(&self, line: &[u8]) -> Option<LineEdge> {
        let apart = |byte: u8| match self.table.separator {
            Separator::Blanks => is_blank(byte) || byte == b',',
            Separator::Byte(own) => byte == own,
        };
        let Digits::Number(u, end) = digits(line, 0) else { return None };
        let next = end + usize::from(line.get(end).is_some_and(|&byte| apart(byte)));
        let Digits::Number(v, last) = digits(line, next) else { return None };
        let (first, value) = line.get(last..)?.split_first()?;
        let plain = value.first()?.is_ascii_alphanumeric();
        let ends = next > end && apart(*first) && plain;
        let more = |&byte: &u8| apart(byte) || byte == b'\r';
        (ends && !value.iter().any(more)).then_some(LineEdge { u, v, decimal: false })
    }

    fn ends(&self, line: &[u8]) -> Result<LineEdge, String> {
        if self.has_value
            && let Some(ends) = self.ends_and_value(line)
        {
            return Ok(ends);
        }
        if let Some(what) = scan::bare_return(line) {
            return Err(what);
        }
        let mut ends = LineEdge { u: 0, v: 0, decimal: false };
        let (mut count, mut last): (usize, &[u8]) = (0, b"");
        for field in self.table.separator.split(line) {
            if count == self.table.ends.0 {
                ends.u = id(field, &mut ends.decimal)?;
            } else if count == self.table.ends.1 {
                ends.v = id(field, &mut ends.decimal)?;
            } else if has_open_quote(field) {
                return Err("a text in quotes goes on behind it".into());
            }
            count += 1;
            last = field;
        }
        if count == 1 {
            return Err("it holds one number, but an edge has two vertex ids (if it is a count \
                        or a header, put # in front of it)"
                .into());
        }
        // A separator may end a line.
        if count != self.table.columns && (count != self.table.columns + 1 || !last.is_empty()) {
            return Err(self.other_width(line, count));
        }
        Ok(ends)
    }

    /// The fault of a line of a text, with the likely cause if it is a shorter last one.
    #[cold]
    fn fault(&self, text: &[u8], (at, end): (usize, usize), mut what: String) -> Fault {
        let line = &text[at..end];
        let is_shorter = self.table.separator.split(trim(line)).count() < self.table.columns;
        if is_shorter && !line.ends_with(b"\n") {
            what += &format!("; {}", scan::NO_NEWLINE);
        }
        Fault { at, what }
    }

    /// Describes the fault of a line with another number of columns than the first one.
    #[cold]
    fn other_width(&self, line: &[u8], count: usize) -> String {
        let columns = self.table.columns;
        let mut what = format!("it has {count} columns, but the first edge line has {columns}");
        if self.table.separator.split(line).all(|field| scan::id(field).is_ok()) {
            what += &format!(" (if a line lists the neighbours of its first id, {PAIRS})");
        }
        what
    }
}

/// Command that converts adjacency lists to an edge list.
pub(crate) const PAIRS: &str =
    "make an edge list of it: awk '{for (i = 2; i <= NF; i++) print $1, $i}' FILE";

/// The id in a field, which may be in quotes or written with decimals.
#[inline]
fn id(field: &[u8], decimal: &mut bool) -> Result<u64, String> {
    match digits(field, 0) {
        Digits::Number(value, end) if end == field.len() => Ok(value),
        _ => {
            let quoted = field.starts_with(b"\"");
            let field = unquoted(field);
            if quoted && keeps_zeros(field) {
                return Err("the zeros in quotes make a text of it".into());
            }
            match scan::id(field) {
                Ok(id) => Ok(id),
                Err(why) => whole(field).inspect(|_| *decimal = true).ok_or(why),
            }
        }
    }
}

/// Whether a field begins a text in quotes that doesn't end in it.
#[inline]
pub(crate) fn has_open_quote(field: &[u8]) -> bool {
    field.first() == Some(&b'"') && memchr::memchr_iter(b'"', field).count() % 2 == 1
}

/// Whether a line or a field begins like a name.
pub(crate) fn begins_as_name(text: &[u8]) -> bool {
    let first = text.first().copied().unwrap_or(b'0');
    first.is_ascii_alphabetic() || matches!(first, b'_' | b'"' | b'\'' | 0x80..)
}

/// Whether a first line names columns: both of its first two fields begin like a name.
pub(crate) fn is_column_names(line: &[u8]) -> bool {
    let is_name = |field: &[u8]| begins_as_name(field) && !field.contains(&0);
    let mut columns = scan::fields(line);
    let (first, second) = (columns.next(), columns.next());
    first.is_some_and(is_name) && second.is_some_and(is_name)
}

impl Parser for EdgeList {
    fn joins(&self) -> bool {
        true
    }

    fn has_other_number(&self, text: &[u8], at: usize) -> bool {
        let line = trim(&text[at..line_end(text, at)]);
        let (u, v) = self.table.ends;
        let ends = |at: usize| at == u || at == v;
        let mut ids = self.table.separator.split(line).enumerate().filter(|&(at, _)| ends(at));
        ids.any(|(_, field)| scan::is_number(unquoted(field)) && id(field, &mut false).is_err())
    }

    fn block(&self, text: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        let mut at = 0;
        // Lines to be read one by one, and how many these are where the next ones can't be read together.
        let (mut alone, mut next_alone) = (0, 1);
        while at < text.len() {
            if alone > 0 {
                alone -= 1;
            } else if self.pairs {
                let from = at;
                at = pair_lines(text, at, &mut chunk.edges);
                next_alone = if at > from { 1 } else { MOST_ALONE.min(2 * next_alone) };
                alone = next_alone;
                continue;
            }
            if self.pairs
                && let Some((u, v, next)) = pair_line(text, at)
            {
                chunk.edges.push(u, v);
                at = next;
                continue;
            }
            let end = line_end(text, at);
            match self.line(trim(&text[at..end]), chunk) {
                Ok(Some(ends)) => {
                    chunk.edges.push(ends.u, ends.v);
                    chunk.decimal_ids |= ends.decimal;
                }
                Ok(None) => {}
                Err(what) => return Err(self.fault(text, (at, end), what)),
            }
            at = end;
        }
        Ok(())
    }

    fn finish(&self, chunks: Vec<Chunk>, end: &mut FinishContext) -> Result<Builder> {
        if chunks.iter().all(|c| c.edges.len() == 0) {
            return Err(end.fault("holds no edge: every line is blank, a comment or a header"));
        }
        end.notes.extend(self.table.notes.iter().cloned());
        if chunks.iter().any(|c| c.decimal_ids) {
            end.notes.push(
                "ids with decimals or an exponent, such as `1.0`, are read as whole numbers; digits \
                 that the program before rounded away are lost"
                    .into(),
            );
        }
        end.notes.extend(self.table.ignored());
        end.notes.extend(names::repeated(chunks.iter().map(|c| c.headers).sum()));
        Ok(gather(chunks))
    }
}
