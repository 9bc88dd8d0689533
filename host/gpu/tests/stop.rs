//! A run that is asked to stop while a kernel runs.

mod common;

use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::Error;
use gramer_engine::Engine;
use gramer_gpu::Settings;
use gramer_graph::Builder;
use gramer_pattern::task::Task;

/// Most of a second, and what a busy machine adds.
const SOON: Duration = Duration::from_secs(3);

#[test]
fn kernels_end_when_the_run_is_asked_to() {
    let Some(gpu) = common::open(Settings::default()) else { return };
    // Each task is years of work.
    let mut builder = Builder::new();
    (0..700u64).for_each(|u| (0..u).for_each(|v| builder.edge(u, v)));
    let graph = builder.build();
    let prepared = gpu.prepare(&graph, &Context::default()).unwrap();
    let all = gramer_engine::Units::All;
    for k in [5, 6, 16] {
        let context = Context::default();
        let (cancel, progress) = (context.cancel.clone(), context.progress.clone());
        let (outcome, late) = std::thread::scope(|scope| {
            let asked = scope.spawn(move || {
                // Programs are built, and kernels are queued.
                let begun = Instant::now();
                while progress.get().1 == 0 && begun.elapsed() < Duration::from_secs(300) {
                    std::thread::sleep(Duration::from_millis(10));
                }
                std::thread::sleep(Duration::from_millis(500));
                cancel.cancel();
                Instant::now()
            });
            let outcome = prepared.run(&Task::Clique { k }, all, None, &context);
            let ended = Instant::now();
            (outcome, ended.saturating_duration_since(asked.join().unwrap()))
        });
        match outcome {
            Ok(outcome) if k == 16 => assert!(!outcome.complete, "k = {k}: {outcome:?}"),
            Ok(_) | Err(Error::Interrupted) => {}
            Err(error) => panic!("k = {k}: {error}"),
        }
        assert!(late < SOON, "k = {k}: {late:?}");
    }
    // The next run on the graph is whole.
    let outcome = prepared.run(&Task::Clique { k: 4 }, all, None, &Context::default()).unwrap();
    assert!(outcome.complete);
    assert_eq!(outcome.results[0].count, 700 * 699 / 2 * 698 / 3 * 697 / 4);
}
