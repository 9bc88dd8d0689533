//! Knowledge-graph triples: a line with their number, then `head tail relation` each.
//!
//! The relation is the label of the edge. Where two vertices have several relations, the one
//! with the smallest number is kept and the others are counted as label conflicts.

use super::chunk::{Chunk, FinishContext, Parser, gather};
use super::scan::{self, Fault, fields, is_comment, quote};
use crate::Builder;
use gramer_base::counted::counted;
use gramer_base::error::Result;

/// A file of triples.
pub(crate) struct Triples {
    count: u64,
    /// Line of the count, from 1.
    line: u64,
}

impl Triples {
    /// The parser for a file whose head this is, and how many bytes of it aren't body.
    pub fn header(head: &[u8]) -> Result<(Self, usize), Fault> {
        for (number, (at, line)) in scan::lines(head).enumerate() {
            if line.is_empty() || is_comment(line) {
                continue;
            }
            return match scan::count(line) {
                Some(count) => Ok((
                    Triples { count, line: number as u64 + 1 },
                    super::edges::line_end(head, at),
                )),
                None => {
                    Err(Fault { at, what: format!("{} is not the number of triples", quote(line)) })
                }
            };
        }
        Err(Fault { at: 0, what: "the number of triples is missing".into() })
    }

    fn line(line: &[u8], chunk: &mut Chunk) -> Result<(), String> {
        if let Some(what) = scan::bare_return(line) {
            return Err(what);
        }
        let mut columns = fields(line);
        let head = scan::id(columns.next().unwrap_or_default())?;
        let tail = scan::id(columns.next().ok_or("the tail is missing")?)?;
        let relation = scan::label(columns.next().ok_or("the relation is missing")?)?;
        if let Some(extra) = columns.next() {
            return Err(format!("{} is too much", quote(extra)));
        }
        chunk.edges.push(head, tail);
        chunk.edges.labels.push(relation);
        Ok(())
    }
}

impl Parser for Triples {
    fn block(&self, text: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        for (at, line) in scan::lines(text) {
            if line.is_empty() || is_comment(line) {
                continue;
            }
            Self::line(line, chunk).map_err(|why| Fault {
                at,
                what: format!("{} is not a triple `head tail relation`: {why}", quote(line)),
            })?;
        }
        Ok(())
    }

    fn finish(&self, chunks: Vec<Chunk>, end: &mut FinishContext) -> Result<Builder> {
        let triples: u64 = chunks.iter().map(|c| c.edges.len() as u64).sum();
        if triples != self.count {
            let what = format!(
                "{}, but {}: the file is cut off or the number is wrong",
                counted(self.count, "triple is announced", "triples are announced"),
                counted(triples, "follows", "follow")
            );
            return Err(end.fault_at(self.line, what));
        }
        if triples == 0 {
            return Err(end.fault("holds no triple"));
        }
        Ok(gather(chunks))
    }
}
