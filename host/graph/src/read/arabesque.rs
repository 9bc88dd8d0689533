//! Arabesque's adjacency lists: `id label neighbour…`, one line per vertex.
//!
//! Every vertex has a line and exists even without a neighbour. An edge may be given in one line
//! or in both; the second time counts as a duplicate.

use super::chunk::{Chunk, Declared, EdgeLines, End, Parser, gather_declared};
use super::scan::{self, Fault, fields, is_comment, quote};
use crate::Builder;
use crate::error::Result;

/// A file of adjacency lists.
pub(crate) struct Arabesque;

impl Arabesque {
    fn line(line: &[u8], number: u32, chunk: &mut Chunk) -> Result<(), String> {
        if let Some(what) = scan::bare_return(line) {
            return Err(what);
        }
        let mut columns = fields(line);
        let id = scan::id(columns.next().unwrap_or_default())?;
        let label = columns.next().ok_or("the label is missing")?;
        let label = scan::label(label)?;
        chunk.declared.push(Declared { id, label, line: number });
        for neighbour in columns {
            chunk.edge_lines.record(chunk.edges.len(), number);
            chunk.edges.push(id, scan::id(neighbour)?);
        }
        Ok(())
    }
}

impl Parser for Arabesque {
    fn one_edge_a_line(&self) -> bool {
        false
    }

    fn block(&self, text: &[u8], chunk: &mut Chunk) -> Result<(), Fault> {
        chunk.edge_lines = EdgeLines::with_step(0);
        for (number, (at, line)) in scan::lines(text).enumerate() {
            if line.is_empty() || is_comment(line) {
                continue;
            }
            Self::line(line, number as u32, chunk).map_err(|why| Fault {
                at,
                what: format!("{} is no line `id label neighbours…`: {why}", quote(line)),
            })?;
        }
        Ok(())
    }

    fn finish(&self, chunks: Vec<Chunk>, end: &mut End) -> Result<Builder> {
        if chunks.iter().all(|c| c.declared.is_empty()) {
            return Err(end.fault("holds no vertex (no line `id label neighbours…`)"));
        }
        gather_declared(chunks, end, "line of its own")
    }
}
