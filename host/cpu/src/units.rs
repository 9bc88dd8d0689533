//! Work units of the CPU engine and the threads that take them.
//!
//! Threads take the next group of units when they are done with one, so that no share of the work is
//! fixed beforehand; a vertex with more than its share of the work is cut into several units, so that
//! even one hub keeps all threads busy.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use gramer_base::context::{CancelPoll, Context};
use gramer_base::pages::in_large_pages;
use gramer_base::parallel::on_threads;
use gramer_graph::{VertexId, View};
use tracing::{Span, debug_span};

use super::Job;
use super::phase::Phase;
use gramer_engine::work::{self, CutSettings, Groups, WorkUnit, cut_each};

/// Minimum number of groups of units per thread, if the graph has as many start edges.
const GROUPS_A_THREAD: u64 = 64;
/// Parts of a group that progress is shown by.
const SHOWN_PARTS: usize = 16;

/// Start vertices of an algorithm, in its numbering.
pub(crate) struct StartVertices<'a> {
    count: usize,
    graph: View<'a>,
    /// Ids of the graph's vertices by number; `None` if ids are the numbers.
    ids: Option<&'a [VertexId]>,
    /// Number of graph vertices per start vertex.
    block: usize,
}

impl<'a> StartVertices<'a> {
    /// The vertices of a graph under their own ids.
    pub fn vertices(graph: View<'a>) -> Self {
        Self::blocks(graph, 1)
    }

    /// Blocks of `block` vertices with consecutive ids as start vertices. The positions of a block are those of its
    /// vertices, concatenated. A job that is a share needs blocks of one vertex, because shares consist of vertices.
    pub fn blocks(graph: View<'a>, block: usize) -> Self {
        StartVertices { count: graph.vertices().div_ceil(block), graph, ids: None, block }
    }

    /// Creates start vertices from these vertices of a graph, numbered in this order.
    pub fn numbered(graph: View<'a>, ids: &'a [VertexId]) -> Self {
        StartVertices { count: ids.len(), graph, ids: Some(ids), block: 1 }
    }

    /// Cuts the work of a job. `list` gives the number of positions of a start vertex that can be
    /// divided and `weight` an estimate of its whole work, both by its number; one with an empty list
    /// is left out. The units name start vertices by number. Once the run was cancelled, units are
    /// missing; [`run_units`] then runs none.
    pub fn units(
        &self,
        job: Job<'_>,
        list: impl Fn(u32) -> usize + Sync,
        weight: impl Fn(u32) -> u64 + Sync,
    ) -> Groups {
        if job.context.budget.is_some() {
            return self.units_of_few_steps(job, list, weight);
        }
        // The units are gone through twice. Their weights, the dear part, are kept where memory isn't limited.
        let parts = self.parts(job.context.threads());
        let next = AtomicUsize::new(0);
        let mut units = on_threads(job.context.threads().min(parts.len()), |_| {
            let mut own = vec![];
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                let mut units = in_large_pages(Vec::with_capacity(part.len()));
                self.weighed(part.clone(), job, &list, &weight, |unit, work| {
                    units.push((unit, work));
                });
                own.push((part.start, units));
            }
            own
        })
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
        units.sort_unstable_by_key(|(start, _)| *start);
        let units: Vec<&[(WorkUnit, u64)]> = units.iter().map(|(_, units)| &units[..]).collect();
        self.ordered(job, cut_known(&units, self.cut(job)))
    }

    /// Units with recomputed weights, for weights that cost less than storing them.
    #[inline]
    pub fn units_of_few_steps(
        &self,
        job: Job<'_>,
        list: impl Fn(u32) -> usize,
        weight: impl Fn(u32) -> u64,
    ) -> Groups {
        let all = 0..self.count as u32;
        let units = &|each: &mut dyn FnMut(WorkUnit, u64)| {
            self.weighed(all.clone(), job, &list, &weight, each);
        };
        self.ordered(job, cut_each(units, self.cut(job)))
    }

    /// The groups in the order in which they are taken. Light and heavy groups are mixed if progress is shown or if
    /// processes share the groups as ranges; lists keep the order of the vertices.
    fn ordered(&self, job: Job<'_>, mut groups: Groups) -> Groups {
        let mixed = job.context.progress.is_watched() || job.others.is_some();
        if mixed && job.sink.is_none() {
            groups.spread();
        }
        groups
    }

    /// Returns the settings for cutting the units of a job.
    fn cut(&self, job: Job<'_>) -> CutSettings {
        // Processes that share the work have the same groups, however many threads each has.
        let threads = job.others.map_or(job.context.threads(), |others| others.threads());
        let groups = threads as u64 * GROUPS_A_THREAD;
        // Many light vertices together may take longer than their weights say, and then all wait for one group.
        let most = self.count.div_ceil(groups as usize).max(1);
        CutSettings { groups, exceed: true, divide: true, most }
    }

    /// Start vertices that threads weigh together: all, or several parts for each, where these are worth a thread.
    fn parts(&self, threads: usize) -> Vec<Range<u32>> {
        const LEAST: usize = if cfg!(test) { 8 } else { 1 << 12 };
        let parts = if threads == 1 { 1 } else { (self.count / LEAST).clamp(1, 8 * threads) };
        let border = |part: usize| (self.count as u64 * part as u64 / parts as u64) as u32;
        (0..parts).map(|part| border(part)..border(part + 1)).collect()
    }

    /// Hands on each unit of these start vertices in a job with its part of its start vertex's weight.
    #[inline]
    fn weighed(
        &self,
        starts: Range<u32>,
        job: Job<'_>,
        list: impl Fn(u32) -> usize,
        weight: impl Fn(u32) -> u64,
        mut each: impl FnMut(WorkUnit, u64),
    ) {
        // A weight may cost a search in the row of each neighbour; in ranked graphs the hubs come first.
        const STEPS: usize = 64;
        const STEPS_OF_NEIGHBOUR: usize = 16;
        let all = job.units.share().is_none();
        debug_assert!(all || self.block == 1);
        let mut looks = CancelPoll::new(&job.context.cancel);
        for start in starts {
            let v = self.ids.map_or(start, |ids| ids[start as usize]);
            let steps = match self.block {
                1 => STEPS + STEPS_OF_NEIGHBOUR * self.graph.degree(v),
                block => STEPS * block,
            };
            if looks.check(steps).is_err() {
                return;
            }
            let len = list(start) as u32;
            if len == 0 {
                continue;
            }
            let whole = weight(start);
            if all {
                each(WorkUnit { start, first: 0, limit: len }, whole);
                continue;
            }
            for part in job.units.positions(v, self.graph.degree(v), len) {
                let work = u128::from(whole) * part.len() as u128 / u128::from(len);
                each(WorkUnit { start, first: part.start, limit: part.end }, work as u64);
            }
        }
    }
}

/// Cuts units whose work is known: compiled once, not for each algorithm.
fn cut_known(units: &[&[(WorkUnit, u64)]], cut: CutSettings) -> Groups {
    work::cut(|| units.iter().copied().flatten().copied(), cut)
}

/// Runs `work` on every unit, each thread with its own state from `make`, and returns the
/// states. A `Break` from any call, or `context.cancel`, ends the run; the flag that comes back
/// says whether every unit was finished.
pub(crate) fn run_units<S: Send>(
    units: &Groups,
    context: &Context,
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &WorkUnit) -> ControlFlow<()> + Sync,
) -> (Vec<S>, bool) {
    run_dealt(units, context, None, make, work)
}

/// Runs the units, or the part of them that this process gets in a phase.
pub(super) fn run_dealt<S: Send>(
    units: &Groups,
    context: &Context,
    phase: Option<Phase<'_>>,
    make: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &WorkUnit) -> ControlFlow<()> + Sync,
) -> (Vec<S>, bool) {
    let dealt = GroupQueue::begin(units, context, phase);
    let threads = context.threads().min(units.len()).max(1);
    let _span = span(units, context).entered();
    let states = on_threads(threads, |_| {
        let mut state = make();
        while let Some(group) = dealt.next() {
            let all = units.group(group);
            let mut shown =
                GroupProgress { of_group: units.shown_of(group), units: all.len(), done: 0 };
            for part in all.chunks(all.len().div_ceil(SHOWN_PARTS)) {
                for unit in part {
                    if dealt.ended() || work(&mut state, unit).is_break() {
                        dealt.broken.store(true, Ordering::Relaxed);
                        return state;
                    }
                }
                context.progress.add(shown.more(part.len()));
            }
        }
        state
    });
    (states, !dealt.broken.into_inner())
}

fn span(units: &Groups, context: &Context) -> Span {
    debug_span!("units", groups = units.len(), work = units.work(), threads = context.threads())
}

/// Progress of a group as displayed.
struct GroupProgress {
    of_group: u64,
    /// Units of the group, and those that are done.
    units: usize,
    done: usize,
}

impl GroupProgress {
    /// Step for this many further units.
    fn more(&mut self, units: usize) -> u64 {
        let at = |done: usize| u128::from(self.of_group) * done as u128 / self.units as u128;
        let before = at(self.done);
        let more = at(self.done + units) - before;
        self.done += units;
        more as u64
    }
}

/// Groups of units as threads take them.
struct GroupQueue<'a> {
    units: &'a Groups,
    context: &'a Context,
    next: AtomicUsize,
    /// Phase in which groups are shared with other processes, and the remaining groups of this one.
    phase: Option<(Phase<'a>, Mutex<Range<usize>>)>,
    /// Whether the run ends before all are done.
    broken: AtomicBool,
}

impl<'a> GroupQueue<'a> {
    fn begin(units: &'a Groups, context: &'a Context, phase: Option<Phase<'a>>) -> Self {
        context.progress.begin(units.shown());
        let broken = AtomicBool::new(context.cancel.is_cancelled());
        let phase = phase.map(|phase| (phase, Mutex::new(0..0)));
        GroupQueue { units, context, next: AtomicUsize::new(0), phase, broken }
    }

    /// The next group, if the run goes on.
    fn next(&self) -> Option<usize> {
        if let Some((phase, left)) = &self.phase {
            return self.next_of(*phase, left);
        }
        let group = self.next.fetch_add(1, Ordering::Relaxed);
        let ended = group >= self.units.len() || self.broken.load(Ordering::Relaxed);
        (!ended).then(|| self.units.taken(group))
    }

    /// The next group of those that this process has or gets.
    fn next_of(&self, phase: Phase<'_>, left: &Mutex<Range<usize>>) -> Option<usize> {
        // A thread that finds no group requests more, and the other threads wait for the answer.
        let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
        if self.ended() {
            self.broken.store(true, Ordering::Relaxed);
            return None;
        }
        if left.is_empty() {
            let Some(got) = phase.next(self.units.len()) else {
                self.broken.store(true, Ordering::Relaxed);
                return None;
            };
            *left = got;
        }
        left.next().map(|place| self.units.taken(place))
    }

    /// Whether the run ends before the next unit.
    #[inline]
    fn ended(&self) -> bool {
        self.broken.load(Ordering::Relaxed) || self.context.cancel.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gramer_engine::work::Units;

    fn edgeless(vertices: u64) -> gramer_graph::Graph {
        let mut builder = gramer_graph::Builder::new();
        builder.vertex_range(0..vertices);
        builder.build()
    }

    fn all(context: &Context) -> Job<'_> {
        Job { units: Units::All, sink: None, context, others: None }
    }

    #[test]
    fn units_cover_every_position_once() {
        let lists = [5usize, 0, 1000, 3, 17];
        let weights = [5u64, 0, 1_000_000, 3, 17];
        let graph = edgeless(5);
        let context = Context::with_threads(2);
        let list = |v: u32| lists[v as usize];
        let units = StartVertices::vertices(graph.view())
            .units(all(&context), list, |v| weights[v as usize]);
        let mut seen: Vec<Vec<u32>> = lists.iter().map(|&l| vec![0; l]).collect();
        for unit in units.iter().flatten() {
            for p in unit.range() {
                seen[unit.start as usize][p] += 1;
            }
        }
        assert!(seen.iter().flatten().all(|&times| times == 1));
        // The heavy vertex is divided.
        assert!(units.iter().flatten().filter(|u| u.start == 2).count() >= 100);
    }

    #[test]
    fn progress_is_the_work_that_is_done() {
        let graph = edgeless(1000);
        let context = Context::with_threads(2);
        let weight = |v: u32| if v == 7 { 1_000_000 } else { 1 };
        let mut units = StartVertices::vertices(graph.view()).units(all(&context), |_| 50, weight);
        for factor in [1, 3] {
            if factor > 1 {
                units.show(|unit| factor * weight(unit.start) * unit.range().len() as u64 / 50);
            }
            let sums = (0..units.len()).map(|group| units.shown_of(group)).sum::<u64>();
            // It includes the fixed cost of each unit.
            assert!(sums == units.shown() && sums.abs_diff(factor * 1_000_999) < 4000, "{sums}");
            run_units(&units, &context, || (), |_, _| ControlFlow::Continue(()));
            assert_eq!(context.progress.get(), (sums, sums));
        }
        // Half of the groups aren't half of the work.
        let largest = (0..units.len()).map(|group| units.shown_of(group)).max().unwrap();
        assert!(largest > 2 * units.shown() / units.len() as u64);
    }

    #[test]
    fn a_run_that_was_asked_to_stop_is_not_whole_even_without_units() {
        let context = Context::with_threads(1);
        context.cancel.cancel();
        let graph = edgeless(1 << 20);
        let units = StartVertices::vertices(graph.view()).units(all(&context), |_| 1, |_| 1);
        assert!(units.iter().flatten().count() < 1 << 20);
        let (states, whole) = run_units(
            &units,
            &context,
            || 0,
            |n, _| {
                *n += 1;
                ControlFlow::Continue(())
            },
        );
        assert!(!whole && states.iter().all(|&n| n == 0));
        let none = Groups::default();
        assert!(!run_units(&none, &context, || (), |_, _| ControlFlow::Continue(())).1);
    }

    /// Weights are looked up for all start vertices before any unit runs. Where the first ones are hubs,
    /// few of them are work enough for a look at the flag.
    #[test]
    fn a_run_that_was_asked_to_stop_weighs_few_hubs() {
        let mut builder = gramer_graph::Builder::new();
        for v in 0..300u64 {
            (0..v).for_each(|u| builder.edge(u, v));
        }
        let graph = builder.build();
        let context = Context::with_threads(1);
        context.cancel.cancel();
        let weighed = AtomicUsize::new(0);
        let weight = |v: u32| {
            weighed.fetch_add(graph.view().degree(v), Ordering::Relaxed);
            1
        };
        let units = StartVertices::vertices(graph.view()).units(all(&context), |_| 1, weight);
        assert!(!run_units(&units, &context, || (), |_, _| ControlFlow::Continue(())).1);
        let weighed = weighed.into_inner();
        assert!(weighed < 60 * 299, "{weighed} neighbours were looked at");
    }

    #[test]
    fn a_break_ends_the_run_and_says_so() {
        let graph = edgeless(100);
        let context = Context::with_threads(2);
        let units = StartVertices::vertices(graph.view()).units(all(&context), |_| 1, |_| 1);
        let (states, whole) = run_units(
            &units,
            &context,
            || 0,
            |n, _| {
                *n += 1;
                if *n == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            },
        );
        assert!(!whole);
        assert!(states.iter().sum::<i32>() < 100);
    }
}
