//! The graph that the neighbours of one vertex induce.

use std::ops::Range;

use gramer_graph::{VertexId, View};

use super::super::reach::{Form, NOWHERE, Places};
use super::super::sets::gallop;
use super::collisions::Hubs;
use super::edges::EdgeCounts;

/// From this ratio of lengths on, members are looked up in the longer row.
pub(super) const SEARCH: usize = 32;
/// Up to this many members their rows are kept as bits where that is shorter.
const BIT_MEMBERS: usize = 2048;

/// Marks that are cleared in the time of one path.
const PATHS: usize = 8;

/// A thread's copy of one neighbourhood. Members have numbers by their position in the row.
pub(super) struct Neighbourhood<'a, F: Form> {
    graph: View<'a>,
    /// Centre of the neighbourhood, if loaded.
    centre: Option<VertexId>,
    members: &'a [VertexId],
    /// By member: the triangles on its edge to the centre, which is its degree here.
    degrees: Vec<u32>,
    offsets: Vec<usize>,
    rows: Vec<u32>,
    /// The numbers of the members.
    place: Places<'a, F>,
    counts: &'a EdgeCounts,
    /// Rows as bits, or empty.
    bits: Vec<u64>,
    /// By member, zero between calls.
    marks: Vec<u32>,
    /// Position after the root in its neighbours' rows.
    after: Vec<u32>,
}

impl<'a, F: Form> Neighbourhood<'a, F> {
    /// The table of a sparse one is one of `tables` of its thread.
    pub fn new(graph: View<'a>, counts: &'a EdgeCounts, tables: usize) -> Self {
        Neighbourhood {
            graph,
            centre: None,
            members: &[],
            degrees: vec![],
            offsets: vec![],
            rows: vec![],
            place: Places::new(graph.vertices(), tables),
            counts,
            bits: vec![],
            marks: vec![],
            after: vec![],
        }
    }

    /// Makes this the neighbourhood of `centre`. One after the other, the parts of a vertex that is divided find it
    /// made.
    pub fn fill(&mut self, centre: VertexId, hubs: &Hubs) {
        let graph = self.graph;
        if self.centre.replace(centre) == Some(centre) {
            return;
        }
        self.members = graph.neighbours(centre);
        self.degrees.clear();
        self.degrees.extend(graph.row(centre).map(|arc| self.counts.triangles(arc) as u32));
        self.offsets.clear();
        self.offsets.push(0);
        let mut end = 0;
        for &degree in &self.degrees {
            end += degree as usize;
            self.offsets.push(end);
        }
        self.rows.resize(end.max(self.rows.len()), 0);
        self.place.enter(self.members);
        // Each edge from its larger end; both rows grow in ascending order.
        self.marks.clear();
        self.marks.resize(self.members.len(), 0);
        for (at, &v) in self.members.iter().enumerate() {
            if self.degrees[at] == 0 {
                continue;
            }
            let earlier = &self.members[..at];
            let row = graph.neighbours(v);
            if let Some(hub) = hubs.number(v).filter(|_| row.len() > earlier.len()) {
                for (other, &u) in earlier.iter().enumerate() {
                    if hubs.is_near(u, hub) {
                        self.join(at, other);
                    }
                }
            } else if row.len() > SEARCH * earlier.len() {
                for (other, u) in earlier.iter().enumerate() {
                    if row.binary_search(u).is_ok() {
                        self.join(at, other);
                    }
                }
            } else {
                for &u in row.iter().take_while(|&&u| u < v) {
                    let other = self.place.of(u);
                    if other != NOWHERE {
                        self.join(at, other as usize);
                    }
                }
            }
        }
        self.place.leave();
        self.marks.fill(0);
        self.bits.clear();
    }

    fn join(&mut self, a: usize, b: usize) {
        for (from, to) in [(a, b), (b, a)] {
            let mark = &mut self.marks[from];
            self.rows[self.offsets[from] + *mark as usize] = to as u32;
            *mark += 1;
        }
    }

    /// The graph vertex of a member.
    #[inline]
    pub fn vertex(&self, at: usize) -> VertexId {
        self.members[at]
    }

    /// The members next to a member, ascending.
    #[inline]
    pub fn neighbours(&self, at: usize) -> &[u32] {
        &self.rows[self.offsets[at]..self.offsets[at + 1]]
    }

    /// Each triangle whose first corner by number of neighbours is the centre and whose larger
    /// other one is among the members `part`: degrees by corner, triangles on the edge opposite to
    /// each, and 4-cliques that it is in.
    pub fn triangles(
        &mut self,
        part: Range<usize>,
        mut visit: impl FnMut([u128; 3], [u128; 3], u128),
    ) {
        let Some(centre) = self.centre else { return };
        let words = self.members.len().div_ceil(64);
        let entries = self.offsets[self.members.len()];
        let as_bits =
            self.members.len() <= BIT_MEMBERS && words * self.members.len() <= 4 * entries;
        if as_bits && self.bits.is_empty() {
            self.bits.resize(words * self.members.len(), 0);
            for at in 0..self.members.len() {
                for &other in &self.rows[self.offsets[at]..self.offsets[at + 1]] {
                    self.bits[at * words + other as usize / 64] |= 1 << (other % 64);
                }
            }
        }
        let graph = self.graph;
        let degree = |v: VertexId| graph.degree(v) as u128;
        // Whether the centre comes before a vertex by number of neighbours.
        let before = |v: VertexId| (graph.degree(centre), centre) < (graph.degree(v), v);
        for a in part {
            let u = self.members[a];
            if self.degrees[a] == 0 || !before(u) {
                continue;
            }
            let row = &self.rows[self.offsets[a]..self.offsets[a + 1]];
            if !as_bits {
                row.iter().for_each(|&c| self.marks[c as usize] = 1);
            }
            let mut arc = graph.row(u);
            for &b in row.iter().take_while(|&&b| (b as usize) < a) {
                let b = b as usize;
                let w = self.members[b];
                if !before(w) {
                    continue;
                }
                let cliques: u64 = if as_bits {
                    let row = |at: usize| &self.bits[at * words..(at + 1) * words];
                    row(a).iter().zip(row(b)).map(|(x, y)| u64::from((x & y).count_ones())).sum()
                } else {
                    let other = &self.rows[self.offsets[b]..self.offsets[b + 1]];
                    other.iter().map(|&c| u64::from(self.marks[c as usize])).sum()
                };
                // Their numbers ascend.
                arc.start += gallop(&graph.neighbours[arc.clone()], w);
                let opposite = self.counts.triangles(arc.start);
                visit(
                    [degree(centre), degree(u), degree(w)],
                    [opposite.into(), self.degrees[b].into(), self.degrees[a].into()],
                    cliques.into(),
                );
            }
            if !as_bits {
                row.iter().for_each(|&c| self.marks[c as usize] = 0);
            }
        }
    }

    /// 4-cycles among the members whose smallest one is in `part`.
    pub fn cycles(&mut self, part: Range<usize>) -> u128 {
        let mut total = 0u128;
        for root in part {
            let row = |at: usize| &self.rows[self.offsets[at]..self.offsets[at + 1]];
            let after = |row: &'_ [u32]| row.partition_point(|&c| c as usize <= root);
            let first = row(root);
            let first = &first[after(first)..];
            let (mut found, mut paths) = (0u64, 0);
            self.after.clear();
            for &b in first {
                let row = row(b as usize);
                let after = after(row);
                for &c in &row[after..] {
                    let mark = &mut self.marks[c as usize];
                    found += u64::from(*mark);
                    *mark += 1;
                }
                self.after.push(after as u32);
                paths += row.len() - after;
            }
            if paths > self.marks.len() / PATHS {
                self.marks[root + 1..].fill(0);
            } else {
                for (&b, &after) in first.iter().zip(&self.after) {
                    for &c in &row(b as usize)[after as usize..] {
                        self.marks[c as usize] = 0;
                    }
                }
            }
            total += u128::from(found);
        }
        total
    }
}
