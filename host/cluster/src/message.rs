//! What ranks say to each other, as JSON. No type is tagged within: numbers of 128 bits would be lost.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use gramer_engine::division::Offer;
use gramer_engine::work::Share;
use gramer_engine::{Ask, Division, Engine, Facts, Outcome, Query};
use gramer_graph::Graph;
use gramer_graph::context::Context;
use gramer_graph::error::{Error, Result};
use gramer_many::checkpoint::Fingerprint;

/// What a rank is, and what it is about to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The version of the program.
    pub gramer: String,
    /// The host's name.
    pub host: String,
    /// Of the graph in its order.
    pub graph: Fingerprint,
    /// The question.
    pub query: Query,
    /// How its engine divides it.
    pub offer: Offer,
    /// Threads that mine.
    pub threads: usize,
}

impl Hello {
    /// Of this process.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn new(
        engine: &dyn Engine,
        graph: &Graph,
        query: Query,
        context: &Context,
    ) -> Result<Self> {
        // A limit of memory differs from rank to rank, and with it the way to an answer.
        let memory = context.budget.as_ref().map(|budget| budget.bytes);
        let facts = Facts::of(graph);
        let ask = Ask::new(&query).facts(Some(&facts)).memory(memory);
        let offer = Offer::of(engine, &ask);
        Ok(Hello {
            gramer: env!("CARGO_PKG_VERSION").into(),
            host: host(),
            graph: Fingerprint::of(graph, &context.cancel)?,
            query,
            offer,
            threads: context.threads(),
        })
    }

    /// What differs from rank 0 so that they can't work together, in words; nothing if they can.
    pub fn differs(&self, first: &Hello) -> Vec<String> {
        let mut all = vec![];
        if self.gramer != first.gramer {
            all.push(format!("it runs gramer {}, and rank 0 {}", self.gramer, first.gramer));
        }
        let (mine, theirs) = (&self.graph, &first.graph);
        if (mine.vertices, mine.edges) != (theirs.vertices, theirs.edges) {
            all.push(format!(
                "its graph has {} vertices and {} edges, and that of rank 0 {} and {}",
                mine.vertices, mine.edges, theirs.vertices, theirs.edges
            ));
        } else if mine.hash != theirs.hash {
            all.push(
                "its graph is another one than that of rank 0, of as many vertices and edges, or has \
                 other labels"
                    .into(),
            );
        }
        if self.query != first.query {
            let text = |query: &Query| serde_json::to_string(query).unwrap_or_default();
            let (mine, theirs) = (text(&self.query), text(&first.query));
            all.push(format!("its task is {mine}, and that of rank 0 {theirs}"));
        }
        all
    }
}

/// How all work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// How the question is divided.
    pub division: Division,
    /// Threads of all ranks.
    pub threads: usize,
    /// Portions that were wished for.
    pub portions: usize,
    /// The units that are left; `None` for all.
    pub rest: Option<Share>,
}

/// What portions held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The answer of their units.
    pub outcome: Outcome,
    /// How long they took.
    pub took: Duration,
    /// Time that all processors have given to the process since its begin.
    pub processor: Duration,
}

/// Why a rank can't go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The message.
    pub what: String,
    /// Whether a device has failed, so that others can do its work.
    pub device: bool,
    /// The exit code.
    pub code: u8,
}

impl Failure {
    /// What became of a rank.
    pub fn of(error: &Error) -> Self {
        let device = matches!(error, Error::Device(_));
        Failure { what: error.to_string(), device, code: error.exit_code() }
    }

    /// As rank 0 has it.
    pub fn error(&self, rank: &str) -> Error {
        let what = format!("{rank}: {}", self.what);
        match self.code {
            2 => Error::Usage(what),
            130 => Error::Interrupted,
            _ if self.device => Error::Device(what),
            _ => Error::Unsupported(what),
        }
    }
}

/// A message. Ranks speak with rank 0 alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// To rank 0, first.
    Hello(Box<Hello>),
    /// From rank 0, once all have said what they are.
    Start(Start),
    /// From rank 0: these portions.
    Take(Vec<usize>),
    /// To rank 0.
    Found(Box<Found>),
    /// To rank 0.
    Failed(Failure),
    /// The sender is there.
    Alive,
    /// To rank 0: whoever runs this rank wants the job to stop.
    Asked,
    /// To rank 0: which of so many candidates of a level does this rank examine next?
    Next(usize, usize),
    /// From rank 0: these.
    Range(usize, usize),
    /// To rank 0: what this rank has found of a level; from rank 0 what the others have, [`pack`]ed. No JSON: the
    /// bytes behind a first one of 0.
    Level(Vec<u8>),
    /// To rank 0: the levels are done; time that all processors have given to the process.
    Done(Duration),
    /// From rank 0: say what you have, and begin nothing any more.
    Stop,
    /// From rank 0: no more is mined, and lists are put in their places.
    Over,
    /// To rank 0: the list is in its place and has so many embeddings.
    Listed(u64),
    /// From rank 0: end with this exit code.
    End(u8),
    /// To rank 0: that was heard.
    Bye,
}

impl Message {
    /// To bytes.
    pub fn bytes(&self) -> Vec<u8> {
        if let Message::Level(found) = self {
            return [&[0], &found[..]].concat();
        }
        serde_json::to_vec(self).expect("a message has a text")
    }

    /// From bytes.
    ///
    /// # Errors
    /// [`Error::Device`] for what no message of this version is.
    pub fn read(bytes: &[u8], rank: &str) -> Result<Self> {
        if let Some((0, found)) = bytes.split_first() {
            return Ok(Message::Level(found.to_vec()));
        }
        serde_json::from_slice(bytes).map_err(|_| {
            Error::Device(format!(
                "{rank} says what this version doesn't know: run the same gramer on all machines"
            ))
        })
    }
}

/// Several texts of bytes as one: each behind its length (u64, little-endian).
pub fn pack<'a>(all: impl Iterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut bytes = vec![];
    for text in all {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text);
    }
    bytes
}

/// What [`pack`] has packed.
///
/// # Errors
/// [`Error::Device`] for what it hasn't.
pub fn unpack(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut all = vec![];
    while !bytes.is_empty() {
        let text = bytes.split_first_chunk().and_then(|(length, rest)| {
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            rest.split_at_checked(length)
        });
        let broken = || Error::Device("what rank 0 says of a level is cut off".into());
        let (text, rest) = text.ok_or_else(broken)?;
        all.push(text.to_vec());
        bytes = rest;
    }
    Ok(all)
}

/// The name of this host.
pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Time that all processors have given to this process.
pub fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
