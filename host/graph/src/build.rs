//! From lists of edges to rows.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

use super::parallel::{in_buckets, on_threads};
use super::{Graph, Label, Order, Parts, VertexId};
use crate::context::{Cancel, Context, Looks};
use crate::error::{Error, Result};

/// What was dropped when a graph was built from its input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuildStats {
    /// Edges read.
    pub raw_edges: u64,
    /// Edges from a vertex to itself, dropped.
    pub self_loops: u64,
    /// Edges that were there already, in either direction, dropped.
    pub duplicates: u64,
    /// Duplicates whose edge label differs from the one kept (the smallest).
    pub label_conflicts: u64,
}

/// Largest number of vertices of a graph: [`VertexId::MAX`] is never a vertex.
pub const MAX_GRAPH_VERTICES: u64 = VertexId::MAX as u64 - 1;

/// Ends of edges. Almost every graph has ids below 2^32, which take half the memory.
#[derive(Debug, Clone)]
pub(crate) enum Pairs {
    Narrow(Vec<[u32; 2]>),
    Wide(Vec<[u64; 2]>),
}

/// A run of edges, as one reader thread collects them.
#[derive(Debug, Clone)]
pub(crate) struct EdgeBlock {
    pub pairs: Pairs,
    /// Parallel to `pairs`, or empty.
    pub labels: Vec<Label>,
}

impl Default for EdgeBlock {
    fn default() -> Self {
        EdgeBlock { pairs: Pairs::Narrow(Vec::new()), labels: Vec::new() }
    }
}

impl EdgeBlock {
    /// Room for `edges` edges with small ids. Untouched room costs address space only.
    pub fn with_capacity(edges: usize) -> Self {
        EdgeBlock { pairs: Pairs::Narrow(Vec::with_capacity(edges)), labels: Vec::new() }
    }

    #[inline]
    pub fn push(&mut self, u: u64, v: u64) {
        match &mut self.pairs {
            Pairs::Narrow(pairs) if (u | v) >> 32 == 0 => pairs.push([u as u32, v as u32]),
            _ => self.push_wide(u, v),
        }
    }

    #[cold]
    fn push_wide(&mut self, u: u64, v: u64) {
        if let Pairs::Narrow(pairs) = &self.pairs {
            self.pairs = Pairs::Wide(pairs.iter().map(|p| p.map(u64::from)).collect());
        }
        if let Pairs::Wide(pairs) = &mut self.pairs {
            pairs.push([u, v]);
        }
    }

    pub fn len(&self) -> usize {
        match &self.pairs {
            Pairs::Narrow(pairs) => pairs.len(),
            Pairs::Wide(pairs) => pairs.len(),
        }
    }

    /// Calls `f` with the ends of each edge.
    #[inline]
    pub fn for_each(&self, mut f: impl FnMut(u64, u64)) {
        match &self.pairs {
            Pairs::Narrow(pairs) => pairs.iter().for_each(|p| f(p[0].into(), p[1].into())),
            Pairs::Wide(pairs) => pairs.iter().for_each(|p| f(p[0], p[1])),
        }
    }

    /// The ends, known to be below 2^32.
    fn narrow(&self) -> &[[u32; 2]] {
        match &self.pairs {
            Pairs::Narrow(pairs) => pairs,
            Pairs::Wide(_) => unreachable!("ids were numbered"),
        }
    }
}

/// Collects edges between original ids and turns them into a [`Graph`].
///
/// Vertices get numbers by ascending original id, so the result doesn't depend on the order in
/// which edges were added.
#[derive(Debug, Default)]
pub struct Builder {
    blocks: Vec<EdgeBlock>,
    /// Where single edges go.
    current: EdgeBlock,
    /// Ids that are in the graph even without an edge.
    declared: Vec<u64>,
    /// As `declared`, for a whole range of them.
    declared_range: Range<u64>,
    /// Labels by original id.
    vertex_labels: Vec<(u64, Label)>,
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an edge without label.
    pub fn edge(&mut self, u: u64, v: u64) {
        debug_assert!(self.current.labels.is_empty());
        self.current.push(u, v);
    }

    /// Adds an edge with a label. All edges have one, or none has.
    pub fn labelled_edge(&mut self, u: u64, v: u64, label: Label) {
        debug_assert_eq!(self.current.len(), self.current.labels.len());
        self.current.push(u, v);
        self.current.labels.push(label);
    }

    /// Adds many edges without label.
    pub fn edges(&mut self, edges: Vec<(u64, u64)>) {
        edges.into_iter().for_each(|(u, v)| self.edge(u, v));
    }

    /// Adds the edges of a reader thread.
    pub(crate) fn block(&mut self, block: EdgeBlock) {
        self.blocks.push(block);
    }

    /// Edges added so far.
    pub fn edge_count(&self) -> usize {
        self.blocks.iter().map(EdgeBlock::len).sum::<usize>() + self.current.len()
    }

    /// Declares a vertex, which then exists even without an edge.
    pub fn vertex(&mut self, id: u64) {
        self.declared.push(id);
    }

    /// Declares all vertices of a range, in place of an earlier range.
    pub fn vertex_range(&mut self, ids: Range<u64>) {
        self.declared_range = ids;
    }

    /// Declares a vertex with its label.
    pub fn labelled_vertex(&mut self, id: u64, label: Label) {
        self.vertex(id);
        self.vertex_label(id, label);
    }

    /// Labels a vertex that is declared or has an edge.
    pub fn vertex_label(&mut self, id: u64, label: Label) {
        self.vertex_labels.push((id, label));
    }

    /// Builds the graph on all cores. If any vertex has a label, those without get label 0.
    ///
    /// # Panics
    /// If there are more than 2^32 - 2 vertices.
    pub fn build(self) -> Graph {
        self.build_with(&Context::default()).expect("at most 2^32 - 2 vertices and enough memory")
    }

    /// Builds the graph on the threads of `context`, in time linear in edges and vertices apart
    /// from sorting rows. At its peak it holds the edges as pairs of `u32` and their rows:
    /// 16 bytes an edge read, 24 with edge labels.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for more than 2^32 - 2 vertices or too little memory,
    /// [`Error::Interrupted`] after Ctrl-C.
    pub fn build_with(self, context: &Context) -> Result<Graph> {
        let Builder { mut blocks, current, mut declared, declared_range, vertex_labels } = self;
        if current.len() > 0 {
            blocks.push(current);
        }
        let raw_edges = blocks.iter().map(EdgeBlock::len).sum::<usize>();
        let labelled_edges = blocks.iter().any(|b| !b.labels.is_empty());
        assert!(blocks.iter().all(|b| b.labels.len() == if labelled_edges { b.len() } else { 0 }));
        // A thread must have enough to do to be worth its start.
        let threads = context.threads().min(1 + raw_edges / 50_000);
        let cancel = &context.cancel;

        declared.sort_unstable();
        declared.dedup();
        let (numbering, ids) = number_ids(&blocks, declared, declared_range, threads, cancel)?;
        let vertices = ids.len();
        renumber(&mut blocks, &numbering, threads, cancel)?;

        let (offsets, neighbours, labels, counts) = if labelled_edges {
            // Neighbour in the upper half, so that rows sort by neighbour, then label.
            let (offsets, entries, counts) =
                rows(vertices, blocks, threads, cancel, |v, label| {
                    (u64::from(v) << 32) | u64::from(label)
                })?;
            let neighbours = entries.iter().map(|e| (e >> 32) as VertexId).collect();
            let labels: Vec<Label> = entries.iter().map(|&e| e as Label).collect();
            (offsets, neighbours, Some(labels), counts)
        } else {
            let (offsets, entries, counts) = rows(vertices, blocks, threads, cancel, |v, _| v)?;
            (offsets, entries, None, counts)
        };

        let vertex_labels = if vertex_labels.is_empty() {
            None
        } else {
            let mut by_vertex: Vec<Label> = zeroed(vertices)?;
            let mut looks = Looks::new(cancel);
            for (id, label) in vertex_labels {
                looks.check(1)?;
                by_vertex[numbering.of(id) as usize] = label;
            }
            Some(by_vertex)
        };
        drop(numbering);
        let raw_edges = raw_edges as u64;
        let stats = BuildStats {
            raw_edges,
            self_loops: counts.self_loops,
            duplicates: raw_edges - counts.self_loops - neighbours.len() as u64 / 2,
            label_conflicts: counts.conflicts / 2,
        };
        Ok(Graph::from_parts(Parts {
            offsets: offsets.into(),
            neighbours: neighbours.into(),
            vertex_labels: vertex_labels.map(Into::into),
            edge_labels: labels.map(Into::into),
            original_ids: ids.into(),
            order: Order::Input,
            stats,
        }))
    }
}

/// A zeroed array, or an error where memory is too small. Memory is taken from the system as it
/// is written to.
pub(super) fn zeroed<T: bytemuck::Zeroable>(len: usize) -> Result<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(len).map_err(|()| {
        let gib = len as f64 * size_of::<T>() as f64 / (1u64 << 30) as f64;
        Error::Unsupported(format!(
            "not enough memory for the graph (an array of {gib:.1} GiB was refused); \
             the setting `max_vertices` refuses a graph that is larger than expected before"
        ))
    })
}

/// How original ids become vertex numbers.
enum Numbering {
    /// The ids are consecutive: subtract the first.
    Offset(u64),
    /// The ids are dense: by table.
    Table(Vec<VertexId>),
    /// The ids are anywhere: `starts[(id - ids[0]) >> shift]` is where to look in `ids`, which
    /// is at the right place at once where ids are spread evenly.
    Search { ids: Vec<u64>, starts: Vec<u32>, shift: u32 },
}

impl Numbering {
    #[inline]
    fn of(&self, id: u64) -> VertexId {
        match self {
            Numbering::Offset(first) => (id - first) as VertexId,
            Numbering::Table(table) => table[id as usize],
            Numbering::Search { ids, starts, shift } => {
                let bucket = ((id - ids[0]) >> shift) as usize;
                let (low, high) = (starts[bucket] as usize, starts[bucket + 1] as usize);
                (low + ids[low..high].partition_point(|&other| other < id)) as VertexId
            }
        }
    }
}

/// Ids that are looked at between looks at the stop flag.
const AT_ONCE: usize = 1 << 20;
/// Ids by which the others are dealt into buckets.
const SAMPLE: usize = 1 << 16;

/// Numbers the ids in use by ascending id; returns them as well.
fn number_ids(
    blocks: &[EdgeBlock],
    declared: Vec<u64>,
    declared_range: Range<u64>,
    threads: usize,
    cancel: &Cancel,
) -> Result<(Numbering, Vec<u64>)> {
    let edges = blocks.iter().map(EdgeBlock::len).sum::<usize>();
    let largest_in = |block: &EdgeBlock| {
        let mut largest = 0;
        block.for_each(|u, v| largest = largest.max(u).max(v));
        largest
    };
    let largest = on_threads(threads, |t| {
        blocks.iter().skip(t).step_by(threads).map(largest_in).max().unwrap_or(0)
    })
    .into_iter()
    .chain(declared.last().copied())
    .max()
    .filter(|_| edges + declared.len() > 0);
    let Some(largest) = largest else {
        return Ok((Numbering::Offset(declared_range.start), consecutive(declared_range)?));
    };
    // Formats that declare a range have all their ids in it.
    if !declared_range.is_empty() && largest < declared_range.end {
        let smallest_in = |block: &EdgeBlock| {
            let mut smallest = u64::MAX;
            block.for_each(|u, v| smallest = smallest.min(u).min(v));
            smallest
        };
        let smallest = blocks.iter().map(smallest_in).chain(declared.first().copied()).min();
        if smallest.is_none_or(|id| id >= declared_range.start) {
            return Ok((Numbering::Offset(declared_range.start), consecutive(declared_range)?));
        }
    }

    let ends = 2 * edges as u64 + declared.len() as u64;
    let range_end = if declared_range.is_empty() { 0 } else { declared_range.end };
    let end = largest.saturating_add(1).max(range_end);
    if end <= 4 * ends.max(range_end) + 1024 {
        let used: Vec<AtomicU8> = zeroed(end as usize)?;
        let mark = |id: u64| used[id as usize].store(1, Ordering::Relaxed);
        on_threads(threads, |t| {
            for block in blocks.iter().skip(t).step_by(threads) {
                if cancel.is_cancelled() {
                    break;
                }
                block.for_each(|u, v| {
                    mark(u);
                    mark(v);
                });
            }
        });
        cancel.check()?;
        declared.into_iter().chain(declared_range).for_each(mark);
        let is_used = |id: &u64| used[*id as usize].load(Ordering::Relaxed) == 1;
        let mut ids: Vec<u64> = Vec::new();
        for first in (0..end).step_by(AT_ONCE) {
            cancel.check()?;
            ids.extend((first..end.min(first + AT_ONCE as u64)).filter(is_used));
        }
        check_vertex_count(ids.len())?;
        if ids[ids.len() - 1] - ids[0] == ids.len() as u64 - 1 {
            return Ok((Numbering::Offset(ids[0]), ids));
        }
        let mut table = zeroed::<VertexId>(end as usize)?;
        let mut looks = Looks::new(cancel);
        for (number, &id) in ids.iter().enumerate() {
            looks.check(1)?;
            table[id as usize] = number as VertexId;
        }
        return Ok((Numbering::Table(table), ids));
    }

    let mut sample = Vec::new();
    let step = (ends as usize / SAMPLE).max(1);
    let mut seen = 0;
    for block in blocks {
        cancel.check()?;
        block.for_each(|u, v| {
            seen += 1;
            // Both ends in turn: either alone may be of one kind.
            if seen % step == 0 {
                sample.push(if sample.len() % 2 == 0 { u } else { v });
            }
        });
    }
    sample.extend(declared.iter().step_by(step));
    // Each block by itself first: its ids repeat, so that little is left to sort together.
    let parts = declared.chunks(AT_ONCE).collect::<Vec<_>>();
    let sources = blocks.len() + parts.len() + usize::from(!declared_range.is_empty());
    let emit = |source: usize, take: &mut dyn FnMut(u64)| {
        if let Some(block) = blocks.get(source) {
            let mut ids = Vec::with_capacity(2 * block.len());
            block.for_each(|u, v| ids.extend([u, v]));
            ids.sort_unstable();
            ids.dedup();
            ids.into_iter().for_each(take);
        } else if let Some(part) = parts.get(source - blocks.len()) {
            part.iter().copied().for_each(take);
        } else {
            declared_range.clone().for_each(take);
        }
    };
    let mut ids = Vec::new();
    for mut bucket in in_buckets(ends as usize, sources, threads, cancel, sample, emit)? {
        cancel.check()?;
        // Equal ids are in the same bucket.
        bucket.dedup();
        ids.append(&mut bucket);
    }
    ids.shrink_to_fit();
    check_vertex_count(ids.len())?;
    let span = ids[ids.len() - 1] - ids[0];
    // About one bucket an id.
    let shift = (64 - span.leading_zeros()).saturating_sub(ids.len().ilog2());
    let mut starts: Vec<u32> = zeroed((span >> shift) as usize + 2)?;
    let mut looks = Looks::new(cancel);
    for &id in &ids {
        looks.check(1)?;
        starts[((id - ids[0]) >> shift) as usize + 1] += 1;
    }
    for bucket in 1..starts.len() {
        starts[bucket] += starts[bucket - 1];
    }
    Ok((Numbering::Search { ids: ids.clone(), starts, shift }, ids))
}

fn consecutive(range: Range<u64>) -> Result<Vec<u64>> {
    let count = range.end.saturating_sub(range.start);
    check_vertex_count(usize::try_from(count).unwrap_or(usize::MAX))?;
    let mut ids = zeroed(count as usize)?;
    ids.iter_mut().zip(range).for_each(|(slot, id)| *slot = id);
    Ok(ids)
}

fn check_vertex_count(vertices: usize) -> Result<()> {
    if vertices as u64 <= MAX_GRAPH_VERTICES {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "the graph has {vertices} vertices, but at most {MAX_GRAPH_VERTICES} are possible"
    )))
}

/// Replaces ids by vertex numbers.
fn renumber(
    blocks: &mut [EdgeBlock],
    numbering: &Numbering,
    threads: usize,
    cancel: &Cancel,
) -> Result<()> {
    let is_done = |b: &EdgeBlock| matches!(b.pairs, Pairs::Narrow(_));
    if matches!(numbering, Numbering::Offset(0)) && blocks.iter().all(is_done) {
        return Ok(());
    }
    let share = blocks.len().div_ceil(threads).max(1);
    let parts: Vec<&mut [EdgeBlock]> = blocks.chunks_mut(share).collect();
    super::parallel::for_parts(parts, |part| {
        for block in part {
            if cancel.is_cancelled() {
                return;
            }
            match &mut block.pairs {
                Pairs::Narrow(pairs) => {
                    pairs.iter_mut().for_each(|p| *p = p.map(|id| numbering.of(id.into())));
                }
                Pairs::Wide(pairs) => {
                    let narrow = pairs.iter().map(|p| p.map(|id| numbering.of(id))).collect();
                    block.pairs = Pairs::Narrow(narrow);
                }
            }
        }
    });
    cancel.check()
}

/// What went away while rows were made.
#[derive(Debug, Default, Clone, Copy)]
struct Dropped {
    self_loops: u64,
    /// Entries (both directions) dropped though their label differs from the one kept.
    conflicts: u64,
}

/// One entry of a row: a neighbour, with or without the label of the edge.
trait Entry: Copy + bytemuck::Zeroable + Ord + Send + Sync {
    fn neighbour(self) -> VertexId;
}

impl Entry for u32 {
    fn neighbour(self) -> VertexId {
        self
    }
}

impl Entry for u64 {
    fn neighbour(self) -> VertexId {
        (self >> 32) as VertexId
    }
}

/// Rows by counting sort: each thread owns a range of vertices and picks its entries out of all
/// edges. Reading an edge is sequential and far cheaper than placing it, so that this scales
/// well without atomics, and equal input gives equal rows.
fn rows<E: Entry>(
    vertices: usize,
    blocks: Vec<EdgeBlock>,
    threads: usize,
    cancel: &Cancel,
    entry: impl Fn(VertexId, Label) -> E + Sync,
) -> Result<(Vec<u64>, Vec<E>, Dropped)> {
    let mut start: Vec<u64> = zeroed(vertices + 1)?;
    let even: Vec<usize> = (0..=threads).map(|t| vertices * t / threads).collect();
    let parts: Vec<(usize, &mut [u64])> =
        even.windows(2).map(|w| w[0]).zip(split(&mut start[1..], &even)).collect();
    super::parallel::for_parts(parts, |(first, counts)| {
        for block in &blocks {
            if cancel.is_cancelled() {
                return;
            }
            for &[u, v] in block.narrow() {
                if u == v {
                    continue;
                }
                if let Some(count) = counts.get_mut((u as usize).wrapping_sub(first)) {
                    *count += 1;
                }
                if let Some(count) = counts.get_mut((v as usize).wrapping_sub(first)) {
                    *count += 1;
                }
            }
        }
    });
    cancel.check()?;
    for v in 0..vertices {
        start[v + 1] += start[v];
    }
    let entries = start[vertices] as usize;
    let raw_edges = blocks.iter().map(|b| b.len() as u64).sum::<u64>();
    let mut dropped = Dropped { self_loops: raw_edges - entries as u64 / 2, conflicts: 0 };

    // Ranges of vertices with about equal numbers of entries.
    let mut bounds: Vec<usize> = (0..threads)
        .map(|t| start.partition_point(|&s| s < (entries * t / threads) as u64).min(vertices))
        .collect();
    bounds.push(vertices);
    bounds[0] = 0;
    let positions: Vec<usize> = bounds.iter().map(|&v| start[v] as usize).collect();

    let mut raw: Vec<E> = zeroed(entries)?;
    // Where the next entry of a row goes; afterwards the row's length without duplicates.
    let mut cursor: Vec<u64> = zeroed(vertices)?;
    cursor.copy_from_slice(&start[..vertices]);
    let parts: Vec<_> = split(&mut raw, &positions)
        .into_iter()
        .zip(split(&mut cursor, &bounds))
        .zip(bounds.windows(2).map(|w| w[0]))
        .collect();
    super::parallel::for_parts(parts, |((raw, cursor), first)| {
        let base = start[first];
        let mut place = |row: VertexId, entry: E| {
            if let Some(at) = cursor.get_mut((row as usize).wrapping_sub(first)) {
                raw[(*at - base) as usize] = entry;
                *at += 1;
            }
        };
        for block in &blocks {
            if cancel.is_cancelled() {
                return;
            }
            let pairs = block.narrow();
            if block.labels.is_empty() {
                for &[u, v] in pairs.iter().filter(|p| p[0] != p[1]) {
                    place(u, entry(v, 0));
                    place(v, entry(u, 0));
                }
            } else {
                for (&[u, v], &label) in
                    pairs.iter().zip(&block.labels).filter(|(p, _)| p[0] != p[1])
                {
                    place(u, entry(v, label));
                    place(v, entry(u, label));
                }
            }
        }
    });
    cancel.check()?;
    drop(blocks);

    let parts: Vec<_> = split(&mut raw, &positions)
        .into_iter()
        .zip(split(&mut cursor, &bounds))
        .zip(bounds.windows(2).map(|w| w[0]))
        .collect();
    dropped.conflicts = super::parallel::for_parts(parts, |((raw, lengths), first)| {
        let base = start[first];
        let mut conflicts = 0;
        for (i, length) in lengths.iter_mut().enumerate() {
            if i % 4096 == 0 && cancel.is_cancelled() {
                break;
            }
            let (from, to) = (start[first + i] - base, start[first + i + 1] - base);
            let (kept, differing) = tidy(&mut raw[from as usize..to as usize]);
            *length = kept as u64;
            conflicts += differing;
        }
        conflicts
    })
    .into_iter()
    .sum();
    cancel.check()?;

    // Close the gaps that duplicates left.
    let mut kept = 0;
    let mut looks = Looks::new(cancel);
    for v in 0..vertices {
        looks.check(1)?;
        let (from, length) = (start[v] as usize, cursor[v] as usize);
        if from != kept {
            raw.copy_within(from..from + length, kept);
        }
        start[v] = kept as u64;
        kept += length;
    }
    start[vertices] = kept as u64;
    raw.truncate(kept);
    raw.shrink_to_fit();
    Ok((start, raw, dropped))
}

/// Sorts a row and moves its different neighbours to the front, each with its smallest label.
/// Returns their number, and how many of the others had another label than the one kept.
fn tidy<E: Entry>(row: &mut [E]) -> (usize, u64) {
    if row.windows(2).all(|w| w[0].neighbour() < w[1].neighbour()) {
        return (row.len(), 0);
    }
    // Rows of most files are a few ascending runs, which the stable sort merges.
    row.sort();
    let (mut kept, mut conflicts) = (1, 0);
    for i in 1..row.len() {
        if row[i].neighbour() == row[kept - 1].neighbour() {
            conflicts += u64::from(row[i] != row[kept - 1]);
        } else {
            row[kept] = row[i];
            kept += 1;
        }
    }
    (kept, conflicts)
}

/// Cuts `items` at `bounds`, which begin with 0 and end with its length.
fn split<'a, T>(mut items: &'a mut [T], bounds: &[usize]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(bounds.len() - 1);
    for w in bounds.windows(2) {
        let (part, rest) = items.split_at_mut(w[1] - w[0]);
        parts.push(part);
        items = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_and_duplicates_are_dropped_and_counted() {
        let mut b = Builder::new();
        for (u, v) in [(7, 3), (3, 7), (7, 7), (1_000_000_000_000, 3), (7, 3)] {
            b.edge(u, v);
        }
        let g = b.build();
        assert_eq!((g.vertices(), g.edges()), (3, 2));
        assert_eq!(g.original_ids(), [3, 7, 1_000_000_000_000]);
        assert_eq!(g.view().neighbours(0), [1, 2]);
        assert_eq!(g.view().neighbours(1), [0]);
        let expected =
            BuildStats { raw_edges: 5, self_loops: 1, duplicates: 2, label_conflicts: 0 };
        assert_eq!(g.stats(), expected);
    }

    #[test]
    fn of_two_edge_labels_the_smaller_is_kept() {
        let mut b = Builder::new();
        b.labelled_edge(0, 1, 9);
        b.labelled_edge(1, 0, 4);
        b.labelled_edge(1, 2, 5);
        let g = b.build();
        assert_eq!(g.view().edge_label(0, 1), Some(4));
        assert_eq!(g.view().edge_label(1, 0), Some(4));
        assert_eq!(g.view().edge_label(2, 1), Some(5));
        assert_eq!(g.view().edge_label(0, 2), None);
        assert_eq!(g.stats().label_conflicts, 1);
    }

    #[test]
    fn an_empty_builder_gives_an_empty_graph() {
        let g = Builder::new().build();
        assert_eq!((g.vertices(), g.edges()), (0, 0));
    }
}
