//! Tables of embeddings, and the primitives on them.

use std::marker::PhantomData;
use std::ops::ControlFlow;

use gramer_base::error::{Error, Result};

use super::super::store::{Segment, Store};
use super::aggregation::Aggregation;
use super::extension::Extension;
use super::filter::{EdgeFilter, Filter, Terms};
use super::grouping::Keys;
use super::groups::{Groups, Key, KeyTable, Layout, Measure, Selection, functions_of};
use super::mining::{Kernels, Mining, SegmentSteps};
use super::others::{LevelPeers, own};
use super::rows::{Rows, visit_rows};
use super::segment::SegmentBuffer;
use super::source::{FunctionRole, Functions};
use super::{Edges, FilterKind, Kind, Positions, Vertices};
use crate::local::Member;

/// A table of embeddings: rows of vertices ([`Vertices`]) or of edges ([`Edges`]).
///
/// It lies in the host's memory, and beyond a limit in a file; the device works on as much of it as it has room
/// for ([`Mining`]). An operation that fails leaves the table as it was.
pub struct Table<'m, K: Kind> {
    pub(super) mining: &'m Mining,
    pub(super) store: Store,
    rows: u64,
    columns: usize,
    /// Whether a vertex may stand twice in a row.
    walks: bool,
    kind: PhantomData<K>,
}

/// Rows that [`Table::filter`] keeps.
#[derive(Debug)]
#[non_exhaustive]
pub enum RowFilter<'f, K: Kind> {
    /// Rows whose last element fits the filter.
    Where(&'f K::Filter),
    /// Rows of these groups.
    In(&'f Selection),
}

impl<'f> From<&'f Filter> for RowFilter<'f, Vertices> {
    fn from(filter: &'f Filter) -> Self {
        RowFilter::Where(filter)
    }
}

impl<'f> From<&'f EdgeFilter> for RowFilter<'f, Edges> {
    fn from(filter: &'f EdgeFilter) -> Self {
        RowFilter::Where(filter)
    }
}

impl<'f, K: Kind> From<&'f Selection> for RowFilter<'f, K> {
    fn from(selection: &'f Selection) -> Self {
        RowFilter::In(selection)
    }
}

impl<'m> Table<'m, Vertices> {
    /// The vertices of the graph that fit the filter, a row each.
    ///
    /// # Errors
    /// [`Error::Usage`] for a filter that names positions, since there is no earlier vertex, and what
    /// [`Table::filter`] has.
    pub fn vertices(mining: &'m Mining, filter: &Filter) -> Result<Self> {
        let all = 0..mining.by.vertices() as u32;
        let mut table = Table::of(mining, all)?;
        if !filter.is_any() {
            table.filter(filter)?;
        }
        Ok(table)
    }

    /// A device's part of all vertices, or all.
    ///
    /// # Errors
    /// As [`Table::vertices`].
    pub(in crate::table) fn own_vertices(
        mining: &'m Mining,
        member: Option<Member>,
    ) -> Result<Self> {
        Table::of(mining, own(member, mining.by.vertices()).map(|v| v as u32))
    }

    /// Extends each row by every vertex that isn't in it, is a neighbour of at least one of these positions, and fits
    /// the filter (GAMMA, definition 1; DuMato's `extend`): one new row per vertex. Rows without such a vertex are
    /// dropped. `..` stands for all positions.
    ///
    /// # Errors
    /// [`Error::Usage`] for positions that aren't there, labels that the graph hasn't, rows of 16 vertices, and a
    /// function that doesn't compile; [`Error::Interrupted`]; [`Error::Io`] of the file for tables;
    /// [`Error::Device`].
    pub fn extend_vertex(&mut self, by: impl Into<Positions>, filter: &Filter) -> Result<()> {
        let filter = filter.clone().and(Filter::distinct(..));
        self.extend_by(by.into(), &filter)
    }

    /// As [`Table::extend_vertex`], but the new vertex may repeat one of the row: rows are homomorphic images, or
    /// walks. [`Filter::distinct`] says from which vertices it has to differ.
    ///
    /// # Errors
    /// As [`Table::extend_vertex`].
    pub fn extend_walk(&mut self, by: impl Into<Positions>, filter: &Filter) -> Result<()> {
        self.extend_by(by.into(), filter)?;
        self.walks = true;
        Ok(())
    }

    /// Number of rows that [`Table::extend_vertex`] would make: nothing is stored.
    ///
    /// # Errors
    /// As [`Table::extend_vertex`].
    pub fn count_extensions(&self, by: impl Into<Positions>, filter: &Filter) -> Result<u128> {
        let filter = filter.clone().and(Filter::distinct(..));
        let extension = Extension::new(self.mining, self.columns, &by.into(), &filter)?;
        let mut sum = 0;
        for at in 0..self.store.len() {
            sum += extension.count(self.mining, self.store.get(at)?)?;
        }
        Ok(sum)
    }

    /// [`Table::aggregate`] of the rows that [`Table::extend_vertex`] would make: only those of a part of the table
    /// are stored at a time.
    ///
    /// # Errors
    /// As [`Table::extend_vertex`] and [`Table::aggregate`].
    pub fn aggregate_extensions(
        &self,
        by: impl Into<Positions>,
        filter: &Filter,
        key: &Key,
        measure: &Measure,
    ) -> Result<Groups> {
        self.aggregate_extensions_of(None, (by, filter), key, measure)
    }

    /// Aggregates the rows of all devices, together with other members.
    ///
    /// # Errors
    /// Errors of the other operations.
    pub(in crate::table) fn aggregate_extensions_of(
        &self,
        others: Option<LevelPeers<'_>>,
        (by, filter): (impl Into<Positions>, &Filter),
        key: &Key,
        measure: &Measure,
    ) -> Result<Groups> {
        let filter = filter.clone().and(Filter::distinct(..));
        let extension = Extension::new(self.mining, self.columns, &by.into(), &filter)?;
        self.aggregate_with((key, measure, others), |segment, found| {
            extension.run(self.mining, segment, found)
        })
    }

    fn extend_by(&mut self, by: Positions, filter: &Filter) -> Result<()> {
        let mining = self.mining;
        let extension = Extension::new(mining, self.columns, &by, filter)?;
        let mut found = mining.gathered(self.columns + 1);
        for at in 0..self.store.len() {
            extension.run(mining, self.store.get(at)?, &mut |segment| found.push(segment))?;
        }
        (self.store, self.rows) = found.end()?;
        self.columns += 1;
        Ok(())
    }
}

impl<'m> Table<'m, Edges> {
    /// The edges of the graph that fit the filter, a row each.
    ///
    /// # Errors
    /// As [`Table::filter`].
    pub fn edges(mining: &'m Mining, filter: &EdgeFilter) -> Result<Self> {
        let mut table = Table::own_edges(mining, None)?;
        if !filter.is_any() {
            table.filter(filter)?;
        }
        Ok(table)
    }

    /// A device's part of all edges, or all.
    ///
    /// # Errors
    /// As [`Table::filter`].
    pub(in crate::table) fn own_edges(mining: &'m Mining, member: Option<Member>) -> Result<Self> {
        let by = &mining.by;
        let entries = (0..by.vertices()).flat_map(|v| {
            let (from, to) = (by.offsets[v], by.offsets[v + 1]);
            (from..to).filter(move |&e| by.neighbours[e as usize] as usize > v)
        });
        let Member { own, of } = member.unwrap_or(Member { own: 0, of: 1 });
        Table::of(mining, entries.skip(own).step_by(of))
    }

    /// Extends each row by every edge that isn't in it, shares a vertex with it, and fits the filter (GAMMA,
    /// definition 1): one new row per edge. Rows without such an edge are dropped. Without [`EdgeFilter::canonical`] a
    /// set of edges occurs in the table once for each possible order of its edges.
    ///
    /// # Errors
    /// [`Error::Usage`] for labels that the graph hasn't, rows of 15 edges, and a function that doesn't compile;
    /// else as [`Table::extend_vertex`].
    pub fn extend_edge(&mut self, filter: &EdgeFilter) -> Result<()> {
        let (mining, extension) = (self.mining, self.of_edges(filter)?);
        let mut found = mining.gathered(self.columns + 1);
        for at in 0..self.store.len() {
            extension.run(mining, self.store.get(at)?, &mut |segment| found.push(segment))?;
        }
        (self.store, self.rows) = found.end()?;
        self.columns += 1;
        Ok(())
    }

    /// [`Table::aggregate`] of the rows that [`Table::extend_edge`] would make: only those of a part of the table
    /// are stored at a time.
    ///
    /// # Errors
    /// As [`Table::extend_edge`] and [`Table::aggregate`].
    pub fn aggregate_extensions(
        &self,
        filter: &EdgeFilter,
        key: &Key,
        measure: &Measure,
    ) -> Result<Groups> {
        self.aggregate_extensions_of(None, filter, key, measure)
    }

    /// Aggregates the rows of all devices, together with other members.
    ///
    /// # Errors
    /// Errors of the other operations.
    pub(in crate::table) fn aggregate_extensions_of(
        &self,
        others: Option<LevelPeers<'_>>,
        filter: &EdgeFilter,
        key: &Key,
        measure: &Measure,
    ) -> Result<Groups> {
        let extension = self.of_edges(filter)?;
        self.aggregate_with((key, measure, others), |segment, found| {
            extension.run(self.mining, segment, found)
        })
    }

    fn of_edges(&self, filter: &EdgeFilter) -> Result<Extension> {
        Extension::of_edges(self.mining, self.columns, filter)
    }
}

impl<'m, K: Kind> Table<'m, K> {
    /// A table of one column.
    pub(super) fn of(mining: &'m Mining, ids: impl Iterator<Item = u32>) -> Result<Self> {
        let most = mining.rows_at_once(1);
        let mut found = mining.gathered(1);
        let mut part = Vec::with_capacity(most.min(1 << 20));
        for id in ids {
            part.push(id);
            if part.len() == most {
                found.push(Segment::of_column(std::mem::take(&mut part)))?;
            }
        }
        found.push(Segment::of_column(part))?;
        let (store, rows) = found.end()?;
        Ok(Table { mining, store, rows, columns: 1, walks: false, kind: PhantomData })
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Vertices, or edges, of each row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Bytes of the table that lie in a file, since the host's memory for tables was short.
    pub fn bytes_in_file(&self) -> u64 {
        self.store.written()
    }

    /// Keeps the rows whose last element fits a filter, as if it were added just now, or the rows of some groups
    /// ([`Groups::at_least`]); others are gone (GAMMA's `Filtering`).
    ///
    /// # Errors
    /// [`Error::Usage`] for positions that aren't there, labels that the graph hasn't, and a function that
    /// doesn't compile; [`Error::Interrupted`]; [`Error::Io`] of the file for tables; [`Error::Device`].
    pub fn filter<'f>(&mut self, keep: impl Into<RowFilter<'f, K>>) -> Result<()> {
        match keep.into() {
            RowFilter::Where(filter) => self.keep_where(filter),
            RowFilter::In(selection) => self.keep_in(selection),
        }
    }

    fn keep_where(&mut self, filter: &K::Filter) -> Result<()> {
        let mining = self.mining;
        let (step, canonical, functions) = match K::either(filter) {
            FilterKind::Vertex(filter) => {
                let terms = filter.terms(self.columns - 1, mining.labels())?;
                let step = (!terms.never).then(|| terms.step());
                (step, terms.canonical, Functions::keep(FunctionRole::Vertex, &filter.sources))
            }
            FilterKind::Edge(filter) => {
                let step = filter.step(mining.labels())?;
                (step, filter.is_canonical(), Functions::keep(FunctionRole::Edge, &filter.sources))
            }
        };
        let program = mining.program(kernels::<K>(), &functions)?;
        let mut kept = mining.gathered(self.columns);
        if let Some(step) = step {
            let over = SegmentSteps { program: &program, step: &step, edges: K::EDGES };
            for at in 0..self.store.len() {
                let segment = self.store.get(at)?;
                mining.keep(&over, segment, canonical, &mut |segment| kept.push(segment))?;
            }
        }
        (self.store, self.rows) = kept.end()?;
        Ok(())
    }

    fn keep_in(&mut self, selection: &Selection) -> Result<()> {
        let mining = self.mining;
        let layout = self.layout(&selection.key)?;
        let program = mining.program(kernels::<K>(), &functions_of(&selection.key))?;
        let step = Terms::default().step();
        let over = SegmentSteps { program: &program, step: &step, edges: K::EDGES };
        let width = layout.width(&selection.key);
        let keys = Keys::new(width, width, 1);
        let mut known = KeyTable::new(&selection.key, layout);
        let mut say = |key: &[u32], kept: &mut [u32]| {
            let by = known.what(key);
            kept[0] = selection.chosen.contains(by).into();
        };
        let mut kept = mining.gathered(self.columns);
        for at in 0..self.store.len() {
            let mut take = |segment| kept.push(segment);
            mining.keep_by_keys(&over, self.store.get(at)?, &keys, &mut say, &mut take)?;
        }
        (self.store, self.rows) = kept.end()?;
        Ok(())
    }

    /// Groups rows by key (GAMMA's `Aggregation`) and evaluates the measure of each group. The table is
    /// unchanged.
    ///
    /// # Errors
    /// [`Error::Usage`] for [`Measure::Mni`] of another key than patterns, the pattern of rows that
    /// [`Table::extend_walk`] made, and a function that doesn't compile; else as [`Table::filter`].
    pub fn aggregate(&self, key: &Key, measure: &Measure) -> Result<Groups> {
        self.aggregate_of(None, key, measure)
    }

    /// Aggregates the rows of all devices, together with other members.
    ///
    /// # Errors
    /// Errors of the other operations.
    pub(in crate::table) fn aggregate_of(
        &self,
        others: Option<LevelPeers<'_>>,
        key: &Key,
        measure: &Measure,
    ) -> Result<Groups> {
        let mut aggregation = Aggregation::new(self.mining, self.layout(key)?, key, measure)?;
        for at in 0..self.store.len() {
            aggregation.take(self.store.get(at)?)?;
        }
        aggregation.end(others)
    }

    /// Aggregates what `extend` makes of the segments, one after the other.
    fn aggregate_with(
        &self,
        (key, measure, others): (&Key, &Measure, Option<LevelPeers<'_>>),
        extend: impl Fn(Segment, &mut dyn FnMut(Segment) -> Result<()>) -> Result<()>,
    ) -> Result<Groups> {
        let (mining, columns) = (self.mining, self.columns + 1);
        let layout = Layout { columns, ..self.layout(key)? };
        let mut aggregation = Aggregation::new(mining, layout, key, measure)?;
        for at in 0..self.store.len() {
            // The device is another's while it extends, so that what is found waits.
            let mut found = mining.gathered(columns);
            extend(self.store.get(at)?, &mut |segment| found.push(segment))?;
            let (mut store, _) = found.end()?;
            while let Some(segment) = store.pop()? {
                aggregation.take(segment)?;
            }
        }
        aggregation.end(others)
    }

    fn layout(&self, key: &Key) -> Result<Layout> {
        if self.walks && *key == Key::Pattern {
            return Err(Error::usage(
                "rows that may have a vertex twice have no pattern: aggregate them by a function of your own",
            ));
        }
        Ok(Layout::of(self.mining, K::EDGES, self.columns))
    }

    /// Calls `visit` with each row until it breaks: ids of vertices, or pairs of them with the one first that
    /// comes first in the order of [`Numbers`](super::Numbers). Rows come in no order that could be relied
    /// on.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Io`] of the file for tables.
    pub fn visit(&self, mut visit: impl FnMut(&[K::Item]) -> ControlFlow<()>) -> Result<()> {
        for at in 0..self.store.len() {
            self.mining.cancel().check()?;
            if visit_rows::<K>(self.mining, &self.store.get(at)?, &mut visit).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls `take` with the table's segments until it breaks.
    pub(super) fn each_segment(
        &self,
        take: &mut dyn FnMut(Segment) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        for at in 0..self.store.len() {
            if take(self.store.get(at)?)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The rows as [`Table::visit`] has them, one after the other; a part of the table is read at a time.
    pub fn rows(&self) -> Rows<'_, 'm, K> {
        Rows::of(self)
    }
}

impl Mining {
    /// A place for the segments of a table of this many columns.
    pub(super) fn gathered(&self, columns: usize) -> SegmentBuffer {
        SegmentBuffer::new(&self.room(), self.rows_at_once(columns))
    }
}

/// The kernels that look at whole rows.
fn kernels<K: Kind>() -> Kernels {
    if K::EDGES { Kernels::Edges } else { Kernels::Rows }
}
