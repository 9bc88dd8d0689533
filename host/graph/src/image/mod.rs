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
//!
//! Later versions may add kinds: a reader skips those that it need not know.

mod layout;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::mapping::Mapping;
use super::origin::Origin;
use super::output::write_whole;
use super::{Graph, Order};
use crate::context::Cancel;
use crate::error::{Error, Result};
use layout::{Layout, Source, u32_at, u64_at};

/// The first bytes of an image. The first one is no text, the last one suffers where line ends
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
}

/// A section to be written.
struct Section<'a> {
    kind: u32,
    required: bool,
    data: &'a [u8],
}

/// Writes the image of a graph, whole or not at all.
///
/// # Errors
/// [`Error::Io`] where the file can't be written.
pub fn write(path: &Path, graph: &Graph, name: &str) -> Result<()> {
    write_whole(path, |out| write_to(out, graph, name))
}

/// Writes the image of a graph to a stream.
///
/// # Errors
/// Those of the stream.
pub fn write_to(out: &mut dyn Write, graph: &Graph, name: &str) -> io::Result<()> {
    let view = graph.view();
    let section = |kind, required, data| Section { kind, required, data };
    let mut sections = vec![
        section(kind::OFFSETS, true, bytemuck::cast_slice(view.offsets)),
        section(kind::NEIGHBOURS, true, bytemuck::cast_slice(view.neighbours)),
    ];
    if let Some(labels) = view.vertex_labels {
        sections.push(section(kind::VERTEX_LABELS, true, bytemuck::cast_slice(labels)));
    }
    if let Some(labels) = view.edge_labels {
        sections.push(section(kind::EDGE_LABELS, true, bytemuck::cast_slice(labels)));
    }
    let ids = graph.original_ids();
    if !ids.iter().zip(0..).all(|(&id, v)| id == v) {
        sections.push(section(kind::ORIGINAL_IDS, true, bytemuck::cast_slice(ids)));
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

/// Opens an image where it lies: nothing is copied but ids that it doesn't hold.
///
/// With `verify` all data are read once: checksums, rows that ascend and are symmetric, ids and
/// labels in range. Without, only header, section sizes and row offsets are checked, so that a
/// graph larger than memory opens at once. Safe code stays safe either way, but an engine may
/// then panic (see [`Graph::guarded`]) or count wrong on a damaged image: leave the check out only
/// where this machine wrote the image, and the file has been kept since.
///
/// The file must stay as it is while the graph is in use. If it is cut, the process ends with a
/// message and exit code 1; if it is overwritten, [`Graph::guarded`] tells.
///
/// # Errors
/// [`Error::Io`] where the file can't be read, [`Error::Input`] with the reason for a file that
/// is no image, of another version or byte order, damaged or truncated.
pub fn open(path: &Path, verify: bool) -> Result<Graph> {
    let file = File::open(path).map_err(|source| Error::io(path, "read", source))?;
    Ok(open_file(path, &file, verify, &Cancel::default())?.0)
}

/// As [`open`], for an open regular file; returns its size as well.
///
/// # Errors
/// As [`open`], and [`Error::Interrupted`] once `cancel` is raised.
pub(crate) fn open_file(
    path: &Path,
    file: &File,
    verify: bool,
    cancel: &Cancel,
) -> Result<(Graph, u64)> {
    let Some(map) = Mapping::new(path, file)? else {
        let mut bytes = Vec::new();
        let mut file = file;
        std::io::Seek::rewind(&mut file)
            .and_then(|()| file.read_to_end(&mut bytes))
            .map_err(|source| Error::io(path, "read", source))?;
        return Ok((from_bytes_until(path, &bytes, cancel)?, bytes.len() as u64));
    };
    let size = map.len() as u64;
    let layout = Layout::parse(path, &map)?;
    let map = Arc::new(map);
    let graph = layout.graph(path, &map, verify, &Source::Map(map.clone()), cancel)?;
    map.check_unchanged()?;
    Ok((graph.with_origin(Some(Origin::new(path, Some(map), verify))), size))
}

/// Reads an image from memory (from standard input, or decompressed), with all checks.
///
/// # Errors
/// [`Error::Input`] as [`open`].
pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Graph> {
    from_bytes_until(path, bytes, &Cancel::default())
}

/// As [`from_bytes`], until `cancel` is raised.
pub(crate) fn from_bytes_until(path: &Path, bytes: &[u8], cancel: &Cancel) -> Result<Graph> {
    Layout::parse(path, bytes)?.graph(path, bytes, true, &Source::Copy, cancel)
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

#[cfg(test)]
mod tests {
    use super::super::{Builder, Label};
    use super::*;

    fn sample(labels: bool) -> Graph {
        let mut b = Builder::new();
        for (u, v) in [(7, 3), (3, 9), (9, 7), (9, 1 << 40), (7, 7), (3, 7)] {
            if labels { b.labelled_edge(u, v, (u + v) as Label & 7) } else { b.edge(u, v) }
        }
        if labels {
            for id in [3, 7, 9, 1 << 40, 11] {
                b.labelled_vertex(id, id as Label & 3);
            }
        }
        b.build()
    }

    fn bytes(graph: &Graph) -> Vec<u8> {
        let mut out = Vec::new();
        write_to(&mut out, graph, "sample").unwrap();
        out
    }

    fn refused(bytes: &[u8]) -> String {
        let error = from_bytes(Path::new("x.gramer"), bytes).expect_err("must be refused");
        let message = error.to_string();
        assert!(message.starts_with("x.gramer: "), "{message}");
        message
    }

    fn same(a: &Graph, b: &Graph) {
        let (v, w) = (a.view(), b.view());
        assert_eq!((v.offsets, v.neighbours), (w.offsets, w.neighbours));
        assert_eq!((v.vertex_labels, v.edge_labels), (w.vertex_labels, w.edge_labels));
        assert_eq!(a.original_ids(), b.original_ids());
        assert_eq!((a.order(), a.stats()), (b.order(), b.stats()));
    }

    #[test]
    fn round_trip_from_memory_and_from_a_mapped_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.gramer");
        let empty = Builder::new().build();
        let mut identity = Builder::new();
        identity.edge(0, 1);
        let mut isolated = Builder::new();
        isolated.vertex_range(0..5);
        for graph in [sample(false), sample(true), empty, identity.build(), isolated.build()] {
            same(&graph, &from_bytes(&path, &bytes(&graph)).unwrap());
            write(&path, &graph, "sample").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), bytes(&graph));
            for verify in [true, false] {
                same(&graph, &open(&path, verify).unwrap());
            }
            assert_eq!(name(&path).unwrap().as_deref(), Some("sample"));
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        for graph in [sample(false), sample(true)] {
            let good = bytes(&graph);
            for at in 0..good.len() {
                for bit in 0..8 {
                    let mut bad = good.clone();
                    bad[at] ^= 1 << bit;
                    refused(&bad);
                }
                refused(&good[..at]);
            }
            let mut longer = good.clone();
            longer.push(0);
            assert!(refused(&longer).contains("goes on after its end"));
        }
    }

    /// The image with its checksums made right again.
    fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
        seal(&mut bytes);
        bytes
    }

    #[test]
    fn each_reason_is_named() {
        let good = bytes(&sample(true));
        let with = |at: usize, new: &[u8]| {
            let mut bytes = good.clone();
            bytes[at..at + new.len()].copy_from_slice(new);
            bytes
        };
        assert!(refused(b"1 2\n").contains("is no graph image"));
        assert!(refused(&good[..100]).contains("cut off: 100 bytes"));
        assert!(refused(&good[..good.len() - 1]).contains("is cut off"));
        let version = refused(&with(8, &2u32.to_le_bytes()));
        assert!(version.contains("version 2, but this program reads version 1"), "{version}");
        assert!(refused(&with(12, &[1, 2, 3, 4])).contains("big-endian"));
        assert!(refused(&with(50, &[9])).contains("checksum of its header"));
        assert!(refused(&with(good.len() - 3, b"?")).contains("checksum of its data"));
        let order = refused(&resealed(with(28, &7u32.to_le_bytes())));
        assert!(order.contains("unknown order 7"), "{order}");
        let vertices = refused(&resealed(with(32, &u64::MAX.to_le_bytes())));
        assert!(vertices.contains("impossible"), "{vertices}");
        // The first section now claims another kind, or another place.
        let missing = refused(&resealed(with(HEADER, &99u32.to_le_bytes())));
        assert!(missing.contains("section of kind 99"), "{missing}");
        let outside = refused(&resealed(with(HEADER + 8, &(1u64 << 40).to_le_bytes())));
        assert!(outside.contains("outside"), "{outside}");
        let twice = refused(&resealed(with(HEADER + ENTRY, &kind::OFFSETS.to_le_bytes())));
        assert!(twice.contains("doesn't fit") || twice.contains("twice"), "{twice}");
    }

    #[test]
    fn rows_that_lie_are_refused_even_with_right_checksums() {
        let graph = sample(false);
        let wrong_rows: [(&str, &[u32]); 6] = [
            ("a neighbour is no vertex", &[1, 2, 0, 2, 0, 1, 9, 2]),
            ("doesn't ascend", &[2, 1, 0, 2, 0, 1, 3, 2]),
            ("doesn't ascend", &[1, 1, 0, 2, 0, 1, 3, 2]),
            ("holds its own vertex", &[0, 2, 0, 2, 0, 1, 3, 2]),
            // Degrees stay, but 0 and 3 lead where nothing leads back.
            ("in the row of only one", &[1, 2, 0, 2, 0, 1, 3, 1]),
            ("in the row of only one", &[1, 3, 0, 2, 0, 1, 3, 2]),
        ];
        for (reason, neighbours) in wrong_rows {
            let mut out = Vec::new();
            let sections = [
                Section {
                    kind: 1,
                    required: true,
                    data: bytemuck::cast_slice(graph.view().offsets),
                },
                Section { kind: 2, required: true, data: bytemuck::cast_slice(neighbours) },
            ];
            write_sections(&mut out, &graph, &sections).unwrap();
            assert!(refused(&out).contains(reason));
        }
        let mut out = Vec::new();
        let sections = [
            Section { kind: 1, required: true, data: bytemuck::cast_slice(&[0u64, 9, 4, 7, 8]) },
            Section {
                kind: 2,
                required: true,
                data: bytemuck::cast_slice(graph.view().neighbours),
            },
        ];
        write_sections(&mut out, &graph, &sections).unwrap();
        assert!(refused(&out).contains("row offsets"));
        // The offsets are checked without verification too.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.gramer");
        std::fs::write(&path, &out).unwrap();
        assert!(open(&path, false).unwrap_err().to_string().contains("row offsets"));
    }

    #[test]
    fn sections_of_later_versions_are_skipped_unless_they_must_be_known() {
        let graph = sample(false);
        for (required, readable) in [(false, true), (true, false)] {
            let mut out = Vec::new();
            let ids = bytemuck::cast_slice(graph.original_ids());
            let sections = [
                Section { kind: 77, required, data: b"something new" },
                Section {
                    kind: 1,
                    required: true,
                    data: bytemuck::cast_slice(graph.view().offsets),
                },
                Section {
                    kind: 2,
                    required: true,
                    data: bytemuck::cast_slice(graph.view().neighbours),
                },
                Section { kind: 5, required: true, data: ids },
            ];
            write_sections(&mut out, &graph, &sections).unwrap();
            if readable {
                same(&graph, &from_bytes(Path::new("x"), &out).unwrap());
            } else {
                assert!(refused(&out).contains("section of kind 77"));
            }
        }
    }
}
