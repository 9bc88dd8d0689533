//! Finished work of a run on disk. A run that was stopped, killed or failed continues from it.
//!
//! Portions of work units are merged as they are finished; of a question that is no sum of portions, what the members of a
//! run in phases have found is kept phase by phase. Members of a run that goes on hear it again, without any work, and are
//! then where the run before was. The file is written whole or not at all:
//! at the start, then at an interval, and at the end. It says of which run it is, so that no other goes
//! on from it: the graph in its order, the task, and the rule by which the devices assign embeddings to
//! units. Which devices these are, and how many, may change from run to run. The file is locked while a run
//! is at work with it, so that a second one is refused.
//!
//! | field | is |
//! |---|---|
//! | `checkpoint` | the version of the format, 4 |
//! | `gramer` | the version of the program: another one may divide work in another way |
//! | `graph` | `vertices`, `edges`, and a `hash` (XXH3, 128 bits) of the lists and labels |
//! | `task` | as [`Task`] is serialised |
//! | `rule` | scheme with which devices divide the work |
//! | `outcome` | an [`Outcome`] of the units that are done; `null` if none are |
//! | `joins` | for each phase that is done, what each member found of it, in hexadecimal digits |
//! | `checksum` | XXH3, 128 bits, of `outcome` and `joins` as this program writes them |

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use gramer_base::context::Cancel;
use gramer_base::error::{Error, Place, Result, said};
use gramer_base::input::read_small;
use gramer_base::output::{check_own, hold, write_held};
use gramer_engine::division::TERMS;
use gramer_engine::work::{Share, Units};
use gramer_engine::{Division, Needs, Outcome};
use gramer_graph::Graph;
use gramer_pattern::task::Task;

use crate::answer;
use crate::phases::Join;

/// The version of the format.
const FORMAT: u32 = 4;
/// The largest file that is read: a million patterns of frequent subgraph mining have room.
const MAX_FILE: u64 = 1 << 30;
/// Most digits of joins that are kept, so that the file can be read; what follows is done again.
const MAX_JOINS: usize = 1 << 29;

/// Terms of runs that are kept, in order of preference: of shares hardly any work is lost.
pub const KEPT: [Needs; 3] = [TERMS[2], TERMS[3], TERMS[0]];

/// Settings of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointSettings {
    /// The file. If it exists, the run continues from it.
    pub file: PathBuf,
    /// Whether it must exist.
    pub resume: bool,
    /// Time between two writes.
    pub interval: Duration,
}

/// How the members of a checkpointed run divide the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The scheme in the file.
    pub text: String,
    /// Whether it works in phases.
    pub in_phases: bool,
}

impl From<&Division> for Rule {
    fn from(division: &Division) -> Self {
        let (text, in_phases) = (division.scheme.to_string(), division.in_phases());
        // Shares by the same scheme are kept in another way.
        Rule { text: if in_phases { format!("in phases, {text}") } else { text }, in_phases }
    }
}

/// Properties of a graph that must agree between runs.
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

/// Fields of every version of the format.
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
    joins: Vec<Vec<Digits>>,
    checksum: String,
}

/// Bytes as hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Digits(Vec<u8>);

impl Serialize for Digits {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
        let both = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
        to.serialize_str(&self.0.iter().flat_map(both).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for Digits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(|[a, b]| Some((digit(*a)? << 4 | digit(*b)?) as u8));
        let bytes: Option<Vec<u8>> = bytes.collect();
        let bytes = bytes.filter(|_| rest.is_empty());
        bytes.map(Digits).ok_or_else(|| D::Error::custom("these are not hexadecimal digits"))
    }
}

/// Finished work, as stored in the file.
#[derive(Debug, Clone, Default)]
struct FinishedWork {
    /// Of all units that are done.
    outcome: Option<Outcome>,
    /// Of all phases that are.
    joins: Vec<Vec<Digits>>,
    /// Digits of them.
    digits: usize,
}

#[derive(Debug)]
struct State {
    done: FinishedWork,
    /// The run took another path than these phases, or has more data than a checkpoint holds.
    ends: bool,
    written: Instant,
    /// The file, locked.
    held: Option<std::fs::File>,
}

/// The error for a task (named in a few words) that these devices can't checkpoint, since some of them answer it only
/// as a whole.
pub fn whole(task: &str, devices: &[String]) -> Error {
    let reason = match devices {
        [] => "the devices divide it in different ways".to_string(),
        _ => format!("`{}` answers it only as a whole", devices.join("`, `")),
    };
    Error::Unsupported(format!(
        "{task}: {reason}, and a checkpoint keeps shares or phases: leave the setting `checkpoint` out"
    ))
}

/// The checkpoint of a run.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    interval: Duration,
    graph: Graph,
    key: Key,
    in_phases: bool,
    state: Mutex<State>,
}

impl Checkpoint {
    /// Reads the file, or begins it.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that is damaged or of another
    /// run; [`Error::Usage`] if it must be there and isn't, or another run is at work with it;
    /// [`Error::Io`]; [`Error::Interrupted`].
    pub fn open(
        keeping: &CheckpointSettings,
        graph: &Graph,
        task: &Task,
        Rule { text: rule, in_phases }: Rule,
        cancel: &Cancel,
    ) -> Result<Self> {
        let path = keeping.file.clone();
        check_own(&path, "checkpoint", &[])?;
        if !path.exists() && keeping.resume {
            return Err(Error::usage(format!(
                "{}: there is no such checkpoint: the run has ended or was never begun; leave out \
                 the setting `resume` to begin",
                Place::file(&path)
            )));
        }
        let gramer = env!("CARGO_PKG_VERSION").to_string();
        let graph_key = Fingerprint::of(graph, cancel)?;
        let key = Key { gramer, graph: graph_key, task: task.clone(), rule };
        let (interval, written) = (keeping.interval, Instant::now());
        let state = State { done: FinishedWork::default(), ends: false, written, held: None };
        let (graph_of, state) = (graph.clone(), Mutex::new(state));
        let checkpoint = Checkpoint { path, interval, graph: graph_of, key, in_phases, state };
        // What can't be written is known before anything is mined.
        loop {
            let mut state = checkpoint.state();
            state.held = hold(&checkpoint.path)?;
            let first = state.held.is_none();
            if !first {
                state.done = read(&checkpoint.path, &checkpoint.key, graph, cancel)?;
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
        match &self.state().done.outcome {
            None => Ok(None),
            Some(Outcome { share: None, .. }) => Ok(Some(Share::default())),
            Some(Outcome { share: Some(done), .. }) => {
                Units::All.without(self.graph.view(), done).map(Some)
            }
        }
    }

    /// Adds the results of finished units, and writes the file if it is due. A failed write does not end the run: the
    /// next one may succeed, and the last one is [`Checkpoint::save`].
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
        let all = state.done.outcome.clone().into_iter().chain([outcome]);
        state.done.outcome = Some(Outcome::merge(&self.key.task, &self.graph, all)?);
        self.write_in_time(&mut state);
        Ok(())
    }

    /// What each member found of the phases that are done.
    pub fn joins(&self) -> Vec<Join> {
        let bytes = |found: &Vec<Digits>| found.iter().map(|one| one.0.clone()).collect();
        self.state().done.joins.iter().map(|found| Arc::new(bytes(found))).collect()
    }

    /// Adds what each member found of the next phase, as [`Checkpoint::add`].
    ///
    /// # Errors
    /// As [`Graph::check_unchanged`].
    pub fn join(&self, found: Join) -> Result<()> {
        self.graph.check_unchanged()?;
        let mut state = self.state();
        state.done.digits += found.iter().map(|one| 2 * one.len()).sum::<usize>();
        state.ends |= state.done.digits > MAX_JOINS;
        if !state.ends {
            state.done.joins.push(found.iter().cloned().map(Digits).collect());
            self.write_in_time(&mut state);
        }
        Ok(())
    }

    fn write_in_time(&self, state: &mut State) {
        if state.written.elapsed() >= self.interval {
            let _ = self.write(state, false);
            state.written = Instant::now();
        }
    }

    /// What was found in all units that are done; nothing if none are.
    pub fn outcome(&self) -> Option<Outcome> {
        self.state().done.outcome.clone()
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
        let FinishedWork { outcome, joins, .. } = &state.done;
        let checksum = checksum(outcome.as_ref(), joins);
        let (outcome, joins) = (outcome.as_ref(), joins.clone());
        let file = File { checkpoint: FORMAT, key: &self.key, outcome, joins, checksum };
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

    /// Writes the file at the end of a run, or removes it where the run has failed before anything was finished, or can't
    /// go on in this way. The answer of the run, with what runs before it have found.
    ///
    /// # Errors
    /// That of the run.
    pub fn close(&self, run: Result<Outcome>) -> Result<Outcome> {
        let nothing = {
            let done = &self.state().done;
            done.outcome.is_none() && done.joins.is_empty()
        };
        let saved = match &run {
            // Nothing that a later run could go on from.
            Err(error) if nothing && !matches!(error, Error::Interrupted) => self.remove(),
            Err(Error::Unsupported(_)) if self.in_phases => self.remove(),
            _ => self.save(),
        };
        let run = match run {
            // Before the first share; what runs before this one found is an answer all the same.
            Err(Error::Interrupted) => Outcome::new(vec![], false),
            run => run?,
        };
        let mut outcome = match self.in_phases {
            true => run,
            false => answer::of_kept(self.outcome(), run),
        };
        if let Err(error) = saved {
            answer::warn(&mut outcome, [format!("the checkpoint is not written: {error}")]);
        }
        Ok(outcome)
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

/// The content of this run's file.
fn read(path: &Path, key: &Key, graph: &Graph, cancel: &Cancel) -> Result<FinishedWork> {
    let wrong = |what: String| Error::input(Place::file(path), what);
    // Names of Rust types mean nothing to a user.
    let none = |e: serde_json::Error| {
        let at = (e.line(), e.column());
        wrong(format!(
            "this is not a checkpoint, as line {}, column {} shows; name another file",
            at.0, at.1
        ))
    };
    let text = read_small(path, MAX_FILE, "checkpoint", cancel)?;
    let head: Head = serde_json::from_slice(&text).map_err(none)?;
    if head.checkpoint != FORMAT {
        return Err(wrong(format!(
            "this checkpoint has the format {}, and this program knows the format {FORMAT}: \
             continue with the program that wrote it",
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
            return Err(wrong("this is not a checkpoint: it holds unfinished work".into()));
        }
        let units = outcome.share.as_ref().map_or(Units::All, Units::Share);
        units.check(graph.view()).map_err(|e| wrong(e.to_string()))?;
    }
    let damaged =
        |how: &str| wrong(format!("this checkpoint is damaged: {how}; remove it and begin again"));
    if file.checksum != checksum(file.outcome.as_ref(), &file.joins) {
        return Err(damaged("its checksum is wrong"));
    }
    // A name that isn't known is left out when a text is read, and what it names is taken for missing.
    if !serde_json::to_vec(&file).is_ok_and(|written| written == text.trim_ascii_end()) {
        return Err(damaged("it isn't as it was written"));
    }
    let digits = file.joins.iter().flatten().map(|one| 2 * one.0.len()).sum();
    Ok(FinishedWork { outcome: file.outcome, joins: file.joins, digits })
}

/// Checksum of the results as written: a changed digit would be a wrong count.
fn checksum(outcome: Option<&Outcome>, joins: &[Vec<Digits>]) -> String {
    let text = serde_json::to_vec(&(outcome, joins)).unwrap_or_default();
    format!("{:032x}", xxh3_128(&text))
}

#[cfg(test)]
mod tests;
