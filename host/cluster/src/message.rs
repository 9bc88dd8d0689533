//! Messages between ranks, as JSON. Types are not internally tagged, which would lose 128-bit numbers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use gramer_base::context::Context;
use gramer_base::error::{Error, Result};
use gramer_crew::checkpoint::Fingerprint;
use gramer_crew::deal::Portions;
use gramer_crew::order::{Candidates, Work};
use gramer_engine::division::Offer;
use gramer_engine::work::{Share, Units};
use gramer_engine::{Ask, Division, Engine, Facts, Outcome, Query};
use gramer_graph::Graph;

/// Identity of a rank and of its task.
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
            all.push(format!("its question is {mine}, and that of rank 0 {theirs}"));
        }
        all
    }
}

/// Division of the work among all ranks.
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

impl Start {
    /// The portions of a run in shares, which are the same on all ranks.
    pub fn portions(&self, graph: &Graph) -> Option<Portions> {
        let units = self.rest.as_ref().map_or(Units::All, Units::Share);
        let whole = self.division.by_ids();
        let of = || Portions::of(graph.view(), units, self.portions, whole);
        (!self.division.in_phases()).then(of)
    }
}

/// Result of an order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OrderResult {
    /// The answer of its units; `None` for phases, whose answer is the same on all ranks.
    pub outcome: Option<Outcome>,
    /// How long it took.
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
    /// How a rank ended.
    pub fn of(error: &Error) -> Self {
        let device = matches!(error, Error::Device(_));
        Failure { what: error.to_string(), device, code: error.exit_code() }
    }

    /// In the form of rank 0.
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
    /// From rank 0: this work.
    Do(Work),
    /// To rank 0.
    OrderResult(Box<OrderResult>),
    /// To rank 0.
    Failed(Failure),
    /// The sender is there.
    Alive,
    /// To rank 0: this rank's process received a stop signal.
    Asked,
    /// To rank 0: which of these candidates does this rank examine next?
    Next(Candidates),
    /// From rank 0: these.
    Range(usize, usize),
    /// To rank 0: this rank's results of a level; from rank 0: the results of all, [`pack`]ed. No JSON: the bytes
    /// behind a first one of 0.
    Level(Vec<u8>),
    /// From rank 0: report results and begin no more work.
    Stop,
    /// From rank 0: no more is mined, and lists are put in their places.
    Over,
    /// To rank 0: the list is in place, with its number of embeddings.
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
    /// [`Error::Device`] for an invalid message or one of another version.
    pub fn read(bytes: &[u8], rank: &str) -> Result<Self> {
        if let Some((0, found)) = bytes.split_first() {
            return Ok(Message::Level(found.to_vec()));
        }
        serde_json::from_slice(bytes).map_err(|_| {
            Error::Device(format!(
                "{rank} sent a message that this version doesn't know: run the same gramer on all \
                 machines"
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

/// The parts of a [`pack`]ed message.
///
/// # Errors
/// [`Error::Device`] if it is missing.
pub fn unpack(mut bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut all = vec![];
    while !bytes.is_empty() {
        let text = bytes.split_first_chunk().and_then(|(length, rest)| {
            let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
            rest.split_at_checked(length)
        });
        let broken = || Error::Device("a message of rank 0 is cut off".into());
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
