//! Estimates of points by samples.

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
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
/// As [`Simulator::identity`] and [`estimate`], except that a point without an estimate has a reason.
pub(super) fn sampled(
    (simulator, base): (&Simulator, &Accelerator),
    graph: &Graph,
    (name, settings): (&str, &[Setting]),
    settings_of: &dyn Fn(&TaskWork<'_>) -> SampleSettings,
    context: &Context,
) -> Result<Sampled> {
    let (simulated, mined) = task(name)?;
    let point = Point::new(base, graph.view(), settings)?;
    // What is missing for all points is no reason of this one.
    simulator.identity(&point.machine, context)?;
    let estimated = TaskWork::new(graph, &mined, comparison(&point), context).and_then(|work| {
        let sampling = settings_of(&work);
        estimate(simulator, graph, &simulated, &work, &point, &sampling, context)
    });
    or_reason(estimated)
}

/// What was found, or why a point can't have it.
///
/// # Errors
/// Those that concern more than a point.
pub(super) fn or_reason<T>(found: Result<T>) -> Result<std::result::Result<T, String>> {
    match found {
        Ok(found) => Ok(Ok(found)),
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
