//! Tables of vertices: an id and a label each.

use std::io::BufRead;

use csv::ByteRecord;

use super::column::column;
use super::header::is_mark;
use super::rows::Rows;
use super::sample::{Sample, field};
use super::{has_more, note_open, other_width};
use crate::format::Sink;
use crate::names::Interner;
use crate::read::names as column_names;
use crate::read::scan::TO_UTF8;
use crate::read::{Separator, VertexTable, is_number, whole};
use crate::{Dictionaries, Graph, Label, NO_LABEL, Name};
use gramer_base::counted::counted;
use gramer_base::error::{Result, quote};

/// Usual names of the column of an id, in small letters without marks.
const IDS: [&str; 8] = ["id", "vertex", "vertexid", "node", "nodeid", "name", "key", "index"];
/// Usual names of the column of a label.
const LABELS: [&str; 10] = [
    "label",
    "labels",
    "class",
    "type",
    "group",
    "category",
    "kind",
    "community",
    "cluster",
    "vertexlabel",
];

/// Reads the labels of a graph's vertices from a table; `sink` is for its messages.
///
/// # Errors
/// [`gramer_base::Error::Input`] for rows that contradict each other, and vertices without a label.
pub(crate) fn read_vertices(
    reader: &mut dyn BufRead,
    sink: &mut Sink<'_>,
    table: &VertexTable,
    graph: &Graph,
) -> Result<(Vec<Label>, Dictionaries)> {
    let head = reader.fill_buf().map_err(|source| sink.refused(source))?.to_vec();
    let sample = Sample::of(sink, &head)?;
    let (names, width, id, label) = columns(&sample, table, sink)?;
    let trims = sample.trims || sample.separator == Separator::Blanks;
    let by_id = crate::read::VertexIndex::new(graph.original_ids());
    let mut rows = Rows::new(reader, sample.separator, sink.path());
    let mut labels = vec![NO_LABEL; graph.vertices()];
    let mut texts = Interner::default();
    let (mut row, mut before, mut others) = (ByteRecord::new(), !names.is_empty(), 0u64);
    while let Some(line) = rows.next(&mut row)? {
        if std::mem::take(&mut before) {
            continue;
        }
        if row.len() <= id.max(label) {
            let what = format!(
                "the row has {}, but the label is in column {}",
                counted(row.len(), "column", "columns"),
                label + 1
            );
            return Err(sink.fault_at(line, what));
        }
        if row.len() > width {
            let row: Vec<&[u8]> = row.iter().collect();
            if has_more(&row, width) {
                return Err(other_width(&row, width, line, sink));
            }
        }
        let (name, text) = (field(row.get(id), trims), field(row.get(label), trims));
        let known = match graph.names().vertices {
            Some(_) => std::str::from_utf8(name).ok().and_then(|name| graph.id_of_name(name)),
            None => whole(name),
        };
        let Some(vertex) = known.and_then(|id| by_id.vertex(id)) else {
            others += 1;
            continue;
        };
        if std::str::from_utf8(text).is_err() {
            let what = format!("the label {} is not UTF-8; {TO_UTF8}", quote(text));
            return Err(sink.fault_at(line, what));
        }
        let number = texts.number(text)?;
        let old = std::mem::replace(&mut labels[vertex as usize], number);
        if old != NO_LABEL && old != number {
            let (one, other) = (quote(texts.text(old)), quote(text));
            let what = format!(
                "vertex {} has the labels {one} and {other}, but a vertex has one: keep one row for each vertex",
                quote(name)
            );
            return Err(sink.fault_at(line, what));
        }
    }
    let missing = labels.iter().filter(|&&label| label == NO_LABEL).count();
    if missing == labels.len() && missing > 0 {
        let what = "none of its ids is a vertex of the graph: say which column holds the ids with the setting `id`";
        return Err(sink.fault(what));
    }
    note_others(others, sink);
    note_open(&rows, sink);
    if let Some(v) = labels.iter().position(|&label| label == NO_LABEL) {
        let none = texts.number(b"")?;
        labels.iter_mut().filter(|l| **l == NO_LABEL).for_each(|l| *l = none);
        note_missing(missing, graph.vertex_name(v as u32), sink);
    }
    let mut dictionaries = graph.names().clone();
    dictionaries.vertex_labels = None;
    if let Some(numbers) = crate::format::labels_of(texts, &mut dictionaries.vertex_labels) {
        labels.iter_mut().for_each(|label| *label = numbers[*label as usize]);
    }
    Ok((labels, dictionaries))
}

/// Adds a note on vertices without a row, with the name of one.
fn note_missing(missing: usize, name: Name<'_>, sink: &mut Sink<'_>) {
    let (one, missing) =
        (quote(name.to_string()), counted(missing, "vertex has no row", "vertices have no row"));
    sink.note(format!("{missing}, {one} for one: the empty text stands for the label"));
}

/// Remarks on rows of vertices that the graph doesn't have.
fn note_others(others: u64, sink: &mut Sink<'_>) {
    if others > 0 {
        let rows = counted(others, "row is of a vertex", "rows are of vertices");
        sink.note(format!("{rows} not in the graph"));
    }
}

/// Names of the columns, empty without any, their number, and which hold ids and labels.
fn columns(
    sample: &Sample,
    table: &VertexTable,
    sink: &mut Sink<'_>,
) -> Result<(Vec<String>, usize, usize, usize)> {
    let Some(first) = sample.rows.first() else { return Err(sink.fault("holds no row")) };
    let mut width = first.len();
    let mut names = sample.texts(first);
    let plain: Vec<String> = names.iter().map(|name| column_names::plain(name)).collect();
    let find = |usual: &[&str]| usual.iter().find_map(|u| plain.iter().position(|own| own == u));
    let told = |name: &Option<String>| {
        name.as_ref().is_some_and(|name| plain.contains(&column_names::plain(name)))
    };
    let (id, label) = (find(&IDS), find(&LABELS));
    let no_number = !names.iter().any(|name| is_number(name.as_bytes()));
    // A name that no column has is wrong, but a name.
    let by_name =
        |name: &Option<String>| name.as_ref().is_some_and(|name| !is_number(name.as_bytes()));
    // Text over a column of numbers names it.
    let over_numbers = |column: usize| {
        let mut fields = sample.rows[1..].iter().map(|row| sample.field(row, column));
        let number = |field: &[u8]| field.iter().any(u8::is_ascii_digit) && is_mark(field);
        !is_mark(names[column].as_bytes()) && fields.len() > 0 && fields.all(number)
    };
    let header = no_number
        && (told(&table.id) || told(&table.label) || id.is_some() || (0..width).any(over_numbers))
        || by_name(&table.id)
        || by_name(&table.label);
    if !header {
        names.clear();
    }
    let mut shift = 0;
    if header && sample.names_of_rows && width + 1 == sample.width() {
        names.insert(0, String::new());
        (width, shift) = (width + 1, 1);
    }
    let (id, label) = (id.map(|id| id + shift), label.map(|label| label + shift));
    let of = |wanted: &Option<String>, setting, usual: Option<usize>, sink: &Sink<'_>| match wanted
    {
        Some(name) => column(&names, name, setting, width, sink).map(Some),
        None => Ok(usual.filter(|_| header)),
    };
    let (id, label) = (of(&table.id, "id", id, sink)?, of(&table.label, "label", label, sink)?);
    let (id, label) = match (id, label) {
        (Some(id), Some(label)) => (id, label),
        (None, Some(label)) if label != shift => (shift, label),
        (Some(id), None) if width - shift == 2 => (id, 1 + 2 * shift - id),
        (None, None) if width - shift == 2 => (shift, shift + 1),
        _ => {
            let what = "the table doesn't say which columns hold the ids of vertices and their labels: name them with \
                        the setting `id` and the setting `label`";
            return Err(sink.fault_at(sample.line, what));
        }
    };
    if id == label {
        return Err(gramer_base::Error::usage(
            "the setting `id` and the setting `label` name one column",
        ));
    }
    let shown = |column: usize| match names.get(column).filter(|name| !name.is_empty()) {
        Some(name) => quote(name),
        None => (column + 1).to_string(),
    };
    if header || width > 2 {
        sink.note(format!(
            "column {} holds the ids of vertices, {} their labels",
            shown(id),
            shown(label)
        ));
    }
    Ok((names, width, id, label))
}
