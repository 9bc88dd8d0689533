//! One task on several machines.
//!
//! A *rank* is a process, usually one per machine, with an engine and the whole graph. Rank 0 has the
//! [`Desk`](gramer_crew::desk::Desk), at which its own engine and all ranks are members: its main thread speaks for
//! the other ranks, since an MPI may allow only one thread to do so. All other ranks talk to rank 0 alone, over a
//! [`Link`]: threads of one process, or, with the feature `mpi`, processes of an MPI job (`mpi::Mpi`).
//!
//! Portions are numbers: every rank cuts the same units of the same graph in the same way. Rank 0 checks before mining
//! that all have the same graph, task and version.
//!
//! Minimum-image support is no sum of portions. Its candidates are dealt instead, level by level, and all ranks get the
//! domains of the frequent ones. Ranks whose engines can also share the sums of a closed form, phase by phase.
//!
//! A failed device leaves its portions to other ranks, with a warning, as on one host. Any other failure of a rank, and
//! a rank that no longer answers, ends the job.
//!
//! ```
//! use gramer_cluster::{Cluster, InProcess, Job};
//! use gramer_cpu::Cpu;
//! use gramer_base::Context;
//! use gramer_graph::Builder;
//! use gramer_pattern::Task;
//!
//! let mut builder = Builder::new();
//! for (u, v) in [(0, 1), (1, 2), (2, 0), (2, 3)] {
//!     builder.edge(u, v);
//! }
//! let (graph, task) = (builder.build(), Task::Clique { k: 3 });
//! let counts = std::thread::scope(|scope| {
//!     let rank = |link| {
//!         let (graph, task) = (&graph, &task);
//!         scope.spawn(move || {
//!             let (mut cluster, context) = (Cluster::new(Box::new(link)), Context::default());
//!             let job = Job { engine: &Cpu, graph, task, keeping: None, sink: None };
//!             let mined = cluster.mine(&job, &context).expect("nothing fails");
//!             let count = mined.map(|mined| mined.outcome.results[0].count);
//!             cluster.end(0);
//!             count
//!         })
//!     };
//!     let ranks: Vec<_> = InProcess::ranks(3).into_iter().map(rank).collect();
//!     ranks.into_iter().map(|rank| rank.join().unwrap()).collect::<Vec<_>>()
//! });
//! assert_eq!(counts, [Some(1), None, None]);
//! ```

mod dealer;
pub mod link;
mod message;
mod mining;
#[cfg(feature = "mpi")]
pub mod mpi;
#[cfg(test)]
mod tests;
mod worker;

use std::time::{Duration, Instant};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_crew::checkpoint::{Checkpoint, CheckpointSettings};
use gramer_engine::division::{Offer, SHARES, TERMS};
use gramer_engine::{Ask, Division, Engine, EngineExt, Facts, Needs, Outcome, Query, Sink};
use gramer_graph::Graph;
use gramer_pattern::task::Task;

pub use link::{InProcess, Link, SingleRank};

use message::{Failure, Message};

/// How often ranks look for messages.
const LOOK: Duration = Duration::from_millis(1);
/// How often ranks report that they are alive.
const BEAT: Duration = Duration::from_secs(1);
/// How long rank 0 waits for the others at the end of a failed job.
const BYE: Duration = Duration::from_secs(2);

/// What a rank is given.
#[derive(Clone, Copy)]
pub struct Job<'a> {
    /// What mines here.
    pub engine: &'a dyn Engine,
    /// The graph, which is the same on all ranks.
    pub graph: &'a Graph,
    /// The task, which is the same on all ranks.
    pub task: &'a Task,
    /// How the run is kept; rank 0 alone looks at it.
    pub keeping: Option<&'a CheckpointSettings>,
    /// Takes the embeddings that this rank finds; all ranks have one or none has.
    pub sink: Option<&'a dyn Sink>,
}

/// Result of a job, on rank 0.
#[derive(Debug)]
pub struct JobResult {
    /// The answer; each rank is one of its devices.
    pub outcome: Outcome,
    /// The checkpoint, if there is one: to be removed once the answer is where it belongs.
    pub kept: Option<Checkpoint>,
}

/// How long ranks wait for each other.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// A rank that is silent for this long has failed.
    pub silence: Duration,
    /// How long ranks have to answer after all were stopped.
    pub grace: fn() -> Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { silence: Duration::from_secs(60), grace: || Duration::from_secs(10) }
    }
}

/// A rank among others.
pub struct Cluster {
    link: Box<dyn Link>,
    /// How long it waits for others.
    pub settings: Settings,
    /// The hosts of ranks, as far as rank 0 knows them.
    hosts: Vec<Option<String>>,
    /// The exit code with which rank 0 has ended the job.
    ended: Option<u8>,
}

/// The terms under which ranks work together, in order of preference; a checkpoint keeps shares.
fn terms(kept: bool) -> &'static [Needs] {
    const RANKS: [Needs; 3] = [TERMS[0], TERMS[2], TERMS[3]];
    if kept { &SHARES } else { &RANKS }
}

/// Refuses a question that ranks with this engine can't divide. Nothing is read or opened for it.
///
/// # Errors
/// [`Error::Unsupported`] with the reason.
pub fn check(engine: &dyn Engine, ask: &Ask<'_>, kept: bool) -> Result<()> {
    engine.plan(ask)?;
    match Division::among(&[&Offer::of(engine, ask)], terms(kept)) {
        Some(_) => Ok(()),
        None => {
            let whole =
                format!("`{}` answers it only as a whole, and ranks divide it", engine.name());
            Err(undivided(&ask.query.task, &whole))
        }
    }
}

fn undivided(task: &Task, reason: &str) -> Error {
    let task = task.info().subject;
    Error::Unsupported(format!("{task}: {reason}: leave the setting `distribute` out"))
}

impl Job<'_> {
    /// The question.
    fn query(&self) -> Query {
        Query::new(self.task.clone()).list(self.sink.is_some())
    }
}

impl Cluster {
    /// A rank with these connections.
    pub fn new(link: Box<dyn Link>) -> Self {
        let hosts = vec![None; link.size()];
        Cluster { link, settings: Settings::default(), hosts, ended: None }
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.link.rank()
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.link.size()
    }

    /// What messages call a rank: its number, and its host where that is known.
    pub fn name(&self, rank: usize) -> String {
        match &self.hosts[rank] {
            Some(host) => format!("rank {rank} ({host})"),
            None => format!("rank {rank}"),
        }
    }

    /// Mines with all ranks. Rank 0 gets the answer, others nothing.
    ///
    /// # Errors
    /// [`Error::Unsupported`] as [`check`]; on rank 0 those of the checkpoint and of the engines of all ranks, and
    /// [`Error::Device`] for a rank that differs from the others or no longer answers; on other ranks their own
    /// errors, and [`Error::Interrupted`] if rank 0 has ended the job.
    pub fn mine(&mut self, job: &Job<'_>, context: &Context) -> Result<Option<JobResult>> {
        let query = job.query();
        let facts = Facts::of(job.graph);
        check(job.engine, &Ask::new(&query).facts(Some(&facts)), job.keeping.is_some())?;
        if self.rank() != 0 {
            let mut asked = false;
            let start = worker::wait_for_start(self, job, context, &mut asked)?;
            worker::run(self, job, &start, context, asked)?;
            return Ok(None);
        }
        let hellos = dealer::gather(self, job, context)?;
        let offers: Vec<&Offer> = hellos.iter().map(|hello| &hello.offer).collect();
        let division = Division::among(&offers, terms(job.keeping.is_some()));
        let division = division.ok_or_else(|| {
            let reason = "the devices of the ranks divide it in different ways, so give all ranks devices of one kind";
            undivided(job.task, reason)
        })?;
        dealer::run(self, job, (&hellos, division), context).map(Some)
    }

    /// Says how many embeddings the list of this rank has, once it is in its place. Rank 0 gets the
    /// number of all lists.
    ///
    /// # Errors
    /// On rank 0, what a rank says of its list, or [`Error::Device`] if it says nothing.
    pub fn listed(&mut self, own: u64) -> Result<u64> {
        if self.rank() != 0 {
            self.say(0, &Message::Listed(own))?;
            return Ok(own);
        }
        let mut all: Vec<Option<u64>> = vec![None; self.size()];
        all[0] = Some(own);
        let mut heard = Instant::now();
        while let Some(silent) = all.iter().position(Option::is_none) {
            match self.hear()? {
                Some((from, Message::Listed(lines))) => {
                    all[from] = Some(lines);
                    heard = Instant::now();
                }
                Some((from, Message::Failed(failure))) => {
                    return Err(failure.error(&self.name(from)));
                }
                Some(_) => heard = Instant::now(),
                None if heard.elapsed() > 10 * self.settings.silence => {
                    let name = self.name(silent);
                    return Err(Error::Device(format!("{name} failed to put its list in place")));
                }
                None => std::thread::sleep(LOOK),
            }
        }
        Ok(all.iter().flatten().sum())
    }

    /// Tells rank 0 that this rank can't go on.
    pub fn failed(&mut self, error: &Error) {
        if self.rank() != 0 && self.ended.is_none() {
            // Where even that can't be said, the end says it.
            let _ = self.say(0, &Message::Failed(Failure::of(error)));
        }
    }

    /// Ends the job: on rank 0 with this exit code, on others with that of rank 0, which they wait for.
    /// The exit code. Where a job that has failed isn't heard by all, it is ended by force.
    pub fn end(mut self, code: u8) -> u8 {
        if self.rank() != 0 {
            let code = self.wait_for_end().unwrap_or(code.max(1));
            self.link.close();
            return code;
        }
        let mut there = vec![false; self.size()];
        there[0] = true;
        let begun = Instant::now();
        let mut said = self.say_to_all(&Message::End(code)).is_ok();
        // A job that went well ends when the slowest has put its list in its place.
        let most = if code == 0 { self.settings.silence } else { BYE };
        while said && !there.iter().all(|there| *there) && begun.elapsed() < most {
            match self.hear() {
                Ok(Some((from, Message::Bye))) => there[from] = true,
                Ok(Some(_)) => {}
                Ok(None) => std::thread::sleep(LOOK),
                Err(_) => said = false,
            }
        }
        match there.iter().all(|there| *there) {
            true => self.link.close(),
            false => self.link.abort(code),
        }
        code
    }

    /// Ends all ranks at once: this one can't go on in an orderly way.
    pub fn abort(self, code: u8) {
        self.link.abort(code);
    }

    /// The exit code of rank 0.
    fn wait_for_end(&mut self) -> Option<u8> {
        loop {
            match self.hear_rank_0() {
                Ok(None) => std::thread::sleep(LOOK),
                Ok(Some(_)) => {}
                Err(_) => break,
            }
        }
        self.ended?;
        self.say(0, &Message::Bye).ok()?;
        self.ended
    }

    fn say(&mut self, to: usize, message: &Message) -> Result<()> {
        self.link.send(to, &message.bytes())
    }

    /// To all others.
    fn say_to_all(&mut self, message: &Message) -> Result<()> {
        let bytes = message.bytes();
        (1..self.size()).try_for_each(|to| self.link.send(to, &bytes))
    }

    /// Rank 0 must be heard from time to time, `last` at last.
    fn check_rank_0(&self, last: Instant) -> Result<()> {
        let seconds = self.settings.silence.as_secs_f64();
        match last.elapsed() > self.settings.silence {
            true => Err(Error::Device(format!("rank 0 has been silent for {seconds} s"))),
            false => Ok(()),
        }
    }

    /// So must all others, who were heard at these times, that of rank 0 first.
    fn check_others(&self, heard: impl Iterator<Item = Instant>) -> Result<()> {
        let late = |(_, heard): &(usize, Instant)| heard.elapsed() > self.settings.silence;
        let silent: Vec<String> =
            heard.enumerate().skip(1).filter(late).map(|(at, _)| self.name(at)).collect();
        if silent.is_empty() {
            return Ok(());
        }
        Err(Error::Device(format!(
            "{} was silent for {} s: its process, its host or the network has failed",
            silent.join(", "),
            self.settings.silence.as_secs_f64()
        )))
    }

    /// The next message of another rank, if there is one.
    fn hear(&mut self) -> Result<Option<(usize, Message)>> {
        let Some((from, bytes)) = self.link.receive()? else { return Ok(None) };
        let message = Message::read(&bytes, &self.name(from))?;
        Ok(Some((from, message)))
    }

    /// The next message of rank 0; the end of the job is an error.
    fn hear_rank_0(&mut self) -> Result<Option<Message>> {
        if self.ended.is_some() {
            return Err(Error::Interrupted);
        }
        match self.hear()? {
            Some((_, Message::End(code))) => {
                self.ended = Some(code);
                Err(Error::Interrupted)
            }
            Some((_, message)) => Ok(Some(message)),
            None => Ok(None),
        }
    }
}
