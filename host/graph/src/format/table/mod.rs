//! Tables of edges whose vertices have names: CSV and its relatives.
//!
//! A row is an edge: two columns hold its ends, which are any text, and perhaps one its label. Columns are found by
//! their names, or told by [`Columns`](crate::read::Columns). A file whose ids are all numbers is an edge list, which
//! all threads read.

mod batch;
mod blanks;
mod column;
mod header;
mod rows;
mod sample;
mod shape;
mod vertices;

use std::io::{BufRead, Write};

use self::batch::{Batch, Row};
use self::header::is_quantity;
use self::rows::Rows;
use self::sample::field;
use super::Sink;
use crate::names::AHEAD;
use crate::read::scan::{NO_NEWLINE, trim};
use crate::read::{is_number, names as column_names};
use crate::write::each_edge;
use crate::{Graph, VertexId};
use gramer_base::counted::counted;
use gramer_base::error::{Error, Result, quote};

#[cfg(feature = "columnar")]
pub(super) use sample::SAMPLE;
pub(super) use sample::Sample;
pub(super) use shape::Shape;
pub(crate) use vertices::read_vertices;

/// Reads the edges of a table.
pub(crate) fn read(reader: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let head = reader.fill_buf().map_err(|source| sink.refused(source))?.to_vec();
    let sample = Sample::of(sink, &head)?;
    let options = sink.options();
    let shape = Shape::of(&sample, &options.columns, options.format.is_some(), sink)?;
    let path = sink.path();
    let mut rows = Rows::new(reader, shape.separator, path);
    let (mut batch, mut sought) = (Batch::default(), vec![]);
    let mut before = shape.header;
    let mut first: Option<(u64, u64, u64, bool)> = None;
    let (mut header, mut repeated) = (vec![], 0);
    let (u, v) = shape.ends;
    loop {
        batch.clear();
        let ended = rows.read(&mut batch, AHEAD / 2);
        let ends = batch.rows().flat_map(|row| [u, v].map(|end| field(row.get(end), shape.trims)));
        sink.look_ahead(ends, &mut sought);
        for (row, sought) in batch.rows().zip(sought.chunks_exact(2)) {
            let line = row.line;
            if std::mem::take(&mut before) {
                header = row.iter().map(<[u8]>::to_vec).collect();
                continue;
            }
            if !header.is_empty()
                && row.get(u) == header.get(u).map(Vec::as_slice)
                && row.iter().eq(&header)
            {
                repeated += 1;
                continue;
            }
            if row.len() != shape.width {
                check_width(row, &shape, line, sink)?;
            }
            let (source, target) = (field(row.get(u), shape.trims), field(row.get(v), shape.trims));
            if source.is_empty() || target.is_empty() {
                let which = 1 + if source.is_empty() { u } else { v };
                let what = format!(
                    "column {which} is empty, but it holds an end of an edge; write a name, or remove the row"
                );
                return Err(sink.fault_at(line, what));
            }
            let (source, target) =
                (sink.sought_vertex(source, sought[0])?, sink.sought_vertex(target, sought[1])?);
            if let Some(weight) = shape.weight {
                check_weight(field(row.get(weight), shape.trims), line, sink)?;
            }
            let label = shape.edge_label.map(|column| field(row.get(column), shape.trims));
            sink.edge(source, target, label)?;
            match &mut first {
                None => first = Some((line, source, target, false)),
                // The same edge tells nothing of its ends.
                Some((_, u, v, _)) if source == *u && target == *v => {}
                Some((_, u, v, again)) => {
                    *again |= source == *u || source == *v || target == *u || target == *v;
                }
            }
        }
        if ended? {
            break;
        }
    }
    let Some((line, u, v, again)) = first else {
        return Err(sink.fault("holds no edge: every line is blank, a comment or a header"));
    };
    if let Some(note) = column_names::repeated(repeated) {
        sink.note(note);
    }
    if shape.names_line.is_none() && !again {
        note_first(line, u, v, sink);
    }
    note_rest(rows.comments(), sink);
    note_open(&rows, sink);
    Ok(())
}

/// Adds a note on a last line without a line end.
fn note_open(rows: &Rows<'_>, sink: &mut Sink<'_>) {
    if rows.is_open() {
        sink.note(NO_NEWLINE);
    }
}

/// Adds notes on names with blanks around them, and on comments: their number and the line of the first.
fn note_rest(comments: Option<(u64, u64)>, sink: &mut Sink<'_>) {
    if let Some(name) = sink.name_with_blanks() {
        let (own, bare) = (quote(name), quote(trim(name)));
        sink.note(format!(
            "{own} and {bare} are two vertices: blanks around names are part of them here"
        ));
    }
    if let Some((comments, line)) = comments {
        let what = match comments {
            1 => format!("line {line} begins with # or % and is taken as a comment"),
            _ => format!(
                "{comments} lines begin with # or % and are taken as comments, the first is line {line}"
            ),
        };
        sink.note(format!("{what}; a name that begins so belongs in quotes"));
    }
}

/// Adds a note on a first row of two names, which may be those of columns.
fn note_first(line: u64, u: u64, v: u64, sink: &mut Sink<'_>) {
    let names = [u, v].map(|v| (quote(sink.name(v)), is_quantity(sink.name(v))));
    if let [(u, false), (v, false)] = names {
        sink.note(format!(
            "line {line} is read as an edge from {u} to {v}, which no other edge has; if these are names of columns, \
             say so with the setting `source` and the setting `target`"
        ));
    }
}

/// Refuses a weight that is no number.
fn check_weight(field: &[u8], line: u64, sink: &Sink<'_>) -> Result<()> {
    let none: [&[u8]; 5] = [b"", b"na", b"nan", b"null", b"none"];
    let is_none = || none.iter().any(|none| field.eq_ignore_ascii_case(none));
    let with_points =
        || field.iter().map(|&b| if b == b',' { b'.' } else { b }).collect::<Vec<_>>();
    if is_number(field) || is_none() || is_number(&with_points()) {
        return Ok(());
    }
    let what = format!("the weight {} is no number: name another column", quote(field));
    Err(sink.fault_at(line, what))
}

/// Refuses a row whose number of columns differs from that of the first line. A separator inside a name moves the ends of an
/// edge, and a cut line shortens a name. Further empty columns at the end of a row are allowed.
#[cold]
fn check_width(row: Row<'_>, shape: &Shape, line: u64, sink: &Sink<'_>) -> Result<()> {
    let by_byte = matches!(shape.separator, crate::read::Separator::Byte(_));
    let row: Vec<&[u8]> = row.iter().collect();
    if by_byte && row.len() > shape.width && !has_more(&row, shape.width) {
        return Ok(());
    }
    Err(other_width(&row, shape.width, line, sink))
}

/// Whether a row has text behind its last column.
fn has_more(row: &[&[u8]], width: usize) -> bool {
    row.iter().skip(width).any(|field| !field.is_empty())
}

/// The error of a row with another number of columns than the first line.
fn other_width(row: &[&[u8]], width: usize, line: u64, sink: &Sink<'_>) -> Error {
    let shown = quote(row.join(&b' ').as_slice());
    let what = format!(
        "{shown} has {}, but the first line has {width}; {}",
        counted(row.len(), "column", "columns"),
        match row.len() < width {
            true => "write the separator of an empty column, and remove the line if it is cut",
            false if row.iter().any(|field| field.starts_with(b"#")) =>
                "a comment is a line by itself: remove it (sed 's/ *#.*//' FILE)",
            false => "a name with a separator in it belongs in quotes",
        }
    );
    sink.fault_at(line, what)
}

/// Writes the edges of a graph as a table with names of columns.
pub(crate) fn write(out: &mut dyn Write, graph: &Graph) -> std::io::Result<()> {
    write_by(out, graph, b',', true)
}

/// As [`write`], separated by a byte; with or without labels.
pub(crate) fn write_by(
    out: &mut dyn Write,
    graph: &Graph,
    separator: u8,
    labels: bool,
) -> std::io::Result<()> {
    let labels = labels && graph.has_edge_labels();
    let (source, target) = free_names(graph);
    let mut head = format!("{source}{}{target}", separator as char);
    if labels {
        head += &format!("{}edge_label", separator as char);
    }
    writeln!(out, "{head}")?;
    let mut builder = csv::WriterBuilder::new();
    let mut rows = builder.delimiter(separator).quote_style(quotes(graph)).from_writer(out);
    each_edge(graph, |u: VertexId, v: VertexId, label| {
        let (u, v) = (graph.vertex_name(u).to_string(), graph.vertex_name(v).to_string());
        match labels {
            true => rows.write_record([u, v, graph.edge_label_name(label).to_string()]),
            false => rows.write_record([u, v]),
        }
        .map_err(failed)
    })?;
    rows.flush()
}

/// Which fields are in quotes: texts, and numbers too where names such as `007` are not to be read as numbers.
fn quotes(graph: &Graph) -> csv::QuoteStyle {
    let zero = |name: String| name.len() > 1 && name.starts_with('0') && is_number(name.as_bytes());
    let named = graph.names().vertices.is_some();
    match named && (0..graph.vertices() as VertexId).any(|v| zero(graph.vertex_name(v).to_string()))
    {
        true => csv::QuoteStyle::Always,
        false => csv::QuoteStyle::NonNumeric,
    }
}

/// Names of both columns of ends, which readers know, and which no vertex and no edge label has.
pub(super) fn free_names(graph: &Graph) -> (String, String) {
    let names = graph.names();
    let taken = |name: &str| {
        let mut texts = [&names.vertices, &names.edge_labels].into_iter().flatten();
        texts.any(|texts| texts.number(name).is_some())
    };
    let free = |(u, v): &(String, String)| !taken(u) && !taken(v);
    let usual = [("source", "target"), ("from", "to"), ("src", "dst"), ("sender", "receiver")];
    let usual = usual.into_iter().map(|(u, v)| (u.into(), v.into()));
    // Readers take `source_id_id` for `source`.
    let longer = (1..)
        .map(|n| (format!("source{}", "_id".repeat(n)), "target".to_string() + &"_id".repeat(n)));
    usual.chain(longer).find(free).unwrap_or_default()
}

/// Writes the vertices of a graph as a table, with their labels.
pub(crate) fn write_vertices(out: &mut dyn Write, graph: &Graph) -> std::io::Result<()> {
    writeln!(out, "id,label")?;
    let mut rows = csv::WriterBuilder::new().quote_style(quotes(graph)).from_writer(out);
    for v in 0..graph.vertices() as VertexId {
        let label = graph.vertex_label_name(graph.view().vertex_label(v));
        rows.write_record([graph.vertex_name(v).to_string(), label.to_string()]).map_err(failed)?;
    }
    rows.flush()
}

/// The error of the stream behind an error of the writer.
fn failed(error: csv::Error) -> std::io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => std::io::Error::other(format!("{other:?}")),
    }
}
