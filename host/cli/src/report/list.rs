//! Lists of embeddings, streamed.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use gramer_engine::Sink;
use gramer_graph::error::{Error, Place, Result, quote};
use gramer_graph::output::Output;
use gramer_graph::{Graph, VertexId};

use gramer_pattern::{Pattern, labelled_name};

use super::Counts;

/// How a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ListFormat {
    /// A JSON object per line: `{"pattern":"wedge[2,0,1]","vertices":[17,4,99]}`.
    Jsonl,
    /// Name and ids, separated by tabs.
    Tsv,
}

impl ListFormat {
    /// The format of a list in a file: the one that is asked for, else the one that the file's name ends with, else
    /// jsonl.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that ends as one of the other format, or, where none is asked for, of none.
    pub fn of(path: &Path, asked: Option<Self>) -> Result<Self> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
        let named = match extension.as_deref() {
            Some("jsonl" | "ndjson") => Some(ListFormat::Jsonl),
            Some("tsv") => Some(ListFormat::Tsv),
            Some(other) if asked.is_none() => {
                return Err(Error::usage(format!(
                    "{}: a list is written as .jsonl or .tsv, not as {}; name it so, or say which of \
                     the two it is with --list-format",
                    Place::file(path),
                    quote(other)
                )));
            }
            _ => None,
        };
        match (named, asked) {
            (Some(named), Some(asked)) if named != asked => Err(Error::usage(format!(
                "{}: the name ends as a list of another format than --list-format; change the name or the option",
                Place::file(path)
            ))),
            _ => Ok(asked.or(named).unwrap_or(ListFormat::Jsonl)),
        }
    }
}

/// Bytes that a thread collects before it writes them.
const BUFFER: usize = 64 << 10;
/// Buffers; threads share them if there are more.
const BUFFERS: usize = 16;

/// Writes embeddings to a file as they come, with the ids of the input. The order of the lines
/// depends on the threads; with one thread it is always the same.
pub struct ListWriter<'a> {
    graph: &'a Graph,
    format: ListFormat,
    limit: u64,
    counts: Counts,
    file: Mutex<Output>,
    buffers: Vec<Mutex<Buffer>>,
    begun: AtomicU64,
    written: AtomicU64,
    failed: Mutex<Option<io::Error>>,
}

#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// Names, since making one takes longer than writing a line.
    names: HashMap<Pattern, String>,
}

thread_local! {
    static BUFFER_OF_THREAD: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % BUFFERS
    };
}

impl<'a> ListWriter<'a> {
    /// Begins the file (`-` is standard output); it is there after [`ListWriter::finish`]. Without `force`
    /// it replaces none.
    ///
    /// # Errors
    /// [`Error::Io`] if it can't be created.
    pub fn create(
        (path, force): (&Path, bool),
        format: ListFormat,
        limit: Option<u64>,
        counts: Counts,
        graph: &'a Graph,
    ) -> Result<Self> {
        Ok(ListWriter {
            graph,
            format,
            limit: limit.unwrap_or(u64::MAX),
            counts,
            file: Mutex::new(Output::create(path, force)?),
            buffers: (0..BUFFERS).map(|_| Mutex::default()).collect(),
            begun: AtomicU64::new(0),
            written: AtomicU64::new(0),
            failed: Mutex::new(None),
        })
    }

    /// Writes what is still buffered, puts the file in its place, and returns the number of embeddings listed.
    ///
    /// # Errors
    /// [`Error::Io`] for the first write that failed.
    pub fn finish(self) -> Result<u64> {
        for buffer in &self.buffers {
            let mut buffer = buffer.lock().unwrap_or_else(PoisonError::into_inner);
            self.write_out(&mut buffer);
        }
        let file = self.file.into_inner().unwrap_or_else(PoisonError::into_inner);
        let failed = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(e) = failed {
            return Err(Error::io(file.path(), "write", e));
        }
        file.finish()?;
        Ok(self.written.into_inner())
    }

    /// Whether the run ended because the limit was reached.
    pub fn limit_reached(&self) -> bool {
        self.begun.load(Ordering::Relaxed) >= self.limit
    }

    /// Whether a write failed.
    pub fn has_failed(&self) -> bool {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn write_out(&self, buffer: &mut Buffer) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(e) = file.write_all(&buffer.bytes) {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert(e);
        }
        buffer.bytes.clear();
    }
}

impl Sink for ListWriter<'_> {
    fn limit(&self) -> Option<u64> {
        (self.limit < u64::MAX).then_some(self.limit)
    }

    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        if number >= self.limit {
            return ControlFlow::Break(());
        }
        let at = BUFFER_OF_THREAD.with(|at| *at);
        let mut buffer = self.buffers[at].lock().unwrap_or_else(PoisonError::into_inner);
        let Buffer { bytes, names } = &mut *buffer;
        if !names.contains_key(pattern) {
            names.insert(pattern.clone(), labelled_name(pattern));
        }
        // A maximal clique may be larger than a pattern.
        let clique;
        let name = if vertices.len() > pattern.vertices() {
            clique = format!("{}-clique", vertices.len());
            &clique
        } else {
            &names[pattern]
        };
        let ids = vertices.iter().map(|&v| self.graph.original_id(v));
        // Writing to a vector can't fail.
        let _ = match self.format {
            ListFormat::Jsonl => {
                let _ = write!(bytes, "{{\"pattern\":\"{name}\",\"vertices\":[");
                for (i, id) in ids.enumerate() {
                    let id = self.counts.id(id);
                    let _ = write!(bytes, "{}{id}", if i == 0 { "" } else { "," });
                }
                writeln!(bytes, "]}}")
            }
            ListFormat::Tsv => {
                let _ = write!(bytes, "{name}");
                for id in ids {
                    let _ = write!(bytes, "\t{id}");
                }
                writeln!(bytes)
            }
        };
        self.written.fetch_add(1, Ordering::Relaxed);
        if bytes.len() >= BUFFER {
            self.write_out(&mut buffer);
            if self.has_failed() {
                return ControlFlow::Break(());
            }
        }
        if number + 1 == self.limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
