//! Every set of four vertices with a 4-cycle, and how the rest of the graph sees it.
//!
//! A set is met from its root r. The others are o, r's opposite, and p and q, which are next to both:
//! r–p–o–q is the cycle. In a clique r is the largest and o the smallest; in a diamond r is the larger
//! of the two that aren't adjacent; in a 4-cycle it is the largest. Vertices of large numbers have
//! short rows, so that sets of r's neighbours are few words.

use std::ops::ControlFlow;

use gramer_graph::context::Context;
use gramer_graph::{VertexId, View};
use gramer_pattern::plan::system::MotifSystem;

use super::common::{Columns, Common, Sparse};
use crate::cpu::{Job, Starts, run_units};

/// Adjacency bits of r, o, p, q in this order.
const CYCLE: u32 = 0b01_1110;
const DIAMOND: u32 = 0b11_1110;
const CLIQUE: u32 = 0b11_1111;

const NONE: u32 = u32::MAX;

/// The sums of a system; `None` once the run is asked to stop.
pub(super) fn sums(
    graph: View<'_>,
    common: &Common,
    system: &MotifSystem,
    context: &Context,
) -> Option<Vec<u128>> {
    let columns = Columns::new(graph);
    let list = |v: VertexId| graph.degree(v);
    let weight =
        |v: VertexId| graph.neighbours(v).iter().map(|&u| graph.degree(u) as u64).sum::<u64>();
    let units = Starts::vertices(graph).units(Job::whole(context), list, weight);
    let (states, complete) = run_units(
        &units,
        context,
        || Root::new(graph, common, &columns, system),
        |state, unit| {
            state.enter(unit.start);
            let mut flow = ControlFlow::Continue(());
            for p in unit.range() {
                if context.cancel.is_cancelled() {
                    flow = ControlFlow::Break(());
                    break;
                }
                state.sets_of(p);
            }
            state.leave();
            flow
        },
    );
    complete.then(|| {
        let mut sums = vec![0; system.sums()];
        for state in &states {
            sums.iter_mut().zip(&state.sums).for_each(|(sum, part)| *sum += part);
        }
        sums
    })
}

/// A thread's state. Neighbours of the root have numbers by their position in its row.
struct Root<'a> {
    graph: View<'a>,
    common: &'a Common,
    columns: &'a Columns<'a>,
    system: &'a MotifSystem,
    sums: Vec<u128>,
    root: VertexId,
    /// Words of a set of the root's neighbours.
    width: usize,
    /// By vertex: its number, or [`NONE`].
    place: Vec<u32>,
    /// By number: the root's neighbours next to it, as bits and how many.
    near: Vec<u64>,
    near_len: Vec<u32>,
    /// By vertex before the root: its place among `opposites`, or [`NONE`].
    slot: Vec<u32>,
    opposites: Vec<VertexId>,
    /// By opposite: the root's neighbours next to it as bits, and where their list ends.
    shared: Vec<u64>,
    ends: Vec<u32>,
    /// The lists: number, and common neighbours of it and the opposite.
    list: Vec<(u32, u32)>,
    /// By number: common neighbours with the current p, or [`NONE`] while that isn't known.
    with_p: Vec<u32>,
    /// Common neighbours of p and the opposite.
    between: Sparse,
}

impl<'a> Root<'a> {
    fn new(
        graph: View<'a>,
        common: &'a Common,
        columns: &'a Columns<'a>,
        system: &'a MotifSystem,
    ) -> Self {
        Root {
            graph,
            common,
            columns,
            system,
            sums: vec![0; system.sums()],
            root: 0,
            width: 0,
            place: vec![NONE; graph.vertices()],
            near: vec![],
            near_len: vec![],
            slot: vec![NONE; graph.vertices()],
            opposites: vec![],
            shared: vec![],
            ends: vec![],
            list: vec![],
            with_p: vec![],
            between: Sparse::default(),
        }
    }

    /// Makes `root` the root.
    fn enter(&mut self, root: VertexId) {
        let graph = self.graph;
        self.root = root;
        let row = graph.neighbours(root);
        self.width = row.len().div_ceil(64);
        let width = self.width;
        for (at, &v) in row.iter().enumerate() {
            self.place[v as usize] = at as u32;
        }
        self.near.clear();
        self.near.resize(width * row.len(), 0);
        self.near_len.clear();
        self.with_p.clear();
        self.with_p.resize(row.len(), NONE);
        self.ends.clear();
        for (at, &p) in row.iter().enumerate() {
            let bits = &mut self.near[at * width..(at + 1) * width];
            let mut len = 0;
            for &o in graph.neighbours(p) {
                let place = self.place[o as usize];
                if place != NONE {
                    bits[place as usize / 64] |= 1 << (place % 64);
                    len += 1;
                }
                if o < root {
                    let slot = &mut self.slot[o as usize];
                    if *slot == NONE {
                        *slot = self.opposites.len() as u32;
                        self.opposites.push(o);
                        self.ends.push(0);
                    }
                    self.ends[*slot as usize] += 1;
                }
            }
            self.near_len.push(len);
        }
        // From lengths to beginnings, which grow to ends as the lists are filled.
        let mut begin = 0;
        for end in &mut self.ends {
            begin += std::mem::replace(end, begin);
        }
        self.list.clear();
        self.list.resize(begin as usize, (0, 0));
        self.shared.clear();
        self.shared.resize(width * self.opposites.len(), 0);
        for (at, &p) in row.iter().enumerate() {
            for arc in graph.row(p) {
                let o = graph.neighbours[arc];
                if o >= root {
                    break;
                }
                let slot = self.slot[o as usize] as usize;
                self.list[self.ends[slot] as usize] = (at as u32, self.common.len(arc));
                self.ends[slot] += 1;
                self.shared[slot * width + at / 64] |= 1 << (at % 64);
            }
        }
    }

    fn leave(&mut self) {
        for &v in self.graph.neighbours(self.root) {
            self.place[v as usize] = NONE;
        }
        for o in self.opposites.drain(..) {
            self.slot[o as usize] = NONE;
        }
    }

    /// The sets with the neighbour `p` of the root whose q comes before it.
    fn sets_of(&mut self, p: usize) {
        let (graph, width) = (self.graph, self.width);
        let row = graph.neighbours(self.root);
        let image = row[p];
        self.with_p[..p].fill(NONE);
        for arc in graph.row(image) {
            let place = self.place[graph.neighbours[arc] as usize];
            if place != NONE {
                self.with_p[place as usize] = self.common.len(arc);
            }
        }
        for arc in graph.row(image) {
            let o = graph.neighbours[arc];
            if o >= self.root {
                break;
            }
            let slot = self.slot[o as usize] as usize;
            let begin = if slot == 0 { 0 } else { self.ends[slot - 1] as usize };
            let list = begin..self.ends[slot] as usize;
            if self.list[begin].0 as usize >= p {
                continue;
            }
            let clique = self.place[o as usize] != NONE;
            if clique && image > self.root {
                continue;
            }
            self.columns.gather(self.common.of(arc), &mut self.between);
            let shared = self.shared[slot * width..(slot + 1) * width].iter();
            let near_p = &self.near[p * width..(p + 1) * width];
            let rop: u32 = shared.clone().zip(near_p).map(|(a, b)| (a & b).count_ones()).sum();
            for at in list.clone() {
                let (q, oq) = self.list[at];
                let q = q as usize;
                if q >= p {
                    break;
                }
                let adjacent = near_p[q / 64] >> (q % 64) & 1 == 1;
                let bits = match (clique, adjacent) {
                    (true, true) if o < row[q] => CLIQUE,
                    (true, _) => continue,
                    (false, true) => DIAMOND,
                    (false, false) if image < self.root => CYCLE,
                    (false, false) => continue,
                };
                if self.with_p[q] == NONE {
                    self.with_p[q] = self.columns.common(image, row[q]);
                }
                let near_q = &self.near[q * width..(q + 1) * width];
                let (mut roq, mut rpq, mut ropq) = (0, 0, 0);
                for ((&o, &p), &q) in shared.clone().zip(near_p).zip(near_q) {
                    roq += (o & q).count_ones();
                    rpq += (p & q).count_ones();
                    ropq += (o & p & q).count_ones();
                }
                let degree = |v: VertexId| graph.degree(v) as u32;
                let opq = self.columns.among(&self.between, row[q]);
                // By set of r = 1, o = 2, p = 4, q = 8: those next to all of it.
                let seen = [
                    0,
                    degree(self.root),
                    degree(o),
                    list.len() as u32,
                    degree(image),
                    self.near_len[p],
                    self.common.len(arc),
                    rop,
                    degree(row[q]),
                    self.near_len[q],
                    oq,
                    roq,
                    self.with_p[q],
                    rpq,
                    opq,
                    ropq,
                ];
                add(&mut self.sums, self.system, bits, seen);
            }
        }
    }
}

/// Adds a set to the sums: for each set of positions, `seen` vertices are next to all of these.
#[inline]
fn add(sums: &mut [u128], system: &MotifSystem, bits: u32, seen: [u32; 16]) {
    // Those next to exactly these.
    let mut exactly = seen;
    for bit in [1, 2, 4, 8] {
        for set in 1..16 {
            if set & bit == 0 {
                exactly[set] -= exactly[set | bit];
            }
        }
    }
    // Members aren't outside.
    let o_sees_r = usize::from(bits == CLIQUE);
    let q_sees_p = if bits == CYCLE { 0 } else { 1 };
    for member in [12 | o_sees_r << 1, 12 | o_sees_r, 3 | q_sees_p << 3, 3 | q_sees_p << 2] {
        exactly[member] -= 1;
    }
    for term in system.terms(bits) {
        let first = u64::from(exactly[term.first as usize & 15]);
        let second = match term.first == term.second {
            true => first.saturating_sub(1),
            false => u64::from(exactly[term.second as usize & 15]),
        };
        let pairs = (first * second) >> u32::from(term.first == term.second);
        sums[term.sum as usize] += u128::from(pairs);
    }
}
