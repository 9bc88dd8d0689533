//! Estimates of points by samples, several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_base::parallel::on_threads;
use gramer_graph::Graph;
use gramer_machine::Accelerator;

use crate::explore::parameter::{Point, Setting};
use crate::explore::sample::work::TaskWork;
use crate::explore::sample::{Estimate, SampleSettings, comparison, estimate};
use crate::explore::simulator::Simulator;
use crate::explore::task;

/// A point's estimate, or why there is none.
pub(super) type Sampled = std::result::Result<Estimate, String>;

/// Estimates a task on a machine with these settings; `settings_of` gives those of the sample.
///
/// # Errors
/// As [`estimate`], except that a point without an estimate has a reason.
pub(super) fn sampled(
    (simulator, base): (&Simulator, &Accelerator),
    graph: &Graph,
    (name, settings): (&str, &Vec<Setting>),
    settings_of: &dyn Fn(&TaskWork<'_>) -> SampleSettings,
    context: &Context,
) -> Result<Sampled> {
    let (simulated, mined) = task(name)?;
    let point = Point::new(base, graph.view(), settings)?;
    let estimated = TaskWork::new(graph, &mined, comparison(&point), context).and_then(|work| {
        let sampling = settings_of(&work);
        estimate(simulator, graph, &simulated, &work, &point, &sampling, context)
    });
    match estimated {
        Ok(estimate) => Ok(Ok(estimate)),
        Err(Error::Unsupported(why) | Error::Device(why)) => Ok(Err(why)),
        Err(other) => Err(other),
    }
}

/// An estimate for a progress line.
pub(super) fn in_words(sampled: &Sampled) -> String {
    match sampled {
        Ok(e) => format!("{:.0} ± {:.0} cycles by a sample", e.cycles.value, e.cycles.half),
        Err(why) => why.clone(),
    }
}

/// `f` of each item on several threads, in the items' order.
///
/// # Errors
/// An error of `f`.
pub(super) fn in_parallel<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    f: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let parts = on_threads(threads.min(items.len()), |_| {
        let mut found = vec![];
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return Ok(found) };
            found.push((at, f(item)?));
        }
    });
    let mut all: Vec<(usize, R)> =
        parts.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, found)| found).collect())
}
