//! A graph on a device for programs of users, and what the device does to segments of their tables.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gramer_base::context::{Cancel, Context, Progress};
use gramer_base::error::{Error, Result};
use gramer_graph::{Graph, VertexId};

use super::super::graph::{GraphRequest, TableGraph, defines};
use super::super::pages::{Access, PageShape};
use super::super::run::{Step, TableRun};
use super::super::shape::{LANES, TableArena};
use super::super::store::{Room, Segment};
use super::super::whole::SCAN;
use super::super::{COMMON, Lists, Merge, PACK, PAGES, SHARED, TABLE, TableSettings};
use super::MOST_VERTICES;
use super::filter::{Labels, Terms};
use super::grouping::GroupingTotals;
use super::source::{self, EMBEDDING, Functions};
use crate::Gpu;
use crate::device::{Arg, Device};
use crate::graph::{ByDegree, Numbering};
use crate::plan::DepthLimit;
use crate::program::Program;

const ROWS: &str = include_str!("../../../kernels/rows.cl");
const EDGES: &str = include_str!("../../../kernels/edges.cl");
/// Rows of a launch: between launches a stop is heard.
pub(super) const MOST_ROWS: usize = 1 << 16;

/// Order of the vertices while tables are built. Rows always hold ids of the graph; the order decides what
/// [`Filter::above`](super::Filter::above) and canonical orders compare, and what functions in OpenCL C get as
/// vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Numbers {
    /// By id: functions get ids.
    #[default]
    Ids,
    /// By ascending number of neighbours, then by id: functions get places in that order. No vertex has more than
    /// √(2E) neighbours above it, which cliques on graphs with hubs gain by.
    Degree,
}

/// A graph on a device, on which any number of [`Table`](super::Table)s are made.
///
/// The graph's offsets and labels lie in the device's memory, its lists too where they fit, else by pages; what
/// is left is room for the part of a table that is worked on. Tables lie in the host's memory, and beyond
/// [`TableSettings::host_memory`](crate::TableSettings::host_memory) in a file of
/// [`TableSettings::spill`](crate::TableSettings::spill). One operation runs at a time: others wait.
pub struct Mining {
    gpu: Gpu,
    context: Context,
    pub(in crate::table) by: Arc<ByDegree>,
    labels: Labels,
    held: Mutex<TableGraph>,
    /// Totals of grouping.
    pub(in crate::table) grouped: GroupingTotals,
}

/// The kernels of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernels {
    /// Extension by vertices; whether numbers of neighbours are looked at.
    Extension { degrees: bool },
    /// Rows of vertices.
    Rows,
    /// All of tables of edges.
    Edges,
}

/// Steps applied to the rows of a segment.
#[derive(Clone, Copy)]
pub(super) struct SegmentSteps<'r> {
    pub program: &'r Program,
    pub step: &'r Step,
    /// Whether elements are edges.
    pub edges: bool,
}

impl Mining {
    /// A graph on a device, with vertices by id, until the end.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for 2³¹ edges and more, and if the budget is too small for offsets, labels, a
    /// page and a block of each column; the message has the least that would do. [`Error::Device`].
    pub fn new(gpu: &Gpu, graph: &Graph) -> Result<Self> {
        Self::with(gpu, graph, Numbers::default(), &Context::default())
    }

    /// Creates it with another order of vertices, and with a flag that stops operations.
    ///
    /// # Errors
    /// As [`Mining::new`], and [`Error::Interrupted`].
    pub fn with(gpu: &Gpu, graph: &Graph, numbers: Numbers, context: &Context) -> Result<Self> {
        let numbering = match numbers {
            Numbers::Ids => Numbering::Own,
            Numbers::Degree => Numbering::Degree,
        };
        let by = Arc::new(ByDegree::new(graph, numbering, context)?);
        let view = graph.view();
        let (of_vertices, of_edges) = (view.vertex_labels.is_some(), view.edge_labels.is_some());
        Self::labelled(gpu, graph, by, Labels { of_vertices, of_edges }, context)
    }

    /// Creates it with vertices in this order, and with these of the graph's labels.
    fn labelled(
        gpu: &Gpu,
        graph: &Graph,
        by: Arc<ByDegree>,
        labels: Labels,
        context: &Context,
    ) -> Result<Self> {
        let access = gpu.of_tables().access;
        let wanted = GraphRequest {
            oriented: false,
            edge_labels: labels.of_edges,
            vertex_labels: labels.of_vertices,
            columns: MOST_VERTICES,
            breadth: true,
            share: false,
            // Separates rows that wait for pages from rows to look up.
            levels: if access == Access::Defer { 2 } else { 1 },
            groups: true,
            warps: None,
            limit: DepthLimit::SMALL,
        };
        let held = TableGraph::new(gpu.device()?, &by, graph, wanted, access, context)?;
        Ok(Mining {
            gpu: gpu.clone(),
            context: context.clone(),
            by,
            labels,
            held: Mutex::new(held),
            grouped: GroupingTotals::default(),
        })
    }

    /// Creates it for a task, with vertices in a known order, and with all labels of the graph or none.
    ///
    /// # Errors
    /// As [`Mining::with`].
    pub(crate) fn of_task(
        gpu: &Gpu,
        graph: &Graph,
        by: Arc<ByDegree>,
        labels: bool,
        context: &Context,
    ) -> Result<Self> {
        let view = graph.view();
        let of_vertices = labels && view.vertex_labels.is_some();
        let of_edges = labels && view.edge_labels.is_some();
        Self::labelled(gpu, graph, by, Labels { of_vertices, of_edges }, context)
    }

    /// Whether it is of the graph with all of its labels, or with none.
    pub(crate) fn is_of_task(&self, graph: &Graph, labels: bool) -> bool {
        let view = graph.view();
        self.labels.of_vertices == (labels && view.vertex_labels.is_some())
            && self.labels.of_edges == (labels && view.edge_labels.is_some())
    }

    /// The next task, with its own flag to stop and progress.
    pub(crate) fn begin_task(&mut self, context: &Context) {
        self.context = context.clone();
        self.grouped = GroupingTotals::default();
    }

    /// Progress of the work.
    pub(super) fn progress(&self) -> &Progress {
        &self.context.progress
    }

    /// Pages of the graph's lists, and how many of them have room on the device; none where the lists are there
    /// whole.
    pub fn pages(&self) -> Option<(usize, usize)> {
        match &self.lock().lists {
            Lists::Whole(_) => None,
            Lists::PagedLists(paged) => {
                Some((PageShape::pages(paged.bits, self.by.neighbours.len()), paged.heat.slots()))
            }
        }
    }

    /// Pages that were copied so far, and passes over rows that waited for some.
    pub(crate) fn exchanged(&self) -> (u64, u64) {
        match &self.lock().lists {
            Lists::Whole(_) => (0, 0),
            Lists::PagedLists(paged) => (paged.copied, paged.passes),
        }
    }

    pub(super) fn labels(&self) -> Labels {
        self.labels
    }

    /// The id of a vertex that has this number.
    pub(super) fn id(&self, number: u32) -> VertexId {
        self.by.vertex[number as usize]
    }

    /// The ends of the edge with this place in the lists, by their numbers.
    pub(super) fn ends(&self, entry: u32) -> (u32, u32) {
        let from = self.by.offsets.partition_point(|&at| at <= entry) - 1;
        (from as u32, self.by.neighbours[entry as usize])
    }

    /// Cancellation of operations.
    pub(super) fn cancel(&self) -> &Cancel {
        &self.context.cancel
    }

    pub(super) fn device(&self) -> Result<&Arc<Device>> {
        self.gpu.device()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, TableGraph> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How warps merge sorted lists.
    pub(super) fn merge(&self) -> Merge {
        self.gpu.of_tables().merge
    }

    pub(super) fn room(&self) -> Room {
        let TableSettings { host_memory, spill, .. } = self.gpu.of_tables();
        Room::of(*host_memory, spill.as_deref())
    }

    /// Rows of this many columns that can be extended at once.
    pub(super) fn rows_at_once(&self, columns: usize) -> usize {
        let held = self.lock();
        let next = (columns + 1).min(MOST_VERTICES) as u64;
        TableArena::new(held.arena.len() as u64, next, held.warps).rows as usize
    }

    /// A program with the functions of a user.
    ///
    /// # Errors
    /// [`Error::Usage`] where a function doesn't compile.
    pub(super) fn program(&self, kernels: Kernels, functions: &Functions) -> Result<Arc<Program>> {
        let pages = {
            let lists = &self.lock().lists;
            (matches!(lists, Lists::PagedLists(_)), lists.wait())
        };
        if pages.1 {
            no_other_lists(kernels, functions)?;
        }
        self.built(kernels, functions, pages)
    }

    /// Builds a program, given whether lists are paged, and whether rows wait for pages.
    fn built(
        &self,
        kernels: Kernels,
        functions: &Functions,
        pages: (bool, bool),
    ) -> Result<Arc<Program>> {
        let device = self.gpu.device()?;
        let (own, none) = (functions.text(), functions.0.is_empty());
        let defines = self.defines(device, kernels, none, pages);
        let built = match kernels {
            // The same program as the strategy's, built once for both.
            Kernels::Extension { .. } if none => {
                device.program("table", &[COMMON, &defines, SHARED, TABLE, PAGES])
            }
            Kernels::Extension { .. } => {
                let sources = [COMMON, &defines, SHARED, EMBEDDING, &own, TABLE, PAGES];
                device.program("extension with functions of the user", &sources)
            }
            Kernels::Rows => {
                let sources = [COMMON, &defines, SHARED, EMBEDDING, &own, ROWS];
                device.program("rows of tables", &sources)
            }
            Kernels::Edges => {
                let sources = [COMMON, &defines, SHARED, PAGES, EMBEDDING, &own, EDGES];
                device.program("tables of edges", &sources)
            }
        };
        match built {
            Err(error) if !none => {
                source::fault(device, &defines, functions)?;
                Err(error)
            }
            built => built,
        }
    }

    fn defines(
        &self,
        device: &Device,
        kernels: Kernels,
        plain: bool,
        (paged, waits): (bool, bool),
    ) -> String {
        let mut text = defines(device, DepthLimit::SMALL);
        let shared = plain && matches!(kernels, Kernels::Extension { .. });
        for (name, set) in [
            ("PAGED", paged),
            ("DEFER", waits),
            ("DEGREES", kernels == Kernels::Extension { degrees: true }),
            ("OF_EDGES", kernels == Kernels::Edges),
            // The strategy's own program takes labels in another form.
            ("VERTEX_LABELS", self.labels.of_vertices && !shared),
            ("EDGE_LABELS", self.labels.of_edges && !shared),
        ] {
            if set {
                text.push_str(&format!("#define {name}\n"));
            }
        }
        text
    }

    pub(super) fn pack(&self) -> Result<Arc<Program>> {
        let device = self.gpu.device()?;
        let scan = format!("#define SCAN {}\n", device.lanes(SCAN));
        device.program("pack", &[COMMON, &scan, PACK])
    }

    /// Does something with each part of a segment that fits, with room for this many columns; a run that fails
    /// leaves nothing in the queue. What was counted comes back.
    pub(super) fn over(
        &self,
        over: &SegmentSteps<'_>,
        (segment, columns): (Segment, usize),
        work: &mut dyn FnMut(&mut TableRun<'_>, &TableArena, u32) -> Result<()>,
    ) -> Result<u128> {
        let mut held = self.lock();
        let graph = &mut *held;
        graph.begin()?;
        let arena = TableArena::new(graph.arena.len() as u64, columns as u64, graph.warps);
        let mut run = TableRun::new(graph, over.program, &[], 0, &self.context);
        (run.edges, run.extends_to_the_end) = (over.edges, false);
        let parts = segment.parts(arena.rows as usize);
        let done = parts.into_iter().try_for_each(|part| {
            let rows = run.load(&arena, &part, 0)?;
            work(&mut run, &arena, rows)
        });
        if done.is_err() {
            let _ = held.device.finish();
        }
        done?;
        Ok(held.sums()?[0])
    }

    /// Extends the rows of a segment by each of these steps; `found` gets the new table's segments. Without
    /// it the new rows are only counted.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Device`], and those of `found`.
    pub(super) fn extend(
        &self,
        (program, edges): (&Program, bool),
        segment: Segment,
        steps: &[Step],
        mut found: Option<&mut dyn FnMut(Segment) -> Result<()>>,
    ) -> Result<u128> {
        let Some(step) = steps.first() else { return Ok(0) };
        let pack = self.pack()?;
        let columns = segment.rows.len() + 1;
        let over = SegmentSteps { program, step, edges };
        self.over(&over, (segment, columns), &mut |run, arena, rows| {
            let out = found.is_some().then_some(arena.out);
            let complete = run.in_steps(0, (rows, out), steps, &mut |run, region, blocks| {
                let segment = run.pack(&pack, arena, (region, blocks), 0)?;
                if let Some(found) = found.as_mut() {
                    found(segment)?;
                }
                Ok(true)
            })?;
            if complete { Ok(()) } else { Err(Error::Interrupted) }
        })
    }

    /// Launches a kernel that reads lists over some of this many rows, a part at a time, with two words more by the first
    /// row of a part; where lists aren't all on the device, in passes over the rows that have theirs.
    pub(super) fn read_rows(
        &self,
        run: &mut TableRun<'_>,
        kernel: &str,
        (rows, from, to): (u32, u32, u32),
        more: &dyn Fn(u32) -> [u32; 2],
    ) -> Result<()> {
        let waits = run.graph.lists.wait();
        let mut program = None;
        if waits {
            let every = Terms::next_to_all(run.columns.len());
            run.describe(1, (rows, None), &every.step())?;
            let functions = Functions::default();
            let pages = (true, true);
            program = Some(self.built(Kernels::Extension { degrees: false }, &functions, pages)?);
        }
        let mut first_pass = true;
        loop {
            let left = match &program {
                Some(program) => run.pages_of_rows(program, (1, rows), (from, to), first_pass)?,
                None => false,
            };
            for first in (from..to).step_by(MOST_ROWS) {
                self.cancel().check()?;
                let part = (first, to.min(first + MOST_ROWS as u32));
                self.launch_rows(run, kernel, part, more(first), waits)?;
            }
            if !left {
                return Ok(());
            }
            first_pass = false;
        }
    }

    /// Launches a kernel over some rows of what is loaded, with two words more, and with those that wait for pages.
    pub(super) fn launch_rows(
        &self,
        run: &TableRun<'_>,
        kernel: &str,
        (from, to): (u32, u32),
        more: [u32; 2],
        waits: bool,
    ) -> Result<()> {
        let device = &run.graph.device;
        let labels = run.graph.labels.as_ref().map_or(run.graph.fault.raw(), |l| l.raw());
        let [slots, pages, cold] = run.graph.list_args();
        let mut args = vec![
            Arg::Buffer(run.graph.offsets.raw()),
            slots,
            pages,
            cold,
            Arg::Buffer(labels),
            Arg::Buffer(run.graph.arena.raw()),
            Arg::Buffer(run.graph.levels[0].shape.raw()),
            Arg::Buffer(run.graph.fault.raw()),
            Arg::U32(from),
            Arg::U32(to),
            Arg::U32(more[0]),
            Arg::U32(more[1]),
        ];
        args.extend(run.marks().filter(|_| waits).into_iter().flatten());
        let groups = ((to - from) as usize).div_ceil(LANES).min(64 * device.limits.units);
        device.launch(run.program, kernel, &args, groups, LANES)
    }

    /// Keeps the rows of a segment that fit a filter; `kept` gets what is left of it.
    ///
    /// # Errors
    /// As [`Mining::extend`].
    pub(super) fn keep(
        &self,
        over: &SegmentSteps<'_>,
        segment: Segment,
        canonical: bool,
        kept: &mut dyn FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let pack = self.pack()?;
        let columns = segment.rows.len();
        let kernel = if over.edges { "keep_edges" } else { "keep_rows" };
        self.over(over, (segment, columns), &mut |run, arena, rows| {
            run.describe(0, (rows, None), over.step)?;
            let more = [arena.marks, canonical.into()];
            self.read_rows(run, kernel, (rows, 0, rows), &|_| more)?;
            run.graph.device.finish()?;
            kept(marked(run, &pack, arena, rows)?)
        })?;
        Ok(())
    }

    /// Rows of this many columns that fit without new ones.
    pub(super) fn rows_of(&self, columns: usize) -> usize {
        let held = self.lock();
        TableArena::new(held.arena.len() as u64, columns as u64, held.warps).rows as usize
    }
}

/// Packs the marked rows of the loaded part.
pub(super) fn marked(
    run: &mut TableRun<'_>,
    pack: &Program,
    arena: &TableArena,
    rows: u32,
) -> Result<Segment> {
    let (last, before) = run.columns.split_last().expect("a table has a column");
    let (last, before) = (*last, before.to_vec());
    run.marked(pack, arena, (last, rows), &before)
}

/// Refuses what reads other lists than those of a row's vertices: its pages aren't waited for.
fn no_other_lists(kernels: Kernels, functions: &Functions) -> Result<()> {
    let what = if kernels == Kernels::Edges {
        // An edge is a place in a list, and a new one is looked up in that of its new vertex.
        "tables of edges, and frequent patterns by minimum images, which are mined with them, read"
    } else if functions.0.iter().any(|(_, text)| source::reads_lists(text)) {
        "functions in OpenCL C with `adjacent` or `edge_label` may read"
    } else {
        return Ok(());
    };
    Err(Error::Unsupported(format!(
        "{what} lists of other vertices than a row has, whose pages no row waits for: leave the setting `access` \
         out, or take `recent` or `cold`"
    )))
}
