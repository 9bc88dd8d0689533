//! Common neighbours of pairs of vertices, counted over all pairs.
//!
//! Paths of two edges over a vertex of d neighbours lead to d² pairs, which a few hubs make more
//! than all the rest. So for the busiest vertices, the [`Hubs`], every vertex has a bit, and only
//! paths over the others are followed: with L paths over others and h hubs next to both, a pair has
//! L + h common neighbours, and
//!
//! > C(L + h, 2) = C(L, 2) + L·h + C(h, 2),
//! > C(L + h, 3) = C(L, 3) + C(L, 2)·h + L·C(h, 2) + C(h, 3)
//!
//! of which all but the last terms grow path by path, and the last ones are sums over hubs alone.

use std::ops::ControlFlow;

use gramer_graph::context::{Cancel, Context, Looks};
use gramer_graph::{VertexId, View};

use super::super::{Job, Starts, run_units};

/// Most hubs: one bit of a `u128` each.
const HUBS: usize = 128;
/// Least neighbours of a hub.
const HUB_DEGREE: usize = 64;
const NO_HUB: u8 = u8::MAX;

/// The busiest vertices.
pub(super) struct Hubs {
    /// By vertex: its number as a hub, or [`NO_HUB`].
    number: Vec<u8>,
    /// By vertex: the hubs that it is next to.
    near: Vec<u128>,
    /// By pair of hubs: common neighbours.
    common: Vec<u32>,
}

impl Hubs {
    /// The hubs of a graph; `None` once the run is asked to stop.
    pub fn new(graph: View<'_>, cancel: &Cancel) -> Option<Self> {
        let mut busy: Vec<VertexId> =
            (0..graph.vertices() as VertexId).filter(|&v| graph.degree(v) >= HUB_DEGREE).collect();
        if busy.len() > HUBS {
            busy.select_nth_unstable_by_key(HUBS, |&v| (std::cmp::Reverse(graph.degree(v)), v));
            busy.truncate(HUBS);
        }
        let mut looks = Looks::new(cancel);
        let mut number = vec![NO_HUB; graph.vertices()];
        let mut near = vec![0u128; graph.vertices()];
        for (hub, &v) in busy.iter().enumerate() {
            looks.check(1 + graph.degree(v)).ok()?;
            number[v as usize] = hub as u8;
            for &u in graph.neighbours(v) {
                near[u as usize] |= 1 << hub;
            }
        }
        let mut common = vec![0; HUBS * HUBS];
        for &mask in &near {
            let hubs = mask.count_ones() as usize;
            looks.check(1 + hubs * hubs).ok()?;
            for a in ones(mask) {
                for b in ones(mask & ((1 << a) - 1)) {
                    common[a * HUBS + b] += 1;
                }
            }
        }
        Some(Hubs { number, near, common })
    }

    /// The number of a vertex among the hubs.
    #[inline]
    pub fn number(&self, v: VertexId) -> Option<usize> {
        let number = self.number[v as usize];
        (number != NO_HUB).then_some(usize::from(number))
    }

    /// Whether a vertex is next to a hub.
    #[inline]
    pub fn is_near(&self, v: VertexId, hub: usize) -> bool {
        self.near[v as usize] >> hub & 1 == 1
    }

    /// Σ over the pairs of vertices of C(h, 3), h the hubs next to both: for three hubs, the pairs
    /// of their common neighbours.
    fn triples(&self, cancel: &Cancel) -> Option<u128> {
        let mut masks: Vec<u128> =
            self.near.iter().copied().filter(|mask| mask.count_ones() >= 3).collect();
        masks.sort_unstable();
        let mut looks = Looks::new(cancel);
        let mut seen = vec![0u32; if masks.is_empty() { 0 } else { HUBS * HUBS * HUBS }];
        for same in masks.chunk_by(|a, b| a == b) {
            let mask = same[0];
            looks.check((mask.count_ones() as usize).pow(3)).ok()?;
            for a in ones(mask) {
                for b in ones(mask & ((1 << a) - 1)) {
                    for c in ones(mask & ((1 << b) - 1)) {
                        seen[(a * HUBS + b) * HUBS + c] += same.len() as u32;
                    }
                }
            }
        }
        Some(seen.iter().map(|&n| u128::from(n) * u128::from(n).saturating_sub(1) / 2).sum())
    }
}

fn ones(mut mask: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let bit = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            bit
        })
    })
}

/// A thread's counters.
pub(super) struct Counter<'a> {
    graph: View<'a>,
    /// By vertex; zero between calls.
    paths: Vec<u32>,
    ordinary: Vec<VertexId>,
}

impl<'a> Counter<'a> {
    pub fn new(graph: View<'a>) -> Self {
        Counter { graph, paths: vec![0; graph.vertices()], ordinary: vec![] }
    }

    /// Σ over the pairs of `set` of their common neighbours.
    pub fn pairs_with_a_neighbour(
        &mut self,
        set: impl Iterator<Item = VertexId>,
        hubs: &Hubs,
    ) -> u128 {
        let mut among = 0u128;
        self.ordinary.clear();
        for v in set {
            match hubs.number(v) {
                Some(hub) => among |= 1 << hub,
                None => self.ordinary.push(v),
            }
        }
        let mut total = 0u64;
        for a in ones(among) {
            for b in ones(among & ((1 << a) - 1)) {
                total += u64::from(hubs.common[a * HUBS + b]);
            }
        }
        for &v in &self.ordinary {
            for &u in self.graph.neighbours(v) {
                let paths = &mut self.paths[u as usize];
                total += u64::from(*paths);
                *paths += 1;
            }
            if among != 0 {
                for &u in self.graph.neighbours(v) {
                    total += u64::from((hubs.near[u as usize] & among).count_ones());
                }
            }
        }
        for &v in &self.ordinary {
            for &u in self.graph.neighbours(v) {
                self.paths[u as usize] = 0;
            }
        }
        total.into()
    }
}

/// Σ over the pairs of vertices of C(W, 3), W their common neighbours: the edge-induced number of
/// K₂,₃. `None` once the run is asked to stop.
pub(super) fn of_three(graph: View<'_>, context: &Context) -> Option<u128> {
    let hubs = Hubs::new(graph, &context.cancel)?;
    let ordinary = |v: &&VertexId| hubs.number(**v).is_none();
    let weight = |v: VertexId| {
        let over = graph.neighbours(v).iter().filter(ordinary);
        over.map(|&u| graph.degree(u) as u64).sum::<u64>()
    };
    // A vertex is divided by the other ends of its pairs, which are smaller.
    let list = |v: VertexId| if graph.degree(v) < 3 { 0 } else { v as usize };
    let units = Starts::vertices(graph).units(Job::whole(context), list, weight);
    let (states, complete) = run_units(
        &units,
        context,
        || (0u128, vec![0u32; graph.vertices()], vec![0; graph.vertices()]),
        |(total, paths, ends), unit| {
            let near = hubs.near[unit.start as usize];
            let (mut sum, mut met) = (0u128, 0);
            for &b in graph.neighbours(unit.start).iter().filter(ordinary) {
                if context.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                let row = graph.neighbours(b);
                let row = &row[..row.partition_point(|&c| c < unit.limit)];
                let row = &row[row.partition_point(|&c| c < unit.first)..];
                let mut here = 0u64;
                for &c in row {
                    let before = u64::from(paths[c as usize]);
                    paths[c as usize] += 1;
                    ends[met] = c;
                    met += usize::from(before == 0);
                    here += before * before.saturating_sub(1) / 2;
                    if near != 0 {
                        let both = u64::from((hubs.near[c as usize] & near).count_ones());
                        here += before * both + both * both.saturating_sub(1) / 2;
                    }
                }
                sum += u128::from(here);
            }
            for &c in &ends[..met] {
                paths[c as usize] = 0;
            }
            *total += sum;
            ControlFlow::Continue(())
        },
    );
    let triples = hubs.triples(&context.cancel)?;
    complete.then(|| states.iter().map(|s| s.0).sum::<u128>() + triples)
}
