//! The graph oriented by degeneracy: every edge leads from a vertex that is peeled earlier to one
//! that is peeled later.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use gramer_base::Storage;
use gramer_base::budget::{ArrayFile, Budget, touch};
use gramer_base::context::{CancelPoll, Context};
use gramer_base::error::Result;
use gramer_base::memory::{collected, with_room, zeroed};
use gramer_base::parallel::on_threads;
use gramer_base::prefetch::prefetch;
use gramer_graph::{VertexId, View};
use tracing::{info, info_span};

/// A directed acyclic copy of a graph. Vertices are numbered so that edges lead to smaller
/// numbers, and no vertex has more than the graph's degeneracy of them.
#[derive(Debug)]
pub(crate) struct Oriented {
    offsets: Vec<u64>,
    /// In a mapped file where memory is limited.
    targets: Storage<u32>,
    /// The graph's vertex, by number in this copy.
    pub vertex: Vec<VertexId>,
    /// The number in this copy, by the graph's vertex.
    number: Vec<u32>,
    degeneracy: usize,
}

impl Oriented {
    /// Orients a graph: vertices are peeled by smallest remaining degree (Matula and Beck, 1983),
    /// all of one degree together (Kabir and Madduri, *Parallel k-core Decomposition on Multicore
    /// Platforms*, 2017).
    ///
    /// # Errors
    /// [`gramer_base::Error::Interrupted`] once the run was cancelled.
    pub fn by_degeneracy(graph: View<'_>, context: &Context) -> Result<Self> {
        let _phase = gramer_base::memory::Phase::begin(&"orienting the graph");
        let _span = info_span!("orient").entered();
        // Each vertex is peeled, and its targets are found.
        context.progress.begin(2 * graph.vertices() as u64);
        let mut vertex = peel(graph, context)?;
        // Peeled last becomes number 0.
        vertex.reverse();
        let oriented = Oriented::by_order(graph, vertex, context)?;
        info!(degeneracy = oriented.degeneracy, "edges lead to what was peeled later");
        Ok(oriented)
    }

    /// Orients every edge towards the vertex that comes earlier in `vertex`.
    ///
    /// # Errors
    /// As [`Oriented::by_degeneracy`].
    pub fn by_order(graph: View<'_>, vertex: Vec<VertexId>, context: &Context) -> Result<Self> {
        let vertices = graph.vertices();
        let mut number: Vec<u32> = zeroed(vertices)?;
        let mut looks = CancelPoll::new(&context.cancel);
        for (n, &v) in vertex.iter().enumerate() {
            looks.check(1)?;
            number[v as usize] = n as u32;
        }
        let Lists { offsets, targets, degeneracy } = match &context.budget {
            None => in_memory(graph, &vertex, &number, context)?,
            Some(budget) => in_file(graph, &vertex, &number, budget, context)?,
        };
        Ok(Oriented { offsets, targets, vertex, number, degeneracy })
    }

    /// Number of vertices.
    pub fn vertices(&self) -> usize {
        self.vertex.len()
    }

    /// Targets of `n`, ascending; all smaller than `n`.
    #[inline]
    pub fn targets(&self, n: u32) -> &[u32] {
        let targets = &self.targets[self.row(n)];
        touch(targets);
        targets
    }

    /// The targets of each of these vertices. They lie in random places and are prefetched.
    pub fn targets_of<'a>(&'a self, vertices: &'a [u32]) -> impl Iterator<Item = &'a [u32]> {
        const AHEAD: usize = 4;
        vertices.iter().for_each(|&n| self.ask_row(n));
        vertices.iter().take(AHEAD).for_each(|&n| self.ask_targets(n));
        vertices.iter().enumerate().map(|(i, &n)| {
            vertices.get(i + AHEAD).into_iter().for_each(|&n| self.ask_targets(n));
            self.targets(n)
        })
    }

    /// Prefetches the place of `n`'s targets, which are prefetched or read later.
    #[inline]
    fn ask_row(&self, n: u32) {
        prefetch(&self.offsets, n as usize, 1);
    }

    /// Prefetches the targets of `n`.
    #[inline]
    fn ask_targets(&self, n: u32) {
        prefetch(&self.targets, self.offsets[n as usize] as usize, 2);
    }

    /// Number of arcs.
    pub fn arcs(&self) -> usize {
        self.targets.len()
    }

    /// The arcs from `n`, by number: one for each of its targets, in their order.
    #[inline]
    pub fn row(&self, n: u32) -> Range<usize> {
        self.offsets[n as usize] as usize..self.offsets[n as usize + 1] as usize
    }

    /// The number in this copy, by the graph's vertex.
    pub fn numbers(&self) -> &[u32] {
        &self.number
    }

    /// Sources of `n`, in any order; `graph` is the graph before orientation. Prefetches the targets of the sources
    /// that follow.
    pub fn sources(&self, graph: View<'_>, n: u32) -> impl Iterator<Item = u32> {
        const STEP: usize = 4;
        let neighbours = graph.neighbours(self.vertex[n as usize]);
        let ask_number = |&u: &VertexId| prefetch(&self.number, u as usize, 1);
        neighbours.iter().take(3 * STEP).for_each(ask_number);
        let ask = move |i: usize| {
            neighbours.get(i + 3 * STEP).into_iter().for_each(ask_number);
            if let Some(&u) = neighbours.get(i + 2 * STEP) {
                self.ask_row(self.number[u as usize]);
            }
            if let Some(&u) = neighbours.get(i + STEP) {
                self.ask_targets(self.number[u as usize]);
            }
        };
        neighbours.iter().enumerate().filter_map(move |(i, &u)| {
            ask(i);
            let source = self.number[u as usize];
            (source > n).then_some(source)
        })
    }

    /// Neighbours of `n` in the graph that was oriented, in either direction.
    pub fn degree(&self, graph: View<'_>, n: u32) -> usize {
        graph.degree(self.vertex[n as usize])
    }

    /// The largest number of targets: the degeneracy.
    pub fn degeneracy(&self) -> usize {
        self.degeneracy
    }
}

/// The targets of all vertices.
struct Lists {
    offsets: Vec<u64>,
    targets: Storage<u32>,
    degeneracy: usize,
}

fn in_memory(
    graph: View<'_>,
    vertex: &[VertexId],
    number: &[u32],
    context: &Context,
) -> Result<Lists> {
    let vertices = graph.vertices();
    // A part of the vertices at a time; one thread needs no parts to be put together.
    let threads = context.threads();
    let each = if threads == 1 { vertices } else { vertices.div_ceil(16 * threads) }.max(1);
    let next = AtomicUsize::new(0);
    let mut parts = on_threads(threads.min(vertices.div_ceil(each)), |_| {
        let mut own = vec![];
        loop {
            let from = next.fetch_add(each, Relaxed);
            if from >= vertices {
                return Ok(own);
            }
            let range = from..vertices.min(from + each);
            let rows = rows(graph, &vertex[range.clone()], number, context)?;
            own.push((range, rows));
        }
    })
    .into_iter()
    .collect::<Result<Vec<Vec<_>>>>()?
    .into_iter()
    .flatten()
    .collect::<Vec<_>>();
    parts.sort_unstable_by_key(|(range, _): &(Range<usize>, _)| range.start);
    let mut offsets = with_room(vertices + 1)?;
    offsets.push(0u64);
    let mut degeneracy = 0;
    parts.iter().for_each(|(_, rows)| rows.add_to(&mut offsets, &mut degeneracy));
    let targets = match parts.len() {
        1 => parts.remove(0).1.targets,
        _ => {
            let mut targets = with_room(*offsets.last().expect("the first") as usize)?;
            for (_, rows) in parts {
                targets.extend_from_slice(&rows.targets);
            }
            targets
        }
    };
    Ok(Lists { offsets, targets: targets.into(), degeneracy })
}

/// As [`in_memory`], with the targets in a file that is mapped. In memory are those of a part of the vertices
/// per thread: about a sixteenth of the budget in all.
fn in_file(
    graph: View<'_>,
    vertex: &[VertexId],
    number: &[u32],
    budget: &Budget,
    context: &Context,
) -> Result<Lists> {
    let vertices = graph.vertices();
    let threads = context.threads();
    let most = budget.bytes as usize / 16 / 4 / threads;
    let mut offsets = with_room(vertices + 1)?;
    offsets.push(0u64);
    let (mut degeneracy, mut next) = (0, 0);
    let mut file = ArrayFile::create(&budget.folder)?;
    while next < vertices {
        let parts: Vec<Range<usize>> = (0..threads)
            .map(|_| {
                let (first, mut entries) = (next, 0);
                while next < vertices && (next == first || entries < most) {
                    entries += 1 + graph.degree(vertex[next]);
                    next += 1;
                }
                first..next
            })
            .collect();
        let taken = AtomicUsize::new(0);
        let mut lists = on_threads(threads, |_| {
            let part = taken.fetch_add(1, Relaxed);
            let rows = rows(graph, &vertex[parts[part].clone()], number, context);
            rows.map(|rows| (part, rows))
        })
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
        lists.sort_unstable_by_key(|(part, _)| *part);
        for (_, rows) in &lists {
            rows.add_to(&mut offsets, &mut degeneracy);
            file.append(&rows.targets)?;
        }
    }
    Ok(Lists { offsets, targets: file.finish()?, degeneracy })
}

/// The lists of some vertices, one after the other.
#[derive(Debug, Clone)]
struct Rows {
    lengths: Vec<u32>,
    targets: Vec<u32>,
}

impl Rows {
    /// Adds where each list ends, and the length of the longest.
    fn add_to(&self, offsets: &mut Vec<u64>, longest: &mut usize) {
        let mut end = *offsets.last().expect("there is a first");
        for &length in &self.lengths {
            end += u64::from(length);
            *longest = (*longest).max(length as usize);
            offsets.push(end);
        }
    }
}

/// The targets of some vertices, ascending: the neighbours of a smaller number.
fn rows(graph: View<'_>, vertices: &[VertexId], number: &[u32], context: &Context) -> Result<Rows> {
    /// Vertices that progress is shown by.
    const SHOWN: usize = 1 << 12;
    let mut looks = CancelPoll::new(&context.cancel);
    let mut lengths = with_room(vertices.len())?;
    let room = graph.neighbours.len() / 2 * vertices.len() / graph.vertices().max(1) + 1;
    let mut targets: Vec<u32> = with_room(room)?;
    for (i, &v) in vertices.iter().enumerate() {
        graph.ask_row_ahead(vertices, i);
        looks.check(1 + graph.degree(v))?;
        let (own, neighbours, from) = (number[v as usize], graph.neighbours(v), targets.len());
        targets.resize(from + neighbours.len(), 0);
        let mut end = from;
        for &u in neighbours {
            let n = number[u as usize];
            targets[end] = n;
            end += usize::from(n < own);
        }
        targets.truncate(end);
        targets[from..].sort_unstable();
        lengths.push((targets.len() - from) as u32);
        if (i + 1) % SHOWN == 0 {
            context.progress.add(SHOWN as u64);
        }
    }
    context.progress.add((vertices.len() % SHOWN) as u64);
    Ok(Rows { lengths, targets })
}

/// Below this number of vertices peeled together, starting threads takes longer than peeling.
const WORTH_THREADS: usize = 1 << 13;

/// The vertices in the order in which they are peeled: each has at most the degeneracy of
/// neighbours after it. Of those that are peeled together the least valuable one comes first.
fn peel(graph: View<'_>, context: &Context) -> Result<Vec<VertexId>> {
    let vertices = graph.vertices();
    let mut looks = CancelPoll::new(&context.cancel);
    let mut degree = with_room(vertices)?;
    for v in 0..vertices as VertexId {
        looks.check(1)?;
        degree.push(AtomicU32::new(graph.degree(v) as u32));
    }
    let mut order: Vec<VertexId> = with_room(vertices)?;
    let mut left = collected((0..vertices as VertexId).rev())?;
    // What has a degree up to the last level was peeled at the latest there.
    let (mut last, mut level) = (None, 0);
    while !left.is_empty() {
        let peeled = order.len();
        let mut at = peeled;
        looks.check(left.len())?;
        left.retain(|&v| {
            let degree = degree[v as usize].load(Relaxed);
            if last.is_some_and(|last| degree <= last) {
                return false;
            }
            if degree <= level {
                order.push(v);
                return false;
            }
            true
        });
        while at < order.len() {
            let end = order.len();
            if end - at >= WORTH_THREADS {
                order.extend(peel_together(graph, &order[at..end], &degree, level, context)?);
                at = end;
                continue;
            }
            graph.ask_row_ahead(&order, at);
            let v = order[at];
            at += 1;
            looks.check(1 + graph.degree(v))?;
            for &u in graph.neighbours(v) {
                let of = &degree[u as usize];
                let degree = of.load(Relaxed);
                if degree > level {
                    of.store(degree - 1, Relaxed);
                    if degree - 1 == level {
                        order.push(u);
                    }
                }
            }
        }
        context.progress.add((order.len() - peeled) as u64);
        last = Some(level);
        level += 1;
    }
    Ok(order)
}

/// Peels vertices on all threads; returns those that come to `level` by that, in an order that
/// doesn't depend on the threads: shares of a run rely on it.
fn peel_together(
    graph: View<'_>,
    vertices: &[VertexId],
    degree: &[AtomicU32],
    level: u32,
    context: &Context,
) -> Result<Vec<VertexId>> {
    const EACH: usize = 1 << 8;
    let next = AtomicUsize::new(0);
    let alone = context.threads() == 1;
    let found = on_threads(context.threads(), |_| {
        let mut looks = CancelPoll::new(&context.cancel);
        let mut found = vec![];
        loop {
            let from = next.fetch_add(EACH, Relaxed);
            if from >= vertices.len() {
                return Ok(found);
            }
            for i in from..vertices.len().min(from + EACH) {
                graph.ask_row_ahead(vertices, i);
                let v = vertices[i];
                looks.check(1 + graph.degree(v))?;
                for &u in graph.neighbours(v) {
                    let of = &degree[u as usize];
                    let lower = |degree| (degree > level).then(|| degree - 1);
                    let before = match alone {
                        // Nobody else writes: no operation needs to be one for all threads.
                        true => {
                            let before = of.load(Relaxed);
                            of.store(lower(before).unwrap_or(before), Relaxed);
                            before
                        }
                        false => {
                            of.fetch_update(Relaxed, Relaxed, lower).unwrap_or_else(|same| same)
                        }
                    };
                    if before == level + 1 {
                        found.push(u);
                    }
                }
            }
        }
    });
    let mut found = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
    found.sort_unstable_by_key(|&v| std::cmp::Reverse(v));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_graph::Builder;

    #[test]
    fn a_clique_with_tails_has_the_degeneracy_of_the_clique() {
        let mut b = Builder::new();
        for u in 0..6u64 {
            for v in 0..u {
                b.edge(u, v);
            }
            for tail in 0..20 {
                b.edge(u, 100 + 20 * u + tail);
            }
        }
        let g = b.build();
        let o = Oriented::by_degeneracy(g.view(), &Context::with_threads(1)).unwrap();
        assert_eq!(o.degeneracy(), 5);
        let arcs: usize = (0..o.vertices() as u32).map(|n| o.targets(n).len()).sum();
        assert_eq!(arcs, g.edges());
        for n in 0..o.vertices() as u32 {
            assert!(o.targets(n).is_sorted());
            for &t in o.targets(n) {
                assert!(t < n);
                assert!(g.view().has_edge(o.vertex[n as usize], o.vertex[t as usize]));
            }
        }
    }
    /// As many vertices of one degree as threads are started for.
    #[test]
    fn every_number_of_threads_gives_an_order_of_the_degeneracy() {
        let mut b = Builder::new();
        let n = 3 * WORTH_THREADS as u64;
        for v in 0..n {
            // A ring with chords, all of degree 6, with leaves on every third vertex.
            for d in [1, 5, 77] {
                b.edge(v, (v + d) % n);
            }
            if v % 3 == 0 {
                b.edge(v, n + v);
            }
        }
        let g = b.build();
        let mut orders = vec![];
        for threads in [1, 4] {
            let o = Oriented::by_degeneracy(g.view(), &Context::with_threads(threads)).unwrap();
            // Every subgraph of the ring has a vertex of at most 6, all of it no smaller one.
            assert_eq!(o.degeneracy(), 6);
            let arcs: usize = (0..o.vertices() as u32).map(|n| o.targets(n).len()).sum();
            assert_eq!(arcs, g.edges());
            for n in 0..o.vertices() as u32 {
                assert!(o.targets(n).is_sorted() && o.targets(n).iter().all(|&t| t < n));
                let degree = o.targets(n).len() + o.sources(g.view(), n).count();
                assert_eq!(degree, o.degree(g.view(), n));
            }
            orders.push(o.vertex);
        }
        assert_eq!(orders[0], orders[1]);
    }
}
