//! Tables as Parquet and Arrow files.

use std::io::{self, Write};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::format::table::free_names;
use crate::write::each_edge;
use crate::{Graph, Name};

/// Rows in a batch.
const BATCH: usize = 1 << 16;

/// The values of a column. `None` is no value.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Whole(Vec<Option<u64>>),
    /// Numbers with decimals.
    Real(Vec<Option<f64>>),
    /// Texts.
    Text(Vec<Option<String>>),
    /// Yes or no.
    Flag(Vec<Option<bool>>),
}

impl Values {
    fn array(self) -> ArrayRef {
        match self {
            Values::Whole(values) => Arc::new(UInt64Array::from(values)),
            Values::Real(values) => Arc::new(Float64Array::from(values)),
            Values::Text(values) => Arc::new(StringArray::from(values)),
            Values::Flag(values) => Arc::new(BooleanArray::from(values)),
        }
    }
}

/// Writes columns, by name, as a Parquet file.
///
/// # Errors
/// Those of `out`, and columns of different lengths.
pub fn write_columns(out: &mut dyn Write, columns: Vec<(String, Values)>) -> io::Result<()> {
    let arrays: Vec<(String, ArrayRef)> =
        columns.into_iter().map(|(name, values)| (name, values.array())).collect();
    let field =
        |(name, array): &(String, ArrayRef)| Field::new(name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(arrays.iter().map(field).collect::<Vec<_>>()));
    let arrays = arrays.into_iter().map(|(_, array)| array).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(io::Error::other)?;
    let mut writer = ArrowWriter::try_new(vec![], schema, properties())?;
    writer.write(&batch)?;
    out.write_all(&writer.into_inner()?)
}

fn properties() -> Option<WriterProperties> {
    Some(WriterProperties::builder().set_compression(Compression::SNAPPY).build())
}

/// Writes the edges of a graph as Parquet.
pub(in crate::format) fn write_parquet(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    // The writer type must be `Send`, so the file is made in memory.
    let mut writer = ArrowWriter::try_new(vec![], schema(graph), properties())?;
    each_batch(graph, |batch| Ok(writer.write(&batch)?))?;
    out.write_all(&writer.into_inner()?)
}

/// Writes the edges of a graph as an Arrow IPC file.
pub(in crate::format) fn write_arrow(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
    let writer = arrow_ipc::writer::FileWriter::try_new(out, &schema(graph));
    let mut writer = writer.map_err(io::Error::other)?;
    each_batch(graph, |batch| writer.write(&batch).map_err(io::Error::other))?;
    writer.finish().map_err(io::Error::other)
}

fn schema(graph: &Graph) -> SchemaRef {
    let of = |texts: bool| if texts { DataType::Utf8 } else { DataType::UInt64 };
    let (source, target) = free_names(graph);
    let names = graph.names();
    let mut fields = vec![
        Field::new(source, of(names.vertices.is_some()), false),
        Field::new(target, of(names.vertices.is_some()), false),
    ];
    if graph.has_edge_labels() {
        fields.push(Field::new("edge_label", of(names.edge_labels.is_some()), false));
    }
    Arc::new(Schema::new(fields))
}

/// Values of a column without nulls.
enum ColumnValues {
    Numbers(Vec<u64>),
    Texts(Vec<String>),
}

impl ColumnValues {
    fn new(texts: bool) -> Self {
        if texts { ColumnValues::Texts(vec![]) } else { ColumnValues::Numbers(vec![]) }
    }

    fn push(&mut self, name: Name<'_>) {
        match (self, name) {
            (ColumnValues::Numbers(all), Name::Number(number)) => all.push(number),
            (ColumnValues::Texts(all), name) => all.push(name.to_string()),
            // A number too large for the dictionary has no text: such a graph isn't built.
            (ColumnValues::Numbers(all), Name::Text(_)) => all.push(0),
        }
    }

    fn take(&mut self) -> ArrayRef {
        match self {
            ColumnValues::Numbers(all) => Arc::new(UInt64Array::from(std::mem::take(all))),
            ColumnValues::Texts(all) => Arc::new(StringArray::from(std::mem::take(all))),
        }
    }
}

fn each_batch(
    graph: &Graph,
    mut write: impl FnMut(RecordBatch) -> io::Result<()>,
) -> io::Result<()> {
    let schema = schema(graph);
    let names = graph.names();
    let texts = names.vertices.is_some();
    let mut columns = vec![ColumnValues::new(texts), ColumnValues::new(texts)];
    let labels = graph.has_edge_labels();
    if labels {
        columns.push(ColumnValues::new(names.edge_labels.is_some()));
    }
    let mut rows = 0;
    let mut flush = |columns: &mut Vec<ColumnValues>| {
        let arrays = columns.iter_mut().map(ColumnValues::take).collect();
        write(RecordBatch::try_new(schema.clone(), arrays).map_err(io::Error::other)?)
    };
    each_edge(graph, |u, v, label| {
        columns[0].push(graph.vertex_name(u));
        columns[1].push(graph.vertex_name(v));
        if labels {
            columns[2].push(graph.edge_label_name(label));
        }
        rows += 1;
        if rows % BATCH == 0 { flush(&mut columns) } else { Ok(()) }
    })?;
    flush(&mut columns)
}
