//! A rank above 0: its engine's thread works at the desk of rank 0, and its main thread carries the messages.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gramer_base::context::{Cancel, Context, Progress};
use gramer_base::error::{Error, Result};
use gramer_base::parallel::start_in;
use gramer_crew::member::Seat;
use gramer_crew::order::{Answer, Candidates, Order};

use crate::message::{Failure, Hello, Message, OrderResult, Start, processor_time, unpack};
use crate::mining::mine;
use crate::{BEAT, Cluster, Job, LOOK};

/// How often a rank polls for an imminent answer, and for other messages while its engine works. Each poll takes
/// processor time from the engine.
const WAITED: Duration = Duration::from_micros(200);
const OTHERS: Duration = Duration::from_millis(8);
/// After this time a rank waits for the answer at the usual rate: other ranks are still working.
const SOON: Duration = Duration::from_millis(20);

/// A message of the engine to its rank, with the channel for the answer.
enum EngineMessage {
    Next(Candidates, Sender<Range<usize>>),
    Join(Vec<u8>, Sender<Result<Vec<Vec<u8>>>>),
    Ended(Answer, Duration),
}

/// The seat of this rank at the desk of rank 0.
struct RemoteSeat {
    orders: Mutex<Receiver<Order>>,
    to: Mutex<Sender<EngineMessage>>,
    meter: Arc<Progress>,
}

impl RemoteSeat {
    fn say(&self, said: EngineMessage) -> Result<()> {
        let to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        // Who has gone answers nothing: the job stops.
        to.send(said).map_err(|_| Error::Interrupted)
    }
}

impl Seat for RemoteSeat {
    fn order(&self) -> Option<Order> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
    }

    fn ended(&self, answer: Answer, took: Duration) {
        // A closed link needs no message.
        let _ = self.say(EngineMessage::Ended(answer, took));
    }

    fn next(&self, _attempt: u32, candidates: Candidates) -> Result<Range<usize>> {
        let (reply, replied) = channel();
        self.say(EngineMessage::Next(candidates, reply))?;
        replied.recv().map_err(|_| Error::Interrupted)
    }

    fn join(&self, _attempt: u32, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        let (reply, replied) = channel();
        self.say(EngineMessage::Join(found, reply))?;
        replied.recv().unwrap_or(Err(Error::Interrupted))
    }

    fn meter(&self) -> Arc<Progress> {
        Arc::clone(&self.meter)
    }
}

/// Mines until rank 0 ends the job.
///
/// # Errors
/// [`Error::Interrupted`] if rank 0 ends the job before, [`Error::Device`] if it no longer answers.
pub fn run(
    cluster: &mut Cluster,
    job: &Job<'_>,
    start: &Start,
    context: &Context,
    asked: bool,
) -> Result<()> {
    let stop = Cancel::default();
    let (orders, ordered) = channel();
    let (to, heard) = channel();
    std::thread::scope(|scope| {
        let stop = &stop;
        let there =
            RemoteSeat { orders: Mutex::new(ordered), to: Mutex::new(to), meter: Arc::default() };
        let engine =
            start_in(scope, "that mines", move || mine(job, start, (context, stop), &there))?;
        let ended = Courier::new(&orders, stop).run(cluster, &heard, context, asked);
        // No more orders; work in progress is cancelled.
        drop((orders, heard));
        stop.cancel();
        engine.join().unwrap_or_else(|panic| resume_unwind(panic));
        ended
    })
}

/// Says what this rank is, and waits until all have.
///
/// # Errors
/// As [`run`].
pub fn wait_for_start(
    cluster: &mut Cluster,
    job: &Job<'_>,
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

/// Carries messages between rank 0 and the engine.
struct Courier<'a> {
    orders: &'a Sender<Order>,
    stop: &'a Cancel,
    /// The engine has an order.
    busy: bool,
    /// The engine has failed, and there is nothing but to wait for the end.
    failed: bool,
    nexts: VecDeque<Sender<Range<usize>>>,
    join: Option<Sender<Result<Vec<Vec<u8>>>>>,
    /// The engine's results of the phase that it waits for.
    own: Vec<u8>,
    /// Since when it waits.
    since: Instant,
}

impl<'a> Courier<'a> {
    fn new(orders: &'a Sender<Order>, stop: &'a Cancel) -> Self {
        let (nexts, since) = (VecDeque::new(), Instant::now());
        Courier { orders, stop, busy: false, failed: false, nexts, join: None, own: vec![], since }
    }

    /// Until rank 0 says that it is over, or the engine panics.
    fn run(
        mut self,
        cluster: &mut Cluster,
        heard: &Receiver<EngineMessage>,
        context: &Context,
        mut asked: bool,
    ) -> Result<()> {
        let (mut beat, mut last) = (Instant::now(), Instant::now());
        loop {
            let waits = !self.busy || self.join.is_some() || !self.nexts.is_empty();
            let look = match waits {
                false => OTHERS,
                true if self.since.elapsed() < SOON => WAITED,
                true => LOOK,
            };
            match heard.recv_timeout(look) {
                Ok(said) => self.say(cluster, said)?,
                Err(RecvTimeoutError::Timeout) => {}
                // It has said why.
                Err(RecvTimeoutError::Disconnected) if self.failed => std::thread::sleep(LOOK),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Some(message) = cluster.hear_rank_0()? {
                last = Instant::now();
                if let Message::Over = message {
                    return Ok(());
                }
                self.hear(message);
            }
            if beat.elapsed() >= BEAT {
                beat = Instant::now();
                cluster.say(0, &Message::Alive)?;
            }
            ask(cluster, context, &mut asked)?;
            cluster.check_rank_0(last)?;
        }
    }

    /// Tells rank 0 what the engine says.
    fn say(&mut self, cluster: &mut Cluster, said: EngineMessage) -> Result<()> {
        self.since = Instant::now();
        match said {
            EngineMessage::Ended(answer, took) => {
                self.busy = false;
                let outcome = match answer {
                    Answer::Found(outcome) => Some(*outcome),
                    Answer::Agreed => None,
                    Answer::Failed(error) => {
                        self.failed = true;
                        return cluster.say(0, &Message::Failed(Failure::of(&error)));
                    }
                };
                let found = OrderResult { outcome, took, processor: processor_time() };
                cluster.say(0, &Message::OrderResult(Box::new(found)))
            }
            // It gets no further answer.
            _ if self.stop.is_cancelled() => Ok(()),
            EngineMessage::Next(candidates, reply) => {
                self.nexts.push_back(reply);
                cluster.say(0, &Message::Next(candidates))
            }
            EngineMessage::Join(found, reply) => {
                self.join = Some(reply);
                self.own = found.clone();
                cluster.say(0, &Message::Level(found))
            }
        }
    }

    /// Passes a message of rank 0 to the engine. A stopped engine waits for nothing.
    fn hear(&mut self, message: Message) {
        match message {
            Message::Do(work) => {
                self.busy = true;
                // A failed rank receives nothing.
                let _ = self.orders.send(Order { work, cancel: self.stop.clone() });
            }
            Message::Range(first, limit) => {
                let reply = self.nexts.pop_front();
                let _ = reply.map(|reply| reply.send(first..limit));
            }
            Message::Level(all) => {
                // Rank 0 does not send this rank's own results back.
                let mut found = unpack(&all);
                if let Ok(found) = &mut found {
                    found.push(std::mem::take(&mut self.own));
                }
                let _ = self.join.take().map(|reply| reply.send(found));
            }
            Message::Stop => {
                self.stop.cancel();
                self.nexts.clear();
                self.join = None;
            }
            _ => {}
        }
    }
}

/// Tells rank 0, once, that the user of this rank wants the job to stop.
fn ask(cluster: &mut Cluster, context: &Context, asked: &mut bool) -> Result<()> {
    if context.cancel.is_cancelled() && !std::mem::replace(asked, true) {
        cluster.say(0, &Message::Asked)?;
    }
    Ok(())
}
