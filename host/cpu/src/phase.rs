//! Phases of a task that several processes do together.
//!
//! A closed form is made of sums over the work units of some algorithms, one after the other, and what one
//! of them finds the next ones need: it is no sum of shares of the graph. Its *phases* are: in each, every
//! process takes groups of units as it becomes free, then all tell each other their sums or tables, and
//! every process goes on with the same numbers. What a phase would take less time for than to talk about
//! it, each process does whole.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use ethnum::U256;
use gramer_base::context::Context;
use gramer_base::error::{Error, Result};

use super::number::{self, Number};
use super::units::run_dealt;
use super::{Job, run_units};
use gramer_engine::Peers;
use gramer_engine::work::Groups;

/// Steps, estimated, below which a phase isn't shared: some milliseconds. Tests have smaller graphs.
const LEAST: u64 = if cfg!(test) { 1 << 6 } else { 1 << 22 };

/// The processes of a task, as seen by one of them.
pub(crate) struct PeerGroup<'a> {
    together: &'a dyn Peers,
    context: &'a Context,
    /// Phases that were begun. Processes begin the same ones in the same order.
    phases: AtomicUsize,
    /// Error of the other processes.
    failure: Mutex<Option<Error>>,
}

impl<'a> PeerGroup<'a> {
    /// Creates the state before the first phase.
    pub fn new(together: &'a dyn Peers, context: &'a Context) -> Self {
        PeerGroup { together, context, phases: AtomicUsize::new(0), failure: Mutex::new(None) }
    }

    /// Threads of all processes.
    pub fn threads(&self) -> usize {
        self.together.threads()
    }

    /// Returns the other processes' error, if any.
    ///
    /// # Errors
    /// That.
    pub fn check(self) -> Result<()> {
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), Err)
    }

    /// An answer of the others; without one the run ends here.
    fn heard<T>(&self, answer: Result<T>) -> Option<T> {
        let error = match answer {
            Ok(answer) => return Some(answer),
            Err(error) => error,
        };
        self.context.cancel.cancel();
        if !matches!(error, Error::Interrupted) {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
        None
    }
}

/// A phase that is shared.
#[derive(Clone, Copy)]
pub(crate) struct Phase<'a> {
    others: &'a PeerGroup<'a>,
    number: usize,
}

impl Phase<'_> {
    /// The next groups for this process, an empty range once all are taken; `None` once the run ends.
    pub fn next(self, groups: usize) -> Option<Range<usize>> {
        self.others.heard(self.others.together.next(self.number, groups))
    }

    /// The results of all processes, this one's included; `None` once the run ends.
    fn join(self, found: Vec<u8>) -> Option<Vec<Vec<u8>>> {
        // Who was stopped leaves; the others are being stopped as well.
        self.others.heard(self.others.context.cancel.check())?;
        self.others.heard(self.others.together.join(self.number, found))
    }

    fn unlike<T>(self) -> Option<T> {
        self.others.heard(Err(Error::Device(
            "the processes don't mine the same graph: the sums of one fit no other's".into(),
        )))
    }
}

/// Result of a phase of this process.
pub(crate) struct PhaseRun<'a, S> {
    /// States of this process' threads.
    pub states: Vec<S>,
    /// Whether all units of this process were finished.
    pub complete: bool,
    phase: Option<Phase<'a>>,
}

impl<'a, S> PhaseRun<'a, S> {
    /// Maps each state.
    pub fn map<T>(self, of: impl Fn(S) -> T) -> PhaseRun<'a, T> {
        let PhaseRun { states, complete, phase } = self;
        PhaseRun { states: states.into_iter().map(of).collect(), complete, phase }
    }

    /// The sums over all units, and whether all were finished; `of` makes them of the threads' states.
    ///
    /// # Errors
    /// Those of `of`.
    pub fn sums<N: AsMut<[u128]>>(self, of: impl FnOnce(Vec<S>) -> Result<N>) -> Result<(N, bool)> {
        self.sums_beside(|_| vec![], |rest| rest.is_empty().then_some(()), of)
    }

    /// The same; in addition, each process receives the results of all others, `more`: bytes made of the states of
    /// its threads. Data that do not fit are from another graph.
    ///
    /// # Errors
    /// Those of `of`.
    pub fn sums_beside<N: AsMut<[u128]>>(
        self,
        more: impl FnOnce(&[S]) -> Vec<u8>,
        take: impl Fn(&[u8]) -> Option<()>,
        of: impl FnOnce(Vec<S>) -> Result<N>,
    ) -> Result<(N, bool)> {
        let PhaseRun { states, complete, phase } = self;
        let Some(phase) = phase else { return Ok((of(states)?, complete)) };
        let more = more(&states);
        let mut sums = of(states)?;
        let complete = add_up(phase, (sums.as_mut(), complete), &more, take).unwrap_or(false);
        Ok((sums, complete))
    }

    /// One sum over all units, and whether all were finished.
    pub fn sum(self, of: impl Fn(&S) -> u128) -> (u128, bool) {
        let of = |states: Vec<S>| Ok([states.iter().map(of).sum()]);
        let ([sum], complete) = self.sums(of).expect("a sum of small numbers");
        (sum, complete)
    }

    /// The number over all units, from those of the threads' states, and whether all were finished. The number is
    /// `None` for all processes if a state has none or it needs more than 256 bits.
    pub(super) fn total<N: Number>(self, of: impl Fn(&S) -> Option<N>) -> (Option<U256>, bool) {
        let ran = self.sums(|states| {
            let sum = states.iter().try_fold(U256::ZERO, |sum, state| {
                let number: U256 = of(state)?.into();
                sum.checked_add(number)
            });
            let mut sums = [0; 1 + number::PARTS];
            sums[0] = u128::from(sum.is_none());
            sums[1..].copy_from_slice(&number::parts(sum.unwrap_or(U256::ZERO)));
            Ok(sums)
        });
        // Errors of other processes are theirs to report.
        let ([none, parts @ ..], complete) = ran.unwrap_or(([0; 1 + number::PARTS], false));
        (number::whole(parts).filter(|_| none == 0), complete)
    }

    /// The sums over all units by place, from those of this process; `None` if a process has none or the
    /// run was not finished.
    pub fn table(self, own: Option<Vec<u64>>) -> Option<Vec<u64>> {
        let own = own.filter(|_| self.complete);
        match self.phase {
            None => own,
            Some(phase) => add_tables(phase, own),
        }
    }
}

/// Adds to these sums those of the other processes. Whether all have finished their units; `None` once the
/// run ends. Each process takes what follows the sums of each.
fn add_up(
    phase: Phase<'_>,
    (sums, complete): (&mut [u128], bool),
    more: &[u8],
    take: impl Fn(&[u8]) -> Option<()>,
) -> Option<bool> {
    let mut bytes = vec![u8::from(complete)];
    bytes.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
    bytes.extend_from_slice(more);
    let all = phase.join(bytes)?;
    sums.fill(0);
    let mut all_complete = true;
    for found in all {
        let (complete, rest) = found.split_first().or_else(|| phase.unlike())?;
        all_complete &= *complete == 1;
        let both = rest.split_at_checked(size_of_val(sums));
        let (numbers, rest) = both.or_else(|| phase.unlike())?;
        take(rest).or_else(|| phase.unlike())?;
        let (numbers, _) = numbers.as_chunks();
        for (sum, number) in sums.iter_mut().zip(numbers) {
            let Some(both) = sum.checked_add(u128::from_le_bytes(*number)) else {
                let what = "the number needs more than 128 bits".into();
                return phase.others.heard(Err(Error::Unsupported(what)));
            };
            *sum = both;
        }
    }
    Some(all_complete)
}

/// The sums of the tables of all processes; `None` as well where one has none, or a sum needs more than
/// 64 bits.
fn add_tables(phase: Phase<'_>, own: Option<Vec<u64>>) -> Option<Vec<u64>> {
    let bytes = own.as_deref().map(table_bytes).unwrap_or_default();
    let all = phase.join(bytes)?;
    let mut sums = own?;
    sums.fill(0);
    for found in all {
        // What a process without a table says.
        let (width, values) = found.split_first()?;
        let width = usize::from(*width);
        if !(1..=8).contains(&width) || values.len() != width * sums.len() {
            return phase.unlike();
        }
        for (sum, value) in sums.iter_mut().zip(values.chunks_exact(width)) {
            let mut word = [0; 8];
            word[..width].copy_from_slice(value);
            *sum = sum.checked_add(u64::from_le_bytes(word))?;
        }
    }
    Some(sums)
}

/// A table as bytes: how many bytes each value has, then the values, little-endian.
fn table_bytes(values: &[u64]) -> Vec<u8> {
    let largest = values.iter().copied().max().unwrap_or(0);
    let width = (u64::BITS - largest.leading_zeros()).div_ceil(8).max(1) as usize;
    let mut bytes = Vec::with_capacity(1 + width * values.len());
    bytes.push(width as u8);
    values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()[..width]));
    bytes
}

impl<'a> Job<'a> {
    /// As [`run_units`], shared with other processes if there are any and the work is large enough. The threads'
    /// states are those of this process alone.
    pub fn run<S: Send>(
        self,
        units: &Groups,
        make: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, &gramer_engine::work::WorkUnit) -> ControlFlow<()> + Sync,
    ) -> PhaseRun<'a, S> {
        let others = self.others.filter(|_| units.work() >= LEAST);
        let phase = others.map(|others| {
            let number = 1 + others.phases.fetch_add(1, Ordering::Relaxed);
            Phase { others, number }
        });
        let (states, complete) = match phase {
            None => run_units(units, self.context, make, work),
            Some(phase) => run_dealt(units, self.context, Some(phase), make, work),
        };
        PhaseRun { states, complete, phase }
    }
}

#[cfg(test)]
mod tests {
    use gramer_graph::{Builder, Graph};
    use gramer_pattern::Pattern;
    use gramer_pattern::task::{Induced, Mappings, Task};

    use super::*;
    use crate::Cpu;
    use crate::peers::{CountingPeer, Threads};
    use gramer_engine::{EngineExt, Outcome};

    fn graph(edges: &[(u64, u64)], hub: bool) -> Graph {
        let mut builder = Builder::new();
        for &(u, v) in edges.iter().filter(|(u, v)| u != v) {
            builder.edge(u, v);
            if hub && u != 0 {
                builder.edge(0, u);
            }
        }
        builder.build()
    }

    /// Counted motifs of all sizes, and a pattern for each way to count one.
    fn tasks() -> Vec<Task> {
        let pattern = |n, edges: &[(usize, usize)]| Pattern::from_edges(n, edges);
        let ring = |n: usize| -> Vec<_> { (0..n).map(|v| (v, (v + 1) % n)).collect() };
        let diamond = pattern(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]);
        let mut tasks = vec![];
        for k in 3..=6 {
            tasks.push(Task::Motif { k, induced: Induced::Vertex });
        }
        tasks.push(Task::Motif { k: 5, induced: Induced::Edge });
        for (pattern, induced, mappings) in [
            (Pattern::clique(5), Induced::Edge, false),
            (pattern(4, &ring(4)), Induced::Edge, false),
            (pattern(5, &ring(5)), Induced::Edge, true),
            (diamond.clone(), Induced::Vertex, false),
            (diamond, Induced::Edge, false),
            (pattern(6, &[(0, 1), (1, 2), (2, 3), (2, 4), (2, 5), (0, 2)]), Induced::Edge, false),
            (pattern(6, &ring(6)), Induced::Vertex, false),
        ] {
            tasks.push(Task::Match {
                pattern,
                induced,
                mappings: mappings.then_some(Mappings::Isomorphism),
            });
        }
        tasks
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(12))]
        #[test]
        fn processes_together_have_the_answer_of_one(
            edges in proptest::collection::vec((0u64..36, 0u64..36), 1..240),
            hub in proptest::bool::ANY,
            processes in 1usize..4,
        ) {
            let graph = graph(&edges, hub);
            for task in tasks() {
                let context = Context::with_threads(1);
                let alone = Cpu.run(&graph, &task, None, &context).unwrap();
                let together = Threads::new(processes);
                let all: Vec<Outcome> = std::thread::scope(|scope| {
                    let run = |at: usize| {
                        let (graph, task, together) = (&graph, &task, &together);
                        scope.spawn(move || {
                            // Not all have as many threads.
                            let context = Context::with_threads(1 + at % 2);
                            Cpu.run_together(graph, task, together, &context).unwrap()
                        })
                    };
                    let started: Vec<_> = (0..processes).map(run).collect();
                    started.into_iter().map(|thread| thread.join().unwrap()).collect()
                });
                for mut outcome in all {
                    // One process chooses between a search and the motifs of six by a sample, several by estimates.
                    if let Task::Match { pattern, .. } = &task
                        && pattern.vertices() == 6
                    {
                        outcome.devices.clone_from(&alone.devices);
                    }
                    proptest::prop_assert_eq!(&outcome, &alone, "{:?}", task);
                }
            }
        }
    }

    /// Messages grow with the edges, not with their triangles.
    #[test]
    fn processes_tell_no_lists_of_common_neighbours() {
        let edges: Vec<(u64, u64)> = (0..90u64).flat_map(|v| (0..v).map(move |u| (u, v))).collect();
        let graph = graph(&edges, false);
        let context = Context::with_threads(1);
        for k in [4, 5] {
            let task = Task::Motif { k, induced: Induced::Vertex };
            let told = CountingPeer::default();
            let together = Cpu.run_together(&graph, &task, &told, &context).unwrap();
            assert_eq!(together, Cpu.run(&graph, &task, None, &context).unwrap());
            let bytes = told.bytes.into_inner().unwrap();
            // Four bytes would be the least for a list's member, of which each arc has 88.
            let arcs = 90 * 89;
            assert!(bytes.iter().all(|&bytes| bytes <= 8 * arcs), "{bytes:?}");
            assert!(bytes.len() > 1, "{bytes:?}");
        }
    }

    /// Peers that fail after a number of answers; until then this process is alone.
    struct Failing {
        left: AtomicUsize,
        with: fn() -> Error,
        next: Mutex<(usize, usize)>,
    }

    impl Failing {
        fn new(left: usize, with: fn() -> Error) -> Self {
            Failing { left: AtomicUsize::new(left), with, next: Mutex::default() }
        }

        fn answer(&self) -> Result<()> {
            let left =
                self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
            left.map(|_| ()).map_err(|_| (self.with)())
        }
    }

    impl Peers for Failing {
        fn threads(&self) -> usize {
            1
        }

        fn next(&self, level: usize, all: usize) -> Result<Range<usize>> {
            self.answer()?;
            let mut next = self.next.lock().unwrap();
            if next.0 != level {
                *next = (level, 0);
            }
            let first = next.1;
            next.1 = (first + 8).min(all);
            Ok(first..next.1)
        }

        fn join(&self, _level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
            self.answer()?;
            Ok(vec![found])
        }
    }

    #[test]
    fn whenever_the_others_fail_the_run_ends_with_what_they_say() {
        let edges: Vec<(u64, u64)> = (0..400u64).map(|e| (e * 7 % 40, e * 13 % 37)).collect();
        let graph = graph(&edges, true);
        let task = Task::Motif { k: 5, induced: Induced::Vertex };
        let alone = Cpu.run(&graph, &task, None, &Context::with_threads(1)).unwrap();
        let (mut stopped, mut whole) = (0, 0);
        for answers in (0..600).step_by(7) {
            let context = Context::with_threads(1);
            let stops = Failing::new(answers, || Error::Interrupted);
            let outcome = Cpu.run_together(&graph, &task, &stops, &context).unwrap();
            if outcome.complete {
                assert_eq!(outcome, alone);
                whole += 1;
                continue;
            }
            stopped += 1;
            let context = Context::with_threads(1);
            let fails = Failing::new(answers, || Error::Device("rank 3 is gone".into()));
            let error = Cpu.run_together(&graph, &task, &fails, &context).unwrap_err();
            assert!(error.to_string().contains("rank 3 is gone"), "{error}");
        }
        assert!(stopped > 5 && whole > 0, "{stopped} and {whole}");
    }

    #[test]
    fn what_others_say_of_another_graph_is_refused() {
        /// Peers that return one sum or value too many.
        struct Longer(usize);
        impl Peers for Longer {
            fn threads(&self) -> usize {
                1
            }

            fn next(&self, _level: usize, all: usize) -> Result<Range<usize>> {
                Ok(all..all)
            }

            fn join(&self, _level: usize, mut found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
                found.extend(vec![0; self.0]);
                Ok(vec![found])
            }
        }
        let edges: Vec<(u64, u64)> = (0..400u64).map(|e| (e * 7 % 40, e * 13 % 37)).collect();
        let graph = graph(&edges, true);
        for (k, more) in [(3, 16), (4, 5), (5, 1), (5, 16)] {
            let task = Task::Motif { k, induced: Induced::Vertex };
            let context = Context::with_threads(1);
            let error = Cpu.run_together(&graph, &task, &Longer(more), &context).unwrap_err();
            assert!(error.to_string().contains("don't mine the same graph"), "{error}");
        }
    }

    #[test]
    fn tables_travel_in_as_few_bytes_as_their_largest_value_needs() {
        for (values, width) in
            [(vec![0, 0], 1), (vec![1, 255], 1), (vec![256, 3], 2), (vec![u64::MAX, 0], 8)]
        {
            let bytes = table_bytes(&values);
            assert_eq!(bytes.len(), 1 + width * values.len());
        }
        assert_eq!(table_bytes(&[1, 258]), [2, 1, 0, 2, 1]);
        // No place, no value.
        assert_eq!(table_bytes(&[]), [1]);
    }
}
