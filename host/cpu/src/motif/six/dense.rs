//! Every set of four vertices with a 4-cycle, and how the rest of the graph sees it.
//!
//! A set is met from its root r. The others are o, r's opposite, and p and q, which are next to both:
//! r–p–o–q is the cycle. In a clique r is the largest and o the smallest; in a diamond r is the larger
//! of the two that aren't adjacent; in a 4-cycle it is the largest. Vertices of large numbers have
//! short rows, so that sets of r's neighbours are few words.

use std::ops::{ControlFlow, Range};

use gramer_base::context::Cancel;
use gramer_base::memory::filled_or_unwind;
use gramer_graph::{VertexId, View};
use gramer_pattern::plan::system::MotifSystem;

use super::common::{Columns, Common, Sparse, shared, shared_by_three};
use super::moments::{Group, Kind, Moments};
use super::triples::Triples;
use crate::arcs::turned;
use crate::{Job, StartVertices};

const NONE: u32 = u32::MAX;

/// The sums of a system; `None` once the run was cancelled.
pub(super) fn sums(
    graph: View<'_>,
    common: &Common,
    system: &MotifSystem,
    job: Job<'_>,
) -> Option<Vec<u128>> {
    let context = job.context;
    let columns = Columns::new(graph);
    let triples = Triples::new(graph, common, context)?;
    let turned = turned(graph, &context.cancel)?;
    let known =
        GraphTables { graph, common, columns: &columns, triples: &triples, turned: &turned };
    let list = |v: VertexId| graph.degree(v);
    let weight =
        |v: VertexId| graph.neighbours(v).iter().map(|&u| graph.degree(u) as u64).sum::<u64>();
    let units = StartVertices::vertices(graph).units(job, list, weight);
    let ran = job.run(
        &units,
        || Root::new(known),
        |state, unit| {
            state.enter(unit.start);
            let flow = state.sets(unit.range(), &context.cancel);
            state.leave();
            flow
        },
    );
    let sums = ran.sums(|states| {
        let mut sums = vec![0; system.sums()];
        states.into_iter().for_each(|state| state.moments.add_to(&mut sums, system));
        Ok(sums)
    });
    sums.ok().and_then(|(sums, complete)| complete.then_some(sums))
}

/// Tables of the graph, shared by all threads.
#[derive(Clone, Copy)]
struct GraphTables<'a> {
    graph: View<'a>,
    common: &'a Common,
    columns: &'a Columns<'a>,
    triples: &'a Triples,
    /// By arc, the arc back.
    turned: &'a [u32],
}

/// A thread's state. Neighbours of the root have numbers by their position in its row.
struct Root<'a> {
    known: GraphTables<'a>,
    moments: Moments,
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
    /// The lists.
    list: Vec<MiddleVertex>,
    /// By number: common neighbours with the current p, and those of them next to the root; or
    /// [`NONE`] while that isn't known.
    with_p: Vec<[u32; 2]>,
    /// Number of common neighbours with the opposite.
    between: Sparse,
    /// The lists that the current p is in behind others, and by list the common neighbours of each of
    /// those others with p and the opposite, where a table has them.
    visits: Vec<Visit>,
    with_both: Vec<u16>,
}

/// A vertex next to the root and to an opposite.
#[derive(Debug, Clone, Copy, Default)]
struct MiddleVertex {
    /// Number of this vertex.
    number: u32,
    /// Position in the row of the opposite.
    position: u32,
    /// Number of common neighbours with the opposite.
    common: u32,
    /// Those of them next to the root, where the list is longer than this vertex.
    all: u32,
}

/// A list that p is in.
#[derive(Debug, Clone, Copy)]
struct Visit {
    /// The arc from p to the opposite.
    arc: usize,
    /// Start of the list, and its number of entries before p.
    begin: usize,
    before: usize,
    /// Start of their common neighbours, or [`NONE`].
    with_both: u32,
}

impl<'a> Root<'a> {
    fn new(known: GraphTables<'a>) -> Self {
        let graph = known.graph;
        Root {
            known,
            moments: Moments::new(),
            root: 0,
            width: 0,
            place: filled_or_unwind(NONE, graph.vertices()),
            near: vec![],
            near_len: vec![],
            slot: filled_or_unwind(NONE, graph.vertices()),
            opposites: vec![],
            shared: vec![],
            ends: vec![],
            list: vec![],
            with_p: vec![],
            between: Sparse::default(),
            visits: vec![],
            with_both: vec![],
        }
    }

    /// Makes `root` the root.
    fn enter(&mut self, root: VertexId) {
        let GraphTables { graph, common, turned, .. } = self.known;
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
        self.with_p.resize(row.len(), [NONE; 2]);
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
        self.list.resize(begin as usize, MiddleVertex::default());
        self.shared.clear();
        self.shared.resize(width * self.opposites.len(), 0);
        for (at, &p) in row.iter().enumerate() {
            for arc in graph.row(p) {
                let o = graph.neighbours[arc];
                if o >= root {
                    break;
                }
                let slot = self.slot[o as usize] as usize;
                let position = turned[arc] - graph.row(o).start as u32;
                let (number, common) = (at as u32, common.len(arc));
                self.list[self.ends[slot] as usize] =
                    MiddleVertex { number, position, common, all: 0 };
                self.ends[slot] += 1;
                self.shared[slot * width + at / 64] |= 1 << (at % 64);
            }
        }
    }

    /// Counts for every list the common neighbours of its vertices, the opposite vertex and the root.
    #[inline(always)]
    fn triples(&mut self) {
        let (width, mut begin) = (self.width, 0);
        for (slot, &end) in self.ends.iter().enumerate() {
            let list = begin..end as usize;
            begin = end as usize;
            if list.len() < 2 {
                continue;
            }
            let next_to_both = &self.shared[slot * width..(slot + 1) * width];
            for between in &mut self.list[list] {
                let number = between.number as usize;
                let near = &self.near[number * width..(number + 1) * width];
                between.all = shared(next_to_both, near);
            }
        }
    }

    fn leave(&mut self) {
        for &v in self.known.graph.neighbours(self.root) {
            self.place[v as usize] = NONE;
        }
        for o in self.opposites.drain(..) {
            self.slot[o as usize] = NONE;
        }
    }

    /// The sets whose p has a number in `part`; whether the run is asked to stop meanwhile.
    fn sets(&mut self, part: Range<usize>, cancel: &Cancel) -> ControlFlow<()> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the features that the function is compiled for.
            return unsafe { self.sets_x86_v3(part, cancel) };
        }
        self.sets_portable(part, cancel)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,popcnt")]
    fn sets_x86_v3(&mut self, part: Range<usize>, cancel: &Cancel) -> ControlFlow<()> {
        self.sets_portable(part, cancel)
    }

    #[inline(always)]
    fn sets_portable(&mut self, part: Range<usize>, cancel: &Cancel) -> ControlFlow<()> {
        self.triples();
        for p in part {
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            self.sets_of(p);
            self.moments.keep_small();
        }
        ControlFlow::Continue(())
    }

    /// Makes `image`, the root's neighbour `p`, the current p, and lists its common neighbours with each of its
    /// neighbours.
    #[inline(always)]
    fn enter_p(&mut self, p: usize, image: VertexId) {
        self.with_p[..p].fill([NONE; 2]);
        let GraphTables { graph, common, .. } = self.known;
        for arc in graph.row(image) {
            let place = self.place[graph.neighbours[arc] as usize];
            if place != NONE {
                self.with_p[place as usize][0] = common.len(arc);
            }
        }
    }

    /// The sets with the neighbour `p` of the root whose q comes before it.
    #[inline(always)]
    fn sets_of(&mut self, p: usize) {
        let graph = self.known.graph;
        let image = graph.neighbours(self.root)[p];
        self.enter_p(p, image);
        self.enter_lists(p, image);
        let visits = std::mem::take(&mut self.visits);
        for visit in &visits {
            self.sets_with(p, image, visit);
        }
        self.visits = visits;
    }

    /// Lists where p is, and what tables have of them: all loads one after the other, since tables are
    /// as large as caches and these wait together.
    #[inline(always)]
    fn enter_lists(&mut self, p: usize, image: VertexId) {
        let GraphTables { graph, triples, .. } = self.known;
        self.visits.clear();
        self.with_both.clear();
        for arc in graph.row(image) {
            let o = graph.neighbours[arc];
            if o >= self.root {
                break;
            }
            let slot = self.slot[o as usize] as usize;
            let begin = if slot == 0 { 0 } else { self.ends[slot - 1] as usize };
            let list = &self.list[begin..self.ends[slot] as usize];
            let clique = self.place[o as usize] != NONE;
            if list[0].number as usize >= p || clique && image > self.root {
                continue;
            }
            let before = list.iter().position(|between| between.number as usize == p);
            let before = before.expect("p is next to the root and to o");
            let mut with_both = NONE;
            if let Some(triples) = triples.row(o, list[before].position as usize) {
                with_both = self.with_both.len() as u32;
                let others = list[..before].iter();
                self.with_both.extend(others.map(|q| triples[q.position as usize]));
            }
            self.visits.push(Visit { arc, begin, before, with_both });
        }
    }

    /// The sets of a list.
    #[inline(always)]
    fn sets_with(&mut self, p: usize, image: VertexId, visit: &Visit) {
        let GraphTables { graph, common, columns, .. } = self.known;
        let &Visit { arc, begin, before, with_both } = visit;
        let (width, row, o) = (self.width, graph.neighbours(self.root), graph.neighbours[arc]);
        let degree = |v: VertexId| graph.degree(v) as u32;
        let near_p = &self.near[p * width..(p + 1) * width];
        let slot = self.slot[o as usize] as usize;
        let list = &self.list[begin..self.ends[slot] as usize];
        let clique = self.place[o as usize] != NONE;
        let known = with_both != NONE;
        if !known {
            columns.gather(common.of(arc), &mut self.between);
        }
        let next_to_both = &self.shared[slot * width..(slot + 1) * width];
        // Those whose p and q aren't adjacent, and those where they are.
        let mut groups = [Group::default(); 2];
        let kinds = if clique { [Kind::Clique; 2] } else { [Kind::Cycle, Kind::Diamond] };
        for (at, between) in list[..before].iter().enumerate() {
            let q = between.number as usize;
            let adjacent = near_p[q / 64] >> (q % 64) & 1 == 1;
            let counts = match (clique, adjacent) {
                (true, true) => o < row[q],
                (true, false) => false,
                (false, true) => true,
                (false, false) => image < self.root,
            };
            if !counts {
                continue;
            }
            let near_q = &self.near[q * width..(q + 1) * width];
            let with_p = &mut self.with_p[q];
            if with_p[0] == NONE {
                with_p[0] = columns.common(image, row[q]);
            }
            if with_p[1] == NONE {
                with_p[1] = shared(near_p, near_q);
            }
            let with_q = [
                degree(row[q]),
                self.near_len[q],
                between.common,
                between.all,
                with_p[0],
                with_p[1],
                match known {
                    true => u32::from(self.with_both[with_both as usize + at]),
                    false => columns.among(&self.between, row[q]),
                },
                shared_by_three(next_to_both, near_p, near_q),
            ];
            let kind = kinds[usize::from(adjacent)];
            self.moments.add(kind, &mut groups[usize::from(adjacent)], with_q);
        }
        let without_q = [
            1,
            degree(self.root),
            degree(o),
            list.len() as u32,
            degree(image),
            self.near_len[p],
            common.len(arc),
            list[before].all,
        ];
        for (group, kind) in groups.iter().zip(kinds) {
            self.moments.close(kind, group, without_q);
        }
    }
}
