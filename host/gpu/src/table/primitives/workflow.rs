//! DuMato's loop of extension, filter and aggregation (Ferraz et al., sections 4.1 and 4.2).

use std::ops::ControlFlow;

use gramer_base::error::{Error, Result};
use gramer_graph::VertexId;

use super::super::store::Segment;
use super::aggregation::Aggregation;
use super::extension::Extension;
use super::filter::Filter;
use super::groups::{Groups, Key, Layout, Measure};
use super::mining::Mining;
use super::rows::visit_rows;
use super::segment::SegmentBuffer;
use super::table::Table;
use super::{MOST_VERTICES, Positions, Vertices};

/// First vertices of a task that are taken at a time: then a stop is heard and progress shown.
const ROOTS: usize = 1 << 16;

/// Subgraphs of `k` vertices, found by the same extension and filter at each depth: DuMato's programs of Alg. 9.
///
/// What the device finds of a part of the subgraphs is extended to the end before more is made, so that memory
/// follows the number of extensions of a part and not the number of subgraphs; what the host's memory for tables
/// has no room for goes to a file. It runs on the tables of this module: the kernel of the strategy `wide` has
/// its rule for the order built in, and wants the graph whole on the device.
///
/// ```no_run
/// use gramer_gpu::primitives::{Filter, Mining, Workflow};
/// use gramer_gpu::{Gpu, Settings};
/// use gramer_base::Error;
/// use gramer_graph::Builder;
/// # let mut builder = Builder::new();
/// # (1..4).for_each(|v| { builder.edge(0, v); });
/// # let graph = builder.build();
///
/// let gpu = Gpu::open("gpu", &Settings::default())?;
/// let mining = Mining::new(&gpu, &graph)?;
/// let motifs = Workflow::new(4).extend(..).filter(Filter::canonical());
/// for group in &motifs.aggregate_pattern(&mining)? {
///     println!("{:?}: {}", group.by, group.value);
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Workflow {
    k: usize,
    first: Filter,
    by: Positions,
    filter: Filter,
}

impl Workflow {
    /// Subgraphs of `k` vertices, 2 to 16: all sets and orders in which each vertex but the first is a neighbour
    /// of an earlier one.
    pub fn new(k: usize) -> Self {
        Workflow { k, first: Filter::any(), by: (..).into(), filter: Filter::any() }
    }

    /// The first vertices; all by default.
    #[must_use]
    pub fn first(mut self, filter: Filter) -> Self {
        self.first = self.first.and(filter);
        self
    }

    /// New vertices are neighbours of any of these: `0..1` for cliques, `..` (the default) for motifs.
    /// Positions that an embedding doesn't have yet are left out.
    #[must_use]
    pub fn extend(mut self, by: impl Into<Positions>) -> Self {
        self.by = by.into();
        self
    }

    /// Requires new vertices to fit this filter as well, at each depth: `..` and [`Positions::last`] refer to the
    /// embedding at that depth.
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = self.filter.and(filter);
        self
    }

    /// Their number (DuMato's `aggregate_counter`).
    ///
    /// # Errors
    /// As [`Table::extend_vertex`]; [`Error::Usage`] for k out of range.
    pub fn aggregate_counter(&self, mining: &Mining) -> Result<u128> {
        let mut sum = 0;
        self.run(mining, &mut |segment, last| {
            sum += last.count(mining, segment)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(sum)
    }

    /// Their number by vertex-induced pattern (DuMato's `aggregate_pattern`).
    ///
    /// # Errors
    /// As [`Workflow::aggregate_counter`].
    pub fn aggregate_pattern(&self, mining: &Mining) -> Result<Groups> {
        self.check()?;
        let layout = Layout::of(mining, false, self.k);
        let mut groups = Aggregation::new(mining, layout, &Key::Pattern, &Measure::Count)?;
        self.found(mining, &mut |segment| {
            groups.take(segment)?;
            Ok(ControlFlow::Continue(()))
        })?;
        groups.end(None)
    }

    /// [`Workflow::aggregate_pattern`] from these first vertices on, by their numbers, or from all. The flag says
    /// whether the run went to its end: what was met until a stop is counted.
    ///
    /// # Errors
    /// As [`Workflow::aggregate_counter`].
    pub(crate) fn patterns_from(
        &self,
        mining: &Mining,
        roots: Option<&[u32]>,
    ) -> Result<(Groups, bool)> {
        let layout = Layout::of(mining, false, self.k);
        let mut groups = Aggregation::new(mining, layout, &Key::Pattern, &Measure::Count)?;
        let mut part = |segment: Segment, last: &Extension| {
            each(self.extended(mining, self.k, segment, last)?, &mut |segment| {
                groups.take(segment)?;
                Ok(ControlFlow::Continue(()))
            })
        };
        let all = (0..mining.by.vertices() as u32).collect::<Vec<_>>();
        let roots = roots.unwrap_or(&all);
        mining.progress().begin(roots.len() as u64);
        let done = roots.chunks(ROOTS).try_for_each(|roots| {
            let table = Table::of(mining, roots.iter().copied())?;
            self.run_from(mining, &table, &mut part)?;
            mining.progress().add(roots.len() as u64);
            Ok(())
        });
        match done {
            Ok(()) => Ok((groups.end(None)?, true)),
            Err(Error::Interrupted) => Ok((groups.end(None)?, false)),
            Err(error) => Err(error),
        }
    }

    /// Calls `visit` with the vertices of each, until it breaks (DuMato's `aggregate_store`).
    ///
    /// # Errors
    /// As [`Workflow::aggregate_counter`].
    pub fn aggregate_store(
        &self,
        mining: &Mining,
        mut visit: impl FnMut(&[VertexId]) -> ControlFlow<()>,
    ) -> Result<()> {
        self.found(mining, &mut |segment| Ok(visit_rows::<Vertices>(mining, &segment, &mut visit)))
    }

    /// Calls `take` with the subgraphs, some at a time.
    fn found(
        &self,
        mining: &Mining,
        take: &mut dyn FnMut(Segment) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.run(mining, &mut |segment, last| {
            each(self.extended(mining, self.k, segment, last)?, take)
        })
    }

    /// Calls `take` with embeddings of k − 1 vertices, some at a time, and with their extension.
    fn run(&self, mining: &Mining, take: &mut SegmentSink<'_>) -> Result<()> {
        self.check()?;
        self.run_from(mining, &Table::vertices(mining, &self.first)?, take)
    }

    /// Runs from the rows of a table of first vertices.
    fn run_from(
        &self,
        mining: &Mining,
        table: &Table<'_, Vertices>,
        take: &mut SegmentSink<'_>,
    ) -> Result<()> {
        self.check()?;
        let extensions = (1..self.k)
            .map(|size| {
                // `within` leaves out what isn't there yet.
                let by = Positions::of_bits(self.by.within(size)?);
                Extension::new(mining, size, &by, &self.filter.clone().and(Filter::distinct(..)))
            })
            .collect::<Result<Vec<_>>>()?;
        table.each_segment(&mut |segment| self.deeper(mining, &extensions, segment, take))
    }

    fn deeper(
        &self,
        mining: &Mining,
        extensions: &[Extension],
        segment: Segment,
        take: &mut SegmentSink<'_>,
    ) -> Result<ControlFlow<()>> {
        let size = segment.rows.len();
        let extension = &extensions[size - 1];
        if size == extensions.len() {
            return take(segment, extension);
        }
        let found = self.extended(mining, size + 1, segment, extension)?;
        each(found, &mut |segment| self.deeper(mining, extensions, segment, take))
    }

    /// Returns the extension of a segment.
    fn extended(
        &self,
        mining: &Mining,
        columns: usize,
        segment: Segment,
        extension: &Extension,
    ) -> Result<SegmentBuffer> {
        let mut found = mining.gathered(columns);
        extension.run(mining, segment, &mut |segment| found.push(segment))?;
        Ok(found)
    }

    /// # Errors
    /// [`Error::Usage`] for k out of range.
    fn check(&self) -> Result<()> {
        if (2..=MOST_VERTICES).contains(&self.k) {
            return Ok(());
        }
        Err(Error::usage(format!(
            "a workflow finds subgraphs of 2 to {MOST_VERTICES} vertices, and {} were asked for",
            self.k
        )))
    }
}

/// Receiver of embeddings and their extension.
type SegmentSink<'t> = dyn FnMut(Segment, &Extension) -> Result<ControlFlow<()>> + 't;

/// Processes results, one segment at a time.
fn each(
    found: SegmentBuffer,
    take: &mut dyn FnMut(Segment) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    let (mut store, _) = found.end()?;
    while let Some(segment) = store.pop()? {
        if take(segment)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
