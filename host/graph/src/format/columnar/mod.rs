//! Parquet and Arrow IPC (Feather): tables of edges whose columns lie one behind the other.
//!
//! Columns are found as those of a text with names of columns are; their values become texts. The crates of both
//! formats take minutes to compile, so that they are in builds with the feature `columnar` alone.

#[cfg(feature = "columnar")]
mod lengths;
#[cfg(feature = "columnar")]
mod read;
#[cfg(feature = "columnar")]
mod value;
#[cfg(feature = "columnar")]
mod write;

#[cfg(feature = "columnar")]
pub(super) use read::{arrow, parquet};
#[cfg(feature = "columnar")]
pub use write::{Values, write_columns};
#[cfg(feature = "columnar")]
pub(super) use write::{write_arrow, write_parquet};

#[cfg(not(feature = "columnar"))]
pub(super) use without::{arrow, parquet, write_arrow, write_parquet};

/// Whether a binary file begins as one of these, and as which.
pub(crate) fn magic(head: &[u8]) -> Option<super::Format> {
    match head {
        // A text may begin with a name PAR1; a file of columns goes on with the head of a page.
        [b'P', b'A', b'R', b'1', 0x15, ..] => Some(super::Format::Parquet),
        [b'A', b'R', b'R', b'O', b'W', b'1', 0, 0, ..] => Some(super::Format::Arrow),
        // A stream begins with a mark and the size of its schema, below 16 MiB.
        [0xff, 0xff, 0xff, 0xff, _, _, _, 0, ..] => Some(super::Format::Arrow),
        _ => None,
    }
}

#[cfg(not(feature = "columnar"))]
mod without {
    use std::io::{self, BufRead, Write};

    use crate::Graph;
    use crate::format::Sink;
    use gramer_base::error::{Error, Result};

    const MISSING: &str = "this build has no Parquet and Arrow (feature `columnar`)";

    pub(crate) fn parquet(_: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
        Err(refused(sink, "a Parquet file", "pandas.read_parquet(FILE)"))
    }

    pub(crate) fn arrow(reader: &mut dyn BufRead, sink: &mut Sink<'_>) -> Result<()> {
        let head = reader.fill_buf().map_err(|source| sink.refused(source))?;
        Err(match head.starts_with(b"ARROW1") {
            true => refused(sink, "an Arrow file", "pandas.read_feather(FILE)"),
            false => {
                refused(sink, "an Arrow stream", "pyarrow.ipc.open_stream(FILE).read_pandas()")
            }
        })
    }

    fn refused(sink: &Sink<'_>, is: &str, with: &str) -> Error {
        sink.fault(format!(
            "is {is}, but {MISSING}: write it as CSV, in Python: {with}.to_csv(OUT, index=False)"
        ))
    }

    pub(crate) fn write_parquet(_: &mut dyn Write, _: &Graph) -> io::Result<()> {
        Err(io::Error::other(format!("{MISSING}: write a .csv")))
    }

    pub(crate) fn write_arrow(out: &mut dyn Write, graph: &Graph) -> io::Result<()> {
        write_parquet(out, graph)
    }
}

#[cfg(all(test, feature = "columnar"))]
mod tests;
