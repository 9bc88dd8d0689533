//! Matrix Market coordinate files: an entry (i, j) of a square matrix is an edge.
//!
//! The size line `V V entries` declares the vertices 1 to V, which exist even without an entry.
//! Values are weights and ignored, except that an explicit zero is not an edge. Symmetry is not
//! needed, since direction is dropped: in a general matrix the second of (i, j) and (j, i)
//! counts as a duplicate.

use super::chunk::{Chunk, FinishContext, Parser, gather};
use super::edges::{line_end, pair_line};
use super::scan::{self, Fault, fields, is_number, is_zero, quote, trim};
use crate::Builder;
use gramer_base::counted::counted;
use gramer_base::error::Result;

/// Content of header and size line.
pub(crate) struct MatrixMarket {
    vertices: u64,
    entries: u64,
    /// Numbers behind the indices: 0 for `pattern`.
    values: usize,
    /// Whether (i, j) may be there without (j, i).
    general: bool,
    /// Line of the size line, from 1.
    line: u64,
}

/// The first word of the format, without its two `%`.
const BANNER: &[u8] = b"MatrixMarket";

/// Whether a text begins like a Matrix Market file; one `%` is enough, as some tools print it.
pub(crate) fn has_banner(text: &[u8]) -> bool {
    let Some(text) = text.strip_prefix(b"%") else { return false };
    let text = text.strip_prefix(b"%").unwrap_or(text);
    text.get(..BANNER.len()).is_some_and(|t| t.eq_ignore_ascii_case(BANNER))
}

impl MatrixMarket {
    /// The parser for a file whose head this is, and how many bytes of it aren't body.
    pub fn header(head: &[u8]) -> Result<(Self, usize), Fault> {
        let fault = |at, what: String| Err(Fault { at, what });
        let mut lines = scan::lines(head).enumerate();
        let banner = lines.next().map_or(&b""[..], |(_, (_, line))| line);
        if !has_banner(banner) {
            return fault(
                0,
                format!(
                    "{} is not the first line of a Matrix Market file, which is \
                     `%%MatrixMarket matrix coordinate …` (if this is an edge list, name its \
                     format with the setting `format`: edges)",
                    quote(banner)
                ),
            );
        }
        let words: Vec<String> =
            fields(banner).map(|f| String::from_utf8_lossy(f).to_ascii_lowercase()).collect();
        let word = |i: usize| words.get(i).map_or("", String::as_str);
        if word(1) != "matrix" || word(2) != "coordinate" {
            let what = format!("{} is not a sparse matrix (`matrix coordinate`)", quote(banner));
            return fault(0, what);
        }
        let values = match word(3) {
            "pattern" => 0,
            "real" | "double" | "integer" | "unsigned-integer" => 1,
            "complex" => 2,
            other => return fault(0, format!("field {} is not known", quote(other.as_bytes()))),
        };
        if !matches!(word(4), "general" | "symmetric" | "skew-symmetric" | "hermitian") {
            let what = format!("symmetry {} is not known", quote(word(4).as_bytes()));
            return fault(0, what);
        }
        for (number, (at, line)) in lines {
            if line.is_empty() || line[0] == b'%' {
                continue;
            }
            let counts: Option<Vec<u64>> = fields(line).map(scan::count).collect();
            let Some([rows, columns, entries]) = counts.as_deref() else {
                return fault(at, format!("{} is not a size line `V V entries`", quote(line)));
            };
            if rows != columns {
                let what = format!(
                    "the matrix has {} and {}; the matrix of a graph is square",
                    counted(*rows, "row", "rows"),
                    counted(*columns, "column", "columns")
                );
                return fault(at, what);
            }
            let line = number as u64 + 1;
            let general = word(4) == "general";
            let (vertices, entries) = (*rows, *entries);
            let matrix = MatrixMarket { vertices, entries, values, general, line };
            return Ok((matrix, line_end(head, at)));
        }
        fault(0, "the size line `V V entries` is missing".into())
    }

    /// Claim that the graph is directed, if any.
    pub fn general(&self) -> Option<String> {
        self.general.then(|| "the matrix is general and not symmetric, which".to_string())
    }

    fn entry(&self, line: &[u8], chunk: &mut Chunk) -> Result<(), String> {
        if let Some(what) = scan::bare_return(line) {
            return Err(what);
        }
        let mut columns = fields(line);
        let u = scan::id(columns.next().unwrap_or_default())?;
        let v = scan::id(columns.next().ok_or("the second index is missing")?)?;
        let (mut values, mut zero) = (0, true);
        for value in columns {
            if !is_number(value) {
                return Err(format!("{} is not a number", quote(value)));
            }
            zero &= is_zero(value);
            values += 1;
        }
        if values != self.values {
            let values = counted(values, "value", "values");
            return Err(format!("it has {values}, but the banner says {}", self.values));
        }
        if zero && values > 0 {
            chunk.entries += 1;
            chunk.zeros += 1;
            return self.check(u, v);
        }
        self.add(u, v, chunk)
    }

    #[inline]
    fn check(&self, u: u64, v: u64) -> Result<(), String> {
        let bad = |id| id == 0 || id > self.vertices;
        if !bad(u) && !bad(v) {
            return Ok(());
        }
        let id = if bad(u) { u } else { v };
        Err(format!("index {id} is not between 1 and {}, the size of the matrix", self.vertices))
    }

    #[inline]
    fn add(&self, u: u64, v: u64, chunk: &mut Chunk) -> Result<(), String> {
        self.check(u, v)?;
        chunk.entries += 1;
        chunk.edges.push(u, v);
        Ok(())
    }
}

impl Parser for MatrixMarket {
    fn joins(&self) -> bool {
        true
    }

    fn block(&self, text: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        let mut at = 0;
        while at < text.len() {
            let (done, next) = match pair_line(text, at) {
                Some((u, v, next)) if self.values == 0 => (self.add(u, v, chunk), next),
                _ => {
                    let next = line_end(text, at);
                    let line = trim(&text[at..next]);
                    let skip = line.is_empty() || line[0] == b'%';
                    (if skip { Ok(()) } else { self.entry(line, chunk) }, next)
                }
            };
            if let Err(why) = done {
                let line = quote(trim(&text[at..next]));
                return Err(Fault { at, what: format!("{line} is not a matrix entry: {why}") });
            }
            at = next;
        }
        Ok(())
    }

    fn finish(&self, chunks: Vec<Chunk>, end: &mut FinishContext) -> Result<Builder> {
        end.check_vertices(self.vertices, self.line)?;
        let entries: u64 = chunks.iter().map(|c| c.entries).sum();
        if entries != self.entries {
            let what = format!(
                "the size line says {}, but {}: the file is cut off or its size line is wrong",
                counted(self.entries, "entry", "entries"),
                counted(entries, "follows", "follow")
            );
            return Err(end.fault_at(self.line, what));
        }
        let zeros: u64 = chunks.iter().map(|c| c.zeros).sum();
        if zeros > 0 {
            let zeros = counted(zeros, "entry of the matrix is", "entries of the matrix are");
            end.notes.push(format!("{zeros} zero, which is not an edge"));
        }
        let mut builder = gather(chunks);
        builder.vertex_range(1..self.vertices + 1);
        Ok(builder)
    }
}
