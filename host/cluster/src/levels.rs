//! Tasks level by level: all ranks examine some candidates of a level, and all hear what each has found. Rank 0
//! deals candidates and passes on what is found. Such are those that are no sum of shares, and those for which the
//! whole graph has closed forms.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Division, Outcome, Run, Together};
use gramer_graph::context::{Cancel, Context, Progress};
use gramer_graph::error::{Error, Result};
use gramer_graph::parallel::start_in;

use crate::message::{Failure, Hello, Message, Start, pack, processor_time, unpack};
use crate::worker::ask;
use crate::{BEAT, Cluster, Job, LOOK};

/// A rank gets what is left of a level divided by this and by the number of all threads.
const PART: usize = 4;

/// How often a rank above 0 looks for an answer that comes soon, and for what else there may be while its engine works:
/// each look takes some time of the processor that the engine has.
const WAITED: Duration = Duration::from_micros(200);
const OTHERS: Duration = Duration::from_millis(8);
/// What hasn't come after so long is waited for as usual: others are at work.
const SOON: Duration = Duration::from_millis(20);

/// What the engine asks of its rank, and where it waits.
enum Asked {
    Next {
        level: usize,
        all: usize,
        reply: Sender<Result<Range<usize>>>,
    },
    Join {
        found: Vec<u8>,
        reply: Sender<Result<Vec<Vec<u8>>>>,
    },
    /// The engine has come to its end.
    Ended(Result<Box<Outcome>>),
}

/// Passes on what the threads of the engine ask.
struct Asking {
    to: Mutex<Sender<Asked>>,
    /// Of all ranks.
    threads: usize,
}

impl Asking {
    fn ask<R>(&self, asked: impl FnOnce(Sender<Result<R>>) -> Asked) -> Result<R> {
        let (reply, replied) = channel();
        let to = self.to.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // Who has gone answers nothing: the job stops.
        to.send(asked(reply)).map_err(|_| Error::Interrupted)?;
        replied.recv().unwrap_or(Err(Error::Interrupted))
    }
}

impl Together for Asking {
    fn threads(&self) -> usize {
        self.threads
    }

    fn next(&self, level: usize, all: usize) -> Result<Range<usize>> {
        self.ask(|reply| Asked::Next { level, all, reply })
    }

    fn join(&self, _level: usize, found: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.ask(|reply| Asked::Join { found, reply })
    }
}

/// Runs the engine in a thread of its own, and `listen` here, which hears what it asks.
fn beside_engine<R>(
    job: &Job<'_, '_>,
    (context, start): (&Context, &Start),
    stop: &Cancel,
    listen: impl FnOnce(&Receiver<Asked>) -> Result<R>,
) -> Result<R> {
    let (said, heard) = channel();
    let progress = Arc::new(Progress::default());
    let own = Context { cancel: stop.clone(), progress, ..context.clone() };
    std::thread::scope(|scope| {
        let engine = start_in(scope, "that mines", move || {
            let asking = Asking { to: Mutex::new(said.clone()), threads: start.threads };
            let run =
                Run { peers: Some(&asking), division: Some(&start.division), ..Run::new(&own) };
            let outcome = job.engine.prepare(job.graph, &own);
            let outcome = outcome.and_then(|on| on.counts(&job.query(), &run));
            // Other ranks may have a file of their own, which tells them nothing of this one's.
            let outcome = outcome.and_then(|outcome| job.graph.check_unchanged().map(|()| outcome));
            // Whoever doesn't listen any more knows enough.
            let _ = said.send(Asked::Ended(outcome.map(Box::new)));
        })?;
        let done = listen(&heard);
        stop.cancel();
        drop(heard);
        engine.join().unwrap_or_else(|panic| resume_unwind(panic));
        done
    })
}

/// A rank above 0.
///
/// # Errors
/// As `worker::run`.
pub fn work(
    cluster: &mut Cluster,
    job: &Job<'_, '_>,
    start: &Start,
    context: &Context,
    mut asked: bool,
) -> Result<()> {
    let stop = Cancel::default();
    beside_engine(job, (context, start), &stop, |heard| {
        let (mut nexts, mut join, mut own) = (VecDeque::new(), None, vec![]);
        let (mut beat, mut last, mut ended) = (Instant::now(), Instant::now(), false);
        let mut since = Instant::now();
        loop {
            let waits = ended || join.is_some() || !nexts.is_empty();
            let look = match waits {
                false => OTHERS,
                true if since.elapsed() < SOON => WAITED,
                true => LOOK,
            };
            match heard.recv_timeout(look) {
                Ok(Asked::Ended(outcome)) => {
                    ended = true;
                    let message = match outcome {
                        Ok(_) => Message::Done(processor_time()),
                        Err(error) => Message::Failed(Failure::of(&error)),
                    };
                    cluster.say(0, &message)?;
                }
                // It gets no answer any more.
                Ok(_) if stop.is_cancelled() => {}
                Ok(Asked::Next { level, all, reply }) => {
                    nexts.push_back(reply);
                    since = Instant::now();
                    cluster.say(0, &Message::Next(level, all))?;
                }
                Ok(Asked::Join { found, reply }) => {
                    join = Some(reply);
                    own = found.clone();
                    since = Instant::now();
                    cluster.say(0, &Message::Level(found))?;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if ended => std::thread::sleep(LOOK),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            while let Some(message) = cluster.hear_rank_0()? {
                last = Instant::now();
                match message {
                    Message::Range(first, limit) => {
                        let reply: Option<Sender<_>> = nexts.pop_front();
                        // Who has stopped waits for nothing.
                        let _ = reply.map(|reply| reply.send(Ok(first..limit)));
                    }
                    Message::Level(all) => {
                        let reply: Option<Sender<_>> = join.take();
                        // Rank 0 doesn't say again what this rank has said.
                        let mut found = unpack(&all);
                        if let Ok(found) = &mut found {
                            found.push(std::mem::take(&mut own));
                        }
                        let _ = reply.map(|reply| reply.send(found));
                    }
                    Message::Stop => {
                        stop.cancel();
                        nexts.clear();
                        join = None;
                    }
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
    })
}

/// A rank, as rank 0 knows it.
struct Rank {
    /// Candidates that it was given.
    examined: usize,
    /// What it has found of the level.
    found: Option<Vec<u8>>,
    done: bool,
    heard: Instant,
    processor: Duration,
}

/// The level at which all are.
#[derive(Default)]
struct Level {
    number: usize,
    candidates: usize,
    next: usize,
}

struct Dealing<'a> {
    context: &'a Context,
    /// Of all ranks.
    threads: usize,
    ranks: Vec<Rank>,
    level: Level,
    candidates: usize,
    /// Where the engine of rank 0 waits for the others.
    join: Option<Sender<Result<Vec<Vec<u8>>>>>,
}

/// Rank 0.
///
/// # Errors
/// As `dealer::run`.
pub fn deal(
    cluster: &mut Cluster,
    job: &Job<'_, '_>,
    (hellos, division): (&[Hello], Division),
    context: &Context,
) -> Result<Outcome> {
    let threads = hellos.iter().map(|hello| hello.threads).sum();
    let start = Start { division, threads, portions: 0, rest: None };
    cluster.say_to_all(&Message::Start(start.clone()))?;
    let rank = || Rank {
        examined: 0,
        found: None,
        done: false,
        heard: Instant::now(),
        processor: Duration::ZERO,
    };
    let ranks = (0..cluster.size()).map(|_| rank()).collect();
    let level = Level::default();
    let dealing = Dealing { context, threads, ranks, level, candidates: 0, join: None };
    let stop = Cancel::default();
    let outcome =
        beside_engine(job, (context, &start), &stop, |heard| dealing.run(cluster, heard, &stop))?;
    cluster.say_to_all(&Message::Over)?;
    Ok(outcome)
}

impl Dealing<'_> {
    fn run(
        mut self,
        cluster: &mut Cluster,
        heard: &Receiver<Asked>,
        stop: &Cancel,
    ) -> Result<Outcome> {
        let (mut beat, mut own, mut stopping) = (Instant::now(), None, false);
        loop {
            match heard.recv_timeout(LOOK) {
                Ok(Asked::Ended(outcome)) => {
                    own = Some(*outcome?);
                    self.ranks[0].done = true;
                    self.ranks[0].processor = processor_time();
                }
                // It gets no answer any more.
                Ok(_) if stopping => {}
                Ok(Asked::Next { level, all, reply }) => {
                    let _ = reply.send(Ok(self.next(cluster, 0, level, all)?));
                }
                Ok(Asked::Join { found, reply }) => {
                    self.ranks[0].found = Some(found);
                    self.join = Some(reply);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if own.is_some() => std::thread::sleep(LOOK),
                // It has panicked, which the join says.
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Interrupted),
            }
            while let Some((from, message)) = cluster.hear()? {
                self.ranks[from].heard = Instant::now();
                match message {
                    Message::Next(level, all) if !stopping => {
                        let range = self.next(cluster, from, level, all)?;
                        cluster.say(from, &Message::Range(range.start, range.end))?;
                    }
                    Message::Level(found) => self.ranks[from].found = Some(found),
                    Message::Done(processor) => {
                        self.ranks[from].done = true;
                        self.ranks[from].processor = processor;
                    }
                    Message::Failed(failure) => return Err(failure.error(&cluster.name(from))),
                    Message::Asked => self.context.cancel.cancel(),
                    _ => {}
                }
            }
            if !stopping {
                self.pass_on(cluster)?;
            }
            if !stopping && self.context.cancel.is_cancelled() {
                stopping = true;
                stop.cancel();
                self.join = None;
                cluster.say_to_all(&Message::Stop)?;
            }
            let all = stopping || self.ranks.iter().all(|rank| rank.done);
            if let Some(own) = own.take_if(|_| all) {
                return Ok(self.answer(cluster, own));
            }
            if beat.elapsed() >= BEAT {
                beat = Instant::now();
                cluster.say_to_all(&Message::Alive)?;
            }
            cluster.check_others(self.ranks.iter().map(|rank| rank.heard))?;
        }
    }

    /// The next candidates of a level for a rank.
    fn next(
        &mut self,
        cluster: &Cluster,
        from: usize,
        level: usize,
        all: usize,
    ) -> Result<Range<usize>> {
        if level > self.level.number {
            self.level = Level { number: level, candidates: all, next: 0 };
            self.candidates += all;
            self.context.progress.begin(all as u64);
        }
        if level < self.level.number || all != self.level.candidates {
            return Err(Error::Device(format!(
                "{} has {all} candidates of level {level}, and others {} of level {}: its processor or \
                 memory has failed, or it runs another program",
                cluster.name(from),
                self.level.candidates,
                self.level.number
            )));
        }
        let takers = PART * self.threads;
        let first = self.level.next;
        self.level.next += ((all - first) / takers).max(1).min(all - first);
        let range = first..self.level.next;
        self.ranks[from].examined += range.len();
        self.context.progress.add(range.len() as u64);
        Ok(range)
    }

    /// Tells each what the others have found of a level, once all have said it.
    fn pass_on(&mut self, cluster: &mut Cluster) -> Result<()> {
        if self.ranks.iter().any(|rank| rank.found.is_none()) {
            return Ok(());
        }
        let all: Vec<Vec<u8>> =
            self.ranks.iter_mut().filter_map(|rank| rank.found.take()).collect();
        for to in 1..cluster.size() {
            let others = all.iter().enumerate().filter(|(from, _)| *from != to);
            cluster.say(to, &Message::Level(pack(others.map(|(_, found)| found))))?;
        }
        let reply = self.join.take();
        // Who has stopped waits for nothing.
        let _ = reply.map(|reply| reply.send(Ok(all)));
        Ok(())
    }

    /// The answer, which rank 0 has as all have it.
    fn answer(&self, cluster: &Cluster, mut own: Outcome) -> Outcome {
        for (at, rank) in self.ranks.iter().enumerate() {
            let mut metrics = DeviceMetrics::of(cluster.name(at));
            let part = Value::Share { part: rank.examined as f64, whole: self.candidates as f64 };
            metrics.headline("share.candidates", "", part);
            metrics.headline("share.processor", "s", Value::time(rank.processor));
            own.devices.push(metrics);
        }
        own
    }
}
