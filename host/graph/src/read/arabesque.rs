//! Arabesque's adjacency lists: `id label neighbour…`, one line per vertex.
//!
//! Every vertex has a line and exists even without a neighbour. An edge may be given in one line
//! or in both; the second time counts as a duplicate.

use super::chunk::{Chunk, Declaration, EdgeLines, FinishContext, Parser, gather_declared};
use super::edges::PAIRS;
use super::scan::{self, Fault, fields, is_comment, quote};
use crate::Builder;
use gramer_base::error::Result;

/// A file of adjacency lists.
pub(crate) struct Arabesque {
    /// Whether the format is a guess, which must hold in the whole file.
    pub guessed: bool,
}

impl Arabesque {
    fn line(&self, line: &[u8], number: u32, chunk: &mut Chunk) -> Result<(), String> {
        if let Some(what) = scan::bare_return(line) {
            return Err(what);
        }
        let mut columns = fields(line);
        let id = scan::id(columns.next().unwrap_or_default())?;
        let label = columns.next().ok_or("the label is missing")?;
        let label = scan::label(label)?;
        chunk.declared.push(Declaration { id, label, line: number });
        // A label that is the vertex itself or among its neighbours is not a neighbour.
        let label = u64::from(label);
        let mut seen = label == id;
        let (mut before, mut ascends) = (None, true);
        let from = columns.clone();
        for neighbour in columns {
            chunk.edge_lines.record(chunk.edges.len(), number);
            let neighbour = scan::id(neighbour)?;
            chunk.edges.push(id, neighbour);
            seen |= neighbour == label;
            ascends &= before < Some(neighbour);
            before = Some(neighbour);
        }
        chunk.true_label |= seen;
        if self.guessed && !ascends {
            let mut row = from.map(scan::id).collect::<Result<Vec<_>, _>>()?;
            row.sort_unstable();
            if let Some(twice) = row.windows(2).find(|w| w[0] == w[1]) {
                return Err(format!("neighbour {} is listed twice", twice[0]));
            }
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
            self.line(line, number as u32, chunk).map_err(|why| Fault {
                at,
                what: format!("{} is not a line `id label neighbours…`: {why}", quote(line)),
            })?;
        }
        Ok(())
    }

    fn finish(&self, chunks: Vec<Chunk>, end: &mut FinishContext) -> Result<Builder> {
        if chunks.iter().all(|c| c.declared.is_empty()) {
            return Err(end.fault("holds no vertex (no line `id label neighbours…`)"));
        }
        // First numbers count the lines from 0, or it would be no guess.
        let count: usize = chunks.iter().map(|c| c.declared.len()).sum();
        let ids = |c: &Chunk| c.declared.iter().all(|d| (d.label as usize) < count);
        if self.guessed && chunks.iter().all(|c| !c.true_label && ids(c)) {
            let what = format!(
                "a line may be `id label neighbours…` (arabesque) or `id neighbours…` (an adjacency list), as each \
                 label is a vertex; for the first name the format with the setting `format`, for the second {PAIRS}"
            );
            return Err(end.fault(what));
        }
        gather_declared(chunks, end, "line")
    }
}
