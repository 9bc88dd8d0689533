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

mod opposite;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::{filled_or_unwind, zeroed_or_unwind};
use gramer_base::parallel::on_threads;
use gramer_graph::{VertexId, View};

use super::super::arcs::{self, Sums};
use super::super::cycle::{Paths, reach, visit, within};
use super::super::reach::{ByVertex, Dense, Form, by_form, parts};
use super::super::{Job, StartVertices};
use super::edges::{EdgeCounts, rows_of_threads, split_rows};
use opposite::OppositeEdges;

/// Maximum number of hubs: one bit of a `u128` each.
const HUBS: usize = 128;
/// Minimum number of neighbours of a hub: below it, paths are followed faster than bits are counted. Tests have
/// smaller graphs.
const HUB_DEGREE: usize = if cfg!(test) { 16 } else { 1024 };
const NO_HUB: u8 = u8::MAX;

/// The busiest vertices.
pub(super) struct Hubs {
    /// By number.
    busy: Vec<VertexId>,
    /// By vertex: its number as a hub, or [`NO_HUB`].
    number: Vec<u8>,
    /// By vertex: the hubs that it is next to.
    near: Vec<u128>,
    /// By pair of hubs: common neighbours.
    common: Vec<u32>,
}

impl Hubs {
    /// The hubs of a graph; `None` once the run was cancelled.
    pub fn new(graph: View<'_>, context: &Context) -> Option<Self> {
        let mut busy: Vec<VertexId> =
            (0..graph.vertices() as VertexId).filter(|&v| graph.degree(v) >= HUB_DEGREE).collect();
        if busy.len() > HUBS {
            busy.select_nth_unstable_by_key(HUBS, |&v| (std::cmp::Reverse(graph.degree(v)), v));
            busy.truncate(HUBS);
        }
        let mut looks = CancelPoll::new(&context.cancel);
        let mut number = filled_or_unwind(NO_HUB, graph.vertices());
        let mut near = zeroed_or_unwind::<u128>(graph.vertices());
        for (hub, &v) in busy.iter().enumerate() {
            looks.check(1 + graph.degree(v)).ok()?;
            number[v as usize] = hub as u8;
            for &u in graph.neighbours(v) {
                near[u as usize] |= 1 << hub;
            }
        }
        let rows = by_hub(busy.len(), HUBS, context, |a, row, looks| {
            let v = busy[a];
            for &u in graph.neighbours(v) {
                let before = near[u as usize] & ((1 << a) - 1);
                looks.check(1 + before.count_ones() as usize)?;
                ones(before).for_each(|b| row[b] += 1);
            }
            Ok(row.to_vec())
        })?;
        let mut common = vec![0; HUBS * HUBS];
        common.chunks_exact_mut(HUBS).zip(rows).for_each(|(all, row)| all.copy_from_slice(&row));
        Some(Hubs { busy, number, near, common })
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
    fn triples(&self, graph: View<'_>, job: Job<'_>) -> Option<u128> {
        let mut masks: Vec<u128> =
            self.near.iter().copied().filter(|mask| mask.count_ones() >= 3).collect();
        masks.sort_unstable();
        let masks: Vec<(u128, u32)> =
            masks.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect();
        // The pairs of smaller hubs of one hub at a time: their numbers stay in a cache. Later hubs have more before
        // them and come first.
        let hub = |start: u32| self.busy.len() - 1 - start as usize;
        let weight = |start| masks.len() as u64 * (1 + (hub(start) as u64).pow(2) / 8);
        let units = StartVertices::numbered(graph, &self.busy).units(job, |_| 1, weight);
        let ran = job.run(
            &units,
            || (0u128, vec![0u32; HUBS * HUBS], CancelPoll::new(&job.context.cancel)),
            |(sum, seen, looks), unit| {
                let a = hub(unit.start);
                for &(mask, same) in masks.iter().filter(|(mask, _)| mask >> a & 1 == 1) {
                    let before = mask & ((1 << a) - 1);
                    if looks.check(1 + (before.count_ones() as usize).pow(2)).is_err() {
                        return ControlFlow::Break(());
                    }
                    for b in ones(before) {
                        ones(before & ((1 << b) - 1)).for_each(|c| seen[b * HUBS + c] += same);
                    }
                }
                let pairs = |n: u32| u64::from(n) * u64::from(n).saturating_sub(1) / 2;
                *sum += seen.iter().map(|&n| u128::from(pairs(n))).sum::<u128>();
                seen.fill(0);
                ControlFlow::Continue(())
            },
        );
        let (sum, complete) = ran.sum(|state| state.0);
        complete.then_some(sum)
    }
}

/// Computes `of` for each hub on all threads, with results in the order of hubs; `None` if the run was cancelled. `of`
/// gets a buffer of `room` zeros.
fn by_hub<R: Send>(
    hubs: usize,
    room: usize,
    context: &Context,
    of: impl Fn(usize, &mut [u32], &mut CancelPoll<'_>) -> Result<R> + Sync,
) -> Option<Vec<R>> {
    let next = AtomicUsize::new(0);
    let found = on_threads(context.threads().min(hubs), |_| {
        let mut looks = CancelPoll::new(&context.cancel);
        let (mut own, mut counts) = (vec![], vec![0; room]);
        loop {
            // Later hubs have more before them.
            let Some(hub) = hubs.checked_sub(1 + next.fetch_add(1, Ordering::Relaxed)) else {
                return Ok(own);
            };
            counts.fill(0);
            own.push((hub, of(hub, &mut counts, &mut looks)?));
        }
    });
    let found: Result<Vec<Vec<(usize, R)>>> = found.into_iter().collect();
    let mut found: Vec<(usize, R)> = found.ok()?.into_iter().flatten().collect();
    found.sort_unstable_by_key(|(hub, _)| *hub);
    Some(found.into_iter().map(|(_, found)| found).collect())
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

/// The common neighbours of the ends of each edge, for those edges whose pairs of them are looked at
/// one by one: see [`of_three`].
pub(super) struct CommonNeighbourLists {
    /// By arc, and the end: where the list of an arc to a smaller vertex begins.
    starts: Vec<u32>,
    /// Ascending in each list.
    members: Vec<AtomicU32>,
    /// By arc: whether its pairs are looked at.
    chosen: Vec<AtomicBool>,
}

impl CommonNeighbourLists {
    /// Maximum number of entries: 1 GiB.
    const MOST: u64 = 1 << 28;

    /// Room for all lists; `None` if there are too many.
    pub fn new(graph: View<'_>, counts: &EdgeCounts, context: &Context) -> Option<Self> {
        let rows = rows_of_threads(graph, context.threads());
        let entries = |v: VertexId, arc: usize| match graph.neighbours[arc] < v {
            true => counts.triangles(arc),
            false => 0,
        };
        let of_rows = on_threads(rows.len(), |part| {
            let arcs = rows[part].clone().flat_map(|v| graph.row(v).map(move |arc| (v, arc)));
            arcs.map(|(v, arc)| entries(v, arc)).sum::<u64>()
        });
        let all = of_rows.iter().sum::<u64>();
        if all > Self::MOST {
            return None;
        }
        let mut starts = zeroed_or_unwind(graph.neighbours.len() + 1);
        starts[graph.neighbours.len()] = all as u32;
        let (mut rest, mut end) = (&mut starts[..], 0);
        let parts = rows.iter().zip(&of_rows).map(|(rows, own)| {
            let first = end;
            end += own;
            Mutex::new((split_rows(&mut rest, graph, rows), first))
        });
        let parts: Vec<_> = parts.collect();
        on_threads(parts.len(), |part| {
            let (starts, end) = &mut *parts[part].lock().unwrap_or_else(PoisonError::into_inner);
            let arcs = rows[part].clone().flat_map(|v| graph.row(v).map(move |arc| (v, arc)));
            for (start, (v, arc)) in starts.iter_mut().zip(arcs) {
                *start = *end as u32;
                *end += entries(v, arc);
            }
        });
        drop(parts);
        Some(CommonNeighbourLists {
            starts,
            // The threads that fill them get their pages from the system.
            members: zeroed_or_unwind(all as usize),
            chosen: zeroed_or_unwind(graph.neighbours.len()),
        })
    }

    /// Sets the list of an arc to a smaller vertex.
    pub fn set(&self, arc: usize, members: impl Iterator<Item = VertexId>, chosen: bool) {
        let list = &self.members[self.starts[arc] as usize..];
        for (place, v) in list.iter().zip(members) {
            place.store(v, Ordering::Relaxed);
        }
        self.chosen[arc].store(chosen, Ordering::Relaxed);
    }

    /// Chooses an edge, whose list [`CommonNeighbourLists::find`] has set.
    pub fn choose(&self, arc: usize) {
        self.chosen[arc].store(true, Ordering::Relaxed);
    }

    /// Sets all lists. A process that looks at some edges alone needs the lists of others too, and finds them faster than
    /// it is told them. `None` once the run was cancelled.
    pub fn find(&self, graph: View<'_>, job: Job<'_>) -> Option<()> {
        let met = Sums::new(graph.neighbours.len(), job.context);
        let alone = Job { others: None, ..job };
        let ran = by_form!(graph.vertices(), arcs::BYTES, F => arcs::triangles::<F, _>(
            graph,
            alone,
            || (),
            |(), corners, arcs| {
                // Each edge is opposite to the corner that its arc isn't at.
                for (arc, third) in arcs.into_iter().zip([2, 1, 0]) {
                    let place = u64::from(self.starts[arc]) + met.add_and_get(arc, 1);
                    self.members[place as usize].store(corners[third], Ordering::Relaxed);
                }
            },
        ));
        ran.complete.then_some(())?;
        let (arcs, threads) = (graph.neighbours.len(), job.context.threads());
        // One thread meets each list's members in order.
        if threads == 1 {
            return Some(());
        }
        let sorted = on_threads(threads, |thread| {
            let (mut looks, mut list) = (CancelPoll::new(&job.context.cancel), vec![]);
            for arc in arcs * thread / threads..arcs * (thread + 1) / threads {
                list.clear();
                list.extend(self.list(arc).iter().map(|v| v.load(Ordering::Relaxed)));
                looks.check(1 + list.len()).ok()?;
                if !list.is_sorted() {
                    list.sort_unstable();
                    let places = &self.members[self.starts[arc] as usize..];
                    places.iter().zip(&list).for_each(|(to, &v)| to.store(v, Ordering::Relaxed));
                }
            }
            Some(())
        });
        sorted.into_iter().collect()
    }

    /// Serializes the chosen edges for [`CommonNeighbourLists::read`]: a bit per arc.
    pub fn write(&self) -> Vec<u8> {
        let byte = |chosen: &[AtomicBool]| {
            let bits = chosen.iter().enumerate();
            bits.fold(0, |byte, (at, bit)| byte | u8::from(bit.load(Ordering::Relaxed)) << at)
        };
        self.chosen.chunks(8).map(byte).collect()
    }

    /// Also chooses the edges of another process; `None` for an edge outside the graph.
    pub fn read(&self, bytes: &[u8]) -> Option<()> {
        (bytes.len() == self.chosen.len().div_ceil(8)).then_some(())?;
        for (chosen, byte) in self.chosen.chunks(8).zip(bytes) {
            let wanted = chosen.iter().enumerate().filter(|(at, _)| byte >> at & 1 == 1);
            wanted.for_each(|(_, bit)| bit.store(true, Ordering::Relaxed));
        }
        Some(())
    }

    /// The list of an arc to a smaller vertex.
    #[inline]
    fn list(&self, arc: usize) -> &[AtomicU32] {
        &self.members[self.starts[arc] as usize..self.starts[arc + 1] as usize]
    }
}

/// A thread's counters.
pub(super) struct Counter<'a, F: Form> {
    graph: View<'a>,
    /// By vertex; empty between calls.
    paths: F::Table<u32>,
    ordinary: Vec<VertexId>,
}

impl<'a, F: Form> Counter<'a, F> {
    /// The table of a sparse one is one of `tables` of its thread.
    pub fn new(graph: View<'a>, tables: usize) -> Self {
        Counter { graph, paths: F::Table::new(graph.vertices(), 0, tables), ordinary: vec![] }
    }

    /// Number of elements that [`Counter::pairs_with_a_neighbour`] visits for a set.
    pub fn steps(&self, set: impl Iterator<Item = VertexId>, hubs: &Hubs) -> usize {
        let ordinary = set.filter(|&v| hubs.number(v).is_none());
        ordinary.map(|v| 2 * self.graph.degree(v)).sum()
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
        let Counter { graph, paths, ordinary } = self;
        let every = 0..graph.vertices() as VertexId;
        let reach = || reach(*graph, ordinary);
        let visit = |each: &mut dyn FnMut(VertexId)| visit(*graph, ordinary, each);
        for part in parts(paths.most(), every.clone(), reach, visit) {
            let row = |v: VertexId| {
                let row = graph.neighbours(v);
                if part.len() == every.len() { row } else { &row[within(row, &part)] }
            };
            for &v in ordinary.iter() {
                for &u in row(v) {
                    let paths = paths.entry(u);
                    total += u64::from(*paths);
                    *paths += 1;
                }
                if among != 0 {
                    for &u in row(v) {
                        total += u64::from((hubs.near[u as usize] & among).count_ones());
                    }
                }
            }
            paths.clear(ordinary.iter().flat_map(|&v| row(v)).copied());
        }
        total.into()
    }
}

/// With W the common neighbours of a pair of vertices: Σ over all pairs of C(W, 3), which is the
/// edge-induced number of K₂,₃; and Σ over the chosen edges u–v of `thirds` and over the pairs of common
/// neighbours of u and v of W − 2. `None` once the run was cancelled.
pub(super) fn of_three(
    graph: View<'_>,
    hubs: &Hubs,
    thirds: Option<&CommonNeighbourLists>,
    job: Job<'_>,
) -> Option<(u128, u128)> {
    by_form!(graph.vertices(), Paths::<Dense>::BYTES, F => of_three_by::<F>(graph, hubs, thirds, job))
}

fn of_three_by<F: Form>(
    graph: View<'_>,
    hubs: &Hubs,
    thirds: Option<&CommonNeighbourLists>,
    job: Job<'_>,
) -> Option<(u128, u128)> {
    let context = job.context;
    let ordinary = |v: &&VertexId| hubs.number(**v).is_none();
    let weight = |v: VertexId| {
        let over = graph.neighbours(v).iter().filter(ordinary);
        over.map(|&u| graph.degree(u) as u64).sum::<u64>()
    };
    // A vertex is divided by the other ends of its pairs, which are smaller.
    let list = |v: VertexId| if graph.degree(v) < 3 { 0 } else { v as usize };
    let units = StartVertices::vertices(graph).units(job, list, weight);
    let ran = job.run(
        &units,
        || (0u128, 0u128, Paths::<F>::new(graph.vertices(), 1), vec![]),
        |(total, on_edges, paths, opposite), unit| {
            let near = hubs.near[unit.start as usize];
            let neighbours = graph.neighbours(unit.start);
            // Paths over hubs aren't followed.
            let over = || neighbours.iter().filter(ordinary);
            let reach = || over().map(|&b| graph.degree(b)).sum();
            let visit =
                |each: &mut dyn FnMut(VertexId)| over().for_each(|&b| visit(graph, &[b], each));
            for part in parts(paths.count.most(), unit.first..unit.limit, reach, visit) {
                for (i, &b) in neighbours.iter().enumerate().filter(|(_, b)| ordinary(b)) {
                    if context.cancel.is_cancelled() {
                        return ControlFlow::Break(());
                    }
                    graph.ask_row_ahead(neighbours, i);
                    let row = graph.neighbours(b);
                    for &c in &row[within(row, &part)] {
                        paths.add(c);
                    }
                }
                *total += threes(paths, |c| (hubs.near[c as usize] & near).count_ones());
                if let Some(thirds) = thirds {
                    // An end of paths over hubs alone has none of those that are followed.
                    let over_hubs = |c: VertexId| (hubs.near[c as usize] & near).count_ones();
                    let (a, room) = (unit.start, &mut *opposite);
                    *on_edges += OppositeEdges { graph, thirds, a, part, room }
                        .sum::<F>(&paths.count, over_hubs);
                }
                paths.clear();
            }
            ControlFlow::Continue(())
        },
    );
    let of = |states: Vec<(u128, u128, _, _)>| {
        Ok([states.iter().map(|s| s.0).sum(), states.iter().map(|s| s.1).sum()])
    };
    let ([total, on_edges], complete): ([u128; 2], _) = ran.sums(of).ok()?;
    complete.then_some(())?;
    Some((total + hubs.triples(graph, job)?, on_edges))
}

/// Σ over the ends of paths over others, L of them each, of C(L, 3) + C(L, 2)·h + L·C(h, 2), `hubs` giving h of an end;
/// their counts become L + h.
fn threes<F: Form>(paths: &mut Paths<F>, hubs: impl Fn(VertexId) -> u32) -> u128 {
    let (mut sum, mut three_times) = (0, 0);
    for at in 0..paths.ends().len() {
        let end = paths.ends()[at];
        let count = paths.count.entry(end);
        let (l, h) = (u64::from(*count), u64::from(hubs(end)));
        *count += h as u32;
        let pairs = l * (l - 1) / 2;
        three_times += u128::from(pairs) * u128::from(l.saturating_sub(2));
        sum += u128::from(pairs) * u128::from(h) + u128::from(l * (h * h.saturating_sub(1) / 2));
    }
    sum + three_times / 3
}
