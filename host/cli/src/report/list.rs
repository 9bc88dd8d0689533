//! Lists of embeddings, streamed.

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use gramer_base::error::{Error, Place, Result, quote};
use gramer_base::memory::zeroed;
use gramer_base::output::Output;
use gramer_engine::Sink;
use gramer_graph::{Graph, Name, VertexId};

use gramer_pattern::{Pattern, labelled_name_in};

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
    /// The format of a list in a file: the requested one, else that of the file's ending, else jsonl.
    ///
    /// # Errors
    /// [`Error::Usage`] for an extension of the other format, or an unknown one if no format is requested.
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

/// Appends a text as JSON.
pub(super) fn text(bytes: &mut Vec<u8>, text: &str) {
    // Writing to a vector can't fail.
    let _ = serde_json::to_writer(bytes, text);
}

/// Appends a field of a table with tabs: in quotes, as in CSV, if it has a tab, a line end or a quote.
pub(super) fn tabbed(bytes: &mut Vec<u8>, field: &str) {
    if !field.contains(['\t', '\n', '\r', '"']) {
        return bytes.extend_from_slice(field.as_bytes());
    }
    bytes.push(b'"');
    bytes.extend_from_slice(field.replace('"', "\"\"").as_bytes());
    bytes.push(b'"');
}

/// Appends a vertex as such a field, by its id.
pub(super) fn tabbed_vertex(bytes: &mut Vec<u8>, graph: &Graph, id: u64) {
    match graph.name_of_id(id) {
        Name::Number(id) => bytes.extend_from_slice(itoa::Buffer::new().format(id).as_bytes()),
        Name::Text(name) => tabbed(bytes, &name),
    }
}

/// Numbers embeddings as they are found, and ends a run after the last one of a limit.
///
/// As a sink it counts them and keeps none.
#[derive(Debug)]
pub struct Tally {
    limit: u64,
    begun: AtomicU64,
    first: OnceLock<Instant>,
}

impl Tally {
    /// Creates a tally; without a limit it accepts all embeddings.
    pub fn new(limit: Option<u64>) -> Self {
        let limit = limit.unwrap_or(u64::MAX);
        Tally { limit, begun: AtomicU64::new(0), first: OnceLock::new() }
    }

    /// Returns the time of the first embedding.
    pub fn first(&self) -> Option<Instant> {
        self.first.get().copied()
    }

    /// Whether the run ended because the limit was reached.
    pub fn limit_reached(&self) -> bool {
        self.begun.load(Ordering::Relaxed) >= self.limit
    }

    /// Counts an embedding: `Break` beyond the limit, otherwise whether it is the last one.
    fn take(&self) -> ControlFlow<(), bool> {
        if self.first.get().is_none() {
            self.first.get_or_init(Instant::now);
        }
        if self.limit == u64::MAX {
            return ControlFlow::Continue(false);
        }
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        if number >= self.limit {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(number + 1 == self.limit)
    }
}

/// Ends the run after the last embedding.
fn go_on(last: bool) -> ControlFlow<()> {
    if last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

impl Sink for Tally {
    fn embedding(&self, _: &Pattern, _: &[VertexId]) -> ControlFlow<()> {
        go_on(self.take()?)
    }

    fn limit(&self) -> Option<u64> {
        (self.limit < u64::MAX).then_some(self.limit)
    }

    fn only_counts(&self) -> bool {
        true
    }

    fn embeddings(&self, number: u64) {
        self.first.get_or_init(Instant::now);
        self.begun.fetch_add(number, Ordering::Relaxed);
    }
}

/// Writes embeddings to a file as they come, with the ids of the input. The order of the lines
/// depends on the threads; with one thread it is always the same.
pub struct ListWriter<'a> {
    graph: &'a Graph,
    format: ListFormat,
    tally: Tally,
    counts: Counts,
    file: Mutex<Output>,
    buffers: Vec<Mutex<Buffer>>,
    failed: Mutex<Option<io::Error>>,
}

#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    /// Lines written so far, those in `bytes` included.
    lines: u64,
    beginnings: LinePrefixes,
    texts: VertexTexts,
}

/// Cache of how vertices are written, in a word each: up to 7 bytes, and in the last one their number. 0: not known.
#[derive(Default)]
struct VertexTexts(Vec<u64>);

impl VertexTexts {
    const MOST: usize = size_of::<u64>() - 1;
    /// Lines from which on it is used, and the most vertices that it is for (8 MB a thread).
    const WORTH: u64 = 64;
    const VERTICES: usize = 1 << 20;

    /// Appends the text of a vertex, which `make` does the first time.
    #[inline]
    fn append(&mut self, v: VertexId, bytes: &mut Vec<u8>, make: impl FnOnce(&mut Vec<u8>)) {
        let word = self.0.get(v as usize).map_or([0; 8], |word| word.to_le_bytes());
        let len = usize::from(word[Self::MOST]);
        if len > 0 {
            // All of it, since that is one store.
            bytes.extend_from_slice(&word);
            bytes.truncate(bytes.len() - word.len() + len);
            return;
        }
        let from = bytes.len();
        make(bytes);
        let text = &bytes[from..];
        if let Some(known) = self.0.get_mut(v as usize)
            && text.len() <= Self::MOST
        {
            let mut word = [0; 8];
            word[..text.len()].copy_from_slice(text);
            word[Self::MOST] = text.len() as u8;
            *known = u64::from_le_bytes(word);
        }
    }
}

/// Cache of the line prefixes of patterns: formatting one takes longer than writing the vertices.
#[derive(Default)]
struct LinePrefixes {
    all: Vec<(Pattern, Vec<u8>)>,
    numbers: HashMap<Pattern, usize>,
    /// By address of a pattern, the number of the one met there last. Engines hand on few patterns, each from one
    /// place, so that most are found by one comparison.
    recent: [usize; RECENT],
}

/// Number of distinct addresses.
const RECENT: usize = 32;

impl LinePrefixes {
    /// Returns the prefix of a pattern, created by `make` on first use.
    fn of(&mut self, pattern: &Pattern, make: impl FnOnce() -> Vec<u8>) -> &[u8] {
        let slot = std::ptr::from_ref(pattern) as usize / size_of::<Pattern>() % RECENT;
        let recent = self.recent[slot];
        // Another pattern may be at the address by now.
        let number = match self.all.get(recent) {
            Some((known, _)) if known == pattern => recent,
            _ => self.number(pattern, make),
        };
        self.recent[slot] = number;
        &self.all[number].1
    }

    fn number(&mut self, pattern: &Pattern, make: impl FnOnce() -> Vec<u8>) -> usize {
        if let Some(&number) = self.numbers.get(pattern) {
            return number;
        }
        let number = self.all.len();
        self.all.push((pattern.clone(), make()));
        self.numbers.insert(pattern.clone(), number);
        number
    }
}

thread_local! {
    static BUFFER_OF_THREAD: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % BUFFERS
    };
}

impl<'a> ListWriter<'a> {
    /// Begins the file (`-` is standard output); it is there after [`ListWriter::place`]. Without `force`
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
            tally: Tally::new(limit),
            counts,
            file: Mutex::new(Output::create(path, force)?),
            buffers: (0..BUFFERS).map(|_| Mutex::default()).collect(),
            failed: Mutex::new(None),
        })
    }

    /// Writes what is still buffered, and returns the number of embeddings listed. None may come any more.
    ///
    /// # Errors
    /// [`Error::Io`] for the first write that failed.
    pub fn end(&self) -> Result<u64> {
        let mut lines = 0;
        for buffer in &self.buffers {
            let mut buffer = buffer.lock().unwrap_or_else(PoisonError::into_inner);
            self.write_out(&mut buffer);
            lines += buffer.lines;
        }
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        match self.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(e) => Err(Error::io(file.path(), "write", e)),
            None => Ok(lines),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// As [`Output::finish`].
    pub fn place(self) -> Result<()> {
        self.file.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
    }

    /// The embeddings found.
    pub fn tally(&self) -> &Tally {
        &self.tally
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

    /// Returns the line prefix for a pattern of this name.
    fn beginning(&self, name: &str) -> Vec<u8> {
        let mut bytes = vec![];
        match self.format {
            ListFormat::Jsonl => {
                bytes.extend_from_slice(b"{\"pattern\":");
                text(&mut bytes, name);
                bytes.extend_from_slice(b",\"vertices\":[");
            }
            ListFormat::Tsv => {
                tabbed(&mut bytes, name);
                bytes.push(b'\t');
            }
        }
        bytes
    }

    /// Appends the vertices of a line and its end.
    fn vertices(&self, vertices: &[VertexId], texts: &mut VertexTexts, bytes: &mut Vec<u8>) {
        let (between, end): (u8, &[u8]) = match self.format {
            ListFormat::Jsonl => (b',', b"]}\n"),
            ListFormat::Tsv => (b'\t', b"\n"),
        };
        for (i, &v) in vertices.iter().enumerate() {
            if i > 0 {
                bytes.push(between);
            }
            texts.append(v, bytes, |bytes| {
                let id = self.graph.original_id(v);
                match self.format {
                    ListFormat::Jsonl => self.counts.vertex(self.graph, id, bytes),
                    ListFormat::Tsv => tabbed_vertex(bytes, self.graph, id),
                }
            });
        }
        bytes.extend_from_slice(end);
    }
}

impl Sink for ListWriter<'_> {
    fn limit(&self) -> Option<u64> {
        self.tally.limit()
    }

    fn embedding(&self, pattern: &Pattern, vertices: &[VertexId]) -> ControlFlow<()> {
        let last = self.tally.take()?;
        let at = BUFFER_OF_THREAD.with(|at| *at);
        let mut buffer = self.buffers[at].lock().unwrap_or_else(PoisonError::into_inner);
        let Buffer { bytes, lines, beginnings, texts } = &mut *buffer;
        if *lines == VertexTexts::WORTH && self.graph.vertices() <= VertexTexts::VERTICES {
            // Without room for it, texts are made each time.
            texts.0 = zeroed(self.graph.vertices()).unwrap_or_default();
        }
        // A maximal clique may be larger than a pattern.
        if vertices.len() > pattern.vertices() {
            bytes.extend(self.beginning(&format!("{}-clique", vertices.len())));
        } else {
            let name = || labelled_name_in(pattern, self.graph);
            bytes.extend_from_slice(beginnings.of(pattern, || self.beginning(&name())));
        }
        self.vertices(vertices, texts, bytes);
        *lines += 1;
        if bytes.len() >= BUFFER {
            self.write_out(&mut buffer);
            if self.has_failed() {
                return ControlFlow::Break(());
            }
        }
        go_on(last)
    }
}
