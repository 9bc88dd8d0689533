//! Rank 0: it deals portions to all ranks, itself among them, and merges what they find.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Division, Outcome, Units};
use gramer_graph::context::{Cancel, Context};
use gramer_graph::error::{Error, Result};
use gramer_graph::parallel::start_in;
use gramer_many::checkpoint::Checkpoint;
use gramer_many::deal::{Deal, PORTIONS_KEPT, Pace, Portions};
use tracing::warn;

use crate::message::{Found, Hello, Message, Start};
use crate::taker::take;
use crate::{BEAT, Cluster, Job, LOOK, Mined};

/// Portions for each rank where nothing is kept.
const PORTIONS_EACH: usize = 64;

/// Mines with all ranks.
///
/// # Errors
/// Those of the checkpoint and of the engines of all ranks; [`Error::Device`] that names a rank which
/// doesn't go with the others or isn't heard any more. What was finished is in the checkpoint.
pub fn run<'g>(
    cluster: &mut Cluster,
    job: &Job<'g, '_>,
    (hellos, division): (&[Hello], Division),
    context: &Context,
) -> Result<Mined<'g>> {
    let threads = hellos.iter().map(|hello| hello.threads).sum();
    let portions = PORTIONS_EACH * cluster.size();
    let mut start = Start { division, threads, portions, rest: None };
    let kept = match job.keeping {
        None => None,
        Some(keeping) => {
            let rule = start.division.scheme.to_string();
            let kept = Checkpoint::open(keeping, job.graph, job.task, rule, &context.cancel)?;
            start.portions = PORTIONS_KEPT;
            start.rest = kept.rest()?;
            Some(kept)
        }
    };
    cluster.say_to_all(&Message::Start(start.clone()))?;

    let stop = Cancel::default();
    let (orders, ordered) = channel();
    let (said, heard) = channel();
    let run = std::thread::scope(|scope| {
        let (start, stop) = (&start, &stop);
        let taker = start_in(scope, "that mines", move || {
            take(job, start, context, stop, &ordered, &said)
        })?;
        let dealt = Dealing::new(job, start, cluster, kept.as_ref(), context)
            .and_then(|dealing| dealing.run(cluster, &orders, &heard, stop));
        drop(orders);
        stop.cancel();
        taker.join().unwrap_or_else(|panic| resume_unwind(panic));
        dealt
    });
    let run = run.map_err(|error| match error {
        Error::Device(what) if kept.as_ref().is_some_and(|kept| kept.outcome().is_some()) => {
            Error::Device(format!(
                "{what}; what was finished is in the checkpoint: go on from it with the setting `resume`"
            ))
        }
        other => other,
    });
    let nothing = kept.as_ref().is_some_and(|kept| kept.outcome().is_none());
    let saved = match (&kept, &run) {
        (None, _) => Ok(()),
        // Nothing that a later run could go on from.
        (Some(kept), Err(error)) if nothing && !matches!(error, Error::Interrupted) => {
            kept.remove()
        }
        (Some(kept), _) => kept.save(),
    };
    let mut outcome = run?;
    if let Some(mut known) = kept.as_ref().and_then(Checkpoint::outcome) {
        known.complete = outcome.complete;
        known.devices = outcome.devices;
        known.warnings = outcome.warnings;
        outcome = known;
    }
    if let Err(error) = saved {
        outcome.warnings.push(format!("the checkpoint is not written: {error}"));
    }
    cluster.say_to_all(&Message::Over)?;
    Ok(Mined { outcome, kept })
}

/// Waits until all ranks have said what they are, and compares that.
pub fn gather(cluster: &mut Cluster, job: &Job<'_, '_>, context: &Context) -> Result<Vec<Hello>> {
    let own = Hello::new(job.engine, job.graph, job.query(), context)?;
    let mut all: Vec<Option<Hello>> = vec![None; cluster.size()];
    cluster.hosts[0] = Some(own.host.clone());
    all[0] = Some(own);
    while all.iter().any(Option::is_none) {
        match cluster.hear()? {
            Some((from, Message::Hello(hello))) => {
                cluster.hosts[from] = Some(hello.host.clone());
                all[from] = Some(*hello);
            }
            Some((from, Message::Failed(failure))) => {
                return Err(failure.error(&cluster.name(from)));
            }
            Some((_, Message::Asked)) => return Err(Error::Interrupted),
            Some(_) => {}
            None => {
                context.cancel.check()?;
                std::thread::sleep(LOOK);
            }
        }
    }
    let all: Vec<Hello> = all.into_iter().flatten().collect();
    for (rank, hello) in all.iter().enumerate() {
        let differs = hello.differs(&all[0]);
        if !differs.is_empty() {
            return Err(Error::Device(format!(
                "{} doesn't do the work of rank 0: {}; give all ranks the same command, files and \
                 version",
                cluster.name(rank),
                differs.join(", and ")
            )));
        }
    }
    Ok(all)
}

/// A rank, as its dealer knows it.
struct Rank {
    /// The portions that it has, and since when.
    has: Option<(Vec<usize>, Instant)>,
    pace: Pace,
    /// It does nothing any more.
    failed: bool,
    heard: Instant,
    /// Portions that it has done.
    done: usize,
    runs: u64,
    busy: Duration,
    processor: Duration,
    /// What its devices measured.
    devices: Vec<DeviceMetrics>,
}

/// The state of a run.
struct Dealing<'a> {
    job: &'a Job<'a, 'a>,
    context: &'a Context,
    kept: Option<&'a Checkpoint<'a>>,
    ranks: Vec<Rank>,
    deal: Deal,
    count: usize,
    /// All that was found, where nothing is kept.
    found: Option<Outcome>,
    /// Something was found that isn't complete.
    incomplete: bool,
    warnings: Vec<String>,
    /// The last failure.
    failure: Option<Error>,
    /// When all were told to stop.
    stopping: Option<Instant>,
}

impl<'a> Dealing<'a> {
    fn new(
        job: &'a Job<'a, 'a>,
        start: &Start,
        cluster: &Cluster,
        kept: Option<&'a Checkpoint<'a>>,
        context: &'a Context,
    ) -> Result<Self> {
        let units = start.rest.as_ref().map_or(Units::All, Units::Share);
        let portions =
            Portions::of(job.graph.view(), units, start.portions, start.division.by_ids());
        let count = portions.count();
        context.progress.begin(count as u64);
        let rank = || Rank {
            has: None,
            pace: Pace::new(kept.is_some()),
            failed: false,
            heard: Instant::now(),
            done: 0,
            runs: 0,
            busy: Duration::ZERO,
            processor: Duration::ZERO,
            devices: vec![],
        };
        Ok(Dealing {
            job,
            context,
            kept,
            ranks: (0..cluster.size()).map(|_| rank()).collect(),
            deal: Deal::new(0..count, cluster.size()),
            count,
            found: None,
            incomplete: false,
            warnings: vec![],
            failure: None,
            stopping: None,
        })
    }

    /// Deals until all is done, or all have stopped.
    fn run(
        mut self,
        cluster: &mut Cluster,
        orders: &Sender<Vec<usize>>,
        heard: &Receiver<Result<Found>>,
        stop: &Cancel,
    ) -> Result<Outcome> {
        let mut beat = Instant::now();
        loop {
            self.hand_out(cluster, orders)?;
            let out = self.ranks.iter().any(|rank| rank.has.is_some());
            if !out && (self.stopping.is_some() || self.deal.left() == 0) {
                break;
            }
            if !out && self.ranks.iter().all(|rank| rank.failed) {
                let none = || Error::Device("no rank is left".into());
                return Err(self.failure.take().unwrap_or_else(none));
            }
            match heard.recv_timeout(LOOK) {
                Ok(Ok(found)) => self.add(0, found)?,
                Ok(Err(error)) => self.fails(cluster, 0, error)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) if self.ranks[0].failed => {
                    std::thread::sleep(LOOK);
                }
                // It has panicked, which the join says.
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Interrupted),
            }
            while let Some((from, message)) = cluster.hear()? {
                self.ranks[from].heard = Instant::now();
                match message {
                    Message::Found(found) => self.add(from, *found)?,
                    Message::Failed(failure) => {
                        let error = failure.error(&cluster.name(from));
                        self.fails(cluster, from, error)?;
                    }
                    Message::Asked => self.context.cancel.cancel(),
                    _ => {}
                }
            }
            if self.stopping.is_none() && (self.context.cancel.is_cancelled() || self.incomplete) {
                self.stopping = Some(Instant::now());
                // The launcher may leave little time.
                let _ = self.kept.map(Checkpoint::save);
                stop.cancel();
                cluster.say_to_all(&Message::Stop)?;
            }
            if beat.elapsed() >= BEAT {
                beat = Instant::now();
                cluster.say_to_all(&Message::Alive)?;
            }
            self.check_silence(cluster)?;
        }
        Ok(self.join(cluster))
    }

    /// Gives each rank that has nothing the next portions.
    fn hand_out(&mut self, cluster: &mut Cluster, orders: &Sender<Vec<usize>>) -> Result<()> {
        if self.stopping.is_some() {
            return Ok(());
        }
        // Others first: rank 0 hears of its own without a way.
        for at in (0..self.ranks.len()).rev() {
            let rank = &mut self.ranks[at];
            if rank.failed || rank.has.is_some() {
                continue;
            }
            let taken = self.deal.take_between(rank.pace.portions());
            if taken.is_empty() {
                break;
            }
            rank.has = Some((taken.clone(), Instant::now()));
            match at {
                // A taker that has gone is noticed where it is listened to.
                0 => drop(orders.send(taken)),
                _ => cluster.say(at, &Message::Take(taken))?,
            }
        }
        Ok(())
    }

    /// Takes in what a rank found in the portions that it has.
    fn add(&mut self, from: usize, found: Found) -> Result<()> {
        let rank = &mut self.ranks[from];
        let Some((taken, _)) = rank.has.take() else { return Ok(()) };
        let Found { mut outcome, took, processor } = found;
        rank.runs += 1;
        rank.busy += took;
        rank.processor = processor;
        rank.pace.took(taken.len(), took);
        for new in outcome.devices.drain(..) {
            match rank.devices.iter_mut().find(|known| known.device == new.device) {
                Some(known) => known.absorb(&new),
                None => rank.devices.push(new),
            }
        }
        for warning in outcome.warnings.drain(..) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        if outcome.complete {
            rank.done += taken.len();
            self.deal.done(&taken);
            self.context.progress.add(taken.len() as u64);
        } else {
            self.incomplete = true;
        }
        match self.kept {
            Some(kept) => {
                kept.add(outcome)?;
                if self.stopping.is_some() {
                    // The launcher may leave little time.
                    let _ = kept.save();
                }
            }
            None => {
                let all = self.found.take().into_iter().chain([outcome]);
                self.found = Some(Outcome::merge(self.job.task, self.job.graph, all)?);
            }
        }
        Ok(())
    }

    /// A rank has failed: where a device has, others do its work.
    fn fails(&mut self, cluster: &Cluster, from: usize, error: Error) -> Result<()> {
        let rank = &mut self.ranks[from];
        rank.failed = true;
        let has = rank.has.take();
        // A list has lines of the portion that failed, which nobody can take out again.
        if !matches!(error, Error::Device(_)) || self.job.sink.is_some() {
            return Err(error);
        }
        if let Some((taken, _)) = has {
            self.deal.give_back(taken);
        }
        let error = match from {
            0 => Error::Device(format!("{}: {error}", cluster.name(0))),
            _ => error,
        };
        warn!(rank = from, %error, "a rank has failed: the others do its work");
        self.warnings.push(format!("{error}; the other ranks did its work"));
        self.failure = Some(error);
        Ok(())
    }

    /// Ranks must be heard from time to time, and must answer once all are told to stop.
    fn check_silence(&self, cluster: &Cluster) -> Result<()> {
        cluster.check_others(self.ranks.iter().map(|rank| rank.heard))?;
        let names = |silent: &dyn Fn(&Rank) -> bool| -> Vec<String> {
            let others = self.ranks.iter().enumerate().skip(1);
            others.filter(|(_, rank)| silent(rank)).map(|(at, _)| cluster.name(at)).collect()
        };
        let Some(since) = self.stopping else { return Ok(()) };
        if since.elapsed() <= (cluster.settings.grace)() {
            return Ok(());
        }
        let silent = names(&|rank| rank.has.is_some());
        Err(match silent.is_empty() {
            // The device of this rank takes its time; there is nobody to blame.
            true => Error::Interrupted,
            false => Error::Device(format!(
                "the job was stopped, and {} did not answer: its process has ended, or its device \
                 doesn't stop",
                silent.join(", ")
            )),
        })
    }

    /// The answer of all ranks.
    fn join(self, cluster: &Cluster) -> Outcome {
        let finished = self.deal.left() == 0 && self.deal.out() == 0 && !self.incomplete;
        let mut outcome = self.found.unwrap_or_else(|| Outcome::new(vec![], false));
        outcome.complete = finished;
        outcome.warnings.extend(self.warnings);
        outcome.devices.clear();
        for (at, rank) in self.ranks.into_iter().enumerate() {
            let name = cluster.name(at);
            let mut metrics = DeviceMetrics::of(&name);
            metrics.headline("share.busy", "s", Value::time(rank.busy));
            let part = Value::Share { part: rank.done as f64, whole: self.count as f64 };
            metrics.headline("share.portions", "", part);
            metrics.headline("share.processor", "s", Value::time(rank.processor));
            metrics.detail("share.runs", "", Value::Count(rank.runs));
            outcome.devices.push(metrics);
            outcome.devices.extend(rank.devices.into_iter().map(|mut device| {
                device.device = format!("{name}, {}", device.device);
                device
            }));
        }
        outcome
    }
}
