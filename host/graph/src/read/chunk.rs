//! What a reader thread hands over, and the checks that need all of it.

use std::collections::HashMap;
use std::path::PathBuf;

use super::VERTICES_PER_EDGE;
use super::scan::Fault;
use crate::build::{EdgeBlock, MAX_GRAPH_VERTICES};
use crate::{Builder, Label};
use gramer_base::context::Cancel;
use gramer_base::error::{Error, Place, Result};

/// A vertex that the input declares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Declaration {
    pub id: u64,
    pub label: Label,
    /// Line in the block, from 0.
    pub line: u32,
}

/// Number after the label of a `v` line: a degree, or another label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SecondNumber {
    pub id: u64,
    pub number: u64,
    /// Line in the block, from 0.
    pub line: u32,
}

/// Content of one block of lines.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// Position of the block in the input.
    pub index: usize,
    /// Number of its first line, from 1.
    pub first_line: u64,
    pub edges: EdgeBlock,
    /// The lines of the edges, where a format needs them for messages.
    pub edge_lines: EdgeLines,
    pub declared: Vec<Declaration>,
    /// Entries of the format (edges, triples, matrix entries), the dropped ones included.
    pub entries: u64,
    /// Whether a label of Arabesque can be no neighbour.
    pub true_label: bool,
    /// Second numbers of `v` lines, by vertex, where there are any.
    pub seconds: Vec<SecondNumber>,
    /// Format-specific: rows of METIS, with their labels.
    pub rows: u64,
    pub row_labels: Vec<Label>,
    /// The last row that isn't blank: row and line in the block, from 0.
    pub last_row: Option<(u64, u64)>,
    /// Entries dropped because they are explicit zeros.
    pub zeros: u64,
    /// Lines that repeat the names of the columns.
    pub headers: u64,
    /// Whether an id was written with decimals.
    pub decimal_ids: bool,
    /// First lines (in the block, from 0) of edges with a label, without, and with decimals.
    pub first_labelled: Option<u32>,
    pub first_unlabelled: Option<u32>,
    pub first_decimal: Option<u32>,
    /// Line (in the block, from 0) of a mark that ends the graph, and whether anything follows.
    pub end: Option<u32>,
    pub goes_on: bool,
}

/// Lines of edges: runs of an edge and a line from which on both advance together.
#[derive(Debug, Default)]
pub(crate) struct EdgeLines {
    /// First edge and its line in the block.
    runs: Vec<(usize, u32)>,
    /// Lines from one edge of a run to the next.
    step: u32,
}

impl EdgeLines {
    /// One edge a line (step 1) or one line for many edges (step 0).
    pub fn with_step(step: u32) -> Self {
        EdgeLines { runs: Vec::new(), step }
    }

    /// Records the line of an edge; edges come in ascending order.
    #[inline]
    pub fn record(&mut self, edge: usize, line: u32) {
        if self.runs.is_empty() || self.line(edge) != line {
            self.runs.push((edge, line));
        }
    }

    /// The line of an edge in its block, from 0, if lines were recorded.
    pub fn of(&self, edge: usize) -> Option<u32> {
        (!self.runs.is_empty()).then(|| self.line(edge))
    }

    #[inline]
    fn line(&self, edge: usize) -> u32 {
        let run = match self.runs.last() {
            Some(last) if last.0 <= edge => *last,
            _ => self.runs[self.runs.partition_point(|r| r.0 <= edge) - 1],
        };
        run.1 + (edge - run.0) as u32 * self.step
    }
}

/// One text format, with what its header said.
pub(crate) trait Parser: Sync {
    /// Whether several blocks may be one chunk, which nothing asks for the lines of its edges: what makes rows of
    /// them has large arrays to read then.
    fn joins(&self) -> bool {
        false
    }

    /// Whether a line has one edge at most, whose ends it says itself.
    fn one_edge_a_line(&self) -> bool {
        true
    }

    /// Whether an id of the line at `at` is a number, but not a whole one from 0 to 2^64 - 1.
    fn has_other_number(&self, _text: &[u8], _at: usize) -> bool {
        false
    }

    /// Reads the lines of a block.
    fn block(&self, text: &[u8], chunk: &mut Chunk) -> Result<(), Fault>;

    /// Checks what can only be checked at the end, and puts the chunks (in order) together.
    fn finish(&self, chunks: Vec<Chunk>, end: &mut FinishContext) -> Result<Builder>;
}

/// Context of [`Parser::finish`].
pub(crate) struct FinishContext {
    pub path: PathBuf,
    /// Remarks for the user.
    pub notes: Vec<String>,
    /// Largest number of vertices, where the user gave one.
    pub max_vertices: Option<u64>,
    /// Number of edges read.
    pub edges: u64,
    pub cancel: Cancel,
}

impl FinishContext {
    /// A fault of the whole file.
    pub fn fault(&self, what: impl Into<String>) -> Error {
        Error::input(Place::file(&self.path), what)
    }

    /// A fault at a line, from 1.
    pub fn fault_at(&self, line: u64, what: impl Into<String>) -> Error {
        Error::input(Place::line(&self.path, line), what)
    }

    /// Refuses a number of declared vertices that is too large before memory is taken for it.
    /// `line`, from 1, is where it is declared; 0 where each vertex has a line.
    pub fn check_vertices(&self, vertices: u64, line: u64) -> Result<()> {
        let Err(what) = check_declared(self.max_vertices, vertices, self.edges) else {
            return Ok(());
        };
        Err(if line == 0 { self.fault(what) } else { self.fault_at(line, what) })
    }
}

/// Checks whether a file with this many edges may declare this many vertices.
pub(crate) fn check_declared(most: Option<u64>, vertices: u64, edges: u64) -> Result<(), String> {
    let (most, why) = match most {
        Some(most) => (most, "the setting `max_vertices` says so".to_string()),
        None => (
            MANY_VERTICES.max(VERTICES_PER_EDGE.saturating_mul(edges)),
            format!("for {edges} edges, unless the setting `max_vertices` allows more"),
        ),
    };
    let most = most.min(MAX_GRAPH_VERTICES);
    if vertices <= most {
        return Ok(());
    }
    Err(match vertices <= MAX_GRAPH_VERTICES {
        true => format!("{vertices} vertices are declared, but at most {most} are read: {why}"),
        false => {
            format!(
                "{vertices} vertices are declared, but at most {MAX_GRAPH_VERTICES} are possible"
            )
        }
    })
}

/// Vertices that any file may declare, however few edges it has.
const MANY_VERTICES: u64 = 1 << 20;

/// Moves the edges of all chunks into a builder.
pub(crate) fn gather(chunks: Vec<Chunk>) -> Builder {
    let mut builder = Builder::new();
    for chunk in chunks {
        builder.block(chunk.edges);
    }
    builder
}

/// Checks that no vertex is declared twice and that every edge is between declared vertices,
/// and gathers edges, vertices and labels. `declaration` says what declares a vertex, as in
/// "has no `v` line".
pub(crate) fn gather_declared(
    chunks: Vec<Chunk>,
    end: &FinishContext,
    declaration: &str,
) -> Result<Builder> {
    let count: usize = chunks.iter().map(|c| c.declared.len()).sum();
    end.check_vertices(count as u64, 0)?;
    let ids = || chunks.iter().flat_map(|c| c.declared.iter().map(|d| d.id));
    // Nearly always the ids are 0 to V - 1 in order (or from 1), and need no further look.
    let first = ids().next().unwrap_or(0);
    let consecutive = ids().zip(first..).all(|(id, expected)| id == expected);
    let mut lines: HashMap<u64, u64> = HashMap::new();
    if !consecutive {
        lines.reserve(count);
        for chunk in &chunks {
            end.cancel.check()?;
            for d in &chunk.declared {
                let line = chunk.first_line + u64::from(d.line);
                if let Some(before) = lines.insert(d.id, line) {
                    let what = format!("vertex {} is declared twice, first at line {before}", d.id);
                    return Err(end.fault_at(line, what));
                }
            }
        }
    }
    let is_declared = |id: u64| {
        if consecutive { id.wrapping_sub(first) < count as u64 } else { lines.contains_key(&id) }
    };
    for chunk in &chunks {
        end.cancel.check()?;
        let mut edge = 0;
        let mut missing = None;
        chunk.edges.for_each(|u, v| {
            if missing.is_none() && !(is_declared(u) && is_declared(v)) {
                missing = Some((edge, if is_declared(u) { v } else { u }));
            }
            edge += 1;
        });
        if let Some((edge, id)) = missing {
            let line = chunk.first_line + u64::from(chunk.edge_lines.line(edge));
            let what = format!("an edge ends at vertex {id}, but no {declaration} declares it");
            return Err(end.fault_at(line, what));
        }
    }
    let mut builder = Builder::new();
    if consecutive {
        builder.vertex_range(first..first + count as u64);
    }
    for chunk in chunks {
        end.cancel.check()?;
        for d in &chunk.declared {
            builder.vertex_label(d.id, d.label);
            if !consecutive {
                builder.vertex(d.id);
            }
        }
        builder.block(chunk.edges);
    }
    Ok(builder)
}
