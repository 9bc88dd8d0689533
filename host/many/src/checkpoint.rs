//! What a run has finished, on disk: a run that is stopped, killed or fails goes on from there.
//!
//! Portions of work units are merged as they are finished, and the file is written whole or not at all:
//! at the start, then at an interval, and at the end. It says of which run it is, so that no other goes
//! on from it: the graph in its order, the task, and the rule by which the devices assign embeddings to
//! units. Which devices these are, and how many, may change from run to run. The file is locked while a run
//! is at work with it, so that a second one is refused.
//!
//! | field | is |
//! |---|---|
//! | `checkpoint` | the version of the format, 3 |
//! | `gramer` | the version of the program: another one may divide work in another way |
//! | `graph` | `vertices`, `edges`, and a `hash` (XXH3, 128 bits) of the lists and labels |
//! | `task` | as [`Task`] is serialised |
//! | `rule` | as [`Engine::rule`] says |
//! | `outcome` | an [`Outcome`] of the units that are done; `null` if none are |
//! | `checksum` | XXH3, 128 bits, of `outcome` as this program writes it |
//!
//! [`Engine::rule`]: gramer_engine::Engine::rule

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use gramer_engine::Outcome;
use gramer_engine::work::{Share, Units};
use gramer_graph::Graph;
use gramer_graph::context::Cancel;
use gramer_graph::error::{Error, Place, Result, said};
use gramer_graph::input::read_small;
use gramer_graph::output::{check_own, hold, write_held};
use gramer_pattern::task::Task;

/// The version of the format.
const FORMAT: u32 = 3;
/// The largest file that is read: a million patterns of frequent subgraph mining have room.
const MAX_FILE: u64 = 1 << 30;

/// How a checkpoint is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keeping {
    /// The file. If it is there the run goes on from it.
    pub file: PathBuf,
    /// Whether it must be there.
    pub resume: bool,
    /// Time between two writes.
    pub interval: Duration,
}

/// A graph, as far as runs on it must agree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Number of vertices.
    pub vertices: u64,
    /// Number of edges.
    pub edges: u64,
    /// Of the lists and the labels, in the graph's order: 32 hexadecimal digits.
    pub hash: String,
}

impl Fingerprint {
    /// Reads the whole graph.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    pub fn of(graph: &Graph, cancel: &Cancel) -> Result<Self> {
        // So much takes some milliseconds.
        const PIECE: usize = 1 << 24;
        let view = graph.view();
        let mut hash = Xxh3::new();
        let mut add = |name: &str, bytes: &[u8]| {
            hash.update(name.as_bytes());
            bytes.chunks(PIECE).try_for_each(|piece| {
                hash.update(piece);
                cancel.check()
            })
        };
        add("offsets", bytemuck::cast_slice(view.offsets))?;
        add("neighbours", bytemuck::cast_slice(view.neighbours))?;
        for (name, labels) in [("vertices", view.vertex_labels), ("edges", view.edge_labels)] {
            labels.map_or(Ok(()), |labels| add(name, bytemuck::cast_slice(labels)))?;
        }
        let hash = format!("{:032x}", hash.digest128());
        Ok(Fingerprint { vertices: graph.vertices() as u64, edges: graph.edges() as u64, hash })
    }
}

/// What a run must have in common with the one that it continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Key {
    gramer: String,
    graph: Fingerprint,
    task: Task,
    rule: String,
}

impl Key {
    /// What differs from the run of a file, in words.
    fn differs(&self, file: &Key) -> Vec<String> {
        let mut all = vec![];
        if file.gramer != self.gramer {
            all.push(format!("it was written by gramer {}, not {}", file.gramer, self.gramer));
        }
        let (theirs, mine) = (&file.graph, &self.graph);
        if (theirs.vertices, theirs.edges) != (mine.vertices, mine.edges) {
            all.push(format!(
                "it is of another graph, of {} vertices and {} edges, not {} and {}",
                theirs.vertices, theirs.edges, mine.vertices, mine.edges
            ));
        } else if theirs.hash != mine.hash {
            all.push(
                "it is of another graph of as many vertices and edges, or of other labels".into(),
            );
        }
        if file.task != self.task {
            let text = |task: &Task| serde_json::to_string(task).unwrap_or_default();
            all.push(format!("it is of the task {}, not {}", text(&file.task), text(&self.task)));
        }
        if file.rule != self.rule {
            all.push(format!(
                "its devices divide work by the rule `{}`, and these by the rule `{}`",
                said(&file.rule),
                self.rule
            ));
        }
        all
    }
}

/// What every version of the format has.
#[derive(Deserialize)]
struct Head {
    checkpoint: u32,
}

#[derive(Serialize, Deserialize)]
struct File<K, O> {
    checkpoint: u32,
    #[serde(flatten)]
    key: K,
    outcome: Option<O>,
    checksum: String,
}

#[derive(Debug)]
struct State {
    /// Of all units that are done.
    outcome: Option<Outcome>,
    written: Instant,
    /// The file, locked.
    held: Option<std::fs::File>,
}

/// Why a task, in a few words, can't be kept.
pub fn whole(task: &str) -> Error {
    Error::Unsupported(format!(
        "a checkpoint keeps shares of a run, and {task} are not the sum of shares: leave the setting \
         `checkpoint` out"
    ))
}

/// The checkpoint of a run.
#[derive(Debug)]
pub struct Checkpoint<'a> {
    path: PathBuf,
    interval: Duration,
    graph: &'a Graph,
    key: Key,
    state: Mutex<State>,
}

impl<'a> Checkpoint<'a> {
    /// Reads the file, or begins it.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that is damaged or of another
    /// run; [`Error::Usage`] if it must be there and isn't, or another run is at work with it;
    /// [`Error::Io`]; [`Error::Interrupted`].
    pub fn open(
        keeping: &Keeping,
        graph: &'a Graph,
        task: &Task,
        rule: String,
        cancel: &Cancel,
    ) -> Result<Self> {
        let path = keeping.file.clone();
        check_own(&path, "checkpoint", &[])?;
        if !path.exists() && keeping.resume {
            return Err(Error::usage(format!(
                "{}: there is no such checkpoint: the run has ended or was never begun; without the \
                 setting `resume` it begins",
                Place::file(&path)
            )));
        }
        let gramer = env!("CARGO_PKG_VERSION").to_string();
        let graph_key = Fingerprint::of(graph, cancel)?;
        let key = Key { gramer, graph: graph_key, task: task.clone(), rule };
        let state = State { outcome: None, written: Instant::now(), held: None };
        let checkpoint =
            Checkpoint { path, interval: keeping.interval, graph, key, state: Mutex::new(state) };
        // What can't be written is known before anything is mined.
        loop {
            let mut state = checkpoint.state();
            state.held = hold(&checkpoint.path)?;
            let first = state.held.is_none();
            if !first {
                state.outcome = read(&checkpoint.path, &checkpoint.key, graph, cancel)?;
            }
            if checkpoint.write(&mut state, first)? {
                break;
            }
            // Another run has begun it meanwhile.
        }
        Ok(checkpoint)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The units that are left; `None` for all of the graph.
    ///
    /// # Errors
    /// [`Error::Usage`] for units that the graph doesn't have.
    pub fn rest(&self) -> Result<Option<Share>> {
        match &self.state().outcome {
            None => Ok(None),
            Some(Outcome { share: None, .. }) => Ok(Some(Share::default())),
            Some(Outcome { share: Some(done), .. }) => {
                Units::All.without(self.graph.view(), done).map(Some)
            }
        }
    }

    /// Adds what was found in some units, as far as it is finished, and writes the file if it is time.
    /// A write that fails ends nothing: the next one may succeed, and the last one is
    /// [`Checkpoint::save`].
    ///
    /// # Errors
    /// As [`Outcome::merge`] and [`Graph::check_unchanged`].
    pub fn add(&self, outcome: Outcome) -> Result<()> {
        self.graph.check_unchanged()?;
        let Some(mut outcome) = outcome.finished(self.graph.view())? else { return Ok(()) };
        // They are of one run.
        outcome.devices.clear();
        outcome.warnings.clear();
        let mut state = self.state();
        // What is known stays so if the other doesn't fit.
        let all = state.outcome.clone().into_iter().chain([outcome]);
        state.outcome = Some(Outcome::merge(&self.key.task, self.graph, all)?);
        if state.written.elapsed() >= self.interval {
            let _ = self.write(&mut state, false);
            state.written = Instant::now();
        }
        Ok(())
    }

    /// What was found in all units that are done; nothing if none are.
    pub fn outcome(&self) -> Option<Outcome> {
        self.state().outcome.clone()
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`Error::Io`], and as [`Graph::check_unchanged`]; the file is then as it was.
    pub fn save(&self) -> Result<()> {
        self.write(&mut self.state(), false).map(|_| ())
    }

    /// Whether it was written: not with `first`, if a file is there.
    fn write(&self, state: &mut State, first: bool) -> Result<bool> {
        // Who goes on from the file trusts what it says of this graph.
        self.graph.check_unchanged()?;
        let outcome = state.outcome.as_ref();
        let checksum = checksum(outcome);
        let file = File { checkpoint: FORMAT, key: &self.key, outcome, checksum };
        let held = write_held(&self.path, first, |out| {
            serde_json::to_writer(&mut *out, &file)?;
            writeln!(out)
        })?;
        let written = held.is_some();
        if written {
            // The new file is locked before the old one is let go.
            state.held = held;
        }
        Ok(written)
    }

    /// Removes the file: nothing is left to be continued.
    ///
    /// # Errors
    /// [`Error::Io`] if it is there and stays.
    pub fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(&self.path, "remove", e))
            }
            _ => Ok(()),
        }
    }
}

/// What the file of this run has.
fn read(path: &Path, key: &Key, graph: &Graph, cancel: &Cancel) -> Result<Option<Outcome>> {
    let wrong = |what: String| Error::input(Place::file(path), what);
    // What a type is called here says nothing to whoever reads it.
    let none = |e: serde_json::Error| {
        let at = (e.line(), e.column());
        wrong(format!(
            "this is no checkpoint, as line {}, column {} shows; name another file",
            at.0, at.1
        ))
    };
    let text = read_small(path, MAX_FILE, "checkpoint", cancel)?;
    let head: Head = serde_json::from_slice(&text).map_err(none)?;
    if head.checkpoint != FORMAT {
        return Err(wrong(format!(
            "this checkpoint has the format {}, and this program knows the format {FORMAT}: go on with \
             the program that wrote it",
            head.checkpoint
        )));
    }
    let file: File<Key, Outcome> = serde_json::from_slice(&text).map_err(none)?;
    let differs = key.differs(&file.key);
    if !differs.is_empty() {
        return Err(wrong(format!(
            "this checkpoint is of another run: {}; name another file, or remove this one",
            differs.join(", and ")
        )));
    }
    if let Some(outcome) = &file.outcome {
        if !outcome.complete || outcome.rest.is_some() {
            return Err(wrong("this is no checkpoint: what it has is not finished".into()));
        }
        let units = outcome.share.as_ref().map_or(Units::All, Units::Share);
        units.check(graph.view()).map_err(|e| wrong(e.to_string()))?;
    }
    if file.checksum != checksum(file.outcome.as_ref()) {
        return Err(wrong(
            "this checkpoint is damaged: its checksum is not that of what was found; remove it and \
             begin again"
                .into(),
        ));
    }
    Ok(file.outcome)
}

/// Of what was found, as it is written: a digit that has changed would be a wrong count.
fn checksum(outcome: Option<&Outcome>) -> String {
    let text = serde_json::to_vec(&outcome).unwrap_or_default();
    format!("{:032x}", xxh3_128(&text))
}

#[cfg(test)]
mod tests;
