//! The program's side of a worker.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use gramer_base::context::{Cancel, Context};
use gramer_base::error::{Error, Result};
use gramer_base::parallel::start;
use gramer_engine::{Outcome, Peers, Run};
use gramer_graph::VertexId;
use tracing::info;

use super::message::{
    Candidates, Load, RunRequest, WireError, WorkerReply, WorkerRequest, WorkerSetup, read, write,
};
use super::{COMMAND, EmulatedDevice, LOOK};
use crate::launch::{Pipes, Request, Setup, TIMELINE, Watch};
use crate::session::MemorySpeed;

/// How long the last words of a worker that has ended may take.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What a line of a failure begins with, and one of a warning.
const FAILURE: &str = "gramer: ";
const WARNING: &str = "gramer: warning: ";
/// Most bytes of a line of standard error.
const LINE: u64 = 1 << 16;

/// A process that has a device open and answers runs.
#[derive(Debug)]
pub(super) struct Worker {
    /// Closed to end it.
    to: Option<std::process::ChildStdin>,
    heard: Receiver<Result<WorkerReply>>,
    /// Its last words, once it has ended.
    last_words: Receiver<LastWords>,
    watch: Option<Watch>,
    /// For images of graphs.
    pub folder: PathBuf,
    _own_folder: Option<tempfile::TempDir>,
    /// The graph that it has: its number, and its image.
    pub graph: Option<(u64, PathBuf)>,
}

/// The last lines of a worker's standard error.
#[derive(Debug, Default)]
struct LastWords {
    /// The last failure that the worker reports.
    failure: String,
    /// The last other line: libraries that end the process write the reason here.
    other: String,
}

/// The error of a worker that has no answer, and whether the worker crashed.
#[derive(Debug)]
struct Loss {
    error: Error,
    crashed: bool,
}

impl From<Error> for Loss {
    fn from(error: Error) -> Self {
        Loss { error, crashed: false }
    }
}

/// Why a worker has no answer.
#[derive(Debug)]
pub(super) enum WorkerFailure {
    /// It has ended.
    Ended,
    /// It gives another reason.
    Failed(WireError),
    /// A member of its phases gives another reason.
    Peer(Error),
    /// What it says has no meaning.
    Unclear(String),
}

impl WorkerFailure {
    /// Whether the worker goes on with the next question.
    fn is_over(&self) -> bool {
        match self {
            WorkerFailure::Ended | WorkerFailure::Unclear(_) => true,
            // A failed device is reopened.
            WorkerFailure::Failed(failed) => {
                matches!(failed, WireError::Device(_) | WireError::Memory(_))
            }
            WorkerFailure::Peer(_) => false,
        }
    }
}

impl Worker {
    /// Starts a worker, which opens the device. A worker that crashes while opening is replaced once: the Xilinx Runtime may
    /// end its process there, and no question is lost.
    pub fn start(device: &EmulatedDevice, cancel: &Cancel) -> Result<Self> {
        let crashed = match Worker::start_once(device, cancel) {
            Err(Loss { error, crashed: true }) => error,
            other => return other.map_err(|loss| loss.error),
        };
        info!(%crashed, "another worker is started");
        Worker::start_once(device, cancel).map_err(|loss| loss.error)
    }

    fn start_once(device: &EmulatedDevice, cancel: &Cancel) -> Result<Self, Loss> {
        let EmulatedDevice { name, helper, settings, options, emulation, .. } = device;
        let set_up = |request| Setup::new(request, (helper, options), cancel);
        let setup = emulation.as_ref().map(set_up).transpose()?;
        cancel.check()?;
        let own_folder = match setup {
            Some(_) => None,
            None => {
                let folder = tempfile::Builder::new().prefix("gramer-helper-").tempdir();
                Some(folder.map_err(|e| Error::io(std::env::temp_dir(), "make a folder in", e))?)
            }
        };
        let folder = setup.as_ref().map(|setup| setup.folder().to_path_buf());
        let folder = folder.or_else(|| Some(own_folder.as_ref()?.path().to_path_buf()));
        let mut command = Command::new(setup.as_ref().map_or(helper, |setup| &setup.program));
        command
            .args([COMMAND, name])
            .envs(options.environment.iter().map(|(name, value)| (name, value)))
            .env_remove(TIMELINE)
            .envs(setup.iter().flat_map(Setup::environment));
        let file = match (&emulation, &setup) {
            (Some(Request::Machine { .. }), Some(setup)) => setup.xclbin.display().to_string(),
            _ => absolute(name)?,
        };
        let (watch, pipes) = Watch::start(command, setup)?;
        info!(device = name, folder = ?folder, "a worker is started");
        let Pipes { to, from, errors } = pipes;
        let (send, heard) = channel();
        start("that hears a worker", move || {
            let mut from = BufReader::new(from);
            while let Some(message) = read(&mut from).transpose() {
                let unclear = message.is_err();
                if send.send(message).is_err() || unclear {
                    break;
                }
            }
        })?;
        let (send, last_words) = channel();
        let lines = options.lines;
        start("that reads what a worker prints", move || {
            let _ = send.send(read_lines(BufReader::new(errors), lines));
        })?;
        let mut worker = Worker {
            to: Some(to),
            heard,
            last_words,
            watch: Some(watch),
            folder: folder.unwrap_or_default(),
            _own_folder: own_folder,
            graph: None,
        };
        let (gramer, settings) = (env!("CARGO_PKG_VERSION").into(), settings.clone());
        let opened = worker
            .ready(WorkerRequest::Open(Box::new(WorkerSetup { gramer, file, settings })), cancel);
        match opened {
            Ok(()) => {
                worker.watch.iter().for_each(Watch::opened);
                Ok(worker)
            }
            Err(lost) => Err(worker.loss(name, lost, cancel)),
        }
    }

    /// One that has gone is noticed where it is listened to.
    fn say(&mut self, message: &WorkerRequest) {
        if let Some(to) = &mut self.to {
            let _ = write(to, message);
        }
    }

    /// Sends a request and reads messages until `take` accepts one. Stops the worker once `cancel` is raised.
    fn ask<T>(
        &mut self,
        question: WorkerRequest,
        cancel: &Cancel,
        mut take: impl FnMut(&mut Self, WorkerReply) -> Option<Result<T, WorkerFailure>>,
    ) -> Result<T, WorkerFailure> {
        self.say(&question);
        let mut told = false;
        let answer = loop {
            match self.heard.recv_timeout(LOOK) {
                Ok(Ok(WorkerReply::Failed(failed))) => break Err(WorkerFailure::Failed(failed)),
                Ok(Ok(message)) => {
                    if let Some(answer) = take(self, message) {
                        break answer;
                    }
                }
                Ok(Err(error)) => break Err(WorkerFailure::Unclear(error.to_string())),
                Err(RecvTimeoutError::Disconnected) => break Err(WorkerFailure::Ended),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !told && cancel.is_cancelled() {
                told = true;
                self.say(&WorkerRequest::Stop);
                self.watch.iter().for_each(|watch| watch.stops(true));
            }
        };
        self.watch.iter().for_each(|watch| watch.stops(false));
        answer
    }

    /// Asks for something that is done or not.
    fn ready(&mut self, question: WorkerRequest, cancel: &Cancel) -> Result<(), WorkerFailure> {
        self.ask(question, cancel, |_, message| match message {
            WorkerReply::Ready => Some(Ok(())),
            WorkerReply::Progress(..) => None,
            other => Some(Err(WorkerFailure::Unclear(format!("{other:?}")))),
        })
    }

    /// Has it load a graph in place of the one that it has.
    pub fn load(&mut self, number: u64, load: Load, cancel: &Cancel) -> Result<(), WorkerFailure> {
        let image = load.image.clone();
        self.ready(WorkerRequest::Load(load), cancel)?;
        if let Some((_, before)) = self.graph.replace((number, image)) {
            let _ = std::fs::remove_file(before);
        }
        Ok(())
    }

    /// Measures the device's memories.
    pub fn measure(
        &mut self,
        bytes: u64,
        cancel: &Cancel,
    ) -> Result<Vec<MemorySpeed>, WorkerFailure> {
        // A graph there would be written over.
        if let Some((_, image)) = self.graph.take() {
            let _ = std::fs::remove_file(image);
        }
        self.ask(WorkerRequest::Measure(bytes), cancel, |_, message| match message {
            WorkerReply::Measured(all) => Some(Ok(all)),
            other => Some(Err(WorkerFailure::Unclear(format!("{other:?}")))),
        })
    }

    /// Has it answer a question. `places` are the caller's vertices by those of a list.
    pub fn run(
        &mut self,
        order: RunRequest,
        run: &Run<'_>,
        places: Option<&[VertexId]>,
    ) -> Result<Outcome, WorkerFailure> {
        let (mut enough, mut shown) = (false, (0, 0));
        self.ask(WorkerRequest::Run(Box::new(order)), &run.context.cancel, |worker, message| {
            match message {
                WorkerReply::Found(mut outcome) => {
                    outcome.complete &= !enough;
                    return Some(Ok(*outcome));
                }
                WorkerReply::Listed(pattern, all) => {
                    let sink = run.sink.filter(|_| !enough)?;
                    for mut vertices in all {
                        if let Some(places) = places {
                            vertices.iter_mut().for_each(|v| *v = places[*v as usize]);
                        }
                        if sink.embedding(&pattern, &vertices).is_break() {
                            enough = true;
                            worker.say(&WorkerRequest::Enough);
                            break;
                        }
                    }
                }
                WorkerReply::Progress(done, all, unpredictable) => {
                    show(run.context, &mut shown, (done, all), unpredictable);
                }
                WorkerReply::Next(Candidates { phase, all, at_once }) => {
                    let next = |peers: &dyn Peers| match at_once {
                        true => peers.at_once(phase, all),
                        false => peers.next(phase, all),
                    };
                    return worker.tell(run, next, WorkerRequest::Range);
                }
                WorkerReply::Join(phase, found) => {
                    let join = |peers: &dyn Peers| peers.join(phase, found.clone());
                    return worker.tell(run, join, WorkerRequest::Joined);
                }
                other => return Some(Err(WorkerFailure::Unclear(format!("{other:?}")))),
            }
            None
        })
    }

    /// Tells a run what its peers say. Where they say that the phases are over, the run ends with it.
    fn tell<T, O>(
        &mut self,
        run: &Run<'_>,
        of: impl FnOnce(&dyn Peers) -> Result<T>,
        message: impl FnOnce(T) -> WorkerRequest,
    ) -> Option<Result<O, WorkerFailure>> {
        let Some(peers) = run.peers else {
            return Some(Err(WorkerFailure::Unclear("a phase of a run without peers".into())));
        };
        match of(peers) {
            Ok(said) => {
                self.say(&message(said));
                None
            }
            Err(error) => {
                self.say(&WorkerRequest::Over);
                Some(self.over().and(Err(WorkerFailure::Peer(error))))
            }
        }
    }

    /// Waits for the end of a run whose phases are over.
    fn over(&mut self) -> Result<(), WorkerFailure> {
        loop {
            match self.heard.recv() {
                Ok(Ok(WorkerReply::Found(_) | WorkerReply::Failed(_))) => return Ok(()),
                Ok(Ok(WorkerReply::Next(_) | WorkerReply::Join(..))) => {
                    self.say(&WorkerRequest::Over)
                }
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(WorkerFailure::Unclear(error.to_string())),
                Err(_) => return Err(WorkerFailure::Ended),
            }
        }
    }

    /// Ends it where it doesn't go on; gives it back, and the reason, where it does.
    pub fn after(self, name: &str, lost: WorkerFailure, cancel: &Cancel) -> (Option<Self>, Error) {
        match lost {
            lost if lost.is_over() => (None, self.lost(name, lost, cancel)),
            WorkerFailure::Failed(failed) => (Some(self), failed.error()),
            WorkerFailure::Peer(error) => (Some(self), error),
            WorkerFailure::Ended | WorkerFailure::Unclear(_) => unreachable!("it is over"),
        }
    }

    /// Ends it; why it has no answer.
    pub fn lost(self, name: &str, lost: WorkerFailure, cancel: &Cancel) -> Error {
        self.loss(name, lost, cancel).error
    }

    /// Ends it; the error, and whether the worker crashed.
    fn loss(mut self, name: &str, lost: WorkerFailure, cancel: &Cancel) -> Loss {
        let unclear = |what: &str| {
            Error::Device(format!(
                "{name}: the worker gave an answer that isn't understood ({what}): is it gramer {}?",
                env!("CARGO_PKG_VERSION")
            ))
        };
        self.to = None;
        let end = match lost {
            WorkerFailure::Ended => Watch::end_of_lost,
            _ => Watch::end,
        };
        let ended = self.watch.take().map(end);
        let (died, log) = ended.map_or((None, String::new()), |ended| (ended.died, ended.log));
        let mut crashed = false;
        let error = match lost {
            WorkerFailure::Failed(WireError::Device(what))
                if !log.is_empty() && !what.contains(&log) =>
            {
                Error::Device(format!("{what}; the emulator says: {}", one_line(&log)))
            }
            WorkerFailure::Failed(failed) => failed.error(),
            WorkerFailure::Peer(error) => error,
            WorkerFailure::Unclear(what) => unclear(&what),
            WorkerFailure::Ended if cancel.is_cancelled() => Error::Interrupted,
            WorkerFailure::Ended => {
                let said = self.last_words.recv_timeout(LAST_WORDS).unwrap_or_default();
                Error::Device(match said.failure.strip_prefix(FAILURE) {
                    Some(said) => format!("{name}: {said}"),
                    None => {
                        crashed = died.as_ref().is_some_and(|died| died.crashed);
                        let died = died.map_or_else(|| "cut off".into(), |died| died.why);
                        let mut why = format!("{name}: the emulated run was {}", one_line(&died));
                        if crashed && !said.other.is_empty() {
                            why += &format!("; its last line on standard error: {}", said.other);
                        }
                        why
                    }
                })
            }
        };
        Loss { error, crashed }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.to = None;
        self.watch.take().map(Watch::end);
    }
}

/// A device as the worker finds it in any folder.
fn absolute(device: &str) -> Result<String> {
    let (path, indices) = crate::parse(device)?;
    let path = std::path::absolute(&path).map_err(|e| Error::io(&path, "find", e))?;
    let indices: Vec<String> = indices.iter().map(usize::to_string).collect();
    Ok(format!("{}@{}", path.display(), indices.join(",")))
}

fn one_line(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Shows how far a worker is.
fn show(context: &Context, shown: &mut (u64, u64), (done, all): (u64, u64), unpredictable: bool) {
    let progress = &context.progress;
    progress.set_unpredictable(unpredictable);
    if all != shown.1 || done < shown.0 {
        progress.begin(all);
        shown.0 = 0;
    }
    progress.add(done - shown.0);
    *shown = (done, all);
}

/// Reads all lines and returns the last ones. Lines of failures are not passed on.
fn read_lines(mut from: impl BufRead, pass: Option<fn(&str)>) -> LastWords {
    let (mut last, mut line) = (LastWords::default(), vec![]);
    loop {
        line.clear();
        // What can't be read is the end.
        if from.by_ref().take(LINE).read_until(b'\n', &mut line).unwrap_or(0) == 0 {
            return last;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.starts_with(FAILURE) && !text.starts_with(WARNING) {
            last.failure = text.into();
            continue;
        }
        if !text.trim().is_empty() {
            last.other = text.trim().into();
        }
        if let Some(pass) = pass {
            pass(text);
        }
    }
}
