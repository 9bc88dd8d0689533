//! How many vertices are next to a vertex and to two of its neighbours, as tables.
//!
//! A set of four is visited once, but three of its vertices are in as many sets as there are fourth
//! ones. So what three have in common is counted beforehand, by one of them and by pairs of its
//! neighbours.

use std::ops::ControlFlow;

use gramer_base::context::{Cancel, Context};
use gramer_base::memory::{filled_or_unwind, zeroed_or_unwind};
use gramer_graph::{VertexId, View};

use super::common::{Common, shared};
use crate::{Job, StartVertices, run_units};

/// Maximum number of entries of all tables: 256 MiB. Tests have vertices without a table, too.
const MOST: usize = if cfg!(test) { 1 << 8 } else { 1 << 27 };
/// Maximum number of neighbours of a vertex with a table.
const MOST_NEIGHBOURS: usize = 1 << 12;

/// By vertex: its table, by two of its neighbours the one with the larger position in its row first;
/// empty where there is no room.
pub(super) struct Triples(Vec<Vec<u16>>);

/// Entries of a table before the row of a position.
fn before(position: usize) -> usize {
    position * position.saturating_sub(1) / 2
}

impl Triples {
    /// The tables, those of small numbers first; `None` once the run was cancelled.
    pub fn new(graph: View<'_>, common: &Common, context: &Context) -> Option<Self> {
        let mut room = MOST;
        let chosen: Vec<bool> = (0..graph.vertices() as VertexId)
            .map(|v| {
                let degree = graph.degree(v);
                let fits = degree <= MOST_NEIGHBOURS && before(degree) <= room;
                room -= if fits { before(degree) } else { 0 };
                fits
            })
            .collect();
        let list = |v: VertexId| usize::from(chosen[v as usize]);
        let weight = |v: VertexId| {
            let degree = graph.degree(v) as u64;
            degree * degree * (degree / 64 + 1)
        };
        let units = StartVertices::vertices(graph).units(Job::whole(context), list, weight);
        let (states, complete) = run_units(
            &units,
            context,
            || TripleState {
                graph,
                common,
                place: zeroed_or_unwind(graph.vertices()),
                near: vec![],
                made: vec![],
            },
            |maker, unit| maker.table(unit.start, &context.cancel),
        );
        complete.then(|| {
            let mut tables = filled_or_unwind(vec![], graph.vertices());
            for (v, table) in states.into_iter().flat_map(|maker| maker.made) {
                tables[v as usize] = table;
            }
            Triples(tables)
        })
    }

    /// By position in the row of `v`, less than `position`: the common neighbours of `v`, of the
    /// neighbour at `position` and of that one; `None` if `v` has no table.
    #[inline(always)]
    pub fn row(&self, v: VertexId, position: usize) -> Option<&[u16]> {
        let from = before(position);
        self.0[v as usize].get(from..from + position)
    }
}

/// A thread's state.
struct TripleState<'a> {
    graph: View<'a>,
    common: &'a Common,
    /// By neighbour of the current vertex: its position.
    place: Vec<u32>,
    /// By position: the neighbours next to it as bits.
    near: Vec<u64>,
    made: Vec<(VertexId, Vec<u16>)>,
}

impl TripleState<'_> {
    fn table(&mut self, v: VertexId, cancel: &Cancel) -> ControlFlow<()> {
        let (graph, row) = (self.graph, self.graph.neighbours(v));
        let width = row.len().div_ceil(64);
        for (at, &u) in row.iter().enumerate() {
            self.place[u as usize] = at as u32;
        }
        self.near.clear();
        self.near.resize(width * row.len(), 0);
        let sets = self.near.chunks_exact_mut(width.max(1));
        for (set, arc) in sets.zip(graph.row(v)) {
            for &u in self.common.of(arc) {
                let place = self.place[u as usize];
                set[place as usize / 64] |= 1 << (place % 64);
            }
        }
        let mut table = vec![0; before(row.len())];
        for (at, arc) in graph.row(v).enumerate() {
            if cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
            // Most neighbours of a hub may have nothing in common with it.
            if self.common.len(arc) != 0 {
                let entries = &mut table[before(at)..][..at];
                fill(entries, &self.near, &self.near[at * width..][..width]);
            }
        }
        self.made.push((v, table));
        ControlFlow::Continue(())
    }
}

/// Computes the sizes of the intersections of `set` with each of `sets`.
fn fill(entries: &mut [u16], sets: &[u64], set: &[u64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the features that the function is compiled for.
        return unsafe { fill_x86_v3(entries, sets, set) };
    }
    fill_portable(entries, sets, set);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn fill_x86_v3(entries: &mut [u16], sets: &[u64], set: &[u64]) {
    fill_portable(entries, sets, set);
}

#[inline(always)]
fn fill_portable(entries: &mut [u16], sets: &[u64], set: &[u64]) {
    for (entry, other) in entries.iter_mut().zip(sets.chunks_exact(set.len())) {
        // At most 2^12.
        *entry = shared(set, other) as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;

    #[test]
    fn tables_have_what_three_vertices_have_in_common_and_end_where_room_does() {
        let mut builder = Builder::new();
        let mut state = 7u64;
        for _ in 0..300 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (u, v) = (state >> 33 & 31, state >> 43 & 31);
            if u != v {
                builder.edge(u, v);
            }
        }
        let graph = builder.build();
        let view = graph.view();
        let context = Context::with_threads(2);
        let common = Common::new(view, &context).unwrap();
        let triples = Triples::new(view, &common, &context).unwrap();
        let mut without = 0;
        for v in 0..view.vertices() as VertexId {
            let row = view.neighbours(v);
            for (first, &a) in row.iter().enumerate().skip(1) {
                let Some(found) = triples.row(v, first) else {
                    without += 1;
                    continue;
                };
                let next_to = |u: VertexId, w: &VertexId| view.neighbours(u).contains(w);
                for (second, &b) in row[..first].iter().enumerate() {
                    let all = row.iter().filter(|w| next_to(a, w) && next_to(b, w)).count();
                    assert_eq!(usize::from(found[second]), all, "{v} {a} {b}");
                }
            }
        }
        assert!(without > 0 && triples.0.iter().any(|table| !table.is_empty()));
    }
}
