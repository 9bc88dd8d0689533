//! The binary image of a prepared graph: checked once, then used where it lies.
//!
//! All numbers are little-endian. The file begins with a header of 128 bytes and a table of
//! sections; sections follow at multiples of 64 bytes, with zeros between them.
//!
//! | bytes | header field |
//! |---|---|
//! | 0..8 | magic: `\x89GRAMER\n` |
//! | 8..12 | version of the format: 1 |
//! | 12..16 | byte order mark: 0x01020304 |
//! | 16..24 | size of the file |
//! | 24..28 | number of sections |
//! | 28..32 | order of the vertices: 0 input, 1 Rank(ON_1) |
//! | 32..40 | V, the number of vertices |
//! | 40..48 | 2 E, the number of entries in all rows |
//! | 48..80 | edges read, self loops, duplicates, label conflicts (see [`crate::BuildStats`]) |
//! | 80..120 | zeros |
//! | 120..128 | XXH3-64 of bytes 0..120 and the table |
//!
//! | bytes | field of a section in the table (32 bytes each) |
//! |---|---|
//! | 0..4 | kind |
//! | 4..8 | 1 if a reader must know this kind, else 0 |
//! | 8..16 | offset in the file |
//! | 16..24 | size in bytes |
//! | 24..32 | XXH3-64 of its data |
//!
//! | kind | section | size |
//! |---|---|---|
//! | 1 | row offsets, `u64` | 8 (V + 1) |
//! | 2 | neighbours, `u32` | 4 · 2 E |
//! | 3 | vertex labels, `u32` (optional) | 4 V |
//! | 4 | edge labels, `u32`, parallel to the neighbours (optional) | 4 · 2 E |
//! | 5 | ids of the input, `u64` (without it: 0 to V - 1) | 8 V |
//! | 6 | name of the source, UTF-8 (need not be known) | any |
//! | 7 | in place of 1 and 2: groups of compressed rows, `u64`: first row, first entry, first word | 24 each |
//! | 8 | in place of 1 and 2: compressed rows, `u32` (see [`PackedRows`]) | 4 each |
//! | 9, 10 | names of vertices, of which ids are numbers: bounds, `u64`, and texts, UTF-8 (optional) | 8 (N + 1), any |
//! | 11, 12 | the same for vertex labels (optional) | 8 (N + 1), any |
//! | 13, 14 | the same for edge labels (optional) | 8 (N + 1), any |
//!
//! Later versions may add kinds: a reader skips those that it need not know.

mod layout;
mod packed;
mod rows;
#[cfg(test)]
mod tests;
mod unpack;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::origin::Origin;
use super::{Graph, Order};
use gramer_base::budget::register;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::mapping::Mapping;
use gramer_base::output::write_own;
use layout::{Layout, Source, u32_at, u64_at};
pub use packed::PackedRows;

/// The first bytes of an image. The first one is not text, the last one suffers where line ends
/// are converted.
pub const MAGIC: [u8; 8] = *b"\x89GRAMER\n";
/// Version of the format that this program writes and reads.
pub const VERSION: u32 = 1;

const BYTE_ORDER_MARK: u32 = 0x0102_0304;
const HEADER: usize = 128;
const ENTRY: usize = 32;
const ALIGNMENT: usize = 64;
/// More sections than any version is likely to have.
const MAX_SECTIONS: u32 = 1024;

/// Kinds of sections.
mod kind {
    pub const OFFSETS: u32 = 1;
    pub const NEIGHBOURS: u32 = 2;
    pub const VERTEX_LABELS: u32 = 3;
    pub const EDGE_LABELS: u32 = 4;
    pub const ORIGINAL_IDS: u32 = 5;
    pub const NAME: u32 = 6;
    pub const GROUPS: u32 = 7;
    pub const PACKED: u32 = 8;
    /// Bounds of texts; the kind behind each is that of the texts.
    pub const NAMES: [u32; 3] = [9, 11, 13];
    /// One more than the last kind.
    pub const END: usize = 15;
}

/// A section to be written.
struct Section<'a> {
    kind: u32,
    required: bool,
    data: &'a [u8],
}

/// Writes the image of a graph atomically, replacing an existing file.
///
/// # Errors
/// [`Error::Io`] where the file can't be written.
pub fn write(path: &Path, graph: &Graph, name: &str) -> Result<()> {
    write_own(path, |out| write_to(out, graph, name))
}

/// Writes the image of a graph to a stream.
///
/// # Errors
/// Those of the stream.
pub fn write_to(out: &mut dyn Write, graph: &Graph, name: &str) -> io::Result<()> {
    write_with(out, graph, name, None)
}

/// As [`write_to`], with compressed rows.
///
/// # Errors
/// Those of the stream.
pub fn write_packed_to(
    out: &mut dyn Write,
    graph: &Graph,
    rows: &PackedRows,
    name: &str,
) -> io::Result<()> {
    write_with(out, graph, name, Some(rows))
}

fn write_with(
    out: &mut dyn Write,
    graph: &Graph,
    name: &str,
    rows: Option<&PackedRows>,
) -> io::Result<()> {
    let view = graph.view();
    let section = |kind, required, data| Section { kind, required, data };
    let mut sections = match rows {
        None => vec![
            section(kind::OFFSETS, true, bytemuck::cast_slice(view.offsets)),
            section(kind::NEIGHBOURS, true, bytemuck::cast_slice(view.neighbours)),
        ],
        Some(rows) => vec![
            section(kind::GROUPS, true, bytemuck::cast_slice(&rows.groups)),
            section(kind::PACKED, true, bytemuck::cast_slice(&rows.words)),
        ],
    };
    if let Some(labels) = view.vertex_labels {
        sections.push(section(kind::VERTEX_LABELS, true, bytemuck::cast_slice(labels)));
    }
    if let Some(labels) = view.edge_labels {
        sections.push(section(kind::EDGE_LABELS, true, bytemuck::cast_slice(labels)));
    }
    if !graph.ids_are_numbers() {
        let ids = bytemuck::cast_slice(graph.original_ids());
        sections.push(section(kind::ORIGINAL_IDS, true, ids));
    }
    let names = graph.names();
    let of = [&names.vertices, &names.vertex_labels, &names.edge_labels];
    for (kind, names) in kind::NAMES.into_iter().zip(of) {
        if let Some(names) = names {
            let (bounds, bytes) = names.parts();
            sections.push(section(kind, true, bytemuck::cast_slice(bounds)));
            sections.push(section(kind + 1, true, bytes));
        }
    }
    sections.push(section(kind::NAME, false, name.as_bytes()));
    write_sections(out, graph, &sections)
}

fn write_sections(out: &mut dyn Write, graph: &Graph, sections: &[Section]) -> io::Result<()> {
    if cfg!(target_endian = "big") {
        let what = "images are written on little-endian machines only";
        return Err(io::Error::new(io::ErrorKind::Unsupported, what));
    }
    let mut table = Vec::with_capacity(ENTRY * sections.len());
    let mut end = HEADER + ENTRY * sections.len();
    for section in sections {
        let offset = end.next_multiple_of(ALIGNMENT);
        table.extend(section.kind.to_le_bytes());
        table.extend(u32::from(section.required).to_le_bytes());
        table.extend((offset as u64).to_le_bytes());
        table.extend((section.data.len() as u64).to_le_bytes());
        table.extend(xxh3_64(section.data).to_le_bytes());
        end = offset + section.data.len();
    }
    let stats = graph.stats();
    let order: u32 = match graph.order() {
        Order::Input => 0,
        Order::RankOn1 => 1,
    };
    let mut header = Vec::with_capacity(HEADER);
    header.extend(MAGIC);
    header.extend(VERSION.to_le_bytes());
    header.extend(BYTE_ORDER_MARK.to_le_bytes());
    header.extend((end as u64).to_le_bytes());
    header.extend((sections.len() as u32).to_le_bytes());
    header.extend(order.to_le_bytes());
    for number in [
        graph.vertices() as u64,
        graph.view().neighbours.len() as u64,
        stats.raw_edges,
        stats.self_loops,
        stats.duplicates,
        stats.label_conflicts,
    ] {
        header.extend(number.to_le_bytes());
    }
    header.resize(HEADER - 8, 0);
    header.extend(header_checksum(&header, &table).to_le_bytes());
    out.write_all(&header)?;
    out.write_all(&table)?;
    let mut written = header.len() + table.len();
    for section in sections {
        let offset = written.next_multiple_of(ALIGNMENT);
        out.write_all(&[0; ALIGNMENT][..offset - written])?;
        out.write_all(section.data)?;
        written = offset + section.data.len();
    }
    Ok(())
}

/// Checksum of the header, without the checksum itself, and of the table.
fn header_checksum(header: &[u8], table: &[u8]) -> u64 {
    let mut hash = Xxh3::new();
    hash.update(&header[..HEADER - 8]);
    hash.update(table);
    hash.digest()
}

/// Makes the checksums of an image right, where its header and table make sense at all: for tests
/// of what is checked besides them.
#[doc(hidden)]
pub fn seal(bytes: &mut [u8]) {
    if bytes.len() < HEADER {
        return;
    }
    let count = u32_at(bytes, 24) as usize;
    let end = HEADER + ENTRY * count.min((bytes.len() - HEADER) / ENTRY);
    for entry in (HEADER..end).step_by(ENTRY) {
        let (offset, length) = (u64_at(bytes, entry + 8), u64_at(bytes, entry + 16));
        let data = offset
            .checked_add(length)
            .and_then(|end| bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?));
        if let Some(data) = data {
            let checksum = xxh3_64(data).to_le_bytes();
            bytes[entry + 24..entry + 32].copy_from_slice(&checksum);
        }
    }
    let size = (bytes.len() as u64).to_le_bytes();
    bytes[16..24].copy_from_slice(&size);
    let checksum = header_checksum(bytes, &bytes[HEADER..end]).to_le_bytes();
    bytes[HEADER - 8..HEADER].copy_from_slice(&checksum);
}

/// Opens an image where it lies: nothing is copied but ids that it doesn't hold, and rows that are compressed.
///
/// With `verify` all data are read once: checksums, rows that ascend and are symmetric, ids and
/// labels in range. Without, only header, section sizes and row offsets are checked, so that a
/// graph larger than memory opens at once. Safe code stays safe either way, but an engine may
/// then panic (see [`Graph::guarded`]) or count wrong on a damaged image: leave the check out only
/// where this machine wrote the image, and the file has been kept since.
///
/// The file must not change while the graph is in use. If it is truncated, the process ends with a
/// message and exit code 1; if it is overwritten, [`Graph::guarded`] tells.
///
/// # Errors
/// [`Error::Io`] where the file can't be read, [`Error::Input`] with the reason for a file that
/// is not an image, of another version or byte order, damaged or truncated.
pub fn open(path: &Path, verify: bool) -> Result<Graph> {
    let file = File::open(path).map_err(|source| Error::io(path, "read", source))?;
    Ok(open_file(path, &file, verify, &Context::default())?.0)
}

/// As [`open`], for an open regular file; returns its size as well.
///
/// # Errors
/// As [`open`], and [`Error::Interrupted`] once the run was cancelled.
pub(crate) fn open_file(
    path: &Path,
    file: &File,
    verify: bool,
    context: &Context,
) -> Result<(Graph, u64)> {
    let Some(map) = Mapping::new(path, file)? else {
        let mut bytes = Vec::new();
        let mut file = file;
        std::io::Seek::rewind(&mut file)
            .and_then(|()| file.read_to_end(&mut bytes))
            .map_err(|source| Error::io(path, "read", source))?;
        return Ok((from_bytes_with(path, &bytes, context)?, bytes.len() as u64));
    };
    let size = map.len() as u64;
    let layout = Layout::parse(path, &map)?;
    let map = register(map);
    let graph = layout.graph(path, &map, verify, &Source::Map(map.clone()), context)?;
    map.check_unchanged()?;
    Ok((graph.with_origin(Some(Origin::new(path, Some(map), verify))), size))
}

/// Reads an image from memory (from standard input, or decompressed), with all checks.
///
/// # Errors
/// [`Error::Input`] as [`open`].
pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Graph> {
    from_bytes_with(path, bytes, &Context::default())
}

/// As [`from_bytes`], until the run was cancelled.
pub(crate) fn from_bytes_with(path: &Path, bytes: &[u8], context: &Context) -> Result<Graph> {
    Layout::parse(path, bytes)?.graph(path, bytes, true, &Source::Copy, context)
}

/// The name of the source that an image holds, if any.
///
/// # Errors
/// As [`open`].
pub fn name(path: &Path) -> Result<Option<String>> {
    let file = File::open(path).map_err(|source| Error::io(path, "read", source))?;
    let Some(map) = Mapping::new(path, &file)? else { return Ok(None) };
    let layout = Layout::parse(path, &map)?;
    Ok(layout.name.map(|at| String::from_utf8_lossy(&map[at]).into_owned()))
}
