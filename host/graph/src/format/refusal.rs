//! Names and labels that a format can't hold.

use std::io;

use super::Format;
use crate::{Graph, Names, VertexId};
use gramer_base::error::quote;

/// The error for a name or a label that can't be written.
pub(crate) fn refused(text: &str, format: Format, why: &str) -> io::Error {
    let text = quote(text);
    io::Error::other(format!(
        "the name {text} can't be written as {format}: {why}; write another format"
    ))
}

/// Refuses names and labels that no reader of the format gives back: vertices without a name, and null characters.
pub(crate) fn check(graph: &Graph, format: Format) -> io::Result<()> {
    let names = graph.names();
    let vertices = || (0..graph.vertices() as VertexId).map(|v| graph.vertex_name(v).to_string());
    if names.vertices.is_some() && vertices().any(|name| name.is_empty()) {
        return Err(refused("", format, "a vertex needs a name"));
    }
    // JSON and files of columns have a way to write them.
    if matches!(format, Format::NodeLink | Format::Parquet | Format::Arrow) {
        return Ok(());
    }
    let all = [&names.vertices, &names.vertex_labels, &names.edge_labels];
    all.into_iter().flatten().try_for_each(|names| check_nulls(names, format))
}

fn check_nulls(names: &Names, format: Format) -> io::Result<()> {
    if memchr::memchr(0, names.parts().1).is_none() {
        return Ok(());
    }
    match names.iter().find(|text| text.contains('\0')) {
        Some(text) => Err(refused(&text, format, "it has a null character, which no text holds")),
        None => Ok(()),
    }
}
