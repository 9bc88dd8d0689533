//! Four patterns with two sides of three vertices each, from how many of one side are next to a
//! vertex of the other.

use std::ops::ControlFlow;

use gramer_graph::context::Context;
use gramer_graph::{VertexId, View};

use super::common::Common;
use crate::cpu::{Job, Starts, run_units};

/// What is counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Sides {
    /// Homomorphisms of two sides of three vertices, all pairs across adjacent, and one edge within.
    pub bipartite_and_edge: u128,
    /// Homomorphisms of the 4-clique with two adjacent vertices, each next to both ends of one of two
    /// edges of the clique that have no vertex in common.
    pub clique_and_caps: u128,
    /// Occurrences of two sides of three vertices with all pairs across adjacent.
    pub bipartite: u128,
    /// Occurrences of two triangles with three edges between them, the prism.
    pub prism: u128,
}

/// The numbers; `None` once the run is asked to stop.
pub(super) fn count(graph: View<'_>, common: &Common, context: &Context) -> Option<Sides> {
    let list = |v: VertexId| graph.degree(v);
    let weight =
        |v: VertexId| graph.neighbours(v).iter().map(|&u| graph.degree(u) as u64).sum::<u64>();
    let units = Starts::vertices(graph).units(Job::whole(context), list, weight);
    let (states, complete) = run_units(
        &units,
        context,
        || Side::new(graph, common),
        |state, unit| {
            if unit.first == 0 {
                state.bipartite(unit.start);
            }
            for arc in unit.range().map(|at| graph.row(unit.start).start + at) {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                if graph.neighbours[arc] < unit.start {
                    state.edge(arc);
                } else {
                    state.prism(unit.start, arc);
                }
            }
            ControlFlow::Continue(())
        },
    );
    complete.then(|| {
        let mut all = Sides::default();
        for Side { found, .. } in &states {
            all.bipartite_and_edge += found.bipartite_and_edge;
            all.clique_and_caps += found.clique_and_caps;
            all.bipartite += found.bipartite;
            all.prism += found.prism;
        }
        // The side with the smallest vertex has two more, either of which may be the second corner.
        all.prism /= 2;
        all
    })
}

/// A thread's state; zero by vertex between calls.
struct Side<'a> {
    graph: View<'a>,
    common: &'a Common,
    found: Sides,
    /// By vertex: how many of a set it is next to.
    count: Vec<u32>,
    met: Vec<VertexId>,
    /// By vertex: 1 if it is in the set, and whether it is next to the second corner.
    inside: Vec<u32>,
    near: Vec<bool>,
    /// By vertex: the end of its list of vertices in `list`.
    ends: Vec<u32>,
    list: Vec<VertexId>,
    seconds: Vec<VertexId>,
}

impl<'a> Side<'a> {
    fn new(graph: View<'a>, common: &'a Common) -> Self {
        let vertices = graph.vertices();
        Side {
            graph,
            common,
            found: Sides::default(),
            count: vec![0; vertices],
            met: vec![],
            inside: vec![0; vertices],
            near: vec![false; vertices],
            ends: vec![0; vertices],
            list: vec![],
            seconds: vec![],
        }
    }

    /// Counts for every vertex after `after` how many of the set it is next to.
    fn next_to(&mut self, set: &[VertexId], after: Option<VertexId>) {
        for &x in set {
            let row = self.graph.neighbours(x);
            let from = after.map_or(0, |after| row.partition_point(|&y| y <= after));
            for &y in &row[from..] {
                let count = &mut self.count[y as usize];
                if *count == 0 {
                    self.met.push(y);
                }
                *count += 1;
            }
        }
    }

    fn clear(&mut self) {
        for y in self.met.drain(..) {
            self.count[y as usize] = 0;
        }
    }

    /// The patterns with an edge, both of whose ends are on one side or caps the same cap: that of
    /// an arc.
    fn edge(&mut self, edge: usize) {
        let set = self.common.of(edge);
        self.next_to(set, None);
        for &y in &self.met {
            self.found.bipartite_and_edge += 2 * u128::from(self.count[y as usize]).pow(3);
        }
        if set.len() > 1 {
            set.iter().for_each(|&x| self.inside[x as usize] = 1);
            let mut across = 0u64;
            for &x in set {
                for arc in self.graph.row(x) {
                    let y = self.graph.neighbours[arc];
                    // Of two opposite edges of a clique one has the smaller arc.
                    if y > x || arc > edge {
                        break;
                    }
                    if self.inside[y as usize] == 1 {
                        let caps = self.common.of(arc);
                        across +=
                            caps.iter().map(|&w| u64::from(self.count[w as usize])).sum::<u64>();
                    }
                }
            }
            set.iter().for_each(|&x| self.inside[x as usize] = 0);
            self.found.clique_and_caps += 8 * u128::from(across);
        }
        self.clear();
    }

    /// The complete bipartite ones whose smallest vertex is `first`.
    fn bipartite(&mut self, first: VertexId) {
        let graph = self.graph;
        let after = |v: VertexId| {
            let row = graph.neighbours(v);
            &row[row.partition_point(|&u| u <= first)..]
        };
        // Which of its neighbours each other vertex is next to, as lists one after the other.
        for &x in after(first) {
            for &b in after(x) {
                let end = &mut self.ends[b as usize];
                if *end == 0 {
                    self.seconds.push(b);
                }
                *end += 1;
            }
        }
        let mut begin = 0;
        for &b in &self.seconds {
            let end = &mut self.ends[b as usize];
            begin += std::mem::replace(end, begin);
        }
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        list.resize(begin as usize, 0);
        for &x in after(first) {
            for &b in after(x) {
                let end = &mut self.ends[b as usize];
                list[*end as usize] = x;
                *end += 1;
            }
        }
        let seconds = std::mem::take(&mut self.seconds);
        let mut begin = 0;
        for &b in &seconds {
            let end = std::mem::take(&mut self.ends[b as usize]) as usize;
            let set = &list[begin..end];
            begin = end;
            if set.len() < 3 {
                continue;
            }
            self.next_to(set, Some(b));
            for &c in &self.met {
                let n = u64::from(self.count[c as usize]);
                self.found.bipartite +=
                    u128::from(n * n.saturating_sub(1) / 2 * n.saturating_sub(2) / 3);
            }
            self.clear();
        }
        (self.list, self.seconds) = (list, seconds);
        self.seconds.clear();
    }

    /// The prisms whose smallest vertex is `first` and whose second corner on its side is that at the
    /// end of an arc, twice.
    fn prism(&mut self, first: VertexId, arc: usize) {
        let (graph, common) = (self.graph, self.common);
        let after = |set: &'a [VertexId]| &set[set.partition_point(|&u| u <= first)..];
        let second = graph.neighbours[arc];
        let thirds = after(common.of(arc));
        if thirds.is_empty() {
            return;
        }
        self.next_to(thirds, Some(first));
        thirds.iter().for_each(|&c| self.inside[c as usize] = 1);
        graph.neighbours(second).iter().for_each(|&v| self.near[v as usize] = true);
        let mut prisms = 0u64;
        for &b in after(graph.neighbours(first)) {
            if b == second {
                continue;
            }
            let row = graph.row(b);
            let from = row.start + graph.neighbours(b).partition_point(|&u| u <= first);
            for across in from..row.end {
                let mate = graph.neighbours[across];
                if !self.near[mate as usize] {
                    continue;
                }
                // Both of them may be in the place of the third corner, which they are not; and the
                // second corner in that of its mate.
                let taken = self.inside[b as usize] + self.inside[mate as usize];
                // Found once where the list begins, so that nothing is compared in what is gone
                // through most of all.
                let fourths = after(common.of(across));
                let count = &self.count[..];
                let mut sum: u64 = fourths.iter().map(|&d| u64::from(count[d as usize])).sum();
                let mut others = fourths.len() as u64;
                if self.near[b as usize] {
                    sum -= u64::from(self.count[second as usize]);
                    others -= 1;
                }
                prisms += sum - u64::from(taken) * others;
            }
        }
        self.found.prism += u128::from(prisms);
        graph.neighbours(second).iter().for_each(|&v| self.near[v as usize] = false);
        thirds.iter().for_each(|&c| self.inside[c as usize] = 0);
        self.clear();
    }
}
