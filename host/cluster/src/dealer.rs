//! Rank 0: its main thread represents all other ranks at the desk, while its own engine has a thread there.

use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use gramer_base::context::{Cancel, Context};
use gramer_base::error::{Error, Result};
use gramer_base::parallel::start_in;
use gramer_crew::checkpoint::Checkpoint;
use gramer_crew::deal::PORTIONS_KEPT;
use gramer_crew::desk::Desk;
use gramer_crew::member::LocalSeat;
use gramer_crew::order::{self, Answer, Record, Turn};
use gramer_crew::phases::{PhaseSettings, Round};
use gramer_crew::shares::DealSettings;
use gramer_engine::metrics::{DeviceMetrics, Value};
use gramer_engine::{Division, Outcome};

use crate::message::{Hello, Message, OrderResult, Start, pack, processor_time};
use crate::mining::mine;
use crate::{BEAT, Cluster, Job, JobResult, LOOK};

/// Portions for each rank where nothing is kept.
const PORTIONS_EACH: usize = 64;

/// Mines with all ranks.
///
/// # Errors
/// Errors of the checkpoint and of the engines of all ranks; [`Error::Device`] that names a rank that differs from
/// the others or no longer answers. What was finished is in the checkpoint.
pub fn run(
    cluster: &mut Cluster,
    job: &Job<'_>,
    (hellos, division): (&[Hello], Division),
    context: &Context,
) -> Result<JobResult> {
    let threads = hellos.iter().map(|hello| hello.threads).sum();
    let portions = PORTIONS_EACH * cluster.size();
    let mut start = Start { division, threads, portions, rest: None };
    let kept = match job.keeping {
        None => None,
        Some(keeping) => {
            let rule = (&start.division).into();
            let kept = Checkpoint::open(keeping, job.graph, job.task, rule, &context.cancel)?;
            start.portions = PORTIONS_KEPT;
            start.rest = kept.rest()?;
            Some(kept)
        }
    };
    cluster.say_to_all(&Message::Start(start.clone()))?;
    let run = divided(cluster, job, &start, kept.as_ref(), context);
    let run = run.map_err(|error| match error {
        Error::Device(what) if kept.as_ref().is_some_and(|kept| kept.outcome().is_some()) => {
            Error::Device(format!(
                "{what}; finished work is in the checkpoint: continue from it with the setting \
                 `resume`"
            ))
        }
        other => other,
    });
    let outcome = match &kept {
        Some(kept) => kept.close(run)?,
        None => run?,
    };
    cluster.say_to_all(&Message::Over)?;
    Ok(JobResult { outcome, kept })
}

/// Has all ranks answer the question at one desk.
fn divided(
    cluster: &mut Cluster,
    job: &Job<'_>,
    start: &Start,
    kept: Option<&Checkpoint>,
    context: &Context,
) -> Result<Outcome> {
    let query = job.query();
    let names: Vec<String> = (0..cluster.size()).map(|rank| cluster.name(rank)).collect();
    let (graph, progress) = (job.graph, &context.progress);
    let members =
        order::Job { query: &query, graph, kept, names: &names, several: "ranks", progress };
    let desk = match start.portions(graph) {
        Some(portions) => {
            let (portions, kept, listed) = (portions.count(), kept.is_some(), job.sink.is_some());
            // No rank repeats another one's portions: their results may be in flight.
            Desk::shares(
                members,
                DealSettings { portions, alike: true, at_once: false, kept, listed },
            )
        }
        None => {
            let threads = Some(start.threads);
            // What ranks found of a phase isn't kept, so that a lost rank ends the run.
            let (runs_cost, alike, again) = (false, false, false);
            Desk::phases(members, PhaseSettings { threads, runs_cost, alike, again })
        }
    };
    let (stop, here) = (Cancel::default(), LocalSeat { desk: &desk, member: 0 });
    let mut ranks: Vec<Rank> = (0..cluster.size()).map(|_| Rank::default()).collect();
    std::thread::scope(|scope| {
        let (stop, here) = (&stop, &here);
        let engine =
            start_in(scope, "that mines", move || mine(job, start, (context, stop), here))?;
        let speaking = DeskProxy { desk: &desk, context, kept, ranks: &mut ranks, stopping: None };
        let spoken = speaking.run(cluster, stop, || engine.is_finished());
        // Without remaining work no rank is stopped.
        if !desk.is_over() {
            desk.stop();
            stop.cancel();
        }
        engine.join().unwrap_or_else(|panic| resume_unwind(panic));
        spoken
    })?;
    ranks[0].processor = processor_time();
    let (mut outcome, records) = desk.close()?;
    let all = names.iter().zip(records).zip(&ranks);
    outcome.devices = match start.division.in_phases() {
        true => in_phases(all),
        false => in_shares(all),
    };
    Ok(outcome)
}

type RankEntry<'a> = ((&'a String, Record), &'a Rank);

fn in_shares<'a>(all: impl Iterator<Item = RankEntry<'a>>) -> Vec<DeviceMetrics> {
    let mut devices = vec![];
    for ((name, record), rank) in all {
        let mut metrics = DeviceMetrics::of(name);
        metrics.headline("share.busy", "s", Value::time(record.busy));
        let part = Value::Share { part: record.part.0 as f64, whole: record.part.1 as f64 };
        metrics.headline("share.portions", "", part);
        metrics.headline("share.processor", "s", Value::time(rank.processor));
        metrics.detail("share.runs", "", Value::Count(record.runs));
        devices.push(metrics);
        devices.extend(record.devices.into_iter().map(|mut device| {
            device.device = format!("{name}, {}", device.device);
            device
        }));
    }
    devices
}

fn in_phases<'a>(all: impl Iterator<Item = RankEntry<'a>>) -> Vec<DeviceMetrics> {
    let (mut own, mut ranks) = (vec![], vec![]);
    for ((name, record), rank) in all {
        let mut metrics = DeviceMetrics::of(name);
        let part = Value::Share { part: record.part.0 as f64, whole: record.part.1 as f64 };
        metrics.headline("share.candidates", "", part);
        metrics.headline("share.processor", "s", Value::time(rank.processor));
        ranks.push(metrics);
        own.extend(record.devices);
    }
    own.extend(ranks);
    own
}

/// Waits until all ranks have said what they are, and compares that.
pub fn gather(cluster: &mut Cluster, job: &Job<'_>, context: &Context) -> Result<Vec<Hello>> {
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
                "{} differs from rank 0: {}; give all ranks the same command, files and version",
                cluster.name(rank),
                differs.join(", and ")
            )));
        }
    }
    Ok(all)
}

/// A rank as the desk sees it.
struct Rank {
    heard: Instant,
    /// It has been given something, and hasn't said how that has ended.
    busy: bool,
    /// What it waits for.
    round: Option<Round>,
    processor: Duration,
}

impl Default for Rank {
    fn default() -> Self {
        Rank { heard: Instant::now(), busy: false, round: None, processor: Duration::ZERO }
    }
}

/// Represents the ranks above 0 at the desk.
struct DeskProxy<'a> {
    desk: &'a Desk<'a>,
    context: &'a Context,
    kept: Option<&'a Checkpoint>,
    ranks: &'a mut [Rank],
    /// Time at which all ranks were asked to stop.
    stopping: Option<Instant>,
}

impl DeskProxy<'_> {
    /// Speaks until the run is over, or can't go on; `gone` says whether the thread of rank 0's own engine has ended.
    fn run(mut self, cluster: &mut Cluster, stop: &Cancel, gone: impl Fn() -> bool) -> Result<()> {
        let (mut beat, mut changes) = (Instant::now(), 0);
        loop {
            self.pass_on(cluster)?;
            // All ranks have the same answer of phases: after a stop, no rank waits for those of others.
            let stopped = self.stopping.is_some() && !self.desk.owes(0);
            if self.desk.is_over() || self.desk.has_failed() || stopped && self.desk.in_phases() {
                return Ok(());
            }
            // The thread has panicked; `join` reports it.
            if gone() && self.desk.owes(0) {
                return Ok(());
            }
            self.desk.wait(&mut changes, LOOK);
            while let Some((from, message)) = cluster.hear()? {
                self.ranks[from].heard = Instant::now();
                self.hear(cluster, from, message)?;
            }
            self.desk.show();
            let wanted = self.context.cancel.is_cancelled() || self.desk.is_stopped();
            if self.stopping.is_none() && wanted {
                self.stopping = Some(Instant::now());
                self.desk.stop();
                stop.cancel();
                // The launcher may leave little time.
                let _ = self.kept.map(Checkpoint::save);
                cluster.say_to_all(&Message::Stop)?;
            }
            if beat.elapsed() >= BEAT {
                beat = Instant::now();
                cluster.say_to_all(&Message::Alive)?;
            }
            self.check_silence(cluster)?;
        }
    }

    /// Sends ranks the orders of the desk.
    fn pass_on(&mut self, cluster: &mut Cluster) -> Result<()> {
        for at in 1..self.ranks.len() {
            let rank = &mut self.ranks[at];
            if let Some(Ok(Some(all))) = rank.round.map(|round| self.desk.joined(round)) {
                rank.round = None;
                // A rank does not get its own message back.
                let others = all.iter().enumerate().filter(|(from, _)| *from != at);
                cluster.say(at, &Message::Level(pack(others.map(|(_, found)| found))))?;
            }
            if !rank.busy
                && let Turn::Now(order) = self.desk.turn(at)
            {
                rank.busy = true;
                cluster.say(at, &Message::Do(order.work))?;
            }
        }
        Ok(())
    }

    /// Passes a rank's message to the desk.
    fn hear(&mut self, cluster: &mut Cluster, from: usize, message: Message) -> Result<()> {
        match message {
            Message::OrderResult(found) => {
                let OrderResult { outcome, took, processor } = *found;
                (self.ranks[from].busy, self.ranks[from].processor) = (false, processor);
                let answer = outcome.map_or(Answer::Agreed, |one| Answer::Found(Box::new(one)));
                self.desk.ended(from, answer, took);
                if self.stopping.is_some() {
                    // The launcher may leave little time.
                    let _ = self.kept.map(Checkpoint::save);
                }
            }
            Message::Failed(failure) => {
                let error = failure.error(&cluster.name(from));
                self.desk.ended(from, Answer::Failed(error), Duration::ZERO);
            }
            Message::Next(candidates) => match self.desk.next((from, 0), candidates) {
                Ok(range) => cluster.say(from, &Message::Range(range.start, range.end))?,
                // Ask it to stop.
                Err(Error::Interrupted) => {}
                Err(error) => self.desk.ended(from, Answer::Failed(error), Duration::ZERO),
            },
            Message::Level(found) => self.ranks[from].round = self.desk.put((from, 0), found).ok(),
            Message::Asked => self.context.cancel.cancel(),
            _ => {}
        }
        Ok(())
    }

    /// Checks that ranks report from time to time, and answer after all were stopped.
    fn check_silence(&self, cluster: &Cluster) -> Result<()> {
        cluster.check_others(self.ranks.iter().map(|rank| rank.heard))?;
        let Some(since) = self.stopping else { return Ok(()) };
        if since.elapsed() <= (cluster.settings.grace)() {
            return Ok(());
        }
        let owes = |rank: &usize| self.desk.owes(*rank);
        let silent: Vec<String> =
            (1..self.ranks.len()).filter(owes).map(|rank| cluster.name(rank)).collect();
        Err(match silent.is_empty() {
            // The device of this rank is slow; no rank is at fault.
            true => Error::Interrupted,
            false => Error::Device(format!(
                "the job was stopped, and {} did not answer: its process has ended, or its device \
                 doesn't stop",
                silent.join(", ")
            )),
        })
    }
}
