//! Messages between a program and its worker, one line of JSON each. No type is tagged internally, since numbers of
//! 128 bits would be lost.

use std::io::{BufRead, Write};
use std::ops::Range;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use gramer_base::error::{Error, Place, Result};
use gramer_engine::{Division, Outcome, Query, Share};
use gramer_graph::VertexId;
use gramer_pattern::Pattern;

use crate::session::MemorySpeed;
use crate::settings::Settings;

/// Message to a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WorkerRequest {
    /// First: the device.
    Open(Box<WorkerSetup>),
    /// The graph of the runs that follow.
    Load(Load),
    /// A run; it is answered before the next one.
    Run(Box<RunRequest>),
    /// Measure the speed of the memories; the number of bytes per bank.
    Measure(u64),
    /// No more embeddings of this run are needed.
    Enough,
    /// Ends this run, or whatever else is in progress.
    Stop,
    /// Candidates of a phase.
    Range(Range<usize>),
    /// The results of a phase from all members.
    Joined(Vec<Vec<u8>>),
    /// The phases of this run are over.
    Over,
}

/// Settings of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerSetup {
    /// The version of the program.
    pub gramer: String,
    /// The file that programs the device, `FILE.xclbin[@INDEX[,INDEX…]]`.
    pub file: String,
    /// How the device runs.
    pub settings: Settings,
}

/// A graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// Its image, with as many vertices and edges.
    pub image: PathBuf,
    /// See [`Load::image`].
    pub vertices: usize,
    /// See [`Load::image`].
    pub edges: usize,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRequest {
    /// The question.
    pub query: Query,
    /// The units that count; `None` for all.
    pub share: Option<Share>,
    /// How several members divide it, if there are several.
    pub division: Option<Division>,
    /// Threads of all members of phases; `None` without phases.
    pub peers: Option<usize>,
    /// Limit on the number of embeddings, if there is one.
    pub limit: Option<u64>,
    /// Threads on the host.
    pub threads: usize,
    /// Whether the progress is watched.
    pub watched: bool,
}

/// Message from a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WorkerReply {
    /// The device is open, or the graph is loaded.
    Ready,
    /// Measured speeds of the device's memories.
    Measured(Vec<MemorySpeed>),
    /// Embeddings of a pattern, as [`gramer_engine::Sink::embedding`] has them.
    Listed(Pattern, Vec<Vec<VertexId>>),
    /// Progress of a run: finished units, all units, and whether the rest depends on the results.
    Progress(u64, u64, bool),
    /// The run wants candidates of a phase.
    Next(Candidates),
    /// The result of a phase. The run continues once the results of all members arrive.
    Join(usize, Vec<u8>),
    /// The end of a run.
    Found(Box<Outcome>),
    /// The request failed, with the reason.
    Failed(WireError),
}

/// Candidates of a phase that a run requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidates {
    /// The phase.
    pub phase: usize,
    /// How many it has.
    pub all: usize,
    /// Whether its part is wanted at once.
    pub at_once: bool,
}

/// An [`enum@Error`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WireError {
    /// [`Error::Usage`].
    Usage(String),
    /// [`Error::Input`]: file, line, and what is wrong.
    Input(PathBuf, Option<u64>, String),
    /// [`Error::Unsupported`].
    Unsupported(String),
    /// [`Error::Device`], and what the system refuses.
    Device(String),
    /// [`Error::Memory`].
    Memory(String),
    /// [`Error::Threads`].
    Threads(String),
    /// [`Error::Interrupted`].
    Interrupted,
}

impl From<Error> for WireError {
    fn from(error: Error) -> Self {
        match error {
            Error::Usage(what) => WireError::Usage(what),
            Error::Input { place: Place { path, line }, what } => {
                WireError::Input(path, line, what)
            }
            Error::Unsupported(what) => WireError::Unsupported(what),
            Error::Device(what) => WireError::Device(what),
            Error::Memory(what) => WireError::Memory(what),
            Error::Threads(what) => WireError::Threads(what),
            Error::Interrupted => WireError::Interrupted,
            other => WireError::Device(other.to_string()),
        }
    }
}

impl WireError {
    /// In the program's form.
    pub fn error(self) -> Error {
        match self {
            WireError::Usage(what) => Error::Usage(what),
            WireError::Input(path, line, what) => Error::input(Place { path, line }, what),
            WireError::Unsupported(what) => Error::Unsupported(what),
            WireError::Device(what) => Error::Device(what),
            WireError::Memory(what) => Error::Memory(what),
            WireError::Threads(what) => Error::Threads(what),
            WireError::Interrupted => Error::Interrupted,
        }
    }
}

/// Writes a message.
///
/// # Errors
/// That of the output.
pub fn write(to: &mut dyn Write, message: &impl Serialize) -> std::io::Result<()> {
    serde_json::to_writer(&mut *to, message)?;
    to.write_all(b"\n")?;
    to.flush()
}

/// Reads a message; `None` at the end.
///
/// # Errors
/// [`Error::Device`] for an invalid message.
pub fn read<M: DeserializeOwned>(from: &mut dyn BufRead) -> Result<Option<M>> {
    let mut line = String::new();
    let read =
        from.read_line(&mut line).map_err(|e| Error::Device(format!("it is cut off: {e}")))?;
    match read {
        0 => Ok(None),
        _ => serde_json::from_str(&line).map(Some).map_err(|e| Error::Device(e.to_string())),
    }
}
