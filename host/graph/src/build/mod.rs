//! From lists of edges to rows.

mod ahead;
mod bounded;
mod dealt;
mod dictionary;
mod entry;
mod fill;
mod halves;
mod numbering;
mod plain;
mod position;
mod rows;
mod spill;
#[cfg(test)]
mod tests;

use std::ops::Range;

use tracing::debug_span;

use super::{AskedOrder, Dictionaries, Graph, Label, Order, Parts, VertexId};
use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::{Error, Result};
use gramer_base::memory::{self, zeroed};
use gramer_base::pages::in_large_pages;
use numbering::{IdTable, VertexIds, number_ids};
use rows::{RowSet, made};
use spill::EndFile;
pub(crate) use spill::Spill;

/// Statistics on dropped input of a graph.
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

/// Edges from which on two threads make rows in the order of the input and renumber them sooner than one makes them in
/// ranked order.
const ENOUGH_FOR_TWO: usize = 1 << 23;

/// Largest number of vertices of a graph: [`VertexId::MAX`] is never a vertex.
pub const MAX_GRAPH_VERTICES: u64 = VertexId::MAX as u64 - 1;

/// Ends of edges. Almost every graph has ids below 2^32, which take half the memory.
#[derive(Debug, Clone)]
pub(crate) enum Pairs {
    Narrow(Vec<[u32; 2]>),
    Wide(Vec<[u64; 2]>),
    /// Edges of either kind in a file; no further ones can be added.
    Spilled(EndFile),
}

/// A run of edges, as one reader thread collects them.
#[derive(Debug, Clone)]
pub(crate) struct EdgeBlock {
    pub pairs: Pairs,
    /// Parallel to `pairs`, or empty.
    pub labels: Vec<Label>,
    /// Edges that were looked at for the largest id, and that.
    looked: (usize, u64),
    /// Whether a self loop was among those that were looked at since [`EdgeBlock::largest`] told.
    loops: bool,
    /// True if the last report had one.
    looped: bool,
}

impl Default for EdgeBlock {
    fn default() -> Self {
        EdgeBlock {
            pairs: Pairs::Narrow(Vec::new()),
            labels: Vec::new(),
            looked: (0, 0),
            loops: false,
            looped: false,
        }
    }
}

impl EdgeBlock {
    /// Room for `edges` edges with small ids. Untouched room costs address space only.
    pub fn with_capacity(edges: usize) -> Self {
        let pairs = in_large_pages(Vec::with_capacity(edges));
        EdgeBlock { pairs: Pairs::Narrow(pairs), ..EdgeBlock::default() }
    }

    /// Edges that can be added before there is more memory to take.
    pub fn room(&self) -> usize {
        match &self.pairs {
            Pairs::Narrow(pairs) => pairs.capacity() - pairs.len(),
            Pairs::Wide(pairs) => pairs.capacity() - pairs.len(),
            Pairs::Spilled(_) => 0,
        }
    }

    /// Takes memory for more edges; returns whether there was some. Large arrays grow without a copy.
    pub fn grow(&mut self, edges: usize) -> bool {
        let grown = memory::trying(|| match &mut self.pairs {
            Pairs::Narrow(pairs) => pairs.try_reserve(edges).is_ok(),
            Pairs::Wide(pairs) => pairs.try_reserve(edges).is_ok(),
            Pairs::Spilled(_) => false,
        });
        grown && self.room() >= edges
    }

    #[inline]
    pub fn push(&mut self, u: u64, v: u64) {
        match &mut self.pairs {
            Pairs::Narrow(pairs) if (u | v) >> 32 == 0 => pairs.push([u as u32, v as u32]),
            _ => self.push_wide(u, v),
        }
    }

    /// The edges, if all ids so far are below 2^32: where others like them can be added.
    pub fn narrow_mut(&mut self) -> Option<&mut Vec<[u32; 2]>> {
        match &mut self.pairs {
            Pairs::Narrow(pairs) => Some(pairs),
            Pairs::Wide(_) | Pairs::Spilled(_) => None,
        }
    }

    #[cold]
    fn push_wide(&mut self, u: u64, v: u64) {
        if let Pairs::Narrow(pairs) = &self.pairs {
            let mut wide = in_large_pages(Vec::with_capacity(pairs.capacity()));
            wide.extend(pairs.iter().map(|p| p.map(u64::from)));
            self.pairs = Pairs::Wide(wide);
        }
        if let Pairs::Wide(pairs) = &mut self.pairs {
            pairs.push([u, v]);
        }
    }

    /// Adds the arcs from `u` to the vertices of a list.
    ///
    /// # Errors
    /// [`Error::Memory`] where memory is too small.
    pub fn try_extend(&mut self, u: u64, list: &[VertexId]) -> Result<()> {
        if let (Pairs::Narrow(pairs), Ok(u)) = (&mut self.pairs, u32::try_from(u)) {
            let reserved = memory::trying(|| pairs.try_reserve(list.len()));
            reserved.map_err(|_| {
                memory::refused_array((pairs.len() + list.len()) * size_of::<[u32; 2]>())
            })?;
            pairs.extend(list.iter().map(|&v| [u, v]));
        } else {
            list.iter().for_each(|&v| self.push(u, v.into()));
        }
        Ok(())
    }

    pub fn len(&self) -> usize {
        match &self.pairs {
            Pairs::Narrow(pairs) => pairs.len(),
            Pairs::Wide(pairs) => pairs.len(),
            Pairs::Spilled(pairs) => pairs.len(),
        }
    }

    /// The largest id. Each edge is looked at once, which costs least soon after it was added; whether it is a
    /// self loop too, for [`EdgeBlock::looped`].
    pub fn largest(&mut self) -> u64 {
        let (from, before) = self.looked;
        let narrow = |(most, looped): (u32, u32), p: &[u32; 2]| {
            (most.max(p[0]).max(p[1]), looped | u32::from(p[0] == p[1]))
        };
        let wide = |(most, looped): (u64, u32), p: &[u64; 2]| {
            (most.max(p[0]).max(p[1]), looped | u32::from(p[0] == p[1]))
        };
        let (new, looped) = match &self.pairs {
            Pairs::Narrow(pairs) => {
                let (most, looped) = pairs[from..].iter().fold((0, 0), narrow);
                (most.into(), looped)
            }
            Pairs::Wide(pairs) => pairs[from..].iter().fold((0, 0), wide),
            // Looked at before they went to a file.
            Pairs::Spilled(_) => (0, 0),
        };
        self.looked = (self.len(), before.max(new));
        self.looped = std::mem::take(&mut self.loops) | (looped != 0);
        self.looked.1
    }

    /// Records the largest id of the edges from `from` on, and whether they contain a self loop, as known by the
    /// caller.
    pub fn looked_at(&mut self, from: usize, most: u64, looped: bool) {
        if self.looked.0 == from {
            self.looked = (self.len(), self.looked.1.max(most));
            self.loops |= looped;
        }
    }

    /// Whether a self loop was among the edges that [`EdgeBlock::largest`] looked at last.
    pub fn looped(&self) -> bool {
        self.looped
    }

    /// The first self loop from an edge on.
    pub fn first_loop(&self, from: usize) -> Option<usize> {
        let at = match &self.pairs {
            Pairs::Narrow(pairs) => pairs[from..].iter().position(|p| p[0] == p[1]),
            Pairs::Wide(pairs) => pairs[from..].iter().position(|p| p[0] == p[1]),
            Pairs::Spilled(_) => None,
        };
        at.map(|at| from + at)
    }

    /// Calls `f` with the ends of each edge.
    #[inline]
    pub fn for_each(&self, mut f: impl FnMut(u64, u64)) {
        match &self.pairs {
            Pairs::Narrow(pairs) => pairs.iter().for_each(|p| f(p[0].into(), p[1].into())),
            Pairs::Wide(pairs) => pairs.iter().for_each(|p| f(p[0], p[1])),
            Pairs::Spilled(pairs) => pairs.for_each(&mut f),
        }
    }

    /// The ends, known to be below 2^32.
    fn narrow(&self) -> &[[u32; 2]] {
        match &self.pairs {
            Pairs::Narrow(pairs) => pairs,
            Pairs::Wide(_) | Pairs::Spilled(_) => unreachable!("ids were numbered"),
        }
    }
}

/// Collects edges between original ids and turns them into a [`Graph`].
///
/// Vertices get numbers by ascending original id, so the result doesn't depend on the order in
/// which edges were added.
///
/// ```
/// let mut builder = gramer_graph::Builder::new();
/// builder.labelled_vertex(7, 3);
/// builder.labelled_edge(7, 9, 5);
/// builder.labelled_edge(9, 7, 4);
/// let graph = builder.build();
/// // Of two labels of one edge the smaller stays; a vertex without a label gets 0.
/// assert_eq!(graph.view().edge_label(0, 1), Some(4));
/// assert_eq!((graph.view().vertex_label(0), graph.view().vertex_label(1)), (3, 0));
/// assert_eq!(graph.stats().duplicates, 1);
/// ```
#[derive(Debug, Default)]
pub struct Builder {
    blocks: Vec<EdgeBlock>,
    /// Block of single edges.
    current: EdgeBlock,
    /// Ids that are in the graph even without an edge.
    declared: Vec<u64>,
    /// As `declared`, for a whole range of them.
    declared_range: Range<u64>,
    /// Labels by original id.
    vertex_labels: Vec<(u64, Label)>,
    pub(crate) keeps_local: bool,
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty builder with room for a number of edges between ids up to `largest`, for labels of edges, and for
    /// labels of vertices.
    ///
    /// # Errors
    /// [`Error::Memory`] where the system refuses it.
    pub fn with_room(
        edges: usize,
        largest: u64,
        edge_labels: usize,
        vertex_labels: usize,
    ) -> Result<Self> {
        let pairs = match largest >> 32 {
            0 => Pairs::Narrow(memory::with_room(edges)?),
            _ => Pairs::Wide(memory::with_room(edges)?),
        };
        let labels = memory::with_room(edge_labels)?;
        let current = EdgeBlock { pairs, labels, ..EdgeBlock::default() };
        let vertex_labels = memory::with_room(vertex_labels)?;
        Ok(Builder { current, vertex_labels, ..Self::default() })
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

    /// Builds the graph on the threads of `context`, in the order of the input; see [`Builder::build_in`].
    ///
    /// # Errors
    /// As [`Builder::build_in`].
    pub fn build_with(self, context: &Context) -> Result<Graph> {
        self.build_in(Order::Input, context)
    }

    /// The order of the graph: where vertices have labels, none is kept.
    fn asked(&self, order: Order) -> AskedOrder {
        AskedOrder { order, keep_local: self.keeps_local && self.vertex_labels.is_empty() }
    }

    /// Builds the graph on the threads of `context`, in time linear in edges and vertices, apart from the sort of
    /// vertices by their ranks and of rows with labels of edges. At its peak it holds 12 bytes per edge read in
    /// addition to its arrays by vertex, 20 if several threads make rows, and 24 with edge labels. With a budget, rows
    /// are made by way of files, and arrays that grow with the edges are mapped.
    ///
    /// The graph in the order of Rank(ON_1) is what [`renumber`](crate::prepare::renumber) makes of the other. One thread, and
    /// two of a graph of some million edges, make its rows at once, in less time, unless edges have labels or there is a
    /// budget.
    ///
    /// ```
    /// use gramer_graph::prepare::renumber;
    /// use gramer_base::Context;
    /// use gramer_graph::{Builder, Order};
    ///
    /// let mut builder = Builder::new();
    /// for (u, v) in [(7, 30), (30, 12), (30, 5)] {
    ///     builder.edge(u, v);
    /// }
    /// let context = Context::default();
    /// let graph = builder.build_in(Order::RankOn1, &context)?;
    /// assert_eq!(graph.original_ids(), [30, 5, 7, 12]);
    /// assert_eq!(graph.view().neighbours(2), [0]);
    /// # Ok::<(), gramer_base::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] for more than 2^32 - 2 vertices, too little memory, or labels of edges with a
    /// budget; [`Error::Io`] where a file can't be written; [`Error::Interrupted`] after Ctrl-C.
    pub fn build_in(self, order: Order, context: &Context) -> Result<Graph> {
        let asked = self.asked(order);
        let Builder { mut blocks, current, mut declared, declared_range, vertex_labels, .. } = self;
        if current.len() > 0 {
            blocks.push(current);
        }
        let raw_edges = blocks.iter().map(EdgeBlock::len).sum::<usize>();
        let labelled_edges = blocks.iter().any(|b| !b.labels.is_empty());
        assert!(blocks.iter().all(|b| b.labels.len() == if labelled_edges { b.len() } else { 0 }));
        // A thread must have enough to do to be worth its start.
        let threads = context.threads().min(1 + raw_edges / 50_000);
        // In ranked order one thread does in one pass what several threads do in two: rows, and their new numbers.
        let alone =
            threads == 1 || threads == 2 && order == Order::RankOn1 && raw_edges < ENOUGH_FOR_TWO;
        let at_once = context.budget.is_none() && !labelled_edges && alone;
        let cancel = &context.cancel;
        let _span = debug_span!("rows", edges = raw_edges, threads).entered();

        declared.sort_unstable();
        declared.dedup();
        let budget = context.budget.as_deref();
        let declared = (declared, declared_range);
        let numbered = number_ids(&mut blocks, declared, threads, budget, cancel)?;
        let (numbering, ids, offsets, neighbours, labels, counts) = if let Some(budget) = budget {
            let IdTable::Ids(numbering, ids) = numbered else { unreachable!("with a budget") };
            bounded::check_room(ids.len(), budget)?;
            if labelled_edges {
                let what = "memory is limited, and labels of edges are held in it as a whole: leave the limit out";
                return Err(Error::Unsupported(what.into()));
            }
            let (offsets, entries, counts) =
                bounded::rows_in_file(ids.len(), blocks, &numbering, budget, cancel)?;
            let ids = VertexIds::Listed(ids);
            (numbering, ids, offsets, entries, None::<Vec<Label>>, counts)
        } else if labelled_edges {
            // Neighbour in the upper half, so that rows sort by neighbour, then label.
            let pack = |v: VertexId, label: Label| u64::from(v) << 32 | u64::from(label);
            let RowSet { numbering, ids, start, rows, dropped } =
                made(numbered, blocks, threads, cancel, pack)?;
            let neighbours = rows.iter().map(|e| (e >> 32) as VertexId).collect::<Vec<_>>();
            let labels: Vec<Label> = rows.iter().map(|&e| e as Label).collect();
            (numbering, ids, start, neighbours.into(), Some(labels), dropped)
        } else {
            let RowSet { numbering, ids, start, rows, dropped } = match at_once {
                true => plain::made(numbered, blocks, asked, context)?,
                false => dealt::made(numbered, blocks, threads, cancel)?,
            };
            (numbering, ids, start, rows.into(), None, dropped)
        };

        let vertex_labels = if vertex_labels.is_empty() {
            None
        } else {
            let mut by_vertex: Vec<Label> = zeroed(ids.len())?;
            let mut looks = CancelPoll::new(cancel);
            for (id, label) in vertex_labels {
                looks.check(1)?;
                by_vertex[numbering.of(id) as usize] = label;
            }
            Some(by_vertex)
        };
        let ranked = numbering.was_ranked();
        let raw_edges = raw_edges as u64;
        let stats = BuildStats {
            raw_edges,
            self_loops: counts.self_loops,
            duplicates: raw_edges - counts.self_loops - neighbours.len() as u64 / 2,
            label_conflicts: counts.conflicts,
        };
        let graph = Graph::from_parts(Parts {
            offsets: offsets.into(),
            neighbours,
            vertex_labels: vertex_labels.map(Into::into),
            edge_labels: labels.map(Into::into),
            original_ids: ids.stored().map(Into::into),
            names: Dictionaries::default(),
            order: if ranked { Order::RankOn1 } else { Order::Input },
            stats,
        });
        Ok(graph.ordered(asked, context)?.unwrap_or(graph))
    }
}
