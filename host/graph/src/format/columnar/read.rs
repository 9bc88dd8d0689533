//! Tables of edges from Parquet and Arrow files.

use std::io::{BufRead, Cursor};
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamDecoder;
use arrow_schema::{ArrowError, SchemaRef};
use bytes::Bytes;
use csv::ByteRecord;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::lengths::check_lengths;
use super::value::Column;
use crate::format::Sink;
use crate::format::table::{SAMPLE, Sample, Shape};
use crate::read::is_number;
use gramer_base::error::{Result, quote};
use gramer_base::panics::Hold;

/// Rows in a batch.
const BATCH: usize = 1 << 13;

/// What a file begins with.
pub(super) const ARROW: &[u8] = b"ARROW1";

/// What messages of a stream begin with, and what ends it.
pub(super) const STREAM: [u8; 4] = [0xff; 4];
const END_OF_STREAM: [u8; 8] = [0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];

type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>>>;
/// Opens a file with some of its columns, all without.
type Open = fn(Bytes, Option<&[usize]>) -> std::result::Result<(SchemaRef, Batches), String>;

/// Calls what reads a file that may be damaged: where the crates panic, that is a fault of the file.
fn guarded<T>(
    read: impl FnOnce() -> std::result::Result<T, String>,
) -> std::result::Result<T, String> {
    let hold = Hold::begin();
    let done = catch_unwind(AssertUnwindSafe(read));
    drop(hold);
    done.unwrap_or_else(|_| Err("its parts contradict each other".into()))
}

/// Reads a Parquet file.
pub(in crate::format) fn parquet(reader: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    read(reader, sink, "Parquet", |bytes, columns| {
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).map_err(|e| e.to_string())?;
        let mask = match columns {
            Some(columns) => {
                ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied())
            }
            None => ProjectionMask::all(),
        };
        let schema = builder.schema().clone();
        let reader = builder.with_projection(mask).with_batch_size(BATCH).build();
        Ok((schema, Box::new(reader.map_err(|e| e.to_string())?)))
    })
}

/// Reads an Arrow IPC file or stream.
pub(in crate::format) fn arrow(reader: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
    read(reader, sink, "Arrow", |bytes, columns| {
        let projection = columns.map(<[usize]>::to_vec);
        check_lengths(&bytes)?;
        // Streams of old programs begin with the size of the schema.
        if !bytes.starts_with(ARROW) {
            return stream(bytes, projection);
        }
        let schema = arrow_ipc::reader::FileReader::try_new(Cursor::new(bytes.clone()), None)
            .map_err(|e| e.to_string())?
            .schema();
        let reader = arrow_ipc::reader::FileReader::try_new(Cursor::new(bytes), projection);
        Ok((schema, Box::new(reader.map_err(|e| e.to_string())?)))
    })
}

/// Opens an Arrow IPC stream: messages one behind the other, without a list of them at the end.
fn stream(
    bytes: Bytes,
    columns: Option<Vec<usize>>,
) -> std::result::Result<(SchemaRef, Batches), String> {
    let mut decoder = StreamDecoder::new();
    let mut rest = bytes.into();
    // The schema comes in front of the first batch.
    let mut first = decoder.decode(&mut rest).map_err(|e| e.to_string())?;
    let schema = decoder.schema().ok_or("it ends within its schema")?;
    let batches = std::iter::from_fn(move || {
        let next = first.take().map_or_else(|| decoder.decode(&mut rest), |batch| Ok(Some(batch)));
        let whole = |batch: Option<RecordBatch>| match (batch, &columns) {
            (Some(batch), Some(columns)) => batch.project(columns).map(Some),
            (Some(batch), None) => Ok(Some(batch)),
            (None, _) => decoder.finish().map(|()| None),
        };
        next.and_then(whole).transpose()
    });
    Ok((schema, Box::new(batches)))
}

fn read(reader: &mut dyn BufRead, sink: &mut Sink<'_>, name: &str, open: Open) -> Result<()> {
    sink.hold_whole()?;
    let mut bytes = vec![];
    reader.read_to_end(&mut bytes).map_err(|source| sink.refused(source))?;
    if bytes.starts_with(&STREAM) && !bytes.ends_with(&END_OF_STREAM) {
        sink.note("the stream has no mark at its end: it may be cut off");
    }
    let bytes = Bytes::from(bytes);
    let unsound = |what: String| format!("the {name} file is damaged: {what}");
    let sampled = guarded(|| {
        let (schema, batches) = open(bytes.clone(), None)?;
        Ok((sampled(&schema, batches)?, schema))
    });
    let (sample, schema) = sampled.map_err(|e| sink.fault(unsound(e)))?;
    let options = sink.options();
    let shape = Shape::of(&sample, &options.columns, options.format.is_some(), sink)?;
    let mut wanted: Vec<usize> =
        [Some(shape.ends.0), Some(shape.ends.1), shape.edge_label, shape.weight]
            .into_iter()
            .flatten()
            .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let place = |column: usize| wanted.partition_point(|&other| other < column);
    let (u, v) = (place(shape.ends.0), place(shape.ends.1));
    let (label, weight) = (shape.edge_label.map(place), shape.weight.map(place));
    let opened = guarded(|| open(bytes, Some(&wanted)));
    let (_, mut batches) = opened.map_err(|e| sink.fault(unsound(e)))?;
    let mut row_number = 0u64;
    let mut texts = vec![Vec::new(); wanted.len()];
    loop {
        let batch = guarded(|| batches.next().transpose().map_err(|e| e.to_string()));
        let Some(batch) = batch.map_err(|e| sink.fault(unsound(e)))? else { break };
        let mut columns = vec![];
        for (at, array) in batch.columns().iter().enumerate() {
            let field = &schema.fields()[wanted[at]];
            let column = guarded(|| Ok(Column::of(array))).map_err(|e| sink.fault(unsound(e)))?;
            let Some(column) = column else {
                let what = format!(
                    "column {} has the type {}, which is neither a text nor a number",
                    quote(field.name()),
                    field.data_type()
                );
                return Err(sink.fault(what));
            };
            columns.push((column, array));
        }
        for row in 0..batch.num_rows() {
            row_number += 1;
            for ((column, array), text) in columns.iter().zip(&mut texts) {
                text.clear();
                if !array.is_null(row) {
                    column.append(row, text);
                }
            }
            if let Some(end) = [u, v].into_iter().find(|&end| texts[end].is_empty()) {
                let column = schema.fields()[wanted[end]].name();
                let what =
                    "is empty, but it holds an end of an edge; write a name, or remove the row";
                let column = quote(column);
                return Err(sink.fault(format!("row {row_number}: column {column} {what}")));
            }
            if let Some(weight) =
                weight.map(|at| &texts[at]).filter(|w| !w.is_empty() && !is_number(w))
            {
                return Err(sink.fault(format!(
                    "row {row_number}: the weight {} is no number",
                    quote(weight)
                )));
            }
            let (source, target) = (sink.vertex(&texts[u])?, sink.vertex(&texts[v])?);
            sink.edge(source, target, label.map(|at| &texts[at][..]))?;
        }
    }
    if row_number == 0 {
        return Err(sink.fault("holds no edge: the table has no row"));
    }
    Ok(())
}

/// The names of the columns and the first rows.
fn sampled(schema: &SchemaRef, batches: Batches) -> std::result::Result<Sample, String> {
    let names: Vec<&[u8]> = schema.fields().iter().map(|field| field.name().as_bytes()).collect();
    let mut rows = vec![ByteRecord::from(names)];
    for batch in batches {
        let batch = batch.map_err(|e| e.to_string())?;
        let columns: Vec<Option<Column<'_>>> =
            batch.columns().iter().map(|array| Column::of(array)).collect();
        for row in 0..batch.num_rows().min(SAMPLE - rows.len()) {
            let mut record = ByteRecord::new();
            for (column, array) in columns.iter().zip(batch.columns()) {
                let mut text = vec![];
                // A date, a list, and the like is no id: nothing is.
                if let Some(column) = column.as_ref().filter(|_| !array.is_null(row)) {
                    column.append(row, &mut text);
                }
                record.push_field(&text);
            }
            rows.push(record);
        }
        if rows.len() >= SAMPLE {
            break;
        }
    }
    Ok(Sample::named(rows))
}
