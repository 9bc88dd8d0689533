//! What the kernels sum over arcs, vertices and pairs of vertices.

use gramer_base::error::Result;

use super::lists::{Lists, Tasks};
use super::{Counters, FiveRun, GROUP, ROOTS_GROUP};
use crate::device::Arg;
use crate::lanes::LANES;

/// Neighbours of a vertex whose counters in local memory leave a compute unit room for all groups.
const FEW_NEIGHBOURS: u32 = 2048;

/// Work of a part of a root in that of the tallies that each part makes anew, and parts of all roots for each work-group.
const EDGES_TO_TALLY: f64 = 4.0;
const PARTS: f64 = 4.0;

/// Parts of roots by falling work: vertex, part | parts << 16. Roots without `works` have none.
fn parts(works: &[f64], wedges: &[f64], groups: usize) -> Vec<(f64, [u32; 2])> {
    let least = works.iter().sum::<f64>() / (PARTS * groups as f64);
    let mut tasks = vec![];
    for (v, (&work, &tally)) in works.iter().zip(wedges).enumerate() {
        let parts = (work / (EDGES_TO_TALLY * tally).max(least).max(1.0)).ceil() as u32;
        let parts = parts.min(u32::from(u16::MAX));
        let own = |part| (tally + work / f64::from(parts), [v as u32, part | parts << 16]);
        tasks.extend((0..parts).map(own));
    }
    tasks.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    tasks
}

impl FiveRun<'_> {
    /// Sizes as arguments of kernels: vertices, arcs, words of lists.
    fn sizes(&self, lists: &Lists) -> [Arg; 3] {
        let [vertices, arcs] = self.graph.sizes();
        [vertices, arcs, Arg::U32(lists.words)]
    }

    /// The sums over triangles.
    pub(super) fn arcs(&self, lists: &Lists) -> Result<bool> {
        let (oriented, degrees) = (&self.graph.oriented, self.graph.degrees()?);
        self.launch("five_arcs", (&lists.arcs, 4 * self.most_groups(), LANES), |tasks, part| {
            let buffers = [&oriented.offsets, &lists.sources, &oriented.ends, degrees, self.edges];
            let all = buffers.into_iter().chain([&lists.places, &lists.lists, tasks]);
            let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
            args.extend(part);
            args.extend(self.sizes(lists));
            args.extend([&self.sums, self.graph.fault()].map(|b| Arg::Buffer(b.raw())));
            args
        })
    }

    /// Steps to the ends of the paths of two edges from each vertex.
    pub(super) fn wedges(&self) -> Vec<f64> {
        let by = &self.graph.by;
        let row = |v: usize| &by.neighbours[by.offsets[v] as usize..by.offsets[v + 1] as usize];
        let steps = |v: usize| row(v).iter().map(|&u| f64::from(by.degree(u as usize))).sum();
        (0..by.vertices()).map(steps).collect()
    }

    /// The sums over a vertex, its arcs and its pairs.
    pub(super) fn roots(&self, counters: &Counters, wedges: &[f64]) -> Result<bool> {
        let (by, full) = (&self.graph.by, self.graph.full()?);
        let roots = (0..by.vertices()).filter(|&v| by.degree(v) > 1);
        let tasks = Tasks::new(self.device(), roots.map(|v| (wedges[v], v as u32)).collect())?;
        let [vertices, _] = self.graph.sizes();
        let done =
            self.launch("five_roots", (&tasks, counters.groups, ROOTS_GROUP), |tasks, part| {
                let buffers = [&full.offsets, &full.ends, tasks];
                let mut args: Vec<Arg> = buffers.map(|buffer| Arg::Buffer(buffer.raw())).into();
                args.extend(part);
                args.extend([vertices, Arg::U32(by.neighbours.len() as u32)]);
                args.extend(
                    [&counters.buffer, &self.sums, self.graph.fault()]
                        .map(|b| Arg::Buffer(b.raw())),
                );
                args
            })?;
        self.queued.borrow_mut().push(tasks);
        Ok(done)
    }

    /// The edges among the common neighbours of pairs of vertices.
    pub(super) fn edges(&self, lists: &Lists, counters: &Counters, wedges: &[f64]) -> Result<bool> {
        let (by, full, oriented) = (&self.graph.by, self.graph.full()?, &self.graph.oriented);
        // Lists are as long as those at the root, which are read half on average, and the edges have two ends.
        let mut works = vec![0.0; by.vertices()];
        let arcs = (0..by.vertices()).flat_map(|v| {
            let above = by.split[v] as usize..by.offsets[v + 1] as usize;
            by.neighbours[above].iter().map(move |&u| (v, u as usize))
        });
        for ((v, u), &triangles) in arcs.zip(&lists.numbers) {
            let work = f64::from(triangles).powi(2) / 4.0;
            works[v] += work;
            works[u] += work;
        }
        let tasks = parts(&works, wedges, counters.groups);
        let work = tasks.iter().map(|&(work, _)| work);
        let words: Vec<u32> = tasks.iter().flat_map(|task| task.1).collect();
        let tasks = Tasks::sorted(self.device(), &words, work)?;
        let done = self.launch("five_edges", (&tasks, counters.groups, GROUP), |tasks, part| {
            let buffers =
                [&full.offsets, &full.ends, &oriented.offsets, &oriented.ends, self.edges];
            let all = buffers.into_iter().chain([&lists.places, &lists.lists, tasks]);
            let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
            args.extend(part);
            let [vertices, arcs, words] = self.sizes(lists);
            args.extend([vertices, Arg::U32(by.neighbours.len() as u32), arcs, words]);
            args.extend(
                [&counters.buffer, &self.sums, self.graph.fault()].map(|b| Arg::Buffer(b.raw())),
            );
            args
        })?;
        self.queued.borrow_mut().push(tasks);
        Ok(done)
    }

    /// The 4-cycles among the neighbours of vertices: with counters in local memory for vertices of a few and of more
    /// neighbours, in global memory for the others.
    pub(super) fn wheels(&self, lists: &Lists, counters: &Counters) -> Result<bool> {
        let (by, full, oriented) = (&self.graph.by, self.graph.full()?, &self.graph.oriented);
        let largest = (0..by.vertices()).map(|v| by.degree(v)).max().unwrap_or(0);
        let sizes = self.sizes(lists);
        let mut least = 0;
        for most in [FEW_NEIGHBOURS.min(lists.local), largest.min(lists.local)] {
            if most < least || lists.local == 0 {
                continue;
            }
            let groups = self.most_groups();
            let room = 4 * (most as usize / 2 + 1);
            let done =
                self.launch("five_wheels_local", (&lists.arcs, groups, GROUP), |tasks, part| {
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
                })?;
            if !done {
                return Ok(false);
            }
            least = most + 1;
        }
        if largest < least {
            return Ok(true);
        }
        self.launch("five_wheels", (&lists.arcs, counters.groups, LANES), |tasks, part| {
            let buffers = [&full.offsets, &oriented.offsets, &lists.sources, &oriented.ends];
            let all = buffers.into_iter().chain([self.edges, &lists.places, &lists.lists, tasks]);
            let mut args: Vec<Arg> = all.map(|buffer| Arg::Buffer(buffer.raw())).collect();
            args.extend(part);
            args.extend(sizes);
            args.extend([Arg::U32(least), Arg::U32(largest)]);
            args.extend(
                [&counters.buffer, &self.sums, self.graph.fault()].map(|b| Arg::Buffer(b.raw())),
            );
            args
        })
    }

    /// The pairs of paths that are 5-cycles, and those that meet at one vertex.
    pub(super) fn cycles(&self, counters: &Counters) -> Result<bool> {
        let (by, full) = (&self.graph.by, self.graph.full()?);
        let below = |v: usize| &by.neighbours[by.offsets[v] as usize..by.split[v] as usize];
        let edges: Vec<f64> = (0..by.vertices())
            .scan(0.0, |sum, v| {
                *sum += below(v).len() as f64;
                Some(*sum)
            })
            .collect();
        let mean = by.neighbours.len() as f64 / by.vertices().max(1) as f64;
        let weight = |v: usize| {
            let paths: f64 = below(v).iter().map(|&b| f64::from(by.degree(b as usize))).sum();
            paths + (paths * mean).min(edges[v])
        };
        // With one neighbour below, all pairs meet there, and the sum of these has them.
        let roots = (0..by.vertices()).filter(|&v| !below(v).is_empty());
        let tasks = Tasks::new(self.device(), roots.map(|v| (weight(v), v as u32)).collect())?;
        let [vertices, _] = self.graph.sizes();
        let done =
            self.launch("five_cycles", (&tasks, counters.groups, GROUP), |tasks, part| {
                let mut args: Vec<Arg> = [&full.offsets, &full.ends, tasks]
                    .map(|buffer| Arg::Buffer(buffer.raw()))
                    .into();
                args.extend(part);
                args.extend([vertices, Arg::U32(by.neighbours.len() as u32)]);
                args.extend(
                    [&counters.buffer, &self.sums, self.graph.fault()]
                        .map(|b| Arg::Buffer(b.raw())),
                );
                args
            })?;
        self.queued.borrow_mut().push(tasks);
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_roots_have_parts() {
        // Without triangles, light, and heavy with a small and with a large tally.
        let tasks = parts(&[0.0, 8.0, 800.0, 800.0], &[5.0, 1.0, 10.0, 100.0], 2);
        let of = |v| tasks.iter().filter(move |(_, [root, _])| *root == v).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(|v| of(v).len()), [0, 1, 4, 2]);
        assert!(tasks.windows(2).all(|pair| pair[0].0 >= pair[1].0));
        let shares: Vec<u32> = of(2).iter().map(|(_, [_, share])| *share).collect();
        assert_eq!(shares, [4 << 16, 1 | 4 << 16, 2 | 4 << 16, 3 | 4 << 16]);
    }
}
