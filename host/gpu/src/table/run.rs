//! Extensions one after the other: depth-first over what fits into the arena at a time.

use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::Result;

use crate::device::Arg;
use crate::plan::Depth;
use crate::program::Program;

use super::graph::{CONTROL_WORDS, Lists, TableGraph, lanes};
use super::pages::{Rows, marks_of};
use super::shape::{Column, LANES, Region, Shape};

/// Target duration of a slice.
const SLICE: Duration = Duration::from_millis(20);
/// Steps of a warp in the first slice, and the least and most.
const STEPS: (f64, f64, f64) = (20_000.0, 64.0, 1e9);

/// Parameters of an extension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    /// The new vertex.
    pub next: Depth,
    /// The fewest and the most neighbours that it has, where the program looks at them.
    pub degrees: (u32, u32),
}

/// Called with the number of blocks of a new column; `false` ends the run.
pub(super) type FullHandler<'f, R> = dyn FnMut(&mut R, Region, u32) -> Result<bool> + 'f;

/// Resources used by tables.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TableUsage {
    /// Blocks that were filled.
    pub blocks: u64,
    /// Number of times that all blocks were taken before an extension was complete.
    pub refills: u64,
    /// Segments that went to the host, their bytes, and those of them that went to a file.
    pub segments: u64,
    pub spilled: u64,
    pub filed: u64,
    /// Elements that were dropped because they have no descendants.
    pub compacted: u64,
}

/// A task on a graph.
pub(super) struct TableRun<'a> {
    pub graph: &'a mut TableGraph,
    pub program: &'a Program,
    pub context: &'a Context,
    /// Added vertices by depth, from 1.
    pub plan: &'a [Depth],
    pub first_label: u32,
    pub steps: f64,
    pub used: TableUsage,
    /// Whether elements are edges, and not vertices.
    pub edges: bool,
    /// Whether the first column's extension is that of all the work, so that it shows the progress.
    pub extends_to_the_end: bool,
    /// Words of the arena for tables.
    pub(super) room: usize,
    pub(super) columns: Vec<Column>,
    /// Elements of the columns but the first, where they were loaded.
    pub(super) loaded: Vec<u32>,
    regions: Vec<Region>,
}

impl<'a> TableRun<'a> {
    /// Creates a run with room for this many roots of a share.
    pub fn new(
        graph: &'a mut TableGraph,
        program: &'a Program,
        plan: &'a [Depth],
        roots: usize,
        context: &'a Context,
    ) -> Self {
        // The last extension is only counted.
        let stored = plan.len().saturating_sub(1);
        let room = graph.arena.len() - roots;
        let mut regions = vec![];
        if stored > 0 && !graph.wanted.breadth {
            let each = room as u64 / stored as u64;
            for at in 0..stored as u64 {
                regions.push(Region::new((at * each) as u32, each, graph.warps));
            }
        }
        TableRun {
            graph,
            program,
            context,
            plan,
            first_label: gramer_graph::NO_LABEL,
            steps: STEPS.0,
            used: TableUsage::default(),
            edges: false,
            extends_to_the_end: true,
            room,
            columns: vec![Column::VERTICES],
            loaded: vec![],
            regions,
        }
    }

    /// The first column: all vertices, or these; the number of its elements.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn begin(&mut self, roots: Option<&[u32]>) -> Result<u32> {
        let Some(roots) = roots else {
            self.columns[0] = Column::VERTICES;
            return Ok(self.graph.vertices as u32);
        };
        self.columns[0] = Column { ids: self.room as u32, ..Column::VERTICES };
        self.graph.arena.write_at(&self.graph.device.queue, self.room, roots)?;
        Ok(roots.len() as u32)
    }

    /// Extends the first column to the end of the plan, depth-first: what fits into the blocks of a column is
    /// extended before the rest of the column is made. `false` once the run was cancelled.
    ///
    /// # Errors
    /// [`gramer_base::Error::Device`].
    pub fn all(&mut self, rows: u32) -> Result<bool> {
        self.deeper(rows)
    }

    fn deeper(&mut self, rows: u32) -> Result<bool> {
        let out = self.regions.get(self.columns.len() - 1).copied();
        self.extend(rows, out, &mut |run, region, blocks| {
            run.columns.push(region.column);
            let complete = run.deeper(blocks * region.column.block);
            run.columns.pop();
            complete
        })
    }

    /// Extends the last column, which has this many places; `full` is given the blocks of the new column
    /// whenever all are taken, and at the end.
    pub(super) fn extend(
        &mut self,
        rows: u32,
        out: Option<Region>,
        full: &mut FullHandler<'_, Self>,
    ) -> Result<bool> {
        let depth = self.columns.len();
        let step = Step { next: self.plan[depth - 1], degrees: (0, u32::MAX) };
        self.in_steps(depth - 1, (rows, out), &[step], full)
    }

    /// Extends by each of these steps, one after another, into the same blocks, with the buffers of a level.
    pub(super) fn in_steps(
        &mut self,
        level: usize,
        (rows, out): (u32, Option<Region>),
        steps: &[Step],
        full: &mut FullHandler<'_, Self>,
    ) -> Result<bool> {
        self.graph.levels[level].states.zero(&self.graph.device.queue)?;
        let (mut blocks, mut fresh) = (0u32, true);
        let windows = rows.div_ceil(LANES as u32);
        for (at, step) in steps.iter().enumerate() {
            self.describe(level, (rows, out), step)?;
            let mut waits = self.first_pages(level, rows)?;
            let (mut next, mut first_pass) = (0u32, true);
            loop {
                if self.context.cancel.is_cancelled() {
                    return Ok(false);
                }
                let said = self.slice(level, [next, 0, blocks, 0], fresh)?;
                if self.columns.len() == 1 && self.extends_to_the_end && first_pass {
                    let reached = said[0].min(windows) - next.min(windows);
                    self.context.progress.add(u64::from(reached) * LANES as u64);
                }
                next = said[0];
                let done = next >= windows && said[1] == 0;
                if let Some(region) = out {
                    (blocks, fresh) = (said[2].min(region.blocks), false);
                    let all_taken = said[2] > region.blocks;
                    let ends = done && !waits && at + 1 == steps.len();
                    if blocks > 0 && (all_taken || ends) {
                        self.used.blocks += u64::from(blocks);
                        self.used.refills += u64::from(all_taken);
                        let pages = self.pages();
                        if !full(self, region, blocks)? {
                            return Ok(false);
                        }
                        // Work items in the middle of an element still need its pages.
                        self.pages_again(pages.as_deref())?;
                        (blocks, fresh) = (0, true);
                    }
                }
                if done && waits {
                    waits = self.next_pages(level, rows, false)?;
                    (next, first_pass) = (0, false);
                } else if done {
                    break;
                }
            }
        }
        Ok(true)
    }

    /// The pages for an extension, or for the first of its passes; whether elements wait for others.
    fn first_pages(&mut self, level: usize, rows: u32) -> Result<bool> {
        let told = self.rows(level, rows);
        let TableGraph { device, lists, .. } = &mut *self.graph;
        match lists {
            Lists::PagedLists(paged) if paged.marks().is_some() => {
                paged.begin_passes(device, &told)?
            }
            _ => {
                self.choose_pages(level, rows)?;
                return Ok(false);
            }
        }
        self.next_pages(level, rows, true)
    }

    /// The pages for the next pass of an extension; whether elements wait for others.
    fn next_pages(&mut self, level: usize, rows: u32, first: bool) -> Result<bool> {
        let told = self.rows(level, rows);
        let TableGraph { device, lists, .. } = &mut *self.graph;
        let Lists::PagedLists(paged) = lists else { return Ok(false) };
        paged.pass(device, self.program, &told, first)
    }

    /// Loads pages for an operation other than an extension that reads the lists of all vertices of some rows, given by
    /// the shape of that level; `program` has the kernels of pages.
    pub(super) fn pages_of_rows(
        &mut self,
        program: &Program,
        (level, rows): (usize, u32),
        part: (u32, u32),
        first: bool,
    ) -> Result<bool> {
        let told = Rows { part, ..self.rows(level, rows) };
        let TableGraph { device, lists, .. } = &mut *self.graph;
        let Lists::PagedLists(paged) = lists else { return Ok(false) };
        if first {
            paged.begin_passes(device, &told)?;
        }
        paged.pass(device, program, &told, first)
    }

    /// The marks of the last column's elements, and the first one's place, where they wait for pages.
    pub(super) fn marks(&self) -> Option<[Arg; 2]> {
        let Lists::PagedLists(paged) = &self.graph.lists else { return None };
        let last = self.columns.last().expect("there is a column");
        let first = marks_of(self.graph.vertices, last.ids) / 2;
        Some([paged.marks()?, Arg::U32(first as u32)])
    }

    /// Kernel arguments for the last column's elements.
    fn rows(&self, level: usize, rows: u32) -> Rows {
        let last = self.columns.last().expect("there is a column");
        let TableGraph { offsets, arena, levels, vertices, .. } = &*self.graph;
        let args = [offsets.raw(), arena.raw(), levels[level].shape.raw()].map(Arg::Buffer);
        Rows { rows, part: (0, rows), marks: marks_of(*vertices, last.ids), args }
    }

    /// Which page each slot has, where elements wait for pages.
    fn pages(&self) -> Option<Vec<u32>> {
        match &self.graph.lists {
            Lists::PagedLists(paged) => paged.state(),
            Lists::Whole(_) => None,
        }
    }

    fn pages_again(&mut self, state: Option<&[u32]>) -> Result<()> {
        let TableGraph { device, lists, .. } = &mut *self.graph;
        match (lists, state) {
            (Lists::PagedLists(paged), Some(state)) => paged.restore(device, self.program, state),
            _ => Ok(()),
        }
    }

    /// Writes the kernels' description of the columns, the new column and its requirements.
    pub(super) fn describe(
        &mut self,
        level: usize,
        (rows, out): (u32, Option<Region>),
        step: &Step,
    ) -> Result<()> {
        let words = Shape {
            columns: &self.columns,
            rows,
            out,
            next: &step.next,
            first_label: self.first_label,
            sizes: (self.graph.vertices as u32, self.graph.entries as u32),
            page: self.graph.page(),
            arena: self.graph.arena.len() as u32,
            degrees: step.degrees,
            limit: self.graph.wanted.limit,
        }
        .words();
        self.graph.levels[level].shape.write(&self.graph.device.queue, &words)
    }

    /// A launch, and the control block after it.
    fn slice(
        &mut self,
        level: usize,
        control: [u32; CONTROL_WORDS],
        fresh: bool,
    ) -> Result<[u32; CONTROL_WORDS]> {
        let marks = self.marks();
        let graph = &mut *self.graph;
        let device = graph.device.clone();
        graph.levels[level].control.write(&device.queue, &control)?;
        let level = &graph.levels[level];
        let labels = graph.labels.as_ref().map_or(graph.fault.raw(), |l| l.raw());
        let [slots, pages, cold] = graph.list_args();
        let mut args = vec![
            Arg::Buffer(graph.offsets.raw()),
            slots,
            pages,
            cold,
            Arg::Buffer(labels),
            Arg::Buffer(graph.arena.raw()),
            Arg::Buffer(level.shape.raw()),
            Arg::Buffer(level.control.raw()),
            Arg::Buffer(level.states.raw()),
            Arg::U32(self.steps as u32),
            Arg::U32(fresh.into()),
            Arg::Buffer(graph.sums.raw()),
            Arg::Buffer(graph.fault.raw()),
        ];
        args.extend(marks.into_iter().flatten());
        let begun = Instant::now();
        let kernel = if self.edges { "extend_edges" } else { "extend" };
        device.launch(self.program, kernel, &args, graph.warps, lanes(&device))?;
        let mut said = [0; CONTROL_WORDS];
        level.control.read(&device.queue, &mut said)?;
        let took = begun.elapsed().as_secs_f64().max(1e-6);
        // A slice that ended for another reason says nothing of the time that steps take.
        let factor = (SLICE.as_secs_f64() / took).clamp(0.25, 4.0);
        if said[1] > 0 || factor < 1.0 {
            self.steps = (self.steps * factor).clamp(STEPS.1, STEPS.2);
        }
        Ok(said)
    }

    /// Chooses the pages for an extension.
    fn choose_pages(&mut self, level: usize, rows: u32) -> Result<()> {
        let own = self.graph.list_args();
        let TableGraph { device, lists, arena, offsets, levels, .. } = &mut *self.graph;
        let Lists::PagedLists(paged) = lists else { return Ok(()) };
        let program = self.program;
        paged.extension(device, program, rows, |part, reads| {
            let groups = part.len().div_ceil(LANES).min(64 * device.limits.units);
            let mut args = vec![
                Arg::Buffer(offsets.raw()),
                Arg::Buffer(arena.raw()),
                Arg::Buffer(levels[level].shape.raw()),
                Arg::U32(part.start),
                Arg::U32(part.end),
                Arg::Buffer(reads.raw()),
            ];
            if !self.edges {
                return device.launch(program, "heat", &args, groups, LANES);
            }
            // The ends of edges are in the lists.
            args.extend(own);
            device.launch(program, "heat_of_edges", &args, groups, LANES)
        })
    }
}
