//! Vertex labels from a separate file.
//!
//! Three kinds of table, with columns separated by white space or commas, `#` or `%` comments and
//! an optional first line of column names:
//! - one column: row i (from 0) is the label of the vertex whose id is i;
//! - two columns: `id label`;
//! - any number of columns with the number of the label's column: row i belongs to id i.
//!
//! Every vertex of the graph needs a label. A table by rows may have more rows than the graph
//! has vertices (an edge list leaves vertices without edges out): they are counted in a note.
//! An `id label` line for a vertex that isn't there is an error.

use std::collections::HashMap;
use std::path::Path;

use super::edges::is_column_names;
use super::foreign::check_text;
use super::scan::{self, fields, is_comment, quote};
use super::source::{self, Source};
use crate::{Graph, Label, NO_LABEL, VertexId};
use gramer_base::context::Cancel;
use gramer_base::counted::{counted, noun};
use gramer_base::error::{Error, Place, Result, shown};

/// Reads the labels of `graph`'s vertices, by vertex, and remarks for the user. `column` counts
/// from 1.
///
/// # Errors
/// [`Error::Usage`] where it isn't clear which column to use, [`Error::Input`] with file and
/// line for what is not a label, for vertices without one, and for a file that is too large for a
/// table of the graph's labels; [`Error::Interrupted`] after Ctrl-C.
pub fn read_labels(
    path: &Path,
    column: Option<usize>,
    graph: &Graph,
    cancel: &Cancel,
) -> Result<(Vec<Label>, Vec<String>)> {
    let mut source = Source::open(path, cancel)?;
    match source.watch.take() {
        Some(watch) => watch.unchanged(read_source(source, column, graph, cancel)),
        None => read_source(source, column, graph, cancel),
    }
}

/// Reads the labels from an open table.
fn read_source(
    mut source: Source,
    column: Option<usize>,
    graph: &Graph,
    cancel: &Cancel,
) -> Result<(Vec<Label>, Vec<String>)> {
    // A table may have rows of vertices that aren't in the graph, and columns of other things.
    let most = LARGEST_TABLE + BYTES_PER_VERTEX * graph.vertices();
    let mut text = Vec::new();
    loop {
        let ended = source.fill(&mut text, source::BLOCK)?;
        check_text(&source.path, &text[text.len().saturating_sub(source::BLOCK)..])?;
        if ended {
            break;
        }
        if text.len() > most {
            let what = format!(
                "the table is larger than {} MiB, which no table of labels for {} vertices is",
                most >> 20,
                graph.vertices()
            );
            return Err(Error::input(Place::file(&source.path), what));
        }
    }
    let (labels, mut notes) = labels_from(&source.path, &text, column, graph, cancel)?;
    notes.extend(source.trailing());
    Ok((labels, notes))
}

/// Bytes of a table of labels, apart from those that a vertex of the graph may take.
const LARGEST_TABLE: usize = 256 << 20;
const BYTES_PER_VERTEX: usize = 256;

/// As [`read_labels`], from the text of the file `path`, which is only used in messages.
///
/// # Errors
/// As [`read_labels`].
pub fn read_labels_from(
    path: &Path,
    text: &[u8],
    column: Option<usize>,
    graph: &Graph,
) -> Result<(Vec<Label>, Vec<String>)> {
    labels_from(path, text, column, graph, &Cancel::default())
}

fn labels_from(
    path: &Path,
    text: &[u8],
    column: Option<usize>,
    graph: &Graph,
    cancel: &Cancel,
) -> Result<(Vec<Label>, Vec<String>)> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    if column == Some(0) {
        return Err(Error::usage("the setting `labels_column` is 0, but columns count from 1"));
    }
    let mut lines = scan::lines(text)
        .enumerate()
        .map(|(number, (_, line))| (number, line))
        .filter(|(_, line)| !is_comment(line))
        .skip_while(|(_, line)| line.is_empty())
        .peekable();
    let is_names = |line: &[u8]| {
        is_column_names(line)
            || fields(line).count() == 1 && line.first().is_some_and(u8::is_ascii_alphabetic)
    };
    let names = lines.next_if(|(_, line)| is_names(line));
    let Some(columns) = lines.peek().map(|(_, line)| fields(line).count()) else {
        return Err(Error::input(Place::file(path), "holds no label".to_string()));
    };
    let mut table = Table::new(path, columns, column, graph)?;
    for (number, line) in lines {
        if number % 4096 == 0 {
            cancel.check()?;
        }
        table.line(number, line)?;
    }
    table.check_complete()?;
    let mut notes = Vec::new();
    if let Some((number, line)) = names {
        let (number, line) = (number + 1, quote(line));
        notes.push(format!("line {number} of the labels, {line}, is taken as names of columns"));
    }
    let Table { labels, rows, unused, .. } = table;
    if unused > 0 {
        notes.push(format!(
            "{unused} of {} {} to vertices without an edge, which are not in the graph",
            counted(rows, "label", "labels"),
            noun(unused, "belongs", "belong")
        ));
    }
    Ok((labels, notes))
}

/// A table of labels as its lines come.
struct Table<'a> {
    path: &'a Path,
    columns: usize,
    /// Column, counted from 0.
    label_column: usize,
    /// Row i belongs to id i; else the first column is the id.
    by_row: bool,
    ids: &'a [u64],
    by_id: VertexIndex<'a>,
    /// By vertex; [`NO_LABEL`] for those that had none yet.
    labels: Vec<Label>,
    rows: u64,
    /// Rows of vertices that aren't in the graph.
    unused: u64,
    /// The first blank line.
    blank: Option<usize>,
}

impl<'a> Table<'a> {
    /// Assigns meanings to columns, given their number; `column` counts from 1.
    fn new(
        path: &'a Path,
        columns: usize,
        column: Option<usize>,
        graph: &'a Graph,
    ) -> Result<Self> {
        let by_row = match (column, columns) {
            (Some(_), _) | (None, 1) => true,
            (None, 2) => false,
            (None, _) => {
                return Err(Error::usage(format!(
                    "{}: the table of labels has {columns} columns: say which one with \
                     the setting `labels_column` (1 to {columns})",
                    shown(path)
                )));
            }
        };
        let label_column = column.unwrap_or(columns) - 1;
        if label_column >= columns {
            return Err(Error::usage(format!(
                "{}: the setting `labels_column` is {}, but the table has {}",
                shown(path),
                label_column + 1,
                counted(columns, "column", "columns")
            )));
        }
        let ids = graph.original_ids();
        Ok(Table {
            path,
            columns,
            label_column,
            by_row,
            ids,
            by_id: VertexIndex::new(ids),
            labels: vec![NO_LABEL; ids.len()],
            rows: 0,
            unused: 0,
            blank: None,
        })
    }

    /// A line that is no comment, by its number from 0.
    fn line(&mut self, number: usize, line: &[u8]) -> Result<()> {
        let path = self.path;
        let at = |line: usize, what: String| Error::input(Place::line(path, line as u64 + 1), what);
        if line.is_empty() {
            self.blank.get_or_insert(number);
            return Ok(());
        }
        if let (true, Some(blank)) = (self.by_row, self.blank) {
            let rows = self.rows;
            let what = format!("a blank line where the label of vertex {rows} should be");
            return Err(at(blank, what));
        }
        if let Some(what) = scan::bare_return(line) {
            return Err(at(number, what));
        }
        let (count, columns) = (fields(line).count(), self.columns);
        if count != columns {
            let what = format!(
                "{} has {}, but the first line has {columns}",
                quote(line),
                counted(count, "column", "columns")
            );
            return Err(at(number, what));
        }
        let label = fields(line).nth(self.label_column).unwrap_or_default();
        let label = scan::label(label).map_err(|what| at(number, what))?;
        let id = if self.by_row {
            self.rows
        } else {
            let id = fields(line).next().unwrap_or_default();
            scan::id(id).map_err(|what| at(number, what))?
        };
        match self.by_id.vertex(id) {
            Some(v) if self.labels[v as usize] == NO_LABEL => self.labels[v as usize] = label,
            Some(_) => return Err(at(number, format!("a second label for vertex {id}"))),
            None if self.by_row => self.unused += 1,
            None => {
                let what = format!("a label for vertex {id}, which is not in the graph");
                return Err(at(number, what));
            }
        }
        self.rows += 1;
        Ok(())
    }

    /// Refuses a table that leaves vertices without a label.
    fn check_complete(&self) -> Result<()> {
        let Some(v) = self.labels.iter().position(|&label| label == NO_LABEL) else {
            return Ok(());
        };
        let (id, rows) = (self.ids[v], self.rows);
        let missing = self.labels.iter().filter(|&&label| label == NO_LABEL).count();
        let others = match missing - 1 {
            0 => String::new(),
            n => format!(", and {} none", counted(n, "more has", "more have")),
        };
        let what = if self.by_row {
            format!(
                "vertex {id} of the graph has no label{others}: the table has {}, for vertices 0 to {} (for other ids give two \
                 columns `id label`)",
                counted(rows, "row", "rows"),
                rows - 1
            )
        } else {
            format!("vertex {id} of the graph has no label{others}")
        };
        Err(Error::input(Place::file(self.path), what))
    }
}

/// Finds vertices by the ids of the input.
pub(crate) enum VertexIndex<'a> {
    /// Ids ascend: the graph is in the order of its input.
    Ascending(&'a [u64]),
    Map(HashMap<u64, VertexId>),
}

impl<'a> VertexIndex<'a> {
    pub fn new(ids: &'a [u64]) -> Self {
        if ids.is_sorted() {
            return VertexIndex::Ascending(ids);
        }
        VertexIndex::Map(ids.iter().enumerate().map(|(v, &id)| (id, v as VertexId)).collect())
    }

    pub fn vertex(&self, id: u64) -> Option<VertexId> {
        match self {
            VertexIndex::Ascending(ids) => {
                let there = usize::try_from(id).ok().filter(|&i| ids.get(i) == Some(&id));
                there.or_else(|| ids.binary_search(&id).ok()).map(|v| v as VertexId)
            }
            VertexIndex::Map(map) => map.get(&id).copied(),
        }
    }
}
