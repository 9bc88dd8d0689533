//! A worker and the emulator behind it, watched by a thread that has started them.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gramer_base::error::{Error, Result};
use gramer_base::parallel::start;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use super::{AT_WORK, GIVE_UP, Setup};

/// Time between two looks.
const LOOK: Duration = Duration::from_millis(5);
/// How long a worker may run without a simulator while it opens the device.
const ALONE: Duration = Duration::from_secs(10);
/// How long a worker that shall stop may go on opening the device.
const OPENING_STOPS: Duration = Duration::from_millis(700);
/// How long a run that shall stop may go on while its emulator, or the worker itself, is frozen (`SIGSTOP`): a
/// frozen process never answers.
const FROZEN_STOPS: Duration = Duration::from_secs(1);
/// How long any run that shall stop may go on: kernels are stopped between two looks at the abort word.
const STOPS_WITHIN: Duration = Duration::from_secs(10);
/// How long a worker may go on without its emulator: what it waits for never comes.
const WITHOUT_EMULATOR: Duration = Duration::from_secs(3);
/// How long a worker may take to close an emulated device: where no library shortens the runtime's naps, it takes some of up
/// to 10 s.
const CLOSES_WITHIN: Duration = Duration::from_secs(60);
/// The same without an emulator.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// How long a worker whose answers ended may take to end itself, so that its exit status tells why.
const EXITS_WITHIN: Duration = Duration::from_secs(1);
/// How long the emulator may take to end when the worker has ended.
const EMULATOR_ENDS: Duration = Duration::from_secs(2);

/// The three streams of a worker.
pub(crate) struct Pipes {
    pub to: ChildStdin,
    pub from: ChildStdout,
    pub errors: ChildStderr,
}

/// What the thread that speaks with a worker tells the thread that watches it.
#[derive(Debug, Default)]
struct State {
    /// The device is open.
    opened: AtomicBool,
    /// The worker closes the device and ends.
    closes: AtomicBool,
    /// Its answers ended before it was asked to close.
    lost: AtomicBool,
    /// Since when its run shall stop.
    asked: Mutex<Option<Instant>>,
}

/// A worker under watch.
#[derive(Debug)]
pub(crate) struct Watch {
    state: Arc<State>,
    setup: Arc<Option<Setup>>,
    /// Until the end.
    thread: Option<JoinHandle<Option<Death>>>,
}

impl Watch {
    /// Starts a worker, in the emulation of `setup` if there is one.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn start(mut command: Command, setup: Option<Setup>) -> Result<(Self, Pipes)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: between fork and exec only two system calls are made, which allocate nothing.
        unsafe {
            command.pre_exec(|| {
                // After a crash the runtime signals its whole process group, which must not be ours; and Ctrl-C is ours.
                rustix::process::setsid()?;
                // If we are killed, so is it: with the thread that starts it, which therefore lives as long.
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                Ok(())
            });
        }
        let (state, setup) = (Arc::<State>::default(), Arc::new(setup));
        let (send, started) = sync_channel(1);
        let thread = start("that watches a worker", {
            let (state, setup) = (Arc::clone(&state), Arc::clone(&setup));
            move || run(command, (*setup).as_ref(), &state, &send)
        })?;
        let gone = || Error::Device("the thread that watches a worker has ended".into());
        let pipes = started.recv().map_err(|_| gone())??;
        Ok((Watch { state, setup, thread: Some(thread) }, pipes))
    }

    /// The device is open.
    pub fn opened(&self) {
        self.state.opened.store(true, Ordering::Relaxed);
    }

    /// The run shall stop from now on, or no run shall.
    pub fn stops(&self, stops: bool) {
        let mut asked = self.state.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked = stops.then(|| asked.unwrap_or_else(Instant::now));
    }

    /// Waits for the end of a worker whose answers ended before it was asked to close.
    pub fn end_of_lost(self) -> WorkerEnd {
        self.state.lost.store(true, Ordering::Relaxed);
        self.end()
    }

    /// Waits for the end of a worker whose input is closed.
    pub fn end(mut self) -> WorkerEnd {
        let died = self.closed();
        WorkerEnd { died, log: (*self.setup).as_ref().map(Setup::log).unwrap_or_default() }
    }

    fn closed(&mut self) -> Option<Death> {
        self.state.closes.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join)?;
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.closed();
    }
}

/// The end of a worker.
pub(crate) struct WorkerEnd {
    /// Why it ended, unless it was asked to.
    pub died: Option<Death>,
    /// What the emulator said of a failure; empty without one.
    pub log: String,
}

/// An unrequested end of a worker.
#[derive(Debug)]
pub(crate) struct Death {
    /// The predicate of a message: "ended by …", "given up because …".
    pub why: String,
    /// True if the worker ended by itself, false if it was killed.
    pub crashed: bool,
}

/// Counts a worker among those at work.
struct WorkerCount;

impl WorkerCount {
    fn new() -> Self {
        AT_WORK.fetch_add(1, Ordering::Relaxed);
        WorkerCount
    }
}

impl Drop for WorkerCount {
    fn drop(&mut self) {
        AT_WORK.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Starts a worker and watches it until it ends. Returns why it ended, unless it was asked to.
fn run(
    mut command: Command,
    setup: Option<&Setup>,
    state: &State,
    started: &SyncSender<Result<Pipes>>,
) -> Option<Death> {
    let _at_work = WorkerCount::new();
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(e) => {
            let _ = started.send(Err(Error::io(command.get_program(), "start", e)));
            return None;
        }
    };
    let (Some(to), Some(from), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        unreachable!("all three are piped")
    };
    let _ = started.send(Ok(Pipes { to, from, errors }));
    let group = Pid::from_child(&child);
    let ended = watch(&mut child, setup, state);
    let closes = state.closes.load(Ordering::Relaxed);
    if let Some(setup) = setup.filter(|_| closes && ended.is_ok()) {
        wait_for(|| !setup.emulator_runs(), EMULATOR_ENDS);
    }
    // The rest of the session: the emulator and its children.
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
    if let Some((setup, pid)) = setup.and_then(|setup| Some((setup, setup.emulator()?))) {
        let _ = kill_process(pid, Signal::KILL);
        wait_for(|| !setup.emulator_runs(), EMULATOR_ENDS);
    }
    let crashed = ended.is_ok();
    let what = match ended {
        // It ended on request.
        Err(_) if closes => return None,
        Ok(status) if closes && status.success() => return None,
        Ok(status) => match status.code() {
            Some(code) => format!("ended by a crash, with exit code {code}"),
            None => format!("ended by {}", signal(status)),
        },
        Err(what) => what,
    };
    let said = setup.map(Setup::said).filter(|said| !said.is_empty());
    Some(Death { why: what + &said.map(|said| format!(": {said}")).unwrap_or_default(), crashed })
}

fn signal(status: ExitStatus) -> String {
    match status.signal() {
        Some(number) => format!("signal {number}"),
        None => "an unknown cause".into(),
    }
}

/// Waits for the end of a worker. `Err` says why it must be given up.
fn watch(child: &mut Child, setup: Option<&Setup>, state: &State) -> Result<ExitStatus, String> {
    let own = Pid::from_child(child);
    let (mut closing, mut gone) = (Stopwatch::default(), Stopwatch::default());
    let (mut company, mut alone, mut frozen) = (false, Stopwatch::default(), Stopwatch::default());
    for round in 0u64.. {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) => {}
            Err(e) => return Err(format!("lost: {e}")),
        }
        if GIVE_UP.load(Ordering::Relaxed) {
            return Err("stopped at once".into());
        }
        let opened = state.opened.load(Ordering::Relaxed);
        let asked = *state.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = asked.map_or(Duration::ZERO, |since| since.elapsed());
        if asked > OPENING_STOPS && !opened {
            return Err("stopped while it opened the device".into());
        }
        let emulator = setup.and_then(Setup::emulator).is_some();
        let dead = emulator && setup.is_some_and(|setup| !setup.emulator_runs());
        let closing = closing.holds_for(state.closes.load(Ordering::Relaxed));
        let patience = if emulator { CLOSES_WITHIN } else { ENDS_WITHIN };
        let lost = state.lost.load(Ordering::Relaxed);
        let exit = if lost { EXITS_WITHIN } else { Duration::ZERO };
        // The runtime naps when the emulator has gone, and has nothing to do that matters.
        if closing > patience || dead && closing > exit {
            return Err("closed".into());
        }
        // The device may freeze at any time; it is checked only while a caller waits for the end.
        let waits = !asked.is_zero() || !closing.is_zero();
        let stopped = || is_stopped(own) || setup.is_some_and(Setup::emulator_is_stopped);
        let frozen = frozen.holds_for(waits && stopped());
        if asked > STOPS_WITHIN || frozen > FROZEN_STOPS {
            return Err("stopped, though the emulator didn't answer".into());
        }
        if let Some(setup) = setup.filter(|_| !opened && round % 20 == 0) {
            let (living, dead) = company_of(own);
            company |= living || dead;
            if alone.holds_for(company && !living && !setup.emulator_runs()) > ALONE {
                return Err(
                    "given up because the simulator ended before the device was open".into()
                );
            }
        }
        // Its answers will never come, and the runtime waits for them for ever.
        if gone.holds_for(dead) > WITHOUT_EMULATOR {
            return Err("given up because the emulator ended before it".into());
        }
        std::thread::sleep(LOOK);
    }
    unreachable!("the rounds don't end")
}

/// Measures how long a condition has held.
#[derive(Default)]
struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// How long it has held; nothing if it doesn't now.
    fn holds_for(&mut self, holds: bool) -> Duration {
        self.0 = holds.then(|| self.0.unwrap_or_else(Instant::now));
        self.0.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// The state of a process in `/proc` (`R`, `S`, `T`, `Z` …); `None` for a process that isn't there.
pub(super) fn state_of(pid: Pid) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The state follows the name, which is in brackets and may hold anything.
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// Whether a process was stopped by a signal (or a debugger).
pub(super) fn is_stopped(pid: Pid) -> bool {
    matches!(state_of(pid), Some('T' | 't'))
}

/// Whether a process that leads its session has others in it: living ones, and ended ones that it
/// hasn't asked for.
fn company_of(leader: Pid) -> (bool, bool) {
    let leader = leader.as_raw_nonzero().get();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|p| p.file_name().to_str()?.parse::<i32>().ok());
    let (mut living, mut dead) = (false, false);
    for number in numbers.filter(|&number| number != leader) {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        // The state follows the name, which is in brackets and may hold anything.
        let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        let state = fields.next();
        if fields.nth(2).and_then(|field| field.parse().ok()) == Some(leader) {
            match state {
                Some("Z" | "X") => dead = true,
                _ => living = true,
            }
        }
    }
    (living, dead)
}

fn wait_for(done: impl Fn() -> bool, limit: Duration) {
    let begun = Instant::now();
    while !done() && begun.elapsed() < limit {
        std::thread::sleep(LOOK);
    }
}
