//! What the kernels sum over arcs, vertices and pairs of vertices.

use gramer_base::error::Result;

use super::lists::Lists;
use super::orders::Order;
use super::{FiveRun, GROUP, ROOTS_GROUP, Tasks, most_groups};
use crate::device::Arg;
use crate::lanes::LANES;
use crate::memory::Buffer;

/// Neighbours of a vertex whose counters in local memory leave a compute unit room for all groups.
const FEW_NEIGHBOURS: u32 = 2048;

impl FiveRun<'_> {
    /// Sizes as arguments of kernels: vertices, arcs, words of lists.
    fn sizes(&self, lists: &Lists) -> [Arg; 3] {
        let [vertices, arcs] = self.graph.sizes();
        [vertices, arcs, Arg::U32(lists.words)]
    }

    /// The sums over triangles.
    pub(super) fn arcs(&self, lists: &Lists) -> Result<bool> {
        let (oriented, degrees) = (&self.graph.oriented, self.graph.degrees()?);
        self.launch(
            "five_arcs",
            lists.arcs.all(4 * most_groups(self.device()), LANES),
            |tasks, part| {
                let buffers =
                    [&oriented.offsets, &lists.sources, &oriented.ends, degrees, self.edges];
                let all = buffers.into_iter().chain([&lists.places, &lists.lists, tasks]);
                let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
                args.extend(part);
                args.extend(self.sizes(lists));
                args.extend([&self.sums, self.graph.fault()].map(|b| Arg::Buffer(b.raw())));
                args
            },
        )
    }

    /// The sums over a vertex, its arcs and its pairs.
    pub(super) fn roots(&self, order: &Order) -> Result<bool> {
        let (by, full) = (&self.graph.by, self.graph.full()?);
        let tasks = Tasks::new(self.device(), order)?;
        let [vertices, _] = self.graph.sizes();
        let done = self.launch(
            "five_roots",
            tasks.all(self.counters.groups, ROOTS_GROUP),
            |tasks, part| {
                let buffers = [&full.offsets, &full.ends, tasks];
                let mut args: Vec<Arg> = buffers.map(|buffer| Arg::Buffer(buffer.raw())).into();
                args.extend(part);
                args.extend([vertices, Arg::U32(by.neighbours.len() as u32)]);
                args.extend(
                    [&self.counters.buffer, &self.sums, self.graph.fault()]
                        .map(|b| Arg::Buffer(b.raw())),
                );
                args
            },
        )?;
        self.queued.borrow_mut().push(tasks.buffer);
        Ok(done)
    }

    /// The edges among the common neighbours of pairs of vertices.
    pub(super) fn edges(&self, lists: &Lists, order: &Order) -> Result<bool> {
        let (by, full, oriented) = (&self.graph.by, self.graph.full()?, &self.graph.oriented);
        let tasks = Tasks::new(self.device(), order)?;
        let done =
            self.launch("five_edges", tasks.all(self.counters.groups, GROUP), |tasks, part| {
                let buffers =
                    [&full.offsets, &full.ends, &oriented.offsets, &oriented.ends, self.edges];
                let [at_sources, at_targets] = lists.positions.each_ref();
                let own = [&lists.places, &lists.lists, at_sources, at_targets, tasks];
                let all = buffers.into_iter().chain(own);
                let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
                args.extend(part);
                let [vertices, arcs, words] = self.sizes(lists);
                args.extend([vertices, Arg::U32(by.neighbours.len() as u32), arcs, words]);
                args.push(Arg::U32(lists.local));
                args.extend(
                    [&self.counters.buffer, &self.sums, self.graph.fault()]
                        .map(|b| Arg::Buffer(b.raw())),
                );
                args
            })?;
        self.queued.borrow_mut().push(tasks.buffer);
        Ok(done)
    }

    /// The 4-cycles among the neighbours of vertices: with counters in local memory for vertices of a few and of more
    /// neighbours, in global memory for the others.
    pub(super) fn wheels(&self, lists: &Lists) -> Result<bool> {
        let (by, full, oriented) = (&self.graph.by, self.graph.full()?, &self.graph.oriented);
        let largest = (0..by.vertices()).map(|v| by.degree(v)).max().unwrap_or(0);
        let sizes = self.sizes(lists);
        let mut least = 0;
        for most in [FEW_NEIGHBOURS.min(lists.local), largest.min(lists.local)] {
            if most < least || lists.local == 0 {
                continue;
            }
            let room = 4 * (most as usize / 2 + 1);
            let args = |tasks: &Buffer<u32>, part: [Arg; 2]| {
                let buffers = [&full.offsets, &full.ends, &oriented.offsets, &lists.sources];
                let [at_sources, at_targets] =
                    lists.positions.each_ref().map(|b| Arg::Buffer(b.raw()));
                let arcs = [&oriented.ends, self.edges, &lists.places, &lists.lists];
                let all = buffers.into_iter().chain(arcs);
                let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
                args.extend([at_sources, at_targets, Arg::Buffer(tasks.raw())]);
                args.extend(part);
                args.extend(sizes);
                args.extend([Arg::U32(least), Arg::U32(most), Arg::Local(room)]);
                args.extend([&self.sums, self.graph.fault()].map(|b| Arg::Buffer(b.raw())));
                args
            };
            // A compute unit has no room for many small work-groups whose counters are large.
            let (all, groups) = (lists.arcs.works.len(), most_groups(self.device()));
            let heavy = if least == 0 { lists.heavy } else { all };
            let large = lists.arcs.some(0..heavy, groups, GROUP);
            let small = lists.arcs.some(heavy..all, 2 * groups, LANES);
            let done = self.launch("five_wheels_local", large, args)?
                && self.launch("five_wheels_small", small, args)?;
            if !done {
                return Ok(false);
            }
            least = most + 1;
        }
        if largest < least {
            return Ok(true);
        }
        self.launch("five_wheels", lists.arcs.all(self.counters.groups, LANES), |tasks, part| {
            let buffers = [&full.offsets, &oriented.offsets, &lists.sources, &oriented.ends];
            let all = buffers.into_iter().chain([self.edges, &lists.places, &lists.lists, tasks]);
            let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
            args.extend(part);
            args.extend(sizes);
            args.extend([Arg::U32(least), Arg::U32(largest)]);
            args.extend(
                [&self.counters.buffer, &self.sums, self.graph.fault()]
                    .map(|b| Arg::Buffer(b.raw())),
            );
            args
        })
    }

    /// The pairs of paths that are 5-cycles, and those that meet at one vertex.
    pub(super) fn cycles(&self, order: &Order) -> Result<bool> {
        let (by, full) = (&self.graph.by, self.graph.full()?);
        let tasks = Tasks::new(self.device(), order)?;
        let [vertices, _] = self.graph.sizes();
        let done =
            self.launch("five_cycles", tasks.all(self.counters.groups, GROUP), |tasks, part| {
                let mut args: Vec<Arg> = [&full.offsets, &full.ends, tasks]
                    .map(|buffer| Arg::Buffer(buffer.raw()))
                    .into();
                args.extend(part);
                args.extend([vertices, Arg::U32(by.neighbours.len() as u32)]);
                args.extend(
                    [&self.counters.buffer, &self.sums, self.graph.fault()]
                        .map(|b| Arg::Buffer(b.raw())),
                );
                args
            })?;
        self.queued.borrow_mut().push(tasks.buffer);
        Ok(done)
    }
}
