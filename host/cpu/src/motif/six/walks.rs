//! Homomorphisms of sixteen patterns, each from the images of one vertex: walks of two and three steps
//! from it, and what lies among its neighbours' neighbours.
//!
//! Walks of three steps are the same from either end, so only those are made whose end has no smaller
//! number than the start. Vertices of small numbers have the long rows: these walks are few.

use std::ops::ControlFlow;

use gramer_base::memory::zeroed_or_unwind;
use gramer_graph::{VertexId, View};

use super::common::Common;
use crate::{Job, StartVertices};

/// Numbers of homomorphisms.
#[derive(Debug, Clone, Default)]
pub(super) struct WalkCounts {
    /// The 5-cycle with a leaf.
    pub tailed_cycle: u128,
    /// The 5-cycle with a triangle on an edge.
    pub eared_cycle: u128,
    /// The 6-cycle.
    pub six_cycle: u128,
    /// Two 4-cycles with an edge in common.
    pub domino: u128,
    /// Two vertices with two paths of two edges between them and one of three.
    pub theta: u128,
    /// The 4-cycle with a path of two edges from a vertex.
    pub cycle_and_tail: u128,
    /// The 4-cycle with a triangle at a vertex.
    pub cycle_and_triangle: u128,
    /// The 4-cycle with a triangle on an edge, and a leaf at its tip.
    pub cycle_and_ear: u128,
    /// The 4-cycle with a triangle on an edge, and a triangle on one of its other two.
    pub cycle_and_ears: u128,
    /// The 4-clique with a path of two edges from a vertex.
    pub clique_and_tail: u128,
    /// The 4-clique with a triangle at a vertex.
    pub clique_and_triangle: u128,
    /// The 4-clique with a path of three edges parallel to one of its edges.
    pub clique_and_path: u128,
    /// The diamond with a path of three edges between its tips.
    pub diamond_and_path: u128,
    /// A triangle with an edge from a corner to a vertex with paths of two edges to the others.
    pub triangle_and_paths: u128,
    /// The 5-cycle with a vertex next to four of its vertices.
    pub fan_and_path: u128,
    /// The 5-cycle with a vertex next to all of it.
    pub wheel: u128,
}

impl WalkCounts {
    /// The numbers, in the order of the fields.
    fn numbers(&mut self) -> [&mut u128; 16] {
        [
            &mut self.tailed_cycle,
            &mut self.eared_cycle,
            &mut self.six_cycle,
            &mut self.domino,
            &mut self.theta,
            &mut self.cycle_and_tail,
            &mut self.cycle_and_triangle,
            &mut self.cycle_and_ear,
            &mut self.cycle_and_ears,
            &mut self.clique_and_tail,
            &mut self.clique_and_triangle,
            &mut self.clique_and_path,
            &mut self.diamond_and_path,
            &mut self.triangle_and_paths,
            &mut self.fan_and_path,
            &mut self.wheel,
        ]
    }
}

/// The numbers; `None` once the run was cancelled.
pub(super) fn count(graph: View<'_>, common: &Common, job: Job<'_>) -> Option<WalkCounts> {
    let context = job.context;
    let weight =
        |v: VertexId| graph.neighbours(v).iter().map(|&u| graph.degree(u) as u64).sum::<u64>();
    let list = |v: VertexId| graph.degree(v).min(1);
    let at_vertex = VertexWalks::new(graph, common);
    let units = StartVertices::vertices(graph).units(job, list, weight);
    let ran = job.run(
        &units,
        || WalkState::new(graph, common, &at_vertex),
        |state, unit| {
            state.two_steps(unit.start);
            let mut flow = ControlFlow::Continue(());
            for arc in graph.row(unit.start) {
                if context.cancel.is_cancelled() {
                    flow = ControlFlow::Break(());
                    break;
                }
                state.among_neighbours(arc);
            }
            state.three_steps(unit.start);
            flow
        },
    );
    let sums = ran.sums(|mut states| {
        let mut sums = [0; 16];
        for state in &mut states {
            sums.iter_mut().zip(state.found.numbers()).for_each(|(sum, found)| *sum += *found);
        }
        Ok(sums)
    });
    let (sums, complete) = sums.ok()?;
    let mut all = WalkCounts::default();
    all.numbers().into_iter().zip(sums).for_each(|(number, sum)| *number = sum);
    // From both ends.
    all.tailed_cycle /= 2;
    all.eared_cycle /= 2;
    complete.then_some(all)
}

/// The lower half of a number: walks inside a neighbourhood. The upper one: walks of two steps.
const INSIDE: u64 = u32::MAX as u64;

/// By vertex: walks of two steps from it, and twice the triangles at it.
struct VertexWalks {
    tails: Vec<u64>,
    triangles: Vec<u64>,
}

impl VertexWalks {
    fn new(graph: View<'_>, common: &Common) -> Self {
        let vertices = 0..graph.vertices() as VertexId;
        let tails = |v| graph.neighbours(v).iter().map(|&u| graph.degree(u) as u64).sum();
        let triangles = |v| graph.row(v).map(|arc| u64::from(common.len(arc))).sum();
        VertexWalks {
            tails: vertices.clone().map(tails).collect(),
            triangles: vertices.map(triangles).collect(),
        }
    }
}

/// A thread's state; zero by vertex between starts.
struct WalkState<'a> {
    graph: View<'a>,
    common: &'a Common,
    at_vertex: &'a VertexWalks,
    found: WalkCounts,
    /// By vertex: walks of two steps from the start, and those of them inside the neighbourhood
    /// that is being looked at.
    two: Vec<u64>,
    /// By vertex: the former, each times the triangles on its first step and on its last.
    eared: Vec<u64>,
    ends_of_two: Vec<VertexId>,
    ends_inside: Vec<VertexId>,
    /// By vertex: pairs of adjacent common neighbours with the start, in both orders.
    pairs: Vec<u64>,
    /// By vertex: walks of three steps from the start.
    three: Vec<u64>,
    ends_of_three: Vec<VertexId>,
}

/// Bytes per vertex of a thread's state.
pub(super) const BYTES: usize = 4 * 8 + 3 * 4;

impl<'a> WalkState<'a> {
    fn new(graph: View<'a>, common: &'a Common, at_vertex: &'a VertexWalks) -> Self {
        WalkState {
            graph,
            common,
            at_vertex,
            found: WalkCounts::default(),
            two: zeroed_or_unwind(graph.vertices()),
            eared: zeroed_or_unwind(graph.vertices()),
            ends_of_two: vec![],
            ends_inside: vec![],
            pairs: zeroed_or_unwind(graph.vertices()),
            three: zeroed_or_unwind(graph.vertices()),
            ends_of_three: vec![],
        }
    }

    fn two_steps(&mut self, start: VertexId) {
        for arc in self.graph.row(start) {
            let triangles = u64::from(self.common.len(arc));
            for last in self.graph.row(self.graph.neighbours[arc]) {
                let x = self.graph.neighbours[last];
                self.eared[x as usize] += triangles + u64::from(self.common.len(last));
                let two = &mut self.two[x as usize];
                if *two == 0 {
                    self.ends_of_two.push(x);
                }
                *two += 1 << 32;
            }
        }
    }

    /// The edges among the neighbours of the vertex z that an arc from the start leads to.
    fn among_neighbours(&mut self, arc: usize) {
        let graph = self.graph;
        let row = graph.row(graph.neighbours[arc]);
        // Walks of two steps from the start, itself a neighbour of z, to others of them.
        let mut at = row.start;
        for &next in self.common.of(arc) {
            at += graph.neighbours[at..row.end].partition_point(|&v| v < next);
            for &x in self.common.of(at) {
                let two = &mut self.two[x as usize];
                if *two & INSIDE == 0 {
                    self.ends_inside.push(x);
                }
                *two += 1;
            }
        }
        let (mut walks, mut mixed, mut inside) = (0u64, 0u64, 0u64);
        for arc in row {
            let x = graph.neighbours[arc];
            let mut sum = 0;
            for &y in self.common.of(arc) {
                if y > x {
                    break;
                }
                sum += self.two[y as usize];
            }
            let two = self.two[x as usize];
            walks += (two >> 32) * (sum >> 32);
            mixed += (two >> 32) * (sum & INSIDE) + (two & INSIDE) * (sum >> 32);
            inside += (two & INSIDE) * (sum & INSIDE);
        }
        self.found.triangle_and_paths += 2 * u128::from(walks);
        self.found.fan_and_path += u128::from(mixed);
        self.found.wheel += 2 * u128::from(inside);
        for x in self.ends_inside.drain(..) {
            let two = &mut self.two[x as usize];
            self.pairs[x as usize] += *two & INSIDE;
            *two &= !INSIDE;
        }
    }

    /// One step more, and the end of this start.
    fn three_steps(&mut self, start: VertexId) {
        let graph = self.graph;
        for &y in &self.ends_of_two {
            let walks = self.two[y as usize] >> 32;
            for &x in graph.neighbours(y).iter().rev() {
                if x < start {
                    break;
                }
                let three = &mut self.three[x as usize];
                if *three == 0 {
                    self.ends_of_three.push(x);
                }
                *three += walks;
            }
        }
        let mut cliques = 0;
        for arc in graph.row(start) {
            let x = graph.neighbours[arc];
            cliques += u128::from(self.pairs[x as usize]);
            if x > start {
                self.on_an_edge(start, arc);
            }
        }
        let found = &mut self.found;
        found.clique_and_tail += cliques * u128::from(self.at_vertex.tails[start as usize]);
        found.clique_and_triangle += cliques * u128::from(self.at_vertex.triangles[start as usize]);
        for x in self.ends_of_two.drain(..) {
            let two = u128::from(std::mem::take(&mut self.two[x as usize]) >> 32);
            let pairs = u128::from(std::mem::take(&mut self.pairs[x as usize]));
            let eared = u128::from(std::mem::take(&mut self.eared[x as usize]));
            if x < start {
                continue;
            }
            // From both ends, unless they are one vertex.
            let ends = if x == start { 1 } else { 2 };
            let three = u128::from(self.three[x as usize]);
            found.eared_cycle += ends * eared * three;
            found.theta += ends * two * two * three;
            found.diamond_and_path += ends * three * pairs;
            let degrees = (graph.degree(start) + graph.degree(x)) as u128;
            found.tailed_cycle += ends * two * three * degrees;
        }
        for x in self.ends_of_three.drain(..) {
            let three = u128::from(std::mem::take(&mut self.three[x as usize]));
            let ends = if x == start { 1 } else { 2 };
            found.six_cycle += ends * three * three;
        }
    }

    /// Adds the contributions of the 4-cycles through the edge at the end of an arc from the start, in both
    /// directions: each walk of three steps to its end is one.
    fn on_an_edge(&mut self, start: VertexId, arc: usize) {
        let (graph, common) = (self.graph, self.common);
        let end = graph.neighbours[arc];
        let three = u128::from(self.three[end as usize]);
        let at_both = |values: &[u64]| u128::from(values[start as usize] + values[end as usize]);
        let (mut leaves, mut ears) = (0u64, 0u64);
        let [mut from_start, mut from_end] = [start, end].map(|v| graph.row(v));
        for &tip in common.of(arc) {
            leaves += graph.degree(tip) as u64;
            for row in [&mut from_start, &mut from_end] {
                row.start += graph.neighbours[row.clone()].partition_point(|&v| v < tip);
                ears += u64::from(common.len(row.start));
            }
        }
        let found = &mut self.found;
        found.domino += 2 * three * three;
        found.clique_and_path += 2 * three * u128::from(self.pairs[end as usize]);
        found.cycle_and_tail += three * at_both(&self.at_vertex.tails);
        found.cycle_and_triangle += three * at_both(&self.at_vertex.triangles);
        found.cycle_and_ear += 2 * three * u128::from(leaves);
        found.cycle_and_ears += three * u128::from(ears);
    }
}
