//! The thread of a rank that mines: it takes portions, and says what they held.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};
use std::time::Instant;

use gramer_engine::{Run, Units};
use gramer_graph::context::{Cancel, Context, Progress};
use gramer_graph::error::{Error, Result};
use gramer_many::deal::Portions;

use crate::Job;
use crate::message::{Found, Start, processor_time};

/// Mines what `orders` says until nobody is left to say it. The first failure is the last word.
pub fn take(
    job: &Job<'_, '_>,
    start: &Start,
    context: &Context,
    stop: &Cancel,
    orders: &Receiver<Vec<usize>>,
    said: &Sender<Result<Found>>,
) {
    // Whoever doesn't listen any more knows enough.
    let say = |what| said.send(what).is_ok();
    let progress = Arc::new(Progress::default());
    let context = Context { cancel: stop.clone(), progress, ..context.clone() };
    let prepared = match job.engine.prepare(job.graph, &context) {
        Ok(prepared) => prepared,
        Err(error) => {
            say(Err(error));
            return;
        }
    };
    let (query, view) = (job.query(), job.graph.view());
    let units = start.rest.as_ref().map_or(Units::All, Units::Share);
    let portions = Portions::of(view, units, start.portions, start.division.by_ids());
    for taken in orders {
        let begun = Instant::now();
        let found = match taken.iter().find(|&&portion| portion >= portions.count()) {
            Some(portion) => Err(Error::Device(format!("there is no portion {portion}"))),
            None => portions.share(view, &taken).and_then(|share| {
                let (units, sink) = (Units::Share(&share), job.sink);
                let division = Some(&start.division);
                prepared.counts(&query, &Run { units, sink, division, ..Run::new(&context) })
            }),
        };
        let took = begun.elapsed();
        // Other ranks may have a file of their own, which tells them nothing of this one's.
        let found = found.and_then(|outcome| job.graph.check_unchanged().map(|()| outcome));
        let found = found.map(|outcome| Found { outcome, took, processor: processor_time() });
        let failed = found.is_err();
        if !say(found) || failed {
            return;
        }
    }
}
