//! Tests of many independent tasks, counted on all threads; of a sample of them where all would take minutes.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::Tests;

/// Operations that a thread makes to count the tests of a row: about a minute.
const OF_A_THREAD: f64 = 3e10;
/// Tasks of the sample that predicts the work, about.
const PILOT: f64 = 64.0;

/// A task of a sample.
struct Chosen<'a, T> {
    task: &'a T,
    weight: f64,
    /// Number of tasks that it stands for; 1 if it is in each sample.
    factor: f64,
}

/// Tests of a sample, each task's as often as it stands for others, and the work of each.
struct Counted {
    tests: Tests,
    work: Vec<f64>,
}

/// Threads that count.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Operations that the host makes to count the tests of a row.
pub fn most_work() -> f64 {
    OF_A_THREAD * threads() as f64
}

/// The tests of all tasks, whatever work they are.
pub fn exact<T: Sync>(tasks: &[T], count: impl Fn(&T, &mut Tests) + Sync) -> Tests {
    counts(&every(tasks, &|_: &T| 1.0, 0.0), &count).tests
}

/// The tests of all tasks. If these are too much work, a sample is counted, in which large tasks are more frequent, by their
/// weights: the sum is then an estimate less two standard errors, which successive differences give.
pub fn all<T: Sync>(
    tasks: &[T],
    weight: impl Fn(&T) -> f64,
    count: impl Fn(&T, &mut Tests) + Sync,
) -> Tests {
    let sum: f64 = tasks.iter().map(&weight).sum();
    let mut share = sum / PILOT;
    let pilot = every(tasks, &weight, share);
    let predicted = counts(&pilot, &count).work;
    // The work of a sample in which each task stands for this much weight.
    let work_by = |share: f64| -> f64 {
        let all = pilot.iter().zip(&predicted);
        all.map(|(p, work)| p.factor * work * (p.weight / share).min(1.0)).sum()
    };
    let most_work = most_work();
    if work_by(0.0) <= most_work {
        share = 0.0;
    }
    while share > 0.0 && work_by(share / 2.0) <= most_work {
        share /= 2.0;
    }
    let chosen = every(tasks, &weight, share);
    let Counted { tests, work } = counts(&chosen, &count);
    let estimated: Vec<f64> = chosen
        .iter()
        .zip(&work)
        .filter(|(chosen, _)| chosen.factor > 1.0)
        .map(|(chosen, work)| chosen.factor * work)
        .collect();
    if estimated.is_empty() {
        return tests;
    }
    let all: f64 = chosen.iter().zip(&work).map(|(chosen, work)| chosen.factor * work).sum();
    let error = 2.0 * standard_error(&estimated) / all.max(1.0);
    Tests { error, ..tests.times((1.0 - error).max(0.0)) }
}

/// The tasks of at least `share`, and of the others one for each `share` of their weights.
fn every<'a, T>(tasks: &'a [T], weight: &impl Fn(&T) -> f64, share: f64) -> Vec<Chosen<'a, T>> {
    let (mut sum, mut next) = (0.0, share / 2.0);
    let mut chosen = vec![];
    for task in tasks {
        let weight = weight(task);
        if weight >= share {
            chosen.push(Chosen { task, weight, factor: 1.0 });
            continue;
        }
        sum += weight;
        if sum >= next {
            next += share;
            chosen.push(Chosen { task, weight, factor: share / weight });
        }
    }
    chosen
}

/// The tests of these tasks.
fn counts<T: Sync>(chosen: &[Chosen<'_, T>], count: &(impl Fn(&T, &mut Tests) + Sync)) -> Counted {
    let next = AtomicUsize::new(0);
    let part = || {
        let (mut sum, mut work) = (Tests::default(), vec![]);
        loop {
            let at = next.fetch_add(1, Relaxed);
            let Some(Chosen { task, factor, .. }) = chosen.get(at) else { return (sum, work) };
            let mut own = Tests::default();
            count(task, &mut own);
            work.push((at, own.work()));
            sum = sum.plus(&own.times(*factor));
        }
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads()).map(|_| scope.spawn(part)).collect();
        let mut counted = Counted { tests: Tests::default(), work: vec![0.0; chosen.len()] };
        for thread in running {
            let (tests, work) = thread.join().expect("it counts only");
            counted.tests = counted.tests.plus(&tests);
            work.into_iter().for_each(|(at, work)| counted.work[at] = work);
        }
        counted
    })
}

/// Standard error of a sum of estimates that follow each other by size.
fn standard_error(estimates: &[f64]) -> f64 {
    let n = estimates.len() as f64;
    let squares: f64 = estimates.windows(2).map(|pair| (pair[0] - pair[1]).powi(2)).sum();
    if estimates.len() < 2 { estimates[0] } else { (n * squares / (2.0 * (n - 1.0))).sqrt() }
}
