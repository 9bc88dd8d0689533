//! Occurrences of four patterns with two sides of three vertices each, from the vertex of each that
//! comes last.
//!
//! The vertices of large numbers have few neighbours before them. Let r be the last vertex of an
//! occurrence, R its neighbours before it, and S(v) those of R that a vertex v before r is next to: a
//! word or two. What an occurrence needs of two vertices b and c before r is in S(b), S(c), the set D
//! that they have in common, and the edges e(D) within it:
//!
//! - two sides of three, all pairs across adjacent: r and b, c on one side, three of D on the other. With
//!   an edge within a side: within the three of D; or b and c adjacent; or b in R, and so next to r.
//! - the 4-clique with two adjacent caps, one on each of two opposite edges: two of D adjacent, and a
//!   third of it. Either b and c are adjacent, and an edge of the clique with them; then r is a cap, and
//!   the third the other one. Or b is in R, and r one of the clique; then c is a cap.
//! - the prism: b and c adjacent; a triangle of them with one of D, opposite to r; an edge from S(b) to
//!   S(c) is in the triangle of r.

mod octahedra;
mod table;

use std::ops::ControlFlow;

use gramer_base::context::Cancel;
use gramer_base::memory::{filled_or_unwind, zeroed_or_unwind};
use gramer_graph::{VertexId, View};

use super::common::{shared, shared_by_three};
use crate::{Job, StartVertices};
use table::{Bytes, CrossPairs, PairCounter, Sets, Table, Words};

const NONE: u32 = u32::MAX;
/// Maximum size of a root's table, in numbers: 16 to 48 MiB. Tests have both, roots with a table and without.
const MOST_TABLE: usize = if cfg!(test) { 1 << 9 } else { 1 << 23 };
/// Cost of a counting step, in words of the triples' sets.
const STEP: usize = if cfg!(test) { 1 } else { 2 };

/// Numbers of occurrences.
#[derive(Debug, Clone, Default)]
pub(super) struct Sides {
    /// Two sides of three vertices, all pairs across adjacent, and one edge within a side.
    pub bipartite_and_edge: u128,
    /// The 4-clique with two adjacent vertices, each next to both ends of one of two edges of the
    /// clique that have no vertex in common.
    pub clique_and_caps: u128,
    /// Two sides of three vertices with all pairs across adjacent.
    pub bipartite: u128,
    /// Two triangles with three edges between them, the prism.
    pub prism: u128,
    /// Three pairs of vertices, each vertex adjacent to all but the other of its pair.
    pub octahedron: u128,
}

impl Sides {
    /// The numbers, in the order of the fields.
    fn numbers(&mut self) -> [&mut u128; 5] {
        [
            &mut self.bipartite_and_edge,
            &mut self.clique_and_caps,
            &mut self.bipartite,
            &mut self.prism,
            &mut self.octahedron,
        ]
    }
}

/// Which of the [`Sides`] are counted; the others stay zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Selection {
    /// All but the octahedron.
    Census,
    /// The prism, at adjacent pairs of vertices.
    Prism,
    /// The octahedron.
    Octahedron,
}

/// Steps of all vertices.
pub(super) fn steps(graph: View<'_>) -> f64 {
    (0..graph.vertices() as VertexId).map(|v| weight(graph, v) as f64).sum()
}

/// Steps of a vertex: the rows of the neighbours before it, with each of these.
fn weight(graph: View<'_>, v: VertexId) -> u64 {
    let row = graph.neighbours(v);
    let before = &row[..row.partition_point(|&u| u < v)];
    before.iter().map(|&u| graph.degree(u) as u64).sum::<u64>() * before.len() as u64
}

/// The numbers of a selection; `None` once the run was cancelled.
pub(super) fn count(graph: View<'_>, selection: Selection, job: Job<'_>) -> Option<Sides> {
    let list = |v: VertexId| graph.degree(v).min(1);
    let units = StartVertices::vertices(graph).units(job, list, |v| weight(graph, v) + 1);
    let ran = job.run(
        &units,
        || SideState::new(graph),
        |state, unit| {
            state.enter(unit.start);
            let flow = state.occurrences(selection, &job.context.cancel);
            state.leave();
            flow
        },
    );
    let sums = ran.sums(|mut states| {
        let mut sums = [0; 5];
        for state in &mut states {
            sums.iter_mut().zip(state.found.numbers()).for_each(|(sum, found)| *sum += *found);
        }
        Ok(sums)
    });
    let (sums, complete) = sums.ok()?;
    let mut all = Sides::default();
    all.numbers().into_iter().zip(sums).for_each(|(number, sum)| *number = sum);
    complete.then_some(all)
}

/// A thread's state. The neighbours before the root have numbers by their position in its row, and
/// the vertices next to some of them slots.
struct SideState<'a> {
    graph: View<'a>,
    found: Sides,
    /// The neighbours before the root.
    before: &'a [VertexId],
    /// Words of a set of them.
    width: usize,
    /// By vertex: its slot, or [`NONE`].
    slot: Vec<u32>,
    /// By slot: the vertex, its number or [`NONE`], the set that it is next to, and its size.
    vertices: Vec<VertexId>,
    numbers: Vec<u32>,
    sets: Vec<u64>,
    sizes: Vec<u32>,
    /// By number: the set that it is next to, which is that of its slot, or empty.
    near: Vec<u64>,
    /// Table by slot and number, if built.
    table: Table,
    /// Slots by number as bits, those of each of two numbers, and those that are numbers.
    columns: Vec<u64>,
    both: Vec<u64>,
    within: Vec<u64>,
    /// The rows of a slot's set within this, for octahedra.
    rows: Vec<u64>,
    /// By vertex, zero between calls: how many of a set it is next to.
    count: Vec<u32>,
    met: Vec<VertexId>,
}

/// The members of the intersection of two sets.
struct Members<'a> {
    a: &'a [u64],
    b: &'a [u64],
    word: usize,
    left: u64,
}

#[inline(always)]
fn members<'a>(a: &'a [u64], b: &'a [u64]) -> Members<'a> {
    Members { a, b, word: 0, left: a.first().zip(b.first()).map_or(0, |(a, b)| a & b) }
}

impl Iterator for Members<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.left == 0 {
            self.word += 1;
            self.left = self.a.get(self.word)? & self.b[self.word];
        }
        let bit = self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some(64 * self.word + bit)
    }
}

/// Ways to choose three of at least three.
fn threes(n: u64) -> u64 {
    n * (n - 1) / 2 * (n - 2) / 3
}

impl<'a> SideState<'a> {
    fn new(graph: View<'a>) -> Self {
        SideState {
            graph,
            found: Sides::default(),
            before: &[],
            width: 0,
            slot: filled_or_unwind(NONE, graph.vertices()),
            vertices: vec![],
            numbers: vec![],
            sets: vec![],
            sizes: vec![],
            near: vec![],
            table: Table::default(),
            columns: vec![],
            both: vec![],
            within: vec![],
            rows: vec![],
            count: zeroed_or_unwind(graph.vertices()),
            met: vec![],
        }
    }

    fn set(&self, slot: usize) -> &[u64] {
        &self.sets[slot * self.width..(slot + 1) * self.width]
    }

    fn near(&self, number: usize) -> &[u64] {
        &self.near[number * self.width..(number + 1) * self.width]
    }

    /// Edges within the intersection of two sets.
    #[inline(always)]
    fn edges_within(&self, a: &[u64], b: &[u64]) -> u64 {
        let mut ends = 0;
        for number in members(a, b) {
            ends += u64::from(shared_by_three(self.near(number), a, b));
        }
        ends / 2
    }

    /// Makes `root` the root.
    fn enter(&mut self, root: VertexId) {
        let row = self.graph.neighbours(root);
        self.before = &row[..row.partition_point(|&u| u < root)];
        self.width = self.before.len().div_ceil(64);
        let width = self.width;
        self.sets.clear();
        self.numbers.clear();
        for (number, &x) in self.before.iter().enumerate() {
            for &v in self.graph.neighbours(x) {
                if v >= root {
                    break;
                }
                let slot = &mut self.slot[v as usize];
                if *slot == NONE {
                    *slot = self.vertices.len() as u32;
                    self.vertices.push(v);
                    self.sets.resize(self.sets.len() + width, 0);
                }
                self.sets[*slot as usize * width + number / 64] |= 1 << (number % 64);
            }
        }
        self.numbers.resize(self.vertices.len(), NONE);
        self.near.clear();
        self.near.resize(width * self.before.len(), 0);
        for (number, &x) in self.before.iter().enumerate() {
            let slot = self.slot[x as usize];
            if slot != NONE {
                self.numbers[slot as usize] = number as u32;
                let set = &self.sets[slot as usize * width..][..width];
                self.near[number * width..][..width].copy_from_slice(set);
            }
        }
        self.sizes.clear();
        // Without neighbours before it the root has no slots either.
        let sets = self.sets.chunks_exact(width.max(1));
        self.sizes.extend(sets.map(|set| shared(set, set)));
    }

    fn leave(&mut self) {
        for v in self.vertices.drain(..) {
            self.slot[v as usize] = NONE;
        }
    }

    /// All occurrences whose last vertex is the root; whether the run is asked to stop meanwhile.
    fn occurrences(&mut self, selection: Selection, cancel: &Cancel) -> ControlFlow<()> {
        if self.before.len() < 2 {
            return ControlFlow::Continue(());
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.occurrences_x86_v3(selection, cancel) };
        }
        self.occurrences_portable(selection, cancel)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    fn occurrences_x86_v3(&mut self, selection: Selection, cancel: &Cancel) -> ControlFlow<()> {
        self.occurrences_portable(selection, cancel)
    }

    #[inline(always)]
    fn occurrences_portable(&mut self, selection: Selection, cancel: &Cancel) -> ControlFlow<()> {
        if selection == Selection::Octahedron {
            return self.octahedra(cancel);
        }
        let numbers = self.before.len();
        let table_len = Words::stride(numbers) * self.vertices.len();
        match numbers {
            _ if table_len > MOST_TABLE || numbers >= Words::MOST => {
                self.adjacent::<Sets>(cancel)?
            }
            ..=16 => self.adjacent::<Bytes<16>>(cancel)?,
            17..=32 => self.adjacent::<Bytes<32>>(cancel)?,
            33..=48 => self.adjacent::<Bytes<48>>(cancel)?,
            49..=64 => self.adjacent::<Bytes<64>>(cancel)?,
            65..=96 => self.adjacent::<Bytes<96>>(cancel)?,
            97..128 => self.adjacent::<Bytes<128>>(cancel)?,
            _ => self.adjacent::<Words>(cancel)?,
        }
        if selection == Selection::Prism {
            return ControlFlow::Continue(());
        }
        let large = self.sizes.iter().filter(|&&size| size >= 3).count();
        let triples = numbers.pow(2) * (numbers + 3) / 6 * large.div_ceil(64);
        let counts = self.before.iter().map(|&x| self.graph.degree(x).pow(2)).sum::<usize>();
        match triples <= STEP * counts {
            true => self.triples(cancel),
            false => self.pairs(cancel),
        }
    }

    /// Adds the contribution of pairs of adjacent vertices.
    #[inline(always)]
    fn adjacent<W: PairCounter>(&mut self, cancel: &Cancel) -> ControlFlow<()> {
        W::fill(self);
        for b in 0..self.vertices.len() {
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            if self.sizes[b] < 2 {
                continue;
            }
            let (mut prism, mut bipartite, mut caps) = (0, 0, 0);
            for &v in self.graph.neighbours(self.vertices[b]) {
                if v >= self.vertices[b] {
                    break;
                }
                let c = self.slot[v as usize] as usize;
                if c == NONE as usize || self.sizes[c] < 2 {
                    continue;
                }
                let common = shared(self.set(b), self.set(c));
                if common == 0 {
                    continue;
                }
                prism += self.prisms(b, c, common, W::across(self, b, c));
                if common >= 3 {
                    bipartite += threes(common.into());
                    caps += self.edges_within(self.set(b), self.set(c)) * u64::from(common - 2);
                }
            }
            self.found.prism += prism as u128;
            self.found.bipartite_and_edge += u128::from(bipartite);
            self.found.clique_and_caps += u128::from(caps);
        }
        ControlFlow::Continue(())
    }

    /// The prisms with the edge b–c, where a vertex of its triangle is one of `common` vertices of
    /// both sets, and an edge across is one of the root's triangle.
    #[inline(always)]
    fn prisms(&self, b: usize, c: usize, common: u32, across: CrossPairs) -> i64 {
        // An edge has not c itself in place of a vertex of S(b), nor b in place of one of S(c); nor
        // the vertex opposite to the root.
        let [b_in, c_in] = [b, c].map(|slot| i64::from(self.numbers[slot] != NONE));
        let [b_size, c_size] = [b, c].map(|slot| i64::from(self.sizes[slot]));
        let common = i64::from(common);
        let pairs = across.pairs - c_in * c_size - b_in * b_size + b_in * c_in;
        common * pairs - across.with_common + (b_in + c_in) * common
    }

    /// Adds the contribution of all pairs of vertices, from triples of numbers: t slots next to all three form
    /// t · (t − 1) / 2 pairs.
    #[inline(always)]
    fn triples(&mut self, cancel: &Cancel) -> ControlFlow<()> {
        let numbers = self.before.len();
        let large = (0..self.vertices.len()).filter(|&slot| self.sizes[slot] >= 3);
        let large: Vec<usize> = large.collect();
        let width = large.len().div_ceil(64);
        self.columns.clear();
        self.columns.resize(numbers * width, 0);
        self.within.clear();
        self.within.resize(width, 0);
        for (at, &slot) in large.iter().enumerate() {
            let (word, bit) = (at / 64, 1 << (at % 64));
            let set = &self.sets[slot * self.width..][..self.width];
            for number in members(set, set) {
                self.columns[number * width + word] |= bit;
            }
            if self.numbers[slot] != NONE {
                self.within[word] |= bit;
            }
        }
        let mut both = std::mem::take(&mut self.both);
        let column = |number: usize| &self.columns[number * width..][..width];
        let adjacent = |i: usize, j: usize| u64::from(self.near(i)[j / 64] >> (j % 64) & 1 == 1);
        let (mut bipartite, mut with_edge, mut caps) = (0u128, 0u128, 0u128);
        for i in 0..numbers {
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            for j in 0..i {
                both.clear();
                both.extend(column(i).iter().zip(column(j)).map(|(a, b)| a & b));
                if shared(&both, &both) < 2 {
                    continue;
                }
                let (edge, mut sums) = (adjacent(i, j), [0u64; 3]);
                for k in 0..j {
                    let slots = u64::from(shared(&both, column(k)));
                    if slots < 2 {
                        continue;
                    }
                    let inside = shared_by_three(&both, column(k), &self.within);
                    let edges = edge + adjacent(i, k) + adjacent(j, k);
                    let (pairs, next_to_root) =
                        (slots * (slots - 1) / 2, u64::from(inside) * (slots - 1));
                    sums[0] += pairs;
                    sums[1] += pairs * edges + next_to_root;
                    sums[2] += next_to_root * edges;
                }
                bipartite += u128::from(sums[0]);
                with_edge += u128::from(sums[1]);
                caps += u128::from(sums[2]);
            }
        }
        self.both = both;
        self.found.bipartite += bipartite;
        self.found.bipartite_and_edge += with_edge;
        self.found.clique_and_caps += caps;
        ControlFlow::Continue(())
    }

    /// Adds the same contribution, pair by pair.
    #[inline(always)]
    fn pairs(&mut self, cancel: &Cancel) -> ControlFlow<()> {
        for b in 0..self.vertices.len() {
            if self.sizes[b] < 3 {
                continue;
            }
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            let mut count = std::mem::take(&mut self.count);
            let mut met = std::mem::take(&mut self.met);
            for number in members(self.set(b), self.set(b)) {
                for &v in self.graph.neighbours(self.before[number]) {
                    if v >= self.vertices[b] {
                        break;
                    }
                    if count[v as usize] == 0 {
                        met.push(v);
                    }
                    count[v as usize] += 1;
                }
            }
            for v in met.drain(..) {
                let common = std::mem::take(&mut count[v as usize]);
                if common < 3 {
                    continue;
                }
                let (c, common) = (self.slot[v as usize] as usize, u64::from(common));
                let pairs = self.edges_within(self.set(b), self.set(c)) * (common - 2);
                let inside = [b, c].into_iter().filter(|&slot| self.numbers[slot] != NONE);
                let inside = inside.count() as u64;
                let found = &mut self.found;
                found.bipartite += u128::from(threes(common));
                found.bipartite_and_edge += u128::from(pairs + inside * threes(common));
                found.clique_and_caps += u128::from(inside * pairs);
            }
            (self.count, self.met) = (count, met);
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests;
