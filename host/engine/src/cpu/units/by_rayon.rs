//! The same units dealt out by rayon: what that costs beside our own distributor, and that the answers are
//! the same.
//!
//! ```sh
//! GRAMER_MEASURE_THREADS=10 GRAMER_DATA=DATA cargo test --release -p gramer-engine --lib -- \
//!     --nocapture by_rayon
//! ```
//!
//! prints a table of the real graphs: CPU seconds of a run by all threads (the least and the median of so many
//! runs, ways in turn), those of the busiest thread over the mean, and how many states were made. Wall time
//! isn't shown, since other work on the machine would be in it. The pool is there before and is used by all runs.

#![cfg(test)]

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use gramer_graph::context::Context;
use gramer_graph::prepare::renumber;
use gramer_graph::read::{ReadOptions, read_graph};
use gramer_graph::{Graph, generate};
use gramer_pattern::task::{Induced, Task};
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use super::*;
use crate::cpu::Cpu;
use crate::{Engine, Units};

/// Who deals the units out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Own,
    /// Rayon, with a state for each piece of the range that it makes.
    Fold,
    /// Rayon, with a state for each of its threads behind a lock.
    Slots,
}

const WAYS: [Way; 3] = [Way::Own, Way::Fold, Way::Slots];

thread_local! {
    /// What the test on this thread wants.
    static WAY: Cell<Way> = const { Cell::new(Way::Own) };
}

/// CPU seconds of the threads that mined, phase by phase, [`THREADS`] each.
static SECONDS: Mutex<Vec<f64>> = Mutex::new(Vec::new());
/// States that were made.
static STATES: AtomicUsize = AtomicUsize::new(0);
const THREADS: usize = 2;

/// CPU seconds of this thread by the system's account.
fn cpu_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split_whitespace().next().and_then(|n| n.parse::<f64>().ok()).map_or(0.0, |ns| ns / 1e9)
}

/// A thread of our own distributor has ended.
pub fn ended() {
    if std::env::var_os("GRAMER_MEASURE_THREADS").is_some() {
        SECONDS.lock().unwrap().push(cpu_seconds());
        STATES.fetch_add(1, Ordering::Relaxed);
    }
}

fn pool() -> &'static rayon::ThreadPool {
    static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| rayon::ThreadPoolBuilder::new().num_threads(THREADS).build().unwrap())
}

/// As [`run_units`] by rayon, if the test on this thread wants that.
pub fn run<S: Send>(
    units: &Groups,
    context: &Context,
    make: &(impl Fn() -> S + Sync),
    work: &(impl Fn(&mut S, &WorkUnit) -> ControlFlow<()> + Sync),
) -> Option<(Vec<S>, bool)> {
    let way = WAY.get();
    if way == Way::Own {
        return None;
    }
    let broken = AtomicBool::new(context.cancel.is_cancelled());
    context.progress.begin(units.len() as u64);
    let group = |state: &mut S, group: usize| {
        for unit in units.group(group) {
            if broken.load(Ordering::Relaxed)
                || context.cancel.is_cancelled()
                || work(state, unit).is_break()
            {
                broken.store(true, Ordering::Relaxed);
                return;
            }
        }
        context.progress.add(1);
    };
    let made = || {
        STATES.fetch_add(1, Ordering::Relaxed);
        make()
    };
    let all = (0..units.len()).into_par_iter();
    let of_pool = || pool().broadcast(|_| cpu_seconds());
    let before = of_pool();
    let states = pool().install(|| match way {
        Way::Fold => {
            let one = |mut state: S, number: usize| {
                group(&mut state, number);
                state
            };
            all.fold(made, one).collect()
        }
        _ => {
            let slots: Vec<Mutex<Option<S>>> = (0..THREADS).map(|_| Mutex::new(None)).collect();
            all.with_max_len(1).for_each(|number| {
                let slot = &slots[rayon::current_thread_index().unwrap()];
                group(slot.lock().unwrap().get_or_insert_with(made), number);
            });
            slots.into_iter().filter_map(|slot| slot.into_inner().unwrap()).collect()
        }
    });
    let took = of_pool().into_iter().zip(before).map(|(after, before)| after - before);
    SECONDS.lock().unwrap().extend(took);
    Some((states, !broken.into_inner()))
}

/// One run.
struct Run {
    /// CPU seconds of each thread that mined, phase by phase, and of the one that asked.
    threads: Vec<f64>,
    asking: f64,
    states: usize,
    outcome: crate::Outcome,
}

impl Run {
    fn seconds(&self) -> f64 {
        self.asking + self.threads.iter().sum::<f64>()
    }

    /// CPU seconds of the busiest threads of the phases over the mean of all threads.
    fn balance(&self) -> f64 {
        let busiest = |phase: &[f64]| phase.iter().copied().fold(0.0, f64::max);
        let busiest: f64 = self.threads.chunks(THREADS).map(busiest).sum();
        busiest * THREADS as f64 / self.threads.iter().sum::<f64>()
    }
}

fn run_task(graph: &Graph, task: &Task, way: Way) -> Run {
    let context = Context::with_threads(THREADS);
    let prepared = Cpu.prepare(graph, &context).unwrap();
    WAY.set(way);
    SECONDS.lock().unwrap().clear();
    STATES.store(0, Ordering::Relaxed);
    let own = cpu_seconds();
    let outcome = prepared.run(task, Units::All, None, &context).unwrap();
    let asking = cpu_seconds() - own;
    WAY.set(Way::Own);
    let threads = std::mem::take(&mut *SECONDS.lock().unwrap());
    Run { threads, asking, states: STATES.load(Ordering::Relaxed), outcome }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn measure(repeats: usize, data: &std::path::Path) {
    let motif = Task::Motif { k: 4, induced: Induced::Vertex };
    println!(
        "{:24} {:6} {:>10} {:>10} {:>18} {:>7}",
        "graph and task", "way", "least s", "median s", "busiest over mean", "states"
    );
    for (name, file, task) in [
        ("ca-astroph 5-clique", "ca-astroph/ca-AstroPh.txt.zst", Task::Clique { k: 5 }),
        ("wiki-vote 4-motif", "wiki-vote/wiki-vote.txt.zst", motif),
        ("web-stanford 3-clique", "web-stanford/edges_directed.txt.zst", Task::Clique { k: 3 }),
    ] {
        let context = Context::with_threads(THREADS);
        let graph = read_graph(&data.join(file), &ReadOptions::default(), &context).unwrap();
        let graph = renumber(&graph, &context).unwrap();
        let mut runs: Vec<Vec<Run>> = WAYS.iter().map(|_| vec![]).collect();
        for _ in 0..repeats {
            for (way, runs) in WAYS.iter().zip(&mut runs) {
                runs.push(run_task(&graph, &task, *way));
            }
        }
        for (way, runs) in WAYS.iter().zip(&runs) {
            assert!(runs.iter().all(|run| run.outcome.results == runs[0].outcome.results));
            let seconds: Vec<f64> = runs.iter().map(Run::seconds).collect();
            let balance = runs.iter().map(Run::balance);
            println!(
                "{name:24} {:6} {:>10.4} {:>10.4} {:>18.3} {:>7}",
                format!("{way:?}"),
                seconds.iter().copied().fold(f64::INFINITY, f64::min),
                median(seconds.clone()),
                median(balance.collect()),
                runs[0].states,
            );
        }
    }
}

#[test]
fn units_by_rayon_give_the_same_counts() {
    if let Some(repeats) = std::env::var_os("GRAMER_MEASURE_THREADS") {
        let repeats = repeats.to_str().and_then(|n| n.parse().ok()).expect("a number of runs");
        let data = std::env::var_os("GRAMER_DATA").expect("GRAMER_DATA names the real graphs");
        return measure(repeats, data.as_ref());
    }
    let recipe = generate::Recipe {
        model: generate::Model::Rmat { scale: 9, edge_factor: 8, a: 0.57, b: 0.19, c: 0.19 },
        seed: 1,
        vertex_labels: None,
        edge_labels: None,
    };
    let graph = generate::generate(&recipe, &Context::with_threads(1)).unwrap();
    for task in [Task::Clique { k: 4 }, Task::Motif { k: 4, induced: Induced::Vertex }] {
        let [own, fold, slots] = WAYS.map(|way| run_task(&graph, &task, way).outcome.results);
        assert!(own[0].count > 100 && own == fold && own == slots);
    }
}
