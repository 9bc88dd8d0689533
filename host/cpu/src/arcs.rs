//! Arcs — positions in [`View::neighbours`] — and numbers that threads add up by arc.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};

use gramer_base::context::{Cancel, CancelPoll, Context};
use gramer_base::memory::{with_room_or_unwind, zeroed_or_unwind};
use gramer_base::parallel::on_threads;
use gramer_graph::{VertexId, View};

use super::phase::PhaseRun;
use super::reach::{Form, NOWHERE, Places};
use super::{Job, StartVertices};

/// Sums that threads share, one per arc or vertex.
pub(super) struct Sums {
    sums: Vec<AtomicU64>,
    /// A single thread needs no locked instruction.
    shared: bool,
    overflow: AtomicU64,
}

impl Sums {
    pub fn new(len: usize, context: &Context) -> Self {
        Sums {
            sums: zeroed_or_unwind(len),
            shared: context.threads() > 1,
            overflow: AtomicU64::new(0),
        }
    }

    /// Adds to one sum. A sum above 64 bits is noticed by [`Sums::finish`].
    #[inline]
    pub fn add(&self, at: usize, value: u64) {
        self.add_and_get(at, value);
    }

    /// Adds a value and returns the previous sum.
    #[inline]
    pub fn add_and_get(&self, at: usize, value: u64) -> u64 {
        let sum = &self.sums[at];
        let before = if self.shared {
            sum.fetch_add(value, Ordering::Relaxed)
        } else {
            let before = sum.load(Ordering::Relaxed);
            sum.store(before.wrapping_add(value), Ordering::Relaxed);
            before
        };
        if before.checked_add(value).is_none() {
            self.overflow.store(1, Ordering::Relaxed);
        }
        before
    }

    /// Records an overflow.
    pub fn overflowed(&self) {
        self.overflow.store(1, Ordering::Relaxed);
    }

    /// The sums; `None` if one needs more than 64 bits.
    pub fn finish(self) -> Option<Vec<u64>> {
        (self.overflow.into_inner() == 0)
            .then(|| self.sums.into_iter().map(AtomicU64::into_inner).collect())
    }
}

/// By arc, the arc back: sources in ascending order meet every row in ascending order. `None` once
/// the run was cancelled.
///
/// # Panics
/// If there are more than 2^32 arcs.
pub(super) fn turned(graph: View<'_>, cancel: &Cancel) -> Option<Vec<u32>> {
    assert!(graph.neighbours.len() <= u32::MAX as usize);
    let mut looks = CancelPoll::new(cancel);
    let mut cursor: Vec<u32> = with_room_or_unwind(graph.vertices());
    cursor.extend((0..graph.vertices() as VertexId).map(|v| graph.row(v).start as u32));
    let mut back = with_room_or_unwind(graph.neighbours.len());
    for v in 0..graph.vertices() as VertexId {
        looks.check(1 + graph.degree(v)).ok()?;
        for &u in graph.neighbours(v) {
            let cursor = &mut cursor[u as usize];
            back.push(*cursor);
            *cursor += 1;
        }
    }
    Some(back)
}

/// Bytes per vertex of the dense form of [`triangles`].
pub(super) const BYTES: usize = 4;

/// By vertex: its neighbours before it.
fn neighbours_before(graph: View<'_>, threads: usize) -> Vec<u32> {
    /// Vertices that are worth a thread.
    const LEAST: usize = if cfg!(test) { 4 } else { 1 << 14 };
    let vertices = graph.vertices();
    let parts = (vertices / LEAST).clamp(1, threads);
    let border = |part: usize| (vertices as u64 * part as u64 / parts as u64) as VertexId;
    let before = |v: VertexId| graph.neighbours(v).partition_point(|&u| u < v) as u32;
    on_threads(parts, |part| (border(part)..border(part + 1)).map(before).collect::<Vec<_>>())
        .concat()
}

/// Visitor of a thread's triangles.
pub(super) trait Visitor {
    /// Triangles with this vertex as their largest come next; `row` are the arcs to those before it.
    #[inline(always)]
    fn begin(&mut self, row: Range<usize>) {
        let _ = row;
    }

    /// A triangle of corners v, u and w, w < u < v, and its arcs v → u, v → w and u → w.
    fn triangle(&mut self, corners: [VertexId; 3], arcs: [usize; 3]);

    /// All triangles with this arc v → u were met, in so far as this thread meets them.
    #[inline(always)]
    fn end_side(&mut self, arc: usize) {
        let _ = arc;
    }

    /// All triangles since [`Visitor::begin`] were met.
    #[inline(always)]
    fn end(&mut self) {}
}

/// A thread's state with the function that takes each triangle.
struct TriangleVisitor<'a, S, V>(S, &'a V);

impl<S, V: Fn(&mut S, [VertexId; 3], [usize; 3])> Visitor for TriangleVisitor<'_, S, V> {
    #[inline(always)]
    fn triangle(&mut self, corners: [VertexId; 3], arcs: [usize; 3]) {
        self.1(&mut self.0, corners, arcs);
    }
}

/// Visits each triangle u, v, w with w < u < v once: `visit(state, [v, u, w], [v → u, v → w, u → w])`. What chooses
/// between both forms makes a `visit` for each, so that each is compiled into its loop.
pub(super) fn triangles<'a, F: Form, S: Send>(
    graph: View<'_>,
    job: Job<'a>,
    make: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, [VertexId; 3], [usize; 3]) + Sync,
) -> PhaseRun<'a, S> {
    visit_triangles::<F, _>(graph, job, || TriangleVisitor(make(), &visit)).map(|each| each.0)
}

/// Visits the triangles with a [`Visitor`] as state.
pub(super) fn visit_triangles<'a, F: Form, V: Visitor + Send>(
    graph: View<'_>,
    job: Job<'a>,
    make: impl Fn() -> V + Sync,
) -> PhaseRun<'a, V> {
    let context = job.context;
    let ends = neighbours_before(graph, context.threads());
    let list = |v: VertexId| ends[v as usize] as usize;
    let units = StartVertices::vertices(graph).units(job, list, |v| (list(v) as u64).pow(2));
    let ran = job.run(
        &units,
        || (make(), Places::<F>::new(graph.vertices(), 1)),
        |(state, place), unit| {
            let v = unit.start;
            let start = graph.row(v).start;
            let row = &graph.neighbours(v)[..list(v)];
            place.enter(row);
            state.begin(start..start + row.len());
            let mut flow = ControlFlow::Continue(());
            for at in unit.range() {
                if context.cancel.is_cancelled() {
                    flow = ControlFlow::Break(());
                    break;
                }
                let u = row[at];
                let first = graph.row(u).start;
                for arc in first..first + list(u) {
                    let w = graph.neighbours[arc];
                    let third = place.of(w);
                    if third != NOWHERE {
                        state.triangle([v, u, w], [start + at, start + third as usize, arc]);
                    }
                }
                state.end_side(start + at);
            }
            state.end();
            place.leave();
            flow
        },
    );
    ran.map(|state| state.0)
}
