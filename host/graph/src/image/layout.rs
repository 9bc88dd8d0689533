//! Where the parts of an image are, checked.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use super::packed::{DAMAGED, GroupHead, Rows};
use super::rows::wrong_rows;
use super::{
    ALIGNMENT, BYTE_ORDER_MARK, ENTRY, HEADER, MAGIC, MAX_SECTIONS, VERSION, header_checksum, kind,
};
use crate::{
    BuildStats, Dictionaries, Graph, Label, MAX_GRAPH_VERTICES, NO_LABEL, Names, Order, Parts, View,
};
use gramer_base::Storage;
use gramer_base::context::{Cancel, Context};
use gramer_base::error::{Error, Place, Result};
use gramer_base::mapping::Mapping;

/// Source of a graph's arrays.
pub(super) enum Source {
    Map(Arc<Mapping>),
    Copy,
}

/// Location of the rows.
enum RowLayout {
    Plain { offsets: Range<usize>, neighbours: Range<usize> },
    Packed { groups: Range<usize>, words: Range<usize> },
}

impl Source {
    fn storage<T: bytemuck::Pod>(&self, bytes: &[u8], at: &Range<usize>) -> Storage<T> {
        match self {
            Source::Map(map) => Storage::mapped(map.clone(), at.clone()),
            Source::Copy => bytemuck::allocation::pod_collect_to_vec(&bytes[at.clone()]).into(),
        }
    }
}

/// A checked header: where the sections are.
pub(super) struct Layout {
    vertices: usize,
    entries: usize,
    order: Order,
    stats: BuildStats,
    rows: RowLayout,
    vertex_labels: Option<Range<usize>>,
    edge_labels: Option<Range<usize>>,
    original_ids: Option<Range<usize>>,
    /// Bounds and texts of names of vertices, of vertex labels, and of edge labels.
    names: [Option<(Range<usize>, Range<usize>)>; 3],
    pub name: Option<Range<usize>>,
    /// All sections, known or not, with their checksums.
    sections: Vec<(Range<usize>, u64)>,
    /// Bytes between sections.
    gaps: Vec<Range<usize>>,
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"))
}

/// Bytes of a group of compressed rows in their table.
const GROUP_BYTES: u64 = size_of::<GroupHead>() as u64;

/// The error of an image that contradicts itself.
fn damaged(path: &Path, what: &str) -> Error {
    let what = format!("the image is damaged: {what}; make it again with `gramer graph convert`");
    Error::input(Place::file(path), what)
}

impl Layout {
    /// Checks header and table.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let refuse = |what: String| Err(Error::input(Place::file(path), what));
        if cfg!(target_endian = "big") {
            return Err(Error::Unsupported("images need a little-endian machine".into()));
        }
        if !bytes.starts_with(&MAGIC) {
            return refuse("is not a graph image (its first bytes are others)".into());
        }
        if bytes.len() < HEADER {
            return refuse(format!(
                "the image is cut off: {} bytes are less than its header of {HEADER}",
                bytes.len()
            ));
        }
        let mark = u32_at(bytes, 12);
        if mark == BYTE_ORDER_MARK.swap_bytes() {
            return refuse("the image is big-endian; images are little-endian".into());
        }
        let version = u32_at(bytes, 8);
        if version != VERSION {
            return refuse(format!(
                "the image has version {version}, but this program reads version {VERSION}; make \
                 it again with `gramer graph convert`"
            ));
        }
        let damaged = |what: &str| Err(damaged(path, what));
        if mark != BYTE_ORDER_MARK {
            return damaged("its byte order mark is neither of the two");
        }
        let size = u64_at(bytes, 16);
        if (bytes.len() as u64) < size {
            return refuse(format!("the image is cut off: it has {} of {size} bytes", bytes.len()));
        }
        let count = u32_at(bytes, 24);
        let table_end = HEADER + ENTRY * count as usize;
        if count > MAX_SECTIONS || table_end > bytes.len() {
            return damaged("its number of sections is impossible");
        }
        let table = &bytes[HEADER..table_end];
        if header_checksum(bytes, table) != u64_at(bytes, HEADER - 8) {
            return damaged("the checksum of its header is wrong");
        }
        if (bytes.len() as u64) > size {
            return damaged("the file continues after its end");
        }
        let order = match u32_at(bytes, 28) {
            0 => Order::Input,
            1 => Order::RankOn1,
            other => return refuse(format!("the image has the unknown order {other}")),
        };
        let (vertices, entries) = (u64_at(bytes, 32), u64_at(bytes, 40));
        if vertices > MAX_GRAPH_VERTICES || entries % 2 == 1 || entries / 2 > u64::MAX / 64 {
            return damaged("its numbers of vertices and edges are impossible");
        }
        let stats = BuildStats {
            raw_edges: u64_at(bytes, 48),
            self_loops: u64_at(bytes, 56),
            duplicates: u64_at(bytes, 64),
            label_conflicts: u64_at(bytes, 72),
        };
        let mut layout = Layout {
            vertices: vertices as usize,
            entries: entries as usize,
            order,
            stats,
            rows: RowLayout::Plain { offsets: 0..0, neighbours: 0..0 },
            vertex_labels: None,
            edge_labels: None,
            original_ids: None,
            names: [const { None }; 3],
            name: None,
            sections: Vec::new(),
            gaps: Vec::new(),
        };
        layout.place(path, table, table_end, size)?;
        layout.gaps.push(layout.end(table_end)..bytes.len());
        Ok(layout)
    }

    /// End of the last section.
    fn end(&self, table_end: usize) -> usize {
        self.sections.last().map_or(table_end, |(at, _)| at.end)
    }

    /// Parses the section table that ends at `table_end`, in a file of `size` bytes.
    fn place(&mut self, path: &Path, table: &[u8], table_end: usize, size: u64) -> Result<()> {
        let damaged = |what: &str| Err(damaged(path, what));
        let (vertices, entries) = (self.vertices as u64, self.entries as u64);
        let mut found = [const { None }; kind::END];
        for entry in table.chunks_exact(ENTRY) {
            let (kind, required) = (u32_at(entry, 0), u32_at(entry, 4));
            let (offset, length) = (u64_at(entry, 8), u64_at(entry, 16));
            let end = self.end(table_end);
            let inside = offset.checked_add(length).is_some_and(|end| end <= size);
            if !inside || offset < end as u64 || offset % ALIGNMENT as u64 != 0 {
                return damaged("a section is outside of the file or overlaps another");
            }
            let at = offset as usize..(offset + length) as usize;
            self.gaps.push(end..at.start);
            self.sections.push((at.clone(), u64_at(entry, 24)));
            let expected = match kind {
                kind::OFFSETS => Some(8 * (vertices + 1)),
                kind::NEIGHBOURS | kind::EDGE_LABELS => Some(4 * entries),
                kind::VERTEX_LABELS => Some(4 * vertices),
                kind::ORIGINAL_IDS => Some(8 * vertices),
                kind::GROUPS => Some(length.next_multiple_of(GROUP_BYTES)),
                kind::PACKED => Some(length.next_multiple_of(4)),
                kind if kind::NAMES.contains(&kind) => Some(length.next_multiple_of(8).max(8)),
                _ => None,
            };
            if expected.is_some_and(|expected| expected != length) {
                return damaged("the size of a section doesn't fit the graph");
            }
            match found.get_mut(kind as usize) {
                // No section has kind 0.
                Some(found) if kind > 0 => {
                    if found.replace(at).is_some() {
                        return damaged("a section is repeated");
                    }
                }
                _ if required == 0 => {}
                _ => {
                    let what = format!(
                        "the image has a section of kind {kind}, which a newer version of this \
                         program is needed for"
                    );
                    return Err(Error::input(Place::file(path), what));
                }
            }
        }
        for (names, kind) in self.names.iter_mut().zip(kind::NAMES) {
            *names = match (found[kind as usize].take(), found[kind as usize + 1].take()) {
                (Some(bounds), Some(texts)) => Some((bounds, texts)),
                (None, None) => None,
                _ => return damaged("some sections of names are missing"),
            };
        }
        let [_, offsets, neighbours, vertex_labels, edge_labels, ids, name, groups, words, ..] =
            found;
        self.rows = match (offsets, neighbours, groups, words) {
            (Some(offsets), Some(neighbours), None, None) => {
                RowLayout::Plain { offsets, neighbours }
            }
            (None, None, Some(groups), Some(words)) => RowLayout::Packed { groups, words },
            (None, _, None, _) | (_, None, _, None) | (None, _, _, None) | (_, None, None, _) => {
                return damaged("the rows of the graph are missing");
            }
            _ => return damaged("the rows of the graph are stored twice"),
        };
        (self.vertex_labels, self.edge_labels) = (vertex_labels, edge_labels);
        (self.original_ids, self.name) = (ids, name);
        Ok(())
    }

    /// Finds a modification of the file by checksums and the bytes between sections.
    fn changed(
        &self,
        bytes: &[u8],
        source: &Source,
        cancel: &Cancel,
    ) -> Result<Option<&'static str>> {
        for (at, checksum) in &self.sections {
            let mut hash = Xxh3::new();
            for from in at.clone().step_by(AT_ONCE) {
                cancel.check()?;
                let part = from..at.end.min(from + AT_ONCE);
                hash.update(&bytes[part.clone()]);
                // Most tasks name no vertex; later passes fault the other pages in again, a few at a time.
                if let Source::Map(map) = source
                    && (part.len() == AT_ONCE || self.original_ids.as_ref() == Some(at))
                {
                    map.let_go_of(part);
                }
            }
            if hash.digest() != *checksum {
                return Ok(Some("the checksum of its data is wrong"));
            }
        }
        let between = self.gaps.iter().any(|gap| bytes[gap.clone()].iter().any(|&b| b != 0));
        Ok(between.then_some("the gaps between its sections are not zero"))
    }

    /// Whether row offsets ascend from 0 to the number of entries.
    fn offsets_ascend(&self, offsets: &[u64], cancel: &Cancel) -> Result<bool> {
        let mut ascending = (offsets[0], offsets[self.vertices]) == (0, self.entries as u64);
        for part in 0..self.vertices.div_ceil(AT_ONCE) {
            cancel.check()?;
            let first = part * AT_ONCE;
            // One more than a part, so that the steps between parts are looked at as well.
            let last = (first + AT_ONCE).min(self.vertices);
            ascending &= offsets[first..=last].is_sorted();
        }
        Ok(ascending)
    }

    /// The texts behind ids and labels.
    fn dictionaries(&self, path: &Path, bytes: &[u8], source: &Source) -> Result<Dictionaries> {
        let [vertices, vertex_labels, edge_labels] = &self.names;
        let of = |at: &Option<(Range<usize>, Range<usize>)>| {
            let Some((bounds, texts)) = at else { return Ok(None) };
            let bounds = source.storage(bytes, bounds);
            match Names::from_parts(bounds, source.storage(bytes, texts)) {
                Some(names) => Ok(Some(Arc::new(names))),
                None => Err(damaged(path, "the bounds of names don't fit their texts")),
            }
        };
        Ok(Dictionaries {
            vertices: of(vertices)?,
            vertex_labels: of(vertex_labels)?,
            edge_labels: of(edge_labels)?,
        })
    }

    /// Checks the data and puts the graph together.
    pub fn graph(
        &self,
        path: &Path,
        bytes: &[u8],
        verify: bool,
        source: &Source,
        context: &Context,
    ) -> Result<Graph> {
        let cancel = &context.cancel;
        let damaged = |what: &str| Err(damaged(path, what));
        if verify && let Some(what) = self.changed(bytes, source, cancel)? {
            return damaged(what);
        }
        let (offsets, neighbours) = match &self.rows {
            RowLayout::Plain { offsets, neighbours } => {
                let offsets: Storage<u64> = source.storage(bytes, offsets);
                if !self.offsets_ascend(&offsets, cancel)? {
                    let what = "its row offsets don't ascend from 0 to the number of entries";
                    return damaged(what);
                }
                (offsets, source.storage(bytes, neighbours))
            }
            RowLayout::Packed { groups, words } => {
                // Aligned as an array is.
                let groups: Storage<GroupHead> = source.storage(bytes, groups);
                let words: Storage<u32> = source.storage(bytes, words);
                let rows = Rows::new(&groups, &words, self.vertices, self.entries);
                match rows.map(|rows| rows.unpack(context)).transpose()? {
                    Some(Ok(rows)) => rows,
                    Some(Err(what)) => return damaged(what),
                    None => return damaged(DAMAGED),
                }
            }
        };
        let vertex_labels: Option<Storage<Label>> =
            self.vertex_labels.as_ref().map(|at| source.storage(bytes, at));
        let edge_labels: Option<Storage<Label>> =
            self.edge_labels.as_ref().map(|at| source.storage(bytes, at));
        if verify {
            let view = View {
                offsets: &offsets,
                neighbours: &neighbours,
                vertex_labels: None,
                edge_labels: edge_labels.as_deref(),
            };
            if let Some(what) = wrong_rows(view, cancel)? {
                return damaged(what);
            }
            for labels in [&vertex_labels, &edge_labels].into_iter().flatten() {
                if largest(labels, cancel)? == NO_LABEL {
                    return damaged("a label is out of range");
                }
            }
        }
        let original_ids: Option<Storage<u64>> =
            self.original_ids.as_ref().map(|at| source.storage(bytes, at));
        let names = self.dictionaries(path, bytes, source)?;
        if verify {
            let labels = [vertex_labels.as_deref(), edge_labels.as_deref()];
            let (ids, vertices) = (original_ids.as_deref(), self.vertices);
            if let Some(what) = wrong_names(&names, vertices, ids, labels, cancel)? {
                return damaged(what);
            }
        }
        Ok(Graph::from_parts(Parts {
            offsets,
            neighbours,
            vertex_labels,
            edge_labels,
            original_ids,
            names,
            order: self.order,
            stats: self.stats,
        }))
    }
}

/// Finds a fault in the texts behind labels and ids of an image; without ids they are the numbers of `all` vertices.
fn wrong_names(
    names: &Dictionaries,
    all: usize,
    ids: Option<&[u64]>,
    labels: [Option<&[Label]>; 2],
    cancel: &Cancel,
) -> Result<Option<&'static str>> {
    let Dictionaries { vertices, vertex_labels, edge_labels } = names;
    for names in [vertices, vertex_labels, edge_labels].into_iter().flatten() {
        if !names.are_sound(cancel)? {
            return Ok(Some("names are not UTF-8, or repeat"));
        }
    }
    if let Some(names) = vertices
        && ids.map_or(all > names.len(), |ids| ids.iter().any(|&id| id >= names.len() as u64))
    {
        return Ok(Some("a vertex has no name"));
    }
    for (names, labels) in [vertex_labels, edge_labels].into_iter().zip(labels) {
        if let Some(names) = names {
            let Some(labels) = labels else {
                return Ok(Some("texts are of labels that are missing"));
            };
            if !labels.is_empty() && largest(labels, cancel)? as usize >= names.len() {
                return Ok(Some("a label has no text"));
            }
        }
    }
    Ok(None)
}

/// Maximum of some numbers, or 0.
fn largest(numbers: &[u32], cancel: &Cancel) -> Result<u32> {
    let mut largest = 0;
    for part in numbers.chunks(AT_ONCE / size_of::<u32>()) {
        cancel.check()?;
        largest = part.iter().copied().fold(largest, u32::max);
    }
    Ok(largest)
}

/// Bytes or elements that are looked at between looks at the stop flag: milliseconds.
const AT_ONCE: usize = 4 << 20;
