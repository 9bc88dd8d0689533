//! Renumbering by Rank(ON_1).

use std::ops::Range;

use bytemuck::Zeroable;
use tracing::{debug_span, info_span};

use super::transpose::{self, Sources};
use super::{by_occurrence, fill, on_k};
use crate::{Graph, Label, Order, Parts, VertexId, View};
use gramer_base::Storage;
use gramer_base::budget::{ArrayFile, Budget};
use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::{Phase, collected, with_room, zeroed};
use gramer_base::prefetch::prefetch;

/// Vertices that a thread takes at a time where each costs the same.
const CHUNK: usize = 4096;
/// Prefetch distance, in sources.
const AHEAD: usize = 8;
/// Lines of a cache of each such row: the processor asks for those that follow.
const LINES: usize = 4;

/// Returns the graph with vertices numbered by Rank(ON_1): vertex 0 has the largest ON_1, ties are broken by the old
/// number. Labels and original ids move with their vertices, rows stay sorted. A graph already in this order is
/// returned unchanged.
///
/// Costs a scan of the edge array for ON_1 and one to fill the new rows, a sort of the vertices,
/// and 4 bytes per edge entry of temporary memory (8 with edge labels). With a budget the new rows
/// lie in files instead, and each is sorted. The result does not depend on the number of threads.
///
/// # Errors
/// [`gramer_base::Error::Interrupted`] if the run was cancelled; [`gramer_base::Error::Io`] where a file can't
/// be written.
pub fn renumber(graph: &Graph, context: &Context) -> Result<Graph> {
    if graph.order() == Order::RankOn1 {
        return Ok(graph.clone());
    }
    let _phase = Phase::begin(&"ordering the graph by rank");
    let _span = info_span!("rank", vertices = graph.vertices()).entered();
    let view = graph.view();
    let on_1 = debug_span!("on_1").in_scope(|| on_k(view, 1, context))?;
    let order = debug_span!("order").in_scope(|| by_occurrence(&on_1, context))?;
    drop(on_1);

    let mut looks = CancelPoll::new(&context.cancel);
    let mut ranks: Vec<VertexId> = zeroed(order.len())?;
    for (rank, &old) in order.iter().enumerate() {
        looks.check(1)?;
        ranks[old as usize] = rank as VertexId;
    }
    let mut offsets = with_room(order.len() + 1)?;
    let mut end = 0u64;
    offsets.push(end);
    for &old in &order {
        looks.check(1)?;
        end += view.degree(old) as u64;
        offsets.push(end);
    }

    let moved = MovedGraph { view, order: &order, ranks: &ranks, offsets: &offsets, context };
    let (neighbours, edge_labels): (Storage<VertexId>, Option<Storage<Label>>) =
        match (&context.budget, view.edge_labels) {
            (Some(budget), labels) => moved.rows_in_file(labels, budget)?,
            (None, None) => {
                let plain = Plain(&moved);
                let rows = transpose::rows(&offsets, &moved.parts(), &plain, |u, ()| u, context)?;
                (rows.into(), None)
            }
            (None, Some(labels)) => {
                let labelled = LabelledMove(&moved, labels);
                let pair = |source, label| (source, label);
                let both = transpose::rows(&offsets, &moved.parts(), &labelled, pair, context)?;
                let vertices = collected(both.iter().map(|b| b.0))?;
                (vertices.into(), Some(collected(both.iter().map(|b| b.1))?.into()))
            }
        };
    let vertex_labels =
        view.vertex_labels.map(|l| moved.gather(|old| l[old as usize])).transpose()?;
    let original_ids = moved.gather(|old| graph.original_id(old))?;
    Ok(Graph::from_parts(Parts {
        offsets: offsets.into(),
        neighbours,
        vertex_labels: vertex_labels.map(Into::into),
        edge_labels,
        original_ids: Some(original_ids.into()),
        names: graph.names().clone(),
        order: Order::RankOn1,
        stats: graph.stats(),
    })
    .made_of(graph))
}

/// A graph on its way to its new numbers.
struct MovedGraph<'a> {
    view: View<'a>,
    /// Old number by new number.
    order: &'a [VertexId],
    /// New number by old number.
    ranks: &'a [VertexId],
    /// V + 1 positions of the new rows.
    offsets: &'a [u64],
    context: &'a Context,
}

impl MovedGraph<'_> {
    /// One value a vertex, by new number.
    fn gather<T: Copy + Zeroable + Send>(
        &self,
        of_old: impl Fn(VertexId) -> T + Sync,
    ) -> Result<Vec<T>> {
        let mut values = zeroed(self.order.len())?;
        fill(&mut values, CHUNK, self.context, || (), |(), new| of_old(self.order[new]))?;
        Ok(values)
    }

    /// The new rows and their labels in files: one old row after the other, in the new order.
    fn rows_in_file(
        &self,
        labels: Option<&[Label]>,
        budget: &Budget,
    ) -> Result<(Storage<VertexId>, Option<Storage<Label>>)> {
        let mut looks = CancelPoll::new(&self.context.cancel);
        let mut neighbours = ArrayFile::create(&budget.folder)?;
        let mut beside = labels.map(|_| ArrayFile::create(&budget.folder)).transpose()?;
        let (mut row, mut row_labels): (Vec<u64>, Vec<Label>) = (vec![], vec![]);
        let mut row_neighbours: Vec<VertexId> = vec![];
        for &old in self.order {
            let range = self.view.row(old);
            looks.check(range.len() + 1)?;
            let rank = |&v: &VertexId| u64::from(self.ranks[v as usize]) << 32;
            row.clear();
            row.extend(self.view.neighbours[range.clone()].iter().map(rank));
            if let Some(labels) = labels {
                row.iter_mut().zip(&labels[range]).for_each(|(e, &label)| *e |= u64::from(label));
            }
            row.sort_unstable();
            row_neighbours.clear();
            row_neighbours.extend(row.iter().map(|e| (e >> 32) as VertexId));
            neighbours.append(&row_neighbours)?;
            if let Some(beside) = &mut beside {
                row_labels.clear();
                row_labels.extend(row.iter().map(|&e| e as Label));
                beside.append(&row_labels)?;
            }
        }
        Ok((neighbours.finish()?, beside.map(ArrayFile::finish).transpose()?))
    }

    /// The sources in a few ranges for each thread, with about as many edges each.
    fn parts(&self) -> Vec<Range<usize>> {
        let threads = self.context.threads();
        let parts = if threads == 1 { 1 } else { 4 * threads };
        let share = (self.view.neighbours.len() / parts).max(1) as u64;
        let vertices = self.order.len();
        let mut ranges = vec![];
        let mut start = 0;
        while start < vertices {
            let goal = self.offsets[start] + share;
            // At least one source, and no fewer entries than the share unless they are the last.
            let more = self.offsets[start + 1..].partition_point(|&end| end < goal);
            let end = (start + 1 + more).min(vertices);
            ranges.push(start..end);
            start = end;
        }
        ranges
    }
}

impl MovedGraph<'_> {
    /// Calls `each(row, source, position in the old array)` for the entries of some sources, in order.
    #[inline(always)]
    fn entries(&self, sources: Range<usize>, mut each: impl FnMut(VertexId, VertexId, usize)) {
        let mut looks = CancelPoll::new(&self.context.cancel);
        let (offsets, neighbours) = (self.view.offsets, self.view.neighbours);
        for source in sources {
            // Neighbouring sources were anywhere in the old order.
            if let Some(&old) = self.order.get(source + 2 * AHEAD) {
                prefetch(offsets, old as usize, 1);
            }
            if let Some(&old) = self.order.get(source + AHEAD) {
                prefetch(neighbours, offsets[old as usize] as usize, LINES);
            }
            let range = self.view.row(self.order[source]);
            if looks.check(range.len() + 1).is_err() {
                return;
            }
            for (at, &old) in range.clone().zip(&neighbours[range]) {
                each(self.ranks[old as usize], source as VertexId, at);
            }
        }
    }
}

/// The rows in their new order without labels of edges.
struct Plain<'a>(&'a MovedGraph<'a>);

impl Sources for Plain<'_> {
    type Payload = ();

    #[inline(always)]
    fn scan(&self, sources: Range<usize>, mut each: impl FnMut(VertexId, VertexId, ())) {
        self.0.entries(sources, |row, source, _| each(row, source, ()));
    }
}

/// Rows in their new order with labels of edges, by position in the old array.
struct LabelledMove<'a>(&'a MovedGraph<'a>, &'a [Label]);

impl Sources for LabelledMove<'_> {
    type Payload = Label;

    #[inline(always)]
    fn scan(&self, sources: Range<usize>, mut each: impl FnMut(VertexId, VertexId, Label)) {
        self.0.entries(sources, |row, source, at| each(row, source, self.1[at]));
    }
}
