//! The mining thread of a rank.

use std::time::Duration;

use gramer_base::context::{Cancel, Context};
use gramer_crew::member::{MemberContext, Seat, Threads, work};
use gramer_crew::order::Answer;

use crate::Job;
use crate::message::Start;

/// Prepares the graph and works at a desk until there are no more orders.
pub fn mine(job: &Job<'_>, start: &Start, (context, stop): (&Context, &Cancel), seat: &dyn Seat) {
    let context = Context { cancel: stop.clone(), progress: seat.meter(), ..context.clone() };
    let prepared = match job.engine.prepare(job.graph, &context) {
        Ok(prepared) => prepared,
        Err(error) => return seat.ended(Answer::Failed(error), Duration::ZERO),
    };
    let (query, portions) = (job.query(), start.portions(job.graph));
    let post = MemberContext {
        query: &query,
        division: &start.division,
        graph: job.graph,
        portions: portions.as_ref(),
        sink: job.sink,
        context: &context,
        threads: Threads::Own(start.threads),
    };
    work(seat, &prepared, &post);
}
