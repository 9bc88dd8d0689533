//! A rank that takes portions from rank 0.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Instant;

use gramer_graph::context::{Cancel, Context};
use gramer_graph::error::Result;
use gramer_graph::parallel::start_in;

use crate::message::{Failure, Found, Hello, Message, Start};
use crate::taker::take;
use crate::{BEAT, Cluster, Job, LOOK};

/// Mines until rank 0 says that it is over.
///
/// # Errors
/// [`Error::Interrupted`] if rank 0 ends the job before, [`Error::Device`] if it isn't heard any more.
pub fn run(
    cluster: &mut Cluster,
    job: &Job<'_, '_>,
    start: &Start,
    context: &Context,
    asked: bool,
) -> Result<()> {
    let stop = Cancel::default();
    let (orders, ordered) = channel();
    let (said, heard) = channel();
    std::thread::scope(|scope| {
        let stop = &stop;
        let taker = start_in(scope, "that mines", move || {
            take(job, start, context, stop, &ordered, &said)
        })?;
        let ended = listen(cluster, &orders, &heard, stop, context, asked);
        // No more orders, and what goes on isn't wanted.
        drop(orders);
        stop.cancel();
        taker.join().unwrap_or_else(|panic| resume_unwind(panic));
        ended
    })
}

/// Says what this rank is, and waits until all have.
///
/// # Errors
/// As [`run`].
pub fn wait_for_start(
    cluster: &mut Cluster,
    job: &Job<'_, '_>,
    context: &Context,
    asked: &mut bool,
) -> Result<Start> {
    let hello = Hello::new(job.engine, job.graph, job.query(), context)?;
    cluster.say(0, &Message::Hello(Box::new(hello)))?;
    loop {
        match cluster.hear_rank_0()? {
            Some(Message::Start(start)) => return Ok(start),
            Some(_) => continue,
            None => {}
        }
        ask(cluster, context, asked)?;
        std::thread::sleep(LOOK);
    }
}

/// Passes on what rank 0 and the taker say, until the one says that it is over or the other panics.
fn listen(
    cluster: &mut Cluster,
    orders: &Sender<Vec<usize>>,
    heard: &Receiver<Result<Found>>,
    stop: &Cancel,
    context: &Context,
    mut asked: bool,
) -> Result<()> {
    let (mut beat, mut last, mut failed) = (Instant::now(), Instant::now(), false);
    loop {
        match heard.recv_timeout(LOOK) {
            Ok(Ok(found)) => cluster.say(0, &Message::Found(Box::new(found)))?,
            Ok(Err(error)) => {
                failed = true;
                cluster.say(0, &Message::Failed(Failure::of(&error)))?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            // It has said why, and there is nothing but to wait for the end.
            Err(RecvTimeoutError::Disconnected) if failed => std::thread::sleep(LOOK),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        while let Some(message) = cluster.hear_rank_0()? {
            last = Instant::now();
            match message {
                // One that has failed hears of nothing.
                Message::Take(portions) => drop(orders.send(portions)),
                Message::Stop => stop.cancel(),
                Message::Over => return Ok(()),
                _ => {}
            }
        }
        if beat.elapsed() >= BEAT {
            beat = Instant::now();
            cluster.say(0, &Message::Alive)?;
        }
        ask(cluster, context, &mut asked)?;
        cluster.check_rank_0(last)?;
    }
}

/// Tells rank 0, once, that the user of this rank wants the job to stop.
pub fn ask(cluster: &mut Cluster, context: &Context, asked: &mut bool) -> Result<()> {
    if context.cancel.is_cancelled() && !std::mem::replace(asked, true) {
        cluster.say(0, &Message::Asked)?;
    }
    Ok(())
}
